"""The surface of a body for drawing: triangles small enough to be sorted by depth, and the sharp edges."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polhode.massprops.geometry import Flags, Indices, Surface
from polhode.massprops.surface.ray_winding import winding_numbers
from polhode.validation import Array

if TYPE_CHECKING:
    import trimesh

    from polhode.massprops.body import Body

SUBDIVISION = 7.0
"""Edges longer than the body's size divided by this are split, so that paths can pass in front of a part of a face."""
SHARP_ANGLE = 0.35
"""Edges between faces whose normals differ by more than this angle (rad) are drawn."""
WELD_TOLERANCE = 1e-9
"""Vertices closer than this, relative to the body's size, are one."""
MAX_FACES_WITH_EDGES = 20_000
"""Meshes with more faces are drawn without edges: a bend is spread over many of them."""
MAX_FACES = 200_000
"""Meshes with more faces are simplified before drawing: their vertices are merged on a grid of `GRID_CELLS`."""
GRID_CELLS = 200
"""Cells of that grid along the longest side of the mesh."""
RIM_CELLS = 300
"""Around the rim of a hole, triangles are split down to the body's size divided by this."""
SAMPLE_WEIGHTS = np.array(((1, 1, 1), (2.94, 0.03, 0.03), (0.03, 2.94, 0.03), (0.03, 0.03, 2.94))) / 3
"""Barycentric coordinates of the points at which a triangle is tested: its center and near its vertices."""


class DrawableMesh(NamedTuple):
    """A body's surface about its center of mass, in m."""

    triangles: Array
    """(n, 3, 3), counterclockwise seen from outside."""
    edges: Array
    """Sharp edges and, if two-sided, boundary edges: (m, 2, 3)."""
    beside: Array
    """The normals of the two faces at each edge, (m, 2, 3); at a boundary edge twice the same."""
    two_sided: bool
    """Whether the surface encloses no volume or is open: both sides of it are visible."""


def build_drawable_mesh(
    body: Body | Surface | trimesh.Trimesh, segments: int, finest: float = SUBDIVISION
) -> DrawableMesh:
    """The surface of a body about its center of mass, or of a mesh (`vertices`, `faces`) about its own origin."""
    given: Any = body
    has_holes = False
    if hasattr(given, "center_of_mass") and hasattr(given, "parts"):
        surface = given.surface(segments)
        corners, faces = surface.vertices - given.center_of_mass, surface.faces
        has_holes = any(part.is_hole for part in given.parts)
    else:
        corners, faces = np.asarray(given.vertices, dtype=float), np.asarray(given.faces)
    size = float(np.ptp(corners, axis=0).max())
    if len(faces) > MAX_FACES:
        corners, faces = _merge_vertices(corners, faces, size / GRID_CELLS)
    whole = corners[faces]
    two_sided = not _encloses_volume(whole, size)
    edges, beside = np.empty((0, 2, 3)), np.empty((0, 2, 3))
    if len(faces) <= MAX_FACES_WITH_EDGES:
        edges, beside = _split_edges(*_sharp_edges(corners, faces, size, two_sided), size / finest)
    if not has_holes:
        return DrawableMesh(_subdivide(whole, size / finest), edges, beside, two_sided)
    holes = [np.array(part.surface(segments).box) - given.center_of_mass for part in given.parts if part.is_hole]
    boundary = _SolidBoundary(Surface(corners, faces), np.array(holes), size)
    triangles = _subdivide(whole, lambda some: boundary.length_limits(some, size / finest))
    on_solid = boundary.touches_both_sides(edges.mean(axis=1), beside)
    # The normals at the rim of a hole are the hole's own: neither need face a viewer who sees the rim.
    beside = np.stack((beside[:, 0], -beside[:, 0]), axis=1)
    return DrawableMesh(triangles[boundary.contains(triangles)], edges[on_solid], beside[on_solid], two_sided)


