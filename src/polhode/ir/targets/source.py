"""A traced function as source text: C, CUDA C++ and JavaScript share one writer and differ in a table of phrases.

One statement for each node, in their order, so that the text has the bits of the plain law wherever multiplications and
additions are not fused.  Long functions are cut into parts: engines of JavaScript do not optimize functions beyond a
size (V8: 60 kB of bytecode), and the time of C compilers grows faster than the length of a function.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from polhode.ir.graph import LEAVES, Place, Trace
from polhode.ir.operations import COMPARISONS
from polhode.ir.passes import lower

MOST_STATEMENTS = 1000
"""Statements in one part of a function."""
_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "lt": "<", "le": "<=", "eq": "=="}


class Dialect(NamedTuple):
    """How a language writes things.  {0}, {1}, ...: operands."""

    name: str
    phrases: dict[str, str]
    """A function, the kinds of its arguments, and declarations."""
    floor: str
    sqrt: str
    fmod: str
    place: str
    """A number as an index of an array."""
    table: str
    """A table of constants, from its name, its length and its entries."""
    constant: str
    """A whole number with a name."""
    infinity: str
    nan: str
    kept: str
    """The room for numbers that one part of a function leaves to the next."""


_C_TABLE = "double {0}[{1}] = {{\n{2}\n}};"
_C_PHRASES = {
    "function": "static void",
    "in": "const double *",
    "out": "double *",
    "number": "double ",
    "whole": "long ",
    "value": "const double",
    "truth": "const int",
    "real": "double",
    "integer": "long",
}
C = Dialect(
    name="c",
    phrases=_C_PHRASES,
    floor="floor({0})",
    sqrt="sqrt({0})",
    fmod="fmod({0}, {1})",
    place="(long){0}",
    table=f"static const {_C_TABLE}",
    constant="enum {{ {0} = {1} }};",
    infinity="INFINITY",
    nan="NAN",
    kept="  double kept[{0}];",
)
CUDA = C._replace(
    name="cuda",
    phrases={**_C_PHRASES, "function": "__device__ void"},
    table=f"__device__ const {_C_TABLE}",
)
JAVASCRIPT = Dialect(
    name="javascript",
    phrases={
        "function": "function",
        "in": "",
        "out": "",
        "number": "",
        "whole": "",
        "value": "const",
        "truth": "const",
        "real": "let",
        "integer": "let",
    },
    floor="Math.floor({0})",
    sqrt="Math.sqrt({0})",
    fmod="{0} % {1}",
    place="{0}",
    table="const {0} = new Float64Array([\n{2}\n]);",
    constant="const {0} = {1};",
    infinity="Infinity",
    nan="NaN",
    kept="const {1} = new Float64Array({0});",
)
DIALECTS = {dialect.name: dialect for dialect in (C, CUDA, JAVASCRIPT)}


def literal(value: float, dialect: Dialect) -> str:
    """A double: the shortest digits that give it back."""
    if math.isnan(value):
        return dialect.nan
    text = dialect.infinity if math.isinf(value) else repr(abs(value))
    return f"(-{text})" if math.copysign(1.0, value) < 0 else text


def table(name: str, values: Sequence[float], dialect: Dialect) -> str:
    """The definition of a table of constants; one of no entries has one, since C knows no others."""
    return _define_table(name, [literal(float(v), dialect) for v in values] or ["0.0"], dialect)


def _define_table(name: str, numbers: Sequence[str], dialect: Dialect) -> str:
    rows = [", ".join(numbers[i : i + 6]) for i in range(0, len(numbers), 6)]
    return dialect.table.format(name, len(numbers), ",\n".join(f"  {row}" for row in rows))


def translate(template: str, dialect: Dialect) -> str:
    """Text in which @words stand for the phrases of a language, `@array name[size];` for a new array of zeros."""
    array = "const {0} = new Float64Array({1});" if dialect is JAVASCRIPT else "double {0}[{1}] = {{0.0}};"
    template = re.sub(r"@array (\w+)\[(\w+)\];", lambda m: array.format(m[1], m[2]), template)
    return re.sub(r"@(\w+) ", lambda m: _joined(dialect.phrases[m[1]]), template)


def _joined(phrase: str) -> str:
    return phrase if not phrase or phrase.endswith((" ", "*")) else f"{phrase} "


class SourceFunction(NamedTuple):
    """A function of a program: its name, the kind of each argument by its name, and what it does."""

    name: str
    arguments: dict[str, str]
    """"out" (an array that is read and written), "in" (an array that is read) or "number"."""
    trace: Trace
    comment: str


def write_function(function: SourceFunction, dialect: Dialect) -> str:
    """The text of a function, with its tables before it."""
    return _FunctionWriter(function, dialect).text()


class _FunctionWriter:
    """The statements of a function.  All numbers are loaded before any is stored."""

    def __init__(self, function: SourceFunction, dialect: Dialect) -> None:
        function = function._replace(trace=lower(function.trace))
        self.function, self.dialect, self.graph = function, dialect, function.trace.graph
        self.tables: dict[tuple[str, ...], str] = {}
        self.made = [i for i in function.trace.order if self.graph.ops[i] not in LEAVES]
        self.part_of = {i: k // MOST_STATEMENTS for k, i in enumerate(self.made)}
        self.last = max(self.part_of.values(), default=0)
        self.kept: dict[int, int] = {}
        for i in self.made:
            self._keep(self._operands(i), self.part_of[i])
        self._keep(function.trace.stores.values(), self.last)

    def _keep(self, nodes: Iterable[int], part: int) -> None:
        """Keep what an earlier part has made."""
        for a in nodes:
            if self.part_of.get(a, part) < part:
                self.kept.setdefault(a, len(self.kept))

    def _operands(self, i: int) -> tuple[int, ...]:
        """The nodes that a statement names; the entries of a table are none of them."""
        return self.graph.args[i][:1] if self.graph.ops[i] == "pick" else self.graph.args[i]

    def text(self) -> str:
        name, dialect = self.function.name, self.dialect
        kinds = ", ".join(f"@{kind} {argument}" for argument, kind in self.function.arguments.items())
        given = ", ".join(self.function.arguments)
        if self.last == 0:
            lines = [f"// {self.function.comment}", f"@function {name}({kinds}) {{", *self._part(0), "}"]
            return "\n".join([*self._definitions(), translate("\n".join(lines), dialect)])
        parts, room = [], f"{name}_kept" if dialect is JAVASCRIPT else "kept"
        for part in range(self.last + 1):
            parts += [f"@function {name}_{part}({kinds}, @out kept) {{", *self._part(part), "}"]
        calls = [f"  {name}_{part}({given}, {room});" for part in range(self.last + 1)]
        array = dialect.kept.format(max(len(self.kept), 1), room)
        head = f"@function {name}({kinds}) {{"
        whole = [array, head] if dialect is JAVASCRIPT else [head, array]
        text = translate("\n".join([*parts, f"// {self.function.comment}", *whole, *calls, "}"]), dialect)
        return "\n".join([*self._definitions(), text])

    def _definitions(self) -> list[str]:
        return [_define_table(name, texts, self.dialect) for texts, name in self.tables.items()]

    def _part(self, part: int) -> list[str]:
        graph, trace = self.graph, self.function.trace
        own = [i for i in self.made if self.part_of[i] == part]
        used = {a for i in own for a in self._operands(i)}
        if part == self.last:
            used.update(trace.stores.values())
        lines = []
        for i in sorted(used):
            if graph.ops[i] == "in":
                lines.append(f"  @value v{i} = {_element(graph.args[i][0])};")
            elif self.part_of.get(i, part) < part:
                is_truth = graph.ops[i] in COMPARISONS
                kind, test = ("truth", " != 0") if is_truth else ("value", "")
                lines.append(f"  @{kind} v{i} = kept[{self.kept[i]}]{test};")
        lines += [self._statement(i) for i in own]
        for i in own:
            if i in self.kept:
                as_number = " ? 1.0 : 0.0" if graph.ops[i] in COMPARISONS else ""
                lines.append(f"  kept[{self.kept[i]}] = v{i}{as_number};")
        if part == self.last:
            lines += [f"  {_element(place)} = {self._name(i)};" for place, i in trace.stores.items()]
        return lines

    def _name(self, i: int) -> str:
        op = self.graph.ops[i]
        if op == "const":
            return literal(self.graph.value(i), self.dialect)
        return str(self.graph.args[i][0]) if op == "uniform" else f"v{i}"

    def _statement(self, i: int) -> str:
        op, dialect = self.graph.ops[i], self.dialect
        a = [self._name(j) for j in self._operands(i)]
        if op in _INFIX:
            text = f"{a[0]} {_INFIX[op]} {a[1]}"
        elif op == "neg":
            text = f"-{a[0]}"
        elif op == "sel":
            text = f"{a[0]} ? {a[1]} : {a[2]}"
        elif op == "pick":
            text = self._pick(dialect.place.format(a[0]), self.graph.args[i][1:])
        else:
            text = {"sqrt": dialect.sqrt, "floor": dialect.floor, "fmod": dialect.fmod}[op].format(*a)
        return f"  @{'truth' if op in COMPARISONS else 'value'} v{i} = {text};"

    def _pick(self, index: str, entries: tuple[int, ...]) -> str:
        """An entry of a table, or of numbers that lie in an array at equal distances."""
        ops, args = self.graph.ops, self.graph.args
        if all(ops[e] == "const" for e in entries):
            texts = tuple(self._name(e) for e in entries)  # by their text: 0 and -0 are two
            name = self.tables.setdefault(texts, f"{self.function.name}_table_{len(self.tables)}")
            return f"{name}[{index}]"
        array, _, first = args[entries[0]][0]
        stride = args[entries[1]][0][2] - first if len(entries) > 1 else 1
        return f"{array}[{first} + {stride} * {index}]"


def _element(place: Place) -> str:
    array, _, rest = place
    return f"{array}[{rest}]"
