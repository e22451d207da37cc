"""Makes src/polhode/reference/data/problems.json: python tests/helpers/make_reference_problems.py

Every answer is computed twice.  Free rotations: the closed form (polhode.reference.precise) and Taylor series in whole
numbers (taylor_reference.py).  Forced ones: those Taylor series, in velocities and body rates, and heyoka's Taylor
integrator in 240-bit arithmetic, in momenta and world axes (heyoka_reference.py).  The script prints how far the two
differ.
"""

from __future__ import annotations

import json
import math
import sys
from fractions import Fraction
from pathlib import Path

import mpmath

from heyoka_reference import about_tip, by_heyoka, exact, force, parts, thruster_load
from polhode.reference import precise
from polhode.reference.multiprecision import to_fraction
from taylor_reference import advanced

HOME = Path(__file__).parents[2] / "src" / "polhode" / "reference" / "data" / "problems.json"
DIGITS = 40
"""Of the answers, as written."""

FREE = "None: the rotation is free, and the center of mass rests."
HAIRER_VILMART = (
    "E. Hairer and G. Vilmart, Preprocessed discrete Moser-Veselov algorithm for the full dynamics of a rigid body, "
    "J. Phys. A 39 (2006) 13225; angular momentum (1.8, 0.4, -0.9) at the start"
)
PROBLEMS = [
    {
        "name": "hairer_vilmart_asymmetric",
        "title": "Free rotation of an asymmetric body",
        "source": HAIRER_VILMART,
        "mass": "1",
        "moments": ["3/5", "4/5", "1"],
        "angular_velocity_body": ["3", "1/2", "-9/10"],
        "forces_in_words": FREE,
        "duration": "10",
    },
    {
        "name": "hairer_vilmart_flat",
        "title": "Free rotation of a nearly flat body, with moments that no solid has",
        "source": HAIRER_VILMART,
        "mass": "1",
        "moments": ["69/200", "653/1000", "1"],
        "allow_unphysical": True,
        "angular_velocity_body": ["120/23", "400/653", "-9/10"],
        "forces_in_words": FREE,
        "duration": "10",
    },
    {
        "name": "boxes_complex",
        "title": "A thrown box that tumbles about its middle axis",
        "source": (
            "S. Peters, github.com/scpeters/benchmark, Boxes, complex: a box of 0.1 x 0.4 x 0.9 m and 10 kg, thrown at "
            "(-2, 2, 8) m/s; here from the origin, and alone"
        ),
        "mass": "10",
        "moments": ["97/120", "41/60", "17/120"],
        "velocity": ["-2", "2", "8"],
        "angular_velocity_body": ["1/10", "5", "1/10"],
        "forces": [{"kind": "gravity", "g": ["0", "0", "-49/5"]}],
        "forces_in_words": "Uniform gravity (0, 0, -9.8) m/s2.",
        "duration": "10",
    },
    {
        "name": "simo_wong_heavy_top",
        "title": "A fast heavy top on its tip",
        "source": (
            "J. C. Simo and K. K. Wong, Int. J. Numer. Meth. Eng. 31 (1991) 19; data as in P. Krysl, Int. J. Numer. "
            "Meth. Eng. 63 (2005) 2171: moments about the tip 5, 5, 1 kg m2, weight times height 20 N m, tilt 0.05 rad"
        ),
        "mass": "2",
        "moments": ["3", "3", "1"],
        "angular_velocity_body": ["0", "0", "50"],
        "forces": [{"kind": "gravity", "g": ["0", "0", "-10"]}],
        "forces_in_words": (
            "Uniform gravity (0, 0, -10) m/s2; the tip, 1 m below the center of mass on the axis, rests at the origin. "
            "The sources give neither mass, height nor g: these are ours. About the tip the torque in body axes is "
            "20 (z_y, -z_x, 0) N m, z the vertical seen from the body."
        ),
        "pivot": ["0", "0", "-1"],
        "duration": "10",
    },
    {
        "name": "drag_and_thruster",
        "title": "A body that falls through air while an off-center thruster fires for two seconds",
        "source": "Polhode; every number of the data is exact in double precision",
        "mass": "2",
        "moments": ["1/4", "3/8", "1/2"],
        "velocity": ["3", "-1", "4"],
        "angular_velocity_body": ["1/2", "1", "-1/4"],
        "forces": [
            {"kind": "gravity", "g": ["0", "0", "-157/16"]},
            {"kind": "quadratic_drag", "c": "1/16"},
            {
                "kind": "thruster",
                "com_to_nozzle_body": ["1/16", "-1/32", "-1/2"],
                "direction_body": ["0", "0", "1"],
                "thrust": "8",
                "start": "1",
                "stop": "3",
            },
        ],
        "forces_in_words": (
            "Uniform gravity (0, 0, -9.8125) m/s2; drag -c |v| v with c = 0.0625 kg/m, v the velocity of the center of "
            "mass; a thruster of 8 N along the body's +z at (0.0625, -0.03125, -0.5) m from the center of mass, from "
            "t = 1 s to t = 3 s."
        ),
        "duration": "10",
    },
]
ORDER = (
    *("name", "title", "source", "mass", "moments", "allow_unphysical"),
    *("position", "quaternion_wxyz", "velocity", "angular_velocity_body"),
    *("forces_in_words", "forces", "pivot", "duration", "answer", "answer_of_doubles", "conditioning"),
)
VECTORS = ("position", "quaternion_wxyz", "velocity", "angular_velocity_body")


