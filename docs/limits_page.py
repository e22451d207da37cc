"""Writes what Polhode does not do, and what goes with what: python docs/limits_page.py.

Every paragraph of `explanation/limits.md` has a function here that shows it: a sentence that is raised is quoted on the
page, a number is checked. The tables of `reference/capabilities.md` are made of the record that `capabilities.py` finds
by running every crossing.
"""

import json
import random
import runpy
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import trimesh

import polhode as ph
from polhode.errors import PolhodeError

HERE = Path(__file__).parent
LIMITS, TABLES = HERE / "explanation" / "limits.md", HERE / "reference" / "capabilities.md"
CAPABILITIES = runpy.run_path(str(HERE / "capabilities.py"))
FIRST_RUN = HERE / "reference" / "measured" / "first_run.json"
BALL = ph.shapes.sphere(0.1, mass=1.0)
PARTICLE = ph.particle(1.0)


class Limit(NamedTuple):
    """A paragraph, and what shows it: the call whose sentence is quoted, or a function that checks."""

    title: str
    text: str
    shows: Callable[[], Any]
    quoted: str = ""
    """The call, as a reader would write it; "" where nothing is refused."""


# What shows it --------------------------------------------------------------------------------------------------------
def rolls_forever() -> None:
    """A ball that rolls keeps its speed: there is no rolling resistance."""
    start = ph.State(position=(0, 0, 0.1), velocity=(1.0, 0, 0), angular_velocity=(0, 10.0, 0))
    floor = ph.floor(friction=0.5)
    motion = ph.simulate(BALL, start, [ph.forces.gravity()], duration=5.0, contacts=[floor])
    assert motion.contact_state[-1] == "rolling"
    assert abs(motion.velocity[-1, 0] - 1.0) < 1e-12


def hull_touches() -> None:
    """A ring that lies on a post does not let it through: it touches with its hull."""
    ring = ph.shapes.torus(1.0, 0.1, mass=1.0)
    post = ph.shapes.sphere(0.2, mass=1000.0)
    above = [ph.State(position=(0, 0, 1.0), velocity=(0, 0, -1.0)), ph.State()]
    hit = ph.simulate([ring, post], above, duration=2.0, contacts=[ph.between_bodies(restitution=1.0)])
    assert hit.velocity[-1, 0, 2] > 0.9


def nodes_keep_their_distances() -> None:
    cube = ph.Body.from_mesh(trimesh.creation.box((1, 1, 1)), mass=6.0)
    motion = ph.simulate(cube, ph.State(angular_velocity=(1.0, 2.0, 30.0)), duration=3.0)
    at_first, at_last = (motion.nodes().positions(t) for t in (0.0, 3.0))
    spans = [np.linalg.norm(nodes[:, None] - nodes[None], axis=-1) for nodes in (at_first, at_last)]
    assert np.abs(spans[0] - spans[1]).max() < 1e-12


def stiff_takes_short_steps() -> None:
    """Explicit methods are stable up to a few times the time constant, here 1e-4 s."""
    drag = [ph.forces.linear_drag(1e4)]
    motion = ph.simulate(PARTICLE, ph.State(velocity=(1.0, 0, 0)), drag, duration=1.0, method="dop853")
    assert motion.steps > 1000
    assert abs(motion.final.velocity[0]) < 1e-6


def far_away_moves_are_lost() -> None:
    motion = ph.simulate(PARTICLE, ph.State(position=(1e17, 0, 0), velocity=(1.0, 0, 0)), duration=1.0)
    assert motion.final.position[0] == 1e17


def light_is_overtaken() -> None:
    push = [ph.forces.force_at((1e9, 0, 0))]
    assert ph.simulate(PARTICLE, forces=push, duration=1.0).final.velocity[0] > 299792458.0


def noisy_force() -> Any:
    @ph.force
    def gusts(t, state, body, params):
        return (random.gauss(0.0, 1.0), 0.0, 0.0), (0.0, 0.0, 0.0)

    return ph.simulate(PARTICLE, forces=[gusts()], duration=1.0)


def open_mesh() -> Any:
    hole = trimesh.creation.box((1, 1, 1))
    hole.update_faces(np.arange(12) != 0)
    return ph.Body.from_mesh(hole, density=1.0)


def first_runs_are_measured() -> None:
    record = json.loads(FIRST_RUN.read_text(encoding="utf-8"))
    assert min(row["new"] for row in record["first_runs"].values()) > 0


def above_the_air() -> Any:
    up = ph.State(position=(0, 0, 85000.0), velocity=(0, 0, 500.0))
    return ph.simulate(PARTICLE, up, [ph.forces.drag(1e-4, 0.1)], duration=10.0, method="dop853")


def cad_file() -> Any:
    """The suffix alone says what it is."""
    from polhode.massprops.cad_formats import refuse_cad_file

    refuse_cad_file(Path("bracket.step"))


