"""Whether an ensemble fits into memory, asked before it starts."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from polhode.errors import ScenarioError
from polhode.scenario.scenario import Scenario

CGROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat"),
    (
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        "/sys/fs/cgroup/memory/memory.stat",
    ),
)
"""Of a container: how much it may use, how much it does, and which part of that are caches that give way."""


def count_sample_bytes(scenario: Scenario, members: int) -> int:
    """The bytes of the samples of so many members."""
    return 8 * len(scenario.times) * members * len(scenario.bodies) * (sum(scenario.form.sizes) + 1)


def check_memory(needed: int, what: str, remedy: str) -> None:
    """Raise ScenarioError if there is not as much memory; nothing if it is not known how much there is."""
    there = find_free_memory()
    if there is not None and needed > there:
        raise ScenarioError(
            f"{what} take {format_bytes(needed)}, but {format_bytes(there)} of memory are free: {remedy}"
        )


def find_free_memory() -> int | None:
    """The bytes that this process can still have, swap included: of the machine, its container, or its limits."""
    found = [one for one in (_free_in_machine(), _free_in_container(), _free_in_limits()) if one is not None]
    return max(0, min(found)) if found else None


def format_bytes(number: float) -> str:
    """A number of bytes as people read it.

    Examples
    --------
    >>> format_bytes(11.2e12), format_bytes(512)
    ('10.2 TiB', '512 bytes')
    """
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB"):
        if number < 1024 or unit == "PiB":
            break
        number /= 1024
    return f"{number:.3g} {unit}" if unit != "PiB" else f"{number:,.0f} PiB"


def _free_in_machine() -> int | None:
    with suppress(OSError, ValueError, KeyError):
        lines = (line.split() for line in Path("/proc/meminfo").read_text().splitlines())
        kilobytes = {words[0].rstrip(":"): int(words[1]) for words in lines}
        return 1024 * (kilobytes["MemAvailable"] + kilobytes.get("SwapFree", 0))
    with suppress(AttributeError, OSError, ValueError):  # no such function on Windows, no such name elsewhere
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")  # all that there is: what is used is not known
    return None


def _free_in_container() -> int | None:
    for limit, usage, stat in CGROUPS:
        with suppress(OSError, ValueError, IndexError):
            most, used = int(Path(limit).read_text()), int(Path(usage).read_text())  # "max": no limit
            cached = {line.split()[0]: int(line.split()[1]) for line in Path(stat).read_text().splitlines()}
            return most - used + cached.get("inactive_file", 0)
    return None


def _free_in_limits() -> int | None:
    with suppress(ImportError, OSError, ValueError, IndexError):
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most == resource.RLIM_INFINITY:
            return None
        return most - int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    return None
