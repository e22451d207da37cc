"""Impacts and contact forces of a motion.  But for one test the motions are bouncing balls in closed form."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import polhode as ph
from bouncing_balls import BALL, MASS, G, many_balls, one_ball, system_of_balls
from polhode.errors import FileError, InputError

HEAD = ["time (s)", "body", "surface", "kind", "normal (N s)", "tangential (N s)", "energy lost (J)"]
MOTIONS = {"one body": one_ball, "ensemble": many_balls, "system": system_of_balls}
each_motion = pytest.mark.parametrize("make", MOTIONS.values(), ids=MOTIONS.keys())


# The table ------------------------------------------------------------------------------------------------------------
def test_rows_and_columns_are_those_of_the_closed_form():
    impacts = one_ball(restitution=0.5, height=1.0).impacts
    first, speed = impacts[0], np.sqrt(2 * G)
    assert first.time == np.sqrt(2 / G)
    assert (first.body, first.other, first.member, first.surface, first.kind) == (0, None, None, "floor", "slip")
    assert first.normal.tolist() == [0.0, 0.0, 1.0]
    assert first.normal_impulse == pytest.approx(1.5 * MASS * speed, rel=1e-15)
    assert first.energy_lost == pytest.approx(0.75 * MASS * G, rel=1e-15)
    assert impacts.normal_impulse[1] / impacts.normal_impulse[0] == pytest.approx(0.5, rel=1e-15)
    assert impacts.impulse[0].tolist() == [0.0, 0.0, first.normal_impulse]
    assert impacts[-1].kind == "settle"
    assert [one.time for one in impacts] == impacts.time.tolist()


@pytest.mark.parametrize("restitution", [0.5, 0.8])
def test_a_computed_ball_has_the_rows_of_the_closed_form(restitution):
    known = one_ball(restitution=restitution)
    found = ph.simulate(known.scenario)
    for name in ("time", "normal_impulse", "energy_lost", "point"):
        a, b = (getattr(motion.impacts[:8], name) for motion in (found, known))
        assert a == pytest.approx(b, rel=1e-11, abs=1e-12), name
    assert found.position == pytest.approx(known.position, abs=1e-9)
    assert found.impact_totals.energy_lost == pytest.approx(known.impact_totals.energy_lost, rel=1e-6)
    assert found.contact_forces[-1] == pytest.approx(known.contact_forces[-1], rel=1e-12, abs=1e-12)
    assert found.contact_state[-1] == known.contact_state[-1]


def test_all_energy_of_the_fall_is_lost_when_it_rests():
    motion = one_ball(restitution=0.5, height=1.0, vx=0.0)
    count, lost, _ = motion.impact_totals
    assert (count, lost) == (len(motion.impacts), pytest.approx(MASS * G, rel=1e-14))


def test_slices_and_masks_give_tables():
    impacts = one_ball().impacts
    assert len(impacts[:3]) == 3
    assert impacts[impacts.kind == "settle"].time.tolist() == [impacts.time[-1]]
    assert impacts.on_surface("floor").time.tolist() == impacts.time.tolist()
    with pytest.raises(InputError, match="no contact is named 'flor': did you mean 'floor'"):
        impacts.on_surface("flor")
    with pytest.raises(IndexError):
        impacts[len(impacts)]


def test_pictures_mark_strong_impacts_and_the_last():
    """Each impulse is half the one before: the first ten are above a thousandth of the largest."""
    marked = one_ball(restitution=0.5).impacts.marked
    assert marked.kind.tolist() == ["slip"] * 10 + ["settle"]
    assert len(one_ball(duration=0.3).impacts.marked) == 0


def test_the_printed_table_is_short():
    text = str(one_ball(restitution=0.9, duration=6.0).impacts).splitlines()
    assert len(text) == 13
    assert [cell.strip() for cell in text[0].split("  ") if cell] == HEAD
    assert "0.451600756" in text[1]
    assert text[6] == "..."
    assert text[-1].endswith("J lost")
    assert str(one_ball(duration=0.3).impacts) == "impacts: none"


def test_points_of_one_impact_count_as_one():
    motion = one_ball()
    motion.run_result.impacts["time"][:4] = motion.run_result.impacts["time"][0]
    count = len(motion.impacts)
    assert f"{count} points of contact in {count - 3} impacts" in repr(motion.impacts)


# Loads at the outputs ------------------------------------------------------------------------------------------------
def test_a_ball_at_rest_is_held_by_its_weight():
    motion = one_ball(vx=0.3)
    assert motion.contact_forces[-1].tolist() == [0.0, 0.0, MASS * G]
    assert motion.contact_torques.shape == motion.position.shape
    assert (motion.contact_state[0], motion.contact_state[-1]) == ("flight", "sliding")
    assert (motion.contact_points[0], motion.contact_points[-1]) == (0, 1)


@each_motion
def test_shapes_are_those_of_positions(make):
    motion = make()
    assert motion.contact_forces.shape == motion.contact_torques.shape == motion.position.shape
    assert motion.contact_state.shape == motion.contact_points.shape == motion.position.shape[:-1]
    assert np.shape(motion.impact_totals.count) == ((3,) if motion.axis == "member" else ())


def test_the_totals_of_a_system_are_those_of_all_its_rows():
    motion = system_of_balls()
    assert motion.impact_totals.count == len(motion.impacts)
    assert motion.impact_totals.energy_lost == pytest.approx(motion.impacts.energy_lost.sum(), rel=1e-14)
    assert "lost: 29.4 J at impacts, 0 J by friction" in motion.audit()["energy"].reason


def test_a_member_keeps_its_own_impacts():
    motion = many_balls()
    for i in range(3):
        own = motion.member(i)
        assert own.impacts.time.tolist() == motion.impacts.of_member(i).time.tolist()
        assert own.impacts.member.tolist() == [-1] * len(own.impacts)
        assert own.contact_forces.tolist() == motion.contact_forces[:, i].tolist()
        assert own.impact_totals.energy_lost == motion.impact_totals.energy_lost[i]


def test_totals_remain_where_rows_were_not_kept():
    motion = many_balls()
    motion.run_result.impacts = motion.run_result.impacts[:0]
    assert "the rows were not kept" in repr(motion.impacts)
    assert motion.impact_totals.count.tolist() == [14, 13, 14]


def test_without_contacts_a_sentence():
    motion = ph.simulate(BALL, duration=1.0, method="exact")
    for name in ("impacts", "contact_forces", "contact_torques", "contact_state", "contact_points", "impact_totals"):
        with pytest.raises(InputError, match=r"computed without contacts. Simulate with contacts=\[ph.floor"):
            getattr(motion, name)


# Copies and files -----------------------------------------------------------------------------------------------------
def assert_same_contacts(one, other):
    assert (one.impacts.rows == other.impacts.rows).all()
    assert one.impacts.rows.dtype == other.impacts.rows.dtype
    assert (one.contact_forces == other.contact_forces).all()
    assert (one.contact_torques == other.contact_torques).all()
    assert (one.contact_state == other.contact_state).all()
    assert np.array_equal(one.impact_totals, other.impact_totals)


@each_motion
def test_impacts_survive_pickling(make):
    motion = make()
    assert_same_contacts(pickle.loads(pickle.dumps(ph.Motion(motion.scenario, motion.run_result))), motion)


@each_motion
def test_impacts_come_back_from_the_disk(make, tmp_path):
    motion = make()
    motion.save(tmp_path / "balls.zarr")
    loaded = ph.load(tmp_path / "balls.zarr")
    assert_same_contacts(loaded, motion)
    assert str(loaded.impacts) == str(motion.impacts)
    assert str(loaded.audit()) == str(motion.audit())


def test_a_motion_without_impacts_comes_back(tmp_path):
    motion = one_ball(duration=0.3)
    motion.save(tmp_path / "falling.zarr")
    loaded = ph.load(tmp_path / "falling.zarr")
    assert len(loaded.impacts) == 0
    assert_same_contacts(loaded, motion)


@pytest.mark.parametrize("array", ["impact_computed", "contact_computed", "impact_totals_computed"])
def test_damaged_contacts_are_refused(array, tmp_path):
    one_ball().save(tmp_path / "ball.zarr")
    (chunk,) = (path for path in (tmp_path / "ball.zarr" / array).iterdir() if path.name != "zarr.json")
    chunk.unlink()
    with pytest.raises(FileError, match="is damaged"):
        ph.load(tmp_path / "ball.zarr")


def test_the_dataset_names_units_and_kinds():
    found = many_balls().dataset
    assert found.contact_forces.dims == ("time", "member", "axis")
    assert found.impact_point.dims == ("impact", "axis")
    assert (found.impact_normal_impulse.units, found.contact_torques.units) == ("N s", "N m")
    assert set(found.impact_kind.values.tolist()) == {"slip", "settle"}
    assert set(found.impact_member.values.tolist()) == {0, 1, 2}
    assert "impact_time" not in one_ball(duration=0.3).dataset
    assert "impact_member" not in one_ball().dataset


# The audit ------------------------------------------------------------------------------------------------------------
def test_the_audit_names_the_energy_lost():
    motion = one_ball(restitution=0.5, height=1.0, vx=0.3)
    energy = motion.audit()["energy"]
    assert not energy.conserved
    assert energy.departure == pytest.approx(MASS * G, rel=1e-12)
    assert energy.reason == "lost: 19.6 J at impacts, 0 J by friction in sustained contact"
    assert "on average 22.9 J at impacts" in many_balls().audit()["energy"].reason


def test_elastic_impacts_conserve_energy():
    energy = one_ball(restitution=1.0).audit()["energy"]
    assert energy.conserved
    assert energy.relative < 1e-14
    assert energy.reason == "every force has a potential; the contacts lose no energy"


def test_energy_is_conserved_before_the_first_impact():
    assert one_ball(duration=0.3).audit()["energy"].conserved


def test_momentum_is_not_conserved_where_the_floor_acts():
    audit = one_ball().audit()
    assert not audit["linear momentum"].conserved
    assert audit["linear momentum"].reason == "gravity, floor can change it"
    assert not audit["angular momentum"].conserved
