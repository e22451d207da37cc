"""Explicit Runge-Kutta steps from a tableau, and step-size control, for any formulation and scalar type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from polhode.equations.elementary import exp, log
from polhode.equations.law import Groups, Number, law
from polhode.equations.scalar_ops import absolute, if_less, larger, sqrt
from polhode.methods.tableaus import Row, StepControl, Tableau

Rate = Callable[..., Groups]


class Clock(NamedTuple):
    """The clock of a body, or system, with step-size control."""

    t: Number
    """From the start of the run on."""
    h: Number
    """The step to try next."""
    rejected: Number
    """Above 0 if the last attempt was rejected.  Of a controller with beta its size is the last error accepted."""
    accepted: Number
    """Attempts so far that were accepted."""
    wasted: Number
    """Attempts so far that were rejected."""


@law
def add_scaled_group(a: Groups, h: Number, b: Groups) -> Groups:
    """a + h b, elementwise."""
    if len(a) == 0:
        return ()
    return (a[0] + h * b[0],) + add_scaled_group(a[1:], h, b[1:])


@law
def add_scaled(y: Groups, h: Number, k: Groups) -> Groups:
    """y + h k, group by group; groups of y beyond the last of k are unchanged."""
    if len(k) == 0:
        return y
    return (add_scaled_group(y[0], h, k[0]),) + add_scaled(y[1:], h, k[1:])


@law
def combine_stages(y: Groups, h: Number, a: Groups, b: Groups, k: Groups) -> Groups:
    """y + h (a1 k1 + a2 k2 + ...): weights a for the coordinates (the first two groups), b for the momenta."""
    if len(k) == 0:
        return y
    if a[0] != 0:
        y = add_scaled(y[:2], h * a[0], k[0][:2]) + y[2:]
    if b[0] != 0:
        y = y[:2] + add_scaled(y[2:], h * b[0], k[0][2:])
    return combine_stages(y, h, a[1:], b[1:], k[1:])


@law
def evaluate_stages(
    rate: Rate, stages: Groups, t: Number, y: Groups, h: Number, data: Groups, k: Groups, total: Groups
) -> tuple[Groups, Groups]:
    """The slopes of all stages, each from the previous ones, and `total` + h (w1 k1 + w2 k2 + ...).

    The sum grows stage by stage, so that compiled code need not keep every slope to the end.
    """
    if len(stages) == 0:
        return k, total
    c, a, b, coordinate_weight, momentum_weight = stages[0]
    slope = rate(t + c * h, combine_stages(y, h, a, b, k), data)
    total = combine_stages(total, h, (coordinate_weight,), (momentum_weight,), (slope,))
    return evaluate_stages(rate, stages[1:], t, y, h, data, k + (slope,), total)


def convert_row(row: Row, number: Callable[[Any], Number]) -> Groups:
    """A row of coefficients in another scalar type."""
    return tuple(number(a) for a in row)


def tableau_stages(tableau: Tableau, number: Callable[[Any], Number] = float) -> Groups:
    """The stages of a tableau: (node, row for the coordinates, row for the momenta, weight for each of the two)."""
    return tuple(
        (number(c), convert_row(a, number), convert_row(b, number), number(v), number(w))
        for c, a, b, v, w in zip(
            tableau.nodes,
            tableau.coordinate_rows,
            tableau.momentum_rows,
            tableau.coordinate_weights,
            tableau.momentum_weights,
            strict=True,
        )
    )


def build_step(tableau: Tableau, rate: Rate, number: Callable[[Any], Number] = float) -> Callable[..., Groups]:
    """step(t, y, h, data) -> y at t + h, with the coefficients of the tableau converted by `number`."""
    stages = tableau_stages(tableau, number)

    @law
    def step(t: Number, y: Groups, h: Number, data: Groups) -> Groups:
        return evaluate_stages(rate, stages, t, y, h, data, (), y)[1]

    return step


# Step-size control -------------------------------------------------------------------------------------------------
@law
def group_squared_norm(a: Groups) -> Number:
    """|a|^2"""
    if len(a) == 1:
        return a[0] * a[0]
    return a[0] * a[0] + group_squared_norm(a[1:])


@law
def group_error(
    old: Groups, new: Groups, slope: Groups, h: Number, error: Groups, rtol: Number, atol: Number
) -> Number:
    """(|error|/(atol + rtol size))^2, the size of a group being the largest of |old|, |new| and |h slope|.

    A group that stays 0 has no error.  There is no absolute scale unless atol gives one.
    """
    moved = h * h * group_squared_norm(slope)
    size = sqrt(larger(larger(group_squared_norm(old), group_squared_norm(new)), moved))
    allowed = atol + rtol * size
    squared = group_squared_norm(error)
    return squared / larger(allowed * allowed, 1e-300 + 0 * squared)


@law
def controlled_parts(groups: Groups, tolerances: Groups) -> Groups:
    """The parts of a state, one for each tolerance: four groups, and then each number of the fifth by itself."""
    if len(tolerances) <= 4:
        return groups
    return groups[:4] + tuple((number,) for number in groups[4])


@law
def state_error(
    old: Groups, new: Groups, slope: Groups, h: Number, error: Groups, rtol: Groups, atol: Groups
) -> Number:
    """The sum over the parts with a tolerance; what follows them, such as the work, has none."""
    return _sum_errors(
        controlled_parts(old, atol),
        controlled_parts(new, atol),
        controlled_parts(slope, atol),
        h,
        controlled_parts(error, atol),
        rtol,
        atol,
    )


@law
def _sum_errors(
    old: Groups, new: Groups, slope: Groups, h: Number, error: Groups, rtol: Groups, atol: Groups
) -> Number:
    if len(atol) == 0:
        return 0 * h
    first = group_error(old[0], new[0], slope[0], h, error[0], rtol[0], atol[0])
    return first + _sum_errors(old[1:], new[1:], slope[1:], h, error[1:], rtol[1:], atol[1:])


LEAST_ERROR = 1e-4
"""What counts as the error of the step before if it was smaller, or if there was none.  [Hairer et al. 1993: DOPRI5]"""


@law
def mixed_error(fifth: Number, third: Number) -> Number:
    """The two squared estimates combined: about |e5|^2/sqrt(|e5|^2 + |e3|^2/100), of order 8; at most 1 is accepted.

    [Hairer et al. 1993, section II.10]
    """
    return fifth / sqrt(larger(4 * (fifth + third / 100), 1e-300 + 0 * fifth))


@law
def step_error(squares: Groups) -> Number:
    """The error of a step from the squared sums of its estimates, one or two: the root of the mean over four groups."""
    if len(squares) == 1:
        return sqrt(squares[0] / 4)
    return mixed_error(squares[0], squares[1])


@law
def root_of_error(error: Number, order: int, beta: float) -> Number:
    """error^(1/order - 3/4 beta).  Without beta the roots of order 2, 4 and 8 are square roots."""
    positive = larger(error, 1e-300 + 0 * error)
    if beta == 0 and order in (2, 4, 8):
        return sqrt(positive) if order == 2 else root_of_error(sqrt(positive), order // 2, beta)
    return exp((1 / order - 3 / 4 * beta) * log(positive))


@law
def limit_factor(factor: Number, control: StepControl) -> Number:
    """The factor for the next step size, within the limits of a controller."""
    return -larger(-larger(factor, control.least + 0 * factor), -control.most + 0 * factor)


@law
def step_factor(error: Number, control: StepControl) -> Number:
    """The factor for the next step size from the error of this step alone: with DOP853 0.9 error^(-1/8)."""
    return limit_factor(control.safety / root_of_error(error, control.order, control.beta), control)


@law
def growth_factor(error: Number, before: Number, control: StepControl) -> Number:
    """The factor after a step that was accepted, which also knows the error of the step before."""
    if control.beta == 0:
        return step_factor(error, control)
    earlier = exp(control.beta * log(before))
    return limit_factor(control.safety * earlier / root_of_error(error, control.order, control.beta), control)


@law
def step_to_try(t: Number, h: Number, end: Number) -> Number:
    """The step to try: h, or the rest of the way to `end`."""
    left = end - t
    return if_less(left, h, left, h)


@law
def step_end(t: Number, h: Number, end: Number) -> Number:
    """The time after that step: exactly `end` if it lands there."""
    return if_less(h, end - t, t + h, end)


@law
def comparable_error(error: Number, tried: Number) -> Number:
    """The error of an attempt, with NaN and steps of zero length as a large number, so that they are rejected."""
    finite = if_less(error, 1e300, error, 1e300 + 0 * tried)  # NaN compares false
    return if_less(0 * tried, tried, finite, 1e300 + 0 * tried)


@law
def next_clock(clock: Groups, end: Number, tried: Number, error: Number, control: StepControl) -> Clock:
    """The clock after an attempt.

    An error of at most 1 is accepted.  After a step that was cut short to land on `end`, h does not shrink.  After a
    rejection the next step does not grow.  A step that no longer changes t becomes 0 and stays 0: the body is stuck.
    """
    t, h, was_rejected, taken, wasted = clock
    left, zero, one = end - t, 0 * t, 1 + 0 * t
    after_success, after_failure = zero, one
    before = one
    if control.beta != 0:
        before = larger(absolute(was_rejected), LEAST_ERROR + zero)
        after_success, after_failure = -larger(error, LEAST_ERROR + zero), before
    factor = growth_factor(error, before, control)
    careful = if_less(factor, 1, factor, one)
    longer = tried * if_less(zero, was_rejected, careful, factor)
    longer = if_less(h, left, longer, larger(h, longer))
    shorter = tried * step_factor(error, control)
    shorter = if_less(t, t + shorter, shorter, zero)
    accepted = (step_end(t, h, end), longer, after_success, taken + 1, wasted)
    rejected = (t, shorter, after_failure, taken, wasted + 1)
    return Clock(*select_group(zero, tried, select_group(one, error, rejected, accepted), clock))


@law
def select_group(a: Number, b: Number, x: Groups, y: Groups) -> Groups:
    """x where a < b, else y, elementwise."""
    if len(x) == 0:
        return ()
    return (if_less(a, b, x[0], y[0]),) + select_group(a, b, x[1:], y[1:])


@law
def select_groups(a: Number, b: Number, x: Groups, y: Groups) -> Groups:
    """x where a < b, else y, group by group."""
    if len(x) == 0:
        return ()
    return (select_group(a, b, x[0], y[0]),) + select_groups(a, b, x[1:], y[1:])
