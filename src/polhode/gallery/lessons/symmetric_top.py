"""What symmetric-top teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(
            r"\Omega = \left(\frac{I_3}{I_1} - 1\right)\omega_3", "how fast ω goes round the symmetry axis, in the body"
        ),
        Formula(r"\dot\varphi = \frac{L}{I_1}", "how fast the axis goes round L, in space"),
    ),
    steps=(
        TryThis(
            "The tip of ω draws a circle on the body and another in space.",
            switches=(
                "trailOmega",
                "trailAxis3",
            ),
        ),
        TryThis("Moments 2, 2 and 4: a flat disk, the flattest real body.", values={"axial": 4.0}),
        TryThis("Little wobble: narrow cones.", values={"wobble": 0.2}),
        TryThis("Much wobble: wide cones.", values={"wobble": 1.5}),
    ),
    references=(
        "Tops report, section 4",
        "Landau and Lifshitz, section 33",
    ),
)
