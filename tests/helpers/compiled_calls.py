"""Captured calls in WebAssembly, by three engines, and on other processors, emulated by qemu."""

from __future__ import annotations

import ctypes
import json
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import numpy as np
import pytest

from captured_calls import Call, Count, compare, load
from polhode.ir.targets.objects import MACHINES, WASM32, Machine, object_for
from polhode.ir.targets.wasm import data_end, link
from polhode.solve.write_object import PAGE, STACK
from wasm_relocations import check_relocations

HELPERS = Path(__file__).parent
TRIPLES = {"aarch64": "aarch64-linux-gnu", "riscv64": "riscv64-linux-gnu"}


class Job(NamedTuple):
    """A program and calls of it; `place` is where its calls are as files, and its code will be."""

    texts: Any
    calls: Sequence[Call]
    place: Path

    @classmethod
    def of(cls, texts: Any, calls: Sequence[Call], place: Path) -> Job:
        for i, call in enumerate(calls):
            Path(f"{place}.{i}.call").write_bytes(call.content())
        return cls(texts, calls, place)

    @property
    def files(self) -> list[Path]:
        return [Path(f"{self.place}.{i}.call") for i in range(len(self.calls))]


class Module(NamedTuple):
    """A job as a module: where it is, and where images lie."""

    path: Path
    base: int


def wasm_module(job: Job, machine: Machine = WASM32) -> Module:
    code = object_for(job.texts(machine.width), machine)
    check_relocations(code)
    path = job.place.with_suffix(".wasm")
    path.write_bytes(link(code))
    return Module(path, -(-data_end(code) // PAGE) * PAGE + STACK)


def _descriptions(jobs: Sequence[Job], modules: Sequence[Module], name: Any) -> list[dict[str, Any]]:
    return [
        {"wasm": name(module.path), "base": module.base, "calls": [name(file) for file in job.files]}
        for job, module in zip(jobs, modules, strict=True)
    ]


def node() -> str:
    found = shutil.which("node")
    if found is None:
        pytest.skip("Node is not installed")
    return found


def run_in_node(jobs: Sequence[Job], modules: Sequence[Module], folder: Path) -> list[Count]:
    (folder / "jobs.json").write_text(json.dumps(_descriptions(jobs, modules, str)))
    command = [node(), str(HELPERS / "run_calls.mjs"), str(folder / "jobs.json")]
    answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [Count(*each) for each in json.loads(answer)]


@contextmanager
def page_of(folder: Path) -> Iterator[Any]:
    """An empty page in Chromium, given by a server of this process beside the files of a folder."""
    from playwright.sync_api import sync_playwright

    from browser_driver import ARGUMENTS, chromium

    (folder / "index.html").write_text("<!doctype html><title>calls</title>")
    server = ThreadingHTTPServer(("127.0.0.1", 0), lambda *given: _Quiet(*given, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=chromium(), args=list(ARGUMENTS))
            page = browser.new_page()
            page.goto(f"http://127.0.0.1:{server.server_address[1]}/index.html")
            yield page
            browser.close()
    finally:
        server.shutdown()
        server.server_close()


def run_in_chromium(jobs: Sequence[Job], modules: Sequence[Module], folder: Path) -> list[Count]:
    shutil.copy(HELPERS / "run_calls.mjs", folder)
    run = """async (jobs) => {
      const { runJobs } = await import("./run_calls.mjs");
      return runJobs(jobs, async (name) => (await fetch(name)).arrayBuffer());
    }"""
    with page_of(folder) as page:
        return [Count(*each) for each in page.evaluate(run, _descriptions(jobs, modules, lambda path: path.name))]


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


def run_in_wasmtime(jobs: Sequence[Job], modules: Sequence[Module]) -> list[Count]:
    wasmtime = pytest.importorskip("wasmtime")
    return [_run_in_wasmtime(wasmtime, job, module) for job, module in zip(jobs, modules, strict=True)]


def _run_in_wasmtime(wasmtime: Any, job: Job, module: Module) -> Count:
    store, pages = wasmtime.Store(), -(-(module.base + 8 * max(call.size for call in job.calls)) // PAGE)
    memory = wasmtime.Memory(store, wasmtime.MemoryType(wasmtime.Limits(pages, None)))
    stack = wasmtime.Global(store, wasmtime.GlobalType(wasmtime.ValType.i32(), True), wasmtime.Val.i32(module.base))
    real = wasmtime.ValType.f64()
    fmod = wasmtime.Func(store, wasmtime.FuncType([real, real], [real]), lambda x, y: float(np.fmod(x, y)))
    known = {"__linear_memory": memory, "__stack_pointer": stack, "fmod": fmod}
    code = wasmtime.Module(store.engine, module.path.read_bytes())
    advance = wasmtime.Instance(store, code, [known[one.name] for one in code.imports]).exports(store)["advance"]
    total = np.zeros(3, dtype=np.int64)
    for call in job.calls:
        address = ctypes.cast(memory.data_ptr(store), ctypes.c_void_p).value + module.base
        words = np.frombuffer((ctypes.c_byte * (8 * call.size)).from_address(address), dtype=np.int64)
        load(words, call, module.base)
        advance(store, module.base, call.first, call.last)
        words[call.addresses] -= module.base
        total += compare(words, call)
    return Count(*total.tolist())


def emulator(name: str) -> tuple[str, str]:
    """The C compiler and the emulator for a processor."""
    tools = f"{TRIPLES[name]}-gcc", f"qemu-{name}"
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"{' and '.join(missing)} not installed: make .venv/emulators (as root), or see the Makefile")
    return tools


def run_in_qemu(name: str, jobs: Sequence[Job]) -> list[Count]:
    compiler, qemu = emulator(name)

    def run(job: Job, code: bytes) -> Count:
        place = Path(f"{job.place}.{name}")
        compiled = Path(f"{place}.o")
        compiled.write_bytes(code)
        source = str(HELPERS / "run_calls.c")
        parts = ["-O2", "-static", source, str(compiled), "-o", str(place), "-lm"]
        subprocess.run([compiler, *parts], check=True)
        done = subprocess.run([qemu, str(place), *map(str, job.files)], check=True, capture_output=True, text=True)
        return Count(*map(int, done.stdout.split()))

    with ThreadPoolExecutor(2) as pool:  # an object is linked and run while the next is written
        machine = MACHINES[name]
        running = [pool.submit(run, job, object_for(job.texts(machine.width), machine)) for job in jobs]
        return [each.result() for each in running]
