"""Principal moments and axes, against brute force over all axes, many digits, and the tensors that they came from."""

from __future__ import annotations

from dataclasses import replace

import mpmath
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.errors import InertiaError
from polhode.massprops.principal_axes import diagonalize_inertia

EPS = np.finfo(float).eps
SIZES = [1e-27, 1.0, 1e27]
NAMES = Rotation.create_group("O")
"""The 24 right-handed ways to name three axes and their ends."""
KINDS = {
    "three different": (1.0, 1.7, 2.2),
    "needle": (1.0, 1.0, 1e-6),
    "symmetric, long": (1.0, 1.0, 0.3),
    "symmetric, flat": (1.0, 1.0, 2.0),
    "sphere": (1.0, 1.0, 1.0),
    "nearly a sphere": (1.0, 1.0 + 1e-13, 1.0 - 1e-13),
    "nearly symmetric": (1.0, 1.0 + 1e-12, 1.5),
}


def turns(count, seed=0):
    return Rotation.from_quat(np.random.default_rng(seed).normal(size=(count, 4)))


def tensors_of(moments, rotations):
    r = rotations.as_matrix()
    tensors = r @ (np.asarray(moments)[..., None] * np.eye(3)) @ np.swapaxes(r, -1, -2)
    return (tensors + np.swapaxes(tensors, -1, -2)) / 2


def axes_of(tensors):
    moments, quaternions = diagonalize_inertia(tensors)
    return moments, Rotation.from_quat(quaternions, scalar_first=True).as_matrix()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_the_tensor_comes_back_from_right_handed_axes(kind, size):
    tensors = size * tensors_of(kind, turns(3000))
    moments, axes = axes_of(tensors)
    assert np.abs(np.swapaxes(axes, -1, -2) @ axes - np.eye(3)).max() < 1e-15 * 4
    assert (np.linalg.det(axes) > 0).all()
    back = (axes * moments[:, None, :]) @ np.swapaxes(axes, -1, -2)
    assert np.abs(back - tensors).max() < 1e-14 * size * max(kind)
    assert np.abs(np.sort(moments, axis=-1) - size * np.sort(kind)).max() < 16 * EPS * size * max(kind)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_no_other_names_of_the_axes_are_nearer(kind):
    _, axes = axes_of(tensors_of(kind, turns(3000, 1)))
    traces = np.einsum("nij,kji->nk", axes, NAMES.as_matrix())
    chosen = np.trace(axes, axis1=-2, axis2=-1)
    assert (chosen >= traces.max(axis=-1) - 1e-14).all()
    assert chosen.min() > 0.5 + np.sqrt(2) - 1e-12  # no frame lies farther from all 24 than 62.8 degrees


@pytest.mark.parametrize("axis", [(0, 0, 1), (1, 0, 0), (1, 1, 1), (0.3, -0.5, 0.8)])
def test_turned_a_little_the_axes_turn_as_much(axis):
    """Once round in quarters of a degree: the axes follow, or have just been renamed because others are nearer."""
    step = np.radians(0.25)
    rotations = Rotation.from_rotvec(np.outer(np.arange(1440) * step, np.array(axis) / np.linalg.norm(axis)))
    _, axes = axes_of(tensors_of((1.0, 1.7, 2.2), rotations))
    frames = Rotation.from_matrix(axes)
    change = (frames[1:] * frames[:-1].inv()).magnitude()
    follows = np.abs(change - step) < 1e-7
    assert follows.sum() >= len(change) - 12
    for i in np.flatnonzero(~follows):
        continued = Rotation.from_matrix(axes[i + 1]).magnitude()
        kept = ((rotations[i + 1] * rotations[i].inv()) * frames[i]).magnitude()
        assert continued <= kept + 1e-9
        assert kept - continued <= 2 * step + 1e-9


