"""What quaternion-rotation teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(
            r"q = \left(\cos\frac{\alpha}{2},\ \mathbf{r}\sin\frac{\alpha}{2}\right)",
            "the quaternion of a rotation by α about the unit vector r",
        ),
        Formula(r"\mathbf{v}' = q\,\mathbf{v}\,q^*", "it rotates a vector"),
        Formula(r"\alpha = 2\arctan\frac{\lvert\mathbf{q}\rvert}{q_0}", "and gives the angle without losing digits"),
    ),
    steps=(
        TryThis("The shortest rotation points the long side at (1, 2, 1)."),
        TryThis(
            "Straight up: a quarter turn about the y axis.", values={"target_x": 0.0, "target_y": 0.0, "target_z": 1.0}
        ),
        TryThis(
            "A target almost behind: nearly half a turn, 178 degrees.",
            values={"target_x": -3.0, "target_y": 0.0, "target_z": 0.1},
        ),
    ),
    references=("Christian 2011, section 17.3.3",),
)
