"""A motion at an instant: what is between outputs, what becomes an arrow, what is drawn, and `polhode picture`."""

from __future__ import annotations

import json
from math import pi

import click
import numpy as np
import pytest
from click.testing import CliRunner
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgba

import polhode as ph
from polhode.cli import cli
from polhode.cli.target import TargetCommand
from polhode.errors import InputError
from polhode.gallery import MODELS
from polhode.plot.scene import Scene, world_camera
from polhode.plot.snapshot.figure import draw_snapshot
from polhode.plot.snapshot.layout import lay_out_views
from polhode.plot.snapshot.trajectory import sample_trajectory, sample_trajectory_at
from polhode.plot.snapshot.views import HIDDEN_ALPHA
from polhode.plot.style import COLORS, styled_figure

BOX = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0)
WEIGHT = 10.0 * 9.80665


def spun(rates, duration=2.0, **options):
    return ph.simulate(BOX, ph.State(angular_velocity_body=rates), duration=duration, method="exact", **options)


@ph.event
def ground(t, state, body, params):
    return state.position[2]


pytestmark = pytest.mark.filterwarnings("ignore:engine='python'")


# Between outputs -----------------------------------------------------------------------------------------------------
def pushed_box(forces, output_step, **options):
    start = ph.State(velocity=(1, 0, 0), angular_velocity_body=(0.1, 3.0, 0.1))
    common = {"duration": 0.4, "step": 0.01, "method": "rk4", "engine": "python"}
    return ph.simulate(BOX, start, forces, output_step=output_step, **common | options)


@pytest.mark.parametrize("impulses", [(0.23,), (0.2,), (0.22, 0.26)])
def test_impulses_between_outputs_are_discontinuous_as_in_the_same_run_with_all_its_outputs(impulses):
    """0.1 s between outputs, and about 5 rad/s more by an impulse: smeared over that time it would be 0.1 rad off."""
    forces = [ph.forces.impulse((0, 0, 5.0), t, (0.1, 0.2, 0.0)) for t in impulses]
    few, all_of_them = (pushed_box(forces, step) for step in (0.1, 0.01))
    found, before = sample_trajectory(few, all_of_them.times), all_of_them.times < impulses[0] - 1e-9
    assert angle_between_matrices(found, all_of_them)[before].max() < 5e-3
    alone = len(impulses) == 1  # between two impulses nothing is known but where it must arrive
    assert angle_between_matrices(found, all_of_them).max() < (0.01 if alone else 0.07)
    assert found.position[:, 0] == pytest.approx(all_of_them.position, abs=1e-12)


def angle_between_matrices(found, motion):
    trace = np.einsum("kij,kij->k", found.attitude[:, 0], motion.rotation_matrix)
    return np.arccos(np.clip((trace - 1) / 2, -1, 1))


def test_under_gravity_the_place_at_an_impulse_follows_from_before_and_after():
    forces = [ph.forces.gravity(), ph.forces.impulse((0, 0, 20.0), 0.23)]
    few, all_of_them = (pushed_box(forces, step) for step in (0.1, 0.01))
    found = sample_trajectory(few, all_of_them.times)
    assert found.position[:, 0] == pytest.approx(all_of_them.position, abs=0.5 * 9.80665 * 0.04**2)


def test_a_thrust_shorter_than_the_time_between_outputs_is_an_impulse_too():
    thrust = ph.forces.thruster((0, 0, 0), (0, 1, 0), 2000.0, 0.22, 0.24)  # 200 m/s2
    few, all_of_them = (pushed_box([thrust], step) for step in (0.1, 0.01))
    found = sample_trajectory(few, all_of_them.times)
    assert found.position[:, 0] == pytest.approx(all_of_them.position, abs=0.5 * 200.0 * 0.02**2)


def test_at_the_outputs_all_is_theirs_whatever_happened_between():
    forces = [ph.forces.impulse((0, 0, 20.0), t, (0.1, 0.2, 0.0)) for t in (0.15, 0.2, 0.31, 0.33)]
    motion = pushed_box(forces, 0.1)
    found = sample_trajectory(motion, motion.times)
    assert found.position[:, 0] == pytest.approx(motion.position, abs=1e-12)
    assert found.attitude[:, 0] == pytest.approx(motion.rotation_matrix, abs=1e-12)
    assert found.omega[:, 0] == pytest.approx(motion.angular_velocity, abs=1e-10)


