"""Runge-Kutta tableaus (Butcher tableaus), with coefficients as ratios of integers.

A stage is evaluated at t + c h and y + h (a1 k1 + a2 k2 + ...).  A partitioned tableau has separate rows for the
momenta (the last groups of a state).
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple, TypeAlias

Ratio: TypeAlias = Fraction | float
Row: TypeAlias = tuple[Ratio, ...]


HERMITE_TERMS = 3
"""The coefficients of the cubic through values and slopes at both ends of a step."""


class DenseOutputTableau(NamedTuple):
    """Dense output: additional stages, and rows for the coefficients of the interpolant beyond the cubic's.

    The first additional stage is the slope at the end of the step, unless that is the last stage of the step itself;
    `nodes` and `rows` are those of the ones after it.
    """

    order: int
    nodes: Row = ()
    rows: tuple[Row, ...] = ()
    curve_rows: tuple[Row, ...] = ()

    @property
    def terms(self) -> int:
        """The number of coefficients of the interpolant."""
        return HERMITE_TERMS + len(self.curve_rows)


class StepControl(NamedTuple):
    """How the next step follows from the error of the last: by safety error^(3/4 beta - 1/order) before^beta.

    The factor is at least `least` and at most `most`.  [Hairer et al. 1993, section II.4; Gustafsson 1991]
    """

    error_rows: tuple[Row, ...]
    """The weights of an estimate of the error; or of two, of order 5 and 3, that are mixed as in DOP853."""
    order: int
    """The power of the step with which the estimate falls."""
    beta: float = 0.0
    """The share of the error of the step before: proportional-integral control.  0: of the last step alone."""
    safety: float = 0.9
    least: float = 0.2
    most: float = 10.0


class Tableau(NamedTuple):
    """An explicit Runge-Kutta method, partitioned into coordinates and momenta."""

    name: str
    order: int
    nodes: Row
    coordinate_rows: tuple[Row, ...]
    momentum_rows: tuple[Row, ...]
    coordinate_weights: Row
    momentum_weights: Row
    source: str
    control: StepControl | None = None
    """Of an embedded pair: how its steps are chosen."""
    dense: DenseOutputTableau | None = None
    """The interpolant within a step, if the method has one."""
    rescaled_stages: bool = False
    """Whether the attitude of a stage is renormalized like that of a step."""

    @property
    def is_fsal(self) -> bool:
        """Whether the last stage is the slope at the end of the step: the first of the next (first same as last)."""
        row, weights = self.coordinate_rows[-1], self.coordinate_weights
        return (*row, 0) == weights and self.momentum_rows[-1] == row and self.momentum_weights == weights


def runge_kutta_tableau(
    name: str,
    order: int,
    nodes: Row,
    rows: tuple[Row, ...],
    weights: Row,
    source: str,
    control: StepControl | None = None,
    dense: DenseOutputTableau | None = None,
) -> Tableau:
    """A tableau with the same rows for coordinates and momenta; with step-size control, an embedded pair."""
    return Tableau(name, order, nodes, rows, rows, weights, weights, source, control, dense)


_HALF, _THIRD, _SIXTH = Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)
_NONE, _ONE = Fraction(0), Fraction(1)

EULER = runge_kutta_tableau("euler", 1, (_NONE,), ((),), (_ONE,), "explicit Euler [Slides, exercise]")

MIDPOINT = runge_kutta_tableau(
    "midpoint", 2, (_NONE, _HALF), ((), (_HALF,)), (_NONE, _ONE), "RK2 [Hydra 2017, eq. 4.4 to 4.7]"
)

RK4 = runge_kutta_tableau(
    "rk4",
    4,
    (_NONE, _HALF, _HALF, _ONE),
    ((), (_HALF,), (_NONE, _HALF), (_NONE, _NONE, _ONE)),
    (_SIXTH, _THIRD, _THIRD, _SIXTH),
    "RK4 [Hydra 2017, eq. 4.8 to 4.15], with the weights 1/6, 1/3, 1/3, 1/6 and the last stage at t + h",
)

HEUN = runge_kutta_tableau(
    "heun", 2, (_NONE, _ONE), ((), (_ONE,)), (_HALF, _HALF), "Heun's method with two stages, for kicks only"
)

RK6 = runge_kutta_tableau(
    "rk6",
    6,
    (_NONE, _THIRD, 2 * _THIRD, _THIRD, _HALF, _HALF, _ONE),
    (
        (),
        (_THIRD,),
        (_NONE, 2 * _THIRD),
        (Fraction(1, 12), _THIRD, Fraction(-1, 12)),
        (Fraction(-1, 16), Fraction(9, 8), Fraction(-3, 16), Fraction(-3, 8)),
        (_NONE, Fraction(9, 8), Fraction(-3, 8), Fraction(-3, 4), _HALF),
        (Fraction(9, 44), Fraction(-9, 11), Fraction(63, 44), Fraction(18, 11), _NONE, Fraction(-16, 11)),
    ),
    (
        Fraction(11, 120),
        _NONE,
        Fraction(27, 40),
        Fraction(27, 40),
        Fraction(-4, 15),
        Fraction(-4, 15),
        Fraction(11, 120),
    ),
    "[Butcher 1964], seven stages of order 6, for kicks only",
)

# Kick, drift, kick: L(t + h/2) = L(t) + N(t) h/2 equals L(t - h/2) + N(t) h of [Christian 2011, eq. 17.45], since
# L(t) = L(t - h/2) + N(t) h/2.
# Stage 2 gives q' at t + h/2; stage 3 predicts the torque at t + h with L(t + h/2), stage 4 evaluates it with L(t + h).
LEAPFROG = Tableau(
    "leapfrog",
    2,
    (_NONE, _HALF, _ONE, _ONE),
    ((), (_HALF,), (_NONE, _ONE), (_NONE, _ONE, _NONE)),
    ((), (_HALF,), (_HALF, _NONE), (_HALF, _NONE, _HALF)),
    (_NONE, _ONE, _NONE, _NONE),
    (_HALF, _NONE, _NONE, _HALF),
    "leapfrog [Christian 2011, eq. 17.45, 17.46], with q' at t + h/2 from the predictor q + q' h/2",
    rescaled_stages=True,
)
