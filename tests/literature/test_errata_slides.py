"""Errata of [Slides] (docs/reference/errata.md): the printed form fails, the corrected one holds."""

import numpy as np
import pytest
import sympy

import polhode as ph
from independent_formulas import cloud, cross, product, pure, star, tensor


def test_a_solid_is_measured_by_the_divergence_theorem():
    """[Green's theorem]  Round the edges of a closed surface every circulation cancels, whatever lies inside."""
    mesh = ph.shapes.box((1, 2, 3), density=1.0).mesh()
    corners = mesh.triangles
    edges, middles = np.roll(corners, -1, axis=1) - corners, (np.roll(corners, -1, axis=1) + corners) / 2
    field = np.stack((-middles[..., 1], middles[..., 0], np.zeros(middles.shape[:2])), axis=-1)
    circulation = (field * edges).sum(axis=(1, 2))
    assert np.abs(circulation).max() > 0.1
    assert circulation.sum() == pytest.approx(0.0, abs=1e-14)
    a, b, c = corners.transpose(1, 0, 2)
    assert (a * np.cross(b, c)).sum() / 6 == pytest.approx(
        6.0, rel=1e-14
    )  # a third of r . da: the divergence of r is 3


def test_the_acceleration_of_a_particle_holds_the_first_derivative_of_v():
    """[proof of L' = tau]  r = x + R r0 about z by a(t), differentiated by SymPy."""
    t = sympy.symbols("t")
    a, x = sympy.Function("a")(t), sympy.Matrix([sympy.Function(f"x{i}")(t) for i in range(3)])
    arm = sympy.rot_axis3(-a) * sympy.Matrix(sympy.symbols("r1:4"))
    w, v = sympy.Matrix([0, 0, a.diff(t)]), x.diff(t)
    rest = -sympy.Matrix(star(arm.diff(t))) * w - sympy.Matrix(star(arm)) * w.diff(t)
    acceleration = (x + arm).diff(t, 2)
    assert sympy.simplify(acceleration - v.diff(t) - rest) == sympy.zeros(3, 1)
    assert sympy.simplify(acceleration - v.diff(t, 2) - rest) != sympy.zeros(3, 1)


def test_the_first_sum_of_the_proof_holds_the_rate_of_the_arms():
    """[proof of L' = tau]  (sum m r* (r*)') w, on particles in fractions: I' w + I w' is the sum of r x m a."""
    masses, offsets = cloud()
    w, w_rate = np.array((1, -2, 3)), np.array((2, 0, 1))
    sums = {"right": 0, "printed": 0, "particles": 0}
    for m, r in zip(masses, offsets, strict=True):
        speed = cross(w, r)
        second = -m * star(r) @ star(r) @ w_rate
        sums["right"] += -m * star(r) @ star(speed) @ w + second
        sums["printed"] += -m * star(r) @ star(r) @ w + second
        sums["particles"] += m * cross(r, cross(w_rate, r) + cross(w, speed))
    assert (sums["right"] == sums["particles"]).all()
    assert (sums["printed"] != sums["particles"]).any()
    euler = tensor(masses, offsets) @ w_rate + cross(w, tensor(masses, offsets) @ w)
    assert (sums["particles"] == euler).all()


def test_a_particle_obeys_all_forces_and_the_body_the_external_ones():
    """[proof of L' = tau]  F_i was external; a free dumbbell's particles are accelerated by its rod alone."""
    w, places = np.array((0, 0, 3)), np.array(((1, 0, 0), (-1, 0, 0)))
    accelerations = np.cross(w, np.cross(w, places))
    assert accelerations.tolist() == [[-9, 0, 0], [9, 0, 0]]  # and F_1 = F_2 = 0
    assert accelerations.sum(axis=0).tolist() == np.cross(places, accelerations).sum(axis=0).tolist() == [0, 0, 0]


def test_each_force_of_the_couple_turns_about_y():
    """[5.4]"""
    f = sympy.symbols("f")
    first, second = cross((-3, 0, -2), (0, 0, f)), cross((3, 0, 2), (0, 0, -f))
    assert first.tolist() == second.tolist() == [0, 3 * f, 0]
    assert (first + second).tolist() == [0, 6 * f, 0] != [0, 0, 6 * f]


def test_the_quaternion_has_a_rate():
    """[last equation of motion]  q' = (0, w) q/2 along a steady turn, differentiated by SymPy; a 0 would hold it."""
    t = sympy.symbols("t")
    axis, rate = np.array([sympy.Rational(c, 3) for c in (2, -1, 2)]), sympy.Rational(7, 5)
    q = np.array([sympy.cos(rate * t / 2), *(sympy.sin(rate * t / 2) * axis)])
    slope = [c.diff(t) for c in q]
    right = product(pure(rate * axis), q) / 2
    assert [sympy.expand(a - b) for a, b in zip(slope, right, strict=True)] == [0, 0, 0, 0]
    assert slope != [0, 0, 0, 0]
