"""Random free rotations of every regime, and the error due to rounding of their data.

`cases(seed, per_regime)` draws (regime, moments, w, q, t), all floats; `truth(case)` is the answer to 50 digits;
`conditioning(case)` and `conditioning_of_rates(case)` say by how much the true answer moves when each of these numbers
moves by one unit in its last place.  The reference is `polhode.reference.precise`.
"""

from __future__ import annotations

import math
from functools import lru_cache

import mpmath
import numpy as np

from polhode.reference.precise import free_rotation

ROUNDING = 1.1e-16
EXACT_SEPARATRICES = (((2, 3, 6), 3, 1), ((1, 2, 2.25), 0.75, 1), ((1, 1.25, 2.25), 3, 1))
"""(J1, J2, J3), w1, w3 with J1 (J2 - J1) w1^2 = J3 (J3 - J2) w3^2 exactly; w2 is free."""


def up(x, n=1):
    """The n-th float above x, or below it."""
    for _ in range(abs(n)):
        x = math.nextafter(x, math.copysign(math.inf, n))
    return x


class Draw:
    """Bodies and spins at random, along principal axes with the smallest moment first."""

    def __init__(self, rng):
        self.rng = rng

    def size(self, low=0.5, high=2.0):
        return float(np.exp(self.rng.uniform(np.log(low), np.log(high))))

    def signed(self, low=0.5, high=2.0):
        return float(self.rng.choice((-1.0, 1.0))) * self.size(low, high)

    def solid(self, thin=1.0):
        """Moments y + z, x + z, x + y of a solid, x about `thin` times as large as y and z."""
        x, y, z = self.size() * thin, self.size(), self.size()
        return tuple(sorted((y + z, x + z, x + y)))

    def symmetric(self, kind):
        """Two equal moments and the other one, exactly."""
        a = self.size()
        return (a, a, a * self.size(1.1, 1.9)) if kind == "oblate" else (a * self.size(0.1, 0.9), a, a)

    def spin(self, sizes=(1.0, 1.0, 1.0)):
        return tuple(float(x) for x in self.rng.normal(size=3) * 2 * np.array(sizes))

    def circling(self, which):
        """A spin well away from the separatrix, about the axis of the largest or of the smallest moment."""
        J, sizes = self.solid(), (0.1, 1.0, 1.0)
        while True:
            w = self.spin(sizes if which == "largest" else sizes[::-1])
            beyond = J[2] * (J[2] - J[1]) * w[2] ** 2 - J[0] * (J[1] - J[0]) * w[0] ** 2
            total = J[2] * (J[2] - J[1]) * w[2] ** 2 + J[0] * (J[1] - J[0]) * w[0] ** 2
            if (beyond > 0) == (which == "largest") and abs(beyond) > 0.1 * total:
                return J, w

    def near_separatrix(self, distance):
        """A spin whose w1 is off the separatrix by a share `distance`; 0: by rounding only."""
        J, w3 = self.solid(), self.signed()
        w1 = math.sqrt(J[2] * (J[2] - J[1]) / (J[0] * (J[1] - J[0]))) * self.signed(1, 1) * w3
        return J, (w1 * (1 + self.signed() * distance), self.signed(0.05, 3.0), w3)

    def exact_separatrix(self, off=0):
        """On it to the last bit, or a given number of units in the last place of w1 away."""
        J, w1, w3 = EXACT_SEPARATRICES[self.rng.integers(len(EXACT_SEPARATRICES))]
        k, f = 2.0 ** self.rng.integers(-3, 4), 2.0 ** self.rng.integers(-2, 2)
        first = up(f * w1, off) * self.signed(1, 1)
        return tuple(k * j for j in J), (first, self.signed(0.05, 3.0), f * w3 * self.signed(1, 1))

    def along(self, axis, off=0.0):
        """A spin along an axis, the other two rates smaller by a factor of about `off`."""
        w = [off * self.signed() for _ in range(3)]
        w[axis] = self.signed(0.5, 4.0)
        return self.solid(), tuple(w)

    def without(self, axis):
        """A spin whose rate about one axis is 0."""
        J, w = self.solid(), list(self.spin())
        w[axis] = 0.0
        return J, tuple(w)

    def almost(self, kind, ulps=None, share=0.0):
        """An almost symmetric body, by units in the last place or by a fraction."""
        a = self.size()
        b = up(a, ulps) if ulps else a * (1 + share)
        other = a * (self.size(1.1, 1.9) if kind == "oblate" else self.size(0.1, 0.9))
        if kind == "spherical":
            other = up(b, ulps) if ulps else b * (1 + share)
        return tuple(sorted((a, b, other)))

    def small_scale(self, mass, rate):
        J, w = self.solid(), self.spin()
        return tuple(mass * j for j in J), tuple(rate * x for x in w)


