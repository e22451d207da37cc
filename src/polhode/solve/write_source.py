"""A scenario as a program in C, CUDA C++ or JavaScript: one file that computes the same motion, to the last bit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from polhode.backends.graph import TraceError
from polhode.backends.layout import assign_places
from polhode.backends.prepare import Plan, plan_of, structure_of
from polhode.backends.source import (
    DIALECTS,
    JAVASCRIPT,
    Dialect,
    SourceFunction,
    literal,
    table,
    translate,
    write_function,
)
from polhode.backends.straight import (
    UnitArrays,
    adaptive_functions,
    closed_form_functions,
    fixed_functions,
    impulse_function,
)
from polhode.engines import segments
from polhode.engines.buffer import pack_buffer, pack_pairs, packing_of
from polhode.engines.impulses import impulses_at
from polhode.engines.user_functions import forces_need_velocity, settle_functions
from polhode.errors import InputError, ScenarioError
from polhode.io.atomic_files import check_suffix, write_atomic
from polhode.model.force import Force, flatten_leaves, map_leaves
from polhode.model.members import over_bodies
from polhode.model.method_choice import AUTO
from polhode.model.preflight import check_user_functions
from polhode.model.scenario import Scenario
from polhode.solve import source_templates as templates
from polhode.solve.simulate import ensemble, simulate
from polhode.validation import Array

MOST_NUMBERS = 1_000_000
"""First states, parameters and output times that a file may hold."""
SUFFIXES = {"c": (".c",), "cuda": (".cu",), "javascript": (".js", ".cjs")}
_COMPILE = {
    "c": "gcc -O2 -ffp-contract=off {0}.c -o {0} -lm && ./{0}",
    "cuda": "nvcc -O2 --fmad=false {0}.cu -o {0} && ./{0}",
    "javascript": "node {0}.js",
}


def write_source(scenario: Scenario, language: str, path: str | Path) -> None:
    """Write a scenario as a program that computes the same motion, to the last bit.

    The file stands alone: the layout of state and parameters in comments, their values, the functions that advance the
    state, and an example main that prints the samples.  It is compiled without fused multiplications and additions; its
    first lines say how.  With method "auto" the motion is computed once to find the method and the tolerance.

    Every method but "taylor", every formulation, all forces, pivots, impulses and windows, systems and ensembles; no
    events.

    Parameters
    ----------
    scenario : Scenario
        What to compute.  Of an ensemble without output times only the final states are printed, as `ph.ensemble` does.
    language : {"c", "cuda", "javascript"}
        C99, CUDA C++ (one thread for each body or member), or JavaScript for Node, pages and workers.
    path : str or Path
        Where to: .c, .cu, .js or .cjs.

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
    path = Path(path)
    if language not in DIALECTS:
        raise InputError(f"language must be one of {', '.join(map(repr, DIALECTS))}, but is {language!r}")
    check_suffix(path, SUFFIXES[language], "the source")
    write_atomic(path, source_of(scenario, language).text(path.stem).encode())


class SourceProgram(NamedTuple):
    """The parts of a program, and the numbers with which it begins."""

    language: str
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
        heads = {"c": templates.C_HEAD, "cuda": templates.CUDA_HEAD, "javascript": templates.JAVASCRIPT_HEAD}
        head = heads[self.language]
        run = _COMPILE[self.language].format(_one_line(stem))
        title = f"// {self.title}.\n// Written by Polhode.  To run it: {run}\n//"
        return "\n".join([title, self.layout, head, self.functions, self.data, self.main])


def source_of(scenario: Scenario, language: str) -> SourceProgram:
    """The program of a scenario in a language."""
    return _Exporter(_settle_scenario(scenario), DIALECTS[language]).program()


