"""Chunks on a Dask cluster, with tasks that die, hang and lie in place of motions."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("distributed")

from polhode.ensembles import dask_workers
from polhode.ensembles.chunks import ChunkPlan
from polhode.ensembles.dask_worker import Software, describe_software, find_obstacle, share_store
from polhode.ensembles.dask_workers import Cluster
from polhode.ensembles.interrupts import Interrupts
from polhode.errors import CancelledError, ClusterError, DeadlyChunksError


def plan_of(chunks: int) -> ChunkPlan:
    return ChunkPlan(chunks * 4096, 4096)


def run_on_cluster(work_of: Any, chunks: Any, plan: ChunkPlan, cluster: Cluster, store: Any = None) -> Any:
    return dask_workers.run_on_cluster(work_of, chunks, plan, cluster, Interrupts(), store)


def square(k: int, report: Any) -> tuple[int, int]:
    report(0.0)
    return k * k, os.getpid()


@pytest.fixture(scope="module")
def threads_client() -> Iterator[Any]:
    """A cluster in this process: quick, for what needs no dying."""
    from distributed import Client

    with Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as client:
        yield client


def test_all_chunks_come_back_once(threads_client: Any) -> None:
    found = list(run_on_cluster(lambda k: square, range(50), plan_of(50), Cluster(threads_client)))
    assert sorted(k for k, _ in found) == list(range(50))
    assert all(value[0] == k * k for k, value in found)


def test_an_error_of_a_chunk_is_raised_here(threads_client: Any) -> None:
    def fail(k: int, report: Any) -> None:
        if k == 3:
            raise ZeroDivisionError("chunk three")

    with pytest.raises(ZeroDivisionError, match="chunk three"):
        list(run_on_cluster(lambda k: fail, range(6), plan_of(6), Cluster(threads_client)))


def test_an_error_that_cannot_be_sent_comes_as_its_words(threads_client: Any) -> None:
    class OwnError(Exception):
        def __init__(self, first: int, second: int) -> None:
            super().__init__(f"{first} and {second}")

    def fail(k: int, report: Any) -> None:
        raise OwnError(k, k)

    with pytest.raises(RuntimeError, match="OwnError on a worker: 0 and 0"):
        list(run_on_cluster(lambda k: fail, range(1), plan_of(1), Cluster(threads_client)))


def test_killed_workers_cost_only_their_chunks() -> None:
    def slow_square(k: int, report: Any) -> tuple[int, int]:
        time.sleep(0.05)
        return k * k, os.getpid()

    killed: list[int] = []
    found: dict[int, int] = {}
    with closing(run_on_cluster(lambda k: slow_square, range(60), plan_of(60), Cluster(workers=2))) as results:
        for k, (value, pid) in results:
            assert k not in found
            found[k] = value
            if len(found) in (5, 20, 35):
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
    assert found == {k: k * k for k in range(60)}
    assert len(killed) == 3


@pytest.mark.long
@pytest.mark.parametrize("wait", [0.0, 1.0])
def test_results_that_die_with_their_worker_are_computed_again(monkeypatch: pytest.MonkeyPatch, wait: float) -> None:
    """The worker dies after it has said that it is done, and before its result was fetched."""
    children = pytest.importorskip("psutil").Process().children
    fetch, killed = dask_workers.DaskWorkers.fetch, []

    def kill_before_fetching(self: Any, tasks: list[Any]) -> Any:
        if tasks and len(killed) < 2:
            for process in children():
                if "spawn_main" in " ".join(process.cmdline()):
                    process.kill()
            killed.append(len(tasks))
            time.sleep(wait)
        return fetch(self, tasks)

    monkeypatch.setattr(dask_workers.DaskWorkers, "fetch", kill_before_fetching)
    found = [k for k, _ in run_on_cluster(lambda k: square, range(12), plan_of(12), Cluster(workers=2))]
    assert sorted(found) == list(range(12))
    assert len(killed) == 2


@pytest.mark.long
def test_deadly_chunks_are_named_and_the_others_are_done() -> None:
    def die_twice(k: int, report: Any) -> int:
        if k in (2, 7):
            os._exit(1)
        time.sleep(0.02)
        return k

    found: list[int] = []
    with pytest.raises(DeadlyChunksError, match="members 8192 to 12287, 28672 to 32767 were not computed") as caught:
        found.extend(k for k, _ in run_on_cluster(lambda k: die_twice, range(20), plan_of(20), Cluster(workers=3)))
    assert sorted(found) == [k for k in range(20) if k not in (2, 7)]
    assert caught.value.members == [(8192, 12288), (28672, 32768)]


@pytest.mark.long
def test_a_worker_that_starts_slowly_is_not_killed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Dask would end its nanny, and with it the worker, with whatever innocent chunks it has been given by then."""
    dask, distributed = pytest.importorskip("dask"), pytest.importorskip("distributed")
    close, closed = distributed.Nanny.close, []

    def note_and_close(self: Any, *args: Any, **kwargs: Any) -> Any:
        closed.append(self.name)
        return close(self, *args, **kwargs)

    def die_once(k: int, report: Any) -> int:
        if k == 2 and not (tmp_path / "died").exists():
            (tmp_path / "died").touch()
            os._exit(1)
        return k

    monkeypatch.setattr(distributed.Nanny, "close", note_and_close)
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "50ms"}),  # no worker starts as quickly as that
        closing(run_on_cluster(lambda k: die_once, range(6), plan_of(6), Cluster(workers=1))) as results,
    ):
        found = sorted(next(results)[0] for _ in range(6))
        assert closed == []
    assert found == list(range(6))


