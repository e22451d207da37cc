"""Ctrl-C ends a run by design: also where Python ignores the exception, in a destructor; what is finished is kept."""

from __future__ import annotations

import signal
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import polhode as ph
from polhode.ensembles.interrupts import Interrupts, interrupts
from polhode.ensembles.run_chunks import ChunkRun, Done
from polhode.progress import listening

CHUNK, MEMBERS = 4096, 6 * 4096
BODY, FORCES = ph.Body(1.0, (1.0, 2.0, 2.5)), [ph.forces.gravity(), ph.forces.quadratic_drag(0.1)]
START = ph.State(velocity=np.random.default_rng(3).normal(size=(MEMBERS, 3)))
SETTINGS: dict[str, Any] = {"duration": 0.1, "step": 0.01, "method": "rk4", "progress": False}

pytestmark = pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(), reason="signals come to the main thread"
)


@pytest.fixture(autouse=True)
def default_handler() -> Any:
    """That of Python, which tests that run in the background may not have."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


class Fragile:
    """Its destructor is where Ctrl-C arrives: an exception that is raised there is printed, and ignored."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)
        for _ in range(1000):  # the handler runs here
            pass


def interrupt_in_destructor() -> None:
    fragile = Fragile()
    del fragile


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_python_itself_ignores_an_interrupt_in_a_destructor() -> None:
    interrupt_in_destructor()  # nothing is raised: what the rest of this file is about


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("engine", ["cpu", "dask"])
def test_an_interrupt_in_a_destructor_ends_the_run_and_what_is_finished_is_kept(tmp_path: Any, engine: str) -> None:
    if engine == "dask":
        pytest.importorskip("distributed")
    store, seen = tmp_path / "s.zarr", []

    def look(report: Any) -> None:
        if threading.current_thread() is threading.main_thread() and report.done >= limit and not seen:
            seen.append(report.done)
            interrupt_in_destructor()

    limit = CHUNK if engine == "dask" else 0  # threads report elsewhere: before the first chunk
    kept: dict[str, Any] = {"store": store, "chunk_members": CHUNK, "threads": 2}
    with listening(look), pytest.raises(KeyboardInterrupt):
        ph.ensemble(BODY, START, FORCES, engine=engine, **kept, **SETTINGS)
    assert seen
    done = ph.ensemble(BODY, START, FORCES, store=store, resume=store.exists(), **SETTINGS)
    assert done.checksum() == ph.ensemble(BODY, START, FORCES, reduce=["mean:position"], **SETTINGS).checksum()


class Slow:
    """Workers whose chunks come when they are told to."""

    def __init__(self) -> None:
        self.tasks: list[Future[int]] = []
        self.closed = False

    def submit(self, chunk: int) -> Future[int]:
        task: Future[int] = Future()
        self.tasks.append(task)
        if chunk == 0:
            task.set_result(0)
        return task

    def fetch(self, tasks: list[Any]) -> Done:
        return Done([(task, task.result()) for task in tasks], [], [])

    def window(self) -> int:
        return 3

    def look(self) -> None:
        """Nobody dies."""

    def judge(self, error: BaseException) -> int:
        raise error

    def close(self) -> None:
        self.closed = True


def test_the_wait_ends_at_once_and_not_at_its_next_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polhode.ensembles.run_chunks.LOOK_S", 3600.0)
    found, workers = [], Slow()

    def run() -> None:
        with interrupts() as interrupt, interrupt.held():
            for k, _ in ChunkRun(workers, range(5), interrupt):
                found.append(k)
                signal.raise_signal(signal.SIGINT)  # nothing is raised here, and nothing will ever come

    with pytest.raises(KeyboardInterrupt):
        run()
    assert found == [0]
    assert workers.closed


def interrupt_twice(reached: list[int]) -> None:
    with interrupts() as interrupt, interrupt.held():
        signal.raise_signal(signal.SIGINT)
        reached.append(1)
        signal.raise_signal(signal.SIGINT)
        reached.append(2)


def test_a_second_interrupt_is_raised_where_it_arrives() -> None:
    reached: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        interrupt_twice(reached)
    assert reached == [1]


def interrupt_at_the_end(reached: list[int]) -> None:
    with interrupts() as interrupt:
        with interrupt.held():
            signal.raise_signal(signal.SIGINT)
        reached.append(1)


def test_what_is_noted_at_the_very_end_is_raised() -> None:
    reached: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        interrupt_at_the_end(reached)
    assert reached == [1]


def test_handlers_of_the_program_and_other_threads_are_left_alone() -> None:
    own = lambda *_: None  # noqa: E731
    signal.signal(signal.SIGINT, own)
    with interrupts():
        assert signal.getsignal(signal.SIGINT) is own
    assert signal.getsignal(signal.SIGINT) is own
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def elsewhere() -> Any:
        with interrupts():
            return signal.getsignal(signal.SIGINT)

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(elsewhere).result() is signal.default_int_handler


def test_a_run_inside_a_run_shares_what_was_noted() -> None:
    def run_inside() -> None:
        with interrupts() as outer, outer.held():
            signal.raise_signal(signal.SIGINT)
            with interrupts() as inner:
                same.append(inner is outer)

    same: list[bool] = []
    with pytest.raises(KeyboardInterrupt):
        run_inside()
    assert same == [True]


def test_chunks_come_from_an_executor_of_processes() -> None:
    """The loop asks for no more than what `concurrent.futures` has."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:

        class Processes(Slow):
            def submit(self, chunk: int) -> Future[int]:
                return pool.submit(pow, chunk, 2)

        assert sorted(ChunkRun(Processes(), range(20), Interrupts())) == [(k, k * k) for k in range(20)]
