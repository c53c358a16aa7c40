"""Turning round where a road is blocked: on one arc where there is room, else in three points.

In three points a car drives forwards to the oncoming side, in reverse to its own, and forwards again, each time at its
turning circle; the rear axle ends straight across from where it began. While it turns it belongs to the oncoming
lanelet, and takes the ground that it needs of both.
"""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined, inner
from cbsim.traffic.kernels.bodies.standing import stands_for_good
from cbsim.traffic.kernels.lanes.neighbours import place_in_order
from cbsim.traffic.kernels.lanes.passing import first_not_passing, is_behind_body, oncoming_in
from cbsim.traffic.kernels.look import STANDS
from cbsim.traffic.kernels.turning_round.closures import is_closed, is_cut_off
from cbsim.traffic.kernels.ways.centreline import foot_on, on_lanelet
from cbsim.traffic.kernels.ways.sideways import TIGHT, TURNS_ROUND, map_beside, oncoming_row, reach_of_turn, way_back
from cbsim.traffic.kernels.ways.way import following, head_along
from cbsim.traffic.kernels.workspace import EXTENT, PACE, SPOT
from cbsim.world.traffic.tables import (
    BACK,
    BODY,
    CAR_LENGTH,
    CLAIM,
    ENTRY,
    ENTRY_END,
    FRONT_AXLE,
    GOAL,
    HEIGHT,
    HIT,
    LANELET,
    LENGTH,
    MAY_CROSS,
    MOVED,
    NEXT,
    OFFSET,
    PHASE,
    REAR_AXLE,
    RUN,
    SAME,
    SERIAL,
    SLOPE,
    SPEED,
    STATION,
    TURNING,
    WAITING,
)

__all__ = [
    "BEHIND",
    "BLOCKED",
    "MOST_BACK",
    "SOON",
    "TURNS",
    "begin_turn",
    "choose_turn",
    "is_free",
    "place_in_turn",
    "point_of_turn",
    "pose_turn",
]

TURNS = -1_000_000_000  # less the row of `Sides`: what `CarWorkspace.changes` holds of a car that begins to turn
BLOCKED, SOON = 20.0, 5.0  # [s] of standing behind what cannot be passed after which one turns, or knows it is closed
SHOULDER = 1.5  # [m] beyond the border of the oncoming lane that a wheel may come
FASTEST, EASY = 2.0, 1.0  # [m/s], [m/s²] in a turn
HOLDS = 4.0  # [m/s²] with which it stops when something comes in its way
DURATION = 16.0  # [s] that a turn takes, without a part in reverse at its begin, and three more
ASIDE = 0.5  # [m] by which it looks farther back where the other lane is not free
MOST_BACK, BEHIND, NEAR = 20.0, 0.4, 0.05  # [m] that one reverses at first, and that stay free behind and ahead
CONFLICTS = 1.0  # [m] from conflicts within which nobody turns


@inlined
def first_angle(radius, across):
    """Angle of the first arc; the last is as long, and that in reverse between them makes it half a turn [rad]."""
    # the end of three arcs is r (4 cos θ − 2) to the right of the begin, and has to be −across
    return math.acos(max((2.0 * radius - across) / (4.0 * radius), 0.0)) if across < 2.0 * radius else 0.5 * math.pi


@inlined
def turn_length(radius, across):
    """Length of the whole turn [m]."""
    return math.pi * radius + max(across - 2.0 * radius, 0.0)


@inlined
def point_of_turn(way, back, radius, across):
    """Place of the rear axle after a way, to the right and ahead of where it began, and the heading.

    The first part of the way, `back`, is in reverse.

    Returns
    -------
    x, y : float
        [m]
    heading : float
        [rad], positive to the left.
    left : float
        Way to the next change of gear, or to the end [m].
    """
    if way < back:
        return 0.0, -way, 0.0, back - way
    x, y, heading, left = point_of_arcs(way - back, radius, across)
    return x, y - back, heading, left


