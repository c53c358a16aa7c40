"""URDF, the robot description format of ROS, with Dojo's extensions: text ↔ `Robot` ↔ `MechanismSpec`.

>>> from cbsim.errors import Problems
>>> from cbsim.formats.reader import Source
>>> text = '<robot name="r"><link name="a"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/>'
>>> text += "</inertial></link></robot>"
>>> robot = read(Source("r.urdf", text, text.encode()), Problems())
>>> count(robot)["degrees_of_freedom"]
6
"""

from __future__ import annotations

import math

from cbsim.errors import ModelError, Problems, did_you_mean
from cbsim.formats.reader import Source, read_xml
from cbsim.formats.urdf.elements import Part
from cbsim.formats.urdf.loose import mended
from cbsim.formats.urdf.reader import read_robot
from cbsim.formats.urdf.structure import check_structure
from cbsim.formats.urdf.writer import write
from cbsim.formats.values import quote
from cbsim.spec.mechanism.joints import PROTOTYPES
from cbsim.spec.urdf import JOINT_TYPES, Robot

__all__ = ["count", "read", "write"]


def read(source: Source, problems: Problems) -> Robot | None:
    """Read a URDF file, collecting every problem.

    Returns
    -------
    Robot or None
        What could be read; None if it is not XML, or its root is no ``robot``.
    """
    first = Problems()
    root = read_xml(source, first)
    if root is None and (mended_source := mended(source, problems)) is not source:
        first = Problems()
        root = read_xml(mended_source, first)
    problems.extend(first)
    if root is None:
        return None
    part = Part(root, source, "", problems)
    if part.tag != "robot":
        hint = did_you_mean(part.tag, ("robot",)) or "a URDF file begins with <robot>"
        part.error("E901", f"the root element is {quote(part.tag)}, not 'robot'", hint)
        return None
    robot = read_robot(part)
    check_structure(robot, problems)
    return robot


def count(spec: Robot) -> dict[str, int | float]:
    """Count links, joints and loops as they stand in the file, degrees of freedom, and the mass of all links [kg].

    A root that nothing holds adds its six freedoms (`cbsim.formats.urdf.build`).
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
    from cbsim.formats.urdf.build import mechanism_of
    from cbsim.spec.mechanism.mobility import degrees_of_freedom

    problems, links = Problems(), {link.name for link in spec.links}
    check_structure(spec, problems)
    ends = {end for joint in spec.joints for end in (joint.parent, joint.child)}
    ends |= {end for loop in spec.loops for end in (loop.link1, loop.link2)}
    if not problems.errors and ends <= links:  # an end that is missing has been told where it was read
        try:
            return degrees_of_freedom(mechanism_of(spec))
        except ModelError:  # which a run tells
            pass
    return sum(sum(PROTOTYPES[JOINT_TYPES[joint.type]]) for joint in spec.joints)
