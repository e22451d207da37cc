"""What falling-box teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(
            r"\langle E_{\mathrm{trans}}\rangle : \langle E_{\mathrm{rot}}\rangle = 1 : 2",
            "in space: one vertical degree of freedom, two of rotation",
        ),
        Formula(r"\langle E_{\mathrm{trans}}\rangle : \langle E_{\mathrm{rot}}\rangle = 1 : 1", "in a plane"),
    ),
    steps=(
        TryThis("One box: each bounce exchanges energy between falling and turning.", run="one box"),
        TryThis("From 3 m.", values={"height": 3.0}, run="one box"),
        TryThis("Sixty-four boxes in a plane.", run="boxes in 2D"),
    ),
    references=("Christian 2011, project 17.3",),
)
