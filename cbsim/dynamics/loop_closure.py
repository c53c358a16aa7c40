"""Closure of loops: gaps of a state, search for a closed state, mobility."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.dynamics.compile import Compiled
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.kernels.minimal import minimal_to_maximal
from cbsim.errors import ModelError
from cbsim.geometry import elementary as math
from cbsim.geometry.linear import lstsq, matrix_rank, times
from cbsim.geometry.pose import conjugate, multiply, rotate
from cbsim.spec.mechanism.description import MechanismSpec

__all__ = ["CLOSED", "check_mobility", "check_start", "close", "violations"]

CLOSED = 1e-9  # largest gap of a closed loop [m, half rad]
TRIES = 24  # starts of the search for a closed state


class _Loops(NamedTuple):
    """Gaps of a mechanism's loops as functions of the tree's coordinates."""

    compiled: Compiled
    slots: Ints  # indices of coordinates in a minimal state

    def gaps(self, coordinates: Floats) -> Floats:
        """Gaps of all constrained directions of loop joints, one after another."""
        model = self.compiled.model
        x = np.zeros(2 * len(self.slots))
        x[self.slots] = coordinates
        z = np.zeros((model.links, 13))
        minimal_to_maximal(model.links, model.link, model.joint, x, 1.0, z)
        return np.concatenate(gaps(self.compiled, z))

    def slope(self, coordinates: Floats) -> Floats:
        """Jacobian of the gaps by finite differences, accurate to 1e-9."""
        out = np.zeros((len(self.gaps(coordinates)), len(coordinates)))
        for k, e in enumerate(1e-6 * np.eye(len(coordinates))):
            out[:, k] = (self.gaps(coordinates + e) - self.gaps(coordinates - e)) / 2e-6
        return out


def violations(compiled: Compiled, z: Floats) -> Floats:
    """Violations of constrained directions in a maximal state (bodies, 13): (rows of the model, 6).

    Three translations [m], three rotations [half rad]; free directions have zeros.
    """
    model = compiled.model
    link, joint = model.link, model.joint
    child = z[link[link[:, c.CHILD], c.BODY]]
    world = np.zeros(13)
    world[6] = 1.0
    held = link[:, c.PARENT] >= 0
    parent = np.where(held[:, None], z[link[link[:, c.PARENT], c.BODY]], world)
    back = conjugate(parent[:, 6:10])
    point = child[:, :3] + rotate(child[:, 6:10], joint[:, c.CHILD_VERTEX : c.CHILD_VERTEX + 3])
    apart = rotate(back, point - parent[:, :3]) - joint[:, c.PARENT_VERTEX : c.PARENT_VERTEX + 3]
    offset = conjugate(joint[:, c.ORIENTATION : c.ORIENTATION + 4])
    turned = multiply(offset, multiply(back, child[:, 6:10]))[:, 1:]
    out = np.zeros((len(link), 6))
    for vector, axes, free, first in ((apart, c.SLIDE_AXES, c.N_TRANS, 0), (turned, c.TURN_AXES, c.N_ROT, 3)):
        along = np.einsum("nij,nj->ni", joint[:, axes : axes + 9].reshape(-1, 3, 3), vector)
        out[:, first : first + 3] = np.where(np.arange(3) < link[:, free, None], 0.0, along)
    return out


def gaps(compiled: Compiled, z: Floats) -> list[Floats]:
    """Violations of each loop joint's constrained directions in a maximal state."""
    model = compiled.model
    rows = violations(compiled, z)[model.links :]
    link = model.link[model.links :]
    return [np.concatenate([r[t[c.N_TRANS] : 3], r[3 + t[c.N_ROT] :]]) for r, t in zip(rows, link, strict=True)]


def check_start(spec: MechanismSpec, compiled: Compiled, z: Floats) -> None:
    """Check a maximal start state: loops must be closed and joints satisfied."""
    worst = np.abs(violations(compiled, z)).max(axis=1)
    links = compiled.model.links
    row = links + int(worst[links:].argmax()) if len(worst) > links else 0
    text = "closes a loop that is open by {:.3g} m or half rad in this state: close_loops closes it"
    if row < links or worst[row] <= 1e-4:
        row = int(worst[:links].argmax())
        text = "is violated by {:.3g} m or half rad in this state: minimal_to_maximal puts bodies where joints are"
        if not worst[row] > 1e-2:
            return
    raise ModelError(text.format(worst[row]), subject=f"joint '{spec.joints[compiled.rows[row]].name}'")


