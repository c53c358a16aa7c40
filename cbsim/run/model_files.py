"""A file of a model as a Scene: a World without a road, in which nothing is but the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from cbsim.errors import FileError, Problems
from cbsim.formats import Format, recognise
from cbsim.formats.reader import Source
from cbsim.paths import Files
from cbsim.run.request import Request
from cbsim.spec.mechanism.figure import Figure
from cbsim.world.scene import Model, Scene, Settings

__all__ = ["MODELS", "model_format", "model_scene"]

Make = Callable[..., Figure]
STEP = 0.01  # [s] of a model whose file says none


def _urdf() -> Make:
    from cbsim.formats.urdf.figure import figure

    return figure


MODELS: Mapping[str, Callable[[], Make]] = {"urdf": _urdf}
"""Format of models → who makes a figure of what its reader gives."""


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
    make = MODELS[chosen.name]()
    figure = make(spec, request.settings, settings.step, source.folder, files, problems, strict=request.strict)
    problems.raise_if_any()
    name = Path(source.path).stem
    asked = replace(request, environment=files.environment).to_dict()
    return Scene(name, (), settings=settings, sources=files.seen, request=asked, models=(Model(name, figure),))
