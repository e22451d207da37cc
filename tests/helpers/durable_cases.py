"""Runs of every kind, small enough to be interrupted after each of their checkpoints."""

from __future__ import annotations

from typing import Any

import numpy as np

import polhode as ph

BOX = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0)
BALL = ph.shapes.sphere(0.5, mass=2.0)
SPIN = ph.State(angular_velocity_body=(0.1, 5.0, 0.1), velocity=(1.0, 0.0, 2.0))
FALLING = ph.State(position=(0.0, 0.0, 2.0), velocity=(0.5, 0.0, 0.0), angular_velocity_body=(1.0, 2.0, 3.0))
TIPPING = ph.State(quaternion_wxyz=(np.cos(0.5), np.sin(0.5), 0, 0), angular_velocity_body=(3.0, 0.01, 0.3))
GRAVITY = ph.forces.gravity()
DRAG = ph.forces.linear_drag(0.5)
THRUST = ph.forces.thruster((0.1, 0, 0), (0, 0, 1), 3.0, start=0.21, stop=0.62)
KICKS = ph.forces.impulse((0.0, 1.0, 0.5), 0.35, (0.1, 0.0, 0.0))
LAST_KICK = ph.forces.impulse((0.0, 1.0, 0.5), 1.0)


@ph.force
def swirl(t, state, body, params):
    p = state.position
    return (-params[0] * p[0], -params[0] * p[1], ph.sin(3 * t)), (0.0, 0.0, params[1])


@ph.force
def blows_up(t, state, body, params):
    p = state.position
    return (0.0, 0.0, params[0] / (p[2] - params[1])), (0.0, 0.0, 0.0)


@ph.force
def kinked(t, state, body, params):
    x = state.position[0]
    return (ph.if_less(x, 0.0, -params[0] * x, -params[1] * x), 0.0, 0.0), (0.0, 0.0, 0.0)


@ph.event
def height(t, state, body, params):
    return state.position[2] - params[0]


@ph.event
def sideways(t, state, body, params):
    return ph.sin(7 * t) * state.velocity[0] - params[0]


def rebound(t, state, body, params):
    return (0.0, 0.0, -1.8 * state.linear_momentum[2]), (0.0, 0.0, 0.0)


def _pair_of_balls() -> dict[str, Any]:
    states = [ph.State(position=(x, 0.0, z), velocity=(v, 0.0, 0.0)) for x, z, v in ((0, 0, 1), (1.5, 0.2, -1))]
    return {"body": [BALL, BALL], "state": states}


def _many(n: int) -> dict[str, Any]:
    states = [
        ph.State(position=(0.1 * i, 0.0, 1.0), velocity=(0.0, 0.1 * i, 0.0), angular_velocity_body=(0.1, 3.0 + i, 0.2))
        for i in range(n)
    ]
    return {"body": [BOX] * n, "state": states}


COURSE = ph.mass_course([0.0, 0.3, 0.7, 1.0], [10.0, 8.0, 7.5, 7.5])
ONE = {"body": BOX, "state": SPIN}
DROPPED = {"body": BALL, "state": FALLING}
SPRING = ph.forces.spring_between(0, 1, 40.0, length=1.0)
FLYING = {
    "body": BOX,
    "state": ph.State(position=(0, 0, 11050), velocity=(200, 30, 40), angular_velocity_body=(1, 3, 2)),
}
TABLES = ph.forces.drag(
    0.3,
    ph.CoefficientTable(
        ("mach", "angle_of_attack"), ((0.0, 0.6, 0.65, 3.0), (-3.2, -1, 1, 3.2)), np.arange(16).reshape(4, 4) / 9
    ),
)
FINE = {"duration": 1.0, "step": 1e-3, "output_step": 0.013}
FREE = {"duration": 1.0, "output_step": 0.013}
SLOW = {"duration": 5.0, "output_step": 0.071}
EVENTS = [
    height(0.9, action="record"),
    sideways(0.1, action="record"),
    height(0.5, change=rebound, direction=-1, count=40),
]
STOPS = [height(0.9, action="record"), sideways(0.1, count=9)]
BOUNCES = [height(0.5, change=rebound, direction=-1)]

