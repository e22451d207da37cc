"""A quantity of a user's own against NumPy on the arrays of the motion: everywhere that a quantity is known by name."""

from __future__ import annotations

import csv
import pickle

import numpy as np
import pytest

import polhode as ph
from live_programs import computed
from polhode.errors import FileError, InputError, ScenarioError
from polhode.gallery.live_page import program_of
from polhode.quantities.own import OWN_QUANTITIES
from polhode.web.motion_record import record_motion
from polhode.web.stage import Stage

BODY = ph.Body(mass=2.0, inertia=(1.0, 2.0, 2.5))
SPIN = ph.State(position=(0, 0, 20.0), velocity=(3.0, 0, 1.0), angular_velocity_body=(0.3, 2.0, -0.4))
FALL = [ph.forces.gravity()]


@pytest.fixture(autouse=True)
def own():
    """Two quantities that only these tests know."""

    @ph.quantity("J", symbol="T3")
    def spin_energy(t, state, body):
        """Energy of the rotation about axis 3."""
        return body.moments[2] * state.angular_velocity_body[2] ** 2 / 2

    @ph.quantity("m s-1", "velocity seen from a moving floor", axes="world", name="seen_velocity")
    def function(t, state, body):
        x, y, z = state.velocity
        return (x - 0.5 * t, y, max(z, -2.0) if x > 0 else z)

    yield
    OWN_QUANTITIES.clear()


def energies(motion, moment=2.5):
    return moment * motion.angular_velocity_body[..., 2] ** 2 / 2


def seen(motion, times=None):
    times = motion.times if times is None else times
    found = np.array(motion.velocity)
    found[..., 0] -= 0.5 * times.reshape(-1, *(1,) * (found.ndim - 2))
    found[..., 2] = np.maximum(found[..., 2], -2.0)
    return found


def one(**settings):
    return ph.simulate(BODY, SPIN, FALL, duration=2.0, output_step=0.25, **settings)


def members(**settings):
    start = ph.State(velocity=[(1.0, 0, 4), (2.0, 0, 5), (3.0, 0, 6)], angular_velocity_body=(0.3, 2.0, -0.4))
    return ph.ensemble(BODY, start, FALL, **{"duration": 2.0, "output_step": 0.25, **settings})


def system():
    states = [SPIN, ph.State(velocity=(1.0, 2.0, 0), angular_velocity_body=(0, 0, 3.0))]
    return ph.simulate([BODY, ph.Body(mass=1.0, inertia=(2.0, 3.0, 4.0))], states, FALL, duration=1.0, output_step=0.5)


@pytest.mark.parametrize("make", [one, members, lambda: one(engine="python"), lambda: one(method="rk4", step=0.01)])
def test_it_is_an_attribute_of_every_motion(make):
    motion = make()
    np.testing.assert_allclose(motion.spin_energy, energies(motion), rtol=1e-15)
    np.testing.assert_allclose(motion.seen_velocity, seen(motion), rtol=0, atol=1e-15)
    assert "spin_energy" in dir(motion)


def test_each_body_of_a_system_has_its_own():
    motion = system()
    np.testing.assert_allclose(motion.spin_energy, energies(motion, np.array([2.5, 4.0])), rtol=1e-15)
    assert motion.seen_velocity.shape == (3, 2, 3)
    both = [BODY, BODY]
    starts = [SPIN, ph.State(velocity=[(1.0, 0, 0), (2.0, 0, 0)], angular_velocity_body=(0, 0, 3.0))]
    many = ph.ensemble(both, starts, FALL, duration=1.0, output_step=0.5)
    assert many.spin_energy.shape == (3, 2, 2)
    np.testing.assert_allclose(many.spin_energy, energies(many), rtol=1e-15)


def test_it_sees_the_present_body():
    course = ph.mass_course((0.0, 4.0), (2.0, 1.0), inertia=((1.0, 2.0, 2.5), (0.5, 1.0, 1.25)))
    motion = ph.simulate(BODY, SPIN, mass_course=course, duration=4.0, output_step=1.0)
    np.testing.assert_allclose(motion.spin_energy, energies(motion, 2.5 - 1.25 * motion.times / 4), rtol=1e-12)
    wheel = ph.rotor((0, 0, 1), 0.1, speed=50.0)
    turned = ph.simulate(BODY, SPIN, rotors=[wheel], duration=1.0, output_step=0.5)
    np.testing.assert_allclose(turned.spin_energy, energies(turned), rtol=1e-15)
    held = ph.simulate(BODY, ph.State(angular_velocity_body=(0.3, 2, 1)), pivot=(0, 0, -1.0), duration=1.0)
    np.testing.assert_allclose(held.spin_energy, energies(held), rtol=1e-15)


