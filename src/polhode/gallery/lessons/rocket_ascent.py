"""What rocket-ascent teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(
            r"\Delta v = u\ln\frac{m_0}{m_1} - g\,t_b", "the rocket equation, less what gravity takes while it burns"
        ),
    ),
    steps=(
        TryThis("In the air: drag takes its share near the speed of sound.", run="in the air"),
        TryThis("Without air.", run="without air"),
        TryThis("Half of its mass is propellant.", values={"propellant": 30.0}, run="in the air"),
        TryThis(
            "Burnt in 4 s: faster, since gravity has less time to slow it.", values={"burn": 4.0}, run="in the air"
        ),
    ),
    references=(
        "Tsiolkovsky 1903",
        "Cornelisse et al. 1979",
    ),
)
