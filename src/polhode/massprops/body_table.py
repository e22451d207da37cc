"""A body's numbers as a table that a file can hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.massprops.principal_axes import principal

if TYPE_CHECKING:
    from polhode.massprops.body import Body


def table_of(body: Body) -> dict[str, Any]:
    """The table of a body, by its numbers."""
    table: dict[str, Any] = {"mass": plain(body.mass)}
    if body.is_particle:
        table["particle"] = True
    else:
        table["inertia"] = plain(body.inertia)
        known = body.diagonalized
        if known is not None and any(map(_differ, principal(body.inertia_body), known[1:])):
            table["principal_moments"], table["principal_axes_wxyz"] = plain(known.moments), plain(known.axes)
    if np.any(body.center_of_mass):
        table["center_of_mass"] = plain(body.center_of_mass)
    if body.allow_unphysical:
        table["allow_unphysical"] = True
    for extent in ("volume", "area"):
        if getattr(body, extent) is not None:
            table[extent] = plain(getattr(body, extent))
    return table


def _differ(one: Any, other: Any) -> bool:
    one, other = np.broadcast_arrays(one, other)
    return not np.array_equal(one, other)


def plain(value: Any) -> Any:
    """Numbers and lists that a file can hold."""
    if isinstance(value, (bool, str)):
        return value
    return np.asarray(value).tolist()
