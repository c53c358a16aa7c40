"""Bounds of reactive cars over some steps, for the broad phase."""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined, inner, kernel
from cbsim.traffic.kernels.ways.centreline import on_lanelet
from cbsim.traffic.kernels.ways.sideways import is_aside
from cbsim.world.packed.kernels import constants_of, road_of, shapes_of, state_of
from cbsim.world.traffic.tables import (
    ABSENT,
    BODY,
    CLASS_ACCELERATION,
    FRONT_AXLE,
    LANELET,
    LENGTH,
    PHASE,
    REAR_AXLE,
    SPEED,
    STATION,
    VEHICLE,
)

__all__ = ["bound_cars", "have_left"]

SIDEWAYS_TOO = 1.2  # way of a body that shifts, per way along its lane
STRAIGHT, ASIDE = 0.999, 0.5  # least chord of a way along a straight lanelet, per length; and margin beside it [m]


@kernel
def bound_cars(pack, sizes, floats, ints, steps, bounds, reach):
    """Bound where each reactive car can get in some steps, for the broad phase; absent ones are nowhere.

    Parameters
    ----------
    steps : int
    bounds : (bodies, 4) [m], out
        Least x and y, largest x and y.
    reach : (bodies,) [m], out
        Radius and the way of one step.
    """
    bound(constants_of(pack), shapes_of(pack), road_of(pack), state_of(floats, ints, sizes), steps, bounds, reach)


@inlined
def straight_ahead(road, travel, intent, i, x, y, way):
    """Where car i is when it has gone a way straight ahead [m], and whether it goes there; else where it is, (x, y)."""
    lanelet, middle = intent[LANELET], 0.5 * (road.car_sizes[i, REAR_AXLE] + road.car_sizes[i, FRONT_AXLE])
    if lanelet < 0 or is_aside(travel):
        return x, y, False
    if travel[STATION] + road.car_sizes[i, FRONT_AXLE] + way > road.lanelets[lanelet, LENGTH]:
        return x, y, False
    ahead_x, ahead_y = on_lanelet(road, lanelet, travel[STATION] + middle + way)
    chord = (ahead_x - x) * (ahead_x - x) + (ahead_y - y) * (ahead_y - y)
    if chord < STRAIGHT * STRAIGHT * way * way:
        return x, y, False
    return ahead_x, ahead_y, True


@inner
def bound(constants, shapes, road, state, steps, bounds, reach):
    """Fill `bounds` and `reach` for every car."""
    duration = steps * constants.step
    for i in range(road.car_rows.shape[0]):
        body = road.car_rows[i, BODY]
        if road.car_rows[i, VEHICLE] >= 0:
            continue
        box = bounds[body]
        if state.intent[i, PHASE] == ABSENT:
            box[0] = box[1] = math.inf
            box[2] = box[3] = -math.inf
            continue
        speed, fastest = state.travel[i, SPEED], road.car_sizes[i, CLASS_ACCELERATION]
        way = duration * (speed + 0.5 * fastest * duration)
        x, y = state.position[body, 0], state.position[body, 1]
        # where it was at the begin of the last step belongs to its bounds, too
        u, w = constants.step * state.velocity[body, 0], constants.step * state.velocity[body, 1]
        ahead_x, ahead_y, is_straight = straight_ahead(road, state.travel[i], state.intent[i], i, x, y, way)
        # on a straight lanelet it is between its place and the farthest one; elsewhere anywhere around it
        way = ASIDE if is_straight else SIDEWAYS_TOO * way
        way += shapes.radius[body] + 1e-6
        box[0], box[1] = min(x, x - u, ahead_x) - way, min(y, y - w, ahead_y) - way
        box[2], box[3] = max(x, x - u, ahead_x) + way, max(y, y - w, ahead_y) + way
        reach[body] = shapes.radius[body] + constants.step * (speed + fastest * duration) + math.sqrt(u * u + w * w)


@inner
def have_left(cars, step, parts, state, radius, bounds):
    """Whether a car has been outside its bounds in this step, as one that has just appeared has.

    Bounds are scratch of the call before, and the state may be that of another run at the same time.
    """
    for i in range(cars.shape[0]):
        body = cars[i, BODY]
        if state.intent[i, PHASE] == ABSENT or cars[i, VEHICLE] >= 0:
            continue
        x, y, box, more = state.position[body, 0], state.position[body, 1], bounds[body], radius[body]
        u, w = step * state.velocity[body, 0], step * state.velocity[body, 1]
        if parts > 1:  # it need not have moved in a straight line
            more += abs(u) + abs(w)
        inside = min(x, x - u) - more >= box[0] and max(x, x - u) + more <= box[2]
        if not (inside and min(y, y - w) - more >= box[1] and max(y, y - w) + more <= box[3]):
            return True
    return False
