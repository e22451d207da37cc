"""Volume meshes from files: every format written and read back, regions and fields, damage; Exodus written by hand."""

from __future__ import annotations

import builtins
import warnings

import meshio
import numpy as np
import pytest

import polhode as ph
from invalid_input import assert_refused
from polhode.errors import FileError, InertiaError, MassWarning, MeshError, PolhodeError
from polhode.massprops.volume.cell_types import CELL_TYPES
from polhode.massprops.volume.volume_reader import allow_quadratic_cells
from volume_mesh_cases import POINTS, WEDGES, abaqus, exodus, lines, written

MASS, CENTER = 4.0, np.array([1.25, 0.5, 0.5])
"""With density 1 in the first and 3 in the second."""


def two_cubes(**more):
    return meshio.Mesh(POINTS.copy(), [("hexahedron", np.arange(8)[None]), ("wedge", WEDGES.copy())], **more)


def assert_two_cubes(body):
    assert body.mass == pytest.approx(MASS, rel=1e-14)
    assert body.center_of_mass == pytest.approx(CENTER, rel=1e-14)
    assert body.volume == pytest.approx(2.0, rel=1e-14)


FORMATS = [
    ("a.vtk", {}),
    ("a.vtk", {"binary": False}),
    ("a.vtk", {"file_format": "vtk42"}),
    ("a.vtu", {}),
    ("a.vtu", {"binary": False}),
    ("a.xdmf", {}),
    ("a.xdmf", {"data_format": "XML"}),
    ("a.med", {}),
]


@pytest.mark.parametrize(("name", "how"), FORMATS)
def test_formats_with_fields_read_back(name, how, tmp_path, capfd):
    data = {"rho": [np.array([1.0]), np.full(2, 3.0)], "material": [np.array([5]), np.full(2, 8)]}
    path = written(two_cubes(cell_data=data), tmp_path / name, **how)
    for density in ("rho", {5: 1.0, 8: 3.0}, [1.0] + [3.0] * 2, lambda x, y, z: np.where(x < 1, 1.0, 3.0)):
        assert_two_cubes(ph.Body.from_volume_mesh(path, density))
    out, err = capfd.readouterr()
    assert (out, err) == ("", "")


@pytest.mark.parametrize("version", ["gmsh22", "gmsh"])
@pytest.mark.parametrize("binary", [False, True])
def test_gmsh_physical_volumes_by_name_and_number(version, binary, tmp_path):
    tags = [np.array([3], np.int32), np.full(2, 4, np.int32)]
    mesh = two_cubes(
        cell_data={"gmsh:physical": tags, "gmsh:geometrical": [np.array([1], np.int32), np.full(2, 2, np.int32)]},
        field_data={"steel": np.array([3, 3]), "lead": np.array([4, 3]), "skin": np.array([4, 2])},
    )
    if version == "gmsh":
        mesh.point_data["gmsh:dim_tags"] = np.array([(3, 1)] * 8 + [(3, 2)] * 4)
    path = written(mesh, tmp_path / "a.msh", file_format=version, binary=binary)
    for density in ({"steel": 1.0, "lead": 3.0}, {3: 1.0, 4: 3.0}):
        assert_two_cubes(ph.Body.from_volume_mesh(path, density))
    with pytest.raises(InertiaError, match=r"no region 'steal': did you mean 'steel'"):
        ph.Body.from_volume_mesh(path, {"steal": 1.0})


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (kind, name)
        for kind in CELL_TYPES
        for name in ("a.vtu", "a.vtk", "a.msh")
        if kind != "pyramid14" or name == "a.msh"
    ],
)
def test_every_kind_through_files_whatever_the_order_of_its_nodes(kind, name, tmp_path):
    """meshio turns Gmsh's order into VTK's for some kinds only; the reference is the cell as it was made."""
    nodes = CELL_TYPES[kind].reference
    nodes = nodes + 0.03 * np.sin(7 * nodes[:, ::-1]) if CELL_TYPES[kind].order == 2 else nodes
    right = ph.Body.from_volume_mesh(_Plain(nodes, kind), 1.0)
    between = GMSH.get(kind) if name == "a.msh" else None
    with allow_quadratic_cells():
        mesh = meshio.Mesh(nodes, [(kind, numbered(kind, between))])
        path = written(mesh, tmp_path / name, **({"file_format": "gmsh22"} if name == "a.msh" else {}))
    found = ph.Body.from_volume_mesh(path, 1.0)
    assert found.inertia_body == pytest.approx(right.inertia_body, rel=1e-13, abs=1e-16)
    assert ("order of Gmsh" in " ".join(found.notes)) == (between is not None)


