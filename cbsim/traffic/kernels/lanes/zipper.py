"""Co-operation: who lets somebody change lanes who has to.

Of all who come on the other lane the first lets it in that can do so by braking with at most 1 m/s²; others go on. For
a car that drives along, that is the next one behind; for one that stands at the end of its lane, somebody far behind.
Who it is is decided anew in each step, from places and speeds alone: who makes room needs ever less braking for it.
"""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined, inner
from cbsim.traffic.kernels.lanes.neighbours import follows, place_in_order
from cbsim.traffic.kernels.look import YIELDS
from cbsim.traffic.kernels.workspace import EXTENT, PACE, SPOT
from cbsim.world.traffic.tables import LENGTH

__all__ = ["make_room"]

COURTESY = 1.0  # [m/s²] of braking that it may cost to let somebody change who has to
SURE = 1.25  # times the braking that is needed, so that it gets less
MARGIN = 2.0  # [m] of gap behind who is let in
FALLS_BACK = 4.0  # [m/s] from which one falls back that is partly beside who wants to change
FAR = 140.0  # [m] behind it up to which one looks out for it


@inlined
def braking_behind(gap, speed, leader):
    """Braking with which a car comes to the speed of who changes before it behind a gap [m/s²]; infinite for never."""
    faster = speed - leader
    if gap < MARGIN and faster <= 0.0:
        return COURTESY if gap >= 0.0 or speed > FALLS_BACK else math.inf
    if faster <= 0.0:
        return 0.0
    return 0.5 * faster * faster / (gap - MARGIN) if gap > MARGIN else math.inf


@inner
def makes_room(drawn, plans, entries, e, gap, speed, dt):
    """Let car e make room for somebody at a gap ahead of it, if it can; tell whether."""
    needed = braking_behind(gap, entries.stands[e, PACE], speed)
    if needed > COURTESY:
        return False
    # as behind a leader, but never harder, and soon enough
    eased = -min(SURE * needed, COURTESY)
    if gap > 0.0 and needed < COURTESY:
        eased = max(min(eased, follows(drawn, plans, entries, drawn.shape[0], e, gap, speed, dt)), -COURTESY)
    plans[e, YIELDS] = min(plans[e, YIELDS], eased)
    return True


@inner
def make_room(road, sides, work, target, station, speed, dt):
    """Let the first car that can make room for somebody who has to change to a station of a lanelet do so."""
    entries, drawn, plans, ways = work.entries, work.drawn, work.plan, work.ways.lanelets
    at = place_in_order(entries, target, station) - 1
    while at >= entries.first[target]:
        e = entries.order[at]
        gap = station - entries.stands[e, SPOT] - entries.stands[e, EXTENT]
        if gap > FAR or (e < drawn.shape[0] and makes_room(drawn, plans, entries, e, gap, speed, dt)):
            return
        at -= 1
    # and on each lanelet that leads to it, of those who come to it
    for k in range(sides.predecessor_offsets[target], sides.predecessor_offsets[target + 1]):
        before = sides.predecessors[k]
        there, at = station + road.lanelets[before, LENGTH], entries.first[before + 1] - 1
        while at >= entries.first[before]:
            e = entries.order[at]
            gap = there - entries.stands[e, SPOT] - entries.stands[e, EXTENT]
            comes = e < drawn.shape[0] and ways[e, 1] == target
            if gap > FAR or (comes and makes_room(drawn, plans, entries, e, gap, speed, dt)):
                break
            at -= 1
