"""The audit tells the truth: what it says is conserved is so to the method's accuracy, what it says is not is not."""

from __future__ import annotations

import json
from itertools import pairwise
from math import inf, log2

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.equations import quaternions
from polhode.equations import rigid_body as laws

f = ph.forces
# The laws as they stand give the same bits as compiled ones, and need no compilation.
pytestmark = pytest.mark.filterwarnings("ignore:engine='python'")

BODY = ph.Body(mass=2.0, inertia=[[2.0, -0.1, 0.2], [-0.1, 2.5, 0.3], [0.2, 0.3, 3.0]])
START = ph.State(
    position=(0.3, -0.2, 1.5),
    orientation=Rotation.from_rotvec((0.3, 0.5, -0.2)),
    velocity=(1.0, 0.5, 2.0),
    angular_velocity_body=(1.5, 2.0, -1.0),
)
HELD = START.replace(velocity=(0.0, 0.0, 0.0))
OTHER = START.replace(position=(1.5, 0.4, 0.1), velocity=(-0.5, 1.0, 0.2))
SPRING = f.spring(30.0, (0.1, 0.2, 0.5), (0.2, 0.0, 0.1), length=0.4)
BETWEEN = [f.spring_between(0, 1, 20.0, (0.1, 0.0, 0.2), length=0.6), f.mutual_gravity(0.8)]

KINETIC, ENERGY, WORK = "kinetic energy", "energy", "work-energy residual"
P, P_ACROSS, L, Q = "linear momentum", "linear momentum across the force", "angular momentum", "length of q"
L_PIVOT, L_ALONG = "angular momentum about the pivot", "angular momentum about the pivot, along the force"
L_ORIGIN = "angular momentum about the origin"


def one(forces=(), state=START, body=BODY, **settings):
    return {"body": body, "state": state, "forces": forces, **settings}


def two(*forces):
    return {"body": [BODY, ph.Body(1.0, (1.0, 1.2, 1.5))], "state": [START, OTHER], "forces": [*BETWEEN, *forces]}


