"""The course of a body's mass properties: propellant that burns, water that flows out, sand that is picked up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from polhode import validation
from polhode.equations.formulations import StateView
from polhode.equations.inertia import BodyConstants, constants_for_forces
from polhode.equations.variable_mass import MassPiece
from polhode.errors import InertiaError, ScenarioError, show
from polhode.massprops.body import Body
from polhode.massprops.frozen_arrays import freeze_arrays
from polhode.scenario.own_functions import Finder
from polhode.scenario.part import Call, Extension, Part, Plain, Start, refuse_unknown_keys
from polhode.scenario.setting import Setting
from polhode.synonyms import explain_unknown_arguments
from polhode.validation import Array, as_leaves

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from polhode.scenario.scenario import Scenario

Course: TypeAlias = "ArrayLike | Callable[[float], ArrayLike]"
DEGREE = 7
"""Of the polynomials that functions of time are replaced by, piece by piece."""
MOST_PIECES = 1024
FIT_RTOL = 1e-13
"""The largest deviation of such a polynomial from its function, as a part of the largest value."""
SAME = 1e-9
"""How closely the course at the start must agree with the body, as a part of the size."""
TENSOR = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
"""The order of the entries of a symmetric tensor."""


@dataclass(frozen=True, eq=False)
class MassCourse:
    """Mass, center of mass and inertia as functions of time, and how mass leaves.  Made by `ph.mass_course`."""

    knots: Array
    """The times between which the pieces reach, in s; before and after them nothing changes."""
    origins: Array
    scales: Array
    """Of each piece: it is a polynomial in (t - origin) scale."""
    mass: Array
    """(pieces, degree + 1), the lowest power first, in kg."""
    center: Array | None
    """(pieces, 3, degree + 1), in m; None: it does not move."""
    tensor: Array | None
    """(pieces, 6, degree + 1), xx, yy, zz, xy, xz, yz, in kg m2; None: it does not change."""
    nozzle: Array | None
    exhaust_velocity: Array
    arguments: dict[str, Any] = field(repr=False)
    """The arguments of `ph.mass_course`, for scenario files; functions as the polynomials that replace them."""
    _known: list[tuple[Body, Array]] = field(default_factory=list, repr=False)
    """The body for which the coefficients were last put together, and these."""

    @property
    def degree(self) -> int:
        """Of the polynomials."""
        return int(self.mass.shape[-1]) - 1

    @property
    def moves_center(self) -> bool:
        """Whether the center of mass moves within the body, by more than rounding."""
        if self.center is None:
            return False
        ends = np.abs(np.stack([self.knots[:-1], self.knots[1:]]) - self.origins).max(axis=0) * self.scales
        powers = ends[:, None, None] ** np.arange(1, self.degree + 1)
        change = (np.abs(self.center[..., 1:]) * powers).sum(axis=-1).max() + np.ptp(self.center[..., 0], axis=0).max()
        return bool(change > FIT_RTOL * 10 * np.abs(self.center[..., 0]).max())

    def is_diagonal(self, body: Body) -> bool:
        """Whether the tensor stays diagonal in body axes."""
        return not self.coefficients(body)[:, 7:].any()

    def count(self, body: Body) -> int:
        """How many numbers change: 7 or, if the tensor is not diagonal, 10."""
        return 7 if self.is_diagonal(body) else 10

    def changing_entries(self, body: Body) -> int:
        """How many entries of the tensor change: 0, 3 on its diagonal, or 6."""
        return 0 if self.tensor is None else self.count(body) - 4

    def coefficients(self, body: Body) -> Array:
        """(pieces, 10, degree + 1): mass, center, tensor; what does not change is the body's."""
        if self._known and self._known[0][0] is body:
            return self._known[0][1]
        rows = self._join_coefficients(body)
        self._known[:] = [(body, rows)]
        return rows

    def _join_coefficients(self, body: Body) -> Array:
        pieces, powers = self.mass.shape
        rows = np.zeros((pieces, 10, powers))
        rows[:, 0] = self.mass
        rows[:, 1:4, 0] = body.center_of_mass
        rows[:, 4:, 0] = [body.inertia_body[i, j] for i, j in TENSOR]
        if self.center is not None:
            rows[:, 1:4] = self.center
        if self.tensor is not None:
            rows[:, 4:] = self.tensor
        return rows

    def piece(self, t: Any, body: Body) -> MassPiece:
        """The piece at one time, or with an array of times, each number an array."""
        times, rows = np.asarray(t, dtype=np.float64), self.coefficients(body)
        index = np.searchsorted(self.knots, times, side="right") - 1
        inside = np.clip(index, 0, len(rows) - 1)
        chosen, origins, scales = rows[inside], self.origins[inside], self.scales[inside]
        for beyond, at, k in ((index < 0, self.knots[0], 0), (index >= len(rows), self.knots[-1], -1)):
            if np.any(beyond):  # nothing changes there
                end = np.zeros_like(rows[0])
                end[:, 0] = np.polynomial.polynomial.polyval((at - self.origins[k]) * self.scales[k], rows[k].T)
                chosen = np.where(beyond[..., None, None], end, chosen)
        chosen = np.moveaxis(chosen, (-2, -1), (0, 1))
        plain: Any = (lambda number: number.tolist()) if times.ndim == 0 else np.ascontiguousarray
        nozzle = np.zeros(3) if self.nozzle is None else self.nozzle
        powers = [len(row) for row in chosen[: self.count(body)]]
        if not self.changing_entries(body):
            powers[4:] = [1] * len(powers[4:])
        return MassPiece(
            plain(origins),
            plain(scales),
            tuple(tuple(plain(number) for number in row[:n]) for row, n in zip(chosen, powers, strict=False)),
            as_leaves(nozzle),
            0.0 if self.nozzle is None else 1.0,
            as_leaves(self.exhaust_velocity),
        )

    def values(self, t: Any, body: Body) -> Array:
        """Mass, center and tensor at some times: (..., 10)."""
        piece = self.piece(np.asarray(t, dtype=np.float64), body)
        s = (np.asarray(t) - piece.origin) * piece.scale
        none = ((np.zeros(np.shape(t)),) * (self.degree + 1),) * (10 - len(piece.coefficients))
        return np.stack(
            [np.polynomial.polynomial.polyval(s, np.array(row), tensor=False) for row in piece.coefficients + none],
            axis=-1,
        )

    def center_rate(self, t: Any, body: Body) -> Array:
        """How fast the center of mass moves within the body at some times: (..., 3), in m/s."""
        piece = self.piece(np.asarray(t, dtype=np.float64), body)
        s, polynomial = (np.asarray(t) - piece.origin) * piece.scale, np.polynomial.polynomial
        rows = [polynomial.polyder(np.array(row)) for row in piece.coefficients[1:4]]
        return np.stack([piece.scale * polynomial.polyval(s, row, tensor=False) for row in rows], axis=-1)


