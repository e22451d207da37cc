"""Bodies as clouds of particles, integrated by SciPy: what forces and functions of a user are judged by.

Each particle feels its share of a force; NumPy sums over particles, and SciPy integrates.  None of it shares our code.
A body may have wheels (rings of particles that spin), particles that lose mass, and a fluid around it.  With
u = (v, w, wheel speeds), J of each particle its velocity's derivative by u, and M = sum of m J^T J plus the fluid's:

    (M u)' = sum of J^T F + (0, P x v, motor torques) + what leaves,

as far as a pivot lets u change.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

import polhode as ph

POINT, OTHER_POINT = np.array((0.4, -0.3, 0.5)), np.array((-0.2, 0.6, 0.1))
"""Two points of each body, from its center of mass, at which a particle without mass feels what acts there."""
SETTINGS = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-12}


def inertia(masses, arms):
    products = (masses[:, None] * arms).T @ arms
    return np.trace(products) * np.eye(3) - products


PERMUTATIONS = np.zeros((3, 3, 3))
for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    PERMUTATIONS[i, j, k], PERMUTATIONS[i, k, j] = 1.0, -1.0


def crossing(vectors):
    """The matrices of the cross products with vectors, (..., 3, 3)."""
    return np.dot(vectors, PERMUTATIONS)


def cross(a, b):
    """a x b; NumPy's takes twenty times as long."""
    return (crossing(a) @ np.asarray(b)[..., None])[..., 0]


# Bodies ---------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Wheel:
    """Four particles on a circle, which turn about its axis, and a motor."""

    axis: np.ndarray
    center: np.ndarray
    """In the coordinates of the cloud."""
    mass: float
    radius: float
    speed: float
    torque: Callable[..., float] | float
    """Of the motor on the wheel: (t, state, body, params) as Polhode calls it, or a number."""
    known: Callable[..., float]
    """(t, particles) -> the same torque, from the particles."""

    @property
    def places(self):
        one = cross(self.axis, (0.3, -0.7, 0.2))
        one *= self.radius / np.linalg.norm(one)
        other = cross(self.axis, one)
        return self.center + np.array((one, other, -one, -other))

    def rotor(self, body=0):
        return ph.rotor(self.axis, self.mass * self.radius**2, speed=self.speed, torque=self.torque, body=body)


@dataclass(frozen=True, eq=False)
class Cloud:
    masses: np.ndarray
    places: np.ndarray
    """In body axes, from the center of mass at the start."""
    wheels: tuple[Wheel, ...] = ()
    rates: np.ndarray | None = None
    """How fast each particle's mass changes."""
    nozzle: np.ndarray | None = None
    exhaust_velocity: np.ndarray | None = None
    added: np.ndarray | None = None
    """6 x 6, of the fluid around it."""
    own_body: Any = None
    """A body with a shape that has the mass and the inertia of the cloud."""
    changes_mass_alone: bool = False
    """Whether what is lost is at the center of mass."""

    @cached_property
    def all_places(self):
        return np.vstack([self.places, *(wheel.places for wheel in self.wheels)])

    def masses_at(self, t):
        now = self.masses if self.rates is None else self.masses + self.rates * t
        return np.concatenate([now, *(np.full(4, wheel.mass / 4) for wheel in self.wheels)])

    @property
    def all_rates(self):
        own = np.zeros(len(self.masses)) if self.rates is None else self.rates
        return np.concatenate([own, np.zeros(4 * len(self.wheels))])

    def center_at(self, t):
        masses = self.masses_at(t)
        return masses @ self.all_places / masses.sum()

    def center_rate(self, t):
        return self.all_rates @ (self.all_places - self.center_at(t)) / self.masses_at(t).sum()

    def tensor_at(self, t):
        return inertia(self.masses_at(t), self.all_places - self.center_at(t))

    @property
    def body(self):
        if self.own_body is not None:
            return self.own_body
        return ph.Body(mass=self.masses_at(0.0).sum(), inertia=self.tensor_at(0.0), center_of_mass=self.center_at(0.0))

    def mass_course(self, end):
        if self.rates is None:
            return None
        functions = (lambda t: self.masses_at(t).sum(), self.center_at, self.tensor_at)
        given = functions[:1] if self.changes_mass_alone else functions
        return ph.mass_course((0.0, end), *given, exhaust_velocity=self.exhaust_velocity, nozzle=self.nozzle)


