"""What the page says about a motion in words: what is left out, what stands for something else, what happened."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.massprops.appearance import Appearance
from polhode.results.trajectory import Trajectory

MAX_APPEARANCES = 50
"""Of so many members whose shapes differ each is drawn as itself; of more, all as the first."""
MAX_FACES = 60_000
"""Of a mesh that is drawn as it is."""
MAX_EVENT_MARKERS = 500
"""Of events on the time axis."""


def count_members(motion: Trajectory) -> int:
    """How many members; 1 for a body or a system."""
    return motion.scenario.count if motion.axis == "member" else 1


def collect_event_markers(motion: Trajectory) -> list[dict[str, Any]]:
    """Events and blows of the bodies shown, in the order of time, as many as can be told apart."""
    found: list[dict[str, Any]] = [
        {"name": c.name, "time": c.time, "body": c.body} for c in motion.run_result.crossings
    ]
    for f in motion.scenario.forces:
        if f.kind == "impulse":
            times = np.broadcast_to(np.asarray(f.arguments["time"], dtype=float), (count_members(motion),))
            who = range(count_members(motion)) if motion.axis == "member" else f.bodies or range(motion.scenario.count)
            found += [
                {"name": f.name, "time": float(times[i if motion.axis == "member" else 0]), "body": i} for i in who
            ]
    found.sort(key=lambda c: c["time"])
    return found[:MAX_EVENT_MARKERS]


def compose_notes(motion: Trajectory, shown: Trajectory, looks: list[Appearance]) -> list[str]:
    """What is left out, or stands for something else, in sentences."""
    told, drawn = [], shown.scenario.count
    count, kept, things = motion.scenario.count, len(shown.times), "bodies" if motion.axis == "body" else "members"
    if kept < len(motion.times):
        told.append(f"{kept:,} of {len(motion.times):,} outputs are shown.")
    elif kept > len(motion.times):
        told.append(f"The closed form is shown at {kept:,} instants; the motion has {len(motion.times):,} outputs.")
    elif kept == 1:
        told.append("The motion has one output: simulate with output_step to see it move.")
    if drawn < count:
        told.append(f"{drawn:,} of {count:,} {things} are shown, and audited here.")
    if motion.axis == "member" and motion.scenario.bodies[0].members is not None and drawn > MAX_APPEARANCES:
        told.append("All members are drawn as the first one, though their bodies differ.")
    faces = max(len(look.surface.faces) for look in looks)
    if faces > MAX_FACES:
        told.append(f"A mesh of {faces:,} faces is drawn with fewer: its small features are lost here.")
    if len(shown.run_result.crossings) > MAX_EVENT_MARKERS:
        told.append(f"Of {len(shown.run_result.crossings):,} events the first {MAX_EVENT_MARKERS} are marked.")
    stopped = len({c.body for c in shown.run_result.crossings if c.ends}) if motion.axis == "member" else 0
    if stopped:
        told.append(f"{stopped:,} of the members shown were stopped by an event; they stay where that happened.")
    failed = int((~np.isfinite(shown.position.reshape(kept, drawn, 3)).all(axis=(0, 2))).sum())
    if failed:
        told.append(f"{failed:,} of the {things} shown did not come to the end; where they failed they are not drawn.")
    if motion.unknown_forces:
        told.append(f"The file could not hold {', '.join(motion.unknown_forces)}: its arrow is not drawn.")
    if any(f.kind == "impulse" for f in motion.scenario.forces) and shown.scenario.used_method.name != "exact":
        told.append("Between the outputs before and after a blow the page goes smoothly from one to the other.")
    told.append(
        "Numbers on this page are rounded to 32 bits; the original precision stays in the motion, and in the Zarr file "
        "that motion.save writes."
    )
    return told
