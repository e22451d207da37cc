"""Runs that can be killed at any instant and resumed to the same bits: `simulate(..., store="x.zarr", resume=True)`.

While a run goes on, its store is an archive whose manifest says what is computed, by which versions, and whose records
are a chain of checkpoints; at the end the archive of a motion takes its place in one step.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from polhode.archive.archive import build_archive, resolve_path, write_archive
from polhode.archive.checkpoints import CheckpointChain, CheckpointRecord, describe_progress, is_unfinished_run
from polhode.archive.files import remove_drafts
from polhode.archive.folders import remove_leftovers
from polhode.archive.layout import RECORDS
from polhode.archive.lock import lock_store
from polhode.archive.manifest import CHECKPOINT, read_manifest
from polhode.errors import FileError
from polhode.integrate.journal import Journal
from polhode.integrate.run_state import Snapshot
from polhode.results import motion_archive
from polhode.results.motion import Motion
from polhode.scenario.method_choice import AUTO
from polhode.scenario.scenario import Scenario
from polhode.solve.scenario_description import describe_differences, describe_run
from polhode.validation import Array

CHECKPOINT_S = 5.0
"""A checkpoint is written when the last one is so old..."""
CHECKPOINT_SHARE = 20.0
"""... and so many times as old as it took to write: checkpoints cost at most this part of a run."""


class RunStore:
    """The store of a run on its way.  It gives every run inside (method "auto" makes several) its journal."""

    def __init__(self, path: Path, scenario: Scenario, description: dict[str, Any]) -> None:
        self.path, self.scenario, self.description = path, scenario, description
        self.finished: Motion | None = None
        """The motion, if it had been finished before."""
        self.keeps_ended_runs = scenario.method == AUTO
        self._chain: CheckpointChain | None = None
        self._runs = 0
        self._written, self._cost = perf_counter(), 0.0

    @property
    def chain(self) -> CheckpointChain:
        assert self._chain is not None
        return self._chain

    def next_run(self) -> Journal:
        """The journal of the next run."""
        number, records = self._runs, self.chain.records
        self._runs += 1
        record = records[number] if number < len(records) else None
        return RunJournal(self, number, record, is_open=number >= len(records) - 1)

    def is_due(self) -> bool:
        """Whether the next checkpoint is due."""
        return perf_counter() - self._written >= max(CHECKPOINT_S, CHECKPOINT_SHARE * self._cost)

    def write(self, run: int, state: dict[str, Any], streams: dict[str, Array]) -> None:
        """Write a checkpoint."""
        began = perf_counter()
        try:
            self.chain.write(run, state, streams)
        except OSError as error:
            raise FileError(
                f"the run stopped at t = {state['time']:g} s, because {self.path} cannot be written: {error.strerror}. "
                f"What was stored before is an unfinished run, {describe_progress(self.path)}. Make room, and resume "
                f"it with store={str(self.path)!r}, resume=True."
            ) from None
        self._written = perf_counter()
        self._cost = self._written - began

    def begin(self, resume: bool) -> None:
        """Make the folder, or read what is there."""
        if is_unfinished_run(self.path):
            self._resume(resume)
        elif motion_archive.is_stored_motion(self.path):
            self._load(resume)
        elif self.path.exists():
            raise FileError(
                f"{self.path} exists and is neither a stored motion nor an unfinished run: choose another name"
            )
        else:
            self._create()

    def _create(self) -> None:
        manifest, files = build_archive(CHECKPOINT, self.description, title="unfinished run")
        try:
            write_archive(self.path, manifest, files, lambda _: None)
        except OSError as error:
            raise FileError(f"{self.path} cannot be written: {error.strerror}") from None
        self._chain = CheckpointChain(self.path, manifest.digest)

    def _resume(self, resume: bool) -> None:
        if not resume:
            raise FileError(
                f"{self.path} holds an unfinished run, {describe_progress(self.path)}: continue it with resume=True "
                "(--resume), or choose another name"
            )
        manifest = read_manifest(self.path, CHECKPOINT, "remove it, and begin again")
        self._compare(manifest.run, "holds an unfinished run of something else")
        self._chain = CheckpointChain(self.path, manifest.digest)
        try:
            folder = self.path / RECORDS
            folder.mkdir(exist_ok=True)  # copies of a store may lack a folder that is empty
            remove_drafts(folder)
            self.chain.read()
        except OSError as error:
            raise FileError(
                f"{self.path} cannot be resumed: {error.strerror} ({error.filename}). Remove or repair that, and "
                "resume it again"
            ) from None
        if self.chain.damage:
            then = "None before it is whole: the run begins anew"
            if self.chain.number:
                then = f"The run continues from an earlier one, {describe_progress(self.path)}"
            warnings.warn(f"a checkpoint is not whole: {self.chain.damage}. {then}", stacklevel=6)

    def _load(self, resume: bool) -> None:
        if not resume:
            raise FileError(
                f"{self.path} already holds a motion: read it with ph.load, choose another name, or remove it. With "
                "resume=True (--resume) it is returned if it is the motion of this scenario"
            )
        remove_leftovers(self.path.resolve())  # the checkpoints of a run that was killed just after its end
        stored = motion_archive.read_motion(self.path)
        if stored.description is None:
            raise FileError(
                f"{self.path} holds a motion that motion.save stored, not a run with store=...: read it with ph.load, "
                "or choose another name"
            )
        self._compare(stored.description, "holds the motion of something else")
        names = ("method", "formulation", "rtol", "atol", "breaks")  # what "auto" has settled
        settled = replace(self.scenario, **{name: getattr(stored.scenario, name) for name in names})
        unknown = tuple(set(stored.unknown_forces) - {f.name for f in settled.forces})
        self.finished = Motion(settled, stored.run_result, unknown)

    def _compare(self, stored: Any, what: str) -> None:
        """Refuse to continue another scenario, or with another version."""
        old, new = ({"version": d["versions"]["polhode"], **d["scenario"]} for d in (stored, self.description))
        if self.scenario.method == AUTO or self.scenario.used_method.is_taylor_series:
            old["heyoka"], new["heyoka"] = (d["versions"]["heyoka"] for d in (stored, self.description))
        found = describe_differences(old, new)
        if found:
            raise FileError(
                f"{self.path} {what}: {found}. Resume it with the same scenario and version, or choose another name"
            )

    def finish(self, motion: Motion) -> None:
        """Put the ordinary store of the motion in the place of the checkpoints."""
        try:
            motion_archive.write_motion(motion, self.path, self.description)
        except FileError as error:
            raise FileError(
                f"the run has ended, but its motion was not stored: {error}. What was stored before is an unfinished "
                f"run, {describe_progress(self.path)}. Make room, and resume it with store={str(self.path)!r}, "
                "resume=True."
            ) from None


class RunJournal:
    """The journal of one run in a store.  One that other runs have followed is only read."""

    def __init__(self, store: RunStore, run: int, record: CheckpointRecord | None, is_open: bool) -> None:
        self._store, self._run, self._record, self._is_open = store, run, record, is_open
        self._pending: dict[str, list[Array]] = {}
        self._numbers = self._program = ""

    def resume(self, numbers: bytes) -> Snapshot | None:
        """The last snapshot of this run, if there is one, which must have begun with these numbers."""
        self._numbers = sha256(numbers).hexdigest()
        if self._record is None:
            return None
        if self._record.state["numbers"] != self._numbers:
            raise FileError(
                f"{self._store.path} was begun with other numbers, although its scenario reads the same: resume it "
                "with the same bodies, states and forces, or choose another name"
            )
        snapshot: Snapshot = self._record.state["snapshot"]
        return snapshot

    def check_program(self, digest: str) -> None:
        """Raise an error if the run was begun by another program."""
        if self._program == digest:
            return
        self._program = digest
        if self._record is not None and self._record.state["program"] not in ("", digest):
            raise FileError(
                f"{self._store.path} was begun by another program: a law, or a function of your own, has been changed "
                "since. Restore it, or choose another name"
            )

    def stream(self, name: str) -> Array | None:
        """All rows of a stream up to that snapshot; None if there are none."""
        return None if self._record is None else self._record.streams.get(name)

    def forget_streams(self) -> None:
        """The streams have been read: their memory can be freed."""
        if self._record is not None:
            self._record.streams.clear()

    def is_due(self) -> bool:
        """Whether the last snapshot is old enough for another one."""
        return self._is_open and self._store.is_due()

    def append(self, name: str, rows: Array) -> None:
        """Rows of a stream, final from now on, that belong to the next snapshot."""
        if self._is_open:
            self._pending.setdefault(name, []).append(rows)

    def write(self, time: float, snapshot: Snapshot, *, ended: bool = False) -> None:
        """Write a snapshot at a time of the run."""
        if not self._is_open or (ended and not self._store.keeps_ended_runs):
            return
        state = {"time": time, "run": self._run, "ended": ended, "numbers": self._numbers, "program": self._program}
        streams = {name: np.concatenate(rows) for name, rows in self._pending.items()}
        self._store.write(self._run, {**state, "snapshot": snapshot}, streams)
        self._pending.clear()


@contextmanager
def open_run_store(path: Path, scenario: Scenario, resume: bool) -> Iterator[RunStore]:
    """The store of the run of a scenario whose user functions have been traced; nobody else can write it meanwhile."""
    resolve_path(path, "a run is stored under a name, for example 'motion.zarr'")
    with lock_store(path):
        store = RunStore(path, scenario, describe_run(scenario))
        store.begin(resume)
        yield store
