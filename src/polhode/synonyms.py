"""What other packages call it: pointers from their words to ours, for arguments, names and methods.

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
    "height": ("z", "level"),
    "floor": ("ground", "ground_plane", "plane"),
    "wall": ("half_space", "halfspace", "ceiling"),
    "slope": ("ramp", "incline", "inclined_plane", "wedge"),
    "between_bodies": ("pair_contact", "body_contact", "collisions"),
    "pivot": ("fixed_point", "joint", "anchor"),
    "threads": ("n_jobs", "workers", "num_threads"),
    "angular_velocity_body": ("omega_body", "omega_b", "body_rates", "pqr", "gyro"),
    "angular_velocity": ("omega", "w", "w0", "omega0", "omega_world", "angvel", "ang_vel"),
    "quaternion_wxyz": ("quat", "quaternion", "q", "q0", "quat_wxyz", "quaternion_xyzw", "quat_xyzw", "attitude"),
    "orientation": ("rotation", "rot", "R", "dcm", "rotation_matrix"),
    "position": ("pos", "x", "r", "r0", "com_position"),
    "velocity": ("vel", "v", "v0", "linear_velocity"),
    "time": ("t0", "start_time", "t_start"),
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
    "splitting2": ("symplectic", "symplectic_euler", "semi_implicit_euler", "semi-implicit"),
    "exact": ("analytic", "analytical", "closed_form"),
}
"""Our name, and what it is called elsewhere."""

REMARKS = {
    "t_span": "it counts from the state's time",
    "tspan": "it counts from the state's time",
    "t_end": "it counts from the state's time",
    "quat": "scalar first",
    "quaternion": "scalar first",
    "q": "scalar first",
    "quaternion_xyzw": "scalar first: move the last number to the front",
    "quat_xyzw": "scalar first: move the last number to the front",
    "omega": "world axes; or angular_velocity_body=, body axes",
    "w": "world axes; or angular_velocity_body=, body axes",
    "w0": "world axes; or angular_velocity_body=, body axes",
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
    ours = name_here(word, known)
    if ours is None:
        return nearest(word, known)
    remark = f" ({REMARKS[word]})" if word in REMARKS else ""
    return f"here it is called {ours!r}{remark}. Known: {', '.join(known)}"


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
