"""The runs of a model as one JavaScript program: from the values of its knobs to everything that a page shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import PolhodeError
from polhode.integrate.straight import row_function
from polhode.integrate.timeline import place_on_grid
from polhode.ir.targets.javascript import JAVASCRIPT
from polhode.ir.targets.loop_source import write_loop
from polhode.ir.targets.phrases import table
from polhode.ir.targets.source import write_function
from polhode.scenario.method_choice import AUTO
from polhode.scenario.scenario import Scenario
from polhode.solve import run_loops
from polhode.solve.live_numbers import (
    EXTRA,
    Extra,
    KnobError,
    KnobRange,
    LiveNumbers,
    run_numbers,
    settle_for_page,
    static_tables,
    trace_numbers,
)
from polhode.solve.live_observables import Observables, build_observables
from polhode.solve.write_source import SourceExporter
from polhode.validation import Array

BuildRuns = Callable[..., Mapping[str, Scenario]]
"""From the values of all parameters to the scenarios by name."""


class LiveRun(NamedTuple):
    """One scenario of a model."""

    name: str
    scenario: Scenario
    """At the values given, with the method that the page uses."""
    observables: Observables
    numbers: Array
    """All numbers of the run at the values given."""
    extra: dict[str, tuple[int, int]]
    """Where additional groups of numbers begin and end."""
    unfollowed: tuple[str, ...]
    """Optional groups of numbers that depend on knobs in a way that cannot be followed."""


class LiveProgram(NamedTuple):
    """A program, its knobs and its runs."""

    text: str
    """The script of a worker."""
    knobs: tuple[KnobRange, ...]
    """Those that are live, in the order in which the program takes them."""
    fixed: dict[str, str]
    """The others, each with the reason."""
    runs: tuple[LiveRun, ...]
    left_out: dict[str, str]
    """The runs that the page does not compute, each with the reason."""


def build_program(
    build: BuildRuns,
    knobs: Sequence[KnobRange],
    values: Mapping[str, float],
    extra: Callable[[str], Extra] | None = None,
) -> LiveProgram:
    """The program of the runs that a page can compute, with every knob that can be followed in the first of them.

    `extra` gives, for each run by its name, further numbers that the page needs.  Raises KnobError if no knob is live.
    """
    first = build(**values)
    runs, refused = _find_exportable(first)
    builders = {name: _builder(build, name, scenario) for name, scenario in runs.items()}
    if not builders:
        raise KnobError("; ".join(dict.fromkeys(refused.values())) or "there is no run")
    main = next(iter(builders))
    fixed = {}
    for knob in knobs:
        why = _reason(builders[main], main, [knob], values, extra)
        if why:
            fixed[knob.name] = why
    live = tuple(knob for knob in knobs if knob.name not in fixed)
    if not live:
        raise KnobError("; ".join(f"{name}: {why}" for name, why in fixed.items()) or "there are no knobs")
    programs: dict[str, int] = {}
    made: list[str] = []
    texts: list[str] = []
    found: list[LiveRun] = []
    for name, one in builders.items():
        try:
            numbers = trace_numbers(one, live, values, None if extra is None else extra(name), _laws_text)
        except PolhodeError as error:
            if name == main:
                raise
            refused[name] = str(error)
            continue
        i = len(found)
        observables = build_observables(numbers.base.exporter)
        program = programs.setdefault(_program_text(numbers.base.exporter, observables), len(programs))
        function = numbers.function._replace(name=f"polhode_from_knobs_{i}")
        texts.append(write_function(function, JAVASCRIPT))
        made.append(_describe_numbers(numbers, program, i))
        found.append(_live_run(name, runs[name], numbers, observables))
    text = "\n".join(
        [
            '"use strict";',
            "const programs = [",
            ",\n".join(programs),
            "];",
            *texts,
            "const runs = [",
            ",\n".join(made),
            "];",
            _WORKER,
        ]
    )
    return LiveProgram(text, live, fixed, tuple(found), refused)


def _reason(
    build: Callable[..., Scenario],
    name: str,
    knobs: Sequence[KnobRange],
    values: Mapping[str, float],
    extra: Callable[[str], Extra] | None,
) -> str:
    """Why knobs are not live in a run; "" if they are."""
    try:
        trace_numbers(build, knobs, values, None if extra is None else extra(name), _laws_text)
    except PolhodeError as error:
        return str(error)
    return ""


def _find_exportable(first: Mapping[str, Scenario]) -> tuple[dict[str, Scenario], dict[str, str]]:
    """The runs that a page can compute, with their methods settled; and for the others the reason."""
    runs, refused = {}, {}
    for name, scenario in first.items():
        if scenario.members is not None:
            refused[name] = "an ensemble is not computed in a page"
            continue
        try:
            runs[name] = settle_for_page(scenario)
            run_numbers(runs[name])
        except PolhodeError as error:
            runs.pop(name, None)
            refused[name] = str(error)
    return runs, refused


def _builder(build: BuildRuns, name: str, settled: Scenario) -> Callable[..., Scenario]:
    """The builder of one run, with the method that was chosen for it."""

    def build_one(**values: float) -> Scenario:
        scenario = build(**values)[name]
        if scenario.method != AUTO or settled.method == AUTO:
            return scenario
        return replace(scenario, method=settled.method, formulation=settled.formulation, rtol=settled.rtol)

    return build_one


def _laws_text(exporter: SourceExporter) -> str:
    return exporter.functions_text(exporter.functions()) + exporter.impulse_calls() + exporter.window_changes()


def _program_text(exporter: SourceExporter, observables: Observables) -> str:
    """A scope with all functions of a structure, which runs with any numbers."""
    constants, segments = exporter.constants(), len(exporter.segments)
    tables = static_tables(exporter)
    needs_step = exporter.scenario.used_method.needs_step
    if needs_step:
        tables["stop_steps"] = tables["stop_rests"] = [0.0] * len(tables["stop_outputs"])
    lines = [
        "(function () {",
        *(f"const POLHODE_{name} = {value};" for name, value in constants.items()),
        f"const POLHODE_NOT_REACHED = NaN, POLHODE_SEEN = {observables.size};",
        "let POLHODE_START = 0, POLHODE_STEP = 0;",
        *(table(f"polhode_{name}", values, JAVASCRIPT) for name, values in tables.items()),
        "const polhode_initial_states = new Float64Array(POLHODE_STATE_SIZE);",
        "const polhode_initial_parameters = new Float64Array(POLHODE_PARAMETER_SIZE);",
        "const polhode_output_times = new Float64Array(POLHODE_OUTPUTS);",
        f"const polhode_segment_starts = new Float64Array({segments});",
        f"const polhode_segment_ends = new Float64Array({segments});",
        exporter.functions_text(exporter.functions()),
        write_function(observables.function, JAVASCRIPT),
        exporter.run_text(),
        *(_locating_stops() if needs_step else []),
        _COMPUTE.replace("@@LOCATE", "polhode_locate(polhode_stop_steps, polhode_stop_rests);" if needs_step else ""),
        "})()",
    ]
    return "\n".join(lines)


def _locating_stops() -> list[str]:
    """Where the outputs are on the grid of steps, which follows from the knobs."""

    def compute(place: Any, t: Any, start: Any, step: Any) -> None:
        place[0], place[1] = place_on_grid(t, start, step)

    arguments = {"place": "out", "t": "number", "start": "number", "step": "number"}
    law = row_function("polhode_place_on_grid", arguments, compute, ["place"], "A time in whole steps and a rest.")
    return [write_function(law, JAVASCRIPT), write_loop(run_loops.locate, JAVASCRIPT)]


def _describe_numbers(numbers: LiveNumbers, program: int, i: int) -> str:
    """A run as the worker knows it."""
    base = [value for group in numbers.base.groups.values() for value in group.tolist()]
    array = table("base", base, JAVASCRIPT).removeprefix("const base = ").removesuffix(";")
    return (
        f"{{ program: programs[{program}], fromKnobs: polhode_from_knobs_{i}, places: {numbers.places},\n"
        f"  base: {array} }}"
    )


def _live_run(name: str, scenario: Scenario, numbers: LiveNumbers, observables: Observables) -> LiveRun:
    at, extra = 0, {}
    for group, values in numbers.base.groups.items():
        if group.startswith(EXTRA):
            extra[group.removeprefix(EXTRA)] = (at, at + len(values))
        at += len(values)
    base = numbers.base
    return LiveRun(
        name,
        scenario,
        observables,
        np.concatenate(list(base.groups.values())),
        extra,
        tuple(name.removeprefix(EXTRA) for name in numbers.unfollowed),
    )


_COMPUTE = """\
return function (numbers) {
  let at = 0;
  for (const array of [polhode_initial_states, polhode_initial_parameters, polhode_output_times]) {
    array.set(numbers.subarray(at, at + array.length));
    at += array.length;
  }
  POLHODE_START = numbers[at++];
  for (const array of [polhode_segment_starts, polhode_segment_ends]) {
    array.set(numbers.subarray(at, at + array.length));
    at += array.length;
  }
  POLHODE_STEP = numbers[at];
  @@LOCATE
  const size = 1 + POLHODE_SAMPLE_SIZE;
  const out = new Float64Array(POLHODE_OUTPUTS * size);
  polhode_run(0, out);
  const seen = new Float64Array(POLHODE_OUTPUTS * POLHODE_SEEN), one = new Float64Array(POLHODE_SEEN);
  for (let i = 0; i < POLHODE_OUTPUTS; i++) {
    polhode_observe(one, out.subarray(i * size + 1, (i + 1) * size), polhode_initial_parameters, out[i * size]);
    seen.set(one, i * POLHODE_SEEN);
  }
  return { time: polhode_output_times.slice(), seen };
};
"""

_WORKER = """\
// The answer to a request { id, run, knobs }: { id, run, numbers, time, seen }, or { id, refused: true }.
function polhode_answer(request) {
  const { base, places, fromKnobs, program } = runs[request.run];
  const numbers = Float64Array.from(base), made = new Float64Array(places.length + 1);
  fromKnobs(Float64Array.from(request.knobs), made);
  if (made[places.length] !== 1) return { id: request.id, run: request.run, refused: true };
  places.forEach((place, i) => (numbers[place] = made[i]));
  return { id: request.id, run: request.run, numbers, ...program(numbers) };
}
if (typeof module !== "undefined") module.exports = { polhode_answer };
else {
  self.onmessage = ({ data }) => {
    const answer = polhode_answer(data);
    self.postMessage(answer, answer.refused ? [] : [answer.numbers.buffer, answer.time.buffer, answer.seen.buffer]);
  };
}
"""
