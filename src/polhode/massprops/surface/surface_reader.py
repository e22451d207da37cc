"""Read surface meshes through trimesh unchanged: nothing merged by a tolerance, nothing dropped."""

from __future__ import annotations

import logging
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import FileError, MassWarning, MeshError, find_stacklevel
from polhode.massprops.cad_formats import refuse_cad_file
from polhode.massprops.geometry import Indices, Surface
from polhode.massprops.length_units import LONGEST_UNITLESS_M, UNIT_NAMES, meters_per
from polhode.massprops.surface.obj import read_obj
from polhode.validation import Array

SMALLEST_COORDINATE, LARGEST_COORDINATE = 1e-50, 1e50
"""Coordinates whose fifth power neither underflows nor overflows."""


class SurfaceReading(NamedTuple):
    """A surface in the file's own unit, which preserves its digits, and what was found while reading."""

    surface: Surface
    unit: str
    meters: float
    """Length of the unit, in m."""
    name: str
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    extents: tuple[float, float, float] | None = None
    """Along the axes, in m, if the unit was neither given nor stated by the file."""

    def warnings_with_mass(self, sentences: Sequence[str], mass: float) -> list[str]:
        """The same, with the mass in the one about the unit: nothing shows a wrong unit better."""
        if self.extents is None:
            return list(sentences)
        plain, weighed = (_unit_sentence(self.name, self.unit, self.extents, m) for m in (None, mass))
        return [weighed if sentence == plain else sentence for sentence in sentences]


def read_surface(mesh: Any, unit: str | None = None) -> SurfaceReading:
    """The surface of a file or a `trimesh.Trimesh`, identical vertices merged."""
    if isinstance(mesh, (str, Path)):
        path = Path(mesh)
        name, (vertices, faces, stated, odd) = path.name, _read_surface_file(path)
    else:
        name, (vertices, faces, stated, odd) = "the mesh", _read_trimesh(mesh)
    notes = []
    if unit is None and stated is not None:
        if stated not in UNIT_NAMES:
            raise FileError(f"{name} states the unknown unit {stated!r}: pass unit=")
        notes.append(f"{name} states its unit: {UNIT_NAMES[stated]}")
    used = unit or UNIT_NAMES.get(stated or "m", "m")
    meters = meters_per(used)
    if unit is not None and stated is not None and (stated not in UNIT_NAMES or meters_per(stated) != meters):
        odd.append(f"{name} states its unit: {UNIT_NAMES.get(stated, stated)}, but is read in {unit}, as requested")
    surface = merge_vertices(_check_surface(vertices, faces, name))
    is_used = np.zeros(len(surface.vertices), dtype=bool)
    is_used[surface.faces] = True
    unused = int((~is_used).sum())
    if unused:
        odd.append(f"{unused} of {len(surface.vertices)} points belong to no face: was the file truncated?")
    low, high = surface.box
    x, y, z = ((high - low) * meters).tolist()
    longest, extents = max(x, y, z), None
    if unit is None and stated is None and isinstance(mesh, (str, Path)):
        extents = (x, y, z)
        odd.append(_unit_sentence(name, used, extents, None))
    elif unit is None and longest > LONGEST_UNITLESS_M:
        odd.append(
            f"{name} is {longest:.6g} m long, read in {used}: if it was drawn in millimeters, pass unit='mm'; "
            f"if not, pass unit={used!r}"
        )
    return SurfaceReading(surface, used, meters, name, tuple(notes), tuple(odd), extents)


def _unit_sentence(name: str, unit: str, extents: tuple[float, float, float], mass: float | None) -> str:
    """What was made of a file that does not say in which unit it was drawn."""
    size = " x ".join(f"{length:.4g}" for length in extents)
    weight = "" if mass is None else f" and weighs {mass:.4g} kg"
    return (
        f"{name} states no unit and was read in {unit}: it is {size} m large{weight}. If it was drawn in millimeters, "
        f"pass unit='mm'; if this is right, unit={unit!r} says so"
    )


def emit_mass_warnings(sentences: tuple[str, ...] | list[str]) -> None:
    """Raise each sentence as a `MassWarning`."""
    for sentence in sentences:
        warnings.warn(sentence, MassWarning, stacklevel=find_stacklevel())


