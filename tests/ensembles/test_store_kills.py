"""A process that writes a store is killed (SIGKILL) at any instant; resumed, the store equals the uninterrupted one."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import chunk_producer as producer
from polhode.ensembles.store import EnsembleStore

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
PROGRAM = producer.__file__
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def run_steps(folder: Path, stride: int) -> int:
    command = [sys.executable, PROGRAM, "--kill-at-every-step", str(folder), str(stride)]
    return int(subprocess.run(command, env=ENVIRONMENT, check=True, capture_output=True, text=True).stdout)


def test_killed_at_one_step_or_another_of_its_work_on_files(tmp_path: Path) -> None:
    assert run_steps(tmp_path, stride=17) > 100


@pytest.mark.long
def test_killed_at_every_step_of_its_work_on_files(tmp_path: Path) -> None:
    assert run_steps(tmp_path, stride=1) > 100


def kill_repeatedly(start: Callable[[], subprocess.Popen[bytes]], path: Path, chunks: int, kills: int) -> None:
    """Start a run again and again, and kill it at random instants, not before it has begun a chunk or completed one."""
    instants, done = random.Random(17), [0]
    for _ in range(kills):
        run, wanted = start(), min(done[-1] + instants.randrange(3), chunks)
        while run.poll() is None and (not path.exists() or len(list(path.glob("records/chunk-*"))) < wanted):
            time.sleep(0.001)
        time.sleep(instants.uniform(0.0, 0.05))
        run.kill()
        run.communicate()
        with EnsembleStore.open(path) as store:
            damage = store.find_damage()
        assert all("not written" in one.reason for one in damage)
        done.append(chunks - len(damage))
    assert done == sorted(done)  # nothing that was there is lost


def kill_producer(folder: Path, kills: int, chunks: int) -> None:
    path = folder / "killed.zarr"
    kill_repeatedly(lambda: start([PROGRAM, path, chunks]), path, chunks, kills)
    producer.produce(path, chunks)
    producer.produce(folder / "uninterrupted.zarr", chunks)
    assert producer.content_of(path) == producer.content_of(folder / "uninterrupted.zarr")


def start(command: list[Any]) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, *map(str, command)], env=ENVIRONMENT, stdout=subprocess.PIPE)


def test_killed_four_times(tmp_path: Path) -> None:
    kill_producer(tmp_path, kills=4, chunks=40)


@pytest.mark.long
def test_killed_twenty_times(tmp_path: Path) -> None:
    kill_producer(tmp_path, kills=20, chunks=200)


CHUNKS = 80
SWEEP = """
import sys
import polhode as ph

def build(draw):
    start = ph.State(velocity=draw.normal("velocity", (10.0, 0.0, 10.0), 0.5), angular_velocity_body=(0.1, 5.0, 0.1))
    forces = [ph.forces.gravity(), ph.forces.quadratic_drag(draw.uniform("drag", 0.0, 0.1))]
    body = ph.Body(draw.normal("mass", 1.0, 0.02), (1.0, 2.0, 2.5))
    return ph.Scenario(body, start, forces, duration=1.0, step=2e-3, method="rk4", output_step=0.25)

result = ph.sweep(
    build, members=80 * 4096 - 5, seed=3, chunk_members=4096, store=sys.argv[1], resume=True, progress=False,
    reduce=["mean:position", "quantiles:speed@final"], keep="samples",
)
print(result.checksum())
"""


@pytest.mark.long
def test_a_sweep_killed_twenty_times_has_every_byte_of_the_uninterrupted_one(tmp_path: Path) -> None:
    """Samples, inputs, partial reductions, records, and what the reductions found."""
    program, path, whole = tmp_path / "sweep.py", tmp_path / "killed.zarr", tmp_path / "whole.zarr"
    program.write_text(SWEEP)
    checksum = start([program, whole]).communicate()[0]
    kill_repeatedly(lambda: start([program, path]), path, CHUNKS, kills=20)
    assert start([program, path]).communicate()[0] == checksum != b""
    assert producer.content_of(path) == producer.content_of(whole)
