"""What the result digest is taken of: named entries, each a function that computes arrays through the public interface.

An entry's name is a path, `group/what/how`.  Nothing here knows a module's name below `polhode`, and what users read
(labels, names of audited quantities, sentences) is left out, so that words may change while numbers may not.

`engine="python"` runs the equations as they are written: the same bits as compiled code, without its compilation.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import meshio
import numpy as np
import trimesh
from scipy.spatial.transform import Rotation

import polhode as ph
from flat_states import state_from_array
from polhode.gallery import MODELS

Arrays = dict[str, Any]

# Why the last bits may differ from one CPU to another (or from one C library to another).  The steps themselves, the
# closed form and compiled code do arithmetic and square roots only: they have the same bits everywhere.
HEYOKA = "heyoka compiles for the CPU at hand, with its vector width and fused multiply-add"
LIBM = "NumPy and the C library choose their sin, cos, exp, hypot, atan2 by the CPU at hand"
BLAS = "OpenBLAS chooses its kernels, for matrix products and eigenvectors, by the CPU at hand"


@dataclass(frozen=True)
class Entry:
    """One line of the digest."""

    name: str
    compute: Callable[[], Arrays]
    why_rounded: str = ""
    """Why another CPU may give other last bits, so that numbers are compared rounded; empty: they are not."""

    @property
    def group(self) -> str:
        """The first part of the name."""
        return self.name.partition("/")[0]


# Scenarios -----------------------------------------------------------------------------------------------------------
METHODS_FOR_ALL_FORMULATIONS = ("euler", "midpoint", "rk4", "dop853")
METHODS_FOR_MOMENTUM = (
    "leapfrog",
    *("splitting2", "splitting4", "splitting6", "splitting2_exact", "splitting4_exact", "splitting6_exact"),
)
PAIRS = ("bs3", "rk45", "tsit5", "vern7", "vern9")
"""Adaptive like DOP853, by the same loops."""
FORMULATIONS = ("momentum", "momentum_matrix", "body_rates", "quaternion_acceleration", "euler_angles")
GRID = [
    *((method, formulation) for method in METHODS_FOR_ALL_FORMULATIONS for formulation in FORMULATIONS),
    *((method, "momentum") for method in METHODS_FOR_MOMENTUM),
]
"""Every method that takes steps by our own code, with every formulation that it accepts."""

TILTED = (0.8, 0.4, 0.3, -0.2)
OUTPUTS = (0.0, 0.13, 0.4, 0.777, 1.0)
"""At steps of 0.04 s some of them are inside a step."""
BETWEEN = 0.55
POINTS = ((0.0, 0.0, 0.0), (0.3, -0.2, 0.5))


@ph.force
def gust(t, state, body, params):
    """A user's force that depends on time, place, attitude and mass."""
    push = params[0] * ph.sin(3.0 * t) * body.mass
    lift = ph.sqrt(1.0 + state.position[0] * state.position[0])
    return (push, lift, 0.0 * t), ph.to_world(state.orientation, (0.0 * t, push, ph.cos(t)))


def _pull_potential(t, state, body, params):
    return params[0] * state.position[1] * state.position[1] / 2.0


@ph.force(axes="body", potential=_pull_potential)
def pull(t, state, body, params):
    """A user's force with a potential and a torque in body axes."""
    return (0.0 * t, -params[0] * state.position[1], 0.0 * t), (0.0 * t, 0.0 * t, 0.0 * t)


@ph.pair_force
def link(t, state_a, body_a, state_b, body_b, params):
    """A user's force between two bodies."""
    a, b, k, twist = state_a.position, state_b.position, params[0], params[1]
    push = (k * (b[0] - a[0]), k * (b[1] - a[1]), k * (b[2] - a[2]))
    return push, twist, (-twist[0], -twist[1], -twist[2])


def _moving(**more: Any) -> Any:
    return ph.State(
        **{
            "position": (0.4, -0.3, 1.1),
            "quaternion_wxyz": TILTED,
            "velocity": (0.3, -0.2, 0.5),
            "angular_velocity_body": (0.7, 1.9, -0.4),
            **more,
        }
    )


def free() -> Arrays:
    """An asymmetric body on which nothing acts."""
    return {"body": ph.Body(2.0, (1.0, 1.7, 2.3)), "state": _moving()}


def thrown() -> Arrays:
    """Gravity, both drags, a thruster with a window, and an impulse off the center of mass."""
    forces = [
        ph.forces.gravity(),
        ph.forces.quadratic_drag(0.3, wind=(1.0, 0.5, 0.0)),
        ph.forces.rotational_drag(0.1),
        ph.forces.thruster((0.0, 0.2, -0.4), (0.1, 0.0, 1.0), 5.0, start=0.2, stop=0.65),
        ph.forces.impulse((0.4, 0.0, 0.3), 0.5, (0.0, 0.25, 0.1), axes="body"),
    ]
    return {**free(), "forces": forces}


def pushed() -> Arrays:
    """The other forces on a single body, with two of a user's own."""
    forces = [
        ph.forces.point_gravity(3.0, (0.0, 0.0, -2.0)),
        ph.forces.linear_drag(0.2, wind=(0.0, 1.0, 0.0)),
        ph.forces.force_at((1.0, 0.0, 0.5), (0.1, 0.2, 0.0)),
        ph.forces.force_at((0.0, 0.4, 0.0), (0.0, 0.0, 0.3), axes="body"),
        ph.forces.force_at((0.0, 0.0, 0.7), point=(0.0, 0.1, 0.0)),
        ph.forces.torque((-0.4, 0.0, -0.2)),
        ph.forces.torque((0.0, 0.3, 0.0), axes="body"),
        ph.forces.spring(4.0, (0.0, 0.0, 2.0), (0.1, 0.0, 0.2), damping=0.3, length=0.5),
        gust(0.6),
        pull(0.8),
    ]
    return {**free(), "forces": forces}


