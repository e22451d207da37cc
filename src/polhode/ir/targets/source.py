"""A traced function as source text: one writer for all languages, which differ in the phrases of their records.

One statement for each node, in their order, so that the text has the bits of the plain law wherever multiplications and
additions are not fused.  Long functions are cut into parts: engines of JavaScript do not optimize functions beyond a
size (V8: 60 kB of bytecode), and the time of C compilers grows faster than the length of a function.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from polhode.ir.graph import LEAVES, Place, Trace
from polhode.ir.operations import COMPARISONS
from polhode.ir.passes import lower
from polhode.ir.targets.phrases import Language, define_table, literal, write_arguments

MOST_STATEMENTS = 1000
"""Statements in one part of a function."""


class SourceFunction(NamedTuple):
    """A function of a program: its name, the kind of each argument by its name, and what it does."""

    name: str
    arguments: dict[str, str]
    """"out" (an array that is read and written), "in" (an array that is read) or "number"."""
    trace: Trace
    comment: str


def write_function(function: SourceFunction, language: Language) -> str:
    """The text of a function, with its tables before it."""
    return _FunctionWriter(function, language).text()


class _FunctionWriter:
    """The statements of a function.  All numbers are loaded before any is stored."""

    def __init__(self, function: SourceFunction, language: Language) -> None:
        function = function._replace(trace=lower(function.trace))
        self.function, self.language, self.graph = function, language, function.trace.graph
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
        name, comment, kinds = self.function.name, f"// {self.function.comment}\n", self.function.arguments
        if self.last == 0:
            functions = [comment + self._define(name, kinds, self._part(0))]
        else:
            more, parts = {**kinds, "kept": "out"}, range(self.last + 1)
            functions = [self._define(f"{name}_{part}", more, self._part(part)) for part in parts]
            room = (name, max(len(self.kept), 1))
            calls = [f"{name}_{part}({', '.join(more)});" for part in parts]
            before = self.language.kept_before.format(*room)
            functions.append(before + comment + self._define(name, kinds, [self.language.kept.format(*room), *calls]))
        tables = [define_table(name, texts, self.language) for texts, name in self.tables.items()]
        return "\n".join([*tables, *functions])

    def _define(self, name: str, kinds: dict[str, str], lines: Iterable[str]) -> str:
        first = self.language.function.format(name, write_arguments(kinds, self.language))
        return "\n".join([first, *(f"  {line}" for line in lines), "}"])

    def _part(self, part: int) -> list[str]:
        graph, trace = self.graph, self.function.trace
        own = [i for i in self.made if self.part_of[i] == part]
        used = {a for i in own for a in self._operands(i)}
        if part == self.last:
            used.update(trace.stores.values())
        lines = []
        for i in sorted(used):
            if graph.ops[i] == "in":
                lines.append(self._declare(i, self._element(graph.args[i][0])))
            elif self.part_of.get(i, part) < part:
                test = " != 0.0" if graph.ops[i] in COMPARISONS else ""
                lines.append(self._declare(i, self._entry("kept", self.kept[i]) + test))
        lines += [self._declare(i, self._value(i)) for i in own]
        for i in own:
            if i in self.kept:
                is_truth = graph.ops[i] in COMPARISONS
                value = self.language.operations["sel"].format(f"v{i}", "1.0", "0.0") if is_truth else f"v{i}"
                lines.append(f"{self._entry('kept', self.kept[i])} = {value};")
        if part == self.last:
            lines += [f"{self._element(place)} = {self._name(i)};" for place, i in trace.stores.items()]
        return lines

    def _declare(self, i: int, text: str) -> str:
        kind = "truth" if self.graph.ops[i] in COMPARISONS else "value"
        return self.language.declare[kind].format(f"v{i}", text)

    def _name(self, i: int) -> str:
        op = self.graph.ops[i]
        if op == "const":
            return literal(self.graph.value(i), self.language)
        return str(self.graph.args[i][0]) if op == "uniform" else f"v{i}"

    def _value(self, i: int) -> str:
        op, names = self.graph.ops[i], [self._name(j) for j in self._operands(i)]
        if op == "pick":
            return self._pick(self.language.whole.format(names[0]), self.graph.args[i][1:])
        return self.language.operations[op].format(*names)

    def _pick(self, index: str, entries: tuple[int, ...]) -> str:
        """An entry of a table, or of numbers that lie in an array at equal distances."""
        ops, args = self.graph.ops, self.graph.args
        if all(ops[e] == "const" for e in entries):
            texts = tuple(self._name(e) for e in entries)  # by their text: 0 and -0 are two
            name = self.tables.setdefault(texts, f"{self.function.name}_table_{len(self.tables)}")
            return self._entry(name, index)
        array, _, first = args[entries[0]][0]
        stride = args[entries[1]][0][2] - first if len(entries) > 1 else 1
        return self._entry(array, f"{first} + {stride} * {index}")

    def _element(self, place: Place) -> str:
        array, _, rest = place
        return self._entry(array, rest)

    def _entry(self, array: str, index: int | str) -> str:
        return self.language.entry.format(array, index)
