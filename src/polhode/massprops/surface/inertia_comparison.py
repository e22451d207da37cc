"""A solid's inertia by bounding boxes, point sampling (Monte Carlo) and the exact boundary integral.

[Slides, "Approximate inertia tensor"]  The first is fast and wrong, the second has a statistical error, the third is
exact for the given triangles.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from polhode.errors import InputError, show
from polhode.massprops.geometry import Surface
from polhode.massprops.mass_from_density import resolve_mass
from polhode.massprops.surface.ray_winding import winding_numbers
from polhode.massprops.surface.surface_builder import build_surface_body
from polhode.synonyms import explain_unknown_arguments
from polhode.validation import Array

if TYPE_CHECKING:
    from pathlib import Path

    import trimesh

MIN_POINTS_INSIDE = 10
"""Sample points required inside: fewer allow no standard error."""
MAX_BOX_CORNERS = 500
"""Maximum number of vertices that determine the direction of the oriented box."""


OrientedBox: TypeAlias = tuple[Array, Array, Array]
"""Sides, axes as columns, and center."""


@dataclass(frozen=True, eq=False)
class Approximation:
    """Result of one method: mass (kg), center (m), tensor about it (kg m2), volume (m3), and computing time (s)."""

    name: str
    mass: float
    center_of_mass: Array
    inertia_body: Array
    volume: float
    seconds: float
    standard_error: Mapping[str, Any] | None = None
    """Standard errors of these four, by name, for point sampling."""


@explain_unknown_arguments(InputError)
def compare(
    mesh: str | Path | trimesh.Trimesh | trimesh.Scene,
    density: float | None = None,
    *,
    mass: float | None = None,
    unit: str | None = None,
    repair: str | Sequence[str] = (),
    points: int = 100_000,
    seed: int = 0,
) -> list[Approximation]:
    """Compare approximations of a closed mesh's mass properties with the exact boundary integral.

    Parameters
    ----------
    mesh, density, mass, unit, repair
        As for `Body.from_mesh`.
    points : int, optional
        Number of sample points in the smaller of the two boxes, at least 100.
    seed : int, optional
        Seed of the random generator, 0 or more.

    Returns
    -------
    list of Approximation
        Axis-aligned box, oriented box, point sampling, and the exact integral last.

    Examples
    --------
    >>> import polhode as ph, trimesh
    >>> ball = trimesh.creation.icosphere(3)
    >>> for way in ph.compare(ball, density=1.0):
    ...     print(f"{way.name:27} {way.volume:.3f} m3")
    axis-aligned bounding box   8.000 m3
    oriented bounding box       7.9... m3
    point sampling              4.1... m3
    exact boundary integral     4.153 m3
    """
    points, seed = _check_integer("points", points, 100), _check_integer("seed", seed, 0)
    exact, seconds = _time_call(lambda: build_surface_body(mesh, density, mass, None, None, unit, repair))
    surface = exact.parts[0].surface(0)
    aligned, oriented = _time_call(lambda: _axis_aligned_box(surface)), _time_call(lambda: _oriented_box(surface))
    # Prefer the axis-aligned box if the two differ by rounding only.
    smaller, _ = oriented if oriented[0][0].prod() < (1 - 1e-9) * aligned[0][0].prod() else aligned
    ways = [
        _box_approximation("axis-aligned bounding box", *aligned, density, mass),
        _box_approximation("oriented bounding box", *oriented, density, mass),
        _monte_carlo_approximation(surface, smaller, density, mass, points, seed),
    ]
    last = Approximation(
        "exact boundary integral", exact.mass, exact.center_of_mass, exact.inertia_body, exact.volume, seconds
    )
    return [*ways, last]


def _check_integer(name: str, value: Any, least: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if number < least:
        raise InputError(f"{name} must be an integer of at least {least}, not {show(value)}")
    return number


def _box_approximation(name: str, box: OrientedBox, seconds: float, density: Any, mass: Any) -> Approximation:
    sides, axes, center = box
    volume = float(sides.prod())
    m = float(resolve_mass("a body from a mesh", mass=(mass, 1), density=(density, volume)))
    tensor = m / 12 * (sides @ sides * np.eye(3) - axes @ np.diag(sides * sides) @ axes.T)
    return Approximation(name, m, center, tensor, volume, seconds)


def _axis_aligned_box(surface: Surface) -> OrientedBox:
    """The axis-aligned bounding box."""
    low, high = surface.box
    return high - low, np.eye(3), low / 2 + high / 2


def _oriented_box(surface: Surface) -> OrientedBox:
    """A small box of any orientation, found by trimesh from the convex hull.

    trimesh tries each face of the hull, which is slow for a round part: beyond a few hundred vertices only those that
    are extreme in one of a few hundred directions determine the orientation.  The box itself contains all vertices.
    """
    from trimesh.bounds import oriented_bounds

    sides, _, center = _axis_aligned_box(surface)
    size = float(sides.max())
    near = (surface.vertices - center) / size
    few = (
        near
        if len(near) <= MAX_BOX_CORNERS
        else near[np.unique([int((near @ d).argmax()) for d in _fibonacci_directions(MAX_BOX_CORNERS)])]
    )
    axes = np.asarray(oriented_bounds(few)[0])[:3, :3].T
    along = near @ axes
    low, high = along.min(axis=0), along.max(axis=0)
    return (high - low) * size, axes, center + size * (axes @ (low / 2 + high / 2))


def _fibonacci_directions(count: int) -> Array:
    """Directions spread evenly over a sphere, along a spiral."""
    k = np.arange(count) + 0.5
    height, angle = 1 - 2 * k / count, np.pi * (1 + 5**0.5) * k
    return np.stack((np.cos(angle) * np.sqrt(1 - height**2), np.sin(angle) * np.sqrt(1 - height**2), height), axis=1)


def _monte_carlo_approximation(
    surface: Surface, within: OrientedBox, density: Any, mass: Any, points: int, seed: int
) -> Approximation:
    """Monte Carlo integration with random points in a box around the surface."""
    began = perf_counter()
    sides, axes, middle = within
    places = (np.random.default_rng(seed).random((points, 3)) - 0.5) * sides @ axes.T
    is_in = winding_numbers(Surface(surface.vertices - middle, surface.faces), places) > 0
    part = float(is_in.mean())
    if is_in.sum() < MIN_POINTS_INSIDE:
        raise InputError(
            f"{is_in.sum() or 'none'} of {points} points fell into the body, and {MIN_POINTS_INSIDE} are needed: it "
            "fills too little of its box; pass more points="
        )
    box = float(sides.prod())
    volume = box * part
    m = float(resolve_mass("a body from a mesh", mass=(mass, 1), density=(density, volume)))
    inside = places[is_in]
    center = inside.mean(axis=0)
    d = inside - center
    each = (d * d).sum(axis=1)[:, None, None] * np.eye(3) - d[:, :, None] * d[:, None, :]
    tensor = m * each.mean(axis=0)
    # Standard error of a mean of n values: std/sqrt(n); the fraction of points inside has an error, too.
    inside_root = np.sqrt(len(inside))
    of_part = np.sqrt((1 - part) / (part * points))
    spread = m * each.std(axis=0) / inside_root
    errors = {
        "mass": 0.0 if density is None else m * of_part,
        "center_of_mass": inside.std(axis=0) / inside_root,
        "inertia_body": spread if density is None else np.hypot(spread, tensor * of_part),
        "volume": volume * of_part,
    }
    return Approximation("point sampling", m, middle + center, tensor, volume, perf_counter() - began, errors)


def _time_call(work: Callable[[], Any]) -> tuple[Any, float]:
    began = perf_counter()
    result = work()
    return result, perf_counter() - began