def merge_vertices(surface: Surface) -> Surface:
    """The surface with exactly coincident vertices merged; STL files do not share vertices."""
    vertices = surface.vertices + 0.0  # -0 becomes 0
    bits = vertices.view(np.uint64)
    mixed = np.zeros(len(vertices), dtype=np.uint64)
    for column in bits.T:
        mixed ^= column
        mixed ^= mixed >> np.uint64(32)
        mixed *= np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    order = np.argsort(mixed, kind="stable")
    mixed = mixed[order]
    is_new = np.ones(len(order), dtype=bool)
    np.not_equal(mixed[1:], mixed[:-1], out=is_new[1:])
    if is_new.all():
        return surface
    first = order[is_new]
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.cumsum(is_new) - 1
    if not np.array_equal(vertices[first][number], vertices):  # a hash collision: one in 1e19
        _, first, number = np.unique(vertices, axis=0, return_index=True, return_inverse=True)
    return Surface(vertices[first], number.reshape(-1)[surface.faces])


def _read_trimesh(mesh: Any) -> tuple[Array, Indices, str | None, list[str]]:
    import trimesh

    if isinstance(mesh, trimesh.Scene):
        mesh = mesh.to_mesh()
    if not isinstance(mesh, trimesh.Trimesh):
        raise MeshError(f"a mesh is a path or a trimesh.Trimesh, not {type(mesh).__name__}")
    return np.array(mesh.vertices, dtype=np.float64), np.array(mesh.faces, dtype=np.int64), _stated_unit(mesh), []


def _read_surface_file(path: Path) -> tuple[Array, Indices, str | None, list[str]]:
    try:
        if path.is_dir():
            raise FileError(f"{path} is a directory, not a mesh")
        if not path.is_file():
            raise FileError(f"there is no file {path}")
        refuse_cad_file(path)
        if path.suffix.lower() == ".obj":
            points, triangles, more = read_obj(path)
            return points, triangles, None, list(more)
        if path.suffix.lower() == ".stl":
            _check_binary_stl(path)
        scene, mesh = _load_with_trimesh(path)
        check = COMPLETENESS_CHECKS.get(path.suffix.lower())
        if check is not None:
            check(path, sum(len(getattr(g, "faces", ())) for g in scene.geometry.values()))
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error}") from None
    if mesh is None or not len(getattr(mesh, "faces", ())):
        raise FileError(f"{path} contains no triangles: is it complete, and a surface mesh?")
    return (*_read_trimesh(mesh)[:2], _stated_unit(scene), [])


def _load_with_trimesh(path: Path) -> tuple[Any, Any]:
    """The scene that trimesh reads, and the same as one mesh."""
    import trimesh

    try:
        with _silence_libraries():
            scene = trimesh.load_scene(path, process=False)
            return scene, scene.to_mesh() if scene.geometry else None
    except OSError:
        raise
    except UnicodeEncodeError:
        name = os.fsencode(path.name).decode(errors="replace")
        raise FileError(f"{name}: this name is not valid text: rename the file") from None
    except ImportError as error:
        if error.name in ("charset_normalizer", "chardet"):  # which would guess the encoding of damaged bytes
            raise FileError(f"{path} is neither text nor a complete binary mesh: was it truncated?") from None
        needed = f": install {error.name}" if error.name else ""
        raise FileError(f"{path} cannot be read without a further package{needed} ({error})") from None
    except Exception as error:
        raise FileError(
            f"{path} cannot be read as a surface mesh ({type(error).__name__}: {error}). Is it complete, and does its "
            "suffix match its format? Otherwise save it again, as triangles, in STL or PLY"
        ) from None


def _check_binary_stl(path: Path) -> None:
    """trimesh takes a binary file of another length than its header says for text."""
    with path.open("rb") as file:
        head = file.read(84)
    size = path.stat().st_size
    if b"\0" not in head:
        return  # text
    if size < 84:
        raise FileError(f"{path} has {size} bytes, but a binary STL begins with 84: it was truncated")
    stated = int.from_bytes(head[80:], "little")
    if size != 84 + 50 * stated:
        raise FileError(
            f"{path} announces {stated} triangles, {84 + 50 * stated} bytes, but has {size} bytes: it was "
            f"{'truncated' if size < 84 + 50 * stated else 'damaged'}"
        )


