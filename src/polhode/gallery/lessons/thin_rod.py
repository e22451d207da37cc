"""What thin-rod teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(r"\Omega = \left(\frac{I_3}{I_1} - 1\right)\omega_3", "nearly -ω₃, since the axial moment is small"),
        Formula(r"I_3 = \frac{1}{2}M r^2, \quad I_1 = \frac{M}{12}(3 r^2 + l^2)", "moments of the rod"),
    ),
    steps=(
        TryThis("Most of the spin is along the rod, but L is almost perpendicular to it."),
        TryThis("A needle: L is perpendicular to the rod.", values={"radius": 0.01}),
        TryThis("Short and thick: L leans toward the rod's axis.", values={"length": 0.5, "radius": 0.1}),
    ),
    references=("Christian 2011, problem 17.7",),
)
