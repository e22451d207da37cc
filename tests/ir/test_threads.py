"""Many threads that simulate what was never compiled, at the same time, get the numbers of one after the other."""

import json
import os
import subprocess
import sys
import threading

import polhode as ph
from polhode.ir import graph
from polhode.ir.targets import native

PROBE = """
import json, sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
import polhode as ph

METHODS = ("euler", "rk4", "dop853", "splitting4")
FORCES = {
    "none": lambda: [],
    "weight": lambda: [ph.forces.gravity((0.0, 0.3, -9.8))],
    "own": lambda: [own_force()],
}

def own_force():
    @ph.force
    def push(t, state, body, params):
        kick = 1.0 if t < 0.2 else 0.5
        return (kick * state.velocity[0], 0.1 * t, 0.0), (0.0, 0.2, 0.1 * t)

    return push

cases = [(method, name) for method in METHODS for name in FORCES] * 2

def final(case, wait=lambda: None):
    method, name = case
    body = ph.Body(mass=1.0, inertia=(1.0, 2.0, 2.5))
    wait()
    state = ph.State(velocity=(1.0, 0.0, 0.0), angular_velocity_body=(0.1, 2.0, 0.3))
    steps = {"output_step": 0.05} if method == "dop853" else {"step": 0.05}
    motion = ph.simulate(body, state, FORCES[name](), duration=0.5, method=method, **steps)
    return [*map(float, motion.final.position), *map(float, motion.final.quaternion_wxyz)]

if sys.argv[1] == "threads":
    sys.setswitchinterval(1e-5)
    barrier = Barrier(len(cases))
    with ThreadPoolExecutor(len(cases)) as pool:
        answers = list(pool.map(lambda case: final(case, barrier.wait), cases))
else:
    answers = [final(case) for case in cases]
print(json.dumps(answers))
"""


def run_probe(how, folder):
    folder.mkdir()
    environment = {**os.environ, "POLHODE_CACHE": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", PROBE, how], capture_output=True, text=True, env=environment, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def test_threads_that_compile_at_once_get_the_numbers_of_one(tmp_path):
    assert run_probe("threads", tmp_path / "threads") == run_probe("serial", tmp_path / "serial")


def simulate_weight():
    body = ph.Body(mass=1.0, inertia=(1.0, 1.0, 1.0))
    return ph.simulate(body, forces=[ph.forces.gravity((1.0, 0.0, 0.0))], duration=1.0, step=0.1, method="euler")


def run_aside(task):
    """The result of a task in another thread, which must not wait for this one."""
    found = []
    thread = threading.Thread(target=lambda: found.append(task()), daemon=True)
    thread.start()
    thread.join(timeout=60)
    assert found, "it waits for a compilation of another thread"
    return found[0]


def test_what_is_known_does_not_wait_for_a_compilation():
    known = simulate_weight()
    with native.COMPILING:
        again = run_aside(simulate_weight)
    assert again.final.position[0] == known.final.position[0]


def test_a_thread_does_not_see_what_another_traces():
    with graph.tracing() as mine:
        assert graph.is_tracing()
        assert graph.current_graph() is mine
        assert run_aside(lambda: (graph.is_tracing(),)) == (False,)
