"""What an ensemble's store gives back, compared with the same ensemble in memory, bit for bit."""

from __future__ import annotations

import pickle
import shutil
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polhode as ph
from polhode.ensembles.chunk_run import RunSettings, run_chunk
from polhode.ensembles.chunks import ChunkPlan
from polhode.ensembles.member_source import ArraySource
from polhode.ensembles.result import EnsembleResult
from polhode.ensembles.sampling.drawn_source import DrawnSource
from polhode.ensembles.store import EnsembleStore
from polhode.ensembles.stored_run import open_run_store, read_partials, write_result
from polhode.errors import DamagedChunkError, FileError, InputError, ScenarioError

MEMBERS = 4096 + 904
TIMES = [0.0, 0.5, 1.0]
FIXED: dict[str, Any] = {"duration": 1.0, "step": 0.125, "method": "rk4", "output_times": TIMES}


def numbers() -> dict[str, Any]:
    random = np.random.default_rng(5)
    return {
        "mass": 1 + random.random(MEMBERS),
        "velocity": random.normal(size=(MEMBERS, 3)),
        "spin": random.normal(size=(MEMBERS, 3)),
        "drag": random.random(MEMBERS) / 10,
        "g": 9 + random.random(MEMBERS),
    }


def throws() -> ph.Scenario:
    n = numbers()
    start = ph.State(velocity=n["velocity"], angular_velocity_body=n["spin"])
    forces = [ph.forces.gravity(n["g"]), ph.forces.quadratic_drag(n["drag"], wind=(1.0, 2.0, 0.0))]
    tensor = np.array([[2.0, 0.1, 0.0], [0.1, 2.5, 0.2], [0.0, 0.2, 3.0]])
    return ph.Scenario(ph.Body(n["mass"], tensor), start, forces, **FIXED)


def pairs() -> ph.Scenario:
    n = numbers()
    bodies = [ph.Body(2.0, (1, 2, 2.5)), ph.Body(1.0, (0.1, 0.2, 0.25))]
    states = [ph.State(velocity=n["velocity"]), ph.State(position=(1, 0, 0), angular_velocity_body=n["spin"])]
    return ph.Scenario(bodies, states, [ph.forces.spring_between(0, 1, 3.0, length=0.5)], **FIXED)


@ph.event
def ground(t: Any, state: Any, body: Any, params: Any) -> Any:
    return state.position[2]


def landings() -> ph.Scenario:
    n = numbers()
    start = ph.State(position=(0, 0, 0.5), velocity=n["velocity"])
    settings = {**FIXED, "method": "dop853", "step": None}
    return ph.Scenario(ph.particle(1.0), start, [ph.forces.gravity()], events=[ground(action="stop")], **settings)


def bounces() -> ph.Scenario:
    n = numbers()
    ball = ph.shapes.sphere(0.1, mass=1.0)
    start = ph.State(position=(0, 0, 0.3), velocity=n["velocity"] / 10)
    settings = {**FIXED, "method": "dop853", "step": None}
    return ph.Scenario(
        ball, start, [ph.forces.gravity()], contacts=[ph.floor(restitution=0.5, friction=0.3)], **settings
    )


