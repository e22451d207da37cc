"""Bodies from volume meshes."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from polhode import validation
from polhode.errors import InertiaError, InputError, MassWarning, MeshError, nearest, show
from polhode.massprops.body import Body
from polhode.massprops.geometry import Indices, Part
from polhode.massprops.length_units import LONGEST_UNITLESS_M, meters_per
from polhode.massprops.volume.adaptive_quadrature import integrate_adaptively
from polhode.massprops.volume.boundary_faces import (
    CellMesh,
    boundary_area,
    count_nonmanifold_edges,
    find_boundary_faces,
    match_coincident_nodes,
)
from polhode.massprops.volume.cell_checks import check_duplicate_cells, check_nodes, orient_cells
from polhode.massprops.volume.cell_density import cell_densities, scale_density_function
from polhode.massprops.volume.cell_overlaps import (
    EPS,
    NormalizedMesh,
    check_cell_overlaps,
    count_covered_faces,
    find_voids_and_parts,
)
from polhode.massprops.volume.cell_types import CELL_TYPES, reorder_nodes
from polhode.massprops.volume.quadrature import (
    POINTS_PER_CHUNK,
    TotalMoments,
    combine_totals,
    integrate_cell_moments,
    quadrature_rule,
    sum_cell_moments,
)
from polhode.massprops.volume.volume_mesh import VolumeMesh
from polhode.massprops.volume.volume_reader import read_volume_mesh
from polhode.progress import progress
from polhode.validation import Array

MIN_RTOL = 1e-14
MAX_DEGREE = 40


def build_volume_body(
    mesh: Any, density: Any, unit: str | None, degree: int, rtol: float, repair: str | Sequence[str] | None
) -> Body:
    """The body made of the cells of a volume mesh: see `Body.from_volume_mesh`."""
    flip = _check_flip_repair(repair)
    _check_accuracy(degree, rtol)
    read = read_volume_mesh(mesh)
    meters = 1.0 if unit is None else meters_per(unit)
    in_file, blocks, notes = _normalize_cells(read)
    middle, size = _center_and_scale(in_file, blocks)
    scaled = (in_file - middle) / size  # from the file's own numbers: conversion to meters would round them
    nodes, center, scale = in_file * meters, middle * meters, size * meters
    blocks, flipped = orient_cells(blocks, scaled, flip)
    used = np.unique(np.concatenate([cells.ravel() for _, cells in blocks]))
    same = match_coincident_nodes(nodes, used)
    notes += flipped + _collect_notes(read, nodes, used, same)
    check_duplicate_cells(blocks, same)
    outside = find_boundary_faces(blocks, same)
    rounding = EPS * max(1.0, float(np.abs(nodes[used]).max()) / scale)
    normalized = NormalizedMesh(blocks, scaled, same, outside, rounding, center, scale)
    touching = check_cell_overlaps(normalized)
    notes += find_voids_and_parts(normalized)
    fit = count_nonmanifold_edges(outside), count_covered_faces(normalized)
    odd = _collect_warnings(read, nodes, used, blocks, fit, unit) + touching
    with progress("integrating", "cells") as report:
        if callable(density):
            whole = integrate_adaptively(
                blocks, scaled, scale_density_function(density, center, scale), degree, rtol, report
            )
            if whole.mass == 0:
                raise InertiaError("the density function is 0 kg/m3 at all points: the body would have no mass")
        else:
            densities = cell_densities(density, read)
            empty = int((densities == 0).sum())
            notes += [f"{empty} cells have density 0; volume and area include them."] if empty else []
            whole = _integrate_piecewise(blocks, scaled, densities, report)
    for sentence in odd:
        warnings.warn(sentence, MassWarning, stacklevel=3)
    second = whole.second * (scale**2 * scale**3)
    return Body(
        mass=whole.mass * scale**3,
        inertia=np.trace(second) * np.eye(3) - second,
        center_of_mass=center + scale * whole.center,
        volume=whole.volume * scale**3,
        area=boundary_area(outside, scaled) * scale**2,
        parts=(Part(CellMesh(nodes, tuple(blocks), outside, dict(read.fields), dict(read.regions))),),
        notes=tuple(notes),
    )


def _integrate_piecewise(
    blocks: list[tuple[str, Indices]], nodes: Array, densities: Array, report: Any
) -> TotalMoments:
    """The total of all cells, each with its own density, in chunks."""
    totals, start = [], 0
    for kind, cells in blocks:
        rule = quadrature_rule(kind, 0)
        step = max(1, POINTS_PER_CHUNK // len(rule.weights))
        for at in range(0, len(cells), step):
            of_cells = nodes[cells[at : at + step]].transpose(2, 1, 0)
            here = densities[start + at : start + at + of_cells.shape[-1]]
            totals.append(sum_cell_moments(integrate_cell_moments(np.ascontiguousarray(of_cells), rule).times(here)))
            report(start + at, len(densities))
        start += len(cells)
    return combine_totals(totals)


def _check_flip_repair(repair: str | Sequence[str] | None) -> bool:
    if repair is not None and not isinstance(repair, str | list | tuple | set | frozenset):
        raise InputError(f"repair must be 'flip' or None, not {show(repair)}")
    wanted = (repair,) if isinstance(repair, str) else tuple(repair or ())
    for name in wanted:
        if name != "flip":
            raise InputError(f"unknown repair {show(name)} for a volume mesh: {nearest(name, ['flip'])}")
    return bool(wanted)


def _check_accuracy(degree: Any, rtol: Any) -> None:
    if not validation.is_whole_number(degree) or not 0 <= degree <= MAX_DEGREE:
        raise InputError(f"degree must be an integer from 0 to {MAX_DEGREE}, not {show(degree)}")
    value = validation.check_number(rtol, "rtol")
    if not MIN_RTOL <= value < 1:
        raise InputError(f"rtol must be between {MIN_RTOL:g} (rounding) and 1, but is {value:g}")


def _normalize_cells(read: VolumeMesh) -> tuple[Array, list[tuple[str, Indices]], list[str]]:
    """The nodes of the file, the cells with their nodes in our order, and notes."""
    if not read.count:
        left_out = _format_counts(read.left_out)
        if left_out:
            raise MeshError(
                f"the mesh has no volume cells, only {left_out}: for a closed surface use Body.from_mesh (with STL, "
                "OBJ or PLY)"
            )
        raise MeshError("the mesh has no cells")
    nodes = np.asarray(read.nodes, dtype=float)
    if nodes.ndim != 2 or nodes.shape[1] != 3:
        raise MeshError(f"nodes must have three coordinates each, but have shape {nodes.shape}")
    for kind, cells in read.blocks:
        if kind not in CELL_TYPES or cells.shape[1] != len(CELL_TYPES[kind].reference):
            raise MeshError(f"cells of type {kind!r} with {cells.shape[1]} nodes are not supported")
    notes = list(read.notes)
    check_nodes(nodes, read.blocks)
    blocks = []
    for kind, cells in read.blocks:
        if len(cells):
            ordered, whose = reorder_nodes(kind, cells, nodes) if CELL_TYPES[kind].order == 2 else (cells, None)
            blocks.append((kind, ordered))
            sentence = f"The nodes of {kind} cells are in the order of {whose}, and were reordered."
            notes += [sentence] if whose and sentence not in notes else []
    if read.left_out:
        notes.append(f"Cells without volume were ignored: {_format_counts(read.left_out)}.")
    return nodes, blocks, notes


def _format_counts(left_out: Any) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in left_out.items())


def _center_and_scale(nodes: Array, blocks: list[tuple[str, Indices]]) -> tuple[Array, float]:
    """The center of the bounding box, and a power of two near its size."""
    used = np.concatenate([cells.ravel() for _, cells in blocks])
    low, high = nodes[used].min(axis=0), nodes[used].max(axis=0)
    extent = float((high - low).max())
    if not 0 < extent < np.inf:
        raise MeshError(f"all nodes of the mesh coincide at {low.tolist()}: it has no volume")
    return low + (high - low) / 2, float(2.0 ** np.round(np.log2(extent)))


def _collect_warnings(
    read: VolumeMesh,
    nodes: Array,
    used: Indices,
    blocks: list[tuple[str, Indices]],
    fit: tuple[int, int],
    unit: str | None,
) -> list[str]:
    """Warnings about what may be unintended."""
    odd = []
    extent = float(np.ptp(nodes[used], axis=0).max())
    if unit is None and extent > LONGEST_UNITLESS_M:
        odd.append(
            f"the mesh is {extent:g} m long, read in meters: if it was drawn in millimeters pass unit='mm', if not "
            "pass unit='m'"
        )
    touching, covered = fit
    if covered:
        odd.append(
            f"{covered} triangles of the mesh's boundary have another cell in front of them: cells overlap (their mass "
            "counts twice), or meet at non-matching faces, such as a quadrilateral and two triangles (the area "
            "counts both)"
        )
    elif touching:
        odd.append(
            f"{touching} edges of the mesh's boundary belong to more than two boundary faces: there cells touch along "
            "an edge only, or overlap (their mass counts twice)"
        )
    ordered = [np.sort(cells[:, : CELL_TYPES[kind].corners], axis=1) for kind, cells in blocks]
    shrunk = sum(int((corners[:, 1:] == corners[:, :-1]).any(axis=1).sum()) for corners in ordered)
    if shrunk:
        odd.append(
            f"{shrunk} of {read.count} cells repeat a corner: they are treated as collapsed, such as a wedge written "
            "as a hexahedron. If that is not intended, the mesh is damaged"
        )
    return odd


def _collect_notes(read: VolumeMesh, nodes: Array, used: Indices, same: Indices) -> list[str]:
    notes = []
    if len(used) < len(nodes):
        notes.append(f"{len(nodes) - len(used)} of {len(nodes)} nodes belong to no volume cell.")
    doubled = int((same[used] != used).sum())
    if doubled:
        notes.append(f"{doubled} nodes coincide with others; faces between them were treated as shared.")
    return notes
