"""The audit of a motion: which quantities should be conserved, given the forces, and how far they drifted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from polhode.equations.pivot import angular_momentum_about_pivot
from polhode.quantities import dynamics
from polhode.results.trajectory import Trajectory
from polhode.scenario.contact import HalfSpace
from polhode.scenario.force import Force, flatten_leaves
from polhode.scenario.rotor import Rotor
from polhode.scenario.state import apply_to_vectors
from polhode.validation import Array


@dataclass(frozen=True)
class AuditFinding:
    """One quantity: whether it should be conserved, and its largest drift from its value at the start."""

    quantity: str
    unit: str
    """Empty if dimensionless."""
    conserved: bool
    """Whether it should be conserved, given the forces."""
    departure: float
    """The largest drift, in `unit`."""
    relative: float
    """The largest drift divided by the quantity's own largest magnitude during the motion."""
    time: float
    """When the drift was largest, in s."""
    reason: str
    """Why it should be conserved, or why not."""
    history: Array = field(repr=False, compare=False)
    """The relative drift at each output time; in an ensemble the largest of all members."""


@dataclass(frozen=True)
class Audit:
    """All findings about a motion, and how it was computed.  Printed, it is a table.

    Examples
    --------
    >>> import polhode as ph
    >>> stone, thrown = ph.particle(2.0), ph.State(velocity=(1.0, 0.0, 4.0))
    >>> motion = ph.simulate(stone, thrown, [ph.forces.gravity()], duration=1.0, method="exact")
    >>> [finding.quantity for finding in motion.audit().findings if finding.conserved]
    ['energy', 'work-energy residual', 'linear momentum across the force']
    """

    method: str
    formulation: str
    steps: int
    """Number of steps taken."""
    refused: int
    """Number of steps rejected by the step-size control."""
    findings: tuple[AuditFinding, ...]
    chosen: str = ""
    """Why method "auto" chose this method, and its estimate of the error."""

    def __getitem__(self, quantity: str) -> AuditFinding:
        for finding in self.findings:
            if finding.quantity == quantity:
                return finding
        raise KeyError(f"{quantity!r}: this audit has {', '.join(f.quantity for f in self.findings)}")

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers and strings, for JSON."""
        plain = asdict(self)
        for finding in plain["findings"]:
            del finding["history"]
        return plain

    @property
    def computed(self) -> str:
        """How the motion was computed, and why, if "auto" chose."""
        rejected = f", {self.refused} rejected" if self.refused else ""
        how = f"in {self.steps} steps{rejected}, formulation {self.formulation}" if self.steps else "without steps"
        return f"computed by {self.method} {how}" + (f"\nchosen by auto: {self.chosen}" if self.chosen else "")

    def __str__(self) -> str:
        rows = [("quantity", "conserved", "largest drift", "relative", "at t", "")]
        rows += [
            (
                f.quantity,
                "yes" if f.conserved else "no",
                f"{f.departure:.2e} {f.unit}".rstrip(),
                f"{f.relative:.1e}",
                f"{f.time:g} s",
                f.reason,
            )
            for f in self.findings
        ]
        widths = [max(len(row[i]) for row in rows) for i in range(5)]
        lines = [
            "  ".join([*(cell.ljust(w) for cell, w in zip(row, widths, strict=False)), row[5]]).rstrip() for row in rows
        ]
        return "\n".join([self.computed, *lines])


def audit_motion(motion: Trajectory) -> Audit:
    """Audit a motion."""
    motion, scenario = _prepend_start(motion), motion.scenario
    findings = [*_energies(motion), *_momenta(motion), *_angular_momenta(motion), *_attitude_drift(motion)]
    run = motion.run_result
    chosen = "; ".join(str(report) for report in (run.auto_report, run.precision_report) if report is not None)
    return Audit(scenario.used_method.name, scenario.form.name, run.steps, run.refused, tuple(findings), chosen)


def _prepend_start(motion: Trajectory) -> Trajectory:
    """The motion with its start prepended if the first output comes later: drift is measured from the start."""
    scenario, run = motion.scenario, motion.run_result
    if len(run.times) and run.times[0] == scenario.start_time:
        return motion
    row = np.zeros((1, *run.samples.shape[1:]))
    for i, number in enumerate(flatten_leaves(scenario.problem.start)):
        row[..., i] = number
    times, samples = np.append(scenario.start_time, run.times), np.concatenate([row, run.samples])
    contact = None if run.contact is None else np.concatenate([np.zeros_like(run.contact[:1]), run.contact])
    longer = replace(run, times=times, samples=samples, contact=contact)
    return type(motion)(scenario, longer, motion.unknown_forces)


def _energies(motion: Trajectory) -> list[AuditFinding]:
    forces, unknown = motion.scenario.forces, motion.acts_besides
    kinetic = motion.kinetic_energy.sum(axis=-1) if "body" in motion.axes else motion.kinetic_energy
    contacts, loses = tuple(c.name for c in motion.scenario.contacts), _contacts_lose_energy(motion)
    driven = tuple(rotor.name for rotor in motion.scenario.rotors if _has_motor(rotor)) + _exhaust(motion)
    if not forces and not unknown and not loses and not driven:
        reason = "no force acts" + ("; the contacts lose no energy" if contacts else "")
        return [_measure_drift(motion, "kinetic energy", "J", True, kinetic, kinetic, reason)]
    names = _names(forces, (*unknown, *contacts, *driven))
    found = [_measure_drift(motion, "kinetic energy", "J", False, kinetic, kinetic, names + " can do work")]
    without = [f.name for f in forces if f.potential is None] + [*unknown, *driven]
    if not without:
        energy = dynamics.energy(motion)
        size = np.maximum(np.abs(kinetic), np.abs(energy - kinetic))
        changing = dynamics.potential_depends_on_time(motion)
        reason = "a potential depends on time" if changing else "every force has a potential"
        if contacts:
            reason = _describe_losses(motion, energy, size) if loses else f"{reason}; the contacts lose no energy"
        found.append(_measure_drift(motion, "energy", "J", not changing and not loses, energy, size, reason))
    if motion.work is not None and motion.scenario.mass_course is None:
        work = motion.work.sum(axis=-1) if "body" in motion.axes else motion.work
        # The work of an impulse at the start is counted, but an output at the start comes after it.
        balance = (work - work[:1]) - (kinetic - kinetic[:1])
        size = np.maximum(np.abs(kinetic), np.abs(work))
        found.append(_measure_drift(motion, "work-energy residual", "J", True, balance, size, "always"))
    return found


def _exhaust(motion: Trajectory) -> tuple[str, ...]:
    """What leaves a body whose mass changes carries momentum and energy away."""
    return ("the mass that leaves",) if motion.scenario.mass_course is not None else ()


def _has_motor(rotor: Rotor) -> bool:
    """Whether the motor of a rotor may do work."""
    return rotor.kernel is not None or bool(np.any(rotor.command))


def _contacts_lose_energy(motion: Trajectory) -> bool:
    """Whether contacts could lose energy: impacts unless they are elastic, friction wherever something touched."""
    contacts = motion.scenario.contacts
    if not contacts:
        return False
    struck = bool(np.any(motion.impact_totals.count))
    touched = struck or bool(motion.contact_points.any())
    inelastic = any(np.min(c.restitution) < 1 for c in contacts)
    return (struck and inelastic) or (touched and any(np.max(c.friction) > 0 for c in contacts))


def _describe_losses(motion: Trajectory, energy: Array, size: Array) -> str:
    """How much energy was lost at impacts, and by friction in sustained contact; in an ensemble on average."""
    lost = np.asarray(motion.impact_totals.energy_lost)
    friction = energy[0] - energy[-1] - lost
    known = np.isfinite(friction)  # of members that did not fail
    at_impacts, by_friction = (float(np.mean(part[known])) if known.any() else np.nan for part in (lost, friction))
    if abs(by_friction) <= 1e-9 * float(np.nanmax(size, initial=0.0)):  # rounding
        by_friction = 0.0
    whose = "a member lost on average " if motion.axis == "member" else "lost: "
    coarse = int(np.sum(motion.impact_totals.coarse_steps))
    said = f"; {coarse} coarse steps of first order where contacts changed too often" if coarse else ""
    return f"{whose}{at_impacts:.3g} J at impacts, {by_friction:.3g} J by friction in sustained contact{said}"


def _external(motion: Trajectory) -> tuple[str, ...]:
    """Names of what acts from outside besides the scenario's forces; contacts between bodies are internal."""
    surfaces = tuple(c.name for c in motion.scenario.contacts if isinstance(c, HalfSpace))
    rotors = {rotor.name for rotor in motion.scenario.rotors}  # whose torques are internal, also if a file has none
    return (*(name for name in motion.acts_besides if name not in rotors), *surfaces, *_exhaust(motion))


