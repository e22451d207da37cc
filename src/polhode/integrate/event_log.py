"""The event log of a run: the rules, the memory of each event, and the events that have occurred."""

from __future__ import annotations

from itertools import repeat
from typing import Any

import numpy as np

from polhode.integrate.loops.clocked import ENDLESS, STOPPED, WRONG_SIDE, ZENO_LIMIT
from polhode.integrate.loops.event_laws import HANDLED, UNKNOWN, Action, EventMemory, Rule, log_record
from polhode.integrate.loops.layout import EVENT_POINTS
from polhode.integrate.run_result import EventRecord
from polhode.scenario.scenario import Scenario

ACTION_CODES = {"stop": Action.STOP, "record": Action.RECORD, "change": Action.CHANGE}
LOG_ROWS = 1000
"""Events that a loop can log before it must return."""
ZENO_INTERVAL = 1e-10
"""As a fraction of the duration: two changes by one event within this interval are suspected to accumulate (Zeno)."""


class EventLog:
    """The events of a run.  Each clock is that of a member, of a body, or of a system with all its bodies."""

    def __init__(self, scenario: Scenario, clocks: int, bodies: int, slots: int, numbers: int) -> None:
        events = scenario.events
        self.is_ensemble, self.is_system = scenario.members is not None, scenario.is_system
        each = [(ACTION_CODES[e.action], e.direction, e.count or np.inf, e.within) for e in events]
        self.rules, self.applies = np.array(each, dtype=Rule.dtype), np.ones((len(events), bodies), dtype=bool)
        for row, e in zip(self.applies, events, strict=True):
            row[:] = e.bodies is None or np.isin(np.arange(bodies), e.bodies)
        self.memory = np.zeros((clocks, len(events), bodies), EventMemory.dtype)
        self.memory["since"] = -np.inf
        self.counts = np.zeros((clocks, len(events)), dtype=np.int64)
        self.halted = np.zeros(clocks, dtype=np.int64)
        latest = max(abs(scenario.start_time), abs(scenario.end_time))
        self.shortest = max(ZENO_INTERVAL * scenario.duration, 8 * float(np.spacing(latest)))
        self.found: list[EventRecord] = []
        spare = LOG_ROWS if scenario.engine != "gpu" else 1  # on a GPU every clock has a log of its own
        rows = spare * (len(events) > 0) + slots * (EVENT_POINTS + 1) * len(events) * bodies
        self._rows, self._kind = rows, log_record(numbers).dtype

    def log(self) -> tuple[Any, Any]:
        """An empty log for a loop, and its counter."""
        return np.empty(self._rows, self._kind), np.zeros((), dtype=np.int64)

    def fields(self) -> tuple[Any, ...]:
        """What of a `ClockedRun` concerns events, with an empty log."""
        return self.rules, self.applies, self.memory, self.counts, self.halted, self.shortest, *self.log()

    def take(self, log: Any) -> None:
        """Append the rows that a loop has logged."""
        event, clock, body, time = (log[name].tolist() for name in ("event", "clock", "body", "time"))
        samples = log["sample"].copy()
        if self.is_ensemble and self.is_system:
            unnamed, unknown = repeat(""), repeat(False)
            self.found.extend(map(EventRecord, event, body, time, samples, unnamed, unknown, clock))
        else:
            self.found.extend(map(EventRecord, event, clock if self.is_ensemble else body, time, samples))

    def forget_sides(self) -> None:
        """After an impulse: a discontinuous sign change does not trigger an event."""
        self.memory["side"] = UNKNOWN

    @property
    def is_stopped(self) -> Any:
        """Mask of the clocks that an event has stopped."""
        return self.halted == STOPPED

    def halting_event(self) -> tuple[str, int, int, int] | None:
        """Why an event has halted a clock other than by stopping it: the reason, the clock, the event and the body."""
        for reason, code in (("endless", ENDLESS), ("through", WRONG_SIDE)):
            if (self.halted == code).any():
                clock = int(np.argmax(self.halted == code))
                memory = self.memory[clock]
                culprit = memory["zeno_count"] >= ZENO_LIMIT if code == ENDLESS else np.abs(memory["side"]) == HANDLED
                event, body = np.argwhere(culprit)[0]
                return reason, clock, int(event), int(body)
        return None


def label_event_records(
    scenario: Scenario, crossings: list[EventRecord], seen: dict[tuple[int, int], int] | None = None
) -> None:
    """Set the name of each event record, and mark those that ended a run, or the run of a member.

    The bodies of a system count together, the members of an ensemble separately; records are in order of time.  `seen`
    is how often each event, of each member, has happened before; it is counted on.
    """
    seen = {} if seen is None else seen
    rules = [(e.name, e.action == "stop", e.count) for e in scenario.events]
    is_ensemble = scenario.members is not None
    for crossing in crossings:
        crossing.name, stops, count = rules[crossing.event]
        if not stops or count == 1:
            crossing.ends = stops
            continue
        whose = crossing.member if crossing.member is not None else crossing.body if is_ensemble else 0
        nth = seen[crossing.event, whose] = seen.get((crossing.event, whose), 0) + 1
        crossing.ends = nth == count
