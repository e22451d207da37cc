"""Embedded pairs against the order conditions, SciPy's tables, Hairer's programs, and closed forms."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import log2, prod

import numpy as np
import pytest
from scipy.integrate._ivp import rk as scipy_pairs

import polhode as ph
from polhode.equations.law import law
from polhode.methods.dense_output import build_interpolant, dense_stages, evaluate_interpolant, interpolant_coefficients
from polhode.methods.low_order_pairs import BS3, RK45, TSIT5
from polhode.methods.registry import METHODS
from polhode.methods.runge_kutta import evaluate_stages, growth_factor, next_clock, step_factor, tableau_stages
from polhode.reference.free_rotation import AsymmetricTop

PAIRS = {name: method.tableau for name, method in METHODS.items() if method.tableau and method.tableau.control}
RATIONAL = {"bs3", "rk45"}
NAMES = list(PAIRS)
EMBEDDED = {"bs3": 2, "rk45": 4, "tsit5": 4, "vern7": 6, "vern9": 8}
"""The order of the embedded method; DOP853 has two, which are tested with its tableau."""


# Rooted trees --------------------------------------------------------------------------------------------------------
@cache
def trees(order):
    return sorted({tuple(sorted(branches)) for branches in forests(order - 1)})


@cache
def forests(size):
    if size == 0:
        return frozenset({()})
    return frozenset(
        tuple(sorted((tree, *rest)))
        for first in range(1, size + 1)
        for tree in trees(first)
        for rest in forests(size - first)
    )


def vertices(tree):
    return 1 + sum(vertices(branch) for branch in tree)


def density(tree):
    return vertices(tree) * prod(density(branch) for branch in tree)


class Stages:
    """The elementary weights of all stages, those of dense output included: exact, or in 19 digits."""

    def __init__(self, name):
        table = PAIRS[name]
        rows = [list(row) for row in table.coordinate_rows]
        if not table.is_fsal:
            rows.append(list(table.coordinate_weights))
        rows += [list(row) for row in table.dense.rows]
        count, kind = len(rows), object if name in RATIONAL else np.longdouble
        self.table, self.one = table, Fraction(1) if name in RATIONAL else np.longdouble(1)
        self.matrix = np.array([[*row, *[0] * (count - len(row))] for row in rows], dtype=kind)
        self.known = {}

    def of(self, tree):
        if tree not in self.known:
            product = np.array([self.one] * len(self.matrix))
            for branch in tree:
                product = product * self.matrix.dot(self.of(branch))
            self.known[tree] = product
        return self.known[tree]

    def defects(self, order, weights, part=1):
        """sum b phi - part^order/gamma, for all trees of an order."""
        weights = np.array([*weights, *[0] * (len(self.matrix) - len(weights))], dtype=self.matrix.dtype)
        return [weights.dot(self.of(t)) - self.one * part**order / density(t) for t in trees(order)]

    def sums(self, order, weights):
        weights = np.array([*weights, *[0] * (len(self.matrix) - len(weights))], dtype=self.matrix.dtype)
        return [weights.dot(self.of(t)) for t in trees(order)]


@cache
def stages(name):
    return Stages(name)


def largest(values):
    return max(abs(float(v)) for v in values)


@pytest.mark.parametrize("name", NAMES)
def test_a_pair_has_its_order_by_the_rooted_trees_and_no_more(name):
    of, table = stages(name), PAIRS[name]
    for order in range(1, table.order + 1):
        worst = largest(of.defects(order, table.coordinate_weights))
        assert worst == 0 if name in RATIONAL else worst < 1e-13
    assert largest(of.defects(table.order + 1, table.coordinate_weights)) > 1e-6
    for node, row in zip(table.nodes, table.coordinate_rows, strict=True):
        assert abs(sum(row) - node) < 1e-13


@pytest.mark.parametrize("name", EMBEDDED)
def test_the_error_row_is_the_difference_to_a_method_of_the_order_below(name):
    of, table = stages(name), PAIRS[name]
    (row,) = table.control.error_rows
    for order in range(1, EMBEDDED[name] + 1):
        worst = largest(of.sums(order, row))
        assert worst == 0 if name in RATIONAL else worst < 1e-14
    assert largest(of.sums(EMBEDDED[name] + 1, row)) > 1e-6
    assert table.control.order == EMBEDDED[name] + 1


@pytest.mark.parametrize(("ours", "theirs"), [(RK45, scipy_pairs.RK45), (BS3, scipy_pairs.RK23)], ids=["rk45", "bs3"])
def test_a_pair_has_scipys_coefficients(ours, theirs):
    count = theirs.n_stages
    assert [float(c) for c in ours.nodes[:count]] == list(theirs.C)
    for i, row in enumerate(ours.coordinate_rows[:count]):
        assert [float(a) for a in row] == list(theirs.A[i, :i])
    assert [float(b) for b in ours.coordinate_weights[:count]] == list(theirs.B)
    assert [float(e) for e in ours.control.error_rows[0]] == list(-theirs.E)  # the step less the embedded one


@pytest.mark.parametrize("name", NAMES)
def test_which_pairs_end_with_the_first_slope_of_the_next_step(name):
    assert PAIRS[name].is_fsal == (name in {"bs3", "rk45", "tsit5"})


# The interpolant -----------------------------------------------------------------------------------------------------
def weights_inside(name, theta):
    """b_i(theta) of every stage: the interpolant of a step in which only one slope is not 0."""
    of, table = stages(name), PAIRS[name]
    count, end = len(of.matrix), len(table.nodes) - 1 if table.is_fsal else len(table.nodes)
    used, _, _, _ = dense_stages(table, lambda x: x)
    members = [*used, *range(len(table.nodes), count)]
    weights = []
    for i in range(count):
        k = [of.one * (i == j) for j in range(count)]
        rise = sum((b * s for b, s in zip(table.coordinate_weights, k, strict=False)), 0 * of.one)
        rows = tuple(tuple(row[j] for j in members) for row in table.dense.curve_rows)
        curve = interpolant_coefficients(
            ((0 * of.one,),), ((rise,),), of.one, tuple(((k[j],),) for j in members), ((k[end],),), rows
        )
        weights.append(evaluate_interpolant(((0 * of.one,),), theta, curve)[0][0])
    return weights


@pytest.mark.parametrize("name", [name for name in NAMES if name != "dop853"])
def test_the_interpolant_has_its_order_by_the_rooted_trees(name):
    """sum b_i(theta) phi_i = theta^n/gamma for all trees up to its order: exactly, or to rounding."""
    of, order = stages(name), PAIRS[name].dense.order
    assert order == {"bs3": 3, "rk45": 4, "tsit5": 4, "vern7": 7, "vern9": 9}[name]
    for theta in (of.one / 8, of.one * 3 / 8, of.one * 5 / 7, of.one * 15 / 16):
        weights = weights_inside(name, theta)
        for n in range(1, order + 1):
            worst = largest(of.defects(n, weights, theta))
            assert worst == 0 if name in RATIONAL else worst < 3e-14


@law
def _pendulum(t, y, data):
    """x'' = -x + x^3/6 - t x'/10, and a sum beside it."""
    (x, v), _, _ = y
    return ((v, -x + x * x * x / 6 - t * v / 10), (0.0 * t,), (x * v + t * t,))


