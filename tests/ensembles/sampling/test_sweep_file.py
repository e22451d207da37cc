"""Scenario files with distributions: the members that the same draws in Python give, and sentences about errors."""

from __future__ import annotations

import json

import numpy as np
import pytest
import trimesh
from click.testing import CliRunner

import polhode as ph
from polhode.cli import cli
from polhode.ensembles.sampling import Draw, read_sweep_file
from polhode.errors import PolhodeError
from polhode.scenario.scenario_file import DISTRIBUTIONS

FILE = """
duration = 1.0
step = 0.01
method = "rk4"

[body]
mass = { normal = [1.0, 0.02] }
inertia = { scattered_inertia = [0.12, 0.16, 0.2], standard_deviation = 0.05, axes_standard_deviation = 0.01 }
position = { uniform = [[0, 0, 0], [1, 1, 1]] }
quaternion_wxyz = { random_rotation = true }
velocity = [{ normal = [3.0, 0.1] }, 0.0, { uniform = { low = 1, high = 2 } }]
angular_velocity_body = { table = "spins.csv", column = ["x", "y", "z"] }

[[forces]]
kind = "gravity"
g = { truncated_normal = [9.8, 0.1], low = 9.7, high = inf }

[[forces]]
kind = "quadratic_drag"
c = { lognormal = [0.2, 0.1], name = "drag" }

[[forces]]
kind = "linear_drag"
c = { lognormal = [0.2, 0.1], name = "drag" }
wind = { random_direction = true, axis = [1, 0, 0], half_angle = 0.3 }

[sweep]
members = 20
seed = 4
design = "latin_hypercube"
reduce = ["mean"]
"""


def in_python(draw):
    body = ph.Body(
        mass=draw.normal("body.mass", 1.0, 0.02),
        inertia=draw.scattered_inertia("body.inertia", (0.12, 0.16, 0.2), 0.05, 0.01),
    )
    along, up = draw.normal("body.velocity.0", 3.0, 0.1), draw.uniform("body.velocity.2", 1, 2)
    state = ph.State(
        position=draw.uniform("body.position", (0, 0, 0), (1, 1, 1)),
        quaternion_wxyz=draw.random_rotation("body.quaternion_wxyz"),
        velocity=np.stack((along, 0 * along, up), axis=-1),
        angular_velocity_body=draw.table("body.angular_velocity_body", SPINS),
    )
    drag = draw.lognormal("drag", 0.2, 0.1)
    wind = draw.random_direction("forces.2.wind", (1, 0, 0), 0.3)
    forces = [
        ph.forces.gravity(draw.truncated_normal("forces.0.g", 9.8, 0.1, low=9.7)),
        ph.forces.quadratic_drag(drag),
        ph.forces.linear_drag(drag, wind),
    ]
    return ph.Scenario(body, state, forces, duration=1.0, step=0.01, method="rk4")


SPINS = np.arange(60.0).reshape(20, 3) / 70


@pytest.fixture
def path(tmp_path):
    rows = "".join(",".join(map(repr, row)) + "\n" for row in SPINS.tolist())
    (tmp_path / "spins.csv").write_text("x,y,z\n" + rows, encoding="utf-8")
    found = tmp_path / "sweep.toml"
    found.write_text(FILE, encoding="utf-8")
    return found


def test_a_file_has_the_members_of_the_same_draws_in_python(path):
    source = ph.DrawnSource.from_toml(path)
    ours = ph.DrawnSource(in_python, 20, seed=4, design="latin_hypercube")
    assert (source.members, source.seed, source.design) == (20, 4, "latin_hypercube")
    assert source.input_names == ours.input_names
    members = np.arange(20)
    for name, values in ours.inputs(members).items():
        assert np.array_equal(source.inputs(members)[name], values)
    one, other = ph.ensemble(source.take(members)).final, ph.ensemble(ours.take(members)).final
    assert np.array_equal(one.position, other.position)
    assert np.array_equal(one.angular_velocity_body, other.angular_velocity_body)
    assert json.dumps(source.describe(), allow_nan=False)


