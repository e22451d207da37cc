"""The gallery's checks detect errors planted in bodies, forces and closed forms."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.gallery import (
    MODELS,
    boxes,
    dzhanibekov,
    feynman_plate,
    free_rotation,
    gyroscope_disk,
    gyroscope_euler_angles,
    toutatis,
)
from polhode.gallery.closed_forms.precession_and_wobble import axis_precession
from polhode.gallery.measurements import extremes
from polhode.reference import precise
from polhode.reference.free_rotation import AsymmetricTop
from polhode.reference.heavy_top import HeavyTop
from polhode.results.motion import Motion
from polhode.rotations import angle_between

STEADY = {"precession": 0.26017020225472504}, {"spin": 5.0, "precession": 0.6128711016736268}


def shown(name, **given):
    """The numbers of a model, by label."""
    model = MODELS[name]
    values = model.values(**given)
    return {number.label: number for number in model.numbers(model.run(**values), **values)}


def missed(name, **given):
    """The labels that do not hold."""
    return {label for label, number in shown(name, **given).items() if not number.holds}


# A nutation too small to time -------------------------------------------------------------------------------------
@pytest.mark.parametrize("given", STEADY)
def test_at_the_steady_push_theta_stays_and_no_period_is_shown(given):
    """The reference is the quadratic of steady precession: theta stays at 60 degrees."""
    numbers = shown("gyroscope-analytic", **given)
    assert "nutation period" not in numbers
    assert numbers["change of theta"].found < 1e-11
    assert all(number.holds for number in numbers.values())


@pytest.mark.parametrize("beyond", [1e-6, 1e-8, 1e-9, -1e-10, 1e-12])
def test_close_to_the_steady_push_the_period_is_known_to_a_thousandth_or_not_shown(beyond):
    numbers = shown("gyroscope-analytic", precession=STEADY[0]["precession"] + beyond)
    assert all(number.holds for number in numbers.values())
    if "nutation period" in numbers:
        assert numbers["nutation period"].tolerance <= 1.001e-3 * numbers["nutation period"].expected
    else:
        assert numbers["change of theta"].found == pytest.approx(abs(beyond) * 0.5616, rel=0.01, abs=2e-13)


def test_a_mean_precession_wrong_by_a_whole_turn_is_noticed(monkeypatch):
    true = HeavyTop.mean_precession.fget
    monkeypatch.setattr(HeavyTop, "mean_precession", property(lambda top: true(top) + 2 * np.pi / (6 * top.period)))
    assert missed("gyroscope-analytic") == {"mean precession"}


# Near misses of the vertical --------------------------------------------------------------------------------------
def test_where_rounding_decides_the_angles_error_is_shown_before_the_passage():
    first, *_ = shown("gyroscope-euler-angles", spin=4.0).values()
    assert first.label == "attitude error, Euler angles, before the closest approach, at 0.34 s"
    assert first.holds
    first, *_ = shown("gyroscope-euler-angles").values()
    assert first.label == "attitude error, Euler angles"


# Bodies -----------------------------------------------------------------------------------------------------------
def other_axial_moment():
    """The disk with I3 = M R^2/3 instead of 2 M R^2/5."""
    i1, i2, i3 = ph.shapes.ellipsoid(gyroscope_disk.SEMI_AXES, gyroscope_disk.MASS).principal_moments
    return ph.Body(gyroscope_disk.MASS, (i1, i2, i3 * 5 / 6))


@pytest.mark.parametrize("name", ["gyroscope", "gyroscope-analytic", "gyroscope-euler-angles"])
def test_a_wrong_moment_of_the_ellipsoid_is_noticed(name, monkeypatch):
    monkeypatch.setattr(gyroscope_disk, "make_disk", other_axial_moment)
    assert missed(name)


def other_box(sides, mass):
    """A box with I1 = m (b^2 + c^2)/13."""
    i1, i2, i3 = ph.shapes.box(sides, mass).principal_moments
    return ph.Body(mass, (i1 * 12 / 13, i2, i3))


@pytest.mark.parametrize(("name", "module"), [("free-rotation", free_rotation), ("boxes", boxes)])
def test_a_wrong_moment_of_the_box_is_noticed(name, module, monkeypatch):
    monkeypatch.setattr(module, "box", other_box)
    assert missed(name, spin=6.0)


@pytest.mark.parametrize("which", ["box", "t-handle"])
def test_a_wrong_moment_of_either_body_that_turns_over_is_noticed(which, monkeypatch):
    bodies = dict(dzhanibekov._make_bodies())
    i1, i2, i3 = bodies[which].principal_moments
    bodies[which] = ph.Body(float(bodies[which].mass), (i1 * 0.999, i2, i3))
    monkeypatch.setattr(dzhanibekov, "_make_bodies", lambda: bodies)
    assert missed("dzhanibekov")


# Forces -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("factor", [2, 1, 0, -2])
def test_a_wrong_coriolis_force_is_noticed(factor, monkeypatch):
    """The factor is 2; with any other two numbers do not hold."""

    def planted(rate, r, v, a):
        w = np.array(rate)[:, None]
        turned = np.cross(w, r, axis=0)
        return tuple(np.array(a) - factor * np.cross(w, v - turned, axis=0) - np.cross(w, turned, axis=0))

    monkeypatch.setattr("polhode.results.rotating_frame.acceleration_in_rotating_frame", planted)
    blind = {"acceleration along y at landing", "largest acceleration error"} if factor != 2 else set()
    assert missed("rotating-frame") == blind


def test_a_reaction_with_the_weight_the_wrong_way_is_noticed(monkeypatch):
    """M a + F is 2 F more than M a - F."""
    true = Motion.reaction_force.fget
    monkeypatch.setattr(Motion, "reaction_force", property(lambda motion: true(motion) - (0.0, 0.0, 2.0)))
    assert missed("gyroscope") == {"vertical force at the pivot, slow", "vertical force at the pivot, fast"}


def test_a_horizontal_reaction_away_from_the_vertical_is_noticed(monkeypatch):
    true = Motion.reaction_force.fget
    monkeypatch.setattr(Motion, "reaction_force", property(lambda motion: true(motion) * (-1.0, -1.0, 1.0)))
    assert missed("gyroscope") == {"horizontal force at the pivot, slow", "horizontal force at the pivot, fast"}


# The plate and the tray -------------------------------------------------------------------------------------------
def test_the_plate_at_one_degree_by_hand_and_leap_frogs_energy_by_its_order():
    """2/cos(1 degree) = 2.000304656; each half step gains an eighth of the energy."""
    model = MODELS["feynman-plate"]
    values = model.values(tilt=1.0)
    motions = model.run(**values)
    ratio = next(number for number in model.numbers(motions, **values) if number.label == "wobble-to-spin ratio")
    assert ratio.found == pytest.approx(2.000304656, rel=0, abs=5e-10)
    energies = [motions[feynman_plate._run_name("leapfrog", h)].rotational_energy for h in feynman_plate.STEPS]
    gained = [float(energy[-1] / energy[0] - 1) for energy in energies]
    assert all(np.log2(a / b) == pytest.approx(3, abs=0.01) for a, b in pairwise(gained))


def test_the_rate_of_an_axis_about_l_against_a_difference_of_attitudes():
    """A small turn by w moves axis 3 by phi' dt about L."""
    moments, w, dt = np.array((1.0, 2.5, 3.0)), np.array((0.4, -0.9, 1.3)), 1e-5
    along = moments * w / np.linalg.norm(moments * w)
    first = np.cross(along, (0.0, 0.0, 1.0))
    ends = [Rotation.from_rotvec(by * w).apply((0.0, 0.0, 1.0)) for by in (-dt, dt)]
    angles = [np.arctan2(end @ first, end @ np.cross(first, along)) for end in ends]
    assert (angles[1] - angles[0]) / (2 * dt) == pytest.approx(float(axis_precession(moments, w)), rel=1e-9)


