"""Every public function and method with arguments that it takes, so that one after the other can be spoiled."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import polhode as ph

f, BODY = ph.forces, ph.Body(mass=2.0, inertia=(1.0, 1.5, 2.0))
START = ph.State(position=(0.0, 0.0, 1.0), angular_velocity_body=(0.1, 0.2, 0.3))


@ph.force
def push(t: Any, state: Any, body: Any, params: Any) -> Any:
    return (params[0], 0.0, 0.0), (0.0, 0.0, 0.0)


@ph.event
def height(t: Any, state: Any, body: Any, params: Any) -> Any:
    return state.position[2] - params[0]


def endless_list() -> list[Any]:
    """A list that holds itself."""
    made: list[Any] = []
    made.append(made)
    return made


def nasty_values() -> dict[str, Any]:
    """What no argument means, made anew for each call."""
    return {
        "array": np.array([1.0, 2.0]),
        "matrix": np.zeros((2, 2)),
        "empty array": np.array([]),
        "text array": np.array(["rk4", "exact"]),
        "complex array": np.array([1j, 2.0]),
        "object array": np.array([None, {}], dtype=object),
        "None": None,
        "huge": 10**400,
        "list of huge": [10**400, 1, 2],
        "endless digits": 10**5000,
        "nan": math.nan,
        "infinite": -math.inf,
        "bytes": b"bytes",
        "text": "text",
        "empty text": "",
        "null character": "a\0b",
        "surrogate": "\ud800",
        "ragged": [[1.0], [2.0, 3.0]],
        "deep": [[[[[1.0]]]]],
        "dict": {"a": 1},
        "empty dict": {},
        "set": {1, 2, 3},
        "generator": (x for x in (1.0, 2.0, 3.0)),
        "object": object(),
        "class": float,
        "function": lambda *a: 1.0,
        "complex": 1j,
        "truth": True,
        "negative": -7,
        "zero": 0,
        "list of None": [None, None, None],
        "list of texts": ["a", "b"],
        "span of time": np.timedelta64(3, "s"),
        "date": np.datetime64("2020-01-01"),
        "masked": np.ma.masked_array([1.0, 2.0, 3.0], mask=[0, 1, 0]),
        "array of one text": np.array("rk4"),
        "array of no axis": np.array(1.5),
        "NaN as a decimal": Decimal("NaN"),
        "huge fraction": Fraction(10**400, 3),
        "smallest double": 5e-324,
        "truth values": np.array([True, False, True]),
        "endless list": endless_list(),
        "slice": slice(None),
        "ellipsis": ...,
    }


Call = tuple[str, Callable[..., Any], dict[str, Any]]
"""Name, function, and what its required arguments are; the others have defaults."""


def constructors() -> Iterator[Call]:
    """What makes bodies, states, forces, contacts, rotors, courses, and what else goes into a scenario."""
    yield "Body", ph.Body, {"mass": 1.0, "inertia": (1, 1, 1)}
    yield "Body.from_tensor", ph.Body.from_tensor, {"mass": 1.0, "inertia": (1, 1, 1, 0, 0, 0), "products": "negative"}
    yield "Body.from_particles", ph.Body.from_particles, {"masses": (1, 2), "positions": ((0, 0, 0), (1, 0, 0))}
    yield "particle", ph.particle, {"mass": 1.0}
    yield "State", ph.State, {}
    yield "State.from_geodetic", ph.State.from_geodetic, {}
    yield "rotor", ph.rotor, {"axis": (0, 0, 1), "inertia": 0.1}
    yield "mass_course", ph.mass_course, {"times": (0, 1), "mass": (2.0, 1.0)}
    yield "floor", ph.floor, {}
    yield "wall", ph.wall, {"normal": (1, 0, 0)}
    yield "slope", ph.slope, {"angle": 0.1}
    yield "between_bodies", ph.between_bodies, {}
    yield "tolerance", ph.tolerance, {"value": 1.0, "plus_minus": 0.1}
    yield "CoefficientTable", ph.CoefficientTable, {"variables": "mach", "knots": (0, 1), "values": (1, 2)}
    yield "Knob", ph.Knob, {"default": 1.0, "low": 0.0, "high": 2.0}
    yield "force params", push, {"params": (1.0,)}
    yield "pair", ph.pair_force, {"function": None}
    yield "force", ph.force, {}
    yield "event", ph.event, {}
    yield (
        "event action",
        lambda action="record", direction=0, count=None, within=0.0, change=None: height(
            0.0, action=action, direction=direction, count=count, within=within, change=change
        ),
        {},
    )
    yield "gravity on", lambda body=0: f.gravity().on(body), {}


def forces() -> Iterator[Call]:
    """The library of forces, air and the Earth."""
    needed: dict[str, dict[str, Any]] = {
        "aerodynamics": {"area": 1.0, "coefficients": {"CD": 1.0}},
        "drag": {"area": 1.0, "coefficient": 0.3},
        "force_at": {"force": (1, 0, 0)},
        "impulse": {"impulse": (1, 0, 0), "time": 0.5},
        "linear_drag": {"c": 1.0},
        "magnetic_torquer": {"dipole_body": (1, 0, 0)},
        "point_gravity": {"gm": 1.0},
        "quadratic_drag": {"c": 1.0},
        "rotational_drag": {"c": 1.0},
        "spring": {"stiffness": 1.0, "anchor": (0, 0, 0)},
        "spring_between": {"a": 0, "b": 1, "stiffness": 1.0},
        "thruster": {"com_to_nozzle_body": (0, 0, 0), "direction_body": (1, 0, 0), "thrust": 1.0},
        "torque": {"torque": (1, 0, 0)},
    }
    for name in (name for name in dir(f) if callable(getattr(f, name))):
        yield f"forces.{name}", getattr(f, name), needed.get(name, {})
    yield "earth.Earth", ph.earth.Earth, {"name": "Earth", "gm": 4e14, "radius": 6.4e6}
    yield "air.constant", ph.air.constant, {}
    yield "air.exponential", ph.air.exponential, {}
    yield "air.steady_wind", ph.air.steady_wind, {"ned": (1, 0, 0)}
    yield "air.wind", ph.air.wind, {"function": lambda t, height: (0.0, 0.0, 0.0)}
    yield "air.wind_shear", ph.air.wind_shear, {"heights": (0, 100), "ned": ((0, 0, 0), (1, 0, 0))}
    yield "air.wind_table", ph.air.wind_table, {"heights": (0, 100), "ned": ((0, 0, 0), (1, 0, 0))}


def shapes() -> Iterator[Call]:
    """The shapes, and what bodies become."""
    needed: dict[str, dict[str, Any]] = {
        "box": {"sides": (1, 1, 1)},
        "capsule": {"radius": 1.0, "cylinder_height": 1.0},
        "cone": {"radius": 1.0, "height": 1.0},
        "cylinder": {"radius": 1.0, "height": 1.0},
        "ellipsoid": {"semi_axes": (1, 1, 1)},
        "frustum": {"bottom_radius": 1.0, "top_radius": 0.5, "height": 1.0},
        "half_ellipsoid": {"semi_axes": (1, 1, 1)},
        "parallelepiped": {"edges": np.eye(3)},
        "prism": {"base": ((0, 0), (1, 0), (0, 1)), "height": 1.0},
        "tetrahedron": {"corners": ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))},
        "thin_rod": {"length": 1.0, "radius": 0.1},
        "thin_sheet": {"sides": (1, 1)},
        "torus": {"radius": 1.0, "tube_radius": 0.1},
        "tube": {"outer_radius": 1.0, "inner_radius": 0.5, "height": 1.0},
    }
    for name in ph.shapes.__all__:
        yield f"shapes.{name}", getattr(ph.shapes, name), {**needed.get(name, {"radius": 1.0}), "mass": 1.0}
    box = ph.shapes.box((1, 2, 3), density=1.0)
    yield "Body.block", box.block, {"form": "urdf"}
    yield "Body.inertia_about", box.inertia_about, {"point": (1, 0, 0)}
    yield "Body.mirror", box.mirror, {"normal": (1, 0, 0)}
    yield "Body.move", box.move, {"by": (1, 0, 0)}
    yield "Body.scale", box.scale, {"factor": 2.0}
    yield "Body.turn", box.turn, {"rotation": Rotation.identity()}
    yield "Body.mesh", box.mesh, {}
    yield "Body.join", lambda other: box.join(other), {"other": box}
    yield "Body.subtract", lambda other: box.subtract(other), {"other": box}
    yield "Body.from_mesh", ph.Body.from_mesh, {"mesh": "nowhere.stl", "density": 1.0}
    yield "Body.from_volume_mesh", ph.Body.from_volume_mesh, {"mesh": "nowhere.msh", "density": 1.0}
    yield "diagnose", ph.diagnose, {"mesh": "nowhere.stl"}
    yield "compare", ph.compare, {"mesh": "nowhere.stl"}
    yield "uncertainty", lambda build, side: ph.uncertainty(build, sides=side), {
        "build": lambda sides: ph.shapes.box(sides, density=1.0), "side": ph.tolerance((1.0, 1.0, 1.0), 0.1),
    }  # fmt: skip


def geometry() -> Iterator[Call]:
    """Rotations and affine maps."""
    q, v = (1.0, 0.0, 0.0, 0.0), (1.0, 0.0, 0.0)
    needed: dict[str, dict[str, Any]] = {
        "angle_between": {"first": q, "second": q},
        "angles_within_a_turn": {"quaternion_wxyz": q},
        "axis_and_angle": {"turn": q},
        "euler_angles": {"turn": q},
        "from_euler_angles": {"phi": 0.1, "theta": 0.1, "psi": 0.1},
        "from_yaw_pitch_roll": {"yaw": 0.1, "pitch": 0.1, "roll": 0.1},
        "inverse_rate_matrix": {"theta": 0.1, "psi": 0.1},
        "matrix": {"axis": v, "angle": 0.1},
        "pointing_error": {"turn": q, "direction_body": v, "target": v},
        "product": {"p": q, "q": q},
        "quaternion": {"axis": v, "angle": 0.1},
        "quaternion_rate": {"q": q, "angular_velocity_body": v},
        "rate_matrix": {"theta": 0.1, "psi": 0.1},
        "rodrigues": {"vector": v, "axis": v, "angle": 0.1},
        "sandwiched": {"q": q, "vector": v},
        "skewed_matrix": {"q": q},
        "spin": {"q": q, "q_rate": q},
        "turn_between": {"start": q, "end": q},
        "w_matrix": {"q": q},
        "yaw_pitch_roll": {"turn": q},
        "yaw_pitch_roll_of": {"quaternion_wxyz": q},
    }
    for name in ph.rotations.__all__:
        yield f"rotations.{name}", getattr(ph.rotations, name), needed[name]
    needed = {
        "about": {"matrix": np.eye(3), "place": (0, 0)},
        "applied": {"matrix": np.eye(3), "points": (1, 1, 1)},
        "homogenized": {"points": (1, 1, 1)},
        "inverse": {"matrix": np.eye(3)},
        "point": {"places": (1, 1)},
        "projected": {"points": (1, 1, 1, 1)},
        "rotation": {"turn": 0.1},
        "scaling": {"factors": (1, 1)},
        "skew": {"amount": 0.1},
        "translation": {"displacement": (1, 1)},
        "vector": {"components": (1, 1)},
    }
    for name, given in needed.items():
        yield f"affine.{name}", getattr(ph.affine, name), given
    yield (
        "affine.combined",
        lambda first, then: ph.affine.combined(first, then),
        {"first": np.eye(3), "then": np.eye(3)},
    )
    yield "reference.problem", ph.reference.problem, {"name": "boxes_complex"}


def scenarios(folder: Path) -> Iterator[Call]:
    """What takes the arguments of a scenario, and scenarios."""
    fixed: dict[str, Any] = {"body": BODY, "duration": 1.0}
    yield "Scenario", ph.Scenario, fixed
    yield "simulate", ph.simulate, {**fixed, "method": "rk4", "step": 0.25}
    many = ph.State(velocity=np.ones((3, 3)))
    yield "ensemble", ph.ensemble, {**fixed, "state": many, "method": "rk4", "step": 0.25}
    yield "Stepper", ph.Stepper, {"body": BODY, "method": "rk4", "step": 0.25}
    scenario = ph.Scenario(BODY, START, [f.gravity()], duration=1.0, method="rk4", step=0.25)
    yield "Scenario.derivative", scenario.derivative, {"t": 0.0, "y": START.to_array(BODY)}
    yield "State.to_array", START.to_array, {"body": BODY}
    yield "State.to_body", START.to_body, {"points": (1, 0, 0)}
    yield "State.to_world", START.to_world, {"points_body": (1, 0, 0)}
    yield "State.replace", START.replace, {}
    yield "write_source", ph.write_source, {"scenario": scenario, "language": "c", "path": folder / "a.c"}
    yield "write_fmu", ph.write_fmu, {"scenario": scenario, "path": folder / "a.fmu", "compiled": False}
    yield "load", ph.load, {"path": folder / "nothing.nc"}
    yield "Scenario.from_toml", ph.Scenario.from_toml, {"path": folder / "nothing.toml"}
    yield "Scenario.to_toml", scenario.to_toml, {"path": folder / "a.toml"}
    yield "Scenario.to_python", scenario.to_python, {"path": folder / "a.py"}
    yield "pivot of many", lambda pivot: ph.Scenario(BODY, many, duration=1.0, pivot=pivot), {"pivot": (0, 0, 1)}


def steps() -> Iterator[Call]:
    """A stepper's methods, and environments."""
    stepper = ph.Stepper(BODY, START, [f.gravity()], method="rk4", step=0.25)
    yield "Stepper.advance", lambda duration: _restored(stepper).advance(duration), {"duration": 0.5}
    yield "Stepper.advance_to", lambda time: _restored(stepper).advance_to(time), {"time": 0.5}
    yield "Stepper.set_loads", lambda **given: _restored(stepper).set_loads(**given), {
        "force": (0, 0, 0), "torque": (0, 0, 0), "force_body": (0, 0, 0), "torque_body": (0, 0, 0), "body": 0,
        "ramp_until": 5.0, "nodal_forces": ((0, 0, 0), (0, 0, 0)),
    }  # fmt: skip
    yield "Stepper.set_nodal_forces", stepper.set_nodal_forces, {"nodal_forces": ((0, 0, 0), (0, 0, 0))}
    yield "Stepper.use_nodes", stepper.use_nodes, {"nodes": ((0, 0, 0), (1, 0, 0))}
    yield "Stepper.restore", stepper.restore, {"token": stepper.save()}
    wheels = ph.Stepper(BODY, rotors=[ph.rotor((0, 0, 1), 0.1)], method="rk4", step=0.25)
    yield "Stepper.set_rotor_torques", wheels.set_rotor_torques, {"torques": [0.1]}


