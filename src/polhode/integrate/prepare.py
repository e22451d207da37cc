"""From the structure of a scenario to its program: what depends on forces and method, but not on numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import groupby
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polhode.equations.formulations import Formulation
from polhode.equations.free_motion import build_free_motion
from polhode.equations.inertia import BodyConstants
from polhode.equations.law import Groups
from polhode.equations.right_hand_side import (
    build_impulse_law,
    build_motion_law,
    build_right_hand_side,
    build_view,
    drop_spin_rate,
    sum_forces,
    sum_loads,
)
from polhode.integrate.loops import attempts as tries
from polhode.integrate.loops import stages
from polhode.integrate.loops.clocked import build_clocked_loop
from polhode.integrate.loops.closed_form_loop import (
    TIMES,
    build_closed_form,
    build_closed_form_at_times,
    build_closed_form_kernel,
    build_closed_form_loop,
)
from polhode.integrate.loops.event_laws import build_event_laws
from polhode.integrate.loops.fixed_steps import build_fixed_kernel, build_fixed_loop, independent_step
from polhode.integrate.loops.layout import (
    EVENT_POINTS,
    EventValues,
    GridClock,
    Layout,
    RotorWrench,
    TriedStep,
    Wrench,
    assign_places,
    put_known,
    read,
    read_constants,
    write,
)
from polhode.ir.loops import Sweep
from polhode.ir.passes import STRICT
from polhode.ir.program import Program
from polhode.methods.dense_output import dense_stages
from polhode.methods.dop853 import DOP853
from polhode.methods.drifts import build_drift
from polhode.methods.registry import METHODS, Method
from polhode.methods.runge_kutta import Clock, build_step
from polhode.methods.splitting import build_splitting_step, kick_tableau
from polhode.methods.tableaus import EULER, HERMITE_TERMS, Tableau
from polhode.scenario.contact import BodyContact
from polhode.scenario.force import Force, map_leaves
from polhode.scenario.scenario import Scenario

if TYPE_CHECKING:
    from polhode.integrate.loops.kernel_program import KernelProgram

LANES = 32
"""Bodies per block: enough to amortize a call, few enough for the block to stay in the L1 cache."""
MIN_LANE_BODIES = 8
"""Fewer bodies than this run with one lane each: most lanes of a block would be empty."""
LONG_FORCE = 700
"""A force of more operations is evaluated stage by stage: in one straight line compilation would take long."""

STEP_BLOCKS, CLOCKED_BLOCKS = {"strict": 4, "fused": 6, "single": 4}, 2
"""Blocks of a kernel that a multiprocessor of a GPU holds at least: those of adaptive steps need more registers each.

