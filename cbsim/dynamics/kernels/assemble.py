"""The linear system of a step as it is before it is factored: the door for Python."""

from __future__ import annotations

from cbsim.dynamics.kernels.columns import ACTIVE
from cbsim.dynamics.kernels.cones import scale
from cbsim.dynamics.kernels.rows import stiffen_row
from cbsim.dynamics.kernels.smooth import direct_bodies
from cbsim.dynamics.kernels.touching import stiffen
from cbsim.jit import narrow

__all__ = ["assemble"]


@narrow
def assemble(model, work, touching, h):
    """Write the blocks of bodies, chords, rows and contacts at node 3 of the step of length h that was solved last."""
    direct_bodies(model.links, model.link, model.joint, work.arena, work.block, model.chord_block, h)
    if touching:
        for i in range(len(model.row_link)):
            stiffen_row(model.link, model.joint, work.arena, work.block, model.row_link, model.row, work.hold, i)
        for i in range(len(model.contact_link)):
            if work.touch[i, ACTIVE] != 0.0:
                scale(model.contact_link, work.touch, i)
                stiffen(model.contact_link, model.contact, work.touch, work.arena, work.block, i, h)
