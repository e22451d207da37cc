"""A surface for rendering: split into octants of two tones, with normals that preserve sharp edges."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from polhode.massprops.geometry import Indices, Surface
from polhode.plot.drawable_mesh import SHARP_ANGLE, WELD_TOLERANCE, face_normals, split_by_plane
from polhode.validation import Array

TRIANGLE_EDGES = ((0, 1), (1, 2), (2, 0))


class GltfMesh(NamedTuple):
    """Vertices, one for each smooth patch that meets at a corner, and the faces of both tones."""

    positions: Array
    normals: Array
    tones: tuple[Indices, Indices]
    """Faces (n, 3) in octants with an even number of negative coordinates, and in those with an odd one."""


def build_gltf_mesh(surface: Surface) -> GltfMesh:
    """Split along the three coordinate planes, so that any rotation is visible."""
    triangles = surface.vertices[surface.faces]
    for axis in range(3):
        triangles = split_by_plane(triangles, axis).triangles
    size = float(np.abs(surface.vertices).max())
    _, same = np.unique(np.round(triangles.reshape(-1, 3) / (WELD_TOLERANCE * size)), axis=0, return_inverse=True)
    corners = same.reshape(-1, 3)
    real = (corners != np.roll(corners, 1, axis=1)).all(axis=1)  # drop slivers from the splits
    triangles, corners = triangles[real], corners[real]
    flat = face_normals(triangles)
    patch, first = _smooth_patches(corners, flat)
    weighted = _corner_angles(triangles)[..., None] * flat[:, None, :]
    total = np.stack([np.bincount(patch, weighted[..., k].ravel(), len(first)) for k in range(3)], axis=1)
    length = np.linalg.norm(total, axis=1, keepdims=True)
    normals = np.where(length > 0, total / np.where(length > 0, length, 1.0), (0.0, 0.0, 1.0))
    odd = (triangles.mean(axis=1) < 0).sum(axis=1) % 2 == 1
    faces = patch.reshape(-1, 3)
    return GltfMesh(triangles.reshape(-1, 3)[first], normals, (faces[~odd], faces[odd]))


def _smooth_patches(corners: Indices, normals: Array) -> tuple[Indices, Indices]:
    """The patch of each corner of each face, and the first corner of each patch.

    Two faces at an edge share a patch at both ends unless the angle between them exceeds `SHARP_ANGLE`.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    count = len(corners)
    starts, ends = (np.concatenate([corners[:, side[k]] for side in TRIANGLE_EDGES]) for k in (0, 1))
    at = [np.concatenate([3 * np.arange(count) + side[k] for side in TRIANGLE_EDGES]) for k in (0, 1)]
    swapped = starts > ends
    low, high = np.where(swapped, at[1], at[0]), np.where(swapped, at[0], at[1])
    keys = np.stack((np.minimum(starts, ends), np.maximum(starts, ends)), axis=1)
    order = np.lexsort((keys[:, 1], keys[:, 0]))
    keys, low, high = keys[order], low[order], high[order]
    links = []
    for gap in (1, 2, 3):  # an edge of a two-sided sheet has four faces
        meet = np.flatnonzero((keys[gap:] == keys[:-gap]).all(axis=1))
        smooth = (normals[low[meet] // 3] * normals[low[meet + gap] // 3]).sum(axis=1) > np.cos(SHARP_ANGLE)
        meet = meet[smooth]
        links += [np.stack((ends[meet], ends[meet + gap])) for ends in (low, high)]
    joined = np.concatenate(links, axis=1)
    graph = coo_array((np.ones(joined.shape[1], dtype=bool), tuple(joined)), shape=(3 * count, 3 * count))
    patch = np.asarray(connected_components(graph, directed=False)[1])
    return patch, np.unique(patch, return_index=True)[1]


def _corner_angles(triangles: Array) -> Array:
    """The angles of triangles at their corners, in rad: weights that do not depend on the triangulation."""
    to_next = np.roll(triangles, -1, axis=1) - triangles
    to_last = np.roll(triangles, 1, axis=1) - triangles
    across = np.linalg.norm(np.cross(to_next, to_last), axis=2)
    return np.asarray(np.arctan2(across, (to_next * to_last).sum(axis=2)))
