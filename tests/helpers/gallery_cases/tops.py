"""Tops and gyroscopes, and two real bodies."""

import math

from . import Case

CASES = {
    "gyroscope": Case(
        {
            "slow steady precession": (0.2601702, 5e-8),
            "fast steady precession": (6.3954038, 5e-8),
            "horizontal force at the pivot, slow": (0.0586200, 5e-8),
            "horizontal force at the pivot, fast": (35.42147, 5e-6),
            "vertical force at the pivot, slow": (1.0, 1e-10),
            "sum of the slow and fast rates": (6.6555740, 5e-8),
            "product over sum of the two rates": (0.25, 1e-11),
            "vertical force at the pivot, fast": (1.0, 1e-8),
            "largest theta after release": (68.2622295, 5e-8),
            "nutation period after release": (2.0139462, 5e-8),
            "minimum spin for steady precession": (3.8762, 5e-5),
        },
        ({"spin": 6.0, "theta": 15.0}, {"spin": 25.0, "theta": 75.0}),
    ),
    "gyroscope-analytic": Case(
        {"largest theta after release": (68.2622295, 5e-8)},
        (
            {"spin": 4.0, "precession": 5.0},
            {"spin": 18.0, "precession": 0.0},
            {"spin": 8.0, "precession": 1.775},  # close to the vertical
            {"spin": 5.0, "precession": 0.6128711016736268},  # steady
        ),
    ),
    "gyroscope-euler-angles": Case(
        {"attitude error, Euler angles": (1.0e-2, 5e-4), "attitude error, quaternions": (2.7e-8, 5e-10)},
        (
            {"spin": 2.2, "miss": 0.08, "step": 0.005},
            {"spin": 4.0, "miss": 0.005, "step": 0.012},
            {"spin": 4.0, "miss": 0.01, "step": 0.01},  # rounding decides
            {"spin": 3.862927709482709, "miss": 0.024683160967695118, "step": 0.009040721598282744},  # rounding decides
        ),
    ),
    "rocket-top": Case(
        {
            "largest angle": (31.5115502, 5e-8),
            "nutation period": (1.4593057, 5e-8),
            "mean precession": (0.1135542, 5e-8),
        },
        ({"spin": 12.0, "theta": 10.0, "torque": 0.2}, {"spin": 2.0, "theta": 110.0, "torque": 3.0}),
    ),
    "toutatis": Case(
        {
            "smallest angle from the 1992 attitudes": (1.27, 5e-3),
            "largest angle from the 1992 attitudes": (15.88, 5e-3),
            "median angle from the 1992 attitudes": (5.60, 5e-3),
            "angle from the 2008 attitude": (130.97, 5e-3),
        },
        ({"spin_change": 0.005, "moment_change": -0.02}, {"spin_change": -0.003, "moment_change": 0.01}),
    ),
    "boxes": Case(
        {
            "initial energy": (368.5464167, 5e-8),
            # 2 acos of the first number of the 40-digit answer
            "rotation angle at 10 s": (2 * math.acos(0.2251645634139581639295619), 1e-11),
            "height at 10 s": (-410.0, 1e-11),
        },
        ({"spin": 2.5, "nudge": 0.4, "step": 5e-3}, {"spin": 8.0, "nudge": 0.05, "step": 5e-4}),
    ),
}
