"""What the tests of bad input share: a small scenario to spoil, and how a refusal must look."""

from __future__ import annotations

import math

import pytest

import polhode as ph
from polhode.errors import FileError, PolhodeError

NAN, INF = math.nan, math.inf
BODY = ph.Body(mass=1.0, inertia=(1.0, 2.0, 2.5))
START = ph.State()


def scenario(body=BODY, state=START, forces=(), duration=1.0, step=0.1, method="rk4", **settings):
    return ph.Scenario(body, state, forces, duration=duration, step=step, method=method, **settings)


def two(forces=(), **settings):
    return scenario([BODY, BODY], [START, START], forces, **settings)


def checked(cases):
    """Each case is (what is tried, the error's type, the phrases that its sentence must contain)."""
    listed = [pytest.param(case[0], case[1], case[2:], id=name) for name, case in cases.items()]
    return pytest.mark.parametrize(("attempt", "kind", "phrases"), listed)


def assert_refused(attempt, kind, phrases):
    with pytest.raises(PolhodeError) as caught:
        attempt()
    assert type(caught.value) is kind
    assert isinstance(caught.value, ValueError) != (kind is FileError)
    for phrase in phrases:
        assert phrase in str(caught.value)
