"""A body held at a point: the gyroscope of [Christian 2011, section 17.6] against closed forms."""

import numpy as np
import pytest
from scipy.special import ellipk

import polhode as ph
from polhode.equations.formulations import FORMULATIONS
from polhode.equations.quaternions import from_angles

MOMENT, SPIN_MOMENT, PIVOT_MOMENT, THETA = 0.202, 0.4, 1.202, np.radians(60.0)
TOP = ph.Body(mass=1.0, inertia=(MOMENT, MOMENT, SPIN_MOMENT))
GRAVITY = [ph.forces.gravity(1.0)]


def start(precession, theta_rate=0.0, spin=10.0, theta=THETA):
    """Body rates from the rates of the ZXZ angles at phi = psi = 0.  [Christian 2011, eq. 17.36]"""
    w = (theta_rate, precession * np.sin(theta), spin)
    return ph.State(quaternion_wxyz=from_angles((0.0, theta, 0.0)), angular_velocity_body=w)


def steady_rates(spin=10.0):
    """The roots of Is cos(theta) p^2 - I3 w3 p + M g l = 0: 0.2601702 and 6.3954038."""
    return np.sort(np.roots((PIVOT_MOMENT * np.cos(THETA), -SPIN_MOMENT * spin, 1.0)))


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_started_at_a_steady_rate_the_top_keeps_its_angle_and_presses_as_known(formulation):
    rates = steady_rates()
    assert rates == pytest.approx((0.2601702, 6.3954038), abs=1e-7)
    for rate, horizontal in zip(rates, (0.0586200, 35.42147), strict=True):
        motion = ph.simulate(
            TOP,
            start(rate),
            GRAVITY,
            duration=2.0,
            step=1e-3,
            method="rk4",
            pivot=(0, 0, -1.0),
            formulation=formulation,
        )
        assert motion.euler_angles[:, 1] == pytest.approx(np.full(len(motion.times), THETA), abs=1e-9)
        reaction = motion.reaction_force
        assert np.hypot(reaction[:, 0], reaction[:, 1]) == pytest.approx(np.sin(THETA) * rate**2, rel=1e-6)
        assert np.hypot(reaction[0, 0], reaction[0, 1]) == pytest.approx(horizontal, rel=1e-6)
        assert reaction[:, 2] == pytest.approx(1.0, abs=1e-6)


def test_released_without_precession_the_top_nods_as_the_elliptic_integral_says():
    """theta between 60 and 68.2622295 degrees, period 2.0139462 s."""
    b = (SPIN_MOMENT * 10.0) ** 2 / (4 * PIVOT_MOMENT)
    u2, u1 = np.cos(THETA), b - np.sqrt(b * b - 2 * b * np.cos(THETA) + 1)
    u3 = 2 * b - u1  # the three roots sum to 2b + cos(theta0)
    period = 4 * ellipk((u2 - u1) / (u3 - u1)) / np.sqrt(2 / PIVOT_MOMENT * (u3 - u1))
    assert (np.degrees(np.arccos(u1)), period) == pytest.approx((68.2622295, 2.0139462), abs=1e-7)
    motion = ph.simulate(
        TOP, start(0.0), GRAVITY, duration=period, rtol=1e-12, pivot=(0, 0, -1.0), output_step=period / 2
    )
    assert np.degrees(motion.euler_angles[1, 1]) == pytest.approx(np.degrees(np.arccos(u1)), abs=1e-7)
    assert motion.euler_angles[2, 1] == pytest.approx(THETA, abs=1e-9)
    audit = motion.audit()
    assert audit["energy"].conserved
    assert audit["energy"].relative < 1e-11
    assert audit["angular momentum about the pivot, along the force"].relative < 1e-11
    assert not audit["angular momentum about the pivot"].conserved


def test_the_pivot_stays_where_it_is():
    motion = ph.simulate(
        TOP, start(0.3).replace(position=(1, 2, 3)), GRAVITY, duration=3.0, step=1e-2, pivot=(0, 0, -1.0)
    )
    place = motion.points((0, 0, -1.0))
    assert np.abs(place - place[0]).max() < 1e-12
    assert np.abs(motion.point_velocities((0, 0, -1.0))).max() < 1e-12
    assert place[0] == pytest.approx(np.array((1, 2, 3)) + motion.rotation_matrix[0] @ (0, 0, -1.0))