def top() -> Arrays:
    """A heavy top on a pivot."""
    state = ph.State(quaternion_wxyz=TILTED, angular_velocity_body=(0.5, -0.2, 4.0))
    body = ph.Body(1.5, (0.5, 0.6, 0.3))
    return {"body": body, "state": state, "forces": [ph.forces.gravity()], "pivot": (0.0, 0.0, -0.6)}


def system() -> Arrays:
    """Three bodies on springs, with a damper, mutual gravity and a user's force between two of them."""
    bodies = [ph.Body(2.0, (1.0, 1.7, 2.3)), ph.Body(1.0, (0.4, 0.5, 0.6)), ph.Body(0.5, (0.2, 0.2, 0.3))]
    states = [
        ph.State(quaternion_wxyz=TILTED, angular_velocity_body=(0.3, 0.9, -0.4)),
        ph.State((1.5, 0.2, 0.0), quaternion_wxyz=(0.7, -0.5, 0.3, 0.4), velocity=(0.0, 0.6, -0.1)),
        ph.State((2.6, -0.4, 0.7), quaternion_wxyz=(0.6, 0.6, 0.2, 0.1), angular_velocity_body=(0.0, 1.0, 3.0)),
    ]
    forces = [
        ph.forces.spring_between(0, 1, 8.0, (0.3, 0.0, 0.1), (-0.2, 0.1, 0.0), damping=0.4, length=0.9),
        ph.forces.spring_between(1, 2, 5.0, length=1.0),
        ph.forces.mutual_gravity(0.5),
        ph.forces.gravity(1.5).on(1),
        link(0, 2, 0.3, (0.0, 0.1, 0.2)),
        ph.forces.impulse((0.0, 0.3, 0.0), 0.3, (0.0, 0.0, 0.1)).on(2),
    ]
    return {"body": bodies, "state": states, "forces": forces}


SCENARIOS = {f.__name__: f for f in (free, thrown, pushed, top, system)}


def settings_of(method: str, formulation: str, engine: str = "python") -> Arrays:
    """A duration of 1 s in steps of 0.04 s, or in as many as an adaptive method needs."""
    fixed = method not in ("dop853", "taylor", "auto", "exact", *PAIRS)
    return {
        "duration": 1.0,
        "method": method,
        "formulation": formulation,
        "engine": engine,
        "output_times": OUTPUTS,
        **({"step": 0.04} if fixed else {}),
    }


@cache
def motion_of(scenario: str, method: str, formulation: str, engine: str = "python") -> Any:
    """The motion of one of the scenarios."""
    settings = settings_of(method, formulation, engine)
    if scenario == "system" and "step" in settings:
        settings["step"] = 0.1  # splittings of high order are slow without compilation
    return ph.simulate(**SCENARIOS[scenario](), **settings)


# What is taken of a motion -------------------------------------------------------------------------------------------
STATE = ("position", "quaternion_wxyz", "velocity", "angular_velocity_body")


def of_state(state: Any, prefix: str = "") -> Arrays:
    """The numbers of a state, or of the states of a system's bodies."""
    if isinstance(state, list):
        return {key: array for i, one in enumerate(state) for key, array in of_state(one, f"{prefix}{i} ").items()}
    return {prefix + "time": state.time, **{prefix + name: getattr(state, name) for name in STATE}}


def of_run(motion: Any) -> Arrays:
    """What was computed: at all outputs, at the end, between outputs, and what it took."""
    if motion.scenario.formulation == "euler_angles":  # compared rounded: only what rounding does not govern
        return {**of_outputs(motion), **of_state(motion.at(BETWEEN), "between ")}
    names = (*STATE, "linear_momentum", "angular_momentum", "work", "attitude_drift", "kinetic_energy")
    return {
        "times": motion.times,
        "steps": motion.steps,
        "refused steps": motion.audit().refused,
        **{name: getattr(motion, name) for name in names if getattr(motion, name) is not None},
        **of_state(motion.final, "final "),
        **of_state(motion.at(BETWEEN), "between "),
    }


def of_dynamics(motion: Any) -> Arrays:
    """What is derived from a motion by arithmetic and roots alone."""
    energies = ("translational_energy", "rotational_energy", "potential_energy", "energy")
    found = {
        "acceleration": motion.acceleration,
        "angular_velocity": motion.angular_velocity,
        "rotation_matrix": motion.orthonormal_rotation_matrix,  # as it was called when the digest was written
        "inertia_world": motion.inertia_world,
        **{name: getattr(motion, name) for name in energies},
        "end_times": motion.end_times,
    }
    if motion.scenario.pivot is not None:
        found["reaction_force"] = motion.reaction_force
    if motion.scenario.formulation == "momentum_matrix":
        found["matrix_as_computed"] = motion.rotation_matrix
    return {
        **found,
        "angular_momentum_about": motion.angular_momentum_about((0.1, 0.2, 0.3)),
        "points": motion.points(POINTS),
        "point_velocities": motion.point_velocities(POINTS),
        "displacements": motion.displacements(POINTS),
        "potential_depends_on_time": motion.potential_depends_on_time,
    }


def of_audit(motion: Any) -> Arrays:
    """The audit's numbers, in its order."""
    audit = motion.audit()
    rows = [(f.conserved, f.departure, f.relative, f.time) for f in audit.findings]
    return {"findings": rows, "histories": [f.history for f in audit.findings], "steps": audit.steps}


def of_angles(motion: Any) -> Arrays:
    """What is derived from a motion by way of angles: Euler's, and those of a rotating frame."""
    frame = motion.seen_from((0.2, -0.4, 1.3), origin=(0.5, 0.0, -0.2))
    names = ("position", "velocity", "acceleration", "quaternion_wxyz", "angular_velocity")
    return {"euler_angles": motion.euler_angles, **{f"seen {name}": getattr(frame, name) for name in names}}


def of_events(motion: Any, names: tuple[str, ...]) -> Arrays:
    """The events that happened, and the times of each kind."""
    rows = [(names.index(c.name), c.time, c.body, c.ends) for c in motion.crossings]
    states = {key: array for i, c in enumerate(motion.crossings) for key, array in of_state(c.state, f"{i} ").items()}
    return {"events": rows, **states, **{name: motion.crossing_times(name) for name in names}}


