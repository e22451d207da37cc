"""The numbers of a glTF file: one buffer, with the views and accessors that say what lies where."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from polhode.errors import InputError
from polhode.massprops.geometry import Indices
from polhode.validation import Array

ARRAY_BUFFER, ELEMENT_ARRAY_BUFFER = 34962, 34963
"""What a view is for, in OpenGL's numbers; keys of animations have none."""
ACCESSOR_TYPES = {1: "SCALAR", 3: "VEC3", 4: "VEC4"}
COMPONENT_TYPES = {"float32": 5126, "uint32": 5125, "uint16": 5123}
MAX_UINT16_VERTICES = 65535
"""Fewer vertices than this are counted in 16 bits: the largest number of them is no vertex."""


class GltfBuffer:
    """Grows by one array at a time; each has a view and an accessor of its own, with the same number."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._length = 0
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []

    def floats(self, array: Array, what: str, target: int | None = None, *, bounds: bool = False) -> int:
        """Numbers in 32 bits, with their least and largest where glTF asks for them."""
        with np.errstate(over="ignore", under="ignore"):
            rounded = np.asarray(array, dtype=np.float32)
        if not np.isfinite(rounded).all():
            raise InputError(f"{what} reach {np.abs(array).max():.1e}, more than the 32-bit numbers of glTF can hold")
        return self._add(rounded, target, bounds)

    def indices(self, faces: Indices, vertices: int) -> int:
        """The corners' numbers of triangles."""
        return self._add(
            faces.ravel().astype(np.uint16 if vertices < MAX_UINT16_VERTICES else np.uint32),
            ELEMENT_ARRAY_BUFFER,
            False,
        )

    @property
    def content(self) -> bytes:
        """All of it."""
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
