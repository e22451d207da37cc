"""A strict reader of Wavefront OBJ files.

Other readers skip lines they cannot use, such as unused points and faces of two corners; but these are typical of a
truncated file.
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from polhode.errors import FileError
from polhode.massprops.geometry import Indices
from polhode.massprops.surface.triangulation import triangulate_polygons
from polhode.validation import Array

IGNORED_KEYWORDS = (
    b"vn vt vp o g s mg usemtl mtllib usemap maplib l p lod bevel c_interp d_interp shadow_obj trace_obj".split()
)
"""Keywords irrelevant to the geometry; any other than these, `v` and `f` gives a warning."""
NEWLINE, SPACE, DIGIT, MINUS, SLASH = 10, 32, 48, 45, 47


class ObjMesh(NamedTuple):
    """Points (N, 3), triangles (M, 3) in the file's order, and warnings."""

    points: Array
    triangles: Indices
    warnings: tuple[str, ...]


class _ObjLines(NamedTuple):
    """The lines of one kind, concatenated, without their first letter."""

    text: NDArray[np.uint8]
    begins: Indices
    """Start of each line in `text`."""
    source: Indices
    """Start of each line in the file, for error messages."""


def read_obj(path: Path) -> ObjMesh:
    """The mesh of an OBJ file; raise with the line number for any line that is not understood."""
    file = _ObjText(path)
    is_point, is_face = file.begin_with(b"v"), file.begin_with(b"f")
    if not is_face.any():
        raise FileError(f"{path} contains no triangles: is it complete, and a surface mesh?")
    points = _parse_vertices(file, file.lines(is_point))
    faces = file.lines(is_face)
    corners, sizes = _parse_faces(file, faces, np.cumsum(is_point, dtype=np.int64)[is_face])
    triangles, crossed = triangulate_polygons(points, corners, sizes)
    odd = file.keyword_warnings(~(is_point | is_face))
    used = np.zeros(len(points), dtype=bool)
    used[corners] = True
    if not used[-1]:
        unused = f"{int((~used).sum())} of {len(points)} points belong to no face"
        raise FileError(f"{path}: {unused}, including the last: the file was truncated. If not, delete them")
    if crossed:
        first = file.number(int(faces.source[crossed[0]]))
        odd.append(
            f"{len(crossed)} of {len(sizes)} polygons cross or touch themselves, the first in line {first}: "
            "their area may be too large"
        )
    return ObjMesh(points, triangles, tuple(odd))


