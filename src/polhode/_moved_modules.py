"""Import paths of version 0.1 that have moved: they still work for one version, with a DeprecationWarning."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec

TYPE_CHECKING = False  # as typing's, which takes longer to import than this package
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

MOVED = {
    "affine": "gallery.affine",
    "audit": "results.audit",
    "body": "massprops.body",
    "crossing": "model.event",
    "exports": "io",
    "forces": "model.forces",
    "forcing": "model.force",
    "mass": "massprops",
    "motion": "results.motion",
    "page": "web",
    "page.record": "web.motion_record",
    "plots": "plot",
    "scenario": "model.scenario",
    "simulation": "solve.simulate",
    "state": "model.state",
    "store": "results.motion",
}
"""Old path to new path, both below `polhode`; modules of a moved package follow it."""


def new_path(name: str) -> str | None:
    """Where a module of version 0.1 is found now, as a full dotted name; None if it has not moved."""
    root, _, old = name.partition(".")
    if root != "polhode":
        return None
    moved = [prefix for prefix in MOVED if old == prefix or old.startswith(f"{prefix}.")]
    if not moved:
        return None
    prefix = max(moved, key=len)
    return f"polhode.{MOVED[prefix]}{old.removeprefix(prefix)}"


class MovedModules:
    """Imports a module under its old path as the module at its new path."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        """A spec for a module that has moved."""
        return None if new_path(fullname) is None else ModuleSpec(fullname, self)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module at its new path."""
        new = new_path(spec.name)
        assert new is not None
        import warnings

        warnings.warn(f"{spec.name} has moved to {new}: import it from there", DeprecationWarning, stacklevel=2)
        module = import_module(new)
        self._own_spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to execute; the import system has put the old spec in place of the module's own."""
        module.__spec__ = self._own_spec


def install() -> None:
    """Find the old paths; before the file system, which would load a moved package's modules a second time."""
    sys.meta_path.insert(0, MovedModules())
