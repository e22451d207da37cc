"""Bodies combined from particles and other bodies (join, subtract), and tensors about other points."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polhode import validation
from polhode.equations.inertia import shift_inertia
from polhode.errors import InertiaError, MassWarning, show
from polhode.massprops.body import Body
from polhode.massprops.hole_checks import find_hole_warnings, has_uniform_density
from polhode.massprops.line_bodies import combine_points_and_lines, line_axis, line_tensor
from polhode.massprops.principal_axes import ROUNDING, diagonalize_inertia, find_unphysical_moments
from polhode.validation import Array, as_leaves

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from polhode.massprops.geometry import Part


class _CombinedProperties(NamedTuple):
    """Mass properties of several bodies as one: arguments of `Body`."""

    mass: Array
    center_of_mass: Array
    inertia: Array
    is_particle: bool = False
    is_line: bool = False
    notes: tuple[str, ...] = ()


def combine_particles(masses: ArrayLike, positions: ArrayLike) -> Body:
    """Rigidly connected point masses: a single one is a particle, collinear ones are a line.

    In an ensemble one of the two, or both, have a leading axis for the members.  Points have no volume, no geometry.
    """
    where = validation.shape_of(positions)
    if len(where) not in (2, 3) or where[-1] != 3 or where[-2] == 0:
        raise InertiaError(
            "positions must have shape (n, 3), in m, one row per particle (in an ensemble with a leading axis for the "
            f"members), but {_describe_shape(positions, where)}"
        )
    points = validation.check_numbers(positions, "positions", where[-2:], InertiaError)
    amounts = validation.shape_of(masses)
    if amounts[-1:] != where[-2:-1] or len(amounts) > 2:
        raise InertiaError(
            f"masses must have one value for each of the {where[-2]} positions, but {_describe_shape(masses, amounts)}"
        )
    m = validation.check_numbers(masses, "masses", amounts[-1:], InertiaError)
    if not (m > 0).all():
        raise InertiaError(f"masses must be greater than 0 kg, but the smallest is {m.min():g} kg")
    validation.member_count((m, 1), (points, 2))
    return Body(**_combine_thin(m, points, np.zeros(m.shape), np.zeros((*m.shape, 3)))._asdict())


def join_bodies(bodies: Sequence[Body]) -> Body:
    """Bodies as one, in place.

    A particle adds mass, but neither volume nor geometry.  The area is unknown, since faces may touch.
    """
    if len(bodies) == 1:
        return bodies[0]
    _check_operands(bodies, bodies, "join")
    extents = [body.volume for body in bodies if not body.is_particle]
    volume = None if not extents or any(v is None for v in extents) else sum(extents)
    whole = _combine_signed(bodies, np.ones(len(bodies)))
    return _build_combined_body(whole, bodies, volume, tuple(part for body in bodies for part in body.parts))


def subtract_bodies(body: Body, others: Sequence[Body]) -> Body:
    """A body with holes: masses, first and second moments of the others are subtracted.  The area is unknown."""
    if not others:
        return body
    _check_operands(others, (body, *others), "subtract")
    mass, removed = np.asarray(body.mass), np.asarray(sum(np.asarray(other.mass) for other in others))
    bad = np.flatnonzero(mass - removed <= ROUNDING * mass)
    if bad.size:
        before, less = (_member_value(values, bad[0]) for values in (mass, removed))
        raise InertiaError(
            f"subtracting {less:g} kg from {before:g} kg leaves no mass: what is subtracted is larger or denser than "
            "the body, or is all of it"
        )
    volume = _remaining_volume(body, others)
    whole = _combine_signed((body, *others), np.array((1.0, *(-1.0 for _ in others))))
    if not whole.is_particle:
        _refuse_unphysical_remainder(whole, mass, any(one.allow_unphysical for one in (body, *others)))
    for message in (messages := find_hole_warnings(body, others)):
        warnings.warn(message, MassWarning, stacklevel=3)
    whole = whole._replace(notes=(*whole.notes, *messages))
    parts = (*body.parts, *(replace(p, is_hole=not p.is_hole) for other in others for p in other.parts))
    return _build_combined_body(whole, (body, *others), volume, parts)


def inertia_about_point(body: Body, point: ArrayLike) -> Array:
    """The tensor about another point of the body's coordinates."""
    where = validation.check_numbers(point, "point", (3,), InertiaError)
    validation.member_count((np.empty(body.members or ()), 0), (where, 1))
    away = where - body.center_of_mass
    return _tensor_from_entries(shift_inertia(_tensor_entries(body.inertia_body), body.mass, as_leaves(away)))


def _center_offsets(masses: Array, positions: Array) -> tuple[Array, Array, Array]:
    """The total mass of point masses (..., N), their center of mass, and their offsets from it.

    Far from the origin the first estimate of the center suffers from rounding; sums of the offsets correct it.
    """
    mass = masses.sum(axis=-1)
    rough = _weighted_mean(masses, positions, mass)
    offsets = positions - rough[..., None, :]
    rest = _weighted_mean(masses, offsets, mass)
    return mass, rough + rest, offsets - rest[..., None, :]


def _weighted_mean(masses: Array, vectors: Array, mass: Array) -> Array:
    """Each component is summed along contiguous memory, where NumPy uses pairwise summation."""
    return np.stack([(masses * vectors[..., i]).sum(axis=-1) / mass for i in range(3)], axis=-1)


