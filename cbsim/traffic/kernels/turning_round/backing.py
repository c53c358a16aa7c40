"""Backing out: who stands in a junction, or just behind one, before a body that blocks its way goes back to the fork.

It goes back along the way that it came, up to before the end of a lanelet from which another way leads on, or on which
it can turn round. From the begin on it belongs to that lanelet, on which its station is then beyond the end, and nobody
else is in the junction.
"""

from __future__ import annotations

import numpy as np

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import deferred, inlined, inner
from cbsim.traffic.kernels.blocks import tables_of
from cbsim.traffic.kernels.bodies.entries import BEFORE_END
from cbsim.traffic.kernels.bodies.standing import STOOD
from cbsim.traffic.kernels.lanes.passing import BRANCHES, is_behind_body, oncoming_in
from cbsim.traffic.kernels.look import GAP, LEADER, SIDE_GAP, SIDE_LEADER, STANDS, hold
from cbsim.traffic.kernels.turning_round.closures import is_closed, is_cut_off
from cbsim.traffic.kernels.turning_round.dead_ends import stands_in_fork
from cbsim.traffic.kernels.turning_round.turning import BEHIND, EASY, FASTEST, HOLDS, is_free
from cbsim.traffic.kernels.turning_round.turning import BLOCKED as TURNS_AFTER
from cbsim.traffic.kernels.ways.sideways import is_aside, oncoming_row
from cbsim.traffic.kernels.ways.way import AHEAD, destination_of, following
from cbsim.traffic.kernels.workspace import ALONE, COMER, ETA, EXTENT, HOLDER, SPOT
from cbsim.world.traffic.tables import (
    BACKING,
    CAR_LENGTH,
    CLAIM,
    CROSSING,
    DRIVING,
    ENTRY,
    ENTRY_END,
    GOAL,
    HIT,
    JUNCTION,
    LANELET,
    LENGTH,
    MERGES,
    NEXT,
    PHASE,
    SERIAL,
    SPEED,
    STATION,
    VEHICLE,
    WAITING,
    WANDER,
    WANDER_END,
)

__all__ = ["back", "back_out", "backing_acceleration", "hold_junction", "place_before_fork"]

BLOCKED = 30.0  # [s] of standing after which one backs out: later than one turns round, where that is possible
FURTHEST = 40.0  # [m] that one goes back
COMES = 10.0  # [s] before a body that makes no claims is in the junction
CLEAR = 1.5  # [m] behind a car that goes back within which nobody may stand


@inlined
def place_before_fork(road, i, lanelet):
    """Station of a car that stands with its front before the end of a lanelet [m]."""
    return road.lanelets[lanelet, LENGTH] - road.car_sizes[i, CAR_LENGTH] - BEFORE_END


@inner
def has_entered(road, crossings, travel, work, i):
    """Whether the front of a car has come to one of the conflicts that it has claimed."""
    # ways from the rear bumper: lanelets that begin beyond the front cannot have been entered
    base, front = -travel[i, STATION], road.car_sizes[i, CAR_LENGTH]
    for k in range(AHEAD):
        lanelet = work.ways.lanelets[i, k]
        if lanelet < 0 or base > front:
            return False
        for e in range(road.links[lanelet, ENTRY], road.links[lanelet, ENTRY_END]):
            # a conflict that the rear has left already blocks nobody
            if base + crossings.entry_spans[e, 0] < front and base + crossings.entry_spans[e, 1] > 0.0:
                return True
        base += road.lanelets[lanelet, LENGTH]
    return False


@inlined
def junction_behind(road, crossings, lanelet):
    """Junction of the conflicts on a lanelet, -1 where there are none."""
    # all conflicts of a lanelet are in one junction: the first tells which
    first = road.links[lanelet, ENTRY]
    if first == road.links[lanelet, ENTRY_END]:
        return -1
    return crossings.rules[crossings.entry_rows[first], JUNCTION]


