"""Claims: who may enter the conflicts ahead, decided one after the other in a fixed order, junction by junction.

A car claims all conflicts between which it cannot wait together, when nobody has them, when the right of way lets it
(`cbsim.road.kernels.right_of_way`), and when there is room behind them for it and for all who hold claims to there.
"""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined
from cbsim.road.kernels.right_of_way import RIGHT, fill_ties, order_arrivals, who_yields
from cbsim.traffic.kernels.branches import errs_at
from cbsim.traffic.kernels.drivers import CAUTION, IGNORES, LEAST, STRONGEST
from cbsim.traffic.kernels.junctions.in_the_way import PATIENCE, is_in_the_way
from cbsim.traffic.kernels.lanes.bodies_ahead import room_to_pass_first
from cbsim.traffic.kernels.lanes.merging import EASY, NEAREST, is_behind_all
from cbsim.traffic.kernels.look import (
    CHAIN,
    CHAIN_END,
    DESIRED,
    GAP,
    LEADER,
    LINE,
    NEXT_WAIT,
    SIDE_GAP,
    SIDE_LEADER,
    STANDS,
    go_through,
    travel_time,
)
from cbsim.traffic.kernels.turning_round.closures import stays_there
from cbsim.traffic.kernels.turning_round.dead_ends import clear_of_fork, stands_in_fork, stands_there
from cbsim.traffic.kernels.ways.sideways import reach_of_turn
from cbsim.traffic.kernels.ways.way import next_on_way
from cbsim.traffic.kernels.workspace import (
    ALONE,
    COMER,
    ETA,
    EXTENT,
    HELD_BACK,
    HOLDER,
    LEFT_IN,
    NO_ROOM,
    NO_ROOM_NOW,
    PACE,
    READY,
    SPOT,
    STARTS,
)
from cbsim.world.traffic.tables import (
    ARRIVAL,
    ARRIVED,
    CAR_LENGTH,
    CLAIM,
    CROSSING,
    ENTRY,
    ENTRY_END,
    FREE,
    GREEN,
    LANELET,
    LENGTH,
    MERGES,
    PHASE,
    ROLLING,
    RULE,
    SERIAL,
    SPEED,
    STATION,
    STOPPED,
    WAITING,
)

__all__ = ["UNTURNED", "arbitrate", "is_behind_standing", "join", "order_waiting", "room_behind", "see_room"]

UNTURNED = 1 << 30  # place in the order of arrival of who has not arrived
JUDGES, JUDGES_EACH, MOST_JUDGED = 0.8, 0.8, 3  # [s] that one needs to see whose turn it is, and for each who waits too
AGAIN, BEFORE = 4.0, 2.0  # [m/s²] with which who drives behind conflicts is taken to come to rest; [m] before a body
LEAVES = 2.5  # [s] before others leave a conflict area in which who waits for them decides whether the gap will do
FROM_REST = 1.0  # [s] to a conflict that critical gaps, which are those of cars at rest, include
KEPT = 1.0  # [s] by which a gap that has been taken may turn out to be shorter
SURE, SLOWEST = 0.5, 6.0  # [s] more than that takes; [m/s] at least of those who have gone through an area
HURRY, HURRIED = 60.0, 0.6  # [s] of waiting after which a critical gap is so much of what it was
PASSED_OVER = 10.0  # [s] that one has been free to go and has not moved


@inlined
def join(queues, junction, who):
    """Put somebody at the head of the list of a junction."""
    queues.links[who] = queues.heads[junction]
    queues.heads[junction] = who


@inlined
def order_waiting(crossings, travel, intent, entries, watch, queues, junction, scratch):
    """Give each of those in the list of a junction its place in the order of arrival.

    Parameters
    ----------
    scratch : tuple of ndarray
        Arrivals (n,), then members, movements, approaches and places (n, 4), and ties (n, n), for the first n members;
        others, who are as good as never so many, stay without a place.
    """
    arrivals, columns, ties = scratch
    cars, size, who = intent.shape[0], 0, queues.heads[junction]
    while who >= 0 and size < arrivals.shape[0]:
        columns[0, size] = who
        if who < cars:
            arrivals[size], columns[1, size] = travel[who, ARRIVAL], crossings.entry_lanelets[queues.conflicts[who]]
        else:
            arrivals[size], columns[1, size] = watch[entries.watched[who], ARRIVED], queues.turns[who]
        columns[2, size] = crossings.ranks[columns[1, size]]
        size, who = size + 1, queues.links[who]
    while who >= 0:  # a bot's movement stands in its place
        queues.turns[who], who = UNTURNED, queues.links[who]
    queues.heads[junction] = -1
    if size == 1:
        queues.turns[columns[0, 0]] = 0
        return
    fill_ties(
        *(crossings.entry_offsets, crossings.entry_others, crossings.entry_sides, crossings.entry_rows),
        *(crossings.yields, columns[1, :size], ties[:size, :size]),
    )
    order_arrivals(arrivals[:size], columns[2, :size], ties[:size, :size], columns[3, :size])
    for n in range(size):
        queues.turns[columns[0, n]] = columns[3, n]


