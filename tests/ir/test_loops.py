"""The compiler of the loops: the same function, interpreted by Python and as machine code, writes the same numbers."""

import ast
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import polhode.integrate
from polhode.errors import PolhodeError
from polhode.ir.loops import Sweep, loop
from polhode.ir.program import Program
from polhode.ir.records import Record, fields_of, numbers, set_fields

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


# Records --------------------------------------------------------------------------------------------------------------
class Probe(Record):
    depth: float
    turns: int
    is_open: bool
    values: Any = numbers(3)
    last: float


class RecordRun(NamedTuple):
    buffer: Any
    probes: Any
    grid: Any
    count: Any


def fresh_records():
    rng = np.random.default_rng(7)
    run = RecordRun(rng.normal(size=(4, 6)), np.zeros(4, Probe.dtype), np.zeros((4, 3), Probe.dtype), np.zeros((), int))
    for probes in (run.probes, run.grid):
        probes["depth"], probes["turns"] = rng.normal(size=probes.shape), rng.integers(-5, 5, probes.shape)
        probes["is_open"], probes["values"] = rng.random(probes.shape) < 0.5, rng.normal(size=(*probes.shape, 3))
    return run


@loop
def reads_and_writes_fields(run, first, last):
    for u in range(first, last):
        probe = run.probes[u]
        probe.last, probe.depth = probe.depth, probe.last - 0.25
        probe.turns += u
        probe.is_open = not probe.is_open and probe.turns > 0
        probe.values[u % 3] += probe.turns * 0.5
        run.buffer[u, 0] = probe.values[0] if probe.is_open else probe.last
        run.count[()] += probe.turns


@loop
def goes_through_a_grid(run, first, last):
    _, columns = run.grid.shape
    for u in range(first, last):
        row = run.grid[u]
        for i in range(columns):
            if row[i].is_open:
                continue
            row[i].turns, row[i].values[1] = 3 * row[i].turns - i, run.grid[u, i].depth
            run.buffer[u, i] += row[i].values[1] + row[i].turns


@loop
def deepen(probe, values, by):
    probe.depth -= by
    values[2] = probe.depth


@loop
def deepest(probes, count):
    best = probes[0]
    for i in range(1, count):
        if probes[i].depth < best.depth:
            best = probes[i]
    return best.depth


def spread(values, at, by):
    values[at], values[at + 1] = by * values[at + 1], values[at] - by


@loop
def hands_records_on(run, first, last):
    """To loops, and an array in them to a law; and rooms of records of its own, of one dimension and of two."""
    own, pairs = np.zeros(3, Probe.dtype), np.zeros((2, 3), Probe.dtype)
    for u in range(first, last):
        deepen(run.probes[u], run.probes[u].values, 0.5)
        spread(run.probes[u].values, u % 2, 0.125)
        own[u % 3].depth, own[u % 3].is_open = run.probes[u].depth, True
        pairs[u % 2, u % 3].turns += 2
        for i in range(3):
            run.buffer[u, i] = own[i].depth + pairs[1, i].turns if own[i].is_open else deepest(run.grid[u], 3)


@pytest.mark.parametrize(
    "function", [reads_and_writes_fields, goes_through_a_grid, hands_records_on], ids=lambda f: f.__name__
)
def test_records_against_plain_python(function):
    plain, compiled, before = fresh_records(), fresh_records(), fresh_records()
    function(plain, 0, len(plain.buffer))
    Program(function, True, None, 1).bind(compiled)(0, len(compiled.buffer))
    for name, ours, theirs in zip(RecordRun._fields, compiled, plain, strict=True):
        assert np.array_equal(ours, theirs), name
    assert not np.array_equal(plain.buffer, before.buffer)


def test_a_field_takes_the_words_that_it_declares():
    assert Probe.words == 7
    assert Probe.dtype.itemsize == 56
    assert {name: offset // 8 for name, (_, offset, *_) in Probe.dtype.fields.items()} == {
        name: field.word for name, field in Probe.fields.items()
    }


def test_an_unknown_field_is_refused():
    @loop
    def misspells(run, first, last):
        run.probes[first].dept = 1.0

    with pytest.raises(PolhodeError, match="Probe has no field 'dept', only depth, turns"):
        Program(misspells, True, None, 1).bind(fresh_records())
    with pytest.raises(AttributeError):
        print(fresh_records().probes[0].dept)


def test_only_fields_can_be_assigned():
    @loop
    def assigns(run, first, last):
        run.count = 1.0

    with pytest.raises(PolhodeError, match="only fields of records"):
        Program(assigns, True, None, 1).bind(fresh_records())


def test_a_checkpoint_keeps_fields_by_name():
    kept, again = fields_of(fresh_records().grid), np.zeros((4, 3), Probe.dtype)
    set_fields(again, kept)
    assert list(kept) == ["depth", "turns", "is_open", "values", "last"]
    assert np.array_equal(again, fresh_records().grid)
    assert {each.dtype.str for each in kept.values()} == {"<f8", "<i8"}


# Plain arrays ---------------------------------------------------------------------------------------------------------
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
    for path in sorted(Path(polhode.integrate.__path__[0]).glob("*s/*.py")):
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


def functions_of_the_package():
    """Functions that loops and sweeps are made of: they take a unit or a run.  Contacts are left out."""
    for path in sorted(Path(polhode.integrate.__path__[0]).glob("*s/*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            takes = {a.arg for a in node.args.args} if isinstance(node, ast.FunctionDef) else set()
            if takes & {"unit", "run"} and not path.name.startswith("contact_"):
                yield path.name, node


def is_column_number(key):
    return (isinstance(key, ast.Constant) and isinstance(key.value, int)) or (
        isinstance(key, ast.Name) and key.id.isupper()
    )


def test_no_loop_numbers_its_columns():
    """Fields and places have names: no index is a number or a constant in CAPITALS, alone or beside others.

    A sum with one, as in values[j - 1], is a neighbor and no column; a slice, as in y[:4], is some groups of a state.
    """
    found = list(functions_of_the_package())
    assert len(found) > 40
    for file, node in found:
        for each in ast.walk(node):
            if isinstance(each, ast.Subscript):
                keys = each.slice.elts if isinstance(each.slice, ast.Tuple) else [each.slice]
                numbered = [ast.unparse(each) for key in keys if is_column_number(key)]
                assert not numbered, f"{file}: {node.name}: {numbered}"


def test_no_place_is_taken_from_the_layout_by_its_number():
    for path in sorted(Path(polhode.integrate.__path__[0]).glob("*s/*.py")):
        for each in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(each, ast.Subscript) and ast.unparse(each.value).startswith("layout."):
                assert not is_column_number(each.slice), f"{path.name}: {ast.unparse(each)}"
