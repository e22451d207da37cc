"""What block-inertia teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(r"I_x = \frac{M}{12}(y_0^2 + z_0^2)", "the moment about x of a block with sides x₀, y₀, z₀"),
        Formula(r"\varphi = \frac{L\,t}{I}", "the angle after an impulse that gives the angular momentum L"),
    ),
    steps=(
        TryThis("The impulse turns the block about x.", run="about x"),
        TryThis("About z, the long side: the moment is the smallest.", run="about z"),
        TryThis("A cube has the same moment about all axes.", values={"x": 2.0, "y": 2.0, "z": 2.0}),
    ),
    references=(
        "Baraff 1997, section 5.1",
        "Hydra 2017, chapter 5",
    ),
)
