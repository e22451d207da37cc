"""A stored motion keeps what its bodies look like, and every bit of its numbers."""

from __future__ import annotations

import json

import meshio
import numpy as np
import pytest
import trimesh
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.errors import FileError
from polhode.massprops.appearance import appearance_of
from polhode.scenario.members import select_body_members

# The laws as they stand give the same bits as compiled ones, and need no compilation.
pytestmark = pytest.mark.filterwarnings("ignore:engine='python'")
SPIN = ph.State(position=(1, 2, 3), angular_velocity_body=(0.1, 5.0, 0.1))
SHORT = {"duration": 0.5, "output_step": 0.1, "method": "exact", "engine": "python"}
KNOT = trimesh.creation.torus(1, 0.3, major_sections=12, minor_sections=8)
TURN = Rotation.from_rotvec((0.1, 0.5, -0.7))
BRACKET = ph.shapes.prism([(0, 0), (4, 0), (4, 1), (1, 1), (1, 3), (0, 3)], 2.0, density=1.0)
TETRAHEDRA = meshio.Mesh(
    [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1.0)], [("tetra", [(0, 1, 2, 3), (1, 4, 2, 3)])]
)

BODIES = {
    "mesh": (ph.Body.from_mesh(KNOT, density=2.0), "mesh"),
    "turned mesh": (ph.Body.from_mesh(KNOT, density=2.0).turn(TURN).move((1, 0, 0)), "mesh"),
    "volume mesh": (ph.Body.from_volume_mesh(TETRAHEDRA, density=2.0), "mesh"),
    "shape": (ph.shapes.box((0.1, 0.4, 0.9), mass=10.0), "shape"),
    "shape by corners": (BRACKET, "shape"),
    "shell": (ph.shapes.spherical_shell(1.0, mass=2.0), "shape"),
    "assembly with a hole": (
        ph.shapes.box((4, 4, 4), density=1.0)
        .subtract(ph.shapes.sphere(0.5, density=1.0).move((1, 0, 0)))
        .join(ph.shapes.cone(1.0, 2.0, density=3.0).move((0, 0, 3))),
        "shape",
    ),
    "mixed": (ph.Body.from_mesh(KNOT, density=2.0).join(ph.shapes.sphere(0.3, mass=1.0)), "mesh"),
    "numbers": (ph.Body(mass=1.0, inertia=(1.0, 1.1, 1.5)), "ellipsoid"),
    "particle": (ph.particle(2.0), "particle"),
}


def stored(motion, folder):
    motion.save(folder / "motion.zarr")
    return ph.load(folder / "motion.zarr")


def assert_same_look(one, other):
    a, b = appearance_of(one), appearance_of(other)
    assert a.kind == b.kind
    assert np.array_equal(a.surface.vertices, b.surface.vertices)
    assert np.array_equal(a.surface.faces, b.surface.faces)


def assert_same_numbers(one, other):
    for name in ("times", "position", "quaternion_wxyz", "linear_momentum", "angular_momentum"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    for a, b in zip(one.scenario.bodies, other.scenario.bodies, strict=True):
        for name in ("mass", "inertia_body", "principal_moments", "_axes", "center_of_mass", "volume", "area"):
            assert np.array_equal(getattr(a, name), getattr(b, name)), name
    assert one.scenario.as_mapping() == other.scenario.as_mapping()


@pytest.mark.parametrize("name", BODIES)
def test_a_body_comes_back_with_its_appearance(name, tmp_path):
    body, kind = BODIES[name]
    motion = ph.simulate(body, SPIN, **SHORT)
    loaded = stored(motion, tmp_path)
    assert appearance_of(loaded.scenario.body).kind == kind
    assert_same_look(loaded.scenario.body, body)
    assert_same_numbers(loaded, motion)
    t = float(motion.times[2]) + 0.01
    assert np.array_equal(loaded.at(t).quaternion_wxyz, motion.at(t).quaternion_wxyz)
    for part, own in zip(loaded.scenario.body.parts, body.parts, strict=True):
        assert (part.is_hole, part.is_mixed, type(part.source)) == (own.is_hole, own.is_mixed, type(own.source))
        assert not part.linear.flags.writeable
    nodes = body.nodes
    assert (loaded.scenario.body.nodes is None) == (nodes is None)
    assert nodes is None or np.array_equal(loaded.scenario.body.nodes, nodes)


def test_the_bodies_of_a_system_come_back_and_share_what_they_shared(tmp_path):
    knot = BODIES["mesh"][0]
    bodies = [knot, ph.particle(1.0), BODIES["shape"][0], knot]
    motion = ph.simulate(bodies, [SPIN] * 4, **SHORT)
    loaded = stored(motion, tmp_path)
    for one, own in zip(loaded.scenario.bodies, bodies, strict=True):
        assert_same_look(one, own)
    assert_same_numbers(loaded, motion)
    sources = json.loads((tmp_path / "motion.zarr" / "zarr.json").read_text())["attributes"]["polhode_archive"]
    assert len(sources["run"]["appearance"]["sources"]) == 2


def test_a_hundred_bodies_come_back(tmp_path):
    bodies = [ph.shapes.sphere(1.0 + k, mass=1.0) for k in range(100)]
    loaded = stored(ph.simulate(bodies, [SPIN] * 100, **SHORT), tmp_path)
    assert_same_look(loaded.scenario.bodies[70], bodies[70])


@pytest.mark.parametrize("count", [3, 80])
def test_the_members_of_an_ensemble_come_back_each_with_its_size(count, tmp_path):
    sides = np.random.default_rng(1).uniform(1, 2, (count, 3))
    motion = ph.ensemble(ph.shapes.box(sides, mass=1.0), SPIN, **SHORT)
    loaded = stored(motion, tmp_path)
    assert_same_numbers(loaded, motion)
    for i in (0, count - 1):
        assert_same_look(select_body_members(loaded.scenario.body, i), ph.shapes.box(sides[i], mass=1.0))


def test_members_with_one_mesh_come_back_with_it(tmp_path):
    knot = BODIES["mesh"][0]
    motion = ph.ensemble(knot, SPIN.replace(position=np.zeros((5, 3))), **SHORT)
    assert_same_look(stored(motion, tmp_path).scenario.body, knot)


def test_a_loaded_motion_keeps_its_appearance_when_stored_again(tmp_path):
    body = BODIES["assembly with a hole"][0]
    loaded = stored(ph.simulate(body, SPIN, **SHORT), tmp_path)
    assert_same_look(stored(loaded, tmp_path).scenario.body, body)


def test_a_damaged_mesh_is_noticed(tmp_path):
    motion = ph.simulate(BODIES["mesh"][0], SPIN, **SHORT)
    motion.save(tmp_path / "motion.zarr")
    (first, *_) = sorted((tmp_path / "motion.zarr").glob("scenario_array_*"))
    for chunk in first.glob("c.*"):
        chunk.unlink()
    with pytest.raises(FileError, match="is damaged"):
        ph.load(tmp_path / "motion.zarr")
