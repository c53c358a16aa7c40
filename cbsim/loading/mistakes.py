"""`every_mistake`: all errors that `cbsim check` finds in the files of a run that cannot be loaded."""

from __future__ import annotations

from pathlib import Path

from cbsim.errors import FileError, Problems
from cbsim.loading.request import Request

__all__ = ["every_mistake"]


def every_mistake(request: Request, named: list[str | Path], error: FileError, found: Problems) -> Problems:
    """Extend the errors that ended a load by those that `cbsim check` finds in the same files.

    A load stops at the first file that it cannot continue without. Where files or settings override parts of a
    scenario, errors of the scenario itself may not apply, and are left out.
    """
    told = Problems(dict.fromkeys([*found.errors, *error.problems.errors]))
    replaced = request.settings or (request.scenario and (request.rndf or request.objects or request.mdf))
    if replaced:
        return told
    from cbsim.lint.files import lint_files

    more, known = Problems(), set(told)
    lint_files(named, None, more, strict=request.strict)
    told.extend(problem for problem in more.errors if problem not in known)
    return told
