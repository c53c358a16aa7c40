"""Tables of a mechanism for kernels: constants, the workspace of a step, and what a step is given."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from cbsim.arrays import Floats, Ints
from cbsim.dynamics.kernels import columns as c

__all__ = ["Loads", "Model", "Options", "Work"]


class Model(NamedTuple):
    """Constants of a mechanism; rows and columns are those of `cbsim.dynamics.kernels.columns`."""

    links: int  # rows of `link` that are links; the rest are loop joints
    link: Annotated[Ints, (c.LINK_COLUMNS,)]
    joint: Annotated[Floats, (c.JOINT_COLUMNS,)]
    loop_block: Annotated[Ints, (4,)]  # of loop joints: blocks (j, child), (j, parent), (child, j), (parent, j)
    program: Annotated[Ints, (5,)]
    fan: Annotated[Ints, (5,)]
    pair: Annotated[Ints, (3,)]
    blocks: int
    contact_link: Annotated[Ints, (c.CONTACT_LINK_COLUMNS,)]
    contact: Annotated[Floats, (c.CONTACT_COLUMNS,)]
    row_link: Annotated[Ints, (c.ROW_LINK_COLUMNS,)]
    row: Annotated[Floats, (c.ROW_COLUMNS,)]


class Work(NamedTuple):
    """Workspace of a step; its contents are valid within the step, except impulses that warm-start the next one."""

    link_work: Annotated[Floats, (c.LINK_WORK_COLUMNS,)]
    block: Annotated[Floats, (36,)]
    fanned: Annotated[Floats, (c.FANNED_COLUMNS,)]
    contact_work: Annotated[Floats, (c.CONTACT_WORK_COLUMNS,)]
    limit_work: Annotated[Floats, (c.LIMIT_WORK_COLUMNS,)]
    # the state before a step, a row for each link, for repeated attempts
    spare: Annotated[Floats, (c.STATE_COLUMNS,)]
    # link workspace that converts velocities of parts of a step to those of a whole one
    past: Annotated[Floats, (c.LINK_WORK_COLUMNS,)]


class Loads(NamedTuple):
    """What acts on a mechanism in a step, besides gravity and its own springs and dampers."""

    inputs: Floats  # (nu,)
    external: Annotated[Floats, (6,)]  # of bodies: force and torque about the centre of mass, in the body's frame


class Options(NamedTuple):
    """Settings of the solver, with the step's length and gravity; columns as in `cbsim.dynamics.kernels.columns`."""

    settings: Floats
    counts: Ints
    ends: bool  # whether steps end at node 3, else they are solved only
