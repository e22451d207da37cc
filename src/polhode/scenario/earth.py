"""The Earth: its gravity, figure and rotation, and geodetic, Earth-fixed, inertial and local coordinates.

World axes are inertial: the origin is the Earth's center, z its axis, and at t = 0 x and y are along the Earth-fixed
ones (x through the equator at longitude 0).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polhode import validation
from polhode.equations import earth as laws
from polhode.equations.law import Groups
from polhode.equations.scalar_ops import cos, sin, sqrt
from polhode.errors import InputError, nearest, show
from polhode.synonyms import explain_unknown_arguments, explain_unknown_fields
from polhode.validation import Array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["SPHERE", "WGS84", "Earth", "Geodetic"]

_WIDE = np.longdouble
"""Conversions are made with more digits where the processor has them, so that only the result is rounded."""
_STEPS_OUTSIDE, _STEPS_ANYWHERE = 5, 80
"""Steps of Newton's method from below, enough also beside the evolute, where they converge slowly."""


class Geodetic(NamedTuple):
    """A place: latitude (from the normal of the ellipsoid) and longitude in rad, height above the ellipsoid in m.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.earth.WGS84.to_geodetic((6378137.0, 0.0, 0.0)).longitude
    np.float64(0.0)
    """

    latitude: Any
    longitude: Any
    height: Any