def _momenta(motion: Trajectory) -> list[AuditFinding]:
    scenario, besides = motion.scenario, _external(motion)
    each = motion.linear_momentum
    total = each.sum(axis=-2) if "body" in motion.axes else each
    size = _norm(each).sum(axis=-1) if "body" in motion.axes else _norm(each)
    pushing = [f for f in scenario.forces if f.pushes and f.kind != "pair"]
    held = scenario.pivot is not None
    name = "linear momentum"
    if not pushing and not besides and not held:
        internal = scenario.of_kind("pair") or scenario.contacts
        reason = "only internal forces" if internal else "no force acts"
        return [_measure_drift(motion, name, "kg m/s", True, total, size, reason)]
    reason = "the pivot exerts a force" if held else _names(pushing, besides) + " can change it"
    found = [_measure_drift(motion, name, "kg m/s", False, total, size, reason)]
    along = common_direction(pushing)
    if along is not None and not held and not besides:
        across = total - (total @ along)[..., None] * along
        reason = f"all forces are parallel: {_names(pushing, ())}"
        found.append(_measure_drift(motion, "linear momentum across the force", "kg m/s", True, across, size, reason))
    return found


def _angular_momenta(motion: Trajectory) -> list[AuditFinding]:
    scenario, besides = motion.scenario, _external(motion)
    turning = [f for f in scenario.forces if f.turns and f.kind != "pair"]
    if "body" in motion.axes or scenario.added_mass is not None:
        each = motion.angular_momentum_about((0.0, 0.0, 0.0))
        total, size = (each.sum(axis=-2), _norm(each).sum(axis=-1)) if "body" in motion.axes else (each, _norm(each))
        outside = [f for f in scenario.forces if f.kind != "pair"]
        own = [f for f in scenario.of_kind("pair") if f.function is not None]
        free = not outside and not own and not besides
        reason = "no external force or torque"
        if not free:
            reason = "external: " + _names(outside, besides)
        if own and not outside:
            reason = "may not act along the line between the bodies: " + _names(own, besides)
        return [_measure_drift(motion, "angular momentum about the origin", "kg m2/s", free, total, size, reason)]
    if scenario.pivot is not None:
        return _angular_momenta_about_pivot(motion)
    if scenario.bodies[0].is_particle:
        return []
    spin = motion.angular_momentum
    free = not turning and not besides
    reason = "no torque acts" if free else _names(turning, besides) + " can change it"
    if scenario.rotors and free:
        reason = "only internal torques, of rotors and body on each other"
    return [_measure_drift(motion, "angular momentum", "kg m2/s", free, spin, _norm(spin), reason)]


