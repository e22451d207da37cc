"""Files that survive a crash: written aside, forced to the disk, then renamed; and reading what may be crafted."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from polhode.errors import FileError, StoreFullError

DRAFT_NAME = re.compile(r"\..+\.[0-9a-f]{16}\.part")
"""What a file is called until it is whole."""
OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""A link is not followed, and a pipe not waited for."""
NO_ROOM = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG)
"""The disk is full, or the user's share of it, or a file may not grow any further."""


# Writing --------------------------------------------------------------------------------------------------------------
def write_durable(path: Path, parts: Iterable[Any]) -> None:
    """Write a file from its parts, whole or not at all; once this returns, it is on the disk.

    Call `sync_folder` afterward: only then a loss of power cannot undo the renaming.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_durable(Path(folder) / "greeting.txt", [b"good ", b"morning"])
    ...     [(file.name, file.read_text()) for file in Path(folder).iterdir()]
    [('greeting.txt', 'good morning')]
    """
    draft = path.with_name(f".{path.name}.{os.urandom(8).hex()}.part")
    try:
        with draft.open("xb") as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise


def sync_folder(folder: Path) -> None:
    """Force the names of a folder's files to the disk, where the system can."""
    if os.name == "nt":  # Windows opens no folders
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def flush_folder(folder: Path) -> None:
    """Force all files of a folder, and their names, to the disk."""
    for place, _, files in os.walk(folder):
        for name in files:
            with open(os.path.join(place, name), "r+b") as file:  # Windows flushes only what can be written
                os.fsync(file.fileno())
        sync_folder(Path(place))


def remove_drafts(folder: Path) -> None:
    """Remove what killed processes left of files that they had not finished.  No process may be writing there."""
    for name in os.listdir(folder):
        if DRAFT_NAME.fullmatch(name):
            with suppress(OSError):
                (folder / name).unlink()


@contextmanager
def explain_write_errors(place: Path, state: str) -> Iterator[None]:
    """Errors of the file system as sentences; `state` says what became of the archive at that place."""
    try:
        yield
    except OSError as error:
        if error.errno in NO_ROOM:
            raise StoreFullError(
                f"{place} has no room left ({error.strerror}): {state}. Free some space, then resume the run."
            ) from None
        raise FileError(f"{place} cannot be written: {error}; {state}") from None


# Reading --------------------------------------------------------------------------------------------------------------
def open_regular_file(path: Path) -> IO[bytes]:
    """Open a file for reading that is neither a link nor a device nor a pipe."""
    descriptor = os.open(path, OPEN_FLAGS)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError(f"{path.name} is a folder, a device or a pipe")
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_regular_file(path: Path) -> bytes:
    """The content of a file that is neither a link nor a device nor a pipe."""
    with open_regular_file(path) as file:
        return file.read()


def holds(path: Path, content: bytes | memoryview) -> bool:
    """Whether a file has just this content."""
    try:
        return read_regular_file(path) == content
    except (OSError, ValueError):
        return False


def refuse_links(place: Path) -> None:
    """Raise an error if the folder has links, which may lead out of it, or devices or pipes, which may never end."""
    for folder, folders, files in os.walk(place):
        for name in (*folders, *files):
            path = os.path.join(folder, name)
            try:
                mode = os.lstat(path).st_mode
            except FileNotFoundError:  # a draft that a run has just renamed
                continue
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                raise FileError(
                    f"{place} is not read: {path} is a link, a device or a pipe, which Polhode does not write. "
                    "Replace it by the file itself."
                )
