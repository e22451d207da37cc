"""100,000 throws of a die, beside MuJoCo: `python -m benchmarks.die_throws`.

A die of 16 mm and 4 g falls on a floor of restitution 0.5 and friction 0.3, with a random attitude and spin.  MuJoCo's
contact is a damped spring: its damping ratio gives the same restitution, and it lasts 1 ms, in ten steps, during
which a die of 2 m/s sinks by 0.6 mm, 4 % of its side.  (Half of that takes twice the steps.)  MuJoCo runs on two
threads, stops each die once it lies still, and throws fewer dice, extrapolated by count.
"""

from __future__ import annotations

import argparse
import math
from time import perf_counter
from typing import Any

import numpy as np
from scipy.stats import chisquare

import polhode as ph

SIDE, MASS, GRAVITY = 0.016, 0.004, 9.81
RESTITUTION, FRICTION = 0.5, 0.3
DURATION = 3.0
"""In s; nearly every die lies still long before."""
CONTACT_TIME, STEPS_PER_CONTACT = 1e-3, 10
CHUNK = 0.1
"""MuJoCo's dice that lie still are dropped after every so many seconds."""
STILL = 1e-3
"""In m/s, of the center and of a corner: MuJoCo's dice creep on slowly."""


def throws(n: int, seed: int = 0) -> dict[str, Any]:
    """Random attitudes, uniform over all rotations, and velocities, as the arguments of a state."""
    q, v, w = np.split(
        np.random.default_rng(seed).normal(size=(n, 10)), (4, 7), axis=1
    )  # the first are always the same
    return {
        "position": np.broadcast_to([0.0, 0.0, 0.15], (n, 3)),
        "quaternion_wxyz": q / np.linalg.norm(q, axis=1, keepdims=True),
        "velocity": np.array([1.0, 0.0, -0.5]) + 0.3 * v,
        "angular_velocity_body": 25.0 * w,
    }


def faces(quaternion: Any) -> Any:
    """Which face is up: 0 to 5 for x, y, z, -x, -y, -z of the die."""
    w, x, y, z = np.moveaxis(quaternion, -1, 0)
    up = np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=-1)  # of the body axes
    return np.concatenate([up, -up], axis=-1).argmax(axis=-1)


def run_polhode(n: int, threads: int) -> tuple[Any, float]:
    """Faces, and seconds."""
    begin = perf_counter()
    motion = ph.ensemble(
        ph.shapes.box((SIDE,) * 3, mass=MASS),
        ph.State(**throws(n)),
        [ph.forces.gravity(GRAVITY)],
        duration=DURATION,
        output_times=[DURATION],
        contacts=[ph.floor(RESTITUTION, FRICTION)],
        threads=threads,
    )
    seconds = perf_counter() - begin
    return faces(motion.final.quaternion_wxyz), seconds


def mujoco_model(contact_time: float = CONTACT_TIME) -> Any:
    """The same scene: restitution by the damping ratio, contact time by the time constant."""
    import mujoco

    decay = -math.log(RESTITUTION)
    ratio = decay / math.hypot(math.pi, decay)
    time_constant = contact_time / math.pi * math.sqrt(1 - ratio * ratio) / ratio  # 1 / (ratio * frequency)
    half, moment = SIDE / 2, MASS * SIDE**2 / 6
    return mujoco.MjModel.from_xml_string(f"""<mujoco>
      <option timestep="{contact_time / STEPS_PER_CONTACT}" gravity="0 0 {-GRAVITY}" cone="elliptic"/>
      <default><geom friction="{FRICTION} 0 0" solref="{time_constant} {ratio}" condim="3"/></default>
      <worldbody><geom type="plane" size="0 0 1"/><body><freejoint/>
        <inertial pos="0 0 0" mass="{MASS}" diaginertia="{moment} {moment} {moment}"/>
        <geom type="box" size="{half} {half} {half}"/></body></worldbody></mujoco>""")


def run_mujoco(n: int, threads: int) -> tuple[Any, float, float]:
    """Faces, seconds, and the part of the dice that lie still at the end."""
    import mujoco
    from mujoco import rollout

    model = mujoco_model()
    start = throws(n)
    names = ("position", "quaternion_wxyz", "velocity", "angular_velocity_body")
    states = np.concatenate([np.zeros((n, 1)), *(start[name] for name in names)], axis=1)
    workers = [mujoco.MjData(model) for _ in range(threads)]
    moving = np.arange(n)
    seconds = 0.0
    steps = round(CHUNK / model.opt.timestep)
    for _ in range(round(DURATION / CHUNK)):
        begin = perf_counter()
        path, _ = rollout.rollout(model, workers, states[moving], nstep=steps)
        seconds += perf_counter() - begin
        states[moving] = path[:, -1]
        last = path[:, -1]
        speed = np.linalg.norm(last[:, 8:11], axis=1) + SIDE * np.linalg.norm(last[:, 11:14], axis=1)
        moving = moving[speed > STILL]
        if not len(moving):
            break
    return faces(states[:, 4:8]), seconds, 1 - len(moving) / n


def main() -> None:
    """Print throws per second, their ratio, and the statistics of the faces."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--throws", type=int, default=100_000)
    parser.add_argument("--mujoco-throws", type=int, default=1000)
    arguments = parser.parse_args()
    n, fewer = arguments.throws, arguments.mujoco_throws
    run_polhode(100, 2)  # compiles
    one, _ = run_polhode(n, 1)
    two, seconds = run_polhode(n, 2)
    theirs, their_seconds, still = run_mujoco(fewer, 2)
    for name, found, count, time in (("Polhode", two, n, seconds), ("MuJoCo", theirs, fewer, their_seconds)):
        counts = np.bincount(found, minlength=6)
        test = chisquare(counts)
        print(f"{name:8} {count:7d} throws in {time:7.2f} s, {count / time:9.0f} per second; faces {counts.tolist()}, ")
        print(f"{'':8} chi-square {test.statistic:.2f}, p = {test.pvalue:.3f}")
    print(f"ratio    {n / seconds / (fewer / their_seconds):.1f}; {100 * still:.1f} % of MuJoCo's dice lie still")
    print(f"the same faces on one thread and on two: {bool((one == two).all())}")
    agree = (two[:fewer] == theirs).mean() if fewer <= n else float("nan")
    print(f"the same face in both programs: {100 * agree:.1f} % (17 % by chance)")


if __name__ == "__main__":
    main()
