"""What cubesat teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(
            r"\boldsymbol{\tau} = \frac{3 G M}{r^3}\,\mathbf{n}\times I\mathbf{n}",
            "the gravity gradient; n points to the Earth's center",
        ),
        Formula(
            r"\omega_{\mathrm{lib}} = n\sqrt{3\,\frac{I_1 - I_3}{I_2}}",
            "small librations: 1.588 per orbit for this shape",
        ),
    ),
    steps=(
        TryThis("Released at 25 degrees, it swings about the vertical."),
        TryThis("One degree: the period of small angles.", values={"amplitude": 1.0}),
        TryThis("At 80 degrees it is close to tumbling, and slow.", values={"amplitude": 80.0}),
        TryThis("Far out, at 36,000 km: as many swings per orbit.", values={"altitude": 36000.0}),
    ),
    references=(
        "Hughes 1986",
        "Wertz 1978",
    ),
)
