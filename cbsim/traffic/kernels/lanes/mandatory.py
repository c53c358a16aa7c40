"""Changes of lanes that the way of a car asks for: to which lane, and where it waits for a gap at the latest."""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined, inner
from cbsim.traffic.kernels.lanes.neighbours import has_no_conflicts, place_in_order, stop_at
from cbsim.traffic.kernels.look import WAY_END
from cbsim.traffic.kernels.ways.sideways import map_beside, run_of, side_row
from cbsim.traffic.kernels.ways.way import following
from cbsim.traffic.kernels.workspace import SPOT
from cbsim.world.traffic.tables import (
    BESIDE,
    CAR_LENGTH,
    EXTRAS,
    FORKS,
    GOAL,
    HIT,
    LEFT,
    LENGTH,
    MUST,
    ORIGIN,
    ORIGIN_STATION,
    PHASE,
    RATE,
    SAME,
    SERIAL,
    SPEED,
    STATION,
    WANDER,
    WANDER_END,
)

__all__ = [
    "LAST_TO_RIGHT",
    "end_at_change",
    "flow_appears",
    "goes_on",
    "has_lane_behind",
    "must_change",
    "wanted_change",
    "wanted_row",
]

LAST, LAST_TO_RIGHT = 18.0, 26.0  # [m] before the end of a lane, where one stands who has to change
HARDEST = 3.0  # [m/s²] with which one stops there at most, where one can go on as well
PASSED = 1.0  # [m] beyond that place at which one goes on
NEXT_ONES = 4  # lanelets ahead up to which two ways may meet again
APART = 120.0  # [m] from where a flow appears up to which nobody changes to that lane
LANE = 3.7  # [m] to the centreline of the next lane


@inlined
def wanted_change(road, sides, destination, lanelet):
    """Neighbour that a car has to change to, -1 where it need not."""
    if sides.changes_at_ends.shape[0] == 0 or destination == -2:
        return -1
    if destination < 0:
        return sides.changes_at_ends[lanelet]
    beside = sides.changes[destination * road.lanelets.shape[0] + lanelet] if sides.changes.shape[0] > 0 else -1
    return beside % MUST if beside >= 0 else -1


@inner
def must_change(road, sides, destination, lanelet):
    """Whether this is the last lanelet on which a car with a destination can change, and other ways take far longer."""
    count = destination * road.lanelets.shape[0]
    wanted = sides.changes[count + lanelet] - MUST
    if wanted < 0:
        return False
    # the ways by this lane and by the other meet again, or lie side by side further on
    one = road.hops[count + lanelet]
    for _ in range(NEXT_ONES):
        if one < 0:
            break
        beside, other = wanted_change(road, sides, destination, one), wanted
        for _ in range(NEXT_ONES):
            if other in (one, beside):
                return False
            other = road.hops[count + other]
            if other < 0:
                break
        one = road.hops[count + one]
    return True


@inlined
def goes_on(road, destination, lanelet):
    """Whether a car comes to where it goes by the next lanelet, too."""
    if destination >= 0:
        return road.hops[destination * road.lanelets.shape[0] + lanelet] >= 0
    return road.links[lanelet, WANDER] < road.links[lanelet, WANDER_END]


@inlined
def wanted_row(sides, lanelet, station, wanted):
    """Row of the neighbour on the side of the one that is wished for, as it is at a station; -1 for none."""
    for row in range(sides.offsets[lanelet], sides.offsets[lanelet + 1]):
        if sides.rows[row, 0] == wanted and (sides.rows[row, 1] & SAME) != 0:
            return side_row(sides, lanelet, station, (sides.rows[row, 1] & LEFT) != 0)
    return -1


@inner
def has_lane_behind(road, seed, intent, i, destination, target):
    """Whether there is a lane beside again behind the end of the lanelet that car i changes to."""
    beyond, _ = following(road, seed, i, intent[i, SERIAL], destination, target, intent[i, GOAL])
    # behind a fork, and in a junction, there is none
    return beyond < 0 or (road.links[beyond, EXTRAS] & (FORKS | BESIDE)) == BESIDE


