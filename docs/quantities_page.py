"""Makes reference/quantities.md from the table of quantities: python docs/quantities_page.py"""

from pathlib import Path

from polhode.quantities.quantity import AXES, Quantity
from polhode.quantities.table import QUANTITIES

PAGE = Path(__file__).parent / "reference" / "quantities.md"

OPENING = """\
# Quantities

What can be known of a motion, by name. Every quantity is an attribute of `ph.Motion`, a variable of `motion.dataset`
with its unit, columns of `motion.to_dataframe()` and `motion.export_csv`, something that
[reductions](../howto/ensembles.md) and sweeps take by its name (`"velocity.x@final"`), and a panel of `motion.plot`.
World axes, except where it says body; (time, member, body, component). One of
[your own](../howto/quantities.md) is known in the same places.

| name | unit | symbol | components | what it is | if the motion has | at events |
|---|---|---|---|---|---|---|
"""


def page() -> str:
    """The page's text."""
    closing = (
        "\nDatasets, tables and files list those that a motion has. At events, and where one has stopped a member, "
        "a quantity is known if the state alone gives it.\n"
    )
    return OPENING + "".join(_row(name, one) for name, one in QUANTITIES.items()) + closing


def _row(name: str, one: Quantity) -> str:
    components = ", ".join(" ".join(AXES[axis]) if axis in AXES else f"one for each {axis}" for axis in one.axes)
    unit = "" if one.unit == "1" else one.written_unit
    known = "yes" if one.at_events else ""
    symbol = one.symbol.replace("|", "\\|")
    text = one.text.replace("|", "\\|")
    return f"| `{name}` | {unit} | {symbol} | {components} | {text} | {one.needs} | {known} |\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
