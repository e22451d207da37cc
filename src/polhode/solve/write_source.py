"""A scenario as a program in another language, or compiled: it computes the same motion, to the last bit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import InputError, ScenarioError, show
from polhode.integrate.buffer import pack_buffer, pack_pairs, packing_of
from polhode.integrate.loops.layout import assign_places
from polhode.integrate.prepare import Plan, Structure, plan_of, structure_of
from polhode.integrate.straight import (
    UnitArrays,
    adaptive_functions,
    closed_form_functions,
    fixed_functions,
    impulse_function,
)
from polhode.integrate.timeline import Segment, Timeline, discontinuity_times, locate_on_grid, open_windows
from polhode.integrate.traced_functions import forces_need_velocity, trace_functions
from polhode.io.atomic_files import check_suffix, write_atomic
from polhode.ir.graph import TraceError
from polhode.ir.targets.languages import LANGUAGES
from polhode.ir.targets.loop_source import write_loop
from polhode.ir.targets.phrases import Language, literal, table
from polhode.ir.targets.source import SourceFunction, write_function
from polhode.scenario.force import Force, flatten_leaves, map_leaves
from polhode.scenario.members import over_bodies
from polhode.scenario.method_choice import AUTO
from polhode.scenario.preflight import check_user_functions
from polhode.scenario.scenario import Scenario
from polhode.solve import run_loops
from polhode.solve.simulate import ask_for_final_states, run_motion
from polhode.solve.source_comments import describe_arrays, describe_run, one_line, sample_header
from polhode.solve.write_object import write_object, write_wasm
from polhode.validation import Array, check_kind, check_path, check_word

MOST_NUMBERS = 1_000_000
"""First states, parameters and output times that a file may hold."""
COMPILED = {"wasm": write_wasm, "object": write_object}


def write_source(scenario: Scenario, language: str, path: str | Path, target: str | None = None) -> None:
    """Write a scenario as a program that computes the same motion, to the last bit.

    The file stands alone: the layout of state and parameters in comments, their values, the functions that advance the
    state, and an example main that prints the samples.  It is compiled without fused multiplications and additions; its
    first lines say how.  With method "auto" the motion is computed once to find the method and the tolerance.

    Every method but "taylor", every formulation, all forces, pivots, impulses and windows, systems and ensembles.  As
    source: no events, no contacts, no rotors, no mass that changes, no added mass.  As WebAssembly and as an object
    these too, but nothing that happens at a given time inside the run: no impulses, edges of windows, breaks or knots
    of tables.

    Parameters
    ----------
    scenario : Scenario
        What to compute.  Of an ensemble without output times only the final states are printed, as `ph.ensemble` does.
    language : {"c", "cuda", "rust", "javascript", "wasm", "object"}
        C99, CUDA C++ (one thread for each body or member), Rust, or JavaScript for Node, pages and workers; a
        WebAssembly module with a driver in JavaScript beside it (.mjs); or an object with a header in C beside it (.h).
    path : str or Path
        Where to: .c, .cu, .rs, .js or .cjs, .wasm, .o.
    target : str, optional
        Of an object the processor: "aarch64", "riscv64" or "x86_64".  Of a module "scalar", as by default, or "simd"
        (two numbers at once: faster for ensembles).

    Examples
    --------
    >>> import polhode as ph, pathlib, tempfile
    >>> top = ph.Body(mass=1.0, inertia=(1.0, 2.0, 2.5))
    >>> spin = ph.State(angular_velocity_body=(0.1, 3.0, 0.0))
    >>> scenario = ph.Scenario(top, spin, duration=2.0, step=0.01, method="rk4")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "top.c"
    ...     ph.write_source(scenario, "c", path)
    ...     "polhode_step(double *state, const double *parameters, double t, double h)" in path.read_text()
    True
    """
    check_kind(scenario, "scenario", Scenario)
    path = check_path(path, "the source")
    if check_word(language, "language", (*LANGUAGES, *COMPILED)) in COMPILED:
        COMPILED[language](settle_run(scenario), path, target)
        return
    if target is not None:
        raise InputError(
            f"target is for 'wasm' and 'object': a program in {show(language)} runs wherever it is compiled"
        )
    check_suffix(path, LANGUAGES[language].suffixes, "the source")
    write_atomic(path, source_of(scenario, language).text(path.stem).encode())


class SourceProgram(NamedTuple):
    """The parts of a program, and the numbers with which it begins."""

    language: Language
    title: str
    layout: str
    """Which number of the arrays is what, as comments."""
    functions: str
    """The functions that advance the state: they need nothing else."""
    data: str
    """Sizes, first numbers and output times."""
    main: str
    initial_states: Array
    """(units, numbers)"""
    parameters: Array
    """(units, numbers)"""
    traced: list[SourceFunction]
    """The functions as they were traced, for other emitters."""

    def text(self, stem: str = "motion") -> str:
        """The whole file."""
        run = self.language.command.format(one_line(stem))
        title = f"// {self.title}.\n// Written by Polhode.  To run it: {run}\n//"
        return "\n".join([title, self.layout, self.language.head, self.functions, self.data, self.main])


def source_of(scenario: Scenario, language: str) -> SourceProgram:
    """The program of a scenario in a language."""
    return SourceExporter(settle_scenario(scenario), LANGUAGES[language]).program()


def settle_scenario(scenario: Scenario) -> Scenario:
    """The scenario with its functions traced and its method known; what cannot be exported is refused."""
    if scenario.events:
        raise ScenarioError(
            f"a scenario with events cannot be exported: leave out {scenario.events[0].name}, and watch for it in the "
            "program between two steps; or write it as 'wasm' or 'object'"
        )
    if scenario.is_extended:
        raise ScenarioError(
            "a scenario with rotors, a mass that changes or added mass cannot be exported: leave that out, write it as "
            "'wasm' or 'object', or use ph.simulate"
        )
    if scenario.contacts:
        raise ScenarioError(
            "a scenario with contacts cannot be exported: leave them out, write it as 'wasm' or 'object', or use "
            "ph.simulate"
        )
    return settle_run(scenario)


def settle_run(scenario: Scenario) -> Scenario:
    """The scenario with its functions traced and its method known."""
    if scenario.members is not None and scenario.output_step is None and scenario.output_times is None:
        scenario = scenario.with_settings(output_times=[scenario.end_time])
    for times in discontinuity_times(scenario):
        if np.ndim(times) and np.unique(times).size > 1:
            raise ScenarioError(
                "members whose impulses or windows are at different times cannot be exported together: export each "
                "alone, scenario.take(0), scenario.take(1), ..."
            )
    scenario = scenario.with_settings(engine="cpu", precision="strict")
    check_user_functions(scenario)
    scenario = trace_functions(scenario)
    if scenario.method == AUTO:
        if scenario.used_method.is_closed_form:
            scenario = scenario.with_choice()
        else:
            is_single = scenario.members is None
            scenario = run_motion(
                scenario if is_single else ask_for_final_states(scenario), is_single, None, None
            ).scenario
    if scenario.used_method.is_taylor_series:
        raise ScenarioError("method 'taylor' cannot be exported: its steps are those of heyoka; use method='dop853'")
    return scenario


def exported_structure(scenario: Scenario, counts_work: bool, needs_output_inside: bool) -> Structure:
    """The structure of a scenario whose steps are written out, one unit at a time."""
    needs_velocity = scenario.used_method.is_splitting and forces_need_velocity(scenario)
    structure = structure_of(scenario, counts_work, needs_output_inside, needs_velocity)
    return structure._replace(engine="python", lanes=1, staged=structure.is_system)


class SourceExporter:
    """The numbers and functions of a scenario."""

    def __init__(self, scenario: Scenario, language: Language) -> None:
        self.scenario, self.language = scenario, language
        self.counts_work = scenario.members is None  # as `ph.simulate` does
        self.timeline = Timeline.of(scenario)
        self.structure, self.plan = self._plan()
        self.impulses = scenario.of_kind("impulse")
        self.pairs = pack_pairs(scenario)
        sizes = tuple(len(flatten_leaves(self._impulse_params(f))) for f in self.impulses)
        self.units = (scenario.members or 1) if self.plan.is_system else scenario.count
        bodies = len(scenario.bodies) if self.plan.is_system else 1
        pair_sizes = tuple(stride or len(numbers) for _, numbers, stride in self.pairs)
        self.arrays = UnitArrays(self.plan.layout, bodies, pair_sizes, sizes)
        self.segments = self._segments()

    def _plan(self) -> tuple[Structure, Plan]:
        """The structure of the scenario, and the steps of one unit."""
        structure = exported_structure(self.scenario, self.counts_work, self.timeline.has_output_inside)
        return structure, plan_of(structure)

    def _segments(self) -> Sequence[Segment]:
        """The segments of the run up to its last output."""
        return self.timeline.segments

    # Numbers ----------------------------------------------------------------------------------------------------------
    def _impulse_params(self, f: Force) -> Any:
        """The parameters of an impulse behind a 1 or 0 for each body."""
        bodies = np.arange(len(self.scenario.bodies))
        acts = np.ones(len(bodies)) if f.bodies is None else np.isin(bodies, f.bodies).astype(float)
        return (acts, over_bodies(f.params, self.scenario))

    def initial_numbers(self) -> tuple[Array, Array]:
        """The first states and the parameters, a row for each unit."""
        arrays, layout, scenario = self.arrays, self.plan.layout, self.scenario
        buffer = pack_buffer(scenario, packing_of(scenario, self.plan), self.plan.is_system)
        buffer = buffer.reshape(self.units, arrays.bodies, self.plan.unit_size)
        clocks = np.zeros((self.units, len(layout.clock)))
        if len(layout.clock):
            clocks[:, layout.clock._fields.index("h")] = scenario.step or scenario.duration / 1000
        states = [buffer[:, :, : layout.sample_size].reshape(self.units, -1), clocks]
        parameters = [buffer[:, :, layout.sample_size : arrays.parameters_end].reshape(self.units, -1)]
        for (_, numbers, _), size in zip(self.pairs, arrays.pair_sizes, strict=True):
            parameters.append(np.broadcast_to(numbers.reshape(-1, size), (self.units, size)))
        for f in self.impulses:
            leaves = [np.broadcast_to(x, scenario.shape).ravel() for x in flatten_leaves(self._impulse_params(f))]
            parameters.append(np.stack(leaves, axis=-1).reshape(self.units, -1))
        return np.concatenate(states, axis=1), np.concatenate(parameters, axis=1)

    def tables(self) -> dict[str, Any]:
        """The tables that the run goes by."""
        scenario, method, segments = self.scenario, self.scenario.used_method, self.segments
        tables: dict[str, Any] = {
            "output_times": scenario.times,
            "segment_starts": [segment.start for segment in segments],
            "segment_stops": np.cumsum([0, *(len(segment.outputs) for segment in segments)]),
        }
        if method.is_closed_form:
            return tables | {"segment_has_impulses": [bool(self.timeline.impulses_at(t)) for t in self.instants()]}
        if method.is_adaptive:
            del tables["segment_starts"]
            through = [segment.goes_on for segment in segments]
            return tables | {"segment_ends": [segment.end for segment in segments], "segment_through": through}
        steps: list[float] = []
        rests: list[float] = []
        outputs: list[float] = []
        counts = [0]
        for segment in segments:
            k, rest = locate_on_grid(segment.stops, segment.start, scenario.needed_step)
            first = sum(1 for row in outputs if row >= 0)
            outputs += [*range(first, first + len(segment.outputs)), *([] if segment.is_last else [-1])]
            steps, rests = [*steps, *k.tolist()], [*rests, *rest.tolist()]
            counts.append(len(steps))
        more = {"segment_stops": counts, "stop_steps": steps, "stop_rests": rests, "stop_outputs": outputs}
        return tables | more

    # Text -------------------------------------------------------------------------------------------------------------
    def program(self) -> SourceProgram:
        """All parts of the program."""
        scenario, language = self.scenario, self.language
        states, parameters = self.initial_numbers()
        count = states.size + parameters.size + len(scenario.times)
        if count > MOST_NUMBERS:
            raise ScenarioError(
                f"first states, parameters and output times are {count} numbers, more than the {MOST_NUMBERS} that a "
                "source file may hold: export fewer members, scenario.take(range(100)), or fewer outputs, and let your "
                "program fill in the others"
            )
        functions = self.functions()
        tables = {"initial_states": states.ravel(), "initial_parameters": parameters.ravel(), **self.tables()}
        data = [language.whole_constant.format(f"POLHODE_{name}", value) for name, value in self.constants().items()]
        numbers = {"START": scenario.start_time, "NOT_REACHED": np.nan}
        if scenario.used_method.needs_step:
            numbers["STEP"] = scenario.needed_step
        for name, value in numbers.items():
            data.append(language.number_constant.format(f"POLHODE_{name}", literal(float(value), language)))
        data += [table(f"polhode_{name}", values, language) for name, values in tables.items()]
        return SourceProgram(
            language,
            describe_run(scenario),
            "\n".join(f"// {line}".rstrip() for line in describe_arrays(scenario, self.arrays, self.counts_work)),
            self.functions_text(functions),
            "\n".join(data) + "\n",
            self._main(functions),
            states,
            parameters,
            functions,
        )

    def functions(self) -> list[SourceFunction]:
        scenario, plan, arrays = self.scenario, self.plan, self.arrays
        joins = [joins for joins, _, _ in self.pairs]
        try:
            if scenario.used_method.is_closed_form:
                made = closed_form_functions(plan, arrays)
            elif scenario.used_method.is_adaptive:
                renormalize = scenario.form.after_step(scenario.renormalize)
                made = adaptive_functions(plan, arrays, joins, renormalize, scenario.tolerances, self.structure.dense)
            else:
                made = fixed_functions(plan, arrays, joins)
            for i, f in enumerate(self.impulses):
                places, _ = assign_places((0, map_leaves(lambda _: 0, f.params)), 0, 1)
                is_pivoted, is_masked = scenario.pivot is not None, f.bodies is not None
                made.append(impulse_function(i, f.kernel, places, is_masked, scenario.form, is_pivoted, arrays))
        except TraceError as error:
            raise ScenarioError(
                f"this scenario cannot be exported: {error}. Every body, force and pair is written out for every stage "
                "of a step: export a smaller system, or a method with fewer stages"
            ) from error
        return made

    def constants(self) -> dict[str, int]:
        arrays, layout = self.arrays, self.plan.layout
        found = {
            "BODIES": arrays.bodies,
            "COLUMNS": layout.sample_size,
            "UNITS": self.units,
            "SAMPLE_SIZE": arrays.bodies * layout.sample_size,
            "STATE_SIZE": arrays.state_size,
            "PARAMETER_SIZE": arrays.parameter_size,
            "OUTPUTS": len(self.scenario.times),
            "SEGMENTS": len(self.segments),
        }
        if layout.clock:
            tried, error = (arrays.place(place)[2] for place in layout.attempt)
            time, step = (arrays.place(place)[2] for place in (layout.clock.t, layout.clock.h))
            found |= {"WORK_SIZE": arrays.work_size, "TIME": time, "STEP_SIZE": step}
            found |= {"STEP_TRIED": tried, "STEP_ERROR": error}
        return found

    def run_text(self) -> str:
        """The functions that take a unit through its run: they need the functions, sizes and tables before them."""
        method, known = self.scenario.used_method, ["HAS_DENSE_OUTPUT"] if self.structure.dense else []
        run = run_loops.run_closed_form if method.is_closed_form else run_loops.run_fixed
        parts = [self.impulse_calls(), self.window_changes()]
        parts += [write_loop(function, self.language) for function in run_loops.COMMON]
        if method.is_adaptive:
            parts.append(write_loop(run_loops.advance, self.language, known))
            run = run_loops.run_adaptive
        return "\n".join([*parts, write_loop(run, self.language, name="run")])

    def _main(self, functions: Sequence[SourceFunction]) -> str:
        names = [f.name for f in functions] + ["polhode_attempt"] * self.scenario.used_method.is_adaptive
        tables = ("initial_states", "initial_parameters", "output_times")
        names += ["polhode_run", *(f"polhode_{name}" for name in tables)]
        main = self.language.main.replace("@@HEADER", ",".join(sample_header(self.scenario, self.counts_work)))
        return "\n".join([self.run_text(), main.replace("@@NAMES", ", ".join(names))])

    def functions_text(self, functions: Sequence[SourceFunction]) -> str:
        """The functions that advance the state."""
        return "\n\n".join([*(write_function(f, self.language) for f in functions), self._attempt()])

    def _attempt(self) -> str:
        return write_loop(run_loops.attempt, self.language) if self.scenario.used_method.is_adaptive else ""

    def instants(self) -> list[float]:
        """The beginnings of the segments, and the end if the last output shows the impulses there; else no time."""
        end = self.timeline.end if self.timeline.shows_end else np.nan
        return [*(segment.start for segment in self.segments), end]

    def impulse_calls(self) -> str:
        """Which impulses are applied at the beginning of which segment; the one after the last is the end."""
        lines = ["def impulses(segment: Whole, state: Out, parameters: In):"]
        lines.append("    'Apply the impulses at the beginning of a segment.'")
        for i, t in enumerate(self.instants()):
            for f in self.timeline.impulses_at(t):
                call = f"program.impulse_{self.impulses.index(f)}(state, parameters, {float(t)!r})"
                lines.append(f"    if segment == {i}: {call}")
        return write_loop("\n".join(lines), self.language)

    def window_changes(self) -> str:
        """A force that acts in a window acts always or never in a segment, so that no stage sees its edge."""
        lines = ["def windows(segment: Whole, parameters: Out):"]
        lines.append("    'Open and close the windows of forces for a segment.'")
        arrays, layout = self.arrays, self.plan.layout
        for f, places in zip(self.scenario.of_kind("body"), layout.params, strict=True):
            edges = (places if f.bodies is None else places[1])[-1] if f.has_windows else ()
            are_open = [open_windows(f.windows, segment) for segment in self.segments]
            for window, both in enumerate(zip(edges[::2], edges[1::2], strict=True)):
                opened = [i for i, each in enumerate(are_open) if np.ravel(each[window])[0]]
                test = " or ".join(f"segment == {i}" for i in opened) or "False"
                for b in range(arrays.bodies):
                    first, last = (arrays.place(edge + b * layout.size)[2] for edge in both)
                    lines.append(f"    parameters[{first}] = -inf if {test} else inf")
                    lines.append(f"    parameters[{last}] = inf")
        return write_loop("\n".join(lines), self.language)
