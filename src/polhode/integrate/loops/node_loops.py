"""Loops over the nodes of a mesh: where they are and how they move, at the speed of memory."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from polhode.equations.quaternions import to_world
from polhode.equations.vectors import cross, plus
from polhode.ir.loops import Loop, loop
from polhode.ir.program import Program
from polhode.ir.records import Record


class Point(Record):
    """Three components of a vector at a node."""

    x: float
    y: float
    z: float


class NodeRun(NamedTuple):
    """What the loops take: points from the center of mass, along the body's axes; what is the same for all."""

    points: Any
    out: Any
    attitude: tuple[float, ...]
    a: tuple[float, ...]
    """Of the center of mass."""
    b: tuple[float, ...] = (0.0, 0.0, 0.0)
    c: tuple[float, ...] = (0.0, 0.0, 0.0)
    """Of the rotation."""
    w: float = 0.0
    """Of the rotation since the start: the first number of its quaternion."""


def _position(q: Any, a: Any, b: Any, c: Any, w: Any, point: Any) -> Any:
    """x + R r  [Hydra 2017, eq. 4.24, corrected]"""
    return plus(a, to_world(q, point))


def _velocity(q: Any, a: Any, b: Any, c: Any, w: Any, point: Any) -> Any:
    """v + w x (R r)  [Hydra 2017, eq. 4.26, corrected]"""
    return plus(a, cross(b, to_world(q, point)))


def _acceleration(q: Any, a: Any, b: Any, c: Any, w: Any, point: Any) -> Any:
    """a + w' x (R r) + w x (w x (R r))"""
    arm = to_world(q, point)
    return plus(a, plus(cross(c, arm), cross(b, cross(b, arm))))


def _displacement(q: Any, a: Any, b: Any, c: Any, w: Any, point: Any) -> Any:
    """(x - x0) + R0 2 (w e x r + e x (e x r)), with the rotation (w, e) since the start.

    [Hydra 2017, eq. 4.25, corrected]
    """
    across = cross(b, point)
    again = cross(b, across)
    turned = (2 * (w * across[0] + again[0]), 2 * (w * across[1] + again[1]), 2 * (w * across[2] + again[2]))
    return plus(a, to_world(q, turned))


def _build(law: Any) -> Loop:
    @loop
    def advance(run: NodeRun, first: int, last: int) -> None:
        q, a, b, c, w = run.attitude, run.a, run.b, run.c, run.w
        for i in range(first, last):
            point, out = run.points[i], run.out[i]
            out.x, out.y, out.z = law(q, a, b, c, w, (point.x, point.y, point.z))

    return advance


PROGRAMS = {
    name: Program(_build(law), True, None)
    for name, law in (
        ("position", _position),
        ("velocity", _velocity),
        ("acceleration", _acceleration),
        ("displacement", _displacement),
    )
}
"""The loops by what they compute."""


def evaluate_nodes(what: str, points: Any, out: Any, *common: Any) -> None:
    """Write (n, 3) for points (n, 3); `common` are attitude, a, b and c as a `NodeRun` has them, then w."""
    vectors: list[Any] = [number if isinstance(number, float) else tuple(map(float, number)) for number in common]
    PROGRAMS[what].bind(NodeRun(_as_points(points), _as_points(out), *vectors))(0, len(points))


def _as_points(array: Any) -> Any:
    """An array (n, 3) as n points, in place."""
    return array.view(Point.dtype).reshape(-1)


class NodalSum(Record):
    """The sum of the forces, and of r F_x, r F_y, r F_z, of the nodes of a block."""

    fx: float
    fy: float
    fz: float
    xx: float
    xy: float
    xz: float
    yx: float
    yy: float
    yz: float
    zx: float
    zy: float
    zz: float


class NodalSumRun(NamedTuple):
    """What the sum over nodal forces takes: points and forces, and a `NodalSum` for each block of nodes."""

    points: Any
    forces: Any
    out: Any


NODES_PER_BLOCK = 512
"""Sums of so many numbers lose little to rounding; the sums of blocks are added pairwise."""


@loop
def _sum_blocks(run: NodalSumRun, first: int, last: int) -> None:
    count = len(run.points)
    for block in range(first, last):
        start = block * NODES_PER_BLOCK
        stop = min(count, start + NODES_PER_BLOCK)
        fx, fy, fz = 0.0, 0.0, 0.0
        xx, xy, xz = 0.0, 0.0, 0.0
        yx, yy, yz = 0.0, 0.0, 0.0
        zx, zy, zz = 0.0, 0.0, 0.0
        for i in range(start, stop):
            point, force = run.points[i], run.forces[i]
            px, py, pz = point.x, point.y, point.z
            gx, gy, gz = force.x, force.y, force.z
            fx, fy, fz = fx + gx, fy + gy, fz + gz
            xx, xy, xz = xx + px * gx, xy + py * gx, xz + pz * gx
            yx, yy, yz = yx + px * gy, yy + py * gy, yz + pz * gy
            zx, zy, zz = zx + px * gz, zy + py * gz, zz + pz * gz
        out = run.out[block]
        out.fx, out.fy, out.fz = fx, fy, fz
        out.xx, out.xy, out.xz = xx, xy, xz
        out.yx, out.yy, out.yz = yx, yy, yz
        out.zx, out.zy, out.zz = zx, zy, zz


_SUMS = Program(_sum_blocks, True, None)


def sum_nodal_forces(points: Any, forces: Any) -> Any:
    """The sum of forces at points, and of r F_x, r F_y, r F_z: twelve numbers, from arrays (n, 3)."""
    blocks = -(-len(points) // NODES_PER_BLOCK)
    out = np.empty((blocks, NodalSum.words))
    sums = out.view(NodalSum.dtype).reshape(-1)
    _SUMS.bind(NodalSumRun(_as_points(points), _as_points(forces), sums))(0, blocks)
    return np.add.reduce(np.ascontiguousarray(out.T), axis=1)
