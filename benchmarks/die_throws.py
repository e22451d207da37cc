"""100,000 throws of a die, beside MuJoCo: `python -m benchmarks.die_throws`.

A die of 16 mm and 4 g falls on a floor of restitution 0.5 and friction 0.3, with a random attitude and spin.  MuJoCo's
contact is a damped spring whose damping ratio gives the same restitution; it lasts ten steps.  In 1 ms a die of 2 m/s
sinks by 0.6 mm, 4 % of its side, in 0.25 ms by 1 %: both are run.  MuJoCo uses two threads, stops each die once it lies
still, and throws fewer dice, extrapolated by count.
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
CONTACT_TIMES, STEPS_PER_CONTACT = (1e-3, 2.5e-4, 6.25e-5), 10
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
        rtol=1e-6,
        contacts=[ph.floor(RESTITUTION, FRICTION)],
        threads=threads,
    )
    seconds = perf_counter() - begin
    return faces(motion.final.quaternion_wxyz), seconds


def mujoco_model(contact_time: float) -> Any:
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


def run_mujoco(n: int, threads: int, contact_time: float) -> tuple[Any, float, float]:
    """Faces, seconds, and the part of the dice that lie still at the end."""
    import mujoco
    from mujoco import rollout

    model = mujoco_model(contact_time)
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
    print(describe("Polhode", two, seconds))
    for contact_time in CONTACT_TIMES:
        theirs, their_seconds, still = run_mujoco(fewer, 2, contact_time)
        print(describe(f"MuJoCo, contacts of {1e3 * contact_time:g} ms", theirs, their_seconds))
        print(f"    ratio {n / seconds / (fewer / their_seconds):.1f}; {100 * still:.1f} % of its dice lie still")
    print(f"the same faces on one thread and on two: {bool((one == two).all())}")


def describe(name: str, found: Any, seconds: float) -> str:
    """Throws per second, and whether the faces come equally often."""
    counts = np.bincount(found, minlength=6)
    test = chisquare(counts)
    return (
        f"{name}: {len(found)} throws in {seconds:.2f} s, {len(found) / seconds:.0f} per second; "
        f"faces {counts.tolist()}, chi-square {test.statistic:.2f}, p = {test.pvalue:.3f}"
    )


if __name__ == "__main__":
    main()
