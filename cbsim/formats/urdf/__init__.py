"""URDF, the robot description format of ROS, with Dojo's extensions: text ↔ `Robot`.

>>> from cbsim.errors import Problems
>>> from cbsim.formats.reader import Source
>>> text = '<robot name="r"><link name="a"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/>'
>>> text += "</inertial></link></robot>"
>>> robot = read(Source("r.urdf", text, text.encode()), Problems())
>>> robot.links[0].mass
2.0
"""

from __future__ import annotations

from cbsim.errors import Problems, did_you_mean
from cbsim.formats.reader import Source, read_xml
from cbsim.formats.urdf.elements import Part
from cbsim.formats.urdf.loose import mended
from cbsim.formats.urdf.reader import read_robot
from cbsim.formats.urdf.structure import check_structure
from cbsim.formats.urdf.writer import write
from cbsim.formats.values import quote
from cbsim.spec.urdf import Robot

__all__ = ["read", "write"]


def read(source: Source, problems: Problems) -> Robot | None:
    """Read a URDF file, collecting all problems.

    Returns
    -------
    Robot or None
        What could be read; None if it is not XML, or its root is not a ``robot``.
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
