"""Plants deliberate errors, one at a time, in a copy of the sources: each must turn some test red.  `make mutants`

`planted_errors.py` lists them, each with the tests that are run on the copy until one fails.  A planted error that no
test notices, or whose text is no longer in the file, fails the whole.  With words as arguments, only errors that have
one of them in their name or file are planted.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from time import perf_counter

from planted_errors import PLANTED, Planted

ROOT = Path(__file__).parents[2]
WORKERS = min(2, os.cpu_count() or 1)
LONGEST_S = 480


def run_tests(source: Path, cache: Path, tests: tuple[str, ...], *options: str) -> tuple[int, str]:
    """Pytest on these tests, with the package taken from `source`: its exit status and what it said."""
    environment = os.environ | {
        "PYTHONPATH": str(source),
        "PYTHONDONTWRITEBYTECODE": "1",  # a planted error may leave a file's size and second of writing as they were
        "POLHODE_CACHE": str(cache),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-rfE", "--tb=no", "--no-header", "-p", "no:cacheprovider"]
    command += ["-o", "addopts=", *options, *(f"tests/{test}" for test in tests)]
    try:
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=LONGEST_S)
    except subprocess.TimeoutExpired:
        return 1, "FAILED (took too long)"
    return done.returncode, done.stdout + done.stderr


def copy_of_sources(place: Path) -> Path:
    """A copy of src without what was compiled from it."""
    shutil.copytree(ROOT / "src", place, ignore=shutil.ignore_patterns("__pycache__"))
    return place


def plant_and_test(planted: Planted, source: Path, cache: Path) -> tuple[str, bool, float]:
    """What became of a planted error: which test caught it, or why none did; whether it was caught; seconds."""
    path, began = source / "polhode" / planted.file, perf_counter()
    sound = path.read_text(encoding="utf-8")
    if sound.count(planted.text) != 1:
        return f"TEXT FOUND {sound.count(planted.text)} TIMES: bring this error up to date", False, 0.0
    spoiled = sound.replace(planted.text, planted.instead)
    if path.suffix == ".py":
        compile(spoiled, planted.file, "exec")
    try:
        path.write_text(spoiled, encoding="utf-8")
        status, said = run_tests(source, cache, planted.tests, "-x")
    finally:
        path.write_text(sound, encoding="utf-8")
    red = re.search(r"^(?:FAILED|ERROR) (?:tests/)?(.+?)(?: - .*)?$", said, re.MULTILINE)
    caught = status in (1, 2) and red is not None
    return red[1] if caught and red else f"SURVIVED {', '.join(planted.tests)}", caught, perf_counter() - began


def main() -> int:
    chosen = [p for p in PLANTED if not sys.argv[1:] or any(word in f"{p.what} {p.file}" for word in sys.argv[1:])]
    began = perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        copies: SimpleQueue[Path] = SimpleQueue()
        for i in range(WORKERS):
            copies.put(copy_of_sources(Path(folder) / f"src{i}"))

        def with_a_copy(work):
            source = copies.get()
            try:
                return work(source, Path(folder) / f"cache-{source.name}")
            finally:
                copies.put(source)

        with ThreadPoolExecutor(WORKERS) as pool:
            needed = tuple(sorted({test for planted in chosen for test in planted.tests}))
            shares = [needed[i::WORKERS] for i in range(WORKERS) if needed[i::WORKERS]]
            sound = pool.map(lambda share: with_a_copy(lambda source, cache: run_tests(source, cache, share)), shares)
            for status, said in sound:
                if status != 0:
                    print(f"The tests fail already with nothing planted:\n{said}")
                    return 2
            print(f"nothing planted: {len(needed)} test files green, {perf_counter() - began:.0f} s\n")
            print(f"{'planted error':46} {'file':28} {'caught by':90} {'s':>5}")
            all_caught = True
            results = pool.map(lambda p: with_a_copy(lambda source, cache: plant_and_test(p, source, cache)), chosen)
            for planted, (by, caught, seconds) in zip(chosen, results, strict=True):
                print(f"{planted.what:46} {planted.file:28} {by:90} {seconds:5.1f}", flush=True)
                all_caught = all_caught and caught
    verdict = "each turned a test red" if all_caught else "NOT ALL were noticed"
    print(f"\n{len(chosen)} errors planted: {verdict}; {perf_counter() - began:.0f} s in all")
    return 0 if all_caught else 1


if __name__ == "__main__":
    sys.exit(main())
