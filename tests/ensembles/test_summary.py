"""The summary of a sweep, beside NumPy on all members and closed forms."""

from __future__ import annotations

import json

import numpy as np
import pytest

import polhode as ph
from polhode.ensembles.chunks import BLOCK_MEMBERS
from polhode.ensembles.summary import choose_stride
from polhode.ensembles.summary_inputs import describe_distribution, split_inputs
from polhode.ensembles.summary_table import draw_bar, draw_small_histogram, format_summary
from polhode.ensembles.summary_text import describe_count, describe_result
from polhode.errors import InputError

MEMBERS = 2 * BLOCK_MEMBERS + 777
GRAVITY = 9.80665


def build(draw):
    """A throw without air: where it is after a second is linear in what was drawn."""
    velocity = draw.normal("throw", (10.0, 0.0, 8.0), (2.0, 1.0, 0.5))
    height = draw.uniform("height", 0.0, 6.0)
    start = ph.State(position=np.stack([0 * height, 0 * height, height], axis=1), velocity=velocity)
    return ph.Scenario(ph.particle(1.0), start, [ph.forces.gravity()], duration=1.0, output_step=0.1)


@pytest.fixture(scope="module")
def source():
    return ph.DrawnSource(build, MEMBERS, seed=3)


@pytest.fixture(scope="module")
def result(source):
    wanted = ph.summary_reductions(source, ["count:position.z@final:>4", "mean:velocity"])
    return ph.sweep(source, reduce=wanted)


@pytest.fixture(scope="module")
def summary(result):
    return ph.summarize(result, title="throws")


def results_by_label(summary):
    return {one.label: i for i, one in enumerate(summary.results)}


def test_results_against_numpy_on_all_members(source, summary):
    drawn = source.inputs(np.arange(MEMBERS))
    z = drawn["height"] + drawn["throw"][:, 2] - GRAVITY / 2
    found = summary.results[results_by_label(summary)["position.z@final"]]
    assert found.mean == pytest.approx(z.mean(), rel=1e-12)
    assert found.standard_deviation == pytest.approx(z.std(ddof=1), rel=1e-9)
    assert [found.quantiles[p] for p in (0.05, 0.5, 0.95)] == pytest.approx(np.quantile(z, (0.05, 0.5, 0.95)), rel=1e-9)
    assert (found.largest_member, found.smallest_member) == (z.argmax(), z.argmin())
    assert found.counts.sum() == found.counted == MEMBERS
    assert found.counts.tolist() == np.histogram(z, found.edges)[0].tolist()
    np.testing.assert_allclose(found.sample, z[summary.sampled], rtol=1e-12)


def test_shares_against_the_closed_form(summary):
    """Var z = 6^2/12 from the height and 0.5^2 from the throw; x depends on the throw's x alone."""
    names = [one.name for one in summary.inputs]
    assert names == ["height", "throw.x", "throw.y", "throw.z"]
    at = results_by_label(summary)
    z, x = summary.sensitivities[at["position.z@final"]], summary.sensitivities[at["position.x@final"]]
    for found, expected in ((z[0], 3 / 3.25), (z[3], 0.25 / 3.25), (z[1], 0.0), (x[1], 1.0), (x[0], 0.0)):
        assert abs(found.variance_share - expected) < 4 * found.variance_share_error + 0.005
    assert names[summary.strongest_inputs(at["position.z@final"])[0]] == "height"
    assert abs(summary.explained(at["position.z@final"]) - 1) < 0.05
    assert x[1].rank_correlation == pytest.approx(1.0, abs=1e-9)


def test_inputs_that_act_together_are_missing_from_the_sum():
    def interacting(draw):
        a, b = draw.uniform("a", -1.0, 1.0), draw.uniform("b", -1.0, 1.0)
        velocity = np.stack([a * b, a, 0 * a], axis=1)
        return ph.Scenario(ph.particle(1.0), ph.State(velocity=velocity), duration=1.0)

    source = ph.DrawnSource(interacting, 3000)
    summary = ph.summarize(ph.sweep(source, reduce=ph.summary_reductions(source, results=["position@final"])))
    at = results_by_label(summary)
    assert summary.is_missing_something(at["position.x@final"])
    assert not summary.is_missing_something(at["position.y@final"])
    assert "act together" in describe_result(summary, at["position.x@final"]) or "No single input" in describe_result(
        summary, at["position.x@final"]
    )


