"""What cannonball teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(
            (
                r"m\dot{\mathbf{v}} = m\mathbf{g} - \frac{1}{2}\rho\,C_D "
                r"A\,\lvert\mathbf{v}\rvert\,\mathbf{v}"
            ),
            "gravity and drag; v relative to the air",
        ),
    ),
    steps=(
        TryThis("Eastward at 45 degrees.", run="eastward, with drag"),
        TryThis("Without air it flies much farther.", run="eastward, without air"),
        TryThis("Ten times the drag.", values={"coefficient": 1.0}, run="eastward, with drag"),
        TryThis("Straight up, in uniform air.", run="straight up, in uniform air"),
    ),
    references=(
        "NASA/TM-2015-218675, check case 9",
        "US76",
    ),
)
