"""The loops that drive the laws, compiled from their Python source.

Statements are compiled (for, while, if, assignments), expressions are evaluated on values that write code, and laws are
traced: a `Sweep` over all bodies of a unit in vectors, any other function where it is called.  The subset of Python:
whole numbers have 64 bits and are not negative where they are divided; arrays are C-contiguous; a `for` whose number
picks from a known tuple is unrolled; a name is bound to one kind of value.

`engine="python"` runs the same functions as they stand.
"""

from __future__ import annotations

import ast
import builtins
import ctypes
import inspect
import operator
import struct
import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from polhode.ir.graph import Offset, Place, Trace, TraceError, tracing
from polhode.ir.loop_values import (
    TYPES,
    Arguments,
    Array,
    Bool,
    Entry,
    Int,
    Scalar,
    as_integer,
    as_real,
    as_truth,
    choose,
    memory_type,
    out,
    pop_writer,
    push_writer,
    real,
    size_of,
    words_of,
)
from polhode.ir.numbers import Block, Traced
from polhode.ir.passes import STRICT, prepare
from polhode.ir.targets.llvm import DOUBLE, Real, TraceWriter, Writer, declarations, real_of

Loop = Callable[..., Any]
_Loop = TypeVar("_Loop", bound=Loop)
ENTRY = "advance"
"""The name of the outermost loop in a program."""


def loop(function: _Loop) -> _Loop:
    """Mark a function that contains loops or decisions: it becomes a function of the compiled program."""
    function.__dict__["is_loop"] = True
    return function


class Sweep:
    """A straight function (unit, at, ...) of one body, applied to every body of a unit; the bodies are independent."""

    def __init__(self, body: Callable[..., None], lanes: int, size: int) -> None:
        self.body, self.lanes, self.size = body, lanes, size

    def __call__(self, unit: Any, *rest: Any) -> None:
        for block in range(len(unit) // self.size):
            for lane in range(self.lanes):
                self.body(unit, block * self.size + lane, *rest)


@lru_cache(maxsize=512)
def _parse(code: CodeType) -> ast.FunctionDef:
    tree = ast.parse(textwrap.dedent(inspect.getsource(code))).body[0]
    assert isinstance(tree, ast.FunctionDef)
    return tree


class Slot:
    """A variable of a function that is assigned more than once."""

    def __init__(self, pointer: str, like: Any) -> None:
        self.pointer, self.like = pointer, like

    def get(self) -> Any:
        like, kind = self.like, _type_of(self.like)
        name = out().new(f"load {kind}, ptr {self.pointer}", "l")
        if isinstance(like, Array):
            return Array(name, like.kind, like.extents)
        if isinstance(like, Entry):
            return Entry(name, like.kind)
        return {real(): Scalar, "i1": Bool, "i64": Int}[kind](name)

    def set(self, value: Any) -> None:
        kind = _type_of(self.like)
        out().put(f"store {kind} {_shown(value, kind)}, ptr {self.pointer}")


def _type_of(value: Any) -> str:
    if isinstance(value, (Array, Entry)):
        return "ptr"
    if isinstance(value, (Scalar, float)):
        return real()
    return "i1" if isinstance(value, (Bool, bool)) else "i64"


def _shown(value: Any, kind: str) -> str:
    if kind == "ptr":
        return str(value.pointer)
    return {real(): as_real, "i1": as_truth, "i64": as_integer}[kind](value)


class _NumPy:
    """What the loops ask of NumPy."""

    int64, bool_, float64, inf = "i", "b", "d", float("inf")

    def __init__(self, function: Function) -> None:
        self._function = function

    def zeros(self, shape: Any, dtype: Any = "d") -> Array:
        kind = dtype.type if isinstance(dtype, np.dtype) else dtype
        return self._function.allocate(kind, shape if isinstance(shape, tuple) else (shape,))

    empty = zeros


def _maximum(*values: Any) -> Any:
    best = values[0]
    for value in values[1:]:
        best = choose(_greater(value, best), value, best)
    return best


def _minimum(*values: Any) -> Any:
    best = values[0]
    for value in values[1:]:
        best = choose(_greater(best, value), value, best)
    return best


def _greater(a: Any, b: Any) -> Any:
    return a > b if isinstance(a, (Scalar, Int)) else b < a


_OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq, ast.NotEq: operator.ne,
}  # fmt: skip


