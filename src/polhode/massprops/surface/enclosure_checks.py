"""Checks that a closed surface encloses every point at most once: shells, voids, overlaps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from polhode.massprops.surface.mesh_finding import MeshFinding, by_count, count_phrase
from polhode.massprops.surface.ray_winding import cast_rays
from polhode.massprops.surface.self_intersection import (
    MAX_FACES_ALL_PAIRS,
    NEGLIGIBLE_DEPTH,
    TooManyPairs,
    deepest_self_intersection,
    deepest_shell_intersection,
)
from polhode.massprops.surface.surface_analysis import FLAT_VOLUME_RATIO, SurfaceAnalysis

MAX_HULL_VERTICES = 2_000
"""Vertices up to which the convex hull is computed if nothing else is wrong."""


def find_enclosure_defects(facts: SurfaceAnalysis) -> Iterator[MeshFinding]:
    """Defects of a closed surface that encloses some point not exactly once."""
    volume, cubic = facts.inside.extent, facts.meters**3
    if facts.shells == 1 and volume < -FLAT_VOLUME_RATIO * facts.area * facts.size:
        yield MeshFinding(
            "inverted",
            "error",
            f"all faces of {facts.name} face inward: its volume is {volume * cubic:.6g} m3. Pass repair='flip'",
        )
        return
    found = [*_find_self_intersection(facts)]
    if facts.shells > 1 and not _has_errors(found):
        found += _limit_findings([*_find_nesting_errors(facts)])
    if facts.shells > 1 and not _has_errors(found):
        found += _find_shared_volume(facts)
    yield from found
    if _has_errors(found):
        return
    if abs(volume) <= FLAT_VOLUME_RATIO * facts.area * facts.size:
        yield MeshFinding(
            "flat",
            "error",
            f"{facts.name} encloses no volume: it is flat, or folded onto itself. For a thin wall pass shell= or "
            "area_density=",
        )
        return
    yield from _find_winding_errors(facts)


def _find_self_intersection(facts: SurfaceAnalysis) -> Iterator[MeshFinding]:
    """Intersecting faces: between shells, and within one shell if it is not too large."""
    try:
        if len(facts.surface.faces) <= MAX_FACES_ALL_PAIRS:
            contact = deepest_self_intersection(facts.surface, facts.rounding)
        elif facts.shells > 1:
            contact = deepest_shell_intersection(facts.surface, facts.shell, facts.rounding)
        else:
            return
    except TooManyPairs:
        sentence = "too many faces lie close together to test all pairs: overlaps are searched with rays and samples"
        yield MeshFinding("unchecked", "note", sentence)
        return
    if contact is None or contact.depth <= max(NEGLIGIBLE_DEPTH * facts.size, facts.rounding):
        return
    one, two = sorted(int(facts.shell[face]) for face in contact.faces)
    who = f"shells {one} and {two} intersect" if one != two else "the surface intersects itself"
    where = f"{who} near {facts.place(contact.place)} (faces {contact.faces[0]} and {contact.faces[1]})"
    if contact.depth > facts.touching:
        yield MeshFinding(
            "overlapping",
            "error",
            f"{where}: the overlap would be counted twice. Unite the parts in the CAD program",
        )
    else:
        yield MeshFinding(
            "touching",
            "warning",
            f"{where}, by {contact.depth * facts.meters:.2g} m: they are treated as touching, and nothing is cut off",
        )


def _find_shared_volume(facts: SurfaceAnalysis) -> Iterator[MeshFinding]:
    """Shells with a common point that no intersection of faces reveals."""
    found = facts.find_shared_point()
    if found is not None:
        one, two, there = found
        yield MeshFinding(
            "overlapping",
            "error",
            f"shells {one} and {two} both contain the point {facts.place(there)}: the overlap would be counted twice. "
            "Unite the parts in the CAD program",
        )


def _find_winding_errors(facts: SurfaceAnalysis) -> Iterator[MeshFinding]:
    depths = cast_rays(facts.surface)
    real = depths.across > facts.touching
    for sign, what in ((1, "more than once"), (-1, "negatively")):
        bad = real & ((depths.winding > 1) if sign > 0 else (depths.winding < 0))
        if bad.any():
            volume = float(depths.length[bad].sum()) * depths.area * facts.meters**3
            yield MeshFinding(
                "overlapping" if sign > 0 else "inverted",
                "error",
                f"the surface intersects itself: about {volume:.2g} m3 would be counted {what}, for example at "
                f"{facts.place(depths.middle[np.flatnonzero(bad)[0]])}. Unite the parts in the CAD program",
            )


def _find_nesting_errors(facts: SurfaceAnalysis) -> Iterator[MeshFinding]:
    """Check how several closed shells are nested: voids inside solids, everything else separate."""
    voids, solids, cubic = [], [], facts.meters**3
    for number, volume, around, _ in facts.nesting:
        where = f"shell {number} (of {facts.shells}, at {facts.shell_location(number)})"
        if volume > 0 and around == 0:
            solids.append(number)
        elif volume < 0 and around == 1:
            voids.append(-volume * cubic)
        elif volume > 0:
            yield MeshFinding(
                "nested",
                "error",
                f"{where} lies inside another and faces outward like it: is it a void, or a second solid? As it "
                f"stands its {volume * cubic:.4g} m3 would be counted {round(around) + 1:d} times. For a void pass "
                "repair='flip'; for a solid delete it, since the outer one already fills that region",
            )
        elif volume < 0:
            yield MeshFinding(
                "inverted",
                "error",
                f"{where} faces inward, but lies in no other: its {-volume * cubic:.4g} m3 would be counted "
                "negatively. Pass repair='flip'",
            )
        elif facts.areas[facts.shell == number].any():
            yield MeshFinding("flat", "warning", f"{where} encloses no volume: it adds only area")
    if voids:
        yield MeshFinding("void", "note", f"{count_phrase(len(voids), 'void')}, {sum(voids):.6g} m3, counted as empty")
    if len(solids) > 1:
        yield MeshFinding("pieces", "note", f"{len(solids)} pieces that share no edge, treated as one rigid body")


def _has_errors(found: list[MeshFinding]) -> bool:
    return any(f.level == "error" for f in found)


def _limit_findings(found: list[MeshFinding]) -> list[MeshFinding]:
    """The first three of each kind, and how many more there are."""
    result, counts = [], Counter((f.kind, f.level) for f in found)
    seen: Counter[tuple[str, str]] = Counter()
    for f in found:
        seen[f.kind, f.level] += 1
        if seen[f.kind, f.level] <= 3:
            result.append(f)
        elif seen[f.kind, f.level] == 4:
            more = counts[f.kind, f.level] - 3
            result.append(
                MeshFinding(
                    f.kind, f.level, f"and {count_phrase(more, 'shell')} more like {by_count(more, 'this', 'these')}"
                )
            )
    return result


def check_center_of_mass(facts: SurfaceAnalysis, found: list[MeshFinding]) -> list[MeshFinding]:
    """An error if the center of mass lies outside the convex hull, whatever the cause."""
    if not (facts.edges.uses % 2 == 0).all() or facts.inside.extent == 0:
        return []
    vertices, center = facts.surface.vertices, facts.inside.center
    low, high = facts.surface.box
    if (center >= low).all() and (center <= high).all():
        is_fine = all(f.level != "error" for f in found)
        if (is_fine and len(vertices) > MAX_HULL_VERTICES) or facts.is_in_hull(center):
            return []
    sentence = f"the center of mass would lie at {facts.place(center)}, outside the convex hull, which is impossible"
    return [MeshFinding("center", "error", sentence)]
