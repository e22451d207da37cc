"""Measured tosses of a cube: reading them, and the free flight before the first contact in closed form.

All principal moments of the cube are equal, so that in flight its center of mass moves on a parabola and its angular
velocity is constant.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

DATA = Path(__file__).parent / "data" / "cube_tosses" / "tosses.npz"
RATE = 148.0
"""Samples per second."""
GRAVITY = 9.81
HALF_WIDTH = 0.0524
"""Of the cube, in m; also the unit of length in which the tosses are published."""
FLIGHT_SAMPLES = 12
"""At most so many samples before the first contact are fitted: longer flights feel the air."""
_CORNERS = np.array(list(product((-1.0, 1.0), repeat=3)))


@dataclass(frozen=True)
class Cube:
    """What is assumed of the cube, in SI units; positions in the data are of its geometric center."""

    name: str
    length_unit: float = HALF_WIDTH
    """In which the published positions are read, in m."""
    center_of_mass: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """From the geometric center, body axes."""
    moment: float = 8.1e-4
    rounding: float = 0.0
    """Radius of the edges and corners."""
    mass: float = 0.37
    half_width: float = HALF_WIDTH


@dataclass(frozen=True)
class Flight:
    """Free flight of the center of mass through samples: position, orientation, velocities at time 0, residuals rms."""

    position: Any
    velocity: Any
    orientation: Rotation
    angular_velocity: Any
    """World axes."""
    position_rms: float
    angle_rms: float

    def at(self, t: float) -> tuple[Any, Rotation, Any]:
        """Position, orientation and velocity of the center of mass at time t."""
        fall = np.array([0.0, 0.0, -GRAVITY])
        position = self.position + self.velocity * t + fall * t * t / 2
        return position, Rotation.from_rotvec(self.angular_velocity * t) * self.orientation, self.velocity + fall * t


@dataclass(frozen=True)
class Toss:
    """One toss: samples of the geometric center, and the flight before contact."""

    name: str
    position: Any
    orientation: Rotation
    first: int
    """Index of the last sample but one before the first contact."""
    flight: Flight
    """Its time 0 is that sample."""
    contact: float
    """When the lowest corner of a sharp cube reaches the floor, in s after that sample."""


def fit_flight(t: Any, position: Any, orientation: Rotation) -> Flight:
    """The free flight nearest to samples, by least squares."""
    basis = np.stack([np.ones_like(t), t], axis=1)
    raised = position + np.multiply.outer(t * t / 2, [0.0, 0.0, GRAVITY])
    (start, velocity), *_ = np.linalg.lstsq(basis, raised, rcond=None)
    spin = np.zeros(3)
    at_zero = orientation[int(np.argmin(abs(t)))]
    for _ in range(6):  # small corrections, seen from the world
        turned = Rotation.from_rotvec(np.multiply.outer(t, spin)) * at_zero
        difference = (orientation * turned.inv()).as_rotvec()
        (offset, rate), *_ = np.linalg.lstsq(basis, difference, rcond=None)
        at_zero, spin = Rotation.from_rotvec(offset) * at_zero, spin + rate
    misses = raised - basis @ np.array([start, velocity])
    return Flight(start, velocity, at_zero, spin, float(np.sqrt(np.mean(misses**2))), float(np.std(difference)))


def corner_heights(position: Any, orientation: Rotation, half_width: float) -> Any:
    """Heights of the eight corners of a sharp cube above the floor."""
    down = orientation.as_matrix()[..., 2, :]
    return np.asarray(position)[..., 2, None] + half_width * down @ _CORNERS.T


def read_tosses(cube: Cube, path: Path = DATA) -> list[Toss]:
    """All tosses of a file, in m, with the flight before the first contact of a sharp cube."""
    with np.load(path) as file:
        return [_read_toss(name, np.asarray(file[name], dtype=float), cube) for name in sorted(file.files)]


def _read_toss(name: str, rows: Any, cube: Cube) -> Toss:
    position, orientation = rows[:, :3] * cube.length_unit, Rotation.from_quat(rows[:, 3:7], scalar_first=True)
    under = corner_heights(position, orientation, cube.half_width).min(axis=1) < 0
    first = int(np.argmax(under)) - 2
    window = slice(max(0, first + 2 - FLIGHT_SAMPLES), first + 2)
    t = (np.arange(len(rows)) - first) / RATE
    mass_center = position + orientation.apply(cube.center_of_mass)
    flight = fit_flight(t[window], mass_center[window], orientation[window])
    return Toss(name, position, orientation, first, flight, _contact_time(flight, cube))


def _contact_time(flight: Flight, cube: Cube) -> float:
    """When the lowest corner of the sharp cube reaches the floor, by bisection."""

    def lowest(t: float) -> float:
        position, orientation, _ = flight.at(t)
        center = position - orientation.apply(cube.center_of_mass)
        return float(corner_heights(center, orientation, cube.half_width).min())

    low, high = 0.0, 3 / RATE
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if lowest(middle) > 0 else (low, middle)
    return low
