"""Damaged stores: whatever happens to a file, a number that is read is the one that was written, or there is none."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chunk_producer as producer
import polhode as ph
from polhode.ensembles.store import EnsembleStore
from polhode.errors import DamagedChunkError, FileError

CHUNKS = 4
EXPECTED = producer.SUMMARY["values"]


def test_one_damaged_chunk_is_named_with_its_members_and_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "s.zarr"
    producer.produce(path, CHUNKS)
    with (path / "samples" / "c.0.1.0").open("r+b") as file:
        file.seek(5000)
        file.write(b"\x00\x01")
    store = EnsembleStore.open(path)
    assert [str(damage) for damage in store.find_damage()] == [
        "chunk 1 (members 4096 to 8191): it is damaged: samples is not what was stored"
    ]
    with pytest.raises(DamagedChunkError, match=r"chunk 1 \(members 4096 to 8191\).+resume the run"):
        store.read_members("samples", np.array([5000]))
    assert store.read_members("samples", np.array([0, 9000])).shape == (3, 2, 2)


def test_a_chunk_of_another_store_is_refused(tmp_path: Path) -> None:
    """All files of a chunk from a run with another seed fit together, but do not belong here."""
    plan = producer.plan_of(CHUNKS)
    producer.produce(tmp_path / "s.zarr", CHUNKS)
    with producer.create(tmp_path / "other.zarr", plan, seed=8) as other:
        values = {name: values + 1 for name, values in producer.values_of(plan, 2).items()}
        other.write_chunk(2, values, {"steps": 2}, producer.attached_of(2))
    for name in ("samples/c.0.2.0", "input_mass/c.2", "records/chunk-00000002"):
        shutil.copy(tmp_path / "other.zarr" / name, tmp_path / "s.zarr" / name)
    store = EnsembleStore.open(tmp_path / "s.zarr")
    assert [damage.chunk for damage in store.find_damage()] == [2]
    assert "another run" in store.find_damage()[0].reason


def test_both_copies_of_the_manifest_damaged_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "s.zarr"
    producer.produce(path, CHUNKS)
    for name in ("zarr.json", "records/manifest.json"):
        content: Any = json.loads((path / name).read_text())
        content.get("attributes", content)["polhode_archive"]["run"]["seed"] = 8
        (path / name).write_text(json.dumps(content))
    for attempt in (EnsembleStore.open, lambda path: producer.create(path, producer.plan_of(CHUNKS), resume=True)):
        with pytest.raises(FileError, match="both copies of its manifest"):
            attempt(path)


def test_another_version_is_refused_with_what_was_found(tmp_path: Path) -> None:
    path = tmp_path / "s.zarr"
    producer.produce(path, CHUNKS)
    for name in ("zarr.json", "records/manifest.json"):
        content: Any = json.loads((path / name).read_text())
        own = content.get("attributes", content)
        own["polhode_archive"] |= {"version": 2, "versions": {"polhode": "9.0"}}
        text = json.dumps(own["polhode_archive"], sort_keys=True).encode()
        own["polhode_archive_sha256"] = hashlib.sha256(text).hexdigest()
        (path / name).write_text(json.dumps(content))
    for attempt in (ph.load, lambda path: producer.create(path, producer.plan_of(CHUNKS), resume=True)):
        with pytest.raises(FileError, match=r"of version 2, written by Polhode 9.0, .*which reads version 1\. Open it"):
            attempt(path)


def test_a_manifest_that_asks_for_too_much_memory_takes_none(tmp_path: Path) -> None:
    """Sizes are compared with those of the files before anything is read."""
    plan = producer.plan_of(CHUNKS)
    producer.produce(tmp_path / "s.zarr", CHUNKS)
    with (tmp_path / "s.zarr" / "samples" / "c.0.0.0").open("r+b") as file:
        file.truncate(2**40)  # a file with a hole: a terabyte that takes no room
    damage = EnsembleStore.open(tmp_path / "s.zarr").find_damage()
    assert [str(one) for one in damage] == [
        f"chunk 0 (members 0 to {plan.range_of(0)[1] - 1}): it is damaged: the file of samples has a wrong size"
    ]
