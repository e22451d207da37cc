"""What the tosses tell about the cube: `python -m benchmarks.cube_identification`.

Heights at rest and the acceleration in flight give the unit of length, flights and impulses the center of mass, heights
of the first impact the rounding of the corners, and its impulses the moment of inertia, restitution and friction.
No simulation takes part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.cube_flights import (
    FLIGHT_SAMPLES,
    GRAVITY,
    HALF_WIDTH,
    RATE,
    Cube,
    Toss,
    corner_heights,
    fit_flight,
    read_tosses,
)

AFTER = slice(4, 10)
"""Samples after the toss's first one that are taken as the flight after the first impact."""
CLEAR = 0.012
"""The next corner must be at least this high, in m, for an impact of a single corner."""


@dataclass(frozen=True)
class CornerImpact:
    """The first impact of a toss on one corner: body axes to world, corner signs, impulse and change of spin."""

    axes: Any
    corner: Any
    height: float
    """Of the geometric center."""
    impulse: Any
    spin_change: Any
    velocities: tuple[Any, Any]
    spins: tuple[Any, Any]


def flight_fit(tosses: list[Toss]) -> tuple[Any, Any]:
    """Center of mass in the body, and the lack of gravity, that make the flights parabolas; with standard errors."""
    normal, right, squares, count = np.zeros((4, 4)), np.zeros(4), 0.0, 0
    for toss in tosses:
        window = slice(max(0, toss.first + 2 - FLIGHT_SAMPLES), toss.first + 2)
        position, axes = toss.position[window], toss.orientation[window].as_matrix()
        t = np.arange(len(position)) / RATE
        line = np.stack([np.ones_like(t), t], axis=1)
        curved = np.eye(len(t)) - line @ np.linalg.pinv(line)  # removes start and velocity
        lift = np.multiply.outer(t * t / 2, np.array([0.0, 0.0, 1.0]))[..., None]
        columns = np.einsum("ij,jab->iab", curved, np.concatenate([-axes, lift], axis=2)).reshape(-1, 4)
        values = (curved @ (position + GRAVITY * lift[..., 0])).ravel()
        normal, right = normal + columns.T @ columns, right + columns.T @ values
        squares, count = squares + values @ values, count + len(values)
    found = np.linalg.solve(normal, right)
    return found, np.sqrt(np.diag(np.linalg.inv(normal)) * (squares - right @ found) / count)


def corner_impacts(tosses: list[Toss], cube: Cube) -> list[CornerImpact]:
    """First impacts of a single corner with a clean flight after them, at the time where both flights meet."""
    found = []
    for toss in tosses:
        position, orientation = toss.position[toss.first :], toss.orientation[toss.first :]
        mass_center = position + orientation.apply(cube.center_of_mass)
        after = fit_flight(np.arange(len(position))[AFTER] / RATE, mass_center[AFTER], orientation[AFTER])
        if after.position_rms > 1.5e-4 or after.angle_rms > 2e-3:
            continue  # a second contact came soon
        kick = after.velocity - toss.flight.velocity
        t = -(after.position - toss.flight.position) @ kick / (kick @ kick)
        (place, turned, velocity), (_, _, velocity_after) = toss.flight.at(t), after.at(t)
        center = place - turned.apply(cube.center_of_mass)
        heights = corner_heights(center, turned, cube.half_width)
        if np.sort(heights)[1] < CLEAR:
            continue
        axes = turned.as_matrix()
        spins = toss.flight.angular_velocity, after.angular_velocity
        found.append(
            CornerImpact(
                *(axes, -np.sign(axes[2]), center[2], cube.mass * kick, spins[1] - spins[0]),
                *((velocity, velocity_after), spins),
            )
        )
    return found


def rounding_fit(impacts: list[CornerImpact]) -> tuple[float, float]:
    """Radius of the corners, and by how much the floor gives way, from the heights of the center at impact."""
    sums = np.array([abs(impact.axes[2]).sum() for impact in impacts])
    columns = np.stack([sums - 1, np.ones_like(sums)], axis=1)
    (radius, sink), *_ = np.linalg.lstsq(columns, HALF_WIDTH * sums - [impact.height for impact in impacts], rcond=None)
    return float(radius), float(sink)


