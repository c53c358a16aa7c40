"""Commands of agents, and what is measured of them after a step: place on the route, contacts, comfort."""

from __future__ import annotations

from cbsim.collision.kernels.active_contacts import CONTACT_A, CONTACT_B
from cbsim.geometry.kernels import elementary as math
from cbsim.geometry.kernels.rotation import rotate
from cbsim.gym.kernels.columns import (
    ACCELERATION,
    AHEAD_EAST,
    AHEAD_NORTH,
    ALONG,
    ARRIVED,
    ASIDE,
    BASE,
    COLLIDED,
    CONTACTS,
    EAST,
    HALF_WIDTH,
    HAS_STOP,
    HEADING,
    HEADING_ERROR,
    JERK,
    JERK_ALONG,
    LENGTH,
    LIMIT,
    MADE_STOP,
    NORTH,
    NUMBER,
    OFF_LANE,
    OFFSET,
    PROGRESS,
    RAN_STOP,
    RATE,
    SAMPLE,
    SAMPLE_HEADING,
    SAMPLE_STATION,
    SAMPLE_X,
    SAMPLE_Y,
    SPEED,
    SPEED_BEFORE,
    SPEED_LIMIT,
    STEERING,
    STOOD,
    STOP_DISTANCE,
    TURNING,
    TURNING_RATE,
    WAY,
    WAY_LEFT,
    WIDTH,
    YAW_RATE,
    X,
    Y,
)
from cbsim.jit import inlined, inner, kernel
from cbsim.vehicle.kernels.columns import HANDBRAKE, LEFT_LEVER, REVERSE, RIGHT_LEVER, THROTTLE
from cbsim.vehicle.kernels.columns import STEERING as STEER
from cbsim.world.packed.kernels import state_of

__all__ = ["command_into", "first_wrong", "measure_into"]

STILL = 0.1  # [m/s] slower counts as rest, as in the rule `stop_line`
SLACK = 0.01  # [m] tolerance of a bumper beyond the line, as there
AHEAD = 50.0  # [m] within which stop lines are looked for


@kernel
def first_wrong(actions):
    """Find the first number of actions (n,) that is not within -1 and 1; -1 if there is none."""
    for k in range(actions.shape[0]):
        if not abs(actions[k]) <= 1.0:
            return k
    return -1


@kernel
def command_into(sizes, floats, ints, worlds, vehicles, actions, active):
    """Write actions as commands of vehicles.

    Parameters
    ----------
    sizes, floats, ints, worlds
        As `cbsim.simulation.kernels.advance_into` has them.
    vehicles : (agents,) int64
        Rows in the table of vehicles.
    actions : (worlds, agents, 2 or 3) float32
        Throttle and steering; or throttle, left and right lever.
    active : (worlds, agents) bool
        False for agents whose episode has ended: they brake.
    """
    n, m = floats.shape[0] // worlds, ints.shape[0] // worlds
    for w in range(worlds):
        state = state_of(floats[w * n : (w + 1) * n], ints[w * m : (w + 1) * m], sizes)
        for a in range(vehicles.shape[0]):
            row = state.command[vehicles[a]]
            # full braking, steering straight, both levers forward; the handbrake is off
            row[THROTTLE], row[STEER], row[LEFT_LEVER] = -1.0, 0.0, 1.0
            row[RIGHT_LEVER], row[REVERSE], row[HANDBRAKE] = 1.0, 0.0, 0.0
            if not active[w, a]:
                continue
            row[THROTTLE] = actions[w, a, 0]
            if actions.shape[2] == 2:
                row[STEER] = actions[w, a, 1]
            else:
                row[LEFT_LEVER], row[RIGHT_LEVER] = actions[w, a, 1], actions[w, a, 2]


