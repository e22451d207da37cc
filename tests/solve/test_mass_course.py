"""Mass that changes: the rocket equation, jet damping, and the momentum of rocket and exhaust together."""

import math
import warnings

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.errors import PolhodeError

ROCKET = ph.Body(mass=100.0, inertia=(60.0, 60.0, 8.0))
ROCKET_3 = ph.Body(mass=100.0, inertia=(60.0, 50.0, 80.0))
EXHAUST = np.array((0.0, 0.0, -2500.0))
RATE = -1.5
END = 40.0


def burn(**changes):
    """60 of 100 kg in 40 s."""
    return ph.mass_course((0.0, END), (100.0, 100.0 + RATE * END), exhaust_velocity=EXHAUST, **changes)


def exponential(t):
    return 100.0 * math.exp(-t / 50.0)


# The rocket equation --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("method", "step"), [("auto", None), ("dop853", None), ("rk4", 0.05)])
def test_the_rocket_equation(method, step):
    """v = u ln(m0/m), and its integral.  [Tsiolkovsky 1903]"""
    motion = ph.simulate(ROCKET, mass_course=burn(), duration=60.0, method=method, step=step)
    m, t = motion.mass, np.minimum(motion.times, END)
    np.testing.assert_allclose(m, 100.0 + RATE * t, rtol=1e-13)
    np.testing.assert_allclose(motion.velocity[:, 2], 2500.0 * np.log(100.0 / m), rtol=1e-9)
    height = 2500.0 * (t - m / RATE * np.log(m / 100.0)) + (motion.times - t) * motion.velocity[:, 2]
    np.testing.assert_allclose(motion.position[1:, 2], height[1:], rtol=1e-8)


def test_the_error_of_rk4_falls_sixteenfold_against_the_rocket_equation():
    errors = []
    for step in (4.0, 2.0, 1.0):
        motion = ph.simulate(ROCKET, mass_course=burn(), duration=END, method="rk4", step=step)
        errors.append(abs(motion.velocity[-1, 2] - 2500.0 * math.log(100.0 / 40.0)))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (orders > 3.7).all()
    assert (orders < 4.3).all()


def test_knots_of_a_table_cost_no_accuracy():
    """Three rates of burning and a pause, none of them at a multiple of the step."""
    times, masses = (1.3, 5.7, 9.1, 20.2, 33.3), (100.0, 80.0, 80.0, 75.0, 40.0)
    course = ph.mass_course(times, masses, exhaust_velocity=EXHAUST)
    for method, step in (("rk4", 0.05), ("dop853", None)):
        motion = ph.simulate(ROCKET, mass_course=course, duration=40.0, method=method, step=step)
        np.testing.assert_allclose(motion.velocity[:, 2], 2500.0 * np.log(100.0 / motion.mass), rtol=1e-9, atol=1e-8)
        assert motion.mass[-1] == 40.0


def test_a_long_table_and_times_beyond_it():
    """A thousand rows of the same line, begun before and left after: the rocket equation still."""
    times = np.linspace(1.0, 11.0, 1001)
    course = ph.mass_course(times, 100.0 - 3.0 * (times - 1.0), exhaust_velocity=EXHAUST)
    motion = ph.simulate(ROCKET, mass_course=course, duration=12.0, method="dop853", output_times=[0.5, 6.0, 12.0])
    np.testing.assert_allclose(motion.mass, (100.0, 85.0, 70.0), rtol=1e-12)
    np.testing.assert_allclose(motion.velocity[:, 2], 2500.0 * np.log(100.0 / motion.mass), rtol=1e-10, atol=1e-10)


def test_a_function_of_time_against_its_closed_form():
    """m = m0 exp(-t/T) accelerates steadily by u/T."""
    course = ph.mass_course((0.0, 40.0), exponential, exhaust_velocity=EXHAUST)
    motion = ph.simulate(ROCKET, mass_course=course, duration=40.0, method="dop853", rtol=1e-12)
    np.testing.assert_allclose(motion.velocity[:, 2], 2500.0 / 50.0 * motion.times, rtol=1e-10)
    np.testing.assert_allclose(motion.mass, [exponential(t) for t in motion.times], rtol=1e-11)


