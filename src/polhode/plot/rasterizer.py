"""Triangles as a shaded image, hidden surfaces right: a depth buffer, filled line by line.  A million take seconds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from matplotlib.colors import to_rgb
from numpy.typing import NDArray

from polhode.plot.projection import LIGHT_DIRECTION, Camera
from polhode.validation import Array

Indices: TypeAlias = NDArray[np.int64]
CREASE_COSINE = 0.85
"""Cosine of the angle from which on two faces meet in an edge that is drawn; below it their shading is smoothed."""
MAX_SMOOTHED_FACES = 200_000
"""Meshes with more faces than that have faces of about a pixel: each is shaded as it is, without edges."""
CHUNK_PIXELS = 4_000_000
"""So many pixels are filled at a time."""
SUPERSAMPLING = 2
"""Every pixel is the mean of so many times so many."""


@dataclass(frozen=True, eq=False)
class Rendering:
    """An image (rows upwards) of what a camera sees, and how near it is; -inf where nothing is."""

    image: Array
    depth: Array
    low: Array
    """The left and lower end of the image on the camera's paper."""
    pixel: float
    """The side of a pixel of `depth`."""

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """Left, right, bottom, top."""
        height, width = self.depth.shape
        (left, bottom), side = self.low.tolist(), self.pixel
        return (left, left + width * side, bottom, bottom + height * side)

    def depth_at(self, flat: Array) -> Array:
        """How near the surface is at points (N, 2) of the paper."""
        column, row = np.floor((flat - self.low) / self.pixel).astype(int).T
        height, width = self.depth.shape
        inside = (column >= 0) & (column < width) & (row >= 0) & (row < height)
        return np.where(inside, self.depth[row.clip(0, height - 1), column.clip(0, width - 1)], -np.inf)


def render_mesh(
    corners: Array, faces: Indices, seen: Camera, color: str, pixels: int, with_holes: bool = False
) -> Rendering:
    """Triangles as the camera sees them, the longer side of the image `pixels` long.

    `with_holes` says that some of the closed surfaces are holes, faces inwards, that cut into others.
    """
    view = corners @ np.stack(seen).T
    used = view[used_vertices(len(view), faces)]
    low, high = used[:, :2].min(axis=0), used[:, :2].max(axis=0)
    side = float((high - low).max()) / (pixels * SUPERSAMPLING)
    low = low - 2 * SUPERSAMPLING * side
    width, height = (SUPERSAMPLING * np.ceil((high - low) / (SUPERSAMPLING * side) + 2).astype(int)).tolist()
    on_paper = np.column_stack(((view[:, :2] - low) / side, view[:, 2] / side))
    if with_holes:
        depth, face = _fill_depth_buffer_with_holes(on_paper, faces, width, height)
    else:
        faces = faces[_front_facing(on_paper, faces)]
        depth, face = _fill_depth_buffer(on_paper, faces, width, height)
    image = _shade_image(on_paper, faces, face, depth, color)
    coarse = image.reshape(height // SUPERSAMPLING, SUPERSAMPLING, width // SUPERSAMPLING, SUPERSAMPLING, 4).mean(
        axis=(1, 3)
    )
    coverage = coarse[..., 3:]
    coarse[..., :3] = np.divide(coarse[..., :3], coverage, out=np.ones_like(coarse[..., :3]), where=coverage > 0)
    return Rendering(coarse, depth * side, low, side)


def used_vertices(count: int, faces: Indices) -> NDArray[np.bool_]:
    """Which of so many corners belong to a face."""
    used = np.zeros(count, dtype=bool)
    used[faces.ravel()] = True
    return used


def _front_facing(view: Array, faces: Indices) -> NDArray[np.bool_]:
    """Of a closed surface only the faces that look at the eye: its faces' normals add up to 0, and point outwards."""
    normals = _face_normals(view, faces)
    volume = (normals * view[faces[:, 0]]).sum()
    if np.abs(normals.sum(axis=0)).max() > 1e-9 * np.abs(normals).sum() or volume <= 0:
        return np.ones(len(faces), dtype=bool)
    return normals[:, 2] > 0


