"""Hollow solids.  Differences of powers are factored, so that thin walls lose no digits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polhode.errors import InertiaError
from polhode.massprops.body import Body
from polhode.massprops.shapes.shape_builder import build_shape_body, check_lengths, check_less_than, resolve_shape_mass
from polhode.synonyms import explain_unknown_arguments

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@explain_unknown_arguments(InertiaError)
def tube(
    outer_radius: ArrayLike,
    inner_radius: ArrayLike,
    height: ArrayLike,
    mass: ArrayLike | None = None,
    density: ArrayLike | None = None,
) -> Body:
    """A hollow cylinder along z: I1 = m (3 (R^2 + r^2) + h^2)/12, I3 = m (R^2 + r^2)/2.

    Its ends lie at z = -h/2 and h/2.  `area` is that of the inner and outer wall and both ends.

    Parameters
    ----------
    outer_radius, inner_radius, height : float
        R, r and h, in m.
    mass, density : float
        In kg, or in kg/m3: exactly one of them.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.shapes.tube(2.0, 1.0, 3.0, mass=2.0).principal_moments.tolist()
    [4.0, 4.0, 5.0]
    """
    R, r, h = check_lengths(outer_radius=outer_radius, inner_radius=inner_radius, height=height)
    check_less_than(r, R, "inner_radius {!r} m must be less than outer_radius {!r} m, or there is no wall")
    volume, area = np.pi * (R - r) * (R + r) * h, 2 * np.pi * (R + r) * (R - r + h)
    m = resolve_shape_mass("a tube", volume, mass=(mass, 1), density=(density, volume))
    squares = R * R + r * r
    across = m * (3 * squares + h * h) / 12
    sizes = {"outer_radius": R, "inner_radius": r, "height": h}
    return build_shape_body("tube", sizes, m, (across, across, m * squares / 2), volume, area)


@explain_unknown_arguments(InertiaError)
def spherical_shell(
    radius: ArrayLike,
    inner_radius: ArrayLike | None = None,
    mass: ArrayLike | None = None,
    density: ArrayLike | None = None,
    area_density: ArrayLike | None = None,
) -> Body:
    """A hollow sphere: I = 2 m (R^5 - r^5)/(5 (R^3 - r^3)); infinitely thin without an inner radius: I = 2 m R^2/3.

    The `area` of a thick shell counts both surfaces; a thin one counts the outside only, and has no volume.

    Parameters
    ----------
    radius : float
        R, in m.
    inner_radius : float, optional
        r, in m.
    mass, density, area_density : float
        In kg, kg/m3 (a thick shell) or kg/m2 (a thin one): exactly one of them.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.shapes.spherical_shell(3.0, mass=2.0).principal_moments.tolist()
    [12.0, 12.0, 12.0]
    >>> ph.shapes.spherical_shell(2.0, 1.0, mass=7.0).principal_moments.round(9).tolist()
    [12.4, 12.4, 12.4]
    """
    if inner_radius is None:
        return _thin_shell(radius, mass, density, area_density)
    R, r = check_lengths(radius=radius, inner_radius=inner_radius)
    check_less_than(r, R, "inner_radius {!r} m must be less than radius {!r} m, or there is no wall")
    if area_density is not None:
        raise InertiaError("area_density is for a thin shell: omit inner_radius, or give the density in kg/m3")
    squares, fourths = R * R + R * r + r * r, R**4 + R**3 * r + R * R * r * r + R * r**3 + r**4
    volume, area = 4 * np.pi * (R - r) * squares / 3, 4 * np.pi * (R * R + r * r)
    m = resolve_shape_mass("a spherical shell", volume, mass=(mass, 1), density=(density, volume))
    sizes = {"radius": R, "inner_radius": r}
    return build_shape_body("spherical_shell", sizes, m, (2 * m * fourths / (5 * squares),) * 3, volume, area)


def _thin_shell(
    radius: ArrayLike, mass: ArrayLike | None, density: ArrayLike | None, area_density: ArrayLike | None
) -> Body:
    (r,) = check_lengths(radius=radius)
    if density is not None:
        raise InertiaError(
            "a spherical shell without inner_radius is infinitely thin and has no volume for a density: "
            "give its inner_radius, or its area_density in kg/m2"
        )
    area = 4 * np.pi * r * r
    m = resolve_shape_mass("a thin spherical shell", area, mass=(mass, 1), area_density=(area_density, area))
    return build_shape_body("spherical_shell", {"radius": r}, m, (2 * m * r * r / 3,) * 3, 0 * area, area)
