"""From LLVM's relocatable WebAssembly object to a module, without a linker.

What LLVM writes is a module already: each relocated field holds the value that is right if nothing moves (functions and
globals by their place in this object, data from address 0 on).  So nothing is relocated: what only a linker reads is
left out, and an export is added.  The tests look at every field.  [WebAssembly tool conventions, Linking]
"""

from __future__ import annotations

from collections.abc import Iterator

CUSTOM, EXPORT, COUNT, CODE, DATA = 0, 7, 12, 10, 11
SYMBOLS, FUNCTION, DATA_SYMBOL = 8, 0, 1
UNDEFINED, NAMED = 0x10, 0x40
Sections = list[tuple[int, bytes]]


def link(code: bytes, name: str = "advance") -> bytes:
    """A module that imports memory, stack pointer and fmod, and exports a function."""
    sections = read_sections(code)
    functions = {known: place for kind, place, known in read_symbols(sections) if kind == FUNCTION}
    kept = [section for section in sections if section[0] != CUSTOM]
    at = next(k for k, (kind, _) in enumerate(kept) if kind in (COUNT, CODE))
    kept.insert(at, (EXPORT, b"\1" + leb(len(name)) + name.encode() + b"\0" + leb(functions[name][0])))
    return code[:8] + b"".join(bytes([kind]) + leb(len(body)) + body for kind, body in kept)


def data_end(code: bytes) -> int:
    """Where the data of an object end in memory: the stack and all else lie above."""
    return max((offset + size for offset, size in read_segments(read_sections(code))), default=0)


def read_sections(code: bytes) -> Sections:
    """(kind, content) of each section."""
    at, sections = 8, []
    while at < len(code):
        kind, (size, start) = code[at], read_leb(code, at + 1)
        at = start + size
        sections.append((kind, code[start:at]))
    return sections


def read_segments(sections: Sections) -> Iterator[tuple[int, int]]:
    """(offset, size) of each segment of data."""
    body = next((body for kind, body in sections if kind == DATA), b"\0")
    count, at = read_leb(body, 0)
    for _ in range(count):
        assert body[at : at + 2] == b"\0\x41", "an active segment at a constant address"
        offset, at = read_leb(body, at + 2)
        size, at = read_leb(body, at + 1)
        at += size
        yield offset, size


def read_symbols(sections: Sections) -> Iterator[tuple[int, tuple[int, ...], str]]:
    """(kind, (index,), name), of data (kind, (segment, offset), name), in the order of the symbol table."""
    body, at = find_custom(sections, "linking")
    _, at = read_leb(body, at)  # the version
    while body[at] != SYMBOLS:
        size, at = read_leb(body, at + 1)
        at += size
    _, at = read_leb(body, at + 1)
    count, at = read_leb(body, at)
    for _ in range(count):
        kind, name, (flags, at) = body[at], "", read_leb(body, at + 1)
        if kind == DATA_SYMBOL:
            name, at = read_text(body, at)
            segment, at = read_leb(body, at)
            offset, at = read_leb(body, at)
            _, at = read_leb(body, at)
            yield kind, (segment, offset), name
            continue
        index, at = read_leb(body, at)
        if not flags & UNDEFINED or flags & NAMED:
            name, at = read_text(body, at)
        yield kind, (index,), name


def find_custom(sections: Sections, wanted: str) -> tuple[bytes, int]:
    """The custom section of a name, and where its content begins."""
    found = ((body, *read_text(body, 0)) for kind, body in sections if kind == CUSTOM)
    return next((body, at) for body, name, at in found if name == wanted)


def read_leb(data: bytes, at: int) -> tuple[int, int]:
    """An unsigned number in base 128, and what follows it."""
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return value, at


def leb(value: int) -> bytes:
    """An unsigned number in base 128."""
    low = bytes([value & 127 | (128 if value > 127 else 0)])
    return low + leb(value >> 7) if value > 127 else low


def read_text(data: bytes, at: int) -> tuple[str, int]:
    """A name behind its length, and what follows it."""
    size, at = read_leb(data, at)
    return data[at : at + size].decode(), at + size
