"""Fixed steps that are too long for the rotation warn, with the numbers; those that are not do not."""

import warnings

import pytest

import polhode as ph

BODY = ph.Body(mass=1.0, inertia=(1.0, 2.0, 3.0))


def spin(rate, method, step=0.1, body=BODY, **settings):
    return ph.simulate(
        body, ph.State(angular_velocity_body=(0.0, 0.01, rate)), duration=1.0, method=method, step=step, **settings
    )


@pytest.mark.parametrize("method", ["euler", "midpoint", "rk4", "leapfrog", "splitting4"])
def test_thirty_six_radians_a_step_warn_with_the_numbers(method):
    with pytest.warns(UserWarning, match=rf"36 rad in one step of 0\.1 s \(360 rad/s\): {method} cannot follow"):
        spin(360.0, method)


def test_an_ensemble_warns_of_its_fastest_member():
    state = ph.State(angular_velocity_body=[(0.0, 0.0, 1.0), (0.0, 0.0, 50.0)])
    with pytest.warns(UserWarning, match="5 rad in one step"):
        ph.ensemble(BODY, state, duration=1.0, method="rk4", step=0.1)


def test_what_becomes_fast_on_the_way_warns_too():
    """A torque of 100 N m spins it up from rest to 33 rad/s, 3.3 rad a step."""
    with pytest.warns(UserWarning, match=r"3\.\d+ rad in one step"):
        ph.simulate(BODY, forces=[ph.forces.torque((0.0, 0.0, 100.0))], duration=1.0, method="rk4", step=0.1)


@pytest.mark.parametrize(
    "run",
    [
        lambda: spin(5.0, "rk4"),
        lambda: spin(360.0, "splitting4_exact"),  # its free rotation is exact at any length
        lambda: spin(0.0, "rk4", body=ph.particle(1.0)),
    ],
)
def test_no_warning_where_the_steps_are_short_enough(run):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run()
