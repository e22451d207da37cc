"""Two FMUs coupled in FMPy, a body and a spring-damper, against the run of both in one."""

from __future__ import annotations

import shutil
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from fmpy.validation import validate_fmu
from scipy.optimize import root

import polhode as ph

sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "howto" / "spring_damper"))
from build_spring_damper import build
from couple_fmus import MOTION, Partner, couple_explicitly, couple_implicitly

pytestmark = pytest.mark.skipif(
    shutil.which("cc") is None or not sys.platform.startswith("linux"),
    reason="the spring-damper is built by cc on Linux",
)

BODY = ph.shapes.box((0.2, 0.3, 0.5), mass=2.0)
START = ph.State(position=(0.3, 0.0, -0.8), velocity=(0.0, 0.4, 0.0), angular_velocity_body=(0.5, 0.2, 1.0))
GRAVITY = ph.forces.gravity()
SPRING = {
    "stiffness": 60.0,
    "damping": 3.0,
    "length": 0.4,
    "anchor": (0.0, 0.0, 0.0),
    "com_to_point_body": (0.05, 0.1, 0.25),
}
DURATION = 0.8


@pytest.fixture(scope="module")
def fmus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("coupling")
    scenario = ph.Scenario(BODY, START, [GRAVITY], duration=DURATION, method="rk4", step=0.0025)
    assert ph.write_fmu(scenario, folder / "body.fmu")
    build(folder / "spring_damper.fmu")
    assert validate_fmu(str(folder / "spring_damper.fmu")) == []

    def make():
        numbers = {name: np.ravel(value).tolist() for name, value in SPRING.items()}
        return Partner(folder / "body.fmu"), Partner(folder / "spring_damper.fmu", **numbers)

    return make


@pytest.fixture(scope="module")
def monolithic():
    """Both in one run, at a tight tolerance."""
    return ph.simulate(
        BODY, START, [GRAVITY, ph.forces.spring(**SPRING)], duration=DURATION, method="dop853", rtol=1e-13
    ).final


def state_of(body):
    return np.concatenate(body.get(MOTION))


def error_of(body, final):
    expected = np.concatenate([final.position, final.quaternion_wxyz, final.velocity, final.angular_velocity])
    return np.linalg.norm(state_of(body) - expected)


def orders(errors):
    return [float(np.log2(a / b)) for a, b in pairwise(errors)]


def test_explicit_coupling_is_of_first_order_against_the_run_in_one(fmus, monolithic):
    errors = []
    for steps in (80, 160, 320, 640):
        body, spring = fmus()
        couple_explicitly(body, spring, DURATION, steps)
        errors.append(error_of(body, monolithic))
    assert all(0.9 < order < 1.1 for order in orders(errors)), orders(errors)
    distance = np.linalg.norm(body.get(["position"])[0] - monolithic.position)
    assert distance < 2e-3 * np.linalg.norm(monolithic.position)


def test_implicit_coupling_is_of_second_order_against_the_run_in_one(fmus, monolithic):
    errors = []
    for steps in (40, 80, 160, 320):
        body, spring = fmus()
        couple_implicitly(body, spring, DURATION, steps)
        errors.append(error_of(body, monolithic))
    assert all(1.9 < order < 2.1 for order in orders(errors)), orders(errors)
    distance = np.linalg.norm(body.get(["position"])[0] - monolithic.position)
    assert distance < 1e-5 * np.linalg.norm(monolithic.position)


def test_the_fixed_point_is_that_of_one_solver_of_the_whole_step(fmus):
    """A stepper and the spring's law in one process, the loads of each step found by Powell's method, not iterated."""
    steps, h = 8, 0.02
    body, spring = fmus()
    couple_implicitly(body, spring, steps * h, steps)
    law = ph.forces.spring(**SPRING)
    stepper = ph.Stepper(BODY, START, [GRAVITY], method="rk4", step=0.0025, duration=DURATION)

    def load():
        s = stepper.state
        vectors = (s.position, s.quaternion_wxyz, s.velocity, s.velocity, s.velocity, s.angular_velocity)
        view = ph.StateView(*map(tuple, vectors), ())
        return np.concatenate(law.kernel(0.0, view, BODY.constants(), law.params))

    for _ in range(steps):
        first, saved = load(), stepper.save()

        def mismatch(last, first=first, saved=saved):
            stepper.restore(saved)
            mean = (first + last) / 2
            stepper.set_loads(force=mean[:3], torque=mean[3:])
            stepper.advance(h)
            return load() - last

        found = root(mismatch, first, tol=1e-14)
        assert np.abs(mismatch(found.x)).max() <= 1e-10 * np.abs(found.x).max()
    final = stepper.state
    expected = np.concatenate([final.position, final.quaternion_wxyz, final.velocity, final.angular_velocity])
    assert np.abs(state_of(body) - expected).max() < 1e-12


def test_the_fixed_point_does_not_depend_on_the_first_guess(fmus):
    found = []
    for guess in (None, [[0.0] * 3] * 2, [[30.0, -20.0, 10.0], [1.0, 2.0, 3.0]]):
        body, spring = fmus()
        couple_implicitly(body, spring, 0.2, 10, guess=guess)
        found.append(state_of(body))
    assert np.abs(found[1] - found[0]).max() < 1e-12
    assert np.abs(found[2] - found[0]).max() < 1e-12
