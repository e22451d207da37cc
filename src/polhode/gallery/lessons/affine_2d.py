"""What affine-2d teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(
            (
                r"\begin{pmatrix}x' \\ y' \\ 1\end{pmatrix} = \begin{pmatrix}\cos\alpha & "
                r"\sin\alpha & d_x \\ -\sin\alpha & \cos\alpha & d_y \\ 0 & 0 & "
                r"1\end{pmatrix}\begin{pmatrix}x \\ y \\ 1\end{pmatrix}"
            ),
            "a clockwise rotation and a translation in one matrix",
        ),
        Formula(
            r"R S - S R = (1 - s_x)\sin\alpha\begin{pmatrix}0 & 1 \\ 1 & 0\end{pmatrix}",
            "rotation and scaling do not commute",
        ),
    ),
    steps=(
        TryThis("The plate turns by 30 degrees about its corner, which stays."),
        TryThis("A quarter turn and a stretch of 5: the order matters most.", values={"angle": 90.0, "stretch": 5.0}),
        TryThis("A stretch of 1 changes nothing: then the order does not matter either.", values={"stretch": 1.0}),
    ),
    references=("Christian 2011, section 17.1",),
)
