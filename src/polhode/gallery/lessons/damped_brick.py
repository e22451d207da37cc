"""What damped-brick teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(
            r"M_x = C_{lp}\,\frac{p\,b}{2V}\,\frac{\rho V^2}{2}\,S\,b", "the damping moment about x, against the rate p"
        ),
    ),
    steps=(
        TryThis("The air stops the tumbling.", run="tumbling"),
        TryThis("Twice the damping.", values={"damping": 2.0}, run="tumbling"),
        TryThis("Hardly any damping: it tumbles on.", values={"damping": 0.01}, run="tumbling"),
        TryThis("From 40 km, where the air is thin.", values={"height": 40000.0}, run="tumbling"),
    ),
    references=(
        "NASA/TM-2015-218675, check case 3",
        "Stevens 2016",
    ),
)
