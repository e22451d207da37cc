"""Check that neighboring cells fit: a point just outside a boundary face must not lie in a nearby cell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from polhode.massprops.geometry import Indices
from polhode.massprops.volume.boundary_faces import FACE_TRIANGLES, boundary_triangles
from polhode.massprops.volume.cell_types import CELL_TYPES
from polhode.massprops.volume.quadrature import POINTS_PER_CHUNK
from polhode.validation import Array

PROBE_OFFSET = 1e-6
"""Distance of the probe from the face, relative to its size."""
SIGN_MARGIN = 16
"""Multiple of its rounding error beyond which a height has a definite sign."""


def count_covered_faces(
    outside: Sequence[Indices], blocks: Sequence[tuple[str, Indices]], nodes: Array, same: Indices, rounding: float
) -> int:
    """The number of boundary triangles with another cell in front of them.

    Only cells with a common node are tested, and of these only the kernel (the part visible from all their faces): so a
    sound mesh is never reported, and a wrong one may pass.  `rounding` is the error of the coordinates, which tilts a
    face by its ratio to the face's height, and shifts a distant point in proportion to its distance.
    """
    triangles = boundary_triangles(outside)
    a, b, c = nodes[triangles].transpose(1, 0, 2)
    normal = np.cross(b - a, c - a)
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    # normal/length times the square root of the area; a degenerate triangle has nothing in front
    points = (a + b + c) / 3 + PROBE_OFFSET * np.divide(
        normal, np.sqrt(length), out=np.zeros_like(normal), where=length > 0
    )
    is_outer = np.zeros(len(nodes), dtype=bool)
    is_outer[triangles] = True
    hit = np.zeros(len(triangles), dtype=bool)
    for kind, cells in blocks:
        near = same[cells[is_outer[same[cells]].any(axis=1)]]
        sides = np.array([[f[i] for i in t] for f in CELL_TYPES[kind].faces for t in FACE_TRIANGLES[len(f)]])
        for which, cell in _face_cell_pairs(triangles, near):
            corners = nodes[near[cell]][:, sides]
            first = corners[:, :, 0]
            outward = np.cross(corners[:, :, 1] - first, corners[:, :, 2] - first)
            away = points[which][:, None] - first
            height = np.einsum("psk,psk->ps", outward, away)
            area = np.square(outward).sum(axis=-1)
            longest = np.square(corners[:, :, 1:] - corners[:, :, :1]).sum(axis=-1).max(axis=-1)
            margin = SIGN_MARGIN * rounding * (np.sqrt(longest * np.square(away).sum(axis=-1)) + np.sqrt(area))
            hit[which[((height < -margin) | (area == 0)).all(axis=1)]] = True
    return int((hit & (length[:, 0] > 0)).sum())


def _face_cell_pairs(triangles: Indices, cells: Indices) -> Iterator[tuple[Indices, Indices]]:
    """Pairs of triangles and cells with a common node, in batches."""
    order = np.argsort(cells, axis=None, kind="stable")
    of_node = cells.ravel()[order]
    owner = order // cells.shape[1]
    for nodes in triangles.T:
        begin, end = np.searchsorted(of_node, nodes), np.searchsorted(of_node, nodes, side="right")
        ends = np.cumsum(end - begin)
        step = max(1, POINTS_PER_CHUNK // 4)
        for start in range(0, int(ends[-1]), step):
            pair = np.arange(start, min(start + step, int(ends[-1])))
            which = np.searchsorted(ends, pair, side="right")
            yield which, owner[end[which] - (ends[which] - pair)]
