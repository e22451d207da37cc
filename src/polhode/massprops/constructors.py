"""What a body can be made from: particles, a surface mesh, a volume mesh."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from polhode.massprops.body import Body


class BodyConstructors:
    """The ways to a `Body` from what it looks like."""

    @classmethod
    def from_particles(cls, masses: ArrayLike, positions: ArrayLike) -> Body:
        """Point masses, rigidly joined.  [seed 000 eq. 2-38; seed 003 eq. 2]

        Parameters
        ----------
        masses : array_like
            N numbers, in kg.
        positions : array_like
            N times 3 numbers, in m.  The centre of mass is found from them; the tensor is about it.

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
    def from_mesh(
        cls,
        mesh: Any,
        density: float | None = None,
        *,
        mass: float | None = None,
        area_density: float | None = None,
        shell: float | None = None,
        unit: str | None = None,
        repair: str | Sequence[str] | None = (),
    ) -> Body:
        """The body within a closed surface of triangles, by exact integrals over the surface.

        Parameters
        ----------
        mesh : path or trimesh.Trimesh
            STL, OBJ, PLY, GLB, 3MF, OFF: whatever trimesh reads.
        density, mass, area_density : float
            In kg/m3, kg, or kg/m2 (a shell): exactly one of them.
        shell : float, optional
            The thickness of the wall, in m: the matter is on the surface, not within.
        unit : str, optional
            What the mesh's numbers are in: "m", "mm", "cm", "um", "km", "in", "ft".  If not given: what the file
            says, else metres.
        repair : str or several
            "flip" turns faces so that they agree and look outwards, "fill" closes holes, "hull" takes the convex hull
            instead.  Nothing is repaired unless asked, and `notes` says what was changed.

        A mesh that has no definite inside is refused, and the sentence says where.  What is merely odd is a warning.

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
    def from_volume_mesh(
        cls,
        mesh: Any,
        density: Any,
        *,
        unit: str | None = None,
        degree: int = 2,
        rtol: float = 1e-10,
        repair: str | Sequence[str] | None = (),
    ) -> Body:
        """The body made of the cells of a volume mesh.  [seed 001 eq. 5.1 to 5.6]

        Parameters
        ----------
        mesh : path or meshio.Mesh
            Tetrahedra, hexahedra, wedges and pyramids, linear or quadratic: VTK, Gmsh, Exodus, Abaqus and what else
            meshio reads (`pip install 'polhode[mesh]'`).
        density : float, array, dict, str or function
            In kg/m3: one number; one for each cell; one for each region, `{"steel": 7850.0, "foam": 40.0}`; the name
            of a field of the cells in the file; or a function of x, y, z, which gets arrays, in m.  Regions are
            Gmsh's physical volumes, Exodus blocks, Abaqus ELSETs, meshio's cell sets, or the values of a whole-number
            field such as "region" or "material".
        unit : str, optional
            What the mesh's numbers are in; metres if not given.
        degree : int, optional
            A function that is a polynomial of this degree or less is integrated exactly; 0 to 40.
        rtol : float, optional
            Other functions are integrated, cell by cell, until the error is less than this part of the whole; at
            least 1e-14.  The error is estimated, not bounded: a jump or a narrow feature within cells may be missed in
            part, or wholly if it is small beside the cells.  Mesh finer there, or give regions.
        repair : str, optional
            "flip" turns cells whose corners are numbered the wrong way round.

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
