"""The course of a body's mass properties: propellant that burns, water that flows out, sand that is picked up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from polhode import validation
from polhode.equations.variable_mass import MassPiece
from polhode.errors import InertiaError, ScenarioError, show
from polhode.massprops.body import Body
from polhode.massprops.frozen_arrays import freeze_arrays
from polhode.scenario.mass_course_tables import (
    FIT_RTOL,
    SAME,
    TENSOR,
    check_rows,
    fit_polynomials,
    has_members,
    join_by_lines,
    sample_functions,
)
from polhode.scenario.part import refuse_unknown_keys
from polhode.synonyms import explain_unknown_arguments
from polhode.validation import Array, as_leaves

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Course: TypeAlias = "ArrayLike | Callable[[float], ArrayLike]"


@dataclass(frozen=True, eq=False)
class MassCourse:
    """Mass, center of mass and inertia as functions of time, and how mass leaves.  Made by `ph.mass_course`.

    In an ensemble any of its arrays may have a leading axis for the members.
    """

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
    varying: frozenset[str] = frozenset()
    """Those of them that have an axis for the members."""
    _known: list[tuple[Body, Array]] = field(default_factory=list, repr=False)
    """The body for which the coefficients were last put together, and these."""

    @property
    def members(self) -> int | None:
        """The number of members, if its numbers differ between the members of an ensemble."""
        center = () if self.center is None else ((self.center, 3),)
        tensor = () if self.tensor is None else ((self.tensor, 3),)
        nozzle = () if self.nozzle is None else ((self.nozzle, 1),)
        rest = ((self.exhaust_velocity, 1), (self.knots, 1), (self.mass, 2))
        return validation.member_count(*rest, *center, *tensor, *nozzle)

    def select_members(self, members: Any) -> MassCourse:
        """The course of one member of an ensemble (an index), or of several (an array of indices)."""
        dimensions = {"knots": 1, "origins": 1, "scales": 1, "mass": 2, "center": 3, "tensor": 3, "nozzle": 1}
        dimensions["exhaust_velocity"] = 1
        given = {name: (getattr(self, name), size) for name, size in dimensions.items()}
        chosen = {
            name: value[members] if value is not None and value.ndim > size else value
            for name, (value, size) in given.items()
        }
        arguments = {
            name: np.asarray(value)[members] if name in self.varying else value
            for name, value in self.arguments.items()
        }
        varying = self.varying if np.ndim(members) else frozenset[str]()
        return replace(self, **chosen, arguments=arguments, varying=varying, _known=[])

    @property
    def degree(self) -> int:
        """Of the polynomials."""
        return int(self.mass.shape[-1]) - 1

    @property
    def moves_center(self) -> bool:
        """Whether the center of mass moves within the body, by more than rounding."""
        if self.center is None:
            return False
        ends = np.abs(np.stack([self.knots[..., :-1], self.knots[..., 1:]]) - self.origins).max(axis=0) * self.scales
        powers = ends[..., None, None] ** np.arange(1, self.degree + 1)
        moved = np.ptp(self.center[..., 0], axis=-2).max()
        change = (np.abs(self.center[..., 1:]) * powers).sum(axis=-1).max() + moved
        return bool(change > FIT_RTOL * 10 * np.abs(self.center[..., 0]).max())

    def is_diagonal(self, body: Body) -> bool:
        """Whether the tensor stays diagonal in body axes."""
        return not self.coefficients(body)[..., 7:, :].any()

    def count(self, body: Body) -> int:
        """How many numbers change: 7 or, if the tensor is not diagonal, 10."""
        return 7 if self.is_diagonal(body) else 10

    def changing_entries(self, body: Body) -> int:
        """How many entries of the tensor change: 0, 3 on its diagonal, or 6."""
        return 0 if self.tensor is None else self.count(body) - 4

    def coefficients(self, body: Body) -> Array:
        """([members,] pieces, 10, degree + 1): mass, center, tensor; what does not change is the body's."""
        if self._known and self._known[0][0] is body:
            return self._known[0][1]
        rows = self._join_coefficients(body)
        self._known[:] = [(body, rows)]
        return rows

    def _join_coefficients(self, body: Body) -> Array:
        pieces, powers = self.mass.shape[-2:]
        count = validation.member_count((np.empty(self.members or 0), 0 if self.members else 1), _members_of(body))
        rows = np.zeros((*(() if count is None else (count,)), pieces, 10, powers))
        rows[..., 0, :] = self.mass
        tensor = np.stack([body.inertia_body[..., i, j] for i, j in TENSOR], axis=-1)
        rows[..., 1:4, 0] = np.asarray(body.center_of_mass)[..., None, :]
        rows[..., 4:, 0] = tensor[..., None, :]
        if self.center is not None:
            rows[..., 1:4, :] = self.center
        if self.tensor is not None:
            rows[..., 4:, :] = self.tensor
        return rows

    def piece(self, t: Any, body: Body) -> MassPiece:
        """The piece at one time, or with an array of times, each number an array.

        Of an ensemble the last axis of the times, if they are several, is that of the members.
        """
        times, rows = np.asarray(t, dtype=np.float64), self.coefficients(body)
        has_members = rows.ndim > 3
        chosen, origins, scales = (self._of_members if has_members else self._of_one)(times, rows)
        chosen = np.moveaxis(chosen, (-2, -1), (0, 1))
        plain: Any = np.ascontiguousarray
        if times.ndim == 0 and not has_members:
            plain = lambda number: number.tolist()  # noqa: E731
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

    def _of_one(self, times: Array, rows: Array) -> tuple[Array, Array, Array]:
        """The coefficients, origins and scales at some times."""
        index = np.searchsorted(self.knots, times, side="right") - 1
        inside = np.clip(index, 0, len(rows) - 1)
        chosen, origins, scales = rows[inside], self.origins[inside], self.scales[inside]
        for beyond, at, k in ((index < 0, self.knots[0], 0), (index >= len(rows), self.knots[-1], -1)):
            if np.any(beyond):  # nothing changes there
                end = np.zeros_like(rows[0])
                end[:, 0] = np.polynomial.polynomial.polyval((at - self.origins[k]) * self.scales[k], rows[k].T)
                chosen = np.where(beyond[..., None, None], end, chosen)
        return chosen, origins, scales

    def _of_members(self, times: Array, rows: Array) -> tuple[Array, Array, Array]:
        """The same of the members, which are the last axis of the times."""
        count, pieces = rows.shape[:2]
        knots, origins, scales = (
            np.broadcast_to(x, (count, x.shape[-1])) for x in (self.knots, self.origins, self.scales)
        )
        index = (knots <= times[..., None]).sum(axis=-1) - 1
        each, inside = np.arange(count), np.clip(index, 0, pieces - 1)
        chosen = rows[each, inside]
        for beyond, at, k in ((index < 0, knots[:, 0], 0), (index >= pieces, knots[:, -1], -1)):
            if np.any(beyond):
                end, s = np.zeros_like(rows[:, 0]), (at - origins[:, k]) * scales[:, k]
                powers = np.moveaxis(rows[:, k], -1, 0)
                end[..., 0] = np.polynomial.polynomial.polyval(s[:, None], powers, tensor=False)
                chosen = np.where(beyond[..., None, None], end, chosen)
        return chosen, origins[each, inside], scales[each, inside]

    def values(self, t: Any, body: Body) -> Array:
        """Mass, center and tensor at some times: (..., 10)."""
        piece = self.piece(np.asarray(t, dtype=np.float64), body)
        s = (np.asarray(t) - piece.origin) * piece.scale
        none = ((np.zeros(np.shape(s)),) * (self.degree + 1),) * (10 - len(piece.coefficients))
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
        In s, increasing.  With functions: the first and the last time between which they are used.  In an ensemble this
        and every table may have a leading axis for the members, each with its own propellant and burn time; functions
        are the same for all.
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
    if knots.ndim > 2 or knots.shape[-1] < 2 or (np.diff(knots) <= 0).any():
        raise ScenarioError(f"times of a mass course must be at least two, and increase, but are {show(times)}")
    if mass is None:
        raise ScenarioError("mass of a mass course must be numbers in kg, one for each time, or a function, not None")
    push = validation.check_numbers(exhaust_velocity, "exhaust_velocity", (3,), ScenarioError)
    leaves = None if nozzle is None else validation.check_numbers(nozzle, "nozzle", (3,), ScenarioError)
    rows = {"mass": mass, "center_of_mass": center_of_mass, "inertia": inertia}
    given = {name: value for name, value in rows.items() if value is not None}
    if any(callable(value) for value in given.values()):
        edges, values = sample_functions(knots, given)
        origins, scales = (edges[1:] + edges[:-1]) / 2, 2 / np.diff(edges)
        fitted = {name: fit_polynomials(value) for name, value in values.items()}
        arguments: dict[str, Any] = {"knots": edges, **fitted}
        knots = edges
    else:
        values = {name: check_rows(value, name, knots.shape[-1]) for name, value in given.items()}
        validation.member_count((knots, 1), *((value, 2) for value in values.values()))
        fitted = {name: join_by_lines(value, knots) for name, value in values.items()}
        origins, scales = knots[..., :-1], np.ones(knots.shape[-1] - 1)
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
    first, origin, scale, mass = freeze_arrays((knots, origins, scales, fitted["mass"][..., 0, :]))
    center, tensor = (freeze_arrays(fitted[name]) if name in fitted else None for name in ("center_of_mass", "inertia"))
    varies = {
        "times": knots.ndim > 1,
        "exhaust_velocity": exhaust_velocity.ndim > 1,
        "nozzle": nozzle is not None and nozzle.ndim > 1,
        "mass": mass.ndim > 2 and np.ndim(arguments["mass"]) > 1,
        "center_of_mass": center is not None and center.ndim > 3 and np.ndim(arguments["center_of_mass"]) > 2,
        "inertia": tensor is not None and has_members("inertia", np.shape(arguments["inertia"]), knots.shape[-1]),
    }
    varying = frozenset(name for name, differs in varies.items() if differs and name in arguments)
    made = MassCourse(first, origin, scale, mass, center, tensor, nozzle, exhaust_velocity, arguments, varying)
    _ = made.members  # refuses different numbers of them
    return made


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


