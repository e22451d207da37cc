"""What juggling-club teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(r"T = \sqrt{\frac{8h}{g}}", "the time in the air, for a throw of height h"),
        Formula(r"\omega = \frac{2\pi n}{T}", "the spin for n turns"),
    ),
    steps=(
        TryThis("Two turns: the handle comes back.", switches=("trailPoint",)),
        TryThis("One turn and a half: the handle points away.", values={"turns": 1.5}, switches=("trailPoint",)),
        TryThis("A high throw of three turns.", values={"height": 3.0, "turns": 3.0}, switches=("trailPoint",)),
    ),
    references=("Hydra 2017, chapter 5",),
)
