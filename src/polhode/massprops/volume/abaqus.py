"""A reader of Abaqus input files: nodes, elements and element sets.

meshio (5.3.5) keeps only the last of several *NODE sections, and assigns ELSETs of *ELEMENT lines to the wrong blocks
if some have none.  Parts moved by *INSTANCE are rejected.
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np

from polhode.errors import FileError, MassWarning
from polhode.massprops.geometry import Indices
from polhode.massprops.volume.volume_mesh import VolumeMesh

CELL_TYPES_BY_NODES = {4: "tetra", 5: "pyramid", 6: "wedge", 8: "hexahedron", 10: "tetra10", 13: "pyramid13"}
CELL_TYPES_BY_NODES |= {15: "wedge15", 20: "hexahedron20", 27: "hexahedron27"}
SOLID_ELEMENT = re.compile(r"^(?:DC|AC|Q|G)?C?3D(\d+)")
UNSUPPORTED_SOLIDS = re.compile(r"^(?:SC\d|COH3D|CSS|CIN3D|CCL|EC3D|PC3D|F3D)")
END_KEYWORDS = ("END STEP", "END ASSEMBLY", "END PART")
"""Keywords that may end a file."""
KEYWORDS_AFTER_MESH = (*END_KEYWORDS, "SOLID SECTION", "MATERIAL", "ASSEMBLY", "STEP")
"""Keywords after which the mesh is complete."""
GENERATION_KEYWORDS = ("SYSTEM", "NGEN", "NFILL", "NCOPY", "ELGEN", "ELCOPY")


def read_abaqus(path: Path) -> VolumeMesh:
    """The volume mesh in an Abaqus input file."""
    found = _AbaqusParser()
    found.read(path)
    return found.mesh()


class _AbaqusParser:
    """The state of the parser."""

    def __init__(self) -> None:
        self.nodes: dict[int, list[float]] = {}
        self.blocks: list[tuple[str, list[list[int]]]] = []
        self.numbers: list[list[int]] = []
        self.sets: dict[str, list[int | str]] = {}
        self.names: dict[str, str] = {}
        """Set names as first written; Abaqus names are case-insensitive."""
        self.left_out: dict[str, int] = {}
        self.without_volume: set[int] = set()
        """The nodes of elements that were skipped."""
        self.last = ""
        """The last keyword of the file."""
        self.is_over = False
        """Whether a keyword that follows the mesh was seen."""

    def read(self, path: Path) -> None:
        keyword, begun = "", 0
        options: dict[str, str] = {}
        rows: list[str] = []
        with path.open(encoding="utf-8", errors="replace") as file:
            lines = list(file)
            if lines and not lines[-1].endswith("\n") and lines[-1].strip(" *\t").upper() not in END_KEYWORDS:
                raise FileError(
                    f"{path} ends in the middle of a line, {lines[-1]!r}: was it truncated? If not, end it with a "
                    "newline"
                )
            for number, line in enumerate([*lines, "*END"], start=1):
                if line.startswith("**") or not line.strip():
                    continue
                if not line.startswith("*"):
                    rows.append(line)
                    continue
                try:
                    self.add_section(keyword, options, rows, path)
                except (ValueError, IndexError, KeyError) as why:
                    raise FileError(
                        f"{path}: the lines of *{keyword} from line {begun} on cannot be read ({why}): the file is "
                        "damaged or truncated"
                    ) from None
                self.last = keyword or self.last
                self.is_over |= keyword in KEYWORDS_AFTER_MESH
                keyword, options = _parse_keyword(line)
                rows, begun = [], number

    def add_section(self, keyword: str, options: dict[str, str], rows: list[str], path: Path) -> None:
        """Add a keyword with its data lines."""
        if keyword == "NODE":
            for row in rows:
                number, *place = row.rstrip().rstrip(",").split(",")
                if len(place) < 3:
                    raise ValueError(f"a node needs three coordinates: {row.strip()!r}")
                self.nodes[int(number)] = [float(x) for x in place[:3]]
        elif keyword == "ELEMENT":
            self.add_elements(options["TYPE"].upper(), options.get("ELSET"), rows)
        elif keyword == "ELSET":
            parts = [part.strip() for row in rows for part in row.split(",") if part.strip()]
            members: list[int | str] = [int(part) if part.lstrip("-").isdigit() else part.upper() for part in parts]
            if "GENERATE" in options:
                members = []
                for row in rows:
                    first, last, *step = (int(part) for part in row.split(",") if part.strip())
                    members += range(first, last + 1, *step)
            self.add_set(options["ELSET"], members)
        elif keyword == "INCLUDE":
            self.read(path.parent / options["INPUT"])
        elif keyword in GENERATION_KEYWORDS or (keyword == "INSTANCE" and rows):
            raise FileError(
                f"{path} places or generates its mesh by *{keyword}, which is not supported: export the mesh "
                "with all nodes and elements written out (an 'orphan mesh')"
            )

    def add_elements(self, kind: str, elset: str | None, rows: list[str]) -> None:
        numbers = [int(part) for row in rows for part in row.split(",") if part.strip()]
        if UNSUPPORTED_SOLIDS.match(kind):
            raise FileError(f"elements of type {kind} have a volume, but are not supported: remove them")
        solid = SOLID_ELEMENT.match(kind)
        if not solid:
            self.left_out[kind] = self.left_out.get(kind, 0) + len(rows)
            self.without_volume.update(numbers)
            return
        count = int(solid[1])
        if count not in CELL_TYPES_BY_NODES:
            raise FileError(f"elements of type {kind} are not supported")
        if len(numbers) % (count + 1):
            raise ValueError(f"elements of type {kind} need {count + 1} numbers each")
        table = [numbers[i : i + count + 1] for i in range(0, len(numbers), count + 1)]
        self.blocks.append((CELL_TYPES_BY_NODES[count], [row[1:] for row in table]))
        self.numbers.append([row[0] for row in table])
        if elset:
            self.add_set(elset, [row[0] for row in table])

    def add_set(self, name: str, members: list[int | str] | list[int]) -> None:
        self.names.setdefault(name.upper(), name)
        self.sets.setdefault(name.upper(), []).extend(members)

    def mesh(self) -> VolumeMesh:
        row_of = {number: row for row, number in enumerate(self.nodes)}
        named = self.without_volume.union(*(cell for _, table in self.blocks for cell in table))
        loose = len(self.nodes.keys() - named)
        if loose and not self.is_over:
            warnings.warn(
                f"the file ends within its *{self.last} lines, and {loose} nodes belong to no element: was it "
                "truncated?",
                MassWarning,
                stacklevel=6,
            )
        blocks = []
        for kind, table in self.blocks:
            missing = next((node for cell in table for node in cell if node not in row_of), None)
            if missing is not None:
                raise FileError(f"an element refers to node {missing}, which the file does not have: was it truncated?")
            blocks.append((kind, np.array([[row_of[node] for node in cell] for cell in table], dtype=np.int64)))
        cell_of: dict[int, int] = {}
        for number in (number for numbers in self.numbers for number in numbers):
            if number in cell_of:
                raise FileError(f"element {number} is defined twice: files with several parts are not supported")
            cell_of[number] = len(cell_of)
        regions: dict[str | int, Indices] = {
            name: np.array(sorted(self.cells(key, cell_of, ())), dtype=np.int64) for key, name in self.names.items()
        }
        nodes = np.array(list(self.nodes.values()), dtype=float).reshape(-1, 3)
        return VolumeMesh(nodes, tuple(blocks), {}, regions, self.left_out, ())

    def cells(self, name: str, cell_of: dict[int, int], above: tuple[str, ...]) -> set[int]:
        """The volume cells of a set, including nested sets."""
        if name in above or name not in self.sets:
            return set()
        found = set()
        for member in self.sets[name]:
            if isinstance(member, str):
                found |= self.cells(member, cell_of, (*above, name))
            elif member in cell_of:
                found.add(cell_of[member])
        return found


def _parse_keyword(line: str) -> tuple[str, dict[str, str]]:
    """A line such as "*ELEMENT, TYPE=C3D4, ELSET=steel": its keyword and its options."""
    head, *rest = (part.strip() for part in line.strip().lstrip("*").split(","))
    options = {}
    for part in rest:
        key, _, value = part.partition("=")
        options[key.strip().upper()] = value.strip().strip('"')
    return head.upper(), options
