"""A figure of what a body meets in the air: height, Mach number, dynamic pressure and angles over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polhode.plot import panels
from polhode.plot.style import AXIS_COLORS, COLOR_CYCLE, add_legend_above, styled_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from polhode.results.flight import FlightQuantities
    from polhode.validation import Array


def draw_flight(flight: FlightQuantities) -> Figure:
    """Height, Mach number, dynamic pressure, and angles of attack and sideslip.

    Examples
    --------
    >>> import polhode as ph
    >>> from polhode.plot.flight import draw_flight
    >>> fall = [ph.forces.gravity(), ph.forces.drag(0.01, 0.5)]
    >>> motion = ph.simulate(ph.particle(1.0), ph.State(position=(0, 0, 1000.0)), fall, duration=5.0)
    >>> len(draw_flight(motion.flight()).axes)
    4
    """
    name = flight.motion.scenario.name or "flight"
    with styled_figure(11.0, 7.5, name) as figure:
        grid = figure.subplots(2, 2).ravel()
        _draw(grid[0], flight, {"height": flight.height}, "height", "m")
        _draw(grid[1], flight, {"Mach number": flight.mach}, "Mach number", "")
        _draw(grid[2], flight, {"dynamic pressure": flight.dynamic_pressure}, "dynamic pressure", "Pa")
        angles = {"angle of attack": flight.angle_of_attack, "sideslip": flight.sideslip}
        _draw(grid[3], flight, {key: np.degrees(value) for key, value in angles.items()}, "relative to the air", "deg")
    return figure


def _draw(axes: Axes, flight: FlightQuantities, curves: dict[str, Array], title: str, unit: str) -> None:
    motion = flight.motion
    axes.set_title(title)
    axes.set_ylabel(unit)
    for k, (label, values) in enumerate(curves.items()):
        if motion.axis is None:
            axes.plot(motion.times, values, color=AXIS_COLORS[k], label=label)
            continue
        columns = values.reshape(len(motion.times), -1)
        for n, one in enumerate(panels.select_drawn(motion)):
            axes.plot(motion.times, columns[:, one], color=COLOR_CYCLE[n % len(COLOR_CYCLE)], linewidth=1.0)
    panels.format_time_axis(axes, motion)
    if motion.axis is None and len(curves) > 1:
        add_legend_above(axes, 8)
