"""A gallery model: a scenario with parameters, a picture, and numbers checked against a closed form."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsFloat

from polhode.errors import InputError, nearest, show
from polhode.gallery.knob import Knob
from polhode.gallery.lesson import Lesson
from polhode.gallery.pictures import PanelPicture
from polhode.gallery.thumbnails import thumbnail_name
from polhode.progress import progress_part
from polhode.web.stage import Stage

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from polhode.results.motion import Motion
    from polhode.scenario.scenario import Scenario

THEMES = (
    "transformations and rotations",
    "forces and torques",
    "free rotation",
    "tops and gyroscopes",
    "real bodies",
    "impact and contact",
    "flight",
)
"""Themes of the models, in listing order."""
FEATURED = (
    "dzhanibekov",
    "gyroscope",
    "rotating-frame",
    "cubesat",
    "thrown-die",
    "symmetric-top",
    "tippe-top",
    "toutatis",
)
"""Names of the models with which the gallery of the page begins, the best first."""


class Parameter(Knob):
    """A knob of a model of the gallery: its name and unit come first."""

    def __init__(
        self, name: str, unit: str, default: float, low: float, high: float, help: str, label: str = ""
    ) -> None:
        super().__init__(default, low, high, unit, help, name, label)


@dataclass(frozen=True)
class ReferenceCheck:
    """A number of a model: measured in the simulated motion, and expected from a closed form."""

    label: str
    unit: str
    found: float
    expected: float
    tolerance: float
    """Largest allowed difference, in the same unit."""
    source: str
    """Formula or reference of the expected value."""
    size: float | None = None
    """Scale of the number, if 0 is expected."""

    def __post_init__(self) -> None:
        for name in ("found", "expected", "tolerance"):
            object.__setattr__(self, name, float(getattr(self, name)))
        object.__setattr__(self, "size", None if self.size is None else float(self.size))

    @property
    def difference(self) -> float:
        """found - expected"""
        return self.found - self.expected

    @property
    def holds(self) -> bool:
        """Whether found and expected agree within the tolerance."""
        return abs(self.difference) <= self.tolerance


def check(
    label: str,
    unit: str,
    found: SupportsFloat,
    expected: SupportsFloat,
    tolerance: SupportsFloat,
    source: str,
    size: SupportsFloat | None = None,
) -> ReferenceCheck:
    """A check of any kind of number.

    Examples
    --------
    >>> from polhode.gallery.gallery_model import check
    >>> check("period", "s", 2.0000001, 2, 1e-6, "4 K(m)/rate").holds
    True
    """
    scale = None if size is None else float(size)
    return ReferenceCheck(label, unit, float(found), float(expected), float(tolerance), source, scale)


@dataclass(frozen=True)
class Model:
    """A model: one of the gallery, of a scenario file with knobs, or of a function decorated with `@ph.model`.

    `scenario` takes every parameter by name and returns a scenario, or several by name, the first of which is the main
    one; a scenario with members runs as an ensemble.  `numbers` and `picture` take the resulting motion, or the motions
    by name, then every parameter by name.

    Examples
    --------
    >>> from polhode.gallery import MODELS
    >>> MODELS["dzhanibekov"].values(spin=4)
    {'spin': 4.0, 'nudge': 0.1}
    """

    name: str
    title: str
    theme: str
    """One of `THEMES`."""
    source: str
    explanation: str
    """About five lines."""
    parameters: tuple[Knob, ...]
    scenario: Callable[..., Scenario | Mapping[str, Scenario]]
    numbers: Callable[..., Sequence[ReferenceCheck]] | None = None
    """Checks, the most important first; None if there are none."""
    picture: Callable[..., Figure] | None = None
    """A function that draws a figure, or one decorated with `polhode.gallery.pictures.panels`, which gets the title."""
    stage: Stage | Callable[..., Stage] = field(default=Stage())
    """How the page shows it at first: a stage, or a function of every parameter by name, and of `run`, the name of the
    motion, if it takes that."""
    lesson: Lesson | None = None
    """Formulas, steps to try and sources, beside the views."""
    toml: Callable[[Mapping[str, float]], str] | None = None
    """The text of its own file with these values, if it has one."""

    def __post_init__(self) -> None:
        if isinstance(self.picture, PanelPicture):
            object.__setattr__(self, "picture", self.picture.titled(self.title))

    def __call__(self, *values: float, **named: float) -> Motion | dict[str, Motion]:
        """Simulate with these values, in the order of the parameters or by name; defaults for the rest.

        Examples
        --------
        >>> from polhode.gallery import MODELS
        >>> MODELS["dzhanibekov"](spin=4)["box"].model_run.values
        {'spin': 4.0, 'nudge': 0.1}
        """
        names = [p.name for p in self.parameters]
        if len(values) > len(names):
            raise InputError(f"{self.name} has {len(names)} parameters, but {len(values)} values are given")
        in_order = dict(zip(names, values, strict=False))
        for name in in_order:
            if name in named:
                raise InputError(f"{self.name} is given {name} twice: in order, and by name")
        return self.run(**self.values(**in_order, **named))

    @property
    def rank(self) -> int:
        """Place among the featured models, from 1; 0 for the others."""
        return FEATURED.index(self.name) + 1 if self.name in FEATURED else 0

    def values(self, /, **given: Any) -> dict[str, float]:
        """Values of all parameters: those given, validated, and defaults for the rest."""
        known = {p.name: p for p in self.parameters}
        for name in given:
            if name not in known:
                raise InputError(f"{self.name} has no parameter {show(name)}: {nearest(name, known)}")
        return {name: p.validate(given.get(name, p.default)) for name, p in known.items()}

    def run(self, store: Path | None = None, resume: bool = False, /, **values: float) -> Motion | dict[str, Motion]:
        """Simulate with these values; return the motion, or the motions by name, for `numbers` and `picture`.

        With a store the runs can be killed and resumed; of several, the others have stores beside that of the first.
        """
        scenarios = self.scenario(**values)
        if not isinstance(scenarios, Mapping):
            return self.remember(run_stored(scenarios, store, resume), values)
        motions = {}
        for i, (name, scenario) in enumerate(scenarios.items()):
            with progress_part(len(scenarios), i, name):
                motion = run_stored(scenario, _store_beside(store, name if i else ""), resume)
                motions[name] = self.remember(motion, values, name)
        return motions

    def remember(self, motion: Motion, values: Mapping[str, float], run: str = "") -> Motion:
        """Say in a motion that this model made it: its pages and pictures then begin with the model's stage."""
        motion.model_run = ModelRun(self, dict(values), run)
        return motion

    def stage_of(self, values: Mapping[str, float], run: str = "") -> Stage:
        """The stage for these values and, of a model with several motions, for one of them; by default the first."""
        if isinstance(self.stage, Stage):
            return self.stage
        if "run" not in signature(self.stage).parameters:
            return self.stage(**values)
        scenarios = self.scenario(**values) if run == "" else run
        return self.stage(**values, run=next(iter(scenarios)) if isinstance(scenarios, Mapping) else run)

    def check(self, motions: Motion | Mapping[str, Motion], values: Mapping[str, float]) -> Sequence[ReferenceCheck]:
        """The checks of these motions; none if the model has no numbers."""
        return () if self.numbers is None else self.numbers(motions, **values)

    def name_scenarios(self, values: Mapping[str, float]) -> dict[str, Scenario]:
        """The scenarios with these values, by name, the main one first; a single one has the name of the model.

        Examples
        --------
        >>> from polhode.gallery import MODELS
        >>> model = MODELS["dzhanibekov"]
        >>> list(model.name_scenarios(model.values()))
        ['box', 't-handle']
        """
        made = self.scenario(**values)
        return dict(made) if isinstance(made, Mapping) else {self.name: made}

    def describe(self) -> Mapping[str, Any]:
        """The model as plain strings and numbers, for listings."""
        return {
            "name": self.name,
            "title": self.title,
            "theme": self.theme,
            "source": self.source,
            "explanation": self.explanation,
            "parameters": [vars(p) for p in self.parameters],
            "rank": self.rank,
            "lesson": None if self.lesson is None else self.lesson.describe(),
            "hasFigure": self.picture is not None,
            "picture": thumbnail_name(self.name),
        }


