"""A motion as an xarray dataset or a table: everything that a `Motion` has, under the names of its attributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polhode.errors import InputError, nearest, show
from polhode.integrate.run_result import CONTACT_STATES, ContactColumns
from polhode.validation import Array, check_text
from polhode.version import __version__

if TYPE_CHECKING:
    import pandas
    import xarray

    from polhode.results.motion import Motion
    from polhode.results.trajectory import Trajectory

XYZ = ("x", "y", "z")


class MotionQuantity(NamedTuple):
    """An attribute of a motion in the dataset."""

    unit: str
    long_name: str
    dimensions: tuple[str, ...] = ()
    """Besides the time, and the member or the body."""
    needs: str = ""
    """What a motion must have: "forces", "potential", "pivot", "contacts", "rotors"."""
    of_system: bool = False
    """Whether there is one number for a whole system."""


COMPONENTS: dict[str, tuple[str, ...]] = {
    "axis": XYZ,
    "body_axis": ("1", "2", "3"),
    "wxyz": ("w", "x", "y", "z"),
    "euler_angle": ("phi", "theta", "psi"),
    "yaw_pitch_roll_angle": ("yaw", "pitch", "roll"),
    "row": XYZ,
    "column": ("1", "2", "3"),
}
"""The dimensions of components, and their coordinates."""

WRITTEN_UNITS = {
    "m s-1": "m/s",
    "m s-2": "m/s²",
    "rad s-1": "rad/s",
    "rad s-2": "rad/s²",
    "kg m s-1": "kg m/s",
    "kg m2 s-1": "kg m²/s",
}

RECORDED: dict[str, tuple[str, str]] = {
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
"""Unit and meaning of what the dataset and stored motions have besides: what happened, and what a run has recorded."""
STORED = ("position", "quaternion_wxyz", "linear_momentum", "angular_momentum")
"""The quantities that stored motions have for other readers."""

QUANTITIES: dict[str, MotionQuantity] = {
    "position": MotionQuantity("m", "position of the center of mass, world axes", ("axis",)),
    "quaternion_wxyz": MotionQuantity("1", "orientation, body to world, scalar first", ("wxyz",)),
    "velocity": MotionQuantity("m s-1", "velocity of the center of mass, world axes", ("axis",)),
    "angular_velocity": MotionQuantity("rad s-1", "angular velocity, world axes", ("axis",)),
    "angular_velocity_body": MotionQuantity("rad s-1", "angular velocity, body axes", ("body_axis",)),
    "linear_momentum": MotionQuantity("kg m s-1", "linear momentum, world axes", ("axis",)),
    "angular_momentum": MotionQuantity("kg m2 s-1", "angular momentum about the center of mass, world axes", ("axis",)),
    "euler_angles": MotionQuantity("rad", "about z, then the new x, then the new z", ("euler_angle",)),
    "yaw_pitch_roll": MotionQuantity("rad", "about z, then the new y, then the new x", ("yaw_pitch_roll_angle",)),
    "rotation_matrix": MotionQuantity("1", "rotation matrix, body to world", ("row", "column")),
    "translational_energy": MotionQuantity("J", "M v2/2"),
    "rotational_energy": MotionQuantity("J", "w . (I w)/2"),
    "kinetic_energy": MotionQuantity("J", "kinetic energy"),
    "potential_energy": MotionQuantity(
        "J", "sum over all forces that have a potential", needs="potential", of_system=True
    ),
    "energy": MotionQuantity("J", "kinetic and potential energy", needs="potential", of_system=True),
    "acceleration": MotionQuantity("m s-2", "acceleration of the center of mass, world axes", ("axis",), "forces"),
    "angular_acceleration": MotionQuantity("rad s-2", "rate of the angular velocity, world axes", ("axis",), "course"),
    "reaction_force": MotionQuantity("N", "force of the pivot on the body, world axes", ("axis",), "pivot"),
    "contact_forces": MotionQuantity(*RECORDED["contact_force"], ("axis",), "contacts"),
    "contact_torques": MotionQuantity(*RECORDED["contact_torque"], ("axis",), "contacts"),
}
"""What the dataset has besides events, impacts, rotors and what a motion is stored as."""


def quantities_of(motion: Motion) -> list[str]:
    """The names of the quantities that this motion has."""
    scenario, known = motion.scenario, not motion.unknown_forces
    has = {
        "": True,
        "forces": known,
        "course": known and scenario.mass_course is None,
        "potential": known and any(f.potential is not None for f in scenario.acting_forces),
        "pivot": known and scenario.pivot is not None,
        "contacts": bool(scenario.contacts),
    }
    return [name for name, quantity in QUANTITIES.items() if has[quantity.needs]]


def stored_variables(motion: Trajectory) -> dict[str, Any]:
    """What other readers of a stored motion find: dimensions, values and attributes of variables and coordinates."""
    found = {name: build_variable(motion, name) for name in STORED}
    found |= {name: build_variable(motion, name) for name in _recorded_variables(motion)}
    found["time"] = ("time",), motion.times, {"units": "s"}
    return found | {name: ((name,), np.array(COMPONENTS[name], dtype=object), {}) for name in ("axis", "wxyz")}


def stored_attributes(motion: Trajectory) -> dict[str, Any]:
    """What other readers are told about a motion as a whole."""
    scenario = motion.scenario
    return {"method": scenario.used_method.name, "formulation": scenario.formulation, "steps": motion.steps}


def _recorded_variables(motion: Trajectory) -> dict[str, Any]:
    crossings, outer = motion.run_result.crossings, ("time", *motion.axes)
    variables: dict[str, Any] = {"attitude_drift": (outer, motion.attitude_drift)}
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
    return variables | (_contact_variables(motion) if motion.scenario.contacts else {})


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


def build_dataset(motion: Motion) -> xarray.Dataset:
    """Everything that a motion has, as an xarray dataset."""
    import xarray

    about = {"title": motion.scenario.name or "motion of rigid bodies", "source": f"polhode {__version__}"}
    found = xarray.Dataset(stored_variables(motion), attrs=about | stored_attributes(motion)).set_coords("time")
    names = quantities_of(motion)
    dimensions = {d for name in names for d in QUANTITIES[name].dimensions}
    coordinates = {d: np.array(COMPONENTS[d], dtype=object) for d in COMPONENTS if d in dimensions}
    return found.assign({name: build_variable(motion, name) for name in names}).assign_coords(coordinates)


def build_variable(motion: Trajectory, name: str) -> tuple[tuple[str, ...], Array, dict[str, str]]:
    """A variable of a motion: its dimensions, values and attributes."""
    if name in RECORDED:
        dims, values = _recorded_variables(motion)[name]
        return dims, np.asarray(values), {"units": RECORDED[name][0], "long_name": RECORDED[name][1]}
    quantity = QUANTITIES[name]
    outer = tuple(axis for axis in motion.axes if not (quantity.of_system and axis == "body"))
    attributes = {"units": quantity.unit, "long_name": quantity.long_name}
    return ("time", *outer, *quantity.dimensions), np.asarray(getattr(motion, name)), attributes


def build_dataframe(motion: Motion, names: Sequence[str] | None = None) -> pandas.DataFrame:
    """A row for each output time, and member and body; a column for each component."""
    import pandas

    known = quantities_of(motion)
    if isinstance(names, str):
        raise InputError(f"names is a list of quantities, such as [{show(names)}], not a string")
    if names is not None and not isinstance(names, (list, tuple)):
        raise InputError(f"names is a list of quantities, such as ['position'], not {show(names)}")
    for name in () if names is None else names:
        if check_text(name, "the name of a quantity") not in known:
            reason = " (this motion does not have it)" if name in QUANTITIES else ""
            raise InputError(f"there is no quantity {show(name)}{reason}: {nearest(name, known)}")
    shape = motion.position.shape[:-1]
    columns: dict[str, Array] = {}
    units: dict[str, str] = {}
    for name in known if names is None else names:
        dimensions, values, attributes = build_variable(motion, name)
        for d in QUANTITIES[name].dimensions:
            assert values.shape[dimensions.index(d)] == len(COMPONENTS[d])
        if QUANTITIES[name].of_system and "body" in motion.axes:
            values = np.broadcast_to(values[..., None], shape)
        split = values.reshape(*shape, -1)
        for i, label in enumerate(component_labels(name)):
            columns[label] = split[..., i].ravel()
            units[label] = attributes["units"]
    levels = [motion.times, *(np.arange(n) for n in shape[1:])]
    index = (
        pandas.MultiIndex.from_product(levels, names=["time", *motion.axes])
        if motion.axes
        else pandas.Index(motion.times, name="time")
    )
    table = pandas.DataFrame(columns, index=index)
    table.attrs["units"] = units
    return table


def component_labels(name: str) -> list[str]:
    """The columns of a quantity: position_x, quaternion_w, angular_velocity_body_1, theta, rotation_matrix_x1."""
    dimensions = QUANTITIES[name].dimensions
    if not dimensions:
        return [name]
    if dimensions[0] in ("euler_angle", "yaw_pitch_roll_angle"):
        return list(COMPONENTS[dimensions[0]])
    stem = "quaternion" if name == "quaternion_wxyz" else name
    ends = COMPONENTS[dimensions[0]]
    if len(dimensions) > 1:
        ends = tuple(a + b for a in ends for b in COMPONENTS[dimensions[1]])
    return [f"{stem}_{end}" for end in ends]


def list_components(motion: Motion) -> list[str]:
    """The names of all components that a motion has: the columns of its table."""
    return [label for name in quantities_of(motion) for label in component_labels(name)]


def _quantity_of(label: str) -> tuple[str, int]:
    """The quantity of a component, and its place there."""
    for name in QUANTITIES:
        labels = component_labels(name)
        if label in labels:
            return name, labels.index(label)
    raise InputError(
        f"there is no component {show(label)}: {nearest(label, [x for n in QUANTITIES for x in component_labels(n)])}"
    )


def take_component(motion: Motion, label: str) -> Array:
    """A component by the name of its column: (times,), or (times, bodies or members)."""
    name, place = _quantity_of(label)
    if name not in quantities_of(motion):
        raise InputError(f"this motion has no {name}: {nearest(label, list_components(motion))}")
    values = np.asarray(getattr(motion, name))
    size = len(QUANTITIES[name].dimensions)
    return values if size == 0 else values.reshape(*values.shape[: values.ndim - size], -1)[..., place]


def written_unit(label: str) -> str:
    """The unit of a component, as in axis labels.

    Examples
    --------
    >>> written_unit("velocity_x"), written_unit("theta")
    ('m/s', 'rad')
    """
    unit = QUANTITIES[_quantity_of(label)[0]].unit
    return WRITTEN_UNITS.get(unit, unit)