@pytest.mark.long
def test_workers_killed_at_random_are_replaced() -> None:
    """Also while they start, when their nannies give up on them."""
    children = pytest.importorskip("psutil").Process().children
    rng, ended = random.Random(1), threading.Event()

    def slow(k: int, report: Any) -> int:
        time.sleep(0.1)
        return k

    def kill_workers() -> None:
        for _ in range(20):
            if ended.wait(rng.uniform(0.05, 0.4)):
                return
            for process in children()[:1]:
                if "spawn_main" in " ".join(process.cmdline()):
                    process.kill()

    killer = threading.Thread(target=kill_workers)
    found: list[int] = []
    with closing(run_on_cluster(lambda k: slow, range(100), plan_of(100), Cluster(workers=2))) as results:
        found.append(next(results)[0])
        killer.start()
        found.extend(k for k, _ in results)
    ended.set()
    killer.join()
    assert sorted(found) == list(range(100))


@pytest.mark.long
def test_where_every_chunk_is_deadly_the_run_ends() -> None:
    def die(k: int, report: Any) -> None:
        os._exit(1)

    with pytest.raises(ClusterError, match="no chunk was computed, and 3 of them killed every worker"):
        list(run_on_cluster(lambda k: die, range(40), plan_of(40), Cluster(workers=2)))


def test_a_canceled_run_stops_its_chunks(threads_client: Any, tmp_path: Path) -> None:
    def wait(k: int, report: Any) -> int:
        if k == 0:
            return k
        try:
            for _ in range(400):
                time.sleep(0.05)
                report(0.0)
        except CancelledError:
            (tmp_path / f"canceled-{k}").touch()
            raise
        return k

    with closing(run_on_cluster(lambda k: wait, range(2), plan_of(2), Cluster(threads_client))) as results:
        assert next(results)[0] == 0
    deadline = time.monotonic() + 10
    while not (tmp_path / "canceled-1").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)


# what is said about clusters and workers ---------------------------------------------------------------------------


