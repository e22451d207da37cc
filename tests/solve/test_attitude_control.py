"""Attitude control: a PD law, sampled at 10 Hz on the stepper, turns a satellite with three reaction wheels."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph

MOMENTS = np.array((0.12, 0.16, 0.2))
SATELLITE = ph.Body(mass=12.0, inertia=MOMENTS)
WHEEL = 5e-4
FREQUENCY, DAMPING = 0.4, 0.9
STIFFNESS, RATE_GAIN = 2 * FREQUENCY**2 * MOMENTS, 2 * DAMPING * FREQUENCY * MOMENTS
LIMITS = {"max_torque": 0.02, "max_speed": 800.0}
DURATION = 40.0


def motor(i):
    """The torque of wheel i: against the rotation that is left, and against the rate."""

    def torque(t, state, body, params):
        goal, stiffness, rate_gain = params
        left = ph.quaternion_product(ph.quaternion_conjugate(goal), state.orientation)
        shorter_way = ph.if_less(left[0], 0.0, -1.0, 1.0)
        return stiffness * shorter_way * left[i + 1] + rate_gain * state.angular_velocity_body[i]

    return torque


def continuous(target, duration=DURATION, **settings):
    goal = tuple(target.as_quat(scalar_first=True))
    wheels = [
        ph.rotor(axis, WHEEL, torque=motor(i), params=(goal, STIFFNESS[i], RATE_GAIN[i]), **LIMITS)
        for i, axis in enumerate(np.eye(3))
    ]
    return ph.simulate(
        SATELLITE, rotors=wheels, duration=duration, method="dop853", rtol=1e-11, output_step=0.1, **settings
    )


def sampled(target, rate, duration=DURATION):
    """The same law, evaluated `rate` times a second, its torques held in between; the stepper, every 0.1 s."""
    stepper = ph.Stepper(
        SATELLITE, rotors=[ph.rotor(axis, WHEEL, **LIMITS) for axis in np.eye(3)], method="dop853", rtol=1e-11
    )
    states, speeds = [stepper.state], [stepper.rotor_speed]
    for k in range(round(rate * duration)):
        state = stepper.state
        left = (target.inv() * state.orientation).as_quat(scalar_first=True, canonical=True)
        stepper.set_rotor_torques(STIFFNESS * left[1:] + RATE_GAIN * state.angular_velocity_body)
        stepper.advance_to((k + 1) / rate)
        if (k + 1) % (rate // 10) == 0:
            states.append(stepper.state)
            speeds.append(stepper.rotor_speed)
    return states, np.array(speeds)


def turns_of(states):
    return Rotation.from_quat([state.quaternion_wxyz for state in states], scalar_first=True)


TARGET = Rotation.from_rotvec(np.deg2rad(120) * np.array((1.0, 2.0, -1.0)) / np.sqrt(6))


def test_the_slew_sampled_at_10_hz_against_the_continuous_one():
    """Torques that are held act half a period late: the difference falls in proportion to the period."""
    motion = continuous(TARGET)
    assert (TARGET.inv() * motion.final.orientation).magnitude() < 1e-5
    differences = []
    for rate in (10, 20, 40):
        states, _ = sampled(TARGET, rate)
        apart = turns_of(states).inv() * Rotation.from_quat(motion.quaternion_wxyz, scalar_first=True)
        differences.append(apart.magnitude().max())
        assert (TARGET.inv() * states[-1].orientation).magnitude() < 1e-5
    assert differences[0] < 0.012  # rad, of 2.1
    orders = np.log2(np.array(differences[:-1]) / differences[1:])
    np.testing.assert_allclose(orders, 1.0, atol=0.02)


def test_the_slew_keeps_the_total_angular_momentum():
    """It is zero, and stays zero to rounding: what the body has, the wheels have with the other sign."""
    states, speeds = sampled(TARGET, 10)
    spin = np.array([MOMENTS * state.angular_velocity_body for state in states]) + WHEEL * speeds
    assert np.abs(WHEEL * speeds).max() > 0.03
    assert np.abs(spin).max() < 1e-14
    motion = continuous(TARGET)
    assert np.abs(motion.rotor_torque).max() == LIMITS["max_torque"]
    assert (motion.angular_momentum == 0.0).all()


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_slew_about_a_principal_axis_against_the_recursion_of_a_held_torque(axis):
    """(I - J) theta'' = -u with u held: theta and its rate follow from step to step in closed form."""
    angle, period = 1.0, 0.1
    target = Rotation.from_rotvec(angle * np.eye(3)[axis])
    states, speeds = sampled(target, 10, duration=20.0)
    theta, rate, speed = -angle, 0.0, 0.0
    expected = [(theta, rate, speed)]
    rest = MOMENTS[axis] - WHEEL
    for _ in range(200):
        torque = STIFFNESS[axis] * np.sin(theta / 2) + RATE_GAIN[axis] * rate
        torque = np.clip(torque, -LIMITS["max_torque"], LIMITS["max_torque"])
        theta, rate = theta + rate * period - torque / rest * period**2 / 2, rate - torque / rest * period
        speed = -MOMENTS[axis] * rate / WHEEL
        expected.append((theta, rate, speed))
    thetas, rates, wheel = np.array(expected).T
    found = (target.inv() * turns_of(states)).as_rotvec()[:, axis]
    np.testing.assert_allclose(found, thetas, atol=1e-10)
    np.testing.assert_allclose([state.angular_velocity_body[axis] for state in states], rates, atol=1e-11)
    np.testing.assert_allclose(speeds[:, axis], wheel, atol=1e-8)
