"""Draws the pictures of the documentation anew, but for the gallery's (docs/gallery_page.py) and those of the texts'
figures (docs/pictures/figures.py): python docs/pictures/bracket_and_precision.py"""

import json
from pathlib import Path

import numpy as np
from benchmarks.precision_figure import draw_precision_figure

import polhode as ph

HERE = Path(__file__).parent
RECORD = HERE.parents[1] / "benchmarks/results/precision.json"


def bracket():
    """A part with its principal axes."""
    corners = np.array([(0, 0), (40, 0), (40, 8), (8, 8), (8, 30), (0, 30)]) / 1000
    return ph.part_picture(ph.shapes.prism(corners, 0.02, density=2700.0), name="bracket.stl")


def precision():
    """Error against wall time, from the figures that `make bench` wrote."""
    return draw_precision_figure(json.loads(RECORD.read_text(encoding="utf-8")))


if __name__ == "__main__":
    for draw in (bracket, *((precision,) if RECORD.exists() else ())):
        draw().savefig(HERE / f"{draw.__name__}.png")
