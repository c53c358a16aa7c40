"""Scene of a single model file, without a road."""

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
STEP = 0.01  # [s] of a model whose file has none
MOST_STEP = 1.0  # [s] of a World


def model_format(source: Source) -> Format | None:
    """Determine the format of a model file; None if the file is not a model."""
    try:
        found = recognise(source)
    except FileError:
        return None
    return found if found.name in MODELS else None


def model_scene(
    source: Source, chosen: Format, request: Request, settings: Settings, files: Files, problems: Problems
) -> Scene:
    """Read a model into a Scene of its own.

    Parameters
    ----------
    source, chosen : Source, Format
        The file and its format.
    request : Request
        What to load; its settings are those of the model.
    settings : Settings
        Step, seed and duration.
    files : Files
        Readable files.
    problems : Problems
        Gets all problems.

    Raises
    ------
    FileError
        With all errors of the file.
    UsageError, ModelError
        If a setting is unknown, or the model cannot be built with the settings.
    """
    description, controls = description_of(
        source, chosen, request.settings, settings.step, files, problems, strict=request.strict
    )
    name = Path(source.path).stem
    if description is None:  # an empty world
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
    """Read a model with its settings; return its description, None if it has no bodies, and the values of its controls.

    Parameters
    ----------
    source, chosen : Source, Format
    settings : mapping
        Options of its format and controls → texts.
    timestep : float
        Of a model whose file has none [s].
    files, problems, strict
        As of `model_scene`.

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
    """Select the settings of the models of a scenario, which have the form ``model/key``.

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
    """Split settings into options of a model format and the rest."""
    mine = {key: text for key, text in settings.items() if key in options}
    return mine, {key: text for key, text in settings.items() if key not in options}


def controls_of(
    description: ModelDescription, settings: Mapping[str, str], options: Mapping[str, str]
) -> dict[str, float]:
    """Read settings as values of controls.

    Raises
    ------
    UsageError
        If the description has no such control, or a text is not a valid value of it.
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
    """Reconcile the step of a model with that of the World: the World adopts the model's, unless one was requested."""
    step = settings.step if asked else min(model.description.rows or model.own_step, MOST_STEP)
    return replace(settings, step=step), fitted(model, step)


def fitted(model: Model, step: float) -> Model:
    """Change the step of a model to the nearest whole fraction of the World's [s]."""
    count = max(1, round(step / model.own_step))
    if step / count == model.own_step:
        return replace(model, steps=count)
    spec = replace(model.description.spec, timestep=step / count)
    return replace(model, description=replace(model.description, spec=spec), steps=count)
