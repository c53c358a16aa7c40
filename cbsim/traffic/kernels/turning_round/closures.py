"""Lanelets that are closed by a body which nobody can pass, and the ways round them.

Which lanelets are closed stands in the Snapshot; the ways are a function of that, and are worked out in the workspace
whenever it changes. A closed lanelet counts as many seconds more as nobody's detour takes: who has no other way goes
there still.
"""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import deferred, inlined, inner
from cbsim.traffic.kernels.blocks import tables_of
from cbsim.traffic.kernels.bodies.standing import STOOD, blocks_for_good, stands_for_good
from cbsim.traffic.kernels.drivers import COMFORTABLE, LEAST
from cbsim.traffic.kernels.lanes.bodies_ahead import can_change_past
from cbsim.traffic.kernels.lanes.passing import NO_QUEUE, first_not_passing
from cbsim.traffic.kernels.look import CHAIN, CHAIN_END, STANDS, STOP
from cbsim.traffic.kernels.ways.sideways import is_aside, reach_of_turn
from cbsim.traffic.kernels.ways.way import AHEAD, destination_of, following
from cbsim.traffic.kernels.workspace import EXTENT, OBSTACLES, PACE, SPOT
from cbsim.world.traffic.tables import (
    ABSENT,
    BESIDE,
    CAR_LENGTH,
    CHANGE_TIME,
    CLAIM,
    CLOSED_TIME,
    CROSSING,
    DRIVING,
    EVEN_TIMES,
    EXTRAS,
    FIRST_GOAL,
    GOAL,
    LANELET,
    LAST_GOAL,
    LENGTH,
    LIMIT,
    LONGER,
    MAY_CROSS,
    MUST,
    NEXT,
    PHASE,
    ROOM,
    SAME,
    SERIAL,
    SIGNALS,
    SPEED,
    STATION,
    STOP_LINE,
    STOPPED,
    WAITING,
    WANDER,
    WANDER_END,
)

__all__ = [
    "begin_ways",
    "close_and_open",
    "find_ways",
    "is_closed",
    "is_cut_off",
    "renew_ways",
    "stays_there",
]

BLOCKED = 20.0  # [s] of standing behind a body that cannot be passed after which a car closes its own lanelet
NEAR = 15.0  # [m] ahead of one's front up to which a body on the next lanelets is in one's way
CROSSWALK, STOPS = 10.0, 1.0  # [m] of a crosswalk, and before it, that one looks over
AT_END = 30.0  # [m] before a line or a light in which bots and literal cars may wait
NEXT_ONES = 4  # lanelets ahead that are looked at
SPARE = 2.0  # [m] before the end of a lanelet at which one can still take another way


@inner
def begin_ways(road, sides, ways, routes):
    """Fill the workspace with the ways of a road on which nothing is closed."""
    for table, source in (
        (routes.hops, road.hops),
        (routes.wanders, road.wanders),
        (routes.changes, sides.changes),
    ):
        for k in range(table.shape[0]):
            table[k] = source[k]
    for k in range(routes.known.shape[0]):
        routes.known[k] = ways.version[0]


@inner
def is_closed(closed, lanelet):
    """Whether a lanelet is closed."""
    for row in range(closed.shape[0]):
        if closed[row] == lanelet + 1:  # 0 is none
            return True
    return False


@inner
def closes_a_lanelet(entries, closed, e):
    """Whether an entry is that of a body that is no car, stands, and has an entry on a closed lanelet."""
    if entries.watched[e] < 0 or abs(entries.stands[e, PACE]) > STANDS:
        return False
    total = entries.first[entries.first.shape[0] - 1]
    # entries of a body are adjacent; those of earlier steps are not in the order
    for other in range(max(e - OBSTACLES + 1, 0), min(e + OBSTACLES, entries.where.shape[0])):
        if entries.watched[other] == entries.watched[e] and entries.ranks[other] < total:
            if entries.order[entries.ranks[other]] == other and is_closed(closed, entries.where[other]):
                return True
    return False


@inlined
def stays_there(entries, closed, e):
    """Whether an entry is that of a body that is no car, and cannot drive on its own or closes a lanelet."""
    if entries.watched[e] < -1:
        return False
    return entries.stays[e] != 0 or closes_a_lanelet(entries, closed, e)


