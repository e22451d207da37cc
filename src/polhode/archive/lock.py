"""One writer for each store: a lock that the system releases when its process ends, however it ends.

The lock is on a hidden file beside the store, `.NAME.lock`, because the store may be a folder that is replaced as a
whole.  The file says who holds it; what counts is the lock, so a file left behind by a killed process is harmless.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from polhode.errors import FileError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

LOCKED_BYTE = 1 << 30
"""Windows locks bytes, which nobody else can read then: one beyond the text."""


class StoreInUseError(FileError):
    """A store that another run is writing."""


@contextmanager
def lock_store(path: Path | str) -> Iterator[None]:
    """Inside the block no other run, of this or another process, can lock the same store, which need not exist yet.

    StoreInUseError says which run has locked it, on which computer, since when; FileError that the place cannot be
    written, or that its file system has no locks.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, lock_store(folder + "/motion.zarr"):
    ...     try:
    ...         with lock_store(folder + "/motion.zarr"):
    ...             pass
    ...     except StoreInUseError as error:
    ...         print(str(error).partition(": ")[2].partition(" on ")[0] == f"process {os.getpid()}")
    True
    """
    store = Path(os.path.realpath(path))
    place = _lock_file(store)
    descriptor = _acquire(store, place)
    try:
        yield
    finally:
        with suppress(OSError):  # removed while it is still locked, so that nobody else's is
            place.unlink()
        _release(descriptor)


def lock_holder(path: Path | str) -> str | None:
    """Who has locked a store, in words; None if nobody has.

    Examples
    --------
    >>> lock_holder("no-such-store.zarr") is None
    True
    """
    place = _lock_file(Path(os.path.realpath(path)))
    try:
        descriptor = os.open(place, os.O_RDWR)
    except OSError:
        return None
    try:
        return None if _try_lock(descriptor) else _describe(descriptor)
    finally:
        os.close(descriptor)


def _lock_file(store: Path) -> Path:
    return store.with_name(f".{store.name}.lock")


def _acquire(store: Path, place: Path) -> int:
    """The descriptor of the locked file, which is the one at its place."""
    while True:
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(place, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o644)
        except OSError as error:
            raise FileError(f"{store} cannot be written: its lock {place} cannot be made ({error.strerror})") from None
        try:
            if not _try_lock(descriptor):
                raise StoreInUseError(
                    f"{store} is being written by another run: {_describe(descriptor)}. Wait until that run "
                    "ends, or choose another store."
                )
            if _is_at(descriptor, place):
                _write(descriptor)
                return descriptor
        except OSError as error:
            os.close(descriptor)
            raise FileError(
                f"{store} cannot be locked: {error.strerror}. Choose a place on a file system that has locks, with "
                "room for a few bytes."
            ) from None
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # the run that held it has removed it: there is, or will be, another one


def _is_at(descriptor: int, place: Path) -> bool:
    """Whether an open file is the one that its path leads to now."""
    try:
        return os.path.samestat(os.fstat(descriptor), place.stat())
    except FileNotFoundError:
        return False


def _write(descriptor: int) -> None:
    began = datetime.now(UTC).isoformat(timespec="seconds")
    os.ftruncate(descriptor, 0)
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.write(descriptor, json.dumps({"host": socket.gethostname(), "pid": os.getpid(), "since": began}).encode())


def _describe(descriptor: int) -> str:
    """The holder in words; it may just be writing its name, or not be what we write."""
    known: Any = None
    with suppress(OSError, ValueError):
        os.lseek(descriptor, 0, os.SEEK_SET)
        known = json.loads(os.read(descriptor, 4096))
    known = known if isinstance(known, dict) else {}
    pid, host, since = (str(known.get(key, "unknown"))[:200] for key in ("pid", "host", "since"))
    return f"process {pid} on {host}, since {since}"


if sys.platform == "win32":

    def _try_lock(descriptor: int) -> bool:
        os.lseek(descriptor, LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True

    def _release(descriptor: int) -> None:
        os.lseek(descriptor, LOCKED_BYTE, os.SEEK_SET)
        with suppress(OSError):
            msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
        os.close(descriptor)

else:

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _release(descriptor: int) -> None:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_UN)  # also for copies of it in forked processes
        os.close(descriptor)
