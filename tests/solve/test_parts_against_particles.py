"""Every force of the library and every function of a user x every part, against sums over particles.

Parts: a pivot, a system, rotors, added mass, a mass course (with products of inertia, along the axes of the body, of
the mass alone) and contacts, alone and together as far as they go together; what does not is refused, in a sentence.
The reference (`particle_bodies.py`) shares none of our code.
"""

import re
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest

import polhode as ph
from host_gpu import HostGpu
from particle_bodies import PIVOT, Case, Change, Cloud, Part, Wheel, check, close, cloud, run, spread
from particle_forces import CASES, PAIRS, SINGLE, TOGETHER
from polhode.errors import PolhodeError
from polhode.integrate.loops import kernel_program

pytestmark = pytest.mark.filterwarnings("ignore:engine='python'")


# What the functions of a user see of the state and the body -----------------------------------------------------------
PROBE = (0.3, -0.5, 0.8)


def by_tensor(body, vector_body):
    return tuple(ph.dot(row, vector_body) for row in body.inertia_body)


def by_moments(body, vector_body):
    turned = ph.to_body(body.axes, vector_body)
    return ph.to_world(body.axes, tuple(i * c for i, c in zip(body.moments, turned, strict=True)))


def summary(state, body):
    """One number of all that has no axes."""
    w = state.angular_velocity_body
    moments = sum(i * i / 50 + 1 / 2 * j for i, j in zip(body.moments, body.inverse_moments, strict=True))
    wheels = sum(state.rotor_speed) / 100 + sum(state.rotor_momentum) / 50
    return ph.dot(w, by_tensor(body, w)) / 10 + moments + body.mass / 10 + 2 * body.inverse_mass + wheels


def summary_of(particles):
    moments = np.linalg.eigvalsh(particles.tensor)
    wheels = particles.speeds.sum() / 100 + particles.momenta[6:].sum() / 50
    turning = particles.w @ particles.tensor @ particles.w / 10
    own = particles.mass / 10 + 2 / particles.mass
    return turning + (moments * moments / 50 + 1 / moments / 2).sum() + own + wheels


def wrench(state, body):
    """A force, a torque in world axes and a torque in body axes, of everything that has axes."""
    p, v, angular, w = state.linear_momentum, state.velocity, state.angular_momentum, state.angular_velocity
    inside = by_tensor(body, state.angular_velocity_body)
    force = tuple(-a / 4 + body.mass * b / 2 - c / 8 for a, b, c in zip(p, PROBE, v, strict=True))
    torque = tuple(-a / 8 - b / 16 for a, b in zip(angular, w, strict=True))
    size = summary(state, body) / 8
    torque_body = tuple(
        -a / 4 + b / 2 + size * c for a, b, c in zip(inside, by_moments(body, PROBE), PROBE, strict=True)
    )
    return force, torque, torque_body


def wrench_of(b):
    turned, probe = b.attitude @ PROBE, np.array(PROBE)
    momenta = b.momenta
    force = -momenta[:3] / 4 + b.mass * probe / 2 - b.center_velocity / 8
    torque = -momenta[3:6] / 8 - b.w / 16
    return force, torque - b.tensor @ b.w / 4 + b.tensor @ turned / 2 + summary_of(b) / 8 * turned


def own_energy(t, state, body, params):
    return body.mass * ph.dot(PROBE, state.position) + t * summary(state, body)


def energy_of(t, b):
    return b.mass * np.dot(PROBE, b.center) + t * summary_of(b)


@ph.force(potential=own_energy)
def own_force(t, state, body, params):
    force, torque, torque_body = wrench(state, body)
    inside = ph.to_world(state.orientation, torque_body)
    return force, tuple(a + b for a, b in zip(torque, inside, strict=True))


@ph.force(axes="body", potential=own_energy)
def own_force_in_body_axes(t, state, body, params):
    force, torque, torque_body = wrench(state, body)
    outside = ph.to_body(state.orientation, torque)
    return force, tuple(a + b for a, b in zip(outside, torque_body, strict=True))


@ph.pair_force
def own_pair_force(t, state_a, body_a, state_b, body_b, params):
    force, torque, _ = wrench(state_a, body_a)
    other, _, _ = wrench(state_b, body_b)
    turn = tuple(summary(state_b, body_b) / 8 * c for c in PROBE)
    return tuple(a - b for a, b in zip(force, other, strict=True)), torque, turn


