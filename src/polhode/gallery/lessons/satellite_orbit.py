"""What satellite-orbit teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(
            r"\dot\Omega = -\frac{3}{2}\,n J_2\left(\frac{R}{a}\right)^2\cos i",
            "how fast the plane of the orbit turns about the Earth's axis",
        ),
    ),
    steps=(
        TryThis("The plane turns westward, some degrees a day.", run="orbit, with J2"),
        TryThis("Nearly over the poles it hardly turns.", values={"inclination": 85.0}, run="orbit, with J2"),
        TryThis("Low orbits turn faster.", values={"height": 200.0}, run="orbit, with J2"),
        TryThis("A long satellite swings about the vertical.", run="gravity-gradient libration"),
    ),
    references=(
        "Vallado 2013, section 9.6",
        "Schaub 2018, section 4.4",
    ),
)
