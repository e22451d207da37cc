"""Volume meshes for the tests: cells and blocks of them, and files written by hand (Abaqus, Exodus)."""

from __future__ import annotations

from contextlib import redirect_stderr
from io import StringIO
from types import SimpleNamespace

import meshio
import netCDF4
import numpy as np

from polhode.massprops.volume.cell_types import CELL_TYPES

CUBE = CELL_TYPES["hexahedron"].reference
POINTS = np.vstack((CUBE, CUBE[[1, 2, 5, 6]] + (1, 0, 0)))
"""Two unit cubes side by side, along x."""
SECOND = np.array([1, 8, 9, 2, 5, 10, 11, 6])
WEDGES = SECOND[np.array([(0, 1, 2, 4, 5, 6), (0, 2, 3, 4, 6, 7)])]


def written(mesh, path, **how):
    with redirect_stderr(StringIO()):
        meshio.write(path, mesh, **how)
    return path


def abaqus(tmp_path, elements, more=""):
    text = "*HEADING\ntwo cubes\n*NODE, NSET=all\n"
    text += "".join(f"{10 * (i + 1)}, {x:g}, {y:g}, {z:g}\n" for i, (x, y, z) in enumerate(POINTS))
    path = tmp_path / "a.inp"
    path.write_text(text + elements + more)
    return path


def lines(first, cells):
    return "".join(
        f"{first + i}, " + ", ".join(str(10 * (node + 1)) for node in cell) + "\n" for i, cell in enumerate(cells)
    )


def exodus(path, points, blocks, variables=(), times=(0.0,), kind="NETCDF4"):
    """blocks: (name, number, type, connectivity from 0, {variable: rows for each time})."""
    with netCDF4.Dataset(path, "w", format=kind) as file:
        file.title = "by hand"
        for name, size in {"num_nodes": len(points), "num_dim": 3, "len_name": 33, "num_el_blk": len(blocks)}.items():
            file.createDimension(name, size)
        file.createDimension("time_step", None)
        file.createVariable("time_whole", "f8", ("time_step",))[:] = times
        for axis, values in zip("xyz", np.asarray(points, float).T, strict=True):
            file.createVariable(f"coord{axis}", "f8", ("num_nodes",))[:] = values
        file.createVariable("eb_prop1", "i4", ("num_el_blk",))[:] = [number for _, number, *_ in blocks]
        names = file.createVariable("eb_names", "S1", ("num_el_blk", "len_name"))
        for row, (name, *_) in enumerate(blocks):
            names[row] = _letters(name)
        if variables:
            file.createDimension("num_elem_var", len(variables))
            listed = file.createVariable("name_elem_var", "S1", ("num_elem_var", "len_name"))
            for row, name in enumerate(variables):
                listed[row] = _letters(name)
        for b, (_, _, element, cells, values) in enumerate(blocks, 1):
            file.createDimension(f"num_el_in_blk{b}", len(cells))
            file.createDimension(f"num_nod_per_el{b}", len(cells[0]))
            connect = file.createVariable(f"connect{b}", "i4", (f"num_el_in_blk{b}", f"num_nod_per_el{b}"))
            connect.elem_type = element
            connect[:] = np.asarray(cells) + 1
            for v, name in enumerate(variables, 1):
                if name in values:
                    of = file.createVariable(f"vals_elem_var{v}eb{b}", "f8", ("time_step", f"num_el_in_blk{b}"))
                    of[:] = values[name]
    return path


def _letters(text):
    return np.array(list(text.ljust(33, "\0")), dtype="S1")


def mesh_of(points, *blocks, **more):
    """What meshio.Mesh is, also for the kinds that it refuses to hold (wedge15, pyramid13)."""
    return SimpleNamespace(points=np.asarray(points, float), cells=[(k, np.asarray(c)) for k, c in blocks], **more)


def one(kind, points=None):
    count = len(CELL_TYPES[kind].reference)
    return mesh_of(CELL_TYPES[kind].reference if points is None else points, (kind, [range(count)]))


SIX = [(0, 1, 2, 6), (0, 2, 3, 6), (0, 3, 7, 6), (0, 7, 4, 6), (0, 4, 5, 6), (0, 5, 1, 6)]
TWO_WEDGES = [(0, 1, 2, 4, 5, 6), (0, 2, 3, 4, 6, 7)]


def block(n=3, shake=0.0, seed=0):
    """The unit cube in n^3 hexahedra, inner nodes shaken."""
    line = np.arange(n + 1) / n
    grid = np.stack(np.meshgrid(line, line, line, indexing="ij"), axis=-1)
    grid[1:-1, 1:-1, 1:-1] += shake / n * np.random.default_rng(seed).uniform(-1, 1, (n - 1, n - 1, n - 1, 3))
    number = np.arange((n + 1) ** 3).reshape((n + 1,) * 3)
    corners = [number[i : n + i, j : n + j, k : n + k].ravel() for i, j, k in CUBE.astype(int)]
    return grid.reshape(-1, 3), np.stack(corners, axis=-1)


def cut(hexes, pattern):
    return np.concatenate([hexes[:, list(part)] for part in pattern])