def _settle_scenario(scenario: Scenario) -> Scenario:
    """The scenario with its functions traced and its method known; what cannot be exported is refused."""
    if scenario.events:
        raise ScenarioError(
            f"a scenario with events cannot be exported: leave out {scenario.events[0].name}, and watch for it in the "
            "program between two steps"
        )
    if scenario.members is not None and scenario.output_step is None and scenario.output_times is None:
        scenario = replace(scenario, output_times=[scenario.end_time])
    for times in segments.discontinuity_times(scenario):
        if np.ndim(times) and np.unique(times).size > 1:
            raise ScenarioError(
                "members whose impulses or windows are at different times cannot be exported together: export each "
                "alone, scenario.take(0), scenario.take(1), ..."
            )
    scenario = replace(scenario, engine="cpu")
    check_user_functions(scenario)
    scenario = settle_functions(scenario)
    if scenario.method == AUTO:
        if scenario.used_method.is_closed_form:
            chosen = scenario.choice
            scenario = replace(scenario, method=chosen.method.name, formulation=chosen.formulation)
        else:
            scenario = (simulate if scenario.members is None else ensemble)(scenario).scenario
    if scenario.used_method.is_taylor_series:
        raise ScenarioError("method 'taylor' cannot be exported: its steps are those of heyoka; use method='dop853'")
    return scenario


