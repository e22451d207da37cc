"""Groups of commands whose errors are one-line messages."""

from __future__ import annotations

from typing import Any

import click

from polhode.errors import PolhodeError, nearest


class CommandGroup(click.Group):
    """Commands whose errors are messages: Polhode's own with exit code 1, those about usage with 2."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except PolhodeError as error:
            raise click.ClickException(str(error)) from error

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            raise click.UsageError(f"there is no command {args[0]!r}: {nearest(args[0], self.list_commands(ctx))}", ctx)
        return super().resolve_command(ctx, args)
