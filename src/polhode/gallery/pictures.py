"""Pictures of models, declared as panels: what is drawn over what, as data, and where each panel goes.

Nothing here imports Matplotlib: that happens when a picture is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from polhode.gallery.drawing import GalleryScene
    from polhode.plot.projection import Camera
    from polhode.results.motion import Motion
    from polhode.results.trajectory import Trajectory

Color: TypeAlias = str | int
"""A name of `polhode.plot.COLORS`, a place in the cycle of colors, or any color of Matplotlib."""
DrawPanel: TypeAlias = "Callable[[Axes], object]"
"""A panel: `Curves`, a scene, or any function that draws in given axes."""
ANGLE_COLORS = {"φ": 0, "θ": 1, "ψ": 2}
"""Colors of the Euler angles, the same in all pictures."""


class Line(NamedTuple):
    """A curve, or points: values over the times of the panel's motion, or over `x`."""

    y: Any
    label: str = ""
    color: Color | None = None
    """By default the next of the cycle."""
    style: str = "-"
    """"-", "--" (dashed), ":" (dotted), a marker such as "o" for points, or both: "-o"."""
    x: Any = None
    width: float | None = None
    size: float | None = None
    """Of markers, in points."""
    look: Mapping[str, Any] = {}
    """Further options of Matplotlib's `plot`."""


class Closed(NamedTuple):
    """What a closed form says: a broad gray line behind the others, or several, (n, k)."""

    y: Any
    label: str = "closed form"
    x: Any = None


class Outline(NamedTuple):
    """A plane polygon, filled, or only its dashed outline."""

    corners: Any
    label: str = ""
    color: Color = "muted"
    filled: bool = True
    alpha: float = 0.3


class Arrow(NamedTuple):
    """A plane arrow, labeled at its middle."""

    start: Any
    vector: Any
    color: Color = "ink"
    label: str = ""


class Note(NamedTuple):
    """A text at a point, given in the units of the axes, or as shares of the panel's width or of both sides."""

    place: Any
    """(x, y)"""
    text: str
    within: str = "data"
    """"data"; "width": x is a share of the width; "panel": both are shares."""
    align: tuple[str, str] = ("left", "bottom")
    color: Color = "ink"
    size: float = 9.0


@dataclass(frozen=True)
class Curves:
    """A panel of curves.

    Examples
    --------
    >>> from polhode.gallery.pictures import Curves, Line
    >>> from polhode.plot.style import styled_figure
    >>> with styled_figure(4.0, 3.0) as figure:
    ...     Curves("square", "m", Line([0, 1, 4], "found", x=[0, 1, 2]), across="x")(figure.subplots())
    """

    title: str
    up: str
    """Label of the vertical axis: a unit, mostly."""
    lines: Line | Sequence[Line] = ()
    closed: Closed | Sequence[Closed] = ()
    over: Trajectory | None = None
    """The motion over whose times it is drawn."""
    across: str = "time (s)"
    """Label of the horizontal axis."""
    x: tuple[float | None, float | None] | None = None
    y: tuple[float | None, float | None] | None = None
    """Limits."""
    log: str = ""
    """Which axes are logarithmic: "x", "y" or "xy".  Values that are not positive leave gaps."""
    x_ticks: Sequence[float] | None = None
    y_ticks: Sequence[float] | None = None
    most_ticks: int = 12
    """Of a logarithmic y axis."""
    levels: Sequence[float] = ()
    """Heights of thin dashed lines across the panel."""
    marks: Sequence[float] = ()
    """Places of thin dashed vertical lines."""
    notes: Sequence[Note] = ()
    shapes: Sequence[Outline] = ()
    """Plane figures, behind the curves."""
    arrows: Sequence[Arrow] = ()
    stacked: Sequence[Line] = ()
    """Lines that are stacked upon each other, the first lowest, as filled bands."""
    impacts: bool = False
    """Mark the impacts of the motion."""
    legend: str | tuple[int, int] | None = None
    """By default in one line above the panel; else a place, or columns and rows below the title."""
    equal: str = ""
    """"datalim" or "box": equal scales, by changing the limits or the panel."""
    downward: bool = False
    """Whether values grow downward, as angles from the vertical do."""
    also: DrawPanel | None = None
    """What else is drawn in it, afterwards."""

    def __call__(self, axes: Axes) -> None:
        """Draw it in these axes."""
        from polhode.gallery.drawing import draw_curves

        draw_curves(axes, self)


