"""Validation of scenarios: every argument checked once, before anything is computed."""

from __future__ import annotations

import dataclasses
import math
import sys
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import validation
from polhode.equations.formulations import FORMULATIONS
from polhode.equations.pivot import com_velocity, pivot_to_com_world
from polhode.errors import ForceError, MethodWarning, ScenarioError, find_stacklevel, show
from polhode.massprops.body import Body
from polhode.methods.registry import METHODS
from polhode.scenario.contact import Contact, as_contact
from polhode.scenario.contact_validation import validate_contacts
from polhode.scenario.earth_validation import validate_earths
from polhode.scenario.event import Event, as_event
from polhode.scenario.flight_forces import describe_bad_function, describe_start_outside
from polhode.scenario.force import Force, as_force
from polhode.scenario.mass_course import MassCourse, check_course
from polhode.scenario.method_choice import AUTO, LEAST_RTOL, closed_form_obstacle
from polhode.scenario.rotor import Rotor, as_rotor
from polhode.scenario.state import State, stack_components
from polhode.synonyms import suggest_name
from polhode.validation import Array, as_leaves

if TYPE_CHECKING:
    from polhode.scenario.scenario import Scenario

ENGINES = ("cpu", "gpu", "python")
PRECISIONS = ("strict", "fused", "single")
LARGEST_RTOL = 0.1
LEAST_STEP_RTOL = 1e-16
"""The least error of a step: what is smaller than the rounding of a number only shortens the steps, without end."""
SHORTEST = 1e-300
"""Of durations, in s: a thousandth of it is a number whose digits are all there."""
MOST_OUTPUTS = 10**7
"""Of one body they take 2 or 3 GB.  `output_times` may have more."""
MANY_MEMBERS = 16_384
"""The numbers of an ensemble of more members, as an engine takes them, are not kept."""
LARGEST_SIZE = 1e140
"""Adaptive methods compare squares of positions and momenta, which must not overflow.  Forces may still add to them."""


# Arguments by themselves ----------------------------------------------------------------------------------------------
def check_forces(given: Any) -> tuple[Force, ...]:
    """The forces of a list."""
    return tuple(as_force(f) for f in _check_list(given, "forces"))


def check_events(given: Any) -> tuple[Event, ...]:
    """The events of a list."""
    return tuple(as_event(e) for e in _check_list(given, "events"))


def check_contacts(given: Any) -> tuple[Contact, ...]:
    """The contacts of a list."""
    return tuple(as_contact(c) for c in _check_list(given, "contacts"))


def check_rotors(given: Any) -> tuple[Rotor, ...]:
    """The rotors of a list."""
    return tuple(as_rotor(rotor) for rotor in _check_list(given, "rotors"))


def check_added_mass(given: Any, body: Any) -> tuple[Array, ...] | None:
    """A symmetric 6 x 6 matrix for each body; zeros for a body of a system without."""
    if given is None:
        return None
    if not isinstance(body, (list, tuple)):
        is_wrapped = isinstance(given, (list, tuple)) and len(given) == 1
        return (_check_added_matrix(given[0] if is_wrapped else given),)
    each = list(given) if isinstance(given, (list, tuple, np.ndarray)) else [given]
    if len(each) != len(body):
        raise ScenarioError(
            f"added_mass of {len(body)} bodies must be a list of as many 6 x 6 matrices, with None for a body without, "
            f"but {len(each)} were given"
        )
    return tuple(np.zeros((6, 6)) if one is None else _check_added_matrix(one) for one in each)


def _check_added_matrix(given: Any) -> Array:
    matrix = validation.check_numbers(given, "added_mass", (6, 6), ScenarioError)
    size = np.sqrt(np.abs(np.diagonal(matrix, axis1=-2, axis2=-1)))
    scale = size[..., :, None] * size[..., None, :] + np.abs(matrix).max() * np.finfo(float).eps
    off = np.abs(matrix - matrix.swapaxes(-1, -2))
    if (off > 1e-9 * scale).any():
        i, j = (int(k) for k in np.unravel_index(int(np.argmax(off.reshape(-1, 6, 6).max(axis=0))), (6, 6)))
        a, b = (float(np.ravel(matrix[..., r, c])[0]) for r, c in ((i, j), (j, i)))
        raise ScenarioError(
            f"added_mass must be symmetric, but entry ({i}, {j}) is {a:g} and entry ({j}, {i}) is {b:g}: average the "
            "two if a solver found them, (A + A.T)/2, and ask why they differ"
        )
    return np.asarray((matrix + matrix.swapaxes(-1, -2)) / 2)


