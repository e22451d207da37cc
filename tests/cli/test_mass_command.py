"""`polhode mass`: against closed forms in fractions, MuJoCo, and each format's own reader."""

from __future__ import annotations

import json
import os
import re
import tomllib
import warnings
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree

import meshio
import mujoco
import numpy as np
import pytest
import trimesh
from click.testing import CliRunner
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.cli import cli
from polhode.cli.mass_table import rephrase_as_options

ALUMINIUM = 2700
SUFFIXES = ("stl", "obj", "ply", "off", "glb", "3mf", "vtk", "vtu", "msh", "inp", "exo", "mesh", "xdmf", "xyz")


@pytest.fixture
def call(tmp_path, monkeypatch):
    """Run a command in a folder that holds the bracket, a ball, a box with a hole, and a mesh of two cells."""
    monkeypatch.chdir(tmp_path)
    bracket().export("bracket.stl")
    bracket().export("bracket.obj")
    trimesh.creation.icosphere(subdivisions=3, radius=0.1).export("ball.ply")
    open_box = trimesh.creation.box((1, 1, 1))
    open_box.update_faces(np.arange(12) != 5)
    open_box.export("open.stl")
    two_cells().write("cells.vtk")
    runner = CliRunner()
    return lambda *arguments: runner.invoke(cli, ["mass", *(str(a) for a in arguments)])


def bracket():
    """An L in mm, 60 x 40 x 80 with legs of 8: a wall of 8 x 40 x 80 at x = 0, a foot of 52 x 40 x 8 beside it."""
    outline = np.array([(0, 0), (60, 0), (60, 8), (8, 8), (8, 80), (0, 80)], dtype=float)
    flat = [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)]
    front, back = (np.insert(outline, 1, y, axis=1) for y in (0.0, 40.0))
    faces = [*flat, *((a + 6, c + 6, b + 6) for a, b, c in flat)]
    for i in range(6):
        j = (i + 1) % 6
        faces += [(i, i + 6, j), (j, i + 6, j + 6)]
    return trimesh.Trimesh(np.concatenate((front, back)), faces, process=False)


def bracket_by_hand(density=ALUMINIUM):
    """Mass, center, and tensor about it, of the two boxes, in fractions of m and kg."""
    boxes = [
        ((Fraction(8), Fraction(40), Fraction(80)), (Fraction(4), Fraction(20), Fraction(40))),
        ((Fraction(52), Fraction(40), Fraction(8)), (Fraction(34), Fraction(20), Fraction(4))),
    ]
    boxes = [([s / 1000 for s in sides], [c / 1000 for c in center]) for sides, center in boxes]
    masses = [density * a * b * c for (a, b, c), _ in boxes]
    total = sum(masses)
    center = [sum(m * c[i] for m, (_, c) in zip(masses, boxes, strict=True)) / total for i in range(3)]
    second = [[Fraction(0)] * 3 for _ in range(3)]
    for m, (sides, middle) in zip(masses, boxes, strict=True):
        for i in range(3):
            for j in range(3):
                own = m * sides[i] ** 2 / 12 if i == j else 0
                second[i][j] += own + m * (middle[i] - center[i]) * (middle[j] - center[j])
    trace = sum(second[i][i] for i in range(3))
    tensor = [[float((trace if i == j else 0) - second[i][j]) for j in range(3)] for i in range(3)]
    return float(total), [float(c) for c in center], np.array(tensor)


def two_cells():
    """Two tetrahedra, side by side, in two regions, with a field of densities."""
    points = [(0.0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)]
    data = {"region": [np.array([1, 2])], "rho": [np.array([6.0, 12.0])]}
    return meshio.Mesh(points, [("tetra", [(0, 1, 2, 3), (1, 2, 3, 4)])], cell_data=data)


# What it says ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["bracket.stl", "bracket.obj"])
def test_json_against_two_boxes_in_fractions(call, name):
    result = call(name, "--unit", "mm", "--density", ALUMINIUM, "--json")
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    mass, center, tensor = bracket_by_hand()
    assert report["mass_kg"] == pytest.approx(mass, rel=1e-13)
    assert report["center_of_mass_m"] == pytest.approx(center, rel=1e-13)
    assert np.abs(np.array(report["inertia_body_kg_m2"]) - tensor).max() < 1e-13 * tensor.max()
    assert report["size_m"] == pytest.approx([0.06, 0.04, 0.08], rel=1e-13)
    assert report["volume_m3"] == pytest.approx(float(mass / ALUMINIUM), rel=1e-13)
    # Two faces of the outline, and its length of 280 mm times the width of 40 mm.
    assert report["area_m2"] == pytest.approx((2 * (8 * 80 + 52 * 8) + 280 * 40) * 1e-6, rel=1e-13)
    assert (report["unit"], report["unit_from"], report["density_assumed"]) == ("mm", "option", False)
    assert report["kind"] == "surface"
    assert report["warnings"] == []


