"""Changes of lanes: where the way asks for it, and by MOBIL otherwise.

MOBIL is that of Kesting, Treiber and Helbing (2007), General lane-changing model MOBIL for car-following models,
Transportation Research Record 1999, 86-94.
"""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined, inner
from cbsim.traffic.kernels.drivers import COMFORTABLE, FACTOR, HEADWAY, LEAST, MODEL, STRONGEST
from cbsim.traffic.kernels.drivers import SPEED as OWN_SPEED
from cbsim.traffic.kernels.following import follow
from cbsim.traffic.kernels.lanes.bodies_ahead import is_lane_shut
from cbsim.traffic.kernels.lanes.mandatory import (
    goes_on,
    has_lane_behind,
    must_change,
    wanted_change,
    wanted_row,
)
from cbsim.traffic.kernels.lanes.neighbours import follows, has_no_conflicts, leader_from, place_in_order, worst_behind
from cbsim.traffic.kernels.lanes.passing import PASS_SPEED, see_oncoming
from cbsim.traffic.kernels.lanes.zipper import make_room
from cbsim.traffic.kernels.look import (
    CHAIN,
    CHANGE,
    DESIRED,
    GAP,
    LEADER,
    LINE,
    SIDE_GAP,
    SIDE_LEADER,
    SQUARE,
    STANDS,
    STOP,
    YIELDS,
    behind_fork,
    rest_of,
)
from cbsim.traffic.kernels.ways.centreline import foot_on, piece_at
from cbsim.traffic.kernels.ways.sideways import (
    SPARE,
    across_to,
    clearing_speed,
    gap_beside,
    has_cleared,
    is_aside,
    is_clear_before,
    is_left,
    map_back,
    map_beside,
    offset_at,
    run_of,
    run_past_body,
    shift_speed,
    side_row,
)
from cbsim.traffic.kernels.ways.way import following, point_ahead
from cbsim.traffic.kernels.workspace import EXTENT, PACE, SPOT
from cbsim.world.traffic.tables import (
    CAR_LENGTH,
    FRONT_AXLE,
    GOAL,
    LANELET,
    LENGTH,
    LIMIT,
    MAY_CROSS,
    MOVED,
    NEXT,
    OFFSET,
    REAR_AXLE,
    ROOM,
    RUN,
    SAME,
    SERIAL,
    SIDEWAYS,
    SLOPE,
    SPEED,
    STATION,
)

__all__ = ["change_over", "choose_change", "has_neighbour", "see_aside"]

SAFE = 2.0  # [m/s²] of braking that a change may ask of either
POLITENESS, THRESHOLD = 0.2, 0.1  # of MOBIL: weight of others; [m/s²] of advantage
ADAPTS = 1.0  # [m/s²] of braking with which who has to change falls back behind the car that it will follow
BEFORE_LINE = 40.0  # [m] before a line or a conflict in which nobody changes who does not have to
CRAWLS, BRAKES = 1.0, 4.5  # [m/s], and [m/s²] of who is ahead on the lane that one comes from
AT_FORK = 20.0  # [m] behind a car up to which it looks for those who leave the other lane at a fork
SHARP = 5.0  # [m/s] that bends allow at least where one changes: in sharper ones the rear swings out
SLOW = 4.0  # [m/s] below which one changes only where one has to
CROSSED, ON = 30.0, 0.5  # [m] ahead up to which it minds who crosses over as fast; beside the lane that it comes to
QUEUE = 10.0  # [m] ahead within which one stands who has to change there as well


@inlined
def has_neighbour(sides, lanelet):
    """Whether some lanelet runs beside one in the same direction."""
    for row in range(sides.offsets[lanelet], sides.offsets[lanelet + 1]):
        if (sides.rows[row, 1] & SAME) != 0:
            return True
    return False


@inlined
def crosses_over(road, travel, e, left):
    """Whether a car shifts to a lane from the one beside it, on its right if `left`, and is still between both."""
    if not is_aside(travel[e]) or is_left(travel[e]) == left:
        return False
    base = road.car_sizes[e, FRONT_AXLE] - road.car_sizes[e, REAR_AXLE]
    return abs(offset_at(travel[e], 0.0, base)) > ON