def test_a_symmetric_bodys_free_axes_follow_its_axis():
    """The axis of a cylinder goes round z on a cone: the free axes are reached by the shortest turn, without a jump."""
    azimuth = np.radians(np.arange(0.0, 360.0, 0.5))
    n = np.stack((0.5 * np.cos(azimuth), 0.5 * np.sin(azimuth), np.full(azimuth.shape, np.sqrt(0.75))), axis=-1)
    tensors = np.eye(3) - 0.7 * n[:, :, None] * n[:, None, :]
    moments, axes = axes_of(tensors)
    assert moments == pytest.approx(np.tile((1.0, 1.0, 0.3), (len(n), 1)), rel=1e-14)
    assert axes[:, :, 2] == pytest.approx(n, abs=1e-14)
    change = (Rotation.from_matrix(axes[1:]) * Rotation.from_matrix(axes[:-1]).inv()).magnitude()
    assert change.max() < np.radians(0.5)
    assert np.trace(axes, axis1=1, axis2=2) == pytest.approx(1 + 2 * np.sqrt(0.75), rel=1e-14)


def test_a_turned_sphere_keeps_its_axes():
    ball = ph.shapes.sphere(0.3, mass=2.0)
    for turn in turns(200, 2):
        turned = ball.turn(turn)
        assert turned.principal_axes.magnitude() == 0.0
        assert turned.principal_moments == pytest.approx(ball.principal_moments, rel=1e-15)


def test_moments_against_fifty_digits():
    rng = np.random.default_rng(3)
    with mpmath.workdps(50):
        for _ in range(40):
            points = rng.normal(size=(4, 3)) * (1.0, 0.1, 0.01)
            body = ph.Body.from_particles(np.ones(4), points)
            expected = mpmath.eigsy(mpmath.matrix(body.inertia_body.tolist()), eigvals_only=True)
            found = np.sort(body.principal_moments)
            assert found == pytest.approx([float(m) for m in expected], abs=16 * EPS * found[-1])


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_members_have_the_same_bits_alone(kind):
    tensors = np.concatenate((tensors_of(kind, turns(300, 4)), [np.diag(kind)]))
    moments, quaternions = diagonalize_inertia(tensors)
    for i, tensor in enumerate(tensors):
        m, q = diagonalize_inertia(tensor)
        assert (m == moments[i]).all()
        assert (q == quaternions[i]).all()


@pytest.mark.parametrize("size", SIZES)
def test_a_diagonal_tensor_keeps_its_order_and_its_bits(size):
    for diagonal in ((3.0, 1.0, 2.5), (1.0, 1.0, 2.0), (2.0, 2.0, 1e-40)):
        moments, quaternion = diagonalize_inertia(size * np.diag(diagonal))
        assert moments.tolist() == [size * d for d in diagonal]
        assert quaternion.tolist() == [1.0, 0.0, 0.0, 0.0]
    nearly = size * (np.diag((3.0, 1.0, 2.5)) + 1e-18 * (np.ones((3, 3)) - np.eye(3)))
    assert diagonalize_inertia(nearly)[0] == pytest.approx([3 * size, size, 2.5 * size], rel=1e-15)
    nearly = size * (np.diag((1.0, 1.0, 2.0)) + 1e-17 * (np.ones((3, 3)) - np.eye(3)))
    assert diagonalize_inertia(nearly)[1] == pytest.approx([1.0, 0.0, 0.0, 0.0], abs=1e-15)


@pytest.mark.parametrize("size", SIZES)
def test_the_moment_about_a_line_is_zero_and_nothing_else(size):
    n = turns(2000, 5).as_matrix()[:, 0]
    across = np.eye(3) - n[:, :, None] * n[:, None, :]
    moments, axes = axes_of(size * across)
    assert (np.sort(moments, axis=-1)[:, 0] == 0.0).all()
    along = axes[np.arange(len(n)), :, moments.argmin(axis=-1)]
    assert np.abs(np.abs((along * n).sum(axis=-1)) - 1).max() < 1e-14
    thin = across + 1e-12 * n[:, :, None] * n[:, None, :]
    assert np.abs(np.sort(axes_of(size * thin)[0], axis=-1)[:, 0] / size - 1e-12).max() < 16 * EPS
    with pytest.raises(InertiaError, match="is that of a line: give it a transverse extent"):
        ph.Body(1.0, size * across[0])
    assert ph.Body(1.0, size * across[0], is_line=True).principal_moments.min() == 0.0


