"""A file of a model as a Scene: a World without a road, in which nothing is but the model."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from cbsim.errors import FileError, Location, Problems, UsageError, did_you_mean
from cbsim.formats import Format, recognise
from cbsim.formats.reader import Source
from cbsim.formats.values import quote
from cbsim.loading.request import Request
from cbsim.models import MODELS, family, parse
from cbsim.paths import Files
from cbsim.spec.controls import expected
from cbsim.spec.mechanism.model_description import ModelDescription
from cbsim.spec.scenario import ModelAddition
from cbsim.world.scene import Model, Scene, Settings

__all__ = ["STEP", "description_of", "fitted", "model_format", "model_scene", "model_settings"]

Make = Callable[..., ModelDescription | None]
STEP = 0.01  # [s] of a model whose file says none
MOST_STEP = 1.0  # [s] of a World


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
    description, controls = description_of(
        source, chosen, request.settings, settings.step, files, problems, strict=request.strict
    )
    name = Path(source.path).stem
    if description is None:  # a world in which nothing is
        told = replace(request, environment=files.environment).to_dict()
        return Scene(name, (), settings=settings, sources=files.seen, request=told)
    model = Model(name, description, 1, controls, location=Location(str(source.path)))
    if request.duration is None and description.duration is not None:
        settings = replace(settings, duration=description.duration)
    if description.spec.timestep != settings.step or description.rows is not None:
        settings, model = _in_step(model, settings, asked=request.step is not None)
    told = replace(request, environment=files.environment).to_dict()
    return Scene(model.name, (), settings=settings, sources=files.seen, request=told, models=(model,))


def description_of(
    source: Source,
    chosen: Format,
    settings: Mapping[str, str],
    timestep: float,
    files: Files,
    problems: Problems,
    *,
    strict: bool,
) -> tuple[ModelDescription | None, dict[str, float]]:
    """Read a model, as its settings want it, None of one without bodies; and which of its controls they set to what.

    Parameters
    ----------
    source, chosen : Source, Format
    settings : mapping
        Options of its format and controls → texts.
    timestep : float
        Of a model whose file says none [s].
    files, problems, strict
        As `model_scene` has them.

    Raises
    ------
    FileError, UsageError, ModelError
        As `model_scene`.
    """
    spec = parse(source, chosen, problems, files)
    problems.raise_if_any()
    made_by = family(chosen.name)
    make: Make = made_by.describe
    options, rest = parted(settings, made_by.OPTIONS)
    description = make(spec, options, timestep, source.folder, files, problems, strict=strict)
    problems.raise_if_any()
    return description, {} if description is None else controls_of(description, rest, made_by.OPTIONS)


def model_settings(settings: Mapping[str, str], models: Iterable[ModelAddition]) -> dict[str, dict[str, str]]:
    """Find the settings of the models of a scenario among others: they are written ``model/key``.

    Raises
    ------
    UsageError
        If there is no such model.
    """
    theirs: dict[str, dict[str, str]] = {model.name: {} for model in models}
    for key, text in settings.items():
        name, slash, rest = key.rpartition("/")
        if slash and name not in theirs:
            hint = did_you_mean(name, theirs)
            known = ", ".join(theirs) or "none"
            raise UsageError(f"no model {quote(name)} to set; there is {known}" + (f" ({hint})" if hint else ""))
        if slash:
            theirs[name][rest] = text
    return theirs


def parted(settings: Mapping[str, str], options: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Part settings into those that are options of a format of models, and the rest."""
    mine = {key: text for key, text in settings.items() if key in options}
    return mine, {key: text for key, text in settings.items() if key not in options}


def controls_of(
    description: ModelDescription, settings: Mapping[str, str], options: Mapping[str, str]
) -> dict[str, float]:
    """Read settings as values of controls.

    Raises
    ------
    UsageError
        If the description has no such control, or a text is none of what it takes.
    """
    controller = description.behaviour or description.motion
    known = {} if controller is None else controller.controls
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
        if wanted := expected(key, values[key]):
            raise UsageError(f"control {quote(key)} is {quote(text)}, expected {wanted}")
    return values


def _in_step(model: Model, settings: Settings, *, asked: bool) -> tuple[Settings, Model]:
    """Bring a model that has a step of its own together with the World's: the World takes it, unless it was asked."""
    step = settings.step if asked else min(model.description.rows or model.own_step, MOST_STEP)
    return replace(settings, step=step), fitted(model, step)


def fitted(model: Model, step: float) -> Model:
    """Bring the step of a model to a whole part of one of the World [s], the one next to its own."""
    count = max(1, round(step / model.own_step))
    if step / count == model.own_step:
        return replace(model, steps=count)
    spec = replace(model.description.spec, timestep=step / count)
    return replace(model, description=replace(model.description, spec=spec), steps=count)
