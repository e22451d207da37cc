"""Splitting methods: their order on matrices and on motions, a million steps, the way back, and what is conserved.

Short runs take the laws as they stand (engine="python"): the same bits as compiled, and no compilation.
"""

from functools import lru_cache
from itertools import pairwise, permutations
from math import log2

import mpmath
import numpy as np
import pytest

import polhode as ph
from polhode.equations.formulations import FORMULATIONS
from polhode.equations.inertia import BodyConstants
from polhode.equations.quaternions import to_world
from polhode.methods.drifts import _middle_axis, rotate_about_axes, rotate_exactly
from polhode.methods.splitting_tableaus import COMPOSITIONS
from polhode.reference import problem

pytestmark = pytest.mark.filterwarnings("ignore:engine='python'")
f = ph.forces
AXES = [name for name, composition in COMPOSITIONS.items() if composition.drift == "axes"]


# Tableaus ------------------------------------------------------------------------------------------------------------
def words_of(factors, longest):
    """A product of exponentials e^(c X), given as pairs (X, c), as a series of words in letters that do not commute."""
    series = {"": mpmath.mpf(1)}
    for letter, c in factors:
        new = {}
        for word, x in series.items():
            for k in range(longest - len(word) + 1):
                new[word + letter * k] = new.get(word + letter * k, 0) + x
                x = x * c / (k + 1)
        series = new
    return series


def defects(composition, symmetric_drift):
    """By the length of the words: the largest deviation from e^(A + B), in which a word of n letters has 1/n!."""
    factors = [("B", mpmath.mpf(composition.kicks[0]))]
    for length, push in zip(composition.drifts, composition.kicks[1:], strict=True):
        x = mpmath.mpf(length)
        factors += [("C", x / 2), ("A", x), ("C", x / 2)] if symmetric_drift else [("A", x)]
        factors.append(("B", mpmath.mpf(push)))
    largest = dict.fromkeys(range(composition.order + 2), 0.0)
    for word, x in words_of(factors, composition.order + 1).items():
        n = len(word)
        largest[n] = max(largest[n], abs(float(x - 1 / mpmath.factorial(n))))
    return largest


@pytest.mark.parametrize(
    ("name", "symmetric_drift"), [(name, False) for name in COMPOSITIONS] + [(name, True) for name in AXES]
)
@mpmath.workdps(30)
def test_a_composition_meets_all_conditions_of_its_order(name, symmetric_drift):
    """All words of up to p letters, A and B, or A, B and C with e^(xC/2) e^(xA) e^(xC/2) as the drift; to the digits
    of the coefficients.  Of those with p + 1 letters not all."""
    found = defects(COMPOSITIONS[name], symmetric_drift)
    order = COMPOSITIONS[name].order
    assert max(found[n] for n in range(order + 1)) < 2e-15, found
    assert found[order + 1] > 1e-6, "its order is higher than the tableau says"


def random_matrices(count):
    rng = np.random.default_rng(4)
    return [mpmath.matrix((rng.normal(size=(4, 4)) / 4).tolist()) for _ in range(count)]


def exponential(matrix):
    total = term = mpmath.eye(4)
    k = 1
    while mpmath.mnorm(term, 1) > mpmath.mpf(10) ** -32:
        term = term * matrix / k
        total, k = total + term, k + 1
    return total


def matrix_errors(composition, halvings, symmetric_drift):
    """|composition - exp(h (A1 + A2 + B))| for h = 1/2, 1/4, ...: B kicks, and A1 + A2 drifts.

    The drift is exp(h (A1 + A2)), or a symmetric product of order 2 for it.
    """
    a1, a2, b = random_matrices(3)

    def drift(x):
        if not symmetric_drift:
            return exponential((a1 + a2) * x)
        return exponential(a1 * (x / 2)) * exponential(a2 * x) * exponential(a1 * (x / 2))

    errors = []
    for i in halvings:
        h = mpmath.mpf(2) ** -i
        product = exponential(b * (h * composition.kicks[0]))
        for length, push in zip(composition.drifts, composition.kicks[1:], strict=True):
            product = exponential(b * (h * push)) * drift(h * length) * product
        errors.append(mpmath.mnorm(product - exponential((a1 + a2 + b) * h), 1))
    return errors


@pytest.mark.parametrize("composition", COMPOSITIONS.values(), ids=COMPOSITIONS)
@mpmath.workdps(30)
def test_a_composition_has_its_order_on_matrices_that_do_not_commute(composition):
    """One step is off by h^(p+1).  Below h = 1/32 the 15 to 20 printed digits of the coefficients show in order 6."""
    errors = matrix_errors(composition, (2, 3, 4, 5) if composition.order < 6 else (2, 3, 4), symmetric_drift=False)
    assert all(abs(log2(a / b) - composition.order - 1) < 0.12 for a, b in pairwise(errors)), errors


