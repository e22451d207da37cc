"""What free-rotation teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(
            r"\ddot q = \frac{1}{2}\,q\,\dot{\boldsymbol{\omega}} - \frac{\omega^2}{4}\,q",
            "the acceleration of the quaternion",
        ),
        Formula(
            r"I_1\dot\omega_1 = (I_2 - I_3)\,\omega_2\omega_3",
            "Euler's equation of a free body about axis 1; the others follow by exchange of the axes",
        ),
    ),
    steps=(
        TryThis("About axis 1: a nudge only makes it wobble.", run="block about axis 1"),
        TryThis("About axis 2, the intermediate one: it flips over and comes back.", run="block about axis 2"),
        TryThis("Exactly about axis 2, without a nudge: it spins steadily.", run="block exactly about axis 2"),
        TryThis("About axis 3: stable again.", run="block about axis 3"),
    ),
    references=("Christian 2011, section 17.6",),
)
