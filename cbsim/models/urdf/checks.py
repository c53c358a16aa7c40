"""Checks and counts of robots that need their mesh files or building."""

from __future__ import annotations

import math

from cbsim.errors import ModelError, Problems
from cbsim.formats import Reading
from cbsim.formats.urdf.structure import check_structure
from cbsim.models.urdf.build import mechanism_of
from cbsim.models.urdf.meshes import read_meshes
from cbsim.paths import Files
from cbsim.spec.mechanism.joints import PROTOTYPES
from cbsim.spec.mechanism.mobility import degrees_of_freedom
from cbsim.spec.urdf import JOINT_TYPES, Robot

__all__ = ["count", "lint"]


def lint(reading: Reading, files: Files, problems: Problems, *, strict: bool = False) -> None:
    """Find and read the mesh files of a robot."""
    read_meshes(reading.spec, reading.source.folder, files, problems, strict=strict)


def count(spec: Robot) -> dict[str, int | float]:
    """Count links, joints and loops as written in the file, degrees of freedom, and the mass of all links [kg].

    A root that nothing holds adds its six freedoms (`cbsim.models.urdf.build`).
    """
    return {
        "bodies": len(spec.links),
        "joints": len(spec.joints) + len(spec.loops),
        "loops": len(spec.loops),
        "degrees_of_freedom": _freedoms(spec),
        "mass": math.fsum(link.mass for link in spec.links),
    }


def _freedoms(spec: Robot) -> int:
    """Count degrees of freedom; of a robot with errors, those of its joints."""
    problems, links = Problems(), {link.name for link in spec.links}
    check_structure(spec, problems)
    ends = {end for joint in spec.joints for end in (joint.parent, joint.child)}
    ends |= {end for loop in spec.loops for end in (loop.link1, loop.link2)}
    if not problems.errors and ends <= links:  # an end that is missing has been reported where it was read
        try:
            return degrees_of_freedom(mechanism_of(spec))
        except ModelError:  # which a run tells
            pass
    return sum(sum(PROTOTYPES[JOINT_TYPES[joint.type]]) for joint in spec.joints)