def test_dataset_table_and_csv_have_it(tmp_path):
    motion = members()
    found = motion.dataset["spin_energy"]
    assert found.dims == ("time", "member")
    assert (found.units, found.long_name) == ("J", "Energy of the rotation about axis 3")
    assert np.array_equal(found.values, motion.spin_energy)
    assert motion.dataset["seen_velocity"].sel(axis="z").values.tolist() == motion.seen_velocity[..., 2].tolist()
    assert list(motion.to_dataframe(["seen_velocity"])) == ["seen_velocity_x", "seen_velocity_y", "seen_velocity_z"]
    motion.export_csv(tmp_path / "all.csv")
    with (tmp_path / "all.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert float(rows[4]["spin_energy_J"]) == motion.spin_energy[1, 1]
    assert float(rows[5]["seen_velocity_z_m_s"]) == motion.seen_velocity[1, 2, 2]
    motion.export_csv(tmp_path / "some.csv", ["spin_energy"])
    head = (tmp_path / "some.csv").read_text().partition("\n")[0]
    assert head == "time_s,member,spin_energy_J"


def test_reductions_take_it_by_name_at_outputs_ends_and_events():
    @ph.event
    def landing(t, state, body, params):
        return state.position[2] + 3.0

    wanted = [ph.reductions.mean(one) for one in ("spin_energy", "seen_velocity.x@final", "seen_velocity@landing")]
    settings = {"events": [landing()], "duration": 3.0}
    found, motion = members(**settings, reduce=wanted), members(**settings)
    every, end, down = (found.reductions[one.name]["mean"] for one in wanted)
    flying = [row[np.isfinite(row)] for row in energies(motion)]
    np.testing.assert_allclose(every, [row.mean() if len(row) else np.nan for row in flying], rtol=1e-13)
    times = motion.end_times
    assert (np.diff(times) > 0).all()
    falls = np.array([[v - 0.5 * t, 0.0, -2.0] for v, t in zip((1.0, 2.0, 3.0), times, strict=True)])
    np.testing.assert_allclose(end, falls[:, 0].mean(), rtol=1e-12)
    np.testing.assert_allclose(down, falls.mean(axis=0), rtol=1e-12)


def test_figures_and_pages_draw_it():
    motion = one(method="rk4", step=0.01)
    axes = motion.plot(["spin_energy", "seen_velocity"]).axes
    assert axes[0].get_ylabel() == "J"
    assert np.array_equal(axes[0].get_lines()[0].get_ydata(), motion.spin_energy)
    record = record_motion(motion, stage=Stage(panels=("spin_energy", "phase:spin_energy:seen_velocity_z")))
    sent = {row["name"]: row for row in record.meta["quantities"]}
    assert sent["spin_energy"]["symbol"] == "T3"
    assert [part["id"] for part in sent["seen_velocity"]["components"]] == [f"seen_velocity_{c}" for c in "xyz"]
    assert np.array_equal(record.arrays["quantity_spin_energy"][:, 0, 0], motion.spin_energy)


def test_other_processes_get_it():
    motion = one()
    law = pickle.loads(pickle.dumps(ph.Motion.position))
    assert np.array_equal(law.values(motion), motion.position)
    again = pickle.loads(pickle.dumps(ph.quantity("1", name="half")(_half)))
    assert again.values(motion).tolist() == [0.5] * len(motion.times)


def _half(t, state, body):
    return 0.5


def test_what_cannot_be_a_quantity_is_a_sentence():
    with pytest.raises(InputError, match="motions have 'position' already"):
        ph.quantity("m", name="position")(_half)
    with pytest.raises(InputError, match="motions have 'plot' already"):
        ph.quantity("m", name="plot")(_half)
    with pytest.raises(InputError, match="needs its unit"):
        ph.quantity(_half)
    with pytest.raises(InputError, match="takes 3"):
        ph.quantity("m", name="number")(lambda t, state: 0.0)
    with pytest.raises(InputError, match="not '<lambda>'"):
        ph.quantity("m")(lambda t, state, body: 0.0)
    with pytest.raises(InputError, match="before a Python function"):
        ph.quantity("m", name="number")(3.0)
    with pytest.raises(InputError, match="did you mean 'spin_energy'"):
        ph.reductions.mean("spin_energie")

    @ph.quantity("m")
    def leaky(t, state, body):
        return float(f"{state.position[0]}")

    with pytest.raises(ScenarioError, match="leaky cannot be compiled"):
        _ = one().leaky

    @ph.quantity("m", axes="body")
    def short(t, state, body):
        return (1.0, 2.0)

    with pytest.raises(ScenarioError, match="short cannot be compiled"):
        _ = one().short


def test_a_name_that_no_motion_has_is_an_attribute_error():
    with pytest.raises(AttributeError, match="wobble"):
        _ = one().wobble


def test_live_pages_compute_it_with_the_same_bits(tmp_path):
    @ph.model
    def thrown(speed=ph.Knob(3.0, 1.0, 5.0, "m/s")):
        return ph.Scenario(
            BODY,
            ph.State(velocity=(speed, 0, 4.0), angular_velocity_body=(0.3, 2, -0.4)),
            FALL,
            duration=2.0,
            output_step=0.25,
            method="rk4",
            step=0.01,
        )

    program = program_of(thrown, thrown.values())
    _, columns = computed(program, 0, thrown.values(speed=2.0), tmp_path)
    motion = thrown(speed=2.0)
    assert np.array_equal(columns["quantity_spin_energy"][:, 0], motion.spin_energy)
    assert np.array_equal(columns["quantity_seen_velocity"], motion.seen_velocity)


def test_a_store_is_not_resumed_with_another_law(tmp_path):
    spins = np.linspace(0.0, 2.0, 8200)
    start = ph.State(angular_velocity_body=np.stack((0 * spins, 0 * spins, spins), axis=1))
    given = {"duration": 1.0, "store": tmp_path / "many.zarr", "chunk_members": 4096}

    def run(**more):
        result = ph.ensemble(BODY, start, FALL, reduce=[ph.reductions.mean("spin_energy@final")], **given, **more)
        return float(result.reductions["mean:spin_energy@final"]["mean"])

    found = run()
    assert found == pytest.approx(np.mean(2.5 * spins**2 / 2), rel=1e-12)
    assert run(resume=True) == found

    @ph.quantity("J")
    def spin_energy(t, state, body):
        return state.angular_velocity_body[2] ** 2

    with pytest.raises(FileError, match="another run has begun it"):
        run(resume=True)


def test_members_of_a_run_in_plain_python_and_of_systems_have_their_own(own):
    moments = np.array([2.5, 2.6, 2.7, 2.8])
    bodies = ph.Body(mass=(2.0, 3.0, 4.0, 5.0), inertia=[(1.0, 2.0, c) for c in moments])
    start = ph.State(
        velocity=[(1.0, 0, 4), (2.0, 0, 5), (3.0, 0, 6), (4.0, 0, 7)], angular_velocity_body=(0.3, 2.0, -0.4)
    )
    given = {"duration": 1.0, "output_step": 0.5, "method": "rk4", "step": 0.25}
    plain, fast = (ph.ensemble(bodies, start, FALL, engine=engine, **given) for engine in ("python", "cpu"))
    np.testing.assert_allclose(plain.spin_energy, energies(plain, moments), rtol=1e-15)
    np.testing.assert_allclose(plain.seen_velocity, seen(plain), rtol=0, atol=1e-15)
    assert np.array_equal(plain.spin_energy, fast.spin_energy)
    both = ph.ensemble([BODY, BODY], [start, start], FALL, **given)
    (found,) = ph.reductions.apply(both, ["mean:seen_velocity.x@final"]).values()
    np.testing.assert_allclose(found["mean"], (both.velocity[-1, :, :, 0] - 0.5).mean(axis=0), rtol=1e-14)


def test_phase_plots_of_rotors_and_of_quantities():
    motion = ph.simulate(BODY, SPIN, rotors=[ph.rotor((0, 0, 1), 0.1, speed=5.0)], duration=1.0, output_step=0.5)
    (axes,) = motion.plot(["phase:rotor_speed_0:spin_energy"]).axes
    assert axes.get_xlabel() == "rotor speed 0 (rad/s)"
    assert np.array_equal(axes.get_lines()[0].get_xdata(), motion.rotor_speed[:, 0])
