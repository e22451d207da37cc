"""method="auto" knows the error of every member: judged by SciPy at its finest tolerance."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import polhode as ph
from polhode.ensembles.chunk_work import ChunkOutcome
from polhode.ensembles.chunks import ChunkPlan
from polhode.ensembles.runner import Gathered
from polhode.integrate.run_result import AutoReport

MEMBERS, WILD, DURATION = 200, 1, 150.0
"""Member 1 is not among the 64 that decide the tolerance."""
RTOL = 1e-9


def rate(t, u):
    x, y, vx, vy = u
    return [vx, vy, -x - 2 * x * y, -y - x * x + y * y]


@ph.force
def henon_heiles(t, state, body, params):
    """Regular close to the origin, chaotic beyond.  [Henon 1964]"""
    x, y, _ = state.position
    return (-x - 2 * x * y, -y - x * x + y * y, 0.0), (0.0, 0.0, 0.0)


def starts(count=MEMBERS):
    found = np.array([0.0, 0.05, 0.05, 0.0]) * np.linspace(0.5, 1.0, count)[:, None]
    found[WILD] = (0.0, -0.15, 0.5, 0.1)
    return found


def state_of(u):
    zero = 0.0 * u[..., :1]
    return ph.State(
        position=np.concatenate([u[..., :2], zero], axis=-1), velocity=np.concatenate([u[..., 2:], zero], axis=-1)
    )


def run(duration=DURATION, **settings):
    return ph.ensemble(ph.particle(1.0), state_of(starts()), [henon_heiles()], duration=duration, rtol=RTOL, **settings)


@pytest.fixture(scope="module")
def told():
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        motion = run()
    return motion, [str(one.message) for one in heard]


def error_against_scipy(motion, member, duration):
    exact = solve_ivp(rate, (0, duration), starts()[member], method="DOP853", rtol=2.3e-14, atol=1e-16).y[:2, -1]
    return np.abs(motion.final.position[member, :2] - exact).max()


def test_a_member_that_the_sample_does_not_resemble_is_named(told):
    motion, heard = told
    report = motion.run_result.auto_report
    assert (report.members, report.of_members, report.missed_members, report.worst_member) == (200, 200, 1, WILD)
    assert len(heard) == 1
    assert f"the errors of 1 of 200 members (the largest, of member {WILD}, is about" in heard[0]
    assert "1 member has more than was asked, the worst is member 1" in motion.audit().chosen
    assert "largest error of all 200 members, each estimated from a second run" in motion.audit().chosen


def test_the_error_of_each_member_is_estimated_against_scipy(told):
    motion, _ = told
    estimated = motion.estimated_errors
    assert estimated.shape == (MEMBERS,)
    for member in (0, WILD, 2, 77, 150, 199):
        assert error_against_scipy(motion, member, DURATION) < 10 * estimated[member]
    tame = np.arange(MEMBERS) != WILD
    assert estimated[tame].max() < RTOL < estimated[WILD]


def test_members_that_a_finer_run_helps_are_run_again_and_the_others_keep_their_bits():
    """For 80 s the wild member needs a finer tolerance than the sample, and then has what was asked."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        motion = run(80.0)
    report = motion.run_result.auto_report
    assert (report.missed_members, report.members) == (0, MEMBERS)
    assert error_against_scipy(motion, WILD, 80.0) < RTOL
    tolerance, breaks = motion.scenario.rtol, motion.scenario.breaks
    plain = ph.ensemble(
        ph.particle(1.0),
        state_of(starts()),
        [henon_heiles()],
        duration=80.0,
        method="dop853",
        rtol=tolerance,
        breaks=breaks,
        output_times=[40.0, 80.0],
    )
    tame = np.arange(MEMBERS) != WILD
    assert np.array_equal(motion.final.position[tame], plain.final.position[tame])
    assert not np.array_equal(motion.final.position[WILD], plain.final.position[WILD])


def test_a_member_of_its_own_reports_its_own_error(told):
    motion, _ = told
    assert motion.member(0).run_result.auto_report.error_found < RTOL
    assert motion.member(WILD).run_result.auto_report.missed
    some = motion.members([WILD, 5, 7])
    assert some.run_result.auto_report.worst_member == 0
    assert np.array_equal(some.estimated_errors, motion.estimated_errors[[WILD, 5, 7]])


