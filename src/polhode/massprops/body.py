"""A rigid body: its mass, and how the mass is spread.  Every physical check on it is made here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import validation
from polhode.equations.inertia import BodyConstants, shift_inertia
from polhode.errors import InertiaError
from polhode.massprops.constructors import BodyConstructors
from polhode.massprops.frozen_arrays import freeze_arrays
from polhode.massprops.geometry import Part, Surface, merge_surfaces
from polhode.massprops.operations import BodyOperations
from polhode.massprops.principal_axes import ROUNDING, Diagonalized, check_moments, check_symmetry, diagonalize_inertia
from polhode.validation import Array, as_leaf, as_leaves

if TYPE_CHECKING:
    import trimesh
    from numpy.typing import ArrayLike
    from scipy.spatial.transform import Rotation


@dataclass(frozen=True, eq=False)
class Body(BodyConstructors, BodyOperations):
    """A rigid body, by its numbers.  `ph.shapes`, `Body.from_mesh` and others find them from what it looks like.

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
    volume, area : float, optional
        Of the matter, in m3, and of its surface, in m2; None if unknown.

    In an ensemble any of these may carry a leading axis for the members; three by three numbers are always one tensor.
    A body is frozen: it keeps copies of the arrays that it is given, and its own cannot be written.

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
    is_line: bool = False
    """Without extent across one line, about which its moment is 0: it has mass properties, but cannot be simulated."""
    volume: Any = None
    area: Any = None
    parts: tuple[Part, ...] = field(default=(), repr=False)
    """What it looks like: its shapes and meshes at their places; empty if unknown."""
    notes: tuple[str, ...] = field(default=(), repr=False)
    """What was found, assumed or mended on the way from a mesh to the numbers, in sentences."""
    diagonalized: Diagonalized | None = field(default=None, repr=False, kw_only=True)
    """The tensor with its moments and axes; given, where these are known better than the tensor shows, as after a turn.
    They count for no other tensor: with another one they are found anew."""
    inertia_body: Array = field(init=False, repr=False)
    """The 3 x 3 tensor about the centre of mass, along the axes that the body was given in, in kg m2."""
    principal_moments: Array = field(init=False, repr=False)
    """The three principal moments, in kg m2, in the order of `principal_axes`."""
    _axes: Array = field(init=False, repr=False)
    members: int | None = field(init=False, repr=False)
    """The number of members if this is the body of an ensemble, else None."""

    def __post_init__(self) -> None:
        mass = validation.check_positive(self.mass, "mass", "kg", InertiaError)
        center = validation.check_numbers(self.center_of_mass, "center_of_mass", (3,), InertiaError)
        diagonalized = freeze_arrays(self._diagonalized())
        tensor, moments, axes = diagonalized
        validation.check_flag(self.allow_unphysical, "allow_unphysical", InertiaError)
        if not self.is_particle:
            check_moments(moments, self.allow_unphysical, self.is_line)
        volume, area = (_check_extent(getattr(self, name), name) for name in ("volume", "area"))
        known = [(extent, 0) for extent in (volume, area) if extent is not None]
        members = validation.member_count((mass, 0), (center, 1), (moments, 1), (tensor, 2), *known)
        values = {
            "mass": as_leaf(mass),
            "inertia": self._stored_inertia(moments, tensor),
            "center_of_mass": center,
            "volume": None if volume is None else as_leaf(volume),
            "area": None if area is None else as_leaf(area),
            "diagonalized": diagonalized,
            "inertia_body": tensor,
            "principal_moments": moments,
            "_axes": axes,
            "members": members,
        }
        for name, value in values.items():
            object.__setattr__(self, name, freeze_arrays(value))

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Copied or unpickled: arrays forget that they are frozen."""
        self.__dict__.update({name: freeze_arrays(value) for name, value in state.items()})

    def _diagonalized(self) -> Diagonalized:
        """The tensor, its moments, and the axes' quaternion."""
        shape = validation.shape_of(self.inertia)
        if shape[-1:] != (3,):
            raise InertiaError(
                f"inertia must be three principal moments or a 3 x 3 tensor, in kg m2, not {self.inertia!r}"
            )
        if shape != (3, 3) and (len(shape) == 1 or shape[1:] == (3,)):
            moments = validation.check_numbers(self.inertia, "inertia", (3,), InertiaError)
            return Diagonalized(moments[..., None] * np.eye(3), moments, np.array((1.0, 0.0, 0.0, 0.0)))
        tensor = validation.check_numbers(self.inertia, "inertia", (3, 3), InertiaError)
        check_symmetry(tensor)
        if self.diagonalized is not None and np.array_equal(self.diagonalized.tensor, tensor):
            return self.diagonalized
        return Diagonalized(tensor, *diagonalize_inertia(tensor))

    def _stored_inertia(self, moments: Array, tensor: Array) -> Any:
        """As it was given, if that is three plain numbers, else as an array of the body's own."""
        if isinstance(self.inertia, tuple) and all(isinstance(number, Real) for number in self.inertia):
            return self.inertia
        return moments if validation.shape_of(self.inertia) == moments.shape else tensor

    @property
    def principal_axes(self) -> Rotation:
        """The principal axes: this rotation turns principal components into components along the body's own axes."""
        from scipy.spatial.transform import Rotation

        return Rotation.from_quat(self._axes, scalar_first=True)

    @property
    def density(self) -> Any:
        """The mean density of the matter, in kg/m3; None if the volume is unknown, or 0."""
        return None if self.volume is None or not np.all(self.volume) else self.mass / self.volume

    # What it is like ------------------------------------------------------------------------------------------------
    def inertia_about(self, point: ArrayLike) -> Array:
        """The 3 x 3 tensor about another point of the coordinates that the body is described in, in kg m2.

        Examples
        --------
        >>> import polhode as ph
        >>> ph.particle(2.0).inertia_about((3.0, 0.0, 0.0)).diagonal().tolist()
        [0.0, 18.0, 18.0]
        """
        from polhode.massprops.assembly import inertia_about_point

        return inertia_about_point(self, point)

    @property
    def ellipsoid_semi_axes(self) -> Array:
        """Of the solid ellipsoid with this mass and these moments, along the principal axes, in m."""
        from polhode.massprops.equivalent_solids import equivalent_ellipsoid_semi_axes

        return equivalent_ellipsoid_semi_axes(self)

    @property
    def box_sides(self) -> Array:
        """Of the solid box with this mass and these moments, along the principal axes, in m."""
        from polhode.massprops.equivalent_solids import equivalent_box_sides

        return equivalent_box_sides(self)

    @property
    def nodes(self) -> Array | None:
        """The points of the meshes that the body was made from, in its coordinates, in m; None if there was none."""
        found = [part.nodes for part in self.parts if part.nodes is not None]
        return np.concatenate(found) if found else None

    def surface(self, segments: int = 48) -> Surface:
        """What it looks like, in plain arrays: `vertices` (n, 3) in m, and `faces` (m, 3) of their numbers.

        Examples
        --------
        >>> import polhode as ph
        >>> ph.shapes.box((1, 2, 3), mass=1.0).surface().faces.shape
        (12, 3)
        """
        if self.members is not None:
            raise InertiaError("this is the body of an ensemble: only the body of one member has a mesh")
        if not self.parts:
            raise InertiaError(
                "this body is known by its numbers alone: it has no shape to draw. Make it with ph.shapes or "
                "Body.from_mesh, or draw its equivalent ellipsoid, whose semi-axes are ellipsoid_semi_axes"
            )
        return merge_surfaces([part.surface(segments) for part in self.parts])

    def mesh(self, segments: int = 48) -> trimesh.Trimesh:
        """A mesh of triangles to look at, in the coordinates that the body is described in, in m.

        Curved shapes get so many segments round a full circle; a body that came from a mesh gives it back.

        Examples
        --------
        >>> import polhode as ph
        >>> float(ph.shapes.box((1, 2, 3), mass=1.0).mesh().volume)
        6.0
        """
        import trimesh

        whole = self.surface(segments)
        return trimesh.Trimesh(whole.vertices, whole.faces, process=False)

    def block(self, form: str, name: str = "body") -> str:
        """The mass properties as other programs read them, to paste: "urdf", "sdf", "mjcf", "toml" or "json".

        Examples
        --------
        >>> import polhode as ph
        >>> print(ph.shapes.box((1, 2, 3), density=1.0).block("mjcf").splitlines()[-1])
        <inertial pos="0.0 0.0 0.0" mass="6.0" fullinertia="6.5 5.0 2.5 0.0 0.0 0.0"/>
        """
        from polhode.massprops.inertial_blocks import format_block

        return format_block(self, form, name, self.notes)

    # For the equations ----------------------------------------------------------------------------------------------
    def constants(self, com_to_pivot: Sequence[Any] | None = None) -> BodyConstants:
        """What the equations need, about the centre of mass or about a pivot."""
        if com_to_pivot is None:
            return self._free_constants
        pivot = validation.check_numbers(com_to_pivot, "pivot", (3,))
        entries: Any = as_leaves(self.inertia_body.reshape(*self.inertia_body.shape[:-2], 9))
        offset: Any = as_leaves(pivot)
        about_pivot = np.stack(np.broadcast_arrays(*shift_inertia(entries, self.mass, offset)), axis=-1)
        return self._constants(*diagonalize_inertia(about_pivot.reshape(*about_pivot.shape[:-1], 3, 3)), pivot)

    @cached_property
    def _free_constants(self) -> BodyConstants:
        return self._constants(self.principal_moments, self._axes, np.zeros(3))

    def _constants(self, moments: Array, axes: Array, com_to_pivot: Array) -> BodyConstants:
        # A particle does not turn, nor does it about the line to its pivot, where rounding may leave a moment near 0.
        least = ROUNDING * moments.max(axis=-1, keepdims=True) if self.is_particle else 0.0
        inverse = np.divide(1.0, moments, out=np.zeros_like(moments), where=moments > least)
        mass, vectors = self.mass, [as_leaves(array) for array in (moments, inverse, axes, com_to_pivot)]
        return BodyConstants(mass, 1 / mass, *vectors)


def _check_extent(value: Any, name: str) -> Array | None:
    if value is None:
        return None
    array = validation.check_numbers(value, name, (), InertiaError)
    if (array < 0).any():
        raise InertiaError(f"{name} must not be negative, but is {array.min():g}: is the surface inside out?")
    return array


def particle(mass: ArrayLike) -> Body:
    """A body without rotation: a point with a mass.  Every force may act on it.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.particle(2.0).mass
    2.0
    """
    return Body(mass=mass, inertia=(0.0, 0.0, 0.0), is_particle=True)
