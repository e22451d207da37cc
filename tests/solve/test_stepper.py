"""`ph.Stepper` against `ph.simulate`, to the bit, and against closed forms."""

import numpy as np
import pytest
import trimesh
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.errors import RunError, ScenarioError
from polhode.methods.registry import METHODS as METHODS_BY_NAME

BODY = ph.Body(mass=2.0, inertia=(1.0, 2.0, 2.5))
START = ph.State(position=(1, 2, 3), velocity=(0.1, 0.2, 0.3), angular_velocity_body=(0.3, 1.0, -0.5))
FIELD = [ph.forces.gravity(), ph.forces.linear_drag(0.1)]
STEPS = ["euler", "midpoint", "rk4", "leapfrog", "splitting2", "splitting4", "splitting4_exact", "splitting6"]
METHODS = [*STEPS, "dop853", "taylor"]


def settings(method):
    return {"method": method, **({"step": 1 / 64} if METHODS_BY_NAME[method].needs_step else {})}


def same_state(one, other):
    names = ("position", "velocity", "quaternion_wxyz", "angular_velocity_body")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


@pytest.mark.parametrize("method", METHODS)
def test_one_advance_has_the_bits_of_simulate(method):
    stepper = ph.Stepper(BODY, START, FIELD, **settings(method))
    stepper.advance(1.0)
    motion = ph.simulate(BODY, START, FIELD, duration=1.0, output_times=[1.0], **settings(method))
    assert stepper.time == 1.0
    if method == "taylor":  # its loads are symbols of their own
        assert stepper.state.position == pytest.approx(motion.final.position, rel=1e-12)
    else:
        assert same_state(stepper.state, motion.final)


@pytest.mark.parametrize("method", METHODS)
def test_save_and_restore_are_exact(method):
    stepper = ph.Stepper(BODY, START, FIELD, **settings(method))
    stepper.set_loads(force=(1, 0, 0), torque_body=(0, 0.1, 0))
    stepper.advance(0.3)
    token = stepper.save()
    stepper.advance(0.2)
    stepper.advance(0.15)
    first = stepper.state
    for _ in range(2):  # a token can be restored again and again
        stepper.restore(token)
        assert stepper.time == 0.3
        stepper.advance(0.2)
        stepper.advance(0.15)
        assert same_state(stepper.state, first)


def test_a_motion_without_forces_is_exact_at_any_time():
    stepper = ph.Stepper(BODY, START, method="exact")
    for k in range(1, 8):
        stepper.advance_to(k / 7)
    motion = ph.simulate(BODY, START, duration=1.0, method="exact")
    assert same_state(stepper.state, motion.final)
    with pytest.raises(ScenarioError, match="closed form"):
        stepper.set_loads(force=(1, 0, 0))


@pytest.mark.parametrize("method", ["rk4", "dop853", "taylor"])
def test_constant_loads_against_the_parabola_and_the_spin_up(method):
    """F/m t^2/2 along the world's x, and torque/I t about a principal axis of the body."""
    stepper = ph.Stepper(BODY, **settings(method))
    stepper.set_loads(force=(3.0, 0, 0), torque_body=(0, 0, 0.5))
    stepper.advance(2.0)
    assert stepper.state.position == pytest.approx((3.0, 0, 0), abs=1e-9)
    assert stepper.state.angular_velocity_body == pytest.approx((0, 0, 0.4), abs=1e-9)
    stepper.set_loads()
    stepper.advance(1.0)
    assert stepper.state.velocity == pytest.approx((3.0, 0, 0), abs=1e-9)


def test_a_force_in_body_axes_turns_with_the_body():
    """A quarter turn about z in 1 s: the mean of a force along the body's x is (2/pi, 2/pi)."""
    spin = ph.State(angular_velocity_body=(0, 0, np.pi / 2))
    stepper = ph.Stepper(ph.Body(mass=1.0, inertia=(1, 1, 1)), spin, method="dop853", rtol=1e-12)
    stepper.set_loads(force_body=(1.0, 0, 0))
    stepper.advance(1.0)
    assert stepper.state.velocity == pytest.approx((2 / np.pi, 2 / np.pi, 0), abs=1e-11)