@inlined
def room_behind(entries, claims, closed, lanelet, base, clear, length, least, cars, beyond):
    """Room on one lanelet behind conflicts that end at a distance: whether it is enough, and what is still needed.

    Parameters
    ----------
    closed : (closures,) int64
        `State.closed`.
    base, clear : float
        Distances of the begin of the lanelet and of the end of the conflicts [m].
    length : float
        Room that is needed in all [m].
    least : float
        Room of those who hold claims to a lanelet before this one [m].
    beyond : float
        More behind a body that does not drive, or closes a lanelet: what it takes to turn round, or to pass it [m].

    Returns
    -------
    needed : float
        With those who hold claims to this one [m]; -1 where somebody stands in the way, -2 where they drive, or hold
        claims.
    """
    needed = least + claims.reserved[lanelet]
    for at in range(entries.first[lanelet], entries.first[lanelet + 1]):
        e = entries.order[at]
        rear, pace = base + entries.stands[e, SPOT], entries.stands[e, PACE]
        for_good = e >= cars and stays_there(entries, closed, e)
        if rear < clear and (e < cars or rear + entries.stands[e, EXTENT] <= clear) and not (for_good and rear > 0.0):
            continue
        more = beyond if for_good else 0.0
        room = rear - clear + pace * abs(pace) / (2.0 * AGAIN)
        ahead = entries.order[at + 1] if e < cars and at + 1 < entries.first[lanelet + 1] else -1
        if ahead >= cars and stays_there(entries, closed, ahead):  # it comes no farther than to a body before it
            room = min(room, base + entries.stands[ahead, SPOT] - BEFORE - entries.stands[e, EXTENT] - clear)
        if room >= length + more + needed:
            return needed
        return -2.0 if pace > STANDS or (needed > 0.0 and room >= length + more) else -1.0
    return needed


@inlined
def is_behind_standing(plan):
    """Whether a car is behind somebody who stands before the conflicts ahead."""
    ahead = plan[LEADER] < STANDS and plan[GAP] <= plan[CHAIN]
    return ahead or (plan[SIDE_LEADER] < STANDS and plan[SIDE_GAP] <= plan[CHAIN])


@inlined
def see_room(road, crossings, sides, seed, state, work, i, static, others):
    """Note whether there is room behind the conflicts ahead of car i, and on which lanelet its front will stand."""
    travel, intent, values, plan = state.travel, state.intent, work.drawn[i], work.plan[i]
    entries, claims, queues, ways = work.entries, work.claims, work.queues, work.ways
    destination, closed = work.destinations[i], work.routes.noted
    length, cars = road.car_sizes[i, CAR_LENGTH], intent.shape[0]
    own, least, clear = length + values[LEAST], 0.0, plan[CHAIN_END]
    lanelet, base, k, forks = intent[i, LANELET], -travel[i, STATION], 0, ways.forks[i]
    queues.places[i], queues.states[i] = lanelet, READY
    # who stands in the way of others goes on to before a body, to come back from there when they are gone
    is_beyond = travel[i, STATION] + length + plan[CHAIN] > road.lanelets[lanelet, LENGTH]
    turns = is_beyond or not stands_in_fork(road, crossings, travel, intent, i)
    clear = clear if turns else clear_of_fork(road, crossings, travel, intent, work, i)
    more = reach_of_turn(own) if turns else 0.0
    while base < clear + own + least:
        end = base + road.lanelets[lanelet, LENGTH]
        if base < clear + length:
            queues.places[i] = lanelet  # where its front will stand
        if end > clear or stands_there(entries, closed, lanelet, base, cars):
            before, least = least, room_behind(entries, claims, closed, lanelet, base, clear, own, least, cars, more)
            if least < 0.0 and turns:  # where it can change past a body, that may take less than to turn round
                past = room_to_pass_first(road, sides, state, work, i, lanelet, static, others) - values[LEAST]
                if past < more:
                    least = room_behind(entries, claims, closed, lanelet, base, clear, own, before, cars, past)
            if least < 0.0:
                queues.states[i] = NO_ROOM if least > -2.0 else NO_ROOM_NOW
                break
        beyond, forks = next_on_way(road, seed, intent, ways, i, destination, lanelet, k, forks)
        if beyond < 0:
            break
        base, lanelet, k = end, beyond, k + 1
    # behind somebody who stands before the conflicts, or on the other way of a fork in them, there is no way through
    if is_behind_standing(plan):
        queues.states[i] = HELD_BACK
    elif turns and plan[SIDE_LEADER] < STANDS and plan[SIDE_GAP] - values[LEAST] < clear:
        queues.states[i] = NO_ROOM
    # those who hold claims to there may have to wait before the next conflicts or the next line, and it behind them
    others = least - own if intent[i, CLAIM] > 0 else least  # without its own claim
    if others > 0.0 and clear + own + others > plan[NEXT_WAIT]:
        queues.states[i] = queues.states[i] if queues.states[i] != READY else NO_ROOM_NOW