def test_gravity_pulls_what_is_left():
    """v = u ln(m0/m) - g t; and with no exhaust velocity the mass does not matter."""
    lifted = ph.simulate(ROCKET, forces=[ph.forces.gravity()], mass_course=burn(), duration=END, rtol=1e-12)
    expected = 2500.0 * np.log(100.0 / lifted.mass) - 9.80665 * lifted.times
    np.testing.assert_allclose(lifted.velocity[:, 2], expected, rtol=1e-10, atol=1e-9)
    leaking = ph.mass_course((0.0, END), (100.0, 40.0))
    falling = ph.simulate(ROCKET, forces=[ph.forces.gravity()], mass_course=leaking, duration=END, rtol=1e-12)
    np.testing.assert_allclose(falling.velocity[:, 2], -9.80665 * falling.times, rtol=1e-11)


def test_a_center_that_moves_in_the_body_does_not_change_the_rocket_equation():
    course = burn(center_of_mass=((0.0, 0.0, 0.0), (0.0, 0.0, 0.7)), nozzle=(0.0, 0.0, -2.0))
    motion = ph.simulate(ROCKET, mass_course=course, duration=END, rtol=1e-12)
    np.testing.assert_allclose(motion.velocity[:, 2], 2500.0 * np.log(100.0 / motion.mass), rtol=1e-10)
    np.testing.assert_allclose(motion.center_of_mass[:, 2], 0.7 * motion.times / END, rtol=1e-12)


# Jet damping ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("arm", [0.5, 2.0])
def test_jet_damping_against_its_closed_form(arm):
    """I' = m' k^2: w = w0 (I/I0)^(l^2/k^2 - 1) across the axis, w3 = w30 I30/I3 along it.  [Thomson and Reiter 1965]"""
    k, k3 = 0.9, 0.3
    ends = [(60.0 + RATE * t * k**2, 60.0 + RATE * t * k**2, 8.0 + RATE * t * k3**2) for t in (0.0, END)]
    start = ph.State(angular_velocity_body=(0.4, 0.0, 0.0))
    motion = ph.simulate(
        ROCKET, start, mass_course=burn(inertia=ends, nozzle=(0.0, 0.0, -arm)), duration=END, rtol=1e-12
    )
    inertia = 60.0 + RATE * motion.times * k**2
    expected = 0.4 * (inertia / 60.0) ** (arm**2 / k**2 - 1)
    np.testing.assert_allclose(motion.angular_velocity_body[:, 0], expected, rtol=1e-10)
    assert (expected[-1] < 0.4) == (arm > k)
    spun = ph.simulate(
        ROCKET, ph.State(angular_velocity_body=(0.0, 0.0, 3.0)), duration=END, rtol=1e-12,
        mass_course=burn(inertia=ends, nozzle=(0.0, 0.0, -arm)),
    )  # fmt: skip
    np.testing.assert_allclose(
        spun.angular_velocity_body[:, 2], 3.0 * 8.0 / (8.0 + RATE * spun.times * k3**2), rtol=1e-10
    )


def tensor_at(t):
    first = np.array(((60.0, 2.0, -1.0), (2.0, 55.0, 0.5), (-1.0, 0.5, 9.0)))
    last = np.array(((40.0, 1.0, 0.5), (1.0, 38.0, -0.5), (0.5, -0.5, 5.0)))
    return first + (last - first) * t / END


