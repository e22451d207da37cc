"""A juggling club composed of simple shapes, thrown so that it lands handle first."""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

import numpy as np

from polhode.equations.scalar_ops import sqrt as plain_sqrt
from polhode.gallery.closed_forms.solid_of_revolution import RevolutionProperties, Slice, integrate_revolution
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.pictures import Closed, Curves, DrawPanel, Line, Note, Outline, energies, panels, space
from polhode.gallery.shared import rk4_settings
from polhode.massprops.body import Body
from polhode.massprops.shapes import cylinder, frustum, half_ellipsoid, sphere
from polhode.results.motion import Motion
from polhode.scenario.forces import STANDARD_GRAVITY, gravity
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.validation import Array
from polhode.web.props import Ball
from polhode.web.stage import Stage, StageCamera

KNOB = 0.018
HANDLE = (0.011, 0.20)
BELLY = (0.045, 0.19)
CAP = 0.07
WOOD, FOAM = 700.0, 190.0
"""Densities of handle and knob, and of the belly, in kg/m3."""
TOP = HANDLE[1] + BELLY[1]
FRAMES = 240
STEPS_PER_FRAME = 10


def club() -> Body:
    """Along z, with the center of the knob at the origin: knob, handle, widening belly, and rounded cap."""
    (thin, length), (wide, height) = HANDLE, BELLY
    handle = cylinder(thin, length, density=WOOD).move((0, 0, KNOB + length / 2))
    belly = frustum(thin, wide, height, density=FOAM)
    cap = half_ellipsoid((wide, wide, CAP), density=FOAM)
    # The origin of a shape is its center of mass: this is its height above the flat end (see `help(frustum)`).
    risen = height * (thin**2 + 2 * thin * wide + 3 * wide**2) / (4 * (thin**2 + thin * wide + wide**2))
    foot, rim = KNOB + length, KNOB + TOP
    knob = sphere(KNOB, density=WOOD)
    return knob.join(handle, belly.move((0, 0, foot + risen)), cap.move((0, 0, rim + 3 * CAP / 8)))


def club_by_integration() -> RevolutionProperties:
    """The same club as a solid of revolution, by integrals along its axis."""
    (thin, length), (wide, height) = HANDLE, BELLY
    foot, rim = KNOB + length, KNOB + TOP

    def widening(z: Array) -> Array:
        return np.asarray((thin + (wide - thin) * (z - foot) / height) ** 2)

    return integrate_revolution(
        [
            Slice(-KNOB, KNOB, lambda z: KNOB**2 - z**2, WOOD),
            Slice(KNOB, foot, lambda z: np.full_like(z, thin**2), WOOD),
            Slice(foot, rim, widening, FOAM),
            Slice(rim, rim + CAP, lambda z: wide**2 * (1 - ((z - rim) / CAP) ** 2), FOAM),
        ]
    )


def _speed_and_duration(height: float) -> tuple[float, float]:
    """Initial upward speed and duration of the flight."""
    speed = plain_sqrt(2 * STANDARD_GRAVITY * height)
    return speed, 2 * speed / STANDARD_GRAVITY


def scenario(height: float, turns: float, across: float) -> Scenario:
    """Thrown from hand to hand, the knob toward the thrower, spinning about a transverse axis."""
    speed, duration = _speed_and_duration(height)
    upright = (sqrt(0.5), 0.0, sqrt(0.5), 0.0)  # club z along world x
    return Scenario(
        club(),
        State(
            velocity=(across / duration, 0.0, speed),
            quaternion_wxyz=upright,
            angular_velocity=(0.0, -2 * pi * turns / duration, 0.0),
        ),
        [gravity()],
        **rk4_settings(duration, FRAMES, STEPS_PER_FRAME),
        name="juggling-club",
    )


def _knob_positions(motion: Motion) -> Array:
    return motion.points(-motion.scenario.bodies[0].center_of_mass)


