"""From a scenario's structure to its inner loops: what depends on the forces and the method, but on no number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple

from polhode.engines import kernels, systems
from polhode.engines.kernels import Layout
from polhode.equations.formulations import FORMULATIONS
from polhode.equations.law import Groups
from polhode.equations.loads import driven, moved_by, together, view_of, without_spin
from polhode.equations.methods import METHODS
from polhode.equations.steps import one_step
from polhode.forcing import Force, map_leaves
from polhode.scenario import Scenario

LANES = 32
"""Bodies a block: enough to spread the cost of a call, few enough for the block to stay in the nearest cache."""
FEW = 8
"""Fewer bodies than this run one by one: most lanes of a block would be empty."""


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


class Prepared(NamedTuple):
    """The loops of a structure, and where they find their numbers."""

    layout: Layout
    advance: Callable[..., Any]
    is_adaptive: bool
    is_coupled: bool


def structure_of(scenario: Scenario, counts_work: bool) -> Structure:
    """What a scenario's machine code depends on."""
    pairs = scenario.of_kind("pair")
    adaptive = scenario.table.error_rows is not None
    few = scenario.count < FEW or (adaptive and not pairs)
    return Structure(
        scenario.engine,
        scenario.formulation,
        scenario.table.name,
        scenario.renormalize,
        scenario.pivot is not None,
        counts_work,
        _spin_stays(scenario, adaptive, counts_work),
        1 if few or scenario.engine == "python" else LANES,
        scenario.load_kernels(),
        map_leaves(lambda _: 0, scenario.load_params()),
        tuple(kernel for kernel, _, _ in alike(pairs)),
        tuple(shape for _, shape, _ in alike(pairs)),
    )


def _spin_stays(scenario: Scenario, adaptive: bool, counts_work: bool) -> bool:
    """Only where the spin is the state's last group, and an angular momentum in world axes."""
    is_momentum = scenario.formulation in ("momentum", "momentum_matrix") and scenario.pivot is None
    turning = any(f.turns for f in scenario.forces if f.kind != "impulse")
    return is_momentum and not adaptive and not counts_work and not turning


@lru_cache(maxsize=256)
def prepared(structure: Structure) -> Prepared:
    """The loops for a structure, compiled if the engine compiles."""
    form, table = FORMULATIONS[structure.formulation], METHODS[structure.method]
    coupled, adaptive = bool(structure.pair_kernels), table.error_rows is not None
    layout = _layout(structure, len(table.nodes) if coupled else 0, adaptive)
    load = together(structure.load_kernels)
    tidy = form.tidied if structure.renormalize else form.watched
    rescaled = table.rescaled_stages and structure.renormalize

    if coupled:
        view = view_of(form, structure.pivoted)
        moved = moved_by(form, structure.pivoted, structure.counts_work, rescaled)
        numbered_shapes = [_numbered(shape, 0, 1) for shape in structure.pair_shapes]
        places, sizes = [p for p, _ in numbered_shapes], [size for _, size in numbered_shapes]
        between = systems.pair_loads(structure.pair_kernels, places, sizes, view, layout)
        evaluate = systems.stage_slopes(view, load, moved, between, layout)
        sum_up = systems.stage_sums(layout)
        run_stages = systems.all_stages(table, evaluate, sum_up, layout)
        settle = kernels.settling(tidy, layout, layout.trial if adaptive else layout.point)
        sweep = systems.system_sweep(run_stages, sum_up, settle, table, layout)
        attempt = systems.system_attempt(run_stages, sum_up, table, layout) if adaptive else None
    else:
        rate = driven(form, load, structure.pivoted, structure.counts_work, rescaled)
        stepped = without_spin(rate) if structure.spin_stays else rate
        sweep = kernels.independent_sweep(one_step(table, stepped), tidy, layout)
        settle = kernels.settling(tidy, layout, layout.trial)
        attempt = kernels.independent_attempt(rate, table, layout) if adaptive else None

    def built(tag: str) -> Callable[..., Any]:
        if attempt is not None:
            return kernels.adaptive_steps(attempt, settle, layout, tag)
        return kernels.fixed_steps(sweep, layout, tag)

    if structure.engine == "python":
        return Prepared(layout, built(""), adaptive, coupled)
    from polhode.engines.compiler import compiled, fingerprint

    return Prepared(layout, compiled(built(fingerprint(built("")))), adaptive, coupled)


def alike(pairs: Sequence[Force]) -> list[tuple[Callable[..., Any], Groups, list[Force]]]:
    """Pair forces that follow each other with the same function and shape of parameters: a chain is one loop."""
    runs = groupby(pairs, key=lambda f: (f.kernel, map_leaves(lambda _: 0, f.params)))
    return [(kernel, shape, list(forces)) for (kernel, shape), forces in runs]


def _layout(structure: Structure, stages: int, adaptive: bool) -> Layout:
    """Give every number of a block its place."""
    lanes = structure.lanes
    sizes = FORMULATIONS[structure.formulation].sizes + ((1,) if structure.counts_work else ())
    shape = tuple((0,) * size for size in sizes)
    state, end = _numbered(shape, 0, lanes)
    watch, kept = end, end + lanes
    body, end = _numbered((0, 0, (0,) * 3, (0,) * 3, (0,) * 4, (0,) * 3), kept, lanes)
    params, end = _numbered(structure.load_shape, end, lanes)
    trial, end = _numbered(shape if adaptive else (), end, lanes)
    point, end = _numbered(shape if stages else (), end, lanes)
    wrench, end = _numbered(((0,) * 3, (0,) * 3) if stages else (), end, lanes)
    slopes, end = _numbered((shape,) * stages, end, lanes)
    return Layout(lanes, state, watch, kept, body, params, trial, point, wrench, slopes, end)


def _numbered(shape: Any, start: int, stride: int) -> tuple[Any, int]:
    """The shape with its numbers counted from `start` in strides, and where the count ends."""
    if not isinstance(shape, tuple):
        return start, start + stride
    places = []
    for part in shape:
        place, start = _numbered(part, start, stride)
        places.append(place)
    return tuple(places), start
