"""The buffer of a glTF file, with its buffer views and accessors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from polhode.errors import InputError
from polhode.massprops.geometry import Indices
from polhode.validation import Array

ARRAY_BUFFER, ELEMENT_ARRAY_BUFFER = 34962, 34963
"""Targets of buffer views (OpenGL constants); animation keyframes have none."""
ACCESSOR_TYPES = {1: "SCALAR", 3: "VEC3", 4: "VEC4"}
COMPONENT_TYPES = {"float32": 5126, "uint32": 5125, "uint16": 5123}
MAX_UINT16_VERTICES = 65535
"""Meshes with fewer vertices use 16-bit indices, of which the largest is reserved."""


class GltfBuffer:
    """Appends arrays; each has a buffer view and an accessor of the same index."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._length = 0
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []

    def floats(self, array: Array, what: str, target: int | None = None, *, bounds: bool = False) -> int:
        """Append 32-bit floats, with minimum and maximum if glTF requires them."""
        with np.errstate(over="ignore", under="ignore"):
            rounded = np.asarray(array, dtype=np.float32)
        if not np.isfinite(rounded).all():
            raise InputError(f"{what} reach {np.abs(array).max():.1e}, more than the 32-bit floats of glTF can hold")
        return self._add(rounded, target, bounds)

    def indices(self, faces: Indices, vertices: int) -> int:
        """Append the vertex indices of triangles."""
        return self._add(
            faces.ravel().astype(np.uint16 if vertices < MAX_UINT16_VERTICES else np.uint32),
            ELEMENT_ARRAY_BUFFER,
            False,
        )

    @property
    def content(self) -> bytes:
        """The contents of the buffer."""
        return b"".join(self._pieces)

    def _add(self, array: NDArray[Any], target: int | None, bounds: bool) -> int:
        content = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).tobytes()
        view = {"buffer": 0, "byteOffset": self._length, "byteLength": len(content)}
        padded = content + b"\0" * (-len(content) % 4)
        self._pieces.append(padded)
        self._length += len(padded)
        self.views.append(view if target is None else {**view, "target": target})
        rows = array.reshape(len(array), -1)
        accessor: dict[str, Any] = {
            "bufferView": len(self.views) - 1,
            "componentType": COMPONENT_TYPES[array.dtype.name],
            "count": len(rows),
            "type": ACCESSOR_TYPES[rows.shape[1]],
        }
        if bounds:
            accessor |= {"min": rows.min(axis=0).tolist(), "max": rows.max(axis=0).tolist()}
        self.accessors.append(accessor)
        return len(self.accessors) - 1