def _check_stl(path: Path, found: int) -> None:
    """trimesh drops what follows the last `endsolid` of a text file."""
    content = path.read_bytes()
    if len(content) == 84 + 50 * int.from_bytes(content[80:84], "little"):
        return  # binary, whatever its header says
    stated = len(re.findall(rb"^\s*facet\s+normal", content, re.IGNORECASE | re.MULTILINE))
    if stated > found:
        raise FileError(f"{path} begins {stated} facets, but only {found} lie in complete solids: it was truncated")


def _check_ply(path: Path, found: int) -> None:
    """trimesh reads as many lines of a text file as there are, whatever the header says."""
    head, _, body = path.read_bytes().partition(b"end_header")
    if b"format ascii" in head:
        stated = sum(int(number) for number in re.findall(rb"^element\s+\S+\s+(\d+)", head, re.MULTILINE))
        _check_line_count(path, stated, [line for line in body.splitlines() if line.strip()])


def _check_off(path: Path, found: int) -> None:
    """trimesh reads as many lines as there are, whatever the header says."""
    lines = [line.split(b"#")[0].strip() for line in path.read_bytes().splitlines()]
    numbers = b" ".join(lines).upper().partition(b"OFF")[2].split()[:2]
    if len(numbers) == 2 and all(number.isdigit() for number in numbers):
        lines = [line for line in lines if line]
        head = 1 if len(lines[0].split()) > 1 else 2
        _check_line_count(path, int(numbers[0]) + int(numbers[1]), lines[head:])


def _check_line_count(path: Path, stated: int, lines: list[bytes]) -> None:
    if len(lines) < stated:
        raise FileError(f"{path} announces {stated} lines of points and faces, but has {len(lines)}: it was truncated")


COMPLETENESS_CHECKS = {".stl": _check_stl, ".ply": _check_ply, ".off": _check_off}
"""Checks that a file is complete, where trimesh has none."""


def _stated_unit(mesh: Any) -> str | None:
    """The unit that a file states."""
    with _silence_libraries():
        unit = mesh.units
    return None if unit is None else str(unit).lower()


def _check_surface(vertices: Array, faces: Indices, name: str) -> Surface:
    """Validate vertices and faces: shapes, finite coordinates, existing vertices."""
    if not len(faces):
        raise MeshError(f"{name} has no faces")
    if vertices.ndim != 2 or vertices.shape[1] != 3 or faces.ndim != 2 or faces.shape[1] != 3:
        raise MeshError(
            f"{name} is not a triangle mesh in 3D: its arrays have shapes {vertices.shape} and {faces.shape}"
        )
    bad = np.flatnonzero(~np.isfinite(vertices).all(axis=1))
    if len(bad):
        raise MeshError(
            f"{len(bad)} of {len(vertices)} points of {name} are not finite, the first is number {bad[0]}, "
            f"{vertices[bad[0]].tolist()}: fix the file, or the program that wrote it"
        )
    if faces.min() < 0 or faces.max() >= len(vertices):
        wrong = int(np.flatnonzero(((faces < 0) | (faces >= len(vertices))).any(axis=1))[0])
        raise MeshError(
            f"face {wrong} of {name} has the corners {faces[wrong].tolist()}, but there are {len(vertices)} points"
        )
    longest = float(np.abs(vertices).max())
    if not longest == 0 and not SMALLEST_COORDINATE < longest < LARGEST_COORDINATE:
        raise MeshError(
            f"{name} has coordinates of {longest:g}: products of such numbers underflow or overflow. Pass unit="
        )
    return Surface(vertices, faces)


@contextmanager
def _silence_libraries() -> Iterator[None]:
    """Suppress the messages of trimesh and NumPy: findings are reported separately."""
    log = logging.getLogger("trimesh")
    was = log.disabled
    log.disabled = True
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            yield
    finally:
        log.disabled = was
