"""What feynman-plate teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(
            r"\Omega = \frac{I_3}{I_1}\,\frac{\omega_3}{\cos\theta}", "the wobble, from the spin about the plate's axis"
        ),
        Formula("I_3 = I_1 + I_2", "for any flat body: a plate wobbles twice per revolution"),
    ),
    steps=(
        TryThis("Two wobbles in each revolution.", run="plate", switches=("trailAxis3",)),
        TryThis("At a tilt of 30 degrees, 2.3.", values={"tilt": 30.0}, run="plate", switches=("trailAxis3",)),
        TryThis("A tray wobbles like the plate.", run="tray"),
        TryThis("The code printed in the text gains energy: Euler's method.", run="printed code at 4 ms"),
    ),
    references=("Christian 2011, section 17.5",),
)
