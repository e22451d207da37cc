"""Beside the contest: what one look at a closed form costs, DOP853 beside SciPy's, and what "auto" delivers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from benchmarks.contestant import ProblemData, problem_data
from benchmarks.peers import PEERS, ode_system, scipy_ode
from benchmarks.polhode_contestants import make_ensemble, prepared_run, simulate_call
from benchmarks.work_precision import best_seconds, error_of
from polhode.errors import PolhodeError
from polhode.massprops.body import Body
from polhode.reference.problems import PROBLEMS, ReferenceProblem
from polhode.scenario.forces import gravity, quadratic_drag
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.solve.simulate import simulate
from polhode.validation import Array

EVALUATION_TIME = 25.0
"""s: how far the closed form looks."""
MEMBERS = 4096
ULP = 2.0**-52
WANTED_TIMES_FASTER = {"prepared": 100, "simulate": 20, "member": 800}
"""Than SciPy's `solve_ivp`."""


# The closed form ------------------------------------------------------------------------------------------------------
def compare_closed_form(members: int = MEMBERS, repeats: int = 5) -> dict[str, Any]:
    """`motion.at(25)` of the exact motion against heyoka's propagation to t = 25: cost and error."""
    problem = PROBLEMS["hairer_vilmart_asymmetric"]
    scenario = problem.scenario(duration=EVALUATION_TIME, output_times=[EVALUATION_TIME], method="exact")
    motion = simulate(scenario, progress=False)
    many = prepared_run(make_ensemble(scenario, members, 0.1))
    truth = reference_attitude(problem.moments, problem.start.angular_velocity_body, problem.start.quaternion_wxyz)
    found: dict[str, Any] = {
        "what": f"asymmetric body of Hairer and Vilmart, t = {EVALUATION_TIME:g} s",
        "conditioning_rad": attitude_conditioning(problem, truth),
        "at_seconds": best_seconds(lambda: motion.at(EVALUATION_TIME), 200 * repeats),
        "at_error_rad": attitude_error(motion.at(EVALUATION_TIME).quaternion_wxyz, truth),
        "members": members,
        "member_seconds": best_seconds(many.go, 5 * repeats, many.reset) / members,
    }
    if next(p for p in PEERS if p.name == "heyoka").version is not None:
        found |= _time_heyoka(problem_data(problem.name, scenario), truth, repeats)
        found["part_of_heyoka"] = found["at_seconds"] / found["heyoka_seconds"]
        found["member_part_of_heyoka"] = found["member_seconds"] / found["heyoka_member_seconds"]
    return found


def _time_heyoka(task: ProblemData, truth: Array, repeats: int) -> dict[str, Any]:
    """heyoka at its own, tightest tolerance: one body, and batches of bodies with different spins."""
    import heyoka

    from benchmarks.peers.heyoka_taylor import BATCH_LANES, taylor_system

    begin, laws = np.array(ode_system.initial_state(task)), taylor_system(task)
    one = heyoka.taylor_adaptive(laws, begin)

    def reset() -> None:
        one.time, one.state[:] = 0.0, begin

    seconds = best_seconds(lambda: one.propagate_until(EVALUATION_TIME), 20 * repeats, reset)
    error = attitude_error(one.state[:4], truth)
    spins = 1 + 0.1 * np.random.default_rng(0).uniform(-1, 1, (16, 3, BATCH_LANES))
    starts = np.repeat(begin[:, None], BATCH_LANES, axis=1)[None].repeat(len(spins), axis=0)
    starts[:, 4:7] *= spins
    lanes = heyoka.taylor_adaptive_batch(laws, starts[0])

    def set_to(start: Array) -> None:
        lanes.set_time(0.0)
        lanes.state[:] = start

    each = [
        best_seconds(lambda: lanes.propagate_until(EVALUATION_TIME), 5 * repeats, partial(set_to, start))
        for start in starts
    ]
    return {
        "heyoka_seconds": seconds,
        "heyoka_error_rad": error,
        "heyoka_member_seconds": float(np.mean(each)) / BATCH_LANES,
    }


def reference_attitude(moments: Any, spin: Any, quaternion: Any) -> Array:
    """The attitude at T, to more digits than a double has, from the multiprecision reference (mpmath numbers)."""
    from polhode.reference import precise

    return np.array(precise.free_rotation(moments, spin, quaternion, EVALUATION_TIME, digits=40)[0], dtype=object)


def attitude_error(quaternion: Any, truth: Array) -> float:
    """Between an attitude and the true one, in rad; for small angles."""
    q = np.array([truth[0] * 0 + float(x) for x in quaternion], dtype=object)
    q = q / (q @ q) ** 0.5
    difference = min(((q - s * truth) @ (q - s * truth)) ** 0.5 for s in (1, -1))
    return 2 * float(difference)


