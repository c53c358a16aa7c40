"""The linear system of a step as one dense matrix."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cbsim.arrays import Floats
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.kernels.assemble import assemble
from cbsim.dynamics.model import Model, Work
from cbsim.errors import ModelError
from cbsim.geometry.linear import times
from cbsim.multibody.mechanism import Mechanism

__all__ = ["full_matrix"]

ON_JOINT = c.DAMPED | c.ROWED  # flags of links whose joint adds to their slope


def full_matrix(mechanism: Mechanism) -> Floats:
    """Assemble the matrix of the linear system that the solver factors, at the end of the last solve on the own state.

    That is the derivative of what the equations along the joints' free directions miss [N s, N m s] by increments of
    the joints at the end of the step [m, rad]. Impulses of contacts, bounds and drives are taken out of the system
    beforehand, so their answer is in it; a joint that closes a loop adds its constrained directions: rows are gaps
    [m, rad], columns its multipliers.

    Returns
    -------
    ndarray, shape (n, n)
        Joints in the order of `Mechanism.root_to_leaves`, in each its free directions (of a floating base the axes of
        the world; a rotation about several axes counts in rotations about them), then the constrained directions of
        joints that close loops. n is the number of degrees of freedom of the tree and of constraints of loops.

    Raises
    ------
    ModelError
        If nothing has been solved on the own state (`mehrotra` does), if it was set since, or if the step had to be
        made in parts, of which none is the step.

    Examples
    --------
    >>> from cbsim.multibody import full_matrix, gallery, mehrotra
    >>> slider = gallery.slider(timestep=0.01)  # of 1 kg
    >>> mehrotra(slider)
    'success'
    >>> full_matrix(slider).round(6).tolist()
    [[100.0]]
    """
    if not isinstance(mechanism, Mechanism):
        raise ModelError(f"{mechanism!r} is no Mechanism", subject="full_matrix")
    if not mechanism.report[c.ITERATIONS]:
        raise ModelError("nothing has been solved on its own state yet: mehrotra and simulate do", subject="mechanism")
    model, work = mechanism.workspaces.last_solved()
    if (work.link_work[: model.links, c.X2 : c.X2 + 3] != mechanism.pose[model.link[: model.links, c.BODY], :3]).any():
        text = "its own state was set since the last solve, or that was made in parts: there is no matrix of the step"
        raise ModelError(text, subject="mechanism")
    assemble(model, work, mechanism.touching, mechanism.timestep)
    left, right = _motions(model, work, c.LEFT, c.ARM2), _motions(model, work, c.RIGHT, c.ARM3)
    bodies = np.zeros((6 * len(model.link),) * 2)
    for one, other, block in _blocks(model, work):
        bodies[6 * one : 6 * one + 6, 6 * other : 6 * other + 6] = work.block[block].reshape(6, 6)
    out = np.array(times(times(left.T, bodies), right))
    first = 0
    for b, link in enumerate(model.link):
        dof = int(link[c.DOF])
        if link[c.FLAGS] & ON_JOINT and not link[c.FLAGS] & (c.FREE | c.LOOP_JOINT):
            own = work.link_work[b, c.LOCAL : c.LOCAL + 36].reshape(6, 6)[:dof, :dof]
            out[first : first + dof, first : first + dof] += own
        first += dof
    return out


def _motions(model: Model, work: Work, base: int, arm: int) -> Floats:
    """Motions (6 nodes, n) of all nodes by those of the joints."""
    nodes = len(model.link)
    out = np.zeros((6 * nodes, int(model.link[:, c.DOF].sum())))
    first = 0
    for b, link in enumerate(model.link):
        dof, up, own = int(link[c.DOF]), int(link[c.UP]), slice(6 * b, 6 * b + 6)
        if up >= 0:  # carried along, rigidly
            x, y, z = work.link_work[b, arm : arm + 3]
            out[own] = out[6 * up : 6 * up + 6]
            turn = out[6 * up + 3 : 6 * up + 6]
            out[6 * b : 6 * b + 3] += times(np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]), turn)
        out[own, first : first + dof] = work.link_work[b, base : base + 6 * dof].reshape(dof, 6).T
        first += dof
    return out


def _blocks(model: Model, work: Work) -> Iterator[tuple[int, int, int]]:
    """Yield the blocks of the system as (node of the row, node of the column, block)."""
    for b in range(len(model.link)):
        yield b, b, b
    for k, blocks in enumerate(model.loop_block.tolist()):
        loop_joint = model.links + k
        child, parent = (int(model.link[loop_joint, column]) for column in (c.CHILD, c.PARENT))
        for (one, other), block in zip(
            ((loop_joint, child), (loop_joint, parent), (child, loop_joint), (parent, loop_joint)), blocks, strict=True
        ):
            if min(one, other) >= 0 and block >= 0:
                yield one, other, block
    for i, row in enumerate(model.contact_link.tolist()):
        if row[c.OTHER] >= 0 and work.contact_work[i, c.ACTIVE]:
            yield row[c.ONE], row[c.OTHER], row[c.ONE_OTHER]
            yield row[c.OTHER], row[c.ONE], row[c.OTHER_ONE]
    for row in model.row_link.tolist():
        link = model.link[row[c.ROW_LINK]]
        if row[c.ROW_LINK] >= model.links and link[c.PARENT] >= 0:
            yield int(link[c.CHILD]), int(link[c.PARENT]), row[c.ROW_OUT]
            yield int(link[c.PARENT]), int(link[c.CHILD]), row[c.ROW_BACK]
