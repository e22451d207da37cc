"""`polhode lab`: the gallery as a page with knobs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click


def served(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of every command that serves a page."""
    for option in reversed(
        (
            click.option(
                "--port", type=click.IntRange(0, 65535), help="By default 8321, or the next free one; 0 is any."
            ),
            click.option(
                "--host", default="127.0.0.1", show_default=True, help="Elsewhere than here a token is demanded."
            ),
            click.option(
                "--token", help="A word that the page's address must hold; one is made up where it is needed."
            ),
            click.option("--no-browser", is_flag=True, help="Print the address, and open nothing."),
        )
    ):
        command = option(command)
    return command


@click.command()
@click.argument("name", required=False)
@served
@click.pass_context
def lab(ctx: click.Context, name: str | None, port: int | None, host: str, token: str | None, no_browser: bool) -> None:
    """Open the gallery in the browser: choose a model, turn its knobs, watch it move.

    The page comes from this machine and asks no other. Ctrl-C ends it.

    \b
    Examples:
      polhode lab
      polhode lab dzhanibekov
      polhode lab --no-browser --port 9000
    """
    from polhode.cli.target import model_name
    from polhode.gallery import MODELS

    model = "" if name is None else MODELS[model_name(name)].name
    serve_page(model=model, port=port, host=host, token=token, no_browser=no_browser)


def serve_page(
    *,
    port: int | None,
    host: str,
    token: str | None,
    no_browser: bool,
    model: str = "",
    viewed: bytes | None = None,
    title: str = "",
) -> None:
    """Serve the lab, or one motion, until Ctrl-C."""
    from polhode.lab import address, guard, running
    from polhode.lab.server import Lab
    from polhode.page import html

    if token == "":
        raise click.UsageError("--token must not be empty")
    html.policy(live=True)  # where there is no page, a sentence ends it here
    with address.listening_at(host, port) as listener:
        token = guard.token_for(host, token)
        number = listener.getsockname()[1]
        where = address.address(host, number, model, token)

        def begin() -> None:
            if port is None and number != address.PORT:
                click.echo(f"port {address.PORT} is taken: this is at {number}")
            from_others = "  (elsewhere: this machine's name or address)" if host in guard.EVERYWHERE else ""
            click.echo(f"{where}{from_others}  Ctrl-C ends it")
            if not no_browser:
                running.open_browser(where, lambda sentence: click.echo(sentence, err=True))
            if viewed is None:
                running.warm_up(model)

        running.serve(Lab(host, token, viewed, title), listener, begin)
    running.leave()
