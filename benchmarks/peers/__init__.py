"""The others, each in its own file, imported only when measured, and run the fastest way that its package offers."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple

from benchmarks.contestant import Contestant

INSTALL = "not installed: make bench"


class Peer(NamedTuple):
    """A package to compare with: the name people know, that on PyPI, and the module here that runs it."""

    name: str
    package: str
    module: str

    @property
    def version(self) -> str | None:
        """Of the package found, or None."""
        try:
            return version(self.package)
        except PackageNotFoundError:
            return None

    def contestants(self) -> list[Contestant]:
        """All ways to run it that are compared.  ImportError if it is missing or does not start here."""
        found: list[Contestant] = import_module(f"benchmarks.peers.{self.module}").contestants()
        return found


PEERS = (
    Peer("SciPy", "scipy", "scipy_ode"),
    Peer("heyoka", "heyoka", "heyoka_taylor"),
    Peer("MuJoCo", "mujoco", "mujoco_rk4"),
    Peer("Drake", "drake", "drake_rk"),
    Peer("Basilisk", "bsk", "basilisk_rk"),
)
