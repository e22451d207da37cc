"""Reductions of real motions, beside NumPy on the whole ensemble; the same bits however the work is divided."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import binomtest

import polhode as ph
from merged_blocks import merge_blocks
from polhode.ensembles.chunks import BLOCK_MEMBERS
from polhode.ensembles.merge_tree import MergeTree
from polhode.ensembles.quantities import read_quantity, take_members
from polhode.ensembles.reductions import check_reductions
from polhode.errors import InputError
from polhode.quantities.table import QUANTITIES

RNG = np.random.default_rng(11)
MEMBERS = 4 * BLOCK_MEMBERS + 1234
r = ph.reductions


@ph.event
def landing(t, state, body, params):
    return state.position[2]


@pytest.fixture(scope="module")
def throws():
    """Thrown stones; some land and stop, after different times."""
    velocity = RNG.normal((3.0, 0.0, 6.0), (1.0, 0.5, 4.0), (MEMBERS, 3))
    state = ph.State(position=(0.0, 0.0, 1.0), velocity=velocity, angular_velocity_body=RNG.normal(size=(MEMBERS, 3)))
    box = ph.shapes.box((0.1, 0.2, 0.3), mass=1.0)
    forces = [ph.forces.gravity(), ph.forces.linear_drag(0.05)]
    return ph.ensemble(
        box, state, forces, duration=1.0, output_step=0.25, events=[landing()], method="dop853", rtol=1e-6, step=0.1
    )


ALL = [
    *("mean:position", "mean:speed@final", "covariance:position+velocity", "covariance:position@final+velocity@final"),
    *("quantiles:position:0.05,0.5,0.95", "histogram:speed@final:50", "histogram:position:20,0,5", "extremes:position"),
    *("count:position.z@final:>2<4", "mean:position.x@landing", "quantiles:time@landing:0.5", "mean:yaw_pitch_roll"),
    *("sample:position@final:251", "sample:speed:1000"),
]


def custom_reductions():
    return [
        r.mean(lambda motion: motion.position[-1, :, 0] * motion.position[-1, :, 1], name="product"),
        r.count(lambda motion: motion.position[-1, :, 0] > 3, name="far"),
        r.quantiles("speed@final", [0.5], keep=256, name="coarse"),
        r.custom(
            "energy",
            lambda motion, first: {"sum": np.nansum(motion.kinetic_energy), "first": first},
            lambda left, right: {"sum": left["sum"] + right["sum"], "first": left["first"]},
        ),
    ]


@pytest.fixture(scope="module")
def reduced(throws):
    return r.apply(throws, [*ALL, *custom_reductions()])


def bits(found):
    return {
        name: {key: array.tobytes() for key, array in one.values.items()} | {"members": one.members}
        for name, one in found.items()
    }


def valid(array):
    return array[~np.isnan(array).reshape(len(array), -1).any(axis=1)]


def ends(motion, name):
    """Where each member ended: at the last output, or at the event that stopped it, as the list of events has it."""
    last = getattr(motion, name)[-1].copy()
    for crossing in motion.crossings:
        last[crossing.body] = getattr(crossing.state, name)
    assert np.isfinite(last).all()
    return last


def test_mean_against_numpy(throws, reduced):
    found = reduced["mean:position"]
    assert found.dims["mean"] == ("time", "axis")
    for i in range(len(throws.times)):
        x = valid(throws.position[i])
        np.testing.assert_allclose(found["mean"][i], x.mean(axis=0), rtol=1e-13, atol=1e-15)
        np.testing.assert_allclose(found["standard_deviation"][i], x.std(axis=0, ddof=1), rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(found["standard_error"][i], x.std(axis=0, ddof=1) / len(x) ** 0.5, rtol=1e-12)
        assert found["count"][i].tolist() == [len(x)] * 3
    assert found.missing == np.isnan(throws.position[-1, :, 0]).sum() > 0
    assert found.units["mean"] == "m"
    assert found.coordinates["time"].tolist() == throws.times.tolist()


def test_covariance_against_numpy(throws, reduced):
    found = reduced["covariance:position@final+velocity@final"]
    x = np.concatenate((ends(throws, "position"), ends(throws, "velocity")), axis=1)
    np.testing.assert_allclose(found["covariance"], np.cov(x.T), rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(found["correlation"], np.corrcoef(x.T), rtol=1e-10, atol=1e-13)
    assert found["covariance"].tolist() == found["covariance"].T.tolist()
    assert found.coordinates["component"].tolist()[2:4] == ["position.z@final", "velocity.x@final"]
    over_time = reduced["covariance:position+velocity"]
    assert over_time["covariance"].shape == (len(throws.times), 6, 6)
    still = valid(np.concatenate((throws.position[-1], throws.velocity[-1]), axis=1))
    np.testing.assert_allclose(over_time["covariance"][-1], np.cov(still.T), rtol=1e-10, atol=1e-13)


def test_quantiles_against_numpy(throws, reduced):
    found = reduced["quantiles:position:0.05,0.5,0.95"]
    assert found.dims["quantiles"] == ("quantile", "time", "axis")
    for i in range(len(throws.times)):
        x = valid(throws.position[i])
        expected = np.quantile(x, (0.05, 0.5, 0.95), axis=0)
        assert (found["lower"][:, i] <= expected).all()
        assert (expected <= found["upper"][:, i]).all()
        ranks = np.sort(x, axis=0)
        for k in range(3):
            at = np.searchsorted(ranks[:, k], found["quantiles"][:, i, k]) + 1
            asked = 1 + np.array((0.05, 0.5, 0.95)) * (len(x) - 1)
            assert (abs(at - asked) <= found["rank_error"][:, i, k] * len(x) + 1).all() or np.ptp(x[:, k]) == 0
    assert 0 < found.error_bound < 1e-3
    exact = r.apply(throws, [r.quantiles("position@final", (0.05, 0.5), keep=MEMBERS)])
    kept = exact["quantiles:position@final:0.05,0.5"]
    assert kept["quantiles"].tolist() == np.quantile(ends(throws, "position"), (0.05, 0.5), axis=0).tolist()
    assert kept.error_bound == 0.0


def test_histograms_against_numpy(throws, reduced):
    x = ends(throws, "velocity")
    found = reduced["histogram:speed@final:50"]
    expected, _ = np.histogram(np.linalg.norm(x, axis=1), found["edges"])
    assert abs(found["counts"] - expected).sum() <= 2  # NumPy's norm rounds differently
    assert found["counts"].sum() == len(x)
    assert 25 <= len(found["counts"]) <= 50
    given = reduced["histogram:position:20,0,5"]
    z = valid(throws.position[-1])[:, 2]
    assert given["counts"][-1, 2].tolist() == np.histogram(z, 20, (0, 5))[0].tolist()
    assert given["above"][-1, 2] == (z > 5).sum()
    assert given.dims["counts"] == ("time", "axis", "bin")


def test_extremes_name_their_members(throws, reduced):
    found = reduced["extremes:position"]
    for i in range(len(throws.times)):
        for k in range(3):
            x = throws.position[i, :, k]
            assert found["largest"][i, k] == np.nanmax(x)
            assert found["largest_member"][i, k] == np.nanargmax(x)
            assert found["smallest_member"][i, k] == np.nanargmin(x)
    assert found["smallest_member"][0, 0] == 0  # the first of equal ones


def test_counts_and_their_interval_against_scipy(throws, reduced):
    found = reduced["count:position.z@final:>2<4"]
    z = ends(throws, "position")[:, 2]
    having = int(((z > 2) & (z < 4)).sum())
    assert int(found["having"]) == having
    interval = binomtest(having, len(z)).proportion_ci(0.95, method="wilson")
    np.testing.assert_allclose((float(found["lower"]), float(found["upper"])), interval, rtol=1e-12)
    assert int(reduced["far"]["having"]) == (throws.position[-1, :, 0] > 3).sum()


def test_states_at_events_against_the_crossings(throws, reduced):
    landed = [(c.time, c.state.position[0], c.body) for c in throws.crossings]
    assert 100 < len(landed) < MEMBERS
    found = reduced["mean:position.x@landing"]
    np.testing.assert_allclose(float(found["mean"]), np.mean([x for _, x, _ in landed]), rtol=1e-12)
    assert found.missing == MEMBERS - len(landed)
    times = reduced["quantiles:time@landing:0.5"]
    assert times["quantiles"][0] == np.quantile([t for t, _, _ in landed], 0.5)
    assert times.units["quantiles"] == "s"


def test_samples_are_the_values_of_their_members(throws, reduced):
    found = reduced["sample:position@final:251"]
    members = found.coordinates["member"]
    assert members.tolist() == list(range(0, MEMBERS, 251))
    assert found["values"].tobytes() == (ends(throws, "position")[members] + 0.0).tobytes()
    assert found.dims["values"] == ("member", "axis")
    assert reduced["sample:speed:1000"]["values"].shape == (MEMBERS // 1000 + 1, len(throws.times))


def test_functions_against_numpy(throws, reduced):
    x = valid(throws.position[-1])
    np.testing.assert_allclose(reduced["product"]["mean"], (x[:, 0] * x[:, 1]).mean(), rtol=1e-12)
    np.testing.assert_allclose(reduced["energy"]["sum"], np.nansum(throws.kinetic_energy), rtol=1e-12)
    assert reduced["energy"].members == MEMBERS
    assert int(reduced["energy"]["first"]) == 0


@pytest.mark.parametrize("blocks", [1, 2, 4, 8])
def test_the_same_bits_for_every_chunk_size_and_order(throws, reduced, blocks):
    reductions = [*check_reductions(ALL), *custom_reductions()]
    size = blocks * BLOCK_MEMBERS
    chunks = []
    for start in range(0, MEMBERS, size):
        chunk = take_members(throws, start, min(start + size, MEMBERS))
        count = chunk.scenario.members
        partials = {}
        for reduction in reductions:
            own = [
                reduction.partial(take_members(chunk, a, min(a + BLOCK_MEMBERS, count)), start + a)
                for a in range(0, count, BLOCK_MEMBERS)
            ]
            partials[reduction.name] = merge_blocks(reduction.merge, own)
        chunks.append(partials)
    order = np.random.default_rng(blocks).permutation(len(chunks)).tolist()
    found = {}
    for reduction in reductions:
        tree = MergeTree(reduction.merge)
        for k in order:
            tree.add(k, chunks[k][reduction.name])
        found[reduction.name] = reduction.finish(tree.total())
    assert bits(found) == bits(reduced)


def test_systems_have_a_body_dimension():
    velocity = RNG.normal(size=(50, 3))
    bodies = [ph.particle(1.0), ph.particle(2.0)]
    motion = ph.ensemble(bodies, [ph.State(velocity=velocity), ph.State(velocity=2 * velocity)], duration=1.0)
    found = r.apply(motion, ["mean:position@final", "mean:total_kinetic_energy", "covariance:velocity.x@final"])
    assert found["mean:position@final"].dims["mean"] == ("body", "axis")
    np.testing.assert_allclose(found["mean:position@final"]["mean"], motion.position[-1].mean(axis=0), rtol=1e-12)
    assert found["mean:total_kinetic_energy"].dims["mean"] == ("time",)
    labels = found["covariance:velocity.x@final"].coordinates["component"].tolist()
    assert labels == ["velocity.x[body 0]@final", "velocity.x[body 1]@final"]


def test_every_quantity_of_a_plain_motion_can_be_reduced(throws):
    block = take_members(throws, 0, 100)
    for name, known in QUANTITIES.items():
        if name == "work" or known.needs.startswith(("rotors", "contacts", "a pivot")):
            continue
        values = read_quantity(name).values(block)
        assert values.rows.shape == (np.prod(values.shape, dtype=int), 100)
        assert read_quantity(name).dims(len(values.shape)) == ("time", *known.axes)


def test_dataset_and_json(reduced):
    for one in reduced.values():
        dataset = one.to_dataset()
        assert set(dataset) == set(one.values)
        json.dumps(one.as_dict(), allow_nan=False)
    assert reduced["quantiles:position:0.05,0.5,0.95"].to_dataset()["quantiles"].sel(quantile=0.5, axis="z").shape == (
        5,
    )
    assert "ranks within" in repr(reduced["quantiles:position:0.05,0.5,0.95"])
    assert "without a value" in repr(reduced["mean:position"])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("median:position", "no reduction 'median': "),
        ("mean", "mean of what"),
        ("mean:altitude", "no quantity of a motion"),
        ("mean:position.w", "components of position are x, y, z"),
        ("mean:speed.x", "no components"),
        ("mean:position:3", "more parts"),
        ("mean:position@", "after @ say when"),
        ("mean:time", "time of what"),
        ("mean:energy@landing", "depends on the forces"),
        ("mean:quaternion_wxyz", "no attitude"),
        ("quantiles:speed:0.5,high", "'high' is no number"),
        ("quantiles:speed:5,50", "between 0 and 1"),
        ("histogram:speed:50,0", "number of bins"),
        ("histogram:speed:1.5", "number of bins"),
        ("histogram:speed:10,5,5", "must rise"),
        ("histogram:speed:0", "at least 1"),
        ("count:speed", "which members"),
        ("count:speed:10", "which members"),
        ("count:speed:>1>2", "twice"),
        ("count:speed:>nan", "not finite"),
        ("sample:speed", "every 251st"),
        ("sample:speed:2.5", "whole number"),
        ("covariance:position+velocity@final", "some are at all outputs"),
    ],
)
def test_texts_that_make_no_sense(text, sentence):
    with pytest.raises(InputError, match=sentence):
        r.read_reduction(text)


def test_records_that_make_no_sense(throws):
    block = take_members(throws, 0, 10)
    with pytest.raises(InputError, match="two reductions 'mean:speed'"):
        check_reductions(["mean:speed", r.mean("speed")])
    with pytest.raises(InputError, match="is no reduction"):
        check_reductions([3])
    with pytest.raises(InputError, match="as a list"):
        check_reductions(3)
    with pytest.raises(InputError, match="has no event 'impact'; its events are landing"):
        r.apply(block, ["mean:position@impact"])
    with pytest.raises(InputError, match="members first"):
        r.apply(block, [r.mean(lambda motion: motion.position)])
    with pytest.raises(InputError, match="dictionary of arrays"):
        r.apply(block, [r.custom("odd", lambda motion, first: 3, lambda left, right: left)])
    with pytest.raises(InputError, match="use ph"):
        r.apply(throws.member(0), ["mean:position"])
    with pytest.raises(InputError, match="no rotors"):
        r.apply(block, ["mean:rotor_speed"])
    with pytest.raises(KeyError, match="median"):
        r.apply(block, ["mean:speed"])["mean:speed"]["median"]


def test_texts_and_functions_mean_the_same():
    assert r.read_reduction("quantiles:position.z:0.05,0.5") == r.quantiles("position.z", (0.05, 0.5))
    assert r.read_reduction("histogram:speed:50,0,20") == r.histogram("speed", 50, (0, 20))
    assert r.read_reduction("count:speed@final:>2") == r.count("speed@final", above=2)
    assert r.read_reduction("covariance:position+velocity") == r.covariance("position", "velocity")


def test_the_first_of_several_events_counts():
    @ph.event
    def crossing(t, state, body, params):
        return state.position[0]

    speeds = np.array((1.0, 2.0))
    state = ph.State(position=(0.5, 0.0, 0.0), velocity=np.stack([-speeds, 0 * speeds, 0 * speeds], axis=1))
    back = ph.forces.spring(4.0, (0, 0, 0))
    motion = ph.ensemble(
        ph.particle(1.0), state, [back], duration=6.0, events=[crossing(action="record")], method="dop853", step=0.1
    )
    expected = [np.arctan2(2 * 0.5, v) / 2 for v in speeds]  # x = 0.5 cos 2t - v/2 sin 2t
    found = r.apply(motion, ["extremes:time@crossing"])["extremes:time@crossing"]
    np.testing.assert_allclose([float(found["largest"]), float(found["smallest"])], expected, rtol=1e-8)
