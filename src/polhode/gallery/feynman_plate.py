"""Feynman's plate: thrown with a wobble, it wobbles twice per revolution."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from polhode.equations.elementary import tan
from polhode.equations.scalar_ops import cos, sin
from polhode.gallery.closed_forms.precession_and_wobble import axis_precession
from polhode.gallery.closed_forms.printed_programs import plate_code, plate_leapfrog
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.measurements import azimuth_rate, azimuths, turning_rate
from polhode.gallery.pictures import Closed, Curves, DrawPanel, Line, drawn, panels
from polhode.gallery.plain_formulas import radians
from polhode.massprops.body import Body
from polhode.massprops.shapes import thin_disk, thin_sheet
from polhode.reference.free_rotation import AsymmetricTop, SymmetricTop
from polhode.results.motion import Motion
from polhode.rotations import angle_between
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.validation import Array
from polhode.web.props import RollingCones
from polhode.web.stage import Grab, Stage, StageCamera

RADIUS, MASS = 0.12, 0.3
TRAY = (0.45, 0.3)
DURATION = 1.0
STEPS = (0.004, 0.002, 0.001)
"""Steps of both algorithms, in s."""
SMALL = np.radians(1.0)
"""Tilt of the tray, at which the small-wobble law holds to 1e-3."""
TURNS = 2
"""Revolutions of the tray: within one, its wobble is nonuniform."""
FRAMES = 500
STEPS_PER_FRAME = 20


PLATE_MOMENTS = (MASS * RADIUS**2 / 4, MASS * RADIUS**2 / 4, MASS * RADIUS**2 / 2)
TRAY_MOMENTS = (MASS * TRAY[1] ** 2 / 12, MASS * TRAY[0] ** 2 / 12, MASS * (TRAY[0] ** 2 + TRAY[1] ** 2) / 12)
"""By hand, in kg m2."""


def _initial_rates(moments: tuple[float, float, float], spin: float, tilt: float) -> Array:
    """w3 = spin, with L tilted from axis 3 toward axis 1 by `tilt` (rad)."""
    i1, _, i3 = moments
    return np.array((i3 * spin * tan(tilt) / i1, 0.0, spin))


def _make_plate(spin: float, tilt: float) -> SymmetricTop:
    return SymmetricTop(PLATE_MOMENTS, _initial_rates(PLATE_MOMENTS, spin, radians(tilt)))


def _run_scenario(
    body: Body, rates: Any, step: float | None = None, method: str = "rk4", duration: float = DURATION
) -> Scenario:
    frame = duration / FRAMES
    return Scenario(
        body,
        State(angular_velocity_body=rates),
        duration=duration,
        step=step or frame / STEPS_PER_FRAME,
        output_step=frame if step is None else max(step, frame),
        method=method,
        name="feynman-plate",
    )


def _run_name(method: str, step: float) -> str:
    return f"{'leapfrog' if method == 'leapfrog' else 'printed code'} at {1000 * step:g} ms"


def scenario(spin: float, tilt: float) -> dict[str, Scenario]:
    """The plate computed accurately; by both algorithms at three steps; a tray; the plate spun about a diameter."""
    plate, tray, top = thin_disk(RADIUS, MASS), thin_sheet(TRAY, MASS), _make_plate(spin, tilt)
    runs = {"plate": _run_scenario(plate, top.rates)}
    for method in ("leapfrog", "euler"):
        runs |= {_run_name(method, h): _run_scenario(plate, top.rates, h, method) for h in STEPS}
    runs["tray"] = _run_scenario(tray, _initial_rates(TRAY_MOMENTS, spin, SMALL), duration=TURNS * 2 * np.pi / spin)
    across = (spin * cos(radians(tilt)), 0.0, spin * sin(radians(tilt)))
    runs["about a diameter"] = _run_scenario(plate, across)
    return runs


def _attitude_error(motion: Motion, top: SymmetricTop) -> float:
    return float(angle_between(motion.quaternion_wxyz[-1], top.quaternions_at(DURATION)))


def _wobble_rate(motion: Motion) -> float:
    """Precession rate of axis 3 about L, in rad/s."""
    return azimuth_rate(motion.times, motion.rotation_matrix[:, :, 2], motion.angular_momentum[0])


def numbers(motions: dict[str, Motion], spin: float, tilt: float) -> list[ReferenceCheck]:
    """Wobble-to-spin ratio; errors of both algorithms, matching the printed code; tray and diameter."""
    top, plate, tray = _make_plate(spin, tilt), motions["plate"], motions["tray"]
    across = motions["about a diameter"]
    ratio = 2 / float(np.cos(np.radians(tilt)))
    tray_rates, drift = tray.angular_velocity_body, float(across.angular_velocity_body[0, 2])
    squares = (tray_rates[:, :2] ** 2).sum(axis=1)
    return [
        check(
            "wobble-to-spin ratio",
            "1",
            _wobble_rate(plate) / spin,
            ratio,
            1e-9 * ratio,
            "(I3/I1)/cos(theta), I3 = 2 I1",
        ),
        *_check_errors(motions, top, "leapfrog", plate_leapfrog, "[Christian 2011, eqs. 17.45 and 17.46] step by step"),
        *_check_errors(motions, top, "euler", plate_code, "code after [Christian 2011, eq. 17.46] step by step"),
        _check_energy_gain(
            motions, top, "leapfrog", plate_leapfrog, "[Christian 2011, eqs. 17.45 and 17.46] step by step"
        ),
        _check_energy_gain(motions, top, "euler", plate_code, "the printed code step by step"),
        check(
            "change of ω₁² + ω₂² for a tray",
            "rad2/s2",
            np.ptp(squares),
            0.0,
            1e-9 * float(squares[0]),
            "constant for any lamina, I3 = I1 + I2",
            squares[0],
        ),
        check(
            "wobble-to-spin ratio of a tray, 1 degree",
            "1",
            _wobble_rate(tray) / turning_rate(tray.times, tray_rates[:, :2]),
            _tray_ratio(spin),
            1e-8,
            "mean of L (I1 w1^2 + I2 w2^2)/(L1^2 + L2^2) over mean w3, by Jacobi's functions; 2 for a small wobble",
        ),
        check(
            "precession of ω, spun about a diameter",
            "rad/s",
            turning_rate(across.times, across.angular_velocity_body[:, :2]),
            drift,
            1e-9 * drift,
            "(I3/I1 - 1) w3 = w3 [Christian 2011, eq. 17.47]",
        ),
    ]


def _check_errors(
    motions: dict[str, Motion], top: SymmetricTop, method: str, listing: Callable[..., Any], source: str
) -> list[ReferenceCheck]:
    """Attitude error after 1 s at each step, compared with that of the listing itself."""
    found = []
    for h in STEPS:
        printed = listing(top.moments, top.rates, h, round(DURATION / h)).quaternion
        expected = float(angle_between(printed, top.quaternions_at(DURATION)))
        label = f"attitude error, {_run_name(method, h)}"
        found.append(
            check(label, "rad", _attitude_error(motions[_run_name(method, h)], top), expected, 1e-6 * expected, source)
        )
    return found


def _tray_ratio(spin: float) -> float:
    """Wobble-to-spin ratio of the tray over its run: (w1, w2) of a lamina rotates at w3."""
    top = AsymmetricTop(TRAY_MOMENTS, _initial_rates(TRAY_MOMENTS, spin, SMALL))
    nodes, weights = np.polynomial.legendre.leggauss(300)
    w = top.rates_at(TURNS * 2 * np.pi / spin * (1 + nodes) / 2)
    return float(weights @ axis_precession(TRAY_MOMENTS, w) / (weights @ w[:, 2]))


def _check_energy_gain(
    motions: dict[str, Motion], top: SymmetricTop, method: str, listing: Callable[..., Any], source: str
) -> ReferenceCheck:
    name = _run_name(method, STEPS[0])
    printed = listing(top.moments, top.rates, STEPS[0], round(DURATION / STEPS[0])).rates
    expected = float((top.moments * printed**2).sum() / (top.moments * top.rates**2).sum()) - 1
    found = float(motions[name].rotational_energy[-1] / motions[name].rotational_energy[0]) - 1
    return check(f"relative energy gain, {name}", "1", found, expected, 1e-6 * expected + 1e-13, source)


@panels("ABC;DEF")
def picture(motions: dict[str, Motion], spin: float, tilt: float) -> list[DrawPanel]:
    """The plate in space and in body axes, revolutions of axis and plate, and the errors of the algorithms."""
    from polhode.plot.free_rotation_figures import draw_in_body, draw_in_space, draw_rates

    top, plate = _make_plate(spin, tilt), motions["plate"]
    return [
        drawn(draw_in_space, plate, 0.1 / spin, title="in space"),
        drawn(draw_in_body, plate, title="in body axes: ω and L precess"),
        _turns(plate, motions["tray"]),
        drawn(draw_rates, plate),
        _errors(motions, top),
        _energy_changes(motions),
    ]


def _turns(plate: Motion, tray: Motion) -> Curves:
    """Revolutions of the axis about L, and of the plate about its axis."""
    spun = plate.angular_velocity_body[:, 2] * plate.times / (2 * np.pi)

    def wobbled(motion: Motion, name: str, color: str, style: str = "-") -> Line:
        turns = azimuths(motion.rotation_matrix[:, :, 2], motion.angular_momentum[0]) / (2 * np.pi)
        return Line(turns, f"axis about L, {name}", color, style, motion.times)

    return Curves(
        f"wobble-to-spin ratio {_wobble_rate(plate) / plate.angular_velocity_body[0, 2]:.6f}",
        "revolutions",
        [
            wobbled(tray, "tray, 1°", "muted", "--"),
            wobbled(plate, "plate", "L"),
            Line(spun, "plate about its axis", "axis_3"),
        ],
        Closed(2 * spun, "twice the spin"),
        plate,
        y=(0.0, 1.5 * float(2 * spun[-1])),
        legend="upper left",
    )


def _errors(motions: dict[str, Motion], top: SymmetricTop) -> Curves:
    steps, lines, laws = 1000 * np.array(STEPS), list[Line](), list[Array]()
    for method, order, color, name in (("euler", 1, 1, "printed code"), ("leapfrog", 2, 0, "leapfrog")):
        errors = np.array([_attitude_error(motions[_run_name(method, h)], top) for h in STEPS])
        label = f"{name}, order {np.log2(errors[-2] / errors[-1]):.2f}"
        lines.append(Line(errors, label, color, "-o", steps))
        laws.append(errors[-1] * (steps / steps[-1]) ** order)
    return Curves(
        "attitude error after 1 s",
        "rad",
        lines,
        Closed(np.stack(laws, axis=1), "orders 1 and 2", steps),
        across="step (ms)",
        log="xy",
        x_ticks=steps.tolist(),
        y=(None, 30 * max(float(line.y.max()) for line in lines)),
        legend="upper left",
    )


def _energy_changes(motions: dict[str, Motion]) -> Curves:
    """Energy change of both algorithms, on a logarithmic axis."""
    lines, methods = list[Line](), {"euler": ("printed code", 1), "leapfrog": ("leapfrog", 0)}
    for (method, (name, color)), (h, style) in product(methods.items(), zip(STEPS, ("-", "--", ":"), strict=True)):
        energy = motions[_run_name(method, h)].rotational_energy
        change, times = np.abs(energy / energy[0] - 1), motions[_run_name(method, h)].times
        lines.append(Line(change, f"{name}, {1000 * h:g} ms", color, style, times, 1.3))
    ends = [float(line.y[-1]) for line in lines]
    return Curves(
        "energy change (L is constant)",
        "relative",
        lines,
        over=motions["plate"],
        log="y",
        y=(min(ends) / 1e3, 10 * max(ends)),
        legend=(2, 3),
    )


def stage(spin: float, tilt: float, run: str) -> Stage:
    """The plate with its two cones; a tray has none."""
    return Stage(
        camera=StageCamera(elevation_deg=16.0, target=(0.0, 0.0, 0.5 * RADIUS), radius=1.75 * RADIUS)
        if run == "plate"
        else None,
        switches=("trailAxis3",),
        off=("bodyAxes", "trailOmega"),
        panels=("angular_velocity", "tilt_precession", "drift"),
        props=(RollingCones(),) if run == "plate" else (),
        grabs=(Grab("angular_velocity", knob="spin", component=2),),
        shows="A plate spins with its axis tilted from the angular momentum, and wobbles.",
    )


MODEL = Model(
    name="feynman-plate",
    title="Feynman's plate wobbles twice per revolution",
    theme="free rotation",
    source="[Christian 2011, section 17.5, problems 17.4 and 17.5]",
    explanation="""\
