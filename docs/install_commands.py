"""Brings the commands that install Polhode up to date: python docs/install_commands.py.

What they are is said in src/polhode/installation.py alone; the README, the documentation and docstrings follow.
"""

import re
from pathlib import Path

from polhode.installation import PUBLISHED, install_command

ROOT = Path(__file__).parents[1]
COMMAND = re.compile(
    r"(?P<tick>`?)pip install (?P<quote>['\"]?)(?:polhode|\.)(?:\[(?P<extra>\w+)\])?(?P=quote)(?P<end>`?)"
    r"(?P<where>(?: |\s{4}# )in a clone)?(?![\w/*])"
)
SOURCE = "src/polhode/installation.py"


def files() -> list[Path]:
    """Where such commands stand."""
    pages = [path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts]
    sources = [path for path in (ROOT / "src" / "polhode").rglob("*.py") if path != ROOT / SOURCE]
    return sorted([ROOT / "README.md", *pages, *sources])


def up_to_date(text: str) -> str:
    """The text with the commands of today."""

    def command(found: re.Match[str]) -> str:
        where = "" if PUBLISHED else " in a clone" if found["tick"] else "    # in a clone"
        return f"{found['tick']}{install_command(found['extra'])}{found['end']}{where}"

    return COMMAND.sub(command, text)


def main() -> None:
    for path in files():
        text = path.read_text(encoding="utf-8")
        if up_to_date(text) != text:
            path.write_text(up_to_date(text), encoding="utf-8")
            print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
