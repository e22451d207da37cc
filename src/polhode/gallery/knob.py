"""A knob: a number of a model that can be changed within a range."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from polhode.errors import InputError, show


def format_with_unit(number: str, unit: str) -> str:
    """Append the unit to a number, unless it is dimensionless ("1")."""
    return number if unit == "1" else f"{number} {unit}"


@dataclass(frozen=True)
class Knob:
    """A number that the user can change: a slider on the page, an option on the command line, an argument in Python.

    Parameters
    ----------
    default : float
        Where it starts.
    low, high : float
        Its range; a value outside is refused.
    unit : str, optional
        "1" if dimensionless.
    help : str, optional
        What it is, in a few words.
    name : str, optional
        Python name; that of the argument where a function is decorated with `@ph.model`.  The command line uses `-` for
        `_`.
    label : str, optional
        What the page calls it, if not by its name.

    Examples
    --------
    >>> import polhode as ph
    >>> length = ph.Knob(1.0, 0.1, 3.0, "m", "of the string", name="length")
    >>> length.validate(2)
    2.0
    >>> length.validate(5)
    Traceback (most recent call last):
    ...
    polhode.errors.InputError: length = 5 m is outside its range: choose from 0.1 to 3 m (of the string)
    """

    default: float
    low: float
    high: float
    unit: str = "1"
    help: str = ""
    name: str = ""
    label: str = ""

    def __post_init__(self) -> None:
        called = self.name if isinstance(self.name, str) and self.name else "a knob"
        for field in ("unit", "help", "name", "label"):
            if not isinstance(getattr(self, field), str):
                raise InputError(f"{field} of {called} must be a string, but is {show(getattr(self, field))}")
        for field in ("default", "low", "high"):
            value = getattr(self, field)
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if not is_number or not -sys.float_info.max <= value <= sys.float_info.max:
                raise InputError(f"{field} of {called} must be a finite number, but is {show(value)}")
            object.__setattr__(self, field, float(value))
        if not self.low < self.high:
            raise InputError(
                f"{called} goes from low = {self.low:g} to high = {self.high:g}: low must be less than high"
            )
        if not self.low <= self.default <= self.high:
            start, high = (format_with_unit(f"{number:g}", self.unit) for number in (self.default, self.high))
            raise InputError(
                f"{called} starts at {start}, outside its range from {self.low:g} to {high}: "
                "widen the range, or start inside it"
            )

    def validate(self, value: Any) -> float:
        """Return the value as a float; raise InputError if it is outside the range."""
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            unit = "" if self.unit == "1" else f" in {self.unit}"
            raise InputError(f"{self.name} must be a number{unit}, not {show(value)}") from None
        if not self.low <= number <= self.high:
            about = f" ({self.help})" if self.help else ""
            raise InputError(
                f"{self.name} = {format_with_unit(f'{number:g}', self.unit)} is outside its range: "
                f"choose from {self.low:g} to {format_with_unit(f'{self.high:g}', self.unit)}{about}"
            )
        return number
