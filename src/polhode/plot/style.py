"""The style of all figures: colors, fonts and lines."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib
from matplotlib.figure import Figure, FigureBase
from matplotlib.patheffects import withStroke

COLORS = {
    "axis_1": "#d55e00",
    "axis_2": "#009e73",
    "axis_3": "#0072b2",
    "omega": "#8e3b8b",
    "L": "#e69f00",
    "torque": "#56b4e9",
    "force": "#222222",
    "weight": "#b8860b",
    "impact": "#cc3311",
    "floor": "#d9d6cf",
    "path": "#7a7a9d",
    "kinetic": "#0072b2",
    "rotational": "#8e3b8b",
    "translational": "#009e73",
    "potential": "#e69f00",
    "total": "#333333",
    "body": "#ece5d6",
    "closed_form": "#c9c9c9",
    "separatrix": "#333333",
    "muted": "#8a8a8a",
    "paper": "#ffffff",
    "ink": "#222222",
}
"""The color of each quantity in every figure, distinguishable by the color-blind (after Okabe and Ito)."""

AXIS_COLORS = (COLORS["axis_1"], COLORS["axis_2"], COLORS["axis_3"])
COLOR_CYCLE = ("#0072b2", "#d55e00", "#009e73", "#8e3b8b", "#e69f00", "#56b4e9", "#333333", "#b8860b")
"""For the bodies of a system and the members of an ensemble."""


def named_color(color: str | int) -> str:
    """A name of `COLORS`, a place in the cycle, or a color of Matplotlib, as a color of Matplotlib.

    Examples
    --------
    >>> from polhode.plot.style import named_color
    >>> named_color("omega"), named_color(0), named_color("#000000")
    ('#8e3b8b', '#0072b2', '#000000')
    """
    return COLOR_CYCLE[color % len(COLOR_CYCLE)] if isinstance(color, int) else COLORS.get(color, color)


OMEGA_LABELS, XYZ_LABELS = ("ω₁", "ω₂", "ω₃"), ("x", "y", "z")
"""Component labels in plain letters: mathtext takes Matplotlib a tenth of a second."""

_RC_PARAMS: Any = {
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.titlepad": 8,
    "axes.labelsize": 10,
    "axes.edgecolor": "#9a9a9a",
    "axes.labelcolor": COLORS["ink"],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e8e8e8",
    "grid.linewidth": 0.8,
    "lines.linewidth": 1.6,
    "lines.solid_capstyle": "round",
    "legend.frameon": False,
    "legend.fontsize": 9,
    "legend.handlelength": 1.6,
    "text.color": COLORS["ink"],
    "xtick.color": "#555555",
    "ytick.color": "#555555",
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
}


NOTEBOOK_DPI = 100


class StyledFigure(Figure):
    """A figure that embeds TrueType fonts in a PDF, as publishers require."""

    def savefig(self, *args: Any, **options: Any) -> None:
        """As `Figure.savefig`."""
        with matplotlib.rc_context({"pdf.fonttype": 42}):
            super().savefig(*args, **options)

    def _repr_png_(self) -> bytes:
        """The picture that a notebook shows, also without `%matplotlib inline`."""
        stream = io.BytesIO()
        self.savefig(stream, format="png", dpi=NOTEBOOK_DPI)
        return stream.getvalue()


@contextmanager
def styled_figure(width: float, height: float, title: str = "", constrained: bool = True) -> Iterator[Figure]:
    """A figure of this size in inches; everything drawn within the context takes the style of the package."""
    with matplotlib.rc_context(_RC_PARAMS):
        figure = StyledFigure(figsize=(width, height), dpi=150, facecolor=COLORS["paper"])
        if constrained:
            figure.set_layout_engine("constrained", w_pad=0.08, h_pad=0.08, hspace=0.06, wspace=0.05)
        if title:
            figure.suptitle(title, x=0.012, ha="left", fontsize=14, fontweight="bold")
        yield figure


@contextmanager
def styled_part(figure: FigureBase, title: str = "") -> Iterator[None]:
    """Within the context, what is drawn in a given figure, or part of one, takes the style of the package."""
    with matplotlib.rc_context(_RC_PARAMS):
        if title:
            figure.suptitle(title, x=0.012, ha="left", fontsize=14, fontweight="bold")
        yield


def draw_closed_form(axes: Any, x: Any, values: Any, label: str = "closed form") -> None:
    """A broad gray line, or several (n, k), behind the simulated curves; with one legend entry, none if ""."""
    axes.plot(x, values, color=COLORS["closed_form"], linewidth=4.5, zorder=1.5)
    if label:
        axes.plot([], [], color=COLORS["closed_form"], linewidth=4.5, label=label)


def draw_label(
    axes: Any, place: Any, text: str, offset: Any, color: str, zorder: float, fontsize: float = 10.5
) -> None:
    """Text near a point, `offset` in points, which also sets the alignment, with a thin white outline."""
    dx, dy = offset
    axes.annotate(
        text,
        xy=tuple(place),
        xytext=(dx, dy),
        textcoords="offset points",
        color=color,
        ha="center" if abs(dx) < 3 else "left" if dx > 0 else "right",
        va="center" if abs(dy) < 3 else "bottom" if dy > 0 else "top",
        fontsize=fontsize,
        zorder=zorder,
        annotation_clip=False,
        snap=False,  # otherwise letters such as L are moved to whole pixels, and look cut
        path_effects=[withStroke(linewidth=2.5, foreground="white")],
    )


def arrow_style(color: str, width: float, head_width: float = 0.28, head_length: float = 0.55) -> dict[str, Any]:
    """The `arrowprops` of an arrow that reaches from one point exactly to another; `width` in points."""
    head = f"-|>,head_width={head_width},head_length={head_length}"
    return {"arrowstyle": head, "color": color, "linewidth": width, "shrinkA": 0, "shrinkB": 0}


def format_power_of_ten(value: float, position: float | None = None) -> str:
    """A tick of a logarithmic axis: 10⁻¹²."""
    return "10" + str(round(math.log10(value))).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def add_legend_above(axes: Any, columns: int) -> None:
    """A legend in one line above the panel, to the right of its title."""
    axes.legend(loc="lower right", bbox_to_anchor=(1.01, 0.985), ncols=columns, borderaxespad=0.2, columnspacing=1.2)
