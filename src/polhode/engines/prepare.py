"""From a scenario's structure to its inner loops: what depends on the forces and the method, but on no number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import groupby
from threading import RLock
from typing import Any, NamedTuple

from polhode.engines import adaptive, adaptive_driver, event_actions, event_detection, kernels, segments, systems
from polhode.engines.exact_kernel import looks
from polhode.engines.kernels import Layout
from polhode.engines.splitting_loops import drift_of_all, splitting_sweep
from polhode.equations.formulations import FORMULATIONS, Formulation
from polhode.equations.free_motion import freely_moved
from polhode.equations.law import Groups
from polhode.equations.right_hand_side import (
    driven,
    jumps_of,
    moved_by,
    struck_by,
    together,
    values_of,
    view_of,
    without_spin,
)
from polhode.methods.dense_output import dense_stages
from polhode.methods.drifts import drifting
from polhode.methods.registry import METHODS
from polhode.methods.runge_kutta import one_step
from polhode.methods.splitting import kick_table, splitting_step
from polhode.methods.splitting_tableaus import Composition
from polhode.methods.tableaus import Table
from polhode.model.force import Force, map_leaves
from polhode.model.preflight import asks_for_velocity
from polhode.model.scenario import Scenario

LANES = 32
"""Bodies a block: enough to spread the cost of a call, few enough for the block to stay in the nearest cache."""
CURVE = 7
"""How many coefficients the curve between the ends of a step has."""
FEW = 8
"""Fewer bodies than this run one by one: most lanes of a block would be empty."""


_ALONE = RLock()


class Structure(NamedTuple):
    """All that the machine code of a run depends on."""

    engine: str
    formulation: str
    method: str
    renormalize: bool
    pivoted: bool
    counts_work: bool
    spin_stays: bool
    """Whether nothing can change the angular momentum, so that no step need touch it."""
    lanes: int
    load_kernels: tuple[Callable[..., Any], ...]
    load_shape: Groups
    pair_kernels: tuple[Callable[..., Any], ...]
    pair_shapes: Groups
    needs_velocity: bool = False
    """Of a splitting method: whether a force asks for velocities, and so changes during a kick."""
    dense: bool = False
    """Whether an adaptive method must show states inside its steps."""
    in_step: bool = False
    """Whether all bodies share one clock although they do not feel each other: events concern them together."""
    event_kernels: tuple[tuple[Callable[..., Any], Callable[..., Any] | None], ...] = ()
    """The function of each event, and the change that it makes."""
    event_shape: Groups = ()


class Prepared(NamedTuple):
    """The loops of a structure, and where they find their numbers."""

    layout: Layout
    advance: Callable[..., Any]
    is_adaptive: bool
    is_coupled: bool


def structure_of(scenario: Scenario, counts_work: bool) -> Structure:
    """What a scenario's machine code depends on."""
    pairs = scenario.of_kind("pair")
    is_adaptive, events = scenario.used_method.is_adaptive, scenario.events
    alone = bool(events) and scenario.members is not None
    return Structure(
        scenario.engine,
        scenario.form.name,
        scenario.used_method.name,
        scenario.renormalize,
        scenario.pivot is not None,
        counts_work,
        _spin_stays(scenario, is_adaptive, counts_work),
        1 if scenario.count < FEW or alone or scenario.engine == "python" else LANES,
        scenario.load_kernels(),
        map_leaves(lambda _: 0, scenario.load_params()),
        tuple(kernel for kernel, _, _ in alike(pairs)),
        tuple(shape for _, shape, _ in alike(pairs)),
        scenario.used_method.composition is not None and asks_for_velocity(scenario),
        is_adaptive and (bool(events) or segments.has_output_inside(scenario)),
        bool(events) and scenario.is_system,
        tuple((e.kernel, e.change) for e in events),
        map_leaves(lambda _: 0, tuple(e.params for e in events)),
    )


def _spin_stays(scenario: Scenario, adaptive: bool, counts_work: bool) -> bool:
    """Only where the spin is the state's last group, and an angular momentum in world axes."""
    is_momentum = scenario.formulation in ("momentum", "momentum_matrix") and scenario.pivot is None
    turning = any(f.turns for f in scenario.forces if f.kind != "impulse")
    return is_momentum and not adaptive and not counts_work and not turning


def prepared(structure: Structure) -> Prepared:
    """The loops for a structure, compiled if the engine compiles; by one thread at a time, as laws are listed."""
    with _ALONE:
        return _prepared(structure)


