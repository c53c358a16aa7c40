"""Models as mechanisms: one package per model format, one line each in `MODELS`.

Each package has

- `describe(spec, settings, timestep, folder, files, problems, *, strict)`, which returns a `ModelDescription` of a spec
  without errors: `settings` are texts by keys of `OPTIONS`, `timestep` [s] is that of the World, `folder` that of the
  model's file, `files` are readable, `problems` collects all problems, and if `strict`, missing files are errors;
- `OPTIONS`: key → meaning;
- `count(spec)`, which ``cbsim info`` prints;
- where the format has such rules, `check(spec, problems)`, for errors that only building finds, and
  `lint(reading, files, problems, *, strict)`, further rules of ``cbsim check``, with the files that the model names.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

from cbsim.collector import collector_at_rest
from cbsim.errors import Location, Problems, bounded_hints
from cbsim.formats import Format, Reading
from cbsim.formats import read_file as read_text_file
from cbsim.formats.reader import Source, quiet_arithmetic
from cbsim.paths import Files

__all__ = ["MODELS", "count", "family", "lint", "parse", "read", "read_file"]

MODELS: dict[str, str] = {
    "irit": "cbsim.models.irit",
    "juice": "cbsim.models.juice",
    "mechanism": "cbsim.models.mechanism",
    "shift": "cbsim.models.shift",
    "urdf": "cbsim.models.urdf",
}
"""Format of models → package that makes mechanisms of it."""


def family(name: str) -> ModuleType:
    """Import the package of a format of models."""
    return importlib.import_module(MODELS[name])


def parse(source: Source, chosen: Format, problems: Problems, files: Files) -> Any:
    """Read a source of any format, with the checks that need building.

    Returns
    -------
    spec or None
        None if it cannot be understood.
    """
    spec = chosen.read(source, problems, files)
    _check(spec, chosen, problems)
    return spec


def read_file(
    path: str | Path,
    files: Files | None = None,
    *,
    format: str | None = None,  # noqa: A002
    asked_at: Location | None = None,
) -> Reading:
    """Read a file of any known format as `cbsim.formats.read_file`, with the checks that need building.

    Raises
    ------
    FileError
        If the file cannot be opened or its format is not known. Errors inside it are in the reading's problems.
    """
    with collector_at_rest(), bounded_hints(), quiet_arithmetic():
        reading = read_text_file(path, files, format=format, asked_at=asked_at)
        _check(reading.spec, reading.format, reading.problems)
    return reading


def read(path: str | Path) -> Any:
    """Read a file and return its spec.

    Raises
    ------
    FileError
        With every error of the file.
    """
    reading = read_file(path)
    reading.problems.raise_if_any()
    return reading.spec


def count(reading: Reading) -> dict[str, int | float]:
    """Return counts of a file, which ``cbsim info`` prints; empty if there is no spec."""
    if reading.spec is None:
        return {}
    module = family(reading.format.name) if reading.format.name in MODELS else reading.format.load()
    return dict(module.count(reading.spec))


def lint(reading: Reading, files: Files, problems: Problems, *, strict: bool = False) -> None:
    """Apply the rules of a format of models that look beyond its file.

    Parameters
    ----------
    reading : Reading
        Of a model, with a spec.
    files : Files
        Readable files.
    problems : Problems
        Collects all problems.
    strict : bool
        Missing files are errors.
    """
    rules = getattr(family(reading.format.name), "lint", None)
    if rules is not None:
        rules(reading, files, problems, strict=strict)


def _check(spec: Any, chosen: Format, problems: Problems) -> None:
    if spec is None or chosen.name not in MODELS:
        return
    rules = getattr(family(chosen.name), "check", None)
    if rules is not None:
        rules(spec, problems)