@pytest.mark.parametrize("wheel_inertia", [0.0, 3.0])
def test_rocket_and_exhaust_together_keep_momentum_and_angular_momentum(wheel_inertia):
    """An integration of the two balances: of m V - m' r, and of x x (m V - m' r) + L, which the exhaust changes.

    L is that of the rocket and of a wheel in it, whose motor sees the inertia that is left.
    """
    axis, first_speed = np.array((2.0, 3.0, 6.0)) / 7, 5.0

    def motor(t, state, body, params):
        spin = np.array(body.inertia_body) @ np.array(state.angular_velocity_body)
        return 0.5 + 0.2 * (spin @ axis) - 0.1 * state.rotor_speed[0]

    wheel = [ph.rotor(axis, wheel_inertia, speed=first_speed, torque=motor)] if wheel_inertia else []
    nozzle, push = np.array((0.03, -0.01, -2.0)), np.array((4.0, 6.0, -900.0))
    body = ph.Body(mass=100.0, inertia=tensor_at(0.0))
    course = ph.mass_course(
        (0.0, END), (100.0, 40.0), inertia=(tensor_at(0.0), tensor_at(END)), exhaust_velocity=push, nozzle=nozzle
    )
    start = ph.State(
        position=(1, 2, 3), velocity=(5, 0, -1), quaternion_wxyz=(1, 2, -1, 3), angular_velocity_body=(0.3, -0.2, 1.0)
    )
    times = np.linspace(0.0, 10.0, 21)
    motion = ph.simulate(
        body, start, rotors=wheel, mass_course=course, duration=10.0, output_times=times, rtol=1e-13, method="dop853"
    )

    def unpack(t, y):
        turn = Rotation.from_quat(y[3:7] / np.linalg.norm(y[3:7]), scalar_first=True)
        r = turn.apply(nozzle)
        v = (y[7:10] + RATE * r) / (100.0 + RATE * t)
        spin = y[10:13] - np.cross(y[:3], y[7:10])
        rest = tensor_at(t) - wheel_inertia * np.outer(axis, axis)
        w_body = np.linalg.solve(rest, turn.apply(spin, inverse=True) - y[13] * axis)
        speed = y[13] / wheel_inertia - axis @ w_body if wheel else 0.0
        return turn, r, v, w_body, speed

    def rate(t, y):
        turn, r, v, w_body, speed = unpack(t, y)
        q = y[3:7]
        leaving = RATE * (v + np.cross(turn.apply(w_body), r) + turn.apply(push))
        half = 0.5 * np.array((-q[1:] @ w_body, *(q[0] * w_body + np.cross(q[1:], w_body))))
        torque = 0.5 + 0.2 * (tensor_at(t) @ w_body) @ axis - 0.1 * speed if wheel else 0.0
        return np.concatenate([v, half, leaving, np.cross(y[:3] + r, leaving), [torque]])

    r = start.orientation.apply(nozzle)
    total = 100.0 * start.velocity - RATE * r
    spin = start.orientation.apply(tensor_at(0.0) @ start.angular_velocity_body + wheel_inertia * first_speed * axis)
    along = wheel_inertia * (axis @ start.angular_velocity_body + first_speed)
    y = np.concatenate([start.position, start.quaternion_wxyz, total, np.cross(start.position, total) + spin, [along]])
    found = solve_ivp(rate, (0.0, 10.0), y, "DOP853", times, rtol=3e-14, atol=1e-14)
    expected = [unpack(t, row) for t, row in zip(times, found.y.T, strict=True)]
    velocity, w_body = np.array([e[2] for e in expected]), np.array([e[3] for e in expected])
    assert np.abs(motion.position - found.y[:3].T).max() < 1e-10 * np.abs(found.y[:3]).max()
    assert np.abs(motion.velocity - velocity).max() < 1e-10 * np.abs(velocity).max()
    assert np.abs(motion.angular_velocity_body - w_body).max() < 1e-10 * np.abs(w_body).max()
    assert np.abs(w_body[-1] - w_body[0]).max() > 0.1
    if wheel:
        speed = np.array([e[4] for e in expected])
        assert np.abs(motion.rotor_speed[:, 0] - speed).max() < 1e-10 * np.abs(speed).max()


def test_a_wheel_in_a_rocket_keeps_turning_it():
    """Without a moment of the exhaust the angular momentum of body and wheel is unchanged, whatever their inertia."""
    ends = (tensor_at(0.0), tensor_at(END))
    body = ph.Body(mass=100.0, inertia=ends[0])
    wheel = ph.rotor((1, 0, 1), 2.0, speed=20.0, torque=0.5)
    motion = ph.simulate(
        body,
        ph.State(angular_velocity_body=(0.1, 0.2, 0)),
        rotors=[wheel],
        mass_course=burn(inertia=ends),
        duration=END,
    )
    assert np.abs(motion.angular_momentum - motion.angular_momentum[0]).max() == 0.0
    axis = np.array((1.0, 0.0, 1.0)) / math.sqrt(2)
    total = [
        tensor_at(t) @ w + 2.0 * s * axis
        for t, w, s in zip(motion.times, motion.angular_velocity_body, motion.rotor_speed[:, 0], strict=True)
    ]
    world = Rotation.from_quat(motion.quaternion_wxyz, scalar_first=True).apply(total)
    assert np.abs(world - motion.angular_momentum[0]).max() < 1e-12 * np.linalg.norm(motion.angular_momentum[0])
    np.testing.assert_allclose(
        motion.inertia_world[0],
        Rotation.from_quat(motion.quaternion_wxyz[0], scalar_first=True).as_matrix()
        @ ends[0]
        @ Rotation.from_quat(motion.quaternion_wxyz[0], scalar_first=True).as_matrix().T,
        rtol=1e-12,
    )