def _fill_depth_buffer(view: Array, faces: Indices, width: int, height: int) -> tuple[Array, Indices]:
    """The greatest depth in each pixel, and the face that has it; -inf and -1 where there is none."""
    depth, face = np.full(width * height, -np.inf), np.full(width * height, -1, dtype=np.int64)
    for where, nearness, of_face in _covered_pixels(view, faces, width):
        np.maximum.at(depth, where, nearness)
        wins = nearness == depth[where]
        face[where[wins]] = of_face[wins]
    return depth.reshape(height, width), face.reshape(height, width)


def _fill_depth_buffer_with_holes(view: Array, faces: Indices, width: int, height: int) -> tuple[Array, Indices]:
    """The same where holes are cut out: a ray from the eye ends where it has first entered more often than left."""
    depth, face = np.full(width * height, -np.inf), np.full(width * height, -1, dtype=np.int64)
    found = [np.concatenate(kind) for kind in zip(*_covered_pixels(view, faces, width), strict=True)]
    if found:
        order = np.lexsort((-found[1], found[0]))
        where, nearness, of_face = (kind[order] for kind in found)
        crossing = np.sign(_face_normals(view, faces)[:, 2]).astype(np.int64)[of_face]
        # What lies at one depth, as the rim of a hole in a face, is crossed at once.
        is_last = np.append(
            (where[1:] != where[:-1]) | (nearness[:-1] - nearness[1:] > 1e-6 * max(width, height)), True
        )
        before = np.concatenate(([0], np.cumsum(crossing)))
        ray_start = np.concatenate(([True], where[1:] != where[:-1]))
        start = np.maximum.accumulate(np.where(ray_start, np.arange(len(where)), 0))
        inside = before[1:] - before[start]
        ends = np.flatnonzero(is_last & (inside >= 1) & (crossing != 0))[::-1]
        depth[where[ends]], face[where[ends]] = nearness[ends], of_face[ends]
    return depth.reshape(height, width), face.reshape(height, width)


def _covered_pixels(view: Array, faces: Indices, width: int) -> Iterator[tuple[Indices, Array, Indices]]:
    """The pixels that faces cover, by number, portion by portion: pixels, depths, and faces."""
    y = view[faces, 1]
    first = np.ceil(y.min(axis=1) - 0.5).astype(np.int64)
    rows = np.ceil(y.max(axis=1) - 0.5).astype(np.int64) - first
    tilted = np.flatnonzero(rows > 0)
    # Portions of faces with about as many rows each, and of rows with about as many pixels.
    for some in _split_chunks(tilted, rows[tilted]):
        row_face = np.repeat(some, rows[some])
        row = first[row_face] + _concatenated_ranges(rows[some])
        left, right = _scanline_spans(view, faces[row_face], _pixel_centers(row))
        start = np.ceil(left - 0.5).astype(np.int64)
        count = np.maximum(np.ceil(right - 0.5).astype(np.int64) - start, 0)
        filled = count > 0
        row_face, row, start, count = row_face[filled], row[filled], start[filled], count[filled]
        first_depth, slope, least, most = _depth_along(view, faces[row_face], start, row)
        for spans in _split_chunks(np.arange(len(row)), count):
            times = count[spans]
            step = _concatenated_ranges(times)
            nearness = np.repeat(first_depth[spans], times) + step * np.repeat(slope[spans], times)
            # Beyond its corners no face reaches, however steep it is.
            np.clip(nearness, np.repeat(least[spans], times), np.repeat(most[spans], times), out=nearness)
            yield (
                np.repeat(row[spans] * width + start[spans], times) + step,
                nearness,
                np.repeat(row_face[spans], times),
            )


def _split_chunks(which: Indices, sizes: Indices) -> list[Indices]:
    ends = np.cumsum(sizes)
    if not len(ends):
        return []
    cuts = np.searchsorted(ends, np.arange(CHUNK_PIXELS, int(ends[-1]), CHUNK_PIXELS))
    return [part for part in np.split(which, np.unique(cuts)) if len(part)]