@explain_unknown_arguments(ScenarioError)
def mass_course(
    times: ArrayLike,
    mass: Course,
    center_of_mass: Course | None = None,
    inertia: Course | None = None,
    *,
    exhaust_velocity: ArrayLike = (0.0, 0.0, 0.0),
    nozzle: ArrayLike | None = None,
) -> MassCourse:
    """The course of a body's mass, center and inertia, with the reaction of what leaves it: for `mass_course=`.

    Tables are interpolated linearly; before the first and after the last time nothing changes.  At the start of the run
    they must agree with the body.  What leaves pushes with its mass flow times `exhaust_velocity`, and carries angular
    momentum away from the nozzle (jet damping).  The flow inside the body is taken as steady.

    Parameters
    ----------
    times : array_like
        In s, increasing.  With functions: the first and the last time between which they are used.
    mass : array_like or callable
        In kg: one for each time, or a function of the time.
    center_of_mass : array_like or callable, optional
        In m, in the coordinates of `body.center_of_mass`: (times, 3), or a function that returns three numbers.  By
        default it stays where it is in the body.
    inertia : array_like or callable, optional
        About the center of mass, body axes, in kg m2: (times, 3) for three moments about the body axes, (times, 3, 3)
        for tensors, or a function that returns one of them.  By default it does not change.
    exhaust_velocity : array_like, optional
        Of what leaves relative to the body, body axes, in m/s: the thrust is the other way.  While the mass increases,
        it is the velocity with which it arrives, relative to the body, and pushes along it.
    nozzle : array_like, optional
        Where it leaves, in m, in the coordinates of `body.center_of_mass`.  By default at the center of mass.

    Examples
    --------
    A rocket of 100 kg burns 60 kg at 3 km/s, in free space [Tsiolkovsky 1903]:

    >>> import polhode as ph, math
    >>> rocket = ph.Body(mass=100.0, inertia=(50.0, 50.0, 5.0))
    >>> burn = ph.mass_course((0, 20), (100, 40), exhaust_velocity=(0, 0, -3000.0), nozzle=(0, 0, -2))
    >>> motion = ph.simulate(rocket, mass_course=burn, duration=30.0)
    >>> round(float(motion.velocity[-1, 2]), 6), round(3000 * math.log(100 / 40), 6)
    (2748.872196, 2748.872196)
    >>> float(motion.mass[-1])
    40.0
    """
    knots = np.atleast_1d(validation.check_numbers(times, "times", validation.shape_of(times), ScenarioError))
    if knots.ndim != 1 or len(knots) < 2 or (np.diff(knots) <= 0).any():
        raise ScenarioError(f"times of a mass course must be at least two, and increase, but are {show(times)}")
    if mass is None:
        raise ScenarioError("mass of a mass course must be numbers in kg, one for each time, or a function, not None")
    push = validation.check_numbers(exhaust_velocity, "exhaust_velocity", (3,), ScenarioError)
    leaves = None if nozzle is None else validation.check_numbers(nozzle, "nozzle", (3,), ScenarioError)
    for value, name in ((push, "exhaust_velocity"), (leaves, "nozzle")):
        if value is not None and value.ndim != 1:
            raise ScenarioError(f"{name} must be three numbers, the same for all members of an ensemble")
    rows = {"mass": mass, "center_of_mass": center_of_mass, "inertia": inertia}
    given = {name: value for name, value in rows.items() if value is not None}
    if any(callable(value) for value in given.values()):
        edges, values = _sample_functions(knots, given)
        origins, scales = (edges[1:] + edges[:-1]) / 2, 2 / np.diff(edges)
        fitted = {name: _fit(value) for name, value in values.items()}
        arguments: dict[str, Any] = {"knots": edges, **fitted}
        knots = edges
    else:
        values = {name: _check_rows(value, name, len(knots)) for name, value in given.items()}
        fitted = {name: _lines(value, knots) for name, value in values.items()}
        origins, scales = knots[:-1], np.ones(len(knots) - 1)
        arguments = {"times": knots, **given}
    arguments |= {"exhaust_velocity": push, **({} if leaves is None else {"nozzle": leaves})}
    return _course(knots, origins, scales, fitted, leaves, push, arguments)