def test_the_table_has_the_same_numbers(call):
    options = ("bracket.stl", "--unit", "mm", "--density", ALUMINIUM, "--about", "0,0,10mm")
    lines = call(*options).stdout.splitlines()
    report = json.loads(call(*options, "--json").stdout)
    assert lines[0] == "bracket.stl"
    found = {line[2:26].strip(): line[26:] for line in lines if line.startswith("  ") and not line.startswith("   ")}
    assert found["density"] == "2700 kg/m3"
    assert found["unit"] == "mm, as requested"
    assert found["size"] == "0.06 x 0.04 x 0.08 m"
    assert float(found["mass"].split()[0]) == pytest.approx(report["mass_kg"], rel=1e-11)
    for title, key in (("the center of mass", "inertia_body_kg_m2"), ("(0, 0, 0.01) m", "inertia_about_kg_m2")):
        start = next(i for i, line in enumerate(lines) if f"inertia about {title}" in line)
        rows = [[float(x) for x in line.split()] for line in lines[start + 1 : start + 4]]
        assert np.allclose(rows, report[key], rtol=1e-11, atol=0)
    start = next(i for i, line in enumerate(lines) if line.startswith("  principal"))
    for i in range(3):
        number, moment, radius, *axis = (float(x) for x in lines[start + 1 + i].split())
        assert number == i + 1
        assert moment == pytest.approx(report["principal_moments_kg_m2"][i], rel=1e-11)
        assert radius == pytest.approx((moment / report["mass_kg"]) ** 0.5, rel=1e-10)
        assert axis == pytest.approx(report["principal_axes"][i], abs=1e-9)


def test_about_a_point_is_the_parallel_axis_theorem(call):
    report = json.loads(call("bracket.stl", "--unit", "mm", "--mass", 2, "--about", "-10mm,0.02m,3cm", "--json").stdout)
    d = np.array((-0.01, 0.02, 0.03)) - report["center_of_mass_m"]
    expected = report["inertia_body_kg_m2"] + 2 * (d @ d * np.eye(3) - np.outer(d, d))
    assert np.allclose(report["inertia_about_kg_m2"], expected, rtol=1e-13, atol=0)
    assert report["about_m"] == [-0.01, 0.02, 0.03]


def test_a_mass_instead_of_a_density(call):
    report = json.loads(call("bracket.stl", "--unit", "mm", "--mass", 2, "--json").stdout)
    by_hand = bracket_by_hand()
    assert report["mass_kg"] == 2.0
    assert np.allclose(report["inertia_body_kg_m2"], by_hand[2] * 2 / by_hand[0], rtol=0, atol=1e-13)
    cells = json.loads(call("cells.vtk", "--mass", 2, "--json").stdout)
    even = json.loads(call("cells.vtk", "--density", 3, "--json").stdout)
    assert cells["mass_kg"] == 2.0
    assert np.allclose(
        np.array(cells["inertia_body_kg_m2"]) / 2, np.array(even["inertia_body_kg_m2"]) / even["mass_kg"]
    )


def test_the_assumed_density_is_stated_in_every_format(call):
    table = call("ball.ply").stdout.splitlines()
    assert "1000 kg/m3, assumed: give --density or --mass" in table[1]
    assert json.loads(call("ball.ply", "--json").stdout)["density_assumed"] is True
    for form in ("urdf", "sdf", "mjcf", "toml"):
        assert "A density of 1000 kg/m3 was assumed." in call("ball.ply", "--to", form).stdout
        assert "assumed" not in call("ball.ply", "--to", form, "--density", 1000).stdout


