"""What the tests of shapes share: sizes to try, each solid as a map of a cube, and integrals over such maps.

A map takes three (a surface: two, a line: one) numbers between 0 and 1 to a point.  Its derivatives come from
complex steps, so nothing here knows a formula for a volume, a center or a moment.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import polhode as ph

L_SHAPE = [(0, 0), (3, 0), (3, 1), (1, 1), (1, 4), (0, 4)]
SPIKY = [(0.3, -1.1), (0.9, 0.2), (2.1, 0.4), (1.0, 0.9), (0.8, 2.2), (0.1, 0.8), (-1.4, 0.7), (-0.2, 0.1)]
SKEW = [(1.0, 0.2, -0.1), (0.4, 1.3, 0.3), (-0.7, 0.5, 2.0)]
CORNERS = [(0.1, 0.2, -0.3), (1.4, 0.1, 0.5), (-0.3, 2.2, 0.4), (0.6, 0.5, 1.7)]
SWAPPED = [CORNERS[1], CORNERS[0], *CORNERS[2:]]

CASES = [
    *(("box", {"sides": sides}) for sides in [(1, 2, 3), (1e-6, 1, 1e3)]),
    *(("sphere", {"radius": r}) for r in (0.3, 7.0)),
    *(("ellipsoid", {"semi_axes": axes}) for axes in [(1, 1.3, 1.7), (2, 1, 1), (1e-6, 1, 1e3)]),
    *(("half_ellipsoid", {"semi_axes": axes}) for axes in [(1, 1.3, 1.7), (2, 1, 1), (1e-6, 1, 1e3), (1e3, 1, 1e-6)]),
    *(("cylinder", {"radius": r, "height": h}) for r, h in [(1, 2), (1e-6, 1), (1e6, 1)]),
    *(("cone", {"radius": r, "height": h}) for r, h in [(1, 2), (1e-6, 1), (1e6, 1)]),
    *(
        ("frustum", {"bottom_radius": a, "top_radius": b, "height": h})
        for a, b, h in [(2, 1, 3), (1, 2, 3), (1, 1, 1), (1, 1 - 1e-9, 2), (1e-6, 1, 1), (1, 1e-6, 1e3)]
    ),
    *(("capsule", {"radius": r, "cylinder_height": h}) for r, h in [(1, 2), (1e-6, 1), (1, 1e-6)]),
    *(("torus", {"radius": R, "tube_radius": r}) for R, r in [(3, 1), (1, 1), (1, 1e-6)]),
    *(
        ("tube", {"outer_radius": R, "inner_radius": r, "height": h})
        for R, r, h in [(2, 1, 3), (1, 1e-6, 2), (1, 1 - 1e-9, 2), (3, 2.9, 1e3)]
    ),
    *(("spherical_shell", {"radius": R, "inner_radius": r}) for R, r in [(2, 1), (1, 1e-6), (1, 1 - 1e-9)]),
    ("spherical_shell", {"radius": 2.0}),
    *(("thin_rod", {"length": length, "radius": r}) for length, r in [(3, 0.1), (1, 1e-6), (3, 0)]),
    ("ring", {"radius": 2.0}),
    ("thin_disk", {"radius": 2.0}),
    *(("thin_sheet", {"sides": sides}) for sides in [(1, 2), (1e-6, 1e3)]),
    *(("tetrahedron", {"corners": corners}) for corners in (CORNERS, SWAPPED, np.multiply(CORNERS, (1, 1e3, 1)))),
    *(("parallelepiped", {"edges": edges}) for edges in (SKEW, SKEW[::-1], np.multiply(SKEW, (1, 1e3, 1)))),
    *(("prism", {"base": base, "height": h}) for base, h in [(L_SHAPE, 2), (SPIKY[::-1], 1e-6), (SPIKY, 1e3)]),
]
NAMES = [f"{name}-{i}" for i, (name, _) in enumerate(CASES)]


def near(value, rel):
    """Equal but for that part of the value itself: pytest's own rule lets anything below 1e-12 pass."""
    return pytest.approx(value, rel=rel, abs=0)


