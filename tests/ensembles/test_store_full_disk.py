"""A disk that is full, or cannot be written: a sentence, nothing is lost, and the run is resumed when there is room."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import chunk_producer as producer
from polhode.ensembles.store import EnsembleStore
from polhode.errors import FileError, StoreFullError


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MiB."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = sys.platform == "linux" and os.geteuid() == 0
    if not mounted or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", place], check=False).returncode:
        pytest.skip("a small file system can be mounted by root on Linux only")
    yield place
    subprocess.run(["umount", place], check=True)


def test_a_small_file_system_is_filled_and_the_run_resumed_on_a_larger_one(small_disk: Path, tmp_path: Path) -> None:
    path, chunks = small_disk / "s.zarr", 12
    words = r"no room left \(No space left on device\): chunk \d+ \(members \d+ to \d+\) is missing.+resume"
    with pytest.raises(StoreFullError, match=words):
        producer.produce(path, chunks)
    with EnsembleStore.open(path) as store:
        missing = store.pending()
    assert missing == list(range(missing[0], chunks))
    assert 0 < missing[0] < chunks
    assert not any(name.endswith(".part") for name in producer.content_of(path))
    before = producer.content_of(path)
    with pytest.raises(FileError, match=r"no room left|with room for a few bytes"):  # still full
        producer.produce(path, chunks)
    assert producer.content_of(path) == before
    subprocess.run(["mount", "-o", "remount,size=16m", small_disk], check=True)
    producer.produce(path, chunks)
    producer.produce(tmp_path / "whole.zarr", chunks)
    assert producer.content_of(path) == producer.content_of(tmp_path / "whole.zarr")


def test_a_file_system_that_cannot_be_written_is_a_sentence_and_can_be_read(small_disk: Path) -> None:
    producer.produce(small_disk / "s.zarr", 2)
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    assert EnsembleStore.open(small_disk / "s.zarr").pending() == []
    with pytest.raises(FileError, match="cannot be written"):
        producer.create(small_disk / "s.zarr", producer.plan_of(2), resume=True)
    with pytest.raises(FileError, match="cannot be written"):
        producer.create(small_disk / "new.zarr", producer.plan_of(2))


def test_a_disk_without_room_for_a_new_store_is_a_sentence_and_nothing_is_left(small_disk: Path) -> None:
    room = os.statvfs(small_disk)
    (small_disk / "mine").write_bytes(bytes(room.f_bavail * room.f_bsize))
    with pytest.raises(FileError, match=r"no room|with room for a few bytes"):
        producer.create(small_disk / "s.zarr", producer.plan_of(2))
    (small_disk / "mine").write_bytes(bytes((room.f_bavail - 4) * room.f_bsize))
    with pytest.raises(FileError, match=r"no room left \(No space left on device\): nothing was written"):
        producer.create(small_disk / "s.zarr", producer.plan_of(2))
    assert [file.name for file in small_disk.iterdir()] == ["mine"]
    (small_disk / "mine").unlink()
    producer.produce(small_disk / "s.zarr", 2)


LIMITED = """
import resource, sys
from pathlib import Path
import chunk_producer as producer
from polhode.errors import FileError, StoreFullError
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    producer.produce(Path(sys.argv[1]), 3)
except FileError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on the size of files")
def test_a_limit_on_the_size_of_files_is_a_sentence(tmp_path: Path) -> None:
    command = [sys.executable, "-c", LIMITED, str(tmp_path / "s.zarr")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert said.startswith("StoreFullError")
    assert "chunk 0 (members 0 to 4095) is missing" in said
    producer.produce(tmp_path / "s.zarr", 3)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("step", range(5))
def test_full_at_any_step_of_a_chunk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, step: int) -> None:
    """The error may come late: when the numbers are forced to the disk."""
    path, plan, steps = tmp_path / "s.zarr", producer.plan_of(2), [step]
    force = os.fsync

    def fail(descriptor: int) -> None:
        steps[0] -= 1
        if steps[0] < 0:
            raise OSError(code, os.strerror(code))
        force(descriptor)

    with producer.create(path, plan) as store:
        _write(store, 0)
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", fail)
            with pytest.raises(StoreFullError, match=r"chunk 1 \(members 4096 to 5095\) is missing"):
                _write(store, 1)
        assert store.pending() in ([1], [])  # the record may be written, and only its name not be forced
        producer.read_arrays(store, 0)
    producer.produce(path, 2)
    producer.produce(tmp_path / "whole.zarr", 2)
    assert producer.content_of(path) == producer.content_of(tmp_path / "whole.zarr")


def _write(store: EnsembleStore, k: int) -> Any:
    store.write_chunk(k, producer.values_of(store.plan, k), {"steps": k}, producer.attached_of(k))