def test_a_bounce_between_outputs_is_where_the_event_found_it():
    """From 0.5 m the ground is reached after 0.3193 s; then it goes up as fast as it came."""
    motion = ph.simulate(
        ph.particle(1.0),
        ph.State(position=(0, 0, 0.5)),
        [ph.forces.gravity()],
        duration=0.6,
        output_step=0.2,
        method="dop853",
        engine="python",
        events=[ground(change=lambda t, state, body, params: ((0.0, 0.0, -2.0 * state.velocity[2]), (0.0, 0.0, 0.0)))],
    )
    moments, fall = np.linspace(0.0, 0.6, 61), (2 * 0.5 / 9.80665) ** 0.5
    since = np.where(moments < fall, moments, moments - 2 * fall)
    assert sample_trajectory(motion, moments).position[:, 0, 2] == pytest.approx(0.5 - 9.80665 * since**2 / 2, abs=1e-9)


def thrown_until_the_ground():
    return ph.ensemble(
        BOX,
        ph.State(position=(0, 0, 0.5), velocity=[(1, 0, 0), (1, 0, 9)]),
        [ph.forces.gravity()],
        duration=1.0,
        output_step=0.25,
        method="dop853",
        engine="python",
        events=[ground()],
    )


def test_a_member_that_an_event_stopped_stays_where_it_stopped():
    motion, fall = thrown_until_the_ground(), (2 * 0.5 / 9.80665) ** 0.5
    found = sample_trajectory(motion, np.linspace(0.0, 1.0, 41))
    heights = 0.5 - 9.80665 * np.minimum(found.times, fall) ** 2 / 2
    assert found.position[:, 0, 2] == pytest.approx(heights, abs=1e-9)
    for time in (0.75, 0.9):  # an output, and none
        assert sample_trajectory_at(motion, time)[0].position[0, 0] == pytest.approx((fall, 0, 0), abs=1e-9)
        assert len(draw_snapshot(motion, time).axes) == 2


def test_the_pivot_stays_where_it_is_between_outputs():
    """40 rad/s, 0.05 s between outputs: two radians from one to the next."""
    motion = heavy_top(0.2, 0.05)
    found = sample_trajectory(motion, np.linspace(0.0, 0.2, 61))
    assert np.ptp(found.reference_point, axis=0) == pytest.approx(0.0, abs=1e-12)
    assert found.velocity[:, 0] == pytest.approx(
        np.cross(found.omega, found.position - found.reference_point)[:, 0], abs=1e-12
    )


# What becomes an arrow -----------------------------------------------------------------------------------------------
def test_vectors_are_those_of_the_motion():
    motion = ph.simulate(
        BOX,
        ph.State(velocity=(1, 0, 3), angular_velocity_body=(0.1, 5, 0.1)),
        [ph.forces.gravity()],
        duration=1.0,
        method="exact",
        output_step=0.1,
    )
    found = sample_trajectory(motion, motion.times)
    assert found.position[:, 0] == pytest.approx(motion.position, abs=1e-13)
    assert found.attitude[:, 0] == pytest.approx(motion.rotation_matrix, abs=1e-12)
    assert found.omega[:, 0] == pytest.approx(motion.angular_velocity, abs=1e-12)
    assert found.in_body(found.omega)[:, 0] == pytest.approx(motion.angular_velocity_body, abs=1e-12)
    assert found.momentum[:, 0] == pytest.approx(motion.angular_momentum, abs=1e-12)
    assert found.force[:, 0] == pytest.approx(np.tile((0, 0, -WEIGHT), (11, 1)), abs=1e-12)
    assert not found.torque.any()


def heavy_top(duration=0.02, output_step=0.001):
    disc, start = ph.shapes.cylinder(0.3, 0.05, mass=2.0), ph.rotations.quaternion((1, 0, 0), pi / 3)
    spin = ph.State(quaternion_wxyz=start, angular_velocity_body=(0.0, 0.0, 40.0))
    options = {"pivot": (0.0, 0.0, -0.4), "method": "rk4", "step": 0.001, "engine": "python"}
    return ph.simulate(disc, spin, [ph.forces.gravity()], duration=duration, output_step=output_step, **options)