@inner
def follow(samples, offsets, lanelets, route, half_length, place, x, y, row):
    """Move a place along its route to the foot of a point on the centreline, and note stop lines left behind at once.

    Returns
    -------
    offset, heading, station : float
        Distance to the left of the centreline [m], its heading [rad], station on the lanelet [m].
    """
    # once it has gone on, it does not go back: in the corner between two pieces it would for ever
    number, k, goes_on = int(place[NUMBER]), int(place[SAMPLE]), False
    while True:
        lanelet = route[number]
        first, last = offsets[lanelet], offsets[lanelet + 1] - 1
        ax, ay = samples[k, SAMPLE_X], samples[k, SAMPLE_Y]
        ux, uy = samples[k + 1, SAMPLE_X] - ax, samples[k + 1, SAMPLE_Y] - ay
        square = max(ux * ux + uy * uy, 1e-12)
        part = ((x - ax) * ux + (y - ay) * uy) / square
        # on to the next piece, on to the next lanelet, or back a piece, until the foot of the point is on this one
        if part > 1.0 and k + 1 < last:
            k, goes_on = k + 1, True
        elif part > 1.0 and number + 1 < route.shape[0] and route[number + 1] >= 0:
            if lanelets[lanelet, HAS_STOP] > 0.0 and place[STOOD] == 0.0:  # bumper and centre passed it in one step
                row[RAN_STOP] = 1.0
            place[BASE] += lanelets[lanelet, LENGTH]
            number, goes_on = number + 1, True
            k = offsets[route[number]]
            place[STOOD] = 2.0 if lanelets[route[number], LENGTH] < half_length else 0.0  # the bumper is past it
        elif part < 0.0 and k > first and not goes_on:
            k -= 1
        else:
            break
    place[NUMBER], place[SAMPLE] = number, k
    part = min(max(part, 0.0), 1.0)
    offset = ((y - ay) * ux - (x - ax) * uy) / math.sqrt(square)
    heading = samples[k, SAMPLE_HEADING] + part * (samples[k + 1, SAMPLE_HEADING] - samples[k, SAMPLE_HEADING])
    station = samples[k, SAMPLE_STATION] + part * (samples[k + 1, SAMPLE_STATION] - samples[k, SAMPLE_STATION])
    return offset, heading, station


@inner
def look_ahead(lanelets, route, place, station, half_length, speed, within, row):
    """Measure the way to the stop line ahead and to the end of the route, and note stop lines passed or stood at."""
    number, distance = int(place[NUMBER]), AHEAD
    lanelet = route[number]
    left = lanelets[lanelet, LENGTH] - station
    # way of the front bumper to the line at the end of the lanelet
    front = left - half_length
    if lanelets[lanelet, HAS_STOP] > 0.0:
        if front < -SLACK:
            if place[STOOD] == 0.0:
                row[RAN_STOP] = 1.0
            place[STOOD] = 2.0
        elif speed < STILL and front <= within:
            if place[STOOD] == 0.0:
                row[MADE_STOP] = 1.0
            place[STOOD] = 1.0
        elif front > within and place[STOOD] == 1.0:  # it has backed away
            place[STOOD] = 0.0
        # a line at which it has stood, or that it has passed, is ahead no more
        if place[STOOD] == 0.0:
            distance = min(distance, front)
    for k in range(number + 1, route.shape[0]):
        if route[k] < 0:
            break
        left += lanelets[route[k], LENGTH]
        if lanelets[route[k], HAS_STOP] > 0.0:
            distance = min(distance, left - half_length)
    row[STOP_DISTANCE], row[WAY_LEFT] = max(distance, 0.0), left
    if left <= half_length:
        row[ARRIVED] = 1.0


