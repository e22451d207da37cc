"""Kernels for GPUs, compiled for this computer instead: the judge is the CPU's own engine, to the bit."""

from __future__ import annotations

import re
import shutil
import subprocess

import numpy as np
import pytest

import polhode as ph
from host_gpu import HostGpu
from polhode.errors import GpuError
from polhode.integrate import gpu_steps, integrator
from polhode.integrate.loops import kernel_program
from polhode.ir.targets.gpu import ptx
from polhode.methods.registry import METHODS

MEMBERS = 21
RANDOM = np.random.default_rng(20261118)
BODY = ph.Body(mass=1.3, inertia=((1.0, 0.1, 0.0), (0.1, 2.0, 0.2), (0.0, 0.2, 2.5)))
START = ph.State(
    position=RANDOM.normal(size=(MEMBERS, 3)),
    velocity=RANDOM.normal(size=(MEMBERS, 3)),
    quaternion_wxyz=(0.8, 0.0, 0.6, 0.0),
    angular_velocity_body=RANDOM.normal(size=(MEMBERS, 3)),
)
FORCES = [ph.forces.gravity(), ph.forces.quadratic_drag(0.1)]
FIXED = [name for name, method in METHODS.items() if method.needs_step]


@ph.force
def gusts(t, state, body, params):
    push = params[0] * ph.sin(3 * t) + np.interp(state.position[2], (0.0, 1.0, 5.0), (1.0, 3.0, 2.0))
    return (push, ph.if_less(state.velocity[0], 0.0, 0.3, -0.1), 0.0), (0.0, 0.01 * state.angular_velocity[1], 0.0)


@ph.event
def landing(t, state, body, params):
    return state.position[2] + 1.0


@ph.event
def rising(t, state, body, params):
    return state.velocity[2]


@ph.force
def waves(t, state, body, params):
    push = ph.sin(3 * params[0] * state.position[0]) + ph.cos(7 * t)
    return (push, ph.interp(state.position[1], (-2.0, 0.0, 3.0), (1.0, 0.0, 2.0)), 0.0), (0.0, 0.0, 0.0)


@ph.force
def unstable(t, state, body, params):
    return (2000.0 * (state.position[0] - 1 / 3 - 1e-9), 0.0, 0.0), (0.0, 0.0, 0.0)


@ph.force
def periodic(t, state, body, params):
    return (t % 0.25, 0.0, 0.0), (0.0, 0.0, 0.0)


@pytest.fixture
def gpu(monkeypatch):
    device = HostGpu()
    monkeypatch.setattr(kernel_program, "gpus", lambda: [device])
    return device


def run_both(forces=FORCES, body=BODY, start=START, **settings):
    """The same ensemble by kernels and by the CPU's loops."""
    return tuple(ph.ensemble(ph.Scenario(body, start, forces, engine=engine, **settings)) for engine in ("gpu", "cpu"))


def assert_same_bits(one, other):
    assert one.run_result.samples.tobytes() == other.run_result.samples.tobytes()
    assert one.steps == other.steps
    for ours, theirs in zip(one.crossings, other.crossings, strict=True):
        assert (ours.time, ours.body, ours.name) == (theirs.time, theirs.body, theirs.name)


@pytest.mark.parametrize("method", FIXED)
def test_fixed_steps_have_the_bits_of_the_cpu(gpu, method):
    """Outputs on the grid and off it."""
    settings = {"duration": 0.06, "step": 0.01, "method": method}
    assert_same_bits(*run_both(output_step=0.02, **settings))
    assert_same_bits(*run_both(output_times=[0.0, 0.013, 0.02, 0.047, 0.06], **settings))
    assert gpu.streams == 0


@pytest.mark.parametrize("formulation", ["momentum", "momentum_matrix", "body_rates", "quaternion_acceleration"])
@pytest.mark.parametrize("method", ["rk4", "dop853", "rk45"])
def test_formulations_have_the_bits_of_the_cpu(gpu, formulation, method):
    settings = {"duration": 0.2, "step": 0.01, "method": method, "formulation": formulation, "output_step": 0.03}
    assert_same_bits(*run_both([*FORCES, gusts(np.linspace(0.0, 1.0, MEMBERS))], **settings))


