"""Drive `kinematic` for many vehicles at once that nothing can touch in a step, with the bits of each alone.

The speed of a vehicle after a substep takes a division that waits for the one before: alone, it leaves most of a
core idle. Here loops run over vehicles, whose numbers stand side by side in rows of scratch memory, and compile to
vector instructions.
"""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import block_view, inlined, inner, view
from cbsim.vehicle.kernels.actuators import slew
from cbsim.vehicle.kernels.columns import (
    ACCELERATION,
    ALONE,
    CENTRE_X,
    CENTRE_Y,
    FORWARD,
    FRONT_SPIN,
    HANDBRAKE,
    HEADING,
    KNOWN_COSINE,
    KNOWN_HEADING,
    KNOWN_SINE,
    LEFTWARD,
    LEVER_RATE,
    MAX_ACCELERATION,
    MAX_DECELERATION,
    MAX_SPEED,
    MAX_STEER,
    REAR_SPIN,
    REVERSE,
    STEERING,
    THROTTLE,
    THROTTLE_RATE,
    WHEEL_RADIUS,
    WHEELBASE,
    YAW_RATE,
)
from cbsim.vehicle.kernels.kinematic import roll_through, sine_cosine_of

__all__ = ["GROUP", "LANES", "roll_together"]

LANES = 16  # vehicles of a group, a multiple of what an instruction handles
MANY = 3  # vehicles from which on a group is worth it
LARGEST = 1e3  # of positions of a steering wheel, so that `tan_into` has the bits of `tan`
# rows of a group: what changes, what does not, and angles with their sines and cosines
THROTTLES, STEERINGS, SPEED, BEFORE, ANGLE, TANGENT, WAY, HEADINGS, X, Y, SINE, COSINE, CURVATURE = range(13)
TO_THROTTLE, TO_STEERING, THROTTLE_LIMIT, LEVER_LIMIT, GEAR, HELD, GAIN, LOSS, TOP, FULL, BASE, HALF_BASE = range(
    13, 25
)
ENDS, MIDDLES, HALVES, SINES, COSINES, ROWS = 25, 26, 27, 28, 31, 34
GROUP = LANES * ROWS  # numbers of scratch memory


@view
def lane_of(block, row):
    """View a row of a block."""
    return block_view(block, row * LANES, (LANES,))


@view
def lanes_of(block, row):
    """View three rows of a block as one."""
    return block_view(block, row * LANES, (3 * LANES,))


@inlined
def is_usual(actuator, command):
    """Whether `tan_into` has the bits of `tan` for the steering angles of a vehicle; not if one is not a number."""
    return abs(actuator[STEERING]) < LARGEST and abs(command[STEERING]) < LARGEST


@inner
def load_lane(block, j, planar, actuator, command, parameters, dt):
    """Write what a vehicle begins a step with to its places in the rows of a group."""
    sine, cosine = sine_cosine_of(planar[HEADING], planar)
    lane_of(block, THROTTLES)[j], lane_of(block, STEERINGS)[j] = actuator[THROTTLE], actuator[STEERING]
    lane_of(block, X)[j], lane_of(block, Y)[j] = planar[CENTRE_X], planar[CENTRE_Y]
    lane_of(block, HEADINGS)[j] = planar[HEADING]
    lane_of(block, SPEED)[j], lane_of(block, SINE)[j], lane_of(block, COSINE)[j] = planar[FORWARD], sine, cosine
    lane_of(block, TO_THROTTLE)[j], lane_of(block, TO_STEERING)[j] = command[THROTTLE], command[STEERING]
    lane_of(block, THROTTLE_LIMIT)[j] = parameters[THROTTLE_RATE] * dt
    lane_of(block, LEVER_LIMIT)[j] = parameters[LEVER_RATE] * dt
    lane_of(block, GEAR)[j] = -1.0 if command[REVERSE] > 0.0 else 1.0
    lane_of(block, HELD)[j] = command[HANDBRAKE]
    lane_of(block, GAIN)[j], lane_of(block, LOSS)[j] = parameters[MAX_ACCELERATION], parameters[MAX_DECELERATION]
    lane_of(block, TOP)[j], lane_of(block, FULL)[j] = parameters[MAX_SPEED], parameters[MAX_STEER]
    lane_of(block, BASE)[j], lane_of(block, HALF_BASE)[j] = parameters[WHEELBASE], 0.5 * parameters[WHEELBASE]


