"""Contacts as a part of a scenario: what they go with, shapes that can touch, a start that is not inside a surface."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.equations.quaternions import to_body
from polhode.errors import ScenarioError
from polhode.scenario.contact import CONTACTS, BodyContact, Contact, HalfSpace, as_contact
from polhode.scenario.outline import outline_of, outline_size, outline_support
from polhode.scenario.part import ListPart, Plain
from polhode.scenario.setting import Setting
from polhode.scenario.state import State, stack_components
from polhode.validation import Array, as_leaves

if TYPE_CHECKING:
    from polhode.scenario.scenario import Scenario

CONTACT_METHODS = ("auto", "exact", "dop853")
CONTACT_FORMULATIONS = ("momentum", "body_rates")
"""The default, which contacts replace, and the one that they are computed in."""
DEEPEST_START = 1e-9
"""How deep in a surface a body may start, as a fraction of its size."""
ROUNDING = 8 * np.finfo(float).eps


class ContactsPart(ListPart):
    """What the bodies can touch."""

    setting = Setting(
        "contacts",
        "Sequence[Contact]",
        "tuple[Contact, ...]",
        "()",
        "sequence, optional",
        "What the bodies can touch: `ph.floor`, `ph.wall`, `ph.slope`, `ph.between_bodies`, each with its restitution "
        'and friction.  Bodies are convex solids: their hulls.  For the methods "auto", "exact" and "dop853".',
        in_file=False,
    )
    words = "contacts"
    constrains = True
    runs_on_gpus = False
    needs_geometry = True
    kinds: Mapping[str, Callable[..., Any]] = CONTACTS
    example = "floor"

    def as_record(self, given: Any) -> Contact:
        return as_contact(given)

    def params(self, held: Any) -> Any:
        return ()

    def settle(self, held: Any, members: int | None) -> Any:
        return held

    def numbers(self, held: Any) -> list[Any]:
        return [x for one in held for x in one.arguments.values() if not isinstance(x, str)]

    def validate(self, scenario: Scenario) -> None:
        _validate_settings(scenario)
        outlines = [_outline(scenario, number) for number in range(len(scenario.bodies))]
        _ = scenario.members
        for surface in scenario.contacts:
            if isinstance(surface, HalfSpace):
                for number, outline in enumerate(outlines):
                    _validate_start(scenario, number, outline, surface)

    def write(self, one: Any, plain: Plain) -> dict[str, Any]:
        return {"kind": one.kind, **{key: plain(value) for key, value in one.arguments.items()}}


def _validate_settings(scenario: Scenario) -> None:
    if scenario.method not in CONTACT_METHODS:
        raise ScenarioError(
            f"contacts go with the methods 'auto', 'exact' and 'dop853', which find the time of an impact, not with "
            f"{scenario.method!r}: leave method out"
        )
    if scenario.formulation not in CONTACT_FORMULATIONS:
        raise ScenarioError(
            f"contacts are computed in formulation 'body_rates', not in {scenario.formulation!r}: leave formulation out"
        )
    for part in scenario.parts:
        if part.extends:
            raise ScenarioError(f"a body with {part.words} cannot have contacts yet: leave them out")
    if scenario.form.is_held:
        raise ScenarioError("contacts and a pivot do not go together: a body on a pivot is not free to rebound")
    if scenario.events:
        raise ScenarioError(
            f"contacts and events do not go together: leave out the event {scenario.events[0].name}, and look for it "
            "in the motion, or between two advances of a ph.Stepper"
        )
    pairs = [contact for contact in scenario.contacts if isinstance(contact, BodyContact)]
    if pairs and len(scenario.bodies) < 2:
        raise ScenarioError("ph.between_bodies is contact of two bodies: give at least two, in a list")
    if len(pairs) > 1:
        raise ScenarioError(
            f"contacts have {len(pairs)} of ph.between_bodies, but one holds for every two bodies: leave one"
        )


def _outline(scenario: Scenario, number: int) -> Array:
    try:
        return outline_of(scenario.bodies[number])
    except ScenarioError as error:
        if not scenario.is_system:
            raise
        raise ScenarioError(f"body {number}: {error}") from None


def _validate_start(scenario: Scenario, number: int, outline: Array, surface: HalfSpace) -> None:
    """Refuse a body that starts inside a surface."""
    state: State = scenario.states[number]
    down = stack_components(to_body(as_leaves(state.quaternion_wxyz), as_leaves(-surface.normal)))
    height = (state.position * surface.normal).sum(axis=-1) - surface.offset
    depth = np.atleast_1d(outline_support(outline, down) - height)
    reach = np.linalg.norm(state.position, axis=-1) + np.abs(surface.offset)
    inside = depth > DEEPEST_START * outline_size(outline) + ROUNDING * reach
    if not inside.any():
        return
    who, deepest = _which_body(scenario, number), float(depth.max())
    if scenario.members is not None:
        share = f"{int(np.broadcast_to(inside, scenario.members).sum())} of {scenario.members} members"
        raise ScenarioError(
            f"{who} starts inside the {surface.name} in {share}, at most {deepest:g} m deep in member "
            f"{int(depth.argmax())}: raise these by their depth along its normal"
        )
    raise ScenarioError(
        f"{who} starts {deepest:g} m inside the {surface.name}: raise it by {deepest:g} m along the normal, "
        f"to position=({_lifted(state, surface, deepest)})"
    )


def _lifted(state: State, surface: HalfSpace, depth: float) -> str:
    return ", ".join(f"{x:.12g}" for x in state.position + depth * surface.normal)


def _which_body(scenario: Scenario, number: int) -> str:
    return f"body {number}" if scenario.is_system else "the body"
