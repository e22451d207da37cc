"""What the loops compute with while they are compiled: numbers, arrays and records that write code as they are used."""

from __future__ import annotations

from threading import local
from typing import Any

from polhode.ir.graph import TraceError
from polhode.ir.targets.llvm import Writer


class _Writing(local):
    """What this thread writes; another may write another program at the same time."""

    def __init__(self) -> None:
        self.writers: list[Writer] = []
        """The function that is being written, innermost last."""


_now = _Writing()
TYPES = {"i": "i64", "b": "i8"}
"""Whole numbers and truths in arrays, beside "d", the reals; other kinds are classes of records."""


def push_writer(writer: Writer) -> None:
    """Begin to write into another function."""
    _now.writers.append(writer)


def pop_writer() -> None:
    """Go back to the function before."""
    _now.writers.pop()


def out() -> Writer:
    """The function that is being written."""
    return _now.writers[-1]


def real() -> str:
    """The type of the reals of the module that is being written."""
    return out().real.name


class Scalar:
    """A real number."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __neg__(self) -> Scalar:
        return Scalar(out().new(f"fneg {real()} {self.name}"))


class Int:
    """A 64-bit integer: a name and a known rest, which is added when somebody needs the sum."""

    def __init__(self, base: str, rest: int = 0) -> None:
        self.base, self.rest = base, rest

    @property
    def name(self) -> str:
        return out().new(f"add i64 {self.base}, {self.rest}", "i") if self.rest else self.base


class Bool:
    """A truth value."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __bool__(self) -> bool:
        raise TraceError("the truth of a number that is not known yet")


def as_real(x: Any) -> str:
    """The name of a number as a real one."""
    if isinstance(x, Scalar):
        return x.name
    if isinstance(x, Int):
        return out().new(f"sitofp i64 {x.name} to {real()}")
    return out().real.literal(float(x))


def as_integer(x: Any) -> str:
    """The name of a whole number."""
    if isinstance(x, Scalar):
        return out().new(f"fptosi {real()} {x.name} to i64", "i")
    return x.name if isinstance(x, Int) else str(int(x))


def as_truth(x: Any) -> str:
    """The name of a truth value."""
    return x.name if isinstance(x, Bool) else ("true" if x else "false")


def choose(test: Any, x: Any, y: Any) -> Any:
    """x where the test holds, else y."""
    if not isinstance(test, Bool):
        return x if test else y
    if isinstance(x, (Int, int)) and isinstance(y, (Int, int)):
        return Int(out().new(f"select i1 {test.name}, i64 {as_integer(x)}, i64 {as_integer(y)}"))
    return Scalar(out().new(f"select i1 {test.name}, {real()} {as_real(x)}, {real()} {as_real(y)}"))


def _define_arithmetic(symbol: str, of_reals: str | None, whole: str | None) -> None:
    def result(a: Any, b: Any) -> Any:
        if whole is None or any(isinstance(x, (Scalar, float)) for x in (a, b)):
            rough = out().real.rough if symbol == "truediv" else ""
            return Scalar(out().new(f"{of_reals} {rough}{real()} {as_real(a)}, {as_real(b)}"))
        if symbol == "add" and isinstance(b, int):
            return Int(a.base, a.rest + b)
        if symbol == "add" and isinstance(a, int):
            return Int(b.base, b.rest + a)
        return Int(out().new(f"{whole} i64 {as_integer(a)}, {as_integer(b)}", "i"))

    for kind in (Scalar, Int):
        setattr(kind, f"__{symbol}__", lambda self, other: result(self, other))
        setattr(kind, f"__r{symbol}__", lambda self, other: result(other, self))


for _symbol, _real, _whole in (
    ("add", "fadd", "add"),
    ("sub", "fsub", "sub"),
    ("mul", "fmul", "mul"),
    ("truediv", "fdiv", None),
    ("floordiv", None, "sdiv"),
    ("mod", None, "srem"),
):
    _define_arithmetic(_symbol, _real, _whole)


def _define_comparison(symbol: str, of_reals: str, whole: str) -> None:
    def result(a: Any, b: Any) -> Bool:
        if any(isinstance(x, (Scalar, float)) for x in (a, b)):
            return Bool(out().new(f"fcmp {of_reals} {real()} {as_real(a)}, {as_real(b)}", "c"))
        return Bool(out().new(f"icmp {whole} i64 {as_integer(a)}, {as_integer(b)}", "c"))

    for kind in (Scalar, Int):
        setattr(kind, f"__{symbol}__", lambda self, other: result(self, other))


for _symbol, _real, _whole in (
    ("lt", "olt", "slt"),
    ("le", "ole", "sle"),
    ("gt", "ogt", "sgt"),
    ("ge", "oge", "sge"),
    ("eq", "oeq", "eq"),
    ("ne", "une", "ne"),
):
    _define_comparison(_symbol, _real, _whole)


def size_of(kind: Any, size_of_real: int = 8) -> int:
    """The bytes of an entry of an array."""
    if kind == "d":
        return size_of_real
    return 1 if kind == "b" else 8 if kind in TYPES else 8 * kind.words


