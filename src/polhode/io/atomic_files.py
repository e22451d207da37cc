"""Files that are written: the right ending, and whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from polhode.errors import FileError


def check_suffix(path: Path, suffixes: Sequence[str], what: str) -> None:
    """Before the work, not after."""
    if path.suffix.lower() not in suffixes:
        raise FileError(f"{what} cannot be written to {path}: its name must end with {' or '.join(suffixes)}")


@contextmanager
def atomic_path(path: Path, what: str = "") -> Iterator[Path]:
    """A place beside the target to write to.  It takes the target's place when all is done, and is gone otherwise."""
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
    """Write a file; a folder that is not there is made."""
    with atomic_path(path) as draft:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(content)
