"""Perception of reactive cars along their way: leader, speed that may be driven, where to stop, conflicts ahead."""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined, inner
from cbsim.traffic.kernels.branches import errs_at
from cbsim.traffic.kernels.drivers import COMFORTABLE, FACTOR, LEAST, RUNS_STOPS, STRONGEST
from cbsim.traffic.kernels.drivers import SPEED as OWN_SPEED
from cbsim.traffic.kernels.ways.centreline import piece_at
from cbsim.traffic.kernels.ways.crosswalks import place_to_stop
from cbsim.traffic.kernels.ways.lights import BEFORE_LINE, gives_up_claim
from cbsim.traffic.kernels.ways.way import next_on_way
from cbsim.traffic.kernels.workspace import ALONE, COMER, ETA, EXTENT, HEAD, HOLDER, LEFT_IN, PACE, READY, SPOT
from cbsim.world.traffic.tables import (
    BACK,
    CAR_LENGTH,
    CLAIM,
    CROSSING,
    ENTRY,
    ENTRY_END,
    ENTRY_SPEED,
    EXTRAS,
    FIRST_GOAL,
    FORK_END,
    FORKS,
    GOAL,
    HIT,
    LANELET,
    LAST_GOAL,
    LENGTH,
    LIMIT,
    MERGES,
    OTHER,
    PAUSING,
    PHASE,
    ROLLING,
    SHIFT,
    SPEED,
    STATION,
    STOP_LINE,
    STOPPED,
    VEHICLE,
    WANDER,
    WANDER_END,
)

__all__ = [
    "BEYOND",
    "CHAIN",
    "CHAIN_END",
    "DESIRED",
    "GAP",
    "LEADER",
    "LINE",
    "NEXT_WAIT",
    "PASSED",
    "SIDE_GAP",
    "SIDE_LEADER",
    "STANDS",
    "STOP",
    "WAY_END",
    "YIELDS",
    "behind_fork",
    "clear_conflict",
    "go_through",
    "hold",
    "leaders_on",
    "look",
    "not_passed",
    "rest_of",
    "see_beyond_end",
    "travel_time",
]

# columns of `CarWorkspace.plan`: gap to the leader [m] and its speed [m/s], the speed that is wanted [m/s]; distances
# of the front from where to stop, from the next stop line, from the begin of conflicts that need a claim, and from
# their end [m]; distance of the front from the end of the way [m]; gap to who is next on the other ways of forks, and
# its speed, as long as widths overlap; most acceleration that leaves room for who changes lanes [m/s²]; distance of the
# next place behind those conflicts where one may have to wait [m]
GAP, LEADER, DESIRED, STOP, LINE, CHAIN, CHAIN_END, WAY_END, SIDE_GAP, SIDE_LEADER, YIELDS, NEXT_WAIT = range(12)
SMALL, BESIDE = 1.0, 0.1  # [m] along the lane: people; behind its front at which somebody small is beside a car
PASSED = 0.3  # [m] beyond a line at which it has been passed
BEYOND = 1.5  # [m] ahead of the front within which the line stands that a car has been let over
NO_STOP = 40.0  # [m] behind a stop line in which its conflicts begin
BEHIND_FORK = 10.0  # [m] conflicts that begin so soon behind a fork are waited for before it
SPARE = 2.0  # [m] more than its length that a car needs to wait between two conflict areas
SQUARE, CHANGE = 6, 7  # columns of `Road.pieces`: square of the allowed speed, and its change [m²/s²]
SLOWEST, STANDS = 0.5, 0.1  # [m/s] that bends allow, and below which one stands
BRAKES, LONGEST = 4.5, 250.0  # [m/s²] at most, of who is ahead; [m] of conflicts that are claimed together


@inlined
def travel_time(distance, speed, desired, acceleration):
    """Time in which a car goes a distance, if it accelerates to the speed that it wants [s]."""
    if distance <= 0.0:
        return 0.0
    top = max(desired, speed, 0.5)
    way = (top * top - speed * speed) / (2.0 * acceleration)
    if distance < way:
        return (math.sqrt(speed * speed + 2.0 * acceleration * distance) - speed) / acceleration
    return (top - speed) / acceleration + (distance - way) / top


