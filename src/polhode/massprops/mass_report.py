"""A body's mass properties as plain numbers, with units in the names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.errors import InertiaError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from polhode.massprops.body import Body
    from polhode.validation import Array


def build_mass_report(body: Body, name: str = "body", about: ArrayLike | None = None) -> dict[str, Any]:
    """All mass properties of a body, for JSON; None where unknown.

    Parameters
    ----------
    body : Body
        A single body, not an ensemble.
    name : str, optional
        Name in the report.
    about : array_like, optional
        A point in the body's coordinates, in m: the tensor about it is included, too.

    Returns
    -------
    dict
        `mass_kg`, `volume_m3`, `area_m2`, `density_kg_m3` (the mean); `lowest_corner_m`, `highest_corner_m` and
        `size_m` of the bounding box; `center_of_mass_m`; `inertia_body_kg_m2`, three
        rows, about the center of mass, products with their minus sign; `principal_moments_kg_m2`, `principal_axes` (a
        unit vector for each moment, in body components, right-handed) and `radii_of_gyration_m` about them;
        `equivalent_box_sides_m` and `equivalent_ellipsoid_semi_axes_m` along them; with `about` also `about_m` and
        `inertia_about_kg_m2`; `notes`.

    Examples
    --------
    >>> import polhode as ph
    >>> from polhode.massprops.mass_report import build_mass_report
    >>> build_mass_report(ph.shapes.box((1.0, 2.0, 3.0), density=1.0))["principal_moments_kg_m2"]
    [6.5, 5.0, 2.5]
    """
    refuse_ensemble_body(body)
    corners = body_bounds(body)
    found = {
        "name": name,
        "mass_kg": body.mass,
        "volume_m3": body.volume,
        "area_m2": body.area,
        "density_kg_m3": body.density,
        "lowest_corner_m": None if corners is None else corners[0].tolist(),
        "highest_corner_m": None if corners is None else corners[1].tolist(),
        "size_m": None if corners is None else (corners[1] - corners[0]).tolist(),
        "center_of_mass_m": body.center_of_mass.tolist(),
        "inertia_body_kg_m2": symmetrize_tensor(body.inertia_body).tolist(),
        "principal_moments_kg_m2": body.principal_moments.tolist(),
        "principal_axes": body.principal_axes.as_matrix().T.tolist(),
        "radii_of_gyration_m": np.sqrt(body.principal_moments / body.mass).tolist(),
        "equivalent_box_sides_m": _equivalent_sizes(body, "box_sides"),
        "equivalent_ellipsoid_semi_axes_m": _equivalent_sizes(body, "ellipsoid_semi_axes"),
    }
    if about is not None:
        found["about_m"] = np.asarray(about, dtype=float).tolist()
        found["inertia_about_kg_m2"] = body.inertia_about(about).tolist()
    return found | {"notes": list(body.notes)}


def body_bounds(body: Body) -> tuple[Array, Array] | None:
    """Lowest and highest corner of the bounding box; None if the body has no geometry."""
    if not body.parts:
        return None
    surfaces = [part.surface(96) for part in body.parts if not part.is_hole]
    corners = [surface.vertices[surface.faces.ravel()] for surface in surfaces if len(surface.faces)]
    if not corners:
        return None
    return np.min([c.min(axis=0) for c in corners], axis=0), np.max([c.max(axis=0) for c in corners], axis=0)


def symmetrize_tensor(tensor: Array) -> Array:
    """The tensor with opposite entries made exactly equal."""
    return (tensor + tensor.T) / 2


def refuse_ensemble_body(body: Body) -> None:
    """Raise if this is the body of an ensemble."""
    if body.members is not None:
        raise InertiaError(
            f"this is the body of an ensemble of {body.members} members: pass the body of a single member"
        )


def _equivalent_sizes(body: Body, which: str) -> list[float] | None:
    try:
        sizes: Array = getattr(body, which)
    except InertiaError:
        return None
    return [float(size) for size in sizes]
