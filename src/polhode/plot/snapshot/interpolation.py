"""Interpolation of positions and attitudes between the outputs of a motion, for pictures only.

Impulses, state changes by events, and members stopped by an event make the interpolation piecewise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.equations import quaternions
from polhode.results.trajectory import Trajectory, state_from_sample
from polhode.validation import Array

SIMULTANEOUS = 0.01
"""Impulses this close together, relative to the time between two outputs, count as one."""


@dataclass(frozen=True)
class Poses:
    """One body at n times, or several, (n, ..., 3): positions, attitudes (wxyz), velocities, rates in body axes."""

    position: Array
    attitude: Array
    velocity: Array
    rates: Array

    def of(self, i: int) -> Poses:
        """The poses of one of several bodies."""
        return Poses(self.position[:, i], self.attitude[:, i], self.velocity[:, i], self.rates[:, i])


def interpolate_poses(motion: Trajectory, who: list[int], outputs: Poses, query_times: Array) -> Poses:
    """Poses of bodies at any times within the outputs, (k, n, ...), for pictures only.

    Velocities are discontinuous at an impulse.  A member that an event has stopped stays where it stopped.
    """
    found = _interpolate_smooth(motion.times, outputs, outputs, query_times)
    by_event = _event_discontinuities(motion, who)
    for place, i in enumerate(who):
        cuts = _find_discontinuities(motion, i, by_event.get(i, []))
        if cuts:
            knots = _PiecewiseInterpolant(motion.times, outputs.of(place), cuts)
            for name, values in vars(knots.at(query_times)).items():
                getattr(found, name)[:, place] = values
    return found


def _interpolate_smooth(times: Array, leaving: Poses, arriving: Poses, query_times: Array) -> Poses:
    return Poses(
        interpolate_positions(times, leaving.position, leaving.velocity, query_times, arriving.velocity),
        interpolate_attitudes(times, leaving.attitude, leaving.rates, query_times, arriving.rates),
        interpolate_linearly(times, leaving.velocity, query_times, arriving.velocity),
        interpolate_linearly(times, leaving.rates, query_times, arriving.rates),
    )


@dataclass(frozen=True)
class _Discontinuity:
    """A time at which the velocity of a body is discontinuous."""

    time: float
    before: Any = None
    """The state just before, recorded by an event; None for an impulse."""
    ends: bool = False


def _event_discontinuities(motion: Trajectory, who: list[int]) -> dict[int, list[_Discontinuity]]:
    """Where events stopped or changed each of these bodies or members."""
    smooth = {e.name for e in motion.scenario.events if e.action != "change"}  # a stored motion has none
    found: dict[int, list[_Discontinuity]] = {i: [] for i in who}
    for c in motion.run_result.crossings:
        if c.body in found and (c.ends or c.name not in smooth):
            one, k = (motion.scenario.take(c.body), 0) if motion.axis == "member" else (motion.scenario, c.body)
            found[c.body].append(_Discontinuity(c.time, state_from_sample(one, k, c.sample.tolist(), c.time), c.ends))
    return found


def _find_discontinuities(motion: Trajectory, i: int, by_event: list[_Discontinuity]) -> list[_Discontinuity]:
    """All discontinuities of a body or member within the outputs, in order of time."""
    outputs, is_member = motion.times, motion.axis == "member"
    mine = [f for f in motion.scenario.acting_forces if f.bodies is None or is_member or i in f.bodies]
    instants = [_member_value(f.instant, i) for f in mine if f.kind == "impulse"]
    for f in mine:
        for window in f.windows:
            first, last = (_member_value(time, i) for time in window)
            if np.searchsorted(outputs, first, side="right") == np.searchsorted(
                outputs, last
            ):  # as short as an impulse
                instants += [first, last]
    if motion.scenario.contacts:
        impacts = motion.impacts
        mine_too = impacts.member == i if is_member else (impacts.body == i) | (impacts.other == i)
        instants += impacts.time[mine_too].tolist()
    known = {cut.time for cut in by_event}
    cuts = [*by_event, *(_Discontinuity(t) for t in dict.fromkeys(instants) if t not in known)]
    return sorted((cut for cut in cuts if outputs[0] < cut.time <= outputs[-1]), key=lambda cut: cut.time)


def _member_value(value: Any, i: int) -> float:
    """A value shared by all members, or that of one member."""
    return float(value if np.ndim(value) == 0 else value[i])


class _PiecewiseInterpolant:
    """Smooth pieces of one body's motion between outputs and discontinuities, with the rates before and after each."""

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

    def at(self, query_times: Array) -> Poses:
        """Poses at any times; after the end those of the end, or NaN for a failed member."""
        if len(self.times) == 0:
            return Poses(*(np.full((len(query_times), n), np.nan) for n in (3, 4, 3, 3)))
        found = _interpolate_smooth(self.times, self.leaving, self.arriving, np.minimum(query_times, self.times[-1]))
        if not self.stops:
            for values in vars(found).values():
                values[query_times > self.times[-1]] = np.nan
        return found

    def _put(self, cut: _Discontinuity, k: int) -> None:
        """Record a discontinuity: an output at an impulse is the state after it, an event has the state before it."""
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
        """Pose at impulses: extrapolated from both sides, weighted toward the nearer output."""
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
                share = (middle / middle[-1])[:, None]  # uniform motion between two impulses
            else:
                share = np.full((len(middle), 1), early**2 / (early**2 + late**2))
            self.leaving.position[inside] = forward[0] + share * (back[0] - forward[0])
            self.leaving.attitude[inside] = apply_rotation_vector(
                forward[1], share * rotation_vectors_between(forward[1], back[1])
            )

    def _known(self, knots: Poses, k: int) -> tuple[Array, Array]:
        """Velocity and rates at a knot, 0 if unknown."""
        return np.nan_to_num(knots.velocity[k]), np.nan_to_num(knots.rates[k])

    def _fill_rates(self) -> None:
        """Fill unknown rates: constant acceleration from or to the other end, or uniform motion."""
        step = np.diff(self.times)[:, None]
        x, q = self.leaving.position, self.leaving.attitude
        out, into = self.leaving, self.arriving
        _fill_end_rates(out.velocity[:-1], into.velocity[1:], np.diff(x, axis=0) / step)
        known = np.nan_to_num(np.where(np.isnan(out.rates[:-1]), into.rates[1:], out.rates[:-1]))
        rest = rotation_vectors_between(apply_rotation_vector(q[:-1], step * known), q[1:])
        _fill_end_rates(out.rates[:-1], into.rates[1:], known + rest / step)


