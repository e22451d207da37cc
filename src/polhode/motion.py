"""A motion: what a run computed, and everything that can be derived from it when asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import acting, checks, store
from polhode.checks import Array
from polhode.engines import grid
from polhode.engines.run import Anchor, Run, run
from polhode.equations import invariants
from polhode.equations.formulations import View, angles_of
from polhode.equations.inertia import Constants, euler_rate, world_tensor
from polhode.equations.loads import view_of
from polhode.equations.quaternions import matrix, product, to_body, to_world
from polhode.equations.vectors import cross, minus, plus, scaled
from polhode.errors import InputError, ScenarioError
from polhode.scenario import Scenario
from polhode.state import State, from_momenta, split, together

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

    from polhode.audit import Audit


class Motion:
    """The motion of a body, of a system's bodies, or of an ensemble's members.

    Arrays have the time first, then the body of a system or the member of an ensemble, then components.  World axes,
    SI units, except where the name says body.
    """

    def __init__(self, scenario: Scenario, run: Run, unknown_forces: tuple[str, ...] = ()) -> None:
        self.scenario = scenario
        self.unknown_forces = unknown_forces
        """Names of forces that acted but could not be stored with the motion."""
        self._run = run

    def __repr__(self) -> str:
        what = {None: "one body", "body": f"{self._count} bodies", "member": f"{self._count} members"}[self.axis]
        span = f"{self.times[0]:g} to {self.times[-1]:g} s" if len(self.times) else "no output"
        return f"<Motion of {what}, {span}, {len(self.times)} output times, {self.scenario.table.name}>"

    # What was computed ----------------------------------------------------------------------------------------------
    @property
    def times(self) -> Array:
        """The output times, in s."""
        return self._run.times

    @property
    def steps(self) -> int:
        """How many steps were taken."""
        return self._run.steps

    @property
    def axis(self) -> str | None:
        """What the second axis of the arrays counts: "body", "member", or nothing (None)."""
        if self.scenario.members is not None:
            return "member"
        return "body" if self.scenario.is_system else None

    @property
    def _count(self) -> int:
        return self.scenario.count

    @cached_property
    def _view(self) -> View:
        """All quantities at all output times, in component arrays (time, body)."""
        numbers = np.moveaxis(_failed_blanked(self._run.kept), -1, 0)
        seen: Callable[..., View] = view_of(self.scenario.form, self.scenario.pivot is not None)
        return seen(split(numbers, self.scenario.form.sizes), self.scenario.constants)

    def _array(self, components: Any) -> Array:
        """Components as one array, without the second axis if there is but one body."""
        return self._scalar(together(components))

    def _scalar(self, values: Any) -> Array:
        array = np.asarray(values)
        return array[:, 0] if self.axis is None else array

    @property
    def position(self) -> Array:
        """Of the centre of mass, in m."""
        return self._array(self._view.position)

    @property
    def quaternion_wxyz(self) -> Array:
        """The orientation, body to world, scalar first."""
        return self._array(self._view.orientation)

    @property
    def linear_momentum(self) -> Array:
        """In kg m/s."""
        return self._array(self._view.linear_momentum)

    @property
    def angular_momentum(self) -> Array:
        """About the centre of mass, in kg m2/s."""
        return self._array(self._view.angular_momentum)

    @property
    def work(self) -> Array | None:
        """The work that the forces have done on each body since the start, in J; an ensemble does not count it."""
        has_work = self._run.kept.shape[-1] > sum(self.scenario.form.sizes) + 1
        return self._scalar(self._run.kept[..., -2]) if has_work else None

    @property
    def attitude_drift(self) -> Array:
        """The largest departure of the attitude from a rotation found since the output before, before any rescaling.

        ||q| - 1| for quaternions, the largest entry of |R^T R - 1| for matrices, 0 for Euler angles.
        """
        watched = self._run.kept[..., -1]
        return self._scalar(watched if self.scenario.formulation != "euler_angles" else np.zeros_like(watched))

    # Derived quantities ---------------------------------------------------------------------------------------------
    @property
    def velocity(self) -> Array:
        """Of the centre of mass, in m/s."""
        return self._array(self._view.velocity)

    @property
    def angular_velocity(self) -> Array:
        """In rad/s."""
        return self._array(self._view.angular_velocity)

    @property
    def angular_velocity_body(self) -> Array:
        """Along the body's axes, in rad/s."""
        return self._array(self._view.angular_velocity_body)

    @property
    def euler_angles(self) -> Array:
        """(phi, theta, psi) in rad: about z, then the new x, then the new z.  [seed 004 section 17.3.1]"""
        return self._array(angles_of(self._view.orientation))

    @property
    def rotation_matrix(self) -> Array:
        """R, body to world: 3 x 3."""
        return self._matrix(matrix(self._view.orientation))

    @property
    def inertia_world(self) -> Array:
        """R I_body R^T about the centre of mass, in kg m2: 3 x 3.  [seed 000 eq. 2-39]"""
        c = self.scenario.constants_about(None)
        return self._matrix(world_tensor(c.moments, product(self._view.orientation, c.axes)))

    def _matrix(self, entries: Any) -> Array:
        array = self._array(entries)
        return array.reshape(*array.shape[:-1], 3, 3)

    @property
    def translational_energy(self) -> Array:
        """M v^2/2, in J."""
        return self._scalar(invariants.translational_energy(self._view))

    @property
    def rotational_energy(self) -> Array:
        """w . (I w)/2, in J."""
        return self._scalar(invariants.rotational_energy(self._view))

    @property
    def kinetic_energy(self) -> Array:
        """Of each body, in J.  [seed 001 eq. 4.27]"""
        return self._scalar(invariants.kinetic_energy(self._view))

    @property
    def potential_energy(self) -> Array:
        """Of all forces that have a potential, in J: one number for a whole system."""
        self._need_forces("the potential energy")
        forces = self.scenario.forces
        if any(f.function is not None for f in forces):  # a user's potential may decide by `if`: time by time
            each_time = [acting.potential_energy(t, views, c, forces) for t, views, c in self._each_time()]
            return np.asarray(each_time, dtype=np.float64)
        each = [body.constants(self.scenario.pivot) for body in self.scenario.bodies]
        members = self.axis == "member"
        views = [self._view] if members else [_taken(self._view, (slice(None), b)) for b in range(len(each))]
        times = self.times[:, None] if members else self.times
        total = acting.potential_energy(times, views, each, forces)
        return np.broadcast_to(total, self._view.position[0].shape if members else self.times.shape).astype(np.float64)

    @property
    def potential_depends_on_time(self) -> bool:
        """Whether a potential changes with the time alone, so that no energy is conserved."""
        if not any(f.function is not None and f.potential is not None for f in self.scenario.forces):
            return False
        times = np.linspace(float(self.times[0]), float(self.times[-1]), 7).tolist()
        for _, views, constants in list(self._each_time())[:: max(1, len(self.times) - 1)]:
            values = [acting.potential_energy(t, views, constants, self.scenario.forces) for t in times]
            if np.any(np.asarray(values) != values[0]):
                return True
        return False

    @property
    def energy(self) -> Array:
        """Kinetic energy (the sum over a system's bodies) plus potential energy, in J."""
        kinetic = self.kinetic_energy
        return (kinetic.sum(axis=1) if self.axis == "body" else kinetic) + self.potential_energy

    def angular_momentum_about(self, point: Any) -> Array:
        """L + (x - point) x P of each body, about a fixed point of the world, in kg m2/s."""
        at = tuple(checks.numbers(point, "point", (3,)).tolist())
        return self._array(invariants.angular_momentum_about(self._view, at))

    def points(self, points_body: Any) -> Array:
        """Where points of the body (from its centre of mass, body axes) are: (..., points, 3), in m.  [000 eq. 2-1]"""
        return self._points(points_body, lambda view, arm: plus(view.position, arm))

    def point_velocities(self, points_body: Any) -> Array:
        """How fast points of the body move: v + w x (R r), (..., points, 3), in m/s.  [000 eq. 2-17]"""
        return self._points(points_body, lambda view, arm: plus(view.velocity, cross(view.angular_velocity, arm)))

    def _points(self, points_body: Any, found: Callable[[Any, Any], Any]) -> Array:
        given = checks.numbers(points_body, "points_body", checks.shape_of(points_body))
        points = np.atleast_2d(given)
        if points.shape[-1] != 3 or points.ndim != 2:
            raise InputError(f"points_body must be 3 numbers a point, but has the shape {given.shape}")
        vectors: Any = (tuple(c[..., None] for c in vector) for vector in self._view)
        wide, components = View(*vectors), tuple(points.T)
        arm = to_world(wide.orientation, (components[0], components[1], components[2]))
        array = self._array(found(wide, arm))
        return array if given.ndim == 2 else array[..., 0, :]

    @property
    def reaction_force(self) -> Array:
        """What the pivot exerts on the body: M a - F, in N."""
        if self.scenario.pivot is None:
            raise InputError("only a motion about a pivot has a reaction force")
        self._need_forces("the reaction force")
        rows = []
        for place, (t, views, constants) in zip(self._run.kept[:, :, :3], self._each_time(), strict=True):
            view, c = views[0], constants[0]
            pivot: Any = tuple(place[0].tolist()) if self.axis is None else tuple(place.T)
            push, turn = acting.wrenches(t, views, constants, self.scenario.forces)[0]
            arm, w = minus(view.position, pivot), view.angular_velocity
            w_rate = _angular_acceleration(view, plus(turn, cross(arm, push)), c)
            acceleration = plus(cross(w_rate, arm), cross(w, cross(w, arm)))
            rows.append(together(minus(scaled(c.mass, acceleration), push)))
        return np.array(rows)

    # States ---------------------------------------------------------------------------------------------------------
    @property
    def final(self) -> Any:
        """The state at the last output time; for a system a list, for an ensemble one state with all members."""
        if len(self.times) == 0:
            raise InputError("the run stopped before its first output time: there is no state to show")
        return self._state_of(self._run.kept[-1], float(self.times[-1]))

    def at(self, t: float) -> Any:
        """The state at any time of the run: an output, or computed from the last one before, by the same method."""
        moment = checks.one_number(t, "t")
        if len(self.times) == 0 or not self.scenario.start_time <= moment <= self.times[-1]:
            span = f"{self.scenario.start_time:g} to {self.times[-1]:g}" if len(self.times) else "nowhere to nowhere"
            raise InputError(f"t = {moment:g} s is outside the run, which reaches from {span} s")
        exact = np.searchsorted(self.times, moment)
        if exact < len(self.times) and self.times[exact] == moment:
            return self._state_of(self._run.kept[exact], moment)
        self._need_forces("a time between the stored ones")
        scenario = replace(self.scenario, output_times=[moment], output_step=None)
        again = run(scenario, self.work is not None, anchor=self._anchor(moment))
        return self._state_of(again.kept[-1], moment)

    def _anchor(self, moment: float) -> Anchor | None:
        """The last output before `moment` that lies on a step of its own segment; None: begin at the start."""
        events = grid.event_times(self.scenario)
        if any(np.ndim(event) for event in events):
            return None
        segment = max([t for t in grid.breaks(self.scenario) if t <= moment], default=self.scenario.start_time)
        before = np.flatnonzero((self.times > segment) & (self.times <= moment))
        if self.scenario.table.error_rows is not None:
            return Anchor(float(self.times[before[-1]]), 0, self._run.kept[before[-1]]) if len(before) else None
        steps, rest = grid.on_grid(self.times[before], segment, self.scenario.needed_step)
        whole = np.flatnonzero(rest == 0.0)
        return Anchor(segment, int(steps[whole[-1]]), self._run.kept[before[whole[-1]]]) if len(whole) else None

    def _state_of(self, numbers: Array, t: float) -> Any:
        if self.axis == "member":
            return state_of(self.scenario, 0, _failed_blanked(numbers).T, t)
        states = [state_of(self.scenario, i, numbers[i].tolist(), t) for i in range(self._count)]
        return states if self.axis == "body" else states[0]

    def _each_time(self) -> Any:
        """For each output time: the time, and each body's view and constants, in plain numbers (or members' arrays)."""
        each = [body.constants(self.scenario.pivot) for body in self.scenario.bodies]
        for i, t in enumerate(self.times.tolist()):
            if self.axis == "member":
                yield t, [_taken(self._view, i)], each
            else:
                yield t, [_taken(self._view, (i, b)) for b in range(len(each))], each

    def _need_forces(self, what: str) -> None:
        if self.unknown_forces:
            raise ScenarioError(
                f"{what} needs the forces {', '.join(self.unknown_forces)}, which a file cannot hold: simulate again"
            )

    # Doors ----------------------------------------------------------------------------------------------------------
    @cached_property
    def dataset(self) -> xarray.Dataset:
        """Everything computed, as an xarray dataset with units in the attributes."""
        return store.dataset_of(self)

    def audit(self) -> Audit:
        """What should have been conserved, given the forces, and by how much it was not."""
        from polhode.audit import audit_of

        return audit_of(self)

    def plot(self) -> Figure:
        """A picture of the motion: angular velocity, where it went, energies, and what was conserved how well."""
        from polhode.plots import overview

        return overview(self)

    def save(self, path: str | Path) -> None:
        """Store the motion as a Zarr directory, which `ph.load` and xarray read.  A half-written one never appears."""
        store.save(self, Path(path))


def _failed_blanked(kept: Array) -> Array:
    """Of a member that failed every number is "not a number", not here infinite and there a chance value."""
    well = np.isfinite(kept).all(axis=-1, keepdims=True)
    return kept if well.all() else np.where(well, kept, np.nan)


def _taken(view: View, index: Any) -> View:
    """A view at one time: of plain floats, or of the members' arrays."""
    vectors: Any = (tuple(c[index].tolist() if c[index].ndim == 0 else c[index] for c in vector) for vector in view)
    return View(*vectors)


def state_of(scenario: Scenario, i: int, numbers: Any, t: float) -> State:
    """The state of body i from its kept numbers, or from arrays of the members' numbers."""
    body, form = scenario.bodies[i], scenario.form
    view = view_of(form, scenario.pivot is not None)(split(numbers, form.sizes), body.constants(scenario.pivot))
    return from_momenta(view.position, view.orientation, view.linear_momentum, view.angular_momentum, body, t)


def _angular_acceleration(view: View, torque: Any, c: Constants) -> Any:
    """I w' = torque - w x (I w), in world axes."""
    q = product(view.orientation, c.axes)
    return to_world(q, euler_rate(c, to_body(q, view.angular_velocity), to_body(q, torque)))