@inlined
def clear_conflict(claims, row):
    """Forget all that has been noted of a conflict."""
    for side in range(2):
        claims.areas[row, side, HOLDER] = claims.areas[row, side, COMER] = claims.areas[row, side, HEAD] = -1
        claims.times[row, side, LEFT_IN], claims.areas[row, side, ALONE] = 0.0, 0
    claims.areas[row, 0, HEAD] = -2


@inlined
def touch(claims, row):
    """List a conflict of which something is noted for the first time in a step."""
    if claims.areas[row, 0, HEAD] == -2:
        claims.areas[row, 0, HEAD], claims.touched[claims.size[1]] = -1, row
        claims.size[1] += 1


@inlined
def hold(claims, row, side, who, left_in):
    """Note that somebody is in a conflict area, or may enter it, and in which time it leaves [s]."""
    touch(claims, row)
    holder = claims.areas[row, side, HOLDER]
    claims.times[row, side, LEFT_IN] = max(claims.times[row, side, LEFT_IN], left_in)
    if holder == -1:
        claims.areas[row, side, HOLDER] = who
    elif holder != who:
        claims.areas[row, side, HOLDER] = -2


@inlined
def go_through(crossings, claims, row, side, who, rest, left_in):
    """Note that a car is in a conflict area, or may enter it, and how far its rear is from the end [m].

    In a merging conflict it is listed; nobody may follow it if it stays, or if there is no place in the list.
    """
    hold(claims, row, side, who, left_in)
    if crossings.rules[row, MERGES] == 0:
        return
    at = claims.size[0]
    if left_in == math.inf or at == claims.rests.shape[0]:
        claims.areas[row, side, ALONE] = 1
    if at == claims.rests.shape[0]:
        return
    listed, place = claims.merging[at], 2 * row + side
    listed[0], listed[1], listed[2] = claims.areas[row, side, HEAD], who, place
    claims.rests[at], claims.areas[row, side, HEAD], claims.size[0] = rest, at, at + 1


@inlined
def announce(claims, row, side, who, eta):
    """Note that somebody comes to a conflict area, if nobody comes sooner."""
    touch(claims, row)
    if claims.areas[row, side, COMER] < 0 or eta < claims.times[row, side, ETA]:
        claims.areas[row, side, COMER], claims.times[row, side, ETA] = who, eta


@inner
def behind_fork(crossings, entries, lanelet, station):
    """Who is next beyond a station on the lanelets that fork from this one, where their widths still overlap.

    Of those who are next on several of them, it is the one who could come to rest first: somebody who stands must not
    be hidden by somebody who is nearer, but drives off on another way.

    Returns
    -------
    station : float
        Of its rear, on this lanelet [m], infinite for none.
    pace : float
        Its speed [m/s].
    """
    best, pace, first = math.inf, 0.0, math.inf
    for f in range(crossings.fork_offsets[lanelet], crossings.fork_offsets[lanelet + 1]):
        other = int(crossings.forks[f, OTHER])
        for at in range(entries.first[other], entries.first[other + 1]):
            if entries.sorted_stands[at, SPOT] > crossings.forks[f, FORK_END]:
                break
            here = entries.sorted_stands[at, SPOT] + crossings.forks[f, SHIFT]
            if here > station:
                rest = rest_of(here, entries.sorted_stands[at, PACE])
                if rest < first:
                    best, pace, first = here, entries.sorted_stands[at, PACE], rest
                break
    return best, pace


@inlined
def rest_of(gap, speed):
    """Gap to somebody ahead who has come to rest as soon as possible [m]; the speed of who comes along is negative."""
    return gap + 0.5 * speed * abs(speed) / BRAKES