def of_outputs(motion: Any) -> Arrays:
    """Times and states at all outputs, without what is mere rounding."""
    return {"times": motion.times, **{name: getattr(motion, name) for name in STATE}}


def why_rounded(formulation: str) -> str:
    """Euler angles begin with those of the start, which atan2 finds."""
    return LIBM if formulation == "euler_angles" else ""


# The gallery ---------------------------------------------------------------------------------------------------------
MODELS_ROUNDED = {
    "gyroscope-euler-angles": LIBM,
    "sliding-block": LIBM,
    "tippe-top": LIBM,
    "uniform-field": BLAS,
    **dict.fromkeys(
        (
            "attitude-control",
            "cannonball",
            "damped-brick",
            "dropped-sphere",
            "rocket-ascent",
            "satellite-orbit",
            "tumbling-brick",
        ),
        LIBM,
    ),
}
"""Whose motions, not only whose checked numbers, depend on the CPU: by the start's angles, by a turned body."""
MODELS_LEFT_OUT = {"buttered-toast", "eulers-disk"}
"""Whose start has sines, the last bit of which many impacts, or changes from rolling to sliding, amplify."""


@cache
def played(name: str) -> tuple[Any, Any]:
    """A model's parameters at their defaults, and its motion, or its motions by name."""
    model = MODELS[name]
    values = model.values()
    motions = model.run(**values)
    return values, motions


def of_model(name: str) -> Arrays:
    """Every motion of a model: its end; and all outputs with their energies, if these have the same bits anywhere."""
    _, motions = played(name)
    found: Arrays = {}
    for i, motion in enumerate(motions.values() if isinstance(motions, Mapping) else [motions]):
        found |= of_state(motion.final, f"{i} final ")
        if name not in MODELS_ROUNDED:
            names = (*STATE, "attitude_drift", "kinetic_energy", "potential_energy", "energy")
            found |= {f"{i} {name}": getattr(motion, name) for name in names}
            found |= {f"{i} times": motion.times, f"{i} steps": motion.steps}
    return found


def of_models_numbers(name: str) -> Arrays:
    """The numbers that a model checks: as found in the motion, and as a closed form expects them."""
    values, motions = played(name)
    checked = MODELS[name].numbers(motions, **values)
    return {"found": [n.found for n in checked], "expected": [n.expected for n in checked]}


def gallery() -> Iterator[Entry]:
    """Every model at its defaults."""
    for name in sorted(set(MODELS) - MODELS_LEFT_OUT):
        yield Entry(f"gallery/{name}", lambda name=name: of_model(name), MODELS_ROUNDED.get(name, ""))
        yield Entry(f"gallery-numbers/{name}", lambda name=name: of_models_numbers(name), LIBM)


# Methods and formulations --------------------------------------------------------------------------------------------
def methods() -> Iterator[Entry]:
    """Every scenario with every method and formulation; and by compiled code, for a selection."""
    for scenario in SCENARIOS:
        for case in GRID:
            yield Entry(
                f"methods/{scenario}/{'/'.join(case)}",
                lambda scenario=scenario, case=case: of_run(motion_of(scenario, *case)),
                why_rounded(case[1]),
            )
    for scenario, *case in (
        *((scenario, method, "body_rates") for scenario in ("thrown", "system") for method in PAIRS),
        ("free", "rk4", "momentum"),
        ("thrown", "rk4", "momentum"),
        ("top", "dop853", "body_rates"),
        ("top", "splitting4", "momentum"),
        ("pushed", "midpoint", "momentum_matrix"),
        ("system", "rk4", "momentum"),
    ):
        yield Entry(
            f"compiled/{scenario}/{'/'.join(case)}",
            lambda scenario=scenario, case=case: of_run(motion_of(scenario, *case, "cpu")),
        )


def derived() -> Iterator[Entry]:
    """Everything that a motion tells besides what was computed."""
    for scenario in SCENARIOS:
        for case in (("rk4", "momentum"), ("dop853", "body_rates"), ("rk4", "momentum_matrix")):
            path = f"{scenario}/{'/'.join(case)}"

            def motion(scenario: str = scenario, case: tuple[str, str] = case) -> Any:
                return motion_of(scenario, *case)

            yield Entry(f"dynamics/{path}", lambda motion=motion: of_dynamics(motion()))
            yield Entry(f"audit/{path}", lambda motion=motion: of_audit(motion()))
            yield Entry(f"angles/{path}", lambda motion=motion: of_angles(motion()), LIBM)


def closed_form() -> Iterator[Entry]:
    """method="exact": every kind of free rotation, with gravity and impulses, and at any time."""
    bodies = {
        "asymmetric": ((1.0, 1.7, 2.3), (0.7, 1.9, -0.4)),
        "about the long axis": ((1.0, 1.7, 2.3), (2.5, 0.2, 0.1)),
        "near the separatrix": ((1.0, 2.0, 2.5), (1e-7, 1.3, 0.0)),
        "middle axis": ((1.0, 2.0, 2.5), (0.0, 1.3, 0.0)),
        "prolate": ((0.7, 1.2, 1.2), (1.0, -0.6, 0.3)),
        "oblate": ((1.2, 1.2, 2.0), (1.0, -0.6, 0.3)),
        "sphere": ((1.1, 1.1, 1.1), (1.0, -0.6, 0.3)),
        "at rest": ((1.0, 1.7, 2.3), (0.0, 0.0, 0.0)),
    }
    forces = [ph.forces.gravity(), ph.forces.impulse((0.3, 0.2, 0.0), 0.45, (0.0, 0.1, 0.2))]

    def run(name: str, formulation: str, forces: Any) -> Arrays:
        moments, rates = bodies[name]
        start = _moving(angular_velocity_body=rates)
        motion = ph.simulate(ph.Body(2.0, moments), start, forces, **settings_of("exact", formulation, "cpu"))
        later = {} if forces else {**of_state(motion.at(-2.5), "before "), **of_state(motion.at(1e3), "after ")}
        return {**of_run(motion), **later}

    for name in bodies:
        yield Entry(f"exact/{name}", lambda name=name: run(name, "momentum", []))
    for formulation in ("momentum", "body_rates"):
        yield Entry(
            f"exact/gravity and impulse/{formulation}", lambda form=formulation: run("asymmetric", form, forces)
        )


