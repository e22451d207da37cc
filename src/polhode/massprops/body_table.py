"""A body's mass properties as a table for a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.massprops.principal_axes import diagonalize_inertia

if TYPE_CHECKING:
    from polhode.massprops.body import Body


def to_plain_values(value: Any) -> Any:
    """Plain numbers and lists, for a file."""
    if isinstance(value, (bool, str)):
        return value
    return np.asarray(value).tolist()


def body_to_table(body: Body, plain: Callable[[Any], Any] = to_plain_values) -> dict[str, Any]:
    """The table of a body's mass properties."""
    table: dict[str, Any] = {"mass": plain(body.mass)}
    if body.is_particle:
        table["particle"] = True
    else:
        table["inertia"] = plain(body.inertia)
        known = body.diagonalized
        if known is not None and any(map(_arrays_differ, diagonalize_inertia(body.inertia_body), known[1:])):
            table["principal_moments"] = plain(known.moments)
            table["principal_axes_wxyz"] = plain(known.axes)
    if np.any(body.center_of_mass):
        table["center_of_mass"] = plain(body.center_of_mass)
    if body.allow_unphysical:
        table["allow_unphysical"] = True
    for extent in ("volume", "area"):
        if getattr(body, extent) is not None:
            table[extent] = plain(getattr(body, extent))
    return table


def _arrays_differ(one: Any, other: Any) -> bool:
    one, other = np.broadcast_arrays(one, other)
    return not np.array_equal(one, other)