def check_positive_number(value: Any, name: str) -> float:
    """One number above zero."""
    if type(value) is float and 0.0 < value < math.inf and validation.following.trail is None:
        return value  # as nearly always
    number = validation.check_number(value, name, ScenarioError)
    if number <= 0:
        raise ScenarioError(f"{name} must be greater than 0, but is {number:g}")
    return number


def check_tolerances(given_rtol: Any, given_atol: Any) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """rtol and atol, each for position, attitude, momentum and spin."""
    rtol, atol = _four_tolerances(given_rtol, "rtol"), _four_tolerances(given_atol, "atol")
    if min(rtol) <= 0:
        raise ScenarioError(f"rtol must be greater than 0, but is {show(given_rtol)}")
    if min(rtol) > LARGEST_RTOL or max(rtol) > 1:
        raise ScenarioError(
            f"rtol must be at most {LARGEST_RTOL:g}, but is {show(given_rtol)}: it is the error relative to the size "
            "of each quantity, 1e-9 by default. Of four, those that do not matter may be up to 1"
        )
    if min(atol) < 0:
        raise ScenarioError(f"atol must not be negative, but is {show(given_atol)}")
    return rtol, atol


def check_break_times(given: Any) -> tuple[float, ...]:
    """Times across which no step may reach, in order."""
    if isinstance(given, tuple) and not given:
        return ()
    times = np.atleast_1d(validation.check_numbers(given, "breaks", validation.shape_of(given), ScenarioError))
    if times.ndim != 1:
        raise ScenarioError(f"breaks must be a list of times, in s, but has the shape {times.shape}")
    return tuple(sorted(times.tolist()))


def check_output_times(given: Any, start: float, end: float) -> Array:
    """Increasing times within the run."""
    times = np.atleast_1d(validation.check_numbers(given, "output_times", validation.shape_of(given), ScenarioError))
    if times.ndim != 1 or times.size == 0:
        raise ScenarioError(f"output_times must be a list of at least one time, but has the shape {times.shape}")
    if (np.diff(times) <= 0).any():
        at = int(np.argmax(np.diff(times) <= 0))
        raise ScenarioError(f"output_times must increase, but {times[at + 1]:g} s follows {times[at]:g} s")
    if times[0] < start or times[-1] > end:
        raise ScenarioError(
            f"output_times range from {times[0]:g} to {times[-1]:g} s, but the run from {start:g} to {end:g} s"
        )
    return times


def check_output_count(duration: float, every: float, end: float) -> None:
    """Refuse more output times than memory holds, or than the time can tell apart."""
    if not duration <= MOST_OUTPUTS * every:
        raise ScenarioError(
            f"an output every {every:g} s for {duration:g} s makes more than {MOST_OUTPUTS:,} outputs: "
            "choose a longer output_step, or give output_times"
        )
    if end - every == end:
        raise ScenarioError(
            f"at the time {end:g} s an output_step of {every:g} s is lost to rounding: "
            "count the time from the start of the run"
        )


def _check_list(given: Any, name: str) -> list[Any]:
    if isinstance(given, (Force, str)) or not isinstance(given, Sequence):
        found = f"the force {given.name} alone" if isinstance(given, Force) else show(given)
        raise ScenarioError(f"{name} must be a list, {name}=[...], not {found}")
    return list(given)


def _four_tolerances(given: Any, name: str) -> tuple[float, ...]:
    if type(given) is float and -math.inf < given < math.inf:
        return (given,) * 4
    values = validation.check_numbers(given, name, validation.shape_of(given), ScenarioError)
    if values.shape not in ((), (4,)):
        raise ScenarioError(
            f"{name} must be one number, or four (for position, attitude, momentum and spin), not {show(given)}"
        )
    return tuple(np.broadcast_to(values, (4,)).tolist())


# Arguments together ---------------------------------------------------------------------------------------------------
def validate_scenario(scenario: Scenario) -> None:
    """Refuse a scenario whose parts do not fit together, in a sentence that says what to do."""
    _validate_method(scenario)
    _validate_forces(scenario)
    _validate_events(scenario)
    if scenario.is_extended:
        _validate_extended(scenario)
    if scenario.contacts:
        validate_contacts(scenario)
    _validate_resolution(scenario)
    _ = scenario.times, scenario.members
    if scenario.used_method.is_adaptive and not scenario.used_method.is_closed_form:
        _validate_magnitudes(scenario)