def test_arguments_replace_the_sweep_table(path):
    source = ph.DrawnSource.from_toml(path, members=10, seed=0, design="random")
    assert (source.members, source.seed, source.design) == (10, 0, "random")
    assert read_sweep_file(path).reduce == ["mean"]


def test_every_distribution_of_files_is_a_method_of_draw():
    methods = {name for name, value in vars(Draw).items() if callable(value) and not name.startswith("_")}
    assert set(DISTRIBUTIONS) == methods


def test_a_single_run_points_to_sweep(path):
    with pytest.raises(PolhodeError, match=r"body.mass is a distribution, .* `polhode sweep`"):
        ph.Scenario.from_toml(path)
    answer = CliRunner().invoke(cli, ["run", str(path)])
    assert answer.exit_code != 0
    assert "body.mass is a distribution, { normal = ... }" in answer.output
    path.write_text("duration = 1.0\n[body]\nmass = 1.0\nparticle = true\n[sweep]\nmembers = 3\n", encoding="utf-8")
    with pytest.raises(PolhodeError, match=r"\[sweep\] says how to draw members: run this file with `polhode sweep`"):
        ph.Scenario.from_toml(path)


def test_the_normal_of_a_wall_is_not_a_distribution(tmp_path):
    path = tmp_path / "wall.toml"
    path.write_text(
        "duration = 0.1\n[body]\nshape = { kind = 'sphere', radius = 0.1, mass = 1.0 }\nposition = [0, 0, 1]\n"
        "[[contacts]]\nkind = 'wall'\nnormal = [0, 0, 1]\n",
        encoding="utf-8",
    )
    assert ph.Scenario.from_toml(path).contacts[0].normal.tolist() == [0.0, 0.0, 1.0]
    drawn = path.read_text(encoding="utf-8").replace("normal = [0, 0, 1]", "normal = { small_rotation = 0.1 }")
    path.write_text(drawn.replace("{ small_rotation = 0.1 }", "{ random_direction = true, half_angle = 0.1 }"))
    assert ph.DrawnSource.from_toml(path, members=10).input_names == ("contacts.0.normal",)


def test_systems_shapes_and_geodetic_starts_take_distributions(tmp_path):
    path = tmp_path / "system.toml"
    path.write_text(
        "duration = 0.1\n[[bodies]]\nshape = { kind = 'box', sides = [0.1, { uniform = [0.1, 0.2] }, 0.3], mass = 1 }\n"
        "[[bodies]]\nmass = { choice = [1.0, 2.0] }\nparticle = true\nposition = [0, 0, 1]\n"
        "[[forces]]\nkind = 'spring_between'\na = 0\nb = 1\nstiffness = { integers = [1, 3] }\n",
        encoding="utf-8",
    )
    source = ph.DrawnSource.from_toml(path, members=10)
    assert source.input_names == ("bodies.0.shape.sides.1", "bodies.1.mass", "forces.0.stiffness")
    assert ph.ensemble(source.take(np.arange(10))).final[1].position.shape == (10, 3)
    path.write_text(
        "duration = 0.1\n[body]\nmass = 1\nparticle = true\nlatitude_deg = { normal = [45, 0.1] }\nheight = 1e3\n"
        "longitude_deg = { uniform = [0, 90] }\n[[forces]]\nkind = 'earth_gravity'\n",
        encoding="utf-8",
    )
    source = ph.DrawnSource.from_toml(path, members=10)
    drawn = source.inputs(np.arange(10))
    place = ph.State.from_geodetic(
        np.radians(drawn["body.latitude_deg"]), np.radians(drawn["body.longitude_deg"]), 1e3, earth="WGS84"
    )
    assert np.array_equal(source.take(np.arange(10)).state.position, place.position)