def test_impulses_and_windows_act_where_they_should():
    """0.5 s of 4 N on 2 kg, then an impulse of 3 N s: across the edges in one advance, or step by step."""
    forces = [
        ph.forces.thruster((0, 0, 0), (1.0, 0, 0), 4.0, start=0.25, stop=0.75),
        ph.forces.impulse((3.0, 0, 0), time=1.0),
    ]
    for parts in ([2.0], [0.1] * 20):
        stepper = ph.Stepper(BODY, forces=forces, method="rk4", step=0.01)
        for part in parts:
            stepper.advance(part)
        assert stepper.state.velocity[0] == pytest.approx(2.5, rel=1e-12)


@pytest.mark.parametrize("method", ["rk4", "dop853"])
def test_a_system_takes_loads_on_each_body(method):
    bodies, states = [ph.particle(1.0), ph.particle(2.0)], [ph.State(), ph.State(position=(1, 0, 0))]
    stepper = ph.Stepper(bodies, states, [ph.forces.spring_between(0, 1, 5.0)], **settings(method))
    stepper.set_loads(force=(1.0, 0, 0), body=0)
    stepper.set_loads(force=(0.5, 0, 0), body=1)
    stepper.advance(1.0)
    momentum = sum(m * s.velocity for m, s in zip((1.0, 2.0), stepper.state, strict=True))
    assert momentum == pytest.approx((1.5, 0, 0), abs=1e-9)


def test_events_on_the_way_are_returned_and_a_stop_ends_the_advance():
    @ph.event
    def height(t, state, body, params):
        return state.position[2] - params[0]

    start, events = ph.State(position=(0, 0, 5.0)), [height(3.75, action="record"), height(0.0)]
    stepper = ph.Stepper(ph.particle(1.0), start, [ph.forces.gravity(10.0)], events=events, method="rk4", step=0.01)
    assert stepper.advance(0.4) == []
    assert [round(e.time, 12) for e in stepper.advance(0.4)] == [0.5]
    assert [round(e.time, 12) for e in stepper.advance(0.4)] == [1.0]
    assert stepper.time == pytest.approx(1.0, rel=1e-13)
    with pytest.raises(ScenarioError, match="stopped"):
        stepper.advance(0.1)


def test_time_goes_forward_and_what_fails_says_so():
    stepper = ph.Stepper(BODY, START, FIELD, method="rk4", step=0.01)
    stepper.advance(0.5)
    with pytest.raises(ScenarioError, match="forward"):
        stepper.advance_to(0.25)
    stepper.set_loads(force=(1e308, 0, 0))
    with pytest.raises(RunError, match="infinite or NaN") as error:
        stepper.advance(100.0)
    assert np.isfinite(error.value.last_good.position).all()
    assert error.value.time >= 0.5


def test_it_takes_a_scenario_and_refuses_members():
    scenario = ph.Scenario(BODY, START, FIELD, duration=1.0, method="rk4", step=1 / 64)
    stepper = ph.Stepper(scenario)
    stepper.advance(1.0)
    assert same_state(stepper.state, ph.simulate(scenario).final)
    many = ph.State(velocity=[(1, 0, 0), (2, 0, 0)])
    with pytest.raises(ScenarioError, match=r"ph\.ensemble"):
        ph.Stepper(BODY, many, method="rk4", step=0.1)


# Partner of another program -------------------------------------------------------------------------------------------
@ph.event
def height(t, state, body, params):
    return state.position[2] - params[0]


def bounce(height_of_floor):
    return height(height_of_floor, change=lambda t, state, body, params: (
        (0.0, 0.0, -2 * state.linear_momentum[2]), (0.0, 0.0, 0.0)))  # fmt: skip


def bits(stepper):
    states = stepper.state if stepper.scenario.is_system else [stepper.state]
    names = ("position", "velocity", "quaternion_wxyz", "angular_velocity_body")
    return b"".join(np.asarray(getattr(state, name)).tobytes() for state in states for name in names)