@inner
def is_junction_free(crossings, claims, junction, i, cars):
    """Whether nobody but car i is in a junction, or may enter it; others who make no claims do not come soon."""
    for row in range(crossings.rules.shape[0]):
        if crossings.rules[row, JUNCTION] != junction:
            continue
        for side in range(2):
            if claims.areas[row, side, HOLDER] not in (-1, i):
                return False
            # rows from `cars` on are bodies that make no claims: only when they come is known of them
            if claims.areas[row, side, COMER] >= cars and claims.times[row, side, ETA] < COMES:
                return False
    return True


@inner
def hold_junction(road, crossings, claims, lanelet, i):
    """Note that a car takes the junction through which a lanelet leads, until it has left it."""
    junction = junction_behind(road, crossings, lanelet)
    for row in range(crossings.rules.shape[0] if junction >= 0 else 0):
        if crossings.rules[row, JUNCTION] != junction:
            continue
        for side in range(2):
            hold(claims, row, side, i, math.inf)
            # where ways merge, several may hold a conflict one behind another: not while one comes backwards
            if crossings.rules[row, MERGES] != 0:
                claims.areas[row, side, ALONE] = 1


@inner
def is_alone(work, lanelet, station, i):
    """Whether nobody but car i is on a lanelet before a station."""
    entries = work.entries
    for at in range(entries.first[lanelet], entries.first[lanelet + 1]):
        if entries.order[at] != i and entries.sorted_stands[at, SPOT] < station:
            return False
    return True


@inlined
def is_fork(road, lanelet):
    """Whether several ways lead on from the end of a lanelet."""
    return road.links[lanelet, WANDER_END] - road.links[lanelet, WANDER] > 1


@inlined
def goal_before(road, work, intent, i, fork):
    """Work out what column `GOAL` is when a car has gone back to the end of a lanelet: forks passed by who wanders."""
    passed = work.destinations[i] == -1 and intent[i, LANELET] != fork and is_fork(road, fork)
    return intent[i, GOAL] - (1 if passed else 0)


@inner
def leads_back(road, sides, work, i, fork):
    """Whether car i can turn round on a lanelet from which no way leads on but through closed ones."""
    # turning round is the last resort: it is for who has no way on from there
    closed, destination = work.routes.noted, work.destinations[i]
    row = oncoming_row(sides, fork, place_before_fork(road, i, fork))
    if row < 0 or not is_cut_off(road, closed, work, i, fork):
        return False
    target = sides.rows[row, 0]
    # a turn that does not lead to the destination, or into the next dead end, would be made again and again
    if destination >= 0 and road.hops[destination * road.lanelets.shape[0] + target] < 0:
        return False
    return not is_closed(closed, target) and not is_cut_off(road, closed, work, i, target)


@inner
def may_back_to(road, crossings, sides, demand, state, work, i, fork, way, tree):
    """Whether car i can go back to the end of a lanelet, the ground being free, to take another way or to turn round.

    `way` is the lanelet behind that by which it came.
    """
    travel, intent, cars = state.travel, state.intent, state.intent.shape[0]
    place, goal = place_before_fork(road, i, fork), goal_before(road, work, intent, i, fork)
    # no room on the lanelet, or no fork behind it at which it could choose again
    if place < BEHIND or goal < 0:
        return False
    # the way it would take from there: the one by which it came leads back to the body
    onward, _ = following(road, state.seed[0], i, intent[i, SERIAL], work.destinations[i], fork, goal)
    if onward < 0 or onward == way or is_closed(work.routes.noted, onward):
        if not leads_back(road, sides, work, i, fork):
            return False
    junction = junction_behind(road, crossings, way)
    if junction >= 0 and not is_junction_free(crossings, work.claims, junction, i, cars):
        return False
    # all the ground that it sweeps backwards: before the fork, on its own lanelet, and on the one between
    if not is_free(road, crossings, work.entries, fork, place - BEHIND, road.lanelets[fork, LENGTH], i):
        return False
    lanelet = intent[i, LANELET]
    if lanelet != fork and not is_alone(work, lanelet, travel[i, STATION], i):
        return False
    if lanelet not in (fork, way) and not is_alone(work, way, math.inf, i):
        return False
    # whoever comes can stop gently before it
    return oncoming_in(road, sides, demand, work.entries, fork, place - BEHIND, True, tree) == math.inf