def test_the_acceleration_is_the_rate_of_the_velocity():
    course = burn(nozzle=(0.2, 0.0, -2.0))
    motion = ph.simulate(
        ROCKET, ph.State(angular_velocity_body=(0.5, 0.1, 1.0)), [ph.forces.gravity()], mass_course=course,
        duration=0.02, output_step=1e-4, rtol=1e-13, method="dop853",
    )  # fmt: skip
    a = (motion.velocity[2:] - motion.velocity[:-2]) / 2e-4
    np.testing.assert_allclose(motion.acceleration[1:-1], a, rtol=1e-6, atol=1e-6)


def test_the_audit_says_why_nothing_is_conserved():
    audit = ph.simulate(ROCKET, mass_course=burn(), duration=1.0).audit()
    assert not audit["kinetic energy"].conserved
    assert not audit["linear momentum"].conserved
    assert "the mass that leaves" in audit["linear momentum"].reason
    assert "work-energy residual" not in [finding.quantity for finding in audit.findings]


# Everything together --------------------------------------------------------------------------------------------------
COURSES = {
    "table": lambda: burn(inertia=((60, 60, 8), (30, 30, 4)), nozzle=(0.1, 0, -2)),
    "function": lambda: ph.mass_course((0.0, 40.0), exponential, exhaust_velocity=EXHAUST, nozzle=(0.1, 0, -2)),
}
START = ph.State(angular_velocity_body=(0.1, 0.2, 1.0))