@inlined
def point_of_arcs(way, radius, across):
    """As `point_of_turn` has it, without a part in reverse at its begin."""
    angle = first_angle(radius, across)
    first, straight = radius * angle, max(across - 2.0 * radius, 0.0)
    # lanes two radii or more apart: two quarter circles, with a straight part between them
    if across >= 2.0 * radius:
        left = turn_length(radius, across) - way
        if way < first:
            return radius * (math.cos(way / radius) - 1.0), radius * math.sin(way / radius), way / radius, left
        if way < first + straight:
            return -radius - (way - first), radius, angle, left
        heading = (way - straight) / radius
        return -radius - straight + radius * math.cos(heading), radius * math.sin(heading), heading, left
    # three arcs: each about a centre that is two radii from that of the arc before
    if way < first:
        return radius * (math.cos(way / radius) - 1.0), radius * math.sin(way / radius), way / radius, first - way
    reverse = radius * (math.pi - 2.0 * angle)
    heading = way / radius
    if way < first + reverse:
        x = radius * (2.0 * math.cos(angle) - 1.0 - math.cos(heading))
        y = radius * (2.0 * math.sin(angle) - math.sin(heading))
        return x, y, heading, first + reverse - way
    x = radius * (4.0 * math.cos(angle) - 1.0 + math.cos(heading))
    return x, radius * math.sin(heading), heading, 2.0 * first + reverse - way


@inner
def has_room(road, lanelet, radius, across, wheelbase):
    """Whether the wheels stay on the road: the front axle swings out furthest at the end of the first arc."""
    if across >= 2.0 * radius:
        return True
    angle = first_angle(radius, across)
    out = radius * (1.0 - math.cos(angle)) + wheelbase * math.sin(angle) + 1.0 * math.cos(angle)
    return out <= across + 0.5 * road.widths[lanelet] + SHOULDER


@inner
def is_free(road, crossings, entries, lanelet, begin, end, own):
    """Whether nobody but an entry stands between two stations of a lanelet, and no conflict is near."""
    for e in range(road.links[lanelet, ENTRY], road.links[lanelet, ENTRY_END]):
        if crossings.entry_spans[e, 0] < end + CONFLICTS and crossings.entry_spans[e, 1] > begin - CONFLICTS:
            return False
    if begin < 0.0 or end > road.lanelets[lanelet, LENGTH]:
        return False
    for at in range(entries.first[lanelet], entries.first[lanelet + 1]):
        e = entries.order[at]
        if e != own and entries.stands[e, SPOT] < end and entries.stands[e, SPOT] + entries.stands[e, EXTENT] > begin:
            return False
    return True


@inlined
def clear_of_conflicts(road, crossings, lanelet, station):
    """Stations from and up to which a lanelet has no conflict around one; its own begin and end at most [m]."""
    begin, end = 0.0, road.lanelets[lanelet, LENGTH]
    for e in range(road.links[lanelet, ENTRY], road.links[lanelet, ENTRY_END]):
        if crossings.entry_spans[e, 0] > station:
            end = min(end, crossings.entry_spans[e, 0] - CONFLICTS)
        elif crossings.entry_spans[e, 1] < station:
            begin = max(begin, crossings.entry_spans[e, 1] + CONFLICTS)
    return begin, end


@inlined
def stops_before(entries, at, place):
    """Whether who is at a place of the order of entries stands, or comes to rest gently before a station [m]."""
    e, pace = entries.order[at], entries.sorted_stands[at, PACE]
    front = entries.stands[e, SPOT] + entries.stands[e, EXTENT]
    # car following brakes by some 4 m/s² at most before what stands so far ahead (docs/theory/car_following.md §2)
    return pace <= STANDS or front + 1.2 + pace * (1.0 + pace / 5.0) <= place


@inner
def leads_away(road, closed, work, i, target):
    """Whether car i can go on from a lanelet to where it goes, through none that is closed."""
    destination = work.destinations[i]
    if destination >= 0 and road.hops[destination * road.lanelets.shape[0] + target] < 0:
        return False
    return not is_closed(closed, target) and not is_cut_off(road, closed, work, i, target)


