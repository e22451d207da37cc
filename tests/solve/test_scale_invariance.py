"""A grain of dust and an asteroid get the same care: in its own units every motion is the same.

Each scenario is run in units of mass, length and time from 1e-12 to 1e12.  With powers of ten only rounding may differ;
with powers of two not a single bit, whatever the method, since every sum and product scales exactly: any absolute
tolerance, anywhere on the way, would show.
"""

from __future__ import annotations

import ast
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph

# The laws as they stand give the same bits as compiled ones, and need no compilation.
pytestmark = pytest.mark.filterwarnings("ignore:engine='python'")
f = ph.forces

MOMENTS = np.array((1.0, 2.0, 2.5))
TENSOR = np.array([[2.0, -0.1, 0.2], [-0.1, 2.5, 0.3], [0.2, 0.3, 3.0]])
TURN = Rotation.from_rotvec((0.3, 0.5, -0.2))


class Units:
    """A quantity of one in units of mass, length and time, in SI."""

    def __init__(self, mass, length, time):
        self.mass, self.length, self.time = mass, length, time
        self.speed, self.rate = length / time, 1 / time
        self.inertia = mass * length * length
        self.force = mass * length / (time * time)
        self.torque = self.energy = self.force * length
        self.momentum, self.spin = mass * length / time, mass * length * length / time

    def body(self, inertia=TENSOR, mass=2.0):
        return ph.Body(mass=mass * self.mass, inertia=inertia * self.inertia)

    def state(self, position=(0.3, -0.2, 1.5), velocity=(1.0, 0.5, 2.0), spin=(1.5, 2.0, -1.0)):
        return ph.State(
            position=np.array(position) * self.length,
            orientation=TURN,
            velocity=np.array(velocity) * self.speed,
            angular_velocity_body=np.array(spin) * self.rate,
        )

    def vector(self, name, *numbers):
        return np.array(numbers) * getattr(self, name)


def free(u):
    return u.body(MOMENTS), u.state(), []


def falling(u):
    air = f.quadratic_drag(0.3 * u.mass / u.length, u.vector("speed", 1.0, 0.0, 0.2))
    return u.body(), u.state(), [f.gravity(9.0 * u.length / u.time**2), air]


def on_a_spring(u):
    spring = f.spring(
        30.0 * u.mass / u.time**2,
        u.vector("length", 0.1, 0.2, 0.5),
        u.vector("length", 0.2, 0.0, 0.1),
        damping=0.5 * u.mass / u.time,
        length=0.4 * u.length,
    )
    return u.body(), u.state(), [spring]


def pushed(u):
    forces = [
        f.point_gravity(9.0 * u.length**3 / u.time**2),
        f.linear_drag(0.1 * u.mass / u.time),
        f.rotational_drag(0.2 * u.inertia / u.time),
        f.force_at(u.vector("force", 1.0, 2.0, 0.5), u.vector("length", 0.3, 0.0, 0.1)),
        f.torque(u.vector("torque", 0.5, 0.1, 0.2), axes="body"),
        f.thruster(u.vector("length", 0, 0.1, 0), (1.0, 2.0, 2.0), 3.0 * u.force, 0.25 * u.time, 0.5 * u.time),
        f.impulse(u.vector("momentum", 1.0, 0.0, 2.0), 0.625 * u.time, u.vector("length", 0.0, 0.1, 0.3)),
    ]
    return u.body(), u.state(), forces


def pivot_top(u):
    return u.body(), u.state(velocity=(0.0, 0.0, 0.0)), [f.gravity(9.0 * u.length / u.time**2)]


def system(u):
    spring = f.spring_between(0, 1, 20.0 * u.mass / u.time**2, u.vector("length", 0.1, 0, 0.2), length=0.6 * u.length)
    attraction = f.mutual_gravity(0.8 * u.length**3 / (u.mass * u.time**2))
    other = u.state(position=(1.5, 0.4, 0.1), velocity=(-0.5, 1.0, 0.2))
    return [u.body(), u.body(MOMENTS, mass=0.5)], [u.state(), other], [spring, attraction]


CASES = {case.__name__: case for case in (free, falling, on_a_spring, pushed, pivot_top, system)}
STEPS = 20