def test_on_a_pivot_momentum_changes_as_the_torque_says_about_the_same_point():
    """dL/dt = torque, both about the fixed point: by central differences."""
    motion = heavy_top()
    found = sample_trajectory(motion, motion.times)
    assert np.ptp(found.reference_point, axis=0) == pytest.approx(0.0, abs=1e-12)
    assert found.momentum[:, 0] == pytest.approx(motion.angular_momentum_about(found.reference_point[0, 0]), abs=1e-12)
    rate = (found.momentum[2:, 0] - found.momentum[:-2, 0]) / 0.002
    assert rate == pytest.approx(found.torque[1:-1, 0], abs=1e-4 * float(np.abs(found.torque).max()))


def test_a_springs_forces_on_its_two_bodies_are_opposite():
    pair = ph.simulate(
        [ph.particle(1.0), ph.particle(2.0)],
        [ph.State(), ph.State(position=(1.5, 0, 0))],
        [ph.forces.spring_between(0, 1, 10.0, length=1.0)],
        duration=0.02,
        step=0.01,
        method="rk4",
        engine="python",
    )
    at_start = sample_trajectory_at(pair, 0.0)[0]
    assert at_start.force[0] == pytest.approx(np.array([(5.0, 0, 0), (-5.0, 0, 0)]))
    set_up = lay_out_views(pair)
    assert set_up.joined == ((0, 1),)
    assert not set_up.turns


# What is drawn -------------------------------------------------------------------------------------------------------
def words(figure):
    return " | ".join(text.get_text() for text in figure.texts)


def test_a_picture_has_two_views_with_one_camera_and_a_clock_at_the_instant():
    figure = draw_snapshot(spun((0.1, 5.0, 0.1)), 1.25, "A box")
    space, from_body, clock = figure.axes
    assert "A box" in words(figure)
    assert "t = 1.25 s" in words(figure)
    assert clock.lines[-1].get_xdata()[0] == 1.25
    spans = [np.diff(view.get_ylim())[0] for view in (space, from_body)]
    assert spans[0] == pytest.approx(spans[1])


def test_the_tip_of_the_trail_is_the_angular_velocity_of_the_instant():
    motion = spun((0.1, 5.0, 0.1))
    figure, set_up = draw_snapshot(motion, 1.25), lay_out_views(motion)
    points = np.concatenate([p.vertices for c in figure.axes[1].collections for p in c.get_paths()])
    tip = set_up.camera.flat(set_up.scales["omega"] * motion.at(1.25).angular_velocity_body)
    assert np.linalg.norm(points - tip, axis=1).min() < 1e-9


def test_without_a_time_it_is_the_start():
    motion = ph.simulate(BOX, ph.State(angular_velocity_body=(0, 2, 0), time=3.0), duration=1.0, method="exact")
    assert "t = 3 s" in words(draw_snapshot(motion))


def test_a_particle_has_one_view_and_long_times_are_in_days():
    thrown = ph.State(velocity=(1e-5, 0, 1e-5))
    motion = ph.simulate(ph.particle(1.0), thrown, duration=40 * 86400.0, method="exact")
    figure = draw_snapshot(motion, 10 * 86400.0)
    assert len(figure.axes) == 2
    assert "t = 10 days" in words(figure)
    assert figure.axes[1].get_xlabel() == "time (days)"


def test_a_body_that_goes_far_is_followed():
    motion = ph.simulate(
        BOX, ph.State(velocity=(9, 0, 0), angular_velocity_body=(0, 2, 0)), duration=2.0, method="exact"
    )
    figure = draw_snapshot(motion, 2.0)
    assert "the view follows" in words(figure)
    (left, right), at = figure.axes[0].get_xlim(), lay_out_views(motion).camera.flat(np.array((18.0, 0.0, 0.0)))[0]
    assert (left + right) / 2 == pytest.approx(at)


def test_of_an_ensemble_some_hundred_members_are_drawn_and_the_title_says_so():
    rates = np.random.default_rng(1).normal((0, 5, 0), 0.5, (400, 3))
    for velocity in ((0, 0, 0), rates):
        start = ph.State(velocity=velocity, angular_velocity_body=rates)
        motion = ph.ensemble(BOX, start, duration=0.5, output_step=0.25, method="exact")
        figure = draw_snapshot(motion, 0.25, "throws")
        assert "300 of 400 members" in words(figure)
        assert len(figure.axes) == 3


