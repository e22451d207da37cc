"""The checkpoints of an unfinished run: a chain of files of which any number may be lost at the end.

Checkpoint n is two files.  `rows-n` has the outputs since checkpoint n - 1 and the SHA-256 of `rows-(n - 1)`, so that
outputs are written once and none is missed; `state-n`, written after it, has everything else and the SHA-256 of
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

from polhode.io.checkpoint_files import DamagedFileError, read_numbers, write_numbers
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
    """The checkpoints in a folder, which exists.  `root` is the digest of what the chain belongs to."""

    def __init__(self, folder: Path, root: str) -> None:
        self.folder = folder
        self.number = 0
        """Of the last checkpoint."""
        self.records: list[CheckpointRecord | None] = []
        """What was read, run by run; None for a run that has left nothing."""
        self.damage = ""
        """What was found to be damaged, so that an earlier checkpoint had to be taken."""
        self._link = root
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
        pieces: list[dict[str, Any]] = [{}]
        for n in range(1, newest + 1):
            try:
                content, digest = read_numbers(self._path("rows", n))
                if content["previous"] != digests[-1] or content["number"] != n:
                    raise DamagedFileError(f"{self._path('rows', n)} belongs to another run")
                digests.append(digest)
                runs.append(content["run"])
                pieces.append(content["streams"])
            except (DamagedFileError, KeyError) as error:
                self.damage = str(error)
                break
        n = len(digests) - 1
        while (states := self._read_states(n, runs, digests)) is None:
            n -= 1
        self.number, self._link = n, digests[n]
        self._states = {k: runs[k] for k in found["state"] if k <= n}
        self.records = [_gather(states, run, runs[: n + 1], pieces) for run in range(runs[n] + 1)] if n else []
        for kind, some in found.items():
            for stale in (k for k in some if k > n):
                self._path(kind, stale).unlink()

    def _read_states(self, n: int, runs: list[int], digests: list[str]) -> dict[int, dict[str, Any]] | None:
        """The last states of all runs up to checkpoint n; None if one is not whole."""
        states: dict[int, dict[str, Any]] = {}
        for run in sorted(set(runs[1 : n + 1])):
            last = max(k for k in range(1, n + 1) if runs[k] == run)
            try:
                content, _ = read_numbers(self._path("state", last))
                if content["rows"] != digests[last]:
                    raise DamagedFileError(f"{self._path('state', last)} belongs to another run")
            except (DamagedFileError, KeyError) as error:
                self.damage = self.damage or str(error)
                return None
            states[run] = content
        return states

    def _find_files(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {"rows": [], "state": []}
        for path in self.folder.iterdir():
            if match := NAME.fullmatch(path.name):
                found[match[1]].append(int(match[2]))
        return found

    # Writing ----------------------------------------------------------------------------------------------------------
    def write(self, run: int, state: Mapping[str, Any], streams: Mapping[str, Array]) -> None:
        """Write the next checkpoint: rows that are new, then the state."""
        n = self.number + 1
        rows = {"number": n, "run": run, "previous": self._link, "streams": streams}
        digest = write_numbers(self._path("rows", n), rows)
        write_numbers(self._path("state", n), {**state, "rows": digest})
        self.number, self._link = n, digest
        self._states[n] = run
        latest = {owner: k for k, owner in sorted(self._states.items())}  # of each run
        for k in [k for k, owner in self._states.items() if n - k >= KEPT_STATES * (k & -k) and latest[owner] != k]:
            with suppress(OSError):
                self._path("state", k).unlink()
            del self._states[k]

    def _path(self, kind: str, number: int) -> Path:
        return self.folder / f"{kind}-{number:08d}"


def read_last_state(folder: Path) -> dict[str, Any] | None:
    """The last state that is whole, to say how far a run is; None if there is none."""
    names = sorted((p for p in folder.iterdir() if p.name.startswith("state-")), reverse=True)
    for path in names:
        with suppress(DamagedFileError):
            return read_numbers(path)[0]
    return None


def _gather(
    states: Mapping[int, dict[str, Any]], run: int, runs: list[int], pieces: list[dict[str, Any]]
) -> CheckpointRecord | None:
    """The last state of a run, and its streams."""
    if run not in states:
        return None
    own = [streams for owner, streams in zip(runs, pieces, strict=False) if owner == run and streams]
    names = {name for streams in own for name in streams}
    joined = {name: np.concatenate([streams[name] for streams in own if name in streams]) for name in names}
    return CheckpointRecord(states[run], joined)