def moved(case, method, u, engine="python", **settings):
    """All that a run gives, in its own units."""
    body, state, forces = case(u)
    span = u.time / 4 if case is system and method == "dop853" else u.time  # many stages of many bodies
    settings |= {"method": method, "engine": engine, "duration": span, "output_step": span / 4}
    if method == "dop853":
        settings["rtol"] = 1e-12
    else:
        settings["step"] = u.time / STEPS
    if case is pivot_top:
        settings["pivot"] = u.vector("length", 0.1, 0.0, -0.5)
    motion = ph.simulate(body, state, forces, **settings)
    found = {
        "time": motion.times / u.time,
        "position": motion.position / u.length,
        "orientation": motion.quaternion_wxyz,
        "linear momentum": motion.linear_momentum / u.momentum,
        "angular momentum": motion.angular_momentum / u.spin,
        "angular velocity": motion.angular_velocity / u.rate,
        "kinetic energy": motion.kinetic_energy / u.energy,
        "energy": motion.energy / u.energy,
        "work": motion.work / u.energy,
        "drift": motion.attitude_drift,
        "between outputs": motion.at(0.3 * u.time).position / u.length if not motion.scenario.is_system else 0,
        "steps": motion.steps,
    }
    if case is pivot_top:
        found["reaction"] = motion.reaction_force / u.force
    return found, motion


ONE = Units(1.0, 1.0, 1.0)


def extremes(small, large):
    """All three units small or large, and each of them by itself."""
    alone = [np.roll((extreme, 1.0, 1.0), i).tolist() for extreme in (small, large) for i in range(3)]
    return [Units(*scales) for scales in [*product((small, large), repeat=3), *alone]]


TENS, TWOS = extremes(1e-12, 1e12), extremes(2.0**-40, 2.0**40)
EVERY = [(case, method) for case in CASES.values() for method in ("rk4", "dop853")]
IDS = [f"{case.__name__}-{method}" for case, method in EVERY]


@pytest.mark.parametrize(("case", "method"), EVERY, ids=IDS)
def test_from_dust_to_asteroids_only_rounding_differs(case, method):
    expected, reference = moved(case, method, ONE)
    sizes = {name: np.abs(value).max() for name, value in expected.items()}
    audit = reference.audit()
    for u in TENS:
        found, motion = moved(case, method, u)
        for name in expected.keys() - {"steps", "drift"}:
            assert np.abs(found[name] - expected[name]).max() <= 1e-11 * sizes[name], (name, vars(u))
        for finding, other in zip(audit.findings, motion.audit().findings, strict=True):
            assert finding.conserved == other.conserved
            assert other.relative == pytest.approx(finding.relative, rel=1e-6, abs=1e-12), finding.quantity


@pytest.mark.parametrize(("case", "method"), EVERY, ids=IDS)
def test_in_units_of_powers_of_two_every_bit_is_the_same(case, method):
    expected, _ = moved(case, method, ONE)
    for u in TWOS:
        found, _ = moved(case, method, u)
        for name, value in expected.items():
            assert np.array_equal(found[name], value), (name, vars(u))


