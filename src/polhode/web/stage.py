"""The stage of a motion: camera, switches, panels and props with which the page begins to tell its story."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from polhode.errors import InputError, nearest, show
from polhode.massprops.body import Body
from polhode.quantities.page import list_panels
from polhode.web.props import Point, Prop, to_camel_case, to_plain

SWITCHES = (
    "omega",
    "L",
    "torque",
    "forces",
    "bodyAxes",
    "trailOmega",
    "trailL",
    "trailAxis1",
    "trailAxis2",
    "trailAxis3",
    "trailCenter",
    "trailPoint",
    "impacts",
    "poinsot",
    "closedForm",
    "follow",
)
"""What can be switched on and off in the views: the switches of front/src/options.ts."""


@dataclass(frozen=True)
class StageCamera:
    """Where the camera of the views stands at first, and where "reset camera" brings it back."""

    azimuth_deg: float = -55.0
    """Around z, from x to y."""
    elevation_deg: float = 22.0
    zoom: float = 1.0
    target: Literal["body"] | Point | None = None
    """What the space view looks at: "body" follows it; None for the middle of the whole motion."""
    radius: float | None = None
    """Half the width of what the space view shows, in m; None for all of the motion."""
    up: Point = (0.0, 0.0, 1.0)
    """Direction in the world that is upward in the space view: where the vertical is not z, as over the Earth."""


@dataclass(frozen=True)
class ThirdFrame:
    """A uniformly rotating frame from which the space view can also be seen: what `motion.seen_from` takes."""

    name: str
    angular_velocity: Point
    """World axes, in rad/s."""
    origin: Point = (0.0, 0.0, 0.0)
    first: bool = False
    """Whether the page begins with it."""


@dataclass(frozen=True)
class Grab:
    """Something in the views that can be dragged, and the parameter that follows."""

    what: Literal["attitude", "angular_velocity", "force"]
    knob: str
    """Name of the parameter."""
    component: int | Literal["tilt"] = 0
    """Body axis 0, 1 or 2; "tilt" for the angle between the body's third axis and the vertical."""
    force: str = ""
    """Name of the force."""
    scale: float = 1.0
    """Units of the parameter per SI unit: 180/pi for degrees."""


@dataclass(frozen=True)
class Stage:
    """How the page shows a motion when it is opened; the page's own defaults where nothing is said.

    Examples
    --------
    >>> from polhode.web.props import Platform
    >>> from polhode.web.stage import Stage, StageCamera
    >>> stage = Stage(camera=StageCamera(-60, 30), off=("L",), props=(Platform(radius=2.0, rate=1.0),))
    >>> stage.describe()["props"][0]["kind"]
    'platform'
    """

    camera: StageCamera | None = None
    switches: Sequence[str] = ()
    """Names from `SWITCHES` that are on at first, beside those that are on anyway."""
    off: Sequence[str] = ()
    """Names from `SWITCHES` that are off at first."""
    panels: Sequence[str] = ()
    """Panels of the page, or `phase:X:Y` for one quantity over another, in order; empty for the page's choice."""
    props: Sequence[Prop] = ()
    floor: bool | float | None = None
    """Whether there is a floor with a grid, or its height in m; None for the page's choice."""
    frame: ThirdFrame | None = None
    grabs: Sequence[Grab] = ()
    shows: str = ""
    """What there is to see, in one sentence, for readers who cannot see it."""
    point: Point | None = None
    """The point of the body whose path "trailPoint" draws, in m from the center of mass; None for the farthest."""
    see_through: bool = False
    """Whether the body is transparent, so that one sees what is within."""
    moment: float = 0.4
    """When its picture in the gallery is taken: a fraction of the motion."""
    likeness: Body | None = None
    """Drawn in place of the ellipsoid of a body that has no geometry; only its shape matters."""
    still: str = ""
    """Why nothing moves, if nothing does."""

    def __post_init__(self) -> None:
        for name in (*self.switches, *self.off):
            if name not in SWITCHES:
                raise InputError(f"the page has no switch {show(name)}: {nearest(name, SWITCHES)}")
        for name in self.panels:
            if name not in list_panels() and not (name.startswith("phase:") and name.count(":") == 2):
                raise InputError(f"the page has no panel {show(name)}: {nearest(name, list_panels())}; or phase:X:Y")
        if twice := set(self.switches) & set(self.off):
            raise InputError(f"a switch is either on or off at first, not both: {', '.join(sorted(twice))}")

    def describe(self) -> dict[str, Any]:
        """The stage as plain strings and numbers; names are those of front/src/view/stage.ts."""
        return {
            "camera": None if self.camera is None else _describe(self.camera),
            "switches": list(self.switches),
            "off": list(self.off),
            "panels": list(self.panels),
            "props": [prop.describe() for prop in self.props],
            "floor": to_plain(self.floor),
            "frame": None if self.frame is None else _describe(self.frame),
            "grabs": [_describe(grab) for grab in self.grabs],
            "shows": self.shows,
            "point": to_plain(self.point),
            "seeThrough": self.see_through,
            "still": self.still,
        }


def _describe(record: StageCamera | ThirdFrame | Grab) -> dict[str, Any]:
    return {to_camel_case(f.name): to_plain(getattr(record, f.name)) for f in fields(record)}