BOTTOM, TOP = [(0, 1), (1, 2), (2, 3), (3, 0)], [(4, 5), (5, 6), (6, 7), (7, 4)]
UPRIGHT = [(0, 4), (1, 5), (2, 6), (3, 7)]
LEFT, RIGHT, FRONT, BACK = (0, 3, 4, 7), (1, 2, 5, 6), (0, 1, 4, 5), (2, 3, 6, 7)
WEDGE_EDGES = [(0, 1), (1, 2), (2, 0), (0, 3), (1, 4), (2, 5), (3, 4), (4, 5), (5, 3)]
WEDGE_FACES = [(0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)]
EXODUS = {
    "hexahedron20": BOTTOM + UPRIGHT + TOP,
    "hexahedron27": BOTTOM + UPRIGHT + TOP + [range(8), range(4), range(4, 8), LEFT, RIGHT, FRONT, BACK],
    "wedge15": WEDGE_EDGES,
    "wedge18": WEDGE_EDGES + WEDGE_FACES,
}
GMSH = {
    "wedge18": [(0, 1), (0, 2), (0, 3), (1, 2), (1, 4), (2, 5), (3, 4), (3, 5), (4, 5)]
    + [(0, 1, 4, 3), (0, 3, 5, 2), (1, 2, 5, 4)],
    "pyramid14": [(0, 1), (0, 3), (0, 4), (1, 2), (1, 4), (2, 3), (2, 4), (3, 4), range(4)],
}
"""The corners between which other programs put the nodes that follow the corners, in their order."""


def numbered(kind, between):
    """One cell whose nodes are named in another program's order."""
    if between is None:
        return np.arange(len(CELL_TYPES[kind].reference))[None]
    places = CELL_TYPES[kind].reference
    corners = range(CELL_TYPES[kind].corners)
    wanted = [places[list(group)].mean(axis=0) for group in between]
    return np.array([[*corners, *(np.abs(places - place).sum(axis=1).argmin() for place in wanted)]])


class _Plain:
    def __init__(self, nodes, kind):
        self.points, self.cells = nodes, [(kind, np.arange(len(nodes))[None])]


# Abaqus -------------------------------------------------------------------------------------------------------------
BRICK = "*ELEMENT, TYPE=C3D8R, ELSET=Steel\n" + lines(1, [range(8)])
SKIN = "*Element, type=S3\n" + lines(100, [(0, 1, 2)])
FILLING = "*Element, type=C3D6\n" + lines(11, WEDGES)


def test_abaqus_sets_are_those_of_the_right_elements(tmp_path):
    """A first block without a set, sets in capitals and small letters, generated sets, sets of sets."""
    sets = "*ELSET, ELSET=low, GENERATE\n11, 11, 1\n*ELSET, ELSET=high\n12,\n"
    sets += "** a comment\n*ELSET, ELSET=lead\nlow, high\n*ELSET, ELSET=everything\nsteel, LEAD\n*STEP\n"
    path = abaqus(tmp_path, SKIN + BRICK + FILLING, sets)
    for density in ({"Steel": 1.0, "lead": 3.0}, {"STEEL": 1.0, "low": 3.0, "high": 3.0}):
        body = ph.Body.from_volume_mesh(path, density)
        assert_two_cubes(body)
        assert body.notes == ("Cells without volume were ignored: 1 S3.",)
    with pytest.raises(InertiaError, match=r"1 of 3 cells lie in more than one"):
        ph.Body.from_volume_mesh(path, {"steel": 1.0, "everything": 3.0})


def test_an_abaqus_file_that_ends_too_early_is_suspected(tmp_path):
    with pytest.warns(MassWarning, match=r"ends within its \*ELEMENT lines, and 4 nodes belong to no element"):
        ph.Body.from_volume_mesh(abaqus(tmp_path, BRICK), 1.0)


