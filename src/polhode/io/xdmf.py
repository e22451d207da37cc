"""A motion as XDMF: a text that describes the mesh at every output, and an HDF5 file with the numbers.

x.xdmf    the times, and where each array is
x.h5      /topology, /cell/..., and /position/0, /displacement/0, /velocity/0, ... of every output
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np

from polhode.errors import FileError
from polhode.installation import install_hint
from polhode.io.atomic_files import atomic_path, check_suffix, write_atomic
from polhode.io.moving_mesh import FIELDS, MovingMesh, Piece, cell_fields
from polhode.progress import progress
from polhode.validation import Array

if TYPE_CHECKING:
    from polhode.results.trajectory import Trajectory

XDMF_TYPES = {
    "triangle": ("Triangle", 0x4), "tetra": ("Tetrahedron", 0x6), "pyramid": ("Pyramid", 0x7), "wedge": ("Wedge", 0x8),
    "hexahedron": ("Hexahedron", 0x9), "tetra10": ("Tetrahedron_10", 0x26), "pyramid13": ("Pyramid_13", 0x27),
    "wedge15": ("Wedge_15", 0x28), "wedge18": ("Wedge_18", 0x29), "hexahedron20": ("Hexahedron_20", 0x30),
    "hexahedron27": ("Hexahedron_27", 0x32),
}  # fmt: skip
INSTALL_HINT = f"writing XDMF needs h5py: {install_hint('mesh')}"


def write_xdmf(motion: Trajectory, path: Path) -> None:
    """Write both files, the text last."""
    check_suffix(path, (".xdmf", ".xmf"), "XDMF")
    try:
        import h5py
    except ImportError as why:
        raise FileError(f"{path}: {why}; {INSTALL_HINT}") from None
    mesh = MovingMesh(motion)
    numbers = path.with_suffix(".h5")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error}") from None
    with atomic_path(numbers) as draft, h5py.File(draft, "w", libver="latest") as file:
        described = _write_numbers(mesh, file, numbers.name)
    write_atomic(path, described)


def _write_numbers(mesh: MovingMesh, file: Any, name: str) -> bytes:
    """Write the arrays; return the text that describes them."""
    root = ElementTree.Element("Xdmf", Version="3.0")
    series = ElementTree.SubElement(
        ElementTree.SubElement(root, "Domain"), "Grid", Name="motion", GridType="Collection", CollectionType="Temporal"
    )
    pieces = mesh.pieces
    topology, about = _encode_topology(pieces)
    file["topology"] = topology
    fields = cell_fields(pieces)
    for field, values in fields.items():
        file[f"cell/{field}"] = values
    room: dict[str, Array] = {}
    with progress(f"writing {Path(name).stem}.xdmf", "outputs") as report:
        for k, t in enumerate(mesh.times.tolist()):
            points = mesh.evaluate(k, pieces, room, stays=True)
            grid = ElementTree.SubElement(series, "Grid", Name=f"output {k}", GridType="Uniform")
            ElementTree.SubElement(grid, "Time", Value=repr(t))
            _add_item(ElementTree.SubElement(grid, "Topology", about), topology, f"{name}:/topology")
            for field in FIELDS:
                file[f"{field}/{k}"] = points[field]
            place = ElementTree.SubElement(grid, "Geometry", GeometryType="XYZ")
            _add_item(place, points["position"], f"{name}:/position/{k}")
            for field in FIELDS[1:]:
                _add_attribute(grid, field, "Node", points[field], f"{name}:/{field}/{k}")
            for field, values in fields.items():
                _add_attribute(grid, field, "Cell", values, f"{name}:/cell/{field}")
            report(k + 1, len(mesh.times))
    ElementTree.indent(root)
    text: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _encode_topology(pieces: list[Piece]) -> tuple[Any, dict[str, str]]:
    """The cells: rows of nodes if all are of one type, else for each cell the number of its type and its nodes."""
    kinds = {block.kind for piece in pieces for block in piece.blocks}
    rows, start, count = [], 0, 0
    for piece in pieces:
        for block in piece.blocks:
            cells = block.cells + start
            if len(kinds) > 1:
                cells = np.column_stack([np.full(len(cells), XDMF_TYPES[block.kind][1]), cells]).ravel()
            rows.append(cells)
            count += len(block.cells)
        start += len(piece.offsets_body)
    kind = XDMF_TYPES[kinds.pop()][0] if len(kinds) == 1 else "Mixed"
    about = {"TopologyType": kind, "NumberOfElements": str(count)}
    return np.concatenate(rows).astype(np.int32 if start < 2**31 else np.int64), about


def _add_attribute(grid: Any, name: str, center: str, values: Array, place: str) -> None:
    kind = "Scalar" if values.ndim == 1 else "Vector" if values.shape[1:] == (3,) else "Matrix"
    attribute = ElementTree.SubElement(grid, "Attribute", Name=name, AttributeType=kind, Center=center)
    _add_item(attribute, values, place)


def _add_item(parent: Any, values: Any, place: str) -> None:
    about = {
        "DataType": "Float" if values.dtype.kind == "f" else "Int",
        "Dimensions": " ".join(map(str, values.shape)),
        "Format": "HDF",
        "Precision": str(values.dtype.itemsize),
    }
    ElementTree.SubElement(parent, "DataItem", about).text = place
