"""What gyroscope teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(
            r"I_s\cos\theta\,\dot\varphi^2 - I_3\omega_3\,\dot\varphi + M g l = 0",
            "steady precession: two rates, slow and fast",
        ),
        Formula(
            r"\omega_3 \ge \frac{2}{I_3}\sqrt{I_s M g l\cos\theta}", "the least spin, at which the two rates merge"
        ),
    ),
    steps=(
        TryThis("Slow precession: the torque of the weight turns L sideways.", run="slow", switches=("trailL",)),
        TryThis("The other root: nearly free rotation, with a large force at the pivot.", run="fast"),
        TryThis(
            "Released with spin only: it falls, precesses and rises again, with cusps.",
            run="released",
            switches=("trailAxis3",),
        ),
        TryThis("With less spin it falls farther.", values={"spin": 6.0}, run="released", switches=("trailAxis3",)),
    ),
    references=(
        "Christian 2011, section 17.6, eq. 17.51",
        "Goldstein 1980, section 5.7",
    ),
)
