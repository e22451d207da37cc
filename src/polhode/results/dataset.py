"""A motion as an xarray dataset or a table: everything that a `Motion` has, under the names of its attributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from polhode.errors import InputError, nearest
from polhode.results.stored_variables import VARIABLES, stored_attributes, stored_variables
from polhode.validation import Array
from polhode.version import __version__

if TYPE_CHECKING:
    import pandas
    import xarray

    from polhode.results.motion import Motion

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

QUANTITIES: dict[str, MotionQuantity] = {
    "position": MotionQuantity(*VARIABLES["position"], ("axis",)),
    "quaternion_wxyz": MotionQuantity("1", "orientation, body to world, scalar first", ("wxyz",)),
    "velocity": MotionQuantity("m s-1", "velocity of the center of mass, world axes", ("axis",)),
    "angular_velocity": MotionQuantity("rad s-1", "angular velocity, world axes", ("axis",)),
    "angular_velocity_body": MotionQuantity("rad s-1", "angular velocity, body axes", ("body_axis",)),
    "linear_momentum": MotionQuantity(*VARIABLES["linear_momentum"], ("axis",)),
    "angular_momentum": MotionQuantity(*VARIABLES["angular_momentum"], ("axis",)),
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
    "contact_forces": MotionQuantity(*VARIABLES["contact_force"], ("axis",), "contacts"),
    "contact_torques": MotionQuantity(*VARIABLES["contact_torque"], ("axis",), "contacts"),
}
"""What the dataset has besides events, impacts, rotors and what a motion is stored as."""


def quantities_of(motion: Motion) -> list[str]:
    """The names of the quantities that this motion has."""
    scenario, known = motion.scenario, not motion.unknown_forces
    has = {
        "": True,
        "forces": known,
        "course": known and scenario.mass_course is None,
        "potential": known and any(f.potential is not None for f in scenario.forces),
        "pivot": known and scenario.pivot is not None,
        "contacts": bool(scenario.contacts),
    }
    return [name for name, quantity in QUANTITIES.items() if has[quantity.needs]]


def build_dataset(motion: Motion) -> xarray.Dataset:
    """Everything that a motion has, as an xarray dataset."""
    import xarray

    about = {"title": motion.scenario.name or "motion of rigid bodies", "source": f"polhode {__version__}"}
    found = xarray.Dataset(stored_variables(motion), attrs=about | stored_attributes(motion)).set_coords("time")
    # "quaternion_wxyz" is the orientation here, and the name of a dimension in the files.
    found = found.drop_vars("quaternion_wxyz").rename_dims(quaternion_wxyz="wxyz")
    names = quantities_of(motion)
    dimensions = {d for name in names for d in QUANTITIES[name].dimensions}
    coordinates = {d: np.array(COMPONENTS[d], dtype=object) for d in COMPONENTS if d in dimensions}
    return found.assign({name: _variable(motion, name) for name in names}).assign_coords(coordinates)


def _variable(motion: Motion, name: str) -> tuple[tuple[str, ...], Array, dict[str, str]]:
    quantity = QUANTITIES[name]
    outer = tuple(axis for axis in motion.axes if not (quantity.of_system and axis == "body"))
    attributes = {"units": quantity.unit, "long_name": quantity.long_name}
    return ("time", *outer, *quantity.dimensions), np.asarray(getattr(motion, name)), attributes


def build_dataframe(motion: Motion, names: Sequence[str] | None = None) -> pandas.DataFrame:
    """A row for each output time, and member and body; a column for each component."""
    import pandas

    known = quantities_of(motion)
    if isinstance(names, str):
        raise InputError(f"names is a list of quantities, such as [{names!r}], not a string")
    for name in names or ():
        if name not in known:
            reason = " (this motion does not have it)" if name in QUANTITIES else ""
            raise InputError(f"there is no quantity {name!r}{reason}: {nearest(name, known)}")
    shape = motion.position.shape[:-1]
    columns: dict[str, Array] = {}
    units: dict[str, str] = {}
    for name in known if names is None else names:
        dimensions, values, attributes = _variable(motion, name)
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
        f"there is no component {label!r}: {nearest(label, [x for n in QUANTITIES for x in component_labels(n)])}"
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
