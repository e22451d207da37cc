"""What the pictures of pushes, frames and everyday bodies show, read off them, also at the ends of the ranges."""

from functools import cache

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Annotation

from polhode.gallery import MODELS
from polhode.plot.log_axes import mask_nonpositive, set_log_y_limits
from polhode.plot.scene import Scene
from polhode.plot.style import AXIS_COLORS, COLOR_CYCLE, COLORS

OURS = (
    "free-fall-with-drag",
    "fixed-axle",
    "pushed-sphere",
    "block-inertia",
    "boxes",
    "thirty-frames",
    "force-vs-torque",
    "rotation-free",
    "translation-free",
    "uniform-field",
    "two-bodies-on-a-spring",
    "drift",
    "hydra-6dof",
    "rotating-frame",
    "falling-phone",
    "juggling-club",
    "cubesat",
)
SHORT_FALLS = ({"duration": 1.0}, {"mass": 20.0, "drag": 0.05}, {"mass": 500.0, "drag": 0.05, "speed": 100.0})
CROWDED = {
    "two-bodies-on-a-spring": {"mass_a": 0.01, "mass_b": 100.0, "stiffness": 1234.5},
    "rotating-frame": {"radius": 20.0, "speed": 1.0, "rate": 5.0},
    "free-fall-with-drag": {"drag": 20.0, "speed": 100.0, "duration": 60.0},
    "fixed-axle": {"tilt": 85.0, "rate": 30.0},
    "falling-phone": {"spin": 5.0, "height": 0.3, "nudge": 0.005},
    "drift": {"turn": 0.5, "steps": 20000.0},
}


@cache
def played(name, **given):
    model = MODELS[name]
    return model.run(**model.values(**given))


@cache
def drawn(name, **given):
    """The figure, laid out."""
    figure = MODELS[name].picture(played(name, **given), **MODELS[name].values(**given))
    figure.draw_without_rendering()
    return figure


def panel(figure, title):
    (found,) = [axes for axes in figure.axes if title_of(axes).startswith(title)]
    return found


def title_of(axes):
    return axes.get_title(loc="left") or axes.get_title()


def words(axes):
    return [text.get_text() for text in axes.texts]


def entries(axes):
    legend = axes.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


def overlap(a, b):
    return a.x0 < b.x1 and b.x0 < a.x1 and a.y0 < b.y1 and b.y0 < a.y1


@pytest.mark.parametrize("given", SHORT_FALLS)
def test_a_short_fall_fills_the_sheet(given):
    """The terminal speed is far above the panel: its words once pushed all panels together."""
    figure = drawn("free-fall-with-drag", **given)
    assert all(axes.get_position().width > 0.35 and axes.get_position().height > 0.25 for axes in figure.axes)
    speed = panel(figure, "speed")
    limits, spoken = speed.get_window_extent(), [text for text in speed.texts if "terminal" in text.get_text()]
    assert spoken
    assert all(limits.contains(*corner) for text in spoken for corner in text.get_window_extent().corners())


def test_the_power_of_a_jumper_slowed_by_a_parachute_shows_where_it_settles():
    """Against M g V, which it has to be in the end: not lost below a first peak 4000 times as high."""
    figure = drawn("free-fall-with-drag", drag=20.0, speed=100.0, duration=60.0)
    steady = 80 * 9.80665 * np.sqrt(80 * 9.80665 / 20) / 1e3
    power = panel(figure, "power")
    assert power.lines[0].get_ydata()[-1] == pytest.approx(steady, rel=1e-6)
    assert steady > 0.1 * np.ptp(power.get_ylim())