class _SolidBoundary:
    """Where the surfaces of a body and of its holes have material on one side only."""

    def __init__(self, surface: Surface, holes: Array, size: float) -> None:
        self.surface, self.size = surface, size
        self.holes = holes
        """The boxes around the holes, (n, 2, 3)."""

    def contains(self, triangles: Array) -> Flags:
        """Whether the center of each triangle lies on the boundary; outside of all holes it is assumed to."""
        on: Flags = np.ones(len(triangles), dtype=bool)
        near = np.flatnonzero(np.isfinite(self._hole_sizes(triangles)))
        on[near] = self._have_one_side(triangles[near], SAMPLE_WEIGHTS[:1])[:, 0]
        return on

    def length_limits(self, triangles: Array, longest: float) -> Array:
        """How long the edges of triangles may be: shorter near a hole, and shortest across its rim."""
        holes = self._hole_sizes(triangles)
        limits = np.clip(holes / 4, self.size / RIM_CELLS, longest)
        sides = np.linalg.norm(np.roll(triangles, -1, axis=1) - triangles, axis=2).max(axis=1)
        near = np.flatnonzero(np.isfinite(holes) & (sides <= limits) & (sides > self.size / RIM_CELLS))
        on = self._have_one_side(triangles[near], SAMPLE_WEIGHTS)
        limits[near[on.any(axis=1) & ~on.all(axis=1)]] = self.size / RIM_CELLS
        return limits

    def touches_both_sides(self, points: Array, beside: Array) -> Flags:
        """Whether there are both material and space around points of edges, given the normals of the two faces."""
        a, b = 1e-6 * self.size * beside[:, 0], 1e-6 * self.size * beside[:, 1]
        around = self._have_material(points[:, None] + np.stack((a + b, a - b, b - a, -a - b), axis=1))
        return np.asarray(around.any(axis=1) & ~around.all(axis=1))

    def _hole_sizes(self, triangles: Array) -> Array:
        """The smallest side of the smallest box of a hole that each triangle meets; inf where it meets none."""
        low, high = triangles.min(axis=1) - 1e-6 * self.size, triangles.max(axis=1) + 1e-6 * self.size
        sizes = np.full(len(triangles), np.inf)
        for first, last in self.holes:
            meets = ((low <= last) & (high >= first)).all(axis=1)
            sizes[meets] = np.minimum(sizes[meets], (last - first).min())
        return sizes

    def _have_one_side(self, triangles: Array, weights: Array) -> Flags:
        """Whether points of each triangle have material behind them and none in front."""
        points = weights @ triangles
        shift = 1e-6 * self.size * face_normals(triangles)[:, None]
        return self._have_material(points - shift) & ~self._have_material(points + shift)

    def _have_material(self, points: Array) -> Flags:
        inside: Flags = winding_numbers(self.surface, points.reshape(-1, 3)).reshape(points.shape[:-1]) > 0.5
        return inside


def _merge_vertices(corners: Array, faces: Indices, cell: float) -> tuple[Array, Indices]:
    """A coarser mesh: the vertices in each cell of a grid become their mean, faces that collapse are dropped."""
    i, j, k = np.floor((corners - corners.min(axis=0)) / cell).astype(np.int64).T
    _, group, counts = np.unique(
        (i * (GRID_CELLS + 1) + j) * (GRID_CELLS + 1) + k, return_inverse=True, return_counts=True
    )
    merged = np.stack([np.bincount(group, column) for column in corners.T], axis=1) / counts[:, None]
    faces = group[faces]
    return merged, faces[(faces != np.roll(faces, 1, axis=1)).all(axis=1)]


def face_normals(triangles: Array) -> Array:
    """Outward unit normals; 0 for a triangle without area."""
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    return np.asarray(normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), np.finfo(float).tiny))


class SplitMesh(NamedTuple):
    """A mesh cut by a plane through the origin."""

    triangles: Array
    border: Array
    """Edges in the plane, (m, 2, 3)."""
    beside: Array
    """The normals of the faces there, (m, 3)."""


