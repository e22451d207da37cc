"""A loop ready to run: interpreted as it stands, or as machine code."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Any

from polhode.backends.loops import Loop, compile_loop, pack_record

Advance = Callable[[int, int], None]
"""(first, last): advance these units."""


class Program:
    """A loop function (record, first, last) that becomes machine code when it is first bound to a record."""

    def __init__(self, function: Loop, is_compiled: bool, unit_size: int | None, width: int | None = None) -> None:
        self.function, self.is_compiled, self.unit_size, self.width = function, is_compiled, unit_size, width
        self._code: Any = None
        self._lock = RLock()

    def bind(self, record: Any) -> Advance:
        """The loop for the arrays and numbers of a record."""
        if not self.is_compiled:
            return lambda first, last: self.function(record, first, last)
        code, words = self._machine_code(record), pack_record(record)
        address = words.ctypes.data

        def advance(first: int, last: int, keep: Any = (record, words)) -> None:
            code(address, first, last)

        return advance

    def _machine_code(self, record: Any) -> Any:
        with self._lock:
            if self._code is None:
                from polhode.backends import jit

                width = self.width or jit.vector_width()
                self._code = jit.machine_code(*compile_loop(self.function, record, self.unit_size, width))
            return self._code
