"""The gyroscope: two rates of steady precession, and nutation after release."""

from __future__ import annotations

from collections.abc import Mapping
from math import cos, degrees, radians

import numpy as np

from polhode.equations.scalar_ops import cos as cosine
from polhode.gallery import gyroscope_disk
from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.gyroscope_disk import FRAMES, GRAVITY, HEIGHT, MASS, inclination, initial_state, turning_times
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.measurements import first_interval
from polhode.gallery.pictures import Closed, Curves, DrawPanel, Line, Note, panels, space
from polhode.gallery.plain_formulas import released_period, steady_precession_rates
from polhode.reference.heavy_top import HeavyTop
from polhode.results.motion import Motion
from polhode.scenario.forces import gravity
from polhode.scenario.scenario import Scenario

NUTATIONS = 4
RTOL = 1e-14
FAST_LIMIT = "I3 w3/(Is cos(theta)): fast rate at large spin [Christian 2011, eq. 17.51]"
SLOW_LIMIT = "M g l/(I3 w3): slow rate at large spin [Christian 2011, eq. 17.51]"


def _tops(spin: float, theta: float) -> dict[str, HeavyTop]:
    released = gyroscope_disk.make_heavy_top(theta, spin)
    slow, fast = released.steady_rates
    return {
        "slow": gyroscope_disk.make_heavy_top(theta, spin, slow),
        "fast": gyroscope_disk.make_heavy_top(theta, spin, fast),
        "released": released,
    }


def scenario(spin: float, theta: float) -> dict[str, Scenario]:
    """Started at the slow rate, at the fast rate, and released with spin only."""
    released = gyroscope_disk.make_heavy_top(theta, spin)
    top = (released.moment, released.axial_moment, released.weight_times_height, cosine(released.theta), released.spin)
    duration = NUTATIONS * released_period(*top)
    slow, fast = steady_precession_rates(*top)
    return {
        name: Scenario(
            gyroscope_disk.make_disk(),
            initial_state(gyroscope_disk.make_heavy_top(theta, spin, rate)),
            [gravity(GRAVITY)],
            duration=duration,
            output_step=duration / FRAMES,
            method="dop853",
            rtol=RTOL,
            pivot=(0.0, 0.0, -HEIGHT),
            name=f"gyroscope-{name}",
        )
        for name, rate in {"slow": slow, "fast": fast, "released": 0.0}.items()
    }


def numbers(motions: Mapping[str, Motion], spin: float, theta: float) -> list[ReferenceCheck]:
    """Both steady rates with the pivot forces, and the nutation after release."""
    tops, checks = _tops(spin, theta), []
    for name in ("slow", "fast"):
        motion, rate = motions[name], tops[name].precession
        phi = np.unwrap(motion.euler_angles[:, 0])
        found = float((phi[-1] - phi[0]) / (motion.times[-1] - motion.times[0]))
        source = "Is cos(theta) p^2 - I3 w3 p + M g l = 0"
        checks.append(check(f"{name} steady precession", "rad/s", found, rate, 1e-11 * rate, source))
    change = max(float(np.abs(motions[name].euler_angles[:, 1] - radians(theta)).max()) for name in ("slow", "fast"))
    checks.append(
        check("change of theta in steady precession", "rad", change, 0.0, 1e-11, "constant", size=radians(theta))
    )
    for name in ("slow", "fast"):
        force, out = motions[name].reaction_force, motions[name].position[:, :2]
        inwards = -float(((force[:, :2] * out).sum(axis=1) / np.hypot(*out.T)).mean())
        expected = tops[name].horizontal_reaction(tops[name].precession, MASS * HEIGHT)
        label, formula = f"horizontal force at the pivot, {name}", "M l sin(theta) p^2, toward the vertical"
        checks.append(check(label, "N", inwards, expected, 1e-10 * expected, formula))
        upwards, weight = float(force[:, 2].mean()), MASS * GRAVITY
        off = 1e-10 * (weight + expected)
        checks.append(
            check(f"vertical force at the pivot, {name}", "N", upwards, weight, off, "M g: no vertical acceleration")
        )
    checks += _check_large_spin_limits(checks[0].found, checks[1].found, tops["released"])
    return [*checks, *_check_released_top(motions["released"], tops["released"]), _search_least_spin(tops["released"])]


