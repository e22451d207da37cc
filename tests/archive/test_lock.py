"""One writer for each store, whatever happens to the process that holds the lock."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from polhode.archive.lock import StoreInUseError, lock_holder, lock_store
from polhode.errors import FileError

HOLD = """
import sys, time
from polhode.archive.lock import lock_store
with lock_store(sys.argv[1]):
    print("locked", flush=True)
    time.sleep(60)
"""
COUNT = """
import sys
from pathlib import Path
from polhode.archive.lock import StoreInUseError, lock_store
store, counter = sys.argv[1], Path(sys.argv[2])
done = 0
while done < 100:
    try:
        with lock_store(store):
            counter.write_text(str(int(counter.read_text()) + 1))
            done += 1
    except StoreInUseError:
        pass
"""


def hold_elsewhere(store: Path) -> subprocess.Popen[str]:
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(store)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "locked\n"
    return holder


def test_another_process_is_refused_with_who_holds_the_lock_until_it_is_killed(tmp_path: Path) -> None:
    store = tmp_path / "motion.zarr"
    holder = hold_elsewhere(store)
    try:
        words = rf"process {holder.pid} on .+, since \d{{4}}-.+Wait"
        with pytest.raises(StoreInUseError, match=words), lock_store(store):
            pass
        assert f"process {holder.pid} on " in str(lock_holder(store))
    finally:
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    assert lock_holder(store) is None
    with lock_store(store):
        assert f"process {os.getpid()} on " in str(lock_holder(store))
    assert list(tmp_path.iterdir()) == []


def test_the_lock_is_that_of_the_place_also_through_links(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with lock_store(tmp_path / "real" / "x"), pytest.raises(StoreInUseError), lock_store(tmp_path / "link" / "x"):
        pass
    with lock_store(tmp_path / "real" / "x"), lock_store(tmp_path / "real" / "y"):
        pass


def test_only_one_of_several_processes_is_inside(tmp_path: Path) -> None:
    counter = tmp_path / "counter"
    counter.write_text("0")
    command = [sys.executable, "-c", COUNT, str(tmp_path / "x"), str(counter)]
    for process in [subprocess.Popen(command) for _ in range(3)]:
        assert process.wait() == 0
    assert counter.read_text() == "300"


def test_a_foreign_or_empty_lock_file_does_not_matter(tmp_path: Path) -> None:
    for content in (b"", b"\xff\x00", b"[1, 2", b"[]"):
        (tmp_path / ".x.lock").write_bytes(content)
        with lock_store(tmp_path / "x"):
            pass


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="cannot be written"), lock_store(tmp_path / "file" / "x"):
        pass
