"""A quantity: what can be known of a motion, with its unit and axes.  It is an attribute of every motion."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self, TypeAlias, overload

import numpy as np

from polhode.equations.inertia import BodyConstants
from polhode.integrate.traced_functions import trace_law
from polhode.scenario.force import map_leaves
from polhode.scenario.state import stack_components

if TYPE_CHECKING:
    from polhode.equations.formulations import StateView
    from polhode.results.trajectory import Trajectory
    from polhode.validation import Array

StateLaw: TypeAlias = "Callable[[Any, StateView, Any], Any]"
"""(t, state, body) -> a number, or a tuple of them"""
MotionLaw: TypeAlias = "Callable[[Trajectory], Array | None]"
"""(motion) -> an array: times, members or bodies, components"""

AXES: dict[str, tuple[str, ...]] = {
    "axis": ("x", "y", "z"),
    "body_axis": ("1", "2", "3"),
    "wxyz": ("w", "x", "y", "z"),
    "euler_angle": ("phi", "theta", "psi"),
    "yaw_pitch_roll_angle": ("yaw", "pitch", "roll"),
    "row": ("x", "y", "z"),
    "column": ("1", "2", "3"),
}
"""The axes of components, and what the components along them are called; those of other axes are numbered from 0."""
NAMED_ALONE = ("euler_angle", "yaw_pitch_roll_angle")
"""Axes whose components are called by their own names: theta, not euler_angles_theta."""
WRITTEN_UNITS = {
    "m s-1": "m/s",
    "m s-2": "m/s²",
    "rad s-1": "rad/s",
    "rad s-2": "rad/s²",
    "kg m s-1": "kg m/s",
    "kg m2": "kg m²",
    "kg m2 s-1": "kg m²/s",
}
"""Units as in the labels of plots, where that is not how datasets have them."""


class Quantity(property):
    """A row of the table of quantities: name, unit, axes, and the law that gives it.

    What motions have as an attribute, what datasets, tables, reductions, plots and pages know by its name.
    """

    name: str = ""

    def __init__(
        self,
        unit: str,
        text: str,
        axes: tuple[str, ...] = (),
        *,
        law: StateLaw | None = None,
        of_motion: MotionLaw | None = None,
        title: str = "",
        symbol: str = "",
        needs: str = "",
        of_system: bool = False,
        at_events: bool | None = None,
        is_angle: bool = False,
        stored: bool = False,
        csv: bool = False,
        on_page: bool = False,
        more: str = "",
        is_own: bool = False,
    ) -> None:
        """A quantity by a law (t, state, body) of the state, or by a law of a whole motion.

        Parameters
        ----------
        unit : str
            As datasets have it: "kg m2 s-1"; "1" if it has none.
        text : str
            What it is, in some words.
        axes : tuple of str, optional
            Names from `AXES`, or others; none for a single number.
        title : str, optional
            Over plots; by default the text without what follows a colon.
        symbol : str, optional
            In plots: "v".
        needs : str, optional
            A key of `NEEDS` in the table: what a motion must have, so that it is listed.
        of_system : bool, optional
            Whether there is one value for a whole system, not one for each body.
        at_events : bool, optional
            Whether it is known at events, where a state is all that there is; by default, if `law` gives it.
        is_angle : bool, optional
            Whether it jumps by a turn.
        stored, csv, on_page : bool, optional
            Whether stored motions have it for other readers, tables in CSV have it by default, and the page is sent it.
        more : str, optional
            What else its documentation says.
        is_own : bool, optional
            Whether the law is a function of a user's own, which is traced before it is called.
        """
        self.unit, self.text, self.axes, self.symbol, self.needs = unit, text, axes, symbol, needs
        self.title = title or text.partition(":")[0]
        self.law, self.of_motion, self.of_system, self.is_angle = law, of_motion, of_system, is_angle
        self.at_events = law is not None if at_events is None else at_events
        self.stored, self.csv, self.on_page, self.more, self.is_own = stored, csv, on_page, more, is_own
        of_unit = "" if unit == "1" else f", in {self.written_unit}"
        first = f"{text[:1].upper()}{text[1:]}{of_unit}."
        super().__init__(self.values, doc=f"{first}\n\n{more}" if more else first)

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, motion: None, owner: type) -> Self: ...
    @overload
    def __get__(self, motion: Trajectory, owner: type | None = None) -> Array: ...
    @overload
    def __get__(self, motion: object, owner: type | None = None) -> Self: ...
    def __get__(self, motion: Any, owner: type | None = None) -> Any:
        return self if motion is None else self.values(motion)

    def __reduce__(self) -> Any:
        if not self.is_own:  # what the process that reads it has, too
            return _row_of_table, (self.name,)
        return own_quantity, (self.name, self.unit, self.text, self.axes, self.symbol, self.law)

    def __repr__(self) -> str:
        return f"<quantity {self.name}, {self.unit}>"

    @property
    def written_unit(self) -> str:
        """The unit as in the labels of plots."""
        return WRITTEN_UNITS.get(self.unit, self.unit)

    def values(self, motion: Trajectory, times: Array | None = None) -> Any:
        """Its values at the output times: times first, then members and bodies, then components.

        `times` are those of the samples, where these are not the output times: of events, each member has its own.
        """
        if self.of_motion is not None:
            with np.errstate(invalid="ignore"):  # of members that failed
                return self.of_motion(motion)
        assert self.law is not None
        law = trace_law(motion.scenario, self.name, self.law, len(self.axes)) if self.is_own else self.law
        return evaluate_law(law, motion, len(self.axes), times)

    def component_labels(self, counts: tuple[int, ...] = ()) -> list[str]:
        """What its components are called: position_x, quaternion_w, angular_velocity_body_1, theta.

        `counts` are the numbers of components along its axes, which are needed for axes without names.

        Examples
        --------
        >>> from polhode.quantities.table import QUANTITIES
        >>> QUANTITIES["quaternion_wxyz"].component_labels()
        ['quaternion_w', 'quaternion_x', 'quaternion_y', 'quaternion_z']
        """
        if not self.axes:
            return [self.name]
        ends = [""]
        for i, axis in enumerate(self.axes):
            labels = AXES.get(axis) or tuple(str(k) for k in range(counts[i] if counts else 0))
            ends = [end + label for end in ends for label in labels]
        if self.axes[0] in NAMED_ALONE:
            return ends
        return [f"{self.name.removesuffix('_wxyz')}_{end}" for end in ends]


def _row_of_table(name: str) -> Quantity:
    from polhode.quantities.table import QUANTITIES, TIME

    return TIME if name == TIME.name else QUANTITIES[name]


def own_quantity(name: str, unit: str, text: str, axes: tuple[str, ...], symbol: str, law: StateLaw) -> Quantity:
    """A quantity of a user's own; also as another process gets it."""
    made = Quantity(unit, text, axes, law=law, symbol=symbol, csv=True, on_page=True, is_own=True)
    made.name = name
    return made


