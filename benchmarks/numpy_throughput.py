"""The same bodies in plain NumPy: RK4 of (x, q, P, L), gravity and quadratic drag, all bodies in one array.

Twice: as the equations are printed, R from q, I^-1 = R I_body^-1 R^T, w = I^-1 L, q' = (0, w) q/2 [Baraff 1997,
section 3], the way one writes it down; and tuned by hand, without a matrix.  Components come first, every operation is
on all bodies at once.  It shares no law with the package: a yardstick for speed, and a second opinion on numbers.

It is timed in a process of its own, as its user would run it: NumPy's speed depends, by up to a factor of two, on what
others in the process have left the memory allocator with.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np

from polhode.errors import PolhodeError
from polhode.validation import Array

STEP = 1e-3


class BodyConstants(NamedTuple):
    """The constants: an array of N numbers each, moments (3, N), gravity (3, 1)."""

    mass: Array
    moments: Array
    drag: Array
    gravity: Array


def sample_bodies(count: int) -> tuple[BodyConstants, Array]:
    """That many different bodies, and a different start for each, (13, N)."""
    random = np.random.default_rng(0)
    mass, drag = random.uniform(5, 15, count), random.uniform(0.05, 0.2, count)
    moments = np.array((0.81, 0.68, 0.14))[:, None] * (mass / 10)
    y = np.zeros((13, count))
    y[3] = 1.0
    y[7:10] = mass * random.normal(0, 10, (3, count))
    y[10:13] = moments * random.normal(0, 3, (3, count))
    return BodyConstants(mass, moments, drag, np.array((0.0, 0.0, -9.80665))[:, None]), y


def textbook_rate(y: Array, bodies: BodyConstants) -> Array:
    """dy/dt as the texts write it."""
    q, momentum, spin = y[3:7], y[7:10], y[10:13]
    r = _matrix(q / np.linalg.norm(q, axis=0))
    inverse_inertia = np.einsum("ijn,jn,kjn->ikn", r, 1 / bodies.moments, r)
    w = np.einsum("ijn,jn->in", inverse_inertia, spin)
    velocity = momentum / bodies.mass
    force = bodies.mass * bodies.gravity - bodies.drag * np.linalg.norm(velocity, axis=0) * velocity
    return np.concatenate((velocity, 0.5 * _vector_times_quaternion(w, q), force, np.zeros_like(spin)))


def _matrix(q: Array) -> Array:
    w, x, y, z = q
    return np.array(
        (
            (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
            (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
            (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
        )
    )


def _vector_times_quaternion(v: Array, q: Array) -> Array:
    """(0, v) q"""
    a, b, c = v
    w, x, y, z = q
    return np.array((-a * x - b * y - c * z, a * w + b * z - c * y, b * w + c * x - a * z, c * w + a * y - b * x))


def tuned_rate(y: Array, bodies: BodyConstants) -> Array:
    """dy/dt with the spin turned into the body by the quaternion itself, and one array for the answer."""
    w, i, j, k = y[3:7]
    lx, ly, lz = y[10:13]
    velocity = y[7:10] / bodies.mass
    s = 2 / (w * w + i * i + j * j + k * k)
    ux, uy, uz = k * ly - j * lz, i * lz - k * lx, j * lx - i * ly
    ax = (lx + s * (w * ux - (j * uz - k * uy))) / bodies.moments[0]
    ay = (ly + s * (w * uy - (k * ux - i * uz))) / bodies.moments[1]
    az = (lz + s * (w * uz - (i * uy - j * ux))) / bodies.moments[2]
    dy = np.empty_like(y)
    dy[0:3] = velocity
    dy[3] = 0.5 * (-i * ax - j * ay - k * az)
    dy[4] = 0.5 * (w * ax + j * az - k * ay)
    dy[5] = 0.5 * (w * ay + k * ax - i * az)
    dy[6] = 0.5 * (w * az + i * ay - j * ax)
    dy[7:10] = bodies.mass * bodies.gravity - bodies.drag * np.sqrt((velocity * velocity).sum(axis=0)) * velocity
    dy[10:13] = 0.0
    return dy


RATES: dict[str, Callable[[Array, BodyConstants], Array]] = {"textbook": textbook_rate, "tuned": tuned_rate}


def rk4_step(rate: Callable[[Array, BodyConstants], Array], y: Array, h: float, bodies: BodyConstants) -> Array:
    """One step of RK4, the quaternion rescaled after it."""
    k1 = rate(y, bodies)
    k2 = rate(y + h / 2 * k1, bodies)
    k3 = rate(y + h / 2 * k2, bodies)
    k4 = rate(y + h * k3, bodies)
    new = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    new[3:7] /= np.linalg.norm(new[3:7], axis=0)
    return np.asarray(new)


def advance_sample(kind: str, count: int, steps: int) -> Array:
    """The sample's state after that many steps."""
    bodies, y = sample_bodies(count)
    for _ in range(steps):
        y = rk4_step(RATES[kind], y, STEP, bodies)
    return y


class NumpyProcess:
    """A process that holds the bodies and advances them when told how many steps; it times itself."""

    def __init__(self, kind: str, count: int) -> None:
        command = [sys.executable, "-m", "benchmarks.numpy_throughput", kind, str(count)]
        root = Path(__file__).parents[1]  # where `-m benchmarks...` is found, wherever the command was started
        self._process = subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def seconds(self, steps: int) -> float:
        """Advance, and say how long it took."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(steps, file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            raise PolhodeError("the process that runs NumPy's version has ended; its own complaint stands above")
        return float(answer)

    def close(self) -> None:
        """End it."""
        self._process.communicate()


def _serve_steps(kind: str, count: int) -> None:
    """Read numbers of steps, answer with seconds."""
    rate = RATES[kind]
    bodies, y = sample_bodies(count)
    for line in sys.stdin:
        began = perf_counter()
        for _ in range(int(line)):
            y = rk4_step(rate, y, STEP, bodies)
        print(perf_counter() - began, flush=True)


if __name__ == "__main__":
    _serve_steps(sys.argv[1], int(sys.argv[2]))
