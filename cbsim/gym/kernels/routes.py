"""Routes of agents, drawn at forks."""

from __future__ import annotations

from cbsim.jit import kernel
from cbsim.world.kernels import philox_block, uniform_of

__all__ = ["routes_into"]


@kernel
def routes_into(keys, event, firsts, ways_on, offsets, lengths, least, routes):
    """Draw a way at every fork until each route is long enough.

    Parameters
    ----------
    keys : (agents, 2) uint64
        Of random streams.
    event : int
        Number of the occasion; number k of it chooses among the ways on from lanelet k - 1 of a route.
    firsts : (agents,) int64
        Lanelets with which routes begin.
    ways_on, offsets : (k,), (lanelets + 1,) int64
        Lanelets that go on from each, one list after another, and where they begin.
    lengths : (lanelets,) [m]
    least : float
        Length of a route [m], unless the road ends.
    routes : (agents, n) int64, out
        Lanelets; -1 after the last.
    """
    for a in range(firsts.shape[0]):
        lanelet, length, count, goes_on = firsts[a], 0.0, 1, True
        routes[a, 0] = lanelet
        while goes_on and length < least and count < routes.shape[1]:
            first, ways = offsets[lanelet], offsets[lanelet + 1] - offsets[lanelet]
            goes_on = ways > 0
            if not goes_on:
                continue
            chosen = 0
            if ways > 1:
                # four words to a block; draw k has word k
                block = philox_block(keys[a, 0], keys[a, 1], event, count // 4)
                chosen = int(uniform_of(block[count % 4]) * ways)
            lanelet = ways_on[first + chosen]
            routes[a, count] = lanelet
            length += lengths[lanelet]
            count += 1
        for k in range(count, routes.shape[1]):
            routes[a, k] = -1