A plate is thrown with a slight wobble: its axis precesses about the angular momentum at (I3/I1)/cos(theta)
times the spin, and for a disk I3 = 2 I1, hence twice per revolution, slightly more at larger tilt. A tray
wobbles alike, since I3 = I1 + I2 holds for any lamina; spun about a diameter the plate does not, its
angular velocity only drifts at w3. The code printed in the text uses the rate at the start of the step:
this is Euler's method and gains energy. Leapfrog uses the rate at midstep and is a hundred times better.""",
    parameters=(
        Parameter("spin", "rad/s", 10.0, 5.0, 20.0, "rate about the plate's axis"),
        Parameter("tilt", "deg", 10.0, 1.0, 30.0, "angle between the plate's axis and the angular momentum"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=stage,
    lesson=Lesson(
        formulas=(
            Formula(
                r"\Omega = \frac{I_3}{I_1}\,\frac{\omega_3}{\cos\theta}",
                "the wobble, from the spin about the plate's axis",
            ),
            Formula("I_3 = I_1 + I_2", "for any flat body: a plate wobbles twice per revolution"),
        ),
        steps=(
            TryThis("Two wobbles in each revolution.", run="plate", switches=("trailAxis3",)),
            TryThis("At a tilt of 30 degrees, 2.3.", values={"tilt": 30.0}, run="plate", switches=("trailAxis3",)),
            TryThis("A tray wobbles like the plate.", run="tray"),
            TryThis("The code printed in the text gains energy: Euler's method.", run="printed code at 4 ms"),
        ),
        references=("Christian 2011, section 17.5",),
    ),
)
