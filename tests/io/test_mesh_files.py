"""Files of motions of meshes, read back by VTK, meshio, netCDF4 and h5py, against the motions they were made from."""

from __future__ import annotations

import builtins
import csv
import warnings

import h5py
import meshio
import netCDF4
import numpy as np
import pytest
import trimesh
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.errors import FileError
from polhode.io.keyframes import compute_keyframes
from polhode.massprops.volume.cell_types import CELL_TYPES, FOREIGN_NODE_ORDERS
from polhode.web.motion_record import record_motion

pyvista = pytest.importorskip("pyvista")

SPIN = ph.State(position=(1, 2, 3), velocity=(0.5, 0, -1), angular_velocity_body=(0.1, 5.0, 0.1), time=2.0)
AWAY = ph.State(position=(9, 2, 3), velocity=(0, 7, 0), angular_velocity_body=(3.0, 0.2, 0.1), time=2.0)
SHORT = {"duration": 0.5, "output_step": 0.25, "method": "exact"}
STEEL, FOAM = 7850.0, 40.0


def volume_mesh():
    """Two hexahedra and a wedge upon them, in two regions, with two fields."""
    points = [(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1, 2)]
    points += [(0.0, 0.5, 2.0), (1.0, 0.5, 2.0)]
    hexahedra = [[0, 1, 4, 3, 6, 7, 10, 9], [1, 2, 5, 4, 7, 8, 11, 10]]
    wedge = [[6, 9, 12, 7, 10, 13]]
    cells = [("hexahedron", hexahedra), ("wedge", wedge)]
    data = {"density": [np.array([STEEL, FOAM]), np.array([STEEL])], "heat": [np.array([1.5, 2.5]), np.array([3.5])]}
    sets = {"frame": [np.array([0]), np.array([0])], "core": [np.array([1]), np.array([], dtype=int)]}
    return meshio.Mesh(np.array(points, dtype=float), cells, cell_data=data, cell_sets=sets)


@pytest.fixture(scope="module")
def solid():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ph.Body.from_volume_mesh(volume_mesh(), "density", repair="flip")


@pytest.fixture(scope="module")
def motion(solid):
    """A volume mesh, a surface mesh and a shape."""
    ball = ph.Body.from_mesh(trimesh.creation.icosphere(2), mass=1.0)
    states = [SPIN, AWAY, AWAY.replace(position=(0, 0, 0))]
    return ph.simulate([solid, ball, ph.shapes.box((1, 2, 3), mass=2.0)], states, **SHORT)


def expected(motion, k):
    """Positions, displacements and velocities of all nodes at an output, and the cells, by the motion's own methods."""
    t = float(motion.times[k])
    nodes = [motion.nodes(body=0), motion.nodes(body=1)]
    box = motion.scenario.bodies[2]
    nodes.append(motion.nodes(box.surface().vertices, body=2))
    names = ("positions", "displacements", "velocities")
    return [np.concatenate([getattr(each, name)(t) for each in nodes]) for name in names]


def check_cells(bodies, density, heat):
    """Elements of the volume come first; those of surfaces have no density."""
    assert bodies[:3].tolist() == [0, 0, 0]
    assert np.unique(bodies).tolist() == [0, 1, 2]
    assert sorted(density[:3].tolist()) == [FOAM, STEEL, STEEL]
    assert np.isnan(density[3:]).all()
    assert heat[:3][density[:3] == FOAM].tolist() == [2.5]


def test_vtk_reads_the_series_for_paraview(motion, tmp_path):
    motion.export_paraview(tmp_path / "three.pvd")
    reader = pyvista.get_reader(tmp_path / "three.pvd")
    assert reader.time_values == motion.times.tolist()
    for k, t in enumerate(reader.time_values):
        reader.set_active_time_value(t)
        mesh = reader.read()[0]
        x, u, v = expected(motion, k)
        assert np.array_equal(mesh.points, x)
        assert np.array_equal(mesh.point_data["displacement"], u)
        assert np.array_equal(mesh.point_data["velocity"], v)
        check_cells(mesh.cell_data["body"], mesh.cell_data["density"], mesh.cell_data["heat"])
    assert abs(mesh.extract_cells([0, 1, 2]).compute_cell_sizes()["Volume"]).sum() == pytest.approx(2.5)


