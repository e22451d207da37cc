"""A traced function as LLVM's assembly language: explicit vectors of some lanes, strict arithmetic, nothing fused.

What depends only on numbers that all lanes share is computed once, as a scalar.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import Any

from polhode.ir.graph import LEAVES, Graph, Place, Trace

_BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv", "fmod": "frem"}
_UNARY = {"sqrt": "llvm.sqrt", "floor": "llvm.floor"}
_COMPARE = {"lt": "olt", "le": "ole", "eq": "oeq"}


def literal(value: float) -> str:
    """A double by its bits."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


class Writer:
    """The lines of a function, and the constant tables that it needs."""

    def __init__(self, tables: dict[str, str]) -> None:
        self.lines: list[str] = []
        self.tables = tables
        """The name of each table of the module, by its definition."""
        self._count = 0

    def put(self, text: str) -> None:
        """A line without a result."""
        self.lines.append("  " + text)

    def new(self, text: str, hint: str = "x") -> str:
        """The name of the result of a line."""
        self._count += 1
        name = f"%{hint}{self._count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def label(self, name: str) -> None:
        """The start of a block."""
        self.lines.append(f"{name}:")

    def table(self, values: Iterable[Any], kind: str = "double") -> str:
        """The name of a constant table."""
        numbers = [literal(v) if kind == "double" else str(int(v)) for v in values]
        text = f"private constant [{len(numbers)} x {kind}] [{', '.join(f'{kind} {n}' for n in numbers)}], align 64"
        return self.tables.setdefault(text, f"@table{len(self.tables)}")


class TraceWriter:
    """Writes the nodes of a trace, `width` lanes at a time."""

    def __init__(self, trace: Trace, width: int, out: Writer, address: Callable[[Place], str]) -> None:
        self.graph: Graph = trace.graph
        self.trace, self.width, self.out, self.address = trace, width, out, address
        self.vector = f"<{width} x double>" if width > 1 else "double"
        self.names: dict[int, str] = {}
        self._splats: dict[int, str] = {}
        self.uniform = self._find_uniform() if width > 1 else set()
        for i in trace.order:
            if self.graph.ops[i] == "uniform":
                self.names[i] = self.graph.args[i][0]

    def _find_uniform(self) -> set[int]:
        """The nodes that are the same in all lanes."""
        ops, args, found = self.graph.ops, self.graph.args, set()
        for i in self.trace.order:
            if ops[i] in ("const", "uniform") or (ops[i] != "in" and all(a in found for a in args[i])):
                found.add(i)
        return found

    def write_uniform(self) -> None:
        """Write what all lanes share."""
        self.write_nodes([i for i in self.trace.order if i in self.uniform])

    def write(self) -> None:
        """Write all loads, all other nodes, and all stores."""
        out = self.out
        for place, i in self.trace.loads.items():
            self.names[i] = out.new(f"load {self.vector}, ptr {self.address(place)}, align 8", "l")
        self.write_nodes(self.trace.order)
        for place, i in self.trace.stores.items():
            out.put(f"store {self.vector} {self.name(i)}, ptr {self.address(place)}, align 8")

    def name(self, i: int, wide: bool = True) -> str:
        """The name of a node's value: a vector, or a scalar if not `wide`."""
        wide = wide and self.width > 1
        if self.graph.ops[i] == "const":
            bits = literal(self.graph.value(i))
            return f"splat (double {bits})" if wide else bits
        if wide and i in self.uniform:
            if i not in self._splats:
                one = self.out.new(f"insertelement {self.vector} poison, double {self.names[i]}, i32 0", "s")
                shuffle = f"shufflevector {self.vector} {one}, {self.vector} poison"
                self._splats[i] = self.out.new(f"{shuffle}, <{self.width} x i32> zeroinitializer", "s")
            return self._splats[i]
        return self.names[i]

    def write_nodes(self, nodes: Iterable[int]) -> None:
        """Write those nodes that have no names yet."""
        ops, args, names, out = self.graph.ops, self.graph.args, self.names, self.out
        for i in nodes:
            op = ops[i]
            if op in LEAVES or i in names:
                continue
            wide = i not in self.uniform
            kind = self.vector if wide else "double"
            if op in _BINARY:
                a, b = args[i]
                names[i] = out.new(f"{_BINARY[op]} {kind} {self.name(a, wide)}, {self.name(b, wide)}")
            elif op == "neg":
                names[i] = out.new(f"fneg {kind} {self.name(args[i][0], wide)}")
            elif op in _UNARY:
                suffix = f"v{self.width}f64" if wide and self.width > 1 else "f64"
                names[i] = out.new(f"call {kind} @{_UNARY[op]}.{suffix}({kind} {self.name(args[i][0], wide)})")
            elif op in _COMPARE:
                a, b = args[i]
                names[i] = out.new(f"fcmp {_COMPARE[op]} {kind} {self.name(a, wide)}, {self.name(b, wide)}", "c")
            elif op == "sel":
                c, x, y = args[i]
                choice = f"<{self.width} x i1>" if wide and self.width > 1 and c not in self.uniform else "i1"
                both = f"{kind} {self.name(x, wide)}, {kind} {self.name(y, wide)}"
                names[i] = out.new(f"select {choice} {names[c]}, {both}")
            elif op == "pick":
                names[i] = self._pick(args[i][0], args[i][1:], wide)
            else:
                raise NotImplementedError(op)

    def _pick(self, index: int, entries: tuple[int, ...], wide: bool) -> str:
        """Entry by computed place: from a constant table, or from numbers that lie in memory at equal distances."""
        out = self.out
        lanes = self.width if wide else 1
        base, stride = self._find_table(entries)
        at = self.name(index, wide)
        value = "poison"
        for lane in range(lanes):
            one = at if lanes == 1 else out.new(f"extractelement {self.vector} {at}, i32 {lane}")
            place = out.new(f"fptosi double {one} to i64", "i")
            if stride != 1:
                place = out.new(f"mul i64 {place}, {stride}", "i")
            if lane and base.startswith("%"):
                place = out.new(f"add i64 {place}, {lane}", "i")
            one = out.new(f"load double, ptr {out.new(f'getelementptr double, ptr {base}, i64 {place}', 'p')}, align 8")
            if lanes == 1:
                return one
            value = out.new(f"insertelement {self.vector} {value}, double {one}, i32 {lane}", "s")
        return value

    def _find_table(self, entries: tuple[int, ...]) -> tuple[str, int]:
        ops, args = self.graph.ops, self.graph.args
        if all(ops[e] == "const" for e in entries):
            return self.out.table([self.graph.value(e) for e in entries]), 1
        places: list[Place] = [args[e][0] for e in entries]  # at equal distances: `graph.pick` makes no others
        return self.address(places[0]), places[1][2] - places[0][2] if len(places) > 1 else 1


def declarations(width: int) -> str:
    """The functions of LLVM that the text uses."""
    kinds = {"double": "f64"} | ({f"<{width} x double>": f"v{width}f64"} if width > 1 else {})
    lines = [f"declare {kind} @{name}.{suffix}({kind})" for kind, suffix in kinds.items() for name in _UNARY.values()]
    lines += ["declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)"]
    return "\n".join([*lines, "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"])
