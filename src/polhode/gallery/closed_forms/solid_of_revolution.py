"""Solids of revolution: mass, center of mass and moments as integrals along the axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from polhode import validation
from polhode.errors import InputError
from polhode.reference import argument_checks
from polhode.validation import Array


class Slice(NamedTuple):
    """Part of a solid between two heights, whose squared radius is a polynomial in z of degree at most 4."""

    bottom: float
    top: float
    squared_radius: Callable[[Array], Array]
    density: float


class RevolutionProperties(NamedTuple):
    """Mass (kg), center of mass (m) and central moments (kg m2) of a solid of revolution about z."""

    mass: float
    center: float
    transverse: float
    axial: float


def integrate_revolution(slices: Sequence[Slice]) -> RevolutionProperties:
    """M = pi int rho r^2, M zc = pi int rho r^2 z, I = pi int rho (r^4/4 + r^2 (z - zc)^2), I3 = pi int rho r^4/2.

    By 8-point Gauss quadrature, which is exact for these polynomials.

    Examples
    --------
    >>> from polhode.gallery.closed_forms.solid_of_revolution import Slice, integrate_revolution
    >>> ball = integrate_revolution([Slice(-1.0, 1.0, lambda z: 1 - z * z, 1.0)])
    >>> [round(value, 12) for value in (ball.mass, ball.transverse / ball.mass)]
    [4.188790204786, 0.4]
    """
    if not isinstance(slices, Sequence) or not slices or not all(isinstance(one, Slice) for one in slices):
        raise InputError("a solid of revolution has at least one slice: give its slices in a list")
    for one in slices:
        bottom, top = validation.check_number(one.bottom, "bottom"), validation.check_number(one.top, "top")
        argument_checks.positive_number(one.density, "density", "kg/m3")
        if not bottom < top:
            raise InputError(f"a slice from {bottom:g} to {top:g} m is empty: give its bottom first")
    nodes, weights = np.polynomial.legendre.leggauss(8)
    z = np.concatenate([(s.bottom + s.top) / 2 + (s.top - s.bottom) / 2 * nodes for s in slices])
    share = np.concatenate([s.density * np.pi * (s.top - s.bottom) / 2 * weights for s in slices])
    at = np.split(z, len(slices))
    rr = np.concatenate([s.squared_radius(part) for s, part in zip(slices, at, strict=True)])
    if not (rr >= 0).all() or not rr.any():
        raise InputError("squared_radius must be 0 or more everywhere in its slice, in m2, and somewhere more")
    mass = float(share @ rr)
    center = float(share @ (rr * z)) / mass
    transverse = float(share @ (rr * rr / 4 + rr * (z - center) ** 2))
    return RevolutionProperties(mass, center, transverse, float(share @ (rr * rr)) / 2)
