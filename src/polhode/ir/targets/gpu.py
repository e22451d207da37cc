"""A loop as a kernel for GPUs: one thread for each unit, by LLVM's own target for NVIDIA's processors.

The text of loops and laws is that of the CPU with vectors of one number.  LLVM writes PTX from it, which the driver of
the GPU turns into machine code: no CUDA toolkit is needed.  Nothing is fused or reordered unless asked for, so the
numbers have the CPU's bits.  Compiled for this machine instead, the same text runs without a GPU.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from polhode.ir.loop_values import size_of
from polhode.ir.loops import Loop, compile_loop, pack_record, record_like

NAME = "polhode_kernel"
THREADS = 128
"""Threads of a block."""
UNROLLED = 256
"""Loops over the numbers of a body are written out up to this length, so that a body stays in registers."""
CHIPS = (50, 60, 70, 75, 80, 86, 89, 90)
_TRIPLE = "nvptx64-nvidia-cuda"
_INDICES = ("tid", "ntid", "ctaid")
_INLINED = "\nattributes #0 = { nounwind alwaysinline }\nattributes #1 = { nounwind alwaysinline }\n"
_CALLED = "\nattributes #0 = { nounwind alwaysinline }\nattributes #1 = { nounwind noinline }\n"


class KernelText(NamedTuple):
    """A kernel in LLVM's assembly language, without its entry."""

    loops: str
    laws: str
    words: int
    """The words of its record."""
    own: tuple[tuple[int, int, int], ...]
    """Arrays of which every unit has its own: the word of the address, the number of extents, the bytes of an entry."""
    blocks: int
    """Blocks that a multiprocessor holds at once, at least: the compiler keeps to the registers that this leaves."""


def kernel_text(
    function: Loop,
    record: Any,
    extents: Mapping[str, Sequence[int | None]],
    own: Sequence[str],
    precision: str,
    is_inlined: bool,
    blocks: int,
) -> KernelText:
    """The text of a loop function (record, first, last) for one unit at a time.

    With `is_inlined` the laws become part of the loop, so that the numbers of a unit stay in registers.  Every unit has
    its own array for each field of `own`, one after the other.
    """
    loops, laws = compile_loop(function, record, extents, 1, UNROLLED, precision, is_kernel=True)
    attributes = _INLINED if is_inlined else _CALLED
    fields = record_like(record, extents)
    each = [fields[name] for name in own if name in fields]
    places = tuple((word, len(array.extents), size_of(array.kind)) for word, array in each)
    return KernelText(loops + attributes, laws + attributes, len(pack_record(record)), places, blocks)


# On a GPU -------------------------------------------------------------------------------------------------------------
def ptx(kernel: KernelText, chip: str) -> str:
    """PTX of the kernel (record, units) for a chip such as "sm_90"."""
    target = _gpu_target()
    machine = target.create_target_machine(cpu=_known_chip(chip), opt=3)
    entry = "\n".join(
        [
            *(f"declare i32 @llvm.nvvm.read.ptx.sreg.{index}.x()" for index in _INDICES),
            f"declare void @advance({_ADVANCE})",
            f"define ptx_kernel void @{NAME}(ptr noalias %record, i64 %units) #2 {{",
            _room_for_words(kernel),
            *(f"  %{index}32 = call i32 @llvm.nvvm.read.ptx.sreg.{index}.x()" for index in _INDICES),
            *(f"  %{index} = zext i32 %{index}32 to i64" for index in _INDICES),
            "  %before = mul i64 %ntid, %ctaid",
            "  %unit = add i64 %before, %tid",
            "  %inside = icmp slt i64 %unit, %units",
            "  br i1 %inside, label %unit_begins, label %done",
            "unit_begins:",
            *_advance_unit(kernel),
            "  br label %done",
            "done:",
            "  ret void",
            "}",
            f'attributes #2 = {{ nounwind "nvvm.maxntid"="{THREADS}" "nvvm.minctasm"="{kernel.blocks}" }}',
        ]
    )
    module = _optimized_module(kernel, entry, machine, _TRIPLE, NAME)
    text: str = machine.emit_assembly(module)
    return text


