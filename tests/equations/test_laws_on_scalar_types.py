"""Every law on every scalar type.

Floats, NumPy arrays and compiled code must agree to the bit.  The other kinds bring their own functions and must agree
with the floats to rounding.
"""

from fractions import Fraction

import pytest

from law_samples import ARGUMENTS, FOR_DOUBLES, IN_RATIOS, POSITIVE, SAMPLES, module_level_laws
from polhode.equations import (
    aerodynamics,
    atmosphere,
    earth,
    event_functions,
    formulations,
    free_rotation,
    inertia,
    interpolation,
    matrices,
    quaternions,
    rigid_body,
    scalar_ops,
)
from polhode.methods import drifts, runge_kutta
from scalar_types import (
    bits,
    by_fractions,
    by_heyoka,
    by_jax,
    by_jax_jit,
    by_machine_code,
    by_mpmath,
    by_normal_form,
    by_numpy,
    by_sympy,
    error,
    in_floats,
    lane,
)

LANES = 3

ROUNDED = {
    free_rotation._unwind,
    scalar_ops.remove_whole_turns,
    scalar_ops.remove_half_turns,
    scalar_ops.cos_of_quarters,
    scalar_ops.sin_of_quarters,
    free_rotation.rotate_freely,
    free_rotation._relative_rotation,
    drifts.rotate_exactly,
}
"""Laws that count whole turns by `number.whole`: heyoka's expressions are smooth and cannot be rounded."""

ROOTED = {
    inertia.principal_moments,
    inertia._without_product,
    free_rotation.rotate_freely,
    free_rotation._relative_rotation,
    free_rotation.jacobi_solution,
    free_rotation._spin,
    free_rotation.precession_form,
    free_rotation._unwind,
    free_rotation._landen_ladder,
    free_rotation.jacobi_from_ladder,
    free_rotation.half_third_kind,
    free_rotation._duplicate,
    free_rotation._direction,
    free_rotation.jacobi_solution,
    free_rotation._rotation_between,
    drifts.rotate_exactly,
}
"""Laws that take roots of sums, of which no choice of ratios makes all rational."""

WITHOUT_RATIOS = (
    FOR_DOUBLES
    | ROOTED
    | {
        scalar_ops.sine_beyond,  # its coefficients are doubles
        scalar_ops.cosine_parts,
        scalar_ops._small_sine,
        scalar_ops._small_cosine,
        scalar_ops.remove_whole_turns,  # and so are the parts of pi
        scalar_ops.remove_half_turns,
        runge_kutta.step_factor,  # so is its 0.9
        runge_kutta.growth_factor,
        runge_kutta.limit_factor,
        earth.height_and_up,  # roots of sums
        earth.height_and_up_of_root,
        event_functions.height_above_earth,
        event_functions.vertical_speed_over_earth,
        aerodynamics.over_earth,
        atmosphere._exponent,  # and logarithms
        atmosphere.us76,
        atmosphere.exponential_air,
        atmosphere.uniform_air,
        aerodynamics.wind_to_body,
        quaternions.from_angles,  # and these take a sine
        rigid_body.euler_angles,
        rigid_body.angle_rates,
        rigid_body.turn_per_step,
        formulations.angles_of,  # or an angle
        formulations._start_angles,
        formulations._view_angles,
        formulations._angles_with_turn,
        formulations._finish_angles,
        drifts.rotate_about_axes,
        drifts._rotation_about,
    }
)

NESTED_CHOICES = {
    matrices.orthogonality_drift,
    formulations._matrix_with_drift,
    free_rotation.jacobi_from_ladder,
    free_rotation._direction,
    free_rotation.jacobi_solution,
    interpolation.choose_line,
    atmosphere._exponent,
    atmosphere.us76,
    atmosphere.wind_table,
    atmosphere.look_up,
    atmosphere.look_up_in_two,
}
"""The largest of six symbolic sizes, or a choice of choices: SymPy tries for ten seconds to solve the inequalities, or
gives up; ratios decide at once."""

TOO_DEEP = {
    inertia.principal_moments,
    free_rotation.rotate_freely,
    free_rotation._relative_rotation,
    free_rotation.half_third_kind,
    free_rotation._duplicate,
    drifts.rotate_exactly,
    drifts.rotate_about_axes,
}
"""SymPy writes every root, square and sine of a sum out: minutes and pages, with ratios too."""


def symbolically(run, lanes):
    return by_sympy(run, lanes, symbols=0 if run in NESTED_CHOICES else 4)


def in_ratios(run, lanes):
    return by_fractions(IN_RATIOS.get(run, run), lanes)


KINDS = {
    # kind: (runs, tolerance or None for equal bits, laws left out)
    "numpy": (by_numpy, None, set()),
    "machine code": (by_machine_code, None, set()),
    "mpmath": (by_mpmath, 1e-14, FOR_DOUBLES),
    "jax": (by_jax, 1e-15, FOR_DOUBLES),
    "jax_jit": (by_jax_jit, 2e-15, FOR_DOUBLES),  # XLA fuses multiplications with additions
    "heyoka": (by_heyoka, 2e-15, FOR_DOUBLES | ROUNDED),
    "normal form": (by_normal_form, 1e-14, FOR_DOUBLES | ROUNDED | {free_rotation.half_third_kind}),  # 1024th powers
    "sympy": (symbolically, 1e-14, FOR_DOUBLES | TOO_DEEP),
    "fractions": (in_ratios, 1e-15, WITHOUT_RATIOS),
}


def test_no_law_is_missed():
    assert set(ARGUMENTS) == set(module_level_laws())


CASES = [(kind, sample) for kind in KINDS for sample in SAMPLES if sample.law not in KINDS[kind][2]]


@pytest.mark.parametrize(("kind", "sample"), CASES, ids=[f"{kind}-{sample.name}" for kind, sample in CASES])
def test_a_law_agrees_with_its_floats_on(kind, sample):
    runs, tolerance, _ = KINDS[kind]
    lanes = [lane(sample.args, i, signs=sample.law not in POSITIVE) for i in range(LANES)]
    for args, got in zip(lanes, runs(sample.runs, lanes), strict=False):
        floats = in_floats(sample.runs, args)
        if tolerance is None:
            assert bits(got) == bits(floats)
        else:
            assert error(got, floats) <= tolerance


def test_a_fraction_without_a_root_is_refused_with_a_sentence():
    with pytest.raises(ValueError, match="the square root of 2 is irrational: use floats or mpmath"):
        scalar_ops.sqrt(Fraction(2))
    assert scalar_ops.sqrt(Fraction(9, 16)) == Fraction(3, 4)
