"""A scenario: everything that a run needs to know, checked once, at this door."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from polhode import validation
from polhode.equations.formulations import FORMULATIONS, Formulation
from polhode.equations.inertia import BodyConstants
from polhode.equations.law import Groups
from polhode.equations.quaternions import product, to_body, to_world
from polhode.equations.vectors import plus, scaled, times
from polhode.errors import ForceError, ScenarioError, nearest
from polhode.massprops.body import Body
from polhode.methods.registry import METHODS, Method
from polhode.model import force_evaluation, scenario_file
from polhode.model.event import as_event
from polhode.model.force import Force, as_force, leading_lengths
from polhode.model.members import (
    select_body_members,
    select_event_members,
    select_force_members,
    select_members,
    select_state_members,
    stack_nests,
)
from polhode.model.state import State, stack_components
from polhode.validation import Array, as_leaves

ENGINES = ("cpu", "python")
DEFAULT_INTERVALS = 1000
"""About how many output times a run gets that asks for none in particular."""
LEAST_RTOL = 1e-15
FINEST = 1e-12
"""Below this rtol rounding spoils the sums of a Runge-Kutta step; Taylor series still reach it."""


class MethodChoice(NamedTuple):
    """What computes a motion, and why."""

    method: Method
    formulation: str
    why: str


@dataclass(frozen=True, eq=False)
class Scenario:
    """A body or several, their start, the forces, and how to compute what follows.

    Takes what `ph.simulate` takes; `ph.simulate(...)` is `Scenario(...)` and a run of it.

    Examples
    --------
    >>> import polhode as ph
    >>> fall = ph.Scenario(ph.particle(1.0), forces=[ph.forces.gravity()], duration=2.0)
    >>> fall.derivative(0.0, ph.State().to_array(ph.particle(1.0)))[7:10].tolist()
    [0.0, 0.0, -9.80665]
    """

    body: Any
    state: Any = None
    forces: Sequence[Any] = ()
    events: Sequence[Any] = field(default=(), kw_only=True)
    duration: float = field(kw_only=True)
    step: float | None = field(default=None, kw_only=True)
    method: str = field(default="auto", kw_only=True)
    formulation: str = field(default="momentum", kw_only=True)
    engine: str = field(default="cpu", kw_only=True)
    output_step: float | None = field(default=None, kw_only=True)
    output_times: Any = field(default=None, kw_only=True)
    pivot: Any = field(default=None, kw_only=True)
    renormalize: bool = field(default=True, kw_only=True)
    rtol: Any = field(default=1e-9, kw_only=True)
    atol: Any = field(default=0.0, kw_only=True)
    breaks: Any = field(default=(), kw_only=True)
    largest_turn: float = field(default=1.0, kw_only=True)
    name: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        set_field(self, "forces", tuple(as_force(f) for f in _as_list(self.forces, "forces")))
        set_field(self, "events", tuple(as_event(e) for e in _as_list(self.events, "events")))
        set_field(self, "breaks", _check_break_times(self.breaks))
        set_field(self, "duration", _positive(self.duration, "duration"))
        if self.step is not None:
            set_field(self, "step", _positive(self.step, "step"))
        self._check_bodies()
        self._check_method()
        self._check_forces()
        self._check_events()
        if self.start_time + (self.step or self.duration) == self.start_time:
            raise ScenarioError(
                f"at the time {self.start_time:g} s a step of {self.step or self.duration:g} s cannot be told from "
                "none: count the time from the start of the run"
            )
        _ = self.times, self.members

    # What acts on whom ----------------------------------------------------------------------------------------------
    @property
    def is_system(self) -> bool:
        """Whether bodies were given as a list, so that results have a `body` axis."""
        return isinstance(self.body, (list, tuple))

    @cached_property
    def bodies(self) -> tuple[Body, ...]:
        """The bodies, also if there is but one."""
        return tuple(self.body) if isinstance(self.body, (list, tuple)) else (self.body,)

    @cached_property
    def states(self) -> tuple[State, ...]:
        """The start of each body."""
        if self.state is None:
            return (State(),) * len(self.bodies)
        return tuple(self.state) if isinstance(self.state, (list, tuple)) else (self.state,)

    def of_kind(self, kind: str) -> tuple[Force, ...]:
        """The forces that act on a body, in a pair, or as an impulse."""
        return tuple(f for f in self.forces if f.kind == kind)

    @cached_property
    def members(self) -> int | None:
        """How many members an ensemble of this scenario has; None if it is a single run."""
        lengths = leading_lengths([(f.params, f.instant) for f in self.forces] + [e.params for e in self.events])
        records: list[Any] = [*self.bodies, *self.states]
        lengths |= {record.members for record in records if record.members is not None}
        if self.pivot is not None and np.ndim(self.pivot) == 2:
            lengths.add(len(self.pivot))
        if len(lengths) > 1:
            raise ScenarioError(
                f"the leading axes of body, state and forces have different lengths, {sorted(lengths)}: "
                "give every one the same number of members"
            )
        if lengths and self.is_system:
            raise ScenarioError("an ensemble takes one body, not a list: run the systems one by one with ph.simulate")
        return lengths.pop() if lengths else None

    @property
    def count(self) -> int:
        """How many bodies are computed: those of the system, or the members of the ensemble."""
        return self.members or len(self.bodies)

    # How it is computed ---------------------------------------------------------------------------------------------
    @property
    def form(self) -> Formulation:
        """The laws of the formulation that the motion is computed in."""
        return FORMULATIONS[self.choice.formulation]

    @property
    def used_method(self) -> Method:
        """The method that computes the motion: the one asked for, or the one that "auto" chooses."""
        return self.choice.method

    @cached_property
    def choice(self) -> MethodChoice:
        """The method and the formulation that compute the motion, and why.

        "auto" prefers body rates to the default formulation: they change slowly where the attitude changes fast.
        """
        if self.method != "auto":
            return MethodChoice(METHODS[self.method], "body_rates" if self.method == "exact" else self.formulation, "")
        obstacle = self._obstacle_to_exact()
        if obstacle is None:
            what = "nothing but uniform gravity acts" if self.of_kind("body") else "no force acts"
            unused = "; it takes no steps, so step is not used" if self.step is not None else ""
            return MethodChoice(METHODS["exact"], "body_rates", f"{what}: the closed form holds{unused}")
        formulation = "body_rates" if self.formulation == "momentum" else self.formulation
        rtol = min(self.tolerances[0])
        first = "; step is only its first try" if self.step is not None else ""
        if rtol >= FINEST:
            return MethodChoice(METHODS["dop853"], formulation, f"{obstacle}: the cheapest for rtol {rtol:g}{first}")
        if find_spec("heyoka") is None:
            missing = "Taylor series would be better, but heyoka is not installed: pip install 'polhode[taylor]'"
            return MethodChoice(METHODS["dop853"], formulation, f"{obstacle}; for rtol {rtol:g} {missing}")
        return MethodChoice(METHODS["taylor"], formulation, f"{obstacle}: the only one that reaches rtol {rtol:g}")

    def _obstacle_to_exact(self) -> str | None:
        """Why the motion has no closed form here; None if it has."""
        others = [f.name for f in self.forces if f.kind != "impulse" and not f.uniform]
        if others:
            return f"{', '.join(dict.fromkeys(others))} acts"
        if self.pivot is not None and self.of_kind("body"):
            return "gravity turns a body about its pivot"
        if self.events:
            return "events are watched"
        if self.formulation not in ("momentum", "body_rates"):
            return f"formulation {self.formulation!r} was asked for"
        return None

    @property
    def start_time(self) -> float:
        """When the run begins, in s."""
        return self.states[0].time

    @property
    def end_time(self) -> float:
        """When the run ends, in s."""
        return self.start_time + self.duration

    @cached_property
    def times(self) -> Array:
        """The output times, in s."""
        if self.output_times is not None:
            if self.output_step is not None:
                raise ScenarioError("output_step and output_times are both given: give one of them")
            return _check_output_times(self.output_times, self.start_time, self.end_time)
        if self.output_step is not None:
            every = _positive(self.output_step, "output_step")
            if every > self.duration:
                raise ScenarioError(
                    f"output_step {every:g} s is longer than the duration {self.duration:g} s: "
                    "choose a shorter one, or give output_times"
                )
        elif self.used_method.steps == "fixed":
            steps = self.duration / self.needed_step
            every = self.needed_step * max(1, np.ceil(steps / DEFAULT_INTERVALS - 1e-9))
        else:
            every = self.duration / (DEFAULT_INTERVALS // 5)
        whole = int(np.floor(self.duration / every * (1 + 1e-12)))
        times = np.arange(whole + 2) * every
        times = times[times < self.duration * (1 - 1e-12)]
        return np.append(self.start_time + times, self.end_time)

    @property
    def needed_step(self) -> float:
        """The step of a method that needs one."""
        if self.step is None:
            raise ScenarioError(
                f"method {self.method!r} takes fixed steps: say how long, step=..., in s, or take method='dop853', "
                "which finds its own"
            )
        return self.step

    @cached_property
    def tolerances(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """rtol, and atol, each for position, attitude, momentum and spin."""
        rtol, atol = _four_tolerances(self.rtol, "rtol"), _four_tolerances(self.atol, "atol")
        if min(rtol) <= 0:
            raise ScenarioError(f"rtol must be greater than 0, but is {self.rtol!r}")
        if min(atol) < 0:
            raise ScenarioError(f"atol must not be negative, but is {self.atol!r}")
        return rtol, atol

    @cached_property
    def least_errors(self) -> Groups:
        """Errors of position, attitude, momentum and spin that no tolerance forbids, for every body.

        A momentum that moves the body, in all the time of the run, by less than its position is allowed to err, and a
        spin that turns it by less than the attitude may err, are no matter: at rest both are mere rounding.  The
        positions of bodies that act on each other are measured by the size of the system.
        """
        rtol, time, constants = self.tolerances[0], self.duration, self.constants
        unit: Any = 1.0
        if self.members is None and not self.is_system:
            x, y, z = self.states[0].position.tolist()
            position, size = 0.0, math.sqrt(x * x + y * y + z * z)
            if self.form.name.startswith("momentum"):
                unit = max(constants.moments)
        else:
            x, y, z = np.moveaxis(np.array([state.position for state in self.states]), -1, 0)
            each = np.sqrt(x * x + y * y + z * z)
            coupled = bool(self.of_kind("pair"))
            size = each.max() if coupled else each if self.is_system else each[0]
            position = rtol[0] * size if coupled else 0.0
            if self.form.name.startswith("momentum"):
                unit = np.max(np.broadcast_arrays(*constants.moments), axis=0)
        return (position, 0.0, rtol[0] * constants.mass * size / time, rtol[1] * unit / time)

    # The numbers ----------------------------------------------------------------------------------------------------
    @cached_property
    def constants(self) -> BodyConstants:
        """The constants of the body, or of all bodies of a system, number by number in arrays."""
        return self.constants_about(self.pivot)

    def constants_about(self, pivot: Any) -> BodyConstants:
        """The constants about a pivot, or with None about the centre of mass."""
        each = [body.constants(pivot) for body in self.bodies]
        return each[0] if not self.is_system else BodyConstants(*stack_nests(each))

    @cached_property
    def start(self) -> Groups:
        """The start in the formulation's groups; with a pivot, its place, no momentum, and the spin about it."""
        both = zip(self.states, self.bodies, strict=True)
        each = [_principal_start(state, body, self.pivot, self.form) for state, body in both]
        groups: Groups = each[0] if not self.is_system else stack_nests(each)
        return groups

    def load_kernels(self) -> tuple[Any, ...]:
        """The functions of the forces on single bodies."""
        return tuple(force_evaluation.restricted_kernel(f) for f in self.of_kind("body"))

    def load_params(self) -> Groups:
        """The parameters of the forces on single bodies, in the order of `load_kernels`."""
        return tuple(self._params(f) for f in self.of_kind("body"))

    def _params(self, f: Force) -> Groups:
        if f.bodies is None:
            return f.params
        acts = np.isin(np.arange(len(self.bodies)), f.bodies).astype(float)
        return (acts if self.is_system else float(acts[0]), f.params)

    def derivative(self, t: float, y: Any) -> Array:
        """dY/dt for any ODE solver: y holds 13 numbers a body (x, q, P, L), or 18 (x, R row by row, P, L).

        [seed 000 section 3: dydt]  An impulse is no part of a derivative: stop the solver there.
        """
        if self.pivot is not None:
            raise ScenarioError("derivative describes free bodies; with a pivot use ph.simulate")
        return force_evaluation.derivative(t, np.asarray(y, dtype=np.float64), self.bodies, self.forces)

    def take(self, members: Any) -> Scenario:
        """The scenario of one member of an ensemble (a number), or of some of them (an array of numbers)."""
        return replace(
            self,
            body=select_body_members(self.bodies[0], members),
            state=select_state_members(self.states[0], members),
            forces=[select_force_members(f, members) for f in self.forces],
            events=[select_event_members(e, members) for e in self.events],
            pivot=None if self.pivot is None else select_members(self.pivot, 1, members),
        )

    # Files ----------------------------------------------------------------------------------------------------------
    @classmethod
    def from_toml(cls, path: str | Path) -> Scenario:
        """Read a scenario from a TOML file; `docs/scenario-file.md` lists every key."""
        return cls(**scenario_file.read_scenario(Path(path)))

    def to_toml(self, path: str | Path) -> None:
        """Write the scenario as a TOML file that `from_toml` reads."""
        if self.events:
            raise ScenarioError(
                f"the event {self.events[0].name} is a function of your own, which no file can hold: "
                "keep it in Python, add it after reading"
            )
        scenario_file.write_scenario(Path(path), self.as_mapping())

    def as_mapping(self, forces: Sequence[Force] | None = None) -> dict[str, Any]:
        """The scenario as plain numbers, texts and lists: what its file holds.  With other forces, if given."""
        settings = {f.name: getattr(self, f.name) for f in fields(self) if f.kw_only}
        defaults = {f.name: f.default for f in fields(self) if f.kw_only}
        shown = self.forces if forces is None else forces
        return scenario_file.scenario_mapping(self.bodies, self.states, shown, self.is_system, settings, defaults)

    # Checks ---------------------------------------------------------------------------------------------------------
    def _check_bodies(self) -> None:
        for kind, given in ((Body, self.bodies), (State, self.states)):
            for one in given:
                if not isinstance(one, kind):
                    raise ScenarioError(f"{one!r} is no ph.{kind.__name__}: give one, or a list of them for a system")
        if not self.bodies:
            raise ScenarioError("a scenario needs at least one body")
        for number, body in enumerate(self.bodies):
            if body.is_line:
                raise ScenarioError(
                    f"body {number} has no extent across a line: its moment about it is 0, so Euler's third equation "
                    "is 0/0. Give it a radius, as in ph.shapes.thin_rod(length, radius, mass=...), or another part"
                )
        if len(self.states) != len(self.bodies):
            raise ScenarioError(f"{len(self.bodies)} bodies need as many states, but {len(self.states)} were given")
        if len({state.time for state in self.states}) > 1:
            raise ScenarioError("all bodies of a system must start at the same time: their states' times differ")
        if self.pivot is not None:
            object.__setattr__(self, "pivot", validation.check_numbers(self.pivot, "pivot", (3,), ScenarioError))
            if self.is_system:
                raise ScenarioError("a pivot holds one body: give the body by itself, not in a list")
            self._check_velocity_about_pivot()

    def _check_velocity_about_pivot(self) -> None:
        """The centre of mass moves as the turning about the pivot says: left at zero that is understood."""
        given, state = self.states[0].velocity, self.states[0]
        com_to_pivot = stack_components(to_world(as_leaves(state.quaternion_wxyz), as_leaves(self.pivot)))
        turning = np.cross(state.angular_velocity, -com_to_pivot)
        off = np.linalg.norm(given - turning, axis=-1) > 1e-9 * np.linalg.norm(turning, axis=-1)
        if np.any(given) and off.any():
            raise ScenarioError(
                "with a pivot the velocity of the centre follows from the angular velocity: leave it at zero"
            )

    def _check_method(self) -> None:
        if self.method not in (*METHODS, "auto"):
            raise ScenarioError(f"method {self.method!r} is unknown: {nearest(self.method, [*METHODS, 'auto'])}")
        if self.formulation not in tuple(FORMULATIONS):
            raise ScenarioError(
                f"formulation {self.formulation!r} is unknown: {nearest(self.formulation, FORMULATIONS)}"
            )
        if self.engine not in ENGINES:
            raise ScenarioError(f"engine {self.engine!r} is unknown: {nearest(self.engine, ENGINES)}")
        if self.method == "exact" and (obstacle := self._obstacle_to_exact()) is not None:
            raise ScenarioError(
                f"method 'exact' is the closed form of a body on which at most uniform gravity acts, but {obstacle}: "
                "take method='auto', which finds the best"
            )
        splits = self.used_method.composition is not None or self.used_method.name == "leapfrog"
        if splits and self.formulation != "momentum":
            raise ScenarioError(
                f"{self.method} advances momenta: it goes with formulation 'momentum', not with {self.formulation!r}"
            )
        if self.method == "auto" and min(self.tolerances[0]) < LEAST_RTOL:
            raise ScenarioError(
                f"rtol {min(self.tolerances[0]):g} is finer than numbers of 16 digits can hold: {LEAST_RTOL:g} is the "
                "least that method='auto' can promise"
            )
        step = self.needed_step if self.used_method.steps == "fixed" else self.step
        if self.used_method.steps != "none" and step is not None and step > self.duration:
            raise ScenarioError(
                f"step {step:g} s is longer than the duration {self.duration:g} s: choose a shorter step"
            )
        if self.largest_turn != np.inf:
            _positive(self.largest_turn, "largest_turn")
        validation.check_flag(self.renormalize, "renormalize", ScenarioError)
        if not isinstance(self.name, str):
            raise ScenarioError(f"name must be a text, not {self.name!r}")
        _ = self.tolerances

    def _check_forces(self) -> None:
        for f in self.forces:
            if f.kind == "pair" and len(self.bodies) < 2:
                raise ForceError(f"{f.name} acts between bodies: give at least two, in a list")
            out_of_range = [b for b in f.bodies or () if not 0 <= b < len(self.bodies)]
            if out_of_range:
                raise ForceError(
                    f"{f.name} acts on body {out_of_range[0]}, but the bodies are numbered 0 to {len(self.bodies) - 1}"
                )

    def _check_events(self) -> None:
        if self.events and not self.used_method.is_adaptive:
            raise ScenarioError(
                f"events are found by the adaptive methods: take method='dop853' or 'taylor', not {self.method!r}"
            )
        for e in self.events:
            out_of_range = [b for b in e.bodies or () if not 0 <= b < len(self.bodies)]
            if out_of_range:
                raise ScenarioError(
                    f"{e.name} watches body {out_of_range[0]}, but the bodies are numbered 0 to {len(self.bodies) - 1}"
                )


