"""Stores of runs: killed processes, damaged files, full disks, two at once, and stores of something else."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polhode as ph
from polhode.archive import records
from polhode.archive.checkpoints import CheckpointChain
from polhode.archive.lock import StoreInUseError, lock_store
from polhode.archive.manifest import CHECKPOINT, read_manifest
from polhode.errors import FileError, ScenarioError
from polhode.integrate import integrator
from polhode.solve import durable_run

PROGRAM = Path(__file__).parent.parent / "helpers" / "killed_process.py"
BOX = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0)
SPIN = ph.State(angular_velocity_body=(0.1, 5.0, 0.1))
SCENARIO = ph.Scenario(
    BOX, SPIN, [ph.forces.gravity(), ph.forces.linear_drag(0.5)], duration=1.0, step=1e-3, method="rk4"
)


class Killed(BaseException):
    """As if the process had ended."""


@pytest.fixture
def frequent(monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkpoint after every portion of about 70 steps."""
    monkeypatch.setattr(durable_run, "CHECKPOINT_S", 0.0)
    monkeypatch.setattr(durable_run, "CHECKPOINT_SHARE", 0.0)
    monkeypatch.setattr(integrator, "PORTION_S", 2e-5)
    monkeypatch.setattr(integrator.FixedSteps, "seconds_per_step", property(lambda _: 3e-7, lambda *_: None), False)


def begin(
    store: Path,
    monkeypatch: pytest.MonkeyPatch,
    checkpoints: int = 6,
    scenario: ph.Scenario = SCENARIO,
    resume: bool = False,
) -> None:
    """Leave an unfinished run with so many checkpoints."""
    write = CheckpointChain.write

    def write_and_die(self: Any, *arguments: Any) -> None:
        write(self, *arguments)
        if self.number == checkpoints:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(CheckpointChain, "write", write_and_die)
        with pytest.raises(Killed):
            ph.simulate(scenario, store=store, resume=resume)


def assert_finishes(store: Path) -> None:
    """Resumed, the run has the bits of one without a store."""
    wanted = ph.simulate(SCENARIO).run_result.samples
    assert ph.simulate(SCENARIO, store=store, resume=True).run_result.samples.tobytes() == wanted.tobytes()
    assert ph.load(store).run_result.samples.tobytes() == wanted.tobytes()


# Killed processes -----------------------------------------------------------------------------------------------------
def read_tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def count_checkpoints(store: Path) -> int:
    """How many checkpoints a run has written so far."""
    return max((int(path.name[-8:]) for path in store.glob("records/state-????????")), default=0)


