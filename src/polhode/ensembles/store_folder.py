"""The folder of an ensemble's store: what it is, whether it may be written, and errors of the file system in words."""

from __future__ import annotations

import errno
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from polhode.ensembles.chunk_files import read_regular_file
from polhode.ensembles.store_layout import METADATA
from polhode.ensembles.store_manifest import MANIFEST, MANIFEST_COPY, Manifest, read_manifest_text
from polhode.errors import FileError, StoreFullError
from polhode.results.store_manifest import refuse_links

NO_ROOM = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG)
"""The disk is full, or the user's share of it, or a file may not grow any further."""


def resolve_store_path(path: str | Path) -> Path:
    """The folder of a store, with links followed."""
    if Path(path) == Path():
        raise FileError("a store has a name, for example 'sweep.zarr', but the path is empty")
    return Path(os.path.realpath(path))


def is_ensemble_store(path: Path) -> bool:
    """Whether the path holds the store of an ensemble, complete or not, perhaps damaged."""
    for name in (METADATA, MANIFEST_COPY):
        try:
            if f'"{MANIFEST}"'.encode() in read_regular_file(path / name):
                return True
        except (OSError, ValueError):
            continue
    return False


def is_taken(place: Path) -> bool:
    """Whether something is there that a new store would replace: anything but an empty folder."""
    return os.path.lexists(place) and not (place.is_dir() and not any(place.iterdir()))


def refuse_existing(place: Path) -> Manifest:
    """Raise an error about what is there."""
    if is_ensemble_store(place):
        raise FileError(
            f"{place} exists: resume=True completes it (--resume on the command line), or choose another name"
        )
    raise FileError(f"{place} exists and is not the store of an ensemble: choose another name")


def read_manifest(place: Path) -> Manifest:
    """The manifest of a store, or its copy if it is damaged."""
    if not place.exists():
        raise FileError(f"there is no store at {place}")
    refuse_links(place)
    damaged = []
    for name in (METADATA, MANIFEST_COPY):
        try:
            manifest = read_manifest_text(read_regular_file(place / name))
        except FileError:
            raise
        except PermissionError as error:
            raise FileError(f"{place} cannot be read: {error}") from None
        except Exception:
            damaged.append(name)
            continue
        if damaged:
            warnings.warn(
                f"{place / damaged[0]} is missing or damaged, and its copy is used; resuming the run repairs it",
                stacklevel=4,
            )
        return manifest
    if is_ensemble_store(place):
        raise FileError(f"{place} is damaged: both copies of its manifest are. Restore a copy of it, or run it again.")
    raise FileError(f"{place} is not the store of an ensemble")


def holds(path: Path, content: bytes | memoryview) -> bool:
    """Whether a file has just this content."""
    try:
        return read_regular_file(path) == content
    except (OSError, ValueError):
        return False


@contextmanager
def explain_write_errors(place: Path, state: str) -> Iterator[None]:
    """Errors of the file system as sentences."""
    try:
        yield
    except OSError as error:
        if error.errno in NO_ROOM:
            raise StoreFullError(
                f"{place} has no room left ({error.strerror}): {state}. Free some space, then resume the run."
            ) from None
        raise FileError(f"{place} cannot be written: {error}; {state}") from None
