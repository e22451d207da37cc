"""Sweeps: members drawn from distributions, against closed forms of what they do."""

from __future__ import annotations

import numpy as np
import pytest

import polhode as ph
from polhode.errors import InertiaError, ScenarioError

FILE = """
duration = 2.0
step = 0.5
method = "rk4"
[body]
mass = 2.0
inertia = [1.0, 2.0, 2.5]
velocity = { normal = [[1.0, 0.0, 0.0], 0.25] }
[sweep]
members = 9000
seed = 3
reduce = ["mean:position@final"]
"""


def build(draw):
    speed = draw.uniform("speed", 1.0, 3.0)
    start = ph.State(velocity=speed[:, None] * np.array([1.0, 0.0, 0.0]))
    return ph.Scenario(ph.particle(2.0), start, duration=2.0, step=0.5, method="rk4")


def test_the_mean_of_a_sweep_against_the_mean_of_the_distribution():
    result = ph.sweep(build, members=40_000, seed=1, reduce=["mean:position.x@final"])
    found = result.reductions["mean:position.x@final"]
    assert abs(found["mean"] - 4.0) < 4 * found["standard_error"]  # x = 2 s * speed
    assert found["standard_deviation"] == pytest.approx(2 * 2 / np.sqrt(12), rel=0.02)
    assert np.array_equal(
        2 * result.inputs["speed"][:5], 2 * ph.DrawnSource(build, 40_000, 1).inputs([0, 1, 2, 3, 4])["speed"]
    )


def test_a_sweep_in_a_store_is_what_its_inputs_say(tmp_path):
    result = ph.sweep(build, members=5000, seed=1, store=tmp_path / "sweep.zarr")
    speed = result.inputs["speed"]
    assert speed.shape == (5000,)
    np.testing.assert_allclose(result.final.position[:, 0], 2 * speed, rtol=1e-14)
    loaded = ph.load(tmp_path / "sweep.zarr")
    assert np.array_equal(loaded.inputs["speed"], speed)
    assert loaded.checksum() == result.checksum()


@pytest.mark.parametrize("design", ["random", "latin_hypercube", "sobol"])
def test_no_draw_depends_on_chunks(design):
    results = [
        ph.sweep(build, members=16_384, seed=4, design=design, reduce=["mean:position"], chunk_members=size, threads=n)
        for size, n in ((4096, 1), (16_384, 2))
    ]
    assert results[0].checksum() == results[1].checksum()
    means = [one.reductions["mean:position"]["mean"] for one in results]
    assert means[0].tobytes() == means[1].tobytes()


def test_a_file_says_how_many_members_and_what_is_kept(tmp_path):
    path = tmp_path / "drift.toml"
    path.write_text(FILE)
    result = ph.sweep(path)
    assert result.members == 9000
    found = result.reductions["mean:position@final"]
    assert abs(found["mean"][0] - 2.0) < 4 * found["standard_error"][0]
    fewer = ph.sweep(path, members=100, seed=3, store=tmp_path / "sweep.zarr", keep="samples")
    assert fewer.motion(slice(None)).position.shape == (1, 100, 3)
    assert fewer.reductions == {}


def test_arrays_and_sources_are_swept_as_they_are():
    scenario = ph.Scenario(ph.particle(1.0), ph.State(velocity=[(1, 0, 0), (3, 0, 0)]), duration=2.0)
    assert ph.sweep(scenario).reductions["mean:position"]["mean"][-1, 0] == pytest.approx(4.0)
    assert ph.sweep(ph.DrawnSource(build, 10)).members == 10
    with pytest.raises(ScenarioError, match="has its members already"):
        ph.sweep(scenario, members=7)
    with pytest.raises(ScenarioError, match="how many members"):
        ph.sweep(build)


def test_another_engine_has_the_same_bits():
    compiled = ph.sweep(build, members=20, reduce=["mean:position"])
    with pytest.warns(UserWarning, match="engine='python'"):
        plain = ph.sweep(build, members=20, reduce=["mean:position"], engine="python")
    assert compiled.checksum() == plain.checksum()


def test_a_draw_that_no_body_has_is_reported_with_its_members():
    def heavy(draw):
        return ph.Scenario(ph.particle(draw.normal("mass", 1.0, 0.26)), duration=1.0, step=0.5, method="rk4")

    with pytest.raises(InertiaError, match="mass must be greater than 0") as caught:
        ph.sweep(heavy, members=30_000, reduce=["mean:position"], chunk_members=4096)
    assert any("members" in note for note in caught.value.__notes__)
