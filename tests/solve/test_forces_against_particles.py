"""Every force of the library x {free, pivot, system} x every formulation, against sums over particles.

Eight or nine point masses replace each body.  Each particle feels its share of the force; NumPy sums forces and moments
about the center of mass or the pivot, and SciPy integrates.  None of it shares our code.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.equations.formulations import FORMULATIONS
from polhode.scenario.forces import FORCES

pytestmark = pytest.mark.filterwarnings("ignore:engine='python'")

POINT, OTHER_POINT = np.array((0.4, -0.3, 0.5)), np.array((-0.2, 0.6, 0.1))
"""Two points of each body, at which a particle without mass feels what acts there."""
PIVOT = np.array((0.5, 0.3, -0.8))
DURATION = 0.3
INSTANT = 0.13


# The particles --------------------------------------------------------------------------------------------------------
class Cloud(NamedTuple):
    masses: np.ndarray
    offsets: np.ndarray
    """From the center of mass, in body axes."""

    @property
    def body(self):
        return ph.Body(mass=self.masses.sum(), inertia=inertia(self.masses, self.offsets))


class Particles(NamedTuple):
    """The particles of one body at one time, in world axes."""

    masses: np.ndarray
    places: np.ndarray
    velocities: np.ndarray
    attitude: np.ndarray
    """Body axes to world axes."""

    @property
    def center(self):
        return self.masses @ self.places / self.masses.sum()

    @property
    def center_velocity(self):
        return self.masses @ self.velocities / self.masses.sum()

    def spin(self):
        arms, relative = self.places - self.center, self.velocities - self.center_velocity
        return np.linalg.solve(inertia(self.masses, arms), self.masses @ np.cross(arms, relative))


def cloud(seed, count):
    rng = np.random.default_rng(seed)
    masses, offsets = rng.uniform(1, 3, count), rng.uniform(-1, 1, (count, 3)) * (1.0, 0.7, 0.4)
    offsets -= masses @ offsets / masses.sum()
    return Cloud(np.append(masses, (0.0, 0.0)), np.vstack([offsets, POINT, OTHER_POINT]))


def inertia(masses, arms):
    return sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, arms, strict=True))


def spread(body, force, couple=(0.0, 0.0, 0.0)):
    """A force through the center of mass and a couple, spread over the particles as a rigid body would feel them."""
    arms = body.places - body.center
    turning = np.linalg.solve(inertia(body.masses, arms), couple)
    return body.masses[:, None] * (np.asarray(force) / body.masses.sum() + np.cross(turning, arms))


def at_point(body, force, point=-2):
    """A force on one particle."""
    forces = np.zeros_like(body.places)
    forces[point] = force
    return forces


# What each force does to the particles --------------------------------------------------------------------------------
G, CENTER, GM = np.array((1.0, -2.0, -9.0)), np.array((3.0, -4.0, 2.5)), 60.0
WIND, PUSH, TURN = np.array((0.5, -1.0, 2.0)), np.array((7.0, -4.0, 9.0)), np.array((3.0, 5.0, -2.0))
WORLD_POINT, DRAG, THRUST = np.array((1.0, 2.0, -0.5)), 4.0, 11.0
STIFFNESS, DAMPING, LENGTH = 30.0, 2.0, 0.7


def linear_field(body):
    """The field of the attracting point, to first order about the center of mass: what the gradient torque is made of.

    g(x + d) = g + (3 n n - 1) d gm/r^3
    """
    away = body.center - CENTER
    r = np.linalg.norm(away)
    n, arms = away / r, body.places - body.center
    field = -GM / r**2 * n + GM / r**3 * (3 * np.outer(arms @ n, n) - arms)
    return body.masses[:, None] * field


def pull(place, velocity, anchor, damping):
    """The force of a spring-damper on the particle at its end."""
    away = place - anchor
    length = np.linalg.norm(away)
    n = away / length
    return -(STIFFNESS * (length - LENGTH) + damping * velocity @ n) * n


def wind_force(body, law):
    return spread(body, law(body.center_velocity - WIND))


def moment(body, force):
    """The couple of a force at a point of the world, about the center of mass."""
    return np.cross(WORLD_POINT - body.center, force)


class Case(NamedTuple):
    force: ph.Force
    particles: Callable
    """(t, particles of one body) -> the force on each; of an impulse the impulse on each; of a pair (a, b) -> both"""


def pair_spring(t, a, b):
    force = pull(a.places[-2] - b.places[-1], a.velocities[-2] - b.velocities[-1], np.zeros(3), DAMPING)
    return at_point(a, force, -2), at_point(b, -force, -1)


def newton(t, a, b):
    away = a.center - b.center
    force = -5.0 * a.masses.sum() * b.masses.sum() * away / np.linalg.norm(away) ** 3
    return spread(a, force), spread(b, -force)


F = ph.forces
SINGLE = {
    "gravity": Case(F.gravity(G), lambda t, b: b.masses[:, None] * G),
    "point_gravity": Case(F.point_gravity(GM, CENTER), lambda t, b: linear_field(b)),
    "linear_drag": Case(F.linear_drag(DRAG, WIND), lambda t, b: wind_force(b, lambda u: -DRAG * u)),
    "quadratic_drag": Case(
        F.quadratic_drag(DRAG, WIND), lambda t, b: wind_force(b, lambda u: -DRAG * np.linalg.norm(u) * u)
    ),
    "rotational_drag": Case(F.rotational_drag(DRAG), lambda t, b: spread(b, np.zeros(3), -DRAG * b.spin())),
    "force_at": Case(F.force_at(PUSH, POINT), lambda t, b: at_point(b, PUSH)),
    "force_at_center": Case(F.force_at(PUSH), lambda t, b: spread(b, PUSH)),
    "force_at body axes": Case(F.force_at(PUSH, POINT, axes="body"), lambda t, b: at_point(b, b.attitude @ PUSH)),
    "force_at world point": Case(F.force_at(PUSH, point=WORLD_POINT), lambda t, b: spread(b, PUSH, moment(b, PUSH))),
    "force_at world point body axes": Case(
        F.force_at(PUSH, point=WORLD_POINT, axes="body"),
        lambda t, b: spread(b, b.attitude @ PUSH, moment(b, b.attitude @ PUSH)),
    ),
    "torque": Case(F.torque(TURN), lambda t, b: spread(b, np.zeros(3), TURN)),
    "torque body axes": Case(F.torque(TURN, axes="body"), lambda t, b: spread(b, np.zeros(3), b.attitude @ TURN)),
    "thruster": Case(
        F.thruster(POINT, PUSH, THRUST, stop=INSTANT),
        lambda t, b: at_point(b, b.attitude @ PUSH / np.linalg.norm(PUSH) * THRUST * (t < INSTANT)),
    ),
    "spring": Case(
        F.spring(STIFFNESS, WORLD_POINT, POINT, length=LENGTH),
        lambda t, b: at_point(b, pull(b.places[-2], b.velocities[-2], WORLD_POINT, 0.0)),
    ),
    "spring damped": Case(
        F.spring(STIFFNESS, WORLD_POINT, POINT, DAMPING, LENGTH),
        lambda t, b: at_point(b, pull(b.places[-2], b.velocities[-2], WORLD_POINT, DAMPING)),
    ),
    "impulse": Case(F.impulse(PUSH, INSTANT, POINT), lambda t, b: at_point(b, PUSH)),
    "impulse body axes": Case(
        F.impulse(PUSH, INSTANT, POINT, axes="body"), lambda t, b: at_point(b, b.attitude @ PUSH)
    ),
}
PAIRS = {
    "spring_between": Case(F.spring_between(0, 2, STIFFNESS, POINT, OTHER_POINT, DAMPING, LENGTH), pair_spring),
    "mutual_gravity": Case(F.mutual_gravity(G=5.0), newton),
}
CASES = SINGLE | PAIRS


# The reference --------------------------------------------------------------------------------------------------------
CLOUDS = (cloud(1, 8), cloud(2, 9), cloud(3, 8))


class Start(NamedTuple):
    position: tuple
    attitude: Rotation
    velocity: tuple
    angular_velocity_body: tuple

    def about(self, pivot):
        """The same, turning about a pivot."""
        return self._replace(velocity=tuple(self.attitude.apply(np.cross(self.angular_velocity_body, -pivot))))

    @property
    def state(self):
        return ph.State(
            position=self.position,
            orientation=self.attitude,
            velocity=self.velocity,
            angular_velocity_body=self.angular_velocity_body,
        )


STARTS = (
    Start((0.2, -0.1, 0.3), Rotation.from_euler("ZXZ", (0.3, 1.1, -0.4)), (1.0, 0.5, -0.7), (0.8, -1.1, 0.6)),
    Start((2.0, 1.5, -1.0), Rotation.from_euler("ZXZ", (-1.2, 0.9, 0.2)), (-0.5, 0.2, 0.3), (-0.4, 0.7, 1.2)),
    Start((-1.8, 2.2, 0.4), Rotation.from_euler("ZXZ", (0.8, 1.9, 2.4)), (0.1, -0.9, 0.6), (1.5, 0.2, -0.3)),
)


class Reference:
    """The motion of clouds of particles, each held together, free or about a pivot."""

    def __init__(self, clouds, starts, cases, acting, pivot=None):
        self.clouds, self.cases, self.acting, self.pivot = clouds, cases, acting, pivot
        rows = []
        for start in starts:
            w = start.attitude.apply(start.angular_velocity_body)
            rows += [*start.position, *start.attitude.as_matrix().ravel(), *start.velocity, *w, 0.0]
        self.start = np.array(rows)

    def particles(self, y):
        """The particles of each body, from its rows x, R, v, w and work."""
        bodies = []
        for cloud, row in zip(self.clouds, y.reshape(-1, 19), strict=True):
            x, attitude, v, w = row[:3], row[3:12].reshape(3, 3), row[12:15], row[15:18]
            arms = cloud.offsets @ attitude.T
            bodies.append(Particles(cloud.masses, x + arms, v + np.cross(w, arms), attitude))
        return bodies

    def forces(self, t, bodies, impulses=False):
        """The force on every particle of every body, or the impulse."""
        total = [np.zeros_like(body.places) for body in bodies]
        for case in self.cases:
            if (case.force.kind == "impulse") != impulses:
                continue
            if case.force.kind != "pair":
                for i in self.acting:
                    total[i] += case.particles(t, bodies[i])
                continue
            every = [(a, b) for a in range(len(bodies)) for b in range(a + 1, len(bodies))]
            for a, b in [case.force.bodies] if case.force.bodies else every:
                on_a, on_b = case.particles(t, bodies[a], bodies[b])
                total[a], total[b] = total[a] + on_a, total[b] + on_b
        return total

    def change(self, body, forces, row, gyroscopic):
        """Linear and angular acceleration, or for impulses the jumps of v and w, where nothing is gyroscopic."""
        w = row[15:18] if gyroscopic else np.zeros(3)
        about = body.center if self.pivot is None else row[:3] + body.attitude @ self.pivot
        arms, r = body.places - about, body.center - about
        tensor = inertia(body.masses, arms)
        turning = np.linalg.solve(tensor, np.cross(arms, forces).sum(axis=0) - np.cross(w, tensor @ w))
        if self.pivot is None:
            return forces.sum(axis=0) / body.masses.sum(), turning
        return np.cross(turning, r) + np.cross(w, np.cross(w, r)), turning

    def rate(self, t, y):
        bodies, rates = self.particles(y), []
        rows = y.reshape(-1, 19)
        for body, row, forces in zip(bodies, rows, self.forces(t, bodies), strict=True):
            acceleration, turning = self.change(body, forces, row, True)
            spin = np.cross(row[15:18], body.attitude, axisb=0, axisc=0)
            rates += [*row[12:15], *spin.ravel(), *acceleration, *turning, (forces * body.velocities).sum()]
        return np.array(rates)

    def jump(self, y):
        y = y.copy()
        bodies, rows = self.particles(y), y.reshape(-1, 19)
        for body, row, impulses in zip(bodies, rows, self.forces(INSTANT, bodies, impulses=True), strict=True):
            v, w = self.change(body, impulses, row, False)
            jumps = v + np.cross(w, body.places - body.center)
            row[18] += body.masses @ ((body.velocities + jumps / 2) * jumps).sum(axis=1)
            row[12:15] += v
            row[15:18] += w
        return y

    def solve(self, times):
        """The rows of every body at the times: the first before INSTANT, where impulses act and thrusters stop."""
        settings = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-12}
        before = solve_ivp(self.rate, (0.0, INSTANT), self.start, t_eval=times[times < INSTANT], **settings)
        middle = solve_ivp(self.rate, (0.0, INSTANT), self.start, **settings).y[:, -1]
        later = times[times > INSTANT]
        after = solve_ivp(self.rate, (INSTANT, times[-1]), self.jump(middle), t_eval=later, **settings)
        return np.hstack([before.y, after.y]).T.reshape(len(times), -1, 19)


def check(motion, reference, expected=None):
    """The motion, its accelerations, reactions, work and potential energy against the particles."""

    def by_body(values):
        return values if motion.axis == "body" else values[:, None]

    expected = reference.solve(motion.times) if expected is None else expected
    attitudes = by_body(motion.rotation_matrix).reshape(*expected.shape[:2], 9)
    vectors = [by_body(v) for v in (motion.position, motion.velocity, motion.angular_velocity)]
    found = np.concatenate([vectors[0], attitudes, *vectors[1:], by_body(motion.work)[..., None]], axis=-1)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=2e-9)
    for k, t in enumerate(motion.times):
        bodies = reference.particles(found[k].ravel())
        each = zip(bodies, reference.forces(t, bodies), found[k], strict=True)
        changes = [(body, forces, reference.change(body, forces, row, True)[0]) for body, forces, row in each]
        accelerations = [acceleration for _, _, acceleration in changes]
        np.testing.assert_allclose(by_body(motion.acceleration)[k], accelerations, rtol=1e-11, atol=1e-11)
        if reference.pivot is not None:
            body, forces, acceleration = changes[0]
            reaction = body.masses.sum() * acceleration - forces.sum(axis=0)
            np.testing.assert_allclose(motion.reaction_force[k], reaction, rtol=1e-11, atol=1e-9)
    if all(case.force.potential is not None for case in reference.cases):
        lost = motion.potential_energy[0] - motion.potential_energy
        np.testing.assert_allclose(lost, expected[:, :, 18].sum(axis=1), atol=1e-8)


SETTINGS = {"duration": DURATION, "output_step": 0.1, "rtol": 1e-12}
BODIES = {
    "free": ((0,), None, None),
    "pivot": ((0,), PIVOT, None),
    "system": ((0, 1, 2), None, (0, 2)),
}
"""Which clouds, the pivot, and which bodies of a system the forces on single bodies act on."""


def run(cases, kind, **settings):
    """A motion and its reference."""
    indices, pivot, acting = BODIES[kind]
    clouds = [CLOUDS[i] for i in indices]
    starts = [STARTS[i] if pivot is None else STARTS[i].about(pivot) for i in indices]
    forces = [case.force if acting is None or case.force.kind == "pair" else case.force.on(*acting) for case in cases]
    bodies, states = [cloud.body for cloud in clouds], [start.state for start in starts]
    given = (bodies, states) if kind == "system" else (bodies[0], states[0])
    motion = ph.simulate(*given, forces, pivot=pivot, **(SETTINGS | settings))
    return motion, Reference(clouds, starts, cases, acting or (0,), pivot)


# The tests ------------------------------------------------------------------------------------------------------------
def test_no_force_of_the_library_is_missed():
    flight = {
        "aerodynamics",
        "drag",
        "earth_gravity",
        "magnetic_torquer",
    }  # against SciPy and NASA's data: tests/flight
    assert {case.force.name for case in CASES.values()} == set(FORCES) - flight


COMBINATIONS = [(name, kind) for name in CASES for kind in BODIES if kind == "system" or name in SINGLE]


@pytest.mark.parametrize(("name", "kind"), COMBINATIONS)
def test_a_force_in_every_formulation_against_the_sum_over_particles(name, kind):
    expected = None
    for formulation in FORMULATIONS:
        motion, reference = run([CASES[name]], kind, method="dop853", formulation=formulation, engine="python")
        expected = reference.solve(motion.times) if expected is None else expected
        check(motion, reference, expected)


@pytest.mark.parametrize("method", ["dop853", "taylor"])
@pytest.mark.parametrize("kind", BODIES)
def test_all_forces_at_once_against_the_sum_over_particles(kind, method):
    if method == "taylor":
        pytest.importorskip("heyoka")
    cases = CASES if kind == "system" else SINGLE
    check(*run(list(cases.values()), kind, method=method))


@pytest.mark.parametrize(("name", "kind"), [(name, kind) for name, kind in COMBINATIONS if kind != "pivot"])
def test_the_derivative_for_other_solvers_against_the_sum_over_particles(name, kind):
    motion, reference = run([CASES[name]], kind, method="euler", step=0.1, engine="python")
    bodies = reference.particles(reference.start)
    y = np.concatenate([s.to_array(b) for s, b in zip(motion.scenario.states, motion.scenario.bodies, strict=True)])
    rates = motion.scenario.derivative(0.0, y).reshape(-1, 13)
    for rate, body, forces in zip(rates, bodies, reference.forces(0.0, bodies), strict=True):
        np.testing.assert_allclose(rate[7:10], forces.sum(axis=0), atol=1e-12, rtol=1e-12)
        torque = np.cross(body.places - body.center, forces).sum(axis=0)
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
        motion, reference = run(cases, "pivot", method="dop853", engine="python", duration=1.0, output_step=1.0)
        last = reference.solve(motion.times)[-1, 0]
        errors.append(np.abs(motion.rotation_matrix[-1].ravel() - last[3:12]).max())
    assert errors[0] < 0.05
    assert all(1.8 < a / b < 2.2 for a, b in pairwise(errors)), errors
