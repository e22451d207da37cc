"""A ball thrown straight up on a rotating platform, seen from the ground and from the platform."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polhode.gallery.closed_forms.turning_platform import PlatformThrow
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.massprops.shapes import sphere
from polhode.scenario.forces import STANDARD_GRAVITY, gravity
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.web.props import Ball, Platform
from polhode.web.stage import Stage, StageCamera, ThirdFrame

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from polhode.results.motion import Motion
    from polhode.results.rotating_frame import RotatingFrameMotion
    from polhode.validation import Array

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
        ReferenceCheck(
            "x of the landing point on the platform",
            "m",
            float(seen.position[-1, 0]),
            float(landing[0]),
            1e-12 * size,
            path,
            size,
        ),
        ReferenceCheck(
            "y of the landing point on the platform",
            "m",
            float(seen.position[-1, 1]),
            float(landing[1]),
            1e-12 * size,
            path,
            size,
        ),
        ReferenceCheck(
            "energy on the platform",
            "J/kg",
            float(worst),
            throw.energy,
            1e-12 * (speed**2 + (rate * size) ** 2),
            "v^2/2 + g z - W^2 rho^2/2 = (u^2 - W^2 r^2)/2: the Coriolis force does no work",
            speed**2 / 2,
        ),
        ReferenceCheck(
            "outward acceleration at the start",
            "m/s2",
            float(seen.acceleration[0, 0]),
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
        ReferenceCheck("acceleration along y at landing", "m/s2", found, sideways, 1e-12 * size, formula, size),
        ReferenceCheck("largest acceleration error", "m/s2", off, 0.0, 1e-12 * size + 1e-14, formula, size),
    ]


def picture(motion: Motion, radius: float, speed: float, rate: float) -> Figure:
    """The throw seen from the ground and from the platform, in space and from above, and the platform energy."""
    from polhode.plot.style import styled_figure

    throw, seen = _make_throw(radius, speed, rate), motion.seen_from((0.0, 0.0, rate))
    with styled_figure(12.0, 8.4, MODEL.title) as figure:
        grid = figure.subplots(2, 2, width_ratios=(1, 1.06))
        _draw_in_space(grid[0, 0], motion.position, throw, "from the ground: a parabola", True)
        _draw_in_space(grid[0, 1], seen.position, throw, "from the platform: outwards, then sideways", False)
        _draw_from_above(grid[1, 0], motion.position, seen.position, throw)
        _draw_energy(grid[1, 1], seen, rate)
    return figure


def _draw_in_space(axes: Axes, path: Array, throw: PlatformThrow, title: str, on_ground: bool) -> None:
    """The ball's path over the platform, and the final position of the thrower."""
    from polhode.plot.scene import Scene, world_camera
    from polhode.plot.style import COLOR_CYCLE, COLORS

    scene, turned = Scene(world_camera(0.35, 0.42)), throw.rate * throw.duration if on_ground else 0.0
    color = COLOR_CYCLE[1] if on_ground else COLOR_CYCLE[0]
    reach = 1.1 * float(np.hypot(path[:, 0], path[:, 1]).max())
    up = 2 * reach * scene.camera.eye  # toward the camera, in front of the platform: the projection is unchanged
    edge = np.linspace(0, 2 * np.pi, 16 * SPOKES + 1)
    rim = np.stack((reach * np.cos(edge), reach * np.sin(edge), np.zeros_like(edge)), axis=-1)
    corners = np.vstack((np.zeros(3), rim[:-1]))
    fan = [(0, i, i % (len(rim) - 1) + 1) for i in range(1, len(rim))]
    scene.surface(corners, fan, COLORS["body"])
    for k in range(SPOKES):
        end = reach * np.array((np.cos(turned + k * 2 * np.pi / SPOKES), np.sin(turned + k * 2 * np.pi / SPOKES), 0.0))
        scene.line(np.linspace(np.zeros(3), end, 7), COLORS["muted"], width=0.6)
    scene.line(path + up, color, width=2.4)
    scene.line(path * (1.0, 1.0, 0.0) + up, COLORS["muted"], width=1.2, style=(0, (4, 3)))
    thrower = throw.radius * np.array((np.cos(turned), np.sin(turned), 0.0))
    scene.dot(path[0] + up, COLORS["ink"], 6)
    if on_ground:
        scene.text(path[0], "thrown", COLORS["ink"], (6, -7))
        scene.dot(thrower + up, COLORS["ink"], 6)
        scene.text(thrower, "thrower at landing", COLORS["ink"], (-8, 4))
    else:
        scene.text(path[0], "thrower", COLORS["ink"], (6, -7))
    scene.dot(path[-1] + up, color, 6)
    scene.text(path[-1], "lands", color, (8, 4) if on_ground else (-8, -4))
    scene.draw(axes, title)


def _draw_from_above(axes: Axes, on_ground: Array, on_platform: Array, throw: PlatformThrow) -> None:
    """Both paths from above, over the closed forms."""
    from polhode.plot.style import COLOR_CYCLE, COLORS, add_legend_above, draw_closed_form

    times = np.linspace(0, throw.duration, len(on_ground))
    both = np.stack((throw.on_ground_at(times), throw.on_platform_at(times)), axis=-1)
    draw_closed_form(axes, both[:, 0], both[:, 1])
    axes.plot(on_ground[:, 0], on_ground[:, 1], color=COLOR_CYCLE[1], label="ground")
    axes.plot(on_platform[:, 0], on_platform[:, 1], color=COLOR_CYCLE[0], label="platform")
    edge = np.linspace(0, 2 * np.pi, 200)
    round_it = throw.radius * np.stack((np.cos(edge), np.sin(edge)))
    axes.plot(*round_it, color=COLORS["muted"], linewidth=0.9, label="thrower")
    axes.plot(0, 0, marker="+", color=COLORS["muted"], markersize=9)
    end = on_platform[-1]
    axes.plot(*end[:2], marker="o", color=COLOR_CYCLE[0], markersize=5)
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(x=0.12, y=0.08)
    axes.set_title("from above")
    axes.set_xlabel(f"x (m); landing point on the platform ({end[0]:.5g}, {end[1]:.5g})")
    axes.set_ylabel("y (m)")
    add_legend_above(axes, 4)


def _draw_energy(axes: Axes, seen: RotatingFrameMotion, rate: float) -> None:
    """Energy per unit mass on the platform."""
    from polhode.plot.panels import format_time_axis
    from polhode.plot.style import COLORS, add_legend_above

    parts = _platform_energies(seen, rate)
    names = (("kinetic", "kinetic"), ("weight", "weight"), ("rotational", "centrifugal"))
    for (color, label), values in zip(names, parts, strict=True):
        axes.plot(seen.times, values, color=COLORS[color], label=label)
    total = np.sum(parts, axis=0)
    axes.plot(seen.times, total, color=COLORS["total"], linewidth=2.2, label="sum")
    axes.set_title(f"energy, sum {total[-1]:.6g}")
    axes.set_ylabel("J/kg")
    format_time_axis(axes, seen.motion)
    add_legend_above(axes, 4)


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
    explanation=(
        "Someone on a rotating platform throws a ball straight up. Seen from the ground, the ball also has the\n"
        "thrower's tangential speed and flies along a parabola in a fixed plane, while the platform rotates below.\n"
        "Seen from the platform, it is driven outwards by the centrifugal force, and sideways by the Coriolis force\n"
        "2 m v x W once it moves outwards. The motion is computed in the ground frame and transformed to the\n"
        "platform by (17.33); there v^2/2 + g z - W^2 rho^2/2 is conserved."
    ),
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