def _pixel_centers(numbers: Indices) -> Array:
    """Where the middles of rows or columns of pixels are."""
    return numbers.astype(np.float64) + 0.5


def _concatenated_ranges(sizes: Indices) -> Indices:
    """0, 1, ... up to each size, one after the other."""
    return np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def _scanline_spans(view: Array, faces: Indices, y: Array) -> tuple[Array, Array]:
    """Where the line at height y enters and leaves each triangle: the same to the bit for both that share an edge."""
    left, right = np.full(len(y), np.inf), np.full(len(y), -np.inf)
    for one, other in ((0, 1), (1, 2), (2, 0)):
        a, b = view[faces[:, one], :2], view[faces[:, other], :2]
        falls = a[:, 1] > b[:, 1]
        (xa, ya), (xb, yb) = np.where(falls[:, None], b, a).T, np.where(falls[:, None], a, b).T
        crosses = (ya <= y) & (y < yb)
        share = np.divide(y - ya, yb - ya, out=np.zeros_like(y), where=crosses)
        x = xa + share * (xb - xa)
        left = np.where(crosses, np.minimum(left, x), left)
        right = np.where(crosses, np.maximum(right, x), right)
    missed = left > right
    return np.where(missed, 0.0, left), np.where(missed, 0.0, right)


def _barycentric_weights(view: Array, corners: Indices, x: Array, y: Array) -> Array:
    """Barycentric weights (N, 3) of points on the paper, of triangles by their corners' numbers."""
    (xa, ya), (xb, yb), (xc, yc) = (view[corners[:, i], :2].T for i in range(3))
    whole = (xb - xa) * (yc - ya) - (xc - xa) * (yb - ya)
    inverse = np.divide(1.0, whole, out=np.zeros_like(whole), where=whole != 0)
    b = ((x - xa) * (yc - ya) - (xc - xa) * (y - ya)) * inverse
    c = ((xb - xa) * (y - ya) - (x - xa) * (yb - ya)) * inverse
    weights = np.stack((1 - b - c, b, c), axis=-1).clip(0.0, 1.0)
    normalised: Array = weights / weights.sum(axis=-1, keepdims=True)
    return normalised


def _depth_along(view: Array, corners: Indices, column: Indices, row: Indices) -> tuple[Array, Array, Array, Array]:
    """Of triangles' planes: the depth in a pixel, its change to the right, and the least and the greatest."""
    a, b, c = (view[corners[:, i]] for i in range(3))
    u, v = b - a, c - a
    whole = u[:, 0] * v[:, 1] - v[:, 0] * u[:, 1]
    inverse = np.divide(1.0, whole, out=np.zeros_like(whole), where=whole != 0)
    across = (u[:, 2] * v[:, 1] - v[:, 2] * u[:, 1]) * inverse
    upwards = (u[:, 0] * v[:, 2] - v[:, 0] * u[:, 2]) * inverse
    start = a[:, 2] + across * (_pixel_centers(column) - a[:, 0]) + upwards * (_pixel_centers(row) - a[:, 1])
    depths = view[corners, 2]
    return start, across, depths.min(axis=1), depths.max(axis=1)


def _shade_image(view: Array, faces: Indices, face: Indices, depth: Array, color: str) -> Array:
    """The image: lit surfaces, darker towards edges and outlines; colors multiplied by the coverage."""
    hit = face >= 0
    rows, columns = np.nonzero(hit)
    own = _face_normals(view, faces)
    lengths = np.linalg.norm(own, axis=1, keepdims=True)
    unit = np.divide(own, lengths, out=np.zeros_like(own), where=lengths > 0)
    at = face[hit]
    if len(faces) <= MAX_SMOOTHED_FACES:
        weights = _barycentric_weights(view, faces[at], _pixel_centers(columns), _pixel_centers(rows))
        normals = (weights[..., None] * _corner_normals(view, faces, unit)[at]).sum(axis=1)
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    else:
        normals = unit[at]
    normals = normals * np.where(normals[:, 2:] < 0, -1.0, 1.0)
    light = LIGHT_DIRECTION / np.linalg.norm(LIGHT_DIRECTION)
    facing = np.zeros((*face.shape, 3))
    facing[hit] = normals
    strength = 0.52 + 0.44 * (normals @ light).clip(0.0, None) + 0.10 * normals[:, 2]
    image = np.zeros((*face.shape, 4))
    image[hit, :3] = (strength[:, None] * np.array(to_rgb(color))).clip(0.0, 1.0)
    image[hit, 3] = 1.0
    line = _find_outlines(depth, facing, with_creases=len(faces) <= MAX_SMOOTHED_FACES)
    image[line] = (0.23, 0.23, 0.23, 1.0)
    return image


