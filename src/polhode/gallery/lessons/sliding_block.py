"""What sliding-block teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(r"\tan\theta_0 = \mu", "the angle at which it starts to slide"),
        Formula(r"a = g\,(\sin\theta - \mu\cos\theta)", "then it accelerates"),
    ),
    steps=(
        TryThis("At 20 degrees it slides.", run="the block"),
        TryThis("At 16 degrees it stays: tan 16° is 0.287, less than 0.3.", values={"angle": 16.0}, run="the block"),
        TryThis("At 17 degrees it starts: tan 17° is 0.306.", values={"angle": 17.0}, run="the block"),
        TryThis("A slippery slope.", values={"friction": 0.05}, run="the block"),
    ),
    references=(
        "Moreau 1988",
        "Stronge 2000",
    ),
)
