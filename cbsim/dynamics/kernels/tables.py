"""Tables of a mechanism for kernels: constants, the workspace of a step, and what a step is given."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Loads", "Model", "Options", "Work"]

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


class Model(NamedTuple):
    """Constants of a mechanism; rows and columns are those of `cbsim.dynamics.kernels.columns`."""

    links: int  # rows of `link` that are links; the rest are loop joints
    link: Whole
    joint: Floats
    loop_block: Whole  # (loop joints, 4): blocks (j, child), (j, parent), (child, j), (parent, j)
    program: Whole
    fan: Whole
    pair: Whole
    blocks: int
    contact_link: Whole
    contact: Floats
    row_link: Whole
    row: Floats


class Work(NamedTuple):
    """Workspace of a step; its contents are valid within the step, except impulses that warm-start the next one."""

    link_work: Floats
    block: Floats
    fanned: Floats
    contact_work: Floats
    limit_work: Floats
    spare: Floats  # (links, 13) the state before a step, for repeated attempts
    past: Floats  # link workspace that converts velocities of parts of a step to those of a whole one


class Loads(NamedTuple):
    """What acts on a mechanism in a step, besides gravity and its own springs and dampers."""

    inputs: Floats  # (nu,)
    external: Floats  # (bodies, 6) force and torque about the centre of mass, in the body's frame


class Options(NamedTuple):
    """Settings of the solver, with the step's length and gravity; columns as in `cbsim.dynamics.kernels.columns`."""

    settings: Floats
    counts: Whole
    ends: bool  # whether steps end at node 3, else they are solved only
