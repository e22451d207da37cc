"""One step of a splitting method: kicks, by a Runge-Kutta tableau for the momenta only, and free drifts."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from polhode.equations.law import Groups, Number, law
from polhode.methods.drifts import build_drift
from polhode.methods.runge_kutta import Rate, build_step
from polhode.methods.splitting_tableaus import Composition
from polhode.methods.tableaus import EULER, HEUN, MIDPOINT, RK4, RK6, Tableau


def kick_tableau(composition: Composition, needs_velocity: bool, counts_work: bool) -> Tableau:
    """The tableau of a kick.  Forces that do not depend on velocities are constant during it: one evaluation suffices.

    With the midpoint rule's two evaluations the work equals the gain of kinetic energy, and the momenta keep the same
    bits.  For forces that depend on velocities a kick is a step of a method of the same order.
    """
    if not needs_velocity:
        return _momenta_only(MIDPOINT if counts_work else EULER)
    return _momenta_only({2: HEUN, 4: RK4, 6: RK6}[composition.order])


def _momenta_only(tableau: Tableau) -> Tableau:
    """The same method for the momenta, with time and coordinates fixed."""
    zeros = tuple(Fraction(0) for _ in tableau.nodes)
    return tableau._replace(
        nodes=zeros,
        coordinate_rows=tuple(zeros[: len(row)] for row in tableau.coordinate_rows),
        coordinate_weights=zeros,
    )


def build_splitting_step(composition: Composition, rate: Rate, kicks: Tableau) -> Callable[..., Groups]:
    """step(t, y, h, data) -> y at t + h, for y = (x, q, P, L) and the work if it is counted."""
    kick, drift = build_step(kicks, rate), build_drift(composition.drift)
    first, others = composition.kicks[0], tuple(zip(composition.drifts, composition.kicks[1:], strict=True))

    @law
    def step(t: Number, y: Groups, h: Number, data: Groups) -> Groups:
        return rest(t, kick(t, y, first * h, data), h, data, others)

    @law
    def rest(t: Number, y: Groups, h: Number, data: Groups, left: Groups) -> Groups:
        if len(left) == 0:
            return y
        length, push = left[0]
        t = t + length * h
        y = drift(y, length * h, data[0])
        return rest(t, kick(t, y, push * h, data), h, data, left[1:])

    return step