def play(stepper, count, has_loads):
    """Advance with loads that change, stay and ramp; everything that can be seen on the way."""
    seen = []
    for k in range(count):
        if has_loads and k % 3 == 1:
            stepper.set_loads(force=(np.sin(k), 0, 0.1), torque_body=(0, 0.1 * np.cos(k), 0))
        if has_loads and k % 7 == 5:
            stepper.set_loads(force=(0, 1.0, 0), ramp_until=stepper.time + 0.03)
        happened = stepper.advance(0.0137)
        times = [] if happened is None else [each.time for each in happened]
        seen.append((stepper.time, times, bits(stepper)))
    return seen


def steppers_of(method):
    free = METHODS_BY_NAME[method].is_closed_form
    forces = [] if free else [ph.forces.gravity(), ph.forces.linear_drag(0.1)]
    start = START.replace(position=(1, 2, 0.5))
    yield ph.Stepper(BODY, start, forces, **settings(method))
    events = [height(0.4, action="record"), bounce(0.0)]
    yield ph.Stepper(BODY, start, forces, events=events, **settings(method))
    springs = [] if free else [ph.forces.spring_between(0, 1, 5.0)]
    yield ph.Stepper([BODY, BODY], [start, ph.State()], springs, **settings(method))


@pytest.mark.parametrize("method", METHODS_BY_NAME)
def test_a_thousand_advances_after_a_restore_have_the_same_bits(method):
    count = 12 if method == "taylor" else 1000
    for stepper in steppers_of(method):
        has_loads = method != "exact"
        if has_loads:
            stepper.set_loads(force=(0.3, 0, 0), torque=(0, 0, 0.1))
        stepper.advance(0.05)
        token, before = stepper.save(), bits(stepper)
        first = play(stepper, count, has_loads)
        for _ in range(2):
            stepper.restore(token)
            assert bits(stepper) == before
            assert play(stepper, count, has_loads) == first


@pytest.mark.parametrize("method", ["dop853", "exact"])
def test_a_thousand_advances_with_contacts_have_the_same_bits(method):
    box, start = ph.shapes.box((1, 2, 3), mass=2.0), ph.State(position=(0, 0, 3), angular_velocity_body=(0.3, 1, 0.2))
    floor = ph.floor(restitution=0.5, friction=0.3)
    stepper = ph.Stepper(box, start, [ph.forces.gravity()], contacts=[floor], method=method)
    count = 1000 if method == "dop853" else 200  # which passes through impacts, sliding and rest
    stepper.advance(0.3)
    token = stepper.save()
    first = play(stepper, count, method == "dop853")
    assert sum(len(times) for _, times, _ in first) > 5
    stepper.restore(token)
    assert play(stepper, count, method == "dop853") == first


@pytest.mark.parametrize("method", METHODS)
def test_the_load_comes_back_with_the_state(method):
    """Also where it is not set again: constant, linear, and at nodes."""
    stepper = ph.Stepper(BODY, START, FIELD, **settings(method))
    stepper.use_nodes([(1, 0, 0), (0, 2, 0)])
    stepper.set_loads(force=(1, 2, 3), nodal_forces=[(0, 1, 0), (0, 0, 3)])
    stepper.set_loads(force=(3, 2, 1), nodal_forces=[(0, 1, 0), (2, 0, 3)], ramp_until=0.4)
    stepper.advance(0.1)
    token = stepper.save()
    stepper.advance(0.5)
    first = bits(stepper)
    stepper.set_loads(torque=(5, 5, 5))
    stepper.advance(0.1)
    stepper.restore(token)
    stepper.advance(0.5)
    assert bits(stepper) == first


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("parts", [1, 5])
def test_a_linear_load_against_its_integral(method, parts):
    """From 1 N at t = 2 s to 3 N at t = 4 s, then constant to 5 s: on 2 kg a gain of (4 + 3)/2 m/s."""
    stepper = ph.Stepper(ph.Body(2.0, (1, 2, 3)), ph.State(time=2.0), **settings(method))
    stepper.set_loads(force=(1.0, 0, 0), torque_body=(0, 0, 3.0))
    stepper.set_loads(force=(3.0, 0, 0), torque_body=(0, 0, -3.0), ramp_until=4.0)
    for k in range(parts):
        stepper.advance_to(2.0 + 3.0 * (k + 1) / parts)
    exact = method not in ("euler", "leapfrog")  # of order 1; and of order 2, but with another rule for time
    assert stepper.state.velocity == pytest.approx((3.5, 0, 0), rel=1e-12 if exact else 1e-2, abs=1e-12)
    spin = stepper.state.angular_velocity_body
    assert spin == pytest.approx((0, 0, -1.0), rel=1e-12 if exact else 6e-2, abs=1e-12)