def kill_and_resume(name: str, kills: int, folder: Path) -> None:
    """Kill the run of a process at random instants; at the end its store equals that of an uninterrupted one."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path])}
    subprocess.run([sys.executable, PROGRAM, name, folder / "whole.zarr"], check=True, env=environment)
    chance, reached, killed = random.Random(name), 0, 0
    for _ in range(kills):
        process = subprocess.Popen([sys.executable, PROGRAM, name, folder / "x.zarr"], env=environment)
        wanted = reached + chance.randrange(3)
        while process.poll() is None and count_checkpoints(folder / "x.zarr") < wanted:
            time.sleep(0.001)
        time.sleep(chance.uniform(0.0, 0.05))
        killed += process.poll() is None
        process.kill()
        process.wait()
        reached = max(reached, count_checkpoints(folder / "x.zarr"))
    assert killed > kills // 2  # the others had ended before
    assert reached > 1  # and there was something to continue from
    subprocess.run([sys.executable, PROGRAM, name, folder / "x.zarr"], check=True, env=environment)
    assert read_tree(folder / "x.zarr") == read_tree(folder / "whole.zarr")
    assert sorted(p.name for p in folder.iterdir() if not p.name.endswith(".part")) == ["whole.zarr", "x.zarr"]


def test_a_killed_process_is_resumed_to_the_same_store(tmp_path: Path) -> None:
    kill_and_resume("rk4", 2, tmp_path)


def test_checkpoints_of_a_run_that_was_killed_just_after_its_end_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, frequent: None
) -> None:
    """The motion has taken their place, and they have a name of their own beside it."""

    def die(*_: Any, **__: Any) -> None:
        raise Killed

    begin(tmp_path / "x.zarr", monkeypatch)
    with monkeypatch.context() as patch:
        patch.setattr("polhode.archive.folders.shutil.rmtree", die)
        with pytest.raises(Killed):
            ph.simulate(SCENARIO, store=tmp_path / "x.zarr", resume=True)
    assert len(list(tmp_path.glob("x.zarr.*.part"))) == 1
    ph.simulate(SCENARIO, store=tmp_path / "x.zarr", resume=True)
    assert os.listdir(tmp_path) == ["x.zarr"]


@pytest.mark.long
@pytest.mark.parametrize("name", ["rk4", "auto"])
def test_twenty_kills_at_random_instants(name: str, tmp_path: Path) -> None:
    kill_and_resume(name, 20, tmp_path)


# Damage ---------------------------------------------------------------------------------------------------------------
def damage(path: Path, how: str) -> None:
    content = path.read_bytes()
    if how == "removed":
        path.unlink()
    elif how == "cut":
        path.write_bytes(content[: len(content) // 2])
    elif how == "empty":
        path.write_bytes(b"")
    else:
        at = random.Random(how + path.name).randrange(len(content))
        path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])


@pytest.mark.usefixtures("frequent")
@pytest.mark.parametrize("how", ["one bit", "another bit", "cut", "empty", "removed"])
@pytest.mark.parametrize("name", ["state-00000006", "rows-00000006", "rows-00000003", "rows-00000001"])
def test_a_damaged_checkpoint_is_noticed_and_an_earlier_one_taken(
    how: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "x.zarr"
    begin(store, monkeypatch)
    damage(store / "records" / name, how)
    if (name, how) == ("state-00000006", "removed"):  # as if it had been killed just before
        assert_finishes(store)
        return
    then = (
        "begins anew" if name == "rows-00000001" else r"continues from an earlier one, which has reached t = 0\.\d+ s"
    )
    with pytest.warns(UserWarning, match=f"not whole: .*{name}.*{then}"):
        assert_finishes(store)


@pytest.mark.usefixtures("frequent")
def test_a_folder_in_place_of_a_checkpoint_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = tmp_path / "x.zarr"
    begin(store, monkeypatch)
    state = store / "records" / "state-00000006"
    state.unlink()
    state.mkdir()
    with pytest.raises(FileError, match=r"cannot be resumed: .*state-00000006"):
        ph.simulate(SCENARIO, store=store, resume=True)
    state.rmdir()
    assert_finishes(store)


@pytest.mark.usefixtures("frequent")
def test_a_store_without_its_folder_of_checkpoints_begins_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = tmp_path / "x.zarr"
    begin(store, monkeypatch, checkpoints=1)
    shutil.rmtree(store / "records")
    with pytest.raises(FileError, match="no checkpoint yet"):
        ph.load(store)
    assert_finishes(store)


@pytest.mark.usefixtures("frequent")
def test_checkpoints_of_another_run_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = replace(SCENARIO, state=ph.State(angular_velocity_body=(0.1, 5.0, 0.2)))
    begin(tmp_path / "x.zarr", monkeypatch)
    begin(tmp_path / "y.zarr", monkeypatch, scenario=other)
    for name in ("rows-00000004", "rows-00000005", "rows-00000006", "state-00000006"):
        foreign = (tmp_path / "y.zarr" / "records" / name).read_bytes()
        (tmp_path / "x.zarr" / "records" / name).write_bytes(foreign)
    with pytest.warns(UserWarning, match="rows-00000004 belongs to another run"):
        assert_finishes(tmp_path / "x.zarr")


@pytest.mark.usefixtures("frequent")
def test_rows_that_another_attempt_has_written_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two attempts at one run may write their checkpoints at other times."""
    begin(tmp_path / "x.zarr", monkeypatch, checkpoints=3)
    shutil.copytree(tmp_path / "x.zarr", tmp_path / "y.zarr")
    begin(tmp_path / "x.zarr", monkeypatch, checkpoints=6, resume=True)
    with monkeypatch.context() as patch:
        patch.setattr(integrator, "PORTION_S", 4e-5)
        begin(tmp_path / "y.zarr", monkeypatch, checkpoints=6, resume=True)
    rows = [(tmp_path / name / "records" / "rows-00000005") for name in ("x.zarr", "y.zarr")]
    assert rows[0].read_bytes() != rows[1].read_bytes()
    shutil.copy(rows[1], rows[0])
    with pytest.warns(UserWarning, match="rows-00000005 belongs to another run"):
        assert_finishes(tmp_path / "x.zarr")


@pytest.mark.usefixtures("frequent")
def test_a_damaged_manifest_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begin(tmp_path / "x.zarr", monkeypatch)
    damage(tmp_path / "x.zarr" / "zarr.json", "cut")
    words = "the manifest in its zarr.json is not what was stored. .*, or remove it, and begin again"
    with pytest.raises(FileError, match=words):
        ph.simulate(SCENARIO, store=tmp_path / "x.zarr", resume=True)


