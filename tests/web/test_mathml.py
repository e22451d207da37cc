"""Formulas as MathML, compared with docutils' converter and with what the page accepts."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from docutils.utils.math.latex2mathml import tex2mathml

from polhode.errors import InputError
from polhode.gallery import MODELS
from polhode.web.mathml import tex_to_mathml

FRONT = Path(__file__).parents[2] / "front" / "src" / "controls" / "mathml.ts"
SAME = [
    r"\frac{M g l}{I_3 \omega_3}",
    r"\sqrt{\frac{2 h}{g}}",
    r"x^2 + y_1^2 \ge 10.5",
    r"e^{-t/\tau}",
    r"\begin{pmatrix}a & b \\ c & d\end{pmatrix}",
    r"\int_0^1 f \times g",
    r"{\dot\theta}^2 = \alpha \cdot \Omega",
]


def structure(mathml: str) -> list:
    """Elements and their text; rows of one element, spaces and attributes left out."""

    def walk(element: ElementTree.Element) -> list:
        name = element.tag.rpartition("}")[2]
        children = [part for child in element for part in walk(child)]
        if name in ("mspace",) or element.text == "\u2061":
            return []
        text = (element.text or "").strip()
        return children if name in ("mrow", "math") else [(name, text, children)]

    return walk(ElementTree.fromstring(mathml.replace("&ApplyFunction;", "\u2061")))


@pytest.mark.parametrize("tex", SAME)
def test_formulas_have_the_structure_that_docutils_gives_them(tex):
    assert structure(tex_to_mathml(tex)) == structure(tex2mathml(tex))


def test_a_script_belongs_to_the_letter_with_its_accent():
    """Where docutils puts the index below the letter."""
    ((name, _, (accent, index)),) = structure(tex_to_mathml(r"\dot\omega_1"))
    assert (name, accent[0], index) == ("msub", "mover", ("mn", "1", []))


@pytest.mark.parametrize(
    "tex", [r"\foo", r"\frac{a}", "a}", "{a", "a_1_2", r"\begin{array}x\end{array}", "_1", r"\left(a"]
)
def test_what_cannot_be_read_is_refused(tex):
    with pytest.raises(InputError, match="cannot be read"):
        tex_to_mathml(tex)


def test_letters_of_html_are_escaped():
    assert "<mo>&lt;</mo>" in tex_to_mathml("a < b")
    assert "<mtext>&lt;script&gt;</mtext>" in tex_to_mathml(r"\text{<script>}")


def test_the_page_knows_every_element_and_attribute_of_the_formulas_of_the_gallery():
    known = [set(words.split()) for words in re.findall(r'"([a-z ]{40,})"', FRONT.read_text(encoding="utf-8"))]
    lessons = [MODELS[name].lesson for name in MODELS]
    texts = [*SAME, *(formula.tex for lesson in lessons if lesson for formula in lesson.formulas)]
    for tex in texts:
        for element in ElementTree.fromstring(tex_to_mathml(tex)).iter():
            assert element.tag.rpartition("}")[2] in known[0], tex
            assert set(element.attrib) <= known[1], tex
