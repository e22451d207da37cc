"""Tolerances, against derivatives in closed form and a sample of 20,000 bodies."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import polhode as ph
from invalid_input import assert_refused, checked
from polhode.errors import InertiaError, MassWarning

SIDES, DENSITY = np.array((0.1, 0.25, 0.4)), 2700.0
SIZES = [1e-9, 1.0, 1e9]


def box(size=1.0, tolerance=1e-3):
    sides = ph.tolerance(SIDES * size, tolerance * SIDES * size * (1, 2, 3))
    return ph.uncertainty(ph.shapes.box, sides=sides, density=ph.tolerance(DENSITY, tolerance * DENSITY))


def moment_slopes(size):
    """d/da, d/db, d/dc and d/drho of rho a b c (b^2 + c^2)/12 and so on round, by hand."""
    a, b, c = SIDES * size
    by_side = [
        [b * c * (b * b + c * c), b * c * (c * c + 3 * a * a), b * c * (3 * a * a + b * b)],
        [a * c * (3 * b * b + c * c), a * c * (c * c + a * a), a * c * (a * a + 3 * b * b)],
        [a * b * (b * b + 3 * c * c), a * b * (3 * c * c + a * a), a * b * (a * a + b * b)],
    ]
    by_density = np.array((b * b + c * c, c * c + a * a, a * a + b * b)) * a * b * c / 12
    return np.array([*(DENSITY / 12 * np.array(by_side)), by_density])


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("tolerance", [1e-12, 1e-6, 1e-3])
def test_derivatives_against_closed_forms(size, tolerance):
    known = box(size, tolerance)
    expected = moment_slopes(size)
    assert list(known.tolerances) == ["sides[0]", "sides[1]", "sides[2]", "density"]
    for found, slopes in zip(known.derivatives.values(), expected, strict=True):
        assert found.principal_moments == pytest.approx(slopes, rel=1e-12)
        assert found.inertia_body == pytest.approx(np.diag(slopes), rel=1e-12)
        assert found.center_of_mass.tolist() == [0.0, 0.0, 0.0]
    volume = (SIDES * size).prod()
    assert [d.mass for d in known.derivatives.values()] == pytest.approx(
        [*(DENSITY * volume / (SIDES * size)), volume], rel=1e-12
    )
    assert [d.volume for d in known.derivatives.values()] == pytest.approx([*(volume / (SIDES * size)), 0.0], rel=1e-12)
    changes = expected * np.array(list(known.tolerances.values()))[:, None]
    assert known.standard.principal_moments == pytest.approx(np.sqrt((changes**2).sum(axis=0)), rel=1e-12)
    assert known.worst.principal_moments == pytest.approx(changes.sum(axis=0), rel=1e-12)


def test_derivatives_of_functions_that_are_not_polynomials():
    """1/x, sqrt(x), exp(x): no step is exact, and the error stays below 1e-9."""

    def build(x, y, z):
        return ph.Body(1 / x, (np.sqrt(y), np.sqrt(y), np.exp(z) / 2))

    t = ph.tolerance
    slopes = ph.uncertainty(build, x=t(0.3, 1e-3), y=t(2.0, 0.01), z=t(0.2, 1e-3)).derivatives
    assert slopes["x"].mass == pytest.approx(-1 / 0.09, rel=1e-9)
    assert slopes["y"].principal_moments[0] == pytest.approx(0.5 / np.sqrt(2), rel=1e-9)
    assert slopes["z"].principal_moments[2] == pytest.approx(np.exp(0.2) / 2, rel=1e-9)


def test_standard_deviations_against_20000_boxes():
    known = box(tolerance=3e-3)
    rng = np.random.default_rng(1)
    count = 20_000
    spread = 3e-3 * np.array((*(SIDES * (1, 2, 3)), DENSITY))
    drawn = np.array((*SIDES, DENSITY)) + spread * rng.normal(size=(count, 4))
    sample = ph.shapes.box(drawn[:, :3], density=drawn[:, 3])
    assert known.standard.mass == pytest.approx(sample.mass.std(), rel=0.02)
    assert known.standard.volume == pytest.approx(sample.volume.std(), rel=0.02)
    assert known.standard.principal_moments == pytest.approx(sample.principal_moments.std(axis=0), rel=0.02)
    limits = np.array((*SIDES, DENSITY)) + spread * rng.uniform(-1, 1, (count, 4))
    extreme = ph.shapes.box(limits[:, :3], density=limits[:, 3])
    assert (
        np.abs(extreme.principal_moments - known.body.principal_moments) < 1.03 * known.worst.principal_moments
    ).all()


def drilled(offset, radius, density=1000.0):
    """A cube with a hole beside its middle: the products of inertia and the center of mass follow the hole."""
    ball = ph.shapes.sphere(radius, density=density).move((offset, offset, 0.0))
    return ph.shapes.box((1, 1, 1), density=density).subtract(ball)


def test_an_assembly_against_the_parallel_axis_theorem_by_hand():
    """m' x' = -m h and so on, with the hole's mass m = rho (4/3) pi r^3 taken off; differentiated by hand."""
    h, r = 0.1, 0.2
    known = ph.uncertainty(drilled, offset=ph.tolerance(h, 1e-3), radius=ph.tolerance(r, 1e-3))
    m, dm = 4000 * np.pi / 3 * r**3, 4000 * np.pi * r**2
    left = 1000 - m
    assert known.derivatives["offset"].center_of_mass == pytest.approx([-m / left, -m / left, 0.0], rel=1e-11)
    by_radius = -h * dm * (1 / left + m / left**2)
    assert known.derivatives["radius"].center_of_mass == pytest.approx([by_radius, by_radius, 0.0], rel=1e-11)
    # I_xy = + m h h + left x' x', with x' = - m h/left
    assert known.body.inertia_body[0, 1] == pytest.approx(m * h * h * (1 + m / left), rel=1e-13)
    assert known.derivatives["offset"].inertia_body[0, 1] == pytest.approx(2 * m * h * (1 + m / left), rel=1e-11)
    # along the nominal axes (1, -1, 0)/sqrt 2 and (1, 1, 0)/sqrt 2
    axes = known.body.principal_axes.as_matrix()
    change = known.derivatives["radius"].inertia_body
    assert known.derivatives["radius"].principal_moments == pytest.approx(np.diag(axes.T @ change @ axes), rel=1e-9)


