"""What free-fall-with-drag teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(r"M\dot v = M g - c v^2", "weight against drag"),
        Formula(r"V = \sqrt{\frac{M g}{c}}", "the terminal speed"),
        Formula(r"v = V\tanh\frac{g t}{V}", "a fall from rest"),
    ),
    steps=(
        TryThis("From rest to 56 m/s."),
        TryThis("Open the parachute: the terminal speed is 6.3 m/s.", values={"drag": 20.0}),
        TryThis("Start at 100 m/s: the drag exceeds the weight, and the fall slows down.", values={"speed": 100.0}),
        TryThis("Four times the mass: twice the terminal speed.", values={"mass": 320.0, "duration": 40.0}),
    ),
    references=("Baraff 1997, section 5.2",),
)
