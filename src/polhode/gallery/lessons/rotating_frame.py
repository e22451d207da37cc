"""What rotating-frame teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(
            (
                r"\mathbf{a}' = \mathbf{g} - "
                r"\boldsymbol{\Omega}\times(\boldsymbol{\Omega}\times\mathbf{r}) - "
                r"2\,\boldsymbol{\Omega}\times\mathbf{v}'"
            ),
            "what someone on the platform sees: centrifugal and Coriolis accelerations",
        ),
        Formula(r"\frac{{v'}^2}{2} + g z - \frac{\Omega^2\rho^2}{2} = \text{const}", "the energy on the platform"),
    ),
    steps=(
        TryThis("Thrown straight up on the platform, seen from the ground: a parabola in a fixed plane."),
        TryThis("On a slow platform the ball lands almost where it was thrown.", values={"rate": 0.05}),
        TryThis("Three times as fast: it lands far away from the thrower.", values={"rate": 3.0}),
        TryThis("Close to the axis there is little to drive it outward.", values={"radius": 0.1}),
    ),
    references=(
        "Christian 2011, project 17.1",
        "Landau and Lifshitz, section 39",
    ),
)
