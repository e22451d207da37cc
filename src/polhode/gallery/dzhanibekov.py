"""The Dzhanibekov effect: a box or a T-handle spun about its intermediate axis flips again and again."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.measurements import extremes, first_interval, zero_crossings
from polhode.gallery.pictures import Closed, Curves, DrawPanel, Note, components, drawn, panels
from polhode.gallery.plain_formulas import free_rotation_period
from polhode.massprops.body import Body
from polhode.massprops.shapes import box, cylinder
from polhode.reference.free_rotation import AsymmetricTop
from polhode.results.motion import Motion
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.validation import Array
from polhode.web.stage import Grab, Stage, StageCamera

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIDES, MASS = (0.1, 0.4, 0.9), 10.0
STEEL, THICKNESS, BAR, STEM = 7850.0, 0.014, 0.11, 0.055
"""The T-handle: two round steel bars, the stem upright at the center of the other; kg/m3 and m."""
RTOL = 1e-15
"""Close to the separatrix the smallest error of a step shifts the flip: steps that err by rounding only."""
FRAMES = 720
BOX, T_HANDLE = "box", "t-handle"


@cache
def _make_bodies() -> dict[str, Body]:
    """Both have the largest moment about axis 1, the intermediate one about axis 2, the smallest about axis 3."""
    from scipy.spatial.transform import Rotation

    bar, stem = (cylinder(THICKNESS / 2, length, density=STEEL) for length in (BAR, STEM))
    upright = stem.turn(Rotation.from_euler("x", -90, degrees=True)).move((0.0, (THICKNESS + STEM) / 2, 0.0))
    return {BOX: box(SIDES, MASS), T_HANDLE: bar.join(upright)}


def _moments() -> dict[str, tuple[float, float, float]]:
    """By hand: M (b^2 + c^2)/12, and two round bars with m r^2/2 along and m (3 r^2 + length^2)/12 across."""
    a, b, c = SIDES
    r, apart = THICKNESS / 2, (THICKNESS + STEM) / 2
    bar, stem = (STEEL * np.pi * r**2 * length for length in (BAR, STEM))
    bar_across, stem_across = (m * (3 * r**2 + length**2) / 12 for m, length in ((bar, BAR), (stem, STEM)))
    steiner = bar * stem / (bar + stem) * apart**2
    return {
        BOX: (MASS * (b**2 + c**2) / 12, MASS * (a**2 + c**2) / 12, MASS * (a**2 + b**2) / 12),
        T_HANDLE: (
            bar_across + stem_across + steiner,
            bar_across + stem * r**2 / 2,
            bar * r**2 / 2 + stem_across + steiner,
        ),
    }


def _tops(spin: float, nudge: float) -> dict[str, AsymmetricTop]:
    return {name: AsymmetricTop(moments, (nudge, spin, nudge)) for name, moments in _moments().items()}


def scenario(spin: float, nudge: float) -> dict[str, Scenario]:
    """A free box and a free T-handle, each for three flips."""
    rates, runs = (nudge, spin, nudge), {}
    for name, moments in _moments().items():
        duration = 3 * free_rotation_period(moments, rates) / 2
        runs[name] = Scenario(
            _make_bodies()[name],
            State(angular_velocity_body=rates),
            duration=duration,
            output_step=duration / FRAMES,
            method="dop853",
            rtol=RTOL,
            name="dzhanibekov",
        )
    return runs


def numbers(motions: dict[str, Motion], spin: float, nudge: float) -> list[ReferenceCheck]:
    """For each body, the first reversal of the rate about the intermediate axis and the time between reversals."""
    found = []
    for name, top in _tops(spin, nudge).items():
        times = _reversal_times(motions[name])
        # An error e of m shifts the flip by e/((1 - m) rate), which grows toward the separatrix.
        # Rounding in 1e5 steps, 1e-16 each, makes e up to 3e-13 for any step size.
        tolerance = 1e-9 * top.flip_time + 3e-13 / (top.complement * top.phase_rate)
        of = "" if name == BOX else ", T-handle"
        found += [
            check(
                f"time of one flip{of}",
                "s",
                first_interval(times, "a reversal"),
                top.flip_time,
                tolerance,
                "2 K(m)/lambda, Jacobi's closed form",
            ),
            check(f"first reversal{of}", "s", times[0], top.first_flip, tolerance, "(2 K - u0)/lambda"),
        ]
    box_times, top = _reversal_times(motions[BOX]), _tops(spin, nudge)[BOX]
    period = float(box_times[2] - box_times[0])
    found.insert(2, check("full period", "s", period, top.period, 2 * found[0].tolerance, "4 K(m)/lambda"))
    return [*found, *_measure_jacobi(motions[BOX], top, found[0])]


def _measure_jacobi(motion: Motion, top: AsymmetricTop, flip: ReferenceCheck) -> list[ReferenceCheck]:
    """Measured k^2 and lambda: the rate that varies as dn falls to sqrt(1 - k^2) of its maximum; a flip takes 2 K."""
    from scipy.special import ellipkm1

    rates = np.abs(motion.angular_velocity_body)
    axis = 0 if rates[:, 0].min() > rates[:, 2].min() else 2
    least, most = extremes(motion, rates[:, axis], lambda state: abs(state.angular_velocity_body[axis]))
    complement = (least / most) ** 2
    rate, off = 2 * float(ellipkm1(complement)) / flip.found, 2 * top.phase_rate * flip.tolerance / flip.expected
    formula = "(Ib - Ia)(2 E Ic - L^2)/((Ic - Ib)(L^2 - 2 E Ia)), or a and c exchanged"
    return [
        check(
            "lambda", "1/s", rate, top.phase_rate, off, "sqrt((Ic - Ib)(L^2 - 2 E Ia)/(Ia Ib Ic)), or a and c exchanged"
        ),
        check("k^2", "1", 1 - complement, top.parameter, 1e-10, formula),
    ]


def _reversal_times(motion: Motion) -> Array:
    return zero_crossings(motion, motion.angular_velocity_body[:, 1], lambda state: state.angular_velocity_body[1])


@panels("AAABBB;CCCDDD;EEFFGG", size=(12.0, 8.2), heights=(0.5, 1.0, 1.3))
def picture(motions: dict[str, Motion], spin: float, nudge: float) -> list[DrawPanel]:
    """Both bodies during their flips, the angular velocity below each, the polhodes, and the conserved quantities."""
    from polhode.plot.panels import draw_conserved_drift, draw_polhode_panel

    tops, both = _tops(spin, nudge), (BOX, T_HANDLE)
    words, sizes = {BOX: "the box", T_HANDLE: "the T-handle"}, {BOX: 0.7, T_HANDLE: 5.2}
    return [
        *(drawn(_draw_strip, motions[name], tops[name], words[name], sizes[name]) for name in both),
        *(_rates(motions[name], tops[name]) for name in both),
        *(drawn(draw_polhode_panel, motions[name], title=f"polhode of {words[name]} (rad/s)") for name in both),
        drawn(draw_conserved_drift, motions[BOX], title="box: drift of conserved quantities"),
    ]


def _draw_strip(axes: Axes, motion: Motion, top: AsymmetricTop, word: str, inches_per_meter: float) -> None:
    """The body above the corresponding times: at each reversal and halfway between."""
    from polhode.gallery.drawing import GalleryScene
    from polhode.plot.panels import format_time_axis
    from polhode.plot.projection import make_camera

    format_time_axis(axes, motion)
    axes.set_ylim(-1, 1)
    axes.axis("off")
    axes.set_title(f"{word} over time; green half: +axis 2")
    along_l = motion.angular_momentum[0]
    seen = make_camera((1, 0, 0), along_l, 0.0, 0.3)
    toward = np.cos(0.9) * seen.right + np.sin(0.9) * np.cross(seen.right, along_l) / np.linalg.norm(along_l)
    alignment = np.abs(motion.rotation_matrix[:, :, 2] @ toward)
    axes.figure.draw_without_rendering()  # type: ignore[union-attr]  # the scale of the bodies is that of the panel
    extent, per_inch = axes.get_window_extent(), axes.figure.dpi * inches_per_meter
    scale = (np.ptp(axes.get_xlim()) / extent.width * per_inch, np.ptp(axes.get_ylim()) / extent.height * per_inch)
    for k in range(-1, 9):
        t = top.first_flip + k * top.flip_time / 2
        near = np.abs(motion.times - max(t, motion.times[0])) <= top.flip_time * (0.15 if k % 2 else 0.01)
        if near.any():
            frame, scene = int(np.argmax(np.where(near, alignment, -1.0))), GalleryScene(seen)
            turned = motion.rotation_matrix[frame]
            scene.body(motion.scenario.bodies[0], rotation=turned, half=1, segments=20, finest=3.0)
            scene.draw_inset(axes, (float(motion.times[frame]), 0.0), scale)


def _rates(motion: Motion, top: AsymmetricTop) -> Curves:
    """Angular velocity components over the closed form, and the time of one flip."""
    closed = top.rates_at(motion.times)
    largest, (first, second) = float(np.abs(closed).max()), _reversal_times(motion)[:2]

    def draw_flip(axes: Axes) -> None:
        arrow = {"arrowstyle": "<|-|>", "linewidth": 1.0, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", xy=(first, 1.2 * largest), xytext=(second, 1.2 * largest), arrowprops=arrow)

    return Curves(
        "ω, body axes",
        "rad/s",
        components(motion.angular_velocity_body, ("ω₁", "ω₂, middle axis", "ω₃")),
        Closed(closed),
        motion,
        y=(-1.12 * largest, 1.5 * largest),
        marks=(first, second),
        notes=[Note((first, 1.24 * largest), f"one flip: {second - first:.8f} s (closed form {top.flip_time:.8f} s)")],
        also=draw_flip,
    )


MODEL = Model(
    name="dzhanibekov",
    title="A box spun about its intermediate axis flips over and back; so does a T-handle",
    theme="free rotation",
    source="V. Dzhanibekov in orbit, 1985; [Tops report, figure 5]; [Christian 2011, problems 17.3 and 17.6]",
    explanation="""\
