"""A record as one row of bytes: a header in JSON, then the arrays.  front/src/motion/record.ts reads it."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.validation import Array

MAX_FLOAT32_RANGE = 1e30
"""Bodies that differ by more than this cannot share one range of 32-bit numbers."""


@dataclass(frozen=True)
class MotionRecord:
    """What the page is told of a motion: texts and numbers, and arrays by name."""

    meta: dict[str, Any]
    arrays: dict[str, Any]
    """Numbers are sent in 32 bits, except where an array is named in `exact`; whole numbers as such."""
    exact: frozenset[str] = frozenset({"time"})


def encode_record(record: MotionRecord) -> bytes:
    """Length of the header (4 bytes, little-endian), the header, padding to 8 bytes, then the arrays."""
    entries: dict[str, Any] = {}
    parts: list[bytes] = []
    offset = 0
    for name, values in record.arrays.items():
        array, scale = _to_float32(np.asarray(values), name in record.exact)
        data = array.tobytes()
        data += bytes(-len(data) % 8)
        entries[name] = {"type": str(array.dtype), "shape": list(array.shape), "offset": offset, "scale": scale}
        parts.append(data)
        offset += len(data)
    header = json.dumps(_to_jsonable({"meta": record.meta, "arrays": entries}), allow_nan=False).encode()
    padding = bytes(-(4 + len(header)) % 8)
    return len(header).to_bytes(4, "little") + header + padding + b"".join(parts)


def _to_float32(array: Array, exact: bool) -> tuple[Array, float]:
    """In 32 bits, divided by a number near the largest: moments of molecules are below what 32 bits hold."""
    if array.dtype.kind in "iu":
        return np.ascontiguousarray(array, dtype="<u4"), 1.0
    if exact or _dynamic_range(array) > MAX_FLOAT32_RANGE:
        return np.ascontiguousarray(array, dtype="<f8"), 1.0
    size = float(np.abs(array).max(initial=0.0, where=np.isfinite(array)))
    scale = 2.0 ** math.frexp(size)[1] if size else 1.0
    if not math.isfinite(scale):
        scale = 2.0**1023
    with np.errstate(under="ignore"):
        return np.ascontiguousarray(array / scale, dtype="<f4"), scale


def _dynamic_range(array: Array) -> float:
    """By how much the numbers of one body are larger than those of another, each at its largest."""
    sizes = np.abs(np.where(np.isfinite(array), array, 0.0)).max(axis=0, initial=0.0)
    sizes = sizes[sizes > 0]
    with np.errstate(over="ignore"):
        return float(sizes.max() / sizes.min()) if sizes.size else 1.0


def _to_jsonable(value: Any) -> Any:
    """What JSON can hold: no arrays, and null for what is no finite number."""
    if isinstance(value, dict):
        return {key: _to_jsonable(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_to_jsonable(part) for part in value]
    if isinstance(value, np.ndarray | np.generic):
        return _to_jsonable(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value
