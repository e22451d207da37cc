"""MuJoCo's RK4 on free bodies under gravity, in the fastest way that its Python package offers.

Tried: one body a model, stepped in C (`mj_step` with nstep) or by `mujoco.rollout`; many bodies in one model.  The last
is the fastest per body and step, from about 64 bodies on, because the fixed costs of a step are shared.  Contacts and
every other stage that free bodies do not need are switched off.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

INSTALL = "not installed: pip install mujoco"
BODIES_PER_MODEL = 128
"""In one model; more do not make it faster."""

_DISABLED_FLAGS = (
    *("contact", "constraint", "equality", "frictionloss", "limit", "clampctrl"),
    *("warmstart", "filterparent", "actuation", "refsafe", "sensor", "midphase"),
)
_BODY = '<body><freejoint/><inertial pos="0 0 0" mass="10" diaginertia="0.81 0.68 0.14"/></body>'


def is_installed() -> bool:
    """Whether there is a MuJoCo to compare with."""
    return find_spec("mujoco") is not None


def version() -> str:
    """Of the MuJoCo found."""
    import mujoco

    return str(mujoco.__version__)


def make_stepper(bodies: int, h: float, gravity: float) -> Callable[[int], Any]:
    """A function that advances `bodies` free, spinning bodies by a number of steps, and gives MuJoCo's positions."""
    import mujoco

    flags = " ".join(f'{name}="disable"' for name in _DISABLED_FLAGS)
    option = f'<option integrator="RK4" timestep="{h}" gravity="0 0 {-gravity}"><flag {flags}/></option>'
    model = mujoco.MjModel.from_xml_string(f"<mujoco>{option}<worldbody>{_BODY * bodies}</worldbody></mujoco>")
    data = mujoco.MjData(model)
    for body in range(bodies):
        data.qvel[6 * body + 3 : 6 * body + 6] = (0.1, 5.0, 0.1)

    def advance(steps: int) -> Any:
        mujoco.mj_step(model, data, nstep=steps)
        return data.qpos

    return advance
