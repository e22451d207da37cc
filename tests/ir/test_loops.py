"""The compiler of the loops: the same function, interpreted by Python and as machine code, writes the same numbers."""

import ast
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import polhode.integrate
from polhode.ir.loops import Sweep, loop
from polhode.ir.program import Program

MOST_ARGUMENTS = 7
TABLE = np.array([[3, 1], [4, 1], [5, 9]])
SHIFTS = (0.5, 0.25, 0.125)


class Run(NamedTuple):
    buffer: Any
    wanted: Any
    weights: Any
    limit: float
    count: int
    is_strict: bool


def fresh():
    rng = np.random.default_rng(5)
    return Run(
        rng.normal(size=(4, 6)), np.arange(7), (rng.normal(size=3), (0.25, rng.normal(size=(2, 3)))), 0.3, 5, True
    )


@loop
def counts_down(run, first, last):
    for u in range(first, last):
        left = run.count
        while left > 0:
            left -= 2
            if left == 1:
                continue
            run.buffer[u, 0] += left * 0.1
            if run.buffer[u, 0] > 10.0:
                break


@loop
def strides(run, first, last):
    for u in range(first, last):
        for i in range(0, 6, 2):
            run.buffer[u, i] = i / 4 + run.buffer[u, i + 1]
        for i in range(run.count, len(run.wanted)):
            run.buffer[u, 5] -= run.wanted[i] % 3 + run.wanted[i] // 2


@loop
def branches(run, first, last):
    for u in range(first, last):
        for i in range(run.buffer.shape[1]):
            x = run.buffer[u, i]
            if x > run.limit:
                run.buffer[u, i] = 1.0
            elif not x < -run.limit and run.is_strict:
                run.buffer[u, i] = 2.0
            else:
                run.buffer[u, i] = -1.0 if x < -1.0 else abs(x)


@loop
def looks_no_further_than_needed(run, first, last):
    """Without short circuits the second operand would read beyond the end, or divide by zero."""
    for u in range(first, last):
        i = 0
        while i < len(run.wanted) and run.wanted[i] < 3:
            i += 1
        for j in range(9):
            if j >= len(run.wanted) or run.wanted[j] == 6:
                run.buffer[u, 1] += j
        run.buffer[u, 0] = i


@loop
def breaks_out_of_two(run, first, last):
    for u in range(first, last):
        found = -1
        for i in range(3):
            for j in range(2):
                if TABLE[i, j] == 1:
                    continue
                if TABLE[i, j] + u > 4:
                    found = 10 * i + j
                    break
            if found >= 0:
                break
        run.buffer[u, 0] = found


@loop
def reads_nested_records(run, first, last):
    for u in range(first, last):
        scale, rows = run.weights[1][0], run.weights[1][1]
        for k in range(3):
            run.buffer[u, k] += SHIFTS[k] * run.weights[0][k] + scale * rows[1, k]


@loop
def largest(row, count):
    best = row[0]
    for i in range(1, count):
        best = max(best, row[i])
    return best


@loop
def is_low(x, limit):
    return x < limit


@loop
def calls_others(run, first, last):
    room = np.zeros(3)
    for u in range(first, last):
        room[u % 3] += largest(run.buffer[u], run.count)
        run.buffer[u, 0] = room[0] + room[1] + room[2] if is_low(run.buffer[u, 1], run.limit) else min(room[0], -1.5)


def turned(unit, at, angle):
    x, y = unit[at], unit[at + 1]
    unit[at], unit[at + 1] = x - angle * y, y + angle * x


turn_all = Sweep(turned, 1, 2)


@loop
def sweeps(run, first, last):
    for u in range(first, last):
        turn_all(run.buffer[u], run.limit)
        turned(run.buffer[u], 1, 0.125)


LOOPS = [counts_down, strides, branches, looks_no_further_than_needed, breaks_out_of_two, reads_nested_records,
         calls_others, sweeps]  # fmt: skip


@pytest.mark.parametrize("function", LOOPS, ids=lambda f: f.__name__)
def test_against_plain_python(function):
    plain, compiled, before = fresh(), fresh(), fresh()
    function(plain, 0, len(plain.buffer))
    Program(function, True, None, 1).bind(compiled)(0, len(compiled.buffer))
    assert np.array_equal(compiled.buffer, plain.buffer)
    assert not np.array_equal(plain.buffer, before.buffer)


@pytest.mark.parametrize("function", LOOPS, ids=lambda f: f.__name__)
def test_a_part_of_the_units_leaves_the_others_alone(function):
    plain, compiled = fresh(), fresh()
    function(plain, 1, 3)
    Program(function, True, None, 1).bind(compiled)(1, 3)
    assert np.array_equal(compiled.buffer, plain.buffer)
    assert np.array_equal(compiled.buffer[[0, 3]], fresh().buffer[[0, 3]])


def loops_of_the_package():
    for path in sorted(Path(polhode.integrate.__path__[0]).glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and any(
                isinstance(d, ast.Name) and d.id == "loop" for d in node.decorator_list
            ):
                yield path.name, node


def test_no_loop_takes_more_than_seven_arguments():
    found = list(loops_of_the_package())
    assert len(found) > 20
    for file, node in found:
        taken = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        assert len(taken) <= MOST_ARGUMENTS, f"{file}: {node.name}"
        assert node.args.vararg is None, f"{file}: {node.name}"
        assert node.args.kwarg is None, f"{file}: {node.name}"