def test_a_shell_against_the_hollow_cube(call):
    """A cube's surface has the moments 5/18 m a^2."""
    trimesh.creation.box((2, 2, 2)).export("cube.stl")
    report = json.loads(call("cube.stl", "--unit", "cm", "--shell", "1e-1mm", "--density", 8000, "--json").stdout)
    assert report["kind"] == "shell"
    assert report["mass_kg"] == pytest.approx(8000 * 6 * 0.02**2 * 1e-4, rel=1e-13)
    expected = 5 / 18 * report["mass_kg"] * 0.02**2
    assert report["principal_moments_kg_m2"] == pytest.approx([expected] * 3, rel=1e-13)
    thick = json.loads(call("cube.stl", "--shell", "1", "--json").stdout)
    assert any("the wall is 1 m thick, and the part 2 m long" in text for text in thick["warnings"])


def test_lengths_are_in_meters_unless_they_carry_a_unit(call):
    trimesh.creation.box((20, 20, 20)).export("cube.stl")
    given = ("cube.stl", "--unit", "mm", "--json")
    for option, bare, with_unit in (("--shell", "0.001", "1mm"), ("--about", "0,0,0.05", "0,0,5cm")):
        assert call(*given, option, bare).stdout == call(*given, option, with_unit).stdout


# Blocks ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("form", ["urdf", "mjcf"])
def test_blocks_of_a_file_taken_back_by_mujoco(call, form):
    frames = {
        "mjcf": "<mujoco><worldbody><body><freejoint/>{}</body></worldbody></mujoco>",
        "urdf": '<robot name="r"><link name="world"/><joint name="j" type="floating"><parent link="world"/>'
        '<child link="b"/></joint><link name="b">{}</link></robot>',
    }
    text = call("bracket.stl", "--unit", "mm", "--density", ALUMINIUM, "--to", form).stdout
    model = mujoco.MjModel.from_xml_string(frames[form].format(text))
    mass, center, tensor = bracket_by_hand()
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, model.body_iquat[-1])
    turn = turn.reshape(3, 3)
    assert model.body_mass[-1] == pytest.approx(mass, rel=1e-12)
    assert model.body_ipos[-1].tolist() == pytest.approx(center, rel=1e-12)
    taken = turn @ np.diag(model.body_inertia[-1]) @ turn.T
    assert np.abs(taken - tensor).max() < 1e-12 * tensor.max()
    assert taken[0, 2] * tensor[0, 2] > 0


def test_sdf_and_toml_hold_the_numbers_of_the_json(call, tmp_path):
    options = ("bracket.stl", "--unit", "mm", "--mass", 0.1)
    report = json.loads(call(*options, "--to", "json").stdout)
    sdf = ElementTree.fromstring(call(*options, "--to", "sdf").stdout)
    assert float(sdf.find("inertia/ixz").text) == report["inertia_body_kg_m2"][0][2]
    toml = call(*options, "--to", "toml").stdout
    assert tomllib.loads(toml)["body"]["inertia"] == report["inertia_body_kg_m2"]
    (tmp_path / "run.toml").write_text("duration = 1.0\n" + toml)
    body = ph.Scenario.from_toml(tmp_path / "run.toml").body
    assert body.principal_moments.tolist() == report["principal_moments_kg_m2"]
    assert body.volume == report["volume_m3"]


# Volume meshes --------------------------------------------------------------------------------------------------------
def test_cells_by_density_region_and_field(call):
    """The cells hold 1/6 and 1/3 m3; 6 and 12 kg/m3 make 1 and 4 kg."""
    even = json.loads(call("cells.vtk", "--density", 6, "--json").stdout)
    assert even["kind"] == "volume"
    assert even["mass_kg"] == pytest.approx(3.0, rel=1e-14)
    by_region = json.loads(call("cells.vtk", "--region", "1=6", "--region", "2=12", "--json").stdout)
    by_field = json.loads(call("cells.vtk", "--density-field", "rho", "--json").stdout)
    for report in (by_region, by_field):
        assert report["mass_kg"] == pytest.approx(5.0, rel=1e-14)
        assert report["center_of_mass_m"] == pytest.approx([(0.25 + 4 * 0.5) / 5] * 3, rel=1e-13)
        assert report["density_assumed"] is False


def test_a_surface_in_a_volume_meshs_format_is_a_surface(call):
    box = trimesh.creation.box((1, 2, 3))
    meshio.Mesh(box.vertices, [("triangle", box.faces)]).write("surface.vtk")
    quads = np.array([(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)])
    corners = np.array([(x, y, z) for x in (0, 1.0) for y in (0, 2.0) for z in (0, 3.0)])
    meshio.Mesh(corners, [("quad", quads)]).write("quads.vtu")
    for name in ("surface.vtk", "quads.vtu"):
        report = json.loads(call(name, "--density", 1, "--compare", "--points", 1000, "--json").stdout)
        assert report["kind"] == "surface"
        assert report["principal_moments_kg_m2"] == pytest.approx([6.5, 5.0, 2.5], rel=1e-13)


