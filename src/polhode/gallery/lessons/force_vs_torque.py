"""What force-vs-torque teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(r"W = \mathbf{F}\cdot\Delta\mathbf{r}_P", "work: force times displacement of its point of application"),
        Formula(
            r"E_{\mathrm{rot}} = \mathbf{F}\cdot(R\,\mathbf{r} - \mathbf{r}) \le F d",
            "the extra energy goes into the rotation, and comes back",
        ),
    ),
    steps=(
        TryThis(
            ("Pushed at its end, the block swings about the direction of the force while its center moves as before."),
            run="off the center",
        ),
        TryThis("Pushed at its center, it only moves.", run="at the center"),
        TryThis(
            "A short arm: it swings more slowly, and takes less extra energy.",
            values={"arm": 0.25},
            run="off the center",
        ),
    ),
    references=("Baraff 1997, section 5.5",),
)
