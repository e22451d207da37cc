"""What gyroscope-analytic teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(
            r"\dot u^2 = (1 - u^2)(\alpha - \beta u) - (b - a u)^2", "u = cos θ moves between two roots of a cubic"
        ),
        Formula(r"\dot\varphi = \frac{b - a u}{1 - u^2}", "where this changes its sign, the path has loops"),
    ),
    steps=(
        TryThis("Pushed backward: loops.", run="chosen", switches=("trailAxis3",)),
        TryThis("Released: cusps.", run="released", switches=("trailAxis3",)),
        TryThis("Pushed forward a little: waves.", values={"precession": 0.15}, run="chosen", switches=("trailAxis3",)),
        TryThis(
            "At 0.26 rad/s, the steady rate, it hardly nutates.",
            values={"precession": 0.26},
            run="chosen",
            switches=("trailAxis3",),
        ),
    ),
    references=(
        "Goldstein 1980, section 5.7",
        "Christian 2011, problem 17.2",
    ),
)