def _course(
    knots: Array,
    origins: Array,
    scales: Array,
    fitted: Mapping[str, Array],
    nozzle: Array | None,
    exhaust_velocity: Array,
    arguments: dict[str, Any],
) -> MassCourse:
    first, origin, scale, mass = freeze_arrays((knots, origins, scales, fitted["mass"][:, 0]))
    center, tensor = (freeze_arrays(fitted[name]) if name in fitted else None for name in ("center_of_mass", "inertia"))
    return MassCourse(first, origin, scale, mass, center, tensor, nozzle, exhaust_velocity, arguments)


def read_mass_course(table: Any) -> MassCourse:
    """A mass course from a table of a scenario file: tables of numbers, or polynomials that replace functions."""
    if not isinstance(table, Mapping):
        raise ScenarioError(f"a mass course is a table headed [mass_course], not {show(table)}")
    refuse_unknown_keys(table, MASS_COURSE_KEYS, "a mass course")
    if "knots" not in table:
        for key in ("times", "mass"):
            if key not in table:
                raise ScenarioError(f"a mass course needs its {key}")
        return mass_course(**table)
    edges = np.asarray(table["knots"], dtype=np.float64)
    fitted = {}
    for name in ("mass", "center_of_mass", "inertia"):
        if name in table:
            powers = np.asarray(table[name], dtype=np.float64)
            steps = [(0, 0)] * (powers.ndim - 1) + [(0, 1)]  # steps from piece to piece change too: one power is none
            fitted[name] = powers if powers.shape[-1:] != (1,) else np.pad(powers, steps)
    nozzle = None if "nozzle" not in table else np.asarray(table["nozzle"], dtype=np.float64)
    push = np.asarray(table["exhaust_velocity"], dtype=np.float64)
    origins, scales = (edges[1:] + edges[:-1]) / 2, 2 / np.diff(edges)
    return _course(edges, origins, scales, fitted, nozzle, push, dict(table))


