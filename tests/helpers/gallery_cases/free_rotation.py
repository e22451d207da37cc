"""The models of free rotation."""

from . import Case

CASES = {
    "dzhanibekov": Case(
        {
            "time of one flip": (3.0284221, 6e-8),
            "full period": (6.0568442, 6e-8),
            "first reversal": (1.1659600, 6e-8),
            "lambda": (3.8458152, 5e-8),
            "k^2": (0.99985999, 5e-9),
        },
        (
            {"spin": 3.0, "nudge": 0.3},
            {"spin": 20.0, "nudge": 0.01},
            {"spin": 1.0, "nudge": 0.5},
            {"spin": 8.786757829021038, "nudge": 0.015786768040962143},  # rounding counts
        ),
    ),
    "symmetric-top": Case(
        {
            "precession of ω in the body": (3.0, 5e-7),
            "precession of the axis about L": (4.1231056, 5e-7),
            "spin relative to the precessing frame": (-3.0, 5e-7),
            "tilt of the axis from L": (14.036243, 5e-6),
            "half-angle of the body cone": (45.0, 5e-6),
            "half-angle of the space cone": (30.963757, 5e-6),
            "radius of the error spiral": (1.4761e-5, 5e-10),
            # By hand 4.78e-6, with the text's R of a quaternion that is not renormalized in the stages: see
            # tests/gallery/test_printed_programs.py.  With that of q/|q| it is 1 % less.
            "final attitude error": (4.729e-6, 5e-10),
            "order of the attitude error": (4.0, 0.05),
        },
        (
            {"wobble": 0.2, "spin": 1.5, "axial": 4.0, "step": 0.04},
            {"wobble": 1.5, "spin": 0.5, "axial": 10.0},
            {"wobble": 1.5, "spin": 1.5, "axial": 10.0, "step": 0.04},
            {"wobble": 0.2, "spin": 0.5, "axial": 4.0, "step": 0.02},
        ),
    ),
    "asymmetric-top-stable": Case(
        {
            "period, spun about the largest-moment axis": (3.6260886, 5e-8),
            "maximum rate about axis 1, spun about the largest-moment axis": (0.1154700, 6e-8),
        },
        ({"spin": 0.5, "nudge": 0.4}, {"spin": 3.0, "nudge": 0.01}),
    ),
    "asymmetric-top-unstable": Case(
        {
            "period after the nudge": (15.6519306, 5e-8),
            "first zero of ω₃": (3.91298265, 5e-9),
            "growth rate of a tiny nudge": (2**-0.5, 5e-8),
        },
        ({"spin": 0.5, "nudge": 0.4}, {"spin": 3.0, "nudge": 0.01}),
    ),
    "feynman-plate": Case(
        {
            "wobble-to-spin ratio": (2.030853224, 5e-10),
            "attitude error, leapfrog at 4 ms": (1.49e-3, 5e-6),
            "attitude error, leapfrog at 2 ms": (3.72e-4, 5e-7),
            "attitude error, leapfrog at 1 ms": (9.28e-5, 5e-8),
            "attitude error, printed code at 4 ms": (0.117, 5e-4),
            "attitude error, printed code at 2 ms": (0.052, 5e-4),
            "attitude error, printed code at 1 ms": (0.025, 5e-4),
            "relative energy gain, printed code at 4 ms": (0.035, 5e-4),
            "wobble-to-spin ratio of a tray, 1 degree": (2.0, 5e-4),
        },
        ({"tilt": 1.0}, {"spin": 20.0, "tilt": 30.0}),
    ),
    "thin-rod": Case(
        {
            "precession of ω about the rod": (-4.9255583, 5e-8),
            "precession of the rod about L": (3.0009235, 5e-8),
        },
        ({"length": 2.0, "radius": 0.01, "tumble": 1.0, "spin": 20.0}, {"length": 0.5, "radius": 0.1, "tumble": 10.0}),
    ),
    "free-rotation": Case(
        {"attitude error of the plate": (0.0, 1e-10), "wobble-to-spin ratio of the plate": (2.030853224, 5e-10)},
        ({"spin": 20.0, "tilt": 30.0, "nudge": 0.05}, {"spin": 5.0, "tilt": 1.0, "nudge": 1.0}),
    ),
}
