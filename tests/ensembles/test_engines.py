"""One ensemble by several engines: stores and checksums do not tell them apart, unless the numbers differ."""

from __future__ import annotations

import numpy as np
import pytest

import polhode as ph
from host_gpu import HostGpu
from polhode.integrate.loops import kernel_program

MEMBERS = 9000
BODY = ph.Body(mass=1.0, inertia=(1.0, 2.0, 2.5))
START = ph.State(velocity=np.random.default_rng(3).normal(size=(MEMBERS, 3)))
FORCES = [ph.forces.gravity(), ph.forces.quadratic_drag(0.1)]
SETTINGS = {"duration": 0.1, "step": 0.01, "method": "rk4"}


@pytest.fixture(autouse=True)
def gpu(monkeypatch):
    device = HostGpu()
    monkeypatch.setattr(kernel_program, "gpus", lambda: [device])
    return device


def test_a_store_that_a_gpu_began_is_completed_by_the_cpu(tmp_path, monkeypatch):
    path, launch, calls = tmp_path / "sweep.zarr", HostGpu.launch, []

    def fail_at_last(device, *arguments):
        calls.append(device)
        if len(calls) == 3:
            raise KeyboardInterrupt
        launch(device, *arguments)

    monkeypatch.setattr(HostGpu, "launch", fail_at_last)
    with pytest.raises(KeyboardInterrupt):
        ph.ensemble(BODY, START, FORCES, engine="gpu", store=path, chunk_members=4096, **SETTINGS)
    done = ph.ensemble(BODY, START, FORCES, store=path, resume=True, **SETTINGS)
    whole = ph.ensemble(BODY, START, FORCES, reduce=["mean:position"], **SETTINGS)
    assert done.checksum() == whole.checksum()
    assert done.motion(slice(5)).scenario.engine == "cpu"


def test_a_store_of_other_precision_is_not_completed(tmp_path):
    path = tmp_path / "sweep.zarr"
    ph.ensemble(BODY, START, FORCES, engine="gpu", precision="fused", store=path, **SETTINGS)
    with pytest.raises(ph.PolhodeError, match="precision"):
        ph.ensemble(BODY, START, FORCES, store=path, resume=True, **SETTINGS)


def test_a_motion_of_a_gpu_is_loaded_without_one(tmp_path, monkeypatch):
    motion = ph.ensemble(BODY, START, FORCES, engine="gpu", output_step=0.05, **SETTINGS)
    motion.save(tmp_path / "motion.zarr")
    monkeypatch.setattr(kernel_program, "gpus", lambda: pytest.fail("a GPU was asked for"))
    loaded = ph.load(tmp_path / "motion.zarr")
    assert loaded.at(0.03).position.tolist() == ph.ensemble(BODY, START, FORCES, **SETTINGS).at(0.03).position.tolist()


def test_a_sweep_takes_engine_and_precision():
    def build(draw):
        start = ph.State(velocity=draw.normal("velocity", (0.0, 0.0, 5.0), 1.0))
        return ph.Scenario(BODY, start, FORCES, **SETTINGS)

    settings = {"members": 5000, "seed": 1, "reduce": ["mean:position"]}
    cpu, strict, fused = (
        ph.sweep(build, **settings, **more) for more in ({}, {"engine": "gpu"}, {"engine": "gpu", "precision": "fused"})
    )
    assert cpu.checksum() == strict.checksum() != fused.checksum()