@inlined
def goes_first(road, crossings, state, work, i, row, side):
    """Whether a car goes before whoever comes next to a conflict; if not, how long that one must be away [s].

    Returns
    -------
    float
        0 where it goes first, infinite where it has to wait for its turn, else the critical gap.
    """
    travel, intent, watch, values = state.travel, state.intent, state.watch, work.drawn[i]
    entries, claims, queues, cars = work.entries, work.claims, work.queues, state.intent.shape[0]
    other = claims.areas[row, 1 - side, COMER]
    if other < 0 or other == i:
        return 0.0
    stands = other < cars and travel[other, SPEED] < STANDS
    mine, theirs = travel[i, WAITING], travel[other, WAITING] if other < cars else 0.0
    # where neither road is the major one, whoever comes lets others in, too, who have stood for so long
    lets_in = stands and theirs > HURRY and theirs > mine
    lets_in = lets_in and (travel[i, SPEED] < STANDS or crossings.rules[row, RULE] >= RIGHT)
    if other < cars:
        keeps = intent[other, PHASE] == ROLLING and theirs < PASSED_OVER
        keeps = keeps or (lets_in and queues.states[other] == NO_ROOM_NOW)  # there is room once nobody else comes
        if queues.states[other] not in (READY, STARTS) and not keeps:
            return 0.0
    elif entries.watched[other] >= 0 and watch[entries.watched[other], FREE] >= PASSED_OVER:
        return 0.0
    turn, turn_of_other = queues.turns[i], queues.turns[other]
    one, two = (turn, turn_of_other) if side == 0 else (turn_of_other, turn)
    rules, yields = crossings.rules, crossings.yields
    both_stand = stands and travel[i, SPEED] < STANDS
    if lets_in or (both_stand and mine > PATIENCE):
        # whoever cannot go itself, since somebody who goes on standing is in its way, waits for another turn
        waits = is_in_the_way(road, crossings, travel, work, i, other)
        if waits and mine > PATIENCE:
            return 0.0
        if lets_in and not waits:
            return math.inf
    one_green, other_green = crossings.signalled[row, 0] != 0, crossings.signalled[row, 1] != 0
    yielding = who_yields(
        rules[row, RULE], yields[row], rules[row, GREEN], False, False, one_green, other_green, one, two
    )
    if yielding != side:
        return 0.0
    if both_stand and mine > PATIENCE and (mine > theirs or (mine == theirs and i < other)):
        return 0.0
    gap = crossings.gaps[row, side]
    if gap <= 0.0:  # the other has come to its line before
        return math.inf
    return gap * values[CAUTION] * (1.0 - (1.0 - HURRIED) * min(travel[i, WAITING] / HURRY, 1.0))


@inlined
def time_through(crossings, claims, row, side, pace, length):
    """Time for which the gap before who comes next to a conflict has lasted when the one before it leaves [s].

    Critical gaps are from front to front, whereas a conflict area is free when the rear has left it. Who went before
    is taken to be as fast and as long as who comes next.
    """
    way = crossings.spans[row, 2 + side] - crossings.spans[row, side] + length
    return max(way / max(pace, SLOWEST) - claims.times[row, side, LEFT_IN], 0.0)


