"""From the structure of a scenario to its compiled kernel: what depends on forces and method, but not on numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import groupby
from threading import RLock
from typing import Any, NamedTuple

from polhode.engines import adaptive, adaptive_driver, event_actions, event_detection, kernels, segments, systems
from polhode.engines.exact_kernel import build_exact_kernel
from polhode.engines.kernels import Layout
from polhode.engines.splitting_loops import splitting_sweep, system_drift
from polhode.equations.formulations import FORMULATIONS, Formulation
from polhode.equations.free_motion import build_free_motion
from polhode.equations.law import Groups
from polhode.equations.right_hand_side import (
    build_event_jumps,
    build_event_values,
    build_impulse_law,
    build_motion_law,
    build_right_hand_side,
    build_view,
    drop_spin_rate,
    sum_forces,
)
from polhode.methods.dense_output import dense_stages
from polhode.methods.drifts import build_drift
from polhode.methods.registry import METHODS
from polhode.methods.runge_kutta import build_step
from polhode.methods.splitting import build_splitting_step, kick_tableau
from polhode.methods.splitting_tableaus import Composition
from polhode.methods.tableaus import Tableau
from polhode.model.force import Force, map_leaves
from polhode.model.preflight import forces_need_velocity
from polhode.model.scenario import Scenario

LANES = 32
"""Bodies per block: enough to amortize a call, few enough for the block to stay in the L1 cache."""
INTERPOLANT_TERMS = 7
"""The number of coefficients of the interpolant."""
MIN_LANE_BODIES = 8
"""Fewer bodies than this run with one lane each: most lanes of a block would be empty."""


_BUILD_LOCK = RLock()


class Structure(NamedTuple):
    """Everything that the compiled kernel of a run depends on."""

    engine: str
    formulation: str
    method: str
    renormalize: bool
    pivoted: bool
    counts_work: bool
    has_constant_spin: bool
    """Whether nothing changes the angular momentum, so that steps can skip it."""
    lanes: int
    load_kernels: tuple[Callable[..., Any], ...]
    load_shape: Groups
    pair_kernels: tuple[Callable[..., Any], ...]
    pair_shapes: Groups
    needs_velocity: bool = False
    """Of a splitting method: whether a force depends on velocities, and so changes during a kick."""
    dense: bool = False
    """Whether an adaptive method needs dense output."""
    in_step: bool = False
    """Whether all bodies share one clock although they do not interact: events concern them together."""
    event_kernels: tuple[tuple[Callable[..., Any], Callable[..., Any] | None], ...] = ()
    """The function of each event, and its change."""
    event_shape: Groups = ()


class CompiledKernel(NamedTuple):
    """The kernel of a structure, and its memory layout."""

    layout: Layout
    advance: Callable[..., Any]
    is_adaptive: bool
    is_coupled: bool


def structure_of(scenario: Scenario, counts_work: bool) -> Structure:
    """The structure of a scenario."""
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
        _has_constant_spin(scenario, is_adaptive, counts_work),
        1 if scenario.count < MIN_LANE_BODIES or alone or scenario.engine == "python" else LANES,
        scenario.load_kernels(),
        map_leaves(lambda _: 0, scenario.problem.load_params),
        tuple(kernel for kernel, _, _ in group_like_pairs(pairs)),
        tuple(shape for _, shape, _ in group_like_pairs(pairs)),
        scenario.used_method.composition is not None and forces_need_velocity(scenario),
        is_adaptive and (bool(events) or segments.has_output_inside_segments(scenario)),
        bool(events) and scenario.is_system,
        tuple((e.kernel, e.change) for e in events),
        map_leaves(lambda _: 0, tuple(e.params for e in events)),
    )


def _has_constant_spin(scenario: Scenario, adaptive: bool, counts_work: bool) -> bool:
    """Whether the last group of the state is the angular momentum in world axes, and no torque acts."""
    is_momentum = scenario.form.keeps_momenta and scenario.pivot is None
    turning = any(f.turns for f in scenario.forces if f.kind != "impulse")
    return is_momentum and not adaptive and not counts_work and not turning


def prepare_kernel(structure: Structure) -> CompiledKernel:
    """The kernel of a structure, compiled if the engine compiles; one thread at a time, since laws are registered."""
    with _BUILD_LOCK:
        return _build_kernel(structure)


@lru_cache(maxsize=256)
def _build_kernel(structure: Structure) -> CompiledKernel:
    form, method = FORMULATIONS[structure.formulation], METHODS[structure.method]
    if method.is_closed_form:
        return _closed_form_kernel(structure)
    if method.composition is not None:
        return _splitting_kernel(structure, form, method.composition)
    tableau = method.tableau
    assert tableau is not None
    if tableau.error_rows is not None:
        return _adaptive_kernel(structure, form, tableau)
    coupled = bool(structure.pair_kernels)
    layout = _layout(structure, len(tableau.nodes) if coupled else 0, False)
    renormalize = form.after_step(structure.renormalize)
    rescaled = tableau.rescaled_stages and structure.renormalize
    if coupled:
        _, sum_slopes, run_stages = _system_loops(structure, form, tableau, layout, rescaled)
        accept_step = kernels.build_acceptance(renormalize, layout, layout.point)
        sweep = systems.system_sweep(run_stages, sum_slopes, accept_step, tableau, layout)
    else:
        rate = build_right_hand_side(
            form, sum_forces(structure.load_kernels), structure.pivoted, structure.counts_work, rescaled
        )
        step_rate = drop_spin_rate(rate) if structure.has_constant_spin else rate
        sweep = kernels.independent_sweep(build_step(tableau, step_rate), renormalize, layout)

    def build(tag: str) -> Callable[..., Any]:
        return kernels.fixed_steps(sweep, layout, tag)

    return CompiledKernel(layout, _compile_if_needed(structure, build), False, coupled)


def _system_loops(structure: Structure, form: Formulation, tableau: Tableau, layout: Layout, rescaled: bool) -> Any:
    """The slopes of a stage, the sums of slopes, and all stages of a step, for interacting bodies."""
    view = build_view(form, structure.pivoted)
    motion_law = build_motion_law(form, structure.pivoted, structure.counts_work, rescaled)
    numbered_shapes = [_assign_places(shape, 0, 1) for shape in structure.pair_shapes]
    places, sizes = [p for p, _ in numbered_shapes], [size for _, size in numbered_shapes]
    between = systems.pair_loads(structure.pair_kernels, places, sizes, view, layout)
    evaluate = systems.stage_slopes(view, sum_forces(structure.load_kernels), motion_law, between, layout)
    sum_slopes = systems.stage_sums(layout)
    return evaluate, sum_slopes, systems.all_stages(tableau, evaluate, sum_slopes, layout)


def _adaptive_kernel(structure: Structure, form: Formulation, tableau: Tableau) -> CompiledKernel:
    """The kernel of an adaptive method."""
    coupled, dense = bool(structure.pair_kernels) or structure.in_step, structure.dense
    # Stage by stage compiles in half the time and runs at half the speed: better for one body with dense output.
    stepwise = coupled or bool(structure.event_kernels) or (dense and structure.lanes == 1)
    layout = _layout(structure, len(tableau.nodes) if stepwise else 0, True, tableau if dense else None, True)
    renormalize = form.after_step(structure.renormalize)
    if stepwise:
        evaluate, sum_slopes, run_stages = _system_loops(structure, form, tableau, layout, False)
        attempt = adaptive.system_attempt(run_stages, sum_slopes, tableau, layout)
        accept_step = adaptive.system_acceptance(kernels.build_acceptance(renormalize, layout, layout.trial), layout)
        fit_interpolant = adaptive.system_dense_output(evaluate, sum_slopes, tableau, layout) if dense else None
    else:
        rate = build_right_hand_side(form, sum_forces(structure.load_kernels), structure.pivoted, structure.counts_work)
        attempt = adaptive.lane_attempt(rate, tableau, layout)
        accept_step = adaptive.lane_acceptance(renormalize, layout)
        fit_interpolant = adaptive.lane_dense_output(rate, tableau, layout) if dense else None
    save_checkpoint = adaptive_driver.build_checkpoint_writer(layout)
    write_samples = adaptive_driver.build_sample_writer(save_checkpoint, layout, stepwise)
    write_dense_samples = (
        adaptive_driver.no_dense_samples
        if fit_interpolant is None
        else adaptive_driver.build_dense_sample_writer(renormalize, fit_interpolant, save_checkpoint, layout, stepwise)
    )

    def build(tag: str) -> Callable[..., Any]:
        if structure.event_kernels:
            return build_event_loop(
                structure, form, attempt, fit_interpolant, write_samples, write_dense_samples, accept_step, layout, tag
            )
        if coupled or structure.lanes == 1:
            return adaptive_driver.unit_loop(attempt, write_samples, write_dense_samples, accept_step, tag)
        return adaptive_driver.lane_loop(attempt, write_samples, write_dense_samples, accept_step, layout, tag)

    return CompiledKernel(layout, _compile_if_needed(structure, build), True, coupled)


def build_event_loop(
    structure: Structure,
    form: Formulation,
    attempt: Any,
    fit_interpolant: Any,
    write_samples: Any,
    write_dense_samples: Any,
    accept_step: Any,
    layout: Layout,
    tag: str,
) -> Callable[..., Any]:
    """The outer loop of a run with events."""
    view, renormalize = build_view(form, structure.pivoted), form.after_step(structure.renormalize)
    evaluate_events = event_detection.build_event_evaluator(
        build_event_values([kernel for kernel, _ in structure.event_kernels]), view, layout
    )
    search_step = event_detection.build_event_search(fit_interpolant, attempt, evaluate_events, renormalize, layout)
    jumps = build_event_jumps([change for _, change in structure.event_kernels])
    act_on_event = event_actions.build_event_action(
        evaluate_events, view, jumps, build_impulse_law(form, structure.pivoted), layout
    )
    return event_actions.event_unit_loop(
        attempt, write_samples, write_dense_samples, accept_step, search_step, act_on_event, layout, tag
    )


def _splitting_kernel(structure: Structure, form: Formulation, composition: Composition) -> CompiledKernel:
    """The kernel of a splitting method."""
    coupled = bool(structure.pair_kernels)
    tableau = kick_tableau(composition, structure.needs_velocity, structure.counts_work)
    layout = _layout(structure, len(tableau.nodes) if coupled else 0, False)
    renormalize = form.after_step(structure.renormalize)
    if coupled:
        _, sum_slopes, run_stages = _system_loops(structure, form, tableau, layout, False)
        untouched = kernels.build_acceptance(form.with_drift, layout, layout.point)
        kick = systems.system_sweep(run_stages, sum_slopes, untouched, tableau, layout)
        drift_all = system_drift(build_drift(composition.drift), layout)
        sweep = splitting_sweep(
            composition, kick, drift_all, kernels.build_acceptance(renormalize, layout, layout.state)
        )
    else:
        rate = build_right_hand_side(form, sum_forces(structure.load_kernels), structure.pivoted, structure.counts_work)
        sweep = kernels.independent_sweep(build_splitting_step(composition, rate, tableau), renormalize, layout)

    def build(tag: str) -> Callable[..., Any]:
        return kernels.fixed_steps(sweep, layout, tag)

    return CompiledKernel(layout, _compile_if_needed(structure, build), False, coupled)


def _closed_form_kernel(structure: Structure) -> CompiledKernel:
    """The kernel of the closed form."""
    form, layout = FORMULATIONS[structure.formulation], _layout(structure, 0, True)
    motion_law = build_free_motion(sum_forces(structure.load_kernels))
    renormalize = form.after_step(structure.renormalize)

    def build(tag: str) -> Callable[..., Any]:
        return build_exact_kernel(motion_law, renormalize, layout, tag)

    return CompiledKernel(layout, _compile_if_needed(structure, build), False, False)


def _compile_if_needed(structure: Structure, build: Callable[[str], Callable[..., Any]]) -> Callable[..., Any]:
    """The outer loop, compiled if the engine compiles; its tag is the fingerprint of the code that it reaches."""
    if structure.engine == "python":
        return build("")
    from numba.core.compiler_lock import global_compiler_lock

    from polhode.engines.compiler import compile_kernel, fingerprint

    with global_compiler_lock:  # laws are registered with Numba, which may be compiling in another thread
        return compile_kernel(build(fingerprint(build(""))))


def group_like_pairs(pairs: Sequence[Force]) -> list[tuple[Callable[..., Any], Groups, list[Force]]]:
    """Group consecutive pair forces with the same kernel and shape of parameters: each group is one loop."""
    runs = groupby(pairs, key=lambda f: (f.kernel, map_leaves(lambda _: 0, f.params)))
    return [(kernel, shape, list(forces)) for (kernel, shape), forces in runs]


def _layout(
    structure: Structure, stages: int, tries: bool, dense: Tableau | None = None, has_clock: bool = False
) -> Layout:
    """The memory layout of a block."""
    lanes = structure.lanes
    sizes = FORMULATIONS[structure.formulation].sizes + ((1,) if structure.counts_work else ())
    shape = tuple((0,) * size for size in sizes)
    state, end = _assign_places(shape, 0, lanes)
    drift, sample_size = end, end + lanes
    about_com = ((0,) * 3, (0,) * 3, (0,) * 4) if structure.pivoted else ()
    body, end = _assign_places((0, 0, (0,) * 3, (0,) * 3, (0,) * 4, (0,) * 3, about_com), sample_size, lanes)
    params, end = _assign_places(structure.load_shape, end, lanes)
    event_params, end = _assign_places(structure.event_shape, end, lanes)
    least, end = _assign_places((0,) * 4 if has_clock else (), end, lanes)
    clock, carried = _assign_places((0,) * 5 if has_clock else (), end, lanes)
    trial, end = _assign_places(shape if tries else (), carried, lanes)
    point, end = _assign_places(shape if stages else (), end, lanes)
    wrench, end = _assign_places(((0,) * 3, (0,) * 3) if stages else (), end, lanes)
    attempt, end = _assign_places((0,) * 2 if has_clock else (), end, lanes)
    if dense is not None:
        stages = stages + 1 + len(dense_stages(dense).stages) if stages else len(dense_stages(dense).used)
    slopes, end = _assign_places((shape,) * stages, end, lanes)
    curve = slopes[:INTERPOLANT_TERMS]
    if structure.event_kernels:  # the slopes are needed again after the event search
        curve, end = _assign_places((shape,) * INTERPOLANT_TERMS, end, lanes)
    rooms = (trial, point, wrench, slopes, curve, attempt, end)
    return Layout(lanes, state, drift, sample_size, body, params, event_params, least, clock, carried, *rooms)


def _assign_places(shape: Any, start: int, stride: int) -> tuple[Any, int]:
    """Assign offsets from `start` at a stride to a nested shape; return them and the end."""
    if not isinstance(shape, tuple):
        return start, start + stride
    places = []
    for part in shape:
        place, start = _assign_places(part, start, stride)
        places.append(place)
    return tuple(places), start