# Data ----------------------------------------------------------------------------------------------------------------
def completed(problem: dict) -> dict:
    """With the defaults filled in, and the heavy top's start, which is irrational, to 60 digits."""
    start = {"position": ["0"] * 3, "quaternion_wxyz": ["1", "0", "0", "0"], "velocity": ["0"] * 3}
    full = {"allow_unphysical": False, "forces": [], "pivot": None, **start, **problem}
    if problem["name"] == "simo_wong_heavy_top":
        with mpmath.workdps(70):
            half, tilt = mpmath.mpf(1) / 40, mpmath.mpf(1) / 20
            full["quaternion_wxyz"] = [mpmath.nstr(x, 60) for x in (mpmath.cos(half), mpmath.sin(half))] + ["0", "0"]
            full["position"] = ["0", mpmath.nstr(-mpmath.sin(tilt), 60), mpmath.nstr(mpmath.cos(tilt), 60)]
    return full


def mapped(data, change):
    """The same data with every number changed by a function of (text, path)."""

    def walk(value, path):
        if isinstance(value, dict):
            return {k: v if k == "kind" else walk(v, (*path, k)) for k, v in value.items()}
        if isinstance(value, list):
            return [walk(v, (*path, i)) for i, v in enumerate(value)]
        return value if value is None else change(value, path)

    numbers = ("mass", "moments", "forces", "pivot", "duration", *VECTORS)
    return {k: walk(v, (k,)) if k in numbers else v for k, v in data.items()}


def numbers_in(data) -> list[tuple]:
    """The paths of all numbers in the data that are not zero."""
    found = []
    mapped(data, lambda text, path: found.append(path) if Fraction(text) else None)
    return found


# Answers -------------------------------------------------------------------------------------------------------------
def by_taylor(data, digits=DIGITS + 5) -> dict:
    """The answer by taylor_reference.py, as fractions."""
    pull = force(data, "gravity")
    g = exact(pull["g"]) if pull else [Fraction(0)] * 3
    J, mass = exact(data["moments"]), Fraction(data["mass"])
    x, v, q, w = (exact(data[key]) for key in ("position", "velocity", "quaternion_wxyz", "angular_velocity_body"))
    if data["pivot"] is not None:
        height = -Fraction(data["pivot"][2])
        assert not any(Fraction(c) for c in data["pivot"][:2])
        J = [J[0] + mass * height**2, J[1] + mass * height**2, J[2]]
        up = mass * -g[2] * height
        _, _, q, w = advanced(J, w, q, data["duration"], digits=digits, top=up, first_step=Fraction(1, 64))
        return about_tip(q, w, height)
    drag = force(data, "quadratic_drag")
    c = Fraction(drag["c"]) if drag else Fraction(0)
    for start, end, firing in parts(data):
        F, torque = thruster_load(data) if firing else ((0, 0, 0), (0, 0, 0))
        settings = {"mass": mass, "gravity": g, "drag": c, "force_body": F, "torque_body": torque}
        x, v, q, w = advanced(J, w, q, end - start, digits=digits, x=x, v=v, **settings)
    return dict(zip(("position", "velocity", "quaternion_wxyz", "angular_velocity_body"), (x, v, q, w), strict=True))