# What acts; what must be found to stay; what must be found to change.
CASES = {
    "nothing": (one(), {KINETIC, P, L, Q}, set()),
    "gravity": (one([f.gravity()]), {ENERGY, WORK, P_ACROSS, L, Q}, {KINETIC, P}),
    "tilted gravity": (one([f.gravity((1.0, 2.0, -3.0))]), {ENERGY, WORK, P_ACROSS, L, Q}, {KINETIC, P}),
    "parallel forces": (
        one([f.gravity((1.0, 2.0, -3.0)), f.force_at((-3.0, -6.0, 9.0))]),
        {WORK, P_ACROSS, L, Q},
        {KINETIC, P},
    ),
    "crossed forces": (one([f.gravity(), f.force_at((3.0, 0.0, 0.0))]), {WORK, L, Q}, {KINETIC, P}),
    "air": (one([f.gravity(), f.quadratic_drag(0.3, (1.0, 0.0, 0.0))]), {WORK, L, Q}, {KINETIC, P}),
    "slow air": (one([f.linear_drag(0.3)]), {WORK, L, Q}, {KINETIC, P}),
    "rotational drag": (one([f.rotational_drag(0.5)]), {WORK, P, Q}, {KINETIC, L}),
    "world torque": (one([f.torque((1.0, 2.0, 0.5))]), {WORK, P, Q}, {KINETIC, L}),
    "body torque": (one([f.torque((1.0, 2.0, 0.5), axes="body")]), {WORK, P, Q}, {KINETIC, L}),
    "force at a point": (one([f.force_at((1.0, 2.0, 0.5), (0.3, 0.0, 0.1))]), {WORK, P_ACROSS, Q}, {KINETIC, P, L}),
    "force in the body": (one([f.force_at((1.0, 2.0, 0.5), axes="body")]), {WORK, L, Q}, {KINETIC, P}),
    "spring": (one([SPRING]), {ENERGY, WORK, Q}, {KINETIC, P, L}),
    "spring and gravity": (one([SPRING, f.gravity()]), {ENERGY, WORK, Q}, {KINETIC, P, L}),
    "damped spring": (one([f.spring(30.0, (0, 0, 0), (0.2, 0, 0), damping=2.0)]), {WORK, Q}, {KINETIC, P, L}),
    "point gravity": (one([f.point_gravity(9.0)]), {WORK, Q}, {KINETIC, P, L}),
    "thruster": (
        one([f.thruster((0.1, 0.0, 0.3), (1.0, 0.0, 1.0), 4.0, start=0.25, stop=0.75)]),
        {WORK, Q},
        {KINETIC, P, L},
    ),
    "impulse": (one([f.impulse((1.0, 3.0, 2.0), 0.5, (0.1, 0.0, 0.3))]), {WORK, Q}, {KINETIC, P, L}),
    "pivot": (one(state=HELD, pivot=(0.1, 0.0, -0.5)), {KINETIC, L_PIVOT, Q}, {P}),
    "pivot and gravity": (
        one([f.gravity((1.0, 2.0, -9.0))], HELD, pivot=(0.1, 0.0, -0.5)),
        {ENERGY, WORK, L_ALONG, Q},
        {KINETIC, P, L_PIVOT},
    ),
    "pivot and air": (
        one([f.gravity(), f.linear_drag(0.5)], HELD, pivot=(0.1, 0.0, -0.5)),
        {WORK, Q},
        {KINETIC, P, L_PIVOT},
    ),
    "particle": (one([f.gravity()], body=ph.particle(2.0)), {ENERGY, WORK, P_ACROSS}, {KINETIC, P}),
    "system": (two(), {ENERGY, WORK, P, L_ORIGIN, Q}, {KINETIC}),
    "system and gravity": (two(f.gravity()), {ENERGY, WORK, P_ACROSS, Q}, {KINETIC, P, L_ORIGIN}),
    "system and a push": (two(f.torque((1.0, 0.0, 0.0)).on(0)), {WORK, P, Q}, {KINETIC, L_ORIGIN}),
    "matrix": (one([SPRING], formulation="momentum_matrix"), {ENERGY, WORK, "orthogonality of R"}, {KINETIC, P, L}),
    "angles": (one([SPRING], formulation="euler_angles"), {ENERGY, WORK}, {KINETIC, P, L}),
}


def run(step, body, state, forces, duration=1.0, **settings):
    return ph.simulate(body, state, forces, duration=duration, step=step, method="rk4", engine="python", **settings)


@pytest.mark.parametrize(("scenario", "stays", "changes"), CASES.values(), ids=CASES.keys())
def test_conserved_quantities_drift_with_order_four_and_the_rest_change(scenario, stays, changes):
    coarse, fine = (run(step, **scenario).audit() for step in (1 / 40, 1 / 80))
    assert {finding.quantity for finding in fine.findings if finding.conserved} == stays
    assert {finding.quantity for finding in fine.findings if not finding.conserved} == changes
    for quantity in stays:
        error, smaller = coarse[quantity].relative, fine[quantity].relative
        assert error < 1e-3, quantity
        assert smaller < 1e-13 or log2(error / smaller) > 3.7, quantity
    for quantity in changes:
        assert fine[quantity].relative > 1e-2, quantity
        assert fine[quantity].departure == pytest.approx(coarse[quantity].departure, rel=1e-2), quantity


def test_the_errors_of_work_and_energy_fall_sixteenfold():
    """Of a spinning body in the air on a spring: nothing is special, so the order is exactly four."""
    scenario = one([SPRING, f.gravity(), f.quadratic_drag(0.3), f.rotational_drag(0.1)])
    errors = [run(1 / n, **scenario).audit()[WORK].departure for n in (40, 80, 160, 320)]
    assert all(3.8 < log2(a / b) < 4.3 for a, b in pairwise(errors))
    errors = [run(1 / n, **one([SPRING, f.gravity()])).audit()[ENERGY].departure for n in (40, 80, 160, 320)]
    assert all(3.8 < log2(a / b) < 4.3 for a, b in pairwise(errors))


