"""Mechanisms as `cbsim.multibody` saves them: JSON that keeps every bit ↔ `StoredMechanism`.

>>> from cbsim.errors import Problems
>>> from cbsim.formats.reader import Source
>>> text = '{"cbsim_mechanism": 1, "bodies": [{"name": "a", "mass": 2, "inertia": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}], '
>>> text += '"joints": [{"name": "base", "parent": "origin", "child": "a", '
>>> text += '"translational": {"free": 3}, "rotational": {"free": 3}}]}'
>>> count(read(Source("a.json", text, text.encode()), Problems()))["degrees_of_freedom"]
6
"""

from __future__ import annotations

import math

from cbsim.errors import ModelError, Problems
from cbsim.formats.json_tree import parse
from cbsim.formats.mechanism.reader import read_mechanism
from cbsim.formats.mechanism.writer import write
from cbsim.formats.reader import Source
from cbsim.spec.mechanism.mobility import degrees_of_freedom
from cbsim.spec.mechanism.stored import StoredMechanism

__all__ = ["count", "read", "write"]


def read(source: Source, problems: Problems) -> StoredMechanism | None:
    """Read a mechanism, collecting every problem.

    Returns
    -------
    StoredMechanism or None
        None if it has an error.
    """
    root = parse(source, problems)
    return None if root is None else read_mechanism(root, problems)


def count(spec: StoredMechanism) -> dict[str, int | float]:
    """Count bodies, joints, loops and degrees of freedom, and the mass of all bodies [kg]."""
    mechanism = spec.spec
    try:
        freedoms = degrees_of_freedom(mechanism)
    except ModelError:  # which a run tells
        freedoms = sum(joint.dof for joint in mechanism.joints)
    return {
        "bodies": len(mechanism.bodies),
        "joints": len(mechanism.joints),
        "loops": max(0, len(mechanism.joints) - len(mechanism.bodies)),
        "degrees_of_freedom": freedoms,
        "mass": math.fsum(body.mass for body in mechanism.bodies),
    }
