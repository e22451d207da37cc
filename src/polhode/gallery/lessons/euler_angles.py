"""What euler-angles teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(
            r"R = R_3(\varphi)\,R_1(\theta)\,R_3(\psi)",
            "the attitude from three rotations, each about an axis of the body",
        ),
        Formula(r"\omega_3 = \dot\psi + \dot\varphi\cos\theta", "at θ = 0 only the sum of the two rates matters"),
        Formula(
            r"\dot\varphi = \frac{\omega_1\sin\psi + \omega_2\cos\psi}{\sin\theta}",
            "the rates of the angles grow without bound near the vertical",
        ),
    ),
    steps=(
        TryThis("One rotation per second: φ about axis 3, θ about axis 1, ψ about axis 3."),
        TryThis("Almost no tilt: φ and ψ turn about nearly the same line.", values={"theta": 2.0}),
        TryThis("Without any tilt, the attitude determines only the sum of φ and ψ.", run="without tilt"),
        TryThis(
            ("A tilt of 90 degrees: the two lines are perpendicular, as far from singular as possible."),
            values={"theta": 90.0},
        ),
    ),
    references=(
        "Christian 2011, section 17.3.1",
        "Goldstein 1980, section 4.4",
    ),
)
