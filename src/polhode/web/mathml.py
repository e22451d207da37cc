"""Formulas in TeX as MathML, which browsers draw by themselves.

The part of TeX that formulas of mechanics need: letters, fractions, roots, scripts, accents, matrices and brackets.
Anything else is refused: a formula is never drawn in part.
"""

from __future__ import annotations

import re
from functools import cache
from html import escape

from polhode.errors import InputError, nearest, show

_GREEK = (
    *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu"),
    *("xi", "omicron", "pi", "rho", "varsigma", "sigma", "tau", "upsilon", "varphi", "chi", "psi", "omega"),
)


def _read_table(text: str) -> dict[str, str]:
    words = text.split()
    return dict(zip(words[::2], words[1::2], strict=True))


LETTERS = {
    **{name: chr(0x3B1 + i) for i, name in enumerate(_GREEK)},
    **{name.capitalize(): chr(0x391 + i) for i, name in enumerate(_GREEK) if name not in ("varsigma", "varphi")},
    **_read_table("varepsilon ε epsilon ϵ phi ϕ Phi Φ hbar ℏ ell ℓ infty ∞"),
}
OPERATORS = _read_table(
    "cdot ⋅ times × pm ± mp ∓ le ≤ leq ≤ ge ≥ geq ≥ ne ≠ neq ≠ approx ≈ equiv ≡ sim ∼ propto ∝ to → rightarrow → "
    "mapsto ↦ Rightarrow ⇒ ll ≪ gg ≫ in ∈ perp ⟂ parallel ∥ nabla ∇ ldots … cdots ⋯ sum ∑ prod ∏ int ∫ circ ∘ "
    "otimes ⊗ oplus ⊕ lvert | rvert | vert | lVert ‖ rVert ‖ Vert ‖ langle ⟨ rangle ⟩ partial ∂ { { } } dagger †"
)
FUNCTIONS = (
    *("sin", "cos", "tan", "cot", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "exp", "ln", "log", "max"),
    *("min", "det", "sn", "cn", "dn", "am", "tr"),
)
ACCENTS = {"dot": "˙", "ddot": "¨", "hat": "^", "bar": "¯", "tilde": "~", "vec": "→", "overline": "‾"}
SPACES = {",": "0.17em", ":": "0.22em", ";": "0.28em", " ": "0.33em", "!": "-0.17em", "quad": "1em", "qquad": "2em"}
MATRICES = {"matrix": ("", ""), "pmatrix": ("(", ")"), "bmatrix": ("[", "]"), "vmatrix": ("|", "|"), "cases": ("{", "")}
_LARGE = ("∑", "∏", "max", "min")
_TOKEN = re.compile(r"\\(?:[A-Za-z]+|.)|\d+(?:\.\d+)?|\s+|.", re.DOTALL)


@cache
def tex_to_mathml(tex: str, block: bool = True) -> str:
    r"""A formula as a `math` element; `block` gives it a line of its own.

    Examples
    --------
    >>> tex_to_mathml(r"\frac{M g l}{I_3}", block=False)
    '<math xmlns="http://www.w3.org/1998/Math/MathML"><mfrac><mrow><mi>M</mi>...<msub><mi>I</mi><mn>3</mn></msub></mfrac></math>'
    """
    reader = _Reader(tex)
    content = reader.row(("",))
    display = ' display="block"' if block else ""
    return f'<math xmlns="http://www.w3.org/1998/Math/MathML"{display}>{content}</math>'


