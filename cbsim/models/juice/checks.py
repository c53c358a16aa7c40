"""Checks and counts of Juice models that need building."""

from __future__ import annotations

import math

from networkx.utils import UnionFind

from cbsim.errors import ModelError, Problems
from cbsim.formats import Reading
from cbsim.formats.juice.structure import check_structure
from cbsim.models.juice.build import mechanism_of
from cbsim.models.juice.description import describe
from cbsim.paths import Files
from cbsim.spec.juice import JointKind, JuiceModel
from cbsim.spec.mechanism.mobility import degrees_of_freedom

__all__ = ["count", "lint"]

STEP = 0.01  # [s] of a run that does not say another
FREEDOMS = {JointKind.HINGE: 1, JointKind.SLIDER: 1, JointKind.BALL: 3}


def lint(reading: Reading, files: Files, problems: Problems, *, strict: bool = False) -> None:
    """Build a model without errors as a run without settings does, and report its problems."""
    if not reading.problems.errors:
        describe(reading.spec, {}, STEP, reading.source.folder, files, problems, strict=strict)


def count(spec: JuiceModel) -> dict[str, int | float]:
    """Count bodies and joints as written in the file, loops, degrees of freedom, and the mass of all bodies [kg].

    Joints to missing bodies count as joints, but close no loop and remove no freedom.
    """
    return {
        "bodies": len(spec.bodies),
        "joints": len(spec.joints),
        "loops": _loops(spec),
        "degrees_of_freedom": _freedoms(spec),
        "mass": math.fsum(body.mass for body in spec.bodies),
    }


def _loops(spec: JuiceModel) -> int:
    """Count independent loops: joints between bodies that others connect already."""
    tied: UnionFind[int] = UnionFind()
    loops = 0
    for joint in spec.sound_joints():
        loops += tied[joint.body1] == tied[joint.body2]
        tied.union(joint.body1, joint.body2)
    return loops


def _freedoms(spec: JuiceModel) -> int:
    """Count degrees of freedom; of a model with errors, as many as its bodies have less what its joints take."""
    problems = Problems()
    check_structure(spec, problems)
    if spec.bodies and not problems.errors:
        try:
            return degrees_of_freedom(mechanism_of(spec))
        except ModelError:  # which a run tells
            pass
    return max(0, 6 * len(spec.bodies) - sum(6 - FREEDOMS[joint.kind] for joint in spec.sound_joints()))
