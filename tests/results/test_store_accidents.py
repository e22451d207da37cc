"""Whatever happens to a stored motion, it is read as it was, or an error says what is wrong."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import trimesh

import polhode as ph
from polhode.errors import FileError, PolhodeError

# The laws as they stand give the same bits as compiled ones, and need no compilation.
pytestmark = pytest.mark.filterwarnings("ignore:engine='python'")
f = ph.forces
START = ph.State(position=(0.1, -0.2, 1 / 3), velocity=(1e-3, 2.0, -3.0), angular_velocity=(0.7, 1.9, -1 / 7))
SHORT = {"engine": "python", "duration": 0.2, "output_step": 0.1}
KNOT = trimesh.creation.torus(1, 0.3, major_sections=6, minor_sections=4)
RANDOM = np.random.default_rng(5)


@ph.event
def low(t, state, body, params):
    return state.position[2] - params[0]


@ph.force
def own_push(t, state, body, params):
    return (params[0] * body.mass, 0.0, 0.0), (0.0, 0.0, 0.0)


MOTIONS = {
    "mesh and event": lambda: ph.simulate(
        ph.Body.from_mesh(KNOT, density=2.0), START, [f.gravity()], events=[low(0.2, action="record")], **SHORT
    ),
    "system with a force not stored": lambda: ph.simulate(
        [ph.shapes.box((1, 2, 3), mass=1.75), ph.particle(1.0)],
        [START, START.replace(position=(1, 1, 1))],
        [f.spring_between(0, 1, 3.0, length=0.5), own_push(2.0).on(0)],
        name="two",
        step=0.05,
        method="rk4",
        **SHORT,
    ),
    "ensemble": lambda: ph.ensemble(
        ph.Body(mass=RANDOM.uniform(1, 2, 70), inertia=(1.0, 1.1, 1.2)), START, step=0.1, method="rk4", **SHORT
    ),
}


@pytest.fixture(scope="module", params=MOTIONS.values(), ids=MOTIONS.keys())
def stored(request, tmp_path_factory):
    """A motion and its store."""
    motion = request.param()
    path = tmp_path_factory.mktemp("stored") / "motion.zarr"
    motion.save(path)
    return motion, path


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """Two short motions, and a store of each."""
    folder = tmp_path_factory.mktemp("two")
    motions = [ph.simulate(ph.particle(1.0), ph.State(velocity=(v, 0, 0)), method="exact", **SHORT) for v in (1, 2)]
    for number, motion in enumerate(motions):
        motion.save(folder / f"{number}.zarr")
    return motions, [folder / f"{number}.zarr" for number in range(2)]


def everything(motion):
    """All that a motion holds, in a form that can be compared."""
    run = motion.run_result
    return (
        motion.times.tobytes(),
        run.samples.tobytes(),
        [(c.event, c.body, c.time, c.name, c.ends, c.sample.tobytes()) for c in run.crossings],
        (run.steps, run.refused, run.auto_report, motion.axis),
        list(motion.unknown_forces) or [one.name for one in motion.scenario.forces if one.function is not None],
        motion.scenario.without_own_functions().as_mapping(),
        [_appearance(part) for body in motion.scenario.bodies for part in body.parts],
    )


def _appearance(part):
    surface = part.surface(8)
    return surface.vertices.tobytes(), surface.faces.tobytes()


def is_same(one, other):
    return one.run_result.samples.tobytes() == other.run_result.samples.tobytes()


def change_manifest(path, change, sign=True):
    """Change the manifest of an archive as an editor could, with the digest that belongs to it."""
    content = json.loads((path / "zarr.json").read_text())
    attributes = content["attributes"]
    manifest = attributes["polhode_archive"]
    change(manifest)
    if sign:
        text = json.dumps(manifest, sort_keys=True).encode()
        attributes["polhode_archive_sha256"] = hashlib.sha256(text).hexdigest()
    (path / "zarr.json").write_text(json.dumps(content))


def run_python(script, *arguments):
    return subprocess.Popen([sys.executable, "-c", script, *map(str, arguments)], stdout=subprocess.PIPE, text=True)


# Damage ---------------------------------------------------------------------------------------------------------------
def test_a_changed_digit_of_the_mass_is_noticed(tmp_path):
    ph.simulate(ph.particle(1.75), START, **SHORT).save(tmp_path / "motion.zarr")
    text = (tmp_path / "motion.zarr" / "zarr.json").read_text()
    changed = text.replace('"mass": 1.75', '"mass": 1.76')
    assert changed != text
    (tmp_path / "motion.zarr" / "zarr.json").write_text(changed)
    with pytest.raises(FileError, match=r"motion.zarr is damaged.*Restore a copy"):
        ph.load(tmp_path / "motion.zarr")


@pytest.mark.parametrize("name", ["steps", "refused", "members", "scenario", "appearance"])
def test_everything_that_is_read_is_verified(name, stored, tmp_path):
    _, path = stored
    for number, change in enumerate([lambda run: run.pop(name), lambda run: run.update({name: 1000})]):
        copy = shutil.copytree(path, tmp_path / f"{number}.zarr")
        change_manifest(copy, lambda manifest, change=change: change(manifest["run"]), sign=False)
        with pytest.raises(FileError, match=r"is damaged"):
            ph.load(copy)


def test_damaged_stores_are_refused_or_read_as_they_were(stored, tmp_path):
    """70 damages of each kind and motion, half of them in the text: 630 damaged stores."""
    motion, path = stored
    expected, draw = everything(motion), random.Random(14)
    files = sorted(file.relative_to(path) for file in path.rglob("*") if file.is_file())
    shutil.copytree(path, tmp_path / "motion.zarr")
    sentences = []
    for number in range(70):
        name = files[number // 2 % len(files)] if number % 2 else Path("zarr.json")
        file = tmp_path / "motion.zarr" / name
        whole = file.read_bytes()
        position = draw.randrange(len(whole))
        flipped = bytearray(whole)
        flipped[position] ^= 1 << draw.randrange(8)
        for damaged in (bytes(flipped), whole[:position], None):
            if damaged is None:
                file.unlink()
            else:
                file.write_bytes(damaged)
            try:
                assert everything(ph.load(tmp_path / "motion.zarr")) == expected, (name, position)
            except PolhodeError as error:
                sentences.append(str(error))
        file.write_bytes(whole)
    assert len(sentences) > 70
    assert all("Restore a copy" in sentence for sentence in sentences)
    assert everything(ph.load(tmp_path / "motion.zarr")) == expected


def test_a_huge_shape_is_refused_before_memory_is_taken(two, tmp_path):
    path = shutil.copytree(two[1][0], tmp_path / "huge.zarr")
    change_manifest(path, lambda manifest: manifest["common"]["computed"].update(shape=[3_000_000_000_000, 1, 14]))
    with pytest.raises(FileError, match=r"huge.zarr is damaged"):
        ph.load(path)


@pytest.mark.parametrize("sign", [True, False])
def test_another_version_is_refused_with_what_was_found_and_what_to_do(sign, two, tmp_path):
    path = shutil.copytree(two[1][0], tmp_path / "other.zarr")
    later = {"version": 2, "versions": {"polhode": "9.0"}}
    change_manifest(path, lambda manifest: manifest.update(later), sign)
    found = rf"is an archive of version 2, written by Polhode 9\.0, and this is Polhode {ph.__version__}, which reads"
    then = ", or simulate again" if sign else ".*it is damaged: Restore a copy"
    with pytest.raises(FileError, match=rf"other\.zarr {found} version 1\. Open it with .*{then}"):
        ph.load(path)


@pytest.mark.parametrize("name", ["polhode_scenario", "polhode_ensemble"])
def test_what_was_stored_before_there_were_versions_is_named(name, tmp_path):
    (tmp_path / "old.zarr").mkdir()
    (tmp_path / "old.zarr" / "zarr.json").write_text(json.dumps({"attributes": {name: {"format": 1}}}))
    with pytest.raises(FileError, match=r"stored before archives had versions.*reads version 1. Open it with"):
        ph.load(tmp_path / "old.zarr")


def test_an_archive_of_an_unknown_kind_is_refused(two, tmp_path):
    path = shutil.copytree(two[1][0], tmp_path / "other.zarr")
    change_manifest(path, lambda manifest: manifest.update(kind="picture"))
    with pytest.raises(FileError, match=r"other\.zarr is not a stored motion"):
        ph.load(path)


@pytest.mark.parametrize("scenario", [{}, [1], '{"body": {"mass": "', {"duration": 1e308, "body": 3}, None])
def test_a_senseless_scenario_with_its_digest_is_an_error_with_a_sentence(scenario, two, tmp_path):
    path = shutil.copytree(two[1][0], tmp_path / "senseless.zarr")
    change_manifest(path, lambda manifest: manifest["run"].update(scenario=scenario))
    with pytest.raises(FileError, match=r"senseless\.zarr (is damaged|holds a scenario that cannot be read)"):
        ph.load(path)


def test_endless_brackets_are_an_error_with_a_sentence(two, tmp_path):
    path = shutil.copytree(two[1][0], tmp_path / "deep.zarr")
    text = (path / "zarr.json").read_text()
    (path / "zarr.json").write_text(text.replace('"run": {', '"run": ' + "[" * 100_000 + "{"))
    with pytest.raises(FileError, match=r"deep\.zarr is damaged"):
        ph.load(path)


# Crafted stores -------------------------------------------------------------------------------------------------------
LISTENER = """
import json, os, sys
import polhode as ph
opened = []
sys.addaudithook(lambda event, given: opened.append(str(given[0])) if event == "open" else None)
try:
    ph.load(sys.argv[1])
