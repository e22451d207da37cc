"""Rotors: gyrostats and reaction wheels against independent integrations, closed forms, and their own conservation."""

import base64
import inspect
import json
import math
import re
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.errors import PolhodeError
from polhode.plot import free_rotation_sheet
from polhode.plot.snapshot.trajectory import sample_trajectory
from polhode.solve import precision_check
from polhode.web.closed_form_overlay import find_closed_form

TENSOR = np.array(((0.9, 0.05, -0.02), (0.05, 1.1, 0.03), (-0.02, 0.03, 1.4)))
SATELLITE = ph.Body(mass=12.0, inertia=TENSOR)
START = ph.State(
    quaternion_wxyz=(0.5, 0.5, -0.1, 0.7), angular_velocity_body=(0.3, -0.5, 0.2), velocity=(0.1, 0.0, -0.2)
)
AXES = np.array(((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (1.0, 1.0, 1.0)))
UNIT_AXES = AXES / np.linalg.norm(AXES, axis=1)[:, None]
INERTIAS, SPEEDS = np.array((0.02, 0.03, 0.01)), np.array((40.0, -25.0, 90.0))


def chirp(t, state, body, params):
    """A torque that reads the time, the rotation of the body, and the speed of a wheel."""
    i, size = int(params[0]), params[1]
    return size * ph.sin(1.7 * t) - 0.05 * state.angular_velocity_body[1] - 1e-4 * state.rotor_speed[i]


def wheels(**changes):
    rows = zip(AXES, INERTIAS, SPEEDS, strict=True)
    return [ph.rotor(a, j, speed=s, **changes) for a, j, s in rows]


def driven_wheels():
    def law(i):
        def own(t, state, body, params):
            return chirp(t, state, body, (i, params[0]))

        return own

    rows = zip(AXES, INERTIAS, SPEEDS, strict=True)
    return [ph.rotor(a, j, speed=s, torque=law(i), params=(0.02 * (i + 1),)) for i, (a, j, s) in enumerate(rows)]


def newton_euler(tensor, torques, moment=None, axes=UNIT_AXES, inertias=INERTIAS):
    """y' of (q, w, s): Euler's equation of the whole and of every wheel, solved together for w' and s'.

    Written from the equations of the wheels' relative speeds, not of their momenta.
    """
    n = len(inertias)
    matrix = np.zeros((3 + n, 3 + n))
    matrix[:3, :3], matrix[:3, 3:] = tensor, (axes * inertias[:, None]).T
    matrix[3:, :3], matrix[3:, 3:] = axes * inertias[:, None], np.diag(inertias)

    def rate(t, y):
        q, w, s = y[:4] / np.linalg.norm(y[:4]), y[4:7], y[7:]
        total = tensor @ w + axes.T @ (inertias * s)
        external = np.zeros(3) if moment is None else moment(t, q)
        right = np.concatenate([external - np.cross(w, total), torques(t, w, s)])
        half = 0.5 * np.array((-q[1:] @ w, *(q[0] * w + np.cross(q[1:], w))))
        return np.concatenate([half, np.linalg.solve(matrix, right)])

    return rate


def integrate(rate, start, speeds, times):
    y = np.concatenate([start.quaternion_wxyz, start.angular_velocity_body, speeds])
    found = solve_ivp(rate, (0.0, times[-1]), y, "DOP853", times, rtol=3e-14, atol=1e-15)
    return found.y.T


def attitude_error(motion, quaternions):
    difference = Rotation.from_quat(quaternions, scalar_first=True).inv() * Rotation.from_quat(
        motion.quaternion_wxyz, scalar_first=True
    )
    return difference.magnitude().max()


def total_angular_momentum(motion, tensor=TENSOR, axes=UNIT_AXES, inertias=INERTIAS):
    """R (I w + sum of J s a), from what is reported of body and wheels."""
    body = motion.angular_velocity_body @ tensor + (motion.rotor_speed * inertias) @ axes
    return Rotation.from_quat(motion.quaternion_wxyz, scalar_first=True).apply(body)


@pytest.mark.parametrize(("method", "rtol"), [("auto", 1e-11), ("dop853", 1e-13)])
def test_a_satellite_with_three_driven_wheels_against_newton_euler(method, rtol):
    times = np.linspace(0.0, 20.0, 41)
    motion = ph.simulate(
        SATELLITE, START, rotors=driven_wheels(), duration=20.0, method=method, rtol=rtol, output_times=times
    )

    def torques(t, w, s):
        return 0.02 * np.arange(1, 4) * np.sin(1.7 * t) - 0.05 * w[1] - 1e-4 * s

    expected = integrate(newton_euler(TENSOR, torques), START, SPEEDS, times)
    assert attitude_error(motion, expected[:, :4]) < 1e-10
    assert np.abs(motion.angular_velocity_body - expected[:, 4:7]).max() < 1e-10
    assert np.abs(motion.rotor_speed - expected[:, 7:]).max() < 1e-10 * np.abs(SPEEDS).max()
    assert np.ptp(motion.rotor_speed, axis=0).min() > 0.05  # the motors have done something


@pytest.mark.parametrize(("method", "step"), [("auto", None), ("dop853", None), ("rk4", 0.01), ("euler", 0.001)])
def test_total_angular_momentum_is_kept_to_rounding(method, step):
    motion = ph.simulate(SATELLITE, START, rotors=driven_wheels(), duration=10.0, method=method, step=step)
    first = motion.angular_momentum[0]
    size = np.linalg.norm(INERTIAS * SPEEDS)
    assert np.abs(motion.angular_momentum - first).max() == 0.0  # nothing acts on it
    assert np.abs(total_angular_momentum(motion) - first).max() < 1e-14 * size * 10
    finding = motion.audit()["angular momentum"]
    assert finding.conserved
    assert finding.relative == 0.0


def heavy_gyrostat(**settings):
    pivot, gravity = (0.1, -0.05, -0.4), ph.forces.gravity(9.0)
    return ph.simulate(SATELLITE, START.replace(velocity=(0.0, 0.0, 0.0)), [gravity], pivot=pivot, **settings)


def test_a_heavy_gyrostat_on_a_ball_joint_against_newton_euler():
    """It swings over the top: an error grows a hundredfold on the way."""
    times = np.linspace(0.0, 6.0, 41)
    torques = (0.1, -0.05, 0.02)
    rotors = [ph.rotor(a, j, speed=s, torque=u) for a, j, s, u in zip(AXES, INERTIAS, SPEEDS, torques, strict=True)]
    motion = heavy_gyrostat(rotors=rotors, duration=6.0, rtol=1e-14, output_times=times, method="dop853")
    r = np.array((-0.1, 0.05, 0.4))  # from the pivot to the center of mass
    about_pivot = TENSOR + SATELLITE.mass * ((r @ r) * np.eye(3) - np.outer(r, r))

    def moment(t, q):
        down = Rotation.from_quat(q, scalar_first=True).apply((0.0, 0.0, -9.0 * SATELLITE.mass), inverse=True)
        return np.cross(r, down)

    rate = newton_euler(about_pivot, lambda t, w, s: np.array(torques), moment)
    expected = integrate(rate, START, SPEEDS, times)
    assert attitude_error(motion, expected[:, :4]) < 1e-10
    assert np.abs(motion.angular_velocity_body - expected[:, 4:7]).max() < 1e-10
    assert np.abs(motion.rotor_speed - expected[:, 7:]).max() < 1e-10 * np.abs(SPEEDS).max()


def test_a_heavy_gyrostat_without_motors_keeps_its_energy():
    motion = heavy_gyrostat(rotors=wheels(), duration=10.0, rtol=1e-12, method="dop853")
    audit = motion.audit()
    assert audit["energy"].conserved
    assert audit["energy"].relative < 1e-11
    assert audit["work-energy residual"].relative < 1e-11
    about_z = audit["angular momentum about the pivot, along the force"]
    assert about_z.conserved
    assert about_z.relative < 1e-14
    # T by a sum over body and wheels: w . (I_pivot - sum of J a a^T) w/2 + sum of J (a . w + s)^2/2
    r, w = np.array((-0.1, 0.05, 0.4)), motion.angular_velocity_body
    whole = TENSOR + SATELLITE.mass * ((r @ r) * np.eye(3) - np.outer(r, r))
    rest = whole - (UNIT_AXES.T * INERTIAS) @ UNIT_AXES
    spin = motion.rotor_speed + w @ UNIT_AXES.T
    energy = np.einsum("ti,ij,tj->t", w, rest, w) / 2 + (INERTIAS * spin * spin).sum(axis=1) / 2
    np.testing.assert_allclose(motion.kinetic_energy, energy, rtol=1e-13)


@pytest.mark.parametrize("tilt", [0.4, 1.2, 2.0])
def test_a_gyroscope_precesses_steadily_against_the_closed_form(tilt):
    """I1 p^2 cos - L3 p + M g l = 0, L3 the axial momentum of housing and wheel together.  [Goldstein 1980]

    The housing does not turn about its axis but with the precession; all spin is in the wheel.
    """
    mass, arm, precession, field = 2.0, 0.3, 0.7, 9.80665
    body = ph.Body(mass=mass, inertia=(0.02, 0.02, 0.012))
    about_pivot = 0.02 + mass * arm**2
    axial = (about_pivot * precession**2 * math.cos(tilt) + mass * field * arm) / precession
    speed = (axial - 0.012 * precession * math.cos(tilt)) / 0.004
    start = ph.State(
        orientation=Rotation.from_euler("x", tilt),
        angular_velocity_body=(0.0, precession * math.sin(tilt), precession * math.cos(tilt)),
    )
    wheel = ph.rotor((0, 0, 1), 0.004, speed=speed)
    motion = ph.simulate(
        body, start, [ph.forces.gravity(field)], rotors=[wheel], pivot=(0, 0, -arm), duration=6.0, rtol=1e-12
    )
    turned = Rotation.from_rotvec(precession * motion.times[:, None] * (0.0, 0.0, 1.0)) * start.orientation
    apart = (turned.inv() * Rotation.from_quat(motion.quaternion_wxyz, scalar_first=True)).magnitude()
    assert apart.max() < 1e-9
    np.testing.assert_allclose(motion.rotor_speed[:, 0], speed, rtol=1e-11)


def test_the_reaction_at_the_ball_joint_is_the_rate_of_momentum():
    """M a - F, with a from differences of the velocity."""
    motion = heavy_gyrostat(rotors=driven_wheels(), duration=0.01, output_step=1e-4, method="dop853", rtol=1e-13)
    a = (motion.velocity[2:] - motion.velocity[:-2]) / 2e-4
    expected = SATELLITE.mass * (a + np.array((0.0, 0.0, 9.0)))
    np.testing.assert_allclose(motion.reaction_force[1:-1], expected, rtol=1e-5)
    np.testing.assert_allclose(motion.acceleration[1:-1], a, rtol=1e-5, atol=1e-5)


def test_the_torques_of_the_motors_are_reported():
    motion = ph.simulate(SATELLITE, START, rotors=driven_wheels(), duration=0.01, output_step=1e-4, rtol=1e-12)
    rate = (motion.rotor_momentum[2:] - motion.rotor_momentum[:-2]) / 2e-4
    np.testing.assert_allclose(motion.rotor_torque[1:-1], rate, rtol=1e-6)
    clipped = spin_up(1.0, max_torque=1.5)
    assert (clipped.rotor_torque == 1.5).all()
    members = ph.ensemble(SATELLITE, START, rotors=[ph.rotor((0, 0, 1), 0.1, torque=(1.0, 2.0))], duration=1.0)
    assert members.rotor_torque.tolist() == [[[1.0], [2.0]]]


def test_a_free_gyrostat_on_a_ball_joint_keeps_its_angular_momentum_about_it():
    motion = ph.simulate(
        SATELLITE, START.replace(velocity=(0, 0, 0)), rotors=driven_wheels(), pivot=(0, 0, -1), duration=5.0,
        method="rk4", step=0.01,
    )  # fmt: skip
    finding = motion.audit()["angular momentum about the pivot"]
    assert finding.conserved
    assert finding.relative < 1e-14


def test_the_motors_work_is_counted():
    motion = ph.simulate(SATELLITE, START, rotors=driven_wheels(), duration=10.0, method="dop853", rtol=1e-12)
    assert motion.audit()["work-energy residual"].relative < 1e-11
    assert np.ptp(motion.kinetic_energy) > 0.1


def test_the_error_of_rk4_falls_sixteenfold():
    fine = ph.simulate(SATELLITE, START, rotors=driven_wheels(), duration=2.0, method="dop853", rtol=1e-13)
    errors = []
    for step in (1 / 20, 1 / 40, 1 / 80):
        motion = ph.simulate(SATELLITE, START, rotors=driven_wheels(), duration=2.0, method="rk4", step=step)
        errors.append(np.abs(motion.rotor_speed[-1] - fine.rotor_speed[-1]).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (orders > 3.8).all()
    assert (orders < 4.3).all()


# Saturation -----------------------------------------------------------------------------------------------------------
def spin_up(duration, **limits):
    """A wheel about a principal axis, from rest: s' = u I/(J (I - J))."""
    body = ph.Body(mass=1.0, inertia=(2.0, 2.0, 3.0))
    wheel = ph.rotor((0, 0, 2), 0.5, torque=4.0, **limits)
    return ph.simulate(body, rotors=[wheel], duration=duration, method="dop853", rtol=1e-12)


FACTOR = 3.0 / (0.5 * 2.5)


def test_torque_beyond_the_largest_is_cut_to_it():
    motion = spin_up(3.0, max_torque=1.5)
    np.testing.assert_allclose(motion.rotor_speed[:, 0], 1.5 * FACTOR * motion.times, rtol=1e-13)
    np.testing.assert_allclose(motion.angular_velocity[:, 2], -1.5 / 2.5 * motion.times, rtol=1e-13)


def test_near_the_largest_speed_the_torque_falls_linearly_to_zero():
    """Closed form: linear up to (1 - taper) of the largest speed, then an exponential approach to it."""
    taper, most = 0.2, 10.0
    motion = spin_up(4.0, max_speed=most, taper=taper)
    slope = 4.0 * FACTOR
    bend = (1 - taper) * most / slope
    rest = most * taper * np.exp(-slope * (motion.times - bend) / (taper * most))
    expected = np.where(motion.times < bend, slope * motion.times, most - rest)
    np.testing.assert_allclose(motion.rotor_speed[:, 0], expected, rtol=1e-9)
    assert motion.rotor_speed.max() <= most


def test_a_step_that_runs_past_the_largest_speed_is_reported():
    body, wheel = ph.Body(mass=1.0, inertia=(2.0, 2.0, 3.0)), ph.rotor((0, 0, 1), 0.5, torque=4.0, max_speed=10.0)
    with pytest.warns(UserWarning, match=r"rotor runs past its max_speed .* a step of 0.3 s is too long"):
        ph.simulate(body, rotors=[wheel], duration=3.0, method="rk4", step=0.3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        motion = ph.simulate(body, rotors=[wheel], duration=3.0, method="rk4", step=0.005)
    assert 9.99 < motion.rotor_speed.max() <= 10.0


def test_braking_at_the_largest_speed_is_not_limited():
    body = ph.Body(mass=1.0, inertia=(2.0, 2.0, 3.0))
    wheel = ph.rotor((0, 0, 1), 0.5, speed=-10.0, torque=4.0, max_speed=10.0)
    motion = ph.simulate(body, rotors=[wheel], duration=0.5, method="dop853")
    np.testing.assert_allclose(motion.rotor_speed[:, 0], -10.0 + 4.0 * FACTOR * motion.times, rtol=1e-9)


def test_a_table_of_torques_against_its_integral():
    body = ph.Body(mass=1.0, inertia=(2.0, 2.0, 3.0))
    times, torques = (0.5, 1.0, 2.0), (1.0, 3.0, -2.0)
    wheel = ph.rotor((0, 0, 1), 0.5, torque=(times, torques))
    for method, step in (("rk4", 0.3), ("dop853", None)):
        motion = ph.simulate(body, rotors=[wheel], duration=3.0, method=method, step=step)
        impulse = 0.5 * 1.0 + 0.5 * 2.0 + 1.0 * 0.5 - 1.0 * 2.0
        np.testing.assert_allclose(motion.rotor_speed[-1, 0], FACTOR * impulse, atol=1e-12)


# Everything together --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("pivot", [None, (0.0, 0.1, -0.5)])
@pytest.mark.parametrize(("method", "step"), [("rk4", 0.05), ("midpoint", 0.05), ("euler", 0.05), ("dop853", None)])
def test_compiled_runs_have_the_bits_of_plain_python(method, step, pivot):
    settings = {"rotors": driven_wheels(), "duration": 1.0, "method": method, "step": step, "pivot": pivot}
    start = START.replace(velocity=(0.0, 0.0, 0.0))
    compiled = ph.simulate(SATELLITE, start, [ph.forces.gravity()], **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = ph.simulate(SATELLITE, start, [ph.forces.gravity()], engine="python", **settings)
    assert (compiled.run_result.samples == plain.run_result.samples).all()


@pytest.mark.parametrize(("method", "step"), [("rk4", 0.05), ("dop853", None)])
def test_members_of_an_ensemble_are_single_runs(method, step):
    count = 40
    speeds, inertias = np.linspace(-50.0, 80.0, count), np.linspace(0.01, 0.2, count)
    torques, most = np.linspace(-0.5, 0.5, count), np.linspace(90.0, 100.0, count)
    rotors = [
        ph.rotor((0, 1, 1), inertias, speed=speeds, torque=torques, max_speed=most),
        ph.rotor(
            (1, 0, 0), 0.05, torque=lambda t, state, body, p: p[0] * state.rotor_speed[0], params=(-1e-4 * speeds,)
        ),
    ]
    settings = {"duration": 2.0, "method": method, "step": step}
    many = ph.ensemble(SATELLITE, START, rotors=rotors, output_step=0.5, **settings)
    assert many.rotor_speed.shape == (5, count, 2)
    for i in (0, 17, 39):
        own = [
            ph.rotor((0, 1, 1), inertias[i], speed=speeds[i], torque=torques[i], max_speed=most[i]),
            ph.rotor((1, 0, 0), 0.05, torque=lambda t, s, b, p: p[0] * s.rotor_speed[0], params=(-1e-4 * speeds[i],)),
        ]
        alone = ph.simulate(SATELLITE, START, rotors=own, output_step=0.5, **settings)
        assert (many.member(i).quaternion_wxyz == alone.quaternion_wxyz).all()
        assert (many.rotor_speed[:, i] == alone.rotor_speed).all()


@pytest.mark.parametrize(("method", "step"), [("rk4", 0.02), ("dop853", None)])
def test_a_system_with_wheels_in_one_body_against_each_body_alone(method, step):
    other = ph.Body(mass=3.0, inertia=(0.2, 0.3, 0.4))
    start = ph.State(position=(5, 0, 0), angular_velocity_body=(0.1, 2.0, 0.1))
    settings = {"duration": 3.0, "method": method, "step": step}
    rotors = [ph.rotor((0, 1, 0), 0.05, speed=3.0, torque=0.2, body=1), ph.rotor((1, 0, 2), 0.1, torque=-0.3)]
    both = ph.simulate([SATELLITE, other], [START, start], rotors=rotors, **settings)
    first = ph.simulate(SATELLITE, START, rotors=[ph.rotor((1, 0, 2), 0.1, torque=-0.3)], **settings)
    second = ph.simulate(other, start, rotors=[ph.rotor((0, 1, 0), 0.05, speed=3.0, torque=0.2)], **settings)
    assert both.rotor_speed.shape == (len(both.times), 2)
    tight = {"rtol": 0.0, "atol": 1e-7 if step is None else 1e-12}
    np.testing.assert_allclose(both.angular_velocity[-1, 0], first.angular_velocity[-1], **tight)
    np.testing.assert_allclose(both.angular_velocity[-1, 1], second.angular_velocity[-1], **tight)
    np.testing.assert_allclose(both.rotor_speed[-1], (second.rotor_speed[-1, 0], first.rotor_speed[-1, 0]), **tight)


def test_bodies_with_wheels_on_a_spring_keep_the_total_angular_momentum():
    spring = ph.forces.spring_between(0, 1, 3.0, (0.1, 0, 0), (0, 0.2, 0), length=0.5)
    states = [START, ph.State(position=(1, 0, 0), velocity=(0, 0.5, 0))]
    rotors = [ph.rotor((0, 1, 0), 0.05, speed=30.0, torque=0.2, body=1), ph.rotor((1, 0, 2), 0.1, torque=-0.3)]
    motion = ph.simulate([SATELLITE, SATELLITE], states, [spring], rotors=rotors, duration=5.0, method="dop853")
    finding = motion.audit()["angular momentum about the origin"]
    assert finding.conserved
    assert finding.relative < 1e-9


def test_an_event_sees_the_speed_of_a_wheel():
    @ph.event
    def saturated(t, state, body, params):
        return state.rotor_speed[0] - params[0]

    body = ph.Body(mass=1.0, inertia=(2.0, 2.0, 3.0))
    for method, step in (("dop853", None), ("rk4", 0.1)):
        motion = ph.simulate(
            body, rotors=[ph.rotor((0, 0, 1), 0.5, torque=2.0)], events=[saturated(7.0)], duration=5.0, method=method,
            step=step,
        )  # fmt: skip
        np.testing.assert_allclose(motion.times[-1], 7.0 / (2.0 * FACTOR), rtol=1e-12)


def test_a_force_sees_the_momentum_of_a_wheel():
    @ph.force
    def lean(t, state, body, params):
        return (state.rotor_momentum[0], 0.0, 0.0), (0.0, 0.0, 0.0)

    body = ph.Body(mass=2.0, inertia=(2.0, 2.0, 3.0))
    motion = ph.simulate(body, forces=[lean], rotors=[ph.rotor((0, 0, 1), 0.5, speed=3.0)], duration=2.0)
    np.testing.assert_allclose(motion.velocity[-1, 0], 1.5 / 2.0 * 2.0, rtol=1e-9)


def test_an_impulse_leaves_the_momentum_of_the_wheels_alone():
    blow = ph.forces.impulse((0.0, 1.0, 0.0), 1.0, (0.5, 0.0, 0.0), axes="body")
    motion = ph.simulate(SATELLITE, ph.State(), [blow], rotors=wheels(), duration=1.0, method="rk4", step=0.01)
    before = ph.simulate(SATELLITE, ph.State(), rotors=wheels(), duration=1.0, method="rk4", step=0.01)
    assert (motion.rotor_momentum[-1] == before.rotor_momentum[-1]).all()
    jump = motion.angular_momentum[-1] - before.angular_momentum[-1]
    arm = before.final.orientation.apply((0.5, 0.0, 0.0))
    np.testing.assert_allclose(jump, np.cross(arm, before.final.orientation.apply((0.0, 1.0, 0.0))), atol=1e-14)
    gained = motion.kinetic_energy[-1] - before.kinetic_energy[-1]
    np.testing.assert_allclose(motion.work[-1], gained, rtol=1e-9)


def test_at_any_time_resumes_the_run():
    for method, step in (("dop853", None), ("rk4", 0.05)):
        settings = {"rotors": driven_wheels(), "duration": 2.0, "method": method, "step": step}
        motion = ph.simulate(SATELLITE, START, **settings)
        sampled = ph.simulate(SATELLITE, START, output_times=[0.777], **settings)
        assert (motion.at(0.777).angular_velocity == sampled.angular_velocity[0]).all()


def test_an_event_that_changes_momenta_leaves_the_wheels_alone():
    @ph.event
    def gate(t, state, body, params):
        return state.position[0] - 0.05

    def turn(t, state, body, params):
        return (0.0, 1.0, 0.0), (0.0, 0.0, 0.2)

    events = [gate(action="change", change=turn)]
    motion = ph.simulate(SATELLITE, START, rotors=driven_wheels(), events=events, duration=1.0, rtol=1e-11)
    (crossing,) = motion.crossings
    after = motion.times > crossing.time
    np.testing.assert_allclose(np.diff(motion.angular_momentum[[0, -1]], axis=0)[0], (0.0, 0.0, 0.2), atol=1e-15)
    assert np.abs(total_angular_momentum(motion)[after] - motion.angular_momentum[-1]).max() < 1e-13
    assert motion.audit()["work-energy residual"].relative < 1e-9


def test_members_on_ball_joints_at_different_points():
    pivots = np.array(((0.0, 0.0, -0.3), (0.1, 0.0, -0.5), (0.0, 0.2, -0.1)))
    start, gravity = START.replace(velocity=(0.0, 0.0, 0.0)), ph.forces.gravity()
    settings = {"rotors": wheels(torque=0.01), "duration": 1.0, "method": "rk4", "step": 0.01}
    many = ph.ensemble(SATELLITE, start, [gravity], pivot=pivots, **settings)
    for i, pivot in enumerate(pivots):
        alone = ph.simulate(SATELLITE, start, [gravity], pivot=pivot, **settings)
        np.testing.assert_allclose(many.rotor_speed[-1, i], alone.rotor_speed[-1], rtol=1e-13)
        np.testing.assert_allclose(many.angular_velocity[-1, i], alone.angular_velocity[-1], rtol=1e-12)


def test_an_ensemble_of_systems_with_wheels():
    speeds, torques = np.linspace(1, 50, 5), np.linspace(-0.1, 0.1, 5)

    def rotors(k):
        return [ph.rotor((0, 0, 1), 0.01, speed=speeds[k], body=1), ph.rotor((0, 1, 1), 0.02, torque=torques[k])]

    settings = {"duration": 1.0, "method": "rk4", "step": 0.05}
    many = ph.ensemble([SATELLITE] * 2, [START] * 2, rotors=rotors(slice(None)), **settings)
    alone = ph.simulate([SATELLITE] * 2, [START] * 2, rotors=rotors(3), **settings)
    assert many.rotor_speed.shape == (1, 5, 2)
    assert (many.rotor_speed[-1, 3] == alone.rotor_speed[-1]).all()
    assert (many.member(3).rotor_torque == alone.rotor_torque[-1]).all()
    assert many.dataset["rotor_speed"].dims == ("time", "member", "rotor")


def test_a_law_that_fails_during_the_run_is_named():
    def brittle(t, state, body, params):
        if t > 0.5:
            raise ValueError("out of oil")
        return 0.1

    with pytest.raises(PolhodeError, match=r"fails during the run.*out of oil"):
        ph.simulate(SATELLITE, rotors=[ph.rotor((0, 0, 1), 0.1, torque=brittle)], duration=1.0, method="rk4", step=0.1)


def test_pictures_and_pages_show_the_whole(tmp_path):
    motion = ph.simulate(SATELLITE, START, rotors=driven_wheels(), duration=2.0)
    drawn = sample_trajectory(motion, np.linspace(0.0, 2.0, 7))
    np.testing.assert_allclose(drawn.momentum[:, 0], np.tile(motion.angular_momentum[0], (7, 1)), rtol=1e-13)
    assert "No closed form" in find_closed_form(motion)
    motion.plot()
    motion.export_html(tmp_path / "wheels.html")
    assert b"rotors, a mass that changes" in base64.b64decode(
        re.search(r'id="polhode-motion"[^>]*>([^<]+)<', (tmp_path / "wheels.html").read_text())[1]
    )


# Files ----------------------------------------------------------------------------------------------------------------
def test_a_scenario_with_rotors_goes_through_a_file(tmp_path):
    rotors = [
        ph.rotor((0, 1, 1), 0.02, speed=5.0, torque=0.1, max_speed=50.0, max_torque=0.05, taper=0.1, name="first"),
        ph.rotor((1, 0, 0), 0.03, torque=((0.0, 1.0), (0.2, -0.1))),
    ]
    scenario = ph.Scenario(SATELLITE, START, rotors=rotors, duration=1.0, method="rk4", step=0.05)
    scenario.to_toml(tmp_path / "wheels.toml")
    again = ph.Scenario.from_toml(tmp_path / "wheels.toml")
    assert again.rotors[0].name == "first"
    assert (ph.simulate(again).rotor_speed == ph.simulate(scenario).rotor_speed).all()


def test_a_stored_motion_has_its_rotors(tmp_path):
    motion = ph.simulate(SATELLITE, START, rotors=wheels(torque=0.01), duration=1.0)
    motion.save(tmp_path / "wheels.zarr")
    again = ph.load(tmp_path / "wheels.zarr")
    assert (again.rotor_speed == motion.rotor_speed).all()
    assert (again.at(0.123).angular_velocity == motion.at(0.123).angular_velocity).all()
    assert motion.dataset["rotor_momentum"].dims == ("time", "rotor")


def test_a_stored_ensemble_has_its_rotors(tmp_path):
    axes, speeds = np.array(((0, 0, 1), (0, 1, 1), (1, 0, 0.0))), np.array((1.0, 20.0, -3.0))
    rotors = [ph.rotor(axes, 0.1, speed=speeds, torque=0.2), ph.rotor((1, 0, 0), 0.1, torque=((0.0, 1.0), (0.2, -0.1)))]
    motion = ph.ensemble(SATELLITE, START, rotors=rotors, duration=1.0, output_step=0.25)
    motion.save(tmp_path / "wheels.zarr")
    again = ph.load(tmp_path / "wheels.zarr")
    assert (again.rotor_speed == motion.rotor_speed).all()
    assert (again.member(2).rotor_torque == motion.member(2).rotor_torque).all()


def test_a_stored_motion_names_the_torque_it_could_not_keep(tmp_path):
    motion = ph.simulate(SATELLITE, START, rotors=driven_wheels(), duration=1.0)
    motion.save(tmp_path / "wheels.zarr")
    again = ph.load(tmp_path / "wheels.zarr")
    assert (again.rotor_speed == motion.rotor_speed).all()
    assert again.audit()["angular momentum"].conserved
    assert not again.audit()["kinetic energy"].conserved
    with pytest.raises(PolhodeError, match="rotor, which a file cannot hold"):
        again.at(0.1234)


PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "scenario-file.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("heading", "maker"), [("Rotors", ph.rotor), ("Mass that changes", ph.mass_course)])
def test_the_page_lists_every_key_and_its_example_runs(heading, maker, tmp_path):
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \|[^|]*\| ([^|]+) \|", section, re.MULTILINE))
    parameters = inspect.signature(maker).parameters
    assert set(rows) == set(parameters)
    for key, shown in rows.items():
        default = parameters[key].default
        assert (shown == "required") == (default is inspect.Parameter.empty)
        if shown.startswith("`"):
            assert json.loads(shown.strip("`")) == (list(default) if isinstance(default, tuple) else default)
    (tmp_path / "example.toml").write_text(re.search(r"```toml\n(.*?)```", section, re.DOTALL)[1])
    motion = ph.simulate(ph.Scenario.from_toml(tmp_path / "example.toml"))
    assert np.isfinite(motion.position).all()


# The stepper ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("method", "step"), [("rk4", 0.01), ("dop853", None)])
def test_a_stepper_sets_torques_between_advances(method, step):
    stepper = ph.Stepper(SATELLITE, START, rotors=wheels(), method=method, step=step, rtol=1e-12)
    total = stepper.state.orientation.apply(
        TENSOR @ START.angular_velocity_body + UNIT_AXES.T @ (INERTIAS * stepper.rotor_speed)
    )
    rng = np.random.default_rng(3)
    impulse = np.zeros(3)
    first = stepper.rotor_momentum
    for _ in range(50):
        torques = rng.normal(size=3)
        impulse += 0.05 * torques
        stepper.set_rotor_torques(torques)
        stepper.advance(0.05)
    np.testing.assert_allclose(stepper.rotor_momentum, first + impulse, rtol=1e-13)
    body = TENSOR @ stepper.state.angular_velocity_body + UNIT_AXES.T @ (INERTIAS * stepper.rotor_speed)
    np.testing.assert_allclose(stepper.state.orientation.apply(body), total, atol=1e-13)


@pytest.mark.parametrize(("method", "step"), [("rk4", 0.01), ("euler", 0.01), ("dop853", None)])
def test_a_stepper_goes_back_to_the_same_bits(method, step):
    stepper = ph.Stepper(SATELLITE, START, rotors=driven_wheels(), method=method, step=step)
    stepper.set_rotor_torques((0.1, 0.2, 0.3))
    stepper.advance(0.1)
    token = stepper.save()
    found = []
    for _ in range(2):
        for _ in range(100):
            stepper.advance(0.013)
        stepper.set_rotor_torques((0.0, -1.0, 0.0))
        stepper.advance(0.1)
        found.append((stepper.rotor_momentum, stepper.state.quaternion_wxyz))
        stepper.restore(token)
    assert (found[0][0] == found[1][0]).all()
    assert (found[0][1] == found[1][1]).all()


@pytest.mark.parametrize("torques", [(0.1, np.nan, 0.0), (0.1, 0.2), 0.1, "much", ((0.1, 0.2, 0.3),)])
def test_bad_torques_leave_the_stepper_as_it_was(torques):
    stepper, other = (ph.Stepper(SATELLITE, START, rotors=wheels(), method="rk4", step=0.01) for _ in range(2))
    with pytest.raises(PolhodeError, match="torques must be"):
        stepper.set_rotor_torques(torques)
    stepper.advance(0.1)
    other.advance(0.1)
    assert (stepper.rotor_speed == other.rotor_speed).all()


# What is refused ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("attempt", "sentence"),
    [
        (lambda: ph.rotor((0, 0, 0), 0.1), "must not be"),
        (lambda: ph.rotor((0, 0, 1), -0.1), "greater than 0"),
        (lambda: ph.rotor((0, 0, 1), 0.1, speed=np.inf), "finite"),
        (lambda: ph.rotor((0, 0, 1), 0.1, speed=9.0, max_speed=5.0), "faster than its max_speed"),
        (lambda: ph.rotor((0, 0, 1), 0.1, taper=2.0), "at most 1"),
        (lambda: ph.rotor((0, 0, 1), 0.1, torque=((0, 0, 1), (1, 2, 3))), "must increase"),
        (lambda: ph.rotor((0, 0, 1), 0.1, torque="strong"), "a function"),
        (lambda: ph.rotor((0, 0, 1), 0.1, torque=lambda t: 0.0), "takes 4"),
        (lambda: ph.rotor((0, 0, 1), 0.1, params=(1.0,)), "params are those of a function"),
        (lambda: ph.simulate(SATELLITE, rotors=[ph.rotor((0, 0, 1), 2.0)], duration=1.0), "with the rotors in it"),
        (lambda: ph.simulate(ph.particle(1.0), rotors=wheels(), duration=1.0), "does not turn"),
        (lambda: ph.simulate(SATELLITE, rotors=[ph.rotor((0, 0, 1), 0.1, body=1)], duration=1.0), "numbered 0 to 0"),
        (lambda: ph.simulate(SATELLITE, rotors=wheels(), duration=1.0, method="exact"), "there are rotors"),
        (lambda: ph.simulate(SATELLITE, rotors=wheels(), duration=1.0, method="taylor"), "does not advance rotors"),
        (
            lambda: ph.simulate(SATELLITE, rotors=wheels(), duration=1.0, method="leapfrog", step=0.1),
            "does not advance rotors",
        ),
        (
            lambda: ph.simulate(SATELLITE, rotors=wheels(), duration=1.0, formulation="body_rates"),
            "formulation 'momentum'",
        ),
        (lambda: ph.simulate(SATELLITE, rotors=[SATELLITE], duration=1.0), "is not a rotor"),
        (
            lambda: ph.simulate(
                SATELLITE, rotors=[ph.rotor((0, 0, 1), 0.1, torque=lambda t, s, b, p: s)], duration=1.0
            ),
            "must be one number",
        ),
        (lambda: ph.simulate(SATELLITE, duration=1.0).rotor_speed, "has no rotors"),
        (lambda: ph.Stepper(SATELLITE).set_rotor_torques((1.0,)), "there are no rotors"),
        (
            lambda: ph.Scenario(SATELLITE, rotors=wheels(), duration=1.0).derivative(
                0.0, ph.State().to_array(SATELLITE)
            ),
            "derivative describes rigid bodies",
        ),
        (
            lambda: ph.write_source(ph.Scenario(SATELLITE, rotors=wheels(), duration=1.0), "c", "wheels.c"),
            "cannot be exported",
        ),
        (
            lambda: free_rotation_sheet(ph.simulate(SATELLITE, START, rotors=wheels(), duration=1.0)),
            "free rotation of a rigid body",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(attempt, sentence):
    with pytest.raises(PolhodeError, match=sentence):
        attempt()


# Every rotor on its own scale -----------------------------------------------------------------------------------------
SPAN = 10.0
"""Of the runs below, in s."""


def step_torque(t, state, body, params):
    """One value before a time, another after it."""
    return ph.if_less(t, params[0], params[1], params[2])


def pulse_torque(t, state, body, params):
    """A window in time."""
    return ph.if_less(params[0], t, ph.if_less(t, params[1], params[2], 0.0 * t), 0.0 * t)


def knotted_torque(t, state, body, params):
    """Linear between knots, of a function of the user."""
    return params[4] * ph.interp(t, params[:4], (0.0, 1.0, -0.5, 0.25))


def random_drive(rng, size):
    """A torque of some kind, and its integral over time, in closed form."""
    a, b = np.sort(rng.uniform(1.0, SPAN - 1.0, 2))
    kind = rng.integers(5)
    if kind == 0:
        return {"torque": size}, lambda t: size * t
    if kind == 1:
        return {
            "torque": step_torque,
            "params": (a, size, -size / 2),
        }, lambda t: size * np.minimum(t, a) - size / 2 * np.maximum(t - a, 0.0)
    if kind == 2:
        return {"torque": pulse_torque, "params": (a, b, size)}, lambda t: size * (np.clip(t, a, b) - a)
    knots = np.array((0.3, a, (a + b) / 2, b))
    if kind == 3:
        drive = {"torque": knotted_torque, "params": (*knots, size)}
        values = size * np.array((0.0, 1.0, -0.5, 0.25))
    else:
        values = size * rng.uniform(-1.0, 1.0, 4)
        drive = {"torque": (knots, values)}

    def integral(t):
        points = np.unique(np.concatenate([knots, np.atleast_1d(t), [0.0]]))
        torque = np.interp(points, knots, values)
        sums = np.concatenate([[0.0], np.cumsum(np.diff(points) * (torque[1:] + torque[:-1]) / 2)])
        return np.interp(t, points, sums)

    return drive, integral


@pytest.mark.parametrize("burns", [False, True], ids=["constant mass", "mass course"])
@pytest.mark.parametrize("seed", range(6))
def test_wheels_of_very_different_size_against_their_integrals(seed, burns):
    """About one axis H' = u and (I - sum of J) w = L - sum of H: J from 1e-4 to 1e4 kg m2 in a body of 1e8."""
    rng = np.random.default_rng((26, seed, burns))
    inertias, signs = 10.0 ** rng.uniform(-4, 4, 3), rng.choice((-1.0, 1.0), 3)
    speeds = rng.choice((0.0, 1.0), 3) * 10.0 ** rng.uniform(-2, 3, 3)
    drives = [random_drive(rng, j * 10.0 ** rng.uniform(-3, 2)) for j in inertias]
    body = ph.Body(mass=1e5, inertia=(1e8, 1.1e8, 1.5e8))
    ends = np.array((1e8, 1.1e8, 1.5e8)), np.array((0.7e8, 0.9e8, 1.0e8))
    course = ph.mass_course((0.0, SPAN), (1e5, 7e4), inertia=ends) if burns else None
    motion = ph.simulate(
        body,
        ph.State(angular_velocity_body=(0.0, 0.0, 1e-3)),
        rotors=[
            ph.rotor((0, 0, sign), j, speed=s, **drive)
            for sign, j, s, (drive, _) in zip(signs, inertias, speeds, drives, strict=True)
        ],
        mass_course=course,
        duration=SPAN,
    )
    t = motion.times
    momenta = inertias * (signs * 1e-3 + speeds) + np.transpose([integral(t) for _, integral in drives])
    moment = 1.5e8 - (0.5e8 * t / SPAN if burns else 0.0 * t)
    total = 1.5e8 * 1e-3 + (inertias * signs * speeds).sum()
    w = (total - momenta @ signs) / (moment - inertias.sum())
    expected = momenta / inertias - w[:, None] * signs
    error = np.abs(motion.rotor_speed - expected).max(axis=0)
    scale = np.maximum(np.abs(momenta / inertias).max(axis=0), 1.0 / SPAN)
    found = motion.run_result.auto_report.error_found
    assert found < 1e-9
    assert (error < 10 * max(found, 1e-14) * scale).all()
    assert (error < 1e-9 * scale).all()


@pytest.mark.parametrize("rtol", [1e-6, 1e-9, 1e-12])
def test_dop853_controls_a_small_wheel_in_a_large_body(rtol):
    """J = 0.05 beside 1e8: a wheel that a motor swings to and fro, against H = H0 + u (1 - cos 3t)/3."""

    def swing(t, state, body, params):
        return params[0] * ph.sin(3.0 * t)

    large = ph.Body(mass=1e5, inertia=(1e8, 1.1e8, 1.5e8))
    wheel = ph.rotor((0, 0, 1), 0.05, torque=swing, params=(0.02,))
    motion = ph.simulate(large, ph.State(), rotors=[wheel], duration=SPAN, method="dop853", rtol=rtol)
    momentum = 0.02 * (1 - np.cos(3.0 * motion.times)) / 3.0
    expected = momentum / 0.05 + momentum / (1.5e8 - 0.05)
    assert np.abs(motion.rotor_speed[:, 0] - expected).max() < 10 * rtol * np.abs(expected).max()


@pytest.mark.parametrize("engine", ["cpu", "python"])
@pytest.mark.parametrize("seed", range(3))
def test_tumbling_with_wheels_of_very_different_size_against_newton_euler(seed, engine):
    """Three axes, J from 1e-4 to 10 in a body of 1e4, torques that jump: SciPy starts anew at each jump."""
    rng = np.random.default_rng((26, seed))
    axes = rng.normal(size=(3, 3))
    axes /= np.linalg.norm(axes, axis=1)[:, None]
    inertias, speeds = np.array((1e-4, 0.03, 10.0)), rng.uniform(-50.0, 50.0, 3)
    jumps, sizes = np.sort(rng.uniform(0.5, 4.5, 3)), inertias * rng.uniform(-20.0, 20.0, 3)
    tensor = np.diag((1e4, 1.3e4, 1.8e4))
    start = ph.State(angular_velocity_body=(0.3, -0.5, 0.2))
    rotors = [
        ph.rotor(a, j, speed=s, torque=step_torque, params=(jump, u, -u / 2))
        for a, j, s, jump, u in zip(axes, inertias, speeds, jumps, sizes, strict=True)
    ]
    motion = ph.simulate(
        ph.Body(mass=100.0, inertia=tensor), start, rotors=rotors, duration=5.0, output_times=[2.0, 5.0], rtol=1e-10,
        method="auto" if engine == "cpu" else "dop853", engine=engine,
    )  # fmt: skip
    y, at, expected = np.concatenate([start.quaternion_wxyz, start.angular_velocity_body, speeds]), 0.0, {}
    for end in sorted({*jumps, 2.0, 5.0}):
        torque = np.where((at + end) / 2 < jumps, sizes, -sizes / 2)
        rate = newton_euler(tensor, lambda t, w, s, u=torque: u, axes=axes, inertias=inertias)
        y = solve_ivp(rate, (at, end), y, "DOP853", rtol=3e-14, atol=1e-16).y[:, -1]
        at, expected[end] = end, y
    part = 1e-9 if engine == "cpu" else 1e-8  # without "auto" rtol is that of one step
    for i, t in enumerate((2.0, 5.0)):
        scale = np.abs(speeds) + 20.0 * 5.0
        assert (np.abs(motion.rotor_speed[i] - expected[t][7:]) < part * scale).all()
        assert np.abs(motion.angular_velocity_body[i] - expected[t][4:7]).max() < 1e-9


def test_the_difference_of_a_gpu_counts_a_small_wheel(monkeypatch):
    """Of two runs that differ by 1e-4 in nothing but the momentum of the smaller wheel."""
    rotors = [ph.rotor((0, 0, 1), 1e3, speed=50.0), ph.rotor((1, 0, 0), 1e-3, speed=20.0)]
    scenario = ph.Scenario(
        ph.Body(mass=1e4, inertia=(1e6, 1.2e6, 1.5e6)), ph.State(), rotors=rotors, duration=1.0, method="dop853",
        precision="fused", engine="gpu",
    )  # fmt: skip
    run = precision_check.run_scenario

    def run_with_error(given, counts_work):
        result = run(replace(given, engine="cpu", precision="strict"), counts_work)
        if given.engine == "gpu":
            result.samples[..., result.columns.more.start + 1] *= 1 + 1e-4
        return result

    monkeypatch.setattr(precision_check, "run_scenario", run_with_error)
    report = precision_check.compare_precision(scenario)
    assert report.difference == pytest.approx(1e-4, rel=1e-6)


def test_a_tumbling_body_with_a_wheel_is_computed_to_the_default_tolerance_without_a_warning():
    """Reference: the equations of a gyrostat, I w' = -w x (I w + h a) - h' a, h = J (a . w + s) constant, by SciPy."""
    moments, inertia, speed, w0 = np.array((0.8083, 0.6833, 0.1417)), 0.01, 20.0, np.array((0.1, 5.0, 0.1))
    h = inertia * (w0[2] + speed)
    locked = moments - np.array((0.0, 0.0, inertia))

    def rate(t, w):
        return -np.cross(w, locked * w + np.array((0.0, 0.0, h))) / locked

    times = np.linspace(0.0, 6.0, 61)
    expected = solve_ivp(rate, (0.0, 6.0), w0, "DOP853", times, rtol=1e-13, atol=1e-14).y.T
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        motion = ph.simulate(
            ph.Body(mass=10.0, inertia=moments),
            ph.State(angular_velocity_body=w0),
            rotors=[ph.rotor((0, 0, 1), inertia, speed=speed)],
            duration=6.0,
            output_times=times,
        )
    assert np.abs(motion.angular_velocity_body - expected).max() < 1e-9 * 5.0
    assert motion.run_result.auto_report.error_found < 1e-9
