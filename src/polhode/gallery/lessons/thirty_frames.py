"""What thirty-frames teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(r"m\dot{\mathbf{v}} = m\mathbf{g} - c\,(\mathbf{v} - \mathbf{w})", "linear drag in a wind w"),
        Formula(r"t_k = \frac{k}{30}", "the time of frame k, without adding up rounding errors"),
    ),
    steps=(
        TryThis("Without drag the box flies along a parabola.", values={"drag": 0.0}),
        TryThis("A storm of 30 m/s carries it away.", values={"wind": 30.0}),
        TryThis("The last frame, at exactly 10 s.", time=10.0),
    ),
    references=("Baraff 1997, section 3",),
)
