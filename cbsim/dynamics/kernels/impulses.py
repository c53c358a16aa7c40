"""Impulses of contacts over a whole step, which may be made in several parts."""

from __future__ import annotations

from cbsim.dynamics.kernels.columns import ACTIVE, AXES, BOUNCES, FORCE, NORMAL2, TOTAL
from cbsim.dynamics.kernels.cones import friction
from cbsim.jit import inner

__all__ = ["add_impulses"]


@inner
def add_impulses(contact_link, contact, touch, is_first):
    """Add the impulses of the part of a step that was solved last to those of the parts before it."""
    for i in range(len(contact_link)):
        for k in range(3):
            if is_first:
                touch[i, TOTAL + k] = 0.0
            if touch[i, ACTIVE] != 0.0:
                first, second = friction(contact_link, contact, touch, i, FORCE)
                normal = touch[i, NORMAL2 + k] if touch[i, BOUNCES] != 0.0 else touch[i, AXES + k]
                touch[i, TOTAL + k] += (
                    touch[i, FORCE] * normal + first * touch[i, AXES + 3 + k] + second * touch[i, AXES + 6 + k]
                )
