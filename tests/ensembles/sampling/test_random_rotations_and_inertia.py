"""Rotations against the densities of SO(3) and the sphere; inertia tensors that belong to solids."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.ensembles.sampling.designs import make_design
from polhode.ensembles.sampling.draw import Draw
from polhode.ensembles.sampling.random_inertia import principal_axes

N = 20_000


def drawing(n=N, seed=3):
    return Draw(np.arange(n), n, make_design("random", seed, n, {}))


def test_random_rotations_are_uniform():
    """The angle has the density (1 - cos a)/pi; a fixed rotation after it changes nothing."""
    q = drawing().random_rotation("q")
    assert np.allclose((q**2).sum(axis=1), 1.0, rtol=1e-15)
    for turn in (Rotation.identity(), Rotation.from_rotvec((1.0, -2.0, 0.5))):
        found = turn * Rotation.from_quat(q, scalar_first=True)
        assert stats.kstest(found.magnitude(), lambda a: (a - np.sin(a)) / np.pi).pvalue > 1e-3
    for vector in np.eye(3):
        image = Rotation.from_quat(q, scalar_first=True).apply(vector)
        for component in image.T:
            assert stats.kstest(component, stats.uniform(-1, 2).cdf).pvalue > 1e-3
    assert np.abs(q.T @ q / N - np.eye(4) / 4).max() < 0.01


def test_small_rotations_against_rotation_vectors_of_scipy():
    mean = Rotation.from_rotvec((0.3, -1.0, 2.0))
    q = drawing().small_rotation("q", (0.01, 0.1, 0.3), mean=3 * mean.as_quat(scalar_first=True))
    assert np.allclose((q**2).sum(axis=1), 1.0, rtol=1e-14)
    vectors = (mean.inv() * Rotation.from_quat(q, scalar_first=True)).as_rotvec()
    for component, deviation in zip(vectors.T, (0.01, 0.1, 0.3), strict=True):
        assert stats.kstest(component, stats.norm(0, deviation).cdf).pvalue > 1e-3
    assert np.array_equal(drawing().small_rotation("q", 0.0), np.tile((1.0, 0.0, 0.0, 0.0), (N, 1)))


@pytest.mark.parametrize("axis", [(0, 0, 1), (0, 0, -1), (1.0, 2.0, -3.0), (1e-300, 0, 0)])
@pytest.mark.parametrize("half_angle", [np.pi, 1.0, 1e-3])
def test_directions_are_uniform_in_their_cone(axis, half_angle):
    found = drawing().random_direction("d", axis, half_angle)
    assert np.allclose(np.linalg.norm(found, axis=1), 1.0, rtol=1e-15)
    unit = np.array(axis) / np.abs(axis).max()
    unit /= np.linalg.norm(unit)
    angle = np.arctan2(np.linalg.norm(np.cross(unit, found), axis=1), found @ unit)
    share = stats.kstest((np.sin(angle / 2) / np.sin(half_angle / 2)) ** 2, "uniform")  # of the solid angle
    assert share.pvalue > 1e-3
    across = np.linalg.svd(unit[None])[2][1:]
    around = np.arctan2(found @ across[0], found @ across[1])
    assert stats.kstest(around, stats.uniform(-np.pi, 2 * np.pi).cdf).pvalue > 1e-3


TENSOR = Rotation.from_rotvec((0.4, -0.8, 0.3)).as_matrix() @ np.diag((2.0, 2.5, 1.0))
TENSOR = TENSOR @ Rotation.from_rotvec((0.4, -0.8, 0.3)).as_matrix().T
EXTREME = [
    ((1.0, 1.0, 1.0), 3.0, 1.0),
    ((1.0, 2.0, 3.0), 3.0, 1.0),  # a plate: one second moment is 0
    ((1e-12, 1.0, 1.0), 1.0, 0.3),  # nearly a rod
    ((1.0, 2.0, 2.9), (5.0, 0.0, 1.0), 10.0),
    (TENSOR, 2.0, 1.0),
]


@pytest.mark.parametrize(("inertia", "deviation", "turn"), EXTREME)
def test_scattered_inertia_always_belongs_to_a_solid(inertia, deviation, turn):
    n = 100_000
    found = drawing(n).scattered_inertia("i", inertia, deviation, turn)
    assert np.array_equal(found, found.swapaxes(1, 2))
    second = np.trace(found, axis1=1, axis2=2)[:, None, None] / 2 * np.eye(3) - found
    smallest = np.linalg.eigvalsh(second)[:, 0]
    assert (smallest > -2e-15 * np.trace(second, axis1=1, axis2=2)).all()
    assert ph.Body(mass=np.ones(n), inertia=found).members == n  # it refuses what no solid has


def test_moments_have_the_documented_mean_and_deviation():
    moments, deviations = np.array((2.0, 2.5, 1.0)), np.array((0.1, 0.2, 0.05))
    found = drawing(200_000).scattered_inertia("i", moments, deviations)
    assert np.array_equal(found, found * np.eye(3))
    diagonal = np.diagonal(found, axis1=1, axis2=2)
    second = moments.sum() / 2 - moments
    variance = (deviations * second) ** 2
    expected = np.sqrt(variance.sum() - variance)
    assert np.allclose(diagonal.mean(axis=0), moments, rtol=2e-3)
    assert np.allclose(diagonal.std(axis=0), expected, rtol=1e-2)
    drawn = diagonal.sum(axis=1, keepdims=True) / 2 - diagonal
    for i in range(3):
        s = np.sqrt(np.log1p(deviations[i] ** 2))
        assert stats.kstest(drawn[:, i], stats.lognorm(s, scale=second[i] * np.exp(-s * s / 2)).cdf).pvalue > 1e-3


def test_principal_axes_turn_as_documented():
    found = drawing().scattered_inertia("i", TENSOR, 0.0, 0.02)
    start = np.linalg.eigh(TENSOR)
    values, vectors = np.linalg.eigh(found)
    assert np.allclose(values, start.eigenvalues, rtol=1e-13)
    turns = np.swapaxes(start.eigenvectors * np.linalg.det(start.eigenvectors), 0, 1) @ vectors
    for i, j in ((0, 1), (1, 2), (0, 2)):  # small angles between the old axes and the new ones
        assert abs(np.std(turns[:, i, j] * np.sign(turns[:, j, j])) - 0.02) < 1e-3


def test_principal_axes_against_lapack():
    rng = np.random.default_rng(5)
    for scale in (1.0, 1e-200, 1e200):
        for _ in range(50):
            a = rng.normal(size=(3, 3)) * scale**0.5
            tensor = a @ a.T
            values, vectors = principal_axes(tensor)
            assert np.allclose(np.sort(values), np.linalg.eigvalsh(tensor), rtol=1e-12, atol=1e-15 * values.max())
            assert np.allclose(vectors * values @ vectors.T, tensor, rtol=0, atol=1e-14 * values.max())
            assert np.allclose(vectors.T @ vectors, np.eye(3), atol=1e-15 * 5)


def test_a_body_knows_the_axes_of_drawn_tensors_without_an_eigensolver(monkeypatch):
    found = drawing(1000).scattered_inertia("i", TENSOR, 0.3, 0.5)
    judged = ph.Body(mass=1.0, inertia=np.array(found))  # a plain copy: LAPACK finds the axes
    monkeypatch.setattr(np.linalg, "eigh", None)
    body = ph.Body(mass=1.0, inertia=found)
    assert np.allclose(np.sort(body.principal_moments), np.sort(judged.principal_moments), rtol=1e-13)
    axes = body.principal_axes.as_matrix()
    assert np.allclose(axes * body.principal_moments[:, None, :] @ axes.swapaxes(1, 2), found, rtol=0, atol=1e-14)
    assert type(2 * found) is type(found)
    monkeypatch.undo()
    assert np.allclose(ph.Body(mass=1.0, inertia=2 * found).inertia_body, 2 * judged.inertia_body, rtol=1e-15)
