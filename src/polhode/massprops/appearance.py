"""How a body is drawn: its own mesh or shape, or an equivalent ellipsoid."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from polhode.errors import InertiaError
from polhode.massprops.body import Body
from polhode.massprops.geometry import Shape, Surface
from polhode.massprops.shapes import ellipsoid

MIN_THICKNESS_RATIO = 0.01
"""Minimum thickness of a drawn ellipsoid relative to its length, since that of a flat body is 0."""
APPEARANCE_SENTENCES = {
    "mesh": "the body's own mesh is drawn",
    "shape": "the shape that the body was made from is drawn",
    "ellipsoid": "the body has no geometry: the solid ellipsoid with its mass and moments is drawn",
    "inertia ellipsoid": "no solid has these moments: the inertia ellipsoid, 1/sqrt(I) along each axis, is drawn, with "
    "its largest semi-axis 1 m",
    "likeness": "the body has no geometry: what it may look like is drawn",
    "particle": "a particle has no extent: a ball marks its position",
}


@dataclass(frozen=True)
class Appearance:
    """What is drawn for a body."""

    kind: str
    """One of `APPEARANCE_SENTENCES`."""
    surface: Surface
    """About the center of mass, along the body axes, in m; for a particle a unit sphere, to be scaled."""

    @property
    def sentence(self) -> str:
        """A sentence that says what is drawn."""
        return APPEARANCE_SENTENCES[self.kind]

    @cached_property
    def size(self) -> float:
        """Largest distance from the center of mass, in m; 0 for a particle."""
        if self.kind == "particle":
            return 0.0
        return float(np.linalg.norm(self.surface.vertices, axis=1).max())


def appearance_of(body: Body, segments: int = 48) -> Appearance:
    """How one body is drawn.

    Examples
    --------
    >>> import polhode as ph
    >>> from polhode.massprops.appearance import appearance_of
    >>> appearance_of(ph.Body(mass=1.0, inertia=(1.0, 1.0, 1.5))).kind
    'ellipsoid'
    """
    if body.is_particle:
        return Appearance("particle", ellipsoid((1.0, 1.0, 1.0), mass=1.0).surface(24))
    if body.parts:
        own = body.surface(segments)
        kind = "shape" if all(isinstance(part.source, Shape) for part in body.parts) else "mesh"
        return Appearance(kind, Surface(own.vertices - body.center_of_mass, own.faces))
    try:
        kind, semi = "ellipsoid", body.ellipsoid_semi_axes
    except InertiaError:
        kind, semi = "inertia ellipsoid", np.sqrt(body.principal_moments.min() / body.principal_moments)
    solid = ellipsoid(np.maximum(semi, MIN_THICKNESS_RATIO * semi.max()), mass=1.0).surface(segments)
    return Appearance(kind, Surface(solid.vertices @ body.principal_axes.as_matrix().T, solid.faces))
