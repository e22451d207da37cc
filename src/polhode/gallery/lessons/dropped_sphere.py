"""What dropped-sphere teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(
            r"\Delta x \approx \frac{1}{3}\,\Omega\,g\,t^3\cos\lambda",
            "how far to the east it falls, at the latitude λ",
        ),
    ),
    steps=(
        TryThis("At the equator: 6.4 m in 30 s."),
        TryThis("At 60 degrees north: half as much.", values={"latitude": 60.0}),
        TryThis("Near the pole: less than a tenth.", values={"latitude": 85.0}),
    ),
    references=(
        "NASA/TM-2015-218675, check case 1",
        "Landau and Lifshitz, section 39",
    ),
)
