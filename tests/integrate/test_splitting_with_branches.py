"""A splitting keeps its order if a force reads velocities only on a branch that is not taken at the start."""

import numpy as np
import pytest

import polhode as ph


@ph.force
def late_drag(t, state, body, params):
    x, v = state.position, state.velocity
    if x[0] > 1.0:
        push = tuple(-0.8 * (a - 1.0) ** 4 * b for a, b in zip((x[0],) * 3, v, strict=True))
    else:
        push = (0.0 * x[0], 0.0 * x[0], 0.0 * x[0])
    return (push[0] - 0.3 * x[0], push[1], push[2]), (0.0, 0.0, 0.0)


@pytest.mark.parametrize(("method", "order"), [("splitting2", 2), ("splitting4", 4)])
def test_the_error_falls_with_the_order_against_dop853(method, order):
    start, body = ph.State(velocity=(1.2, 0.7, 0.0)), ph.particle(1.0)
    settings = {"duration": 2.0, "output_times": [2.0]}
    exact = ph.simulate(body, start, [late_drag], method="dop853", rtol=1e-13, **settings).final.position
    errors = [
        np.abs(ph.simulate(body, start, [late_drag], method=method, step=h, **settings).final.position - exact).max()
        for h in (2.0 / 64, 2.0 / 128)
    ]
    assert np.log2(errors[0] / errors[1]) > order - 0.7