def _is_left_early(body: Sequence[ast.stmt]) -> bool:
    """Whether a `break` or `continue` of this loop, not of one inside it, is among the statements."""
    return any(
        isinstance(s, (ast.Break, ast.Continue))
        or (isinstance(s, ast.If) and (_is_left_early(s.body) or _is_left_early(s.orelse)))
        for s in body
    )


class Function:
    """One loop function, compiled for one kind of arguments."""

    def __init__(self, program: CompiledModule, function: Any, arguments: Sequence[Any], name: str) -> None:
        self.program, self.name = program, name
        self.writer, self.rooms, self.labels = Writer(program.tables, program.real), list[str](), 0
        self.tree = _parse(function.__code__)
        self.breaks: list[str] = []
        self.continues: list[str] = []
        self.returns: str | None = None
        self.outer = {**vars(builtins), **function.__globals__, **inspect.getclosurevars(function).nonlocals}
        self.outer |= {
            "np": _NumPy(self),
            "len": lambda x: x.extents[0] if isinstance(x, Array) else len(x),
            "abs": lambda x: choose(x < 0.0, -x, x),
            "min": _minimum,
            "max": _maximum,
            "float": lambda x: Scalar(as_real(x)),
            "int": lambda x: Int(as_integer(x)) if isinstance(x, Scalar) else x,
            "bool": lambda x: x,
        }
        self.names: dict[str, Any] = {}
        self.assigned: dict[str, int] = {}
        for n in ast.walk(self.tree):
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store):
                self.assigned[n.id] = self.assigned.get(n.id, 0) + 1
            if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name):
                self.assigned[n.target.id] = 2
        self.parameters: list[str] = []
        push_writer(self.writer)
        for a, value in zip(self.tree.args.args, arguments, strict=True):
            self.names[a.arg] = self._incoming(f"in.{a.arg}", value)
        self.block(self.tree.body)
        if not self._is_closed():
            out().put("ret void" if self.returns in (None, "void") else "unreachable")
        pop_writer()

    def _incoming(self, name: str, value: Any) -> Any:
        """A parameter like `value`; what is known stays known."""
        if isinstance(value, Arguments):
            self.parameters.append(f"ptr %{name}")
            return Arguments(f"%{name}", value.fields)
        if isinstance(value, Entry):
            self.parameters.append(f"ptr %{name}")
            return Entry(f"%{name}", value.kind)
        if isinstance(value, Array):
            self.parameters.append(f"ptr %{name}")
            extents: list[Any] = []
            for n, extent in enumerate(value.extents):
                if isinstance(extent, Int):
                    self.parameters.append(f"i64 %{name}.{n}")
                    extent = Int(f"%{name}.{n}")
                extents.append(extent)
            return Array(f"%{name}", value.kind, extents)
        if isinstance(value, (Scalar, Int, Bool)):
            self.parameters.append(f"{_type_of(value)} %{name}")
            return type(value)(f"%{name}")
        if isinstance(value, tuple):
            parts = [self._incoming(f"{name}.{n}", part) for n, part in enumerate(value)]
            return value._make(parts) if hasattr(value, "_make") else tuple(parts)
        return value

    def text(self, attributes: str) -> str:
        """The definition of the function."""
        linkage = "" if self.name == ENTRY else "internal "
        head = f"define {linkage}{self.returns or 'void'} @{self.name}({', '.join(self.parameters)}) {attributes} {{"
        return "\n".join([head, "entry:", *(f"  {room}" for room in self.rooms), *self.writer.lines, "}"])

    def allocate(self, kind: Any, extents: tuple[Any, ...]) -> Array:
        """Room on the stack, zeroed.  Loops ask for it at their beginning, never inside a loop."""
        count: Any = 1
        for extent in extents:
            count = count * extent
        name = out().new(f"alloca {memory_type(kind)}, i64 {as_integer(count)}, align 64", "a")
        size = as_integer(count * size_of(kind, out().real.size))
        out().put(f"call void @llvm.memset.p0.i64(ptr {name}, i8 0, i64 {size}, i1 false)")
        return Array(name, kind, extents)

    def room(self, kind: str) -> str:
        """A place for one variable."""
        name = f"%room{len(self.rooms)}"
        self.rooms.append(f"{name} = alloca {kind}, align 8")
        return name

    def label(self) -> str:
        """A new label."""
        self.labels += 1
        return f"b{self.labels}"

    def _is_closed(self) -> bool:
        last = self.writer.lines[-1].strip() if self.writer.lines else ""
        return last.startswith(("br ", "ret ", "unreachable"))

    def jump(self, label: str) -> None:
        """Go to a label, unless the block has ended."""
        if not self._is_closed():
            out().put(f"br label %{label}")

    # Statements -----------------------------------------------------------------------------------------------------
    def block(self, statements: Sequence[ast.stmt]) -> None:
        """Compile statements up to the first that leaves."""
        for s in statements:
            if self._is_closed():
                return
            getattr(self, f"do_{type(s).__name__}")(s)

    def do_Expr(self, s: ast.Expr) -> None:
        if not isinstance(s.value, ast.Constant):
            self.evaluate(s.value)

    def do_Pass(self, s: ast.Pass) -> None:
        pass

    def do_Return(self, s: ast.Return) -> None:
        value = None if s.value is None else self.evaluate(s.value)
        if value is None:
            self.returns = self.returns or "void"
            out().put("ret void")
        else:
            self.returns = _type_of(value)
            out().put(f"ret {self.returns} {_shown(value, self.returns)}")

    def do_Break(self, s: ast.Break) -> None:
        out().put(f"br label %{self.breaks[-1]}")

    def do_Continue(self, s: ast.Continue) -> None:
        out().put(f"br label %{self.continues[-1]}")

    def do_Assign(self, s: ast.Assign) -> None:
        self.bind(s.targets[0], self.evaluate(s.value))

    def do_AnnAssign(self, s: ast.AnnAssign) -> None:
        assert s.value is not None
        self.bind(s.target, self.evaluate(s.value))

    def do_AugAssign(self, s: ast.AugAssign) -> None:
        reads: Any = type(s.target)(**dict(ast.iter_fields(s.target)))
        reads.ctx = ast.Load()
        self.bind(s.target, _OPERATORS[type(s.op)](self.evaluate(reads), self.evaluate(s.value)))

    def bind(self, target: Any, value: Any) -> None:
        """Assign a value to a name, an entry of an array, a field of a record, or several."""
        if isinstance(target, ast.Tuple):
            for t, v in zip(target.elts, value, strict=True):
                self.bind(t, v)
        elif isinstance(target, ast.Subscript):
            self.evaluate(target.value)[self.evaluate(target.slice)] = value
        elif isinstance(target, ast.Attribute):
            entry = self.evaluate(target.value)
            if not isinstance(entry, Entry):
                raise TraceError(f"{ast.unparse(target)} = ...: only fields of records in arrays can be assigned")
            setattr(entry, target.attr, value)
        elif self.assigned[target.id] < 2 or not isinstance(value, (Array, Entry, Scalar, Int, Bool, int, float, bool)):
            self.names[target.id] = value
        else:
            slot = self.names.get(target.id)
            if not isinstance(slot, Slot):
                slot = self.names[target.id] = Slot(self.room(_type_of(value)), value)
            slot.set(value)

    def do_If(self, s: ast.If) -> None:
        test = self.evaluate(s.test)
        if not isinstance(test, Bool):
            self.block(s.body if test else s.orelse)
            return
        yes, no, end = self.label(), self.label(), self.label()
        out().put(f"br i1 {test.name}, label %{yes}, label %{no}")
        for label, part in ((yes, s.body), (no, s.orelse)):
            out().label(label)
            self.block(part)
            self.jump(end)
        out().label(end)

    def do_While(self, s: ast.While) -> None:
        head, body, end = self.label(), self.label(), self.label()
        self.jump(head)
        out().label(head)
        out().put(f"br i1 {as_truth(self.evaluate(s.test))}, label %{body}, label %{end}")
        out().label(body)
        self._loop_body(s.body, end, head)
        self.jump(head)
        out().label(end)

    def _loop_body(self, body: Sequence[ast.stmt], end: str, following: str) -> None:
        self.breaks.append(end)
        self.continues.append(following)
        self.block(body)
        self.breaks.pop()
        self.continues.pop()

    def do_For(self, s: ast.For) -> None:
        assert isinstance(s.iter, ast.Call)
        assert isinstance(s.target, ast.Name)
        bounds = [self.evaluate(a) for a in s.iter.args]
        start, stop, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
        if isinstance(start, int) and isinstance(stop, int):
            numbers = range(start, stop, step)
            is_short = len(numbers) <= self.program.unrolled and not _is_left_early(s.body)
            if is_short or self._picks_from_a_tuple(s):
                for i in numbers:
                    self.names[s.target.id] = i
                    self.block(s.body)
                return
        slot = Slot(self.room("i64"), 0)
        slot.set(start)
        head, body, following, end = self.label(), self.label(), self.label(), self.label()
        self.jump(head)
        out().label(head)
        i = slot.get()
        out().put(f"br i1 {(i < stop).name}, label %{body}, label %{end}")
        out().label(body)
        self.names[s.target.id] = i
        self._loop_body(s.body, end, following)
        self.jump(following)
        out().label(following)
        slot.set(i + step)
        self.jump(head)
        out().label(end)

    def _picks_from_a_tuple(self, s: ast.For) -> bool:
        """Whether the loop's number picks entries of a known tuple: then it must be known itself."""
        return any(
            isinstance(e, ast.Subscript)
            and isinstance(e.slice, ast.Name)
            and e.slice.id == s.target.id  # type: ignore[attr-defined]
            and isinstance(e.value, ast.Name)
            and isinstance(self.names.get(e.value.id, self.outer.get(e.value.id)), tuple)
            for part in s.body
            for e in ast.walk(part)
        )

    # Expressions ----------------------------------------------------------------------------------------------------
    def evaluate(self, e: ast.expr) -> Any:
        """The value of an expression."""
        return getattr(self, f"value_of_{type(e).__name__}")(e)

    def value_of_Constant(self, e: ast.Constant) -> Any:
        return e.value

    def value_of_Name(self, e: ast.Name) -> Any:
        found = self.names[e.id] if e.id in self.names else self.outer[e.id]
        if isinstance(found, Slot):
            return found.get()
        if isinstance(found, np.ndarray):
            kind = "d" if found.dtype.kind == "f" else "i"
            return Array(self.writer.table(found.ravel(), TYPES.get(kind, "")), kind, found.shape)
        return found

    def value_of_Attribute(self, e: ast.Attribute) -> Any:
        return getattr(self.evaluate(e.value), e.attr)

    def value_of_Subscript(self, e: ast.Subscript) -> Any:
        return self.evaluate(e.value)[self.evaluate(e.slice)]

    def value_of_Slice(self, e: ast.Slice) -> slice:
        return slice(*(None if part is None else self.evaluate(part) for part in (e.lower, e.upper, e.step)))

    def value_of_Tuple(self, e: ast.Tuple) -> tuple[Any, ...]:
        return tuple(self.evaluate(part) for part in e.elts)

    def value_of_BinOp(self, e: ast.BinOp) -> Any:
        return _OPERATORS[type(e.op)](self.evaluate(e.left), self.evaluate(e.right))

    def value_of_UnaryOp(self, e: ast.UnaryOp) -> Any:
        value = self.evaluate(e.operand)
        if isinstance(e.op, ast.Not):
            return Bool(out().new(f"xor i1 {value.name}, true", "c")) if isinstance(value, Bool) else not value
        return -value

    def value_of_Compare(self, e: ast.Compare) -> Any:
        left, found = self.evaluate(e.left), None
        for op, each in zip(e.ops, e.comparators, strict=True):
            right = self.evaluate(each)
            one = _OPERATORS[type(op)](left, right)
            found = one if found is None else Bool(out().new(f"and i1 {as_truth(found)}, {as_truth(one)}", "c"))
            left = right
        return found

    def value_of_IfExp(self, e: ast.IfExp) -> Any:
        test = self.evaluate(e.test)
        if not isinstance(test, Bool):
            return self.evaluate(e.body if test else e.orelse)
        yes, no, end = self.label(), self.label(), self.label()
        out().put(f"br i1 {test.name}, label %{yes}, label %{no}")
        out().label(yes)
        value = self.evaluate(e.body)
        slot = Slot(self.room(_type_of(value)), value)
        slot.set(value)
        self.jump(end)
        out().label(no)
        slot.set(self.evaluate(e.orelse))
        self.jump(end)
        out().label(end)
        return slot.get()

    def value_of_BoolOp(self, e: ast.BoolOp) -> Any:
        """The second operand is looked at only if the first leaves it open."""
        is_and, first = isinstance(e.op, ast.And), self.evaluate(e.values[0])
        rest: ast.expr = e.values[1] if len(e.values) == 2 else ast.BoolOp(e.op, e.values[1:])
        if not isinstance(first, Bool):
            return first if bool(first) != is_and else self.evaluate(rest)
        slot, more, end = Slot(self.room("i1"), True), self.label(), self.label()
        slot.set(first)
        out().put(f"br i1 {first.name}, label %{more if is_and else end}, label %{end if is_and else more}")
        out().label(more)
        slot.set(self.evaluate(rest))
        self.jump(end)
        out().label(end)
        return slot.get()

    def value_of_Call(self, e: ast.Call) -> Any:
        function = self.evaluate(e.func)
        arguments = [self.evaluate(a) for a in e.args]
        keywords = {k.arg: self.evaluate(k.value) for k in e.keywords if k.arg}
        if getattr(function, "is_loop", False):
            return self.program.call(function, arguments)
        if isinstance(function, Sweep):
            return self.program.sweep(function, arguments)
        if isinstance(function, FunctionType) and function.__module__ != __name__:
            return self.program.law(function, arguments, keywords, self.writer)
        return function(*arguments, **keywords)


