"""The two views of a motion at one time: in space, and from the body."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgba
from matplotlib.lines import Line2D

from polhode.massprops.geometry import Surface
from polhode.plot.drawable_mesh import face_normals, split_by_plane
from polhode.plot.projection import Camera
from polhode.plot.scene import Scene
from polhode.plot.snapshot.trajectory import TrajectorySamples
from polhode.plot.style import AXIS_COLORS, COLOR_CYCLE, COLORS
from polhode.results.contact_patches import contact_patches
from polhode.results.impacts import Impacts
from polhode.scenario.contact import HalfSpace
from polhode.validation import Array

ARROW_LABELS = {"omega": "ω", "momentum": "L", "torque": "torque", "force": "force"}
ARROW_COLORS = {name: COLORS["L" if name == "momentum" else name] for name in ARROW_LABELS}
MAX_TRAIL_POINTS = 3000
"""Maximum number of points of a trail."""
VIEW_MARGIN = 1.72
"""Half the height of a view of one body, relative to the body's size."""
PARTICLE_RADIUS = 0.035
"""The radius of the ball that marks a particle, relative to half the height of the view."""
MAX_MEMBER_PATHS, MAX_MEMBER_POINTS = 30, 24
"""Maximum number of paths of members, and of points of each."""
HIDDEN_ALPHA = 0.25
"""Opacity of the hidden part of an arrow: most of a short arrow lies inside its body."""
ARROW_HEAD_LENGTH = 0.034
"""Length of an arrow's head, relative to half the height of the view."""
IMPACT_SECONDS, IMPACT_SHARE, MAX_IMPACTS = 0.3, 0.1, 30
"""Impacts are drawn for this many seconds, or this share of the motion if that is less; at most so many points."""
IMPULSE_LENGTH, PATCH_SIZE = 0.5, 1.5
"""The arrow of the largest impulse, and half the size of a floor, relative to half the height of the view."""
MAX_MEMBER_FACES, MIN_MEMBER_SIZE = 24, 0.02
"""Members are drawn as bodies if they have at most this many faces, and at least this size relative to the view."""


