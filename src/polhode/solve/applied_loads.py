"""The loads that another program applies to the bodies of a stepper: constant or linear in time, and at nodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from polhode.equations.force_laws import coupled_load
from polhode.errors import InputError, ScenarioError, show
from polhode.integrate.integrator import Integrator
from polhode.integrate.loops.node_loops import sum_nodal_forces
from polhode.results.nodes import offsets_of, refuse_moving_center
from polhode.scenario.force import Force, map_leaves
from polhode.scenario.scenario import Scenario
from polhode.solve.quick_advance import QuickLoads
from polhode.validation import (
    AXES,
    Array,
    as_floats,
    check_number,
    check_numbers,
    check_word,
    is_whole_number,
    shape_of,
)

ZERO = (0.0, 0.0, 0.0)
VALUES = 21
"""A force and a torque in world axes, the same in body axes, and the moments of forces at nodes (3 x 3)."""
NAMES = ("force", "torque", "force_body", "torque_body")


def with_applied_loads(scenario: Scenario) -> Scenario:
    """The scenario with one more force on every body, the last ones in its list: what `AppliedLoads` changes."""
    loads = Force("applied_load", coupled_load, ((ZERO,) * 7, (ZERO,) * 7, scenario.start_time))
    if not scenario.is_system:
        return scenario.with_settings(forces=(*scenario.forces, loads))
    each = [replace(loads, bodies=(i,)) for i in range(len(scenario.bodies))]
    return scenario.with_settings(forces=(*scenario.forces, *each))


class AppliedLoads:
    """The loads from outside: their numbers are parameters of forces in the memory of an integrator."""

    def __init__(self, integrator: Integrator) -> None:
        self._integrator, self._bodies = integrator, integrator.scenario.bodies
        self._first = len(integrator.scenario.of_kind("body")) - len(self._bodies)
        self.ramp_ends = [np.inf] * len(self._bodies)
        """When the linear load on each body reaches its end; infinite if it is constant."""
        self._nodes: list[Array | None] = [None] * len(self._bodies)
        self._numbers = np.zeros(2 * VALUES + 1)
        self.quick = QuickLoads.of(integrator, self._first)

    @property
    def next_ramp_end(self) -> float:
        """When the next linear load reaches its end."""
        return min(self.ramp_ends)

    # Changing -------------------------------------------------------------------------------------------------------
    def set_from(self, loads: dict[str, Any], nodal: tuple[Any, str], body: Any, now: float, ramp_until: Any) -> None:
        """Check everything, then change the load on a body; nothing changes if an argument is wrong."""
        i = self.check_body(body)
        target = np.zeros(VALUES)
        for k, name in enumerate(NAMES):
            if loads[name] is not ZERO:
                target[3 * k : 3 * k + 3] = _check_load(loads[name], name)
        forces, axes = nodal
        if forces is not None:
            target += self._sum_nodal_forces(forces, axes, i)
            if not np.isfinite(target).all():
                raise ScenarioError("the sum of the loads overflows: find the force that is so large")
        end = np.inf if ramp_until is None else check_number(ramp_until, "ramp_until", ScenarioError)
        if end <= now:
            raise ScenarioError(
                f"ramp_until={end:g} s is not after the present, t = {now:g} s: give the time at which the load is to "
                "reach these values"
            )
        self.settle(now)
        if np.isinf(end):
            self._write(i, target, 0.0, now)
        else:
            present = self.values_at(i, now)
            self._write(i, present, (target - present) / (end - now), now)
        self.ramp_ends[i] = end
        self._note_whether_plain(i)

    def settle(self, now: float) -> None:
        """A linear load that has reached its end stays there."""
        for i, end in enumerate(self.ramp_ends):
            if end <= now:
                self._write(i, self.values_at(i, end), 0.0, end)
                self.ramp_ends[i] = np.inf
                self._note_whether_plain(i)

    def restore(self, ramp_ends: list[float], is_plain: list[bool]) -> None:
        """After the integrator has gone back to where these held."""
        self.ramp_ends = ramp_ends.copy()
        for quick, was_plain in zip(self.quick, is_plain, strict=True):
            quick.is_plain = was_plain

    def values_at(self, body: int, t: float) -> Array:
        """The load on a body at time t, as 21 numbers."""
        numbers = self._integrator.params_of(self._first + body, body)
        values: Array = numbers[:VALUES] + (t - numbers[-1]) * numbers[VALUES:-1]
        return values

    def _write(self, body: int, values: Array, rates: Array | float, since: float) -> None:
        self._numbers[:VALUES], self._numbers[VALUES:-1], self._numbers[-1] = values, rates, since
        self._integrator.set_params(self._first + body, self._numbers, body)

    def _note_whether_plain(self, body: int) -> None:
        if self.quick:
            numbers = self._integrator.params_of(self._first + body, body)
            self.quick[body].is_plain = not numbers[12:-1].any()

    # Checking -------------------------------------------------------------------------------------------------------
    def check_body(self, body: Any) -> int:
        """The index of a body."""
        last = len(self._bodies) - 1
        if not is_whole_number(body) or not 0 <= body <= last:
            count = "there is one body, 0" if last == 0 else f"the bodies are numbered from 0 to {last}"
            raise ScenarioError(f"body={show(body)}: {count}")
        return int(body)

    # Nodes ----------------------------------------------------------------------------------------------------------
    def nodes_of(self, body: int) -> Array:
        """The nodes at which forces act on a body, from its center of mass, along its axes."""
        if self._nodes[body] is None:
            self._nodes[body] = self._offsets(body, None)
        nodes = self._nodes[body]
        assert nodes is not None
        return nodes

    def use_nodes(self, nodes: Any, body: int) -> None:
        """Let forces act at these points, given in the coordinates of the body."""
        self._nodes[body] = self._offsets(body, nodes)

    def _offsets(self, body: int, nodes: Any) -> Array:
        try:
            refuse_moving_center(self._integrator.scenario, "nodes")
            return offsets_of(self._bodies[body], body, nodes, "nodes")
        except InputError as error:
            raise ScenarioError(str(error)) from None

    def present_scenario(self) -> Scenario:
        """The scenario with the present loads as its forces, and the present torques of its rotors."""
        scenario = self._integrator.scenario
        kept = len(scenario.forces) - len(self._bodies)
        each = []
        for i, f in enumerate(scenario.forces[kept:]):
            numbers = iter(self._integrator.params_of(self._first + i, i).tolist())
            each.append(replace(f, params=_refill(f.params, numbers)))
        commands = zip(scenario.rotors, self._integrator.rotor_commands(), strict=True)
        rotors = tuple(replace(rotor, command=torque) for rotor, torque in commands)
        return replace(scenario, forces=(*scenario.forces[:kept], *each), rotors=rotors)

    def _sum_nodal_forces(self, forces: Any, axes: str, body: int) -> Array:
        """Forces at the nodes as a load: their sum, and their moments or torque."""
        check_word(axes, "axes", AXES, ScenarioError, "nodal forces are in 'world' or in 'body' axes")
        offsets = self.nodes_of(body)
        given = _as_numbers(forces, f"{len(offsets)} x 3 numbers")
        if given.shape != offsets.shape:
            raise ScenarioError(
                f"nodal_forces has the shape {given.shape}, but body {body} has {len(offsets)} nodes, so "
                f"{len(offsets)} x 3 numbers are needed: are they forces on the nodes of another mesh? If so, name "
                "its nodes with stepper.use_nodes"
            )
        with np.errstate(all="ignore"):  # what is not finite is found below
            sums = sum_nodal_forces(offsets, np.ascontiguousarray(given))
        total, moments = sums[:3], sums[3:].reshape(3, 3)  # row b: sum of r_i F_ib
        if not (np.isfinite(total).all() and np.isfinite(moments).all()):
            bad = np.argwhere(~np.isfinite(given))
            if len(bad):
                node = int(bad[0, 0])
                raise ScenarioError(
                    f"nodal_forces must be finite, but the force on node {node} is {given[node].tolist()}: find where "
                    "it became infinite or NaN"
                )
            raise ScenarioError("the sum of the nodal forces overflows: find the force that is so large")
        load = np.zeros(VALUES)
        if axes == "world":
            load[:3], load[12:] = total, moments.ravel()
        else:
            x, y, z = moments
            load[6:9], load[9:12] = total, (z[1] - y[2], x[2] - z[0], y[0] - x[1])
        return load


def _refill(nest: Any, numbers: Iterator[float]) -> Any:
    """A nested tuple with other numbers."""
    return map_leaves(lambda _: next(numbers), nest)


def _as_numbers(forces: Any, wanted: str) -> Array:
    """An array of doubles, which may be infinite or NaN; quickly if it is one: meshes have many nodes."""
    if type(forces) is np.ndarray and forces.dtype == np.float64:
        return forces
    if isinstance(forces, np.ma.MaskedArray) and np.ma.is_masked(forces):
        raise ScenarioError(
            f"nodal_forces must be {wanted}, but some are masked: fill them, with 0 where no force acts"
        )
    try:
        return as_floats(forces)
    except (TypeError, ValueError, OverflowError):
        raise ScenarioError(f"nodal_forces must be {wanted}, not {show(forces)}") from None


def _check_load(value: Any, name: str) -> Array:
    """Three finite numbers."""
    array = check_numbers(value, name, shape_of(value), ScenarioError, "3 numbers")
    if array.shape != (3,):
        raise ScenarioError(f"{name} must be 3 numbers, but has the shape {array.shape}")
    return array