# Laws in loops --------------------------------------------------------------------------------------------------------
class _Addresses:
    """The addresses of places, each sum of names computed once."""

    def __init__(self, writer: Writer, pointers: dict[str, str], lane: str | None = None) -> None:
        self._writer, self._pointers, self._lane = writer, pointers, lane
        self._bases: dict[Any, str] = {}

    def __call__(self, place: Place) -> str:
        array, names, rest = place
        key = (array, names)
        if key not in self._bases:
            pointer = self._pointers[array]
            for name in names:
                pointer = self._writer.new(f"getelementptr {self._writer.real.name}, ptr {pointer}, i64 {name}", "p")
            self._bases[key] = pointer
        base, kind = self._bases[key], self._writer.real.name
        return self._writer.new(f"getelementptr {kind}, ptr {base}, i64 {rest}", "p") if rest else base


def trace(function: Callable[..., Any], arguments: Sequence[Any], keywords: Any = None) -> tuple[Trace, Any]:
    """A function run on traced numbers; and what it returns, with the place of each number among those returned.

    Scalars become uniform numbers, whole numbers become places, and arrays blocks.
    """
    with tracing() as graph:
        loads: dict[Place, int] = {}
        stores: dict[Place, int] = {}

        def given(value: Any) -> Any:
            if isinstance(value, Scalar):
                return Traced(graph.add("uniform", value.name))
            if isinstance(value, Int):
                return Offset((value.base,), value.rest)
            if isinstance(value, Array):
                return Block(graph, value.pointer, loads, stores)
            return tuple(given(part) for part in value) if isinstance(value, tuple) else value

        answer = function(*[given(a) for a in arguments], **{k: given(v) for k, v in (keywords or {}).items()})
        returned: list[int] = []

        def taken(value: Any) -> Any:
            if value is None:
                return None
            if isinstance(value, tuple):
                return tuple(taken(part) for part in value)
            returned.append(graph.node_of(value))
            return len(returned) - 1

        places = taken(answer)
        return Trace(graph, loads, stores, returned), places