def _validate_resolution(scenario: Scenario) -> None:
    """Refuse steps that change no time."""
    if scenario.duration < SHORTEST:
        raise ScenarioError(f"duration {scenario.duration:g} s is too short to be divided: choose other units of time")
    step, start, end = scenario.step or scenario.duration, scenario.start_time, scenario.end_time
    if start + step == start:
        raise ScenarioError(
            f"at the time {start:g} s a step of {step:g} s is lost to rounding: "
            "count the time from the start of the run"
        )
    if scenario.used_method.needs_step and end - step == end:
        raise ScenarioError(
            f"at the end, {end:g} s, a step of {step:g} s is lost to rounding: choose a longer step, or a shorter "
            "duration"
        )


def _validate_magnitudes(scenario: Scenario) -> None:
    """Refuse masses, positions and momenta whose squares overflow, and masses whose squares underflow."""
    c, (x, _, p, spin, *_) = scenario.problem.constants, scenario.problem.start
    if (scenario.members or 1) > MANY_MEMBERS:  # it runs in pieces, each with numbers of its own
        scenario.__dict__.pop("problem")
    vectors = {"mass": (c.mass,), "moments": c.moments, "position": x, "linear momentum": p, "spin": spin}
    found = {name: max(float(np.max(np.abs(part))) for part in vector) for name, vector in vectors.items()}
    outside = {name: size for name, size in found.items() if not size <= LARGEST_SIZE}
    lightest = float(np.min(c.mass))
    if lightest < 1 / LARGEST_SIZE:
        outside["mass"] = lightest
    for name, size in outside.items():
        raise ScenarioError(
            f"{name} {size:g}, in SI units, is beyond what {scenario.used_method.name!r} can control the error of, "
            f"{1 / LARGEST_SIZE:g} to {LARGEST_SIZE:g}: it compares squares. Choose units in which nothing is so large "
            "or so small, or a method with fixed steps"
        )


def validate_bodies(scenario: Scenario) -> None:
    """Refuse bodies and states that are none, or do not fit together."""
    for kind, given in ((Body, scenario.bodies), (State, scenario.states)):
        for one in given:
            if not isinstance(one, kind):
                raise ScenarioError(
                    f"{show(one)} is not a ph.{kind.__name__}: give one, or a list of them for a system"
                )
    if not scenario.bodies:
        raise ScenarioError("a scenario needs at least one body")
    for number, body in enumerate(scenario.bodies):
        if body.is_line:
            raise ScenarioError(
                f"body {number} has no extent across a line: its moment about it is 0, so Euler's third equation "
                "is 0/0. Give it a radius, as in ph.shapes.thin_rod(length, radius, mass=...), or another part"
            )
    if len(scenario.states) != len(scenario.bodies):
        raise ScenarioError(f"{len(scenario.bodies)} bodies need as many states, but {len(scenario.states)} were given")
    if len({state.time for state in scenario.states}) > 1:
        raise ScenarioError("all bodies of a system must start at the same time: their states' times differ")
    if scenario.pivot is not None:
        if scenario.is_system:
            raise ScenarioError("a pivot holds one body: give the body by itself, not in a list")
        _validate_velocity_about_pivot(scenario)


def _validate_velocity_about_pivot(scenario: Scenario) -> None:
    """The velocity of the center of mass follows from the rotation about the pivot: zero means that."""
    _ = scenario.members  # as many of everything
    given, state, pivot = scenario.states[0].velocity, scenario.states[0], np.asarray(scenario.pivot)
    with np.errstate(over="ignore"):
        moment = scenario.bodies[0].mass * (pivot * pivot).sum(axis=-1)
    validation.check_still_finite(np.asarray(moment), "the moment of inertia about the pivot")
    pivot_to_com = pivot_to_com_world(as_leaves(state.quaternion_wxyz), as_leaves(pivot))
    turning = stack_components(com_velocity(as_leaves(state.angular_velocity), pivot_to_com))
    off = np.linalg.norm(given - turning, axis=-1) > 1e-9 * np.linalg.norm(turning, axis=-1)
    if np.any(given) and off.any():
        raise ScenarioError(
            "with a pivot the velocity of the center of mass follows from the angular velocity: leave it at zero"
        )


