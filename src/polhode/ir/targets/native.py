"""From LLVM's assembly language to machine code in this process, with an object cache on disk.

An object is cached under the hash of all that it was made of, so nothing stale is ever found.  It is written aside and
renamed, with a digest of its content that is checked before it is loaded; a cache that cannot be read or written only
costs time.  What has not been used for longest is deleted when there is too much.
"""

from __future__ import annotations

import ctypes
import os
import stat
import sys
import tempfile
import warnings
from collections import OrderedDict
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from threading import RLock
from time import time
from typing import Any

import llvmlite.binding as llvm

from polhode.ir.targets.objects import COMPILING, OPTIMIZATION, compile_object
from polhode.progress import announced

CACHED_IN_MEMORY = 256
"""Programs that are kept in memory; the machine code of one that is dropped is freed when nobody runs it."""
_VECTORS = '"prefer-vector-width"="512" '
_KEEPING = RLock()
"""What is known already does not wait for a thread that compiles."""
_programs: OrderedDict[str, MachineCode] = OrderedDict()


@cache
def _target() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple()


@cache
def host() -> tuple[str, str]:
    """The processor of this machine, and its features."""
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


@cache
def _triple() -> str:
    """The kind of machine; LLVM answers nobody else while it compiles."""
    return str(llvm.get_default_triple())


@cache
def vector_width() -> int:
    """How many doubles a vector of this machine holds."""
    features = host()[1].split(",")
    if "+avx512f" in features:
        return 8
    return 4 if "+avx" in features else 2


def target_machine() -> Any:
    """LLVM's description of this machine."""
    cpu, features = host()
    return _target().create_target_machine(cpu=cpu, features=features, opt=OPTIMIZATION, jit=True)


class MachineCode:
    """A function `advance(record, first, last)` in memory.  The code lives as long as this object."""

    def __init__(self, object_code: bytes, name: str = "advance") -> None:
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target_machine())
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(object_code))
        self._engine.finalize_object()
        kinds = (ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
        self.call = ctypes.CFUNCTYPE(None, *kinds)(self._engine.get_function_address(name))
        self.call.engine = self._engine  # type: ignore[attr-defined]

    def __call__(self, address: int, first: int, last: int) -> None:
        self.call(address, first, last)


def machine_code(loops: str, laws: str) -> MachineCode:
    """The machine code of a program: from memory, from the cache on disk, or compiled now."""
    key = program_key(loops, laws)
    found = _recall(key)
    if found is not None:
        return found
    with COMPILING:
        found = _recall(key)  # another thread may have made it meanwhile
        if found is None:
            object_code = _read_object(key)
            if object_code is None:
                with announced(_compilation(laws)):
                    object_code = _compile(loops, laws)
                _write_object(key, object_code)
            found = MachineCode(object_code)
            _keep(key, found)
        return found


def _recall(key: str) -> MachineCode | None:
    with _KEEPING:
        found = _programs.get(key)
        if found is not None:
            _programs.move_to_end(key)
        return found


def _keep(key: str, code: MachineCode) -> None:
    with _KEEPING:
        _programs[key] = code
        while len(_programs) > CACHED_IN_MEMORY:
            _programs.popitem(last=False)


def program_key(loops: str, laws: str) -> str:
    """The hash of all that the machine code depends on."""
    parts = (loops, laws, *host(), _triple(), repr((OPTIMIZATION, llvm.llvm_version_info)))
    return sha256("\0".join(parts).encode()).hexdigest()


def _compilation(laws: str) -> str:
    """What a compilation that takes long says."""
    kept = "it is kept for the next run"
    if cache_folder() is None:
        kept = "without a folder to keep it in (POLHODE_CACHE), the next process compiles again"
    return f"compiling {laws.count(chr(10))} operations, once; {kept}"


def _compile(loops: str, laws: str) -> bytes:
    return compile_object((loops, laws), target_machine(), llvm.get_default_triple(), _VECTORS)


# The cache on disk ----------------------------------------------------------------------------------------------------
@cache
def cache_folder() -> Path | None:
    """Where objects are cached: POLHODE_CACHE, or the user's cache folder; None if there is none to trust.

    Whoever can write there could plant machine code.  So the folder must belong to this user, and nobody else may write
    to it or put another one in its place.
    """
    given = os.environ.get("POLHODE_CACHE")
    if given is not None and not given:
        return None
    try:
        folder = Path(given) if given else _user_cache() / "polhode" / "objects"
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        folder = folder.resolve()
        danger = _find_danger(folder)
    except (OSError, RuntimeError):  # no home, or nothing can be written there
        return None
    if danger:
        warnings.warn(
            f"compiled code is not kept between processes, since {danger}: name a folder of your own in POLHODE_CACHE, "
            "which only you can write to, or set it to nothing",
            stacklevel=2,
        )
        return None
    return folder


def _find_danger(folder: Path) -> str:
    """Why machine code in a folder cannot be trusted; nothing if it can."""
    if os.name != "posix":
        return ""
    own, status = os.geteuid(), folder.stat()
    if status.st_uid != own:
        return f"{folder} belongs to another user"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"others may write to {folder}"
    for parent in folder.parents:
        status = parent.stat()
        is_open = status.st_mode & stat.S_IWOTH and not status.st_mode & stat.S_ISVTX
        if is_open or status.st_uid not in (0, own):
            return f"others may put another folder in the place of {folder}, by {parent}"
    return ""


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


_DIGEST_SIZE = 32
MOST_FILES, MOST_BYTES = 2000, 500_000_000
"""What the cache folder may hold."""
WRITES_PER_PRUNING = 50
OLD_DRAFT_S = 86_400.0
"""A draft of this age belongs to a process that has died."""
_written = 0


def _read_object(key: str) -> bytes | None:
    folder = cache_folder()
    if folder is None:
        return None
    file = folder / f"{key}.o"
    try:
        content = file.read_bytes()
    except OSError:
        return None
    digest, object_code = content[:_DIGEST_SIZE], content[_DIGEST_SIZE:]
    if sha256(key.encode() + object_code).digest() != digest:
        return None
    with suppress(OSError):
        os.utime(file)  # used last
    return object_code


def _write_object(key: str, object_code: bytes) -> None:
    folder = cache_folder()
    if folder is None:
        return
    try:
        handle, draft = tempfile.mkstemp(prefix=".draft-", dir=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(sha256(key.encode() + object_code).digest() + object_code)
            os.replace(draft, folder / f"{key}.o")
        except BaseException:
            os.unlink(draft)
            raise
    except OSError:
        return
    global _written
    if _written % WRITES_PER_PRUNING == 0:
        prune(folder)
    _written += 1


def prune(folder: Path) -> None:
    """Delete what has not been used for longest; other processes may do the same at the same time."""
    with suppress(OSError), os.scandir(folder) as entries:
        found = sorted(_ages(entries))
        files, size = len(found), sum(each[1] for each in found)
        for used, length, path in found:
            is_too_much = files > MOST_FILES or size > MOST_BYTES
            if not is_too_much and not (".draft-" in path and used < time() - OLD_DRAFT_S):
                continue
            with suppress(OSError):
                os.unlink(path)
            files, size = files - 1, size - length


def _ages(entries: Iterable[os.DirEntry[str]]) -> Iterable[tuple[float, int, str]]:
    """The time of last use, the size and the path of each file of the cache."""
    for entry in entries:
        if entry.name.endswith(".o") or entry.name.startswith(".draft-"):
            with suppress(OSError):
                status = entry.stat()
                yield status.st_mtime, status.st_size, entry.path