def _check_large_spin_limits(slow: float, fast: float, top: HeavyTop) -> list[ReferenceCheck]:
    """The approximations (17.51) are exactly the sum of the quadratic's roots, and their product over their sum."""
    along = top.axial_moment * top.spin
    near_fast, near_slow = along / (top.moment * cos(top.theta)), top.weight_times_height / along
    product_over_sum, total = slow * fast / (slow + fast), slow + fast
    return [
        check("sum of the slow and fast rates", "rad/s", total, near_fast, 1e-11 * near_fast, FAST_LIMIT),
        check("product over sum of the two rates", "rad/s", product_over_sum, near_slow, 1e-11 * near_slow, SLOW_LIMIT),
    ]


def _check_released_top(motion: Motion, top: HeavyTop) -> list[ReferenceCheck]:
    turns = turning_times(motion)
    lowest, expected = degrees(inclination(motion.at(turns[0]))), degrees(top.released_theta)
    period = 2 * first_interval(turns, "a turning point")
    return [
        check(
            "largest theta after release", "deg", lowest, expected, 1e-10, "cos = b - sqrt(b^2 - 2 b cos(theta0) + 1)"
        ),
        check("nutation period after release", "s", period, top.period, 1e-10, "4 K(m)/sqrt((2 M g l/Is)(u3 - u1))"),
    ]


def _search_least_spin(top: HeavyTop) -> ReferenceCheck:
    """The smallest spin that allows a steady precession at this angle, by search."""
    rate = np.geomspace(1e-2, 1e2, 4001) * np.sqrt(top.weight_times_height / top.moment)
    held = (top.moment * cos(top.theta) * rate**2 + top.weight_times_height) / (top.axial_moment * rate)
    found = float(held.min())
    source = "2 sqrt(Is M g l cos(theta))/I3, against the minimum w3 of the quadratic over many p; not simulated"
    return check("minimum spin for steady precession", "rad/s", found, top.least_spin, 2e-6 * found, source)


@panels("AB;AC;AD", size=(12.0, 7.4), widths=(1.0, 1.15))
def picture(motions: Mapping[str, Motion], spin: float, theta: float) -> list[DrawPanel]:
    """The disk on its axle with the three paths of its tip, theta over time, and the rates against the spin."""
    tops, released = _tops(spin, theta), motions["released"]
    nodding = [
        Line(np.degrees(motions[name].euler_angles[:, 1]), name, n, "--" if name == "fast" else "-")
        for n, name in enumerate(("released", "slow", "fast"))
    ]
    change = [
        Line(np.abs(motions[name].euler_angles[:, 1] - tops[name].theta), name, n, width=1.1)
        for n, name in ((1, "slow"), (2, "fast"))
    ]
    closed = Closed(np.degrees(tops["released"].theta_at(released.times)))
    return [
        _tips(motions, tops["released"]),
        Curves("angle from the vertical", "deg", nodding, closed, released, downward=True),
        _rates(motions, tops["released"]),
        Curves("change of θ", "rad", change, over=released, log="y", y=(1e-17, 1e-9)),
    ]


def _tips(motions: Mapping[str, Motion], top: HeavyTop) -> DrawPanel:
    """The gyroscope after release, and the paths of all three tips."""
    scene, tip = space(1.4, 0.36), 1.75
    scene.globe(tip, top.turning_angles)
    words = {"released": "released: it nutates", "slow": "slow steady precession", "fast": "fast steady precession"}
    for n, (name, text) in enumerate(words.items()):
        scene.line(tip * motions[name].rotation_matrix[:, :, 2], n, text, width=(2.4, 4.5, 1.4)[n])
    motion = motions["released"]
    frame = int(np.argmin(np.abs(motion.times - top.period / 2)))
    scene.top(gyroscope_disk.make_disk(), motion.position[frame], motion.rotation_matrix[frame], tip - HEIGHT, -HEIGHT)
    scene.arrow(motion.position[frame], (0.0, 0.0, -1.35), "weight", "weight")
    momentum = motion.angular_momentum_about((0.0, 0.0, 0.0))[frame]
    scene.arrow((0, 0, 0), momentum * 1.3 * tip / np.linalg.norm(momentum), "L", "L")
    scene.dot((0, 0, 0), "ink", 6.0)
    return scene.panel("the released disk, and the tips of three axles", legend="lower left")


