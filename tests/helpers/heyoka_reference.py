"""A third reference: heyoka's Taylor integrator in 240-bit arithmetic, in momenta and world axes.

It takes problems as `make_reference_problems.py` writes them: texts of numbers in a dictionary.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import mpmath

from polhode.reference.multiprecision import to_fraction


def force(data, kind):
    return next((f for f in data["forces"] if f["kind"] == kind), None)


def parts(data):
    """(start, end, thruster on?) for each part of the run, cut at the thruster's window."""
    end, fired = Fraction(data["duration"]), force(data, "thruster")
    if fired is None:
        return [(Fraction(0), end, False)]
    cuts = [Fraction(0), Fraction(fired["start"]), Fraction(fired["stop"]), end]
    return [(a, b, i == 1) for i, (a, b) in enumerate(pairwise(cuts))]


def exact(values):
    return [Fraction(v) for v in values]


def thruster_load(data):
    """Force and torque in body axes; the direction is along z in the one problem that has a thruster."""
    fired = force(data, "thruster")
    direction = exact(fired["direction_body"])
    assert direction[:2] == [0, 0]
    F = Fraction(fired["thrust"]) * (1 if direction[2] > 0 else -1)
    x, y, _ = exact(fired["com_to_nozzle_body"])
    return [Fraction(0), Fraction(0), F], [y * F, -x * F, Fraction(0)]


def about_tip(q, w, height) -> dict:
    """Place and velocity of a center of mass that is held at its tip."""
    a, b, c, d = q

    def turned(r):
        rows = (
            (a * a + b * b - c * c - d * d, 2 * (b * c - a * d), 2 * (b * d + a * c)),
            (2 * (b * c + a * d), a * a - b * b + c * c - d * d, 2 * (c * d - a * b)),
            (2 * (b * d - a * c), 2 * (c * d + a * b), a * a - b * b - c * c + d * d),
        )
        return [sum(m * y for m, y in zip(row, r, strict=True)) for row in rows]

    return {
        "position": turned([0, 0, height]),
        "velocity": turned([w[1] * height, -w[0] * height, 0]),
        "quaternion_wxyz": q,
        "angular_velocity_body": w,
    }


