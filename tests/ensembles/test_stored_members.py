"""What all members of a sweep have in common is stored once, and compared with that of every chunk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polhode as ph
from polhode.errors import ScenarioError


def sweep(build: Any, store: Path) -> Any:
    return ph.sweep(build, members=5000, seed=1, store=store, chunk_members=4096, progress=False)


def test_a_sweep_with_many_output_times_is_stored(tmp_path: Path) -> None:
    times = np.arange(1, 101) * 0.01

    def build(draw: Any) -> ph.Scenario:
        body = ph.Body(draw.lognormal("mass", 1.0, 0.05), (1.0, 2.0, 2.5))
        state, drag = ph.State(velocity=(1.0, 0.0, 0.0)), ph.forces.quadratic_drag(0.1)
        return ph.Scenario(body, state, [drag], duration=1.0, step=0.01, method="rk4", output_times=times)

    sweep(build, tmp_path / "s.zarr")
    stored = ph.load(tmp_path / "s.zarr")
    np.testing.assert_array_equal(stored.times, times)
    alone = ph.simulate(_member(build, 4999))
    np.testing.assert_array_equal(stored.motion([4999]).position[:, 0], alone.position)


def _member(build: Any, member: int) -> ph.Scenario:
    mass = ph.DrawnSource(build, 5000, seed=1).inputs(np.array([member]))["mass"][0]
    times = np.arange(1, 101) * 0.01
    state, drag = ph.State(velocity=(1.0, 0.0, 0.0)), ph.forces.quadratic_drag(0.1)
    body = ph.Body(float(mass), (1.0, 2.0, 2.5))
    return ph.Scenario(body, state, [drag], duration=1.0, step=0.01, method="rk4", output_times=times)


@pytest.mark.parametrize("keep", [{}, {"reduce": ["mean:position"]}], ids=["samples", "reductions"])
def test_thrust_without_an_end_is_stored(tmp_path: Path, keep: Any) -> None:
    def build(draw: Any) -> ph.Scenario:
        start = draw.uniform("start", 0.1, 0.2)
        thrust = ph.forces.thruster((0, 0, -1), (0, 0, 1), 10.0, start=start)
        push = ph.forces.force_at((3.0, 0.0, 0.0), stop=0.4)
        return ph.Scenario(ph.particle(2.0), forces=[thrust, push], duration=1.0, step=0.01, method="rk4")

    settings: dict[str, Any] = {"members": 5000, "seed": 1, "store": tmp_path / "s.zarr", **keep}
    whole = ph.sweep(build, **settings)
    assert ph.sweep(build, **settings, resume=True).checksum() == whole.checksum()
    if not keep:
        member = ph.load(tmp_path / "s.zarr").motion([4321])
        begin = whole.inputs["start"][4321]
        np.testing.assert_allclose(member.final.velocity[0], (0.6, 0.0, 5.0 * (1.0 - begin)), rtol=1e-12)
        np.testing.assert_allclose(member.acceleration[-1, 0], (0.0, 0.0, 5.0), rtol=1e-15)


def test_numbers_given_as_arrays_with_a_thrust_without_an_end_are_stored(tmp_path: Path) -> None:
    start = ph.State(velocity=np.linspace((1.0, 0.0, 0.0), (2.0, 0.0, 0.0), 10))
    thrust = ph.forces.thruster((0, 0, -1), (0, 0, 1), 10.0, start=0.5)
    ph.ensemble(ph.particle(2.0), start, [thrust], duration=1.0, store=tmp_path / "s.zarr")
    stored = ph.load(tmp_path / "s.zarr").motion([9])
    np.testing.assert_allclose(stored.final.velocity[0], (2.0, 0.0, 2.5), rtol=1e-12)
    np.testing.assert_allclose(stored.acceleration[-1, 0], (0.0, 0.0, 5.0), rtol=1e-15)


def test_a_long_list_that_depends_on_the_chunk_is_refused(tmp_path: Path) -> None:
    def build(draw: Any) -> ph.Scenario:
        moments = (1.0, 2.0, 2.5 if len(draw.members) < 1000 else 2.75)
        body, state = ph.Body(draw.lognormal("mass", 1.0, 0.05), moments), ph.State(velocity=(1.0, 0.0, 0.0))
        return ph.Scenario(body, state, [ph.forces.quadratic_drag(0.1)], duration=0.1, step=0.01, method="rk4")

    with pytest.raises(ScenarioError, match="differs from that of others in a number that is not one for each member"):
        sweep(build, tmp_path / "s.zarr")


def test_another_engine_completes_a_store(tmp_path: Path) -> None:
    start = ph.State(velocity=np.linspace((1.0, 0.0, 0.0), (2.0, 0.0, 0.0), 4100))
    settings: dict[str, Any] = {"duration": 0.02, "step": 0.01, "method": "rk4", "progress": False}
    kept: dict[str, Any] = {"store": tmp_path / "s.zarr", "chunk_members": 4096}
    drag = [ph.forces.quadratic_drag(0.1)]
    whole = ph.ensemble(ph.particle(1.0), start, drag, **settings, **kept).checksum()
    (tmp_path / "s.zarr" / "records" / "chunk-00000001").unlink()
    with pytest.warns(UserWarning, match="runs uncompiled"):
        resumed = ph.ensemble(ph.particle(1.0), start, drag, engine="python", resume=True, **settings, **kept)
    assert resumed.checksum() == whole
