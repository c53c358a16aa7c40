"""Counts of a Shift model for ``cbsim info``: bodies, joints, loops, degrees of freedom, mass."""

from __future__ import annotations

import math

from cbsim.errors import Problems
from cbsim.models.shift.assembly import assemble, mobility
from cbsim.models.shift.network import network_of
from cbsim.spec.shift.model import ShiftModel

__all__ = ["count"]


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
