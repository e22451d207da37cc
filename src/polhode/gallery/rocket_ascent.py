"""A rocket that rises and burns its propellant: mass, thrust, drag, and the rocket equation."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from math import log

import numpy as np

from polhode.gallery.gallery_model import Model, Parameter, ReferenceCheck, check
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.gallery.pictures import Closed, Curves, Line, panels
from polhode.massprops.body import Body
from polhode.massprops.shapes import box, cylinder, frustum
from polhode.results.motion import Motion
from polhode.scenario.flight_forces import CoefficientTable, drag
from polhode.scenario.forces import STANDARD_GRAVITY, gravity
from polhode.scenario.mass_course import mass_course
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.web.props import Rod
from polhode.web.stage import Stage, StageCamera

MASS, AREA, DURATION = 60.0, 0.0177, 40.0
"""At the start; 150 mm in diameter."""
RADIUS, LENGTH, NOSE, FIN = 0.075, 3.0, 0.5, (0.25, 0.4)
"""Of the rocket that the page draws, in m; width and height of a fin."""
DRAG = CoefficientTable(
    "mach", (0.0, 0.6, 0.9, 1.05, 1.3, 2.0, 6.0), (0.42, 0.42, 0.5, 0.72, 0.65, 0.48, 0.3), beyond="hold"
)

AIR, VACUUM = "in the air", "without air"


def scenario(propellant: float, exhaust: float, burn: float) -> dict[str, Scenario]:
    """Straight up over flat ground, with and without air."""
    rocket = Body(mass=MASS, inertia=(60.0, 60.0, 0.2))
    shrunk = 1 - propellant / MASS / 2
    course = mass_course(
        (0.0, burn),
        (MASS, MASS - propellant),
        inertia=((60.0, 60.0, 0.2), (60.0 * shrunk, 60.0 * shrunk, 0.2 * shrunk)),
        exhaust_velocity=(0.0, 0.0, -exhaust),
        nozzle=(0.0, 0.0, -1.5),
    )
    forces = {AIR: [gravity(), drag(AREA, DRAG)], VACUUM: [gravity()]}
    return {
        name: Scenario(
            rocket,
            State(),
            acting,
            mass_course=course,
            duration=max(DURATION, 2 * burn),
            output_step=0.1,
            rtol=1e-10,
            name="rocket-ascent",
        )
        for name, acting in forces.items()
    }


def numbers(motions: Mapping[str, Motion], propellant: float, exhaust: float, burn: float) -> list[ReferenceCheck]:
    """Speed and height at burnout against the rocket equation, and the mass."""
    vacuum, air = motions[VACUUM], motions[AIR]
    end, g = vacuum.at(burn), STANDARD_GRAVITY
    ratio = MASS / (MASS - propellant)
    rate = propellant / burn
    height = exhaust * burn - exhaust * (MASS - propellant) / rate * log(ratio) - g * burn**2 / 2
    return [
        check(
            "speed at burnout without air",
            "m/s",
            end.velocity[2],
            exhaust * log(ratio) - g * burn,
            1e-7,
            "v_e ln(m0/m) - g t: the rocket equation",
        ),
        check(
            "height at burnout without air", "m", end.position[2], height, 1e-6, "v_e t - v_e (m/m') ln(m0/m) - g t²/2"
        ),
        check("mass after burnout", "kg", air.mass[-1], MASS - propellant, 1e-9, "m0 less the propellant"),
    ]


@panels(size=(11.0, 7.2))
def picture(motions: Mapping[str, Motion], propellant: float, exhaust: float, burn: float) -> list[Curves]:
    """Speed, height, Mach number and dynamic pressure."""
    air, flight, t = motions[AIR], motions[AIR].flight(), np.linspace(0.0, burn, 100)
    expected = exhaust * np.log(MASS / (MASS - propellant * t / burn)) - STANDARD_GRAVITY * t
    speeds = [Line(motion.velocity[:, 2], name) for name, motion in motions.items()]
    heights = [Line(motion.position[:, 2] / 1000, name) for name, motion in motions.items()]
    return [
        Curves("speed", "m/s", speeds, Closed(expected, "rocket equation", t), air),
        Curves("height", "km", heights, over=air),
        Curves("Mach number", "Mach", Line(flight.mach), over=air),
        Curves("dynamic pressure", "kPa", Line(flight.dynamic_pressure / 1000), over=air),
    ]


@cache
def _make_likeness() -> Body:
    """A tube with a nose and four fins, of the length at whose end the nozzle is."""
    nose = frustum(RADIUS, 0.1 * RADIUS, NOSE, density=1.0).move((0.0, 0.0, LENGTH / 2 + 0.3 * NOSE))
    fins = [
        box(sides, density=1.0).move((0.0, 0.0, FIN[1] / 2 - LENGTH / 2))
        for sides in ((2 * FIN[0], 0.01, FIN[1]), (0.01, 2 * FIN[0], FIN[1]))
    ]
    return cylinder(RADIUS, LENGTH, density=1.0).join(nose, *fins)


def stage(propellant: float, exhaust: float, burn: float) -> Stage:
    """The rocket, with a flame while it burns."""
    below = -LENGTH / 2 - float(_make_likeness().center_of_mass[2])
    flame = Rod((0, 0, below), (0, 0, below - 1.1), 0.8 * RADIUS, 0.0, color="#ff9a3c", attached="body", until=burn)
    return Stage(
        camera=StageCamera(elevation_deg=6.0, zoom=1.6, target="body"),
        off=("omega", "L", "forces", "trailOmega", "bodyAxes"),
        panels=("speed", "position", "forces", "energy"),
        props=(flame,),
        floor=below,
        likeness=_make_likeness(),
        moment=0.1,
        shows="A rocket rises with a flame behind it, and without one after its propellant is gone.",
    )


MODEL = Model(
    name="rocket-ascent",
    title="A rocket rises, burns its propellant, and coasts",
    theme="flight",
    source="Tsiolkovsky 1903",
    explanation="""\
A sounding rocket rises straight up. Its mass and moments shrink as it burns; what leaves pushes it with mass flow times
exhaust velocity. Without air its speed at burnout is that of the rocket equation, less g times the time. The drag
coefficient is a table over the Mach number, highest just above the speed of sound, and the air is the US Standard
Atmosphere 1976.""",
    parameters=(
        Parameter("propellant", "kg", 20.0, 5.0, 30.0, "of 60 kg at the start"),
        Parameter("exhaust", "m/s", 2200.0, 1500.0, 2600.0, "velocity of what leaves"),
        Parameter("burn", "s", 12.0, 4.0, 20.0, "until the propellant is gone"),
    ),
    scenario=scenario,
    numbers=numbers,
    picture=picture,
    stage=stage,
    lesson=Lesson(
        formulas=(
            Formula(
                r"\Delta v = u\ln\frac{m_0}{m_1} - g\,t_b",
                "the rocket equation, less what gravity takes while it burns",
            ),
        ),
        steps=(
            TryThis("In the air: drag takes its share near the speed of sound.", run="in the air"),
            TryThis("Without air.", run="without air"),
            TryThis("Half of its mass is propellant.", values={"propellant": 30.0}, run="in the air"),
            TryThis(
                "Burnt in 4 s: faster, since gravity has less time to slow it.", values={"burn": 4.0}, run="in the air"
            ),
        ),
        references=("Tsiolkovsky 1903", "Cornelisse et al. 1979"),
    ),
)