def _fill_end_rates(start: Array, end: Array, mean: Array) -> None:
    """Fill unknown rates at the ends of pieces so that their mean is that of the piece."""
    neither, no_start, no_end = np.isnan(start) & np.isnan(end), np.isnan(start), np.isnan(end)
    first, last = np.where(no_start, 2 * mean - end, start), np.where(no_end, 2 * mean - start, end)
    start[...], end[...] = np.where(neither, mean, first), np.where(neither, mean, last)


def interpolate_attitudes(
    times: Array, quaternions_wxyz: Array, rates_body: Array, query_times: Array, arriving: Array | None = None
) -> Array:
    """Attitudes at any times, from attitudes and angular velocities at the outputs.

    Between two outputs the body rotates at the mean of their angular velocities (body axes), which accounts for whole
    turns; a cubic rotation vector corrects the attitude and the rates at the ends.  The error is of fourth order in
    the time between outputs.

    Parameters
    ----------
    times : array, (n,)
        Output times in s.
    quaternions_wxyz : array, (n, ..., 4)
        The attitudes there, body to world.
    rates_body : array, (n, ..., 3)
        The angular velocities there, along body axes, in rad/s.
    query_times : array, (k,)
        The times at which to interpolate, in s, within the outputs.
    arriving : array, (n, ..., 3), optional
        The angular velocities just before the outputs, where they are discontinuous.

    Returns
    -------
    array, (k, ..., 4)

    Examples
    --------
    >>> import numpy as np
    >>> from polhode.plot.snapshot.interpolation import interpolate_attitudes
    >>> still, spin = np.array([(1.0, 0, 0, 0)] * 2), np.array([(0, 0, 20 * np.pi)] * 2)  # ten turns a second
    >>> interpolate_attitudes(np.array([0.0, 1.0]), still, spin, np.array([0.025])).round(6).tolist()
    [[0.707107, 0.0, 0.0, 0.707107]]
    """
    if len(times) == 1:
        return np.asarray(quaternions_wxyz[np.zeros(len(query_times), dtype=int)])
    before, share, step = _locate_intervals(times, query_times, quaternions_wxyz.ndim)
    first, last = quaternions_wxyz[before], quaternions_wxyz[before + 1]
    ends = rates_body if arriving is None else arriving
    rate, rate_last = step * rates_body[before], step * ends[before + 1]  # rad per output interval
    mean = (rate + rate_last) / 2
    missing = _to_rotation_vector(
        _multiply_quaternions(_conjugate(_from_rotation_vector(mean)), _multiply_quaternions(_conjugate(first), last))
    )
    back = _from_rotation_vector(-missing)
    late = (
        rate_last
        - _multiply_quaternions(_multiply_quaternions(back, _pure_quaternion(mean)), _conjugate(back))[..., 1:]
    )
    cubic = _hermite_cubic(share, np.zeros_like(missing), rate - mean, missing, late)
    turned = _multiply_quaternions(
        _multiply_quaternions(first, _from_rotation_vector(share * mean)), _from_rotation_vector(cubic)
    )
    return np.asarray(turned / np.linalg.norm(turned, axis=-1, keepdims=True))


