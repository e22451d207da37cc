"""The state of a body at one time: position, orientation, velocity, angular velocity."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import validation
from polhode.equations.formulations import FORMULATIONS
from polhode.equations.inertia import inertia_times
from polhode.equations.quaternions import normalize, product, to_body, to_world
from polhode.equations.vectors import cross, plus
from polhode.errors import InputError, ScenarioError, StateError, nearest, show
from polhode.rotations import warn_of_degrees, yaw_pitch_roll_turn
from polhode.scenario.earth import as_earth, check_latitude, ned_turn
from polhode.synonyms import explain_unknown_arguments, unknown_member_message
from polhode.validation import Array, as_leaf, as_leaves

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from scipy.spatial.transform import Rotation

    from polhode.massprops.body import Body
    from polhode.scenario.earth import Earth


_ROUNDING = 8 * sys.float_info.epsilon
_LAZY_FIELDS = ("position", "quaternion_wxyz", "velocity", "angular_velocity_body", "members")


@dataclass(frozen=True, eq=False, init=False)
class _StateFields:
    """What a state holds.  (A class of its own, so that editors complete the arguments, which differ.)"""

    position: Array
    quaternion_wxyz: Array
    velocity: Array
    angular_velocity_body: Array
    time: float
    members: int | None = field(repr=False, init=False)
    """The number of members if this is the initial state of an ensemble, else None."""


class State(_StateFields):
    """The state of a body at one time.  SI units, world axes, except where the name says body.

    Parameters
    ----------
    position : array_like, optional
        Of the center of mass, in m.
    orientation : scipy.spatial.transform.Rotation, optional
        Body to world.
    velocity : array_like, optional
        Of the center of mass, in m/s.
    angular_velocity_body, angular_velocity : array_like, optional
        In rad/s, in body axes or in world axes: give one of the two.
    quaternion_wxyz : array_like, optional
        The orientation as a quaternion, scalar first, instead of `orientation`.  The rotation is that of q/|q|.
    time : float, optional
        In s: when the body is in this state.

    In an ensemble any of these, except the time, may carry a leading axis for the members.

    Examples
    --------
    >>> import polhode as ph
    >>> state = ph.State(quaternion_wxyz=(0.5, 0.5, 0.5, 0.5), angular_velocity=(0.0, 0.0, 2.0))
    >>> state.angular_velocity_body.round(12).tolist()
    [0.0, 2.0, 0.0]
    """

    @explain_unknown_arguments(StateError)
    def __init__(
        self,
        position: ArrayLike = (0.0, 0.0, 0.0),
        orientation: Rotation | None = None,
        velocity: ArrayLike = (0.0, 0.0, 0.0),
        angular_velocity_body: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
        *,
        quaternion_wxyz: ArrayLike | None = None,
        time: float = 0.0,
    ) -> None:
        q = _quaternion(orientation, quaternion_wxyz)
        x = validation.check_numbers(position, "position", (3,), StateError)
        v = validation.check_numbers(velocity, "velocity", (3,), StateError)
        if angular_velocity is not None:
            if angular_velocity_body is not None:
                raise StateError(
                    "angular_velocity (world axes) and angular_velocity_body (body axes) are both given: give one"
                )
            world = validation.check_numbers(angular_velocity, "angular_velocity", (3,), StateError)
            w = stack_components(to_body(as_leaves(q), as_leaves(world)))
        else:
            given = (0.0, 0.0, 0.0) if angular_velocity_body is None else angular_velocity_body
            w = validation.check_numbers(given, "angular_velocity_body", (3,), StateError)
        count = validation.member_count((x, 1), (q, 1), (v, 1), (w, 1))
        moment = validation.check_number(time, "time", StateError)
        self._fill(x, q, v, w, moment, count)

    @classmethod
    @explain_unknown_arguments(StateError)
    def from_geodetic(
        cls,
        latitude: ArrayLike = 0.0,
        longitude: ArrayLike = 0.0,
        height: ArrayLike = 0.0,
        velocity_ned: ArrayLike = (0.0, 0.0, 0.0),
        yaw_pitch_roll: ArrayLike = (0.0, 0.0, 0.0),
        angular_velocity_body: ArrayLike | None = None,
        *,
        angular_velocity_body_relative_to_earth: ArrayLike | None = None,
        earth: Earth | str | Mapping[str, Any] = "WGS84",
        time: float = 0.0,
    ) -> State:
        """The state of a body at a place of the Earth; the world is inertial, and the Earth turns in it.

        Parameters
        ----------
        latitude, longitude : array_like
            Geodetic, in rad.
        height : array_like
            Above the ellipsoid, in m.
        velocity_ned : array_like, optional
            Relative to the Earth: north, east, down, in m/s.
        yaw_pitch_roll : array_like, optional
            Of the body axes from north, east, down, in rad: about z, then the new y, then the new x.
        angular_velocity_body : array_like, optional
            Relative to the world (inertial), in body axes, in rad/s; 0 by default.
        angular_velocity_body_relative_to_earth : array_like, optional
            Instead: relative to the Earth, in body axes; (0, 0, 0) turns with the Earth.
        earth : Earth or str, optional
            `ph.earth.WGS84`, or another.
        time : float, optional
            In s: when the body is there.  At t = 0 Earth-fixed axes are along those of the world.

        Examples
        --------
        >>> import polhode as ph
        >>> state = ph.State.from_geodetic(height=1000.0)
        >>> state.position.tolist(), state.velocity.round(3).tolist()
        ([6379137.0, 0.0, 0.0], [0.0, 465.174, 0.0])
        """
        planet = as_earth(earth)
        moment = validation.check_number(time, "time", StateError)
        lat, lon, up = (
            validation.check_numbers(value, name, (), StateError)
            for value, name in ((latitude, "latitude"), (longitude, "longitude"), (height, "height"))
        )
        check_latitude(lat)
        v = validation.check_numbers(velocity_ned, "velocity_ned", (3,), StateError)
        angles = validation.check_numbers(yaw_pitch_roll, "yaw_pitch_roll", (3,), StateError)
        validation.member_count((lat, 0), (lon, 0), (up, 0), (v, 1), (angles, 1))
        warn_of_degrees([angles[..., i] for i in range(3)])
        turned, spin = planet.rotation_rate * moment, (0.0, 0.0, planet.rotation_rate)
        north, east = as_leaf(lat), as_leaf(lon) + turned
        position = planet.place_of(north, east, as_leaf(up))
        from_ned = ned_turn(north, east)
        q = product(from_ned, yaw_pitch_roll_turn(*as_leaves(angles)))
        velocity = plus(to_world(from_ned, as_leaves(v)), cross(spin, position))
        w = angular_velocity_body
        if angular_velocity_body_relative_to_earth is not None:
            if w is not None:
                raise StateError(
                    "angular_velocity_body and angular_velocity_body_relative_to_earth are both given: give one"
                )
            name = "angular_velocity_body_relative_to_earth"
            relative = validation.check_numbers(angular_velocity_body_relative_to_earth, name, (3,), StateError)
            validation.member_count((relative, 1), (stack_components(q), 1))
            w = stack_components(plus(as_leaves(relative), to_body(q, spin)))
        places = stack_components(position), None, stack_components(velocity), w
        return cls(*places, quaternion_wxyz=stack_components(q), time=moment)

    def _fill(self, x: Array, q: Array, v: Array, w: Array, time: float, members: int | None) -> None:
        self.__dict__.update(
            position=x, quaternion_wxyz=q, velocity=v, angular_velocity_body=w, time=time, members=members
        )

    @classmethod
    def of_rows(cls, rows: Array, time: float) -> State:
        """The state, or those of all members, from rows (x, q, v, w) of 13 numbers, which belong to it from now on."""
        state = cls.__new__(cls)
        x, q, v, w = rows[..., :3], rows[..., 3:7], rows[..., 7:10], rows[..., 10:]
        state._fill(x, normalize_quaternion(q), v, w, time, len(rows) if rows.ndim > 1 else None)
        return state

    @classmethod
    def later(cls, make: Callable[[], tuple[Any, Any, Any, Any]], time: float) -> State:
        """A state whose (x, q, v, w) are computed when they are first used."""
        state = cls.__new__(cls)
        state.__dict__["_make"] = make
        state.__dict__["time"] = time
        return state

    def __getattr__(self, name: str) -> Any:
        make = self.__dict__.pop("_make", None) if name in _LAZY_FIELDS else None
        if make is None:
            raise AttributeError(unknown_member_message(self, "a State", name))
        x, q, v, w = map(stack_components, make())
        self._fill(x, normalize_quaternion(q), v, w, self.time, len(x) if x.ndim > 1 else None)
        return self.__dict__[name]

    def __getstate__(self) -> dict[str, Any]:
        _ = self.members
        return self.__dict__

    @property
    def orientation(self) -> Rotation:
        """The orientation, body to world."""
        from scipy.spatial.transform import Rotation

        return Rotation.from_quat(self.quaternion_wxyz, scalar_first=True)

    @property
    def angular_velocity(self) -> Array:
        """The angular velocity in world axes, in rad/s."""
        return stack_components(to_world(as_leaves(self.quaternion_wxyz), as_leaves(self.angular_velocity_body)))

    @explain_unknown_arguments(StateError)
    def replace(
        self,
        position: ArrayLike | None = None,
        orientation: Rotation | None = None,
        velocity: ArrayLike | None = None,
        angular_velocity_body: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
        *,
        quaternion_wxyz: ArrayLike | None = None,
        time: float | None = None,
    ) -> State:
        """A new state with some of its values changed; takes what `State` takes.

        Examples
        --------
        >>> import polhode as ph
        >>> ph.State(velocity=(1, 0, 0)).replace(time=2.0).velocity.tolist()
        [1.0, 0.0, 0.0]
        """
        if orientation is None and quaternion_wxyz is None:
            quaternion_wxyz = self.quaternion_wxyz
        if angular_velocity is None and angular_velocity_body is None:
            angular_velocity_body = self.angular_velocity_body
        return State(
            self.position if position is None else position,
            orientation,
            self.velocity if velocity is None else velocity,
            angular_velocity_body,
            angular_velocity,
            quaternion_wxyz=quaternion_wxyz,
            time=self.time if time is None else time,
        )

    def to_world(self, points_body: ArrayLike, kind: str = "point") -> Array:
        """Points of the body (from its center of mass, body axes) in the world; or, with kind="vector", directions.

        Examples
        --------
        >>> import polhode as ph
        >>> ph.State(position=(1, 0, 0)).to_world((0.0, 2.0, 0.0)).tolist()
        [1.0, 2.0, 0.0]
        """
        turned = self.orientation.apply(_points(points_body, "points_body"))
        return np.asarray(turned + self.position if _is_point(kind) else turned)

    def to_body(self, points: ArrayLike, kind: str = "point") -> Array:
        """Points of the world in body axes, from the center of mass; or, with kind="vector", directions.

        Examples
        --------
        >>> import polhode as ph
        >>> ph.State(position=(1, 0, 0)).to_body((1.0, 2.0, 0.0)).tolist()
        [0.0, 2.0, 0.0]
        """
        given = _points(points, "points")
        return np.asarray(self.orientation.apply(given - self.position if _is_point(kind) else given, inverse=True))

    def momenta(self, body: Body) -> tuple[Any, Any, Any, Any]:
        """(x, q, P, L) as tuples of components: position, orientation, linear and angular momentum."""
        q: Any = as_leaves(self.quaternion_wxyz)
        constants = body.constants()
        v: Any = as_leaves(self.velocity)
        p = tuple(constants.mass * component for component in v)
        angular_momentum = to_world(q, inertia_times(constants, as_leaves(self.angular_velocity_body)))
        return as_leaves(self.position), q, p, angular_momentum

    def to_array(self, body: Body, formulation: str = "momentum") -> Array:
        """The state as a flat array, the form that ODE solvers take.  [Baraff 1997, section 3]

        13 numbers (x, q, P, L); with formulation="momentum_matrix" 18 (x, R row by row, P, L).

        Examples
        --------
        >>> import polhode as ph
        >>> ph.State(velocity=(0, 0, 2)).to_array(ph.particle(3.0)).tolist()
        [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 6.0, 0.0, 0.0, 0.0]
        """
        if self.members is not None:
            raise StateError("to_array takes one state, not those of an ensemble")
        from polhode.massprops.body import Body

        validation.check_kind(body, "body", Body)
        form = array_formulation(formulation)
        groups = form.start(*self.momenta(body), body.constants())
        return np.array([number for group in groups for number in group])


def split_groups(flat: Any, sizes: tuple[int, ...]) -> tuple[tuple[Any, ...], ...]:
    """Cut a flat sequence into groups."""
    groups, start = [], 0
    for size in sizes:
        groups.append(tuple(flat[start : start + size]))
        start += size
    return tuple(groups)


def stack_components(components: Any) -> Array:
    """Join components along a last axis."""
    if type(components[0]) is float:
        return np.array(components)
    return np.stack(np.broadcast_arrays(*components), axis=-1).astype(np.float64, copy=False)


def apply_to_vectors(law: Callable[..., Any], *vectors: Array) -> Array:
    """A law of vectors, applied to arrays whose last axis holds the components."""
    return stack_components(law(*(tuple(np.moveaxis(vector, -1, 0)) for vector in vectors)))


def array_formulation(name: str) -> Any:
    """The formulation of a flat array: "momentum" or "momentum_matrix"."""
    known = ("momentum", "momentum_matrix")
    return FORMULATIONS[validation.check_word(name, "formulation", known, ScenarioError, _array_advice)]


def _array_advice(name: str, known: Collection[str]) -> str:
    return f"arrays come in 'momentum' (13 numbers a body) or 'momentum_matrix' (18); {nearest(name, known)}"


def _quaternion(orientation: Any, quaternion_wxyz: Any) -> Array:
    """The unit quaternion of whichever is given."""
    if orientation is None and quaternion_wxyz is None:
        return np.array((1.0, 0.0, 0.0, 0.0))
    if orientation is not None and quaternion_wxyz is not None:
        raise StateError("orientation and quaternion_wxyz are both given: give one of them")
    if orientation is not None:
        if not hasattr(orientation, "as_quat"):
            raise StateError(
                f"orientation must be a scipy.spatial.transform.Rotation, not {show(orientation)}. "
                "A quaternion with its scalar first goes into quaternion_wxyz."
            )
        return validation.check_numbers(orientation.as_quat(scalar_first=True), "orientation", (4,), StateError)
    q = validation.check_numbers(quaternion_wxyz, "quaternion_wxyz", (4,), StateError)
    if (np.abs(q).max(axis=-1) == 0).any():
        raise StateError("the quaternion (0, 0, 0, 0) is not a rotation: for no rotation give (1, 0, 0, 0)")
    return normalize_quaternion(q)


def normalize_quaternion(q: Array) -> Array:
    """q/|q|; where |q| is 1 to rounding, q itself."""
    if q.ndim == 1:  # as below, but plain numbers are faster
        a, b, c, d = q.tolist()
        if abs(a * a + b * b + c * c + d * d - 1) <= _ROUNDING:
            return q
    with np.errstate(over="ignore", invalid="ignore"):
        a, b, c, d = (q[..., i, None] for i in range(4))
        is_unit = np.abs(a * a + b * b + c * c + d * d - 1) <= _ROUNDING
    if is_unit.all():
        return q
    largest = np.abs(q).max(axis=-1, keepdims=True)
    return np.where(is_unit, q, stack_components(normalize(as_leaves(q / largest))))


def _is_point(kind: str) -> bool:
    advice = "'point' (moves with the body) or 'vector' (only turns)"
    return validation.check_word(kind, "kind", ("point", "vector"), InputError, advice) == "point"


def _points(given: Any, name: str) -> Array:
    """One point, or a list of points."""
    points = validation.check_numbers(given, name, validation.shape_of(given), StateError)
    if points.ndim not in (1, 2) or points.shape[-1] != 3:
        raise StateError(f"{name} must be 3 numbers a point, but has the shape {points.shape}")
    return points
