"""What runs on a Dask worker: the checks that it is fit for a run, and the task that computes one chunk."""

from __future__ import annotations

import hashlib
import os
import platform
import signal
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from time import sleep
from typing import Any, NamedTuple

import numpy
import scipy

import polhode
from polhode.errors import CancelledError, ClusterError, FileError, PolhodeError

UNFIT_PAUSE_S = 1.0
"""A worker that is not fit answers slowly, so that the others take most of its chunks."""
_fit_for: set[Any] = set()
"""Runs for which this process was found fit: it is asked once, not for every chunk."""


class Software(NamedTuple):
    """What decides the bits of a result, and whether functions can travel: equal on all machines of a run."""

    polhode: str
    source: str
    """The first digits of the SHA-256 of Polhode's own source."""
    numpy: str
    scipy: str
    python: str


class SharedStore(NamedTuple):
    """A store that all workers must reach, and how they know that it is this one."""

    path: str
    identity: str
    """The SHA-256 of the file that `witness` names."""
    witness: str


class WorkerObstacle(Exception):  # noqa: N818, the sentence says what is in the way
    """A worker that cannot do its part: the chunk goes to another."""

    def __init__(self, worker: str, sentence: str) -> None:
        super().__init__(worker, sentence)
        self.worker, self.sentence = worker, sentence


def dask_setup(worker: Any) -> None:
    """Called by Dask when a worker of the local cluster starts: Ctrl-C is for the process that started the run."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@lru_cache
def describe_software() -> Software:
    """The versions that this process runs."""
    digest = hashlib.sha256()
    folder = Path(polhode.__file__).parent
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    python = ".".join(platform.python_version_tuple()[:2])
    return Software(polhode.__version__, digest.hexdigest()[:12], numpy.__version__, scipy.__version__, python)


def share_store(path: str | Path, witness: str) -> SharedStore:
    """The store as workers look for it, known by the content of one of its files that does not change."""
    path = Path(path).resolve()
    return SharedStore(str(path), hashlib.sha256((path / witness).read_bytes()).hexdigest(), witness)


def find_obstacle(software: Software, store: SharedStore | None) -> str:
    """Why this worker cannot take part in a run, in a sentence; "" if it can."""
    own = describe_software()
    names = {"polhode": "Polhode", "numpy": "NumPy", "scipy": "SciPy", "python": "Python"}
    for field, name in names.items():
        here, there = getattr(own, field), getattr(software, field)
        if here != there:
            return f"it has {name} {here}, but the run was started with {there}: install the same versions everywhere"
    if own.source != software.source:
        return (
            f"it has Polhode {own.polhode} with other source files (digest {own.source}, not {software.source}): "
            "install the same one everywhere"
        )
    return _find_obstacle_of_store(store) if store is not None else ""


def _find_obstacle_of_store(store: SharedStore) -> str:
    path = Path(store.path)
    try:
        identity = hashlib.sha256((path / store.witness).read_bytes()).hexdigest()
    except OSError as error:
        return (
            f"it does not reach the store {path} ({error.strerror}): the store must lie on a file system that all "
            "machines mount at the same path"
        )
    if identity != store.identity:
        return (
            f"what it finds at {path} is another store: the store must lie on a file system that all machines share, "
            "not on the disk of each"
        )
    trial = path / f".trial.{os.urandom(8).hex()}.part"  # named like a draft: one left behind is removed on resuming
    try:
        trial.write_bytes(b"")
        trial.unlink()
    except OSError as error:
        return f"it cannot write to the store {path} ({error.strerror}): give its user the right to"
    return ""


def compute_chunk(work: bytes, software: Software, store: SharedStore | None, chunk: int) -> Any:
    """Compute a chunk on a worker; raise WorkerObstacle if another worker should.

    `work` is a function (chunk, report) -> value, written by cloudpickle: functions of the main module travel by value.
    """
    from distributed import get_worker

    worker = get_worker()
    if (software, store) not in _fit_for:
        _raise_obstacle(software, store, worker)
        _fit_for.add((software, store))
    compute = load_work(work)
    try:
        return compute(chunk, _stop_if_canceled(worker))
    except Exception as error:
        if isinstance(error, (OSError, FileError)):
            _raise_obstacle(software, store, worker)  # the store may have gone from this machine alone
        raise make_sendable(error) from None


def make_sendable(error: Exception) -> Exception:
    """The error, or its words if it cannot be pickled and restored, as many with a constructor of their own."""
    import cloudpickle

    try:
        cloudpickle.loads(cloudpickle.dumps(error))
    except Exception:
        kind = ClusterError if isinstance(error, PolhodeError) else RuntimeError
        return kind(f"{type(error).__name__} on a worker: {error}")
    return error


def _raise_obstacle(software: Software, store: SharedStore | None, worker: Any) -> None:
    obstacle = find_obstacle(software, store)
    if obstacle:
        sleep(UNFIT_PAUSE_S)
        raise WorkerObstacle(worker.address, obstacle)


def load_work(content: bytes) -> Callable[..., Any]:
    """The function that was sent."""
    import cloudpickle

    try:
        work: Callable[..., Any] = cloudpickle.loads(content)
    except ImportError as error:
        raise ClusterError(
            f"the workers cannot import what the functions of this run use ({error}): install that module on all "
            "machines, or send it with cloudpickle.register_pickle_by_value(module)"
        ) from None
    return work


def _stop_if_canceled(worker: Any) -> Callable[[float], None]:
    """A report that ends the computation once nobody waits for it: the run was canceled, or the scheduler is gone."""
    from distributed.core import Status
    from distributed.worker import thread_state

    key = thread_state.key

    def report(done: float) -> None:
        task = worker.state.tasks.get(key)
        if task is None or task.state != "executing" or worker.status not in (Status.running, Status.paused):
            raise CancelledError("the run that asked for this chunk has ended")

    return report
