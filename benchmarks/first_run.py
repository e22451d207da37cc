"""How long a first run takes, all included: a new force in a fresh process, an edited one, and very many forces.

Every figure is that of a process of its own, from before the first `ph.simulate` to its motion; `import polhode` is not
included, the modules that a run imports are.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

_FORCE = """
@ph.force
def wind(t, state, body, params):
    push = 0.3 * ph.sin(2.0 * t) - 0.1 * state.velocity[0]
    return (push, 0.0, 0.0), (0.0, 0.02 * push, 0.0)
"""
_SETUP = f"""
import sys, time
import numpy as np
import polhode as ph

body, start = ph.Body(2.0, (1.0, 1.7, 2.3)), ph.State(velocity=(1, 0, 2), angular_velocity_body=(0.3, 2.0, 0.1))
{_FORCE}
began = time.perf_counter()
"""
_ENSEMBLE = """members = ph.State(velocity=np.ones((64, 3)), angular_velocity_body=(0.3, 2.0, 0.1))
ph.ensemble(body, members, [wind], duration=2.0)
"""
_EDITED = f"""ph.simulate(body, start, [wind], duration=2.0)
{_FORCE.replace("0.3", "0.4").replace("0.02", "0.05")}
began = time.perf_counter()
ph.simulate(body, start, [wind], duration=2.0)
"""
_THRUSTERS = """engines = [ph.forces.thruster((0.1 * i, 0.0, -0.4), (0.1, 0.0, 1.0), 0.1) for i in range(40)]
ph.simulate(body, start, engines, duration=2.0)
"""
_SPRINGS = """springs = [ph.forces.spring(1.0, (i, 0.0, 2.0), (0.01 * i, 0.0, 0.2)) for i in range(60)]
ph.simulate(body, start, springs, duration=2.0)
"""
_ROCKET = """burn = ph.mass_course(
    (0.0, 2.0), (2.0, 1.0), inertia=((1.0, 1.7, 2.3), (0.5, 0.85, 1.15)), exhaust_velocity=(0, 0, -500.0),
)
ph.simulate(body, start, [ph.forces.gravity(), wind], mass_course=burn, duration=2.0)
"""
_WHEELS = """wheels = [ph.rotor(axis, 0.01, torque=0.01) for axis in np.eye(3)]
ph.simulate(body, start, [wind], rotors=wheels, duration=2.0)
"""
_FLIGHT = """place = ph.State.from_geodetic(0.6, height=9000.0)
falling = [ph.forces.earth_gravity(), ph.forces.drag(0.01, 0.4, earth="WGS84")]
ph.simulate(body, place, falling, duration=2.0)
"""
_FLOOR = """box, high = ph.shapes.box((0.1, 0.2, 0.3), mass=1.0), ph.State(position=(0, 0, 1.0))
ph.simulate(box, high, [ph.forces.gravity()], contacts=[ph.floor(0.5, 0.3)], duration=2.0)
"""
_TOUCHING = """boxes = [ph.shapes.box((0.1, 0.2, 0.3), mass=1.0)] * 2
high = [ph.State(position=(0, 0, 1.0)), ph.State(position=(0, 0, 2.0))]
touching = [ph.floor(0.5, 0.3), ph.between_bodies(0.5, 0.3)]
ph.simulate(boxes, high, [ph.forces.gravity()], contacts=touching, duration=2.0)
"""
CASES = {
    "auto": "ph.simulate(body, start, [wind], duration=2.0)",
    "dop853": "ph.simulate(body, start, [wind], duration=2.0, method='dop853')",
    "rk4": "ph.simulate(body, start, [wind], duration=2.0, method='rk4', step=0.01)",
    "ensemble": _ENSEMBLE,
    "an edited force": _EDITED,
    "40 thrusters": _THRUSTERS,
    "60 springs": _SPRINGS,
    "flight over the Earth": _FLIGHT,
    "three wheels": _WHEELS,
    "a rocket": _ROCKET,
    "a floor": _FLOOR,
    "two bodies that touch": _TOUCHING,
}
WANTED_S = {
    "auto": (0.6, 0.25),
    "dop853": (0.6, 0.25),
    "rk4": (0.3, 0.25),
    "ensemble": (0.7, 0.25),
    "an edited force": (0.3, None),
    "40 thrusters": (1.5, None),
    "60 springs": (1.5, None),
    "flight over the Earth": (2.0, None),
    "three wheels": (2.0, None),
    "a rocket": (2.0, None),
    "a floor": (6.0, None),
    "two bodies that touch": (9.0, None),
}
"""What a quiet machine of two cores should need at most: without and with a cached object."""


def measure_first_runs(repeats: int, report: Callable[[str], Any]) -> dict[str, dict[str, float | None]]:
    """Seconds of each case without and with a cached object, the best of the repeats."""
    found: dict[str, dict[str, float | None]] = {}
    for name, code in CASES.items():
        report(f"first run: {name}")
        new, cached = [], []
        for _ in range(repeats):
            with tempfile.TemporaryDirectory() as folder:
                new.append(_seconds(code, folder))
                cached.append(_seconds(code, folder))
        wanted_new, wanted_cached = WANTED_S[name]
        found[name] = {"new": min(new), "cached": min(cached), "wanted_new": wanted_new, "wanted_cached": wanted_cached}
    return found


def _seconds(code: str, cache: str) -> float:
    """The time of a case in a fresh process."""
    script = f"{_SETUP}{code}\nprint(time.perf_counter() - began)"
    variables = {**os.environ, "POLHODE_CACHE": cache}
    done = subprocess.run([sys.executable, "-c", script], env=variables, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])