except ph.PolhodeError as error:
    print(json.dumps([str(error), opened]))
"""


@pytest.mark.parametrize("kind", ["mesh", "volume_mesh"])
def test_a_crafted_store_reads_no_file_of_a_mesh(kind, two, tmp_path):
    """The judge is the interpreter, which reports every file that is opened."""
    secret = tmp_path / "hidden.stl"
    trimesh.creation.box().export(secret)
    path = shutil.copytree(two[1][0], tmp_path / "crafted.zarr")

    def craft(manifest):
        manifest["run"]["scenario"]["body"] = {kind: {"file": str(secret), "density": 1.0}}

    change_manifest(path, craft)
    error, opened = json.loads(run_python(LISTENER, path).communicate()[0])
    assert "crafted.zarr holds a scenario that cannot be read" in error
    assert "only a scenario file may name other files" in error
    assert any("zarr.json" in name for name in opened)
    assert not any(str(secret) in name for name in opened)


@pytest.mark.parametrize("name", ["computed", "time/c.0"])
def test_links_out_of_a_store_are_not_followed(name, two, tmp_path):
    path = shutil.copytree(two[1][0], tmp_path / "linked.zarr")
    (path / name).rename(tmp_path / "elsewhere")
    (path / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileError, match=rf"{name} is a link.*Replace it by the file itself"):
        ph.load(path)


def test_a_pipe_in_a_store_is_not_waited_for(two, tmp_path):
    path = shutil.copytree(two[1][0], tmp_path / "piped.zarr")
    (path / "time" / "c.0").unlink()
    os.mkfifo(path / "time" / "c.0")
    with pytest.raises(FileError, match="a device or a pipe"):
        ph.load(path)


# Saving ---------------------------------------------------------------------------------------------------------------
COPIER = """
import sys
import polhode as ph
from polhode.archive import folders
if sys.argv[3] == "rename":
    folders._exchange = lambda one, other: False
