"""The disk on an axle shared by the gyroscope models: initial state, scenario, and measurements."""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.equations.quaternions import from_angles
from polhode.equations.scalar_ops import cos, larger, sin
from polhode.gallery.measurements import zero_crossings
from polhode.gallery.plain_formulas import radians
from polhode.massprops.shapes import ellipsoid
from polhode.reference.heavy_top import HeavyTop
from polhode.scenario.forces import gravity
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.validation import Array
from polhode.web.props import Axle, Stand
from polhode.web.stage import Grab, Stage, StageCamera

if TYPE_CHECKING:
    from polhode.massprops.body import Body
    from polhode.results.motion import Motion

MASS, GRAVITY, HEIGHT, SEMI_AXES = 1.0, 1.0, 1.0, (1.0, 1.0, 0.1)
FRAMES = 600
STEPS_PER_TURN = 4000
AXLE_RADIUS, AXLE_ABOVE, STAND_HEIGHT = 0.035, 1.6, 1.6
"""The axle ends where the page draws the tip of axis 3, whose path is shown."""


def make_disk() -> Body:
    """The ellipsoid of [Christian 2011, section 17.6]: mass, radius, height above the pivot and gravity are all 1."""
    return ellipsoid(SEMI_AXES, MASS)


def make_heavy_top(theta: float, spin: float, precession: float = 0.0, theta_rate: float = 0.0) -> HeavyTop:
    """The gyroscope in closed form, theta in degrees: Is = M (R^2 + c^2)/5 + M l^2 and I3 = 2 M R^2/5."""
    radius, _, half_thickness = SEMI_AXES
    moment = MASS * (radius**2 + half_thickness**2) / 5 + MASS * HEIGHT**2
    weight = MASS * GRAVITY * HEIGHT
    return HeavyTop(moment, 2 * MASS * radius**2 / 5, weight, radians(theta), spin, precession, theta_rate)


def initial_state(top: HeavyTop) -> State:
    """Initial state with phi = psi = 0, the pivot at the origin.  [Christian 2011, eq. 17.36]"""
    rates = (top.theta_rate, top.precession * sin(top.theta), top.spin)
    at = (0.0, -HEIGHT * sin(top.theta), HEIGHT * cos(top.theta))
    return State(at, quaternion_wxyz=from_angles((0.0, top.theta, 0.0)), angular_velocity_body=rates)


def pivot_scenario(
    top: HeavyTop, duration: float, step: float, name: str, frames: int = FRAMES, **more: Any
) -> Scenario:
    """The gyroscope from this initial state, by rk4 with steps of at most `step`."""
    every = duration / frames
    return Scenario(
        make_disk(),
        initial_state(top),
        [gravity(GRAVITY)],
        duration=duration,
        step=every / -(-every // step),
        output_step=every,
        method="rk4",
        pivot=(0.0, 0.0, -HEIGHT),
        name=name,
        **more,
    )


def accurate_step(top: HeavyTop, period: float) -> float:
    """Step at which rk4 errs by less than 1e-10 rad over a few revolutions of a top that nutates with this period."""
    fastest = abs(top.spin) + abs(top.precession) + abs(top.theta_rate) - 2 * pi / larger(-period, -10.0)
    step: float = 2 * pi / (STEPS_PER_TURN * fastest)
    return step


def cosine_rate(state: Any) -> float:
    """d cos(theta)/dt of a state: k1 w2 - k2 w1, k the vertical in body axes."""
    w, x, y, z = state.quaternion_wxyz
    w1, w2, _ = state.angular_velocity_body
    return float(2 * (x * z - w * y) * w2 - 2 * (y * z + w * x) * w1)


def turning_times(motion: Motion) -> Array:
    """Times of the turning points of theta, in s, without the start."""
    k, w = motion.rotation_matrix[:, 2], motion.angular_velocity_body
    rates = k[:, 0] * w[:, 1] - k[:, 1] * w[:, 0]
    found = zero_crossings(motion, rates, cosine_rate)
    return np.asarray(found[found > motion.times[1]])


def inclination(state: Any) -> float:
    """Theta of a state, in rad."""
    w, x, y, z = state.quaternion_wxyz
    return float(2 * np.arctan2(np.hypot(x, y), np.hypot(w, z)))


def make_stage(panels: tuple[str, ...], knob: str = "", **more: Any) -> Stage:
    """The disk on its axle and the axle on its stand; `knob` is the parameter that is the angle of the axle."""
    end = (0.0, 0.0, AXLE_ABOVE)
    props = (Axle((0.0, 0.0, -HEIGHT), end, AXLE_RADIUS), Stand((0.0, 0.0, 0.0), STAND_HEIGHT, 1.6 * AXLE_RADIUS))
    grabs = [Grab("angular_velocity", knob="spin", component=2)]
    if knob:
        grabs.append(Grab("attitude", knob=knob, component="tilt", scale=180 / pi))
    return Stage(
        camera=StageCamera(elevation_deg=14.0, target=(0.0, 0.0, 0.1), radius=3.2),
        panels=panels,
        props=props,
        floor=-STAND_HEIGHT,
        grabs=tuple(grabs),
        **more,
    )
