"""A scenario: everything that a run needs to know, as a frozen record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import validation
from polhode.equations.extended_body import extended_formulation
from polhode.equations.formulations import FORMULATIONS, Formulation
from polhode.equations.inertia import BodyConstants
from polhode.errors import InputError, ScenarioError, show
from polhode.massprops.body import Body
from polhode.massprops.body_table import to_plain_values
from polhode.methods.registry import Method
from polhode.scenario import force_evaluation, scenario_file
from polhode.scenario import scenario_validation as checks
from polhode.scenario.contact import Contact
from polhode.scenario.event import Event, EventLaw
from polhode.scenario.force import Force, ForceLaw, announced_members, array_lengths, leading_lengths, settle_arrays
from polhode.scenario.mass_course import MassCourse
from polhode.scenario.members import (
    select_body_members,
    select_event_members,
    select_force_members,
    select_members,
    select_state_members,
)
from polhode.scenario.method_choice import MethodChoice, choose_method
from polhode.scenario.problem import Problem, body_constants, build_problem, constants_of_body, with_error_floor
from polhode.scenario.rotor import Rotor
from polhode.scenario.state import State
from polhode.synonyms import explain_unknown_arguments
from polhode.validation import Array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

DEFAULT_INTERVALS = 1000
"""About how many output times a run gets that asks for none in particular."""
FOLLOWS = {
    "method": ("choice", "times", "problem"),
    "formulation": ("choice", "problem"),
    "engine": ("choice",),
    "rtol": ("tolerances",),
    "atol": ("tolerances",),
    "output_step": ("times",),
    "output_times": ("times",),
    "forces": ("problem", "_of_kind"),
    "events": ("problem",),
    "rotors": ("problem", "_each_constants"),
}
"""What of a scenario is worked out anew when a setting changes that needs no check."""


@dataclass(frozen=True, eq=False, init=False)
class Scenario:
    """A body or several, their initial states, the forces, and how to compute what follows.

    `ph.simulate(...)` is `Scenario(...)` and a run of it.  Frozen: `dataclasses.replace` makes a changed copy.

    Parameters
    ----------
    body : Body or sequence of Body
        What moves; a list makes a system, whose bodies may act on each other.
    state : State or sequence of State, optional
        How each body starts; at rest at the origin by default.
    forces : sequence of Force, optional
        From `ph.forces`, or made by `@ph.force`.
    duration : float
        How long, in s, from the state's time on.
    step : float, optional
        The step size in s.  Methods with fixed steps need it; adaptive ones take it as their first try.  Without a
        method a warning says what became of it.
    method : str, optional
        "exact" (the closed form, if nothing but uniform gravity and impulses acts); "euler", "midpoint", "rk4",
        "leapfrog", "splitting2", "splitting4", "splitting6", "splitting2_exact", "splitting4_exact",
        "splitting6_exact" (fixed steps); "bs3", "rk45", "tsit5", "vern7", "dop853", "vern9", "taylor"
        (adaptive, of order 3, 5, 5, 7, 8, 9, and any; the last needs heyoka).  "auto", the default,
        is "exact" where that holds, else an adaptive method with a second run that estimates the error:
        `motion.audit()` says which, why, and the error found.
    formulation : str, optional
        "momentum" (default), "momentum_matrix", "body_rates", "quaternion_acceleration" or "euler_angles".
    engine : {"cpu", "gpu", "python"}, optional
        Compiled (default), compiled for NVIDIA's GPUs, or the laws as written: slow, for functions that cannot be
        compiled.
    precision : {"strict", "fused", "single"}, optional
        Of engine="gpu": the CPU's bits (default); fused multiply-adds, which differ from them by rounding; or numbers
        of 32 bits, about seven digits.
    output_step : float, optional
        Output every this many seconds.
    output_times : array_like, optional
        Output at these times instead, in s.  The steps do not depend on them: states inside an adaptive step come from
        its dense output.
    events : sequence of Event, optional
        Made by `@ph.event`: functions of the state that stop the run, are recorded, or change momenta where they cross
        zero.  For adaptive methods.
    contacts : sequence, optional
        What the bodies can touch: `ph.floor`, `ph.wall`, `ph.slope`, `ph.between_bodies`.  For the methods "auto",
        "exact" and "dop853".
    rotors : sequence of Rotor, optional
        Made by `ph.rotor`: flywheels and reaction wheels inside the bodies.  For "auto", "dop853" and the other
        Runge-Kutta methods.
    mass_course : MassCourse, optional
        Made by `ph.mass_course`: mass, center and inertia that change, as where propellant burns.  For the same
        methods, and one body.
    added_mass : array_like, optional
        6 x 6, symmetric: the momentum that the fluid around a body has when it moves, about the center of mass, body
        axes, velocity before rotation, in kg, kg m and kg m2.  Of a system: a list, with None for bodies without.
    pivot : array_like, optional
        A point of the body (from its center of mass, body axes, in m) that is held fixed in the world.
    renormalize : bool, optional
        Rescale the quaternion after every step (default).
    rtol, atol : float or four floats, optional
        Tolerances of adaptive methods, for each step, relative and absolute (default 0), of position, attitude,
        momentum and spin: one number each, or one for each kind.  With method="auto": of the whole motion.
    breaks : array_like, optional
        Times, in s, that no step crosses: for shorter steps around them, or a closer search for events.
    largest_turn : float, optional
        For Euler angles with fixed steps: the run stops where phi would turn by more than this in one step, in rad
        (default 1).  With infinity it goes on, and the result beyond such a place is worthless.
    name : str, optional
        A title for plots and files.

    Examples
    --------
    >>> import polhode as ph
    >>> fall = ph.Scenario(ph.particle(1.0), forces=[ph.forces.gravity()], duration=2.0)
    >>> fall.derivative(0.0, ph.State().to_array(ph.particle(1.0)))[7:10].tolist()
    [0.0, 0.0, -9.80665]
    """

    body: Body | Sequence[Body]
    state: State | Sequence[State] | None
    forces: tuple[Force, ...]
    events: tuple[Event, ...]
    contacts: tuple[Contact, ...]
    rotors: tuple[Rotor, ...]
    mass_course: MassCourse | None
    added_mass: tuple[Array, ...] | None
    duration: float
    step: float | None
    method: str
    formulation: str
    engine: str
    precision: str
    output_step: float | None
    output_times: Any
    pivot: Array | None
    renormalize: bool
    rtol: float | Sequence[float]
    atol: float | Sequence[float]
    breaks: tuple[float, ...]
    largest_turn: float
    name: str

    @explain_unknown_arguments(ScenarioError)
    def __init__(
        self,
        body: Body | Sequence[Body],
        state: State | Sequence[State] | None = None,
        forces: Sequence[Force | ForceLaw] = (),
        *,
        duration: float,
        events: Sequence[Event | EventLaw] = (),
        contacts: Sequence[Contact] = (),
        rotors: Sequence[Rotor] = (),
        mass_course: MassCourse | None = None,
        added_mass: ArrayLike | Sequence[ArrayLike | None] | None = None,
        step: float | None = None,
        method: str = "auto",
        formulation: str = "momentum",
        engine: str = "cpu",
        precision: str = "strict",
        output_step: float | None = None,
        output_times: ArrayLike | None = None,
        pivot: ArrayLike | None = None,
        renormalize: bool = True,
        rtol: float | Sequence[float] = 1e-9,
        atol: float | Sequence[float] = 0.0,
        breaks: ArrayLike = (),
        largest_turn: float = 1.0,
        name: str = "",
    ) -> None:
        values: dict[str, Any] = {
            "body": body,
            "state": state,
            "forces": checks.check_forces(forces),
            "events": checks.check_events(events),
            "contacts": checks.check_contacts(contacts),
            "rotors": checks.check_rotors(rotors),
            "mass_course": mass_course,
            "added_mass": checks.check_added_mass(added_mass, body),
            "breaks": checks.check_break_times(breaks),
            "duration": checks.check_positive_number(duration, "duration"),
            "step": None if step is None else checks.check_positive_number(step, "step"),
            "method": method,
            "formulation": formulation,
            "engine": engine,
            "precision": precision,
            "output_step": output_step,
            "output_times": output_times,
            "pivot": None if pivot is None else validation.check_numbers(pivot, "pivot", (3,), ScenarioError),
            "renormalize": renormalize,
            "rtol": rtol,
            "atol": atol,
            "largest_turn": largest_turn,
            "name": name,
        }
        for field, value in values.items():
            object.__setattr__(self, field, value)
        checks.validate_bodies(self)
        acting: dict[str, Any] = {"forces": self.forces, "events": self.events, "rotors": self.rotors}
        if array_lengths([one.params for some in acting.values() for one in some]):
            count = announced_members() if self.members is None else self.members
            for field, some in acting.items():
                settled = tuple(replace(one, params=settle_arrays(one.params, count)) for one in some)
                object.__setattr__(self, field, settled)
            self.__dict__.pop("members")  # the arrays may have added them
        checks.validate_scenario(self)

    # What acts on whom ------------------------------------------------------------------------------------------------
    @property
    def is_system(self) -> bool:
        """Whether bodies were given as a list, so that results have a `body` axis."""
        return isinstance(self.body, (list, tuple))

    @cached_property
    def bodies(self) -> tuple[Body, ...]:
        """The bodies, also if there is only one."""
        given: Any = self.body
        return tuple(given) if isinstance(given, (list, tuple)) else (given,)

    @cached_property
    def states(self) -> tuple[State, ...]:
        """The initial state of each body."""
        given: Any = self.state
        if given is None:
            return (State(),) * len(self.bodies)
        return tuple(given) if isinstance(given, (list, tuple)) else (given,)

    def of_kind(self, kind: str) -> tuple[Force, ...]:
        """The forces that act on single bodies ("body"), between two ("pair"), or as an impulse ("impulse")."""
        return self._of_kind.get(kind, ())

    @cached_property
    def _of_kind(self) -> dict[str, tuple[Force, ...]]:
        kinds = dict.fromkeys(f.kind for f in self.forces)
        return {kind: tuple(f for f in self.forces if f.kind == kind) for kind in kinds}

    @cached_property
    def members(self) -> int | None:
        """How many members an ensemble of this scenario has; None if it is a single run."""
        lengths = leading_lengths(
            [*((f.params, f.instant) for f in self.forces), *(e.params for e in self.events)]
            + [rotor.params for rotor in self.rotors]
        )
        records: list[Any] = [*self.bodies, *self.states, *self.contacts, *self.rotors]
        lengths |= {len(matrix) for matrix in self.added_mass or () if matrix.ndim > 2}
        lengths |= {record.members for record in records if record.members is not None}
        if self.pivot is not None and np.ndim(self.pivot) == 2:
            lengths.add(len(self.pivot))
        if len(lengths) > 1:
            raise ScenarioError(
                f"the leading axes of body, state, forces and contacts have different lengths, {sorted(lengths)}: "
                "give every one the same number of members"
            )
        return lengths.pop() if lengths else None

    @property
    def count(self) -> int:
        """How many bodies are computed: those of the system, or the members of the ensemble, or both multiplied."""
        return (self.members or 1) * len(self.bodies)

    @property
    def shape(self) -> tuple[int, ...]:
        """The axes of the bodies computed: (bodies,), (members,), or (members, bodies) of an ensemble of systems."""
        if self.members is None:
            return (len(self.bodies),)
        return (self.members, len(self.bodies)) if self.is_system else (self.members,)

    @property
    def is_extended(self) -> bool:
        """Whether a body is more than rigid: it has rotors, its mass changes, or a fluid adds to it."""
        return bool(self.rotors) or self.mass_course is not None or self.added_mass is not None

    # How it is computed -----------------------------------------------------------------------------------------------
    @cached_property
    def choice(self) -> MethodChoice:
        """The method and the formulation that compute the motion, and why."""
        return choose_method(self)

    @property
    def form(self) -> Formulation:
        """The laws of the formulation that the motion is computed in."""
        if self.is_extended:
            return extended_formulation(len(self.rotors), self.mass_course is not None)
        return FORMULATIONS[self.choice.formulation]

    @property
    def used_method(self) -> Method:
        """The method that computes the motion: the one asked for, or the one that "auto" chooses."""
        return self.choice.method

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
            return checks.check_output_times(self.output_times, self.start_time, self.end_time)
        if self.output_step is not None:
            every = checks.check_positive_number(self.output_step, "output_step")
            if every > self.duration:
                raise ScenarioError(
                    f"output_step {every:g} s is longer than the duration {self.duration:g} s: "
                    "choose a shorter one, or give output_times"
                )
            checks.check_output_count(self.duration, every, self.end_time)
        elif self.used_method.needs_step:
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
                f"method {self.method!r} takes fixed steps: give their size, step=..., in s, or use method='dop853', "
                "which finds its own"
            )
        return self.step

    @cached_property
    def tolerances(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """rtol, and atol, each for position, attitude, momentum and spin."""
        return checks.check_tolerances(self.rtol, self.atol)

    @property
    def group_tolerances(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """rtol, and atol, for each part of the state whose error is controlled: rotors have those of the spin."""
        rtol, atol = self.tolerances
        more = self.form.controlled - len(rtol)
        return rtol + rtol[-1:] * more, atol + atol[-1:] * more

    # The numbers ------------------------------------------------------------------------------------------------------
    @cached_property
    def problem(self) -> Problem:
        """The numbers alone, as an engine takes them."""
        return build_problem(self)

    def constants_about(self, pivot: ArrayLike | None) -> BodyConstants:
        """The constants of the bodies about a pivot, or with None about the center of mass."""
        return body_constants(self, pivot)

    def body_constants(self, i: int) -> BodyConstants:
        """The constants of one body, about its pivot if it has one."""
        return self._each_constants[i]

    @cached_property
    def _each_constants(self) -> tuple[BodyConstants, ...]:
        return tuple(constants_of_body(self, i, self.pivot) for i in range(len(self.bodies)))

    def constants_for_samples(self, constants: BodyConstants, samples: Any) -> BodyConstants:
        """The constants that belong to the numbers of samples, columns first: the mass at the time that they hold."""
        if self.mass_course is None:
            return constants
        clock = samples[sum(self.form.sizes) - 1]
        return constants._replace(course=self.mass_course.piece(clock, self.bodies[0]))

    def load_kernels(self) -> tuple[Any, ...]:
        """The functions of the forces on single bodies, in the order of `problem.load_params`."""
        return tuple(force_evaluation.restricted_kernel(f) for f in self.of_kind("body"))

    def derivative(self, t: float, y: ArrayLike) -> Array:
        """The right-hand side dY/dt for any ODE solver.  [Baraff 1997, section 3: dydt]

        Neither impulses nor contacts are part of a derivative: stop the solver there.

        Parameters
        ----------
        t : float
            The time, in s.
        y : array_like
            13 numbers a body (x, q, P, L), or 18 (x, R row by row, P, L).

        Examples
        --------
        >>> import polhode as ph
        >>> body = ph.particle(2.0)
        >>> scenario = ph.Scenario(body, forces=[ph.forces.gravity(10.0)], duration=1.0)
        >>> scenario.derivative(0.0, ph.State(velocity=(3, 0, 0)).to_array(body))[[0, 9]].tolist()
        [3.0, -20.0]
        """
        if self.pivot is not None:
            raise ScenarioError("derivative describes free bodies; with a pivot use ph.simulate")
        if self.is_extended:
            raise ScenarioError(
                "derivative describes rigid bodies; with rotors, a mass that changes or added mass use ph.simulate"
            )
        now = validation.check_number(t, "t")
        try:
            numbers = validation.as_floats(y)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"y must be 13 or 18 numbers a body, not {show(y)}") from None
        return force_evaluation.derivative(now, numbers, self.bodies, self.forces)

    def take(self, members: Any) -> Scenario:
        """The scenario of one member of an ensemble (an index), or of some of them (an array of indices).

        Examples
        --------
        >>> import polhode as ph
        >>> start = ph.State(velocity=[(0, 0, 1), (0, 0, 2)])
        >>> ph.Scenario(ph.particle(1.0), start, duration=3.0).take(1).states[0].velocity.tolist()
        [0.0, 0.0, 2.0]
        """
        bodies = tuple(select_body_members(body, members) for body in self.bodies)
        states = tuple(select_state_members(state, members) for state in self.states)
        return self._copy(
            tuple(set(vars(self)) - {f.name for f in fields(self)}),
            body=bodies if self.is_system else bodies[0],
            state=states if self.is_system else states[0],
            forces=tuple(select_force_members(f, members) for f in self.forces),
            events=tuple(select_event_members(e, members) for e in self.events),
            contacts=tuple(contact.select_members(members) for contact in self.contacts),
            rotors=tuple(rotor.select_members(members) for rotor in self.rotors),
            added_mass=None
            if self.added_mass is None
            else tuple(select_members(m, 2, members) for m in self.added_mass),
            pivot=None if self.pivot is None else select_members(self.pivot, 1, members),
        )

    def with_settings(self, **settings: Any) -> Scenario:
        """A copy with other settings that need no check, since they were derived from checked ones.

        What follows from bodies, states and forces alone is kept.  Anything that a user gives goes through
        `dataclasses.replace`, which checks everything.
        """
        stale = {name for field in settings for name in FOLLOWS.get(field, ())}
        if self.method == "auto":
            stale.add("choice")
        made = self._copy(tuple(stale), **settings)
        if "tolerances" in stale and "problem" in vars(made):
            made.__dict__["problem"] = with_error_floor(made.problem, made)
        return made

    def with_choice(self) -> Scenario:
        """A copy that names the method and the formulation that "auto" has chosen: everything else stays."""
        return self._copy(("choice",), method=self.choice.method.name, formulation=self.choice.formulation)

    def _copy(self, stale: tuple[str, ...], **changes: Any) -> Scenario:
        """A copy with other fields, unchecked, without what would have to be worked out anew."""
        made = object.__new__(Scenario)
        made.__dict__.update(vars(self))
        for name in stale:
            made.__dict__.pop(name, None)
        made.__dict__.update(changes)
        return made

    # Files ------------------------------------------------------------------------------------------------------------
    @classmethod
    def from_toml(cls, path: str | Path) -> Scenario:
        """Read a scenario from a TOML file; the reference "Scenario file" lists every key.

        Examples
        --------
        >>> import polhode as ph, tempfile, pathlib
        >>> text = 'duration = 2.0\\n[body]\\nmass = 1.0\\ninertia = [1, 2, 2.5]\\nvelocity = [3, 0, 0]'
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder) / "drift.toml"
        ...     _ = path.write_text(text)
        ...     ph.simulate(ph.Scenario.from_toml(path)).final.position.round(9).tolist()
        [6.0, 0.0, 0.0]
        """
        return cls(**scenario_file.read_scenario(validation.check_path(path, "a scenario", "read from")))

    def to_toml(self, path: str | Path) -> None:
        """Write the scenario as a TOML file that `from_toml` reads.

        Examples
        --------
        >>> import polhode as ph, tempfile, pathlib
        >>> fall = ph.Scenario(ph.particle(1.0), forces=[ph.forces.gravity()], duration=2.0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     fall.to_toml(pathlib.Path(folder) / "fall.toml")
        ...     ph.Scenario.from_toml(pathlib.Path(folder) / "fall.toml").duration
        2.0
        """
        scenario_file.write_text(validation.check_path(path, "the scenario"), self.as_toml())

    def as_toml(self) -> str:
        """The text of the TOML file.

        Examples
        --------
        >>> import polhode as ph
        >>> print(ph.Scenario(ph.shapes.sphere(0.1, mass=1.0), duration=2.0).as_toml().splitlines()[0])
        duration = 2.0
        """
        if self.events:
            raise ScenarioError(
                f"the event {self.events[0].name} is a function of your own, which no file can hold: "
                "keep it in Python, add it after reading"
            )
        return scenario_file.to_toml_text(self.as_mapping(with_parts=bool(self.contacts), with_shapes=True))

    def to_python(self, path: str | Path) -> None:
        """Write the scenario as a Python script that makes it again, to the last bit, and simulates it.

        Functions of your own (`@ph.force`, `@ph.event`) are refused with a sentence: only their source holds them.

        Examples
        --------
        >>> import polhode as ph, tempfile, pathlib
        >>> fall = ph.Scenario(ph.particle(1.0), forces=[ph.forces.gravity()], duration=2.0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     fall.to_python(pathlib.Path(folder) / "fall.py")
        ...     print((pathlib.Path(folder) / "fall.py").read_text().splitlines()[4])
        body = ph.particle(1.0)
        """
        scenario_file.write_text(validation.check_path(path, "the script"), self.as_python())

    def as_python(self) -> str:
        """The text of the Python script.

        Examples
        --------
        >>> import polhode as ph
        >>> script = ph.Scenario(ph.shapes.sphere(0.1, mass=1.0), duration=2.0, method="exact").as_python()
        >>> made = {}
        >>> exec(script.replace("print", "repr"), made)
        >>> made["motion"]
        <Motion of one body, 0 to 2 s, 201 output times, exact>
        """
        from polhode.scenario.scenario_python import scenario_as_python

        return scenario_as_python(self)

    def as_mapping(
        self,
        forces: Sequence[Force] | None = None,
        with_parts: bool = False,
        plain: Callable[[Any], Any] = to_plain_values,
        with_shapes: bool = False,
    ) -> dict[str, Any]:
        """The scenario as plain numbers, strings and lists: what its file holds.

        With other forces, if given; with the parts of the bodies, their geometry, if asked for: contacts need it; and
        with shapes in place of numbers, where they have the same bits.  `plain` makes numbers and lists of the values.
        """
        settings = {f.name: getattr(self, f.name) for f in fields(self)}
        defaults = {name: p.default for name, p in signature(Scenario).parameters.items()}
        shown = self.forces if forces is None else forces
        return scenario_file.scenario_mapping(
            self.bodies, self.states, shown, self.contacts, self.rotors, self.is_system, with_parts, settings, defaults,
            self.mass_course, self.added_mass, plain, with_shapes,
        )  # fmt: skip
