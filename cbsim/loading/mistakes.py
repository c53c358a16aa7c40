"""`every_mistake`: a run that cannot be loaded tells every error that `cbsim check` finds in its files."""

from __future__ import annotations

from pathlib import Path

from cbsim.errors import FileError, Problems
from cbsim.loading.request import Request

__all__ = ["every_mistake"]


def every_mistake(request: Request, named: list[str | Path], error: FileError, found: Problems) -> Problems:
    """Add to the errors that ended a load those that `cbsim check` finds in the same files.

    A load stops at the first file that it cannot go on without. Where files or settings take the place of what a
    scenario says, its own mistakes may be none, and are left out.
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
