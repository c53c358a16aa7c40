"""Bodies that make no claims: bots, literal cars and models, as reactive cars see them come, stand, wait at lines."""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import deferred, inner
from cbsim.traffic.kernels.blocks import tables_of
from cbsim.traffic.kernels.bodies.entries import find_obstacles
from cbsim.traffic.kernels.driving.driven import driven_cars
from cbsim.traffic.kernels.junctions.claims import join
from cbsim.traffic.kernels.look import announce, hold
from cbsim.traffic.kernels.workspace import ALONE, EXTENT, HOLDER, PACE, SPOT
from cbsim.world.packed.kernels import constants_of, shapes_of
from cbsim.world.traffic.tables import ARRIVED, ENTRY, ENTRY_END, FREE, JUNCTION, LENGTH, PLACE, STOP_LINE, VEHICLE

__all__ = ["BRANCHES", "announce_others", "find_others", "free_others", "see_arrivals", "watched_body"]

MOVES = 0.3  # [m/s] at which other bodies are on their way
RESTS = 0.1  # [m/s] below which they have come to rest
AT_LINE = 1.0  # [m] before a line in which one has arrived, and beyond it with the front
SEEN = 60.0  # [m] ahead of other bodies in which one waits for them
BRAKES = 3.0  # [m/s²] with which they are expected to stop at a line, if that is enough
BRANCHES = 16  # lanelets ahead of another body that are still to be looked at
STARTS = 1.4  # [m/s²] with which they are expected to start


@inner
def watched_body(constants, row):
    """Body of a row of `State.watch`: literal movers, guided bodies, vehicles, then models."""
    movers, vehicles = constants.mover_body.shape[0], constants.vehicle_body.shape[0]
    if row < movers:
        return constants.mover_body[row]
    guided = constants.guided_body.shape[0]
    if row < movers + guided:
        return constants.guided_body[row - movers]
    movers += guided
    if row < movers + vehicles:
        return constants.vehicle_body[row - movers]
    return constants.first_model + row - movers - vehicles


@inner
def is_driven(road, driven, v):
    """Whether one of the cars that drive vehicles drives this one."""
    for i in range(driven):
        if road.car_rows[i, VEHICLE] == v:
            return True
    return False


@deferred("int64")
def find_others(blocks, count):
    """Append the entries of all bodies that move but are no reactive cars; return how many entries there are."""
    (road, _, around, _, _), state, work = tables_of(blocks)
    constants, shapes, entries = constants_of(blocks[0]), shapes_of(blocks[0]), work.entries
    movers, driven = constants.mover_body.shape[0], driven_cars(road)
    first = movers + constants.guided_body.shape[0]
    for row in range(state.watch.shape[0]):
        if driven > 0 and is_driven(road, driven, row - first):
            continue
        begin = count
        count = find_obstacles(road, around, shapes, state, watched_body(constants, row), count, entries)
        # what events put somewhere, but has no way to drive
        stays = movers <= row < first and constants.guided_speed[row - movers] == 0.0
        for e in range(begin, count):
            entries.watched[e], entries.stays[e] = row, 1 if stays else 0
    return count


@inner
def see_arrivals(road, entries, watch, begin, count, time):
    """Note who has come to rest at a stop line, and who has gone on."""
    # negative until it is seen at its line in this step
    for row in range(watch.shape[0]):
        watch[row, PLACE] = -watch[row, PLACE]
    for e in range(begin, count):
        row, lanelet = entries.watched[e], entries.where[e]
        if road.links[lanelet, STOP_LINE] == 0:
            continue
        before = road.lanelets[lanelet, LENGTH] - entries.stands[e, SPOT] - entries.stands[e, EXTENT]
        pace = entries.stands[e, PACE]
        # it stays at its line, or it comes to rest there
        if watch[row, PLACE] == -1.0 - lanelet and abs(pace) < MOVES and before < 2.0 * AT_LINE:
            watch[row, PLACE] = lanelet + 1.0
        elif watch[row, PLACE] <= 0.0 and abs(pace) < RESTS and -AT_LINE < before < AT_LINE:
            watch[row, PLACE], watch[row, ARRIVED], watch[row, FREE] = lanelet + 1.0, time, 0.0
    for row in range(watch.shape[0]):
        if watch[row, PLACE] <= 0.0:
            watch[row, PLACE], watch[row, ARRIVED], watch[row, FREE] = 0.0, 0.0, 0.0


