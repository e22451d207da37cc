"""Forces that act in windows of time, against sums of pulses: no step crosses an edge, so the answer is exact."""

import numpy as np
import pytest

import polhode as ph
from polhode.errors import ForceError

PULSES = [(0.1, 0.35), (0.5, 0.77), (1.2, 1.3), (1.9, 5.0)]
DURATION, MASS, THRUST = 2.0, 2.0, 10.0
BODY = ph.Body(mass=MASS, inertia=(1.0, 2.0, 2.5))
THRUSTER = {"com_to_nozzle_body": (0, 0, -1), "direction_body": (0, 0, 1), "thrust": THRUST}


def velocity_after(pulses, end=DURATION):
    return sum(max(0.0, min(b, end) - a) for a, b in pulses) * THRUST / MASS


def distance_after(pulses, end=DURATION):
    """A pulse from a to b gives a (b - a) to the velocity, as if all came at its middle."""
    cut = [(a, min(b, end)) for a, b in pulses if a < end]
    return sum((b - a) * (end - (a + b) / 2) for a, b in cut) * THRUST / MASS


@ph.event
def halfway(t, state, body, params):
    return t - 0.6


METHODS = {
    "auto": {},
    "rk4": {"method": "rk4", "step": 0.03},
    "splitting4": {"method": "splitting4", "step": 0.03},
    "dop853": {"method": "dop853"},
    "taylor": {"method": "taylor"},
    "events": {"method": "dop853", "events": [halfway(action="record")]},
    "rk4 with events": {"method": "rk4", "step": 0.03, "events": [halfway(action="record")]},
    "taylor with events": {"method": "taylor", "events": [halfway(action="record")]},
}


@pytest.mark.parametrize("name", METHODS)
def test_pulses_of_a_thruster_against_their_sum(name):
    forces = [ph.forces.thruster(**THRUSTER, pulses=PULSES)]
    motion = ph.simulate(ph.particle(MASS), forces=forces, duration=DURATION, **METHODS[name])
    assert motion.final.velocity[2] == pytest.approx(velocity_after(PULSES), rel=1e-13)
    assert motion.final.position[2] == pytest.approx(distance_after(PULSES), rel=1e-13)
    one_by_one = [ph.forces.thruster(**THRUSTER, start=a, stop=b) for a, b in PULSES]
    several = ph.simulate(ph.particle(MASS), forces=one_by_one, duration=DURATION, **METHODS[name])
    np.testing.assert_allclose(several.final.position, motion.final.position, rtol=1e-13)


@pytest.mark.parametrize("axes", ["world", "body"])
@pytest.mark.parametrize("name", METHODS)
def test_force_and_torque_between_start_and_stop_against_their_sum(name, axes):
    forces = [
        ph.forces.force_at((0, 0, THRUST), axes=axes, start=0.3, stop=1.1),
        ph.forces.torque((0, 0, 4.0), axes=axes, start=0.25),
    ]
    motion = ph.simulate(BODY, forces=forces, duration=DURATION, **METHODS[name])
    assert motion.final.velocity[2] == pytest.approx(velocity_after([(0.3, 1.1)]), rel=1e-12)
    assert motion.final.angular_velocity[2] == pytest.approx(4.0 * 1.75 / 2.5, rel=1e-12)


@pytest.mark.parametrize("name", ["rk4", "dop853", "taylor"])
def test_each_member_has_its_own_windows(name):
    starts = np.linspace(0.1, 0.9, 12)
    forces = [
        ph.forces.thruster(**THRUSTER, pulses=[(0, 0.05), (starts, starts + 0.5)]),
        ph.forces.force_at((1.0, 0, 0), start=starts),
    ]
    motion = ph.ensemble(ph.particle(MASS), forces=forces, duration=DURATION, **METHODS[name])
    np.testing.assert_allclose(motion.final.velocity[:, 2], 0.55 * THRUST / MASS, rtol=1e-13)
    np.testing.assert_allclose(motion.final.velocity[:, 0], (DURATION - starts) / MASS, rtol=1e-13)


