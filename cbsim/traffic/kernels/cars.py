"""The step of reactive cars: all decide from the same state, then all move."""

from __future__ import annotations

import numpy as np

from cbsim.collision.kernels.workspace import MOVER
from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inner, kernel, prefetch
from cbsim.traffic.kernels.changes import change_over
from cbsim.traffic.kernels.claims import DETOUR, find_detour
from cbsim.traffic.kernels.crosswalks import find_occupied_crosswalks
from cbsim.traffic.kernels.decisions import MOST, WAIT, acceleration_of, decide
from cbsim.traffic.kernels.driven import command_vehicles, read_driven_cars
from cbsim.traffic.kernels.drivers import draw_drivers
from cbsim.traffic.kernels.entries import OVERHEAD, SWEPT, find_obstacles, find_shadows, sort_entries
from cbsim.traffic.kernels.leaving import CHANGES
from cbsim.traffic.kernels.look import clear_conflict
from cbsim.traffic.kernels.meshes import find_mesh, make_mesh_search
from cbsim.traffic.kernels.moving import move
from cbsim.traffic.kernels.orders import is_slowed, limit_by_order, want_ordered_speed
from cbsim.traffic.kernels.others import BRANCHES, find_others
from cbsim.traffic.kernels.passing import PASSES, begin_pass
from cbsim.traffic.kernels.pools import appear
from cbsim.traffic.kernels.sideways import is_aside, is_turning
from cbsim.traffic.kernels.turning import TURNS, begin_turn, pose_turn, turn, turning_acceleration
from cbsim.traffic.kernels.way import destination_of, following, keep_way, pose_car
from cbsim.traffic.kernels.workspace import PACE, SPOT, car_workspace_of, parts_of, path_of
from cbsim.world.packed.kernels import (
    constants_of,
    crossings_of,
    demand_of,
    road_of,
    shapes_of,
    sides_of,
    state_of,
    surroundings_of,
)
from cbsim.world.traffic.tables import (
    ABSENT,
    ACCELERATION,
    BACK,
    BODY,
    CLASS_ACCELERATION,
    DRIVING,
    GOAL,
    HEIGHT,
    HIT,
    JUNCTION,
    LANELET,
    MOVED,
    NEXT,
    PHASE,
    SERIAL,
    SPEED,
    UNKNOWN,
    VEHICLE,
    WAITING,
)

__all__ = ["bound_cars", "drive_cars", "have_left", "mark_hits", "note_static_obstacles", "refresh_cars"]


AHEAD = 8  # cars ahead whose lanelets are loaded into the cache
SIDEWAYS_TOO = 1.2  # way of a body that shifts, per way along its lane
UPRIGHT = 1e-6  # part of a quaternion below which a mesh is upright


@inner
def workspace_of_cars(shapes, road, crossings, floats, ints):
    """Slice the workspace of the cars of a World."""
    cars = road.car_rows.shape[0]
    others = shapes.kind.shape[0] - cars
    return car_workspace_of(cars, road.lanelets.shape[0], crossings.rules.shape[0], others, floats, ints)


@kernel
def note_static_obstacles(pack, sizes, floats, ints, car_floats, car_ints):
    """Fill a new workspace with the entries of bodies that never move; others are found anew in each step."""
    constants, shapes, road, crossings = constants_of(pack), shapes_of(pack), road_of(pack), crossings_of(pack)
    state, around = state_of(floats, ints, sizes), surroundings_of(pack)
    work, bodies = workspace_of_cars(shapes, road, crossings, car_floats, car_ints), shapes.kind.shape[0]
    moves = np.zeros(bodies, np.bool_)
    for k in range(constants.moving.shape[0]):
        moves[constants.moving[k]] = True
    count = road.car_rows.shape[0]
    for i in range(count):
        work.memo[i, 0] = work.ways.keys[i, 0] = -1
    search = make_mesh_search(shapes.triangles.shape[0])
    for body in range(bodies):
        q = state.orientation[body]
        if moves[body] or shapes.solid[body] == 0:
            continue
        if shapes.root[body] >= 0 and abs(q[1]) < UPRIGHT and abs(q[2]) < UPRIGHT:
            count = find_mesh(road, around, shapes, state, body, count, work.entries, SWEPT, OVERHEAD, search)
        else:
            count = find_obstacles(road, around, shapes, state, body, count, work.entries)
    for e in range(work.entries.watched.shape[0]):
        work.entries.watched[e] = -1
    junctions = -1
    for row in range(crossings.rules.shape[0]):
        work.queues.heads[row] = -1
        clear_conflict(work.claims, row)
        junctions = max(junctions, crossings.rules[row, JUNCTION])
    work.counts[0], work.counts[1], work.claims.size[1] = count, junctions + 1, 0


