"""Autonomous objects that are reactive: they decide as other cars do, and drive their vehicle by its command.

Before each step the station and the speed of such a car are those of its vehicle, in place of those that it meant to
have. After the decisions of all cars its command is the acceleration that takes it to the speed that it means to have
at the end of the step, and steering towards a point ahead on its way (pure pursuit, as in
`cbsim.traffic.kernels.driving.follower`). These cars come first in the tables.
"""

from __future__ import annotations

from cbsim.collision.kernels.active_contacts import CONTACT_A, CONTACT_B
from cbsim.geometry.kernels import elementary as math
from cbsim.geometry.kernels.rotation import heading_of
from cbsim.jit import deferred, inner
from cbsim.traffic.kernels.blocks import tables_of
from cbsim.traffic.kernels.driving.follower import look_ahead, steer_wheels
from cbsim.traffic.kernels.driving.levers import scrub_of, steer_levers
from cbsim.traffic.kernels.ways.centreline import foot_on
from cbsim.traffic.kernels.ways.sideways import is_aside, offset_at
from cbsim.traffic.kernels.ways.way import destination_of, keep_way, next_on_way, point_ahead
from cbsim.vehicle.kernels.columns import (
    HANDBRAKE,
    MAX_ACCELERATION,
    MAX_DECELERATION,
    MAX_SPEED,
    SKID_KINEMATIC,
    STEERING,
    THROTTLE,
    WHEELBASE,
)
from cbsim.world.packed.kernels import constants_of
from cbsim.world.traffic.tables import (
    BODY,
    CAR_LENGTH,
    FRONT_AXLE,
    HIT,
    LANELET,
    LENGTH,
    PHASE,
    REAR_AXLE,
    SPEED,
    STATION,
    VEHICLE,
)

__all__ = ["command_vehicles", "driven_cars", "mark_hit_vehicles", "read_driven_cars", "remember_driven_cars"]

STANDS = 0.01  # [m/s] wanted, at which it brakes
LEAST_SHARE = 0.1  # of the acceleration that is left near the top speed


@inner
def driven_cars(road):
    """Count the cars that drive vehicles; they come first."""
    count = 0
    while count < road.car_rows.shape[0] and road.car_rows[count, VEHICLE] >= 0:
        count += 1
    return count


@inner
def forward_speed(state, body, heading):
    """Speed of a vehicle ahead [m/s]."""
    return state.velocity[body, 1] * math.cos(heading) - state.velocity[body, 0] * math.sin(heading)


@deferred("none")
def read_driven_cars(blocks):
    """Take over the station and the speed of vehicles.

    The station of the middle is that of the foot of the perpendicular to the way.
    """
    (road, _, _, _, _), state, work = tables_of(blocks)
    seed = state.seed[0]
    travel, intent = state.travel, state.intent
    for i in range(driven_cars(road)):
        body, half = road.car_rows[i, BODY], 0.5 * road.car_sizes[i, CAR_LENGTH]
        destination = destination_of(road, intent, work.drawn, i)
        keep_way(road, seed, intent, work.ways, i, destination)
        # the lanelet on which the middle of the car is, and the station there
        lanelet, where, k, forks = intent[i, LANELET], travel[i, STATION] + half, 0, work.ways.forks[i]
        while where > road.lanelets[lanelet, LENGTH]:
            beyond, forks = next_on_way(road, seed, intent, work.ways, i, destination, lanelet, k, forks)
            if beyond < 0:
                break
            where -= road.lanelets[lanelet, LENGTH]
            lanelet, k = beyond, k + 1
        x, y = state.position[body, 0], state.position[body, 1]
        station, _ = foot_on(road, lanelet, min(where, road.lanelets[lanelet, LENGTH]), x, y)
        # the rear moves by as much as the foot of the middle
        travel[i, STATION] = max(travel[i, STATION] + station - where, 0.0)
        travel[i, SPEED] = max(forward_speed(state, body, heading_of(state.orientation[body])), 0.0)


@deferred("none")
def command_vehicles(blocks):
    """Command the vehicles of cars to the speeds that they mean to have after the step, along their ways."""
    (road, _, _, _, _), state, work = tables_of(blocks)
    constants, seed = constants_of(blocks[0]), state.seed[0]
    travel, intent = state.travel, state.intent
    for i in range(driven_cars(road)):
        body, v = road.car_rows[i, BODY], road.car_rows[i, VEHICLE]
        command, parameters, sizes = state.command[v], constants.vehicle_parameters[v], road.car_sizes[i]
        heading = heading_of(state.orientation[body])
        fx, fy = -math.sin(heading), math.cos(heading)
        speed, wanted = forward_speed(state, body, heading), travel[i, SPEED]
        destination = destination_of(road, intent, work.drawn, i)
        keep_way(road, seed, intent, work.ways, i, destination)
        look = 0.5 * sizes[CAR_LENGTH] + look_ahead(speed, parameters)
        base, offset = sizes[FRONT_AXLE] - sizes[REAR_AXLE], 0.0
        if is_aside(travel[i]):
            offset = offset_at(travel[i], look - sizes[REAR_AXLE], base)
        px, py = point_ahead(road, seed, intent, work.ways, i, destination, travel[i, STATION] + look, offset)
        dx, dy = px - state.position[body, 0], py - state.position[body, 1]
        ahead, left = dx * fx + dy * fy, dy * fx - dx * fy
        command[HANDBRAKE] = 0.0
        if constants.vehicle_drive[v] >= SKID_KINEMATIC:
            rate, scrub = state.angular_velocity[body, 2], scrub_of(constants.vehicle_drive[v], parameters)
            steer_levers(wanted, ahead, left, speed, rate, scrub, state.actuator[v], parameters, command)
        else:
            ahead += 0.5 * parameters[WHEELBASE]  # as seen from the rear axle
            steer_wheels(wanted, False, ahead, left, speed, state.actuator[v, STEERING], parameters, command)
            push = (wanted - speed) / constants.step
            if push >= 0.0:
                # acceleration that throttle gives at this speed (docs/theory/drives_and_tyres.md §3)
                share = max(1.0 - speed / parameters[MAX_SPEED], LEAST_SHARE)
                command[THROTTLE] = min(push / (parameters[MAX_ACCELERATION] * share), 1.0)
            else:
                command[THROTTLE] = max(push / parameters[MAX_DECELERATION], -1.0)
        if wanted < STANDS:
            command[THROTTLE] = -1.0


@inner
def mark_hit_vehicles(road, contacts, first, last, intent):
    """Note which cars that drive vehicles have been hit: they brake and stand for good."""
    count = driven_cars(road)
    for row in range(first, last if count > 0 else first):
        for i in range(count):
            body = road.car_rows[i, BODY]
            if int(contacts[row, CONTACT_A]) == body or int(contacts[row, CONTACT_B]) == body:
                intent[i, PHASE] = HIT


@inner
def remember_driven_cars(constants, road, state):
    """Keep the poses of vehicles that cars drive in the rows of these, too, when they have moved."""
    first = constants.tracked_body.shape[0] - road.car_rows.shape[0]
    for i in range(driven_cars(road) if constants.memory > 0 else 0):
        at = state.clock[0] % constants.memory
        own = state.pose_history[(first + i) * constants.memory + at]
        theirs = state.pose_history[road.car_rows[i, VEHICLE] * constants.memory + at]
        for c in range(own.shape[0]):
            own[c] = theirs[c]