def test_meshio_reads_the_same_and_makes_the_same_body(motion, solid, tmp_path):
    alone = ph.simulate(solid, SPIN, **SHORT)
    alone.export_paraview(tmp_path / "solid.pvd")
    read = meshio.read(tmp_path / "solid" / "solid_0000.vtu")
    assert read.cell_data["density"][0].shape == (2,) or len(read.cell_data["density"]) == 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = ph.Body.from_volume_mesh(read, "density")
    assert again.mass == pytest.approx(solid.mass, rel=1e-12)
    assert np.sort(again.principal_moments) == pytest.approx(np.sort(solid.principal_moments), rel=1e-9)
    assert again.center_of_mass == pytest.approx(SPIN.position, rel=1e-12)


def test_meshio_and_vtk_read_xdmf(motion, tmp_path):
    motion.export_xdmf(tmp_path / "three.xdmf")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["three.h5", "three.xdmf"]
    with meshio.xdmf.TimeSeriesReader(tmp_path / "three.xdmf") as reader:
        points, cells = reader.read_points_cells()
        assert np.array_equal(points, expected(motion, 0)[0])
        assert sum(len(block.data) for block in cells) == 3 + len(motion.scenario.bodies[1].surface().faces) + 12
        for k in range(reader.num_steps):
            t, at_points, at_cells = reader.read_data(k)
            _, u, v = expected(motion, k)
            assert t == motion.times[k]
            assert np.array_equal(at_points["displacement"], u)
            assert np.array_equal(at_points["velocity"], v)
            check_cells(*(np.concatenate(at_cells[name]) for name in ("body", "density", "heat")))
    with h5py.File(tmp_path / "three.h5") as file:
        assert np.array_equal(file["position/2"][()], expected(motion, 2)[0])
    reader = pyvista.XdmfReader(str(tmp_path / "three.xdmf"))
    assert np.allclose(reader.time_values, motion.times)
    reader.set_active_time_value(float(motion.times[2]))
    mesh = reader.read()
    mesh = mesh[0] if isinstance(mesh, pyvista.MultiBlock) else mesh
    assert np.array_equal(mesh.points, expected(motion, 2)[0])
    assert np.array_equal(mesh.point_data["velocity"], expected(motion, 2)[2])


