"""The layout shared by all pictures of a motion: camera, field of view and arrow scales."""

from __future__ import annotations

import numpy as np

from polhode.massprops.appearance import appearance_of
from polhode.plot.projection import Camera
from polhode.plot.scene import world_camera
from polhode.plot.snapshot.trajectory import TrajectorySamples, sample_trajectory, select_drawn_bodies
from polhode.plot.snapshot.views import MAX_TRAIL_POINTS, VIEW_MARGIN, SnapshotViews
from polhode.results.contact_patches import varies_between_members
from polhode.results.trajectory import Trajectory
from polhode.scenario.contact import HalfSpace
from polhode.validation import Array

MAX_TRAIL_ANGLE, MIN_TRAIL_POINTS = 0.1, 200
"""Trails: maximum rotation (rad) between two points, and minimum number of points."""
LONGEST_ARROWS = {"omega": 1.55, "momentum": 1.7, "torque": 1.3, "force": 1.15}
"""The longest arrow of each kind during the motion, relative to the body's size."""
TIGHT_MARGIN = 1.35
"""As VIEW_MARGIN, for a body that does not rotate and has no arrows around it."""
FOLLOW_DISTANCE = 4.0
"""The view follows a body that moves farther than this, relative to its size."""
SEGMENTS = 40
"""Segments per full circle of a curved body."""
MIN_ROTATION = 1e-6
"""A body that rotates by less than this (rad) during the whole motion counts as not rotating."""
TORQUE_TOLERANCE = 1e-9
"""A torque that changes L by less than this fraction is rounding error, and not drawn."""


def lay_out_views(motion: Trajectory, watched: int = 0, aspect: float = 1.3) -> SnapshotViews:
    """Everything about the views of a motion that does not change with time.

    `aspect` is the width of a view over its height; if there is only one view it is twice as wide.
    """
    trail, many = sample_trajectory(motion, _trail_times(motion)), motion.axis == "member"
    appearances = [appearance_of(body, segments=SEGMENTS) for body in select_drawn_bodies(motion)[1]]
    sizes = np.array([appearance.size for appearance in appearances])
    rates = trail.in_body(trail.omega)
    turned = (
        np.nan_to_num(np.linalg.norm(rates, axis=-1)).max(axis=0) * max(float(np.ptp(trail.times)), 1e-300)
        > MIN_ROTATION
    )
    turns = bool(sizes[0 if many else watched] > 0) and bool(turned.any() if many else turned[watched])
    halves = [int(np.nan_to_num(np.abs(rates[:, i])).mean(axis=0).argmin()) for i in range(len(appearances))]
    pivoted, camera = motion.scenario.pivot is not None, _choose_camera(trail, float(sizes.max()))
    radius, center = _fit_view(
        trail, sizes, camera, (aspect, VIEW_MARGIN) if turns else (2 * aspect, TIGHT_MARGIN), pivoted
    )
    remarks = [
        *dict.fromkeys(
            appearance.sentence for appearance in appearances if appearance.kind not in ("mesh", "shape", "particle")
        )
    ]
    if many and len(appearances) > 1 and turns:
        remarks.append("the members' bodies differ: the large one is that of the first member")
    if motion.unknown_forces:
        remarks.append(f"no arrows for forces: the file does not hold {', '.join(motion.unknown_forces)}")
    if motion.scenario.contacts and varies_between_members(_half_spaces(motion)):
        remarks.append("the members' floors differ: that of the first member is drawn")
    pairs = [f.bodies for f in motion.scenario.acting_forces if f.kind == "pair" and f.bodies is not None]
    return SnapshotViews(
        trail=trail,
        surfaces=[appearance.surface for appearance in appearances],
        halves=[half if many or turned[i] else None for i, half in enumerate(halves)],
        sizes=sizes,
        camera=camera,
        radius=radius,
        center=center,
        scales=_arrow_scales(trail, float(sizes.max()) if turns else 0.3 * radius, turns),
        watched=watched,
        turns=turns,
        many=many,
        is_stationary=bool(sizes[0] > 0 and _path_extent(trail) <= 1e-9 * sizes[0]),
        pivoted=pivoted,
        joined=tuple((pair[0], pair[1]) for pair in pairs),
        remarks=tuple(remarks),
        half_spaces=_half_spaces(motion),
        impacts=motion.impacts if motion.scenario.contacts else None,
    )