def test_moments_of_no_solid_get_a_remark():
    body = ph.Body(mass=1.0, inertia=(1.0, 2.0, 4.0), allow_unphysical=True)
    motion = ph.simulate(body, ph.State(angular_velocity_body=(0.1, 2, 0.1)), duration=2.0, method="exact")
    assert "the inertia ellipsoid" in words(draw_snapshot(motion, 1.0)).replace("\n", " ")


def test_a_time_outside_is_rejected_and_so_is_a_body_that_is_not_there():
    motion = spun((0.1, 5.0, 0.1))
    for time in (-0.1, 2.1):
        with pytest.raises(InputError, match=r"outside the run, which lasts from 0 to 2 s"):
            draw_snapshot(motion, time)
    with pytest.raises(InputError, match="there is no body 1: this motion has 1"):
        draw_snapshot(motion, 1.0, body=1)


def test_of_an_ensemble_no_body_can_be_picked_and_a_sentence_says_what_is_shown():
    motion = ph.ensemble(
        BOX, ph.State(angular_velocity_body=[(0, 1, 0), (0, 2, 0)]), duration=0.5, output_step=0.25, method="exact"
    )
    with pytest.raises(InputError, match=r"body = 1 selects a body of a system.*whose 2 members are drawn together"):
        draw_snapshot(motion, 0.25, body=1)


def test_an_arrow_within_the_body_shines_through():
    motion = spun((0.1, 5.0, 0.1))
    figure = draw_snapshot(motion, 1.0)
    faint = to_rgba(COLORS["omega"], HIDDEN_ALPHA)
    for view in figure.axes[:2]:
        edges = np.concatenate([c.get_edgecolors() for c in view.collections])
        assert np.isclose(edges, faint).all(axis=1).sum() == 2  # shaft and head


@pytest.mark.parametrize("dpi", [72, 150])
def test_no_seams_show_between_the_triangles_of_a_flat_face(dpi):
    scene = Scene(world_camera())
    scene.body(ph.shapes.box((1.0, 1.0, 1.0), mass=1.0), color=COLORS["axis_3"])
    with styled_figure(4.0, 4.0, constrained=False) as figure:
        figure.set_dpi(dpi)
        scene.draw(figure.add_axes((0, 0, 1, 1)))
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
    shown = np.asarray(canvas.buffer_rgba())[..., :3].reshape(-1, 3)
    colors, counts = np.unique(shown, axis=0, return_counts=True)
    flat = colors[np.argsort(-counts)[:4]].astype(int)  # the paper and three faces
    apart = np.abs(shown[:, None].astype(int) - flat).max(axis=2).min(axis=1)
    assert (apart > 6).mean() < 0.03  # the outlines alone


def test_of_a_stored_motion_with_unknown_forces_the_nearest_output_is_drawn_with_a_remark(tmp_path):
    @ph.force
    def push(t, state, body, params):
        return (1.0, 0.0, 0.0), (0.0, 0.0, 0.0)

    motion = ph.simulate(
        BOX,
        ph.State(angular_velocity_body=(0, 2, 0)),
        [push()],
        duration=0.04,
        step=0.01,
        output_step=0.02,
        method="rk4",
        engine="python",
    )
    assert sample_trajectory_at(motion, 0.013)[0].times.tolist() == [0.013]
    assert sample_trajectory_at(motion, 0.013)[0].force[0, 0].tolist() == [1.0, 0.0, 0.0]
    motion.save(tmp_path / "pushed.zarr")
    stored = ph.load(tmp_path / "pushed.zarr")
    found, remark = sample_trajectory_at(stored, 0.013)
    assert found.times.tolist() == [0.02]
    assert "nearest stored output" in remark
    text = words(draw_snapshot(stored, 0.013)).replace("\n", " ")
    assert "output to 0.013 s" in text
    assert "the file does not hold push" in text


def test_members_whose_bodies_differ_are_each_drawn_as_itself():
    bodies = ph.shapes.box([(0.1, 0.4, 0.9), (0.5, 0.4, 0.9)], mass=10.0)
    start = ph.State(velocity=[(0, 0, 0), (2, 0, 0)], angular_velocity_body=(0.1, 3.0, 0.1))
    motion = ph.ensemble(bodies, start, duration=1.0, output_step=0.5, method="exact")
    set_up = lay_out_views(motion)
    assert [np.ptp(surface.vertices[:, 0]) for surface in set_up.surfaces] == pytest.approx([0.1, 0.5])
    assert "the large one is that of the first member" in words(draw_snapshot(motion, 1.0))


