"""Passing of bodies that stand in the way, by the oncoming lane; beside a lane in the same direction one changes over.

Who passes stays on its own lanelet, beside its centreline, and is seen on the oncoming one too. It keeps what DARPA
asks for (Urban Challenge Technical Evaluation Criteria 2006, A.10 and A.11): it leaves its lane at least a length
behind the body, is back between one and four lengths ahead of it, and does neither in a junction nor within 30 m
before one.
"""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined, inner
from cbsim.traffic.kernels.bodies.standing import stands_for_good
from cbsim.traffic.kernels.drivers import STRONGEST
from cbsim.traffic.kernels.lanes.neighbours import has_no_conflicts, place_in_order, stop_at
from cbsim.traffic.kernels.look import SMALL, STANDS, travel_time
from cbsim.traffic.kernels.ways.sideways import (
    SPARE,
    across_to,
    clear_part,
    is_aside,
    is_clear_before,
    map_beside,
    oncoming_row,
    reach_of_turn,
    run_of,
)
from cbsim.traffic.kernels.workspace import EXTENT, PACE, SPOT
from cbsim.world.traffic.tables import (
    BACK,
    BACKING,
    BESIDE,
    CAR_LENGTH,
    CLAIM,
    DRIVING,
    ENTRY,
    ENTRY_END,
    EXTRAS,
    FIRST_CAR,
    FRONT_AXLE,
    HIT,
    LANELET,
    LENGTH,
    LIMIT,
    MAY_CROSS,
    MOVED,
    OFFSET,
    ORIGIN,
    ORIGIN_STATION,
    PAUSING,
    PHASE,
    RATE,
    REAR_AXLE,
    RUN,
    SAME,
    SIDEWAYS,
    SLOPE,
    SPEED,
    STATION,
    WAITING,
)

__all__ = [
    "NO_QUEUE",
    "PASSES",
    "PASS_SPEED",
    "begin_pass",
    "choose_pass",
    "is_behind_body",
    "may_block",
    "mind_blocker",
    "see_oncoming",
]

PASSES = -2  # less the row of `Sides`: what `CarWorkspace.changes` holds of a car that begins to pass
PASS_SPEED = 4.5  # [m/s] at most
SHIFT_SPEED = 3.9  # [m/s] at which one leaves a lane and comes back, about
NO_QUEUE = 15.0  # [m] ahead of a body in which nobody else stands, if it stands in no queue
BEFORE_JUNCTION = 30.0  # [m]
LET_BY = 20.0  # [s] of standing after which the oncoming are expected to slow down a little
COURTESY, SPEEDS_UP = 1.0, 2.0  # [m/s²] of braking by them then; with which they may speed up else
EACH = 1.5  # [s] more for each that passes ahead
SPARE_TIME = 3.0  # [s] more than it takes for which the oncoming lane has to be free
CROSSES = 0.46  # part of a shift after which a corner is over the marking, a length behind the body
AHEAD_OF_IT = 0.3  # lengths ahead of the body at which the return begins; the lane is reached a length ahead of it
NARROWEST = 2.7  # [m] between the centrelines of two lanes on one of which somebody can be passed
QUEUE = 60.0  # [m] ahead within which those who wait for a body are one queue
FREE = 300.0  # [m] of the oncoming lane that are looked at
BRANCHES = 16  # lanelets behind that are still to be looked at
ACROSS = 10.0  # [m] along the lanes within which what stands on them closes the road, as a barrier at an angle does


@inlined
def first_not_passing(work, travel, i, lanelet):
    """Place in the order of the next entry ahead of car i on its lanelet that is no car that passes somebody."""
    entries = work.entries
    at, end = entries.ranks[i] + 1, entries.first[lanelet + 1]
    while at < end:
        e = entries.order[at]
        if e >= travel.shape[0] or travel[e, BACK] <= 0.0:
            break
        at += 1
    return at