@inlined
def not_passed(entries, lanelet, own, passes, length, base):
    """Place in the order of the first entry on a lanelet that is ahead of a car, whose own place is -1 on others.

    Up to a distance `passes` it passes all; small ones behind its front, who are people, stand or walk beside it.
    """
    station, front = passes - base, length - BESIDE - base
    at = own + 1 if own >= 0 else entries.first[lanelet]
    while at < entries.first[lanelet + 1]:
        spot = entries.sorted_stands[at, SPOT]
        if spot >= station and (spot >= front or entries.stands[entries.order[at], EXTENT] > SMALL):
            break
        at += 1
    return at


@inlined
def leaders_on(road, crossings, entries, lanelet, at, base, length):
    """Gaps [m] to and speeds [m/s] of who is next on a lanelet, from place `at` of the order on, and beside a fork.

    A gap is infinite where there is nobody, and that beside a fork if the leader could come to rest before.
    """
    gap, leader, beside, pace = math.inf, 0.0, math.inf, 0.0
    if at < entries.first[lanelet + 1]:
        gap, leader = base + entries.sorted_stands[at, SPOT] - length, entries.sorted_stands[at, PACE]
    if road.links[lanelet, EXTRAS] & FORKS:
        station, there = behind_fork(crossings, entries, lanelet, -base)
        ahead = base + station - length
        if rest_of(ahead, there) < rest_of(gap, leader):
            beside, pace = ahead, there
    return gap, leader, beside, pace


@inlined
def allowed_on(road, values, lanelet, base, length, is_first):
    """Speed that the limit of a lanelet allows a car now [m/s], and the square of what its bends allow [m²/s²].

    Ahead of the lanelet, the latter is that of the speed from which comfortable braking leaves what is allowed on it.
    `base` is the distance of its begin from the rear bumper [m].
    """
    own = values[FACTOR] * road.lanelets[lanelet, LIMIT] if values[OWN_SPEED] < 0.0 else values[OWN_SPEED]
    if base <= length:
        if base + road.lanelets[lanelet, LENGTH] < length and not is_first:
            return own, math.inf
        piece, u = piece_at(road, lanelet, min(max(length - base, 0.0), road.lanelets[lanelet, LENGTH]))
        return own, max(road.pieces[piece, SQUARE] + u * road.pieces[piece, CHANGE], SLOWEST * SLOWEST)
    slow = min(own, road.lanelets[lanelet, ENTRY_SPEED])
    return math.inf, slow * slow + 2.0 * values[COMFORTABLE] * (base - length)


@inlined
def destination_ahead(road, intent, i, destination, lanelet, base, length):
    """Distance of the front from the destination of a car, if that is on a lanelet [m], and whether it stops there.

    Infinite where it is not, or an object has passed it; `base` is the distance of the lanelet's begin.
    """
    if destination < 0 or int(road.destinations[destination, 0]) != lanelet:
        return math.inf, False
    ahead, first = base + road.destinations[destination, 1] - length, road.car_rows[i, FIRST_GOAL]
    if first < 0:
        return ahead, False
    row = first + intent[i, GOAL]
    stops = row == road.car_rows[i, LAST_GOAL] or road.goals[row, 1] > 0.0
    return (ahead, stops) if ahead > -PASSED else (math.inf, False)


@inlined
def announce_ahead(crossings, claims, plan, i, speed, length, strongest, ahead_of, distances, count):
    """Announce a car at the conflicts that it comes to; who stands behind somebody does not come further."""
    reached = plan[GAP] + length if plan[LEADER] < STANDS else math.inf
    reached = min(reached, plan[SIDE_GAP] + length) if plan[SIDE_LEADER] < STANDS else reached
    for n in range(count):
        e = ahead_of[n]
        if distances[n] > reached:
            break
        eta = travel_time(distances[n] - length, speed, plan[DESIRED], strongest)
        announce(claims, crossings.entry_rows[e], crossings.entry_sides[e], i, eta)


