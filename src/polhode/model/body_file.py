"""Bodies in scenario files: by their mass properties, as a shape, or from a mesh file."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from polhode import validation
from polhode.equations.quaternions import matrix
from polhode.errors import PolhodeError, ScenarioError
from polhode.massprops import shapes
from polhode.massprops.appearance_table import PLACEMENT_KEYS
from polhode.massprops.body import Body, particle
from polhode.massprops.geometry import GeometrySource, Part, Surface
from polhode.massprops.principal_axes import ROUNDING, Diagonalized
from polhode.synonyms import suggest_name
from polhode.validation import Array

PRINCIPAL_AXES_KEYS = ("principal_moments", "principal_axes_wxyz")
NUMBER_KEYS = (
    "mass",
    "inertia",
    "products",
    *PRINCIPAL_AXES_KEYS,
    "center_of_mass",
    "allow_unphysical",
    "volume",
    "area",
)
GEOMETRY_KEYS = ("shape", "mesh", "volume_mesh")
BODY_KEYS = (*NUMBER_KEYS, "particle", *GEOMETRY_KEYS, "parts")
PART_KEYS = ("shape", "vertices", "faces", *PLACEMENT_KEYS)


def read_body(table: Mapping[str, Any], where: str, folder: Path | None) -> Body:
    """The body of a table; relative paths of meshes start at the folder; without one meshes are refused."""
    is_particle = validation.check_flag(table.get("particle", False), f"particle of {where}", ScenarioError)
    geometry = [key for key in GEOMETRY_KEYS if key in table]
    kinds = (["particle"] if is_particle else []) + geometry
    if len(kinds) > 1:
        raise ScenarioError(f"{where} has {' and '.join(kinds)}: give one of them")
    if geometry:
        (kind,) = geometry
        read_before = table[kind]
        if isinstance(read_before, Body):  # for the members of a sweep
            return read_before
        _refuse_keys(table, (*NUMBER_KEYS, "parts"), where, f"takes its {{}} from its {kind}", kind)
        try:
            return GEOMETRY_READERS[kind](table[kind], where, folder)
        except PolhodeError as error:
            raise type(error)(f"{kind} of {where}: {error}") from None
    if "mass" not in table:
        raise ScenarioError(f"{where} needs its mass, in kg")
    if is_particle:
        _refuse_keys(
            table,
            ("inertia", "products", *PRINCIPAL_AXES_KEYS, "allow_unphysical", "volume", "area", "parts"),
            where,
            "is a particle, which has no {}",
            "particle = true",
        )
        return particle(table["mass"]).move(table.get("center_of_mass", (0.0, 0.0, 0.0)))
    if "inertia" not in table:
        raise ScenarioError(
            f"{where} needs its inertia in kg m2, three moments or a 3 x 3 tensor; or a shape, a mesh, particle = true"
        )
    numbers = {key: table[key] for key in NUMBER_KEYS if key in table and key not in PRINCIPAL_AXES_KEYS}
    if "products" in numbers:
        _refuse_keys(table, PRINCIPAL_AXES_KEYS, where, "has products, and so no {}", "products")
        signed = Body.from_tensor(table["mass"], table["inertia"], products=numbers.pop("products"))
        numbers["inertia"] = signed.inertia_body
    return Body(**numbers, parts=_read_parts(table, where), diagonalized=_read_diagonalized(table, where))


def refuse_unknown_keys(table: Any, known: Sequence[str], where: str) -> None:
    """Raise for the first unknown key."""
    if not isinstance(table, Mapping):
        raise ScenarioError(f"{where} must be a table of keys and values, not {table!r}")
    for key in table:
        if key not in known:
            raise ScenarioError(f"{where} has no key {key!r}: {suggest_name(key, known)}")


def _read_diagonalized(table: Mapping[str, Any], where: str) -> Diagonalized | None:
    """The tensor with its principal axes, exactly as they were written."""
    if not any(key in table for key in PRINCIPAL_AXES_KEYS):
        return None
    if not all(key in table for key in PRINCIPAL_AXES_KEYS):
        raise ScenarioError(f"{where} needs both {' and '.join(PRINCIPAL_AXES_KEYS)}, or neither")
    moments = validation.check_numbers(
        table[PRINCIPAL_AXES_KEYS[0]], f"{PRINCIPAL_AXES_KEYS[0]} of {where}", (3,), ScenarioError
    )
    axes = validation.check_numbers(
        table[PRINCIPAL_AXES_KEYS[1]], f"{PRINCIPAL_AXES_KEYS[1]} of {where}", (4,), ScenarioError
    )
    tensor = validation.check_numbers(table["inertia"], f"inertia of {where}", (3, 3), ScenarioError)
    of_axes: Any = tuple(np.moveaxis(axes, -1, 0))
    turn = np.stack(np.broadcast_arrays(*matrix(of_axes)), axis=-1).reshape(*axes.shape[:-1], 3, 3)
    found = turn * moments[..., None, :] @ np.swapaxes(turn, -1, -2)
    if np.abs(found - tensor).max() > ROUNDING * np.abs(tensor).max():
        raise ScenarioError(f"{' and '.join(PRINCIPAL_AXES_KEYS)} of {where} do not match its inertia: remove them")
    return Diagonalized(tensor, moments, axes)


def _refuse_keys(table: Mapping[str, Any], keys: Sequence[str], where: str, why: str, instead: str) -> None:
    for key in keys:
        if key in table:
            raise ScenarioError(f"{where} {why.format(key)}: remove {key}, or {instead}")


def _read_shape(table: Any, where: str, folder: Path | None) -> Body:
    refuse_unknown_keys({} if isinstance(table, Mapping) else table, (), f"the shape of {where}")
    kind = table.get("kind")
    if kind not in shapes.__all__:
        raise ScenarioError(f"its kind is {kind!r}: {suggest_name(kind, shapes.__all__)}")
    maker: Callable[..., Body] = getattr(shapes, kind)
    return maker(**_check_arguments(maker, {key: value for key, value in table.items() if key != "kind"}, kind))


def _read_parts(table: Mapping[str, Any], where: str) -> tuple[Part, ...]:
    """The geometry of a body that is given by its numbers."""
    parts = table.get("parts", [])
    if not isinstance(parts, (list, tuple)):
        raise ScenarioError(f"parts of {where} must be a list of tables, not {parts!r}")
    return tuple(_read_part(part, f"part {i} of {where}") for i, part in enumerate(parts))


def _read_part(table: Any, where: str) -> Part:
    refuse_unknown_keys(table, PART_KEYS, where)
    if ("shape" in table) == ("vertices" in table) or ("vertices" in table) != ("faces" in table):
        raise ScenarioError(f"{where} needs its shape, or its vertices and faces")
    linear = _read_array(table.get("linear", np.eye(3)), (3, 3), f"linear of {where}")
    if not np.linalg.det(linear):
        raise ScenarioError(f"linear of {where} must not be singular: it places the shape, r -> linear r + offset")
    offset = _read_array(table.get("offset", np.zeros(3)), (3,), f"offset of {where}")
    is_hole, is_mixed = (
        validation.check_flag(table.get(key, False), f"{key} of {where}", ScenarioError)
        for key in ("is_hole", "is_mixed")
    )
    source = _read_part_shape(table["shape"], where) if "shape" in table else _read_surface(table, where)
    return Part(source, linear, offset, is_hole, is_mixed)


def _read_part_shape(table: Any, where: str) -> GeometrySource:
    refuse_unknown_keys({} if isinstance(table, Mapping) else table, (), f"the shape of {where}")
    if "mass" in table or "density" in table:
        raise ScenarioError(f"the shape of {where} has a mass or density, which is the body's: leave it out")
    try:
        return _read_shape({**table, "mass": 1.0}, where, None).parts[0].source
    except PolhodeError as error:
        raise type(error)(f"shape of {where}: {error}") from None


def _read_surface(table: Mapping[str, Any], where: str) -> Surface:
    for key in ("vertices", "faces"):
        shape = validation.shape_of(table[key])
        if len(shape) != 2 or shape[1] != 3:
            raise ScenarioError(f"{key} of {where} must be a list of rows of three numbers")
    vertices, faces = (
        _read_array(table[key], validation.shape_of(table[key]), f"{key} of {where}") for key in ("vertices", "faces")
    )
    numbers = faces.astype(np.int64)
    if (numbers != faces).any() or numbers.min() < 0 or numbers.max() >= len(vertices):
        raise ScenarioError(f"faces of {where} must be indices of its {len(vertices)} vertices, from 0")
    return Surface(vertices, numbers)


def _read_array(value: Any, shape: tuple[int, ...], name: str) -> Array:
    array = validation.check_numbers(value, name, shape, ScenarioError)
    if array.shape != shape:
        raise ScenarioError(f"{name} must be {' x '.join(map(str, shape))} numbers, but has the shape {array.shape}")
    return array


def _read_mesh_file(make: Callable[..., Body], table: Any, where: str, folder: Path | None) -> Body:
    refuse_unknown_keys({} if isinstance(table, Mapping) else table, (), f"the mesh of {where}")
    if not isinstance(table.get("file"), str):
        raise ScenarioError('it needs its file, as in { file = "part.stl", density = 2700.0, unit = "mm" }')
    if folder is None:
        raise ScenarioError(f"it is the file {table['file']!r}, but only a scenario file may name other files")
    given = _check_arguments(make, {key: value for key, value in table.items() if key != "file"}, "the mesh", "mesh")
    return make(folder / table["file"], **given)


def _check_arguments(make: Callable[..., Body], given: dict[str, Any], what: str, *without: str) -> dict[str, Any]:
    """The arguments of a constructor: all known, none missing."""
    parameters = {n: p for n, p in inspect.signature(make).parameters.items() if n not in without}
    refuse_unknown_keys(given, tuple(parameters), what)
    missing = [name for name, p in parameters.items() if p.default is p.empty and name not in given]
    if missing:
        raise ScenarioError(f"{what} needs {', '.join(missing)}")
    return given


GEOMETRY_READERS: dict[str, Callable[[Any, str, Path | None], Body]] = {
    "shape": _read_shape,
    "mesh": partial(_read_mesh_file, Body.from_mesh),
    "volume_mesh": partial(_read_mesh_file, Body.from_volume_mesh),
}
