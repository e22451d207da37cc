"""The files of an ensemble's store, which is a Zarr (version 3) group.

Every array of the ensemble has one object for each chunk of members, in Zarr's sharded form: the index first, then
block after block, so that one member is read without its whole chunk.  Nothing is compressed: doubles of a motion
hardly shrink, and what is stored can be compared bit by bit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from polhode.ensembles.chunks import BLOCK_MEMBERS, ChunkPlan, digest_numbers, little_endian
from polhode.errors import InputError

MEMBER = "member"
"""The dimension along which arrays are divided into chunks."""
METADATA = "zarr.json"
RECORDS = "records"
"""The folder, an empty Zarr group, that holds what Zarr does not know: records of chunks and copies of small files."""
MISSING = 2**64 - 1
"""In the index of a shard: there is no such block."""
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
KINDS = "fiub"
ENCODING = {"name": "bytes", "configuration": {"endian": "little"}}


class ArraySpec(NamedTuple):
    """An array of an ensemble's store, with the members along one of its dimensions.

    Examples
    --------
    >>> ArraySpec((101, 1_000_000, 14), ("time", "member", "number")).member_axis
    1
    """

    shape: tuple[int, ...]
    """Of the whole array, over all members."""
    dimensions: tuple[str, ...]
    """The name of each axis; one of them is "member"."""
    dtype: str = "float64"
    attributes: dict[str, Any] = {}  # noqa: RUF012  (never changed)
    """Plain JSON: units, a long name."""

    @property
    def member_axis(self) -> int:
        """The axis of the members."""
        return self.dimensions.index(MEMBER)

    def shape_of(self, members: int) -> tuple[int, ...]:
        """The shape of the numbers of some members."""
        axis = self.member_axis
        return (*self.shape[:axis], members, *self.shape[axis + 1 :])


def check_array(name: str, spec: ArraySpec, plan: ChunkPlan) -> None:
    """Raise an error for an array that cannot be stored, or whose name could lead out of the store."""
    if not NAME.fullmatch(name) or name == RECORDS:
        raise InputError(f"an array of a store cannot be named {name!r}: letters, digits and _ only, not {RECORDS!r}")
    if np.dtype(spec.dtype).kind not in KINDS:
        raise InputError(f"{name} has the type {spec.dtype}, but a store holds real numbers, integers and flags only")
    if len(spec.shape) != len(spec.dimensions) or spec.dimensions.count(MEMBER) != 1:
        raise InputError(
            f"{name} has the shape {spec.shape} but the dimensions {spec.dimensions}; one must be {MEMBER!r}"
        )
    if spec.shape[spec.member_axis] != plan.members or min(spec.shape) < 1:
        raise InputError(
            f"{name} has the shape {spec.shape}, but there are {plan.members} members, and no axis is empty"
        )


def block_size(plan: ChunkPlan) -> int:
    """Members of a block in the files; an ensemble of fewer members is one block."""
    return min(BLOCK_MEMBERS, plan.members)


def blocks_of_chunk(plan: ChunkPlan) -> int:
    """Blocks of a whole chunk; an ensemble of one chunk has only those that it needs."""
    return -(-min(plan.chunk_members, plan.members) // block_size(plan))


def array_metadata(spec: ArraySpec, plan: ChunkPlan) -> dict[str, Any]:
    """What the zarr.json of an array holds."""
    block = spec.shape_of(block_size(plan))
    sharding = {
        "chunk_shape": list(block),
        "codecs": [ENCODING],
        "index_codecs": [ENCODING],
        "index_location": "start",
    }
    whole = spec.shape_of(block_size(plan) * blocks_of_chunk(plan))
    return _metadata(spec, whole, [{"name": "sharding_indexed", "configuration": sharding}])


def common_metadata(spec: ArraySpec) -> dict[str, Any]:
    """What the zarr.json of an array holds that is not divided into chunks."""
    return _metadata(spec, spec.shape, [ENCODING])


def _metadata(spec: ArraySpec, chunk: tuple[int, ...], codecs: list[Any]) -> dict[str, Any]:
    fill = {"f": "NaN", "i": -1, "u": 0, "b": False}[np.dtype(spec.dtype).kind]
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": list(spec.shape),
        "data_type": np.dtype(spec.dtype).name,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(chunk)}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "."}},
        "fill_value": fill,
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


def object_name(spec: ArraySpec, k: int) -> str:
    """The name of the file with chunk k of an array."""
    return ".".join(["c", *(str(k) if name == MEMBER else "0" for name in spec.dimensions)])


def record_name(k: int) -> str:
    """The name of the record of chunk k."""
    return f"chunk.{k}.json"


def attached_name(k: int) -> str:
    """The name of the file with the small arrays of chunk k."""
    return f"chunk.{k}.npz"


def shard_header(spec: ArraySpec, plan: ChunkPlan, members: int) -> bytes:
    """The index at the start of an object: where each block begins, and its size, in bytes."""
    total, block = blocks_of_chunk(plan), block_size(plan)
    size = block_bytes(spec, plan)
    index = np.full((total, 2), MISSING, dtype="<u8")
    for i in range(-(-members // block)):
        index[i] = 16 * total + i * size, size
    return index.tobytes()


def block_bytes(spec: ArraySpec, plan: ChunkPlan) -> int:
    """The size of a block in bytes."""
    return int(np.prod(spec.shape_of(block_size(plan)), dtype=np.int64)) * np.dtype(spec.dtype).itemsize


def object_size(spec: ArraySpec, plan: ChunkPlan, members: int) -> int:
    """The size in bytes of an object with so many members."""
    return 16 * blocks_of_chunk(plan) + -(-members // block_size(plan)) * block_bytes(spec, plan)


def encode_blocks(spec: ArraySpec, plan: ChunkPlan, values: Any) -> Iterator[tuple[Any, str]]:
    """The blocks of an object, the last one filled up, each with the digest of its members' numbers."""
    members, block = values.shape[spec.member_axis], block_size(plan)
    before = (slice(None),) * spec.member_axis
    for first in range(0, members, block):
        part = little_endian(values[(*before, slice(first, first + block))])
        yield fill_block(spec, plan, part).data, digest_numbers(part)


def fill_block(spec: ArraySpec, plan: ChunkPlan, part: Any) -> Any:
    """A block of fewer members than others, with NaN or 0 for those that it does not have."""
    axis, block = spec.member_axis, block_size(plan)
    if part.shape[axis] == block:
        return part
    full = np.full(spec.shape_of(block), np.nan if part.dtype.kind == "f" else 0, dtype=part.dtype)
    full[(*(slice(None),) * axis, slice(0, part.shape[axis]))] = part
    return full


def decode_block(spec: ArraySpec, plan: ChunkPlan, content: bytes, members: int) -> Any:
    """The numbers of the members of a block."""
    full = np.frombuffer(content, dtype=np.dtype(spec.dtype).newbyteorder("<")).reshape(spec.shape_of(block_size(plan)))
    before = (slice(None),) * spec.member_axis
    return full[(*before, slice(0, members))]
