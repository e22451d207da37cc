"""A scenario written as TOML and read again is the same, and moves in the same bits; every key is documented."""

from __future__ import annotations

import inspect
import re
import tomllib
from dataclasses import MISSING, fields
from pathlib import Path

import meshio
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.errors import ForceError
from polhode.massprops.body import Body
from polhode.scenario.body_file import BODY_KEYS, GEOMETRY_KEYS, PRINCIPAL_AXES_KEYS
from polhode.scenario.contact import CONTACTS
from polhode.scenario.events import EVENTS
from polhode.scenario.forces import FORCES
from polhode.scenario.scenario_file import FILE_KEYS, GEODETIC_KEYS, STATE_KEYS

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "scenario-file.md").read_text(encoding="utf-8")
f = ph.forces

# The laws as they stand give the same bits as compiled ones, and need no compilation.
pytestmark = pytest.mark.filterwarnings("ignore:engine='python'")
PLAIN = {"engine": "python", "duration": 0.3, "step": 0.05}

TENSOR = [[2.0, -0.1, 0.2], [-0.1, 2.5, 0.3], [0.2, 0.3, 3.0]]
SOLID = ph.Body(mass=1.7, inertia=TENSOR, center_of_mass=(0.1, 0.2, 0.3))
TOP = ph.Body(mass=1 / 3, inertia=(1.0, 2.0, 5.0), allow_unphysical=True)
START = ph.State(
    position=(0.1, -0.2, 1 / 3),
    quaternion_wxyz=(0.3, -0.5, 0.7, 0.2),
    velocity=(1e-3, 2.0, -3.0),
    angular_velocity=(0.7, 1.9, -1 / 7),
    time=0.25,
)
HELD = START.replace(velocity=(0.0, 0.0, 0.0))

ON_ONE_BODY = [
    f.gravity((0.1, 0.2, -9.7)),
    f.gravity(1.62),
    f.point_gravity(3.5, (5.0, 6.0, 7.0)),
    f.linear_drag(0.3, (1.0, 2.0, 3.0)),
    f.quadratic_drag(0.1, wind=(0.5, 0.0, -0.5)),
    f.rotational_drag(0.2),
    f.force_at((1.0, 0.0, 2.0)),
    f.force_at((1.0, 0.0, 2.0), (0.1, 0.0, 0.2), axes="body"),
    f.force_at((1.0, 0.0, 2.0), np.array((0.1, 0.0, 0.2))),
    f.force_at((1.0, 0.0, 2.0), point=(4.0, 5.0, 6.0)),
    f.torque((0.1, 0.2, 0.3), axes="body"),
    f.thruster((0.1, 0.0, 0.0), (1.0, 2.0, 2.0), 5.0, start=0.3, stop=0.475),
    f.thruster((0.1, 0.0, 0.0), (1.0, 2.0, 2.0), 5.0),
    f.magnetic_torquer((1.0, 2.0, 3.0), (1e-5, 2e-5, 3e-5), pulses=[(0.3, 0.4)]),
    f.spring(4.0, (0.0, 0.0, 1.0), (0.1, 0.2, 0.0), damping=0.1, length=0.5),
    f.impulse((1.0, 2.0, 3.0), 0.4, (0.1, 0.0, 0.0), axes="body"),
]
PLACE = ph.State.from_geodetic(0.5, 1.0, 12000.0, (100.0, 50.0, -3.0), (0.3, 0.2, -0.1), (0.1, 0.2, 0.3))
LOW = ph.earth.WGS84.replace(name="Low", zonal=(1e-3,), rotation_rate=0.0)
DRAG_TABLE = ph.CoefficientTable(("mach", "angle_of_attack"), ((0, 2), (-4, 0, 4)), ((1, 0.1, 1), (2, 0.2, 2)), "hold")
IN_FLIGHT = [
    f.magnetic_torquer((1.0, 2.0, 3.0)),
    f.earth_gravity(),
    f.drag(3e-4, 0.4, earth="WGS84", wind=(1.0, 2.0, 3.0), com_to_pressure_body=(0.1, 0.0, 0.0)),
    f.aerodynamics(
        5e-4,
        {"CX": -0.3, "Cm": ph.CoefficientTable("sideslip", (-2, 2), (1, -1)), "Clp": -0.4},
        span=2.0,
        chord=0.3,
        axes="body",
        air=ph.air.constant(1.1),
        wind=ph.air.wind_table((0, 2e4), ((0, 0, 0), (1, 2, 3))),
        earth="WGS84",
    ),
]
OVER_ANOTHER_EARTH = [
    f.earth_gravity(LOW, degree=0, gradient_torque=True),
    f.drag(3e-4, DRAG_TABLE, ph.air.exponential(1.2, 7000.0), ph.air.wind_shear((0, 9e3), ((0, 0, 0), (1, 2, 3))), LOW),
]
BETWEEN = [
    f.spring_between(1, 0, 3.0, (0.1, 0.0, 0.0), (0.0, 0.2, 0.0), damping=0.2, length=0.7),
    f.mutual_gravity(0.5),
    f.gravity(3.0).on(0, 2),
    f.impulse((0.0, 0.0, 1.0), 0.35).on(1),
]
ROW = [START.replace(position=(i, 0.5 * i, 0.0), velocity=(0.0, i, 0.0)) for i in range(3)]

