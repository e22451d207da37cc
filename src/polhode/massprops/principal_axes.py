"""Principal axes of inertia tensors, and checks that moments are physical."""

from __future__ import annotations

import sys
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from polhode.equations.quaternions import from_matrix
from polhode.errors import InertiaError
from polhode.validation import Array

ROUNDING = 1e-12
"""Relative size below which an asymmetry, or a violation of the triangle inequality, is rounding."""
EQUAL_MOMENTS_RTOL = 64 * sys.float_info.epsilon
"""Relative difference below which two moments are equal to the eigensolver."""
ZERO_MOMENT_RTOL = 16 * sys.float_info.epsilon
"""Relative size below which a moment, or an extent found from moments, is lost in the rounding of the largest."""


class Diagonalized(NamedTuple):
    """Tensors (..., 3, 3), their principal moments, and the quaternion of their axes (one for all, or one for each)."""

    tensor: Array
    moments: Array
    axes: Array

    def select_members(self, members: Any) -> Diagonalized:
        """Those of one member of an ensemble (an index), or of several (an array of indices)."""
        if self.tensor.ndim == 2:
            return self
        axes = self.axes[members] if self.axes.ndim > 1 else self.axes
        return Diagonalized(self.tensor[members], self.moments[members], axes)


class TensorsWithAxes(np.ndarray[Any, np.dtype[np.float64]]):
    """Tensors whose principal moments and axes are known already; what is computed from them is a plain array."""

    diagonalized: Diagonalized | None = None

    @classmethod
    def make(cls, known: Diagonalized) -> TensorsWithAxes:
        """The tensors of what is known."""
        found = known.tensor.copy().view(cls)
        found.diagonalized = known
        return found


def diagonalize_inertia(tensor: Array) -> tuple[Array, Array]:
    """The principal moments of tensors, and the quaternion from principal to given components.

    Of all right-handed choices the one nearest to the given axes is used, so a diagonal tensor keeps its order, and
    the axes vary continuously with small rotations.  If two moments are equal, the third axis is reached from the
    nearest given axis by the shortest rotation; if all are equal, the given axes are kept.  A moment that is lost in
    the rounding of the others is set to 0: that of a line.
    """
    diagonal = np.diagonal(tensor, axis1=-2, axis2=-1).copy()
    is_diagonal = np.count_nonzero(tensor - diagonal[..., None] * np.eye(3), axis=(-2, -1)) == 0
    identity = np.zeros((*diagonal.shape[:-1], 4))
    identity[..., 0] = 1.0
    if is_diagonal.all():
        return diagonal, identity
    found, vectors = np.linalg.eigh((tensor + np.swapaxes(tensor, -1, -2)) / 2)
    found[..., 0] = np.where(np.abs(found[..., 0]) <= ZERO_MOMENT_RTOL * found[..., 2], 0.0, found[..., 0])
    moments, quaternion = order_principal_axes(found, vectors)
    keep = is_diagonal[..., None]
    return np.where(keep, diagonal, moments), np.where(keep, identity, quaternion)


def order_principal_axes(moments: Array, axes: Array) -> tuple[Array, Array]:
    """Moments, unchanged, and the quaternion of their axes, ordered by the rule of `diagonalize_inertia`.

    `axes` holds the axes as columns, which may be left-handed.
    """
    rising = moments.argsort(axis=-1, kind="stable")
    flat_found = np.take_along_axis(moments, rising, axis=-1).reshape(-1, 3)
    flat_vectors = np.take_along_axis(axes, rising[..., None, :], axis=-1).reshape(-1, 3, 3)
    orders = np.array(list(permutations(range(3))))
    fits = np.abs(flat_vectors[:, np.arange(3), orders]).sum(axis=-1)
    order = orders[fits.argmax(axis=-1)]
    in_order = np.take_along_axis(flat_found, order, axis=-1)
    turned = np.take_along_axis(flat_vectors, order[:, None, :], axis=-1)
    entries = np.diagonal(turned, axis1=1, axis2=2)
    # This is right-handed: the best fit exceeds 1, the trace of an orthogonal matrix of determinant -1 never does.
    turned = turned * np.where(entries < 0, -1.0, 1.0)[:, None, :]
    in_order, turned = _align_degenerate_axes(flat_found, flat_vectors, in_order, turned)
    entries_of_axes: Any = tuple(turned.reshape(-1, 9).T)
    quaternion = np.stack(from_matrix(entries_of_axes), axis=-1)
    return in_order.reshape(moments.shape), quaternion.reshape(*moments.shape[:-1], 4)


