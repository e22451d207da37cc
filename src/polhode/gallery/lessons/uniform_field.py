"""What uniform-field teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(
            (
                r"\sum_i m_i\,\mathbf{r}_i\times\mathbf{g} = \left(\sum_i "
                r"m_i\mathbf{r}_i\right)\times\mathbf{g} = 0"
            ),
            "the torques of all weights about the center of mass",
        ),
    ),
    steps=(
        TryThis("It falls and does not start to turn."),
        TryThis("Another tilt: still no torque.", values={"tilt": 150.0}),
        TryThis("A field that points up: it falls upward, without turning.", values={"field": 180.0}),
        TryThis("On the Moon it falls more slowly.", values={"g": 1.62}),
    ),
    references=("Baraff 1997, section 5.2",),
)
