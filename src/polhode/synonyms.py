"""What other packages call it: pointers from their words to ours, for arguments, attributes, names and methods.

A user of SciPy, MuJoCo, Drake or Matlab types `dt`, `t_eval` or `RK45`; the error then says what it is called here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from polhode.errors import InputError, nearest

P = ParamSpec("P")
R = TypeVar("R")
Record = TypeVar("Record", bound=type)

SYNONYMS: dict[str, tuple[str, ...]] = {
    "step": ("dt", "timestep", "time_step", "stepsize", "step_size", "h", "max_step", "first_step"),
    "duration": ("t_end", "tend", "t_final", "tf", "tmax", "t_max", "t_span", "tspan", "end_time", "stop_time"),
    "output_times": ("t_eval", "tout", "saveat", "times", "t"),
    "output_step": ("output_dt", "dt_out", "log_dt", "sample_time", "save_every"),
    "method": ("solver", "integrator", "scheme", "algorithm"),
    "rtol": ("reltol", "rel_tol", "tol", "tolerance"),
    "atol": ("abstol", "abs_tol"),
    "forces": ("force", "loads", "external_forces"),
    "state": ("y0", "x0", "initial_state", "initial_conditions", "state0"),
    "body": ("bodies", "rigid_body", "model"),
    "events": ("event",),
    "contacts": ("contact", "collisions", "collision", "ground", "floor", "surfaces", "obstacles", "walls"),
    "rotors": ("wheels", "reaction_wheels", "flywheels", "gyros", "rotor", "wheel"),
    "mass_course": ("propellant", "burn", "mass_table", "variable_mass", "mass_history"),
    "added_mass": ("hydrodynamic_mass", "virtual_mass", "added_inertia"),
    "restitution": ("e", "cor", "bounce", "bounciness", "elasticity", "coefficient_of_restitution"),
    "friction": ("mu", "friction_coefficient", "coefficient_of_friction", "lateral_friction"),
    "height": ("z", "level", "alt", "altitude"),
    "latitude": ("lat", "latitude_deg", "lat_deg"),
    "longitude": ("lon", "lng", "long", "longitude_deg", "lon_deg"),
    "yaw_pitch_roll": ("euler", "rpy", "ypr", "roll_pitch_yaw", "yaw_pitch_roll_deg", "euler_deg"),
    "floor": ("ground", "ground_plane", "plane"),
    "wall": ("half_space", "halfspace", "ceiling"),
    "slope": ("ramp", "incline", "inclined_plane", "wedge"),
    "between_bodies": ("pair_contact", "body_contact", "collisions"),
    "pivot": ("fixed_point", "anchor", "ball_joint", "spherical_joint"),
    "threads": ("n_jobs", "workers", "num_threads"),
    "angular_velocity_body": ("omega_body", "omega_b", "body_rates", "pqr", "gyro"),
    "angular_velocity": ("omega", "w", "w0", "omega0", "omega_world", "angvel", "ang_vel", "angular_rate"),
    "quaternion_wxyz": (
        "quat",
        "quaternion",
        "q",
        "q0",
        "quat_wxyz",
        "quaternion_xyzw",
        "quat_xyzw",
        "xyzw",
        "wxyz",
        "xquat",
        "quaternions",
        "attitude",
        "orientation",
        "orientations",
    ),
    "rotation_matrix": ("R", "rot", "rotation", "rotations", "dcm", "matrix", "xmat"),
    "linear_momentum": ("P", "p", "momentum"),
    "angular_momentum": ("L", "H", "h", "ang_mom"),
    "kinetic_energy": ("T", "KE", "ke", "kinetic"),
    "potential_energy": ("U", "V", "PE", "pe", "potential"),
    "energy": ("E", "total_energy", "mechanical_energy"),
    "acceleration": ("a", "acc", "accel", "qacc", "linear_acceleration"),
    "angular_acceleration": ("alpha", "omega_dot", "angacc"),
    "reaction_force": ("pivot_force", "joint_force", "constraint_force"),
    "inertia_world": ("I", "inertia", "inertia_tensor"),
    "crossings": ("events", "t_events", "y_events", "event_times"),
    "final": ("last", "end", "final_state", "y_final"),
    "at": ("sol", "interpolate", "evaluate"),
    "audit": ("report", "stats", "info", "message", "status", "success", "diagnostics"),
    "steps": ("nfev", "nsteps", "n_steps"),
    "dataset": ("y", "ys", "data", "to_xarray", "results"),
    "to_dataframe": ("df", "to_pandas"),
    "export_csv": ("to_csv",),
    "film": ("animate", "animation", "video"),
    "show": ("view", "viewer", "display"),
    "save": ("to_zarr", "dump", "write"),
    "orientation": (
        "rotation",
        "rot",
        "R",
        "dcm",
        "rotation_matrix",
        "euler",
        "euler_angles",
        "rpy",
        "ypr",
        "roll_pitch_yaw",
        "yaw_pitch_roll",
        "rotvec",
    ),
    "position": ("pos", "x", "r", "r0", "com_position", "positions", "qpos", "xpos", "translation"),
    "velocity": ("vel", "v", "v0", "linear_velocity", "velocities", "qvel"),
    "time": ("t0", "start_time", "t_start", "t"),
    "times": ("t", "ts", "time", "tout", "timestamps"),
    "inertia": ("inertia_tensor", "I", "moments", "moments_of_inertia", "principal_moments", "diaginertia", "moi"),
    "center_of_mass": ("centre_of_mass", "com", "cog", "cg", "center_of_gravity", "centroid"),
    "mass": ("m", "weight"),
    "density": ("rho",),
    "box": ("cube", "cuboid", "brick"),
    "sphere": ("ball", "solid_sphere"),
    "spherical_shell": ("hollow_sphere",),
    "cylinder": ("solid_cylinder",),
    "thin_rod": ("rod", "bar"),
    "thin_disk": ("disk", "disc", "circular_plate"),
    "thin_sheet": ("sheet", "plate", "rectangle"),
    "ring": ("hoop",),
    "tube": ("pipe", "hollow_cylinder"),
    "frustum": ("truncated_cone",),
    "normal": ("gauss", "gaussian", "norm"),
    "truncated_normal": ("truncnorm", "truncated_gaussian"),
    "integers": ("randint", "integer", "discrete_uniform"),
    "random_rotation": ("random_orientation", "random_attitude", "random_quaternion", "haar"),
    "standard_deviation": ("sigma", "std", "stddev", "stdev", "sd", "scale"),
    "log_standard_deviation": ("sigma", "s", "std", "standard_deviation"),
    "covariance": ("cov",),
    "mean": ("loc", "mu"),
    "weights": ("p", "probabilities"),
    "seed": ("rng", "random_state", "random_seed"),
    "gravity": ("uniform_gravity", "weight"),
    "power": ("pow",),
    "log": ("ln",),
    "atan2": ("arctan2",),
    "interp": ("interp1d", "interpolate"),
    "if_less": ("where", "select"),
    "quaternion_product": ("quat_mul", "qmul", "quaternion_multiply"),
    "quaternion_conjugate": ("quat_conj", "conjugate"),
    "dop853": (
        "RK8",
        "DOP853",
        "DP8",
        "dopri8",
        "Dopri8",
        "ode113",
        "LSODA",
        "ode15s",
        "ode23s",
        "Radau",
        "BDF",
    ),
    "rk45": ("RK45", "dopri5", "Dopri5", "DOPRI5", "DP5", "ode45", "rkf45", "RKF45", "dormand_prince"),
    "bs3": ("RK23", "ode23", "BS3", "Bosh3", "bogacki_shampine"),
    "tsit5": ("Tsit5", "tsitouras"),
    "vern7": ("Vern7", "Vern6"),
    "vern9": ("Vern9", "Vern8", "ode78", "ode89"),
    "rk4": ("RK4", "runge_kutta", "rungekutta4", "ode4"),
    "euler": ("Euler", "forward_euler"),
    "leapfrog": ("verlet", "velocity_verlet", "stormer_verlet"),
    "midpoint": ("rk2", "RK2", "Midpoint", "explicit_midpoint", "modified_euler", "ode2", "heun", "Heun", "ralston"),
    "taylor": ("heyoka", "Taylor", "taylor_series", "TaylorMethod"),
    "auto": ("adaptive", "default", "automatic", "solve_ivp", "odeint"),
    "splitting4": ("yoshida", "yoshida4", "forest_ruth", "symplectic4"),
    "splitting2": ("symplectic", "symplectic_euler", "semi_implicit_euler", "semi-implicit"),
    "exact": ("analytic", "analytical", "closed_form"),
    "simulate": ("solve_ivp", "odeint", "integrate", "solve", "run", "propagate", "mj_step"),
    "Stepper": ("step", "Simulator", "Integrator", "MjData", "World"),
    "Body": ("RigidBody", "rigid_body", "SpatialInertia", "Link"),
    "Motion": ("Trajectory", "Solution", "OdeResult", "OdeSolution"),
    "ensemble": ("monte_carlo", "batch", "vmap"),
    "rotor": ("wheel", "reaction_wheel", "flywheel", "momentum_wheel", "gyro"),
}
"""Our name, and what it is called elsewhere."""

_JOINTS = (
    "there are no joints yet. pivot= holds one point of a body, about which it turns (a ball joint with the world); "
    "ph.forces.spring and ph.forces.spring_between, stiff and damped, hold points and bodies together"
)
_RADIANS = "angles are in rad: np.radians converts degrees"
NOT_HERE = {
    **dict.fromkeys(
        (
            *("joints", "joint", "constraints", "constraint", "hinge", "hinge_joint", "revolute", "revolute_joint"),
            *("prismatic", "prismatic_joint", "slider", "universal", "universal_joint", "weld", "fixed_joint", "ball"),
            *("pin", "links", "tendon", "equality", "articulation", "kinematic_tree", "parent"),
        ),
        _JOINTS,
    ),
    **dict.fromkeys(("degrees", "deg", "in_degrees", "radians", "rad"), _RADIANS),
    **dict.fromkeys(
        ("control", "controller", "ctrl", "feedback"),
        "a control law is a force of your own (@ph.force) or the torque of a ph.rotor; a controller outside steps a "
        "ph.Stepper",
    ),
    **dict.fromkeys(("soft_contacts", "solref", "solimp", "contact_stiffness"), "contacts are rigid: they have none"),
    **dict.fromkeys(
        ("from_step", "from_iges", "from_cad", "from_urdf", "from_sdf", "from_mjcf", "load_urdf"),
        "ph.Body.from_mesh reads STL, OBJ, PLY and 3MF, ph.Body takes the numbers that a CAD program or a URDF has",
    ),
}
"""Words for what is not here, and what can be done instead; where one of `SYNONYMS` fits, that comes first."""

REMARKS = {
    "t_span": "it counts from the state's time",
    "tspan": "it counts from the state's time",
    "t_end": "it counts from the state's time",
    "quat": "scalar first",
    "quaternion": "scalar first",
    "q": "scalar first",
    **dict.fromkeys(
        ("quaternion_xyzw", "quat_xyzw", "xyzw"),
        "scalar first: move the last number to the front, or take SciPy's Rotation, which knows both orders",
    ),
    **dict.fromkeys(("xquat", "attitude", "orientations", "quaternions"), "scalar first, body to world"),
    **dict.fromkeys(("omega", "w", "w0"), "world axes; angular_velocity_body: body axes"),
    **dict.fromkeys(
        ("euler", "rpy", "ypr", "roll_pitch_yaw"),
        "in rad; Rotation.from_euler('ZYX', (yaw, pitch, roll)) of SciPy has the same angles",
    ),
    **dict.fromkeys(
        ("latitude_deg", "lat_deg", "longitude_deg", "lon_deg", "yaw_pitch_roll_deg", "euler_deg"),
        "in rad: np.radians converts degrees",
    ),
    **dict.fromkeys(("heun", "Heun", "ralston"), "of the same order 2"),
    **dict.fromkeys(("sol", "interpolate", "evaluate"), "motion.at(t) is the state at any time"),
    **dict.fromkeys(("y", "ys"), "all numbers by name; motion.position and others are single arrays"),
    **dict.fromkeys(("t_events", "event_times"), "motion.crossing_times(name) has the times alone"),
    "cube": "with three equal sides",
    **dict.fromkeys(
        ("ground", "floor", "collisions", "collision", "walls"), "such as contacts=[ph.floor(restitution=0.5)]"
    ),
    **dict.fromkeys(("RK45", "ode45"), "of order 5; or method='auto', which chooses and estimates the error"),
    **dict.fromkeys(
        ("Radau", "BDF", "LSODA", "ode15s", "ode23s"),
        "the adaptive method, explicit, of order 8; there is no implicit one",
    ),
    "inertia_tensor": "three principal moments or a 3 x 3 tensor about the center of mass",
}


def name_here(word: str, known: Iterable[str]) -> str | None:
    """What another package's word is called here, if that is one of the known names."""
    known = set(known)
    ours = [name for name, words in SYNONYMS.items() if name in known and word in words]
    return ours[0] if ours else None


