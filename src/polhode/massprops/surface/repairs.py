"""Repairs of surface meshes on request, each with a note of what it changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from polhode.errors import MeshError, show
from polhode.massprops.geometry import Indices, Surface
from polhode.massprops.surface.edges import cap_holes, find_faces_to_flip, find_holes
from polhode.massprops.surface.moment_integrals import integrate_enclosed_volume, integrate_surface_area
from polhode.massprops.surface.surface_analysis import SurfaceAnalysis
from polhode.validation import check_word

REPAIRS = ("flip", "fill", "hull")


def check_repairs(repair: str | Sequence[str] | None) -> tuple[str, ...]:
    """The requested repairs, validated."""
    repair = () if repair is None else (repair,) if isinstance(repair, str) else repair
    if not isinstance(repair, Sequence):
        raise MeshError(f"repair is one of {', '.join(REPAIRS)}, or several in a tuple, not {show(repair)}")
    for one in repair:
        check_word(one, "repair", REPAIRS, MeshError)
    return tuple(repair)


def repair_surface(surface: Surface, name: str, meters: float, repairs: Sequence[str]) -> tuple[Surface, list[str]]:
    """The surface after these repairs, in a fixed order, and a note of what each changed."""
    notes: list[str] = []
    if "hull" in repairs:
        if len(repairs) > 1:
            raise MeshError("repair='hull' replaces the whole surface: it cannot be combined with other repairs")
        return _replace_by_hull(surface, meters)
    if "flip" in repairs:
        surface, turned = _make_orientation_consistent(surface, name)
    if "fill" in repairs:
        surface, note = _fill_holes(surface, name, meters)
        notes.append(note)
    if "flip" in repairs:
        surface, note = _orient_shells(surface, name, turned)
        notes.insert(0, note)
    return surface, notes


def _make_orientation_consistent(surface: Surface, name: str) -> tuple[Surface, Indices]:
    """The surface with consistently oriented faces, and which were flipped."""
    turned = find_faces_to_flip(SurfaceAnalysis(surface, name).edges, len(surface.faces))
    if turned is None:
        raise MeshError(
            f"repair='flip': the surface of {name} is one-sided, like a Moebius strip: it cannot be oriented"
        )
    return _flip_faces(surface, turned), np.flatnonzero(turned)


def _orient_shells(surface: Surface, name: str, turned: Indices) -> tuple[Surface, str]:
    """Orient outer shells outward and those inside them inward: a shell inside a solid is a void."""
    facts = SurfaceAnalysis(surface, name)
    is_turned = np.zeros(len(surface.faces), dtype=bool)
    is_turned[turned] = True
    voids = 0
    if facts.edges.are_closed:
        for nested in facts.nesting:
            is_void = nested.depth % 2 == 1
            voids += is_void
            if nested.volume != 0 and (nested.volume < 0) != is_void:
                faces = facts.shell == nested.number
                surface = _flip_faces(surface, faces)
                is_turned ^= faces
    count = int(is_turned.sum())
    which = f", the first is number {np.flatnonzero(is_turned)[0]}" if count else ""
    note = f"flip: {count} of {len(surface.faces)} faces flipped{which}"
    return surface, note + (f"; {voids} inner shell{'s' * (voids != 1)} made a void" if voids else "")


def _flip_faces(surface: Surface, which: Any) -> Surface:
    faces = surface.faces.copy()
    faces[which] = faces[which][:, ::-1]
    return Surface(surface.vertices, faces)


def _fill_holes(surface: Surface, name: str, meters: float) -> tuple[Surface, str]:
    edges = SurfaceAnalysis(surface, name).edges
    if ((edges.balance != 0) & (edges.uses != 1)).any():
        raise MeshError(
            "repair='fill': some faces are oriented inconsistently or duplicated, so holes are not well-defined. "
            "Pass repair=('flip', 'fill'), and delete copies"
        )
    found = find_holes(edges, surface.vertices)
    if not found:
        return surface, "fill: there was no hole"
    closed = cap_holes(surface, edges)
    added = Surface(closed.vertices, closed.faces[len(surface.faces) :])
    count, length, _ = found[0]
    area = integrate_surface_area(added).extent * meters**2
    several = f"{len(found)} hole{'s' * (len(found) != 1)}"
    return closed, (
        f"fill: {several} closed with {len(added.faces)} faces of {area:.4g} m2 in all; the longest "
        f"was {length * meters:.4g} m, of {count} edges. Where a hole is not flat its cap is a guess"
    )


def _replace_by_hull(surface: Surface, meters: float) -> tuple[Surface, list[str]]:
    from scipy.spatial import ConvexHull, QhullError

    origin = surface.vertices[0]
    size = float(np.ptp(surface.vertices, axis=0).max()) or 1.0
    try:
        hull = ConvexHull((surface.vertices - origin) / size)
    except QhullError:
        raise MeshError("repair='hull': the points are coplanar, so their hull has no volume") from None
    corners = (surface.vertices - origin)[hull.simplices] / size
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inward = np.einsum("ni,ni->n", normals, hull.equations[:, :3]) < 0
    whole = _flip_faces(Surface(surface.vertices, hull.simplices.astype(np.int64)), inward)
    used, faces = np.unique(whole.faces, return_inverse=True)
    result = Surface(surface.vertices[used], faces.reshape(-1, 3))
    note = (
        f"hull: the convex hull of {len(surface.vertices)} points, {len(result.faces)} faces and "
        f"{integrate_enclosed_volume(result).extent * meters**3:.6g} m3, in place of {len(surface.faces)} faces"
    )
    return result, [note]
