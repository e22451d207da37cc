"""A float that computes as compiled code does: what a user's function is called with by `engine="python"`.

Python's own powers and NumPy's own sums of products have other bits than compiled code; those of these numbers have the
same.  They print, compare and index as floats do, so a function that cannot be traced runs with them too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from polhode.equations import elementary, interpolation, scalar_ops


class Plain(float):
    """A number that a user's function is given, or has computed from such."""

    __slots__ = ()

    def __pow__(self, exponent: Any, modulus: Any = None) -> Any:
        return raise_to(self, exponent)

    def __rpow__(self, base: Any, modulus: Any = None) -> Any:
        return raise_to(base, self)

    def __round__(self, digits: Any = None) -> Any:
        return round(float(self), digits)

    def __deepcopy__(self, memo: Any) -> Plain:
        return self

    def sqrt(self) -> Plain:
        """NumPy asks the elements of an array of objects for it."""
        return Plain(math.sqrt(self))

    def conjugate(self) -> Plain:
        return self

    __array_ufunc__: Any = None
    """Set by `polhode.ir.language`, as that of traced numbers."""


def _define_operator(name: str) -> None:
    of_floats: Any = getattr(float, name)

    def operator(self: Plain, *others: Any) -> Any:
        if any(getattr(x, "ndim", 0) for x in others):
            return NotImplemented
        result = of_floats(self, *(float(x) if isinstance(x, float) else x for x in others))
        if isinstance(result, tuple):
            return tuple(Plain(part) for part in result)
        return result if result is NotImplemented else Plain(result)

    setattr(Plain, name, operator)


for _name in ("add", "sub", "mul", "truediv", "mod", "floordiv", "divmod"):
    _define_operator(f"__{_name}__")
    _define_operator(f"__r{_name}__")
for _name in ("neg", "pos", "abs"):
    _define_operator(f"__{_name}__")


def raise_to(base: Any, exponent: Any) -> Any:
    """base ** exponent, as `polhode.ir.graph.raise_to` has it."""
    from polhode.ir import graph

    return graph.raise_to(base, exponent)


# The functions that `polhode.equations.scalar_ops` and `elementary` look for ------------------------------------------
def _wrap(function: Callable[..., float]) -> Callable[..., Any]:
    return lambda *numbers: Plain(function(*map(float, numbers)))


sqrt, sin, cos = _wrap(math.sqrt), _wrap(scalar_ops.sin), _wrap(scalar_ops.cos)
tan, exp, log = _wrap(elementary.tan), _wrap(elementary.exp), _wrap(elementary.log)
power, atan2 = _wrap(elementary.power), _wrap(elementary.atan2)


def if_less(a: Any, b: Any, x: Any, y: Any) -> Any:
    """x where a < b, else y."""
    chosen = x if a < b else y
    return Plain(chosen) if isinstance(chosen, (int, float)) else chosen


def interp(x: Any, xp: Sequence[Any], fp: Sequence[Any]) -> Plain:
    """Linear interpolation in a table."""
    return Plain(interpolation.interp(float(x), tuple(map(float, xp)), tuple(map(float, fp))))
