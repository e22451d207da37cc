"""Mass courses that differ between members: each against its own run, to the bit, and against Tsiolkovsky."""

from __future__ import annotations

import numpy as np
import pytest

import polhode as ph
from polhode.errors import PolhodeError, ScenarioError

PROPELLANT = np.array([50.0, 60.0, 70.0, 40.0, 55.0])
BURN = np.array([20.0, 21.0, 19.0, 20.0, 25.0])
COUNT = len(BURN)
START = ph.State(velocity=(10.0, 0.0, 0.0), angular_velocity_body=(0.1, 0.05, 0.5))


def rocket(mass):
    shape = np.ones_like(mass)[..., None] * np.array((50.0, 60.0, 15.0))
    return ph.Body(mass=mass, inertia=shape)


def table(k=slice(None)):
    """Everything differs; with an index: of one member."""
    full, zero = 40.0 + PROPELLANT[k], 0 * BURN[k]
    times = np.stack([zero, BURN[k] / 2, BURN[k]], axis=-1)
    mass = np.stack([full, full - 0.6 * PROPELLANT[k], full - PROPELLANT[k]], axis=-1)
    inertia = np.array((50.0, 60.0, 15.0)) * np.stack([1 + zero, 0.8 + BURN[k] / 1000, 0.6 + zero], axis=-1)[..., None]
    center = np.stack([zero, 0.1 + zero, BURN[k] / 100], axis=-1)[..., None] * np.array((0.0, 0.0, 1.0))
    push = np.stack([zero, zero, -3000.0 - 10 * BURN[k]], axis=-1)
    return full, {
        "times": times,
        "mass": mass,
        "center_of_mass": center,
        "inertia": inertia,
        "exhaust_velocity": push,
        "nozzle": np.array((0.01, 0.0, -2.0)) + 0 * push,
    }


def run(method="auto", **settings):
    mass, course = table()
    return ph.ensemble(
        rocket(mass), START, [ph.forces.gravity()], mass_course=ph.mass_course(**course), duration=30.0,
        method=method, **settings,
    )  # fmt: skip


def alone(k, method="auto", **settings):
    mass, course = table(k)
    return ph.simulate(
        rocket(mass), START, [ph.forces.gravity()], mass_course=ph.mass_course(**course), duration=30.0,
        method=method, **settings,
    )  # fmt: skip


@pytest.mark.parametrize(("method", "step"), [("dop853", {}), ("rk4", {"step": 0.25})])
def test_members_have_the_bits_of_their_own_runs(method, step):
    motion = run(method, output_times=[5.0, 20.5, 30.0], **step)
    for k in range(COUNT):
        one = alone(k, method, output_times=[5.0, 20.5, 30.0], **step)
        for name in ("position", "velocity", "angular_velocity", "quaternion_wxyz", "mass", "center_of_mass"):
            assert getattr(motion, name)[:, k].tolist() == getattr(one, name).tolist(), name
        assert motion.inertia_world[:, k] == pytest.approx(one.inertia_world, rel=1e-13)


def test_the_speed_against_tsiolkovsky():
    full = 40.0 + PROPELLANT
    course = ph.mass_course(
        np.stack([0 * BURN, BURN], axis=-1), np.stack([full, 0 * full + 40.0], axis=-1),
        exhaust_velocity=(0.0, 0.0, -3000.0),
    )  # fmt: skip
    motion = ph.ensemble(rocket(full), mass_course=course, duration=30.0)
    assert motion.velocity[-1, :, 2] == pytest.approx(3000.0 * np.log(full / 40.0), rel=1e-9)
    assert motion.mass[-1] == pytest.approx(40.0, rel=1e-14)


def test_one_burn_time_and_different_propellant():
    full = 40.0 + PROPELLANT
    course = ph.mass_course((0.0, 20.0), np.stack([full, 0 * full + 40.0], axis=-1), exhaust_velocity=(0, 0, -3000.0))
    motion = ph.ensemble(rocket(full), mass_course=course, duration=30.0)
    assert motion.velocity[-1, :, 2] == pytest.approx(3000.0 * np.log(full / 40.0), rel=1e-9)


def test_exhaust_velocities_alone_differ():
    speeds = np.linspace(1000.0, 3000.0, 4)
    course = ph.mass_course(
        (0.0, 20.0), (100.0, 40.0), exhaust_velocity=np.stack([0 * speeds, 0 * speeds, -speeds], axis=-1)
    )
    motion = ph.ensemble(rocket(np.float64(100.0)), mass_course=course, duration=30.0)
    assert motion.velocity[-1, :, 2] == pytest.approx(speeds * np.log(2.5), rel=1e-9)


def test_rotors_may_differ_too():
    mass, course = table()
    wheel = ph.rotor((0, 0, 1), np.linspace(0.1, 0.3, COUNT), speed=np.linspace(10.0, 50.0, COUNT))
    motion = ph.ensemble(
        rocket(mass), START, mass_course=ph.mass_course(**course), rotors=[wheel], duration=30.0, method="dop853"
    )
    single, its = table(2)
    one = ph.simulate(
        rocket(single), START, mass_course=ph.mass_course(**its), rotors=[wheel.select_members(2)], duration=30.0,
        method="dop853", output_times=[30.0],
    )  # fmt: skip
    assert motion.angular_velocity[-1, 2].tolist() == one.angular_velocity[-1].tolist()