def test_bands_against_the_closed_form(summary):
    """The median of z(t) is 3 + 8 t - g t^2/2, up to what chance leaves."""
    band = next(band for band in summary.bands if band.label == "position.z")
    median = band.values[band.probabilities.index(0.5)]
    expected = 3 + 8 * band.times - GRAVITY / 2 * band.times**2
    assert abs(median - expected).max() < 5 * 1.8 * 1.3 / MEMBERS**0.5
    assert band.counted.tolist() == [MEMBERS] * len(band.times)
    assert (np.diff(band.values, axis=0) >= 0).all()
    assert [b.label for b in summary.bands if b.label.startswith("velocity")] == []


def test_counts_are_told(source, summary):
    drawn = source.inputs(np.arange(MEMBERS))
    having = int((drawn["height"] + drawn["throw"][:, 2] - GRAVITY / 2 > 4).sum())
    told = describe_count(summary.counts[0])
    assert told.startswith("position z at the end above 4: ")
    assert f"{having:,} members" in told


def test_what_does_not_vary_is_named_not_shown():
    def constant(draw):
        velocity = draw.normal("speed", 1.0, 0.1)[:, None] * [1.0, 0.0, 0.0]
        start = ph.State(position=(0.0, 5.0, 0.0), velocity=velocity)
        return ph.Scenario(ph.particle(1.0), start, duration=1.0)

    source = ph.DrawnSource(constant, 500)
    summary = ph.summarize(ph.sweep(source, reduce=ph.summary_reductions(source)))
    assert [one.label for one in summary.results] == ["position.x@final", "speed@final"]
    assert "position y at the end (5 m)" in summary.notes[0]
    assert [band.label for band in summary.bands] == []  # only the end was asked for


def test_from_the_store_it_is_the_same(source, summary, tmp_path):
    wanted = ph.summary_reductions(source, ["count:position.z@final:>4", "mean:velocity"])
    ph.sweep(source, reduce=wanted, store=tmp_path / "throws.zarr", chunk_members=BLOCK_MEMBERS)
    again = ph.summarize(ph.load(tmp_path / "throws.zarr"), title="throws")
    assert json.dumps(again.as_dict(), default=str) == json.dumps(summary.as_dict(), default=str)
    assert [one.values.tobytes() for one in again.inputs] == [one.values.tobytes() for one in summary.inputs]


def test_events_are_results():
    @ph.event
    def landing(t, state, body, params):
        return state.position[2]

    def falling(draw):
        height = draw.uniform("height", 1.0, 4.0)
        start = ph.State(position=np.stack([0 * height, 0 * height, height], axis=1), velocity=(2.0, 0.0, 0.0))
        forces = [ph.forces.gravity()]
        return ph.Scenario(ph.particle(1.0), start, forces, duration=2.0, method="dop853", step=0.1, events=[landing()])

    source = ph.DrawnSource(falling, 300)
    summary = ph.summarize(ph.sweep(source, reduce=ph.summary_reductions(source)))
    at = results_by_label(summary)
    assert next(iter(at)) == "time@landing"
    time = summary.results[at["time@landing"]]
    drawn = source.inputs(np.arange(300))["height"]
    assert time.largest == pytest.approx(np.sqrt(2 * drawn.max() / GRAVITY), rel=1e-9)
    assert "position x at landing" in str(summary)
    assert "position.z@landing" not in at  # 0, up to rounding


def test_members_without_the_event_are_told():
    @ph.event
    def landing(t, state, body, params):
        return state.position[2]

    def build(draw):
        start = ph.State(position=(0.0, 0.0, 1.0), velocity=draw.uniform("v", (1.0, 0.0, 0.0), (2.0, 0.0, 20.0)))
        forces = [ph.forces.gravity()]
        return ph.Scenario(ph.particle(1.0), start, forces, duration=2.0, method="rk4", step=0.1, events=[landing()])

    source = ph.DrawnSource(build, members=500, seed=1)
    reductions = ph.summary_reductions(source, ["count:time@landing:>1"])
    summary = ph.summarize(ph.sweep(source, reduce=reductions))
    vertical = source.inputs(np.arange(500))["v"][:, 2]
    landed = int((vertical + np.sqrt(vertical**2 + 2 * 9.80665) < 2 * 9.80665).sum())
    assert 100 < landed < 400
    assert f"time at landing: {500 - landed} of 500 members have no value, and are left out" in str(summary)
    assert f"of the {landed} with a value (" in str(summary)


