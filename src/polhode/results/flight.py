"""A motion over the Earth: in Earth-fixed, local and orbital axes, and what the body meets in the air."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from polhode import rotations, validation
from polhode.equations.aerodynamics import Flow
from polhode.equations.law import Groups
from polhode.equations.quaternions import conjugate, product, to_body
from polhode.equations.vectors import cross, minus
from polhode.errors import InputError, show
from polhode.results.trajectory import Trajectory
from polhode.scenario.air import as_air, as_wind
from polhode.scenario.earth import Earth, Geodetic, as_earth, check_latitude, ned_quaternion, turn_about_axis
from polhode.scenario.earth_validation import distinct_earths
from polhode.scenario.flight_forces import Environment, known_heights
from polhode.scenario.force import leading_lengths
from polhode.scenario.state import stack_components
from polhode.validation import Array

FRAMES = ("earth", "ned", "enu", "lvlh")


@dataclass(frozen=True)
class FrameMotion:
    """A motion over the Earth in other axes: what `motion.in_frame` returns.

    "earth" are Earth-fixed axes; "ned" and "enu" the local north, east, down (or east, north, up) at the body, or at
    `origin`; "lvlh" local vertical, local horizontal: z down, y against the orbit's angular momentum, x forward.
    The arrays have the motion's shape: time first, then body or member, then components.
    """

    motion: Trajectory
    frame: str
    earth: Earth
    origin: tuple[float, float, float] | None = None
    """Of "ned" and "enu": a place fixed to the Earth, (latitude, longitude, height)."""

    @property
    def times(self) -> Array:
        """The output times, in s."""
        return self.motion.times

    # Where it is ----------------------------------------------------------------------------------------------------
    @cached_property
    def _position_fixed(self) -> Array:
        return turn_about_axis(self.motion.position, -self._angle)

    @cached_property
    def _geodetic(self) -> Geodetic:
        return self.earth.geodetic_of(self._position_fixed)

    @property
    def latitude(self) -> Array:
        """Geodetic latitude, in rad."""
        return np.asarray(self._geodetic.latitude)

    @property
    def longitude(self) -> Array:
        """Longitude, in rad, from -pi to pi."""
        return np.asarray(self._geodetic.longitude)

    @property
    def height(self) -> Array:
        """Height above the ellipsoid, in m."""
        return np.asarray(self._geodetic.height)

    @property
    def position(self) -> Array:
        """Position along the axes of the frame, in m: from the Earth's center in "earth", else from `origin`."""
        if self.frame == "earth":
            return self._position_fixed
        if self.origin is None:
            raise InputError(
                f"the frame {show(self.frame)} moves with the body, which is always at its origin: take latitude, "
                "longitude and height, the frame 'earth', or give in_frame an origin=(latitude, longitude, height)"
            )
        fixed: Any = _components(self._position_fixed)
        place: Any = _components(self.earth.to_fixed(*self.origin))
        return stack_components(to_body(self._local_to_fixed, minus(fixed, place)))

    # How it moves ---------------------------------------------------------------------------------------------------
    @property
    def velocity(self) -> Array:
        """Velocity along the axes of the frame, in m/s: relative to the Earth; in "lvlh" relative to the world."""
        v: Any = _components(self.motion.velocity)
        if self.frame != "lvlh":
            v = minus(v, cross(self._spin, _components(self.motion.position)))
        return stack_components(to_body(self._to_inertial, v))

    @property
    def quaternion_wxyz(self) -> Array:
        """The orientation as a quaternion, body to frame, scalar first."""
        q: Any = _components(self.motion.quaternion_wxyz)
        return stack_components(product(conjugate(self._to_inertial), q))

    @property
    def yaw_pitch_roll(self) -> Array:
        """Of the body from the axes of the frame, in rad: about z, then the new y, then the new x."""
        return rotations.yaw_pitch_roll_of(self.quaternion_wxyz)

    @property
    def angular_velocity_body(self) -> Array:
        """Relative to the world (inertial), along body axes, in rad/s: that of the motion."""
        return self.motion.angular_velocity_body

    @property
    def angular_velocity_body_relative_to_earth(self) -> Array:
        """Relative to the Earth, along body axes, in rad/s."""
        w: Any = _components(self.motion.angular_velocity)
        q: Any = _components(self.motion.quaternion_wxyz)
        return stack_components(to_body(q, minus(w, self._spin)))

    # The axes -------------------------------------------------------------------------------------------------------
    @property
    def _angle(self) -> Array:
        """By how much the Earth has turned."""
        turned = self.earth.rotation_rate * self.times
        return turned.reshape(turned.shape + (1,) * len(self.motion.axes))

    @property
    def _spin(self) -> tuple[float, float, float]:
        return (0.0, 0.0, self.earth.rotation_rate)

    @property
    def _local_to_fixed(self) -> Any:
        place = self._geodetic if self.origin is None else Geodetic(*self.origin)
        q: Any = _components(ned_quaternion(place.latitude, place.longitude))
        return product(q, _ENU_TO_NED) if self.frame == "enu" else q

    @cached_property
    def _to_inertial(self) -> Any:
        """The quaternion from the axes of the frame to those of the world, at each time."""
        if self.frame == "lvlh":
            return self._orbital
        zero = np.zeros_like(self._angle)
        turned: Any = (np.cos(self._angle / 2), zero, zero, np.sin(self._angle / 2))
        return turned if self.frame == "earth" else product(turned, self._local_to_fixed)

    @property
    def _orbital(self) -> Any:
        x, v = self.motion.position, self.motion.velocity
        with np.errstate(invalid="ignore", divide="ignore"):
            down = -x / np.linalg.norm(x, axis=-1, keepdims=True)
            across = -np.cross(x, v)
            y = across / np.linalg.norm(across, axis=-1, keepdims=True)
        matrix = np.stack((np.cross(y, down), y, down), axis=-1)
        return _components(_quaternions_of(matrix))


