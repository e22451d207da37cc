"""A scenario as compiled code: a WebAssembly module with a driver, or an object for another processor with a header.

The code is that of the loop which `ph.simulate` runs on this CPU; what a run does in Python before its first call is
done here, and the image holds the result.
"""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import ScenarioError
from polhode.integrate.clocked_steps import ClockedSteps
from polhode.integrate.closed_form import ClosedForm
from polhode.integrate.contact_steps import FAILURES, ContactSteps
from polhode.integrate.contacts.contact_scene import AT_LOGGED, AT_STATUS, LOG_FULL, MEMORY, RUNNING, STARTS_INSIDE
from polhode.integrate.driver import integrator_for, segment_records
from polhode.integrate.integrator import Integrator
from polhode.integrate.run_plan import RunPlan
from polhode.io.atomic_files import check_suffix, write_atomic
from polhode.ir.program import Program
from polhode.ir.targets import wasm
from polhode.ir.targets.objects import MACHINES, WASM32, WASM32_SIMD, object_for
from polhode.scenario.scenario import Scenario
from polhode.solve import object_templates as templates
from polhode.solve.memory_image import Image, image_of
from polhode.solve.source_comments import describe_run, one_line, sample_header
from polhode.validation import check_word

RESULTS = ("out", "checkpoints", "contact", "log")
"""The arrays of records that a run fills: an image has only room for them."""
STACK = 2**20
"""Bytes of WebAssembly's stack, which goes down from the image: two bodies in contact use 185 kB, and an overflow would
overwrite data in silence."""
UNTOUCHED = -0x123456789ABCDEF
"""A word that no buffer holds."""
PAGE = 2**16
MOST_WORDS = 1_000_000
"""What an image may hold beside its room."""
MOST_BYTES = 2**31
"""What the memory of a module may hold."""