def _combine_solids(masses: Array, positions: Array, tensors: Array) -> _CombinedProperties:
    mass, center, offsets = _center_offsets(masses, positions)
    about = shift_inertia(_tensor_entries(tensors), masses, as_leaves(offsets))
    return _CombinedProperties(mass, center, _tensor_from_entries([entry.sum(axis=-1) for entry in about]))


def _combine_thin(masses: Array, positions: Array, moments: Array, directions: Array) -> _CombinedProperties:
    """Particles, and lines with these moments and directions."""
    mass, center, offsets = _center_offsets(masses, positions)
    found = combine_points_and_lines(masses, positions, offsets, moments, directions)
    if found.is_point:
        return _CombinedProperties(mass, center, np.zeros(3), is_particle=True)
    if found.tensor is not None:
        return _CombinedProperties(mass, center, found.tensor, is_line=True, notes=found.notes)
    return _combine_solids(masses, positions, line_tensor(moments, directions))


def _combine_signed(bodies: Sequence[Body], signs: Array) -> _CombinedProperties:
    leading = tuple({body.members for body in bodies if body.members is not None})

    def stacked(values: list[Any], dimensions: int) -> Array:
        arrays = [np.asarray(value, dtype=np.float64) for value in values]
        full = [np.broadcast_to(a, (*leading, *a.shape[a.ndim - dimensions :])) for a in arrays]
        return np.stack(full, axis=len(leading))

    masses = signs * stacked([body.mass for body in bodies], 0)
    positions = stacked([body.center_of_mass for body in bodies], 1)
    if all(body.is_particle or body.is_line for body in bodies):
        axes = [line_axis(body) for body in bodies]
        moments = signs * stacked([moment for moment, _ in axes], 0)
        return _combine_thin(masses, positions, moments, stacked([direction for _, direction in axes], 1))
    tensors = signs[:, None, None] * stacked([body.inertia_body for body in bodies], 2)
    return _combine_solids(masses, positions, tensors)


def _tensor_entries(tensor: Array) -> Any:
    return as_leaves(tensor.reshape(*tensor.shape[:-2], 9))


def _tensor_from_entries(entries: Any) -> Array:
    together = np.stack(np.broadcast_arrays(*entries), axis=-1)
    return together.reshape(*together.shape[:-1], 3, 3)


def _build_combined_body(
    whole: _CombinedProperties, bodies: Sequence[Body], volume: Any, parts: tuple[Part, ...]
) -> Body:
    has_geometry = all(body.parts or body.is_particle for body in bodies)
    if not has_uniform_density(bodies):
        parts = tuple(replace(part, is_mixed=True) for part in parts)
    notes = (note for notes in (*(body.notes for body in bodies), whole.notes) for note in notes)
    return Body(
        **whole._replace(notes=tuple(dict.fromkeys(notes)))._asdict(),
        allow_unphysical=any(body.allow_unphysical for body in bodies),
        volume=volume,
        parts=parts if has_geometry else (),
    )


def _remaining_volume(body: Body, others: Sequence[Body]) -> Any:
    extents = [other.volume for other in others if not other.is_particle]
    if body.volume is None or any(v is None for v in extents):
        return None
    whole, removed = np.asarray(body.volume), np.asarray(sum(extents))
    bad = np.flatnonzero((whole - removed <= ROUNDING * whole) & (removed > 0))
    if bad.size:
        before, less = (_member_value(values, bad[0]) for values in (whole, removed))
        raise InertiaError(
            f"subtracting {less:g} m3 from {before:g} m3 leaves no volume, though some mass: what is subtracted is "
            "larger than the body, or less dense"
        )
    return whole - removed


def _check_operands(given: Sequence[Any], bodies: Sequence[Any], what: str) -> None:
    for body in given:
        if not isinstance(body, Body):
            raise InertiaError(f"{what} takes bodies, one by one, as in {what}(a, b), not {_describe_value(body)}")
    counts = sorted({body.members for body in bodies if body.members is not None})
    if len(counts) > 1:
        raise InertiaError(f"the bodies are ensembles of {counts} members: give all the same number of members")


def _refuse_unphysical_remainder(whole: _CombinedProperties, before: Array, allow_unphysical: bool) -> None:
    moments = np.atleast_2d(diagonalize_inertia(whole.inertia)[0])
    bad = find_unphysical_moments(moments, allow_unphysical, whole.is_line)
    if bad.size:
        a, b, c = moments[bad[0]]
        raise InertiaError(
            "what is subtracted does not lie inside the body, or is denser than the body there: of "
            f"{_member_value(before, bad[0]):g} kg {_member_value(whole.mass, bad[0]):g} kg would be left, with "
            f"principal moments {a:g}, {b:g}, {c:g} kg m2, which no solid has"
        )


def _member_value(values: Array, member: int) -> float:
    """The value of one member, where one value may stand for all."""
    return float(values[member] if values.ndim else values)


def _describe_value(value: Any) -> str:
    """A short description of what was given instead of a body."""
    if isinstance(value, (list, tuple, set, dict)):
        return f"a {type(value).__name__} of {len(value)}"
    return show(value) if isinstance(value, (str, int, float, complex, type(None))) else f"a {type(value).__name__}"


def _describe_shape(value: Any, shape: tuple[int, ...]) -> str:
    return f"they have shape {shape}" if shape else f"got {show(value)}"
