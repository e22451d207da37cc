"""What asymmetric-top-stable teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(
            r"I_1\dot\omega_1 = (I_2 - I_3)\,\omega_2\omega_3",
            "Euler's equation of a free body about axis 1; the others follow by exchange of the axes",
        ),
        Formula(
            r"\Omega = \omega\sqrt{\frac{(I - I_a)(I - I_b)}{I_a I_b}}",
            "the rate of a small wobble about the axis of moment I; real if I is the largest or the smallest",
        ),
    ),
    steps=(
        TryThis("About the axis of the largest moment: ω circles it.", run="spun about the largest-moment axis"),
        TryThis(
            "About that of the smallest moment: slower circles, just as stable.",
            run="spun about the smallest-moment axis",
        ),
        TryThis(
            "A nudge four times as large: a larger curve, still closed.",
            values={"nudge": 0.4},
            run="spun about the largest-moment axis",
        ),
        TryThis(
            "Poinsot: the ellipsoid rolls on the invariable plane.",
            run="spun about the largest-moment axis",
            switches=("poinsot",),
        ),
    ),
    references=(
        "Tops report, figure 4",
        "Landau and Lifshitz, section 37",
    ),
)
