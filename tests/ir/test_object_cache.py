"""The object cache: found again by another process, never stale, and never a reason to fail."""

import json
import os
import random
import subprocess
import sys
import textwrap
import time
from typing import Any, NamedTuple

import numpy as np
import pytest

from polhode.ir.loops import compile_loop, loop, pack_record
from polhode.ir.targets import native

PROBE = """
import json, sys
sys.path.insert(0, {folder!r})
import polhode as ph
from polhode.ir.targets import native
compiled, compile = [], native._compile
native._compile = lambda *text: compiled.append(text) or compile(*text)
{setup}
body = ph.Body(mass=1.0, inertia=(1.0, 1.0, 1.0))
motion = ph.simulate(body, forces={forces}, duration=1.0, step=0.1, method="euler")
print(json.dumps({{"x": motion.final.position[0], "compiled": len(compiled)}}))
"""
FORCES = "[ph.forces.gravity((1.0, 0.0, 0.0))]"


def start(folder, setup="", forces=FORCES, **environment):
    script = folder / "probe.py"
    script.write_text(textwrap.dedent(PROBE.format(folder=str(folder), setup=setup, forces=forces)))
    variables = {**os.environ, "POLHODE_CACHE": str(folder / "cache"), **environment}
    variables = {name: value for name, value in variables.items() if value is not None}
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, str(script)], stdout=pipe, stderr=pipe, text=True, env=variables)


def answer(process):
    said, complaint = process.communicate(timeout=120)
    assert process.returncode == 0, complaint
    return json.loads(said)


def probe(folder, *arguments, **environment):
    return answer(start(folder, *arguments, **environment))


# Other processes ------------------------------------------------------------------------------------------------------
def test_a_second_process_compiles_nothing_nor_do_other_numbers(tmp_path):
    first = probe(tmp_path, PYTHONHASHSEED="1")
    second = probe(tmp_path, PYTHONHASHSEED="2")
    assert (first["compiled"], second["compiled"]) == (1, 0)
    assert first["x"] == second["x"] == pytest.approx(0.45)
    again = probe(tmp_path, "", "[ph.forces.gravity((2.0, 0.0, 0.0))]")
    assert again["compiled"] == 0
    assert again["x"] == pytest.approx(0.9)


USER = """
import helper
K = {k}
@ph.force
def push(t, state, body, params):
    return (K * helper.strength(t), 0.0, 0.0), (0.0, 0.0, 0.0)
"""
HELPER = "def strength(t):\n    # {comment}\n    return {strength} + 0.0 * t\n"


@pytest.mark.long
def test_a_comment_costs_nothing_and_an_edited_helper_or_constant_is_noticed(tmp_path):
    answers = []
    for strength, k, comment in ((1.0, 1.0, ""), (1.0, 1.0, "new"), (3.0, 1.0, ""), (3.0, 2.0, "")):
        (tmp_path / "helper.py").write_text(HELPER.format(strength=strength, comment=comment))
        answers.append(probe(tmp_path, USER.format(k=k), "[push]"))
    assert [each["compiled"] for each in answers] == [1, 0, 1, 1]
    assert [each["x"] for each in answers] == pytest.approx([0.45, 0.45, 1.35, 2.7])


def test_two_processes_that_compile_at_once(tmp_path):
    both = [start(tmp_path) for _ in range(2)]
    assert [answer(process)["x"] for process in both] == pytest.approx([0.45, 0.45])
    assert [file.suffix for file in (tmp_path / "cache").iterdir()] == [".o"], "drafts are gone"
    assert probe(tmp_path)["compiled"] == 0


@pytest.mark.long
def test_without_a_place_to_write_every_process_compiles(tmp_path):
    """A file stands where a folder should be made: that stops even a superuser."""
    (tmp_path / "file").write_text("")
    beneath = str(tmp_path / "file" / "cache")
    nowhere = [
        {"POLHODE_CACHE": beneath},
        {"POLHODE_CACHE": ""},
        {"POLHODE_CACHE": None, "HOME": str(tmp_path / "file"), "XDG_CACHE_HOME": None},
    ]
    if os.path.isdir("/proc/self"):
        nowhere.append({"POLHODE_CACHE": None, "HOME": "/proc", "XDG_CACHE_HOME": None})  # read-only
    for environment in nowhere:
        found = probe(tmp_path, **environment)
        assert (found["x"], found["compiled"]) == (pytest.approx(0.45), 1)


@pytest.mark.long
def test_without_a_home_in_the_environment(tmp_path):
    found = probe(tmp_path, POLHODE_CACHE=None, HOME=None, XDG_CACHE_HOME=str(tmp_path / "xdg"))
    assert found["x"] == pytest.approx(0.45)
    assert list((tmp_path / "xdg" / "polhode" / "objects").glob("*.o"))