@pytest.mark.parametrize("formulation", ["momentum_matrix", "body_rates", "quaternion_acceleration", "euler_angles"])
@pytest.mark.parametrize("method", ["euler", "midpoint", "rk4", "dop853"])
def test_every_formulation_turns_dust_as_it_turns_asteroids(formulation, method):
    expected, _ = moved(on_a_spring, method, ONE, formulation=formulation)
    for u in TWOS[:: len(TWOS) // 4]:
        found, _ = moved(on_a_spring, method, u, formulation=formulation)
        for name, value in expected.items():
            assert np.array_equal(found[name], value), (name, vars(u))


def test_compiled_code_has_no_scale_of_its_own_either():
    expected, _ = moved(falling, "rk4", ONE, "cpu")
    plain, _ = moved(falling, "rk4", ONE)
    for u in [ONE, *TWOS]:
        found, _ = moved(falling, "rk4", u, "cpu")
        for name, value in expected.items():
            assert np.array_equal(found[name], value), (name, vars(u))
            assert np.array_equal(found[name], plain[name]), name


@pytest.mark.parametrize("scale", [1e-40, 1e-12, 1.0, 1e12, 1e40])
def test_a_bodys_checks_have_no_scale(scale):
    """Flat, tilted, nearly unphysical: accepted and refused by proportions alone."""
    tilted = TURN.as_matrix() @ np.diag((1.0, 2.0, 3.0)) @ TURN.as_matrix().T
    moments = ph.Body(scale, tilted * scale).principal_moments / scale
    assert np.sort(moments) == pytest.approx([1.0, 2.0, 3.0], rel=1e-14)
    for bad in (np.diag((1.0, 2.0, 3.0 + 1e-9)), np.diag((1.0, 2.0, -1e-9)), np.eye(3) + 1e-9 * np.eye(3, k=1)):
        with pytest.raises(ph.PolhodeError):
            ph.Body(scale, bad * scale)


# Small numbers in the sources that are no tolerance on a quantity with a unit.
HARMLESS = {
    "equations/free_rotation.py": {1e-300},  # 1 - m, a ratio
    "methods/registry.py": {2e-15, 2.3e-16},  # the finest tolerances
    "methods/runge_kutta.py": {1e-300},  # avoids 0/0; 150 orders of magnitude below any quantity's square
    "integrate/closed_form.py": {2e-6},  # seconds of computing time
    "integrate/loops/clocked.py": {1e-12, 1e-16},  # of a function's range in a step; of its way in the next step
    "ir/standard_functions.py": {1e-300},  # whether a pure number is exactly 1
    # Contacts: fractions of the size, of the natural speed and time, of weights, steps and sums; unit vectors, angles.
    # tests/contacts/test_contact_runs_agree.py compares their bits in other units.
    "integrate/contacts/contact_coarse.py": {1e-6},
    "integrate/contacts/contact_distance.py": {1e-20, 1e-15, 1e-14, 1e-13, 1e-12, 1e-8, 1e-6},
    "integrate/contacts/contact_forces.py": {1e-300, 4e-16, 2e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-6},
    "integrate/contacts/contact_impacts.py": {1e-9},
    "integrate/contacts/contact_loop.py": {1e-9, 1e-7},
    "integrate/contacts/contact_modes.py": {1e-300, 1e-10, 1e-9, 1e-5},
    "integrate/contacts/contact_motion.py": {1e-13},
    "integrate/contacts/contact_pairs.py": {1e-10, 1e-6},
    "integrate/contacts/contact_samples.py": {1e-5},
    "integrate/contacts/contact_scene.py": {1e-7, 2e-6},
    "integrate/contacts/contact_search.py": {1e-15, 1e-11, 1e-10, 1e-9, 1e-8, 1e-5},
    "integrate/contacts/contact_shapes.py": {1e-9},
    "integrate/event_log.py": {1e-10},  # of the duration: changes that follow each other so closely never end
    "integrate/taylor/heyoka_pool.py": {
        1e-12,
        1e-9,
        1e-13,
    },  # of the duration, between two events; of a tolerance; rounding
    "integrate/run_result.py": {1e-15},  # relative: what 16 digits can show
    "integrate/integrator.py": {1e-9, 1e-10, 3e-7, 3e-8},  # seconds of computing time
    "solve/precision_check.py": {1e-9},  # a difference as a part of the size
    "integrate/taylor/taylor_series.py": {1e-6},  # of the slope of an event's function before a change
    "massprops/body.py": {1e-10},  # default of rtol
    "scenario/contact_validation.py": {1e-9},  # of the size: how far a body may start inside a surface
    "scenario/earth.py": {
        2.2729608287e-07,
        5.4068123911e-07,
        1.6196215914e-06,
        2.5326564853e-06,
        7.292115e-05,
    },  # J3 to J6
    "scenario/forces.py": {6.6743e-11, 2.94041e-5},  # G; the Earth's magnetic field at the equator, in T
    "scenario/added_mass.py": {1e-9},  # of the size of the matrix: how far it may be from symmetric
    "scenario/mass_course_tables.py": {1e-300, 1e-13, 1e-9},  # of the largest value of a course
    "scenario/method_choice.py": {1e-15, 1e-12},  # the finest tolerances
    "scenario/outline.py": {1e-14, 1e-12, 1e-10},  # of the size
    "scenario/scenario.py": {1e-9, 1e-12},  # default of rtol; rounding of a number of steps, of a duration
    "scenario/scenario_validation.py": {1e-16, 1e-300},  # relative: rounding; the smallest doubles with all digits
    "scenario/pivot.py": {1e-9},  # relative: of two velocities
    "solve/auto_method.py": {5e-14},  # where rounding begins to show
    "solve/simulate.py": {1e-9},  # default of rtol
    "solve/stepper.py": {1e-9, 8.881784197001252e-16},  # default of rtol; rounding of a number of steps
    "solve/episode_clock.py": {1e-9},  # of a step of control
    "solve/driven_loads.py": {1e-6},  # of an action: it was rounded to 32 bits
    "solve/long_steps.py": {1e-6},  # of a speed
    "results/audit.py": {1e-12, 1e-9},  # sine of the angle between two unit vectors; of the energy
}
SERIES = {
    "equations/scalar_ops.py",
    "equations/elementary.py",  # sine, exponential, ...
    "methods/vern7.py",
    "methods/vern9.py",  # tableaus
}
"""Modules that hold coefficients of series and tableaus."""
SCANNED = ("", "equations", "methods", "ir", "integrate", "integrate/*", "scenario", "solve", "results")


def test_no_small_number_in_the_sources_decides_physics():
    source = Path(ph.__file__).parent
    paths = [path for folder in SCANNED for path in source.glob(f"{folder}/*.py".lstrip("/"))] + [
        source / "massprops" / "body.py"
    ]
    assert len(paths) > 60
    for path in paths:
        name = path.relative_to(source).as_posix()
        if name in SERIES:
            continue
        constants = (node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant))
        small = {value for value in constants if isinstance(value, float) and 0 < abs(value) < 1e-4}
        assert small <= HARMLESS.get(name, set()), name
    assert HARMLESS.keys() <= {path.relative_to(source).as_posix() for path in paths}
