"""Workspaces of the rigid-body core: allocation for steps and gradients of one mechanism."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.dynamics.detection.kernels.columns import DIRECTIONS, TOLD
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.kernels.gradients.tables import KEPT_COLUMNS, KEPT_ROWS, NODE1_COLUMNS, PATCH_COLUMNS
from cbsim.dynamics.kernels.tables import Model, Work

__all__ = ["Model", "Slopes", "Varying", "Work", "drifting", "slopes", "varying", "workspace"]


def workspace(model: Model) -> Work:
    """Allocate the workspace of one mechanism."""
    work = Work(
        np.zeros((len(model.link), c.LINK_WORK_COLUMNS)),
        np.zeros((model.blocks, 36)),
        np.zeros((len(model.fan), c.FANNED_COLUMNS)),
        np.zeros((len(model.contact_link), c.CONTACT_WORK_COLUMNS)),
        np.zeros((len(model.row_link), c.LIMIT_WORK_COLUMNS)),
        np.zeros((model.links, 13)),
        np.zeros((len(model.link), c.LINK_WORK_COLUMNS)),
    )
    whole = (model.link[:, c.FLAGS] & (c.FREE | c.LOOP_JOINT)) != 0
    for first in (
        c.LEFT,
        c.RIGHT,
    ):  # a floating base moves along the world's axes; the unknowns of a loop joint are its multipliers
        for link_work in (work.link_work, work.past):
            link_work[whole, first : first + 36] = np.eye(6).ravel()
    return work


class Slopes(NamedTuple):
    """Workspace of gradients; rows and columns as in `cbsim.dynamics.kernels.gradients.tables`."""

    seed: Floats  # (12 links, columns)
    carry: Floats  # (6 nodes, columns)
    missing: Floats
    answer: Floats
    row: Floats  # (12, columns)
    patch: Floats  # one row per node
    before: Floats  # one row per link
    span: Ints  # (links, 3)
    where: Ints  # (columns of a state)
    drift: Floats  # of contacts between colliders, as `cbsim.dynamics.detection.kernels.drift.find_contacts` has them
    mover: Ints
    kept: Floats


def slopes(model: Model, inputs: int, *, minimal: bool) -> Slopes:
    """Allocate the workspace of gradients of one mechanism with a number of inputs."""
    nodes = len(model.link)
    state = 2 * int(model.link[: model.links, c.DOF].sum()) if minimal else 12 * model.links
    columns = state + inputs
    return Slopes(
        np.zeros((12 * model.links, columns)),
        np.zeros((6 * nodes, columns)),
        np.zeros((6 * nodes, columns)),
        np.zeros((6 * nodes, columns)),
        np.zeros((12, columns)),
        np.zeros((nodes, PATCH_COLUMNS)),
        np.zeros((model.links, NODE1_COLUMNS)),
        np.zeros((model.links, 3), np.int64),
        np.zeros(state, np.int64),
        *drifting(0),
        np.zeros((KEPT_ROWS, KEPT_COLUMNS)),
    )


def drifting(contacts: int) -> tuple[Floats, Ints]:
    """Allocate the drifts of a number of contacts."""
    return np.zeros((contacts, DIRECTIONS * TOLD)), np.zeros((contacts, 2), np.int64)


class Varying(NamedTuple):
    """Workspace of gradients by parameters, as `Slopes`; node 2 does not move, so ``seed`` and ``span`` are 0."""

    seed: Floats
    carry: Floats
    missing: Floats
    answer: Floats
    row: Floats
    patch: Floats
    span: Ints
    where: Ints
    moved: Floats  # (3 links, columns) motion of bodies at node 3 with joints held
    x: Floats  # minimal state
    before: Floats
    drift: Floats
    mover: Ints
    kept: Floats


def varying(model: Model, columns: int) -> Varying:
    """Allocate the workspace of gradients of one mechanism by a number of parameters."""
    nodes, width = len(model.link), max(6, columns)
    return Varying(
        np.zeros((12 * model.links, width)),
        np.zeros((6 * nodes, width)),
        np.zeros((6 * nodes, width)),
        np.zeros((6 * nodes, width)),
        np.zeros((12, width)),
        np.zeros((nodes, PATCH_COLUMNS)),
        np.zeros((model.links, 3), np.int64),
        np.zeros(0, np.int64),
        np.zeros((3 * model.links, width)),
        np.zeros(2 * int(model.link[: model.links, c.DOF].sum())),
        np.zeros((model.links, NODE1_COLUMNS)),
        *drifting(0),
        np.zeros((KEPT_ROWS, KEPT_COLUMNS)),
    )
