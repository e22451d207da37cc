"""Files that a run can be continued from: plain numbers and arrays, each file whole or not at all.

A file is a magic line, the length of a text, the text (JSON), the bytes of the arrays, and the SHA-256 of all of that.
Nothing in it is ever executed.  It is written aside, forced to the disk, and renamed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from polhode.io.durable_files import sync_folder, write_durable

MAGIC = b"polhode checkpoint 1\n"
DIGEST_SIZE, LENGTH_SIZE = 32, 8
DTYPES = ("<f8", "<i8")
ARRAY = "array"
"""The key of what stands for an array in the text: its number."""


class DamagedFileError(Exception):
    """A file whose content is not what was written."""


def write_numbers(path: Path, content: Mapping[str, Any]) -> str:
    """Write numbers, words, lists, dictionaries and arrays to a file; return its SHA-256.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_numbers(Path(folder) / "x", {"time": 0.1, "state": np.array([1.0, np.nan])})
    ...     read_numbers(Path(folder) / "x")[0]
    {'time': 0.1, 'state': array([ 1., nan])}
    """
    arrays: list[Any] = []
    tree = _without_arrays(content, arrays)
    kinds = [[array.dtype.str, list(array.shape)] for array in arrays]
    text = json.dumps({"content": tree, "arrays": kinds}).encode()
    head = (MAGIC, len(text).to_bytes(LENGTH_SIZE, "little"), text)
    parts = [*head, *(array.reshape(-1).view(np.uint8) for array in arrays if array.size)]
    digest = sha256()
    for part in parts:
        digest.update(part)
    write_durable(path, [*parts, digest.digest()])
    sync_folder(path.parent)
    return digest.hexdigest()


def read_numbers(path: Path) -> tuple[dict[str, Any], str]:
    """What was written to a file, and its SHA-256; DamagedFileError if it is not whole."""
    try:
        if not path.is_file() or path.is_symlink():
            raise DamagedFileError(f"{path} is missing")
        data = path.read_bytes()
    except OSError as error:
        raise DamagedFileError(f"{path} cannot be read: {error.strerror}") from None
    body, digest = memoryview(data)[:-DIGEST_SIZE], data[-DIGEST_SIZE:]
    if not data.startswith(MAGIC) or sha256(body).digest() != digest:
        raise DamagedFileError(f"{path} is damaged: its content is not what was written")
    try:
        at = len(MAGIC) + LENGTH_SIZE
        length = int.from_bytes(body[len(MAGIC) : at], "little")
        head = json.loads(bytes(body[at : at + length]))
        at, arrays = at + length, []
        for dtype, shape in head["arrays"]:
            if dtype not in DTYPES:
                raise ValueError(dtype)
            count = int(np.prod(shape, dtype=np.int64))
            arrays.append(np.frombuffer(body, dtype=dtype, count=count, offset=at).reshape(shape).copy())
            at += 8 * count
        content: dict[str, Any] = _with_arrays(head["content"], arrays)
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        raise DamagedFileError(f"{path} was not written by this program") from None
    return content, digest.hex()


def flush_folder(folder: Path) -> None:
    """Force all files of a folder, and their names, to the disk."""
    for place, _, files in os.walk(folder):
        for name in files:
            with open(os.path.join(place, name), "r+b") as file:  # Windows flushes only what can be written
                os.fsync(file.fileno())
        sync_folder(Path(place))


def _without_arrays(value: Any, arrays: list[Any]) -> Any:
    if isinstance(value, np.ndarray):
        dtype = "<i8" if value.dtype.kind in "iu" else "<f8"
        arrays.append(np.ascontiguousarray(value, dtype=dtype).reshape(value.shape))
        return {ARRAY: len(arrays) - 1}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {str(key): _without_arrays(part, arrays) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_arrays(part, arrays) for part in value]
    return value


def _with_arrays(value: Any, arrays: list[Any]) -> Any:
    if isinstance(value, dict):
        if set(value) == {ARRAY}:
            return arrays[value[ARRAY]]
        return {key: _with_arrays(part, arrays) for key, part in value.items()}
    if isinstance(value, list):
        return [_with_arrays(part, arrays) for part in value]
    return value
