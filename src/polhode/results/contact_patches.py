"""The part of a floor, wall or slope that pictures show: a square around the motion, cut by the other surfaces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

import numpy as np

from polhode.scenario.contact import HalfSpace
from polhode.validation import Array

CELLS = 8
"""About how many squares of the grid fit across a patch."""


@dataclass(frozen=True)
class ContactPatch:
    """A convex polygon on a surface, with the lines of a grid that is fixed in the world."""

    name: str
    normal: Array
    corners: Array
    """(n, 3), in order; fewer than 3 if nothing of the surface is near."""
    lines: Array
    """The ends of the grid lines, (m, 2, 3)."""
    cell: float
    """The side of a square of the grid, in m."""


def contact_patches(
    surfaces: Sequence[HalfSpace], center: Array, radius: float, cells: int = CELLS
) -> list[ContactPatch]:
    """The patches of all surfaces within about `radius` (m) of a point; of an ensemble those of its first member.

    About `cells` squares of the grid fit across a patch.
    """
    planes = [_first_member(surface) for surface in surfaces]
    found = []
    for i, (surface, (normal, offset)) in enumerate(zip(surfaces, planes, strict=True)):
        others = planes[:i] + planes[i + 1 :]
        # Along x where possible, so that the grid of a floor is that of the world's axes.
        u = _unit(np.cross(_nearest_axis(normal), normal))
        v = np.cross(normal, u)
        cell = _round_down(2 * radius / cells)
        middle = [round(float(center @ axis) / cell) * cell for axis in (u, v)]
        count = ceil(radius / cell)
        half = cell * count
        ticks = [m + np.arange(-count, count + 1) * cell for m in middle]

        def place(a: float, b: float, n: Array = normal, d: float = offset, u: Array = u, v: Array = v) -> Array:
            return d * n + a * u + b * v

        (a, b), low, high = middle, -half, half
        corners = [place(a + x, b + y) for x, y in ((low, low), (high, low), (high, high), (low, high))]
        lines = [(place(x, b + low), place(x, b + high)) for x in ticks[0]]
        lines += [(place(a + low, y), place(a + high, y)) for y in ticks[1]]
        kept = [line for line in (_clip_line(np.array(line), others) for line in lines) if line is not None]
        found.append(
            ContactPatch(
                surface.name,
                normal,
                _clip_polygon(np.array(corners), others),
                np.array(kept).reshape(-1, 2, 3),
                cell,
            )
        )
    return found


def varies_between_members(surfaces: Sequence[HalfSpace]) -> bool:
    """Whether the members of an ensemble have different planes."""
    return any(np.ndim(surface.normal) > 1 or np.ndim(surface.offset) > 0 for surface in surfaces)


def _first_member(surface: HalfSpace) -> tuple[Array, float]:
    return np.asarray(surface.normal, dtype=float).reshape(-1, 3)[0], float(np.ravel(surface.offset)[0])


def _clip_polygon(corners: Array, planes: list[tuple[Array, float]]) -> Array:
    """The part of a polygon outside of all these surfaces.  [Sutherland and Hodgman 1974]"""
    for normal, offset in planes:
        heights = corners @ normal - offset
        kept = []
        for i in range(len(corners)):
            j = (i + 1) % len(corners)
            if heights[i] >= 0:
                kept.append(corners[i])
            if (heights[i] >= 0) != (heights[j] >= 0):
                share = heights[i] / (heights[i] - heights[j])
                kept.append(corners[i] + share * (corners[j] - corners[i]))
        corners = np.array(kept).reshape(-1, 3)
    return corners


def _clip_line(ends: Array, planes: list[tuple[Array, float]]) -> Array | None:
    """The part of a line outside of all these surfaces; None if there is none."""
    first, last = 0.0, 1.0
    for normal, offset in planes:
        a, b = ends @ normal - offset
        if a < 0 and b < 0:
            return None
        if a < 0:
            first = max(first, a / (a - b))
        elif b < 0:
            last = min(last, a / (a - b))
    along = ends[1] - ends[0]
    return np.array((ends[0] + first * along, ends[0] + last * along)) if first < last else None


def _nearest_axis(normal: Array) -> Array:
    """The world's y, or z for a normal close to it."""
    return np.array((0.0, 1.0, 0.0)) if abs(normal[1]) < 0.9 else np.array((0.0, 0.0, 1.0))


def _unit(vector: Array) -> Array:
    return np.asarray(vector / np.linalg.norm(vector))


def _round_down(length: float) -> float:
    """1, 2 or 5 times a power of ten."""
    power = 10.0 ** floor(log10(length))
    return power * (5.0 if length >= 5 * power else 2.0 if length >= 2 * power else 1.0)