SCENARIOS = {
    "body": ph.Scenario(SOLID, START, name="tensor", **PLAIN),
    "particle": ph.Scenario(ph.particle(0.1), START, [f.gravity()], output_step=0.1, **PLAIN),
    "unphysical top": ph.Scenario(TOP, START, formulation="body_rates", renormalize=False, **PLAIN),
    "every force": ph.Scenario(SOLID, START, ON_ONE_BODY, **PLAIN),
    "system": ph.Scenario([SOLID, TOP, ph.particle(2.0)], ROW, BETWEEN, method="midpoint", **PLAIN),
    "flight": ph.Scenario(SOLID, PLACE, IN_FLIGHT, method="rk4", **PLAIN),
    "another Earth": ph.Scenario(SOLID, PLACE, OVER_ANOTHER_EARTH, method="rk4", **PLAIN),
    "list of one": ph.Scenario([SOLID], [START], **PLAIN),
    "pivot": ph.Scenario(SOLID, HELD, [f.gravity()], pivot=(0.0, 0.1, -0.3), method="leapfrog", **PLAIN),
    "tolerances": ph.Scenario(
        SOLID, START, engine="python", duration=0.3, rtol=1e-6, atol=(1e-9, 1e-8, 1e-7, 1e-6), output_times=[0.3, 0.55]
    ),
    "volume and area": ph.Scenario(ph.shapes.box((0.1, 0.2, 1 / 3), density=1000 / 7).move((1, 2, 3)), START, **PLAIN),
    "volume alone": ph.Scenario(ph.Body(mass=1.0, inertia=(1.0, 1.0, 2.0), volume=0.0), START, **PLAIN),
    "angles": ph.Scenario(TOP, START, formulation="euler_angles", largest_turn=np.inf, breaks=[0.125], **PLAIN),
}


@pytest.fixture(params=SCENARIOS.values(), ids=SCENARIOS.keys())
def both(request, tmp_path):
    """A scenario, and what comes back from its file."""
    request.param.to_toml(tmp_path / "scenario.toml")
    return request.param, ph.Scenario.from_toml(tmp_path / "scenario.toml")


def test_read_again_it_is_the_same_scenario(both):
    written, read = both
    assert read.as_mapping() == written.as_mapping()
    assert read.is_system == written.is_system
    for setting in FILE_KEYS:
        assert np.array_equal(getattr(read, setting), getattr(written, setting)), setting
    for a, b in zip(read.forces, written.forces, strict=True):
        assert (a.name, a.kernel, a.params, a.bodies, a.instant) == (b.name, b.kernel, b.params, b.bodies, b.instant)
        assert (a.kind, a.pushes, a.turns, a.direction, a.windows) == (
            b.kind,
            b.pushes,
            b.turns,
            b.direction,
            b.windows,
        )
        assert (a.potential is None) == (b.potential is None)
    for a, b in zip(read.bodies, written.bodies, strict=True):
        assert (a.mass, a.is_particle, a.allow_unphysical) == (b.mass, b.is_particle, b.allow_unphysical)
        assert (a.volume, a.area) == (b.volume, b.area)
        assert (a.inertia_body == b.inertia_body).all()
        assert (a.center_of_mass == b.center_of_mass).all()
    for a, b in zip(read.states, written.states, strict=True):
        for name in ("position", "quaternion_wxyz", "velocity", "angular_velocity_body", "time"):
            assert np.array_equal(getattr(a, name), getattr(b, name)), name


