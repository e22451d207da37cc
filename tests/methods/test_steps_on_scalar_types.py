"""Whole RK4 steps, with gravity, quadratic drag, a thruster and a spring, on every scalar type."""

from fractions import Fraction
from itertools import pairwise

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
import sympy

from law_samples import BODY, H, T, vector
from polhode.equations import force_laws, right_hand_side
from polhode.equations.formulations import FORMULATIONS
from polhode.methods import runge_kutta
from polhode.methods.tableaus import LEAPFROG, RK4
from scalar_types import (
    bits,
    by_fractions,
    by_heyoka,
    by_jax,
    by_jax_jit,
    by_machine_code,
    by_mpmath,
    by_numpy,
    error,
    in_floats,
    lane,
    leaves,
    mapped,
    refilled,
)

START = (vector(1, 2, 3, over=2), vector(2, 4, 5, 6, over=9), vector(3, -1, 2, over=4), vector(5, 7, -4, over=8))
"""x, q, P, L"""

DRAG = (Fraction(1, 4), vector(1, 0, 2, over=2))
ENGINE = (vector(1, 0, -2, over=4), vector(0, 3, 8), (Fraction(0), T + H / 2))  # stops in the middle of the step
SPRING = (Fraction(40), Fraction(1, 2), Fraction(3, 4), vector(1, 2, -1, over=4), vector(0, 1, 4))
DOWN = (vector(0, 0, -10),)

LOAD = right_hand_side.sum_forces(
    (force_laws.gravity, force_laws.quadratic_drag, force_laws.thruster, force_laws.spring)
)
PARAMS = (DOWN, DRAG, ENGINE, SPRING)
ROOTLESS = right_hand_side.sum_forces(
    (force_laws.gravity, force_laws.linear_drag, force_laws.thruster, force_laws.body_torque)
)
ROOTLESS_PARAMS = (DOWN, DRAG, ENGINE, DOWN)

ROTATED = ("momentum", "body_rates", "quaternion_acceleration")
"""The formulations that take no root and no sine."""


def rk4(formulation, load=LOAD, number=float):
    return runge_kutta.build_step(
        RK4, right_hand_side.build_right_hand_side(FORMULATIONS[formulation], load, counts_work=True), number
    )


def arguments(formulation, params=PARAMS):
    """(t, y, h, data), the state in floats' exact values; its last group is the work done."""
    start = FORMULATIONS[formulation].start
    y = start(*mapped(float, START), mapped(float, BODY)) + ((0.0,),)
    return (T, mapped(Fraction, y), H, (BODY, params))


def in_mpmath(ratio):
    return mpmath.mpf(ratio.numerator) / ratio.denominator


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_step_has_the_same_bits_on_floats_numpy_and_machine_code(formulation):
    step = rk4(formulation)
    lanes = [lane(arguments(formulation), i) for i in range(3)]
    floats = [bits(in_floats(step, args)) for args in lanes]
    assert [bits(got) for got in by_numpy(step, lanes)] == floats
    assert [bits(got) for got in by_machine_code(step, lanes)] == floats


def test_a_step_about_a_pivot_with_chosen_and_turned_loads_has_the_same_bits():
    """What a run closes over: a pivot, a load on chosen bodies only, a torque in body axes."""
    chosen, turned = (
        right_hand_side.restrict_to_bodies(force_laws.linear_drag),
        right_hand_side.convert_body_torque(force_laws.world_torque),
    )
    load = right_hand_side.sum_forces((force_laws.gravity, chosen, turned))
    form = FORMULATIONS["body_rates"]._replace(is_held=True)
    step = runge_kutta.build_step(RK4, right_hand_side.build_right_hand_side(form, load, counts_work=True))
    t, y, h, _ = arguments("body_rates")
    data = (BODY, (DOWN, (Fraction(1), DRAG), (vector(1, 2, 3, over=4),)))
    lanes = [lane((t, y, h, data), i) for i in range(3)]
    floats = [bits(in_floats(step, args)) for args in lanes]
    assert [bits(got) for got in by_numpy(step, lanes)] == floats
    assert [bits(got) for got in by_machine_code(step, lanes)] == floats


def test_leapfrog_with_rescaled_stages_has_the_same_bits_and_order_two():
    """The error of a free wobble falls fourfold, against RK4 with steps of a hundredth."""
    free = FORMULATIONS["momentum"]
    step = runge_kutta.build_step(
        LEAPFROG, right_hand_side.build_right_hand_side(free, right_hand_side.no_load, rescaled=True)
    )
    finer = runge_kutta.build_step(RK4, right_hand_side.build_right_hand_side(free, right_hand_side.no_load))
    data = (mapped(float, BODY), ())

    def end(method, count):
        y, h = mapped(float, START), 1 / count
        for i in range(count):
            y, _ = free.renormalize(method(i * h, y, h, data), h)
        return np.array(y[1])

    reference = end(finer, 3200)
    errors = [np.abs(end(step, count) - reference).max() for count in (32, 64, 128)]
    assert all(1.9 < np.log2(a / b) < 2.1 for a, b in pairwise(errors)), errors
    lanes = [lane((T, START, H, (BODY, ())), i) for i in range(3)]
    floats = [bits(in_floats(step, args)) for args in lanes]
    assert [bits(got) for got in by_numpy(step, lanes)] == floats
    assert [bits(got) for got in by_machine_code(step, lanes)] == floats


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize(("runs", "tolerance"), [(by_mpmath, 1e-15), (by_jax, 1e-15), (by_heyoka, 1e-15)])
def test_a_step_agrees_with_its_floats_on(runs, tolerance, formulation):
    step, args = rk4(formulation), arguments(formulation)
    (got,) = runs(step, [args])
    assert error(got, in_floats(step, args)) < tolerance


