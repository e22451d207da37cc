"""The closed-form solution of a motion, if there is one, which the page draws over the computed motion."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from polhode.equations.quaternions import conjugate, from_matrix, product, to_body, to_world
from polhode.errors import PolhodeError
from polhode.integrate.driver import run_scenario
from polhode.reference.heavy_top import HeavyTop
from polhode.results.trajectory import Trajectory
from polhode.scenario.state import stack_components
from polhode.validation import Array

RATE_ANGLE = 1e-4
"""Rotation of a top, in rad, over which its angular velocity is differenced."""
SYMMETRY_TOLERANCE = 1e-9
"""Relative tolerance of equal moments, and of a center of mass on the symmetry axis."""


@dataclass(frozen=True)
class ClosedFormOverlay:
    """The closed form at the outputs of a motion, with the same shapes as its own quantities."""

    quaternion_wxyz: Array
    position: Array
    velocity: Array
    angular_velocity: Array


def find_closed_form(motion: Trajectory) -> ClosedFormOverlay | str:
    """The closed form of a motion, or a sentence that says why there is none."""
    if motion.scenario.contacts:
        return f"No closed form is known with contacts: {', '.join(c.name for c in motion.scenario.contacts)}."
    if motion.scenario.is_extended:
        return "No closed form is known for a body with rotors, a mass that changes or added mass."
    if motion.scenario.used_method.is_closed_form:
        return "The motion was computed in closed form."
    if motion.acts_besides:
        return f"No closed form is known with {', '.join(motion.acts_besides)}."
    free = _free_motion_overlay(motion)
    if free is not None:
        return free
    if motion.axis is None and motion.scenario.pivot is not None:
        return _heavy_top_overlay(motion)
    return f"No closed form is known with {', '.join(dict.fromkeys(f.name for f in motion.scenario.acting_forces))}."


def _free_motion_overlay(motion: Trajectory) -> ClosedFormOverlay | None:
    """Free rotation, with no forces other than uniform gravity and impulses."""
    plain = replace(
        motion.scenario, method="auto", formulation="momentum", events=(), output_step=None, output_times=motion.times
    )
    if not plain.used_method.is_closed_form:
        return None
    exact = replace(plain, method="exact", step=None)
    closed = Trajectory(exact, run_scenario(exact, False))
    return ClosedFormOverlay(closed.quaternion_wxyz, closed.position, closed.velocity, closed.angular_velocity)


def _heavy_top_overlay(motion: Trajectory) -> ClosedFormOverlay | str:
    """Lagrange's top: a symmetric body with a pivot on its axis, under uniform gravity."""
    scenario = motion.scenario
    forces = [f for f in scenario.acting_forces if f.kind == "body"]
    if len(scenario.acting_forces) != 1 or len(forces) != 1 or not forces[0].uniform or forces[0].direction is None:
        return "No closed form is known for a body on a pivot with these forces."
    (body,) = scenario.bodies
    arm = -np.asarray(scenario.pivot, dtype=float)  # from the pivot to the center of mass, body axes
    height, field = float(np.linalg.norm(arm)), np.asarray(forces[0].params[0], dtype=float)
    about = body.constants(scenario.pivot)
    along = np.array(to_body(about.axes, tuple(arm / height))) if height else np.zeros(3)
    axial = int(np.abs(along).argmax())
    moments = np.array(about.moments)
    across = np.delete(moments, axial)
    if (
        not height
        or abs(abs(along[axial]) - 1) > SYMMETRY_TOLERANCE
        or abs(across[0] - across[1]) > SYMMETRY_TOLERANCE * across[0]
    ):
        return "No closed form is known for a body that is not symmetric about the line from pivot to center of mass."
    state = scenario.states[0]
    q: Any = tuple(state.quaternion_wxyz.tolist())
    up, axis = -field / np.linalg.norm(field), arm / height
    up_body = np.array(to_body(q, tuple(up)))
    theta = float(np.arctan2(np.linalg.norm(np.cross(up_body, axis)), up_body @ axis))
    side = up_body - (up_body @ axis) * axis
    if np.linalg.norm(side) <= SYMMETRY_TOLERANCE:
        return "The closed form of a top that starts upright or hanging is not drawn."
    side = side / np.linalg.norm(side)
    top_axes = np.stack((np.cross(side, axis), side, axis))  # rows: the top's axes, the line of nodes first
    rates = top_axes @ np.asarray(state.angular_velocity_body)
    weight = float(body.mass * np.linalg.norm(field) * height)
    to_top: Any = from_matrix(tuple(top_axes.ravel().tolist()))  # type: ignore[arg-type]
    try:
        top = HeavyTop(
            float(across.mean()), float(moments[axial]), weight, theta, rates[2], rates[1] / np.sin(theta), rates[0]
        )
        start: Any = tuple(top.quaternion_at(np.array(0.0)).tolist())
        to_space: Any = product(product(q, conjugate(to_top)), conjugate(start))

        def attitudes(t: Array) -> Any:
            parts: Any = tuple(np.moveaxis(top.quaternion_at(t), -1, 0))
            return product(product(to_space, parts), to_top)

        t = motion.times - scenario.start_time
        turned = attitudes(t)
        moment = RATE_ANGLE / float(np.linalg.norm(motion.angular_velocity, axis=-1).max() or 1.0)
        angular_velocity = _finite_difference_rate(attitudes(t - moment), attitudes(t + moment), 2 * moment)
    except PolhodeError as error:
        return f"The closed form cannot be evaluated: {error}"
    pivot = np.asarray(state.position) - np.array(to_world(q, tuple(arm)))
    away = stack_components(to_world(turned, tuple(arm)))
    return ClosedFormOverlay(stack_components(turned), pivot + away, np.cross(angular_velocity, away), angular_velocity)


def _finite_difference_rate(before: Any, after: Any, seconds: float) -> Array:
    """Angular velocity from two close attitudes, world axes."""
    w, *turn = product(after, conjugate(before))
    return np.asarray(2 * np.sign(w)[:, None] * stack_components(turn) / seconds)