@pytest.mark.usefixtures("frequent")
def test_an_unfinished_run_of_another_format_is_refused_with_what_was_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(tmp_path / "x.zarr", monkeypatch)
    manifest = json.loads((tmp_path / "x.zarr" / "zarr.json").read_text())["attributes"]["polhode_archive"]
    another = {"polhode_archive": manifest | {"version": 7}}
    (tmp_path / "x.zarr" / "zarr.json").write_text(json.dumps({"attributes": another}))
    with pytest.raises(FileError, match=r"is an archive of version 7, written by Polhode .*, which reads version 1"):
        ph.simulate(SCENARIO, store=tmp_path / "x.zarr", resume=True)


def test_numbers_survive_a_file_to_the_bit_and_nothing_else_is_read(tmp_path: Path) -> None:
    arrays = {"a": np.array([0.1, -0.0, np.nan, np.inf]), "b": np.arange(6).reshape(2, 3), "c": np.zeros((0, 4))}
    numbers = {"x": 0.1, "n": 3, "no": None, "yes": True, "word": "ü", "list": [1, [2.5, None]], "in": {"deep": -0.0}}
    (tmp_path / "records").mkdir()
    digest = records.write_record(tmp_path, "mine", "x", {**arrays, **numbers})
    found, same = records.read_record(tmp_path, "mine", "x")
    assert same == digest
    assert {key: found[key] for key in numbers} == numbers
    assert all(
        found[key].tobytes() == array.tobytes() and found[key].shape == array.shape for key, array in arrays.items()
    )
    (tmp_path / "records" / "link").symlink_to(tmp_path / "records" / "x")
    with pytest.raises(OSError, match="link"):
        records.read_record(tmp_path, "mine", "link")
    for name, archive, words in (("y", "mine", "y is the file of x"), ("x", "yours", "x belongs to another run")):
        (tmp_path / "records" / "y").write_bytes((tmp_path / "records" / "x").read_bytes())
        with pytest.raises(records.DamagedRecordError, match=words):
            records.read_record(tmp_path, archive, name)


# A full disk ----------------------------------------------------------------------------------------------------------
@pytest.mark.usefixtures("frequent")
def test_a_full_disk_stops_the_run_and_keeps_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, count = tmp_path / "x.zarr", 0

    def fill_up(_: int) -> None:
        nonlocal count
        count += 1
        if count > 12:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fill_up)
        with pytest.raises(FileError, match=r"stopped at t = .*No space left.*has reached t = .*resume=True"):
            ph.simulate(SCENARIO, store=store)
    assert not list(store.rglob("*.part"))
    assert_finishes(store)


def test_a_full_disk_at_the_end_keeps_the_checkpoints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, frequent: None
) -> None:
    def fill_up(folder: Path) -> None:
        if (folder / "computed").exists():  # the motion, not the first checkpoint
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr("polhode.archive.archive.flush_folder", fill_up)
        with pytest.raises(FileError, match=r"has ended, but .*No space left.*has reached t = .*resume=True"):
            ph.simulate(SCENARIO, store=tmp_path / "x.zarr")
    assert os.listdir(tmp_path) == ["x.zarr"]
    assert_finishes(tmp_path / "x.zarr")


# Others ---------------------------------------------------------------------------------------------------------------
def test_two_runs_cannot_write_one_store(tmp_path: Path) -> None:
    with lock_store(tmp_path / "x.zarr"), pytest.raises(StoreInUseError, match=f"process {os.getpid()} on"):
        ph.simulate(SCENARIO, store=tmp_path / "x.zarr", resume=True)


@pytest.mark.usefixtures("frequent")
def test_an_unfinished_run_says_how_far_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = tmp_path / "x.zarr"
    begin(store, monkeypatch)
    words = r"is a run that is not finished, which has reached t = 0\.\d+ s. Resume it with ph.simulate"
    with pytest.raises(FileError, match=words):
        ph.load(store)
    with lock_store(store), pytest.raises(FileError, match="It is being computed by process"):
        ph.load(store)
    with pytest.raises(FileError, match=r"holds an unfinished run, which has reached t = .*resume=True"):
        ph.simulate(SCENARIO, store=store)
    with pytest.raises(FileError, match="not a stored motion"):
        ph.simulate(SCENARIO).save(store)


