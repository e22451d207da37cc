"""Blocks for other programs: checked by MuJoCo, which loads them, and by XML and TOML parsers."""

from __future__ import annotations

import json
import tomllib
from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from invalid_input import assert_refused
from polhode.errors import InertiaError
from polhode.massprops.inertial_blocks import format_block

MJCF = "<mujoco><worldbody><body><freejoint/>{}</body></worldbody></mujoco>"
URDF = """<robot name="r"><mujoco><compiler fusestatic="false"/></mujoco><link name="world"/>
<joint name="j" type="floating"><parent link="world"/><child link="b"/></joint><link name="b">{}</link></robot>"""
LOADED_BY_MUJOCO = pytest.mark.parametrize(("form", "frame"), [("mjcf", MJCF), ("urdf", URDF)], ids=["mjcf", "urdf"])


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    """MuJoCo writes its error log into the directory that it runs in."""
    monkeypatch.chdir(tmp_path)


def solid(rng, moments, scale=1.0, far=0.0):
    """A body with these moments about random axes, its center of mass anywhere."""
    turn = Rotation.random(random_state=rng).as_matrix()
    tensor = scale * turn @ np.diag(moments) @ turn.T
    center = far + rng.normal(size=3)
    return ph.Body(mass=rng.uniform(0.1, 9.0), inertia=(tensor + tensor.T) / 2, center_of_mass=center)


def random_moments(rng, spread):
    """Of a solid: sums of two of three positive numbers, the second moments along the axes."""
    a, b, c = 10 ** rng.uniform(-spread, 0, 3)
    return np.array((b + c, c + a, a + b))


def taken_by_mujoco(text, frame):
    """Mass, center of mass, and the full tensor about it along the body's axes, out of MuJoCo's compiled model."""
    model = mujoco.MjModel.from_xml_string(frame.format(text))
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, model.body_iquat[-1])
    turn = turn.reshape(3, 3)
    return model.body_mass[-1], model.body_ipos[-1], turn @ np.diag(model.body_inertia[-1]) @ turn.T


def assert_same(body, taken):
    mass, center, tensor = taken
    assert mass == body.mass
    assert center.tolist() == body.center_of_mass.tolist()
    assert np.abs(tensor - body.inertia_body).max() < 1e-12 * np.abs(body.inertia_body).max()


@LOADED_BY_MUJOCO
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_mujoco_takes_back_mass_center_and_tensor(form, frame, scale):
    rng = np.random.default_rng(4)
    for _ in range(50):
        body = solid(rng, random_moments(rng, 2), scale, far=1e6)
        assert_same(body, taken_by_mujoco(format_block(body, form), frame))


@LOADED_BY_MUJOCO
def test_mujoco_keeps_the_sign_of_each_product(form, frame):
    """A heavy point in the corner (+, +, -) of a ball: of the products only I_xy is negative."""
    ball = ph.Body(mass=1.0, inertia=(0.4, 0.4, 0.4))
    point = np.array((0.1, 0.2, -0.3))
    tensor = ball.inertia_body + 5.0 * (point @ point * np.eye(3) - np.outer(point, point))
    _, _, taken = taken_by_mujoco(format_block(ph.Body(mass=6.0, inertia=tensor), form), frame)
    assert taken[0, 1] == pytest.approx(-0.1, rel=1e-12)
    assert taken[0, 2] == pytest.approx(+0.15, rel=1e-12)
    assert taken[1, 2] == pytest.approx(+0.3, rel=1e-12)