@pytest.mark.parametrize(("name", "given"), [*CROWDED.items(), *((name, {}) for name in OURS)])
def test_no_title_lies_under_its_legend(name, given):
    figure = drawn(name, **given)
    for axes in figure.axes:
        legend, title = axes.get_legend(), axes._left_title
        if legend is not None and title.get_text():
            assert not overlap(legend.get_window_extent(), title.get_window_extent()), title.get_text()


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("falling-phone", "intermediate axis"),
        ("two-bodies-on-a-spring", "positions"),
        ("hydra-6dof", "angle error per"),
        ("fixed-axle", "R I Rᵀ"),
        ("boxes", "ω, body axes"),
    ],
)
def test_the_closed_form_has_its_entry_and_its_line(name, title):
    axes = panel(drawn(name), title)
    assert entries(axes).count("closed form") == 1
    broad = [line for line in axes.lines if line.get_linewidth() == 4.5 and len(line.get_xdata())]
    assert broad
    assert {to_hex(line.get_color()) for line in broad} == {COLORS["closed_form"]}


@pytest.mark.parametrize("name", ["force-vs-torque", "thirty-frames", "free-fall-with-drag", "rotating-frame"])
def test_the_color_of_torques_is_for_torques(name):
    """None is drawn in these pictures."""
    for axes in drawn(name).axes:
        used = {to_hex(line.get_color()) for line in axes.lines}
        used |= {to_hex(c) for group in axes.collections for c in group.get_edgecolors()}
        assert COLORS["torque"] not in used, title_of(axes)


def test_the_tensor_on_the_shaft_has_the_colors_of_the_axes_and_the_title_tilts_the_box():
    figure = drawn("fixed-axle")
    lines = {line.get_label(): line.get_color() for line in panel(figure, "R I Rᵀ").lines}
    assert (lines["xx"], lines["yy"], lines["zz"]) == AXIS_COLORS
    assert "tilted shaft" not in MODELS["fixed-axle"].title
    assert panel(figure, "angle of ω").get_ylim()[1] <= 1e3  # no angle is above 180 deg


def test_the_arrows_on_the_sphere_are_to_scale():
    """Reference: the forces themselves, 1 N and 8 N; and no weight without gravity."""
    shafts = []
    for push in (1.0, 8.0):
        figure = drawn("pushed-sphere", g=0.0, push=push)
        axes = panel(figure, "push at")
        assert not any("m g" in text for text in words(axes))
        assert any(text.startswith("F = ") for text in words(axes))
        head = min(
            (a for a in axes.texts if isinstance(a, Annotation) and a.arrow_patch and not a.get_text()),
            key=lambda a: abs(to_hex(a.arrow_patch.get_facecolor()) != COLORS["force"]),
        )
        shafts.append(np.hypot(*(np.array(head.xy) - head.get_position())))
    assert shafts[1] == pytest.approx(8 * shafts[0], rel=1e-9)
    assert any("m g = 9.81 N" in text for text in words(panel(drawn("pushed-sphere"), "push at")))


def test_the_block_shows_its_moments_in_three_ways():
    """Found in the motions and by the mesh: 6.5, 5 and 2.5 each three times; the angles divided by L are t/I."""
    figure = drawn("block-inertia")
    shown = [text for axes in figure.axes for text in words(axes)]
    assert all(shown.count(value) == 3 for value in ("6.5", "5", "2.5"))
    lines = {line.get_label(): line for line in panel(figure, "rotation angle per").lines}
    for axis, moment in zip("xyz", (6.5, 5.0, 2.5), strict=True):
        x, y = lines[f"about {axis}"].get_data()
        assert y == pytest.approx(x / moment, rel=1e-9, abs=1e-9)


def test_the_block_keeps_its_words_on_the_sheet_at_the_top_of_the_ranges():
    figure = drawn("block-inertia", x=5.0, y=5.0, z=5.0, density=10000.0)
    for axes in figure.axes:
        for text in axes.texts:
            if text.get_text():
                assert all(figure.bbox.contains(*corner) for corner in text.get_window_extent().corners())


@pytest.mark.parametrize("given", [{}, {"spin": 6.0}, {"nudge": 0.2}, {"step": 2e-3}])
def test_published_errors_stand_beside_the_run_they_belong_to_only(given):
    axes = panel(drawn("boxes", **given), "angular momentum error")
    names = [label.get_text() for label in axes.get_xticklabels()]
    assert ("ODE" in names) == ("published" in title_of(axes)) == (not given)