def automatic() -> Iterator[Entry]:
    """method="auto", with its estimate of the error."""

    def run(scenario: str, formulation: str, **more: Any) -> Any:
        return ph.simulate(**SCENARIOS[scenario](), **{**settings_of("auto", formulation), **more})

    for scenario in SCENARIOS:
        for formulation in ("momentum",) if scenario != "top" else FORMULATIONS:
            yield Entry(
                f"auto/{scenario}/{formulation}",
                lambda s=scenario, form=formulation: of_run(run(s, form, rtol=1e-6)),
                why_rounded(formulation),
            )
    tight = {"rtol": 1e-13, "engine": "cpu"}
    yield Entry("auto/top/by Taylor series", lambda: of_outputs(run("top", "momentum", **tight)), HEYOKA)


def taylor() -> Iterator[Entry]:
    """method="taylor": heyoka's steps with our equations."""

    def run(scenario: str, formulation: str) -> Arrays:
        motion = motion_of(scenario, "taylor", formulation, "cpu")
        return {**of_outputs(motion), **of_state(motion.at(BETWEEN), "between ")}

    for scenario in SCENARIOS:
        for formulation in FORMULATIONS if scenario in ("free", "top") else ("momentum",):
            yield Entry(f"taylor/{scenario}/{formulation}", lambda s=scenario, form=formulation: run(s, form), HEYOKA)


# Settings ------------------------------------------------------------------------------------------------------------
def variations() -> Iterator[Entry]:
    """Settings other than the usual ones, arrays for other solvers, files, and runs that fail."""

    def run(scenario: str, method: str = "rk4", formulation: str = "momentum", **more: Any) -> Any:
        return ph.simulate(**SCENARIOS[scenario](), **{**settings_of(method, formulation), **more})

    yield Entry("settings/no rescaling", lambda: of_run(run("top", renormalize=False)))
    yield Entry("settings/output step", lambda: of_run(run("thrown", output_times=None, output_step=0.07)))
    yield Entry("settings/default outputs", lambda: of_run(run("top", output_times=None)))
    yield Entry("settings/adaptive default outputs", lambda: of_run(run("top", "dop853", output_times=None)))
    tolerances = {"rtol": (1e-7, 1e-9, 1e-8, 1e-10), "atol": (1e-9, 0.0, 1e-9, 0.0), "breaks": (0.31, 0.62)}
    yield Entry("settings/tolerances and breaks", lambda: of_run(run("thrown", "dop853", "body_rates", **tolerances)))
    yield Entry("settings/first step", lambda: of_run(run("top", "dop853", step=0.01)))
    later = {**thrown(), "state": _moving(time=0.25)}
    yield Entry(
        "settings/later start",
        lambda: of_run(ph.simulate(**later, duration=0.9, step=0.05, method="rk4", engine="python")),
    )

    def tensor() -> Arrays:
        inertia = ((1.0, 0.1, -0.2), (0.1, 1.4, 0.05), (-0.2, 0.05, 1.3))
        scenario = {**top(), "body": ph.Body(1.5, inertia), "pivot": (0.1, -0.2, -0.6)}
        motion = ph.simulate(**scenario, **settings_of("rk4", "momentum"))
        return {**of_outputs(motion), "reaction_force": motion.reaction_force}

    yield Entry("settings/full tensor on a pivot", tensor, BLAS)
    yield Entry("settings/solver arrays", _solver_arrays)
    yield Entry("settings/files", _through_files)
    yield Entry("settings/failures", _failures)


def _solver_arrays() -> Arrays:
    body, state, forces = thrown()["body"], thrown()["state"], thrown()["forces"]
    forms = ("momentum", "momentum_matrix")
    flat = {form: state.to_array(body, formulation=form) for form in forms}
    scenario = ph.Scenario(body, state, forces, duration=1.0)
    many = system()
    start = np.concatenate([s.to_array(b) for s, b in zip(many["state"], many["body"], strict=True)])
    return {
        **flat,
        **{f"derivative of {form}": scenario.derivative(0.3, flat[form]) for form in forms},
        "derivative of a system": ph.Scenario(**many, duration=1.0).derivative(0.3, start),
        **{f"back from {form} {key}": array for form in forms for key, array in _back(flat[form], body, form).items()},
        "angular_velocity": state.angular_velocity,
    }


def _back(flat: Any, body: Any, formulation: str) -> Arrays:
    return of_state(state_from_array(flat, body, formulation=formulation))


def _through_files() -> Arrays:
    """A scenario and a motion, written and read again."""
    scenario = ph.Scenario(**thrown(), **settings_of("rk4", "momentum"))
    with tempfile.TemporaryDirectory() as folder:
        scenario.to_toml(Path(folder) / "thrown.toml")
        motion = ph.simulate(ph.Scenario.from_toml(Path(folder) / "thrown.toml"))
        motion.save(Path(folder) / "thrown.zarr")
        loaded = ph.load(Path(folder) / "thrown.zarr")
        return {
            **of_run(loaded),
            **of_dynamics(loaded),
            **{f"again {key}": array for key, array in of_run(motion).items()},
        }


