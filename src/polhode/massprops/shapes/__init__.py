"""Bodies of simple shape and uniform density, from their sizes and their mass or density.

The origin is the center of mass and z the axis of symmetry; shapes given by their corners stay in place.  Any size,
mass or density may have a leading axis for the members of an ensemble.
"""

from __future__ import annotations

from polhode.massprops.shapes.hollow import spherical_shell, tube
from polhode.massprops.shapes.polyhedra import parallelepiped, prism, tetrahedron
from polhode.massprops.shapes.solids import (
    box,
    capsule,
    cone,
    cylinder,
    ellipsoid,
    frustum,
    half_ellipsoid,
    sphere,
    torus,
)
from polhode.massprops.shapes.thin import ring, thin_disk, thin_rod, thin_sheet

__all__ = [
    "box",
    "capsule",
    "cone",
    "cylinder",
    "ellipsoid",
    "frustum",
    "half_ellipsoid",
    "parallelepiped",
    "prism",
    "ring",
    "sphere",
    "spherical_shell",
    "tetrahedron",
    "thin_disk",
    "thin_rod",
    "thin_sheet",
    "torus",
    "tube",
]