@explain_unknown_fields(InputError)
@dataclass(frozen=True)
class Earth:
    """A planet that turns: an ellipsoid of revolution, and the gravity of a body with zonal harmonics.

    Parameters
    ----------
    name : str
        What it is called in files and messages.
    gm : float
        G times its mass, in m3/s2.
    radius : float
        Equatorial radius, in m.
    flattening : float
        (a - b)/a; 0 for a sphere.
    zonal : sequence of float
        Zonal harmonics J2, J3, ... of its gravity, to which `degree` of `ph.forces.earth_gravity` refers.
    rotation_rate : float
        About its axis, in rad/s.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.earth.WGS84.to_geodetic((0.0, 0.0, 6356752.314245179)).height.round(6) + 0.0
    np.float64(0.0)
    >>> still = ph.earth.WGS84.replace(rotation_rate=0.0)
    >>> still.rotation_rate
    0.0
    """

    name: str
    gm: float
    radius: float
    flattening: float = 0.0
    zonal: tuple[float, ...] = ()
    rotation_rate: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise InputError(f"the name of an Earth must be a string, not {show(self.name)}")
        for key in ("gm", "radius", "flattening", "rotation_rate"):
            object.__setattr__(self, key, validation.check_number(getattr(self, key), key))
        if not self.gm > 0 or not self.radius > 0:
            raise InputError(f"gm and radius of {self.name} must be greater than 0, but are {self.gm}, {self.radius}")
        if not 0 <= self.flattening < 1:
            raise InputError(
                f"flattening of {self.name} must be at least 0 and less than 1, but is {self.flattening}: WGS-84 has "
                "1/298.257223563"
            )
        zonal = validation.check_numbers(self.zonal, "zonal", validation.shape_of(self.zonal))
        if zonal.ndim != 1:
            raise InputError(f"zonal is a list of harmonics, [J2, J3, ...], not {show(self.zonal)}")
        object.__setattr__(self, "zonal", tuple(zonal.tolist()))

    @explain_unknown_arguments(InputError)
    def replace(
        self,
        *,
        name: str | None = None,
        gm: float | None = None,
        radius: float | None = None,
        flattening: float | None = None,
        zonal: tuple[float, ...] | None = None,
        rotation_rate: float | None = None,
    ) -> Earth:
        """The same with some of its numbers changed.

        Examples
        --------
        >>> import polhode as ph
        >>> ph.earth.WGS84.replace(flattening=0.0, zonal=()).squared_axis_ratio
        1.0
        """
        given = {
            "name": name,
            "gm": gm,
            "radius": radius,
            "flattening": flattening,
            "zonal": zonal,
            "rotation_rate": rotation_rate,
        }
        changed: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
        return replace(self, **changed)

    @property
    def squared_axis_ratio(self) -> float:
        """(b/a)^2 of the ellipsoid."""
        return (1 - self.flattening) ** 2

    @property
    def _wide_ratio(self) -> Any:
        return (1 - _WIDE(self.flattening)) ** 2

    @property
    def place_params(self) -> Groups:
        """What the laws of the air take: radius, squared ratio of the axes, and rate of rotation."""
        return (self.radius, self.squared_axis_ratio, self.rotation_rate)

    def gravity_params(self, degree: int) -> Groups:
        """What the laws of gravity take: gm, radius, and the harmonics up to a degree."""
        return (self.gm, self.radius, self.zonal[: max(degree - 1, 0)])

    # Coordinates ----------------------------------------------------------------------------------------------------
    def to_fixed(self, latitude: ArrayLike, longitude: ArrayLike, height: ArrayLike = 0.0) -> Array:
        """Earth-fixed position (x through longitude 0, z through the north pole), in m, of a place.

        Parameters
        ----------
        latitude, longitude : array_like
            Geodetic, in rad.
        height : array_like, optional
            Above the ellipsoid, in m.

        Examples
        --------
        >>> import polhode as ph
        >>> ph.earth.WGS84.to_fixed(0.0, 0.0, 1000.0).tolist()
        [6379137.0, 0.0, 0.0]
        """
        lat, lon = check_latitude(latitude).astype(_WIDE), _check(longitude, "longitude").astype(_WIDE)
        h, k = _check(height, "height").astype(_WIDE), self._wide_ratio
        across = self.radius / np.sqrt(np.cos(lat) ** 2 + k * np.sin(lat) ** 2)
        level = (across + h) * np.cos(lat)
        parts = np.broadcast_arrays(level * np.cos(lon), level * np.sin(lon), (k * across + h) * np.sin(lat))
        return np.stack(parts, axis=-1).astype(np.float64)

    def place_of(self, latitude: Any, longitude: Any, height: Any) -> Any:
        """(x, y, z) of a place in doubles, of numbers that knobs or derivatives may follow; `to_fixed` rounds less."""
        c, s, k = cos(latitude), sin(latitude), self.squared_axis_ratio
        across = self.radius / sqrt(c * c + k * (s * s))
        level = (across + height) * c
        return level * cos(longitude), level * sin(longitude), (k * across + height) * s

    def to_geodetic(self, position_fixed: ArrayLike) -> Geodetic:
        """Latitude, longitude (rad) and height (m) of an Earth-fixed position: of the nearest point of the ellipsoid.

        Where several points are nearest (at the center, and in the plane of the equator within 43 km of it), the
        northern one; on the axis the longitude is 0.

        Examples
        --------
        >>> import polhode as ph
        >>> place = ph.earth.WGS84.to_geodetic((6379137.0, 0.0, 0.0))
        >>> float(place.latitude), float(place.longitude), round(float(place.height), 6)
        (0.0, 0.0, 1000.0)
        """
        return self.geodetic_of(validation.check_numbers(position_fixed, "position_fixed", (3,)))

    def geodetic_of(self, position_fixed: Array) -> Geodetic:
        """`to_geodetic` of an array of any shape, unchecked; NaN gives NaN."""
        x, y, z = np.moveaxis(position_fixed, -1, 0).astype(_WIDE)
        up, v = self._normal(np.hypot(x, y) / self.radius, np.abs(z) / self.radius)
        latitude = np.copysign(np.arctan2(up[1], up[0]), np.where(z == 0, 1.0, z))
        height = self.radius * (v - self._wide_ratio) * np.hypot(*up)
        return Geodetic(*(angle.astype(np.float64)[()] for angle in (latitude, np.arctan2(y, x), height)))

    def _normal(self, p: Array, z: Array) -> tuple[tuple[Array, Array], Array]:
        """The direction of the normal through (p, z) >= 0, in equatorial radii, and the root of `vertical_root`."""
        k = self._wide_ratio
        r = np.hypot(p, z)
        with np.errstate(divide="ignore", invalid="ignore"):
            outside = r - (1 - k) * ((p / r) ** 2 + z * (z / r) / 2)
            v = np.where(r > 0.5, outside, np.maximum(np.sqrt(k) * z, p - (1 - k)))
            for _ in range(_STEPS_OUTSIDE if k > 0.9 and (r > 0.5).all() else _STEPS_ANYWHERE):
                better = laws.vertical_root(p * p, z * z, k, v)
                v = np.where(better > 0, better, v)  # NaN in the disk below, where v is 0
            disk = (z == 0) & (p <= 1 - k) | (r == 0)
            level = np.where(disk, p / (1 - k) if k < 1 else 0.0, p / (v + (1 - k)))
            steep = np.where(disk, np.sqrt(np.maximum(1 - level**2, 0.0) / k), z / v)
        return (level, steep), np.where(disk, 0.0, v)

    def to_inertial(self, vector_fixed: ArrayLike, time: ArrayLike = 0.0) -> Array:
        """A position or direction along Earth-fixed axes, along those of the world at a time (s).

        Examples
        --------
        >>> import numpy as np
        >>> import polhode as ph
        >>> quarter = np.pi / 2 / ph.earth.WGS84.rotation_rate
        >>> (ph.earth.WGS84.to_inertial((1.0, 0.0, 0.0), quarter).round(9) + 0.0).tolist()
        [0.0, 1.0, 0.0]
        """
        return turn_about_axis(validation.check_numbers(vector_fixed, "vector_fixed", (3,)), self._angle(time))

    def to_earth_fixed(self, vector: ArrayLike, time: ArrayLike = 0.0) -> Array:
        """A position or direction along the world's axes, along Earth-fixed ones at a time (s).

        Examples
        --------
        >>> import numpy as np
        >>> import polhode as ph
        >>> quarter = np.pi / 2 / ph.earth.WGS84.rotation_rate
        >>> (ph.earth.WGS84.to_earth_fixed((0.0, 1.0, 0.0), quarter).round(9) + 0.0).tolist()
        [1.0, 0.0, 0.0]
        """
        return turn_about_axis(validation.check_numbers(vector, "vector", (3,)), -self._angle(time))

    def _angle(self, time: ArrayLike) -> Array:
        return self.rotation_rate * _check(time, "time")

    def height(self, position: ArrayLike) -> Any:
        """Height above the ellipsoid, in m, of a position in the world; the same at all times.

        Examples
        --------
        >>> import polhode as ph
        >>> round(float(ph.earth.WGS84.height((0.0, 6379137.0, 0.0))), 6)
        1000.0
        """
        return self.to_geodetic(position).height

    def gravity(self, position: ArrayLike, degree: int | None = None) -> Array:
        """The acceleration by gravity at a position of the world, in m/s2, with zonal harmonics up to a degree.

        Examples
        --------
        >>> import polhode as ph
        >>> ph.earth.WGS84.gravity((6378137.0, 0.0, 0.0)).round(6).tolist()
        [-9.814197, -0.0, -0.0]
        """
        places = validation.check_numbers(position, "position", (3,))
        if not places.any(axis=-1).all():
            raise InputError(
                f"position is the center of {self.name}, where its gravity is unknown: give a place outside of it, in "
                "m from the center, as to_fixed(latitude, longitude, height) does"
            )
        parts: Any = tuple(np.moveaxis(places, -1, 0))
        params = self.gravity_params(check_degree(self, degree))
        return np.stack(np.broadcast_arrays(*laws.zonal_acceleration(parts, *params)), axis=-1)