SHAPES: dict[str, list[tuple[int, ...]]] = {"mass": [()], "center_of_mass": [(3,)], "inertia": [(3,), (3, 3)]}
"""Of what is given for one time."""
MASS_COURSE_KEYS = ("times", "knots", "mass", "center_of_mass", "inertia", "exhaust_velocity", "nozzle")


def check_course(course: MassCourse, body: Body, start: float, rotors: Sequence[Any] = ()) -> None:
    """Refuse a course that does not begin as the body, or that passes through something that no body has."""
    found = course.values(start, body)
    expected = course.coefficients(body)[0, :, 0].copy()
    expected[0], expected[1:4] = body.mass, body.center_of_mass
    expected[4:] = [body.inertia_body[i, j] for i, j in TENSOR]
    times = np.union1d(course.knots, (course.knots[1:] + course.knots[:-1]) / 2)
    rows = course.values(times, body)
    names = ["mass"] + ["center_of_mass"] * 3 + ["inertia"] * 6
    size = np.sqrt(np.abs(expected[4:]).max() / abs(expected[0]))  # the center may be 0 but for rounding
    sizes = [abs(expected[0])] + [np.abs(rows[:, 1:4]).max() + np.abs(expected[1:4]).max() + size] * 3
    sizes += [np.abs(expected[4:]).max()] * 6
    for name, a, b, size in zip(names, found, expected, sizes, strict=True):
        if abs(a - b) > SAME * size:
            raise ScenarioError(
                f"at the start, t = {start:g} s, the mass course has {name} {a:g}, but the body {b:g}: they must "
                "agree, in SI units"
            )
    if (rows[:, 0] <= 0).any():
        at = int(np.argmin(rows[:, 0]))
        raise InertiaError(f"the mass of the course is {rows[at, 0]:g} kg at t = {times[at]:g} s: it must stay above 0")
    tensors = np.zeros((len(times), 3, 3))
    for (i, j), numbers in zip(TENSOR, rows[:, 4:].T, strict=True):
        tensors[:, i, j] = tensors[:, j, i] = numbers
    try:
        Body(mass=rows[:, 0], inertia=tensors, allow_unphysical=body.allow_unphysical)
    except InertiaError:
        for t, mass, tensor in zip(times, rows[:, 0], tensors, strict=True):  # at which time?
            try:
                Body(mass=mass, inertia=tensor, allow_unphysical=body.allow_unphysical)
            except InertiaError as error:
                raise InertiaError(f"the inertia of the mass course at t = {t:g} s: {error}") from None
    for rotor in rotors:
        tensors = tensors - np.asarray(rotor.inertia)[..., None, None] * np.outer(rotor.axis, rotor.axis)
    least = np.linalg.eigvalsh(tensors)[:, 0]
    if not (least > 0).all():
        raise InertiaError(
            f"the mass course leaves less inertia than its rotors have, at t = {times[int(np.argmin(least))]:g} s: the "
            "inertia of the body is that of the whole, with the rotors in it, locked"
        )


