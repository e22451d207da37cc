"""The bodies or members of a motion that are exported, and their appearance."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polhode.errors import InputError
from polhode.massprops.appearance import Appearance, appearance_of
from polhode.massprops.geometry import Surface
from polhode.scenario.members import select_body_members
from polhode.scenario.state import stack_components
from polhode.validation import Array

if TYPE_CHECKING:
    from polhode.results.trajectory import Trajectory

PARTICLE_RADIUS_IN_PATHS = 1 / 40
"""Radius of a particle's ball, relative to the extent of all paths ..."""
PARTICLE_RADIUS_IN_SOLIDS = 1 / 2
"""... or to the smallest solid, if there is one."""


class ExportedBody(NamedTuple):
    """A body or member, and its appearance."""

    number: int
    name: str
    appearance: Appearance
    surface: Surface
    """The surface to draw; for a particle a scaled ball."""


def select_exported_bodies(motion: Trajectory) -> list[ExportedBody]:
    """All bodies or members except members that failed, which raise a warning."""
    if len(motion.times) == 0:
        raise InputError("the run stopped before its first output time: there is nothing to export")
    numbers = _valid_members(motion)
    appearances = _shared_appearances(motion, numbers)
    radius = _particle_radius(stack_components(motion.state_view.position)[:, numbers], appearances)
    balls: dict[int, Surface] = {}
    found = []
    for number, appearance in zip(numbers, appearances, strict=True):
        surface = appearance.surface
        if appearance.kind == "particle":
            surface = balls.setdefault(id(surface), Surface(radius * surface.vertices, surface.faces))
        found.append(ExportedBody(number, _body_name(motion, number), appearance, surface))
    return found


def _body_name(motion: Trajectory, number: int) -> str:
    return motion.scenario.name or "body" if motion.axis is None else f"{motion.axis} {number}"


def _valid_members(motion: Trajectory) -> list[int]:
    """Indices of those whose states are finite to the end, or until an event stopped them."""
    finite: Any = np.isfinite(motion.run_result.samples).all(axis=-1)
    stopped = np.isin(np.arange(finite.shape[1]), [c.body for c in motion.run_result.crossings if c.ends])
    well: Any = np.where(stopped, finite[0], finite.all(axis=0))
    failed = np.flatnonzero(~well)
    if len(failed) == len(well):
        raise InputError("no member reached its end: there is nothing to export")
    if len(failed):
        which = f"member {failed[0]} has failed and is"
        if len(failed) > 1:
            which = f"{len(failed)} members have failed, the first of them member {failed[0]}, and are"
        warnings.warn(f"{which} left out: not all states are finite", stacklevel=5)
    numbers: list[int] = np.flatnonzero(well).tolist()
    return numbers


def _shared_appearances(motion: Trajectory, numbers: list[int]) -> list[Appearance]:
    """One appearance for each; equal ones are the same object."""
    bodies = motion.scenario.bodies
    if motion.axis == "member" and bodies[0].members is None:
        return [appearance_of(bodies[0])] * len(numbers)
    found = []
    known: dict[tuple[str, bytes, bytes], Appearance] = {}
    by_body: dict[int, Appearance] = {}
    for i in numbers:
        body = select_body_members(bodies[0], i) if motion.axis == "member" else bodies[i]
        if motion.axis == "member" or id(body) not in by_body:
            appearance = appearance_of(body)
            key = (appearance.kind, appearance.surface.vertices.tobytes(), appearance.surface.faces.tobytes())
            by_body[id(body)] = known.setdefault(key, appearance)
        found.append(by_body[id(body)])
    return found


def _particle_radius(positions: Array, appearances: list[Appearance]) -> float:
    """The radius of a particle's ball, in m."""
    solids = [appearance.size for appearance in appearances if appearance.kind != "particle"]
    if solids:
        return PARTICLE_RADIUS_IN_SOLIDS * min(solids)
    places = positions[np.isfinite(positions).all(axis=-1)]
    return PARTICLE_RADIUS_IN_PATHS * float(np.ptp(places, axis=0).max()) or 1.0