def interpolant_of_step(table, y, h):
    k, new = evaluate_stages(_pendulum, tableau_stages(table), 0.5, y, h, (), (), y)
    curve = build_interpolant(table, _pendulum)(0.5, y, new, h, tuple(k[i] for i in dense_stages(table).used), ())
    return k, new, curve


@pytest.mark.parametrize("name", NAMES)
def test_the_error_inside_a_step_falls_with_the_power_after_the_order_of_the_interpolant(name):
    table, fine, y = PAIRS[name], tableau_stages(PAIRS["vern9"]), ((1.0, 0.3), (1.0,), (0.2,))

    def error(h, theta):
        exact = y
        for i in range(20):
            exact = evaluate_stages(_pendulum, fine, 0.5 + i * theta * h / 20, exact, theta * h / 20, (), (), exact)[1]
        found = evaluate_interpolant(y, theta, interpolant_of_step(table, y, h)[2])
        return max(abs(a - b) for one, other in zip(found, exact, strict=True) for a, b in zip(one, other, strict=True))

    # In the next halvings the errors of the pairs of order 7 and 9 would be rounding.
    steps = {3: (0.1, 0.05), 5: (0.1, 0.05), 7: (0.8, 0.4), 8: (0.8, 0.4), 9: (2.0, 1.0)}[table.order]
    coarse, fine_error = (max(error(h, theta) for theta in (0.13, 0.37, 0.62, 0.84)) for h in steps)
    order = log2(coarse / fine_error) - 1
    assert order > table.dense.order - 0.35
    assert order < table.dense.order + (0.5 if table.order < 7 else 1.5)


