"""What gyroscope-euler-angles teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(
            r"\dot\varphi = \frac{\omega_1\sin\psi + \omega_2\cos\psi}{\sin\theta}", "what fails near the vertical"
        ),
        Formula(r"\dot q = \frac{1}{2}\,q\,\boldsymbol{\omega}", "what does not"),
    ),
    steps=(
        TryThis("With quaternions, the near miss is nothing special.", run="quaternions"),
        TryThis("With Euler angles, the same step: the error stays.", run="Euler angles"),
        TryThis("A miss ten times as wide: the error is much smaller.", values={"miss": 0.1}, run="Euler angles"),
        TryThis("Exactly through the vertical the angles are fine.", run="Euler angles, exactly through the vertical"),
    ),
    references=("Christian 2011, project 17.2",),
)
