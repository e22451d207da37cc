"""Times as text: a unit, and enough digits to tell one time from the next."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log10

from polhode.validation import Array

DAY, LONG_SPAN = 86400.0, 3 * 86400.0
"""In s; spans of at least LONG_SPAN are given in days."""
SHORT_UNITS = {1e-3: "ms", 1e-6: "µs", 1e-9: "ns", 1e-12: "ps", 1e-15: "fs"}
MAX_DIGITS = 9
"""A time with more digits is written in two parts: the start, and the time elapsed since."""


@dataclass(frozen=True)
class TimeFormat:
    """How the times of a span are written."""

    unit: float
    """In s."""
    name: str
    zero: float
    """The time from which others are counted, in s."""
    decimals: int

    def places(self, times: Array) -> Array:
        """Times in the unit."""
        return (times - self.zero) / self.unit

    def place(self, time: float) -> float:
        """One time in the unit."""
        return (time - self.zero) / self.unit

    def format(self, time: float) -> str:
        """A time with a fixed number of decimals."""
        return self._full(f"{self.place(time):.{self.decimals}f}")

    def format_short(self, time: float) -> str:
        """A time without trailing zeros."""
        text = f"{self.place(time):.{self.decimals}f}"
        return self._full(text.rstrip("0").rstrip(".") if "." in text else text)

    @property
    def label(self) -> str:
        """The label of a time axis."""
        return f"time ({self.name})" + (f" since {self.zero:.15g} s" if self.zero else "")

    def _full(self, text: str) -> str:
        return f"{self.zero:.15g} s + {text} {self.name}" if self.zero else f"{text} {self.name}"


def choose_time_format(first: float, last: float, step: float | None = None) -> TimeFormat:
    """How to write times from `first` to `last`, in s, so that times `step` apart differ.

    The default step is 1e-4 of the span.

    Examples
    --------
    >>> from polhode.plot.time_labels import choose_time_format
    >>> choose_time_format(0.0, 4.0, 1 / 30).format(1.2)
    '1.200 s'
    >>> choose_time_format(0.0, 1e-10, 1e-12).format(3e-11)
    '30.0 ps'
    >>> choose_time_format(1e8, 1e8 + 4.0, 1 / 30).format(1e8 + 1.25)
    '100000000 s + 1.250 s'
    """
    span = last - first or abs(first)
    unit, name = 1.0, "s"
    if span >= LONG_SPAN:
        unit, name = DAY, "days"
    elif 0 < span < 0.01:
        unit = max((u for u in SHORT_UNITS if u <= span), default=min(SHORT_UNITS))
        name = SHORT_UNITS[unit]
    size, apart = max(abs(first), abs(last)) / unit, (step or span / 1e4 or 1.0) / unit
    decimals = max(0, 1 - floor(log10(apart)))
    digits = decimals + max(1, floor(log10(size)) + 1 if size else 1)
    late = abs(first) > last - first > 0 and digits > MAX_DIGITS
    return TimeFormat(unit, name, first if late else 0.0, decimals)


def format_duration(seconds: float) -> str:
    """A duration in s, or in days if long."""
    return f"{seconds:.6g} s" if seconds < LONG_SPAN else f"{seconds / DAY:.4g} days"