def cloud(seed, count, **more):
    rng = np.random.default_rng(seed)
    masses, places = rng.uniform(1, 3, count), rng.uniform(-1, 1, (count, 3)) * (1.0, 0.7, 0.4)
    made = Cloud(masses, places, **more)
    start = made.center_at(0.0)
    wheels = tuple(replace(wheel, center=wheel.center - start) for wheel in made.wheels)
    nozzle = None if made.nozzle is None else made.nozzle - start
    return replace(made, places=places - start, wheels=wheels, nozzle=nozzle)


# The particles at one time --------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Particles:
    """The particles of one body at one time, in world axes; the last two are the points without mass."""

    cloud: Cloud
    t: float
    center: np.ndarray
    attitude: np.ndarray
    """Body axes to world axes."""
    u: np.ndarray
    """v, w and the wheels' speeds."""
    masses: np.ndarray = field(init=False)
    arms: np.ndarray = field(init=False)
    jacobian: np.ndarray = field(init=False)
    """(particles, 3, numbers of u)"""
    matrix: np.ndarray = field(init=False)

    def __post_init__(self):
        cloud, turn = self.cloud, self.attitude
        from_center = np.vstack([cloud.all_places - cloud.center_at(self.t), POINT, OTHER_POINT])
        masses, arms = np.append(cloud.masses_at(self.t), (0.0, 0.0)), from_center @ turn.T
        jacobian = self._jacobian(arms, [turn @ wheel.axis for wheel in cloud.wheels])
        matrix = np.einsum("p,pki,pkj->ij", masses, jacobian, jacobian)
        if cloud.added is not None:
            both = np.kron(np.eye(2), turn)
            matrix[:6, :6] += both @ cloud.added @ both.T
        for name, value in (("masses", masses), ("arms", arms), ("jacobian", jacobian), ("matrix", matrix)):
            object.__setattr__(self, name, value)

    def _jacobian(self, arms, axes):
        made = np.zeros((len(arms), 3, 6 + len(axes)))
        made[:, :, :3], made[:, :, 3:6] = np.eye(3), -crossing(arms)
        for k, axis in enumerate(axes):
            on = self.of_wheel(k)
            made[on, :, 6 + k] = cross(axis, arms[on] - arms[on].mean(axis=0))
        return made

    def of_wheel(self, k):
        first = len(self.cloud.masses) + 4 * k
        return slice(first, first + 4)

    @property
    def places(self):
        return self.center + self.arms

    @property
    def velocities(self):
        return self.jacobian @ self.u

    @property
    def mass(self):
        return self.masses.sum()

    @property
    def center_velocity(self):
        return self.u[:3]

    @property
    def w(self):
        return self.u[3:6]

    @property
    def speeds(self):
        return self.u[6:]

    @property
    def momenta(self):
        """P, L about the center of mass, and those of the wheels along their axes."""
        return self.matrix @ self.u

    @property
    def tensor(self):
        """In world axes, of all particles."""
        return inertia(self.masses, self.arms)

    @property
    def kinetic_energy(self):
        return self.u @ self.matrix @ self.u / 2

    def matrix_rate(self):
        """M': by the motion of the particles, and by their masses."""
        cloud, w = self.cloud, self.w
        axes = [self.attitude @ wheel.axis for wheel in cloud.wheels]
        drift = self.attitude @ cloud.center_rate(self.t)
        arm_rates = cross(w, self.arms) - drift
        for k, axis in enumerate(axes):
            on = self.of_wheel(k)
            arm_rates[on] += self.speeds[k] * cross(axis, self.arms[on] - self.arms[on].mean(axis=0))
        changes = self._jacobian(arm_rates, axes)
        changes[:, :, :3] = 0.0
        for k, axis in enumerate(axes):
            on = self.of_wheel(k)
            changes[on, :, 6 + k] += cross(cross(w, axis), self.arms[on] - self.arms[on].mean(axis=0))
        half = np.einsum("p,pki,pkj->ij", self.masses, changes, self.jacobian)
        rates = np.append(cloud.all_rates, (0.0, 0.0))
        total = half + half.T + np.einsum("p,pki,pkj->ij", rates, self.jacobian, self.jacobian)
        if cloud.added is not None:
            both, turning = np.kron(np.eye(2), self.attitude), np.kron(np.eye(2), crossing(w))
            fluid = both @ cloud.added @ both.T
            total[:6, :6] += turning @ fluid - fluid @ turning
        return total

    def motors(self):
        return np.array([wheel.known(self.t, self) for wheel in self.cloud.wheels])

    def generalized(self, forces):
        """What acts along each number of u."""
        return np.einsum("pki,pk->i", self.jacobian, forces)

    def freedom(self, pivot):
        """u = B z, and B'."""
        n = len(self.u)
        if pivot is None:
            return np.eye(n), np.zeros((n, n))
        r = -self.attitude @ pivot
        b, rate = np.vstack([np.zeros((3, n - 3)), np.eye(n - 3)]), np.zeros((n, n - 3))
        b[:3, :3], rate[:3, :3] = -crossing(r), -crossing(cross(self.w, r))
        return b, rate

    def accelerations(self, forces, pivot):
        """u'."""
        acting = self.generalized(forces)
        acting[3:6] += cross(self.momenta[:3], self.center_velocity)
        acting[6:] += self.motors()
        if self.cloud.rates is not None:
            r = self.attitude @ (self.cloud.nozzle - self.cloud.center_at(self.t))
            leaving, v, w = self.attitude @ self.cloud.exhaust_velocity, self.center_velocity, self.w
            flow = self.cloud.all_rates.sum()
            acting[:3] += flow * (leaving + v + 2 * cross(w, r))
            acting[3:6] += flow * cross(r, leaving + cross(w, r))
        b, rate = self.freedom(pivot)
        z = self.u if pivot is None else self.u[3:]
        left = b.T @ (acting - self.matrix_rate() @ self.u - self.matrix @ rate @ z)
        return b @ np.linalg.solve(b.T @ self.matrix @ b, left) + rate @ z

    def jump(self, impulses, pivot):
        """How u jumps at generalized impulses."""
        b, _ = self.freedom(pivot)
        return b @ np.linalg.solve(b.T @ self.matrix @ b, b.T @ impulses)