def test_abaqus_nodes_may_come_in_several_lists(tmp_path):
    path = abaqus(tmp_path, "*NODE\n500, 0, 0, 9\n" + BRICK + "*STEP\n")
    assert ph.Body.from_volume_mesh(path, 1.0).volume == pytest.approx(1.0, rel=1e-14)


def test_abaqus_as_meshio_writes_it(tmp_path):
    sets = {"a": [np.array([0]), np.array([], int)], "b": [np.array([], int), np.arange(2)]}
    path = written(two_cubes(cell_sets=sets), tmp_path / "a.inp")
    assert_two_cubes(ph.Body.from_volume_mesh(path, {"a": 1.0, "b": 3.0}))


@pytest.mark.filterwarnings("ignore::polhode.errors.MassWarning")
@pytest.mark.parametrize(
    ("elements", "phrases"),
    [
        (BRICK.replace("10, 20", "10, 21"), ("node 21",)),
        (BRICK.replace("10, 20,", "10,"), ("*ELEMENT", "9 numbers each")),
        (BRICK[:-1], ("middle of a line",)),
        (BRICK + BRICK, ("element 1 is defined twice",)),
        ("*ELEMENT, TYPE=SC8R\n" + lines(1, [range(8)]), ("SC8R", "have a volume")),
        ("*NGEN\n1, 2, 3\n" + BRICK, ("*NGEN", "written out")),
        ("*NODE\n7, 1.0, zero, 2.0\n" + BRICK, ("*NODE", "zero")),
    ],
)
def test_abaqus_files_that_are_not_supported(elements, phrases, tmp_path):
    path = abaqus(tmp_path, elements)
    assert_refused(lambda: ph.Body.from_volume_mesh(path, 1.0), FileError, phrases)


# Exodus, written by hand --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET"])
def test_exodus_variables_and_blocks_are_not_lost(kind, tmp_path):
    """meshio 5.3.5 gives the variables of the first time step, and none if a block lacks one."""
    blocks = [
        ("shell", 5, "SHELL4", [(0, 1, 2, 3)], {"thickness": [[1.0], [1.0]]}),
        ("steel", 10, "HEX8", [range(8)], {"rho": [[9.0], [1.0]], "extra": [[1.0], [2.0]]}),
        ("", 20, "wedge6", WEDGES, {"rho": [[9.0] * 2, [3.0] * 2]}),
    ]
    path = exodus(tmp_path / "a.exo", POINTS, blocks, ("thickness", "extra", "rho"), (0.0, 2.5), kind)
    for density in ("rho", {"steel": 1.0, 20: 3.0}, {10: 1.0, 20: 3.0}):
        body = ph.Body.from_volume_mesh(path, density)
        assert_two_cubes(body)
    assert "2 time steps; cell fields are those of the last one, t = 2.5." in body.notes[0]
    assert "1 SHELL4" in body.notes[1]
    with pytest.raises(InertiaError, match="'extra' has no value in 2 of 3 cells"):
        ph.Body.from_volume_mesh(path, "extra")


EXODUS_NAMES = {"tetra": "TET", "pyramid": "PYRAMID", "wedge": "WEDGE", "hexahedron": "HEX"}


@pytest.mark.parametrize("kind", sorted(set(CELL_TYPES) - {"pyramid14"}))
def test_exodus_order_of_the_nodes(kind, tmp_path):
    """In Exodus the upright edges come before the upper ones [Exodus II manual, figures of the elements]."""
    nodes = CELL_TYPES[kind].reference
    nodes = nodes + 0.03 * np.sin(7 * nodes[:, ::-1]) if CELL_TYPES[kind].order == 2 else nodes
    right = ph.Body.from_volume_mesh(_Plain(nodes, kind), 1.0)
    cells = numbered(kind, EXODUS.get(kind))
    element = f"{EXODUS_NAMES[CELL_TYPES[kind].family]}{len(nodes)}"
    found = ph.Body.from_volume_mesh(exodus(tmp_path / "a.e", nodes, [("a", 1, element, cells, {})]), 1.0)
    assert found.inertia_body == pytest.approx(right.inertia_body, rel=1e-13, abs=1e-16)