def _loops(spec: MechanismSpec, compiled: Compiled) -> _Loops:
    slots: list[int] = []
    first = 0
    for j in compiled.spanning.links:
        slots += range(first, first + spec.joints[j].dof)
        first += 2 * spec.joints[j].dof
    return _Loops(compiled, np.array(slots, np.int64))


def close(spec: MechanismSpec, compiled: Compiled, x: Floats, *, closed: float = CLOSED) -> Floats:
    """Find a minimal state with closed loops, starting from one where they may be open; velocities are kept.

    Gauss–Newton method with steps of least norm, from the state itself, then from random ones, the same in every run.
    Loops count as closed with gaps below ``closed`` [m, half rad].

    Raises
    ------
    ModelError
        If none is found: the loop cannot close.
    """
    loops = _loops(spec, compiled)
    start = x[loops.slots]
    random = np.random.Generator(np.random.Philox(0))
    best, left = start, np.inf
    for attempt in range(TRIES):
        at = start if attempt == 0 else start + random.uniform(-1.0, 1.0, len(start)) * min(np.pi, 0.2 * attempt)
        at, gap = _descend(loops, at)
        if gap < left:
            best, left = at, gap
        if left < closed:
            out = x.copy()
            out[loops.slots] = best
            return out
    stays = loops.gaps(best)
    counts = [6 - spec.joints[j].dof for j in compiled.spanning.loop_joints]
    owner = np.repeat(compiled.spanning.loop_joints, counts)[int(np.abs(stays).argmax())]
    raise ModelError(
        f"closes a loop that cannot be closed: it stays open by {left:.3g} m or half rad",
        subject=f"joint '{spec.joints[owner].name}'",
    )


def _descend(loops: _Loops, at: Floats) -> tuple[Floats, float]:
    """Newton's method with steps halved until the gap decreases."""
    gap = loops.gaps(at)
    for _ in range(50):
        if np.abs(gap).max(initial=0.0) < 1e-13:
            break
        if not len(at):
            break
        way = lstsq(loops.slope(at), -gap, rcond=1e-9)
        way *= min(1.0, 1.0 / max(1e-12, float(np.abs(way).max(initial=0.0))))
        for halving in range(12):
            trial = loops.gaps(at + way * math.ldexp(1.0, -halving))
            if times(trial, trial) < times(gap, gap):
                break
        else:
            break
        at, gap = at + way * math.ldexp(1.0, -halving), trial
    return at, float(np.abs(gap).max(initial=0.0))


def check_mobility(spec: MechanismSpec, compiled: Compiled, x: Floats) -> None:
    """Check that loops leave a degree of freedom.

    Redundant rows are allowed while something can move: a plane loop of five revolutes has three redundant rows and
    two degrees of freedom.
    """
    loops = _loops(spec, compiled)
    coordinates = x[loops.slots]
    slope = loops.slope(coordinates)
    first = 0
    for j in compiled.spanning.loop_joints:
        count = 6 - spec.joints[j].dof
        rows = slope[first : first + count]
        first += count
        inside = _around(spec, compiled, j)
        freedoms = sum(spec.joints[i].dof for i in inside)
        columns = [k for k, i in enumerate(_owners(spec, compiled)) if i in inside]
        rank = matrix_rank(rows[:, columns], tol=1e-6) if columns else 0
        if count > freedoms and rank == freedoms:
            joint = spec.joints[j]
            raise ModelError(
                f"{joint.prototype} between '{joint.parent.name}' and '{joint.child.name}' adds {count} constraints "
                f"to bodies that have {freedoms} freedoms left: nothing could move",
                subject=f"joint '{joint.name}'",
            )


def _owners(spec: MechanismSpec, compiled: Compiled) -> list[int]:
    """Tree joint of every coordinate."""
    return [j for j in compiled.spanning.links for _ in range(spec.joints[j].dof)]


def _around(spec: MechanismSpec, compiled: Compiled, loop_joint: int) -> set[int]:
    """Tree joints of the loop that a loop joint closes."""
    carrier = {spec.joints[j].child: j for j in compiled.spanning.links}
    ways: list[set[int]] = []
    for end in (spec.joints[loop_joint].parent, spec.joints[loop_joint].child):
        way, at = set(), end
        while at in carrier:
            way.add(carrier[at])
            at = spec.joints[carrier[at]].parent
        ways.append(way)
    return ways[0] ^ ways[1]
