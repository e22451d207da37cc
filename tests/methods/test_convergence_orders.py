"""Every method against closed forms and 40-digit references: the order of convergence is what is asserted."""

import itertools
import json
from math import log2
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.equations.formulations import FORMULATIONS
from polhode.methods.registry import METHODS

REFERENCES = json.loads((Path(__file__).parents[1] / "data" / "reference_states.json").read_text())["cases"]
FIXED = [name for name, method in METHODS.items() if method.steps == "fixed" and method.tableau is not None]
RUNGE_KUTTA = [name for name in FIXED if name != "leapfrog"]


def symmetric_top(t):
    """The attitude of a free symmetric top, I = (2, 2, 3): a precession about L times a spin.  [Landau, section 33]"""
    body, w = ph.Body(mass=1.0, inertia=(2.0, 2.0, 3.0)), np.array((1.0, 0.0, 1.5))
    momentum = np.array(body.principal_moments) * w
    spin_in_body = (1 - 3.0 / 2.0) * w[2]  # the rate about x3 relative to the precessing frame
    exact = Rotation.from_rotvec(momentum / 2.0 * t) * Rotation.from_rotvec((0, 0, spin_in_body * t))
    return body, ph.State(angular_velocity_body=w), exact


def attitude_error(motion, exact):
    return (motion.final.orientation * exact.inv()).magnitude()


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("method", RUNGE_KUTTA)
def test_attitude_converges_to_the_symmetric_top_with_the_order_of_the_tableau(method, formulation):
    body, state, exact = symmetric_top(2.0)
    tilted = state.replace(orientation=Rotation.from_euler("x", 1.0))  # Euler angles begin away from the vertical
    order = METHODS[method].order
    steps = {1: (1 / 400, 1 / 800, 1 / 1600), 2: (1 / 40, 1 / 80, 1 / 160), 4: (1 / 20, 1 / 40, 1 / 80)}[order]
    engine = "cpu" if method == "rk4" else "python"  # which have the same bits
    errors = []
    for h in steps:
        settings = {"step": h, "method": method, "formulation": formulation, "engine": engine}
        motion = ph.simulate(body, tilted, duration=2.0, **settings)
        turned = Rotation.from_euler("x", 1.0) * exact
        errors.append(attitude_error(motion, turned))
    found = [log2(a / b) for a, b in itertools.pairwise(errors)]
    assert all(abs(p - order) < 0.15 for p in found), (errors, found)


def test_leapfrog_converges_to_the_symmetric_top_with_order_2():
    body, state, exact = symmetric_top(2.0)
    errors = [
        attitude_error(ph.simulate(body, state, duration=2.0, step=h, method="leapfrog"), exact)
        for h in (1 / 40, 1 / 80, 1 / 160)
    ]
    assert all(1.95 < log2(a / b) < 2.05 for a, b in itertools.pairwise(errors)), errors


@pytest.mark.parametrize("method", FIXED)
def test_fall_with_linear_drag_and_wind_converges_with_the_order_of_the_tableau(method):
    """Velocity-dependent force, a uniform field as in [Baraff 1997]: v = u + (v0 - u) exp(-c t/m) has a closed form."""
    c, m, g, wind, t = 0.5, 2.0, 9.80665, np.array((3.0, 0.0, 0.0)), 1.0
    end = wind + np.array((0, 0, -m * g / c))
    v0 = np.array((0.0, 1.0, 4.0))
    exact = end * t + (v0 - end) * m / c * (1 - np.exp(-c * t / m))
    errors = []
    order = METHODS[method].order
    for h in (1 / 20, 1 / 40, 1 / 80):
        forces = [ph.forces.gravity(), ph.forces.linear_drag(c, wind=wind)]
        motion = ph.simulate(ph.particle(m), ph.State(velocity=v0), forces, duration=t, step=h, method=method)
        errors.append(np.linalg.norm(motion.final.position - exact))
    found = [log2(a / b) for a, b in itertools.pairwise(errors)]
    assert all(abs(p - order) < 0.1 for p in found), (errors, found)