Measured on an H200 in 1e9 steps a second: RK4, strict, by 4 blocks 29.3, by 5 28.2, by 6 21.1; fused by 4 45.2, by 5
47.2, by 6 47.9 (46.8 since reciprocals of 0 are looked at); single by 4 82.2, by 6 81.5 (by 4 88.6 since roots are
rough ones).  DOP853 of 255 steps by 2 blocks 0.26 us, by 3 0.61 us, by 4 0.87 us.
"""

_LOCK = RLock()


class Structure(NamedTuple):
    """Everything that the program of a run depends on."""

    engine: str
    formulation: Formulation
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
    is_system: bool = False
    """Whether all bodies of a unit share one clock: they act on each other, or events concern them together."""
    staged: bool = False
    """Whether steps are made stage by stage."""
    event_kernels: tuple[tuple[Callable[..., Any], Callable[..., Any] | None], ...] = ()
    """The function of each event, and its change."""
    event_shape: Groups = ()
    has_contacts: bool = False
    has_pairs: bool = False
    """Whether bodies touch each other."""
    rotor_kernels: tuple[Callable[..., Any] | None, ...] = ()
    """The law of the torque of each rotor, if it has one."""
    mass_shape: Groups = ()
    """Of a mass that changes: the nesting of a `MassPiece`."""
    has_added_mass: bool = False
    precision: str = "strict"
    known: Groups = ()
    """Of kernels that may fold them: which constants of the bodies and the forces are 0 or 1 for all members."""

    @property
    def is_kernel(self) -> bool:
        """Whether it runs on GPUs."""
        return self.engine == "gpu"


class Plan(NamedTuple):
    """The program of a structure, and its memory layout."""

    layout: Layout
    program: Program | KernelProgram
    unit_size: int
    """The numbers of a block in the buffer: of bodies with clocks, which are taken out of it, only what they carry."""
    is_system: bool
    parts: Any
    """What the loop calls: the step, the attempts, or the closed form."""


def plan_of(structure: Structure) -> Plan:
    """The program of a structure; one thread at a time."""
    with _LOCK:
        return _build_plan(structure)


@lru_cache(maxsize=256)
def _build_plan(structure: Structure) -> Plan:
    form, method = structure.formulation, METHODS[structure.method]
    if structure.has_contacts:
        return _contact_plan(structure, form, method)
    if method.is_closed_form:
        return _closed_form_plan(structure, form)
    if method.is_adaptive:
        assert method.tableau is not None
        return _adaptive_plan(structure, form, method.tableau)
    return _fixed_plan(structure, form, method)


def _fixed_plan(structure: Structure, form: Formulation, method: Method) -> Plan:
    """The program of a method with steps of one length."""
    renormalize = form.after_step(structure.renormalize)
    if method.composition is not None:
        tableau = kick_tableau(method.composition, structure.needs_velocity, structure.counts_work)
    else:
        assert method.tableau is not None
        tableau = method.tableau
    layout = _layout(structure, tableau, None)
    rescaled = method.composition is None and tableau.rescaled_stages and structure.renormalize
    has_events = bool(structure.event_kernels)
    after = _leave_unchanged if has_events else renormalize
    rate = build_right_hand_side(form, _loads(structure), structure.pivoted, structure.counts_work, rescaled)
    loops = _stage_loops(structure, form, tableau, layout, rescaled) if structure.staged else None
    if loops is not None:
        step_all = stages.staged_step(loops, after, tableau, layout)
        if method.composition is not None:
            measures = structure.is_system and not has_events
            kick = stages.staged_step(loops, form.with_drift if measures else _leave_unchanged, tableau, layout)
            drift = build_drift(method.composition.drift)
            step_all = stages.staged_splitting(method.composition, kick, drift, after, layout)
    else:
        if method.composition is not None:
            step = build_splitting_step(method.composition, rate, tableau)
        else:
            step = build_step(tableau, drop_spin_rate(rate) if structure.has_constant_spin else rate)
        step_all = independent_step(step, renormalize, layout)
    if not has_events:
        advance: Any = build_fixed_loop(step_all, layout)
        if structure.is_kernel:
            advance = tuple(build_fixed_kernel(step_all, layout, is_on_grid) for is_on_grid in (False, True))
        return _plan(structure, layout, advance, False, step_all)
    if loops is not None:
        made = tries.fixed_staged_attempts(step_all, loops, renormalize, layout)
    else:
        made = tries.fixed_lane_attempts(step, rate, renormalize, layout)
    return _clocked_plan(structure, form, made, layout, False)


def _leave_unchanged(y: Groups, h: Any) -> tuple[Groups, Any]:
    """The state as it is; its drift is measured later."""
    return y, 0 * h


def _adaptive_plan(structure: Structure, form: Formulation, tableau: Tableau) -> Plan:
    """The program of a method with step-size control."""
    layout = _layout(structure, tableau, tableau if structure.dense else None)
    renormalize = form.after_step(structure.renormalize)
    if structure.staged:
        loops = _stage_loops(structure, form, tableau, layout, False)
        made = tries.staged_attempts(loops, renormalize, tableau, layout, structure.dense)
    else:
        rate = build_right_hand_side(form, _loads(structure), structure.pivoted, structure.counts_work)
        made = tries.lane_attempts(rate, renormalize, tableau, layout)
    return _clocked_plan(structure, form, made, layout, structure.dense)


def _clocked_plan(
    structure: Structure, form: Formulation, made: tries.Attempts, layout: Layout, is_dense: bool
) -> Plan:
    renormalize, events = form.after_step(structure.renormalize), None
    if structure.event_kernels:
        functions, changes = zip(*structure.event_kernels, strict=True)
        view, apply_impulse = build_view(form, structure.pivoted), build_impulse_law(form, structure.pivoted)
        is_adaptive = METHODS[structure.method].is_adaptive
        events = build_event_laws(
            functions, changes, view, renormalize, apply_impulse, layout, is_adaptive, structure.is_system
        )
    advance = build_clocked_loop(made, events, renormalize, layout, structure.is_system, is_dense)
    return _plan(structure, layout, advance, True, made)


def _closed_form_plan(structure: Structure, form: Formulation) -> Plan:
    layout = _layout(structure, EULER, None)
    load, renormalize = sum_forces(structure.load_kernels), form.after_step(structure.renormalize)
    free_motion = build_free_motion(load)
    if structure.event_kernels:  # as steps that are exact at any length
        rate = build_right_hand_side(form, load, structure.pivoted, structure.counts_work)
        made = tries.fixed_lane_attempts(free_motion, rate, renormalize, layout)
        if structure.staged:
            loops = _stage_loops(structure, form, EULER, layout, False)
            made = tries.fixed_staged_attempts(
                independent_step(free_motion, _leave_unchanged, layout), loops, renormalize, layout
            )
        return _clocked_plan(structure, form, made, layout, False)
    evaluate = build_closed_form(free_motion, renormalize, layout)
    if structure.is_kernel:
        advance = build_closed_form_kernel(evaluate, layout)
    elif structure.lanes == 1 and structure.engine != "python":
        wide = _layout(structure._replace(lanes=TIMES), EULER, None)
        advance = build_closed_form_at_times(free_motion, renormalize, wide)
    else:
        advance = build_closed_form_loop(evaluate, layout)
    return _plan(structure, layout, advance, False, evaluate)


def _contact_plan(structure: Structure, form: Formulation, method: Method) -> Plan:
    """The program of bodies that touch: each unit by itself, one body after the other.  Others import none of it."""
    from polhode.integrate.contacts.contact_loop import build_contact_loop
    from polhode.integrate.contacts.contact_scene import build_scene_loops

    layout = _layout(structure, None, None)
    load, view = sum_forces(structure.load_kernels), form.view

    def load_one(unit: Any, at: Any, t: Any) -> None:
        c = read_constants(unit, at, layout)
        write(unit, at, layout.wrench, load(t, view(read(unit, at, layout.point), c), c, read(unit, at, layout.params)))

    advance = build_contact_loop(
        (
            Sweep(load_one, layout.lanes, layout.size),
            stages.build_pair_loads(_pair_laws(structure), view, layout),
        ),
        (view, form.rate),
        build_free_motion(load) if method.is_closed_form else None,
        build_scene_loops(layout, structure.has_pairs),
        DOP853,
        layout,
    )
    return _plan(structure, layout, advance, False, advance)


def _plan(structure: Structure, layout: Layout, advance: Any, has_clocks: bool, parts: Any) -> Plan:
    """The plan of a loop; of kernels that take different records, several."""
    size = layout.carried if has_clocks and not structure.is_system else layout.size
    program: Program | KernelProgram
    if structure.is_kernel:
        from polhode.integrate.loops.kernel_program import KernelProgram

        variants = advance if isinstance(advance, tuple) else (advance,)
        is_inlined = not structure.staged and not structure.event_kernels
        program = KernelProgram(
            variants,
            structure.precision,
            is_inlined,
            CLOCKED_BLOCKS if has_clocks else STEP_BLOCKS[structure.precision],
        )
    else:
        program = Program(advance, structure.engine != "python", None if structure.is_system else size)
    return Plan(layout, program, size, structure.is_system, parts)


def _stage_loops(
    structure: Structure, form: Formulation, tableau: Tableau, layout: Layout, rescaled: bool
) -> stages.StageLoops:
    view = build_view(form, structure.pivoted)
    motion_law = build_motion_law(form, structure.pivoted, structure.counts_work, rescaled)
    load, pair_laws = _loads(structure), _pair_laws(structure)
    return stages.build_stage_loops(tableau, view, load, motion_law, pair_laws, layout)


def _loads(structure: Structure) -> Callable[..., Any]:
    return sum_loads(structure.load_kernels, structure.rotor_kernels)


def _pair_laws(structure: Structure) -> list[Any]:
    return [
        (kernel, *assign_places(shape, 0, 1))
        for kernel, shape in zip(structure.pair_kernels, structure.pair_shapes, strict=True)
    ]


def group_like_pairs(pairs: Sequence[Force]) -> list[tuple[Callable[..., Any], Groups, list[Force]]]:
    """Group consecutive pair forces with the same kernel and shape of parameters: each group is one loop."""
    runs = groupby(pairs, key=lambda f: (f.kernel, map_leaves(lambda _: 0, f.params)))
    return [(kernel, shape, list(forces)) for (kernel, shape), forces in runs]


def _layout(structure: Structure, tableau: Tableau | None, dense: Tableau | None) -> Layout:
    """The memory layout of a block."""
    lanes, method = structure.lanes, METHODS[structure.method]
    sizes = structure.formulation.sizes + ((1,) if structure.counts_work else ())
    shape = tuple((0,) * size for size in sizes)
    events = len(structure.event_kernels)
    has_clock = method.is_adaptive or events > 0
    end = 0

    def place(part: Any) -> Any:
        nonlocal end
        places, end = assign_places(part, end, lanes)
        return places

    state, drift = place(shape), place(0)
    sample_size = end
    about_com = ((0,) * 3, (0,) * 3, (0,) * 4) if structure.pivoted else ()
    rotors = len(structure.rotor_kernels)
    has_inverse = rotors > 0 or structure.has_added_mass
    added = ((0,) * 9,) * 2 if structure.has_added_mass else ()
    extended = (((0,) * 3, 0, 0),) * rotors, (0,) * 9 if has_inverse else (), added, structure.mass_shape
    body = place(BodyConstants(0, 0, (0,) * 3, (0,) * 3, (0,) * 4, (0,) * 3, about_com, *extended))
    params, event_params = place(structure.load_shape), place(structure.event_shape)
    if structure.known:
        body, params = put_known((body, params), structure.known)
    least = place((0,) * structure.formulation.controlled if method.is_adaptive else ())
    member = place(0) if structure.pair_kernels else None
    clock_shape: Groups = Clock(*(0,) * 5) if method.is_adaptive else GridClock(*(0,) * 6)
    clock = place(clock_shape if has_clock else ())
    carried = end
    trial = place(shape if has_clock or method.is_closed_form else ())
    point = place(shape if structure.staged else ())
    pair = (0,) * 3, (0,) * 3
    wrench_shape: Groups = RotorWrench(*pair, (0,) * rotors) if rotors else Wrench(*pair)
    wrench = place(wrench_shape if structure.staged else ())
    attempt = place(TriedStep(0, 0) if has_clock else ())
    count = max(len(tableau.nodes), 2) if structure.staged and tableau is not None else 0
    terms = HERMITE_TERMS
    if dense is not None:
        assert dense.dense is not None
        stages_of_dense, terms = dense_stages(dense), dense.dense.terms
        count = max(count + stages_of_dense.more if structure.staged else len(stages_of_dense.used), terms)
    slopes = place((shape,) * count)
    curve: Any = slopes[:terms]
    if events:  # the slopes are needed again after the search
        curve = place((shape,) * terms)
    each = (0,) * events
    event_values = place(EventValues((each,) * (EVENT_POINTS + 1), each) if events else ())
    event_slopes = place(each)
    rooms = (trial, point, wrench, slopes, curve, attempt, event_values, event_slopes, end)
    return Layout(lanes, state, drift, sample_size, body, params, event_params, member, least, clock, carried, *rooms)


# The structure of a scenario ------------------------------------------------------------------------------------------
def structure_of(scenario: Scenario, counts_work: bool, needs_output_inside: bool, needs_velocity: bool) -> Structure:
    """The structure of a scenario whose user functions have been traced."""
    pairs = scenario.of_kind("pair")
    method, events, course = scenario.used_method, scenario.events, scenario.mass_course
    has_contacts = bool(scenario.contacts)
    is_system = bool(pairs) or (bool(events) and scenario.is_system) or has_contacts
    is_dense = method.is_adaptive and (bool(events) or needs_output_inside)
    is_kernel = scenario.engine == "gpu"
    few = scenario.count < MIN_LANE_BODIES or scenario.engine == "python" or has_contacts or is_kernel
    is_long = sum(_length(kernel) for kernel in scenario.load_kernels()) > LONG_FORCE
    # Stage by stage compiles in half the time and runs at half the speed: better for one body with dense output.
    alone = few and method.is_adaptive and is_dense and not is_kernel
    # The compilers of GPUs take a minute for what a CPU's take in two seconds.
    has_many_drifts = is_kernel and method.composition is not None and len(method.composition.drifts) > 1
    staged = is_system or (not method.is_closed_form and ((few and is_long) or alone)) or has_many_drifts
    return Structure(
        scenario.engine,
        scenario.form,
        method.name,
        scenario.renormalize,
        scenario.pivot is not None,
        counts_work,
        _has_constant_spin(scenario, counts_work) and not staged and not events,
        1 if few else LANES,
        scenario.load_kernels(),
        map_leaves(lambda _: 0, scenario.problem.load_params),
        tuple(kernel for kernel, _, _ in group_like_pairs(pairs)),
        tuple(shape for _, shape, _ in group_like_pairs(pairs)),
        needs_velocity,
        is_dense,
        is_system,
        staged,
        tuple((e.kernel, e.change) for e in events),
        map_leaves(lambda _: 0, tuple(e.params for e in events)),
        has_contacts,
        any(isinstance(contact, BodyContact) for contact in scenario.contacts),
        tuple(rotor.kernel for rotor in scenario.rotors),
        () if course is None else map_leaves(lambda _: 0, scenario.problem.constants.course),
        scenario.added_mass is not None,
        scenario.precision,
        _known_numbers(scenario) if is_kernel and scenario.precision != STRICT else (),
    )


def _known_numbers(scenario: Scenario) -> Groups:
    """Which constants of bodies and forces are 0 or 1 for all members; windows and courses change between segments."""

    def known(value: Any) -> float | None:
        return float(value) if np.ndim(value) == 0 and float(value) in (0.0, 1.0) else None

    problem = scenario.problem
    body = map_leaves(known, tuple(problem.constants))
    if scenario.mass_course is not None:
        body = map_leaves(lambda _: None, tuple(problem.constants))
    loads = [
        map_leaves((lambda _: None) if f.has_windows else known, params)
        for f, params in zip(scenario.of_kind("body"), problem.load_params, strict=False)
    ]
    rest = problem.load_params[len(loads) :]
    return body, (*loads, *map_leaves(lambda _: None, rest))


def _length(kernel: Any) -> int:
    """The number of operations of a user's function; library forces count as one hundred."""
    return int(getattr(kernel, "length", 100))


def _has_constant_spin(scenario: Scenario, counts_work: bool) -> bool:
    """Whether the last group of the state is the angular momentum in world axes, and no torque acts."""
    is_momentum = scenario.form.keeps_momenta and scenario.pivot is None and not scenario.is_extended
    turning = any(f.turns for f in scenario.forces if f.kind != "impulse")
    return is_momentum and not scenario.used_method.is_adaptive and not counts_work and not turning