def _half_spaces(motion: Trajectory) -> tuple[HalfSpace, ...]:
    """Floors, walls and slopes."""
    return tuple(c for c in motion.scenario.contacts if isinstance(c, HalfSpace))


def _trail_times(motion: Trajectory) -> Array:
    """Times close enough together for a trail."""
    first = motion.scenario.start_time if motion.scenario.used_method.is_closed_form else float(motion.times[0])
    fastest, span = float(np.nanmax(np.linalg.norm(motion.angular_velocity_body, axis=-1))), motion.times[-1] - first
    most = MAX_TRAIL_POINTS if motion.axis is None else MAX_TRAIL_POINTS // 5
    count = int(np.clip(fastest * span / MAX_TRAIL_ANGLE, MIN_TRAIL_POINTS, most)) if span else 1
    even = np.linspace(first, motion.times[-1], count)
    if not motion.scenario.contacts or motion.axis == "member":
        return even
    jumps = motion.impacts.time[:most]
    return np.union1d(even, jumps[(jumps > first) & (jumps < motion.times[-1])])


def _choose_camera(trail: TrajectorySamples, size: float) -> Camera:
    """From the front, a little to the side and from above: the side that shows more.

    That is more of the path if it is longer than the body, otherwise more of L at the start.
    """
    along: Array = np.nan_to_num((trail.momentum if trail.momentum.any() else trail.omega)[0]).mean(axis=0)
    if _path_extent(trail) > 2 * size:
        along = np.nanmax(trail.position, axis=(0, 1)) - np.nanmin(trail.position, axis=(0, 1))
    return max(world_camera(0.6), world_camera(0.97), key=lambda camera: float(np.hypot(*camera.flat(along))))


def _path_extent(trail: TrajectorySamples) -> float:
    """The diagonal of the box around all positions during the motion."""
    places = trail.position[np.isfinite(trail.position).all(axis=-1)]
    return float(np.linalg.norm(np.ptp(places, axis=0)))


def _fit_view(
    trail: TrajectorySamples, sizes: Array, camera: Camera, view: tuple[float, float], pivoted: bool
) -> tuple[float, Array | None]:
    """Half the height of the view in space, and its center; None if it follows the bodies."""
    (aspect, room), size, alone = view, float(sizes.max()), trail.position.shape[1] == 1
    if pivoted and alone:
        return 1.2 * room * size, np.asarray(trail.reference_point[0, 0])
    there = np.isfinite(trail.position)  # a failed member has no position
    count = np.maximum(there.sum(axis=1, keepdims=True), 1)
    middles = np.where(there, trail.position, 0.0).sum(axis=1, keepdims=True) / count
    places = trail.position if alone else trail.position - middles
    spread = 0.0 if alone else float(np.nanmax(np.linalg.norm(places, axis=-1)))
    if size + spread > 0 and _path_extent(trail) / 2 > FOLLOW_DISTANCE * (size + spread) and np.isfinite(spread):
        return (room * size if alone else 1.3 * (spread + size)), None
    flat, depths = camera.flat(trail.position).reshape(-1, 2), (trail.position @ camera.eye).reshape(-1)
    known = np.isfinite(depths)
    low, high = flat[known].min(axis=0), flat[known].max(axis=0)
    half_width, half_height = (high - low) / 2
    middle = (low + high) / 2
    center = middle[0] * camera.right + middle[1] * camera.up + float(depths[known].mean()) * camera.eye
    around = room * size if alone or not spread else 1.2 * size
    return 1.08 * max(half_height, half_width / aspect) + around or 1.0, np.asarray(center)


def _arrow_scales(trail: TrajectorySamples, unit: float, turns: bool) -> dict[str, float]:
    """Meters of arrow per unit, for each vector that is not always 0."""
    found = {}
    for name, longest in LONGEST_ARROWS.items():
        largest = float(np.nanmax(np.linalg.norm(getattr(trail, name), axis=-1)))
        is_idle = not turns and name != "force"
        if largest > 0 and not is_idle and not (name == "torque" and _is_rounding_torque(trail, largest)):
            found[name] = longest * unit / largest
    return found


def _is_rounding_torque(trail: TrajectorySamples, torque: float) -> bool:
    """Whether a torque is too small to change the motion."""
    largest = float(np.nanmax(np.linalg.norm(trail.momentum, axis=-1)))
    return torque * float(np.ptp(trail.times)) <= TORQUE_TOLERANCE * largest