@pytest.mark.parametrize("radius", [1e-4, 3e-7, 1e-8, 1e-10])
def test_a_turned_needle_keeps_its_moments_and_its_axes_turn_along(radius):
    """The reference for the tensor is R I R^T, in forty digits; the moment about the axis is 1e-20 of the others."""
    rod = ph.shapes.thin_rod(1.0, radius, mass=1.0)
    largest = rod.principal_moments.max()
    for turn in turns(100, 6):
        turned = rod.turn(turn)
        assert sorted(turned.principal_moments) == sorted(rod.principal_moments)
        axes, r = turned.principal_axes.as_matrix(), turn.as_matrix()
        with mpmath.workdps(40):
            exact = (
                mpmath.matrix(r.tolist()) * mpmath.diag(rod.principal_moments.tolist()) * mpmath.matrix(r.T.tolist())
            )
        expected = np.array(exact.tolist(), dtype=float)
        assert np.abs((axes * turned.principal_moments) @ axes.T - expected).max() < 1e-15 * largest
        along = axes[:, turned.principal_moments.argmin()]
        assert np.abs(np.cross(along, r[:, 2])).max() < 1e-15
        mirrored = turned.mirror((1.0, 2.0, -0.5), (1, 0, 0)).scale(2.0, keep="mass").move((1, 2, 3))
        assert sorted(mirrored.principal_moments) == sorted(4 * rod.principal_moments)
        assert np.linalg.det(mirrored.principal_axes.as_matrix()) == pytest.approx(1.0)


def test_a_turned_needle_spins_about_its_axis():
    """Free, about the axis of a needle 1e-8 thick: the spin along it stays what it is."""
    turn = turns(1, 7)[0]
    needle = ph.shapes.thin_rod(1.0, 1e-8, mass=1.0).turn(turn)
    spin = 3.0 * turn.as_matrix()[:, 2]
    motion = ph.simulate(needle, ph.State(angular_velocity_body=spin), duration=1.0, method="exact")
    assert motion.angular_velocity_body[-1] == pytest.approx(spin, abs=1e-14)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_axes_that_turn_along_are_those_that_would_be_found(kind):
    """Again and again turned and mirrored; the reference finds the axes from the tensor, as for any other body."""
    body = ph.Body(1.0, kind)
    for i, turn in enumerate(turns(60, 8)):
        body = (
            body.turn(turn)
            if i % 3
            else body.mirror(turn.as_matrix()[0]).scale(1.1, keep="mass").scale(1 / 1.1, keep="mass")
        )
        found = ph.Body(1.0, body.inertia_body)
        a, b = body.principal_axes.as_matrix(), found.principal_axes.as_matrix()
        largest = max(kind)
        difference = (a * body.principal_moments) @ a.T - (b * found.principal_moments) @ b.T
        assert np.abs(difference).max() < 2e-14 * largest
        gaps = np.diff(np.sort(kind))
        if ((gaps == 0) | (gaps > 0.1)).all():  # where moments are nearly equal, the tensor hardly shows the axes
            assert np.trace(a) == pytest.approx(np.trace(b), abs=1e-12)
        if (gaps > 0.1).all():
            assert a == pytest.approx(b, abs=1e-13)
            assert body.principal_moments == pytest.approx(found.principal_moments, rel=1e-13)


def test_moments_of_another_tensor_are_recomputed():
    turned = ph.shapes.box((1, 2, 3), mass=12.0).turn(turns(1, 9)[0])
    other = np.diag((3.0, 4.0, 5.0))
    assert replace(turned, inertia=other).principal_moments.tolist() == [3.0, 4.0, 5.0]
    assert replace(turned, inertia=(3.0, 4.0, 5.0)).principal_axes.magnitude() == 0.0
    assert replace(turned, mass=1.0).principal_moments.tolist() == turned.principal_moments.tolist()
