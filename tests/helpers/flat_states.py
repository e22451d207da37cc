"""States from the flat arrays that `State.to_array` makes, to compare what solvers of other packages found."""

from __future__ import annotations

from typing import Any

import numpy as np

import polhode as ph
from polhode.equations.formulations import FORMULATIONS
from polhode.equations.quaternions import product, to_body, to_world
from polhode.scenario.state import split_groups, stack_components


def state_from_array(y: Any, body: ph.Body, formulation: str = "momentum", time: float = 0.0) -> ph.State:
    """The state of one body from the numbers (x, q, P, L) or (x, R row by row, P, L)."""
    form, constants = FORMULATIONS[formulation], body.constants()
    x, q, p, angular_momentum = form.finish(split_groups(np.asarray(y).tolist(), form.sizes), constants)
    spin = to_body(product(q, constants.axes), angular_momentum)
    w_principal = tuple(i * s for i, s in zip(constants.inverse_moments, spin, strict=True))
    return ph.State(
        position=stack_components(x),
        quaternion_wxyz=stack_components(q),
        velocity=stack_components(tuple(constants.inverse_mass * component for component in p)),
        angular_velocity_body=stack_components(to_world(constants.axes, w_principal)),
        time=time,
    )
