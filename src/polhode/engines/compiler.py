"""Numba: registers the laws when first used, and compiles a kernel under a tag that changes with the code reached."""

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
from polhode.equations import scalar_ops
from polhode.equations.law import LAWS

OPTIONS: Any = {"error_model": "numpy", "fastmath": False}
"""Strict arithmetic: a body gets the same bits alone, in any lane, on any thread, and in plain Python."""

INLINED: Any = {**OPTIONS, "forceinline": True}

_registered = [0, 0]


def compile_kernel(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel compiled to machine code, kept on disk, and free of the interpreter's lock while it runs."""
    _register_laws()
    dispatcher: Callable[..., Any] = numba.njit(cache=True, nogil=True, **OPTIONS)(_rename_by_fingerprint(kernel))
    return dispatcher


def _rename_by_fingerprint(function: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel or loop is a symbol of its own.  Symbols from the disk and new ones meet in one space, where equal names
    are taken for equal code (and Numba only counts those of one process): so the name must tell the code."""
    function.__qualname__ = f"{function.__qualname__}_{fingerprint(function)}"
    return function


def _register_laws() -> None:
    """Make known to Numba the laws and loops listed since the last time."""
    _register_foundations()
    for function in LAWS[_registered[0] :]:
        register_jitable(**INLINED)(function)
    for function in kernels.LOOPS[_registered[1] :]:
        register_jitable(**OPTIONS)(_rename_by_fingerprint(function))
    _registered[:] = [len(LAWS), len(kernels.LOOPS)]


@cache
def _register_foundations() -> None:
    """What plain Python decides by the kind of number, Numba decides by type."""

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

    @overload(scalar_ops.atan2, strict=False, jit_options=INLINED)
    def _atan2(y: Any, x: Any) -> Any:
        return lambda y, x: math.atan2(y, x)

    @overload(kernels.read, strict=False, jit_options=INLINED)
    def _read(unit: Any, at: Any, places: Any) -> Any:
        read = kernels.read
        if not isinstance(places, types.BaseTuple):
            return lambda unit, at, places: unit[places + at]
        if len(places) == 0:
            return lambda unit, at, places: ()
        if len(places) == 1:
            return lambda unit, at, places: (read(unit, at, places[0]),)
        half = len(places) // 2  # halves of halves: many parameters are not many calls deep
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
    """Why a function cannot be compiled for such arguments, with the line at fault; None if it can."""
    _register_laws()
    typeof: Any = numba.typeof
    signature = tuple(typeof(argument) for argument in arguments)
    try:
        numba.njit(**OPTIONS)(function).compile(signature)
    except NumbaError as error:
        return _format_error(error, function)
    return None


def _format_error(error: NumbaError, function: Any) -> str:
    """What Numba says, cut down to the first line that means something and the place in the user's file."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    file = function.__code__.co_filename
    lines = [int(n) for n in re.findall(r'File "[^"\n]*' + re.escape(Path(file).name) + r'", line (\d+)', text)]
    place = getattr(error, "loc", None)
    lines = lines or ([place.line] if place is not None else [])
    shown = next((part.strip() for part in text.splitlines()[1:] if part.strip()), text.splitlines()[0])
    where = ""
    if lines:
        source = linecache.getline(file, lines[0]).strip()
        where = f" ({file}, line {lines[0]}{': ' + source if source else ''})"
    return f"{shown.rstrip('.')}{where}"


@cache
def _own_source() -> bytes:
    """How this module tells Numba to compile: options and overloads are part of every fingerprint."""
    return Path(__file__).read_bytes()


def fingerprint(*things: Any) -> str:
    """A digest of functions, with all code and constants that they reach, and of any other values."""
    digest = sha256(numba.__version__.encode() + _own_source())
    seen: set[int] = set()

    def take(thing: Any) -> None:
        if isinstance(thing, (python_types.FunctionType, python_types.MethodType)):
            if id(thing) not in seen:
                seen.add(id(thing))
                take_function(thing)
        elif isinstance(thing, python_types.CodeType):
            digest.update(thing.co_code)
            take(thing.co_names)
            take(thing.co_consts)
        elif isinstance(thing, (tuple, list)):
            digest.update(b"(")
            for part in thing:
                take(part)
        elif hasattr(thing, "py_func"):
            take(thing.py_func)
        elif isinstance(thing, (python_types.ModuleType, type)):
            digest.update(thing.__name__.encode())
        else:
            digest.update(repr(thing).encode())

    def take_function(function: Any) -> None:
        code = function.__code__
        take(code)
        for cell in function.__closure__ or ():
            take(cell.cell_contents)
        for name in code.co_names:
            value = function.__globals__.get(name)
            if isinstance(value, python_types.ModuleType):
                for attribute in code.co_names:
                    reached = vars(value).get(attribute)
                    if isinstance(reached, python_types.FunctionType):
                        take(reached)
            elif value is not None:
                take(value)

    take(things)
    return digest.hexdigest()[:20]