def test_on_a_pivot_the_legend_says_about_what_momentum_and_torque_are():
    labels = [handle.get_label() for handle in lay_out_views(heavy_top()).legend()]
    assert labels == ["ω", "L about the pivot", "torque about the pivot", "force"]
    assert [handle.get_label() for handle in lay_out_views(spun((0.1, 5.0, 0.1))).legend()] == ["ω", "L"]


def test_a_quaternion_that_was_never_rescaled_still_turns_as_a_rotation():
    options = {"step": 0.1, "method": "rk4", "engine": "python", "renormalize": False}
    motion = ph.simulate(BOX, ph.State(angular_velocity_body=(0, 9.0, 0)), duration=2.0, output_step=0.5, **options)
    assert abs(np.linalg.norm(motion.quaternion_wxyz[-1]) - 1) > 1e-3
    attitude = sample_trajectory(motion, np.linspace(0.0, 2.0, 33)).attitude[:, 0]
    assert attitude @ attitude.transpose(0, 2, 1) == pytest.approx(np.tile(np.eye(3), (33, 1, 1)), abs=1e-12)


# The command ---------------------------------------------------------------------------------------------------------
@pytest.fixture
def call(tmp_path, monkeypatch):
    """Run a command in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments):
        return CliRunner().invoke(cli, [str(a) for a in arguments])

    return invoke


SCENARIO = """
name = "spin"
duration = 1.0
method = "exact"
[body]
mass = 10.0
inertia = [0.81, 0.68, 0.14]
angular_velocity_body = [0.1, 5.0, 0.1]
"""


@pytest.mark.parametrize(("suffix", "begins"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_picture_of_a_file(call, tmp_path, suffix, begins):
    (tmp_path / "spin.toml").write_text(SCENARIO)
    result = call("picture", "spin.toml", "--at", "0.4", "-o", f"x.{suffix}")
    assert result.exit_code == 0, result.output
    assert result.stdout == f"picture: x.{suffix} (spin, at t = 0.4 s)\n"
    assert (tmp_path / f"x.{suffix}").read_bytes().startswith(begins)
    assert {p.name for p in tmp_path.iterdir()} == {"spin.toml", f"x.{suffix}"}


def test_picture_of_a_stored_motion_and_json(call, tmp_path):
    spun((0.1, 5.0, 0.1)).save(tmp_path / "spin.zarr")
    report = json.loads(call("picture", "spin.zarr", "--at", "1.5", "--json").stdout)
    assert report["picture"] == "spin.png"
    assert report["time_s"] == 1.5
    assert (tmp_path / "spin.png").is_file()


def test_picture_takes_the_models_own_options(call):
    report = json.loads(call("picture", "Toutatis", "--at", "86400", "--json").stdout)
    assert report["picture"] == "toutatis.png"
    assert report["run"] == "forty days"
    assert "--spin <rad/s>" in call("picture", "dzhanibekov", "--help").stdout


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("dzhanibekow",), 2, "did you mean 'dzhanibekov'?"),
        (("nothing.zarr",), 1, "nothing.zarr"),
        (("nothing.toml",), 1, "nothing.toml"),
        (("toutatis", "-o", "x.foo"), 1, "its name must end with .png, .svg or .pdf"),
        (
            ("toutatis", "-o", "no/x.png"),
            1,
            "there is no folder no for the picture: create it, or choose another --output",
        ),
        (("toutatis", "--at", "-5"), 1, "t = -5 s is outside the run"),
        (("toutatis", "--spin", "1"), 2, "No such option"),
    ],
)
def test_error_messages_of_picture(call, tmp_path, arguments, code, sentence):
    result = call("picture", *arguments)
    assert result.exit_code == code
    assert sentence in result.stderr
    assert "Traceback" not in result.output
    assert not list(tmp_path.iterdir())


def test_no_knob_of_a_model_has_the_name_of_a_commands_own_option():
    knobs = {f"--{p.name.replace('_', '-')}" for name in MODELS for p in MODELS[name].parameters}
    for name, command in cli.commands.items():
        if isinstance(command, TargetCommand):
            own = {opt for p in command.params if isinstance(p, click.Option) for opt in p.opts}
            assert not knobs & own, name
