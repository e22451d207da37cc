"""The C code of an FMU: the steps of a scenario with loads from outside, its outputs, and the functions of FMI."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.resources import files
from itertools import pairwise
from typing import Any

import numpy as np

from polhode.equations.force_laws import applied_load
from polhode.equations.formulations import StateView
from polhode.equations.inertia import BodyConstants, constants_for_forces, inertia_times
from polhode.equations.invariants import kinetic_energy
from polhode.equations.law import Groups, Number, Vector
from polhode.equations.quaternions import product, to_body, to_world
from polhode.equations.right_hand_side import Kernel, build_view, sum_forces
from polhode.equations.scalar_ops import if_less
from polhode.equations.vectors import plus, scaled, times
from polhode.errors import ForceError, ScenarioError
from polhode.integrate.prepare import Plan, Structure, plan_of
from polhode.integrate.straight import row_function
from polhode.integrate.timeline import Segment
from polhode.ir.targets.c import C
from polhode.ir.targets.phrases import literal, table
from polhode.ir.targets.source import SourceFunction, write_function
from polhode.scenario import force_evaluation
from polhode.scenario.force import Force
from polhode.scenario.method_choice import AUTO, RUNGE_KUTTA
from polhode.scenario.preflight import check_user_functions
from polhode.scenario.scenario import Scenario
from polhode.solve.fmi.variables import BODY_SETTINGS, body_settings, fmi_variables
from polhode.solve.source_comments import describe_run
from polhode.solve.write_source import SourceExporter, exported_structure, settle_scenario

_ZERO = (0.0, 0.0, 0.0)
_HEAD = """\
#ifdef __FAST_MATH__
#error "compile without -ffast-math: it changes results, and hides NaN"
#endif
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#elif defined(_MSC_VER)
#pragma fp_contract(off)
#endif
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
"""


def settle_for_fmu(scenario: Scenario) -> Scenario:
    """The scenario with its functions traced, and its method known.

    Method "auto" becomes what `ph.simulate` finds for the motion without loads, so that this has its bits; but the
    closed form takes no loads, and Taylor series cannot be written: then "dop853".
    """
    if scenario.members is not None:
        raise ScenarioError("an FMU is one motion: take a member of the ensemble, scenario.take(0)")
    takes_loads = scenario.used_method.tableau is not None
    if scenario.method == AUTO and (not takes_loads or scenario.events or scenario.is_constrained):
        scenario = replace(scenario, method=RUNGE_KUTTA.name)
    if scenario.used_method.is_closed_form:
        raise ScenarioError(
            f"method {scenario.method!r} is the closed form of a motion without loads, and an FMU takes loads: use "
            "method='dop853', or 'rk4' with a step"
        )
    if scenario.form.keeps_angles:
        raise ScenarioError(
            "formulation 'euler_angles' is singular at some attitudes, which an FMU could not report: use 'momentum'; "
            "the outputs are the same quantities"
        )
    check_user_functions(scenario)
    try:
        return settle_scenario(scenario)
    except (ForceError, ScenarioError) as error:
        advice = "A Python-based FMU, python=True (--python), can hold it: it runs where Polhode is installed."
        raise type(error)(f"{str(error).rstrip('.')}. {advice}") from error


class NativeExporter(SourceExporter):
    """The C code of an FMU.  Loads from outside are added to the sum of the scenario's forces."""

    def __init__(self, scenario: Scenario) -> None:
        bodies = len(scenario.bodies)
        load = Force("applied_load", applied_load, (_ZERO,) * 4)
        each = [replace(load, bodies=(i,)) for i in range(bodies)] if scenario.is_system else [load]
        self.own_forces, self.own_loads = scenario.acting_forces, len(each)
        super().__init__(replace(scenario, forces=(*scenario.forces, *each)), C)
        self.variables = fmi_variables(scenario)

    def _plan(self) -> tuple[Structure, Plan]:
        """As for a run; but the scenario's forces are summed as if alone, so that loads of 0 change no bit of them."""
        structure = exported_structure(self.scenario, self.counts_work, True)
        joined = _add_loads(structure.load_kernels, self.own_loads)
        plan = plan_of(structure._replace(load_kernels=(joined,), load_shape=(structure.load_shape,)))
        return structure, plan._replace(layout=plan.layout._replace(params=plan.layout.params[0]))

    def _segments(self) -> Sequence[Segment]:
        """The first begins before all discontinuities, the last ends after them."""
        edges = [self.edges[0] - 1.0, *self.edges, self.edges[-1] + 1.0] if self.edges else [0.0, 1.0]
        return [Segment(a, b, np.empty(0)) for a, b in pairwise(edges)]

    def instants(self) -> list[float]:
        return [np.nan, *self.edges]

    @property
    def edges(self) -> list[float]:
        """The times that no step may cross."""
        return list(self.timeline.instants)

    # Places -----------------------------------------------------------------------------------------------------------
    def _place(self, body: int, at: int) -> int:
        """The place of a number of a body among the states or parameters of all units."""
        arrays = self.arrays
        unit, own = divmod(body, arrays.bodies)
        name, _, place = arrays.place(own * arrays.layout.size + at)
        return int(place) + unit * (arrays.state_size if name == "state" else arrays.parameter_size)

    def _input_places(self) -> list[int]:
        """Where the loads of each body go: force and torque in world axes, then in body axes."""
        is_system, found = self.scenario.is_system, []
        first = len(self.plan.layout.params) - self.own_loads
        for b in range(len(self.scenario.bodies)):
            places = self.plan.layout.params[first + b][1] if is_system else self.plan.layout.params[first]
            found += [self._place(b, at) for vector in places for at in vector]
        return found

    def _body_places(self, b: int) -> list[int]:
        """Mass, its reciprocal, moments, their reciprocals and axes; with a pivot the last three about both points."""
        c = BodyConstants(*self.plan.layout.body)
        places = (c.mass, c.inverse_mass, *c.moments, *c.inverse_moments, *c.axes)
        about_com = [at for group in c.about_com for at in group]
        return [self._place(b, at) for at in (*places, *about_com)]

    # Functions --------------------------------------------------------------------------------------------------------
    def _read(self, row: Any, body: int, places: Any) -> Any:
        if isinstance(places, tuple):
            return tuple(self._read(row, body, place) for place in places)
        return row[self._place(body, places)]

    def _write(self, row: Any, body: int, places: Any, values: Any) -> None:
        if isinstance(places, tuple):
            for place, value in zip(places, values, strict=True):
                self._write(row, body, place, value)
        else:
            row[self._place(body, places)] = values

    def _start_function(self) -> SourceFunction:
        """The state from position, unit quaternion, velocity and angular velocity along the body axes."""
        layout, form = self.plan.layout, self.scenario.form

        def compute(state: Any, parameters: Any, settings: Any) -> None:
            for b in range(len(self.scenario.bodies)):
                numbers = [settings[b * BODY_SETTINGS + 7 + i] for i in range(13)]
                x, q, v, w = tuple(numbers[:3]), tuple(numbers[3:7]), tuple(numbers[7:10]), tuple(numbers[10:])
                c = BodyConstants(*self._read(parameters, b, layout.body))
                self._write(state, b, layout.state[:4], initial_groups(form, c, x, q, v, w))

        arguments = {"state": "out", "parameters": "in", "settings": "in"}
        return row_function("polhode_start", arguments, compute, ["state"], "The state at the start.")

    def _output_function(self) -> SourceFunction:
        layout, scenario = self.plan.layout, self.scenario
        view, bodies = build_view(scenario.form), range(len(scenario.bodies))

        def compute(out: Any, state: Any, parameters: Any, t: Any) -> None:
            constants = [BodyConstants(*self._read(parameters, b, layout.body)) for b in bodies]
            views: list[StateView] = [view(self._read(state, b, layout.state[:4]), constants[b]) for b in bodies]
            numbers: list[Any] = []
            energies = [kinetic_energy(each) for each in views]
            for each, energy in zip(views, energies, strict=True):
                numbers += [*each.position, *each.orientation, *each.velocity]
                numbers += [*each.angular_velocity, *each.angular_velocity_body]
                numbers += [energy] * scenario.is_system
            kinetic = energies[0]
            for energy in energies[1:]:
                kinetic = kinetic + energy
            potential = force_evaluation.potential_energy(t, views, constants, self.own_forces)
            for i, number in enumerate([*numbers, kinetic, potential, kinetic + potential]):
                out[i] = number

        arguments = {"out": "out", "state": "in", "parameters": "in", "t": "number"}
        return row_function("polhode_outputs", arguments, compute, ["out"], "The outputs at time t, in s.")

    # Text -------------------------------------------------------------------------------------------------------------
    def text(self, version: str, token: str) -> str:
        """The whole file."""
        functions = [*self.functions(), self._start_function(), self._output_function()]
        front = {"2.0": "fmi2.c", "3.0": "fmi3.c"}[version]
        title = f"// {describe_run(self.scenario)}.\n// An FMU for co-simulation, FMI {version}, written by Polhode.\n"
        parts = [
            title,
            _HEAD,
            *(write_function(f, C) + "\n" for f in functions),
            self._data(token),
            self.impulse_calls(),
            self.window_changes(),
            _template("core.c"),
            _template(front),
        ]
        return "\n".join(parts)

    def _data(self, token: str) -> str:
        scenario, bodies = self.scenario, len(self.scenario.bodies)
        states, parameters = self.initial_numbers()
        settings = [x for b, s in zip(scenario.bodies, scenario.states, strict=True) for x in body_settings(b, s)]
        is_adaptive = scenario.used_method.is_adaptive
        settings += [] if is_adaptive else [scenario.needed_step]
        outputs = sum(len(v.start) for v in self.variables if v.causality == "output")
        edges = self.edges
        constants = {
            **{k: v for k, v in self.constants().items() if k not in ("OUTPUTS", "SEGMENTS")},
            "ALL_BODIES": bodies,
            "BODY_SETTINGS": BODY_SETTINGS,
            "SETTING_COUNT": len(settings),
            "INPUT_COUNT": 12 * bodies,
            "OUTPUT_COUNT": outputs,
            "VARIABLES": len(self.variables),
            "EDGES": len(edges),
            "PIVOTED": int(scenario.form.is_held),
            "COUPLED": int(bool(scenario.of_kind("pair"))),
            "KEEPS_MOMENTA": int(scenario.form.keeps_momenta),
        }
        numbers = {"START": scenario.start_time, "END": scenario.end_time, "DURATION": scenario.duration}
        lines = [f'#define POLHODE_TOKEN "{token}"']
        if is_adaptive:
            rtol = scenario.tolerances[0]
            numbers |= {"RTOL_POSITION": rtol[0], "RTOL_ATTITUDE": rtol[1]}
            lines.append("#define POLHODE_ADAPTIVE")
        if any(body.allow_unphysical for body in scenario.bodies):
            lines.append("#define POLHODE_ALLOW_UNPHYSICAL")
        lines += [C.whole_constant.format(f"POLHODE_{name}", value) for name, value in constants.items()]
        lines += [f"#define POLHODE_{name} {literal(float(value), C)}" for name, value in numbers.items()]
        pivot = scenario.pivot if scenario.pivot is not None else np.zeros(3)
        tables: dict[str, Any] = {
            "initial_states": states.ravel(),
            "initial_parameters": parameters.ravel(),
            "default_settings": settings,
            "edges": edges,
            "is_particle": [float(body.is_particle) for body in scenario.bodies],
            "com_to_pivot": np.tile(np.asarray(pivot, dtype=float), bodies),
        }
        lines += [table(f"polhode_{name}", list(values), C) for name, values in tables.items()]
        lines.append(_whole_table("polhode_input_places", self._input_places()))
        lines.append(_whole_rows("polhode_body_places", [self._body_places(b) for b in range(bodies)]))
        if is_adaptive:
            least = [[self._place(b, at) for at in self.plan.layout.least] for b in range(bodies)]
            lines.append(_whole_rows("polhode_least_places", least))
        lines.append(_whole_rows("polhode_variables", [[v.reference, len(v.start)] for v in self.variables]))
        return "\n".join(lines) + "\n"


