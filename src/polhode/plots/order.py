"""Which of the things in a scene is drawn first: the far ones, and a line before or after each face that it passes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.checks import Array

NEAR = 1e-6
"""A line that lies in a face, but for so much of the scene's depth, is drawn on it."""

EDGE = 1e-3
"""A place so little beside a face, in its own size, still counts as on it: edges of bodies are such places."""


@dataclass(frozen=True)
class Piece:
    """A face, a part of a path, or a function that draws; its depth grows towards the eye."""

    depth: float
    kind: str
    """"face", "line" or "drawn"."""
    points: Array
    """On the paper, (n, 2)."""
    style: Any
    depths: Array | None
    """Of each of its points; None for what stands before everything."""


def far_to_near(pieces: list[Piece]) -> list[Piece]:
    """The pieces in the order in which they are drawn.

    Faces go by the depth of their middle.  That is not enough for a line: one that leaves a body may be before a face
    whose middle is nearer.  So each part of a line is compared with the faces that it passes on the paper, at that
    place, and put after those that lie behind it, or before the first of those that hide it.
    """
    faces = [piece for piece in pieces if piece.kind == "face"]
    if not faces:
        return sorted(pieces, key=lambda piece: piece.depth)
    hidden_by = _Faces(faces)
    return sorted(pieces, key=lambda piece: piece.depth if piece.kind == "face" else hidden_by.depth_for(piece))


def is_hidden(pieces: list[Piece], point: Array, depth: float) -> bool:
    """Whether a face lies before a point, given on the paper and by its depth."""
    faces = [piece for piece in pieces if piece.kind == "face"]
    return bool(faces) and bool(len(_Faces(faces).passed(point, depth)[1]))


class _Faces:
    """The faces' triangles on the paper, and their depths."""

    def __init__(self, faces: list[Piece]) -> None:
        corners = np.stack([face.points for face in faces])
        depths = np.stack([np.asarray(face.depths) for face in faces])
        self.middle = np.array([face.depth for face in faces])
        low, high = corners.min(axis=1), corners.max(axis=1)
        beside = EDGE * (high - low).max(axis=1, keepdims=True)
        self.low, self.high = low - beside, high + beside
        self.origin, self.depth = corners[:, 0], depths[:, 0]
        self.sides, self.rises = corners[:, 1:] - corners[:, :1], depths[:, 1:] - depths[:, :1]
        self.area = self.sides[:, 0, 0] * self.sides[:, 1, 1] - self.sides[:, 0, 1] * self.sides[:, 1, 0]
        self.near = NEAR * float(np.ptp(depths) or np.ptp(corners))

    def depth_for(self, piece: Piece) -> float:
        """The depth by which a part of a line is sorted."""
        if piece.depths is None:
            return piece.depth
        n = len(piece.points)
        points, depths = (np.asarray(v)[[0, (n - 1) // 2, n // 2, n - 1]] for v in (piece.points, piece.depths))
        behind, before = self.passed(points[1:3].mean(axis=0), float(depths[1:3].mean()))
        if len(before):
            return min(piece.depth, float(before.min()) - self.near)
        ends = [self.passed(points[i], float(depths[i]))[0] for i in (0, 3)]
        return float(max([piece.depth, *(np.concatenate((behind, *ends)) + self.near).tolist()]))

    def passed(self, point: Array, depth: float) -> tuple[Array, Array]:
        """Of the faces under a point of the paper: the middles' depths of those behind it, and of those before it."""
        near = np.flatnonzero(((self.low <= point) & (point <= self.high)).all(axis=1) & (self.area != 0))
        (across, upwards), area = (point - self.origin[near]).T, self.area[near]
        a, b = self.sides[near, 0], self.sides[near, 1]
        s, t = (across * b[:, 1] - upwards * b[:, 0]) / area, (upwards * a[:, 0] - across * a[:, 1]) / area
        inside = (s >= -EDGE) & (t >= -EDGE) & (s + t <= 1 + EDGE)
        there = self.depth[near] + s * self.rises[near, 0] + t * self.rises[near, 1]
        nearer = there > depth + self.near
        return self.middle[near[inside & ~nearer]], self.middle[near[inside & nearer]]
