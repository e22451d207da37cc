"""On a real GPU, where there is one: the judge is the CPU's engine, to the bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import polhode as ph
from polhode.errors import GpuError
from polhode.integrate.loops import cuda
from polhode.methods.registry import METHODS


def find_gpu() -> str:
    """Why there is none to test on; "" if there is one."""
    try:
        cuda.devices()
    except GpuError as error:
        return str(error)
    return ""


pytestmark = pytest.mark.skipif(bool(find_gpu()), reason=f"no GPU: {find_gpu()}")

MEMBERS = 1000
BODY = ph.Body(mass=1.3, inertia=((1.0, 0.1, 0.0), (0.1, 2.0, 0.2), (0.0, 0.2, 2.5)))
RANDOM = np.random.default_rng(20261118)
START = ph.State(
    position=RANDOM.normal(size=(MEMBERS, 3)),
    velocity=RANDOM.normal(size=(MEMBERS, 3)),
    quaternion_wxyz=(0.8, 0.0, 0.6, 0.0),
    angular_velocity_body=RANDOM.normal(size=(MEMBERS, 3)),
)
FORCES = [ph.forces.gravity(), ph.forces.quadratic_drag(0.1)]


@ph.force
def gusts(t, state, body, params):
    push = params[0] * ph.sin(3 * t) + ph.exp(-state.position[2] * state.position[2])
    return (push, ph.if_less(state.velocity[0], 0.0, 0.3, -0.1), 0.0), (0.0, 0.01 * state.angular_velocity[1], 0.0)


@ph.event
def landing(t, state, body, params):
    return state.position[2] + 1.0


def assert_same_bits(scenario):
    gpu, cpu = (ph.ensemble(replace(scenario, engine=engine)) for engine in ("gpu", "cpu"))
    assert gpu.run_result.samples.tobytes() == cpu.run_result.samples.tobytes()
    assert [(c.time, c.body) for c in gpu.crossings] == [(c.time, c.body) for c in cpu.crossings]


@pytest.mark.parametrize("method", [m for m in METHODS if m != "taylor"])
def test_every_method_has_the_bits_of_the_cpu(method):
    forces = [ph.forces.gravity()] if method == "exact" else [*FORCES, gusts(np.linspace(0.0, 1.0, MEMBERS))]
    step = {"step": 0.01} if METHODS[method].needs_step else {}
    assert_same_bits(ph.Scenario(BODY, START, forces, duration=0.5, method=method, output_step=0.07, **step))


@pytest.mark.parametrize("method", ["dop853", "rk4", "exact"])
def test_events_have_the_bits_of_the_cpu(method):
    forces = [ph.forces.gravity()] if method == "exact" else FORCES
    step = {"step": 0.01} if METHODS[method].needs_step else {}
    assert_same_bits(ph.Scenario(BODY, START, forces, duration=1.5, method=method, events=[landing()], **step))


def test_systems_have_the_bits_of_the_cpu():
    bodies, starts = [BODY, ph.Body(mass=2.0, inertia=(1.0, 1.0, 1.5))], [START, ph.State(position=(4.0, 0.0, 0.0))]
    for method in ("rk4", "dop853"):
        assert_same_bits(
            ph.Scenario(bodies, starts, [ph.forces.mutual_gravity(G=1.0)], duration=0.3, step=0.01, method=method)
        )


def test_many_members_in_pieces_have_the_bits_of_the_cpu():
    start = ph.State(velocity=RANDOM.normal(size=(600_000, 3)), angular_velocity_body=RANDOM.normal(size=(600_000, 3)))
    assert_same_bits(ph.Scenario(BODY, start, FORCES, duration=0.05, step=0.01, method="rk4", output_step=0.02))


def test_other_precisions_are_as_far_as_they_say():
    for precision, most in (("fused", 1e-13), ("single", 1e-5)):
        scenario = ph.Scenario(BODY, START, FORCES, duration=1.0, step=0.01, method="rk4", output_times=[1.0])
        ours = ph.ensemble(replace(scenario, engine="gpu", precision=precision))
        exact = ph.ensemble(scenario)
        away = (
            np.linalg.norm(ours.position - exact.position, axis=-1).max()
            / np.linalg.norm(exact.position, axis=-1).max()
        )
        assert 0 < away < most
        assert ours.run_result.precision_report.difference < most
