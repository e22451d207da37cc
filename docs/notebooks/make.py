"""Runs the notebooks and stores them with what they show: python docs/notebooks/make.py [name ...]

Stored notebooks name no machine: their metadata says only "Python 3", their pictures are small, and their texts are
rounded so that they are the same everywhere (tests/docs/test_notebooks.py runs them again and compares).
"""

from __future__ import annotations

import base64
import io
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from PIL import Image

HERE = Path(__file__).parent
LONGEST = 600
"""Seconds that a cell may take where everything must be compiled first."""
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def paths() -> list[Path]:
    """The notebooks, by name."""
    return sorted(HERE.glob("*.ipynb"))


def executed(path: Path) -> Any:
    """The notebook as it comes out of a fresh kernel."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    notebook.metadata = nbformat.from_dict(METADATA)
    return NotebookClient(notebook, timeout=LONGEST, record_timing=False).execute()


def texts(notebook: Any) -> list[str]:
    """What each code cell wrote or answered, as text; of pictures nothing."""
    written = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            parts = [o.text for o in cell.outputs if o.output_type == "stream" and o.name == "stdout"]
            answers = [o.data for o in cell.outputs if "data" in o]
            parts += [data.get("text/plain", "") + "\n" for data in answers if "image/png" not in data]
            written.append("".join(parts))
    return written


def pictures(notebook: Any) -> list[bytes]:
    """Every picture, as PNG."""
    shown = [o.data for cell in notebook.cells if cell.cell_type == "code" for o in cell.outputs if "data" in o]
    return [base64.b64decode(data["image/png"]) for data in shown if "image/png" in data]


def tidied(notebook: Any) -> Any:
    """The notebook without anything of the machine it ran on, its pictures in few colors."""
    notebook.metadata = nbformat.from_dict(METADATA)
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict({})
        if cell.cell_type == "code":
            cell.outputs = _joined(cell.outputs)
        for output in cell.get("outputs", []):
            if "data" not in output:
                continue
            output.metadata = nbformat.from_dict({})
            if "image/png" in output.data:
                output.data["image/png"] = base64.b64encode(_small(base64.b64decode(output.data["image/png"]))).decode()
    return notebook


def _joined(outputs: list[Any]) -> list[Any]:
    """Text that came in pieces, in one piece; what went to stderr is no part of the lecture."""
    kept: list[Any] = []
    for output in outputs:
        if output.output_type == "stream" and output.name == "stderr":
            print(output.text, file=sys.stderr)
        elif output.output_type == "stream" and kept and kept[-1].output_type == "stream":
            kept[-1].text += output.text
        else:
            kept.append(output)
    return kept


def _small(png: bytes) -> bytes:
    """The picture with 128 colors, a third of its size."""
    with Image.open(io.BytesIO(png)) as image:
        on_paper = Image.new("RGB", image.size, "white")
        on_paper.paste(image, mask=image.getchannel("A") if image.mode == "RGBA" else None)
    written = io.BytesIO()
    on_paper.quantize(128, dither=Image.Dither.NONE).save(written, "PNG", optimize=True)
    return written.getvalue()


def store(path: Path) -> None:
    """Run a notebook, and write it where it was."""
    nbformat.write(tidied(executed(path)), path)


if __name__ == "__main__":
    for path in paths():
        if len(sys.argv) == 1 or path.stem in sys.argv[1:]:
            store(path)
            print(path.name)
