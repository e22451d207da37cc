"""Turning frames, drift, meshes and axles; and bodies of everyday life."""

import math

from . import Case


def club():
    """Center and transverse moment of the juggling club: knob, handle, belly and cap, each moved to the center."""
    r, (a, d), (b, h), c = 0.018, (0.011, 0.20), (0.045, 0.19), 0.07
    wood, foam = 700.0, 190.0
    s = a * a + a * b + b * b
    frustum = foam * math.pi * h * s / 3
    axial = 3 * frustum * (a**4 + a**3 * b + a * a * b * b + a * b**3 + b**4) / (10 * s)
    spread = 3 * h * h * (a**4 + 4 * a**3 * b + 10 * a * a * b * b + 4 * a * b**3 + b**4) / (80 * s * s)
    ball, rod, cap = wood * 4 * math.pi * r**3 / 3, wood * math.pi * a * a * d, foam * 2 * math.pi * b * b * c / 3
    parts = (  # mass, height of its own center, moment about that
        (ball, 0.0, 2 * ball * r * r / 5),
        (rod, r + d / 2, rod * (3 * a * a + d * d) / 12),
        (frustum, r + d + h * (a * a + 2 * a * b + 3 * b * b) / (4 * s), axial / 2 + frustum * spread),
        (cap, r + d + h + 3 * c / 8, cap * (b * b / 5 + 19 * c * c / 320)),
    )
    mass = math.fsum(m for m, _, _ in parts)
    center = math.fsum(m * z for m, z, _ in parts) / mass
    return center, math.fsum(own + m * (z - center) ** 2 for m, z, own in parts)


CENTER, TRANSVERSE = club()
PHONE = (0.07**2 + 0.008**2, 0.15**2 + 0.008**2, 0.15**2 + 0.07**2)

CASES = {
    "rotating-frame": Case(
        {
            "x of the landing point on the platform": (2.7357629, 6e-8),
            "y of the landing point on the platform": (-3.6266706, 6e-8),
            "energy on the platform": (48.0, 1e-11),
        },
        ({"radius": 8.0, "speed": 25.0, "rate": 3.0}, {"radius": 0.2, "speed": 2.0, "rate": 0.1}),
    ),
    "drift": Case(
        {
            "drift of the matrix": (1.387057e-4, 6e-11),
            "drift of the quaternion, not renormalized": (2.169458e-6, 6e-13),
            "norm error of the renormalized quaternion": (0.0, 1e-15),
        },
        ({"turn": 0.5, "steps": 20000.0}, {"turn": 0.02, "steps": 1234.0}),
    ),
    "hydra-6dof": Case(
        {
            "RK2: angle error per revolution": (6.4196e-2, 6e-7),
            # 25 pi/1 (2 atan(0.25 (1 - 0.25^2/6)/(1 - 0.25^2/2 + 0.25^4/24)) - 0.5): the table has -2.0000e-4
            "RK4: angle error per revolution": (-1.99984e-4, 6e-10),
            "largest displacement of a node at rest": (0.0, 0.0),
        },
        ({"turn": 1.5, "spin": 20.0}, {"turn": 0.05, "spin": 0.5}),
    ),
    "fixed-axle": Case(
        {
            "bearing torque along the rotating x axis": (-4.3522078, 6e-8),
            "|L| in world axes": (1.3448410, 6e-8),
            "|L| in body axes": (1.3448410, 6e-8),
            "angle between L and the shaft": (40.33421, 6e-6),
            "largest angle between ω and the shaft, free box with that torque": (0.0, 1e-12),
        },
        ({"tilt": 70.0, "rate": 30.0}, {"tilt": 5.0, "rate": 0.5}),
    ),
    "juggling-club": Case(
        {
            "center of mass, from the center of the knob": (CENTER, 1e-12 * CENTER),
            "transverse moment of inertia": (TRANSVERSE, 1e-12 * TRANSVERSE),
            "revolutions until the catch": (2.0, 1e-9),
        },
        ({"height": 4.0, "turns": 5.0, "across": 5.0}, {"height": 0.4, "turns": 1.5, "across": 0.2}),
    ),
    "falling-phone": Case(
        {
            "growth rate about the intermediate axis, per unit spin": (0.7910580, 6e-8),
            "wobble rate about the long axis, per unit spin": (
                math.sqrt((PHONE[1] - PHONE[0]) * (PHONE[2] - PHONE[0]) / (PHONE[1] * PHONE[2])),
                3e-8,
            ),
        },
        ({"spin": 40.0, "nudge": 0.2, "height": 4.0}, {"spin": 5.0, "nudge": 0.005, "height": 0.5}),
    ),
    "cubesat": Case(
        {"pitch libration over orbital rate, small-amplitude limit": (1.5881728, 6e-8)},
        (
            {"amplitude": 80.0, "altitude": 36000.0, "panels": 1.0},
            {"amplitude": 0.1, "altitude": 200.0, "panels": 0.2},
        ),
    ),
}
