"""The models that a lab offers: those of files and functions of the user, and the gallery."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

from polhode.errors import FileError, InputError, PolhodeError
from polhode.gallery import MODELS, Model
from polhode.own_models.model_file import OWN_THEME, name_of_file, read_model

FileStamp = tuple[int, int]
"""When a file was written, in ns, and its size: if neither has changed, nor has the file."""


class LabModels(Mapping[str, Model]):
    """Models by name: the user's own first, then the gallery.

    Files are read again when they change.  A file with an error stays in the list: its model refuses to run, with the
    sentence that says what is wrong.

    Examples
    --------
    >>> "dzhanibekov" in LabModels()
    True
    """

    def __init__(self, models: Sequence[Model] = (), paths: Sequence[Path] = ()) -> None:
        self._given, self._paths = tuple(models), tuple(paths)
        self._lock = threading.Lock()
        self._stamps: dict[Path, FileStamp] = {}
        self._files: dict[Path, Model] = {}
        self._own: dict[str, Model] = {}
        self.version = 0
        """Grows whenever a model of the user's own has changed."""
        for path in self._paths:
            if not path.exists():
                raise FileError(f"there is no file {path}")
            if path.is_dir() and not _files_of(path):
                raise FileError(f"{path} has no scenario file: their names end in .toml")
        self.refresh()

    @property
    def own(self) -> tuple[Model, ...]:
        """The user's own models, in the order in which they were given."""
        return tuple(self._own.values())

    @property
    def errors(self) -> tuple[str, ...]:
        """What is wrong with files that could not be read."""
        broken = (model for model in self._files.values() if isinstance(model.scenario, _Refusal))
        return tuple(model.explanation for model in broken)

    def add(self, models: Sequence[Model], paths: Sequence[Path] = ()) -> None:
        """Offer more models; one with the name of another that was given before replaces it."""
        with self._lock:
            names = {model.name for model in models}
            self._given = (*(one for one in self._given if one.name not in names), *models)
            self._paths = (*self._paths, *(path for path in paths if path not in self._paths))
            self._stamps = {}
        self.refresh()

    def refresh(self) -> int:
        """Read the files that have changed; returns the version."""
        with self._lock:
            stamps = {path: _stamp(path) for one in self._paths for path in (_files_of(one) if one.is_dir() else [one])}
            if stamps != self._stamps or not self.version:
                kept = {
                    path: model for path, model in self._files.items() if stamps.get(path) == self._stamps.get(path)
                }
                self._files = {path: kept.get(path) or _read_or_explain(path) for path in stamps}
                self._stamps = stamps
                self._own = _by_distinct_names((*self._given, *self._files.values()))
                self.version += 1
            return self.version

    def name_of(self, model: Model | Path) -> str:
        """The name under which a model, or that of a file, is offered."""
        if isinstance(model, Path):
            path = model if model in self._files else next(iter(_files_of(model)), model)
            model = self._files[path]
        found = [name for name, one in self._own.items() if one.scenario is model.scenario]
        return found[0] if found else model.name

    def __getitem__(self, name: str) -> Model:
        own = self._own.get(name)
        return MODELS[name] if own is None else own

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in MODELS

    def __iter__(self) -> Iterator[str]:
        return iter((*self._own, *MODELS))

    def __len__(self) -> int:
        return len(self._own) + len(MODELS)


def _files_of(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.toml"))


def _stamp(path: Path) -> FileStamp:
    try:
        found = path.stat()
    except OSError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_size)


def _read_or_explain(path: Path) -> Model:
    try:
        return read_model(path)
    except PolhodeError as error:
        sentence = str(error)
    except Exception as error:  # whatever a file holds, the others are offered
        sentence = f"{path.name} cannot be read, and no check has found out why ({type(error).__name__}: {error})"
    return _explaining_model(path, sentence.replace(str(path), path.name))


@dataclass(frozen=True)
class _Refusal:
    """The scenario of a file with an error."""

    sentence: str

    def __call__(self) -> NoReturn:
        raise InputError(f"{self.sentence}. The file is read again when it is saved")


def _explaining_model(path: Path, sentence: str) -> Model:
    """A model that stands for a file with an error."""
    return Model(
        name=name_of_file(path),
        title=f"{path.name} (with an error)",
        theme=OWN_THEME,
        source="",
        explanation=sentence,
        parameters=(),
        scenario=_Refusal(sentence),
    )


def _by_distinct_names(models: Sequence[Model]) -> dict[str, Model]:
    """Models by name; one whose name is taken, by another or in the gallery, gets a number."""
    found: dict[str, Model] = {}
    for model in models:
        name, number = model.name, 2
        while name in found or name in MODELS or name == "ws":
            name, number = f"{model.name}-{number}", number + 1
        found[name] = model if name == model.name else replace(model, name=name)
    return found
