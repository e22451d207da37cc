"""Dense output: an interpolant through a step, built from the slopes of its stages.

y(t + theta h) = y + theta (f0 + (1 - theta) (f1 + theta (f2 + (1 - theta) (f3 + ...)))): the first three coefficients
match the values and slopes at both ends of the step, the others come from the slopes of the stages.  Every interpolant
that is smooth across steps can be written so.
[Hairer et al. 1993, section II.6, and the authors' programs DOPRI5 and DOP853]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from polhode.equations.law import Groups, Number, law
from polhode.methods.runge_kutta import Rate, add_scaled, combine_stages, convert_row, evaluate_stages
from polhode.methods.tableaus import Row, Tableau


class DenseStages(NamedTuple):
    """What an interpolant takes from a tableau, without the stages that it does not use."""

    used: tuple[int, ...]
    """The indices of the stages of the step whose slopes are needed: the first, others, and of a pair whose last stage
    is at the end of the step also that."""
    more: int
    """The number of slopes that the interpolant needs beyond them."""
    stages: Groups
    """The stages after the one at the end of the step, as `evaluate_stages` takes them."""
    curve_rows: Groups


def dense_stages(tableau: Tableau, number: Callable[[Any], Number] = float) -> DenseStages:
    """The stages and rows of the interpolant in a scalar type."""
    dense, count = tableau.dense, len(tableau.nodes)
    assert dense is not None
    rows, ends = (*dense.rows, *dense.curve_rows), (0, count - 1) if tableau.is_fsal else (0,)
    used = tuple(i for i in range(count) if i in ends or any(row[i] != 0 for row in rows))

    def short(row: Row) -> Groups:
        return convert_row(tuple(row[i] for i in used) + tuple(row[count:]), number)

    zero = number(0)
    stages = tuple(
        (number(c), short(row), short(row), zero, zero) for c, row in zip(dense.nodes, dense.rows, strict=True)
    )
    more = len(stages) + (not tableau.is_fsal)
    return DenseStages(used, more, stages, tuple(short(row) for row in dense.curve_rows))


def build_interpolant(tableau: Tableau, rate: Rate, number: Callable[[Any], Number] = float) -> Callable[..., Groups]:
    """(t, y, new, h, k, data) -> the coefficients, for a step from y to `new` with slopes k of the stages used."""
    _, _, stages, rows = dense_stages(tableau, number)
    is_fsal = tableau.is_fsal

    @law
    def interpolant(t: Number, y: Groups, new: Groups, h: Number, k: Groups, data: Groups) -> Groups:
        slopes = k if is_fsal else k + (rate(t + h, new, data),)
        at_end = slopes[-1]
        return interpolant_coefficients(
            y, new, h, evaluate_stages(rate, stages, t, y, h, data, slopes, y)[0], at_end, rows
        )

    return interpolant


@law
def interpolant_coefficients(y: Groups, new: Groups, h: Number, k: Groups, at_end: Groups, rows: Groups) -> Groups:
    """f0 = y1 - y0, f1 = h y0' - f0, f2 = 2 f0 - h (y0' + y1'), and h (d1 k1 + d2 k2 + ...) for each row."""
    rise = add_scaled(new, -1, y)
    zero_state = add_scaled(y, -1, y)
    start = add_scaled(add_scaled(zero_state, h, k[0]), -1, rise)
    both = add_scaled(add_scaled(add_scaled(rise, 1, rise), -h, k[0]), -h, at_end)
    return (rise, start, both) + _weighted_slopes(zero_state, h, k, rows)


@law
def _weighted_slopes(zero_state: Groups, h: Number, k: Groups, rows: Groups) -> Groups:
    if len(rows) == 0:
        return ()
    return (combine_stages(zero_state, h, rows[0], rows[0], k),) + _weighted_slopes(zero_state, h, k, rows[1:])


@law
def evaluate_interpolant(y: Groups, theta: Number, coefficients: Groups) -> Groups:
    """The interpolant of a step that starts at y, at the fraction theta of the step."""
    return add_scaled(y, theta, _nested_sum(coefficients, theta, 1 - theta))


@law
def _nested_sum(coefficients: Groups, theta: Number, rest: Number) -> Groups:
    last: Groups = coefficients[0]
    if len(coefficients) == 1:
        return last
    return add_scaled(last, rest, _nested_sum(coefficients[1:], rest, theta))
