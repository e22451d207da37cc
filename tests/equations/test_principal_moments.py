"""The principal moments and axes of a tensor that changes, in laws alone, against NumPy's eigenvalues."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from polhode.equations.inertia import principal_moments

COUNT = 20_000
ENTRIES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


def draw_moments(kind, rng):
    moments = rng.uniform(0.1, 1.0, (COUNT, 3))
    if kind == "nearly equal":
        return 1 + 10.0 ** rng.uniform(-16, 0, (COUNT, 3))
    if kind == "two nearly equal":
        moments[:, 1] = moments[:, 0] * (1 + 10.0 ** rng.uniform(-16, -1, COUNT))
    if kind == "plates":
        moments[:, 2] = moments[:, 0] + moments[:, 1]
    return 10.0 ** rng.uniform(-6, 0, (COUNT, 3)) if kind == "of very different size" else moments


@pytest.mark.parametrize("kind", ["any", "nearly equal", "two nearly equal", "plates", "of very different size"])
def test_moments_and_axes_against_numpy(kind):
    rng = np.random.default_rng(1)
    axes = Rotation.random(COUNT, rng=rng).as_matrix()
    tensors = np.einsum("nij,nj,nkj->nik", axes, draw_moments(kind, rng), axes)
    guess = Rotation.random(COUNT, rng=rng).as_quat(scalar_first=True).T
    known = rng.permuted(np.tile([1.0, 2.0, 3.0], (COUNT, 1)), axis=1)
    found, turn = principal_moments(tuple(tensors[:, i, j] for i, j in ENTRIES), tuple(guess), tuple(known.T))
    moments, axes = np.stack(found, axis=-1), Rotation.from_quat(np.stack(turn, axis=-1), scalar_first=True).as_matrix()
    size = np.abs(tensors).max(axis=(1, 2), keepdims=True)
    in_order = np.take_along_axis(moments, known.argsort(axis=1), axis=1)
    np.testing.assert_allclose(in_order / size[:, 0], np.linalg.eigvalsh(tensors) / size[:, 0], atol=4e-15)
    np.testing.assert_allclose(np.einsum("nij,nj,nkj->nik", axes, moments, axes) / size, tensors / size, atol=4e-15)


def test_a_diagonal_tensor_is_left_as_it_is():
    still = (1.0, 0.0, 0.0, 0.0)
    moments, axes = principal_moments((6.0, 4.0, 5.0, 0.0, 0.0, 0.0), still, (3.0, 1.0, 2.0))
    assert moments == (6.0, 4.0, 5.0)
    assert axes == still


def test_moments_stay_smooth_where_their_axes_turn_far():
    """Two moments come near each other and part again, while their axes exchange places: no moment jumps."""
    s = np.linspace(-1.0, 1.0, 2001)
    tensor = (2 + s, 2 - s, 0.5 + 0 * s, 0.05 + 0 * s, 0 * s, 0 * s)
    moments, _ = principal_moments(tensor, (1.0 + 0 * s, 0 * s, 0 * s, 0 * s), (1.0, 2.0, 0.5))
    np.testing.assert_allclose(moments[0], 2 - np.hypot(s, 0.05), rtol=1e-14)
    np.testing.assert_allclose(moments[1], 2 + np.hypot(s, 0.05), rtol=1e-14)