@inlined
def may_enter(road, crossings, seed, state, work, i, judging, takes, dt):
    """Whether car i may enter the conflicts ahead of it, up to the end of its chain.

    `judging` is the time that it needs to see whose turn it is [s].

    Returns
    -------
    int
        The last entry of the chain and 1, or 0 where it may not; the negative of it where it will be able to when it
        gets there from its line, since those who are in its way are leaving. With `takes` all of them are held.
    """
    travel, intent, values, plan = state.travel, state.intent, work.drawn[i], work.plan[i]
    entries, claims, ways = work.entries, work.claims, work.ways
    destination = work.destinations[i]
    length, last, sign, turns_back = road.car_sizes[i, CAR_LENGTH], 0, 1, False
    lanelet, base, k, forks = intent[i, LANELET], -travel[i, STATION], 0, ways.forks[i]
    chain, chain_end = plan[CHAIN] + length - 1e-9, plan[CHAIN_END]
    ignores = errs_at(road, seed, intent, values, i, 1, values[IGNORES])
    while base <= chain_end:
        for e in range(road.links[lanelet, ENTRY], road.links[lanelet, ENTRY_END]):
            row, side = crossings.entry_rows[e], crossings.entry_sides[e]
            begin, over = base + crossings.entry_spans[e, 0], base + crossings.entry_spans[e, 1]
            if begin < chain or over > chain_end + 1e-9:
                continue
            last, merges = e + 1, crossings.rules[row, MERGES] != 0
            turns_back = turns_back or crossings.entry_others[e] == intent[i, LANELET]
            if takes:
                left_in = travel_time(over, travel[i, SPEED], plan[DESIRED], values[STRONGEST])
                go_through(crossings, claims, row, side, i, over, left_in)
                continue
            if ignores:
                continue
            holder, follows = claims.areas[row, 1 - side, HOLDER], merges and claims.areas[row, 1 - side, ALONE] == 0
            taken = holder not in (-1, i)
            if taken and follows:
                front, goes_on = over - length, over < chain_end - 1e-9
                taken = not is_behind_all(claims, travel, values, i, row, side, front, plan[DESIRED], dt, goes_on)
            if taken:
                left_in = claims.times[row, 1 - side, LEFT_IN]
                if follows:  # it comes to the conflict behind them when they have not left it
                    pace = entries.stands[holder, PACE] if holder >= 0 else 0.0
                    left_in -= max(over - begin - NEAREST, 0.0) / max(pace, SLOWEST)
                if intent[i, PHASE] in (STOPPED, ROLLING):
                    left_in += judging - travel_time(begin - length, travel[i, SPEED], plan[DESIRED], values[STRONGEST])
                elif plan[LINE] == math.inf:
                    left_in -= LEAVES
                if left_in > 0.0:
                    return 0
                sign = -1
            gap = goes_first(road, crossings, state, work, i, row, side)
            if gap == 0.0:
                continue
            other = claims.areas[row, 1 - side, COMER]
            pace = entries.stands[other, PACE]
            gap -= time_through(crossings, claims, row, 1 - side, pace, entries.stands[other, EXTENT])
            if intent[i, PHASE] == ROLLING:  # it has taken this gap already
                gap -= KEPT
            elif intent[i, PHASE] != STOPPED:  # the gap has to be there when it arrives
                comes_in = travel_time(begin - length, travel[i, SPEED], plan[DESIRED], values[STRONGEST])
                gap += max(comes_in - FROM_REST, 0.0)
            gap = max(gap, pace / (2.0 * EASY) + SURE)
            if claims.times[row, 1 - side, ETA] <= gap:
                return 0
        base += road.lanelets[lanelet, LENGTH]
        lanelet, forks = next_on_way(road, seed, intent, ways, i, destination, lanelet, k, forks)
        k += 1
        # on a way round that is shorter than its chain, a claim ends before the lanelet on which it is
        if lanelet < 0 or lanelet == intent[i, LANELET]:
            break
    # on a way that turns back over its own lanelet, who rolls would come to rest where those behind it have to go
    return 0 if turns_back and sign < 0 else sign * last


@inlined
def arbitrate(road, crossings, sides, seed, state, work, junction, dt, static, others):
    """Let those in the list of a junction claim what is ahead of them, by arrival, then by serial."""
    travel, intent, claims, queues = state.travel, state.intent, work.claims, work.queues
    candidates = queues.candidates
    size, who = 0, queues.heads[junction]
    while who >= 0:
        m = size - 1
        while m >= 0:
            j = candidates[m]
            if (travel[j, ARRIVAL], intent[j, SERIAL]) <= (travel[who, ARRIVAL], intent[who, SERIAL]):
                break
            candidates[m + 1] = j
            m -= 1
        candidates[m + 1] = who
        size, who = size + 1, queues.links[who]
    queues.heads[junction] = -1
    judging = JUDGES + JUDGES_EACH * min(size - 1, MOST_JUDGED)
    for n in range(size):
        i = candidates[n]
        values, own = work.drawn[i], work.plan[i]
        if queues.states[i] == READY:  # claims of this step may have taken the room
            see_room(road, crossings, sides, seed, state, work, i, static, others)
        if queues.states[i] != READY:
            continue
        last = 1
        for takes in range(2):  # first whether it may enter, then it holds its whole chain
            if last > 0:
                last = may_enter(road, crossings, seed, state, work, i, judging, takes == 1, dt)
        if last < 0:
            intent[i, PHASE] = ROLLING
        if last > 0:
            intent[i, CLAIM], queues.states[i] = last, STARTS
            claims.reserved[queues.places[i]] += road.car_sizes[i, CAR_LENGTH] + values[LEAST]
            if intent[i, PHASE] in (STOPPED, ROLLING):
                intent[i, PHASE] = CROSSING
                own[LINE] = math.inf
            own[CHAIN] = math.inf