def test_netcdf_meshio_and_vtk_read_exodus(motion, tmp_path):
    path = tmp_path / "three.e"
    motion.export_exodus(path)
    with netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)
        assert np.array_equal(file["time_whole"][:], motion.times)
        names = [b"".join(row).split(b"\0")[0].decode() for row in file["name_nod_var"][:]]
        assert names == [f"{field}{axis}" for field in ("displacement", "velocity") for axis in "XYZ"]
        for k in range(len(motion.times)):
            _, u, v = expected(motion, k)
            assert np.array_equal(np.column_stack([file[f"vals_nod_var{i}"][k] for i in (1, 2, 3)]), u)
            assert np.array_equal(np.column_stack([file[f"vals_nod_var{i}"][k] for i in (4, 5, 6)]), v)
        assert np.allclose(file["vals_glo_var"][:, 0], motion.kinetic_energy.sum(axis=1), rtol=1e-14)
        blocks = [b"".join(row).split(b"\0")[0].decode() for row in file["eb_names"][:]]
        assert blocks[:3] == ["body 0 frame", "body 0 core", "body 0 frame"]
        kinds = [file[f"connect{b}"].elem_type for b in (1, 2, 3, 4)]
        assert kinds == ["HEX", "HEX", "WEDGE", "TRI3"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        read = meshio.read(path)
    assert np.allclose(read.points, expected(motion, 0)[0], rtol=0, atol=1e-15)
    values = [np.concatenate([np.atleast_1d(part) for part in read.cell_data[n]]) for n in ("body", "density", "heat")]
    check_cells(*values)
    reader = pyvista.get_reader(path)
    reader.set_active_time_point(2) if hasattr(reader, "set_active_time_point") else None
    whole = reader.read().combine(merge_points=False)
    assert whole.n_cells == sum(len(block.data) for block in read.cells)


def test_our_own_reader_takes_the_exodus_file_with_regions_and_fields(solid, tmp_path):
    ph.simulate(solid, SPIN, **SHORT).export_exodus(tmp_path / "solid.exo")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        by_field = ph.Body.from_volume_mesh(tmp_path / "solid.exo", "density")
        by_region = ph.Body.from_volume_mesh(tmp_path / "solid.exo", {"frame": STEEL, "core": FOAM})
    for again in (by_field, by_region):
        assert again.mass == pytest.approx(solid.mass, rel=1e-12)
        assert again.center_of_mass == pytest.approx(SPIN.position, rel=1e-12)


@pytest.mark.parametrize("kind", ["tetra10", "pyramid14", "wedge18", "hexahedron20", "hexahedron27"])
def test_quadratic_cells_have_the_node_order_of_exodus(kind, tmp_path):
    """The reader recognizes Exodus' order by its midpoints; linear maps keep volume and center of mass."""
    cell = CELL_TYPES[kind]
    mesh = meshio.Mesh(np.array(cell.reference) * (1.0, 2.0, 3.0), [(kind, [list(range(len(cell.reference)))])])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        body = ph.Body.from_volume_mesh(mesh, 1000.0)
        ph.simulate(body, SPIN, **SHORT).export_exodus(tmp_path / "cell.e")
        again = ph.Body.from_volume_mesh(tmp_path / "cell.e", 1000.0)
    assert again.mass == pytest.approx(body.mass, rel=1e-12)
    said = any("order of Exodus" in note for note in again.notes)
    assert said == ("Exodus" in FOREIGN_NODE_ORDERS.get(kind, {}))


def test_members_that_an_event_stopped_stay_where_they_stopped(tmp_path):
    @ph.event
    def ground(t, state, body, params):
        return state.position[2]

    up = ph.State(position=(0, 0, 1), velocity=[(0, 0, 1.0), (0, 0, 2.0)])
    weight = ph.shapes.box((1, 1, 1), mass=1.0)
    motion = ph.ensemble(weight, up, [ph.forces.gravity()], events=[ground(action="stop")], duration=0.8,
                         output_step=0.2, method="dop853")  # fmt: skip
    motion.export_xdmf(tmp_path / "thrown.xdmf")
    motion.export_exodus(tmp_path / "thrown.e")
    with h5py.File(tmp_path / "thrown.h5") as file:
        last = [file[f"position/{k}"][:8] for k in range(5)]
    assert np.isfinite(last).all()
    assert np.array_equal(last[4], last[3]) or np.array_equal(last[4], last[2])


# CSV ------------------------------------------------------------------------------------------------------------------
def test_csv_has_every_bit(motion, tmp_path):
    motion.export_csv(tmp_path / "three.csv")
    with (tmp_path / "three.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(motion.times) * 3
    for row in rows:
        k, body = int(np.flatnonzero(motion.times == float(row["time_s"]))[0]), int(row["body"])
        assert [float(row[f"position_{c}_m"]) for c in "xyz"] == motion.position[k, body].tolist()
        assert [float(row[f"quaternion_{c}"]) for c in "wxyz"] == motion.quaternion_wxyz[k, body].tolist()
        spin = [float(row[f"angular_velocity_body_{c}_rad_s"]) for c in "123"]
        assert spin == motion.angular_velocity_body[k, body].tolist()
        assert float(row["kinetic_energy_J"]) == motion.kinetic_energy[k, body]


def test_csv_of_one_body_is_read_by_numpy(tmp_path):
    motion = ph.simulate(ph.particle(2.0), SPIN, **SHORT)
    motion.export_csv(tmp_path / "one.csv")
    table = np.genfromtxt(tmp_path / "one.csv", delimiter=",", names=True)
    assert np.array_equal(table["time_s"], motion.times)
    assert np.array_equal(table["velocity_x_m_s"], motion.velocity[:, 0])


# Accidents ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("export", "name", "package"),
    [("export_xdmf", "x.xdmf", "h5py"), ("export_exodus", "x.e", "netCDF4"), ("export_csv", "x.csv", None)],
)
def test_wrong_endings_missing_packages_and_folders_are_errors(export, name, package, tmp_path, monkeypatch):
    motion = ph.simulate(ph.particle(2.0), SPIN, **SHORT)
    with pytest.raises(FileError, match="its name must end with"):
        getattr(motion, export)(tmp_path / "x.txt")
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="cannot be written"):
        getattr(motion, export)(tmp_path / "file" / name)
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
    if package is None:
        return
    real = builtins.__import__

    def without(wanted, *rest):
        if wanted == package:
            raise ImportError(f"No module named {package!r}")
        return real(wanted, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(FileError, match=r"pip install '.*\[mesh\]'"):
        getattr(motion, export)(tmp_path / name)


def test_a_stored_motion_has_the_fields_and_regions_of_its_cells(solid, tmp_path):
    motion = ph.simulate(solid, SPIN, **SHORT)
    motion.save(tmp_path / "solid.zarr")
    for number, each in enumerate((motion, ph.load(tmp_path / "solid.zarr"))):
        each.export_exodus(tmp_path / f"{number}.e")
    with netCDF4.Dataset(tmp_path / "0.e") as one, netCDF4.Dataset(tmp_path / "1.e") as other:
        for name in one.variables:
            assert np.array_equal(one[name][:], other[name][:]), name


def test_a_mesh_does_not_follow_a_center_of_mass_that_moves_within_it(tmp_path):
    """x + R (node - c(t)) by SciPy, and the velocities as differences of the positions."""
    cube = ph.Body.from_mesh(trimesh.creation.box((1, 1, 1)), mass=6.0)
    course = ph.mass_course(
        (0.0, 1.0),
        lambda t: 6 - 3 * t,
        lambda t: (0.1 * t, 0, 0.3 * t * t),
        exhaust_velocity=(0, 0, -9.0),
        nozzle=(0, 0, -1.0),
    )
    start, h = ph.State(velocity=(1, 0, 0), angular_velocity_body=(0.5, -2, 1)), 1e-4
    times = [0.0, 0.5 - h, 0.5, 0.5 + h, 1.0]
    motion = ph.simulate(cube, start, mass_course=course, duration=1.0, output_times=times, rtol=1e-12)
    motion.export_paraview(tmp_path / "cube.pvd")
    motion.export_gltf(tmp_path / "cube.gltf")
    reader, seen = pyvista.get_reader(tmp_path / "cube.pvd"), []
    for k, t in enumerate(reader.time_values):
        reader.set_active_time_value(t)
        mesh = reader.read()[0]
        seen.append((np.array(mesh.points), np.array(mesh.point_data["velocity"])))
        turn = Rotation.from_quat(motion.quaternion_wxyz[k], scalar_first=True)
        center = (0.1 * t, 0.0, 0.3 * t * t)
        assert np.allclose(mesh.points, motion.position[k] + turn.apply(cube.nodes - center), rtol=0, atol=1e-12)
        assert np.allclose(mesh.point_data["displacement"], mesh.points - seen[0][0], rtol=0, atol=1e-12)
    rates = (seen[3][0] - seen[1][0]) / (2 * h)
    assert np.allclose(seen[2][1], rates, rtol=0, atol=1e-6)
    assert not np.allclose(motion.velocity[2], rates.mean(axis=0), rtol=0, atol=0.1)  # that of the moving center


def test_the_keyframes_of_a_mesh_whose_center_of_mass_moves():
    cube = ph.shapes.box((1, 1, 1), mass=6.0)
    course = ph.mass_course((0.0, 1.0), (6.0, 3.0), ((0, 0, 0), (0, 0, 0.3)))
    motion = ph.simulate(cube, ph.State(angular_velocity_body=(1, 0, 0)), mass_course=course, duration=1.0)
    turn = Rotation.from_quat(motion.quaternion_wxyz[-1], scalar_first=True)
    there = compute_keyframes(motion, [0]).positions[-1, 0]
    assert np.allclose(there, motion.position[-1] - turn.apply((0, 0, 0.3)), rtol=0, atol=1e-12)
    assert any("moves within the body" in note for note in record_motion(motion).meta["notes"])