@inner
def is_behind_body(road, travel, intent, watch, work, i, lanelets, static, others):
    """Whether car i stands behind a body that stands for good, or in a queue behind it, on its next lanelets."""
    entries, base = work.entries, -travel[i, STATION] - road.car_sizes[i, CAR_LENGTH]
    for k in range(lanelets):
        lanelet = work.ways.lanelets[i, k]
        if lanelet < 0 or base > QUEUE:
            return False
        for at in range(entries.ranks[i] + 1 if k == 0 else entries.first[lanelet], entries.first[lanelet + 1]):
            e = entries.order[at]
            if e == i or (e >= others and entries.watched[e] == -2 - i):
                continue
            if base + entries.stands[e, SPOT] > QUEUE:
                return False
            if stands_for_good(work, travel, intent, watch, i, e, static, others):
                return True
            waits = e < intent.shape[0] and intent[e, PHASE] != BACKING and not is_aside(travel[e])
            if not waits or entries.stands[e, PACE] > STANDS:
                return False
        base += road.lanelets[lanelet, LENGTH]
    return False


@inlined
def crossable_row(sides, lanelet, station, same):
    """Row of a neighbour that may be crossed over to, in the same or the oncoming direction; -1 for none."""
    for row in range(sides.offsets[lanelet], sides.offsets[lanelet + 1]):
        bits = sides.rows[row, 1]
        if (bits & MAY_CROSS) != 0 and ((bits & SAME) != 0) == same:
            if sides.spans[row, 0] <= station <= sides.spans[row, 1]:
                return row
    return -1


@inlined
def may_block(entries, travel, intent, at, lanelet):
    """Whether the entry at a place in the order of a lanelet is no car that drives: a cheap look at first."""
    if at >= entries.first[lanelet + 1]:
        return False
    e = entries.order[at]
    return e >= intent.shape[0] or travel[e, BACK] > 0.0 or intent[e, PHASE] == HIT or intent[e, PHASE] == PAUSING


@inlined
def way_before(across, length):
    """Distance behind a body in which a car of a length begins to shift, to be clear of it and a length behind [m]."""
    run = run_of(0.0, across)
    return max(clear_part(across) * run + SPARE, CROSSES * run + length)


@inner
def mind_blocker(road, sides, travel, intent, watch, work, i, static, others):
    """Let a car stop so far behind a body that stands for good that it can pass it, where that is allowed at all."""
    entries, lanelet = work.entries, intent[i, LANELET]
    at, end = first_not_passing(work, travel, i, lanelet), entries.first[lanelet + 1]
    while at < end and entries.order[at] >= intent.shape[0] and entries.watched[entries.order[at]] < -1:
        at += 1  # whoever is leaving this lane
    if at >= end or is_aside(travel[i]) or intent[i, PHASE] != DRIVING:
        return
    e = entries.order[at]
    if not stands_for_good(work, travel, intent, watch, i, e, static, others):
        return
    # to the same direction first, then against the oncoming
    station, gap = travel[i, STATION], entries.stands[e, SPOT] - travel[i, STATION] - road.car_sizes[i, CAR_LENGTH]
    for side in range(2):
        row = crossable_row(sides, lanelet, station, side == 0)
        if row >= 0:
            across = across_to(road, sides, row, lanelet, station)
            stop_at(work, travel, i, gap - way_before(across, road.car_sizes[i, CAR_LENGTH]) - SPARE)
            return
    if oncoming_row(sides, lanelet, station) >= 0:  # room to turn round
        length = road.car_sizes[i, CAR_LENGTH]
        stop_at(work, travel, i, gap - reach_of_turn(length) + length - road.car_sizes[i, REAR_AXLE] - 3.0 * SPARE)


@inner
def blocked_up_to(work, travel, intent, watch, i, static, others, needed):
    """Station of the front of the bodies that car i would pass together; negative where it would meet somebody.

    `needed` is the room that it takes beyond them [m].
    """
    entries, lanelet = work.entries, intent[i, LANELET]
    end, at, front = entries.first[lanelet + 1], entries.ranks[i] + 1, -1.0
    while at < end:
        e = entries.order[at]
        if e < travel.shape[0] and travel[e, BACK] > 0.0:  # it passes them, too
            at += 1
            continue
        rear = entries.stands[e, SPOT]
        # enough room to be back before whoever is next
        if front >= 0.0 and rear > front + max(needed, NO_QUEUE):
            break
        if not stands_for_good(work, travel, intent, watch, i, e, static, others):
            # whoever drives on beyond that room does not matter
            if front < 0.0 or entries.stands[e, PACE] < STANDS or rear < front + needed:
                return -1.0
            break
        front = max(front, rear + entries.stands[e, EXTENT])
        at += 1
    return front


