"""Bodies that act on each other, judged by what Newton's third law and closed forms say."""

import itertools
from math import log2

import numpy as np
import pytest

import polhode as ph
from polhode.equations.formulations import FORMULATIONS


def pair(stiffness=40.0):
    """Two bodies joined off-center by a spring, tumbling."""
    bodies = [ph.Body(mass=2.0, inertia=(0.6, 0.8, 1.0)), ph.Body(mass=1.0, inertia=(0.3, 0.2, 0.4))]
    states = [
        ph.State(position=(0, 0, 0), velocity=(0.1, 0, 0), angular_velocity_body=(0.5, 1.0, 0)),
        ph.State(position=(1, 0.2, 0), velocity=(0, 0.5, 0), angular_velocity=(0, 0, -1)),
    ]
    spring = ph.forces.spring_between(
        0, 1, stiffness, com_to_point_a=(0.1, 0.2, 0.0), com_to_point_b=(0.0, -0.1, 0.1), length=0.5
    )
    return bodies, states, [spring]


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize(("method", "settings"), [("rk4", {"step": 1e-3}), ("dop853", {"rtol": 1e-11})])
def test_momentum_angular_momentum_and_energy_stay(method, settings, formulation):
    bodies, states, forces = pair()
    tilted = [s.replace(quaternion_wxyz=(0.8, 0.5, 0.3, 0.1)) for s in states]
    compiled = method == "rk4" or formulation == "momentum"  # dop853 takes long to compile, and has the same bits
    settings = {"engine": "cpu" if compiled else "python", "method": method, "formulation": formulation, **settings}
    motion = ph.simulate(bodies, tilted, forces, duration=1.0, **settings)
    audit = motion.audit()
    for quantity in (
        "energy",
        "linear momentum",
        "angular momentum about the origin",
        "work-energy residual",
    ):
        assert audit[quantity].conserved
        assert audit[quantity].relative < 1e-9, audit[quantity]


def test_the_system_converges_with_order_4():
    bodies, states, forces = pair()
    exact = ph.simulate(bodies, states, forces, duration=1.0, rtol=1e-13, output_times=[1.0]).final
    errors = []
    for h in (1 / 100, 1 / 200, 1 / 400):
        final = ph.simulate(bodies, states, forces, duration=1.0, step=h, method="rk4").final
        errors.append(max(np.abs(a.position - b.position).max() for a, b in zip(final, exact, strict=True)))
    assert all(3.8 < log2(a / b) < 4.2 for a, b in itertools.pairwise(errors)), errors


@pytest.mark.parametrize("count", [2, 20])
def test_bodies_on_circles_under_mutual_gravity_return_after_keplers_period(count):
    """Equal masses on a ring: each feels G m/(4 R^2) sum 1/sin(pi k/N), so the period is known."""
    radius, mass, gravity = 2.0, 3.0, 0.7
    angles = 2 * np.pi * np.arange(count) / count
    pull = gravity * mass / (4 * radius**2) * sum(1 / np.sin(np.pi * k / count) for k in range(1, count))
    speed, period = np.sqrt(pull * radius), 2 * np.pi * np.sqrt(radius / pull)
    states = [
        ph.State(
            position=(radius * np.cos(a), radius * np.sin(a), 0), velocity=(-speed * np.sin(a), speed * np.cos(a), 0)
        )
        for a in angles
    ]
    quarter = period / 4
    motion = ph.simulate(
        [ph.particle(mass)] * count,
        states,
        [ph.forces.mutual_gravity(G=gravity)],
        duration=quarter,
        rtol=1e-12,
        output_times=[quarter],
    )
    assert np.linalg.norm(motion.position[-1], axis=-1) == pytest.approx(radius, rel=1e-9)
    turned = np.stack([-np.sin(angles), np.cos(angles), 0 * angles], axis=-1) * radius
    assert motion.position[-1] == pytest.approx(turned, abs=1e-8)


def test_a_force_on_one_body_leaves_the_other_alone():
    bodies, states, _ = pair()
    push = ph.forces.thruster((0, 0, 0), (1, 0, 0), 2.0, start=0.105, stop=0.333).on(1)
    strike = ph.forces.impulse((0, 0, 3.0), 0.5, (0.1, 0, 0)).on(0)
    motion = ph.simulate(bodies, states, [push, strike, ph.forces.gravity().on(1)], duration=1.0, step=0.01)
    free = ph.simulate(bodies, states, duration=1.0, step=0.01)
    assert motion.linear_momentum[40, 0] == pytest.approx(free.linear_momentum[40, 0])
    assert motion.final[0].velocity - free.final[0].velocity == pytest.approx((0, 0, 1.5))
    gained = np.linalg.norm(motion.final[1].velocity - free.final[1].velocity + np.array((0, 0, 9.80665)))
    chord = 2.0 * 2 * np.sin((0.333 - 0.105) / 2)  # the thruster turns with its body, at 1 rad/s
    assert gained == pytest.approx(chord, rel=1e-9)


@ph.pair_force
def magnet(t, a, body_a, b, body_b, params):
    """A user's own force between two bodies: pulls along the line of centers, and turns them towards each other."""
    away = (a.position[0] - b.position[0], a.position[1] - b.position[1], a.position[2] - b.position[2])
    turn = (0.0 * t, 0.0 * t, params[0] * ph.sin(away[0]))
    return (-params[0] * away[0], -params[0] * away[1], -params[0] * away[2]), turn, (-turn[0], -turn[1], -turn[2])


def test_a_user_s_pair_force_is_a_spring_of_no_length():
    bodies, states, _ = pair()
    settings = {"duration": 1.0, "step": 1e-3, "method": "rk4"}
    own = ph.simulate(bodies, states, [magnet(0, 1, 5.0)], **settings)
    built_in = ph.simulate(bodies, states, [ph.forces.spring_between(0, 1, 5.0)], **settings)
    for a, b in zip(own.final, built_in.final, strict=True):
        assert a.position == pytest.approx(b.position, abs=1e-12)
    total = own.angular_momentum_about((0, 0, 0)).sum(axis=1)
    assert total == pytest.approx(np.tile(total[0], (len(total), 1)), abs=1e-8)


def test_a_list_of_one_body_is_a_system():
    motion = ph.simulate([ph.particle(1.0)], [ph.State(velocity=(1, 0, 0))], duration=1.0, step=0.1)
    assert motion.position.shape[1:] == (1, 3)
    assert motion.final[0].position == pytest.approx((1, 0, 0))
