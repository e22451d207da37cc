"""From LLVM's assembly language to an object: for this machine or for another one, by the same passes."""

from __future__ import annotations

from functools import cache
from threading import RLock
from typing import Any, NamedTuple

import llvmlite.binding as llvm
from llvmlite.binding.newpassmanagers import NewPassManager

OPTIMIZATION = 2
COMPILING = RLock()
"""LLVM's context and options belong to the process: one thread compiles at a time."""
MIN_JUMP_TABLE = "-min-jump-table-entries=4"
"""LLVM's default.  Its WebAssembly target sets this option to 2 for all targets of the process: machine code for this
CPU would then turn short switches into tables, and would no longer be what a fresh process makes of the same text."""


class Machine(NamedTuple):
    """A processor for which objects are written."""

    triple: str
    features: str = ""
    abi: str = ""
    code_model: str = "small"
    width: int = 1
    """How many doubles a vector holds."""


MACHINES = {
    "aarch64": Machine("aarch64-unknown-linux-gnu", width=2),
    "riscv64": Machine("riscv64-unknown-linux-gnu", "+m,+a,+f,+d,+c", "lp64d", "medium"),
    "x86_64": Machine("x86_64-unknown-linux-gnu", width=2),
}
_WASM = "+bulk-memory,+nontrapping-fptoint,+sign-ext,+mutable-globals"
WASM32 = Machine("wasm32-unknown-unknown", _WASM)
WASM32_SIMD = Machine("wasm32-unknown-unknown", _WASM + ",+simd128", width=2)


def compile_object(texts: tuple[str, str], machine: Any, triple: str, vectors: str = "") -> bytes:
    """The object of loops and laws for a machine of LLVM.  Passes optimize the loops; the laws need none."""
    attributes = f"\nattributes #0 = {{ nounwind {vectors}}}\nattributes #1 = {{ nounwind noinline {vectors}}}\n"
    modules = []
    for text in texts:
        module = llvm.parse_assembly(text + attributes)
        module.triple, module.data_layout = triple, str(machine.target_data)
        modules.append(module)
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.slp_vectorization, options.loop_vectorization, options.loop_unrolling = False, True, False
    builder = llvm.create_pass_builder(machine, options)
    passes = builder.getModulePassManager()
    passes.run(modules[0], builder)
    NewPassManager._dispose(passes)  # llvmlite never frees one: the first of its base classes hides the method
    passes.detach()
    modules[0].link_in(modules[1])
    object_code: bytes = machine.emit_object(modules[0])
    return object_code


def object_for(texts: tuple[str, str], machine: Machine) -> bytes:
    """The object of loops and laws for another machine: a function advance(record, first, last)."""
    with COMPILING:
        is_wasm = machine.triple.startswith("wasm")
        target = _find_target(machine.triple).create_target_machine(
            features=machine.features,
            opt=OPTIMIZATION,
            reloc="static" if is_wasm else "pic",
            codemodel=machine.code_model,
            abiname=machine.abi,
        )
        try:
            return compile_object(texts, target, machine.triple)
        finally:
            if is_wasm:
                llvm.set_option("", MIN_JUMP_TABLE)


@cache
def _find_target(triple: str) -> Any:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(triple)