@inner
def see_beside(road, sides, travel, entries, ways, i):
    """Gaps to and speeds of who is next on the lane that a car is leaving, and of who is next of those that cross it.

    They cross over from the lane that it comes to. Beside it nobody is seen.

    Returns
    -------
    gap, leader, crossing, pace : float
        Gaps are along its own way, infinite for nobody [m], [m/s], [m], [m/s].
    """
    one, length, left = travel[i], road.car_sizes[i, CAR_LENGTH], travel[i, OFFSET] > 0.0
    base, k, searched, gap, leader = -one[STATION], 0, -1, math.inf, 0.0
    square = one[SPEED] * one[SPEED]
    while k < ways.lanelets.shape[1] and base < length + one[RUN]:
        lanelet = ways.lanelets[i, k]
        if lanelet < 0:
            break
        row = side_row(sides, lanelet, max(-base, 0.0), left)
        # a lanelet that runs beside several of its own has been searched to its end, and holds the car itself
        if row >= 0 and (sides.rows[row, 1] & SAME) != 0 and sides.rows[row, 0] != searched:
            other, station = sides.rows[row, 0], max(-base, 0.0)
            here, searched = map_beside(sides, row, station), other
            # from beside its rear on: the lane beside may have begun before the lanelet that comes next
            for at in range(place_in_order(entries, other, here - max(base, 0.0) + 0.01), entries.first[other + 1]):
                e = entries.order[at]
                spot = entries.stands[e, SPOT]
                # in bends the other lane is longer or shorter
                ahead = base + map_back(sides, row, station + spot - here, spot) - length
                gap, leader = (ahead, entries.sorted_stands[at, 1]) if gap == math.inf else (gap, leader)
                if ahead > CROSSED + 0.5 * square / SAFE:
                    break
                if e < travel.shape[0] and ahead > 0.0 and crosses_over(road, travel, e, left):
                    pace = travel[e, SPEED]
                    if ahead <= CROSSED + 0.5 * max(square - pace * pace, 0.0) / SAFE:
                        return gap, leader, ahead, pace
            if gap < math.inf:
                break
        base += road.lanelets[lanelet, LENGTH]
        k += 1
    return gap, leader, math.inf, 0.0


@inner
def see_aside(road, sides, travel, intent, plan, entries, ways, i):
    """Bound the speed of a car that shifts sideways, and let it see who is ahead on the lane beside its own."""
    one = travel[i]
    if one[RUN] > 0.0:
        plan[DESIRED] = max(min(plan[DESIRED], shift_speed(one)), 0.5)
    row = side_row(sides, intent[i, LANELET], one[STATION], is_left(one))
    if row < 0:
        return
    sizes, is_same, gap, leader = road.car_sizes[i], (sides.rows[row, 1] & SAME) != 0, math.inf, 0.0
    base = sizes[FRONT_AXLE] - sizes[REAR_AXLE]
    if is_same:
        gap, leader, crossing, pace = see_beside(road, sides, travel, entries, ways, i)
        # who crosses over ahead of it is between both lanes, and so is it itself
        is_between = abs(offset_at(one, base, base)) > ON
        if is_between and rest_of(crossing, pace) < rest_of(plan[SIDE_GAP], plan[SIDE_LEADER]):
            plan[SIDE_GAP], plan[SIDE_LEADER] = crossing, pace
    if has_cleared(road, sides, one, intent[i, LANELET], sizes, row):
        return
    # it changes lanes, and is still on the one that it leaves
    if is_same:
        able = clearing_speed(one[OFFSET], one[RUN], one[MOVED], gap, leader)
        if able > CRAWLS:
            plan[DESIRED] = min(plan[DESIRED], able)
        if able < math.inf:  # it may have to stop behind who is ahead there
            stop = gap - SPARE + 0.5 * leader * leader / BRAKES
            if one[SPEED] < CRAWLS:  # who creeps past the place comes to rest as gently as from any other
                stop = max(stop, 0.5 * one[SPEED] * one[SPEED] / BRAKES)
            plan[STOP] = min(plan[STOP], stop)
        return
    # it passes somebody against an oncoming lane
    gap, leader = see_oncoming(road, sides, travel, entries, i, row)
    plan[DESIRED] = min(plan[DESIRED], PASS_SPEED)
    if rest_of(gap, leader) < rest_of(plan[SIDE_GAP], plan[SIDE_LEADER]):
        plan[SIDE_GAP], plan[SIDE_LEADER] = gap, leader