motion = ph.load(sys.argv[1])
for _ in range(10):
    motion.save(sys.argv[2])
"""


@pytest.mark.parametrize("how", ["exchange", "rename"])
def test_two_processes_that_save_to_one_path_leave_the_last_complete_motion(how, two, tmp_path):
    motions, sources = two
    motions[0].save(tmp_path / "y.zarr")
    processes = [run_python(COPIER, source, tmp_path / "y.zarr", how) for source in sources]
    loaded = ph.load(tmp_path / "y.zarr")
    while any(process.poll() is None for process in processes):
        loaded = ph.load(tmp_path / "y.zarr")  # at any moment
        assert any(is_same(loaded, motion) for motion in motions)
    assert [process.wait() for process in processes] == [0, 0]
    assert os.listdir(tmp_path) == ["y.zarr"]
    assert any(is_same(ph.load(tmp_path / "y.zarr"), motion) for motion in motions)
    motions[1].save(tmp_path / "y.zarr")
    assert is_same(ph.load(tmp_path / "y.zarr"), motions[1])


def test_two_threads_too(two, tmp_path):
    motions, _ = two
    threads = [threading.Thread(target=motion.save, args=[tmp_path / "y.zarr"]) for motion in motions * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert os.listdir(tmp_path) == ["y.zarr"]
    assert any(is_same(ph.load(tmp_path / "y.zarr"), motion) for motion in motions)


def test_folders_of_the_user_beside_the_motion_are_left_alone(two, tmp_path):
    names = ["y.zarr.part", ".y.zarr.replaced", "y.zarr.old"]
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine.txt").write_text("mine")
    for motion in two[0]:
        motion.save(tmp_path / "y.zarr")
    assert [(tmp_path / name / "mine.txt").read_text() for name in names] == ["mine"] * 3
    assert sorted(os.listdir(tmp_path)) == sorted([*names, "y.zarr"])


@pytest.mark.parametrize("written", [0, 1, 5, 20])
def test_a_full_disk_leaves_no_draft_and_the_old_motion(written, two, tmp_path, monkeypatch):
    motions, _ = two
    motions[0].save(tmp_path / "y.zarr")
    write, count = Path.write_bytes, [0]

    def full(self, content):
        count[0] += 1
        if count[0] > written:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(self, content)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        for name in ("y.zarr", "new.zarr"):
            count[0] = 0
            with pytest.raises(FileError, match=rf"{name} cannot be written: .*No space left on device"):
                motions[1].save(tmp_path / name)
    assert count[0] > written
    assert os.listdir(tmp_path) == ["y.zarr"]
    assert is_same(ph.load(tmp_path / "y.zarr"), motions[0])


CRASH = """
import os, pathlib, sys
import polhode as ph
from polhode.archive import folders
motion = ph.load(sys.argv[1])
folders._exchange = lambda one, other: False
rename = pathlib.Path.rename
pathlib.Path.rename = lambda self, target: rename(self, target) and os._exit(9)
motion.save(sys.argv[2])
"""


def test_after_a_crash_between_two_renames_the_old_motion_is_read_and_kept(two, tmp_path, monkeypatch):
    """As where the system cannot exchange two folders in one step."""
    motions, sources = two
    motions[0].save(tmp_path / "y.zarr")
    assert run_python(CRASH, sources[1], tmp_path / "y.zarr").wait() == 9
    assert not (tmp_path / "y.zarr").exists()
    assert is_same(ph.load(tmp_path / "y.zarr"), motions[0])

    def full(self, content):
        raise OSError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(FileError, match="the disk is full"):
            motions[1].save(tmp_path / "y.zarr")
    assert os.listdir(tmp_path) == ["y.zarr"]
    assert is_same(ph.load(tmp_path / "y.zarr"), motions[0])
    motions[1].save(tmp_path / "y.zarr")
    assert is_same(ph.load(tmp_path / "y.zarr"), motions[1])


def test_a_link_is_followed_and_kept(two, tmp_path):
    motions, _ = two
    (tmp_path / "disk").mkdir()
    (tmp_path / "y.zarr").symlink_to(Path("disk") / "motion.zarr")
    for motion in motions:
        motion.save(tmp_path / "y.zarr")
        assert (tmp_path / "y.zarr").is_symlink()
        assert os.listdir(tmp_path / "disk") == ["motion.zarr"]
        assert is_same(ph.load(tmp_path / "disk" / "motion.zarr"), motion)
        assert is_same(ph.load(tmp_path / "y.zarr"), motion)
    (tmp_path / "loop.zarr").symlink_to("loop.zarr")
    with pytest.raises(FileError, match=r"loop.zarr cannot be written"):
        motions[0].save(tmp_path / "loop.zarr")


@pytest.mark.parametrize("path", ["", "."])
def test_a_path_without_a_name_is_refused(path, two, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileError, match="is saved under a name"):
        two[0][0].save(path)
    with pytest.raises(FileError):
        ph.load(path)
    assert os.listdir(tmp_path) == []
