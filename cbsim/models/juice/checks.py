"""Checks of Juice models that need building."""

from __future__ import annotations

from cbsim.errors import Problems
from cbsim.formats import Reading
from cbsim.models.juice.description import describe
from cbsim.paths import Files

__all__ = ["lint"]

STEP = 0.01  # [s] of a run that does not say another


def lint(reading: Reading, files: Files, problems: Problems, *, strict: bool = False) -> None:
    """Build a model without errors as a run without settings does, and report its problems."""
    if not reading.problems.errors:
        describe(reading.spec, {}, STEP, reading.source.folder, files, problems, strict=strict)
