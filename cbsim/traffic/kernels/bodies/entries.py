"""Occupancy of lanelets: entries of reactive cars, and of every other body that is in the way of one."""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.geometry.kernels.rotation import rotate
from cbsim.geometry.kernels.solids import SHAPE_CYLINDER, SHAPE_SPHERE
from cbsim.jit import inlined, inner
from cbsim.traffic.kernels.bodies.meshes import entry_on
from cbsim.traffic.kernels.ways.sideways import (
    TIGHT,
    has_cleared,
    is_aside,
    is_left,
    is_turning,
    map_beside,
    reach_of_turn,
    side_row,
    way_back,
    way_until_clear,
)
from cbsim.traffic.kernels.workspace import EXTENT, OBSTACLES, PACE, SPOT
from cbsim.world.traffic.tables import (
    ABSENT,
    ALONG,
    BACKING,
    CAR_LENGTH,
    FRONT_AXLE,
    LANELET,
    LENGTH,
    NEXT,
    OFFSET,
    PARKED_HEIGHT,
    PHASE,
    REAR_AXLE,
    SAME,
    SPEED,
    STATION,
    WANDER,
    WANDER_END,
)

__all__ = ["OVERHEAD", "SWEPT", "find_obstacles", "find_shadows", "sort_entries"]

BEFORE_END = 0.5  # [m] before the end of a lanelet where a car that backs out comes to rest
SWEPT = 1.5  # [m] half of the width that a car sweeps: the widest class and 0.25 m on either side
OVERHEAD = 3.5  # [m] what begins higher is no obstacle


@inner
def find_obstacles(road, around, shapes, state, body, count, entries):
    """Append the entries of a body that stands on lanelets, `count` of them so far; return how many there are then.

    The body is taken as a rectangle, or as a circle if it is a cylinder or a sphere. Samples of centrelines within the
    swept width of it tell the lanelets; on each, its rear and front are those of its corners along the tangent at the
    sample nearest to its centre.
    """
    size = shapes.size[body]
    if shapes.solid[body] == 0 or state.position[body, 2] < 0.5 * PARKED_HEIGHT:  # absent
        return count
    if state.position[body, 2] - 0.5 * size[2] > OVERHEAD:
        return count
    x, y, q = state.position[body, 0], state.position[body, 1], state.orientation[body]
    ax, ay, _ = rotate(q, 1.0, 0.0, 0.0)
    bx, by, _ = rotate(q, 0.0, 1.0, 0.0)
    half_width, half_length = 0.5 * size[0], 0.5 * size[1]
    reach_x = abs(ax) * half_width + abs(bx) * half_length + SWEPT
    reach_y = abs(ay) * half_width + abs(by) * half_length + SWEPT
    cell, columns, rows = around.origin[2], around.size[0], around.size[1]
    left = max(int(math.floor((x - reach_x - around.origin[0]) / cell)), 0)
    right = min(int(math.floor((x + reach_x - around.origin[0]) / cell)), columns - 1)
    low = max(int(math.floor((y - reach_y - around.origin[1]) / cell)), 0)
    high = min(int(math.floor((y + reach_y - around.origin[1]) / cell)), rows - 1)
    begin, is_round = count, shapes.kind[body] == SHAPE_CYLINDER or shapes.kind[body] == SHAPE_SPHERE
    for iy in range(low, high + 1):
        for ix in range(left, right + 1):
            c = iy * columns + ix
            for at in range(around.offsets[c], around.offsets[c + 1]):
                k = around.samples[at]
                u, w = road.samples[k, 0] - x, road.samples[k, 1] - y
                across = abs(u * ax + w * ay) - half_width
                along = abs(u * bx + w * by) - half_length
                if across > SWEPT or along > SWEPT:
                    continue
                lanelet = around.owners[k]
                # squared distance from the rectangle or the circle, which may not exceed half of what a car sweeps
                # there
                gap = max(across, 0.0) ** 2 + max(along, 0.0) ** 2
                if is_round:
                    gap = max(math.sqrt(u * u + w * w) - half_length, 0.0) ** 2
                half = min(SWEPT, 0.5 * road.widths[lanelet])
                if gap > half * half:
                    continue
                e = entry_on(entries, begin, count, lanelet)
                if e == count:
                    if count - begin == OBSTACLES or count == entries.where.shape[0]:
                        continue
                    entries.where[e] = lanelet
                    # until all samples have been looked at, PACE is the squared distance of the nearest one, and
                    # `order` its row
                    entries.stands[e, SPOT], entries.stands[e, EXTENT], entries.stands[e, PACE] = (
                        math.inf,
                        -math.inf,
                        math.inf,
                    )
                    count += 1
                square = u * u + w * w
                if square < entries.stands[e, PACE]:  # the nearest sample so far: measure along its tangent
                    entries.stands[e, PACE] = square
                    entries.order[e] = k
                entries.stands[e, SPOT] = min(entries.stands[e, SPOT], road.samples[k, ALONG])
                entries.stands[e, EXTENT] = max(entries.stands[e, EXTENT], road.samples[k, ALONG])
    for e in range(begin, count):
        k, lanelet = entries.order[e], entries.where[e]
        # tangent at the nearest sample: the chord to the next one, or at the end from the one before
        other = k + 1 if k + 1 < road.sample_offsets[lanelet + 1] else k
        k = other - 1 if other == k else k
        tx, ty = road.samples[other, 0] - road.samples[k, 0], road.samples[other, 1] - road.samples[k, 1]
        span = math.sqrt(tx * tx + ty * ty)
        tx, ty = (tx / span, ty / span) if span > 0.0 else (0.0, 1.0)
        middle = road.samples[k, ALONG] + (x - road.samples[k, 0]) * tx + (y - road.samples[k, 1]) * ty
        extent = abs(ax * tx + ay * ty) * half_width + abs(bx * tx + by * ty) * half_length
        # the body's extent along the tangent, but not far beyond the samples that it was found by
        first, last = entries.stands[e, SPOT], entries.stands[e, EXTENT]
        rear = min(max(middle - extent, first - 1.0), first + SWEPT)
        front = max(min(middle + extent, last + 1.0), last - SWEPT)
        entries.stands[e, SPOT], entries.stands[e, EXTENT] = rear, max(front - rear, 0.1)
        entries.stands[e, PACE] = state.velocity[body, 0] * tx + state.velocity[body, 1] * ty
    return count