@inner
def first_conflict_behind(road, around, lanelet):
    """Return the first conflict entry on a lanelet that follows one, -1 for none."""
    for k in range(around.successor_offsets[lanelet], around.successor_offsets[lanelet + 1]):
        way = around.successors[k]
        if road.links[way, ENTRY] < road.links[way, ENTRY_END]:
            return road.links[way, ENTRY]
    return -1


@inner
def announce_others(road, crossings, around, entries, watch, claims, queues, tree, begin, count):
    """Note which conflicts moving bodies are in and come to, and who waits at a line.

    All lanelets that begin on its lane are taken for one's own. Who can stop at a line is expected to.

    Parameters
    ----------
    tree : tuple of ndarray
        Scratch: lanelets that are still to be looked at, and the distances of their begins [m].
    """
    stack, bases = tree
    for e in range(begin, count):
        pace, lanelet, row = entries.stands[e, PACE], entries.where[e], entries.watched[e]
        waits = watch[row, PLACE] == lanelet + 1.0
        if waits:
            entry = first_conflict_behind(road, around, lanelet)
            if entry >= 0:
                queues.turns[e] = crossings.entry_lanelets[entry]
                join(queues, crossings.rules[crossings.entry_rows[entry], JUNCTION], e)
        elif pace < MOVES:
            continue
        front = entries.stands[e, SPOT] + entries.stands[e, EXTENT]
        # all ways that it may take from its lanelet on
        stack[0], bases[0], size = lanelet, 0.0, 1
        while size > 0:
            size -= 1
            lanelet, base = stack[size], bases[size]
            for k in range(road.links[lanelet, ENTRY], road.links[lanelet, ENTRY_END]):
                conflict, side = crossings.entry_rows[k], crossings.entry_sides[k]
                first = base + crossings.entry_spans[k, 0]
                if base + crossings.entry_spans[k, 1] < entries.stands[e, SPOT]:  # its rear has left it
                    continue
                if first < front:
                    hold(claims, conflict, side, e, math.inf)
                    claims.areas[conflict, side, ALONE] = 1
                elif first - front < SEEN:
                    # from rest it accelerates evenly
                    eta = math.sqrt(2.0 * (first - front) / STARTS) if waits else (first - front) / pace
                    announce(claims, conflict, side, e, eta)
            end = base + road.lanelets[lanelet, LENGTH]
            stops = road.links[lanelet, STOP_LINE] != 0 and pace * pace < 2.0 * BRAKES * (end - front) and not waits
            if end < front + SEEN and not stops:
                for k in range(around.successor_offsets[lanelet], around.successor_offsets[lanelet + 1]):
                    if size < stack.shape[0]:
                        stack[size], bases[size] = around.successors[k], end
                        size += 1


@inner
def free_others(road, crossings, around, entries, watch, claims, queues, begin, count, dt):
    """Add to the time for which who is first at a line has been free to go and has not moved."""
    for e in range(begin, count):
        lanelet, row = entries.where[e], entries.watched[e]
        if watch[row, PLACE] != lanelet + 1.0 or queues.turns[e] != 0:
            continue
        free = True
        # free if nobody else holds the other side of a conflict on any of its ways on
        for k in range(around.successor_offsets[lanelet], around.successor_offsets[lanelet + 1]):
            way = around.successors[k]
            for n in range(road.links[way, ENTRY], road.links[way, ENTRY_END]):
                holder = claims.areas[crossings.entry_rows[n], 1 - crossings.entry_sides[n], HOLDER]
                free = free and holder in (-1, e)
        if free:
            watch[row, FREE] += dt
