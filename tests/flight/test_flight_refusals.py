"""What flight refuses, with a sentence: disagreeing forces, starts and places where nothing is known."""

from pathlib import Path

import numpy as np
import pytest

import polhode as ph
from polhode.errors import ForceError, InputError, ScenarioError

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


# Results --------------------------------------------------------------------------------------------------------------
def test_flight_in_other_air_is_over_the_earth_of_the_forces():
    """A body that falls from rest over the Earth meets air that turns with it: no wind of 465 m/s."""
    motion = ph.simulate(P, PLACE, [F.earth_gravity()], duration=1.0, output_step=0.5)
    flight = motion.flight(air=ph.air.US76)
    assert np.abs(flight.height - motion.in_frame("ned").height).max() < 5e-9
    assert np.abs(flight.airspeed - np.linalg.norm(motion.in_frame("ned").velocity, axis=1)).max() < 1e-9
    assert (flight.airspeed == motion.flight(air="US76", earth="WGS84").airspeed).all()
    two = ph.simulate([P, P], [PLACE, PLACE], [F.earth_gravity().on(0), F.earth_gravity("SPHERE").on(1)], duration=1.0)
    with pytest.raises(InputError, match="several Earths: say which"):
        two.flight(air="US76")


def test_flight_where_the_air_is_unknown():
    high = ph.State.from_geodetic(height=200e3)
    fall = ph.simulate(P, high, [F.earth_gravity()], duration=180.0, output_step=60.0)
    with pytest.warns(
        UserWarning, match="US76 is known from -5000 to 86000 m, not at the height 200000[.0-9]* m.*t = 0"
    ):
        density = fall.flight(air="US76").density
    assert (np.isnan(density) == (fall.in_frame("ned").height > 86e3)).all()
    assert np.isfinite(density[-1])
    short = ph.simulate(P, high, [F.earth_gravity()], duration=1.0)
    with pytest.raises(InputError, match=r"not at the height 200000.* nor later"):
        short.flight(air="US76", earth="WGS84")
    wind = ph.air.wind_table((0, 1000), ((0, 0, 0), (1, 1, 1)))
    with pytest.raises(InputError, match="the wind is known from 0 to 1000 m"):
        short.flight(air=ph.air.constant(), wind=wind)
    with pytest.raises(InputError, match="is given for 3 members, but the motion has no members"):
        short.flight(air=ph.air.constant([1.0, 1.1, 1.2]))


def test_wind_and_gravity_where_they_are_unknown():
    table = ph.air.wind_table((0, 1), ((0, 0, 0), (1, 1, 1)))
    assert table.at([0.0, 1.0]).tolist() == [[0, 0, 0], [1, 1, 1]]
    for make, sentence in (
        (lambda: table.at(2.0), "the wind is known from 0 to 1 m, not at a height of 2 m"),
        (lambda: table.at([0.5, -0.001]), r"not at a height of -0\.001 m"),
        (lambda: table.at(np.nan), "height must be finite"),
        (lambda: ph.air.US76.at(-5000.001), r"not at a height of -5000\.001 m"),
        (lambda: ph.earth.WGS84.gravity((0, 0, 0)), "position is the center of WGS84"),
        (lambda: ph.earth.WGS84.gravity([(7e6, 0, 0), (0, 0, 0)]), "position is the center of WGS84"),
    ):
        with pytest.raises(InputError, match=sentence):
            make()


def test_vertical_motion_has_no_orbital_axes():
    for start in (ph.State(position=(7e6, 1e6, 2e6), velocity=(70.0, 10.0, 20.0)), ph.State(position=(7e6, 0, 0))):
        radial = ph.simulate(P, start, [F.earth_gravity(degree=0)], duration=1.0, output_step=0.5)
        with pytest.raises(InputError, match="at t = 0 s the velocity has no part across the vertical"):
            radial.in_frame("lvlh")
    slow = ph.State(position=(7e6, 0, 0), velocity=(100.0, 1e-6, 0))
    seen = ph.simulate(P, slow, duration=1.0, output_times=[0.0]).in_frame("lvlh", "WGS84")
    assert np.abs(seen.velocity[0] - (1e-6, 0, -100.0)).max() < 1e-12