def test_euler_angles_have_the_bits_of_the_cpu(gpu):
    tilted = ph.State(
        quaternion_wxyz=ph.rotations.from_euler_angles(0.3, 1.2, 0.1),
        angular_velocity_body=0.3 * RANDOM.normal(size=(MEMBERS, 3)),
    )
    assert_same_bits(
        *run_both(start=tilted, duration=0.1, step=0.01, method="rk4", formulation="euler_angles", output_step=0.05)
    )


def test_the_closed_form_has_the_bits_of_the_cpu(gpu):
    assert_same_bits(*run_both([ph.forces.gravity()], duration=3.0, method="exact", output_step=0.7))


def test_impulses_and_windows_have_the_bits_of_the_cpu(gpu):
    kick = ph.forces.impulse((0.1, 0.0, 0.2), time=0.11)
    push = ph.forces.force_at((0.0, 0.0, 1.0), (0.1, 0.0, 0.0), start=0.05, stop=0.13)
    for method in ("rk4", "dop853"):
        assert_same_bits(*run_both([*FORCES, kick, push], duration=0.2, step=0.01, method=method, output_step=0.04))


@pytest.mark.parametrize("method", ["dop853", "tsit5", "vern7", "rk4", "exact"])
def test_events_have_the_bits_of_the_cpu(gpu, method):
    forces = [ph.forces.gravity()] if method == "exact" else FORCES
    step = {} if method == "exact" else {"step": 0.01}
    gpu_motion, cpu_motion = run_both(
        forces, duration=1.5, method=method, events=[landing(), rising(action="record")], **step
    )
    assert len(gpu_motion.crossings) > MEMBERS
    assert_same_bits(gpu_motion, cpu_motion)
    assert len(gpu.launched) == 1  # every member has room of its own in the log


def test_systems_have_the_bits_of_the_cpu(gpu):
    bodies, starts = [BODY, ph.Body(mass=2.0, inertia=(1.0, 1.0, 1.5))], [START, ph.State(position=(4.0, 0.0, 0.0))]
    for method in ("rk4", "dop853", "bs3", "vern9", "splitting4"):
        settings = {"duration": 0.1, "step": 0.01, "method": method, "output_step": 0.05}
        assert_same_bits(*run_both([ph.forces.mutual_gravity(G=1.0)], bodies, starts, **settings))


def test_auto_has_the_bits_of_the_cpu(gpu):
    gpu_motion, cpu_motion = run_both(duration=1.0, output_step=0.25)
    assert_same_bits(gpu_motion, cpu_motion)
    assert gpu_motion.run_result.auto_report == cpu_motion.run_result.auto_report


def test_a_single_run_has_the_bits_of_the_cpu(gpu):
    start = ph.State(velocity=(1.0, 2.0, 3.0), angular_velocity_body=(1.0, 2.0, 3.0))
    for method in ("rk4", "dop853", "auto"):
        step = {"step": 0.01} if method == "rk4" else {}
        ours, theirs = (
            ph.simulate(BODY, start, FORCES, duration=0.5, method=method, engine=engine, output_step=0.1, **step)
            for engine in ("gpu", "cpu")
        )
        assert ours.run_result.samples.tobytes() == theirs.run_result.samples.tobytes()
        assert ours.at(0.33).position.tolist() == theirs.at(0.33).position.tolist()


def test_columns_of_an_ensemble_go_to_the_gpu_unpacked(gpu, monkeypatch):
    """Packing a buffer on the CPU takes longer than all steps on the GPU."""

    def refuse(*_):
        raise AssertionError("the buffer was packed")

    monkeypatch.setattr(integrator, "pack_buffer", refuse)
    ph.ensemble(BODY, START, FORCES, duration=0.5, method="rk4", step=0.1, engine="gpu")


