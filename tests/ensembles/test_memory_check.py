"""An ensemble that cannot fit is refused before it starts, with what it needs, what there is, and what to do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import polhode as ph
from polhode.ensembles import memory_check
from polhode.errors import InputError, ScenarioError

PARTICLE = ph.particle(1.0)


def throws(members):
    return ph.State(velocity=np.broadcast_to((1.0, 0.0, 0.0), (members, 3)))


def test_samples_of_all_members_that_do_not_fit_are_a_sentence():
    """100,000 members times 1,000,001 outputs times 14 numbers of 8 bytes are 10.2 TiB."""
    with pytest.raises(
        ScenarioError, match=r"100,000 members at 1,000,001 output times take 10\.2 TiB, but .* free"
    ) as e:
        ph.ensemble(PARTICLE, throws(100_000), duration=1.0, output_times=np.linspace(0.0, 1.0, 1_000_001))
    assert "store=" in str(e.value)
    assert "reduce=" in str(e.value)


def test_a_chunk_that_does_not_fit_is_a_sentence():
    settings = {"duration": 1.0, "output_times": np.linspace(0.0, 1.0, 1_000_001), "reduce": ["mean:position"]}
    with pytest.raises(
        ScenarioError, match=r"two chunks of 4,096 members .* take 854 GiB.*: ask for fewer output times$"
    ):
        ph.ensemble(PARTICLE, throws(100_000), **settings)
    with pytest.raises(ScenarioError, match="or smaller chunks"):
        ph.ensemble(PARTICLE, throws(100_000), chunk_members=8192, **settings)


def test_what_is_free_decides(monkeypatch):
    needed = 8 * 1000 * 14
    monkeypatch.setattr(memory_check, "find_free_memory", lambda: needed)
    ph.ensemble(PARTICLE, throws(1000), duration=1.0)
    monkeypatch.setattr(memory_check, "find_free_memory", lambda: needed - 1)
    with pytest.raises(ScenarioError, match="109 KiB"):
        ph.ensemble(PARTICLE, throws(1000), duration=1.0)
    monkeypatch.setattr(memory_check, "find_free_memory", lambda: None)  # where nobody knows, nothing is refused
    ph.ensemble(PARTICLE, throws(1000), duration=1.0)


def test_what_is_free_is_what_the_machine_says():
    psutil = pytest.importorskip("psutil")
    if not Path("/proc/meminfo").exists():
        pytest.skip("reads /proc/meminfo")
    there = psutil.virtual_memory().available + psutil.swap_memory().free
    assert memory_check.find_free_memory() <= 1.1 * there
    assert memory_check._free_in_machine() == pytest.approx(there, rel=0.1)


def test_limits_of_the_process_count():
    pytest.importorskip("resource")
    code = (
        "import resource\nfrom polhode.ensembles.memory_check import find_free_memory\n"
        "resource.setrlimit(resource.RLIMIT_AS, (3 * 2**30, 3 * 2**30))\nprint(find_free_memory())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 0 <= int(done.stdout) < 3 * 2**30


def build(draw):
    return ph.Scenario(PARTICLE, ph.State(velocity=draw.normal("v", (0.0, 0.0, 1.0), 1.0)), duration=1.0)


TWO = np.array(["cpu", "random"])


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: ph.ensemble(PARTICLE, throws(10), duration=1.0, engine=TWO), "engine is a name, 'cpu', 'gpu', 'dask'"),
        (
            lambda: ph.sweep(build, members=10, engine=TWO),
            "engine is a name, 'cpu', 'gpu', 'dask' or 'python', not arr",
        ),
        (
            lambda: ph.ensemble(PARTICLE, throws(10), duration=1.0, engine="dask", worker_engine=TWO),
            "worker_engine is a",
        ),
        (lambda: ph.sweep(build, members=10, design=TWO), "design array.* is unknown"),
        (lambda: ph.sweep(build, members=10, design=3), "design 3 is unknown"),
        (lambda: ph.sweep(build, members=10**20), r"members must be at most 2\^53"),
        (lambda: ph.ensemble(PARTICLE, throws(10), duration=1.0, keep=TWO), "keep must be 'samples' or 'reductions'"),
        (
            lambda: ph.ensemble(PARTICLE, throws(10), duration=1.0, progress=np.ones(2)),
            "progress must be True or False",
        ),
        (lambda: ph.summarize(0.5), r"a summary is made of what ph\.sweep returns .* not of 0\.5"),
        (lambda: ph.summary_reductions(0.5), "a summary looks at drawn members: give their source"),
    ],
)
def test_a_wrong_argument_is_a_sentence(call, sentence):
    with pytest.raises(InputError, match=sentence):
        call()


def test_a_file_that_asks_for_too_many_members_is_a_sentence(tmp_path):
    path = tmp_path / "sweep.toml"
    path.write_text(f"duration = 1.0\n[body]\nmass = {{ normal = [1.0, 0.1] }}\n[sweep]\nmembers = {10**20}")
    with pytest.raises(ScenarioError, match=r"sweep\.toml: members must be at most 2\^53"):
        ph.sweep(path)
