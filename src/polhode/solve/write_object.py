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

from polhode.engines import segments
from polhode.engines.clocked_steps import ClockedSteps
from polhode.engines.contact_steps import FAILURES, ContactSteps
from polhode.engines.driver import first_call, integrator_for
from polhode.engines.impulses import impulses_at
from polhode.engines.integrator import Integrator
from polhode.errors import InputError, ScenarioError
from polhode.integrate.contact_scene import AT_LOGGED, AT_STATUS, LOG_FULL, MEMORY, RUNNING, STARTS_INSIDE
from polhode.io.atomic_files import check_suffix, write_atomic
from polhode.ir.image import Image, image_of
from polhode.ir.program import Program
from polhode.ir.targets import wasm
from polhode.ir.targets.objects import MACHINES, WASM32, WASM32_SIMD, object_for
from polhode.scenario.scenario import Scenario
from polhode.solve import object_templates as templates
from polhode.solve.source_comments import describe_run, one_line, sample_header

RESULTS = ("out", "checkpoints", "contact", "log")
"""The arrays of records that a run fills: an image has only room for them."""
STACK = 2**20
"""Bytes of WebAssembly's stack, which goes down from the image: two bodies in contact use 185 kB, and an overflow would
overwrite data in silence."""
PAGE = 2**16
MOST_WORDS = 1_000_000
"""What an image may hold beside its room."""
MOST_BYTES = 2**31
"""What the memory of a module may hold."""


class CompiledRun(NamedTuple):
    """A run that is one program and one image."""

    scenario: Scenario
    integrator: Integrator
    record: Any
    image: Image

    def texts(self, width: int) -> tuple[str, str]:
        """The texts of loops and laws."""
        program = self.integrator.plan.program
        assert isinstance(program, Program)  # the engine is the CPU
        return program.text(self.record, width)

    @property
    def kind(self) -> str:
        """How the driver knows that the run is over."""
        if isinstance(self.integrator, ContactSteps):
            return "contact"
        return "clocked" if isinstance(self.integrator, ClockedSteps) else "straight"

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
            step_at = packing.layout.clock[1]
            found |= {"slots": slots, "clocks": clocks, "stride": buffer.shape[1], "stepAt": step_at}
            found |= {"logWidth": self.record.log.shape[1]}
        if isinstance(self.integrator, ContactSteps):
            found |= {"memory": MEMORY, "statusAt": AT_STATUS, "loggedAt": AT_LOGGED}
            found |= {"running": RUNNING, "logFull": LOG_FULL}
            found |= {"logRows": self.record.log.shape[1], "logWidth": self.record.log.shape[2]}
        return found


def compiled_run(scenario: Scenario) -> CompiledRun:
    """The program and the image of a scenario whose method is known and whose functions are traced."""
    _check_is_one_call(scenario)
    integrator = integrator_for(scenario, scenario.members is None, 1)
    with np.errstate(all="ignore"):
        record = first_call(integrator)
    image = image_of(record, RESULTS)
    if len(image.data) > MOST_WORDS or image.size > MOST_BYTES:
        raise ScenarioError(
            f"the run takes {len(image.data)} numbers and {image.size} bytes, more than the {MOST_WORDS} and "
            f"{MOST_BYTES} that a file may ask for: export fewer members, scenario.take(range(100)), or fewer outputs"
        )
    return CompiledRun(scenario, integrator, record, image)


def _check_is_one_call(scenario: Scenario) -> None:
    inside, end = segments.segment_boundaries(scenario), segments.last_boundary(scenario)
    if not inside and impulses_at(scenario, end) and end > scenario.start_time:
        inside = [end]
    if inside:
        raise ScenarioError(
            f"a scenario with an impulse, the edge of a window, a knot of a table or a break inside its run, here at "
            f"{inside[0]:g} s, cannot be compiled for other machines: what happens there is done between two calls. "
            "Export the parts of the run before and after that time, or write it in 'c' or 'javascript'"
        )


def write_wasm(scenario: Scenario, path: Path, target: str | None) -> None:
    """Write a WebAssembly module, and beside it a driver in JavaScript."""
    if target not in (None, "scalar", "simd"):
        raise InputError(f"the target of 'wasm' is 'scalar' (as is None) or 'simd', but is {target!r}")
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
        name: {"at": at, "length": array.size, "kind": array.dtype.kind}
        for name, (at, array) in run.image.arrays.items()
    }
    about = {"base": base, "size": run.image.size, "columns": run.columns(), **run.numbers(), "arrays": places}
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


def write_object(scenario: Scenario, path: Path, target: str | None) -> None:
    """Write an object, and beside it a header in C."""
    if target not in MACHINES:
        raise InputError(f"the target of 'object' must be one of {', '.join(map(repr, MACHINES))}, but is {target!r}")
    check_suffix(path, (".o",), "the object")
    run, machine = compiled_run(scenario), MACHINES[target]
    write_atomic(path, object_for(run.texts(machine.width), machine))
    write_atomic(path.with_suffix(".h"), header_text(run, path.stem).encode())


def header_text(run: CompiledRun, stem: str) -> str:
    """The header of an object."""
    numbers = {_macro(name): value for name, value in run.numbers().items() if name != "memory"}
    numbers |= {"COLUMNS": len(run.columns()), "MEMORY": run.image.size, "SIZE_out": run.record.out.nbytes}
    if run.kind == "contact":
        numbers |= {"MEMORY_SIZE": MEMORY}
    numbers |= {f"AT_{name}": at for name, (at, _) in run.image.arrays.items()}
    return _fill(
        templates.HEADER,
        TITLE=describe_run(run.scenario),
        NAME=one_line(stem),
        COLUMNS=", ".join(run.columns()),
        DEFINES="\n".join(f"#define POLHODE_{name} {value}" for name, value in numbers.items()),
        TIMES=", ".join(float(t).hex() for t in run.scenario.times),
        IMAGE=",".join(f"{word:#x}" for word in run.image.data.view(np.uint64).tolist()),
        ADDRESSES=", ".join(map(str, run.image.addresses)),
        PARTS=templates.HEADER_PARTS[run.kind],
    )


def _macro(name: str) -> str:
    return "".join(f"_{letter}" if letter.isupper() else letter for letter in name).upper()


def _fill(template: str, **parts: str) -> str:
    for name, text in parts.items():
        template = template.replace(f"@@{name}", text)
    return template
