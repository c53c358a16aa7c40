"""Juice, walkers and vehicles of 2001–2004: text ↔ `JuiceModel` ↔ `MechanismSpec` and behaviour.

>>> from cbsim.errors import Problems
>>> from cbsim.formats.reader import Source
>>> text = '<Model FileVersion="1"><Bodies><Body><ID>1</ID><Mass>2</Mass></Body></Bodies></Model>'
>>> model = read(Source("box.jm", text, text.encode()), Problems())
>>> count(model)["degrees_of_freedom"]
6
"""

from __future__ import annotations

import math

from cbsim.errors import ModelError, Problems, did_you_mean
from cbsim.formats.juice.elements import Part
from cbsim.formats.juice.reader import read_model
from cbsim.formats.juice.structure import check_structure
from cbsim.formats.juice.unions import Unions
from cbsim.formats.juice.writer import write
from cbsim.formats.reader import Source, read_xml
from cbsim.formats.values import quote
from cbsim.spec.juice import JointKind, JuiceModel

__all__ = ["count", "read", "write"]

FREEDOMS = {JointKind.HINGE: 1, JointKind.SLIDER: 1, JointKind.BALL: 3}


def read(source: Source, problems: Problems) -> JuiceModel | None:
    """Read a Juice file, collecting every problem.

    Returns
    -------
    JuiceModel or None
        What could be read; None if it is not XML, its root is none of Juice's, or its version is not known.
    """
    root = read_xml(source, problems)
    if root is None:
        return None
    part = Part(root, source, problems)
    if part.tag not in ("Model", "JuiceFile"):
        hint = did_you_mean(part.tag, ("Model", "JuiceFile")) or "a Juice file begins with <Model>"
        part.error("E931", f"the root element is {quote(part.tag)}, not 'Model' or 'JuiceFile'", hint)
        return None
    model = read_model(part)
    if model is not None:
        check_structure(model, problems)
    return model


def count(spec: JuiceModel) -> dict[str, int | float]:
    """Count bodies and joints as they stand in the file, loops, degrees of freedom, and the mass of all bodies [kg].

    Joints to nothing count as joints, but close no loop and take no freedom.
    """
    return {
        "bodies": len(spec.bodies),
        "joints": len(spec.joints),
        "loops": _loops(spec),
        "degrees_of_freedom": _freedoms(spec),
        "mass": math.fsum(body.mass for body in spec.bodies),
    }


def _loops(spec: JuiceModel) -> int:
    """Count independent loops: joints that tie what others tie already."""
    tied = Unions()
    return sum(not tied.join(joint.body1, joint.body2) for joint in spec.sound_joints())


def _freedoms(spec: JuiceModel) -> int:
    """Count degrees of freedom; of a model with errors, as many as its bodies have less what its joints take."""
    from cbsim.formats.juice.build import mechanism_of
    from cbsim.spec.mechanism.mobility import degrees_of_freedom

    problems = Problems()
    check_structure(spec, problems)
    if spec.bodies and not problems.errors:
        try:
            return degrees_of_freedom(mechanism_of(spec))
        except ModelError:  # which a run tells
            pass
    return max(0, 6 * len(spec.bodies) - sum(6 - FREEDOMS[joint.kind] for joint in spec.sound_joints()))