@pytest.mark.parametrize("course", COURSES)
@pytest.mark.parametrize(("method", "step"), [("rk4", 0.1), ("dop853", None)])
def test_compiled_runs_have_the_bits_of_plain_python(method, step, course):
    settings = {"mass_course": COURSES[course](), "duration": 1.0, "method": method, "step": step}
    compiled = ph.simulate(ROCKET, START, [ph.forces.gravity()], **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = ph.simulate(ROCKET, START, [ph.forces.gravity()], engine="python", **settings)
    assert (compiled.run_result.samples == plain.run_result.samples).all()


@pytest.mark.parametrize(("method", "step"), [("rk4", 0.1), ("dop853", None)])
def test_members_of_an_ensemble_are_single_runs(method, step):
    spins = np.linspace(-1, 1, 40)[:, None] * (0.1, 0.2, 1.0)
    settings = {"mass_course": COURSES["table"](), "duration": 2.0, "method": method, "step": step}
    many = ph.ensemble(ROCKET, ph.State(angular_velocity_body=spins), output_step=0.5, **settings)
    alone = ph.simulate(ROCKET, ph.State(angular_velocity_body=spins[7]), output_step=0.5, **settings)
    assert (many.member(7).velocity == alone.velocity).all()
    assert (many.mass[:, 7] == alone.mass).all()


@pytest.mark.parametrize(("method", "step"), [("rk4", 0.01), ("dop853", None)])
def test_a_stepper_burns_too_and_goes_back(method, step):
    course = ph.mass_course((0.5, 2.5), (100.0, 90.0), exhaust_velocity=EXHAUST)
    stepper = ph.Stepper(
        ROCKET, ph.State(angular_velocity_body=(0, 0, 1)), mass_course=course, method=method, step=step, rtol=1e-12
    )
    token, found = stepper.save(), []
    for _ in range(2):
        for _ in range(30):
            stepper.advance(0.1)
        found.append(stepper.state.velocity)
        stepper.restore(token)
    assert (found[0] == found[1]).all()
    np.testing.assert_allclose(np.linalg.norm(found[0]), 2500.0 * math.log(100.0 / 90.0), rtol=1e-9)


def test_an_impulse_acts_on_the_mass_that_is_left():
    blow = ph.forces.impulse((80.0, 0.0, 0.0), 50.0)
    motion = ph.simulate(ROCKET, forces=[blow], mass_course=burn(), duration=51.0, method="rk4", step=0.1)
    np.testing.assert_allclose(motion.velocity[-1, 0], 80.0 / 40.0, rtol=1e-12)


def test_the_gravity_gradient_turns_what_is_left():
    """torque = 3 gm/r^3 n x (I n), I as it is now: against Euler's equation about one axis."""
    gm, r, first, last = 4e14, 7e6, np.array((60.0, 50.0, 80.0)), np.array((40.0, 20.0, 50.0))
    course = ph.mass_course((0.0, 1000.0), (100.0, 50.0), inertia=(first, last))
    angle = 0.3
    start = ph.State(position=(r, 0, 0), quaternion_wxyz=(math.cos(angle / 2), 0, 0, math.sin(angle / 2)))
    motion = ph.simulate(ROCKET_3, start, [ph.forces.point_gravity(gm)], mass_course=course, duration=10.0, rtol=1e-12)

    def rate(t, y):
        inertia = first + (last - first) * t / 1000.0
        shrink = (last - first) / 1000.0
        x, v, turn, w = y
        torque = 3 * gm / x**3 * (inertia[1] - inertia[0]) * math.cos(turn) * -math.sin(turn)
        return (v, -gm / x**2, w, (torque - shrink[2] * w) / inertia[2])

    found = solve_ivp(rate, (0.0, 10.0), (r, 0.0, angle, 0.0), "DOP853", rtol=1e-12, atol=1e-20).y[:, -1]
    np.testing.assert_allclose(motion.angular_velocity[-1, 2], found[3], rtol=1e-9)


def skewed(t):
    """A tensor with products of inertia, of which most is gone after 10 s."""
    first, last = (np.array(((a, b, c), (b, d, e), (c, e, f))) for a, b, c, d, e, f in
                   ((60.0, 20.0, -10.0, 50.0, 5.0, 80.0), (12.0, -3.0, 2.0, 10.0, 1.0, 14.0)))  # fmt: skip
    return first + (last - first) * t / 10.0


SKEWED = {
    "body": ph.Body(mass=100.0, inertia=skewed(0.0)),
    "mass_course": ph.mass_course((0.0, 10.0), (100.0, 40.0), inertia=(skewed(0.0), skewed(10.0))),
}


@pytest.mark.parametrize("settings", [{"method": "dop853"}, {"method": "rk4", "step": 0.01}, {"method": "auto"}])
def test_a_change_sees_the_products_of_inertia_of_that_moment(settings):
    """An angular impulse of I w doubles w; with the tensor of the start it would not."""

    @ph.event
    def later(t, state, body, params):
        return t - 8.0

    def double(t, state, body, params):
        turn = np.array(body.inertia_body) @ np.array(state.angular_velocity_body)
        return (0.0, 0.0, 0.0), ph.to_world(state.orientation, tuple(turn))

    def double_by_moments(t, state, body, params):
        turned = ph.to_body(body.axes, state.angular_velocity_body)
        turn = ph.to_world(body.axes, tuple(i * w for i, w in zip(body.moments, turned, strict=True)))
        return (0.0, 0.0, 0.0), ph.to_world(state.orientation, turn)

    for change in (double, double_by_moments):
        motion = ph.simulate(
            state=ph.State(angular_velocity_body=(0.3, -0.2, 0.4)), events=[later(change=change)], duration=8.0,
            **SKEWED, **settings,
        )  # fmt: skip
        before, after = motion.crossings[0].state.angular_velocity_body, motion.final.angular_velocity_body
        np.testing.assert_allclose(after, 2 * before, rtol=1e-12)


def test_the_torque_of_a_rotor_sees_the_products_of_inertia_of_that_moment():
    """The largest moment as the torque, in N m/(kg m2): H' is NumPy's largest eigenvalue."""

    def largest(t, state, body, params):
        return max(body.moments)

    wheel = ph.rotor((0, 0, 1), 1.0, torque=largest)
    motion = ph.simulate(rotors=[wheel], duration=10.0, rtol=1e-12, method="dop853", **SKEWED)
    expected = quad(lambda t: np.linalg.eigvalsh(skewed(t))[-1], 0.0, 10.0, epsabs=0.0, epsrel=1e-13)[0]
    np.testing.assert_allclose(motion.rotor_momentum[-1, 0], expected, rtol=1e-11)
    np.testing.assert_allclose(motion.rotor_torque[-1, 0], np.linalg.eigvalsh(skewed(10.0))[-1], rtol=1e-13)


def test_an_event_sees_the_mass():
    @ph.event
    def half(t, state, body, params):
        return body.mass - 50.0

    motion = ph.simulate(ROCKET, mass_course=burn(), events=[half()], duration=60.0)
    np.testing.assert_allclose(motion.times[-1], 50.0 / 1.5, rtol=1e-12)


@pytest.mark.parametrize("course", COURSES)
def test_a_scenario_and_a_motion_go_through_files(course, tmp_path):
    scenario = ph.Scenario(ROCKET, START, mass_course=COURSES[course](), duration=1.0, method="rk4", step=0.1)
    scenario.to_toml(tmp_path / "rocket.toml")
    motion = ph.simulate(scenario)
    assert (ph.simulate(ph.Scenario.from_toml(tmp_path / "rocket.toml")).velocity == motion.velocity).all()
    motion.save(tmp_path / "rocket.zarr")
    again = ph.load(tmp_path / "rocket.zarr")
    assert (again.mass == motion.mass).all()
    assert (again.velocity == motion.velocity).all()
    assert (again.at(0.333).velocity == motion.at(0.333).velocity).all()


@pytest.mark.parametrize(
    ("attempt", "sentence"),
    [
        (lambda: ph.mass_course((0, 1, 1), (3, 2, 1)), "increase"),
        (lambda: ph.mass_course((0, 1), (3, 2, 1)), "has the shape"),
        (lambda: ph.mass_course((0, 1), (3, np.nan)), "finite"),
        (lambda: ph.mass_course((0, 1), (3, 2), nozzle=(0, 1)), "nozzle"),
        (lambda: ph.mass_course((0, 1), lambda t: abs(t - 0.3333) + 1.0), "not smooth"),
        (lambda: ph.mass_course((0, 1), lambda t: (1.0, 2.0)), "returned"),
        (lambda: ph.simulate(ROCKET, mass_course=ph.mass_course((0, 1), (90, 80)), duration=1.0), "must agree"),
        (lambda: ph.simulate(ROCKET, mass_course=ph.mass_course((0, 1), (100, -1)), duration=1.0), "stay above 0"),
        (
            lambda: ph.simulate(ROCKET, mass_course=burn(inertia=((60, 60, 8), (5, 5, 50))), duration=1.0),
            "the inertia of the mass course at t",
        ),
        (lambda: ph.simulate(ROCKET, mass_course=5.0, duration=1.0), "ph.mass_course"),
        (
            lambda: ph.simulate(
                ROCKET, rotors=[ph.rotor((0, 0, 1), 5.0)], duration=1.0,
                mass_course=burn(inertia=((60, 60, 8), (5, 5, 4))),
            ),
            "less inertia than its rotors have, at t = 40 s",
        ),
        (lambda: ph.simulate([ROCKET], mass_course=burn(), duration=1.0), "one body"),
        (lambda: ph.simulate(ROCKET, mass_course=burn(), pivot=(0, 0, 1), duration=1.0), "pivot"),
        (lambda: ph.simulate(ROCKET, mass_course=burn(), duration=1.0, method="taylor"), "does not advance"),
        (lambda: ph.simulate(ph.particle(100.0), mass_course=burn(), duration=1.0), "particle"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(attempt, sentence):
    with pytest.raises(PolhodeError, match=sentence):
        attempt()


@pytest.mark.parametrize(
    "center", [lambda t: (0, 0, -0.2 * t * t), ((0, 0, 1e-17), (0, 0, 0)), ((0, 0, 0), (0, 0, 0.5))]
)
def test_a_center_that_begins_at_0_but_for_rounding_agrees_with_the_body(center):
    mass = (lambda t: 100.0 - 10.0 * t) if callable(center) else (100.0, 90.0)
    course = ph.mass_course((0.0, 1.0), mass, center)
    motion = ph.simulate(ROCKET, mass_course=course, duration=1.0)
    end = center(1.0) if callable(center) else center[1]
    np.testing.assert_allclose(motion.center_of_mass[-1], end, rtol=0, atol=1e-15)


def test_whether_the_center_moves():
    def moves(center):
        return ph.mass_course((0.0, 1.0, 3.0), (100.0, 90.0, 80.0), center).moves_center

    assert not moves(None)
    assert not moves(((0.1, 0.2, 0.3),) * 3)
    assert moves(((0.1, 0.2, 0.3), (0.1, 0.2, 0.3), (0.1, 0.2, 0.3001)))
    assert not ph.mass_course((0.0, 1.0), exponential, lambda t: (0.1, 0.2, 0.3)).moves_center
    assert ph.mass_course((0.0, 1.0), exponential, lambda t: (0.1, 0.2, 0.3 + 1e-6 * t)).moves_center