LONG_LAW = 64
"""A law of more operations becomes a function, which no pass of the optimizer has to read."""


class _Parameters:
    """The parameters of a function that is made of a trace: one for each number, place and array that it is given."""

    def __init__(self, *first: str) -> None:
        self.text = list(first)

    def incoming(self, value: Any) -> Any:
        """What stands for a value of the caller."""
        if isinstance(value, tuple):
            return tuple(self.incoming(part) for part in value)
        if not isinstance(value, (Scalar, Int, Array)):
            return value
        name = f"%u{len(self.text)}"
        self.text.append(f"{_type_of(value)} {name}")
        return Array(name, "d", ()) if isinstance(value, Array) else type(value)(name)

    @staticmethod
    def given(value: Any) -> list[str]:
        """The arguments of a call for it."""
        if isinstance(value, tuple):
            return [text for part in value for text in _Parameters.given(part)]
        if isinstance(value, Array):
            return [f"ptr {value.pointer}"]
        return [f"{_type_of(value)} {value.name}"] if isinstance(value, (Scalar, Int)) else []


def write_inline(traced: Trace, places: Any, writer: Writer) -> Any:
    """Write a traced law where it is called."""
    pointers = {place[0]: place[0] for place in (*traced.loads, *traced.stores)}
    body = TraceWriter(traced, 1, writer, _Addresses(writer, pointers))
    body.write()

    def result(place: Any) -> Any:
        if isinstance(place, tuple):
            return tuple(result(part) for part in place)
        return None if place is None else Scalar(body.name(traced.returned[place]))

    return result(places)