def memory_type(kind: Any) -> str:
    """The type of an entry of an array in memory."""
    if kind == "d":
        return real()
    return TYPES[kind] if isinstance(kind, str) else f"[{kind.words} x i64]"


def load(kind: Any, at: str) -> Any:
    """The value at an address; of a record, the record itself."""
    if kind == "d":
        return Scalar(out().new(f"load {real()}, ptr {at}, align {out().real.size}", "l"))
    if kind == "b":
        return Bool(out().new(f"trunc i8 {out().new(f'load i8, ptr {at}, align 1', 'l')} to i1", "c"))
    return Int(out().new(f"load i64, ptr {at}, align 8", "l")) if kind == "i" else Entry(at, kind)


def store(kind: Any, at: str, value: Any) -> None:
    """Write a number to an address."""
    if kind == "d":
        out().put(f"store {real()} {as_real(value)}, ptr {at}, align {out().real.size}")
    elif kind == "i":
        out().put(f"store i64 {as_integer(value)}, ptr {at}, align 8")
    elif kind == "b":
        out().put(f"store i8 {out().new(f'zext i1 {as_truth(value)} to i8')}, ptr {at}, align 1")
    else:
        raise TraceError("a record as a whole: its fields are written one by one")


class Entry:
    """An entry of an array of records: its address, and the class that declares its fields."""

    def __init__(self, pointer: str, kind: Any) -> None:
        self.__dict__.update(pointer=pointer, kind=kind)

    def _find(self, name: str) -> tuple[Any, str]:
        if name not in self.kind.fields:
            raise TraceError(f"{self.kind.__name__} has no field {name!r}, only {', '.join(self.kind.fields)}")
        if out().real.size != 8:
            raise TraceError(f"{self.kind.__name__}, a record of numbers of 64 bits: use precision='fused'")
        field = self.kind.fields[name]
        return field, out().new(f"getelementptr i64, ptr {self.pointer}, i64 {field.word}", "p")

    def __getattr__(self, name: str) -> Any:
        field, at = self._find(name)
        return load(field.kind, at) if field.size is None else Array(at, field.kind, (field.size,))

    def __setattr__(self, name: str, value: Any) -> None:
        field, at = self._find(name)
        store(field.kind, at, value)


class Array:
    """A pointer, the kind of its numbers or its class of records, and its extents, each known or an Int."""

    def __init__(self, pointer: str, kind: Any, extents: Any) -> None:
        self.pointer, self.kind, self.extents = pointer, kind, tuple(extents)

    def _locate(self, key: Any) -> tuple[str, int]:
        key = key if isinstance(key, tuple) else (key,)
        offset: Any = 0
        for n, k in enumerate(key):
            offset = offset * self.extents[n] + k if n else k
        for extent in self.extents[len(key) :]:
            offset = offset * extent
        at = out().new(f"getelementptr {memory_type(self.kind)}, ptr {self.pointer}, i64 {as_integer(offset)}", "p")
        return at, len(key)

    def __getitem__(self, key: Any) -> Any:
        at, used = self._locate(key)
        return load(self.kind, at) if used == len(self.extents) else Array(at, self.kind, self.extents[used:])

    def __setitem__(self, key: Any, value: Any) -> None:
        store(self.kind, self._locate(key)[0], value)

    @property
    def shape(self) -> tuple[Any, ...]:
        return self.extents


class Arguments:
    """A named tuple in memory: a word for each number, and for each array its address and extents."""

    def __init__(self, pointer: str, fields: dict[str, tuple[int, Any]]) -> None:
        self.__dict__.update(pointer=pointer, fields=fields)

    def __getattr__(self, name: str) -> Any:
        slot, like = self.fields[name]
        return self._load(slot, like)

    def _load(self, slot: int, like: Any) -> Any:
        if isinstance(like, tuple):
            parts = []
            for part in like:
                parts.append(self._load(slot, part))
                slot += words_of(part)
            return tuple(parts)
        if isinstance(like, Array):
            pointer = self._word("ptr", slot)
            loaded = (Int(self._word("i64", slot + 1 + n)) for n in range(len(like.extents)))
            extents = [e if isinstance(k, Int) else k for e, k in zip(loaded, like.extents, strict=True)]
            return Array(pointer, like.kind, extents)
        if isinstance(like, Scalar):
            return Scalar(self._word("double", slot))
        if isinstance(like, Bool):
            return Bool(out().new(f"icmp ne i64 {self._word('i64', slot)}, 0", "c"))
        return Int(self._word("i64", slot)) if isinstance(like, Int) else like

    def _word(self, kind: str, slot: int) -> str:
        at = out().new(f"getelementptr i64, ptr {self.pointer}, i64 {slot}", "p")
        name = out().new(f"load {kind}, ptr {at}, align 8{out().real.of_records}", "w")
        return name if kind != "double" or real() == kind else out().new(f"fptrunc double {name} to {real()}")


def words_of(like: Any) -> int:
    """How many words of a record a value takes."""
    if isinstance(like, tuple):
        return sum(words_of(part) for part in like)
    if isinstance(like, Array):
        return 1 + len(like.extents)
    return 1 if isinstance(like, (Scalar, Int, Bool)) else 0
