"""Looks at every relocated field of an object for WebAssembly, which `polhode.ir.targets.wasm` leaves as it is."""

from __future__ import annotations

from collections import Counter

from polhode.ir.targets.wasm import (
    CUSTOM,
    find_custom,
    read_leb,
    read_sections,
    read_segments,
    read_symbols,
    read_text,
)

FUNCTION, MEMORY_SLEB, TYPE, GLOBAL = 0, 4, 6, 7
KINDS = {FUNCTION: "function", MEMORY_SLEB: "memory", TYPE: "type", GLOBAL: "global"}


def check_relocations(code: bytes) -> Counter[str]:
    """Make sure that every field has the value that it needs if nothing moves; return how many of each kind."""
    sections, counts = read_sections(code), Counter[str]()
    symbols, starts = list(read_symbols(sections)), list(read_segments(sections))
    body, at = find_custom(sections, "reloc.CODE")
    target, at = read_leb(body, at)
    count, at = read_leb(body, at)
    for _ in range(count):
        kind = body[at]
        assert kind in KINDS, f"a relocation of kind {kind}"
        offset, at = read_leb(body, at + 1)
        index, at = read_leb(body, at)
        found, _ = read_leb(sections[target][1], offset)
        wanted = index if kind == TYPE else symbols[index][1][0]
        if kind == MEMORY_SLEB:
            addend, at = read_leb(body, at)
            segment, place = symbols[index][1]
            wanted = starts[segment][0] + place + addend
        assert found == wanted, (KINDS[kind], found, wanted)
        counts[KINDS[kind]] += 1
    names = {read_text(body, 0)[0] for kind, body in sections if kind == CUSTOM}
    assert "reloc.DATA" not in names, "there are pointers in data"
    return counts