@inner
def move_cars(road, crossings, sides, seed, state, work, time, dt):
    """Accelerate and move all cars by their plans."""
    entries, travel, intent = work.entries, state.travel, state.intent
    claims, queues, ways = work.claims, work.queues, work.ways
    for i in range(intent.shape[0]):
        if entries.where[i] < 0:
            continue
        plan, values = work.plan[i], work.drawn[i]
        if is_turning(travel[i]):
            chosen = turning_acceleration(road, travel, intent, i, dt)
            travel[i, ACCELERATION] = limit_by_order(state.order, travel, i, chosen, dt)
            turn(travel, intent, i, dt, travel[i, ACCELERATION])
            continue
        want_ordered_speed(state.order, plan, i, is_aside(travel[i]))
        chosen = acceleration_of(road, seed, travel, intent, values, plan, i, time, dt)
        travel[i, ACCELERATION] = limit_by_order(state.order, travel, i, chosen, dt)
        if queues.is_blocked[i] != 0 and travel[i, WAITING] >= DETOUR:
            way = find_detour(road, travel, intent, values, plan, entries, claims, ways, i, work.destinations[i])
            if way >= 0:
                intent[i, NEXT] = way
        lanelet, goal = intent[i, LANELET], intent[i, GOAL]
        move(road, crossings, seed, state, work.drawn, plan, ways, work.destinations, i, time, dt)
        if sides.rows.shape[0] > 0 and work.changes[i] != -1:
            stays = intent[i, LANELET] == lanelet and intent[i, GOAL] == goal and intent[i, PHASE] == DRIVING
            if stays and not is_slowed(state.order, i):
                leave_lane(road, sides, seed, state, work, i, work.changes[i])
            else:
                travel[i, BACK], travel[i, MOVED] = 0.0, 0.0


@inner
def leave_lane(road, sides, seed, state, work, i, what):
    """Let car i begin what it has decided on: a change of lanes, to pass somebody, or to turn round."""
    if what >= 0:
        change_over(road, sides, seed, state, work, i, what)
    elif what > TURNS:
        begin_pass(road, sides, state.travel, state.intent, i, PASSES - what)
    elif road.car_rows[i, VEHICLE] < 0:  # vehicles go by their commands, and these only ahead
        begin_turn(road, sides, seed, state, work, i, TURNS - what)


@inner
def trace_cars(road, seed, state, work, part, path):
    """Write the poses of all cars after a part of a step to a path (cars, parts + 1, 4), and before the first one."""
    position, orientation = state.position, state.orientation
    for i in range(state.intent.shape[0]):
        body, row = road.car_rows[i, BODY], path[i]
        if state.intent[i, PHASE] == ABSENT or road.car_rows[i, VEHICLE] >= 0:
            continue
        was_absent = position[body, 2] != road.car_sizes[i, HEIGHT]
        x, y, w, z = position[body, 0], position[body, 1], orientation[body, 0], orientation[body, 3]
        destination = destination_of(road, state.intent, work.drawn, i)
        keep_way(road, seed, state.intent, work.ways, i, destination)
        if is_turning(state.travel[i]):
            pose_turn(road, state.travel, state.intent, position, orientation, i)
        else:
            pose_car(road, seed, state.travel, state.intent, work.ways, position, orientation, i, destination)
        now = row[part + 1]
        now[0], now[1], now[2], now[3] = (
            position[body, 0],
            position[body, 1],
            orientation[body, 0],
            orientation[body, 3],
        )
        if was_absent:
            for k in range(part + 1):
                row[k, 0], row[k, 1], row[k, 2], row[k, 3] = now[0], now[1], now[2], now[3]
        elif part == 0:
            row[0, 0], row[0, 1], row[0, 2], row[0, 3] = x, y, w, z


@inner
def pose_cars(road, seed, state, work, step, path):
    """Write the poses and the velocities of the bodies of all cars; `path` is that of `trace_cars`, or has no rows."""
    travel, intent, position = state.travel, state.intent, state.position
    for i in range(intent.shape[0]):
        if i + AHEAD < intent.shape[0] and intent[i + AHEAD, PHASE] != ABSENT:
            lanelet = intent[i + AHEAD, LANELET]
            prefetch(road.lanelets, lanelet)
            prefetch(road.links, lanelet)
        if intent[i, PHASE] == ABSENT or road.car_rows[i, VEHICLE] >= 0:
            continue
        body = road.car_rows[i, BODY]
        q = state.orientation[body]
        x, y, w, z = position[body, 0], position[body, 1], q[0], q[3]
        was_absent = position[body, 2] != road.car_sizes[i, HEIGHT]
        destination = destination_of(road, intent, work.drawn, i)
        keep_way(road, seed, intent, work.ways, i, destination)
        if is_turning(travel[i]):
            pose_turn(road, travel, intent, position, state.orientation, i)
        else:
            pose_car(road, seed, travel, intent, work.ways, position, state.orientation, i, destination)
        if path.shape[0] > 0:
            x, y, w, z = path[i, 0, 0], path[i, 0, 1], path[i, 0, 2], path[i, 0, 3]
        elif was_absent:
            x, y, w, z = position[body, 0], position[body, 1], q[0], q[3]
        state.velocity[body, 0], state.velocity[body, 1] = (
            (position[body, 0] - x) / step,
            (position[body, 1] - y) / step,
        )
        sine = w * q[3] - z * q[0]  # of half the turn, which is small in a step
        sine = sine if w * q[0] + z * q[3] >= 0.0 else -sine
        state.angular_velocity[body, 2] = 2.0 * sine / step