@inner
def is_cut_off(road, closed, work, i, lanelet):
    """Whether car i can go nowhere behind a lanelet but through a closed one; `road` has the ways of the workspace.

    Those round closed lanelets are taken wherever there are any, so that it is enough to follow one way.
    """
    destination, count, one = work.destinations[i], road.lanelets.shape[0], lanelet
    for _ in range(count if destination >= 0 else AHEAD):  # a way to a destination visits no lanelet twice
        if destination >= 0:
            if one == int(road.destinations[destination, 0]):
                return False
            beside = work.routes.changes[destination * count + one] if work.routes.changes.shape[0] > 0 else -1
            one = beside % MUST if beside >= 0 else road.hops[destination * count + one]
        else:
            first = road.links[one, WANDER]
            one = road.wanders[first] if road.links[one, WANDER_END] > first else -1
        if one < 0 or is_closed(closed, one):
            return one >= 0
    return False


@inner
def renew_ways(base, around, sides, intent, work, closed):
    """Work out the ways of all cars, unless they are known for the lanelets that are closed.

    Parameters
    ----------
    base : Road
        That of the World.
    """
    routes, ways, same, is_free = work.routes, work.ways, True, True
    for row in range(closed.shape[0]):
        same = same and routes.noted[row] == closed[row]
        is_free = is_free and closed[row] == 0
    if not same:
        for row in range(closed.shape[0]):
            routes.noted[row] = closed[row]
        ways.version[0] += 1  # ways that cars keep are of another version now
        if is_free:
            begin_ways(base, sides, ways, routes)
        else:
            for lanelet in range(base.lanelets.shape[0]):
                time = max(base.lanelets[lanelet, LENGTH] / max(base.lanelets[lanelet, LIMIT], 0.1), 1e-3)
                routes.costs[lanelet] = time + (CLOSED_TIME if is_closed(closed, lanelet) else 0.0)
            wander_elsewhere(base, routes, closed)
    if is_free:
        return
    # ways to wherever somebody still goes: its destination, or all goals from the next one on
    for i in range(intent.shape[0]):
        if intent[i, PHASE] == ABSENT:
            continue
        first, last = base.car_rows[i, FIRST_GOAL], base.car_rows[i, LAST_GOAL]
        if first < 0:
            find_ways(base, around, sides, work, destination_of(base, intent, work.drawn, i))
            continue
        for row in range(first + intent[i, GOAL], last + 1):
            find_ways(base, around, sides, work, int(base.goals[row, 0]))


@inner
def wander_elsewhere(base, routes, closed):
    """Let those who wander take no lanelet that is closed, or leads only to closed ones, where there is another."""
    leads_there, changed = routes.times, True
    for lanelet in range(base.lanelets.shape[0]):
        leads_there[lanelet] = 1.0 if is_closed(closed, lanelet) else 0.0
    while changed:  # what leads only to such lanelets leads there, until none is added
        changed = False
        for lanelet in range(base.lanelets.shape[0]):
            first, last = base.links[lanelet, WANDER], base.links[lanelet, WANDER_END]
            if leads_there[lanelet] != 0.0 or first == last:
                continue
            only = True
            for k in range(first, last):
                only = only and leads_there[base.wanders[k]] != 0.0
            if only:
                leads_there[lanelet], changed = 1.0, True
    for lanelet in range(base.lanelets.shape[0]):
        first, last = base.links[lanelet, WANDER], base.links[lanelet, WANDER_END]
        for k in range(first, last):
            routes.wanders[k] = base.wanders[k]
            for n in range(1, last - first):
                other = base.wanders[first + (k - first + n) % (last - first)]
                if leads_there[routes.wanders[k]] != 0.0 and leads_there[other] == 0.0:
                    routes.wanders[k] = other