@pytest.mark.parametrize("name", NAMES)
def test_the_interpolant_begins_and_ends_with_the_step_and_its_slopes(name):
    y, h, small = ((1.0, 0.3), (1.0,), (0.2,)), 0.5, 1e-6
    k, new, curve = interpolant_of_step(PAIRS[name], y, h)
    for theta, value, slope in ((0.0, y, k[0]), (1.0, new, _pendulum(0.5 + h, new, ()))):
        at, ahead, behind = (evaluate_interpolant(y, theta + d, curve) for d in (0.0, small, -small))
        for group, other, rate, a, b in zip(at, value, slope, ahead, behind, strict=True):
            assert group == pytest.approx(other, rel=1e-15)
            assert (np.array(a) - b) / (2 * small * h) == pytest.approx(rate, abs=1e-8)


# Steps ---------------------------------------------------------------------------------------------------------------
def orbit(t, y, data):
    """x'' = -x/|x|^3"""
    (x, z), _, (u, v), _ = y
    r = (x * x + z * z) ** 1.5
    return ((u, v), (), (-x / r, -z / r), ())


@pytest.mark.parametrize("name", NAMES)
def test_the_error_of_steps_falls_with_the_order_over_one_orbit(name):
    """An ellipse of eccentricity 0.4, which closes after 2 pi."""
    table = PAIRS[name]
    made, errors = tableau_stages(table), []
    for count in {3: (192, 384, 768), 5: (96, 192, 384), 7: (48, 96, 192), 8: (40, 80, 160), 9: (18, 36, 72)}[
        table.order
    ]:
        y, h = ((0.6, 0.0), (), (0.0, (1.4 / 0.6) ** 0.5), ()), 2 * np.pi / count
        for i in range(count):
            y = evaluate_stages(orbit, made, i * h, y, h, (), (), y)[1]
        errors.append(np.hypot(y[0][0] - 0.6, y[0][1]))
    orders = [log2(a / b) for a, b in pairwise(errors)]
    assert abs(orders[-1] - table.order) < (0.3 if table.order < 7 else 0.7), orders


# The controller ------------------------------------------------------------------------------------------------------
def dopri5_step(h, error, before, was_rejected):
    """Lines 460 to 520 of Hairer's DOPRI5, with its standard beta: (the next h, what it remembers as FACOLD)."""
    beta, safe, shrinks, grows = 0.04, 0.9, 1 / 0.2, 1 / 10.0
    fac11 = error ** (0.2 - beta * 0.75)
    fac = max(grows, min(shrinks, fac11 / before**beta / safe))
    if error <= 1:
        new = h / fac
        return (min(new, h) if was_rejected else new), max(error, 1e-4)
    return h / min(shrinks, fac11 / safe), before


@pytest.mark.parametrize("table", [RK45, TSIT5], ids=["rk45", "tsit5"])
def test_steps_follow_from_errors_as_in_dopri5(table):
    rng = np.random.default_rng(5)
    clock, h, before, was_rejected = (0.0, 0.01, 0.0, 0.0, 0.0), 0.01, 1e-4, False
    for _ in range(60):
        error = float(10.0 ** rng.uniform(-9, 1.5))
        clock = next_clock(clock, 1e300, h, error, table.control)
        h, before = dopri5_step(h, error, before, was_rejected)
        was_rejected = error > 1
        assert clock[1] == pytest.approx(h, rel=1e-13)
        assert (clock[2] > 0) == was_rejected
        h = clock[1]


@pytest.mark.parametrize("name", NAMES)
def test_the_factor_is_between_a_fifth_and_ten_and_safe_at_an_error_of_one(name):
    control = PAIRS[name].control
    assert step_factor(1.0, control) == pytest.approx(0.9, rel=1e-15)
    assert step_factor(0.0, control) == growth_factor(0.0, 1.0, control) == 10.0
    assert step_factor(1e30, control) == 0.2
    slope = np.log(step_factor(0.9, control) / step_factor(0.1, control)) / np.log(0.1 / 0.9)
    assert slope == pytest.approx(1 / control.order - 0.75 * control.beta, rel=1e-12)