def test_a_pivot_off_the_principal_axes_meets_a_free_body_driven_by_the_reaction():
    """Second route: the reaction, given to the free body at that point, makes the same motion."""
    body = ph.Body(mass=2.0, inertia=(0.6, 0.8, 1.0))
    pivot = np.array((0.3, -0.2, 0.4))
    begin = ph.State(angular_velocity_body=(1.0, -2.0, 0.5))
    held = ph.simulate(body, begin, [ph.forces.gravity()], duration=0.2, step=1e-3, pivot=pivot, output_step=1e-3)
    velocity = np.cross(begin.angular_velocity, -pivot)
    state, reaction = begin.replace(velocity=velocity), held.reaction_force
    for k in range(50):
        middle = (reaction[2 * k] + 4 * reaction[2 * k + 1] + reaction[2 * k + 2]) / 6
        push = [ph.forces.gravity(), ph.forces.force_at(middle, pivot)]
        state = ph.simulate(body, state, push, duration=2e-3, step=1e-3).final
    assert state.position == pytest.approx(held.at(0.1).position, abs=2e-6)
    assert state.angular_velocity_body == pytest.approx(held.at(0.1).angular_velocity_body, abs=2e-4)


def test_a_particle_on_a_rod_without_mass_is_a_pendulum():
    """A quarter of 4 K(sin^2(a/2)) sqrt(l/g): from 60 degrees to the lowest point."""
    length, angle = 0.7, np.radians(60.0)
    hanging = ph.State(quaternion_wxyz=from_angles((0.0, angle, 0.0)))
    quarter = ellipk(np.sin(angle / 2) ** 2) * np.sqrt(length / 9.80665)
    motion = ph.simulate(
        ph.particle(3.0), hanging, [ph.forces.gravity()], duration=quarter, rtol=1e-12, pivot=(0, 0, length)
    )
    lowest = motion.final
    assert lowest.to_world((0, 0, length)) - lowest.position == pytest.approx((0, 0, length), abs=1e-9)
    assert np.linalg.norm(lowest.velocity) ** 2 == pytest.approx(2 * 9.80665 * length * (1 - np.cos(angle)), rel=1e-9)


@ph.force(potential=lambda t, state, body, params: body.moments[2])
def torque_of_the_moment(t, state, body, params):
    return (0.0, 0.0, 0.0), (0.0, 0.0, body.moments[2])


@ph.event
def spins_fast(t, state, body, params):
    return state.angular_velocity[2] - body.moments[2] / 4


def speed_up(t, state, body, params):
    return (0.0, 0.0, 0.0), (0.0, 0.0, body.moments[2])


PLATE, EDGE = ph.Body(mass=1.0, inertia=(1.0, 2.0, 3.0)), (1.0, 0.0, 0.0)
"""About the center of mass I3 is 3 kg m2, about the edge 4."""


@pytest.mark.parametrize(("method", "engine"), [("dop853", "cpu"), ("dop853", "python"), ("taylor", "cpu")])
@pytest.mark.filterwarnings("ignore:engine='python'")
def test_forces_potentials_and_events_see_the_moments_about_the_center_of_mass(method, engine):
    """4 w' = 3; where w = 3/4, at t = 1 s, the event adds 3/4."""
    if method == "taylor":
        pytest.importorskip("heyoka")
    motion = ph.simulate(
        PLATE,
        forces=[torque_of_the_moment()],
        duration=2.0,
        pivot=EDGE,
        events=[spins_fast(change=speed_up, count=1)],
        method=method,
        engine=engine,
        output_times=[0.5, 2.0],
    )
    assert motion.angular_velocity[:, 2] == pytest.approx((0.375, 2.25), rel=1e-9)
    assert motion.potential_energy == pytest.approx(3.0, abs=0)
    angular = np.cross((0, 0, 0.75), -motion.rotation_matrix[0] @ EDGE)
    centripetal = 0.375**2 * motion.rotation_matrix[0] @ EDGE
    assert motion.acceleration[0] == pytest.approx(angular + centripetal, rel=1e-9)


def test_the_members_of_an_ensemble_see_the_moments_about_their_centers_of_mass():
    """Pivots at 0, 1, 2 m from the center of mass: (3 + d^2) w' = 3."""
    pivots = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (2.0, 0.0, 0.0)]
    motion = ph.ensemble(PLATE, forces=[torque_of_the_moment()], duration=1.0, pivot=pivots, step=0.1, method="rk4")
    assert motion.angular_velocity[-1, :, 2] == pytest.approx((1.0, 3 / 4, 3 / 7), rel=1e-9)