def _as_list(given: Any, name: str) -> list[Any]:
    if isinstance(given, (Force, str)) or not isinstance(given, Sequence):
        found = f"the force {given.name} alone" if isinstance(given, Force) else repr(given)
        raise ScenarioError(f"{name} must be a list, {name}=[...], not {found}")
    return list(given)


def _positive(value: Any, name: str) -> float:
    number = validation.check_number(value, name, ScenarioError)
    if number <= 0:
        raise ScenarioError(f"{name} must be greater than 0, but is {number:g}")
    return number


def _four_tolerances(given: Any, name: str) -> tuple[float, ...]:
    """A tolerance for each of position, attitude, momentum and spin."""
    if type(given) is float and -math.inf < given < math.inf:
        return (given,) * 4
    values = validation.check_numbers(given, name, validation.shape_of(given), ScenarioError)
    if values.shape not in ((), (4,)):
        raise ScenarioError(
            f"{name} must be one number, or four (for position, attitude, momentum and spin), not {given!r}"
        )
    return tuple(np.broadcast_to(values, (4,)).tolist())


def _check_break_times(given: Any) -> tuple[float, ...]:
    """Times across which no step may reach."""
    if isinstance(given, tuple) and not given:
        return ()
    times = np.atleast_1d(validation.check_numbers(given, "breaks", validation.shape_of(given), ScenarioError))
    if times.ndim != 1:
        raise ScenarioError(f"breaks must be a list of times, in s, but has the shape {times.shape}")
    return tuple(sorted(times.tolist()))