@LOADED_BY_MUJOCO
def test_mujoco_accepts_every_flat_body_though_it_refuses_many_bare_ones(form, frame):
    """A + B >= C without room for rounding: of the tensors as they are it refuses a good part, of the blocks none."""
    rng, refused = np.random.default_rng(5), 0
    for _ in range(150):
        a, b = 10 ** rng.uniform(-3, 0, 2)
        body = solid(rng, (a, b, a + b))
        text = format_block(body, form)
        assert "A flat body" in text
        assert_same(body, taken_by_mujoco(text, frame))
        bare = " ".join(repr(float(body.inertia_body[at])) for at in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
        try:
            mujoco.MjModel.from_xml_string(MJCF.format(f'<inertial pos="0 0 0" mass="1" fullinertia="{bare}"/>'))
        except ValueError as error:
            refused += "A + B >= C" in str(error)
    assert 20 < refused < 130


@LOADED_BY_MUJOCO
@pytest.mark.parametrize(
    ("body", "why"),
    [
        (ph.Body(mass=1e-12, inertia=(1e-15, 1e-15, 1e-15)), "at least 1e-15 kg, and 1e-14 kg m2"),
        (ph.particle(1.0), "at least 1e-15 kg, and 1e-14 kg m2"),
        (ph.Body(mass=1.0, inertia=(2.0, 2.0, 8.0), allow_unphysical=True), "exceeds the sum of the others"),
    ],
    ids=["dust", "particle", "unphysical"],
)
def test_what_mujoco_rejects_is_announced(form, frame, body, why):
    text = format_block(body, form)
    assert "MuJoCo rejects this" in text
    assert why in text
    with pytest.raises(ValueError, match=r"eigenvalues|A \+ B|larger than mjMINVAL"):
        taken_by_mujoco(text, frame)


@LOADED_BY_MUJOCO
def test_a_body_just_large_enough_is_accepted_without_a_comment(form, frame):
    body = ph.Body(mass=1e-14, inertia=(1.1e-14, 1.2e-14, 1.3e-14))
    text = format_block(body, form)
    assert "refuses" not in text
    assert_same(body, taken_by_mujoco(text, frame))


def test_sdf_read_by_an_xml_reader_is_the_same_to_the_bit():
    body = solid(np.random.default_rng(6), (1.0, 1.5, 1.7), far=1e6)
    inertial = ElementTree.fromstring(format_block(body, "sdf"))
    assert [float(x) for x in inertial.find("pose").text.split()] == [*body.center_of_mass, 0, 0, 0]
    assert float(inertial.find("mass").text) == body.mass
    for entry, at in {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}.items():
        assert float(inertial.find(f"inertia/{entry}").text) == body.inertia_body[at]


def test_toml_read_as_a_scenario_is_the_same_to_the_bit(tmp_path):
    body = solid(np.random.default_rng(7), (1.0, 1.5, 1.7), far=1e6)
    body = ph.Body(body.mass, body.inertia, body.center_of_mass, volume=0.25, area=3.5)
    text = format_block(body, "toml", "a part", ["1000 kg/m3 was assumed"])
    assert text.startswith("# a part: kg, m, kg m2; about the center of mass")
    assert "\n# 1000 kg/m3 was assumed\n[body]\n" in text
    (tmp_path / "part.toml").write_text("duration = 1.0\n" + text)
    read = ph.Scenario.from_toml(tmp_path / "part.toml").body
    assert (read.mass, read.volume, read.area) == (body.mass, 0.25, 3.5)
    assert read.center_of_mass.tolist() == body.center_of_mass.tolist()
    assert read.inertia_body.tolist() == body.inertia_body.tolist()


def test_toml_of_a_particle_and_of_an_unphysical_top_read_back(tmp_path):
    top = ph.Body(mass=1.0, inertia=(2.0, 2.0, 8.0), allow_unphysical=True)
    for body in (ph.particle(2.0), top):
        (tmp_path / "it.toml").write_text("duration = 1.0\n" + format_block(body, "toml"))
        read = ph.Scenario.from_toml(tmp_path / "it.toml").body
        assert (read.mass, read.is_particle) == (body.mass, body.is_particle)
        assert read.principal_moments.tolist() == body.principal_moments.tolist()


def test_json_read_back_is_the_same_to_the_bit():
    body = solid(np.random.default_rng(8), (1.0, 1.5, 1.7))
    read = json.loads(format_block(body, "json", "part", ["assumed"]))
    assert read["name"] == "part"
    assert read["mass_kg"] == body.mass
    assert read["inertia_body_kg_m2"] == body.inertia_body.tolist()
    assert read["notes"] == ["assumed"]
    axes, moments = np.array(read["principal_axes"]), np.array(read["principal_moments_kg_m2"])
    for axis, moment in zip(axes, moments, strict=True):
        assert np.allclose(body.inertia_body @ axis, moment * axis, rtol=0, atol=1e-14)
    assert np.linalg.det(axes) == pytest.approx(1.0, rel=1e-14)


@pytest.mark.parametrize("form", ["urdf", "sdf", "mjcf", "toml", "json"])
@pytest.mark.parametrize("name", ['<a> & "b" --> -- ---', "two\nlines\x00\x1b", "Träger ½"])
def test_odd_names_and_comments_break_no_reader(form, name):
    text = format_block(ph.Body(mass=1.0, inertia=(1.0, 2.0, 2.5)), form, name, [name, "x = 1\n[body]"])
    text.encode("utf-8")
    if form == "json":
        assert json.loads(text)["mass_kg"] == 1.0
    elif form == "toml":
        assert tomllib.loads(text)["body"]["mass"] == 1.0
    else:
        assert ElementTree.fromstring(text).tag == "inertial"


def test_refusals_are_sentences():
    assert_refused(
        lambda: format_block(ph.particle(1.0), "urfd"),
        InertiaError,
        ("body format 'urfd' is unknown", "did you mean 'urdf'?"),
    )
    assert_refused(
        lambda: format_block(ph.particle(1.0), "urdf", "half \ud800 a letter"),
        InertiaError,
        ("cannot be written in UTF-8",),
    )
    many = ph.Body(mass=(1.0, 2.0), inertia=(1.0, 2.0, 2.5))
    assert_refused(lambda: format_block(many, "mjcf"), InertiaError, ("an ensemble of 2 members",))
