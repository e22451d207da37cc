"""The meshes of all bodies of a motion as one mesh that moves: what files for other programs are made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polhode.integrate.loops.node_loops import evaluate_nodes
from polhode.io.exported_bodies import ExportedBody, select_exported_bodies
from polhode.massprops.body import Body
from polhode.massprops.geometry import Indices
from polhode.massprops.volume.boundary_faces import CellMesh
from polhode.massprops.volume.cell_types import CELL_TYPES
from polhode.results.body_geometry import geometry_view_of
from polhode.results.material_points import rotation_between
from polhode.validation import Array

if TYPE_CHECKING:
    from polhode.results.trajectory import Trajectory

FIELDS = ("position", "displacement", "velocity")


@dataclass(frozen=True, eq=False)
class CellBlock:
    """Cells of one type: node indices, in meshio's order, and what the body's file said about each cell."""

    name: str
    kind: str
    cells: Indices
    fields: dict[str, Array] = field(default_factory=dict)


class Piece(NamedTuple):
    """The mesh of one body or member."""

    number: int
    name: str
    offsets_body: Array
    """Of its nodes from the center of mass, along the body's axes, in m."""
    blocks: tuple[CellBlock, ...]


class MovingMesh:
    """The meshes of all bodies, or members, of a motion; volume cells where a body was made from them."""

    def __init__(self, motion: Trajectory) -> None:
        self.motion = motion
        self.pieces = _pieces_of(motion)
        self._finite: Any = np.isfinite(motion.run_result.samples).all(axis=-1)
        self._view = geometry_view_of(motion, motion.run_result.samples)
        self._start = geometry_view_of(motion, motion.samples_at(motion.scenario.start_time)[None])

    @property
    def times(self) -> Array:
        """The output times."""
        return self.motion.times

    def there(self, k: int) -> list[Piece]:
        """The pieces at an output: members that an event stopped before it are gone."""
        return [piece for piece in self.pieces if self._finite[k, piece.number]]

    def evaluate(self, k: int, pieces: list[Piece], room: dict[str, Array], *, stays: bool = False) -> dict[str, Array]:
        """Positions, displacements and velocities of the nodes at an output, (nodes, 3) each.

        `room` keeps the arrays for the next call.  With `stays`, a member that an event has stopped stays there.
        """
        count = sum(len(piece.offsets_body) for piece in pieces)
        for name in FIELDS:
            if name not in room or len(room[name]) != count:
                room[name] = np.empty((count, 3))
        first = 0
        for piece in pieces:
            last = first + len(piece.offsets_body)
            at = self._last_finite(k, piece.number) if stays else k
            for name in FIELDS:
                numbers = self._common_numbers(name, at, piece.number)
                evaluate_nodes(name, piece.offsets_body, room[name][first:last], *numbers)
            first = last
        return room

    def _last_finite(self, k: int, body: int) -> int:
        return int(np.flatnonzero(self._finite[: k + 1, body])[-1])

    def _common_numbers(self, name: str, k: int, body: int) -> tuple[Any, ...]:
        view, start = self._view, self._start

        def of(vector: Any, k: int) -> Array:
            return np.array([np.asarray(c)[k, body] for c in vector])

        attitude = of(view.orientation, k)
        if name == "position":
            return attitude, of(view.position, k)
        if name == "velocity":
            return attitude, of(view.velocity, k), of(view.angular_velocity, k)
        first = of(start.orientation, 0)
        w, e = rotation_between(first, attitude)
        return first, of(view.position, k) - of(start.position, 0), e, (0.0, 0.0, 0.0), float(w)


def cell_count(pieces: list[Piece]) -> int:
    """The number of cells."""
    return sum(len(block.cells) for piece in pieces for block in piece.blocks)


def cell_fields(pieces: list[Piece]) -> dict[str, Array]:
    """For each cell the number of its body, and what its file said; NaN where it said nothing."""
    count = cell_count(pieces)
    names = dict.fromkeys(name for piece in pieces for block in piece.blocks for name in block.fields)
    fields: dict[str, Any] = {"body": np.empty(count, dtype=np.int64)}
    first = 0
    for piece in pieces:
        for block in piece.blocks:
            last = first + len(block.cells)
            fields["body"][first:last] = piece.number
            for name in names:
                values = block.fields.get(name)
                if values is None:
                    continue
                if name not in fields:
                    fields[name] = np.full((count, *values.shape[1:]), np.nan)
                if fields[name].shape[1:] == values.shape[1:]:
                    fields[name][first:last] = values
            first = last
    return fields


# From bodies to pieces ------------------------------------------------------------------------------------------------
def _pieces_of(motion: Trajectory) -> list[Piece]:
    bodies, made = motion.scenario.bodies, {}
    pieces = []
    for one in select_exported_bodies(motion):
        body = bodies[0] if motion.axis == "member" else bodies[one.number]
        key = (id(one.surface), id(body))
        if key not in made:
            made[key] = _geometry_of(one, body)
        pieces.append(Piece(one.number, one.name, *made[key]))
    return pieces


def _geometry_of(one: ExportedBody, body: Body) -> tuple[Array, tuple[CellBlock, ...]]:
    if body.members is not None or not any(isinstance(part.source, CellMesh) for part in body.parts):
        vertices = np.ascontiguousarray(one.surface.vertices, dtype=np.float64)
        return vertices, (CellBlock("surface", "triangle", np.asarray(one.surface.faces, dtype=np.int64)),)
    nodes, blocks, start = [], [], 0
    for part in body.parts:
        if isinstance(part.source, CellMesh):
            points = part.nodes
            assert points is not None
            is_mirrored = bool(np.linalg.det(part.linear) < 0)
            blocks += _volume_blocks(part.source, start, is_mirrored)
        else:
            surface = part.surface(48)
            points = surface.vertices
            blocks.append(CellBlock("surface", "triangle", np.asarray(surface.faces, dtype=np.int64) + start))
        nodes.append(points - np.asarray(body.center_of_mass))
        start += len(points)
    return np.ascontiguousarray(np.concatenate(nodes)), tuple(blocks)


def _volume_blocks(mesh: CellMesh, start: int, is_mirrored: bool) -> list[CellBlock]:
    """The cells of a volume mesh, one block for each type and region."""
    region, names = _regions_of(mesh)
    blocks, first = [], 0
    for kind, cells in mesh.blocks:
        own = np.arange(first, first + len(cells))
        ordered = cells[:, list(CELL_TYPES[kind].mirrored)] if is_mirrored else cells
        for number in np.unique(region[own]).tolist():
            mine = region[own] == number
            fields = {name: np.asarray(values)[own[mine]] for name, values in mesh.fields.items()}
            blocks.append(CellBlock(names[number], kind, ordered[mine] + start, fields))
        first += len(cells)
    return blocks


def _regions_of(mesh: CellMesh) -> tuple[Any, list[str]]:
    """The region of each cell, and their names; those with a name go before those with a number only."""
    count = sum(len(cells) for _, cells in mesh.blocks)
    region, names = np.zeros(count, dtype=np.int64), [""]
    for name in sorted(mesh.regions, key=lambda name: isinstance(name, int)):
        cells = np.asarray(mesh.regions[name])
        free = cells[region[cells] == 0]
        if len(free):
            names.append(str(name) if isinstance(name, str) else f"region {name}")
            region[free] = len(names) - 1
    return region, names