# Three approximations -------------------------------------------------------------------------------------------------
def test_compare_against_box_and_ball(call):
    """Of the bracket the box holds 60 x 40 x 80 mm; sampling is off by no more than five standard errors."""
    options = ("bracket.stl", "--unit", "mm", "--density", 1000, "--compare", "--points", 20000)
    report = json.loads(call(*options, "--json").stdout)
    box, oriented, sampling, exact = report["compare"]
    assert box["volume_m3"] == pytest.approx(0.06 * 0.04 * 0.08, rel=1e-12)
    assert exact["inertia_body_kg_m2"] == report["inertia_body_kg_m2"]
    assert exact["standard_error"] is None
    assert oriented["volume_m3"] <= box["volume_m3"] * (1 + 1e-9)
    error = sampling["standard_error"]["mass_kg"]
    assert error > 0
    assert abs(sampling["mass_kg"] - exact["mass_kg"]) < 5 * error
    assert json.loads(call(*options, "--json").stdout)["compare"][2]["mass_kg"] == sampling["mass_kg"]
    assert json.loads(call(*options, "--seed", 1, "--json").stdout)["compare"][2]["mass_kg"] != sampling["mass_kg"]
    lines = call(*options).stdout.splitlines()
    head = next(line for line in lines if "approximations" in line)
    assert [name in head for name in ("axis-aligned box", "oriented box", "point sampling", "exact integral")] == [
        True
    ] * 4
    row = next(line for line in lines if line.startswith("  mass, kg"))
    assert len(row) == len(head)
    apart = box["mass_kg"] / exact["mass_kg"] - 1
    assert f"{100 * apart:+.2g} %" in row


# Oddities and refusals ------------------------------------------------------------------------------------------------
def test_warnings_are_printed_in_every_format(call):
    """A bracket of 80 m was probably drawn in millimeters."""
    table = call("bracket.stl")
    assert table.exit_code == 0
    assert any(line.startswith("warning: ") and "millimeters" in line for line in table.stdout.splitlines())
    as_json = call("bracket.stl", "--json")
    report = json.loads(as_json.stdout)
    assert len([text for text in report["warnings"] if "millimeters" in text]) == 1
    assert not any("millimeters" in text for text in report["notes"])
    assert as_json.stderr == ""
    for form in ("urdf", "toml"):
        block = call("bracket.stl", "--to", form)
        assert block.exit_code == 0
        assert "warning: " in block.stdout
        assert "warning: " in block.stderr


def test_a_repair_is_done_on_request_and_noted(call):
    refused = call("open.stl")
    assert refused.exit_code == 1
    assert refused.stdout == ""
    assert "Traceback" not in refused.stderr
    report = json.loads(call("open.stl", "--repair", "fill", "--json").stdout)
    assert report["mass_kg"] == pytest.approx(1000.0, rel=1e-12)
    assert report["notes"]