@pytest.mark.parametrize("name", AXES)
@mpmath.workdps(30)
def test_steps_about_axes_keep_their_order_with_any_symmetric_drift(name):
    composition = COMPOSITIONS[name]
    errors = matrix_errors(composition, (2, 3, 4), symmetric_drift=True)
    assert all(abs(log2(a / b) - composition.order - 1) < 0.12 for a, b in pairwise(errors)), errors


@pytest.mark.parametrize("name", ["splitting4_exact", "splitting6_exact"])
@mpmath.workdps(30)
def test_flows_need_the_exact_drift(name):
    """With a drift of order 2 no more than that is left: these tableaus must not be given turns about axes."""
    assert COMPOSITIONS[name].drift == "exact"
    errors = matrix_errors(COMPOSITIONS[name], (4, 5), symmetric_drift=True)
    assert 2.9 < log2(errors[0] / errors[1]) < 3.1


@pytest.mark.parametrize("composition", COMPOSITIONS.values(), ids=COMPOSITIONS)
def test_a_composition_is_a_palindrome_and_its_sums_are_1(composition):
    assert composition.kicks == composition.kicks[::-1]
    assert composition.drifts == composition.drifts[::-1]
    assert len(composition.kicks) == len(composition.drifts) + 1
    assert sum(composition.kicks) == pytest.approx(1, abs=3e-16)
    assert sum(composition.drifts) == pytest.approx(1, abs=3e-16)
    assert composition.source


# Motions -------------------------------------------------------------------------------------------------------------
BODY = ph.Body(mass=2.0, inertia=(0.6, 0.8, 1.0))
OTHER = ph.Body(mass=1.0, inertia=(1.0, 1.5, 2.0))
TILTED = ph.State(quaternion_wxyz=(0.9, 0.3, -0.2, 0.1), angular_velocity_body=(2.0, -1.0, 8.0))


def simo_wong(**settings):
    return problem("simo_wong_heavy_top").scenario(**settings)


def heavy_top(**settings):
    """Three different moments, and a center of mass on no axis through the pivot."""
    return ph.Scenario(BODY, TILTED, [f.gravity()], pivot=(0.05, -0.1, -0.4), **{"duration": 1.5, **settings})


def symmetric_top(**settings):
    body = ph.Body(mass=2.0, inertia=(0.8, 0.8, 1.0))
    return ph.Scenario(body, TILTED, [f.gravity()], pivot=(0.0, 0.0, -0.4), **{"duration": 1.5, **settings})


def drag_and_thruster(**settings):
    """A force that depends on the velocity: its kicks are steps of a Runge-Kutta method.  The thruster's window, from
    1 to 3 s, holds a whole number of the steps below."""
    return problem("drag_and_thruster").scenario(**settings)


def pair(damping=0.0, **settings):
    states = [
        ph.State(angular_velocity_body=(1.0, 2.0, -0.5)),
        ph.State(position=(1.5, 0.2, 0.0), velocity=(0.0, 1.0, 0.3), angular_velocity_body=(-1.0, 0.3, 0.7)),
    ]
    spring = f.spring_between(0, 1, 20.0, (0.3, 0.1, 0.0), (-0.2, 0.0, 0.2), damping, length=1.0)
    return ph.Scenario([BODY, OTHER], states, [spring], **{"duration": 2.0, **settings})


def damped_pair(**settings):
    return pair(1.5, **settings)


def end(scenario):
    motion = ph.simulate(scenario)
    names = ("position", "quaternion_wxyz", "velocity", "angular_velocity_body")
    return np.concatenate([np.ravel(getattr(motion, name)[-1]) for name in names])


@lru_cache
def reference(make):
    plain = make(method="dop853")
    return end(make(method="dop853", rtol=1e-13, output_times=[plain.end_time], engine="python"))


STEPS = {  # above the floor of rounding, 1e-12
    simo_wong: {2: (128, 256), 4: (64, 128), 6: (64, 128)},
    heavy_top: {2: (64, 128), 4: (16, 32, 64), 6: (16, 32, 64)},
    drag_and_thruster: {2: (80, 160), 4: (40, 80), 6: (40, 80)},
    pair: {2: (64, 128), 4: (16, 32), 6: (16, 32)},
    damped_pair: {2: (64, 128), 4: (16, 32), 6: (16, 32)},
}


