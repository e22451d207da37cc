"""Forces and torques: the blocks of [Baraff 1997, section 5], the exercise of [Slides], thirty frames per second."""

import math

from . import Case

EXACT = 1e-12
BLOCKS = {"I_xx": 6.5, "I_yy": 5.0, "I_zz": 2.5}

CASES = {
    "block-inertia": Case(
        {f"{entry} integrated over the mesh": (value, 1e-11) for entry, value in BLOCKS.items()}
        | {f"{entry} from rotation about {entry[-1]}": (value, 1e-10) for entry, value in BLOCKS.items()},
        (
            {"x": 2.0, "y": 2.0, "z": 2.0, "density": 1000.0},
            {"x": 5.0, "y": 0.2, "z": 1.0, "density": 0.1},
        ),
    ),
    "uniform-field": Case(
        {
            # 1e-14 M g a with M = 213.6 kg, a = 0.92 m
            "total torque about the center of mass": (0.0, 1.9e-11),
            "distance fallen in 1 s": (9.80665 / 2, EXACT),
        },
        ({"tilt": -135.0, "field": 90.0, "g": 1.62}, {"tilt": 180.0, "field": -179.0, "g": 30.0}),
    ),
    "rotation-free": Case(
        {"acceleration": (3 / 24, EXACT), "total torque": (0.0, EXACT)},
        ({"force": 1000.0, "mass": 1.0, "arm": 0.2}, {"force": 0.1, "mass": 1000.0, "arm": 1.7}),
    ),
    "translation-free": Case(
        {"initial torque about y": (12.0, 1e-9), "initial angular acceleration": (12 / 208, 1e-10)},
        ({"height": -2.0}, {"force": 70.0, "height": 0.3, "mass": 5.0}),
    ),
    "force-vs-torque": Case(
        {
            "translational energy, pushed off the center": (12.5, 1e-9),
            "translational energy, pushed at the center": (12.5, 1e-9),
            "rotation angle": (1.0478187, 5e-8),
            "extra energy": (1.7326716, 5e-8),
            "work of the off-center force": (14.2326716, 5e-8),
            "path length of the point of application": (17.346, 5e-4),
            "time at which the rotation first stops": (6.2417455, 5e-8),
            "extra energy at that time": (0.0, EXACT),
        },
        (
            {"force": 10.0, "arm": 2.0, "mass": 0.5, "duration": 30.0},
            {"force": 0.1, "arm": 0.25, "mass": 40.0, "duration": 1.0},
        ),
    ),
    "pushed-sphere": Case(
        # h = 0.1: h^2 (4 cos 30, 2 - g, 0), 5 h^2, 25 h^4
        {
            "x after two steps": (0.02 * math.sqrt(3), 1e-16),
            "y after two steps": (0.01 * (2 - 9.80665), 1e-15),
            "R₁₂ after two steps": (0.05, 1e-15),
            "R₂₁ after two steps": (-0.05, 1e-15),
            "det R - 1 after two steps": (0.0025, 1e-14),
        },
        ({"step": 0.005, "push": 1.0, "angle": 5.0}, {"step": 0.2, "push": 8.0, "angle": 85.0, "g": 0.0}),
    ),
    "thirty-frames": Case(
        {
            "x in the last frame": (24.0404277, 5e-8),
            "z in the last frame": (-157.1707068, 5e-8),
            "frames after the start": (300.0, 0.0),
            "time of the last frame": (10.0, 0.0),
            "iterations of the printed loop": (301.0, 0.0),
            "end time of the printed loop": (10.0333, 5e-5),
        },
        ({"mass": 0.2, "drag": 5.0, "wind": -30.0, "spin": 0.0}, {"mass": 20.0, "drag": 0.0, "wind": 10.0}),
    ),
}