def test_batches_and_pieces_do_not_change_a_bit(gpu, monkeypatch):
    gpu.free = 20_000
    monkeypatch.setattr(gpu_steps, "BATCH_UNITS", 4)
    monkeypatch.setattr(gpu_steps, "PIECE_BYTES", 1000)
    for method in ("rk4", "dop853"):
        settings = {
            "duration": 0.1,
            "step": 0.01,
            "method": method,
            "output_times": [0.0, 0.013, 0.02, 0.047, 0.06, 0.1],
        }
        assert_same_bits(*run_both(**settings))
    assert_same_bits(*run_both(duration=1.5, method="dop853", events=[landing(), rising(action="record")]))
    assert max(gpu.launched) < MEMBERS
    assert len(gpu.launched) > 20


def test_several_gpus_share_an_ensemble(monkeypatch):
    devices = [HostGpu() for _ in range(3)]
    monkeypatch.setattr(kernel_program, "gpus", lambda: devices)
    monkeypatch.setattr(kernel_program, "SHARED_UNITS", 1)
    assert_same_bits(*run_both(duration=0.1, step=0.01, method="rk4", output_step=0.05))
    assert_same_bits(*run_both(duration=1.5, method="dop853", events=[landing()]))
    assert [sum(device.launched) for device in devices] == [14, 14, 14]


def test_small_ensembles_go_to_the_gpus_in_turn(monkeypatch):
    devices = [HostGpu() for _ in range(3)]
    monkeypatch.setattr(kernel_program, "gpus", lambda: devices)
    for _ in range(6):
        ph.ensemble(BODY, START, FORCES, duration=0.1, step=0.01, method="rk4", engine="gpu")
    assert [len(device.launched) for device in devices] == [2, 2, 2]


def test_fused_steps_differ_by_rounding_only(gpu):
    strict, fused = (
        ph.ensemble(ph.Scenario(BODY, START, FORCES, duration=1.0, step=0.01, method="rk4", engine="gpu",
                                precision=precision, output_step=0.5))
        for precision in ("strict", "fused")
    )  # fmt: skip
    difference = np.abs(strict.run_result.samples - fused.run_result.samples)[..., :-1]
    assert 0 < difference.max() < 1e-13


@pytest.mark.parametrize("method", ["rk4", "splitting4", "midpoint"])
def test_single_precision_has_seven_digits(gpu, method):
    """The error is that of numbers with 24 bits over a hundred steps: not zero, not more."""
    swing = waves(np.linspace(0.5, 2.0, MEMBERS))
    strict, single = (
        ph.ensemble(ph.Scenario(BODY, START, [*FORCES, swing], duration=1.0, method=method, engine="gpu", step=0.01,
                                output_step=0.5, precision=precision))
        for precision in ("strict", "single")
    )  # fmt: skip
    difference = np.abs(strict.run_result.samples - single.run_result.samples)[..., :-1]
    assert 1e-8 < difference.max() < 3e-5


@pytest.mark.parametrize("function", [ph.exp, ph.log, lambda x: ph.power(x, 1.5), lambda x: ph.atan2(x, 2.0)])
def test_functions_that_need_long_numbers_are_refused_in_single_precision(gpu, function):
    @ph.force
    def decay(t, state, body, params):
        return (function(1.0 + t * t), 0.0, 0.0), (0.0, 0.0, 0.0)

    with pytest.raises(ph.PolhodeError, match="32 bits do not hold"):
        ph.ensemble(ph.Scenario(BODY, START, [decay()], duration=0.1, method="rk4", engine="gpu", step=0.01,
                                precision="single"))  # fmt: skip


def test_the_audit_says_how_far_other_precisions_are(gpu):
    """The difference that it tells is that of the numbers themselves."""
    settings = {"duration": 1.0, "step": 0.01, "method": "rk4", "output_step": 0.5}
    strict, single = (
        ph.ensemble(ph.Scenario(BODY, START, FORCES, engine="gpu", precision=precision, **settings))
        for precision in ("strict", "single")
    )
    one, other = single.position, strict.position
    least = np.linalg.norm(one - other, axis=-1).max() / np.linalg.norm(other, axis=-1).max()
    assert least <= single.run_result.precision_report.difference < 1e-5
    assert "21 members differ from the CPU's by" in str(single.audit())
    assert "differ from the CPU" not in str(strict.audit())


