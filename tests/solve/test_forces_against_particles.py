"""Every force of the library x {free, pivot, system} x every formulation, against sums over particles.

Eight or nine point masses replace each body.  Each particle feels its share of the force; NumPy sums over them, and
SciPy integrates (`particle_bodies.py`, `particle_forces.py`).  None of it shares our code.
"""

from itertools import pairwise

import numpy as np
import pytest

from particle_bodies import PIVOT, Case, Part, check, cloud, run
from particle_forces import CASES, FLIGHT, SINGLE, TOGETHER, F
from polhode.equations.formulations import FORMULATIONS
from polhode.scenario.forces import FORCES

pytestmark = pytest.mark.filterwarnings("ignore:engine='python'")

CLOUDS = (cloud(1, 8), cloud(2, 9), cloud(3, 8))
PARTS = {"free": Part(CLOUDS[:1]), "pivot": Part(CLOUDS[:1], PIVOT), "system": Part(CLOUDS, acting=(0, 2))}


def test_no_force_of_the_library_is_missed():
    assert {case.force.name for case in CASES.values()} == set(FORCES)


COMBINATIONS = [(name, part) for name in CASES for part in PARTS if part == "system" or name in SINGLE]


@pytest.mark.parametrize(("name", "part"), COMBINATIONS)
def test_a_force_in_every_formulation_against_the_sum_over_particles(name, part):
    expected = None
    for formulation in ("momentum", "euler_angles") if name in FLIGHT else FORMULATIONS:
        motion, reference = run([CASES[name]], PARTS[part], method="dop853", formulation=formulation, engine="python")
        expected = check(motion, reference, expected)


@pytest.mark.parametrize("names", TOGETHER)
@pytest.mark.parametrize("part", PARTS)
def test_all_forces_at_once_against_the_sum_over_particles(part, names):
    cases = [CASES[name] for name in TOGETHER[names] if part == "system" or name in SINGLE]
    check(*run(cases, PARTS[part], method="dop853"))


@pytest.mark.parametrize("part", PARTS)
def test_all_forces_at_once_in_taylor_series_against_the_sum_over_particles(part):
    pytest.importorskip("heyoka")
    cases = [case for name, case in CASES.items() if name not in FLIGHT and (part == "system" or name in SINGLE)]
    check(*run(cases, PARTS[part], method="taylor"))


@pytest.mark.parametrize(("name", "part"), [(name, part) for name, part in COMBINATIONS if part != "pivot"])
def test_the_derivative_for_other_solvers_against_the_sum_over_particles(name, part):
    motion, reference = run([CASES[name]], PARTS[part], method="euler", step=0.1, engine="python")
    bodies = reference.particles(0.0, reference.start)
    y = np.concatenate([s.to_array(b) for s, b in zip(motion.scenario.states, motion.scenario.bodies, strict=True)])
    rates = motion.scenario.derivative(0.0, y).reshape(-1, 13)
    for rate, body, forces in zip(rates, bodies, reference.forces(0.0, bodies), strict=True):
        np.testing.assert_allclose(rate[7:10], forces.sum(axis=0), atol=1e-12, rtol=1e-12)
        torque = np.cross(body.arms, forces).sum(axis=0)
        np.testing.assert_allclose(rate[10:], torque, atol=1e-11, rtol=1e-11)


def test_the_gravity_of_a_point_on_a_body_about_a_pivot_against_inverse_squares_on_particles():
    """The gradient's torque is held constant; the next term, which the law leaves out, falls with the distance."""
    errors = []
    for distance in (100.0, 200.0, 400.0):
        center = distance * np.array((2.0, 3.0, 6.0)) / 7
        gm = distance**3

        def newtonian(t, body, center=center, gm=gm):
            away = body.places - center
            return -gm * body.masses[:, None] * away / np.linalg.norm(away, axis=1)[:, None] ** 3

        g = -gm * center / distance**3  # cancels the mean field, which would hide the gradient
        uniform = Case(F.gravity(g), lambda t, body, g=g: body.masses[:, None] * g)
        cases = [Case(F.point_gravity(gm, center), newtonian), uniform]
        motion, reference = run(cases, PARTS["pivot"], method="dop853", engine="python", duration=1.0, output_step=1.0)
        last = reference.solve(motion.times)[-1]
        errors.append(np.abs(motion.rotation_matrix[-1].ravel() - last[3:12]).max())
    assert errors[0] < 0.05
    assert all(1.8 < a / b < 2.2 for a, b in pairwise(errors)), errors
