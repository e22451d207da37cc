"""A run prepared to be repeated is the run itself, to the last bit."""

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.repeatable_run import RepeatableRun

import polhode as ph
from polhode.errors import ScenarioError
from polhode.integrate.driver import run_scenario

pytestmark = pytest.mark.filterwarnings("ignore:engine='python'")
FINENESS = {
    "exact": {},
    "rk4": {"step": 0.03},
    "leapfrog": {"step": 0.01},
    "splitting4": {"step": 0.03},
    "dop853": {"rtol": 1e-8, "formulation": "body_rates"},  # as "auto" has it
    "taylor": {"rtol": 1e-15},
}
PLAIN = {"engine": "python"}
"""The laws as they stand: the same bits as compiled, and no compilation."""
STEPPING = [method for method in FINENESS if method != "exact"]


def scenario(method, members=None, window=False, **settings):
    spins = (0.3, 4.0, 0.2) if members is None else np.random.default_rng(1).normal(size=(members, 3))
    state = ph.State(velocity=(1.0, 0.0, 5.0), angular_velocity_body=spins)
    forces = [ph.forces.gravity()] if method == "exact" else [ph.forces.gravity(), ph.forces.quadratic_drag(0.1)]
    if window:  # its edges lie beside the grid of steps
        forces.append(ph.forces.thruster((0.1, 0.0, -0.2), (1.0, 2.0, 3.0), 4.0, start=0.25, stop=0.7))
    return ph.Scenario(
        ph.Body(2.0, (0.3, 0.5, 0.7)),
        state,
        forces,
        **{"duration": 1.0, "output_times": [1.0], "method": method} | FINENESS[method] | settings,
    )


def pulled_system(method, **settings):
    """Two bodies on a spring, a thruster on one of them."""
    bodies = [ph.Body(2.0, (0.3, 0.5, 0.7)), ph.Body(1.0, (0.2, 0.3, 0.4))]
    states = [
        ph.State(angular_velocity_body=(0.3, 4.0, 0.2)),
        ph.State(position=(2.0, 0.0, 0.0), angular_velocity_body=(1.0, 0.1, 0.2)),
    ]
    spring = ph.forces.spring_between(0, 1, 20.0, (0.1, 0.0, 0.0), (0.0, 0.1, 0.0))
    push = ph.forces.thruster((0.1, 0.0, -0.2), (1.0, 2.0, 3.0), 4.0, start=0.25, stop=0.7)
    settings = {"duration": 1.0, "output_times": [1.0], "method": method} | FINENESS[method] | settings
    return ph.Scenario(bodies, states, [spring, push.on(0)], **settings)


def assert_same(one):
    if one.method == "taylor":
        pytest.importorskip("heyoka")
    wanted, again = run_scenario(one, False, 1).samples[-1], RepeatableRun(one)
    for _ in range(2):
        again.reset()
        again.go()
        found = again.final_samples()
        if one.method == "taylor":
            assert found == pytest.approx(wanted, rel=1e-13, abs=1e-13)
        else:
            assert np.array_equal(found, wanted)


@pytest.mark.parametrize("members", [None, 3, 40])
@pytest.mark.parametrize("method", list(FINENESS))
def test_a_repeated_run_is_the_run_itself(method, members):
    compiled = method != "dop853" or members == 40  # in lanes it is compiled anyway
    assert_same(scenario(method, members, **({} if compiled else PLAIN)))


def plainly(method):
    """Settings that spare a compilation; Taylor series always have their own."""
    return {} if method == "taylor" else PLAIN


@pytest.mark.parametrize("method", STEPPING)
def test_a_repeated_run_opens_and_shuts_its_windows_as_the_run_itself(method):
    assert_same(scenario(method, window=True, **plainly(method)))


def test_so_it_does_in_machine_code_for_many_members():
    assert_same(scenario("rk4", 40, window=True))


@pytest.mark.parametrize("method", ["rk4", "splitting4", "dop853", "taylor"])
def test_a_repeated_run_of_a_system_is_the_run_itself(method):
    assert_same(pulled_system(method, **({} if method == "rk4" else plainly(method))))


@pytest.mark.parametrize(("method", "formulation"), [("rk4", "momentum_matrix"), ("dop853", "momentum")])
def test_a_repeated_run_is_the_run_itself_in_other_formulations(method, formulation):
    assert_same(scenario(method, window=True, formulation=formulation, **PLAIN))


def test_euler_angles_that_lost_their_meaning_are_not_put_out():
    one = scenario("rk4", formulation="euler_angles", step=0.25)
    assert run_scenario(one, False, 1).failure is not None
    again = RepeatableRun(one)
    again.reset()
    again.go()
    assert not np.isfinite(again.final_samples()).all()


def test_what_a_prepared_run_cannot_do_is_refused():
    kick = ph.forces.impulse((0.0, 0.0, 1.0), time=0.5)
    one = scenario("rk4")
    for wrong in (replace(one, forces=[kick]), replace(one, output_times=[0.5, 1.0])):
        with pytest.raises(ScenarioError, match="prepared run"):
            RepeatableRun(wrong)
    starts = ph.forces.thruster((0, 0, 0), (1, 0, 0), 2.0, start=np.linspace(0.1, 0.5, 40), stop=0.7)
    with pytest.raises(ScenarioError, match="share the times"):
        RepeatableRun(replace(scenario("rk4", 40), forces=[starts]))