def _angular_momenta_about_pivot(motion: Trajectory) -> list[AuditFinding]:
    scenario = motion.scenario
    pivot = motion.run_result.samples[0, :, motion.run_result.columns.position]
    pivot_to_com = motion.position - (pivot if motion.axis == "member" else pivot[0])
    momenta = motion.angular_momentum, pivot_to_com, motion.linear_momentum
    spin = apply_to_vectors(angular_momentum_about_pivot, *momenta)
    name, forces, besides = "angular momentum about the pivot", scenario.forces, _external(motion)
    free = not forces and not besides
    reason = "no force acts" if free else _names(forces, besides) + " can change it"
    found = [_measure_drift(motion, name, "kg m2/s", free, spin, _norm(spin), reason)]
    along = common_direction(forces) if all(not f.turns for f in forces) else None
    if along is not None and not besides:
        reason = "the force has no torque along its own direction"
        found.append(
            _measure_drift(motion, f"{name}, along the force", "kg m2/s", True, spin @ along, _norm(spin), reason)
        )
    return found


def _attitude_drift(motion: Trajectory) -> list[AuditFinding]:
    scenario = motion.scenario
    drift = motion.attitude_drift
    if scenario.form.keeps_angles or all(body.is_particle for body in scenario.bodies):
        return []
    over_all = np.fmax.reduce(drift.reshape(len(drift), -1), axis=1)
    at = int(np.argmax(over_all)) if len(over_all) else 0
    is_matrix = scenario.form.keeps_matrix
    name = "orthogonality of R" if is_matrix else "length of q"
    reason = "as computed: a matrix is never renormalized"
    if not is_matrix:
        reason = "within a step, before q was rescaled" if scenario.renormalize else "never rescaled"
    if scenario.used_method.is_closed_form:
        reason = "at an output, before q was rescaled"
    worst = float(over_all[at]) if len(over_all) else 0.0
    time = float(motion.times[at]) if len(over_all) else scenario.start_time
    return [AuditFinding(name, "", True, worst, worst, time, reason, over_all)]