def test_read_again_it_moves_in_the_same_bits(both):
    written, read = (ph.simulate(scenario) for scenario in both)
    assert read.times.tolist() == written.times.tolist()
    for name in ("position", "quaternion_wxyz", "linear_momentum", "angular_momentum", "work"):
        assert (getattr(read, name) == getattr(written, name)).all(), name
    assert str(read.audit()) == str(written.audit())


def test_every_force_and_every_setting_is_among_these_scenarios():
    """So that the two tests above say something about all of them."""
    used = {force.name for scenario in SCENARIOS.values() for force in scenario.forces}
    assert used == set(FORCES)
    written = {key for scenario in SCENARIOS.values() for key in scenario.as_mapping()}
    assert written == {*FILE_KEYS, "body", "bodies", "forces"} - {"precision"}  # which needs a GPU to be simulated


def test_engine_and_precision_are_read_as_they_were_written(tmp_path):
    start = ph.State(velocity=(1.0, 0.0, 0.0))
    written = ph.Scenario(
        ph.particle(1.0), start, duration=1.0, step=0.1, method="rk4", engine="gpu", precision="single"
    )
    written.to_toml(tmp_path / "gpu.toml")
    read = ph.Scenario.from_toml(tmp_path / "gpu.toml")
    assert (read.engine, read.precision) == ("gpu", "single")


def test_volume_and_area_are_written_where_they_are_known():
    tables = {name: SCENARIOS[name].as_mapping()["body"] for name in ("volume and area", "volume alone", "body")}
    assert tables["volume and area"]["volume"] == 0.1 * 0.2 * (1 / 3)
    assert tables["volume and area"]["area"] == 2 * (0.1 * 0.2 + 0.2 * (1 / 3) + (1 / 3) * 0.1)
    assert tables["volume alone"]["volume"] == 0.0
    assert "area" not in tables["volume alone"]
    assert "volume" not in tables["body"]


def test_bad_volumes_and_those_of_a_particle_are_refused(tmp_path):
    path = tmp_path / "scenario.toml"
    for line, sentence in (
        ("inertia = [1.0, 1.0, 1.0]\nvolume = -1.0", "volume must not be negative, but is -1"),
        ('inertia = [1.0, 1.0, 1.0]\narea = "large"', "area must be a number"),
        ("particle = true\nvolume = 1.0", "is a particle, which has no volume: remove volume"),
        ("particle = true\narea = 1.0", "is a particle, which has no area: remove area"),
    ):
        path.write_text(f"duration = 1.0\n[body]\nmass = 1.0\n{line}\n")
        with pytest.raises(ph.PolhodeError, match=sentence):
            ph.Scenario.from_toml(path)


def test_a_function_of_ones_own_does_not_go_into_a_file(tmp_path):
    @ph.force
    def push(t, state, body, params):
        return (1.0, 0.0, 0.0), (0.0, 0.0, 0.0)

    with pytest.raises(ForceError, match="push is your own function, which a file can only name"):
        ph.Scenario(SOLID, START, [push()], **PLAIN).to_toml(tmp_path / "scenario.toml")
    assert not (tmp_path / "scenario.toml").exists()


# The page ------------------------------------------------------------------------------------------------------------
def rows(heading):
    """The cells of the table under a heading of the page."""
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [re.split(r"(?<!\\)\|", line)[1:-1] for line in section.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line] for line in lines]


def name(cell):
    return cell.removeprefix("`").removesuffix("`")


