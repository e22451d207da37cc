"""What fixed-axle teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(
            r"\boldsymbol{\tau} = \boldsymbol{\omega}\times\mathbf{L}",
            "the torque of the bearings, which turns with the box",
        ),
        Formula(
            r"\tau = \lvert I_3 - I_2\rvert\,\omega^2\sin\alpha\cos\alpha",
            "its size, for a box tilted by α about its first axis",
        ),
    ),
    steps=(
        TryThis("L is not along the shaft, and goes round it.", switches=("trailL",)),
        TryThis("At 45 degrees the bearings carry the largest torque.", values={"tilt": 45.0}),
        TryThis("Twice the rate: four times the torque.", values={"rate": 10.0}),
        TryThis("Take the bearings away: the angular velocity leaves the shaft at once.", run="without it"),
    ),
    references=("Christian 2011, section 17.4, exercise 17.11",),
)