# Members --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "make",
    [ph.air.constant, lambda density: ph.air.exponential(density, 8e3), lambda d: ph.air.exponential(1.2, d * 6e3)],
)
def test_air_may_differ_between_the_members(make, tmp_path):
    values = np.array([1.2, 1.3, 1.4])
    start, options = (
        ph.State(position=(0, 0, 500.0)),
        {"duration": 2.0, "output_step": 0.5, "method": "rk4", "step": 0.1},
    )
    many = ph.ensemble(P, start, [F.gravity(), F.drag(0.1, 0.5, make(values))], **options)
    for i, value in enumerate(values):
        alone = ph.simulate(P, start, [F.gravity(), F.drag(0.1, 0.5, make(value))], **options)
        assert (many.final.position[i] == alone.final.position).all()
        assert (many.flight().density[:, i] == alone.flight().density).all()
        assert (many.member(i).flight().density == alone.flight().density).all()
        assert make(values).at(100.0).density[i] == make(value).at(100.0).density
    assert many.flight(air=make(values)).density.shape == (len(many.times), 3)
    many.scenario.to_toml(tmp_path / "many.toml")
    again = ph.Scenario.from_toml(tmp_path / "many.toml")
    assert all(
        (np.asarray(a) == b).all()
        for a, b in zip(again.forces[1].params[0][1], many.scenario.forces[1].params[0][1], strict=True)
    )


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: ph.air.constant([1.2, 0.0]), "density must be greater than 0"),
        (lambda: ph.air.exponential([1.2, 1.3], [8e3, 9e3, 1e4]), r"different lengths, \[2, 3\]"),
        (lambda: ph.air.constant([1.2, 1.3]).at([1.0, 2.0, 3.0]), "has 2 members, but height has the shape"),
        (lambda: ph.State.from_geodetic([0, 1.0], [0, 0.1, 0.2], 0), r"different lengths, \[2, 3\]"),
        (lambda: ph.State.from_geodetic([0, 1.0], velocity_ned=[(0, 0, 1.0)] * 3), r"different lengths, \[2, 3\]"),
        (
            lambda: ph.State.from_geodetic([0, 1.0], angular_velocity_body_relative_to_earth=[(0, 0, 1.0)] * 3),
            r"different lengths, \[2, 3\]",
        ),
        (lambda: ph.State.from_geodetic(lattitude=1.0), "no argument 'lattitude'.*latitude"),
        (lambda: ph.earth.WGS84.replace(raduis=1), "replace has no argument 'raduis'.*radius"),
        (lambda: ph.earth.Earth("Moon", gm=4.9e12, raduis=1.7e6), "Earth has no argument 'raduis'.*radius"),
    ],
)
def test_members_and_names_that_do_not_fit_are_refused(make, sentence):
    with pytest.raises(InputError, match=sentence):
        make()


def test_members_of_a_place_go_with_one_of_the_others():
    some = ph.State.from_geodetic(0.3, velocity_ned=[(1.0, 0, 0), (0, 2.0, 0)])
    for i, v in enumerate([(1.0, 0, 0), (0, 2.0, 0)]):
        assert (some.velocity[i] == ph.State.from_geodetic(0.3, velocity_ned=v).velocity).all()


# Functions ------------------------------------------------------------------------------------------------------------
MACH = ph.CoefficientTable("mach", (0, 2), (0.1, 0.2))


def breeze(t, height):
    return (0.0, 1.0)


def forgotten(flow):
    flow.mach  # noqa: B018


@pytest.mark.parametrize("engine", ["cpu", "python"])
@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: F.drag(1, 1, wind=breeze), r"the wind breeze of drag must return \(north, east, down\).*\(0.0, 1.0\)"),
        (lambda: F.drag(1, MACH, wind=breeze), "the wind breeze of drag must return"),
        (lambda: F.drag(1, 1, wind=lambda t, height: None), "of drag must return .* but returned None"),
        (lambda: F.drag(1, 1, wind=lambda t, height: "abc"), "of drag must return .* but returned 'abc'"),
        (lambda: F.drag(1, forgotten), "coefficient of drag, forgotten, must return one number, but returned None"),
        (lambda: F.drag(1, lambda flow: "0.3"), "must return one number, but returned '0.3'"),
        (lambda: F.drag(1, lambda flow: (0.3, 0.1)), r"must return one number, but returned \(0.3, 0.1\)"),
        (lambda: F.aerodynamics(1, {"CD": 1.0, "CL": forgotten}), "CL of aerodynamics, forgotten, must return one"),
        (lambda: F.drag(1, lambda: 0.3), r"the function of coefficient takes one: \(flow\)"),
        (lambda: F.drag(1, 1, wind=lambda t: (0, 0, 0)), r"the function of a wind takes two: \(t, height\)"),
        (
            lambda: F.aerodynamics(1, {"CX": 1.0}),
            "'CX' is unknown with axes='wind': it is along body axes. Give axes='bo",
        ),
        (lambda: F.aerodynamics(1, {"CL": 1.0}, axes="body"), "it is along wind axes. Give axes='wind'"),
    ],
)
def test_functions_and_names_of_coefficients_that_are_none(make, sentence, engine):
    with pytest.raises(ForceError, match=sentence):
        ph.simulate(P, ph.State(), [make()], duration=1.0, engine=engine)


def test_functions_of_members_are_tried_with_the_first():
    areas = np.array([0.1, 0.2])
    force = F.drag(
        areas, lambda flow: 0.1 * flow.mach, ph.air.constant([1.0, 1.1]), lambda t, height: np.array((1, 2, 3))
    )
    start = ph.State(velocity=[(10.0, 0, 0), (20.0, 0, 0)])
    assert ph.Scenario(P, start, [force], duration=1.0).members == 2
    with pytest.raises(ForceError, match="must return one number, but returned None"):
        ph.Scenario(P, start, [F.drag(areas, forgotten)], duration=1.0)
