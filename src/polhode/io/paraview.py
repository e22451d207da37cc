"""A motion for ParaView: one file for each output, and a collection of them with their times.

x.pvd           the files and their times
x/x_0000.vtu    the meshes of all bodies, with the velocity of every point (m/s), its displacement since the start (m),
                the index of the body, and the fields of its cells

The numbers are written as they are in memory, behind the text of the file ("appended", "raw"): a large mesh takes as
long as the disk.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np

from polhode.errors import FileError
from polhode.io.atomic_files import check_suffix, write_atomic
from polhode.io.moving_mesh import MovingMesh, Piece, cell_fields
from polhode.progress import progress
from polhode.validation import Array

if TYPE_CHECKING:
    from polhode.results.trajectory import Trajectory

VTK_TYPES = {
    "triangle": 5, "tetra": 10, "hexahedron": 12, "wedge": 13, "pyramid": 14, "tetra10": 24, "hexahedron20": 25,
    "wedge15": 26, "pyramid13": 27, "hexahedron27": 29, "wedge18": 32, "pyramid14": 37,
}  # fmt: skip
VTK_ORDERS = {"wedge": (0, 2, 1, 3, 5, 4)}
"""Where VTK orders nodes in another way than meshio."""
VTK_NAMES = {"float64": "Float64", "int64": "Int64", "int32": "Int32", "uint8": "UInt8"}


def write_paraview(motion: Trajectory, path: Path) -> None:
    """Write the folder and the collection atomically."""
    check_suffix(path, (".pvd",), "a series for ParaView")
    mesh = MovingMesh(motion)
    folder = path.with_suffix("")
    draft, old = (path.with_name(f".{folder.name}.{what}") for what in ("part", "replaced"))
    _refuse_foreign_files(folder)
    try:
        for leftover in (draft, old):
            if leftover.exists():
                shutil.rmtree(leftover)
        draft.mkdir(parents=True)
        outputs = [k for k in range(len(motion.times)) if mesh.there(k)]
        names = _write_frames(mesh, outputs, draft, folder.name)
        if folder.exists():
            folder.rename(old)
        draft.rename(folder)
        write_atomic(path, _encode_collection(motion.times[outputs], [f"{folder.name}/{name}" for name in names]))
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error}") from None
    finally:
        if old.exists() and not folder.exists():
            old.rename(folder)
        for leftover in (draft, old):
            shutil.rmtree(leftover, ignore_errors=True)


def _write_frames(mesh: MovingMesh, outputs: Sequence[int], folder: Path, name: str) -> list[str]:
    digits = max(4, len(str(outputs[-1])))
    names = [f"{name}_{k:0{digits}d}.vtu" for k in outputs]
    room: dict[str, Array] = {}
    pieces, cells = None, {}
    with progress(f"writing {name}.pvd", "files") as report:
        for done, (k, file) in enumerate(zip(outputs, names, strict=True)):
            there = mesh.there(k)
            if pieces is None or len(there) != len(pieces):
                pieces, cells = there, _encode_cells(there)
            points = mesh.evaluate(k, there, room)
            write_vtu(folder / file, points, cells)
            report(done + 1, len(outputs))
    return names


def _encode_cells(pieces: list[Piece]) -> dict[str, Any]:
    """The cells as VTK has them: the nodes of all cells, where each cell ends, and its type; then their data."""
    count = sum(len(piece.offsets_body) for piece in pieces)
    whole = np.int32 if count < 2**31 else np.int64
    nodes, sizes, kinds, start = [], [], [], 0
    for piece in pieces:
        for block in piece.blocks:
            order = VTK_ORDERS.get(block.kind, tuple(range(block.cells.shape[1])))
            nodes.append((block.cells[:, list(order)] + start).astype(whole).ravel())
            sizes.append(np.full(len(block.cells), block.cells.shape[1]))
            kinds.append(np.full(len(block.cells), VTK_TYPES[block.kind], dtype=np.uint8))
        start += len(piece.offsets_body)
    ends = np.cumsum(np.concatenate(sizes)).astype(np.int64)
    cells = {"connectivity": np.concatenate(nodes), "offsets": ends, "types": np.concatenate(kinds)}
    return {"cells": cells, "data": cell_fields(pieces)}


def write_vtu(path: Path, points: dict[str, Array], cells: dict[str, Any]) -> None:
    """Write one file: text that says where each array begins, and then the arrays."""
    counts = {"NumberOfPoints": str(len(points["position"])), "NumberOfCells": str(len(cells["cells"]["types"]))}
    root = ElementTree.Element(
        "VTKFile", type="UnstructuredGrid", version="1.0", byte_order="LittleEndian", header_type="UInt64"
    )
    piece = ElementTree.SubElement(ElementTree.SubElement(root, "UnstructuredGrid"), "Piece", counts)
    arrays: list[Any] = []
    at = 0
    sections = {
        "PointData": {name: points[name] for name in ("velocity", "displacement")},
        "CellData": cells["data"],
        "Points": {"Points": points["position"]},
        "Cells": cells["cells"],
    }
    for section, named in sections.items():
        parent = ElementTree.SubElement(piece, section)
        for name, values in named.items():
            array = np.ascontiguousarray(values)
            about = {"type": VTK_NAMES[array.dtype.name], "Name": name, "format": "appended", "offset": str(at)}
            if array.ndim > 1:
                about["NumberOfComponents"] = str(array[0].size)
            ElementTree.SubElement(parent, "DataArray", about)
            arrays.append(array)
            at += 8 + array.nbytes
    text: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    head, tail = text[: -len(b"</VTKFile>")], b"\n</AppendedData>\n</VTKFile>\n"
    with path.open("wb", buffering=0) as file:
        _write_all(file, head + b'\n<AppendedData encoding="raw">\n_')
        for array in arrays:
            _write_all(file, np.uint64(array.nbytes).tobytes())
            _write_all(file, memoryview(array.reshape(-1)).cast("B") if array.size else b"")
        _write_all(file, tail)


def _write_all(file: Any, content: Any) -> None:
    """Write everything, however much the system takes at once."""
    left = memoryview(content)
    while len(left):
        left = left[file.write(left) :]


def _encode_collection(times: Array, files: Sequence[str]) -> bytes:
    """The .pvd collection of files and times."""
    root = ElementTree.Element("VTKFile", type="Collection", version="0.1", byte_order="LittleEndian")
    collection = ElementTree.SubElement(root, "Collection")
    for t, file in zip(times.tolist(), files, strict=True):
        ElementTree.SubElement(collection, "DataSet", timestep=repr(t), group="", part="0", file=file)
    ElementTree.indent(root)
    content: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _refuse_foreign_files(folder: Path) -> None:
    """Raise an error unless the folder holds only the files of an earlier motion, which may be overwritten."""
    if not folder.exists():
        return
    ours = re.compile(re.escape(folder.name) + r"_\d{4,}\.vtu")
    foreign = [p.name for p in folder.iterdir() if not ours.fullmatch(p.name)] if folder.is_dir() else [folder.name]
    if foreign:
        raise FileError(
            f"{folder}, where the files of the motion would go, contains {sorted(foreign)[0]}, which is not one of "
            "them: choose another name"
        )