def test_linear_loads_of_a_partner_converge_faster_than_constant_ones():
    """A load cos t given every h: the error of the velocity falls with h for constant, with h^2 for linear loads."""
    errors = {}
    for kind in ("constant", "linear"):
        for n in (10, 20, 40):
            stepper = ph.Stepper(ph.particle(1.0), method="rk4", step=1e-2)
            stepper.set_loads(force=(1.0, 0, 0))
            for k in range(n):
                if kind == "constant":
                    stepper.set_loads(force=(np.cos(k / n), 0, 0))
                else:
                    stepper.set_loads(force=(np.cos((k + 1) / n), 0, 0), ramp_until=(k + 1) / n)
                stepper.advance_to((k + 1) / n)
            errors[kind, n] = abs(stepper.state.velocity[0] - np.sin(1.0))
    for kind, order in (("constant", 1), ("linear", 2)):
        rates = [np.log2(errors[kind, n] / errors[kind, 2 * n]) for n in (10, 20)]
        assert rates == pytest.approx([order] * 2, abs=0.05)


@pytest.mark.parametrize("method", ["rk4", "dop853", "taylor", "splitting4"])
def test_nodal_forces_against_forces_at_points(method):
    """World forces at points of the body, one `force_at` each, on a body whose axes are not its principal ones."""
    rng = np.random.default_rng(1)
    nodes, forces = rng.normal(size=(7, 3)), rng.normal(size=(7, 3))
    body = BODY.turn(Rotation.from_rotvec((0.3, -0.5, 0.2))).move((0.4, 0.1, -0.2))
    com = body.center_of_mass
    for axes in ("world", "body"):
        each = [ph.forces.force_at(f, r - com, axes=axes) for f, r in zip(forces, nodes, strict=True)]
        alone = ph.simulate(body, START, each, duration=1.0, output_times=[1.0], **settings(method)).final
        stepper = ph.Stepper(body, START, **settings(method))
        stepper.use_nodes(nodes)
        stepper.set_nodal_forces(forces, axes=axes)
        stepper.advance(1.0)
        assert stepper.state.position == pytest.approx(alone.position, rel=1e-9)
        assert stepper.state.quaternion_wxyz == pytest.approx(alone.quaternion_wxyz, abs=1e-9)
        assert stepper.state.angular_velocity_body == pytest.approx(alone.angular_velocity_body, rel=1e-8)


def test_nodal_forces_on_the_mesh_of_each_body():
    """Pressure on a closed surface pushes nowhere; the force on one node has its arm from the moving center of mass."""
    meshes = [trimesh.creation.icosphere(2), trimesh.creation.box((1, 2, 3))]
    bodies = [ph.Body.from_mesh(mesh, mass=2.0) for mesh in meshes]
    states = [ph.State(), ph.State(position=(10, 0, 0), velocity=(1, 2, 3))]
    stepper = ph.Stepper(bodies, states, method="dop853")
    stepper.set_nodal_forces(bodies[0].nodes, body=0)
    push = np.zeros((8, 3))
    push[5] = 0.4, 0, 0
    stepper.set_nodal_forces(push, body=1, axes="body")
    stepper.advance(0.5)
    ball, box = stepper.state
    assert np.abs(ball.velocity).max() < 1e-13
    arm, moments = bodies[1].nodes[5], bodies[1].inertia
    rate = np.linalg.solve(moments, np.cross(arm, (0.4, 0, 0)))
    alone = ph.Stepper(bodies[1], states[1], method="dop853")
    alone.set_loads(force_body=(0.4, 0, 0), torque_body=moments @ rate)
    alone.advance(0.5)
    assert same_state(box, alone.state) or box.position == pytest.approx(alone.state.position, rel=1e-12)