def _rates(motions: Mapping[str, Motion], top: HeavyTop) -> Curves:
    """Both steady rates against the spin, with the approximations and the measured rates."""
    spins = np.geomspace(top.least_spin * (1 + 1e-9), 2.2 * max(top.spin, top.least_spin), 400)
    both = np.array([gyroscope_disk.make_heavy_top(degrees(top.theta), float(s)).steady_rates for s in spins])
    along = top.axial_moment * np.append(spins, top.spin)
    near_fast, near_slow = along / (top.moment * cos(top.theta)), top.weight_times_height / along
    found = [
        Line([rate], f"{name} {rate:.7f}", n, "o", [top.spin], size=7)
        for n, name in ((1, "slow"), (2, "fast"))
        for rate in (float(np.ptp(np.unwrap(motions[name].euler_angles[:, 0]))) / motions[name].times[-1],)
    ]
    text = f"none below {top.least_spin:.4f} rad/s\n(17.51): {near_slow[-1]:.5f} and {near_fast[-1]:.5f}"
    return Curves(
        "steady rates",
        "rad/s",
        [
            Line(near_fast[:-1], "(17.51)", "ink", "--", spins, 1.0),
            Line(near_slow[:-1], "", "ink", "--", spins, 1.0),
            *found,
        ],
        Closed(both, "exact", spins),
        across="spin ω₃ (rad/s)",
        x=(0.0, float(spins[-1])),
        log="y",
        y=(10.0 ** np.floor(np.log10(both.min())), 10.0 ** np.ceil(np.log10(both.max()))),
        marks=(top.least_spin,),
        notes=[Note((0.98, 0.5), text, "panel", ("right", "center"))],
    )


MODEL = Model(
    name="gyroscope",
    title="A gyroscope precesses at two steady rates, or nutates",
    theme="tops and gyroscopes",
    source="[Christian 2011, section 17.6, problem 17.8, figure 17.5]; errata: moments about the pivot",
    explanation="""\
A spinning disk stands on the end of its axle. Its weight exerts a torque, but a torque only changes the
direction of the angular momentum, sideways: the axle precesses. Two rates keep its angle constant: a slow
one, about M g l/(I3 w3), and a fast one, close to that of free rotation; both merge at the minimum spin,
below which there is none. Released without that initial rate, it first falls, starts to precess, and
rises again: it nutates between two angles, with cusps at the top. The fast one needs a large pivot force.""",
    parameters=(
        Parameter("spin", "rad/s", 10.0, 6.0, 30.0, "angular velocity along the axle"),
        Parameter("theta", "deg", 60.0, 15.0, 75.0, "initial angle of the axle from the vertical"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=gyroscope_disk.make_stage(
        ("tilt_precession", "angular_momentum", "torque", "drift"),
        "theta",
        switches=("trailAxis3",),
        off=("trailOmega", "bodyAxes"),
        shows="A spinning disk on an axle, which stands on a column and goes round about the vertical.",
    ),
    lesson=Lesson(
        formulas=(
            Formula(
                r"I_s\cos\theta\,\dot\varphi^2 - I_3\omega_3\,\dot\varphi + M g l = 0",
                "steady precession: two rates, slow and fast",
            ),
            Formula(
                r"\omega_3 \ge \frac{2}{I_3}\sqrt{I_s M g l\cos\theta}", "the least spin, at which the two rates merge"
            ),
        ),
        steps=(
            TryThis("Slow precession: the torque of the weight turns L sideways.", run="slow", switches=("trailL",)),
            TryThis("The other root: nearly free rotation, with a large force at the pivot.", run="fast"),
            TryThis(
                "Released with spin only: it falls, precesses and rises again, with cusps.",
                run="released",
                switches=("trailAxis3",),
            ),
            TryThis("With less spin it falls farther.", values={"spin": 6.0}, run="released", switches=("trailAxis3",)),
        ),
        references=("Christian 2011, section 17.6, eq. 17.51", "Goldstein 1980, section 5.7"),
    ),
)