@inlined
def shadows_of_turn(road, sides, one, lanelet, i, entries, count):
    """Append entries of a car that turns round: on the lanelet that it leaves, and where its front swings out to."""
    sizes = road.car_sizes[i]
    there, reach = one[STATION] + sizes[REAR_AXLE], reach_of_turn(sizes[CAR_LENGTH])
    row = side_row(sides, lanelet, there, one[OFFSET] > 0.0)
    if row < 0 or count == entries.where.shape[0]:
        return count
    entries.where[count], entries.watched[count] = sides.rows[row, 0], -2 - i
    entries.stands[count, SPOT], entries.stands[count, PACE] = map_beside(sides, row, there) - sizes[REAR_AXLE], 0.0
    # with all of the way that it reverses first
    entries.stands[count, EXTENT] = max(sizes[REAR_AXLE] + reach, way_back(one) + sizes[CAR_LENGTH])
    count += 1
    if abs(one[OFFSET]) >= 2.0 * TIGHT * sizes[CAR_LENGTH]:  # it stays on the two lanelets
        return count
    for beside in range(sides.offsets[lanelet], sides.offsets[lanelet + 1]):
        if (sides.rows[beside, 1] & SAME) == 0 or count == entries.where.shape[0]:
            continue
        if sides.spans[beside, 0] <= there <= sides.spans[beside, 1]:
            entries.where[count], entries.watched[count] = sides.rows[beside, 0], -2 - i
            entries.stands[count, SPOT], entries.stands[count, PACE] = map_beside(sides, beside, there) - reach, 0.0
            entries.stands[count, EXTENT] = reach + sizes[CAR_LENGTH] - sizes[REAR_AXLE]
            count += 1
    return count


@inlined
def shadows_of_backing(road, one, intent, i, entries, count):
    """Append entries of a car that backs out, on the lanelets behind the one to whose end it goes back."""
    lanelet, base, length = intent[LANELET], 0.0, road.car_sizes[i, CAR_LENGTH]
    for k in range(2):
        base += road.lanelets[lanelet, LENGTH]
        if one[STATION] + length <= base or count == entries.where.shape[0]:
            break
        if k > 0 and road.links[lanelet, WANDER] == road.links[lanelet, WANDER_END]:
            break
        lanelet = intent[NEXT] if k == 0 else road.wanders[road.links[lanelet, WANDER]]
        entries.where[count], entries.watched[count] = lanelet, -2 - i
        entries.stands[count, SPOT], entries.stands[count, PACE] = one[STATION] - base, 0.0
        entries.stands[count, EXTENT] = length
        count += 1
    return count


