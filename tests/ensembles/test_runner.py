"""Ensembles chunk by chunk: into a store, into reductions, resumed; with the bits of the motion in memory."""

from __future__ import annotations

import functools
import hashlib
import pickle
import warnings

import numpy as np
import pytest

import polhode as ph
from polhode.ensembles import chunk_run, failures
from polhode.ensembles.chunk_run import RunSettings, decide_settings, run_chunk
from polhode.ensembles.chunk_work import ChunkWork
from polhode.ensembles.chunks import BLOCK_MEMBERS, ChunkPlan
from polhode.ensembles.emitted_code import digest_emitted_code
from polhode.ensembles.member_source import ArraySource, digest_numbers_of
from polhode.ensembles.reduced_quantity import ReducedQuantity
from polhode.ensembles.reductions import check_reductions
from polhode.errors import CancelledError, FileError, InputError, NonFiniteError, ScenarioError
from polhode.progress import listening

MEMBERS = 2 * BLOCK_MEMBERS + 300
RNG = np.random.default_rng(9)
BOX = ph.shapes.box((0.1, 0.2, 0.3), mass=1.0)
START = ph.State(velocity=RNG.normal(size=(MEMBERS, 3)), angular_velocity_body=RNG.normal(size=(MEMBERS, 3)))
FORCES = [ph.forces.gravity(), ph.forces.quadratic_drag(RNG.uniform(0.0, 0.1, MEMBERS))]
SETTINGS = {"duration": 0.5, "step": 0.05, "method": "rk4", "output_step": 0.25}
REDUCTIONS = ["mean:position", "quantiles:speed@final:0.1,0.5", "extremes:speed"]


@ph.force
def pole(t, state, body, params):
    """Infinite at a time."""
    return (1.0 / (t - params[0]), 0.0, 0.0), (0.0, 0.0, 0.0)


@ph.event
def landing(t, state, body, params):
    return state.position[2]


@pytest.fixture(scope="module")
def motion():
    return ph.ensemble(BOX, START, FORCES, **SETTINGS)


@pytest.fixture(scope="module")
def in_store(tmp_path_factory):
    return ph.ensemble(BOX, START, FORCES, **SETTINGS, store=tmp_path_factory.mktemp("runs") / "throws.zarr")


def checksum_by_hand(samples):
    """As documented: SHA-256 over the SHA-256 of the bytes of each block."""
    blocks = [samples[:, i : i + 4096] for i in range(0, samples.shape[1], 4096)]
    each = [hashlib.sha256(np.ascontiguousarray(block).tobytes()).digest() for block in blocks]
    return hashlib.sha256(b"".join(each)).hexdigest()


def same(one, other):
    assert one.keys() == other.keys()
    for name in one:
        assert one[name].values.keys() == other[name].values.keys()
        for key, values in one[name].values.items():
            assert values.tobytes() == other[name][key].tobytes()


def test_a_store_holds_the_bits_of_the_motion_in_memory(motion, in_store):
    samples = motion.run_result.samples
    assert in_store.motion(slice(None)).run_result.samples.tobytes() == samples.tobytes()
    some = in_store.motion([5, 8000, 17])
    assert np.array_equal(some.position, motion.position[:, [5, 8000, 17]])
    assert np.array_equal(in_store.final.velocity, motion.final.velocity)
    assert in_store.checksum() == checksum_by_hand(samples)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("chunk_members", [4096, 8192])
def test_no_result_depends_on_chunks_or_threads(motion, threads, chunk_members):
    result = ph.ensemble(
        BOX, START, FORCES, **SETTINGS, reduce=REDUCTIONS, threads=threads, chunk_members=chunk_members
    )
    assert result.checksum() == checksum_by_hand(motion.run_result.samples)
    same(result.reductions, ph.reductions.apply(motion, REDUCTIONS))


