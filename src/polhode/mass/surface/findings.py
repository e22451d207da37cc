"""What is wrong with a surface, in sentences: open, inconsistent, inside out, overlapping, degenerate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from polhode.mass.geometry import Flags, Indices
from polhode.mass.surface.contact import deepest_contact
from polhode.mass.surface.edges import holes, looking_one_way
from polhode.mass.surface.facts import FLAT, NEGLIGIBLE, Facts, place
from polhode.mass.surface.soundings import sounded

TOUCHING = 1e-6
"""Shells that reach through each other by less than this part of the size touch, as far as files of single precision
can tell."""
THIN = 0.1
"""A wall is thin if its thickness is less than this part of the size."""
FEW = 20_000
"""Corners up to which the convex hull is worth its time."""


@dataclass(frozen=True)
class Finding:
    """One thing that was found: its kind, how bad it is ("error", "warning" or "note"), and the sentence."""

    kind: str
    level: str
    sentence: str


def of_a_solid(facts: Facts) -> list[Finding]:
    """All that can be said about a surface as the border of a solid."""
    found = [*degenerate(facts), *there_twice(facts)]
    found += unbalanced(facts) if not facts.edges.are_closed else insides(facts)
    return found + center(facts, found)


def of_a_wall(facts: Facts, thickness: float | None = None) -> list[Finding]:
    """All that can be said about a surface as a thin wall, which may be open and have no outside."""
    return [*degenerate(facts), *there_twice(facts, as_a_wall=True), *thick(facts, thickness)]


# Faces -------------------------------------------------------------------------------------------------------------


def degenerate(facts: Facts) -> Iterator[Finding]:
    flat = np.flatnonzero(facts.areas == 0)
    if len(flat) == len(facts.areas):
        yield Finding("degenerate", "error", f"none of the {len(flat)} faces of {facts.name} has an area")
    elif len(flat):
        yield Finding(
            "degenerate",
            "warning",
            f"{_several(len(flat), 'face')} of {len(facts.areas)} {_has(len(flat))} no area (the first is number "
            f"{flat[0]}, about {facts.about(flat[0])}): nothing is lost with them, but what made them may have "
            "lost something",
        )


def there_twice(facts: Facts, as_a_wall: bool = False) -> Iterator[Finding]:
    """Faces with the same three corners."""
    edges = facts.edges
    crowded = (edges.uses > 2) | ((edges.uses == 2) & (edges.balance != 0)) | (as_a_wall & (edges.uses == 2))
    if not crowded.any():
        return
    some = np.unique(edges.face[edges.some(crowded)])
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
    turns = np.where(_is_even(corners), 1, -1)
    net = np.bincount(group, turns, minlength=len(counts))
    cancels = bool((np.abs(net[again]) <= 1).all())
    sentence = (
        f"{_several(len(again), 'face')} {_is(len(again))} there more than once, for example {first[0]} and "
        f"{first[1]}, about {facts.about(first[0])}"
    )
    if as_a_wall or not cancels:
        yield Finding("duplicate", "error", f"{sentence}: what they border is counted twice. Delete the copies")
    else:
        yield Finding(
            "duplicate",
            "warning",
            f"{sentence}, looking opposite ways: they cancel, and only the area counts them",
        )


def thick(facts: Facts, thickness: float | None) -> Iterator[Finding]:
    """A wall that is not thin."""
    if thickness is not None and thickness > facts.size * THIN:
        yield Finding(
            "thick",
            "warning",
            f"the wall is {thickness:g} m thick, and the part {facts.size:.4g} m long: the numbers are those of a thin "
            "wall. Was the thickness meant in another unit?",
        )


# Edges -------------------------------------------------------------------------------------------------------------


def unbalanced(facts: Facts) -> Iterator[Finding]:
    edges = facts.edges
    unbalanced = edges.balance != 0
    torn = unbalanced & (edges.uses == 1)
    odd = unbalanced & (edges.uses > 2) & (edges.uses % 2 == 1)
    against = unbalanced & (edges.uses % 2 == 0)
    if torn.any():
        found = holes(edges, facts.surface.vertices)
        count, length, middle = found[0]
        number = int(torn.sum())
        yield Finding(
            "open",
            "error",
            f"{_several(number, 'edge')} {_is(number)} open, round {_several(len(found), 'hole')}; "
            f"the longest is {length:.4g} m long, of {count} edges about {place(middle)}. What lies inside is not "
            "defined: close the surface, or pass repair='fill'; if it is a thin wall, pass shell= or area_density=",
        )
    if odd.any():
        yield Finding(
            "crowded",
            "error",
            f"{_several(int(odd.sum()), 'edge')} {_has(int(odd.sum()))} three or more faces, for example about "
            f"{facts.about_edge(odd)}: the border of a solid has two at each. Delete fins and copies",
        )
    if against.any():
        yield _against(facts, against)


def _against(facts: Facts, against: Flags) -> Finding:
    turned = looking_one_way(facts.edges, len(facts.surface.faces))
    if turned is None:
        return Finding(
            "one-sided",
            "error",
            "the surface has one side only, like a Moebius band: it has no inside, and no repair can give it one",
        )
    wrong = np.flatnonzero(turned)
    if not len(wrong):
        wrong = facts.edges.face[facts.edges.some(against)]
    return Finding(
        "inconsistent",
        "error",
        f"{_several(len(wrong), 'face')} of {len(turned)} {_look(len(wrong))} neighbours, for example face "
        f"{wrong[0]} about {facts.about(wrong[0])}: volume and centre of mass are wrong, even where the surface is "
        "closed. Pass repair='flip'",
    )


# Insides -----------------------------------------------------------------------------------------------------------


def insides(facts: Facts) -> Iterator[Finding]:
    """A closed surface: is each place inside it at most once?"""
    volume, area = facts.inside.extent, facts.area
    if facts.shells == 1 and volume < -FLAT * area * facts.size:
        yield Finding(
            "inverted",
            "error",
            f"all faces of {facts.name} look inwards: its volume is {volume:.6g} m3. Pass repair='flip'",
        )
        return
    found = list(_shells(facts)) if facts.shells > 1 else []
    yield from found
    if any(f.level == "error" for f in found):
        return
    if abs(volume) <= FLAT * area * facts.size:
        yield Finding(
            "flat",
            "error",
            f"{facts.name} encloses no volume: it is flat, or folded onto itfacts. For a thin wall pass shell= or "
            "area_density=",
        )
        return
    yield from _depths(facts)


def _depths(facts: Facts) -> Iterator[Finding]:
    depths = sounded(facts.surface)
    real = depths.length > TOUCHING * facts.size
    for sign, what in ((1, "more than once"), (-1, "negatively")):
        bad = real & ((depths.winding > 1) if sign > 0 else (depths.winding < 0))
        if bad.any():
            volume = float(depths.length[bad].sum()) * depths.area
            yield Finding(
                "overlapping" if sign > 0 else "inverted",
                "error",
                f"the surface runs through itself: about {volume:.2g} m3 would be counted {what}, for example at "
                f"{place(depths.middle[np.flatnonzero(bad)[0]])}. Unite the parts in the program that drew them",
            )


def _shells(facts: Facts) -> Iterator[Finding]:
    """Several closed surfaces: which are voids, and do any overlap?"""
    contact = deepest_contact(facts.surface, facts.shell)
    if contact is not None and contact.depth > NEGLIGIBLE * facts.size:
        one, two = (int(facts.shell[f]) for f in contact.faces)
        faces = f"faces {contact.faces[0]} and {contact.faces[1]}"
        where = f"shells {one} and {two} run through each other about {place(contact.place)} ({faces})"
        if contact.depth > TOUCHING * facts.size:
            yield Finding(
                "overlapping",
                "error",
                f"{where}: what lies in both would be counted twice. Unite them in the program that drew them",
            )
            return
        yield Finding(
            "touching",
            "warning",
            f"{where}, by {contact.depth:.2g} m: they are taken to touch, and none is cut off",
        )
    voids, solids = [], []
    for number, volume, around, _ in facts.nesting:
        where = f"shell {number} (of {facts.shells}, about {facts.about_shell(number)})"
        if volume > 0 and around == 0:
            solids.append(number)
        elif volume < 0 and around == 1:
            voids.append(-volume)
        elif volume > 0:
            yield Finding(
                "nested",
                "error",
                f"{where} lies inside another and looks outwards like it: is it a void, or a second solid? As it "
                f"stands its {volume:.4g} m3 would be counted {round(around) + 1:d} times. For a void pass "
                "repair='flip'; for a solid delete it, since the outer one fills that place already",
            )
        elif volume < 0:
            yield Finding(
                "inverted",
                "error",
                f"{where} looks inwards, but lies in no other: its {-volume:.4g} m3 would be counted negatively. "
                "Pass repair='flip'",
            )
        elif facts.areas[facts.shell == number].any():
            yield Finding("flat", "warning", f"{where} encloses no volume: it adds nothing but area")
    if voids:
        yield Finding("void", "note", f"{_several(len(voids), 'void')}, {sum(voids):.6g} m3, counted as empty")
    if len(solids) > 1:
        yield Finding("pieces", "note", f"{len(solids)} pieces that share no edge, counted as one rigid body")


# The centre --------------------------------------------------------------------------------------------------------


def center(facts: Facts, found: list[Finding]) -> list[Finding]:
    """A centre of mass outside of the convex hull: a last sign that something is wrong."""
    if not (facts.edges.uses % 2 == 0).all() or facts.inside.extent == 0:
        return []
    vertices, center = facts.surface.vertices, facts.inside.center
    if (center >= vertices.min(axis=0)).all() and (center <= vertices.max(axis=0)).all():
        is_fine = all(f.level != "error" for f in found)
        if (is_fine and len(vertices) > FEW) or facts.is_in_hull(center):
            return []
    sentence = f"the centre of mass would lie at {place(center)}, outside of the convex hull, where no body has it"
    return [Finding("center", "error", sentence)]


def _is_even(corners: Indices) -> Flags:
    """Whether the three numbers of each row are an even permutation of their rising order."""
    a, b, c = corners.T
    even: Flags = ~((a < b) ^ (b < c) ^ (c < a))
    return even


def _several(count: int, thing: str) -> str:
    return f"{count} {thing}" + ("" if count == 1 else "s")


def _look(count: int) -> str:
    return "looks the other way than its" if count == 1 else "look the other way than their"


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


def _has(count: int) -> str:
    return "has" if count == 1 else "have"
