"""Where the geometry of a body is, if its center of mass moves within it: what files of meshes show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.equations.formulations import StateView
from polhode.equations.quaternions import to_world
from polhode.equations.vectors import cross, minus, plus
from polhode.validation import Array

if TYPE_CHECKING:
    from polhode.results.trajectory import Trajectory


def geometry_view_of(motion: Trajectory, samples: Array) -> StateView:
    """The view of samples, with place and velocity of the point that the geometry is drawn about.

    That is the center of mass that the body was made with: x - R (c - c0), v - R c' - w x R (c - c0), where a mass
    course moves the center c; else it is the center of mass.
    """
    view, course = motion.state_view_of(samples), motion.scenario.mass_course
    if course is None or not course.moves_center:
        return view
    body = motion.scenario.bodies[0]
    clock = samples[..., motion.run_result.columns.more.stop - 1]
    shift = course.values(clock, body)[..., 1:4] - np.asarray(body.center_of_mass)
    arm, drift = (_turned(view, vectors) for vectors in (shift, course.center_rate(clock, body)))
    velocity = minus(view.velocity, plus(drift, cross(view.angular_velocity, arm)))
    return view._replace(position=minus(view.position, arm), velocity=velocity)


def _turned(view: StateView, vectors: Array) -> Any:
    return to_world(view.orientation, (vectors[..., 0], vectors[..., 1], vectors[..., 2]))