@inner
def unload_lane(block, j, planar, wheel, actuator, parameters, dt):
    """Write what a vehicle has become, as `roll_through` does."""
    speed, curvature, slope = lane_of(block, SPEED)[j], lane_of(block, CURVATURE)[j], lane_of(block, TANGENT)[j]
    actuator[THROTTLE], actuator[STEERING] = lane_of(block, THROTTLES)[j], lane_of(block, STEERINGS)[j]
    planar[CENTRE_X], planar[CENTRE_Y] = lane_of(block, X)[j], lane_of(block, Y)[j]
    planar[HEADING], planar[FORWARD] = lane_of(block, HEADINGS)[j], speed  # fmt: skip
    # at the place, half a wheelbase ahead of the rear axle, which does not slip sideways
    planar[LEFTWARD], planar[YAW_RATE] = lane_of(block, HALF_BASE)[j] * curvature * speed, curvature * speed
    planar[KNOWN_HEADING] = planar[HEADING]
    planar[KNOWN_SINE], planar[KNOWN_COSINE] = lane_of(block, SINE)[j], lane_of(block, COSINE)[j]
    wheel[ACCELERATION] = (speed - lane_of(block, BEFORE)[j]) / dt
    # front wheels roll faster, by 1 / cosine of their steering angle
    wheel[FRONT_SPIN] = speed * math.sqrt(1.0 + slope * slope) / parameters[WHEEL_RADIUS]
    wheel[REAR_SPIN] = speed / parameters[WHEEL_RADIUS]


@inner
def change_speeds(block, dt):
    """Carry throttles, steering wheels and speeds through a substep; see `actuators.next_speed`."""
    throttles, steerings, speeds = lane_of(block, THROTTLES), lane_of(block, STEERINGS), lane_of(block, SPEED)
    before, angles, ways, full = (
        lane_of(block, BEFORE),
        lane_of(block, ANGLE),
        lane_of(block, WAY),
        lane_of(block, FULL),
    )
    to_throttle, to_steering = lane_of(block, TO_THROTTLE), lane_of(block, TO_STEERING)
    throttle_limit, lever_limit = lane_of(block, THROTTLE_LIMIT), lane_of(block, LEVER_LIMIT)
    gears, held, gains = lane_of(block, GEAR), lane_of(block, HELD), lane_of(block, GAIN)
    losses, tops = lane_of(block, LOSS), lane_of(block, TOP)
    for j in range(LANES):
        throttle = slew(throttles[j], to_throttle[j], throttle_limit[j])
        steering = slew(steerings[j], to_steering[j], lever_limit[j])
        speed, gear, top = speeds[j], gears[j], tops[j]
        strength = 1.0 if held[j] > 0.0 else -throttle
        # without branches: both outcomes, of which one is taken
        loss = strength * losses[j] * dt
        braked = max(speed - loss, 0.0) if speed > 0.0 else min(speed + loss, 0.0)
        drive = gear * throttle * gains[j] * max(0.0, 1.0 - gear * speed / top)
        driven = min(max(speed + drive * dt, -top), top)
        after = braked if (held[j] > 0.0) | (throttle < 0.0) else driven
        throttles[j], steerings[j], speeds[j], before[j] = throttle, steering, after, speed
        # trapezoidal rule
        angles[j], ways[j] = steering * full[j], 0.5 * (speed + after) * dt