def _restored(stepper: ph.Stepper, saved: list[Any] | None = None) -> ph.Stepper:
    if not hasattr(stepper, "fresh"):
        stepper.fresh = stepper.save()  # type: ignore[attr-defined]
    stepper.restore(stepper.fresh)  # type: ignore[attr-defined]
    return stepper


def environments() -> Iterator[Call]:
    """Environments, where Gymnasium is installed."""
    scenario = ph.Scenario(BODY, START, duration=1.0, method="rk4", step=0.25)
    given = {"scenario": scenario, "interval": 0.5, "actions": {"force": 1.0}}
    yield "environment", ph.environment, given
    yield "vector_environment", ph.vector_environment, {**given, "num_envs": 2}
    one, many = ph.environment(**given), ph.vector_environment(num_envs=2, **given)
    for env in (one, many):
        env.reset(seed=1)
    yield "environment.step", lambda action: (one.reset(), one.step(action)), {"action": np.zeros(3)}
    yield "vector.step", lambda actions: (many.reset(), many.step(actions)), {"actions": np.zeros((2, 3))}
    yield "environment.reset", lambda seed=None, options=None: one.reset(seed=seed, options=options), {}
    yield "vector.reset", lambda seed=None, options=None: many.reset(seed=seed, options=options), {}
    yield "vector.reset one seed", lambda seed: many.reset(seed=[seed, None]), {"seed": 1}