def ned_quaternion(latitude: Any, longitude: Any) -> Array:
    """(w, x, y, z) of the local axes north, east, down: from them to Earth-fixed ones (or to inertial, by angle)."""
    return np.stack(np.broadcast_arrays(*ned_turn(np.asarray(latitude), np.asarray(longitude))), axis=-1)


def ned_turn(latitude: Any, longitude: Any) -> Any:
    """The same of plain numbers, or of arrays."""
    half_lon, half_lat = longitude / 2, latitude / 2 + np.pi / 4
    c, s, cl, sl = cos(half_lon), sin(half_lon), cos(half_lat), sin(half_lat)
    return c * cl, s * sl, -c * sl, s * cl


def check_degree(earth: Earth, degree: Any) -> int:
    """The degree of the gravity to use: by default 2, or 0 where no harmonics are known."""
    if degree is None:
        return 2 if earth.zonal else 0
    highest = len(earth.zonal) + 1 if earth.zonal else 0
    if not validation.is_whole_number(degree) or not 0 <= degree <= max(highest, 1):
        raise InputError(
            f"degree must be a whole number from 0 (inverse square) to {highest}, the highest zonal harmonic of "
            f"{earth.name}, not {show(degree)}: give more with earth.replace(zonal=(J2, J3, ...))"
        )
    return int(degree)