def _validate_gpu(scenario: Scenario, method: Any) -> None:
    precision = validation.check_word(scenario.precision, "precision", PRECISIONS, ScenarioError)
    if scenario.engine != "gpu":
        if precision != "strict":
            raise ScenarioError(f"precision={precision!r} is for engine='gpu'; the CPU computes with 64 bits, strictly")
        return
    if scenario.contacts:
        raise ScenarioError("contacts run on the CPU only: use engine='cpu'")
    if method.is_taylor_series:
        raise ScenarioError("Taylor series run on the CPU only: use engine='cpu', or method='dop853' on the GPU")
    rotates_exactly = method.is_closed_form or (method.composition is not None and method.composition.drift == "exact")
    if precision == "single" and rotates_exactly:
        raise ScenarioError(
            f"method {method.name!r} rotates bodies by a closed form that needs 64 bits: use precision='strict' or "
            "'fused', or another method with fixed steps"
        )
    if precision == "single" and (method.is_adaptive or scenario.events):
        what = "events are located" if scenario.events else f"the steps of {method.name!r} are controlled"
        raise ScenarioError(
            f"precision='single' has about seven digits, too few where {what} by differences of close numbers: use "
            "'strict' or 'fused', or a method with fixed steps and no events"
        )


def _validate_method(scenario: Scenario) -> None:
    validation.check_word(scenario.method, "method", (*METHODS, AUTO), ScenarioError, suggest_name)
    validation.check_word(scenario.formulation, "formulation", FORMULATIONS, ScenarioError)
    validation.check_word(scenario.engine, "engine", ENGINES, ScenarioError)
    method = scenario.used_method
    _validate_gpu(scenario, method)
    if scenario.method != AUTO:
        if method.is_closed_form and (obstacle := closed_form_obstacle(scenario)) is not None:
            raise ScenarioError(
                f"method {method.name!r} is the closed form of a body on which at most uniform gravity acts, but "
                f"{obstacle}: use method='auto', which finds the best"
            )
        if method.formulations is not None and scenario.formulation not in method.formulations:
            raise ScenarioError(
                f"{method.name} advances momenta: it goes with formulation 'momentum', not with "
                f"{scenario.formulation!r}"
            )
        if method.is_adaptive:
            _check_least_tolerance(method.name, *scenario.tolerances)
    elif min(scenario.tolerances[0]) < LEAST_RTOL:
        raise ScenarioError(
            f"rtol {min(scenario.tolerances[0]):g} is finer than numbers of 16 digits can hold: {LEAST_RTOL:g} is the "
            "least that method='auto' can promise"
        )
    step = scenario.needed_step if method.needs_step else scenario.step
    if not method.is_closed_form and step is not None and step > scenario.duration:
        raise ScenarioError(
            f"step {step:g} s is longer than the duration {scenario.duration:g} s: choose a shorter step"
        )
    if scenario.method == AUTO and scenario.step is not None:
        warn_of_step(scenario.step, method)
    if not (isinstance(scenario.largest_turn, float) and scenario.largest_turn == np.inf):
        check_positive_number(scenario.largest_turn, "largest_turn")
    validation.check_flag(scenario.renormalize, "renormalize", ScenarioError)
    validation.check_text(scenario.name, "name", ScenarioError)
    _ = scenario.tolerances


def _check_least_tolerance(method: str, rtol: tuple[float, ...], atol: tuple[float, ...]) -> None:
    """Refuse an rtol that no step can meet, where no atol allows more."""
    least = min((one for one, other in zip(rtol, atol, strict=True) if other == 0), default=1.0)
    if least < LEAST_STEP_RTOL:
        raise ScenarioError(
            f"rtol {least:g} is finer than numbers of 16 digits can hold: {LEAST_STEP_RTOL:g} is the least that the "
            f"steps of method {method!r} can be controlled by"
        )


def warn_of_step(step: float, method: Any) -> None:
    """Say what became of a step that was given without a method; once, not again of a copy by `replace`."""
    level = find_stacklevel()
    if sys._getframe(level - 1).f_code.co_filename == dataclasses.__file__:
        return
    fate = (
        "the closed form, which takes no steps: step is not used"
        if method.is_closed_form
        else f"which chooses its steps by rtol: {step:g} s is only the first that it tries"
    )
    warnings.warn(
        f"step={step:g} s was given without a method, and method='auto' takes {method.name!r}, {fate}. For steps of "
        "that length name a method, such as method='rk4'; otherwise leave step out",
        MethodWarning,
        stacklevel=level,
    )


