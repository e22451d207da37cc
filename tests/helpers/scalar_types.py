"""How a function on nested tuples of numbers is run on each scalar type, and compared with its floats."""

from fractions import Fraction
from typing import Any, NamedTuple

import heyoka
import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import sympy

from polhode.ir.graph import tracing
from polhode.ir.loops import Sweep, loop
from polhode.ir.normal_form import NormalForm, index_of
from polhode.ir.numbers import Block, Traced
from polhode.ir.passes import SmoothGraph
from polhode.ir.program import Program

jax.config.update("jax_enable_x64", True)


def mapped(change, nested):
    """`change` applied to every number of nested tuples; named tuples keep their names."""
    if not isinstance(nested, tuple):
        return change(nested)
    parts = [mapped(change, part) for part in nested]
    return type(nested)(*parts) if hasattr(nested, "_fields") else tuple(parts)


def leaves(nested):
    """The numbers of nested tuples, in order."""
    return [leaf for part in nested for leaf in leaves(part)] if isinstance(nested, tuple) else [nested]


def groups(nested):
    """The innermost tuples: numbers that share a size, against which a rounding error is measured."""
    if not isinstance(nested, tuple):
        return [(nested,)]
    if not any(isinstance(part, tuple) for part in nested):
        return [nested] if nested else []
    return [group for part in nested for group in groups(part)]


def lane(args, which, signs=True):
    """The arguments of another lane: lane 0 has the sample itself, the others other sizes, lane 2 other signs too.

    Without `signs` the signs stay as they are.
    """
    count = iter(range(10**6))

    def changed(x):
        k = next(count)
        sign = -1 if signs and which == 2 and k % 3 == 1 else 1
        return x * (1 + Fraction(which * (7 * k % 11 - 5), 40)) * sign

    return mapped(changed, args)


def in_floats(run, args):
    return run(*mapped(float, args))


def by_machine_code(run, lanes, width=8):
    """The law traced and compiled, `width` lanes at a time."""
    count = -(-len(lanes) // 8) * 8
    inputs, shape = len(leaves(lanes[0])), {}

    def one_lane(unit, at):
        places = iter(range(inputs))
        result = run(*mapped(lambda _: unit[count * next(places) + at], lanes[0]))
        shape["of"] = mapped(lambda _: 0, result)
        for k, number in enumerate(leaves(result)):
            unit[count * (inputs + k) + at] = number

    with tracing() as graph:  # once, to find the shape of the result
        one_lane(Block(graph, "unit", {}, {}), 0)
    size = count * (inputs + len(leaves(shape["of"])))
    sweep = Sweep(one_lane, count, size)

    @loop
    def advance(record, first, last):
        for u in range(first, last):
            sweep(record.buffer[u])

    buffer = np.zeros((1, size))
    table = np.array([[float(x) for x in leaves(lanes[min(i, len(lanes) - 1)])] for i in range(count)])
    buffer[0, : inputs * count] = table.T.ravel()
    Program(advance, True, size, width).bind(_Buffer(buffer))(0, 1)
    columns = buffer[0, inputs * count :].reshape(-1, count)
    return [refilled(shape["of"], columns[:, i].tolist()) for i in range(len(lanes))]


class _Buffer(NamedTuple):
    buffer: Any


def by_numpy(run, lanes):
    """One call on arrays, cut into lanes."""
    columns = iter(np.array([[float(x) for x in leaves(args)] for args in lanes]).T.copy())
    result = run(*mapped(lambda _: next(columns), lanes[0]))
    return [mapped(lambda x, i=i: np.broadcast_to(x, len(lanes))[i], result) for i in range(len(lanes))]


def by_mpmath(run, lanes):
    with mpmath.workdps(50):
        return [run(*mapped(lambda x: mpmath.mpf(float(x)), args)) for args in lanes]


def by_jax(run, lanes):
    return [run(*mapped(lambda x: jnp.asarray(float(x)), args)) for args in lanes]


def by_jax_jit(run, lanes):
    return by_jax(jax.jit(run), lanes)


def by_heyoka(run, lanes):
    """The law run on expressions, which are compiled and evaluated for all lanes at once."""
    names = [heyoka.expression(f"x{i}") for i in range(len(leaves(lanes[0])))]
    each = iter(names)
    result = run(*mapped(lambda _: next(each), lanes[0]))
    made = [x if isinstance(x, heyoka.expression) else heyoka.expression(float(x)) for x in leaves(result)]
    values = heyoka.cfunc(made, vars=names)(np.array([[float(x) for x in leaves(args)] for args in lanes]).T.copy())
    return [refilled(result, values[:, i]) for i in range(len(lanes))]


def by_normal_form(run, lanes):
    """The law traced on variables, and its normal form evaluated."""
    results = []
    for args in lanes:
        numbers, known = [float(x) for x in leaves(args)], {}
        with tracing(SmoothGraph()) as graph:
            each = iter([Traced(graph.add("in", ("number", (), k))) for k in range(len(numbers))])
            nodes = mapped(graph.node_of, run(*mapped(lambda _, each=each: next(each), args)))

        def variable(form, i, graph=graph, numbers=numbers, known=known):
            made = form.variable()
            known[index_of(made)] = numbers[graph.args[i][0][2]]
            return made

        form = NormalForm(graph, variable)
        results.append(mapped(lambda i, form=form, known=known: form.value(form.formula(i), known), nodes))
    return results


def by_sympy(run, lanes, symbols=4):
    """The law run on some symbols, which keeps decisions open, and on ratios for the other arguments."""
    numbers = leaves(lanes[0])
    count = min(symbols, len(numbers))
    named = sympy.symbols(f"x0:{count}", real=True)
    each = iter([*named, *(sympy.Rational(x.numerator, x.denominator) for x in numbers[count:])])
    result = run(*mapped(lambda _: next(each), lanes[0]))
    with mpmath.workdps(50):
        value = sympy.lambdify(named, [sympy.sympify(x) for x in leaves(result)], "mpmath")
        return [refilled(result, value(*(mpmath.mpf(x.numerator) / x.denominator for x in numbers[:count])))]


def by_fractions(run, lanes):
    result = run(*lanes[0])
    assert all(isinstance(x, (Fraction, int)) for x in leaves(result)), "a float has poisoned the exact numbers"
    return [result]


def refilled(shape, numbers):
    each = iter(numbers)
    return mapped(lambda _: next(each), shape)


def error(got, floats):
    """The largest deviation, each against the largest number of its group."""
    worst = 0.0
    for theirs, ours in zip(groups(got), groups(floats), strict=True):
        size = max(abs(x) for x in ours)
        for x, y in zip(theirs, ours, strict=True):
            exact = x if isinstance(x, (Fraction, mpmath.mpf)) else Fraction(float(x))
            deviation = abs(exact - (mpmath.mpf(y) if isinstance(x, mpmath.mpf) else Fraction(y)))
            worst = max(worst, float(deviation) / size if deviation else 0.0)
    return worst


def bits(nested):
    return [float(x).hex() for x in leaves(nested)]