@pytest.mark.usefixtures("frequent")
def test_another_scenario_or_version_is_refused_with_what_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "x.zarr"
    begin(store, monkeypatch)
    faster, drag = ph.State(angular_velocity_body=(0.1, 5.0, 0.2)), ph.forces.linear_drag(0.6)
    changes: list[tuple[dict[str, Any], str]] = [
        ({"step": 2e-3}, r"step is 0.001 in the store and 0.002 now"),
        ({"state": faster}, r"angular_velocity_body\[2\] is 0.1 in the store and 0.2 now"),
        ({"forces": [ph.forces.gravity(), drag]}, r"forces\[1\].c is 0.5 in the store and 0.6 now"),
        ({"method": "midpoint"}, 'method is "rk4" in the store and "midpoint" now'),
    ]
    for change, words in changes:
        with pytest.raises(FileError, match=f"something else: .*{words}"):
            ph.simulate(replace(SCENARIO, **change), store=store, resume=True)
    with monkeypatch.context() as patch:
        patch.setattr("polhode.solve.scenario_description.__version__", "0.0.1")
        with pytest.raises(FileError, match=r'version is .* and "0.0.1" now'):
            ph.simulate(SCENARIO, store=store, resume=True)
    assert_finishes(store)
    with pytest.raises(FileError, match="holds the motion of something else: step is"):
        ph.simulate(replace(SCENARIO, step=2e-3), store=store, resume=True)


@pytest.mark.usefixtures("frequent")
def test_a_function_that_was_changed_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stiffness = 3.0

    @ph.force
    def pull(t: Any, state: Any, body: Any, params: Any) -> Any:
        return tuple(-stiffness * x for x in state.position), (0.0, 0.0, 0.0)

    scenario = replace(SCENARIO, forces=[pull()])
    begin(tmp_path / "x.zarr", monkeypatch, scenario=scenario)
    stiffness = 4.0
    with pytest.raises(FileError, match=r"forces\[0\].function is"):
        ph.simulate(scenario, store=tmp_path / "x.zarr", resume=True)
    stiffness = 3.0
    found = ph.simulate(scenario, store=tmp_path / "x.zarr", resume=True)
    assert found.run_result.samples.tobytes() == ph.simulate(scenario).run_result.samples.tobytes()


@pytest.mark.usefixtures("frequent")
def test_a_changed_program_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begin(tmp_path / "x.zarr", monkeypatch)
    monkeypatch.setattr("polhode.ir.program.Program.digest", lambda *_: "other")
    with pytest.raises(FileError, match="begun by another program"):
        ph.simulate(SCENARIO, store=tmp_path / "x.zarr", resume=True)


def test_a_store_is_not_overwritten(tmp_path: Path) -> None:
    store = tmp_path / "x.zarr"
    ph.simulate(SCENARIO, store=store)
    with pytest.raises(FileError, match="already holds a motion"):
        ph.simulate(SCENARIO, store=store)
    ph.simulate(SCENARIO).save(tmp_path / "y.zarr")
    with pytest.raises(FileError, match=r"that motion.save stored, not a run"):
        ph.simulate(SCENARIO, store=tmp_path / "y.zarr", resume=True)
    (tmp_path / "notes").mkdir()
    with pytest.raises(FileError, match="neither a stored motion nor an unfinished run"):
        ph.simulate(SCENARIO, store=tmp_path / "notes", resume=True)
    with pytest.raises(ScenarioError, match="give that store"):
        ph.simulate(SCENARIO, resume=True)
    with pytest.raises(FileError, match="path is empty"):
        ph.simulate(SCENARIO, store="")


def test_a_finished_run_is_returned_with_its_functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @ph.force
    def pull(t: Any, state: Any, body: Any, params: Any) -> Any:
        return tuple(-params[0] * x for x in state.position), (0.0, 0.0, 0.0)

    scenario = ph.Scenario(BOX, ph.State(position=(1, 0, 0)), [pull(3.0)], duration=1.0, output_step=0.1)
    first = ph.simulate(scenario, store=tmp_path / "x.zarr")
    monkeypatch.setattr("polhode.solve.simulate.run_auto", pytest.fail)
    again = ph.simulate(scenario, store=tmp_path / "x.zarr", resume=True)
    assert again.acceleration.tobytes() == first.acceleration.tobytes()
    assert str(again.audit()) == str(first.audit())
    assert json.dumps(again.unknown_forces) == "[]"


def read_rows(store: Path, name: str) -> Any:
    digest = read_manifest(store, CHECKPOINT).digest
    return records.read_record(store, digest, name)[0]["streams"]


@pytest.mark.usefixtures("frequent")
def test_outputs_are_written_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = tmp_path / "x.zarr"
    begin(store, monkeypatch, checkpoints=12)
    rows = [read_rows(store, p.name) for p in sorted((store / "records").glob("rows-*"))]
    samples = np.concatenate([streams["samples"] for streams in rows if "samples" in streams])
    wanted = ph.simulate(SCENARIO).run_result.samples
    assert samples.tobytes() == wanted[: len(samples)].tobytes()
    assert 0 < len(samples) < len(wanted)
    assert len(list((store / "records").glob("state-*"))) < 12