class _Exporter:
    """The numbers and functions of a scenario."""

    def __init__(self, scenario: Scenario, dialect: Dialect) -> None:
        self.scenario, self.dialect = scenario, dialect
        self.counts_work = scenario.members is None  # as `ph.simulate` does
        inside = segments.has_output_inside_segments(scenario)
        method = scenario.used_method
        needs_velocity = method.is_splitting and forces_need_velocity(scenario)
        self.structure = structure_of(scenario, self.counts_work, inside, needs_velocity)
        self.structure = self.structure._replace(engine="python", lanes=1, staged=self.structure.is_system)
        self.plan: Plan = plan_of(self.structure)
        self.impulses = scenario.of_kind("impulse")
        self.pairs = pack_pairs(scenario)
        sizes = tuple(len(flatten_leaves(self._impulse_params(f))) for f in self.impulses)
        self.units = (scenario.members or 1) if self.plan.is_system else scenario.count
        bodies = len(scenario.bodies) if self.plan.is_system else 1
        pair_sizes = tuple(stride or len(numbers) for _, numbers, stride in self.pairs)
        self.arrays = UnitArrays(self.plan.layout, bodies, pair_sizes, sizes)
        end = segments.last_boundary(scenario)
        edges = [scenario.start_time, *segments.segment_boundaries(scenario), end]
        self.segments = list(pairwise(edges if len(edges) > 1 else [end, end]))
        last = next((i for i, (_, b) in enumerate(self.segments) if scenario.times[-1] < b), len(self.segments))
        self.segments = self.segments[: last + 1]

    # Numbers ----------------------------------------------------------------------------------------------------------
    def _impulse_params(self, f: Force) -> Any:
        """The parameters of an impulse behind a 1 or 0 for each body."""
        bodies = np.arange(len(self.scenario.bodies))
        acts = np.ones(len(bodies)) if f.bodies is None else np.isin(bodies, f.bodies).astype(float)
        return (acts, over_bodies(f.params, self.scenario))

    def _initial_numbers(self) -> tuple[Array, Array]:
        """The first states and the parameters, a row for each unit."""
        arrays, layout, scenario = self.arrays, self.plan.layout, self.scenario
        buffer = pack_buffer(scenario, packing_of(scenario, self.plan), self.plan.is_system)
        buffer = buffer.reshape(self.units, arrays.bodies, self.plan.unit_size)
        clocks = np.zeros((self.units, len(layout.clock)))
        if len(layout.clock):
            clocks[:, 1] = scenario.step or scenario.duration / 1000
        states = [buffer[:, :, : layout.sample_size].reshape(self.units, -1), clocks]
        parameters = [buffer[:, :, layout.sample_size : arrays.parameters_end].reshape(self.units, -1)]
        for (_, numbers, _), size in zip(self.pairs, arrays.pair_sizes, strict=True):
            parameters.append(np.broadcast_to(numbers.reshape(-1, size), (self.units, size)))
        for f in self.impulses:
            leaves = [np.broadcast_to(x, scenario.shape).ravel() for x in flatten_leaves(self._impulse_params(f))]
            parameters.append(np.stack(leaves, axis=-1).reshape(self.units, -1))
        return np.concatenate(states, axis=1), np.concatenate(parameters, axis=1)

    def _stops(self) -> Iterator[tuple[Array, bool]]:
        """The outputs of each segment, and whether the run goes on after it."""
        times = self.scenario.times
        for a, b in self.segments:
            is_last = b == segments.last_boundary(self.scenario)
            yield times[(times >= a) & ((times <= b) if is_last else (times < b))], not is_last and times[-1] >= b

    def _tables(self) -> dict[str, Any]:
        """The tables that the run goes by."""
        scenario, method = self.scenario, self.scenario.used_method
        stops = list(self._stops())
        tables: dict[str, Any] = {
            "output_times": scenario.times,
            "segment_starts": [a for a, _ in self.segments],
            "segment_stops": np.cumsum([0, *(len(wanted) for wanted, _ in stops)]),
        }
        if method.is_closed_form:
            return tables | {"segment_has_impulses": [bool(impulses_at(scenario, t)) for t in self._instants()]}
        if method.is_adaptive:
            ends = {"segment_ends": [b for _, b in self.segments], "segment_through": [goes_on for _, goes_on in stops]}
            del tables["segment_starts"]
            return tables | ends
        steps: list[float] = []
        rests: list[float] = []
        outputs: list[float] = []
        counts = [0]
        for (a, b), (wanted, _) in zip(self.segments, stops, strict=True):
            is_last = b == segments.last_boundary(scenario)
            k, rest = segments.locate_on_grid(wanted if is_last else np.append(wanted, b), a, scenario.needed_step)
            first = sum(1 for row in outputs if row >= 0)
            outputs += [*range(first, first + len(wanted)), *([] if is_last else [-1])]
            steps, rests = [*steps, *k.tolist()], [*rests, *rest.tolist()]
            counts.append(len(steps))
        more = {"segment_stops": counts, "stop_steps": steps, "stop_rests": rests, "stop_outputs": outputs}
        return tables | more

    # Text -------------------------------------------------------------------------------------------------------------
    def program(self) -> SourceProgram:
        """All parts of the program."""
        scenario, dialect = self.scenario, self.dialect
        states, parameters = self._initial_numbers()
        count = states.size + parameters.size + len(scenario.times)
        if count > MOST_NUMBERS:
            raise ScenarioError(
                f"first states, parameters and output times are {count} numbers, more than the {MOST_NUMBERS} that a "
                "source file may hold: export fewer members, scenario.take(range(100)), or fewer outputs, and let your "
                "program fill in the others"
            )
        functions = self._functions()
        tables = {"initial_states": states.ravel(), "initial_parameters": parameters.ravel(), **self._tables()}
        data = [dialect.constant.format(f"POLHODE_{name}", value) for name, value in self._constants().items()]
        numbers = {"START": scenario.start_time, "NOT_REACHED": np.nan}
        if scenario.used_method.needs_step:
            numbers["STEP"] = scenario.needed_step
        define = "const {0} = {1};" if dialect is JAVASCRIPT else "#define {0} {1}"
        data += [define.format(f"POLHODE_{name}", literal(float(value), dialect)) for name, value in numbers.items()]
        data += [table(f"polhode_{name}", values, dialect) for name, values in tables.items()]
        return SourceProgram(
            dialect.name,
            self._title(),
            "\n".join(f"// {line}".rstrip() for line in self._layout()),
            "\n\n".join([*(write_function(f, dialect) for f in functions), self._attempt()]),
            "\n".join(data) + "\n",
            self._main(functions),
            states,
            parameters,
            functions,
        )

    def _functions(self) -> list[SourceFunction]:
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

    def _constants(self) -> dict[str, int]:
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
            clock = found["SAMPLE_SIZE"]
            found |= {"WORK_SIZE": arrays.work_size, "TIME": clock, "STEP_SIZE": clock + 1}
            found |= {"STEP_TRIED": tried, "STEP_ERROR": error}
        return found

    def _main(self, functions: Sequence[SourceFunction]) -> str:
        dialect, method = self.dialect, self.scenario.used_method
        run = templates.CLOSED_FORM if method.is_closed_form else templates.FIXED + templates.END
        if method.is_adaptive:
            inside = templates.INSIDE if self.structure.dense else ""
            run = templates.ADAPTIVE.replace("@@INSIDE\n", inside) + templates.END
        mains = {"c": templates.C_MAIN, "cuda": templates.CUDA_MAIN, "javascript": templates.JAVASCRIPT_MAIN}
        names = [f.name for f in functions] + ["polhode_attempt"] * method.is_adaptive
        names += [
            "polhode_run",
            *(f"polhode_{name}" for name in ("initial_states", "initial_parameters", "output_times")),
        ]
        main = mains[dialect.name].replace("@@HEADER", ",".join(self._header())).replace("@@EXPORTS", ", ".join(names))
        parts = [self._impulse_calls(), self._window_changes(), templates.COMMON, run]
        return "\n".join([*(translate(part, dialect) for part in parts), main])

    def _attempt(self) -> str:
        return translate(templates.ATTEMPT, self.dialect) if self.scenario.used_method.is_adaptive else ""

    def _instants(self) -> list[float]:
        """The beginnings of the segments, and the end if the last output shows the impulses there; else no time."""
        end = segments.last_boundary(self.scenario)
        shows_end = self.scenario.times[-1] == end and end > self.scenario.start_time
        return [*(a for a, _ in self.segments), end if shows_end else np.nan]

    def _impulse_calls(self) -> str:
        """Which impulses are applied at the beginning of which segment; the one after the last is the end."""
        lines = ["@function polhode_impulses(@whole segment, @out state, @in parameters) {"]
        for i, t in enumerate(self._instants()):
            for f in impulses_at(self.scenario, t):
                call = f"polhode_impulse_{self.impulses.index(f)}(state, parameters, {literal(t, self.dialect)});"
                lines.append(f"  if (segment == {i}) {call}")
        return "\n".join(["// Apply the impulses at the beginning of a segment.", *lines, "}\n"])

    def _window_changes(self) -> str:
        """A force that acts in a window acts always or never in a segment, so that no stage sees its edge."""
        lines = ["@function polhode_windows(@whole segment, @out parameters) {"]
        arrays, layout, infinity = self.arrays, self.plan.layout, self.dialect.infinity
        for f, places in zip(self.scenario.of_kind("body"), layout.params, strict=True):
            if f.window is None:
                continue
            own = places if f.bodies is None else places[1]
            start, stop = (float(np.ravel(f.params[i])[0]) for i in f.window)
            opened = [i for i, (a, b) in enumerate(self.segments) if start <= (a + b) / 2 < stop]
            test = " || ".join(f"segment == {i}" for i in opened) or "false"
            for b in range(arrays.bodies):
                first, last = (arrays.place(own[i] + b * layout.size)[2] for i in f.window)
                lines.append(f"  parameters[{first}] = {test} ? -{infinity} : {infinity};")
                lines.append(f"  parameters[{last}] = {infinity};")
        return "\n".join(["// Open and close the windows of forces for a segment.", *lines, "}\n"])

    # Comments ---------------------------------------------------------------------------------------------------------
    def _title(self) -> str:
        scenario = self.scenario
        who = scenario.name or (
            "the motion of a body" if scenario.count == 1 else f"the motion of {scenario.count} bodies"
        )
        adaptive = f", rtol {scenario.tolerances[0]}, atol {scenario.tolerances[1]}"
        how = f"method {scenario.used_method.name}{adaptive if scenario.used_method.is_adaptive else ''}"
        return _one_line(f"{who[0].upper()}{who[1:]}: {how}, formulation {scenario.form.name}")

    def _header(self) -> list[str]:
        columns = [name for _, names in _groups(self.scenario) for name in names]
        return [
            "t",
            "member" if self.scenario.members is not None else "body",
            *columns,
            *["work"] * self.counts_work,
            "drift",
        ]

    def _layout(self) -> Iterator[str]:
        """What each number of the arrays is."""
        scenario, arrays = self.scenario, self.arrays
        each = f"; body b at {self.plan.layout.sample_size} b" if arrays.bodies > 1 else ""
        yield f"state, {arrays.state_size} numbers{each}:"
        counter = _Counter()
        for what, names in _groups(scenario):
            yield counter.line(len(names), what)
        if self.counts_work:
            yield counter.line(1, "work done by the forces since the start, in J")
        turn = (
            "square of the largest turn of phi in a step, in rad^2"
            if scenario.form.keeps_angles
            else "drift of the attitude"
        )
        yield counter.line(1, f"{turn}, since the last sample")
        if self.plan.layout.clock:
            counter = _Counter(arrays.bodies * self.plan.layout.sample_size)
            yield counter.line(1, "time from the start of the run on, in s")
            yield counter.line(1, "step to try next, in s; 0: it has shrunk to nothing, and the run is over")
            yield counter.line(1, "1 if the last step was rejected, else 0")
            yield counter.line(2, "number of steps accepted, and rejected")
        each = f"; body b at {arrays.own_parameters} b" if arrays.bodies > 1 else ""
        yield f"parameters, {arrays.parameter_size} numbers{each}:"
        counter, about = _Counter(), "center of mass" if scenario.pivot is None else "pivot"
        yield counter.line(2, "mass in kg, and its reciprocal")
        yield counter.line(3, f"principal moments of inertia about the {about}, in kg m^2")
        yield counter.line(3, "their reciprocals; 0 where nothing turns")
        yield counter.line(4, "quaternion a of the principal axes in the body axes; these are turned by attitude * a^-1")
        yield counter.line(3, "from the center of mass to the pivot, in m")
        if scenario.pivot is not None:
            yield counter.line(10, "moments, reciprocals and axes about the center of mass")
        for f, params in zip(scenario.of_kind("body"), scenario.problem.load_params, strict=True):
            mask = "1 or 0 (whether it acts on the body), then " if f.bodies is not None else ""
            yield counter.line(len(flatten_leaves(params)), f"{f.name}: {mask}its parameters, in SI units")
        if self.plan.layout.least:
            yield counter.line(4, "errors of position, attitude, momentum and spin that no tolerance forbids")
        if self.plan.layout.member:
            yield counter.line(1, "number of the member")
        counter = _Counter(arrays.pair_start(0))
        for size in arrays.pair_sizes:
            yield counter.line(size, "parameters of forces between two bodies, pair by pair")
        for f, size in zip(self.impulses, arrays.impulse_sizes, strict=True):
            yield counter.line(
                size * arrays.bodies, f"{f.name}: 1 or 0 (whether it acts), its parameters; for each body"
            )


