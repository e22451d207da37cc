"""A rigid body: its mass, center of mass and inertia, with every physical check on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import validation
from polhode.equations.inertia import BodyConstants, shift_inertia
from polhode.errors import InertiaError, show
from polhode.massprops.frozen_arrays import freeze_arrays
from polhode.massprops.geometry import Part, Surface, merge_surfaces
from polhode.massprops.principal_axes import ROUNDING, Diagonalized, check_moments, check_symmetry, diagonalize_inertia
from polhode.synonyms import explain_unknown_arguments, explain_unknown_attributes, explain_unknown_fields
from polhode.validation import Array, as_leaf, as_leaves

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    import meshio
    import trimesh
    from numpy.typing import ArrayLike
    from scipy.spatial.transform import Rotation


@explain_unknown_attributes("a Body")
@explain_unknown_fields(InertiaError)
@dataclass(frozen=True, eq=False)
class Body:
    """A rigid body, given by its mass properties.  `ph.shapes`, `Body.from_mesh` and others compute them from geometry.

    Parameters
    ----------
    mass : float
        In kg, greater than 0.
    inertia : array_like
        About the center of mass, in kg m2: three principal moments (the body axes are then its principal axes), or
        a symmetric 3 x 3 tensor whose off-diagonal entries carry their minus sign, -integral of rho x y.
    center_of_mass : array_like, optional
        In the body's coordinates, in m.
    allow_unphysical : bool, optional
        Accept moments that no solid has (the largest exceeds the sum of the others).
    volume, area : float, optional
        Volume of the material, in m3, and area of its surface, in m2; None if unknown.

    Notes
    -----
    In an ensemble any of these may have a leading axis for the members; a 3 x 3 array is always a single tensor.
    A body is immutable: it copies the arrays it is given, and its own arrays are read-only.

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
    """True for a point mass (`ph.particle`), which has no rotation."""
    is_line: bool = False
    """True if all mass lies on a line, whose axial moment is 0: it has mass properties, but cannot be simulated."""
    volume: Any = None
    area: Any = None
    parts: tuple[Part, ...] = field(default=(), repr=False)
    """Geometry: the placed shapes and meshes; empty if unknown."""
    notes: tuple[str, ...] = field(default=(), repr=False)
    """What was found, assumed or repaired while the mass properties were computed from a mesh."""
    diagonalized: Diagonalized | None = field(default=None, repr=False, kw_only=True)
    """The tensor with its moments and axes, where these are known to more digits than the tensor holds, as after a
    rotation.  Ignored (and recomputed) if the tensor differs."""
    inertia_body: Array = field(init=False, repr=False)
    """The 3 x 3 tensor about the center of mass, along the body axes, in kg m2."""
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
        for name in ("is_particle", "is_line"):
            validation.check_flag(getattr(self, name), name, InertiaError)
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
        """Make arrays read-only again after copying or unpickling."""
        self.__dict__.update({name: freeze_arrays(value) for name, value in state.items()})

    def _diagonalized(self) -> Diagonalized:
        """The tensor, its principal moments, and the quaternion of its principal axes."""
        shape = validation.shape_of(self.inertia)
        if shape[-1:] != (3,):
            raise InertiaError(
                f"inertia must be three principal moments or a 3 x 3 tensor, in kg m2, not {show(self.inertia)}"
            )
        if shape != (3, 3) and (len(shape) == 1 or shape[1:] == (3,)):
            moments = validation.check_numbers(self.inertia, "inertia", (3,), InertiaError)
            return Diagonalized(moments[..., None] * np.eye(3), moments, np.array((1.0, 0.0, 0.0, 0.0)))
        tensor = validation.check_numbers(self.inertia, "inertia", (3, 3), InertiaError)
        check_symmetry(tensor)
        for known in (self.diagonalized, getattr(self.inertia, "diagonalized", None)):
            if known is not None and np.array_equal(known.tensor, tensor):
                return known
        return Diagonalized(tensor, *diagonalize_inertia(tensor))

    def _stored_inertia(self, moments: Array, tensor: Array) -> Any:
        """The inertia as given if it is three plain numbers, else a copy of it as an array."""
        if isinstance(self.inertia, tuple) and all(isinstance(number, Real) for number in self.inertia):
            return self.inertia
        return moments if validation.shape_of(self.inertia) == moments.shape else tensor

    @property
    def principal_axes(self) -> Rotation:
        """The rotation from principal components to body components.

        Examples
        --------
        >>> import polhode as ph
        >>> ph.Body(mass=1.0, inertia=((2, -1, 0), (-1, 2, 0), (0, 0, 3))).principal_axes.magnitude().round(6).item()
        0.785398
        """
        from scipy.spatial.transform import Rotation

        return Rotation.from_quat(self._axes, scalar_first=True)

    @property
    def density(self) -> Any:
        """The mean density, in kg/m3; None if the volume is unknown or 0.

        Examples
        --------
        >>> import polhode as ph
        >>> ph.shapes.box((1, 2, 3), mass=12.0).density
        2.0
        """
        return None if self.volume is None or not np.all(self.volume) else self.mass / self.volume

    @classmethod
    def from_tensor(
        cls,
        mass: ArrayLike,
        inertia: ArrayLike,
        *,
        products: str,
        center_of_mass: ArrayLike = (0.0, 0.0, 0.0),
        allow_unphysical: bool = False,
    ) -> Body:
        """A body from its tensor of inertia, with the sign of its products named.

        Parameters
        ----------
        mass : float
            In kg.
        inertia : array_like
            About the center of mass, in kg m2: six numbers, Ixx, Iyy, Izz, Ixy, Ixz, Iyz, or a symmetric 3 x 3 array.
        products : {"negative", "positive"}
            What the numbers off the diagonal are: "negative", entries of the tensor, -integral of rho x y, as `Body`
            takes them; or "positive", integrals of rho x y, as data sheets of aircraft and many CAD programs list them.
        center_of_mass, allow_unphysical : optional
            As for `Body`.

        Examples
        --------
        >>> import polhode as ph
        >>> aircraft = ph.Body.from_tensor(9295.0, (12875, 75674, 85552, 0, 1331, 0), products="positive")
        >>> aircraft.inertia_body[0].tolist()
        [12875.0, 0.0, -1331.0]
        """
        advice = "they are 'negative' (-integral of rho x y, entries of the tensor) or 'positive' (integral of rho x y)"
        validation.check_word(products, "products", ("negative", "positive"), InertiaError, advice)
        shape = validation.shape_of(inertia)
        if shape == (6,):
            xx, yy, zz, xy, xz, yz = validation.check_numbers(inertia, "inertia", (6,), InertiaError)
            tensor = np.array(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
        elif shape == (3, 3):
            tensor = validation.check_numbers(inertia, "inertia", (3, 3), InertiaError)
        else:
            raise InertiaError(
                "inertia must be six numbers, Ixx, Iyy, Izz, Ixy, Ixz, Iyz, or a 3 x 3 tensor, but has the shape "
                f"{shape}"
            )
        signed = tensor if products == "negative" else 2 * np.diag(np.diag(tensor)) - tensor
        return cls(mass, signed + 0.0, center_of_mass, allow_unphysical)

    @classmethod
    def from_particles(cls, masses: ArrayLike, positions: ArrayLike) -> Body:
        """Rigidly connected point masses.  [Baraff 1997, eq. 2-38; Tops report, eq. 2]

        Parameters
        ----------
        masses : array_like
            Shape (n,), in kg.
        positions : array_like
            Shape (n, 3), in m.

        Examples
        --------
        >>> import polhode as ph
        >>> dumbbell = ph.Body.from_particles((1.0, 3.0), ((0, 0, 0), (0, 0, 4)))
        >>> print(dumbbell.center_of_mass, dumbbell.principal_moments)
        [0. 0. 3.] [12. 12.  0.]
        """
        from polhode.massprops.assembly import combine_particles

        return combine_particles(masses, positions)

    @classmethod
    @explain_unknown_arguments(InertiaError)
    def from_mesh(
        cls,
        mesh: str | Path | trimesh.Trimesh | trimesh.Scene,
        density: float | None = None,
        *,
        mass: float | None = None,
        area_density: float | None = None,
        shell: float | None = None,
        unit: str | None = None,
        repair: str | Sequence[str] | None = (),
    ) -> Body:
        """The solid enclosed by a triangle mesh (or its wall), by exact integrals over the surface.

        A mesh without a well-defined inside raises `MeshError`, which says where; anything merely suspicious is a
        `MassWarning`.

        Parameters
        ----------
        mesh : path or trimesh.Trimesh
            A file in any format that trimesh reads: STL, OBJ, PLY, GLB, 3MF, OFF, ...
        density, mass, area_density : float
            In kg/m3, kg, or kg/m2 (a thin wall): exactly one of them.
        shell : float, optional
            Wall thickness, in m: the material is on the surface, not inside.
        unit : str, optional
            Unit of the mesh coordinates: "m", "mm", "cm", "um", "km", "in", "ft".  Default: the unit stated in the
            file, else meters, with a warning that says how large and heavy the part then is.
        repair : str or sequence of str, optional
            "flip" orients faces consistently and outward, "fill" closes holes, "hull" takes the convex hull instead.
            Nothing is repaired by default, and `notes` says what was changed.

        Examples
        --------
        >>> import polhode as ph, trimesh
        >>> cube = trimesh.creation.box((0.2, 0.2, 0.2))
        >>> round(ph.Body.from_mesh(cube, density=1000.0).mass, 12)
        8.0
        """
        from polhode.massprops.surface.surface_builder import build_surface_body

        return build_surface_body(mesh, density, mass, area_density, shell, unit, repair)

    @classmethod
    @explain_unknown_arguments(InertiaError)
    def from_volume_mesh(
        cls,
        mesh: str | PathLike[str] | meshio.Mesh,
        density: ArrayLike | Mapping[Any, float] | Callable[[Array, Array, Array], ArrayLike],
        *,
        unit: str | None = None,
        degree: int = 2,
        rtol: float = 1e-10,
        repair: str | Sequence[str] | None = (),
    ) -> Body:
        """The body made of the cells of a volume mesh.  [Hydra 2017, eq. 5.1 to 5.6]

        Parameters
        ----------
        mesh : path or meshio.Mesh
            Tetrahedra, hexahedra, wedges and pyramids, linear or quadratic: VTK, Gmsh, Exodus, Abaqus and whatever
            else meshio reads (`pip install '.[mesh]'` in a clone).
        density : float, array_like, dict, str or callable
            In kg/m3: one value; one per cell; one per region, `{"steel": 7850.0, "foam": 40.0}`; the name of a cell
            field in the file; or a function of x, y, z, called with arrays, in m.  Regions are Gmsh's physical
            volumes, Exodus blocks, Abaqus ELSETs, meshio's cell sets, or the values of an integer field such as
            "region" or "material".
        unit : str, optional
            Unit of the mesh coordinates; meters by default.
        degree : int, optional
            Density functions that are polynomials up to this degree are integrated exactly; 0 to 40.
        rtol : float, optional
            Relative tolerance of adaptive quadrature for other functions; at least 1e-14.  The error is estimated, not
            bounded: a jump or a narrow feature inside cells may be underestimated, or missed if it is small compared
            to the cells.  Refine the mesh there, or use regions.
        repair : str, optional
            "flip" reorders the nodes of inverted cells.

        Examples
        --------
        >>> import polhode as ph, meshio
        >>> corners = [(0.0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
        >>> cell = meshio.Mesh(corners, [("tetra", [[0, 1, 2, 3]])])
        >>> round(ph.Body.from_volume_mesh(cell, density=lambda x, y, z: 24.0 * x).mass, 12)
        1.0
        """
        from polhode.massprops.volume.volume_builder import build_volume_body

        return build_volume_body(mesh, density, unit, degree, rtol, repair)

    def join(self, *others: Body) -> Body:
        """This body and others as one rigid body, in place.  Overlapping volume is counted twice.

        Parameters
        ----------
        *others : Body
            Bodies that do not overlap with this one or with each other.

        Examples
        --------
        >>> import polhode as ph
        >>> ball = ph.shapes.sphere(0.1, mass=1.0)
        >>> ball.move((0, 0, -1)).join(ball.move((0, 0, 1))).principal_moments.round(3).tolist()
        [2.008, 2.008, 0.008]
        """
        from polhode.massprops.assembly import join_bodies

        return join_bodies((self, *others))

    def subtract(self, *others: Body) -> Body:
        """This body with others removed from it, in place.

        A `MassWarning` reports a hole that visibly extends beyond the body or has another density.

        Parameters
        ----------
        *others : Body
            The holes: they must lie inside this body and have its density there.

        Examples
        --------
        >>> import polhode as ph
        >>> hollow = ph.shapes.box((2, 2, 2), density=1.0).subtract(ph.shapes.box((1, 1, 1), density=1.0))
        >>> hollow.mass, hollow.volume
        (7.0, 7.0)
        """
        from polhode.massprops.assembly import subtract_bodies

        return subtract_bodies(self, others)

    def move(self, by: ArrayLike) -> Body:
        """The body translated in its coordinates.

        Parameters
        ----------
        by : array_like
            The displacement (x, y, z), in m.

        Examples
        --------
        >>> import polhode as ph
        >>> ph.shapes.sphere(1.0, mass=1.0).move((0, 0, 2)).center_of_mass.tolist()
        [0.0, 0.0, 2.0]
        """
        from polhode.massprops.transforms import translate_body

        return translate_body(self, by)

    def turn(self, rotation: Rotation, about: ArrayLike = (0.0, 0.0, 0.0)) -> Body:
        """The body rotated about a point.

        Parameters
        ----------
        rotation : scipy.spatial.transform.Rotation
            One rotation, or one for each member of an ensemble.
        about : array_like, optional
            Fixed point, in the body's coordinates, in m.

        Examples
        --------
        >>> import polhode as ph
        >>> from scipy.spatial.transform import Rotation
        >>> quarter = Rotation.from_euler("x", 90, degrees=True)
        >>> ph.shapes.box((1, 2, 3), mass=12.0).turn(quarter).inertia_body.round(9).diagonal().tolist()
        [13.0, 5.0, 10.0]
        """
        from polhode.massprops.transforms import rotate_body

        return rotate_body(self, rotation, about)

    def scale(self, factor: ArrayLike, *, keep: str = "density") -> Body:
        """The body scaled about the origin.

        Parameters
        ----------
        factor : array_like
            One factor, or one per axis.  Members of an ensemble may have their own, one or three each; three numbers
            are always those of the axes.
        keep : str, optional
            What is conserved: "density" (the mass scales with the volume, which must be known) or "mass".

        Examples
        --------
        >>> import polhode as ph
        >>> ph.shapes.sphere(1.0, mass=1.0).scale(2.0).mass
        8.0
        """
        from polhode.massprops.transforms import scale_body

        return scale_body(self, factor, keep)

    def mirror(self, normal: ArrayLike, about: ArrayLike = (0.0, 0.0, 0.0)) -> Body:
        """The mirror image of the body.

        Parameters
        ----------
        normal : array_like
            Normal of the mirror plane.
        about : array_like, optional
            A point of the plane, in the body's coordinates, in m.

        Examples
        --------
        >>> import polhode as ph
        >>> ph.shapes.sphere(1.0, mass=1.0).move((3, 0, 0)).mirror((1, 0, 0)).center_of_mass.tolist()
        [-3.0, 0.0, 0.0]
        """
        from polhode.massprops.transforms import mirror_body

        return mirror_body(self, normal, about)

    def inertia_about(self, point: ArrayLike) -> Array:
        """The 3 x 3 inertia tensor about another point (parallel-axis theorem), in kg m2.

        Parameters
        ----------
        point : array_like
            In the body's coordinates, in m.

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
        """Semi-axes of the solid ellipsoid with this mass and these moments, along the principal axes, in m.

        Examples
        --------
        >>> import polhode as ph
        >>> ph.Body(mass=5.0, inertia=(13.0, 10.0, 5.0)).ellipsoid_semi_axes.tolist()
        [1.0, 2.0, 3.0]
        """
        from polhode.massprops.equivalent_solids import equivalent_ellipsoid_semi_axes

        return equivalent_ellipsoid_semi_axes(self)

    @property
    def box_sides(self) -> Array:
        """Sides of the solid box with this mass and these moments, along the principal axes, in m.

        Examples
        --------
        >>> import polhode as ph
        >>> ph.Body(mass=6.0, inertia=(6.5, 5.0, 2.5)).box_sides.tolist()
        [1.0, 2.0, 3.0]
        """
        from polhode.massprops.equivalent_solids import equivalent_box_sides

        return equivalent_box_sides(self)

    @property
    def nodes(self) -> Array | None:
        """The nodes (n, 3) of the meshes that the body was made from, in its coordinates, in m; None if there are none.

        Examples
        --------
        >>> import polhode as ph, trimesh
        >>> ph.Body.from_mesh(trimesh.creation.box((1, 1, 1)), mass=1.0).nodes.shape
        (8, 3)
        """
        found = [part.nodes for part in self.parts if part.nodes is not None]
        return np.concatenate(found) if found else None

    def surface(self, segments: int = 48) -> Surface:
        """The surface as plain arrays: `vertices` (n, 3) in m, and `faces` (m, 3) of vertex indices.

        Parameters
        ----------
        segments : int, optional
            Segments per full circle of a curved shape.

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
                "this body has mass properties only, and no geometry to draw. Make it with ph.shapes or "
                "Body.from_mesh, or draw its equivalent ellipsoid, whose semi-axes are ellipsoid_semi_axes"
            )
        return merge_surfaces([part.surface(segments) for part in self.parts])

    def mesh(self, segments: int = 48) -> trimesh.Trimesh:
        """The surface as a trimesh mesh, in the body's coordinates, in m.  A body made from a mesh returns that mesh.

        Parameters
        ----------
        segments : int, optional
            Segments per full circle of a curved shape.

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
        """The mass properties as text for another program.

        Parameters
        ----------
        form : str
            "urdf", "sdf", "mjcf", "toml" or "json".
        name : str, optional
            Name of the body, for a comment.

        Examples
        --------
        >>> import polhode as ph
        >>> print(ph.shapes.box((1, 2, 3), density=1.0).block("mjcf").splitlines()[-1])
        <inertial pos="0.0 0.0 0.0" mass="6.0" fullinertia="6.5 5.0 2.5 0.0 0.0 0.0"/>
        """
        from polhode.massprops.inertial_blocks import format_block

        return format_block(self, form, name, self.notes)

    def constants(self, com_to_pivot: ArrayLike | None = None) -> BodyConstants:
        """The constants of the equations of motion, about the center of mass or about a pivot.

        Parameters
        ----------
        com_to_pivot : array_like, optional
            From the center of mass to the pivot, along the body axes, in m.

        Examples
        --------
        >>> import polhode as ph
        >>> ph.Body(mass=2.0, inertia=(1.0, 1.0, 1.0)).constants((0, 0, 3)).moments
        (19.0, 19.0, 1.0)
        """
        if com_to_pivot is None:
            return self._free_constants
        pivot = validation.check_numbers(com_to_pivot, "pivot", (3,))
        entries: Any = as_leaves(self.inertia_body.reshape(*self.inertia_body.shape[:-2], 9))
        offset: Any = as_leaves(pivot)
        about_pivot = np.stack(np.broadcast_arrays(*shift_inertia(entries, self.mass, offset)), axis=-1)
        constants = self._constants(*diagonalize_inertia(about_pivot.reshape(*about_pivot.shape[:-1], 3, 3)), pivot)
        free = self._free_constants
        return constants._replace(about_com=(free.moments, free.inverse_moments, free.axes))

    @cached_property
    def _free_constants(self) -> BodyConstants:
        return self._constants(self.principal_moments, self._axes, np.zeros(3))

    def _constants(self, moments: Array, axes: Array, com_to_pivot: Array) -> BodyConstants:
        # A particle does not rotate, nor does it about the line to its pivot, where rounding may leave a tiny moment.
        least = ROUNDING * moments.max(axis=-1, keepdims=True) if self.is_particle else 0.0
        leaves, mass = as_leaves(moments), self.mass
        inverse: Any
        if moments.ndim == 1:  # number by number, which can be followed from knobs
            inverse = tuple(1 / m if m > float(np.max(least)) else 0.0 for m in leaves)
        else:
            inverse = as_leaves(np.divide(1.0, moments, out=np.zeros_like(moments), where=moments > least))
        return BodyConstants(mass, 1 / mass, leaves, inverse, as_leaves(axes), as_leaves(com_to_pivot))


def _check_extent(value: Any, name: str) -> Array | None:
    if value is None:
        return None
    array = validation.check_numbers(value, name, (), InertiaError)
    if (array < 0).any():
        raise InertiaError(f"{name} must not be negative, but is {array.min():g}: is the surface inside out?")
    return array


@explain_unknown_arguments(InertiaError)
def particle(mass: ArrayLike) -> Body:
    """A point mass: a body without rotation.

    Parameters
    ----------
    mass : float
        In kg, greater than 0.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.particle(2.0).mass
    2.0
    """
    return Body(mass=mass, inertia=(0.0, 0.0, 0.0), is_particle=True)
