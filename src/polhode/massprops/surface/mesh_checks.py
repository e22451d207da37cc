"""Defects of a surface mesh: open, inconsistent, degenerate or duplicate faces, and invalid enclosures."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from polhode.massprops.geometry import Flags, Indices
from polhode.massprops.surface.edges import find_faces_to_flip, find_holes
from polhode.massprops.surface.enclosure_checks import check_center_of_mass, find_enclosure_defects
from polhode.massprops.surface.mesh_finding import MeshFinding, by_count, count_phrase
from polhode.massprops.surface.surface_analysis import SurfaceAnalysis

FOLD_COSINE = -0.999
"""Cosine between normals below which neighboring faces may be folded onto each other."""
THIN_WALL_RATIO = 0.1
"""A wall is thin if its thickness relative to the size is below this."""


def check_solid(facts: SurfaceAnalysis) -> list[MeshFinding]:
    """All findings about a surface as the boundary of a solid."""
    found = [*find_degenerate_faces(facts), *find_duplicate_faces(facts), *find_folded_faces(facts)]
    found += find_unbalanced_edges(facts) if not facts.edges.are_closed else find_enclosure_defects(facts)
    return found + check_center_of_mass(facts, found)


def check_wall(facts: SurfaceAnalysis, thickness: float | None = None) -> list[MeshFinding]:
    """All findings about a surface as a thin wall, which may be open."""
    return [
        *find_degenerate_faces(facts),
        *find_duplicate_faces(facts, as_wall=True),
        *find_folded_faces(facts, as_wall=True),
        *find_thick_wall(facts, thickness),
    ]


# Faces -------------------------------------------------------------------------------------------------------------


def find_degenerate_faces(facts: SurfaceAnalysis) -> Iterator[MeshFinding]:
    flat = np.flatnonzero(facts.areas == 0)
    if len(flat) == len(facts.areas):
        yield MeshFinding("degenerate", "error", f"none of the {len(flat)} faces of {facts.name} has an area")
    elif len(flat):
        yield MeshFinding(
            "degenerate",
            "warning",
            f"{count_phrase(len(flat), 'face')} of {len(facts.areas)} {by_count(len(flat), 'has', 'have')} no area "
            f"(the first is number {flat[0]}, near {facts.about(flat[0])}): harmless by themselves, but the program "
            "that wrote them may have lost detail",
        )


def find_duplicate_faces(facts: SurfaceAnalysis, as_wall: bool = False) -> Iterator[MeshFinding]:
    """Faces with the same three corners."""
    edges = facts.edges
    crowded = (edges.uses > 2) | ((edges.uses == 2) & (edges.balance != 0)) | (as_wall & (edges.uses == 2))
    if not crowded.any():
        return
    some = np.unique(edges.face[edges.sides_of(crowded)])
    some = some[facts.areas[some] > 0]
    if not len(some):
        return
    corners = facts.surface.faces[some]
    _, group, counts = np.unique(np.sort(corners, axis=1), axis=0, return_inverse=True, return_counts=True)
    group = group.reshape(-1)
    again = np.flatnonzero(counts > 1)
    if not len(again):
        return
    first = some[group == group[np.isin(group, again)][0]][:2]
    turns = np.where(_is_even_permutation(corners), 1, -1)
    net = np.bincount(group, turns, minlength=len(counts))
    cancels = bool(((net[again] == 0) & (counts[again] == 2)).all())
    sentence = (
        f"{count_phrase(len(again), 'face')} {by_count(len(again), 'is', 'are')} duplicated, for example {first[0]} "
        f"and {first[1]}, near {facts.about(first[0])}"
    )
    if as_wall or not cancels:
        yield MeshFinding("duplicate", "error", f"{sentence}: what they bound is counted twice. Delete the copies")
    else:
        yield MeshFinding(
            "duplicate",
            "warning",
            f"{sentence}, with opposite orientations: they cancel, except in the area",
        )


def find_folded_faces(facts: SurfaceAnalysis, as_wall: bool = False) -> Iterator[MeshFinding]:
    """Coplanar neighbors that overlap: a concave polygon triangulated as a fan."""
    first, second, _ = facts.edges.neighbors(uses=2)
    back = np.einsum("ni,ni->n", facts.normals[first], facts.normals[second]) < FOLD_COSINE
    first, second = first[back], second[back]
    if not len(first):
        return
    corners = facts.surface.vertices[facts.surface.faces]
    away = np.einsum("nki,ni->nk", corners[second] - corners[first][:, :1], facts.normals[first])
    flat = np.abs(away).max(axis=1) <= facts.rounding
    if not flat.any():
        return
    one, two = first[flat][0], second[flat][0]
    pairs = f"{count_phrase(int(flat.sum()), 'pair')} of faces overlap, for example {one} and {two}, near"
    why = "a concave polygon triangulated as a fan? Save the file as triangles"
    if as_wall:
        yield MeshFinding("folded", "error", f"{pairs} {facts.about(one)}: their area would be counted twice ({why})")
    else:
        yield MeshFinding(
            "folded", "warning", f"{pairs} {facts.about(one)}: the volume is right, the area is too large ({why})"
        )


def find_thick_wall(facts: SurfaceAnalysis, thickness: float | None) -> Iterator[MeshFinding]:
    """A wall that is not thin."""
    if thickness is not None and thickness > facts.size * facts.meters * THIN_WALL_RATIO:
        yield MeshFinding(
            "thick",
            "warning",
            f"the wall is {thickness:g} m thick, and the part {facts.size * facts.meters:.4g} m long: the results are "
            "those of a thin wall. Was the thickness meant in another unit?",
        )


# Edges -------------------------------------------------------------------------------------------------------------


def find_unbalanced_edges(facts: SurfaceAnalysis) -> Iterator[MeshFinding]:
    """Edges that are not traversed equally often in both directions."""
    edges = facts.edges
    unbalanced = edges.balance != 0
    torn = unbalanced & (edges.uses == 1)
    odd = unbalanced & (edges.uses > 2) & (edges.uses % 2 == 1)
    against = unbalanced & (edges.uses % 2 == 0)
    if torn.any():
        found = find_holes(edges, facts.surface.vertices)
        count, length, middle = found[0]
        longest = f"the longest is {length * facts.meters:.4g} m long, of {count} edges near {facts.place(middle)}"
        number = int(torn.sum())
        yield MeshFinding(
            "open",
            "error",
            f"{count_phrase(number, 'edge')} {by_count(number, 'is', 'are')} open, around "
            f"{count_phrase(len(found), 'hole')}; {longest}. The inside is not defined: close the surface, or pass "
            "repair='fill'; if it is a thin wall, pass shell= or area_density=",
        )
    if odd.any():
        yield MeshFinding(
            "crowded",
            "error",
            f"{count_phrase(int(odd.sum()), 'edge')} {by_count(int(odd.sum()), 'has', 'have')} three or more faces, "
            f"for example near {facts.edge_location(odd)}: the boundary of a solid has two at each. Delete fins "
            "and copies",
        )
    if against.any():
        yield _inconsistent_orientation(facts, against)


def _inconsistent_orientation(facts: SurfaceAnalysis, against: Flags) -> MeshFinding:
    turned = find_faces_to_flip(facts.edges, len(facts.surface.faces))
    if turned is None:
        return MeshFinding(
            "one-sided",
            "error",
            "the surface is one-sided, like a Moebius strip: it has no inside, and no repair can give it one",
        )
    wrong = np.flatnonzero(turned)
    if not len(wrong):
        wrong = facts.edges.face[facts.edges.sides_of(against)]
    return MeshFinding(
        "inconsistent",
        "error",
        f"{count_phrase(len(wrong), 'face')} of {len(turned)} {by_count(len(wrong), 'is', 'are')} oriented opposite to "
        f"the neighbors, for example face {wrong[0]} near {facts.about(wrong[0])}: volume and center of mass are "
        "wrong, even if the surface is closed. Pass repair='flip'",
    )


def _is_even_permutation(corners: Indices) -> Flags:
    """Whether each row is an even permutation of its ascending order."""
    a, b, c = corners.T
    even: Flags = ~((a < b) ^ (b < c) ^ (c < a))
    return even
