"""Interactive pages of gallery models: `{interactive} NAME` embeds one, which is exported when the site is built.

Its knobs are live where a page can compute the model; otherwise the page is a recording.
"""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

FOLDER = "interactive"


class Interactive(SphinxDirective):
    """A frame with the page that `motion.export_html(knobs=True)` writes for a model."""

    required_arguments = 1
    option_spec = {"height": directives.nonnegative_int}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        models = self.env.interactive_models = getattr(self.env, "interactive_models", set())
        models.add(name)
        up = "../" * self.env.docname.count("/")
        address = f"{up}{FOLDER}/{name}.html"
        frame = (
            f'<iframe class="interactive" src="{address}" title="{name}, interactive" loading="lazy" '
            f'style="height: {self.options.get("height", 640)}px"></iframe>\n'
            f'<p class="interactive-link"><a href="{address}">Open {name} in a page of its own</a></p>'
        )
        return [nodes.raw("", frame, format="html")]


def export(app: Sphinx, error: Exception | None) -> None:
    """Simulate the models that were embedded, and write their pages beside the site."""
    if error is not None or app.builder.format != "html":
        return
    from polhode.gallery import MODELS
    from polhode.solve.live_numbers import KnobError

    folder = Path(app.outdir) / FOLDER
    folder.mkdir(exist_ok=True)
    for name in sorted(getattr(app.env, "interactive_models", ())):
        model = MODELS[name]
        motions = model.run(**model.values())
        first = next(iter(motions.values())) if isinstance(motions, dict) else motions
        try:
            first.export_html(folder / f"{name}.html", knobs=True)
        except KnobError:
            first.export_html(folder / f"{name}.html")


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("interactive", Interactive)
    app.connect("build-finished", export)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
