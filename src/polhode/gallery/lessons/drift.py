"""What drift teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(
            r"\lvert P(i\varphi)\rvert \approx 1 - \frac{\varphi^6}{144}",
            "what one step of RK4 leaves of the length of a vector that it turns by φ",
        ),
        Formula(r"\frac{\varphi^6}{144} : \frac{(\varphi/2)^6}{144} = 64 : 1", "a quaternion turns by half the angle"),
    ),
    steps=(
        TryThis(
            ("Half a radian per step: in 10,000 steps the matrix shrinks across the axis to about a third."),
            values={"turn": 0.5},
            run="matrix",
        ),
        TryThis(
            "The same steps with a quaternion: its norm falls by about 2 percent.",
            values={"turn": 0.5},
            run="quaternion, not renormalized",
        ),
        TryThis(
            "Divided by its norm after each step, it stays a rotation.",
            values={"turn": 0.5},
            run="quaternion, renormalized",
        ),
    ),
    references=(
        "Baraff 1997, section 4",
        "Hairer et al. 2006",
    ),
)
