"""Timelines against masks over the output times, and what an integrator keeps against its own attributes."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import polhode as ph
from polhode.integrate.outputs import Outputs
from polhode.integrate.run_plan import RunPlan
from polhode.integrate.run_result import EventRecord, Failure
from polhode.integrate.run_state import Log, RunState, events_of_rows, rows_of_events
from polhode.integrate.timeline import Timeline, locate_on_grid

BODY = ph.Body(mass=1.0, inertia=(1.0, 2.0, 2.5))


def random_scenario(seed: int) -> ph.Scenario:
    """Breaks, impulses and a window at times that may coincide with outputs, with each other, and lie outside."""
    rng = np.random.default_rng(seed)
    start, duration = float(rng.choice([0.0, -1.5, 100.0])), 4.0
    places = start + np.sort(rng.choice(np.arange(-4, 24), 6, replace=False)) / 4
    outputs = start + np.unique(rng.choice(np.arange(0, 17), rng.integers(1, 9))) / 4
    return ph.Scenario(
        BODY,
        ph.State(time=start, velocity=(1.0, 0, 0)),
        [
            ph.forces.impulse((1.0, 0, 0), time=places[0]),
            ph.forces.torque((0, 0, 1.0), start=places[1], stop=places[2]),
        ],
        duration=duration,
        breaks=places[3:],
        method=str(rng.choice(["rk4", "dop853"])),
        step=0.25,
        output_times=outputs,
    )


@pytest.mark.filterwarnings("ignore:an impulse at")
@pytest.mark.parametrize("seed", range(60))
def test_segments_against_masks(seed):
    scenario = random_scenario(seed)
    impulse, push = scenario.forces
    window = push.windows[0]
    jumps = {float(impulse.instant), *map(float, window), *scenario.breaks}
    end = scenario.end_time if scenario.method == "dop853" else float(scenario.times[-1])
    inside = sorted(t for t in jumps if scenario.start_time < t < end)
    edges = [scenario.start_time, *inside, end]
    timeline = Timeline.of(scenario)
    assert (timeline.start, timeline.end, timeline.boundaries) == (scenario.start_time, end, inside)
    times, shown = scenario.times, 0
    for segment, a, b in zip(timeline.segments, edges, edges[1:] if len(edges) > 1 else edges, strict=False):
        assert (segment.start, segment.end, segment.is_last) == (a, b, b == end)
        mask = (times >= a) & ((times <= b) if b == end else (times < b))
        assert segment.outputs.tolist() == times[mask].tolist()
        assert segment.goes_on == (b != end and times[-1] >= b)
        shown += mask.sum()
    assert shown == len(times)
    for t in np.arange(-8, 40) / 8 + scenario.start_time:
        assert timeline.following(t) == min((jump for jump in jumps if jump > t), default=np.inf)
        assert bool(timeline.impulses_at(t)) == (t == impulse.instant)
    if len(timeline.segments) > 1:
        later = timeline.segments_from(inside[0])
        assert [(s.start, s.end) for s in later] == [(s.start, s.end) for s in timeline.segments[1:]]


def test_places_on_a_grid_against_exact_fractions():
    from fractions import Fraction

    rng = np.random.default_rng(1)
    for step in (0.1, 1e-3, 1 / 3, 7.0):
        whole = np.sort(rng.integers(0, 10**6, 50))
        between = whole[:20] * step + rng.uniform(0.1, 0.9, 20) * step
        k, rest = locate_on_grid(np.concatenate([whole * step, between]), 0.0, step)
        assert k[:50].tolist() == whole.tolist()
        assert not rest[:50].any()
        for t, number, left in zip(between.tolist(), k[50:].tolist(), rest[50:].tolist(), strict=True):
            exact = Fraction(t) - int(Fraction(t) / Fraction(step)) * Fraction(step)
            assert abs(number * Fraction(step) + exact - Fraction(t)) < Fraction(step)
            assert abs(Fraction(left) - exact) <= Fraction(2.0**-51) * Fraction(t)


def test_controls_change_and_the_rest_of_a_plan_stays():
    @ph.force
    def spring(t, state, body, params):
        return tuple(-x for x in state.position), (0.0, 0.0, 0.0)

    from polhode.integrate.traced_functions import trace_functions

    scenario = trace_functions(ph.Scenario(BODY, ph.State(position=(1.0, 0, 0)), [spring()], duration=3.0))
    plan = RunPlan(scenario.with_choice(), counts_work=True).with_dense_output()
    loops = plan.loops
    finer = plan.with_controls(rtol=(1e-12,) * 4, breaks=(1.0,), output_step=None, output_times=np.array([0.5, 3.0]))
    assert finer.loops is loops
    assert finer.timeline.boundaries == [1.0]
    assert finer.timeline.outputs.tolist() == [0.5, 3.0]
    assert finer.scenario.tolerances[0] == (1e-12,) * 4
    assert plan.timeline.boundaries == []
    with pytest.raises(AssertionError):
        plan.with_controls(duration=2.0)


# What an integrator keeps ---------------------------------------------------------------------------------------------
def make_owner() -> SimpleNamespace:
    memory = np.zeros(2, np.dtype([("side", "f8"), ("seen", "i8"), ("on", "?")]))
    return SimpleNamespace(
        buffer=np.arange(6.0).reshape(2, 3), inner=SimpleNamespace(memory=memory), steps=0, stopped_at=None,
        failure=None, last={}, sides=[], landing=None, counts=[0, 0], flags=np.zeros(3, bool), found=[],
    )  # fmt: skip


NAMES = ("buffer", "inner.memory", "steps", "stopped_at", "failure", "last", "sides", "landing", "counts", "flags")
LOGS = (Log("events", "found", rows_of_events, events_of_rows),)


def change(owner: SimpleNamespace) -> None:
    owner.buffer[:] *= -1.5
    owner.inner.memory["side"], owner.inner.memory["seen"], owner.inner.memory["on"] = (1.5, -2.0), 7, (True, False)
    owner.steps, owner.stopped_at = 41, 2.5
    owner.failure = Failure("stuck", 1.0, 2, np.array([1.0, 2.0]), "landing")
    owner.last, owner.sides, owner.landing = {(0, 1): 2.5}, [(3, -1.0)], (4, 0.5)
    owner.counts[1], owner.flags[1] = 3, True
    owner.found.append(EventRecord(1, 0, 0.25, np.array([1.0, -2.0])))


def numbers_of(owner: SimpleNamespace) -> str:
    names = {name: getattr(owner, name) for name in vars(owner) if name != "inner"}
    return repr((names, owner.inner.memory.tolist()))


def test_what_was_saved_is_restored_again_and_again_in_its_place():
    owner = make_owner()
    state = RunState(owner, NAMES, LOGS)
    place, found, before = owner.buffer, owner.found, numbers_of(owner)
    saved = state.save()
    for _ in range(2):
        change(owner)
        assert numbers_of(owner) != before
        state.restore(saved)
        assert numbers_of(owner) == before
        assert owner.buffer is place
        assert owner.found is found


def test_a_snapshot_holds_plain_values_and_is_restored_in_another_process():
    owner, other = make_owner(), make_owner()
    change(owner)
    state = RunState(owner, NAMES, LOGS)
    rows = state.new_rows()
    assert not state.new_rows(), "entries are given once"
    snapshot = state.snapshot()

    def check(value: object) -> None:
        assert value is None or isinstance(value, (int, float, str, list, dict, np.ndarray)), value
        for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            check(part)

    check(snapshot)
    again = RunState(other, NAMES, LOGS)
    again.restore_snapshot(snapshot, rows.get)
    assert numbers_of(other) == numbers_of(owner)
    assert not again.new_rows(), "the stream has them"


class Stream:
    def __init__(self) -> None:
        self.rows: list[np.ndarray] = []

    def append(self, name: str, rows: np.ndarray) -> None:
        assert name == Outputs.STREAM
        self.rows.append(rows)


@pytest.mark.parametrize("seed", range(10))
def test_outputs_that_fill_up_unevenly_are_read_back(seed):
    """Clocks without bodies write, too, and are not kept."""
    rng = np.random.default_rng(seed)
    count, units, slots, clocks = 7, 2, 4, int(rng.integers(5, 9))
    values = rng.normal(size=(count, units, 3, slots))
    room, stream = np.zeros_like(values), Stream()
    outputs = Outputs([room], clocks, units * slots)
    done = np.zeros(units * slots, dtype=int)
    for _ in range(4):
        done = np.minimum(done + rng.integers(0, 4, len(done)), count)
        for clock, last in enumerate(done):
            room[:last, clock // slots, :, clock % slots] = values[:last, clock // slots, :, clock % slots]
        outputs.done[:] = done
        outputs.append_to(stream)
    rows = np.concatenate(stream.rows)
    assert len(rows) == done[:clocks].sum()
    again = np.full_like(values, np.nan)
    restored = Outputs([again], clocks, units * slots)
    restored.fill(rows)
    assert restored.done[:clocks].tolist() == done[:clocks].tolist()
    for clock in range(clocks):
        u, s = divmod(clock, slots)
        assert np.array_equal(again[: done[clock], u, :, s], values[: done[clock], u, :, s])
        assert np.isnan(again[done[clock] :, u, :, s]).all()
