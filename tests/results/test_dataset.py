"""The dataset and the table of a motion hold what its attributes hold; members can be chosen as from a list."""

from __future__ import annotations

import numpy as np
import pytest

import polhode as ph
from polhode.errors import InputError
from polhode.quantities.table import QUANTITIES

DISK = ph.shapes.cylinder(0.5, 0.1, mass=1.0)
TILTED = ph.State(quaternion_wxyz=(0.9, 0.3, 0.1, 0.0), angular_velocity_body=(0.0, 0.0, 20.0))


def make_top() -> ph.Motion:
    settings = {"duration": 1.0, "output_step": 0.1, "pivot": (0.0, 0.0, -0.5)}
    return ph.simulate(DISK, TILTED, [ph.forces.gravity()], **settings)


def make_members(count: int = 7) -> ph.Motion:
    spins = np.random.default_rng(1).normal((1.0, 0.0, 5.0), 0.3, (count, 3))
    start = ph.State(angular_velocity_body=spins, velocity=(1.0, 0.0, 3.0))
    return ph.ensemble(DISK, start, [ph.forces.gravity()], duration=1.0, step=0.01, method="rk4", output_step=0.25)


def make_system() -> ph.Motion:
    bodies = [ph.particle(1.0), ph.particle(2.0)]
    states = [ph.State(position=(0, 0, 0)), ph.State(position=(2, 0, 0), velocity=(0, 1, 0))]
    return ph.simulate(bodies, states, [ph.forces.mutual_gravity(1.0)], duration=1.0, step=0.01, output_step=0.5)


@pytest.mark.parametrize("make", [make_top, make_members, make_system])
def test_the_dataset_has_every_attribute_with_its_unit(make):
    motion = make()
    found = motion.dataset
    for name in QUANTITIES:
        if name in found:
            assert np.array_equal(found[name].values, getattr(motion, name)), name
            assert found[name].attrs["units"]
            assert found[name].attrs["long_name"]
    expected = {"velocity", "angular_velocity_body", "euler_angles", "kinetic_energy", "energy", "rotation_matrix"}
    assert expected <= set(found)
    assert ("reaction_force" in found) == (motion.scenario.pivot is not None)


def test_components_are_selected_by_name():
    found = make_top().dataset
    tilt = found["euler_angles"].sel(euler_angle="theta").values
    up = found["rotation_matrix"].sel(row="z", column="3").values
    assert np.cos(tilt) == pytest.approx(up, abs=1e-14)
    w = found["quaternion_wxyz"].sel(wxyz="w").values
    trace = sum(found["rotation_matrix"].sel(row=a, column=b).values for a, b in zip("xyz", "123", strict=True))
    assert 4 * w**2 - 1 == pytest.approx(trace, abs=1e-14)


def test_the_table_has_a_row_for_each_time_and_member():
    motion = make_members(3)
    table = motion.to_dataframe()
    assert table.index.names == ["time", "member"]
    assert len(table) == len(motion.times) * 3
    assert table.loc[(0.5, 2), "velocity_z"] == motion.velocity[2, 2, 2]
    assert table.attrs["units"]["velocity_z"] == "m s-1"
    assert table["energy"].to_numpy() == pytest.approx(motion.energy.ravel())
    assert list(motion.to_dataframe(["euler_angles"])) == ["phi", "theta", "psi"]


def test_the_energy_of_a_system_is_repeated_for_its_bodies():
    motion = make_system()
    table = motion.to_dataframe(["energy", "position"])
    assert table["energy"].unstack("body").to_numpy().tolist() == [[e, e] for e in motion.energy]


def test_an_unknown_quantity_is_named():
    with pytest.raises(InputError, match="no quantity 'speeed'"):
        make_top().to_dataframe(["speeed"])
    with pytest.raises(InputError, match=r"'reaction_force' \(this motion does not have it\)"):
        make_members().to_dataframe(["reaction_force"])
    with pytest.raises(InputError, match="not a string"):
        make_top().to_dataframe("position")


def test_members_are_chosen_by_number_slice_and_mask():
    motion = make_members()
    alone = ph.simulate(motion.scenario.take(5))
    assert np.array_equal(motion[5].quaternion_wxyz, alone.quaternion_wxyz)
    assert np.array_equal(motion[-2].position, motion[5].position)
    assert np.array_equal(motion[2:5].angular_velocity, motion.angular_velocity[:, 2:5])
    assert np.array_equal(motion[::3].angular_velocity, motion.angular_velocity[:, ::3])
    mask = np.arange(7) % 2 == 1
    assert np.array_equal(motion[mask].position, motion.position[:, mask])
    assert np.array_equal(motion[[0, -1]].position, motion.position[:, [0, 6]])
    assert motion[2:5].at(0.33).position == pytest.approx(motion.at(0.33).position[2:5], rel=0, abs=0)
    assert [len(one.times) for one in motion] == [5] * 7
    assert bool(motion)


def test_chosen_members_keep_their_events_and_impacts():
    start = ph.State(position=[(0, 0, h) for h in (0.5, 1.0, 2.0, 3.0)])
    ball = ph.shapes.sphere(0.1, mass=1.0)
    motion = ph.ensemble(
        ball, start, [ph.forces.gravity()], contacts=[ph.floor(restitution=0.5)], duration=0.7, output_step=0.1
    )
    chosen = motion[[1, 3]]
    assert np.unique(chosen.impacts.member).tolist() == [0]
    first = motion.impacts.time[motion.impacts.member == 1][0]
    assert chosen.impacts.time[0] == first == pytest.approx(np.sqrt(2 * 0.9 / 9.80665))

    @ph.event
    def down(t, state, body, params):
        return state.position[2]

    stopped = ph.ensemble(ph.particle(1.0), start, [ph.forces.gravity()], events=[down()], duration=1.0)
    falls = {c.body: c.time for c in stopped.crossings}
    assert {c.body: c.time for c in stopped[1:].crossings} == {b - 1: t for b, t in falls.items() if b}


def test_what_is_no_member_is_a_sentence():
    motion = make_members()
    with pytest.raises(IndexError, match="members 0 to 6"):
        motion[7]
    with pytest.raises(InputError, match="positive step"):
        motion[::-1]
    with pytest.raises(InputError, match="increasing"):
        motion[[3, 1]]
    with pytest.raises(InputError, match="no member was chosen"):
        motion[7:]
    with pytest.raises(InputError, match="a mask of members needs 7 values"):
        motion[np.array([True, False])]
    with pytest.raises(InputError, match="this motion is none"):
        make_top()[0]
    with pytest.raises(InputError, match="has no members"):
        iter(make_top())
