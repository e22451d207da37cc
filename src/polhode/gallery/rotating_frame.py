"""A ball thrown straight up on a rotating platform, seen from the ground and from the platform."""

from __future__ import annotations

import numpy as np

from polhode.gallery.closed_forms.turning_platform import PlatformThrow
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.pictures import Closed, Curves, DrawPanel, Line, panels, space
from polhode.massprops.shapes import sphere
from polhode.results.motion import Motion
from polhode.results.rotating_frame import RotatingFrameMotion
from polhode.scenario.forces import STANDARD_GRAVITY, gravity
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.validation import Array
from polhode.web.props import Ball, Platform
from polhode.web.stage import Stage, StageCamera, ThirdFrame

BALL = {"radius": 0.1, "mass": 0.5}
FRAMES = 240
SPOKES = 12


def _make_throw(radius: float, speed: float, rate: float) -> PlatformThrow:
    return PlatformThrow(radius, speed, rate, STANDARD_GRAVITY)


def scenario(radius: float, speed: float, rate: float) -> Scenario:
    """The ball in the ground frame, where the platform's speed adds to its own, until it lands."""
    duration = _make_throw(radius, speed, rate).duration
    return Scenario(
        sphere(**BALL),
        State(position=(radius, 0.0, 0.0), velocity=(0.0, rate * radius, speed), angular_velocity=(0.0, 0.0, rate)),
        [gravity()],
        duration=duration,
        step=duration / FRAMES,
        output_step=duration / FRAMES,
        method="rk4",
        name="rotating-frame",
    )


def _platform_energies(seen: RotatingFrameMotion, rate: float) -> tuple[Array, Array, Array]:
    """Energy per unit mass on the platform: kinetic, gravitational, and centrifugal."""
    x, v = seen.position, seen.velocity
    return (v**2).sum(axis=1) / 2, STANDARD_GRAVITY * x[:, 2], -(rate**2) * (x[:, :2] ** 2).sum(axis=1) / 2


def numbers(motion: Motion, radius: float, speed: float, rate: float) -> list[ReferenceCheck]:
    """Landing point on the platform, and the conserved energy there."""
    throw, seen = _make_throw(radius, speed, rate), motion.seen_from((0.0, 0.0, rate))
    landing, size = throw.on_platform_at(throw.duration), float(np.hypot(radius, rate * radius * throw.duration))
    total = np.sum(_platform_energies(seen, rate), axis=0)
    worst = total[np.argmax(np.abs(total - throw.energy))]
    path = "(r, W r t) on the ground rotated by -W t, t = 2 u/g"
    return [
        check(
            "x of the landing point on the platform", "m", seen.position[-1, 0], landing[0], 1e-12 * size, path, size
        ),
        check(
            "y of the landing point on the platform", "m", seen.position[-1, 1], landing[1], 1e-12 * size, path, size
        ),
        check(
            "energy on the platform",
            "J/kg",
            worst,
            throw.energy,
            1e-12 * (speed**2 + (rate * size) ** 2),
            "v^2/2 + g z - W^2 rho^2/2 = (u^2 - W^2 r^2)/2: the Coriolis force does no work",
            speed**2 / 2,
        ),
        check(
            "outward acceleration at the start",
            "m/s2",
            seen.acceleration[0, 0],
            rate**2 * radius,
            1e-12 * rate**2 * radius,
            "W^2 r: it moves parallel to the axis, without a Coriolis force",
        ),
        *_check_accelerations(seen, throw),
    ]


def _check_accelerations(seen: RotatingFrameMotion, throw: PlatformThrow) -> list[ReferenceCheck]:
    """Acceleration on the platform, including the Coriolis force: sideways at landing, and over the whole flight."""
    expected = throw.platform_acceleration_at(seen.times)
    size = throw.rate**2 * float(np.hypot(throw.radius, throw.rate * throw.radius * throw.duration))
    off = float(np.linalg.norm(seen.acceleration - expected, axis=1).max())
    formula = "second derivative of x + i y = r (1 + i W t) e^(-i W t)"
    found, sideways = float(seen.acceleration[-1, 1]), float(expected[-1, 1])
    return [
        check("acceleration along y at landing", "m/s2", found, sideways, 1e-12 * size, formula, size),
        check("largest acceleration error", "m/s2", off, 0.0, 1e-12 * size + 1e-14, formula, size),
    ]


@panels("AB;CD", size=(12.0, 8.4), widths=(1, 1.06))
def picture(motion: Motion, radius: float, speed: float, rate: float) -> list[DrawPanel]:
    """The throw seen from the ground and from the platform, in space and from above, and the platform energy."""
    throw, seen = _make_throw(radius, speed, rate), motion.seen_from((0.0, 0.0, rate))
    parts = _platform_energies(seen, rate)
    total = np.sum(parts, axis=0)
    looks = (("kinetic", "kinetic"), ("weight", "weight"), ("centrifugal", "rotational"))
    return [
        _in_space(motion.position, throw, "from the ground: a parabola", on_ground=True),
        _in_space(seen.position, throw, "from the platform: outwards, then sideways", on_ground=False),
        _from_above(motion.position, seen.position, throw),
        Curves(
            f"energy, sum {total[-1]:.6g}",
            "J/kg",
            [*map(Line, parts, *zip(*looks, strict=True)), Line(total, "sum", "total", width=2.2)],
            over=motion,
        ),
    ]


