"""Contacts as arguments: what they mean in closed form, what is refused, members, files, and the method chosen."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import trimesh
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.errors import PolhodeError, ScenarioError
from polhode.scenario.outline import outline_of

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "scenario-file.md").read_text(encoding="utf-8")
S = ph.shapes
BOX = S.box((1, 1, 1), mass=1.0)
HIGH = ph.State(position=(0, 0, 9))
GRAVITY = ph.forces.gravity()


def scenario(body=BOX, state=HIGH, forces=(GRAVITY,), **settings):
    return ph.Scenario(body, state, forces, **{"duration": 0.5, "contacts": [ph.floor()], **settings})


# What they mean -----------------------------------------------------------------------------------------------------
def test_a_wall_against_fractions():
    """(2, 3, 6) has the length 7, and 7 offset = 2 x + 3 y + 6 z."""
    made = ph.wall((2, 3, 6), point=(1, 10, 100))
    assert made.normal == pytest.approx([float(Fraction(n, 7)) for n in (2, 3, 6)], rel=1e-15)
    assert made.offset == pytest.approx(float(Fraction(2 + 30 + 600, 7)), rel=1e-15)


def test_a_slope_of_three_four_five():
    made = ph.slope(np.arctan2(3, 4), point=(5, 7, 0))
    assert made.normal == pytest.approx((0.6, 0.0, 0.8), rel=1e-15)
    assert made.offset == pytest.approx(3.0, rel=1e-15)


def test_a_wall_of_any_magnitude_is_a_unit_vector():
    for size in (1e-300, 1e-160, 1e160, 1e300):
        assert ph.wall((3 * size, 0, 4 * size)).normal == pytest.approx((0.6, 0.0, 0.8), rel=1e-15)


def test_what_was_given_may_change_afterwards():
    e, n = np.array((0.1, 0.2)), [0.0, 0.0, 2.0]
    made = ph.wall(n, restitution=e)
    e[0], n[2] = 0.9, -1.0
    assert made.restitution.tolist() == made.arguments["restitution"].tolist() == [0.1, 0.2]
    assert made.arguments["normal"].tolist() == [0.0, 0.0, 2.0]


# What is refused ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("attempt", "sentence"),
    [
        (lambda: ph.floor(1.01), "restitution of floor must lie between 0 .* and 1 .*, but is 1.01"),
        (lambda: ph.floor(-0.1), "restitution of floor .* but is -0.1"),
        (lambda: ph.floor([0.5, 1.5]), "restitution of floor .* but is 1.5"),
        (lambda: ph.floor(0.5, -0.3), "friction of floor must not be negative, but is -0.3"),
        (lambda: ph.floor(np.nan), "restitution of floor must be finite"),
        (lambda: ph.floor(friction=np.inf), "friction of floor must be finite"),
        (lambda: ph.floor(height=np.nan), "height of floor must be finite"),
        (lambda: ph.floor("bouncy"), "restitution of floor must be a number"),
        (lambda: ph.floor(name=3), "name must be a string, not 3"),
        (lambda: ph.floor(mu=0.3), "here it is called 'friction'"),
        (lambda: ph.floor(cor=0.3), "here it is called 'restitution'"),
        (lambda: ph.floor([0.1, 0.2], [0.1, 0.2, 0.3]), r"different lengths, \[2, 3\]"),
        (lambda: ph.wall((0, 0, 0)), r"normal of wall must not be \(0, 0, 0\)"),
        (lambda: ph.wall((1, 0)), "normal of wall must be 3 numbers"),
        (lambda: ph.wall((1, 0, np.inf)), "normal of wall must be finite"),
        (lambda: ph.wall((1, 0, 0), (0, 0)), "point of wall must be 3 numbers"),
        (lambda: ph.slope(30), r"angle of slope .* is 30: if that is in degrees, give math.radians\(30\)"),
        (lambda: ph.slope(0.1, point=(0, np.nan, 0)), "point of slope must be finite"),
        (lambda: ph.between_bodies(2.0), "restitution of between bodies must lie between 0"),
        (lambda: ph.between_bodies(friction=-1.0), "friction of between bodies must not be negative"),
        (lambda: scenario(contacts=ph.floor()), r"contacts must be a list, contacts=\[...\]"),
        (lambda: scenario(contacts=[ph.floor]), "floor is a function: call it"),
        (lambda: scenario(contacts=["floor"]), "'floor' is not a contact: make one with ph.floor, ph.wall"),
        (lambda: ph.simulate(BOX, duration=1.0, ground=True), "here it is called 'contacts'"),
        (lambda: scenario(method="rk4", step=0.1), "contacts go with the methods .* not with 'rk4': leave method out"),
        (lambda: scenario(method="taylor"), "contacts go with the methods"),
        (lambda: scenario(formulation="euler_angles"), "computed in formulation 'body_rates', not in 'euler_angles'"),
        (lambda: scenario(pivot=(0, 0, 0.5)), "contacts and a pivot do not go together"),
        (lambda: scenario(contacts=[ph.between_bodies()]), "give at least two, in a list"),
        (
            lambda: scenario([BOX, BOX], [HIGH, HIGH], contacts=[ph.between_bodies(), ph.between_bodies(0.5)]),
            "contacts have 2 of ph.between_bodies",
        ),
        (lambda: scenario(ph.Body(mass=1.0, inertia=(1, 1, 1))), "contacts need a shape, but the body has mass"),
        (
            lambda: scenario([BOX, ph.Body(mass=1.0, inertia=(1, 1, 1))], [HIGH, HIGH]),
            "body 1: contacts need a shape",
        ),
        (lambda: scenario(S.half_ellipsoid((1, 1, 1), mass=1.0)), "half an ellipsoid"),
        (lambda: scenario(S.thin_rod(1.0, 0.0, mass=1.0)), "no extent across a line"),
        (
            lambda: scenario(contacts=[ph.floor([0.1, 0.2]), ph.floor([0.1, 0.2, 0.3], height=-1)]),
            r"body, state, forces and contacts have different lengths, \[2, 3\]",
        ),
    ],
)
def test_bad_contacts_are_refused_with_a_sentence(attempt, sentence):
    with pytest.raises(PolhodeError, match=sentence):
        attempt()


def test_events_beside_contacts_are_refused():
    @ph.event
    def landing(t, state, body, params):
        return state.position[2]

    with pytest.raises(ScenarioError, match="contacts and events do not go together: leave out the event landing"):
        scenario(events=[landing()])


def test_contacts_are_not_exported_as_source(tmp_path):
    with pytest.raises(ScenarioError, match="with contacts cannot be exported"):
        ph.write_source(scenario(), "c", tmp_path / "motion.c")


def test_thin_bodies_and_particles_may_touch():
    for body in (S.thin_disk(1, mass=1.0), S.thin_rod(1, 0.01, mass=1.0), S.thin_sheet((1, 1), mass=1.0)):
        assert scenario(body).contacts
    assert scenario(S.ring(1, mass=1.0)).contacts
    assert scenario(ph.particle(1.0)).contacts


# A start inside a surface -------------------------------------------------------------------------------------------
def test_a_cube_on_its_corner_starts_above_half_its_diagonal():
    on_corner = Rotation.align_vectors([(0, 0, 1)], [(1, 1, 1)])[0]
    for depth, inside in ((1e-8, True), (2e-10, False), (-1e-3, False)):
        state = ph.State(position=(0, 0, np.sqrt(3) / 2 - depth), orientation=on_corner)
        if inside:
            with pytest.raises(ScenarioError, match=r"the body starts 1e-08 m inside the floor: raise it by 1e-08 m"):
                scenario(state=state)
        else:
            assert scenario(state=state).contacts


@pytest.mark.parametrize(
    ("body", "extent"),
    [
        (S.sphere(0.7, mass=1.0), 0.7),
        (S.capsule(0.5, 2.0, mass=1.0), 0.5 + 0.8),
        (S.cylinder(0.5, 2.0, mass=1.0), 0.8 + 0.5 * 0.6),
        (S.thin_disk(0.5, mass=1.0), 0.5 * 0.6),
        (S.torus(1.0, 0.25, mass=1.0), 0.6 + 0.25),
        (S.ellipsoid((0.5, 1.0, 2.0), mass=1.0), np.sqrt((0.5 * 0.6) ** 2 + (2.0 * 0.8) ** 2)),
        (ph.particle(1.0), 0.0),
    ],
)
def test_smooth_bodies_on_a_slope_of_three_four_five(body, extent):
    """How far each reaches along the normal (0.6, 0, 0.8), by hand."""
    ramp = ph.slope(np.arctan2(3, 4), point=(5, 0, 0), name="ramp")
    for gap in (1e-6, -1e-6):
        state = ph.State(position=np.array((5, 1, 0)) + (extent + gap) * ramp.normal)
        if gap > 0:
            assert scenario(body, state, contacts=[ramp]).contacts
        else:
            with pytest.raises(ScenarioError, match=r"starts 1e-06 m inside the ramp: raise it by 1e-06 m"):
                scenario(body, state, contacts=[ramp])


@pytest.mark.parametrize(("turned", "height"), [((1, 0, 0, 0), 1.0), ((0, 1, 0, 0), 3.0)])
def test_a_cone_stands_on_its_base_or_on_its_tip(turned, height):
    """Its center of mass is a quarter of its height above its base."""
    cone = S.cone(1, 4, mass=1.0)
    assert scenario(cone, ph.State(position=(0, 0, height), quaternion_wxyz=turned)).contacts
    with pytest.raises(ScenarioError, match=r"starts 0.001 m inside"):
        scenario(cone, ph.State(position=(0, 0, height - 0.001), quaternion_wxyz=turned))


def test_the_position_that_is_proposed_is_accepted():
    low = ph.State(position=(1, 2, 0.1), quaternion_wxyz=(0.3, 0.5, -0.7, 0.2))
    with pytest.raises(ScenarioError, match="to position=") as refused:
        scenario(state=low)
    proposed = re.search(r"position=\((.*)\)", str(refused.value))[1]
    assert scenario(state=low.replace(position=[float(x) for x in proposed.split(",")])).contacts


def test_members_that_start_inside_are_counted():
    state = ph.State(position=[(0, 0, 0.4), (0, 0, 2), (0, 0, 0.2), (0, 0, 0.5)])
    with pytest.raises(ScenarioError, match=r"inside the floor in 2 of 4 members, at most 0.3 m deep in member 2"):
        scenario(state=state)
    heights = [0.0, 8.6, 0.0]
    with pytest.raises(ScenarioError, match=r"in 1 of 3 members, at most 0.1 m deep in member 1"):
        scenario(contacts=[ph.floor(height=heights)])
    with pytest.raises(ScenarioError, match=r"body 1 starts 0.5 m inside the floor"):
        scenario([BOX, BOX], [HIGH, ph.State()])


# Members ------------------------------------------------------------------------------------------------------------
def test_contacts_may_differ_between_members():
    angle = np.array((0.1, 0.2, 0.3))
    made = scenario(contacts=[ph.slope(angle, [0.1, 0.2, 0.3], point=(0, 0, -50)), ph.floor(0.5, height=-60)])
    assert made.members == 3
    one = made.take(2)
    assert one.members is None
    expected = ph.slope(0.3, 0.3, point=(0, 0, -50))
    assert one.contacts[0].normal.tolist() == expected.normal.tolist()
    assert (one.contacts[0].offset, one.contacts[0].restitution) == (expected.offset, 0.3)
    assert one.contacts[0].arguments["angle"] == 0.3
    assert one.contacts[1].restitution == 0.5
    two = made.take(np.array((2, 0)))
    assert two.members == 2
    assert two.contacts[0].restitution.tolist() == [0.3, 0.1]
    assert made.take(0).take(0).contacts[0].restitution == 0.1


def test_members_of_contacts_between_bodies_and_of_walls():
    points = [(0, 0, -5), (0, 0, -6)]
    made = scenario(
        [BOX, BOX], [HIGH, ph.State(position=(5, 0, 0))],
        contacts=[ph.between_bodies([0.1, 0.2]), ph.wall([(0, 0, 1), (0, 0, 2)], points)],
    )  # fmt: skip
    assert made.members == 2
    assert made.take(1).contacts[0].restitution == 0.2
    assert made.take(1).contacts[1].offset == -6.0


def test_a_single_run_refuses_members_and_an_ensemble_needs_them():
    with pytest.raises(ScenarioError, match=r"forces or contacts has a leading axis of 2 members: use ph.ensemble"):
        ph.simulate(BOX, HIGH, [GRAVITY], duration=0.5, contacts=[ph.floor([0.1, 0.2])])
    with pytest.raises(ScenarioError, match="body, state, forces or contacts with a leading axis"):
        ph.ensemble(BOX, HIGH, [GRAVITY], duration=0.5, contacts=[ph.floor()])


# The method ---------------------------------------------------------------------------------------------------------
DRAG = ph.forces.linear_drag(0.1)


@pytest.mark.parametrize(
    ("forces", "settings", "method"),
    [
        ([GRAVITY], {}, "exact"),
        ([], {}, "exact"),
        ([GRAVITY], {"step": 0.01, "output_step": 0.1}, "exact"),
        ([GRAVITY, ph.forces.impulse((1, 0, 0), 0.2)], {}, "exact"),
        ([GRAVITY], {"formulation": "body_rates"}, "exact"),
        ([GRAVITY, DRAG], {}, "dop853"),
        ([GRAVITY, DRAG], {"rtol": 1e-14}, "dop853"),
        ([GRAVITY], {"method": "dop853"}, "dop853"),
        ([GRAVITY], {"method": "exact"}, "exact"),
    ],
)
def test_the_method_with_contacts(forces, settings, method):
    choice = scenario(forces=forces, **settings).choice
    assert (choice.method.name, choice.formulation) == (method, "body_rates")
    if "method" not in settings:
        assert "error is not estimated" in choice.why


def test_exact_with_drag_is_refused():
    with pytest.raises(ScenarioError, match="linear_drag acts: use method='auto'"):
        scenario(forces=[DRAG], method="exact")


@pytest.mark.parametrize("forces", [[GRAVITY], [GRAVITY, DRAG]])
def test_auto_runs_once_with_contacts(forces, monkeypatch):
    """The body touches nothing: what is tested is the choice and its report."""
    from polhode.solve import auto_method

    runs, run = [], auto_method.run_plan
    monkeypatch.setattr(auto_method, "run_plan", lambda *args, **options: runs.append(1) or run(*args, **options))
    motion = ph.simulate(scenario(forces=forces))
    assert len(runs) == 1
    assert "error is not estimated, since impacts amplify errors" in str(motion.audit())


# Files --------------------------------------------------------------------------------------------------------------
ALL = [
    ph.floor(0.5, 0.3, height=-1 / 3, name="ground"),
    ph.wall((1, 2, 3), (0, 0, -9), 0.9),
    ph.slope(-0.1, 0.2, point=(0, 0, -7)),
    ph.between_bodies(1.0, 0.1),
]
MESH = ph.Body.from_mesh(trimesh.creation.icosphere(1), mass=1.0)
BODIES = {
    "box": BOX,
    "parts": BOX.join(S.cylinder(0.3, 2.0, mass=1 / 3).move((0, 0.1, 1))).subtract(S.sphere(0.1, mass=0.01)),
    "placed": S.ellipsoid((0.1, 0.2, 1 / 3), mass=1.0).turn(Rotation.from_rotvec((1, 2, 3))).scale((1, 2, 3)),
    "mesh": MESH.turn(Rotation.from_rotvec((1, 2, 3))),
    "particle": ph.particle(1.0),
    "shell": S.spherical_shell(0.5, mass=1.0),
    "members": S.box([(1, 1, 1), (1, 2, 3)], mass=1.0),
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_read_again_it_is_the_same_scenario(body, tmp_path):
    written = scenario([body, BOX], [HIGH, ph.State(position=(0, 0, 30))], contacts=ALL)
    written.to_toml(tmp_path / "scenario.toml")
    read = ph.Scenario.from_toml(tmp_path / "scenario.toml")
    assert read.as_mapping(with_parts=True) == written.as_mapping(with_parts=True)
    for a, b in zip(read.bodies, written.bodies, strict=True):
        assert np.array_equal(outline_of(a), outline_of(b))
    for a, b in zip(read.contacts, written.contacts, strict=True):
        assert (a.kind, a.name, a.restitution, a.friction) == (b.kind, b.name, b.restitution, b.friction)
        if a.kind != "between_bodies":
            assert a.normal.tolist() == b.normal.tolist()
            assert a.offset == b.offset


def test_members_of_contacts_in_a_file(tmp_path):
    written = scenario(forces=(), contacts=[ph.floor([0.5, 1 / 3], 0.3, height=[-1, -2])])
    for made in (written, written.take(1)):
        made.to_toml(tmp_path / "scenario.toml")
        read = ph.Scenario.from_toml(tmp_path / "scenario.toml").contacts[0]
        assert np.array_equal(read.restitution, made.contacts[0].restitution)
        assert np.array_equal(read.offset, made.contacts[0].offset)


def test_without_contacts_a_file_holds_no_geometry():
    without = replace(scenario(), contacts=())
    assert "contacts" not in without.as_mapping()
    assert "parts" not in without.as_mapping()["body"]


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ("[[contacts]]\nheight = 1.0", 'every contact needs its kind, for example kind = "floor"'),
        ('[[contacts]]\nkind = "flor"', "contact 'flor' is unknown: did you mean 'floor'"),
        ('[[contacts]]\nkind = "wall"', "contact 'wall' needs normal"),
        ('[[contacts]]\nkind = "floor"\nmu = 0.3', "contact 'floor' has no key 'mu': here it is called 'friction'"),
        ('[[contacts]]\nkind = "floor"\nrestitution = 3', "restitution of floor must lie between 0"),
        ('[contacts]\nkind = "floor"', r"contacts are several tables, each headed \[\[contacts\]\]"),
        ("[[body.parts]]\noffset = [1, 2, 3]", "part 0 of .body. needs its shape, or its vertices and faces"),
        ("[[body.parts]]\nvertices = [[1, 2, 3]]", "part 0 of .body. needs its shape, or its vertices and faces"),
        ("[[body.parts]]\nshape = 3", "the shape of part 0 of .body. must be a table"),
        ('[[body.parts]]\nshape = { kind = "bax" }', "shape of part 0 of .body.: its kind is 'bax'"),
        ('[[body.parts]]\nshape = { kind = "sphere", radius = -1 }', "radius must be greater than 0"),
        (
            '[[body.parts]]\nshape = { kind = "sphere", radius = 1, mass = 2 }',
            "the mass is the body's, which is given by its numbers",
        ),
        ('[[body.parts]]\nshape = { kind = "sphere", radius = 1 }\nlinear = [1]', "linear of part 0 .* 3 x 3 numbers"),
        (
            '[[body.parts]]\nshape = { kind = "sphere", radius = 1 }\nlinear = [[1, 0, 0], [0, 1, 0], [0, 0, 0]]',
            "must not be singular",
        ),
        ('[[body.parts]]\nshape = { kind = "sphere", radius = 1 }\nis_hole = 1', "is_hole of part 0 .* True or False"),
        ("[[body.parts]]\nvertices = [[0, 0, 0]]\nfaces = [[0, 0, 1]]", "must be indices of its 1 vertices"),
        ("[[body.parts]]\nvertices = 3\nfaces = [[0, 0, 1]]", "vertices of part 0 .* must be a list of rows"),
        (
            "[[body.parts]]\nvertices = [[0, 0, 0]]\nfaces = []",
            "faces of part 0 .* must be a list of rows of three numbers",
        ),
    ],
)
def test_bad_files_are_refused_with_a_sentence(lines, sentence, tmp_path):
    path = tmp_path / "scenario.toml"
    path.write_text(f"duration = 1.0\n[body]\nmass = 1.0\ninertia = [1, 1, 1]\nposition = [0, 0, 9]\n{lines}\n")
    with pytest.raises(PolhodeError, match=sentence):
        ph.Scenario.from_toml(path)


@pytest.mark.parametrize(
    ("look", "why"),
    [
        ('shape = { kind = "sphere", radius = 1, mass = 1 }', "takes its parts from its shape"),
        ("particle = true\nmass = 1.0", "is a particle, which has no parts"),
    ],
)
def test_parts_beside_a_shape_or_of_a_particle_are_refused(look, why, tmp_path):
    path = tmp_path / "scenario.toml"
    path.write_text(f'duration = 1.0\n[body]\n{look}\n[[body.parts]]\nshape = {{ kind = "sphere", radius = 1 }}\n')
    with pytest.raises(PolhodeError, match=why):
        ph.Scenario.from_toml(path)


def test_the_pages_example_of_a_contact_is_read(tmp_path):
    example = next(text for text in re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL) if "contacts" in text)
    (tmp_path / "example.toml").write_text(example)
    read = ph.Scenario.from_toml(tmp_path / "example.toml")
    assert (read.contacts[0].kind, read.contacts[0].restitution, read.contacts[0].friction) == ("floor", 0.4, 0.3)
    assert read.choice.method.name == "exact"