@lru_cache(maxsize=256)
def _prepared(structure: Structure) -> Prepared:
    if structure.method == "exact":
        return _without_steps(structure)
    form, method = FORMULATIONS[structure.formulation], METHODS[structure.method]
    if method.composition is not None:
        return _with_kicks_and_drifts(structure, form, method.composition)
    table = method.table
    assert table is not None
    if table.error_rows is not None:
        return _with_controlled_steps(structure, form, table)
    coupled = bool(structure.pair_kernels)
    layout = _layout(structure, len(table.nodes) if coupled else 0, False)
    tidy = form.tidied if structure.renormalize else form.watched
    rescaled = table.rescaled_stages and structure.renormalize
    if coupled:
        _, sum_up, run_stages = _system_loops(structure, form, table, layout, rescaled)
        settle = kernels.settling(tidy, layout, layout.point)
        sweep = systems.system_sweep(run_stages, sum_up, settle, table, layout)
    else:
        rate = driven(form, together(structure.load_kernels), structure.pivoted, structure.counts_work, rescaled)
        stepped = without_spin(rate) if structure.spin_stays else rate
        sweep = kernels.independent_sweep(one_step(table, stepped), tidy, layout)

    def built(tag: str) -> Callable[..., Any]:
        return kernels.fixed_steps(sweep, layout, tag)

    return Prepared(layout, _compiled(structure, built), False, coupled)


def _system_loops(structure: Structure, form: Formulation, table: Table, layout: Layout, rescaled: bool) -> Any:
    """The slopes of a stage, the sums of slopes, and all stages of a step, for bodies that feel each other."""
    view = view_of(form, structure.pivoted)
    moved = moved_by(form, structure.pivoted, structure.counts_work, rescaled)
    numbered_shapes = [_numbered(shape, 0, 1) for shape in structure.pair_shapes]
    places, sizes = [p for p, _ in numbered_shapes], [size for _, size in numbered_shapes]
    between = systems.pair_loads(structure.pair_kernels, places, sizes, view, layout)
    evaluate = systems.stage_slopes(view, together(structure.load_kernels), moved, between, layout)
    sum_up = systems.stage_sums(layout)
    return evaluate, sum_up, systems.all_stages(table, evaluate, sum_up, layout)


def _with_controlled_steps(structure: Structure, form: Formulation, table: Table) -> Prepared:
    """The loops of an adaptive method."""
    coupled, dense = bool(structure.pair_kernels) or structure.in_step, structure.dense
    # Stage by stage takes half the time to compile and twice the time to run: that is better where outputs are wanted.
    stepwise = coupled or bool(structure.event_kernels) or (dense and structure.lanes == 1)
    layout = _layout(structure, len(table.nodes) if stepwise else 0, True, table if dense else None, True)
    tidy = form.tidied if structure.renormalize else form.watched
    if stepwise:
        evaluate, sum_up, run_stages = _system_loops(structure, form, table, layout, False)
        attempt = adaptive.system_attempt(run_stages, sum_up, table, layout)
        settle = adaptive.system_settling(kernels.settling(tidy, layout, layout.trial), layout)
        fit = adaptive.system_fitting(evaluate, sum_up, table, layout) if dense else None
    else:
        rate = driven(form, together(structure.load_kernels), structure.pivoted, structure.counts_work)
        attempt = adaptive.lane_attempt(rate, table, layout)
        settle = adaptive.lane_settling(tidy, layout)
        fit = adaptive.lane_fitting(rate, table, layout) if dense else None
    mark = adaptive_driver.marking(layout)
    show = adaptive_driver.showing(mark, layout, stepwise)
    inside = (
        adaptive_driver.nothing_inside
        if fit is None
        else adaptive_driver.showing_inside(tidy, fit, mark, layout, stepwise)
    )

    def built(tag: str) -> Callable[..., Any]:
        if structure.event_kernels:
            return events_with(structure, form, attempt, fit, show, inside, settle, layout, tag)
        if coupled or structure.lanes == 1:
            return adaptive_driver.unit_by_unit(attempt, show, inside, settle, tag)
        return adaptive_driver.lane_by_lane(attempt, show, inside, settle, layout, tag)

    return Prepared(layout, _compiled(structure, built), True, coupled)


def events_with(
    structure: Structure,
    form: Formulation,
    attempt: Any,
    fit: Any,
    show: Any,
    inside: Any,
    settle: Any,
    layout: Layout,
    tag: str,
) -> Callable[..., Any]:
    """The outermost loop of a run with events."""
    view, tidy = view_of(form, structure.pivoted), form.tidied if structure.renormalize else form.watched
    look = event_detection.looking(values_of([kernel for kernel, _ in structure.event_kernels]), view, layout)
    look_through = event_detection.watching(fit, attempt, look, tidy, layout)
    jumps = jumps_of([change for _, change in structure.event_kernels])
    happen = event_actions.happening(look, view, jumps, struck_by(form, structure.pivoted), layout)
    return event_actions.unit_by_unit(attempt, show, inside, settle, look_through, happen, layout, tag)


