"""`polhode bench`: the benchmarks of a checkout.  They are not part of the installed package."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import click

import polhode
from polhode.cli.command_group import CommandGroup
from polhode.errors import PolhodeError

ROOT = Path(polhode.__file__).parents[2]
"""Of the checkout, if the package is installed from one."""
BENCH_HELP = """Measure speed and precision on this machine (in a checkout of the repository).

\b
Examples:
  polhode bench throughput
  polhode bench scale
  polhode bench latency
  polhode bench precision --quick
  polhode bench mass
  polhode bench drag
"""


class BenchmarkGroup(CommandGroup):
    """The commands of `benchmarks/commands.py` in the checkout that this package is installed from."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The names of the benchmarks; none outside a checkout."""
        return sorted(_load_commands().commands) if _is_checkout() else []

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """One of the benchmarks."""
        return _load_commands().commands.get(cmd_name)


def _is_checkout() -> bool:
    return (ROOT / "benchmarks" / "commands.py").is_file()


def _load_commands() -> click.Group:
    if not _is_checkout():
        raise PolhodeError(
            "the benchmarks are not part of the installed package: clone the repository and run `make bench` there"
        )
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    bench: click.Group = import_module("benchmarks.commands").bench
    return bench
