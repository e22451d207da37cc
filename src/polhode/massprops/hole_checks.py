"""Checks that a subtracted body lies inside the other, as far as its outline shows, and has its density."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from polhode.massprops.support_functions import support_of_parts
from polhode.validation import Array

if TYPE_CHECKING:
    from polhode.massprops.body import Body

PROTRUSION_RTOL = 1e-9
"""Relative to the body's size or density: smaller differences are attributed to rounding."""


def find_hole_warnings(body: Body, holes: Sequence[Body]) -> tuple[str, ...]:
    """Warnings about holes that extend beyond the body or have another density.

    A protrusion that is found is real, whatever the shapes; a hole that passes may still lie in a cavity.  Bodies
    without geometry, particles, and volume meshes are not checked.
    """
    found = []
    for number, hole in enumerate(holes, start=1):
        which = "the hole" if len(holes) == 1 else f"hole {number}"
        found += [*_check_protrusion(body, hole, which), *_check_hole_density(body, hole, which)]
    return tuple(found)


def has_uniform_density(bodies: Sequence[Body]) -> bool:
    """Whether these bodies all have the same uniform density, as far as is known."""
    if any(body.density is None or any(part.is_mixed for part in body.parts) for body in bodies):
        return False
    first = np.asarray(bodies[0].density)
    return all(bool((np.abs(body.density - first) <= PROTRUSION_RTOL * first).all()) for body in bodies[1:])


def _check_hole_density(body: Body, hole: Body, which: str) -> list[str]:
    pair = (body, hole)
    known = all(one.density is not None and one.parts for one in pair)
    if not known or any(part.is_mixed for one in pair for part in one.parts) or has_uniform_density(pair):
        return []
    outer, inner = np.broadcast_arrays(body.density, hole.density)
    i = int((np.abs(inner - outer) / outer).argmax())
    return [
        f"{which} has density {inner.flat[i]:.10g} kg/m3, the body {outer.flat[i]:.10g} kg/m3: more or less mass is "
        "removed than was there; give the hole the density of the body"
    ]


class _Protrusion(NamedTuple):
    by: float
    along: Array
    size: float
    is_outside: bool


def _check_protrusion(body: Body, hole: Body, which: str) -> list[str]:
    if not body.parts or not hole.parts:
        return []
    found = [
        excess
        for along in _test_directions(body, hole)
        if (excess := _measure_protrusion(body, hole, along)) is not None
    ]
    worst = max(found, key=lambda excess: excess.by, default=None)
    if worst is None or worst.by <= PROTRUSION_RTOL * max(excess.size for excess in found):
        return []
    if any(excess.is_outside for excess in found):
        return [f"{which} lies outside the body: mass is removed where there was none; move it into the body"]
    return [
        f"{which} extends {worst.by:.3g} m beyond the body along {_format_direction(worst.along)}: what lies outside "
        "is subtracted, too; make it no longer than the body"
    ]


def _test_directions(body: Body, hole: Body) -> Array:
    """The coordinate axes, and the normals of each box's faces and each cylinder's ends, as they are oriented."""
    normals = [np.linalg.inv(part.linear) for part in (*body.parts, *hole.parts) if not part.is_hole]
    rows = np.concatenate((np.eye(3), *normals))
    unit = (rows / np.sqrt((rows**2).sum(axis=-1, keepdims=True))).round(12) + 0.0
    return np.unique(np.concatenate((unit, -unit)), axis=0)


def _measure_protrusion(body: Body, hole: Body, along: Array) -> _Protrusion | None:
    """How far the hole protrudes in this direction, and the body's size, for the worst member."""
    high, low, top, bottom = (support_of_parts(one.parts, u) for one in (body, hole) for u in (along, -along))
    if high is None or low is None or top is None or bottom is None:
        return None
    rounding = 8 * sys.float_info.epsilon * np.abs(high)
    by, size, gap = np.broadcast_arrays(top - high - rounding, high + low, -bottom - high - rounding)
    i = int(by.argmax())
    return _Protrusion(float(by.flat[i]), along, float(size.flat[i]), bool((gap > PROTRUSION_RTOL * size).any()))


def _format_direction(along: Array) -> str:
    if np.count_nonzero(np.abs(along) > PROTRUSION_RTOL) == 1:
        return "xyz"[int(np.abs(along).argmax())]
    return f"({', '.join(f'{c + 0.0:.3g}' for c in along)})"