@pytest.mark.long
def test_a_folder_that_cannot_be_written_is_read(tmp_path):
    assert probe(tmp_path)["compiled"] == 1
    cache = tmp_path / "cache"
    cache.chmod(0o500)
    try:
        assert probe(tmp_path)["compiled"] == 0
        found = probe(tmp_path, "", "[ph.forces.gravity((1.0, 0.0, 0.0)), ph.forces.linear_drag(0.0)]")
        assert found["x"] == pytest.approx(0.45)
    finally:
        cache.chmod(0o700)


@pytest.mark.skipif(os.name != "posix", reason="who owns a folder is asked on POSIX systems")
@pytest.mark.parametrize(
    "spoil", ["everybody may write", "the group may write", "of another user", "the parent is open"]
)
def test_machine_code_of_a_folder_that_others_control_is_neither_read_nor_written(tmp_path, monkeypatch, spoil):
    """What lies there could have been planted; the run goes on without it, and says so once."""
    folder = tmp_path / "open" / "cache"
    folder.mkdir(parents=True, mode=0o700)
    folder.parent.chmod(0o777 if spoil == "the parent is open" else 0o700)
    folder.chmod({"everybody may write": 0o777, "the group may write": 0o770}.get(spoil, 0o700))
    if spoil == "of another user":
        monkeypatch.setattr(native.os, "geteuid", lambda: 12345)
    monkeypatch.setenv("POLHODE_CACHE", str(folder))
    native.cache_folder.cache_clear()
    try:
        with pytest.warns(UserWarning, match="name a folder of your own in POLHODE_CACHE"):
            assert native.cache_folder() is None
        assert native.cache_folder() is None  # without another word
        native._write_object("1" * 64, b"code")
        assert list(folder.iterdir()) == []
        folder.parent.chmod(0o700)
        folder.chmod(0o700)
        monkeypatch.undo()
        monkeypatch.setenv("POLHODE_CACHE", str(folder))
        native.cache_folder.cache_clear()
        assert native.cache_folder() == folder.resolve()
    finally:
        native.cache_folder.cache_clear()


def test_a_new_cache_folder_is_the_users_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("POLHODE_CACHE", str(tmp_path / "new" / "cache"))
    native.cache_folder.cache_clear()
    before = os.umask(0o000)
    try:
        assert native.cache_folder() == (tmp_path / "new" / "cache").resolve()
        assert (tmp_path / "new" / "cache").stat().st_mode & 0o777 == 0o700
    finally:
        os.umask(before)
        native.cache_folder.cache_clear()


def test_importing_polhode_loads_nothing_heavy():
    heavy = ("llvmlite", "scipy", "xarray", "matplotlib", "zarr")
    code = f"import sys, polhode; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# Damage ---------------------------------------------------------------------------------------------------------------
class Numbers(NamedTuple):
    buffer: Any


@loop
def squares(run, first, last):
    for u in range(first, last):
        for i in range(run.buffer.shape[1]):
            run.buffer[u, i] = run.buffer[u, i] * run.buffer[u, i]


TEXTS = compile_loop(squares, Numbers(np.zeros((1, 4))), {}, 1)


def is_right():
    """Whether the machine code of the loop squares numbers."""
    native._programs.clear()
    numbers = Numbers(np.array([[1.0, 2.0, -3.0, 0.5]]))
    words = pack_record(numbers)
    native.machine_code(*TEXTS)(words.ctypes.data, 0, 1)
    return numbers.buffer.tolist() == [[1.0, 4.0, 9.0, 0.25]]