def test_the_largest_drift_is_found_at_its_time():
    """Thrown upwards a stone's kinetic energy departs most where it is 0, at v/g, if it has not fallen further."""
    stone, thrown = ph.particle(3.0), ph.State(velocity=(0.0, 0.0, 5.0))
    audit = run(1 / 64, stone, thrown, [f.gravity(8.0)], duration=1.25).audit()
    assert audit[KINETIC].time == pytest.approx(5.0 / 8.0)
    assert audit[KINETIC].departure == pytest.approx(3.0 * 5.0**2 / 2, rel=1e-12)
    assert audit[KINETIC].relative == pytest.approx(1.0, rel=1e-12)
    assert audit[P].time == 1.25
    assert audit[P].departure == pytest.approx(3.0 * 10.0, rel=1e-12)


# The attitude, against a step by hand --------------------------------------------------------------------------------
def by_hand(rate, y, h):
    """One step of Runge and Kutta's, on flat lists."""

    def at(k, part):
        return [a + part * h * b for a, b in zip(y, k, strict=True)]

    k1 = rate(y)
    k2 = rate(at(k1, 1 / 2))
    k3 = rate(at(k2, 1 / 2))
    k4 = rate(at(k3, 1))
    return [a + h / 6 * (b + 2 * c + 2 * d + e) for a, b, c, d, e in zip(y, k1, k2, k3, k4, strict=True)]


ROUND_AXES = ph.Body(mass=1.0, inertia=(1.0, 2.0, 2.5))
SPIN = ph.State(orientation=Rotation.from_rotvec((0.3, 0.5, -0.2)), angular_velocity_body=(1.0, 3.0, 0.5))
H, STEPS = 1 / 16, 48


def attitude_rate(law, size):
    """The rate of attitude and angular momentum of a free body."""
    constants, zero = ROUND_AXES.constants(), (0.0, 0.0, 0.0)

    def rate(y):
        _, attitude, _, spin = law((zero, tuple(y[:size]), zero, tuple(y[size:])), constants, zero, zero)
        return [*attitude, *spin]

    return rate


@pytest.mark.parametrize("renormalize", [True, False])
def test_the_length_of_q_against_a_step_by_hand(renormalize):
    _, q, _, spin = SPIN.momenta(ROUND_AXES)
    y, found = [*q, *spin], []
    for _ in range(STEPS):
        y = by_hand(attitude_rate(laws.momentum, 4), y, H)
        length = np.linalg.norm(y[:4])
        found.append(abs(length - 1))
        if renormalize:
            y[:4] = np.array(y[:4]) / length
    motion = run(H, ROUND_AXES, SPIN, [], duration=STEPS * H, renormalize=renormalize)
    finding = motion.audit()[Q]
    assert finding.departure == pytest.approx(max(found), rel=1e-9)
    assert finding.time == (1 + int(np.argmax(found))) * H
    assert motion.attitude_drift[1:] == pytest.approx(found, rel=1e-6, abs=1e-15)
    assert ("rescaled" if renormalize else "never rescaled") in finding.reason
    sparse = run(H, ROUND_AXES, SPIN, [], duration=STEPS * H, renormalize=renormalize, output_step=8 * H)
    assert sparse.audit()[Q].departure == finding.departure
    assert 0 <= sparse.audit()[Q].time - finding.time < 8 * H
    # Rescaled or not, the attitude is that of q/|q|.
    assert np.linalg.norm(motion.final.quaternion_wxyz) == pytest.approx(1, abs=1e-15)


def test_without_rescaling_the_drift_adds_up():
    """About a principal axis RK4 loses the same in every step: |q|^2 = 1 - x^6/72 + x^8/576, with x = w h/2."""
    steady, x = ph.State(angular_velocity_body=(0.0, 3.0, 0.0)), 3.0 * H / 2
    a_step = 1 - (1 - x**6 / 72 + x**8 / 576) ** 0.5
    rescaled, raw = (
        run(H, ROUND_AXES, steady, [], duration=10.0, renormalize=keep).audit()[Q] for keep in (True, False)
    )
    assert rescaled.departure == pytest.approx(a_step, rel=1e-7)
    assert raw.departure == pytest.approx(160 * a_step, rel=1e-5)
    assert raw.time == 10.0


