"""The motion inside a Python-based FMU: a Stepper behind the variables of FMI.

The library of pythonfmu starts Python in the importing program and calls it; see `python_fmu` for the file.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from polhode.equations.invariants import kinetic_energy
from polhode.equations.quaternions import to_world
from polhode.errors import InputError, ScenarioError
from polhode.massprops.body import Body
from polhode.results.trajectory import view_of_sample
from polhode.scenario import force_evaluation
from polhode.scenario.force import flatten_leaves
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.solve.fmi.variables import BODY_SETTINGS, TENSOR_ENTRIES, body_settings, fmi_variables
from polhode.solve.stepper import Stepper
from polhode.validation import Array

_LOADS = ("force", "torque", "force_body", "torque_body")
_RUNNING, _ENDED, _REFUSED = "running", "terminated", "refused"


class SlaveMotion:
    """The motion of an instance: its settings, its inputs, and a Stepper from the end of the initialization on."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        bodies = list(zip(scenario.bodies, scenario.states, strict=True))
        self._given = np.array([x for body, state in bodies for x in body_settings(body, state)])
        if scenario.used_method.needs_step:
            self._given = np.append(self._given, scenario.needed_step)
        self._settings = self._given.copy()
        self._inputs = np.zeros((len(bodies), 12))
        self._first_output = 1 + self._inputs.size + self._settings.size
        self._count = self._first_output + sum(len(v.start) for v in fmi_variables(scenario) if v.causality == "output")
        self._start, self._stop, self._phase = scenario.start_time, np.inf, ""
        self._stepper: Stepper | None = None
        self._time = self._start
        self._why = "the parameters were refused"
        self.refused = ""
        """Why the last values were refused: no step goes on with them missing."""

    @staticmethod
    def load(path: str | Path) -> SlaveMotion:
        """The motion of a stored scenario."""
        return SlaveMotion(pickle.loads(Path(path).read_bytes()))

    # Beginning and advancing ------------------------------------------------------------------------------------------
    def set_experiment(self, start: float, stop: float | None) -> None:
        """Set the start time, and the stop time if there is one."""
        self._start, self._stop = float(start), np.inf if stop is None else float(stop)

    def begin(self) -> None:
        """End the initialization: from now on parameters are fixed."""
        self._stepper, self._phase, self._time = Stepper(self._changed_scenario()), _RUNNING, self._start

    def give_up(self, sentence: str) -> None:
        """The parameters are refused: there are no outputs, and no step follows."""
        self._stepper, self._phase, self._time, self._why = None, _REFUSED, self._start, sentence

    def _changed_scenario(self) -> Scenario:
        """The scenario with the parameters that were set, from the start time on."""
        scenario = self.scenario
        bodies, states = [], []
        for i, (body, state) in enumerate(zip(scenario.bodies, scenario.states, strict=True)):
            own = slice(i * BODY_SETTINGS, (i + 1) * BODY_SETTINGS)
            numbers, given = self._settings[own], self._given[own]
            bodies.append(_change_body(body, numbers) if (numbers[:7] != given[:7]).any() else body)
            x, q, v, w = numbers[7:10], numbers[10:14], numbers[14:17], numbers[17:20]
            changed = state if (numbers[7:] == given[7:]).all() else State(x, None, v, w, quaternion_wxyz=q)
            states.append(changed.replace(time=self._start))
        more: dict[str, Any] = {"step": float(self._settings[-1])} if scenario.used_method.needs_step else {}
        if not scenario.is_system:
            return replace(scenario, body=bodies[0], state=states[0], **more)
        return replace(scenario, body=bodies, state=states, **more)

    def step(self, t: float, length: float) -> None:
        """Advance by a communication step; where it fails, the state at its start is kept."""
        stepper = self._stepper
        if self._phase == _REFUSED:
            raise InputError(self._why)
        if stepper is None or self._phase != _RUNNING:
            raise ScenarioError("a step before the initialization, or after the end")
        if self.refused:
            raise InputError(self.refused)
        end = t + length
        if not (np.isfinite(end) and end > self._time and abs(t - self._time) <= 1e-9 * max(abs(t), length)):
            raise ScenarioError(f"a step from {t!r} s by {length!r} s: this instance is at {self._time!r} s")
        if end > self._stop and not np.isclose(end, self._stop, rtol=1e-9, atol=0):
            raise ScenarioError(f"the step ends at t = {end!r} s, after the stop time {self._stop!r} s")
        saved = stepper.save()
        try:
            for i, loads in enumerate(self._inputs):
                named: dict[str, Any] = dict(zip(_LOADS, loads.reshape(4, 3), strict=True))
                stepper.set_loads(**named, body=i)
            stepper.advance_to(end)
            if stepper.time < end:
                raise ScenarioError(f"an event stopped the motion at t = {stepper.time!r} s")
        except Exception:
            stepper.restore(saved)
            raise
        self._time = end

    def terminate(self) -> None:
        """No step follows."""
        self._phase = _ENDED

    # Variables --------------------------------------------------------------------------------------------------------
    def set(self, references: Sequence[int], values: Sequence[float]) -> None:
        """Set inputs, and before the end of the initialization parameters; all of them or none."""
        places = [int(reference) - 1 for reference in references]
        inputs, settings = self._inputs.size, self._settings.size
        for place, value in zip(places, values, strict=True):
            if not np.isfinite(value):
                raise InputError("a value is infinite or NaN: it is not taken, the last one stays")
            if not 0 <= place < inputs + settings:
                raise InputError("only inputs and parameters can be set")
            if place >= inputs and self._phase:
                raise InputError("parameters are fixed: set them before the end of the initialization")
        self.refused = ""
        for place, value in zip(places, values, strict=True):
            if place < inputs:
                self._inputs.flat[place] = value
            else:
                self._settings[place - inputs] = value

    def get(self, references: Sequence[int]) -> list[float]:
        """The values of variables."""
        known = np.concatenate([[self._time], self._inputs.ravel(), self._settings])
        if any(not 0 <= reference < self._count for reference in references):
            raise InputError("there is no variable with this value reference")
        if any(reference >= self._first_output for reference in references):
            known = np.concatenate([known, self._outputs()])
        return [float(known[reference]) for reference in references]

    def _outputs(self) -> list[float]:
        if self._phase == _REFUSED:
            return [np.nan] * (self._count - self._first_output)
        scenario = self._stepper.scenario if self._stepper is not None else self._changed_scenario()
        states: Any = self._stepper.state if self._stepper is not None else scenario.states
        states = states if isinstance(states, (list, tuple)) else [states]
        samples = self._stepper._integrator.samples if self._stepper is not None else _first_samples(scenario)
        views = [view_of_sample(scenario, i, sample) for i, sample in enumerate(samples.tolist())]
        energies, numbers = [float(kinetic_energy(view)) for view in views], []
        for state, energy in zip(states, energies, strict=True):
            q, w_body = tuple(state.quaternion_wxyz.tolist()), tuple(state.angular_velocity_body.tolist())
            numbers += [*state.position.tolist(), *q, *state.velocity.tolist()]
            numbers += [*to_world(q, w_body), *w_body] + [energy] * scenario.is_system
        constants = [scenario.body_constants(i) for i in range(len(views))]
        potential = force_evaluation.potential_energy(self._time, views, constants, self.scenario.acting_forces)
        return [*numbers, sum(energies), float(potential), sum(energies) + float(potential)]

    # States -----------------------------------------------------------------------------------------------------------
    def save(self) -> bytes:
        """Everything that the motion depends on."""
        numbers = (self._settings, self._inputs, self._start, self._stop, self._phase, self._time)
        room = io.BytesIO()
        pickle.dump(numbers, room)
        if self._stepper is not None:
            _TokenPickler(room, self._stepper).dump(self._stepper.save())
        return room.getvalue()

    def restore(self, saved: bytes) -> None:
        """Go back to what `save` has returned, also by another instance."""
        room, before = io.BytesIO(saved), (self._start, *self._settings)
        self._settings, self._inputs, self._start, self._stop, self._phase, self._time = pickle.load(room)
        self.refused = ""
        if room.tell() == len(saved):
            self._stepper = None
            return
        if self._stepper is None or before != (self._start, *self._settings):
            self._stepper = Stepper(self._changed_scenario())
        self._stepper.restore(_TokenUnpickler(room, self._stepper).load())