HEAD = "duration = 1.0\n[body]\ninertia = [1, 2, 2.5]\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + "mass = { normal = [1.0] }", "body.mass: .*needs its standard_deviation"),
        (HEAD + "mass = { normal = [1.0, 0.1, 2, 3, 4] }", "body.mass: normal "),
        (HEAD + "mass = { normal = [1.0, -0.1] }", "body.mass: standard_deviation .* must not be negative"),
        (
            HEAD + "mass = { normal = [1.0, 0.1], sigma = 3 }",
            "body.mass: normal has no argument 'sigma': here it is called 'standard_deviation'",
        ),
        (HEAD + "mass = { normal = { mean = 1, sd = 3 } }", "body.mass: normal has no argument 'sd'"),
        (HEAD + "mass = { normal = [1.0, 0.1], name = 3 }", "name of body.mass must be a string"),
        (HEAD + "mass = { normal = [1.0, 0.1], uniform = [1, 2] }", "body.mass: normal has no argument 'uniform'"),
        (
            HEAD + "mass = { gauss = [1.0, 0.1] }\nposition = { uniform = [0, [1, 1, 1]] }",
            "body.mass: there is no distribution 'gauss': here it is called 'normal'",
        ),
        (HEAD + "mass = { normaal = [1.0, 0.1] }", "body.mass: .*did you mean 'normal'"),
        (HEAD + "mass = 1\nquaternion_wxyz = { random_rotation = 3 }", "write random_rotation = true, not 3"),
        (HEAD + "mass = { table = 'none.csv' }", "body.mass: there is no table .*none.csv"),
        (HEAD + "mass = { table = 3 }", "body.mass: table must be the name of a CSV file"),
        (HEAD + "mass = 1.0", "has no distribution"),
        (HEAD + "mass = { normal = [1, 0.1] }\n[sweep]\nmember = 3", r"\[sweep\] has no key 'member'"),
        (HEAD + "mass = { normal = [1, 0.1], name = 'a' }\nposition = { normal = [[0, 0, 0], 1], name = 'a' }", "same"),
        ("step = { normal = [1, 0.1] }\n" + HEAD + "mass = 1", "step is the same for all members"),
        (HEAD + "mass = { normal = [[1, 1], 0.1] }", "mass must be a number"),
        (HEAD + "mass = 1\nposition = [{ normal = [1, 0.1] }, 'a', 0]", "body.position must be numbers"),
    ],
)
def test_errors_name_the_place_in_the_file(tmp_path, text, message):
    path = tmp_path / "bad.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PolhodeError, match=message) as caught:
        ph.DrawnSource.from_toml(path, members=10)
    assert str(path) in str(caught.value)


def test_a_file_without_members_asks_for_them(tmp_path):
    path = tmp_path / "few.toml"
    path.write_text(HEAD + "mass = { normal = [1, 0.1] }", encoding="utf-8")
    with pytest.raises(PolhodeError, match="does not say how many members"):
        ph.DrawnSource.from_toml(path)


def test_a_mesh_is_read_once(tmp_path):
    trimesh.creation.box((0.1, 0.2, 0.3)).export(tmp_path / "box.stl")
    path = tmp_path / "mesh.toml"
    path.write_text(
        "duration = 0.1\n[body]\nmesh = { file = 'box.stl', unit = 'm', density = 1000.0 }\n"
        "velocity = { normal = [[0, 0, 1], 0.1] }\n",
        encoding="utf-8",
    )
    source = ph.DrawnSource.from_toml(path, members=100)
    (tmp_path / "box.stl").unlink()
    taken = source.take(np.arange(10))
    assert taken.members == 10
    assert abs(taken.body.mass - 6.0) < 1e-6
    assert json.dumps(source.describe())
    path.write_text(path.read_text(encoding="utf-8").replace("1000.0", "-1.0"), encoding="utf-8")
    with pytest.raises(PolhodeError, match=r"mesh.toml: mesh of \[body\]: .*box.stl"):
        ph.DrawnSource.from_toml(path, members=100)