@inner
def choose_turn(road, crossings, sides, demand, travel, intent, watch, work, i, static, others, tree):
    """Row of `Sides` to whose lanelet a car turns round after this step, since it is blocked; -1 for none.

    A body blocks it, or the queue in which it waits, for good, or closed lanelets do on all of its ways.
    """
    entries, closed, destination, lanelet = work.entries, work.routes.noted, work.destinations[i], intent[i, LANELET]
    if intent[i, CLAIM] > 0 or travel[i, WAITING] < SOON or destination == -2:
        return -1
    station, length = travel[i, STATION], road.car_sizes[i, CAR_LENGTH]
    at, row = first_not_passing(work, travel, i, lanelet), oncoming_row(sides, lanelet, station)
    if row < 0:
        return -1
    target, blocked = sides.rows[row, 0], at < entries.first[lanelet + 1]
    blocked = blocked and stands_for_good(work, travel, intent, watch, i, entries.order[at], static, others)
    if not blocked and is_closed(closed, lanelet):  # the last of a queue has to turn first, where it has closed up
        blocked = is_behind_body(road, travel, intent, watch, work, i, 1, static, others)
    if not blocked and (is_closed(closed, target) or is_cut_off(road, closed, work, i, target)):
        return -1
    knows = is_closed(closed, lanelet) and (sides.rows[row, 1] & MAY_CROSS) == 0
    if not (blocked and (travel[i, WAITING] >= BLOCKED or knows)):
        if not is_cut_off(road, closed, work, i, lanelet):
            return -1
    # how far it has to reverse so that the ground ahead is clear
    reach, rear = reach_of_turn(length), station + road.car_sizes[i, REAR_AXLE]
    _, end = clear_of_conflicts(road, crossings, lanelet, station)
    if at < entries.first[lanelet + 1]:
        end = min(end, entries.stands[entries.order[at], SPOT])
    back = max(rear + reach - end + NEAR, 0.0)
    there = map_beside(sides, row, rear)
    begin, _ = clear_of_conflicts(road, crossings, target, there)
    back = max(back, begin - there + reach + NEAR)
    at = place_in_order(entries, target, there) - 1
    if at >= entries.first[target] and abs(entries.sorted_stands[at, PACE]) < STANDS:  # what stands on both lanes
        e = entries.order[at]
        back = max(back, entries.stands[e, SPOT] + entries.stands[e, EXTENT] - there + reach + NEAR)
    if destination >= 0 and road.hops[destination * road.lanelets.shape[0] + target] < 0:
        return -1
    while True:
        if back > MOST_BACK or rear - back < 0.0:
            return -1
        if rear - back < sides.spans[row, 0]:  # another lanelet runs beside it there
            further = oncoming_row(sides, lanelet, rear - back)
            if further < 0:
                back += ASIDE
                continue
            if further != row and not leads_away(road, closed, work, i, sides.rows[further, 0]):
                return -1
            row, target = further, sides.rows[further, 0]
        x, y = on_lanelet(road, lanelet, rear - back)
        there, across = foot_on(road, target, map_beside(sides, row, rear - back), x, y)
        if is_free(road, crossings, entries, target, there - reach, there + length, -1):
            break
        back += ASIDE  # where the lanes are not parallel, what stands on the other one may still be in the way
    rear, behind = rear - back, station - back - BEHIND
    radius, across = TIGHT * length, abs(across)
    if not has_room(road, target, radius, across, road.car_sizes[i, FRONT_AXLE] - road.car_sizes[i, REAR_AXLE]):
        return -1
    if not is_free(road, crossings, entries, lanelet, behind, max(rear + reach, station), i):
        return -1
    at = entries.ranks[i] - 1
    # who drives up behind it, and on the other lane, has to be able to stop gently
    if back > 0.0 and at >= entries.first[lanelet] and not stops_before(entries, at, behind):
        return -1
    at = place_in_order(entries, target, there - reach) - 1
    if at >= entries.first[target] and entries.sorted_stands[at, PACE] > STANDS:
        e = entries.order[at]
        if (e < intent.shape[0] and intent[e, PHASE] == HIT) or not stops_before(entries, at, there - reach):
            return -1  # nobody knows where who has been hit comes to rest
    duration = DURATION + back / FASTEST
    if oncoming_in(road, sides, demand, entries, target, there - reach, True, tree) < duration:
        return -1
    for beside in range(sides.offsets[target], sides.offsets[target + 1]):  # lanes that its front swings out to
        outer, place = sides.rows[beside, 0], map_beside(sides, beside, there - reach)
        if (sides.rows[beside, 1] & SAME) != 0 and sides.spans[beside, 0] <= there <= sides.spans[beside, 1]:
            if not is_free(road, crossings, entries, outer, place, place + reach + length, -1):
                return -1
            if oncoming_in(road, sides, demand, entries, outer, place, False, tree) < duration:
                return -1
    travel[i, MOVED] = back  # nobody reads it before the turn begins, after this step
    return row