@pytest.mark.parametrize("name", [name for name in REFERENCES if not name.startswith("simo")])
def test_dop853_meets_the_40_digit_references(name):
    case = REFERENCES[name]
    final = np.array([float(x) for x in case["final"]])
    body = ph.Body(mass=1.0, inertia=[float(x) for x in case["moments"]], allow_unphysical=True)
    state = ph.State(angular_velocity_body=[float(x) for x in case["omega0_body"]])
    conditioning = {"boxes_complex": 1e6, "hairer_vilmart_flat": 200, "hairer_vilmart_asymmetric": 20}[name]
    settings = {"duration": float(case["t"]), "output_times": [float(case["t"])], "method": "dop853"}
    errors = []
    for rtol in (1e-6, 1e-9, 1e-12):
        motion = ph.simulate(body, state, **settings, rtol=rtol)
        q = motion.final.quaternion_wxyz
        errors.append(min(np.abs(q - final[:4]).max(), np.abs(q + final[:4]).max()))
        assert np.abs(motion.final.angular_velocity_body - final[4:]).max() < conditioning * rtol
    assert errors[1] < errors[0] / 100
    assert errors[2] < errors[1] / 100


@ph.force(axes="body")
def simo_wong(t, state, body, params):
    """The torque about the pivot in body axes: 20 (z_y, -z_x, 0), z the world's vertical seen from the body."""
    z = ph.to_body(state.orientation, (0.0, 0.0, 1.0))
    return (0.0, 0.0, 0.0), (params[0] * z[1], -params[0] * z[0], 0.0 * z[0])


@pytest.mark.parametrize("formulation", ["momentum", "body_rates"])
def test_rk4_converges_to_the_simo_wong_heavy_top_with_order_4(formulation):
    case = REFERENCES["simo_wong_heavy_top"]
    final = np.array([float(x) for x in case["final"]])
    body = ph.Body(mass=1.0, inertia=(5.0, 5.0, 1.0))
    state = ph.State(quaternion_wxyz=[float(x) for x in case["q0"]], angular_velocity_body=(0, 0, 50))
    errors = []
    for h in (1 / 800, 1 / 1600, 1 / 3200):
        motion = ph.simulate(
            body, state, [simo_wong(20.0)], duration=10.0, step=h, method="rk4", formulation=formulation
        )
        q = motion.final.quaternion_wxyz
        errors.append(min(np.abs(q - final[:4]).max(), np.abs(q + final[:4]).max()))
    assert all(3.8 < log2(a / b) < 4.3 for a, b in itertools.pairwise(errors)), errors


def test_leapfrog_and_the_printed_code_meet_their_known_errors_on_feynmans_plate():
    """1 s at 10 rad/s, 10 degrees from L: 1.49e-3, 3.72e-4, 9.28e-5 rad; the printed code is explicit Euler in q."""
    inertia = np.array((1.0, 1.0, 2.0))
    w = np.array((20.0 * np.tan(np.radians(10.0)), 0.0, 10.0))
    body, state = ph.Body(mass=1.0, inertia=inertia), ph.State(angular_velocity_body=w)
    precession = Rotation.from_rotvec(inertia * w / inertia[0])
    exact = precession * Rotation.from_rotvec((0, 0, (1 - inertia[2] / inertia[0]) * w[2]))
    errors = [
        attitude_error(ph.simulate(body, state, duration=1.0, step=h, method="leapfrog"), exact)
        for h in (4e-3, 2e-3, 1e-3)
    ]
    assert errors == pytest.approx([1.49e-3, 3.72e-4, 9.28e-5], rel=0.01)
    printed = [
        attitude_error(ph.simulate(body, state, duration=1.0, step=h, method="euler"), exact)
        for h in (4e-3, 2e-3, 1e-3)
    ]
    assert printed == pytest.approx([0.117, 0.0524, 0.0248], rel=0.005)


def test_thruster_window_keeps_order_4_although_no_step_ends_at_its_edges():
    """A constant thrust through the center between 0.2505 and 0.7503 s: speed and place are known exactly."""
    thrust, start, stop, mass = 5.0, 0.2505, 0.7503, 2.0
    force = ph.forces.thruster((0, 0, 0), (0, 0, 3.0), thrust, start=start, stop=stop)
    motion = ph.simulate(ph.particle(mass), forces=[force], duration=1.0, step=0.07, method="rk4")
    burn = stop - start
    assert motion.final.velocity[2] == pytest.approx(thrust / mass * burn, rel=1e-14)
    assert motion.final.position[2] == pytest.approx(thrust / mass * burn * (burn / 2 + 1.0 - stop), rel=1e-14)
