"""Atomic replacement of folders, by one process or by several at once.

A folder is written under a unique name beside its target, `name.<time and random digits>.part`, and then takes the
target's place.  Linux exchanges the two in one step.  Elsewhere the old folder is first renamed to `name.<...>.old`:
after a crash at that moment it is found there, and put back by the next replacement.
"""

from __future__ import annotations

import ctypes
import errno
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

try:
    import fcntl
except ImportError:  # Windows has no locks on folders
    fcntl = None  # type: ignore[assignment]

T = TypeVar("T")
DRAFT, REPLACED = "part", "old"
AT_FDCWD, RENAME_EXCHANGE = -100, 2
"""Constants of Linux: paths relative to the working directory; exchange two names."""


@contextmanager
def atomic_folder(path: Path, check: Callable[[Path], None]) -> Iterator[Path]:
    """A new folder, which takes the place of the target on success and is removed otherwise.

    `check` gets the target and raises an error if what is there must not be replaced.  Links are followed.
    """
    path = _follow_links(path)
    _put_back(path)
    read_folder(path, check)
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_leftovers(path)
    draft, lock = _make_draft(path)
    try:
        yield draft
        _replace(draft, path, check)
    finally:
        shutil.rmtree(draft, ignore_errors=True)  # after an exchange it is the old folder
        if lock is not None:
            os.close(lock)
    remove_leftovers(path)


def _make_draft(path: Path) -> tuple[Path, int | None]:
    """A new folder and its lock, by which other processes know that it is in use."""
    while True:
        draft = _new_name(path, DRAFT)
        draft.mkdir()
        lock = _lock(draft)
        if draft.exists():
            return draft, lock
        # Another process took it for abandoned before it was locked.
        if lock is not None:
            os.close(lock)


def read_folder(path: Path, read: Callable[[Path], T]) -> T:
    """What `read` returns for the folder at the path; after an error, again if it was replaced meanwhile."""
    while True:
        place = _find_folder(path)
        found = _identity(place)
        try:
            return read(place)
        except Exception:
            if _identity(_find_folder(path)) == found:
                raise


def _identity(path: Path) -> tuple[int, int] | None:
    """What tells a folder from others at the same path, and changes if it is renamed; None without a folder."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_ctime_ns


def _find_folder(path: Path) -> Path:
    """The target without links, or the folder that a crash left under its temporary name while it was replaced."""
    path = _follow_links(path)
    replaced = _names(path, REPLACED)
    if replaced and not path.exists():
        return max(replaced)  # the last one: names begin with the time
    return path


def _put_back(path: Path) -> None:
    """After a crash, rename the folder that was being replaced back to the target."""
    found = _find_folder(path)
    if found != path:
        with suppress(OSError):
            found.rename(path)


def _replace(draft: Path, path: Path, check: Callable[[Path], None]) -> None:
    """Put the draft in place of the target, again and again while other processes put theirs there."""
    while True:
        read_folder(path, check)
        if path.exists():
            if _exchange(draft, path):
                return
            with suppress(FileNotFoundError):
                path.rename(_new_name(path, REPLACED))
        try:
            draft.rename(path)
            return
        except OSError as error:
            taken = error.errno in (errno.ENOTEMPTY, errno.EEXIST)  # by another process, which may be gone already
            if not taken and not path.exists():
                _put_back(path)
                raise


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two folders in one step; False where the system cannot."""
    rename = getattr(ctypes.CDLL(None), "renameat2", None) if sys.platform == "linux" else None
    return rename is not None and not rename(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE)


def remove_leftovers(path: Path) -> None:
    """Remove replaced folders whose successor is in place, and drafts of processes that have ended."""
    replaced = _names(path, REPLACED)  # before looking at the target, which is then newer than all of them
    for old in replaced if path.exists() else ():
        with suppress(OSError):
            # Half removed, it must not be found as a whole one.
            shutil.rmtree(old.rename(_new_name(path, DRAFT)))
    for draft in _names(path, DRAFT):
        lock = _lock(draft, wait=False)
        if lock is not None:
            shutil.rmtree(draft, ignore_errors=True)
            os.close(lock)


def _lock(folder: Path, wait: bool = True) -> int | None:
    """Lock a folder until the descriptor is closed or the process ends; None if that is not possible."""
    if fcntl is None:
        return None
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _follow_links(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _new_name(path: Path, kind: str) -> Path:
    return path.with_name(f"{path.name}.{time.time_ns():016x}{os.urandom(4).hex()}.{kind}")


def _names(path: Path, kind: str) -> list[Path]:
    """The names beside the target that `_new_name` has given."""
    ours = re.compile(rf"{re.escape(path.name)}\.[0-9a-f]{{24}}\.{kind}")
    with suppress(OSError):
        return [path.with_name(name) for name in os.listdir(path.parent) if ours.fullmatch(name)]
    return []