@pytest.mark.parametrize("make", STEPS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("composition", COMPOSITIONS.values(), ids=COMPOSITIONS)
def test_the_error_of_a_motion_falls_with_the_order(composition, make):
    """Judge: the adaptive method at rtol 1e-13."""
    duration = make(method="dop853").duration
    errors = []
    for count in STEPS[make][composition.order]:
        scenario = make(method=composition.name, step=duration / count, output_times=[duration], engine="python")
        errors.append(np.abs(end(scenario) - reference(make)).max())
    orders = [log2(a / b) for a, b in pairwise(errors)]
    # The kicks of drag are Runge-Kutta steps; here their error, of order 7 still, is the larger one.
    above = 0.8 if make is drag_and_thruster and composition.name == "splitting6_exact" else 0.2
    assert all(-0.3 < order - composition.order < above for order in orders), (errors, orders)


@ph.force
def shaken(t, state, body, params):
    """A force and a torque that depend on time only."""
    push = params[0] * ph.sin(5.0 * t)
    return (push, 0.0 * t, 0.0 * t), (0.0 * t, push, 0.5 * push)


@ph.force
def shaken_in_oil(t, state, body, params):
    """The same, and a drag that changes during a kick."""
    push = params[0] * ph.sin(5.0 * t)
    drag = tuple(-0.5 * v for v in state.velocity)
    return (push + drag[0], drag[1], drag[2]), (0.0 * t, push, 0.5 * push)


@pytest.mark.parametrize("force", [shaken, shaken_in_oil], ids=["shaken", "shaken in oil"])
@pytest.mark.parametrize("composition", COMPOSITIONS.values(), ids=COMPOSITIONS)
def test_forces_that_depend_on_time_are_taken_at_the_time_of_their_kick(composition, force):
    """Judge: the adaptive method at rtol 1e-13.  Time runs while the body drifts, and stands still in a kick."""
    start = ph.State(velocity=(1.0, 2.0, 0.0), angular_velocity_body=(1.0, 2.0, -0.5))
    settings = {"duration": 2.0, "output_times": [2.0], "engine": "python"}
    truth = end(ph.Scenario(BODY, start, [force(2.0)], method="dop853", rtol=1e-13, **settings))
    errors = [
        np.abs(end(ph.Scenario(BODY, start, [force(2.0)], method=composition.name, step=2.0 / n, **settings)) - truth)
        for n in {2: (64, 128), 4: (32, 64), 6: (16, 32)}[composition.order]
    ]
    assert abs(log2(errors[0].max() / errors[1].max()) - composition.order) < 0.3, errors


# A million steps -----------------------------------------------------------------------------------------------------
def energy_errors(make, method, step, count, **settings):
    duration, every = count * step, step * max(1, count // 1000)
    motion = ph.simulate(make(method=method, step=step, duration=duration, output_step=every, **settings))
    return np.asarray(motion.energy / motion.energy[0] - 1)


def trend(errors):
    """How far a straight line through the errors climbs, and how far they stray from it."""
    x = np.linspace(0, 1, len(errors))
    climb, start = np.polyfit(x, errors, 1)
    return abs(climb), np.std(errors - climb * x - start)


LONG = [
    ("splitting2", 1_000_000, 0.01),
    ("splitting4", 1_000_000, 0.01),
    ("splitting6", 1_000_000, 0.02),
    ("splitting2_exact", 100_000, 0.01),
    ("splitting4_exact", 100_000, 0.03),
]


@pytest.mark.parametrize(("method", "count", "step"), LONG, ids=lambda x: x if isinstance(x, str) else "")
def test_the_energy_of_an_asymmetric_heavy_top_is_bounded(method, count, step):
    errors = energy_errors(heavy_top, method, step, count)
    first, last = np.abs(errors[:101]).max(), np.abs(errors[-100:]).max()
    climb, noise = trend(errors)
    assert last <= 1.2 * first, (first, last)
    assert climb <= 0.4 * noise, (climb, noise)


def test_the_energy_of_an_asymmetric_heavy_top_is_bounded_with_splitting6_exact():
    """Few steps: to compile its ten closed forms takes longer than all other runs of this file."""
    errors = energy_errors(heavy_top, "splitting6_exact", 0.05, 400, engine="python")
    assert np.abs(errors[-100:]).max() <= 1.2 * np.abs(errors[:101]).max() < 1e-9


@pytest.mark.parametrize(("method", "step"), [("splitting2", 0.004), ("splitting4", 0.016), ("splitting6", 0.04)])
def test_the_energy_of_simo_and_wongs_heavy_top_is_bounded_over_a_million_steps(method, step):
    """Almost all of it is that of the fast spin: for order 6 what is left is rounding, 1e-14."""
    errors = energy_errors(simo_wong, method, step, 1_000_000)
    climb, noise = trend(errors)
    assert np.abs(errors[-100:]).max() <= 1.2 * np.abs(errors[:101]).max() + 1e-14
    assert climb <= 0.4 * noise + 1e-14, (climb, noise)


@pytest.mark.parametrize("make", [heavy_top, simo_wong], ids=lambda make: make.__name__)
def test_rk4_drifts_at_the_same_step(make):
    errors = energy_errors(make, "rk4", 0.01 if make is heavy_top else 0.004, 1_000_000)
    climb, noise = trend(errors)
    assert climb > 100 * noise
    assert np.abs(errors[-100:]).max() > 5 * np.abs(errors[:101]).max()


# There and back ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("method", "count"), [(name, 10_000) for name in AXES] + [("splitting2_exact", 10_000)])
def test_reversed_momenta_lead_back_to_the_start(method, count):
    settings = {"method": method, "step": 0.005, "duration": count * 0.005}
    final = ph.simulate(heavy_top(**settings)).final
    turned = ph.State(
        position=final.position,
        quaternion_wxyz=final.quaternion_wxyz,
        angular_velocity_body=-final.angular_velocity_body,
    )
    back = ph.simulate(ph.Scenario(BODY, turned, [f.gravity()], pivot=(0.05, -0.1, -0.4), **settings)).final
    assert (back.orientation * TILTED.orientation.inv()).magnitude() < 1e-11
    np.testing.assert_allclose(back.angular_velocity_body, -TILTED.angular_velocity_body, rtol=0, atol=8e-11)


# What is conserved and counted ---------------------------------------------------------------------------------------
def unaccounted(make, **settings):
    """The largest of |work - gain of kinetic energy|, against the kinetic energy; and whether there was work at all."""
    motion = ph.simulate(make(engine="python", **settings))
    work, energy = motion.work, motion.kinetic_energy
    if energy.ndim == 2:
        work, energy = work.sum(axis=-1), energy.sum(axis=-1)
    assert np.ptp(work) > 1e-4 * energy.max()
    return np.abs(work - (energy - energy[0])).max() / energy.max()


@pytest.mark.parametrize("name", [name for name in COMPOSITIONS if name not in AXES])
@pytest.mark.parametrize("make", [heavy_top, pair], ids=lambda make: make.__name__)
def test_with_exact_drifts_the_work_counted_is_the_gain_of_kinetic_energy(make, name):
    """To rounding: a kick's work is its push times the velocity in its middle, and a drift has none."""
    assert unaccounted(make, method=name, step=0.05) < 3e-14


@pytest.mark.parametrize("name", AXES)
def test_with_turns_about_axes_so_it_is_for_a_symmetric_body(name):
    assert unaccounted(symmetric_top, method=name, step=0.05) < 3e-14


@pytest.mark.parametrize("name", AXES)
def test_with_turns_about_axes_of_any_body_it_is_to_the_order(name):
    """Turns about axes of a body with three different moments change its kinetic energy by their own error."""
    order = COMPOSITIONS[name].order
    errors = [unaccounted(heavy_top, method=name, step=h, output_step=0.15) for h in (0.05, 0.025)]
    assert abs(log2(errors[0] / errors[1]) - order) < 0.3, errors


@pytest.mark.parametrize("composition", COMPOSITIONS.values(), ids=COMPOSITIONS)
@pytest.mark.parametrize("make", [pair, damped_pair], ids=lambda make: make.__name__)
def test_a_system_keeps_its_momentum(make, composition):
    """Linear, and angular about the origin, with and without damping; 1e-14 of the largest share."""
    motion = ph.simulate(make(method=composition.name, step=0.05, engine="python"))
    p = motion.linear_momentum
    about_origin = motion.angular_momentum + np.cross(motion.position, p)
    for shares in (p, about_origin):
        total = shares.sum(axis=1)
        assert np.abs(total - total[0]).max() < 1e-14 * np.abs(shares).max()


# Bits ----------------------------------------------------------------------------------------------------------------
def same_bits(one, other):
    names = ("quaternion_wxyz", "angular_velocity_body", "position", "velocity")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


@pytest.mark.parametrize("method", ["splitting4", "splitting2_exact"])
def test_the_same_bits_alone_in_an_ensemble_on_two_threads_and_in_python(method):
    rng = np.random.default_rng(3)
    spins = rng.normal(size=(40, 3)) * 3
    settings = {"method": method, "step": 0.02, "duration": 0.2, "pivot": (0.05, -0.1, -0.4)}
    crowd = [
        ph.ensemble(BODY, ph.State(angular_velocity_body=spins), [f.gravity()], threads=threads, **settings).final
        for threads in (1, 2)
    ]
    assert same_bits(*crowd)
    for i in (0, 31, 39):
        start = ph.State(angular_velocity_body=spins[i])
        alone = ph.simulate(BODY, start, [f.gravity()], **settings).final
        assert np.array_equal(alone.quaternion_wxyz, crowd[0].quaternion_wxyz[i])
        assert np.array_equal(alone.angular_velocity_body, crowd[0].angular_velocity_body[i])
        assert same_bits(alone, ph.simulate(BODY, start, [f.gravity()], engine="python", **settings).final)


def test_a_system_has_the_same_bits_compiled_and_in_python():
    for make in (pair, damped_pair):
        settings = {"method": "splitting4", "step": 0.1, "duration": 1.0}
        compiled, plain = (ph.simulate(make(engine=engine, **settings)) for engine in ("cpu", "python"))
        assert same_bits(compiled, plain)
        assert np.array_equal(compiled.work, plain.work)


# Drifts --------------------------------------------------------------------------------------------------------------
Q, SPIN = (0.7, 0.1, -0.5, 0.5), (0.8, -0.4, 0.6)


def free_body(moments):
    return BodyConstants(1.0, 1.0, moments, tuple(1 / j for j in moments), (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


def momentum_of(moments):
    return to_world(Q, tuple(j * w for j, w in zip(moments, SPIN, strict=True)))


def apart(p, q):
    p, q = (np.array(x) / np.linalg.norm(x) for x in (p, q))
    return min(np.abs(p - q).max(), np.abs(p + q).max())


@pytest.mark.parametrize("moments", list(permutations((1.0, 1.6, 2.2))), ids=str)
def test_turns_about_axes_have_order_2_against_the_closed_form(moments):
    """One drift is off by h^3: all six orders of the moments."""
    momentum, body = momentum_of(moments), free_body(moments)
    errors = [
        apart(rotate_about_axes(Q, momentum, body, h), rotate_exactly(Q, momentum, body, h))
        for h in (1 / 8, 1 / 16, 1 / 32, 1 / 64)
    ]
    assert all(abs(log2(a / b) - 3) < 0.2 for a, b in pairwise(errors)), errors


@pytest.mark.parametrize("moments", list(permutations((1.0, 1.6, 2.2))), ids=str)
def test_the_moment_in_the_middle_is_found(moments):
    """With another one in its place the drift has order 2 still, and a larger error."""
    assert moments[int(_middle_axis(moments))] == 1.6


SYMMETRIC = sorted({*permutations((1.0, 1.0, 1.7)), *permutations((1.0, 1.7, 1.7)), (1.3, 1.3, 1.3)})


@pytest.mark.parametrize("moments", SYMMETRIC, ids=str)
@pytest.mark.parametrize("h", [0.1, -1.0, 7.5])
def test_turns_about_axes_are_exact_for_symmetric_bodies_and_spheres(moments, h):
    momentum, body = momentum_of(moments), free_body(moments)
    assert apart(rotate_about_axes(Q, momentum, body, h), rotate_exactly(Q, momentum, body, h)) < 1e-14


@pytest.mark.parametrize("moments", [*permutations((1.0, 1.6, 2.2)), *SYMMETRIC], ids=str)
@pytest.mark.parametrize("turn", [rotate_about_axes, rotate_exactly])
def test_a_drift_and_its_reverse_lead_back(turn, moments):
    momentum, body = momentum_of(moments), free_body(moments)
    there = turn(Q, momentum, body, 0.5)
    assert apart(turn(there, momentum, body, -0.5), Q) < 1e-15


def test_a_body_at_rest_drifts_nowhere():
    for turn in (rotate_about_axes, rotate_exactly):
        assert turn(Q, (0.0, 0.0, 0.0), free_body((1.0, 1.6, 2.2)), 0.5) == Q


# Argument checks ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("formulation", [name for name in FORMULATIONS if name != "momentum"])
def test_other_formulations_are_refused(formulation):
    words = f"splitting4 advances momenta: it goes with formulation 'momentum', not with '{formulation}'"
    with pytest.raises(ph.PolhodeError, match=words):
        heavy_top(method="splitting4", step=0.01, formulation=formulation)
