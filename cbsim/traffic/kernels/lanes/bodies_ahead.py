"""Bodies that stand for good on a lane: to which lane a car changes past them, and where it waits to do so."""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined, inner
from cbsim.traffic.kernels.bodies.standing import stands_for_good
from cbsim.traffic.kernels.lanes.mandatory import LAST_TO_RIGHT, goes_on, wanted_change
from cbsim.traffic.kernels.lanes.neighbours import place_in_order, stop_at
from cbsim.traffic.kernels.lanes.passing import (
    crossable_row,
    first_not_passing,
    may_block,
    mind_blocker,
    way_before,
)
from cbsim.traffic.kernels.look import GAP, LEADER, STANDS, WAY_END
from cbsim.traffic.kernels.ways.sideways import SPARE, across_to, map_beside
from cbsim.traffic.kernels.workspace import PACE, SPOT
from cbsim.world.traffic.tables import (
    BESIDE,
    CAR_LENGTH,
    DRIVING,
    EXTRAS,
    LANELET,
    LENGTH,
    MAY_CROSS,
    PHASE,
    SAME,
    STATION,
)

__all__ = [
    "SEEN",
    "can_change_past",
    "is_lane_shut",
    "lane_past_body",
    "mind_bodies",
    "room_to_pass_first",
]

NEXT_ONES = 4  # lanelets ahead up to which it looks for a body
BEYOND_BODY = 15.0  # [m] up to which nobody stands beside a body that is passed
SEEN = 100.0  # [m] up to which a body on a lane is a reason to leave it, and not to change to it
NEAR = 1.0  # [m] from the begin of a lanelet at which there are lanes beside it


@inner
def is_free_past(sides, state, work, i, row, begin, spot, static, others):
    """Whether one can go by the neighbour of a row from a station up to beyond a body at another one."""
    entries, target = work.entries, sides.rows[row, 0]
    if (sides.rows[row, 1] & (SAME | MAY_CROSS)) != SAME | MAY_CROSS:
        return False
    if not sides.spans[row, 0] <= begin + NEAR <= spot <= sides.spans[row, 1]:
        return False
    at, end = place_in_order(entries, target, map_beside(sides, row, begin)), map_beside(sides, row, spot) + BEYOND_BODY
    while at < entries.first[target + 1] and entries.sorted_stands[at, SPOT] < end:
        if stands_for_good(work, state.travel, state.intent, state.watch, i, entries.order[at], static, others):
            return False
        at += 1
    return True


@inner
def lane_past_body(road, sides, state, work, i, static, others):
    """Lanelet to which a car changes past a body that stands on its own, -1 for none, or where one is there, too."""
    travel, entries, plan, destination = state.travel, work.entries, work.plan[i], work.destinations[i]
    lanelet, station = state.intent[i, LANELET], travel[i, STATION]
    at = first_not_passing(work, travel, i, lanelet)
    if at >= entries.first[lanelet + 1] or plan[WAY_END] < plan[GAP]:
        return -1
    if not stands_for_good(work, travel, state.intent, state.watch, i, entries.order[at], static, others):
        return -1
    for row in range(sides.offsets[lanelet], sides.offsets[lanelet + 1]):
        target = sides.rows[row, 0]
        # from there it has to come to where it goes
        leads = goes_on(road, destination, target) or wanted_change(road, sides, destination, target) >= 0
        if (leads or destination < 0) and is_free_past(
            *(sides, state, work, i, row, station, entries.sorted_stands[at, SPOT], static, others)
        ):
            return target
    return -1


@inner
def room_to_change(road, sides, state, work, i, lanelet, at, static, others):
    """Room behind the body at a place of the order of a lanelet ahead in which a car can change past it [m].

    It is that ahead of its front, infinite where there is no lane to change to.
    """
    spot, length, least = work.entries.sorted_stands[at, SPOT], road.car_sizes[i, CAR_LENGTH], math.inf
    for row in range(sides.offsets[lanelet], sides.offsets[lanelet + 1]):
        if is_free_past(sides, state, work, i, row, 0.0, spot, static, others):
            least = min(least, way_before(across_to(road, sides, row, lanelet, NEAR), length))
    return least