def check_latitude(latitude: Any, name: str = "latitude", quarter_turn: float = np.pi / 2, unit: str = "rad") -> Array:
    """Latitudes between the poles."""
    values = _check(latitude, name)
    if (np.abs(values) > quarter_turn).any():
        worst = float(values.flat[int(np.argmax(np.abs(values)))])
        hint = "" if unit == "deg" else f" ({np.degrees(worst):g} deg). Is it in degrees? Use np.radians"
        raise InputError(
            f"{name} must lie between the poles, -{quarter_turn:.9g} to {quarter_turn:.9g} {unit}, but is "
            f"{worst:g} {unit}{hint}"
        )
    return values


def _check(value: Any, name: str) -> Array:
    return validation.check_numbers(value, name, validation.shape_of(value))


def turn_about_axis(vector: Array, angle: Array) -> Array:
    """Vectors turned about z by an angle, in rad."""
    c, s = np.cos(angle), np.sin(angle)
    x, y, z = np.moveaxis(vector, -1, 0)
    return np.stack(np.broadcast_arrays(c * x - s * y, s * x + c * y, z), axis=-1)


WGS84 = Earth(
    "WGS84",
    gm=3.986004418e14,
    radius=6378137.0,
    flattening=1 / 298.257223563,
    zonal=(1.08262982e-3, -2.5326564853e-6, -1.6196215914e-6, -2.2729608287e-7, 5.4068123911e-7),
    rotation_rate=7.292115e-5,
)
"""The World Geodetic System 1984; J3 to J6 are those of EGM96.  [NIMA 2000; Lemoine 1998]"""
SPHERE = Earth("SPHERE", gm=3.986004418e14, radius=6371008.7714, rotation_rate=7.292115e-5)
"""A round Earth of the mean radius of WGS-84, with gravity by inverse square, that turns.  [Moritz 2000]"""

EARTHS = {earth.name: earth for earth in (WGS84, SPHERE)}
EARTH_KEYS = tuple(field.name for field in fields(Earth) if field.name != "name")


def as_earth(given: Any) -> Earth:
    """An Earth from itself, its name, or a table of what differs from the one named by `base`."""
    if isinstance(given, Earth):
        return given
    if isinstance(given, str):
        return EARTHS[validation.check_word(given, "earth", EARTHS)]
    if isinstance(given, Mapping):
        unknown = [key for key in given if key not in (*EARTH_KEYS, "base", "name")]
        if unknown:
            raise InputError(f"an earth has no {unknown[0]!r}: {nearest(unknown[0], (*EARTH_KEYS, 'base', 'name'))}")
        changed: Any = {key: value for key, value in given.items() if key != "base"}
        return as_earth(given.get("base", "WGS84")).replace(**{"name": "Earth", **changed})
    raise InputError(f"{show(given)} is no earth: give ph.earth.WGS84, its name, or ph.earth.Earth(...)")


def earth_to_plain(earth: Earth) -> Any:
    """An Earth as files hold it: its name, or its numbers."""
    if EARTHS.get(earth.name) == earth:
        return earth.name
    numbers = {key: getattr(earth, key) for key in EARTH_KEYS}
    return {"name": earth.name, **numbers, "zonal": list(earth.zonal)}
