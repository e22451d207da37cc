"""Pictures of motions with impacts: bouncing balls in closed form."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PolyCollection

from bouncing_balls import G, many_balls, one_ball, system_of_balls
from polhode.plot import overview
from polhode.plot.panels import MAX_IMPACT_LINES
from polhode.plot.snapshot.figure import draw_snapshot
from polhode.plot.snapshot.trajectory import sample_trajectory


def panel(figure, title):
    return next(axes for axes in figure.axes if axes.get_title(loc="left") == title)


@pytest.mark.parametrize("make", [one_ball, many_balls, system_of_balls])
def test_the_overview_has_contact_forces_and_impacts(make, tmp_path):
    figure = overview(make())
    assert panel(figure, "contact force").get_ylabel() == "N"
    assert panel(figure, "impacts").get_ylabel() == "N s, J"
    figure.savefig(tmp_path / "balls.svg")


def test_impacts_are_marked_in_time():
    motion = one_ball(duration=1.0)
    lines = [c for c in panel(overview(motion), "energy").collections if isinstance(c, LineCollection)]
    assert [segment[0, 0] for segment in lines[0].get_segments()] == motion.impacts.marked.time.tolist()


def test_many_impacts_are_ticks():
    motion = one_ball(restitution=0.95, duration=18.0)
    assert len(motion.impacts.marked) > MAX_IMPACT_LINES
    axes = panel(overview(motion), "energy")
    assert not axes.collections
    assert any(line.get_marker() == "|" for line in axes.lines)


def test_before_the_first_impact_there_are_no_such_panels():
    titles = [axes.get_title(loc="left") for axes in overview(one_ball(duration=0.3)).axes]
    assert "contact force" not in titles
    assert "impacts" not in titles


def test_the_floor_is_drawn_behind_the_body():
    axes = draw_snapshot(one_ball(), 0.95).axes[0]
    floor = [c for c in axes.collections if isinstance(c, PolyCollection)]
    assert len(floor) == 1
    assert floor[0].get_zorder() < min(c.get_zorder() for c in axes.collections if c.get_zorder() > 1.5)


@pytest.mark.parametrize("make", [many_balls, system_of_balls])
def test_snapshots_of_several_bodies(make, tmp_path):
    draw_snapshot(make(), 0.5).savefig(tmp_path / "balls.png")


def test_between_the_outputs_the_ball_is_where_the_closed_form_has_it():
    """Two outputs around the first bounce, at sqrt(2/g): an interpolation would cut the corner."""
    motion = one_ball(restitution=0.5, height=1.0, step=0.5)
    bounce = np.sqrt(2 / G)
    found = sample_trajectory(motion, [bounce - 1e-3, bounce + 1e-3])
    fall = 1 - G * (bounce - 1e-3) ** 2 / 2
    rise = 0.5 * np.sqrt(2 * G) * 1e-3 - G * 1e-6 / 2
    assert found.position[:, 0, 2] == pytest.approx([0.1 + fall, 0.1 + rise], abs=1e-13)
