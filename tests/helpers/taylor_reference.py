"""A second reference: Taylor series of the equations of motion in whole numbers of 2^-bits.

State: position x, velocity v, quaternion q (w, x, y, z, body to world), angular velocity w in principal axes:
x' = v,  M v' = M g - c |v| v + R(q) F,  2 q' = q (0, w),  J w' = N - w x (J w),
N = torque + top (z_y, -z_x, 0), z the world's vertical seen from the body, F and torque fixed in the body.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from operator import mul


def advanced(
    moments,
    w,
    q,
    t,
    *,
    digits=35,
    x=(0, 0, 0),
    v=(0, 0, 0),
    mass=1,
    gravity=(0, 0, 0),
    drag=0,
    force_body=(0, 0, 0),
    torque_body=(0, 0, 0),
    top=0,
    first_step=Fraction(1, 2),
):
    """(x, v, q, w) after a time t, as fractions, to about so many digits.  Inputs: floats, strings or fractions."""
    bits = int(digits * 3.33) + 48
    order = int(digits * 1.25) + 8
    one = 1 << bits

    def fixed(value):
        return round(Fraction(value) * one)

    def unit(values):
        values = [fixed(y) for y in values]
        size = isqrt(sum(y * y for y in values))
        return [(y << bits) // size for y in values]

    J = [Fraction(j) for j in moments]
    law = {
        "spin": [fixed((J[(i + 1) % 3] - J[(i + 2) % 3]) / J[i]) for i in range(3)],
        "turn": [fixed(Fraction(torque_body[i]) / J[i]) for i in range(3)],
        "top": [fixed(Fraction(top) / J[0]), fixed(-Fraction(top) / J[1])],
        "gravity": [fixed(g) for g in gravity],
        "drag": fixed(Fraction(drag) / Fraction(mass)),
        "push": [fixed(Fraction(f) / Fraction(mass)) for f in force_body],
    }
    y = [fixed(c) for c in (*x, *v)] + unit(q) + [fixed(c) for c in w]
    left, h = Fraction(t), Fraction(first_step)
    moving = any(x) or any(v) or any(gravity) or any(force_body)
    while left:
        step = max(min(left, h), -h)
        rows = _series(y, fixed(step), law, bits, order, moving)
        tail = max(abs(c) for row in rows if len(row) > 3 for c in row[-3:])
        if tail > 1 << 40:
            h = h / 2 if abs(step) == h else abs(step) / 2
            continue
        y = [sum(row) for row in rows]
        left -= step
        if tail < 1 << 20:
            h = min(h * Fraction(9, 8), Fraction(4))
    result = [Fraction(c, one) for c in y]
    return result[0:3], result[3:6], result[6:10], result[10:13]


def _series(y, h, law, bits, order, moving):
    """Taylor coefficients times h^n, of all thirteen numbers."""
    rows = [[c] for c in y]
    X, V, Q, W = rows[0:3], rows[3:6], rows[6:10], rows[10:13]
    speed = [isqrt(sum(c[0] * c[0] for c in V))]

    def conv(a, b):
        return sum(map(mul, a, reversed(b))) >> bits

    for n in range(order):

        def push(row, rate, n=n):
            row.append((rate * h >> bits) // (n + 1))

        a, b, c, d = Q
        qw = {(i, j): conv(Q[i], W[j]) for i in range(4) for j in range(3)}
        dq = [
            -qw[1, 0] - qw[2, 1] - qw[3, 2],
            qw[0, 0] + qw[2, 2] - qw[3, 1],
            qw[0, 1] - qw[1, 2] + qw[3, 0],
            qw[0, 2] + qw[1, 1] - qw[2, 0],
        ]
        spin = [law["spin"][i] * conv(W[(i + 1) % 3], W[(i + 2) % 3]) >> bits for i in range(3)]
        if n == 0:
            spin = [s + k for s, k in zip(spin, law["turn"], strict=True)]
        if any(law["top"]):
            z_x = 2 * (conv(b, d) - conv(a, c))
            z_y = 2 * (conv(c, d) + conv(a, b))
            spin[0] += law["top"][0] * z_y >> bits
            spin[1] += law["top"][1] * z_x >> bits
        if moving:
            if n > 0 and law["drag"] and speed[0]:
                square = sum(sum(map(mul, r, reversed(r))) for r in V)
                known = sum(map(mul, speed[1:], reversed(speed[1:])))
                speed.append((square - known) // (2 * speed[0]))
            pull = [0, 0, 0]
            if law["drag"] and speed[0]:
                pull = [-law["drag"] * conv(speed, r) >> bits for r in V]
            if n == 0:
                pull = [p + g for p, g in zip(pull, law["gravity"], strict=True)]
            if any(law["push"]):
                aa, bb, cc, dd = conv(a, a), conv(b, b), conv(c, c), conv(d, d)
                ab, ac, ad, bc, bd, cd = conv(a, b), conv(a, c), conv(a, d), conv(b, c), conv(b, d), conv(c, d)
                R = (
                    (aa + bb - cc - dd, 2 * (bc - ad), 2 * (bd + ac)),
                    (2 * (bc + ad), aa - bb + cc - dd, 2 * (cd - ab)),
                    (2 * (bd - ac), 2 * (cd + ab), aa - bb - cc + dd),
                )
                pull = [p + (sum(map(mul, r, law["push"])) >> bits) for p, r in zip(pull, R, strict=True)]
            for i in range(3):
                push(X[i], V[i][n])
            for i in range(3):
                push(V[i], pull[i])
        for i in range(4):
            push(Q[i], dq[i] // 2)
        for i in range(3):
            push(W[i], spin[i])
    return rows