def test_a_member_taken_alone_and_a_store(tmp_path):
    motion = run(output_times=[30.0])
    result = run(output_times=[30.0], store=tmp_path / "burns.zarr")
    assert result.motion(np.arange(COUNT)).position.tobytes() == motion.position.tobytes()
    again = ph.load(tmp_path / "burns.zarr")
    assert again.motion(np.arange(COUNT)).mass.tobytes() == motion.mass.tobytes()
    resumed = run(output_times=[30.0], store=tmp_path / "burns.zarr", resume=True)
    assert resumed.motion(np.arange(COUNT)).position.tobytes() == motion.position.tobytes()
    motion.save(tmp_path / "motion.zarr")
    assert ph.load(tmp_path / "motion.zarr").mass.tobytes() == motion.mass.tobytes()


def test_a_sweep_draws_propellant_and_burn_time(tmp_path):
    (tmp_path / "burn.toml").write_text(
        "duration = 30.0\n[body]\nmass = 100.0\ninertia = [50, 60, 15]\n[mass_course]\n"
        "times = [0.0, { uniform = [18.0, 22.0], name = 'burn' }]\n"
        "mass = [100.0, { uniform = [35.0, 45.0], name = 'dry' }]\n"
        "exhaust_velocity = [0.0, 0.0, { normal = [-3000.0, 20.0], name = 'speed' }]\n[sweep]\nmembers = 40\n"
    )
    source = ph.DrawnSource.from_toml(tmp_path / "burn.toml")
    drawn = source.inputs(np.arange(40))
    motion = ph.ensemble(source.take(np.arange(40)))
    assert motion.velocity[-1, :, 2] == pytest.approx(-drawn["speed"] * np.log(100.0 / drawn["dry"]), rel=1e-9)
    result = ph.sweep(source, reduce=["mean:velocity.z@final"])
    assert result.reductions["mean:velocity.z@final"]["mean"].item() == pytest.approx(motion.velocity[-1, :, 2].mean())


def test_files_and_scripts_keep_members(tmp_path):
    mass, course = table()
    scenario = ph.Scenario(rocket(mass), START, duration=30.0, mass_course=ph.mass_course(**course))
    scenario.to_toml(tmp_path / "one.toml")
    made: dict = {}
    exec(scenario.as_python().split("motion = ")[0], made)
    for other in (ph.Scenario.from_toml(tmp_path / "one.toml"), made["scenario"]):
        assert other.mass_course.piece(12.0, other.bodies[0])[2][0][1].tolist() == (
            scenario.mass_course.piece(12.0, scenario.bodies[0])[2][0][1].tolist()
        )
        assert other.as_toml() == scenario.as_toml()
    one = scenario.take(3)
    assert one.members is None
    its = ph.mass_course(**table(3)[1])
    assert {key: np.asarray(value).tolist() for key, value in one.mass_course.arguments.items()} == {
        key: np.asarray(value).tolist() for key, value in its.arguments.items()
    }


def test_mistakes_name_the_member():
    mass, course = table()
    with pytest.raises(ScenarioError, match="mass course of member 3 has mass 80"):
        ph.Scenario(
            rocket(np.where(np.arange(COUNT) == 3, 81.0, mass)), START, duration=1.0,
            mass_course=ph.mass_course(**course),
        )  # fmt: skip
    with pytest.raises(PolhodeError, match="different lengths"):
        ph.mass_course(course["times"][:2], course["mass"])
    with pytest.raises(PolhodeError, match="different lengths"):
        ph.Scenario(rocket(mass[:2]), START, duration=1.0, mass_course=ph.mass_course(**course))


def test_a_sweep_draws_added_mass_and_rotors_with_a_course(tmp_path):
    entries = [["1.0" if i == j else "0.0" for j in range(6)] for i in range(6)]
    entries[0][0] = "{ uniform = [0.5, 1.0], name = 'added' }"
    matrix = ", ".join(f"[{', '.join(row)}]" for row in entries)
    (tmp_path / "fluid.toml").write_text(
        f"duration = 1.0\nadded_mass = [{matrix}]\n[body]\nmass = 1.0\ninertia = [1, 1, 1]\n[[forces]]\n"
        "kind = 'force_at'\nforce = [1.0, 0, 0]\n[sweep]\nmembers = 5\n"
    )
    source = ph.DrawnSource.from_toml(tmp_path / "fluid.toml")
    motion = ph.ensemble(source.take(np.arange(5)))
    assert motion.velocity[-1, :, 0] == pytest.approx(1 / (1 + source.inputs(np.arange(5))["added"]), rel=1e-12)
    (tmp_path / "wheel.toml").write_text(
        "duration = 5.0\n[body]\nmass = 1.0\ninertia = [1, 1, 1]\n[[rotors]]\naxis = [0, 0, 1]\n"
        "inertia = { uniform = [0.01, 0.02], name = 'J' }\nspeed = { normal = [10.0, 1.0], name = 'speed' }\n"
        "[mass_course]\ntimes = [0.0, 3.0]\nmass = [1.0, 0.5]\n"
        "inertia = [[1, 1, 1], [{ uniform = [0.5, 0.8] }, 0.7, 0.7]]\n[sweep]\nmembers = 5\n"
    )
    source = ph.DrawnSource.from_toml(tmp_path / "wheel.toml")
    drawn, motion = source.inputs(np.arange(5)), ph.ensemble(source.take(np.arange(5)))
    assert motion.rotor_momentum[-1, :, 0] == pytest.approx(drawn["J"] * drawn["speed"], rel=1e-12)
