"""Plots of motions with Matplotlib.  Every function returns a `Figure`: `figure.savefig("spin.svg")`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from polhode.plot import panels
from polhode.plot.free_rotation_figures import free_rotation_sheet
from polhode.plot.style import COLORS, OMEGA_LABELS, XYZ_LABELS, styled_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from polhode.results.trajectory import Trajectory

__all__ = ["COLORS", "free_rotation_sheet", "overview"]

Panel = Callable[["Axes", "Trajectory"], None]


def overview(motion: Trajectory) -> Figure:
    """Plot a motion: angular velocity, trajectory, energies, and the drift of conserved quantities.

    Parameters
    ----------
    motion : Motion
        The motion of one body, a system or an ensemble; of many bodies or members at most 12 are drawn.

    Returns
    -------
    matplotlib.figure.Figure
        `figure.savefig("motion.svg")` writes it.

    Examples
    --------
    >>> import polhode as ph
    >>> from polhode.plot import overview
    >>> motion = ph.simulate(ph.particle(1.0), ph.State(velocity=(1, 0, 0)), duration=1.0, step=0.1)
    >>> len(overview(motion).axes)
    4
    """
    if len(motion.times) == 0:
        from polhode.errors import InputError

        raise InputError("this motion has no output times: there is nothing to plot")
    drawn = _select_panels(motion)
    rows = -(-len(drawn) // 2)
    title = " · ".join(part for part in (motion.scenario.name or "motion", panels.describe_selection(motion)) if part)
    with styled_figure(11.0, 0.5 + 3.5 * rows, title) as figure:
        grid = figure.subplots(rows, 2, squeeze=False).ravel()
        for axes, panel in zip(grid, drawn, strict=False):
            panel(axes, motion)
        for axes in grid[len(drawn) :]:
            axes.axis("off")
    return figure


def _select_panels(motion: Trajectory) -> list[Panel]:
    """The panels that apply to this motion."""
    found: list[Panel] = []
    turns = not all(body.is_particle for body in motion.scenario.bodies) and bool(np.any(motion.angular_velocity_body))
    if turns:
        found.append(_draw_angular_velocity)
        found.append(
            panels.draw_polhode_panel if motion.axis is None and len(motion.times) > 1 else _draw_angular_momentum
        )
    if np.any(motion.velocity) or not turns:
        found += [_draw_position, _draw_velocity]
    found.append(panels.draw_energies)
    if motion.scenario.contacts and len(motion.times) > 1:
        found += [panels.draw_contact_force] if motion.contact_points.any() else []
        found += [panels.draw_impulses] if len(motion.impacts) else []
    return [*found, panels.draw_conserved_drift] if len(motion.times) > 1 else found


def _draw_angular_velocity(axes: Axes, motion: Trajectory) -> None:
    panels.draw_vector_components(
        axes, motion, motion.angular_velocity_body, OMEGA_LABELS, "angular velocity, body axes", "rad/s"
    )


def _draw_angular_momentum(axes: Axes, motion: Trajectory) -> None:
    panels.draw_vector_components(
        axes, motion, motion.angular_momentum, XYZ_LABELS, "angular momentum, world axes", "kg m²/s"
    )


def _draw_position(axes: Axes, motion: Trajectory) -> None:
    panels.draw_vector_components(axes, motion, motion.position, XYZ_LABELS, "position", "m")


def _draw_velocity(axes: Axes, motion: Trajectory) -> None:
    panels.draw_vector_components(axes, motion, motion.velocity, XYZ_LABELS, "velocity", "m/s")


def __getattr__(name: str) -> object:
    if name == "COLOURS":
        import warnings

        warnings.warn("polhode.plot.COLOURS is now polhode.plot.COLORS", DeprecationWarning, stacklevel=2)
        return COLORS
    raise AttributeError(f"polhode.plot has no {name!r}")