def _with_kicks_and_drifts(structure: Structure, form: Formulation, composition: Composition) -> Prepared:
    """The loops of a splitting method."""
    coupled = bool(structure.pair_kernels)
    table = kick_table(composition, structure.needs_velocity, structure.counts_work)
    layout = _layout(structure, len(table.nodes) if coupled else 0, False)
    tidy = form.tidied if structure.renormalize else form.watched
    if coupled:
        _, sum_up, run_stages = _system_loops(structure, form, table, layout, False)
        untouched = kernels.settling(form.watched, layout, layout.point)
        kick = systems.system_sweep(run_stages, sum_up, untouched, table, layout)
        drift_all = drift_of_all(drifting(composition.drift), layout)
        sweep = splitting_sweep(composition, kick, drift_all, kernels.settling(tidy, layout, layout.state))
    else:
        rate = driven(form, together(structure.load_kernels), structure.pivoted, structure.counts_work)
        sweep = kernels.independent_sweep(splitting_step(composition, rate, table), tidy, layout)

    def built(tag: str) -> Callable[..., Any]:
        return kernels.fixed_steps(sweep, layout, tag)

    return Prepared(layout, _compiled(structure, built), False, coupled)


def _without_steps(structure: Structure) -> Prepared:
    """The loop of the closed form."""
    form, layout = FORMULATIONS[structure.formulation], _layout(structure, 0, True)
    moved = freely_moved(together(structure.load_kernels))
    tidy = form.tidied if structure.renormalize else form.watched

    def built(tag: str) -> Callable[..., Any]:
        return looks(moved, tidy, layout, tag)

    return Prepared(layout, _compiled(structure, built), False, False)


def _compiled(structure: Structure, built: Callable[[str], Callable[..., Any]]) -> Callable[..., Any]:
    """The outermost loop as machine code, if the engine compiles; its tag tells the code that it reaches."""
    if structure.engine == "python":
        return built("")
    from numba.core.compiler_lock import global_compiler_lock

    from polhode.engines.compiler import compiled, fingerprint

    with global_compiler_lock:  # laws are made known to Numba, which may be compiling for another thread
        return compiled(built(fingerprint(built(""))))


def alike(pairs: Sequence[Force]) -> list[tuple[Callable[..., Any], Groups, list[Force]]]:
    """Pair forces that follow each other with the same function and shape of parameters: a chain is one loop."""
    runs = groupby(pairs, key=lambda f: (f.kernel, map_leaves(lambda _: 0, f.params)))
    return [(kernel, shape, list(forces)) for (kernel, shape), forces in runs]


def _layout(
    structure: Structure, stages: int, tries: bool, dense: Table | None = None, has_clock: bool = False
) -> Layout:
    """Give every number of a block its place."""
    lanes = structure.lanes
    sizes = FORMULATIONS[structure.formulation].sizes + ((1,) if structure.counts_work else ())
    shape = tuple((0,) * size for size in sizes)
    state, end = _numbered(shape, 0, lanes)
    watch, kept = end, end + lanes
    body, end = _numbered((0, 0, (0,) * 3, (0,) * 3, (0,) * 4, (0,) * 3), kept, lanes)
    params, end = _numbered(structure.load_shape, end, lanes)
    watched, end = _numbered(structure.event_shape, end, lanes)
    least, end = _numbered((0,) * 4 if has_clock else (), end, lanes)
    clock, carried = _numbered((0,) * 5 if has_clock else (), end, lanes)
    trial, end = _numbered(shape if tries else (), carried, lanes)
    point, end = _numbered(shape if stages else (), end, lanes)
    wrench, end = _numbered(((0,) * 3, (0,) * 3) if stages else (), end, lanes)
    attempt, end = _numbered((0,) * 2 if has_clock else (), end, lanes)
    if dense is not None:
        stages = stages + 1 + len(dense_stages(dense).stages) if stages else len(dense_stages(dense).used)
    slopes, end = _numbered((shape,) * stages, end, lanes)
    curve = slopes[:CURVE]
    if structure.event_kernels:  # a step that is looked through for events may be shown afterwards
        curve, end = _numbered((shape,) * CURVE, end, lanes)
    rooms = (trial, point, wrench, slopes, curve, attempt, end)
    return Layout(lanes, state, watch, kept, body, params, watched, least, clock, carried, *rooms)


def _numbered(shape: Any, start: int, stride: int) -> tuple[Any, int]:
    """The shape with its numbers counted from `start` in strides, and where the count ends."""
    if not isinstance(shape, tuple):
        return start, start + stride
    places = []
    for part in shape:
        place, start = _numbered(part, start, stride)
        places.append(place)
    return tuple(places), start