def spread(body, force, couple=(0.0, 0.0, 0.0)):
    """A force through the center of mass and a couple, spread over the particles as a rigid body would feel them.

    The couple acts on what carries the wheels, whose bearings take no torque along their axes.
    """
    carried = body.of_wheel(0).start if body.cloud.wheels else len(body.masses)
    masses = np.where(np.arange(len(body.masses)) < carried, body.masses, 0.0)
    arms = body.arms - masses @ body.arms / masses.sum()
    turning = np.linalg.solve(inertia(masses, arms), couple)
    return body.masses[:, None] * np.asarray(force) / body.mass + masses[:, None] * cross(turning, arms)


def at_point(body, force, point=-2):
    """A force on one particle."""
    forces = np.zeros_like(body.places)
    forces[point] = force
    return forces


class Case(NamedTuple):
    force: ph.Force
    particles: Callable
    """(t, particles of one body) -> the force on each; of an impulse the impulse on each; of a pair (a, b) -> both"""
    potential: Callable | None = None
    """(t, particles) -> its potential energy, if it is not known by its work."""


class Change(NamedTuple):
    """An event that changes the momenta of a body."""

    function: Callable
    """(t, particles) -> the number that crosses zero."""
    impulses: Callable
    """(t, particles) -> the jump of P and of L about the center of mass."""
    body: int = 0


# The reference --------------------------------------------------------------------------------------------------------
class Start(NamedTuple):
    position: tuple
    attitude: Rotation
    velocity: tuple
    angular_velocity_body: tuple

    def about(self, pivot):
        """The same, turning about a pivot."""
        return self._replace(velocity=tuple(self.attitude.apply(cross(self.angular_velocity_body, -pivot))))

    @property
    def state(self):
        return ph.State(
            position=self.position,
            orientation=self.attitude,
            velocity=self.velocity,
            angular_velocity_body=self.angular_velocity_body,
        )


