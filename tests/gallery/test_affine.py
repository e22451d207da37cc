"""Homogeneous coordinates: against the exercises of [Christian 2011], SymPy, SciPy and algebra."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.errors import InputError

affine = ph.affine
CLOCKWISE = affine.rotation(-np.pi / 6)
STRETCH = affine.scaling((2, 1))
numbers = st.floats(-10, 10, allow_nan=False).map(lambda x: round(x, 3))


def test_rotation_and_scaling_do_not_commute_by_hand():
    """Exercise 17.1 a: 30 degrees clockwise and a stretch by 2 along x."""
    difference = affine.combined(STRETCH, CLOCKWISE) - affine.combined(CLOCKWISE, STRETCH)
    assert difference[:2, :2] == pytest.approx(np.array([(0, -0.5), (-0.5, 0)]), abs=1e-15)
    assert not difference[2].any()
    assert not difference[:, 2].any()


def test_rotation_is_17_1_by_sympy():
    a = sympy.pi / 6
    exact = sympy.Matrix([[sympy.cos(a), -sympy.sin(a)], [sympy.sin(a), sympy.cos(a)]])
    assert affine.rotation(np.pi / 6)[:2, :2] == pytest.approx(np.array(exact.evalf(20), dtype=float), abs=2e-16)


def test_skew_is_17_6_and_keeps_areas():
    assert affine.skew(0.2).tolist() == [[1, 0.2, 0], [0, 1, 0], [0, 0, 1]]
    for matrix in (affine.skew(0.2), affine.skew(-3, "y", "x"), affine.skew(2.5, "z", "x", dimensions=3)):
        assert np.linalg.det(matrix) == pytest.approx(1, abs=0, rel=1e-15)


def test_shift_and_turn_swapped_move_by_1_minus_r_d():
    d = np.array((0.7, -1.1))
    shift = affine.translation(d)
    moved = (affine.combined(CLOCKWISE, shift) - affine.combined(shift, CLOCKWISE))[:2, 2]
    assert moved == pytest.approx((np.eye(2) - CLOCKWISE[:2, :2]) @ d, abs=1e-15)


def test_a_vector_is_no_place_and_no_translation_moves_it():
    arrow = affine.vector((3, 4))
    assert affine.applied(affine.translation((5, 6)), arrow).tolist() == arrow.tolist()
    assert (affine.point((3, 4)) - affine.point((1, 1)))[2] == 0
    with pytest.raises(InputError, match="a vector, which has no position"):
        affine.homogenized(arrow)
    assert affine.homogenized([(2, 4, 2), (-3, 6, -3)]).tolist() == [[1, 2, 1], [1, -2, 1]]


def test_rotation_in_space_against_scipy():
    turn = Rotation.from_euler("ZXZ", (0.3, 1.1, -2.0))
    points = np.random.default_rng(1).normal(size=(5, 3))
    found = affine.applied(affine.rotation(turn), affine.point(points))
    assert found[:, :3] == pytest.approx(turn.apply(points), abs=1e-15)
    about_axis = affine.rotation(0.7, axis=(1, -2, 0.5))
    direction = np.array((1, -2, 0.5)) / np.linalg.norm((1, -2, 0.5))
    assert about_axis[:3, :3] == pytest.approx(Rotation.from_rotvec(0.7 * direction).as_matrix(), abs=1e-15)


def test_orders_of_quarter_turns_differ_by_120_degrees():
    for degrees, apart in ((90, 120.0), (30, 15.36386)):
        x, z = (affine.rotation(np.radians(degrees), axis=axis) for axis in ((1, 0, 0), (0, 0, 1)))
        turn = affine.combined(x, z, affine.inverse(affine.combined(z, x)))
        assert np.degrees(Rotation.from_matrix(turn[:3, :3]).magnitude()) == pytest.approx(apart, abs=5e-6)


@given(numbers, numbers, numbers, st.floats(-3, 3))
def test_about_leaves_its_place(x, y, stretch, angle):
    matrix = affine.about(affine.combined(affine.rotation(angle), affine.scaling((stretch, 2))), (x, y))
    assert affine.applied(matrix, affine.point((x, y))) == pytest.approx([x, y, 1], abs=1e-12)


@given(st.floats(0.1, 10), numbers, numbers, st.floats(-3, 3))
def test_inverse_undoes(stretch, x, y, angle):
    matrix = affine.combined(affine.rotation(angle), affine.scaling((stretch, 1)), affine.translation((x, y)))
    assert affine.combined(matrix, affine.inverse(matrix)) == pytest.approx(np.eye(3), abs=1e-12)
    third = affine.skew(0.5)
    left = affine.combined(affine.combined(matrix, STRETCH), third)
    assert left == pytest.approx(affine.combined(matrix, affine.combined(STRETCH, third)), abs=1e-12)


@given(st.lists(numbers, min_size=6, max_size=6))
def test_parallel_lines_stay_parallel(entries):
    matrix = np.vstack((np.reshape(entries, (2, 3)), (0, 0, 1)))
    ends = affine.applied(matrix, affine.point([(0, 0), (1, 2), (5, -1), (6, 1)]))
    assert ends[1] - ends[0] == pytest.approx(ends[3] - ends[2], abs=1e-12)


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e150])
def test_singular_whatever_the_size(size):
    for block in ([(0.1, 0.2), (0.3, 0.6)], [(1, 2), (2, 4)], [(0, 1), (0, 3)], [(0, 0), (0, 0)]):
        matrix = np.eye(3)
        matrix[:2, :2] = size * np.array(block)
        with pytest.raises(InputError, match="singular"):
            affine.inverse(matrix)
    good = affine.scaling((size, 1))
    assert affine.inverse(good)[0, 0] == pytest.approx(1 / size, rel=1e-15, abs=0)
    assert affine.inverse(affine.skew(size))[0, 1] == -size


def test_projection_keeps_depth_and_perspective_divides_by_w():
    corners = affine.point([(1, 2, 3), (4, 5, -6)])
    for along, order in (("x", (1, 2, 0)), ("y", (2, 0, 1)), ("z", (0, 1, 2))):
        flat, depth = affine.projected(corners, along)
        assert np.column_stack((flat, depth)).tolist() == corners[:, order].tolist()
        assert np.linalg.det(np.eye(3)[list(order)]) == pytest.approx(1)
    # From 12 m, what lies 6 m behind the paper is 12/18 as large, what lies 3 m before it 12/9.
    flat, _ = affine.projected(corners, distance=12.0)
    assert flat == pytest.approx(np.array([(12 / 9, 24 / 9), (48 / 18, 60 / 18)]), rel=1e-15)


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        (lambda: affine.point(3), "places must be 2 numbers"),
        (lambda: affine.point((1, 2, 3, 4)), "places must be 2 numbers"),
        (lambda: affine.point((1, np.nan)), "places must be finite"),
        (lambda: affine.vector([(1, 2), (1, 2, 3)]), "components must be"),
        (lambda: affine.homogenized((1, 2)), r"pass places through point\(\)"),
        (lambda: affine.rotation(np.inf), "the angle must be finite"),
        (lambda: affine.rotation(1.0, axis=(0, 0, 0)), "has no direction"),
        (lambda: affine.rotation(Rotation.identity(), axis=(0, 0, 1)), "has its own axis"),
        (lambda: affine.rotation(Rotation.identity(2)), "one rotation at a time"),
        (lambda: affine.scaling(2.0), "factors must be 2 numbers"),
        (lambda: affine.skew(0.2, "x", "x"), "two of x, y, not 'x' and 'x'"),
        (lambda: affine.skew(0.2, "z", "x"), "two of x, y, not"),
        (lambda: affine.skew(0.2, dimensions=4), "dimensions must be 2 or 3"),
        (lambda: affine.skew(0.2, dimensions=2.0), "dimensions must be 2 or 3, not 2.0"),
        (lambda: affine.skew(0.2, dimensions=[2]), "dimensions must be 2 or 3"),
        (lambda: affine.skew(0.2, "", "x", 3), "two of x, y, z, not '' and 'x'"),
        (lambda: affine.skew(0.2, "xy", "z", 3), "two of x, y, z, not 'xy' and 'z'"),
        (lambda: affine.skew(0.2, "x", "yz", 3), "two of x, y, z, not 'x' and 'yz'"),
        (lambda: affine.skew(0.2, ["x"], "y"), "two of x, y, not"),
        (lambda: affine.rotation(1.0, axis=[(0, 0, 1)] * 2), r"has the shape \(2, 3\): give one rotation at a time$"),
        (lambda: affine.rotation(1.0, axis=(0, 1)), r"axis must be 3 numbers, but has the shape \(2,\)$"),
        (lambda: affine.rotation(1.0, axis="z"), "axis must be 3 numbers, not 'z'$"),
        (lambda: affine.rotation([[1.0, 2.0]]), r"the angle must be one number, the same for all, .* \(1, 2\)$"),
        (lambda: affine.applied("turn", (1, 2, 1)), r"the matrix must be 3 x 3 \(the plane\) or 4 x 4"),
        (lambda: affine.applied(np.eye(3), [(1, 2, 1), (1,)]), "points must be homogeneous, 3 numbers each"),
        (lambda: affine.translation("x"), r"displacement must be 2 numbers \(the plane\) or 3"),
        (
            lambda: affine.projected((1, 2, 3, 1), along=["z"]),
            r"along \['z'\] is unknown: it must be one of 'x', 'y', 'z'",
        ),
        (lambda: affine.inverse(affine.scaling((1e-320, 1))), "the inverse overflows"),
        (
            lambda: affine.inverse(affine.combined(affine.scaling((1e-200, 1)), affine.translation((1e200, 0)))),
            "beyond",
        ),
        (lambda: affine.combined(*[affine.scaling((1e200, 1))] * 2), "the combined matrix overflows"),
        (lambda: affine.applied(affine.scaling((1e200, 1)), (1e200, 0, 1)), "the transformation overflows"),
        (lambda: affine.homogenized((1e200, 0, 1e-200)), "the division by w overflows"),
        (lambda: affine.translation([(1, 2), (3, 4)]), "displacement must be"),
        (lambda: affine.combined(np.eye(3), np.eye(4)), "cannot be combined"),
        (lambda: affine.combined(np.eye(2)), "must be 3 x 3"),
        (lambda: affine.applied([(1, 0, 0), (0, 1, 0), (0, 1, 1)], (1, 2, 1)), "last row must be"),
        (lambda: affine.applied(np.eye(4), (1, 2, 1)), "acts on 4 numbers"),
        (
            lambda: affine.about(np.eye(3), (1, 2, 3)),
            "place must be 2 numbers for a matrix of 3 x 3, the coordinates without w",
        ),
        (lambda: affine.projected((1, 2, 1)), "points of space"),
        (lambda: affine.projected((1, 2, 3, 1), along="w"), "along 'w' is unknown: known are x, y, z"),
        (lambda: affine.projected((1, 2, 3, 1), distance=3.0), "at the camera or behind it"),
        (lambda: affine.projected((1, 2, 3, 1), distance=-1.0), "greater than 0 m"),
    ],
)
def test_bad_input_gets_a_sentence(act, sentence):
    with pytest.raises(InputError, match=sentence):
        act()
