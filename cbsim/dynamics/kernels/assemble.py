"""Assembly of the linear system of a step before factorization; entry point from Python."""

from __future__ import annotations

from cbsim.dynamics.kernels.columns import ACTIVE
from cbsim.dynamics.kernels.cones import scale
from cbsim.dynamics.kernels.contacts import stiffen
from cbsim.dynamics.kernels.newton import factorize_bodies
from cbsim.dynamics.kernels.rows import stiffen_row
from cbsim.jit import narrow

__all__ = ["assemble"]


@narrow
def assemble(model, work, touching, h):
    """Write the blocks of bodies, loop joints, rows and contacts at node 3 of the last solved step, of length h."""
    factorize_bodies(model.links, model.link, model.joint, work.link_work, work.block, model.loop_block, h)
    if touching:
        for i in range(len(model.row_link)):
            stiffen_row(
                model.link, model.joint, work.link_work, work.block, model.row_link, model.row, work.limit_work, i
            )
        for i in range(len(model.contact_link)):
            if work.contact_work[i, ACTIVE] != 0.0:
                scale(model.contact_link, work.contact_work, i)
                stiffen(model.contact_link, model.contact, work.contact_work, work.link_work, work.block, i, h)