def pair_of(t, a, b):
    force, other = wrench_of(a)[0], wrench_of(b)[0]
    torque = -a.momenta[3:6] / 8 - a.w / 16
    return spread(a, force - other, torque), spread(b, other - force, summary_of(b) / 8 * np.array(PROBE))


OWN = (
    Case(own_force(), lambda t, b: spread(b, *wrench_of(b)), energy_of),
    Case(own_force_in_body_axes(), lambda t, b: spread(b, *wrench_of(b)), energy_of),
)
OWN_PAIR = Case(own_pair_force(0, 2), pair_of)


@ph.event
def late(t, state, body, params):
    return t - 1 / 5 + summary(state, body) / 2000


def kick(t, state, body, params):
    force, torque, torque_body = wrench(state, body)
    turn = ph.to_world(state.orientation, torque_body)
    return tuple(c / 4 for c in force), tuple((a + b) / 4 for a, b in zip(torque, turn, strict=True))


def change_on(body):
    return Change(
        lambda t, b: t - 1 / 5 + summary_of(b) / 2000, lambda t, b: tuple(part / 4 for part in wrench_of(b)), body
    )


def motor(i):
    def drive(t, state, body, params):
        return summary(state, body) / 8 - state.rotor_speed[i] / 10 + state.rotor_momentum[i] / 20

    return drive


def motor_of(k):
    return lambda t, b: summary_of(b) / 8 - b.speeds[k] / 10 + b.momenta[6 + k] / 20


# Parts ----------------------------------------------------------------------------------------------------------------
def wheel(i=0, k=0):
    """Wheel i of the scenario and k of its body."""
    axis = np.array(((0.36, 0.48, 0.8), (1.0, 0.0, 0.0))[i])
    center = np.array(((0.2, -0.1, 0.1), (-0.2, 0.2, 0.0))[i])
    mass, radius, speed = ((1.5, 0.5, 7.0), (0.8, 0.4, -4.0))[i]
    return Wheel(axis, center, mass, radius, speed, motor(i), motor_of(k))


def fluid(seed):
    matrix = np.random.default_rng(seed).normal(size=(6, 6))
    return matrix @ matrix.T


BURNING = {"nozzle": np.array((0.1, -0.4, -0.9)), "exhaust_velocity": np.array((0.4, -0.3, -2.0))}
LOSSES = -np.linspace(0.4, 1.4, 8)
"""A good part of every particle in the 0.3 s of a run: the center moves, and the principal axes turn."""


def along_its_axes():
    """Pairs of particles on both sides of the axes, which lose alike: the tensor stays diagonal, the center moves."""
    places = np.array(
        [(0.7, 0, 0.4), (-0.7, 0, 0.4), (0, 0.5, 0.1), (0, -0.5, 0.1), (0.2, 0.2, -0.6), (-0.2, -0.2, -0.6),
         (0.2, -0.2, -0.6), (-0.2, 0.2, -0.6)]
    )  # fmt: skip
    masses = np.array((2.0, 2.0, 1.5, 1.5, 1.0, 1.0, 1.0, 1.0))
    places -= masses @ places / masses.sum()
    rates = -np.array((3.0, 3.0, 1.0, 1.0, 0.2, 0.2, 0.2, 0.2))
    return Cloud(masses, places, rates=rates, **BURNING)


def of_the_mass_alone():
    made = cloud(1, 8)
    masses, places = np.append(made.masses, 5.0), np.vstack([made.places, np.zeros(3)])
    return Cloud(masses, places, rates=np.append(np.zeros(8), -9.0), changes_mass_alone=True, **BURNING)


def box(size, mass):
    """Eight particles with the inertia of a box."""
    corners = np.array(np.meshgrid(*[(-1, 1)] * 3)).reshape(3, -1).T * np.array(size) / np.sqrt(12)
    return Cloud(np.full(8, mass / 8), corners, own_body=ph.shapes.box(size, mass=mass))