class _ObjText:
    """The text with tabs, comments, indentation and line continuations normalized."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            raw = path.read_bytes()
        except OSError as error:
            raise FileError(f"{path} cannot be read: {error.strerror}") from None
        self.raw = b"\n" + raw.removeprefix(b"\xef\xbb\xbf") + b"\n"
        # Each step leaves every word in place, so that error messages find the line.
        text = self.raw
        if b"\r" in text and text.count(b"\n") == 2:
            text = self.raw = text.replace(b"\r", b"\n")
        text = text.translate(bytes.maketrans(b"\t\r\v\f", b"    "))
        if b"#" in text:
            text = re.sub(rb"#[^\n]*", lambda match: b" " * len(match[0]), text)
        if b"\\" in text:
            text = re.sub(rb"\\ *\n", lambda match: b" " * len(match[0]), text)
        if b"\n " in text:
            text = re.sub(rb"\n( +)", rb"\1\n", text)
        self.text = text if text.endswith(b"\n") else text + b"\n"
        self.bytes = np.frombuffer(self.text, dtype=np.uint8)
        ends = np.flatnonzero(self.bytes == NEWLINE)
        self.begins, self.lengths = ends[:-1] + 1, np.diff(ends)

    def begin_with(self, letter: bytes) -> NDArray[np.bool_]:
        """Which lines have this letter as their first word."""
        found: NDArray[np.bool_] = (self.letters(0) == letter[0]) & (self.letters(1) <= SPACE)
        return found

    def letters(self, k: int) -> NDArray[np.uint8]:
        """Character k of each line; arbitrary for shorter lines."""
        return self.bytes[np.minimum(self.begins + k, len(self.bytes) - 1)]

    def lines(self, which: NDArray[np.bool_]) -> _ObjLines:
        """Some of the lines."""
        is_in = np.zeros(len(self.bytes), dtype=bool)
        is_in[self.begins[0] :] = np.repeat(which, self.lengths)
        text = self.bytes[is_in]
        lengths = self.lengths[which]
        begins = np.cumsum(lengths) - lengths
        text[begins] = SPACE
        return _ObjLines(text, begins, self.begins[which])

    def keyword_warnings(self, which: NDArray[np.bool_]) -> list[str]:
        """Warnings about unknown keywords in these lines."""
        v, second, gap = (self.letters(k) for k in range(3))
        is_known = (v == ord("v")) & ((second == ord("n")) | (second == ord("t"))) & (gap == SPACE)
        which = which & (self.lengths > 1) & ~is_known
        odd: dict[bytes, list[int]] = {}
        for begin in self.begins[which].tolist():
            word = self.text[begin : begin + 40].split(maxsplit=1)[0]
            if word not in IGNORED_KEYWORDS:
                odd.setdefault(word, []).append(begin)
        return [
            f"{len(at)} line{'s' * (len(at) > 1)} with {word.decode('ascii', 'backslashreplace')!r} "
            f"{'are' if len(at) > 1 else 'is'} ignored, the first is line {self.number(at[0])}"
            for word, at in list(odd.items())[:5]
        ]

    def number(self, place: int) -> int:
        """The number of the line that contains this byte, counted from 1."""
        return self.raw.count(b"\n", 0, place)

    def refuse(self, place: int, why: str) -> NoReturn:
        """Raise an error about the line that begins at this byte."""
        line = self.text[place : self.text.index(b"\n", place)].strip().decode("ascii", "backslashreplace")
        excerpt = line if len(line) <= 60 else f"{line[:59]}…"
        raise FileError(f"{self.path}, line {self.number(place)}, {excerpt!r}: {why}")


# Points ---------------------------------------------------------------------------------------------------------------
def _parse_vertices(file: _ObjText, lines: _ObjLines) -> Array:
    """Three numbers from each line; a weight or a color may follow."""
    is_gap = lines.text <= SPACE
    words = np.flatnonzero(is_gap[:-1] > is_gap[1:]) + 1
    counts = np.diff(np.searchsorted(words, lines.begins), append=len(words))
    values = _parse_numbers(lines.text.tobytes(), int(counts.sum()))
    wrong = (counts < 3) | (counts == 5) | (counts > 7)
    if values is None:
        _refuse_non_numbers(file, lines)
    if wrong.any():
        first = int(wrong.argmax())
        file.refuse(
            int(lines.source[first]),
            f"it has {counts[first]} numbers, and a point takes 3 (4, 6 or 7 with a weight or a color): "
            "was the file truncated?",
        )
    if (counts > 3).any():
        before = np.cumsum(counts) - counts
        values = values[before[:, None] + np.arange(3)]
    points = np.ascontiguousarray(values.reshape(-1, 3))
    bad = ~np.isfinite(points).all(axis=1)
    if bad.any():
        file.refuse(
            int(lines.source[bad.argmax()]), "its numbers are not finite: fix the file, or the program that wrote it"
        )
    return points


def _parse_numbers(text: bytes, count: int) -> Array | None:
    """The words of a text as numbers; None if one is not a number."""
    if count == 0:
        return np.zeros(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            values = np.fromstring(text, sep=" ")
    except (DeprecationWarning, ValueError):
        return None
    # "1-2" would be read as two numbers.
    return values if len(values) == count else None


def _refuse_non_numbers(file: _ObjText, lines: _ObjLines) -> NoReturn:
    """Raise an error about the word that is not a number."""
    ends = np.append(lines.begins[1:], len(lines.text))
    for begin, end, source in zip(lines.begins.tolist(), ends.tolist(), lines.source.tolist(), strict=True):
        for word in lines.text[begin:end].tobytes().split():
            if _parse_numbers(word, 1) is None:
                bad = word.decode("ascii", "backslashreplace")
                file.refuse(
                    source, f"{bad!r} is not a number: fix the file, or the program that wrote it; was it truncated?"
                )
    raise AssertionError("all words are numbers")


# Faces ----------------------------------------------------------------------------------------------------------------
def _parse_faces(file: _ObjText, lines: _ObjLines, so_far: Indices) -> tuple[Indices, Indices]:
    """The corners of all faces, concatenated and counted from 0, and the number of corners of each face.

    A corner is the number after a space; those after slashes (textures, normals) are skipped.
    """
    text = lines.text
    is_digit = (text - np.uint8(DIGIT) < 10) | (text == MINUS)
    breaks = np.flatnonzero(~is_digit)
    kinds = text[breaks]
    lengths = np.diff(breaks, append=len(text)) - 1
    is_gap = kinds <= SPACE
    is_corner = is_gap & (lengths > 0)
    ends = np.flatnonzero(kinds == NEWLINE)
    sizes = np.diff(np.cumsum(is_corner)[ends], prepend=0)
    begins, lengths = breaks[is_corner] + 1, lengths[is_corner]
    owner = np.repeat(np.arange(len(sizes)), sizes)
    is_back = text[begins] == MINUS
    digits = lengths - is_back
    # Invalid: other characters, a slash after a space, a minus inside a number, and numbers with no or too many digits.
    stray = breaks[~is_gap & (kinds != SLASH)]
    bare = breaks[1:][(kinds[1:] == SLASH) & is_gap[:-1] & (np.diff(breaks) == 1)]
    minus = np.flatnonzero(text == MINUS)
    minus = minus[is_digit[minus - 1]]
    for places in (stray, bare, minus, begins[(digits < 1) | (digits > 15)]):
        if len(places):
            line = int(np.searchsorted(lines.begins, places[0], side="right")) - 1
            file.refuse(int(lines.source[line]), "a face takes point numbers, as in f 1 2 3 or f 1/1/1 2/2/2 3/3/3")
    if (sizes < 3).any():
        first = int((sizes < 3).argmax())
        file.refuse(
            int(lines.source[first]), f"a face needs at least 3 corners, not {sizes[first]}: was the file truncated?"
        )
    values = np.zeros(len(begins), dtype=np.int64)
    first_digit = begins + is_back
    for k in range(int(digits.max())):
        longer = digits > k
        digit = text[np.where(longer, first_digit + k, 0)].astype(np.int64) - DIGIT
        values = np.where(longer, 10 * values + digit, values)
    there = so_far[owner]
    values = np.where(is_back, there - values, values - 1)
    wrong = (values < 0) | (values >= there)
    if wrong.any():
        face = int(owner[wrong.argmax()])
        file.refuse(
            int(lines.source[face]),
            f"points are numbered from 1 to {so_far[face]} up to here, or backward from -1, and it refers to another: "
            "is part of the file missing?",
        )
    return values, sizes