def _in_space(path: Array, throw: PlatformThrow, title: str, on_ground: bool) -> DrawPanel:
    """The ball's path over the platform, and the final position of the thrower."""
    scene, turned, color = space(0.35, 0.42), throw.rate * throw.duration if on_ground else 0.0, int(on_ground)
    reach = 1.1 * float(np.hypot(path[:, 0], path[:, 1]).max())

    def around(angles: Array) -> Array:
        return np.stack((np.cos(angles), np.sin(angles), 0 * angles), axis=-1)

    rim = reach * around(np.linspace(0, 2 * np.pi, 16 * SPOKES, endpoint=False))
    fan = [(0, i, i % len(rim) + 1) for i in range(1, len(rim) + 1)]
    scene.surface(np.vstack((np.zeros(3), rim)), fan, "body")
    for end in reach * around(turned + np.arange(SPOKES) * 2 * np.pi / SPOKES):
        scene.line(np.linspace(np.zeros(3), end, 7), "muted", width=0.6)
    above = scene.toward(path, 2 * reach)  # in front of the platform
    scene.line(above, color, width=2.4)
    scene.line(scene.toward(path * (1.0, 1.0, 0.0), 2 * reach), "muted", width=1.2, style=(0, (4, 3)))
    scene.dot(above[0], "ink", 6)
    scene.text(path[0], "thrown" if on_ground else "thrower", offset=(6, -7))
    if on_ground:
        thrower = throw.radius * around(np.array(turned))
        scene.dot(scene.toward(thrower, 2 * reach), "ink", 6)
        scene.text(thrower, "thrower at landing", offset=(-8, 4))
    scene.dot(above[-1], color, 6)
    scene.text(path[-1], "lands", color, (8, 4) if on_ground else (-8, -4))
    return scene.panel(title)


def _from_above(on_ground: Array, on_platform: Array, throw: PlatformThrow) -> Curves:
    """Both paths from above, over the closed forms."""
    times, turn = np.linspace(0, throw.duration, len(on_ground)), np.linspace(0, 2 * np.pi, 200)
    both = np.stack((throw.on_ground_at(times), throw.on_platform_at(times)), axis=-1)
    end = on_platform[-1]
    return Curves(
        "from above",
        "y (m)",
        [
            Line(on_ground[:, 1], "ground", 1, x=on_ground[:, 0]),
            Line(on_platform[:, 1], "platform", 0, x=on_platform[:, 0]),
            Line(throw.radius * np.sin(turn), "thrower", "muted", x=throw.radius * np.cos(turn), width=0.9),
            Line([0], "", "muted", "+", [0], size=9),
            Line([end[1]], "", 0, "o", [end[0]]),
        ],
        Closed(both[:, 1], x=both[:, 0]),
        across=f"x (m); landing point on the platform ({end[0]:.5g}, {end[1]:.5g})",
        equal="datalim",
    )


def stage(radius: float, speed: float, rate: float) -> Stage:
    """The platform, wide enough for the landing point, seen from above and, if wanted, from itself."""
    throw = _make_throw(radius, speed, rate)
    reach = 1.1 * float(np.hypot(radius, rate * radius * throw.duration))
    top = speed**2 / (2 * STANDARD_GRAVITY)
    thrower = Ball((radius, 0.0, 0.0), 0.04 * reach, label="thrower", attached="frame", color="ink")
    return Stage(
        camera=StageCamera(-50.0, 28.0, target=(0.0, 0.0, top / 3), radius=1.05 * max(reach, top)),
        switches=("forces",),
        off=("omega", "L", "trailOmega", "bodyAxes"),
        panels=("position", "velocity", "energy"),
        props=(Platform(reach, attached="frame", label="platform"), thrower),
        floor=False,
        frame=ThirdFrame("platform", (0.0, 0.0, rate)),
        shows="A ball flies over a turning platform and does not come down where the thrower is.",
    )


MODEL = Model(
    name="rotating-frame",
    title="A ball thrown straight up on a rotating platform lands elsewhere",
    theme="forces and torques",
    source="[Christian 2011, project 17.1, eq. 17.33]",
    explanation="""\
Someone on a rotating platform throws a ball straight up. Seen from the ground, the ball also has the
thrower's tangential speed and flies along a parabola in a fixed plane, while the platform rotates below.
Seen from the platform, it is driven outwards by the centrifugal force, and sideways by the Coriolis force
2 m v x W once it moves outwards. The motion is computed in the ground frame and transformed to the
platform by (17.33); there v^2/2 + g z - W^2 rho^2/2 is conserved.""",
    parameters=(
        Parameter("radius", "m", 2.0, 0.1, 20.0, "distance of the thrower from the axis"),
        Parameter("speed", "m/s", 10.0, 1.0, 30.0, "initial upward speed relative to the platform"),
        Parameter("rate", "rad/s", 1.0, 0.05, 5.0, "angular velocity of the platform, counterclockwise from above"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=stage,
    lesson=Lesson(
        formulas=(
            Formula(
                (
                    r"\mathbf{a}' = \mathbf{g} - "
                    r"\boldsymbol{\Omega}\times(\boldsymbol{\Omega}\times\mathbf{r}) - "
                    r"2\,\boldsymbol{\Omega}\times\mathbf{v}'"
                ),
                "what someone on the platform sees: centrifugal and Coriolis accelerations",
            ),
            Formula(r"\frac{{v'}^2}{2} + g z - \frac{\Omega^2\rho^2}{2} = \text{const}", "the energy on the platform"),
        ),
        steps=(
            TryThis("Thrown straight up on the platform, seen from the ground: a parabola in a fixed plane."),
            TryThis("On a slow platform the ball lands almost where it was thrown.", values={"rate": 0.05}),
            TryThis("Three times as fast: it lands far away from the thrower.", values={"rate": 3.0}),
            TryThis("Close to the axis there is little to drive it outward.", values={"radius": 0.1}),
        ),
        references=("Christian 2011, project 17.1", "Landau and Lifshitz, section 39"),
    ),
)
