"""What a user gives is checked once in a call, however many runs the call makes."""

from __future__ import annotations

import numpy as np
import pytest

import polhode as ph
from polhode.scenario import scenario_validation

BODY = ph.Body(mass=1.0, inertia=(1.0, 2.0, 2.5))
SPIN = ph.State(position=(1.0, 0, 0), angular_velocity_body=(0.1, 2.0, 0.1))
MANY = ph.State(position=np.eye(3)[np.arange(200) % 3], angular_velocity_body=(0.1, 2.0, 0.1))


@ph.force
def pull(t, state, body, params):
    return tuple(-x for x in state.position), (0.0, 0.0, 0.0)


@ph.event
def crossing(t, state, body, params):
    return state.position[0]


CASES = {
    "closed form": lambda: ph.simulate(BODY, SPIN, [ph.forces.gravity()], duration=1.0),
    "rk4": lambda: ph.simulate(BODY, SPIN, [pull()], duration=1.0, step=0.1, method="rk4"),
    "auto": lambda: ph.simulate(BODY, SPIN, [pull()], duration=1.0),
    "auto, coarse at first": lambda: ph.simulate(BODY, SPIN, [pull()], duration=30.0, rtol=1e-12),
    "auto with events": lambda: ph.simulate(BODY, SPIN, [pull()], duration=1.0, events=[crossing()]),
    "an ensemble": lambda: ph.ensemble(BODY, MANY, [pull()], duration=1.0, step=0.1, method="rk4"),
    "an ensemble by auto": lambda: ph.ensemble(BODY, MANY, [pull()], duration=1.0),
    "an ensemble in closed form": lambda: ph.ensemble(BODY, MANY, duration=1.0),
}


@pytest.mark.parametrize("name", CASES)
def test_a_call_validates_once(name, monkeypatch):
    checked, check = [], scenario_validation.validate_scenario
    monkeypatch.setattr(scenario_validation, "validate_scenario", lambda scenario: checked.append(1) or check(scenario))
    CASES[name]()
    assert len(checked) == 1
