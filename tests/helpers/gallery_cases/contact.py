"""The models of impact and contact."""

import math

from . import Case


def tippe_top():
    """L . (0, 0, R) - d L . n, with w along z and the axis n tilted by 6 degrees, in fractions as far as they go."""
    n = math.sin(math.radians(6.0)), math.cos(math.radians(6.0))
    ball, disk, apart = 4.0 * 0.4, 4.0 * 0.144 / 2, 10 * 4 / 14 * 0.1  # g cm2, times 1e-6 kg m2
    across, along = ball + disk / 2 + 4.0 * 0.009 / 12 + apart, ball + disk
    parallel, normal = along * 150.0 * n[1], across * 150.0 * n[0]
    momentum_z = parallel * n[1] + normal * n[0]
    return (0.02 * momentum_z - 0.02 / 7 * parallel) * 1e-6


CASES = {
    "sliding-block": Case(
        {
            "acceleration": (9.80665 * math.sin(math.radians(20.0) - math.atan(0.3)) * math.sqrt(1.09), 1e-10),
            "friction over normal force": (0.3, 1e-10),
            "displacement 0.5° below the angle of friction": (0.0, 1e-12),
        },
        ({"angle": 45.0, "friction": 1.2}, {"angle": 5.0, "friction": 0.1}, {"angle": 0.0, "friction": 0.01}),
    ),
    "eulers-disk": Case(
        {
            "rate of steady rolling": (math.sqrt(4 * 9.80665 / (0.0375 * 0.5)), 1e-8),
            "largest displacement of the center in steady rolling": (0.0, 1e-12),
        },
        ({"tilt": 60.0, "resistance": 0.01}, {"tilt": 10.0, "resistance": 0.001}, {"tilt": 45.0}),
    ),
    "tippe-top": Case(
        {
            # Moments 2.0334286e-6 and 1.888e-6 kg m2, center of mass 20/7 mm below the ball's center.
            "Jellett's invariant where it differs most, spun about the vertical": (tippe_top(), 1e-8 * tippe_top()),
            "largest gap between the top and the floor": (0.0, 1e-11),
        },
        (
            {"spin": 200.0, "friction": 0.3, "tilt": 20.0},
            {"spin": 50.0, "friction": 0.03, "tilt": 60.0},
            {"spin": 100.0, "tilt": 1.0},
        ),
    ),
    "falling-box": Case(
        {"largest relative change of energy, 3D": (0.0, 1e-12)},
        ({"height": 3.0, "length": 0.6}, {"height": 0.5, "length": 0.05}),
    ),
    "thrown-die": Case(
        {
            "height of the center in the end, where it differs most": (0.008, 1e-11),
            "dice at rest": (300, 0),
            "energy in the end, one throw": (0.005 * 9.80665 * 0.008, 1e-12),
        },
        ({"restitution": 0.0, "friction": 0.1}, {"throws": 100.0, "restitution": 0.6, "friction": 1.0}),
    ),
    "buttered-toast": Case(
        {
            # Bisection by hand: turned by 186.5 degrees, it is (sin 6.5 degrees 0.1 + cos 6.5 degrees 0.014)/2 high.
            "time until it touches the floor": (0.3842574575, 1e-10),
            "angle turned by then": (186.481897, 1e-6),
        },
        ({"height": 3.0, "overhang": 0.2, "angle": 70.0}, {"height": 0.2, "overhang": 0.01, "angle": 20.0}),
    ),
}
