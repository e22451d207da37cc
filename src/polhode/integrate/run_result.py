"""What an engine returns: the samples of a run, why it stopped, and checkpoints to resume from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from polhode.validation import Array

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from polhode.integrate.closed_form import ClosedForm
    from polhode.scenario.scenario import Scenario

IMPACT = np.dtype(
    [
        ("time", "f8"),
        ("member", "i8"),
        ("body", "i8"),
        ("other", "i8"),
        ("surface", "i8"),
        ("point", "f8", 3),
        ("normal", "f8", 3),
        ("normal_impulse", "f8"),
        ("tangential_impulse", "f8", 3),
        ("energy_lost", "f8"),
        ("kind", "i8"),
    ]
)
"""A point of contact of an impact.  SI units, world axes; the normal points toward `body`.

`member` is -1 if there is no ensemble, `other` is -1 for a half-space, `surface` is the index of the contact in the
scenario, `kind` that of a word of IMPACT_KINDS.  The energies lost at the points of one impact add up.
"""
IMPACT_KINDS = ("slip", "stick", "settle", "jam")
"""The point slips when the impact ends, or sticks; the bounces end, contact is sustained; no force fits a sliding
point, which friction stops at once (Painleve)."""
CONTACT_STATES = ("flight", "sliding", "rolling", "resting")
"""Of a body: no contact; a point of contact slips; none slips, but it moves; it is at rest."""


class ContactColumns(NamedTuple):
    """Where the numbers of `RunResult.contact` are."""

    force: slice = slice(0, 3)
    """On the body, world axes, in N."""
    torque: slice = slice(3, 6)
    """About its center of mass, world axes, in N m."""
    points: int = 6
    """The number of points in contact."""
    state: int = 7
    """The index of a word of CONTACT_STATES."""


CONTACT_NUMBERS = 8
"""The numbers of ContactColumns."""

Chosen: TypeAlias = "slice | NDArray[np.int64]"
"""Members by their numbers from 0: consecutive ones as a slice, whose numbers are not copied."""
Report = Callable[[float], None]
"""Called with the time, in s, that the run has reached.  An exception that it raises ends the run."""


def report_of_part(report: Report | None, scenario: Scenario, i: int, count: int) -> Report | None:
    """The progress report of the i-th of `count` successive runs, as a share of the whole."""
    if report is None:
        return None
    start, share = scenario.start_time, scenario.duration / count
    return lambda t: report(start + share * (i + (t - start) / scenario.duration))


class SampleColumns(NamedTuple):
    """Where the numbers of a sample are: the formulation's four groups, the work if it is counted, and the drift."""

    position: slice
    attitude: slice
    momentum: slice
    spin: slice
    state: slice
    """The four groups, and what bodies have that are more than rigid, together."""
    more: slice
    """Of bodies that are more than rigid: what their parts add to the state."""
    work: int | None
    """None: not counted."""
    drift: int
    """The deviation of the attitude from a rotation; for Euler angles the square of the rotation in one step."""

    @property
    def integrated(self) -> slice:
        """State and work: all that the method advances."""
        return slice(0, self.drift)

    def controlled(self, count: int) -> list[slice]:
        """What errors are measured of, each on its own scale: four groups, and the first numbers of those of parts."""
        first = self.more.start - 4
        own = [slice(first + i, first + i + 1) for i in range(4, count)]
        return [self.position, self.attitude, self.momentum, self.spin, *own]

    @classmethod
    @lru_cache(maxsize=64)
    def of(cls, sizes: tuple[int, ...], counts_work: bool) -> SampleColumns:
        """The columns of a formulation with groups of these sizes."""
        position, attitude, momentum, spin, *more = (slice(a, b) for a, b in pairwise(accumulate(sizes, initial=0)))
        end = sum(sizes)
        work = end if counts_work else None
        extended = slice(spin.stop, more[-1].stop if more else spin.stop)
        return cls(position, attitude, momentum, spin, slice(0, end), extended, work, end + counts_work)


@dataclass
class Failure:
    """Why a run had to stop: the body, the last time at which it was valid, and its sample then.

    Bodies are counted through: in an ensemble of systems those of the first member, then of the second, and so on.
    """

    reason: str
    time: float
    body: int
    last_good: Array
    event: str = ""
    """The name of the event that would repeat forever, if that was the reason."""


