"""A folder is replaced whole or not at all, whatever happens meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from polhode.archive import folders
from polhode.archive.folders import atomic_folder, read_folder

HEAD = """
import os, sys, time
from pathlib import Path
from polhode.archive import folders
from polhode.archive.folders import atomic_folder
path, how = Path(sys.argv[1]), sys.argv[2]
if how == "rename":
    folders._exchange = lambda one, other: False
"""


def anything(path):
    """Everything may be replaced."""


def write(path, text):
    with atomic_folder(path, anything) as draft:
        for name in ("a", "b"):
            (draft / name).write_text(text)


def content(folder):
    return {file.name: file.read_text() for file in folder.iterdir()}


def start(script, *arguments):
    command = [sys.executable, "-c", HEAD + script, *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


@pytest.fixture(params=["exchange", "rename"])
def how(request, monkeypatch):
    """Folders exchanged in one step, and renamed one after the other, as where the system has no exchange."""
    if request.param == "rename":
        monkeypatch.setattr(folders, "_exchange", lambda one, other: False)
    return request.param


def test_the_new_folder_takes_the_place_of_the_old_one(how, tmp_path):
    for text in ("old", "new"):
        write(tmp_path / "x" / "y", text)
        assert content(tmp_path / "x" / "y") == {"a": text, "b": text}
        assert os.listdir(tmp_path / "x") == ["y"]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no exchange")
def test_linux_exchanges_folders_in_one_step(tmp_path):
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).touch()
    assert folders._exchange(tmp_path / "one", tmp_path / "other")
    assert os.listdir(tmp_path / "one") == ["other"]
    assert not folders._exchange(tmp_path / "one", tmp_path / "nowhere")


@pytest.mark.parametrize("accident", [OSError, KeyboardInterrupt])
def test_an_error_leaves_the_old_folder_and_no_draft(how, accident, tmp_path):
    def interrupted(path):
        with atomic_folder(path, anything) as draft:
            (draft / "a").write_text("new")
            raise accident

    write(tmp_path / "y", "old")
    for name in ("y", "fresh"):
        with pytest.raises(accident):
            interrupted(tmp_path / name)
    assert os.listdir(tmp_path) == ["y"]
    assert content(tmp_path / "y") == {"a": "old", "b": "old"}


def test_if_the_second_rename_fails_the_old_folder_is_put_back(tmp_path, monkeypatch):
    write(tmp_path / "y", "old")
    rename = Path.rename

    def failing(self, target):
        if self.suffix == ".part":
            raise PermissionError("not allowed")
        return rename(self, target)

    monkeypatch.setattr(folders, "_exchange", lambda one, other: False)
    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(PermissionError, match="not allowed"):
        write(tmp_path / "y", "new")
    assert os.listdir(tmp_path) == ["y"]
    assert content(tmp_path / "y") == {"a": "old", "b": "old"}


def test_what_must_not_be_replaced_is_not_even_if_it_appears_meanwhile(how, tmp_path):
    def check(path):
        if path.exists():
            raise ValueError("not yours")

    def late(path):
        with atomic_folder(path, check) as draft:
            (draft / "a").write_text("new")
            write(path, "theirs")

    with pytest.raises(ValueError, match="not yours"):
        late(tmp_path / "y")
    assert content(tmp_path / "y") == {"a": "theirs", "b": "theirs"}
    with pytest.raises(ValueError, match="not yours"), atomic_folder(tmp_path / "y", check):
        raise AssertionError("checked before anything is written")
    assert os.listdir(tmp_path) == ["y"]


def test_folders_with_similar_names_are_left_alone(how, tmp_path):
    names = ["y.part", ".y.replaced", "y.old", "y.1.part", "xy.0123456789abcdef01234567.part", "y.zarr"]
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine").touch()
    for text in ("old", "new"):
        write(tmp_path / "y", text)
    assert sorted(os.listdir(tmp_path)) == sorted([*names, "y"])
    assert all((tmp_path / name / "mine").exists() for name in names)


def test_links_are_followed(how, tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "disk" / "y")
    for text in ("old", "new"):
        write(tmp_path / "link", text)
        assert (tmp_path / "link").is_symlink()
        assert content(tmp_path / "disk" / "y") == {"a": text, "b": text}
        assert os.listdir(tmp_path / "disk") == ["y"]


def test_drafts_of_killed_processes_are_removed_and_that_of_a_living_one_is_not(how, tmp_path):
    script = """
with atomic_folder(path, lambda path: None) as draft:
    for name in sys.argv[3:]:
        (draft / name).write_text("theirs")
    print("writing", flush=True)
    sys.stdin.read()
"""
    *killed, living = [start(script, tmp_path / "y", how, *names) for names in ((), ("a",), ("a",))]
    for process in (*killed, living):
        assert process.stdout.readline() == b"writing\n"
    for process in killed:
        process.kill()
        process.wait()
    assert len(os.listdir(tmp_path)) == 3
    write(tmp_path / "y", "new")
    assert len(os.listdir(tmp_path)) == 2
    assert content(tmp_path / "y") == {"a": "new", "b": "new"}
    living.communicate()
    assert os.listdir(tmp_path) == ["y"]
    assert content(tmp_path / "y") == {"a": "theirs"}


@pytest.mark.parametrize("ends_well", [True, False])
def test_a_crash_between_two_renames_loses_nothing(ends_well, tmp_path):
    path = tmp_path / "y"
    write(path, "old")
    crashing = start(
        """
Path.rename = lambda self, target, rename=Path.rename: rename(self, target) and os._exit(9)
with atomic_folder(path, lambda path: None) as draft:
    (draft / "a").write_text("new")
""",
        path,
        "rename",
    )
    assert crashing.wait() == 9
    assert not path.exists()
    assert read_folder(path, content) == {"a": "old", "b": "old"}
    if ends_well:
        write(path, "newer")
    else:
        with pytest.raises(OSError, match="full"), atomic_folder(path, anything):
            raise OSError("full")
    expected = "newer" if ends_well else "old"
    assert content(path) == {"a": expected, "b": expected}
    assert os.listdir(tmp_path) == ["y"]


def test_many_processes_at_one_target_leave_the_last_complete_folder(how, tmp_path):
    script = """
def check(path):
    if path.exists() and not (path / "a").exists():
        raise ValueError("not a folder of ours")

for number in range(150):
    with atomic_folder(path, check) as draft:
        for name in "ab":
            (draft / name).write_text(f"{sys.argv[3]} {number}")
"""
    processes = [start(script, tmp_path / "y", how, name) for name in ("one", "two", "three")]
    assert [process.wait() for process in processes] == [0, 0, 0]
    assert os.listdir(tmp_path) == ["y"]
    found = content(tmp_path / "y")
    assert found["a"] == found["b"]
    assert found["a"].endswith(" 149")
