"""Validation of forces over an Earth: all that act on a body take the same one, and it starts where they are known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.equations.force_laws import magnetic_torquer_over_earth
from polhode.errors import ScenarioError
from polhode.scenario.earth import EARTHS, Earth
from polhode.scenario.force import Force, flatten_leaves

if TYPE_CHECKING:
    from polhode.scenario.scenario import Scenario
    from polhode.validation import Array

DEEPEST = 0.9
"""In radii of the Earth: closer to its center the laws of the air do not find the height."""


def validate_earths(scenario: Scenario) -> None:
    """Refuse forces on one body that disagree about the Earth, and starts at its center."""
    if not any(f.environment is not None or f.kernel is magnetic_torquer_over_earth for f in scenario.forces):
        return
    for number, state in enumerate(scenario.states):
        acting = [f for f in scenario.forces if f.kind == "body" and (f.bodies is None or number in f.bodies)]
        which = f"body {number}" if scenario.is_system else "the body"
        _validate_agreement(acting, which)
        _validate_place(acting, np.atleast_2d(state.position), which)


def distinct_earths(forces: Iterable[Force]) -> list[Earth]:
    """The Earths that forces take, in their order; those that differ by nothing but their name count once."""
    found: dict[Earth, Earth] = {}
    for f in forces:
        if (earth := _earth_of(f)) is not None:
            found.setdefault(replace(earth, name=""), earth)
    return list(found.values())


def _earth_of(f: Force) -> Earth | None:
    earth: Earth | None = None if f.environment is None else f.environment.earth
    return earth


def _validate_agreement(acting: list[Force], which: str) -> None:
    earths = distinct_earths(acting)
    if not earths:
        return
    first = next(f for f in acting if _earth_of(f) is not None)
    taken = f"{first.name} takes the Earth {earths[0].name}"
    if len(earths) > 1:
        other = next(f for f in acting if len(distinct_earths((first, f))) > 1)
        raise ScenarioError(
            f"the forces on {which} disagree: {taken}, but {other.name} takes {earths[1].name}. Give both the same "
            f"one, earth=..."
        )
    for f in acting:
        if f.environment is not None and f.environment.earth is None:
            raise ScenarioError(
                f"the forces on {which} disagree: {taken}, but {f.name} has none and takes the ground as flat, z as "
                f"the height, and air that does not turn. Give it earth={_written(earths[0])} too"
            )
        if f.uniform and any(np.any(leaf) for leaf in flatten_leaves(f.params)):
            raise ScenarioError(
                f"the forces on {which} disagree: {taken}, whose center is the origin of the world, but {f.name} is "
                "uniform, over flat ground. "
                + (
                    f"Leave {f.name} out"
                    if any(one.name == "earth_gravity" for one in acting)
                    else f"Take earth_gravity(earth={_written(earths[0])}) instead of {f.name}, or leave earth out of "
                    f"{first.name}"
                )
                + ". A uniform acceleration that is meant, write with @ph.force"
            )


def _written(earth: Earth) -> str:
    return f'"{earth.name}"' if EARTHS.get(earth.name) == earth else earth.name


def _validate_place(acting: list[Force], positions: Array, which: str) -> None:
    distance = np.linalg.norm(positions, axis=-1)
    for f in acting:
        earth = _earth_of(f)
        if earth is None and f.kernel is not magnetic_torquer_over_earth:
            continue
        has_air: Any = f.environment is not None and f.environment.air is not None
        least = DEEPEST * earth.radius if earth is not None and has_air else 0.0
        too_near = (distance == 0) | (distance < least)
        if too_near.any():
            at = int(np.argmax(too_near))
            who = f"member {at} of {which}" if len(positions) > 1 else which
            place = (
                "at the Earth's center"
                if distance[at] == 0
                else f"inside the Earth, {distance[at]:g} m from its center"
            )
            raise ScenarioError(
                f"{who} starts {place}, where {f.name} is unknown: give the start with ph.State.from_geodetic(latitude,"
                " longitude, height), or in a file with latitude_deg, longitude_deg and height"
            )