@inlined
def look(road, crossings, seed, state, work, occupied, i, time, ahead_of, distances):
    """Walk along the way of car i, and note what there is in its plan.

    Conflicts in which it is, or that it has claimed, are held, room behind them is kept; those ahead are announced.

    Parameters
    ----------
    occupied : (lanelets or 0,) [m]
        Occupied crosswalks (`cbsim.traffic.kernels.ways.crosswalks`).
    ahead_of, distances : (n,), (n,)
        Scratch: conflict entries that are announced, and the distances of the rear bumper from their begins [m].
    """
    travel, intent, values, plan = state.travel, state.intent, work.drawn[i], work.plan[i]
    entries, claims, queues, ways = work.entries, work.claims, work.queues, work.ways
    at, destination, lights = entries.ranks[i], work.destinations[i], (state.light, occupied)
    # as far as it needs to come to rest gently; distances are from its rear bumper
    speed, length = travel[i, SPEED], road.car_sizes[i, CAR_LENGTH]
    horizon = length + 20.0 + speed * (4.0 + 0.5 * speed)
    lanelet, forks = intent[i, LANELET], ways.forks[i]
    claimed, phase, base, last = intent[i, CLAIM], intent[i, PHASE], -travel[i, STATION], -1
    gap, leader, stop, line, chain, chain_end = math.inf, 0.0, math.inf, math.inf, math.inf, -math.inf
    fastest, square = math.inf, math.inf  # the speed that is wanted, and the square of another bound of it
    released, closed, count, way_end, next_wait = phase in (CROSSING, ROLLING), False, 0, math.inf, math.inf
    in_chain, k, conflict, clear, fork, side_gap, side_leader = True, 0, -1, math.inf, -math.inf, math.inf, 0.0
    while True:
        end = base + road.lanelets[lanelet, LENGTH]
        if gap == math.inf:  # nobody on the lanelets so far
            nxt = not_passed(entries, lanelet, at if k == 0 else -1, travel[i, BACK], length, base)
            gap, leader, beside, pace = leaders_on(road, crossings, entries, lanelet, nxt, base, length)
            if beside < math.inf and rest_of(beside, pace) < rest_of(side_gap, side_leader):
                side_gap, side_leader = beside, pace
        limit, bend = allowed_on(road, values, lanelet, base, length, k == 0)
        fastest, square = min(fastest, limit), min(square, bend)
        for e in range(road.links[lanelet, ENTRY], road.links[lanelet, ENTRY_END]):
            mine = claimed > 0
            begin, over = base + crossings.entry_spans[e, 0], base + crossings.entry_spans[e, 1]
            if e + 1 == claimed:
                claimed, clear = 0, over
            if over <= 0.0:  # its rear has left it
                continue
            if begin < length or mine:  # its front is in it, or it has claimed it
                left_in = travel_time(over, speed, min(fastest, math.sqrt(square)), values[STRONGEST])
                left_in = math.inf if phase in (HIT, PAUSING) else left_in
                go_through(crossings, claims, crossings.entry_rows[e], crossings.entry_sides[e], i, over, left_in)
                continue
            if closed or (line < math.inf and (phase != STOPPED or begin > line + length + NO_STOP)):
                closed = True
                if claimed > 0:
                    continue
                break  # entries are in the order of their begins: none of the others concerns it
            if chain == math.inf:  # the first conflict that it needs a claim for, or waits for before a fork
                chain, chain_end, conflict = begin - length, over, e
                if phase != ROLLING and fork >= length and begin - fork < BEHIND_FORK:
                    chain = fork - length
            elif in_chain:  # and all those behind, as long as it could not wait between two of them, or before a fork
                place = fork if fork >= length and begin - fork < BEHIND_FORK else begin
                turns_back = crossings.entry_others[e] == last  # over its own way: those behind it would stand there
                in_chain = place - chain_end < length + SPARE and (turns_back or begin - length - chain < LONGEST)
                chain_end, next_wait = (max(chain_end, over), next_wait) if in_chain else (chain_end, place)
            if count < ahead_of.shape[0] and (phase != HIT or speed >= STANDS):  # who is hit never comes to them
                ahead_of[count], distances[count] = e, begin
                count += 1
        if clear < math.inf and end >= clear + length:  # the lanelet on which it will stand behind what it has claimed
            claims.reserved[lanelet] += length + values[LEAST]
            clear = math.inf
        if road.links[lanelet, STOP_LINE] != 0 and end - length > -PASSED and not closed:
            next_wait = min(next_wait, end) if chain < math.inf and end >= chain_end else next_wait
            if released and end - length < BEYOND:
                released = False
            elif line == math.inf:
                if phase == STOPPED or not errs_at(road, seed, intent, values, i, lanelet, values[RUNS_STOPS]):
                    line = end - length
            else:
                closed = True
        if not closed:
            before = place_to_stop(road, crossings, lights, lanelet, time, base, end, length, speed, PASSED)
            if before < math.inf:
                stop, closed = min(stop, before - BEFORE_LINE), True
                if claimed > 0 and gives_up_claim(road, lanelet, k, phase, before, speed):
                    intent[i, CLAIM] = claimed = 0
        ahead, pauses = destination_ahead(road, intent, i, destination, lanelet, base, length)
        if ahead < math.inf:
            way_end, stop = ahead, min(stop, ahead) if pauses else stop
            break
        # far enough, unless what it has claimed or has to claim, and the room behind that, lie further
        if end > horizon and not ((claimed > 0 or clear < math.inf) and end < horizon + 2.0 * LONGEST):
            if closed or end > chain_end + 2.0 * (length + SPARE):
                break
        beyond, forks = next_on_way(road, seed, intent, ways, i, destination, lanelet, k, forks)
        if beyond < 0:
            way_end = end - length
            if road.car_rows[i, FIRST_GOAL] >= 0 or road.car_rows[i, VEHICLE] >= 0:
                stop = min(stop, way_end - BEFORE_LINE)
            break
        fork = end if road.links[lanelet, WANDER_END] - road.links[lanelet, WANDER] > 1 else fork
        fork = -math.inf if beyond == intent[i, LANELET] else fork  # way round: claims end before its own lanelet
        base, last, lanelet, k = end, lanelet, beyond, k + 1
    plan[GAP], plan[LEADER], plan[DESIRED] = gap, leader, max(min(fastest, math.sqrt(square)), 0.5)
    plan[SIDE_GAP], plan[SIDE_LEADER], plan[YIELDS], plan[NEXT_WAIT] = side_gap, side_leader, math.inf, next_wait
    plan[STOP], plan[LINE], plan[CHAIN], plan[CHAIN_END], plan[WAY_END] = stop, line, chain, chain_end, way_end
    queues.conflicts[i], queues.states[i] = conflict, READY
    announce_ahead(crossings, claims, plan, i, speed, length, values[STRONGEST], ahead_of, distances, count)