def first_run_range() -> str:
    record = json.loads(FIRST_RUN.read_text(encoding="utf-8"))
    rows = record["first_runs"]
    new = {name: row["new"] for name, row in rows.items()}
    return (
        f'{new["rk4"]:.1f} s for fixed steps, {new["auto"]:.1f} s for `method="auto"`, {new["a rocket"]:.1f} s for a '
        f"rocket, {new['a floor']:.1f} s for a box on a floor and {new['two bodies that touch']:.1f} s for two boxes "
        f"that touch, on {record['machine']['processor']}; later runs start within "
        f"{max(row['cached'] for row in rows.values()):.1f} s"
    )


def limits() -> list[Limit]:
    return [
        Limit(
            "Joints and articulated bodies",
            "One point of a body may be fixed in the world (`pivot=`), and springs may connect bodies. There are no "
            "hinges, sliders, closed loops or joint limits. Use Drake, MuJoCo, Pinocchio or Simbody.",
            lambda: ph.simulate(PARTICLE, duration=1.0, joints=[]),
            "`joints=[...]`",
        ),
        Limit(
            "Contact of soft or many bodies",
            "[Contacts](../howto/contacts.md) are those of rigid convex bodies with planes and with each other, with "
            "restitution and Coulomb friction. There are no soft contacts, no surfaces other than planes, no glue, and "
            "no piles of hundreds of bodies. Use MuJoCo, Drake or Chrono.",
            lambda: ph.floor(stiffness=1e5),
            "`ph.floor(stiffness=1e5)`",
        ),
        Limit("Rolling resistance", "A ball that rolls on a floor rolls forever.", rolls_forever),
        Limit(
            "Hollow and bent bodies",
            "A body touches with its convex hull: a ring does not fall over a post.",
            hull_touches,
        ),
        Limit(
            "Deformation",
            "Bodies are rigid. Volume meshes are used for mass properties and for the motion of their nodes, not for "
            "stresses or strains.",
            nodes_keep_their_distances,
        ),
        Limit(
            "Fluids",
            "[Added mass](../howto/rotors-and-mass.md#added-mass) is a constant matrix, "
            "[aerodynamic coefficients](../howto/flight.md#aerodynamic-coefficients) are those of a steady flow. There "
            "are no waves, no wakes, and no buoyancy but what you write; [couple](../howto/stepping.md) a flow solver.",
            lambda: ph.forces.buoyancy,
            "`ph.forces.buoyancy`",
        ),
        Limit(
            "Sources of mass",
            "A [mass course](../howto/rotors-and-mass.md#mass-that-changes) is known beforehand: it depends on time, "
            "not on the state. It is that of one body; its tables may differ between the members of an ensemble, "
            "functions of time not.",
            lambda: ph.simulate([PARTICLE, PARTICLE], duration=1.0, mass_course=ph.mass_course((0.0, 1.0), (1.0, 0.5))),
            "`ph.simulate([a, b], ..., mass_course=burn)`",
        ),
        Limit(
            "Gravity in orbit",
            "`ph.forces.earth_gravity` has the zonal harmonics, with their gradient. There are no tesseral harmonics, "
            "no Moon and Sun, no eclipses and no radiation pressure but what you write. Use Basilisk or Orekit.",
            lambda: ph.forces.earth_gravity(degree=8),
            "`ph.forces.earth_gravity(degree=8)`",
        ),
        Limit(
            "The upper atmosphere",
            "US Standard Atmosphere 1976 is there up to 86 km; above, give air of your own, such as "
            "`ph.air.exponential`. Nothing is extrapolated.",
            above_the_air,
            "A climb to 86 km",
        ),
        Limit(
            "Memory and noise in a force",
            "A force is a function of time, state and parameters, the same for the same arguments: it has no memory "
            "and draws no random numbers. For a controller or another solver, "
            "[step the body from outside](../howto/stepping.md); draw noise beforehand, as a table.",
            noisy_force,
            "`random.gauss(0.0, 1.0)` in a force",
        ),
        Limit(
            "Stiff systems",
            "All methods are explicit. Very stiff springs or strong damping need small steps; an adaptive method takes "
            "them, slowly: more than a thousand in a second for a time constant of 1e-4 s.",
            stiff_takes_short_steps,
        ),
        Limit(
            "Real time",
            "Runs are computed ahead and played back; a [stepper](../howto/stepping.md) has no deadlines. The first "
            f"run of a new combination of forces and parts is compiled: {first_run_range()}.",
            first_runs_are_measured,
        ),
        Limit(
            "GPUs",
            '`engine="gpu"` runs on those of NVIDIA, all methods but Taylor series, and no contacts: '
            "[GPUs](../howto/gpus.md).",
            lambda: ph.simulate(BALL, duration=1.0, method="taylor", engine="gpu"),
            '`ph.simulate(..., method="taylor", engine="gpu")`',
        ),
        Limit(
            "Relativity",
            "Mechanics is Newton's: with enough thrust a body overtakes light.",
            light_is_overtaken,
        ),
        Limit(
            "Very large distances",
            "Positions have 16 digits, as in any code in double precision: 1e17 m from the origin, a meter is lost.",
            far_away_moves_are_lost,
        ),
        Limit(
            "Files of CAD programs",
            "Meshes are read, STEP, IGES and the like are not: [bodies from CAD](../howto/bodies-from-cad.md).",
            cad_file,
            '`ph.Body.from_mesh("bracket.step")`',
        ),
        Limit(
            "Automatic repair of meshes",
            "A mesh is not repaired unless you ask.",
            open_mesh,
            "`ph.Body.from_mesh(hole, density=1.0)`",
        ),
        Limit(
            "Moments that no solid has",
            "They are refused unless you say that they are only mathematics.",
            lambda: ph.Body(mass=1.0, inertia=(1.0, 1.0, 3.0)),
            "`ph.Body(mass=1.0, inertia=(1, 1, 3))`",
        ),
    ]