@pytest.mark.parametrize("given", [{"radius": 20.0, "speed": 30.0, "rate": 5.0}, {"radius": 0.1, "speed": 1.0}])
def test_the_landing_is_told_below_the_panel(given):
    axes = panel(drawn("rotating-frame", **given), "from above")
    assert not words(axes)
    assert "landing point on the platform (" in axes.get_xlabel()
    assert "-0.0000" not in axes.get_xlabel()


def test_one_color_for_the_path_on_the_ground():
    figure = drawn("rotating-frame")
    ground = {line.get_label(): line.get_color() for line in panel(figure, "from above").lines}["ground"]
    paths = panel(figure, "from the ground").collections
    assert ground == COLOR_CYCLE[1]
    assert any(to_hex(c) == ground for group in paths for c in group.get_edgecolors())


def test_names_of_drifts_lie_on_no_curve():
    axes = panel(drawn("drift", turn=0.5, steps=20000.0), "drift over time")
    for text in axes.texts:
        box = text.get_window_extent()
        for line in axes.lines:
            x, y = axes.transData.transform(np.column_stack(line.get_data())).T
            inside = (x > box.x0) & (x < box.x1) & (y > box.y0 + 1) & (y < box.y1 - 1)
            assert not inside.any(), text.get_text()


def test_a_logarithmic_axis_leaves_gaps_where_nothing_is_positive():
    figure = Figure()
    axes = figure.subplots()
    axes.plot(range(4), mask_nonpositive(np.array((0.0, 1e-3, -1.0, 10.0))))
    set_log_y_limits(axes, 1e-4, 1e2, 4)
    assert np.isnan(axes.lines[0].get_ydata()).tolist() == [True, False, True, False]
    assert axes.get_ylim() == (1e-4, 1e2)
    figure.draw_without_rendering()
    assert all(text.get_text().startswith("10") for text in axes.get_yticklabels())


def test_panels_of_different_times_have_their_own_labels():
    figure = drawn("falling-phone")
    for upper, lower in (("tilt from L", "intermediate axis"), ("intermediate axis", "growth")):
        first, second = panel(figure, upper), panel(figure, lower)
        assert first.get_xlabel() or first.get_xlim() == second.get_xlim()


def test_the_spring_is_drawn_between_its_balls():
    """Reference: the closed form; the drawn zigzag of the start is as long as the distance of the balls."""
    seen, line = [], Scene.line

    def watched(scene, points, *rest, **more):
        seen.append(points)
        line(scene, points, *rest, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Scene, "line", watched)
        drawn.__wrapped__("two-bodies-on-a-spring")
    lengths = [np.ptp(np.asarray(points)[:, 0]) for points in seen if len(points) > 2]
    assert lengths == pytest.approx([1.4, 1.0, 0.6, 1.0, 1.4], abs=1e-6)


@pytest.mark.parametrize("name", [*OURS, "toutatis"])
def test_units_are_written_in_one_way(name):
    model = MODELS[name]
    units = [p.unit for p in model.parameters]
    if name != "toutatis":
        units += [shown.unit for shown in model.numbers(played(name), **model.values())]
        labels = [axes.get_ylabel() for axes in drawn(name).axes]
        assert "1" not in labels
        units += labels
    for unit in units:
        assert not any(sign in unit for sign in ("²", "³", "°", "degrees")), unit


def test_titles_make_no_promise_that_a_knob_breaks():
    """A slow phone from 0.3 m does not turn over, and a club after a turn and a half shows its belly."""
    phone = played("falling-phone", spin=5.0, height=0.3, nudge=0.005)["intermediate axis"]
    assert phone.angular_velocity_body[-1, 1] > 0.9 * 5.0
    assert "if it falls" in MODELS["falling-phone"].title
    assert "always" not in MODELS["falling-phone"].explanation
    assert "whole turns" in MODELS["juggling-club"].title
