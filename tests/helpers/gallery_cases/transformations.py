"""Transformations and rotations."""

import math

from . import Case

ROOT = math.sqrt(3)

CASES = {
    "affine-2d": Case(
        {
            # The far corner is 2 m to the right of the pivot (1, 0.5): 2 (cos 30, -sin 30) from it.
            "x of the far corner, final": (1 + ROOT, 6e-12),
            "y of the far corner, final": (-0.5, 6e-12),
            "RS - SR, row 1, column 2": (-0.5, 1e-12),
            "RS - SR, row 2, column 1": (-0.5, 1e-12),
            "distance between the images under T(d)R and RT(d)": (
                2 * math.sin(math.radians(15)) * math.sqrt(1.25),
                2e-12,
            ),
            "x of the fixed point of rotation and translation": ((1 + 0.5 * (2 + ROOT)) / 2, 2e-12),
            "area ratio under the skew": (1.0, 1e-14),
            "change of a vector under T(d)": (0.0, 1e-16),
        },
        (
            {"angle": 90.0, "stretch": 1.0, "skew": -1.5, "shift_x": 3.0, "shift_y": -2.0},
            {"angle": 170.0, "stretch": 0.3, "skew": 2.0, "shift_x": 0.1, "shift_y": 4.0},
        ),
    ),
    "affine-3d": Case(
        {
            "angle between the two final attitudes": (120.0, 1e-9),
            "commutator of a 1 m translation along y and the x rotation": (math.sqrt(2), 1e-12),
            "commutator of two translations": (0.0, 1e-16),
        },
        ({"about_x": 30.0, "about_z": 30.0}, {"about_x": 160.0, "about_z": 130.0}),
    ),
    "euler-angles": Case(
        {
            "matrix, row 3, column 1": (0.6123724, 5e-8),
            "matrix, row 3, column 2": (0.6123724, 5e-8),
            "matrix, row 3, column 3": (0.5, 1e-12),
            "determinant of (17.36)": (-ROOT / 2, 1e-12),
            "phi recovered": (30.0, 1e-9),
            "theta recovered": (60.0, 1e-9),
            "psi recovered": (45.0, 1e-9),
            "phi + psi at theta = 0": (75.0, 1e-9),
        },
        ({"phi": -120.0, "theta": 150.0, "psi": 100.0}, {"phi": 170.0, "theta": 3.0, "psi": 160.0}),
    ),
    "rodrigues": Case(
        {
            # r = (1, 2, 2)/3, v = (0, 3, 0): v . r = 2, r x v = (-2, 0, 1); at 60 degrees r + sqrt(3)/2 r x v + v/2
            "x of the rotated vector": (1 / 3 - ROOT, 1e-12),
            "y of the rotated vector": (2 / 3 + 1.5, 1e-12),
            "z of the rotated vector": (2 / 3 + ROOT / 2, 1e-12),
            "(17.17) minus (17.16)": (0.0, 3 * 4e-16),
            "q v q* minus (17.16)": (0.0, 3 * 4e-16),
            "SciPy minus (17.16)": (0.0, 3 * 4e-16),
            "recovered angle": (60.0, 1e-9),
            "recovered direction cosine with x": (1 / 3, 1e-12),
        },
        (
            {"axis_x": -2.0, "axis_y": 0.5, "axis_z": 0.1, "angle": 175.0},
            {"axis_x": 0.3, "axis_y": -3.0, "axis_z": 1.0, "angle": 2.0},
            {"axis_x": 0.5, "axis_y": -3.0, "axis_z": 0.8, "angle": 160.0},
        ),
    ),
    "quaternion-rotation": Case(
        {
            "rotation angle": (65.905157, 5e-7),
            "q0": (0.83912106, 5e-9),
            "q1": (0.0, 1e-12),
            "q2": (-0.24325947, 5e-9),
            "q3": (0.48651894, 5e-9),
            "x of q e_x q* for q = (1, 0, 0, last)": (0.0, 1e-16),
            "y of q e_x q* for q = (1, 0, 0, last)": (2.0, 1e-16),
            "spread of (17.16), (17.17), q v q* and SciPy": (0.0, 4e-16),
        },
        (
            {"target_x": -3.0, "target_y": 0.2, "target_z": 0.1, "last": 2.5},
            {"target_x": 2.0, "target_y": -1.0, "target_z": 3.0, "last": -0.5},
        ),
    ),
    "methane": Case(
        {
            "angle between two bonds": (109.4712206, 5e-8),
            "C-H bond length": (math.sqrt(6) / 4, 1e-12),
            "largest of the six H-H distances": (1.0, 1e-12),
        },
        ({"separation": 0.18, "spin": 15.0}, {"separation": 7.0, "spin": 0.2}),
    ),
}
