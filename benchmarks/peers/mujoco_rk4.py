"""MuJoCo: RK4 in C, a free body or one on a ball joint; weight, drag and thrust by its own means, none in Python.

Quadratic drag is its fluid model of an ellipsoid, for a sphere that hardly displaces any fluid; the thruster is an
actuator at a site.  Every stage that one body does not need is switched off.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import mujoco

from benchmarks.contestant import Attempt, Contestant, NotOfferedError, Task
from polhode.model.scenario import Scenario

THIN = 1e-18
"""Density of the fluid, kg/m3: the drag coefficient makes up for it, and no mass is added to the body."""
OFF = (
    *("contact", "constraint", "equality", "frictionloss", "limit", "clampctrl"),
    *("warmstart", "filterparent", "refsafe", "sensor", "midphase", "eulerdamp", "island"),
)


def attempts(task: Task, scenario: Scenario) -> Iterator[Attempt]:
    """RK4 with ever more steps."""
    if not task.is_physical:
        raise NotOfferedError("refuses moments that no solid has")
    mujoco.set_mju_user_warning(lambda text: None)  # steps that are too long are meant; their error tells
    for steps in task.counts():
        yield _attempt(task, steps)


def _attempt(task: Task, steps: int) -> Attempt:
    h = task.duration / steps
    model = mujoco.MjModel.from_xml_string(_xml(task, h))
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

    return Attempt(h, reset, go_in_segments if task.thruster else go, state)


def _xml(task: Task, h: float) -> str:
    off = " ".join(f'{name}="disable"' for name in (*OFF, *(() if task.thruster else ("actuation",))))
    joint = '<joint type="ball" damping="0" armature="0"/>' if task.pivot_to_com else "<freejoint/>"
    center = task.pivot_to_com or (0.0, 0.0, 0.0)
    inertia = f'<inertial pos="{_text(center)}" mass="{task.mass!r}" diaginertia="{_text(task.central_moments)}"/>'
    geom = site = actuator = fluid = ""
    if task.drag:
        # force = -density A C |v| v for a sphere of cross-section A
        coefficient = task.drag / (THIN * math.pi)
        geom = f'<geom type="sphere" size="1" mass="0" fluidshape="ellipsoid" fluidcoef="{coefficient!r} 0 0 0 0"/>'
        fluid = f'density="{THIN!r}"'
    if task.thruster:
        site = f'<site name="nozzle" pos="{_text(task.thruster.nozzle)}"/>'
        actuator = f'<actuator><motor site="nozzle" gear="{_text(task.thruster.force_body)} 0 0 0"/></actuator>'
    return (
        f'<mujoco><option integrator="RK4" timestep="{h!r}" gravity="{_text(task.gravity)}" {fluid}><flag {off}/>'
        f"</option><worldbody><body>{joint}{inertia}{geom}{site}</body></worldbody>{actuator}</mujoco>"
    )


def _text(vector: tuple[float, ...]) -> str:
    return " ".join(repr(component) for component in vector)


def contestants() -> list[Contestant]:
    """One way."""
    return [Contestant("MuJoCo RK4", "mujoco", attempts)]
