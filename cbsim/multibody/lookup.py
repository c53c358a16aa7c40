"""Finding the parts of a mechanism by name or number, and counting its dimensions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cbsim.errors import ModelError, did_you_mean
from cbsim.multibody.mechanism import Mechanism
from cbsim.spec.mechanism.bodies import Body, Node, Origin
from cbsim.spec.mechanism.contacts import ContactConstraint
from cbsim.spec.mechanism.joints import JointConstraint

__all__ = [
    "get_body",
    "get_contact",
    "get_joint",
    "get_node",
    "input_dimensions",
    "maximal_dimension",
    "minimal_dimension",
    "root_to_leaves_ordering",
]

Key = str | int


def _find(mechanism: Mechanism, key: Key | Node, among: Sequence[Node], kind: str) -> Node:
    if isinstance(key, str):
        node = mechanism.by_name.get(key)
        if node is not None and node in among:
            return node
        hint = did_you_mean(key, [n.name for n in among])
    else:
        nodes = mechanism.spec.nodes
        if isinstance(key, Node):  # a joint whose springs were changed is another, with the same bond
            node = key if isinstance(key, Origin) else next((n for n in nodes if n.bond is key.bond), None)
        else:
            node = nodes[key] if isinstance(key, (int, np.integer)) and 0 <= key < len(nodes) else None
        if node is not None and node in among:
            return node
        hint = f"numbers {nodes.index(among[0])} to {nodes.index(among[-1])}" if among else ""
    text = f"there is no {kind} {getattr(key, 'name', key)!r} in the mechanism"
    raise ModelError(f"{text} {hint}".rstrip())


def get_node(mechanism: Mechanism, name: Key) -> Node:
    """Return a part by its name or number; ``"origin"`` and 0 are the origin.

    Raises
    ------
    ModelError
        If there is none; with the nearest name.
    """
    return _find(mechanism, name, mechanism.spec.nodes, "part")


def get_body(mechanism: Mechanism, name: Key) -> Body | Origin:
    """Return a body, or the origin, by its name or number."""
    return _find(mechanism, name, (mechanism.origin, *mechanism.bodies), "body")  # type: ignore[return-value]


def get_joint(mechanism: Mechanism, name: Key) -> JointConstraint:
    """Return a joint by its name or number."""
    return _find(mechanism, name, mechanism.joints, "joint")  # type: ignore[return-value]


def get_contact(mechanism: Mechanism, name: Key) -> ContactConstraint:
    """Return a contact by its name or number."""
    return _find(mechanism, name, mechanism.contacts, "contact")  # type: ignore[return-value]


def maximal_dimension(mechanism: Mechanism, *, attitude_decompress: bool = False) -> int:
    """Count the numbers of a maximal state: 13 per body; 12 with three numbers per orientation, as gradients have."""
    return (12 if attitude_decompress else 13) * len(mechanism.bodies)


def minimal_dimension(mechanism: Mechanism) -> int:
    """Count the numbers of a minimal state: twice the degrees of freedom of the joints that make the tree.

    A joint that closes a loop has none of its own.
    """
    return 2 * sum(mechanism.joints[j].dof for j in mechanism.compiled.spanning.links)


def input_dimensions(mechanism: Mechanism) -> list[int]:
    """Count the inputs of every joint, in the order of the joints; loop joints have theirs too."""
    return [joint.dof for joint in mechanism.joints]


def root_to_leaves_ordering(
    mechanism: Mechanism, *, exclude_origin: bool = True, exclude_loop_joints: bool = True
) -> list[int]:
    """List the numbers of all nodes from the origin outwards, each once.

    Parameters
    ----------
    exclude_origin : bool
        Leave out the origin, which comes first.
    exclude_loop_joints : bool
        Leave out joints that close loops, which come last.
    """
    system = mechanism.system
    order = [n for n in system.order if not (exclude_loop_joints and n in system.loop_joints)]
    return order if exclude_origin else [0, *order]
