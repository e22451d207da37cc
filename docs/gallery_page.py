"""Makes gallery.md and its pictures from the models themselves: python docs/gallery_page.py [NAME ...]

With names, only those models' pictures are drawn anew; the page is always written whole.
"""

import io
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.figure import Figure
from PIL import Image

from polhode.gallery import MODELS, THEMES, Model, Parameter, ReferenceCheck, format_with_unit

HERE = Path(__file__).parent
PAGE, PICTURES = HERE / "reference" / "gallery.md", HERE / "pictures" / "gallery"
DOTS_PER_INCH = 100
MOST_DIGITS = 9

OPENING = """\
# Gallery

Models from the source texts and from everyday life. Each runs by itself, computes numbers that are checked against a
closed form, and draws a picture; its parameters are options of the command line. `polhode list` lists the models,
`polhode run NAME` runs one, and `polhode lab` opens them in the browser; some are
[embedded in this site](interactive.md). Sources are listed in the [references](references.md), their errors in the
[errata](errata.md), and counterparts of their figures in [figures](figures.md).

```python
>>> from polhode.gallery import MODELS
>>> model = MODELS["thirty-frames"]
>>> values = model.values(wind=5.0)
>>> motion = model.run(**values)
>>> all(number.holds for number in model.numbers(motion, **values))
True

```

"""


def page(numbers: Mapping[str, Sequence[ReferenceCheck]]) -> str:
    """The page's text; `numbers` are those of each model at its defaults."""
    by_theme = {theme: [MODELS[name] for name in MODELS if MODELS[name].theme == theme] for theme in THEMES}
    lines = [OPENING]
    for theme, models in by_theme.items():
        lines += [f"**{theme[0].upper()}{theme[1:]}**", "", "| model | what it shows |", "|---|---|"]
        lines += [f"| [{m.name}](#{m.name}) | {m.title} |" for m in models]
        lines += [""]
    for models in by_theme.values():
        for model in models:
            lines += [*_section(model, numbers[model.name]), ""]
    return "\n".join(lines).rstrip() + "\n"


def _section(model: Model, numbers: Sequence[ReferenceCheck]) -> list[str]:
    return [
        f"## {model.name}",
        "",
        f"![{model.title}](../pictures/gallery/{model.name}.png)",
        "",
        f"**{model.title}.** {model.explanation.replace(chr(10), ' ')} Source: {model.source}.",
        "",
        "| checked number | value | closed form |",
        "|---|---|---|",
        *(f"| {_cell(n.label)} | {_value(n)} | {_cell(n.source)} |" for n in numbers),
        "",
        "| parameter | default | from | to | |",
        "|---|---|---|---|---|",
        *map(_parameter_row, model.parameters),
    ]


def _parameter_row(parameter: Parameter) -> str:
    option = f"`--{parameter.name.replace('_', '-')}`"
    default = format_with_unit(f"{parameter.default:g}", parameter.unit)
    return f"| {option} | {default} | {parameter.low:g} | {parameter.high:g} | {_cell(parameter.help)} |"


def _value(number: ReferenceCheck) -> str:
    """With the digits that the model's tolerance leaves."""
    if number.expected == 0:
        return format_with_unit("0", number.unit)
    certain = math.floor(math.log10(abs(number.expected) / number.tolerance)) if number.tolerance > 0 else MOST_DIGITS
    return format_with_unit(f"{number.expected:.{min(max(certain, 1), MOST_DIGITS)}g}", number.unit)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _store(picture: Figure, path: Path) -> None:
    """As PNG in 256 colors, a third of the size."""
    whole = io.BytesIO()
    picture.savefig(whole, dpi=DOTS_PER_INCH)
    colors = Image.open(whole).convert("RGB").quantize(256, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    colors.save(path, optimize=True)


def main(names: Sequence[str]) -> None:
    PICTURES.mkdir(exist_ok=True)
    numbers = {}
    for name, model in MODELS.items():
        values = model.values()
        motions = model.run(**values)
        numbers[name] = model.numbers(motions, **values)
        if name in names or not names:
            _store(model.picture(motions, **values), PICTURES / f"{name}.png")
            print(name)
    PAGE.write_text(page(numbers), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
