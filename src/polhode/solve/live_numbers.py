"""From knobs to the numbers of a run: the builder of a scenario traced once, and verified against itself.

The builder runs once with numbers that remember how they were made (`polhode.solve.knob_trail`).  Whatever number
of the run has the bits of a number on the trail is a candidate; it counts only if the recorded arithmetic gives the
same bits as the builder at every verified set of values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import PolhodeError
from polhode.ir.graph import Graph, Place, Trace
from polhode.ir.targets.javascript import JAVASCRIPT
from polhode.ir.targets.source import SourceFunction
from polhode.scenario.method_choice import AUTO
from polhode.scenario.scenario import Scenario
from polhode.solve.knob_trail import Trail, evaluate_for, following_knobs, logging_numbers
from polhode.solve.write_source import SourceExporter, settle_scenario
from polhode.validation import Array

RANDOM_SETS = 128
"""Random sets of values at which the recorded arithmetic is compared with the builder, besides the corners."""
MOST_CORNERS = 32
SEED = 20
EXTRA, OPTIONAL = "extra ", "extra optional "
"""Names of additional groups begin so; those of an optional group may depend on knobs in any way."""
Extra = Callable[[Scenario, Mapping[str, float]], Mapping[str, Any]]
"""Additional groups of numbers of a scenario and the values that it was built from."""
LOGGED = 8
"""Runs that tell numbers apart which are equal by accident in the trace."""
ATTEMPTS = 3
"""Traces at different values: at one of them two numbers may be equal by accident."""
Build = Callable[..., Scenario]


class KnobRange(NamedTuple):
    """A number that can be turned, with its range."""

    name: str
    low: float
    high: float


class RunNumbers(NamedTuple):
    """All numbers of a run, by what they are, and its structure, which knobs must not change."""

    groups: dict[str, Array]
    structure: tuple[Any, ...]
    exporter: SourceExporter


class KnobError(PolhodeError):
    """A knob that does not reach the numbers through arithmetic that can be recorded."""


class LiveNumbers(NamedTuple):
    """The numbers of a run at the values given, and the function that makes those that depend on knobs."""

    base: RunNumbers
    """Without additional groups that no knob changes."""
    function: SourceFunction
    """knobs -> numbers; the last of them is 1 where every comparison had the same result as in the trace, else 0."""
    places: list[int]
    """Which numbers it makes: indices into all groups, one after the other."""
    unfollowed: tuple[str, ...]
    """Optional groups that depend on knobs in another way."""


def settle_for_page(scenario: Scenario) -> Scenario:
    """The scenario with a method that a page can run: what "auto" chooses for these values."""
    if scenario.method != AUTO or scenario.used_method.is_closed_form:
        return scenario
    settled = settle_scenario(replace(scenario, events=()))
    return replace(scenario, method=settled.method, formulation=settled.formulation, rtol=settled.rtol)


def run_numbers(scenario: Scenario, extra: Mapping[str, Any] | None = None) -> RunNumbers:
    """The numbers of a scenario whose method is known, with additional groups."""
    exporter = SourceExporter(settle_scenario(scenario), JAVASCRIPT)
    settled = exporter.scenario
    states, parameters = exporter.initial_numbers()
    starts, ends, *_ = zip(*exporter.segments, strict=True)
    step = [settled.needed_step] if settled.used_method.needs_step else []
    groups: dict[str, Any] = {
        "the initial state": states.ravel(),
        "the parameters of bodies and forces": parameters.ravel(),
        "the output times": settled.times,
        "the times of the run": [settled.start_time, *starts, *ends, *step],
        **(extra or {}),
    }
    return RunNumbers(
        {name: np.asarray(values, dtype=np.float64).ravel() for name, values in groups.items()},
        (
            static_tables(exporter),
            len(settled.times),
            settled.used_method.name,
            settled.form.name,
            settled.tolerances,
            tuple(exporter.constants().items()),
        ),
        exporter,
    )


MADE_TABLES = ("output_times", "segment_starts", "segment_ends", "stop_steps", "stop_rests")
"""Tables of a run that follow from its numbers."""


def static_tables(exporter: SourceExporter) -> dict[str, list[float]]:
    """The tables of a run that knobs must not change."""
    return {
        name: [float(value) for value in values]
        for name, values in exporter.tables().items()
        if name not in MADE_TABLES
    }


def trace_numbers(
    build: Build,
    knobs: Sequence[KnobRange],
    values: Mapping[str, float],
    extra: Extra | None = None,
    text: Callable[[SourceExporter], str] | None = None,
) -> LiveNumbers:
    """Trace a builder from its knobs, and verify it; raise KnobError with a sentence if some number is not reached.

    `values` are those of all parameters of the builder, of which `knobs` are to be live.  `text` gives what else must
    not depend on them.
    """
    points = verified_values(knobs, values)
    plain = [_numbers_at(build, point, extra) for point in points]
    base = plain[0]
    _check_structures(base, plain, points, text)
    for attempt in range(ATTEMPTS):
        try:
            return _trace_once(build, knobs, values, extra, points, plain, attempt)
        except KnobError:
            if attempt == ATTEMPTS - 1:
                raise
    raise AssertionError


def _numbers_at(build: Build, values: Mapping[str, float], extra: Extra | None) -> RunNumbers:
    scenario = build(**values)
    return run_numbers(scenario, None if extra is None else extra(scenario, values))


def _trace_once(
    build: Build,
    knobs: Sequence[KnobRange],
    values: Mapping[str, float],
    extra: Extra | None,
    points: list[dict[str, float]],
    plain: list[RunNumbers],
    attempt: int,
) -> LiveNumbers:
    base = plain[0]
    others = points[-LOGGED:]
    logs = []
    for point in others:
        with logging_numbers() as log:
            _numbers_at(build, point, extra)
        logs.append(log)
    with following_knobs(knob_columns(knobs, others), logs) as trail:
        generic = {**values, **{k.name: trail.knob(i, _generic(k, i, attempt)) for i, k in enumerate(knobs)}}
        traced = _numbers_at(build, generic, extra)
        if traced.structure != base.structure:
            raise KnobError(_structure_sentence(base, traced))
        found = np.concatenate(list(traced.groups.values()))
        wanted = np.array([np.concatenate(list(one.groups.values())) for one in plain])
        if wanted.shape[1] != len(found):
            raise KnobError("the number of numbers depends on it")
        names = [name for name, group in base.groups.items() for _ in group]
        nodes, places = _match(trail, knobs, points, found, wanted, names)
        bits = wanted.view(np.int64)
        changing = set(np.flatnonzero((bits != bits[0]).any(axis=0)).tolist())
        unfollowed = tuple(dict.fromkeys(names[i] for i in sorted(changing - set(places))))
        guards = _guard_node(trail, knobs, points)
        stores: dict[Place, int] = {("numbers", (), k): node for k, node in enumerate([*nodes, guards])}
        loads: dict[Place, int] = {trail.graph.args[i][0]: i for i, op in enumerate(trail.graph.ops) if op == "in"}
        trace = Trace(trail.graph, loads, stores)
    base, places = _drop_constant_groups(base, places)
    comment = "From the knobs to the numbers of the run that depend on them."
    function = SourceFunction("polhode_from_knobs", {"knobs": "in", "numbers": "out"}, trace, comment)
    return LiveNumbers(base, function, places, unfollowed)


def _drop_constant_groups(base: RunNumbers, places: list[int]) -> tuple[RunNumbers, list[int]]:
    """Leave out additional groups that do not change."""
    kept: dict[str, Array] = {}
    moved: dict[int, int] = {}
    at = dropped = 0
    for name, group in base.groups.items():
        own = [i for i in places if at <= i < at + len(group)]
        if name.startswith(EXTRA) and not own:
            dropped += len(group)
        else:
            kept[name] = group
            moved |= {i: i - dropped for i in own}
        at += len(group)
    return base._replace(groups=kept), [moved[i] for i in places]


def verified_values(knobs: Sequence[KnobRange], values: Mapping[str, float]) -> list[dict[str, float]]:
    """The sets of values at which a trace is verified: those given, the corners of the ranges, and random ones."""
    corners = list(product(*((k.low, k.high) for k in knobs)))[:MOST_CORNERS]
    random = np.random.default_rng(SEED)
    inside = [[k.low + (k.high - k.low) * float(random.random()) for k in knobs] for _ in range(RANDOM_SETS)]
    rows = [[values[k.name] for k in knobs], *corners, *inside]
    return [{**values, **dict(zip((k.name for k in knobs), row, strict=True))} for row in rows]


def _generic(knob: KnobRange, i: int, attempt: int) -> float:
    """A value inside the range with many digits, which no other number of the scenario has."""
    return knob.low + (knob.high - knob.low) * ((0.4142135623730951 + 0.6180339887498949 * (i + 7 * attempt)) % 1)


def _check_structures(base: RunNumbers, plain: list[RunNumbers], points: list[dict[str, float]], text: Any) -> None:
    for one in plain:
        if one.structure != base.structure or [len(g) for g in one.groups.values()] != [
            len(g) for g in base.groups.values()
        ]:
            raise KnobError(_structure_sentence(base, one))
    if text is not None:
        first = text(base.exporter)
        for one in (plain[1], plain[-1], plain[len(plain) // 2]):
            if text(one.exporter) != first:
                raise KnobError(
                    "the laws themselves depend on it: a function of a force reads it instead of a parameter"
                )


def _structure_sentence(base: RunNumbers, other: RunNumbers) -> str:
    if base.structure[1] != other.structure[1]:
        return f"the number of outputs depends on it ({base.structure[1]}, {other.structure[1]})"
    if base.structure[2:] != other.structure[2:]:
        return "the method, the formulation or the tolerance depends on it"
    return "the order of events in time, or the number of bodies, forces or parameters, depends on it"


def _match(
    trail: Trail,
    knobs: Sequence[KnobRange],
    points: list[dict[str, float]],
    found: Array,
    wanted: Array,
    names: list[str],
) -> tuple[list[int], list[int]]:
    """The node of every number that changes with the knobs, and its index."""
    bits = wanted.view(np.int64)
    changing = np.flatnonzero((bits != bits[0]).any(axis=0))
    candidates = [trail.candidates(found[i]) for i in changing]
    values = evaluate_for(trail.graph, [n for some in candidates for n in some], knob_columns(knobs, points))
    nodes: list[int] = []
    places: list[int] = []
    missing: dict[str, None] = {}
    for i, some in zip(changing.tolist(), candidates, strict=True):
        node = next((n for n in some if (values[n].view(np.int64) == bits[:, i]).all()), None)
        if node is not None:
            nodes.append(node)
            places.append(i)
        elif not names[i].startswith(OPTIONAL):
            missing["what is drawn" if names[i].startswith(EXTRA) else names[i]] = None
    if missing:
        lost = f" (by {', '.join(trail.lost)})" if trail.lost else ""
        is_one = list(missing) in (["the initial state"], ["what is drawn"], ["the shape that is drawn"])
        verb = "depends" if is_one else "depend"
        raise KnobError(f"{' and '.join(missing)} {verb} on it in a way that cannot be followed{lost}")
    return nodes, places


def knob_columns(knobs: Sequence[KnobRange], points: list[dict[str, float]]) -> list[Array]:
    """The values of each knob at some points."""
    return [np.array([point[k.name] for point in points]) for k in knobs]


def _guard_node(trail: Trail, knobs: Sequence[KnobRange], points: list[dict[str, float]]) -> int:
    """A node that is 1 where every comparison has the result that it had in the trace.

    One that had another result at a verified set of values, where all numbers were right, decides nothing.
    """
    graph = trail.graph
    asked = [(graph.add(op, a, b), truth) for (op, a, b), truth in trail.guards.items()]
    values = evaluate_for(graph, [node for node, _ in asked], knob_columns(knobs, points))
    total = graph.constant(1.0)
    for node, truth in asked:
        always = bool((np.broadcast_to(values[node], (len(points),)) == truth).all())
        if always and _depends(graph, node):
            zero = graph.constant(0.0)
            total = graph.add("sel", node, *((total, zero) if truth else (zero, total)))
    return total


def _depends(graph: Graph, node: int) -> bool:
    return any(graph.ops[i] == "in" for i in graph.live([node]))
