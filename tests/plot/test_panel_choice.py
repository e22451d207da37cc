"""Panels by name: what they draw, into which axes, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

import polhode as ph
from polhode.errors import InputError
from polhode.plot import PANELS

DISK = ph.shapes.cylinder(0.5, 0.1, mass=1.0)
TILTED = ph.State(quaternion_wxyz=(0.9, 0.3, 0.1, 0.0), angular_velocity_body=(0.0, 0.0, 20.0))


@pytest.fixture(scope="module")
def top() -> ph.Motion:
    settings = {"duration": 5.0, "output_step": 0.01, "pivot": (0.0, 0.0, -0.5)}
    return ph.simulate(DISK, TILTED, [ph.forces.gravity()], **settings)


@pytest.fixture(scope="module")
def members() -> ph.Motion:
    spins = np.random.default_rng(1).normal((1.0, 0.0, 5.0), 0.3, (40, 3))
    start = ph.State(angular_velocity_body=spins, velocity=(1.0, 0.0, 3.0))
    return ph.ensemble(DISK, start, [ph.forces.gravity()], duration=1.0, step=0.01, method="rk4", output_step=0.05)


def test_every_panel_of_a_top(top, tmp_path):
    names = [name for name in PANELS if name not in ("contact_force", "impulses")]
    figure = top.plot(names)
    figure.savefig(tmp_path / "all.svg")
    drawn = [axes for axes in figure.axes if axes.axison]
    assert len(drawn) == len(names)
    assert all(axes.get_ylabel() for axes in drawn)


def test_every_panel_of_members(members, tmp_path):
    names = [n for n in PANELS if n not in ("contact_force", "impulses", "reaction_force", "polhode")]
    figure = members.plot(names)
    figure.savefig(tmp_path / "all.svg")
    assert "40 members" in (tmp_path / "all.svg").read_text()


def test_bands_are_quantiles_of_the_members(members):
    (axes,) = members.plot(["angular_velocity"]).axes
    median = axes.get_lines()[2].get_ydata()
    ordered = np.sort(members.angular_velocity_body[..., 2], axis=1)
    assert median == pytest.approx((ordered[:, 19] + ordered[:, 20]) / 2)
    outer = axes.collections[4].get_paths()[0].vertices[:, 1]  # two bands for each component
    assert ordered[:, 1].min() <= outer.min() <= ordered[:, 2].min()


def test_angles_of_a_top_follow_its_turns(top):
    precession, spin = (top.plot([name]).axes[0].get_lines()[0].get_ydata() for name in ("precession", "spin_angle"))
    for angle in (precession, spin):
        assert np.abs(np.diff(angle)).max() < 180
    x, y = top.rotation_matrix[:, 0, 2], top.rotation_matrix[:, 1, 2]
    around = np.degrees(np.unwrap(np.arctan2(x, -y)))  # where the axle points, about the vertical
    assert precession - precession[0] == pytest.approx(around - around[0], abs=1e-6)


def test_a_line_ends_where_an_angle_jumps(top):
    (axes,) = top.plot(["euler_angles"]).axes
    for line in axes.get_lines():
        steps = np.abs(np.diff(line.get_ydata()))
        assert np.nanmax(steps) < 180


def test_phase_plots_and_given_axes(top):
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert top.plot(["phase:position_x:position_y", "energy"], axes=[left, right]) is figure
    assert np.array_equal(left.get_lines()[0].get_xydata(), top.position[:, :2])
    assert left.get_xlabel() == "position x (m)"
    single = Figure().subplots()
    top.plot(["speed"], axes=single)
    assert single.get_lines()[0].get_ydata() == pytest.approx(np.linalg.norm(top.velocity, axis=1))
    part = Figure().subfigures(1, 2)[1]
    assert top.plot(["tilt"], figure=part) is part


@pytest.mark.parametrize(
    ("panels", "options", "words"),
    [
        (["speeds"], {}, "there is no panel 'speeds'"),
        (["tilt_precession"], {}, "is two panels here: 'tilt' and 'precession'"),
        (["phase:position_x"], {}, "a phase plot is 'phase:X:Y'"),
        (["phase:position_x:hight"], {}, "no component 'hight'"),
        (["phase:position_x:contact_forces_x"], {}, "has no contact_forces"),
        ("energy", {}, "not a string"),
        ([], {}, "empty"),
        (["energy", "speed"], {"axes": [None]}, "2 panels need as many axes"),
    ],
)
def test_what_cannot_be_drawn_is_a_sentence(top, panels, options, words):
    with pytest.raises(InputError, match=words):
        top.plot(panels, **options)


def test_a_notebook_shows_the_figure_without_further_settings():
    motion = ph.simulate(ph.shapes.box((0.1, 0.4, 0.9), mass=1.0), duration=1.0)
    picture = motion.plot(["energy"])._repr_png_()
    assert picture.startswith(b"\x89PNG")
