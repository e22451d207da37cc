"""Bodies moved, turned, scaled and mirrored, against raw sums over mapped points, and the integrals of trimesh."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from assembly_cases import SIZES, assert_alike, assert_same, cloud, raw_sums

TURN = Rotation.from_euler("xyz", (0.4, -1.0, 2.0))


def random_step(rng, body, masses, points):
    """One random operation on a body, and by hand on its points."""
    kind = rng.integers(6)
    v = rng.normal(size=3)
    if kind == 0:
        return body.move(v), masses, points + v
    if kind == 1:
        turn, about = Rotation.from_quat(rng.normal(size=4)), rng.normal(size=3)
        return body.turn(turn, about), masses, turn.apply(points - about) + about
    if kind == 2:
        about = rng.normal(size=3)
        aside = (points - about) @ v / (v @ v)
        return body.mirror(v, about), masses, points - 2 * np.outer(aside, v)
    if kind == 3:
        s = rng.uniform(0.5, 2.0)
        return body.scale(s, keep="mass"), masses, points * s
    if kind == 4:
        s = rng.uniform(0.5, 2.0, 3)
        return body.scale(s, keep="mass"), masses, points * s
    more_masses, more_points = cloud(rng, 5)
    joined = body.join(ph.Body.from_particles(more_masses, more_points), ph.particle(0.7).move(v))
    return joined, np.concatenate((masses, more_masses, [0.7])), np.concatenate((points, more_points, [v]))


@pytest.mark.parametrize("seed", range(40))
def test_ten_random_operations_against_raw_sums_over_the_points(seed):
    rng = np.random.default_rng(seed)
    masses, points = cloud(rng)
    body = ph.Body.from_particles(masses, points)
    for _ in range(10):
        body, masses, points = random_step(rng, body, masses, points)
        assert_same(body, *raw_sums(masses, points), 1e-12)


def test_products_of_inertia_keep_their_sign():
    """Masses at (1, 1, 0) and (-1, -1, 0): I_xy = -2.  Seen in a mirror across x they lie on the other diagonal."""
    body = ph.Body.from_particles((1, 1, 1e-3, 1e-3), ((1, 1, 0), (-1, -1, 0), (0, 0, 1), (0, 0, -1)))
    assert body.inertia_body[0, 1] == -2.0
    assert body.mirror((1, 0, 0)).inertia_body[0, 1] == 2.0
    assert body.mirror((0, 0, 5)).inertia_body[0, 1] == -2.0
    assert body.mirror((1, 1, 0)).inertia_body[0, 1] == -2.0
    assert body.scale((3, 1, 1), keep="mass").inertia_body[0, 1] == pytest.approx(-6.0, rel=1e-15)
    quarter = Rotation.from_euler("z", 90, degrees=True)
    assert body.turn(quarter).inertia_body[0, 1] == pytest.approx(2.0, rel=1e-15)


def test_mirroring_twice_and_scaling_by_powers_of_two_change_no_bit():
    body = ph.shapes.box((0.1, 0.2, 0.3), mass=0.7).move((0.3, 0.1, 0.2)).turn(TURN)
    twice = body.mirror((0, 1, 0), (1, 1, 1)).mirror((0, 1, 0), (1, 1, 1))
    assert (twice.inertia_body == body.inertia_body).all()
    back = body.scale(8.0).scale(1 / 8)
    for name in ("mass", "volume", "area"):
        assert getattr(back, name) == getattr(body, name)
    assert (back.inertia_body == body.inertia_body).all()
    assert (back.center_of_mass == body.center_of_mass).all()
    assert body.scale(8.0, keep="mass").mass == body.mass


def test_a_box_stretched_is_the_stretched_box():
    box = ph.shapes.box((1, 1, 1), density=3.0).move((1, 1, 1)).scale((0.1, 20, 3))
    assert_alike(box, ph.shapes.box((0.1, 20, 3), density=3.0).move((0.1, 20, 3)), 1e-14)
    assert box.area is None
    assert box.scale(2).area is None
    assert ph.shapes.box((1, 1, 1), mass=1.0).scale(3).area == 54.0


def test_a_flat_body_stays_flat_when_stretched():
    """Four masses in a plane, turned there and back so that rounding hides it, made a thousand times thicker."""
    plane = np.array([(1, 2, 0), (-1, 0.5, 0), (0.3, -2, 0), (0.1, 0.1, 0)])
    rng = np.random.default_rng(9)
    for turn in Rotation.from_quat(rng.normal(size=(50, 4))):
        flat = ph.Body.from_particles((1, 2, 3, 4), turn.apply(plane)).turn(turn.inv())
        tall = flat.scale((1, 1, 1000), keep="mass")
        assert np.abs(tall.inertia_body - raw_sums((1, 2, 3, 4), plane)[2]).max() < 1e-11


@pytest.mark.parametrize("size", SIZES)
def test_lines_stay_lines(size):
    line = ph.Body.from_particles((1.0, 3.0), ((0, 0, 0), (0, 0, 4 * size)))
    assert line.principal_moments.tolist() == pytest.approx([12 * size**2, 12 * size**2, 0.0])
    assert line.principal_moments[2] == 0.0
    moved = (
        line.turn(TURN, (1, 2, 3)).mirror((1, 2, 3)).scale((1, 2, 3), keep="mass").scale(2, keep="mass").move((1, 1, 1))
    )
    assert moved.is_line
    assert moved.principal_moments.min() == 0.0
    ends = TURN.apply(np.array([(0, 0, 0), (0, 0, 4 * size)]))
    n = np.array((1, 2, 3)) / np.sqrt(14)
    ends = (ends - 2 * np.outer(ends @ n, n)) * (2, 4, 6)
    assert moved.principal_moments.max() == pytest.approx(0.75 * ((ends[1] - ends[0]) ** 2).sum(), rel=1e-14)


def test_particles_and_lines_join():
    rod = ph.Body.from_particles((1.0, 1.0), ((0, 0, -1), (0, 0, 1)))
    assert rod.join(ph.particle(1.0).move((0, 0, 7))).is_line
    assert rod.join(ph.particle(1.0)).principal_moments.tolist() == [2.0, 2.0, 0.0]
    aside = rod.join(ph.particle(1.0).move((1, 0, 0)))
    assert not aside.is_line
    assert_same(aside, *raw_sums((1, 1, 1), ((0, 0, -1), (0, 0, 1), (1, 0, 0))), 1e-15)
    crossed = rod.join(rod.turn(Rotation.from_euler("x", 90, degrees=True)))
    assert crossed.principal_moments == pytest.approx([4.0, 2.0, 2.0], rel=1e-15)
    longer = rod.turn(TURN).join(rod.turn(TURN).scale(3.0, keep="mass"))
    assert longer.is_line
    assert longer.principal_moments.max() == pytest.approx(20.0, rel=1e-14)


def test_a_moved_particle_is_a_particle():
    point = ph.particle(2.0).move((1, 2, 3)).turn(TURN, (1, 2, 3)).mirror((1, 0, 0)).scale((2, 3, 4), keep="mass")
    assert point.is_particle
    assert point.center_of_mass == pytest.approx([-2.0, 6.0, 12.0], rel=1e-15)
    assert point.inertia_about((-2, 6, 13)).diagonal() == pytest.approx([2.0, 2.0, 0.0], abs=1e-13)


def test_the_shape_goes_along_against_the_integrals_of_trimesh():
    box = (
        ph.shapes.box((1, 2, 3), density=2.0).move((1, 0, 0)).turn(TURN, (0, 1, 0)).mirror((1, 2, 3)).scale((1, 2, 0.5))
    )
    hole = ph.shapes.box((0.1, 0.2, 0.3), density=2.0).move(box.center_of_mass)
    for body in (box, box.subtract(hole), box.join(ph.shapes.box((1, 1, 1), density=2.0).move((9, 9, 9)))):
        mesh = body.mesh()
        mesh.density = 2.0
        assert mesh.volume == pytest.approx(body.volume, rel=1e-13)
        assert mesh.center_mass == pytest.approx(body.center_of_mass, rel=1e-12)
        assert np.abs(mesh.moment_inertia - body.inertia_body).max() < 1e-12 * body.inertia_body.max()
