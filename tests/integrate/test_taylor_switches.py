"""Taylor series where forces switch branches, against SciPy on held branches with located switches."""

from dataclasses import replace

import numpy as np
import pytest
from tests.helpers.piecewise_reference import integrate_piecewise

import polhode as ph

NONE = (0.0, 0.0, 0.0)
KNOTS, VALUES = (-0.7, -0.2, 0.1, 0.5), (1.3, 0.2, -0.1, -1.0)


@ph.force
def two_springs(t, state, body, params):
    x = state.position[0] - params[2]
    return (ph.if_less(x, 0.0, -params[0] * x, -params[1] * x), 0.0, 0.0), NONE


@ph.force
def spring_by_table(t, state, body, params):
    return (params[0] * ph.interp(state.position[0], KNOTS, VALUES), 0.0, 0.0), NONE


@ph.force
def one_way_damper(t, state, body, params):
    v = state.velocity[0] - params[1]
    return (ph.if_less(v, 0.0, 0.0, -params[0] * v), 0.0, 0.0), NONE


@ph.force
def push_by_attitude(t, state, body, params):
    q = state.orientation
    return (ph.if_less(q[0] * q[0] - q[3] * q[3], params[1], params[0], -params[0]), 0.0, 0.0), NONE


@ph.force
def push_by_time(t, state, body, params):
    return (ph.if_less(ph.sin(params[1] * t), params[2], params[0], -params[0]), 0.0, 0.0), NONE


@ph.force
def wall(t, state, body, params):
    return (ph.if_less(params[1], state.position[0], -params[0], 0.0), 0.0, 0.0), NONE


def table_spring(x, held):
    """The spring of the table on the line that the held branches name, one branch for each knot."""
    at = 4 - sum(held)
    if at in (0, 4):
        return VALUES[0 if at == 0 else -1]
    slope = (VALUES[at] - VALUES[at - 1]) / (KNOTS[at] - KNOTS[at - 1])
    return slope * (x - KNOTS[at - 1]) + VALUES[at - 1]