def interpolate_positions(
    times: Array, positions: Array, velocities: Array, query_times: Array, arriving: Array | None = None
) -> Array:
    """Positions (k, ..., 3) at any times: cubic Hermite interpolation of those at the outputs (n, ..., 3).

    `arriving` are the velocities just before the outputs, where they are discontinuous.
    """
    if len(times) == 1:
        return np.asarray(positions[np.zeros(len(query_times), dtype=int)])
    before, share, step = _locate_intervals(times, query_times, positions.ndim)
    last = (velocities if arriving is None else arriving)[before + 1]
    return _hermite_cubic(share, positions[before], step * velocities[before], positions[before + 1], step * last)


def interpolate_linearly(times: Array, values: Array, query_times: Array, arriving: Array | None = None) -> Array:
    """Values at any times, linear between those at the outputs (n, ...).

    `arriving` are the values just before the outputs, where they are discontinuous.
    """
    if len(times) == 1:
        return np.asarray(values[np.zeros(len(query_times), dtype=int)])
    before, share, _ = _locate_intervals(times, query_times, values.ndim)
    last = (values if arriving is None else arriving)[before + 1]
    return np.asarray((1 - share) * values[before] + share * last)


def apply_rotation_vector(quaternions_wxyz: Array, turn: Array) -> Array:
    """Attitudes after a rotation given by a rotation vector along body axes."""
    return _multiply_quaternions(quaternions_wxyz, _from_rotation_vector(turn))


def rotation_vectors_between(first: Array, last: Array) -> Array:
    """The rotation vectors, along body axes, of the shortest rotations from `first` to `last`."""
    return _to_rotation_vector(_multiply_quaternions(_conjugate(first), last))


def _locate_intervals(times: Array, query_times: Array, dimensions: int) -> tuple[Any, Array, Array]:
    """The output before each time, the fraction of the interval that has passed, and the interval's length."""
    before = np.clip(np.searchsorted(times, query_times, side="right") - 1, 0, len(times) - 2)
    step = times[before + 1] - times[before]
    shape = (-1, *(1,) * (dimensions - 1))
    return before, ((query_times - times[before]) / step).reshape(shape), step.reshape(shape)


def _hermite_cubic(s: Array, start: Array, start_rate: Array, end: Array, end_rate: Array) -> Array:
    """The cubic Hermite polynomial on [0, 1]."""
    rise = s * s * (3 - 2 * s)
    mixed: Array = (1 - rise) * start + rise * end + s * (1 - s) * ((1 - s) * start_rate - s * end_rate)
    return mixed


def _from_rotation_vector(turn: Array) -> Array:
    """The quaternion of a rotation vector: (cos, turn sin/|turn|) of half the angle, smooth at 0."""
    half = np.linalg.norm(turn, axis=-1, keepdims=True) / 2
    return np.concatenate((np.cos(half), turn / 2 * np.sinc(half / np.pi)), axis=-1)


def _to_rotation_vector(quaternion: Array) -> Array:
    """The rotation vector of a quaternion, at most pi long."""
    q = np.where(quaternion[..., :1] < 0, -quaternion, quaternion)
    size = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    angle = 2 * np.arctan2(size, q[..., :1])
    return np.asarray(q[..., 1:] * np.where(size > 0, angle / np.where(size > 0, size, 1.0), 2.0))


def _multiply_quaternions(p: Array, q: Array) -> Array:
    return np.stack(quaternions.product(split_components(p), split_components(q)), axis=-1)


def _conjugate(q: Array) -> Array:
    return np.asarray(q * np.array((1.0, -1.0, -1.0, -1.0)))


def _pure_quaternion(vector: Array) -> Array:
    return np.concatenate((np.zeros_like(vector[..., :1]), vector), axis=-1)


def split_components(array: Array) -> Any:
    """The components along the last axis, as a tuple."""
    return tuple(np.moveaxis(array, -1, 0))