# Tables and functions as polynomials ----------------------------------------------------------------------------------
def _check_rows(value: Any, name: str, count: int) -> Array:
    """Numbers of a table, (times, 1), (times, 3) or (times, 6)."""
    shape = validation.shape_of(value)
    numbers = validation.check_numbers(value, name, shape, ScenarioError)
    allowed: list[Any] = [(count, *shape) for shape in SHAPES[name]]
    if numbers.shape not in allowed:
        wanted = " or ".join(map(str, allowed))
        raise ScenarioError(
            f"{name} of a mass course with {count} times has the shape {wanted}, but is {numbers.shape}"
        )
    return np.stack([_as_row(row, name) for row in numbers])


def _as_row(value: Any, name: str) -> Array:
    """One, three or six numbers."""
    numbers = np.asarray(value, dtype=np.float64)
    if name == "mass":
        return numbers.reshape(1)
    if name == "center_of_mass":
        return numbers.reshape(3)
    if numbers.shape == (3,):
        return np.append(numbers, (0.0, 0.0, 0.0))
    if np.abs(numbers - numbers.T).max() > SAME * np.abs(numbers).max():
        raise InertiaError("an inertia tensor of the mass course is not symmetric")
    return np.array([(numbers[i, j] + numbers[j, i]) / 2 for i, j in TENSOR])


def _lines(values: Array, knots: Array) -> Array:
    """(pieces, numbers, 2): the lines between the rows of a table."""
    slopes = np.diff(values, axis=0) / np.diff(knots)[:, None]
    return np.stack([values[:-1], slopes], axis=-1)


def _nodes() -> Array:
    """Chebyshev points in -1 to 1."""
    return np.cos(np.pi * (2 * np.arange(DEGREE + 1)[::-1] + 1) / (2 * DEGREE + 2))


def _sample_functions(knots: Array, given: Mapping[str, Any]) -> tuple[Array, dict[str, Array]]:
    """Times between which polynomials replace the functions, and the values (pieces, nodes, numbers) that they fit."""
    if len(knots) != 2 or not all(callable(value) for value in given.values()):
        raise ScenarioError(
            "a mass course is given by tables, or by functions only: then times are the first and the last time"
        )
    pieces = 1
    while pieces <= MOST_PIECES:
        edges = np.linspace(knots[0], knots[1], pieces + 1)
        values = {name: _call(function, name, edges, _nodes()) for name, function in given.items()}
        checks = np.linspace(-1, 1, 2 * DEGREE + 1)
        worst = 0.0
        for name, function in given.items():
            found = _evaluate(_fit(values[name]), checks)
            expected = _call(function, name, edges, checks)
            worst = max(worst, float(np.abs(found - expected).max() / max(np.abs(expected).max(), 1e-300)))
        if worst <= FIT_RTOL:
            return edges, values
        pieces *= 2
    raise ScenarioError(
        f"a function of the mass course is not smooth (no polynomials follow it closer than {worst:.1g}): give a "
        "table, or functions that are smooth between the first and the last time"
    )


def _call(function: Callable[[float], Any], name: str, edges: Array, nodes: Array) -> Array:
    """(pieces, nodes, numbers)"""
    middle, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    rows = []
    for m, h in zip(middle, half, strict=True):
        answers = [function(float(m + h * s)) for s in nodes]
        if any(validation.shape_of(answer) not in SHAPES[name] for answer in answers):
            raise ScenarioError(f"the function {name} of the mass course returned {answers[0]!r}")
        checked = [validation.check_numbers(a, name, validation.shape_of(a), ScenarioError) for a in answers]
        rows.append([_as_row(answer, name) for answer in checked])
    return np.array(rows)


