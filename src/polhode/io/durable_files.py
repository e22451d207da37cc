"""Files that survive a crash: written aside, forced to the disk, then renamed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

DRAFT_NAME = re.compile(r"\..+\.[0-9a-f]{16}\.part")
"""What a file is called until it is whole."""


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


def remove_drafts(folder: Path) -> None:
    """Remove what killed processes left of files that they had not finished.  No process may be writing there."""
    for name in os.listdir(folder):
        if DRAFT_NAME.fullmatch(name):
            with suppress(OSError):
                (folder / name).unlink()
