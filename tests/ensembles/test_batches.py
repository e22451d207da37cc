"""An ensemble in batches has the bits of the whole at once, whatever acts, on one thread or several."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import polhode as ph
from polhode.ensembles import batches
from polhode.ensembles.batches import divide_members, run_in_batches
from polhode.ensembles.chunk_run import RunSettings, run_chunk
from polhode.ensembles.member_source import ArraySource
from polhode.errors import CancelledError, InputError, RunError
from polhode.integrate.driver import run_scenario
from polhode.integrate.run_result import Failure, RunResult
from polhode.integrate.traced_functions import trace_functions
from polhode.progress import listening

MEMBERS = 203
RNG = np.random.default_rng(5)
TENSORS = RNG.uniform(1.0, 2.0, (MEMBERS, 3))[..., None] * np.eye(3) + 0.1 * (1 - np.eye(3))
BODY = ph.Body(mass=RNG.uniform(1.0, 2.0, MEMBERS), inertia=TENSORS)
SOLID = ph.Body(mass=1.0, inertia=(1.0, 1.5, 2.0))
START = ph.State(
    position=RNG.normal(size=(MEMBERS, 3)) + (0.0, 0.0, 3.0),
    quaternion_wxyz=RNG.normal(size=(MEMBERS, 4)),
    velocity=RNG.normal(size=(MEMBERS, 3)),
    angular_velocity_body=RNG.normal(size=(MEMBERS, 3)),
)
SPINNING = ph.State(quaternion_wxyz=RNG.normal(size=(MEMBERS, 4)), angular_velocity_body=RNG.normal(size=(MEMBERS, 3)))
GRAVITY, DRAG = ph.forces.gravity(), ph.forces.quadratic_drag(RNG.uniform(0.0, 0.1, MEMBERS))
STEPS = {"step": 0.02, "method": "rk4"}


@ph.force
def wind(t, state, body, params):
    return (params[0] * ph.sin(t), 0.0, -params[1] * state.velocity[2]), (0.0, 0.0, 0.0)


@ph.force
def pole(t, state, body, params):
    """Infinite at a time."""
    return (1.0 / (t - params[0]), 0.0, 0.0), (0.0, 0.0, 0.0)


@ph.event
def landing(t, state, body, params):
    return state.position[2]


@ph.event
def apex(t, state, body, params):
    return state.velocity[2]


def rebound(t, state, body, params):
    return (0.0, 0.0, -1.5 * state.linear_momentum[2]), (0.0, 0.0, 0.0)


APEX, BOUNCE = apex(action="record"), landing(change=rebound, direction=-1, count=2)
PAIR = [ph.particle(RNG.uniform(1.0, 2.0, MEMBERS)), ph.particle(2.0)]
APART = [ph.State(position=RNG.normal(size=(MEMBERS, 3))), ph.State(position=(1.0, 0.0, 3.0))]
SPRING = ph.forces.spring_between(0, 1, RNG.uniform(1.0, 9.0, MEMBERS))
CASES = {
    "fixed steps": ((BODY, START, [GRAVITY, DRAG]), STEPS),
    "only final states": ((BODY, START, [GRAVITY, DRAG]), {**STEPS, "output_times": [1.0]}),
    "matrices": ((BODY, START, [GRAVITY, DRAG]), {**STEPS, "formulation": "momentum_matrix"}),
    "Euler angles": ((BODY, START, [GRAVITY]), {**STEPS, "formulation": "euler_angles", "largest_turn": np.inf}),
    "splitting": ((BODY, START, [GRAVITY, DRAG]), {"step": 0.02, "method": "splitting4"}),
    "adaptive": ((BODY, START, [GRAVITY, DRAG]), {"method": "dop853", "rtol": 1e-8}),
    "closed form": ((BODY, START, [GRAVITY]), {"method": "exact"}),
    "a function of the user": ((BODY, START, [GRAVITY, wind(RNG.normal(size=MEMBERS), 0.1)]), STEPS),
    "stopped": ((BODY, START, [GRAVITY, DRAG]), {"method": "dop853", "rtol": 1e-8, "events": [landing(), APEX]}),
    "stopped, final states": (
        (BODY, START, [GRAVITY, DRAG]),
        {"method": "dop853", "rtol": 1e-8, "events": [landing()], "output_times": [1.0]},
    ),
    "bounces": ((BODY, START, [GRAVITY, DRAG]), {"method": "dop853", "rtol": 1e-8, "events": [BOUNCE]}),
    "impulses": (
        (BODY, START, [ph.forces.impulse((0.0, 0.0, 1.0), np.repeat([0.2, 0.5, 0.7, 0.9], MEMBERS)[::4][:MEMBERS])]),
        STEPS,
    ),
    "system": ((PAIR, APART, [GRAVITY, SPRING]), STEPS),
    "system, adaptive": ((PAIR, APART, [GRAVITY, SPRING]), {"method": "dop853", "rtol": 1e-8, "events": [APEX]}),
    "pivot": ((BODY, SPINNING, [GRAVITY]), {**STEPS, "pivot": (0.0, 0.0, -1.0)}),
    "rotors": ((BODY, START, [GRAVITY]), {**STEPS, "rotors": [ph.rotor((1, 0, 0), RNG.uniform(0.01, 0.1, MEMBERS))]}),
}


@pytest.fixture
def small_batches(monkeypatch):
    """Ten batches or so, of an odd number of members."""
    monkeypatch.setattr(batches, "BATCH_BODIES", 21)
    monkeypatch.setattr(batches, "FEWEST_MEMBERS", 21)
    monkeypatch.setattr(batches, "BLOCK_MEMBERS", 21)


def scenario_of(name):
    given, settings = CASES[name]
    outputs = {} if "output_times" in settings else {"output_step": 0.25}
    return trace_functions(ph.Scenario(*given, duration=1.0, **outputs, **settings))


def plain_events(result):
    return [(c.time, c.name, c.body, c.member, c.ends, c.sample.tolist()) for c in result.crossings]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", CASES)
def test_batches_have_the_bits_of_the_whole_at_once(name, threads, small_batches):
    scenario = scenario_of(name)
    whole = run_scenario(scenario, False, 1)
    assert len(divide_members(scenario)) > 5
    result = run_in_batches(scenario, False, threads)
    assert result.samples.tobytes() == whole.samples.tobytes()
    assert np.array_equal(result.times, whole.times)
    assert result.columns == whole.columns
    assert sorted(plain_events(result)) == sorted(plain_events(whole))
    if name != "impulses":  # there it counts the steps of each group of members
        assert (result.steps, result.refused) == (whole.steps, whole.refused)


@pytest.mark.parametrize("name", ["stopped", "system, adaptive", "rolling"])
def test_members_that_are_taken_apart_and_joined_have_the_bits_of_the_whole(name):
    if name == "rolling":
        boxes = ph.shapes.box(RNG.uniform(0.1, 0.2, (40, 3)), mass=1.0)
        start = ph.State(position=(0.0, 0.0, 0.3), quaternion_wxyz=RNG.normal(size=(40, 4)))
        scenario = ph.Scenario(boxes, start, [GRAVITY], duration=0.4, output_step=0.1, contacts=[ph.floor(0.5, 0.2)])
        scenario = replace(scenario, method="exact", formulation="body_rates")
    else:
        scenario = scenario_of(name)
    count = scenario.members
    whole = run_scenario(scenario, False, 1)
    order = RNG.permutation(count)
    parts = [order[:7], order[7:9], order[9:]]
    joined = RunResult.concat([(own, whole.take(own)) for own in parts], scenario.times, count)
    assert joined.samples.tobytes() == whole.samples.tobytes()
    assert sorted(plain_events(joined)) == sorted(plain_events(whole))
    assert joined.steps == 3 * whole.steps
    twice = whole.take(np.array([5, 3, 5]))
    for i, member in enumerate((5, 3, 5)):
        alone = whole.take(member)
        assert twice.samples[:, i].tobytes() == alone.samples.tobytes()
        assert [e[:2] for e in plain_events(twice.take(i))] == [e[:2] for e in plain_events(alone)]
        assert all(c.member is None for c in alone.crossings)
    if name == "rolling":
        assert joined.contact.tobytes() == whole.contact.tobytes()
        assert joined.impact_totals.tobytes() == whole.impact_totals.tobytes()
        assert sorted(one.tobytes() for one in joined.impacts) == sorted(one.tobytes() for one in whole.impacts)
        assert len(twice.impacts) == sum(len(whole.take(member).impacts) for member in (5, 3, 5))
        assert set(whole.take(3).impacts["member"]) == {-1}


def test_a_failure_keeps_its_member_and_its_body():
    samples = np.zeros((2, 4, 3, 5))
    run = RunResult(np.arange(2.0), samples, None, 1, failure=Failure("why", 1.0, 3 * 2 + 1, samples[0, 0, 0]))
    assert run.take(np.array([3, 2])).failure.body == 3 + 1
    assert run.take(2).failure.body == 1
    assert run.take(slice(0, 2)).failure is None
    assert (
        RunResult.concat(
            [(slice(6, 10), run), (slice(0, 6), run.take(np.zeros(6, dtype=int)))], run.times, 10
        ).failure.body
        == 25
    )


def test_every_member_is_in_one_batch_and_batches_are_neither_small_nor_large():
    for members, threads in product((1, 7, 4096, 4097, 65_536, 1_000_003), (1, 2, 16)):
        start = ph.State(velocity=np.broadcast_to((1.0, 0.0, 0.0), (members, 3)))
        scenario = ph.Scenario(ph.particle(1.0), start, duration=1.0, output_times=[1.0], **STEPS)
        ranges = divide_members(scenario, threads)
        assert [a for a, _ in ranges] == [0, *(b for _, b in ranges)][:-1]
        assert ranges[-1][1] == members
        assert len(ranges) == 1 or min(b - a for a, b in ranges) >= 8
        assert max(b - a for a, b in ranges) <= 1.5 * batches.BATCH_BODIES
        if members > 8192:
            assert len(ranges) % threads == 0 or len(ranges) > 3 * threads


def test_a_member_in_contact_has_the_same_bits_in_whatever_chunk():
    count = 4096 + 40
    sides, heights = RNG.uniform(0.05, 0.2, (count, 3)), RNG.uniform(0.3, 0.4, count)
    sides[7] = heights[7] = 900.0  # contacts are measured by the largest body that runs with them
    start = ph.State(
        position=np.stack([0 * heights, 0 * heights, heights], axis=-1),
        quaternion_wxyz=RNG.normal(size=(count, 4)),
        angular_velocity_body=RNG.normal(size=(count, 3)),
    )
    box, floor = ph.shapes.box(sides, mass=1.0), ph.floor(0.5, 0.2)
    scenario = ph.Scenario(box, start, [GRAVITY], duration=0.4, output_step=0.1, contacts=[floor])
    source, settings = ArraySource(scenario), RunSettings(changes=(("method", "exact"), ("formulation", "body_rates")))
    whole, last = run_chunk(source, 0, count, settings), run_chunk(source, 4096, count, settings)
    assert whole.run_result.samples[:, 4096:].tobytes() == last.run_result.samples.tobytes()
    assert whole.run_result.contact[:, 4096:].tobytes() == last.run_result.contact.tobytes()
    late = whole.run_result.impacts[whole.run_result.impacts["member"] >= 4096]
    late["member"] -= 4096
    assert late.tobytes() == last.run_result.impacts.tobytes()
    assert np.array_equal(whole.run_result.impact_totals[4096:], last.run_result.impact_totals)


def test_a_member_with_events_along_a_closed_form_has_the_same_bits_in_whatever_chunk():
    count = 4096 + 20
    spins = RNG.normal(size=(count, 3))
    spins[7] = 500.0  # events are searched for in steps of the fastest body
    start = ph.State(position=RNG.uniform(0.1, 0.2, (count, 3)), angular_velocity_body=spins)
    scenario = ph.Scenario(
        SOLID, start, [GRAVITY], duration=0.3, output_step=0.1, method="exact", events=[landing(action="record")]
    )
    source = ArraySource(scenario)
    whole, last = run_chunk(source, 0, count, RunSettings()), run_chunk(source, 4096, count, RunSettings())
    assert whole.run_result.samples[:, 4096:].tobytes() == last.run_result.samples.tobytes()
    late = [c for c in whole.run_result.crossings if c.body >= 4096]
    assert [(c.body - 4096, c.time) for c in late] == [(c.body, c.time) for c in last.run_result.crossings]
    assert len(late) == 20


def test_a_member_by_taylor_series_has_the_same_bits_in_whatever_chunk():
    pytest.importorskip("heyoka")
    count = 4096 + 20
    start = ph.State(velocity=RNG.normal(size=(count, 3)), angular_velocity_body=RNG.normal(size=(count, 3)))
    forces = [GRAVITY, ph.forces.quadratic_drag(0.1)]
    scenario = ph.Scenario(SOLID, start, forces, duration=0.2, method="taylor")
    source = ArraySource(scenario)
    whole, last = run_chunk(source, 0, count, RunSettings()), run_chunk(source, 4096, count, RunSettings())
    assert whole.run_result.samples[:, 4096:].tobytes() == last.run_result.samples.tobytes()


def test_a_chunk_that_begins_inside_a_block_is_refused():
    source = ArraySource(scenario_of("fixed steps"))
    with pytest.raises(InputError, match="begins with a block"):
        run_chunk(source, 10, 20, RunSettings())


def test_the_first_member_that_fails_is_named_by_its_number_in_the_ensemble(small_batches):
    speeds = np.ones((MEMBERS, 3))
    speeds[[57, 150]] = 1e200
    with pytest.raises(RunError, match="member 57 became infinite") as caught:
        ph.ensemble(ph.particle(1.0), ph.State(velocity=speeds), [DRAG], duration=1.0, **STEPS)
    assert caught.value.body == 57
    failed = ~np.isfinite(caught.value.motion.position).all(axis=(0, 2))
    assert np.flatnonzero(failed).tolist() == [57, 150]


@pytest.mark.parametrize("method", [STEPS, {"method": "dop853"}], ids=["rk4", "dop853"])
def test_a_system_that_fails_is_named_by_its_member_and_body(method):
    pushes = pole(np.where(np.arange(10) == 7, 0.5, 5.0)).on(1)
    bodies, states = [ph.particle(1.0), ph.particle(1.0)], [ph.State(), ph.State((1, 0, 0))]
    forces = [ph.forces.spring_between(0, 1, 2.0), pushes]
    with pytest.raises(RunError, match=r"body [01] of member 7"):
        ph.ensemble(bodies, states, forces, duration=1.0, **method)


def test_an_error_in_one_batch_ends_the_others(small_batches):
    heard = []

    def stop(report):
        heard.append(report)
        if report.done > 0:
            raise CancelledError("enough")

    with pytest.raises(CancelledError, match="enough"), listening(stop):
        ph.ensemble(BODY, START, [GRAVITY, DRAG], duration=1.0, threads=2, **STEPS)
    assert sum(h.done > 0 for h in heard) <= 2


def test_progress_counts_members_with_their_rate_and_the_time_left(small_batches):
    heard = []
    with listening(heard.append):
        ph.ensemble(BODY, START, [GRAVITY, DRAG], duration=1.0, **STEPS)
    assert heard[0].done == 0
    assert heard[0].rate is None
    assert heard[-1].done == pytest.approx(MEMBERS)
    assert {(h.unit, h.total) for h in heard} == {("members", MEMBERS)}
    done = [h.done for h in heard]
    assert done == sorted(done)
    later = heard[len(heard) // 2]
    assert later.rate > 0
    assert later.time_left == pytest.approx((later.total - later.done) / later.rate)


def test_contacts_of_members_with_impulses_at_different_times_are_kept():
    ball, heights = ph.shapes.sphere(0.1, mass=1.0), np.linspace((0.0, 0.0, 0.2), (0.0, 0.0, 0.8), 4)
    kicks = ph.forces.impulse((0.3, 0.0, 0.0), [0.1, 0.2, 0.1, 0.2])
    settings = {"duration": 1.0, "output_step": 0.1, "contacts": [ph.floor(0.2)]}
    together = ph.ensemble(ball, ph.State(position=heights), [GRAVITY, kicks], **settings)
    for i, time in enumerate((0.1, 0.2, 0.1, 0.2)):
        kick = ph.forces.impulse((0.3, 0.0, 0.0), time)
        alone = ph.simulate(ball, ph.State(position=heights[i]), [GRAVITY, kick], **settings)
        assert np.array_equal(together.member(i).position, alone.position)
        assert np.array_equal(together.member(i).impacts.time, alone.impacts.time)
        assert np.array_equal(together.member(i).contact_forces, alone.contact_forces)
        assert together.impact_totals.count[i] == alone.impact_totals.count
