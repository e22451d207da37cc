"""Forces that compute with NumPy's scalars, against exact fractions."""

from __future__ import annotations

import numpy as np
import pytest

import polhode as ph

GAIN = np.float64(2.0)


@ph.force
def pull(t, state, body, params):
    """2 N, by a NumPy scalar on either side of a number that is traced."""
    x = 0.0 * state.position[0] + 1.0
    return (GAIN * x, x * np.float32(0.5), np.int64(3) * x), (0.0, 0.0, 0.0)


@pytest.mark.parametrize("engine", ["cpu", "python"])
@pytest.mark.filterwarnings("ignore:engine='python'")
def test_a_constant_force_by_numpy_scalars_gives_half_a_t_squared(engine):
    motion = ph.simulate(ph.particle(1.0), forces=[pull()], duration=1.0, step=0.25, method="midpoint", engine=engine)
    assert motion.final.position.tolist() == [1.0, 0.25, 1.5]