def _failures() -> Arrays:
    """Runs that stop: Euler angles on the vertical, and numbers that overflow."""
    found: Arrays = {}
    upright = {"body": ph.Body(1.0, (0.5, 0.5, 0.3)), "state": ph.State(angular_velocity_body=(1.0, 0.2, 3.0))}
    explosive = {
        "body": ph.particle(1.0),
        "state": ph.State(velocity=(1e3, 0.0, 0.0)),
        "forces": [ph.forces.quadratic_drag(1e3)],
    }
    for name, scenario, formulation in (("upright", upright, "euler_angles"), ("explosive", explosive, "momentum")):
        try:
            ph.simulate(**scenario, duration=2.0, step=0.05, method="rk4", formulation=formulation, engine="python")
        except ph.PolhodeError as error:
            found |= {f"{name} time": error.time, f"{name} outputs": error.motion.times}
            found |= of_state(error.last_good, f"{name} last good ")
    return found


# Events --------------------------------------------------------------------------------------------------------------
@ph.event
def landing(t, state, body, params):
    """The height above a floor."""
    return state.position[2] - params[0]


@ph.event
def apex(t, state, body, params):
    """The vertical velocity."""
    return state.velocity[2]


@ph.event
def far(t, state, body, params):
    """The distance still to go along x."""
    return state.position[0] - params[0]


def _bounce(t, state, body, params):
    """A jump of the vertical momentum, and a little spin."""
    return (0.0 * t, 0.0 * t, -1.8 * state.linear_momentum[2]), (0.02 + 0.0 * t, 0.0 * t, 0.0 * t)


def events() -> Iterator[Entry]:
    """Events that change, record and stop."""
    names = ("landing", "apex", "far")
    body, forces = ph.Body(2.0, (1.0, 1.7, 2.3)), [ph.forces.gravity(), ph.forces.linear_drag(0.1)]

    def bouncing(method: str, formulation: str, engine: str) -> Any:
        watched = [
            landing(0.2, change=_bounce, direction=-1),
            apex(action="record", direction=-1),
            far(1.2),
        ]
        settings = {**settings_of(method, formulation, engine), "duration": 6.0, "output_times": None}
        return ph.simulate(body, _moving(), forces, events=watched, **settings, output_step=0.25)

    def of_bouncing(*case: str) -> Arrays:
        motion = bouncing(*case)
        return {**of_run(motion), **of_events(motion, names)}

    for formulation in FORMULATIONS:
        yield Entry(
            f"events/bouncing/dop853/{formulation}",
            lambda form=formulation: of_bouncing("dop853", form, "python"),
            why_rounded(formulation),
        )
    yield Entry("events/bouncing/compiled", lambda: of_bouncing("dop853", "body_rates", "cpu"))

    def by_series() -> Arrays:
        motion = bouncing("taylor", "momentum", "cpu")
        return {**of_outputs(motion), **of_events(motion, names)}

    yield Entry("events/bouncing/taylor", by_series, HEYOKA)

    def counted() -> Arrays:
        watched = [apex(action="record", count=1), landing(0.5, count=2, within=1e-6)]
        settings = {**settings_of("dop853", "momentum"), "duration": 3.0, "output_times": None}
        start = _moving(velocity=(0.3, 0.0, 4.0), position=(0.0, 0.0, 0.0))
        motion = ph.simulate(body, start, forces, events=watched, **settings)
        return {**of_run(motion), **of_events(motion, ("landing", "apex"))}

    yield Entry("events/counted, within a tolerance", counted)

    def on_one_body() -> Arrays:
        watched = [far(1.45, action="record").on(1), apex(action="record").on(2)]
        motion = ph.simulate(**system(), events=watched, **settings_of("dop853", "momentum"))
        return {**of_run(motion), **of_events(motion, ("apex", "far"))}

    yield Entry("events/of a system", on_one_body)

    def of_members(engine: str) -> Arrays:
        start = _moving(velocity=np.linspace((0.1, 0.0, 1.0), (2.0, 0.5, 3.0), 5))
        watched = [landing(0.0), apex(action="record")]
        settings = {**settings_of("dop853", "body_rates", engine), "output_times": (0.2, 0.5, 0.9)}
        motion = ph.ensemble(body, start, forces, events=watched, **settings)
        return {**of_outputs(motion), "end_times": motion.end_times, **of_events(motion, ("landing", "apex"))}

    yield Entry("events/of an ensemble/python", lambda: of_members("python"))


# Ensembles -----------------------------------------------------------------------------------------------------------
def ensembles() -> Iterator[Entry]:
    """Five members that differ in body, start and forces."""
    body = ph.Body(np.linspace(1.0, 3.0, 5), np.linspace((1.0, 1.2, 1.5), (1.1, 1.7, 2.3), 5)[:, :, None] * np.eye(3))
    state = _moving(
        quaternion_wxyz=np.linspace(TILTED, (0.5, -0.5, 0.6, 0.1), 5),
        angular_velocity_body=np.linspace((0.7, 1.9, -0.4), (-1.0, 0.2, 0.9), 5),
    )
    drag = ph.forces.quadratic_drag(np.linspace(0.0, 0.4, 5), wind=(1.0, 0.5, 0.0))
    forces = [ph.forces.gravity(), drag]
    blow = ph.forces.impulse((0.4, 0.0, 0.3), np.array((0.2, 0.5, 0.5, 0.33, 0.9)), (0.0, 0.25, 0.1))
    burn = ph.forces.thruster((0.0, 0.2, -0.4), (0.1, 0.0, 1.0), np.linspace(1.0, 5.0, 5), start=0.2, stop=0.65)

    def run(forces: Any, method: str, formulation: str, engine: str = "python", **more: Any) -> Arrays:
        motion = ph.ensemble(body, state, forces, **settings_of(method, formulation, engine), **more)
        if formulation == "euler_angles":
            return of_run(motion)
        return {**of_run(motion), **of_audit(motion), **of_dynamics(motion)}

    for method, formulation in GRID:
        if method in ("rk4", "dop853", "splitting4", "leapfrog"):
            yield Entry(
                f"ensembles/{method}/{formulation}",
                lambda method=method, form=formulation: run(forces, method, form),
                why_rounded(formulation),
            )
    yield Entry("ensembles/impulses at different times", lambda: run([*forces, blow, burn], "rk4", "momentum"))
    yield Entry("ensembles/adaptive, with a thruster", lambda: run([*forces, burn], "dop853", "body_rates"))
    yield Entry("ensembles/exact", lambda: run([ph.forces.gravity()], "exact", "momentum", "cpu"))
    yield Entry("ensembles/compiled/rk4", lambda: run(forces, "rk4", "momentum", "cpu"))
    yield Entry("ensembles/compiled/dop853", lambda: run(forces, "dop853", "body_rates", "cpu"))

    def pivoted() -> Arrays:
        scenario = {**top(), "pivot": np.linspace((0.0, 0.0, -0.5), (0.0, 0.0, -0.9), 5)}
        motion = ph.ensemble(**scenario, **settings_of("rk4", "momentum"))
        return {**of_run(motion), **of_dynamics(motion), **of_audit(motion)}

    yield Entry("ensembles/on pivots", pivoted)

    def by_series() -> Arrays:
        settings = {**settings_of("taylor", "momentum", "cpu"), "output_times": (0.13, 1.0)}
        return of_outputs(ph.ensemble(body, state, forces, **settings))

    yield Entry("ensembles/taylor", by_series, HEYOKA)