@pytest.mark.parametrize("keep", ["samples", "reductions"])
def test_a_run_that_was_stopped_is_resumed_to_the_same_bits(motion, tmp_path, keep, monkeypatch):
    arguments = {"store": tmp_path / "run.zarr", "reduce": REDUCTIONS, "keep": keep, "chunk_members": 4096}

    def stop(report):
        if report.done > 5000:
            raise CancelledError("enough")

    with pytest.raises(CancelledError), listening(stop):
        ph.ensemble(BOX, START, FORCES, **SETTINGS, **arguments)
    with pytest.raises(FileError):  # it is there, and nobody asks to resume it
        ph.ensemble(BOX, START, FORCES, **SETTINGS, **arguments)
    heard, computed = [], []

    def count(source, first, last, *rest, **more):
        computed.append(first)
        return run_chunk(source, first, last, *rest, **more)

    monkeypatch.setattr("polhode.ensembles.chunk_work.run_chunk", count)
    del arguments["chunk_members"]  # the store knows
    with listening(heard.append):
        result = ph.ensemble(BOX, START, FORCES, **SETTINGS, **arguments, resume=True)
    assert computed in ([8192], [4096, 8192])  # the second one may have been complete
    assert [h.done for h in heard[:2]] == [0, computed[0]]
    assert heard[-1].done == MEMBERS
    assert result.checksum() == checksum_by_hand(motion.run_result.samples)
    same(result.reductions, ph.reductions.apply(motion, REDUCTIONS))
    same(ph.load(tmp_path / "run.zarr").reductions, result.reductions)
    computed.clear()
    again = ph.ensemble(BOX, START, FORCES, **SETTINGS, **arguments, resume=True)
    assert not computed
    same(again.reductions, result.reductions)


def test_another_run_does_not_resume_a_store(in_store):
    path = in_store.store.path
    with pytest.raises(FileError, match=r"scenario\.step is 0\.05 in the store and 0\.1 now"):
        ph.ensemble(BOX, START, FORCES, **{**SETTINGS, "step": 0.1}, store=path, resume=True)
    with pytest.raises(FileError, match="reductions"):
        ph.ensemble(BOX, START, FORCES, **SETTINGS, store=path, resume=True, reduce=["mean:position"], keep="samples")
    other = ph.State(velocity=np.nextafter(START.velocity, 9.0), angular_velocity_body=START.angular_velocity_body)
    with pytest.raises(FileError, match="cannot be resumed"):
        ph.ensemble(BOX, other, FORCES, **SETTINGS, store=path, resume=True)


def test_a_function_that_has_changed_does_not_resume_a_store(tmp_path):
    def run(factor, **options):
        @ph.force
        def push(t, state, body, params):
            return (factor * t, 0.0, 0.0), (0.0, 0.0, 0.0)

        ph.ensemble(BOX, START, [push()], **SETTINGS, store=tmp_path / "run.zarr", **options)

    run(2.0)
    run(2.0, resume=True)
    with pytest.raises(FileError, match="code is"):
        run(3.0, resume=True)


def test_a_function_whose_taylor_series_have_changed_does_not_resume_a_store(tmp_path):
    """heyoka compiles them, so that there is no emitted code to compare."""

    def run(acts, watches, changes, **options):
        @ph.force
        def push(t, state, body, params):
            return (acts * t, 0.0, 0.0), (0.0, 0.0, 0.0)

        @ph.event
        def height(t, state, body, params):
            return state.position[2] - watches

        def kick(t, state, body, params):
            return (changes, 0.0, 0.0), (0.0, 0.0, 0.0)

        start = ph.State(velocity=[(1.0, 0.0, 0.0), (0.0, 0.0, 1.0)])
        events, path = [height(change=kick)], tmp_path / "run.zarr"
        return ph.ensemble(BOX, start, [push()], events=events, duration=1.0, method="taylor", store=path, **options)

    first = run(2.0, 0.5, 1.0).checksum()
    assert run(2.0, 0.5, 1.0, resume=True).checksum() == first
    for changed in [(3.0, 0.5, 1.0), (2.0, 0.4, 1.0), (2.0, 0.5, 1.5)]:
        with pytest.raises(FileError, match="code is"):
            run(*changed, resume=True)


