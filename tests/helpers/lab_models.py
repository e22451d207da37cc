"""Small models for the tests of the lab, which need no compilation."""

from __future__ import annotations

import math
import sys
from threading import Event
from types import SimpleNamespace

import polhode as ph
import polhode.gallery
from polhode.errors import InputError
from polhode.gallery import THEMES, Model, Parameter, ReferenceCheck
from polhode.lab_server import responses
from polhode.web.stage import Grab, Stage

BOX = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0)
SPIN = Parameter("spin", "rad/s", 5.0, 0.1, 20.0, "about the middle axis")


def _free(spin, **more):
    settings = {"duration": 3.0, "output_step": 0.05, "method": "exact"} | more
    return ph.Scenario(BOX, ph.State(angular_velocity_body=(0.1, spin, 0.1)), **settings)


def _two(spin):
    return {"one": _free(spin), "two": _free(2 * spin)}


def _slow(spin):
    """Uncompiled steps that take about an hour, and raise a warning."""
    return _free(spin, method="rk4", step=1e-3, duration=3e3, output_step=1.0, engine="python")


def _missed(spin):
    return _free(spin, forces=[ph.forces.impulse((0.0, 0.0, 1.0), 99.0)])


def _doomed(spin):
    drag = ph.forces.quadratic_drag(1e3)
    fast = ph.State(velocity=(spin, 0.0, 0.0))
    return ph.Scenario(BOX, fast, [drag], duration=30.0, step=0.2, method="rk4", engine="python")


def _picky(spin):
    if spin > 10:
        raise InputError("a spin above 10 rad/s tears it apart")
    return _free(spin)


def _numbers(motions, spin):
    motion = next(iter(motions.values())) if isinstance(motions, dict) else motions
    return [ReferenceCheck("spin", "rad/s", motion.angular_velocity_body[0, 1], spin, 1e-12, "as it was set")]


CHECKS_MAY_FINISH = Event()


def _pensive(motions, spin):
    assert CHECKS_MAY_FINISH.wait(60)
    return _numbers(motions, spin)


def _broken(motions, spin):
    raise ZeroDivisionError("nobody thought of this")


def _tilted(spin, theta):
    """A free body that is tilted about x by theta, and spins about its third axis."""
    half = math.radians(theta) / 2
    state = ph.State(quaternion_wxyz=(math.cos(half), math.sin(half), 0.0, 0.0), angular_velocity_body=(0.0, 0.0, spin))
    return ph.Scenario(BOX, state, duration=3.0, output_step=0.05, method="exact")


def _tilted_numbers(motion, spin, theta):
    found = math.degrees(motion.euler_angles[0, 1])
    return [ReferenceCheck("theta", "deg", found, theta, 1e-9, "as it was set")]


THETA = Parameter("theta", "deg", 40.0, 0.0, 170.0, "angle between the third axis and the vertical")
PLAIN = Stage()
GRABS = Stage(
    grabs=(
        Grab("attitude", "theta", component="tilt", scale=180 / math.pi),
        Grab("angular_velocity", "spin", component=2),
    )
)


def _model(name, scenario, numbers=_numbers, parameters=(SPIN,), stage=PLAIN):
    return Model(
        name, f"the {name}", THEMES[2], "by hand", "It turns.", parameters, scenario, numbers, None, stage=stage
    )


MODELS = {
    model.name: model
    for model in (
        _model("spinner", _free),
        _model("twins", _two),
        _model("slow", _slow),
        _model("missed", _missed),
        _model("doomed", _doomed),
        _model("picky", _picky),
        _model("pensive", _free, _pensive),
        _model("broken", _free, _broken),
        _model("tilted", _tilted, _tilted_numbers, (SPIN, THETA), GRABS),
    )
}


def install(monkeypatch):
    """Replace the gallery by these models."""
    modules = {name: f"lab_model_{name}" for name in MODELS}
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, module, SimpleNamespace(MODEL=MODELS[name]))
    monkeypatch.setattr(polhode.gallery, "_modules", lambda: modules)
    responses.models_by_theme.cache_clear()
    CHECKS_MAY_FINISH.clear()
