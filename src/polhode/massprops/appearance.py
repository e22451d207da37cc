"""What a body is drawn as: its own mesh or shape, or an ellipsoid that stands for it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from polhode.errors import InertiaError
from polhode.massprops.body import Body
from polhode.massprops.geometry import Shape, Surface
from polhode.massprops.shapes import ellipsoid

MIN_THICKNESS_RATIO = 0.01
"""The least thickness that an ellipsoid is drawn with, beside its length: that of a flat body is 0."""
APPEARANCE_SENTENCES = {
    "mesh": "drawn is the body's own mesh",
    "shape": "drawn is the shape that the body was made from",
    "ellipsoid": "the body is known by its numbers alone: drawn is the solid ellipsoid with its mass and moments",
    "inertia ellipsoid": "no solid has these moments: drawn is the inertia ellipsoid, 1/sqrt(I) along each axis, its "
    "largest semi-axis 1 m",
    "particle": "a particle has no extent: drawn is a ball that marks its place",
}


@dataclass(frozen=True)
class Appearance:
    """What is drawn for a body."""

    kind: str
    """One of `APPEARANCE_SENTENCES`."""
    surface: Surface
    """About the centre of mass, along the body's axes, in m; of a particle a ball of radius 1, to be scaled."""

    @property
    def sentence(self) -> str:
        """What is drawn, in words."""
        return APPEARANCE_SENTENCES[self.kind]

    @cached_property
    def size(self) -> float:
        """How far it reaches from the centre of mass, in m; 0 for a particle."""
        if self.kind == "particle":
            return 0.0
        return float(np.linalg.norm(self.surface.vertices, axis=1).max())


def appearance_of(body: Body, segments: int = 48) -> Appearance:
    """What one body is drawn as.

    Examples
    --------
    >>> import polhode as ph
    >>> from polhode.massprops.appearance import look_of
    >>> look_of(ph.Body(mass=1.0, inertia=(1.0, 1.0, 1.5))).kind
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
