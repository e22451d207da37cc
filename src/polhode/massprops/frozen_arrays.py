"""Read-only arrays for immutable records."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def freeze_array(array: NDArray[Any]) -> Any:
    """A read-only copy of an array; the array itself if it is read-only and owns its data."""
    if array.flags.writeable or not array.flags.owndata or type(array) is not np.ndarray:
        array = np.array(array)
        array.setflags(write=False)
    return array


def freeze_arrays(value: Any) -> Any:
    """A read-only copy of an array or of each array in a tuple; any other value as it is."""
    if isinstance(value, np.ndarray):
        return freeze_array(value)
    if not isinstance(value, tuple):
        return value
    items = [freeze_arrays(item) for item in value]
    return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