class CompiledModule(NamedTuple):
    """A module: every loop function once for each kind of arguments, and the sweeps."""

    width: int
    tables: dict[str, str]
    loops: list[str]
    """The text of the loop functions."""
    laws: list[str]
    """The text of the sweeps: straight code, for which there is nothing left to optimize."""
    done: dict[Any, tuple[str, str | None]]
    law_tables: dict[str, str]
    unrolled: int = 1
    """A `for` of at most so many known numbers is written out, so that what it numbers can stay in registers."""
    precision: str = STRICT
    real: Real = DOUBLE
    missing: tuple[str, ...] = ()
    """Operations that the processor has not, or with other bits."""

    def call(self, function: Any, arguments: Sequence[Any]) -> Any:
        """Call a loop function, which is compiled when it is first called with such arguments."""
        key = (function, tuple(_kind_of(a) for a in arguments))
        if key not in self.done:
            name = f"{function.__name__}_{len(self.done)}"
            self.done[key] = (name, None)
            made = Function(self, function, arguments, name)
            self.done[key] = (name, None if made.returns == "void" else made.returns)
            self.loops.append(made.text("#0"))
        name, returns = self.done[key]
        given = ", ".join(f for a in arguments for f in _flatten(a))
        if returns is None:
            out().put(f"call void @{name}({given})")
            return None
        return {real(): Scalar, "i1": Bool, "i64": Int}[returns](out().new(f"call {returns} @{name}({given})", "c"))

    def trace(self, function: Callable[..., Any], arguments: Sequence[Any], keywords: Any = None) -> tuple[Trace, Any]:
        """A law as this module writes it, and the places of what it returns."""
        traced, places = trace(function, arguments, keywords)
        traced = prepare(traced, self.precision)
        for i in traced.order if self.missing else ():
            if traced.graph.ops[i] in self.missing:
                raise TraceError("a remainder (%), which a GPU computes with other bits")
        return traced, places

    def law(self, function: Callable[..., Any], arguments: Sequence[Any], keywords: Any, writer: Writer) -> Any:
        """Trace a law, and write it where it is called, or as a function if it is long and returns nothing."""
        traced, places = self.trace(function, arguments, keywords)
        if places is not None or keywords or len(traced.order) < LONG_LAW:
            return write_inline(traced, places, writer)
        name, parameters = f"law_{len(self.laws)}", _Parameters()
        traced, places = self.trace(function, [parameters.incoming(a) for a in arguments])
        own = Writer(self.law_tables, self.real)
        own.label("entry")
        write_inline(traced, places, own)
        own.put("ret void")
        self.laws.append("\n".join([f"define void @{name}({', '.join(parameters.text)}) #1 {{", *own.lines, "}"]))
        self.loops.append(f"declare void @{name}({', '.join(p.split()[0] for p in parameters.text)}) #1")
        writer.put(f"call void @{name}({', '.join(text for a in arguments for text in _Parameters.given(a))})")
        return None

    def sweep(self, sweep: Sweep, arguments: Sequence[Any]) -> None:
        """Call a sweep, which is traced when it is first called with such arguments."""
        unit, rest = arguments[0], arguments[1:]
        key = (sweep, tuple(_kind_of(a) for a in rest), _is_one_block(unit, sweep))
        if key not in self.done:
            name = f"sweep_{len(self.done)}"
            self.done[key] = (name, None)
            self._compile_sweep(name, sweep, unit, rest)
        blocks = unit.extents[0] // sweep.size
        given = [f"ptr {unit.pointer}", f"i64 {as_integer(blocks)}", *(f for a in rest for f in _Parameters.given(a))]
        out().put(f"call void @{self.done[key][0]}({', '.join(given)})")

    def _compile_sweep(self, name: str, sweep: Sweep, unit: Array, rest: Sequence[Any]) -> None:
        incoming = _Parameters("ptr noalias %unit", "i64 %blocks")
        given = [incoming.incoming(a) for a in rest]
        parameters = incoming.text
        traced, _ = self.trace(sweep.body, [Array("%unit", "d", ()), Int("%at"), *given])
        writer, width = Writer(self.law_tables, self.real), min(self.width, sweep.lanes)
        pointers = {place[0]: place[0] for place in (*traced.loads, *traced.stores)}
        body = TraceWriter(traced, width, writer, _Addresses(writer, pointers))
        is_alone = _is_one_block(unit, sweep)
        writer.label("entry")
        body.write_uniform()
        writer.put("br label %blocks_loop")
        writer.label("blocks_loop")
        if is_alone:
            writer.put("%start = add i64 0, 0")
        else:
            writer.put("%block = phi i64 [ 0, %entry ], [ %next_block, %block_done ]")
            writer.put(f"%start = mul i64 %block, {sweep.size}")
        writer.put("br label %lanes_loop")
        writer.label("lanes_loop")
        if sweep.lanes > width:
            writer.put("%lane = phi i64 [ 0, %blocks_loop ], [ %next_lane, %lanes_loop ]")
            writer.put("%at = add i64 %start, %lane")
        else:
            writer.put("%at = add i64 %start, 0")
        body.write()
        if sweep.lanes > width:
            writer.put(f"%next_lane = add i64 %lane, {width}")
            writer.put(f"%more_lanes = icmp ult i64 %next_lane, {sweep.lanes}")
            writer.put("br i1 %more_lanes, label %lanes_loop, label %block_done")
        else:
            writer.put("br label %block_done")
        writer.label("block_done")
        if is_alone:
            writer.put("ret void")
        else:
            writer.put("%next_block = add i64 %block, 1")
            writer.put("%more_blocks = icmp slt i64 %next_block, %blocks")
            writer.put("br i1 %more_blocks, label %blocks_loop, label %done")
            writer.label("done")
            writer.put("ret void")
        self.laws.append("\n".join([f"define void @{name}({', '.join(parameters)}) #1 {{", *writer.lines, "}"]))
        kinds = ", ".join(p.split()[0] for p in parameters)
        self.loops.append(f"declare void @{name}({kinds}) #1")


