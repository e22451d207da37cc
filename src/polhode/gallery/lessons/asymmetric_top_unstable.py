"""What asymmetric-top-unstable teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(
            r"\lambda = \omega_3\sqrt{\frac{(I_3 - I_1)(I_2 - I_3)}{I_1 I_2}}",
            "the rate at which a nudge grows; axis 3 has the intermediate moment",
        ),
        Formula(r"\epsilon(t) = \epsilon\cosh\lambda t", "the nudge, while it is small"),
    ),
    steps=(
        TryThis("The nudge grows until the top flips.", run="nudged"),
        TryThis(
            "Ten times smaller: the flip comes 3.3 s later, not less violent.", values={"nudge": 0.01}, run="nudged"
        ),
        TryThis("Tinier still.", run="tiny nudge"),
        TryThis(
            "Three times the spin: it flips three times as soon.", values={"spin": 3.0, "nudge": 0.3}, run="nudged"
        ),
    ),
    references=(
        "Tops report, figure 5",
        "Landau and Lifshitz, section 37",
    ),
)
