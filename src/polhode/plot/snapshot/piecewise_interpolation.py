"""A body's outputs and what happens between them: blows, changes by events, and a member's end by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.plot.snapshot.interpolation import (
    apply_rotation_vector,
    interpolate_attitudes,
    interpolate_linearly,
    interpolate_positions,
    rotation_vectors_between,
)
from polhode.results.trajectory import Trajectory, state_from_sample
from polhode.validation import Array

SIMULTANEOUS = 0.01
"""Blows so near to each other, in the time between two outputs, count as one."""


@dataclass(frozen=True)
class Poses:
    """Of one body at n times, or of several, (n, ..., 3): places, attitudes (wxyz), velocities, rates in the body."""

    position: Array
    attitude: Array
    velocity: Array
    rates: Array

    def of(self, i: int) -> Poses:
        """One of several bodies."""
        return Poses(self.position[:, i], self.attitude[:, i], self.velocity[:, i], self.rates[:, i])


def interpolate_poses(motion: Trajectory, who: list[int], outputs: Poses, moments: Array) -> Poses:
    """Where bodies are at any moments within the outputs, (k, n, ...): for pictures, not for numbers.

    At a blow velocities jump: what is known before it says nothing of the time after.  A member that an event has
    stopped stands where it stopped.
    """
    found = _interpolate_smooth(motion.times, outputs, outputs, moments)
    crossings = _event_discontinuities(motion, who)
    for place, i in enumerate(who):
        sudden = _find_discontinuities(motion, i, crossings.get(i, []))
        if sudden:
            knots = _PiecewiseInterpolant(motion.times, outputs.of(place), sudden)
            for name, values in vars(knots.at(moments)).items():
                getattr(found, name)[:, place] = values
    return found


def _interpolate_smooth(times: Array, leaving: Poses, arriving: Poses, moments: Array) -> Poses:
    return Poses(
        interpolate_positions(times, leaving.position, leaving.velocity, moments, arriving.velocity),
        interpolate_attitudes(times, leaving.attitude, leaving.rates, moments, arriving.rates),
        interpolate_linearly(times, leaving.velocity, moments, arriving.velocity),
        interpolate_linearly(times, leaving.rates, moments, arriving.rates),
    )


@dataclass(frozen=True)
class _Discontinuity:
    """An instant at which the motion of a body changes suddenly."""

    time: float
    before: Any = None
    """The state until then, where an event knows it; of a blow none is known."""
    ends: bool = False


def _event_discontinuities(motion: Trajectory, who: list[int]) -> dict[int, list[_Discontinuity]]:
    """Where events stopped or changed each of these bodies or members."""
    smooth = {e.name for e in motion.scenario.events if e.action != "change"}  # of a stored motion none is known
    found: dict[int, list[_Discontinuity]] = {i: [] for i in who}
    for c in motion.run_result.crossings:
        if c.body in found and (c.ends or c.name not in smooth):
            one, k = (motion.scenario.take(c.body), 0) if motion.axis == "member" else (motion.scenario, c.body)
            found[c.body].append(_Discontinuity(c.time, state_from_sample(one, k, c.sample.tolist(), c.time), c.ends))
    return found


def _find_discontinuities(motion: Trajectory, i: int, crossings: list[_Discontinuity]) -> list[_Discontinuity]:
    """All of a body or member within the outputs, in the order of time."""
    outputs, is_member = motion.times, motion.axis == "member"
    mine = [f for f in motion.scenario.forces if f.bodies is None or is_member or i in f.bodies]
    instants = [_member_value(f.instant, i) for f in mine if f.kind == "impulse"]
    for f in mine:
        if f.window is not None:
            first, last = (_member_value(f.params[k], i) for k in f.window)
            if np.searchsorted(outputs, first, side="right") == np.searchsorted(outputs, last):  # as short as a blow
                instants += [first, last]
    known = {cut.time for cut in crossings}
    cuts = [*crossings, *(_Discontinuity(t) for t in dict.fromkeys(instants) if t not in known)]
    return sorted((cut for cut in cuts if outputs[0] < cut.time <= outputs[-1]), key=lambda cut: cut.time)


def _member_value(value: Any, i: int) -> float:
    """A number of all members, or a member's own."""
    return float(value if np.ndim(value) == 0 else value[i])