def suggest_name(word: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: what it is called here, or the nearest known name.

    Examples
    --------
    >>> suggest_name("dt", ["duration", "step"])
    "here it is called 'step'. Known: duration, step"
    """
    known = sorted(known)
    told = _pointer(word, known)
    return nearest(word, known) if told is None else f"{told}. Known: {', '.join(known)}"


def _pointer(word: str, known: Iterable[str]) -> str | None:
    """Where a word of other packages leads: our name, or what is there instead."""
    ours = name_here(word, known)
    if ours is None:
        return NOT_HERE.get(word)
    remark = f" ({REMARKS[word]})" if word in REMARKS else ""
    return f"here it is called {ours!r}{remark}"


def check_argument_names(function: str, given: Iterable[str], known: Iterable[str], error: type[InputError]) -> None:
    """Refuse a keyword that a function does not have, with what it is called here."""
    for key in given:
        if key not in known:
            raise error(f"{function} has no argument {key!r}: {suggest_name(key, known)}")


def explain_unknown_arguments(error: type[InputError]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Answer an unknown keyword of a public function with what it is called here, instead of a bare TypeError.

    Examples
    --------
    >>> @explain_unknown_arguments(InputError)
    ... def fall(duration, *, step=0.1):
    ...     return duration / step
    >>> fall(1.0, dt=0.5)
    Traceback (most recent call last):
    polhode.errors.InputError: fall has no argument 'dt': here it is called 'step'. Known: duration, step
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        known = [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]
        shown = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]

        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            check_argument_names(shown, kwargs, known, error)
            return function(*args, **kwargs)

        return checked

    return decorate


def explain_unknown_fields(error: type[InputError]) -> Callable[[Record], Record]:
    """The same for the constructor of a dataclass."""

    def decorate(cls: Record) -> Record:
        initialize: Any = cls.__init__  # type: ignore[misc]
        setattr(cls, "__init__", explain_unknown_arguments(error)(initialize))  # noqa: B010
        return cls

    return decorate


def unknown_attribute_message(module: str, name: str, known: Iterable[str]) -> str:
    """The sentence about a name that a module does not have.

    Examples
    --------
    >>> unknown_attribute_message("ph.shapes", "cube", ["box", "sphere"])
    "ph.shapes has no 'cube': here it is called 'box' (with three equal sides). Known: box, sphere"
    """
    return f"{module} has no {name!r}: {suggest_name(name, known)}"


def explain_unknown_attributes(shown: str) -> Callable[[Record], Record]:
    """Answer an unknown attribute of a public class with what it is called here.

    Set on the class, not written in it: type checkers and editors must go on to refuse unknown names.

    Examples
    --------
    >>> @explain_unknown_attributes("a Fall")
    ... class Fall:
    ...     velocity = (0.0, 0.0, -1.0)
    >>> Fall().v
    Traceback (most recent call last):
    AttributeError: a Fall has no 'v': here it is called 'velocity'
    """

    def decorate(cls: Record) -> Record:
        def find(self: Any, name: str) -> Any:
            if not name.startswith("_") and hasattr(type(self), name):  # a property that raised: its own error again
                return object.__getattribute__(self, name)
            raise AttributeError(unknown_member_message(self, shown, name))

        setattr(cls, "__getattr__", find)  # noqa: B010
        return cls

    return decorate


def unknown_member_message(owner: object, shown: str, name: str) -> str:
    """The sentence about an attribute that an object does not have; what it has is only listed where nothing is near.

    Names with an underscore are asked for by copy, pickle, NumPy and notebooks: they get a short answer.
    """
    if name.startswith("_"):
        return f"{shown} has no {name!r}"
    fields = getattr(type(owner), "__dataclass_fields__", ())
    known = [one for one in {*dir(owner), *fields} if not one.startswith("_")]
    told = _pointer(name, known)
    return f"{shown} has no {name!r}: {nearest(name, known).partition(' Known:')[0] if told is None else told}"