@pytest.fixture
def cached(tmp_path, monkeypatch):
    """The file of a cached object, and a list that grows with every compilation; it is only made once, to save time."""
    compiled, made = [], native._compile(*TEXTS)
    monkeypatch.setattr(native, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(native, "_compile", lambda *text: compiled.append(text) or made)
    monkeypatch.setattr(native, "_written", 0)
    assert is_right()
    (file,) = tmp_path.iterdir()
    yield file, compiled
    native._programs.clear()


def test_two_hundred_flipped_bytes(cached):
    file, compiled = cached
    good, rng = file.read_bytes(), random.Random(14)
    places = [*range(40), *rng.sample(range(40, len(good)), 160)]
    for count, place in enumerate(places):
        damaged = bytearray(good)
        damaged[place] ^= rng.randrange(1, 256)
        file.write_bytes(damaged)
        assert is_right()
        assert len(compiled) == count + 2, "noticed, and compiled anew"
        assert file.read_bytes() == good, "and mended"


@pytest.mark.parametrize("content", [b"", b"\0", b"garbage" * 1000, b"\0" * 32, None], ids=str)
def test_an_empty_or_cut_file_or_garbage(cached, content):
    file, compiled = cached
    good = file.read_bytes()
    file.write_bytes(good[:-1] if content is None else content)
    assert is_right()
    assert len(compiled) == 2
    assert file.read_bytes() == good


def test_the_object_of_another_program_under_this_name(cached):
    file, compiled = cached
    other = file.with_name(f"{'0' * 64}.o")
    file.replace(other)
    other.replace(file.with_name(f"{native.program_key(*TEXTS)}.o"))
    assert is_right()
    assert len(compiled) == 1
    native._write_object("1" * 64, b"another program")
    file.with_name(f"{'1' * 64}.o").replace(file)
    assert is_right()
    assert len(compiled) == 2


def test_a_folder_in_place_of_the_file(cached):
    file, compiled = cached
    file.unlink()
    file.mkdir()
    assert is_right()
    assert len(compiled) == 2


# The key --------------------------------------------------------------------------------------------------------------
def test_another_processor_or_another_text_is_another_object(monkeypatch):
    own = native.program_key(*TEXTS)
    assert own == native.program_key(*TEXTS)
    assert own != native.program_key(TEXTS[0] + "\n", TEXTS[1])
    assert own != native.program_key(TEXTS[0], TEXTS[1] + "\n")
    name, features = native.host()
    monkeypatch.setattr(native, "host", lambda: ("another", features))
    of_another_processor = native.program_key(*TEXTS)
    monkeypatch.setattr(native, "host", lambda: (name, features + ",-avx2"))
    assert len({own, of_another_processor, native.program_key(*TEXTS)}) == 3


# Size -----------------------------------------------------------------------------------------------------------------
def test_drafts_are_left_alone_while_they_may_be_somebodys_and_removed_when_old(cached):
    file, compiled = cached
    young, old = file.with_name(".draft-young"), file.with_name(".draft-old")
    for draft in (young, old):
        draft.write_bytes(b"half an obj")
    long_ago = time.time() - 2 * native.OLD_DRAFT_S
    os.utime(old, (long_ago, long_ago))
    assert is_right()
    assert len(compiled) == 1
    native.prune(file.parent)
    assert young.exists()
    assert not old.exists()
    assert file.exists()


@pytest.mark.parametrize(("files", "size"), [(3, 10**9), (100, 35)])
def test_the_oldest_objects_are_deleted_beyond_a_number_or_size(tmp_path, monkeypatch, files, size):
    monkeypatch.setattr(native, "MOST_FILES", files)
    monkeypatch.setattr(native, "MOST_BYTES", size)
    for age in range(8):
        file = tmp_path / f"{age}.o"
        file.write_bytes(b"ten bytes.")
        os.utime(file, (1e9 - age, 1e9 - age))
    (tmp_path / "somebody's own.txt").write_text("not ours")
    native.prune(tmp_path)
    assert sorted(file.name for file in tmp_path.glob("*.o")) == ["0.o", "1.o", "2.o"]
    assert (tmp_path / "somebody's own.txt").exists()


def test_what_is_used_is_young(cached):
    file, _ = cached
    os.utime(file, (1e9, 1e9))
    assert is_right()
    assert file.stat().st_mtime > time.time() - 3600


def test_pruning_while_another_process_deletes_the_same_files(tmp_path, monkeypatch):
    monkeypatch.setattr(native, "MOST_FILES", 1)
    for name in "abcd":
        (tmp_path / f"{name}.o").write_bytes(b"x")
    really = os.unlink

    def unlink_twice(path):
        really(path)
        really(path)

    monkeypatch.setattr(native.os, "unlink", unlink_twice)
    native.prune(tmp_path)
    monkeypatch.setattr(native.os, "unlink", really)
    assert len(list(tmp_path.iterdir())) == 1
    native.prune(tmp_path / "no folder")


# What takes long ------------------------------------------------------------------------------------------------------
def test_a_long_compilation_says_so_on_a_stream_that_is_no_terminal(cached, monkeypatch, capsys):
    file, _ = cached
    file.unlink()
    slow = native._compile
    monkeypatch.setattr("polhode.progress.ANNOUNCED_S", 0.05)
    monkeypatch.setattr(native, "_compile", lambda *text: time.sleep(0.5) or slow(*text))
    assert is_right()
    said = capsys.readouterr().err
    assert said.startswith("polhode: compiling ")
    assert "operations, once; it is kept for the next run\n" in said
    assert said.count("\n") == 1
    monkeypatch.setattr(native, "cache_folder", lambda: None)
    assert is_right()
    assert "POLHODE_CACHE" in capsys.readouterr().err


def test_a_short_compilation_says_nothing(cached, capsys):
    file, _ = cached
    file.unlink()
    assert is_right()
    assert capsys.readouterr().err == ""
