"""Mobility of a mechanism: degrees of freedom of its tree, less the independent constraints of its loops.

Counting rows (Grübler) is wrong with redundant rows, as in every planar loop. So the rank of the loops' Jacobian is
computed at generic closed poses; at singular ones, such as a folded four-bar linkage, it would be too small.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry import elementary as math
from cbsim.geometry.linear import lstsq, norm, svdvals, times
from cbsim.geometry.pose import conjugate, multiply, rotate
from cbsim.spec.mechanism.bodies import Body, Origin
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.joints import JointConstraint

__all__ = ["degrees_of_freedom"]

TRIES = 4  # poses that are evaluated
SPREAD = 0.3  # [m, rad] how far coordinates are moved from zero
CLOSED = 1e-9  # [m, half rad]
RANK = 1e-6  # least relative singular value that counts
LEAST = 1e-3  # least scale of it: finite differences have errors of 1e-10

Place = tuple[Floats, Floats]
HERE: Place = (np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))
MOST = 200_000  # products of coordinates and bodies beyond which rows are counted, as ranks would take minutes
MOST_WORK = 10_000_000  # the same of coordinates, rows of loops, and the fewer of both


class _Chain(NamedTuple):
    """Joints of the tree, parents first, with the indices of their coordinates; loop joints."""

    links: list[tuple[JointConstraint, int]]
    chords: list[JointConstraint]
    size: int

    @property
    def looped(self) -> _Chain:
        """What moves one end of a loop against the other: the rest does not change its gap, and takes time."""
        lead: dict[Body | Origin, int] = {joint.child: n for n, (joint, _) in enumerate(self.links)}
        kept: set[int] = set()
        for chord in self.chords:
            apart = set[int]()
            for end in (chord.parent, chord.child):
                body, way = end, set[int]()
                while body in lead:
                    way.add(lead[body])
                    body = self.links[lead[body]][0].parent
                apart ^= way
            kept |= apart
        links, size = [], 0
        for number in sorted(kept):
            links.append((self.links[number][0], size))
            size += self.links[number][0].dof
        return _Chain(links, self.chords, size)


def degrees_of_freedom(spec: MechanismSpec) -> int:
    """Count the degrees of freedom of a mechanism; a body that no joint leads to from the origin has none.

    >>> from cbsim.spec.mechanism.prototypes import Floating, Revolute
    >>> from cbsim.spec.mechanism.shapes import Sphere
    >>> origin, ball, tail = Origin(), Sphere(1.0, mass=1.0).body(), Sphere(1.0, mass=1.0).body()
    >>> joints = [Floating(origin, ball), Revolute(ball, tail, (1, 0, 0))]
    >>> degrees_of_freedom(MechanismSpec(origin, [ball, tail], joints))
    7
    """
    chain = _chain(spec)
    if not chain.chords:
        return chain.size
    if not chain.size:
        return 0
    rows = sum(6 - joint.dof for joint in chain.chords)
    work = chain.size * rows * min(chain.size, rows)
    if chain.size * (len(chain.links) + len(chain.chords)) > MOST or work > MOST_WORK:
        return max(0, chain.size - rows)
    looped = chain.looped
    random = np.random.Generator(np.random.Philox(0))
    places, gaps = _close(looped, random.uniform(-SPREAD, SPREAD, (TRIES, looped.size)))
    ranks = []
    for slope in _slopes(looped, places)[1]:
        values = svdvals(slope)
        ranks.append(int((values > RANK * max(values[0], LEAST)).sum()) if len(values) else 0)
    closed = gaps < CLOSED
    return chain.size - max(rank for rank, counts in zip(ranks, closed | ~closed.any(), strict=True) if counts)


def _chain(spec: MechanismSpec) -> _Chain:
    """Choose for each body the first joint by which a traversal from the origin reaches it."""
    leads: dict[object, list[JointConstraint]] = {}
    for joint in spec.joints:
        leads.setdefault(joint.parent, []).append(joint)
    links: list[tuple[JointConstraint, int]] = []
    carried: dict[object, JointConstraint] = {}
    waiting: deque[Body | Origin] = deque([spec.origin])
    size = 0
    while waiting:
        for joint in leads.get(waiting.popleft(), []):
            if joint.child not in carried:
                carried[joint.child] = joint
                links.append((joint, size))
                size += joint.dof
                waiting.append(joint.child)
    reached = {spec.origin, *carried}
    rest = (joint for joint in spec.joints if carried.get(joint.child) is not joint)
    return _Chain(links, [joint for joint in rest if {joint.parent, joint.child} <= reached], size)


def _places(chain: _Chain, at: Floats) -> dict[Body | Origin, Place]:
    """Poses of all bodies at some coordinates (..., size)."""
    places: dict[Body | Origin, Place] = {}
    for joint, first in chain.links:
        slide, turn = joint.translational, joint.rotational
        x, q = places.get(joint.parent, HERE)
        own = at[..., first : first + joint.dof]
        vector = times(own[..., slide.free :], turn.masks.free)
        angle = norm(vector, axis=-1, keepdims=True)
        share = np.divide(math.sin(0.5 * angle), angle, out=np.full_like(angle, 0.5), where=angle > 1e-12)
        relative = np.concatenate([math.cos(0.5 * angle), share * vector], axis=-1)
        turned = multiply(multiply(q, turn.orientation_offset), relative)
        point = x + rotate(q, slide.vertices[0] + times(own[..., : slide.free], slide.masks.free))
        places[joint.child] = point - rotate(turned, slide.vertices[1]), turned
    return places


def _gaps(chain: _Chain, at: Floats) -> Floats:
    """Residuals of the constrained directions of all loop joints (..., rows) [m, half rad]."""
    places = _places(chain, at)
    here = tuple(np.broadcast_to(part, (*at.shape[:-1], len(part))) for part in HERE)
    found: list[Floats] = []
    for joint in chain.chords:
        slide, turn = joint.translational, joint.rotational
        (x, q), (y, p) = places.get(joint.parent, here), places.get(joint.child, here)
        apart = rotate(conjugate(q), y + rotate(p, slide.vertices[1]) - x) - slide.vertices[0]
        turned = multiply(conjugate(turn.orientation_offset), multiply(conjugate(q), p))
        found += [times(apart, slide.masks.constrained.T), times(turned[..., 1:], turn.masks.constrained.T)]
    return np.concatenate(found, axis=-1)


def _slopes(chain: _Chain, at: Floats) -> tuple[Floats, Floats]:
    """Gaps (tries, rows) at some coordinates, and their slopes by finite differences, all in one go."""
    steps = 1e-6 * np.eye(chain.size)
    found = _gaps(chain, np.concatenate([at[:, None], at[:, None] + steps, at[:, None] - steps], axis=1))
    forth, back = found[:, 1 : chain.size + 1], found[:, chain.size + 1 :]
    return found[:, 0], np.swapaxes(forth - back, 1, 2) / 2e-6


def _close(chain: _Chain, at: Floats) -> tuple[Floats, Floats]:
    """Find nearby poses with closed loops, by Newton's steps of least norm; also the largest gap that is left of each.

    Iterations of all tries are done together, as most of the time goes to calls of NumPy.
    """
    at = at.copy()
    gaps, active = _gaps(chain, at), np.arange(len(at) if chain.size else 0)
    for _ in range(30):
        active = active[np.abs(gaps[active]).max(axis=1, initial=0.0) >= 1e-12]
        if not len(active):
            break
        for number, slope in zip(active, _slopes(chain, at[active])[1], strict=True):
            way = lstsq(slope, -gaps[number], rcond=1e-9)
            at[number] += way * min(1.0, 1.0 / max(1e-12, float(np.abs(way).max())))
        gaps[active] = _gaps(chain, at[active])
    return at, np.abs(gaps).max(axis=1, initial=0.0)