def _measure_drift(
    motion: Trajectory, quantity: str, unit: str, conserved: bool, values: Array, sizes: Array, reason: str
) -> AuditFinding:
    """The largest drift of `values` (time, member?, component?) from the start, also relative to the largest size."""
    if len(values) == 0:
        return AuditFinding(quantity, unit, conserved, 0.0, 0.0, motion.scenario.start_time, reason, np.zeros(0))
    change = values - values[0]
    drifts = _norm(change) if change.ndim > np.ndim(sizes) else np.abs(change)
    largest = np.fmax.reduce(np.abs(sizes), axis=0)
    relative = np.divide(drifts, largest, out=np.zeros_like(drifts), where=largest > 0)
    ranked = np.nan_to_num(relative if relative.any() else drifts, nan=-1.0)  # members that failed come last
    at = np.unravel_index(int(np.argmax(ranked)), drifts.shape)
    return AuditFinding(
        quantity,
        unit,
        conserved,
        float(drifts[at]),
        float(relative[at]),
        float(motion.times[at[0]]),
        reason,
        np.fmax.reduce(relative.reshape(len(relative), -1), axis=1),
    )


def _norm(vectors: Array) -> Array:
    return np.asarray(np.linalg.norm(vectors, axis=-1))


def common_direction(forces: Sequence[Force]) -> Array | None:
    """The unit vector along which all of them push, if they are parallel."""
    lines = []
    for f in forces:
        if not f.pushes:
            continue
        length = np.linalg.norm(f.direction) if f.direction is not None else 0.0
        if length == 0:
            return None
        lines.append(np.asarray(f.direction) / length)
    if not lines or any(np.linalg.norm(np.cross(lines[0], line)) > 1e-12 for line in lines):
        return None
    return np.asarray(lines[0])


def _names(forces: Sequence[Force], unknown: tuple[str, ...]) -> str:
    return ", ".join(dict.fromkeys([*(f.name for f in forces), *unknown]))