def initial_groups(form: Any, c: BodyConstants, x: Vector, q: Any, velocity: Vector, spin_body: Vector) -> Groups:
    """A body's start in the groups of a formulation, as `polhode.scenario.problem` makes it, in components alone."""
    momentum = scaled(c.mass, velocity)
    angular_momentum = to_world(q, inertia_times(constants_for_forces(c), spin_body))
    q_principal, w = product(q, c.axes), to_body(c.axes, spin_body)
    spin: Any = tuple(component + 0.0 for component in angular_momentum)
    if form.is_held:
        com_to_pivot = to_world(q, c.com_to_pivot)
        x, momentum = plus(x, com_to_pivot), scaled(0, com_to_pivot)
        spin = to_world(q_principal, times(c.moments, w))
    groups: Groups = form.start(x, q_principal, momentum, spin, c)
    if not form.keeps_body_rates:
        return groups
    turns = zip(c.inverse_moments, w, strict=True)
    return (*groups[:3], tuple(if_less(0.0, inverse, component, 0.0) for inverse, component in turns))


def _add_loads(kernels: Sequence[Kernel], loads: int) -> Callable[..., Any]:
    """The sum of the scenario's forces, and then of the loads: (t, state, body, params of all) -> force, torque."""
    own, count = sum_forces(kernels[:-loads]), len(kernels) - loads

    def total(t: Number, state: StateView, body: BodyConstants, params: Groups) -> tuple[Vector, Vector]:
        force, torque = own(t, state, body, params)
        for i, kernel in enumerate(kernels[count:]):
            push, turn = kernel(t, state, body, params[count + i])
            force, torque = plus(force, push), plus(torque, turn)
        return force, torque

    return total


def _template(name: str) -> str:
    return (files("polhode.solve.fmi") / name).read_text(encoding="utf-8")


def _whole_table(name: str, values: Sequence[int]) -> str:
    return f"static const long {name}[{max(len(values), 1)}] = {{{', '.join(map(str, values or [0]))}}};"


def _whole_rows(name: str, rows: Sequence[Sequence[int]]) -> str:
    each = ",\n".join(f"  {{{', '.join(map(str, row))}}}" for row in rows)
    return f"static const long {name}[{len(rows)}][{len(rows[0])}] = {{\n{each}\n}};"