MASS_COURSE_KEYS = ("times", "knots", "mass", "center_of_mass", "inertia", "exhaust_velocity", "nozzle")


def check_course(course: MassCourse, body: Body, start: float, rotors: Sequence[Any] = ()) -> None:
    """Refuse a course that does not begin as the body, or that passes through something that no body has."""
    found = course.values(start, body)
    expected = course.coefficients(body)[..., 0, :, 0].copy()
    expected[..., 0], expected[..., 1:4] = body.mass, body.center_of_mass
    expected[..., 4:] = np.stack([body.inertia_body[..., i, j] for i, j in TENSOR], axis=-1)
    times = np.sort(np.concatenate([course.knots, (course.knots[..., 1:] + course.knots[..., :-1]) / 2], axis=-1)).T
    if times.ndim == 1 and expected.ndim > 1:
        times = times[:, None]
    rows = course.values(times, body)  # (times, [members,] 10)
    names = ["mass"] + ["center_of_mass"] * 3 + ["inertia"] * 6
    size = np.sqrt(
        np.abs(expected[..., 4:]).max(axis=-1) / np.abs(expected[..., 0])
    )  # the center may be 0 but for rounding
    far = np.abs(rows[..., 1:4]).max(axis=(0, -1)) + np.abs(expected[..., 1:4]).max(axis=-1) + size
    sizes = [np.abs(expected[..., 0])] + [far] * 3 + [np.abs(expected[..., 4:]).max(axis=-1)] * 6
    for name, a, b, size in zip(names, np.moveaxis(found, -1, 0), np.moveaxis(expected, -1, 0), sizes, strict=True):
        off = np.atleast_1d(np.abs(a - b) - SAME * size)
        if (off > 0).any():
            worst = int(off.argmax())
            a, b = (float(np.atleast_1d(x)[worst]) for x in (a, b))
            who = f" of member {worst}" if expected.ndim > 1 else ""
            raise ScenarioError(
                f"at the start, t = {start:g} s, the mass course{who} has {name} {a:g}, but the body {b:g}: they must "
                "agree, in SI units"
            )
    moments = np.broadcast_to(times, rows.shape[:-1])
    if (rows[..., 0] <= 0).any():
        at = np.unravel_index(int(np.argmin(rows[..., 0])), moments.shape)
        raise InertiaError(
            f"the mass of the course is {rows[..., 0][at]:g} kg at t = {moments[at]:g} s: it must stay above 0"
        )
    tensors = np.zeros((*moments.shape, 3, 3))
    for (i, j), numbers in zip(TENSOR, np.moveaxis(rows[..., 4:], -1, 0), strict=True):
        tensors[..., i, j] = tensors[..., j, i] = numbers
    each = rows[..., 0].ravel(), tensors.reshape(-1, 3, 3)
    try:
        Body(mass=each[0], inertia=each[1], allow_unphysical=body.allow_unphysical)
    except InertiaError:
        for t, mass, tensor in zip(moments.ravel(), *each, strict=True):  # at which time?
            try:
                Body(mass=mass, inertia=tensor, allow_unphysical=body.allow_unphysical)
            except InertiaError as error:
                raise InertiaError(f"the inertia of the mass course at t = {t:g} s: {error}") from None
    for rotor in rotors:
        axis = rotor.axis[..., :, None] * rotor.axis[..., None, :]
        tensors = tensors - np.asarray(rotor.inertia)[..., None, None] * axis
    least = np.linalg.eigvalsh(tensors)[..., 0]
    if not (least > 0).all():
        at = np.unravel_index(int(np.argmin(least)), least.shape)
        raise InertiaError(
            f"the mass course leaves less inertia than its rotors have, at t = {moments[at]:g} s: the inertia of the "
            "body is that of the whole, with the rotors in it, locked"
        )


def _members_of(body: Body) -> tuple[Array, int]:
    """How many members a body has, as `member_count` takes it."""
    return np.empty(body.members or 0), 0 if body.members else 1
