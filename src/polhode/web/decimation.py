"""A mesh with fewer faces, for the eye: corners that share a cell of a grid become one."""

from __future__ import annotations

import numpy as np

from polhode.massprops.geometry import Surface


def decimate_mesh(surface: Surface, most: int) -> Surface:
    """The surface itself, if it has no more than so many faces; else one with corners joined, as fine as can be.

    A grid of n cells along the longest side leaves about n^2 faces of a closed surface: n is lowered until few enough
    are left.
    """
    cells = int(most**0.5) * 2
    found = surface
    while len(found.faces) > most:
        found = _cluster_vertices(surface, cells)
        cells = cells * 4 // 5
    return found


def _cluster_vertices(surface: Surface, cells: int) -> Surface:
    low = surface.vertices.min(axis=0)
    side = float(np.ptp(surface.vertices, axis=0).max()) / cells
    places = ((surface.vertices - low) / side).astype(np.int64)
    keys = (places[:, 0] * (cells + 1) + places[:, 1]) * (cells + 1) + places[:, 2]
    _, joined = np.unique(keys, return_inverse=True)
    count = int(joined.max()) + 1
    sums = np.stack([np.bincount(joined, surface.vertices[:, i], count) for i in range(3)], axis=1)
    faces = joined[surface.faces]
    a, b, c = faces.T
    kept = faces[(a != b) & (b != c) & (c != a)]
    turned = np.sort(kept, axis=1)
    _, first = np.unique(turned, axis=0, return_index=True)
    return Surface(sums / np.bincount(joined, minlength=count)[:, None], kept[np.sort(first)])
