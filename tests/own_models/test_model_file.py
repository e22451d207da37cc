"""Scenario files with knobs: compared with files in which the number was changed by hand."""

from __future__ import annotations

import math
import re
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

import polhode as ph
from polhode.cli import cli
from polhode.errors import PolhodeError
from polhode.gallery import MODELS
from polhode.gallery.live_page import program_of
from polhode.own_models.knob_path import format_place, parse_place
from polhode.own_models.model_file import KNOB_KEYS, RESERVED_NAMES
from polhode.own_models.stage_file import PROPS
from polhode.scenario.body_file import JOINED_PART_KEYS, PLACE_KEYS
from polhode.scenario.scenario_file import PAGE_KEYS
from polhode.web.stage import SWITCHES, Stage

DOCS = Path(__file__).parents[2] / "docs"
GUIDE = (DOCS / "howto" / "own-models.md").read_text(encoding="utf-8")
REFERENCE = (DOCS / "reference" / "scenario-file.md").read_text(encoding="utf-8")
WHEEL, ANGLE_KNOB, LENGTH_KNOB, STAGE, HAMMER = re.findall(r"```toml\n(.*?)```", GUIDE, re.DOTALL)


@pytest.fixture
def model_of(tmp_path):
    """The model of a file with this text."""

    def read(text, name="model.toml"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return ph.model(tmp_path / name)

    return read


def states(motion):
    return [getattr(motion, name).tobytes() for name in ("position", "quaternion_wxyz", "angular_velocity_body")]


def test_a_model_at_its_start_has_the_bits_of_the_file(model_of, tmp_path):
    model = model_of(WHEEL)
    assert (model.name, model.title, model.theme) == ("model", "A bicycle wheel on a stand", "your models")
    assert model.values() == {"spin": 25.0, "tilt": 70.0}
    assert "it precesses" in model.explanation
    plain = ph.Scenario.from_toml(tmp_path / "model.toml")
    assert states(model()) == states(ph.simulate(plain))


def test_a_knob_does_what_changing_the_file_by_hand_does(model_of):
    by_hand = model_of(
        WHEEL.replace("0.0, 25.0]", "0.0, 8.5]").replace("angle_deg = 70.0", "angle_deg = 33.0"), "b.toml"
    )
    moved = model_of(WHEEL)(spin=8.5, tilt=33.0)
    assert states(moved) == states(by_hand())
    assert moved.model_run.values == {"spin": 8.5, "tilt": 33.0}


def test_the_text_of_a_model_is_its_file_with_these_values(model_of):
    model = model_of(WHEEL)
    again = model_of(model.toml(model.values(spin=12.0)), "again.toml")
    assert again.values() == {"spin": 12.0, "tilt": 70.0}
    assert (again.title, again.explanation) == (model.title, model.explanation)
    assert states(again()) == states(model(spin=12.0))


def test_a_knob_in_degrees_sets_a_number_in_radians(model_of):
    slope = "duration = 1.0\n[body]\nshape = { kind = 'box', sides = [1, 1, 1], mass = 1 }\nposition = [0, 0, 9]\n"
    slope += f"[[contacts]]\nkind = 'slope'\nangle = {math.radians(30)!r}\n{ANGLE_KNOB}"
    model = model_of(slope)
    assert model.values() == {"slope_angle": 30.0}
    assert model.parameters[0].label == "slope"
    assert model.scenario(slope_angle=30.0).contacts[0].arguments["angle"] == math.radians(30)
    turned = model.scenario(slope_angle=45.0).contacts[0].arguments["angle"]
    assert turned == pytest.approx(math.pi / 4, rel=1e-15)


def test_one_knob_sets_several_numbers(model_of):
    rod = "duration = 1.0\npivot = [0.0, 0.0, 0.5]\n[body]\n"
    rod += "shape = { kind = 'tube', outer_radius = 0.02, inner_radius = 0.01, height = 1.0, mass = 1.0 }\n"
    rod += LENGTH_KNOB
    model = model_of(rod.replace("shape.length", "shape.height"))
    long = model.scenario(length=1.5)
    assert long.pivot.tolist() == [0.0, 0.0, 0.75]
    assert dict(long.bodies[0].parts[0].source.sizes)["height"] == 1.5


def test_offset_and_scale_are_applied_in_this_order(model_of):
    knob = "[[knobs]]\nname = 'above'\nsets = 'duration'\nscale = 2\noffset = 1\nlow = 0\nhigh = 5"
    model = model_of(f"duration = 4.0\n[body]\nmass = 1.0\nparticle = true\n{knob}")
    assert model.values() == {"above": 1.5}
    assert model.scenario(above=2.5).duration == 6.0


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("body.angular_velocity_body[2]", "body.angular_velocity_bdy[2]", "did you mean 'angular_velocity_body'"),
        ("body.angular_velocity_body[2]", "body.angular_velocity_body[3]", "no entry 3: it has 3 entries, 0 to 2"),
        ("body.angular_velocity_body[2]", "body.angular_velocity_body", "which is not a number; one of its entries"),
        ("body.angular_velocity_body[2]", "forces[0].g", "write the number there, which is where the knob starts"),
        ("body.angular_velocity_body[2]", "forces.g", "say which entry, forces\\[0\\].g"),
        ("body.angular_velocity_body[2]", "body.shape.kind", "'cylinder', which is not a number"),
        ("body.angular_velocity_body[2]", "body..x", "not a place in the file"),
        ("body.angular_velocity_body[2]", "[0].x", "not a place in the file"),
        ("body.angular_velocity_body[2]", "title", "no part of the scenario"),
        ("body.rotation.angle_deg", "body.angular_velocity_body[2]", "set by the knobs 'spin' and 'tilt'"),
        ('"body.angular_velocity_body[2]"', '["body.angular_velocity_body[2]", "pivot[2]"]', "do not agree"),
        ('"body.angular_velocity_body[2]"', "[]", "sets nothing"),
        ('"body.angular_velocity_body[2]"', "[{ scale = 2 }]", "needs the place"),
        ("low = 5.0", "low = 30.0", "spin starts at 25 rad/s, outside its range from 30 to 60 rad/s"),
        ("low = 5.0", "low = 65.0", "low must be less than high"),
        ("low = 5.0", "low = '5'", "low of spin must be a finite number"),
        ("low = 5.0\n", "", "knob 'spin' needs low"),
        ('name = "tilt"', 'name = "spin"', "two knobs have the name 'spin'"),
        ('name = "tilt"', 'name = "tilt angle"', "letters, digits and underscores"),
        ('name = "tilt"', 'name = "run"', "already uses"),
        ('name = "tilt"', 'name = "size"', "already uses"),
        ('unit = "rad/s"', 'unit = "rpm"', r'in rpm, but body.angular_velocity_body\[2\] is not: write scale = "rpm"'),
        ('unit = "rad/s"', 'unit = "deg/s"', 'write scale = "deg"'),
        ("help =", "halp =", "did you mean 'help'"),
        ('unit = "deg"', 'scale = "degree"', "or give a number"),
        ('unit = "deg"', "scale = 0.0", "other than 0"),
        ("[[knobs]]", "knobs = 3\n[[knob]]", "Cannot|knob"),
        ("duration", "duratoin", "did you mean 'duration'"),
        ("radius = 0.3", "radius = -0.3", "radius"),
        ("mass = 2.0 }", "mass = 2.0, spin = 1 }", "no key 'spin'"),
        ("angle_deg = 70.0", "angle_deg = 70.0, angle = 1.0", "one angle"),
        ("axis = [1.0, 0.0, 0.0]", "axis = [0.0, 0.0, 0.0]", "axis"),
    ],
)
def test_what_is_wrong_in_a_file_is_a_sentence(model_of, tmp_path, old, new, sentence):
    text = WHEEL.replace(old, new, 1)
    assert text != WHEEL
    with pytest.raises(PolhodeError, match=sentence) as caught:
        model_of(text)
    assert str(caught.value).startswith(str(tmp_path / "model.toml"))