def test_the_orthogonality_of_r_against_a_step_by_hand():
    _, q, _, spin = SPIN.momenta(ROUND_AXES)
    y, found = [*quaternions.matrix(q), *spin], []
    for _ in range(STEPS):
        y = by_hand(attitude_rate(laws.momentum_matrix, 9), y, H)
        r = np.array(y[:9]).reshape(3, 3)
        found.append(np.abs(r.T @ r - np.eye(3)).max())
    motion = run(H, ROUND_AXES, SPIN, [], duration=STEPS * H, formulation="momentum_matrix")
    finding = motion.audit()["orthogonality of R"]
    assert finding.departure == pytest.approx(max(found), rel=1e-9)
    assert finding.time == (1 + int(np.argmax(found))) * H


# Impulses ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("when", [0.0, 0.3, 1.0], ids=["at the start", "midway", "at the end"])
def test_an_impulse_does_the_work_of_its_mean_speed(when):
    """J . (u before + u after)/2, u the velocity of the point that is kicked.  [Thomson and Tait, section 308]"""
    impulse, arm = np.array((1.0, 3.0, 2.0)), (0.1, 0.0, 0.3)
    free = run(1 / 32, **one())
    kicked = run(1 / 32, **one([f.impulse(impulse, when, arm)]))
    before, after = free.at(when), kicked.at(when)

    def point_velocity(state):
        return state.velocity + np.cross(state.angular_velocity, state.to_world(arm, kind="vector"))

    mean = (point_velocity(before) + point_velocity(after)) / 2
    assert kicked.work[-1] == pytest.approx(impulse @ mean, rel=1e-12)
    assert (after.velocity - before.velocity) * 2.0 == pytest.approx(impulse, rel=1e-12)
    audit = kicked.audit()
    assert audit[WORK].relative < 1e-6
    assert not audit[P].conserved


# Ensembles and words -------------------------------------------------------------------------------------------------
def test_an_ensemble_reports_its_worst_member():
    rates = np.array([(1.0, 2.0, 0.5), (2.0, 4.0, 1.0), (0.5, 1.0, 0.2)])
    settings = {"duration": 2.0, "step": 1 / 32, "method": "rk4", "engine": "python", "output_step": 0.25}
    together = ph.ensemble(BODY, ph.State(angular_velocity_body=rates), **settings).audit()
    alone = [ph.simulate(BODY, ph.State(angular_velocity_body=rate), **settings).audit() for rate in rates]
    for quantity in (KINETIC, L, Q):
        worst = max((audit[quantity] for audit in alone), key=lambda finding: finding.relative)
        assert together[quantity] == worst
    assert together[KINETIC].relative == alone[1][KINETIC].relative > alone[0][KINETIC].relative


def test_what_is_conserved_is_so_from_the_start_even_if_only_the_end_was_kept():
    whole = run(1 / 16, ROUND_AXES, SPIN, [], duration=2.0)
    end = run(1 / 16, ROUND_AXES, SPIN, [], duration=2.0, output_times=[2.0]).audit()
    energies = whole.kinetic_energy
    assert end[KINETIC].departure == abs(energies[-1] - energies[0]) > 0
    assert end[KINETIC].time == 2.0


def test_the_audit_in_words_and_in_plain_numbers():
    audit = run(1 / 40, **CASES["spring and gravity"][0]).audit()
    text = str(audit)
    assert text.splitlines()[0] == "computed by rk4 in 40 steps, formulation momentum"
    assert len(text.splitlines()) == 2 + len(audit.findings)
    for finding, line in zip(audit.findings, text.splitlines()[2:], strict=True):
        assert line.startswith(finding.quantity)
        assert f"{finding.departure:.2e}" in line
        assert (" yes " if finding.conserved else " no ") in line
        assert line.endswith(finding.reason)
    plain = json.loads(json.dumps(audit.as_dict(), allow_nan=False))
    assert plain["method"] == "rk4"
    assert plain["steps"] == 40
    assert plain["findings"][0]["quantity"] == KINETIC
    assert all(0 <= finding["relative"] < inf for finding in plain["findings"])