REGIMES = {
    "about the largest axis": lambda d: d.circling("largest"),
    "about the smallest axis": lambda d: d.circling("smallest"),
    "any solid": lambda d: (d.solid(), d.spin()),
    "separatrix, 1e-3": lambda d: d.near_separatrix(1e-3),
    "separatrix, 1e-8": lambda d: d.near_separatrix(1e-8),
    "separatrix, 1e-13": lambda d: d.near_separatrix(1e-13),
    "separatrix, rounding": lambda d: d.near_separatrix(0.0),
    "separatrix, one ulp": lambda d: d.exact_separatrix(int(d.rng.choice((-1, 1)))),
    "separatrix, exact": lambda d: d.exact_separatrix(),
    "near the largest axis, 1e-8": lambda d: d.along(2, 1e-8),
    "near the smallest axis, 1e-8": lambda d: d.along(0, 1e-8),
    "near the middle axis, 1e-4": lambda d: d.along(1, 1e-4),
    "near the middle axis, 1e-12": lambda d: d.along(1, 1e-12),
    "near the middle axis, 1e-60": lambda d: d.along(1, 1e-60),
    "near the largest axis, 1e-170": lambda d: d.along(2, 1e-170),
    "near the smallest axis, 1e-170": lambda d: d.along(0, 1e-170),
    "on the largest axis": lambda d: d.along(2),
    "on the middle axis": lambda d: d.along(1),
    "on the smallest axis": lambda d: d.along(0),
    "no spin": lambda d: (d.solid(), (0.0, 0.0, 0.0)),
    "no rate about the largest axis": lambda d: d.without(2),
    "no rate about the middle axis": lambda d: d.without(1),
    "no rate about the smallest axis": lambda d: d.without(0),
    "oblate": lambda d: (d.symmetric("oblate"), d.spin()),
    "prolate": lambda d: (d.symmetric("prolate"), d.spin()),
    "oblate, spin across": lambda d: (d.symmetric("oblate"), d.without(2)[1]),
    "prolate, spin across": lambda d: (d.symmetric("prolate"), d.without(0)[1]),
    "spherical": lambda d: ((d.size(),) * 3, d.spin()),
    "almost oblate, ulps": lambda d: (d.almost("oblate", int(d.rng.integers(1, 4))), d.spin()),
    "almost prolate, ulps": lambda d: (d.almost("prolate", int(d.rng.integers(1, 4))), d.spin()),
    "almost spherical, ulps": lambda d: (d.almost("spherical", int(d.rng.integers(1, 4))), d.spin()),
    "almost oblate, 1e-8": lambda d: (d.almost("oblate", share=1e-8), d.spin()),
    "almost prolate, 1e-8": lambda d: (d.almost("prolate", share=1e-8), d.spin()),
    "almost spherical, 1e-6": lambda d: (d.almost("spherical", share=1e-6), d.spin()),
    "almost prolate, spin across": lambda d: (d.almost("prolate", 1), d.spin((1e-8, 1.0, 1.0))),
    "almost oblate, spin across": lambda d: (d.almost("oblate", 1), d.spin((1.0, 1.0, 1e-8))),
    "needle": lambda d: (tuple(sorted((1e-3 * d.size(), 1.0, up(1.0, 3) * 1.0005))), d.spin()),
    "plate": lambda d: (d.solid(1e-6), d.spin()),
    "moments far apart": lambda d: ((1e-3 * d.size(), d.size(), 1e3 * d.size()), d.spin((1.0, 1.0, 1e-2))),
    "dust": lambda d: d.small_scale(1e-27, 1e4),
    "asteroid": lambda d: d.small_scale(1e24, 1e-5),
}


