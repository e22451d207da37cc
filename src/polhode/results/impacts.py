"""The impacts of a motion: a table of the points of contact, and their totals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from polhode.errors import InputError, nearest, show
from polhode.integrate.run_result import CONTACT_STATES, IMPACT_KINDS
from polhode.validation import Array, check_text, is_whole_number

FAINT = 1e-3
"""An impulse below this fraction of the largest is not marked in pictures: most bounces before rest are."""
SHOWN_ROWS = 10
"""Rows of a printed table; of more, the first and the last are printed."""


@dataclass(frozen=True)
class Impact:
    """One point of contact of an impact.  World axes."""

    time: float
    """In s."""
    body: int
    """Which body of a system; else 0."""
    surface: str
    """The name of the contact: of the floor, wall or slope, or of the contact between bodies."""
    point: Array
    """Where, in m."""
    normal: Array
    """Unit vector, toward the body."""
    normal_impulse: float
    """On the body, along the normal, in N s."""
    tangential_impulse: Array
    """On the body, across the normal, in N s."""
    energy_lost: float
    """In J.  The points of one impact add up."""
    kind: str
    """"slip", "stick", "settle" (the bounces end: sustained contact follows) or "jam" (Painleve: stopped at once)."""
    other: int | None = None
    """The other body; None if the body struck a floor, wall or slope."""
    member: int | None = None
    """Which member of an ensemble."""


class ImpactTotals(NamedTuple):
    """The sums over all impacts: plain numbers, or arrays over the members of an ensemble."""

    count: Any
    """The number of points of contact, counted once for each impact."""
    energy_lost: Any
    """In J."""
    coarse_steps: Any = 0
    """Short steps of first order, taken where points of contact changed too often to follow each change."""


class Impacts:
    """The impacts of a motion in order of time, one row for each point of contact.  Printed, it is a short table.

    Columns are attributes: `impacts.time`, `impacts.energy_lost`, ...  An index gives an `Impact`; a slice, a mask or
    an array of indices gives these rows: `impacts[impacts.kind == "stick"]`.
    """

    def __init__(self, rows: Any, surfaces: tuple[str, ...], totals: ImpactTotals) -> None:
        self.rows = rows
        """Lower level: the structured array."""
        self.surfaces = surfaces
        """The names of the contacts of the scenario."""
        self._totals = totals

    @property
    def time(self) -> Array:
        """When, in s."""
        return np.asarray(self.rows["time"])

    @property
    def member(self) -> Array:
        """Which member of an ensemble; -1 if this is none."""
        return np.asarray(self.rows["member"])

    @property
    def body(self) -> Array:
        """Which body of a system; else 0."""
        return np.asarray(self.rows["body"])

    @property
    def other(self) -> Array:
        """The other body; -1 for a floor, wall or slope."""
        return np.asarray(self.rows["other"])

    @property
    def surface(self) -> Array:
        """The names of the contacts."""
        return np.asarray(np.array(self.surfaces, dtype=np.str_)[self.rows["surface"]])

    @property
    def point(self) -> Array:
        """Where, in m: (rows, 3)."""
        return np.asarray(self.rows["point"])

    @property
    def normal(self) -> Array:
        """Unit vectors toward the body: (rows, 3)."""
        return np.asarray(self.rows["normal"])

    @property
    def normal_impulse(self) -> Array:
        """On the body, along the normal, in N s."""
        return np.asarray(self.rows["normal_impulse"])

    @property
    def tangential_impulse(self) -> Array:
        """On the body, across the normal, in N s: (rows, 3)."""
        return np.asarray(self.rows["tangential_impulse"])

    @property
    def impulse(self) -> Array:
        """On the body, in N s: (rows, 3)."""
        return self.normal_impulse[:, None] * self.normal + self.tangential_impulse

    @property
    def energy_lost(self) -> Array:
        """In J."""
        return np.asarray(self.rows["energy_lost"])

    @property
    def kind(self) -> Array:
        """The words "slip", "stick", "settle" or "jam"."""
        return np.asarray(np.array(IMPACT_KINDS)[self.rows["kind"]])

    @property
    def at_once(self) -> Array:
        """A number for each row, which is the same for the points of one impact."""
        changes = (np.diff(self.time) != 0) | (np.diff(self.member) != 0)
        return np.concatenate(([0], np.cumsum(changes)))[: len(self)]

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, which: int) -> Impact: ...
    @overload
    def __getitem__(self, which: slice | NDArray[Any] | list[int]) -> Impacts: ...
    def __getitem__(self, which: Any) -> Impact | Impacts:
        row = self.rows[which]
        if row.ndim:
            return Impacts(row, self.surfaces, ImpactTotals(len(row), float(row["energy_lost"].sum())))
        other, member = int(row["other"]), int(row["member"])
        return Impact(
            float(row["time"]),
            int(row["body"]),
            self.surfaces[row["surface"]],
            row["point"].copy(),
            row["normal"].copy(),
            float(row["normal_impulse"]),
            row["tangential_impulse"].copy(),
            float(row["energy_lost"]),
            IMPACT_KINDS[row["kind"]],
            None if other < 0 else other,
            None if member < 0 else member,
        )

    def __iter__(self) -> Iterator[Impact]:
        return (self[i] for i in range(len(self)))

    @property
    def marked(self) -> Impacts:
        """Those that pictures mark: the strong ones, and those that end the bounces."""
        sizes = np.linalg.norm(self.impulse, axis=1)
        is_strong = sizes >= FAINT * sizes.max(initial=0.0)
        return self[np.flatnonzero(is_strong | (self.kind == "settle"))]

    def of_member(self, i: int) -> Impacts:
        """The impacts of one member of an ensemble, by its number from 0."""
        if not is_whole_number(i) or i < 0:
            raise InputError(f"of_member takes the number of a member, from 0, not {show(i)}")
        return self[np.flatnonzero(self.member == i)]

    def on_surface(self, name: str) -> Impacts:
        """The impacts at the contact of this name."""
        if check_text(name, "the name of a contact") not in self.surfaces:
            raise InputError(f"no contact is named {show(name)}: {nearest(name, self.surfaces)}")
        return self[np.flatnonzero(self.surface == name)]

    def __repr__(self) -> str:
        return f"<Impacts: {self._summary}>"

    @property
    def _summary(self) -> str:
        count, lost = np.sum(self._totals.count), np.sum(self._totals.energy_lost)
        if count == 0:
            return "none"
        lost_text = f"{lost:.6g} J lost"
        if len(self) == 0:
            return f"{count:,.0f} points of contact, {lost_text}; the rows were not kept"
        times = int(self.at_once[-1]) + 1
        return f"{count:,.0f} points of contact in {times:,} impacts, {lost_text}"

    def __str__(self) -> str:
        if len(self) == 0:
            return f"impacts: {self._summary}"
        half = SHOWN_ROWS // 2
        most = len(self) <= SHOWN_ROWS
        shown = list(range(len(self))) if most else [*range(half), *range(len(self) - half, len(self))]
        is_ensemble = bool((self.member >= 0).any())
        head = ["time (s)", "surface", "kind", "normal (N s)", "tangential (N s)", "energy lost (J)"]
        head[1:1] = ["member"] * is_ensemble + ["body"]
        lines = [head]
        for i in shown:
            one = self[i]
            body = f"{one.body}" if one.other is None else f"{one.body}, {one.other}"
            sideways = float(np.linalg.norm(one.tangential_impulse))
            numbers = [f"{one.normal_impulse:.4g}", f"{sideways:.4g}", f"{one.energy_lost:.4g}"]
            lines.append([f"{one.time:.9g}", *[f"{one.member}"] * is_ensemble, body, one.surface, one.kind, *numbers])
        if not most:
            lines.insert(1 + half, ["..."] + [""] * (len(head) - 1))
        widths = [max(len(line[k]) for line in lines) for k in range(len(head))]
        table = ["  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip() for line in lines]
        return "\n".join([*table, self._summary])


def name_contact_states(codes: Array) -> Array:
    """The words of contact states; "unknown" after a member has failed."""
    words = np.array([*CONTACT_STATES, "unknown"])
    return np.asarray(words[np.nan_to_num(codes, nan=len(CONTACT_STATES)).astype(np.int64)])
