"""A function of loops and decisions, in plain Python, as source text in another language.

Arguments and new variables have the annotation `Out` or `In` (arrays), `Number` or `Whole`; a new array is
[0.0] * size.  What is known of `program` is a size or a number (capitals), a table or a function; `int` and `float`
turn a number into a whole one and back.  A decision on `program.HAS_...` is made here.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Iterator, MutableSequence

from polhode.ir.targets.phrases import Language, literal, write_arguments

Out = MutableSequence[float]
"""An array that a function may change."""
In = MutableSequence[float]
"""An array that a function only reads."""
Number = float
Whole = int
_LEVELS: tuple[dict[type[ast.AST], str], ...] = (
    {ast.Or: "||"},
    {ast.And: "&&"},
    {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="},
    {ast.Add: "+", ast.Sub: "-"},
    {ast.Mult: "*", ast.Div: "/", ast.Mod: "%"},
    {ast.Not: "!", ast.USub: "-"},
)
_SYMBOLS = {kind: (binds, symbol) for binds, level in enumerate(_LEVELS, 1) for kind, symbol in level.items()}
"""How tightly an operator binds, and how it looks."""
_TIGHTEST = len(_LEVELS) + 1


def write_loop(
    function: Callable[..., None] | str, language: Language, known: Iterable[str] = (), name: str = ""
) -> str:
    """The text of a function, given itself or its Python text; `known` are the decisions that are true."""
    tree = ast.parse(function if isinstance(function, str) else inspect.getsource(function)).body[0]
    assert isinstance(tree, ast.FunctionDef)
    kinds = {one.arg: _kind(one.annotation) for one in tree.args.args}
    comments = [f"// {line.strip()}" for line in (ast.get_docstring(tree) or "").splitlines()]
    first = language.function.format(f"polhode_{name or tree.name}", write_arguments(kinds, language))
    return "\n".join([*comments, first, *_LoopWriter(language, frozenset(known)).block(tree.body), "}\n"])


def _kind(annotation: ast.expr | None) -> str:
    assert isinstance(annotation, ast.Name)
    return annotation.id.lower()


class _LoopWriter:
    def __init__(self, language: Language, known: frozenset[str]) -> None:
        self.language, self.known = language, known

    def block(self, body: Iterable[ast.stmt]) -> Iterator[str]:
        """Lines of statements, indented."""
        for statement in body:
            for line in self.statement(statement):
                yield f"  {line}"

    def statement(self, node: ast.stmt) -> Iterator[str]:
        """The lines of a statement."""
        language, text = self.language, self.text
        match node:
            case ast.Expr(ast.Constant()):  # the docstring
                pass
            case ast.Expr(value):
                yield f"{text(value)};"
            case ast.Return():
                yield "return;"
            case ast.AnnAssign(ast.Name(name), annotation, ast.BinOp(ast.List(), ast.Mult(), value)):
                yield language.declare[_kind(annotation)].format(name, text(value))
            case ast.AnnAssign(ast.Name(name), annotation, ast.expr() as value):
                yield language.declare[_kind(annotation)].format(name, text(value))
            case ast.Assign([target], value):
                yield f"{text(target)} = {text(value)};"
            case ast.AugAssign(target, operator, value):
                yield f"{text(target)} {_SYMBOLS[type(operator)][1]}= {text(value)};"
            case ast.For(ast.Name(name), ast.Call(ast.Name("range"), limits), body):
                first, end = map(text, [ast.Constant(0), *limits][-2:])
                yield from (language.repeat.format(name, first, end), *self.block(body), "}")
            case ast.While(test, body):
                yield from (language.during.format(text(test)), *self.block(body), "}")
            case ast.If(ast.Attribute(_, name), body) if name.startswith("HAS_"):
                for one in body if name in self.known else ():
                    yield from self.statement(one)
            case ast.If(test, body, orelse):
                yield from (language.when.format(text(test)), *self.block(body))
                yield from ("} else {", *self.block(orelse), "}") if orelse else ("}",)
            case _:
                raise NotImplementedError(f"no other language has this statement: {ast.unparse(node)}")

    def text(self, node: ast.expr, least: int = 0) -> str:
        """The text of an expression, in parentheses if it binds less tightly than it must."""
        binds, text = self.expression(node)
        return f"({text})" if binds < least else text

    def expression(self, node: ast.expr) -> tuple[int, str]:
        """How tightly an expression binds, and its text."""
        language, text = self.language, self.text
        match node:
            case ast.Constant(bool(value)):
                return _TIGHTEST, str(value).lower()
            case ast.Constant(value):
                return _TIGHTEST, literal(value, language) if isinstance(value, float) else str(value)
            case ast.Attribute(ast.Name("program"), name):
                return _TIGHTEST, f"{'POLHODE' if name.isupper() else 'polhode'}_{name.rstrip('_')}"
            case ast.Name("inf"):
                return _TIGHTEST, language.infinity
            case ast.Name(name):
                return _TIGHTEST, name
            case ast.Subscript(array, index):
                return _TIGHTEST, language.entry.format(text(array), text(index))
            case ast.Call(ast.Name("int" | "float" as kind), [value], []):
                phrase = language.whole if kind == "int" else language.number
                return _SYMBOLS[ast.Not][0], phrase.format(text(value, _TIGHTEST))
            case ast.Call(function, arguments, []):
                name = f"polhode_{function.id}" if isinstance(function, ast.Name) else text(function)
                return _TIGHTEST, f"{name}({', '.join(map(text, arguments))})"
            case ast.IfExp(test, then, otherwise):
                return 0, language.operations["sel"].format(text(test, 1), text(then, 1), text(otherwise, 1))
            case ast.UnaryOp(operator, value):
                binds, symbol = _SYMBOLS[type(operator)]
                return binds, f"{symbol}{text(value, _TIGHTEST)}"
            case ast.BoolOp(operator, values):
                binds, symbol = _SYMBOLS[type(operator)]
                return binds, f" {symbol} ".join(text(value, _SYMBOLS[ast.Lt][0]) for value in values)
            case ast.BinOp(left, operator, right) | ast.Compare(left, [operator], [right]):
                binds, symbol = _SYMBOLS[type(operator)]
                return binds, f"{text(left, binds)} {symbol} {text(right, binds + 1)}"
        raise NotImplementedError(f"no other language has this expression: {ast.unparse(node)}")
