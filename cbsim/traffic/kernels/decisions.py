"""Decisions of reactive cars: what each sees, who may enter conflicts, and how each accelerates."""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined, inner
from cbsim.traffic.kernels.branches import numbered
from cbsim.traffic.kernels.drivers import (
    BRAKES_HARD,
    BRANCH_NOW,
    COMFORTABLE,
    MISTAKES,
    uniform,
    word_of,
)
from cbsim.traffic.kernels.junctions.claims import (
    UNTURNED,
    arbitrate,
    is_behind_standing,
    join,
    order_waiting,
    see_room,
)
from cbsim.traffic.kernels.junctions.clear_crosswalks import keep_crosswalks_clear
from cbsim.traffic.kernels.junctions.others import announce_others, free_others, see_arrivals
from cbsim.traffic.kernels.lanes.bodies_ahead import mind_bodies
from cbsim.traffic.kernels.lanes.changes import see_aside
from cbsim.traffic.kernels.lanes.mandatory import end_at_change
from cbsim.traffic.kernels.lanes.merging import accelerate_behind, follow_merging, moves_up
from cbsim.traffic.kernels.look import (
    BEFORE_LINE,
    CHAIN,
    DESIRED,
    GAP,
    LEADER,
    LINE,
    SIDE_GAP,
    SIDE_LEADER,
    STANDS,
    STOP,
    WAY_END,
    YIELDS,
    clear_conflict,
    look,
    see_beyond_end,
)
from cbsim.traffic.kernels.turning_round.backing import hold_junction
from cbsim.traffic.kernels.turning_round.dead_ends import is_any_closed, mind_dead_ends
from cbsim.traffic.kernels.turning_round.leaving import choose_changes
from cbsim.traffic.kernels.ways.prefetching import prefetch_rows
from cbsim.traffic.kernels.ways.sideways import is_aside, is_turning
from cbsim.traffic.kernels.ways.way import destination_of, keep_way
from cbsim.traffic.kernels.workspace import COMER, HEAD, HELD_BACK, HOLDER, LEFT_IN, READY
from cbsim.traffic.kernels.zones.parking import wait_outside
from cbsim.world.traffic.tables import (
    ARRIVAL,
    BACKING,
    CROSSING,
    HIT,
    JUNCTION,
    LANELET,
    MERGES,
    NEXT,
    PAUSING,
    PHASE,
    POOL,
    ROLLING,
    SERIAL,
    SPEED,
    STOPPED,
    WAITING,
)

__all__ = ["MOST", "WAIT", "acceleration_of", "decide"]

HARDEST = 8.0  # [m/s²] that tyres hold
ENOUGH, NEAR = 4.5, 1.0  # [m/s²] of braking before a standing body, where it suffices to stop so far before it [m]
AFTER_A_HIT = 6.0  # [m/s²]
WITHOUT_CAUSE = 6.0  # [m/s²] with which a driver brakes by mistake, for a second
ASK_BEFORE = 3.0  # [m] more than comfortable braking takes within which a car asks for a claim
WAIT = 32  # who wait at the stop lines of one junction and have a place in the order
MOST = 64  # conflicts ahead that a car announces