@inner
def evaluate(road, crossings, sides, seed, state, work, i, row, tree, dt):
    """Judge a change to the neighbour of a row.

    Returns
    -------
    place : float
        Station of the rear there [m], negative where one may not change.
    gain : float
        Advantage by MOBIL [m/s²].
    own : float
        Acceleration there [m/s²].
    theirs : float
        Acceleration of who would be behind [m/s²], infinite for nobody.
    """
    travel, intent, drawn, plans, entries = state.travel, state.intent, work.drawn, work.plan, work.entries
    destination = work.destinations[i]
    cars, speed, length, lanelet = intent.shape[0], travel[i, SPEED], road.car_sizes[i, CAR_LENGTH], intent[i, LANELET]
    target, values, plan, own_station = sides.rows[row, 0], drawn[i], plans[i], travel[i, STATION]
    station = map_beside(sides, row, own_station)
    allowed = (sides.rows[row, 1] & (SAME | MAY_CROSS)) == SAME | MAY_CROSS
    allowed = allowed and sides.spans[row, 1] - sides.spans[row, 0] >= ROOM
    if not allowed or station < 0.0 or station + length > road.lanelets[target, LENGTH]:
        return -1.0, 0.0, 0.0, 0.0
    # what it would follow there: the next one on the lane, or somebody who has just left that lane at a fork
    gap, leader = leader_from(road, seed, intent, entries, i, destination, target, station, station + length)
    desired = plan[DESIRED]
    if road.lanelets[target, LIMIT] < road.lanelets[lanelet, LIMIT] and values[OWN_SPEED] < 0.0:
        desired = min(desired, values[FACTOR] * road.lanelets[target, LIMIT])
    beside, pace = behind_fork(crossings, entries, target, station - AT_FORK)
    if beside - station - length < gap:
        gap, leader = beside - station - length, pace
    own_values = values[HEADWAY], values[LEAST], values[STRONGEST], values[COMFORTABLE]
    own = follow(int(values[MODEL]), speed, desired, gap, leader, own_values, dt) if gap > 0.0 else -math.inf
    other, theirs, behind = worst_behind(road, sides, drawn, plans, entries, cars, target, station, speed, tree, dt)
    if other >= 0 and behind > 0.0 and entries.stands[other, PACE] <= STANDS:
        theirs = max(theirs, 0.0)  # who stands has not to brake, however close
    # MOBIL's incentive: its own gain, and politeness times those of the new follower and of the old one
    gain = own - follow(int(values[MODEL]), speed, desired, plan[GAP], plan[LEADER], own_values, dt)
    if other >= 0 and gap > 0.0 and behind > 0.0:
        before = follows(drawn, plans, entries, cars, other, gap + length + behind, leader, dt)
        gain += POLITENESS * (theirs - before)
    # the old follower: the nearest one behind on its own lane
    rank = place_in_order(entries, lanelet, own_station - 1e-9) - 1
    if rank >= entries.first[lanelet]:
        follower = entries.order[rank]
        rest = own_station - entries.stands[follower, SPOT] - entries.stands[follower, EXTENT]
        if rest > 0.0:
            now = follows(drawn, plans, entries, cars, follower, rest, speed, dt)
            then = follows(drawn, plans, entries, cars, follower, rest + length + plan[GAP], plan[LEADER], dt)
            gain += POLITENESS * (then - now)
    return station, gain, own, theirs


@inlined
def bend_speed(road, lanelet, station):
    """Speed that the bends of a lanelet allow at a station, braking comfortably before those that come [m/s]."""
    piece, u = piece_at(road, lanelet, station)
    return math.sqrt(max(road.pieces[piece, SQUARE] + u * road.pieces[piece, CHANGE], 0.0))


@inner
def has_ground(road, crossings, seed, travel, intent, plan, i, destination, target, station, across):
    """Whether a car can shift clear of conflict areas, lines, sharp bends and the end of its way."""
    length, run = road.car_sizes[i, CAR_LENGTH], run_of(travel[i, SPEED], across)
    if min(plan[LINE], plan[CHAIN]) < run:
        return False
    end = station + length + run
    if end > road.lanelets[target, LENGTH] and not has_lane_behind(road, seed, intent, i, destination, target):
        return False
    lanelet, own = intent[i, LANELET], travel[i, STATION]
    # from its rear on: what bends allow includes braking for those that come
    if bend_speed(road, lanelet, own) < SHARP or bend_speed(road, target, station) < SHARP:
        return False
    return has_no_conflicts(
        road, crossings, seed, intent, i, destination, target, station - 2.0, end
    ) and has_no_conflicts(
        road,
        crossings,
        seed,
        intent,
        i,
        destination,
        lanelet,
        own - 2.0,
        min(own + length + run, road.lanelets[lanelet, LENGTH]),
    )


@inlined
def queues_to_change(road, sides, travel, intent, work, i, wanted):
    """Whether a car stands or creeps behind somebody who has to change to the same lane, and is let in first."""
    lanelet, at = intent[i, LANELET], work.entries.ranks[i] + 1
    if travel[i, SPEED] > SLOW or work.plan[i, GAP] > QUEUE or at >= work.entries.first[lanelet + 1]:
        return False
    e = work.entries.order[at]
    return e < intent.shape[0] and wanted_change(road, sides, work.destinations[e], lanelet) == wanted


