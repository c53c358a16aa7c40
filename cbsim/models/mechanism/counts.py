"""Counts of a saved mechanism for ``cbsim info``: bodies, joints, loops, degrees of freedom, mass."""

from __future__ import annotations

import math

from cbsim.errors import ModelError
from cbsim.spec.mechanism.mobility import degrees_of_freedom
from cbsim.spec.mechanism.stored import StoredMechanism

__all__ = ["count"]


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
