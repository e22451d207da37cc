"""Thin bodies: rods, rings, disks and sheets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polhode import validation
from polhode.errors import InertiaError
from polhode.massprops.body import Body
from polhode.massprops.shapes.shape_builder import (
    build_shape_body,
    check_axis_lengths,
    check_lengths,
    resolve_shape_mass,
)
from polhode.synonyms import explain_unknown_arguments

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@explain_unknown_arguments(InertiaError)
def thin_rod(
    length: ArrayLike,
    radius: ArrayLike,
    mass: ArrayLike | None = None,
    density: ArrayLike | None = None,
    line_density: ArrayLike | None = None,
) -> Body:
    """A rod along z: I1 = m (3 r^2 + l^2)/12, I3 = m r^2/2.  [Christian 2011, table 17.1, with a radius]

    With radius 0 its moment about z is 0: such a body can be joined to others, but cannot be simulated.  It is drawn
    with a radius of 1/100 of its length.

    Parameters
    ----------
    length : float
        In m; the ends lie at z = -l/2 and l/2.
    radius : float
        In m, 0 or more.
    mass, density, line_density : float
        In kg, kg/m3 (only with a radius) or kg/m: exactly one of them.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.shapes.thin_rod(6.0, 0.0, mass=1.0).principal_moments.tolist()
    [3.0, 3.0, 0.0]
    """
    (length,) = check_lengths(length=length)
    r = validation.check_numbers(radius, "radius", (), InertiaError)
    if (r < 0).any():
        raise InertiaError(f"radius must be 0 m or more, but the smallest is {r.min():g} m")
    validation.member_count((length, 0), (r, 0))
    is_line = not r.any()
    if not is_line and not r.all():
        raise InertiaError("radius is 0 m for some members and not for others: give all of them a radius, or none")
    if is_line and density is not None:
        raise InertiaError(
            "a rod of radius 0 has no volume for a density: give its radius, or its line_density in kg/m"
        )
    volume, area = np.pi * r * r * length, 2 * np.pi * r * (r + length)
    ways = {"mass": (mass, 1), "line_density": (line_density, length)}
    if not is_line:
        ways["density"] = (density, volume)
    m = resolve_shape_mass("a thin rod", volume, **ways)
    across = m * (3 * r * r + length * length) / 12
    sizes = {"length": length, "radius": r}
    return build_shape_body("thin_rod", sizes, m, (across, across, m * r * r / 2), volume, area, is_line)


@explain_unknown_arguments(InertiaError)
def ring(radius: ArrayLike, mass: ArrayLike | None = None, line_density: ArrayLike | None = None) -> Body:
    """A thin hoop in the xy plane: I1 = I2 = m r^2/2, I3 = m r^2.

    Its area and volume are 0.  It is drawn as a torus with a tube radius of 1/100 of its radius.

    Parameters
    ----------
    radius : float
        In m.
    mass, line_density : float
        In kg, or in kg/m: exactly one of them.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.shapes.ring(2.0, mass=1.0).principal_moments.tolist()
    [2.0, 2.0, 4.0]
    """
    (r,) = check_lengths(radius=radius)
    m = resolve_shape_mass("a ring", r, mass=(mass, 1), line_density=(line_density, 2 * np.pi * r))
    across = m * r * r / 2
    return build_shape_body("ring", {"radius": r}, m, (across, across, 2 * across), 0 * r, 0 * r)


@explain_unknown_arguments(InertiaError)
def thin_disk(radius: ArrayLike, mass: ArrayLike | None = None, area_density: ArrayLike | None = None) -> Body:
    """A flat disk in the xy plane: I1 = I2 = m r^2/4, I3 = m r^2/2.  [Christian 2011, table 17.1]

    `area` is that of one side, which the area density multiplies; the mesh is that side, facing +z.

    Parameters
    ----------
    radius : float
        In m.
    mass, area_density : float
        In kg, or in kg/m2: exactly one of them.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.shapes.thin_disk(2.0, mass=1.0).principal_moments.tolist()
    [1.0, 1.0, 2.0]
    """
    (r,) = check_lengths(radius=radius)
    area = np.pi * r * r
    m = resolve_shape_mass("a thin disk", area, mass=(mass, 1), area_density=(area_density, area))
    across = m * r * r / 4
    return build_shape_body("thin_disk", {"radius": r}, m, (across, across, 2 * across), 0 * area, area)


@explain_unknown_arguments(InertiaError)
def thin_sheet(sides: ArrayLike, mass: ArrayLike | None = None, area_density: ArrayLike | None = None) -> Body:
    """A flat rectangle in the xy plane: I1 = m b^2/12, I2 = m a^2/12, I3 = I1 + I2.

    [Christian 2011, table 17.1, whose m (a^2 + b^2)/2 for the normal is a misprint]  `area` is that of one side, which
    the area density multiplies; the mesh is that side, facing +z.

    Parameters
    ----------
    sides : array_like
        The two lengths a and b along x and y, in m.
    mass, area_density : float
        In kg, or in kg/m2: exactly one of them.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.shapes.thin_sheet((1.0, 2.0), mass=12.0).principal_moments.tolist()
    [4.0, 1.0, 5.0]
    """
    sides = check_axis_lengths(sides, "sides", 2)
    a, b = np.moveaxis(sides, -1, 0)
    area = a * b
    m = resolve_shape_mass("a thin sheet", area, mass=(mass, 1), area_density=(area_density, area))
    moments = (m * b * b / 12, m * a * a / 12, m * (a * a + b * b) / 12)
    return build_shape_body("thin_sheet", {"sides": sides}, m, moments, 0 * area, area)