def test_the_picture_goes_with_any_form(call, tmp_path):
    assert "picture: a.png" in call("ball.ply", "--picture", "a.png").stdout
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads(call("cells.vtk", "--picture", "b.svg", "--json").stdout)["picture"] == "b.svg"
    assert "<svg" in (tmp_path / "b.svg").read_text()
    block = call("ball.ply", "--picture", "c.pdf", "--to", "mjcf")
    assert ElementTree.fromstring(block.stdout).tag == "inertial"
    assert (tmp_path / "c.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("bracket.stl", "--density", "1", "--mass", "2"), 2, "--density and --mass contradict each other"),
        (("cells.vtk", "--mass", "1", "--region", "1=2"), 2, "--mass and --region contradict each other"),
        (("bracket.stl", "--region", "a=1"), 2, "--region is for volume meshes"),
        (("bracket.stl", "--density-field", "rho"), 2, "--density-field is for volume meshes"),
        (("cells.vtk", "--region", "steel"), 2, "--region takes NAME=DENSITY"),
        (("cells.vtk", "--region", "steel=heavy"), 2, "--region takes NAME=DENSITY"),
        (("cells.vtk", "--shell", "1"), 2, "--shell is for surfaces"),
        (("cells.vtk", "--compare"), 2, "--compare is for closed surfaces"),
        (("ball.ply", "--compare", "--shell", "1mm"), 2, "--compare is for solids"),
        (("ball.ply", "--compare", "--to", "urdf"), 2, "--compare works with a table or JSON"),
        (("ball.ply", "--json", "--to", "urdf"), 2, "--json and --to urdf contradict each other"),
        (("ball.ply", "--unit", "parsec"), 2, "'parsec' is not one of"),
        (("ball.ply", "--shell", "thin"), 2, "--shell takes lengths in m, or with their unit"),
        (("ball.ply", "--about", "1,2"), 2, "--about takes three lengths"),
        (("ball.ply", "--about", "1,2,nan"), 2, "--about takes lengths in m"),
        (("ball.ply", "--density", "heavy"), 2, "'heavy' is not a valid float"),
        (("ball.ply", "--densty", "1"), 2, "--density"),
        (("ball.ply", "--points", "1000"), 2, "--points is for --compare"),
        (("ball.ply", "--seed", "0"), 2, "--seed is for --compare"),
        (("ball.ply", "--compare", "--points", "99"), 2, "99 is not in the range x>=100"),
        ((f"{'x' * 300}.stl",), 1, "File name too long"),
        (("/".join(["x" * 200] * 30) + ".stl",), 1, "File name too long"),
        (("ball.ply", "--picture", f"{'x' * 300}/a.png"), 1, "File name too long"),
        (("ball.ply", "--picture", f"{'x' * 300}.png"), 1, "File name too long"),
        ((".",), 1, "there is no file ."),
        (("ball.ply/x.stl",), 1, "there is no file ball.ply/x.stl"),
        ((), 2, "Missing argument"),
        (("ball.ply", "--density", "-1"), 1, "density must be greater than 0 kg/m3"),
        (("ball.ply", "--density", "nan"), 1, "density must be finite"),
        (("cells.vtk", "--mass", "0"), 1, "mass must be greater than 0 kg"),
        (("ball.ply", "--shell", "0"), 1, "shell must be greater than 0 m"),
        (("none.stl",), 1, "there is no file none.stl"),
        (("none.vtk",), 1, "there is no file none.vtk"),
        (("ball.ply", "--picture", "no/such/folder.png"), 1, "there is no folder no/such"),
        (("ball.ply", "--picture", "x.foo"), 1, "must end with .png, .svg or .pdf"),
        (("cells.vtk", "--density-field", "roh"), 1, "did you mean 'rho'?"),
        (("cells.vtk", "--region", "1=2"), 1, "lie in none of the given regions"),
    ],
)
def test_error_messages(call, arguments, code, sentence):
    result = call(*arguments)
    assert result.exit_code == code, result.output
    assert sentence in result.stderr
    assert "Traceback" not in result.output
    assert result.stdout == ""


def in_python(text):
    """Words of a text that only Python understands."""
    return re.findall(r"\w+=(?:['\"(\s;,.]|$)|\(['\"]\w+['\"]", text)


def spoilt(name):
    """Meshes with defects, each in its file."""
    box = trimesh.creation.box((1, 1, 1))
    vertices, faces = box.vertices, box.faces
    if name == "hole":
        faces = faces[1:]
    elif name == "flat":
        vertices, faces = vertices * (1, 1, 0), np.concatenate((faces, faces[:, ::-1]))
    elif name == "inwards":
        faces = faces[:, ::-1]
    elif name == "one turned":
        faces = np.concatenate((faces[:1, ::-1], faces[1:]))
    elif name == "two in one":
        faces = np.concatenate((faces, faces + 8))
        vertices = np.concatenate((vertices, vertices / 3))
    elif name == "hole and turned":
        faces = np.concatenate((faces[1:4, ::-1], faces[4:]))
    trimesh.Trimesh(vertices, faces, process=False).export(f"{name}.ply")
    return f"{name}.ply"


@pytest.mark.parametrize(
    ("name", "options", "phrases"),
    [
        ("hole", (), ("pass --repair fill", "--shell")),
        ("flat", (), ("Traceback",)),
        ("inwards", (), ("--repair flip",)),
        ("one turned", (), ("--repair flip",)),
        ("two in one", (), ("--repair flip",)),
        ("hole and turned", ("--repair", "fill"), ()),
        ("hole", ("--repair", "fill", "--repair", "hull"), ("--repair hull",)),
    ],
)
def test_errors_speak_of_options(call, name, options, phrases):
    result = call(spoilt(name), *options)
    assert result.exit_code == 1
    for phrase in phrases:
        assert (phrase in result.stderr) == (phrase != "Traceback")
    assert in_python(result.stderr) == []