@inner
def decide(network, zones, state, crosswalks, work, scratch, time, count, dt, keeps):
    """Fill the plan of every car, and give claims, from what there is at a time [s].

    Parameters
    ----------
    network : tuple
        `Road`, `Crossings`, `Surroundings`, `Sides` and `Demand`.
    crosswalks : tuple of ndarray
        Stations of occupied ones, and of all (`cbsim.traffic.kernels.ways.crosswalks`).
    scratch : tuple
        Conflict entries ahead of a car and their distances; that of `order_waiting`; a stack of lanelets and stations;
        targets and places of changes.
    count : int
        Entries up to those of cars that are partly on lanelets beside their own.
    keeps : bool
        Whether crossing areas that somebody was in earlier in the step stay held: bodies move straight within a step,
        so that another one in the same area later in it could touch whoever has left.
    """
    road, crossings, around, sides, demand = network
    ahead_of, distances, waiting, tree, changes = scratch
    occupied, spans = crosswalks
    seed, travel, intent, watch, begin = state.seed[0], state.travel, state.intent, state.watch, work.counts[0]
    cars, entries, claims, queues, ways = intent.shape[0], work.entries, work.claims, work.queues, work.ways
    for n in range(claims.size[1]):  # conflicts of which something was noted in the step before
        row = claims.touched[n]
        if not keeps:
            clear_conflict(claims, row)
        else:
            forget_comers(crossings, claims, row)
    claims.size[1] = claims.size[1] if keeps else 0
    claims.size[0] = 0  # nobody has asked for room behind conflicts
    for lanelet in range(claims.reserved.shape[0]):
        claims.reserved[lanelet] = 0.0
    # bodies that make no claims go first: what they are in, and come to, is known before any car looks
    destinations, plans, drawn = work.destinations, work.plan, work.drawn
    for e in range(count):
        queues.turns[e] = UNTURNED
    see_arrivals(road, entries, watch, begin, count, time)
    announce_others(road, crossings, around, entries, watch, claims, queues, tree, begin, count)
    asking, waits, is_closed_somewhere = -1, work.queues.candidates, is_any_closed(work.routes.noted)
    for i in range(cars):  # in the order of rows, in which their tables lie in memory
        prefetch_rows(road, crossings, entries, claims, intent, travel, ways, i)
        if entries.where[i] < 0:
            continue
        destinations[i] = destination_of(road, intent, drawn, i)
        keep_way(road, seed, intent, ways, i, destinations[i])
        plan = plans[i]
        # who turns round or backs out goes by its own rules, and asks for nothing
        if is_turning(travel[i]) or intent[i, PHASE] == BACKING:
            plan[GAP], plan[LEADER], plan[DESIRED], plan[WAY_END], plan[YIELDS] = math.inf, 0.0, 2.0, math.inf, math.inf
            queues.conflicts[i], queues.states[i] = -1, READY
            if intent[i, PHASE] == BACKING:
                hold_junction(road, crossings, claims, intent[i, NEXT], i)
            continue
        look(road, crossings, seed, state, work, occupied, i, time, ahead_of, distances)
        if plan[WAY_END] < math.inf and plan[GAP] == math.inf:
            see_beyond_end(road, crossings, seed, state, work, i)
        if spans.shape[0] > 0:
            keep_crosswalks_clear(road, crossings, spans, travel, intent, work, i)
        if sides.rows.shape[0] > 0:
            if is_closed_somewhere:
                mind_dead_ends(road, crossings, sides, state, work, i, begin, count)
            if plan[WAY_END] < math.inf or (destinations[i] >= 0 and sides.changes.shape[0] > 0):  # by another lane
                end_at_change(road, crossings, sides, demand, seed, state, work, i, destinations[i])
            if is_aside(travel[i]):
                see_aside(road, sides, travel, intent, plan, entries, ways, i)
            else:
                mind_bodies(road, sides, state, work, i, begin, count)
        if state.parking.shape[0] > 0 and wait_outside(
            road, zones, state.parking, travel, plan, drawn[i], i, destinations[i], dt, time
        ):
            queues.states[i] = HELD_BACK
            continue
        phase = intent[i, PHASE]
        if phase == STOPPED and has_nothing_to_claim(crossings, intent, queues, i):
            intent[i, PHASE] = phase = CROSSING
            plan[LINE] = math.inf
        if phase == ROLLING and plan[CHAIN] == math.inf:
            intent[i, PHASE] = phase = CROSSING
        if plan[CHAIN] == math.inf or phase in (HIT, PAUSING):
            continue
        # at a line, or rolling from it: a place in the order of its junction; driving: when it would have to brake
        if phase in (STOPPED, ROLLING):
            join(queues, crossings.rules[crossings.entry_rows[queues.conflicts[i]], JUNCTION], i)
        elif plan[LINE] < plan[CHAIN] or not asks(travel[i, SPEED], drawn[i, COMFORTABLE], plan[CHAIN], dt):
            continue
        elif is_behind_standing(plan):  # who stands there is asked first
            continue
        else:
            travel[i, ARRIVAL] = time - travel[i, WAITING]
        waits[i], asking = asking, i
    for junction in range(work.counts[1]):  # before claims are given: the order of arrival decides who yields to whom
        if queues.heads[junction] >= 0:
            order_waiting(crossings, travel, intent, entries, watch, queues, junction, waiting)
    # room behind the conflicts, as it is before this step's claims; the lists of the junctions are filled again by it
    while asking >= 0:
        i, asking = asking, waits[asking]
        see_room(road, crossings, sides, seed, state, work, i, begin, count)
        join(queues, crossings.rules[crossings.entry_rows[queues.conflicts[i]], JUNCTION], i)
    for junction in range(work.counts[1]):
        if queues.heads[junction] >= 0:
            arbitrate(road, crossings, sides, seed, state, work, junction, dt, begin, count)
    # what claims change for others: cars in merging conflicts follow each other, and bodies learn that they are free
    follow_merging(road, travel, plans, claims)
    free_others(road, crossings, around, entries, watch, claims, queues, begin, count, dt)
    if sides.rows.shape[0] > 0:
        choose_changes(road, crossings, sides, demand, seed, state, work, (*changes, tree), time, dt, count)