@inner
def choose_change(road, crossings, sides, seed, state, work, i, tree, dt, wanted, is_due, others):
    """Row of `Sides` by which a car changes lanes after this step, -1 for none; and its station there [m].

    Who has to change, and cannot yet, lets itself fall back, and asks those behind to be let in. With `is_due`,
    something stands in its way.
    """
    travel, intent, destination = state.travel, state.intent, work.destinations[i]
    lanelet, plan, own_station, best = intent[i, LANELET], work.plan[i], travel[i, STATION], -1
    place, most = 0.0, THRESHOLD
    if wanted >= 0 and not is_due and travel[i, SPEED] < SLOW and goes_on(road, destination, lanelet):
        # in a queue one goes on and merges, unless other ways take far longer
        if destination < 0 or not must_change(road, sides, destination, lanelet):
            return best, place
    if wanted < 0 and min(plan[LINE], plan[CHAIN]) <= BEFORE_LINE:
        return best, place
    first, last = sides.offsets[lanelet], sides.offsets[lanelet + 1]
    if wanted >= 0:
        first = wanted_row(sides, lanelet, own_station, wanted)
        last = first + 1 if first >= 0 else first
    for row in range(first, last):
        # a change by choice has to leave it on its way
        if wanted < 0:
            beside = sides.spans[row, 0] <= own_station <= sides.spans[row, 1]
            if not (beside and stays_on_way(road, sides, destination, sides.rows[row, 0])):
                continue
        if wanted >= 0 and not is_due and is_lane_shut(sides, state, work, i, row, True, work.counts[0], others):
            continue
        station, gain, own, theirs = evaluate(road, crossings, sides, seed, state, work, i, row, tree, dt)
        if station < 0.0:
            continue
        # safe for itself and for the new follower; of those by choice the one of most advantage
        if own >= -SAFE and theirs >= -SAFE:
            # looked at last, since few changes are worth while
            if wanted >= 0 or (
                gain > most and not is_lane_shut(sides, state, work, i, row, False, work.counts[0], others)
            ):
                best, place, most = row, station, gain
        elif wanted >= 0:
            plan[YIELDS] = min(plan[YIELDS], max(own, -ADAPTS))
            if not queues_to_change(road, sides, travel, intent, work, i, wanted):
                make_room(road, sides, work, sides.rows[row, 0], station, travel[i, SPEED], dt)
    if best < 0:
        return best, place
    across, speed = across_to(road, sides, best, lanelet, own_station), travel[i, SPEED]
    gap = gap_beside(sides, best, own_station, road.car_sizes[i, CAR_LENGTH], plan[GAP])
    run = run_past_body(speed, across, gap, plan[LEADER]) if is_due else run_of(speed, across)
    duration = run / max(speed, 1.0)
    leader = max(plan[LEADER] - 0.5 * SAFE * min(duration, plan[LEADER] / SAFE), 0.0)  # should it brake from now on
    is_clear = is_clear_before(across, run, 0.0, speed, gap, leader)
    if is_clear and has_ground(
        *(road, crossings, seed, travel, intent, plan, i, destination, sides.rows[best, 0], place, across)
    ):
        return best, place
    return -1, 0.0


@inlined
def stays_on_way(road, sides, destination, target):
    """Whether one comes to where it goes from the neighbour as well, without changing back."""
    if wanted_change(road, sides, destination, target) >= 0:
        return False
    if destination >= 0:
        return road.hops[destination * road.lanelets.shape[0] + target] >= 0
    return True


@inner
def change_over(road, sides, seed, state, work, i, row):
    """Put a car that has moved on the lanelet beside it; its pose stays what it is."""
    travel, intent, ways, destination = state.travel, state.intent, work.ways, work.destinations[i]
    target, sizes = sides.rows[row, 0], road.car_sizes[i]
    gap = gap_beside(sides, row, travel[i, STATION], sizes[CAR_LENGTH], work.plan[i, GAP])
    # both axles are projected on the other centreline: the line through their offsets keeps position and heading
    base = travel[i, STATION] + sizes[REAR_AXLE]
    x, y = point_ahead(road, seed, intent, ways, i, destination, base, 0.0)
    wheelbase = sizes[FRONT_AXLE] - sizes[REAR_AXLE]
    u, w = point_ahead(road, seed, intent, ways, i, destination, base + wheelbase, 0.0)
    guess = map_beside(sides, row, base)
    rear, offset = foot_on(road, target, guess, x, y)
    ahead, further = foot_on(road, target, guess + wheelbase, u, w)
    one = travel[i]
    one[STATION], one[OFFSET], one[SIDEWAYS], one[MOVED] = max(rear - sizes[REAR_AXLE], 0.0), offset, 0.0, 0.0
    one[SLOPE] = (further - offset) / wheelbase if ahead < road.lanelets[target, LENGTH] else 0.0
    one[RUN] = run_past_body(one[SPEED], offset, gap, work.plan[i, LEADER])
    intent[i, LANELET] = target
    intent[i, NEXT], _ = following(road, seed, i, intent[i, SERIAL], destination, target, intent[i, GOAL])
