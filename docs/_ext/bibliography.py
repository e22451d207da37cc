"""The bibliography: `{references}` lists references.bib; citations such as [Baraff 1997, eq. 2-43] link to it.

A citation that looks like one and is not in references.bib is a warning, also in docstrings.
"""

from __future__ import annotations

import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

FILE = Path(__file__).parents[2] / "src" / "polhode" / "gallery" / "references.bib"
PAGE = "reference/references"
FIELD = re.compile(r"^\s*(\w+) = \{(.*)\},?$", re.MULTILINE)
BRACKETS = re.compile(r"\[[^\[\]]{3,300}\]")
YEARS = re.compile(r"(?<=[\[;] )?\b([A-Z][\w.'-]+(?:,? (?:and )?[A-Z][\w.'-]+| et al\.)* (?:1[89]|20)\d\d)\b")
logger = logging.getLogger(__name__)


def entries() -> list[dict[str, str]]:
    """The entries of references.bib, by their shorthands."""
    found = [dict(FIELD.findall(part)) for part in FILE.read_text(encoding="utf-8").split("\n@")[1:]]
    return sorted(found, key=lambda entry: entry["shorthand"].lower())


def anchor(shorthand: str) -> str:
    """The id of an entry on the page of references."""
    return "ref-" + nodes.make_id(shorthand)


class References(SphinxDirective):
    """The list of all entries."""

    def run(self) -> list[nodes.Node]:
        listing = nodes.definition_list(classes=["references"])
        for entry in entries():
            text, _ = self.parse_inline(_described(entry))
            item = nodes.definition_list_item(
                "",
                nodes.term("", nodes.Text(entry["shorthand"]), ids=[anchor(entry["shorthand"])]),
                nodes.definition("", nodes.paragraph("", "", *text)),
            )
            listing += item
        return [listing]


def _described(entry: dict[str, str]) -> str:
    parts = [entry[key] for key in ("author",) if key in entry]
    parts.append(f"*{entry['title']}*")
    parts += [entry[key] for key in ("howpublished", "institution", "number", "year") if key in entry]
    if "doi" in entry:
        parts.append(f"[doi:{entry['doi']}](https://doi.org/{entry['doi']})")
    text = ", ".join(parts) + "."
    if "note" in entry:
        text += " " + entry["note"].replace(r"\ref{errata}", "[listed](errata.md)") + "."
    return text


class LinkCitations(SphinxPostTransform):
    """Turns [Baraff 1997, eq. 2-43] into a link to its entry."""

    default_priority = 400

    def run(self, **kwargs: object) -> None:  # noqa: ARG002 (Sphinx passes some)
        page = self.env.docname
        if page == PAGE:
            return
        known = {entry["shorthand"] for entry in entries()}
        pattern = re.compile("|".join(sorted(map(re.escape, known), key=len, reverse=True)))
        for text in list(self.document.findall(nodes.Text)):
            if "[" not in text or _is_literal(text):
                continue
            new, end = [], 0
            for brackets in BRACKETS.finditer(text):
                for year in YEARS.findall(brackets[0]):
                    if year not in known:
                        logger.warning("citation [%s] is not in references.bib", year, location=text.parent)
                for hit in pattern.finditer(text, brackets.start(), brackets.end()):
                    new.append(nodes.Text(text[end : hit.start()]))
                    address = self.app.builder.get_relative_uri(page, PAGE) + "#" + anchor(hit[0])
                    new.append(nodes.reference("", hit[0], refuri=address, internal=True, classes=["citation"]))
                    end = hit.end()
            if new:
                text.parent.replace(text, [*new, nodes.Text(text[end:])])


def _is_literal(text: nodes.Node) -> bool:
    inside = (nodes.literal, nodes.literal_block, nodes.reference, nodes.FixedTextElement, nodes.raw, nodes.title)
    while text is not None:
        if isinstance(text, inside):
            return True
        text = text.parent
    return False


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("references", References)
    app.add_post_transform(LinkCitations)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