@inlined
def leads_to(road, lanelet, other):
    """Whether one way leads on from the end of a lanelet, that to another one."""
    first = road.links[lanelet, WANDER]
    return road.links[lanelet, WANDER_END] - first == 1 and road.wanders[first] == other


@inner
def begin_to_back(road, crossings, sides, demand, state, work, i, tree):
    """Let a car begin to back out, if it can: to the end of its own lanelet, or of one before it."""
    travel, intent = state.travel[i], state.intent[i]
    lanelet, back, onward = intent[LANELET], travel[STATION], intent[NEXT]
    # with its front beyond the end of its lanelet it has chosen at that fork, and goes back to this very lanelet
    is_over = back + road.car_sizes[i, CAR_LENGTH] > road.lanelets[lanelet, LENGTH]
    fork, way, before, beyond = -1, -1, sides.predecessors, 0.0
    offsets = sides.predecessor_offsets
    if is_over and onward >= 0:
        if may_back_to(road, crossings, sides, demand, state, work, i, lanelet, onward, tree):
            fork, way = lanelet, onward
    # else to the end of one before it, or of one before that, as long as there was no other way on from those between
    first, last = (offsets[lanelet], offsets[lanelet + 1]) if offsets.shape[0] > 0 and fork < 0 else (0, 0)
    for n in range(first, last):
        one = before[n]
        if fork < 0 and (not is_over or leads_to(road, lanelet, onward)):
            if may_back_to(road, crossings, sides, demand, state, work, i, one, lanelet, tree):
                fork, way, beyond = one, lanelet, road.lanelets[one, LENGTH]
        if fork >= 0 or is_over or not leads_to(road, one, lanelet):
            continue
        for m in range(offsets[one], offsets[one + 1]):
            two = before[m]
            if fork < 0 and may_back_to(road, crossings, sides, demand, state, work, i, two, one, tree):
                fork, way, beyond = two, one, road.lanelets[one, LENGTH] + road.lanelets[two, LENGTH]
    if fork < 0 or back + beyond - place_before_fork(road, i, fork) > FURTHEST:
        return
    # on the lanelet of the fork its station is beyond the end, so that going back is driving with a falling station
    intent[GOAL] = goal_before(road, work, state.intent, i, fork)
    travel[STATION], travel[SPEED], travel[WAITING] = back + beyond, 0.0, 0.0
    intent[LANELET], intent[NEXT], intent[CLAIM], intent[PHASE] = fork, way, 0, BACKING
    hold_junction(road, crossings, work.claims, way, i)


@inner
def waits_to_back(sides, travel, intent, i):
    """Whether a car has stood long enough to back out: sooner where it cannot turn round."""
    return travel[i, WAITING] >= BLOCKED or oncoming_row(sides, intent[i, LANELET], travel[i, STATION]) < 0


@deferred("none")
def leave_claim_or_back(blocks, i, may_back, static, others):
    """Let the claims of car i lapse, or let it begin to back out, if it stands before a body."""
    (road, crossings, _, sides, demand), state, work = tables_of(blocks)
    travel, intent = state.travel, state.intent
    if not is_behind_body(road, travel, intent, state.watch, work, i, AHEAD, static, others):
        return
    if intent[i, CLAIM] > 0 and not has_entered(road, crossings, travel, work, i):
        if not stands_in_fork(road, crossings, travel, intent, i):
            intent[i, CLAIM], intent[i, PHASE] = 0, DRIVING
    elif may_back:
        tree = np.empty(BRANCHES, np.int64), np.empty(BRANCHES)
        begin_to_back(road, crossings, sides, demand, state, work, i, tree)


@inner
def claim_before_leader(road, crossings, travel, intent, work, i):
    """Of what car i has claimed, what lies before the rear of somebody who stands ahead, as in column `CLAIM`."""
    plan, base, front, kept = work.plan[i], -travel[i, STATION], road.car_sizes[i, CAR_LENGTH], 0
    ahead = plan[GAP] if plan[LEADER] < STANDS else math.inf
    ahead = front + min(ahead, plan[SIDE_GAP] if plan[SIDE_LEADER] < STANDS else math.inf)
    for k in range(AHEAD):
        lanelet = work.ways.lanelets[i, k]
        if lanelet < 0 or base >= ahead:
            break
        for e in range(road.links[lanelet, ENTRY], road.links[lanelet, ENTRY_END]):
            if base + crossings.entry_spans[e, 0] < ahead and base + crossings.entry_spans[e, 1] > 0.0:
                kept = e + 1
            if e + 1 == intent[i, CLAIM]:
                return kept
        base += road.lanelets[lanelet, LENGTH]
    return kept