def _validate_forces(scenario: Scenario) -> None:
    for f in scenario.forces:
        if f.kind == "pair" and len(scenario.bodies) < 2:
            raise ForceError(f"{f.name} acts between bodies: give at least two, in a list")
        _validate_indices(scenario, f.bodies, f"{f.name} acts on", ForceError)
    validate_earths(scenario)
    for f in scenario.forces:
        if f.environment is not None:
            for state in scenario.states if f.bodies is None else [scenario.states[b] for b in f.bodies]:
                if (sentence := describe_bad_function(f, state.time, state)) is not None:
                    raise ForceError(sentence)
                if (sentence := describe_start_outside(f, state.time, state)) is not None:
                    raise ScenarioError(sentence)


def _validate_extended(scenario: Scenario) -> None:
    """Bodies with rotors, or with a mass that changes."""
    what = "a mass that changes" if scenario.mass_course is not None else "added mass"
    what = "rotors" if scenario.rotors else what
    for rotor in scenario.rotors:
        _validate_indices(scenario, (rotor.body,), f"{rotor.name} is in", ScenarioError)
        if scenario.bodies[rotor.body].is_particle:
            raise ScenarioError(
                f"{rotor.name} is in a particle, which does not turn: give a body with moments of inertia"
            )
    if scenario.contacts:
        raise ScenarioError(f"a body with {what} cannot have contacts yet: leave them out")
    method = scenario.used_method
    if method.tableau is None or method.formulations is not None:
        able = [m.name for m in METHODS.values() if m.tableau is not None and m.formulations is None]
        raise ScenarioError(f"method {method.name!r} does not advance {what}: use 'auto', or one of {', '.join(able)}")
    if scenario.formulation != "momentum":
        raise ScenarioError(
            f"a body with {what} is computed in formulation 'momentum', not in {scenario.formulation!r}: leave "
            "formulation out"
        )
    if scenario.mass_course is not None:
        _validate_mass_course(scenario)
    if scenario.added_mass is not None:
        if scenario.pivot is not None:
            raise ScenarioError("a body with added mass cannot have a pivot yet: leave out the pivot, or added_mass")
        if scenario.mass_course is not None:
            raise ScenarioError("a body with added mass cannot have a mass that changes yet: leave out one of the two")
        if any(body.is_particle for body in scenario.bodies):
            raise ScenarioError("added mass acts on bodies that turn, not on particles: give moments of inertia")
    _ = scenario.problem.constants  # refuses rotors that are too large for their body


def _validate_mass_course(scenario: Scenario) -> None:
    course: Any = scenario.mass_course
    if not isinstance(course, MassCourse):
        raise ScenarioError(f"mass_course must be made with ph.mass_course(times, mass, ...), not {show(course)}")
    if scenario.is_system:
        raise ScenarioError("a mass course is that of one body: give the body by itself, not in a list")
    if scenario.pivot is not None:
        raise ScenarioError(
            "a body whose mass changes cannot have a pivot yet: leave out the pivot, or the mass course"
        )
    if scenario.bodies[0].is_particle:
        raise ScenarioError("a particle has no inertia that could change: give a body with moments, ph.Body(...)")
    if scenario.bodies[0].members is not None:
        raise ScenarioError("a mass course is the same for all members: give a body without an axis for members")
    if any(rotor.members is not None for rotor in scenario.rotors):
        raise ScenarioError("with a mass course the rotors are the same for all members: give single numbers")
    check_course(course, scenario.bodies[0], scenario.start_time, scenario.rotors)


def _validate_events(scenario: Scenario) -> None:
    for e in scenario.events:
        _validate_indices(scenario, e.bodies, f"{e.name} watches", ScenarioError)


def _validate_indices(
    scenario: Scenario, bodies: tuple[int, ...] | None, what: str, error: type[ForceError] | type[ScenarioError]
) -> None:
    out_of_range = [b for b in bodies or () if not 0 <= b < len(scenario.bodies)]
    if out_of_range:
        raise error(f"{what} body {show(out_of_range[0])}, but the bodies are numbered 0 to {len(scenario.bodies) - 1}")