@inlined
def time_to(ahead, pace, limit, yields):
    """Time in which somebody comes so far, speeding up to a limit, or with 1 m/s² of braking [s]."""
    if ahead <= 0.0:
        return 0.0
    if not yields:
        return travel_time(ahead, pace, max(limit, 1.0), SPEEDS_UP)
    # earlier root of ahead = v t − ½ a t²; without one it stops before
    left = pace * pace - 2.0 * COURTESY * ahead
    return math.inf if left <= 0.0 else (pace - math.sqrt(left)) / COURTESY


@inlined
def does_not_come(entries, e):
    """Whether an entry is somebody on foot, or drives against the lane; others may come from behind it."""
    return entries.stands[e, EXTENT] < SMALL or entries.stands[e, PACE] < -STANDS


@inner
def is_shut(road, sides, entries, lanelet, e):
    """Whether an entry cannot drive, and neither can what stands beside it on the other lanes of its direction.

    Nobody comes from behind it then; people, who are small too, walk on.
    """
    if e < road.car_rows.shape[0] or entries.watched[e] < -1 or entries.stays[e] == 0:
        return False
    station = entries.stands[e, SPOT]
    for row in range(sides.offsets[lanelet], sides.offsets[lanelet + 1]):
        if (sides.rows[row, 1] & SAME) == 0 or not sides.spans[row, 0] <= station <= sides.spans[row, 1]:
            continue
        beside, place, stands = sides.rows[row, 0], map_beside(sides, row, station), False
        for at in range(entries.first[beside], entries.first[beside + 1]):
            other, near = entries.order[at], abs(entries.sorted_stands[at, SPOT] - place) < ACROSS
            stays = other >= road.car_rows.shape[0] and entries.watched[other] >= -1 and entries.stays[other] != 0
            stands = stands or (near and stays)
        if not stands:
            return False
    return True


@inner
def oncoming_in(road, sides, demand, entries, lanelet, place, yields, tree):
    """Least time in which somebody comes to a place on a lanelet, or on those that lead to it [s].

    Where cars of a flow appear, one may do so at any moment. With `yields`, they are expected to brake with 1 m/s².
    """
    stack, places = tree
    stack[0], places[0], size, least = lanelet, place, 1, math.inf
    while size > 0:
        size -= 1
        one, there = stack[size], places[size]
        # the next one behind that place which comes that way
        at, begin = place_in_order(entries, one, there) - 1, -math.inf
        while at >= entries.first[one] and begin == -math.inf:
            if is_shut(road, sides, entries, one, entries.order[at]):
                begin = entries.sorted_stands[at, SPOT]
            elif not does_not_come(entries, entries.order[at]):
                break
            at -= 1
        for p in range(demand.flows.shape[0]):
            if demand.flows[p, RATE] <= 0.0 or demand.pool_rows[p, ORIGIN] != one:
                continue
            if demand.flows[p, ORIGIN_STATION] > begin:
                length = road.car_sizes[demand.pool_rows[p, FIRST_CAR], CAR_LENGTH]
                ahead = there - demand.flows[p, ORIGIN_STATION] - length
                least = min(least, time_to(ahead, road.lanelets[one, LIMIT], road.lanelets[one, LIMIT], yields))
        if begin > -math.inf:
            continue
        if at >= entries.first[one]:
            e = entries.order[at]
            ahead = there - entries.stands[e, SPOT] - entries.stands[e, EXTENT]
            pace, limit = max(entries.stands[e, PACE], 0.0), road.lanelets[one, LIMIT]
            least = min(least, time_to(ahead, pace, max(limit, pace), yields))
        # nobody on it: whoever comes next comes by a lanelet before it
        elif there < FREE:
            for k in range(sides.predecessor_offsets[one], sides.predecessor_offsets[one + 1]):
                if size < stack.shape[0]:
                    stack[size] = sides.predecessors[k]
                    places[size] = there + road.lanelets[stack[size], LENGTH]
                    size += 1
    return least


