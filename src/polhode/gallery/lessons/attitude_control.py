"""What attitude-control teaches."""

from polhode.gallery.lesson import Formula, Lesson, TryThis

LESSON = Lesson(
    formulas=(
        Formula(r"\tau = -k_p\,\theta - k_d\,\dot\theta", "the law: proportional to angle and rate"),
        Formula(r"\int(q\,\theta^2 + q\,\dot\theta^2 + \tau^2)\,\mathrm{d}t \to \min", "what its gains make least"),
        Formula(r"L_{\mathrm{satellite}} + L_{\mathrm{wheel}} = 0", "the wheel takes what the satellite gets"),
    ),
    steps=(
        TryThis("Back by 60 degrees, without a limit of the motor.", run="no limit"),
        TryThis("A motor of 0.05 N m: slower, and it overshoots.", run="0.05 N m"),
        TryThis(
            "A larger weight of the error: a faster turn, for more torque.", values={"weight": 5.0}, run="no limit"
        ),
        TryThis("Almost half a turn with the weak motor.", values={"angle": 170.0}, run="0.05 N m"),
    ),
    references=("Schaub 2018, chapter 8",),
)