def _axis_angle(motion: Motion) -> Array:
    """Angle of the club's axis in its plane of rotation, in rad."""
    axis = motion.rotation_matrix[:, :, 2]
    return np.unwrap(np.arctan2(axis[:, 2], axis[:, 0]))


def numbers(motion: Motion, height: float, turns: float, across: float) -> list[ReferenceCheck]:
    """Mass properties by two routes, and the state at the catch."""
    body, hand = motion.scenario.bodies[0], club_by_integration()
    angle, knob = _axis_angle(motion), _knob_positions(motion)[-1]
    arrives = across - hand.center * np.cos(2 * pi * turns)
    integrals = "solid of revolution: integrals along its axis"
    return [
        check(
            "center of mass, from the center of the knob", "m", body.center_of_mass[2], hand.center, 1e-13, integrals
        ),
        check(
            "transverse moment of inertia",
            "kg m2",
            body.inertia_body[0, 0],
            hand.transverse,
            1e-12 * hand.transverse,
            integrals,
        ),
        check("axial moment of inertia", "kg m2", body.inertia_body[2, 2], hand.axial, 1e-12 * hand.axial, integrals),
        check("mass", "kg", body.mass, hand.mass, 1e-12 * hand.mass, integrals),
        check(
            "revolutions until the catch",
            "1",
            (angle[-1] - angle[0]) / (2 * pi),
            turns,
            1e-9,
            "spin times 2 v/g: spin about a principal axis is constant",
        ),
        check("apex of the center of mass", "m", motion.position[:, 2].max(), height, 1e-12 * height, "v^2/(2 g)"),
        check(
            "x of the knob at the catch",
            "m",
            knob[0],
            arrives,
            1e-8,
            "hand distance - (knob to center of mass) cos(angle)",
            size=hand.center,
        ),
    ]


@panels("AB;AC;AD", size=(12.0, 8.2), heights=(0.75, 1.0, 1.0))
def picture(motion: Motion, height: float, turns: float, across: float) -> list[DrawPanel]:
    """The club in flight with the paths of its center and knob, its parts, and the heights over time."""
    t, (speed, duration) = motion.times, _speed_and_duration(height)
    closed = speed * t - STANDARD_GRAVITY * t**2 / 2
    knob = closed - club_by_integration().center * np.sin(2 * pi * turns / duration * t)
    heights = [Line(motion.position[:, 2], "center", "ink"), Line(_knob_positions(motion)[:, 2], "knob", 1)]
    return [
        _throw(motion),
        _parts(float(motion.scenario.bodies[0].center_of_mass[2])),
        Curves("height", "m", heights, Closed(np.stack((closed, knob), axis=1)), motion, across=""),
        Curves("energy", "J", energies(motion, "translational", "rotational", "potential", "total"), over=motion),
    ]


def _throw(motion: Motion) -> DrawPanel:
    """The club at ten instants, side view."""
    scene = space(0.12, 0.1)
    frames = np.linspace(0, FRAMES, 10).astype(int)
    scene.frames(motion, frames, scene.camera.eye, color=_face_colors, segments=24)
    scene.line(scene.toward(motion.position, 20.0), "ink", "center of mass: a parabola", 1.8)
    scene.line(scene.toward(_knob_positions(motion), 20.0), 1, "knob", 1.8)
    return scene.panel("the throw", margin=0.02, legend="upper left")


def _face_colors(centers: Array) -> list[str]:
    """Dark knob and handle, light belly with a band."""
    foot = KNOB + HANDLE[1]
    along = centers[:, 2] + club_by_integration().center
    return ["muted" if z < foot else "axis_3" if 0.10 < z - foot < 0.14 else "body" for z in along]