@dataclass(frozen=True)
class ModelRun:
    """Which model a motion is of, with which values, and which of its runs: `motion.model_run`."""

    model: Model
    values: dict[str, float]
    run: str = ""
    """"" if the model has one run only."""

    @property
    def stage(self) -> Stage:
        """How the page shows this motion at first: pages, pictures and films of the motion begin with it."""
        return self.model.stage_of(self.values, self.run)

    def live_page(self, knobs: Sequence[str] | None = None) -> str:
        """The page of the model with live knobs, beginning with this motion: what `motion.export_html` writes."""
        from polhode.gallery.live_page import live_page

        return live_page(self.model, self.values, self.run, knobs)


def _store_beside(store: Path | None, name: str) -> Path | None:
    """The store of one of several runs: the one given, or one beside it that has the name of the run."""
    if store is None or not name:
        return store
    plain = re.sub(r"[^\w.-]+", "-", name).strip("-")
    return store.with_name(f"{store.stem}-{plain}{store.suffix}")


def run_stored(scenario: Scenario, store: Path | None = None, resume: bool = False) -> Motion:
    """Simulate a scenario, single or an ensemble; with a store the run can be killed and resumed."""
    from polhode.ensembles.ensemble import ensemble
    from polhode.solve.simulate import simulate

    if scenario.members is None:
        return simulate(scenario, store=store, resume=resume)
    if store is not None:
        return ensemble(scenario, store=store, resume=resume).motion(slice(None))
    return ensemble(scenario)


def main_motion(motions: Motion | Mapping[str, Motion]) -> Motion:
    """The main motion of a model run."""
    return next(iter(motions.values())) if isinstance(motions, Mapping) else motions
