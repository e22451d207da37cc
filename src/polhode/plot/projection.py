"""Cameras of parallel projection, and the shaded ellipsoid of a polhode."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb

from polhode.plot.style import AXIS_COLORS, COLORS, OMEGA_LABELS
from polhode.validation import Array

DASHES = (0, (4, 2.5))
LIGHT_DIRECTION = np.array((-0.35, 0.65, 0.68))
"""Direction of the light, in (right, up, toward the viewer)."""


class Camera(NamedTuple):
    """Three unit vectors: to the right, up, and toward the viewer."""

    right: Array
    up: Array
    eye: Array

    def flat(self, points: Array) -> Array:
        """Project points (..., 3) to the picture plane, (..., 2)."""
        return np.stack((points @ self.right, points @ self.up), axis=-1)


def make_camera(right: Any, up: Any, yaw: float, pitch: float) -> Camera:
    """A camera that faces the plane of `right` and `up`, rotated by `yaw` and then `pitch`, in rad."""
    r, u = (np.asarray(v, dtype=float) / np.linalg.norm(v) for v in (right, up))
    r = r - (r @ u) * u
    r /= np.linalg.norm(r)
    eye = np.cross(r, u)
    eye_1 = np.cos(yaw) * eye + np.sin(yaw) * r
    right_1 = np.cos(yaw) * r - np.sin(yaw) * eye
    eye_2 = np.cos(pitch) * eye_1 + np.sin(pitch) * u
    return Camera(right_1, np.cos(pitch) * u - np.sin(pitch) * eye_1, eye_2)


def draw_polhode(axes: Axes, moments: Array, rates: Array) -> None:
    """The path of the angular velocity (rad/s, principal axes) on its energy ellipsoid, with neighboring polhodes.

    The separatrix is dashed: it bounds the paths around the axes of the largest and of the smallest moment.
    """
    a, b, c = np.argsort(moments)
    twice_energy = float((moments * rates[0] ** 2).sum())
    semi = np.sqrt(twice_energy / moments)
    camera = make_camera(np.eye(3)[a], np.eye(3)[c], 0.85, 0.45)
    matrix = moments / twice_energy
    draw_ellipsoid(axes, matrix, camera)
    if moments[a] < moments[b] < moments[c]:
        for path in _neighbor_polhodes(moments, semi, (a, b, c)):
            draw_path_on_ellipsoid(axes, path, matrix, camera, color="#ffffff", width=1.0)
        for path in _separatrix(moments, semi, (a, b, c)):
            draw_path_on_ellipsoid(axes, path, matrix, camera, color=COLORS["separatrix"], width=1.3, style=DASHES)
        axes.plot([], [], color=COLORS["separatrix"], linewidth=1.3, linestyle=DASHES, label="separatrix")
    draw_path_on_ellipsoid(axes, rates, matrix, camera, color=COLORS["omega"], width=2.4)
    axes.plot([], [], color=COLORS["omega"], linewidth=2.4, label="polhode")
    axes.legend(loc="lower left", handlelength=2.2, borderaxespad=0.0)
    for axis in range(3):
        _draw_axis(axes, axis, semi, camera)
    reach = np.sqrt((np.stack((camera.right, camera.up)) ** 2 * semi**2).sum(axis=1))
    axes.set_aspect("equal", anchor="NW")
    axes.set_xlim(-1.2 * reach[0], 1.4 * reach[0])
    axes.set_ylim(-1.75 * reach[1], 1.5 * reach[1])
    axes.axis("off")


def draw_ellipsoid(axes: Axes, matrix: Array, camera: Camera, pixels: int = 360) -> None:
    """The ellipsoid matrix . x^2 = 1, each pixel shaded by its normal."""
    reach = np.sqrt((np.stack((camera.right, camera.up)) ** 2 / matrix).sum(axis=1))
    dx, dy = (np.linspace(-r, r, pixels) for r in reach)
    s, t = np.meshgrid(dx, dy)
    foot = s[..., None] * camera.right + t[..., None] * camera.up
    # The line foot + depth * eye meets the ellipsoid where p2 depth^2 + 2 p1 depth + p0 = 0.
    p2, p1, p0 = camera.eye**2 @ matrix, foot * camera.eye @ matrix, foot**2 @ matrix - 1
    root = p1**2 - p2 * p0
    hit = root >= 0
    depth = (-p1 + np.sqrt(np.where(hit, root, 0.0))) / p2
    normal = (foot + depth[..., None] * camera.eye) * matrix
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    light = LIGHT_DIRECTION @ np.stack(camera) / np.linalg.norm(LIGHT_DIRECTION)
    strength = 0.74 + 0.24 * np.clip(normal @ light, 0.0, None)
    edge = np.clip((normal @ camera.eye) * 6, 0.0, 1.0)
    picture = np.ones((pixels, pixels, 4))
    picture[..., :3] = strength[..., None] * np.array(to_rgb("#f2eee6"))
    picture[..., 3] = np.where(hit, edge, 0.0)
    extent = (-reach[0], reach[0], -reach[1], reach[1])
    axes.imshow(picture, extent=extent, origin="lower", interpolation="bilinear", zorder=1)


def draw_path_on_ellipsoid(
    axes: Axes, points: Array, matrix: Array, camera: Camera, color: str, width: float, style: Any = "solid"
) -> None:
    """A curve on the ellipsoid: bold in front, faint behind."""
    flat = camera.flat(points)
    front = (points * matrix) @ camera.eye > 0
    for side, alpha, thickness in ((~front, 0.22, 0.8 * width), (front, 1.0, width)):
        visible = np.where(side[:, None], flat, np.nan)
        axes.plot(
            visible[:, 0],
            visible[:, 1],
            color=color,
            linewidth=thickness,
            linestyle=style,
            alpha=alpha,
            zorder=2 + alpha,
        )


def _draw_axis(axes: Axes, axis: int, semi: Array, camera: Camera) -> None:
    """The visible end of a principal axis outside the ellipsoid, labeled with the rate there."""
    sign = 1.0 if camera.eye[axis] >= 0 else -1.0
    tip = sign * semi[axis] * np.eye(3)[axis]
    outside = tip + sign * 0.24 * semi.max() * np.eye(3)[axis]
    start, end = camera.flat(tip), camera.flat(outside)
    arrow = {"arrowstyle": "-|>", "color": AXIS_COLORS[axis], "linewidth": 1.8, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", xy=tuple(end), xytext=tuple(start), arrowprops=arrow, zorder=5)
    dx, dy = (end - start) / np.linalg.norm(end - start)
    axes.annotate(
        f"{OMEGA_LABELS[axis]}: {sign * semi[axis]:.3g}",
        xy=tuple(end),
        xytext=(5 * dx, 5 * dy),
        textcoords="offset points",
        color=AXIS_COLORS[axis],
        ha="center" if abs(dx) < 0.5 else "left" if dx > 0 else "right",
        va="center" if abs(dy) < 0.4 else "bottom" if dy > 0 else "top",
        fontsize=10.5,
        zorder=6,
    )


def _neighbor_polhodes(moments: Array, semi: Array, order: tuple[int, int, int]) -> list[Array]:
    """Other polhodes of the same energy, around both ends of the axes of the smallest and the largest moment."""
    a, b, c = order
    turn = np.linspace(0, 2 * np.pi, 241)
    paths = []
    for pole, other in ((c, a), (a, c)):
        # Around the pole J3: J1 d13 w1^2 + J2 d23 w2^2 = A, the separatrix at w2 = semi[b].
        d13, d23 = abs(moments[other] - moments[pole]), abs(moments[b] - moments[pole])
        for share in (0.3, 0.6, 0.85):
            level = moments[b] * d23 * (share * semi[b]) ** 2
            path = np.empty((len(turn), 3))
            path[:, other] = np.sqrt(level / (moments[other] * d13)) * np.cos(turn)
            path[:, b] = share * semi[b] * np.sin(turn)
            rest = 1 - (path[:, other] / semi[other]) ** 2 - (path[:, b] / semi[b]) ** 2
            path[:, pole] = semi[pole] * np.sqrt(np.clip(rest, 0.0, None))
            paths += [path, path * np.where(np.arange(3) == pole, -1.0, 1.0)]
    return paths


def _separatrix(moments: Array, semi: Array, order: tuple[int, int, int]) -> list[Array]:
    """L^2 = 2 E Jb: two plane curves that cross at the intermediate axis."""
    a, b, c = order
    turn = np.linspace(0, 2 * np.pi, 361)
    slope = np.sqrt(moments[a] * (moments[b] - moments[a]) / (moments[c] * (moments[c] - moments[b])))
    along_a = 1 / np.sqrt(1 / semi[a] ** 2 + slope**2 / semi[c] ** 2)
    paths = []
    for sign in (-1.0, 1.0):
        path = np.empty((len(turn), 3))
        path[:, b] = semi[b] * np.cos(turn)
        path[:, a] = along_a * np.sin(turn)
        path[:, c] = sign * slope * along_a * np.sin(turn)
        paths.append(path)
    return paths