@cache
def _gpu_target() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(_TRIPLE)


def _known_chip(chip: str) -> str:
    """The newest chip up to this one of those that every LLVM knows: the driver compiles for the one that is there."""
    return f"sm_{max(known for known in CHIPS if known <= max(int(chip[3:]), CHIPS[0]))}"


_ADVANCE = "ptr, i64, i64"


def _room_for_words(kernel: KernelText) -> str:
    """Room for the record of a thread: at the very beginning, where LLVM looks for what can stay in registers."""
    return f"  %words = alloca [{kernel.words} x i64], align 8"


def _advance_unit(kernel: KernelText) -> list[str]:
    """Call the loop for %unit, with a record of its own."""
    lines = []
    for w in range(kernel.words):
        lines += [f"  %from{w} = getelementptr i64, ptr %record, i64 {w}", f"  %word{w} = load i64, ptr %from{w}"]
        lines += [f"  %to{w} = getelementptr i64, ptr %words, i64 {w}", f"  store i64 %word{w}, ptr %to{w}"]
    for word, count, entry in kernel.own:
        size = str(entry)
        for n in range(count):
            lines.append(f"  %size{word}.{n} = mul i64 {size}, %word{word + 1 + n}")
            size = f"%size{word}.{n}"
        lines += [f"  %skip{word} = mul i64 {size}, %unit", f"  %own{word} = add i64 %word{word}, %skip{word}"]
        lines.append(f"  store i64 %own{word}, ptr %to{word}")
    return [*lines, "  %next = add i64 %unit, 1", "  call void @advance(ptr %words, i64 %unit, i64 %next)"]


def _optimized_module(kernel: KernelText, entry: str, machine: Any, triple: str, name: str) -> Any:
    """One module of the kernel, in which only the entry can be seen from outside."""
    import llvmlite.binding as llvm
    from llvmlite.binding.newpassmanagers import NewPassManager

    modules = []
    for text in (entry, kernel.loops, kernel.laws):
        module = llvm.parse_assembly(text)
        module.triple, module.data_layout = triple, str(machine.target_data)
        modules.append(module)
    whole = modules[0]
    for module in modules[1:]:
        whole.link_in(module)
    for function in whole.functions:
        if not function.is_declaration and function.name != name:
            function.linkage = "internal"
    whole.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.slp_vectorization = options.loop_vectorization = options.loop_unrolling = False
    builder = llvm.create_pass_builder(machine, options)
    passes = builder.getModulePassManager()
    passes.run(whole, builder)
    NewPassManager._dispose(passes)  # see polhode.ir.targets.native
    passes.detach()
    return whole


# On this machine ------------------------------------------------------------------------------------------------------
def host_object(kernel: KernelText) -> bytes:
    """Machine code of this computer of a function advance_units(record, first, last): the threads one after another."""
    import llvmlite.binding as llvm

    from polhode.ir.targets import native

    machine = native.target_machine()
    entry = "\n".join(
        [
            f"declare void @advance({_ADVANCE})",
            "define void @thread(ptr noalias %record, i64 %unit) noinline {",
            _room_for_words(kernel),
            *_advance_unit(kernel),
            "  ret void",
            "}",
            "define void @advance_units(ptr %record, i64 %first, i64 %last) {",
            "entry:",
            "  br label %head",
            "head:",
            "  %unit = phi i64 [ %first, %entry ], [ %following, %body ]",
            "  %more = icmp slt i64 %unit, %last",
            "  br i1 %more, label %body, label %done",
            "body:",
            "  call void @thread(ptr %record, i64 %unit)",
            "  %following = add i64 %unit, 1",
            "  br label %head",
            "done:",
            "  ret void",
            "}",
        ]
    )
    module = _optimized_module(kernel, entry, machine, llvm.get_default_triple(), "advance_units")
    code: bytes = machine.emit_object(module)
    return code
