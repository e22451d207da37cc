"""What tumbling-brick teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(
            r"I\dot{\boldsymbol{\omega}} = -\boldsymbol{\omega}\times I\boldsymbol{\omega}",
            "free rotation: gravity exerts no torque about the center of mass",
        ),
    ),
    steps=(
        TryThis("It tumbles as it falls.", run="in the fall"),
        TryThis("Alone in space: the same rotation.", run="free rotation"),
        TryThis(
            "Spun about y, its intermediate axis, with a small nudge: it flips.",
            values={"roll": 1.0, "pitch": 100.0, "yaw": 0.0},
            run="in the fall",
        ),
    ),
    references=("NASA/TM-2015-218675, check case 2",),
)
