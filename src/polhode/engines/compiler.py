"""Compilation with Numba: registers the laws, and caches kernels on disk under a fingerprint of the code they reach."""

from __future__ import annotations

import linecache
import math
import re
import types as python_types
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numba
from numba import types
from numba.core.errors import NumbaError
from numba.extending import intrinsic, overload, register_jitable

from polhode.engines import kernels
from polhode.equations import elementary, scalar_ops
from polhode.equations.law import LAWS

OPTIONS: Any = {"error_model": "numpy", "fastmath": False}
"""Strict IEEE arithmetic: a body gets the same bits alone, in any lane, on any thread, and in plain Python."""

INLINED: Any = {**OPTIONS, "forceinline": True}

_registered = [0, 0]


def compile_kernel(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a kernel to machine code, cached on disk, that releases the GIL."""
    _register_laws()
    dispatcher: Callable[..., Any] = numba.njit(cache=True, nogil=True, **OPTIONS)(_rename_by_fingerprint(kernel))
    return dispatcher


def _rename_by_fingerprint(function: Callable[..., Any]) -> Callable[..., Any]:
    """Append the fingerprint to the name of a kernel or loop.

    Cached and new symbols share one namespace, in which equal names are assumed to be equal code (and Numba numbers
    only those of one process): so the name must identify the code.
    """
    function.__qualname__ = f"{function.__qualname__}_{fingerprint(function)}"
    return function


def _register_laws() -> None:
    """Register with Numba the laws and loops that were added since the last call."""
    _register_foundations()
    for function in LAWS[_registered[0] :]:
        register_jitable(**INLINED)(function)
    for function in kernels.LOOPS[_registered[1] :]:
        register_jitable(**OPTIONS)(_rename_by_fingerprint(function))
    _registered[:] = [len(LAWS), len(kernels.LOOPS)]


@cache
def _register_foundations() -> None:
    """Overloads for the operations that plain Python dispatches on the scalar type."""

    @overload(scalar_ops.sqrt, strict=False, jit_options=INLINED)
    def _sqrt(x: Any) -> Any:
        return lambda x: math.sqrt(x)

    @overload(scalar_ops.if_less, strict=False, jit_options=INLINED)
    def _if_less(a: Any, b: Any, x: Any, y: Any) -> Any:
        return lambda a, b, x, y: x if a < b else y

    @overload(scalar_ops.nearest_integer, strict=False, jit_options=INLINED)
    def _whole(x: Any) -> Any:
        rounder = scalar_ops._ROUNDER
        return lambda x: (x + rounder) - rounder

    @overload(scalar_ops.sin, strict=False, jit_options=INLINED)
    def _sin(x: Any) -> Any:
        sine = scalar_ops._sine
        return lambda x: sine(x)

    @overload(scalar_ops.cos, strict=False, jit_options=INLINED)
    def _cos(x: Any) -> Any:
        cosine = scalar_ops._cosine
        return lambda x: cosine(x)

    @overload(scalar_ops.sign_with_zeros, strict=False, jit_options=INLINED)
    def _sign(x: Any) -> Any:
        return lambda x: math.copysign(1.0, x)

    @overload(elementary.exp, strict=False, jit_options=INLINED)
    def _exp(x: Any) -> Any:
        exponential = elementary._exponential
        return lambda x: exponential(x, 0.0)

    @overload(elementary.log, strict=False, jit_options=INLINED)
    def _log(x: Any) -> Any:
        logarithm = elementary._logarithm
        return lambda x: logarithm(x)

    @overload(elementary.power, strict=False, jit_options=INLINED)
    def _power(x: Any, y: Any) -> Any:
        power = elementary._power
        return lambda x, y: power(x, y)

    @overload(elementary.tan, strict=False, jit_options=INLINED)
    def _tan(x: Any) -> Any:
        tangent = elementary._tangent
        return lambda x: tangent(x)

    @overload(elementary.atan2, strict=False, jit_options=INLINED)
    def _atan2(y: Any, x: Any) -> Any:
        angle = elementary._angle
        return lambda y, x: angle(y, x)

    @overload(kernels.read, strict=False, jit_options=INLINED)
    def _read(unit: Any, at: Any, places: Any) -> Any:
        read = kernels.read
        if not isinstance(places, types.BaseTuple):
            return lambda unit, at, places: unit[places + at]
        if len(places) == 0:
            return lambda unit, at, places: ()
        if len(places) == 1:
            return lambda unit, at, places: (read(unit, at, places[0]),)
        half = len(places) // 2  # a balanced tree: many parameters are not many nested calls
        return lambda unit, at, places: read(unit, at, places[:half]) + read(unit, at, places[half:])

    @overload(kernels.write, strict=False, jit_options=INLINED)
    def _write(unit: Any, at: Any, places: Any, values: Any) -> Any:
        write = kernels.write
        if not isinstance(places, types.BaseTuple):

            def leaf(unit: Any, at: Any, places: Any, values: Any) -> None:
                unit[places + at] = values

            return leaf
        if len(places) == 0:
            return lambda unit, at, places, values: None
        if len(places) == 1:
            return lambda unit, at, places, values: write(unit, at, places[0], values[0])
        half = len(places) // 2

        def branch(unit: Any, at: Any, places: Any, values: Any) -> None:
            write(unit, at, places[:half], values[:half])
            write(unit, at, places[half:], values[half:])

        return branch

    @intrinsic
    def mark_wide(typing_context: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            set.add(builder.function.attributes, '"prefer-vector-width"="512"')
            return context.get_dummy_value()

        return types.none(), generate

    @overload(kernels.use_wide_vectors, strict=False, jit_options=INLINED)
    def _use_wide_vectors() -> Any:
        mark: Any = mark_wide
        return lambda: mark()


def compilation_fault(function: Callable[..., Any], arguments: tuple[Any, ...]) -> str | None:
    """Why a function cannot be compiled for these arguments, with the line at fault; None if it can."""
    _register_laws()
    typeof: Any = numba.typeof
    signature = tuple(typeof(argument) for argument in arguments)
    try:
        numba.njit(**OPTIONS)(function).compile(signature)
    except NumbaError as error:
        return _format_error(error, function)
    return None


def _format_error(error: NumbaError, function: Any) -> str:
    """Numba's message, reduced to its first informative line and the place in the user's file."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    file = function.__code__.co_filename
    lines = [int(n) for n in re.findall(r'File "[^"\n]*' + re.escape(Path(file).name) + r'", line (\d+)', text)]
    place = getattr(error, "loc", None)
    lines = lines or ([place.line] if place is not None else [])
    message = next((part.strip() for part in text.splitlines()[1:] if part.strip()), text.splitlines()[0])
    where = ""
    if lines:
        source = linecache.getline(file, lines[0]).strip()
        where = f" ({file}, line {lines[0]}{': ' + source if source else ''})"
    return f"{message.rstrip('.')}{where}"


@cache
def _own_source() -> bytes:
    """The source of this module: options and overloads are part of every fingerprint."""
    return Path(__file__).read_bytes()


def fingerprint(*values: Any) -> str:
    """A digest of functions, including all code and constants that they reach, and of other values."""
    digest = sha256(numba.__version__.encode() + _own_source())
    seen: set[int] = set()

    def add(value: Any) -> None:
        if isinstance(value, (python_types.FunctionType, python_types.MethodType)):
            if id(value) not in seen:
                seen.add(id(value))
                add_function(value)
        elif isinstance(value, python_types.CodeType):
            digest.update(value.co_code)
            add(value.co_names)
            add(value.co_consts)
        elif isinstance(value, (tuple, list)):
            digest.update(b"(")
            for part in value:
                add(part)
        elif hasattr(value, "py_func"):
            add(value.py_func)
        elif isinstance(value, (python_types.ModuleType, type)):
            digest.update(value.__name__.encode())
        else:
            digest.update(repr(value).encode())

    def add_function(function: Any) -> None:
        code = function.__code__
        add(code)
        for cell in function.__closure__ or ():
            add(cell.cell_contents)
        for name in code.co_names:
            value = function.__globals__.get(name)
            if isinstance(value, python_types.ModuleType):
                for attribute in code.co_names:
                    reached = vars(value).get(attribute)
                    if isinstance(reached, python_types.FunctionType):
                        add(reached)
            elif value is not None:
                add(value)

    add(values)
    return digest.hexdigest()[:20]
