"""A motion as an Exodus II file: nodes where the motion began, with displacements and velocities at every output.

Element blocks keep their names, and elements what the file of the body said about them; the kinetic energy of the whole
system is a global variable.  [Schoof 1994, appendix A]
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.errors import FileError
from polhode.installation import install_hint
from polhode.io.atomic_files import atomic_path, check_suffix
from polhode.io.moving_mesh import CellBlock, MovingMesh, cell_fields
from polhode.massprops.volume.cell_types import FOREIGN_NODE_ORDERS
from polhode.massprops.volume.exodus import EXODUS_SUFFIXES
from polhode.progress import progress
from polhode.validation import Array
from polhode.version import __version__

if TYPE_CHECKING:
    from polhode.results.motion import Motion

ELEMENT_NAMES = {
    "triangle": "TRI3", "tetra": "TETRA", "tetra10": "TETRA10", "pyramid": "PYRAMID", "pyramid13": "PYRAMID13",
    "pyramid14": "PYRAMID14", "wedge": "WEDGE", "wedge15": "WEDGE15", "wedge18": "WEDGE18", "hexahedron": "HEX",
    "hexahedron20": "HEX20", "hexahedron27": "HEX27",
}  # fmt: skip
NAME_LENGTH = 33
"""Letters of a name, and a zero."""
INSTALL_HINT = f"writing Exodus files needs netCDF4: {install_hint('mesh')}"
NODE_FIELDS = ("displacement", "velocity")


def write_exodus(motion: Motion, path: Path) -> None:
    """Write the file atomically."""
    check_suffix(path, EXODUS_SUFFIXES, "an Exodus file")
    try:
        import netCDF4
    except ImportError as why:
        raise FileError(f"{path}: {why}; {INSTALL_HINT}") from None
    mesh = MovingMesh(motion)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error}") from None
    with atomic_path(path) as draft, netCDF4.Dataset(str(draft), "w", format="NETCDF4_CLASSIC") as file:
        _write(motion, mesh, file, path.stem)


def _write(motion: Motion, mesh: MovingMesh, file: Any, title: str) -> None:
    blocks = _collect_blocks(mesh)
    nodes = sum(len(piece.offsets_body) for piece in mesh.pieces)
    file.api_version = file.version = np.float32(5.22)
    file.floating_point_word_size, file.file_size, file.int64_status = np.int32(8), np.int32(1), np.int32(0)
    file.maximum_name_length = np.int32(NAME_LENGTH - 1)
    file.title = (motion.scenario.name or title)[:80]
    sizes = {"len_string": 33, "len_name": NAME_LENGTH, "four": 4, "num_dim": 3, "num_nodes": nodes, "num_qa_rec": 1}
    sizes |= {"num_elem": sum(len(block.cells) for _, block in blocks), "num_el_blk": len(blocks)}
    for name, size in sizes.items():
        file.createDimension(name, size)
    file.createDimension("time_step", None)
    qa = file.createVariable("qa_records", "S1", ("num_qa_rec", "four", "len_string"))
    qa[0] = _letters(["polhode", __version__, "", ""], 33)
    file.createVariable("coor_names", "S1", ("num_dim", "len_name"))[:] = _letters(["x", "y", "z"], NAME_LENGTH)
    _write_blocks(file, blocks)
    _write_outputs(motion, mesh, file, nodes, blocks)


def _collect_blocks(mesh: MovingMesh) -> list[tuple[str, CellBlock]]:
    """All blocks with their names, with nodes counted through."""
    blocks, start = [], 0
    many = len(mesh.pieces) > 1
    for piece in mesh.pieces:
        for block in piece.blocks:
            name = f"{piece.name} {block.name}".strip() if many else block.name or piece.name
            shifted = CellBlock(block.name, block.kind, block.cells + start, block.fields)
            blocks.append((name, shifted))
        start += len(piece.offsets_body)
    return blocks


def _write_blocks(file: Any, blocks: list[tuple[str, CellBlock]]) -> None:
    numbers = file.createVariable("eb_prop1", "i4", ("num_el_blk",))
    numbers.setncattr("name", "ID")
    numbers[:] = np.arange(1, len(blocks) + 1)
    file.createVariable("eb_status", "i4", ("num_el_blk",))[:] = 1
    names = file.createVariable("eb_names", "S1", ("num_el_blk", "len_name"))
    names[:] = _letters([name for name, _ in blocks], NAME_LENGTH)
    for b, (_, block) in enumerate(blocks, 1):
        order = FOREIGN_NODE_ORDERS.get(block.kind, {}).get("Exodus", tuple(range(block.cells.shape[1])))
        theirs = np.empty_like(block.cells)
        theirs[:, list(order)] = block.cells
        file.createDimension(f"num_el_in_blk{b}", len(theirs))
        file.createDimension(f"num_nod_per_el{b}", theirs.shape[1])
        connect = file.createVariable(f"connect{b}", "i4", (f"num_el_in_blk{b}", f"num_nod_per_el{b}"))
        connect.elem_type = ELEMENT_NAMES[block.kind]
        connect[:] = (theirs + 1).astype(np.int32)


def _write_outputs(
    motion: Motion, mesh: MovingMesh, file: Any, nodes: int, blocks: list[tuple[str, CellBlock]]
) -> None:
    node_names = [f"{field}{axis}" for field in NODE_FIELDS for axis in "XYZ"]
    elements = _split_components(cell_fields(mesh.pieces))
    for count, variable, names in (
        ("num_nod_var", "name_nod_var", node_names),
        ("num_elem_var", "name_elem_var", list(elements)),
        ("num_glo_var", "name_glo_var", ["kinetic_energy"]),
    ):
        file.createDimension(count, len(names))
        file.createVariable(variable, "S1", (count, "len_name"))[:] = _letters(names, NAME_LENGTH)
    outputs = len(mesh.times)
    file.createVariable("time_whole", "f8", ("time_step",), chunksizes=(max(1, outputs),))[:] = mesh.times
    energies = file.createVariable("vals_glo_var", "f8", ("time_step", "num_glo_var"))
    axis = motion.total_kinetic_energy
    energies[:] = (axis.sum(axis=-1) if axis.ndim > 1 else axis)[:, None]
    at_nodes = [
        file.createVariable(f"vals_nod_var{i + 1}", "f8", ("time_step", "num_nodes"), chunksizes=(1, nodes))
        for i in range(len(node_names))
    ]
    room: dict[str, Array] = {}
    with progress(f"writing {file.title}", "outputs") as report:
        for k in range(outputs):
            points = mesh.evaluate(k, mesh.pieces, room, stays=True)
            if k == 0:
                for i, axis_name in enumerate("xyz"):
                    first = points["position"][:, i] - points["displacement"][:, i]
                    file.createVariable(f"coord{axis_name}", "f8", ("num_nodes",))[:] = first
            for i, variable in enumerate(at_nodes):
                variable[k] = np.ascontiguousarray(points[NODE_FIELDS[i // 3]][:, i % 3])
            report(k + 1, outputs)
    start = 0
    file.createVariable("elem_var_tab", "i4", ("num_el_blk", "num_elem_var"))[:] = 1
    for b, (_, block) in enumerate(blocks, 1):
        last = start + len(block.cells)
        for i, values in enumerate(elements.values(), 1):
            name, cells = f"vals_elem_var{i}eb{b}", f"num_el_in_blk{b}"
            at_cells = file.createVariable(name, "f8", ("time_step", cells), chunksizes=(1, len(block.cells)))
            for k in range(outputs):
                at_cells[k] = values[start:last]
        start = last


def _split_components(fields: dict[str, Array]) -> dict[str, Array]:
    """Fields of one number per element; those of several have a number behind their names."""
    split = {}
    for name, values in fields.items():
        if values.ndim == 1:
            split[name] = values.astype(np.float64)
            continue
        for i, column in enumerate(values.reshape(len(values), -1).T):
            split[f"{name}_{i + 1}"] = column
    return split


def _letters(names: list[str], length: int) -> Any:
    """Names as rows of characters, filled with zeros."""
    rows = np.zeros((len(names), length), dtype="S1")
    for row, name in zip(rows, names, strict=True):
        kept = name.encode("utf-8")[: length - 1]
        row[: len(kept)] = [kept[i : i + 1] for i in range(len(kept))]
    return rows
