"""A step that is given without a method is spoken of: once, where the user wrote it, with what to do."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import polhode as ph
from polhode.errors import MethodWarning

BODY = ph.Body(mass=2.0, inertia=(1.0, 1.5, 2.0))
START = ph.State(angular_velocity_body=(1.0, 2.0, 3.0))
DRAG = [ph.forces.quadratic_drag(0.1)]
MANY = ph.State(velocity=np.ones((20, 3)))


def told(run):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run()
    return [w for w in caught if issubclass(w.category, MethodWarning)]


RUNS = {
    "closed form": (lambda: ph.simulate(BODY, START, duration=1.0, step=0.1).audit(), "'exact'.*step is not used"),
    "adaptive": (lambda: ph.simulate(BODY, START, DRAG, duration=1.0, step=0.1), "'dop853'.*0.1 s is only the first"),
    "scenario": (lambda: ph.simulate(replace(ph.Scenario(BODY, duration=1.0, step=0.1), duration=2.0)), "'exact'"),
    "ensemble": (lambda: ph.ensemble(BODY, MANY, DRAG, duration=1.0, step=0.1), "'dop853'"),
    "reduced": (
        lambda: ph.ensemble(BODY, MANY, DRAG, duration=1.0, step=0.1, reduce=["mean:position@final"]), "'dop853'",
    ),
    "stepper": (lambda: ph.Stepper(BODY, START, step=0.1).advance(1.0), "'dop853'.*the first"),
}  # fmt: skip


@pytest.mark.parametrize("name", RUNS)
def test_it_is_said_once_and_where(name):
    run, phrase = RUNS[name]
    (warning,) = told(run)
    assert warning.filename == __file__
    with pytest.warns(MethodWarning, match=f"{phrase}.*name a method, such as method='rk4'; otherwise leave step out"):
        run()


@pytest.mark.parametrize(
    "run",
    [
        lambda: ph.simulate(BODY, START, duration=1.0, step=0.1, method="rk4"),
        lambda: ph.simulate(BODY, START, duration=1.0, step=0.1, method="dop853"),
        lambda: ph.simulate(BODY, START, duration=1.0, step=0.1, method="exact"),
        lambda: ph.simulate(BODY, START, duration=1.0),
        lambda: ph.Stepper(BODY, START, step=0.1, method="rk4").advance(1.0),
        lambda: ph.Stepper(BODY, START).advance(1.0),
    ],
)
def test_whoever_names_a_method_is_left_alone(run):
    assert told(run) == []
