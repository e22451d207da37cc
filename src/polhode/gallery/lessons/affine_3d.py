"""What affine-3d teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(
            r"\sin\frac{\gamma}{4} = \sin\frac{\alpha}{2}\sin\frac{\beta}{2}",
            "the angle between the two final attitudes, after rotations by the angles alpha and beta",
        ),
        Formula(r"R_x R_z \ne R_z R_x", "rotations about different axes do not commute"),
    ),
    steps=(
        TryThis("First about x, then about z.", run="x, then z"),
        TryThis("The same rotations in the other order: another attitude, 120 degrees away.", run="z, then x"),
        TryThis(
            ("Small rotations almost commute: with 10 degrees each, the attitudes differ by 1.7 degrees."),
            values={"about_x": 10.0, "about_z": 10.0},
            run="z, then x",
        ),
    ),
    references=("Christian 2011, section 17.2, exercise 17.3",),
)
