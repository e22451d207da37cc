"""Functions of a user's own, which files name: see test_own_functions_in_files.py."""

import polhode as ph


@ph.force
def lift(t, state, body, params):
    return (0.0, 0.0, params[0] * body.mass), (0.0, 0.0, 0.0)


@ph.pair_force
def attraction(t, a, body_a, b, body_b, params):
    return tuple(params[0] * (y - x) for x, y in zip(a.position, b.position)), (0.0,) * 3, (0.0,) * 3  # noqa: B905


@ph.event
def at_height(t, state, body, params):
    return state.position[2] - params[0]


def bounce(t, state, body, params):
    return (0.0, 0.0, -2.0 * state.linear_momentum[2]), (0.0, 0.0, 0.0)


def motor(t, state, body, params):
    return params[0] - 0.1 * state.rotor_speed[0]


not_decorated = bounce
