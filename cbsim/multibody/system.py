"""Graph of a mechanism: adjacency, loops and orders of its nodes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.dynamics.compile import Compiled
from cbsim.dynamics.graph import Elimination
from cbsim.spec.mechanism.description import MechanismSpec

__all__ = ["System", "make_system"]


class System(NamedTuple):
    """Who is tied to whom.

    Attributes
    ----------
    adjacency : ndarray of bool, shape (n, n)
        Nodes by their numbers: a joint is tied to its bodies, a contact to its own.
    loop_joints : tuple of int
        Numbers of the joints that close loops.
    order : list of int
        Numbers from the origin outwards, without it: each joint, its body, what depends on it; loop joints last.
    elimination : Elimination
        Order in which links and loop joints leave the linear system of a step, and its fill.
    """

    adjacency: NDArray[np.bool_]
    loop_joints: tuple[int, ...]
    order: list[int]
    elimination: Elimination


def make_system(spec: MechanismSpec, compiled: Compiled) -> System:
    """Read the graph off a compiled mechanism."""
    spanning, nodes = compiled.spanning, spec.nodes
    number = {node: i for i, node in enumerate(nodes)}
    adjacency = np.zeros((len(nodes), len(nodes)), bool)
    for part in (*spec.joints, *spec.contacts):
        for end in (part.parent, part.child):
            if end is not None:
                adjacency[number[part], number[end]] = adjacency[number[end], number[part]] = True
    loops = tuple(number[spec.joints[j]] for j in spanning.loop_joints)
    order: list[int] = []
    for j in spanning.links:
        joint = spec.joints[j]
        order += [number[joint], number[joint.child]]
        order += [number[k] for k in spec.contacts if k.parent is joint.child]
    return System(adjacency, loops, order + list(loops), compiled.system)
