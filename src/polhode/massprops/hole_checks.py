"""Whether what is taken away lies within the body, as far as its outline tells, and has the body's density."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from polhode.massprops.support_functions import reach
from polhode.validation import Array

if TYPE_CHECKING:
    from polhode.massprops.body import Body

SEEN = 1e-9
"""Relative to the body's size, or to its density: what differs by less is rounding, and no hole that is too long."""


def doubts(body: Body, holes: Sequence[Body]) -> tuple[str, ...]:
    """Sentences about holes that cannot be holes of this body.

    A hole that is seen to stand out in some direction does so, whatever the shapes are; one that is not seen may still
    lie in a hollow.  Bodies known by their numbers alone, particles, and volume meshes are not looked at.
    """
    found = []
    for number, hole in enumerate(holes, start=1):
        which = "the hole" if len(holes) == 1 else f"hole {number}"
        found += [*_stands_out(body, hole, which), *_another_density(body, hole, which)]
    return tuple(found)


def is_of_one_density(bodies: Sequence[Body]) -> bool:
    """Whether these together are matter of one density throughout, as far as is known."""
    if any(body.density is None or any(part.is_mixed for part in body.parts) for body in bodies):
        return False
    first = np.asarray(bodies[0].density)
    return all(bool((np.abs(body.density - first) <= SEEN * first).all()) for body in bodies[1:])


def _another_density(body: Body, hole: Body, which: str) -> list[str]:
    known = all(one.density is not None and one.parts for one in (body, hole))
    if not known or any(part.is_mixed for one in (body, hole) for part in one.parts) or is_of_one_density((body, hole)):
        return []
    outer, inner = np.broadcast_arrays(body.density, hole.density)
    i = int((np.abs(inner - outer) / outer).argmax())
    return [
        f"{which} has the density {inner.flat[i]:.10g} kg/m3, the body {outer.flat[i]:.10g} kg/m3: more or less is "
        "taken away than was there; give the hole the density of the body"
    ]


class _Excess(NamedTuple):
    by: float
    along: Array
    size: float
    is_outside: bool


def _stands_out(body: Body, hole: Body, which: str) -> list[str]:
    if not body.parts or not hole.parts:
        return []
    found = [excess for along in _directions(body, hole) if (excess := _excess(body, hole, along)) is not None]
    worst = max(found, key=lambda excess: excess.by, default=None)
    if worst is None or worst.by <= SEEN * max(excess.size for excess in found):
        return []
    if any(excess.is_outside for excess in found):
        return [f"{which} lies outside the body: mass is taken away where there was none; move it into the body"]
    return [
        f"{which} reaches {worst.by:.3g} m out of the body along {_named(worst.along)}: what lies outside is taken "
        "away, too; make it no longer than the body"
    ]


def _directions(body: Body, hole: Body) -> Array:
    """Along the axes, and across the faces of every box and the ends of every cylinder, as they are turned."""
    normals = [np.linalg.inv(part.linear) for part in (*body.parts, *hole.parts) if not part.is_hole]
    rows = np.concatenate((np.eye(3), *normals))
    unit = (rows / np.sqrt((rows**2).sum(axis=-1, keepdims=True))).round(12) + 0.0
    return np.unique(np.concatenate((unit, -unit)), axis=0)


def _excess(body: Body, hole: Body, along: Array) -> _Excess | None:
    """How far the hole stands out, and the body's size, in this direction; of all members, where it is worst."""
    high, low, top, bottom = (reach(one.parts, u) for one in (body, hole) for u in (along, -along))
    if high is None or low is None or top is None or bottom is None:
        return None
    crumb = 8 * sys.float_info.epsilon * np.abs(high)
    by, size, gap = np.broadcast_arrays(top - high - crumb, high + low, -bottom - high - crumb)
    i = int(by.argmax())
    return _Excess(float(by.flat[i]), along, float(size.flat[i]), bool((gap > SEEN * size).any()))


def _named(along: Array) -> str:
    if np.count_nonzero(np.abs(along) > SEEN) == 1:
        return "xyz"[int(np.abs(along).argmax())]
    return f"({', '.join(f'{c + 0.0:.3g}' for c in along)})"
