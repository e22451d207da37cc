"""The density of each cell, from a number, one per cell or region, a field, or a function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from polhode import validation
from polhode.errors import InertiaError, nearest, show
from polhode.massprops.geometry import Indices
from polhode.massprops.volume.volume_mesh import VolumeMesh
from polhode.validation import Array


def cell_densities(density: Any, mesh: VolumeMesh) -> Array:
    """One density per volume cell, in kg/m3; not from a function."""
    if isinstance(density, Mapping):
        values = _densities_by_region(density, mesh)
    elif isinstance(density, str):
        values = _densities_from_field(density, mesh)
    elif np.ndim(density) == 0:
        value = validation.check_positive(
            validation.check_number(density, "density", InertiaError), "density", "kg/m3", InertiaError
        )
        return np.full(mesh.count, float(value))
    else:
        values = _densities_from_array(density, mesh)
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if bad.size:
        raise InertiaError(
            f"{bad.size} of {mesh.count} cells have a density that is negative or not finite; the first is cell "
            f"{bad[0]}, with {values[bad[0]]:g} kg/m3"
        )
    if not values.any():
        raise InertiaError("all cells have density 0 kg/m3: the body would have no mass")
    return values


def _densities_from_array(density: Any, mesh: VolumeMesh) -> Array:
    shape = validation.shape_of(density)
    if shape != (mesh.count,):
        hint = ""
        if shape == (mesh.count + sum(mesh.left_out.values()),):
            hint = f". The mesh also has {sum(mesh.left_out.values())} cells without volume, which take none"
        raise InertiaError(
            f"density must have one value for each of the {mesh.count} volume cells, but has shape {shape}{hint}"
        )
    values = np.asarray(density)
    if values.dtype.kind not in "fiu":
        raise InertiaError(f"density must be numbers, in kg/m3, one per volume cell, but has type {values.dtype}")
    return values.astype(np.float64)


def _densities_from_field(name: str, mesh: VolumeMesh) -> Array:
    if name not in mesh.fields:
        known = f": {nearest(name, mesh.fields)}" if mesh.fields else "; the mesh has none"
        raise InertiaError(f"the cells have no field {show(name)}{known}")
    values = mesh.fields[name]
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1 or values.dtype.kind not in "fiu":
        raise InertiaError(
            f"the field {show(name)} has {values.shape[1:]} values per cell, but a density is one number"
        )
    missing = int(np.isnan(values.astype(float)).sum())
    if missing:
        raise InertiaError(f"the field {show(name)} has no value in {missing} of {mesh.count} cells")
    return values.astype(np.float64)


def _densities_by_region(density: Mapping[Any, Any], mesh: VolumeMesh) -> Array:
    """Densities by region; each cell must lie in exactly one of the given regions."""
    if not mesh.regions:
        raise InertiaError(
            "density was given by region, but the mesh has none: no physical volumes (Gmsh), element blocks "
            "(Exodus), element sets (Abaqus), cell sets, or cell field such as 'region' or 'material'"
        )
    values, times = np.zeros(mesh.count), np.zeros(mesh.count, dtype=int)
    for key, given in density.items():
        value = validation.check_number(given, f"the density of region {key!r}", InertiaError)
        if value < 0:
            raise InertiaError(f"the density of region {key!r} must not be negative, but is {value:g} kg/m3")
        cells = _find_region(key, mesh)
        values[cells] = value
        times[cells] += 1
    found = ", ".join(f"{name!r} ({len(cells)} cells)" for name, cells in mesh.regions.items())
    if (times == 0).any():
        raise InertiaError(
            f"{int((times == 0).sum())} of {mesh.count} cells lie in none of the given regions. "
            f"The mesh has {found}; give 0 for those without mass"
        )
    if (times > 1).any():
        raise InertiaError(
            f"{int((times > 1).sum())} of {mesh.count} cells lie in more than one of the given regions; the first is "
            f"cell {int((times > 1).argmax())}. The mesh has {found}; give each cell its density once"
        )
    return values


def _find_region(key: Any, mesh: VolumeMesh) -> Indices:
    """The cells of a region by name (case-insensitive) or number (also as text)."""
    if key in mesh.regions:
        return mesh.regions[key]
    alike = [name for name in mesh.regions if str(name).lower() == str(key).lower()]
    if len(alike) != 1:
        raise InertiaError(f"the mesh has no region {show(key)}: {nearest(key, map(str, mesh.regions))}")
    return mesh.regions[alike[0]]


def scale_density_function(rho: Callable[..., Any], center: Array, scale: float) -> Callable[[Array], Array]:
    """The density function in scaled coordinates (r - center)/scale, checked to be finite and non-negative."""

    def at(places: Array) -> Array:
        x, y, z = places * scale + center[:, None]
        try:
            values = np.asarray(rho(x, y, z))
        except Exception as why:
            raise InertiaError(
                f"the density function failed ({type(why).__name__}: {why}). It is called with three arrays, x, y, z, "
                "in m, and must return an array of the same shape: use NumPy functions, and np.where instead of if"
            ) from why
        if values.dtype.kind not in "fiu" or values.shape not in ((), x.shape):
            raise InertiaError(
                f"the density function must return one number for each of the {len(x)} points, or one for all, but "
                f"returned shape {values.shape} of type {values.dtype}"
            )
        values = np.broadcast_to(values.astype(np.float64), x.shape)
        bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
        if bad.size:
            i = bad[0]
            raise InertiaError(
                f"the density function gives {values[i]:g} kg/m3 at ({x[i]:g}, {y[i]:g}, {z[i]:g}) m: a density must "
                "be finite and non-negative"
            )
        return values

    return at