def test_principal_moments_are_followed_along_the_nominal_axes():
    """A box of nearly equal sides: sorted moments would change places, the ones along fixed axes do not."""
    sides = ph.tolerance((1.0, 1.0, 1.0), (1e-3, 2e-3, 3e-3))
    known = ph.uncertainty(ph.shapes.box, sides=sides, mass=6.0)
    assert known.derivatives["sides[0]"].principal_moments == pytest.approx([0.0, 1.0, 1.0], abs=1e-12)
    assert known.derivatives["sides[2]"].principal_moments == pytest.approx([1.0, 1.0, 0.0], abs=1e-12)
    assert known.standard.principal_moments == pytest.approx(1e-3 * np.sqrt((13, 10, 5)), rel=1e-11)
    assert known.worst.principal_moments == pytest.approx((5e-3, 4e-3, 3e-3), rel=1e-11)


def test_steps_stay_where_there_is_a_body():
    """A wall of a thousandth of the radius: the usual step would leave none of it."""

    def shell(inner, outer):
        return ph.shapes.sphere(outer, density=1.0).subtract(ph.shapes.sphere(inner, density=1.0))

    known = ph.uncertainty(shell, inner=ph.tolerance(0.999, 1e-4), outer=ph.tolerance(1.0, 2e-4))
    assert known.worst.volume == pytest.approx(4 * np.pi * (1e-4 * 0.999**2 + 2e-4), rel=1e-9)
    assert known.derivatives["inner"].principal_moments == pytest.approx([-8 / 3 * np.pi * 0.999**4] * 3, rel=1e-9)


def test_an_offset_of_zero_has_a_slope():
    known = ph.uncertainty(drilled, offset=ph.tolerance(0.0, 1e-4), radius=ph.tolerance(0.2, 1e-3))
    m = 4000 * np.pi / 3 * 0.008
    assert known.derivatives["offset"].center_of_mass == pytest.approx([-m / (1000 - m)] * 2 + [0.0], rel=1e-9)


