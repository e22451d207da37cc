"""Stores of runs that are not finished: how to recognize one, and how far it is."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from polhode.errors import FileError
from polhode.io.checkpoint_chain import read_last_state
from polhode.io.store_lock import lock_holder

RUN_MANIFEST = "polhode-run.json"
"""What is computed, and by which versions."""
FORMAT = 1
"""The version of the layout of an unfinished run."""
CHECKPOINTS = "checkpoints"


def is_unfinished_run(path: Path) -> bool:
    """Whether a folder is the store of a run that is not finished."""
    return (path / RUN_MANIFEST).is_file()


def read_manifest(path: Path) -> tuple[dict[str, Any], str]:
    """What is computed, and its digest."""
    try:
        manifest = json.loads((path / RUN_MANIFEST).read_text())
        found = manifest["format"]
        if found == FORMAT:
            if sha256(manifest["run"].encode()).hexdigest() != manifest["sha256"]:
                raise ValueError
            return json.loads(manifest["run"]), manifest["sha256"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise FileError(
            f"{path} holds an unfinished run whose {RUN_MANIFEST} is damaged: it cannot be resumed. Remove it, and "
            "begin again"
        ) from None
    raise FileError(
        f"{path} holds an unfinished run of the format {found!r}, and this version of Polhode reads {FORMAT}: resume "
        "it with the version that began it, or remove it and begin again"
    )


def describe_progress(path: Path) -> str:
    """How far an unfinished run is, in words."""
    try:
        state = read_last_state(path / CHECKPOINTS)
    except OSError:
        state = None
    if state is None:
        return "which has no checkpoint yet"
    again = f" in run {state['run'] + 1} of method 'auto'" if state["run"] else ""
    return f"which has reached t = {state['time']:g} s{again}"


def refuse_unfinished_run(path: Path) -> None:
    """Raise an error about a run that is not finished: how far it is, and how to resume it."""
    if not is_unfinished_run(path):
        return
    holder = lock_holder(path)
    what = f"It is being computed by {holder}."
    if holder is None:
        again = f"ph.simulate(..., store={path.name!r}, resume=True) or `polhode run ... --store {path.name} --resume`"
        what = f"Resume it with {again}."
    raise FileError(f"{path} is a run that is not finished, {describe_progress(path)}. {what}")
