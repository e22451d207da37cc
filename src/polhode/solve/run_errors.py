"""The errors of runs that stop: which user function failed, which body, when, and the last good state."""

from __future__ import annotations

from typing import Any

from polhode.errors import (
    ForceError,
    InputError,
    NonFiniteError,
    RunError,
    SingularityError,
)
from polhode.integrate.run_result import Failure
from polhode.results.motion import Motion
from polhode.results.trajectory import state_from_sample
from polhode.scenario.flight_forces import describe_limit_reached
from polhode.scenario.preflight import locate_error
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State


def user_function_error(scenario: Scenario, error: Exception) -> InputError | None:
    """The sentence about a user's function that raised an error during the run, compiled or not."""
    for own in scenario.own_functions:
        if where := locate_error(own.function, error):
            return own.error(f"{own.name} fails during the run: {error}{where}")
    return None


def traced_error(scenario: Scenario, failure: Failure) -> InputError | None:
    """The sentence about a user's function that raises an error on some way: its numbers are NaN from there on."""
    for own in scenario.own_functions:
        problem = getattr(own.record.kernel, "problem", "")
        if problem and own.error is ForceError and failure.reason in ("non-finite", "stuck"):
            return ForceError(f"{own.record.name} fails during the run, after t = {failure.time:g} s: {problem}")
    return None


def run_error(failure: Failure, motion: Motion) -> RunError:
    """The sentence about a run that had to stop."""
    scenario, i = motion.scenario, failure.body
    who, one = f"body {i}", scenario
    if "member" in motion.axes:
        member, i = divmod(i, len(scenario.bodies))
        who, one = name_member(scenario, member, i), scenario.take(member)
    kind, sentence, last = describe_failure(failure, one, i, who)
    sentence += " What was computed until then is in this error's .motion."
    named = i if scenario.is_system else failure.body  # of an ensemble of single bodies: the member
    return kind(sentence, time=failure.time, body=named, last_good=last, motion=motion)


def name_member(scenario: Scenario, member: int, body: int) -> str:
    """What a sentence calls a body of a member of an ensemble."""
    return f"body {body} of member {member}" if scenario.is_system else f"member {member}"


def describe_failure(failure: Failure, scenario: Scenario, i: int, who: str) -> tuple[type[RunError], str, State]:
    """The kind of error, the sentence about a body that had to stop, and its last good state.

    The scenario has no members: it is that of a single run, or of the member that failed.
    """
    last = state_from_sample(scenario, i, failure.last_good, failure.time)
    kind: type[RunError] = NonFiniteError
    if (limit := _limit_reached(scenario, i, failure, last)) is not None:
        kind = RunError
        sentence = f"at t = {failure.time:g} s {who} leaves what is known: {limit}."
    elif failure.reason == "singular":
        kind = SingularityError
        sentence = (
            f"the Euler angles of {who} came too close to the vertical after t = {failure.time:g} s: phi turns by more "
            f"than {scenario.largest_turn:g} rad in one step. Use smaller steps, or a formulation without that "
            "singularity, such as 'momentum'."
        )
    elif failure.reason == "stuck":
        sentence = (
            f"at t = {failure.time:g} s {who} needs steps too short to tell from zero: a force becomes infinite or NaN "
            "there, or jumps. Look at the forces at the last good state."
        )
    elif failure.reason == "sliding":
        kind = RunError
        sentence = (
            f"at t = {failure.time:g} s a force reaches an if_less whose two branches each drive the motion to the "
            "side of the other, as dry friction does at rest: the motion cannot leave it. Make the force continuous "
            "over a short interval there, or stop the run by an event before."
        )
    elif failure.reason == "through":
        kind = RunError
        sentence = (
            f"at t = {failure.time:g} s {failure.event} stops {who}, and the forces then drive it on to the far side, "
            "from where no later crossing brings it back: a plastic landing takes the speed, but nothing holds the "
            "body against its weight. End the run there (action='stop'), let it rebound, or add a force that holds it."
        )
    elif failure.reason == "endless":
        kind = RunError
        sentence = (
            f"at t = {failure.time:g} s {failure.event} follows itself ever faster on {who}, as the bounces of a ball "
            "that comes to rest: infinitely many changes lie before any later time. Give the event a count=..., or "
            "stop the run by another event before that happens."
        )
    elif failure.reason == "painleve":
        kind = RunError
        sentence = (
            f"at t = {failure.time:g} s {who} slides so that no contact force, or more than one, fits Coulomb's law "
            "for a rigid body: friction presses the sliding point into the surface harder than it can be pushed away "
            "(Painleve's paradox). Rigid-body theory has no answer from here on; with less friction, or as a body that "
            "yields, it moves on."
        )
    elif failure.reason == "stalled":
        kind = RunError
        sentence = (
            f"at t = {failure.time:g} s the contacts of {who} change again and again without any time passing. Please "
            "report this motion with its start; a slightly different start avoids it."
        )
    elif failure.reason.startswith("starts inside"):
        kind = RunError
        sentence = (
            f"{who} {failure.reason}: the two overlap at t = {failure.time:g} s. Move them apart, or leave out "
            "ph.between_bodies if they may pass through each other."
        )
    elif failure.reason in ("inside", "overlap"):
        kind = RunError
        where = "inside a surface" if failure.reason == "inside" else "to overlap with another body"
        sentence = (
            f"at t = {failure.time:g} s {who} is found {where}: a contact was lost, and what follows would be "
            "wrong. Please report this motion with its start; a smaller rtol, or a slightly different start, avoids it."
        )
    elif failure.reason == "crowded":
        from polhode.integrate.contacts.contact_scene import MOST_POINTS

        kind = RunError
        sentence = (
            f"at t = {failure.time:g} s {who} touches at more than {MOST_POINTS} points at once: use a shape of "
            "ph.shapes instead of a fine mesh (a cylinder rests on its rim exactly), or a mesh with fewer corners."
        )
    else:
        sentence = (
            f"{who} became infinite or NaN after t = {failure.time:g} s. Use smaller steps or an adaptive "
            "method, or look at the forces at the last good state."
        )
    state = f"position {_format_vector(last.position)} m, velocity {_format_vector(last.velocity)} m/s, "
    state += f"angular velocity {_format_vector(last.angular_velocity_body)} rad/s in body axes"
    return kind, f"{sentence} Last good state: {state}.", last


def _limit_reached(scenario: Scenario, body: int, failure: Failure, last: State) -> str | None:
    """The sentence about the end of the air, the wind or a table, if that is where a body's run failed."""
    if failure.reason not in ("stuck", "non-finite"):
        return None
    for f in scenario.acting_forces:
        if f.bodies is None or body in f.bodies:
            sentence = describe_limit_reached(f, failure.time, last)
            if sentence is not None:
                return sentence
    return None


def _format_vector(vector: Any) -> str:
    return "(" + ", ".join(f"{component:.6g}" for component in vector) + ")"