def test_no_scheduler_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_workers, "CONNECT_S", 0.5)
    with pytest.raises(ClusterError, match=r"no scheduler answers at 'tcp://127\.0\.0\.1:9'"):
        list(run_on_cluster(lambda k: square, range(2), plan_of(2), Cluster("tcp://127.0.0.1:9")))
    with pytest.raises(ClusterError, match="no scheduler answers at 'nonsense'"):
        list(run_on_cluster(lambda k: square, range(2), plan_of(2), Cluster("nonsense")))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"numpy": "1.0"}, "it has NumPy .*, but the run was started with 1.0"),
        ({"scipy": "1.0"}, "it has SciPy"),
        ({"polhode": "0.0"}, "it has Polhode .*, but the run was started with 0.0"),
        ({"python": "3.1"}, "it has Python"),
        ({"source": "abc"}, "with other source files"),
    ],
)
def test_other_versions_on_a_worker_are_a_sentence(
    threads_client: Any, monkeypatch: pytest.MonkeyPatch, change: dict[str, str], sentence: str
) -> None:
    other = describe_software()._replace(**change)
    monkeypatch.setattr(dask_workers, "describe_software", lambda: other)
    with pytest.raises(ClusterError, match=f"worker .*{sentence}"):
        list(run_on_cluster(lambda k: square, range(2), plan_of(2), Cluster(threads_client)))


def test_a_worker_that_is_found_unfit_later_is_a_sentence(threads_client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_workers, "check_workers", lambda *_: None)  # it comes when the others were asked
    monkeypatch.setattr(dask_workers, "describe_software", lambda: Software("0.0", "", "", "", ""))
    with (
        pytest.warns(RuntimeWarning, match="does nothing for this run: it has Polhode"),
        pytest.raises(ClusterError, match="none of the workers is fit"),
    ):
        list(run_on_cluster(lambda k: square, range(8), plan_of(8), Cluster(threads_client)))


def test_a_worker_that_dies_while_it_is_asked_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    died = tmp_path / "died"

    def ask_and_die(*arguments: Any) -> str:
        if not died.exists():
            died.touch()
            os._exit(1)
        return find_obstacle(*arguments)

    monkeypatch.setattr(dask_workers, "find_obstacle", ask_and_die)
    found = [k for k, _ in run_on_cluster(lambda k: square, range(4), plan_of(4), Cluster(workers=1))]
    assert sorted(found) == [0, 1, 2, 3]
    assert died.exists()


def test_a_store_out_of_reach_is_a_sentence(threads_client: Any, tmp_path: Path) -> None:
    (tmp_path / "zarr.json").write_text("{}")
    store = share_store(tmp_path, "zarr.json")
    assert find_obstacle(describe_software(), store) == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["zarr.json"]
    elsewhere = store._replace(path=str(tmp_path / "elsewhere"))
    with pytest.raises(ClusterError, match=r"it does not reach the store .*No such file"):
        list(run_on_cluster(lambda k: square, range(2), plan_of(2), Cluster(threads_client), elsewhere))
    (tmp_path / "zarr.json").write_text("{ }")
    with pytest.raises(ClusterError, match="is another store"):
        list(run_on_cluster(lambda k: square, range(2), plan_of(2), Cluster(threads_client), store))


def test_a_store_that_leaves_a_worker_during_the_run_is_a_sentence(threads_client: Any, tmp_path: Path) -> None:
    (tmp_path / "zarr.json").write_text("{}")
    store = share_store(tmp_path, "zarr.json")

    def write(k: int, report: Any) -> None:
        (tmp_path / "zarr.json").unlink(missing_ok=True)
        (tmp_path / "gone" / "chunk").write_bytes(b"")

    with (
        pytest.warns(RuntimeWarning, match="does not reach the store"),
        pytest.raises(ClusterError, match=r"none of the workers is fit.*does not reach the store"),
    ):
        list(run_on_cluster(lambda k: write, range(4), plan_of(4), Cluster(threads_client), store))


# processes: scripts, Ctrl-C, a scheduler that dies --------------------------------------------------------------------


