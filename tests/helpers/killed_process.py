"""Run a scenario with a store in this process, with frequent checkpoints, until somebody kills it."""

from __future__ import annotations

import sys

import numpy as np

import polhode as ph
from polhode.integrate import integrator
from polhode.solve import durable_run

BOX = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0)
SPIN = ph.State(angular_velocity_body=(0.1, 5.0, 0.1), velocity=(1.0, 0.0, 2.0))
FORCES = [ph.forces.gravity(), ph.forces.linear_drag(0.5), ph.forces.impulse((0.0, 1.0, 0.5), 0.35, (0.1, 0.0, 0.0))]


@ph.event
def tilted(t, state, body, params):
    return state.orientation[1] - params[0]


LONG_RUNS = {
    "rk4": {"duration": 2.0, "step": 1e-6, "method": "rk4", "output_times": np.linspace(0, 2, 20_001)},
    "auto": {"duration": 400.0, "output_step": 0.05, "events": [tilted(0.3, action="record")]},
}


def main(name: str, store: str) -> None:
    durable_run.CHECKPOINT_S = durable_run.CHECKPOINT_SHARE = 0.0
    integrator.PORTION_S = 0.02
    print("begins", flush=True)
    ph.simulate(BOX, SPIN, FORCES, **LONG_RUNS[name], store=store, resume=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
