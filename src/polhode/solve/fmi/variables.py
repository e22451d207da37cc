"""The variables of an FMU: inputs, fixed parameters and outputs, with units, in the order of their value references."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from polhode.massprops.body import Body
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State

UNITS = {
    "s": {"s": 1},
    "m": {"m": 1},
    "m/s": {"m": 1, "s": -1},
    "rad/s": {"rad": 1, "s": -1},
    "kg": {"kg": 1},
    "kg.m2": {"kg": 1, "m": 2},
    "N": {"kg": 1, "m": 1, "s": -2},
    "N.m": {"kg": 1, "m": 2, "s": -2},
    "J": {"kg": 1, "m": 2, "s": -2},
}
"""The exponents of the base units of each unit."""

BODY_SETTINGS = 20
"""Mass, inertia, and the start of a body: as many numbers."""
TENSOR_ENTRIES = {"xx": (0, 0), "yy": (1, 1), "zz": (2, 2), "xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}


class FmiVariable(NamedTuple):
    """A variable: a number, or a vector of numbers whose value references follow each other."""

    name: str
    reference: int
    causality: str
    """ "input", "parameter", "output" or "independent"."""
    unit: str
    """Empty for a number without unit."""
    description: str
    start: tuple[float, ...]
    """Of an output, what it is at the start is not known here: its size counts."""
    is_vector: bool = True

    @property
    def names(self) -> list[str]:
        """A name for each number."""
        return [f"{self.name}[{i + 1}]" for i in range(len(self.start))] if self.is_vector else [self.name]


def fmi_variables(scenario: Scenario) -> list[FmiVariable]:
    """All variables of a scenario; what has no meaning for it keeps its value references, but is not listed."""
    found, reference = [], 0
    for name, causality, unit, description, start, is_vector in _listed(scenario):
        if not _is_meaningless(name, scenario):
            found.append(FmiVariable(name, reference, causality, unit, description, start, is_vector))
        reference += len(start)
    return found


def _is_meaningless(name: str, scenario: Scenario) -> bool:
    """Whether the velocity follows from the angular velocity, about a pivot; or a particle does not turn."""
    prefix, _, own = name.rpartition(".")
    body = scenario.bodies[int(prefix.removeprefix("body")) - 1 if prefix else 0]
    is_spin = own.startswith("inertia_") or own == "start_angular_velocity_body"
    if scenario.pivot is not None:
        return own == "start_velocity" or (body.is_particle and own.startswith("inertia_"))
    return body.is_particle and is_spin


def _listed(scenario: Scenario) -> Iterator[tuple[str, str, str, str, tuple[float, ...], bool]]:
    zero, one = (0.0,) * 3, (0.0,)
    yield "time", "independent", "s", "Time", (scenario.start_time,), False
    prefixes = [f"body{i + 1}." for i in range(len(scenario.bodies))] if scenario.is_system else [""]
    for prefix in prefixes:
        yield f"{prefix}force", "input", "N", "Force at the center of mass, world axes", zero, True
        yield f"{prefix}torque", "input", "N.m", "Torque about the center of mass, world axes", zero, True
        yield f"{prefix}force_body", "input", "N", "Force at the center of mass, body axes", zero, True
        yield f"{prefix}torque_body", "input", "N.m", "Torque about the center of mass, body axes", zero, True
    for prefix, body, state in zip(prefixes, scenario.bodies, scenario.states, strict=True):
        yield from _settings(prefix, body, state)
    if scenario.used_method.needs_step:
        yield "step", "parameter", "s", f"Internal step of the method {scenario.method}", (scenario.needed_step,), False
    for prefix in prefixes:
        yield f"{prefix}position", "output", "m", "Position of the center of mass, world axes", zero, True
        yield f"{prefix}quaternion", "output", "", "Orientation, body to world: w, x, y, z", (0.0,) * 4, True
        yield f"{prefix}velocity", "output", "m/s", "Velocity of the center of mass, world axes", zero, True
        yield f"{prefix}angular_velocity", "output", "rad/s", "Angular velocity, world axes", zero, True
        yield f"{prefix}angular_velocity_body", "output", "rad/s", "Angular velocity, body axes", zero, True
        if scenario.is_system:
            yield f"{prefix}kinetic_energy", "output", "J", "Kinetic energy", one, False
    yield "kinetic_energy", "output", "J", "Kinetic energy" + " of all bodies" * scenario.is_system, one, False
    yield "potential_energy", "output", "J", "Potential energy of the forces that have one", one, False
    yield "total_energy", "output", "J", "Kinetic plus potential energy", one, False


def _settings(prefix: str, body: Body, state: State) -> Iterator[tuple[str, str, str, str, tuple[float, ...], bool]]:
    numbers = body_settings(body, state)
    yield f"{prefix}mass", "parameter", "kg", "Mass", (numbers[0],), False
    for (entry, _), value in zip(TENSOR_ENTRIES.items(), numbers[1:7], strict=True):
        about = f"Entry {entry} of the inertia tensor about the center of mass, body axes"
        yield f"{prefix}inertia_{entry}", "parameter", "kg.m2", about, (value,), False
    yield f"{prefix}start_position", "parameter", "m", "Position at the start, world axes", numbers[7:10], True
    yield f"{prefix}start_quaternion", "parameter", "", "Orientation at the start: w, x, y, z", numbers[10:14], True
    yield f"{prefix}start_velocity", "parameter", "m/s", "Velocity at the start, world axes", numbers[14:17], True
    spin = "Angular velocity at the start, body axes"
    yield f"{prefix}start_angular_velocity_body", "parameter", "rad/s", spin, numbers[17:20], True


def body_settings(body: Body, state: State) -> tuple[float, ...]:
    """Mass, the six entries of the inertia tensor, and the start of a body."""
    entries = [body.inertia_body[at] for at in TENSOR_ENTRIES.values()]
    start: Sequence[np.ndarray] = (state.position, state.quaternion_wxyz, state.velocity, state.angular_velocity_body)
    return tuple(float(x) for x in (body.mass, *entries, *np.concatenate(start)))