@pytest.mark.parametrize(
    ("attempt", "sentence"),
    [
        (lambda s: s.set_loads(force=(1, np.nan, 0)), "force must be finite"),
        (lambda s: s.set_loads(torque=(np.inf, 0, 0)), "torque must be finite"),
        (lambda s: s.set_loads(force=(1, 2)), r"force must be 3 numbers, but has the shape \(2,\)"),
        (lambda s: s.set_loads(force_body=np.zeros((3, 1))), r"must be 3 numbers, but has the shape \(3, 1\)"),
        (lambda s: s.set_loads(force=np.ones((4, 3))), "must be 3 numbers"),
        (lambda s: s.set_loads(force=5.0), "must be 3 numbers"),
        (lambda s: s.set_loads(torque_body="up"), "torque_body must be 3 numbers"),
        (lambda s: s.set_loads(force=(1, 2, None)), "force must be 3 numbers"),
        (lambda s: s.set_loads(force=(10**400, 0, 0)), "force must be"),
        (lambda s: s.set_loads(body=1), "there is one body, 0"),
        (lambda s: s.set_loads(force=(1, 0, 0), ramp_until=0.5), "is not after the present"),
        (lambda s: s.set_loads(force=(1, 0, 0), ramp_until=np.nan), "ramp_until must be finite"),
        (lambda s: s.set_nodal_forces(np.zeros((12, 3))), "12, 3.*8 nodes.*nodes of another mesh"),
        (lambda s: s.set_nodal_forces(np.zeros(24)), "8 nodes"),
        (lambda s: s.set_loads(force=(1, 0, 0), nodal_forces=np.full((8, 3), np.nan)), "force on node 0 is"),
        (lambda s: s.set_nodal_forces([["a"] * 3] * 8), "must be 8 x 3 numbers"),
        (lambda s: s.set_nodal_forces([["1.5"] * 3] * 8), "must be 8 x 3 numbers"),
        (lambda s: s.set_nodal_forces(np.array([["1.5"] * 3] * 8)), "must be 8 x 3 numbers"),
        (lambda s: s.set_nodal_forces(np.full((8, 3), 1 + 2j)), "must be 8 x 3 numbers"),
        (lambda s: s.set_nodal_forces(np.full((8, 3), True)), "must be 8 x 3 numbers"),
        (lambda s: s.set_nodal_forces(np.ma.masked_equal(np.eye(8, 3), 1)), "some are masked"),
        (lambda s: s.set_loads(forces=(1, 0, 0)), "set_loads has no argument 'forces'.*'force'"),
        (lambda s: s.set_nodal_forces(np.zeros((8, 3)), axes="earth"), "'world' or in 'body'"),
        (lambda s: s.set_nodal_forces(np.full((8, 3), 1e308)), "overflows"),
        (lambda s: s.use_nodes(np.zeros((4, 2))), "nodes must be 3 numbers a point"),
        (lambda s: s.advance(0.0), "by nothing"),
        (lambda s: s.advance(1e-30), "by nothing"),
        (lambda s: s.advance(-0.1), "time goes forward"),
        (lambda s: s.advance_to(0.25), "time goes forward"),
        (lambda s: s.advance(np.nan), "time goes forward"),
        (lambda s: s.advance(np.inf), "time goes forward"),
        (lambda s: s.advance("1"), "duration must be a number"),
        (lambda s: s.advance(10**400), "duration must be a number"),
        (lambda s: s.advance((1.0, 2.0)), "duration must be"),
        (lambda s: s.advance_to(None), "time must be a number"),
        (lambda s: s.restore(None), "what `save` of the same stepper has returned"),
        (lambda s: s.restore(ph.Stepper(BODY, method="rk4", step=1.0).save()), "of the same stepper"),
    ],
)
@pytest.mark.parametrize("method", ["rk4", "dop853"])
def test_what_is_refused_gets_a_sentence_and_changes_nothing(method, attempt, sentence):
    cube = ph.Body.from_mesh(trimesh.creation.box((1, 1, 1)), mass=6.0)
    stepper = ph.Stepper(cube, START, FIELD, **settings(method))
    stepper.set_loads(force=(0.1, 0.2, 0.3), torque=(0.1, 0, 0))
    stepper.advance(0.5)
    untouched = stepper.save()
    stepper.advance(0.5)
    expected = bits(stepper)
    stepper.restore(untouched)
    before = bits(stepper)
    with pytest.raises(ScenarioError, match=sentence):
        attempt(stepper)
    assert (stepper.time, bits(stepper)) == (0.5, before)
    stepper.advance(0.5)
    assert bits(stepper) == expected