@dataclass(slots=True)
class EventRecord:
    """An event that occurred: which one, for which body or member, when, and the body's sample then."""

    event: int
    body: int
    time: float
    sample: Array
    """Before the change, if the event makes one."""
    name: str = ""
    ends: bool = False
    """Whether the run, or the run of that member, ended there."""
    member: int | None = None
    """Of an ensemble of systems: the member; then `body` is the body of the system."""

    @property
    def owner(self) -> int:
        """The member of an ensemble to which it happened."""
        return self.body if self.member is None else self.member

    def given_to(self, member: int) -> EventRecord:
        """The same of a member with another number."""
        body, of_system = (member, None) if self.member is None else (self.body, member)
        return EventRecord(self.event, body, self.time, self.sample, self.name, self.ends, of_system)


LEAST_ERROR = 1e-15
"""Double precision resolves nothing smaller."""


@dataclass(frozen=True)
class AutoReport:
    """What method "auto" chose, and its error estimate."""

    why: str
    asked: float | None = None
    """The requested rtol; None if no tolerance was needed."""
    error: float | None = None
    """The error of the motion, estimated from a second run, as a multiple of the tolerance; of members the largest."""
    members: int | None = None
    """Of an ensemble: the number of members whose error was estimated, ..."""
    of_members: int | None = None
    """... of so many; of the others nothing is known."""
    missed_members: int = 0
    """How many have an error above the tolerance, ..."""
    worst_member: int | None = None
    """... and which one has the largest."""
    mean_step: float | None = None
    """The mean step of the run in s, if functions of the user act or are watched.

    The estimate cannot know what both runs stepped over: a pulse, or two crossings of an event, within one step.  Times
    given as `breaks` are never stepped over.
    """

    @property
    def error_found(self) -> float:
        """The error relative to the size of the motion."""
        return max((self.error or 0.0) * (self.asked or 0.0), LEAST_ERROR)

    @property
    def missed(self) -> bool:
        """Whether the error exceeds the tolerance."""
        return self.error is not None and self.error > 1

    def __str__(self) -> str:
        if self.error is None:
            return self.why
        found = f"{self._describe_members()} {self.error_found:.1e} ({self.asked:g} asked){self._describe_missed()}"
        unknown = (
            ""
            if self.mean_step is None
            else (
                f"; both runs may have missed what is shorter than a step ({self.mean_step:.1g} s on average): "
                "give the times of such pulses as breaks"
            )
        )
        return f"{self.why}; {found}{unknown}"

    def _describe_members(self) -> str:
        if self.members is None or self.of_members is None:
            return "error, estimated from a second run,"
        if self.members == self.of_members:
            return f"largest error of all {self.members:,} members, each estimated from a second run,"
        others = f"of the other {self.of_members - self.members:,} nothing is known"
        return f"largest error of {self.members:,} members ({others}), each estimated from a second run,"

    def _describe_missed(self) -> str:
        if not self.missed_members:
            return ""
        have = "members have" if self.missed_members > 1 else "member has"
        return f"; {self.missed_members:,} {have} more than was asked, the worst is member {self.worst_member}"

    def with_members(self, errors: Array, first: int = 0) -> AutoReport:
        """The report of an ensemble from the errors of its members, who are counted from `first`; NaN is unknown."""
        known = np.flatnonzero(~np.isnan(errors))
        if not len(known):
            return replace(self, error=None, members=0, of_members=len(errors), missed_members=0, worst_member=None)
        worst = int(known[np.argmax(errors[known])])
        return replace(
            self,
            error=float(errors[worst]),
            members=len(known),
            of_members=len(errors),
            missed_members=int((errors[known] > 1).sum()),
            worst_member=first + worst,
        )

    @classmethod
    def concat(cls, reports: Iterable[AutoReport], members: int) -> AutoReport | None:
        """The report of an ensemble of so many members from those of its chunks, in their order, of which some may be
        missing; None if there are none.
        """
        found = list(reports)
        if not found:
            return None
        worst = max(found, key=lambda one: -1.0 if one.error is None else one.error)
        if worst.of_members is None:
            return worst
        known, missed = sum(one.members or 0 for one in found), sum(one.missed_members for one in found)
        return replace(worst, members=known, of_members=members, missed_members=missed)


