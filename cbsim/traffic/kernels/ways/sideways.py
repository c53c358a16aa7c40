"""Shifts sideways: to another lane, and out of the lane and back to pass somebody.

While a car shifts, its rear and front axle are beside the centreline of its way, by an offset that goes from one
straight line along the road to another by a smooth step. The front axle begins, the rear axle ends it, so that the
heading is continuous. What a shift starts from is a line, since lanes side by side need not be parallel.
"""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined, inner
from cbsim.road.kernels.smooth_step import STEEPEST, smooth_step
from cbsim.traffic.kernels.ways.centreline import beside_lanelet, foot_on, on_lanelet
from cbsim.world.traffic.tables import (
    BACK,
    FRONT_AXLE,
    LEFT,
    MOVED,
    OFFSET,
    REAR_AXLE,
    RUN,
    SAME,
    SIDEWAYS,
    SLOPE,
    STATION,
)

__all__ = [
    "SPARE",
    "TIGHT",
    "TURNS_ROUND",
    "across_to",
    "advance_shift",
    "clear_part",
    "clearing_speed",
    "gap_beside",
    "has_cleared",
    "is_aside",
    "is_clear_before",
    "is_left",
    "is_turning",
    "map_back",
    "map_beside",
    "offset_at",
    "oncoming_row",
    "reach_of_turn",
    "return_from_pass",
    "run_of",
    "run_past_body",
    "shift_speed",
    "side_row",
    "way_back",
    "way_until_clear",
]

SHIFTING, MOST = 1.5, 2.2  # [m/s²] sideways for which the length of a shift is chosen, and that bound its speed
TIGHTEST, AT_FULL_LOCK = 7.0, 5.0  # [m] radius; where one stands too near behind a body for that
CRAWLS = 0.5  # [m/s] up to which one shifts at full lock
CLEAR = 2.6  # [m] from the centreline of a lane at which a car is no longer in the way there
FASTER = 3.0  # [m/s] that a car which shifts slowly may come to
SPARE = 0.5  # [m] by which one is clear of who is ahead before one comes to it
TIGHT = 1.0  # lengths of a car that the radius of the rear axle is when it turns: 4.5 m, or 11 m between kerbs
TURNS_ROUND = -1.0  # column BACK of a car that turns round, less the way that it reverses first
FEET, STRIDE, SHORTEST = 3, 1.0, 0.2  # steps to a station beside a place; [m] over which its slope is taken, and least
NEAR = 2.0  # [m] beyond the ends of a row of `Sides`, which are those of samples


@inlined
def run_of(speed, across):
    """Length of a shift by so much at a speed [m]."""
    squeeze = STEEPEST * abs(across)
    return max(speed * math.sqrt(squeeze / SHIFTING), math.sqrt(squeeze * TIGHTEST))


@inlined
def shift_speed(one):
    """Speed at which the shift of a car, with its row of `State.travel`, takes 2.2 m/s² sideways [m/s]."""
    across = abs(one[OFFSET] + one[SLOPE] * one[RUN] - one[SIDEWAYS])
    return one[RUN] * math.sqrt(MOST / (STEEPEST * max(across, 0.1)))


@inlined
def is_aside(one):
    """Whether a car is beside the centreline of its way, or shifts."""
    return one[RUN] > 0.0 or one[OFFSET] != 0.0


@inlined
def offset_at(one, ahead, base):
    """Offset at a distance ahead of the rear axle, positive to the left [m]; `base` is the wheelbase [m]."""
    line = one[OFFSET] + one[SLOPE] * (one[MOVED] + ahead)
    if one[RUN] <= 0.0:
        return line
    part = smooth_step(min(max((one[MOVED] + ahead - base) / one[RUN], 0.0), 1.0))
    return line * (1.0 - part) + one[SIDEWAYS] * part


@inlined
def is_left(one):
    """Whether the lane that a car shifts from or to, beside that of its way, is on the left."""
    return one[OFFSET] > 0.0 if one[OFFSET] != 0.0 else one[SIDEWAYS] > 0.0


@inlined
def is_clear_before(across, run, moved, speed, gap, leader):
    """Whether a car that shifts by so much is clear of its leader before it comes to it; it may become faster."""
    # way until it is clear of the other lane, in which the leader moves on
    rest = clear_part(across) * run - moved
    return gap + leader * rest / max(speed, FASTER) > rest + SPARE


@inlined
def run_past_body(speed, across, gap, leader):
    """Length of a shift past a body ahead: at full lock where a car that stands has no room for a longer one [m]."""
    run = run_of(speed, across)
    if speed > CRAWLS or leader > 0.0 or is_clear_before(across, run, 0.0, speed, gap, leader):
        return run
    return math.sqrt(STEEPEST * abs(across) * AT_FULL_LOCK)


@inlined
def clearing_speed(across, run, moved, gap, leader):
    """Speed at which a car that shifts by so much is clear of its leader before it comes to it [m/s]."""
    rest = clear_part(across) * run - moved
    short = rest + SPARE - gap
    return leader * rest / short if short > 0.0 else math.inf


