"""The same bodies in plain NumPy: RK4 of (x, q, P, L), gravity and quadratic drag, all bodies in one array.

This is how one writes it by hand: components first, every operation on all bodies at once.  It shares no code with the
package, so that it is a yardstick for its speed, and a second opinion on its numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from polhode.checks import Array


class Bodies(NamedTuple):
    """The constants, an array of N numbers each, except the vectors: moments (3, N), gravity (3,)."""

    mass: Array
    moments: Array
    drag: Array
    gravity: Array


def rate(y: Array, bodies: Bodies) -> Array:
    """dy/dt of y = (x, q, P, L), shape (13, N)."""
    w, i, j, k = y[3:7]
    momentum, spin = y[7:10], y[10:13]
    velocity = momentum / bodies.mass
    # The angular velocity in body axes: the spin turned back by q/|q|, divided by the moments.
    s = 2 / (w * w + i * i + j * j + k * k)
    lx, ly, lz = spin
    ux, uy, uz = k * ly - j * lz, i * lz - k * lx, j * lx - i * ly
    ax = (lx + s * (w * ux - (j * uz - k * uy))) / bodies.moments[0]
    ay = (ly + s * (w * uy - (k * ux - i * uz))) / bodies.moments[1]
    az = (lz + s * (w * uz - (i * uy - j * ux))) / bodies.moments[2]
    speed = np.sqrt((velocity * velocity).sum(axis=0))
    dy = np.empty_like(y)
    dy[0:3] = velocity
    dy[3] = 0.5 * (-i * ax - j * ay - k * az)
    dy[4] = 0.5 * (w * ax + j * az - k * ay)
    dy[5] = 0.5 * (w * ay + k * ax - i * az)
    dy[6] = 0.5 * (w * az + i * ay - j * ax)
    dy[7:10] = bodies.mass * bodies.gravity[:, None] - bodies.drag * speed * velocity
    dy[10:13] = 0.0
    return dy


def step(y: Array, h: float, bodies: Bodies) -> Array:
    """One step of RK4, the quaternion rescaled after it."""
    k1 = rate(y, bodies)
    k2 = rate(y + 0.5 * h * k1, bodies)
    k3 = rate(y + 0.5 * h * k2, bodies)
    k4 = rate(y + h * k3, bodies)
    new = y + h / 6 * (k1 + 2 * (k2 + k3) + k4)
    new[3:7] /= np.sqrt((new[3:7] ** 2).sum(axis=0))
    return np.asarray(new)