@kernel
def refresh_cars(pack, sizes, floats, ints, car_floats, car_ints):
    """Work out, once in a kernel call, what the workspace holds of cars, and the next lanelets of new ones.

    Within the call only cars that appear change: see `cbsim.traffic.kernels.pools.appear`.
    """
    shapes, road, crossings, demand = shapes_of(pack), road_of(pack), crossings_of(pack), demand_of(pack)
    state = state_of(floats, ints, sizes)
    work, seed, intent = workspace_of_cars(shapes, road, crossings, car_floats, car_ints), state.seed[0], state.intent
    draw_drivers(road, demand, seed, intent, work.drawn, work.memo)
    for i in range(intent.shape[0]):
        if intent[i, NEXT] == UNKNOWN:
            destination = destination_of(road, intent, work.drawn, i)
            serial, lanelet, forks = intent[i, SERIAL], intent[i, LANELET], intent[i, GOAL]
            intent[i, NEXT], _ = following(road, seed, i, serial, destination, lanelet, forks)


@kernel
def drive_cars(pack, sizes, floats, ints, car_floats, car_ints):
    """Advance all reactive cars by a step; the clock is that of its end, other bodies are as at its begin."""
    constants, shapes, road, crossings = constants_of(pack), shapes_of(pack), road_of(pack), crossings_of(pack)
    around, demand, sides, state = surroundings_of(pack), demand_of(pack), sides_of(pack), state_of(floats, ints, sizes)
    work = workspace_of_cars(shapes, road, crossings, car_floats, car_ints)
    seed, step, start = state.seed[0], constants.step, (state.clock[0] - 1) * constants.step
    parts = parts_of(step)
    dt, cars = step / parts, state.intent.shape[0]
    path = path_of(cars, parts, car_floats)
    begin, entries = work.counts[0], work.entries
    read_driven_cars(road, seed, state, work)
    count = find_others(constants, shapes, road, around, state, entries, begin)
    scratch = (
        *(np.empty(MOST, np.int64), np.empty(MOST)),
        (np.empty(WAIT), np.empty((4, WAIT), np.int64), np.empty((WAIT, WAIT), np.bool_)),
        (np.empty(BRANCHES, np.int64), np.empty(BRANCHES)),
        (np.empty(CHANGES, np.int64), np.empty(CHANGES)),
    )
    occupied = find_occupied_crosswalks(pack, constants, state, road.lanelets.shape[0])
    for part in range(parts):
        time = start + part * dt
        for e in range(begin, count if part > 0 else begin):
            entries.stands[e, SPOT] += entries.stands[e, PACE] * dt
        shown = count
        if sides.rows.shape[0] > 0:
            shown = find_shadows(road, sides, state.travel, state.intent, entries, count)
        sort_entries(road, state.travel, state.intent, entries, shown)
        decide(
            *(
                road,
                crossings,
                around,
                sides,
                demand,
                seed,
                state.travel,
                state.intent,
                state.watch,
                (state.light, occupied),
            ),
            *(work, scratch, time),
            *(begin, count, dt, part > 0),
        )
        appear(road, crossings, demand, seed, state, work.drawn, work.memo, entries, time, dt)
        move_cars(road, crossings, sides, seed, state, work, time, dt)
        if parts > 1:
            trace_cars(road, seed, state, work, part, path)
    command_vehicles(constants, road, seed, state, work, step)
    pose_cars(road, seed, state, work, step, path)
    if constants.memory > 0:
        remember_cars(constants, road, state)


@inner
def remember_cars(constants, road, state):
    """Write the pose and the motion of every car to the ring of the newest steps."""
    cars = road.car_rows.shape[0]
    first = constants.tracked_body.shape[0] - cars
    for i in range(cars):
        if road.car_rows[i, VEHICLE] >= 0:
            continue
        body = road.car_rows[i, BODY]
        row = state.pose_history[(first + i) * constants.memory + state.clock[0] % constants.memory]
        for c in range(3):
            row[c], row[7 + c] = state.position[body, c], state.velocity[body, c]
        for c in range(4):
            row[3 + c] = state.orientation[body, c]
        row[10], row[11] = state.angular_velocity[body, 2], state.travel[i, SPEED]


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
        way = SIDEWAYS_TOO * duration * (speed + 0.5 * fastest * duration) + shapes.radius[body] + 1e-6
        x, y = state.position[body, 0], state.position[body, 1]
        u, w = constants.step * state.velocity[body, 0], constants.step * state.velocity[body, 1]
        box[0], box[1] = min(x, x - u) - way, min(y, y - w) - way
        box[2], box[3] = max(x, x - u) + way, max(y, y - w) + way
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


@inner
def mark_hits(contacts, first, last, roles, movers, intent):
    """Note which reactive cars have been hit: they stand for good."""
    for row in range(first, last):
        for side in range(1, 3):
            car = roles[int(contacts[row, side]), MOVER] - movers
            if 0 <= car < intent.shape[0]:
                intent[car, PHASE] = HIT