def build_speeds(draw: ph.Draw) -> ph.Scenario:
    speed = ph.State(velocity=draw.normal("speed", 1.0, 0.1)[:, None] * (1.0, 0.0, 0.0))
    return ph.Scenario(BODY, speed, duration=0.5, method="rk4", step=0.25)


def ensembles() -> Iterator[Call]:
    """Sweeps, what they draw, and what they are reduced to."""

    source = ph.DrawnSource(build_speeds, 4)
    yield "sweep", ph.sweep, {"build": build_speeds, "members": 4, "seed": 1}
    yield "DrawnSource", ph.DrawnSource, {"build": build_speeds, "members": 4}
    yield "summary_reductions", ph.summary_reductions, {"source": source}
    yield "summarize", ph.summarize, {"result": ph.sweep(source, reduce=ph.summary_reductions(source))}
    many = ph.ensemble(BODY, ph.State(velocity=np.ones((3, 3))), duration=0.5)
    yield "reductions.apply", ph.reductions.apply, {"motion": many, "reductions": ["mean:speed"]}
    yield "reductions.read_reduction", ph.reductions.read_reduction, {"text": "mean:speed"}
    needed: dict[str, dict[str, Any]] = {"count": {"above": 1.0}, "sample": {"every": 4}, "histogram": {"bins": 4}}
    for name in ("count", "extremes", "histogram", "mean", "quantiles", "sample"):
        yield f"reductions.{name}", getattr(ph.reductions, name), {"quantity": "speed", **needed.get(name, {})}
    for name, given in {
        "choice": {"values": (1.0, 2.0)},
        "integers": {"low": 1, "high": 3},
        "lognormal": {"median": 1.0, "log_standard_deviation": 0.1},
        "normal": {"mean": 1.0, "standard_deviation": 0.1},
        "random_direction": {},
        "random_rotation": {},
        "scattered_inertia": {"inertia": (1, 1, 1), "standard_deviation": 0.1},
        "small_rotation": {"standard_deviation": 0.1},
        "table": {"table": np.ones(9), "column": None, "rows": "member"},
        "truncated_normal": {"mean": 1.0, "standard_deviation": 0.1},
        "uniform": {"low": 1.0, "high": 2.0},
    }.items():
        yield f"draw.{name}", drawn(name), {"name": "input", **given}


