"""Checks of cells: finite nodes, positive orientation, no folds, no duplicates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from polhode.errors import MeshError
from polhode.massprops.geometry import Indices
from polhode.massprops.volume.cell_types import CELL_TYPES, CellType, cube_lattice, cube_to_reference
from polhode.massprops.volume.quadrature import POINTS_PER_CHUNK, determinant_3x3
from polhode.validation import Array

BoolArray: TypeAlias = NDArray[np.bool_]

FLAT_DETERMINANT_RTOL = 1e-13
"""Determinant relative to the lengths of its columns below which it is zero up to rounding."""
APEX_INSET = 1 / 64
"""Distance of the samples from a pyramid's apex, where the map is singular."""


def check_nodes(nodes: Array, blocks: Sequence[tuple[str, Indices]]) -> None:
    """Raise if a node is not finite, or a cell refers to a node that does not exist."""
    for kind, cells in blocks:
        wrong = np.argwhere((cells < 0) | (cells >= len(nodes)))
        if len(wrong):
            row, column = wrong[0]
            raise MeshError(
                f"cell {row} of the {kind} cells refers to node {cells[row, column]}, but the mesh has only the nodes "
                f"0 to {len(nodes) - 1}: the file is damaged or truncated"
            )
    used = np.unique(np.concatenate([cells.ravel() for _, cells in blocks]))
    bad = used[~np.isfinite(nodes[used]).all(axis=1)]
    if bad.size:
        raise MeshError(
            f"{bad.size} of {len(used)} nodes have coordinates that are not finite; the first is node {bad[0]}, "
            f"{nodes[bad[0]].tolist()}: export the mesh again"
        )


def orient_cells(
    blocks: Sequence[tuple[str, Indices]], nodes: Array, flip: bool
) -> tuple[list[tuple[str, Indices]], list[str]]:
    """The cells, inverted ones reordered if `flip` is set, and notes of what was done.

    The sign of each cell's Jacobian determinant is sampled on a lattice: negative everywhere is an inverted cell,
    negative somewhere a tangled one, zero everywhere one without volume.
    """
    start = 0
    numbers: dict[str, list[Indices]] = {"inverted": [], "tangled": [], "flat": []}
    turned = []
    for kind, cells in blocks:
        has_positive, has_negative = _determinant_signs(CELL_TYPES[kind], cells, nodes)
        inside_out = has_negative & ~has_positive
        for name, which in (
            ("inverted", inside_out),
            ("tangled", has_negative & has_positive),
            ("flat", ~has_negative & ~has_positive),
        ):
            numbers[name].append(np.flatnonzero(which) + start)
        start += len(cells)
        reordered = cells.copy()
        reordered[inside_out] = cells[inside_out][:, list(CELL_TYPES[kind].mirrored)]
        turned.append((kind, reordered))
    inverted, tangled, flat = (np.concatenate(found) for found in numbers.values())
    if tangled.size:
        raise MeshError(
            f"{_format_cell_list(tangled, start)} tangled: the Jacobian determinant changes sign within the cell, "
            "which overlaps itself. Its nodes are in the wrong order, or its curved sides cross: remesh, or smooth it",
            tangled,
        )
    if flat.size:
        raise MeshError(
            f"{_format_cell_list(flat, start)} without volume: all nodes are coplanar. Remove such cells",
            flat,
        )
    if not inverted.size:
        return list(blocks), []
    if not flip:
        hint = ""
        if any(kind.startswith("wedge") for kind, _ in blocks):
            hint = " (programs do not agree on the order of a wedge's corners in VTK files)"
        remedy = ' Pass repair="flip" to reorder them'
        if len(inverted) == start:
            remedy = ' All of them are, so this is probably the file\'s convention: repair="flip" fixes it'
        raise MeshError(
            f"{_format_cell_list(inverted, start)} inverted: the corners are numbered in the opposite order{hint}, so "
            f"the volume is negative.{remedy}",
            inverted,
        )
    return turned, [f"{_format_cell_list(inverted, start)} inverted; reordered by repair='flip'"]


def _format_cell_list(which: Indices, total: int) -> str:
    """The count and the first few: "2 of 7 cells (numbers 3, 5) are"."""
    listed = ", ".join(map(str, which[:5])) + (", ..." if len(which) > 5 else "")
    numbers, verb = ("numbers", "are") if len(which) > 1 else ("number", "is")
    return f"{len(which)} of {total} cells ({numbers} {listed}) {verb}"


def _determinant_signs(kind: CellType, cells: Indices, nodes: Array) -> tuple[BoolArray, BoolArray]:
    """Whether each cell's Jacobian determinant is positive, and whether it is negative, at any sample point."""
    cube = cube_lattice(2 * kind.order)
    if kind.family == "pyramid":
        cube[:, 2] = np.minimum(cube[:, 2], 1 - APEX_INSET)
    points = np.unique(cube_to_reference(kind.family, cube), axis=0)
    if kind.name == "tetra":
        points = points[:1]
    # The central difference of a quadratic is exact.
    steps = np.eye(3) / 2
    slopes = np.stack([kind.shape(points + step) - kind.shape(points - step) for step in steps])
    matrix = slopes.reshape(-1, slopes.shape[-1])
    positive, negative = np.empty(len(cells), dtype=bool), np.empty(len(cells), dtype=bool)
    chunk = max(1, POINTS_PER_CHUNK // len(points))
    for start in range(0, len(cells), chunk):
        here = slice(start, start + chunk)
        of_cells = nodes[cells[here]].transpose(2, 1, 0)
        of_cells = of_cells - of_cells.mean(axis=1, keepdims=True)
        columns = (matrix @ of_cells).reshape(3, 3, len(points), -1)
        limit = FLAT_DETERMINANT_RTOL * np.sqrt(np.square(columns).sum(axis=0)).prod(axis=0)
        found = determinant_3x3(columns)
        positive[here], negative[here] = (found > limit).any(axis=0), (found < -limit).any(axis=0)
    return positive, negative


def check_duplicate_cells(blocks: Sequence[tuple[str, Indices]], same: Indices) -> None:
    """Raise if two cells have the same corners; `same` maps coincident nodes to one index."""
    start = 0
    families: dict[str, list[tuple[Indices, Indices]]] = {}
    for kind, cells in blocks:
        corners = np.sort(same[cells[:, : CELL_TYPES[kind].corners]], axis=1)
        families.setdefault(CELL_TYPES[kind].family, []).append((corners, np.arange(start, start + len(cells))))
        start += len(cells)
    for listed in families.values():
        corners, number = (np.concatenate(column) for column in zip(*listed, strict=True))
        order = np.lexsort(corners.T)
        twins = np.flatnonzero((corners[order][1:] == corners[order][:-1]).all(axis=1))
        if twins.size:
            a, b = sorted(number[order[twins[0] : twins[0] + 2]])
            raise MeshError(
                f"{twins.size} of {start} cells are duplicates: the first is cell {b}, which has the corners of cell "
                f"{a}. Their mass would count twice; remove the copies"
            )
