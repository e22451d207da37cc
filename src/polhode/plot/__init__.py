"""Plots of motions with Matplotlib.  Every function returns a `Figure`: `figure.savefig("spin.svg")`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.errors import InputError, show
from polhode.plot import panels
from polhode.plot.free_rotation_figures import free_rotation_sheet
from polhode.plot.panel_choice import PANELS, Panel, find_panel
from polhode.plot.style import COLORS, styled_figure, styled_part

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from polhode.results.trajectory import Trajectory

__all__ = ["COLORS", "PANELS", "free_rotation_sheet", "overview"]


def overview(
    motion: Trajectory,
    chosen: Sequence[str] | None = None,
    *,
    figure: Figure | SubFigure | None = None,
    axes: Axes | Sequence[Axes] | None = None,
) -> Figure | SubFigure:
    """Plot a motion: angular velocity, trajectory, energies, and the drift of conserved quantities; or chosen panels.

    Parameters
    ----------
    motion : Motion
        The motion of one body, a system or an ensemble; of many bodies at most 12 are drawn, of many members bands.
    chosen : list of str, optional
        The names of the panels, in order (`polhode.plot.PANELS`), or "phase:X:Y" for one quantity over another.
    figure : Figure or SubFigure, optional
        Where to draw; by default a new figure.
    axes : Axes or list of Axes, optional
        Existing axes, one for each panel, in place of a figure.

    Returns
    -------
    matplotlib.figure.Figure
        `figure.savefig("motion.svg")` writes it.

    Examples
    --------
    >>> import polhode as ph
    >>> from polhode.plot import overview
    >>> motion = ph.simulate(ph.particle(1.0), ph.State(velocity=(1, 0, 0)), duration=1.0, output_step=0.1)
    >>> len(overview(motion).axes)
    4
    """
    if len(motion.times) == 0:
        raise InputError("this motion has no output times: there is nothing to plot")
    if isinstance(chosen, str):
        raise InputError(f"panels is a list of names, such as [{show(chosen)}], not a string")
    if chosen is not None and not isinstance(chosen, (list, tuple)):
        raise InputError(f"panels is a list of names, such as ['position'], not {show(chosen)}")
    if chosen is not None and not len(chosen):
        raise InputError("panels is empty: name at least one, or leave it out")
    drawn = [find_panel(name) for name in (_select_panels(motion) if chosen is None else chosen)]
    if axes is not None:
        return _draw_into_axes(motion, drawn, axes, figure)
    title = " · ".join(part for part in (motion.scenario.name or "motion", panels.describe_selection(motion)) if part)
    rows = -(-len(drawn) // 2)
    columns = min(2, len(drawn))
    if figure is not None:
        with styled_part(figure, title):
            _draw_grid(motion, drawn, figure.subplots(rows, columns, squeeze=False))
        return figure
    with styled_figure(11.0 if columns == 2 else 6.5, 0.5 + 3.5 * rows, title) as made:
        _draw_grid(motion, drawn, made.subplots(rows, columns, squeeze=False))
    return made


def _draw_grid(motion: Trajectory, drawn: list[Panel], grid: Any) -> None:
    for one, panel in zip(grid.ravel(), drawn, strict=False):
        panel(one, motion)
    for one in grid.ravel()[len(drawn) :]:
        one.axis("off")


def _draw_into_axes(
    motion: Trajectory, drawn: list[Panel], axes: Axes | Sequence[Axes], figure: object
) -> Figure | SubFigure:
    from matplotlib.axes import Axes as OneAxes

    if figure is not None:
        raise InputError("give figure= or axes=, not both: axes belong to a figure")
    given = [axes] if isinstance(axes, OneAxes) else list(np.ravel(np.asarray(axes, dtype=object)))
    if len(given) != len(drawn):
        raise InputError(f"{len(drawn)} panels need as many axes, but {len(given)} were given")
    for one, panel in zip(given, drawn, strict=True):
        panel(one, motion)
    found: Figure | SubFigure = given[0].figure
    return found


def _select_panels(motion: Trajectory) -> list[str]:
    """The panels that apply to this motion."""
    found: list[str] = []
    turns = not all(body.is_particle for body in motion.scenario.bodies) and bool(np.any(motion.angular_velocity_body))
    if turns:
        found.append("angular_velocity")
        found.append("polhode" if motion.axis is None and len(motion.times) > 1 else "angular_momentum")
    if np.any(motion.velocity) or not turns:
        found += ["position", "velocity"]
    found.append("energy")
    if motion.scenario.contacts and len(motion.times) > 1:
        found += ["contact_force"] if motion.contact_points.any() else []
        found += ["impulses"] if len(motion.impacts) else []
    return [*found, "drift"] if len(motion.times) > 1 else found
