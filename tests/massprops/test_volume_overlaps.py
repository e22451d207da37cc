"""Volume meshes that hide something: overlapping parts, truncated files, densities that a rule misses."""

from __future__ import annotations

import warnings
from math import pi

import meshio
import numpy as np
import pytest
import trimesh
from scipy.spatial import ConvexHull, Delaunay
from scipy.spatial.transform import Rotation

import polhode as ph
from invalid_input import assert_refused
from polhode.errors import FileError, InertiaError, InputError, MassWarning, MeshError
from polhode.massprops.volume import adaptive_quadrature
from volume_mesh_cases import POINTS as TWO_CUBES
from volume_mesh_cases import SIX, TWO_WEDGES, WEDGES, abaqus, block, cut, exodus, lines, mesh_of, one, written


def both(first, second, kind="hexahedron"):
    (points, cells), (more, others) = first, second
    return mesh_of(np.vstack((points, more)), (kind, np.vstack((cells, others + len(points)))))


def moved(shift, factor=1.0, n=2):
    points, hexes = block(n)
    return points * factor + shift, hexes


def silent(mesh, density=1.0, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return ph.Body.from_volume_mesh(mesh, density, unit="m", **settings)


# Overlapping parts, known by construction
@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize(
    "second",
    [
        moved((0.25, 0.13, 0.07)),
        moved((1e-9, 0, 0)),
        moved((1e-9, 1e-9, 1e-9)),
        moved(0.41, 0.1),
        moved((0.6, 1e-9, 1e-9), n=1),
        moved((0.99, 0.01, 0.03)),
    ],
    ids=["moved", "beside", "askew", "within", "sliding", "corner"],
)
def test_overlapping_parts_are_refused(second, size):
    points, hexes = block(2)
    for first, other in (((points, hexes), second), (second, (points, hexes))):
        mesh = both((first[0] * size, first[1]), (other[0] * size, other[1]))
        with pytest.raises(MeshError, match=r"cells overlap, and their mass would count twice.* near \("):
            ph.Body.from_volume_mesh(mesh, 1.0, unit="m")


@pytest.mark.parametrize(
    "second",
    [
        moved((5.0, 0, 0)),
        (block(3)[0] * 0.9 + (1, 0.03, 0.04), block(3)[1]),
        moved((1 + 1e-15, 0, 0)),
    ],
    ids=["apart", "other faces", "rounding"],
)
def test_parts_that_lie_side_by_side_are_fine(second):
    body = silent(both(block(2), second))
    assert "2 parts that share no node, treated as one rigid body." in body.notes


def test_parts_that_touch_within_single_precision_warn():
    with pytest.warns(MassWarning, match=r"touch, and intersect"):
        ph.Body.from_volume_mesh(both(block(2), moved((1 - 1e-7, 0.2, 0.3))), 1.0)


@pytest.mark.parametrize("kind", ["tetra", "hexahedron"])
def test_one_cell_too_many_is_never_silent(kind):
    """A random cell of existing nodes lies within the cube, which was full already."""
    points, hexes = block(3)
    cells = hexes if kind == "hexahedron" else cut(hexes, SIX)
    rng = np.random.default_rng(8)
    for _ in range(60):
        extra = rng.choice(len(points), 4, replace=False)
        if np.linalg.det(points[extra[1:]] - points[extra[0]]) < 0:
            extra = extra[[1, 0, 2, 3]]
        with pytest.raises((MeshError, MassWarning)):
            silent(mesh_of(points, (kind, cells), ("tetra", [extra])))


def test_sound_meshes_stay_silent_against_the_convex_hull():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        points = rng.normal(size=(150, 3)) * (1 if seed % 2 else (1, 1, 0.01))
        cells = Delaunay(points).simplices.astype(np.int64)
        wrong = np.linalg.det(points[cells[:, 1:]] - points[cells[:, :1]]) < 0
        cells[wrong] = cells[wrong][:, [1, 0, 2, 3]]
        assert silent(mesh_of(points, ("tetra", cells))).volume == pytest.approx(ConvexHull(points).volume, rel=1e-11)


def test_noisy_and_thin_blocks_stay_silent():
    points, hexes = block(4)
    for seed in range(10):
        turned = Rotation.random(random_state=seed).as_matrix()
        noisy = points + 0.02 * np.random.default_rng(seed).normal(size=points.shape)
        silent(mesh_of(noisy @ turned.T, ("hexahedron", hexes)))
        silent(mesh_of(noisy @ turned.T, ("wedge", cut(hexes, TWO_WEDGES))))
        for thickness in (1e-4, 1e-8):
            plate = (points * (1, 1, thickness)) @ turned.T
            assert not silent(mesh_of(plate, ("tetra", cut(hexes, SIX)))).notes


def test_a_void_and_what_lies_in_it():
    points, hexes = block(3)
    hollow = np.delete(hexes, 13, axis=0)
    body = silent(mesh_of(points, ("hexahedron", hollow)))
    assert body.notes == (f"1 void inside the mesh, {1 / 27:.6g} m3, counted as empty.",)
    filled = silent(both((points, hollow), moved(0.4, 0.2)))
    assert filled.volume == pytest.approx(26 / 27 + 0.008, rel=1e-13)
    assert any("2 parts" in note for note in filled.notes)


# Truncated files
@pytest.mark.parametrize("kind", ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"])
@pytest.mark.parametrize("steps", [1, 2])
def test_truncated_exodus_files_are_refused_at_every_length(kind, steps, tmp_path):
    """The reader of netCDF-3 fills up with zeros: density 0, and no error."""
    values = {"rho": np.ones((steps, 1))}, {"rho": np.ones((steps, 2))}
    blocks = [("a", 1, "HEX8", [range(8)], values[0]), ("b", 2, "WEDGE6", WEDGES, values[1])]
    path = exodus(tmp_path / "a.exo", TWO_CUBES, blocks, ("rho",), range(steps), kind)
    whole = path.read_bytes()
    assert ph.Body.from_volume_mesh(path, "rho").mass == pytest.approx(2.0, rel=1e-14)
    for length in (*range(5, len(whole), 61), len(whole) - 9, len(whole) - 1):
        path.write_bytes(whole[:length])
        assert_refused(lambda: ph.Body.from_volume_mesh(path, "rho"), FileError, ("truncated",))


def test_two_exodus_blocks_of_one_name_are_one_region(tmp_path):
    blocks = [("a", 1, "HEX8", [range(8)], {}), ("a", 2, "WEDGE6", WEDGES, {})]
    path = exodus(tmp_path / "a.exo", TWO_CUBES, blocks)
    assert ph.Body.from_volume_mesh(path, {"a": 3.0}).mass == pytest.approx(6.0, rel=1e-14)


@pytest.mark.parametrize("name", ["a.dat", "a.tec", "a.f3grid", "a.mdpa", "a.post", "a.cgns"])
def test_formats_that_cannot_be_trusted_are_refused(name, tmp_path):
    path = tmp_path / name
    path.write_text("anything")
    assert_refused(lambda: ph.Body.from_volume_mesh(path, 1.0), FileError, (name, "convert it to VTU"))


def test_fluent_meshes_and_empty_tetgen_files_are_refused(tmp_path):
    (tmp_path / "a.msh").write_text('(0 "Fluent")\n')
    assert_refused(lambda: ph.Body.from_volume_mesh(tmp_path / "a.msh", 1.0), FileError, ("Fluent", "VTU"))
    for name in ("a.node", "a.ele"):
        (tmp_path / name).write_text("# nothing\n")
    assert_refused(lambda: ph.Body.from_volume_mesh(tmp_path / "a.ele", 1.0), FileError, ("is empty",))


def test_an_su2_file_with_fewer_elements_than_it_announces(tmp_path):
    points, hexes = block(2)
    path = written(meshio.Mesh(points, [("hexahedron", hexes)]), tmp_path / "a.su2")
    assert ph.Body.from_volume_mesh(path, 1.0).volume == pytest.approx(1.0, rel=1e-13)
    path.write_text(path.read_text().replace("NELEM= 8", "NELEM= 9"))
    with pytest.raises(FileError):
        ph.Body.from_volume_mesh(path, 1.0)


def test_abaqus_cut_within_a_keyword(tmp_path):
    brick = "*ELEMENT, TYPE=C3D8, ELSET=a\n" + lines(1, [range(8)])
    for ending in ("*E", "*", "*ELEMENT, TYPE=C3D6", "** a comm"):
        path = abaqus(tmp_path, brick, ending)
        assert_refused(lambda path=path: ph.Body.from_volume_mesh(path, 1.0), FileError, ("middle of a line",))
    for ending in ("", "*ELSET, ELSET=b\n1,\n", "** a comment\n"):
        with pytest.warns(MassWarning, match="4 nodes belong to no element"):
            ph.Body.from_volume_mesh(abaqus(tmp_path, brick, ending), 1.0)
    assert silent(abaqus(tmp_path, brick, "*STEP\n*END STEP")).volume == pytest.approx(1.0, rel=1e-14)


# Densities that rules do not see ------------------------------------------------------------------------------------
def ball(center, radius, inside, outside):
    def density(x, y, z):
        return np.where(sum((a - c) ** 2 for a, c in zip((x, y, z), center, strict=True)) < radius**2, inside, outside)

    return density


def test_an_inclusion_between_the_points_is_found():
    """A ball of radius 0.12 within one cell: its volume is known."""
    right = 40 + 7810 * 4 / 3 * pi * 0.12**3
    for center in np.random.default_rng(0).uniform(0.2, 0.8, (12, 3)):
        body = ph.Body.from_volume_mesh(one("hexahedron"), ball(center, 0.12, 7850.0, 40.0), rtol=5e-3)
        assert body.mass == pytest.approx(right, rel=2e-2)


def test_a_jump_along_the_cells_own_directions_is_exact():
    """It is cut along x alone, as often as needed."""
    body = ph.Body.from_volume_mesh(one("hexahedron"), lambda x, y, z: np.where(x < 0.3, 1.0, 2.0), rtol=1e-10)
    assert body.mass == pytest.approx(1.7, rel=1e-10)


def test_a_kink_at_a_face_against_its_integral():
    body = ph.Body.from_volume_mesh(one("hexahedron"), lambda x, y, z: np.sqrt(x), rtol=1e-11)
    assert body.mass == pytest.approx(2 / 3, rel=1e-11)
    assert body.center_of_mass == pytest.approx([3 / 5, 1 / 2, 1 / 2], rel=1e-10)


def test_the_advice_of_a_refusal_holds(monkeypatch):
    """With the proposed rtol, and with every larger one, the same points are enough; the mass is an area's."""
    monkeypatch.setattr(adaptive_quadrature, "MAX_POINTS", 1_000_000)
    points, hexes = block(2)
    mesh = mesh_of(points, ("tetra", cut(hexes, SIX)))

    def density(x, y, z):
        return np.where(x + 0.37 * y < 0.4123, 2.0, 1.0)

    with pytest.raises(InertiaError, match="a larger rtol, such as") as caught:
        ph.Body.from_volume_mesh(mesh, density)
    advice = float(str(caught.value).split()[-1])
    for factor in (1, 1.3, 2, 3, 5, 10, 30):
        body = ph.Body.from_volume_mesh(mesh, density, rtol=advice * factor)
        assert body.mass == pytest.approx(1 + 0.4123 - 0.37 / 2, rel=advice * factor)


# Arguments
def test_repairs_units_and_types():
    mesh = mesh_of(*block(1)[:1], ("hexahedron", block(1)[1]))
    assert ph.Body.from_volume_mesh(mesh, 1.0, repair=None).volume == pytest.approx(1.0, rel=1e-14)
    for repair in (3, True, 1.5):
        assert_refused(lambda r=repair: ph.Body.from_volume_mesh(mesh, 1.0, repair=r), InputError, ("repair must be",))
    for unit, meters in {"meter": 1, "millimeters": 1e-3, "Inches": 0.0254, "kilometre": 1e3}.items():
        assert ph.Body.from_volume_mesh(mesh, 1.0, unit=unit).volume == pytest.approx(meters**3, rel=1e-13)
    for unit in ("Mm", "M", 3):
        with pytest.raises(InputError, match="unit"):
            ph.Body.from_volume_mesh(mesh, 1.0, unit=unit)
    for density in (np.array([True]), np.array([1.0], dtype=object), ["1.0"], [1j]):
        assert_refused(lambda d=density: ph.Body.from_volume_mesh(mesh, d), InertiaError, ("density must be numbers",))


def test_a_file_whose_cells_are_all_inverted_has_another_convention():
    points, hexes = block(2)
    wrong = hexes[:, [4, 5, 6, 7, 0, 1, 2, 3]]
    with pytest.raises(MeshError, match=r'8 of 8 cells .* probably the file\'s convention: repair="flip" fixes it'):
        ph.Body.from_volume_mesh(mesh_of(points, ("hexahedron", wrong)), 1.0)
    assert silent(mesh_of(points, ("hexahedron", wrong)), repair="flip").volume == pytest.approx(1.0, rel=1e-13)


@pytest.mark.filterwarnings("ignore::polhode.errors.MassWarning")
@pytest.mark.parametrize("unit", ["mm", "in"])
def test_other_units_cost_no_digits_against_the_surface_of_the_same_solid(unit):
    """A million sizes away, in another unit: the file's own numbers are integrated on both roads."""
    points, hexes = block(2)
    points = np.asarray(points) * 2.0 + (3e6, 1e6 + 7, -2e6)
    solid = ph.Body.from_volume_mesh(mesh_of(points, ("hexahedron", hexes)), 3.0, unit=unit)
    meters = {"mm": 1e-3, "in": 0.0254}[unit]
    side = np.ptp(points, axis=0)[0]
    assert solid.mass == pytest.approx(3.0 * (side * meters) ** 3, rel=1e-13, abs=0)
    box = trimesh.creation.box((side,) * 3)
    middle = points.min(axis=0) + side / 2
    surface = ph.Body.from_mesh(
        trimesh.Trimesh(box.vertices + middle, box.faces, process=False), density=3.0, unit=unit
    )
    assert solid.mass == pytest.approx(surface.mass, rel=1e-13, abs=0)
    assert solid.center_of_mass == pytest.approx(surface.center_of_mass, rel=1e-14, abs=0)
    assert np.abs(solid.inertia_body - surface.inertia_body).max() < 1e-12 * surface.inertia_body.max()
