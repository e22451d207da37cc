"""Bouncing balls in closed form, as the output of an engine: what is shown of contacts is tested without computing any.

A ball falls on a floor without friction.  It arrives at v, leaves at e v, and lands again after 2 e v/g; the bounces
end after a finite time.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import polhode as ph
from polhode.integrate.run_result import IMPACT, RunResult, SampleColumns

G = ph.forces.STANDARD_GRAVITY
RADIUS, MASS = 0.1, 2.0
HIT, SETTLED = 0, 2


def bounces(height, restitution, end):
    """The bounces up to `end` as (time, speed of arrival), and the time from which the ball stays down."""
    time, speed, found = np.sqrt(2 * height / G), np.sqrt(2 * G * height), []
    while time <= end and speed > 1e-3:
        found.append((time, speed))
        time, speed = time + 2 * restitution * speed / G, restitution * speed
    return found, time


def height_and_velocity(t, height, found, rest, restitution):
    """Height of the lowest point above the floor, and vertical velocity."""
    before = [one for one in found if one[0] <= t]
    if not before:
        return height - G * t**2 / 2, -G * t
    if t >= rest:
        return 0.0, 0.0
    start, speed = before[-1]
    s, up = t - start, restitution * speed
    return up * s - G * s**2 / 2, up - G * s


def ball_rows(height, restitution, duration, x=0.0, vx=0.0, *, member=-1, body=0):
    """The impacts of one ball, as rows of IMPACT, and what gives its motion at any time."""
    found, rest = bounces(height, restitution, duration)
    settles = rest <= duration
    rows = np.zeros(len(found) + settles, dtype=IMPACT)
    rows["member"], rows["body"], rows["other"], rows["normal"] = member, body, -1, (0, 0, 1)
    for row, (time, speed) in zip(rows, found, strict=False):
        row["time"], row["kind"], row["normal_impulse"] = time, HIT, MASS * (1 + restitution) * speed
        row["energy_lost"] = MASS * speed**2 * (1 - restitution**2) / 2
    if settles:
        rows[-1]["time"], rows[-1]["kind"] = rest, SETTLED
        rows[-1]["energy_lost"] = MASS * (restitution * found[-1][1]) ** 2 / 2
    rows["point"][:, 0] = x + vx * rows["time"]
    return rows, lambda t: height_and_velocity(t, height, found, rest, restitution), rest


def run_result(times, balls, shape, vx):
    """The output of a run of several balls, each as given by `ball_rows`, at these times."""
    times = np.asarray(times, dtype=float)
    columns = SampleColumns.of((3, 4, 3, 3), counts_work=True)
    samples, contact = np.zeros((len(times), len(balls), columns.drift + 1)), np.zeros((len(times), len(balls), 8))
    for k, (_, motion, rest) in enumerate(balls):
        for i, t in enumerate(times):
            z, v = motion(t)
            samples[i, k, columns.position] = vx * t + k, 0.0, RADIUS + z
            samples[i, k, columns.attitude] = 1.0, 0.0, 0.0, 0.0
            samples[i, k, columns.momentum] = MASS * vx, 0.0, MASS * v
            contact[i, k] = (0, 0, MASS * G * (t >= rest), 0, 0, 0, t >= rest, t >= rest)
        kinetic = (samples[:, k, columns.momentum] ** 2).sum(axis=-1) / (2 * MASS)
        samples[:, k, columns.work] = kinetic - kinetic[0]
    totals = np.array([[len(rows), rows["energy_lost"].sum(), 0] for rows, _, _ in balls], dtype=float)
    impacts = np.sort(np.concatenate([rows for rows, _, _ in balls]), order="time")
    end = len(times), *shape
    return RunResult(
        times,
        samples.reshape(*end, -1),
        columns,
        0,
        impacts=impacts,
        contact=contact.reshape(*end, 8),
        impact_totals=totals.reshape(*shape, 3),
    )


class ClosedFormMotion(ph.Motion):
    """A motion of balls that is never computed, at other times neither."""

    def given(self, balls, vx):
        """Keep what gives it at any time."""
        self.balls, self.vx = balls, vx
        return self

    def recomputed_at(self, times, members=None):
        """The closed form at other times."""
        assert members is None or len(members) == len(self.balls)
        run = run_result(np.asarray(times), self.balls, self.run_result.samples.shape[1:-1], self.vx)
        scenario = replace(self.scenario, output_times=times, output_step=None)
        return ClosedFormMotion(scenario, run).given(self.balls, self.vx)

    def samples_at(self, t):
        """The closed form at one time."""
        return self.recomputed_at([t]).run_result.samples[0]


BALL = ph.shapes.sphere(RADIUS, mass=MASS)


def one_ball(restitution=0.5, height=1.0, vx=0.3, duration=2.0, step=0.02):
    """A motion of one ball."""
    start = ph.State(position=(0, 0, height + RADIUS), velocity=(vx, 0, 0))
    scenario = _scenario(BALL, start, restitution, duration, step)
    return _motion(scenario, [ball_rows(height, restitution, duration, vx=vx)], vx)


def many_balls(heights=(1.0, 0.5, 2.0), restitution=0.5, duration=2.0, step=0.1):
    """An ensemble of balls from different heights."""
    start = ph.State(position=[(i, 0, h + RADIUS) for i, h in enumerate(heights)])
    scenario = _scenario(BALL, start, restitution, duration, step)
    balls = [ball_rows(h, restitution, duration, i, member=i) for i, h in enumerate(heights)]
    return _motion(scenario, balls, 0.0)


def system_of_balls(heights=(1.0, 0.5), restitution=0.5, duration=2.0, step=0.1):
    """A system of balls that never meet."""
    starts = [ph.State(position=(i, 0, h + RADIUS)) for i, h in enumerate(heights)]
    scenario = _scenario([BALL] * len(heights), starts, restitution, duration, step)
    balls = [ball_rows(h, restitution, duration, i, body=i) for i, h in enumerate(heights)]
    motion = _motion(scenario, balls, 0.0)
    motion.run_result.impact_totals[:] = motion.run_result.impact_totals.sum(axis=0)
    return motion


def _scenario(body, state, restitution, duration, step):
    contacts = [ph.floor(restitution=restitution)]
    return ph.Scenario(body, state, [ph.forces.gravity()], duration=duration, output_step=step, contacts=contacts)


def _motion(scenario, balls, vx):
    return ClosedFormMotion(scenario, run_result(scenario.times, balls, (len(balls),), vx)).given(balls, vx)
