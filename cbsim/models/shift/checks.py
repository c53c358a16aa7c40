"""Checks of Shift models that need building."""

from __future__ import annotations

from cbsim.errors import ModelError, Problems
from cbsim.formats import Reading
from cbsim.models.shift.assembly import assemble
from cbsim.models.shift.drivers import check_forces
from cbsim.models.shift.external_references import check_named
from cbsim.paths import Files
from cbsim.spec.shift.model import ShiftModel

__all__ = ["check", "lint"]


def check(model: ShiftModel, problems: Problems) -> None:
    """Check names, loops and forces of a model whose file has no other errors."""
    if problems.errors:
        return
    assembled = assemble(model, problems)
    if assembled is None:
        return
    try:
        check_forces(assembled, problems)
    except ModelError as error:  # of a body that the core refuses
        problems.error("E990", str(error), model.location)


def lint(reading: Reading, files: Files, problems: Problems, *, strict: bool = False) -> None:
    """Check the external references of a model: meshes, terrain, tyres and lights."""
    check_named(reading.spec, reading.source.folder, files, problems, strict=strict)