def test_warnings_and_notes_speak_of_options(call):
    table = call("bracket.stl", "--repair", "flip")
    assert "pass --unit mm; if this is right, --unit m says so" in table.stdout
    report = json.loads(call("bracket.stl", "--json").stdout)
    block = call("bracket.stl", "--to", "toml")
    for text in (table.stdout, *report["warnings"], *report["notes"], block.stderr):
        assert in_python(text) == []


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("pass repair='fill'.", "pass --repair fill."),
        ('Pass repair="flip" to reorder', "Pass --repair flip to reorder"),
        ("Pass repair=('flip', 'fill'), and", "Pass --repair flip --repair fill, and"),
        ('or ("flip", "fill")', "or --repair flip --repair fill"),
        ("pass unit='mm'; if not, pass unit='m'", "pass --unit mm; if not, pass --unit m"),
        ("states the unknown unit 'ell': pass unit=", "states the unknown unit 'ell': pass --unit"),
        ("a thin wall, pass shell= or area_density=", "a thin wall, pass --shell"),
        ("pass area_density=", "pass --shell"),
        ("pass more points=", "pass more --points"),
        ("unit=mm.stl cannot be read: pass unit=", "unit=mm.stl cannot be read: pass --unit"),
        ("a/unit=mm.stl: shell=", "a/unit=mm.stl: --shell"),
        ("nothing to say about a=b (x='y')", "nothing to say about a=b (x='y')"),
    ],
)
def test_messages_name_options(said, expected):
    assert rephrase_as_options(said, Path("a/unit=mm.stl")) == expected
    if "unit=mm" not in said:
        assert rephrase_as_options(said, Path("part.stl")) == expected


@pytest.mark.parametrize("name", ["density=5.stl", "$x^2$ {1}.stl", "a b.stl", "Teil-ÄÖ-部品.stl", "x" * 200 + ".stl"])
def test_files_of_any_name_are_called_by_it(call, tmp_path, name):
    bracket().export(tmp_path / "plain.stl")
    (tmp_path / "plain.stl").rename(tmp_path / name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = call(name, "--unit", "mm", "--picture", "a.svg", "--compare", "--points", 1000)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(f"{name}\n")
    missing = call("none-" + name)
    assert f"there is no file none-{name}" in missing.stderr


@pytest.mark.parametrize("suffix", ["stl", "obj"])
def test_a_name_that_is_not_valid_text(call, tmp_path, suffix):
    name = os.fsdecode(f"\xff.{suffix}".encode("latin-1"))
    try:
        (tmp_path / f"bracket.{suffix}").rename(tmp_path / name)
    except OSError:
        pytest.skip("this file system takes only text")
    result = call(name, "--unit", "mm", "--picture", "a.png")
    if result.exit_code == 0:
        assert result.stdout.startswith(f"\ufffd.{suffix}\n")
    else:
        assert result.stderr == f"Error: \ufffd.{suffix}: this name is not valid text: rename the file\n"
    assert call(os.fsdecode(b"\xfe.stl")).stderr == "Error: there is no file \ufffd.stl\n"


def test_no_zero_has_a_minus(call, tmp_path):
    """Axes and a center that are off by rounding, downwards."""
    box = trimesh.creation.box((1, 2, 3))
    turn = Rotation.from_euler("xyz", (-1e-12, 1e-12, -1e-12)).as_matrix()
    trimesh.Trimesh(box.vertices @ turn.T, box.faces, process=False).export(tmp_path / "turned.obj", digits=17)
    out = call("turned.obj", "--about=-0,0,-0", "--compare", "--points", 1000).stdout
    assert re.findall(r"-0(?:\.0+)?(?![\d.e])", out) == []


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("content", [b"", b"solid nothing\n", bytes(range(256)) * 3], ids=["empty", "text", "bytes"])
def test_damaged_files_are_refused_with_a_message(call, tmp_path, suffix, content):
    (tmp_path / f"bad.{suffix}").write_bytes(content)
    result = call(f"bad.{suffix}")
    assert result.exit_code == 1, result.output
    assert result.stderr.startswith("Error: ")
    assert result.stdout == ""


def test_help_has_examples(call):
    text = call("--help").stdout
    assert text.count("  polhode mass ") >= 5
    assert "2mm" in text