_ENU_TO_NED = (0.0, np.sqrt(0.5), np.sqrt(0.5), 0.0)
"""Half a turn about the line between north and east."""


def transform_to_frame(motion: Trajectory, frame: str, earth: Any, origin: Any) -> FrameMotion:
    """The motion in a frame of an Earth: the one given, or the one whose forces act."""
    validation.check_word(frame, "frame", FRAMES)
    if origin is None:
        seen = FrameMotion(motion, frame, _earth_of(motion, earth))
        if frame == "lvlh":
            _require_orbit(motion)
        return seen
    if frame not in ("ned", "enu"):
        raise InputError(f"the frame {show(frame)} has no other origin: leave origin out, or take 'ned' or 'enu'")
    place = validation.check_vector(origin, "origin", "frame")
    check_latitude(place[0], "latitude of the origin")
    return FrameMotion(motion, frame, _earth_of(motion, earth), tuple(place.tolist()))


def _earth_of(motion: Trajectory, given: Any) -> Earth:
    if given is not None:
        return as_earth(given)
    earths = distinct_earths(motion.scenario.acting_forces)
    if len(earths) == 1:
        return earths[0]
    problem = "several Earths" if earths else "no Earth"
    raise InputError(f"the forces of this motion know {problem}: say which, earth=ph.earth.WGS84")


def _require_orbit(motion: Trajectory) -> None:
    """Refuse motion along the vertical, beyond rounding: its orbit has no plane."""
    x, v = motion.position, motion.velocity
    size = np.linalg.norm(x, axis=-1) * np.linalg.norm(v, axis=-1)
    radial = np.linalg.norm(np.cross(x, v), axis=-1) <= 4 * np.finfo(np.float64).eps * size
    if radial.any():
        at = float(motion.times[int(np.argwhere(radial)[0][0])])
        raise InputError(
            f"at t = {at:g} s the velocity has no part across the vertical, so that the frame 'lvlh' has no forward "
            "direction: take 'ned', or 'enu'"
        )


