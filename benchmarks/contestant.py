"""A problem as every contestant sees it: plain numbers, and what each contestant hands in."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import PolhodeError
from polhode.scenario.scenario import Scenario

Numbers = tuple[float, ...]

HEYOKA_TOLERANCES = tuple(math.exp(-2 * (order - 1)) * 1.01 for order in range(4, 20)) + (2.0**-52,)
"""heyoka chooses the order of its series by the tolerance, and nothing else depends on that: one for each, 4 to 20."""


class UnsupportedProblemError(PolhodeError):
    """A contestant cannot run this problem; the message says why."""


class Thruster(NamedTuple):
    """Constant in body axes while start <= t < stop: its force in N, its torque about the center of mass in N m."""

    force_body: Numbers
    torque_body: Numbers
    nozzle: Numbers
    start: float
    stop: float


@dataclass(frozen=True)
class ProblemData:
    """The numbers of a problem, about the center of mass; with a pivot, `moments` are about it."""

    name: str
    mass: float
    moments: Numbers
    central_moments: Numbers
    position: Numbers
    quaternion: Numbers
    velocity: Numbers
    spin_body: Numbers
    gravity: Numbers
    """m/s2, a vector in world axes; zero if none."""
    drag: float
    """kg/m; 0 if none."""
    thruster: Thruster | None
    pivot_to_com: Numbers | None
    duration: float

    @property
    def is_physical(self) -> bool:
        """Whether a solid can have these moments."""
        return 2 * max(self.central_moments) <= sum(self.central_moments) * (1 + 1e-12)

    @property
    def moves(self) -> bool:
        """Whether the center of mass counts: something pushes a free body."""
        return self.pivot_to_com is None and bool(any(self.gravity) or self.drag or self.thruster)

    @property
    def segments(self) -> list[tuple[float, float, bool]]:
        """(from, to, whether the thruster fires), cut at the edges of its window."""
        if self.thruster is None:
            return [(0.0, self.duration, False)]
        edges = sorted({0.0, self.thruster.start, self.thruster.stop, self.duration})
        edges = [t for t in edges if 0 <= t <= self.duration]
        return [(a, b, self.thruster.start <= a < self.thruster.stop) for a, b in pairwise(edges)]

    @property
    def fewest_steps(self) -> int:
        """The smallest number of equal steps that meet the edges of the thruster's window."""
        parts = [Fraction(b).limit_denominator(10**6) / Fraction(self.duration) for _, b, _ in self.segments]
        return int(np.lcm.reduce([part.limit_denominator(10**6).denominator for part in parts]))

    def counts(self, per_second: float = 4, factor: int = 2) -> Iterator[int]:
        """Numbers of steps, from about this many a second, each `factor` times the last."""
        n = self.fewest_steps
        while n < per_second * self.duration:
            n *= 2
        while True:
            yield n
            n *= factor


@dataclass
class TimedRun:
    """One contestant at one setting, prepared: `reset` and `state` are not timed, `go` is."""

    setting: float
    """The step in s, or the tolerance."""
    reset: Callable[[], Any]
    go: Callable[[], Any]
    state: Callable[[], tuple[Any, Any]]
    """After `go`: the attitude (w, x, y, z), and the position or None where it is no part of the question."""
    members: int = 1
    """How many motions one `go` computes."""


class Contestant(NamedTuple):
    """A way to compute a task."""

    name: str
    family: str
    """The package, in lower case: what the table and the colors go by."""
    attempts: Callable[[ProblemData, Scenario], Iterator[TimedRun]]
    """From coarse to fine.  Raises `UnsupportedProblemError` if the task cannot be run."""
    per_member: bool = False
    limit_s: float = 2.0
    """Finer settings that would take longer than this are left out."""


def problem_data(name: str, scenario: Scenario) -> ProblemData:
    """The plain numbers of a scenario of one body under gravity, quadratic drag and at most one thruster."""
    body, state = scenario.bodies[0], scenario.states[0]
    gravity, drag, thruster = np.zeros(3), 0.0, None
    for force in scenario.forces:
        if force.name == "gravity":
            gravity = gravity + np.array(force.params[0])
        elif force.name == "quadratic_drag":
            drag += float(force.params[0])
        elif force.name == "thruster" and thruster is None:
            nozzle, push, (start, stop) = force.params
            thruster = Thruster(
                _plain_floats(push),
                _plain_floats(np.cross(nozzle, push)),
                _plain_floats(nozzle),
                float(start),
                float(stop),
            )
        else:
            raise UnsupportedProblemError(f"the benchmark has no equations for the force {force.name}")
    tensor = np.array(body.inertia_body)
    about, pivot_to_com = tensor, None
    if scenario.pivot is not None:
        arm = -np.array(scenario.pivot)
        about = tensor + float(body.mass) * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        pivot_to_com = _plain_floats(arm)
    return ProblemData(
        name,
        float(body.mass),
        _plain_floats(np.diag(about)),
        _plain_floats(np.diag(tensor)),
        _plain_floats(state.position),
        _plain_floats(state.quaternion_wxyz),
        _plain_floats(state.velocity),
        _plain_floats(state.angular_velocity_body),
        _plain_floats(gravity),
        drag,
        thruster,
        pivot_to_com,
        scenario.duration,
    )


def _plain_floats(vector: Any) -> Numbers:
    return tuple(float(component) for component in vector)
