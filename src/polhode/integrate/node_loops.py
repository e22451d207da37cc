"""Loops over the nodes of a mesh: where they are and how they move, at the speed of memory."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from polhode.equations.quaternions import to_world
from polhode.equations.vectors import cross, plus
from polhode.ir.loops import Loop, loop
from polhode.ir.program import Program


class NodeRun(NamedTuple):
    """What the loops take: points (n, 3) from the center of mass, along the body's axes; what is the same for all."""

    points: Any
    common: Any
    """Attitude, then vectors: of the center of mass, and of the rotation."""
    out: Any


def _position(q: Any, a: Any, b: Any, c: Any, point: Any) -> Any:
    """x + R r  [Hydra 2017, eq. 4.24, corrected]"""
    return plus(a, to_world(q, point))


def _velocity(q: Any, a: Any, b: Any, c: Any, point: Any) -> Any:
    """v + w x (R r)  [Hydra 2017, eq. 4.26, corrected]"""
    return plus(a, cross(b, to_world(q, point)))


def _acceleration(q: Any, a: Any, b: Any, c: Any, point: Any) -> Any:
    """a + w' x (R r) + w x (w x (R r))"""
    arm = to_world(q, point)
    return plus(a, plus(cross(c, arm), cross(b, cross(b, arm))))


def _displacement(q: Any, a: Any, b: Any, c: Any, point: Any) -> Any:
    """(x - x0) + R0 2 (w e x r + e x (e x r)), with the rotation (w, e) since the start.

    [Hydra 2017, eq. 4.25, corrected]
    """
    across = cross(b, point)
    again = cross(b, across)
    w = c[0]
    turned = (2 * (w * across[0] + again[0]), 2 * (w * across[1] + again[1]), 2 * (w * across[2] + again[2]))
    return plus(a, to_world(q, turned))


def _build(law: Any) -> Loop:
    @loop
    def advance(run: NodeRun, first: int, last: int) -> None:
        n = run.common
        q = (n[0], n[1], n[2], n[3])
        a, b, c = (n[4], n[5], n[6]), (n[7], n[8], n[9]), (n[10], n[11], n[12])
        for i in range(first, last):
            k = 3 * i
            at = law(q, a, b, c, (run.points[k], run.points[k + 1], run.points[k + 2]))
            run.out[k] = at[0]
            run.out[k + 1] = at[1]
            run.out[k + 2] = at[2]

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


class NodalSumRun(NamedTuple):
    """What the sum over nodal forces takes: points and forces, (n, 3) each, flat; and a row for each block of nodes."""

    points: Any
    forces: Any
    out: Any
    """The sum of the forces, and of r F_x, r F_y, r F_z, of the nodes of each block: twelve numbers."""


NODES_PER_BLOCK = 512
"""Sums of so many numbers lose little to rounding; the sums of blocks are added pairwise."""


@loop
def _sum_blocks(run: NodalSumRun, first: int, last: int) -> None:
    count = len(run.points) // 3
    for block in range(first, last):
        start = block * NODES_PER_BLOCK
        stop = min(count, start + NODES_PER_BLOCK)
        fx, fy, fz = 0.0, 0.0, 0.0
        xx, xy, xz = 0.0, 0.0, 0.0
        yx, yy, yz = 0.0, 0.0, 0.0
        zx, zy, zz = 0.0, 0.0, 0.0
        for i in range(start, stop):
            k = 3 * i
            px, py, pz = run.points[k], run.points[k + 1], run.points[k + 2]
            gx, gy, gz = run.forces[k], run.forces[k + 1], run.forces[k + 2]
            fx, fy, fz = fx + gx, fy + gy, fz + gz
            xx, xy, xz = xx + px * gx, xy + py * gx, xz + pz * gx
            yx, yy, yz = yx + px * gy, yy + py * gy, yz + pz * gy
            zx, zy, zz = zx + px * gz, zy + py * gz, zz + pz * gz
        at = 12 * block
        run.out[at], run.out[at + 1], run.out[at + 2] = fx, fy, fz
        run.out[at + 3], run.out[at + 4], run.out[at + 5] = xx, xy, xz
        run.out[at + 6], run.out[at + 7], run.out[at + 8] = yx, yy, yz
        run.out[at + 9], run.out[at + 10], run.out[at + 11] = zx, zy, zz


_SUMS = Program(_sum_blocks, True, None)


def sum_nodal_forces(points: Any, forces: Any) -> Any:
    """The sum of forces at points, and of r F_x, r F_y, r F_z: twelve numbers, from arrays (n, 3)."""
    blocks = -(-len(points) // NODES_PER_BLOCK)
    out = np.empty(12 * blocks)
    _SUMS.bind(NodalSumRun(points.reshape(-1), forces.reshape(-1), out))(0, blocks)
    return np.add.reduce(np.ascontiguousarray(out.reshape(blocks, 12).T), axis=1)