def _quaternions_of(matrices: Array) -> Array:
    from scipy.spatial.transform import Rotation

    flat = matrices.reshape(-1, 3, 3)
    known = np.isfinite(flat).all(axis=(1, 2))
    q = np.full((len(flat), 4), np.nan)
    if known.any():
        q[known] = Rotation.from_matrix(flat[known]).as_quat(scalar_first=True)
    return q.reshape(*matrices.shape[:-2], 4)


def _components(array: Any) -> Any:
    return tuple(np.moveaxis(np.asarray(array), -1, 0))


# What the body meets in the air -------------------------------------------------------------------------------------
@dataclass(frozen=True)
class FlightQuantities:
    """What a body meets in the air, along its motion: what `motion.flight` returns.

    Everything is relative to the air, which turns with the Earth and moves with the wind.  The arrays have the motion's
    shape.  Where the air is unknown for a part of the motion they are NaN, with a warning.

    Examples
    --------
    >>> import polhode as ph
    >>> ball, start = ph.particle(1.0), ph.State(position=(0, 0, 1000.0))
    >>> fall = [ph.forces.gravity(), ph.forces.drag(0.01, 0.5, air=ph.air.constant(1.2))]
    >>> motion = ph.simulate(ball, start, fall, duration=30.0, output_step=10.0)
    >>> motion.flight().dynamic_pressure.round(2).tolist()
    [0.0, 1723.04, 1953.13, 1961.06]
    """

    motion: Trajectory
    environment: Environment
    params: Groups

    @cached_property
    def flow(self) -> Flow:
        """Everything at once, in components."""
        view, around = self.motion.state_view, self.environment
        times = self.motion.times.reshape(-1, *(1,) * (np.ndim(view.position[0]) - 1))
        with np.errstate(all="ignore"):
            return around.flow(times, view, self.params)

    @property
    def height(self) -> Array:
        """Above the ellipsoid, or over flat ground z, in m."""
        return self._scalar(self.flow.height)

    @property
    def airspeed(self) -> Array:
        """Speed relative to the air, in m/s."""
        return self._scalar(self.flow.airspeed)

    @property
    def velocity_body(self) -> Array:
        """Velocity relative to the air, along body axes, in m/s."""
        return np.stack([self._scalar(part) for part in self.flow.velocity_body], axis=-1)

    @property
    def angular_velocity_body(self) -> Array:
        """Angular velocity relative to the air, along body axes, in rad/s."""
        return np.stack([self._scalar(part) for part in self.flow.angular_velocity_body], axis=-1)

    @property
    def mach(self) -> Array:
        """Mach number: airspeed over speed of sound."""
        return self._scalar(self.flow.mach)

    @property
    def dynamic_pressure(self) -> Array:
        """density V^2/2, in Pa."""
        return self._scalar(self.flow.dynamic_pressure)

    @property
    def angle_of_attack(self) -> Array:
        """atan2(w, u) of the velocity (u, v, w) relative to the air, along body axes, in rad."""
        return self._scalar(self.flow.angle_of_attack)

    @property
    def sideslip(self) -> Array:
        """asin(v/V), in rad."""
        return self._scalar(self.flow.sideslip)

    @property
    def density(self) -> Array:
        """Of the air, in kg/m3."""
        return self._scalar(self.flow.air.density)

    @property
    def pressure(self) -> Array:
        """Of the air, in Pa."""
        return self._scalar(self.flow.air.pressure)

    @property
    def temperature(self) -> Array:
        """Of the air, in K."""
        return self._scalar(self.flow.air.temperature)

    @property
    def speed_of_sound(self) -> Array:
        """In m/s."""
        return self._scalar(self.flow.air.speed_of_sound)

    def _scalar(self, values: Any) -> Array:
        shape = np.shape(self.motion.state_view.position[0])
        array = np.broadcast_to(np.asarray(values, dtype=np.float64), shape)
        return array[:, 0] if self.motion.axis is None else array


