"""Arrays that nobody changes any more: what frozen records keep."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def freeze_array(array: NDArray[Any]) -> Any:
    """The same numbers in an array of their own that cannot be written; itself, if it is one already."""
    if array.flags.writeable or not array.flags.owndata or type(array) is not np.ndarray:
        array = np.array(array)
        array.setflags(write=False)
    return array


def freeze_arrays(value: Any) -> Any:
    """An array that cannot be written, or a tuple of such; anything else as it is."""
    if isinstance(value, np.ndarray):
        return freeze_array(value)
    if not isinstance(value, tuple):
        return value
    items = [freeze_arrays(item) for item in value]
    return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
