"""Energy, lowest points and impulses of rigid bodies in contact, in plain NumPy: shares no code with the package."""

from __future__ import annotations

import numpy as np

G = 9.80665


def rotate(q, v):
    """Vectors v (..., 3) turned by unit quaternions q (..., 4), scalar first."""
    w, axis = q[..., :1], q[..., 1:]
    across = 2 * np.cross(axis, v)
    return v + w * across + np.cross(axis, across)


def conjugate(q):
    return q * np.array([1.0, -1.0, -1.0, -1.0])


def energy(motion, mass, tensor, gravity=G):
    """Kinetic and potential energy at every output; the tensor is that of the body axes."""
    w = motion.angular_velocity_body
    turning = np.einsum("...i,ij,...j->...", w, tensor, w) / 2
    return mass * (motion.velocity**2).sum(-1) / 2 + turning + mass * gravity * motion.position[..., 2]


def lowest_point(kind, sizes, center_of_mass, position, q, normal=(0.0, 0.0, 1.0)):
    """Height along a normal of the lowest point of a solid, whose shape is given about its own origin."""
    down = rotate(conjugate(q), np.broadcast_to(-np.asarray(normal), position.shape))  # in body axes
    return position @ np.asarray(normal) - (SUPPORTS[kind](sizes, down) - down @ np.asarray(center_of_mass))


def _vertices(points, down):
    return (down @ np.asarray(points).T).max(-1)


def _rim(radius, height, down):
    return height * down[..., 2] + radius * np.hypot(down[..., 0], down[..., 1])


SUPPORTS = {
    "points": _vertices,
    "cylinder": lambda s, u: np.maximum(_rim(s[0], s[1] / 2, u), _rim(s[0], -s[1] / 2, u)),
    "cone": lambda s, u: np.maximum(_rim(s[0], -s[1] / 4, u), 3 * s[1] / 4 * u[..., 2]),
    "ellipsoid": lambda s, u: np.sqrt(((np.asarray(s) * u) ** 2).sum(-1)),
}


def box_corners(sides):
    return np.array([(i, j, k) for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)]) * (np.asarray(sides) / 2)


def random_quaternions(rng, n):
    q = rng.normal(size=(n, 4))
    return q / np.linalg.norm(q, axis=-1, keepdims=True)