FLOOR = {"contacts": [ph.floor(0.5, 0.3, height=-40.0)]}
FLOOR_AND_BODIES = {"contacts": [*FLOOR["contacts"], ph.between_bodies(0.5, 0.3)]}
BOXES = (box((0.4, 0.5, 0.7), 12.0), box((0.6, 0.3, 0.2), 9.0), box((0.3, 0.3, 0.9), 11.0))
WET = cloud(1, 8, added=fluid(4))
PARTS = {
    "pivot": Part((cloud(1, 8),), PIVOT),
    "system": Part((cloud(1, 8), cloud(2, 9), cloud(3, 8)), acting=(0, 2)),
    "rotors": Part((cloud(1, 8, wheels=(wheel(0), wheel(1, 1))),)),
    "rotors, pivot": Part((cloud(1, 8, wheels=(wheel(0), wheel(1, 1))),), PIVOT),
    "rotors, system": Part(
        (cloud(1, 8, wheels=(wheel(0),)), cloud(2, 9), cloud(3, 8, wheels=(wheel(1),))), acting=(0, 2)
    ),
    "added mass": Part((WET,)),
    "added mass, rotors": Part((cloud(1, 8, added=fluid(4), wheels=(wheel(0), wheel(1, 1))),)),
    "added mass, rotors, system": Part(
        (cloud(1, 8, added=fluid(4), wheels=(wheel(0),)), cloud(2, 9), cloud(3, 8, added=fluid(5))), acting=(0, 2)
    ),
    "mass course": Part((cloud(1, 8, rates=LOSSES, **BURNING),)),
    "mass course, rotors": Part((cloud(1, 8, rates=LOSSES, wheels=(wheel(0), wheel(1, 1)), **BURNING),)),
    "mass course along its axes": Part((along_its_axes(),)),
    "mass course of the mass alone": Part((of_the_mass_alone(),)),
    "contacts": Part(BOXES[:1], settings=MappingProxyType(FLOOR)),
    "contacts, system": Part(BOXES, acting=(0, 2), settings=MappingProxyType(FLOOR_AND_BODIES)),
}  # fmt: skip


def cases_of(part, names):
    return [CASES[name] for name in names if PARTS[part].is_system or name not in PAIRS]


# The tests ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("names", TOGETHER)
@pytest.mark.parametrize("part", PARTS)
def test_all_forces_of_the_library_against_the_sum_over_particles(part, names):
    check(*run(cases_of(part, TOGETHER[names]), PARTS[part], method="dop853"))


def own_run(part, **settings):
    """Everything that a user can write, on one part: forces, motors, an event that changes the momenta."""
    cases = [*OWN, SINGLE["impulse body axes"], *([OWN_PAIR] if PARTS[part].is_system else [])]
    if "contacts" in part:  # these have no events
        return run(cases, PARTS[part], **settings)
    event = late(change=kick, count=1)
    return run(cases, PARTS[part], event.on(0), change_on(0), **settings)


@pytest.mark.parametrize("part", PARTS)
def test_all_functions_of_a_user_against_the_sum_over_particles(part):
    """With steps of their own length, and where there are no contacts with ones of a fixed length."""
    motion, reference = own_run(part, method="dop853", engine="python")
    expected = check(motion, reference)
    if "contacts" not in part:
        motion, _ = own_run(part, method="rk4", step=1e-3)
        check(motion, reference, expected)


def test_a_change_in_closed_forms_against_the_sum_over_particles():
    part = Part(PARTS["pivot"].clouds)
    check(*run([SINGLE["gravity"]], part, late(change=kick, count=1), change_on(0), method="exact"))


@pytest.mark.parametrize("part", ["free", "pivot", "system"])
def test_all_functions_of_a_user_in_taylor_series_against_the_sum_over_particles(part):
    pytest.importorskip("heyoka")
    made = PARTS.get(part, Part(PARTS["pivot"].clouds))
    cases = [*OWN, SINGLE["impulse body axes"], *([OWN_PAIR] if made.is_system else [])]
    check(*run(cases, made, late(change=kick, count=1).on(0), change_on(0), method="taylor"))


# Every path has the bits of `ph.simulate` -----------------------------------------------------------------------------
FREE = [part for part in PARTS if "contacts" not in part]
"""Parts that every method takes."""
STEPS = {"rk4": {"method": "rk4", "step": 0.01}, "dop853": {"method": "dop853"}}


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("part", FREE)
def test_own_functions_in_plain_python_and_in_a_stepper_have_the_bits_of_simulate(part, steps):
    motion = own_run(part, **STEPS[steps])[0]
    plain = own_run(part, **STEPS[steps], engine="python")[0]
    assert (plain.run_result.samples == motion.run_result.samples).all()
    stepper = ph.Stepper(motion.scenario)
    stepper.advance_to(motion.times[-1])
    states = stepper.state if PARTS[part].is_system else [stepper.state]
    found = motion.final if PARTS[part].is_system else [motion.final]
    for state, final in zip(states, found, strict=True):
        assert (state.velocity == final.velocity).all()
        assert (state.angular_velocity_body == final.angular_velocity_body).all()


