"""What a model of the gallery is: a scenario with knobs, a picture, and the numbers that it must show."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from polhode.errors import InputError, nearest
from polhode.progress import progress_part

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from polhode.model.scenario import Scenario
    from polhode.results.motion import Motion

THEMES = (
    "transformations and rotations",
    "forces and torques",
    "free rotation",
    "tops and gyroscopes",
    "real bodies",
)
"""What a model is about, in the order of the listings."""


def format_with_unit(number: str, unit: str) -> str:
    """A number with its unit; a pure number, whose unit is "1", alone."""
    return number if unit == "1" else f"{number} {unit}"


@dataclass(frozen=True)
class Parameter:
    """A number that a person may change: an option of the command line."""

    name: str
    """A Python name; the command line writes `-` for `_`."""
    unit: str
    """"1" for a pure number."""
    default: float
    low: float
    high: float
    help: str

    def checked(self, value: Any) -> float:
        """The value as a number within the range."""
        try:
            number = float(value)
        except (TypeError, ValueError):
            unit = "" if self.unit == "1" else f" in {self.unit}"
            raise InputError(f"{self.name} must be a number{unit}, not {value!r}") from None
        if not self.low <= number <= self.high:
            raise InputError(
                f"{self.name} = {format_with_unit(f'{number:g}', self.unit)} is outside its range: "
                f"choose from {self.low:g} to {format_with_unit(f'{self.high:g}', self.unit)} ({self.help})"
            )
        return number


@dataclass(frozen=True)
class ReferenceCheck:
    """The number that a model shows: as found in the simulated motion, and as a formula expects it."""

    label: str
    unit: str
    found: float
    expected: float
    tolerance: float
    """How far apart the two may be, in the number's own unit."""
    source: str
    """Where the expected value comes from."""
    size: float | None = None
    """Where 0 is expected: what the number would be like if it were wrong."""

    def __post_init__(self) -> None:
        for name in ("found", "expected", "tolerance"):
            object.__setattr__(self, name, float(getattr(self, name)))
        object.__setattr__(self, "size", None if self.size is None else float(self.size))

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

    `scenario` takes every parameter by name and gives what is run: a scenario, or several by name, of which the first
    is the one to watch.  `numbers` and `picture` take what became of it (the motion, or the motions by name), then
    every parameter by name.

    Examples
    --------
    >>> from polhode.gallery import MODELS
    >>> MODELS["dzhanibekov"].values(spin=4)
    {'spin': 4.0, 'nudge': 0.1}
    """

    name: str
    title: str
    theme: str
    """One of `THEMES`."""
    source: str
    explanation: str
    """About five lines."""
    parameters: tuple[Parameter, ...]
    scenario: Callable[..., Scenario | Mapping[str, Scenario]]
    numbers: Callable[..., Sequence[ReferenceCheck]]
    """What must come out, the most telling first."""
    picture: Callable[..., Figure]

    def values(self, /, **given: Any) -> dict[str, float]:
        """Every parameter's value: as given, checked against its range, or its default."""
        known = {p.name: p for p in self.parameters}
        for name in given:
            if name not in known:
                raise InputError(f"{self.name} has no parameter {name!r}: {nearest(name, known)}")
        return {name: p.checked(given.get(name, p.default)) for name, p in known.items()}

    def run(self, /, **values: float) -> Motion | dict[str, Motion]:
        """The motion at these values, or the motions by name: what `numbers` and `picture` take."""
        from polhode.solve.simulate import simulate

        planned = self.scenario(**values)
        if not isinstance(planned, Mapping):
            return simulate(planned)
        motions = {}
        for i, (name, scenario) in enumerate(planned.items()):
            with progress_part(len(planned), i, name):
                motions[name] = simulate(scenario)
        return motions

    def described(self) -> Mapping[str, Any]:
        """The model in plain texts and numbers, for listings."""
        return {
            "name": self.name,
            "title": self.title,
            "theme": self.theme,
            "source": self.source,
            "explanation": self.explanation,
            "parameters": [vars(p) for p in self.parameters],
        }


def main_motion(motions: Motion | Mapping[str, Motion]) -> Motion:
    """Of what a model has run: the motion to watch."""
    return next(iter(motions.values())) if isinstance(motions, Mapping) else motions
