"""Bodies are frozen: neither their arrays nor the caller's can change them; compared with their earlier values."""

from __future__ import annotations

import copy
import pickle
from dataclasses import fields, replace

import numpy as np
import pytest
import trimesh
from scipy.spatial.transform import Rotation

import polhode as ph

TURN = Rotation.from_euler("xyz", (0.4, -1.0, 2.0))
BODIES = {
    "moments": lambda: ph.Body(1.0, (1, 2, 2.5)),
    "tensor": lambda: ph.Body(1.0, np.diag((1.0, 2.0, 2.5)), np.ones(3), volume=np.array(1.0)),
    "members": lambda: ph.Body(np.ones(4), np.ones((4, 3)), volume=np.ones(4), area=np.ones(4)),
    "one member": lambda: ph.Body(np.ones(1), np.ones((1, 3, 3)) * np.eye(3)),
    "box": lambda: ph.shapes.box(np.array((1.0, 2.0, 3.0)), mass=1.0).turn(TURN).move((1, 2, 3)),
    "boxes": lambda: ph.shapes.box(np.ones((3, 3)), mass=np.ones(3)).mirror((1, 2, 3)),
    "mesh": lambda: ph.Body.from_mesh(trimesh.creation.box((1, 2, 3)), density=1.0),
    "particles": lambda: ph.Body.from_particles(np.ones(4), np.eye(4)[:, :3]),
}


def arrays_of(body):
    """Every array that the body keeps, by name."""
    found = {f.name: getattr(body, f.name) for f in fields(body)}
    for i, part in enumerate(body.parts):
        found |= {f"part {i} linear": part.linear, f"part {i} offset": part.offset}
        kept = part.source.sizes if hasattr(part.source, "sizes") else vars(part.source)
        found |= {f"part {i} {name}": value for name, value in kept.items()}
    for i, array in enumerate(body.diagonalized):
        found[f"diagonalized {i}"] = array
    return {name: value for name, value in found.items() if isinstance(value, np.ndarray)}


@pytest.mark.parametrize("make", BODIES.values(), ids=BODIES.keys())
def test_no_array_of_a_body_can_be_written(make):
    body = make()
    ways = (body, replace(body, mass=2.0), copy.copy(body), copy.deepcopy(body), pickle.loads(pickle.dumps(body)))
    for same in ways:
        arrays = arrays_of(same)
        assert {"center_of_mass", "inertia_body", "principal_moments", "_axes"} <= arrays.keys()
        for name, array in arrays.items():
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 5.0
            assert array.base is None or not array.base.flags.writeable, name
            if same is not ways[1] or name != "mass":
                assert np.array_equal(array, arrays_of(body)[name]), name


def test_the_callers_arrays_stay_the_callers():
    mass, tensor, center, volume = np.ones(2), np.tile(np.eye(3), (2, 1, 1)), np.zeros(3), np.ones(2)
    moments, listed = np.ones(3), [1.0, 1.0, 1.0]
    bodies = [ph.Body(mass, tensor, center, volume=volume), ph.Body(1.0, moments), ph.Body(1.0, listed)]
    tensor_of_one = np.eye(3)
    bodies.append(ph.Body(1.0, tensor_of_one))
    sides = np.ones(3)
    box = ph.shapes.box(sides, mass=1.0)
    for given in (mass, tensor, center, volume, moments, sides, tensor_of_one):
        given[...] = 7.0  # they can still be written
    listed[0] = 7.0
    assert bodies[0].mass.tolist() == bodies[0].volume.tolist() == [1.0, 1.0]
    assert bodies[0].center_of_mass.tolist() == [0.0, 0.0, 0.0]
    for body in bodies:
        assert np.array_equal(np.broadcast_to(np.eye(3), body.inertia_body.shape), body.inertia_body)
        again = replace(body, center_of_mass=(1, 0, 0))  # rebuilt from its fields
        assert np.array_equal(again.inertia_body, body.inertia_body)
    assert box.mesh().volume == pytest.approx(1.0)
    with pytest.raises(TypeError):
        box.parts[0].source.sizes["sides"] = sides


def test_a_mesh_can_be_changed_after_it_was_given_or_taken():
    given = trimesh.creation.box((1, 1, 1))
    body = ph.Body.from_mesh(given, density=1.0)
    given.vertices *= 2
    taken = body.mesh()
    taken.vertices *= 3
    taken.faces[...] = taken.faces[:, ::-1]
    body.nodes[...] = 0.0
    assert body.mesh().volume == pytest.approx(1.0)


@pytest.mark.parametrize("members", [1, 2, 40])
def test_frozen_ensembles_move_as_their_members(members):
    """The engines write into nothing that the body keeps; alone, each member goes the same way."""
    rng = np.random.default_rng(1)
    masses, sides = rng.uniform(1, 2, members), rng.uniform(1, 2, (members, 3))
    state = ph.State(angular_velocity_body=(0.3, 4.0, 0.2))
    settings = {"duration": 0.3, "step": 0.01, "method": "rk4"}
    forces = [ph.forces.gravity(), ph.forces.quadratic_drag(0.1)]
    many = ph.shapes.box(sides, mass=masses)
    before = pickle.dumps(arrays_of(many))
    together = ph.ensemble(many, state, forces, **settings)
    assert pickle.dumps(arrays_of(many)) == before
    alone = ph.simulate(ph.shapes.box(sides[-1], mass=masses[-1]), state, forces, **settings)
    assert together.position[-1, -1] == pytest.approx(alone.position[-1], rel=1e-14)
