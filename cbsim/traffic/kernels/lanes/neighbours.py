"""Neighbours on the lanelet beside a car: leader and follower after a change to it, and the ground that it takes."""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined, inner
from cbsim.traffic.kernels.drivers import COMFORTABLE, HEADWAY, LEAST, MODEL, STRONGEST
from cbsim.traffic.kernels.following import follow
from cbsim.traffic.kernels.look import DESIRED, STOP
from cbsim.traffic.kernels.ways.way import following
from cbsim.traffic.kernels.workspace import EXTENT, PACE, SPOT
from cbsim.world.traffic.tables import ENTRY, ENTRY_END, FIRST_GOAL, GOAL, LENGTH, SERIAL, SPEED, STOP_LINE

__all__ = ["FOLLOWS", "follows", "has_no_conflicts", "leader_from", "place_in_order", "stop_at", "worst_behind"]

FOLLOWS = 1.5, 2.0, 1.4, 2.0  # headway [s], gap [m], and accelerations [m/s²] of those who are no reactive cars
AHEAD, BEHIND = 100.0, 100.0  # [m] that are looked at


@inlined
def follows(drawn, plans, entries, cars, e, gap, leader, dt):
    """Acceleration of an entry behind a leader [m/s²]."""
    pace = entries.stands[e, PACE]
    # other bodies go on at the speed that they have
    if e >= cars:
        return follow(0, max(pace, 0.0), max(pace, 1.0), gap, leader, FOLLOWS, dt)
    values = drawn[e]
    own = values[HEADWAY], values[LEAST], values[STRONGEST], values[COMFORTABLE]
    return follow(int(values[MODEL]), pace, max(plans[e, DESIRED], 0.5), gap, leader, own, dt)


@inlined
def place_in_order(entries, lanelet, station):
    """Place in the order of the first entry of a lanelet beyond a station."""
    low, high = entries.first[lanelet], entries.first[lanelet + 1]
    while low < high:
        middle = (low + high) // 2
        if entries.sorted_stands[middle, SPOT] > station:
            high = middle
        else:
            low = middle + 1
    return low


@inner
def leader_from(road, seed, intent, entries, i, destination, lanelet, station, front):
    """Gap from a front to who is next on a lanelet beyond a station, or on the way on from it [m], and its speed."""
    at = place_in_order(entries, lanelet, station)
    if at < entries.first[lanelet + 1]:
        return entries.sorted_stands[at, SPOT] - front, entries.sorted_stands[at, PACE]
    base, forks = road.lanelets[lanelet, LENGTH], intent[i, GOAL]
    while base < front + AHEAD:
        lanelet, forks = following(road, seed, i, intent[i, SERIAL], destination, lanelet, forks)
        if lanelet < 0:
            break
        at = entries.first[lanelet]
        if at < entries.first[lanelet + 1]:
            return base + entries.sorted_stands[at, SPOT] - front, entries.sorted_stands[at, PACE]
        base += road.lanelets[lanelet, LENGTH]
    return math.inf, 0.0


@inner
def worst_behind(road, sides, drawn, plans, entries, cars, lanelet, station, speed, tree, dt):
    """Whom a car that stands at a station of a lanelet from now on would make brake hardest.

    Parameters
    ----------
    tree : tuple of ndarray
        Scratch (n,), (n,): lanelets behind that are still to be looked at, and where the station is on them [m].

    Returns
    -------
    entry : int
        -1 for nobody.
    acceleration : float
        That it would have [m/s²]; infinite for nobody, and minus infinite where there is no gap.
    gap : float
        [m]
    """
    stack, places = tree
    found, worst, least = -1, math.inf, math.inf
    at = place_in_order(entries, lanelet, station) - 1
    # on the lanelet itself the nearest one behind is the only one
    if at >= entries.first[lanelet]:
        e = entries.order[at]
        gap = station - entries.stands[e, SPOT] - entries.stands[e, EXTENT]
        return e, follows(drawn, plans, entries, cars, e, gap, speed, dt) if gap > 0.0 else -math.inf, gap
    # else all lanelets that lead to it, each up to its last entry
    stack[0], places[0], size = lanelet, station, 1
    while size > 0:
        size -= 1
        one, place = stack[size], places[size]
        for k in range(sides.predecessor_offsets[one], sides.predecessor_offsets[one + 1]):
            before = sides.predecessors[k]
            there = place + road.lanelets[before, LENGTH]
            last = entries.first[before + 1] - 1
            if last >= entries.first[before]:
                e = entries.order[last]
                gap = there - entries.stands[e, SPOT] - entries.stands[e, EXTENT]
                value = follows(drawn, plans, entries, cars, e, gap, speed, dt) if gap > 0.0 else -math.inf
                if value < worst:
                    found, worst, least = e, value, gap
            # nobody is on it: whoever is on lanelets before it follows
            elif there < BEHIND and size < stack.shape[0]:
                stack[size], places[size] = before, there
                size += 1
    return found, worst, least


@inner
def has_no_conflicts(road, crossings, seed, intent, i, destination, lanelet, begin, end):
    """Whether there is no conflict area, no stop line, no goal and no end of the way between two stations of a lanelet.

    The way goes on from the lanelet as that of car i.
    """
    forks, base, has_goals = intent[i, GOAL], 0.0, destination >= 0 and road.car_rows[i, FIRST_GOAL] >= 0
    while True:
        if has_goals and int(road.destinations[destination, 0]) == lanelet:
            if begin < base + road.destinations[destination, 1] < end:
                return False
        for e in range(road.links[lanelet, ENTRY], road.links[lanelet, ENTRY_END]):
            if base + crossings.entry_spans[e, 0] < end and base + crossings.entry_spans[e, 1] > begin:
                return False
        base += road.lanelets[lanelet, LENGTH]
        if base >= end:
            return True
        # a stop line is at the end of its lanelet
        if road.links[lanelet, STOP_LINE] != 0 and base > begin:
            return False
        lanelet, forks = following(road, seed, i, intent[i, SERIAL], destination, lanelet, forks)
        if lanelet < 0:
            return False


@inlined
def stop_at(work, travel, i, distance):
    """Let a car stop at a distance, or as soon as twice its comfortable braking lets it: nearer it could not pass."""
    soonest = 0.25 * travel[i, SPEED] * travel[i, SPEED] / work.drawn[i, COMFORTABLE]
    work.plan[i, STOP] = min(work.plan[i, STOP], max(distance, soonest))
