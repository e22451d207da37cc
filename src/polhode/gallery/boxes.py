"""The Boxes benchmark: a thrown box tumbles about its intermediate axis for ten seconds."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.independent_rk4 import Numbers, euler_equations, quaternion_rate, renormalize, rk4_step
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.pictures import Closed, Curves, DrawPanel, Line, components, drawn, panels, space
from polhode.massprops.shapes import box
from polhode.reference.problems import problem
from polhode.results.motion import Motion
from polhode.rotations import angle_between
from polhode.scenario.forces import gravity
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.validation import Array
from polhode.web.stage import Grab, Stage

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIDES, MASS, DURATION, FRAMES = (0.1, 0.4, 0.9), 10.0, 10.0, 1000
VELOCITY, GRAVITY = (-2.0, 2.0, 8.0), 9.8
PUBLISHED = {"ODE": 1.31e-2, "Bullet": 1.25e-2, "Simbody": 6.4e-3}
"""Relative error of the angular momentum at a step of 1 ms.  [Peters, Boxes, complex]"""


@cache
def _moments() -> Array:
    """By hand: M (b^2 + c^2)/12 and so on."""
    squares = np.square(SIDES)
    return np.asarray(MASS * (squares.sum() - squares) / 12)


def _initial_rates(spin: float, nudge: float) -> tuple[float, float, float]:
    return (nudge, spin, nudge)


def scenario(spin: float, nudge: float, step: float) -> dict[str, Scenario]:
    """The thrown box in closed form, and by RK4 in body rates: at the given step, and at 10 ms, which is too coarse."""
    common: dict[str, Any] = {"duration": DURATION, "output_step": DURATION / FRAMES, "name": "boxes"}
    start = State(velocity=VELOCITY, angular_velocity_body=_initial_rates(spin, nudge))
    body, forces = box(SIDES, MASS), [gravity(GRAVITY)]
    return {
        "exact": Scenario(body, start, forces, method="exact", **common),
        **{
            f"RK4, {name}": Scenario(body, start, forces, method="rk4", step=size, formulation="body_rates", **common)
            for name, size in (("the step", step), ("10 ms", DURATION / FRAMES))
        },
    }


def numbers(motions: Mapping[str, Motion], spin: float, nudge: float, step: float) -> list[ReferenceCheck]:
    """Energy, final position and attitude by two routes, and the error of RK4."""
    exact = motions["exact"]
    w, v = np.array(_initial_rates(spin, nudge)), np.array(VELOCITY)
    energy = float(MASS * v @ v / 2 + _moments() @ w**2 / 2)
    energy_drift = float(np.abs(exact.energy / exact.energy[0] - 1).max())
    L = exact.angular_momentum
    momentum_drift = float(np.linalg.norm(L - L[0], axis=1).max() / np.linalg.norm(L[0]))
    height = VELOCITY[2] * DURATION - GRAVITY * DURATION**2 / 2
    again = _attitude_by_scipy(spin, nudge)
    turned, expected = (float(angle_between(q, np.array((1.0, 0, 0, 0)))) for q in (_final_state(exact), again))
    checks = [
        check("initial energy", "J", exact.energy[0], energy, 1e-10, "M v^2/2 + sum of I_i w_i^2/2"),
        check("rotation angle at 10 s", "rad", turned, expected, 1e-10, "SciPy's DOP853, rtol 1e-13"),
        check("height at 10 s", "m", exact.position[-1, 2], height, 1e-10, "v t - g t^2/2"),
        check("relative energy drift, exact", "1", energy_drift, 0.0, 1e-12, "conserved", size=1.0),
        check("relative angular momentum drift, exact", "1", momentum_drift, 0.0, 1e-13, "conserved", size=1.0),
    ]
    found = float(_attitude_errors(motions, "RK4, 10 ms")[-1])
    wrong = float(angle_between(_attitude_by_plain_rk4(spin, nudge), again))
    route = "RK4 in plain Python, against SciPy's DOP853"
    checks.append(check("attitude error at 10 s, RK4 at 10 ms", "rad", found, wrong, 0.01 * wrong, route))
    if (spin, nudge) == (5.0, 0.1):
        error = float(problem("boxes_complex").error_of(quaternion_wxyz=_final_state(exact).tolist()).attitude or 0.0)
        source = "reference problem boxes_complex"
        checks.append(check("attitude error at 10 s, against 40 digits", "rad", error, 0.0, 1e-11, source, size=1.0))
    return checks


def _final_state(motion: Motion) -> Array:
    return np.asarray(motion.quaternion_wxyz[-1])


def _attitude_errors(motions: Mapping[str, Motion], name: str) -> Array:
    """Angle between the closed form and another method, in rad."""
    return np.asarray(angle_between(motions[name].quaternion_wxyz, motions["exact"].quaternion_wxyz))


def _free_rotation_rate(y: Any) -> Numbers:
    """q' = q (0, w)/2 and Euler's equations."""
    return (*quaternion_rate(y[:4], y[4:]), *euler_equations(_moments().tolist(), y[4:]))


def _attitude_by_scipy(spin: float, nudge: float) -> Array:
    """Final attitude by SciPy."""
    from scipy.integrate import solve_ivp

    start = (1.0, 0.0, 0.0, 0.0, *_initial_rates(spin, nudge))
    found = solve_ivp(
        lambda _, y: _free_rotation_rate(y.tolist()), (0.0, DURATION), start, "DOP853", rtol=1e-13, atol=1e-15
    )
    q = found.y[:4, -1]
    return np.asarray(q / np.linalg.norm(q))


def _attitude_by_plain_rk4(spin: float, nudge: float) -> Array:
    """Final attitude by RK4 steps of 10 ms, q renormalized after each."""
    y: Numbers = (1.0, 0.0, 0.0, 0.0, *_initial_rates(spin, nudge))
    for _ in range(FRAMES):
        y = renormalize(rk4_step(_free_rotation_rate, y, DURATION / FRAMES))
    return np.array(y[:4])


@panels(widths=(1.0, 1.1))
def picture(motions: Mapping[str, Motion], spin: float, nudge: float, step: float) -> list[DrawPanel]:
    """The throw, the rates, the error of RK4, and the published errors next to ours."""
    exact, stepped = motions["exact"], motions["RK4, the step"]
    errors = {
        "RK4, attitude (rad)": _attitude_errors(motions, "RK4, the step"),
        "RK4, L": _momentum_drift(stepped),
        "exact, L": _momentum_drift(exact),
    }
    return [
        _throw(exact),
        Curves(
            "ω, body axes",
            "rad/s",
            components(stepped.angular_velocity_body, ("ω₁, RK4", "ω₂, RK4", "ω₃, RK4")),
            Closed(exact.angular_velocity_body),
            exact,
        ),
        drawn(_draw_error_bars, motions, PUBLISHED if (spin, nudge, step) == (5.0, 0.1, 1e-3) else {}),
        Curves(
            "errors",
            "rad, or relative",
            [Line(values, name, width=1.2) for name, values in errors.items()],
            over=exact,
            log="y",
            y=(1e-17, 1e-3),
        ),
    ]


def _momentum_drift(motion: Motion) -> Array:
    L = motion.angular_momentum
    return np.asarray(np.linalg.norm(L - L[0], axis=1) / np.linalg.norm(L[0]))


def _throw(motion: Motion) -> DrawPanel:
    """The box during its first 1.7 s."""
    scene, early = space(2.356, 0.25), motion.times <= 1.7
    scene.line(motion.position[early], "muted", width=1.0)
    scene.frames(motion, np.linspace(0, early.sum() - 1, 11).round().astype(int), half=1)
    scene.text(motion.position[0], "start", offset=(14.0, -22.0))
    return scene.panel("the throw, every 0.17 s; green half: +axis 2")


def _draw_error_bars(axes: Axes, motions: Mapping[str, Motion], published: Mapping[str, float]) -> None:
    """Relative errors of the angular momentum: those published for the same run, if any, and ours."""
    from polhode.plot.style import named_color

    step = motions["RK4, the step"].scenario.needed_step
    ours = {f"RK4,\n{1e3 * step:g} ms": motions["RK4, the step"], "exact": motions["exact"]}
    values = dict(published) | {name: max(float(_momentum_drift(motion).max()), 1e-17) for name, motion in ours.items()}
    colors = [named_color("muted")] * len(published) + [named_color("axis_3")] * len(ours)
    bars = axes.bar(list(values), [np.log10(value) + 17 for value in values.values()], color=colors, width=0.62)
    axes.bar_label(bars, [f"{value:.3g}" for value in values.values()], padding=2, fontsize=9)
    axes.set_yticks(range(1, 18, 4), [f"10{sign}" for sign in ("⁻¹⁶", "⁻¹²", "⁻⁸", "⁻⁴", "⁰")])
    axes.set_ylim(0, 18)
    axes.set_title("angular momentum error" + ("; gray: as published" if published else ""))
    axes.set_ylabel("maximum, relative")


MODEL = Model(
    name="boxes",
    title="A thrown box tumbles for ten seconds: comparison with physics engines",
    theme="real bodies",
    source="[Peters], Boxes (complex): physics engines in the Gazebo simulator",
    explanation="""\