def test_rounding_that_grows_is_told(gpu):
    """An unstable equilibrium multiplies every difference by exp(15)."""
    balanced = ph.State(position=np.full((MEMBERS, 3), 1 / 3))
    with pytest.warns(UserWarning, match="rounding grows"):
        ph.ensemble(
            ph.Scenario(BODY, balanced, [unstable()], duration=0.4, step=0.01, method="rk4", engine="gpu",
                        precision="single", output_times=[0.4])
        )  # fmt: skip


# The text for GPUs ----------------------------------------------------------------------------------------------------
def text_for(gpu, precision="strict", **settings):
    ph.ensemble(ph.Scenario(BODY, START, FORCES, engine="gpu", precision=precision, **settings))
    return ptx(next(reversed(gpu.codes)), "sm_90")


def test_strict_kernels_fuse_nothing_and_keep_the_state_in_registers(gpu):
    text = text_for(gpu, duration=0.1, step=0.01, method="rk4", output_times=[0.1])
    assert ".target sm_90" in text
    assert re.search(r"\.visible \.entry polhode_kernel\(", text)
    assert "fma" not in text
    assert "__local_depot" not in text
    assert text.count("mul.rn.f64") > 200


def test_fused_kernels_fuse(gpu):
    assert text_for(gpu, "fused", duration=0.1, step=0.01, method="rk4", output_times=[0.1]).count("fma.rn.f64") > 100


def test_single_kernels_have_no_long_numbers(gpu):
    text = text_for(gpu, "single", duration=0.1, step=0.01, method="rk4", output_times=[0.1])
    assert text.count("fma.rn.f32") > 100
    assert not re.search(r"(add|mul|fma|sub)\S*\.f64", text)


@pytest.mark.skipif(shutil.which("ptxas") is None, reason="NVIDIA's assembler is not installed")
def test_nvidias_assembler_takes_the_kernels(gpu, tmp_path):
    for settings in ({"step": 0.01, "method": "rk4"}, {"method": "dop853", "events": [landing()]}):
        file = tmp_path / "kernel.ptx"
        file.write_text(text_for(gpu, duration=0.1, **settings))
        subprocess.run(["ptxas", "-arch=sm_90", str(file), "-o", str(tmp_path / "kernel.bin")], check=True)


def test_newer_chips_get_the_newest_text_that_llvm_knows(gpu):
    text_for(gpu, duration=0.1, step=0.01, method="rk4")
    kernel = next(reversed(gpu.codes))
    for chip, target in (("sm_121", "sm_90"), ("sm_87", "sm_86"), ("sm_35", "sm_50")):
        assert f".target {target}\n" in ptx(kernel, chip)


# What is refused ------------------------------------------------------------------------------------------------------
def test_without_a_gpu_there_is_a_sentence():
    from polhode.integrate.loops import cuda

    try:
        cuda.devices()
    except GpuError:
        with pytest.raises(GpuError, match="engine='cpu'"):
            ph.ensemble(BODY, START, FORCES, duration=0.1, step=0.01, method="rk4", engine="gpu")
    else:
        pytest.skip("there is a GPU")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"precision": "double", "engine": "gpu"}, "strict"),
        ({"precision": "fused"}, "engine='gpu'"),
        ({"method": "taylor", "engine": "gpu"}, "CPU only"),
        ({"method": "dop853", "engine": "gpu", "precision": "single"}, "seven digits"),
        ({"method": "splitting4_exact", "step": 0.1, "engine": "gpu", "precision": "single"}, "needs 64 bits"),
        ({"contacts": [ph.floor()], "engine": "gpu"}, "CPU only"),
        ({"engine": "cuda"}, "unknown"),
    ],
)
def test_what_a_gpu_cannot_do_is_refused(settings, words):
    solid = ph.shapes.box((1.0, 1.0, 1.0), density=1.0)
    with pytest.raises(ph.PolhodeError, match=words):
        ph.Scenario(solid, START, FORCES, duration=1.0, **settings)


def test_remainders_are_refused(gpu):
    with pytest.raises(ph.PolhodeError, match="remainder"):
        ph.ensemble(BODY, START, [periodic()], duration=0.1, step=0.01, method="rk4", engine="gpu")