def store_ensemble(path: Path, source: Any, chunk_members: int = 4096, **about: Any) -> EnsembleResult:
    plan = ChunkPlan(source.members, chunk_members)
    run = open_run_store(path, source, plan, about=about, resume=True)
    with run.store:
        for k in run.store.pending():
            write_result(run, k, run_chunk(source, *plan.range_of(k), RunSettings()), {"mean": {"sum": np.full(2, k)}})
    result = ph.load(path)
    assert isinstance(result, EnsembleResult)
    return result


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The same ensemble in memory and in a store, computed once for all tests."""

    @cache
    def run(make: Any) -> tuple[ph.Motion, EnsembleResult]:
        folder = tmp_path_factory.mktemp(make.__name__)
        return ph.ensemble(make()), store_ensemble(folder / "s.zarr", ArraySource(make()))

    return run


@pytest.mark.parametrize("make", [throws, pairs, landings, bounces])
def test_members_are_read_back_with_the_bits_of_the_ensemble_in_memory(both: Any, make: Any) -> None:
    whole, result = both(make)
    for members in ([4097, 3, 3, 0], slice(4090, 4100), [7, 8, 9], 4999, [1, 2]):
        motion, chosen = result.motion(members), np.atleast_1d(np.arange(MEMBERS)[members])
        for name in ("position", "velocity", "angular_velocity", "quaternion_wxyz", "kinetic_energy"):
            assert np.array_equal(getattr(motion, name), getattr(whole, name)[:, chosen], equal_nan=True), name
        assert len(motion.scenario.states[0].position) == len(chosen) or motion.scenario.members == len(chosen)
    found = result.final if isinstance(result.final, list) else [result.final]
    for one, other in zip(found, whole.final if isinstance(whole.final, list) else [whole.final], strict=True):
        for name in ("position", "velocity", "angular_velocity_body", "quaternion_wxyz"):
            assert np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True), name


def test_energies_need_the_forces_which_are_stored_too(both: Any) -> None:
    whole, result = both(throws)
    motion = result.motion([4, 4500])
    assert np.array_equal(motion.energy, whole.energy[:, [4, 4500]])
    assert np.array_equal(motion.acceleration, whole.acceleration[:, [4, 4500]])


def test_events_and_impacts_of_the_chosen_members(both: Any) -> None:
    whole, result = both(landings)
    motion = result.motion([4500, 2])
    for place, member in enumerate((4500, 2)):
        expected = [(c.time, c.name, c.ends) for c in whole.crossings if c.body == member]
        assert [(c.time, c.name, c.ends) for c in motion.crossings if c.body == place] == expected
    whole, result = both(bounces)
    motion = result.motion([4500, 2])
    for place, member in enumerate((4500, 2)):
        mine, expected_rows = motion.member(place).impacts, whole.member(member).impacts
        assert mine.time.tolist() == expected_rows.time.tolist()
        assert mine.normal_impulse.tolist() == expected_rows.normal_impulse.tolist()
        assert len(mine) > 0
    assert np.array_equal(motion.contact_forces, whole.contact_forces[:, [4500, 2]])


def build(draw: Any) -> ph.Scenario:
    start = ph.State(velocity=draw.normal("velocity", (1.0, 0.0, 5.0), 0.3), angular_velocity_body=(0.1, 2.0, 0.1))
    body = ph.Body(draw.uniform("mass", 1.0, 2.0), (1.0, 2.0, 2.5))
    forces = [ph.forces.gravity(draw.normal("g", 9.8, 0.01)), ph.forces.quadratic_drag(0.01)]
    return ph.Scenario(body, start, forces, **FIXED)


@pytest.mark.parametrize("members", [2, 3, MEMBERS, 4096 + 3])
def test_drawn_members_are_read_without_the_function_that_built_them(tmp_path: Path, members: int) -> None:
    """Also two or three members, whose numbers could be mistaken for a vector."""
    source = DrawnSource(build, members, seed=3)
    result = store_ensemble(tmp_path / "s.zarr", source)
    every = np.arange(members)
    whole = ph.ensemble(source.take(every))
    for chosen in (every, every[-2:], every[:3], every[-1:]):
        motion = result.motion(chosen)
        assert np.array_equal(motion.velocity, whole.velocity[:, chosen])
        assert np.array_equal(motion.energy, whole.energy[:, chosen])
        assert np.array_equal(motion.scenario.bodies[0].mass, whole.scenario.bodies[0].mass[chosen])
    drawn = source.inputs(every)
    assert set(result.inputs) == {"velocity", "mass", "g"}
    assert all(np.array_equal(result.inputs[name], drawn[name]) for name in drawn)


def test_a_build_that_depends_on_its_chunk_is_refused(tmp_path: Path) -> None:
    def sloppy(draw: Any) -> ph.Scenario:
        mass = draw.uniform("mass", 1.0, 2.0)
        return ph.Scenario(ph.Body(mass, (1, 2, 2.5)), forces=[ph.forces.gravity(float(mass.mean()))], **FIXED)

    with pytest.raises(ScenarioError, match=r"forces\.0\.g of the scenario depends on"):
        store_ensemble(tmp_path / "s.zarr", DrawnSource(sloppy, 5000))


def test_checksums_do_not_depend_on_chunks_and_differ_with_one_bit(tmp_path: Path) -> None:
    """SHA-256 over the SHA-256 of each 4096 members, here with hashlib and the samples in memory."""
    from hashlib import sha256

    samples = ph.ensemble(throws()).run_result.samples
    blocks = [np.ascontiguousarray(samples[:, i : i + 4096]).tobytes() for i in range(0, MEMBERS, 4096)]
    expected = sha256(b"".join(sha256(block).digest() for block in blocks)).hexdigest()
    for chunk_members in (4096, 8192):
        result = store_ensemble(tmp_path / f"{chunk_members}.zarr", ArraySource(throws()), chunk_members)
        assert result.checksum() == expected
    changed = throws().states[0].velocity.copy()
    changed[4999, 0] = np.nextafter(changed[4999, 0], 9)
    other = ph.Scenario(
        throws().body, ph.State(velocity=changed, angular_velocity_body=numbers()["spin"]), throws().forces, **FIXED
    )
    assert store_ensemble(tmp_path / "other.zarr", ArraySource(other)).checksum() != expected


def test_another_scenario_is_named_in_the_refusal(tmp_path: Path) -> None:
    store_ensemble(tmp_path / "s.zarr", DrawnSource(build, 5000, seed=3))
    with pytest.raises(FileError, match="seed is 3 in the store and 4 now"):
        store_ensemble(tmp_path / "s.zarr", DrawnSource(build, 5000, seed=4))
    with pytest.raises(FileError, match="members is 5000 in the store and 5001 now"):
        store_ensemble(tmp_path / "s.zarr", DrawnSource(build, 5001, seed=3))
    store_ensemble(tmp_path / "t.zarr", ArraySource(throws()))
    changed = ph.Scenario(throws().body, throws().state, throws().forces, **{**FIXED, "step": 0.0625})
    with pytest.raises(FileError, match=r"scenario.step is 0.125 in the store and 0.0625 now"):
        store_ensemble(tmp_path / "t.zarr", ArraySource(changed))
    faster = ph.State(velocity=numbers()["velocity"] * 2, angular_velocity_body=numbers()["spin"])
    with pytest.raises(FileError, match=r"the numbers of members.scenario.body.velocity are others"):
        store_ensemble(tmp_path / "t.zarr", ArraySource(ph.Scenario(throws().body, faster, throws().forces, **FIXED)))


def test_a_damaged_chunk_is_listed_and_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "s.zarr"
    result = store_ensemble(path, DrawnSource(build, MEMBERS, seed=3))
    before = result.final.position
    (path / "samples" / "c.0.1.0").write_bytes(b"gone")
    damaged = ph.load(path)
    assert isinstance(damaged, EnsembleResult)
    assert [(one.chunk, one.first, one.last) for one in damaged.damaged] == [(1, 4096, MEMBERS)]
    with pytest.raises(DamagedChunkError, match=r"chunk 1 \(members 4096 to 4999\)"):
        damaged.motion([4096])
    with pytest.raises(DamagedChunkError, match="there is no checksum"):
        damaged.checksum()
    assert np.array_equal(damaged.motion([4095]).position[-1], before[4095:4096])
    with pytest.warns(UserWarning, match="NaN"):
        final = damaged.final.position
    assert np.array_equal(final[:4096], before[:4096])
    assert np.isnan(final[4096:]).all()
    assert store_ensemble(path, DrawnSource(build, MEMBERS, seed=3)).checksum() == result.checksum()
    shutil.rmtree(path / "records")
    with pytest.raises(FileError, match=r"no chunk of .+ can be read; the first one is chunk 0 \(members 0 to 4095\)"):
        _ = ph.load(path).final  # type: ignore[union-attr]


def test_dataset_is_lazy_and_has_the_numbers(tmp_path: Path) -> None:
    result = store_ensemble(tmp_path / "s.zarr", DrawnSource(build, 5000, seed=3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dataset = result.dataset
    assert not dataset["samples"]._in_memory
    assert not dataset["position"]._in_memory
    assert np.array_equal(dataset["position"].isel(time=-1).values, result.final.position)
    assert np.array_equal(dataset["input_mass"].values, result.inputs["mass"])
    sent = pickle.loads(pickle.dumps(ph.load(tmp_path / "s.zarr").dataset))  # type: ignore[union-attr]
    assert np.array_equal(sent["position"].values, dataset["position"].values)


@pytest.mark.parametrize("make", [throws, pairs, bounces])
def test_dataset_has_names_units_and_numbers_of_the_dataset_of_the_ensemble_in_memory(both: Any, make: Any) -> None:
    whole, found = both(make)[0].dataset, both(make)[1].dataset
    names = [name for name in whole.data_vars if whole[name].dims[:2] == ("time", "member") and name != "work"]
    assert {"position", "velocity", "angular_velocity_body", "energy", "attitude_drift"} <= set(names)
    some = {"time": -1}, {"member": [4097, 3, 3]}, {"member": 7, "time": slice(1, None)}, {"member": slice(4090, 4100)}
    for name in names:
        one, other = whole[name], found[name]
        assert (one.dims, one.shape, one.attrs, one.dtype) == (other.dims, other.shape, other.attrs, other.dtype), name
        assert not other._in_memory
        for chosen in some:
            assert np.array_equal(one.isel(chosen).values, other.isel(chosen).values, equal_nan=True), (name, chosen)
    assert (
        found["position"].sel(axis="z").isel(member=5).values.tolist()
        == whole["position"][:, 5, ..., 2].values.tolist()
    )
    assert {name: found[name].attrs for name in ("time",)} == {"time": {"units": "s"}}


def test_a_dataset_reads_nothing_that_is_not_verified(tmp_path: Path) -> None:
    path, source = tmp_path / "s.zarr", DrawnSource(build, 5000, seed=3)
    before = store_ensemble(path, source).dataset
    for name in ("time/c.0", "input_mass/c.1", "samples/c.0.1.0"):
        content = bytearray((path / name).read_bytes())
        content[40 if name.startswith("samples") else 16 if name.startswith("time") else 24] ^= 1
        (path / name).write_bytes(content)
    for name in ("zarr.json", "samples/zarr.json", "time/zarr.json"):
        (path / name).write_text("{")
    with pytest.warns(UserWarning, match="its copy is used"):
        dataset = ph.load(path).dataset
    assert dataset["time"].values.tolist() == TIMES
    for name in ("samples", "input_mass", "position"):
        at = {"member": slice(0, 4096)}
        assert np.array_equal(dataset[name].isel(at).values, before[name].isel(at).values)
        with pytest.raises(DamagedChunkError, match=r"chunk 1 \(members 4096 to 4999\)"):
            _ = dataset[name].values
    for k in range(2):
        (path / "records" / f"chunk-{k:08d}").unlink()
    with (
        pytest.warns(UserWarning, match="its copy is used"),
        pytest.raises(FileError, match=r"no chunk of .+ can be read; the first one is chunk 0 \(members 0 to 4095\)"),
    ):
        _ = ph.load(path).dataset


def test_only_reductions_kept_says_so(tmp_path: Path) -> None:
    source = ArraySource(throws())
    plan = ChunkPlan(source.members, 4096)
    run = open_run_store(tmp_path / "s.zarr", source, plan, about={}, keep_samples=False)
    with run.store:
        for k in range(plan.count):
            write_result(run, k, run_chunk(source, *plan.range_of(k), RunSettings()), {"mean:x/y": {"sum": np.ones(k)}})
    result = ph.load(tmp_path / "s.zarr")
    assert isinstance(result, EnsembleResult)
    assert result.store is not None
    assert read_partials(result.store, 1)["mean:x/y"]["sum"].tolist() == [1.0]
    with pytest.raises(FileError, match="keep='samples'"):
        result.motion([0])
    assert result.checksum() == store_ensemble(tmp_path / "t.zarr", source).checksum()


def test_members_that_are_not_there(tmp_path: Path) -> None:
    result = store_ensemble(tmp_path / "s.zarr", ArraySource(throws()))
    for wrong in (MEMBERS, -1, [0, MEMBERS], "all", [], [[1]], [0.5]):
        with pytest.raises(InputError, match="members"):
            result.motion(wrong)
    assert (
        repr(result) == f"<EnsembleResult of 5000 members, 0 to 1 s, 3 output times, stored in {tmp_path / 's.zarr'}>"
    )


def test_nothing_in_a_store_is_executed(tmp_path: Path) -> None:
    """Functions of the user are named, not stored: what needs them says so."""

    @ph.force
    def lift(t: Any, state: Any, body: Any, params: Any) -> Any:
        return (0.0, 0.0, params[0]), (0.0, 0.0, 0.0)

    scenario = ph.Scenario(ph.particle(1.0), ph.State(velocity=numbers()["velocity"]), [lift(2.0)], **FIXED)
    result = store_ensemble(tmp_path / "s.zarr", ArraySource(scenario))
    motion = result.motion([1, 4999])
    assert np.array_equal(motion.position, ph.ensemble(scenario).position[:, [1, 4999]])
    with pytest.raises(ScenarioError, match="lift"):
        _ = motion.energy
    code = b"".join(file.read_bytes() for file in (tmp_path / "s.zarr").rglob("*") if file.is_file())
    assert b"pickle" not in code
    assert EnsembleStore.open(tmp_path / "s.zarr").manifest.run["members"]["unknown_forces"] == ["lift"]