# Mass properties -----------------------------------------------------------------------------------------------------
CORNERS = ((0.1, 0.2, -0.3), (1.4, 0.1, 0.5), (-0.3, 2.2, 0.4), (0.6, 0.5, 1.7))
SKEW = ((1.0, 0.2, -0.1), (0.4, 1.3, 0.3), (-0.7, 0.5, 2.0))
L_SHAPE = ((0, 0), (3, 0), (3, 1), (1, 1), (1, 4), (0, 4))
SHAPES: list[tuple[str, Arrays]] = [
    ("box", {"sides": (0.3, 0.7, 1.1), "mass": 2.0}),
    ("sphere", {"radius": 0.3, "density": 700.0}),
    ("ellipsoid", {"semi_axes": (0.2, 0.3, 0.5), "density": 700.0}),
    ("half_ellipsoid", {"semi_axes": (0.2, 0.3, 0.5), "mass": 2.0}),
    ("cylinder", {"radius": 0.3, "height": 0.8, "density": 700.0}),
    ("cone", {"radius": 0.3, "height": 0.8, "mass": 2.0}),
    ("frustum", {"bottom_radius": 0.4, "top_radius": 0.3, "height": 0.8, "density": 700.0}),
    ("capsule", {"radius": 0.3, "cylinder_height": 0.8, "mass": 2.0}),
    ("torus", {"radius": 0.7, "tube_radius": 0.2, "density": 700.0}),
    ("tube", {"outer_radius": 0.3, "inner_radius": 0.2, "height": 0.8, "mass": 2.0}),
    ("spherical_shell", {"radius": 0.3, "inner_radius": 0.2, "density": 700.0}),
    ("spherical_shell", {"radius": 0.3, "area_density": 7.0}),
    ("thin_rod", {"length": 1.1, "radius": 0.02, "density": 700.0}),
    ("thin_rod", {"length": 1.1, "radius": 0.0, "line_density": 7.0}),
    ("ring", {"radius": 0.3, "line_density": 7.0}),
    ("thin_disk", {"radius": 0.3, "area_density": 7.0}),
    ("thin_sheet", {"sides": (0.3, 0.7), "mass": 2.0}),
    ("tetrahedron", {"corners": CORNERS, "density": 700.0}),
    ("parallelepiped", {"edges": SKEW, "mass": 2.0}),
    ("prism", {"base": L_SHAPE, "height": 0.7, "density": 700.0}),
]

SHAPES_ROUNDED = {
    **dict.fromkeys(("cone", "frustum"), LIBM),
    **dict.fromkeys(("tetrahedron", "parallelepiped", "prism"), BLAS),
}


def of_body(body: Any) -> Arrays:
    """The mass properties, before any axes are searched for."""
    found = {name: getattr(body, name) for name in ("mass", "center_of_mass", "inertia_body", "volume", "area")}
    found |= {"density": body.density, "inertia_about": body.inertia_about((0.1, -0.2, 0.3))}
    return {name: value for name, value in found.items() if value is not None}


def of_axes(body: Any) -> Arrays:
    """Principal moments and axes, and the box of the same moments."""
    return {
        "principal_moments": body.principal_moments,
        "principal_axes": body.principal_axes.as_matrix(),
        "box_sides": body.box_sides,
        "ellipsoid_semi_axes": body.ellipsoid_semi_axes,
    }


def of_surface(body: Any) -> Arrays:
    """The triangles that it is drawn with."""
    surface = body.surface(6)
    return {"vertices": surface.vertices, "faces": surface.faces}


def shapes() -> Iterator[Entry]:
    """Every shape."""
    for i, (name, sizes) in enumerate(SHAPES):

        def body(name: str = name, sizes: Arrays = sizes) -> Any:
            return getattr(ph.shapes, name)(**sizes)

        rounded = SHAPES_ROUNDED.get(name, "")
        yield Entry(f"shapes/{i:02} {name}", lambda body=body: of_body(body()), rounded)
        yield Entry(f"shape-axes/{i:02} {name}", lambda body=body: of_axes(body()), rounded)
        yield Entry(f"shape-surfaces/{i:02} {name}", lambda body=body: of_surface(body()), LIBM)
    many = {"sides": np.linspace((0.3, 0.7, 1.1), (0.5, 0.6, 0.7), 5), "density": np.linspace(600.0, 800.0, 5)}
    yield Entry("shapes/of an ensemble", lambda: of_body(ph.shapes.box(**many)))


