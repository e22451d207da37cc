"""What methane teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(r"\cos\alpha = -\frac{1}{3}", "the angle between two bonds: 109.47 degrees"),
        Formula(r"b = \frac{\sqrt{6}}{4}\,a", "a bond, from the distance a between two hydrogens"),
    ),
    steps=(
        TryThis(
            ("Follow one body axis: its tip moves on a circle, since the molecule spins like a ball."),
            switches=("trailAxis1",),
        ),
        TryThis("Ten times the spin: the motion is the same, only faster.", values={"spin": 20.0}),
        TryThis("Ten times the size: angles stay, and so does the period.", values={"separation": 10.0}),
    ),
    references=("Christian 2011, problem 17.1",),
)
