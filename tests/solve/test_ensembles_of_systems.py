"""An ensemble of systems: every member has the bits that it has alone."""

import numpy as np
import pytest

import polhode as ph
from polhode.errors import InputError

MEMBERS = 11
RNG = np.random.default_rng(7)
MASSES, PULLS, DRAGS = RNG.uniform(1, 2, MEMBERS), RNG.uniform(1, 2, MEMBERS), RNG.uniform(0.1, 0.3, MEMBERS)
PLACES = RNG.random((MEMBERS, 3))


@ph.pair_force
def pull(t, a, body_a, b, body_b, params):
    return tuple(params[0] * (y - x) for x, y in zip(a.position, b.position, strict=True)), (0, 0, 0), (0, 0, 0)


@ph.event
def passes(t, state, body, params):
    return state.position[0] - params[0]


def system(which, **settings):
    """The whole ensemble, or one member as a scenario of its own."""

    def of(numbers):
        return numbers if which is None else numbers[which]

    bodies = [ph.Body(mass=1.0, inertia=(1, 2, 2.5)), ph.Body(mass=of(MASSES), inertia=(1, 2, 2.5)), ph.particle(3.0)]
    states = [
        ph.State(position=of(PLACES)),
        ph.State(position=(2, 0, 0), angular_velocity_body=(1, 2, 3)),
        ph.State(position=(0, 3, 0)),
    ]
    forces = [
        ph.forces.gravity().on(0),
        pull(0, 1, of(PULLS)),
        pull(1, 2, 0.7),
        ph.forces.linear_drag(of(DRAGS)),
        ph.forces.impulse((0.5, 0.0, 0.0), time=0.3).on(1),
    ]
    return ph.Scenario(bodies, states, forces, duration=1.0, output_step=0.25, **settings)


EVENTS = {"none": [], "recorded": [passes(0.5, action="record")], "stopping": [passes(1.5)]}


@pytest.mark.parametrize("events", EVENTS)
@pytest.mark.parametrize("method", ["rk4", "splitting4", "dop853", "taylor"])
def test_every_member_has_the_bits_that_it_has_alone(method, events):
    settings = {"method": method, "events": EVENTS[events], "step": 0.01 if method in ("rk4", "splitting4") else None}
    motion = ph.ensemble(system(None, **settings))
    assert motion.axes == ("member", "body")
    assert motion.position.shape == (5, MEMBERS, 3, 3)
    for i in (0, 4, MEMBERS - 1):
        alone, member = ph.simulate(system(i, **settings)), motion.member(i)
        count = len(member.times)
        assert count == len(alone.times) - (alone.times[-1] < 1.0 and alone.times[-1] not in motion.times)
        for name in ("position", "quaternion_wxyz", "angular_velocity", "acceleration", "energy"):
            assert np.array_equal(getattr(alone, name)[:count], getattr(member, name)[:count]), name
            assert getattr(motion, name)[:count, i] == pytest.approx(getattr(member, name)[:count], nan_ok=True)
        assert [c.time for c in alone.crossings] == [c.time for c in member.crossings]
        assert motion.end_times[i] == alone.times[-1]


def test_it_is_audited_stored_and_asked_at_any_time(tmp_path):
    motion = ph.ensemble(system(None))
    assert "angular momentum about the origin" in str(motion.audit())
    library = ph.ensemble(
        [ph.particle(1.0), ph.particle(MASSES)],
        [ph.State(), ph.State(position=(1, 0, 0))],
        [ph.forces.spring_between(0, 1, 3.0)],
        duration=1.0,
    )
    library.save(tmp_path / "systems.zarr")
    loaded = ph.load(tmp_path / "systems.zarr")
    assert np.array_equal(loaded.position, library.position)
    assert loaded.dataset["position"].dims == ("time", "member", "body", "axis")
    assert [state.position.shape for state in loaded.at(0.3)] == [(MEMBERS, 3)] * 2
    with pytest.raises(InputError, match="member"):
        motion.plot()
    assert motion.member(3).plot() is not None


def test_bodies_that_do_not_interact_are_an_ensemble_too():
    """Thrown from two places with many speeds: x = x0 + v t."""
    speeds = np.arange(1.0, 6.0)
    states = [ph.State(velocity=np.outer(speeds, (1, 0, 0))), ph.State(position=(0, 7, 0), velocity=(0, 0, 2))]
    motion = ph.ensemble([ph.particle(1.0), ph.particle(2.0)], states, duration=3.0)
    assert motion.final[0].position[:, 0] == pytest.approx(3 * speeds)
    assert motion.final[1].position == pytest.approx(np.tile((0, 7, 6.0), (5, 1)))
