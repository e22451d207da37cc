"""The gallery: runnable models, each with a picture and numbers checked against a closed form.

One module per model, with `MODEL` inside; a model's name is that of its module with `-` for `_`.  Modules are imported
on demand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from polhode.errors import InputError, nearest, show
from polhode.gallery.gallery_model import THEMES, Model, Parameter, ReferenceCheck, main_motion
from polhode.gallery.knob import Knob, format_with_unit

__all__ = [
    "MODELS",
    "THEMES",
    "Knob",
    "Model",
    "Parameter",
    "ReferenceCheck",
    "format_with_unit",
    "main_motion",
    "model_name",
]

_SUPPORT_MODULES = (
    "closed_forms",
    "drawing",
    "gallery_model",
    "gyroscope_disk",
    "independent_rk4",
    "knob",
    "lesson",
    "live_page",
    "measurements",
    "pictures",
    "plain_formulas",
    "rotation_sequence",
    "shared",
    "thumbnails",
)


@cache
def _modules() -> dict[str, str]:
    """Module paths by model name."""
    found = sorted(info.name for info in iter_modules(__path__) if info.name not in _SUPPORT_MODULES)
    return {name.replace("_", "-"): f"{__name__}.{name}" for name in found}


class _Models(Mapping[str, Model]):
    """The models by name, imported on access."""

    def __getitem__(self, name: str) -> Model:
        if name not in _modules():
            raise UnknownModelError(f"there is no model {show(name)}: {nearest(name, _modules())}")
        model: Model = import_module(_modules()[name]).MODEL
        return model

    def __contains__(self, name: object) -> bool:
        return name in _modules()

    def __iter__(self) -> Iterator[str]:
        return iter(_modules())

    def __len__(self) -> int:
        return len(_modules())


class UnknownModelError(InputError, KeyError):
    """No model has this name."""

    def __str__(self) -> str:
        return str(self.args[0])


def model_name(given: str) -> str:
    """Normalize a model name: thin-rod for Thin_Rod."""
    return given.lower().replace("_", "-")


MODELS: Mapping[str, Model] = _Models()
