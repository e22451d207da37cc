"""The target of a command: a gallery model, whose parameters become options, or a file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from polhode.errors import PolhodeError

if TYPE_CHECKING:
    from polhode.gallery import Model
    from polhode.results.motion import Motion

MODEL_KEY = "polhode.model"
FILE_KINDS = {".toml": "a scenario file ends with .toml", ".zarr": "a stored motion with .zarr"}


class TargetCommand(click.Command):
    """A command whose options include the parameters of the model that it is given."""

    endings: tuple[str, ...] = (".toml",)
    """Suffixes of the files that the command accepts."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        target = self._target(ctx, args)
        if target is not None and self._is_file(target):
            model = self._read_knobs(target)
            if model is not None:
                ctx.meta[MODEL_KEY] = model
        elif target is not None:
            from polhode.gallery import MODELS, model_name

            if model_name(target) not in MODELS:
                close = get_close_matches(model_name(target), list(MODELS), n=1, cutoff=0.5)
                guess = f": did you mean {close[0]!r}?" if close else "."
                hint = "; ".join(["`polhode list` shows all of them", *self._files_hint()]) + "."
                raise click.UsageError(f"there is no model {target!r}{guess} {hint}", ctx)
            ctx.meta[MODEL_KEY] = MODELS[model_name(target)]
        return super().parse_args(ctx, args)

    def _read_knobs(self, target: str) -> Model | None:
        """The model of a scenario file that declares knobs."""
        if not target.endswith(".toml") or not Path(target).is_file():
            return None
        from polhode.own_models.model_file import read_model
        from polhode.scenario.scenario_file import load_toml

        return read_model(target) if "knobs" in load_toml(Path(target)) else None

    def _files_hint(self) -> list[str]:
        return [", ".join(FILE_KINDS[end] for end in self.endings)]

    def _target(self, ctx: click.Context, args: Sequence[str]) -> str | None:
        """The first argument that is a model or a file; otherwise the first that is neither an option nor its value."""
        own = [p for p in super().get_params(ctx) if isinstance(p, click.Option) and not p.is_flag]
        taking_a_value = {name for option in own for name in option.opts}
        pairs = zip(["", *args], args, strict=False)
        free = [arg for before, arg in pairs if not arg.startswith("-") and before not in taking_a_value]
        return next((arg for arg in free if _is_model(arg) or self._is_file(arg)), free[0] if free else None)

    def _is_file(self, target: str) -> bool:
        """Whether the target is a file; the name of a model takes precedence over a file of that name."""
        named = target.rstrip(os.sep).endswith(self.endings)
        return named or os.sep in target or (Path(target).is_file() and not _is_model(target))

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        model: Model | None = ctx.meta.get(MODEL_KEY)
        parameters: list[click.Parameter] = [
            click.Option(
                [f"--{p.name.replace('_', '-')}", p.name],
                type=float,
                metavar="<number>" if p.unit == "1" else f"<{p.unit}>",
                help=f"{p.help}; {p.low:g} to {p.high:g}, default {p.default:g}",
                default=None,
            )
            for p in (model.parameters if model is not None else ())
        ]
        own = super().get_params(ctx)
        return [own[0], *parameters, *own[1:]]

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        model: Model | None = ctx.meta.get(MODEL_KEY)
        if model is None:
            super().format_help_text(ctx, formatter)
            return
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(f"{model.name}: {model.title}.")
            formatter.write_paragraph()
            formatter.write_text(model.explanation.replace("\n", " "))
            formatter.write_paragraph()
            formatter.write_text(f"Source: {model.source}")


class MotionCommand(TargetCommand):
    """A command that also accepts stored motions."""

    endings = (".toml", ".zarr")


class LabCommand(TargetCommand):
    """A command that accepts models, scenario files, and folders of them."""

    def _files_hint(self) -> list[str]:
        return ["a scenario file ends with .toml; `polhode view` opens files"]

    def _is_file(self, target: str) -> bool:
        return super()._is_file(target) or (Path(target).is_dir() and not _is_model(target))

    def _read_knobs(self, target: str) -> Model | None:
        """A file with an error is opened too: the page says what is wrong, and reads it again when it is saved."""
        try:
            return super()._read_knobs(target)
        except PolhodeError:
            return None


@dataclass(frozen=True)
class TargetMotion:
    """The motion of a target."""

    motion: Motion
    name: str
    """Name of the model or the scenario, otherwise of the file."""
    title: str
    parameters: Mapping[str, float]
    """Parameters of the model, with their values."""
    runs: tuple[str, ...]
    """Names of the runs of a model that makes several; the first is shown."""


def parameter_values(ctx: click.Context, parameters: Mapping[str, float | None]) -> dict[str, float]:
    """The validated parameter values of the model; empty for a file."""
    model: Model | None = ctx.meta.get(MODEL_KEY)
    return {} if model is None else model.values(**{k: v for k, v in parameters.items() if v is not None})


def default_stem(ctx: click.Context, target: str) -> str:
    """Default name of an output file, without suffix."""
    model: Model | None = ctx.meta.get(MODEL_KEY)
    return Path(target).stem if model is None else model.name


def resolve_motion(ctx: click.Context, target: str, values: dict[str, float]) -> TargetMotion:
    """The motion of a model (the first of several runs), of a scenario file, or of a stored motion."""
    model: Model | None = ctx.meta.get(MODEL_KEY)
    if model is None:
        motion = load_stored_motion(target) if target.rstrip(os.sep).endswith(".zarr") else simulate_file(target)
        name = motion.scenario.name or Path(target).stem
        return TargetMotion(motion, name, name, {}, ())
    from polhode.solve.simulate import simulate

    planned: Any = model.scenario(**values)
    runs = tuple(planned) if isinstance(planned, Mapping) else ()
    motion = simulate(planned[runs[0]] if runs else planned)
    model.remember(motion, values, runs[0] if runs else "")
    return TargetMotion(motion, model.name, model.title, values, runs)


def simulate_file(target: str, store: Path | None = None, resume: bool = False) -> Motion:
    """Simulate a scenario file; with a store a single run can be killed and resumed."""
    from polhode.gallery.gallery_model import run_stored
    from polhode.own_models.model_file import read_model
    from polhode.scenario.scenario import Scenario
    from polhode.scenario.scenario_file import load_toml

    motion = run_stored(Scenario.from_toml(target), store, resume)
    if "stage" in load_toml(Path(target)):
        model = read_model(target)
        model.remember(motion, model.values())
    return motion


def load_stored_motion(target: str) -> Motion:
    """Load a motion from a Zarr folder."""
    from polhode.results.motion import load

    return load(target)


def _is_model(target: str) -> bool:
    from polhode.gallery import MODELS, model_name

    return model_name(target) in MODELS
