"""Lanelets side by side as reactive cars need them: where they may change over, and where they have to."""

from __future__ import annotations

from typing import Any

import numpy as np

from cbsim.arrays import Bools, Ints
from cbsim.road.lanelets.neighbours import Neighbours
from cbsim.road.lanelets.reach import change_edges
from cbsim.world.traffic.tables import LEFT, MAY_CROSS, SAME

__all__ = ["dead_ends", "side_columns"]


def side_columns(neighbours: Neighbours, graph: list[list[int]], predecessors: tuple[Ints, Ints]) -> dict[str, Any]:
    """Lay out the columns of `Sides` but those of destinations.

    Parameters
    ----------
    neighbours : Neighbours
    graph : list of list of int
        Lanelets that follow each.
    predecessors : tuple of ndarray
        First of those that lead to each lanelet, and all of them.
    """
    if not len(neighbours.lanelets):
        empty = np.zeros(0, np.int64)
        return {
            "offsets": np.zeros(len(graph) + 1, np.int64),
            "rows": np.zeros((0, 2), np.int64),
            "spans": np.zeros((0, 2)),
            "place_offsets": empty,
            "places": np.zeros(0),
            "predecessor_offsets": empty,
            "predecessors": empty,
            "changes_at_ends": empty,
        }
    bits = LEFT * neighbours.left + SAME * neighbours.same_direction + MAY_CROSS * neighbours.may_cross
    return {
        "offsets": np.searchsorted(neighbours.lanelets, np.arange(len(graph) + 1)).astype(np.int64),
        "rows": np.column_stack([neighbours.others, bits]).astype(np.int64),
        "spans": np.stack([neighbours.begins, neighbours.ends], axis=1),
        "place_offsets": neighbours.place_offsets,
        "places": neighbours.places,
        "predecessor_offsets": predecessors[0],
        "predecessors": predecessors[1],
        "changes_at_ends": _changes_at_ends(graph, change_edges(neighbours)),
    }


def dead_ends(graph: list[list[int]]) -> Bools:
    """Tell from which lanelets one cannot go on for ever."""
    dead = np.zeros(len(graph), bool)
    left = [len(ways) for ways in graph]
    before: list[list[int]] = [[] for _ in graph]
    for row, ways in enumerate(graph):
        for way in ways:
            before[way].append(row)
    work = [row for row, number in enumerate(left) if number == 0]
    dead[work] = True
    while work:
        for row in before[work.pop()]:
            left[row] -= 1
            if left[row] == 0:
                dead[row] = True
                work.append(row)
    return dead


def _changes_at_ends(graph: list[list[int]], edges: Ints) -> Ints:
    """Neighbour to change to from each lanelet that ends nowhere, -1 for none; over several lanes if need be."""
    found, lost = np.full(len(graph), -1, np.int64), dead_ends(graph)
    while True:
        useful = edges[lost[edges[:, 0]] & ~lost[edges[:, 1]]] if len(edges) else edges
        if not len(useful):
            return found
        found[useful[::-1, 0]] = useful[::-1, 1]
        lost[useful[:, 0]] = False
