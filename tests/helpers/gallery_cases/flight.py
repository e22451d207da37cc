"""The models of flight."""

import math

from . import Case

CASES = {
    "dropped-sphere": Case(
        {
            # From NASA's file of case 1: 963.637539981 and 1527.05530171 ft/s, 2.10101108617 ft/s toward the east.
            "speed in the end, inertial": (0.3048 * math.hypot(963.637539981, 1527.05530171), 1e-8),
            "velocity toward the east": (0.3048 * 2.10101108617, 1e-8),
        },
        ({"height": 50000.0, "latitude": 45.0}, {"height": 6000.0, "latitude": -70.0}),
    ),
    "tumbling-brick": Case(
        {
            # From NASA's file of case 2, in deg/s; its moments have more digits than the model's.
            "roll rate in the end": (12.6183907757, 2e-6),
            "pitch rate in the end": (-17.3974747619, 2e-6),
            "yaw rate in the end": (31.1195888868, 2e-6),
        },
        ({"roll": -50.0, "pitch": 5.0, "yaw": 3.0}, {"roll": 0.0, "pitch": 60.0, "yaw": 1.0}),
    ),
    "damped-brick": Case(
        {"largest difference of the roll rate from the closed form, over the first": (0.0, 1e-10)},
        ({"damping": 0.2, "height": 20000.0}, {"damping": 2.0}),
    ),
    "cannonball": Case(
        {
            # v_t = sqrt(2 m g/(rho S CD)) = 357.908... m/s, by hand
            "speed there": (
                math.sqrt(2 * 14.593902937206362 * 9.80665 / (1.225 * 0.01824146545248 * 0.1))
                * math.tan(
                    0.2
                    * math.atan(304.8 / math.sqrt(2 * 14.593902937206362 * 9.80665 / (1.225 * 0.01824146545248 * 0.1)))
                ),
                1e-7,
            ),
        },
        ({"speed": 200.0, "coefficient": 0.5}, {"speed": 400.0, "coefficient": 0.02}),
    ),
    "satellite-orbit": Case(
        {
            "angular momentum about the axis, per mass, in the end": (
                math.sqrt(3.986004418e14 * 7078137.0) * math.cos(math.radians(51.6)),
                1e4,
            ),
        },
        ({"height": 400.0, "inclination": 28.5}, {"height": 1500.0, "inclination": 80.0}),
    ),
    "attitude-control": Case(
        {"largest angular momentum of body and wheel together": (0.0, 1e-12)},
        ({"angle": 150.0, "weight": 0.1}, {"angle": 5.0, "weight": 3.0}),
    ),
    "rocket-ascent": Case(
        {
            "speed at burnout without air": (2200 * math.log(1.5) - 9.80665 * 12, 1e-7),
            "mass after burnout": (40.0, 1e-12),
        },
        ({"propellant": 10.0, "exhaust": 1800.0, "burn": 5.0}, {"propellant": 30.0, "burn": 20.0}),
    ),
}