@inner
def change_headings(block):
    """Carry headings through a substep, and write the three angles of its arc."""
    headings, curvatures, tangents = lane_of(block, HEADINGS), lane_of(block, CURVATURE), lane_of(block, TANGENT)
    ways, bases = lane_of(block, WAY), lane_of(block, BASE)
    ends, middles, halves = lane_of(block, ENDS), lane_of(block, MIDDLES), lane_of(block, HALVES)
    for j in range(LANES):
        curvature = tangents[j] / bases[j]
        turn = curvature * ways[j]
        heading = headings[j]
        ends[j], middles[j], halves[j] = heading + turn, heading + 0.5 * turn, 0.5 * turn
        headings[j], curvatures[j] = heading + turn, curvature


@inner
def change_places(block):
    """Carry places through a substep, by the sines and cosines of its three angles."""
    xs, ys, old_sines, old_cosines = lane_of(block, X), lane_of(block, Y), lane_of(block, SINE), lane_of(block, COSINE)
    ways, half_bases, halves = lane_of(block, WAY), lane_of(block, HALF_BASE), lane_of(block, HALVES)
    sines, cosines = lane_of(block, SINES), lane_of(block, COSINES)
    middle_sines, middle_cosines = lane_of(block, SINES + 1), lane_of(block, COSINES + 1)
    half_sines = lane_of(block, SINES + 2)
    for j in range(LANES):
        half, sine, cosine = halves[j], sines[j], cosines[j]
        # chord of the arc: way · sin(half) / half, for small angles by the series
        is_small = abs(half) < 1e-4
        ratio = half_sines[j] / (1.0 if is_small else half)
        ratio = 1.0 - half * half / 6.0 if is_small else ratio
        chord = ways[j] * ratio
        # the rear axle moves along the chord; the place is half a wheelbase ahead of it
        xs[j] = xs[j] + half_bases[j] * (old_sines[j] - sine) - chord * middle_sines[j]
        ys[j] = ys[j] + half_bases[j] * (cosine - old_cosines[j]) + chord * middle_cosines[j]
        old_sines[j], old_cosines[j] = sine, cosine


@inner
def roll_group(block, substeps, dt):
    """Carry a group through all substeps of a step."""
    for _ in range(substeps):
        change_speeds(block, dt)
        math.tan_into(lane_of(block, ANGLE), lane_of(block, TANGENT))
        change_headings(block)
        math.sin_cos_into(lanes_of(block, ENDS), lanes_of(block, SINES), lanes_of(block, COSINES))
        change_places(block)


@inner
def roll_together(planar, wheels, actuators, commands, table, dt, substeps, arcs, block, members):
    """Carry all vehicles that nothing can touch through all substeps of a step, with the bits of `step_kinematic`.

    Parameters
    ----------
    planar, wheels, actuators, commands, table
        As `cbsim.vehicle.kernels.step_vehicle` has them, of all vehicles.
    dt, substeps, arcs
        As `roll_through` has them.
    block : (`GROUP`,)
        Scratch.
    members : (`LANES`,) int64
        Scratch.
    """
    vehicles, v = planar.shape[0], 0
    while v < vehicles:
        count = 0
        while v < vehicles and count < LANES:
            if planar[v, ALONE] > 0.0:
                if is_usual(actuators[v], commands[v]):
                    members[count], count = v, count + 1
                else:
                    roll_through(planar[v], wheels[v], actuators[v], commands[v], table[v], dt, substeps, arcs)
            v += 1
        if count < MANY:
            for j in range(count):
                m = members[j]
                roll_through(planar[m], wheels[m], actuators[m], commands[m], table[m], dt, substeps, arcs)
            continue
        for j in range(LANES):  # places that are left over repeat the first vehicle
            m = members[j if j < count else 0]
            load_lane(block, j, planar[m], actuators[m], commands[m], table[m], dt)
        roll_group(block, substeps, dt)
        for j in range(count):
            m = members[j]
            unload_lane(block, j, planar[m], wheels[m], actuators[m], table[m], dt)
