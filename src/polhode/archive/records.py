"""Records of an archive: plain values and arrays that are added to it one by one, each a file, whole or not at all.

The first line of a file is the SHA-256 of the second.  That is JSON: the archive that the record belongs to, its name,
its content, and the types, shapes and SHA-256 of its arrays, whose bytes follow.  Nothing in it is ever executed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from polhode.archive.files import open_regular_file, sync_folder, write_durable
from polhode.archive.layout import RECORDS
from polhode.archive.trees import decode_tree, encode_json, encode_tree, little_endian
from polhode.errors import InputError

KINDS = "fiubU"
"""Real numbers, integers, flags and words."""


class DamagedRecordError(Exception):
    """A record that is not what was written."""


def write_record(place: Path, archive: str, name: str, content: Mapping[str, Any]) -> str:
    """Write a record of the archive at a place, known by the digest of its manifest; return the record's own digest.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     (Path(folder) / "records").mkdir()
    ...     _ = write_record(Path(folder), "", "x", {"time": 0.1, "state": np.array([1.0, np.nan])})
    ...     read_record(Path(folder), "", "x")[0]
    {'time': 0.1, 'state': array([ 1., nan])}
    """
    arrays: list[Any] = []

    def put(values: Any) -> int:
        if values.dtype.kind not in KINDS:
            raise InputError(
                f"an array of {name} holds Python objects, or records, but a store holds numbers and text only"
            )
        arrays.append(little_endian(values))
        return len(arrays) - 1

    tree, digest = encode_tree(content, put), sha256()
    numbers = [array.reshape(-1).view(np.uint8) for array in arrays if array.size]
    for part in numbers:
        digest.update(part)
    kinds = [[array.dtype.str, list(array.shape)] for array in arrays]
    text = encode_json(
        {"archive": archive, "record": name, "content": tree, "arrays": kinds, "sha256": digest.hexdigest()}, None
    )
    own = sha256(text).hexdigest()
    write_durable(place / RECORDS / name, [f"{own}\n".encode(), text, *numbers])
    sync_folder(place / RECORDS)
    return own


def read_record(place: Path, archive: str, name: str, *, with_arrays: bool = True) -> tuple[dict[str, Any], str]:
    """The content of a record, and its digest, verified; without its arrays, if they are not wanted.

    An error of the system, or DamagedRecordError, says why there is none.
    """
    try:
        with open_regular_file(place / RECORDS / name) as file:
            own, text = file.readline(66).decode().strip(), file.readline()
            if sha256(text).hexdigest() != own:
                raise ValueError
            stored = json.loads(text)
            numbers = file.read() if with_arrays else b""
        if stored["archive"] != archive:
            raise DamagedRecordError(f"{name} belongs to another run")
        if stored["record"] != name:
            raise DamagedRecordError(f"{name} is the file of {stored['record']}")
        if not with_arrays:
            return stored["content"], own
        if sha256(numbers).hexdigest() != stored["sha256"]:
            raise ValueError
        arrays, at = [], 0
        for kind, shape in stored["arrays"]:
            dtype = np.dtype(kind)
            if dtype.kind not in KINDS:
                raise ValueError
            count = int(np.prod(shape, dtype=np.int64))
            arrays.append(np.frombuffer(numbers, dtype, count, at).reshape(shape).copy())
            at += count * dtype.itemsize
        return decode_tree(stored["content"], lambda i: arrays[i]), own
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
        raise DamagedRecordError(f"{name} is damaged: its content is not what was written") from None
