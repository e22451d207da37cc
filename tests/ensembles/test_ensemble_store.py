"""The store of an ensemble, as plain Zarr and xarray read it; who may write it; and when it is resumed."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
import zarr

import chunk_producer as producer
from polhode.archive.layout import ArraySpec
from polhode.archive.lock import StoreInUseError
from polhode.ensembles.chunks import ChunkPlan
from polhode.ensembles.store import EnsembleStore
from polhode.errors import FileError, InputError


def whole(plan: ChunkPlan, name: str, axis: int) -> Any:
    return np.concatenate([producer.values_of(plan, k)[name] for k in range(plan.count)], axis=axis)


@pytest.mark.parametrize("consolidated", [True, False])
def test_zarr_and_xarray_read_the_same_numbers_without_a_warning(tmp_path: Path, consolidated: bool) -> None:
    path, plan = tmp_path / "sweep.zarr", producer.plan_of(3)
    producer.produce(path, 3, resume=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        group: Any = zarr.open_group(path, mode="r", use_consolidated=consolidated)
        assert sorted(name for name, _ in group.members()) == ["input_mass", "records", "samples", "time"]
        dataset = xarray.open_zarr(path, consolidated=consolidated)
    expected = whole(plan, "samples", 1)
    assert group["samples"][...].tobytes() == expected.tobytes()
    assert group["samples"][1, 4090:4100, 1].tobytes() == expected[1, 4090:4100, 1].tobytes()
    assert dataset["samples"].dims == ("time", "member", "number")
    assert dataset["samples"].chunks is not None  # lazy
    assert dataset["input_mass"].values.tobytes() == whole(plan, "input_mass", 0).tobytes()
    assert dataset["time"].values.tolist() == producer.TIMES.tolist()
    assert dataset.attrs["polhode_archive"]["run"]["seed"] == 7


@pytest.mark.parametrize("members", [1, 2, 4095, 4096, 4097, 20_000])
@pytest.mark.parametrize("chunk_members", [4096, 16_384])
@pytest.mark.parametrize("dtype", ["float64", "int32", "bool"])
def test_any_number_of_members_is_read_back_bit_for_bit(
    tmp_path: Path, members: int, chunk_members: int, dtype: str
) -> None:
    plan, random = ChunkPlan(members, chunk_members), np.random.default_rng(members)
    values = random.integers(0, 2**20, size=(2, members, 3)).astype(dtype)
    arrays = {"numbers": ArraySpec(values.shape, ("time", "member", "axis"), dtype)}
    with EnsembleStore.create(tmp_path / "s.zarr", {}, plan, arrays) as store:
        for k in range(plan.count):
            first, last = plan.range_of(k)
            store.write_chunk(k, {"numbers": values[:, first:last]}, {})
        some = random.integers(0, members, size=40)
        assert np.array_equal(store.read_members("numbers", some), values[:, some])
        assert store.pending() == []
    assert np.array_equal(zarr.open_group(tmp_path / "s.zarr", mode="r")["numbers"][...], values)


def test_a_chunk_that_is_not_there_is_nan_for_zarr_and_an_error_here(tmp_path: Path) -> None:
    plan = producer.plan_of(3)
    with producer.create(tmp_path / "s.zarr", plan) as store:
        store.write_chunk(1, producer.values_of(plan, 1), {})
        assert store.pending() == [0, 2]
        with pytest.raises(FileError, match=r"chunk 2 \(members 8192 to 9191\).+not written"):
            producer.read_arrays(store, 2)
    group: Any = zarr.open_group(tmp_path / "s.zarr", mode="r")
    assert np.isnan(group["samples"][:, :4096]).all()
    assert np.isfinite(group["samples"][:, 4096:8192]).all()


def test_what_is_attached_and_recorded_comes_back(tmp_path: Path) -> None:
    producer.produce(tmp_path / "s.zarr", 2)
    with EnsembleStore.open(tmp_path / "s.zarr") as store:
        assert store.read_record(1).content == {"steps": 1}
        attached = store.read_attached(1)
    assert attached["partial/mean/sum"].tolist() == [1.0, 1.0, 1.0]
    assert attached["names"].tolist() == ["chunk 1"]


def test_objects_that_would_be_executed_are_neither_written_nor_read(tmp_path: Path) -> None:
    plan = producer.plan_of(1)
    with producer.create(tmp_path / "s.zarr", plan) as store:
        values = producer.values_of(plan, 0)
        with pytest.raises(InputError, match="Python objects"):
            store.write_chunk(0, values, {}, {"bad": np.array([print], dtype=object)})
        with pytest.raises(InputError, match="not plain JSON"):
            store.write_chunk(0, values, {"bad": print})
        with pytest.raises(InputError, match="not plain JSON"):
            store.write_chunk(0, values, {"bad": float("nan")})
        assert store.pending() == [0]
    assert not any(name.endswith(".part") for name in producer.content_of(tmp_path / "s.zarr"))


def test_arrays_of_another_shape_or_type_are_refused(tmp_path: Path) -> None:
    plan = producer.plan_of(2)
    with producer.create(tmp_path / "s.zarr", plan) as store:
        values = producer.values_of(plan, 0)
        with pytest.raises(InputError, match="the store has float64 of shape"):
            store.write_chunk(1, values, {})
        with pytest.raises(InputError, match="float32"):
            store.write_chunk(0, values | {"input_mass": values["input_mass"].astype("float32")}, {})
        with pytest.raises(InputError, match="has the arrays"):
            store.write_chunk(0, {"samples": values["samples"]}, {})
    for name in ("../up", "records", "a/b", ""):
        with pytest.raises(InputError, match="cannot be named"):
            EnsembleStore.create(tmp_path / "t.zarr", {}, plan, {name: ArraySpec((plan.members,), ("member",))})
    assert not (tmp_path / "t.zarr").exists()


# Resuming -------------------------------------------------------------------------------------------------------------
def test_a_store_is_not_overwritten_and_resuming_keeps_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "s.zarr"
    producer.produce(path, 2)
    before = producer.content_of(path)
    with pytest.raises(FileError, match="resume=True"):
        producer.create(path, producer.plan_of(2))
    producer.produce(path, 2, resume=True)
    assert producer.content_of(path) == before
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("mine")
    for resume in (True, False):
        with pytest.raises(FileError, match="not the store of an ensemble"):
            producer.create(tmp_path / "other", producer.plan_of(2), resume)
    assert (tmp_path / "other" / "thesis.tex").read_text() == "mine"
    (tmp_path / "empty").mkdir()
    producer.produce(tmp_path / "empty", 2)
    assert producer.content_of(tmp_path / "empty") == before


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"seed": 8}, "seed is 7 in the store and 8 now"),
        ({"scenario": {"duration": 2.0}}, "scenario.duration is 1.0 in the store and 2.0 now"),
        ({"code": "4567"}, 'code is "0123" in the store and "4567" now'),
        ({"extra": 1}, "extra is not given in the store and 1 now"),
    ],
)
def test_another_run_does_not_resume_a_store(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    producer.produce(tmp_path / "s.zarr", 2)
    with pytest.raises(FileError, match=re.escape(words)):
        producer.create(tmp_path / "s.zarr", producer.plan_of(2), resume=True, **change)


def test_another_plan_or_version_does_not_resume_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    producer.produce(tmp_path / "s.zarr", 2)
    members = producer.plan_of(2).members
    with pytest.raises(FileError, match=r"plan.chunk_members is 4096 in the store and 8192 now"):
        producer.create(tmp_path / "s.zarr", ChunkPlan(members, 8192), resume=True)
    monkeypatch.setattr("polhode.archive.archive.__version__", "99.0")
    with pytest.raises(FileError, match=r'versions.polhode is "[\d.]+.*" in the store and "99.0" now'):
        producer.create(tmp_path / "s.zarr", producer.plan_of(2), resume=True)


# One writer -----------------------------------------------------------------------------------------------------------
HOLD = """
import sys, time
import chunk_producer as producer
store = producer.create(producer.Path(sys.argv[1]), producer.plan_of(2))
print("locked", flush=True)
time.sleep(60)
"""


def test_two_runs_cannot_write_one_store(tmp_path: Path) -> None:
    path = tmp_path / "s.zarr"
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        assert other.stdout is not None
        assert other.stdout.readline() == b"locked\n"
        with pytest.raises(StoreInUseError, match=rf"process {other.pid} on "):
            producer.create(path, producer.plan_of(2), resume=True)
        with EnsembleStore.open(path) as reader:  # reading is free
            assert reader.pending() == [0, 1]
            with pytest.raises(FileError, match="reading only"):
                reader.write_chunk(0, {}, {})
    finally:
        other.kill()
        other.wait()
    producer.produce(path, 2)  # the lock has died with its process


def _write(store: EnsembleStore, k: int) -> None:
    store.write_chunk(k, producer.values_of(store.plan, k), {"steps": k}, producer.attached_of(k))


def test_other_processes_write_chunks_for_the_run_that_holds_the_lock(tmp_path: Path) -> None:
    plan = producer.plan_of(6)
    with producer.create(tmp_path / "s.zarr", plan) as store:
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            pool.starmap(_write, [(store, k) for k in range(plan.count)])
        assert store.pending() == []
        store.write_extra("summary", {"mean": 0.5, **producer.SUMMARY})
    producer.produce(tmp_path / "alone.zarr", 6)
    assert producer.content_of(tmp_path / "s.zarr") == producer.content_of(tmp_path / "alone.zarr")


def test_a_process_that_was_left_behind_does_not_write_to_a_new_store(tmp_path: Path) -> None:
    path, plan = tmp_path / "s.zarr", producer.plan_of(2)
    with producer.create(path, plan) as store:
        left_behind, sent = pickle.loads(pickle.dumps(store)), pickle.dumps(store)
    path.rename(tmp_path / "old.zarr")
    with producer.create(path, plan, seed=8):
        with pytest.raises(FileError, match="replaced"):
            _write(left_behind, 0)
        with pytest.raises(FileError, match="replaced"):
            pickle.loads(sent)


# Strange places -------------------------------------------------------------------------------------------------------
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pipes with names in folders")
def test_links_and_pipes_are_not_followed(tmp_path: Path) -> None:
    path = tmp_path / "s.zarr"
    producer.produce(path, 2)
    secret = tmp_path / "secret"
    secret.write_bytes((path / "samples" / "c.0.0.0").read_bytes())
    for make in (lambda place: place.symlink_to(secret), os.mkfifo):
        reader = EnsembleStore.open(path)
        place = path / "samples" / "c.0.0.0"
        content = place.read_bytes()
        place.unlink()
        make(place)
        with pytest.raises(FileError, match=r"chunk 0 \(members 0 to 4095\)"):
            producer.read_arrays(reader, 0)
        with pytest.raises(FileError, match="a link, a device or a pipe"):
            EnsembleStore.open(path)
        place.unlink()
        place.write_bytes(content)
    producer.read_arrays(EnsembleStore.open(path), 0)


def test_a_link_to_a_store_is_the_store(tmp_path: Path) -> None:
    producer.produce(tmp_path / "s.zarr", 2)
    (tmp_path / "link.zarr").symlink_to(tmp_path / "s.zarr")
    assert EnsembleStore.open(tmp_path / "link.zarr").pending() == []
    with producer.create(tmp_path / "s.zarr", producer.plan_of(2), resume=True), pytest.raises(StoreInUseError):
        producer.create(tmp_path / "link.zarr", producer.plan_of(2), resume=True)


@pytest.mark.parametrize("path", ["", "."])
def test_a_store_has_a_name(path: str) -> None:
    with pytest.raises(FileError, match="the path is empty"):
        EnsembleStore.open(path)
