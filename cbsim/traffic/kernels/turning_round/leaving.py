"""Leaving one's lane: who changes over, passes somebody, or turns round, decided one after the other in a step."""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inner
from cbsim.traffic.kernels.lanes.bodies_ahead import SEEN, lane_past_body
from cbsim.traffic.kernels.lanes.changes import choose_change, has_neighbour
from cbsim.traffic.kernels.lanes.mandatory import flow_appears, wanted_change
from cbsim.traffic.kernels.lanes.passing import PASSES, choose_pass, may_block
from cbsim.traffic.kernels.look import GAP, LEADER, STANDS, STOP
from cbsim.traffic.kernels.orders import keeps_lane, ordered_side
from cbsim.traffic.kernels.turning_round.dead_ends import is_any_closed
from cbsim.traffic.kernels.turning_round.turning import SOON, TURNS, choose_turn
from cbsim.traffic.kernels.ways.prefetching import prefetch_side
from cbsim.traffic.kernels.ways.sideways import is_aside, map_beside, side_row
from cbsim.world.traffic.tables import (
    BACK,
    BESIDE,
    CAR_LENGTH,
    CLAIM,
    DRIVING,
    EXTRAS,
    LANELET,
    LENGTH,
    MOVED,
    PHASE,
    SAME,
    STATION,
    STOPPED,
    WAITING,
)

__all__ = ["CHANGES", "choose_changes"]

BEAT = 0.5  # [s] between two decisions of a car
CHANGES = 64  # that are decided on in one step, others in the next
APART = 120.0  # [m] between two who change to the same lane at the same time


@inner
def is_apart(sides, places, targets, chosen, target, station):
    """Whether a change to a station of a lanelet keeps clear of those that others have decided on in this step."""
    for n in range(chosen):
        if targets[n] == target:
            if abs(places[n] - station) < APART:
                return False
            continue
        for k in range(sides.predecessor_offsets[target], sides.predecessor_offsets[target + 1]):
            if sides.predecessors[k] == targets[n]:
                return False
        for k in range(sides.predecessor_offsets[targets[n]], sides.predecessor_offsets[targets[n] + 1]):
            if sides.predecessors[k] == target:
                return False
    return True


@inner
def ordered_row(road, sides, travel, i, lanelet, left):
    """Row of `Sides` by which a car changes to the lane on a side; -1 for none there; and its station there [m]."""
    row = side_row(sides, lanelet, travel[i, STATION], left)
    if row < 0 or (sides.rows[row, 1] & SAME) == 0:
        return -1, 0.0
    place = map_beside(sides, row, travel[i, STATION])
    is_there = 0.0 <= place <= road.lanelets[sides.rows[row, 0], LENGTH] - road.car_sizes[i, CAR_LENGTH]
    return (row, place) if is_there else (-1, 0.0)


@inner
def choose_changes(road, crossings, sides, demand, seed, state, work, scratch, time, dt, others):
    """Decide who leaves its lane after this step: by a change, to pass somebody, or to turn round.

    Who has to change decides in each step, others every 0.5 s in turns by row. What they do is left in
    `CarWorkspace.changes`. Entries from `others` on are those of cars that are partly on them.
    """
    targets, places, tree = scratch
    order, travel, intent = state.order, state.travel, state.intent
    entries, destinations, chosen, static = work.entries, work.destinations, 0, work.counts[0]
    is_closed_somewhere = is_any_closed(work.routes.noted)
    # a car looks at a change by choice in one of so many decisions, in turns by row
    beats, number = max(int(math.floor(BEAT / dt + 0.5)), 1), int(math.floor(time / dt + 0.5))
    for i in range(intent.shape[0]):
        work.changes[i], work.routes.blocked[i] = -1, 0
        prefetch_side(road, sides, entries, i)
        lanelet = intent[i, LANELET]
        if entries.where[i] < 0 or intent[i, CLAIM] > 0 or is_aside(travel[i]):
            continue
        phase, decides, destination, what = intent[i, PHASE], (number + i) % beats == 0, destinations[i], -1
        waits = is_closed_somewhere and decides and travel[i, WAITING] >= SOON
        if phase != DRIVING and not (phase == STOPPED and waits):
            continue
        if (road.links[lanelet, EXTRAS] & BESIDE) == 0 or chosen + 1 >= targets.shape[0]:
            continue
        row, place, wanted = -1, 0.0, wanted_change(road, sides, destination, lanelet)
        is_free = phase == DRIVING
        side = ordered_side(order, i) if is_free else 0
        if side != 0:
            row, place = ordered_row(road, sides, travel, i, lanelet, side > 0)
            wanted = sides.rows[row, 0] if row >= 0 else wanted
        # a body that stands in its lane makes it change as well, where the next lane is free
        plan, is_due = work.plan[i], False
        # it means to stop for that
        if is_free and side == 0 and plan[STOP] < math.inf and plan[LEADER] <= STANDS and plan[GAP] < SEEN:
            if may_block(entries, travel, intent, entries.ranks[i] + 1, lanelet):
                beside = lane_past_body(road, sides, state, work, i, static, others)
                is_due = beside >= 0
                wanted = beside if is_due else wanted
        is_forced, may = row >= 0 and abs(side) == 1, decides and not keeps_lane(order, i)
        if is_free and not is_forced and (wanted >= 0 or (may and has_neighbour(sides, lanelet))):
            row, place = choose_change(road, crossings, sides, seed, state, work, i, tree, dt, wanted, is_due, others)
        if row >= 0:
            what = row if is_forced or not flow_appears(demand, sides.rows[row, 0], place) else -1
            decides = False
        blocked = decides and may_block(entries, travel, intent, entries.ranks[i] + 1, lanelet)
        if blocked or (decides and waits):
            if is_free and blocked:
                row = choose_pass(road, crossings, sides, demand, seed, state, work, i, static, others, tree)
                work.routes.blocked[i] = 1 if row == -1 else 0
            # −1 where the row is −1
            what = PASSES - row
            if row == -1:
                row = choose_turn(
                    *(road, crossings, sides, demand, travel, intent, state.watch, work, i, static, others, tree)
                )
                what = TURNS - row
            if row >= 0:
                place = map_beside(sides, row, travel[i, STATION])
        if row < 0 or what == -1:
            continue
        target, own = sides.rows[row, 0], travel[i, STATION]
        # who passes or turns round needs both lanelets, who changes only the other
        if (is_forced or is_apart(sides, places, targets, chosen, target, place)) and (
            what >= 0 or is_apart(sides, places, targets, chosen, lanelet, own)
        ):
            work.changes[i], targets[chosen], places[chosen] = what, target, place
            targets[chosen + 1], places[chosen + 1] = lanelet, own
            chosen += 1 if what >= 0 else 2
        else:
            # what `choose_pass` or `choose_turn` has noted does not hold any more
            travel[i, BACK], travel[i, MOVED] = 0.0, 0.0