def answer(limit: Limit) -> str:
    """The sentence that is raised, up to its list of known words; "" where the function has checked a number."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            limit.shows()
        except (PolhodeError, AttributeError) as error:
            said = str(error).partition(" Known:")[0].partition(" known are")[0].partition(". Last good state")[0]
            said = said.partition(f" ({HERE}")[0]  # where the example of this page stands
            return said.partition(". The documentation lists")[0].rstrip(":; .")
    return ""


# Pages ----------------------------------------------------------------------------------------------------------------
def limits_page() -> str:
    lines = [
        "# What Polhode does not do",
        "",
        "Polhode computes the motion of rigid bodies under forces, accurately, and reports how accurate the answer is. "
        "It is not a physics engine, a robotics toolkit or a finite element code. If you need one of the following, "
        "use another package, or combine it with Polhode. [What goes with what](../reference/capabilities.md) has the "
        "tables: parts, methods, engines and files, each crossing with its sentence where it is refused.",
        "",
    ]
    for limit in limits():
        said = answer(limit)
        assert bool(said) == bool(limit.quoted), (limit.title, said)
        told = f" {limit.quoted} answers: “{markdown(said)}.”" if said else ""
        lines += [limit.title, f": {limit.text}{told}", ""]
    return "\n".join(lines).rstrip() + "\n"


def markdown(sentence: str) -> str:
    return sentence.replace("*", "\\*").replace("|", "\\|").replace("_", "\\_").replace("<", "\\<")


def tables_page(record: dict[str, dict[str, Any]]) -> str:
    """What goes with what; refusals are numbered, and listed below."""
    works, numbers = CAPABILITIES["WORKS"], {}

    def cell(said: str) -> str:
        if said == works:
            return "yes"
        return str(numbers.setdefault(said, len(numbers) + 1))

    lines = [
        "# What goes with what",
        "",
        "Every crossing of this page was run. “Yes” means that the number came out that is written down below by hand, "
        "a number leads to the sentence that refuses the crossing. `python docs/capabilities.py`, in a clone, runs all "
        "of them again and writes this page's record; tests run them, too. Kernels of GPUs are then compiled for the "
        "processor, which has the same bits; live pages are only written, since the gallery's run in a browser.",
        "",
        "| part | what is looked at | expected |",
        "|---|---|---|",
        *(f"| {p.name} | {markdown(p.formula)} | {p.expected:.9g} |" for p in CAPABILITIES["PARTS"]),
        "",
    ]
    for title, ways in CAPABILITIES["WAYS"].values():
        lines += [f"## {title}", "", f"| | {' | '.join(ways)} |", "|---" * (len(ways) + 1) + "|"]
        lines += [f"| {part} | {' | '.join(cell(row[way]) for way in ways)} |" for part, row in record["alone"].items()]
        lines += [""]
    names = list(CAPABILITIES["TOGETHER"])
    lines += [
        "## Together in one scenario",
        "",
        'By `method="auto"`, beside another method or a finer tolerance: both find the same end. Sums over particles '
        "judge the crossings in the tests.",
        "",
        f"| | {' | '.join(names[1:])} |",
        "|---" * len(names) + "|",
    ]
    for i, first in enumerate(names[:-1]):
        found = [cell(record["together"][f"{first} + {second}"]) for second in names[i + 1 :]]
        lines += [f"| {first} | {' | '.join([''] * i + found)} |"]
    lines += ["", "## The sentences", ""]
    lines += [f"{number}. {markdown(said.partition(' Known:')[0])}" for said, number in numbers.items()]
    return "\n".join(lines) + "\n"


def main() -> None:
    record = json.loads(CAPABILITIES["RECORD"].read_text(encoding="utf-8"))
    LIMITS.write_text(limits_page(), encoding="utf-8")
    TABLES.write_text(tables_page(record), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
