"""What boxes teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(r"\dot{\mathbf{L}} = 0", "no torque: L keeps its ten digits, or all"),
        Formula(r"2E = \sum_i I_i\omega_i^2", "and so does the energy"),
    ),
    steps=(
        TryThis("The closed form.", run="exact"),
        TryThis("RK4 with steps of 10 ms: see what the audit says.", run="RK4, 10 ms"),
        TryThis("The step of the benchmark, 1 ms.", run="RK4, the step"),
        TryThis("Spun faster.", values={"spin": 8.0}, run="exact"),
    ),
    references=(
        "Peters",
        "Christian 2011, problem 17.6",
    ),
)
