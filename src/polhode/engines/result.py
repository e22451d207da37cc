"""What an engine hands back: the output of a run, why it stopped, and a place to take it up again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from polhode.validation import Array

if TYPE_CHECKING:
    from polhode.engines.closed_form import ClosedForm
    from polhode.model.scenario import Scenario

Report = Callable[[float], None]
"""Called with the time, in s, that the run has reached.  What it raises ends the run."""


def report_of_part(report: Report | None, scenario: Scenario, i: int, count: int) -> Report | None:
    """The report of the i-th of `count` runs one after another, as of a part of the whole."""
    if report is None:
        return None
    start, share = scenario.start_time, scenario.duration / count
    return lambda t: report(start + share * (i + (t - start) / scenario.duration))


@dataclass
class Failure:
    """Why a run had to stop: the body, the last time at which all was well, and its numbers then."""

    reason: str
    time: float
    body: int
    last_good: Array
    event: str = ""
    """The event that would have gone on for ever, if that was the reason."""


@dataclass
class EventRecord:
    """An event that happened: which one, to which body or member, when, and the body's kept numbers then."""

    event: int
    body: int
    time: float
    sample: Array
    """Before the change, if it makes one."""
    name: str = ""
    ends: bool = False
    """Whether the run, or the member's, ended there."""


@dataclass(frozen=True)
class AutoReport:
    """What "auto" chose, and what it found out about the error."""

    why: str
    asked: float | None = None
    """rtol, as asked for; None if no tolerance was needed."""
    error: float | None = None
    """The error of the motion, estimated from a second run, as a multiple of what was allowed."""
    members: int | None = None
    """How many members of an ensemble were looked at, if not all."""

    @property
    def error_found(self) -> float:
        """The error relative to the motion's own size."""
        return max((self.error or 0.0) * (self.asked or 0.0), 1e-15)  # nothing better can be seen with 16 digits

    @property
    def missed(self) -> bool:
        """Whether the error is larger than asked for."""
        return self.error is not None and self.error > 1

    def __str__(self) -> str:
        if self.error is None:
            return self.why
        looked = f" of {self.members} members" if self.members is not None else ""
        return f"{self.why}; error{looked}, estimated from a second run, {self.error_found:.1e} ({self.asked:g} asked)"


@dataclass
class RunResult:
    """The output of a run.  `samples` is (times, bodies, numbers): the state, the work if counted, the watched number."""

    times: Array
    samples: Array
    steps: int
    refused: int = 0
    failure: Failure | None = None
    crossings: list[EventRecord] = field(default_factory=list)
    """Where events happened, in the order of time."""
    checkpoints: Array | None = None
    """Of adaptive steps: where the step began that leads to an output, (times, units, kept numbers and clock)."""
    auto_report: AutoReport | None = None
    """Of method "auto": what it chose, and why."""
    closed_form: ClosedForm | None = None
    """Of an exact motion: what gives its state at any time."""

    def __getstate__(self) -> dict[str, Any]:
        """All but the machine code, which is made anew where it is needed."""
        return {**self.__dict__, "closed_form": None}


@dataclass
class Checkpoint:
    """A place to take up a run again: step k of the segment that began at `segment`, and the numbers there.

    Adaptive steps have checkpoints instead: a row of `Run.checkpoints`, of an output in that segment.
    """

    segment: float
    k: int
    samples: Array
