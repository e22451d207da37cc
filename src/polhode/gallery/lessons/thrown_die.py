"""What thrown-die teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(r"\chi^2 = \sum_{k=1}^{6}\frac{(n_k - n/6)^2}{n/6}", "how far the counts are from equal shares"),
    ),
    steps=(
        TryThis("One throw.", run="one throw"),
        TryThis("A table that does not rebound.", values={"restitution": 0.0}, run="one throw"),
        TryThis("A lively table: more bounces.", values={"restitution": 0.6}, run="one throw"),
        TryThis("All throws together.", run="all throws"),
    ),
    references=("Christian 2011, project 17.3",),
)
