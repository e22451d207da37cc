"""Damaged stores: whatever happens to a file, a number that is read is the one that was written, or there is none."""

from __future__ import annotations

import json
import random
import re
import shutil
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chunk_producer as producer
from polhode.ensembles.store import EnsembleStore
from polhode.errors import DamagedChunkError, FileError

CHUNKS = 4
EXPECTED = producer.SUMMARY["values"]


def flip_bytes(path: Path, others: list[Path], chance: random.Random) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(chance.choice((1, 1, 1, 8))):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)


def truncate(path: Path, others: list[Path], chance: random.Random) -> None:
    path.write_bytes(path.read_bytes()[: chance.randrange(path.stat().st_size)])


def extend(path: Path, others: list[Path], chance: random.Random) -> None:
    path.write_bytes(path.read_bytes() + bytes(chance.randrange(1, 5000)))


def delete(path: Path, others: list[Path], chance: random.Random) -> None:
    path.unlink()


def fill_with_zeros(path: Path, others: list[Path], chance: random.Random) -> None:
    content = bytearray(path.read_bytes())
    first = chance.choice((0, chance.randrange(len(content))))
    content[first:] = bytes(len(content) - first)
    path.write_bytes(content)


def swap(path: Path, others: list[Path], chance: random.Random) -> None:
    alike = [other for other in others if other.parent == path.parent and other != path]
    other = chance.choice(alike or others)
    one, two = path.read_bytes(), other.read_bytes()
    path.write_bytes(two)
    other.write_bytes(one)


def copy_another(path: Path, others: list[Path], chance: random.Random) -> None:
    path.write_bytes(chance.choice(others).read_bytes())


def change_json(path: Path, others: list[Path], chance: random.Random) -> None:
    """Change a number, a word or a key so that it is still JSON, if the file is."""
    text = path.read_bytes()
    places = list(re.finditer(rb"\d+|[a-f]{3,}|[a-z]{3,}", text)) if path.suffix == ".json" else []
    if not places:
        flip_bytes(path, others, chance)
        return
    place = chance.choice(places)
    word = b"7" if place.group().isdigit() else b"xyz"
    path.write_bytes(text[: place.start()] + word + text[place.end() :])
    if chance.random() < 0.2:
        path.write_bytes(chance.choice((b"{}", b"[]", b"null", b"", b'{"attributes": 3}', b"[" * 5000)))


def become_a_folder(path: Path, others: list[Path], chance: random.Random) -> None:
    path.unlink()
    path.mkdir()


WAYS = (flip_bytes, truncate, extend, delete, fill_with_zeros, swap, copy_another, change_json, become_a_folder)


def read_everything(path: Path) -> set[str]:
    """Read all that can be read; everything is what was written.  Returns what could not be read, in sentences."""
    plan, found = producer.plan_of(CHUNKS), set()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            store = EnsembleStore.open(path)
        except FileError as error:
            return {str(error)}
    found |= {str(warning.message) for warning in told}
    assert store.manifest.run["seed"] == 7
    damaged = {damage.chunk for damage in store.find_damage()}
    for k in range(CHUNKS):
        first, last = plan.range_of(k)
        expected = producer.values_of(plan, k)
        try:
            arrays = producer.read_arrays(store, k)
            assert store.read_record(k).content == {"steps": k}
            assert all(arrays[name].tobytes() == values.tobytes() for name, values in expected.items())
            members = np.array([last - 1, first])
            assert np.array_equal(store.read_members("samples", members), expected["samples"][:, [-1, 0]])
            assert {n: v.tolist() for n, v in store.read_attached(k).items()} == {
                n: v.tolist() for n, v in producer.attached_of(k).items()
            }
        except DamagedChunkError as error:
            told_of = str(error)
        else:
            assert k not in damaged
            continue
        assert f"chunk {k} (members {first} to {last - 1})" in told_of
        assert k in damaged
        found.add(told_of)
    try:
        summary = store.read_extra("summary")
        assert summary is None or (summary[0] == {"mean": 0.5} and np.array_equal(summary[1]["values"], EXPECTED))
    except FileError as error:
        found.add(str(error))
    try:
        assert store.read_common("time").tolist() == producer.TIMES.tolist()
    except FileError as error:
        found.add(str(error))
    return found


def damage_files(folder: Path, times: int, seed: int) -> Counter[str]:
    """Damage one file after the other, read, resume, compare with the undamaged store."""
    path, chance, count = folder / "s.zarr", random.Random(seed), Counter[str]()
    producer.produce(path, CHUNKS)
    whole = producer.content_of(path)
    assert read_everything(path) == set()
    for i in range(times):
        files = sorted(file for file in path.rglob("*") if file.is_file())
        file, way = chance.choice(files), WAYS[i % len(WAYS)]
        way(file, files, chance)
        where = f"{way.__name__} of {file.relative_to(path)} (the {i}th)"
        changed = {name for name, content in whole.items() if producer.content_of(path).get(name) != content}
        told = read_everything(path)
        chunks = {name for name in changed if re.search(r"c\.\d|chunk", name) and not name.startswith("time")}
        assert told or not chunks, where
        count["told" if told else "harmless" if changed else "unchanged"] += 1
        if file.is_dir():
            file.rmdir()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            producer.produce(path, CHUNKS)
        assert producer.content_of(path) == whole, where
    return count


def test_damage_is_found_or_harmless_and_resuming_repairs_it(tmp_path: Path) -> None:
    count = damage_files(tmp_path, times=54, seed=1)
    assert count["told"] > 30


@pytest.mark.long
def test_five_hundred_damaged_files_are_found_or_harmless(tmp_path: Path) -> None:
    count = damage_files(tmp_path, times=504, seed=2)
    assert count["told"] > 300


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
    for name in ("samples/c.0.2.0", "input_mass/c.2", "records/chunk.2.json", "records/chunk.2.npz"):
        shutil.copy(tmp_path / "other.zarr" / name, tmp_path / "s.zarr" / name)
    store = EnsembleStore.open(tmp_path / "s.zarr")
    assert [damage.chunk for damage in store.find_damage()] == [2]
    assert "another store" in store.find_damage()[0].reason


def test_both_copies_of_the_manifest_damaged_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "s.zarr"
    producer.produce(path, CHUNKS)
    for name in ("zarr.json", "records/manifest.json"):
        content: Any = json.loads((path / name).read_text())
        content.get("attributes", content)["polhode_ensemble"]["run"]["seed"] = 8
        (path / name).write_text(json.dumps(content))
    for writable in (False, True):
        with pytest.raises(FileError, match="both copies of its manifest"):
            EnsembleStore.open(path, writable=writable)


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