@inner
def back_out(road, crossings, sides, state, work, blocks, static, others):
    """Let claims lapse of who stands before a body or a queue; let those back out who stand in or behind a junction."""
    travel, intent = state.travel, state.intent
    for i in range(intent.shape[0]):
        if travel[i, WAITING] < STOOD or work.entries.where[i] < 0 or is_aside(travel[i]):
            continue
        if intent[i, PHASE] == HIT:  # it never comes to what it has claimed
            intent[i, CLAIM] = 0
        if intent[i, PHASE] not in (DRIVING, CROSSING) or travel[i, SPEED] > STANDS:
            continue
        if intent[i, CLAIM] > 0:  # behind somebody who stands it needs none further on, and others go meanwhile
            intent[i, CLAIM] = claim_before_leader(road, crossings, travel, intent, work, i)
            intent[i, PHASE] = intent[i, PHASE] if intent[i, CLAIM] > 0 else DRIVING
        # who drives a vehicle never reverses (`driven.command_vehicles`), and only gives up what it has claimed
        may_back = road.car_rows[i, VEHICLE] < 0 and waits_to_back(sides, travel, intent, i)
        if intent[i, CLAIM] > 0 or may_back:
            leave_claim_or_back(blocks, i, may_back, static, others)


@inner
def is_taken(road, work, travel, i):
    """Whether somebody has come to stand on the next way of a car that backs out."""
    entries, base, station = work.entries, 0.0, travel[i, STATION]
    for k in range(3):
        lanelet = work.ways.lanelets[i, k]
        if lanelet < 0 or base > station:
            return False
        for at in range(entries.first[lanelet], entries.first[lanelet + 1]):
            e = entries.order[at]
            # itself, and what stands for itself among the entries of others
            if e == i or entries.watched[e] == -2 - i:
                continue
            rear = base + entries.stands[e, SPOT]
            if rear < station and rear + entries.stands[e, EXTENT] > station - CLEAR:
                return True
        base += road.lanelets[lanelet, LENGTH]
    return False


@inner
def backing_acceleration(road, work, travel, intent, i, dt):
    """Acceleration against its own way of a car that backs out [m/s²]."""
    speed = travel[i, SPEED]
    if is_taken(road, work, travel, i):
        return -min(speed / dt, HOLDS)
    left = max(travel[i, STATION] - place_before_fork(road, i, intent[i, LANELET]), 0.0)
    # to rest there, as in `turning_acceleration`
    aim = min(FASTEST, math.sqrt(EASY * EASY * dt * dt + 2.0 * EASY * left) - EASY * dt + 0.05)
    return min((aim - speed) / dt, EASY)


@inner
def back(road, seed, travel, intent, drawn, i, dt, acceleration):
    """Move a car that backs out; when its front is before the fork it goes on by another way."""
    one = travel[i]
    speed = max(one[SPEED] + acceleration * dt, 0.0)
    way = 0.5 * (one[SPEED] + speed) * dt
    one[STATION] -= way
    one[SPEED] = speed
    one[WAITING] = 0.0 if way > 0.0 else one[WAITING] + dt
    lanelet = intent[i, LANELET]
    if one[STATION] > place_before_fork(road, i, lanelet):
        return
    way, destination = intent[i, NEXT], destination_of(road, intent, drawn, i)
    intent[i, NEXT], _ = following(road, seed, i, intent[i, SERIAL], destination, lanelet, intent[i, GOAL])
    # who has no other way has stood long enough to turn round
    one[SPEED], one[WAITING], intent[i, PHASE] = 0.0, TURNS_AFTER if intent[i, NEXT] == way else 0.0, DRIVING