@dataclass(eq=False)
class Reference:
    """The motion of clouds of particles, each held together, free or about a pivot."""

    clouds: list[Cloud]
    starts: list[Start]
    cases: list[Case]
    acting: tuple[int, ...]
    """The bodies that forces on single bodies act on."""
    pivot: np.ndarray | None = None
    change: Change | None = None
    instant: float = 0.13
    """When impulses act and thrusters stop."""

    def __post_init__(self):
        self.event_time = None
        rows, self.places, end = [], [], 0
        for cloud, start in zip(self.clouds, self.starts, strict=True):
            w = start.attitude.apply(start.angular_velocity_body)
            speeds = [wheel.speed for wheel in cloud.wheels]
            row = [*start.position, *start.attitude.as_matrix().ravel(), *start.velocity, *w, *speeds, 0.0]
            self.places.append(slice(end, end + len(row)))
            end += len(row)
            rows += row
        self.start = np.array(rows)

    def particles(self, t, y):
        """The particles of each body, from its row x, R, v, w, speeds of wheels and work."""
        rows = [y[place] for place in self.places]
        return [
            Particles(cloud, t, row[:3], row[3:12].reshape(3, 3), row[12:-1])
            for cloud, row in zip(self.clouds, rows, strict=True)
        ]

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

    def accelerations(self, t, bodies):
        """u' of every body."""
        return [b.accelerations(f, self.pivot) for b, f in zip(bodies, self.forces(t, bodies), strict=True)]

    def rate(self, t, y):
        bodies, rates = self.particles(t, y), []
        forces = self.forces(t, bodies)
        for body, acting in zip(bodies, forces, strict=True):
            spin = crossing(body.w) @ body.attitude
            power = (acting * body.velocities).sum() + body.motors() @ body.speeds
            rates += [*body.center_velocity, *spin.ravel(), *body.accelerations(acting, self.pivot), power]
        return np.array(rates)

    def kicked(self, t, y, impulses):
        """y after generalized impulses on each body."""
        y = y.copy()
        for place, body, given in zip(self.places, self.particles(t, y), impulses, strict=True):
            row, jump = y[place], body.jump(given, self.pivot)
            row[-1] += jump @ body.matrix @ (body.u + jump / 2)
            row[12:-1] += jump
        return y

    def _at_instant(self, t, y):
        bodies = self.particles(t, y)
        given = self.forces(t, bodies, impulses=True)
        return self.kicked(t, y, [b.generalized(f) for b, f in zip(bodies, given, strict=True)])

    def _at_event(self, t, y):
        bodies, k = self.particles(t, y), self.change.body
        given = [np.zeros(len(body.u)) for body in bodies]
        given[k][:3], given[k][3:6] = self.change.impulses(t, bodies[k])
        return self.kicked(t, y, given)

    def solve(self, times):
        """The rows of every body at the times, none of which is the instant or the time of the event."""
        self.event_time = None
        y, now, rows = self.start, 0.0, []
        for end, finish in ((self.instant, self._at_instant), (times[-1], None)):
            if self.event_time is None and self.change is not None:
                self.event_time = self._event_between(now, end, y)
                if self.event_time is not None:
                    found, y = self._advance(now, self.event_time, y, times)
                    now, y = self.event_time, self._at_event(self.event_time, y)
                    rows += found
            found, y = self._advance(now, end, y, times)
            rows, now, y = rows + found, end, y if finish is None else finish(end, y)
        return np.array(rows)

    def _advance(self, a, b, y, times):
        wanted = times[(times >= a) & (times < b)] if b < times[-1] else times[times >= a]
        found = solve_ivp(self.rate, (a, b), y, t_eval=np.union1d(wanted, b), **SETTINGS).y.T
        return list(found[: len(wanted)]), found[-1]

    def _event_between(self, a, b, y):
        """When the function of the event crosses zero, each try integrated anew."""

        def value(t):
            row = y if t == a else self._advance(a, t, y, np.array([t]))[1]
            return self.change.function(t, self.particles(t, row)[self.change.body])

        return brentq(value, a, b, xtol=1e-13, rtol=1e-13) if value(a) * value(b) < 0 else None


# A run and its judgment -----------------------------------------------------------------------------------------------
STARTS = (
    Start((0.2, -0.1, 0.3), Rotation.from_euler("ZXZ", (0.3, 1.1, -0.4)), (1.0, 0.5, -0.7), (0.8, -1.1, 0.6)),
    Start((2.0, 1.5, -1.0), Rotation.from_euler("ZXZ", (-1.2, 0.9, 0.2)), (-0.5, 0.2, 0.3), (-0.4, 0.7, 1.2)),
    Start((-1.8, 2.2, 0.4), Rotation.from_euler("ZXZ", (0.8, 1.9, 2.4)), (0.1, -0.9, 0.6), (1.5, 0.2, -0.3)),
)
PIVOT = np.array((0.5, 0.3, -0.8))
DURATION = 0.3
OUTPUTS = {"duration": DURATION, "output_step": 0.1}


class Part(NamedTuple):
    """What bodies have attached, or stand on."""

    clouds: tuple[Cloud, ...]
    pivot: np.ndarray | None = None
    acting: tuple[int, ...] | None = None
    """Which bodies of a system the forces on single bodies act on."""
    settings: Mapping = MappingProxyType({})

    @property
    def is_system(self):
        return len(self.clouds) > 1