@inner
def find_shadows(road, sides, travel, intent, entries, count):
    """Append an entry for each car that is partly on the lanelet beside its own; return how many entries there are.

    Who changes lanes belongs to the new one at once, and is seen on the one that it leaves until it is clear of it. Who
    passes somebody against an oncoming lane takes all of it up to where it will be clear again, with a negative speed.
    """
    for i in range(intent.shape[0]):
        one = travel[i]
        if intent[i, PHASE] == BACKING:
            count = shadows_of_backing(road, one, intent[i], i, entries, count)
        if intent[i, PHASE] == ABSENT or not is_aside(one):
            continue
        if is_turning(one):
            count = shadows_of_turn(road, sides, one, intent[i, LANELET], i, entries, count)
            continue
        sizes, row = road.car_sizes[i], side_row(sides, intent[i, LANELET], one[STATION], is_left(one))
        if row < 0 or count == entries.where.shape[0]:
            continue
        if has_cleared(road, sides, one, intent[i, LANELET], sizes, row):
            continue
        rear, length = map_beside(sides, row, one[STATION]), road.car_sizes[i, CAR_LENGTH]
        # `watched` of such an entry is −2 less the row of the car
        entries.where[count], entries.watched[count] = sides.rows[row, 0], -2 - i
        entries.stands[count, SPOT], entries.stands[count, PACE] = rear, one[SPEED]
        if (sides.rows[row, 1] & SAME) == 0:
            # where it will be clear again is behind its rear on the oncoming lanelet, which runs the other way
            clear = way_until_clear(one, sizes[FRONT_AXLE] - sizes[REAR_AXLE])
            end = map_beside(sides, row, one[STATION] + length + clear)
            length = rear - end
            entries.stands[count, SPOT], entries.stands[count, PACE] = end, -one[SPEED]
        entries.stands[count, EXTENT] = length
        count += 1
    return count


@inner
def sort_entries(road, travel, intent, entries, count):
    """Sort cars and obstacles, `count` entries, by lanelet, station and number."""
    first, order, where, stands = entries.first, entries.order, entries.where, entries.stands
    sorted_stands, cars, lanelets = entries.sorted_stands, intent.shape[0], road.lanelets.shape[0]
    for k in range(lanelets + 1):
        first[k] = 0
    for i in range(cars):
        if intent[i, PHASE] == ABSENT or intent[i, LANELET] < 0:  # or it is in a zone
            where[i] = -1
            continue
        where[i], stands[i, SPOT], stands[i, PACE] = intent[i, LANELET], travel[i, STATION], travel[i, SPEED]
        stands[i, EXTENT] = road.car_sizes[i, CAR_LENGTH]
        if is_turning(travel[i]):  # it takes all the ground that it needs, and stands there for those who come
            reach = reach_of_turn(stands[i, EXTENT]) - road.car_sizes[i, REAR_AXLE]
            stands[i, SPOT], stands[i, PACE], stands[i, EXTENT] = (
                travel[i, STATION] - reach,
                0.0,
                stands[i, EXTENT] + reach,
            )
        if intent[i, PHASE] == BACKING:  # all of its way back
            rear = road.lanelets[where[i], LENGTH] - stands[i, EXTENT] - BEFORE_END
            stands[i, EXTENT] += travel[i, STATION] - rear
            stands[i, SPOT], stands[i, PACE] = rear, 0.0
        first[where[i] + 1] += 1
    for e in range(cars, count):
        if where[e] >= 0:
            first[where[e] + 1] += 1
    for k in range(lanelets):
        first[k + 1] += first[k]
    total = first[lanelets]
    for e in range(count - 1, -1, -1):  # fill each lanelet from its end; afterwards its end has become its begin
        if where[e] >= 0:
            k = where[e] + 1
            first[k] -= 1
            order[first[k]] = e
            sorted_stands[first[k], SPOT], sorted_stands[first[k], PACE] = stands[e, SPOT], stands[e, PACE]
            if e >= cars and entries.watched[e] < 0:  # the end of the part that it takes of an oncoming lane stays
                sorted_stands[first[k], PACE] = max(stands[e, PACE], 0.0)
    for k in range(lanelets):
        first[k] = first[k + 1]
    first[lanelets] = total
    for lanelet in range(lanelets):
        sort_lanelet(order, sorted_stands, first[lanelet], first[lanelet + 1])
    for at in range(total):
        entries.ranks[order[at]] = at


@inlined
def sort_lanelet(order, stands, begin, end):
    """Sort entries of one lanelet by station, then by number (Shell 1959, gaps 3 h + 1)."""
    gap = 1
    while 3 * gap + 1 < end - begin:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(begin + gap, end):
            e, spot, pace, at = order[k], stands[k, SPOT], stands[k, PACE], k - gap
            while at >= begin and (spot < stands[at, SPOT] or (spot == stands[at, SPOT] and e < order[at])):
                order[at + gap] = order[at]
                stands[at + gap, SPOT], stands[at + gap, PACE] = stands[at, SPOT], stands[at, PACE]
                at -= gap
            order[at + gap], stands[at + gap, SPOT], stands[at + gap, PACE] = e, spot, pace
        gap //= 3
