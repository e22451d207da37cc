"""A loop as a kernel for GPUs: one thread for each unit, by LLVM's own target for NVIDIA's processors.

The text of loops and laws is that of the CPU with vectors of one number.  LLVM writes PTX from it, which the driver of
the GPU turns into machine code: no CUDA toolkit is needed.  Nothing is fused or reordered unless asked for, so the
numbers have the CPU's bits.  Compiled for this machine instead, the same text runs without a GPU.
"""

from __future__ import annotations

import math
import re
import struct
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from polhode.equations.elementary import LOG2_LOW
from polhode.ir.graph import TraceError
from polhode.ir.loop_values import size_of
from polhode.ir.loops import Loop, compile_loop, pack_record, record_like

STRICT, FUSED, SINGLE = PRECISIONS = ("strict", "fused", "single")
"""The CPU's bits; fused multiply-adds and shared reciprocals; the same with numbers of 32 bits."""
NAME = "polhode_kernel"
THREADS = 128
"""Threads of a block."""
UNROLLED = 256
"""Loops over the numbers of a body are written out up to this length, so that a body stays in registers."""
ROUNDER, ROUNDER_SINGLE = 1.5 * 2.0**52, 1.5 * 2.0**23
"""What is added and subtracted to round a number to an integer, with 64 and with 32 bits."""
SMALLEST_SINGLE, LARGEST_SINGLE = 2.0**-126, 3.4e38
CHIPS = (50, 60, 70, 75, 80, 86, 89, 90)
_TRIPLE = "nvptx64-nvidia-cuda"
_INDICES = ("tid", "ntid", "ctaid")
_INLINED = "\nattributes #0 = { nounwind alwaysinline }\nattributes #1 = { nounwind alwaysinline }\n"
_DIVISION = re.compile(r"fdiv double \S+ (%\S+)$", re.MULTILINE)
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
    loops, laws = compile_loop(function, record, extents, 1, UNROLLED)
    if " = frem " in laws or " = frem " in loops:
        raise TraceError("a remainder (%), which a GPU computes with other bits")
    loops = loops.replace(", !invariant.load !0", "")  # every thread has its own record
    attributes = _INLINED if is_inlined else _CALLED
    loops, laws = loops + attributes, laws + attributes
    if precision != STRICT:
        loops, laws = _allow_contraction(loops), _allow_contraction(_share_reciprocals(laws))
    if precision == SINGLE:
        loops, laws = _in_single_precision(loops), _in_single_precision(laws)
    fields = record_like(record, extents)
    each = [fields[name] for name in own if name in fields]
    places = tuple((word, len(array.extents), size_of(array.kind)) for word, array in each)
    return KernelText(loops, laws, len(pack_record(record)), places, blocks)


def _allow_contraction(text: str) -> str:
    """Multiplications and additions may be fused."""
    return re.sub(r" = (fmul|fadd|fsub) double", r" = \1 contract double", text)


def _share_reciprocals(laws: str) -> str:
    """Divisions by one number, or of a constant, become reciprocals and multiplications; laws have no branches."""
    functions = []
    for text in re.split(r"(?m)^(?=define )", laws):
        count, lines, known = Counter(_DIVISION.findall(text)), [], set()
        for line in text.split("\n"):
            found = _DIVISION.search(line)
            if found is not None and (count[found[1]] > 1 or "fdiv double 0x" in line):
                inverse = f"%over.{found[1][1:]}"
                if inverse not in known:
                    known.add(inverse)
                    lines.append(f"  {inverse} = fdiv double 0x3FF0000000000000, {found[1]}")
                line = f"{line[: found.start()]}fmul double {found[0].split()[2]} {inverse}"
            lines.append(line)
        functions.append("\n".join(lines))
    return "".join(functions)


def _in_single_precision(text: str) -> str:
    """The same text with numbers of 32 bits: in arrays, tables and registers; the words of a record keep 64."""

    def narrow(match: re.Match[str]) -> str:
        value = struct.unpack("<d", bytes.fromhex(match[0][2:])[::-1])[0]
        is_out_of_range = math.isfinite(value) and value != 0 and not SMALLEST_SINGLE <= abs(value) <= LARGEST_SINGLE
        if is_out_of_range or value == LOG2_LOW:  # the second in exp, whose series is cut for 64 bits
            raise TraceError(
                f"a number such as {value:g}, which 32 bits do not hold (as in exp, log and power): use "
                "precision='fused' instead of 'single'"
            )
        with_32_bits = ROUNDER_SINGLE if value == ROUNDER else struct.unpack("<f", struct.pack("<f", value))[0]
        return f"0x{struct.unpack('<Q', struct.pack('<d', with_32_bits))[0]:016X}"

    lines, wide = [], re.compile(r"  (%w\d+) = load double, (ptr %\w+), align 8$")
    for line in text.split("\n"):
        if found := wide.match(line):  # a word of the record
            lines += [f"  {found[1]}.wide = load double, {found[2]}, align 8"]
            lines += [f"  {found[1]} = fptrunc double {found[1]}.wide to float"]
        elif re.search(r"= alloca double, i64 ", line):  # room enough, cleared by its size in bytes
            lines.append(line)
        else:
            single = re.sub(r"0x[0-9A-F]{16}", narrow, line).replace("double", "float").replace(".f64", ".f32")
            lines.append(re.sub(r"(load float, .*|store float .*), align 8", r"\1, align 4", single))
    text = "\n".join(lines)
    return re.sub(
        r" = (fdiv|call)( contract)? float", r" = \1\2 afn float", text
    )  # roots and divisions to 1 or 2 units


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
