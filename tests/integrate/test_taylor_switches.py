"""Taylor series where forces switch branches, against SciPy on held branches with located switches."""

import signal
import time
from dataclasses import replace

import numpy as np
import pytest
from tests.helpers.piecewise_reference import integrate_piecewise

import polhode as ph

NONE = (0.0, 0.0, 0.0)
FINE = {"method": "taylor", "rtol": 1e-13}
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


def test_a_switch_exactly_at_a_break():
    """Breaks where SciPy finds the switches, and a hair beside them."""
    for seed, beside in ((1, 0.0), (2, 1e-14), (3, -1e-12), (5, 1e-9)):
        case, found = Case(seed), []
        case.functions = [watched(f, found) for f in case.functions]
        exact = case.exact(case.start, TIMES)[:, 0]
        assert found
        breaks = tuple(t + beside for t in np.unique(np.round(found, 15)) if 0.01 < t < 3.99)
        motion = ph.simulate(case.body, case.state(case.start), case.forces, **SETTINGS, breaks=breaks + case.breaks)
        assert np.abs(motion.position[:, 0] - exact).max() < 1e-10


def watched(function, found):
    """The function, which notes the times when it is zero to rounding: SciPy's root finder comes there."""

    def value(t, y):
        result = function(t, y)
        if 0 < abs(result) < 1e-15:
            found.append(t)
        return result

    return value


@ph.event
def passing(t, state, body, params):
    return params[1] * (state.position[0] - params[0])


def test_events_between_switches():
    """Where the springs meet and at a place beside it: half periods of two springs, x = sin t and -sin(2 t)/2."""
    events = [passing(0.0, 1.0, action="record"), passing(0.25, 1.0, action="record")]
    start, breaks = ph.State(velocity=(1.0, 0, 0)), (0.1, 4.0, np.pi)
    motion = ph.simulate(
        ph.particle(1.0), start, [two_springs(4.0, 1.0, 0.0)], duration=14, events=events, breaks=breaks, **FINE
    )
    half, period = np.pi, 1.5 * np.pi
    meets = sorted([k * period for k in (1, 2)] + [half + k * period for k in (0, 1, 2)])
    up = np.arcsin(0.25)
    beside = sorted([up + k * period for k in range(3)] + [half - up + k * period for k in range(3)])
    found = {at: [c.time for c in motion.run_result.crossings if c.event == at] for at in (0, 1)}
    assert found[0] == pytest.approx([t for t in meets if t < 14], abs=1e-12)
    assert found[1] == pytest.approx([t for t in beside if t < 14], abs=1e-12)


@pytest.mark.parametrize("away", [2.0, 1e9])
def test_an_event_hides_no_error_of_the_motion(away):
    """x = cos 3 t, and an event near by, or so far away that its function is large: heyoka measures errors by it."""
    start, spring = ph.State(position=(1.0, 0, 0)), ph.forces.spring(9.0, NONE)
    motion = ph.simulate(
        ph.particle(1.0), start, [spring], duration=10, events=[passing(-away, 1.0)], output_step=0.5, **FINE
    )
    assert np.abs(motion.position[:, 0] - np.cos(3 * motion.times)).max() < 1e-12


def test_outputs_change_no_bit_of_the_end():
    for seed in (0, 4, 8):
        case = Case(seed)
        given = (case.body, case.state(case.start), case.forces)
        settings = {**SETTINGS, "breaks": case.breaks}
        ends = [ph.simulate(*given, **{**settings, "output_times": t}).final for t in (TIMES[-1:], TIMES)]
        many = {**settings, "output_times": None, "output_step": 0.01}
        ends.append(ph.simulate(*given, **many).final)
        assert len({(*end.position, *end.velocity, *end.quaternion_wxyz) for end in ends}) == 1


@pytest.mark.parametrize("members", [1, 16])
def test_an_interrupt_ends_a_run_at_once(members):
    """A run of hours, of one body or in lanes, and Ctrl-C after two seconds."""

    def interrupt(*_):
        raise KeyboardInterrupt

    place = np.linspace((1, 0, 0), (2, 1, 0), members)
    body, forces = ph.Body(1.0, (1, 2, 3)), [ph.forces.spring(3.0, NONE)]
    settings = {"duration": 1e8, "output_times": [1e8], "method": "taylor"}
    run, state = (ph.simulate, ph.State(position=place[0])) if members == 1 else (ph.ensemble, ph.State(position=place))
    before = signal.signal(signal.SIGALRM, interrupt)
    began = time.perf_counter()
    signal.setitimer(signal.ITIMER_REAL, 2.0)
    try:
        with pytest.raises(KeyboardInterrupt):
            run(body, state, forces, **settings)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.perf_counter() - began < 15
