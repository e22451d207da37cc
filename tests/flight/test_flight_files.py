"""Starts at a place of the Earth in scenario files, and what they refuse."""

from pathlib import Path

import numpy as np
import pytest

import polhode as ph
from polhode.errors import PolhodeError

EXAMPLES = Path(__file__).parents[2] / "examples"
TABLE = "duration = 1.0\n[body]\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\n"


def read(tmp_path, text):
    path = tmp_path / "flight.toml"
    path.write_text(TABLE + text, encoding="utf-8")
    return ph.Scenario.from_toml(path)


def test_a_start_in_degrees_is_that_of_python(tmp_path):
    text = "latitude_deg = 30.0\nlongitude_deg = -50.0\nheight = 100.0\nvelocity_ned = [1.0, 2.0, 3.0]\n"
    state = read(tmp_path, text + "yaw_pitch_roll_deg = [10.0, 20.0, -30.0]\ntime = 5.0\n").states[0]
    expected = ph.State.from_geodetic(
        *np.radians((30.0, -50.0)), 100.0, (1, 2, 3), np.radians((10.0, 20.0, -30.0)), time=5.0
    )
    assert (state.position == expected.position).all()
    assert (state.quaternion_wxyz == expected.quaternion_wxyz).all()
    assert (state.velocity == expected.velocity).all()


def test_the_start_is_on_the_earth_of_the_forces(tmp_path):
    force = '[[forces]]\nkind = "earth_gravity"\nearth = "SPHERE"\n'
    assert read(tmp_path, "height = 0.0\n" + force).states[0].position[0] == ph.earth.SPHERE.radius
    assert read(tmp_path, 'height = 0.0\nearth = "WGS84"\n' + force).states[0].position[0] == 6378137.0


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("latitude_deg = 91.0", "latitude_deg must lie between the poles, -90 to 90 deg, but is 91 deg"),
        ("latitude_deg = nan", "latitude_deg must be finite"),
        ("latitude_deg = 1.0\nposition = [1, 2, 3]", "has position, in the world, and latitude_deg"),
        ('height = "high"', "height must be a number"),
        ("yaw_pitch_roll_deg = [1.0, 2.0]", "yaw_pitch_roll must be 3 numbers"),
        ('height = 1.0\nearth = "WGS72"', "earth 'WGS72' is unknown"),
        ("height = 1.0\nearth = { radios = 1.0 }", "an earth has no 'radios'"),
        ("hight = 1.0", "has no key 'hight'"),
        (
            'height = 9e4\n[[forces]]\nkind = "drag"\narea = 1.0\ncoefficient = 1.0\nearth = "WGS84"',
            "known from -5000 to 86000 m",
        ),
        (
            '[[forces]]\nkind = "drag"\narea = 1.0\ncoefficient = { variables = ["mach"], knots = [0, 1] }',
            "values is missing",
        ),
        (
            '[[forces]]\nkind = "drag"\narea = 1.0\ncoefficient = 0.1\nwind = { kind = "gusts" }',
            "wind 'gusts' is unknown",
        ),
    ],
)
def test_bad_files_get_a_sentence(tmp_path, text, sentence):
    with pytest.raises(PolhodeError, match=sentence):
        read(tmp_path, text)


def test_the_sounding_rocket_turns_into_the_wind():
    """Its fins keep the angle of attack small, and a wind toward the east turns it to the west on the way up."""
    rocket = ph.simulate(ph.Scenario.from_toml(EXAMPLES / "sounding-rocket.toml"))
    flight, seen = rocket.flight(), rocket.in_frame("ned")
    burning = (rocket.times > 2.0) & (rocket.times < 12.0)
    assert np.degrees(np.abs(flight.angle_of_attack[burning]).max()) < 3.0
    assert np.degrees(np.abs(flight.sideslip[burning]).max()) < 3.0
    assert seen.velocity[120, 1] < -10.0
    assert 1.5 < flight.mach.max() < 2.5
