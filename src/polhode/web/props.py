"""Things that stand beside a body on the page: what the story of a model needs to be seen.

Lengths are in m, angles in rad, and directions are along the axes of what the prop is attached to: the world, the body
(relative to its center of mass), or the stage's third frame (relative to that frame's origin).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from polhode.errors import InputError, show

Attached = Literal["world", "body", "frame"]
Point = ArrayLike
Points = ArrayLike


@dataclass(frozen=True, kw_only=True)
class Prop:
    """What all props have.

    Examples
    --------
    >>> from polhode.web.props import Rod
    >>> Rod((0, 0, 0), (0, 0, 1), 0.05, label="axle", attached="body").describe()["kind"]
    'rod'
    """

    kind: ClassVar[str] = ""
    label: str = ""
    """Drawn beside it; "" for none."""
    attached: Attached = "world"
    body: int | None = None
    """Of a system, the body to which it is attached; None for the one watched."""
    color: str = ""
    """Name of one of the page's colors, such as "muted", "path", "force", "axis1"; "" for that of its kind."""
    since: float | None = None
    until: float | None = None
    """Shown from this time and up to that one, in s; None for the whole motion."""

    def describe(self) -> dict[str, Any]:
        """The prop as plain strings and numbers; names are those of front/src/view/stage.ts."""
        return {"kind": self.kind, **{to_camel_case(f.name): to_plain(getattr(self, f.name)) for f in fields(self)}}


def to_camel_case(name: str) -> str:
    """The name of a field in the page.

    Examples
    --------
    >>> to_camel_case("angular_velocity")
    'angularVelocity'
    """
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def to_plain(value: Any) -> Any:
    """Numbers and points as floats and lists; an error if one of them is not finite."""
    if value is None or isinstance(value, str | bool | int):
        return value
    array = np.asarray(value)
    if array.dtype.kind in "iub":
        return array.tolist()
    numbers = np.asarray(value, dtype=float)
    if not np.isfinite(numbers).all():
        raise InputError(f"a stage has finite numbers only, not {show(value)}")
    return numbers.tolist()


@dataclass(frozen=True)
class Rod(Prop):
    """A round bar from one point to another, or a cone."""

    kind: ClassVar[str] = "rod"
    start: Point
    end: Point
    radius: float
    end_radius: float | None = None
    """At the end, if it is another; 0 for a cone."""


@dataclass(frozen=True)
class Ball(Prop):
    """A ball."""

    kind: ClassVar[str] = "ball"
    center: Point
    radius: float


@dataclass(frozen=True)
class Cuboid(Prop):
    """A box with its edges along the axes of what it is attached to, or turned by a quaternion (w, x, y, z)."""

    kind: ClassVar[str] = "box"
    sides: Point
    center: Point = (0.0, 0.0, 0.0)
    quaternion: Point = (1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Polygon(Prop):
    """A plane convex surface with an outline: a table, a plate, a figure before and after a map."""

    kind: ClassVar[str] = "polygon"
    points: Points
    faded: bool = False
    """Outline only, dashed."""


@dataclass(frozen=True)
class Polyline(Prop):
    """A line through points."""

    kind: ClassVar[str] = "path"
    points: Points
    dashed: bool = False


@dataclass(frozen=True)
class StageArrow(Prop):
    """An arrow; in the body if `attached="body"`."""

    kind: ClassVar[str] = "arrow"
    start: Point
    vector: Point


@dataclass(frozen=True)
class Text(Prop):
    """A label at a point."""

    kind: ClassVar[str] = "text"
    at: Point


@dataclass(frozen=True)
class Platform(Prop):
    """A round disk with marks, which turns about its normal at a constant rate."""

    kind: ClassVar[str] = "platform"
    radius: float
    center: Point = (0.0, 0.0, 0.0)
    """Of its upper face."""
    normal: Point = (0.0, 0.0, 1.0)
    rate: float = 0.0
    """rad/s"""
    thickness: float = 0.0
    spokes: int = 12


@dataclass(frozen=True)
class Globe(Prop):
    """A planet with its graticule, to scale: a horizon for a body that is near it."""

    kind: ClassVar[str] = "globe"
    radius: float
    center: Point = (0.0, 0.0, 0.0)
    axis: Point = (0.0, 0.0, 1.0)
    rate: float = 0.0
    """rad/s"""


@dataclass(frozen=True)
class LocalVertical(Prop):
    """A dashed line from the body toward the center of a planet."""

    kind: ClassVar[str] = "vertical"
    center: Point = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class TargetDirection(Prop):
    """A long thin dashed arrow from the body in a direction fixed in the world."""

    kind: ClassVar[str] = "target"
    direction: Point


@dataclass(frozen=True)
class AxisLine(Prop):
    """A long dash-dotted line through a point: an axis of rotation, a plumb line."""

    kind: ClassVar[str] = "axis"
    direction: Point
    through: Point | None = None
    """None for the body's center of mass, or its pivot."""
    length: float | None = None
    """m; None for what the view has room for."""


@dataclass(frozen=True)
class Axle(Prop):
    """A rod fixed in the body, from one of its points to another, through its rotor."""

    kind: ClassVar[str] = "axle"
    start: Point
    end: Point
    radius: float
    attached: Attached = field(default="body", kw_only=True)


@dataclass(frozen=True)
class Stand(Prop):
    """A column with a round base, whose tip bears the pivot."""

    kind: ClassVar[str] = "stand"
    pivot: Point
    height: float
    radius: float


@dataclass(frozen=True)
class Shaft(Prop):
    """A shaft that turns with the body, and two bearings fixed in the world."""

    kind: ClassVar[str] = "shaft"
    point: Point
    direction: Point
    length: float
    radius: float
    bearings: bool = True


@dataclass(frozen=True)
class Bonds(Prop):
    """Balls and sticks: atoms at points of the body, and bonds between pairs of them."""

    kind: ClassVar[str] = "bonds"
    points: Points
    pairs: Sequence[tuple[int, int]]
    radius: float
    """Of the sticks."""
    radii: ArrayLike = ()
    """Of the balls."""
    colors: Sequence[str] = ()
    """Of the balls, each the name of a color of the page or #rrggbb."""
    attached: Attached = field(default="body", kw_only=True)

    def describe(self) -> dict[str, Any]:
        """The prop as plain strings and numbers."""
        bare = Prop.describe(replace(self, colors=()))
        return {**bare, "colors": list(self.colors)}


@dataclass(frozen=True)
class PointsCloud(Prop):
    """Many small dots, such as observations."""

    kind: ClassVar[str] = "cloud"
    points: Points
    times: ArrayLike = ()
    """When each was observed, in s: it is faint before; empty if that does not matter."""
    pixels: float = 3.0
    """Diameter of a dot."""


@dataclass(frozen=True)
class RollingCones(Prop):
    """The cone of ω in the body, which rolls without slipping on that in space; of a free symmetric body."""

    kind: ClassVar[str] = "cones"
    axis: Point = (0.0, 0.0, 1.0)
    """The body's axis of symmetry, in the body."""
    attached: Attached = field(default="body", kw_only=True)