def test_a_step_agrees_with_its_floats_on_compiled_jax():
    step, args = rk4("momentum"), arguments("momentum")
    (got,) = by_jax_jit(step, [args])
    assert error(got, in_floats(step, args)) < 1e-15


@pytest.mark.parametrize("formulation", ROTATED)
def test_a_step_without_roots_is_exact_on_fractions(formulation):
    exact, floats = rk4(formulation, ROOTLESS, Fraction), rk4(formulation, ROOTLESS)
    args = arguments(formulation, ROOTLESS_PARAMS)
    (got,) = by_fractions(exact, [args])
    assert error(got, in_floats(floats, args)) < 1e-15


@pytest.mark.parametrize("formulation", [*ROTATED, "momentum_matrix"])
def test_a_step_with_roots_is_refused_on_fractions(formulation):
    with pytest.raises(ValueError, match="is irrational: use floats or mpmath"):
        rk4(formulation, LOAD, Fraction)(*arguments(formulation))


def test_a_step_of_symbolic_length_equals_the_exact_one():
    """SymPy writes the step as a formula in h; put in a length, it is the step of exact fractions."""
    load = right_hand_side.sum_forces((force_laws.gravity, force_laws.linear_drag, force_laws.body_torque))
    rate = right_hand_side.build_right_hand_side(FORMULATIONS["body_rates"], load, counts_work=True)
    y = (*START[:3], vector(2, 1, -3, over=2), (Fraction(0),))
    data = (BODY, (DOWN, DRAG, DOWN))
    exact = runge_kutta.build_step(RK4, rate, Fraction)(T, y, H, data)
    h = sympy.Symbol("h", positive=True)
    ratios = mapped(sympy.Rational, (T, y, data))
    formula = runge_kutta.build_step(RK4, rate, sympy.Rational)(*ratios[:2], h, ratios[2])
    assert [sympy.sympify(x).subs(h, sympy.Rational(H)) for x in leaves(formula)] == leaves(exact)


def test_the_error_of_mpmath_steps_falls_sixteenfold_against_a_hundredth_of_the_step():
    """RK4 with the forces of this file, without the engine's jump: order 4, far below the rounding of floats."""
    load = right_hand_side.sum_forces((force_laws.gravity, force_laws.quadratic_drag, force_laws.spring))
    step = rk4("momentum", load, in_mpmath)
    with mpmath.workdps(30):
        t, y, _, data = mapped(in_mpmath, arguments("momentum", (DOWN, DRAG, SPRING)))

        def end(count):
            now = y
            for i in range(count):
                now = step(t + mpmath.mpf(i) / count / 10, now, mpmath.mpf(1) / count / 10, data)
            return leaves(now)

        reference = end(400)
        errors = [max(abs(a - b) for a, b in zip(end(n), reference, strict=True)) for n in (4, 8, 16)]
        orders = [mpmath.log(a / b, 2) for a, b in pairwise(errors)]
    assert all(3.8 < order < 4.2 for order in orders), orders


def test_jacfwd_through_a_hundred_steps_against_mpmath_differences():
    """The derivative of the whole run, in two directions of the start, against central differences with 50 digits."""
    load = right_hand_side.sum_forces((force_laws.gravity, force_laws.quadratic_drag, force_laws.body_torque))
    t, y, _, data = arguments("momentum", (DOWN, DRAG, (vector(1, 2, 3, over=4),)))
    h = Fraction(1, 128)
    rng = np.random.default_rng(5)
    directions = rng.uniform(-1, 1, (2, len(leaves(y))))

    def run_by_jax(amounts):
        start = jnp.array([float(x) for x in leaves(y)]) + amounts @ directions
        step = rk4("momentum", load)
        numbers = mapped(float, data)

        def one(now, i):
            return step(float(t) + i * float(h), now, float(h), numbers), None

        end, _ = jax.lax.scan(one, refilled(y, start), jnp.arange(100.0))
        return jnp.stack(leaves(end))

    def run_by_mpmath(direction, amount):
        step = rk4("momentum", load, in_mpmath)
        now = refilled(y, [in_mpmath(x) + amount * d for x, d in zip(leaves(y), direction, strict=True)])
        numbers = mapped(in_mpmath, data)
        for i in range(100):
            now = step(in_mpmath(t + i * h), now, in_mpmath(h), numbers)
        return leaves(now)

    jacobian = np.array(jax.jit(jax.jacfwd(run_by_jax))(jnp.zeros(2)))
    with mpmath.workdps(50):
        small = mpmath.mpf(10) ** -16
        for column, direction in zip(jacobian.T, directions, strict=True):
            ahead, behind = run_by_mpmath(direction, small), run_by_mpmath(direction, -small)
            reference = np.array([float((a - b) / (2 * small)) for a, b in zip(ahead, behind, strict=True)])
            np.testing.assert_allclose(column, reference, rtol=0, atol=3e-14 * abs(reference).max())