@inner
def choose_pass(road, crossings, sides, demand, seed, state, work, i, static, others, tree):
    """Row of `Sides` by which a car passes whoever stands in its way after this step.

    It is -1 where nobody stands there, or passing is not possible, and -2 where only those who come are in the way.
    The way until it may return is noted in the Snapshot, where nobody reads it before the car begins.
    """
    travel, intent, watch = state.travel, state.intent, state.watch
    entries, lanelet, destination = work.entries, intent[i, LANELET], work.destinations[i]
    if intent[i, PHASE] != DRIVING or intent[i, CLAIM] > 0 or travel[i, SPEED] > PASS_SPEED or is_aside(travel[i]):
        return -1
    at, station = first_not_passing(work, travel, i, lanelet), travel[i, STATION]
    length = road.car_sizes[i, CAR_LENGTH]
    if at >= entries.first[lanelet + 1] or (road.links[lanelet, EXTRAS] & BESIDE) == 0:
        return -1
    if not stands_for_good(work, travel, intent, watch, i, entries.order[at], static, others):
        return -1
    row = crossable_row(sides, lanelet, station, False)
    if row < 0:
        return -1
    across = across_to(road, sides, row, lanelet, station)
    run, rear = run_of(0.0, across), entries.stands[entries.order[at], SPOT]
    if abs(across) < NARROWEST or rear - station - length < way_before(across, length):
        return -1
    wheelbase = road.car_sizes[i, FRONT_AXLE] - road.car_sizes[i, REAR_AXLE]
    # room beyond the bodies: for the return, both axles and a length
    beyond = AHEAD_OF_IT * length + run + wheelbase + length
    front = blocked_up_to(work, travel, intent, watch, i, static, others, beyond + 2.0)
    end = front + beyond
    if front < 0.0 or end > sides.spans[row, 1]:
        return -1
    if not has_no_conflicts(road, crossings, seed, intent, i, destination, lanelet, station, end + BEFORE_JUNCTION):
        return -1
    # stations of the oncoming lane fall along the pass: `there` is less than `here`
    target, here, there = sides.rows[row, 0], map_beside(sides, row, station), map_beside(sides, row, end)
    for e in range(road.links[target, ENTRY], road.links[target, ENTRY_END]):
        if crossings.entry_spans[e, 0] < here and crossings.entry_spans[e, 1] > there:
            return -1
    at = place_in_order(entries, target, there)
    while at < entries.first[target + 1] and entries.sorted_stands[at, SPOT] < here:
        # somebody who stands makes it impossible, somebody who moves makes it wait
        if entries.stands[entries.order[at], PACE] >= -STANDS:
            return -1 if abs(entries.stands[entries.order[at], PACE]) < STANDS else -2
        at += 1
    duration = travel_time(end - station - length, travel[i, SPEED], SHIFT_SPEED, work.drawn[i, STRONGEST])
    duration += EACH * (first_not_passing(work, travel, i, lanelet) - entries.ranks[i] - 1)
    yields = travel[i, WAITING] > LET_BY
    if oncoming_in(road, sides, demand, entries, target, there, yields, tree) < duration + SPARE_TIME:
        return -2
    travel[i, BACK] = front + AHEAD_OF_IT * length - station
    return row


@inner
def begin_pass(road, sides, travel, intent, i, row):
    """Let a car that has moved begin to leave its lane."""
    one = travel[i]
    one[SIDEWAYS] = across_to(road, sides, row, intent[i, LANELET], one[STATION])
    one[OFFSET], one[SLOPE], one[MOVED], one[RUN] = 0.0, 0.0, 0.0, run_of(0.0, one[SIDEWAYS])


@inner
def see_oncoming(road, sides, travel, entries, i, row):
    """Gap to and speed of whoever comes on the lane against which a car passes somebody [m], [m/s]."""
    one, target, length = travel[i], sides.rows[row, 0], road.car_sizes[i, CAR_LENGTH]
    front = map_beside(sides, row, one[STATION] + length)
    at, gap, leader = place_in_order(entries, target, front - SPARE) - 1, math.inf, 0.0
    while at >= entries.first[target]:
        e = entries.order[at]
        ahead = front - entries.stands[e, SPOT] - entries.stands[e, EXTENT]
        if 0.0 < ahead < gap:  # that of its own entry, which reaches up to its rear, is negative
            gap, leader = ahead, -entries.stands[e, PACE]
        if entries.stands[e, PACE] >= -STANDS:  # who drives against the lane, too, ends where it does
            break
        at -= 1
    # too far to matter before it is back
    if gap > one[BACK] + run_of(0.0, max(abs(one[SIDEWAYS]), abs(one[OFFSET]))):
        return math.inf, 0.0
    if one[SIDEWAYS] == 0.0:
        base = road.car_sizes[i, FRONT_AXLE] - road.car_sizes[i, REAR_AXLE]
        if is_clear_before(one[OFFSET], one[RUN] + base, one[MOVED], one[SPEED], gap, leader):
            return math.inf, 0.0
    return gap, leader
