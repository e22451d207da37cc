"""A traced function as LLVM's assembly language: explicit vectors of some lanes, strict arithmetic, nothing fused.

What depends only on numbers that all lanes share is computed once, as a scalar.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from polhode.ir.graph import LEAVES, Graph, Place, Trace
from polhode.ir.passes import SINGLE, as_single
from polhode.ir.verifier import verify

_BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv", "fmod": "frem"}
_CALLS = {"sqrt": "llvm.sqrt", "floor": "llvm.floor", "fma": "llvm.fma"}
_COMPARE = {"lt": "olt", "le": "ole", "eq": "oeq"}


class Real(NamedTuple):
    """The type of the numbers of a module."""

    name: str
    """In LLVM's language..."""
    suffix: str
    """... and in the names of its functions."""
    size: int
    """Its bytes."""
    rough: str = ""
    """What allows divisions and roots to be off by a unit or two in the last place."""
    of_records: str = ", !invariant.load !0"
    """What a load of a word of a record says: nothing else writes there."""

    def literal(self, value: float) -> str:
        """A number by the bits of a double."""
        return literal(value if self.size == 8 else as_single(value))


DOUBLE, FLOAT = Real("double", "f64", 8), Real("float", "f32", 4, "afn ")


def real_of(precision: str) -> Real:
    """The type of the numbers in a precision."""
    return FLOAT if precision == SINGLE else DOUBLE


def literal(value: float) -> str:
    """A double by its bits."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


class Writer:
    """The lines of a function, and the constant tables that it needs."""

    def __init__(self, tables: dict[str, str], real: Real = DOUBLE) -> None:
        self.lines: list[str] = []
        self.tables, self.real = tables, real
        """The name of each table of the module, by its definition; and the type of its numbers."""
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

    def table(self, values: Iterable[Any], kind: str = "") -> str:
        """The name of a constant table, of reals unless another type is given."""
        numbers = [str(int(v)) if kind else self.real.literal(v) for v in values]
        kind = kind or self.real.name
        text = f"private constant [{len(numbers)} x {kind}] [{', '.join(f'{kind} {n}' for n in numbers)}], align 64"
        return self.tables.setdefault(text, f"@table{len(self.tables)}")


class TraceWriter:
    """Writes the nodes of a trace, `width` lanes at a time."""

    def __init__(self, trace: Trace, width: int, out: Writer, address: Callable[[Place], str]) -> None:
        self.graph: Graph = verify(trace).graph
        self.trace, self.width, self.out, self.address, self.real = trace, width, out, address, out.real
        self.vector = f"<{width} x {self.real.name}>" if width > 1 else self.real.name
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
            self.names[i] = out.new(f"load {self.vector}, ptr {self.address(place)}, align {self.real.size}", "l")
        self.write_nodes(self.trace.order)
        for place, i in self.trace.stores.items():
            out.put(f"store {self.vector} {self.name(i)}, ptr {self.address(place)}, align {self.real.size}")

    def name(self, i: int, wide: bool = True) -> str:
        """The name of a node's value: a vector, or a scalar if not `wide`."""
        wide = wide and self.width > 1
        if self.graph.ops[i] == "const":
            bits = self.real.literal(self.graph.value(i))
            return f"splat ({self.real.name} {bits})" if wide else bits
        if wide and i in self.uniform:
            if i not in self._splats:
                one = self.out.new(f"insertelement {self.vector} poison, {self.real.name} {self.names[i]}, i32 0", "s")
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
            kind = self.vector if wide else self.real.name
            rough = self.real.rough if op in ("div", "sqrt") else ""
            if op in _BINARY:
                a, b = args[i]
                names[i] = out.new(f"{_BINARY[op]} {rough}{kind} {self.name(a, wide)}, {self.name(b, wide)}")
            elif op == "neg":
                names[i] = out.new(f"fneg {kind} {self.name(args[i][0], wide)}")
            elif op in _CALLS:
                suffix = f"v{self.width}{self.real.suffix}" if wide and self.width > 1 else self.real.suffix
                given = ", ".join(f"{kind} {self.name(a, wide)}" for a in args[i])
                names[i] = out.new(f"call {rough}{kind} @{_CALLS[op]}.{suffix}({given})")
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
            place = out.new(f"fptosi {self.real.name} {one} to i64", "i")
            if stride != 1:
                place = out.new(f"mul i64 {place}, {stride}", "i")
            if lane and base.startswith("%"):
                place = out.new(f"add i64 {place}, {lane}", "i")
            at_place = out.new(f"getelementptr {self.real.name}, ptr {base}, i64 {place}", "p")
            one = out.new(f"load {self.real.name}, ptr {at_place}, align {self.real.size}")
            if lanes == 1:
                return one
            value = out.new(f"insertelement {self.vector} {value}, {self.real.name} {one}, i32 {lane}", "s")
        return value

    def _find_table(self, entries: tuple[int, ...]) -> tuple[str, int]:
        ops, args = self.graph.ops, self.graph.args
        if all(ops[e] == "const" for e in entries):
            return self.out.table([self.graph.value(e) for e in entries]), 1
        places: list[Place] = [args[e][0] for e in entries]  # at equal distances: `graph.pick` makes no others
        return self.address(places[0]), places[1][2] - places[0][2] if len(places) > 1 else 1


def declarations(width: int, real: Real = DOUBLE) -> str:
    """The functions of LLVM that the text uses."""
    kinds = {real.name: real.suffix} | ({f"<{width} x {real.name}>": f"v{width}{real.suffix}"} if width > 1 else {})
    lines = [
        f"declare {kind} @{name}.{suffix}({', '.join([kind] * (3 if op == 'fma' else 1))})"
        for kind, suffix in kinds.items()
        for op, name in _CALLS.items()
    ]
    lines += ["declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)"]
    return "\n".join([*lines, "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"])