@inlined
def has_nothing_to_claim(crossings, intent, queues, i):
    """Whether nothing conflicts behind the line of a car, or only what is on its own lanelet, on a way round."""
    entry = queues.conflicts[i]
    return entry < 0 or crossings.entry_lanelets[entry] == intent[i, LANELET]


@inlined
def forget_comers(crossings, claims, row):
    """Forget who comes to a conflict; where lanelets merge, who is in it, too."""
    for side in range(2):
        claims.areas[row, side, COMER] = -1
        if crossings.rules[row, MERGES] != 0:
            claims.areas[row, side, HOLDER] = claims.areas[row, side, HEAD] = -1
            claims.times[row, side, LEFT_IN] = 0.0


@inlined
def asks(speed, comfortable, chain, dt):
    """Whether a car asks for a claim of conflicts that begin at a distance ahead [m]."""
    return chain < 0.5 * speed * speed / comfortable + 2.0 * speed * dt + ASK_BEFORE


@inlined
def stopping(distance, comfortable, speed, dt):
    """Largest acceleration after which one can still come to rest comfortably within a distance [m/s²].

    The next speed w covers w dt and then w² / (2 b).
    """
    ahead = max(distance, 0.0)
    fast = math.sqrt(comfortable * comfortable * dt * dt + 2.0 * comfortable * ahead) - comfortable * dt
    return (fast - speed) / dt


@inlined
def acceleration_of(road, seed, travel, intent, values, plan, i, time, dt):
    """Acceleration of a car by its phase, its leader, and where it must stop [m/s²]."""
    phase, speed = intent[i, PHASE], travel[i, SPEED]
    if phase == HIT:
        return -AFTER_A_HIT
    if phase in (STOPPED, PAUSING):
        return -max(speed / dt, 0.0)
    in_queue, chosen = moves_up(plan, speed), math.inf
    for n in range(2 if plan[SIDE_GAP] < math.inf else 1):
        gap, leader = (plan[GAP], plan[LEADER]) if n == 0 else (plan[SIDE_GAP], plan[SIDE_LEADER])
        wanted = accelerate_behind(values, speed, plan[DESIRED], gap, leader, in_queue, dt)
        if wanted < -ENOUGH and leader < STANDS:  # somebody appears: models brake harder than it takes to stop
            wanted = max(wanted, -max(ENOUGH, 0.5 * speed * speed / max(gap - NEAR, NEAR)))
        chosen = min(chosen, wanted)
    stop = min(plan[STOP], plan[LINE] - BEFORE_LINE, plan[CHAIN] - BEFORE_LINE)
    if stop < math.inf:
        needed = speed * speed / (2.0 * stop) if stop > 0.0 else 0.0  # at a light turned yellow more than comfortable
        chosen = min(chosen, stopping(stop, max(values[COMFORTABLE], needed), speed, dt))
    if values[BRAKES_HARD] > 0.0:
        pool, second = road.car_rows[i, POOL], int(math.floor(time))
        word = word_of(road.words, pool, i)
        occasion = numbered(second, int(values[BRANCH_NOW]))
        if uniform(seed, MISTAKES, word, intent[i, SERIAL], occasion) < values[BRAKES_HARD]:
            chosen = min(chosen, -WITHOUT_CAUSE)
    return max(min(chosen, plan[YIELDS]), -HARDEST)
