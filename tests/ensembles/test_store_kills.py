"""A process that writes a store is killed (SIGKILL) at any instant; resumed, the store equals the uninterrupted one."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

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


def kill_at_random_instants(folder: Path, kills: int, chunks: int) -> None:
    path, instants, done = folder / "killed.zarr", random.Random(17), []
    for _ in range(kills):
        writer = subprocess.Popen([sys.executable, PROGRAM, str(path), str(chunks)], env=ENVIRONMENT, stdout=-1)
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(instants.uniform(0.0, 0.12))
        writer.kill()
        writer.communicate()
        if path.exists():
            with EnsembleStore.open(path) as store:
                damage = store.find_damage()
                assert all("not written" in one.reason for one in damage)
                done.append(chunks - len(damage))
    assert done == sorted(done)  # nothing that was there is lost
    producer.produce(path, chunks)
    producer.produce(folder / "uninterrupted.zarr", chunks)
    assert producer.content_of(path) == producer.content_of(folder / "uninterrupted.zarr")


def test_killed_four_times(tmp_path: Path) -> None:
    kill_at_random_instants(tmp_path, kills=4, chunks=40)


@pytest.mark.long
def test_killed_twenty_times(tmp_path: Path) -> None:
    kill_at_random_instants(tmp_path, kills=20, chunks=200)
