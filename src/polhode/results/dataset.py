"""A motion as an xarray dataset or a table: everything that a `Motion` has, under the names of its attributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.errors import InputError, nearest, show
from polhode.integrate.run_result import CONTACT_STATES, ContactColumns
from polhode.quantities.own import known_quantities
from polhode.quantities.quantity import AXES, Quantity
from polhode.quantities.table import NEEDS
from polhode.validation import Array, check_text
from polhode.version import __version__

if TYPE_CHECKING:
    import pandas
    import xarray

    from polhode.results.motion import Motion
    from polhode.results.trajectory import Trajectory

HAPPENED: dict[str, tuple[str, str]] = {
    "contact_state": ("1", "state of contact: " + ", ".join(f"{i} {word}" for i, word in enumerate(CONTACT_STATES))),
    "crossing_time": ("s", "when an event happened"),
    "crossing_body": ("1", "body or member to which it happened"),
    "crossing_member": ("1", "member of an ensemble of systems to which it happened"),
    "crossing_name": ("1", "name of the event"),
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
"""Unit and meaning of what the dataset and stored motions have besides quantities: what happened."""


def quantities_of(motion: Trajectory) -> dict[str, Quantity]:
    """The quantities that this motion has, by name."""
    return {name: one for name, one in known_quantities().items() if NEEDS[one.needs](motion)}


def stored_variables(motion: Trajectory) -> dict[str, Any]:
    """What other readers of a stored motion find: dimensions, values and attributes of variables and coordinates."""
    stored = [name for name, one in quantities_of(motion).items() if one.stored and not one.is_own]
    found = {name: build_variable(motion, name) for name in stored}
    for name, (dimensions, values) in _what_happened(motion).items():
        unit, text = HAPPENED[name]
        found[name] = dimensions, np.asarray(values), {"units": unit, "long_name": text}
    found["time"] = ("time",), motion.times, {"units": "s"}
    return found | {name: ((name,), np.array(AXES[name], dtype=object), {}) for name in ("axis", "wxyz")}


def stored_attributes(motion: Trajectory) -> dict[str, Any]:
    """What other readers are told about a motion as a whole."""
    scenario = motion.scenario
    return {"method": scenario.used_method.name, "formulation": scenario.formulation, "steps": motion.steps}


def _what_happened(motion: Trajectory) -> dict[str, tuple[tuple[str, ...], Any]]:
    """Events, impacts and states of contact."""
    crossings, found = motion.run_result.crossings, {}
    if crossings:
        fields = ["time", "body", "name"] + ["member"] * ("body" in motion.axes and motion.axis == "member")
        for name in fields:
            column = [getattr(c, name) for c in crossings]
            found[f"crossing_{name}"] = (("crossing",), np.array(column, dtype=object if name == "name" else None))
    return found | (_what_touched(motion) if motion.scenario.contacts else {})


def _what_touched(motion: Trajectory) -> dict[str, tuple[tuple[str, ...], Any]]:
    impacts, points = motion.impacts, motion.contact_points
    codes = np.asarray(motion.run_result.contact)[..., ContactColumns().state]
    found: dict[str, Any] = {"contact_state": (("time", *motion.axes), codes.reshape(points.shape))}
    if len(impacts) == 0:
        return found
    numbers = ["time", "body", "other", "normal_impulse", "energy_lost"] + ["member"] * (motion.axis == "member")
    found |= {f"impact_{name}": (("impact",), getattr(impacts, name)) for name in numbers}
    vectors = ("point", "normal", "tangential_impulse")
    found |= {f"impact_{name}": (("impact", "axis"), getattr(impacts, name)) for name in vectors}
    words = ("surface", "kind")
    return found | {f"impact_{name}": (("impact",), getattr(impacts, name).astype(object)) for name in words}


def build_dataset(motion: Motion) -> xarray.Dataset:
    """Everything that a motion has, as an xarray dataset."""
    import xarray

    about = {"title": motion.scenario.name or "motion of rigid bodies", "source": f"polhode {__version__}"}
    found = xarray.Dataset(stored_variables(motion), attrs=about | stored_attributes(motion)).set_coords("time")
    listed = quantities_of(motion)
    dimensions = {d for one in listed.values() for d in one.axes}
    coordinates = {d: np.array(labels, dtype=object) for d, labels in AXES.items() if d in dimensions}
    return found.assign({name: build_variable(motion, name) for name in listed}).assign_coords(coordinates)


def build_variable(motion: Trajectory, name: str) -> tuple[tuple[str, ...], Array, dict[str, str]]:
    """A variable of a motion: its dimensions, values and attributes."""
    if name in HAPPENED:
        dimensions, values = _what_happened(motion)[name]
        return dimensions, np.asarray(values), {"units": HAPPENED[name][0], "long_name": HAPPENED[name][1]}
    one = known_quantities()[name]
    outer = tuple(axis for axis in motion.axes if not (one.of_system and axis == "body"))
    attributes = {"units": one.unit, "long_name": one.text}
    return ("time", *outer, *one.axes), np.asarray(one.values(motion)), attributes


def choose_quantities(motion: Trajectory, names: Sequence[str] | None) -> dict[str, Quantity]:
    """Those of these names; with None all that this motion has."""
    known = quantities_of(motion)
    if names is None:
        return known
    if isinstance(names, str):
        raise InputError(f"names is a list of quantities, such as [{show(names)}], not a string")
    if not isinstance(names, (list, tuple)):
        raise InputError(f"names is a list of quantities, such as ['position'], not {show(names)}")
    for name in names:
        if check_text(name, "the name of a quantity") not in known:
            reason = " (this motion does not have it)" if name in known_quantities() else ""
            raise InputError(f"there is no quantity {show(name)}{reason}: {nearest(name, known)}")
    return {name: known[name] for name in names}


def build_dataframe(motion: Motion, names: Sequence[str] | None = None) -> pandas.DataFrame:
    """A row for each output time, and member and body; a column for each component."""
    import pandas

    shape = motion.position.shape[:-1]
    columns: dict[str, Array] = {}
    units: dict[str, str] = {}
    for one in choose_quantities(motion, names).values():
        for label, values in split_components(motion, one).items():
            columns[label] = values.ravel()
            units[label] = one.unit
    levels = [motion.times, *(np.arange(n) for n in shape[1:])]
    index = (
        pandas.MultiIndex.from_product(levels, names=["time", *motion.axes])
        if motion.axes
        else pandas.Index(motion.times, name="time")
    )
    table = pandas.DataFrame(columns, index=index)
    table.attrs["units"] = units
    return table


def split_components(motion: Trajectory, one: Quantity) -> dict[str, Array]:
    """The components of a quantity by the names of their columns, each (times, members, bodies)."""
    shape = motion.position.shape[:-1]
    values = np.asarray(one.values(motion))
    size = len(one.axes)
    inner = values.shape[values.ndim - size :]
    labels = one.component_labels(inner)
    split = values.reshape(*values.shape[: values.ndim - size], len(labels))
    if one.of_system and "body" in motion.axes:
        split = np.broadcast_to(split[..., None, :], (*shape, len(labels)))
    return {label: split[..., i] for i, label in enumerate(labels)}


def list_components(motion: Trajectory) -> list[str]:
    """The names of all components that a motion has: the columns of its table."""
    count = len(motion.scenario.rotors)
    return [label for one in quantities_of(motion).values() for label in one.component_labels((count,))]


def find_component(label: str, count: int = 0) -> Quantity:
    """The quantity that has a component of this name; of rotors there are so many."""
    known = known_quantities().values()
    for one in known:
        if label in one.component_labels((count,)):
            return one
    raise InputError(
        f"there is no component {show(label)}: {nearest(label, [x for one in known for x in one.component_labels()])}"
    )


def take_component(motion: Trajectory, label: str) -> Array:
    """A component by the name of its column: (times,), or (times, bodies or members)."""
    one = find_component(label, len(motion.scenario.rotors))
    if one.name not in quantities_of(motion):
        raise InputError(f"this motion has no {one.name}: {nearest(label, list_components(motion))}")
    values = np.asarray(one.values(motion))
    size, place = len(one.axes), one.component_labels((len(motion.scenario.rotors),)).index(label)
    return values if size == 0 else values.reshape(*values.shape[: values.ndim - size], -1)[..., place]