def split_by_plane(triangles: Array, axis: int) -> SplitMesh:
    """Split the triangles that cross the plane perpendicular to an axis (0, 1, 2)."""
    heights = triangles[..., axis]
    across = (heights.min(axis=1) < 0) & (heights.max(axis=1) > 0)
    cut = triangles[across]
    signs = np.sign(heights[across])
    alone = np.abs(2 * signs - signs.sum(axis=1, keepdims=True)).argmax(axis=1)  # opposite the other two
    a, b, c = (cut[np.arange(len(cut)), (alone + k) % 3] for k in range(3))
    ab, ac = (p + (p[:, [axis]] / (p - q)[:, [axis]]) * (q - p) for p, q in ((a, b), (a, c)))
    parts = np.concatenate([np.stack(part, axis=1) for part in ((a, ab, ac), (ab, b, c), (ab, c, ac))])
    parts = parts[np.linalg.norm(np.cross(parts[:, 1] - parts[:, 0], parts[:, 2] - parts[:, 0]), axis=1) > 0]
    along = np.stack([triangles[:, [k, (k + 1) % 3]] for k in range(3)], axis=1)
    lies = (along[..., axis] == 0).all(axis=2)  # edges in the plane itself
    sides = np.broadcast_to(face_normals(triangles)[:, None], (len(triangles), 3, 3))
    border = np.concatenate((np.stack((ab, ac), axis=1), along[lies]))
    return SplitMesh(
        np.concatenate((triangles[~across], parts)), border, np.concatenate((face_normals(cut), sides[lies]))
    )


def _encloses_volume(triangles: Array, size: float) -> bool:
    """Whether triangles form a closed surface, their normals outward: the vector areas add up to 0."""
    a, b, c = np.moveaxis(triangles, 1, 0)
    areas = np.cross(b - a, c - a)
    is_closed = np.abs(areas.sum(axis=0)).max() <= WELD_TOLERANCE * np.abs(areas).sum()
    return bool(is_closed and (a * areas).sum() / 6 > WELD_TOLERANCE * size**3)


def _subdivide(triangles: Array, longest: float | Callable[[Array], Array]) -> Array:
    """Bisect triangles across their longest edge until no edge is longer than `longest`, or its value for each."""
    done = []
    while len(triangles):
        sides = np.linalg.norm(np.roll(triangles, -1, axis=1) - triangles, axis=2)
        long = sides.max(axis=1) > (longest(triangles) if callable(longest) else longest)
        done.append(triangles[~long])
        start = sides[long].argmax(axis=1)
        a, b, c = (triangles[long, (start + k) % 3] for k in range(3))
        middle = (a + b) / 2
        triangles = np.concatenate((np.stack((a, middle, c), axis=1), np.stack((middle, b, c), axis=1)))
    return np.concatenate(done)


def _sharp_edges(corners: Array, faces: Indices, size: float, two_sided: bool) -> tuple[Array, Array]:
    """The edges between faces at an angle and, if two-sided, the boundary edges; with the normals of both faces."""
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
    if not two_sided:
        return ends[first[bent]], beside[bent]
    alone = np.setdiff1d(np.arange(len(pairs)), np.concatenate((first, first + 1)))
    rim = normals[np.stack((owner[alone], owner[alone]), axis=1)]
    return np.concatenate((ends[first[bent]], ends[alone])), np.concatenate((beside[bent], rim))


def _split_edges(edges: Array, beside: Array, longest: float) -> tuple[Array, Array]:
    """Bisect edges, as the faces beside them, until they are short enough."""
    shares = np.linalg.norm(edges[:, 1] - edges[:, 0], axis=1) / longest
    counts = 2 ** np.ceil(np.log2(np.maximum(shares, 1.0))).astype(int)
    steps = [np.linspace(0, 1, n + 1)[:, None] for n in counts]
    cut = [(1 - t) * a + t * b for t, (a, b) in zip(steps, edges, strict=True)]
    parts = [np.stack((points[:-1], points[1:]), axis=1) for points in cut]
    return np.concatenate([np.empty((0, 2, 3)), *parts]), np.repeat(beside, counts, axis=0)
