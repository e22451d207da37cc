"""Measured tosses of a cube beside Polhode and MuJoCo: `python -m benchmarks.cube_tosses`.

Both programs start from the same states, in the free flight fitted just before the first contact, with the same cube,
and are fitted alike: one restitution and one friction for all tosses here; friction, time constant and damping ratio in
MuJoCo.  The fit takes the point of a grid at which the worst of the six medians, each relative to the best that any
point reaches, is smallest.  (The geometric mean of the medians chooses less friction, good at 100 ms but far off at
rest.)  "Other half": fitted on every second toss, judged on the others.  The cube is described twice: as published, and
as these same tosses show it (see `cube_identification`), which the other half therefore does not test.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph
from benchmarks.cube_flights import DATA, GRAVITY, RATE, Cube, Toss, read_tosses

PUBLISHED = Cube("as published")
MEASURED = Cube("as measured", 0.0524 / 0.978, (0.0, 0.0, 0.0057), 9.7e-4, 0.005)
"""From `python -m benchmarks.cube_identification`."""
HORIZONS = (0.05, 0.1)
"""Seconds after the first contact; the last sample, at rest, is the third horizon."""
SUBSTEPS = 14
"""MuJoCo's steps between two samples: 0.48 ms."""
RESTITUTIONS = (0.0, 0.1, 0.15, 0.2, 0.225, 0.25, 0.275, 0.3)
FRICTIONS = (0.16, 0.165, 0.17, 0.175, 0.1775, 0.18, 0.1825, 0.185, 0.19)
TIME_CONSTANTS = (0.002, 0.004, 0.008)
DAMPING_RATIOS = (0.5, 0.6, 0.8, 1.0)


def start_states(tosses: list[Toss]) -> ph.State:
    """Center of mass, attitude and velocities of all tosses two samples before contact, as an ensemble."""
    flights = [toss.flight for toss in tosses]
    orientation = Rotation.concatenate([flight.orientation for flight in flights])
    return ph.State(
        position=[flight.position for flight in flights],
        velocity=[flight.velocity for flight in flights],
        orientation=orientation,
        angular_velocity=[flight.angular_velocity for flight in flights],
    )


def sample_count(tosses: list[Toss]) -> int:
    """Of the longest toss, from the start on."""
    return max(len(toss.position) - toss.first for toss in tosses)


def cube_body(cube: Cube) -> ph.Body:
    """The cube, its edges rounded by a sphere at each corner: contacts see their convex hull."""
    if cube.rounding:
        inner = cube.half_width - cube.rounding
        corners = [
            ph.shapes.sphere(cube.rounding, mass=1.0).move(inner * np.array(c)) for c in product((-1, 1), repeat=3)
        ]
        shape = corners[0].join(*corners[1:])
    else:
        shape = ph.shapes.box((2 * cube.half_width,) * 3, mass=cube.mass)
    return ph.Body(cube.mass, (cube.moment,) * 3, cube.center_of_mass, parts=shape.parts)


def run_polhode(tosses: list[Toss], cube: Cube, restitution: float, friction: float) -> tuple[Any, Any]:
    """Positions of the geometric center (tosses, samples, 3), and quaternions w, x, y, z."""
    times = np.arange(sample_count(tosses)) / RATE
    motion = ph.ensemble(
        cube_body(cube),
        start_states(tosses),
        [ph.forces.gravity(GRAVITY)],
        duration=times[-1],
        output_times=times,
        contacts=[ph.floor(restitution, friction)],
    )
    position, quaternion = np.swapaxes(motion.position, 0, 1), np.swapaxes(motion.quaternion_wxyz, 0, 1)
    return geometric_center(position, quaternion, cube), quaternion


def geometric_center(position: Any, quaternion: Any, cube: Cube) -> Any:
    """Where the tracked point is, from the center of mass."""
    orientation = Rotation.from_quat(quaternion.reshape(-1, 4), scalar_first=True)
    return position - orientation.apply(cube.center_of_mass).reshape(position.shape)


def mujoco_model(cube: Cube, friction: float, time_constant: float, damping_ratio: float, substeps: int) -> Any:
    """The same scene for MuJoCo: a box, or a sphere at each corner of a rounded one."""
    import mujoco

    inner = cube.half_width - cube.rounding
    box = f'<geom type="box" size="{cube.half_width} {cube.half_width} {cube.half_width}"/>'
    spheres = "".join(
        f'<geom type="sphere" size="{cube.rounding}" pos="{a * inner} {b * inner} {c * inner}"/>'
        for a, b, c in product((-1, 1), repeat=3)
    )
    x, y, z = cube.center_of_mass
    return mujoco.MjModel.from_xml_string(f"""<mujoco>
      <option timestep="{1 / RATE / substeps}" gravity="0 0 {-GRAVITY}" cone="elliptic"/>
      <default><geom friction="{friction} 0 0" solref="{time_constant} {damping_ratio}" condim="3"/></default>
      <worldbody><geom type="plane" size="0 0 1"/><body><freejoint/>
        <inertial pos="{x} {y} {z}" mass="{cube.mass}" diaginertia="{cube.moment} {cube.moment} {cube.moment}"/>
        {spheres if cube.rounding else box}</body></worldbody></mujoco>""")


