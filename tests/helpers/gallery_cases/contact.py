"""The models of impact and contact."""

import math

from . import Case

CASES = {
    "sliding-block": Case(
        {
            "acceleration": (9.80665 * math.sin(math.radians(20.0) - math.atan(0.3)) * math.sqrt(1.09), 1e-10),
            "friction over normal force": (0.3, 1e-10),
            "displacement 0.1° below the angle of friction": (0.0, 1e-12),
        },
        ({"angle": 45.0, "friction": 1.2}, {"angle": 5.0, "friction": 0.1}, {"angle": 0.0, "friction": 0.01}),
    ),
}