def _find_outlines(depth: Array, facing: Array, with_creases: bool) -> NDArray[np.bool_]:
    """Where outlines and edges run: at pixels whose neighbour is bare, much farther away, or turned by a crease."""
    outline, crease = np.zeros((2, *depth.shape), dtype=bool)
    seen = np.isfinite(depth)
    near = np.where(seen, depth, -1e9)
    far = 0.012 * max(depth.shape)
    across, towards = np.hypot(facing[..., 0], facing[..., 1]), facing[..., 2]
    slope = np.divide(across, towards, out=np.full_like(depth, 1e3), where=towards > 1e-3)
    for axis in (0, 1):
        a, b = ((slice(None, -1), slice(None)), (slice(1, None), slice(None)))
        if axis:
            a, b = a[::-1], b[::-1]
        step = near[a] - near[b]
        jump = np.abs(step) > far + 1.5 * np.minimum(slope[a], slope[b])
        outline[a] |= jump & (step > 0)
        outline[b] |= jump & (step < 0)
        if with_creases:
            turned = seen[a] & seen[b] & ((facing[a] * facing[b]).sum(axis=-1) < CREASE_COSINE) & ~jump
            crease[a] |= turned
            crease[b] |= turned
    wider = outline.copy()
    wider[1:] |= outline[:-1]
    wider[:-1] |= outline[1:]
    wider[:, 1:] |= outline[:, :-1]
    wider[:, :-1] |= outline[:, 1:]
    lines: NDArray[np.bool_] = (wider & seen) | crease
    return lines


def _face_normals(view: Array, faces: Indices) -> Array:
    a, b, c = (view[faces[:, i]] for i in range(3))
    return np.cross(b - a, c - a)


def _corner_normals(view: Array, faces: Indices, unit: Array) -> Array:
    """Normals (M, 3, 3) at the corners of each face: the mean over the faces there that meet it without an edge."""
    _, place = np.unique(view[faces.ravel()], axis=0, return_inverse=True)
    owner = np.repeat(np.arange(len(faces)), 3)
    sides = view[faces[:, (1, 2, 0)]] - view[faces]
    before, behind = -sides[:, (2, 0, 1)], sides
    angle = np.arctan2(np.linalg.norm(np.cross(before, behind), axis=-1), (before * behind).sum(axis=-1)).ravel()
    order = np.argsort(place.ravel(), kind="stable")
    size = np.bincount(place.ravel())
    start = np.cumsum(size) - size
    # Every corner with every corner at its place; where very many meet, as at the tip of a cone, each is for itself.
    mates = np.where(size[place.ravel()[order]] <= 64, size[place.ravel()[order]], 0)
    first = np.repeat(order, mates)
    second = order[np.repeat(start[place.ravel()[order]], mates) + _concatenated_ranges(mates)]
    smooth = (unit[owner[first]] * unit[owner[second]]).sum(axis=-1) > CREASE_COSINE
    first, second = first[smooth], second[smooth]
    total = np.stack(
        [np.bincount(first, angle[second] * unit[owner[second], i], len(owner)) for i in range(3)], axis=-1
    )
    alone = np.linalg.norm(total, axis=-1) == 0
    total[alone] = unit[owner[alone]]
    lengths = np.linalg.norm(total, axis=-1, keepdims=True)
    normals: Array = np.divide(total, lengths, out=np.zeros_like(total), where=lengths > 0)
    return normals.reshape(-1, 3, 3)