@inner
def see_beyond_end(road, crossings, seed, state, work, i):
    """Let a car that leaves at the end of a lanelet, with nobody ahead on its way, see who is next behind that."""
    plan, destination, ways, entries = work.plan[i], work.destinations[i], work.ways, work.entries
    if destination < 0 or road.car_rows[i, FIRST_GOAL] >= 0:
        return
    lanelet, length, base, k = state.intent[i, LANELET], road.car_sizes[i, CAR_LENGTH], -state.travel[i, STATION], 0
    forks, last = ways.forks[i], int(road.destinations[destination, 0])
    while True:
        end = base + road.lanelets[lanelet, LENGTH]
        beyond, forks = next_on_way(road, seed, state.intent, ways, i, destination, lanelet, k, forks)
        if beyond < 0 or lanelet == last:
            break
        base, lanelet, k = end, beyond, k + 1
    if beyond < 0 or end - length - plan[WAY_END] > SMALL:
        return
    gap, leader, beside, pace = leaders_on(road, crossings, entries, beyond, entries.first[beyond], end, length)
    plan[GAP], plan[LEADER] = gap, leader
    if rest_of(beside, pace) < rest_of(plan[SIDE_GAP], plan[SIDE_LEADER]):
        plan[SIDE_GAP], plan[SIDE_LEADER] = beside, pace
