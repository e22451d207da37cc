"""MuJoCo: RK4 in C, a free body or one on a ball joint; weight, drag and thrust by its own means, none in Python.

Quadratic drag is its fluid model of an ellipsoid, for a sphere that hardly displaces any fluid; the thruster is an
actuator at a site.  Every stage that one body does not need is switched off.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import mujoco

from benchmarks.contestant import Contestant, ProblemData, TimedRun, UnsupportedProblemError
from polhode.scenario.scenario import Scenario

NEGLIGIBLE_MASS = 1e-18
"""Density of the fluid, kg/m3: the drag coefficient makes up for it, and no mass is added to the body."""
DISABLED_FLAGS = (
    *("contact", "constraint", "equality", "frictionloss", "limit", "clampctrl"),
    *("warmstart", "filterparent", "refsafe", "sensor", "midphase", "eulerdamp", "island"),
)


def rk4_runs(task: ProblemData, scenario: Scenario) -> Iterator[TimedRun]:
    """RK4 with ever more steps."""
    if not task.is_physical:
        raise UnsupportedProblemError("refuses moments that no solid has")
    mujoco.set_mju_user_warning(lambda text: None)  # steps that are too long are meant; their error tells
    for steps in task.counts():
        yield _timed_run(task, steps)


def _timed_run(task: ProblemData, steps: int) -> TimedRun:
    h = task.duration / steps
    model = mujoco.MjModel.from_xml_string(_model_xml(task, h))
    data = mujoco.MjData(model)
    portions = [(round((b - a) / h), float(fires)) for a, b, fires in task.segments]

    def reset() -> None:
        mujoco.mj_resetData(model, data)
        data.qpos[:] = task.quaternion if task.pivot_to_com else (*task.position, *task.quaternion)
        data.qvel[:] = task.spin_body if task.pivot_to_com else (*task.velocity, *task.spin_body)

    def go() -> None:
        mujoco.mj_step(model, data, nstep=steps)

    def go_in_segments() -> None:
        for count, fires in portions:
            data.ctrl[0] = fires
            mujoco.mj_step(model, data, nstep=count)

    def state() -> tuple[Any, Any]:
        return data.qpos[-4:].copy(), data.qpos[:3].copy() if task.moves else None

    return TimedRun(h, reset, go_in_segments if task.thruster else go, state)


def _model_xml(task: ProblemData, h: float) -> str:
    off = " ".join(f'{name}="disable"' for name in (*DISABLED_FLAGS, *(() if task.thruster else ("actuation",))))
    joint = '<joint type="ball" damping="0" armature="0"/>' if task.pivot_to_com else "<freejoint/>"
    center = task.pivot_to_com or (0.0, 0.0, 0.0)
    moments = _format_vector(task.central_moments)
    inertia = f'<inertial pos="{_format_vector(center)}" mass="{task.mass!r}" diaginertia="{moments}"/>'
    geom = site = actuator = fluid = ""
    if task.drag:
        # force = -density A C |v| v for a sphere of cross-section A
        coefficient = task.drag / (NEGLIGIBLE_MASS * math.pi)
        geom = f'<geom type="sphere" size="1" mass="0" fluidshape="ellipsoid" fluidcoef="{coefficient!r} 0 0 0 0"/>'
        fluid = f'density="{NEGLIGIBLE_MASS!r}"'
    if task.thruster:
        site = f'<site name="nozzle" pos="{_format_vector(task.thruster.nozzle)}"/>'
        actuator = (
            f'<actuator><motor site="nozzle" gear="{_format_vector(task.thruster.force_body)} 0 0 0"/></actuator>'
        )
    gravity = _format_vector(task.gravity)
    return (
        f'<mujoco><option integrator="RK4" timestep="{h!r}" gravity="{gravity}" {fluid}><flag {off}/>'
        f"</option><worldbody><body>{joint}{inertia}{geom}{site}</body></worldbody>{actuator}</mujoco>"
    )


def _format_vector(vector: tuple[float, ...]) -> str:
    return " ".join(repr(component) for component in vector)


def contestants() -> list[Contestant]:
    """One way."""
    return [Contestant("MuJoCo RK4", "mujoco", rk4_runs)]