def _check_output_times(given: Any, start: float, end: float) -> Array:
    times = np.atleast_1d(validation.check_numbers(given, "output_times", validation.shape_of(given), ScenarioError))
    if times.ndim != 1 or times.size == 0:
        raise ScenarioError(f"output_times must be a list of at least one time, but has the shape {times.shape}")
    if (np.diff(times) <= 0).any():
        at = int(np.argmax(np.diff(times) <= 0))
        raise ScenarioError(f"output_times must increase, but {times[at + 1]:g} s follows {times[at]:g} s")
    if times[0] < start or times[-1] > end:
        raise ScenarioError(
            f"output_times reach from {times[0]:g} to {times[-1]:g} s, but the run from {start:g} to {end:g} s"
        )
    return times


def _principal_start(state: State, body: Body, pivot: Any, form: Formulation) -> Groups:
    """A body's start: attitude and spin in its principal axes, about its centre of mass or about its pivot."""
    x, q, p, angular_momentum = state.momenta(body)
    constants = body.constants(pivot)
    q_principal = product(q, constants.axes)
    w = to_body(constants.axes, as_leaves(state.angular_velocity_body))
    if pivot is None:
        spin: Any = tuple(component + 0.0 for component in angular_momentum)  # no -0: steps keep none
    else:
        com_to_pivot = to_world(q, constants.com_to_pivot)
        x, p, spin = plus(x, com_to_pivot), scaled(0, com_to_pivot), to_world(q_principal, times(constants.moments, w))
    groups = form.start(x, q_principal, p, spin, constants)
    if not form.keeps_body_rates:
        return groups
    turns = tuple(np.where(np.asarray(i) > 0, c, 0.0) for i, c in zip(constants.inverse_moments, w, strict=True))
    return (*groups[:3], tuple(float(c) if c.ndim == 0 else c for c in turns))  # as given, not by way of L
