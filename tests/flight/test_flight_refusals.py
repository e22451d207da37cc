"""What flight refuses, with a sentence: disagreeing forces, starts and places where nothing is known."""

from pathlib import Path

import numpy as np
import pytest

import polhode as ph
from polhode.errors import ScenarioError

pytestmark = pytest.mark.filterwarnings("ignore:engine='python'")
F, P, PLACE = ph.forces, ph.particle(1.0), ph.State.from_geodetic(height=100.0)
CASE_6 = Path(__file__).parents[2] / "examples" / "nesc" / "case-06.toml"
BALL = ph.Body(mass=1.0, inertia=(1, 1, 1))


@pytest.mark.parametrize("engine", ["cpu", "python"])
@pytest.mark.parametrize(
    "force", [F.drag(1, 1, earth="WGS84"), F.earth_gravity(), F.magnetic_torquer((1, 0, 0))], ids=lambda f: f.name
)
def test_a_start_at_the_center_of_the_earth_is_refused(force, engine):
    with pytest.raises(ScenarioError, match=rf"the body starts at the Earth's center.*{force.name}.*from_geodetic"):
        ph.simulate(BALL, ph.State(), [force], duration=1.0, engine=engine)
    some = ph.State(position=[PLACE.position, (0, 0, 0)])
    with pytest.raises(ScenarioError, match="member 1 of the body starts at the Earth's center"):
        ph.ensemble(BALL, some, [force], duration=1.0)
    with pytest.raises(ScenarioError, match="body 1 starts at the Earth's center"):
        ph.simulate([BALL, BALL], [PLACE, ph.State()], [force], duration=1.0)
    ph.Scenario([BALL, BALL], [PLACE, ph.State()], [force.on(0)], duration=1.0)


def test_air_deep_inside_the_earth_is_refused():
    air = F.drag(1, 1, air=ph.air.constant(), earth="WGS84")
    with pytest.raises(ScenarioError, match="starts inside the Earth, 100 m from its center"):
        ph.simulate(P, ph.State(position=(0, 0, 100.0)), [air], duration=1.0)


def test_a_file_without_its_start_is_refused(tmp_path):
    places = ("latitude_deg", "longitude_deg", "height", "velocity_ned", "yaw_pitch_roll", "angular_velocity_body")
    lines = [line for line in CASE_6.read_text(encoding="utf-8").splitlines() if not line.startswith(places)]
    (tmp_path / "case.toml").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"starts at the Earth's center.*in a file with latitude_deg"):
        ph.Scenario.from_toml(tmp_path / "case.toml")


def test_a_file_whose_drag_has_no_earth_is_refused(tmp_path):
    weight, drag = CASE_6.read_text(encoding="utf-8").split('kind = "drag"')
    flat = "\n".join(line for line in drag.splitlines() if not line.startswith("earth"))
    assert flat != drag.rstrip("\n")
    (tmp_path / "case.toml").write_text(weight + 'kind = "drag"' + flat, encoding="utf-8")
    with pytest.raises(ScenarioError, match=r'drag has none and takes the ground as flat.*earth="WGS84" too'):
        ph.Scenario.from_toml(tmp_path / "case.toml")


OTHER = ph.earth.WGS84.replace(name="Other", rotation_rate=0.0)


@pytest.mark.parametrize(
    ("forces", "sentence"),
    [
        ([F.earth_gravity(), F.drag(1, 1)], 'earth_gravity takes the Earth WGS84, but drag has none.*earth="WGS84"'),
        ([F.aerodynamics(1, {"CD": 1.0}), F.earth_gravity()], "but aerodynamics has none and takes the ground as flat"),
        ([F.gravity(), F.drag(1, 1, earth="WGS84")], r'gravity is uniform.*Take earth_gravity\(earth="WGS84"\) inst'),
        ([F.gravity(), F.earth_gravity()], "gravity is uniform, over flat ground. Leave gravity out"),
        ([F.earth_gravity(), F.drag(1, 1, earth="SPHERE")], "earth_gravity takes the Earth WGS84, but drag takes SPH"),
        ([F.earth_gravity(OTHER), F.drag(1, 1, earth="WGS84")], "takes the Earth Other, but drag takes WGS84"),
        ([F.drag(1, 1, earth=OTHER), F.drag(1, 1)], "but drag has none.*earth=Other too"),
    ],
)
def test_forces_that_disagree_about_the_earth_are_refused(forces, sentence):
    with pytest.raises(ScenarioError, match=f"the forces on the body disagree: .*{sentence}"):
        ph.simulate(P, PLACE, forces, duration=1.0)
    with pytest.raises(ScenarioError, match="the forces on body 1 disagree"):
        ph.Scenario([P, P], [PLACE, PLACE], [forces[0], forces[1].on(1)], duration=1.0)
    ph.Scenario([P, P], [PLACE, PLACE.replace(position=(0, 0, 1.0))], [forces[0].on(0)], duration=1.0)


@ph.force
def own_gravity(t, state, body, params):
    return (-9.8 * body.mass, 0.0, 0.0), (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    "forces",
    [
        [F.earth_gravity(), F.drag(1, 1, earth="WGS84"), F.aerodynamics(1, {"CL": 1.0}, earth=ph.earth.WGS84)],
        [F.earth_gravity(), F.drag(1, 1, earth=ph.earth.WGS84.replace(name="Same"))],
        [own_gravity(), F.drag(1, 1, earth="WGS84")],
        [F.point_gravity(3.986004418e14), F.drag(1, 1, earth="WGS84")],
        [F.gravity(0.0), F.drag(1, 1, earth="WGS84")],
        [F.earth_gravity(), F.magnetic_torquer((1, 0, 0)), F.linear_drag(0.1)],
        [F.earth_gravity("SPHERE"), F.thruster((0, 0, 0), (1, 0, 0), 5.0)],
    ],
)
def test_forces_that_agree_about_the_earth_are_taken(forces):
    motion = ph.simulate(BALL, PLACE, forces, duration=0.1, method="rk4", step=0.1, engine="python")
    assert np.isfinite(motion.final.position).all()


def test_flat_forces_together_and_earths_of_different_bodies_are_taken():
    flat = ph.Scenario(P, None, [F.gravity(), F.drag(1, 1), F.aerodynamics(1, {"CL": 1.0})], duration=1.0)
    assert len(flat.forces) == 3
    two = [F.earth_gravity().on(0), F.earth_gravity("SPHERE").on(1)]
    assert ph.Scenario([P, P], [PLACE, PLACE], two, duration=1.0).count == 2
