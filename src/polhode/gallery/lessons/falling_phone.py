"""What falling-phone teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(
            r"\lambda = \omega\sqrt{\frac{(I_2 - I_1)(I_3 - I_2)}{I_1 I_3}} \approx 0.79\,\omega",
            "the growth of a nudge about the intermediate axis",
        ),
        Formula(r"t = \sqrt{\frac{2h}{g}}", "the time there is"),
    ),
    steps=(
        TryThis("From 1.5 m at three revolutions per second: half a twist.", run="intermediate axis"),
        TryThis(
            "From half a meter it hits the floor in the middle of the flip.",
            values={"height": 0.5},
            run="intermediate axis",
        ),
        TryThis("About the long axis it only wobbles.", run="long axis"),
        TryThis("About the short axis, too.", run="short axis"),
    ),
    references=(
        "Tops report, section 5",
        "Landau and Lifshitz, section 37",
    ),
)
