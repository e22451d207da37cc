"""What tippe-top teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(
            r"J = \mathbf{L}\cdot\mathbf{d} = \text{const}",
            "Jellett's invariant; d is the line from the point of contact to the center of mass",
        ),
    ),
    steps=(
        TryThis(
            "Spun about the vertical: it turns over, and its center rises.",
            run="spun about the vertical",
            switches=("trailAxis3",),
        ),
        TryThis("Spun about its own tilted axis: friction rights it instead.", run="spun about its own axis"),
        TryThis("With more friction it turns over sooner.", values={"friction": 0.2}, run="spun about the vertical"),
    ),
    references=("Cohen 1977",),
)