def test_values_outside_the_range_are_refused_in_python_too(model_of):
    model = model_of(WHEEL)
    with pytest.raises(PolhodeError, match="spin = 90 rad/s is outside its range: choose from 5 to 60 rad/s"):
        model(spin=90.0)
    with pytest.raises(PolhodeError, match="did you mean 'spin'"):
        model(spn=9.0)
    with pytest.raises(PolhodeError, match="twice"):
        model(9.0, spin=9.0)


def test_the_stage_and_the_steps_of_a_file(model_of):
    model = model_of(WHEEL + STAGE)
    stage = model.stage_of(model.values())
    assert (stage.camera.azimuth_deg, stage.off, stage.props[0].radius) == (-40.0, ("L",), 0.01)
    assert model.lesson.steps[0].values == {"spin": 8.0}
    assert "<math" in model.describe()["lesson"]["formulas"][0]["mathml"]


def test_a_knob_can_move_a_prop(model_of):
    text = (WHEEL + STAGE).replace('sets = "body.rotation.angle_deg"', 'sets = "stage.props[0].radius"')
    text = text.replace("low = 10.0\nhigh = 90.0", "low = 0.001\nhigh = 0.1")
    model = model_of(text)
    assert model.stage_of(model.values(tilt=0.05)).props[0].radius == 0.05


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('kind = "rod"', 'kind = "stick"', "has the kind 'stick'"),
        ("radius = 0.01", "radius = 'thin'", "radius of props of \\[stage\\], number 0, must be a number"),
        ('off = ["L"]', 'off = ["M"]', "no switch 'M'"),
        ("azimuth_deg", "azimut_deg", "did you mean 'azimuth_deg'"),
        ("end = [0.0, 0.0, -0.25], ", "", "needs end"),
        ("values = { spin = 8.0 }", "values = { speed = 8.0 }", "no knob of the file"),
        ("values = { spin = 8.0 }", "values = { spin = 800.0 }", "outside its range"),
        ("\\frac", "\\fracc", "not supported"),
    ],
)
def test_what_is_wrong_on_the_stage_is_a_sentence(model_of, old, new, sentence):
    assert old in STAGE
    with pytest.raises(PolhodeError, match=sentence):
        model_of(WHEEL + STAGE.replace(old, new))