@inner
def begin_turn(road, sides, seed, state, work, i, row):
    """Let a car begin to turn: from now on it belongs to the oncoming lanelet."""
    travel, intent, lanelet, sizes = state.travel[i], state.intent[i], state.intent[i, LANELET], road.car_sizes[i]
    back = travel[MOVED]
    target, rear = sides.rows[row, 0], travel[STATION] + sizes[REAR_AXLE] - back
    x, y = on_lanelet(road, lanelet, rear)
    there, across = foot_on(road, target, map_beside(sides, row, rear), x, y)
    u, w = on_lanelet(road, lanelet, rear + sizes[FRONT_AXLE] - sizes[REAR_AXLE])
    # where both lanelets are not parallel, the difference of their directions is turned off along the way
    further, ahead = foot_on(road, target, there - 1.0, u, w)
    travel[OFFSET], travel[SLOPE], travel[MOVED] = across, 0.0, 0.0
    if further < there - 0.1:
        travel[SLOPE] = -math.atan((ahead - across) / (there - further))
    travel[RUN], travel[SPEED] = back + turn_length(TIGHT * sizes[CAR_LENGTH], abs(across)), 0.0
    travel[STATION], travel[BACK] = there - sizes[REAR_AXLE], TURNS_ROUND - back
    intent[LANELET], intent[PHASE] = target, TURNING
    destination = work.destinations[i]
    intent[NEXT], _ = following(road, seed, i, intent[SERIAL], destination, target, intent[GOAL])


@inner
def place_in_turn(road, one, sizes, lanelet, moved):
    """Centre [m] and direction of a car, with its row of `State.travel`, when it has moved so far in its turn [m]."""
    across, side = abs(one[OFFSET]), math.copysign(1.0, one[OFFSET])
    station = one[STATION] + sizes[REAR_AXLE]
    ex, ey = on_lanelet(road, lanelet, station)
    fx, fy = on_lanelet(road, lanelet, station + 0.5)
    gx, gy = on_lanelet(road, lanelet, station - 0.5)
    size = max(math.hypot(gx - fx, gy - fy), 1e-9)
    tx, ty = (gx - fx) / size, (gy - fy) / size  # against the oncoming lanelet: ahead where it begins
    rx, ry = side * ty, -side * tx  # away from that lanelet
    back = way_back(one)
    x, y, heading, _ = point_of_turn(moved, back, TIGHT * sizes[CAR_LENGTH], across)
    y += back
    # `heading` from straight ahead, and the rest of that difference
    bend = heading + side * one[SLOPE] * (1.0 - moved / max(one[RUN], 1e-9))
    px, py = ex + (across + x) * rx + y * tx, ey + (across + x) * ry + y * ty
    c, s = math.cos(bend), math.sin(bend)
    hx, hy = c * tx - s * rx, c * ty - s * ry
    half = 0.5 * (sizes[FRONT_AXLE] - sizes[REAR_AXLE])
    return px + half * hx, py + half * hy, hx, hy


@inner
def pose_turn(road, travel, intent, position, orientation, i):
    """Write position and orientation of the body of a car that turns."""
    body, one, sizes = road.car_rows[i, BODY], travel[i], road.car_sizes[i]
    x, y, hx, hy = place_in_turn(road, one, sizes, intent[i, LANELET], one[MOVED])
    position[body, 0], position[body, 1], position[body, 2] = x, y, sizes[HEIGHT]
    head_along(orientation[body], hx, hy)
