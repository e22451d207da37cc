"""Functions of the user by dotted name, `my_module.my_event`: files name them, and Python imports them.

Importing a module runs it.  So only a file that somebody reads by its path, `Scenario.from_toml` and the commands, may
name a function; what an archive holds, or what a page sends, is never imported.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from polhode.errors import InputError, ScenarioError, show

Finder = Callable[[str], Any]
"""What finds the object that a file names; or refuses to."""
_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)+")


def finder(folder: Path | None) -> Finder:
    """What finds functions for a file in a folder: in what Python can import, and then in this folder."""
    if folder is None:
        return _refuse
    return lambda name: _find(name, folder)


def _refuse(name: str) -> Any:
    raise ScenarioError(
        f"this scenario names a function, {show(name)}. Importing it would run code, which is done only for a file "
        "that you read by its path, ph.Scenario.from_toml(path): nothing that an archive holds or a page sends runs"
    )


def _find(name: Any, folder: Path) -> Any:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ScenarioError(f"a function is named by module and name, 'my_module.my_function', not {show(name)}")
    module, _, attribute = name.rpartition(".")
    with _searching(folder):
        try:
            found = importlib.import_module(module)
        except Exception as error:  # whatever the module does when it is imported
            raise ScenarioError(
                f"{name} cannot be imported: {type(error).__name__}: {error}. Is {module.split('.')[0]}.py beside the "
                "file, or installed?"
            ) from error
    try:
        return getattr(found, attribute)
    except AttributeError:
        raise ScenarioError(f"the module {module} has no {attribute!r}: which function is meant by {name}?") from None


@contextmanager
def _searching(folder: Path) -> Iterator[None]:
    """Meanwhile modules are found in a folder too, after all others, so that none there hides one of Python's."""
    path = str(folder.resolve())
    sys.path.append(path)
    try:
        yield
    finally:
        sys.path.remove(path)


def dotted_name(function: Any) -> str | None:
    """The name by which a file can name a function, or what a decorator of `ph` made of it; None if there is none.

    Functions of the gallery have none: their models say more.
    """
    module, name = str(getattr(function, "__module__", "")), getattr(function, "__qualname__", "")
    if module in ("None", "__main__", "builtins") or module.startswith("polhode.") or not name.isidentifier():
        return None
    found = getattr(sys.modules.get(module), name, None)
    return f"{module}.{name}" if getattr(found, "function", found) is function else None


def name_or_refuse(function: Any, what: str, error: type[InputError] = ScenarioError) -> str:
    """The same; without a name a sentence says what to do."""
    name = dotted_name(function)
    if name is None:
        raise error(
            f"{what} is your own function, which a file can only name: define it at the top of a module that "
            "Python can import; or keep it in Python, add it after reading"
        )
    return name
