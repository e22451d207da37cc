"""Damaged archives of every kind: what is read is what was written, or a sentence says that it is not.

A motion is read again, an ensemble chunk by chunk and then resumed, and an unfinished run is continued to its end.
"""

from __future__ import annotations

import random
import re
import shutil
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import trimesh

import chunk_producer as producer
import polhode as ph
from polhode.archive.checkpoints import CheckpointChain
from polhode.ensembles.store import EnsembleStore
from polhode.errors import DamagedChunkError, FileError
from polhode.integrate import integrator
from polhode.solve import durable_run

# The laws as they stand give the same bits as compiled ones, and need no compilation.
pytestmark = pytest.mark.filterwarnings("ignore:engine='python'")
CHUNKS = 4


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
    """Change a number, a word or a key so that it is still JSON, if the file is, or has some."""
    text = path.read_bytes()
    places = list(re.finditer(rb"\d+|[a-f]{3,}|[a-z]{3,}", text)) if b"{" in text[:80] else []
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


# What is read ---------------------------------------------------------------------------------------------------------
class Archive(NamedTuple):
    """An archive, and how everything in it is read: it returns what could not be read, in sentences."""

    path: Path
    read: Callable[[Path], set[str]]
    must_tell: str = ""
    """The files of which any change must be told: a pattern."""


@ph.event
def low(t, state, body, params):
    return state.position[2] - params[0]


def make_motion(folder: Path, _: pytest.MonkeyPatch) -> Archive:
    knot = ph.Body.from_mesh(trimesh.creation.torus(1, 0.3, major_sections=6, minor_sections=4), density=2.0)
    start = ph.State(position=(0.1, -0.2, 1 / 3), velocity=(1e-3, 2.0, -3.0), angular_velocity=(0.7, 1.9, -1 / 7))
    short: dict[str, Any] = {"engine": "python", "duration": 0.2, "output_step": 0.1}
    events = [low(0.2, action="record")]
    motion = ph.simulate(knot, start, [ph.forces.gravity()], events=events, **short)
    motion.save(folder / "x.zarr")

    def everything(found: Any) -> Any:
        run = found.run_result
        surface = found.scenario.body.parts[0].surface(8)
        return (
            (found.times.tobytes(), run.samples.tobytes(), run.steps, run.refused, run.auto_report),
            [(c.event, c.body, c.time, c.name, c.ends, c.sample.tobytes()) for c in run.crossings],
            (found.scenario.without_own_functions().as_mapping(), surface.vertices.tobytes(), surface.faces.tobytes()),
        )

    expected = everything(ph.load(folder / "x.zarr"))
    assert expected == everything(motion)

    def read(path: Path) -> set[str]:
        told: set[str] = set()
        try:
            assert everything(ph.load(path)) == expected
        except FileError as error:
            told.add(str(error))
        assert all("Restore a copy" in sentence for sentence in told)
        return told

    needed = "computed|time|crossing_computed|scenario_array_.*"
    return Archive(folder / "x.zarr", read, rf"({needed})/c\..*")


def make_ensemble(folder: Path, _: pytest.MonkeyPatch) -> Archive:
    path = folder / "x.zarr"
    producer.produce(path, CHUNKS)
    whole = producer.content_of(path)

    def read(path: Path) -> set[str]:
        told = read_chunks(path)
        for folder in [file for file in path.rglob("*") if file.is_dir() and file.name.startswith(("c.", "chunk-"))]:
            folder.rmdir()
        for name in ("zarr.json", "records/manifest.json", "records/summary", "records/time.copy"):
            if (path / name).is_dir():
                (path / name).rmdir()
        for file in [file for file in path.glob("*/zarr.json") if file.is_dir()]:
            file.rmdir()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            producer.produce(path, CHUNKS)
        assert producer.content_of(path) == whole
        return told

    return Archive(path, read, r"(samples|input_mass)/c\..*|records/chunk-.*")


def read_chunks(path: Path) -> set[str]:
    """Read all that can be read of an ensemble."""
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
        assert summary is None or summary["mean"] == 0.5
        assert summary is None or np.array_equal(summary["values"], producer.SUMMARY["values"])
    except FileError as error:
        found.add(str(error))
    try:
        assert store.read_common("time").tolist() == producer.TIMES.tolist()
    except FileError as error:
        found.add(str(error))
    return found


class Killed(BaseException):
    """As if the process had ended."""


def make_checkpoint(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Archive:
    forces = [ph.forces.gravity(), ph.forces.linear_drag(0.5)]
    spin = ph.State(angular_velocity_body=(0.1, 5.0, 0.1))
    box = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0)
    scenario = ph.Scenario(box, spin, forces, duration=0.6, step=1e-3, method="rk4")
    wanted = ph.simulate(scenario).run_result.samples.tobytes()
    write = CheckpointChain.write

    def write_and_die(self: Any, *arguments: Any) -> None:
        write(self, *arguments)
        if self.number == 6:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(durable_run, "CHECKPOINT_S", 0.0)
        patch.setattr(durable_run, "CHECKPOINT_SHARE", 0.0)
        patch.setattr(integrator, "PORTION_S", 2e-5)
        patch.setattr(integrator.FixedSteps, "seconds_per_step", property(lambda _: 3e-7, lambda *_: None), False)
        patch.setattr(CheckpointChain, "write", write_and_die)
        with pytest.raises(Killed):
            ph.simulate(scenario, store=folder / "x.zarr")

    def read(path: Path) -> set[str]:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                found = ph.simulate(scenario, store=path, resume=True)
            except FileError as error:
                return {str(error)}
        assert found.run_result.samples.tobytes() == wanted
        assert ph.load(path).run_result.samples.tobytes() == wanted  # type: ignore[union-attr]
        return {str(warning.message) for warning in told}

    return Archive(folder / "x.zarr", read, r"records/rows-.*")


KINDS = {"motion": make_motion, "ensemble": make_ensemble, "checkpoint": make_checkpoint}


def damage_archives(make: Any, folder: Path, times: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Damage a file of an archive, every other time one that is read; read everything; and again, with a new copy."""
    (folder / "whole").mkdir()
    archive, chance, count = make(folder / "whole", monkeypatch), random.Random(seed), Counter[str]()
    path = folder / "x.zarr"
    names = sorted(str(file.relative_to(archive.path)) for file in archive.path.rglob("*") if file.is_file())
    whole = {name: (archive.path / name).read_bytes() for name in names}
    shutil.copytree(archive.path, path)
    assert archive.read(path) == set()
    read = [name for name in names if name == "zarr.json" or re.fullmatch(archive.must_tell, name)]
    for i in range(times):
        shutil.rmtree(path)
        shutil.copytree(archive.path, path)
        files = [path / name for name in names]
        name = chance.choice(read if i % 2 else names)
        way = WAYS[i % len(WAYS)]
        way(path / name, files, chance)
        changed = {name for name in names if not (path / name).is_file() or (path / name).read_bytes() != whole[name]}
        told = archive.read(path)
        where = f"{way.__name__} of {name} (the {i}th)"
        assert told or not any(re.fullmatch(archive.must_tell, one) for one in changed), where
        count["told" if told else "harmless" if changed else "unchanged"] += 1
    return count


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_a_damaged_archive_is_refused_or_right(make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    count = damage_archives(make, tmp_path, 63, 1, monkeypatch)
    assert count["told"] > 63 / 4  # of the half that hits what is read, few change nothing


@pytest.mark.long
@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_a_thousand_damaged_archives_are_refused_or_right(
    make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = damage_archives(make, tmp_path, 1000, 2, monkeypatch)
    assert count["told"] > 1000 / 4
