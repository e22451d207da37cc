"""Embedded pairs of order 3 and 5: those of SciPy's RK23 and RK45 with their interpolants, and Tsitouras's."""

from __future__ import annotations

from fractions import Fraction

from polhode.methods.tableaus import DenseOutputTableau, StepControl, runge_kutta_tableau

_NONE, _ONE = Fraction(0), Fraction(1)
_HAIRER_BETA = 0.04
"""For pairs of order 5.  [Hairer et al. 1993, the authors' program DOPRI5]"""

BS3 = runge_kutta_tableau(
    "bs3",
    3,
    (_NONE, Fraction(1, 2), Fraction(3, 4), _ONE),
    (
        (),
        (Fraction(1, 2),),
        (_NONE, Fraction(3, 4)),
        (Fraction(2, 9), Fraction(1, 3), Fraction(4, 9)),
    ),
    (Fraction(2, 9), Fraction(1, 3), Fraction(4, 9), _NONE),
    "the pair of Bogacki and Shampine, of order 3(2) [Bogacki and Shampine 1989]",
    StepControl(((Fraction(-5, 72), Fraction(1, 12), Fraction(1, 9), Fraction(-1, 8)),), 3),
    DenseOutputTableau(3),
)

RK45 = runge_kutta_tableau(
    "rk45",
    5,
    (_NONE, Fraction(1, 5), Fraction(3, 10), Fraction(4, 5), Fraction(8, 9), _ONE, _ONE),
    (
        (),
        (Fraction(1, 5),),
        (Fraction(3, 40), Fraction(9, 40)),
        (Fraction(44, 45), Fraction(-56, 15), Fraction(32, 9)),
        (Fraction(19372, 6561), Fraction(-25360, 2187), Fraction(64448, 6561), Fraction(-212, 729)),
        (Fraction(9017, 3168), Fraction(-355, 33), Fraction(46732, 5247), Fraction(49, 176), Fraction(-5103, 18656)),
        (Fraction(35, 384), _NONE, Fraction(500, 1113), Fraction(125, 192), Fraction(-2187, 6784), Fraction(11, 84)),
    ),
    (Fraction(35, 384), _NONE, Fraction(500, 1113), Fraction(125, 192), Fraction(-2187, 6784), Fraction(11, 84), _NONE),
    "the pair of Dormand and Prince, of order 5(4) [Dormand and Prince 1980]",
    StepControl(
        (
            (
                Fraction(71, 57600),
                _NONE,
                Fraction(-71, 16695),
                Fraction(71, 1920),
                Fraction(-17253, 339200),
                Fraction(22, 525),
                Fraction(-1, 40),
            ),
        ),
        5,
        _HAIRER_BETA,
    ),
    DenseOutputTableau(  # [Shampine 1986; in this form Hairer et al. 1993, section II.6]
        4,
        curve_rows=(
            (
                Fraction(-12715105075, 11282082432),
                _NONE,
                Fraction(87487479700, 32700410799),
                Fraction(-10690763975, 1880347072),
                Fraction(701980252875, 199316789632),
                Fraction(-1453857185, 822651844),
                Fraction(69997945, 29380423),
            ),
        ),
    ),
)

# Published in decimals, which meet the conditions of order 5 to 1e-15.
TSIT5 = runge_kutta_tableau(
    "tsit5",
    5,
    (0.0, 0.161, 0.327, 0.9, 0.9800255409045097, 1.0, 1.0),
    (
        (),
        (0.161,),
        (-0.008480655492356989, 0.335480655492357),
        (2.8971530571054935, -6.359448489975075, 4.3622954328695815),
        (5.325864828439257, -11.748883564062828, 7.4955393428898365, -0.09249506636175525),
        (5.86145544294642, -12.92096931784711, 8.159367898576159, -0.071584973281401, -0.028269050394068383),
        (0.09646076681806523, 0.01, 0.4798896504144996, 1.379008574103742, -3.290069515436081, 2.324710524099774),
    ),
    (0.09646076681806523, 0.01, 0.4798896504144996, 1.379008574103742, -3.290069515436081, 2.324710524099774, 0.0),
    "the pair of Tsitouras, of order 5(4) [Tsitouras 2011]",
    StepControl(
        (
            (
                -0.00178001105222577714,
                -0.0008164344596567469,
                0.007880878010261995,
                -0.1447110071732629,
                0.5823571654525552,
                -0.45808210592918697,
                0.015151515151515152,
            ),
        ),
        5,
        _HAIRER_BETA,
    ),
    DenseOutputTableau(
        4,
        curve_rows=(
            (
                -1.0530884977290216,
                0.1017,
                2.490627285651252793,
                -16.54810288924490272,
                47.37952196281928122,
                -34.87065786149660974,
                2.5,
            ),
        ),
    ),
)