def _align_degenerate_axes(found: Array, vectors: Array, moments: Array, axes: Array) -> tuple[Array, Array]:
    """Moments and axes, replaced where moments are equal; `found` holds the moments in ascending order."""
    margin = EQUAL_MOMENTS_RTOL * found[:, 2]
    lower, upper = found[:, 1] - found[:, 0] <= margin, found[:, 2] - found[:, 1] <= margin
    if not (lower | upper).any():
        return moments, axes
    moments, axes = moments.copy(), axes.copy()
    for which, single, pair in ((lower & ~upper, 2, (0, 1)), (upper & ~lower, 0, (1, 2))):
        n = vectors[which, :, single]
        rows, nearest = np.arange(len(n)), np.abs(n).argmax(axis=-1)
        n = n * np.sign(n[rows, nearest])[:, None]
        start = np.eye(3)[nearest]
        v = np.cross(start, n)
        turn = np.cross(v[:, None, :], np.eye(3)).swapaxes(-1, -2)
        axes[which] = np.eye(3) + turn + turn @ turn / (1 + n[rows, nearest])[:, None, None]
        m = np.empty((len(n), 3))
        m[rows, nearest] = found[which, single]
        m[rows, (nearest + 1) % 3], m[rows, (nearest + 2) % 3] = found[which][:, pair].T
        moments[which] = m
    all_equal = lower & upper
    axes[all_equal] = np.eye(3)
    return moments, axes


def check_symmetry(tensor: Array) -> None:
    """Raise if opposite entries of a tensor differ."""
    asymmetry = np.abs(tensor - np.swapaxes(tensor, -1, -2)).max(axis=(-2, -1))
    if (asymmetry > ROUNDING * np.abs(tensor).max(axis=(-2, -1))).any():
        raise InertiaError(
            f"the inertia tensor is not symmetric: opposite entries differ by {asymmetry.max():g} kg m2. "
            "Both are -integral of rho x y; check for a missing sign or a wrong order."
        )


def check_moments(moments: Array, allow_unphysical: bool, is_line: bool = False) -> None:
    """Raise if no solid has these moments; only a line may have one of 0."""
    bad = find_unphysical_moments(moments, allow_unphysical, is_line)
    if not bad.size:
        return
    a, b, c = np.atleast_2d(moments)[bad[0]]
    smallest, middle, _ = sorted((a, b, c))
    if smallest > 0:
        raise InertiaError(
            f"moments {a:g}, {b:g}, {c:g} kg m2 belong to no solid: "
            "the largest exceeds the sum of the other two. "
            "Were they taken about the center of mass? For a purely mathematical top pass allow_unphysical=True."
        )
    hint = (
        "A moment that is 0, or lost in the rounding of the others, is that of a line: give it a transverse extent"
        if smallest == 0 < middle
        else "Check the signs of the products of inertia"
    )
    raise InertiaError(
        f"principal moments {a:g}, {b:g}, {c:g} kg m2 are not all greater than 0. "
        f"{hint}; for a point mass use ph.particle(mass)."
    )


def find_unphysical_moments(moments: Array, allow_unphysical: bool, is_line: bool) -> NDArray[np.intp]:
    """Rows of moments that no solid has: those not positive, else those that violate the triangle inequality."""
    smallest, middle, largest = np.moveaxis(np.sort(np.atleast_2d(moments), axis=-1), -1, 0)
    not_positive = np.flatnonzero((smallest < 0) | (middle <= 0) | ((smallest == 0) & (not is_line)))
    if not_positive.size or allow_unphysical:
        return not_positive
    return np.flatnonzero(largest > (smallest + middle) * (1 + ROUNDING))
