"""What two-bodies-on-a-spring teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(r"\mu = \frac{m_a m_b}{m_a + m_b}", "the reduced mass"),
        Formula(r"T = 2\pi\sqrt{\frac{\mu}{k}}", "the period of the distance"),
    ),
    steps=(
        TryThis("The center of mass moves uniformly; each ball oscillates about it.", switches=("trailCenter",)),
        TryThis("A partner of 100 kg hardly moves.", values={"mass_b": 100.0}),
        TryThis("Four times the stiffness: half the period.", values={"stiffness": 80.0}),
        TryThis(
            "Equal masses, no drift: equal and opposite motions.", values={"mass_a": 2.0, "mass_b": 2.0, "drift": 0.0}
        ),
    ),
    references=("Baraff 1997, section 2",),
)
