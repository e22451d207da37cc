"""What buttered-toast teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(
            r"\omega^2 = \frac{6 g}{a}\,\frac{\eta\sin\theta}{1 + 3\eta^2}",
            "the rate at which it slips off at the angle θ; a is half its length, ηa the overhang",
        ),
        Formula(r"t \approx \sqrt{\frac{2h}{g}}", "the time that the table leaves it"),
    ),
    steps=(
        TryThis("From a table of 0.75 m: butter side down.", run="one toast"),
        TryThis(
            "From a table of 3 m it turns almost once, and lands on the other side.",
            values={"height": 3.0},
            run="one toast",
        ),
        TryThis(
            "From 0.2 m it lands on an edge, after little more than a quarter turn.",
            values={"height": 0.2},
            run="one toast",
        ),
        TryThis("All heights at once.", run="tables of all heights"),
    ),
    references=("Matthews 1995",),
)
