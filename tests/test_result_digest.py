"""No result changes by a bit: the digest of final states, derived quantities and mass properties, as once written.

A difference names its entries.  To look closer at one, and to accept a change that is meant:

    python tests/test_result_digest.py --show methods/top/rk4/momentum
    python tests/test_result_digest.py --write

`--strict` compares every entry to the bit, also those that may differ from one CPU to another: for the CPU that the
digest was written on.
"""

from __future__ import annotations

import hashlib
import json
import sys
import warnings
from pathlib import Path
from time import perf_counter

import numpy as np
import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent / "helpers"))
from digest_entries import ENTRIES, GROUPS, Entry

DIGEST = Path(__file__).parent / "data" / "result_digest.json"
ROUNDED = 1e-11
"""How far numbers that depend on the CPU may be from those written, relative to the largest of their array."""


def computed(entry: Entry) -> dict[str, np.ndarray]:
    """An entry's arrays, as little-endian doubles; every NaN alike, -0.0 kept."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # engine="python" is slow, a mesh is odd: both are meant
        arrays = {name: np.ascontiguousarray(value, dtype="<f8") for name, value in entry.compute().items()}
    return {name: np.where(np.isnan(array), np.nan, array) for name, array in arrays.items()}


def digest_of(arrays: dict[str, np.ndarray]) -> str:
    """SHA-256 over names, shapes and bytes."""
    sha = hashlib.sha256()
    for name, array in arrays.items():
        sha.update(f"{name} {array.shape}\n".encode())
        sha.update(array.astype("<f8").tobytes())
    return sha.hexdigest()


def difference(entry: Entry, written: dict, strict: bool = False) -> str:
    """What is different from what was written, in words; empty if nothing is."""
    arrays = computed(entry)
    if digest_of(arrays) == written["sha256"]:
        return ""
    if not entry.why_rounded or strict:
        return f"{entry.name}: other bits"
    if list(arrays) != list(written["numbers"]):
        return f"{entry.name}: other quantities"
    for name, array in arrays.items():
        before = np.array(written["numbers"][name], dtype=np.float64)
        if array.shape != before.shape:
            return f"{entry.name}: {name} has the shape {array.shape}, not {before.shape}"
        scale = np.nanmax(np.abs(before), initial=0.0)
        if not np.allclose(array, before, rtol=0.0, atol=ROUNDED * scale, equal_nan=True):
            return f"{entry.name}: {name} differs by {np.nanmax(np.abs(array - before)):.1e}, its size is {scale:.1e}"
    return ""


def written_digest() -> dict[str, dict]:
    """The digest as it was written."""
    return json.loads(DIGEST.read_text())


def write() -> None:
    """Write the digest anew."""
    lines = []
    for entry in ENTRIES.values():
        arrays = computed(entry)
        record: dict = {"sha256": digest_of(arrays)}
        if entry.why_rounded:
            record["numbers"] = {name: array.tolist() for name, array in arrays.items()}
        lines.append(f"{json.dumps(entry.name)}: {json.dumps(record)}")
    DIGEST.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def test_the_digest_has_all_entries_and_no_others():
    assert list(written_digest()) == list(ENTRIES)


@pytest.mark.parametrize("group", GROUPS)
def test_results_are_those_of_the_digest(group):
    written = written_digest()
    differences = [difference(entry, written[entry.name]) for entry in ENTRIES.values() if entry.group == group]
    found = [sentence for sentence in differences if sentence]
    assert not found, f"{len(found)} of {len(differences)} entries differ:\n" + "\n".join(found)


def main(arguments: list[str]) -> int:
    """The command line."""
    if arguments[:1] == ["--show"]:
        np.set_printoptions(threshold=sys.maxsize, floatmode="unique")
        for name, array in computed(ENTRIES[arguments[1]]).items():
            print(name, array.shape, array, sep="\n")
        return 0
    if arguments == ["--write"]:
        write()
        return 0
    written, began = written_digest(), perf_counter()
    differences = [difference(entry, written[entry.name], "--strict" in arguments) for entry in ENTRIES.values()]
    found = [sentence for sentence in differences if sentence]
    print("\n".join([*found, f"{len(found)} of {len(ENTRIES)} entries differ; {perf_counter() - began:.0f} s"]))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
