"""The record of a chunk: written last, so that a chunk with a record is whole; with the digests of all its numbers."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from polhode.ensembles.store_manifest import digest_json, encode_json


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
