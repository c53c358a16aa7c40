"""Evaluation order of the nodes of a network."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from cbsim.spec.juice import Edge, Network

__all__ = ["Order", "order_of"]


class Order(NamedTuple):
    """Evaluation order of a network, and nodes and edges without effect.

    Attributes
    ----------
    acting : tuple of int
        Nodes that act, each after its predecessors.
    idle : tuple of int
        Functions and motors without inputs: the functions stay zero, the motors request nothing.
    stuck : tuple of int
        Nodes on or behind cycles, which never act.
    loose : tuple of Edge
        Edges from or to a missing node.
    """

    acting: tuple[int, ...]
    idle: tuple[int, ...]
    stuck: tuple[int, ...]
    loose: tuple[Edge, ...]


def order_of(network: Network) -> Order:
    """Sort the nodes of a network (Kahn's algorithm, ties in the file's order: sources, functions, motors)."""
    nodes = [node.id for node in network.nodes]
    known = set(nodes)
    edges = [edge for edge in network.edges if {edge.source, edge.destination} <= known]
    waiting = Counter(edge.destination for edge in edges)
    heads: dict[int, list[int]] = {}
    for edge in edges:
        heads.setdefault(edge.source, []).append(edge.destination)
    fed = [*(node.id for node in network.functions if node.kind != "ConstantNode"), *(m.id for m in network.motors)]
    idle = tuple(node for node in dict.fromkeys(fed) if not waiting[node])
    first = set(idle)
    ready = [node for node in dict.fromkeys(nodes) if not waiting[node]]
    order: list[int] = []
    for node in ready:  # grows on the way
        order.append(node)
        for head in heads.get(node, ()):
            waiting[head] -= 1
            if not waiting[head]:
                ready.append(head)
    done = set(order)
    stuck = tuple(node for node in dict.fromkeys(nodes) if node not in done)
    loose = tuple(edge for edge in network.edges if not {edge.source, edge.destination} <= known)
    return Order(tuple(node for node in order if node not in first), idle, stuck, loose)
