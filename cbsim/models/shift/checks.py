"""Checks and counts of Shift models that need building."""

from __future__ import annotations

import math

from cbsim.errors import ModelError, Problems
from cbsim.formats import Reading
from cbsim.models.shift.assembly import assemble, mobility
from cbsim.models.shift.drivers import check_forces
from cbsim.models.shift.external_references import check_named
from cbsim.models.shift.network import network_of
from cbsim.paths import Files
from cbsim.spec.shift.model import ShiftModel

__all__ = ["check", "count", "lint"]


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


def count(spec: ShiftModel) -> dict[str, int | float]:
    """Count bodies and joints as written in the file; loops, degrees of freedom and mass [kg] of what is active."""
    assemblies = [assembly for _, assembly in spec.walk()]
    assembled = assemble(spec, Problems())
    network = network_of(spec, Problems()) if assembled is None else assembled.network
    return {
        "bodies": sum(len(assembly.bodies) for assembly in assemblies),
        "joints": sum(len(assembly.joints) for assembly in assemblies),
        "loops": len(assembled.tree.chords) if assembled else 0,
        "degrees_of_freedom": mobility(assembled) if assembled else sum(t.joint.freedoms for t in network.ties),
        "mass": math.fsum(link.body.mass for link in network.links),
    }
