"""Checks the built site: links lead somewhere, nothing is loaded from outside, every public name has its page.

python docs/check_site.py [FOLDER] (docs/_build/html if not given) prints what is wrong, and then fails.
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urlsplit

SITE = Path(__file__).parent / "_build" / "html"
LOADED = {"script": "src", "img": "src", "iframe": "src", "link": "href", "source": "src", "video": "src"}
STYLE_ADDRESS = re.compile(r"url\(\s*['\"]?((?:https?:)?//[^)'\"]+)|@import\s+['\"]((?:https?:)?//[^'\"]+)")
NO_PAGE = {"__version__"}


class Page(HTMLParser):
    """The ids of a page, and what it links to and loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids.update(given[name] for name in ("id", "name") if name in given)
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if given.get(LOADED.get(tag, "")) and given.get("rel") not in ("canonical", "next", "prev"):
            self.loads.append(given[LOADED[tag]])


def broken_links(site: Path) -> list[str]:
    """Links and loads of every page that lead nowhere, or outside for what is loaded."""
    others = ("_static", "interactive")  # templates of the theme; pages whose script makes their links
    pages = {
        path: Page(path.read_text(encoding="utf-8"))
        for path in site.rglob("*.html")
        if path.relative_to(site).parts[0] not in others
    }
    wrong = []
    for path, page in pages.items():
        name = path.relative_to(site)
        for address in page.links + page.loads:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                if address in page.loads and parts.scheme != "data":
                    wrong.append(f"{name} loads {address}")
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                wrong.append(f"{name} links to {address}, which is not there")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
                wrong.append(f"{name} links to {address}: the page has no such place")
    return wrong


def outside_styles(site: Path) -> list[str]:
    """Style sheets that load something from outside."""
    return [
        f"{path.relative_to(site)} loads {found[0] or found[1]}"
        for path in site.rglob("*.css")
        for found in STYLE_ADDRESS.findall(path.read_text(encoding="utf-8"))
    ]


def public_names() -> list[str]:
    """Every public name, as users write it without `ph.`."""
    import polhode

    names = []
    for name in polhode.__all__:
        value = getattr(polhode, name)
        if isinstance(value, ModuleType):
            names += [f"{name}.{member}" for member in _members(value)]
        elif name not in NO_PAGE:
            names.append(name)
    return names


def _members(module: ModuleType) -> list[str]:
    """The functions and classes of a public module that are defined in it or below it."""
    listed = getattr(module, "__all__", None)
    found = listed or [name for name in vars(module) if not name.startswith("_")]
    return [
        name
        for name in found
        if callable(getattr(module, name))
        and (listed or getattr(getattr(module, name), "__module__", "").startswith(module.__name__))
    ]


def without_page(site: Path) -> list[str]:
    """Public names that have no page."""
    generated = site / "reference" / "generated"
    return [f"ph.{name} has no page" for name in public_names() if not (generated / f"polhode.{name}.html").exists()]


def without_example(site: Path) -> list[str]:
    """Public names whose page has no example."""
    generated = site / "reference" / "generated"
    pages = [(name, generated / f"polhode.{name}.html") for name in public_names()]
    return [f"ph.{n} has no example" for n, p in pages if p.exists() and "&gt;&gt;&gt;" not in p.read_text("utf-8")]


def main(site: Path) -> int:
    wrong = [*broken_links(site), *outside_styles(site), *without_page(site), *without_example(site)]
    print("\n".join(wrong) or f"{len(list(site.rglob('*.html')))} pages: all links lead somewhere")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if sys.argv[1:] else SITE))
