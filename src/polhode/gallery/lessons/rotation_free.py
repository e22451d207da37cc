"""What rotation-free teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(r"\sum_i\mathbf{r}_i\times\mathbf{F}_i = 0", "the torques of the two forces cancel"),
        Formula(r"a = \frac{2F}{M}", "the block rises as if both acted at its center of mass"),
    ),
    steps=(
        TryThis("Two forces, one on each side: it rises 8 m without turning."),
        TryThis("Four times the force: the same 8 m in half the time.", values={"force": 12.0}),
        TryThis("Close to the center or far from it: the motion is the same.", values={"arm": 0.2}),
    ),
    references=("Baraff 1997, section 5.3",),
)