def drawn(name: str) -> Callable[..., Any]:
    """A method of `ph.Draw`, called as by a sweep."""

    def call(**given: Any) -> Any:
        def build(draw: ph.Draw) -> ph.Scenario:
            getattr(draw, name)(**given)
            speed = ph.State(velocity=draw.uniform("speed of all", 0.0, 1.0)[:, None] * (1.0, 0.0, 0.0))
            return ph.Scenario(BODY, speed, duration=0.5)

        return ph.DrawnSource(build, 4)

    return call


def motions(folder: Path) -> Iterator[Call]:
    """What a motion answers."""
    single = ph.simulate(
        BODY, START, [f.gravity()], duration=1.0, output_step=0.25, events=[height(0.5, action="record")]
    )
    many = ph.ensemble(BODY, ph.State(velocity=np.ones((3, 3))), [f.gravity()], duration=1.0, output_step=0.25)
    for name, given in {
        "angular_momentum_about": {"point": (0, 0, 0)},
        "at": {"t": 0.5},
        "crossing_times": {"name": "height"},
        "displacements": {"points_body": (1, 0, 0)},
        "export_csv": {"path": folder / "a.csv"},
        "export_gltf": {"path": folder / "a.glb"},
        "export_html": {"path": folder / "a.html"},
        "export_paraview": {"path": folder / "a.pvd"},
        "export_xdmf": {"path": folder / "a.xdmf"},
        "export_exodus": {"path": folder / "a.exo"},
        "film": {"path": folder / "a.nothing"},
        "flight": {},
        "in_frame": {"frame": "ned", "earth": "WGS84"},
        "nodes": {"points": ((1, 0, 0),)},
        "picture": {"path": folder / "a.nothing"},
        "plot": {"panels": ["position"]},
        "point_velocities": {"points_body": (1, 0, 0)},
        "points": {"points_body": (1, 0, 0)},
        "recomputed_at": {"times": (0.1, 0.2)},
        "samples_at": {"t": 0.5},
        "save": {"path": folder / "a.nc"},
        "seen_from": {"angular_velocity": (0, 0, 1)},
        "to_dataframe": {},
    }.items():
        yield f"motion.{name}", getattr(single, name), given
    yield "motion.member", many.member, {"i": 0}
    yield "motion.members", many.members, {"which": [0, 1]}
    yield "motion[...]", lambda key: many[key], {"key": 0}
