"""What eulers-disk teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(Formula(r"\Omega^2\sin\theta = \frac{4g}{a}", "the flatter, the faster"),),
    steps=(
        TryThis("On a rough floor: the rate grows until the disk lies down.", run="rough floor"),
        TryThis("Without resistance it would roll on for ever at the same angle.", run="steady"),
        TryThis("More resistance: it is over sooner.", values={"resistance": 0.01}, run="rough floor"),
        TryThis("Started flat, it goes round faster.", values={"tilt": 10.0}, run="rough floor"),
    ),
    references=("Moffatt 2000",),
)
