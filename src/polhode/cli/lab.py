"""`polhode lab`: the gallery as an interactive page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

from polhode.cli.target import MODEL_KEY, LabCommand, parameter_values

if TYPE_CHECKING:
    from polhode.gallery import Model
    from polhode.lab_server.registry import LabModels


def server_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of every command that serves a page."""
    for option in reversed(
        (
            click.option(
                "--port",
                type=click.IntRange(0, 65535),
                help="Default: 8321, or the next free port; 0 means any free port.",
            ),
            click.option(
                "--host", default="127.0.0.1", show_default=True, help="Any host other than localhost requires a token."
            ),
            click.option("--token", help="Access token in the URL of the page; generated if one is required."),
            click.option(
                "--public-url",
                metavar="URL",
                help="Where a proxy shows this server, such as that of JupyterHub or Codespaces. Requires a token.",
            ),
            click.option("--no-browser", is_flag=True, help="Print the URL without opening a browser."),
        )
    ):
        command = option(command)
    return command


@click.command(cls=LabCommand)
@click.argument("targets", metavar="[NAME|FILE.toml|FOLDER]...", nargs=-1)
@server_options
@click.pass_context
def lab(
    ctx: click.Context,
    /,
    targets: tuple[str, ...],
    port: int | None,
    host: str,
    token: str | None,
    public_url: str | None,
    no_browser: bool,
    **parameters: float | None,
) -> None:
    """Open the gallery in the browser: choose a model, change its parameters, watch it move.

    With a NAME the page opens with that model, whose parameters are options: `polhode lab NAME --help`. Scenario files,
    and folders of them, are listed as your models, with the knobs that they declare; they are read again when they
    change. The page is served from this machine and needs no network. Ctrl-C stops the server.

    \b
    Examples:
      polhode lab
      polhode lab dzhanibekov
      polhode lab dzhanibekov --spin 3
      polhode lab my-top.toml
      polhode lab my-top.toml other.toml lecture-5/
      polhode lab --no-browser --port 9000
      polhode lab --port 8321 --public-url https://hub.example.org/user/ann/proxy/8321/
    """
    model: Model | None = ctx.meta.get(MODEL_KEY)
    values = parameter_values(ctx, parameters)
    changed = {key: values[key] for key, value in parameters.items() if value is not None}
    models, name = _collect_models(ctx, targets, model)
    for sentence in models.errors:
        click.echo(f"Error: {sentence}", err=True)
    serve_page(
        models=models,
        model=name,
        parameters=changed,
        port=port,
        host=host,
        token=token,
        no_browser=no_browser,
        public_url=public_url,
    )


def _collect_models(ctx: click.Context, targets: tuple[str, ...], model: Model | None) -> tuple[LabModels, str]:
    """The models of the lab, and the name of the one with which the page opens."""
    from polhode.gallery import MODELS, model_name
    from polhode.lab_server.registry import LabModels

    names = [target for target in targets if model_name(target) in MODELS]
    paths = [Path(target) for target in targets if target not in names]
    if len(names) > 1 or (names and targets[0] != names[0]):
        raise click.UsageError("the page opens with one model of the gallery: name one, before any files", ctx)
    models = LabModels((), paths)
    if names:
        return models, "" if model is None else model.name
    return models, models.name_of(paths[0]) if paths else ""


def serve_page(
    *,
    port: int | None,
    host: str,
    token: str | None,
    public_url: str | None,
    no_browser: bool,
    models: LabModels | None = None,
    model: str = "",
    parameters: Mapping[str, float] = MappingProxyType({}),
    viewed: bytes | None = None,
    title: str = "",
) -> None:
    """Serve the lab, or one motion, until Ctrl-C."""
    from polhode.lab_server import address, lifecycle, security
    from polhode.lab_server.registry import LabModels
    from polhode.lab_server.server import Lab
    from polhode.web import html_page

    if token == "":
        raise click.UsageError("--token must not be empty")
    offered = LabModels() if models is None else models
    public = None if public_url is None else security.parse_public_url(public_url)
    html_page.content_security_policy(live=True)  # raises an error if the page was not built
    with address.open_listener(host, port) as listener:
        bound, number = listener.getsockname()[:2]
        token = security.required_token(bound, token, is_public=public is not None)
        url = address.page_url(host, listener, model, parameters, token, public)

        def begin() -> None:
            if port is None and number != address.DEFAULT_PORT:
                click.echo(f"port {address.DEFAULT_PORT} is in use: using port {number} instead")
            from_others = (
                "  (from other machines: use this machine's name or address)"
                if security.is_wildcard_address(bound) and public is None
                else ""
            )
            click.echo(f"{url}{from_others}  Press Ctrl-C to stop")
            if not no_browser:
                lifecycle.open_browser(url, lambda sentence: click.echo(sentence, err=True))
            if viewed is None:
                lifecycle.warm_up(offered, model, parameters)

        served = Lab((bound, host), token, viewed, title, offered, public=public)
        lifecycle.serve(served, listener, begin)
    lifecycle.exit_now()
