"""Models placed in a scenario: their files, settings and steps."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cbsim.errors import CbsimError, FileError, Problem, Problems
from cbsim.formats import read_source, recognise
from cbsim.formats.scenario import find_named
from cbsim.formats.values import quote
from cbsim.loading.loader import Loader
from cbsim.loading.model_files import STEP, description_of, fitted
from cbsim.models import MODELS
from cbsim.spec.scenario import ModelAddition
from cbsim.world.scene import Model

__all__ = ["placed_model"]


def placed_model(
    addition: ModelAddition, settings: Mapping[str, str], step: float, folder: Path, loader: Loader
) -> Model | None:
    """Read a model of a scenario; None if it has errors, which are added to the loader's problems.

    Parameters
    ----------
    addition : ModelAddition
        Entry of the scenario.
    settings : mapping
        Settings that override those of the scenario.
    step : float
        Of the World [s].
    folder : Path
        Of the scenario.
    loader : Loader
    """
    path = find_named("models", addition.file, folder, loader.files)
    if path is None:
        return None  # reported by the linter of scenarios
    found = Problems()
    try:
        model = _read(addition, {**dict(addition.settings), **settings}, step, path, loader, found)
    except FileError as error:
        found.extend(problem for problem in error.problems if problem not in found)
        model = None
    except CbsimError as error:
        found.error("E892", f"model {quote(addition.name)}: {error}", addition.location)
        model = None
    known = {_key(problem) for problem in loader.problems}  # reported by the linter of scenarios
    loader.problems.extend(problem for problem in found if _key(problem) not in known)
    return model


def _key(problem: Problem) -> tuple[str, str, int | None]:
    return problem.code, problem.location.path, problem.location.line


def _read(
    addition: ModelAddition, settings: Mapping[str, str], step: float, path: Path, loader: Loader, problems: Problems
) -> Model | None:
    source = read_source(path, loader.files)
    chosen = recognise(source)
    if chosen.name not in MODELS:
        message = f"this is a file of format '{chosen.name}', expected {' or '.join(MODELS)}"
        problems.error("E891", message, addition.location)
        return None
    description, controls = description_of(source, chosen, settings, STEP, loader.files, problems, strict=loader.strict)
    place = addition.location
    if description is None:
        problems.error("E892", f"model {quote(addition.name)}: the file has no bodies", place)
        return None
    model = Model(
        addition.name, description, 1, controls, addition.placement, addition.scale, addition.mass, location=place
    )
    made = fitted(model, step)
    if abs(made.own_step - model.own_step) > 1e-9 * model.own_step:
        message = (
            f"model {quote(addition.name)} takes steps of {made.own_step:g} s, {made.steps} in one of {step:g} s, in "
            f"place of its own of {model.own_step:g} s"
        )
        problems.warning("W893", message, place, f"a step of {made.steps * model.own_step:g} s would keep it")
    return made
