"""Measured tosses: the fit of a flight on made-up samples, what is found about the cube, and how close runs come."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.cube_flights import GRAVITY, RATE, fit_flight, read_tosses
from benchmarks.cube_identification import corner_impacts, impact_coefficients
from benchmarks.cube_tosses import MEASURED, errors, run_polhode
from benchmarks.die_throws import faces
from scipy.spatial.transform import Rotation


def test_a_flight_is_fitted_exactly_to_made_up_samples():
    t = np.arange(-5, 4) / RATE
    x, v, w = np.array([0.1, 0.2, 0.5]), np.array([1.0, -0.5, 0.3]), np.array([5.0, -8.0, 3.0])
    turned = Rotation.from_rotvec([0.4, 0.1, -0.9])
    position = x + np.multiply.outer(t, v) - np.multiply.outer(t * t / 2, [0.0, 0.0, GRAVITY])
    flight = fit_flight(t, position, Rotation.from_rotvec(np.multiply.outer(t, w)) * turned)
    assert flight.position == pytest.approx(x, abs=1e-12)
    assert flight.velocity == pytest.approx(v, abs=1e-10)
    assert flight.angular_velocity == pytest.approx(w, abs=1e-9)
    assert (flight.orientation * turned.inv()).magnitude() < 1e-10
    assert max(flight.position_rms, flight.angle_rms) < 1e-10


def test_flights_before_contact_follow_the_closed_form():
    flights = [toss.flight for toss in read_tosses(MEASURED)]
    assert len(flights) == 120
    assert np.median([flight.position_rms for flight in flights]) < 5e-5
    assert np.degrees(np.median([flight.angle_rms for flight in flights])) < 0.05


def test_first_impacts_have_one_restitution():
    found = impact_coefficients(corner_impacts(read_tosses(MEASURED), MEASURED), MEASURED)
    assert len(found) > 50
    assert found[:, 0].mean() == pytest.approx(0.262, abs=0.005)
    assert found[:, 0].std() < 0.02


def test_runs_come_as_close_to_the_tosses_as_reported():
    tosses = read_tosses(MEASURED)
    medians = np.median(errors(tosses, *run_polhode(tosses, MEASURED, 0.25, 0.18)), axis=0)
    assert (medians < [2.1, 2.8, 4.2, 5.0, 20.0, 12.0]).all()


def test_the_upper_face_against_scipy():
    q = np.random.default_rng(0).normal(size=(50, 4))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    up = Rotation.from_quat(q, scalar_first=True).as_matrix()[:, 2]
    assert (faces(q) == np.concatenate([up, -up], axis=1).argmax(axis=1)).all()
