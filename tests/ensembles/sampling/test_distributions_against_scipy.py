"""Every distribution against SciPy's, for every design; and draws that never change from version to version."""

from __future__ import annotations

from hashlib import sha256

import numpy as np
import pytest
from scipy import stats

from polhode.ensembles.sampling.designs import DESIGNS, make_design
from polhode.ensembles.sampling.draw import Draw
from polhode.errors import InputError

N = 2**14


def drawing(seed=1, n=N, design="random", members=None):
    sizes = {"x": 3, "y": 3}
    return Draw(np.arange(n) if members is None else np.asarray(members), n, make_design(design, seed, n, sizes))


NUMBERS = {
    "normal": (lambda d: d.normal("x", 3.0, 0.5), stats.norm(3.0, 0.5)),
    "uniform": (lambda d: d.uniform("x", -2.0, 5.0), stats.uniform(-2.0, 7.0)),
    "lognormal": (lambda d: d.lognormal("x", 3.0, 0.4), stats.lognorm(0.4, scale=3.0)),
    "truncated": (lambda d: d.truncated_normal("x", 1.0, 2.0, 0.0, 2.0), stats.truncnorm(-0.5, 0.5, 1.0, 2.0)),
    "below": (lambda d: d.truncated_normal("x", 1.0, 2.0, high=0.0), stats.truncnorm(-np.inf, -0.5, 1.0, 2.0)),
    "above": (lambda d: d.truncated_normal("x", 0.0, 1.0, low=9.0), stats.truncnorm(9.0, np.inf)),
    "untruncated": (lambda d: d.truncated_normal("x", 1.0, 2.0), stats.norm(1.0, 2.0)),
}


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_against_scipy(name, design):
    draw, judge = NUMBERS[name]
    found = draw(drawing(design=design))
    assert found.shape == (N,)
    assert stats.kstest(found, judge.cdf).pvalue > 1e-3
    mean, variance = judge.stats()
    assert abs(found.mean() - mean) < 5 * np.sqrt(variance / N)
    assert abs(found.var() / variance - 1) < 0.1


@pytest.mark.parametrize("design", ["latin_hypercube", "sobol"])
def test_even_designs_have_closer_means_than_random_ones(design):
    errors = {kind: abs(drawing(design=kind).normal("x", 0.0, 1.0).mean()) for kind in ("random", design)}
    assert errors[design] < 1e-3 < 4e-3 < 1 / np.sqrt(N)


def test_vectors_have_independent_components():
    found = drawing().normal("x", (1.0, 2.0, 3.0), (0.1, 1.0, 10.0))
    assert found.shape == (N, 3)
    for i, deviation in enumerate((0.1, 1.0, 10.0)):
        assert stats.kstest(found[:, i], stats.norm(i + 1.0, deviation).cdf).pvalue > 1e-3
    assert np.abs(np.corrcoef(found.T) - np.eye(3)).max() < 5 / np.sqrt(N)
    corners = drawing().uniform("x", (0.0, 1.0, 2.0), 3.0)
    assert (corners >= (0.0, 1.0, 2.0)).all()
    assert (corners <= 3.0).all()


@pytest.mark.parametrize("seed", [1, 2])
def test_covariances_against_the_matrix(seed):
    matrix = np.array([[2.0, 0.6, -0.3], [0.6, 1.0, 0.2], [-0.3, 0.2, 0.5]])
    found = drawing(seed).normal("x", (1.0, 2.0, 3.0), covariance=matrix)
    assert np.abs(np.cov(found.T) - matrix).max() < 0.08
    whitened = np.linalg.solve(np.linalg.cholesky(matrix), (found - (1.0, 2.0, 3.0)).T)
    assert stats.kstest((whitened**2).sum(axis=0), stats.chi2(3).cdf).pvalue > 1e-3


def test_a_singular_covariance_keeps_its_components_together():
    found = drawing().normal("x", (0.0, 0.0), covariance=[[1.0, 2.0], [2.0, 4.0]])
    assert np.allclose(found[:, 1], 2 * found[:, 0], rtol=1e-12)
    fixed = drawing().normal("x", (0.0, 5.0, 1.0), covariance=np.diag((1.0, 0.0, 4.0)))
    assert (fixed[:, 1] == 5.0).all()


def test_choices_and_integers_by_counting():
    found = drawing().choice("x", [1.0, 5.0, 7.0, 9.0], weights=[1, 0, 2, 1])
    counts = [np.count_nonzero(found == value) for value in (1.0, 7.0, 9.0)]
    assert sum(counts) == N
    assert stats.chisquare(counts, N * np.array((0.25, 0.5, 0.25))).pvalue > 1e-3
    rows = drawing().choice("x", [(1, 0, 0), (0, 1, 0)])
    assert rows.shape == (N, 3)
    whole = drawing().integers("x", -1, 3)
    assert stats.chisquare(np.unique(whole, return_counts=True)[1]).pvalue > 1e-3
    assert set(whole) == {-1.0, 0.0, 1.0, 2.0, 3.0}
    evenly = drawing(design="latin_hypercube").integers("x", 0, 3)
    assert np.unique(evenly, return_counts=True)[1].tolist() == [N / 4] * 4


