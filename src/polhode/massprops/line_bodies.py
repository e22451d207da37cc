"""Bodies whose mass lies on a line: rods of radius 0, and collinear particles."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from polhode.errors import InertiaError
from polhode.massprops.principal_axes import ROUNDING, ZERO_MOMENT_RTOL
from polhode.validation import Array

if TYPE_CHECKING:
    from polhode.massprops.body import Body


class PointOrLine(NamedTuple):
    """What points and lines combine to: a point, a line with its tensor, or neither."""

    is_point: bool = False
    tensor: Array | None = None
    notes: tuple[str, ...] = ()


def line_axis(body: Body) -> tuple[Array, Array]:
    """The transverse moment of a line, and its direction; both 0 for a particle."""
    moments = body.principal_moments
    if body.is_particle:
        return moments[..., 0], np.zeros(3)
    columns = np.broadcast_to(body.principal_axes.as_matrix(), (*moments.shape, 3))
    along = moments.argmin(axis=-1)[..., None, None]
    return moments.max(axis=-1), np.take_along_axis(columns, along, axis=-1)[..., 0]


def line_tensor(moment: Array, direction: Array) -> Array:
    """J (1 - u u^T), the tensor of a line along the unit vector u."""
    square: Array = np.eye(3) - direction[..., :, None] * direction[..., None, :]
    return np.asarray(moment)[..., None, None] * square


def combine_points_and_lines(
    masses: Array, positions: Array, offsets: Array, moments: Array, directions: Array
) -> PointOrLine:
    """Classify points and lines, given their positions and their offsets from the common center of mass.

    They are a point if they coincide to the rounding of their coordinates.  They are a line if the moment about it is
    lost in the rounding of the others (`ZERO_MOMENT_RTOL`): for any thinner body it would depend on the choice of
    axes.  If they lie off the line by more than rounding, a note says so.
    """
    rounding = 8 * sys.float_info.epsilon * np.abs(positions).max(axis=(-2, -1))
    length = _norms(offsets).max(axis=-1)
    spread = _weighted_second_moments(masses, offsets) + _weighted_second_moments(moments, directions)
    total = np.trace(spread, axis1=-2, axis2=-1)
    is_point = (length <= rounding) & ~moments.any(axis=-1)
    direction = np.linalg.eigh(spread)[1][..., :, -1]
    across, skew = (_norms(np.cross(v, direction[..., None, :])) for v in (offsets, directions))
    far = np.where(across > rounding[..., None], across, 0.0)
    moment_along = (np.abs(masses) * far**2 + np.abs(moments) * skew**2).sum(axis=-1)
    is_line = ~is_point & (total > 0) & (moment_along <= ZERO_MOMENT_RTOL * total)
    for found, what in ((is_point, "at one point"), (is_line, "on one line")):
        if found.any() and not found.all():
            raise InertiaError(
                f"in member {np.flatnonzero(found)[0]} of the ensemble all mass lies {what}, in member "
                f"{np.flatnonzero(~found)[0]} it does not: an ensemble needs bodies of one kind. Separate these members"
            )
    if not is_line.all():
        return PointOrLine(is_point=bool(is_point.all()))
    off = np.broadcast_to(far.max(axis=-1) / np.where(length > 0, length, 1.0), total.shape).max()
    notes: tuple[str, ...] = ()
    if off > ROUNDING:
        notes = (
            f"the particles are treated as a line: they lie off it by at most {off:.1e} of its half-length, and the "
            "moment about it would be lost in the rounding of the others",
        )
    return PointOrLine(tensor=line_tensor(total, direction), notes=notes)


def _norms(vectors: Array) -> Array:
    lengths: Array = np.sqrt((vectors**2).sum(axis=-1))
    return lengths


def _weighted_second_moments(weights: Array, vectors: Array) -> Array:
    """The sum of w v v^T, each entry summed along contiguous memory."""
    weighted = [weights * vectors[..., i] for i in range(3)]
    rows = [np.stack([(w * vectors[..., j]).sum(axis=-1) for j in range(3)], axis=-1) for w in weighted]
    return np.stack(rows, axis=-2)