@inlined
def flow_appears(demand, target, station):
    """Whether cars of a flow appear near a station of a lanelet."""
    for p in range(demand.flows.shape[0]):
        if demand.flows[p, RATE] > 0.0 and demand.pool_rows[p, ORIGIN] == target:
            if abs(demand.flows[p, ORIGIN_STATION] - station) < APART:
                return True
    return False


@inner
def can_change_at(road, crossings, sides, demand, seed, intent, entries, i, destination, row, station):
    """Whether car i could begin to change by a row at a station of its rear, if others let it."""
    length, run, target = road.car_sizes[i, CAR_LENGTH], run_of(0.0, LANE), sides.rows[row, 0]
    place = map_beside(sides, row, station)
    end = place + length + run
    if end > road.lanelets[target, LENGTH] and not has_lane_behind(road, seed, intent, i, destination, target):
        return False
    if flow_appears(demand, target, place):
        return False
    # who will not go on makes no room
    at = place_in_order(entries, target, place - 2.0 * length)
    while at < entries.first[target + 1] and entries.sorted_stands[at, SPOT] < end:
        e = entries.order[at]
        if e >= intent.shape[0] or intent[e, PHASE] == HIT:
            return False
        at += 1
    return has_no_conflicts(road, crossings, seed, intent, i, destination, target, place - 2.0, end)


@inner
def end_at_change(road, crossings, sides, demand, seed, state, work, i, destination):
    """Let a car stop on its way where it has to have changed lanes; a lane that ends does not end its way there.

    It goes on where nobody can let it change, and where it comes by too fast to stop gently.
    """
    travel, intent, plan, ways = state.travel, state.intent, work.plan[i], work.ways
    base, k, speed, length = -travel[i, STATION], 0, travel[i, SPEED], road.car_sizes[i, CAR_LENGTH]
    reach, ends = length + 0.5 * speed * (speed + 4.0) + 2.0 * LAST_TO_RIGHT, plan[WAY_END] < math.inf
    while True:
        lanelet = ways.lanelets[i, k]
        # where the destination comes first, nothing has to be changed; one that is behind is come to by another round
        if destination >= 0 and int(road.destinations[destination, 0]) == lanelet:
            if k > 0 or base + road.destinations[destination, 1] >= 0.0:
                return
        is_last = k + 1 == ways.lanelets.shape[1] or ways.lanelets[i, k + 1] < 0
        wanted = wanted_change(road, sides, destination, lanelet)
        if wanted >= 0 and (must_change(road, sides, destination, lanelet) if destination >= 0 else is_last):
            break
        base += road.lanelets[lanelet, LENGTH]
        k += 1
        if is_last or (base > reach and not ends):
            return
    # the farthest station at which the other lane is still beside this one
    last, row = 0.0, -1
    for other in range(sides.offsets[lanelet], sides.offsets[lanelet + 1]):
        if sides.rows[other, 0] == wanted and sides.spans[other, 1] > last:
            last, row = sides.spans[other, 1], other
    if row < 0 or base + last < 0.0:
        return  # where that lane is no longer beside it, its way ends where its own lane does
    # who changes to the right waits a length behind who changes to the left, so that they stand in nobody's way
    before, may_go_on = LAST if (sides.rows[row, 1] & LEFT) != 0 else LAST_TO_RIGHT, goes_on(road, destination, lanelet)
    # it has to be there before it comes past its destination
    if may_go_on and destination >= 0 and int(road.destinations[destination, 0]) == wanted:
        last -= max(map_beside(sides, row, last) - road.destinations[destination, 1], 0.0)
        if last - before < length + 1.0:
            return
    last = max(last - before, length + 1.0)
    stop = base + last - length  # at least the whole car comes to the lanelet
    if may_go_on:
        if stop < -PASSED or speed * speed > 2.0 * HARDEST * max(stop + PASSED, 0.0):
            return
        if not can_change_at(
            *(road, crossings, sides, demand, seed, intent, work.entries, i, destination, row, last - length)
        ):
            return
    else:
        plan[WAY_END] = math.inf
    stop_at(work, travel, i, stop)  # who comes to know of it late, or begins its drive there, brakes gently