def assert_same_tensor(found, expected, rel):
    """Diagonal entries relative to themselves, the others to the two diagonal entries that they stand between."""
    size = np.sqrt(np.abs(np.outer(np.diag(expected), np.diag(expected))))
    assert (np.abs(found - expected) <= rel * size).all()


def shape(name, sizes, scale=1, **amount):
    """The body of a case, with all lengths multiplied."""
    return getattr(ph.shapes, name)(**{key: np.multiply(size, scale) for key, size in sizes.items()}, **amount)


def _turned(r, p, z):
    return r * np.cos(2 * np.pi * p), r * np.sin(2 * np.pi * p), z + 0 * p + 0 * r


def _ellipsoid(axes, first=0.0, last=1.0, z0=0.0, inner=0.0):
    """Polar angle from `first` to `last` half turns; radius from `inner` to 1."""

    def place(s, t, p):
        polar, r = np.pi * (first + t * (last - first)), inner + s * (1 - inner)
        x, y, z = _turned(r * np.sin(polar), p, r * np.cos(polar))
        return axes[0] * x, axes[1] * y, z0 + axes[2] * z

    return place


def _cone(a, b, h, z0=0.0):
    """From the top, t = 0, to the bottom, so that its volume is positive like the ellipsoid's."""
    return lambda s, t, p: _turned(s * (b + t * (a - b)), p, z0 + h * (1 - t))


def _torus(R, r):
    def place(s, t, p):
        return _turned(R + r * s * np.cos(2 * np.pi * t), p, r * s * np.sin(2 * np.pi * t))

    return place


def _parallelepiped(corner, u, v, w):
    return lambda s, t, p: tuple(corner[i] + s * u[i] + t * v[i] + p * w[i] for i in range(3))


def _tetrahedron(a, b, c, d):
    a, b, c, d = map(np.array, (a, b, c, d))
    return lambda s, t, p: tuple(a[i] + s * ((b - a)[i] + t * ((c - b)[i] + p * (d - c)[i])) for i in range(3))


def _wedge(a, b, c, h):
    """Over the triangle a, b, c; it counts as negative if that goes clockwise."""
    return lambda s, t, p: (
        *(a[i] + s * ((b[i] - a[i]) + t * (c[i] - b[i])) for i in range(2)),
        h * p + 0 * s,
    )


def pieces(name, sizes):
    """The shape as maps, each with the faces of its cube (which number, its value) that are the shape's surface."""
    v = {key: np.asarray(size, float) for key, size in sizes.items()}
    ends, all_six = ((1, 0), (1, 1)), tuple((i, k) for i in range(3) for k in (0, 1))
    match name:
        case "box":
            return [(_parallelepiped(-v["sides"] / 2, *np.diag(v["sides"])), all_six)]
        case "sphere":
            return [(_ellipsoid([v["radius"]] * 3), ((0, 1),))]
        case "ellipsoid":
            return [(_ellipsoid(v["semi_axes"]), ((0, 1),))]
        case "half_ellipsoid":
            return [(_ellipsoid(v["semi_axes"], last=0.5), ((0, 1), (1, 1)))]
        case "cylinder":
            return [(_cone(v["radius"], v["radius"], v["height"]), ((0, 1), *ends))]
        case "thin_rod" if v["radius"] > 0:
            return [(_cone(v["radius"], v["radius"], v["length"]), ((0, 1), *ends))]
        case "cone":
            return [(_cone(v["radius"], 0.0, v["height"]), ((0, 1), (1, 1)))]
        case "frustum":
            return [(_cone(v["bottom_radius"], v["top_radius"], v["height"]), ((0, 1), *ends))]
        case "capsule":
            r, h = v["radius"], v["cylinder_height"]
            halves = [_ellipsoid([r] * 3, *which) for which in ((0.0, 0.5, h / 2), (0.5, 1.0, -h / 2))]
            return [(_cone(r, r, h, -h / 2), ((0, 1),)), *((half, ((0, 1),)) for half in halves)]
        case "torus":
            return [(_torus(v["radius"], v["tube_radius"]), ((0, 1),))]
        case "tube":
            R, r, h = v["outer_radius"], v["inner_radius"], v["height"]
            return [(lambda s, t, p: _turned(r + s * (R - r), p, h * t), ((0, 0), (0, 1), *ends))]
        case "spherical_shell" if "inner_radius" in v:
            R, r = v["radius"], v["inner_radius"]

            def wall(s, t, p):
                radius = r + s * (R - r)
                return _turned(radius * np.sin(np.pi * t), p, radius * np.cos(np.pi * t))

            return [(wall, ((0, 0), (0, 1)))]
        case "spherical_shell":
            ball = _ellipsoid([v["radius"]] * 3)
            return [(lambda t, p: ball(1.0, t, p), ())]
        case "thin_rod":
            return [(lambda s: (0 * s, 0 * s, v["length"] * s), ())]
        case "ring":
            return [(lambda p: _turned(v["radius"], p, 0.0), ())]
        case "thin_disk":
            return [(lambda s, p: _turned(v["radius"] * s, p, 0.0), ())]
        case "thin_sheet":
            return [(lambda s, t: (v["sides"][0] * s + 0 * t, v["sides"][1] * t + 0 * s, 0 * s * t), ())]
        case "tetrahedron":
            return [(_tetrahedron(*v["corners"]), ((0, 1), (1, 1), (2, 0), (2, 1)))]
        case "parallelepiped":
            return [(_parallelepiped(np.zeros(3), *v["edges"]), all_six)]
        case "prism":
            base, n = v["base"], len(v["base"])
            return [(_wedge(base[0], base[i], base[i + 1], v["height"]), ()) for i in range(1, n - 1)]