class _PiecewiseInterpolant:
    """Instants of one body between which it moves smoothly: outputs and cuts, with the rates before and after each."""

    def __init__(self, times: Array, outputs: Poses, cuts: list[_Discontinuity]) -> None:
        kept, ends = np.isfinite(outputs.position).all(axis=-1), [cut.time for cut in cuts if cut.ends]
        self.stops, last = bool(ends), min(ends) if ends else float(times[kept].max(initial=-np.inf))
        cuts = [cut for cut in cuts if cut.time <= last]
        self.times = np.union1d(times[kept], [cut.time for cut in cuts])
        count, at_output = len(self.times), np.searchsorted(self.times, times[kept])
        blank = Poses(*(np.full((count, n), np.nan) for n in (3, 4, 3, 3)))
        self.leaving, self.arriving = blank, Poses(blank.position, blank.attitude, *np.full((2, count, 3), np.nan))
        for name, values in vars(outputs).items():
            for knots in (self.leaving, self.arriving):
                getattr(knots, name)[at_output] = values[kept]
        for cut in cuts:
            self._put(cut, int(np.searchsorted(self.times, cut.time)))
        self._place_impulses()
        self._fill_rates()

    def at(self, moments: Array) -> Poses:
        """Poses at any moments; after the end those of the end, or none of a member that failed."""
        if len(self.times) == 0:
            return Poses(*(np.full((len(moments), n), np.nan) for n in (3, 4, 3, 3)))
        found = _interpolate_smooth(self.times, self.leaving, self.arriving, np.minimum(moments, self.times[-1]))
        if not self.stops:
            for values in vars(found).values():
                values[moments > self.times[-1]] = np.nan
        return found

    def _put(self, cut: _Discontinuity, k: int) -> None:
        """What is known at a cut: of a blow at an output that this is after it; of an event the state before it."""
        if cut.before is None:
            self.arriving.velocity[k] = self.arriving.rates[k] = np.nan
            return
        state, has_output = cut.before, bool(np.isfinite(self.leaving.position[k]).all())
        self.leaving.position[k], self.leaving.attitude[k] = state.position, state.quaternion_wxyz
        self.arriving.velocity[k], self.arriving.rates[k] = state.velocity, state.angular_velocity_body
        unchanged = has_output and np.array_equal(self.leaving.velocity[k], state.velocity)
        if unchanged and np.array_equal(self.leaving.rates[k], state.angular_velocity_body) and not cut.ends:
            self.leaving.velocity[k] = self.leaving.rates[k] = np.nan

    def _place_impulses(self) -> None:
        """Where the body is at blows: as far as its rates before and after carry it; the nearer counts more."""
        unknown = ~np.isfinite(self.leaving.position).all(axis=-1)
        edges = np.flatnonzero(np.diff(np.concatenate(([False], unknown, [False])).astype(int)))
        for first, end in zip(edges[::2], edges[1::2], strict=True):
            a, b, inside = first - 1, end, slice(first, end)
            early, late = self.times[first] - self.times[a], self.times[b] - self.times[end - 1]
            middle = self.times[inside] - self.times[first]
            v, w = self._known(self.leaving, a), self._known(self.arriving, b)
            forward = (
                self.leaving.position[a] + early * v[0],
                apply_rotation_vector(self.leaving.attitude[a], early * v[1]),
            )
            back = (
                self.leaving.position[b] - late * w[0],
                apply_rotation_vector(self.leaving.attitude[b], -late * w[1]),
            )
            if middle[-1] > SIMULTANEOUS * (self.times[b] - self.times[a]):
                share = (middle / middle[-1])[:, None]  # between two blows evenly: nobody knows more
            else:
                share = np.full((len(middle), 1), early**2 / (early**2 + late**2))
            self.leaving.position[inside] = forward[0] + share * (back[0] - forward[0])
            self.leaving.attitude[inside] = apply_rotation_vector(
                forward[1], share * rotation_vectors_between(forward[1], back[1])
            )

    def _known(self, knots: Poses, k: int) -> tuple[Array, Array]:
        """Velocity and rates at a knot, 0 where nothing is known."""
        return np.nan_to_num(knots.velocity[k]), np.nan_to_num(knots.rates[k])

    def _fill_rates(self) -> None:
        """The rates that nobody knows: those of an even acceleration from or to the other end, or of an even motion."""
        step = np.diff(self.times)[:, None]
        x, q = self.leaving.position, self.leaving.attitude
        out, into = self.leaving, self.arriving
        _fill_end_rates(out.velocity[:-1], into.velocity[1:], np.diff(x, axis=0) / step)
        known = np.nan_to_num(np.where(np.isnan(out.rates[:-1]), into.rates[1:], out.rates[:-1]))
        rest = rotation_vectors_between(apply_rotation_vector(q[:-1], step * known), q[1:])
        _fill_end_rates(out.rates[:-1], into.rates[1:], known + rest / step)


def _fill_end_rates(start: Array, end: Array, mean: Array) -> None:
    """Rates at the start and the end of pieces, so that the mean of both is that of the piece."""
    neither, no_start, no_end = np.isnan(start) & np.isnan(end), np.isnan(start), np.isnan(end)
    first, last = np.where(no_start, 2 * mean - end, start), np.where(no_end, 2 * mean - start, end)
    start[...], end[...] = np.where(neither, mean, first), np.where(neither, mean, last)