FACTOR = 1.0
"""What a function of the next test reads."""


class Highest:
    """A reduction of one's own, with a number."""

    name = "highest"

    def __init__(self, factor):
        self._factor = factor

    def partial(self, motion, first):  # noqa: ARG002
        return {"height": self._factor * motion.position[-1, :, 2].max()}

    def merge(self, left, right):
        return {"height": np.maximum(left["height"], right["height"])}

    def finish(self, total):
        return ReducedQuantity(self.name, "highest", "height", total, {"height": ()}, {}, {}, 0)


def scaled(factor, motion):
    return factor * motion.position[-1, :, 0]


def height_of(factor):
    return lambda motion: factor * motion.position[-1, :, 2]


@pytest.mark.parametrize(
    "make",
    [
        lambda factor: ph.reductions.mean(height_of(factor), name="mine"),
        lambda factor: ph.reductions.mean(functools.partial(scaled, factor), name="mine"),
        lambda factor: ph.reductions.mean(lambda motion: FACTOR * motion.position[-1, :, 0], name="mine"),
        Highest,
        lambda factor: ph.reductions.custom(
            "mine",
            lambda motion, first: {"sum": factor * motion.position[-1].sum()},
            lambda a, b: {"sum": a["sum"] + b["sum"]},
        ),
    ],
)
def test_another_function_in_a_reduction_does_not_resume_a_store(tmp_path, monkeypatch, make):
    def run(factor, **options):
        monkeypatch.setitem(globals(), "FACTOR", factor)
        path = tmp_path / "run.zarr"
        return ph.ensemble(BOX, START, duration=1.0, store=path, chunk_members=4096, reduce=[make(factor)], **options)

    run(1.0)
    for record in (tmp_path / "run.zarr" / "records").glob("chunk-00000001"):
        record.unlink()
    with pytest.raises(FileError, match=r"reductions\[0\]\.\w+(\[1\])? is"):
        run(2.0, resume=True)
    run(1.0, resume=True)


def test_what_a_reduction_makes_of_the_total_may_be_another_on_resuming(tmp_path):
    def run(factor, **options):
        mine = ph.reductions.custom(
            "mine",
            lambda motion, first: {"sum": motion.position[-1, :, 0].sum()},
            lambda a, b: {"sum": a["sum"] + b["sum"]},
            lambda total: {"sum": factor * total["sum"]},
        )
        found = ph.ensemble(BOX, START, duration=1.0, store=tmp_path / "run.zarr", reduce=[mine], **options)
        return float(found.reductions["mine"]["sum"])

    assert 2 * run(1.0) == run(2.0, resume=True)