def value(cell):
    """A default as the page gives it: TOML in code quotes, or "none", or "required ..."."""
    if cell.startswith("required"):
        return MISSING
    return None if cell == "none" else tomllib.loads(f"value = {name(cell)}")["value"]


def same(shown, default):
    return shown is default or (np.array_equal(shown, default) and type(shown) is not bool) or shown is default


def test_the_page_lists_every_setting_with_its_default():
    table = rows("Settings")
    assert [name(row[0]) for row in table] == list(FILE_KEYS)
    parameters = inspect.signature(ph.Scenario).parameters
    defaults = {key: MISSING if p.default is p.empty else p.default for key, p in parameters.items()}
    for key, _, shown, meaning in table:
        assert same(value(shown), defaults[name(key)]), key
        assert meaning


def test_the_page_lists_every_key_of_a_body_with_its_default():
    table = rows("Bodies and initial states")
    assert [name(row[0]) for row in table] == [*BODY_KEYS, *STATE_KEYS]
    start = ph.State()
    defaults = {field.name: field.default for field in fields(Body)} | {"particle": False, "angular_velocity": None}
    defaults |= dict.fromkeys((*GEOMETRY_KEYS, *PRINCIPAL_AXES_KEYS))
    for key in ("position", "quaternion_wxyz", "velocity", "angular_velocity_body", "time"):
        defaults[key] = getattr(start, key)
    defaults |= {"products": None, "rotation": None}
    geodetic = inspect.signature(ph.State.from_geodetic).parameters
    defaults |= {key: geodetic[key.removesuffix("_deg")].default for key in GEODETIC_KEYS}
    for key, _, shown, meaning in table:
        assert same(value(shown), defaults[name(key)]), key
        assert meaning


@pytest.mark.parametrize(("heading", "makers"), [("Forces", FORCES), ("Contacts", CONTACTS), ("Events", EVENTS)])
def test_the_page_lists_every_force_and_contact_and_argument_with_its_default(heading, makers):
    table = rows(heading)
    shown = {(name(row[0]), name(row[1])): value(row[3]) for row in table}
    assert len(shown) == len(table)
    expected = {
        (kind, argument): MISSING if parameter.default is parameter.empty else parameter.default
        for kind, maker in makers.items()
        for argument, parameter in inspect.signature(maker).parameters.items()
    }
    assert set(shown) == set(expected)
    for key, default in expected.items():
        assert same(shown[key], default), key


def test_the_page_lists_every_method_formulation_and_engine():
    from polhode.equations.formulations import FORMULATIONS
    from polhode.methods.registry import METHODS
    from polhode.scenario.scenario_validation import ENGINES

    meanings = {name(row[0]): row[3] for row in rows("Settings")}
    for key, known in (("method", METHODS), ("formulation", FORMULATIONS), ("engine", ENGINES)):
        assert all(f'`"{one}"`' in meanings[key] for one in known)


def test_the_pages_example_runs(tmp_path):
    example = re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)[1]
    (tmp_path / "example.toml").write_text(example)
    scenario = ph.Scenario.from_toml(tmp_path / "example.toml")
    motion = ph.simulate(scenario)
    assert len(motion.times) == 301
    assert motion.steps == 3000
    without_air = (4.0 * 3.0, 0.0, 20.0 + 6.0 * 3.0 - 9.80665 * 3.0**2 / 2)
    assert motion.final.position[0] < without_air[0]  # the wind blows it back
    assert motion.final.position[1] > without_air[1]  # and aside
    assert motion.final.position[2] > without_air[2]  # and the air slows its fall
    assert motion.audit()["work-energy residual"].relative < 1e-9


# Bodies by what they look like --------------------------------------------------------------------------------------
def scenario_with(tmp_path, look):
    (tmp_path / "scenario.toml").write_text(f"duration = 1.0\n[body]\n{look}\n")
    return ph.Scenario.from_toml(tmp_path / "scenario.toml").body


