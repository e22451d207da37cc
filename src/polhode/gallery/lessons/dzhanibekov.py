"""What dzhanibekov teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(
            r"\lambda = \omega_2\sqrt{\frac{(I_2 - I_1)(I_3 - I_2)}{I_1 I_3}}",
            "the rate at which a nudge of a spin about the intermediate axis 2 grows",
        ),
        Formula(
            r"2E = \sum_i I_i\omega_i^2, \quad L^2 = \sum_i I_i^2\omega_i^2",
            "both are conserved: ω stays on the curve where two ellipsoids meet",
        ),
    ),
    steps=(
        TryThis("The box flips over, and back."),
        TryThis("A nudge ten times smaller only delays the flip.", values={"nudge": 0.01}),
        TryThis("The T-handle does the same.", run="t-handle"),
        TryThis(
            "Poinsot's ellipsoid rolls on its plane, and the polhode runs along the separatrix.", switches=("poinsot",)
        ),
    ),
    references=(
        "Landau and Lifshitz, section 37",
        "Christian 2011, problem 17.6",
    ),
)
