"""A reader of Exodus files: nodes, element blocks with names and numbers, and element variables.

meshio (5.3.5) drops the blocks' names and numbers, mixes up element variables that some blocks lack, uses the first
time step, and does not know many element names, so the netCDF file is read directly.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from polhode.errors import FileError, show
from polhode.massprops.volume.netcdf3 import check_netcdf3_length
from polhode.massprops.volume.volume_mesh import VolumeMesh

EXODUS_SUFFIXES = (".e", ".exo", ".ex2", ".exii", ".g", ".gen")
ELEMENT_FAMILIES = {
    "TET": "tetra",
    "HEX": "hexahedron",
    "WED": "wedge",
    "PEN": "wedge",
    "PRI": "wedge",
    "PYR": "pyramid",
}
LINEAR_NODE_COUNTS = {"tetra": 4, "pyramid": 5, "wedge": 6, "hexahedron": 8}
ELEMENTS_WITHOUT_VOLUME = ("SPH", "CIR", "BEA", "BAR", "TRU", "ROD", "SHE", "QUA", "TRI", "EDG", "POI", "NUL")


def read_exodus(path: Path) -> VolumeMesh:
    """The volume mesh in an Exodus file; element variables are those of the last time step."""
    import netCDF4

    check_netcdf3_length(path)
    with netCDF4.Dataset(str(path)) as file:
        file.set_auto_mask(False)
        file.set_auto_chartostring(False)
        variables = file.variables
        nodes = _read_coordinates(file)
        count = len(file.dimensions["num_el_blk"]) if "num_el_blk" in file.dimensions else 0
        numbers = variables["eb_prop1"][:].tolist() if "eb_prop1" in variables else list(range(1, count + 1))
        names = _decode_names(variables.get("eb_names")) or [""] * count
        blocks, here, start = [], [], 0
        regions: dict[str | int, Any] = {}
        left_out: dict[str, int] = {}
        for b in range(count):
            connect = variables.get(f"connect{b + 1}")
            if connect is None or connect.shape[0] == 0:
                continue
            kind = _cell_type_of(str(getattr(connect, "elem_type", "")), connect.shape[-1])
            if kind is None:
                left_out[connect.elem_type] = left_out.get(connect.elem_type, 0) + len(connect)
                continue
            blocks.append((kind, np.asarray(connect[:], dtype=np.int64) - 1))
            cells = np.arange(start, start + len(connect))
            start += len(connect)
            here.append((b + 1, len(connect)))
            for name in (names[b], int(numbers[b])):
                if name != "":
                    regions[name] = np.concatenate((regions[name], cells)) if name in regions else cells
        fields, notes = _read_element_variables(file, here)
    return VolumeMesh(nodes, tuple(blocks), fields, regions, left_out, tuple(notes))


def _read_coordinates(file: Any) -> Any:
    variables = file.variables
    if "coord" in variables:
        return np.asarray(variables["coord"][:], dtype=float).T
    axes = [variables[name][:] for name in ("coordx", "coordy", "coordz") if name in variables]
    return np.stack([np.asarray(axis, dtype=float) for axis in axes], axis=-1) if axes else np.empty((0, 3))


def _cell_type_of(name: str, nodes: int) -> str | None:
    """The cell type of an element name and its number of nodes; None for elements without volume."""
    begin = name.strip().upper()[:3]
    family = ELEMENT_FAMILIES.get(begin)
    if family:
        return family if nodes == LINEAR_NODE_COUNTS[family] else f"{family}{nodes}"
    if begin in ELEMENTS_WITHOUT_VOLUME:
        return None
    raise FileError(f"the file has elements of type {show(name)}, which are not supported")


def _read_element_variables(file: Any, blocks: list[tuple[int, int]]) -> tuple[dict[str, Any], list[str]]:
    """The element variables at the last time step; NaN where a block has none."""
    fields: dict[str, Any] = {}
    steps = 1
    for v, name in enumerate(_decode_names(file.variables.get("name_elem_var"))):
        parts = []
        for block, count in blocks:
            values = file.variables.get(f"vals_elem_var{v + 1}eb{block}")
            steps = steps if values is None else max(steps, len(values))
            parts.append(np.full(count, np.nan) if values is None or not len(values) else np.asarray(values[-1]))
        if parts:
            fields[name] = np.concatenate(parts)
    if steps == 1:
        return fields, []
    times = file.variables.get("time_whole")
    when = f", t = {float(times[-1]):g}" if times is not None and len(times) else ""
    return fields, [f"The file has {steps} time steps; cell fields are those of the last one{when}."]


def _decode_names(variable: Any) -> list[str]:
    """Names stored as rows of characters, padded with zeros or blanks."""
    if variable is None:
        return []
    rows = np.atleast_2d(np.asarray(variable[:]))
    return [
        b"".join(bytes(letter) for letter in row).split(b"\0")[0].decode("utf-8", "replace").strip() for row in rows
    ]
