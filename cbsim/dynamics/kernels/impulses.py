"""Sums of contact impulses over a step made in several parts."""

from __future__ import annotations

from cbsim.dynamics.kernels.columns import ACTIVE, AXES, BOUNCES, FORCE, NORMAL2, TOTAL
from cbsim.dynamics.kernels.cones import friction
from cbsim.jit import inner

__all__ = ["add_impulses"]


@inner
def add_impulses(contact_link, contact, contact_work, is_first):
    """Add the impulses of the last solved part of a step to those of the parts before it."""
    for i in range(len(contact_link)):
        for k in range(3):
            if is_first:
                contact_work[i, TOTAL + k] = 0.0
            if contact_work[i, ACTIVE] != 0.0:
                first, second = friction(contact_link, contact, contact_work, i, FORCE)
                # a rebound acts along the normal of node 2, all else along the axes of node 3
                normal = contact_work[i, NORMAL2 + k] if contact_work[i, BOUNCES] != 0.0 else contact_work[i, AXES + k]
                contact_work[i, TOTAL + k] += (
                    contact_work[i, FORCE] * normal
                    + first * contact_work[i, AXES + 3 + k]
                    + second * contact_work[i, AXES + 6 + k]
                )