# Warnings -------------------------------------------------------------------------------------------------------------
def test_a_tolerance_too_large_for_the_linear_estimate_warns():
    """(1 + e)^3 - 1 - 3 e = 3 e^2 + e^3 exceeds a tenth of 3 e where e > 0.097."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ph.uncertainty(ph.shapes.sphere, radius=ph.tolerance(1.0, 0.04), density=1.0)
    with pytest.warns(MassWarning, match=r"radius = 1 \+- 0.1: the .* is not linear in it") as found:
        ph.uncertainty(ph.shapes.sphere, radius=ph.tolerance(1.0, 0.1), density=1.0)
    assert len(found) == 1
    assert found[0].filename == __file__


def test_what_the_linear_estimate_misses_warns():
    """About zero the moments are even in the offset: to first order nothing changes."""
    with pytest.warns(MassWarning, match=r"offset = 0 \+- 0.05: .*more than a tenth of the standard deviation 0\."):
        ph.uncertainty(drilled, offset=ph.tolerance(0.0, 0.05), radius=0.2)


# Print ----------------------------------------------------------------------------------------------------------------
def test_the_table_names_what_matters_most():
    text = str(ph.uncertainty(ph.shapes.sphere, radius=ph.tolerance(0.1, 1e-4), mass=ph.tolerance(2.0, 1e-3)))
    lines = text.splitlines()
    assert lines[0].split() == ["nominal", "unit", "standard", "worst", "mostly", "from"]
    assert lines[1].split() == ["mass", "2", "kg", "0.001", "0.001", "mass", "(100%)"]
    assert lines[6].split() == ["principal", "moment", "1", "0.008", "kg", "m2", "1.6e-05", "2e-05", "radius", "(94%)"]
    assert lines[-2].split() == ["radius", "0.0001", "+0", "%", *("+0.2", "%") * 3]
    assert "volume" not in str(ph.uncertainty(lambda m: ph.Body(m, (1, 1, 1)), m=ph.tolerance(1.0, 0.1)))
    assert "mass" in str(ph.uncertainty(ph.particle, mass=ph.tolerance(1.0, 0.1)))


# Refusals -------------------------------------------------------------------------------------------------------------
REFUSALS = {
    "no body at the end": (
        lambda: ph.uncertainty(ph.shapes.sphere, radius=ph.tolerance(1e-3, 2e-3), mass=1.0),
        "radius = 0.001 +- 0.002 reaches -0.001, which is not a body: radius must be greater than 0 m",
    ),
    "nothing toleranced": (
        lambda: ph.uncertainty(ph.shapes.sphere, radius=1.0, mass=1.0),
        "no argument has a tolerance",
    ),
    "all exact": (
        lambda: ph.uncertainty(ph.shapes.sphere, radius=ph.tolerance(1.0, 0.0), mass=1.0),
        "no argument has a tolerance",
    ),
    "no function": (lambda: ph.uncertainty(3.0, radius=ph.tolerance(1.0, 0.1)), "3.0 is not callable"),
    "no body": (
        lambda: ph.uncertainty(lambda r: r, r=ph.tolerance(1.0, 0.1)),
        "must return a ph.Body, but returned 1.0",
    ),
    "ensemble": (
        lambda: ph.uncertainty(ph.shapes.sphere, radius=ph.tolerance((1.0, 2.0), 0.1), mass=1.0),
        "the body of an ensemble",
    ),
    "negative": (lambda: ph.tolerance(1.0, -0.1), "must not be negative, but is -0.1"),
    "not finite": (lambda: ph.tolerance(1.0, np.inf), "its tolerance must be finite"),
    "no number": (lambda: ph.tolerance("1", 0.1), "the value must be a number"),
    "shape": (lambda: ph.tolerance((1, 2, 3), (0.1, 0.2)), "one number for all, or one for each", "(0.1, 0.2)"),
}


@checked({name: (case[0], InertiaError, *case[1:]) for name, case in REFUSALS.items()})
def test_meaningless_arguments_are_refused_with_a_message(attempt, kind, phrases):
    assert_refused(attempt, kind, phrases)