def test_a_shape_a_mesh_and_a_volume_mesh_of_one_box_agree(tmp_path):
    truth = ph.shapes.box((1.0, 2.0, 3.0), density=6.0)
    truth.mesh().export(tmp_path / "box.stl")
    x, y, z = np.meshgrid((-0.5, 0.5), (-1.0, 1.0), (-1.5, 1.5), indexing="ij")
    corners = np.stack((x, y, z), axis=-1).reshape(-1, 3)[[0, 4, 6, 2, 1, 5, 7, 3]]
    cell = meshio.Mesh(corners * 1000, [("hexahedron", [list(range(8))])], cell_data={"region": [[3]]})
    cell.write(tmp_path / "box.vtu")
    looks = [
        'shape = { kind = "box", sides = [1.0, 2.0, 3.0], density = 6.0 }',
        'mesh = { file = "box.stl", density = 6.0 }',
        'volume_mesh = { file = "box.vtu", unit = "mm", density = { 3 = 6.0 } }',
    ]
    for look in looks:
        body = scenario_with(tmp_path, look)
        assert body.mass == pytest.approx(36.0, rel=1e-12)
        assert body.inertia_body == pytest.approx(truth.inertia_body, abs=1e-11)
        assert body.volume == pytest.approx(6.0, rel=1e-12)
        again = scenario_with(tmp_path, look).mesh()
        assert again.volume == pytest.approx(6.0, rel=1e-12)


@pytest.mark.parametrize(
    ("look", "sentence"),
    [
        ('shape = { kind = "bax", sides = [1.0, 1.0, 1.0], mass = 1.0 }', "its kind is 'bax': did you mean 'box'"),
        ("shape = 3", "the shape of .body. must be a table"),
        ('shape = { kind = "box", mass = 1.0 }', "box needs sides"),
        ('shape = { kind = "box", sides = [1.0, 1.0, 1.0], wait = 1.0 }', "box has no key 'wait'"),
        ('shape = { kind = "sphere", radius = -1.0, mass = 1.0 }', "shape of .body.: radius must be greater than 0"),
        (
            'shape = { kind = "sphere", radius = 1.0, mass = 1.0 }\nmass = 2.0',
            "takes its mass from its shape",
        ),
        ('shape = { kind = "sphere", radius = 1.0, mass = 1.0 }\nparticle = true', "has particle and shape: give one"),
        ("mesh = { density = 1.0 }", "needs its file"),
        ('mesh = { file = "none.stl", density = 1.0 }', "there is no file .*none.stl"),
        ('mesh = { file = "none.stl", denisty = 1.0 }', "the mesh has no key 'denisty': did you mean 'density'"),
    ],
)
def test_bad_looks_are_refused_with_a_sentence(tmp_path, look, sentence):
    with pytest.raises(ph.PolhodeError, match=sentence):
        scenario_with(tmp_path, look)


def test_a_turned_body_is_read_back_to_the_last_bit(tmp_path):
    turned = ph.shapes.thin_rod(1.0, 1e-9, mass=1.0).turn(Rotation.from_rotvec((0.3, 0.2, -0.7)))
    ph.Scenario(turned, START, **PLAIN).to_toml(tmp_path / "scenario.toml")
    body = ph.Scenario.from_toml(tmp_path / "scenario.toml").body
    for name in ("inertia_body", "principal_moments"):
        assert np.array_equal(getattr(body, name), getattr(turned, name))
    assert np.array_equal(body.principal_axes.as_quat(), turned.principal_axes.as_quat())
    text = (tmp_path / "scenario.toml").read_text()
    (tmp_path / "scenario.toml").write_text(text.replace("principal_axes_wxyz", "principal_moments_"))
    with pytest.raises(ph.PolhodeError, match="did you mean 'principal_moments'"):
        ph.Scenario.from_toml(tmp_path / "scenario.toml")
    wrong = "mass = 1.0\ninertia = [[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.5]]\n"
    wrong += "principal_moments = [1.0, 2.5, 2.0]\nprincipal_axes_wxyz = [1.0, 0.0, 0.0, 0.0]"
    with pytest.raises(ph.PolhodeError, match="do not match its inertia"):
        scenario_with(tmp_path, wrong)
