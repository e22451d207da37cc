"""ParaView files, read back by meshio and an XML parser, against the motion that they were made from."""

from __future__ import annotations

import warnings
from xml.etree import ElementTree

import meshio
import numpy as np
import pytest
from scipy.spatial.distance import pdist

import polhode as ph
from polhode.errors import FileError
from polhode.io import paraview
from polhode.massprops.appearance import appearance_of

# The laws as they stand give the same bits as compiled ones, and need no compilation.
pytestmark = pytest.mark.filterwarnings("ignore:engine='python'")
BOX = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0).move((0.3, 0.0, 0.0))
WEIGHT = ph.Body(mass=1.0, inertia=(1.0, 1.1, 1.5))
SPIN = ph.State(position=(1, 2, 3), velocity=(0.5, 0, -1), angular_velocity_body=(0.1, 5.0, 0.1), time=2.0)
AWAY = ph.State(position=(9, 2, 3), velocity=(0, 7, 0), angular_velocity_body=(3.0, 0.2, 0.1), time=2.0)
SHORT = {"duration": 0.5, "output_step": 0.1, "method": "exact", "engine": "python"}


def one():
    return ph.simulate(BOX, SPIN, **SHORT)


def read(path):
    """The times, and meshio's meshes."""
    root = ElementTree.parse(path).getroot()
    assert (root.tag, root.get("type")) == ("VTKFile", "Collection")
    listed = root.findall("Collection/DataSet")
    meshes = [meshio.read(path.parent / entry.get("file")) for entry in listed]
    return np.array([float(entry.get("timestep")) for entry in listed]), meshes


def test_places_velocities_and_ways_are_the_motions_own(tmp_path):
    motion = one()
    motion.export_paraview(tmp_path / "spin.pvd")
    times, meshes = read(tmp_path / "spin.pvd")
    surface = appearance_of(BOX).surface
    assert (times == motion.times).all()
    assert [p.name for p in sorted((tmp_path / "spin").iterdir())] == [f"spin_000{k}.vtu" for k in range(6)]
    for k, mesh in enumerate(meshes):
        assert np.array_equal(mesh.points, motion.points(surface.vertices)[k])
        assert np.array_equal(mesh.point_data["velocity"], motion.point_velocities(surface.vertices)[k])
        assert np.array_equal(mesh.point_data["displacement"], motion.displacements(surface.vertices)[k])
        assert np.array_equal(mesh.cells_dict["triangle"], surface.faces)
        assert (mesh.cell_data["body"][0] == 0).all()
    assert (meshes[0].point_data["displacement"] == 0).all()
    moved = meshes[4].points - meshes[0].points
    assert np.allclose(meshes[4].point_data["displacement"], moved, rtol=0, atol=1e-14)


def test_the_bodies_are_rigid_and_told_apart(tmp_path):
    motion = ph.simulate([BOX, WEIGHT, ph.particle(2.0)], [SPIN, AWAY, AWAY], **SHORT)
    motion.export_paraview(tmp_path / "three.pvd")
    _, meshes = read(tmp_path / "three.pvd")
    bodies = meshes[0].cell_data["body"][0]
    assert np.unique(bodies).tolist() == [0, 1, 2]
    for body in range(3):
        corners = np.unique(meshes[0].cells_dict["triangle"][bodies == body])[:200]
        apart = [pdist(mesh.points[corners]) for mesh in meshes]
        assert all(np.abs(each - apart[0]).max() < 1e-12 for each in apart)
        surface = appearance_of(motion.scenario.bodies[body]).surface.vertices[: len(corners)]
        if body < 2:
            assert np.array_equal(meshes[3].points[corners], motion.points(surface)[3, body])


def test_velocities_are_the_rates_of_the_places(tmp_path):
    h = 1e-4
    near = ph.simulate(BOX, SPIN, **{**SHORT, "output_step": None, "output_times": [2.3 - h, 2.3, 2.3 + h]})
    near.export_paraview(tmp_path / "near.pvd")
    _, (before, now, after) = read(tmp_path / "near.pvd")
    for points in (lambda mesh: mesh.points, lambda mesh: mesh.point_data["displacement"]):
        rate = (points(after) - points(before)) / (2 * h)
        assert np.allclose(rate, now.point_data["velocity"], rtol=0, atol=1e-6)


def test_members_have_their_numbers_and_go_when_an_event_stops_them(tmp_path):
    @ph.event
    def ground(t, state, body, params):
        return state.position[2]

    up = ph.State(position=(0, 0, 1), velocity=[(0, 0, 1.0), (0, 0, 2.0)])
    motion = ph.ensemble(
        WEIGHT, up, [ph.forces.gravity()], events=[ground(action="stop")], duration=0.8, output_step=0.2, rtol=1e-6,
        method="dop853", engine="python",
    )  # fmt: skip
    motion.export_paraview(tmp_path / "thrown.pvd")
    _, meshes = read(tmp_path / "thrown.pvd")
    there = [np.unique(mesh.cell_data["body"][0]).tolist() for mesh in meshes]
    assert there == [[0, 1], [0, 1], [0, 1], [1]]
    assert len(motion.times) == 5


# Accidents ----------------------------------------------------------------------------------------------------------
def test_an_earlier_motion_is_replaced_but_nothing_of_others(tmp_path):
    path = tmp_path / "new folder" / "spin.pvd"
    one().export_paraview(path)
    ph.simulate(BOX, SPIN, **{**SHORT, "output_step": 0.25}).export_paraview(str(path))
    assert len(read(path)[1]) == len(list((path.parent / "spin").iterdir())) == 3
    assert sorted(p.name for p in path.parent.iterdir()) == ["spin", "spin.pvd"]
    (path.parent / "spin" / "letter.txt").write_text("dear")
    with pytest.raises(FileError, match=r"contains letter.txt, which is not one of them: choose another name"):
        one().export_paraview(path)
    assert len(read(path)[1]) == 3


def test_an_interrupted_writing_leaves_the_old_files(tmp_path, monkeypatch):
    path = tmp_path / "spin.pvd"
    one().export_paraview(path)
    whole = paraview.write_vtu
    written = []

    def interrupted(*arguments):
        if len(written) == 2:
            raise OSError("the disk is full")
        written.append(arguments)
        whole(*arguments)

    monkeypatch.setattr(paraview, "write_vtu", interrupted)
    with pytest.raises(FileError, match="the disk is full"):
        one().export_paraview(path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["spin", "spin.pvd"]
    assert len(read(path)[1]) == 6


def test_a_wrong_ending_and_a_folder_that_is_none_are_errors(tmp_path):
    with pytest.raises(FileError, match=r"its name must end with .pvd"):
        one().export_paraview(tmp_path / "spin.vtu")
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="cannot be written"):
        one().export_paraview(tmp_path / "file" / "spin.pvd")


def test_a_failed_member_is_left_out_with_a_warning(tmp_path):
    many = ph.ensemble(BOX, SPIN.replace(position=np.zeros((3, 3))), **SHORT)
    many.run_result.samples[2:, 1] = np.nan
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        many.export_paraview(tmp_path / "rest.pvd")
    assert "member 1 has failed and is left out" in str(said[0].message)
    assert all(np.unique(mesh.cell_data["body"][0]).tolist() == [0, 2] for mesh in read(tmp_path / "rest.pvd")[1])
