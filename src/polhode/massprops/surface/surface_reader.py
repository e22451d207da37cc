"""Surface meshes from files, through trimesh, as they are: nothing merged by a tolerance, nothing dropped, no guess."""

from __future__ import annotations

import logging
import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import FileError, MassWarning, MeshError
from polhode.massprops.geometry import Indices, Surface
from polhode.massprops.length_units import LONGEST_UNITLESS_M, UNIT_NAMES, meters_per
from polhode.massprops.surface.obj import read_obj
from polhode.validation import Array

SMALLEST_COORDINATE, LARGEST_COORDINATE = 1e-50, 1e50
"""Coordinates whose fifth power is still a number."""


class SurfaceReading(NamedTuple):
    """A surface in the file's own unit, which keeps its digits, and what is to be said about how it was read."""

    surface: Surface
    unit: str
    metres: float
    """How long the unit is."""
    name: str
    notes: tuple[str, ...]
    warnings: tuple[str, ...]


def read_surface(mesh: Any, unit: str | None = None) -> SurfaceReading:
    """The surface of a file or of a `trimesh.Trimesh`, equal corners joined."""
    if isinstance(mesh, (str, Path)):
        path = Path(mesh)
        name, (vertices, faces, said, doubts) = path.name, _read_surface_file(path)
    else:
        name, (vertices, faces, said, doubts) = "the mesh", _read_trimesh(mesh)
    notes = []
    if unit is None and said is not None:
        if said not in UNIT_NAMES:
            raise FileError(f"{name} says that it is in {said!r}, which is unknown here: pass unit=")
        notes.append(f"{name} says that it is in {UNIT_NAMES[said]}")
    used = unit or UNIT_NAMES.get(said or "m", "m")
    metres = meters_per(used)
    if unit is not None and said is not None and (said not in UNIT_NAMES or meters_per(UNIT_NAMES[said]) != metres):
        doubts.append(f"{name} says that it is in {UNIT_NAMES.get(said, said)}, but is read in {unit}, as asked")
    surface = merge_vertices(_check_surface(vertices, faces, name))
    is_used = np.zeros(len(surface.vertices), dtype=bool)
    is_used[surface.faces] = True
    unused = int((~is_used).sum())
    if unused:
        doubts.append(f"{unused} of {len(surface.vertices)} points belong to no face: was the file cut off?")
    low, high = surface.box
    longest = float((high - low).max()) * metres
    if unit is None and longest > LONGEST_UNITLESS_M:
        doubts.append(
            f"{name} is {longest:.6g} m long, read in {used}: if it was drawn in millimetres, pass unit='mm'; "
            f"if not, unit={used!r} says so"
        )
    return SurfaceReading(surface, used, metres, name, tuple(notes), tuple(doubts))


def emit_mass_warnings(sentences: tuple[str, ...] | list[str]) -> None:
    """Say what is odd."""
    for sentence in sentences:
        warnings.warn(sentence, MassWarning, stacklevel=4)


def merge_vertices(surface: Surface) -> Surface:
    """The same surface with corners at exactly the same place made one; STL files know no corners, only places."""
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
    if not np.array_equal(vertices[first][number], vertices):  # two places share a number: one in 1e19
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
            raise FileError(f"{path} is a folder, not a mesh")
        if not path.is_file():
            raise FileError(f"there is no file {path}")
        if path.suffix.lower() == ".obj":
            points, triangles, more = read_obj(path)
            return points, triangles, None, list(more)
        scene, mesh = _load_with_trimesh(path)
        check = COMPLETENESS_CHECKS.get(path.suffix.lower())
        if check is not None:
            check(path, sum(len(getattr(g, "faces", ())) for g in scene.geometry.values()))
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error}") from None
    if mesh is None or not len(getattr(mesh, "faces", ())):
        raise FileError(f"{path} holds no triangles: is it whole, and a surface mesh?")
    return (*_read_trimesh(mesh)[:2], _stated_unit(scene), [])