# Toutatis ---------------------------------------------------------------------------------------------------------
def test_the_attitude_of_2008_by_eulers_angles_against_forty_digits():
    moments, angles, rates = toutatis._changed_inputs(0.003, -0.01)
    start = Rotation.from_euler("ZXZ", angles, degrees=True).as_quat(scalar_first=True)
    end = float(toutatis.radar_observations().times[-1]) / toutatis.DAY
    with mpmath.workdps(40):
        q, _ = precise.free_rotation(moments.tolist(), np.radians(rates).tolist(), start.tolist(), end, digits=40)
    found = toutatis._attitude_by_angles(moments, angles, rates)
    assert float(angle_between(found, np.array([float(x) for x in q]))) < 1e-10


# Extremes, and steps as asked ---------------------------------------------------------------------------------------
def test_extremes_are_found_between_outputs():
    """Of 2 + cos(3 t) sampled beside its extremes; and at the motion's start, of t itself."""
    times = np.linspace(0.2, 4.0, 12)
    motion = SimpleNamespace(times=times, at=lambda t: t)
    assert extremes(motion, 2 + np.cos(3 * times), lambda t: 2 + np.cos(3 * t)) == pytest.approx((1, 3), rel=1e-9)
    assert extremes(motion, times, float) == pytest.approx((0.2, 4.0), rel=1e-15)


def test_the_step_asked_for_is_the_step_taken():
    assert boxes.scenario(5.0, 0.1, 0.0033)["RK4, the step"].needed_step == 0.0033
    for planned in gyroscope_euler_angles.scenario(3.0, 0.01, 0.0113).values():
        assert planned.needed_step == pytest.approx(0.0113, rel=1e-15)
    assert "drift of the matrix, 1000 steps" in shown("drift", steps=1000.4)


def test_the_trays_ratio_is_that_of_any_long_quadrature():
    """Against a plain sum over many points, of the same closed form."""
    rates = feynman_plate._initial_rates(feynman_plate.TRAY_MOMENTS, 7.0, feynman_plate.SMALL)
    times = (np.arange(20_000) + 0.5) / 20_000 * feynman_plate.TURNS * 2 * np.pi / 7.0
    w = AsymmetricTop(feynman_plate.TRAY_MOMENTS, rates).rates_at(times)
    plain = float(axis_precession(feynman_plate.TRAY_MOMENTS, w).mean() / w[:, 2].mean())
    assert feynman_plate._tray_ratio(7.0) == pytest.approx(plain, rel=1e-8)