@pytest.mark.parametrize("method", ["rk4", "dop853", "taylor"])
def test_a_motion_that_fails_stays_where_it_was(method):
    stepper = ph.Stepper(BODY, START, FIELD, **settings(method))
    stepper.advance(0.25)
    before = bits(stepper)
    stepper.set_loads(force=(1e308, 0, 0))
    with pytest.raises(RunError):
        stepper.advance(100.0)
    assert (stepper.time, bits(stepper)) == (0.25, before)
    stepper.set_loads()
    stepper.advance(0.25)
    other = ph.Stepper(BODY, START, FIELD, **settings(method))
    other.advance(0.25)
    other.advance(0.25)
    assert stepper.state.position == pytest.approx(other.state.position, rel=1e-9)


def test_a_body_of_a_shape_has_no_nodes():
    stepper = ph.Stepper(ph.shapes.box((1, 1, 1), mass=1.0), method="rk4", step=0.1)
    with pytest.raises(ScenarioError, match="was not made from a mesh"):
        stepper.set_nodal_forces(np.zeros((8, 3)))


def test_impacts_of_an_advance_are_reported():
    """A ball from 4.903325 m lands after 1 s at 9.80665 m/s; with restitution 0.5 it is back 1 s later, and so on."""
    ball, start = ph.shapes.sphere(0.1, mass=2.0), ph.State(position=(0, 0, 0.1 + 4.903325))
    floor = ph.floor(restitution=0.5)
    stepper = ph.Stepper(ball, start, [ph.forces.gravity()], contacts=[floor])
    assert len(stepper.advance(0.9)) == 0
    assert stepper.contact_state == "flight"
    impacts = stepper.advance(0.9)
    assert impacts.time == pytest.approx([1.0], rel=1e-9)
    assert impacts[0].normal_impulse == pytest.approx(2.0 * 1.5 * 9.80665, rel=1e-9)
    assert (impacts[0].surface, impacts[0].body) == ("floor", 0)
    assert stepper.advance(0.1).time.size == 0
    stepper.advance(2.0)
    assert stepper.contact_state == "resting"
    assert stepper.contact_forces == pytest.approx((0, 0, 2.0 * 9.80665), rel=1e-9)
    stepper.set_loads(force=(0, 0, 5.0))
    stepper.advance(0.1)
    assert stepper.contact_forces == pytest.approx((0, 0, 2.0 * 9.80665 - 5.0), rel=1e-9)
    stepper.set_loads(force=(0, 0, 25.0))
    stepper.advance(0.1)
    assert stepper.contact_state == "flight"


