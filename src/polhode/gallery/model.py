"""What a model of the gallery is: a scenario with knobs, a picture, and the number that it must show."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from polhode.errors import InputError, nearest

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from polhode.scenario import Scenario


@dataclass(frozen=True)
class Parameter:
    """A number that a person may change: an option of the command line, a knob of the lab."""

    name: str
    """A Python name; the command line writes `-` for `_`."""
    unit: str
    default: float
    low: float
    high: float
    help: str

    def checked(self, value: Any) -> float:
        """The value as a number within the range."""
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise InputError(f"{self.name} must be a number in {self.unit}, not {value!r}") from None
        if not self.low <= number <= self.high:
            raise InputError(
                f"{self.name} = {number:g} {self.unit} is outside its range: "
                f"choose from {self.low:g} to {self.high:g} {self.unit} ({self.help})"
            )
        return number


@dataclass(frozen=True)
class Shown:
    """The number that a model shows: as found in the simulated motion, and as a formula expects it."""

    label: str
    unit: str
    found: float
    expected: float
    tolerance: float
    """How far apart the two may be, in the number's own unit."""
    source: str
    """Where the expected value comes from."""

    @property
    def difference(self) -> float:
        """found - expected"""
        return self.found - self.expected

    @property
    def holds(self) -> bool:
        """Whether the two agree."""
        return abs(self.difference) <= self.tolerance


@dataclass(frozen=True)
class Model:
    """One model.

    `scenario`, `number` and `picture` take every parameter by name; the latter two take the motion before them.

    Examples
    --------
    >>> from polhode.gallery import MODELS
    >>> MODELS["dzhanibekov"].values(spin=4)
    {'spin': 4.0, 'nudge': 0.1}
    """

    name: str
    title: str
    source: str
    explanation: str
    """About five lines."""
    parameters: tuple[Parameter, ...]
    scenario: Callable[..., Scenario]
    number: Callable[..., Shown]
    picture: Callable[..., Figure]

    def values(self, **given: Any) -> dict[str, float]:
        """Every parameter's value: as given, checked against its range, or its default."""
        known = {p.name: p for p in self.parameters}
        for name in given:
            if name not in known:
                raise InputError(f"{self.name} has no parameter {name!r}: {nearest(name, known)}")
        return {name: p.checked(given.get(name, p.default)) for name, p in known.items()}

    def described(self) -> Mapping[str, Any]:
        """The model in plain texts and numbers, for listings."""
        return {
            "name": self.name,
            "title": self.title,
            "source": self.source,
            "explanation": self.explanation,
            "parameters": [vars(p) for p in self.parameters],
        }