@contextmanager
def scheduler_with_workers(count: int, *options: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """(address, process) of a scheduler started as on a cluster, with workers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    silent: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    dask = [sys.executable, "-m", "dask"]
    scheduler = subprocess.Popen([*dask, "scheduler", "--host", "127.0.0.1", "--port", str(port)], **silent)
    worker = [*dask, "worker", address, "--nthreads", "1", "--no-dashboard", *options]
    workers = [subprocess.Popen(worker, **silent) for _ in range(count)]
    try:
        yield address, scheduler
    finally:
        for process in [*workers, scheduler]:
            process.terminate()
        for process in [*workers, scheduler]:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@pytest.mark.long
def test_a_lost_scheduler_is_a_sentence() -> None:
    def slow_square(k: int, report: Any) -> int:
        time.sleep(0.1)
        return k * k

    with scheduler_with_workers(2) as (address, scheduler):
        found: list[int] = []

        def run_until_lost() -> None:
            for k, _ in run_on_cluster(lambda k: slow_square, range(500), plan_of(500), Cluster(address)):
                found.append(k)
                if len(found) == 5:
                    scheduler.kill()

        with pytest.raises(ClusterError, match="the connection to the scheduler was lost"):
            run_until_lost()
        assert 5 <= len(found) < 50


@pytest.mark.long
def test_workers_that_all_leave_are_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_workers, "NO_WORKERS_S", 2.0)

    def die(k: int, report: Any) -> None:
        os._exit(1)

    with (
        scheduler_with_workers(1, "--no-nanny") as (address, _),
        pytest.raises(ClusterError, match="all workers are gone, and none has come for 2 s"),
    ):
        list(run_on_cluster(lambda k: die, range(3), plan_of(3), Cluster(address)))


@pytest.mark.long
def test_a_scheduler_without_workers_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_workers, "START_S", 1)
    with (
        scheduler_with_workers(0) as (address, _),
        pytest.raises(ClusterError, match="the scheduler has had no worker for 1 s"),
    ):
        list(run_on_cluster(lambda k: square, range(3), plan_of(3), Cluster(address)))


SCRIPT = """
import os, signal, time
from polhode.ensembles.chunks import ChunkPlan
from polhode.ensembles.dask_workers import Cluster, run_on_cluster
from polhode.ensembles.interrupts import interrupts

signal.signal(signal.SIGINT, signal.default_int_handler)  # of tests that run in the background shells ignore it
print("begins", os.getpid(), flush=True)
SCALE = 3

def scaled(k, report):
    time.sleep({sleep})
    return SCALE * k

def own_work(k, report):
    return scaled(k, report), os.getpid()

chunks = {chunks}
plan = ChunkPlan(4096 * chunks, 4096)
with interrupts() as interrupt, interrupt.held():
    for k, value in run_on_cluster(lambda k: own_work, range(chunks), plan, Cluster(workers=2), interrupt):
        print("done", k, *value, flush=True)
"""


def run_script(path: Path, sleep: float, chunks: int) -> subprocess.Popen[str]:
    """A script without `if __name__ == "__main__"`, whose functions lie in its main module."""
    path.write_text(SCRIPT.format(sleep=sleep, chunks=chunks))
    return subprocess.Popen([sys.executable, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def assert_gone(pids: set[int]) -> None:
    deadline = time.monotonic() + 15
    while left := [pid for pid in pids if is_running(pid)]:
        assert time.monotonic() < deadline, f"still running: {left}"
        time.sleep(0.1)


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks for processes in /proc")
def test_functions_of_a_script_work_and_nothing_is_left_running(tmp_path: Path) -> None:
    process = run_script(tmp_path / "script.py", 0.0, 6)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    lines = [line.split() for line in out.splitlines()]
    assert [line[0] for line in lines].count("begins") == 1  # no worker ran the script again
    done = {int(k): int(value) for word, k, value, _ in (line for line in lines if line[0] == "done")}
    assert done == {k: 3 * k for k in range(6)}
    assert_gone({int(line[3]) for line in lines if line[0] == "done"})


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_after_ctrl_c_or_a_kill_nothing_is_left_running(tmp_path: Path, number: signal.Signals) -> None:
    process = run_script(tmp_path / "script.py", 0.1, 10_000)
    pids: set[int] = set()
    assert process.stdout is not None
    for line in process.stdout:
        words = line.split()
        if words[0] == "done":
            pids.add(int(words[3]))
        if words[:2] == ["done", "4"]:
            break
    process.send_signal(number)
    try:
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode != 0
    assert number != signal.SIGINT or "KeyboardInterrupt" in err
    assert err.count("Traceback") == (number == signal.SIGINT)
    assert_gone(pids)