class Case:
    """A random particle on a line: forces that switch, a window, impulses and breaks, and the same for SciPy."""

    duration = 4.0

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.mass, self.spin = rng.uniform(0.5, 2), rng.uniform(0.5, 8)
        self.forces, self.pushes, self.functions, self.jumps = [], [], [], {}
        kinds = [self.add_damper, self.add_attitude, self.add_time, self.add_wall]
        for add in [rng.choice([self.add_springs, self.add_table]), *rng.choice(kinds, rng.integers(0, 3), False)]:
            add(rng)
        self.breaks = tuple(rng.uniform(0, self.duration, rng.integers(0, 4)).tolist())
        self.cuts = list(self.breaks)
        for t, push in rng.uniform(0.1, 1, (rng.integers(0, 3), 2)) * (self.duration, 0.5):
            self.forces.append(ph.forces.impulse((push, 0, 0), t))
            self.jumps[t] = np.array([0, push / self.mass])
        if rng.random() < 0.5:
            self.add_window(rng)
        self.cuts += self.jumps
        self.start = (rng.choice([0.0, rng.uniform(-0.8, 0.8)]), rng.uniform(-2, 2))

    def add(self, force, function, push):
        at = len(self.functions)
        self.forces.append(force)
        self.functions.append(function)
        self.pushes.append(lambda t, y, held: push(t, y, held[at]))

    def add_springs(self, rng):
        a, b, edge = rng.uniform(0.5, 30), rng.uniform(0.5, 30), rng.choice([0.0, rng.uniform(-0.2, 0.2)])
        push = lambda t, y, low: -(a if low else b) * (y[0] - edge)  # noqa: E731
        self.add(two_springs(a, b, edge), lambda t, y: y[0] - edge, push)

    def add_table(self, rng):
        a, first = rng.uniform(1, 8), len(self.functions)
        self.forces.append(spring_by_table(a))
        self.functions += [lambda t, y, knot=knot: y[0] - knot for knot in KNOTS]
        self.pushes.append(lambda t, y, held: a * table_spring(y[0], held[first : first + 4]))

    def add_damper(self, rng):
        c, edge = rng.uniform(0.1, 1), rng.uniform(-0.5, 0.5)
        push = lambda t, y, low: 0.0 if low else -c * (y[1] - edge)  # noqa: E731
        self.add(one_way_damper(c, edge), lambda t, y: y[1] - edge, push)

    def add_attitude(self, rng):
        a, edge = rng.uniform(0.1, 2), rng.uniform(-0.7, 0.7)
        self.add(
            push_by_attitude(a, edge), lambda t, y: np.cos(self.spin * t) - edge, lambda t, y, low: a if low else -a
        )

    def add_time(self, rng):
        a, rate, edge = rng.uniform(0.1, 2), rng.uniform(0.5, 5), rng.uniform(-0.7, 0.7)
        function = lambda t, y: np.sin(rate * t) - edge  # noqa: E731
        self.add(push_by_time(a, rate, edge), function, lambda t, y, low: a if low else -a)

    def add_wall(self, rng):
        a, edge = rng.uniform(5, 500), rng.uniform(0.1, 0.4)
        self.add(wall(a, edge), lambda t, y: edge - y[0], lambda t, y, low: -a if low else 0.0)

    def add_window(self, rng):
        thrust, (a, b) = rng.uniform(0.2, 2), sorted(rng.uniform(0, self.duration, 2))
        self.forces.append(ph.forces.thruster(NONE, (1, 0, 0), thrust, a, b))
        self.pushes.append(lambda t, y, held: thrust * np.cos(self.spin * t) if a <= t < b else 0.0)
        self.cuts += [a, b]

    @property
    def body(self):
        return ph.Body(self.mass, (1.0, 1.0, 1.5))

    def state(self, start):
        return ph.State(position=(start[0], 0, 0), velocity=(start[1], 0, 0), angular_velocity_body=(0, 0, self.spin))

    def exact(self, start, times, cuts=()):
        def rate(t, y, held):
            return [y[1], sum(push(t, y, held) for push in self.pushes) / self.mass]

        return integrate_piecewise(rate, self.functions, start, times, [*self.cuts, *cuts], self.jumps)


TIMES = np.linspace(0, Case.duration, 9)[1:]
SETTINGS = {"duration": Case.duration, "output_times": TIMES, "method": "taylor", "rtol": 1e-13}


@pytest.mark.parametrize("seed", range(40))
def test_forces_that_switch_beside_breaks_impulses_and_windows(seed):
    """One body; a system of two; an ensemble; a stepper in many advances: each seed is another of these."""
    case = Case(seed)
    starts = [case.start, (case.start[0] + 0.05, case.start[1])]
    states = [case.state(start) for start in starts]
    settings = {**SETTINGS, "breaks": case.breaks}
    if seed % 4 == 1:
        bodies = [case.body, case.body]
        forces = [*case.forces, ph.forces.spring_between(0, 1, 1e-300)]  # a system that moves as two
        found = ph.simulate(bodies, states, forces, **settings).position[..., 0]
    elif seed % 4 == 2:
        positions = [(start[0], 0, 0) for start in starts]
        motion = ph.ensemble(case.body, replace(states[0], position=positions), case.forces, **settings)
        found = motion.position[..., 0]
    elif seed % 4 == 3:
        scenario = ph.Scenario(
            case.body, states[0], case.forces, **{k: v for k, v in settings.items() if k != "output_times"}
        )
        stepper, found = ph.Stepper(scenario), []
        for t in np.union1d(TIMES, np.random.default_rng(seed).uniform(0, Case.duration, 20)):
            stepper.advance(t - stepper.time)
            found += [[stepper.state.position[0]]] * (t in TIMES)
    else:
        found = ph.simulate(case.body, states[0], case.forces, **settings).position[:, :1]
    for i, column in enumerate(np.array(found).T):
        assert np.abs(column - case.exact(starts[i], TIMES)[:, 0]).max() < 1e-10