def run_mujoco(
    tosses: list[Toss],
    cube: Cube,
    friction: float,
    time_constant: float,
    damping_ratio: float,
    substeps: int = SUBSTEPS,
) -> tuple[Any, Any]:
    """As `run_polhode`, by MuJoCo."""
    import mujoco
    from mujoco import rollout

    model = mujoco_model(cube, friction, time_constant, damping_ratio, substeps)
    start = start_states(tosses)
    arm = Rotation.from_quat(start.quaternion_wxyz, scalar_first=True).apply(cube.center_of_mass)
    spin = np.array([toss.flight.angular_velocity for toss in tosses])
    states = np.concatenate(
        [
            np.zeros((len(tosses), 1)),
            start.position - arm,
            start.quaternion_wxyz,
            start.velocity - np.cross(spin, arm),
            start.angular_velocity_body,
        ],
        axis=1,
    )
    workers = [mujoco.MjData(model) for _ in range(2)]
    path, _ = rollout.rollout(model, workers, states, nstep=(sample_count(tosses) - 1) * substeps)
    path = np.concatenate([states[:, None], path[:, substeps - 1 :: substeps]], axis=1)
    return path[..., 1:4], path[..., 4:8]


def errors(tosses: list[Toss], position: Any, quaternion: Any) -> Any:
    """Errors (tosses, 6): mm and degrees at each horizon.  Attitude of the same cube: no symmetry is used."""
    rows = []
    for i, toss in enumerate(tosses):
        last = len(toss.position) - 1 - toss.first
        rows.append([])
        for k in [min(last, round((toss.contact + horizon) * RATE)) for horizon in HORIZONS] + [last]:
            truth = toss.orientation[toss.first + k]
            miss = (Rotation.from_quat(quaternion[i, k], scalar_first=True) * truth.inv()).magnitude()
            away = np.linalg.norm(position[i, k] - toss.position[toss.first + k])
            rows[-1] += [1e3 * away, np.degrees(miss)]
    return np.array(rows)


def all_errors(run: Callable[..., tuple[Any, Any]], tosses: list[Toss], cube: Cube, grid: Any) -> dict[Any, Any]:
    """The errors of all tosses at each point of a grid of parameters."""
    return {point: errors(tosses, *run(tosses, cube, *point)) for point in grid}


def best_point(found: dict[Any, Any], chosen: Any) -> Any:
    """The parameters whose worst median over the chosen tosses, relative to the best of any point, is smallest."""
    medians = {point: np.median(rows[chosen], axis=0) for point, rows in found.items()}
    best = np.min(list(medians.values()), axis=0)
    return min(medians, key=lambda point: (medians[point] / best).max())


def report(name: str, cube: Cube, labels: tuple[str, ...], found: dict[Any, Any]) -> str:
    """Two rows: fitted on all tosses, and fitted on each half and judged on the other."""
    everyone = np.arange(len(next(iter(found.values()))))
    halves = [everyone % 2 == 0, everyone % 2 == 1]
    best = best_point(found, everyone)
    crossed = np.concatenate([found[best_point(found, ~half)][half] for half in halves])
    text = ", ".join(f"{label} {value:g}" for label, value in zip(labels, best, strict=True))
    return f"{_row(cube.name, name, found[best])}  {text}\n{_row('', '  other half', crossed)}"


def _row(cube: str, name: str, found: Any) -> str:
    return f"{cube:<14}{name:<14}" + "".join(f"{value:8.2f}" for value in np.median(found, axis=0))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="another file of tosses in the same format")
    arguments = parser.parse_args()
    print("medians of the errors:        50 ms          100 ms          at rest")
    print("cube          program           mm     deg      mm     deg      mm     deg  parameters")
    for cube in (PUBLISHED, MEASURED):
        tosses = read_tosses(cube, arguments.data)
        grid = product(RESTITUTIONS, FRICTIONS)
        print(report("Polhode", cube, ("restitution", "friction"), all_errors(run_polhode, tosses, cube, grid)))
        grid = product(FRICTIONS, TIME_CONSTANTS, DAMPING_RATIOS)
        labels = ("friction", "time constant", "damping ratio")
        print(report("MuJoCo", cube, labels, all_errors(run_mujoco, tosses, cube, grid)))


if __name__ == "__main__":
    main()
