"""What rodrigues teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(
            (
                r"\mathbf{v}' = \mathbf{v}\cos\alpha + \mathbf{r}\times\mathbf{v}\,\sin\alpha + "
                r"\mathbf{r}\,(\mathbf{r}\cdot\mathbf{v})(1 - \cos\alpha)"
            ),
            "a vector rotated by α about the unit vector r",
        ),
    ),
    steps=(
        TryThis("Sixty degrees about (1, 2, 2)."),
        TryThis(
            "A third of a turn about (1, 1, 1) exchanges the axes: x goes to y, y to z, z to x.",
            values={"axis_x": 1.0, "axis_y": 1.0, "axis_z": 1.0, "angle": 120.0},
        ),
        TryThis("A quarter turn about z alone.", values={"axis_x": 0.0, "axis_y": 0.0, "axis_z": 1.0, "angle": 90.0}),
    ),
    references=("Christian 2011, section 17.3.2",),
)