class CompiledRun(NamedTuple):
    """A run that is one program and one image."""

    scenario: Scenario
    integrator: Integrator
    records: list[Any]
    """Of each segment."""
    changes: list[dict[int, int]]
    """Before each segment: the words of the buffer that get other numbers."""
    image: Image

    def texts(self, width: int) -> tuple[str, str]:
        """The texts of loops and laws."""
        program = self.integrator.plan.program
        assert isinstance(program, Program)  # the engine is the CPU
        return program.text(self.records[0], width)

    @property
    def kind(self) -> str:
        """How the driver knows that the run is over."""
        if isinstance(self.integrator, ContactSteps):
            return "contact"
        return "clocked" if isinstance(self.integrator, ClockedSteps) else "straight"

    @property
    def results_size(self) -> int:
        """The bytes of all samples, which follow each other."""
        return sum(record.out.nbytes for record in self.records)

    def segments(self) -> list[dict[str, Any]]:
        """What a driver has to know about each segment."""
        found: list[dict[str, Any]] = []
        at_buffer, _ = self.image.arrays["buffer"]
        for k, (record, changes) in enumerate(zip(self.records, self.changes, strict=True)):
            one: dict[str, Any] = {"record": self.image.records[k], "outputs": 0, "done": 0, "end": -np.inf}
            if isinstance(self.integrator, ClockedSteps):
                one |= {"outputs": len(record.stops), "done": self.image.arrays[f"done_{k}" if k else "done"][0]}
                one |= {"end": record.end if record.through else -np.inf}
            one["changes"] = [(at_buffer // 8 + i, str(word)) for i, word in changes.items()]
            found.append(one)
        return found

    def columns(self) -> list[str]:
        """The names of a sample's numbers."""
        return sample_header(self.scenario, self.scenario.members is None)[2:]

    def numbers(self) -> dict[str, int]:
        """What a driver has to know."""
        packing, buffer = self.integrator.packing, self.integrator.buffer
        found = {
            "units": len(buffer),
            "systems": packing.systems,
            "each": packing.bodies,
            "bodies": packing.systems * packing.bodies,
            "blocks": packing.blocks,
            "lanes": packing.layout.lanes,
            "outputs": len(self.scenario.times),
        }
        if isinstance(self.integrator, ClockedSteps):
            slots, clocks = self.integrator.slots, self.integrator.clocks
            clock = packing.layout.clock
            found |= {"slots": slots, "clocks": clocks, "stride": buffer.shape[1]}
            found |= {"timeAt": clock.t, "stepAt": clock.h}
            row = self.records[0].log.dtype
            found |= {"logWidth": row.itemsize // 8, "logWhole": sum(row[name].kind == "i" for name in row.names)}
        if isinstance(self.integrator, ContactSteps):
            found |= {"memory": MEMORY, "statusAt": AT_STATUS, "loggedAt": AT_LOGGED}
            found |= {"running": RUNNING, "logFull": LOG_FULL}
            found |= {"logRows": self.records[0].log.shape[1], "logWidth": self.records[0].log.shape[2]}
        return found


def compiled_run(scenario: Scenario) -> CompiledRun:
    """The program and the image of a scenario whose method is known and whose functions are traced."""
    integrator = integrator_for(RunPlan(scenario, scenario.members is None), 1)
    _check_segments(integrator)
    records: list[Any] = []
    changes: list[dict[int, int]] = []
    first: Any = None
    with np.errstate(all="ignore"):
        for record in segment_records(integrator):
            words = integrator.buffer.reshape(-1).view(np.int64)
            if isinstance(integrator, ClockedSteps):
                one = records[0] if records else record
                record = record._replace(log=one.log, found=one.found, checkpoints=record.checkpoints[:0])
            touched = np.flatnonzero(words != UNTOUCHED).tolist() if records else []
            changes.append({i: int(words[i]) for i in touched})
            first = first if records else words.copy()
            records.append(record)
            words[:] = UNTOUCHED  # so that it shows what the next segment begins with
        words[:] = first
    image = image_of(records, RESULTS)
    if len(image.data) > MOST_WORDS or image.size > MOST_BYTES:
        raise ScenarioError(
            f"the run takes {len(image.data)} numbers and {image.size} bytes, more than the {MOST_WORDS} and "
            f"{MOST_BYTES} that a file may ask for: export fewer members, scenario.take(range(100)), or fewer outputs"
        )
    return CompiledRun(scenario, integrator, records, changes, image)


def _check_segments(integrator: Integrator) -> None:
    """Between two segments only the program may carry the state."""
    scenario, timeline = integrator.scenario, integrator.run.timeline
    inside = timeline.boundaries
    impulses = [t for t in [*inside, timeline.end] if t > timeline.start and timeline.impulses_at(t)]
    if impulses:
        raise ScenarioError(
            f"a scenario with an impulse inside its run, here at {impulses[0]:g} s, cannot be compiled for other "
            "machines, since it is applied between two calls: export the parts before and after it, or write it as "
            "'c' or 'javascript'"
        )
    if inside and not isinstance(integrator, (ClockedSteps, ClosedForm)):
        how = "contacts" if scenario.is_constrained else "steps of one length"
        raise ScenarioError(
            f"a scenario with {how} and the edge of a window, a knot of a table or a break inside its run, here at "
            f"{inside[0]:g} s, cannot be compiled for other machines: export the parts before and after that time"
            + ("" if scenario.is_constrained else ", use method='dop853', or write it as 'c' or 'javascript'")
        )


def write_wasm(scenario: Scenario, path: Path, target: str | None) -> None:
    """Write a WebAssembly module, and beside it a driver in JavaScript."""
    if target is not None:
        check_word(target, "target of 'wasm'", ("scalar", "simd"), advice="it is 'scalar' (as is None) or 'simd'")
    check_suffix(path, (".wasm",), "the module")
    run, machine = compiled_run(scenario), WASM32_SIMD if target == "simd" else WASM32
    code = object_for(run.texts(machine.width), machine)
    base = -(-wasm.data_end(code) // PAGE) * PAGE + STACK
    write_atomic(path, wasm.link(code))
    write_atomic(path.with_suffix(".mjs"), driver_text(run, base, path.stem).encode())


def driver_text(run: CompiledRun, base: int, stem: str) -> str:
    """The driver of a module whose image lies at `base`."""
    words = run.image.data.copy()
    words[run.image.addresses] += base
    places = {
        name: {"at": at, "length": _length(array), "kind": array.dtype.kind}
        for name, (at, array) in run.image.arrays.items()
    }
    places["out"]["length"] = run.results_size // 8
    about = {"base": base, "size": run.image.size, "columns": run.columns(), **run.numbers(), "arrays": places}
    about |= {"segments": run.segments()}
    if run.kind == "contact":
        about |= {"failures": [FAILURES.get(code, "") for code in range(STARTS_INSIDE)] + ["starts inside another"]}
    text = _fill(
        templates.JAVASCRIPT,
        TITLE=describe_run(run.scenario),
        NAME=one_line(stem),
        RUN=json.dumps(about),
        TIMES=json.dumps(run.scenario.times.tolist()),
        IMAGE=b64encode(words.tobytes()).decode(),
    )
    return text + templates.JAVASCRIPT_PARTS[run.kind]


def _length(array: Any) -> int:
    """The numbers of an array; of records, their words."""
    return int(array.nbytes // 8 if array.dtype.names else array.size)


def write_object(scenario: Scenario, path: Path, target: str | None) -> None:
    """Write an object, and beside it a header in C."""
    target = check_word(target, "target of 'object'", MACHINES)
    check_suffix(path, (".o",), "the object")
    run, machine = compiled_run(scenario), MACHINES[target]
    write_atomic(path, object_for(run.texts(machine.width), machine))
    write_atomic(path.with_suffix(".h"), header_text(run, path.stem).encode())


def header_text(run: CompiledRun, stem: str) -> str:
    """The header of an object."""
    numbers = {_macro(name): value for name, value in run.numbers().items() if name != "memory"}
    numbers |= {"COLUMNS": len(run.columns()), "MEMORY": run.image.size, "SIZE_out": run.results_size}
    if run.kind == "contact":
        numbers |= {"MEMORY_SIZE": MEMORY}
    numbers |= {f"AT_{name}": at for name, (at, _) in run.image.arrays.items()}
    rows, changes = [], []
    for segment in run.segments():
        changes += [(word, f"{int(bits) % 2**64:#x}u") for word, bits in segment["changes"]]
        end = "-INFINITY" if np.isneginf(segment["end"]) else float(segment["end"]).hex()
        rows.append(f"{{{segment['record']}, {segment['outputs']}, {segment['done']}, {end}, {len(changes)}}}")
    return _fill(
        templates.HEADER,
        TITLE=describe_run(run.scenario),
        NAME=one_line(stem),
        COLUMNS=", ".join(run.columns()),
        DEFINES="\n".join(f"#define POLHODE_{name} {value}" for name, value in numbers.items()),
        TIMES=", ".join(float(t).hex() for t in run.scenario.times),
        IMAGE=",".join(f"{word:#x}" for word in run.image.data.view(np.uint64).tolist()),
        ADDRESSES=", ".join(map(str, run.image.addresses)),
        SEGMENTS=", ".join(rows),
        CHANGES=", ".join(f"{{{word}, {bits}}}" for word, bits in changes) or "{0, 0}",
        PARTS=templates.HEADER_PARTS[run.kind],
    )


def _macro(name: str) -> str:
    return "".join(f"_{letter}" if letter.isupper() else letter for letter in name).upper()


def _fill(template: str, **parts: str) -> str:
    for name, text in parts.items():
        template = template.replace(f"@@{name}", text)
    return template
