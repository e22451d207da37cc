"""The checkpoints of an unfinished run: a chain of records of which any number may be lost at the end.

Checkpoint n is two records.  `rows-n` has the outputs since checkpoint n - 1 and the digest of `rows-(n - 1)`, so that
outputs are written once and none is missed; `state-n`, written after it, has everything else and the digest of
`rows-n`.  A checkpoint counts once its state is there.  Old states are deleted, fewer and fewer the older they are; the
last one of each run that is finished stays.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from polhode.archive.layout import RECORDS
from polhode.archive.lock import lock_holder
from polhode.archive.manifest import CHECKPOINT, find_kind, read_manifest
from polhode.archive.records import DamagedRecordError, read_record, write_record
from polhode.errors import FileError
from polhode.validation import Array

NAME = re.compile(r"(rows|state)-(\d{8})")
KEPT_STATES = 4
"""About so many states are kept of each age, counted in powers of two."""


class CheckpointRecord(NamedTuple):
    """What is known of one run of those that a chain records."""

    state: dict[str, Any]
    """Its last state."""
    streams: dict[str, Array]
    """All rows up to that state."""


class CheckpointChain:
    """The checkpoints in an archive, known by the digest of its manifest."""

    def __init__(self, place: Path, archive: str) -> None:
        self.place, self.archive = place, archive
        self.number = 0
        """Of the last checkpoint."""
        self.records: list[CheckpointRecord | None] = []
        """What was read, run by run; None for a run that has left nothing."""
        self.damage = ""
        """What was found to be damaged, so that an earlier checkpoint had to be taken."""
        self._link = archive
        self._states: dict[int, int] = {}
        """The states that are kept, and the run of each."""

    # Reading ----------------------------------------------------------------------------------------------------------
    def read(self) -> None:
        """Find the last checkpoint from which everything is whole, and read it."""
        found = self._find_files()
        newest = max([*found["rows"], *found["state"]], default=0)
        if newest in found["rows"] and newest not in found["state"]:
            newest -= 1  # killed between the two files of a checkpoint
        digests, runs = [self._link], [0]
        streams: list[dict[str, Any]] = [{}]
        for n in range(1, newest + 1):
            try:
                content, digest = self._read("rows", n)
                if content["previous"] != digests[-1]:
                    raise DamagedRecordError(f"{_name('rows', n)} belongs to another run")
            except (DamagedRecordError, KeyError) as error:
                self.damage = str(error)
                break
            digests.append(digest)
            runs.append(content["run"])
            streams.append(content["streams"])
        n = len(digests) - 1
        while (states := self._read_states(n, runs, digests)) is None:
            n -= 1
        self.number, self._link = n, digests[n]
        self._states = {k: runs[k] for k in found["state"] if k <= n}
        self.records = [_gather(states, run, runs[: n + 1], streams) for run in range(runs[n] + 1)] if n else []
        for kind, some in found.items():
            for stale in (k for k in some if k > n):
                (self.place / RECORDS / _name(kind, stale)).unlink()

    def _read(self, kind: str, n: int) -> tuple[dict[str, Any], str]:
        name = _name(kind, n)
        try:
            return read_record(self.place, self.archive, name)
        except OSError as error:
            raise DamagedRecordError(f"{name} cannot be read: {error.strerror}") from None

    def _read_states(self, n: int, runs: list[int], digests: list[str]) -> dict[int, dict[str, Any]] | None:
        """The last states of all runs up to checkpoint n; None if one is not whole."""
        states: dict[int, dict[str, Any]] = {}
        for run in sorted(set(runs[1 : n + 1])):
            last = max(k for k in range(1, n + 1) if runs[k] == run)
            try:
                content, _ = self._read("state", last)
                if content["rows"] != digests[last]:
                    raise DamagedRecordError(f"{_name('state', last)} belongs to another run")
            except (DamagedRecordError, KeyError) as error:
                self.damage = self.damage or str(error)
                return None
            states[run] = content
        return states

    def _find_files(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {"rows": [], "state": []}
        for path in (self.place / RECORDS).iterdir():
            if match := NAME.fullmatch(path.name):
                found[match[1]].append(int(match[2]))
        return found

    def read_last_state(self) -> dict[str, Any] | None:
        """The last state that is whole, to say how far a run is; None if there is none."""
        for n in sorted(self._find_files()["state"], reverse=True):
            with suppress(DamagedRecordError):
                return self._read("state", n)[0]
        return None

    # Writing ----------------------------------------------------------------------------------------------------------
    def write(self, run: int, state: Mapping[str, Any], streams: Mapping[str, Array]) -> None:
        """Write the next checkpoint: rows that are new, then the state."""
        n = self.number + 1
        rows = {"run": run, "previous": self._link, "streams": streams}
        digest = write_record(self.place, self.archive, _name("rows", n), rows)
        write_record(self.place, self.archive, _name("state", n), {**state, "rows": digest})
        self.number, self._link = n, digest
        self._states[n] = run
        latest = {owner: k for k, owner in sorted(self._states.items())}  # of each run
        for k in [k for k, owner in self._states.items() if n - k >= KEPT_STATES * (k & -k) and latest[owner] != k]:
            with suppress(OSError):
                (self.place / RECORDS / _name("state", k)).unlink()
            del self._states[k]


def _name(kind: str, number: int) -> str:
    return f"{kind}-{number:08d}"


def _gather(
    states: Mapping[int, dict[str, Any]], run: int, runs: list[int], streams: list[dict[str, Any]]
) -> CheckpointRecord | None:
    """The last state of a run, and its streams."""
    if run not in states:
        return None
    own = [some for owner, some in zip(runs, streams, strict=False) if owner == run and some]
    names = {name for some in own for name in some}
    joined = {name: np.concatenate([some[name] for some in own if name in some]) for name in names}
    return CheckpointRecord(states[run], joined)


# Unfinished runs ------------------------------------------------------------------------------------------------------
def is_unfinished_run(path: Path) -> bool:
    """Whether a folder is the archive of a run that is not finished, perhaps damaged."""
    return find_kind(path) == CHECKPOINT


def describe_progress(path: Path) -> str:
    """How far an unfinished run is, in words."""
    try:
        state = CheckpointChain(path, read_manifest(path, CHECKPOINT).digest).read_last_state()
    except (OSError, FileError):
        state = None
    if state is None:
        return "which has no checkpoint yet"
    again = f" in run {state['run'] + 1} of method 'auto'" if state["run"] else ""
    return f"which has reached t = {state['time']:g} s{again}"


def refuse_unfinished_run(path: Path) -> None:
    """Raise an error about a run that is not finished: how far it is, and how to resume it."""
    if not is_unfinished_run(path):
        return
    holder = lock_holder(path)
    what = f"It is being computed by {holder}."
    if holder is None:
        again = f"ph.simulate(..., store={path.name!r}, resume=True) or `polhode run ... --store {path.name} --resume`"
        what = f"Resume it with {again}."
    raise FileError(f"{path} is a run that is not finished, {describe_progress(path)}. {what}")
