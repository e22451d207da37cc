"""Read volume meshes from files and from meshio: cells, fields and regions.

Regions are, by format:

    Gmsh             physical volumes, by name or number
    Exodus           element blocks, by name or number
    Abaqus           element sets (ELSET), by name
    others           cell sets, by name; else the values of the first integer cell field with a name in REGION_FIELDS
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

from polhode.errors import FileError, InputError, MeshError
from polhode.installation import install_hint
from polhode.massprops.cad_formats import refuse_cad_file
from polhode.massprops.geometry import Indices
from polhode.massprops.volume import abaqus, exodus
from polhode.massprops.volume.cell_types import CELL_TYPES
from polhode.massprops.volume.volume_mesh import VolumeMesh
from polhode.validation import Array

REGION_FIELDS = (
    *("gmsh:physical", "region", "regions", "region_id", "material", "materials", "material_id", "materialid"),
    *("materialids", "medit:ref", "nastran:ref", "avsucd:material", "cell_tags", "subdomain", "elementblockids"),
)
CELLS_WITHOUT_VOLUME = ("vertex", "line", "triangle", "quad", "polygon", "pixel", "empty")
INCOMPLETE_MESSAGES = (
    "cannot handle",
    "not closed",
    "could not parse",
    "doesn't know",
    "Zone specification",
    "Unknown",
)
"""What meshio prints when it skips something."""
REFUSED_FORMATS = {
    ".cgns": "meshio reads only one section of a CGNS file, and would lose the rest",
    ".dat": "meshio never finishes reading a truncated Tecplot file",
    ".tec": "meshio never finishes reading a truncated Tecplot file",
    ".f3grid": "meshio does not notice a truncated FLAC3D file",
    ".mdpa": "meshio never finishes reading a truncated Kratos file",
    ".post": "meshio does not notice a truncated PERMAS file",
    ".dato": "meshio does not notice a truncated PERMAS file",
}
REFUSED_FORMATS |= {".post.gz": REFUSED_FORMATS[".post"], ".dato.gz": REFUSED_FORMATS[".dato"]}
"""Formats that meshio (5.3.5) does not read reliably, by file suffix."""
INSTALL_HINT = f"Reading volume meshes needs more packages: {install_hint('mesh')}"


def read_volume_mesh(mesh: Any) -> VolumeMesh:
    """The volume mesh in a file, or in an object with `points` and `cells` such as meshio's."""
    if hasattr(mesh, "points") and hasattr(mesh, "cells"):
        return _convert_meshio(mesh, ())
    try:
        path = Path(mesh)
    except TypeError:
        raise InputError(f"mesh must be the path of a file, or a meshio.Mesh, not {type(mesh).__name__}") from None
    if not path.is_file():
        raise FileError(f"there is no file {path}" if not path.exists() else f"{path} is not a file")
    refuse_cad_file(path)
    try:
        if path.suffix.lower() in exodus.EXODUS_SUFFIXES:
            return exodus.read_exodus(path)
        if path.suffix.lower() == ".inp" and not _is_avs_ucd(path):
            return abaqus.read_abaqus(path)
        return _convert_meshio(*_read_by_meshio(path))
    except (FileError, MeshError):
        raise
    except ImportError as why:
        raise FileError(f"{path}: {why}. {INSTALL_HINT}") from None
    except Exception as why:  # readers of damaged files may raise anything
        raise FileError(
            f"{path} could not be read as a volume mesh ({type(why).__name__}: {why}): the file is damaged, "
            "truncated, or does not match its suffix"
        ) from None


def _is_avs_ucd(path: Path) -> bool:
    """Whether an .inp file is from AVS, which begins with a digit or #, and not from Abaqus."""
    return _first_character(path).isdigit() or _first_character(path) == b"#"


def _first_character(path: Path) -> bytes:
    """The first non-blank character."""
    with path.open("rb") as file:
        return file.read(64).lstrip()[:1]


# Through meshio -------------------------------------------------------------------------------------------------------
def _read_by_meshio(path: Path) -> tuple[Any, tuple[str, ...]]:
    """The mesh that meshio reads, and what it printed.  It may print, warn, raise anything, or exit."""
    import meshio

    _check_format(path)
    output = io.StringIO()
    with allow_quadratic_cells(), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            with redirect_stdout(output), redirect_stderr(output):
                mesh = meshio.read(path, "avsucd" if path.suffix.lower() == ".inp" else None)
        except SystemExit:
            raise FileError(f"{path} could not be read as a volume mesh: {_to_one_line(output)}") from None
        except meshio.ReadError as why:
            known = ", ".join(sorted(meshio.extension_to_filetypes))
            raise FileError(
                f"{path} could not be read as a volume mesh: {_to_one_line(output) or why}. Known suffixes are "
                f"{', '.join(exodus.EXODUS_SUFFIXES)}, {known}"
            ) from None
    text = _to_one_line(output)
    _check_cell_count(path, sum(len(block.data) for block in mesh.cells))
    if any(sign in text for sign in INCOMPLETE_MESSAGES):
        raise FileError(f"{path} could not be read completely: {text}")
    messages = [str(warning.message) for warning in warned if not issubclass(warning.category, DeprecationWarning)]
    return mesh, tuple(f"While reading: {note}" for note in (text, *messages) if note)


def _check_format(path: Path) -> None:
    """Raise for formats that meshio would silently misread, or never finish reading."""
    suffix = path.suffix.lower()
    why = next((why for end, why in REFUSED_FORMATS.items() if path.name.lower().endswith(end)), None)
    if suffix == ".msh" and _first_character(path) == b"(":
        why = "meshio may never finish reading a truncated Ansys Fluent file"
    if why:
        raise FileError(f"{path}: {why}: convert it to VTU")
    if suffix in (".ele", ".node"):
        for part in (path.with_suffix(".node"), path.with_suffix(".ele")):
            if part.is_file() and not re.search(rb"^\s*[^#\s]", part.read_bytes(), re.MULTILINE):
                raise FileError(f"{part} is empty: was it truncated?")