@pytest.mark.parametrize("method", ["rk4", "dop853", "taylor"])
def test_events_beyond_the_duration_are_found_and_carry_their_state(method):
    """Thrown up at 20 m/s from the ground with g = 10 m/s2: at 15 m after 1 s and 3 s, on the ground after 4 s."""
    start, events = ph.State(velocity=(0, 0, 20.0)), [height(15.0, action="record"), height(-1e-9)]
    stepper = ph.Stepper(ph.particle(1.0), start, [ph.forces.gravity(10.0)], events=events, **settings(method))
    found = [event for _ in range(10) if stepper.time <= 4.0 for event in stepper.advance(0.5)]
    assert [event.time for event in found] == pytest.approx([1.0, 3.0, 4.0], rel=1e-6)
    assert [float(event.state.velocity[2]) for event in found] == pytest.approx([10.0, -10.0, -20.0], rel=1e-6)
    assert [event.ends for event in found] == [False, False, True]


def test_independent_bodies_fail_as_one():
    """Two bodies in lanes: the second one's overflow is noticed, also on the short way."""
    for method in ("rk4", "dop853"):
        stepper = ph.Stepper([BODY, BODY], [START, START], FIELD, **settings(method))
        stepper.advance(0.1)
        stepper.set_loads(force=(1e308, 0, 0), body=1)
        with pytest.raises(RunError) as error:
            stepper.advance(50.0)
        assert error.value.body == 1
        assert stepper.time == 0.1


# What was recorded ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", ["rk4", "dop853", "taylor"])
def test_a_recorded_motion_has_the_states_of_the_stepper_without_those_taken_back(method, tmp_path):
    cube = ph.Body.from_mesh(trimesh.creation.box((1, 1, 1)), mass=6.0)
    stepper = ph.Stepper(cube, START, FIELD, **settings(method))
    states = [stepper.state]
    for k in range(4):
        token = stepper.save()
        stepper.set_loads(force=(100.0, 0, 0))
        stepper.advance(0.5)
        stepper.record()
        stepper.restore(token)
        stepper.set_loads(torque=(0, 0.1 * k, 0))
        stepper.advance(0.4)
        stepper.record()
        states.append(stepper.state)
    motion = stepper.recorded
    assert np.array_equal(motion.times, [state.time for state in states])
    assert np.array_equal(motion.position, [state.position for state in states])
    assert np.array_equal(motion.angular_velocity_body, [state.angular_velocity_body for state in states])
    with pytest.raises(ScenarioError, match="the loads on the stepper"):
        motion.at(0.1)
    with pytest.raises(ScenarioError, match="the loads on the stepper"):
        _ = motion.acceleration
    motion.save(tmp_path / "coupled.zarr")
    assert np.array_equal(ph.load(tmp_path / "coupled.zarr").position, motion.position)
    motion.export_paraview(tmp_path / "coupled.pvd")
    assert len(list((tmp_path / "coupled").iterdir())) == 5
    assert np.array_equal(motion.nodes().positions(float(motion.times[2])), motion.points(cube.nodes)[2])


def test_a_recorded_motion_with_contacts_and_with_several_bodies():
    balls = [ph.shapes.sphere(0.1, mass=2.0), ph.shapes.sphere(0.2, mass=1.0)]
    starts = [ph.State(position=(0, 0, 1.0)), ph.State(position=(1, 0, 2.0))]
    stepper = ph.Stepper(balls, starts, [ph.forces.gravity()], contacts=[ph.floor(restitution=0.5)])
    for _ in range(3):
        stepper.advance(0.7)
        stepper.record()
    heights = stepper.recorded.position[..., 2]
    assert heights.shape == (4, 2)
    assert heights[-1].tolist() == [float(state.position[2]) for state in stepper.state]


def test_times_of_numpy_are_times():
    stepper, other = (ph.Stepper(BODY, START, FIELD, method="rk4", step=0.01) for _ in range(2))
    for step in (np.float64(0.1), np.float32(0.25), 1, np.int64(1)):
        stepper.advance(step)
        other.advance(float(step))
    stepper.advance_to(np.float64(3.0))
    other.advance_to(3.0)
    assert type(stepper.time) is float
    assert bits(stepper) == bits(other)
