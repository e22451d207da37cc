"""A rigid body: its mass, and how the mass is spread.  Every physical check on it is made here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import checks
from polhode.checks import Array, leaf, leaves
from polhode.equations.inertia import Constants, shifted
from polhode.equations.quaternions import from_matrix
from polhode.errors import InertiaError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from scipy.spatial.transform import Rotation

ROUNDING = 1e-12
"""Relative size below which an asymmetry, or an excess over the triangle inequality, is rounding and no offence."""


@dataclass(frozen=True, eq=False)
class Body:
    """A rigid body.

    Parameters
    ----------
    mass : float
        In kg, greater than 0.
    inertia : array_like
        About the centre of mass, in kg m2: three principal moments (the body's axes are then its principal axes), or
        a symmetric 3 x 3 tensor whose off-diagonal entries carry their minus sign, -integral of rho x y.
    center_of_mass : array_like, optional
        Where the centre of mass lies in the coordinates that the body was described in, in m.
    allow_unphysical : bool, optional
        Accept moments that no solid has (the largest exceeds the sum of the others).

    In an ensemble any of these may carry a leading axis for the members; three by three numbers are always one tensor.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.Body(mass=10.0, inertia=(0.81, 0.68, 0.14)).principal_moments.tolist()
    [0.81, 0.68, 0.14]
    """

    mass: Any
    inertia: Any
    center_of_mass: Any = (0.0, 0.0, 0.0)
    allow_unphysical: bool = False
    is_particle: bool = False
    """Made by `ph.particle`: no extent, so nothing that turns."""
    inertia_body: Array = field(init=False, repr=False)
    """The 3 x 3 tensor about the centre of mass, along the axes that the body was given in, in kg m2."""
    principal_moments: Array = field(init=False, repr=False)
    """The three principal moments, in kg m2, in the order of `principal_axes`."""
    _axes: Array = field(init=False, repr=False)
    members: int | None = field(init=False, repr=False)
    """The number of members if this is the body of an ensemble, else None."""

    def __post_init__(self) -> None:
        mass = checks.positive(self.mass, "mass", "kg", InertiaError)
        center = checks.numbers(self.center_of_mass, "center_of_mass", (3,), InertiaError)
        moments, axes, tensor = self._principal()
        checks.flag(self.allow_unphysical, "allow_unphysical", InertiaError)
        if not self.is_particle:
            _check_moments(moments, self.allow_unphysical)
        members = checks.member_count((mass, 0), (center, 1), (moments, 1), (tensor, 2))
        values = {
            "mass": leaf(mass),
            "center_of_mass": center,
            "inertia_body": tensor,
            "principal_moments": moments,
            "_axes": axes,
            "members": members,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _principal(self) -> tuple[Array, Array, Array]:
        """The moments, the axes' quaternion, and the tensor."""
        shape = checks.shape_of(self.inertia)
        if shape[-1:] != (3,):
            raise InertiaError(
                f"inertia must be three principal moments or a 3 x 3 tensor, in kg m2, not {self.inertia!r}"
            )
        if shape != (3, 3) and (len(shape) == 1 or shape[1:] == (3,)):
            moments = checks.numbers(self.inertia, "inertia", (3,), InertiaError)
            return moments, np.array((1.0, 0.0, 0.0, 0.0)), moments[..., None] * np.eye(3)
        tensor = checks.numbers(self.inertia, "inertia", (3, 3), InertiaError)
        _check_symmetry(tensor)
        return (*principal(tensor), tensor)

    @property
    def principal_axes(self) -> Rotation:
        """The principal axes: this rotation turns principal components into components along the body's own axes."""
        from scipy.spatial.transform import Rotation

        return Rotation.from_quat(self._axes, scalar_first=True)

    def constants(self, com_to_pivot: Sequence[Any] | None = None) -> Constants:
        """What the equations need, about the centre of mass or about a pivot."""
        if com_to_pivot is None:
            return self._free_constants
        pivot = checks.numbers(com_to_pivot, "pivot", (3,))
        entries: Any = leaves(self.inertia_body.reshape(*self.inertia_body.shape[:-2], 9))
        offset: Any = leaves(pivot)
        about_pivot = np.stack(np.broadcast_arrays(*shifted(entries, self.mass, offset)), axis=-1)
        return self._constants(*principal(about_pivot.reshape(*about_pivot.shape[:-1], 3, 3)), pivot)

    @cached_property
    def _free_constants(self) -> Constants:
        return self._constants(self.principal_moments, self._axes, np.zeros(3))

    def _constants(self, moments: Array, axes: Array, com_to_pivot: Array) -> Constants:
        # A particle does not turn, nor does it about the line to its pivot, where rounding may leave a moment near 0.
        least = ROUNDING * moments.max(axis=-1, keepdims=True) if self.is_particle else 0.0
        inverse = np.divide(1.0, moments, out=np.zeros_like(moments), where=moments > least)
        mass, vectors = self.mass, [leaves(array) for array in (moments, inverse, axes, com_to_pivot)]
        return Constants(mass, 1 / mass, *vectors)


def particle(mass: ArrayLike) -> Body:
    """A body without rotation: a point with a mass.  Every force may act on it.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.particle(2.0).mass
    2.0
    """
    return Body(mass=mass, inertia=(0.0, 0.0, 0.0), is_particle=True)


def principal(tensor: Array) -> tuple[Array, Array]:
    """The principal moments of tensors, and the quaternion that turns principal components into the given axes'.

    Of all right-handed choices the one nearest to the given axes is taken, so a diagonal tensor keeps its order.
    """
    diagonal = np.diagonal(tensor, axis1=-2, axis2=-1).copy()
    is_diagonal = np.count_nonzero(tensor - diagonal[..., None] * np.eye(3), axis=(-2, -1)) == 0
    identity = np.zeros((*diagonal.shape[:-1], 4))
    identity[..., 0] = 1.0
    if is_diagonal.all():
        return diagonal, identity
    found, vectors = np.linalg.eigh((tensor + np.swapaxes(tensor, -1, -2)) / 2)
    flat_vectors, flat_found = vectors.reshape(-1, 3, 3), found.reshape(-1, 3)
    orders = np.array(list(permutations(range(3))))
    fits = np.abs(flat_vectors[:, np.arange(3), orders]).sum(axis=-1)
    order = orders[fits.argmax(axis=-1)]
    moments = np.take_along_axis(flat_found, order, axis=-1)
    axes = np.take_along_axis(flat_vectors, order[:, None, :], axis=-1)
    entries = np.diagonal(axes, axis1=1, axis2=2)
    axes = axes * np.where(entries < 0, -1.0, 1.0)[:, None, :]
    weakest = np.eye(3)[np.abs(entries).argmin(axis=-1)]
    axes = np.where((np.linalg.det(axes) < 0)[:, None, None], axes * (1 - 2 * weakest)[:, None, :], axes)
    entries_of_axes: Any = tuple(axes.reshape(-1, 9).T)
    quaternion = np.stack(from_matrix(entries_of_axes), axis=-1)
    moments, quaternion = moments.reshape(diagonal.shape), quaternion.reshape(identity.shape)
    keep = is_diagonal[..., None]
    return np.where(keep, diagonal, moments), np.where(keep, identity, quaternion)


def _check_symmetry(tensor: Array) -> None:
    asymmetry = np.abs(tensor - np.swapaxes(tensor, -1, -2)).max(axis=(-2, -1))
    if (asymmetry > ROUNDING * np.abs(tensor).max(axis=(-2, -1))).any():
        raise InertiaError(
            f"the inertia tensor is not symmetric: opposite entries differ by {asymmetry.max():g} kg m2. "
            "Both carry the same value, -integral of rho x y; check for a lost sign or a mixed-up order."
        )


def _check_moments(moments: Array, allow_unphysical: bool) -> None:
    smallest, middle, largest = np.moveaxis(np.sort(np.atleast_2d(moments), axis=-1), -1, 0)
    bad = np.flatnonzero(smallest <= 0)
    if bad.size:
        m = np.atleast_2d(moments)[bad[0]]
        raise InertiaError(
            f"principal moments {m[0]:g}, {m[1]:g}, {m[2]:g} kg m2 are not all greater than 0. "
            "Check the signs of the products of inertia; for a point mass use ph.particle(mass)."
        )
    bad = np.flatnonzero(largest > (smallest + middle) * (1 + ROUNDING))
    if bad.size and not allow_unphysical:
        m = np.atleast_2d(moments)[bad[0]]
        raise InertiaError(
            f"moments {m[0]:g}, {m[1]:g}, {m[2]:g} kg m2 belong to no solid: "
            "the largest exceeds the sum of the other two. "
            "Were they taken about the centre of mass? For a purely mathematical top pass allow_unphysical=True."
        )