CASES: dict[str, dict[str, Any]] = {
    "rk4 with segments": {**ONE, "forces": [GRAVITY, DRAG, THRUST, KICKS, LAST_KICK], "method": "rk4", **FINE},
    "rk4 of a user's force with breaks": {
        **ONE, "forces": [swirl(3.0, 0.2)], "method": "rk4", **FINE, "breaks": [0.1, 0.4005]},
    "splitting4": {**ONE, "forces": [GRAVITY, DRAG], "method": "splitting4", **FINE},
    "splitting6_exact": {**ONE, "forces": [GRAVITY, KICKS], "method": "splitting6_exact", **FINE},
    "rk4 of a system": {**_pair_of_balls(), "forces": [SPRING, GRAVITY.on(1)], "method": "rk4", **FINE},
    "rk4 of many bodies": {**_many(11), "forces": [GRAVITY, KICKS], "method": "rk4", **FINE},
    "rk4 with events": {**DROPPED, "forces": [GRAVITY], "events": EVENTS, "method": "rk4", **FINE},
    "rk4 that fails": {
        **DROPPED, "forces": [blows_up(3e3, 0.5), GRAVITY], "method": "rk4", **FINE, "step": 1.1e-3},
    "rk4 uncompiled": {
        **ONE, "forces": [swirl(3.0, 0.2)], "method": "rk4", "engine": "python", "duration": 1.0, "step": 0.05,
        "output_step": 0.013},
    "Euler angles that turn too fast": {
        "body": BOX, "state": TIPPING, "method": "rk4",
        "formulation": "euler_angles", **FINE},
    "closed form": {**ONE, "forces": [GRAVITY, KICKS, LAST_KICK], "method": "exact", **FREE},
    "closed form with events": {**DROPPED, "forces": [GRAVITY], "events": EVENTS, "method": "exact", **FREE},
    "dop853 with segments": {
        **ONE, "forces": [GRAVITY, DRAG, THRUST, KICKS, LAST_KICK], "method": "dop853", "rtol": 1e-14, **SLOW},
    "rk45 with segments": {
        **ONE, "forces": [GRAVITY, DRAG, THRUST, KICKS, LAST_KICK], "method": "rk45", "rtol": 1e-11, **SLOW},
    "vern9 of a system": {
        **_pair_of_balls(), "forces": [SPRING, KICKS.on(0)], "method": "vern9", "rtol": 1e-14, **FREE, "duration": 4.0},
    "dop853 with events": {
        **DROPPED, "forces": [GRAVITY, DRAG], "events": EVENTS, "method": "dop853", "rtol": 1e-12, **FREE,
        "duration": 3.0},
    "dop853 that stops": {
        **DROPPED, "forces": [GRAVITY, swirl(3.0, 0.1)], "events": STOPS, "method": "dop853", "rtol": 1e-15, **FREE,
        "duration": 5.0},
    "dop853 that accumulates": {
        **DROPPED, "forces": [GRAVITY], "events": BOUNCES, "method": "dop853", **FREE, "duration": 15.0},
    "dop853 that gets stuck": {
        **DROPPED, "forces": [blows_up(-3.0, 0.5), GRAVITY], "method": "dop853", "rtol": 1e-6, **FREE,
        "duration": 5.0},
    "dop853 of a system": {
        **_pair_of_balls(), "forces": [SPRING, KICKS.on(0)], "method": "dop853", "rtol": 1e-14, **FREE,
        "duration": 4.0},
    "dop853 of a few bodies": {
        **_many(3), "forces": [GRAVITY, DRAG, KICKS], "method": "dop853", "rtol": 1e-14, **SLOW},
    "dop853 of many bodies": {**_many(37), "forces": [GRAVITY, DRAG, KICKS], "method": "dop853", "rtol": 1e-13, **FREE},
    "dop853 with rotors": {
        **ONE, "rotors": [ph.rotor((0, 0, 1), 0.01, speed=50.0, torque=([0.0, 0.4, 1.0], [0.1, -0.1, 0.0]))],
        "method": "dop853", "rtol": 1e-14, **SLOW},
    "dop853 of a changing mass": {
        **ONE, "forces": [GRAVITY, DRAG], "mass_course": COURSE, "method": "dop853", "rtol": 1e-14, **SLOW},
    "dop853 with added mass": {
        **ONE, "forces": [GRAVITY], "added_mass": np.diag([1.0, 2.0, 3.0, 0.1, 0.2, 0.3]), "method": "dop853",
        "rtol": 1e-14, **SLOW},
    "taylor with segments": {
        **ONE, "forces": [GRAVITY, swirl(3.0, 0.2), THRUST, KICKS], "method": "taylor", "rtol": 1e-15, **FREE,
        "duration": 20.0},
    "taylor of a system": {
        **_pair_of_balls(), "forces": [SPRING, KICKS.on(0)], "method": "taylor", "rtol": 1e-15, **FREE,
        "duration": 20.0},
    "taylor with events": {
        **DROPPED, "forces": [GRAVITY, swirl(3.0, 0.1)], "events": EVENTS, "method": "taylor", "rtol": 1e-14, **FREE,
        "duration": 8.0},
    "taylor that stops": {
        **DROPPED, "forces": [GRAVITY, swirl(3.0, 0.1)], "events": STOPS, "method": "taylor", "rtol": 1e-14, **FREE,
        "duration": 8.0},
    "taylor of a force with kinks": {
        **DROPPED, "forces": [kinked(30.0, 50.0)], "method": "taylor", "rtol": 1e-14, **FREE, "duration": 20.0},
    "taylor over knots": {
        **FLYING, "forces": [GRAVITY, TABLES, KICKS], "method": "taylor", "rtol": 1e-13, **FREE, "duration": 3.0},
    "taylor of bodies one by one": {
        **_many(3), "forces": [kinked(30.0, 50.0), KICKS], "method": "taylor", **FREE, "duration": 0.5},
    "taylor in lanes": {**_many(3), "forces": [GRAVITY, DRAG, KICKS], "method": "taylor", **FREE},
    "a ball that bounces and rolls": {
        **DROPPED, "forces": [GRAVITY], "contacts": [ph.floor(0.7, 0.4)], **FREE,
        "duration": 4.0},
    "a box that tumbles in air": {
        "body": BOX, "state": FALLING, "forces": [GRAVITY, DRAG, KICKS], "contacts": [ph.floor(0.5, 0.3)], **FREE,
        "duration": 2.0},
    "two balls that collide": {
        **_pair_of_balls(), "forces": [SPRING], "contacts": [ph.between_bodies(0.8, 0.2)], **FREE, "duration": 3.0},
    "auto": {**ONE, "forces": [GRAVITY, DRAG, THRUST, KICKS], **FREE, "rtol": 1e-10},
    "auto with events": {**DROPPED, "forces": [GRAVITY, DRAG], "events": STOPS, **FREE, "duration": 5.0},
    "auto by Taylor series": {**ONE, "forces": [GRAVITY, swirl(3.0, 0.2)], "rtol": 1e-13, **FREE, "duration": 5.0},
    "auto that fails": {**DROPPED, "forces": [blows_up(-3.0, 0.5), GRAVITY], **FREE, "duration": 5.0},
    "auto of a closed form": {**ONE, "forces": [GRAVITY, KICKS], **FREE},
}  # fmt: skip