def test_exodus_as_meshio_writes_it(tmp_path):
    """meshio writes hexahedra of 20 nodes in VTK's order, which is not Exodus's; the geometry tells."""
    nodes = CELL_TYPES["hexahedron20"].reference
    path = written(meshio.Mesh(nodes, [("hexahedron20", np.arange(20)[None])]), tmp_path / "a.e")
    assert ph.Body.from_volume_mesh(path, 1.0).volume == pytest.approx(1.0, rel=1e-13)
    path = written(two_cubes(), tmp_path / "b.e")
    assert_two_cubes(ph.Body.from_volume_mesh(path, {0: 1.0, 1: 3.0}))


def test_exodus_elements_that_are_not_supported(tmp_path):
    path = exodus(tmp_path / "a.e", POINTS, [("a", 1, "NFACED", [range(8)], {})])
    assert_refused(lambda: ph.Body.from_volume_mesh(path, 1.0), FileError, ("'NFACED'",))
    path = exodus(tmp_path / "b.e", POINTS, [("a", 1, "TETRA8", [range(8)], {})])
    assert_refused(lambda: ph.Body.from_volume_mesh(path, 1.0), MeshError, ("'tetra8'", "8 nodes"))


# Damage -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "text"), [("a.vtk", "no mesh"), ("a.msh", "no mesh"), ("a.e", "no mesh"), ("a.xyz", "?")]
)
def test_files_of_another_kind(name, text, tmp_path, capfd):
    path = tmp_path / name
    path.write_text(text)
    assert_refused(lambda: ph.Body.from_volume_mesh(path, 1.0), FileError, (str(path), "could not be read"))
    out, err = capfd.readouterr()
    assert (out, err) == ("", "")


def test_missing_files_and_directories(tmp_path):
    assert_refused(lambda: ph.Body.from_volume_mesh(tmp_path / "none.vtu", 1.0), FileError, ("there is no file",))
    assert_refused(lambda: ph.Body.from_volume_mesh(tmp_path, 1.0), FileError, ("is not a file",))


def test_cells_that_meshio_leaves_out_are_not_lost_in_silence(tmp_path):
    """A voxel (VTK type 11) beside wedges: meshio prints a warning and goes on without it."""
    path = written(two_cubes(), tmp_path / "a.vtk", file_format="vtk42", binary=False)
    text = path.read_text()
    head, types = text.split("CELL_TYPES 3\n")
    assert types.startswith("12")
    path.write_text(f"{head}CELL_TYPES 3\n11{types[2:]}")
    assert_refused(lambda: ph.Body.from_volume_mesh(path, 1.0), FileError, ("meshio cannot handle",))


@pytest.mark.parametrize(("library", "name"), [("meshio", "a.vtu"), ("netCDF4", "a.e")])
def test_a_missing_library_is_named(library, name, tmp_path, monkeypatch):
    path = written(two_cubes(), tmp_path / name)
    usual = builtins.__import__

    def without(wanted, *rest):
        if wanted.split(".")[0] == library:
            raise ModuleNotFoundError(f"No module named {library!r}")
        return usual(wanted, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    assert_refused(lambda: ph.Body.from_volume_mesh(path, 1.0), FileError, (library, "pip install '", "[mesh]'"))


@pytest.mark.parametrize(("name", "how"), [*FORMATS, ("a.msh", {"file_format": "gmsh22"}), ("a.e", {}), ("a.inp", {})])
def test_truncated_files_are_refused_or_right(name, how, tmp_path):
    """40 cuts a format: an error, or the right numbers (where only the end of the file was lost)."""
    path = written(two_cubes(), tmp_path / name, **how)
    whole = path.read_bytes()
    right = ph.Body.from_volume_mesh(path, 1.0)
    for length in np.random.default_rng(1).integers(0, len(whole), 40):
        path.write_bytes(whole[:length])
        with warnings.catch_warnings():
            warnings.simplefilter("error", MassWarning)
            try:
                body = ph.Body.from_volume_mesh(path, 1.0)
            except (PolhodeError, MassWarning):
                continue
        assert body.inertia_body.tolist() == right.inertia_body.tolist()