@inner
def find_ways(base, around, sides, work, destination):
    """Work out the ways to a destination round the closed lanelets, unless they are known.

    They are those of `cbsim.world.traffic.destinations.Destinations.tables_of_ways`: the times from the end of each
    lanelet to the destination go down until none does any more, in the order of lanelets and back by turns.
    """
    routes, version = work.routes, work.ways.version[0]
    if destination < 0 or routes.known[destination] == version:
        return
    routes.known[destination] = version
    count, end = base.lanelets.shape[0], int(base.destinations[destination, 0])
    times, costs = routes.times, routes.costs
    for lanelet in range(count):
        times[lanelet] = math.inf
    times[end] = 0.0
    changed, back = True, True
    while changed:  # Bellman–Ford relaxation, over the lanelets forwards and backwards by turns
        changed = False
        for k in range(count):
            lanelet = count - 1 - k if back else k
            least, _, across, _ = best_ways(around, sides, costs, times, lanelet)
            least = min(least, across)
            if least < times[lanelet]:
                times[lanelet], changed = least, True
        back = not back
    # what each lanelet does then: goes on, or changes to the one beside it where that takes no longer
    for lanelet in range(count):
        least, onward, across, beside = best_ways(around, sides, costs, times, lanelet)
        routes.hops[destination * count + lanelet] = onward
        if routes.changes.shape[0] > 0:
            changes = across <= least + EVEN_TIMES and lanelet != end
            must = MUST if least - across > LONGER else 0
            routes.changes[destination * count + lanelet] = beside + must if changes else -1


@inlined
def best_ways(around, sides, costs, times, lanelet):
    """Least time to a destination by the lanelets that follow one, and by those beside it, and the first that takes it.

    Returns
    -------
    least : float
        [s], infinite where there is no way.
    onward : int
        -1 where there is none.
    across : float
        [s]
    beside : int
    """
    least, onward, across, beside = math.inf, -1, math.inf, -1
    for k in range(around.successor_offsets[lanelet], around.successor_offsets[lanelet + 1]):
        way = around.successors[k]
        if times[way] + costs[way] < least:
            least, onward = times[way] + costs[way], way
    if sides.rows.shape[0] > 0:
        for row in range(sides.offsets[lanelet], sides.offsets[lanelet + 1]):
            fit = (sides.rows[row, 1] & (SAME | MAY_CROSS)) == SAME | MAY_CROSS
            if fit and sides.spans[row, 1] - sides.spans[row, 0] >= ROOM:
                other = sides.rows[row, 0]
                time = times[other] + (CHANGE_TIME + max(costs[other] - costs[lanelet], 0.0))
                if time < across:
                    across, beside = time, other
    return least, onward, across, beside


@inlined
def is_queue(road, entries, lanelet, at):
    """Whether an entry is a bot or a literal car that may wait, behind another one or before a line or a light."""
    e = entries.order[at]
    if entries.watched[e] < 0 or entries.stays[e] != 0:
        return False
    front = entries.stands[e, SPOT] + entries.stands[e, EXTENT]
    if at + 1 < entries.first[lanelet + 1] and entries.sorted_stands[at + 1, SPOT] < front + NO_QUEUE:
        return True
    waits = road.links[lanelet, STOP_LINE] != 0 or (road.links[lanelet, EXTRAS] & SIGNALS) != 0
    return waits and road.lanelets[lanelet, LENGTH] - front < AT_END


