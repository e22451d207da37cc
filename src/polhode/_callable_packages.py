"""Packages that are also public functions: `ph.model(...)` and `ph.lab(...)` have the names of `polhode.model` and
`polhode.lab`, and importing these sets the attributes of `polhode`.  So the packages themselves can be called."""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # as typing's, which takes longer to import than this package
if TYPE_CHECKING:
    from collections.abc import Callable
    from inspect import Signature
    from typing import Any

CALLED = {
    "polhode.model": ("polhode.own_models.model_function", "model"),
    "polhode.lab": ("polhode.lab.open_lab", "lab"),
}
"""Module and name of the function that a package stands for when it is called."""


class CallablePackage(type(sys)):  # type: ignore[misc]
    """A package that calls a function of its name, which is imported on the first call."""

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        """The function, where `inspect` finds its signature."""
        home, name = CALLED[self.__name__]
        function: Callable[..., Any] = getattr(import_module(home), name)
        return function

    @property
    def __signature__(self) -> Signature:
        from inspect import signature

        return signature(self.__wrapped__)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__wrapped__(*args, **kwargs)


def install() -> None:
    """Make the packages callable; they hold nothing but their docstrings, so that importing them takes no time."""
    for name in CALLED:
        import_module(name).__class__ = CallablePackage