def _check_cell_count(path: Path, found: int) -> None:
    """Raise if a file has fewer cells than it announces, which meshio does not check."""
    suffix = path.suffix.lower()
    if suffix == ".su2":
        counts = [
            int(n) for n in re.findall(rb"^\s*(?:NELEM|MARKER_ELEMS)\s*=\s*(\d+)", path.read_bytes(), re.MULTILINE)
        ]
        if sum(counts) != found:
            raise FileError(f"{path} announces {sum(counts)} elements, but has {found}: it was truncated")
    if suffix != ".vtk":
        return
    content = path.read_bytes()
    if content.split(b"\n", 3)[2].strip().upper() == b"ASCII" and not content.endswith(b"\n"):
        raise FileError(f"{path} ends in the middle of a line: was it truncated? If not, end it with a newline")
    announced = re.search(rb"\nCELL_TYPES\s+(\d+)", content)
    if announced and int(announced[1]) != found:
        raise FileError(f"{path} announces {int(announced[1])} cells, but has {found}: it was truncated")


def _to_one_line(output: io.StringIO) -> str:
    return " ".join(output.getvalue().split())


@contextmanager
def allow_quadratic_cells() -> Iterator[None]:
    """Let meshio (5.3.5) accept cell types that it can read but whose dimension it does not know."""
    import meshio

    table = getattr(getattr(meshio, "_mesh", None), "topological_dimension", {})
    volumes = ("wedge15", "pyramid13", "hexahedron24", "wedge12", "penta_prism", "hexa_prism", "polyhedron")
    missing = dict.fromkeys(volumes, 3) | {"quad6": 2, "triangle7": 2, "pixel": 2, "empty": 0}
    missing = {kind: dimension for kind, dimension in missing.items() if kind not in table}
    table.update(missing)
    try:
        yield
    finally:
        for kind in missing:
            table.pop(kind, None)


def _convert_meshio(mesh: Any, notes: tuple[str, ...]) -> VolumeMesh:
    """Convert a meshio mesh, ignoring cells without volume."""
    listed = [block if isinstance(block, tuple) else (block.type, block.data) for block in mesh.cells]
    left_out: dict[str, int] = {}
    blocks, kept = [], []
    for number, (kind, cells) in enumerate(listed):
        if kind in CELL_TYPES:
            blocks.append((kind, _check_connectivity(kind, cells)))
            kept.append(number)
        elif kind.startswith(CELLS_WITHOUT_VOLUME) or kind.endswith(("_CURVE", "_TRIANGLE", "_QUADRILATERAL")):
            left_out[kind] = left_out.get(kind, 0) + len(cells)
        else:
            raise MeshError(
                f"the mesh has {len(cells)} cells of type {kind!r}, which are not supported; known types are "
                f"{', '.join(CELL_TYPES)}. Convert them, for example to tetrahedra"
            )
    fields = {}
    for name, per_block in getattr(mesh, "cell_data", {}).items():
        values = [np.asarray(per_block[number]) for number in kept]
        if values:
            fields[name] = np.concatenate(values)
    nodes = np.asarray(mesh.points, dtype=float)
    return VolumeMesh(nodes, tuple(blocks), fields, _find_regions(mesh, blocks, kept, fields), left_out, notes)


def _check_connectivity(kind: str, cells: Any) -> Indices:
    table = np.asarray(cells)
    wanted = len(CELL_TYPES[kind].reference)
    if table.ndim != 2 or table.shape[1] != wanted or table.dtype.kind not in "iu":
        raise MeshError(
            f"cells of type {kind!r} need {wanted} integers each, but have shape {table.shape} and type {table.dtype}"
        )
    return table.astype(np.int64)


def _find_regions(
    mesh: Any, blocks: list[tuple[str, Indices]], kept: list[int], fields: dict[str, Array]
) -> dict[str | int, Indices]:
    starts = np.cumsum([0, *(len(cells) for _, cells in blocks)])
    regions: dict[str | int, Indices] = {}
    names = {name.lower(): name for name in fields}
    for wanted in REGION_FIELDS:
        values = fields.get(names.get(wanted, ""))
        if values is not None and values.ndim == 1 and np.all(values == np.rint(values)):
            regions.update({int(number): np.flatnonzero(values == number) for number in np.unique(values)})
            break
    for name, (number, dimension) in _gmsh_physical_names(mesh).items():
        if dimension == 3:
            regions[name] = np.flatnonzero(fields.get("gmsh:physical", np.empty(0)) == number)
    for name, per_block in getattr(mesh, "cell_sets", {}).items():
        if name.startswith("gmsh:"):
            continue
        parts = [(i, per_block[block]) for i, block in enumerate(kept) if block < len(per_block)]
        found = [np.asarray(part, dtype=np.int64) + starts[i] for i, part in parts if part is not None and len(part)]
        if found:
            regions[name] = np.unique(np.concatenate(found))
    return regions


def _gmsh_physical_names(mesh: Any) -> dict[str, tuple[int, int]]:
    """Gmsh's physical names, each with its number and dimension."""
    if "gmsh:physical" not in getattr(mesh, "cell_data", {}):
        return {}
    pairs = {name: np.ravel(value) for name, value in getattr(mesh, "field_data", {}).items()}
    return {name: (int(pair[0]), int(pair[1])) for name, pair in pairs.items() if len(pair) == 2}
