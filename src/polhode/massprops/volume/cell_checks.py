"""Are these cells cells?  Finite nodes, the right way round, nowhere folded, none there twice."""

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
"""A determinant below this, relative to the lengths of its three columns, is zero but for rounding."""
APEX_INSET = 1 / 64
"""How near the sampling goes to a pyramid's apex, where all directions meet."""


def check_nodes(nodes: Array, blocks: Sequence[tuple[str, Indices]]) -> None:
    """Complain about nodes that are no places, and about cells whose nodes do not exist."""
    for kind, cells in blocks:
        wrong = np.argwhere((cells < 0) | (cells >= len(nodes)))
        if len(wrong):
            row, column = wrong[0]
            raise MeshError(
                f"cell {row} of the {kind} cells names node {cells[row, column]}, but the mesh has only the nodes 0 to "
                f"{len(nodes) - 1}: the file is damaged, or was cut short"
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
    """The cells, those inside out turned if that was asked for, and what was done, in sentences.

    The determinant of each cell's map is looked at in the points of a lattice: negative everywhere is a cell inside
    out, negative somewhere one that is folded, zero everywhere one without volume.
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
        mended = cells.copy()
        mended[inside_out] = cells[inside_out][:, list(CELL_TYPES[kind].mirrored)]
        turned.append((kind, mended))
    inverted, tangled, flat = (np.concatenate(found) for found in numbers.values())
    if tangled.size:
        raise MeshError(
            f"{_format_cell_list(tangled, start)} tangled: the determinant of the map changes its sign within the cell, which "
            "overlaps itself. Its nodes are in a wrong order, or its curved sides cross: mesh again, or smooth it",
            tangled,
        )
    if flat.size:
        raise MeshError(
            f"{_format_cell_list(flat, start)} without volume: all its nodes lie in one plane. Leave such cells out",
            flat,
        )
    if not inverted.size:
        return list(blocks), []
    if not flip:
        hint = ""
        if any(kind.startswith("wedge") for kind, _ in blocks):
            hint = " (programs do not agree on the order of a wedge's corners in VTK files)"
        all_of_them = " All of them are, so this is probably the file's convention:" if len(inverted) == start else ""
        raise MeshError(
            f"{_format_cell_list(inverted, start)} inverted: the corners are numbered the wrong way round{hint}, so the volume is "
            f'negative.{all_of_them or " Give"} repair="flip" {"mends it" if all_of_them else "to turn such cells"}',
            inverted,
        )
    return turned, [f"{_format_cell_list(inverted, start)} inverted; turned, as asked by repair='flip'"]


def _format_cell_list(which: Indices, total: int) -> str:
    """How many, and the first of them: "2 of 7 cells (numbers 3, 5) are"."""
    listed = ", ".join(map(str, which[:5])) + (", ..." if len(which) > 5 else "")
    numbers, verb = ("numbers", "are") if len(which) > 1 else ("number", "is")
    return f"{len(which)} of {total} cells ({numbers} {listed}) {verb}"


def _determinant_signs(kind: CellType, cells: Indices, nodes: Array) -> tuple[BoolArray, BoolArray]:
    """Whether each cell's determinant is positive, and whether it is negative, in any point of the sample."""
    cube = cube_lattice(2 * kind.order)
    if kind.family == "pyramid":
        cube[:, 2] = np.minimum(cube[:, 2], 1 - APEX_INSET)
    points = np.unique(cube_to_reference(kind.family, cube), axis=0)
    if kind.name == "tetra":
        points = points[:1]
    # A central difference of a quadratic is its derivative.
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
    """Complain about cells with the same corners; `same` numbers the nodes so that coinciding ones are one."""
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
                f"{twins.size} of {start} cells are there twice: the first is cell {b}, which has the corners of cell "
                f"{a}. Their mass would count twice; leave the copies out"
            )
