"""Binary encoding of a motion record: a JSON header, then the arrays.  front/src/motion/record.ts decodes it."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.validation import Array

MAX_FLOAT32_RANGE = 1e30
"""Arrays with a larger ratio between bodies are stored in 64 bits."""


@dataclass(frozen=True)
class MotionRecord:
    """The data of a motion that the page displays: metadata, and arrays by name."""

    meta: dict[str, Any]
    arrays: dict[str, Any]
    """Floats are encoded in 32 bits, except for the arrays named in `exact`; integers as uint32."""
    exact: frozenset[str] = frozenset({"time"})


def encode_record(record: MotionRecord) -> bytes:
    """Encode a record: length of the header (4 bytes, little-endian), header, padding to 8 bytes, arrays."""
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
    """Scale to float32 by a power of two: moments of inertia of molecules underflow otherwise."""
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
    """Ratio of the largest to the smallest of the bodies' maximum absolute values."""
    sizes = np.abs(np.where(np.isfinite(array), array, 0.0)).max(axis=0, initial=0.0)
    sizes = sizes[sizes > 0]
    with np.errstate(over="ignore"):
        return float(sizes.max() / sizes.min()) if sizes.size else 1.0


def _to_jsonable(value: Any) -> Any:
    """Convert to JSON types: lists for arrays, null for NaN and infinity."""
    if isinstance(value, dict):
        return {key: _to_jsonable(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_to_jsonable(part) for part in value]
    if isinstance(value, np.ndarray | np.generic):
        return _to_jsonable(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value
