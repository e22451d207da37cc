"""What rocket-top teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(
            r"\boldsymbol{\tau} = T\,\mathbf{z}\times\mathbf{x}_3",
            "the torque of the thrusters, normal to z and to the axle",
        ),
        Formula(r"E = E_{\mathrm{rot}} + T\cos\theta", "is conserved, as for a weight"),
    ),
    steps=(
        TryThis(
            "L goes round z, and the axle round L.",
            switches=(
                "trailL",
                "trailAxis3",
            ),
        ),
        TryThis("A fast top precesses slowly and hardly nutates.", values={"spin": 12.0}, switches=("trailAxis3",)),
        TryThis("Three times the thrust.", values={"torque": 3.0}, switches=("trailAxis3",)),
        TryThis("Started below the horizontal.", values={"theta": 120.0}, switches=("trailAxis3",)),
    ),
    references=(
        "Tops report, section 7",
        "Goldstein 1980, section 5.7",
    ),
)
