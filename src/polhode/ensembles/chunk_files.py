"""The files of one chunk of a store.  Its record is written last, so that a chunk with a record is whole.

The record has the digests of all numbers of the chunk, and everything that is read is verified.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import stat
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from polhode.ensembles.chunks import digest_numbers
from polhode.ensembles.store_layout import (
    RECORDS,
    ArraySpec,
    attached_name,
    block_bytes,
    block_size,
    decode_block,
    encode_blocks,
    fill_block,
    object_name,
    object_size,
    record_name,
    shard_header,
)
from polhode.ensembles.store_manifest import Manifest, digest_json, encode_json
from polhode.errors import InputError
from polhode.io.durable_files import sync_folder, write_durable

OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""A link is not followed, and a pipe not waited for."""


class ChunkDamage(NamedTuple):
    """A chunk of a store that cannot be read."""

    chunk: int
    first: int
    """Its first member."""
    last: int
    """One more than its last member."""
    reason: str

    def __str__(self) -> str:
        return f"chunk {self.chunk} (members {self.first} to {self.last - 1}): {self.reason}"


class ChunkRecord(NamedTuple):
    """What a store knows about a chunk."""

    chunk: int
    first: int
    last: int
    manifest: str
    """The digest of the manifest of the store that it belongs to."""
    blocks: dict[str, list[str]]
    """Of each array: the SHA-256 of each block of members."""
    attached: str | None
    """The SHA-256 of the file with the small arrays of the chunk; None if there are none."""
    content: dict[str, Any]
    """What the caller has recorded."""