def _is_one_block(unit: Array, sweep: Sweep) -> bool:
    """Whether a unit is known to be one block."""
    return isinstance(unit.extents[0], int) and unit.extents[0] // sweep.size == 1


def _flatten(value: Any) -> list[str]:
    """A value as the arguments of a call."""
    if isinstance(value, tuple):
        return [f for part in value for f in _flatten(part)]
    if isinstance(value, Array):
        return [f"ptr {value.pointer}", *(f"i64 {e.name}" for e in value.extents if isinstance(e, Int))]
    if isinstance(value, (Arguments, Entry)):
        return [f"ptr {value.pointer}"]
    return [f"{_type_of(value)} {value.name}"] if isinstance(value, (Scalar, Int, Bool)) else []


def _kind_of(value: Any) -> Any:
    """What a compiled function depends on."""
    if isinstance(value, tuple):
        return tuple(_kind_of(part) for part in value)
    if isinstance(value, Array):
        return ("array", value.kind, tuple("?" if isinstance(e, Int) else e for e in value.extents))
    if isinstance(value, Entry):
        return ("entry", value.kind)
    if isinstance(value, (Scalar, Int, Bool, Arguments)):
        return type(value).__name__
    return ("known", value)


# The outermost loop ---------------------------------------------------------------------------------------------------
def like(value: Any) -> Any:
    """What is known about an argument when a program is compiled: its kind."""
    if isinstance(value, np.ndarray):
        kind = value.dtype.type if value.dtype.names else {"f": "d", "i": "i", "b": "b"}[value.dtype.kind]
        return Array("?", kind, [Int("?") for _ in value.shape])
    if isinstance(value, tuple):
        return tuple(like(part) for part in value)
    if isinstance(value, (bool, np.bool_)):
        return Bool("?")
    if isinstance(value, (int, np.integer)):
        return Int("?")
    return Scalar("?") if isinstance(value, (float, np.floating)) else value