def find_flight(motion: Trajectory, air: Any, wind: Any, earth: Any) -> FlightQuantities:
    """What the body meets, in the air given, or in that of the forces."""
    if air is not None:
        planet = None
        if earth is not None or distinct_earths(motion.scenario.acting_forces):
            planet = _earth_of(motion, earth)
        around = Environment(planet, as_air(air), as_wind(wind))
        _require_members(motion, around)
        _require_known(motion, around)
        return FlightQuantities(motion, around, around.params)
    if wind is not None or earth is not None:
        raise InputError("wind and earth go with air: give air=ph.air.US76, or none of the three")
    meeting = [f for f in motion.scenario.acting_forces if f.environment is not None and f.environment.air]
    found = [(f.environment, f.params[0]) for f in meeting]
    if not found:
        raise InputError("no force of this motion knows the air: say which, motion.flight(air=ph.air.US76)")
    first = found[0]
    if any(_differ(first, other) for other in found[1:]):
        raise InputError("the forces of this motion know different air: say which, motion.flight(air=..., wind=...)")
    return FlightQuantities(motion, *first)


def _require_members(motion: Trajectory, around: Environment) -> None:
    """Refuse air and wind for another number of members than the motion has."""
    members = motion.scenario.members
    for length in leading_lengths([around.params]):
        if length != members:
            found = "no members" if members is None else f"{members} members"
            raise InputError(
                f"the air or the wind is given for {length} members, but the motion has {found}: give one number, or "
                "as many as there are members"
            )


def _require_known(motion: Trajectory, around: Environment) -> None:
    """Refuse heights at which the air or the wind is nowhere known; say where it is unknown in part."""
    with np.errstate(all="ignore"):
        height = np.asarray(around.place(motion.state_view.position, around.params[0])[0])
    for what, low, high in known_heights(around):
        outside = (height < low) | (height > high)
        if not outside.any():
            continue
        at = tuple(np.argwhere(outside)[0])
        sentence = (
            f"{what} is known from {low:.9g} to {high:.9g} m, not at the height {height[at]:.12g} m that the body "
            f"has at t = {motion.times[at[0]]:g} s"
        )
        if not (~outside & np.isfinite(height)).any():
            raise InputError(f"{sentence}, nor later: give other air, as ph.air.exponential(...)")
        warnings.warn(f"{sentence}: where it is unknown the results are NaN", stacklevel=4)


def _differ(first: tuple[Environment, Any], other: tuple[Environment, Any]) -> bool:
    return first[0].flow is not other[0].flow or repr(first[1]) != repr(other[1])


# Tables -------------------------------------------------------------------------------------------------------------
def flight_columns(motion: Trajectory) -> dict[str, Array]:
    """Columns of a table of one body's motion that the Earth and the air give, by names that carry the unit."""
    columns: dict[str, Array] = {}

    environments = [f.environment for f in motion.scenario.acting_forces if f.environment is not None]
    if any(around.earth is not None for around in environments):
        local = transform_to_frame(motion, "ned", None, None)
        columns["latitude_deg"], columns["longitude_deg"] = np.degrees(local.latitude), np.degrees(local.longitude)
        columns["height_m"] = local.height
        columns |= {f"velocity_{part}_m_s": local.velocity[..., i] for i, part in enumerate(("north", "east", "down"))}
        for i, angle in enumerate(("yaw", "pitch", "roll")):
            columns[f"{angle}_deg"] = np.degrees(local.yaw_pitch_roll[..., i])
    if any(around.air is not None for around in environments):
        air = find_flight(motion, None, None, None)
        columns["airspeed_m_s"], columns["mach"] = air.airspeed, air.mach
        columns["dynamic_pressure_Pa"], columns["density_kg_m3"] = air.dynamic_pressure, air.density
        columns["angle_of_attack_deg"], columns["sideslip_deg"] = map(np.degrees, (air.angle_of_attack, air.sideslip))
    return columns
