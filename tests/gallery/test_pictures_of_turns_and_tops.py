"""What the pictures of turns and tops say: colors, names and limits, read from the figures."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from math import cos, sin

import numpy as np
import pytest

from polhode.gallery import MODELS, rocket_top
from polhode.gallery.asymmetric_top_unstable import _insert_zeros
from polhode.plot.scene import world_camera
from polhode.plot.style import COLORS


@cache
def figure_of(name, **changed):
    model = MODELS[name]
    values = model.values(**changed)
    return model.picture(model.run(**values), **values)


def panel(figure, start):
    found = [axes for axes in figure.axes if axes.get_title(loc="left").startswith(start)]
    assert len(found) == 1, start
    return found[0]


def entries(axes):
    legend = axes.get_legend()
    return {
        text.get_text(): line.get_color() for text, line in zip(legend.get_texts(), legend.get_lines(), strict=True)
    }


def colors_of_words(figure, word):
    return {text.get_color() for axes in figure.axes for text in axes.texts if text.get_text() == word}


def test_weights_and_rockets_are_no_torques():
    assert colors_of_words(figure_of("gyroscope"), "weight") == {COLORS["weight"]}
    assert colors_of_words(figure_of("rocket-top"), "thruster") == {COLORS["force"]}


def test_the_angles_have_the_same_colors_everywhere():
    turned = entries(panel(figure_of("euler-angles"), "angles from the attitude"))
    gyroscope = entries(panel(figure_of("gyroscope-euler-angles"), "Euler angles, closed form"))
    for name in "φθψ":
        assert turned[name] == gyroscope[name]
        assert turned[name] != COLORS["omega"]


def test_what_is_drawn_from_the_closed_form_says_so():
    assert panel(figure_of("gyroscope-euler-angles"), "change of φ").get_title(loc="left").endswith("closed form")
    assert "closed form" in entries(panel(figure_of("thin-rod"), "ω, body axes"))


def test_solid_and_dashed_lines_have_names():
    names = entries(panel(figure_of("thin-rod"), "world axes"))
    assert len(names) == len(panel(figure_of("thin-rod"), "world axes").lines) == 4
    assert "attitude tolerance" in entries(panel(figure_of("free-rotation"), "plate: error"))
    assert panel(figure_of("quaternion-rotation"), "the quaternion").get_ylabel() == "component"


def test_names_of_neighboring_arrows_stand_apart_where_a_turn_is_small():
    figure = figure_of("rodrigues", angle=1.0)
    figure.savefig("/dev/null", format="png")
    for axes, names in zip(figure.axes, (("v", "v'"), ("x", "1", "y", "2", "z", "3")), strict=False):
        boxes = [text.get_window_extent() for text in axes.texts if text.get_text() in names]
        assert len(boxes) == len(names)
        assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


def test_the_panels_over_time_of_the_rocket_top_share_their_time():
    limits = {panel(figure_of("rocket-top"), start).get_xlim() for start in ("angle θ", "angle φ", "drift")}
    assert len(limits) == 1


@pytest.mark.parametrize("theta", [0.4, 0.7, 1.5, 1.6, 2.1])
def test_the_rocket_top_is_seen_across_its_axle(theta):
    """An axle at a right angle to the line of sight hides neither of its ends."""
    for phi in (0.3, 2.5, -1.0):
        axle = np.array((sin(theta) * sin(phi), -sin(theta) * cos(phi), cos(theta)))
        camera = world_camera(*rocket_top._camera_angles(axle))
        assert axle @ camera.eye == pytest.approx(0, abs=1e-12)
        assert axle @ camera.right > 0


def test_titles_stay_on_the_sheet_and_the_end_value_off_the_curve():
    figure = figure_of("affine-3d", about_x=120.0, about_z=40.0)
    figure.savefig("/dev/null", format="png", dpi=60)
    for axes in figure.axes:
        assert axes._left_title.get_window_extent().x1 <= figure.bbox.x1
    apart = panel(figure, "angle between")
    assert not apart.texts
    assert any("finally" in name for name in entries(apart))


def test_a_matrix_that_no_knob_changes_is_named():
    """By hand: 0.9 * 0.8 + 0.5 * 0.35 = 0.895."""
    legend = panel(figure_of("affine-2d"), "parallel lines").get_legend()
    words = " ".join(text.get_text() for text in legend.get_texts())
    assert "A = (0.9, -0.5; 0.35, 0.8),\ndet 0.895" in words
    patches = [getattr(text, "arrow_patch", None) for text in figure_of("affine-2d").axes[0].texts]
    arrows = {patch.get_edgecolor() for patch in patches if patch}
    assert arrows
    assert all(np.abs(np.array(arrow[:3]) - np.array((0x8E, 0x3B, 0x8B)) / 255).max() > 0.01 for arrow in arrows)


def test_a_zero_where_the_sign_changes_leads_down_and_out():
    """The zeros of a sine, to the error of a chord."""
    times = np.linspace(0.5, 10.0, 200)
    more, values = _insert_zeros(times, np.sin(times))
    assert more[values == 0] == pytest.approx(np.pi * np.arange(1, 4), abs=2e-5)
    assert np.all(np.diff(more) > 0)
    assert values[values != 0] == pytest.approx(np.sin(times), abs=0)


@pytest.mark.parametrize(("name", "start"), [("feynman-plate", "energy change"), ("free-rotation", "block: rate")])
def test_no_axis_is_stretched_for_its_legend(name, start):
    axes = panel(figure_of(name), start)
    largest = max(float(np.nanmax(line.get_ydata())) for line in axes.lines if len(line.get_ydata()))
    assert axes.get_ylim()[1] <= (10.5 * largest if axes.get_yscale() == "log" else 1.2 * largest)