class _Reader:
    """Reads a formula from left to right."""

    def __init__(self, tex: str) -> None:
        self._tex = tex
        self._tokens = _TOKEN.findall(tex)
        self._at = 0

    def row(self, ends: tuple[str, ...]) -> str:
        """Everything up to one of the tokens `ends`, which is left unread; "" is the end of the formula."""
        parts = []
        while (token := self._peek()) not in ends:
            if token == "":
                raise self._error(f"it ends where {' or '.join(ends)} is expected")
            parts.append(self._with_scripts())
        return "".join(parts)

    def _with_scripts(self) -> str:
        """One symbol with its sub- and superscripts."""
        token = self._peek()
        base = self._atom()
        scripts: dict[str, str] = {}
        while (mark := self._peek()) in ("_", "^", "'"):
            self._next()
            kind = "_" if mark == "_" else "^"
            if kind in scripts:
                raise self._error(f"there are two of {kind} at one symbol")
            scripts[kind] = "<mo>′</mo>" if mark == "'" else self._atom()
        is_large = any(f">{name}<" in base for name in _LARGE) and token.startswith("\\")
        names = ("munderover", "munder", "mover") if is_large else ("msubsup", "msub", "msup")
        if "_" in scripts and "^" in scripts:
            return f"<{names[0]}>{base}{scripts['_']}{scripts['^']}</{names[0]}>"
        for kind, name in (("_", names[1]), ("^", names[2])):
            if kind in scripts:
                return f"<{name}>{base}{scripts[kind]}</{name}>"
        return base

    def _atom(self) -> str:
        """One symbol, or a group in braces, as one element."""
        token = self._next()
        if token == "":
            raise self._error("an argument is missing at its end")
        if token == "{":
            content = self.row(("}",))
            self._next()
            return _as_one(content)
        if token in ("}", "_", "^", "&"):
            raise self._error(f"{token} has nothing before it")
        if token.startswith("\\"):
            return self._command(token[1:])
        if token[0].isdigit():
            return f"<mn>{token}</mn>"
        if token.isalpha():
            return f"<mi>{token}</mi>"
        if token in "()[]|":
            return f'<mo stretchy="false">{token}</mo>'
        return f"<mo>{escape('−' if token == '-' else token)}</mo>"

    def _command(self, name: str) -> str:
        if name in LETTERS:
            upright = ' mathvariant="normal"' if name[0].isupper() or name == "infty" else ""
            return f"<mi{upright}>{LETTERS[name]}</mi>"
        if name in SPACES:
            return f'<mspace width="{SPACES[name]}"/>'
        if name in OPERATORS:
            fixed = ' stretchy="false"' if OPERATORS[name] in "|‖⟨⟩{}" else ""
            return f"<mo{fixed}>{OPERATORS[name]}</mo>"
        if name in FUNCTIONS:
            is_open = self._peek() in ("_", "^", "(", r"\left")
            return f"<mi>{name}</mi>" if is_open else f'<mrow><mi>{name}</mi><mspace width="0.17em"/></mrow>'
        if name in ACCENTS:
            mark = f'<mo stretchy="{"true" if name == "overline" else "false"}">{ACCENTS[name]}</mo>'
            return f'<mover accent="true">{self._atom()}{mark}</mover>'
        if name in ("frac", "tfrac"):
            return f"<mfrac>{self._atom()}{self._atom()}</mfrac>"
        if name == "sqrt":
            return f"<msqrt>{self._atom()}</msqrt>"
        if name in ("mathbf", "boldsymbol", "mathrm", "text"):
            return _set_letters(name, self._verbatim(name))
        if name == "left":
            return self._brackets()
        if name == "begin":
            return self._matrix()
        known = [
            *LETTERS,
            *OPERATORS,
            *FUNCTIONS,
            *ACCENTS,
            "frac",
            "sqrt",
            "mathbf",
            "mathrm",
            "text",
            "left",
            "begin",
        ]
        raise self._error(f"\\{name} is not supported: {nearest(name, known)}")

    def _brackets(self) -> str:
        first = self._delimiter()
        content = self.row((r"\right",))
        self._next()
        return f"<mrow>{first}{content}{self._delimiter()}</mrow>"

    def _delimiter(self) -> str:
        token = self._next()
        sign = OPERATORS.get(token[1:], "") if token.startswith("\\") else token
        return "" if sign == "." else f'<mo stretchy="true" symmetric="true">{escape(sign)}</mo>'

    def _matrix(self) -> str:
        kind = self._verbatim("begin")
        if kind not in MATRICES:
            raise self._error(f"\\begin{{{kind}}} is not supported: {nearest(kind, MATRICES)}")
        rows = [[""]]
        while True:
            rows[-1][-1] = self.row(("&", r"\\", r"\end"))
            token = self._next()
            if token == r"\end":
                break
            if token == "&":
                rows[-1].append("")
            else:
                rows.append([""])
        if self._verbatim("end") != kind:
            raise self._error(f"\\begin{{{kind}}} has another \\end")
        cells = "".join(f"<mtr>{''.join(f'<mtd>{cell}</mtd>' for cell in row)}</mtr>" for row in rows)
        first, last = (f"<mo>{escape(sign)}</mo>" if sign else "" for sign in MATRICES[kind])
        left = ' columnalign="left"' if kind == "cases" else ""
        return f"<mrow>{first}<mtable{left}>{cells}</mtable>{last}</mrow>"

    def _verbatim(self, name: str) -> str:
        """The text in braces after a command."""
        if self._next() != "{":
            raise self._error(f"\\{name} needs braces")
        text, depth = "", 1
        while True:
            token = self._tokens[self._at] if self._at < len(self._tokens) else ""
            self._at += 1
            depth += (token == "{") - (token == "}")
            if token == "":
                raise self._error("a brace is not closed")
            if depth == 0:
                return text
            text += token

    def _peek(self) -> str:
        while self._at < len(self._tokens) and self._tokens[self._at].isspace():
            self._at += 1
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _next(self) -> str:
        token = self._peek()
        self._at += 1
        return token

    def _error(self, why: str) -> InputError:
        return InputError(f"the formula {self._tex!r} cannot be read: {why}")


def _as_one(content: str) -> str:
    """Several elements as one: an empty group, or more than one element, becomes a row."""
    return content if _count(content) == 1 else f"<mrow>{content}</mrow>"


def _count(content: str) -> int:
    depth = found = 0
    for closing, name, empty in re.findall(r"<(/?)(\w+)[^>]*?(/?)>", content):
        found += not closing and depth == 0 and bool(name)
        depth += 0 if empty else (-1 if closing else 1)
    return found


def _set_letters(name: str, text: str) -> str:
    if name == "text":
        return f"<mtext>{escape(text).replace(' ', chr(0xA0))}</mtext>"
    if name == "mathrm":
        return f'<mi mathvariant="normal">{escape(text)}</mi>'
    plain = LETTERS.get(text[1:], "") if text.startswith("\\") else text
    if not plain:
        raise InputError(f"\\{name} makes letters bold; {show(text)} is not one")
    return f"<mi>{''.join(map(_bold, plain))}</mi>"


def _bold(letter: str) -> str:
    """The bold letter, which needs no font of its own."""
    for first, last, start in (("A", "Z", 0x1D400), ("a", "z", 0x1D41A), ("0", "9", 0x1D7CE)):
        if first <= letter <= last:
            return chr(start + ord(letter) - ord(first))
    for first, last, start in (("Α", "Ω", 0x1D6A8), ("α", "ω", 0x1D6C2)):
        if first <= letter <= last:
            return chr(start + ord(letter) - ord(first))
    return letter
