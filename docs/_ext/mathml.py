"""Formulas as MathML, which browsers draw by themselves, with a math font that lies beside the pages.

Neither a script nor the network is needed.  The font is STIX Two Math, cut down to the letters that formulas use.
"""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from fontTools import subset
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

LETTERS = (
    (0x0020, 0x017F),  # Latin
    (0x0370, 0x03FF),  # Greek
    (0x2000, 0x22FF),  # punctuation, arrows and operators
    (0x2308, 0x230B),
    (0x27E8, 0x27E9),
    (0x1D400, 0x1D467),  # bold and italic
    (0x1D6A8, 0x1D71B),
)


def inline(writer: HTML5Translator, node: nodes.math) -> None:
    writer.body.append(tex2mathml(node.astext(), as_block=False))
    raise nodes.SkipNode


def block(writer: HTML5Translator, node: nodes.math_block) -> None:
    writer.body.append(writer.starttag(node, "div", CLASS="formula"))
    writer.body.append(tex2mathml(node.astext(), as_block=True))
    writer.body.append("</div>\n")
    raise nodes.SkipNode


def write_font(app: Sphinx, error: Exception | None) -> None:
    """Put the font where site.css looks for it."""
    if error is not None or app.builder.format != "html":
        return
    options = subset.Options(flavor="woff", layout_features=["*"], notdef_outline=True)
    with as_file(files("ziamath.fonts") / "STIXTwoMath-Regular.ttf") as path:
        font = subset.load_font(str(path), options)
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=[code for first, last in LETTERS for code in range(first, last + 1)])
    cutter.subset(font)
    subset.save_font(font, str(Path(app.outdir) / "_static" / "math.woff"), options)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    app.connect("build-finished", write_font)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