def _load_with_trimesh(path: Path) -> tuple[Any, Any]:
    """What trimesh reads, as it is, and the same as one mesh."""
    import trimesh

    try:
        with _silence_libraries():
            scene = trimesh.load_scene(path, process=False)
            return scene, scene.to_mesh() if scene.geometry else None
    except OSError:
        raise
    except UnicodeEncodeError:
        shown = os.fsencode(path.name).decode(errors="replace")
        raise FileError(f"{shown}: this name is no text: rename the file") from None
    except ImportError as error:
        needed = f": install {error.name}" if error.name else ""
        raise FileError(f"{path} cannot be read without a further package{needed} ({error})") from None
    except Exception as error:
        raise FileError(
            f"{path} cannot be read as a surface mesh ({type(error).__name__}: {error}). Is it whole, and what its "
            "name says? Else save it anew, as triangles, in STL or PLY"
        ) from None


def _check_stl(path: Path, found: int) -> None:
    """trimesh leaves out what lies behind the last `endsolid` of a text."""
    content = path.read_bytes()
    if len(content) == 84 + 50 * int.from_bytes(content[80:84], "little"):
        return  # a binary one, whatever its header says
    told = len(re.findall(rb"^\s*facet\s+normal", content, re.IGNORECASE | re.MULTILINE))
    if told > found:
        raise FileError(f"{path} begins {told} facets, but only {found} lie within whole solids: it was cut off")


def _check_ply(path: Path, found: int) -> None:
    """trimesh reads as many lines of a text as there are, whatever the header says."""
    head, _, body = path.read_bytes().partition(b"end_header")
    if b"format ascii" in head:
        told = sum(int(number) for number in re.findall(rb"^element\s+\S+\s+(\d+)", head, re.MULTILINE))
        _check_line_count(path, told, [line for line in body.splitlines() if line.strip()])


def _check_off(path: Path, found: int) -> None:
    """The same."""
    lines = [line.split(b"#")[0].strip() for line in path.read_bytes().splitlines()]
    numbers = b" ".join(lines).upper().partition(b"OFF")[2].split()[:2]
    if len(numbers) == 2 and all(number.isdigit() for number in numbers):
        lines = [line for line in lines if line]
        head = 1 if len(lines[0].split()) > 1 else 2
        _check_line_count(path, int(numbers[0]) + int(numbers[1]), lines[head:])


def _check_line_count(path: Path, told: int, lines: list[bytes]) -> None:
    if len(lines) < told:
        raise FileError(f"{path} announces {told} lines of points and faces, but has {len(lines)}: it was cut off")


COMPLETENESS_CHECKS = {".stl": _check_stl, ".ply": _check_ply, ".off": _check_off}
"""Whether a file is whole, where trimesh does not look."""


def _stated_unit(mesh: Any) -> str | None:
    """The unit that a file states."""
    with _silence_libraries():
        said = mesh.units
    return None if said is None else str(said).lower()


def _check_surface(vertices: Array, faces: Indices, name: str) -> Surface:
    """Corners that are numbers, and faces of corners that exist."""
    if not len(faces):
        raise MeshError(f"{name} has no faces")
    if vertices.ndim != 2 or vertices.shape[1] != 3 or faces.ndim != 2 or faces.shape[1] != 3:
        raise MeshError(f"{name} is no mesh of triangles in space: its arrays are {vertices.shape} and {faces.shape}")
    bad = np.flatnonzero(~np.isfinite(vertices).all(axis=1))
    if len(bad):
        raise MeshError(
            f"{len(bad)} of {len(vertices)} points of {name} are not finite numbers, the first is number {bad[0]}, "
            f"{vertices[bad[0]].tolist()}: mend the file, or what wrote it"
        )
    if faces.min() < 0 or faces.max() >= len(vertices):
        wrong = int(np.flatnonzero(((faces < 0) | (faces >= len(vertices))).any(axis=1))[0])
        raise MeshError(
            f"face {wrong} of {name} has the corners {faces[wrong].tolist()}, but there are {len(vertices)} points"
        )
    longest = float(np.abs(vertices).max())
    if not longest == 0 and not SMALLEST_COORDINATE < longest < LARGEST_COORDINATE:
        raise MeshError(f"{name} has coordinates of {longest:g}: numbers of that size cannot be multiplied. Pass unit=")
    return Surface(vertices, faces)


@contextmanager
def _silence_libraries() -> Iterator[None]:
    """Without what trimesh and NumPy would print: what matters is said in our own sentences."""
    log = logging.getLogger("trimesh")
    was = log.disabled
    log.disabled = True
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            yield
    finally:
        log.disabled = was
