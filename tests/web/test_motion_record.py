"""The record of a motion, against the motion itself, closed forms, and its decoded bytes."""

import json
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

import polhode as ph
from polhode.errors import InputError
from polhode.massprops.appearance import appearance_of
from polhode.web import downsampling
from polhode.web.closed_form_overlay import find_closed_form
from polhode.web.decimation import decimate_mesh
from polhode.web.motion_record import record_motion
from polhode.web.record_encoding import encode_record

BOX = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0)
SPIN = ph.State(angular_velocity_body=(0.1, 5.0, 0.1))


def decode(data):
    """Decode a record as the page does."""
    length = int.from_bytes(data[:4], "little")
    header = json.loads(data[4 : 4 + length])
    start = -(-(4 + length) // 8) * 8
    arrays = {}
    for name, entry in header["arrays"].items():
        count = int(np.prod(entry["shape"]))
        values = np.frombuffer(data, entry["type"], count, start + entry["offset"]).reshape(entry["shape"])
        arrays[name] = values.astype(float) * entry["scale"] if entry["type"] == "float32" else values
    return SimpleNamespace(meta=header["meta"], arrays=arrays)


def test_the_record_has_float32_precision():
    motion = ph.simulate(BOX, SPIN, duration=3.0, method="exact", output_step=0.002)
    read = decode(encode_record(record_motion(motion)))
    assert np.array_equal(read.arrays["time"], motion.times)
    for name, values in (
        ("quaternion", motion.quaternion_wxyz),
        ("angular_velocity", motion.angular_velocity),
        ("angular_momentum", motion.angular_momentum),
    ):
        assert np.abs(read.arrays[name][:, 0] - values).max() <= 2**-23 * np.abs(values).max()
    assert np.array_equal(read.arrays["faces_0"], appearance_of(BOX).surface.faces)
    assert np.abs(read.arrays["vertices_0"] - appearance_of(BOX).surface.vertices).max() < 1e-7
    assert read.meta["appearances"][0]["kind"] == "shape"
    assert "exact" in read.meta["computed"]


@pytest.mark.parametrize("size", [1e-170, 1e-47, 1e-10, 1.0, 1e30, 1e200])
def test_float32_neither_overflows_nor_underflows(size):
    record = record_motion(ph.simulate(BOX, SPIN, duration=1.0, method="exact", output_step=0.1))
    record.arrays["torque"] = size * np.array([[[1.0, -0.5, 0.25]], [[np.nan, np.inf, 0.0]]])
    read = decode(encode_record(record)).arrays["torque"]
    assert read[0, 0] == pytest.approx(size * np.array([1.0, -0.5, 0.25]), rel=1e-7, abs=0.0)
    assert np.isnan(read[1, 0, 0])


def test_an_exact_motion_with_few_outputs_is_resampled_and_noted():
    motion = ph.simulate(
        BOX, ph.State(angular_velocity_body=(0, 0, 30.0)), duration=10.0, method="exact", output_step=5.0
    )
    record = record_motion(motion)
    times = record.arrays["time"]
    assert np.diff(times).max() * 30.0 <= 1.01 * downsampling.MAX_ANGLE
    assert set(motion.times) <= set(times)
    middle = len(times) // 2
    there = motion.at(float(times[middle])).quaternion_wxyz
    assert abs(record.arrays["quaternion"][middle, 0] @ there) == pytest.approx(1.0, abs=1e-12)
    assert any("closed form is shown at" in note for note in record.meta["notes"])


def test_downsampling_keeps_the_largest_drift():
    motion = ph.simulate(BOX, SPIN, duration=20.0, step=1e-3, method="rk4", output_step=1e-3)
    record = record_motion(motion)
    assert len(record.arrays["time"]) == downsampling.MAX_TIMES
    assert record.arrays["time"][[0, -1]].tolist() == motion.times[[0, -1]].tolist()
    assert any("3,000 of 20,001 outputs" in note for note in record.meta["notes"])
    drifts = {d["name"]: record.arrays[d["array"]][:, 0] for d in record.meta["drifts"]}
    rows = downsampling.select_times(motion, 1)
    for finding in (f for f in motion.audit().findings if f.conserved):
        assert drifts[finding.quantity].max() == pytest.approx(finding.relative, rel=1e-12)
        portions = np.split(finding.history, rows[1:])
        assert drifts[finding.quantity].tolist() == [portion.max() for portion in portions]


def test_a_large_ensemble_is_downsampled():
    start = ph.State(velocity=np.linspace((0, 0, 1), (0, 0, 9), 2500))
    motion = ph.ensemble(
        ph.particle(1.0), start, [ph.forces.gravity()], duration=1.0, method="exact", output_step=0.004
    )
    record = record_motion(motion)
    times, bodies = record.arrays["position"].shape[:2]
    assert bodies == downsampling.MAX_BODIES
    assert times * bodies <= downsampling.MAX_POSES
    assert record.meta["members"][0] == 0
    assert record.meta["members"][-1] == 2499
    last = motion.final.position[record.meta["members"], 2]
    assert record.arrays["position"][-1, :, 2] == pytest.approx(last, rel=1e-12)


def test_a_motion_with_only_final_states_has_a_note():
    start = ph.State(velocity=np.linspace((0, 0, 1), (0, 0, 2), 3))
    motion = ph.ensemble(ph.particle(1.0), start, duration=1.0, step=0.1, method="rk4")
    record = record_motion(motion)
    assert record.arrays["position"].shape == (1, 3, 3)
    assert any("output_step" in note for note in record.meta["notes"])


def test_a_motion_without_outputs_raises():
    motion = ph.simulate(BOX, SPIN, duration=1.0, method="exact")
    motion.run_result.times, motion.run_result.samples = motion.run_result.times[:0], motion.run_result.samples[:0]
    with pytest.raises(InputError, match="nothing to show"):
        record_motion(motion)


def test_the_torque_about_a_pivot_is_the_rate_of_the_angular_momentum_about_it():
    top = ph.Body(mass=2.0, inertia=(3.0, 3.0, 1.0))
    tilted = ph.State(quaternion_wxyz=(1.0, 0.2, 0.0, 0.0), angular_velocity_body=(0.3, 0.0, 20.0))
    pivot = (0, 0, -1)
    motion = ph.simulate(top, tilted, [ph.forces.gravity(10.0)], pivot=pivot, duration=1.0, output_step=1e-3)
    record = record_motion(motion)
    about = motion.angular_momentum_about(motion.points(pivot)[0])
    assert record.arrays["angular_momentum"][:, 0] == pytest.approx(about, rel=1e-12, abs=1e-12)
    rate = (about[2:] - about[:-2]) / (motion.times[2:] - motion.times[:-2])[:, None]
    torque = record.arrays["torque"][1:-1, 0]
    assert np.abs(rate - torque).max() < 1e-3 * np.abs(torque).max()
    assert [f["name"] for f in record.meta["forces"]] == ["gravity", "reaction of the pivot"]
    assert record.arrays["reaction"][:, 0] == pytest.approx(motion.reaction_force, rel=1e-12)
    assert not record.meta["isFree"]
    assert record.arrays["pivot_world"][0] == pytest.approx(motion.points(pivot)[0])
    assert record.arrays["pivot_body"][0].tolist() == [0, 0, -1]


def test_the_closed_form_of_lagranges_top_in_any_frame_agrees_with_the_simulation():
    turn = (0.9, 0.3, -0.2, 0.25)
    turned = ph.State(quaternion_wxyz=turn, angular_velocity_body=(12.0, 0.4, -0.7))
    top = ph.Body(mass=2.0, inertia=(1.0, 3.0, 3.0))
    forces = [ph.forces.gravity((3.0, -4.0, 5.0))]
    motion = ph.simulate(top, turned, forces, pivot=(0.8, 0, 0), duration=3.0, output_step=0.1, rtol=1e-11)
    overlay = find_closed_form(motion)
    agreement = np.abs((overlay.quaternion_wxyz * motion.quaternion_wxyz).sum(axis=-1))
    assert np.abs(1 - agreement).max() < 1e-12
    assert np.abs(overlay.position - motion.position).max() < 1e-9


def test_the_error_of_rk4_against_the_closed_form_falls_sixteenfold():
    def off(step):
        motion = ph.simulate(BOX, SPIN, duration=2.0, step=step, method="rk4", output_step=0.5)
        return np.abs(find_closed_form(motion).quaternion_wxyz - motion.quaternion_wxyz).max()

    errors = [off(step) for step in (0.02, 0.01, 0.005)]
    assert all(3.8 < np.log2(a / b) < 4.3 for a, b in pairwise(errors))


@pytest.mark.parametrize(
    ("body", "forces", "pivot", "word"),
    [
        (BOX, [], None, "computed in closed form"),
        (BOX, [ph.forces.linear_drag(1.0)], None, "linear_drag"),
        (BOX, [ph.forces.gravity()], (0, 0, 1), "not symmetric"),
        (ph.Body(mass=1.0, inertia=(2, 2, 1)), [ph.forces.gravity()], (0, 0, -1), "upright or hanging"),
    ],
)
def test_a_missing_closed_form_is_explained(body, forces, pivot, word):
    engine = "python" if forces else "cpu"  # nothing to compile
    motion = ph.simulate(
        body,
        SPIN,
        forces,
        pivot=pivot,
        duration=0.1,
        output_step=0.1,
        method="exact" if not forces else "rk4",
        step=0.1,
        engine=engine,
    )
    assert word in record_motion(motion).meta["closedFormUnavailable"]


def test_poinsot_requires_free_rotation():
    free = record_motion(ph.simulate(BOX, SPIN, [ph.forces.gravity()], duration=0.1, method="exact", output_step=0.1))
    still = record_motion(ph.simulate(BOX, duration=0.1, method="exact", output_step=0.1))
    assert free.meta["isFree"]
    assert not still.meta["isFree"]
    assert "Nothing rotates" in still.meta["poinsotUnavailable"]


def test_positions_far_from_the_origin_keep_their_precision():
    orbit = ph.State(position=(7e6, 0, 0), velocity=(1.0, 0, 0))
    record = record_motion(ph.simulate(BOX, orbit, duration=1.0, method="exact", output_step=0.01))
    found = decode(encode_record(record))
    back = found.arrays["position"][:, 0] + np.array(found.meta["origin"])
    assert back[:, 0] == pytest.approx(7e6 + record.arrays["time"], abs=1e-6)
    fast = ph.State(velocity=(1e6, 0, 0))
    record = record_motion(ph.simulate(BOX, fast, duration=10.0, method="exact", output_step=1.0))
    assert "position" in record.exact


def test_members_with_different_bodies_have_their_own_appearance():
    sides = np.linspace((0.1, 0.4, 0.9), (0.2, 0.5, 1.0), 4)
    bodies = ph.shapes.box(sides, mass=10.0)
    motion = ph.ensemble(bodies, SPIN, duration=1.0, method="exact", output_step=0.5)
    record = record_motion(motion)
    assert record.arrays["appearance_index"].tolist() == [0, 1, 2, 3]
    reach = [np.abs(record.arrays[f"vertices_{i}"]).max(axis=0) for i in range(4)]
    assert np.array(reach) == pytest.approx(sides / 2)
    assert record.arrays["moments"] == pytest.approx(bodies.principal_moments)


def test_bodies_of_a_system_share_equal_appearances():
    ball = ph.shapes.sphere(0.2, mass=1.0)
    motion = ph.simulate([BOX, ball, BOX], [SPIN, SPIN, SPIN], duration=0.2, method="exact", output_step=0.1)
    record = record_motion(motion)
    assert record.arrays["appearance_index"].tolist() == [0, 1, 0]
    assert record.arrays["moments"][1] == pytest.approx(ball.principal_moments)


def test_forces_with_the_same_name_are_numbered():
    pair = [ph.forces.force_at((1.0, 0, 0), (0, 0, 1.0)), ph.forces.force_at((-1.0, 0, 0), (0, 0, -1.0))]
    record = record_motion(ph.simulate(BOX, SPIN, pair, duration=0.01, step=0.01, method="rk4", engine="python"))
    assert [f["name"] for f in record.meta["forces"]] == ["force at 1", "force at 2"]
    assert [list(f["point"]) for f in record.meta["forces"]] == [[0, 0, 1.0], [0, 0, -1.0]]


def test_uneven_outputs_are_downsampled_evenly():
    times = np.concatenate((np.linspace(0.0, 1.0, 9000), np.linspace(2.0, 1000.0, 50)))
    record = record_motion(ph.simulate(BOX, SPIN, duration=1000.0, method="exact", output_times=times))
    assert 2900 < len(record.arrays["time"]) <= downsampling.MAX_TIMES
    assert np.diff(record.arrays["time"]).max() < 25.0


def test_quaternions_are_normalized():
    motion = ph.simulate(BOX, SPIN, duration=60.0, step=0.2, method="rk4", renormalize=False, engine="python")
    assert np.linalg.norm(motion.quaternion_wxyz[-1]) < 0.99
    assert np.linalg.norm(record_motion(motion).arrays["quaternion"], axis=-1) == pytest.approx(1.0, abs=1e-12)


def test_members_on_different_pivots_have_different_torques():
    heights = np.linspace(0.1, 0.5, 5)
    tilted = ph.State(quaternion_wxyz=(np.cos(0.2), np.sin(0.2), 0, 0))
    pivots = np.stack((0 * heights, 0 * heights, -heights), axis=1)
    forces = [ph.forces.gravity(10.0)]
    settings = {"duration": 0.1, "step": 0.1, "method": "rk4", "output_step": 0.1, "engine": "python"}
    record = record_motion(ph.ensemble(BOX, tilted, forces, pivot=pivots, **settings))
    found = np.linalg.norm(record.arrays["torque"][0], axis=-1)
    assert found == pytest.approx(10.0 * 10.0 * heights * np.sin(0.4), rel=1e-9)
    assert record.arrays["pivot_body"] == pytest.approx(pivots)


def test_a_diverging_member_does_not_affect_the_precision_of_others():
    record = record_motion(ph.simulate(BOX, SPIN, duration=1.0, method="exact", output_step=0.5))
    record.arrays["energy_rotational"] = np.array([[0.238, 1.0], [0.238, 2e80]])
    assert decode(encode_record(record)).arrays["energy_rotational"].tolist() == [[0.238, 1.0], [0.238, 2e80]]


def test_an_impulse_is_a_jump_and_is_marked():
    impulse = ph.forces.impulse((0.0, 0.0, 1.0), 0.95, (1.0, 0.0, 0.0))
    motion = ph.simulate(BOX, SPIN, [impulse], duration=2.0, method="exact", output_step=0.5)
    record = record_motion(motion)
    at = int(np.flatnonzero(record.arrays["time"] == 0.95)[0])
    before, after = record.arrays["angular_momentum"][at - 1 : at + 1, 0]
    assert record.arrays["time"][at] - record.arrays["time"][at - 1] < 1e-15
    lever = motion.at(0.95).orientation.apply((1.0, 0.0, 0.0))
    assert after - before == pytest.approx(np.cross(lever, (0.0, 0.0, 1.0)), abs=1e-9)
    assert record.meta["events"] == [{"name": "impulse", "time": 0.95, "body": 0}]


def test_members_stopped_by_an_event_keep_their_final_state():
    @ph.event
    def low(t, state, body, params):
        return state.position[2]

    start = ph.State(position=[(0, 0, 1.0), (0, 0, 100.0)])
    settings = {"duration": 1.0, "output_step": 0.2, "method": "dop853", "engine": "python"}
    record = record_motion(ph.ensemble(ph.particle(1.0), start, [ph.forces.gravity()], events=[low()], **settings))
    assert np.isfinite(record.arrays["position"]).all()
    assert record.arrays["position"][-1, 0] == pytest.approx((0.0, 0.0, 0.0), abs=1e-12)
    assert any("1 of the members shown were stopped by an event" in note for note in record.meta["notes"])
    assert not any("failed" in note for note in record.meta["notes"])


def test_decimation_keeps_the_shape_of_a_mesh():
    ball = ph.shapes.sphere(1.0, mass=1.0).surface(600)
    few = decimate_mesh(ball, 20_000)
    assert 8_000 < len(few.faces) <= 20_000
    assert np.linalg.norm(few.vertices, axis=1) == pytest.approx(1.0, abs=0.02)
    corners = few.vertices[few.faces]
    volume = np.einsum("ni,ni->n", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6
    assert volume == pytest.approx(4 * np.pi / 3, rel=0.02)
    assert decimate_mesh(few, 20_000) is few


def test_velocities_of_the_closed_form_overlay():
    top = ph.Body(mass=2.0, inertia=(3.0, 3.0, 1.0))
    tilted = ph.State(quaternion_wxyz=(1.0, 0.2, 0.0, 0.0), angular_velocity_body=(0.3, 0.0, 20.0))
    forces = [ph.forces.gravity(10.0)]
    motion = ph.simulate(top, tilted, forces, pivot=(0, 0, -1), duration=1.0, output_step=0.1, rtol=1e-11)
    overlay = find_closed_form(motion)
    assert overlay.angular_velocity == pytest.approx(motion.angular_velocity, abs=1e-6)
    assert overlay.velocity == pytest.approx(motion.velocity, abs=1e-6)