@dataclass(frozen=True)
class PrecisionReport:
    """How far the numbers of a GPU are from the CPU's, if they are not the same."""

    precision: str
    members: int | None
    """The number of ensemble members that were compared; None: one motion."""
    difference: float
    """The largest difference of a position, attitude, momentum or spin, as a part of the largest of its kind."""

    def __str__(self) -> str:
        looked = f" of {self.members} members" if self.members is not None else ""
        return (
            f"precision {self.precision!r}: the numbers{looked} differ from the CPU's by {self.difference:.1e} at most"
        )


@dataclass
class RunResult:
    """The output of a run.  `samples` is (times, bodies, columns): state, work if counted, attitude drift."""

    times: Array
    samples: Array
    columns: SampleColumns
    steps: int
    refused: int = 0
    failure: Failure | None = None
    crossings: list[EventRecord] = field(default_factory=list)
    """The events that occurred, in order of time."""
    checkpoints: Array | None = None
    """Of adaptive steps: the start of the step that covers each output, (times, units, sample and clock)."""
    auto_report: AutoReport | None = None
    """Of method "auto": what it chose and why."""
    member_errors: Array | None = None
    """Of an ensemble by method "auto": (members,), the error of each, estimated from a second run, as a multiple of the
    tolerance; NaN of one that failed."""
    precision_report: PrecisionReport | None = None
    """Of a GPU whose numbers are not the CPU's: how far they are from them."""
    switches: int = 0
    """Of Taylor series: how often functions of the user switched branches."""
    closed_form: ClosedForm | None = None
    """Of an exact motion: its state at any time."""
    impacts: Any = None
    """With contacts: an array of IMPACT, in order of time; empty in an ensemble that keeps only its final states."""
    contact: Array | None = None
    """With contacts: (times, bodies, ContactColumns), the load of the contacts at the outputs."""
    impact_totals: Array | None = None
    """With contacts: (bodies, 3), the number of points of contact in all impacts, the energy lost there in J, and the
    number of coarse steps.

    Every body of a system has the numbers of the whole system.
    """

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the machine code, which is compiled again when needed."""
        return {**self.__dict__, "closed_form": None}

    # Of ensembles -----------------------------------------------------------------------------------------------------
    @property
    def bodies(self) -> int:
        """How many each member of an ensemble has."""
        return self.samples.shape[2] if self.samples.ndim > 3 else 1

    def take(self, members: int | Chosen) -> RunResult:
        """The result of some members of an ensemble, numbered anew in the order in which they are asked for.

        Of one member, by its number, it is that of a single run: what happened has no member.  Samples of a slice are
        not copied.
        """
        crossings, failure = self.crossings, self.failure
        chosen = _numbers_of(members, self.samples.shape[1])
        if crossings or failure is not None:
            places: dict[int, list[int]] = {}
            for place, member in enumerate(chosen.tolist()):
                places.setdefault(member, []).append(place)
            crossings = [c.given_to(place) for c in crossings for place in places.get(c.owner, ())]
            if failure is not None:
                owner, body = divmod(failure.body, self.bodies)
                failure = replace(failure, body=places[owner][0] * self.bodies + body) if owner in places else None
        impacts = _impacts_of(self.impacts, chosen)
        report, errors = self.auto_report, None if self.member_errors is None else self.member_errors[chosen]
        if report is not None and errors is not None:
            report = report.with_members(errors)
        own: Any = members
        if isinstance(members, int):
            own = members if self.samples.ndim > 3 else slice(members, members + 1)
            crossings = [replace(c, body=0 if c.member is None else c.body, member=None) for c in crossings]
            if impacts is not None:
                impacts["member"] = -1
            if report is not None and errors is not None:
                report, errors = (
                    replace(report, members=None, of_members=None, worst_member=None, missed_members=0),
                    None,
                )
        return replace(
            self,
            samples=self.samples[:, own],
            failure=failure,
            crossings=crossings,
            checkpoints=None,
            closed_form=None,
            impacts=impacts,
            contact=None if self.contact is None else self.contact[:, own],
            impact_totals=None if self.impact_totals is None else self.impact_totals[own],
            auto_report=report,
            member_errors=errors,
        )

    @classmethod
    def concat(
        cls, results: Iterable[tuple[Chosen, RunResult]], times: Array, members: int, *, same_steps: bool = False
    ) -> RunResult:
        """The result of an ensemble from those of its parts: each with its members, by their numbers in the ensemble.

        The parts may come in any order, and have all members together.  Each is written where it belongs as soon as it
        comes, so that no more than one need be in memory besides the whole.  Where a part has fewer output times, its
        members have NaN.  Steps are added up, unless all parts take the same steps.
        """
        whole: RunResult | None = None
        parts: list[RunResult] = []
        firsts: list[int] = []
        for own, part in results:
            if whole is None:
                whole = _room_for(part, times, members)
            _write(part.samples, whole.samples, own)
            if part.contact is not None:
                _write(part.contact, whole.contact, own)
            if part.impact_totals is not None and whole.impact_totals is not None:
                whole.impact_totals[own] = part.impact_totals
            numbers = _numbers_of(own, members)
            if part.member_errors is not None:
                if whole.member_errors is None:
                    whole.member_errors = np.full(members, np.nan)
                whole.member_errors[own] = part.member_errors
            firsts.append(int(numbers[0]))
            parts.append(_events_in_ensemble(part, numbers))
        assert whole is not None, "an ensemble has members"
        parts = [parts[i] for i in np.argsort(firsts)]
        steps = [part.steps for part in parts]
        whole.steps = max(steps) if same_steps else sum(steps)
        whole.refused, whole.switches = (sum(getattr(one, name) for one in parts) for name in ("refused", "switches"))
        failures = [part.failure for part in parts if part.failure is not None]
        whole.failure = min(failures, key=lambda failure: failure.body, default=None)
        whole.crossings = sorted((c for part in parts for c in part.crossings), key=lambda crossing: crossing.time)
        if whole.impacts is not None:
            impacts = np.concatenate([part.impacts for part in parts])
            whole.impacts = impacts[np.argsort(impacts["time"], kind="stable")]
        return whole


def _numbers_of(chosen: int | Chosen, members: int) -> NDArray[np.int64]:
    """The numbers of the members that were chosen among so many."""
    if isinstance(chosen, slice):
        return np.arange(*chosen.indices(members))
    return np.atleast_1d(np.asarray(chosen)) % members


def _room_for(part: RunResult, times: Array, members: int) -> RunResult:
    """The result of an ensemble, before anything is written, that is like that of a part."""
    samples, contact, totals = part.samples, part.contact, part.impact_totals
    return replace(
        part,
        times=times,
        samples=np.empty((len(times), members, *samples.shape[2:])),
        checkpoints=None,
        closed_form=None,
        member_errors=None,
        contact=None if contact is None else np.empty((len(times), members, *contact.shape[2:])),
        impact_totals=None if totals is None else np.empty((members, *totals.shape[1:])),
    )


def _write(values: Array, whole: Any, own: Chosen) -> None:
    whole[: len(values), own] = values
    whole[len(values) :, own] = np.nan


def _events_in_ensemble(part: RunResult, numbers: NDArray[np.int64]) -> RunResult:
    """What a part leaves beside its arrays, with the numbers of its members in the ensemble."""
    left = replace(part, samples=part.samples[:0].copy(), contact=None, impact_totals=None, closed_form=None)
    if part.crossings and (numbers[0] or numbers[-1] != len(numbers) - 1):
        known = numbers.tolist()
        left.crossings = [c.given_to(known[c.owner]) for c in part.crossings]
    if part.failure is not None:
        owner, body = divmod(part.failure.body, part.bodies)
        left.failure = replace(part.failure, body=int(numbers[owner]) * part.bodies + body)
    if part.impacts is not None:
        left.impacts = part.impacts.copy()
        left.impacts["member"] = numbers[part.impacts["member"]]
    return left


def _impacts_of(rows: Any, members: NDArray[np.int64]) -> Any:
    """The impacts of some members, who are numbered anew in their order."""
    if rows is None:
        return None
    chosen, places = match_members(rows["member"], members)
    found = rows[chosen]
    found["member"] = places
    return found


def match_members(owners: Any, members: NDArray[np.int64]) -> tuple[Any, Any]:
    """The rows whose owner is among the members, and the owner's place there; for each place, if it is there twice."""
    order = np.argsort(members, kind="stable")
    first, last = (np.searchsorted(members[order], owners, side) for side in ("left", "right"))
    counts = last - first
    rows = np.repeat(np.arange(len(owners)), counts)
    within = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    return rows, order[np.repeat(first, counts) + within]
