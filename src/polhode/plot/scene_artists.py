"""Matplotlib artists for the faces and lines of a scene."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.colors import to_rgba
from matplotlib.path import Path

from polhode.plot.depth_order import ScenePiece


def draw_pieces(axes: Axes, ordered: Iterable[ScenePiece], first: float) -> None:
    """Draw pieces in this order, with zorder from `first` up; consecutive faces and lines in one collection."""
    seam = max(SEAM_WIDTH, 72.0 / axes.figure.dpi)
    for order, (drawn, run) in enumerate(groupby(ordered, key=lambda piece: piece.kind == "drawn")):
        if drawn:
            for piece in run:
                piece.style(axes, first + 0.001 * order)
        else:
            axes.add_collection(
                _build_collection([_piece_style(piece, seam) for piece in run], first + 0.001 * order), autolim=False
            )


class _PieceStyle(NamedTuple):
    """How a face or a line is drawn."""

    path: Path
    fill: Any
    edge: Any
    width: float
    style: Any


TRANSPARENT = (0.0, 0.0, 0.0, 0.0)
SEAM_WIDTH = 0.8
"""Width of a face's own edge in points, at least a pixel: otherwise seams show as pale hairlines between faces."""


def _piece_style(piece: ScenePiece, seam: float) -> _PieceStyle:
    if piece.kind == "face":
        color, edged = piece.style
        return _PieceStyle(Path(piece.points[[0, 1, 2, 0]]), color, color if edged else TRANSPARENT, seam, "solid")
    color, width, style, alpha = piece.style
    return _PieceStyle(Path(piece.points), TRANSPARENT, to_rgba(color, alpha), width, style)


def _build_collection(styles_of: list[_PieceStyle], order: float) -> PathCollection:
    paths, fills, edges, widths, styles = map(
        list, zip(*styles_of, strict=True)
    )  # lists: a tuple of two styles would be a dash pattern
    drawn = PathCollection(
        paths, facecolors=fills, edgecolors=edges, linewidths=widths, linestyles=styles, zorder=order
    )
    drawn.set_capstyle("round")
    drawn.set_joinstyle("round")
    drawn.set_in_layout(False)
    return drawn