def impulse_fit(impacts: list[CornerImpact], cube: Cube) -> tuple[Any, Any]:
    """Moment of inertia and center of mass for which the spin changes as the impulse at the corner says; errors."""
    rows, values = [], []
    for impact in impacts:
        arm = impact.axes @ impact.corner * (cube.half_width - cube.rounding) - [0.0, 0.0, cube.rounding]
        # moment dw = (arm - A c) x P, linear in the moment and in c
        rows.append(np.column_stack([impact.spin_change, _cross_matrix(-impact.impulse) @ impact.axes]))
        values.append(np.cross(arm, impact.impulse))
    columns, right = np.concatenate(rows), np.concatenate(values)
    found, rest, *_ = np.linalg.lstsq(columns, right, rcond=None)
    return found, np.sqrt(np.diag(np.linalg.inv(columns.T @ columns)) * rest / len(right))


def _cross_matrix(v: Any) -> Any:
    """So that its product with c is v x c."""
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def impact_coefficients(impacts: list[CornerImpact], cube: Cube) -> Any:
    """Restitution, impulse ratio, and angles of the tangential impulse to the slip before and after, each impact."""
    rows = []
    for impact in impacts:
        arm = impact.axes @ (impact.corner * (cube.half_width - cube.rounding) - np.array(cube.center_of_mass))
        arm = arm - [0.0, 0.0, cube.rounding]
        before, after = (v + np.cross(w, arm) for v, w in zip(impact.velocities, impact.spins, strict=True))
        push = impact.impulse[:2]
        angles = [_angle(-push, before[:2]), _angle(-push, after[:2])]
        rows.append([-after[2] / before[2], np.linalg.norm(push) / impact.impulse[2], *angles])
    return np.array(rows)


def _angle(a: Any, b: Any) -> float:
    return float(np.degrees(np.arccos(a @ b / np.linalg.norm(a) / np.linalg.norm(b))))


def main() -> None:
    """Print what is found."""
    tosses = read_tosses(Cube("as published"))
    rest = np.median([toss.position[-1, 2] for toss in tosses]) / HALF_WIDTH
    (*_, lack), (*_, lack_error) = flight_fit(tosses)
    print(f"lengths, from heights at rest:        {rest:.4f} of the published unit")
    print(f"lengths, from gravity in flight:      {1 - lack / GRAVITY:.4f} +- {lack_error / GRAVITY:.4f}")
    unit = HALF_WIDTH / rest
    tosses = read_tosses(Cube("scaled", unit))
    (*place, _), errors = flight_fit(tosses)
    _print_place("center of mass, from flights, mm:    ", place, errors)
    cube = Cube("with center", unit, (0.0, 0.0, float(place[2])))
    for _ in range(3):  # where the center of mass is changes what is read as its flight
        impacts = corner_impacts(read_tosses(cube), cube)
        radius, sink = rounding_fit(impacts)
        cube = Cube("rounded", unit, cube.center_of_mass, cube.moment, radius)
        (moment, *place), (moment_error, *errors) = impulse_fit(impacts, cube)
        cube = Cube("measured", unit, tuple(place), moment, radius)
    print(f"first impacts of one corner:          {len(impacts)}")
    print(f"rounding of the corners:              {1e3 * radius:.2f} mm; the floor gives way by {1e3 * sink:.2f} mm")
    _print_place("center of mass, from impulses, mm:   ", place, errors)
    print(f"moment of inertia, from impulses:     {moment:.2e} +- {moment_error:.0e} kg m2")
    rows = impact_coefficients(impacts, cube)
    slipping = rows[(rows[:, 2] < 12) & (rows[:, 3] < 20)]
    print(f"restitution of these impacts:         {rows[:, 0].mean():.3f}, standard deviation {rows[:, 0].std():.3f}")
    print(
        f"friction of the {len(slipping)} that slip one way:   {slipping[:, 1].mean():.3f}, "
        f"standard deviation {slipping[:, 1].std():.3f}"
    )


def _print_place(text: str, place: Any, errors: Any) -> None:
    print(
        text, " ".join(f"{1e3 * value:6.2f} +- {1e3 * error:.2f}" for value, error in zip(place, errors, strict=False))
    )


if __name__ == "__main__":
    main()
