"""What the programs printed in the source texts compute: their orders, and the numbers known of them."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from polhode.gallery.closed_forms.printed_programs import matlab_top, plate_code, plate_leapfrog
from polhode.reference import SymmetricTop

PLATE = SymmetricTop((1.0, 1.0, 2.0), (20 * np.tan(np.radians(10)), 0.0, 10.0))
TOP = SymmetricTop((2.0, 2.0, 8.0), (1.0, 0.0, 1.0))


def error(listing, top, step, duration, **options):
    """Against the closed form, as SciPy measures the angle."""
    found = listing(top.moments, top.rates, step, round(duration / step), **options).quaternion
    both = [Rotation.from_quat(q, scalar_first=True) for q in (found, top.quaternions_at(duration))]
    return (both[0].inv() * both[1]).magnitude()


def test_the_matlab_listing_errs_as_computed_by_hand():
    assert error(matlab_top, TOP, 0.03, 9.0, renormalize_stages=False) == pytest.approx(4.78e-6, abs=5e-9)
    assert error(matlab_top, TOP, 0.03, 9.0) == pytest.approx(4.73e-6, abs=5e-9)


@pytest.mark.parametrize("renormalized", [True, False])
def test_the_matlab_listing_is_of_order_4(renormalized):
    errors = [error(matlab_top, TOP, h, 3.0, renormalize_stages=renormalized) for h in (0.03, 0.015, 0.0075)]
    assert np.log2(errors[1] / errors[2]) == pytest.approx(4.0, abs=0.1)


def test_the_printed_plate_is_of_order_1_and_the_described_one_of_order_2():
    for listing, order in ((plate_code, 1), (plate_leapfrog, 2)):
        errors = [error(listing, PLATE, h, 1.0) for h in (4e-3, 2e-3, 1e-3)]
        assert np.log2(errors[1] / errors[2]) == pytest.approx(order, abs=0.1)


def test_the_printed_plate_hides_its_order_where_it_spins_on_its_axis():
    """Explicit Euler turns q by atan(w h/2), not w h/2: of the second order, once q is renormalized."""
    still = SymmetricTop((1.0, 1.0, 2.0), (0.0, 0.0, 10.0))
    errors = [error(plate_code, still, h, 1.0) for h in (4e-3, 2e-3, 1e-3)]
    assert np.log2(errors[1] / errors[2]) == pytest.approx(2.0, abs=0.01)