@inlined
def remember(history, weights, clock, vx, vy, rate, fx, fy, row):
    """Note motion, and fit quadratics to the newest second, as the rule `comfort` does; judged at its middle."""
    size = history.shape[0]
    now = history[clock % size]
    now[EAST], now[NORTH], now[RATE], now[AHEAD_EAST], now[AHEAD_NORTH] = vx, vy, rate, fx, fy
    for c in range(ALONG, TURNING_RATE + 1):
        row[c] = 0.0
    # less than a second is known
    if clock + 1 < size:
        return
    slope_x, slope_y, slope_r, curve_x, curve_y, value_r = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    # a ring: behind the newest row stands the oldest one, which the first weight is for
    k = (clock + 1) % size
    for j in range(size):
        one = history[k]
        slope_x += weights[1, j] * one[EAST]
        slope_y += weights[1, j] * one[NORTH]
        slope_r += weights[1, j] * one[RATE]
        curve_x += weights[2, j] * one[EAST]
        curve_y += weights[2, j] * one[NORTH]
        value_r += weights[0, j] * one[RATE]
        k = k + 1 if k + 1 < size else 0
    middle = history[(clock + 1 + size // 2) % size]
    ahead_x, ahead_y = middle[AHEAD_EAST], middle[AHEAD_NORTH]
    row[ALONG] = slope_x * ahead_x + slope_y * ahead_y
    row[ASIDE] = slope_y * ahead_x - slope_x * ahead_y
    row[JERK] = math.sqrt(curve_x * curve_x + curve_y * curve_y)
    row[JERK_ALONG] = abs(curve_x * ahead_x + curve_y * ahead_y)
    row[TURNING], row[TURNING_RATE] = abs(value_r), abs(slope_r)


@kernel
def measure_into(
    sizes, blocks, worlds, rows, half_lengths, roads, motion, numbers, contacts, outcomes, begins, measures
):
    """Measure agents after a step of their Worlds.

    Parameters
    ----------
    sizes, blocks, worlds
        As `cbsim.simulation.kernels.advance_into` has them, of blocks the first two.
    rows : (agents, 2) int64
        Rows of the body and in the table of vehicles.
    half_lengths : (agents,) [m]
    roads : tuple of ndarray
        Samples and offsets of centrelines, lanelets (`cbsim.gym.course`); routes (worlds, agents, k) int64, lanelets
        with -1 after the last; places on them (worlds, agents, 6), written.
    motion : tuple of ndarray
        The newest (worlds, agents, n, 5), written; weights of a quadratic fit and of its derivatives (3, n).
    numbers : tuple of float
        Length of a step of the environment [s]; how far before a line one may stop [m].
    contacts, outcomes
        As `cbsim.simulation.kernels.advance_into` has them.
    begins : bool
        True after the first step of the World in a step of the environment, and after a reset: progress and flags are
        counted from there.
    measures : (worlds, agents, 25), out
    """
    floats, ints = blocks
    samples, offsets, lanelets, routes, places = roads
    history, weights = motion
    n, m = floats.shape[0] // worlds, ints.shape[0] // worlds
    for w in range(worlds):
        state = state_of(floats[w * n : (w + 1) * n], ints[w * m : (w + 1) * m], sizes)
        clock = state.clock[0]
        for a in range(rows.shape[0]):
            body, row, place = rows[a, 0], measures[w, a], places[w, a]
            x, y, q = state.position[body, 0], state.position[body, 1], state.orientation[body]
            vx, vy, rate = state.velocity[body, 0], state.velocity[body, 1], state.angular_velocity[body, 2]
            fx, fy, _ = rotate(q, 0.0, 1.0, 0.0)
            heading, speed = math.atan2(-fx, fy), vx * fx + vy * fy
            if begins:
                place[SPEED_BEFORE] = row[SPEED]
                for c in range(PROGRESS, ARRIVED + 1):
                    row[c] = 0.0
            offset, ahead, station = follow(samples, offsets, lanelets, routes[w, a], half_lengths[a], place, x, y, row)
            # counted over all steps of the World in a step of the environment
            row[PROGRESS] += place[BASE] + station - place[WAY]
            place[WAY] = place[BASE] + station
            row[X], row[Y], row[HEADING], row[SPEED], row[YAW_RATE] = x, y, heading, speed, rate
            row[ACCELERATION] = (speed - place[SPEED_BEFORE]) / numbers[0]
            row[STEERING] = state.actuator[rows[a, 1], STEER]
            row[OFFSET] = offset
            # within ±π
            turn = heading - ahead
            row[HEADING_ERROR] = turn - 2.0 * math.pi * math.floor(turn / (2.0 * math.pi) + 0.5)
            lanelet = routes[w, a, int(place[NUMBER])]
            row[HALF_WIDTH], row[LIMIT] = 0.5 * lanelets[lanelet, WIDTH], lanelets[lanelet, SPEED_LIMIT]
            if abs(offset) > row[HALF_WIDTH]:
                row[OFF_LANE] = 1.0
            look_ahead(lanelets, routes[w, a], place, station, half_lengths[a], abs(speed), numbers[1], row)
            remember(history[w, a], weights, clock, vx, vy, rate, fx, fy, row)
        # the table holds contacts of every body of the World
        for k in range(outcomes[w, CONTACTS]):
            for a in range(rows.shape[0]):
                if contacts[w, k, CONTACT_A] == rows[a, 0] or contacts[w, k, CONTACT_B] == rows[a, 0]:
                    measures[w, a, COLLIDED] = 1.0
