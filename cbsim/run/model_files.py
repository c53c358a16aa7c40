"""A file of a model as a Scene: a World without a road, in which nothing is but the model."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from cbsim.errors import FileError, Problems, UsageError, did_you_mean
from cbsim.formats import Format, recognise
from cbsim.formats.reader import Source
from cbsim.formats.values import quote
from cbsim.paths import Files
from cbsim.run.request import Request
from cbsim.spec.mechanism.figure import Figure
from cbsim.world.scene import Model, Scene, Settings

__all__ = ["MODELS", "controls_of", "model_format", "model_scene", "parted"]

Make = Callable[..., Figure]
STEP = 0.01  # [s] of a model whose file says none


MODELS: Mapping[str, str] = {"urdf": "cbsim.formats.urdf.figure"}
"""Format of models → module with `figure`, which makes a Figure of what its reader gives, and `OPTIONS`, what it is
told by settings: key → meaning. All other settings are controls of the figure's behaviour or motion."""


def model_format(source: Source) -> Format | None:
    """Tell the format of a model's file; None for what is no model."""
    try:
        found = recognise(source)
    except FileError:
        return None
    return found if found.name in MODELS else None


def model_scene(
    source: Source, chosen: Format, request: Request, settings: Settings, files: Files, problems: Problems
) -> Scene:
    """Read a model and put it into a Scene alone.

    Parameters
    ----------
    source, chosen : Source, Format
        The file, and what it is.
    request : Request
        What is asked for; its settings are the model's.
    settings : Settings
        Step, seed and duration.
    files : Files
        What may be read.
    problems : Problems
        Gets every mistake.

    Raises
    ------
    FileError
        With every error of the file.
    UsageError, ModelError
        If a setting is none, or the model cannot be made as it asks.
    """
    spec = chosen.load().read(source, problems)
    problems.raise_if_any()
    family = importlib.import_module(MODELS[chosen.name])
    options, rest = parted(request.settings, family.OPTIONS)
    make: Make = family.figure
    figure = make(spec, options, settings.step, source.folder, files, problems, strict=request.strict)
    problems.raise_if_any()
    name = Path(source.path).stem
    model = Model(name, figure, 1, controls_of(figure, rest, family.OPTIONS))
    if figure.spec.timestep != settings.step:
        settings, model = _in_step(model, settings, asked=request.step is not None)
    told = replace(request, environment=files.environment).to_dict()
    return Scene(name, (), settings=settings, sources=files.seen, request=told, models=(model,))


def parted(settings: Mapping[str, str], options: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Part settings into those that are options of a format of models, and the rest."""
    mine = {key: text for key, text in settings.items() if key in options}
    return mine, {key: text for key, text in settings.items() if key not in options}


def controls_of(figure: Figure, settings: Mapping[str, str], options: Mapping[str, str]) -> dict[str, float]:
    """Read settings as values of controls.

    Raises
    ------
    UsageError
        If the figure has no such control, or a text is no finite number.
    """
    minded = figure.behaviour or figure.motion
    known = {} if minded is None else minded.controls
    values: dict[str, float] = {}
    for key, text in settings.items():
        if key not in known:
            there = [*options, *known]
            hint = did_you_mean(key, there)
            listed = ", ".join(there)[:600]
            raise UsageError(
                f"the model has no setting {quote(key)}; there is {listed}" + (f" ({hint})" if hint else "")
            )
        try:
            values[key] = float(text)
        except ValueError:
            values[key] = math.nan
        if not math.isfinite(values[key]):
            raise UsageError(f"control {quote(key)} is {quote(text)}, expected a number")
    return values


def _in_step(model: Model, settings: Settings, *, asked: bool) -> tuple[Settings, Model]:
    """Bring a model that has a step of its own together with the World's: the World takes it, unless it was asked."""
    own = model.figure.spec.timestep
    if not asked:
        return replace(settings, step=own), model
    count = max(1, round(settings.step / own))
    spec = replace(model.figure.spec, timestep=settings.step / count)
    return settings, replace(model, figure=replace(model.figure, spec=spec), steps=count)