def test_seeds_and_names_are_not_correlated():
    columns = [drawing(seed).normal(name, 0.0, 1.0) for seed in (0, 1, 2, 2**70) for name in ("x", "y")]
    assert np.abs(np.corrcoef(columns) - np.eye(8)).max() < 5 / np.sqrt(N)
    both = drawing(design="latin_hypercube")
    assert abs(np.corrcoef(both.normal("x", 0.0, 1.0), both.normal("y", 0.0, 1.0))[0, 1]) < 5 / np.sqrt(N)


def test_successive_members_are_not_correlated():
    found = drawing().normal("x", 0.0, 1.0)
    assert abs(np.corrcoef(found[:-1], found[1:])[0, 1]) < 5 / np.sqrt(N)


def test_rows_of_tables(tmp_path):
    path = tmp_path / "units.csv"
    path.write_text("mass,cx,cy\n" + "".join(f"{i},{i / 2},{-i}\n" for i in range(100)), encoding="utf-8")
    draw = drawing(n=100, members=[3, 99])
    assert draw.table("m", path, "mass").tolist() == [3.0, 99.0]
    assert draw.table("c", str(path), ["cx", "cy"]).tolist() == [[1.5, -3.0], [49.5, -99.0]]
    assert draw.table("a", np.arange(200.0)).tolist() == [3.0, 99.0]
    many = drawing(n=5000)
    m = many.table("m", path, "mass", rows="random", row_name="unit")
    c = many.table("c", path, ["cx", "cy"], rows="random", row_name="unit")
    assert np.array_equal(c, np.stack((m / 2, -m), axis=-1))
    assert stats.chisquare(np.bincount(m.astype(int), minlength=100)).pvalue > 1e-3
    other = many.table("o", path, "mass", rows="random")
    assert abs(np.corrcoef(m, other)[0, 1]) < 0.1


OTHERS = {
    "covariance": lambda d: d.normal("x", (1.0, 2.0), covariance=[[1.0, 0.5], [0.5, 2.0]]),
    "truncated_normal": lambda d: d.truncated_normal("x", 0.0, 1.0, 1.0, 3.0),
    "choice": lambda d: d.choice("x", [1.0, 2.0, 3.0], [0.2, 0.3, 0.5]),
    "integers": lambda d: d.integers("x", 0, 1000),
    "random_rotation": lambda d: d.random_rotation("x"),
    "small_rotation": lambda d: d.small_rotation("x", 0.1, (0.5, 0.5, 0.5, 0.5)),
    "random_direction": lambda d: d.random_direction("x", (1.0, 2.0, 3.0), 0.3),
    "scattered_inertia": lambda d: d.scattered_inertia("x", [[2, 0.1, 0], [0.1, 2.5, 0.3], [0, 0.3, 3]], 0.1, 0.1),
    "table": lambda d: d.table("x", np.arange(100.0), rows="random"),
}
GOLDEN = {
    "random": [
        ["-0x1.9989b7a7502bbp-2", "0x1.bbcf51296ac39p-3", "0x1.2c40ffa5073a8p+0"],
        ["0x1.0d05d307283d7p-1", "0x1.3d934a6dcd3ebp-1", "0x1.403f430747c42p-2"],
        ["0x1.912d133ef41c7p+0", "0x1.66863b2d8b5dep+1", "0x1.591b1a2e39ab0p-2"],
    ],
    "latin_hypercube": [
        ["-0x1.0e84279cadf06p+0", "-0x1.4d019058b966cp+0", "0x1.aef2b848f213fp-2"],
        ["0x1.486089b150014p-1", "0x1.cb27bf38fc790p-1", "0x1.2b9f81a799bb6p-1"],
        ["0x1.5184d0f210542p+0", "0x1.f5890e3edeef4p-1", "0x1.8a430fed3aa75p-1"],
    ],
    "sobol": [
        ["0x1.882562b480af3p-3", "-0x1.88fe60f57b913p-6", "-0x1.4de5f44ce0d85p-1"],
        ["0x1.2defa593f5566p-2", "0x1.1052cfcfe5fadp-1", "0x1.1e7a5d36f9f6fp-1"],
        ["0x1.72dc0c34cace8p+0", "0x1.ea81015a94d1bp-1", "0x1.9db8e84d421a7p-2"],
    ],
}


@pytest.mark.parametrize("design", DESIGNS)
def test_draws_are_those_of_every_version(design):
    """Frozen: who repeats a sweep with a later version must get the same members."""
    draw = Draw(np.array([0, 1, 12345]), 10**6, make_design(design, 42, 10**6, {"a": 1, "b": 3, "c": 1}))
    found = [draw.normal("a", 0.0, 1.0), draw.uniform("b", (0, 0, 0), 1.0)[:, 2], draw.lognormal("c", 1.0, 0.5)]
    assert [[x.hex() for x in row.tolist()] for row in found] == GOLDEN[design]