class ChunkFiles:
    """The files of the chunks of a store."""

    def __init__(self, place: Path, manifest: Manifest) -> None:
        self.place, self.manifest, self.digest = place, manifest, manifest.digest

    def members_of(self, k: int) -> tuple[int, int]:
        """(first, last) of a chunk; last is excluded."""
        return self.manifest.plan.range_of(k)

    # Writing ----------------------------------------------------------------------------------------------------------
    def write(self, k: int, arrays: dict[str, Any], content: dict[str, Any], attached: dict[str, Any]) -> None:
        """Write a chunk: its numbers first, forced to the disk, and then its record, which makes it count."""
        first, last = self.members_of(k)
        blocks = {}
        for name, spec in self.manifest.arrays.items():
            blocks[name] = self._write_object(k, name, spec, arrays[name])
            sync_folder(self.place / name)
        packed = pack_arrays(attached) if attached else None
        if packed is not None:
            write_durable(self.place / RECORDS / attached_name(k), [packed])
        digest = None if packed is None else hashlib.sha256(packed).hexdigest()
        record = ChunkRecord(k, first, last, self.digest, blocks, digest, content)
        write_durable(self.place / RECORDS / record_name(k), [encode_record(record)])
        sync_folder(self.place / RECORDS)

    def _write_object(self, k: int, name: str, spec: ArraySpec, values: Any) -> list[str]:
        plan, digests = self.manifest.plan, []

        def parts() -> Any:
            yield shard_header(spec, plan, values.shape[spec.member_axis])
            for block, digest in encode_blocks(spec, plan, values):
                digests.append(digest)
                yield block

        write_durable(self.place / name / object_name(spec, k), parts())
        return digests

    # Reading ----------------------------------------------------------------------------------------------------------
    def read_record(self, k: int) -> ChunkRecord:
        """The record of a chunk, verified."""
        first, last = self.members_of(k)
        record = decode_record(read_regular_file(self.place / RECORDS / record_name(k)))
        if (record.chunk, record.first, record.last) != (k, first, last):
            raise ValueError("its record is that of another chunk")
        if record.manifest != self.digest:
            raise ValueError("its record is that of another store")
        return record

    def read_blocks(self, record: ChunkRecord, name: str, wanted: list[int]) -> list[Any]:
        """Some blocks of an array of a chunk, verified."""
        spec, plan, members = self.manifest.arrays[name], self.manifest.plan, record.last - record.first
        size, block = block_bytes(spec, plan), block_size(plan)
        header, found = shard_header(spec, plan, members), []
        with open_regular_file(self.place / name / object_name(spec, record.chunk)) as file:
            # Before memory is taken for it.
            if os.fstat(file.fileno()).st_size != object_size(spec, plan, members):
                raise ValueError(f"the file of {name} has a wrong size")
            if file.read(len(header)) != header:
                raise ValueError(f"the index of {name} is not what was stored")
            for i in wanted:
                file.seek(len(header) + i * size)
                content = file.read(size)
                values = decode_block(spec, plan, content, min(block, members - i * block))
                is_whole = (
                    values.shape[spec.member_axis] == block or fill_block(spec, plan, values).tobytes() == content
                )
                if not is_whole or digest_numbers(values) != record.blocks[name][i]:
                    raise ValueError(f"{name} is not what was stored")
                found.append(values)
        return found

    def read_attached(self, record: ChunkRecord) -> dict[str, Any]:
        """The small arrays of a chunk, verified."""
        if record.attached is None:
            return {}
        packed = read_regular_file(self.place / RECORDS / attached_name(record.chunk))
        if hashlib.sha256(packed).hexdigest() != record.attached:
            raise ValueError("its small arrays are not what was stored")
        return unpack_arrays(packed)

    # What belongs to all chunks ---------------------------------------------------------------------------------------
    def write_extra(self, name: str, content: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Write something about the whole ensemble with digests of everything."""
        packed = pack_arrays(arrays)
        text = encode_signed(
            {"manifest": self.digest, "content": content, "arrays": hashlib.sha256(packed).hexdigest()}
        )
        write_durable(self.place / RECORDS / f"{name}.npz", [packed])
        write_durable(self.place / RECORDS / f"{name}.json", [text])
        sync_folder(self.place / RECORDS)

    def read_extra(self, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """What was written about the whole ensemble, verified."""
        stored = decode_signed(read_regular_file(self.place / RECORDS / f"{name}.json"))
        if stored["manifest"] != self.digest:
            raise ValueError("it belongs to another store")
        try:
            packed = read_regular_file(self.place / RECORDS / f"{name}.npz")
        except FileNotFoundError:
            raise ValueError(f"{name}.npz is missing") from None
        if hashlib.sha256(packed).hexdigest() != stored["arrays"]:
            raise ValueError("its arrays are not what was stored")
        return stored["content"], unpack_arrays(packed)

    def verify(self, k: int) -> None:
        """Read everything of a chunk; an error if something is not what was written."""
        record = self.read_record(k)
        for name in self.manifest.arrays:
            for i in range(len(record.blocks[name])):
                self.read_blocks(record, name, [i])
        self.read_attached(record)


def check_chunk_arrays(manifest: Manifest, k: int, arrays: dict[str, Any]) -> dict[str, Any]:
    """The arrays of a chunk with their types; an error if one is missing or has another shape."""
    if set(arrays) != set(manifest.arrays):
        raise InputError(f"chunk {k} has the arrays {sorted(arrays)}, but the store has {sorted(manifest.arrays)}")
    first, last = manifest.plan.range_of(k)
    checked = {}
    for name, spec in manifest.arrays.items():
        values, expected = np.asarray(arrays[name]), spec.shape_of(last - first)
        if values.shape != expected or values.dtype.name != spec.dtype:
            raise InputError(
                f"{name} of chunk {k} is {values.dtype.name} of shape {values.shape}, but the store has "
                f"{spec.dtype} of shape {expected}"
            )
        checked[name] = values
    return checked


def pack_arrays(arrays: dict[str, Any]) -> bytes:
    """Arrays of any shape as one file (.npz); objects, which would have to be executed when read, are refused."""
    for name, values in arrays.items():
        if np.asarray(values).dtype.hasobject:
            raise InputError(f"{name} holds Python objects, but a store holds numbers and text only")
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **arrays)
    return file.getvalue()


def unpack_arrays(packed: bytes) -> dict[str, Any]:
    """The arrays of such a file."""
    with np.load(io.BytesIO(packed), allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def read_regular_file(path: Path) -> bytes:
    """The content of a file that is neither a link nor a device nor a pipe."""
    with open_regular_file(path) as file:
        content: bytes = file.read()
        return content


def open_regular_file(path: Path) -> Any:
    """Open a file for reading that is neither a link nor a device nor a pipe."""
    descriptor = os.open(path, OPEN_FLAGS)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError(f"{path.name} is a folder, a device or a pipe")
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


# The file of a record -------------------------------------------------------------------------------------------------
def encode_record(record: ChunkRecord) -> bytes:
    """The file of a record."""
    return encode_signed(record._asdict())


def decode_record(text: bytes) -> ChunkRecord:
    """The record of a file; an error if it is not what was written."""
    return ChunkRecord(**decode_signed(text))


def encode_signed(content: dict[str, Any]) -> bytes:
    """A file of plain JSON with its own digest."""
    return encode_json({**content, "sha256": digest_json(content)})


def decode_signed(text: bytes) -> dict[str, Any]:
    """The content of such a file; an error if it is not what was written."""
    content: dict[str, Any] = json.loads(text)
    digest = content.pop("sha256")
    if digest_json(content) != digest:
        raise ValueError("the record is not what was stored")
    return content