class _TokenPickler(pickle.Pickler):
    """Writes what a Stepper has saved.  What it has compiled is not written: another one like it has its own."""

    def __init__(self, file: io.BytesIO, stepper: Stepper) -> None:
        super().__init__(file)
        self._integrator = stepper._integrator

    def persistent_id(self, value: Any) -> str | None:
        return "integrator" if value is self._integrator else None


class _TokenUnpickler(pickle.Unpickler):
    """Reads it for a Stepper of the same scenario."""

    def __init__(self, file: io.BytesIO, stepper: Stepper) -> None:
        super().__init__(file)
        self._integrator = stepper._integrator

    def persistent_load(self, name: str) -> Any:  # noqa: ARG002
        return self._integrator


def _change_body(body: Body, numbers: Any) -> Body:
    """A body with another mass and inertia."""
    if body.is_particle:
        return Body(mass=float(numbers[0]), inertia=(0.0, 0.0, 0.0), is_particle=True)
    tensor = np.zeros((3, 3))
    for (i, j), entry in zip(TENSOR_ENTRIES.values(), numbers[1:7], strict=True):
        tensor[i, j] = tensor[j, i] = entry
    is_diagonal = not (tensor - np.diag(np.diagonal(tensor))).any()
    return replace(
        body,
        mass=float(numbers[0]),
        inertia=tuple(np.diagonal(tensor).tolist()) if is_diagonal else tensor,
        diagonalized=None,
    )


def _first_samples(scenario: Scenario) -> Array:
    """The numbers of each body at the start, as an integrator holds them, with those of parts."""
    columns = flatten_leaves(scenario.problem.start)
    return np.stack([np.broadcast_to(column, len(scenario.bodies)) for column in columns], axis=-1)