def test_few_members_say_so():
    source = ph.DrawnSource(build, 20)
    summary = ph.summarize(ph.sweep(source, reduce=ph.summary_reductions(source)))
    assert "at least 60 members" in str(summary)
    assert "fewer than 60" in describe_result(summary, 0)
    json.dumps(summary.as_dict(), default=str)


def test_with_a_sobol_design_too_small_shares_are_not_taken_for_inputs_that_act_together():
    def build(draw):
        velocity = draw.uniform("velocity", (1.0, 0.0, 0.0), (2.0, 0.0, 0.0))
        for i in range(10):
            velocity = velocity + 0.0 * draw.normal(f"idle {i}", 0.0, 1.0)[:, None]
        return ph.Scenario(ph.particle(1.0), ph.State(velocity=velocity), duration=1.0)

    source = ph.DrawnSource(build, members=512, seed=1, design="sobol")
    summary = ph.summarize(ph.sweep(source, reduce=ph.summary_reductions(source, results=["position.x@final"])))
    assert summary.explained(0) < 0.9  # the first input alone explains all
    assert not summary.is_missing_something(0)
    assert "to compare inputs draw random members" in str(summary)
    assert "act together" not in describe_result(summary, 0)


def test_a_result_without_the_reductions_is_refused(source):
    with pytest.raises(InputError, match="summary_reductions"):
        ph.summarize(ph.sweep(source, reduce=["mean:position"]))
    with pytest.raises(InputError, match="lacks mean, quantiles"):
        ph.summarize(ph.sweep(source, reduce=["sample:speed@final:11"]))
    with pytest.raises(InputError, match="at every time"):
        ph.summary_reductions(source, results=["position.z"])


@pytest.mark.parametrize("members", [1, 2, 3999, 4000, 4001, 8000, 65_536, 10**6, 10**9])
def test_the_stride_is_odd_and_leaves_few(members):
    stride = choose_stride(members)
    assert stride % 2 == 1
    assert members / 3 / 4000 <= stride or stride <= 3
    assert len(range(0, members, stride)) <= 4000


def test_sobol_members_that_are_compared_cover_every_input():
    """With an even stride they would lie in a corner."""
    members = 2**17
    source = ph.DrawnSource(build, members, design="sobol")
    values = source.inputs(np.arange(0, members, choose_stride(members)))["height"]
    counts, _ = np.histogram(values, 20, (0.0, 6.0))
    assert counts.min() > 0.9 * len(values) / 20


def test_rotations_become_angles_about_the_axes_of_the_body():
    angle = np.array([0.01, -0.02, 0.03])
    mean = np.array([0.5, 0.5, 0.5, 0.5])
    q = ph.rotations.product(mean, ph.rotations.quaternion((0, 0, 1), angle))
    found = split_inputs({"attitude": q}, {"attitude": {"distribution": "small_rotation", "mean": mean.tolist()}})
    by_name = {one.name: one.values for one in found}
    np.testing.assert_allclose(by_name["attitude about z"], angle, atol=1e-12)
    assert all(abs(values).max() < 1e-12 for name, values in by_name.items() if name != "attitude about z")


def test_tensors_are_listed_once():
    tensor = np.random.default_rng(0).normal(size=(10, 3, 3))
    names = [one.name for one in split_inputs({"inertia": tensor + tensor.swapaxes(1, 2)}, {})]
    assert names == [f"inertia.{ij}" for ij in ("xx", "xy", "xz", "yy", "yz", "zz")]


def test_distributions_in_words():
    about = {"distribution": "normal", "mean": [1.0, 2.0, 3.0], "standard_deviation": 0.5}
    assert describe_distribution(about, 1, 3) == "normal(2, 0.5)"
    assert describe_distribution({"distribution": "random_rotation"}) == "random_rotation"


def test_small_pictures_of_characters():
    assert draw_small_histogram(np.zeros(4, dtype=int)) == "    "
    assert draw_small_histogram(np.array([1, 1000]), width=2) == "▁█"
    assert draw_bar(1.0, width=3) == "███"
    assert draw_bar(-0.2, width=3) == "   "
    assert len(draw_bar(0.123)) == 20


def test_plain_characters_where_no_others_can_be_printed(summary):
    for line in format_summary(summary, blocks=False):
        line.encode("ascii")