def record_like(record: Any, extents: Mapping[str, Sequence[int | None]]) -> dict[str, tuple[int, Any]]:
    """The fields of a named tuple with their places; `extents` are those of its arrays, where they are known."""
    fields, slot = {}, 0
    for name, value in record._asdict().items():
        found = like(value)
        if name in extents:
            found = Array("?", found.kind, [Int("?") if n is None else n for n in extents[name]])
        fields[name] = (slot, found)
        slot += words_of(found)
    return fields


_NOWHERE = np.zeros(8)
"""Where arrays without numbers are, of which nothing is read: to ask them would take a microsecond each."""


def _address_of(array: np.ndarray[Any, Any]) -> int:
    """Where the numbers of an array begin: `array.ctypes.data`, in a fourth of the time where it can be written."""
    known = array if array.size else _NOWHERE
    if known.flags.writeable:
        return ctypes.addressof(ctypes.c_char.from_buffer(known.data))
    return int(known.ctypes.data)


def pack_record(record: Any) -> np.ndarray[Any, Any]:
    """The words of a named tuple: addresses and extents of arrays, and numbers."""
    words: list[Any] = []
    kinds: list[str] = []

    def add_all(values: Any) -> None:
        for value in values:
            kind = type(value)
            if kind is float or isinstance(value, np.floating):
                words.append(value)
                kinds.append("d")
            elif kind is np.ndarray:
                assert value.flags.c_contiguous, "the loops take C-contiguous arrays only"
                words.append(_address_of(value))
                words.extend(value.shape)
                kinds.append("q" * (1 + value.ndim))
            elif kind is int or isinstance(value, (bool, np.bool_, int, np.integer)):
                words.append(int(value))
                kinds.append("q")
            elif isinstance(value, tuple):
                add_all(value)
            elif hasattr(value, "address"):  # an array on a GPU
                words.extend((int(value.address), *map(int, value.shape)))
                kinds.append("q" * (1 + len(value.shape)))

    add_all(record)
    packed = np.empty(len(words), dtype=np.int64)
    struct.pack_into("=" + "".join(kinds), packed.data, 0, *words)
    return packed


def compile_loop(
    function: Any,
    record: Any,
    extents: Mapping[str, Sequence[int | None]],
    width: int,
    unrolled: int = 1,
    precision: str = STRICT,
    is_kernel: bool = False,
) -> tuple[str, str]:
    """The text of a loop function (record, first, last), and that of the sweeps that it calls."""
    real = real_of(precision)
    missing = ("fmod",) if is_kernel else ()
    if is_kernel:  # every thread has a record of its own
        real = real._replace(of_records="")
    program = CompiledModule(width, {}, [], [], {}, {}, unrolled, precision, real, missing)
    fields = record_like(record, extents)
    made = Function(program, function, [Arguments("?", fields), Int("?"), Int("?")], ENTRY)
    used = declarations(width, real)
    loops = [*_definitions(program.tables), *program.loops, made.text("#0"), used, "!0 = !{}"]
    laws = [*_definitions(program.law_tables), *program.laws, used]
    return "\n".join(loops), "\n".join(laws)


def _definitions(tables: dict[str, str]) -> list[str]:
    return [f"{name} = {text}" for text, name in tables.items()]


__all__ = ["CompiledModule", "Loop", "Sweep", "TraceError", "compile_loop", "loop", "pack_record"]