def components(
    values: Any,
    labels: Sequence[str] = ("ω₁", "ω₂", "ω₃"),
    colors: Sequence[Color] = ("axis_1", "axis_2", "axis_3"),
    **options: Any,
) -> list[Line]:
    """A line for each column of (n, k) values, in the colors of the axes.

    Examples
    --------
    >>> [line.label for line in components([[1, 2], [3, 4]], "xy")]
    ['x', 'y']
    """
    columns = np.asarray(values).T
    return [Line(*one, **options) for one in zip(columns, labels, colors, strict=False)]


def energies(motion: Motion, *names: str, scale: float = 1.0) -> list[Line]:
    """Energies of a motion by their names, in their colors: "translational", "rotational", "potential", "total"."""
    return [
        Line(scale * (motion.energy if name == "total" else getattr(motion, f"{name}_energy")), name, name)
        for name in names
    ]


def drawn(draw: Callable[..., object], *given: Any, title: str = "", **options: Any) -> DrawPanel:
    """A panel that a function of axes draws, of what else it takes; under this title, if given."""

    def panel(axes: Axes) -> None:
        draw(axes, *given, **options)
        if title:
            axes.set_title(title)

    return panel


def space(yaw: float = 0.6, pitch: float = 0.4, camera: Camera | None = None) -> GalleryScene:
    """A scene in space, z up, seen from these angles (rad) or by a camera; its `panel` goes into a picture."""
    from polhode.gallery.drawing import GalleryScene
    from polhode.plot.scene import world_camera

    return GalleryScene(world_camera(yaw, pitch) if camera is None else camera)


@dataclass(frozen=True)
class PanelPicture:
    """A picture of panels; called with motions and values it draws a figure."""

    make: Callable[..., Sequence[DrawPanel]]
    layout: str
    size: tuple[float, float]
    widths: Sequence[float] | None
    heights: Sequence[float] | None
    title: str = ""
    """That of the model whose picture it is."""

    def __call__(self, *motions: Any, **values: float) -> Figure:
        """Draw the figure."""
        from polhode.plot.style import styled_figure

        with styled_figure(*self.size, self.title) as figure:
            grid = figure.subplot_mosaic(self.layout, width_ratios=self.widths, height_ratios=self.heights)
            for axes, draw in zip(grid.values(), self.make(*motions, **values), strict=True):
                draw(axes)
        return figure

    def titled(self, title: str) -> PanelPicture:
        """The same with a title."""
        return replace(self, title=title)


def panels(
    layout: str = "AB;CD",
    size: tuple[float, float] = (12.0, 8.0),
    widths: Sequence[float] | None = None,
    heights: Sequence[float] | None = None,
) -> Callable[[Callable[..., Sequence[DrawPanel]]], PanelPicture]:
    """Make a model's picture of a function that returns its panels.

    Parameters
    ----------
    layout : str
        A letter for each panel, in reading order; rows are separated by ";".  "AB;AC" has a tall panel at the left.
    size : tuple of float
        Width and height of the figure, in inches.
    widths, heights : sequence of float, optional
        Of columns and rows, relative to each other.

    Examples
    --------
    >>> import polhode as ph
    >>> from polhode.gallery.pictures import Curves, Line, panels
    >>> @panels("A", size=(4, 3))
    ... def picture(motion):
    ...     return [Curves("height", "m", Line(motion.position[:, 2]), over=motion)]
    >>> ball = ph.simulate(ph.particle(1.0), ph.State(velocity=(0, 0, 1)), duration=1.0, output_step=0.1)
    >>> picture(ball).axes[0].get_ylabel()
    'm'
    """
    return lambda make: PanelPicture(make, layout, size, widths, heights)