@inner
def can_change_past(road, sides, state, work, i, lanelet, at, static, others):
    """Whether car i, once on a lanelet ahead, has room to change past the body at a place of its order."""
    ahead = work.entries.sorted_stands[at, SPOT] - road.car_sizes[i, CAR_LENGTH]
    return ahead > room_to_change(road, sides, state, work, i, lanelet, at, static, others)


@inner
def room_to_pass_first(road, sides, state, work, i, lanelet, static, others):
    """As `room_to_change` has it, of the first body on a lanelet ahead; infinite where a car comes before it."""
    entries, at = work.entries, work.entries.first[lanelet]
    if sides.rows.shape[0] == 0 or at == entries.first[lanelet + 1] or entries.order[at] < state.intent.shape[0]:
        return math.inf
    return room_to_change(road, sides, state, work, i, lanelet, at, static, others) + SPARE


@inner
def mind_body_ahead(road, sides, state, work, i, static, others):
    """Let a car that comes to a body on its next lanelets stop where it can change past it, as on its own lanelet."""
    travel, entries = state.travel, work.entries
    if state.intent[i, PHASE] != DRIVING:
        return
    base, length = -travel[i, STATION], road.car_sizes[i, CAR_LENGTH]
    for k in range(1, NEXT_ONES):
        base += road.lanelets[work.ways.lanelets[i, k - 1], LENGTH]
        lanelet = work.ways.lanelets[i, k]
        if lanelet < 0 or base > SEEN:
            return
        # only the first on a lanelet: what is behind it is none of this car's business yet
        at = entries.first[lanelet]
        if at == entries.first[lanelet + 1]:
            continue
        e = entries.order[at]
        if not stands_for_good(work, travel, state.intent, state.watch, i, e, static, others):
            return
        row = crossable_row(sides, lanelet, NEAR, True)
        if row < 0:
            return
        ahead = entries.stands[e, SPOT] - length - way_before(across_to(road, sides, row, lanelet, NEAR), length)
        if ahead > -SPARE:  # it has left the junction then
            stop_at(work, travel, i, base + max(ahead - SPARE, 0.2))
        return


@inlined
def mind_bodies(road, sides, state, work, i, static, others):
    """Let a car stop so far behind a body on its lanelet, or ahead on its way, that it can pass it."""
    entries, plan, lanelet = work.entries, work.plan[i], state.intent[i, LANELET]
    at = entries.ranks[i] + 1
    if (road.links[lanelet, EXTRAS] & BESIDE) != 0 and may_block(entries, state.travel, state.intent, at, lanelet):
        mind_blocker(road, sides, state.travel, state.intent, state.watch, work, i, static, others)
    # nobody is ahead on its own lanelet
    elif plan[LEADER] <= STANDS and plan[GAP] < SEEN and at >= entries.first[lanelet + 1]:
        mind_body_ahead(road, sides, state, work, i, static, others)


@inner
def is_lane_shut(sides, state, work, i, row, is_wanted, static, others):
    """Whether a body stands for good ahead on the lane to which a car would change by a row.

    Where the car has to change, only such a body counts that it comes by on its own lane.
    """
    # a change into a lane that is shut would only have to be undone
    entries, target = work.entries, sides.rows[row, 0]
    place = map_beside(sides, row, state.travel[i, STATION])
    end = place + SEEN
    if is_wanted:
        end = min(end, map_beside(sides, row, sides.spans[row, 1]) - BEYOND_BODY - LAST_TO_RIGHT)
    at = place_in_order(entries, target, place)
    while at < entries.first[target + 1] and entries.sorted_stands[at, SPOT] < end:
        if abs(entries.sorted_stands[at, PACE]) <= STANDS and stands_for_good(
            *(work, state.travel, state.intent, state.watch, i, entries.order[at], static, others)
        ):
            return True
        at += 1
    return False
