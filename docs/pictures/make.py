"""Draws the pictures of the documentation anew: python docs/pictures/make.py"""

import json
from pathlib import Path

import numpy as np

import polhode as ph
from polhode.bench.precision_figure import figure
from polhode.gallery import MODELS
from polhode.plots.drift import drifts

HERE = Path(__file__).parent
RECORD = HERE.parents[1] / "benchmarks/results/precision.json"


def dzhanibekov():
    """The README's picture."""
    shown = MODELS["dzhanibekov"]
    values = shown.values()
    return shown.picture(ph.simulate(shown.scenario(**values)), **values)


def drift():
    """Matrix against quaternion: a spin about a fixed axis, 0.1 rad a step, ten thousand RK4 steps."""
    body, spin = ph.Body(mass=1.0, inertia=(1.0, 1.0, 1.0)), ph.State(angular_velocity_body=(0.0, 0.0, 1.0))
    settings = {"duration": 1000.0, "step": 0.1, "method": "rk4", "output_step": 5.0}
    return drifts(
        {
            "matrix": ph.simulate(body, spin, formulation="momentum_matrix", **settings),
            "quaternion, never rescaled": ph.simulate(body, spin, renormalize=False, **settings),
            "quaternion, rescaled after every step": ph.simulate(body, spin, **settings),
        }
    )


def bracket():
    """A part with its principal axes."""
    corners = np.array([(0, 0), (40, 0), (40, 8), (8, 8), (8, 30), (0, 30)]) / 1000
    return ph.part_picture(ph.shapes.prism(corners, 0.02, density=2700.0), name="bracket.stl")


def precision():
    """Error against wall time, from the figures that `make bench` wrote."""
    return figure(json.loads(RECORD.read_text(encoding="utf-8")))


if __name__ == "__main__":
    for draw in (dzhanibekov, drift, bracket, *((precision,) if RECORD.exists() else ())):
        draw().savefig(HERE / f"{draw.__name__}.png")
