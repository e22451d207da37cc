"""`ph.forces`, `ph.air`, ...: what users see of a module, its public names and nothing that it imports."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from polhode.synonyms import unknown_attribute_message


class PublicNamespace(ModuleType):
    """The names in `__all__` of a module, loaded when they are first used.

    Examples
    --------
    >>> import polhode as ph
    >>> dir(ph.earth)
    ['Earth', 'Geodetic', 'SPHERE', 'WGS84']
    >>> ph.earth.np
    Traceback (most recent call last):
    AttributeError: ph.earth has no 'np': known are Earth, Geodetic, SPHERE, WGS84
    """

    def __init__(self, name: str, module: ModuleType) -> None:
        super().__init__(name, module.__doc__)
        self.__all__: list[str] = sorted(module.__all__)
        self.__wrapped__ = module

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self.__all__:
            shown = self.__name__.replace("polhode", "ph", 1)
            raise AttributeError(unknown_attribute_message(shown, name, self.__all__))
        value = getattr(self.__wrapped__, name)
        if isinstance(value, ModuleType):
            value = PublicNamespace(f"{self.__name__}.{name}", value)
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return list(self.__all__)

    def __reduce__(self) -> Any:  # a function that uses it may be sent to other processes
        return find_namespace, (self.__name__,)


def find_namespace(name: str) -> Any:
    """The public namespace of that name, such as "polhode.forces"."""
    package, *names = name.split(".")
    found: Any = import_module(package)
    for one in names:
        found = getattr(found, one)
    return found
