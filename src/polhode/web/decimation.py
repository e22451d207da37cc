"""Mesh decimation for display: the vertices in each cell of a grid are merged."""

from __future__ import annotations

import numpy as np

from polhode.massprops.geometry import Surface


def decimate_mesh(surface: Surface, most: int) -> Surface:
    """Reduce a surface to at most `most` faces; a smaller one is returned unchanged.

    A grid of n cells along the longest side leaves about n^2 faces of a closed surface; n is lowered until few enough
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
    _, cluster = np.unique(keys, return_inverse=True)
    count = int(cluster.max()) + 1
    sums = np.stack([np.bincount(cluster, surface.vertices[:, i], count) for i in range(3)], axis=1)
    faces = cluster[surface.faces]
    a, b, c = faces.T
    kept = faces[(a != b) & (b != c) & (c != a)]
    sorted_faces = np.sort(kept, axis=1)
    _, first = np.unique(sorted_faces, axis=0, return_index=True)
    return Surface(sums / np.bincount(cluster, minlength=count)[:, None], kept[np.sort(first)])
