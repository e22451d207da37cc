"""The sign of products of inertia, against integrals over particles."""

import numpy as np
import pytest

import polhode as ph
from polhode.errors import InertiaError

POINTS = np.random.default_rng(2).normal(size=(7, 3))
POINTS -= POINTS.mean(axis=0)
MASSES = np.full(7, 0.3)
CLOUD = ph.Body.from_particles(MASSES, POINTS)


def six_numbers(sign):
    x, y, z = POINTS.T
    products = [sign * (MASSES * a * b).sum() for a, b in ((x, y), (x, z), (y, z))]
    return [(MASSES * (a * a + b * b)).sum() for a, b in ((y, z), (x, z), (x, y))] + products


@pytest.mark.parametrize(("products", "sign"), [("positive", 1), ("negative", -1)])
def test_six_numbers_and_a_tensor_against_particles(products, sign, tmp_path):
    xx, yy, zz, xy, xz, yz = numbers = six_numbers(sign)
    square = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    for inertia in (numbers, square):
        body = ph.Body.from_tensor(MASSES.sum(), inertia, products=products)
        assert np.abs(body.inertia_body - CLOUD.inertia_body).max() < 1e-14
        path = tmp_path / "body.toml"
        listed = np.array(inertia).tolist()
        path.write_text(f'duration = 1.0\n[body]\nmass = 2.1\ninertia = {listed}\nproducts = "{products}"\n')
        assert np.abs(ph.Scenario.from_toml(path).bodies[0].inertia_body - CLOUD.inertia_body).max() < 1e-14


def test_what_is_refused():
    for arguments, sentence in (
        (((1, 1, 1, 0, 0, 0), "plus"), "products 'plus' is unknown"),
        (((1, 1, 1), "positive"), "must be six numbers"),
        ((((1, 2, 0), (3, 1, 0), (0, 0, 1)), "positive"), "symmetric"),
    ):
        with pytest.raises(InertiaError, match=sentence):
            ph.Body.from_tensor(1.0, arguments[0], products=arguments[1])
