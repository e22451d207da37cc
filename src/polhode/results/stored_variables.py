"""What a motion is stored as for other readers: named arrays with units, most of which its samples give again."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.integrate.run_result import CONTACT_STATES, ContactColumns
from polhode.results.trajectory import Trajectory

VARIABLES = {
    "position": ("m", "position of the center of mass, world axes"),
    "orientation": ("1", "quaternion_wxyz, body to world"),
    "linear_momentum": ("kg m s-1", "linear momentum, world axes"),
    "angular_momentum": ("kg m2 s-1", "angular momentum about the center of mass, world axes"),
    "work": ("J", "work done by the forces since the start"),
    "mass": ("kg", "mass of the body"),
    "rotor_speed": ("rad s-1", "speed of each rotor relative to its body"),
    "rotor_momentum": ("kg m2 s-1", "angular momentum of each rotor along its axis"),
    "attitude_drift": (
        "1",
        "largest deviation of the attitude from a rotation since the previous output, before rescaling",
    ),
    "crossing_time": ("s", "when an event happened"),
    "crossing_body": ("1", "body or member to which it happened"),
    "crossing_member": ("1", "member of an ensemble of systems to which it happened"),
    "crossing_name": ("1", "name of the event"),
    "contact_force": ("N", "force of all contacts on the body, world axes; impacts are not included"),
    "contact_torque": ("N m", "torque of all contacts about the center of mass, world axes"),
    "contact_points": ("1", "number of points in contact"),
    "contact_state": ("1", "state of contact: " + ", ".join(f"{i} {word}" for i, word in enumerate(CONTACT_STATES))),
    "impact_time": ("s", "when a point of contact received an impulse"),
    "impact_member": ("1", "member of an ensemble"),
    "impact_body": ("1", "body that was struck"),
    "impact_other": ("1", "the other body, or -1 for a floor, wall or slope"),
    "impact_surface": ("1", "name of the contact"),
    "impact_point": ("m", "point of contact, world axes"),
    "impact_normal": ("1", "unit normal toward the body, world axes"),
    "impact_normal_impulse": ("N s", "impulse on the body along the normal"),
    "impact_tangential_impulse": ("N s", "impulse on the body across the normal, world axes"),
    "impact_energy_lost": ("J", "energy lost at the point of contact"),
    "impact_kind": ("1", "slip, stick, settle or touch"),
}
"""Unit and meaning of each."""


def stored_variables(motion: Trajectory) -> dict[str, Any]:
    """The variables and coordinates of a motion: dimensions, values, attributes."""
    crossings = motion.run_result.crossings
    outer = ("time", *motion.axes)
    vectors = ("position", "linear_momentum", "angular_momentum")
    variables: dict[str, Any] = {name: ((*outer, "axis"), getattr(motion, name)) for name in vectors}
    variables["orientation"] = ((*outer, "quaternion_wxyz"), motion.quaternion_wxyz)
    variables["attitude_drift"] = (outer, motion.attitude_drift)
    if motion.work is not None:
        variables["work"] = (outer, motion.work)
    if motion.scenario.rotors:
        across = ("time", *(axis for axis in motion.axes if axis != "body"), "rotor")
        variables |= {name: (across, getattr(motion, name)) for name in ("rotor_speed", "rotor_momentum")}
    if motion.scenario.mass_course is not None:
        variables["mass"] = (outer, motion.mass)
    if crossings:
        fields = ["time", "body", "name"] + ["member"] * ("body" in motion.axes and motion.axis == "member")
        for name in fields:
            column = [getattr(c, name) for c in crossings]
            variables[f"crossing_{name}"] = (("crossing",), np.array(column, dtype=object if name == "name" else None))
    if motion.scenario.contacts:
        variables |= _contact_variables(motion)
    found = {
        name: (dims, values, {"units": VARIABLES[name][0], "long_name": VARIABLES[name][1]})
        for name, (dims, values) in variables.items()
    }
    return found | {
        "time": (("time",), motion.times, {"units": "s"}),
        "axis": (("axis",), np.array(["x", "y", "z"], dtype=object), {}),
        "quaternion_wxyz": (("quaternion_wxyz",), np.array(["w", "x", "y", "z"], dtype=object), {}),
    }


def stored_attributes(motion: Trajectory) -> dict[str, Any]:
    """What other readers are told about a motion as a whole."""
    scenario = motion.scenario
    return {"method": scenario.used_method.name, "formulation": scenario.formulation, "steps": motion.steps}


def _contact_variables(motion: Trajectory) -> dict[str, Any]:
    """The loads of the contacts at the output times; the impacts, if there were any."""
    outer, impacts, points = ("time", *motion.axes), motion.impacts, motion.contact_points
    codes = np.asarray(motion.run_result.contact)[..., ContactColumns().state]
    variables: dict[str, Any] = {
        "contact_force": ((*outer, "axis"), motion.contact_forces),
        "contact_torque": ((*outer, "axis"), motion.contact_torques),
        "contact_points": (outer, points),
        "contact_state": (outer, codes.reshape(points.shape)),
    }
    if len(impacts) == 0:
        return variables
    numbers = ["time", "body", "other", "normal_impulse", "energy_lost"] + ["member"] * (motion.axis == "member")
    variables |= {f"impact_{name}": (("impact",), getattr(impacts, name)) for name in numbers}
    vectors = ("point", "normal", "tangential_impulse")
    variables |= {f"impact_{name}": (("impact", "axis"), getattr(impacts, name)) for name in vectors}
    words = ("surface", "kind")
    return variables | {f"impact_{name}": (("impact",), getattr(impacts, name).astype(object)) for name in words}
