"""`engine="dask"`: the bits of one machine, also after workers have died, and stores that any engine completes."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("distributed")

import polhode as ph
from polhode.ensembles import runner
from polhode.errors import DeadlyChunksError, ScenarioError
from polhode.progress import listening

REDUCTIONS = ["mean:position", "quantiles:speed@final", "extremes:position"]
MEMBERS, CHUNK, DEADLY = 5 * 4096 + 100, 4096, 9000
"""Member 9000 is in chunk 2, and not among those that are looked at before the run."""


def make_build(before: Callable[[Any], None] = lambda draw: None) -> Callable[[Any], ph.Scenario]:
    """A sweep with a force that only this process knows: it travels by value."""
    push = 0.3

    @ph.force
    def wind(t: Any, state: Any, body: Any, params: Any) -> Any:
        return (push * params[0], 0.0, 0.0), (0.0, 0.0, 0.0)

    def build(draw: Any) -> ph.Scenario:
        before(draw)
        mass, drag = draw.lognormal("mass", 1.0, 0.05), draw.uniform("drag", 0.005, 0.015)
        state = ph.State(velocity=(20.0, 0.0, 5.0), angular_velocity_body=draw.normal("spin", (0.0, 5.0, 0.0), 0.1))
        forces = [ph.forces.gravity(), ph.forces.quadratic_drag(drag), wind(drag)]
        body = ph.Body(mass, (1e-3, 1.2e-3, 1.5e-3))
        return ph.Scenario(body, state, forces, duration=0.5, step=0.01, method="rk4", output_step=0.25)

    return build


def sweep(build: Any, **options: Any) -> Any:
    return ph.sweep(build, members=MEMBERS, seed=3, chunk_members=CHUNK, progress=False, **options)


@pytest.fixture(scope="module")
def on_cpu(tmp_path_factory: pytest.TempPathFactory) -> Any:
    store = tmp_path_factory.mktemp("cpu") / "sweep.zarr"
    return sweep(make_build(), store=store, reduce=REDUCTIONS, keep="samples")


def assert_same(found: Any, expected: Any) -> None:
    assert found.checksum() == expected.checksum()
    assert found.reductions.keys() == expected.reductions.keys()
    for name, reduced in expected.reductions.items():
        for key, values in reduced.values.items():
            np.testing.assert_array_equal(found.reductions[name][key], values)


@pytest.mark.parametrize("workers", [1, 3])
def test_a_sweep_has_the_bits_of_one_machine(on_cpu: Any, tmp_path: Path, workers: int) -> None:
    heard: list[Any] = []
    with listening(heard.append):
        found = sweep(
            make_build(),
            engine="dask",
            threads=workers,
            store=tmp_path / "s.zarr",
            reduce=REDUCTIONS,
            keep="samples",
        )
    assert_same(found, on_cpu)
    assert_same(ph.load(tmp_path / "s.zarr"), on_cpu)
    assert heard[-1].share == 1.0
    assert heard[-1].rate > 0


def test_an_ensemble_in_memory_has_the_bits_of_one_machine() -> None:
    start = ph.State(velocity=np.linspace((5.0, 0.0, 5.0), (15.0, 0.0, 15.0), 9000), angular_velocity_body=(1, 2, 3))
    forces = [ph.forces.gravity(), ph.forces.quadratic_drag(np.linspace(0.0, 0.1, 9000))]
    body = ph.Body(1.0, (1.0, 2.0, 2.5))
    settings: dict[str, Any] = {"duration": 1.0, "output_step": 0.5, "progress": False}
    expected = ph.ensemble(body, start, forces, **settings)
    found = ph.ensemble(body, start, forces, engine="dask", threads=2, **settings)
    np.testing.assert_array_equal(found.run_result.samples, expected.run_result.samples)
    assert found.run_result.steps == expected.run_result.steps
    assert str(found.audit()) == str(expected.audit())


def test_killed_workers_change_no_bit(on_cpu: Any, tmp_path: Path) -> None:
    psutil = pytest.importorskip("psutil")
    ended, killed = threading.Event(), []

    def kill_workers() -> None:
        while len(killed) < 3:
            with suppress(psutil.Error):
                workers = [one for one in psutil.Process().children() if "spawn_main" in " ".join(one.cmdline())]
                for process in workers[-1:]:
                    process.kill()
                    killed.append(process.pid)
            if ended.wait(0.3):
                return

    killer = threading.Thread(target=kill_workers)

    def start_killing(report: Any) -> None:
        if report.done and killer.ident is None:
            draft.write_bytes(b"what a killed worker leaves")
            killer.start()

    store = tmp_path / "s.zarr"
    draft = store / "samples" / ".c.0.0.0.0123456789abcdef.part"
    try:
        with listening(start_killing):
            found = sweep(make_build(), engine="dask", threads=2, store=store, reduce=REDUCTIONS, keep="samples")
    finally:
        ended.set()
        if killer.ident is not None:
            killer.join()
    assert killed
    assert_same(found, on_cpu)
    assert killer.ident is not None
    assert not list(store.rglob("*.part"))


@pytest.mark.long
def test_a_deadly_member_is_reported_the_rest_is_done_and_another_engine_completes_it(
    on_cpu: Any, tmp_path: Path
) -> None:
    owner = os.getpid()

    def die_elsewhere(draw: Any) -> None:
        if os.getpid() != owner and DEADLY in draw.members:
            os._exit(1)

    build, store = make_build(die_elsewhere), tmp_path / "s.zarr"
    kept: dict[str, Any] = {"store": store, "reduce": REDUCTIONS, "keep": "samples"}
    with pytest.raises(DeadlyChunksError, match="members 8192 to 12287 were not computed: 3 workers") as caught:
        sweep(build, engine="dask", threads=3, **kept)
    error = caught.value
    assert (error.chunks, error.members) == ([2], [(8192, 12288)])
    assert [(damage.first, damage.last) for damage in error.result.damaged] == error.members
    others = [*range(0, 8192, 1000), *range(12288, MEMBERS, 1000)]
    np.testing.assert_array_equal(error.result.motion(others).position, on_cpu.motion(others).position)
    assert_same(sweep(build, resume=True, **kept), on_cpu)


def test_a_damaged_store_is_completed_by_other_machines(on_cpu: Any, tmp_path: Path) -> None:
    from distributed import Client

    store = tmp_path / "s.zarr"
    shutil.copytree(on_cpu.store.path, store)
    samples = next((store / "samples").glob("c.*1*"))
    content = bytearray(samples.read_bytes())
    content[-100] ^= 1
    samples.write_bytes(content)
    (store / "records" / "chunk-00000004").unlink()
    kept: dict[str, Any] = {"store": store, "reduce": REDUCTIONS, "keep": "samples"}
    written = {path.name: path.stat().st_mtime_ns for path in (store / "records").glob("chunk-*")}
    with Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as client:
        found = sweep(make_build(), engine="dask", scheduler=client, resume=True, **kept)
    assert_same(found, on_cpu)
    now = {path.name: path.stat().st_mtime_ns for path in (store / "records").glob("chunk-*")}
    assert len([name for name, when in now.items() if written.get(name) != when]) == 2  # only these two were computed


SCRIPT = '''
import signal, sys, time
import polhode as ph
from polhode.progress import listening

signal.signal(signal.SIGINT, signal.default_int_handler)  # of tests that run in the background shells ignore it

SCALE = 2

@ph.force
def wind(t, state, body, params):
    return (SCALE * params[0], 0.0, 0.0), (0.0, 0.0, 0.0)

def build(draw):
    spin = draw.normal("spin", (0.0, 5.0, 0.0), 0.1)
    body = ph.Body(draw.lognormal("mass", 1.0, 0.05), (1.0, 2.0, 2.5))
    state = ph.State(angular_velocity_body=spin)
    return ph.Scenario(body, state, [wind(0.5)], duration=20.0, step=0.01, method="rk4")

_, store, engine, resume = sys.argv


def wait_to_be_killed(report):
    """After five chunks, no others are begun: however fast the machine, the signal meets an unfinished run."""
    if engine == "dask" and report.done >= 5 * 4096:
        print("killable", flush=True)
        time.sleep(60)

with listening(wait_to_be_killed):
    found = ph.sweep(build, members=24 * 4096, seed=1, chunk_members=4096, store=store, engine=engine, threads=2,
                     resume=resume == "resume")
print("checksum", found.checksum())
'''


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_was_killed_is_completed_by_another_engine(tmp_path: Path, number: signal.Signals) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)

    def start(store: str, engine: str, resume: str) -> subprocess.Popen[str]:
        command = [sys.executable, str(script), str(tmp_path / store), engine, resume]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    whole, _ = start("whole.zarr", "cpu", "no").communicate(timeout=300)
    process = start("killed.zarr", "dask", "no")
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("killable"):
            break
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode != 0
    if number == signal.SIGINT:
        assert "KeyboardInterrupt: the run was interrupted" in err
        assert "killed.zarr, and resume=True goes on from there" in err
    time.sleep(1)
    left = ph.load(tmp_path / "killed.zarr").damaged
    assert 0 < len(left) <= 19
    resumed, err = start("killed.zarr", "cpu", "resume").communicate(timeout=300)
    assert whole.splitlines()[-1].startswith("checksum"), err
    assert resumed.splitlines()[-1] == whole.splitlines()[-1]


def test_what_does_not_fit_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    start = ph.State(velocity=np.ones((10, 3)))
    body = ph.particle(1.0)
    with pytest.raises(ScenarioError, match=r"scheduler='tcp://x' is for engine='dask', but the engine is 'cpu'"):
        ph.ensemble(body, start, duration=1.0, scheduler="tcp://x")
    with pytest.raises(ScenarioError, match="threads counts the processes of a cluster that is started on this machi"):
        ph.ensemble(body, start, duration=1.0, engine="dask", scheduler="tcp://x", threads=2)
    with pytest.raises(ScenarioError, match="worker_engine is what computes a chunk on a worker"):
        ph.ensemble(body, start, duration=1.0, engine="dask", worker_engine="dask")
    monkeypatch.setattr(runner, "LARGEST_MOTION", 1000)
    with pytest.raises(ScenarioError, match=r"too much to send them all to this process: give store="):
        ph.ensemble(body, start, duration=1.0, engine="dask", threads=2)