def _assembly() -> Any:
    """A drilled plate with a mast, a ball and two counterweights."""
    plate = ph.shapes.box((1.0, 0.8, 0.1), density=2700.0)
    hole = ph.shapes.cylinder(0.1, 0.1, density=2700.0).move((0.2, 0.1, 0.0))
    turn = Rotation.from_quat((0.3, -0.1, 0.2, 0.9))
    mast = ph.shapes.tube(0.05, 0.04, 0.9, density=7850.0).turn(turn, about=(0.0, 0.0, -0.45)).move((0.0, 0.0, 0.6))
    ball = ph.shapes.sphere(0.1, mass=3.0).scale((1.0, 1.2, 0.8)).move((0.3, -0.2, 1.2)).mirror((1.0, 0.5, 0.0))
    weights = ph.Body.from_particles((1.5, 2.5), ((0.5, 0.4, -0.1), (-0.5, -0.4, -0.2)))
    return plate.subtract(hole).join(mast, ball, weights)


def _on_a_grid(mesh: Any) -> Any:
    """A mesh whose corners do not depend on the last bits of a sine."""
    mesh.vertices = np.round(np.asarray(mesh.vertices) * 2.0**20) / 2.0**20
    return mesh


def _annulus() -> Any:
    return _on_a_grid(trimesh.creation.annulus(r_min=10.0, r_max=15.0, height=8.0, sections=16))


def _ball() -> Any:
    return _on_a_grid(trimesh.creation.icosphere(1, radius=0.4))


def _surface_files() -> Arrays:
    """The same part from files of several formats."""
    found: Arrays = {}
    with tempfile.TemporaryDirectory() as folder:
        for ending in ("stl", "obj", "ply", "off"):
            path = Path(folder) / f"part.{ending}"
            _annulus().export(path)
            body = ph.Body.from_mesh(path, density=7850.0, unit="mm")
            found |= {f"{ending} {key}": array for key, array in of_body(body).items()}
    return found


def _volume_files() -> Arrays:
    """The same cells from files of several formats."""
    found: Arrays = {}
    with tempfile.TemporaryDirectory() as folder:
        for ending, kind in (("vtu", "vtu"), ("vtk", "vtk"), ("inp", "abaqus")):
            path = Path(folder) / f"cells.{ending}"
            meshio.write(path, _cells(), file_format=kind)
            body = ph.Body.from_volume_mesh(path, density=700.0, unit="cm")
            found |= {f"{ending} {key}": array for key, array in of_body(body).items()}
    return found


def _cells() -> Any:
    """A brick beside a tetrahedron."""
    brick = [(0, 0, 0), (1, 0, 0), (1.1, 1, 0), (0, 1.2, 0), (0, 0, 1), (1, 0.1, 1), (1, 1, 1.3), (0, 1, 1)]
    points = np.array([*brick, (2, 0, 0), (3, 0, 0.2), (2, 1, 0), (2.2, 0.1, 1)], dtype=float)
    return meshio.Mesh(points, [("hexahedron", [range(8)]), ("tetra", [[8, 9, 10, 11]])])