def by_closed_form(data, digits=DIGITS + 10) -> dict:
    """The answer of a problem without forces other than gravity."""
    t = Fraction(data["duration"])
    q, w = precise.free_rotation(
        exact(data["moments"]), exact(data["angular_velocity_body"]), exact(data["quaternion_wxyz"]), t, digits
    )
    pull = force(data, "gravity")
    g = exact(pull["g"]) if pull else [Fraction(0)] * 3
    x, v = exact(data["position"]), exact(data["velocity"])
    return {
        "position": [a + b * t + c * t * t / 2 for a, b, c in zip(x, v, g, strict=True)],
        "velocity": [b + c * t for b, c in zip(v, g, strict=True)],
        "quaternion_wxyz": [to_fraction(c) for c in q],
        "angular_velocity_body": [to_fraction(c) for c in w],
    }


# Comparing -----------------------------------------------------------------------------------------------------------
def attitude_between(p, q) -> float:
    """The angle of the rotation between two quaternions, in rad."""
    a, b, c, d = p
    e, f, g, h = q
    scalar = a * e + b * f + c * g + d * h
    vector = (a * f - b * e - c * h + d * g, a * g + b * h - c * e - d * f, a * h - b * g + c * f - d * e)
    return 2 * math.atan2(length(vector), abs(float(scalar)))


def length(vector) -> float:
    with mpmath.workdps(30):
        total = sum(c * c for c in vector)
        return float(mpmath.sqrt(mpmath.mpf(total.numerator) / total.denominator)) if total else 0.0


def apart(one, two) -> dict:
    """How far two answers are from each other."""
    w = two["angular_velocity_body"]
    return {
        "attitude": attitude_between(one["quaternion_wxyz"], two["quaternion_wxyz"]),
        "rates": length([a - b for a, b in zip(one["angular_velocity_body"], w, strict=True)]) / length(w),
        "position": length([a - b for a, b in zip(one["position"], two["position"], strict=True)]),
    }


def conditioning(data, solve) -> dict:
    """The changes of the answer when each number that is not 0 moves by one unit in its last place, summed."""
    base = solve(data)
    total = dict.fromkeys(("attitude", "rates", "position"), 0.0)
    for path in numbers_in(data):
        ulp = Fraction(math.ulp(float(Fraction(value_at(data, path)))))
        moved = mapped(data, lambda text, p, path=path, ulp=ulp: str(Fraction(text) + ulp) if p == path else text)
        if data["pivot"] is not None and path[0] == "position":
            change = {"attitude": 0.0, "rates": 0.0, "position": float(ulp)}
        else:
            change = apart(solve(moved), base)
        total = {key: total[key] + change[key] for key in total}
    return {key: float(f"{value:.2g}") for key, value in total.items()}


def value_at(data, path):
    for key in path:
        data = data[key]
    return data


# Writing -------------------------------------------------------------------------------------------------------------
def decimal(value: Fraction, digits: int) -> str:
    """A fraction in so many significant digits, without trailing zeros."""
    with mpmath.workdps(digits + 30):
        return mpmath.nstr(mpmath.mpf(value.numerator) / value.denominator, digits, strip_zeros=True).removesuffix(".0")


def made(problem: dict, say=print) -> dict:
    """The record of one problem, as the file holds it."""
    data = completed(problem)
    free = data["pivot"] is None and all(f["kind"] == "gravity" for f in data["forces"])
    in_decimals = mapped(data, lambda text, _: decimal(Fraction(text), 60))
    in_doubles = mapped(data, lambda text, _: str(Fraction(float(Fraction(text)))))
    answers = {}
    for key, given in (("answer", data), ("answer_of_doubles", in_doubles)):
        first = by_closed_form(given) if free else by_taylor(given, DIGITS + 10)
        second = by_taylor(given) if free else by_heyoka(given)
        say(problem["name"], key, {k: f"{v:.1e}" for k, v in apart(first, second).items()})
        answers[key] = {k: [decimal(c, DIGITS) for c in first[k]] for k in VECTORS}
    quick = (lambda d: by_closed_form(d, 34)) if free else (lambda d: by_taylor(d, 32))
    found = conditioning(data, quick)
    say(problem["name"], "conditioning", found)
    record = {**in_decimals, **answers, "conditioning": found}
    return {key: record[key] for key in ORDER}


if __name__ == "__main__":
    HOME.parent.mkdir(exist_ok=True)
    chosen = [made(p) for p in PROBLEMS if len(sys.argv) < 2 or p["name"] in sys.argv[1:]]
    if len(sys.argv) < 2:
        HOME.write_text(json.dumps(chosen, indent=1) + "\n", encoding="utf-8")