GOLDEN_SUMS = {
    "covariance": "bc78647d20406075",
    "truncated_normal": "b0e6a56d55723cea",
    "choice": "5a8fc52c56c41668",
    "integers": "5c5ad19283ca08a3",
    "random_rotation": "db9797206fac1250",
    "small_rotation": "c4ca93e18d8e98d0",
    "random_direction": "a4a0891b7b43bcdb",
    "scattered_inertia": "972a042e8230d4f4",
    "table": "809592336bb35a3e",
}


@pytest.mark.parametrize("kind", list(OTHERS))
def test_other_draws_are_those_of_every_version(kind):
    draw = Draw(np.array([0, 1, 12345]), 10**6, make_design("random", 42, 10**6, {}))
    assert sha256(OTHERS[kind](draw).astype("<f8").tobytes()).hexdigest()[:16] == GOLDEN_SUMS[kind]


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (lambda d: d.normal("x", 1.0, -0.1), "standard_deviation of the input 'x' must not be negative, but is -0.1"),
        (lambda d: d.normal("x", 1.0), "needs its standard_deviation or its covariance"),
        (lambda d: d.normal("x", 1.0, 0.1, [[1.0]]), "needs its standard_deviation or its covariance"),
        (lambda d: d.normal("x", 1.0, covariance=[[1.0]]), "so its mean must be a vector"),
        (lambda d: d.normal("x", (0, 0), covariance=[[1, 2], [2, 1]]), "not positive semidefinite: .* is -1"),
        (lambda d: d.normal("x", (0, 0), covariance=[[0, 1], [1, 0]]), "not symmetric|not positive semidefinite"),
        (lambda d: d.normal("x", (0, 0), covariance=[[-1, 0], [0, 1]]), "not positive semidefinite"),
        (lambda d: d.normal("x", (0, 0), covariance=[[1, 0.5], [0, 1]]), "not symmetric: its entries"),
        (lambda d: d.normal("x", (0, 0), covariance=[[1.0]]), "must be 2 x 2 numbers"),
        (lambda d: d.normal("x", (1, 2, 3), (1, 2)), "different numbers of components: 3 of mean, 2 of"),
        (lambda d: d.normal("x", "one", 0.1), "mean of the input 'x' must be a number or a list of numbers"),
        (lambda d: d.normal("x", np.nan, 0.1), "must be finite"),
        (lambda d: d.normal("x", 1e308, 1e308), "overflows"),
        (lambda d: d.normal("x", np.zeros(5000), 1.0), "5000 numbers for each member is too large"),
        (lambda d: d.normal("", 1.0, 0.1), "an input needs a name"),
        (lambda d: d.normal("x", 1.0, sigma=0.1), "normal has no argument 'sigma'"),
        (lambda d: d.uniform("x", 2.0, 1.0), "low of the input 'x' is above high, 2 > 1: exchange them"),
        (lambda d: d.uniform("x", -1e308, 1.7e308), "wider than the largest double"),
        (lambda d: d.lognormal("x", 0.0, 1.0), "median of the input 'x' must be greater than 0"),
        (lambda d: d.truncated_normal("x", 0.0, 1.0, 40.0, 41.0), "more than 38 standard deviations"),
        (lambda d: d.truncated_normal("x", 0.0, 0.0), "must be greater than 0"),
        (lambda d: d.choice("x", []), "must be a list of finite numbers"),
        (lambda d: d.choice("x", ["a", "b"]), "must be a list of finite numbers"),
        (lambda d: d.choice("x", [1, 2], weights=[1, 1, 1]), "one for each of its 2 values"),
        (lambda d: d.choice("x", [1, 2], weights=[1, -1]), "must not be negative"),
        (lambda d: d.integers("x", 0.5, 2), "must be whole numbers"),
        (lambda d: d.small_rotation("x", 0.1, mean=(0, 0, 0, 0)), "one quaternion"),
        (lambda d: d.random_direction("x", half_angle=30.0), "is it in degrees"),
        (lambda d: d.random_direction("x", axis=(0, 0, 0)), "must have a direction"),
        (lambda d: d.scattered_inertia("x", (1, 1, 3), 0.1), "the input 'x': moments 1, 1, 3 kg m2 belong to no solid"),
        (lambda d: d.scattered_inertia("x", np.ones((2, 3)), 0.1), "must be one tensor"),
        (lambda d: d.scattered_inertia("x", (1, 1, 1), (0.1, 0.2)), "one number or three"),
        (lambda d: d.table("x", np.arange(3.0)), "has 3 rows for 16384 members"),
        (lambda d: d.table("x", np.arange(3.0), rows="any"), "must be 'member'"),
        (lambda d: d.table("x", np.arange(3.0), "mass"), "which an array does not have"),
        (lambda d: d.table("x", np.full(N, np.nan)), "is not finite in row 0"),
        (lambda d: (d.normal("x", 0, 1), d.normal("x", 0, 1)), "'x' is drawn twice"),
    ],
)
def test_wrong_parameters_are_explained(attempt, message):
    with pytest.raises(InputError, match=message):
        attempt(drawing())