def _spread_body(body: BodyConstants, spread: Callable[[Any], Any]) -> BodyConstants:
    return BodyConstants(*map_leaves(spread, tuple(body)))


def evaluate_law(law: StateLaw, motion: Trajectory, dimensions: int, times: Array | None = None) -> Array:
    """A law (t, state, body) at all samples of a motion."""
    view, body = motion.state_view, motion.seen_constants
    shape = motion.run_result.samples.shape[:-1]
    known = motion.times if times is None else times
    t: Any = known.reshape(*known.shape, *(1,) * (len(shape) - known.ndim))
    if motion.scenario.engine == "python":  # functions of the user are called for one sample after the other

        def spread(leaf: Any) -> Any:
            return np.broadcast_to(leaf, shape)

        t, view, body = spread(t), type(view)(*map_leaves(spread, tuple(view))), _spread_body(body, spread)
    with np.errstate(invalid="ignore"):  # of members that failed
        found = law(t, view, body)
    if not dimensions:
        values = np.asarray(found)
        values = values if values.shape == shape else np.broadcast_to(values, shape).astype(np.float64)
    else:
        values = stack_components(found)
        if values.ndim == 1:  # numbers that are the same at all times, for all bodies
            values = np.broadcast_to(values, (*shape, len(values)))
        if dimensions == 2:
            values = values.reshape(*values.shape[:-1], 3, 3)
    return values[:, 0] if motion.axis is None else values
