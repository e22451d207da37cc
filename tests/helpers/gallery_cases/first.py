"""The models that came first."""

import math

from . import Case

CASES = {
    "free-fall-with-drag": Case(
        # V^2/g ln cosh(g t/V) with V^2 = M g/c: 320 ln cosh(sqrt(g c/M) 20)
        {"distance fallen in 20 s": (320 * math.log(math.cosh(math.sqrt(9.80665 / 320) * 20)), 6e-8)},
        (
            {"mass": 100.0, "drag": 20.0, "speed": 60.0, "duration": 10.0},
            {"mass": 20.0, "drag": 0.05, "duration": 3.0},
        ),
    ),
    "two-bodies-on-a-spring": Case(
        {"oscillation period": (2 * math.pi * math.sqrt(2 / 3 / 20), 6e-8)},
        (
            {"mass_a": 5.0, "mass_b": 0.5, "stiffness": 300.0, "stretch": 0.1, "drift": -2.0},
            {"mass_a": 0.02, "mass_b": 50.0, "stretch": 0.5},
        ),
    ),
}
