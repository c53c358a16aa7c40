"""How many degrees of freedom a mechanism has: those of its tree, less the independent constraints of its loops.

Counting rows (Grübler) is wrong where rows say what others say, as in every plane loop; so the rank is taken of the
loops' Jacobian, at closed poses that are nothing special: on a folded four-bar it would be too small.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from cbsim.geometry.pose import multiply, rotate
from cbsim.spec.mechanism.bodies import Body, Origin
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.joints import JointConstraint
from cbsim.spec.mechanism.values import Array

__all__ = ["degrees_of_freedom"]

TRIES = 4  # poses that are looked at
SPREAD = 0.3  # [m, rad] how far coordinates are moved from zero
CLOSED = 1e-9  # [m, half rad]
RANK = 1e-6  # of a singular value that counts, to the largest
LEAST = 1e-3  # what that is taken to be at least: differences leave 1e-10 of nothing

Place = tuple[Array, Array]
CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0])


class _Chain(NamedTuple):
    """Joints of the tree, parents first, each with where its coordinates begin; joints that close loops."""

    links: list[tuple[JointConstraint, int]]
    chords: list[JointConstraint]
    size: int


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
    random = np.random.Generator(np.random.Philox(0))
    best, rank = np.inf, 0
    for _ in range(TRIES):
        at, gap = _close(chain, random.uniform(-SPREAD, SPREAD, chain.size))
        values = np.linalg.svd(_slope(chain, at), compute_uv=False)
        found = int((values > RANK * max(values[0], LEAST)).sum()) if len(values) else 0
        if gap < CLOSED <= best or ((gap < CLOSED) == (best < CLOSED) and found > rank):
            best, rank = gap, found
    return chain.size - rank


def _chain(spec: MechanismSpec) -> _Chain:
    """Take for each body the first joint that reaches it from the origin."""
    reached: set[object] = {spec.origin}
    links: list[tuple[JointConstraint, int]] = []
    rest, size, grown = list(spec.joints), 0, True
    while grown:
        grown = False
        for joint in list(rest):
            if joint.parent in reached and joint.child not in reached:
                links.append((joint, size))
                size += joint.dof
                reached.add(joint.child)
                rest.remove(joint)
                grown = True
    return _Chain(links, [joint for joint in rest if {joint.parent, joint.child} <= reached], size)


def _places(chain: _Chain, at: Array) -> dict[Body | Origin, Place]:
    """Where all bodies are at some coordinates."""
    here: Place = (np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))
    places: dict[Body | Origin, Place] = {}
    for joint, first in chain.links:
        slide, turn = joint.translational, joint.rotational
        x, q = places.get(joint.parent, here)
        own = at[first : first + joint.dof]
        vector = turn.masks.free.T @ own[slide.free :]
        angle = float(np.linalg.norm(vector))
        axis = vector / angle if angle else vector
        relative = np.concatenate([[np.cos(0.5 * angle)], np.sin(0.5 * angle) * axis])
        turned = multiply(multiply(q, turn.orientation_offset), relative)
        point = x + rotate(q, slide.vertices[0] + slide.masks.free.T @ own[: slide.free])
        places[joint.child] = point - rotate(turned, slide.vertices[1]), turned
    return places


def _gaps(chain: _Chain, at: Array) -> Array:
    """How far the constrained directions of all chords are from zero [m, half rad]."""
    places = _places(chain, at)
    here: Place = (np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))
    found: list[Array] = []
    for joint in chain.chords:
        slide, turn = joint.translational, joint.rotational
        (x, q), (y, p) = places.get(joint.parent, here), places.get(joint.child, here)
        apart = rotate(q * CONJUGATE, y + rotate(p, slide.vertices[1]) - x) - slide.vertices[0]
        turned = multiply(turn.orientation_offset * CONJUGATE, multiply(q * CONJUGATE, p))
        found += [slide.masks.constrained @ apart, turn.masks.constrained @ turned[1:]]
    return np.concatenate(found)


def _slope(chain: _Chain, at: Array) -> Array:
    """Differentiate the gaps, by differences."""
    return _by_differences(lambda point: _gaps(chain, point), at)


def _by_differences(function: Callable[[Array], Array], at: Array) -> Array:
    steps: Sequence[Array] = list(1e-6 * np.eye(len(at)))
    columns = [(function(at + step) - function(at - step)) / 2e-6 for step in steps]
    return np.stack(columns, axis=1) if columns else np.zeros((len(function(at)), 0))


def _close(chain: _Chain, at: Array) -> tuple[Array, float]:
    """Go to a pose nearby in which the loops are closed, by Newton's steps of least norm; also the gap that is left."""
    gap = _gaps(chain, at)
    for _ in range(30):
        if np.abs(gap).max(initial=0.0) < 1e-12 or not len(at):
            break
        way = np.linalg.lstsq(_slope(chain, at), -gap, rcond=1e-9)[0]
        way *= min(1.0, 1.0 / max(1e-12, float(np.abs(way).max())))
        at = at + way
        gap = _gaps(chain, at)
    return at, float(np.abs(gap).max(initial=0.0))
