"""A traced step as PTX, by LLVM's own NVPTX target: no CUDA toolkit is needed, the driver loads the text.

One thread for each unit: its numbers stay in registers for all steps, and what never changes is computed before them.
"""

from __future__ import annotations

from typing import Any

from polhode.backends.graph import LEAVES, Place, Trace, TraceError
from polhode.backends.llvm_text import TraceWriter, Writer, declarations

_INDICES = ("tid", "ntid", "ctaid")


def ptx(step: Trace, state_size: int, parameter_size: int, chip: str = "sm_70", name: str = "polhode_steps") -> str:
    """PTX of a kernel (state, parameters, units, t_start, h, k, k_end) that advances units from step k to step k_end.

    `step` is the trace of a step (state, parameters, t, h).  Unit u has the numbers from state[u * state_size] and
    parameters[u * parameter_size] on.  Nothing is fused: the numbers have the CPU's bits.
    """
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple("nvptx64-nvidia-cuda").create_target_machine(cpu=chip, opt=3)
    module = llvm.parse_assembly(kernel_text(step, state_size, parameter_size, name))
    module.data_layout = str(machine.target_data)
    module.verify()
    text: str = machine.emit_assembly(module)
    return text


def kernel_text(step: Trace, state_size: int, parameter_size: int, name: str) -> str:
    """The kernel in LLVM's assembly language."""
    graph = step.graph
    if any(graph.ops[i] == "fmod" for i in step.order):
        raise TraceError("a remainder (%), which LLVM's target for GPUs computes with other bits")
    out, tables = Writer({}), dict[str, str]()
    out.tables = tables

    def address(place: Place) -> str:
        return out.new(f"getelementptr double, ptr %own_{place[0]}, i64 {place[2]}", "p")

    body = TraceWriter(step, 1, out, address)
    for i in step.order:
        if graph.ops[i] == "uniform":
            body.names[i] = f"%{graph.args[i][0]}"
    carried = [place for place in step.loads if place in step.stores]
    starts: dict[Place, str] = {}
    for place, i in step.loads.items():
        loaded = out.new(f"load double, ptr {address(place)}, align 8", "l")
        if place in carried:
            starts[place] = loaded
        else:
            body.names[i] = loaded
    body.write_nodes(_constant_nodes(step, {step.loads[place] for place in carried}))
    before, out.lines = out.lines, []
    for n, place in enumerate(carried):
        body.names[step.loads[place]] = f"%y{n}"
    body.write_nodes(step.order)
    results = {place: body.name(i) for place, i in step.stores.items()}
    phis = [
        f"  %y{n} = phi double [ {starts[place]}, %start ], [ {results[place]}, %loop ]"
        for n, place in enumerate(carried)
    ]
    steps, out.lines = out.lines, []
    for place, value in results.items():
        out.put(f"store double {value}, ptr {address(place)}, align 8")
    registers = [f"declare i32 @llvm.nvvm.read.ptx.sreg.{index}.x()" for index in _INDICES]
    return "\n".join(
        [
            'target triple = "nvptx64-nvidia-cuda"',
            *(f"{table} = {text}" for text, table in tables.items()),
            *registers,
            declarations(1),
            f"define ptx_kernel void @{name}(ptr noalias %state, ptr noalias %parameters, i64 %units, double %t_start, "
            "double %h, i64 %k, i64 %k_end) {",
            "entry:",
            *(f"  %{index}32 = call i32 @llvm.nvvm.read.ptx.sreg.{index}.x()" for index in _INDICES),
            *(f"  %{index} = zext i32 %{index}32 to i64" for index in _INDICES),
            "  %before = mul i64 %ntid, %ctaid",
            "  %unit = add i64 %before, %tid",
            "  %inside = icmp slt i64 %unit, %units",
            "  %any = icmp slt i64 %k, %k_end",
            "  %go = and i1 %inside, %any",
            "  br i1 %go, label %start, label %done",
            "start:",
            f"  %state_at = mul i64 %unit, {state_size}",
            f"  %parameters_at = mul i64 %unit, {parameter_size}",
            "  %own_state = getelementptr double, ptr %state, i64 %state_at",
            "  %own_parameters = getelementptr double, ptr %parameters, i64 %parameters_at",
            *before,
            "  br label %loop",
            "loop:",
            "  %now = phi i64 [ %k, %start ], [ %next, %loop ]",
            *phis,
            "  %count = sitofp i64 %now to double",
            "  %passed = fmul double %count, %h",
            "  %t = fadd double %t_start, %passed",
            *steps,
            "  %next = add i64 %now, 1",
            "  %more = icmp slt i64 %next, %k_end",
            "  br i1 %more, label %loop, label %end",
            "end:",
            *out.lines,
            "  br label %done",
            "done:",
            "  ret void",
            "}",
            "",
        ]
    )


def _constant_nodes(step: Trace, carried: set[int]) -> list[int]:
    """The nodes that are the same in every step."""
    graph, moving, constant = step.graph, set(carried), []
    for i in step.order:
        op, args = graph.ops[i], graph.args[i]
        own: Any = args if op not in LEAVES else ()
        if i in moving or (op == "uniform" and args[0] == "t") or any(a in moving for a in own):
            moving.add(i)
        else:
            constant.append(i)
    return constant