@dataclass(frozen=True)
class SnapshotViews:
    """Everything in the views that does not change with time."""

    trail: TrajectorySamples
    """The whole motion, finely sampled."""
    surfaces: list[Surface]
    """The surface of each body or member; a single one if all members share it."""
    halves: list[int | None]
    """The body axis whose half is colored, for each; None if the body does not rotate."""
    sizes: Array
    """The radius of each about its center, in m."""
    camera: Camera
    radius: float
    """Half the height of the view in space, in m."""
    center: Array | None
    """Center of the view in space; None if it follows the bodies."""
    scales: dict[str, float]
    """Meters of arrow per unit of each vector that is drawn."""
    watched: int
    """The index of the body whose frame the second view shows."""
    turns: bool
    """Whether the watched body rotates."""
    many: bool
    """Whether these are members of an ensemble."""
    is_stationary: bool
    """Whether all positions are constant."""
    pivoted: bool
    joined: tuple[tuple[int, int], ...]
    """Pairs of bodies connected by a force such as a spring."""
    remarks: tuple[str, ...]
    half_spaces: tuple[HalfSpace, ...] = ()
    """Floors, walls and slopes."""
    impacts: Impacts | None = None
    """Of the bodies that are drawn."""

    @property
    def follows(self) -> bool:
        """Whether the view in space moves with the bodies."""
        return self.center is None

    # Views --------------------------------------------------------------------------------------------------------
    def draw_space(self, axes: Axes, now: TrajectorySamples, points: int = MAX_TRAIL_POINTS) -> None:
        """The view in space: bodies, arrows, and the paths of the bodies and of the tip of omega."""
        scene, before = Scene(self.camera), self._before(now, points)
        middle = self._middle(now) if self.center is None else self.center
        reach = self.radius * axes_aspect(axes)
        if self.many:
            self._members(scene, now, before)
        else:
            for a, b in self.joined:
                scene.line(now.position[0, [a, b]], COLORS["muted"], width=1.2)
            for i in range(now.position.shape[1]):
                self._body(scene, i, now.position[0, i], now.attitude[0, i])
                self._path(scene, before.position[:, i], middle, reach, i)
                self._arrows(scene, i, now)
            if self.pivoted:
                scene.line(np.stack((now.reference_point[0, 0], now.position[0, 0])), COLORS["muted"], width=1.6)
                scene.dot(now.reference_point[0, 0], COLORS["ink"], size=5.0)
            if self.turns:
                tips = before.reference_point[-1:, self.watched] + self.scales["omega"] * before.omega[:, self.watched]
                scene.line(tips, COLORS["omega"], width=1.1, alpha=0.75)
                self._axes(scene, now.position[0, self.watched], now.attitude[0, self.watched])
        self._impacts(scene, float(now.times[0]))
        self._world_axes(scene, middle, axes)
        self._half_spaces(axes, middle)
        self._finish(scene, axes, middle, self.radius)

    def draw_body(self, axes: Axes, now: TrajectorySamples, points: int = MAX_TRAIL_POINTS) -> None:
        """The view from the watched body: the paths of omega and L around it."""
        scene, before, i = Scene(self.camera), self._before(now, points), self.watched
        self._body(scene, 0 if self.many else i, np.zeros(3), np.eye(3), quiet=self.many)
        if self.many:
            tips = self.scales["omega"] * now.in_body(now.omega)[0]
            _draw_point_cloud(scene, tips[np.isfinite(tips).all(axis=1)], COLOR_CYCLE[0], 4.0, 1e-3 * self.sizes[0])
        else:
            start = (now.attitude[0, i].T @ (now.reference_point - now.position)[0, i]) if self.pivoted else np.zeros(3)
            for name in ("omega", "momentum"):
                if name in self.scales:
                    path = start + self.scales[name] * before.in_body(getattr(before, name))[:, i]
                    scene.line(path, ARROW_COLORS[name], width=1.3, alpha=0.85)
                    begin, radius = start - self._behind(name), VIEW_MARGIN * float(self.sizes[i])
                    self._arrow(scene, begin, path[-1] - start, ARROW_COLORS[name], radius)
        self._axes(scene, np.zeros(3), np.eye(3))
        self._finish(scene, axes, np.zeros(3), VIEW_MARGIN * float(self.sizes[0 if self.many else i]))

    def legend(self) -> list[Any]:
        """Legend handles of the arrows."""
        if self.many:
            return []
        options: Any = {"marker": ">", "markevery": [1], "markersize": 6, "linewidth": 2.2}
        about = {n: " about the pivot" for n in ("momentum", "torque") if self.pivoted}
        return [
            Line2D([0, 1], [0, 0], color=ARROW_COLORS[n], label=ARROW_LABELS[n] + about.get(n, ""), **options)
            for n in ARROW_LABELS
            if n in self.scales
        ]

    # Contents -----------------------------------------------------------------------------------------------------
    def _before(self, now: TrajectorySamples, points: int) -> TrajectorySamples:
        """At most `points` samples before `now`, followed by `now`."""
        until = self.trail.until(float(now.times[0]))
        every = max(1, -(-len(until.times) // points))
        first = (len(until.times) - 1) % every  # so that points do not move while the trail grows
        kept = slice(0, len(until.times) - first, every)
        return TrajectorySamples(**{name: values[kept] for name, values in vars(until).items()}).then(now)

    def _middle(self, now: TrajectorySamples) -> Array:
        """The center of a view that follows the bodies."""
        there = np.isfinite(now.position[0]).all(axis=1)
        return np.asarray(now.position[0, there].mean(axis=0)) if there.any() else np.zeros(3)

    def _body(self, scene: Scene, i: int, position: Array, attitude: Array, quiet: bool = False) -> None:
        own = COLOR_CYCLE[i % len(COLOR_CYCLE)] if len(self.sizes) > 1 and not self.many else None
        if self.sizes[i] == 0:
            ball = Surface(PARTICLE_RADIUS * self.radius * self.surfaces[i].vertices, self.surfaces[i].faces)
            scene.body(ball, position, attitude, color=own or COLOR_CYCLE[0])
        else:
            half = None if quiet else self.halves[i]
            color = own if own and half is None else COLORS["body"]
            options: Any = {"half": half, "half_color": own, "alpha": 0.45 if quiet else 1.0}
            scene.body(self.surfaces[i], position, attitude, color=color, **options)

    def _axes(self, scene: Scene, place: Array, attitude: Array) -> None:
        size = 1.3 * float(self.sizes[0 if self.many else self.watched])
        for k in range(3):
            scene.arrow(place - self._behind("axes"), size * attitude[:, k], AXIS_COLORS[k], f"{k + 1}", width=1.4)

    def _arrows(self, scene: Scene, i: int, now: TrajectorySamples) -> None:
        for name, scale in self.scales.items():
            vector = scale * getattr(now, name)[0, i]
            start = now.position[0, i] if name == "force" else now.reference_point[0, i]
            if np.linalg.norm(vector) > 1e-3 * self.radius:
                self._arrow(scene, start - self._behind(name), vector, ARROW_COLORS[name], self.radius)

    def _arrow(self, scene: Scene, start: Array, vector: Array, color: str, radius: float) -> None:
        """An arrow, drawn again faintly in front of everything, so that arrows inside a body are visible."""
        scene.arrow(start, vector, color)
        before = start + 4 * self.radius * self.camera.eye
        along = self.camera.flat(vector)
        length = float(np.hypot(*along))
        if length <= 1e-9 * radius:  # toward the viewer
            return
        back, aside = (
            size * ARROW_HEAD_LENGTH * radius / length * (x * self.camera.right + y * self.camera.up)
            for size, x, y in ((1.0, *along), (0.5, -along[1], along[0]))
        )
        tip = before + vector - 0.45 * back  # no longer than the arrow, round ends included
        shaft = np.stack((before, tip))
        head = np.stack((tip - back + aside, tip, tip - back - aside))
        for path in (shaft, head):
            scene.line(path, color, width=2.0, alpha=HIDDEN_ALPHA)

    def _behind(self, name: str) -> Array:
        """An offset that puts L a little behind omega, and axes behind L: along each other, pieces of all would
        alternate."""
        layers = {"momentum": 2e-3, "axes": 4e-3}
        return np.asarray(layers.get(name, 0.0) * float(self.sizes.max()) * self.camera.eye)

    def _path(self, scene: Scene, path: Array, middle: Array, reach: float, i: int) -> None:
        """The path of a center of mass so far, within the view."""
        if np.ptp(path, axis=0).max() < 1e-3 * self.radius:
            return
        near = np.linalg.norm(path - middle, axis=1) < 2 * reach + self.radius
        near[:-1] |= near[1:]
        near[1:] |= near[:-1]
        color = COLORS["path"] if len(self.sizes) == 1 else COLOR_CYCLE[i % len(COLOR_CYCLE)]
        ends = np.flatnonzero(np.diff(np.concatenate(([0], near.astype(int), [0]))))
        for first, last in zip(ends[::2], ends[1::2], strict=True):
            scene.line(path[first:last], color, width=0.9 if self.follows else 1.2)

    def _members(self, scene: Scene, now: TrajectorySamples, before: TrajectorySamples) -> None:
        """Members as small bodies or dots; if none moves, the tips of omega around one of the bodies."""
        there: list[int] = np.flatnonzero(np.isfinite(now.position[0]).all(axis=1)).tolist()
        if len(there) == 0:
            return
        if self.is_stationary:
            self._body(scene, 0, now.position[0, there[0]], now.attitude[0, there[0]])
            tips = now.position[0] + self.scales.get("omega", 0.0) * now.omega[0]
            _draw_point_cloud(scene, tips[there], COLORS["omega"], 4.0, 1e-3 * self.radius)
            return
        for i in there[:: max(1, len(there) // MAX_MEMBER_PATHS)]:
            path = before.position[:: max(1, len(before.times) // MAX_MEMBER_POINTS), i]
            path = path[np.isfinite(path).all(axis=1)]
            scene.line(np.concatenate((path, now.position[:, i])), COLORS["path"], width=0.6, alpha=0.35)
        as_bodies = [i for i in there if self._is_small_body(i)]
        as_dots = [i for i in there if not self._is_small_body(i)]
        _draw_point_cloud(scene, now.position[0, as_dots], COLOR_CYCLE[0], 4.0, 1e-3 * self.radius)
        self._small_bodies(scene, as_bodies, now)

    def _is_small_body(self, member: int) -> bool:
        """Whether a member can be drawn as its body."""
        one = self._surface_index(member)
        return len(self.surfaces[one].faces) <= MAX_MEMBER_FACES and bool(
            self.sizes[one] >= MIN_MEMBER_SIZE * self.radius
        )

    def _surface_index(self, member: int) -> int:
        """The index of a member's surface."""
        return member if len(self.surfaces) > 1 else 0

    def _small_bodies(self, scene: Scene, members: list[int], now: TrajectorySamples) -> None:
        """Many bodies at once, without edge lines, whose sorting by depth would take seconds."""
        half, facing, colored = self.halves[0], [], []
        for one, group in groupby(members, self._surface_index):
            chosen, triangles = list(group), self.surfaces[one].vertices[self.surfaces[one].faces]
            if half is not None:
                triangles = split_by_plane(triangles, half).triangles
            turned = np.einsum("nij,tcj->ntci", now.attitude[0, chosen], triangles)
            placed = turned + now.position[0, chosen][:, None, None]
            facing.append(placed.reshape(-1, 3, 3))
            colored.append(np.tile(triangles[:, :, half or 0].mean(axis=1) > 0, len(chosen)))
        if not facing:
            return
        placed, first = np.concatenate(facing), np.concatenate(colored)
        visible = face_normals(placed) @ self.camera.eye > 0
        for chosen_too, color in ((visible & first, AXIS_COLORS[half or 0]), (visible & ~first, COLORS["body"])):
            corners = placed[chosen_too].reshape(-1, 3)
            scene.surface(corners, np.arange(len(corners)).reshape(-1, 3), color)

    def _impacts(self, scene: Scene, now: float) -> None:
        """The last impacts: dots at the points of contact, and arrows along the impulses, fading as they recede."""
        if self.impacts is None or len(self.impacts) == 0:
            return
        span = min(IMPACT_SECONDS, IMPACT_SHARE * float(np.ptp(self.trail.times)))
        recent = self.impacts[(self.impacts.time <= now) & (self.impacts.time > now - span)]
        scale = IMPULSE_LENGTH * self.radius / max(float(np.linalg.norm(self.impacts.impulse, axis=1).max()), 1e-300)
        for point, impulse in zip(recent.point[-MAX_IMPACTS:], recent.impulse[-MAX_IMPACTS:], strict=True):
            lifted = point + 1e-2 * self.radius * self.camera.eye  # or the body would hide it
            scene.dot(lifted, COLORS["impact"], size=4.0)
            if np.linalg.norm(scale * impulse) > 1e-2 * self.radius:
                self._arrow(scene, lifted, scale * impulse, COLORS["impact"], self.radius)

    def _half_spaces(self, axes: Axes, middle: Array) -> None:
        """Floors, walls and slopes behind everything; of those that face away from the viewer the outline."""
        for patch in contact_patches(self.half_spaces, middle, PATCH_SIZE * self.radius):
            if len(patch.corners) < 3:
                continue
            behind = patch.normal @ self.camera.eye > 0
            fill = to_rgba(COLORS["floor"], 0.55 if behind else 0.0)
            edge = to_rgba(COLORS["muted"], 0.6)
            outline = PolyCollection(
                [self.camera.flat(patch.corners)], facecolors=[fill], edgecolors=[edge], linewidths=0.7, zorder=1.0
            )
            axes.add_collection(outline, autolim=False)
            if behind and len(patch.lines):
                grid = LineCollection(
                    list(self.camera.flat(patch.lines)), colors=COLORS["muted"], linewidths=0.4, alpha=0.5, zorder=1.1
                )
                axes.add_collection(grid, autolim=False)

    def _world_axes(self, scene: Scene, middle: Array, axes: Axes) -> None:
        """Small, in the lower left corner."""
        length = 0.17 * self.radius
        corner = -0.8 * self.radius * self.camera.up - (axes_aspect(axes) - 0.22) * self.radius * self.camera.right
        # In front of everything: otherwise a passing body would hide them.
        scene.world_axes(length, middle + corner + 4 * self.radius * self.camera.eye)

    def _finish(self, scene: Scene, axes: Axes, middle: Array, radius: float) -> None:
        """Draw a view with fixed limits."""
        scene.draw(axes)
        for drawn in axes.collections:
            drawn.set_snap(False)  # otherwise each piece of a vertical line is moved to whole pixels by itself
        (x, y), aspect = self.camera.flat(middle), axes_aspect(axes)
        axes.set_xlim(x - aspect * radius, x + aspect * radius)
        axes.set_ylim(y - radius, y + radius)


def axes_aspect(axes: Axes) -> float:
    """Width over height of axes."""
    extent = axes.get_window_extent()
    return float(extent.width / extent.height)


def _draw_point_cloud(scene: Scene, places: Array, color: str, size: float, length: float) -> None:
    """Many dots as very short lines with round ends, which are drawn in one collection, unlike `Scene.dot`."""
    along = length * scene.camera.right
    for place in places:
        scene.line(np.stack((place, place + along)), color, width=size)
