"""Bodies from particles and from other bodies: joined, or taken away; and their tensors about other points."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polhode import validation
from polhode.equations.inertia import shift_inertia
from polhode.errors import InertiaError, MassWarning
from polhode.massprops.body import Body
from polhode.massprops.hole_checks import find_hole_warnings, has_uniform_density
from polhode.massprops.line_bodies import combine_points_and_lines, line_axis, line_tensor
from polhode.massprops.principal_axes import ROUNDING, diagonalize_inertia, find_unphysical_moments
from polhode.validation import Array, as_leaves

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from polhode.massprops.geometry import Part


class _CombinedProperties(NamedTuple):
    """Several pieces as one: what a `Body` is made from."""

    mass: Array
    center_of_mass: Array
    inertia: Array
    is_particle: bool = False
    is_line: bool = False
    notes: tuple[str, ...] = ()


def combine_particles(masses: ArrayLike, positions: ArrayLike) -> Body:
    """Point masses, rigidly joined: one alone is a particle, several in a row are a line.

    In an ensemble one of the two, or both, have a leading axis for the members.  Points have no volume and no looks.
    """
    where = validation.shape_of(positions)
    if len(where) not in (2, 3) or where[-1] != 3 or where[-2] == 0:
        raise InertiaError(
            f"positions must be N x 3 numbers, in m, one row for each particle (in an ensemble with one leading axis "
            f"for the members), but {_describe_shape(positions, where)}"
        )
    points = validation.check_numbers(positions, "positions", where[-2:], InertiaError)
    amounts = validation.shape_of(masses)
    if amounts[-1:] != where[-2:-1] or len(amounts) > 2:
        raise InertiaError(
            f"masses must be as many numbers as there are positions, {where[-2]}, but {_describe_shape(masses, amounts)}"
        )
    m = validation.check_numbers(masses, "masses", amounts[-1:], InertiaError)
    if not (m > 0).all():
        raise InertiaError(f"masses must be greater than 0 kg, but the smallest is {m.min():g} kg")
    validation.member_count((m, 1), (points, 2))
    return Body(**_combine_thin(m, points, np.zeros(m.shape), np.zeros((*m.shape, 3)))._asdict())


def join_bodies(bodies: Sequence[Body]) -> Body:
    """Bodies as one, where they are.

    A particle adds its mass, and nothing to the volume or to the looks.  The area is unknown: faces may touch.
    """
    if len(bodies) == 1:
        return bodies[0]
    _check_operands(bodies, bodies, "join")
    extents = [body.volume for body in bodies if not body.is_particle]
    volume = None if not extents or any(v is None for v in extents) else sum(extents)
    whole = _combine_signed(bodies, np.ones(len(bodies)))
    return _build_combined_body(whole, bodies, volume, tuple(part for body in bodies for part in body.parts))


def subtract_bodies(body: Body, others: Sequence[Body]) -> Body:
    """A body with holes: masses, first and second moments of the others are taken off.  The area is unknown."""
    if not others:
        return body
    _check_operands(others, (body, *others), "subtract")
    mass, taken = np.asarray(body.mass), np.asarray(sum(np.asarray(other.mass) for other in others))
    bad = np.flatnonzero(mass - taken <= ROUNDING * mass)
    if bad.size:
        raise InertiaError(
            f"of {_member_value(mass, bad[0]):g} kg nothing is left when {_member_value(taken, bad[0]):g} kg are taken away: what is "
            "taken away is larger or denser than the body, or is all of it"
        )
    volume = _remaining_volume(body, others)
    whole = _combine_signed((body, *others), np.array((1.0, *(-1.0 for _ in others))))
    if not whole.is_particle:
        _refuse_unphysical_remainder(whole, mass, any(one.allow_unphysical for one in (body, *others)))
    for doubt in (doubtful := find_hole_warnings(body, others)):
        warnings.warn(doubt, MassWarning, stacklevel=3)
    whole = whole._replace(notes=(*whole.notes, *doubtful))
    parts = (*body.parts, *(part.toggle_hole() for other in others for part in other.parts))
    return _build_combined_body(whole, (body, *others), volume, parts)


def inertia_about_point(body: Body, point: ArrayLike) -> Array:
    """The tensor about another point of the coordinates that the body is described in."""
    where = validation.check_numbers(point, "point", (3,), InertiaError)
    validation.member_count((np.empty(body.members or ()), 0), (where, 1))
    away = where - body.center_of_mass
    return _tensor_from_entries(shift_inertia(_tensor_entries(body.inertia_body), body.mass, as_leaves(away)))


# The sums -------------------------------------------------------------------------------------------------------------
def _center_offsets(masses: Array, positions: Array) -> tuple[Array, Array, Array]:
    """The mass of pieces (..., N), their centre of mass, and their offsets from it.

    Far from the origin the centre that the sums give is off by their rounding; the sums over what lies about it tell
    by how much.
    """
    mass = masses.sum(axis=-1)
    rough = _weighted_mean(masses, positions, mass)
    offsets = positions - rough[..., None, :]
    rest = _weighted_mean(masses, offsets, mass)
    return mass, rough + rest, offsets - rest[..., None, :]


def _weighted_mean(masses: Array, vectors: Array, mass: Array) -> Array:
    """Each component is summed along neighbouring numbers, which NumPy does in pairs."""
    return np.stack([(masses * vectors[..., i]).sum(axis=-1) / mass for i in range(3)], axis=-1)


def _combine_solids(masses: Array, positions: Array, tensors: Array) -> _CombinedProperties:
    mass, center, offsets = _center_offsets(masses, positions)
    about = shift_inertia(_tensor_entries(tensors), masses, as_leaves(offsets))
    return _CombinedProperties(mass, center, _tensor_from_entries([entry.sum(axis=-1) for entry in about]))


def _combine_thin(masses: Array, positions: Array, moments: Array, directions: Array) -> _CombinedProperties:
    """Particles, and lines with these moments across these directions."""
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


# What else the record holds -------------------------------------------------------------------------------------------
def _build_combined_body(
    whole: _CombinedProperties, bodies: Sequence[Body], volume: Any, parts: tuple[Part, ...]
) -> Body:
    looks_known = all(body.parts or body.is_particle for body in bodies)
    if not has_uniform_density(bodies):
        parts = tuple(part.with_mixed_density() for part in parts)
    notes = (note for notes in (*(body.notes for body in bodies), whole.notes) for note in notes)
    return Body(
        **whole._replace(notes=tuple(dict.fromkeys(notes)))._asdict(),
        allow_unphysical=any(body.allow_unphysical for body in bodies),
        volume=volume,
        parts=parts if looks_known else (),
    )


def _remaining_volume(body: Body, others: Sequence[Body]) -> Any:
    extents = [other.volume for other in others if not other.is_particle]
    if body.volume is None or any(v is None for v in extents):
        return None
    whole, taken = np.asarray(body.volume), np.asarray(sum(extents))
    bad = np.flatnonzero((whole - taken <= ROUNDING * whole) & (taken > 0))
    if bad.size:
        raise InertiaError(
            f"of {_member_value(whole, bad[0]):g} m3 nothing is left when {_member_value(taken, bad[0]):g} m3 are taken away, though "
            "some mass is: what is taken away is larger than the body, or of less density"
        )
    return whole - taken


def _check_operands(given: Sequence[Any], bodies: Sequence[Any], what: str) -> None:
    for body in given:
        if not isinstance(body, Body):
            raise InertiaError(f"{what} takes bodies, one by one, as in {what}(a, b), not {_describe_value(body)}")
    counts = sorted({body.members for body in bodies if body.members is not None})
    if len(counts) > 1:
        raise InertiaError(f"the bodies are ensembles of {counts} members: give every one the same number of members")


def _refuse_unphysical_remainder(whole: _CombinedProperties, before: Array, allow_unphysical: bool) -> None:
    moments = np.atleast_2d(diagonalize_inertia(whole.inertia)[0])
    bad = find_unphysical_moments(moments, allow_unphysical, whole.is_line)
    if bad.size:
        a, b, c = moments[bad[0]]
        raise InertiaError(
            "what is taken away does not lie within the body, or is denser than the body there: of "
            f"{_member_value(before, bad[0]):g} kg {_member_value(whole.mass, bad[0]):g} kg would be left, with the principal moments "
            f"{a:g}, {b:g}, {c:g} kg m2, which no solid has"
        )


def _member_value(values: Array, member: int) -> float:
    """The number of one member, of values that may be the same for all."""
    return float(values[member] if values.ndim else values)


def _describe_value(value: Any) -> str:
    """What was given instead of a body, without all that may be in it."""
    if isinstance(value, (list, tuple, set, dict)):
        return f"a {type(value).__name__} of {len(value)}"
    return repr(value) if isinstance(value, (str, int, float, complex, type(None))) else f"a {type(value).__name__}"


def _describe_shape(value: Any, shape: tuple[int, ...]) -> str:
    return f"they have the shape {shape}" if shape else f"this was given: {value!r}"
