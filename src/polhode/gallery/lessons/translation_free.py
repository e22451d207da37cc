"""What translation-free teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(r"\mathbf{F}_1 + \mathbf{F}_2 = 0", "the center of mass stays at rest"),
        Formula(r"\ddot\theta = \frac{6 f}{I_2}", "at the start; I₂ is 208 kg m² for 48 kg"),
    ),
    steps=(
        TryThis("The block turns like a pendulum about the direction of the forces."),
        TryThis(
            "The second point at (3, 0, -2): the same torque at the start, another swing.", values={"height": -2.0}
        ),
        TryThis("Four times the force: everything happens twice as fast.", values={"force": 8.0}),
    ),
    references=("Baraff 1997, section 5.4",),
)