def _parts(center: float) -> Curves:
    """Side view of the club with the names of its parts and its center of mass."""
    (thin, length), (wide, height) = HANDLE, BELLY
    turn, foot, rim = np.linspace(0, pi / 2, 40), KNOB + length, KNOB + TOP
    outlines: dict[str, Any] = {
        "knob": (-KNOB * np.cos(2 * turn), KNOB * np.sin(2 * turn), "muted", 0.0),
        "handle": ((KNOB, foot), (thin, thin), "muted", KNOB + length / 2),
        "belly": ((foot, rim), (thin, wide), "body", foot + 0.6 * height),
        "cap": (rim + CAP * np.sin(turn), wide * np.cos(turn), "body", rim + CAP / 2.4),
    }
    shapes, names = list[Outline](), list[Note]()
    for name, (z, r, color, middle) in outlines.items():
        ring = np.concatenate((np.column_stack((z, r)), np.column_stack((z, np.negative(r)))[::-1]))
        shapes += [Outline(ring, color=color, alpha=1.0), Outline(ring, color="ink", alpha=0.0)]
        names.append(Note((middle, -wide - 0.012), name, align=("center", "top")))
    return Curves(
        "parts of the club",
        "",
        Line([0.0], "", "ink", "o", [center]),
        shapes=shapes,
        notes=[*names, Note((center, wide - 0.005), f"center, {1000 * center:.2f} mm", align=("right", "bottom"))],
        x=(-0.03, rim + CAP + 0.02),
        y=(-wide - 0.035, wide + 0.025),
        equal="box",
        also=lambda axes: axes.axis("off"),
    )


def stage(height: float, turns: float, across: float) -> Stage:
    """The whole throw from the side, from hand to hand, and the path of the end of the club."""
    hands = (Ball((0.0, 0.0, 0.0), 0.05, label="throw"), Ball((across, 0.0, 0.0), 0.05, label="catch"))
    return Stage(
        camera=StageCamera(azimuth_deg=-82.0, elevation_deg=6.0, target=(across / 2, 0.0, height / 2)),
        switches=("trailPoint",),
        off=("omega", "L", "trailOmega", "forces", "bodyAxes"),
        panels=("position", "phase:position_x:position_z", "energy"),
        props=hands,
        floor=-0.9,
        shows="A club flies from one hand to the other and turns; its center moves on a parabola, its end in loops.",
    )


MODEL = Model(
    name="juggling-club",
    title="A juggling club rotates about its center of mass; after whole turns the handle is back",
    theme="real bodies",
    source="[Hydra 2017, chapter 5]; [Christian 2011, table 17.1]; [Baraff 1997, section 5.2]",
    explanation="""\
A club is assembled from a sphere, a cylinder, a conical frustum and half an ellipsoid of two materials;
its center of mass and inertia tensor follow from the parallel axis theorem. In the air only its weight
acts: the center of mass follows a parabola, and the club rotates steadily about a transverse axis, which
is a principal axis. The juggler chooses height and spin so that it makes a whole number of revolutions;
then the knob, whose path has loops, arrives the way it left.""",
    parameters=(
        Parameter("height", "m", 1.2, 0.3, 5.0, "height of the throw"),
        Parameter("turns", "1", 2.0, 1.0, 5.0, "revolutions in the air; a whole number returns the handle"),
        Parameter("across", "m", 0.8, 0.1, 6.0, "distance from hand to hand"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=stage,
    lesson=Lesson(
        formulas=(
            Formula(r"T = \sqrt{\frac{8h}{g}}", "the time in the air, for a throw of height h"),
            Formula(r"\omega = \frac{2\pi n}{T}", "the spin for n turns"),
        ),
        steps=(
            TryThis("Two turns: the handle comes back.", switches=("trailPoint",)),
            TryThis("One turn and a half: the handle points away.", values={"turns": 1.5}, switches=("trailPoint",)),
            TryThis("A high throw of three turns.", values={"height": 3.0, "turns": 3.0}, switches=("trailPoint",)),
        ),
        references=("Hydra 2017, chapter 5",),
    ),
)
