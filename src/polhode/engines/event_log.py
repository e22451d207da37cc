"""The event log of a run: the rules, the memory of each event, and the events that have occurred."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from polhode.engines.event_actions import ENDLESS, STOPPED, ZENO_INTERVAL, ZENO_LIMIT
from polhode.engines.event_detection import (
    BODIES,
    CHANGE,
    LOG_HEADER,
    POINTS,
    RECORD,
    SIDE,
    SINCE,
    STOP,
    UNKNOWN,
    ZENO_COUNT,
)
from polhode.engines.result import EventRecord
from polhode.model.scenario import Scenario
from polhode.validation import Array

ACTION_CODES = {"stop": STOP, "record": RECORD, "change": CHANGE}
LOG_ROWS = 1000
"""Events that a kernel can log before it must return."""


class EventLog:
    """The events of a run.  A unit is an ensemble member, a body alone, or a system with all its bodies."""

    def __init__(self, scenario: Scenario, units: int, numbers: int) -> None:
        events, bodies = scenario.events, 1 if scenario.members is not None else len(scenario.bodies)
        self.is_ensemble = scenario.members is not None
        self.rules = np.zeros((len(events), BODIES + bodies))
        for row, e in zip(self.rules, events, strict=True):
            row[:BODIES] = ACTION_CODES[e.action], e.direction, e.count or np.inf, e.within
            row[BODIES:] = 1.0 if e.bodies is None else np.isin(np.arange(bodies), e.bodies)
        self.memory = np.zeros((units, len(events), bodies, 3))
        self.memory[..., SINCE] = -np.inf
        self.counts = np.zeros((units, len(events)), dtype=np.int64)
        self.halted = np.zeros(units, dtype=np.int64)
        latest = max(abs(scenario.start_time), abs(scenario.end_time))
        self.shortest = max(ZENO_INTERVAL * scenario.duration, 8 * float(np.spacing(latest)))
        self.found: list[EventRecord] = []
        self._log_shape = (LOG_ROWS + (POINTS + 1) * len(events) * bodies, LOG_HEADER + numbers)

    def log(self) -> tuple[Array, Array]:
        """An empty log for a kernel, and its counter."""
        return np.empty(self._log_shape), np.zeros(1, dtype=np.int64)

    def take(self, log: Array) -> None:
        """Append the rows that a kernel has logged."""
        for row in log:
            body = int(row[1] if self.is_ensemble else row[2])
            self.found.append(EventRecord(int(row[0]), body, float(row[3]), row[LOG_HEADER:].copy()))

    def forget_sides(self) -> None:
        """After an impulse: a discontinuous sign change does not trigger an event."""
        self.memory[..., SIDE] = UNKNOWN

    @property
    def is_stopped(self) -> Any:
        """Mask of the units that an event has stopped."""
        return self.halted == STOPPED

    def endless(self) -> tuple[int, int, int] | None:
        """The unit, event and body of a change that would repeat forever (Zeno)."""
        if not (self.halted == ENDLESS).any():
            return None
        unit = int(np.argmax(self.halted == ENDLESS))
        event, body = np.argwhere(self.memory[unit, :, :, ZENO_COUNT] >= ZENO_LIMIT)[0]
        return unit, int(event), int(body)


def label_event_records(scenario: Scenario, crossings: list[EventRecord]) -> None:
    """Set the name of each event record, and mark those that ended a run, or the run of a member.

    The bodies of a system count together, the members of an ensemble separately; records are in order of time.
    """
    seen: Counter[tuple[int, int]] = Counter()
    for crossing in crossings:
        event, whose = scenario.events[crossing.event], 0 if scenario.members is None else crossing.body
        seen[crossing.event, whose] += 1
        crossing.name = event.name
        crossing.ends = event.action == "stop" and seen[crossing.event, whose] == event.count
