"""How models find their numbers: against functions whose answer is known."""

import numpy as np
import pytest

from polhode.gallery.tools import rate_at_start


def test_the_rate_at_the_start_of_a_sine_with_an_error_of_order_10():
    """Five outputs of an odd function leave an error of h^10: the derivative of sin at 0 is 1."""
    errors = []
    for h in (0.4, 0.2):
        times = h * np.arange(8)
        errors.append(abs(float(rate_at_start(times, np.sin(times))) - 1))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(10, abs=0.3)


def test_the_rate_at_the_start_of_several_components_at_once():
    times = 0.01 * np.arange(6)
    values = np.stack((np.sin(times), np.tan(2 * times), 0 * times), axis=1)
    assert rate_at_start(times, values) == pytest.approx((1, 2, 0), rel=1e-13, abs=1e-13)
