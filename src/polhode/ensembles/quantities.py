"""What reductions look at: a quantity of a motion by its name, one of its components, at all outputs or at an event."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from polhode.errors import InputError, nearest, show
from polhode.integrate.run_result import EventRecord, RunResult
from polhode.results import dataset
from polhode.results.motion import Motion
from polhode.results.trajectory import Trajectory
from polhode.validation import Array

QuantityFunction: TypeAlias = Callable[[Any], Any]
"""Takes the motion of some members and returns an array (members, ...)."""

LABELS = {
    "axis": ("x", "y", "z"),
    "quaternion_wxyz": ("w", "x", "y", "z"),
    "euler_angle": ("phi", "theta", "psi"),
    "yaw_pitch_roll": ("yaw", "pitch", "roll"),
    "row": ("x", "y", "z"),
    "column": ("x", "y", "z"),
}
"""What the components along a dimension are called."""


class KnownQuantity(NamedTuple):
    """A quantity that a name stands for."""

    unit: str
    dims: tuple[str, ...] = ()
    """Of one body at one time."""
    of_state: bool = True
    """Whether the state alone says it, so that it is known at events too."""
    wraps: bool = False
    """Whether it is an angle that jumps by a turn."""


_AXIS = ("axis",)
UNITS = {name: quantity.unit for name, quantity in dataset.QUANTITIES.items()}
"""As in `motion.dataset`."""
QUANTITIES = {
    "position": KnownQuantity(UNITS["position"], _AXIS),
    "velocity": KnownQuantity(UNITS["velocity"], _AXIS),
    "speed": KnownQuantity("m s-1"),
    "acceleration": KnownQuantity(UNITS["acceleration"], _AXIS, of_state=False),
    "quaternion_wxyz": KnownQuantity(UNITS["quaternion_wxyz"], ("quaternion_wxyz",)),
    "euler_angles": KnownQuantity(UNITS["euler_angles"], ("euler_angle",), wraps=True),
    "yaw_pitch_roll": KnownQuantity(UNITS["yaw_pitch_roll"], ("yaw_pitch_roll",), wraps=True),
    "rotation_matrix": KnownQuantity(UNITS["rotation_matrix"], ("row", "column")),
    "angular_velocity": KnownQuantity(UNITS["angular_velocity"], _AXIS),
    "angular_velocity_body": KnownQuantity(UNITS["angular_velocity_body"], _AXIS),
    "angular_speed": KnownQuantity("rad s-1"),
    "angular_acceleration": KnownQuantity(UNITS["angular_acceleration"], _AXIS, of_state=False),
    "linear_momentum": KnownQuantity(UNITS["linear_momentum"], _AXIS),
    "angular_momentum": KnownQuantity(UNITS["angular_momentum"], _AXIS),
    "translational_energy": KnownQuantity(UNITS["translational_energy"]),
    "rotational_energy": KnownQuantity(UNITS["rotational_energy"]),
    "kinetic_energy": KnownQuantity(UNITS["kinetic_energy"]),
    "total_kinetic_energy": KnownQuantity("J"),
    "potential_energy": KnownQuantity(UNITS["potential_energy"], of_state=False),
    "energy": KnownQuantity(UNITS["energy"], of_state=False),
    "reaction_force": KnownQuantity(UNITS["reaction_force"], _AXIS, of_state=False),
    "inertia_world": KnownQuantity("kg m2", ("row", "column")),
    "mass": KnownQuantity("kg"),
    "center_of_mass": KnownQuantity("m", _AXIS),
    "attitude_drift": KnownQuantity("1"),
    "rotor_speed": KnownQuantity("rad s-1", ("rotor",)),
    "rotor_momentum": KnownQuantity("kg m2 s-1", ("rotor",)),
    "rotor_torque": KnownQuantity("N m", ("rotor",), of_state=False),
    "contact_forces": KnownQuantity(UNITS["contact_forces"], _AXIS, of_state=False),
    "contact_torques": KnownQuantity(UNITS["contact_torques"], _AXIS, of_state=False),
    "contact_points": KnownQuantity("1", of_state=False),
}
"""By name: attributes of `Motion`, and the magnitudes `speed` and `angular_speed`."""
TIME = KnownQuantity("s")
FINAL = "final"


class BlockValues(NamedTuple):
    """A quantity of some members."""

    rows: Array
    """(numbers, members): one row for each number of the quantity; NaN where a member has none."""
    shape: tuple[int, ...]
    """What the rows are: the lengths of their dimensions, time first if it is one."""
    times: Array
    """The output times, in s; empty if time is no dimension."""


@dataclass(frozen=True)
class Quantity:
    """What a reduction looks at.  `read_quantity` makes it from a text or a function."""

    name: str
    component: str = ""
    at: str = ""
    """Empty: at all outputs; "final": at the last one, or where an event has stopped a member; else the name of an
    event, at its first time for each member."""
    function: QuantityFunction | None = None

    @property
    def text(self) -> str:
        """As it is written: "position.z@landing"."""
        return self.name + f".{self.component}" * bool(self.component) + f"@{self.at}" * bool(self.at)

    @property
    def known(self) -> KnownQuantity | None:
        """What is known about it; None for a function."""
        return None if self.function is not None else TIME if self.name == "time" else QUANTITIES[self.name]

    @property
    def unit(self) -> str:
        """Its unit; empty if unknown."""
        return "" if self.known is None else self.known.unit

    def values(self, motion: Trajectory) -> BlockValues:
        """The numbers of all members of a motion."""
        if self.function is not None:
            return self._values_of_function(motion)
        if motion.axis != "member":
            raise InputError(f"{self.text!r} is reduced over the members of an ensemble, but this motion has none")
        if self.at in ("", FINAL):
            shown = motion if not self.at else _at_the_end(motion)
            array = np.asarray(_attribute(shown, self.name), dtype=np.float64)
            if self.at and not QUANTITIES[self.name].of_state:
                # Forces are evaluated at the last output time, not at the time at which a member stopped.
                array = np.where(_along_members(motion.end_times < motion.times[-1], array), np.nan, array)
        else:
            array = _at_event(motion, self)[None]
        array = np.moveaxis(array, 1, -1)  # (time, ..., members)
        if self.component:
            array = array[..., self._index_of_component(array.shape[-2]), :]
        return _as_rows(array[0] if self.at else array, np.empty(0) if self.at else motion.times)

    def dims(self, count: int) -> tuple[str, ...]:
        """The names of so many dimensions of its values, "time" first if there is one."""
        if self.known is None:
            return tuple(f"component_{i}" for i in range(count))
        outer = () if self.at else ("time",)
        inner = self.known.dims[:-1] if self.component else self.known.dims
        return (*outer, *inner) if count == len(outer) + len(inner) else (*outer, "body", *inner)

    def labels(self, dims: tuple[str, ...], shape: tuple[int, ...]) -> list[str]:
        """One name for each component along these dimensions, such as "position.x"."""
        suffix = f"@{self.at}" if self.at else ""
        labels = [self.text.removesuffix(suffix)]
        for dim, length in zip(dims, shape, strict=True):
            words = LABELS.get(dim, [str(i) for i in range(length)])
            labels = [
                label + (f"[{dim} {word}]" if dim in ("body", "rotor") else f".{word}")
                for label in labels
                for word in words
            ]
        return [label + suffix for label in labels]

    def _index_of_component(self, length: int) -> int:
        assert self.known is not None
        names = LABELS.get(self.known.dims[-1], tuple(str(i) for i in range(length)))
        if self.component not in names:
            raise InputError(f"{self.text!r}: there are {length} of them, numbered from 0")
        return names.index(self.component)

    def _values_of_function(self, motion: Trajectory) -> BlockValues:
        assert self.function is not None
        array = np.asarray(self.function(motion))
        members = motion.scenario.members
        if array.ndim == 0 or len(array) != members or array.dtype.kind not in "fiub":
            raise InputError(
                f"the function {self.name!r} must return one number, or an array of numbers, for each of the {members} "
                f"members of the motion that it is given, members first, but returned an array of the shape "
                f"{array.shape} and type {array.dtype}"
            )
        moved = np.moveaxis(array.astype(np.float64), 0, -1)
        return _as_rows(moved, np.empty(0))


def read_quantity(quantity: str | QuantityFunction | Quantity) -> Quantity:
    """What is meant by "position", "position.z", "speed@final", "position.x@landing", or by a function.

    Examples
    --------
    >>> read_quantity("position.z@landing")
    Quantity(name='position', component='z', at='landing', function=None)
    >>> read_quantity("velocty")
    Traceback (most recent call last):
    polhode.errors.InputError: 'velocty' is no quantity of a motion: did you mean 'velocity'? Known: acceleration, ...
    """
    if isinstance(quantity, Quantity):
        return quantity
    if callable(quantity):
        name = str(getattr(quantity, "__name__", type(quantity).__name__))
        return Quantity("function" if name == "<lambda>" else name, function=quantity)
    if not isinstance(quantity, str):
        raise InputError(
            f"a quantity is a name such as 'position' or 'speed@final', or a function of a motion, not {show(quantity)}"
        )
    rest, sign, at = (part.strip() for part in quantity.partition("@"))
    name, dot, component = rest.partition(".")
    if sign and not at:
        raise InputError(f"{quantity!r}: after @ say when, for example '{name}@final', or the name of an event")
    if name == "time":
        if at in ("", FINAL) or dot:
            raise InputError(f"{quantity!r}: the time of what? Write time@ and the name of an event: 'time@landing'")
        return Quantity("time", at=at)
    if name not in QUANTITIES:
        raise InputError(f"{name!r} is no quantity of a motion: {nearest(name, [*QUANTITIES, 'time@EVENT'])}")
    known = QUANTITIES[name]
    if at not in ("", FINAL) and not known.of_state:
        raise InputError(f"{quantity!r}: {name} depends on the forces, and is known at outputs only, not at events")
    found = Quantity(name, component, at)
    if dot:
        names = list(LABELS.get(known.dims[-1], ())) if len(known.dims) == 1 else []
        if not names and known.dims != ("rotor",):
            raise InputError(f"{quantity!r}: {name} has no components that could be taken by name")
        if (names and component not in names) or (not names and not component.isdigit()):
            raise InputError(f"{quantity!r}: the components of {name} are {', '.join(names) or 'numbered from 0'}")
    return found


def take_members(motion: Motion, first: int, last: int) -> Motion:
    """The motion of members first to last (excluded) of an ensemble, numbered from 0.

    Examples
    --------
    >>> import polhode as ph
    >>> start = ph.State(velocity=[(1, 0, 0), (2, 0, 0), (3, 0, 0)])
    >>> motion = ph.ensemble(ph.particle(1.0), start, duration=1.0)
    >>> take_members(motion, 1, 3).final.position[:, 0].round(9).tolist()
    [2.0, 3.0]
    """
    if first == 0 and last == motion.scenario.members:
        return motion
    result = motion.run_result.take(slice(first, last))
    return Motion(motion.scenario.take(slice(first, last)), result, motion.unknown_forces)


def _attribute(motion: Trajectory, name: str) -> Array:
    if name in ("speed", "angular_speed"):
        v = motion.velocity if name == "speed" else motion.angular_velocity
        with np.errstate(invalid="ignore"):
            return np.sqrt(v[..., 0] * v[..., 0] + v[..., 1] * v[..., 1] + v[..., 2] * v[..., 2])
    with np.errstate(invalid="ignore"):  # of members that failed
        return np.asarray(getattr(motion, name))


def _at_the_end(motion: Trajectory) -> Trajectory:
    """The last output alone, so that a quantity is not computed at all of them; of members that stopped, where."""
    run = motion.run_result
    if len(run.times) == 0:
        raise InputError("the run stopped before its first output time: there is no end to look at")
    samples = motion.final_samples()[None]
    contact = None if run.contact is None else run.contact[-1:]
    last = replace(run, times=run.times[-1:], samples=samples, contact=contact)
    return type(motion)(motion.scenario, last, motion.unknown_forces)


def _along_members(chosen: Any, array: Array) -> Any:
    """One truth value for each member, in the dimensions of an array (time, members, ...)."""
    return chosen.reshape(1, -1, *(1,) * (array.ndim - 2))


def _at_event(motion: Trajectory, quantity: Quantity) -> Array:
    """(members, ...): a quantity when an event happened to each member first; NaN where it did not."""
    run, members = motion.run_result, motion.scenario.members or 0
    names = [e.name for e in motion.scenario.events]
    if quantity.at not in names:
        known = f"its events are {', '.join(names)}" if names else "it has no events"
        raise InputError(f"{quantity.text!r}: the scenario has no event {quantity.at!r}; {known}")
    found: dict[int, EventRecord] = {}
    for crossing in run.crossings:  # in order of time
        if crossing.name == quantity.at:
            found.setdefault(crossing.owner, crossing)
    at = np.array(list(found), dtype=np.int64)
    if quantity.name == "time":
        times = np.full(members, np.nan)
        times[at] = [crossing.time for crossing in found.values()]
        return times
    if motion.scenario.is_system:
        raise InputError(
            f"{quantity.text!r}: of a system only the time of an event is reduced, 'time@{quantity.at}': an event "
            "keeps the state of one body. Output times near the event show the others"
        )
    samples = np.full((1, *run.samples.shape[1:]), np.nan)
    if len(at):
        kept = np.array([crossing.sample for crossing in found.values()])
        samples[0, at, : kept.shape[-1]], samples[0, at, kept.shape[-1] :] = kept, 0.0
    there = type(motion)(motion.scenario, RunResult(motion.times[-1:], samples, run.columns, run.steps))
    return np.asarray(_attribute(there, quantity.name)[0], dtype=np.float64)


def _as_rows(array: Array, times: Array) -> BlockValues:
    rows = np.ascontiguousarray(array.reshape(-1, array.shape[-1])) + 0.0  # -0.0 becomes 0.0: sorting knows one zero
    return BlockValues(rows, array.shape[:-1], times)