def _fit(values: Array) -> Array:
    """(pieces, numbers, degree + 1): the polynomials through values at the Chebyshev points."""
    matrix = np.polynomial.polynomial.polyvander(_nodes(), DEGREE)
    return np.asarray(np.moveaxis(np.linalg.solve(matrix, values), 1, 2), dtype=np.float64)


def _evaluate(coefficients: Array, s: Array) -> Array:
    """(pieces, points, numbers)"""
    powers = np.polynomial.polynomial.polyvander(s, DEGREE)
    return np.asarray(np.einsum("pnd,sd->psn", coefficients, powers))


class MassCoursePart(Part):
    """Mass, center and inertia that change."""

    setting = Setting(
        "mass_course",
        "MassCourse | None",
        "MassCourse | None",
        "None",
        "MassCourse, optional",
        "Made by `ph.mass_course`: mass, center and inertia that change, as where propellant burns.  For the same "
        "methods, and one body.",
        in_file=False,
    )
    words = "a mass that changes"
    extends = moves_clock = True

    def check(self, given: Any, bodies: Any) -> Any:
        if given is not None and not isinstance(given, MassCourse):
            raise ScenarioError(f"mass_course must be made with ph.mass_course(times, mass, ...), not {show(given)}")
        return given

    def validate(self, scenario: Scenario) -> None:
        if scenario.is_system:
            raise ScenarioError("a mass course is that of one body: give the body by itself, not in a list")
        if scenario.form.is_held:
            raise ScenarioError(
                "a body whose mass changes cannot have a pivot yet: leave out the pivot, or the mass course"
            )
        body = scenario.bodies[0]
        if body.is_particle:
            raise ScenarioError("a particle has no inertia that could change: give a body with moments, ph.Body(...)")
        if body.members is not None:
            raise ScenarioError("a mass course is the same for all members: give a body without an axis for members")
        if any(rotor.members is not None for rotor in scenario.rotors):
            raise ScenarioError("with a mass course the rotors are the same for all members: give single numbers")
        check_course(self._of(scenario), body, scenario.start_time, scenario.rotors)

    def obstacle(self, scenario: Scenario) -> str | None:
        return "the mass changes"

    def times(self, held: Any) -> list[Any]:
        return [] if held is None else list(held.knots.tolist())

    def sizes(self, held: Any) -> tuple[int, ...]:
        """The time."""
        return (1,)

    def state_names(self, held: Any) -> list[str]:
        return ["mass_time"]

    def constants_in(self, scenario: Scenario, t: Any) -> dict[str, Any]:
        return {"course": self._of(scenario).piece(t, scenario.bodies[0])}

    def extend(self, scenario: Scenario, i: int, extension: Extension) -> Extension:
        now = self.constants_in(scenario, scenario.start_time)
        return extension._replace(constants=extension.constants._replace(**now))

    def start(self, scenario: Scenario, i: int, constants: BodyConstants) -> Start:
        return Start(groups=((scenario.start_time,),))

    def shape_view(self, scenario: Scenario, state: StateView, body: BodyConstants) -> tuple[StateView, BodyConstants]:
        changing = self._of(scenario).changing_entries(scenario.bodies[0])
        state = state._replace(current_mass=(1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0)[: 2 + changing])
        return state, constants_for_forces(body, state.current_mass)

    def _of(self, scenario: Scenario) -> MassCourse:
        assert scenario.mass_course is not None
        return scenario.mass_course

    def table(self, held: Any, plain: Plain, is_system: bool) -> Any:
        return {key: plain(value) for key, value in held.arguments.items()}

    def read(self, given: Any, is_system: bool, find: Finder) -> Any:
        return read_mass_course(given)

    def script(self, table: Any) -> Any:
        """Polynomials, which stand for functions of time, are read as a file has them."""
        if "knots" not in table:
            return Call("ph.mass_course", table)
        return Call("read_mass_course", {"table": table}, imports=(f"from {__name__} import read_mass_course",))
