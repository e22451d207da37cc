"""What pushed-sphere teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(r"R_{k+1} = R_k + h\,\omega^* R_k", "Euler's step for the rotation matrix"),
        Formula(r"\det R = 1 + 25 h^4", "after two steps: no rotation any more"),
    ),
    steps=(
        TryThis("Two steps by hand, and ten more by machine.", run="the exercise"),
        TryThis(
            "A step of 0.2 s: the determinant is 1.04, and the sphere has grown by 4 percent.",
            values={"step": 0.2},
            run="the exercise",
        ),
        TryThis("Without gravity only the push remains.", values={"g": 0.0}, run="the exercise"),
    ),
    references=("Slides",),
)
