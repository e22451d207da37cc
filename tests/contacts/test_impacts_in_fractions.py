"""Impacts of rods and boxes against the impulse equations, solved in exact fractions.

In the plane: a body turns about y, its contact is at arm (x, z) from the center of mass, and P = (Px, Pz) changes the
velocity of the contact by du = K P.  Only cases in which every law of impact agrees: no friction, slip in one direction
throughout, or a contact that neither slips before nor begins to.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph

COS, SIN = Fraction(4, 5), Fraction(3, 5)
TILT = float(np.arctan2(3, 4))


def planar_impact(mass, inertia, arm, v, w, e, mu):
    """Velocity, spin about y and impulse after an impact in the plane, in fractions, and what the contact does."""
    x, z = arm
    kxx, kzz, kxz = 1 / mass + z * z / inertia, 1 / mass + x * x / inertia, -x * z / inertia
    ux, uz = v[0] + w * z, v[1] - w * x
    if mu == 0:
        px, pz, kind = Fraction(0), -(1 + e) * uz / kzz, "slip"
    elif ux == 0:  # grips from the start: Px keeps ux at 0
        ratio = -kxz / kxx
        assert abs(ratio) <= mu
        pz = -(1 + e) * uz / (kzz + kxz * ratio)
        px, kind = ratio * pz, "stick"
    else:
        side = -1 if ux > 0 else 1
        pz = -(1 + e) * uz / (kzz + side * mu * kxz)
        px, kind = side * mu * pz, "slip"
        assert (ux + kxx * px + kxz * pz) * ux > 0, "this case stops slipping"
    after = (v[0] + px / mass, v[1] + pz / mass)
    return after, w + (z * px - x * pz) / inertia, (px, pz), kind


ROD = (Fraction(1, 10), Fraction(1, 10), Fraction(2))
"""Sides: a rod along z."""
MASS, MOMENT = Fraction(3, 2), Fraction(1, 2)
CASES = {
    "no friction": ((Fraction(0), Fraction(-2)), Fraction(0), Fraction(1, 2), Fraction(0)),
    "no friction, turning": ((Fraction(1), Fraction(-2)), Fraction(1), Fraction(3, 4), Fraction(0)),
    "elastic, no friction": ((Fraction(0), Fraction(-3)), Fraction(0), Fraction(1), Fraction(0)),
    "slips": ((Fraction(6), Fraction(-2)), Fraction(0), Fraction(1, 2), Fraction(1, 5)),
    "slips the other way": ((Fraction(-6), Fraction(-2)), Fraction(0), Fraction(1, 4), Fraction(1, 5)),
    "grips": ((Fraction(0), Fraction(-2)), Fraction(0), Fraction(1, 2), Fraction(2)),
    "grips and does not rebound": ((Fraction(0), Fraction(-2)), Fraction(0), Fraction(0), Fraction(2)),
}


def lowest_corner(sides):
    """From the center, of a box turned about y by TILT: x and z in the world."""
    corners = [(COS * x + SIN * z, COS * z - SIN * x) for x in (-sides[0], sides[0]) for z in (-sides[2], sides[2])]
    x, z = min(corners, key=lambda corner: corner[1])
    return x / 2, z / 2


def solid(sides, mass, moment):
    """A box with given moments, all equal: the third one does not matter in the plane."""
    return ph.Body(float(mass), (float(moment),) * 3, parts=ph.shapes.box([float(s) for s in sides], mass=1.0).parts)


def strike(sides, v, w, e, mu, gap=Fraction(1, 8)):
    """A box turned about y, whose lowest edge strikes the floor after a time without gravity."""
    arm = lowest_corner(sides)
    when = gap / -(v[1] - w * arm[0]) if w == 0 else None
    position = (0.0, 0.0, float(-arm[1] + gap)) if w == 0 else (0.0, 0.0, float(-arm[1]) + 1e-9)
    start = ph.State(
        position=position,
        velocity=(float(v[0]), 0.0, float(v[1])),
        orientation=Rotation.from_rotvec([0.0, TILT, 0.0]),
        angular_velocity=(0.0, float(w), 0.0),
    )
    duration = float(when) + 1e-3 if when else 1e-3
    body = solid(sides, MASS, MOMENT)
    contacts = [ph.floor(float(e), float(mu))]
    return arm, when, ph.simulate(body, start, duration=duration, output_times=[duration], contacts=contacts)


@pytest.mark.parametrize("case", CASES)
def test_a_rod_on_its_end_against_fractions(case):
    v, w, e, mu = CASES[case]
    arm, when, motion = strike(ROD, v, w, e, mu)
    after, spin, push, kind = planar_impact(MASS, MOMENT, arm, v, w, e, mu)
    close = {"rel": 1e-12, "abs": 1e-12} if when else {"rel": 1e-7, "abs": 1e-7}  # turning: the rod turns on a little
    strikes = motion.impacts
    if when:
        assert np.asarray(strikes.time) == pytest.approx([float(when)] * len(strikes), rel=1e-14)
    assert motion.final.velocity == pytest.approx([float(after[0]), 0.0, float(after[1])], **close)
    assert motion.angular_velocity[-1] == pytest.approx([0.0, float(spin), 0.0], **close)
    assert sum(strikes.normal_impulse) == pytest.approx(float(push[1]), **close)
    assert np.sum(strikes.tangential_impulse, axis=0) == pytest.approx([float(push[0]), 0.0, 0.0], **close)
    before = MASS * (v[0] ** 2 + v[1] ** 2) / 2 + MOMENT * w * w / 2
    left = MASS * (after[0] ** 2 + after[1] ** 2) / 2 + MOMENT * spin * spin / 2
    assert sum(strikes.energy_lost) == pytest.approx(float(before - left), **close)
    if e != 0:
        assert {impact.kind for impact in strikes} == {kind}


def test_both_corners_of_an_edge_take_half_of_the_impulse():
    v, e = (Fraction(0), Fraction(-2)), Fraction(1, 2)
    sides = (Fraction(3, 5), Fraction(1, 2), Fraction(2, 5))
    arm, _, motion = strike(sides, v, Fraction(0), e, Fraction(0))
    _, _, push, _ = planar_impact(MASS, MOMENT, arm, v, Fraction(0), e, Fraction(0))
    assert len(motion.impacts) == 2
    assert np.asarray(motion.impacts.normal_impulse) == pytest.approx([float(push[1]) / 2] * 2, rel=1e-12)
    points = np.asarray(motion.impacts.point)
    assert sorted(points[:, 1]) == pytest.approx([-0.25, 0.25], rel=1e-12)
    assert points[:, 0] == pytest.approx([float(arm[0])] * 2, rel=1e-12)


@pytest.mark.parametrize("e", [Fraction(0), Fraction(1, 2), Fraction(1)])
def test_a_box_flat_on_the_floor_rebounds_without_turning(e):
    body = ph.shapes.box((0.3, 0.2, 0.1), mass=2.0)
    start = ph.State(position=(0.0, 0.0, 1.05), velocity=(0.0, 0.0, -2.0))
    motion = ph.simulate(body, start, duration=1.0, output_times=[1.0], contacts=[ph.floor(float(e), 0.4)])
    assert motion.final.velocity == pytest.approx([0.0, 0.0, float(2 * e)], abs=1e-14)
    assert motion.angular_velocity[-1] == pytest.approx([0.0, 0.0, 0.0], abs=1e-13)
    assert sum(motion.impacts.normal_impulse) == pytest.approx(float(4 * (1 + e)), rel=1e-13)
    assert sum(motion.impacts.energy_lost) == pytest.approx(float(4 * (1 - e * e)), rel=1e-13, abs=1e-13)


def test_a_box_off_center_on_one_corner_in_space_against_linear_equations():
    """One corner, no friction: P = -(1 + e) u / (1/m + (r x n) . I^-1 (r x n)), by NumPy."""
    sides, mass, e = np.array([0.3, 0.2, 0.1]), 2.0, 0.6
    body = ph.shapes.box(sides, mass=mass)
    turned = Rotation.from_rotvec([0.5, -0.7, 0.3])
    v, w = np.array([0.3, -0.2, -2.0]), np.array([1.0, 2.0, -1.0])
    signs = np.array([(i, j, k) for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
    arms = turned.apply(signs * sides / 2)
    arm = arms[arms[:, 2].argmin()]
    start = ph.State(position=(0, 0, -arm[2] + 1e-10), velocity=v, orientation=turned, angular_velocity=w)
    motion = ph.simulate(body, start, duration=1e-8, output_times=[1e-8], contacts=[ph.floor(e)])
    moments = mass / 12 * (np.sum(sides**2) - sides**2)
    inverse = turned.as_matrix() @ np.diag(1 / moments) @ turned.as_matrix().T
    lever = np.cross(arm, [0.0, 0.0, 1.0])
    push = -(1 + e) * (v + np.cross(w, arm))[2] / (1 / mass + lever @ inverse @ lever)
    assert motion.impacts.normal_impulse == pytest.approx([push], rel=1e-7)
    assert motion.final.velocity == pytest.approx(v + [0.0, 0.0, push / mass], rel=1e-7)
    assert motion.angular_velocity[-1] == pytest.approx(w + inverse @ (lever * push), rel=1e-6)