def test_functions_that_cannot_be_compiled_are_stored_and_resumed(tmp_path):
    def run(factor, **options):
        @ph.force
        def push(t, state, body, params):
            try:
                return (factor * t, 0.0, 0.0), (0.0, 0.0, 0.0)
            except OverflowError:
                return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)

        start = ph.State(velocity=[(1.0, 0.0, 0.0), (0.0, 0.0, 1.0)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it is slow
            return ph.ensemble(BOX, start, [push()], **SETTINGS, engine="python", **options)

    path = tmp_path / "run.zarr"
    assert np.array_equal(run(2.0, store=path).final.position, run(2.0).final.position)
    run(2.0, store=path, resume=True)
    with pytest.raises(FileError, match="code is"):
        run(3.0, store=path, resume=True)


def test_members_that_fail_are_listed_and_the_others_go_on(tmp_path, monkeypatch):
    monkeypatch.setattr(failures, "DESCRIBED", 2)
    poles = np.where(np.isin(np.arange(MEMBERS), [3, 4, 5, 8200]), 0.3, 5.0)
    with pytest.warns(UserWarning, match=rf"4 of {MEMBERS} members failed.*the first: member 3 became infinite"):
        result = ph.ensemble(
            ph.particle(1.0), forces=[pole(poles)], **SETTINGS, store=tmp_path / "run.zarr", chunk_members=4096
        )
    assert [one.member for one in result.failures] == [3, 4, 5, 8200]
    assert [one.time for one in result.failures] == pytest.approx([0.25, 0.25, 0.25, 0.25])  # the last whole step
    assert [one.reason for one in result.failures] == ["non-finite", "non-finite", "failed", "non-finite"]
    assert "member 8200 became infinite" in result.failures[3].sentence
    assert "simulate it alone" in result.failures[2].sentence
    assert [one.member for one in ph.load(tmp_path / "run.zarr").failures] == [3, 4, 5, 8200]
    position = result.motion(slice(None)).position
    wrong = ~np.isfinite(position).all(axis=2)
    assert not wrong[:2].any()
    assert np.flatnonzero(wrong[2]).tolist() == [3, 4, 5, 8200]
    one = ph.simulate(ph.particle(1.0), forces=[pole(5.0)], **SETTINGS)
    assert np.array_equal(position[:, 0], one.position)


def build_fast(draw):
    speed = draw.choice("speed", [[1e200, 0.0, 0.0], [1.0, 0.0, 0.0]])
    drag = [ph.forces.quadratic_drag(0.1)]
    return ph.Scenario(ph.particle(1.0), ph.State(velocity=speed), drag, duration=1.0, step=0.1, method="rk4")


SPIN, SLOW = ph.State(angular_velocity_body=np.full((20, 3), 3.0)), {"duration": 1.0, "step": 0.5, "method": "rk4"}


@pytest.mark.parametrize(
    "run",
    [
        lambda: ph.sweep(build_fast, members=20, reduce=["mean:position"]),
        lambda: ph.ensemble(BOX, SPIN, reduce=["mean:position"], **SLOW),
        lambda: ph.ensemble(BOX, SPIN, **SLOW),
    ],
    ids=["sweep", "reduced", "in memory"],
)
def test_warnings_point_to_the_line_that_asked_for_the_run(run):
    with pytest.warns(UserWarning, match="members failed|a body turns") as caught:
        run()
    assert [one.filename for one in caught] == [__file__]


def test_what_a_member_that_failed_has_is_the_same_in_memory_and_in_a_store(tmp_path):
    fast = np.ones((5, 3))
    fast[3] = 1e130
    given = BOX, ph.State(velocity=fast, angular_velocity_body=(1.0, 2.0, 3.0)), [ph.forces.quadratic_drag(0.1)]
    with pytest.raises(NonFiniteError) as raised:
        ph.ensemble(*given, **SETTINGS)
    with pytest.warns(UserWarning, match="1 of 5 members failed"):
        stored = ph.ensemble(*given, **SETTINGS, store=tmp_path / "run.zarr")
    for name, values in raised.value.motion.dataset.items():
        assert np.array_equal(values, stored.dataset[name], equal_nan=values.dtype.kind == "f"), name
        assert np.isnan(values[1:, 3]).all(), name


def test_a_member_that_an_event_stops_has_not_failed():
    heights = np.where(np.arange(50) % 2, 0.2, 99.0)
    start = ph.State(position=np.stack([0 * heights, 0 * heights, heights], axis=-1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = ph.ensemble(
            ph.particle(1.0), start, FORCES[:1], duration=0.5, output_step=0.1, events=[landing()], method="dop853",
            reduce=["mean:position.z@landing"],
        )  # fmt: skip
    assert result.failures == []
    assert result.reductions["mean:position.z@landing"]["count"] == 25


@pytest.mark.parametrize("options", [{}, {"reduce": ["mean:position.z@final"]}], ids=["in memory", "reduced"])
def test_the_final_state_of_a_member_that_an_event_stops_is_where_it_stopped(options):
    heights = np.linspace(1.0, 30.0, 100)
    start = ph.State(position=np.stack([0 * heights, 0 * heights, heights], axis=-1))
    forces = [ph.forces.gravity(), ph.forces.quadratic_drag(0.01)]
    result = ph.ensemble(ph.particle(1.0), start, forces, duration=1.5, events=[landing()], **options)
    if options:
        assert result.reductions["mean:position.z@final"]["count"] == 100
    else:
        stopped = result.end_times < 1.5
        assert 10 < stopped.sum() < 90
        assert np.abs(result.position[-1, stopped, 2]).max() < 1e-12


def test_where_stopped_members_end_does_not_depend_on_the_outputs(tmp_path):
    heights = np.linspace(1.0, 30.0, 100)
    start = ph.State(position=np.stack([0 * heights, 0 * heights, heights], axis=-1), velocity=(3.0, 0.0, 0.0))
    push = ph.forces.force_at((5.0, 0.0, 0.0), stop=1.0)
    scenario = {"duration": 1.5, "events": [landing()], "method": "dop853"}
    body, forces = ph.particle(1.0), [ph.forces.gravity(), push]
    alone = ph.ensemble(body, start, forces, **scenario)
    sampled = ph.ensemble(body, start, forces, **scenario, output_step=0.25)
    stopped = alone.end_times < 1.5
    assert 10 < stopped.sum() < 90
    assert np.isnan(sampled.position[-1, stopped]).all()
    assert np.array_equal(sampled.final.position, alone.final.position)
    assert np.array_equal(sampled.final.velocity, alone.final.velocity)
    texts = ["mean:position.x@final", "mean:acceleration.x@final"]
    for settings in ({}, {"output_step": 0.25}):
        kept = {"reduce": texts, "store": tmp_path / str(len(settings)), "keep": "samples"}
        result = ph.ensemble(body, start, forces, **scenario, **settings, **kept)
        where, pushed = (result.reductions[text] for text in texts)
        assert where["count"] == 100
        assert where["mean"] == pytest.approx(alone.final.position[:, 0].mean(), rel=1e-14)
        assert np.array_equal(result.final.position, alone.final.position)
        assert pushed["count"] == (~stopped).sum()  # where a member stopped the push acted, at the end it does not
        assert pushed["mean"] == 0.0


def test_auto_decides_once_from_members_of_the_whole_ensemble(tmp_path, monkeypatch):
    asked = []
    decide = chunk_run.decide_tolerance

    def remember(sample, *rest):
        asked.append(sample.states[0].velocity.copy())
        return decide(sample, *rest)

    monkeypatch.setattr(chunk_run, "decide_tolerance", remember)
    settings = {"duration": 0.5, "rtol": 1e-6}
    result = ph.ensemble(BOX, START, FORCES, **settings, store=tmp_path / "run.zarr", chunk_members=4096)
    some = np.linspace(0, MEMBERS - 1, 64).astype(int)
    assert len(asked) == 1
    assert np.array_equal(asked[0], START.velocity[some])
    in_memory = ph.ensemble(BOX, START, FORCES, **settings)
    assert result.motion(slice(None)).run_result.samples.tobytes() == in_memory.run_result.samples.tobytes()
    assert result.motion([0]).audit().method == in_memory.audit().method


@pytest.mark.parametrize("count", [5, 64])
def test_auto_of_few_members_has_the_bits_of_the_motion_in_memory(count, tmp_path):
    start = ph.State(velocity=START.velocity[:count], angular_velocity_body=START.angular_velocity_body[:count])
    forces = [ph.forces.gravity(), ph.forces.quadratic_drag(0.05)]
    in_memory = ph.ensemble(BOX, start, forces, duration=2.0, output_step=0.5)
    result = ph.ensemble(BOX, start, forces, duration=2.0, output_step=0.5, store=tmp_path / "run.zarr")
    assert result.motion(slice(None)).run_result.samples.tobytes() == in_memory.run_result.samples.tobytes()


def test_the_work_of_a_chunk_can_be_sent_with_just_its_numbers(motion):
    scenario = ph.Scenario(BOX, START, FORCES, **SETTINGS)
    reductions = check_reductions(REDUCTIONS)
    work = ChunkWork(ArraySource(scenario), ChunkPlan(MEMBERS, 4096), RunSettings(1), reductions)
    sent = pickle.dumps(work.part(1))
    assert len(sent) < len(pickle.dumps(work)) / 1.8
    here, there = work(1), pickle.loads(sent)(1)
    assert here.digests == there.digests
    assert there.digests == [hashlib.sha256(motion.run_result.samples[:, 4096:8192].tobytes()).hexdigest()]
    for name, partial in here.partials.items():
        assert all(there.partials[name][key].tobytes() == values.tobytes() for key, values in partial.items())


def test_the_hash_of_the_code_depends_on_what_acts_and_not_on_numbers():
    def digest(forces, **settings):
        scenario = ph.Scenario(BOX, START, forces, **{**SETTINGS, **settings})
        return digest_emitted_code(scenario.take(np.arange(64)))

    first = digest(FORCES)
    assert first == digest([ph.forces.gravity(3.7), ph.forces.quadratic_drag(0.5)], step=0.01)
    others = [digest(FORCES[:1]), digest(FORCES, method="midpoint"), digest(FORCES, method="dop853")]
    assert len({first, *others}) == 4


def test_the_digest_of_a_source_depends_on_every_number():
    def digest(**changes):
        given = {"body": BOX, "state": START, "forces": FORCES, **SETTINGS, **changes}
        return digest_numbers_of(ph.Scenario(**given))

    other = START.velocity.copy()
    other[-1, 2] = np.nextafter(other[-1, 2], 1.0)
    variants = [
        {},
        {"state": ph.State(velocity=other, angular_velocity_body=START.angular_velocity_body)},
        {"body": ph.shapes.box((0.1, 0.2, 0.3), mass=1.0000001)},
        {"forces": [ph.forces.gravity(9.8), FORCES[1]]},
        {"duration": 0.6},
        {"renormalize": False},
        {"contacts": [ph.floor(0.5, height=-9.0)], "method": "dop853", "step": None},
    ]
    assert len({digest(**one) for one in variants}) == len(variants)
    assert digest() == digest()


def test_settings_are_plain_and_small():
    settings, _ = decide_settings(ArraySource(ph.Scenario(BOX, START, FORCES, duration=0.5)))
    assert len(pickle.dumps(settings)) < 2000
    assert dict(settings.changes)["output_times"] == (0.5,)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"resume": True}, "completes a store"),
        ({"keep": "samples", "reduce": ["mean:position"]}, "needs a store"),
        ({"keep": "reductions", "store": "x.zarr"}, "no reduction is given"),
        ({"keep": "all", "store": "x.zarr"}, "keep must be"),
        ({"chunk_members": 4096}, "give store= or reduce="),
        ({"chunk_members": 5000, "reduce": ["mean:position"]}, "4096 times a power of two"),
        ({"chunk_members": 3 * 4096, "reduce": ["mean:position"]}, "4096 times a power of two"),
        ({"reduce": ["median:position"]}, "no reduction 'median'"),
        ({"threads": 0, "reduce": ["mean:position"]}, "threads must be"),
    ],
)
def test_what_cannot_be_kept_is_refused(options, sentence):
    with pytest.raises((ScenarioError, InputError), match=sentence):
        ph.ensemble(BOX, START, FORCES, **SETTINGS, **options)
