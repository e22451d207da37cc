"""What hydra-6dof teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(
            r"\mathbf{x}_i = \mathbf{x} + R\,\mathbf{X}_i", "the position of each node, from six degrees of freedom"
        ),
        Formula(
            r"\mathbf{v}_i = \mathbf{v} + \boldsymbol{\omega}\times(\mathbf{x}_i - \mathbf{x})", "and its velocity"
        ),
    ),
    steps=(
        TryThis(
            "The block is thrown; the path of one corner shows translation and rotation.",
            run="thrown",
            switches=("trailPoint",),
        ),
        TryThis(
            "RK2 with a radian per step: its angle is off by 14 degrees in each revolution.",
            values={"turn": 1.0},
            run="RK2",
        ),
        TryThis("RK4 with the same step: a fifth of a degree.", values={"turn": 1.0}, run="RK4"),
    ),
    references=("Hydra 2017, chapter 4",),
)
