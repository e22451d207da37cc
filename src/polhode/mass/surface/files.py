"""Surface meshes from files, through trimesh, as they are: nothing merged by a tolerance, nothing dropped, no guess."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from polhode.checks import Array
from polhode.errors import FileError, MassWarning, MeshError
from polhode.mass.geometry import Indices, Surface
from polhode.mass.units import UNIT_NAMES, metres_per

SUSPECT = 10.0
"""A part longer than this, in m, was perhaps drawn in millimetres."""


class Read(NamedTuple):
    """A surface in metres, and what is to be said about how it was read."""

    surface: Surface
    unit: str
    name: str
    notes: tuple[str, ...]
    warnings: tuple[str, ...]


def read_surface(mesh: Any, unit: str | None = None) -> Read:
    """The surface of a file or of a `trimesh.Trimesh`, equal corners joined."""
    if isinstance(mesh, (str, Path)):
        path = Path(mesh)
        name, (vertices, faces, said) = path.name, _from_file(path)
    else:
        name, (vertices, faces, said) = "the mesh", _from_trimesh(mesh)
    notes, doubts = [], []
    if unit is None and said is not None:
        notes.append(f"{name} says that it is in {said}")
    if unit is not None and said not in (None, unit):
        doubts.append(f"{name} says that it is in {said}, but is read in {unit}, as asked")
    used = unit or said or "m"
    scale = metres_per(used)
    surface = welded(_checked(vertices, faces, name))
    is_used = np.zeros(len(surface.vertices), dtype=bool)
    is_used[surface.faces] = True
    unused = int((~is_used).sum())
    if unused:
        doubts.append(f"{unused} of {len(surface.vertices)} points belong to no face: was the file cut off?")
    surface = Surface(surface.vertices * scale, surface.faces)
    longest = float((surface.vertices.max(axis=0) - surface.vertices.min(axis=0)).max())
    if unit is None and longest > SUSPECT:
        doubts.append(
            f"{name} is {longest:.6g} m long, read in {used}: if it was drawn in millimetres, pass unit='mm'; "
            f"if not, unit={used!r} says so"
        )
    return Read(surface, used, name, tuple(notes), tuple(doubts))


def warn(sentences: tuple[str, ...] | list[str]) -> None:
    """Say what is odd."""
    for sentence in sentences:
        warnings.warn(sentence, MassWarning, stacklevel=4)


def welded(surface: Surface) -> Surface:
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


def _from_trimesh(mesh: Any) -> tuple[Array, Indices, str | None]:
    import trimesh

    if isinstance(mesh, trimesh.Scene):
        mesh = mesh.to_mesh()
    if not isinstance(mesh, trimesh.Trimesh):
        raise MeshError(f"a mesh is a path or a trimesh.Trimesh, not {type(mesh).__name__}")
    return np.array(mesh.vertices, dtype=np.float64), np.array(mesh.faces, dtype=np.int64), _unit_of(mesh)


def _from_file(path: Path) -> tuple[Array, Indices, str | None]:
    import trimesh

    if not path.is_file():
        raise FileError(f"there is no file {path}")
    try:
        with _quiet():
            scene = trimesh.load_scene(path, process=False)
            mesh = scene.to_mesh() if scene.geometry else None
    except Exception as error:
        missing = isinstance(error, ImportError)
        hint = (
            f"install {error.name}"
            if missing and isinstance(error, ImportError)
            else "is it whole, and what its name says?"
        )
        raise FileError(f"{path} cannot be read as a surface mesh ({type(error).__name__}: {error}): {hint}") from None
    if mesh is None or not len(getattr(mesh, "faces", ())):
        raise FileError(f"{path} holds no triangles: is it whole, and a surface mesh?")
    if path.suffix.lower() == ".stl":
        _check_stl(path, len(mesh.faces))
    return (*_from_trimesh(mesh)[:2], _unit_of(scene))


def _check_stl(path: Path, found: int) -> None:
    """trimesh leaves out what lies behind the last `endsolid` of a text."""
    content = path.read_bytes()
    if content[:512].lstrip()[:5].lower() == b"solid" and b"facet" in content[:1024].lower():
        told = len(re.findall(rb"facet\s+normal", content, re.IGNORECASE))
        if told != found:
            raise FileError(f"{path} begins {told} facets, but only {found} lie within whole solids: it was cut off")


def _unit_of(mesh: Any) -> str | None:
    """The unit that a file states, by the name that we give it."""
    with _quiet():
        said = mesh.units
    if said is None:
        return None
    if str(said).lower() not in UNIT_NAMES:
        raise FileError(f"the mesh says that it is in {said!r}, which is unknown here: pass unit=")
    return UNIT_NAMES[str(said).lower()]


def _checked(vertices: Array, faces: Indices, name: str) -> Surface:
    """Corners that are numbers, and faces of corners that exist."""
    if not len(faces):
        raise MeshError(f"{name} has no faces")
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
    return Surface(vertices, faces)


@contextmanager
def _quiet() -> Iterator[None]:
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