@deferred("int64")
def blocked_lanelet(blocks, i, static, others):
    """Lanelet on which a body stands that car i cannot pass, -1 for none.

    On its own lanelet it has looked whether it can pass, where that is allowed at all.
    """
    (road, _, _, sides, _), state, work = tables_of(blocks)
    travel, intent, watch = state.travel, state.intent, state.watch
    lanelet = intent[i, LANELET]
    length, plan = road.car_sizes[i, CAR_LENGTH], work.plan[i]
    # base: way left from its front
    entries, base = work.entries, road.lanelets[lanelet, LENGTH] - travel[i, STATION] - length
    own = length + work.drawn[i, LEAST]
    # who has stopped before a crosswalk without room behind it looks over that
    near = NEAR + CROSSWALK if plan[STOP] < STOPS else NEAR
    far = near if plan[CHAIN] == math.inf else plan[CHAIN_END] + own + reach_of_turn(own)
    # on its own lanelet: whoever is next counts if it stands for good, in no queue, and cannot be passed
    at = first_not_passing(work, travel, i, lanelet)
    if at < entries.first[lanelet + 1]:
        cannot_pass = (road.links[lanelet, EXTRAS] & BESIDE) == 0 or work.routes.blocked[i] != 0
        cannot_pass = cannot_pass or intent[i, CLAIM] > 0
        e = entries.order[at]
        # what an event has put down is told of sooner
        comes = intent.shape[0] <= e < others and entries.watched[e] >= 0 and entries.stays[e] != 0
        is_sure = travel[i, WAITING] >= BLOCKED or comes
        if cannot_pass and is_sure and not is_queue(road, entries, lanelet, at):
            if stands_for_good(work, travel, intent, watch, i, e, static, others):
                return lanelet
        return -1
    # on the next ones: the first body there, as far ahead as one has to decide before conflicts
    for k in range(1, NEXT_ONES + 1):
        one = work.ways.lanelets[i, k]
        if one < 0 or base > far:
            break
        at = entries.first[one]
        if at < entries.first[one + 1]:
            e = entries.order[at]
            is_near = base + entries.stands[e, SPOT] < far and not is_queue(road, entries, one, at)
            if is_near and stands_for_good(work, travel, intent, watch, i, e, static, others):
                return -1 if can_change_past(road, sides, state, work, i, one, at, static, others) else one
            break
        base += road.lanelets[one, LENGTH]
    return -1


@inner
def close_and_open(road, network, state, work, blocks, static, others):
    """Close the lanelets on which cars are blocked, and open those on which nobody stands any more.

    `network` is the `Road`, `Surroundings` and `Sides` of the World, `road` has the ways of the workspace; `blocks` as
    `cbsim.traffic.kernels.blocks.tables_of` has them.
    """
    closed, travel, intent, entries = state.closed, state.travel, state.intent, work.entries
    # lanelets on which nobody stands for good any more are open again
    for row in range(closed.shape[0]):
        lanelet, is_free = closed[row] - 1, True
        if lanelet < 0:
            continue
        for at in range(entries.first[lanelet], entries.first[lanelet + 1]):
            e = entries.order[at]
            if blocks_for_good(travel, intent, state.watch, work, e, static, others):
                is_free = False
                break
        if is_free:
            closed[row] = 0
    # those on which somebody blocks a car that has stood for long are closed, as long as there are rows for them
    more = False
    for i in range(intent.shape[0]):
        if travel[i, WAITING] < STOOD or intent[i, PHASE] not in (DRIVING, STOPPED, CROSSING):
            continue
        # who stands before a body in the midst of conflicts closes the way, too
        if (intent[i, CLAIM] > 0 or intent[i, PHASE] == CROSSING) and travel[i, WAITING] < BLOCKED:
            continue
        if entries.where[i] < 0 or is_aside(travel[i]):
            continue
        lanelet = blocked_lanelet(blocks, i, static, others)
        if lanelet < 0 or is_closed(closed, lanelet):
            continue
        for row in range(closed.shape[0]):
            if closed[row] == 0:
                closed[row], more = lanelet + 1, True
                break
    renew_ways(*network, intent, work, closed)
    if more:
        take_other_ways(road, state.seed[0], closed, travel, intent, work)


@inner
def take_other_ways(road, seed, closed, travel, intent, work):
    """Let those cars whose way leads through a closed lanelet, and that can still do so, go on by another."""
    for i in range(intent.shape[0]):
        if intent[i, PHASE] not in (DRIVING, STOPPED) or intent[i, CLAIM] > 0:
            continue
        lanelet, speed = intent[i, LANELET], travel[i, SPEED]
        # who cannot stop gently before the end of its lanelet keeps its way
        left = road.lanelets[lanelet, LENGTH] - travel[i, STATION] - road.car_sizes[i, CAR_LENGTH]
        if left < speed * speed / (2.0 * work.drawn[i, COMFORTABLE]) + (SPARE if speed > STANDS else 0.0):
            continue
        concerned, k = False, 1
        while k < AHEAD and work.ways.lanelets[i, k] >= 0 and not concerned:
            concerned = is_closed(closed, work.ways.lanelets[i, k])
            k += 1
        if not concerned:
            continue
        destination = destination_of(road, intent, work.drawn, i)
        intent[i, NEXT], _ = following(road, seed, i, intent[i, SERIAL], destination, lanelet, intent[i, GOAL])
