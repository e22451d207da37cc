"""The skin of a body for drawing: triangles small enough to be sorted by depth, and the edges where it bends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polhode.validation import Array

if TYPE_CHECKING:
    import trimesh

    from polhode.massprops.body import Body
    from polhode.massprops.geometry import Surface

SUBDIVISION = 7.0
"""Large faces are cut until an edge is shorter than the body's size over this, so that paths can pass before them."""
SHARP_ANGLE = 0.35
"""Edges between faces that differ by more than this many rad are drawn."""
WELD_TOLERANCE = 1e-9
"""Corners nearer than this, in the body's size, are one."""


class DrawableMesh(NamedTuple):
    """A body's surface about its centre of mass, in m."""

    triangles: Array
    """(n, 3, 3), anticlockwise as seen from outside."""
    edges: Array
    """Where it bends, or ends: (m, 2, 3)."""
    beside: Array
    """The normals of the two faces at each of them, (m, 2, 3); of a rim twice the same."""
    is_flat: bool
    """Whether it encloses nothing, and is seen from both sides."""


def build_drawable_mesh(
    body: Body | Surface | trimesh.Trimesh, segments: int, finest: float = SUBDIVISION
) -> DrawableMesh:
    """The skin of a body, or of triangles (`vertices`, `faces`) about their own origin."""
    shown: Any = body
    if hasattr(shown, "center_of_mass") and hasattr(shown, "parts"):
        surface = shown.surface(segments)
        corners, faces = surface.vertices - shown.center_of_mass, surface.faces
    else:
        corners, faces = np.asarray(shown.vertices, dtype=float), np.asarray(shown.faces)
    size = float(np.ptp(corners, axis=0).max())
    whole = corners[faces]
    is_flat = _enclosed_volume(whole) <= WELD_TOLERANCE * size**3
    edges, beside = _sharp_edges(corners, faces, size, is_flat)
    return DrawableMesh(_subdivide(whole, size / finest), *_subdivide_edges(edges, beside, size / finest), is_flat)


def face_normals(triangles: Array) -> Array:
    """Outwards, of unit length; 0 where a triangle has no area."""
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    return np.asarray(normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), np.finfo(float).tiny))


class SplitMesh(NamedTuple):
    """A skin cut by a plane through the centre."""

    triangles: Array
    border: Array
    """Where they meet, (m, 2, 3)."""
    beside: Array
    """The normals there, (m, 3)."""


def split_by_plane(triangles: Array, axis: int) -> SplitMesh:
    """Triangles, those across the plane at a right angle to an axis (0, 1, 2) cut there."""
    heights = triangles[..., axis]
    across = (heights.min(axis=1) < 0) & (heights.max(axis=1) > 0)
    cut = triangles[across]
    signs = np.sign(heights[across])
    alone = np.abs(2 * signs - signs.sum(axis=1, keepdims=True)).argmax(axis=1)  # on the other side than the two others
    a, b, c = (cut[np.arange(len(cut)), (alone + k) % 3] for k in range(3))
    ab, ac = (p + (p[:, [axis]] / (p - q)[:, [axis]]) * (q - p) for p, q in ((a, b), (a, c)))
    parts = np.concatenate([np.stack(part, axis=1) for part in ((a, ab, ac), (ab, b, c), (ab, c, ac))])
    parts = parts[np.linalg.norm(np.cross(parts[:, 1] - parts[:, 0], parts[:, 2] - parts[:, 0]), axis=1) > 0]
    along = np.stack([triangles[:, [k, (k + 1) % 3]] for k in range(3)], axis=1)
    lies = (along[..., axis] == 0).all(axis=2)  # an edge in the plane itself
    sides = np.broadcast_to(face_normals(triangles)[:, None], (len(triangles), 3, 3))
    border = np.concatenate((np.stack((ab, ac), axis=1), along[lies]))
    return SplitMesh(
        np.concatenate((triangles[~across], parts)), border, np.concatenate((face_normals(cut), sides[lies]))
    )


def _enclosed_volume(triangles: Array) -> float:
    a, b, c = np.moveaxis(triangles, 1, 0)
    return abs(float((a * np.cross(b, c)).sum())) / 6


def _subdivide(triangles: Array, longest: float) -> Array:
    """Triangles with a longer edge are halved across it, again and again."""
    done = []
    while len(triangles):
        sides = np.linalg.norm(np.roll(triangles, -1, axis=1) - triangles, axis=2)
        long = sides.max(axis=1) > longest
        done.append(triangles[~long])
        start = sides[long].argmax(axis=1)
        a, b, c = (triangles[long, (start + k) % 3] for k in range(3))
        middle = (a + b) / 2
        triangles = np.concatenate((np.stack((a, middle, c), axis=1), np.stack((middle, b, c), axis=1)))
    return np.concatenate(done)


def _sharp_edges(corners: Array, faces: Any, size: float, is_flat: bool) -> tuple[Array, Array]:
    """The edges between faces that differ, and of a flat body its rim; with the normals on both sides."""
    _, same = np.unique(np.round(corners / (WELD_TOLERANCE * size)), axis=0, return_inverse=True)
    joined, normals = same.reshape(-1)[faces], face_normals(corners[faces])
    pairs = np.sort(np.concatenate((joined[:, [0, 1]], joined[:, [1, 2]], joined[:, [2, 0]])), axis=1)
    ends = np.concatenate([corners[faces[:, list(two)]] for two in ((0, 1), (1, 2), (2, 0))])
    owner = np.tile(np.arange(len(faces)), 3)
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    pairs, ends, owner = pairs[order], ends[order], owner[order]
    first = np.flatnonzero((pairs[1:] == pairs[:-1]).all(axis=1))
    beside = normals[np.stack((owner[first], owner[first + 1]), axis=1)]
    bent = (beside[:, 0] * beside[:, 1]).sum(axis=1) < np.cos(SHARP_ANGLE)
    if not is_flat:
        return ends[first[bent]], beside[bent]
    alone = np.setdiff1d(np.arange(len(pairs)), np.concatenate((first, first + 1)))
    rim = normals[np.stack((owner[alone], owner[alone]), axis=1)]
    return np.concatenate((ends[first[bent]], ends[alone])), np.concatenate((beside[bent], rim))


def _subdivide_edges(edges: Array, beside: Array, longest: float) -> tuple[Array, Array]:
    """Edges as the faces beside them are cut: in halves, until they are short enough."""
    shares = np.linalg.norm(edges[:, 1] - edges[:, 0], axis=1) / longest
    counts = 2 ** np.ceil(np.log2(np.maximum(shares, 1.0))).astype(int)
    steps = [np.linspace(0, 1, n + 1)[:, None] for n in counts]
    cut = [(1 - t) * a + t * b for t, (a, b) in zip(steps, edges, strict=True)]
    parts = [np.stack((points[:-1], points[1:]), axis=1) for points in cut]
    return np.concatenate([np.empty((0, 2, 3)), *parts]), np.repeat(beside, counts, axis=0)