A box of 10 kg, 0.1 x 0.4 x 0.9 m, is thrown spinning about its intermediate axis, the unstable one. The
motion is known in closed form, which makes it a benchmark: after ten seconds, three engines used for
robots and games have lost about one percent of the angular momentum at steps of 1 ms. RK4 at the same
step conserves ten digits of it, and the closed form all but the last. The attitude at 10 s agrees with
a 40-digit reference to 1e-11 rad.""",
    parameters=(
        Parameter("spin", "rad/s", 5.0, 2.0, 8.0, "rate about the intermediate axis"),
        Parameter("nudge", "rad/s", 0.1, 0.05, 0.5, "initial rate about each of the other two axes"),
        Parameter("step", "s", 1e-3, 5e-4, 5e-3, "RK4 step; shortened to divide 10 ms"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=Stage(
        switches=("closedForm",),
        off=("forces", "L"),
        panels=("drift", "angular_velocity", "energy", "position"),
        grabs=(Grab("angular_velocity", knob="spin", component=1), Grab("angular_velocity", knob="nudge", component=0)),
        shows="A box tumbles while it flies; the gray outline is the closed form, which it must not leave.",
    ),
    lesson=Lesson(
        formulas=(
            Formula(r"\dot{\mathbf{L}} = 0", "no torque: L keeps its ten digits, or all"),
            Formula(r"2E = \sum_i I_i\omega_i^2", "and so does the energy"),
        ),
        steps=(
            TryThis("The closed form.", run="exact"),
            TryThis("RK4 with steps of 10 ms: see what the audit says.", run="RK4, 10 ms"),
            TryThis("The step of the benchmark, 1 ms.", run="RK4, the step"),
            TryThis("Spun faster.", values={"spin": 8.0}, run="exact"),
        ),
        references=("Peters", "Christian 2011, problem 17.6"),
    ),
)
