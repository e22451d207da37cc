"""Files for other programs: the right ending, and whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from polhode.errors import FileError


def check_suffix(path: Path, suffixes: Sequence[str], what: str) -> None:
    """Before the work, not after."""
    if path.suffix.lower() not in suffixes:
        raise FileError(f"{what} cannot be written to {path}: its name must end with {' or '.join(suffixes)}")


def write_whole(path: Path, content: bytes) -> None:
    """Write beside the target first, then put it in its place."""
    draft = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(content)
        draft.replace(path)
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error}") from None
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