A box of 10 kg, 0.1 x 0.4 x 0.9 m, and a T-handle of two steel bars spin about the axis of intermediate
moment of inertia. About the other two axes they would spin steadily; about this one the smallest nudge
grows exponentially until the body has flipped over. No force acts: energy and angular momentum are
conserved, so the body must return and flip again. In body axes the angular velocity follows its polhode
close to the separatrix, which it never crosses.""",
    parameters=(
        Parameter("spin", "rad/s", 5.0, 1.0, 20.0, "rate about the intermediate axis"),
        Parameter("nudge", "rad/s", 0.1, 0.01, 0.5, "initial rate about each of the other two axes"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=Stage(
        camera=StageCamera(azimuth_deg=-35.0, elevation_deg=18.0),
        switches=("trailAxis2",),
        off=("trailOmega",),
        panels=("angular_velocity", "phase:angular_velocity_body_2:angular_velocity_body_3", "drift"),
        grabs=(Grab("angular_velocity", knob="spin", component=1), Grab("angular_velocity", knob="nudge", component=0)),
        shows="A spinning box turns over again and again, while its angular momentum stays where it is.",
    ),
    lesson=Lesson(
        formulas=(
            Formula(
                r"\lambda = \omega_2\sqrt{\frac{(I_2 - I_1)(I_3 - I_2)}{I_1 I_3}}",
                "the rate at which a nudge of a spin about the intermediate axis 2 grows",
            ),
            Formula(
                r"2E = \sum_i I_i\omega_i^2, \quad L^2 = \sum_i I_i^2\omega_i^2",
                "both are conserved: ω stays on the curve where two ellipsoids meet",
            ),
        ),
        steps=(
            TryThis("The box flips over, and back."),
            TryThis("A nudge ten times smaller only delays the flip.", values={"nudge": 0.01}),
            TryThis("The T-handle does the same.", run="t-handle"),
            TryThis(
                "Poinsot's ellipsoid rolls on its plane, and the polhode runs along the separatrix.",
                switches=("poinsot",),
            ),
        ),
        references=("Landau and Lifshitz, section 37", "Christian 2011, problem 17.6"),
    ),
)