# Runs ----------------------------------------------------------------------------------------------------------------
pytestmark = pytest.mark.filterwarnings("ignore:engine='python'")
BODY = ph.Body(2.0, (1.0, 2.0, 2.5))
THROWN = ph.State(position=(0.0, 0.0, 1.0), velocity=(3.0, 1.0, 5.0), angular_velocity_body=(0.1, 2.0, 0.3))
AIR = [ph.forces.gravity(), ph.forces.quadratic_drag(0.3), ph.forces.rotational_drag(0.05)]
NEW = [name for name in NAMES if name != "dop853"]
"""DOP853 is in all the other tests."""


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("formulation", ["momentum", "body_rates"])
def test_a_tumbling_body_against_the_closed_form(name, formulation):
    """The error at outputs inside the steps, for a tolerance and one a thousandth of it."""
    rates, errors = (0.5, 1.0, 2.0), []
    for rtol in (1e-5, 1e-8):
        motion = ph.simulate(
            BODY, ph.State(angular_velocity_body=rates), duration=10.0, rtol=rtol, output_step=0.05, method=name,
            formulation=formulation,
        )  # fmt: skip
        exact = AsymmetricTop((1.0, 2.0, 2.5), rates).rates_at(motion.times)
        errors.append(np.abs(motion.angular_velocity_body - exact).max() / np.linalg.norm(rates))
        assert errors[-1] < 300 * rtol
    assert errors[1] < errors[0] / 100


@pytest.mark.parametrize("name", [name for name in NAMES if name != "dop853"])
def test_a_pair_needs_fewer_steps_for_its_order(name):
    """Of two tolerances a factor of 1e3 apart: about 1000^(1/q) times as many steps, q the order of the estimate."""
    start = ph.State(position=(1.0, 0.0, 0.0), velocity=(0.0, 0.9, 0.0))
    counts = [
        ph.simulate(
            ph.particle(1.0), start, [ph.forces.point_gravity(1.0)], duration=20.0, rtol=rtol, method=name
        ).steps
        for rtol in (1e-6, 1e-9)
    ]
    assert counts[1] / counts[0] == pytest.approx(1000 ** (1 / PAIRS[name].control.order), rel=0.15)


@pytest.mark.parametrize("name", NAMES)
def test_output_times_do_not_change_the_steps(name):
    start = ph.State(velocity=(3.0, 1.0, 5.0), angular_velocity_body=(0.1, 2.0, 0.3))
    forces = [ph.forces.gravity(), ph.forces.quadratic_drag(0.3), ph.forces.rotational_drag(0.05)]
    runs = [
        ph.simulate(BODY, start, forces, duration=2.0, method=name, rtol=1e-6, **outputs)
        for outputs in ({"output_times": [2.0]}, {"output_step": 0.013}, {})
    ]
    for run in runs[1:]:
        assert run.steps == runs[0].steps
        assert np.array_equal(run.final.to_array(BODY), runs[0].final.to_array(BODY))
    again = ph.simulate(BODY, start, forces, duration=2.0, method=name, rtol=1e-6, output_times=[1.234, 2.0])
    assert np.array_equal(runs[0].at(1.234).position, again.position[0])  # resumed from within the run


def same_motion(a, b):
    return all(
        np.array_equal(getattr(a, name), getattr(b, name))
        for name in ("times", "position", "quaternion_wxyz", "velocity", "angular_velocity_body")
    )


@ph.event
def height(t, state, body, params):
    return state.position[2]


@ph.event
def climb(t, state, body, params):
    return state.velocity[2]


def turn_back(t, state, body, params):
    return (0.0 * t, 0.0 * t, -1.8 * state.linear_momentum[2]), (0.0 * t, 0.0 * t, 0.0 * t)


def bounce():
    """A body that turns back at the floor, and an event that is only watched."""
    return [height(direction=-1, change=turn_back), climb(action="record")]