def attitude_conditioning(problem: ReferenceProblem, truth: Array) -> float:
    """How far the answer moves when each moment, rate, and the time move by one unit in the last place, summed."""
    moments, spin = problem.moments, problem.start.angular_velocity_body
    q = problem.start.quaternion_wxyz
    total = 0.0
    for i in range(3):
        moved = [m * (1 + ULP * (i == j)) for j, m in enumerate(moments)]
        total += precise_angle_between(reference_attitude(moved, spin, q), truth)
        moved = [w * (1 + ULP * (i == j)) for j, w in enumerate(spin)]
        total += precise_angle_between(reference_attitude(moments, moved, q), truth)
    return total


def precise_angle_between(one: Array, other: Array) -> float:
    """Of two attitudes of many digits."""
    return 2 * float(min(((one - s * other) @ (one - s * other)) ** 0.5 for s in (1, -1)))


# DOP853 ---------------------------------------------------------------------------------------------------------------
def drag_scenario(rtol: float = 1e-9) -> Scenario:
    """A tumbling body that falls with drag, 10 s, by body rates, as SciPy is given it."""
    return Scenario(
        Body(10.0, (0.81, 0.68, 0.14)),
        State(velocity=(3.0, 0.0, 10.0), angular_velocity_body=(0.1, 5.0, 0.1)),
        [gravity(), quadratic_drag(0.1)],
        duration=10.0,
        method="dop853",
        formulation="body_rates",
        rtol=rtol,
        output_times=[10.0],
    )


def compare_dop853(members: int = MEMBERS, repeats: int = 5) -> dict[str, Any]:
    """SciPy's `solve_ivp` with a right-hand side in Python against the same method here, at the same rtol."""
    scenario = drag_scenario()
    task = problem_data("falling", scenario)
    begin, rtol = np.array(ode_system.initial_state(task)), scenario.rtol
    rates: dict[str, Callable[..., Any]] = {
        "numbers": scipy_ode.python_right_hand_side(task),
        "arrays": numpy_right_hand_side(task),
    }
    solved = {
        kind: partial(solve_ivp, rate, (0.0, 10.0), begin, "DOP853", rtol=rtol, atol=rtol)
        for kind, rate in rates.items()
    }
    one, whole_call = prepared_run(scenario), simulate_call(scenario)
    many = prepared_run(make_ensemble(scenario, members, 0.1))
    whole_call()  # compiles
    scipy, ours = dict.fromkeys(solved, np.inf), {"prepared": np.inf, "simulate": np.inf, "member": np.inf}
    for _ in range(repeats):  # turn by turn
        for kind, solve in solved.items():
            scipy[kind] = min(scipy[kind], best_seconds(solve, 2))
        ours["prepared"] = min(ours["prepared"], best_seconds(one.go, 20, one.reset))
        ours["simulate"] = min(ours["simulate"], best_seconds(whole_call, 10))
        ours["member"] = min(ours["member"], best_seconds(many.go, 2, many.reset) / members)
    truth = _normalize(solve_ivp(rates["numbers"], (0.0, 10.0), begin, "DOP853", rtol=1e-13, atol=1e-13).y[:4, -1])
    return {
        "what": f"tumbling body, gravity and quadratic drag, 10 s, rtol {rtol:g}, body rates on both sides",
        "members": members,
        "scipy_seconds": scipy,
        "seconds": ours,
        "times_faster": {name: min(scipy.values()) / s for name, s in ours.items()},
        "wanted_times_faster": WANTED_TIMES_FASTER,
        "errors_rad": {
            "scipy": precise_angle_between(_normalize(solved["numbers"]().y[:4, -1]), truth),
            "here": precise_angle_between(_normalize(one.motion().quaternion_wxyz[-1]), truth),
        },
    }


def _normalize(q: Any) -> Array:
    return np.asarray(q / np.linalg.norm(q))


def numpy_right_hand_side(task: ProblemData) -> Callable[..., Any]:
    """The same right-hand side as one writes it with NumPy."""
    moments, field = np.array(task.moments), np.array(task.gravity)

    def rate(t: float, y: Any) -> Any:
        q, w, v = y[:4], y[4:7], y[10:13]
        turning = np.array([-q[1:] @ w, *(q[0] * w + np.cross(q[1:], w))]) / 2
        spinning = -np.cross(w, moments * w) / moments
        pushed = field - task.drag / task.mass * np.linalg.norm(v) * v
        return np.concatenate((turning, spinning, v, pushed))

    return rate


# Auto -----------------------------------------------------------------------------------------------------------------
def measure_auto(rtol: float = 1e-10, repeats: int = 5) -> list[dict[str, Any]]:
    """What `method="auto"` delivers on every problem when asked for rtol, through `ph.simulate`."""
    found: list[dict[str, Any]] = []
    for problem in PROBLEMS.values():
        scenario = problem.scenario(method="auto", rtol=rtol, output_times=[problem.duration])
        moves = problem_data(problem.name, scenario).moves
        try:
            motion = simulate(scenario, progress=False)
        except PolhodeError as failure:
            found.append({"problem": problem.name, "failed": str(failure)})
            continue
        error = error_of(problem, motion.quaternion_wxyz[-1], motion.position[-1] if moves else None)[0]
        seconds = best_seconds(simulate_call(scenario), repeats)
        found.append({"problem": problem.name, "rtol": rtol, "error": error, "seconds": seconds})
    return found
