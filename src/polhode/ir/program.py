"""A loop ready to run: interpreted as it stands, or as machine code."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from threading import RLock
from typing import Any

import numpy as np

from polhode.ir.loops import Loop, compile_loop, pack_record, record_like

Advance = Callable[[int, int], None]
"""(first, last): advance these units."""
DIGEST_WIDTH = 8
"""The width of the vectors in the text of which a digest is made, the same on all machines."""


class Program:
    """A loop function (record, first, last) that becomes machine code when it is first bound to a record."""

    def __init__(self, function: Loop, is_compiled: bool, unit_size: int | None, width: int | None = None) -> None:
        self.function, self.is_compiled, self.unit_size, self.width = function, is_compiled, unit_size, width
        self._code: Any = None
        self._digest = ""
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

    def new_output(self, shape: tuple[int, ...]) -> Any:
        """Room for the samples that a loop writes."""
        return np.empty(shape)

    def collect(self, record: Any, new_log: Callable[[], tuple[Any, Any]], first: int, last: int) -> list[Any]:
        """Advance these units, and return the rows that they have logged."""
        log, found = new_log()
        self.bind(record._replace(log=log, found=found))(first, last)
        return [log[: int(found)]]

    def bind_words(self, record: Any) -> tuple[Any, Any, Any, int]:
        """The words of a record as doubles and as whole numbers, a call (address, first, last), and their address.

        For a loop that is called often: its numbers are changed in place.
        """
        code, words = self._machine_code(record), pack_record(record)
        return words.view(np.float64), words, code.call, words.ctypes.data

    def digest(self, record: Any) -> str:
        """SHA-256 of the text of loops and laws, whatever the machine; of a loop that is not compiled, of its name."""
        with self._lock:
            if not self._digest:
                parts = ("interpreted", self.function.__qualname__)
                if self.is_compiled:
                    parts = self.text(record, DIGEST_WIDTH)
                self._digest = sha256("\0".join(parts).encode()).hexdigest()
            return self._digest

    @staticmethod
    def slots(record: Any) -> dict[str, int]:
        """The place of each field among the words of a record."""
        return {name: slot for name, (slot, _) in record_like(record, {}).items()}

    def text(self, record: Any, width: int) -> tuple[str, str]:
        """The text of loops and laws for a record, in vectors of `width` doubles unless it has its own."""
        extents = {} if self.unit_size is None else {"buffer": (None, self.unit_size)}
        return compile_loop(self.function, record, extents, self.width or width)

    def _machine_code(self, record: Any) -> Any:
        if self._code is not None:  # as nearly always: without waiting for anyone
            return self._code
        with self._lock:
            if self._code is None:
                from polhode.ir.targets import native

                self._code = native.machine_code(*self.text(record, native.vector_width()))
            return self._code
