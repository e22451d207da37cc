"""Bodies in scenario files: by their mass properties, as a shape, or from a mesh file."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from polhode import rotations, validation
from polhode.equations.quaternions import matrix
from polhode.equations.scalar_ops import cos, sin
from polhode.errors import PolhodeError, ScenarioError, show
from polhode.massprops import shapes
from polhode.massprops.appearance_table import PLACEMENT_KEYS
from polhode.massprops.body import Body, particle
from polhode.massprops.geometry import GeometrySource, Part, Surface
from polhode.massprops.principal_axes import ROUNDING, Diagonalized
from polhode.scenario.part import refuse_unknown_keys
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
"""Of a part that is geometry alone, of a body that is given by its numbers."""
JOINED_PART_KEYS = (*GEOMETRY_KEYS, "particle", "is_hole")
"""Of a part that has mass, of a body that is made of its parts."""
TURN_KEYS = ("rotation", "quaternion_wxyz")
PLACE_KEYS = ("position", *TURN_KEYS)
"""Where a shape, a mesh or a particle lies in the coordinates of its body."""
ROTATION_KEYS = ("axis", "angle_deg", "angle")


def read_body(table: Mapping[str, Any], where: str, folder: Path | None) -> Body:
    """The body of a table; relative paths of meshes start at the folder; without one meshes are refused."""
    is_particle = validation.check_flag(table.get("particle", False), f"particle of {where}", ScenarioError)
    geometry = [key for key in GEOMETRY_KEYS if key in table]
    kinds = (["particle"] if is_particle else []) + geometry
    if len(kinds) > 1:
        raise ScenarioError(f"{where} has {' and '.join(kinds)}: give one of them")
    if geometry:
        (kind,) = geometry
        if not isinstance(table[kind], Body):
            _refuse_keys(table, (*NUMBER_KEYS, "parts"), where, f"takes its {{}} from its {kind}", kind)
        return _read_geometry(kind, table[kind], where, folder)
    if "parts" in table and "inertia" not in table and not is_particle:
        _refuse_keys(table, NUMBER_KEYS, where, "takes its {} from its parts", "give its inertia too")
        return _join_parts(table["parts"], where, folder)
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
            f"{where} needs its inertia in kg m2, three moments or a 3 x 3 tensor; or a shape, a mesh, parts, or "
            "particle = true"
        )
    numbers = {key: table[key] for key in NUMBER_KEYS if key in table and key not in PRINCIPAL_AXES_KEYS}
    if "products" in numbers:
        _refuse_keys(table, PRINCIPAL_AXES_KEYS, where, "has products, and so no {}", "products")
        signed = Body.from_tensor(table["mass"], table["inertia"], products=numbers.pop("products"))
        numbers["inertia"] = signed.inertia_body
    return Body(**numbers, parts=_read_parts(table, where), diagonalized=_read_diagonalized(table, where))


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


def read_turn(table: Mapping[str, Any], where: str) -> Array | None:
    """The quaternion (w, x, y, z) of a table: as it is written, or by axis and angle; None if it has neither."""
    given = [key for key in TURN_KEYS if key in table]
    if len(given) > 1:
        raise ScenarioError(f"{where} has {' and '.join(given)}, which say the same: give one of them")
    if not given:
        return None
    if given == ["quaternion_wxyz"]:
        return validation.check_numbers(table["quaternion_wxyz"], f"quaternion_wxyz of {where}", (4,), ScenarioError)
    rotation = table["rotation"]
    turns = rotation if isinstance(rotation, list) else [rotation]
    if not turns:
        raise ScenarioError(f"rotation of {where} is an empty list: remove it")
    made = [_read_axis_and_angle(one, f"rotation of {where}") for one in turns]
    total = made[0]
    for next_turn in made[1:]:
        total = rotations.product(next_turn, total)
    return total


def _read_axis_and_angle(table: Any, where: str) -> Array:
    example = "{ axis = [1.0, 0.0, 0.0], angle_deg = 30.0 }"
    if not isinstance(table, Mapping):
        raise ScenarioError(f"{where} is an axis and an angle, as in {example}, or a list of them, not {show(table)}")
    refuse_unknown_keys(table, ROTATION_KEYS, where)
    angles = [key for key in ("angle_deg", "angle") if key in table]
    if "axis" not in table or len(angles) != 1:
        raise ScenarioError(f"{where} needs its axis and one angle, angle_deg or (in rad) angle, as in {example}")
    angle = validation.check_numbers(table[angles[0]], f"{angles[0]} of {where}", (), ScenarioError)
    try:
        # The axis as a unit vector: half a turn has the sine 1.
        axis = rotations.quaternion(table["axis"], np.pi)[..., 1:]
    except PolhodeError as error:
        raise ScenarioError(f"{where}: {error}") from None
    # Sine and cosine that have the same bits everywhere: a page with live knobs computes them too.
    half = validation.as_leaf(angle * (np.pi / 360 if angles[0] == "angle_deg" else 0.5))
    sine = sin(half)
    return np.stack(np.broadcast_arrays(cos(half), *(sine * axis[..., k] for k in range(3))), axis=-1)


def _read_geometry(kind: str, table: Any, where: str, folder: Path | None) -> Body:
    """The body of a shape or a mesh, in its place: turned about the origin of its coordinates, and then moved."""
    if isinstance(table, Body):  # read before: for the members of a sweep, and for knobs
        return table
    try:
        refuse_unknown_keys({} if isinstance(table, Mapping) else table, (), f"the {kind} of {where}")
        without_place = {key: value for key, value in table.items() if key not in PLACE_KEYS}
        return _place_body(GEOMETRY_READERS[kind](without_place, where, folder), table, "it")
    except PolhodeError as error:
        raise type(error)(f"{kind} of {where}: {error}") from None


def _place_body(body: Body, table: Mapping[str, Any], where: str) -> Body:
    turn = read_turn(table, where)
    if turn is not None:
        from scipy.spatial.transform import Rotation

        if not np.any(turn, axis=-1).all():
            raise ScenarioError(f"quaternion_wxyz of {where} must not be zero")
        body = body.turn(Rotation.from_quat(np.roll(turn, -1, axis=-1)))
    return body.move(table["position"]) if "position" in table else body


def _join_parts(parts: Any, where: str, folder: Path | None) -> Body:
    """One body of several, each in its place; then the holes are subtracted."""
    if not isinstance(parts, list) or not parts:
        raise ScenarioError(f"parts of {where} must be a list of tables, not {show(parts)}")
    made = [_read_joined_part(part, f"part {i} of {where}", folder) for i, part in enumerate(parts)]
    solids, holes = ([body for body, is_hole in made if is_hole == wanted] for wanted in (False, True))
    if not solids:
        raise ScenarioError(f"all parts of {where} are holes: nothing is left of it")
    try:
        return solids[0].join(*solids[1:]).subtract(*holes)
    except PolhodeError as error:
        raise type(error)(f"parts of {where}: {error}") from None


def _read_joined_part(table: Any, where: str, folder: Path | None) -> tuple[Body, bool]:
    if isinstance(table, Mapping) and any(key in table for key in ("vertices", *PLACEMENT_KEYS[:2])):
        raise ScenarioError(
            f"{where} is geometry without mass, of a body that is given by its numbers: give the body its mass and "
            "inertia, or the part a shape with a mass or density"
        )
    refuse_unknown_keys(table, JOINED_PART_KEYS, where)
    kinds = [key for key in (*GEOMETRY_KEYS, "particle") if key in table]
    if len(kinds) != 1:
        found = " and ".join(kinds) or "none of them"
        raise ScenarioError(f"{where} needs one of shape, mesh, volume_mesh and particle, but has {found}")
    is_hole = validation.check_flag(table.get("is_hole", False), f"is_hole of {where}", ScenarioError)
    (kind,) = kinds
    if kind != "particle":
        return _read_geometry(kind, table[kind], where, folder), is_hole
    refuse_unknown_keys(table[kind], ("mass", "position"), f"the particle of {where}")
    if "mass" not in table[kind]:
        raise ScenarioError(f"the particle of {where} needs its mass, in kg")
    return particle(table[kind]["mass"]).move(table[kind].get("position", (0.0, 0.0, 0.0))), is_hole


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
    for key in ("mass", "density"):
        if key in table:
            raise ScenarioError(
                f"the shape of {where} has a {key}, but the mass is the body's, which is given by its numbers: leave "
                "out one of the two"
            )
    for key in PLACE_KEYS:
        if key in table:
            raise ScenarioError(f"the shape of {where} is placed by linear and offset of the part, not by its {key}")
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
