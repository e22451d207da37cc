"""Notes and event markers of the page."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.massprops.appearance import Appearance
from polhode.results.contact_patches import varies_between_members
from polhode.results.impacts import FAINT
from polhode.results.trajectory import Trajectory
from polhode.scenario.contact import HalfSpace

MAX_APPEARANCES = 50
"""Up to this many members with different shapes are drawn individually; more are all drawn as the first."""
MAX_FACES = 60_000
"""Larger meshes are decimated."""
MAX_EVENT_MARKERS = 500
"""Maximum number of events on the time axis."""


def count_members(motion: Trajectory) -> int:
    """Number of members; 1 for a body or a system."""
    return motion.scenario.count if motion.axis == "member" else 1


def collect_event_markers(motion: Trajectory) -> list[dict[str, Any]]:
    """The first events, impulses and impacts of the bodies shown, in order of time."""
    found: list[dict[str, Any]] = [
        {"name": c.name, "time": c.time, "body": c.body} for c in motion.run_result.crossings
    ]
    for f in motion.scenario.acting_forces:
        if f.kind == "impulse":
            times = np.broadcast_to(np.asarray(f.arguments["time"], dtype=float), (count_members(motion),))
            bodies = (
                range(count_members(motion)) if motion.axis == "member" else f.bodies or range(motion.scenario.count)
            )
            found += [
                {"name": f.name, "time": float(times[i if motion.axis == "member" else 0]), "body": i} for i in bodies
            ]
    if motion.scenario.contacts:
        impacts = motion.impacts.marked
        whose = impacts.member if motion.axis == "member" else impacts.body
        rows = zip(impacts.surface.tolist(), impacts.time.tolist(), whose.tolist(), strict=True)
        found += [{"name": f"impact, {name}", "time": time, "body": i} for name, time, i in dict.fromkeys(rows)]
    found.sort(key=lambda c: c["time"])
    return found[:MAX_EVENT_MARKERS]


def compose_notes(motion: Trajectory, shown: Trajectory, appearances: list[Appearance]) -> list[str]:
    """Sentences about what is omitted or simplified."""
    sentences, drawn = [], shown.scenario.count
    count, kept, things = motion.scenario.count, len(shown.times), "bodies" if motion.axis == "body" else "members"
    if kept < len(motion.times):
        sentences.append(f"{kept:,} of {len(motion.times):,} outputs are shown.")
    elif kept > len(motion.times):
        what = "The motion was computed again for the page and" if motion.scenario.contacts else "The closed form"
        sentences.append(f"{what} is shown at {kept:,} times; the motion has {len(motion.times):,} outputs.")
    elif kept == 1:
        sentences.append("The motion has only one output; simulate with output_step to see it move.")
    if drawn < count:
        sentences.append(f"{drawn:,} of {count:,} {things} are shown and audited here.")
    if motion.axis == "member" and motion.scenario.bodies[0].members is not None and drawn > MAX_APPEARANCES:
        sentences.append("All members are drawn with the shape of the first one, although their bodies differ.")
    faces = max(len(appearance.surface.faces) for appearance in appearances)
    if faces > MAX_FACES:
        sentences.append(f"A mesh of {faces:,} faces is drawn with fewer faces; small features are lost.")
    course = motion.scenario.mass_course
    if course is not None and course.moves_center:
        sentences.append(
            "The center of mass moves within the body; the body is drawn as if it stayed. Files of meshes "
            "(export_paraview, export_gltf, ...) show where it is."
        )
    if len(shown.run_result.crossings) > MAX_EVENT_MARKERS:
        sentences.append(f"Of {len(shown.run_result.crossings):,} events, the first {MAX_EVENT_MARKERS} are marked.")
    if shown.scenario.contacts:
        sentences += _describe_contacts(shown)
    stopped = len({c.body for c in shown.run_result.crossings if c.ends}) if motion.axis == "member" else 0
    if stopped:
        sentences.append(f"{stopped:,} of the members shown were stopped by an event and keep their final state.")
    failed = int((~np.isfinite(shown.position.reshape(kept, drawn, 3)).all(axis=(0, 2))).sum())
    if failed:
        sentences.append(f"{failed:,} of the {things} shown did not finish; they are not drawn after they failed.")
    if motion.unknown_forces:
        sentences.append(f"The file could not store {', '.join(motion.unknown_forces)}, so its arrow is not drawn.")
    if (
        any(f.kind == "impulse" for f in motion.scenario.acting_forces)
        and not shown.scenario.used_method.is_closed_form
    ):
        sentences.append("Impulses are drawn as a smooth transition between the outputs before and after them.")
    sentences.append(
        "Numbers on this page are rounded to single precision; the motion itself, and the Zarr file written by "
        "motion.save, have full precision."
    )
    return sentences


def _describe_contacts(motion: Trajectory) -> list[str]:
    """Impacts that are not shown, and floors that differ between members."""
    sentences, (count, lost, _) = [], (np.sum(part) for part in motion.impact_totals)
    if count and not len(motion.impacts):
        sentences.append("The impacts are not shown: an ensemble that keeps only its final states does not keep them.")
    elif count:
        sentences.append(f"At {count:,.0f} points of contact in all impacts, {lost:.3g} J were lost.")
        if len(motion.impacts.marked) < len(motion.impacts):
            sentences.append(f"Impacts with less than {FAINT:g} of the largest impulse are not marked.")
    surfaces = [c for c in motion.scenario.contacts if isinstance(c, HalfSpace)]
    if varies_between_members(surfaces):
        sentences.append("The members' floors differ: that of the first member is drawn.")
    return sentences