def test_meshes_that_no_knob_changes_are_read_once(model_of, tmp_path, monkeypatch):
    import trimesh

    trimesh.creation.box((1, 2, 3)).export(tmp_path / "box.stl")
    knob = "[[knobs]]\nname = 'speed'\nsets = 'body.velocity[0]'\nlow = 0\nhigh = 5"
    text = "duration = 1.0\n[body]\nmesh = { file = 'box.stl', density = 1.0 }\nvelocity = [1.0, 0.0, 0.0]\n"
    model = model_of(text + knob)
    (tmp_path / "box.stl").unlink()
    assert model.scenario(speed=3.0).bodies[0].mass == pytest.approx(6.0)
    assert "box.stl" in model.toml(model.values())


def test_a_file_without_knobs_is_a_model_without_parameters(model_of):
    assert model_of("duration = 1.0\n[body]\nmass = 1.0\nparticle = true").parameters == ()


def test_the_hammer_of_the_guide_against_a_sum_of_its_parts(model_of):
    """Handle, head and hole as cuboids and cylinders by hand: mass, center and moments about the center."""
    found = model_of(HAMMER).scenario().bodies[0]
    up = np.array((0.0, 0.0, 0.165))
    r, h = 0.012, 0.3
    handle = 700.0 * math.pi * r**2 * h
    head, hole = 7850.0 * 0.1 * 0.03 * 0.03, 7850.0 * math.pi * 0.008**2 * 0.1
    mass = handle + head - hole
    center = (head - hole) * up / mass
    assert found.mass == pytest.approx(mass, rel=1e-12)
    assert found.center_of_mass == pytest.approx(center, rel=1e-12, abs=1e-15)
    about = np.diag([handle * (3 * r**2 + h**2) / 12] * 2 + [handle * r**2 / 2])
    about += np.diag([head * (0.03**2 + 0.03**2) / 12] + [head * (0.1**2 + 0.03**2) / 12] * 2)
    about -= np.diag([hole * 0.008**2 / 2] + [hole * (3 * 0.008**2 + 0.1**2) / 12] * 2)
    steiner = (head - hole) * 0.165**2 - mass * center[2] ** 2
    about += np.diag([steiner, steiner, 0.0])
    assert found.inertia_body == pytest.approx(about, rel=1e-9, abs=1e-12)


# Places -------------------------------------------------------------------------------------------------------------
def test_places_are_written_as_they_are_read():
    for text in ("duration", "pivot[2]", "forces[0].g", "bodies[1].position[2]", "body.shape.corners[0][2]"):
        assert format_place(parse_place(text)) == text
    assert parse_place("forces.0.wind.2") == parse_place("forces[0].wind[2]")


# The reference page -------------------------------------------------------------------------------------------------
def keys_of(heading, first):
    section = REFERENCE.split(f"## {heading}\n")[1].split("\n## ")[0]
    table = section.split(f"| {first} |")[1].split("\n\n")[0]
    return re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)


def test_the_reference_lists_every_key():
    assert keys_of("Knobs and the page", "key of a knob") == list(KNOB_KEYS)
    assert keys_of("Knobs and the page", "key") == list(PAGE_KEYS)
    stage = keys_of("Knobs and the page", "key of `[stage]`")
    assert stage == [field.name for field in fields(Stage)]
    assert keys_of("Parts", "key of a part") == list(JOINED_PART_KEYS)
    assert keys_of("Parts", "key of a place") == list(PLACE_KEYS)
    assert all(f"`{name}`" in REFERENCE for name in SWITCHES)
    assert len(PROPS) > 10


def test_no_knob_can_have_the_name_of_an_option_or_of_a_part_of_the_address():
    address = (Path(__file__).parents[2] / "front/src/controls/address.ts").read_text(encoding="utf-8")
    keys = [*re.findall(r"VIEW_KEYS = \[(.*?)\]", address)[0].replace('"', "").split(", "), "fx", "token", "run"]
    commands = [cli.commands[name] for name in ("run", "film", "picture", "export", "lab")]
    options = {name for command in commands for option in command.params for name in (option.name, *option.opts)}
    words = {name.lstrip("-").replace("-", "_") for name in options if len(name.lstrip("-")) > 1}
    assert words | set(keys) <= {*RESERVED_NAMES, "from", "source"}
    assert not {p.name for model in MODELS.values() for p in model.parameters} & set(RESERVED_NAMES)


def test_both_knobs_of_the_guide_can_be_live_in_a_page(model_of):
    model = model_of(WHEEL)
    program = program_of(model, model.values())
    assert [knob.name for knob in program.knobs] == ["spin", "tilt"]
    assert not program.fixed