def by_heyoka(data, bits=240) -> dict:
    """The answer in momenta: x' = P/M, P' = force, 2 q' = (0, w) q with w in world axes, L' = torque in world axes."""
    import heyoka as hy

    def real(value):
        value = Fraction(value)
        return hy.real(str(value.numerator), bits) / hy.real(str(value.denominator), bits)

    names = ("x", "y", "z", "a", "b", "c", "d", "p1", "p2", "p3", "l1", "l2", "l3")
    x, y, z, a, b, c, d, p1, p2, p3, l1, l2, l3 = hy.make_vars(*names)
    J, mass, held = exact(data["moments"]), Fraction(data["mass"]), data["pivot"] is not None
    pull = force(data, "gravity")
    g = exact(pull["g"]) if pull else [Fraction(0)] * 3
    height = -Fraction(data["pivot"][2]) if held else Fraction(0)
    J = [J[0] + mass * height**2, J[1] + mass * height**2, J[2]]
    R = [
        [a * a + b * b - c * c - d * d, 2 * (b * c - a * d), 2 * (b * d + a * c)],
        [2 * (b * c + a * d), a * a - b * b + c * c - d * d, 2 * (c * d - a * b)],
        [2 * (b * d - a * c), 2 * (c * d + a * b), a * a - b * b - c * c + d * d],
    ]
    in_body = [sum((R[i][k] * (l1, l2, l3)[i] for i in range(3)), 0 * a) for k in range(3)]
    rates = [in_body[k] * real(1 / J[k]) for k in range(3)]
    u, v, w = (sum((R[i][k] * rates[k] for k in range(3)), 0 * a) for i in range(3))
    turn = [
        (-u * b - v * c - w * d) / 2,
        (u * a + v * d - w * c) / 2,
        (-u * d + v * a + w * b) / 2,
        (u * c - v * b + w * a) / 2,
    ]
    momenta = (p1, p2, p3)
    drag = force(data, "quadratic_drag")
    speed = hy.sqrt(p1 * p1 + p2 * p2 + p3 * p3)
    q0 = exact(data["quaternion_wxyz"])
    start = [real(s) for s in data["position"]] + [real(s) for s in q0]
    size = (start[3] * start[3] + start[4] * start[4] + start[5] * start[5] + start[6] * start[6]) ** real("1/2")
    start[3:7] = [s / size for s in start[3:7]]
    start += [real(mass * s) for s in exact(data["velocity"])]
    qa, qb, qc, qd = start[3:7]
    lb = [real(j * s) for j, s in zip(J, exact(data["angular_velocity_body"]), strict=True)]
    start += [
        (qa * qa + qb * qb - qc * qc - qd * qd) * lb[0]
        + (qb * qc - qa * qd) * 2 * lb[1]
        + (qb * qd + qa * qc) * 2 * lb[2],
        (qb * qc + qa * qd) * 2 * lb[0]
        + (qa * qa - qb * qb + qc * qc - qd * qd) * lb[1]
        + (qc * qd - qa * qb) * 2 * lb[2],
        (qb * qd - qa * qc) * 2 * lb[0]
        + (qc * qd + qa * qb) * 2 * lb[1]
        + (qa * qa - qb * qb - qc * qc + qd * qd) * lb[2],
    ]
    state = start
    for begin, end, firing in parts(data):
        F, torque = thruster_load(data) if firing else ([Fraction(0)] * 3, [Fraction(0)] * 3)
        push = [real(mass * g[i]) + sum((R[i][k] * real(F[k]) for k in range(3) if F[k]), 0 * a) for i in range(3)]
        if drag:
            push = [push[i] - real(Fraction(drag["c"]) / mass**2) * speed * momenta[i] for i in range(3)]
        twist = [sum((R[i][k] * real(torque[k]) for k in range(3) if torque[k]), 0 * a) for i in range(3)]
        move = [p * real(1 / mass) for p in momenta]
        if held:
            up = real(mass * -g[2] * height)
            twist = [-R[1][2] * up, R[0][2] * up, 0 * a]
            push, move = [0 * a] * 3, [0 * a] * 3
        rhs = [*move, *turn, *push, *twist]
        integrator = hy.taylor_adaptive(
            list(zip((x, y, z, a, b, c, d, p1, p2, p3, l1, l2, l3), rhs, strict=True)),
            state,
            fp_type=hy.real,
            prec=bits,
            compact_mode=True,
        )
        integrator.propagate_until(real(end - begin))
        state = list(integrator.state)
    numbers = [as_fraction(s) for s in state]
    q = numbers[3:7]
    size = sum(s * s for s in q)
    with mpmath.workdps(70):
        scale = 1 / mpmath.sqrt(mpmath.mpf(size.numerator) / size.denominator)
        q = [s * to_fraction(scale) for s in q]
    L = numbers[10:13]
    a, b, c, d = q
    rows = (
        (a * a + b * b - c * c - d * d, 2 * (b * c - a * d), 2 * (b * d + a * c)),
        (2 * (b * c + a * d), a * a - b * b + c * c - d * d, 2 * (c * d - a * b)),
        (2 * (b * d - a * c), 2 * (c * d + a * b), a * a - b * b - c * c + d * d),
    )
    w = [sum(rows[i][k] * L[i] for i in range(3)) / J[k] for k in range(3)]
    if held:
        return about_tip(q, w, height)
    velocity = [s / mass for s in numbers[7:10]]
    return {"position": numbers[0:3], "velocity": velocity, "quaternion_wxyz": q, "angular_velocity_body": w}


def as_fraction(value) -> Fraction:
    """A heyoka number, whose text holds all its digits."""
    return Fraction(str(value))