def test_no_bit_and_no_estimate_depends_on_chunks_threads_or_what_is_kept(tmp_path):
    count = 4096 + 50
    u = np.tile(starts(), (count // MEMBERS + 1, 1))[:count]
    given = (ph.particle(1.0), state_of(u), [henon_heiles()])
    settings = {"duration": 80.0, "rtol": RTOL}
    in_memory = ph.ensemble(*given, **settings, threads=2)
    stored = ph.ensemble(*given, **settings, threads=1, store=tmp_path / "s.zarr", chunk_members=4096)
    reduced = ph.ensemble(*given, **settings, threads=3, reduce=["mean:position"])
    assert np.array_equal(stored.final.position, in_memory.final.position)
    assert reduced.checksum() == stored.checksum()
    assert np.array_equal(stored.estimated_errors, in_memory.estimated_errors)
    loaded = ph.load(tmp_path / "s.zarr")
    assert np.array_equal(loaded.estimated_errors, in_memory.estimated_errors)
    reports = [in_memory.run_result.auto_report, stored.auto_report, reduced.auto_report, loaded.auto_report]
    assert len({str(report) for report in reports}) == 1
    assert reports[0].members == count
    part = loaded.motion([4100, 1])
    assert np.array_equal(part.estimated_errors, in_memory.estimated_errors[[4100, 1]])


@pytest.mark.parametrize("count", [5, 64])
def test_few_members_are_all_looked_at(count):
    motion = ph.ensemble(ph.particle(1.0), state_of(starts(count)), [henon_heiles()], duration=20.0)
    assert motion.run_result.auto_report.members == motion.run_result.auto_report.of_members == count
    assert len(motion.estimated_errors) == count


def test_a_member_that_fails_has_no_estimate_and_the_others_have_theirs():
    @ph.force
    def pole(t, state, body, params):
        return (1.0 / (t - params[0]), 0.0, 0.0), (0.0, 0.0, 0.0)

    when = np.where(np.arange(100) == 40, 0.5, 5.0 + np.arange(100))
    start = ph.State(velocity=np.ones((100, 3)))
    with pytest.warns(UserWarning, match="1 of 100 members failed"):
        result = ph.ensemble(ph.particle(1.0), start, [pole(when)], duration=1.0, reduce=["mean:position"])
    assert (result.auto_report.members, result.auto_report.of_members) == (99, 100)
    assert result.auto_report.error_found < 1e-9
    assert "of the other 1 nothing is known" in str(result.auto_report)


def test_a_report_of_some_members_says_so():
    report = AutoReport("drag acts", 1e-9, 0.01, members=64, of_members=10_000)
    assert "largest error of 64 members (of the other 9,936 nothing is known)" in str(report)


def test_a_report_of_a_damaged_store_says_of_how_many_members_nothing_is_known(tmp_path):
    u = np.tile(starts(2), (3000, 1))
    ph.ensemble(
        ph.particle(1.0), state_of(u), [henon_heiles()], duration=1.0, store=tmp_path / "s.zarr", chunk_members=4096
    )
    (tmp_path / "s.zarr" / "samples" / "c.0.1.0").unlink()
    (tmp_path / "s.zarr" / "records" / "chunk-00000001").unlink()
    with pytest.warns(UserWarning, match="members 4096 to 5999"):
        report = ph.load(tmp_path / "s.zarr").auto_report
    assert (report.members, report.of_members) == (4096, 6000)
    assert "of the other 1,904 nothing is known" in str(report)


def test_the_report_does_not_depend_on_the_order_in_which_chunks_are_done():
    gathered, plan = [], ChunkPlan(8192, 4096)
    for order in ((0, 1), (1, 0)):
        found = Gathered(plan, ())
        for k in order:
            report = AutoReport("drag acts", 1e-9, 0.5, 4096, 4096, worst_member=4096 * k)
            found.add(ChunkOutcome(k, {}, [], [], None, report))
        gathered.append(found.auto_report)
    assert gathered[0] == gathered[1]
    assert (gathered[0].worst_member, gathered[0].members) == (0, 8192)


def test_stops_at_different_times_are_compared_member_by_member():
    @ph.event
    def ground(t, state, body, params):
        return state.position[2]

    speeds = np.linspace(5.0, 15.0, 150)
    start = ph.State(position=(0.0, 0.0, 1.0), velocity=np.stack([speeds, 0 * speeds, speeds], axis=-1))
    forces = [ph.forces.gravity(), ph.forces.quadratic_drag(0.02)]
    motion = ph.ensemble(ph.particle(1.0), start, forces, duration=10.0, events=[ground(direction=-1)])
    assert motion.run_result.auto_report.members == 150
    finest = ph.ensemble(
        ph.particle(1.0), start, forces, duration=10.0, events=[ground(direction=-1)], method="dop853", rtol=1e-13
    )
    assert np.abs(motion.end_times - finest.end_times).max() / 10.0 < 10 * motion.estimated_errors.max()
