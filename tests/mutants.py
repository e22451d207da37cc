"""Plants deliberate errors, one at a time, in a copy of the sources: each must turn some test red.  `make mutants`

An error is an exact text in a file and what replaces it.  The tests that follow it are run on the copy until one fails.
A planted error that no test notices, or whose text is no longer in the file, fails the whole.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from time import perf_counter

ROOT = Path(__file__).parents[1]
WORKERS = min(2, os.cpu_count() or 1)
LONGEST_S = 240


@dataclass(frozen=True)
class Planted:
    """One deliberate error."""

    what: str
    file: str
    text: str
    instead: str
    tests: tuple[str, ...]


ROTATIONS = "equations/test_rotations_against_scipy.py"
INERTIA = "equations/test_inertia_against_particles.py"
FORCES = "equations/test_forces_and_pairs.py"
CLOUDS = "equations/test_gravity_and_springs_against_clouds.py"
TABLES = "equations/test_tables.py"
TIDYING = "equations/test_tidying.py"
CONTROL = "equations/test_error_control_against_scipy.py"
AUDIT, EVENTS = "test_audit.py", "test_events.py"
BITS, INPUT, BAD_RUNS = "test_bits.py", "test_bad_input.py", "test_bad_scenarios.py"
FILE, MOTION = "test_scenario_file.py", "test_motion.py"

PLANTED = [
    # Vectors, rotations, inertia ------------------------------------------------------------------------------------
    Planted(
        "cross product: flipped sign",
        "equations/vectors.py",
        "a[2] * b[0] - a[0] * b[2]",
        "a[0] * b[2] - a[2] * b[0]",
        (INERTIA, AUDIT),
    ),
    Planted(
        "quaternion rate: dropped term", "equations/quaternions.py", "w * a + y * c - z * b", "w * a + y * c", (AUDIT,)
    ),
    Planted(
        "world to body: transposed rotation",
        "equations/quaternions.py",
        "return to_world(conjugate(q), v)",
        "return to_world(q, v)",
        (AUDIT,),
    ),
    Planted(
        "rotation: |q|^2 left out",
        "equations/quaternions.py",
        "    s = 2 / squared_norm(q)\n    ux, uy, uz",
        "    s = 2 + 0 * squared_norm(q)\n    ux, uy, uz",
        (ROTATIONS,),
    ),
    Planted(
        "matrix to quaternion: swapped branch",
        "equations/quaternions.py",
        "ij = if_less(xx, yy, 1 + yy - xx - zz, 1 + xx - yy - zz)",
        "ij = if_less(yy, xx, 1 + yy - xx - zz, 1 + xx - yy - zz)",
        (ROTATIONS,),
    ),
    Planted(
        "Euler's equations: dropped w x (I w)",
        "equations/inertia.py",
        "minus(torque, cross(w, times(body.moments, w)))",
        "torque",
        (INERTIA, AUDIT),
    ),
    Planted(
        "parallel axes: wrong sign of the shift",
        "equations/inertia.py",
        "tensor[1] - mass * (x * y)",
        "tensor[1] + mass * (x * y)",
        (INERTIA, AUDIT),
    ),
    Planted(
        "sine: a digit of pi lost",
        "equations/number.py",
        'float.fromhex("0x1.184698p-44")',
        'float.fromhex("0x1.184690p-44")',
        ("equations/test_sin_cos.py",),
    ),
    # Laws of motion -------------------------------------------------------------------------------------------------
    Planted(
        "momentum: zeroed velocity",
        "equations/motion.py",
        "return (scaled(body.inverse_mass, linear_momentum), quaternions.rate(q, w), force, torque)",
        "return (scaled(0, linear_momentum), quaternions.rate(q, w), force, torque)",
        (AUDIT,),
    ),
    Planted(
        "momentum: torque forgotten",
        "equations/motion.py",
        "quaternions.rate(q, w), force, torque)",
        "quaternions.rate(q, w), force, scaled(0, torque))",
        (AUDIT,),
    ),
    Planted(
        "matrix rate: flipped sign", "equations/matrices.py", "y * m[6] - z * m[3]", "y * m[6] + z * m[3]", (AUDIT,)
    ),
    Planted(
        "quaternion acceleration: dropped term",
        "equations/motion.py",
        "s = squared_norm(q_rate) / squared_norm(q)",
        "s = 0 * squared_norm(q)",
        ("test_axes.py::test_all_formulations_tell_the_same_motion",),
    ),
    Planted(
        "Euler angles: flipped sign",
        "equations/motion.py",
        "w[2] - cos(theta) * phi_rate",
        "w[2] + cos(theta) * phi_rate",
        (AUDIT,),
    ),
    Planted(
        "spin from q': factor two",
        "equations/motion.py",
        "return scaled(2 / squared_norm(q), (p[1], p[2], p[3]))",
        "return scaled(1 / squared_norm(q), (p[1], p[2], p[3]))",
        (ROTATIONS,),
    ),
    Planted(
        "q not rescaled after a step",
        "equations/formulations.py",
        "    s = 1 / n\n    return (y[0], (s * y[1][0]",
        "    s = 1 + 0 * n\n    return (y[0], (s * y[1][0]",
        (TIDYING, AUDIT),
    ),
    Planted(
        "principal axes taken for the body's",
        "equations/formulations.py",
        "        to_world(body.axes, w),\n",
        "        w,\n",
        (MOTION,),
    ),
    Planted(
        "rotational energy: lost half",
        "equations/invariants.py",
        "return dot(state.angular_velocity, state.angular_momentum) / 2",
        "return dot(state.angular_velocity, state.angular_momentum)",
        (AUDIT,),
    ),
    # Forces ---------------------------------------------------------------------------------------------------------
    Planted(
        "force at a point: lost torque arm",
        "equations/forces.py",
        "return force, cross(to_world(state.orientation, com_to_point_body), force)",
        "return force, nothing(t)",
        (FORCES, AUDIT),
    ),
    Planted(
        "point gravity: gradient torque a third",
        "equations/forces.py",
        "scaled(3 * gm / (rr * r)",
        "scaled(gm / (rr * r)",
        (CLOUDS,),
    ),
    Planted(
        "drag: wind from the wrong side",
        "equations/forces.py",
        "scaled(-c, minus(state.velocity, wind))",
        "scaled(-c, plus(state.velocity, wind))",
        (FORCES,),
    ),
    Planted("spring: damper that drives", "equations/forces.py", "+ damping * dot", "- damping * dot", (FORCES,)),
    Planted(
        "thruster: acts at its stop",
        "equations/number.py",
        "if_less(t, stop, 1 + zero, zero)",
        "if_less(stop, t, zero, 1 + zero)",
        (FORCES,),
    ),
    Planted(
        "pair: torque on b reversed",
        "equations/pairs.py",
        "cross(arm_a, force), cross(force, arm_b)",
        "cross(arm_a, force), cross(arm_b, force)",
        (FORCES, AUDIT),
    ),
    Planted(
        "work: sign of the torque's share",
        "equations/loads.py",
        "dot(force, state.velocity) + dot(torque, state.angular_velocity)",
        "dot(force, state.velocity) - dot(torque, state.angular_velocity)",
        (AUDIT,),
    ),
    Planted(
        "pivot: moment of the force reversed",
        "equations/loads.py",
        "plus(torque, cross(pivot_to_com, force))",
        "minus(torque, cross(pivot_to_com, force))",
        (AUDIT,),
    ),
    # Steps ----------------------------------------------------------------------------------------------------------
    Planted(
        "RK4: swapped weights",
        "equations/tables.py",
        "(_SIXTH, _THIRD, _THIRD, _SIXTH)",
        "(_THIRD, _SIXTH, _SIXTH, _THIRD)",
        (TABLES, AUDIT),
    ),
    Planted(
        "RK4: wrong stage time",
        "equations/tables.py",
        "    (_NONE, _HALF, _HALF, _ONE),\n    ((), (_HALF,), (_NONE, _HALF), (_NONE, _NONE, _ONE)),",
        "    (_NONE, _HALF, _ONE, _ONE),\n    ((), (_HALF,), (_NONE, _HALF), (_NONE, _NONE, _ONE)),",
        (TABLES,),
    ),
    Planted(
        "leap-frog: kicks only once",
        "equations/tables.py",
        "    (_HALF, _NONE, _NONE, _HALF),",
        "    (_ONE, _NONE, _NONE, _NONE),",
        (TABLES,),
    ),
    Planted("DOP853: a digit", "equations/dop853.py", "0.6433927460157636", "0.6433927460157646", (TABLES,)),
    Planted(
        "steps: momenta with the coordinates' weights",
        "equations/steps.py",
        "y = y[:2] + along(y[2:], h * b[0], k[0][2:])",
        "y = y[:2] + along(y[2:], h * a[0], k[0][2:])",
        (TABLES,),
    ),
    Planted(
        "error control: an absolute scale",
        "equations/steps.py",
        "allowed = atol + rtol * size",
        "allowed = atol + rtol * (size + 1e-3)",
        (CONTROL,),
    ),
    Planted(
        "spring: a length too short to count",
        "equations/forces.py",
        "safe = if_less(0 * dd, dd, dd, 1 + 0 * dd)",
        "safe = if_less(1e-20 + 0 * dd, dd, dd, 1 + 0 * dd)",
        ("test_scales.py",),
    ),
    # Engine ---------------------------------------------------------------------------------------------------------
    Planted(
        "lanes share one body's parameters",
        "engines/kernels.py",
        "read(unit, lane, params)))\n",
        "read(unit, 0, params)))\n",
        (BITS,),
    ),
    Planted(
        "threads: the last unit forgotten",
        "engines/run.py",
        "np.linspace(0, units, self.threads + 1)",
        "np.linspace(0, max(1, units - 1), self.threads + 1)",
        (BITS,),
    ),
    Planted(
        "time stands still for the forces",
        "engines/kernels.py",
        "                    sweep(unit, pairs, t_start + now * h, h)\n",
        "                    sweep(unit, pairs, t_start, h)\n",
        (MOTION,),
    ),
    Planted(
        "system: action without reaction",
        "engines/systems.py",
        "write(unit, at_b, wrench, (minus(force_b, push), plus(torque_b, turn_b)))",
        "write(unit, at_b, wrench, (force_b, plus(torque_b, turn_b)))",
        (AUDIT,),
    ),
    Planted(
        "impulse skipped",
        "engines/run.py",
        "float(np.ravel(f.instant)[0]) == t]",
        "float(np.ravel(f.instant)[0]) == t and t > self.scenario.start_time]",
        (EVENTS,),
    ),
    Planted(
        "steps reach across events", "engines/grid.py", "if start < t < end)", "if start < t < end - t)", (EVENTS,)
    ),
    Planted(
        "thruster: burns through its stop",
        "engines/run.py",
        "(middle < np.asarray(stop))",
        "(middle < 2 * np.asarray(stop))",
        (EVENTS,),
    ),
    # Records and results ----------------------------------------------------------------------------------------------
    Planted(
        "pivot: put on the wrong side",
        "scenario.py",
        "return plus(x, com_to_pivot), q_principal",
        "return plus(x, scaled(-1, com_to_pivot)), q_principal",
        ("test_pivot.py::test_the_pivot_stays_where_it_is",),
    ),
    Planted(
        "inertia: unphysical moments pass",
        "body.py",
        "largest > (smallest + middle) * (1 + ROUNDING)",
        "largest > 2 * (smallest + middle)",
        (INPUT,),
    ),
    Planted(
        "inertia: an absolute tolerance",
        "body.py",
        "asymmetry > ROUNDING * np.abs(tensor).max(axis=(-2, -1))",
        "asymmetry > ROUNDING",
        ("test_scales.py::test_a_bodys_checks_have_no_scale",),
    ),
    Planted("audit: blind to change", "audit.py", "change = values - values[0]", "change = values - values", (AUDIT,)),
    Planted(
        "store: damage goes unnoticed",
        "store.py",
        '!= dataset.attrs.get("polhode_checksum")',
        "is None",
        (BAD_RUNS,),
    ),
    Planted(
        "file: a setting forgotten",
        "scenario_file.py",
        '    "renormalize",\n',
        "",
        (FILE,),
    ),
]


def run_tests(source: Path, cache: Path, tests: tuple[str, ...], *options: str) -> tuple[int, str]:
    """Pytest on these tests, with the package taken from `source`: its exit status and what it said."""
    environment = os.environ | {
        "PYTHONPATH": str(source),
        "PYTHONDONTWRITEBYTECODE": "1",  # a planted error may leave a file's size and second of writing as they were
        "NUMBA_CACHE_DIR": str(cache),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-rfE", "--tb=no", "--no-header", "-p", "no:cacheprovider"]
    command += ["-o", "addopts=", *options, *(f"tests/{test}" for test in tests)]
    try:
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=LONGEST_S)
    except subprocess.TimeoutExpired:
        return 1, "FAILED (took too long)"
    return done.returncode, done.stdout + done.stderr


def copy_of_sources(place: Path) -> Path:
    """A copy of src without what was compiled from it."""
    shutil.copytree(ROOT / "src", place, ignore=shutil.ignore_patterns("__pycache__"))
    return place


def judge(planted: Planted, source: Path, cache: Path) -> tuple[str, bool, float]:
    """What became of a planted error: which test caught it, or why none did; whether it was caught; seconds."""
    path, began = source / "polhode" / planted.file, perf_counter()
    sound = path.read_text(encoding="utf-8")
    if sound.count(planted.text) != 1:
        return f"TEXT FOUND {sound.count(planted.text)} TIMES: bring this error up to date", False, 0.0
    spoiled = sound.replace(planted.text, planted.instead)
    compile(spoiled, planted.file, "exec")
    try:
        path.write_text(spoiled, encoding="utf-8")
        status, said = run_tests(source, cache, planted.tests, "-x")
    finally:
        path.write_text(sound, encoding="utf-8")
    red = re.search(r"^(?:FAILED|ERROR) (?:tests/)?(\S+)", said, re.MULTILINE)
    caught = status in (1, 2) and red is not None
    return red[1] if caught and red else f"SURVIVED {', '.join(planted.tests)}", caught, perf_counter() - began


def main() -> int:
    chosen = [p for p in PLANTED if not sys.argv[1:] or any(word in f"{p.what} {p.file}" for word in sys.argv[1:])]
    began = perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        copies: SimpleQueue[Path] = SimpleQueue()
        for i in range(WORKERS):
            copies.put(copy_of_sources(Path(folder) / f"src{i}"))

        def with_a_copy(work):  # type: ignore[no-untyped-def]
            source = copies.get()
            try:
                return work(source, Path(folder) / f"cache-{source.name}")
            finally:
                copies.put(source)

        with ThreadPoolExecutor(WORKERS) as pool:
            needed = tuple(sorted({test for planted in chosen for test in planted.tests}))
            shares = [needed[i::WORKERS] for i in range(WORKERS) if needed[i::WORKERS]]
            sound = pool.map(lambda share: with_a_copy(lambda source, cache: run_tests(source, cache, share)), shares)
            for status, said in sound:
                if status != 0:
                    print(f"The tests fail already with nothing planted:\n{said}")
                    return 2
            print(f"nothing planted: {len(needed)} test files green, {perf_counter() - began:.0f} s\n")
            print(f"{'planted error':46} {'file':28} {'caught by':90} {'s':>5}")
            all_caught = True
            results = pool.map(lambda p: with_a_copy(lambda source, cache: judge(p, source, cache)), chosen)
            for planted, (by, caught, seconds) in zip(chosen, results, strict=True):
                print(f"{planted.what:46} {planted.file:28} {by:90} {seconds:5.1f}", flush=True)
                all_caught = all_caught and caught
    verdict = "each turned a test red" if all_caught else "NOT ALL were noticed"
    print(f"\n{len(chosen)} errors planted: {verdict}; {perf_counter() - began:.0f} s in all")
    return 0 if all_caught else 1


if __name__ == "__main__":
    sys.exit(main())
