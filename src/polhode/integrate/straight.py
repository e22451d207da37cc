"""The steps of a unit as straight functions of a few arrays: what programs in other languages are made of.

The loops run as they stand on traced numbers, so every body, stage and pair is written out.  A unit has four arrays:

- `state`: the columns of a sample of each body; then the clock, if there is one,
- `parameters`: the constants of each body, its forces' parameters and its error floor; then those of the pairs, then
  those of the impulses,
- `work`: of a method with step-size control, what one function leaves to the next,
- `sample`: where a state goes that is not the unit's own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

from polhode.equations.formulations import Formulation
from polhode.equations.right_hand_side import build_impulse_law, build_view
from polhode.equations.vectors import scaled
from polhode.integrate.loops.clocked import build_point_writer
from polhode.integrate.loops.layout import Layout, first_place, read, read_constants, write
from polhode.integrate.prepare import Plan
from polhode.ir.graph import Graph, Place, Trace, TraceError, tracing
from polhode.ir.numbers import Block, Comparison, Traced, deciding, select
from polhode.ir.passes import lower
from polhode.ir.targets.source import SourceFunction

MOST_NODES = 100_000
"""Operations of a function that is written out."""


class UnitArrays(NamedTuple):
    """Where the numbers of a unit are in its arrays.  It has one lane."""

    layout: Layout
    bodies: int
    pair_sizes: tuple[int, ...]
    """The number of parameters of each group of like pair forces."""
    impulse_sizes: tuple[int, ...]
    """The number of parameters of each impulse, for one body."""

    @property
    def parameters_end(self) -> int:
        """The end of the parameters of a body in its block."""
        return int(self.layout.clock.t) if self.layout.clock else self.layout.carried

    @property
    def state_size(self) -> int:
        return self.bodies * self.layout.sample_size + len(self.layout.clock)

    @property
    def own_parameters(self) -> int:
        """The number of parameters of one body, pairs and impulses not counted."""
        return self.parameters_end - self.layout.sample_size

    @property
    def parameter_size(self) -> int:
        return self.impulse_start(len(self.impulse_sizes), 0)

    @property
    def work_size(self) -> int:
        return self.bodies * (self.layout.size - self.layout.carried) if self.layout.clock else 0

    def place(self, key: int) -> Place:
        """The place in the arrays of a number of the unit."""
        body, at = divmod(key, self.layout.size)
        size = self.layout.sample_size
        if at < size:
            return "state", (), body * size + at
        if at < self.parameters_end:
            return "parameters", (), body * self.own_parameters + at - size
        if at < self.layout.carried:  # the clock of the first body is that of the unit
            return "state", (), self.bodies * size + at - self.parameters_end
        return "work", (), body * (self.layout.size - self.layout.carried) + at - self.layout.carried

    def pair_start(self, group: int) -> int:
        """The place of the first parameter of a group of like pair forces."""
        return self.bodies * self.own_parameters + sum(self.pair_sizes[:group])

    def impulse_start(self, impulse: int, body: int) -> int:
        """The place of the first parameter of an impulse on a body."""
        before = self.bodies * sum(self.impulse_sizes[:impulse])
        own = body * self.impulse_sizes[impulse] if body else 0
        return self.pair_start(len(self.pair_sizes)) + before + own


class _MappedBlock(Block):
    """Stands for an array whose numbers lie elsewhere, or are known."""

    def __init__(
        self,
        graph: Graph,
        loads: Any,
        stores: Any,
        length: int,
        place: Callable[[int], Place],
        known: Sequence[int] = (),
    ) -> None:
        super().__init__(graph, "", loads, stores)
        self._length, self._map, self._known = length, place, known

    def __len__(self) -> int:
        return self._length

    def _place(self, key: Any) -> Place:
        return self._map(int(key))

    def __getitem__(self, key: Any) -> Any:
        return 0 if key in self._known else super().__getitem__(key)


class _Arguments:
    """The arrays of a unit, and numbers by their names, while a function is traced."""

    def __init__(self, graph: Graph, arrays: UnitArrays, loads: Any, stores: Any) -> None:
        def row(name: str, start: int = 0) -> Any:
            return _MappedBlock(graph, loads, stores, 0, lambda key: (name, (), start + key))

        layout = arrays.layout  # every unit has its own parameters of pairs: it is its member 0
        self._graph = graph
        self.unit: Any = _MappedBlock(graph, loads, stores, arrays.bodies * layout.size, arrays.place, (layout.member,))
        self.sample, self.parameters, self.seen = row("sample"), row("parameters"), row("seen")
        self.pairs = tuple(row("parameters", arrays.pair_start(i)) for i in range(len(arrays.pair_sizes)))

    def number(self, name: str) -> Traced:
        return Traced(self._graph.add("uniform", name))


def _trace(function: Callable[[_Arguments], None], arrays: UnitArrays, kept: Callable[[Place], bool]) -> Trace:
    """What a function does to the arrays, as far as it is kept.  One `if` on a number is followed both ways."""
    with tracing() as graph:
        loads: dict[Place, int] = {}

        def follow(answer: bool) -> tuple[dict[Place, int], list[Comparison]]:
            stores: dict[Place, int] = {}
            asked: list[Comparison] = []

            def decide(condition: Comparison) -> bool:
                asked.append(condition)
                return answer

            with deciding(decide):
                function(_Arguments(graph, arrays, loads, stores))
            return stores, asked

        stores, asked = follow(True)
        if asked:
            if len({condition.i for condition in asked}) > 1:
                raise TraceError("a step with more than one decision")
            others, _ = follow(False)

            def value(found: dict[Place, int], place: Place) -> Traced:
                if place not in found:
                    return Traced(loads.setdefault(place, graph.add("in", place)))
                return Traced(found[place])

            joined = sorted({*stores, *others})
            stores = {p: select(asked[0], value(stores, p), value(others, p)).i for p in joined}
        trace = lower(Trace(graph, loads, {place: i for place, i in stores.items() if kept(place)}))
    if len(trace.order) > MOST_NODES:
        raise TraceError(f"a step of {len(trace.order)} operations, more than the {MOST_NODES} that are written out")
    return trace


_STEP_STATE = {"state": "out", "parameters": "in"}


def fixed_functions(plan: Plan, arrays: UnitArrays, joins: Sequence[Any]) -> list[SourceFunction]:
    """The step of a method with steps of one length."""

    def step(given: _Arguments) -> None:
        plan.parts(given.unit, _pairs(joins, given), given.number("t"), given.number("h"))

    arguments = {**_STEP_STATE, "t": "number", "h": "number"}
    trace = _trace(step, arrays, lambda place: place[0] == "state")
    return [SourceFunction("polhode_step", arguments, trace, "Advance the state from time t by a step h, in s.")]


def closed_form_functions(plan: Plan, arrays: UnitArrays) -> list[SourceFunction]:
    """The state at any time."""
    trial = first_place(plan.layout.trial)

    def evaluate(given: _Arguments) -> None:
        plan.parts(given.unit, given.number("t"), given.number("h"))
        for i in range(plan.layout.drift):
            given.sample[i] = given.unit[trial + i]
        given.sample[plan.layout.drift] = given.unit[plan.layout.drift]

    arguments = {"sample": "out", "state": "in", "parameters": "in", "t": "number", "h": "number"}
    trace = _trace(evaluate, arrays, lambda place: place[0] == "sample")
    comment = "Write the sample at time t + h, in s, for the state at time t; h may be negative."
    return [SourceFunction("polhode_state_at", arguments, trace, comment)]


def adaptive_functions(
    plan: Plan, arrays: UnitArrays, joins: Sequence[Any], renormalize: Any, tolerances: Any, is_dense: bool
) -> list[SourceFunction]:
    """The attempt of a step, its end, and the states inside it."""
    layout, parts = plan.layout, plan.parts
    rtol, atol = tolerances
    shared = {**_STEP_STATE, "work": "out"}
    curve = {arrays.place(p + b * layout.size) for b in range(arrays.bodies) for p in _leaves(layout.curve)}
    dropped = {
        arrays.place(p + b * layout.size) for b in range(arrays.bodies) for p in _leaves((layout.point, layout.wrench))
    }

    def run(given: _Arguments) -> Any:
        start, end = given.number("start"), given.number("end")
        memory = SimpleNamespace(shape=(1, 0, arrays.bodies))  # of no events
        return SimpleNamespace(start=start, end=end, rtol=rtol, atol=atol, pairs=_pairs(joins, given), memory=memory)

    def inside(given: _Arguments) -> None:
        write_point, tried = build_point_writer(renormalize, layout), given.unit[layout.attempt.length]
        for b in range(arrays.bodies):
            at, to = b * layout.size, b * layout.sample_size
            write_point(given.unit, at, given.number("theta"), tried, given.sample, to)

    made = [
        SourceFunction(
            "polhode_try",
            {**shared, "start": "number", "end": "number"},
            _trace(lambda given: parts.attempt(run(given), given.unit), arrays, lambda place: place not in dropped),
            "Try a step, at most to time end (from start on, in s): its result, length and error are in work.",
        ),
        SourceFunction(
            "polhode_finish",
            {"state": "out", "work": "in", "end": "number"},
            _trace(lambda given: parts.finish(run(given), given.unit), arrays, lambda place: place[0] == "state"),
            "Accept the step that was tried if its error is at most 1, otherwise reject it; set the clock.",
        ),
    ]
    if is_dense:
        made += [
            SourceFunction(
                "polhode_fit",
                {"state": "in", "parameters": "in", "work": "out", "start": "number"},
                _trace(lambda given: parts.fit(run(given), given.unit), arrays, lambda place: place in curve),
                "After a step was tried, before it is accepted: the interpolant through it.",
            ),
            SourceFunction(
                "polhode_inside",
                {"sample": "out", "state": "out", "work": "in", "theta": "number"},
                _trace(inside, arrays, lambda place: place[0] != "work"),
                "After polhode_fit: write the sample at the fraction theta of the step.",
            ),
        ]
    return made


def impulse_function(
    index: int, kernel: Any, places: Any, is_masked: bool, form: Formulation, arrays: UnitArrays
) -> SourceFunction:
    """The jump of momenta by an impulse; if it acts on some bodies only, its first parameter is 1 or 0."""
    view, apply_impulse, layout = build_view(form), build_impulse_law(form), arrays.layout

    def strike(given: _Arguments) -> None:
        for b in range(arrays.bodies):
            at = b * layout.size
            c, y = read_constants(given.unit, at, layout), read(given.unit, at, layout.state)
            params = read(given.parameters, arrays.impulse_start(index, b), places)
            jump, turn = kernel(given.number("t"), view(y[:4], c), c, params[1])
            if is_masked:
                jump, turn = scaled(params[0], jump), scaled(params[0], turn)
            write(given.unit, at, layout.state, apply_impulse(y, c, jump, turn))

    arguments = {**_STEP_STATE, "t": "number"}
    trace = _trace(strike, arrays, lambda place: place[0] == "state")
    return SourceFunction(f"polhode_impulse_{index}", arguments, trace, "Apply an impulse at time t, in s.")


def sample_function(
    name: str, arrays: UnitArrays, compute: Callable[[_Arguments], None], comment: str
) -> SourceFunction:
    """A function of the state, the parameters and the time t, which writes to the array `seen`."""
    arguments = {"seen": "out", "state": "in", "parameters": "in", "t": "number"}
    return SourceFunction(name, arguments, _trace(compute, arrays, lambda place: place[0] == "seen"), comment)


def row_function(
    name: str, arguments: dict[str, str], compute: Callable[..., None], kept: Sequence[str], comment: str
) -> SourceFunction:
    """A function of plain arrays and numbers, each by its name; what it writes to the arrays in `kept` is kept."""

    with tracing() as graph:
        loads: dict[Place, int] = {}
        stores: dict[Place, int] = {}
        given: dict[str, Any] = {}
        for argument, kind in arguments.items():
            is_number = kind == "number"
            row = Block(graph, argument, loads, stores)
            given[argument] = Traced(graph.add("uniform", argument)) if is_number else row
        compute(**given)
        trace = lower(Trace(graph, loads, {place: i for place, i in stores.items() if place[0] in kept}))
    return SourceFunction(name, arguments, trace, comment)


def _pairs(joins: Sequence[Any], given: _Arguments) -> tuple[Any, ...]:
    return tuple((each, numbers, 0) for each, numbers in zip(joins, given.pairs, strict=True))


def _leaves(places: Any) -> list[int]:
    return [leaf for part in places for leaf in _leaves(part)] if isinstance(places, tuple) else [places]
