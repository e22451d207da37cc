"""The files of an archive, which is a Zarr (version 3) group: whole arrays, and arrays divided among chunks of members.

A divided array has one file for each chunk of members, in Zarr's sharded form: the index first, then block after block,
so that one member is read without its whole chunk.  Nothing is compressed: doubles of a motion hardly shrink, and what
is stored can be compared bit by bit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from polhode.archive.trees import digest_numbers, little_endian
from polhode.errors import InputError

MEMBER = "member"
"""The dimension along which arrays are divided into chunks."""
METADATA = "zarr.json"
RECORDS = "records"
"""The folder, an empty Zarr group, that holds what Zarr does not know: records, and copies of small files."""
MISSING = 2**64 - 1
"""In the index of a shard: there is no such block."""
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
TEXT = "string"
"""The type of an array of words, which are written for other readers."""
ENCODING = {"name": "bytes", "configuration": {"endian": "little"}}
FILL_VALUES = {"f": "NaN", "i": -1, "u": 0, "b": False}
"""What readers show of a chunk whose file is not there, by the kind of its type."""


class ArraySpec(NamedTuple):
    """An array of an archive; one that is divided has the members along one of its dimensions.

    Examples
    --------
    >>> ArraySpec((101, 1_000_000, 14), ("time", "member", "number")).member_axis
    1
    """

    shape: tuple[int, ...]
    """Of the whole array, over all members."""
    dimensions: tuple[str, ...]
    """The name of each axis."""
    dtype: str = "float64"
    attributes: dict[str, Any] = {}  # noqa: RUF012  (never changed)
    """Plain JSON: units, a long name."""

    @property
    def member_axis(self) -> int:
        """The axis of the members."""
        return self.dimensions.index(MEMBER)

    @property
    def size(self) -> int:
        """The size of the numbers in bytes."""
        return int(np.prod(self.shape, dtype=object)) * np.dtype(self.dtype).itemsize

    def shape_of(self, members: int) -> tuple[int, ...]:
        """The shape of the numbers of some members."""
        axis = self.member_axis
        return (*self.shape[:axis], members, *self.shape[axis + 1 :])

    def check(self, name: str) -> None:
        """Raise an error for an array that cannot be stored, or whose name could lead out of the archive."""
        if not NAME.fullmatch(name) or name == RECORDS:
            raise InputError(
                f"an array of a store cannot be named {name!r}: letters, digits and _ only, not {RECORDS!r}"
            )
        if self.dtype != TEXT and np.dtype(self.dtype).kind not in FILL_VALUES:
            raise InputError(
                f"{name} has the type {self.dtype}, but a store holds real numbers, integers and flags only"
            )
        if len(self.shape) != len(self.dimensions) or min(self.shape, default=1) < 1:
            raise InputError(
                f"{name} has the shape {self.shape} but the dimensions {self.dimensions}; no axis may be empty"
            )


class Division(NamedTuple):
    """How the members of an ensemble are divided into chunks, which are files, and these into blocks."""

    members: int
    chunk_members: int
    block_members: int

    @property
    def block(self) -> int:
        """Members of a block; an ensemble of fewer members is one block."""
        return min(self.block_members, self.members)

    @property
    def blocks(self) -> int:
        """Blocks of a whole chunk; an ensemble of one chunk has only those that it needs."""
        return -(-min(self.chunk_members, self.members) // self.block)

    def check(self, name: str, spec: ArraySpec) -> None:
        """Raise an error for an array that is not divided so."""
        spec.check(name)
        if spec.dimensions.count(MEMBER) != 1 or spec.shape[spec.member_axis] != self.members or spec.dtype == TEXT:
            raise InputError(
                f"{name} has the shape {spec.shape} and the dimensions {spec.dimensions}, but one must be {MEMBER!r}, "
                f"of which there are {self.members}"
            )


# What Zarr reads ------------------------------------------------------------------------------------------------------
def array_metadata(spec: ArraySpec, division: Division | None) -> dict[str, Any]:
    """What the zarr.json of an array holds; of one that is divided, or whole."""
    kind = "" if spec.dtype == TEXT else np.dtype(spec.dtype).kind
    chunk, codecs = spec.shape, [ENCODING if kind else {"name": "vlen-utf8", "configuration": {}}]
    if division is not None:
        chunk = spec.shape_of(division.block * division.blocks)
        inner = {"chunk_shape": list(spec.shape_of(division.block)), "codecs": codecs}
        index = {"index_codecs": [ENCODING], "index_location": "start"}
        codecs = [{"name": "sharding_indexed", "configuration": inner | index}]
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": list(spec.shape),
        "data_type": spec.dtype if kind == "" else np.dtype(spec.dtype).name,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(chunk)}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "."}},
        "fill_value": FILL_VALUES.get(kind, ""),
        "codecs": codecs,
        "attributes": spec.attributes,
        "dimension_names": list(spec.dimensions),
        "storage_transformers": [],
    }


def group_metadata(attributes: dict[str, Any], children: dict[str, Any] | None = None) -> dict[str, Any]:
    """What the zarr.json of a group holds; with the metadata of its arrays, so that readers need not look for them."""
    content: dict[str, Any] = {"zarr_format": 3, "node_type": "group", "attributes": attributes}
    if children is not None:
        content["consolidated_metadata"] = {"kind": "inline", "must_understand": False, "metadata": children}
    return content


def object_name(spec: ArraySpec, k: int = 0) -> str:
    """The name of the file with chunk k of an array."""
    return ".".join(["c", *(str(k if name == MEMBER else 0) for name in spec.dimensions)])


# Whole arrays ---------------------------------------------------------------------------------------------------------
def encode_whole(values: Any) -> tuple[str, Any]:
    """The type of a whole array, and the bytes of its file."""
    values = np.asarray(values)
    if values.dtype.kind not in "OUT":
        numbers = little_endian(values)
        return numbers.dtype.name, numbers.reshape(-1).view(np.uint8).data
    words = [str(word).encode() for word in values.ravel()]
    counts = (len(words), *map(len, words))
    first, *others = (count.to_bytes(4, "little") for count in counts)
    return TEXT, first + b"".join(part for pair in zip(others, words, strict=True) for part in pair)


def decode_whole(spec: ArraySpec, content: Any) -> Any:
    """The numbers of a whole array."""
    return np.frombuffer(content, np.dtype(spec.dtype).newbyteorder("<")).reshape(spec.shape)


# Divided arrays -------------------------------------------------------------------------------------------------------
class Shard(NamedTuple):
    """The file of a chunk of an array: an index, and blocks of members, of which the last is filled up."""

    spec: ArraySpec
    division: Division
    members: int
    """Of this chunk."""

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return -(-self.members // self.division.block)

    @property
    def block_size(self) -> int:
        """The size of a block in bytes."""
        return self.spec._replace(shape=self.spec.shape_of(self.division.block)).size

    @property
    def header(self) -> bytes:
        """The index: where each block begins, and its size, in bytes."""
        total, size = self.division.blocks, self.block_size
        index = np.full((total, 2), MISSING, dtype="<u8")
        for i in range(self.blocks):
            index[i] = 16 * total + i * size, size
        return index.tobytes()

    @property
    def size(self) -> int:
        """The size of the file in bytes."""
        return 16 * self.division.blocks + self.blocks * self.block_size

    def encode(self, values: Any) -> Iterator[tuple[Any, str]]:
        """The blocks, each with the digest of its members' numbers."""
        before, block = (slice(None),) * self.spec.member_axis, self.division.block
        for first in range(0, self.members, block):
            part = little_endian(values[(*before, slice(first, first + block))])
            yield self.fill(part).data, digest_numbers(part)

    def fill(self, part: Any) -> Any:
        """A block of fewer members than others, with NaN or 0 for those that it does not have."""
        axis, block = self.spec.member_axis, self.division.block
        if part.shape[axis] == block:
            return part
        full = np.full(self.spec.shape_of(block), np.nan if part.dtype.kind == "f" else 0, dtype=part.dtype)
        full[(*(slice(None),) * axis, slice(0, part.shape[axis]))] = part
        return full

    def decode(self, i: int, content: bytes, digest: str) -> Any:
        """The numbers of the members of block i, verified."""
        block = self.division.block
        full = decode_whole(self.spec._replace(shape=self.spec.shape_of(block)), content)
        members = min(block, self.members - i * block)
        values = full[(*(slice(None),) * self.spec.member_axis, slice(0, members))]
        is_whole = members == block or self.fill(values).tobytes() == content
        if not is_whole or digest_numbers(values) != digest:
            raise ValueError("a block has another digest")
        return values