def _one_line(text: str) -> str:
    """Text for a comment, without line breaks of any kind."""
    return " ".join(text.split())


class _Counter:
    """Lines that say what the next numbers of an array are."""

    def __init__(self, start: int = 0) -> None:
        self.at = start

    def line(self, count: int, what: str) -> str:
        first, self.at = self.at, self.at + count
        numbers = "-" if count == 0 else f"{first}" if count == 1 else f"{first} to {self.at - 1}"
        return f"  {numbers:<10} {what}"


def _groups(scenario: Scenario) -> list[tuple[str, list[str]]]:
    """The groups of a state: what they are, and the names of their columns."""
    form, held = scenario.form, scenario.pivot is not None
    quaternion = "attitude: quaternion (w, x, y, z) from the principal axes to the world"
    attitudes = {
        "momentum_matrix": (
            "attitude: rotation matrix from the principal axes to the world, row by row",
            [f"r{i}{j}" for i in range(3) for j in range(3)],
        ),
        "euler_angles": ("attitude: Euler angles phi, theta, psi (ZXZ) of the principal axes", ["phi", "theta", "psi"]),
    }
    spins = {
        "body_rates": ("angular velocity, principal axes, in rad/s", ["w1", "w2", "w3"]),
        "euler_angles": ("angular velocity, principal axes, in rad/s", ["w1", "w2", "w3"]),
        "quaternion_acceleration": ("rate of the quaternion, in 1/s", ["dqw", "dqx", "dqy", "dqz"]),
    }
    about = "pivot" if held else "center of mass"
    spin = (f"angular momentum about the {about}, world axes, in kg m^2/s", ["Lx", "Ly", "Lz"])
    return [
        (f"position of the {about}, world axes, in m", ["x", "y", "z"]),
        attitudes.get(form.name, (quaternion, ["qw", "qx", "qy", "qz"])),
        ("linear momentum, world axes, in kg m/s" + (" (0: the pivot is held)" if held else ""), ["px", "py", "pz"]),
        spins.get(form.name, spin),
    ]
