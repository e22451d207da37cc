"""What the page gets of contacts: surfaces, impacts, and samples on both sides of each impact."""

from __future__ import annotations

import numpy as np
import pytest

import polhode as ph
from bouncing_balls import RADIUS, many_balls, one_ball, system_of_balls
from polhode.web.closed_form_overlay import find_closed_form
from polhode.web.downsampling import refine_exact_motion, restrict_to_members
from polhode.web.motion_record import record_motion
from polhode.web.record_encoding import encode_record


@pytest.mark.parametrize("make", [one_ball, many_balls, system_of_balls])
def test_the_record_has_the_floor_and_the_impacts(make):
    motion = make()
    record = record_motion(motion)
    (patch,) = record.meta["patches"]
    assert (patch["name"], record.meta["contacts"]) == ("floor", ["floor"])
    assert np.abs(patch["corners"][:, 2]).max() == 0.0
    marked = motion.impacts.marked
    assert record.arrays["impact_time"].tolist() == marked.time.tolist()
    assert (record.arrays["impact_impulse"] == marked.impulse).all()
    assert set(record.arrays["impact_body"].tolist()) == set(range(motion.scenario.count))
    names = [force["name"] for force in record.meta["forces"]]
    assert names == ["gravity", "contact force"]
    assert {event["name"] for event in record.meta["events"]} == {"impact, floor"}
    assert len(encode_record(record)) > 0


def test_each_impact_has_a_sample_before_and_after_it():
    motion = one_ball(restitution=0.5, step=0.5)
    fine = refine_exact_motion(motion)
    at = np.searchsorted(fine.times, motion.impacts.time[:5])
    assert (fine.times[at] == motion.impacts.time[:5]).all()
    assert fine.velocity[at, 2] == pytest.approx(-0.5 * fine.velocity[at - 1, 2], rel=1e-12)
    assert fine.position[at, 2] == pytest.approx(RADIUS, abs=1e-12)


def test_members_shown_keep_their_impacts():
    some = restrict_to_members(many_balls(), np.array([0, 2]))
    assert set(some.impacts.member.tolist()) == {0, 1}
    assert some.impacts.of_member(1).time.tolist() == many_balls().impacts.of_member(2).time.tolist()
    assert some.impact_totals.count.shape == (2,)


def test_no_closed_form_is_drawn_over_contacts():
    assert find_closed_form(one_ball()) == "No closed form is known with contacts: floor."


def test_far_from_the_origin_points_are_relative_to_it():
    motion = one_ball()
    motion.run_result.samples[..., 0] += 1e7
    motion.run_result.impacts["point"][:, 0] += 1e7
    motion.recomputed_at = lambda times: motion
    record = record_motion(motion)
    assert record.meta["origin"][0] == pytest.approx(1e7, rel=1e-3)
    assert np.abs(record.arrays["impact_point"]).max() < 10
    assert np.abs(record.meta["patches"][0]["corners"]).max() < 10


def test_without_contacts_nothing_is_sent():
    record = record_motion(ph.simulate(ph.particle(1.0), ph.State(velocity=(1, 0, 0)), duration=1.0))
    assert (record.meta["patches"], record.meta["contacts"], record.meta["hasImpacts"]) == ([], [], False)