def cases(seed, per_regime):
    """(regime, moments, w, q, t): axes in any order, t from 0.3 to 1e4, a third negative."""
    rng = np.random.default_rng(seed)
    drawn = []
    for regime, maker in REGIMES.items():
        for _ in range(per_regime):
            J, w = maker(Draw(rng))
            order = rng.permutation(3)
            q = rng.normal(size=4)
            longest = 20.0 if regime.startswith("separatrix") and rng.random() < 0.7 else 1e4  # later all is lost
            t = Draw(rng).size(0.3, longest) * (-1 if rng.random() < 1 / 3 else 1)
            mixed_J, mixed_w = tuple(float(J[i]) for i in order), tuple(float(w[i]) for i in order)
            drawn.append((regime, mixed_J, mixed_w, tuple((q / np.linalg.norm(q)).tolist()), t))
    return drawn


@lru_cache(maxsize=4096)
def truth(case):
    """(q, w) at the end, as mpmath numbers."""
    _, J, w, q, t = case
    return free_rotation(J, w, q, t)


def attitude_error(q, case):
    """The angle in rad between a result and the truth."""
    return _angle([mpmath.mpf(float(x)) for x in q], truth(case)[0])


def rates_error(w, case):
    """|w - truth|/|truth|; 0 for a body that rests and is said to."""
    return _relative([mpmath.mpf(float(x)) for x in w], truth(case)[1])


def conditioning(case):
    """The changes of the true attitude (rad) when each number moves by one unit in its last place, summed, + 1.1e-16.

    A number that is 0 is exact and does not move.
    """
    return _changes(case)[0] + ROUNDING


def conditioning_of_rates(case):
    """The same of the angular velocity, relative to its size."""
    return _changes(case)[1] + ROUNDING


@lru_cache(maxsize=4096)
def _changes(case):
    _, J, w, q, t = case
    q_end, w_end = truth(case)
    attitude = rates = 0.0
    for given, other in ((J, False), (w, True)):
        for i in range(3):
            if given[i] == 0:
                continue
            moved = (*given[:i], up(given[i]), *given[i + 1 :])
            q_moved, w_moved = free_rotation(*((J, moved) if other else (moved, w)), q, t)
            attitude += _angle(q_moved, q_end)
            rates += _relative(w_moved, w_end)
    square = sum(x * x for x in q)
    attitude += sum(2 * math.ulp(x) * math.sqrt(max(square - x * x, 0.0)) / square for x in q if x != 0)
    w_float = [float(x) for x in w_end]
    speed = math.hypot(*w_float)
    if speed > 0:
        a, b, c = (x / speed for x in w_float)
        growth = ((J[1] - J[2]) / J[0] * b * c, (J[2] - J[0]) / J[1] * c * a, (J[0] - J[1]) / J[2] * a * b)
        attitude += speed * math.ulp(t)
        rates += math.hypot(*growth) * speed * math.ulp(t)
    return attitude, rates


def _angle(p, q):
    with mpmath.workdps(50):
        a, b, c, d = p
        e, f, g, h = q
        v = (a * f - b * e - c * h + d * g, a * g + b * h - c * e - d * f, a * h - b * g + c * f - d * e)
        s = a * e + b * f + c * g + d * h
        return float(2 * mpmath.atan2(mpmath.sqrt(sum(x * x for x in v)), abs(s)))


def _relative(one, two):
    with mpmath.workdps(50):
        size = mpmath.sqrt(sum(x * x for x in two))
        off = mpmath.sqrt(sum((x - y) ** 2 for x, y in zip(one, two, strict=True)))
        return float(off / size) if size else float(off)