@pytest.fixture
def gpu(monkeypatch):
    monkeypatch.setattr(kernel_program, "gpus", lambda: [HostGpu()])


@pytest.mark.parametrize(
    "part", ["rotors", "added mass, rotors", "mass course, rotors", "mass course", "rotors, system"]
)
@pytest.mark.parametrize("engine", ["cpu", "gpu"])
def test_own_functions_in_ensembles_have_the_bits_of_simulate(part, engine, gpu):
    alone = own_run(part, **STEPS["rk4"])[0]
    scenario = alone.scenario
    spins = np.linspace(0.5, 1.5, 5)[:, None]
    first = scenario.states[0]
    moved = first.replace(angular_velocity_body=first.angular_velocity_body * spins)
    states = [moved, *scenario.states[1:]] if PARTS[part].is_system else moved
    bodies = scenario.bodies if PARTS[part].is_system else scenario.bodies[0]
    one = ph.ensemble(replace(scenario, body=bodies, state=states, engine=engine)).member(2)
    numbers = alone.run_result.columns.state
    assert (one.run_result.samples[..., numbers] == alone.run_result.samples[..., numbers]).all()
    assert [crossing.time for crossing in one.crossings] == [crossing.time for crossing in alone.crossings]


@pytest.mark.parametrize("part", ["rotors", "mass course, rotors"])
def test_a_motion_of_own_functions_in_an_archive_and_between_its_samples(part, tmp_path):
    case = [*OWN, SINGLE["impulse body axes"]]
    motion, reference = run(case, PARTS[part], method="dop853")
    motion.save(tmp_path / "motion.zarr")
    kept = ph.load(tmp_path / "motion.zarr")
    assert (kept.rotor_speed == motion.rotor_speed).all()
    assert (kept.kinetic_energy == motion.kinetic_energy).all()
    found = motion.at(0.25)
    expected = reference.solve(np.array((0.25, 0.3)))[0]
    close(found.angular_velocity, expected[15:18])
    close(found.velocity, expected[12:15])


# What does not go together --------------------------------------------------------------------------------------------
COURSE = PARTS["mass course"].clouds[0]
BOX, LIFTED = BOXES[0].body, ph.State(position=(0, 0, 5.0))
WHEEL, MATRIX = ph.rotor((0, 0, 1), 0.01, speed=3.0), np.eye(6)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            {"mass_course": COURSE.mass_course(1.0), "pivot": (0, 0, 1)},
            "mass changes cannot have a pivot yet: leave out",
        ),
        (
            {"mass_course": COURSE.mass_course(1.0), "added_mass": MATRIX},
            "cannot have a mass that changes yet: leave out",
        ),
        (
            {"mass_course": COURSE.mass_course(1.0), "body": [COURSE.body] * 2},
            "that of one body: give the body by itself",
        ),
        ({"added_mass": MATRIX, "pivot": (0, 0, 1)}, "added mass cannot have a pivot yet: leave out"),
        ({"rotors": [WHEEL], **FLOOR}, "rotors cannot have contacts yet: leave them out"),
        ({"added_mass": MATRIX, **FLOOR}, "added mass cannot have contacts yet: leave them out"),
        ({"mass_course": COURSE.mass_course(1.0), **FLOOR}, "a mass that changes cannot have contacts yet: leave them"),
        ({"pivot": (0, 0, 1), "body": BOX, "state": ph.State(), **FLOOR}, "contacts and a pivot do not go together"),
        (
            {"events": [late()], "body": BOX, **FLOOR},
            "contacts and events do not go together: leave out the event late",
        ),
        (
            {"rotors": [WHEEL], "method": "taylor"},
            "'taylor' does not advance rotors: use 'auto', or one of euler, midpoint, rk4",
        ),
        ({"rotors": [WHEEL], "method": "splitting4", "step": 0.1}, "'splitting4' does not advance rotors: use 'auto'"),
        ({"rotors": [WHEEL], "formulation": "body_rates"}, "formulation 'momentum', not in 'body_rates': leave"),
        ({"forces": [OWN_PAIR.force]}, "own_pair_force acts between bodies: give at least two, in a list"),
    ],
)
def test_what_does_not_go_together_is_refused_in_a_sentence(settings, sentence):
    given = {"body": COURSE.body, "duration": 1.0, **settings}
    states = [LIFTED] * len(given["body"]) if isinstance(given["body"], list) else LIFTED
    state = states if "pivot" not in settings else ph.State()
    with pytest.raises(PolhodeError, match=re.escape(sentence)):
        ph.simulate(**{"state": state, **given})
