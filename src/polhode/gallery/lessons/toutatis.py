"""What toutatis teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(
            r"I_1\dot\omega_1 = (I_2 - I_3)\,\omega_2\omega_3",
            "Euler's equation of a free body about axis 1; the others follow by exchange of the axes",
        ),
        Formula(r"\mathbf{L} = R\,I\,R^T\boldsymbol{\omega}", "constant in space, where no torque acts"),
    ),
    steps=(
        TryThis("Forty days of tumbling.", run="forty days"),
        TryThis(
            "Half a percent more spin: the attitude after forty days is another.",
            values={"spin_change": 0.005},
            run="forty days",
        ),
        TryThis("A largest moment 2 percent larger.", values={"moment_change": 0.02}, run="forty days"),
    ),
    references=(
        "Hudson and Ostro 1995",
        "Takahashi et al. 2013",
    ),
)
