"""Guided bodies: they move on the segments of a literal mover, but later, at another speed, or not at all.

Without an ordered speed a guided body is where the literal mover was, earlier by its delay. With one it covers its way
at that speed, whatever the segments say, and doesn't wait where they do; its delay follows from where it is. So it goes
on by its segments when the order ends.
"""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.geometry.kernels.columns import ORIENTATION, VELOCITY
from cbsim.geometry.kernels.trajectory_segments import segment_at, segment_position_into
from cbsim.jit import deferred, inlined, inner
from cbsim.world.events.tables import (
    DELAY,
    IS_ABSENT,
    IS_ON_ITS_WAY,
    LINK,
    ORDER,
    ORDER_RATE,
    PACE,
    PRESENCE,
    SEGMENT,
    STEPS_BACK,
)
from cbsim.world.packed.kernels import constants_of, state_of

__all__ = ["bound_guided", "move_guided"]

BACKWARDS = 1.0  # [m/s] of somebody who makes room, at most


@inlined
def changed_speed(speed, order, rate, duration):
    """Speed after a duration [s] of changing at a rate to an ordered one, and the way covered [m]."""
    gap = order - speed
    needed = abs(gap) / rate if rate > 0.0 else (math.inf if gap != 0.0 else 0.0)  # time until the order is reached
    if needed >= duration:
        after = speed + (rate if gap > 0.0 else -rate) * duration
        return after, 0.5 * (speed + after) * duration
    return order, 0.5 * (speed + order) * needed + order * (duration - needed)


@inner
def advance_along(constants, segment, last, time, way):
    """Own time [s] of a trajectory, and segment, after a way [m] from one at a time: pauses take none."""
    while segment < last:
        u, w = constants.segment_velocity[segment, 0], constants.segment_velocity[segment, 1]
        # a pause is a segment without speed: it is left at once, since the way takes no time on it
        pace, end = math.sqrt(u * u + w * w), constants.segment_start[segment + 1]
        if pace > 0.0:
            if way < pace * (end - time):
                return time + way / pace, segment
            way -= pace * (end - time)
        if way <= 0.0:
            return time, segment
        segment, time = segment + 1, end
    return time, segment


@inner
def step_back(constants, row, until, step, position):
    """Move somebody who makes room back along the segment that they are on, no faster than they go on it."""
    segment, time = int(row[SEGMENT]), until - row[DELAY]
    u, w = constants.segment_velocity[segment, 0], constants.segment_velocity[segment, 1]
    pace = math.sqrt(u * u + w * w)
    if pace == 0.0:
        return
    time = max(time - step * min(BACKWARDS / pace, 1.0), constants.segment_start[segment])
    row[DELAY] = until - time
    segment_position_into(
        *(constants.segment_start, constants.segment_origin, constants.segment_velocity, segment, time), position
    )


@deferred("none")
def move_guided(pack, sizes, floats, ints, until):
    """Move all guided bodies to the end of a step [s]."""
    constants, state = constants_of(pack), state_of(floats, ints, sizes)
    step = constants.step
    # the last tracked bodies are reactive cars, and guided bodies stand before them
    first_tracked = constants.tracked_body.shape[0] - state.intent.shape[0] - constants.guided_body.shape[0]
    for g in range(constants.guided_body.shape[0]):
        body, row, last = constants.guided_body[g], state.guided[g], constants.guided_last[g]
        position, velocity = state.position[body], state.velocity[body]
        x, y = position[0], position[1]
        if row[PRESENCE] == IS_ON_ITS_WAY and row[PACE] == 0.0 and row[ORDER] == 0.0:
            row[DELAY] += step  # it keeps every bit of its pose
            if row[LINK] == STEPS_BACK:
                step_back(constants, row, until, step, position)
        elif row[PRESENCE] == IS_ON_ITS_WAY:
            segment = int(row[SEGMENT])
            # an ordered speed shifts its own time along the same trajectory: the way stays that of the file
            if row[ORDER] >= 0.0:
                row[PACE], way = changed_speed(row[PACE], row[ORDER], row[ORDER_RATE], step)
                time = until - step - row[DELAY]
                segment = segment_at(constants.segment_start, constants.guided_first[g], last, segment, time)
                time, segment = advance_along(constants, segment, last, time, way)
                row[DELAY] = until - time
            else:
                time = until - row[DELAY]
                segment = segment_at(constants.segment_start, constants.guided_first[g], last, segment, time)
            segment_position_into(
                *(constants.segment_start, constants.segment_origin, constants.segment_velocity, segment, time),
                position,
            )
            # literal movers turn at once from one segment to the next
            for k in range(4):
                state.orientation[body, k] = constants.segment_orientation[segment, k]
            if row[ORDER] < 0.0:
                u, w = constants.segment_velocity[segment, 0], constants.segment_velocity[segment, 1]
                row[PACE] = math.sqrt(u * u + w * w)
            row[SEGMENT] = segment
        velocity[0], velocity[1] = (position[0] - x) / step, (position[1] - y) / step
        if constants.memory > 0:
            remember_guided(constants, state, first_tracked + g, body)


@inner
def remember_guided(constants, state, tracked, body):
    """Write the pose and the motion of a guided body to the ring of the newest steps."""
    past = state.pose_history[tracked * constants.memory + state.clock[0] % constants.memory]
    for k in range(3):
        past[k], past[VELOCITY + k] = state.position[body, k], state.velocity[body, k]
    for k in range(4):
        past[ORIENTATION + k] = state.orientation[body, k]


@inner
def bound_guided(constants, radii, state, steps, bounds, reach):
    """Bound where each guided body can get in some steps, for the broad phase; absent ones are nowhere.

    Parameters
    ----------
    steps : int
    bounds : (bodies, 4) [m], out
        Least x and y, largest x and y.
    reach : (bodies,) [m], out
        Radius and the way of one step.
    """
    duration = steps * constants.step
    for g in range(constants.guided_body.shape[0]):
        body, row = constants.guided_body[g], state.guided[g]
        box = bounds[body]
        if row[PRESENCE] == IS_ABSENT:
            box[0] = box[1] = math.inf
            box[2] = box[3] = -math.inf
            continue
        fastest = max(constants.guided_speed[g], row[PACE])
        if row[ORDER] >= 0.0:
            # at an infinite rate the order is the speed at once
            fastest = max(fastest, row[PACE] + row[ORDER_RATE] * duration if row[ORDER_RATE] < math.inf else row[ORDER])
        way = duration * fastest + radii[body] + 1e-6
        x, y = state.position[body, 0], state.position[body, 1]
        # the way of the step before as well: boxes are for bodies that may be anywhere along it
        u, w = constants.step * state.velocity[body, 0], constants.step * state.velocity[body, 1]
        box[0], box[1] = min(x, x - u) - way, min(y, y - w) - way
        box[2], box[3] = max(x, x - u) + way, max(y, y - w) + way
        reach[body] = radii[body] + constants.step * fastest + math.sqrt(u * u + w * w)
