"""Solids with a center or an axis of symmetry."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polhode.errors import InertiaError
from polhode.massprops.body import Body
from polhode.massprops.shapes.shape_builder import (
    build_shape_body,
    check_axis_lengths,
    check_lengths,
    check_less_than,
    resolve_shape_mass,
)
from polhode.synonyms import explain_unknown_arguments
from polhode.validation import Array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@explain_unknown_arguments(InertiaError)
def box(sides: ArrayLike, mass: ArrayLike | None = None, density: ArrayLike | None = None) -> Body:
    """A solid box: I1 = m (b^2 + c^2)/12, and cyclic.  [Christian 2011, table 17.1, parallelepiped]

    Parameters
    ----------
    sides : array_like
        The three side lengths along the body axes, in m.
    mass, density : float
        In kg, or in kg/m3: exactly one of them.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.shapes.box((1.0, 2.0, 3.0), density=1.0).principal_moments.tolist()
    [6.5, 5.0, 2.5]
    """
    sides = check_axis_lengths(sides, "sides", 3)
    a, b, c = np.moveaxis(sides, -1, 0)
    volume, area = a * b * c, 2 * (a * b + b * c + c * a)
    m = resolve_shape_mass("a box", volume, mass=(mass, 1), density=(density, volume))
    moments = (m * (b * b + c * c) / 12, m * (c * c + a * a) / 12, m * (a * a + b * b) / 12)
    return build_shape_body("box", {"sides": sides}, m, moments, volume, area)


@explain_unknown_arguments(InertiaError)
def sphere(radius: ArrayLike, mass: ArrayLike | None = None, density: ArrayLike | None = None) -> Body:
    """A solid sphere: I = 2 m r^2/5.  [Christian 2011, table 17.1]

    Parameters
    ----------
    radius : float
        In m.
    mass, density : float
        In kg, or in kg/m3: exactly one of them.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.shapes.sphere(0.5, mass=10.0).principal_moments.tolist()
    [1.0, 1.0, 1.0]
    """
    (r,) = check_lengths(radius=radius)
    volume, area = 4 * np.pi * r**3 / 3, 4 * np.pi * r * r
    m = resolve_shape_mass("a sphere", volume, mass=(mass, 1), density=(density, volume))
    return build_shape_body("sphere", {"radius": r}, m, (2 * m * r * r / 5,) * 3, volume, area)


@explain_unknown_arguments(InertiaError)
def ellipsoid(semi_axes: ArrayLike, mass: ArrayLike | None = None, density: ArrayLike | None = None) -> Body:
    """A solid ellipsoid: I1 = m (b^2 + c^2)/5, and cyclic.  [Christian 2011, table 17.1]

    Parameters
    ----------
    semi_axes : array_like
        The three semi-axes along the body axes, in m.
    mass, density : float
        In kg, or in kg/m3: exactly one of them.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.shapes.ellipsoid((1.0, 2.0, 3.0), mass=5.0).principal_moments.tolist()
    [13.0, 10.0, 5.0]
    """
    semi_axes = check_axis_lengths(semi_axes, "semi_axes", 3)
    a, b, c = np.moveaxis(semi_axes, -1, 0)
    volume = 4 * np.pi * a * b * c / 3
    m = resolve_shape_mass("an ellipsoid", volume, mass=(mass, 1), density=(density, volume))
    moments = (m * (b * b + c * c) / 5, m * (c * c + a * a) / 5, m * (a * a + b * b) / 5)
    return build_shape_body("ellipsoid", {"semi_axes": semi_axes}, m, moments, volume, _ellipsoid_area(semi_axes))


@explain_unknown_arguments(InertiaError)
def half_ellipsoid(semi_axes: ArrayLike, mass: ArrayLike | None = None, density: ArrayLike | None = None) -> Body:
    """The upper half of an ellipsoid: I1 = m (b^2/5 + 19 c^2/320), I3 = m (a^2 + b^2)/5.

    Its flat face lies at z = -3 c/8 and faces down, its top is at z = 5 c/8.

    Parameters
    ----------
    semi_axes : array_like
        Semi-axes of the full ellipsoid, in m; the third is the height of the half.
    mass, density : float
        In kg, or in kg/m3: exactly one of them.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.shapes.half_ellipsoid((1.0, 1.0, 8.0), mass=5.0).principal_moments.tolist()
    [20.0, 20.0, 2.0]
    """
    semi_axes = check_axis_lengths(semi_axes, "semi_axes", 3)
    a, b, c = np.moveaxis(semi_axes, -1, 0)
    volume, area = 2 * np.pi * a * b * c / 3, _ellipsoid_area(semi_axes) / 2 + np.pi * a * b
    m = resolve_shape_mass("a half-ellipsoid", volume, mass=(mass, 1), density=(density, volume))
    height = 19 * c * c / 64
    moments = (m * (b * b + height) / 5, m * (a * a + height) / 5, m * (a * a + b * b) / 5)
    return build_shape_body("half_ellipsoid", {"semi_axes": semi_axes}, m, moments, volume, area)


@explain_unknown_arguments(InertiaError)
def cylinder(
    radius: ArrayLike, height: ArrayLike, mass: ArrayLike | None = None, density: ArrayLike | None = None
) -> Body:
    """A solid cylinder along z: I1 = m (3 r^2 + h^2)/12, I3 = m r^2/2.  Its faces lie at z = -h/2 and h/2.

    Parameters
    ----------
    radius, height : float
        In m.
    mass, density : float
        In kg, or in kg/m3: exactly one of them.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.shapes.cylinder(1.0, 3.0, mass=2.0).principal_moments.tolist()
    [2.0, 2.0, 1.0]
    """
    r, h = check_lengths(radius=radius, height=height)
    volume, area = np.pi * r * r * h, 2 * np.pi * r * (r + h)
    m = resolve_shape_mass("a cylinder", volume, mass=(mass, 1), density=(density, volume))
    across = m * (3 * r * r + h * h) / 12
    return build_shape_body("cylinder", {"radius": r, "height": h}, m, (across, across, m * r * r / 2), volume, area)


@explain_unknown_arguments(InertiaError)
def cone(radius: ArrayLike, height: ArrayLike, mass: ArrayLike | None = None, density: ArrayLike | None = None) -> Body:
    """A solid cone along z: I1 = 3 m (4 r^2 + h^2)/80, I3 = 3 m r^2/10.

    Its base lies at z = -h/4, its apex at z = 3 h/4.

    Parameters
    ----------
    radius, height : float
        Radius of the base, and height from the base to the apex, in m.
    mass, density : float
        In kg, or in kg/m3: exactly one of them.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.shapes.cone(1.0, 4.0, mass=10.0).principal_moments.tolist()
    [7.5, 7.5, 3.0]
    """
    r, h = check_lengths(radius=radius, height=height)
    volume, area = np.pi * r * r * h / 3, np.pi * r * (r + np.hypot(r, h))
    m = resolve_shape_mass("a cone", volume, mass=(mass, 1), density=(density, volume))
    across = 3 * m * (4 * r * r + h * h) / 80
    return build_shape_body("cone", {"radius": r, "height": h}, m, (across, across, 3 * m * r * r / 10), volume, area)


@explain_unknown_arguments(InertiaError)
def frustum(
    bottom_radius: ArrayLike,
    top_radius: ArrayLike,
    height: ArrayLike,
    mass: ArrayLike | None = None,
    density: ArrayLike | None = None,
) -> Body:
    """A truncated cone along z: I3 = 3 m (a^5 - b^5)/(10 (a^3 - b^3)), evaluated without cancellation.

    With s = a^2 + a b + b^2 its bottom lies at z = -h (a^2 + 2 a b + 3 b^2)/(4 s), and I1 = I3/2 + m v with the
    variance along z, v = 3 h^2 (a^4 + 4 a^3 b + 10 a^2 b^2 + 4 a b^3 + b^4)/(80 s^2).

    Parameters
    ----------
    bottom_radius, top_radius, height : float
        a, b and h, in m; either radius may be larger.
    mass, density : float
        In kg, or in kg/m3: exactly one of them.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.shapes.frustum(2.0, 1.0, 3.0, mass=7.0).principal_moments.round(6).tolist()
    [9.326786, 9.326786, 9.3]
    """
    a, b, h = check_lengths(bottom_radius=bottom_radius, top_radius=top_radius, height=height)
    squares, fourths = a * a + a * b + b * b, a**4 + a**3 * b + a * a * b * b + a * b**3 + b**4
    volume, area = np.pi * h * squares / 3, np.pi * (a * a + b * b + (a + b) * np.hypot(a - b, h))
    m = resolve_shape_mass("a frustum", volume, mass=(mass, 1), density=(density, volume))
    axial = 3 * m * fourths / (10 * squares)
    along = 3 * (h / squares) ** 2 * (fourths + 3 * a * b * (a * a + 3 * a * b + b * b)) / 80
    sizes = {"bottom_radius": a, "top_radius": b, "height": h}
    return build_shape_body("frustum", sizes, m, (axial / 2 + m * along,) * 2 + (axial,), volume, area)


@explain_unknown_arguments(InertiaError)
def capsule(
    radius: ArrayLike, cylinder_height: ArrayLike, mass: ArrayLike | None = None, density: ArrayLike | None = None
) -> Body:
    """A cylinder along z with hemispherical ends, which reach z = -h/2 - r and h/2 + r.

    Parameters
    ----------
    radius : float
        r of the cylinder and of both hemispheres, in m.
    cylinder_height : float
        h of the cylindrical part, without the hemispheres, in m.
    mass, density : float
        In kg, or in kg/m3: exactly one of them.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.shapes.capsule(3.0, 4.0, mass=6.0).principal_moments.round(6).tolist()
    [47.05, 47.05, 24.3]
    """
    r, h = check_lengths(radius=radius, cylinder_height=cylinder_height)
    volume, area = np.pi * r * r * (h + 4 * r / 3), 2 * np.pi * r * (h + 2 * r)
    m = resolve_shape_mass("a capsule", volume, mass=(mass, 1), density=(density, volume))
    straight, round_ends = m * (3 * h / (3 * h + 4 * r)), m * (4 * r / (3 * h + 4 * r))
    across = straight * (3 * r * r + h * h) / 12 + round_ends * (2 * r * r / 5 + h * h / 4 + 3 * h * r / 8)
    axial = straight * r * r / 2 + 2 * round_ends * r * r / 5
    return build_shape_body("capsule", {"radius": r, "cylinder_height": h}, m, (across, across, axial), volume, area)


@explain_unknown_arguments(InertiaError)
def torus(
    radius: ArrayLike, tube_radius: ArrayLike, mass: ArrayLike | None = None, density: ArrayLike | None = None
) -> Body:
    """A solid ring about z: I1 = m (4 R^2 + 5 r^2)/8, I3 = m (4 R^2 + 3 r^2)/4.

    Parameters
    ----------
    radius : float
        R of the center line of the tube, in m.
    tube_radius : float
        r of the tube, in m; at most `radius`.
    mass, density : float
        In kg, or in kg/m3: exactly one of them.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.shapes.torus(2.0, 2.0, mass=2.0).principal_moments.tolist()
    [9.0, 9.0, 14.0]
    """
    R, r = check_lengths(radius=radius, tube_radius=tube_radius)
    check_less_than(r, R, "tube_radius {!r} m exceeds radius {!r} m: the torus would overlap itself", or_equal=True)
    volume, area = 2 * np.pi**2 * R * r * r, 4 * np.pi**2 * R * r
    m = resolve_shape_mass("a torus", volume, mass=(mass, 1), density=(density, volume))
    across, axial = m * (4 * R * R + 5 * r * r) / 8, m * (4 * R * R + 3 * r * r) / 4
    return build_shape_body("torus", {"radius": R, "tube_radius": r}, m, (across, across, axial), volume, area)


def _ellipsoid_area(semi_axes: Array) -> Array:
    """4 pi R_G(a^2 b^2, b^2 c^2, c^2 a^2), with Carlson's R_G.  [DLMF, section 19.33]"""
    from scipy.special import elliprg

    largest = semi_axes.max(axis=-1)
    a, b, c = np.moveaxis(semi_axes / largest[..., None], -1, 0)
    area: Array = 4 * np.pi * largest**2 * elliprg((a * b) ** 2, (b * c) ** 2, (c * a) ** 2)
    return area
