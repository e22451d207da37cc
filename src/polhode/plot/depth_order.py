"""The drawing order of a scene: back to front, with each line before or after the faces that it crosses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.validation import Array

COPLANAR_TOLERANCE = 1e-6
"""A line this close to a face, relative to the scene's depth, is drawn on it."""

EDGE_TOLERANCE = 1e-3
"""A point this close to a face, relative to the face's size, counts as on it, such as the edges of bodies."""

CHUNK_PAIRS = 1_000_000
"""Pairs of a point and a face that are compared at a time."""


@dataclass(frozen=True)
class ScenePiece:
    """A face, a piece of a path, or a function that draws; its depth increases toward the viewer."""

    depth: float
    kind: str
    """"face", "line" or "drawn"."""
    points: Array
    """In the picture plane, (n, 2)."""
    style: Any
    depths: Array | None
    """Depth of each point; None for a piece in front of everything."""


def sort_by_depth(pieces: list[ScenePiece]) -> list[ScenePiece]:
    """Sort pieces into drawing order.

    Faces are sorted by the depth of their center.  That is not enough for a line: one that leaves a body may be in
    front of a face whose center is nearer.  Each piece of a line is compared with the faces that it crosses in the
    picture, and drawn after those behind it, or before the first of those that hide it.
    """
    faces = [piece for piece in pieces if piece.kind == "face"]
    if not faces:
        return sorted(pieces, key=lambda piece: piece.depth)
    others = [piece for piece in pieces if piece.kind != "face" and piece.depths is not None]
    placed = dict(zip(map(id, others), _FaceDepths(faces).depths_for(others), strict=True))
    return sorted(pieces, key=lambda piece: placed.get(id(piece), piece.depth))


def is_hidden(pieces: list[ScenePiece], point: Array, depth: float) -> bool:
    """Whether a face is in front of a point, given in the picture plane and by its depth."""
    faces = [piece for piece in pieces if piece.kind == "face"]
    return bool(faces) and bool(np.isfinite(_FaceDepths(faces).passed(point[None], np.array([depth]))[1][0]))


class _FaceDepths:
    """The faces' triangles in the picture plane, and their depths."""

    def __init__(self, faces: list[ScenePiece]) -> None:
        corners = np.stack([face.points for face in faces])
        depths = np.stack([np.asarray(face.depths) for face in faces])
        self.middle = np.array([face.depth for face in faces])
        low, high = corners.min(axis=1), corners.max(axis=1)
        beside = EDGE_TOLERANCE * (high - low).max(axis=1, keepdims=True)
        self.low, self.high = low - beside, high + beside
        self.origin, self.depth = corners[:, 0], depths[:, 0]
        self.sides, self.rises = corners[:, 1:] - corners[:, :1], depths[:, 1:] - depths[:, :1]
        self.area = self.sides[:, 0, 0] * self.sides[:, 1, 1] - self.sides[:, 0, 1] * self.sides[:, 1, 0]
        self.near = COPLANAR_TOLERANCE * float(np.ptp(depths) or np.ptp(corners))

    def depths_for(self, pieces: list[ScenePiece]) -> list[float]:
        """The depths by which pieces of lines are sorted."""
        if not pieces:
            return []
        ends = [(0, (n - 1) // 2, n // 2, n - 1) for n in (len(piece.points) for piece in pieces)]
        first, left, right, last = (
            np.array(
                [
                    (*piece.points[of[k]], np.asarray(piece.depths)[of[k]])
                    for piece, of in zip(pieces, ends, strict=True)
                ]
            )
            for k in range(4)
        )
        found = [self.passed(at[:, :2], at[:, 2]) for at in ((left + right) / 2, first, last)]
        own, hiding = np.array([piece.depth for piece in pieces]), found[0][1]
        behind = np.max([each[0] for each in found], axis=0)
        hidden = np.minimum(own, hiding - self.near)
        sorted_by: list[float] = np.where(np.isfinite(hiding), hidden, np.maximum(own, behind + self.near)).tolist()
        return sorted_by

    def passed(self, points: Array, depths: Array) -> tuple[Array, Array]:
        """For each point: the greatest center depth of the faces behind it, and the least of those in front of it;
        -inf and inf if there are none."""
        behind, before = np.full(len(points), -np.inf), np.full(len(points), np.inf)
        some = max(1, CHUNK_PAIRS // len(self.middle))
        for start in range(0, len(points), some):
            self._pass(slice(start, start + some), points, depths, behind, before)
        return behind, before

    def _pass(self, some: slice, points: Array, depths: Array, behind: Array, before: Array) -> None:
        x, y = points[some, :1], points[some, 1:]
        near = (self.low[:, 0] <= x) & (x <= self.high[:, 0]) & (self.low[:, 1] <= y) & (y <= self.high[:, 1])
        which, face = np.nonzero(near & (self.area != 0))
        which = which + some.start
        (dx, dy), area = (points[which] - self.origin[face]).T, self.area[face]
        a, b = self.sides[face, 0], self.sides[face, 1]
        s, t = (dx * b[:, 1] - dy * b[:, 0]) / area, (dy * a[:, 0] - dx * a[:, 1]) / area
        inside = (s >= -EDGE_TOLERANCE) & (t >= -EDGE_TOLERANCE) & (s + t <= 1 + EDGE_TOLERANCE)
        there = self.depth[face] + s * self.rises[face, 0] + t * self.rises[face, 1]
        nearer = there > depths[which] + self.near
        for chosen, extreme, kept in ((inside & ~nearer, np.maximum, behind), (inside & nearer, np.minimum, before)):
            extreme.at(kept, which[chosen], self.middle[face[chosen]])