@pytest.mark.parametrize("method", ["rk4", "dop853"])
def test_a_stepper_that_lands_on_the_edges_of_windows(method):
    forces = [ph.forces.thruster(**THRUSTER, pulses=PULSES), ph.forces.impulse((MASS, 0, 0), time=0.5)]
    step = {"step": 0.01} if method == "rk4" else {}
    stepper = ph.Stepper(ph.particle(MASS), forces=forces, method=method, **step)
    for k in range(1, 21):
        stepper.advance_to(k / 10)
        assert stepper.state.velocity[2] == pytest.approx(velocity_after(PULSES, k / 10), rel=1e-12, abs=1e-14)
        assert stepper.state.velocity[0] == pytest.approx(1.0 if k >= 5 else 0.0, abs=1e-14)


def test_bits_of_both_engines():
    forces = [ph.forces.thruster(**THRUSTER, pulses=PULSES), ph.forces.torque((0.1, 0, 4.0), start=0.25, stop=1.0)]
    settings = {"duration": DURATION, "method": "rk4", "step": 0.03}
    compiled = ph.simulate(BODY, forces=forces, **settings)
    with pytest.warns(UserWarning, match="slower"):
        plain = ph.simulate(BODY, forces=forces, **settings, engine="python")
    assert compiled.position.tobytes() == plain.position.tobytes()
    assert compiled.quaternion_wxyz.tobytes() == plain.quaternion_wxyz.tobytes()


def test_one_body_of_a_system_is_pushed_in_its_windows():
    forces = [ph.forces.force_at((0, 0, THRUST), start=0.5, stop=1.5).on(1), ph.forces.mutual_gravity(G=0.0)]
    apart = [ph.State(), ph.State(position=(1, 0, 0))]
    motion = ph.simulate([ph.particle(MASS)] * 2, apart, forces, duration=DURATION, method="rk4", step=0.03)
    np.testing.assert_allclose(motion.velocity[-1, :, 2], [0.0, THRUST / MASS], atol=1e-13)


def test_windows_in_scenario_files(tmp_path):
    forces = [
        ph.forces.thruster(**THRUSTER, pulses=PULSES),
        ph.forces.torque((0, 0, 1), start=0.5),
        ph.forces.force_at((0, 0, 1), stop=1.5),
        ph.forces.force_at((0, 0, 1)),
    ]
    scenario = ph.Scenario(BODY, forces=forces, duration=DURATION)
    scenario.to_toml(tmp_path / "pulses.toml")
    assert "pulses" in (tmp_path / "pulses.toml").read_text()
    again = ph.Scenario.from_toml(tmp_path / "pulses.toml")
    assert [f.windows for f in again.forces] == [f.windows for f in scenario.forces]
    assert again.forces[0].windows == tuple(PULSES)
    assert not again.forces[3].has_windows


def test_a_saved_motion_keeps_its_windows(tmp_path):
    motion = ph.simulate(ph.particle(MASS), forces=[ph.forces.thruster(**THRUSTER, pulses=PULSES)], duration=DURATION)
    motion.save(tmp_path / "pulses.zarr")
    loaded = ph.load(tmp_path / "pulses.zarr")
    assert loaded.scenario.forces[0].windows == tuple(PULSES)
    assert (loaded.acceleration == motion.acceleration).all()


REFUSED = {
    "overlap": ({"pulses": [(0, 1), (0.5, 2)]}, "two windows of a thruster overlap"),
    "backwards": ({"pulses": [(1, 0)]}, "stops before it starts"),
    "flat": ({"pulses": [0, 1]}, r"is two times, \(start, stop\)"),
    "none": ({"pulses": []}, r"a list of windows, \[\(start, stop\), ...\]"),
    "both": ({"start": 1.0, "pulses": [(0, 1)]}, "start and stop, or pulses"),
    "text": ({"pulses": [("a", "b")]}, "must be a number"),
    "NaN": ({"pulses": [(0, float("nan"))]}, "must be finite"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_windows_that_make_no_sense_are_refused(name):
    arguments, sentence = REFUSED[name]
    with pytest.raises(ForceError, match=sentence):
        ph.forces.thruster(**THRUSTER, **arguments)


def test_a_torque_that_stops_before_it_starts_is_refused():
    with pytest.raises(ForceError, match="torque stops before it starts: start 2 s, stop 1 s"):
        ph.forces.torque((0, 0, 1), start=2, stop=1)