def run(cases, part, event=None, change=None, **settings):
    """A motion and its reference."""
    starts = [start if part.pivot is None else start.about(part.pivot) for start in STARTS[: len(part.clouds)]]
    acting = part.acting
    forces = [case.force if acting is None or case.force.kind == "pair" else case.force.on(*acting) for case in cases]
    bodies, states = [cloud.body for cloud in part.clouds], [start.state for start in starts]
    given = (bodies, states) if part.is_system else (bodies[0], states[0])
    rotors = [wheel.rotor(b) for b, cloud in enumerate(part.clouds) for wheel in cloud.wheels]
    added = [cloud.added for cloud in part.clouds]
    parts = {
        "pivot": part.pivot,
        "rotors": rotors,
        "mass_course": part.clouds[0].mass_course(2 * DURATION),
        "added_mass": None if all(one is None for one in added) else added if part.is_system else added[0],
        "events": [] if event is None else [event],
    }
    kept = {name: value for name, value in parts.items() if value is not None}
    motion = ph.simulate(*given, forces, **(OUTPUTS | {"rtol": 1e-12} | kept | dict(part.settings) | settings))
    return motion, Reference(list(part.clouds), starts, list(cases), acting or (0,), part.pivot, change)


def close(found, expected, **tolerances):
    np.testing.assert_allclose(found, expected, **({"rtol": 1e-8, "atol": 2e-9} | tolerances))


def check(motion, reference, expected=None):
    """The motion, its accelerations, reactions, work, energies and momenta against the particles."""

    def by_body(values):
        return values if motion.axis == "body" else values[:, None]

    jumps = [crossing.time for crossing in motion.crossings]
    kept = [k for k, t in enumerate(motion.times) if t not in jumps]
    times = motion.times[kept]
    expected = reference.solve(times) if expected is None else expected
    vectors = [by_body(v)[kept] for v in (motion.position, motion.rotation_matrix, motion.velocity)]
    vectors += [by_body(motion.angular_velocity)[kept], by_body(motion.work)[kept]]
    own = list(carried_rotors(reference.clouds))
    rows = []
    for b, cloud in enumerate(reference.clouds):
        found = [vector[:, b].reshape(len(times), -1) for vector in vectors]
        if cloud.wheels:
            found.insert(-1, motion.rotor_speed[kept][:, own[b]])
        rows += found
    states = np.hstack(rows)
    close(states, expected)
    if reference.event_time is not None:
        close([crossing.time for crossing in motion.crossings], [reference.event_time], atol=1e-10)
    judge, drifting = {"rtol": 1e-11, "atol": 1e-11}, {"rtol": 1e-10, "atol": 1e-10}  # of a matrix that drifts
    energies, momenta, turning, accelerations = (
        by_body(v)[kept]
        for v in (motion.kinetic_energy, motion.linear_momentum, motion.angular_momentum, motion.acceleration)
    )
    spins = by_body(motion.angular_acceleration)[kept] if reference.clouds[0].rates is None else None
    for k, t in enumerate(times):
        bodies = reference.particles(t, states[k])
        forces = reference.forces(t, bodies)
        for b, (body, acting) in enumerate(zip(bodies, forces, strict=True)):
            rates = body.accelerations(acting, reference.pivot)
            close(accelerations[k, b], rates[:3], **judge)
            if spins is not None:
                close(spins[k, b], rates[3:6], **drifting)
            close(energies[k, b], body.kinetic_energy, **drifting)
            close(momenta[k, b], body.momenta[:3], **drifting)
            close(turning[k, b], body.momenta[3:6], **drifting)
            if body.cloud.wheels:
                close(motion.rotor_momentum[kept][k, own[b]], body.momenta[6:], **judge)
                close(motion.rotor_torque[kept][k, own[b]], body.motors(), **judge)
        if reference.pivot is not None:
            reaction = bodies[0].mass * rates[:3] - forces[0].sum(axis=0)
            close(motion.reaction_force[kept][k], reaction, rtol=1e-11, atol=1e-9)
        known = [(case.potential, case.force.bodies or reference.acting) for case in reference.cases]
        if known and all(potential is not None for potential, _ in known):
            energy = sum(potential(t, bodies[b]) for potential, acting in known for b in acting)
            close(motion.potential_energy[kept][k], energy, **judge)
    conservative = all(case.force.potential is not None and case.potential is None for case in reference.cases)
    others = reference.change is not None or any(c.wheels or c.rates is not None for c in reference.clouds)
    if conservative and not others:  # whose work is that of the forces alone
        work = np.array([row[place.stop - 1] for row in expected for place in reference.places])
        close(
            motion.potential_energy[0] - motion.potential_energy[kept],
            work.reshape(len(times), -1).sum(axis=1),
            atol=1e-8,
        )
    return expected


def carried_rotors(clouds):
    """Which rotors each body carries."""
    end = 0
    for cloud in clouds:
        yield slice(end, end + len(cloud.wheels))
        end += len(cloud.wheels)
