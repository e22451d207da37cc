"""Atomic writing of files, and checks of their suffix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from polhode.errors import FileError


def check_suffix(path: Path, suffixes: Sequence[str], what: str) -> None:
    """Raise an error for a wrong suffix, before any work is done."""
    if path.suffix.lower() not in suffixes:
        raise FileError(f"{what} cannot be written to {path}: its name must end with {' or '.join(suffixes)}")


@contextmanager
def atomic_path(path: Path, what: str = "") -> Iterator[Path]:
    """A temporary path beside the target, which replaces it on success and is removed otherwise."""
    draft = path.with_name(f".{path.stem}.part{path.suffix}")
    try:
        yield draft
        draft.replace(path)
    except OSError as error:
        where = f"{what} cannot be written to {path}" if what else f"{path} cannot be written"
        raise FileError(f"{where}: {error}") from None
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def write_atomic(path: Path, content: bytes) -> None:
    """Write a file atomically, creating its folder if necessary."""
    with atomic_path(path) as draft:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(content)