@cache
def _nodes(count, dimensions):
    x, w = np.polynomial.legendre.leggauss(count)
    grid = np.meshgrid(*[(x + 1) / 2] * dimensions, indexing="ij")
    weights = np.prod(np.meshgrid(*[w / 2] * dimensions, indexing="ij"), axis=0)
    return [axis.ravel() for axis in grid], weights.ravel()


def sampled(place, dimensions, count):
    """Points of a map, and the part of the volume (area, length) that each stands for."""
    u, weights = _nodes(count, dimensions)
    points = np.stack(np.broadcast_arrays(*place(*u)), axis=-1)
    columns = []
    for i in range(dimensions):
        stepped = [axis + 1e-30j * (k == i) for k, axis in enumerate(u)]
        columns.append(np.stack(np.broadcast_arrays(*place(*stepped)), axis=-1).imag / 1e-30)
    if dimensions == 3:
        return points, weights * (np.cross(columns[0], columns[1]) * columns[2]).sum(axis=-1)
    if dimensions == 2:
        return points, weights * np.linalg.norm(np.cross(*columns), axis=-1)
    return points, weights * np.linalg.norm(columns[0], axis=-1)


def integrated(name, sizes, dimensions=3, count=20):
    """Volume (area, length), center, and the tensor of unit mass about it."""
    samples = [sampled(place, dimensions, count) for place, _ in pieces(name, sizes)]
    points, parts = (np.concatenate(both) for both in zip(*samples, strict=True))
    whole = parts.sum()
    near = points - points[0]
    center = parts @ near / whole
    x, y, z = (near - center).T
    parts = parts / whole
    tensor = np.array(
        [
            [parts @ (y * y + z * z), -parts @ (x * y), -parts @ (x * z)],
            [-parts @ (y * x), parts @ (z * z + x * x), -parts @ (y * z)],
            [-parts @ (z * x), -parts @ (z * y), parts @ (x * x + y * y)],
        ]
    )
    return abs(whole), points[0] + center, tensor


def integrated_area(name, sizes, count=40):
    """The sum over all faces."""
    total = 0.0
    for place, faces in pieces(name, sizes):
        for which, value in faces:
            face = lambda *u, place=place, which=which, value=value: place(*u[:which], value, *u[which:])  # noqa: E731
            total += sampled(face, 2, count)[1].sum()
    return total