CASES = {
    "alone": lambda **more: ph.simulate(BODY, THROWN, AIR, duration=1.0, output_step=0.07, **more),
    "to its end only": lambda **more: ph.simulate(BODY, THROWN, AIR, duration=1.0, output_times=[1.0], **more),
    "impulse and thruster": lambda **more: ph.simulate(
        BODY, THROWN,
        [*AIR, ph.forces.impulse((0, 1, 0), 0.3, (0.1, 0, 0)), ph.forces.thruster((0.1, 0, 0), (0, 0, 1), 4, 0.5, 0.9)],
        duration=1.0, output_step=0.07, **more,
    ),
    "events": lambda **more: ph.simulate(
        BODY, THROWN, AIR[:1], duration=2.0, output_step=0.11, events=bounce(), **more
    ),
    "system": lambda **more: ph.simulate(
        [BODY, BODY], [THROWN, ph.State()], [*AIR, ph.forces.spring_between(0, 1, 5.0)], duration=1.0, output_step=0.07,
        **more,
    ),
    "pivot": lambda **more: ph.simulate(
        BODY, ph.State(angular_velocity_body=(0.1, 2.0, 0.3)), AIR[:1], pivot=(0.1, 0.0, 0.5), duration=1.0,
        output_step=0.07, **more,
    ),
    "rotors in a rocket": lambda **more: ph.simulate(
        BODY, THROWN, AIR[:1],
        rotors=[ph.rotor((0, 0, 1), 0.01, speed=30.0, torque=0.1), ph.rotor((1, 1, 0), 1e-5, torque=1e-4)],
        mass_course=ph.mass_course((0.0, 0.8), (2.0, 1.5), exhaust_velocity=(0.0, 0.0, -5.0)),
        duration=1.0, output_step=0.07, **more,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", NEW)
def test_compiled_runs_have_the_bits_of_plain_python(name, case):
    compiled, plain = (CASES[case](method=name, rtol=1e-6, engine=engine) for engine in ("cpu", "python"))
    assert same_motion(compiled, plain)
    assert compiled.steps == plain.steps


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", NEW)
def test_all_cases_agree_with_dop853(name, case):
    """Of the same tolerance; where a body bounces an error grows."""
    one = CASES[case](method=name, rtol=1e-7 if name == "bs3" else 1e-10)
    other = CASES[case](method="dop853", rtol=1e-12)
    bound = 3e-6 if name == "bs3" else 3e-9
    assert np.abs(one.position - other.position).max() < bound * np.abs(other.position).max()
    assert np.abs(one.quaternion_wxyz - other.quaternion_wxyz).max() < bound
    if "rotors" in case:
        scale = np.abs(other.rotor_speed).max(axis=0)
        assert (np.abs(one.rotor_speed - other.rotor_speed).max(axis=0) < bound * scale).all()


@pytest.mark.parametrize("events", [False, True], ids=["no events", "events"])
@pytest.mark.parametrize("name", NEW)
def test_members_have_the_bits_that_they_have_alone(name, events):
    rng = np.random.default_rng(6)
    state = ph.State(
        position=(0.0, 0.0, 1.0), velocity=rng.normal(size=(37, 3)), angular_velocity_body=rng.normal(size=(37, 3))
    )
    settings = {"duration": 1.0, "method": name, "rtol": 1e-6, "output_times": [0.4, 1.0]}
    if events:
        settings["events"] = bounce()
    scenario = ph.Scenario(BODY, state, AIR, **settings)
    many = ph.ensemble(scenario)
    for i in (0, 5, 31, 36):
        alone = ph.simulate(scenario.take(i))
        assert np.array_equal(alone.position, many.position[:, i])
        assert np.array_equal(alone.quaternion_wxyz, many.quaternion_wxyz[:, i])


@pytest.mark.parametrize("name", NEW)
def test_a_stepper_goes_on_and_back_to_the_same_bits(name):
    def made():
        return ph.Stepper(BODY, THROWN, AIR, method=name, rtol=1e-7)

    stepper, again = made(), made()
    for t in (0.1, 0.25, 0.4):
        stepper.advance_to(t)
        again.advance_to(t)
    saved = stepper.save()
    stepper.advance_to(0.9)
    first = stepper.state.position
    stepper.restore(saved)
    stepper.advance_to(0.9)
    again.advance_to(0.9)
    assert np.array_equal(stepper.state.position, first)
    assert np.array_equal(again.state.position, first)