@inlined
def advance_shift(one, sizes, way):
    """Note that a car has gone a way [m]; a shift that is done ends."""
    one[BACK] = max(one[BACK] - way, 0.0)
    if one[RUN] <= 0.0:
        return
    one[MOVED] += way
    if one[MOVED] >= one[RUN] + sizes[FRONT_AXLE] - sizes[REAR_AXLE]:
        one[OFFSET], one[SLOPE], one[MOVED], one[RUN] = one[SIDEWAYS], 0.0, 0.0, 0.0


@inlined
def side_row(sides, lanelet, station, left):
    """Row of the lanelet that runs beside one at a station, on the left or on the right; -1 for none."""
    for row in range(sides.offsets[lanelet], sides.offsets[lanelet + 1]):
        if ((sides.rows[row, 1] & LEFT) != 0) == left:
            if sides.spans[row, 0] - NEAR <= station <= sides.spans[row, 1] + NEAR:
                return row
    return -1


@inlined
def map_beside(sides, row, station):
    """Station of the neighbour beside a station of a lanelet [m]."""
    begin, end = sides.spans[row, 0], sides.spans[row, 1]
    first, count = sides.place_offsets[row], sides.place_offsets[row + 1] - sides.place_offsets[row] - 1
    u = (station - begin) / (end - begin) * count
    k = min(max(int(u), 0), count - 1)
    here = sides.places[first + k]
    return here + (u - k) * (sides.places[first + k + 1] - here)


@inlined
def gap_beside(sides, row, station, length, gap):
    """Gap along the neighbour of a row to who is ahead by a gap, once one has changed over [m]."""
    if gap == math.inf:
        return gap
    return map_beside(sides, row, station + length + gap) - map_beside(sides, row, station) - length


@inlined
def map_back(sides, row, station, place):
    """Station of a lanelet, from a guess, beside which its neighbour has a place [m]."""
    for _ in range(FEET):
        here, along = map_beside(sides, row, station), map_beside(sides, row, station + STRIDE)
        station += (place - here) * STRIDE / max(along - here, SHORTEST)
    return station


@inner
def has_cleared(road, sides, one, lanelet, sizes, row):
    """Whether a car that shifts to the centreline of its way is clear of the lane that it comes from, that of a row.

    Its rear bumper, which swings out, must be so far from the centreline of that lane: lanes need not be parallel.
    """
    if one[SIDEWAYS] != 0.0:
        return False
    base = sizes[FRONT_AXLE] - sizes[REAR_AXLE]
    rear, front = offset_at(one, 0.0, base), offset_at(one, base, base)
    bumper = rear - (front - rear) * sizes[REAR_AXLE] / base
    x, y = beside_lanelet(road, lanelet, one[STATION], bumper)
    _, away = foot_on(road, sides.rows[row, 0], map_beside(sides, row, one[STATION]), x, y)
    return abs(away) > CLEAR


@inlined
def across_to(road, sides, row, lanelet, station):
    """Offset of the neighbour of a row from the centreline of a lanelet at a station, positive to the left [m]."""
    x, y = on_lanelet(road, lanelet, station)
    _, offset = foot_on(road, sides.rows[row, 0], map_beside(sides, row, station), x, y)
    return -offset if (sides.rows[row, 1] & SAME) != 0 else offset


@inlined
def clear_part(across):
    """Part of a shift by so much after which a car is clear of what it shifts away from."""
    size, low, high = abs(across), 0.0, 1.0
    if size <= CLEAR:
        return 1.0
    # the smooth step has no closed inverse: bisection
    for _ in range(20):
        middle = 0.5 * (low + high)
        if size * smooth_step(middle) < CLEAR:
            low = middle
        else:
            high = middle
    return high


@inlined
def return_from_pass(one):
    """Let a car that has passed somebody begin to come back."""
    if one[SIDEWAYS] != 0.0 and one[RUN] <= 0.0 and one[BACK] <= 0.0:
        one[RUN], one[SIDEWAYS] = run_of(0.0, one[SIDEWAYS]), 0.0


@inlined
def way_until_clear(one, base):
    """Way of a car until it is clear of the lane by which it passes somebody [m]; `base` is the wheelbase [m]."""
    if one[SIDEWAYS] == 0.0:
        return max(clear_part(one[OFFSET]) * one[RUN] + base - one[MOVED], 0.0)
    return one[BACK] + clear_part(one[SIDEWAYS]) * run_of(0.0, one[SIDEWAYS]) + base


@inlined
def oncoming_row(sides, lanelet, station):
    """Row of the oncoming lanelet beside one at a station; -1 for none."""
    for side in range(2):
        row = side_row(sides, lanelet, station, side == 0)
        if row >= 0 and (sides.rows[row, 1] & SAME) == 0:
            return row
    return -1


@inlined
def reach_of_turn(length):
    """Distance ahead of where the rear axle begins to which a turn reaches [m]; the width is taken as 2 m."""
    radius = TIGHT * length + 1.0
    return math.sqrt(radius * radius + 0.64 * length * length) + SPARE


@inlined
def is_turning(one):
    """Whether a car turns round (`cbsim.traffic.kernels.turning_round.turning`)."""
    return one[BACK] < 0.0


@inlined
def way_back(one):
    """Way that a car reverses before it turns round [m]."""
    return TURNS_ROUND - one[BACK]
