"""Shifts sideways: to another lane, and out of the lane and back to pass somebody.

While a car shifts, its rear and front axle are beside the centreline of its way, by an offset that goes from one
straight line along the road to another by a smooth step. The front axle begins, the rear axle ends it, so that the
heading is continuous. What a shift starts from is a line, since lanes side by side need not be parallel.
"""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined
from cbsim.road.kernels.smooth_step import STEEPEST, smooth_step
from cbsim.world.traffic.tables import BACK, FRONT_AXLE, LEFT, MOVED, OFFSET, REAR_AXLE, RUN, SIDEWAYS, SLOPE

__all__ = ["advance_shift", "has_cleared", "is_aside", "map_beside", "offset_at", "run_of", "shift_speed", "side_row"]

SHIFTING, MOST = 1.5, 2.2  # [m/s²] sideways for which the length of a shift is chosen, and that bound its speed
TIGHTEST = 7.0  # [m] radius
CLEAR = 2.6  # [m] from the centreline of a lane at which a car is no longer in the way there
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
def has_cleared(one, base):
    """Whether a car that shifts to the centreline of its way is clear of the lane that it comes from."""
    line = one[OFFSET] + one[SLOPE] * one[MOVED]
    return one[SIDEWAYS] == 0.0 and abs(offset_at(one, 0.0, base) - line) > CLEAR


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
    other_begin, other_end = sides.spans[row, 2], sides.spans[row, 3]
    return other_begin + (station - begin) / (end - begin) * (other_end - other_begin)