def _quadratic_cell() -> Any:
    """A tetrahedron with curved edges."""
    corners = np.array([(0.0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
    edges = [(0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3)]
    middles = np.array([(corners[a] + corners[b]) / 2 for a, b in edges]) + np.linspace(-0.02, 0.03, 18).reshape(6, 3)
    return meshio.Mesh(np.concatenate((corners, middles)), [("tetra10", [range(10)])])


def _inverted_box() -> Any:
    box = trimesh.creation.box((0.2, 0.3, 0.4))
    box.faces[3] = box.faces[3][::-1]
    return box


BODIES: dict[str, Callable[[], Any]] = {
    "assembly": _assembly,
    "particles": lambda: ph.Body.from_particles((1.0, 3.0, 2.0), ((0, 0, 0), (0, 0, 4), (0.5, 1, 2))),
    "mesh of a box": lambda: ph.Body.from_mesh(trimesh.creation.box((0.2, 0.3, 0.4)), density=1000.0),
    "mesh of an annulus": lambda: ph.Body.from_mesh(_annulus(), density=7850.0, unit="mm"),
    "mesh of a ball": lambda: ph.Body.from_mesh(_ball().apply_translation((1.0, 2.0, 3.0)), mass=5.0),
    "mesh, shell": lambda: ph.Body.from_mesh(_ball(), density=2700.0, shell=0.002),
    "mesh, area density": lambda: ph.Body.from_mesh(_ball(), area_density=4.0),
    "mesh, repaired": lambda: ph.Body.from_mesh(_inverted_box(), density=1000.0, repair="flip"),
    "mesh, hull": lambda: ph.Body.from_mesh(_annulus(), density=1000.0, unit="mm", repair="hull"),
    "cells": lambda: ph.Body.from_volume_mesh(_cells(), density=700.0),
    "cells of two densities": lambda: ph.Body.from_volume_mesh(_cells(), density=(700.0, 900.0)),
    "cells, polynomial": lambda: ph.Body.from_volume_mesh(_cells(), density=lambda x, y, z: 2.0 + x * y + z, degree=3),
    "cells, rational": lambda: ph.Body.from_volume_mesh(_cells(), density=lambda x, y, z: 1.0 / (1.0 + x * x + y)),
    "quadratic cell": lambda: ph.Body.from_volume_mesh(_quadratic_cell(), density=700.0),
}


def bodies() -> Iterator[Entry]:
    """Assemblies, particles, meshes of surfaces and of volumes, tolerances."""
    for name, make in BODIES.items():
        by_products = "mesh" not in name and name != "particles"  # their tensors, not only their axes
        yield Entry(f"bodies/{name}", lambda make=make: of_body(make()), BLAS if by_products else "")
        yield Entry(f"body-axes/{name}", lambda make=make: of_axes(make()), BLAS)
    yield Entry("bodies/surfaces from files", _surface_files)
    yield Entry("bodies/cells from files", _volume_files, BLAS)

    def toleranced() -> Arrays:
        sizes = {"radius": ph.tolerance(0.3, 1e-3), "height": ph.tolerance(0.8, 2e-3), "mass": ph.tolerance(2.0, 0.01)}
        known = ph.uncertainty(ph.shapes.cylinder, **sizes)
        amounts = {"standard": known.standard, "worst": known.worst, **known.derivatives}
        names = ("mass", "volume", "center_of_mass", "principal_moments", "inertia_body")
        return {f"{key} {name}": getattr(of, name) for key, of in amounts.items() for name in names}

    yield Entry("bodies/tolerances", toleranced)

    def compared() -> Arrays:
        box = trimesh.creation.box((0.2, 0.3, 0.4)).apply_translation((0.5, -0.7, 0.9))
        ways = ph.compare(box, density=1000.0, points=1000)
        names = ("mass", "center_of_mass", "inertia_body", "volume")
        return {f"{i} {name}": getattr(way, name) for i, way in enumerate(ways) if i != 1 for name in names}

    yield Entry("bodies/ways to a mesh's inertia", compared, BLAS)

    def diagnosed() -> Arrays:
        found = [ph.diagnose(mesh) for mesh in (_annulus(), _inverted_box(), _ball())]
        return {"diagnoses": [(d.faces, d.shells, d.is_sound, len(d.findings)) for d in found]}

    yield Entry("bodies/diagnoses", diagnosed)


# Closed forms, rotations and affine maps -----------------------------------------------------------------------------
def references() -> Iterator[Entry]:
    """The reference solutions, and functions on rotations and affine maps."""
    t = np.linspace(0.0, 7.0, 9)

    def tops() -> Arrays:
        r = ph.reference
        asymmetric, symmetric = (
            r.AsymmetricTop((1.0, 1.7, 2.3), (0.7, 1.9, -0.4)),
            r.SymmetricTop((1.2, 1.2, 2.0), (1.0, -0.6, 0.3)),
        )
        heavy = r.HeavyTop(1.202, 0.4, 1.0, theta=1.05, spin=10.0, precession=0.3)
        return {
            "asymmetric": asymmetric.rates_at(t),
            "periods": (asymmetric.period, asymmetric.flip_time, heavy.period),
            "symmetric": symmetric.rates_at(t),
            "attitudes": symmetric.quaternions_at(t),
            "heavy": heavy.angles_at(t),
            "heavy rates": (*heavy.steady_rates, heavy.mean_precession, *heavy.turning_angles),
        }

    yield Entry("reference/tops", tops, LIBM)

    def others() -> Arrays:
        r = ph.reference
        spring = r.SpringPair((1.0, 2.0), 6.0, 1.0, (0.0, 1.5), (0.1, 0.0))
        linear = r.with_linear_drag(t, 1.0, 0.5, (0, 0, -9.80665), wind=(3, 0, 0))
        quadratic = r.with_quadratic_drag(t, 80.0, 0.25, 9.80665, -12.0)
        return {
            "spring": spring.positions_at(t),
            "linear drag": np.concatenate((linear.position, linear.velocity)),
            "quadratic drag": np.concatenate((quadratic[0], quadratic[1])),
        }

    yield Entry("reference/springs and drag", others, LIBM)

    def problems() -> Arrays:
        found: Arrays = {}
        for name in sorted(ph.reference.PROBLEMS):
            answer = ph.reference.problem(name).answer_of_doubles
            found |= {f"{name} {key}": getattr(answer, key) for key in ("quaternion_wxyz", "angular_velocity_body")}
        q, w = ph.reference.precise.free_rotation((1.0, 1.7, 2.3), (0.7, 1.9, -0.4), (1, 0, 0, 0), 10, digits=40)
        return {**found, "many digits": [float(number) for number in (*q, *w)]}

    yield Entry("reference/problems", problems)

    def turns() -> Arrays:
        r, q, v = ph.rotations, np.array(TILTED), (0.3, -0.2, 0.5)
        return {
            "rodrigues": r.rodrigues(v, axis=(1, 2, 2), angle=t),
            "matrix": r.matrix(axis=(1, 2, 2), angle=t),
            "quaternion": r.quaternion(axis=(1, 2, 2), angle=t),
            "turn_between": r.turn_between((1.0, 0.0, 0.2), v),
            "from_euler_angles": r.from_euler_angles(0.4, 1.1, t),
            "euler_angles": r.euler_angles(q),
            "axis_and_angle": np.append(*r.axis_and_angle(q)),
            "angle_between": r.angle_between(q, (0.5, -0.5, 0.6, 0.1)),
            "rate_matrix": r.rate_matrix(0.7, 0.4),
            "inverse_rate_matrix": r.inverse_rate_matrix(0.7, 0.4),
        }

    yield Entry("rotations/by angles", turns, LIBM)

    def quaternions() -> Arrays:
        r, q, v = ph.rotations, np.array(TILTED), (0.3, -0.2, 0.5)
        return {
            "product": r.product(q, (0.5, -0.5, 0.6, 0.1)),
            "sandwiched": r.sandwiched(q, v),
            "skewed_matrix": r.skewed_matrix(q),
            "w_matrix": r.w_matrix(q),
            "quaternion_rate": r.quaternion_rate(q, v),
            "spin": r.spin(q, r.quaternion_rate(q, v)),
        }

    yield Entry("rotations/quaternions", quaternions)

    def maps() -> Arrays:
        a = ph.affine
        points = a.point(((1.0, 2.0, 3.0), (0.0, 0.5, -1.0)))
        chain = a.combined(a.scaling((1.5, 0.5, 2.0)), a.translation((0.1, 0.2, 0.3)), a.skew(0.4, dimensions=3))
        return {
            "chain": chain,
            "inverse": a.inverse(chain),
            "about": a.about(chain, (1.0, 0.0, 2.0)),
            "applied": a.applied(chain, points),
            "rotation": a.rotation(Rotation.from_quat((0.3, -0.1, 0.2, 0.9))),
            "projected": np.append(*a.projected(points, distance=8.0)),
        }

    yield Entry("affine/maps", maps, BLAS)


SECTIONS = (
    *(gallery, methods, derived, closed_form, automatic, taylor, variations, events, ensembles),
    *(shapes, bodies, references),
)
ENTRIES = {entry.name: entry for section in SECTIONS for entry in section()}
GROUPS = tuple(dict.fromkeys(entry.group for entry in ENTRIES.values()))
