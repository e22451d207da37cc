"""The motion of a body under at most uniform gravity, in closed form: a parabola and a free rotation."""

from __future__ import annotations

from collections.abc import Callable

from polhode.equations.formulations import FORMULATIONS
from polhode.equations.free_rotation import rotate_freely
from polhode.equations.law import Groups, Number, law
from polhode.equations.right_hand_side import Kernel
from polhode.equations.vectors import dot, minus, plus, scaled

_VIEW = FORMULATIONS["body_rates"].view


def build_free_motion(load: Kernel) -> Callable[..., Groups]:
    """(t, y, h, data) -> y at t + h, for h of any size and sign; y holds (x, q, P, w), and the work if it is counted.

    `load` must be constant in space and time, and exert no torque.
    """

    @law
    def moved(t: Number, y: Groups, h: Number, data: Groups) -> Groups:
        body, params = data
        force = load(t, _VIEW(y[:4], body), body, params)[0]
        x, q, p, w = y[:4]
        mean_momentum = plus(p, scaled(h / 2, force))
        x_later = plus(x, scaled(h * body.inverse_mass, mean_momentum))
        q_later, w_later = rotate_freely(q, w, body.moments, h)
        later = (x_later, q_later, plus(p, scaled(h, force)), w_later)
        return later + _with_work(y[4:], dot(force, minus(x_later, x)))

    return moved


@law
def _with_work(work: Groups, done: Number) -> Groups:
    """The work done until now, if it is counted."""
    if len(work) == 0:
        return work
    return ((work[0][0] + done,),)
