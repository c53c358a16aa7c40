"""The step of reactive cars: all decide from the same state, then all move."""

from __future__ import annotations

import numpy as np

from cbsim.collision.kernels.workspace import MOVER
from cbsim.geometry.kernels.columns import ORIENTATION, VELOCITY
from cbsim.jit import deferred, inner, kernel
from cbsim.traffic.kernels.blocks import tables_of, workspace_of_cars
from cbsim.traffic.kernels.bodies.entries import OVERHEAD, SWEPT, find_obstacles, find_shadows, sort_entries
from cbsim.traffic.kernels.bodies.meshes import find_mesh, make_mesh_search
from cbsim.traffic.kernels.branches import hold_draws, set_branches
from cbsim.traffic.kernels.decisions import MOST, WAIT, acceleration_of, decide
from cbsim.traffic.kernels.demand.pools import appear
from cbsim.traffic.kernels.drivers import draw_drivers
from cbsim.traffic.kernels.driving.driven import command_vehicles, driven_cars, read_driven_cars
from cbsim.traffic.kernels.junctions.detours import DETOUR, find_detour
from cbsim.traffic.kernels.junctions.others import BRANCHES, find_others
from cbsim.traffic.kernels.lanes.changes import change_over
from cbsim.traffic.kernels.lanes.passing import PASSES, begin_pass
from cbsim.traffic.kernels.look import clear_conflict
from cbsim.traffic.kernels.moving import move
from cbsim.traffic.kernels.orders import end_lane_order, is_slowed, limit_by_order, want_ordered_speed
from cbsim.traffic.kernels.posing import BLOCK, pose_cars, posing_scratch, trace_cars
from cbsim.traffic.kernels.turning_round.backing import back, back_out, backing_acceleration
from cbsim.traffic.kernels.turning_round.closures import begin_ways, close_and_open, renew_ways
from cbsim.traffic.kernels.turning_round.ground import brake_in_turn, turn_where_free
from cbsim.traffic.kernels.turning_round.in_turn import turn, turning_acceleration
from cbsim.traffic.kernels.turning_round.leaving import CHANGES
from cbsim.traffic.kernels.turning_round.turning import TURNS
from cbsim.traffic.kernels.ways.crosswalks import find_crosswalk_spans, find_occupied_crosswalks
from cbsim.traffic.kernels.ways.open_ways import open_road, open_sides
from cbsim.traffic.kernels.ways.prefetching import prefetch_lanelet, prefetch_pieces
from cbsim.traffic.kernels.ways.sideways import is_aside, is_turning
from cbsim.traffic.kernels.ways.way import destination_of, following
from cbsim.traffic.kernels.workspace import NO_ROOM, NO_ROOM_NOW, PACE, SPOT, parts_of, path_of
from cbsim.traffic.kernels.zones.parking import drive_in_zones, scratch_of_zones
from cbsim.traffic.kernels.zones.zone_driving import set_destinations
from cbsim.world.kernels import HISTORY_ROLLING, HISTORY_YAW_RATE
from cbsim.world.packed.kernels import (
    constants_of,
    crossings_of,
    demand_of,
    people_of,
    road_of,
    shapes_of,
    sides_of,
    state_of,
    surroundings_of,
    zones_of,
)
from cbsim.world.traffic.tables import (
    ACCELERATION,
    BACK,
    BACKING,
    BODY,
    DRIVING,
    GOAL,
    HIT,
    JUNCTION,
    LANELET,
    MOVED,
    NEXT,
    PHASE,
    SERIAL,
    SPEED,
    STOPPED,
    UNKNOWN,
    VEHICLE,
    WAITING,
)

__all__ = ["drive_cars", "mark_hits", "refresh_cars"]


UPRIGHT = 1e-6  # part of a quaternion below which a mesh is upright


@inner
def note_static_obstacles(constants, shapes, road, crossings, sides, work, blocks):
    """Fill a new workspace with the entries of bodies that never move; others are found anew in each step.

    `blocks` are those of `cbsim.traffic.kernels.blocks.tables_of`, `road` and `sides` tables of the World.
    """
    bodies = shapes.kind.shape[0]
    work.ways.version[0] = 0
    for k in range(work.routes.noted.shape[0]):
        work.routes.noted[k] = 0
    for i in range(work.routes.blocked.shape[0]):
        work.routes.blocked[i] = 0
    begin_ways(road, sides, work.ways, work.routes)
    moves, are_any = np.zeros(bodies, np.bool_), False
    for k in range(constants.moving.shape[0]):
        moves[constants.moving[k]] = True
    for body in range(bodies):
        are_any = are_any or (shapes.solid[body] != 0 and not moves[body])
    count = road.car_rows.shape[0]
    for i in range(count):
        # nothing of cars is known yet
        work.memo[i, 0] = work.ways.keys[i, 0] = work.ways.lanelets[i, 0] = -1
    if are_any:
        count = enter_static_bodies(blocks, moves)
    for e in range(work.entries.watched.shape[0]):
        work.entries.watched[e], work.entries.stays[e] = -1, 1
    junctions = -1
    for row in range(crossings.rules.shape[0]):
        work.queues.heads[row] = -1
        clear_conflict(work.claims, row)
        junctions = max(junctions, crossings.rules[row, JUNCTION])
    work.counts[0], work.counts[1], work.claims.size[1] = count, junctions + 1, 0


@deferred("int64")
def enter_static_bodies(blocks, moves):
    """Write the entries of bodies that do not move, after those of cars; return how many entries there are then."""
    network, state, work = tables_of(blocks)
    road, around, shapes, count = network[0], network[2], shapes_of(blocks[0]), state.intent.shape[0]
    search = make_mesh_search(shapes.triangles.shape[0])
    for body in range(shapes.kind.shape[0]):
        q = state.orientation[body]
        if moves[body] or shapes.solid[body] == 0:
            continue
        if shapes.root[body] >= 0 and abs(q[1]) < UPRIGHT and abs(q[2]) < UPRIGHT:
            count = find_mesh(road, around, shapes, state, body, count, work.entries, SWEPT, OVERHEAD, search)
        else:
            count = find_obstacles(road, around, shapes, state, body, count, work.entries)
    return count


@deferred("none")
def turn_or_back(blocks, i, dt):
    """Accelerate and move car i, which turns round or backs out."""
    (road, _, _, sides, _), state, work = tables_of(blocks)
    pack, travel, intent = blocks[0], state.travel, state.intent
    if is_turning(travel[i]):
        constants = constants_of(pack)
        walkers = people_of(pack).walkers, constants.guided_body, constants.step
        chosen = turning_acceleration(road, sides, walkers, work.entries, state, i, dt)
        if intent[i, PHASE] != HIT:
            chosen = brake_in_turn(road, shapes_of(pack), state, i, chosen, dt)
        travel[i, ACCELERATION] = limit_by_order(state.order, travel, i, chosen, dt)
        turn(travel, intent, i, dt, travel[i, ACCELERATION])
        return
    chosen = backing_acceleration(road, work, travel, intent, i, dt)
    travel[i, ACCELERATION] = limit_by_order(state.order, travel, i, chosen, dt)
    back(road, state.seed[0], travel, intent, work.drawn, i, dt, travel[i, ACCELERATION])


@inner
def move_cars(road, crossings, sides, seed, state, work, blocks, time, dt, begin, end):
    """Accelerate and move the cars of a range of rows by their plans."""
    entries, travel, intent = work.entries, state.travel, state.intent
    claims, queues, ways = work.claims, work.queues, work.ways
    for i in range(begin, end):
        prefetch_lanelet(road, entries, i)
        if entries.where[i] < 0:  # absent, or in a zone
            continue
        plan, values = work.plan[i], work.drawn[i]
        if is_turning(travel[i]) or intent[i, PHASE] == BACKING:
            turn_or_back(blocks, i, dt)
            continue
        want_ordered_speed(state.order, plan, i, is_aside(travel[i]))
        chosen = acceleration_of(road, seed, travel, intent, values, plan, i, time, dt)
        travel[i, ACCELERATION] = limit_by_order(state.order, travel, i, chosen, dt)
        if queues.states[i] in (NO_ROOM, NO_ROOM_NOW) and travel[i, WAITING] >= DETOUR:
            closed, destination = work.routes.noted, work.destinations[i]
            way = find_detour(road, crossings, travel, intent, values, entries, claims, closed, ways, i, destination)
            if way >= 0:
                intent[i, NEXT] = way
        # what was decided of lanes holds for the lanelet and the goal that it had then
        lanelet, goal = intent[i, LANELET], intent[i, GOAL]
        move(road, crossings, seed, state, work.drawn, plan, ways, work.destinations, i, time, dt)
        prefetch_pieces(road, travel, intent, i)
        if sides.rows.shape[0] > 0 and work.changes[i] != -1:
            stays, phase = intent[i, LANELET] == lanelet and intent[i, GOAL] == goal, intent[i, PHASE]
            # who has stopped may still turn round
            may = phase == DRIVING or (phase == STOPPED and work.changes[i] <= TURNS)
            if stays and may and not is_slowed(state.order, i):
                leave_lane(blocks, i, work.changes[i])
                if work.changes[i] >= 0:
                    end_lane_order(state.order, i)
            else:
                travel[i, BACK], travel[i, MOVED] = 0.0, 0.0


@deferred("none")
def leave_lane(blocks, i, what):
    """Let car i begin what it has decided on: a change of lanes, to pass somebody, or to turn round."""
    (road, crossings, _, sides, _), state, work = tables_of(blocks)
    seed = state.seed[0]
    # a row of `Sides`, or `PASSES` or, far below, `TURNS` less such a row
    if what >= 0:
        change_over(road, sides, seed, state, work, i, what)
    elif what > TURNS:
        begin_pass(road, sides, state.travel, state.intent, i, PASSES - what)
    elif road.car_rows[i, VEHICLE] < 0:  # vehicles go by their commands, and these only ahead
        turn_where_free(road, shapes_of(blocks[0]), crossings, sides, seed, state, work, i, TURNS - what)


@kernel
def refresh_cars(pack, sizes, floats, ints, car_floats, car_ints):
    """Work out, once in a kernel call, what the workspace holds of cars, and the next lanelets of new ones.

    Within the call only cars that appear change: see `cbsim.traffic.kernels.demand.pools.appear`.
    """
    shapes, base, crossings, demand = shapes_of(pack), road_of(pack), crossings_of(pack), demand_of(pack)
    state, sides = state_of(floats, ints, sizes), sides_of(pack)
    work = workspace_of_cars(shapes, base, crossings, sides, state.closed, car_floats, car_ints)
    if work.counts[0] == 0:  # a new workspace; in others there are the entries of cars at least
        blocks = pack, sizes, floats, ints, car_floats, car_ints
        note_static_obstacles(constants_of(pack), shapes, base, crossings, sides, work, blocks)
    seed, intent, road = state.seed[0], state.intent, open_road(base, work.routes)
    draw_drivers(road, demand, seed, intent, work.drawn, work.memo)
    if state.parking.shape[0] > 0:
        set_destinations(road, zones_of(pack), seed, state, work.drawn, work.memo)
    renew_ways(base, surroundings_of(pack), sides, intent, work, state.closed)
    for i in range(intent.shape[0]):
        if intent[i, NEXT] == UNKNOWN:
            destination = destination_of(road, intent, work.drawn, i)
            serial, lanelet, forks = intent[i, SERIAL], intent[i, LANELET], intent[i, GOAL]
            intent[i, NEXT], _ = following(road, seed, i, serial, destination, lanelet, forks)


@kernel
def drive_cars(pack, sizes, floats, ints, car_floats, car_ints):
    """Advance all reactive cars by a step; the clock is that of its end, other bodies are as at its begin."""
    constants, shapes, base, crossings = constants_of(pack), shapes_of(pack), road_of(pack), crossings_of(pack)
    around, demand, state = surroundings_of(pack), demand_of(pack), state_of(floats, ints, sizes)
    network = base, around, sides_of(pack)
    work = workspace_of_cars(shapes, base, crossings, network[2], state.closed, car_floats, car_ints)
    road, sides = open_road(base, work.routes), open_sides(network[2], work.routes)
    # the step is cut into parts of at most 0.1 s, in each of which all decide and then all move
    seed, step, start = state.seed[0], constants.step, (state.clock[0] - 1) * constants.step
    parts = parts_of(step)
    dt, cars = step / parts, state.intent.shape[0]
    path = path_of(cars, parts, car_floats)
    begin, entries, zones = work.counts[0], work.entries, zones_of(pack)
    blocks = pack, sizes, floats, ints, car_floats, car_ints
    parks = state.parking.shape[0] > 0
    # poses follow the moves of a block at once, unless somebody has to see all of the moves before
    block = cars if parks or parts > 1 else min(BLOCK, cars)
    posing = posing_scratch()
    driven = driven_cars(road)
    if driven > 0:
        read_driven_cars(blocks)
    count = find_others(blocks, begin) if state.watch.shape[0] > 0 else begin
    tree = np.empty(BRANCHES, np.int64), np.empty(BRANCHES)
    scratch = (
        *(np.empty(MOST, np.int64), np.empty(MOST)),
        (np.empty(WAIT), np.empty((4, WAIT), np.int64), np.empty((WAIT, WAIT), np.bool_)),
        tree,
        (np.empty(CHANGES, np.int64), np.empty(CHANGES)),
    )
    occupied = find_occupied_crosswalks(pack, constants, state, road.lanelets.shape[0])
    crosswalks = occupied, find_crosswalk_spans(pack, road.lanelets.shape[0])
    if state.fork.shape[0] > 0:
        hold_draws(state.fork, state.held, state.intent, state.pool_counts, state.clock[0] - 1)
    for part in range(parts):
        time = start + part * dt
        if state.fork.shape[0] > 0:
            set_branches(state.fork, state.held, state.intent, work.drawn, state.clock[0] - 1, time, step)
        # other bodies are found once a step; in later parts they are where their speed along the lane has brought them
        for e in range(begin, count if part > 0 else begin):
            entries.stands[e, SPOT] += entries.stands[e, PACE] * dt
        shown = count
        if sides.rows.shape[0] > 0:
            shown = find_shadows(road, sides, state.travel, state.intent, entries, count)
        sort_entries(road, state.travel, state.intent, entries, shown)
        tables = road, crossings, around, sides, demand
        decide(tables, zones, state, crosswalks, work, scratch, time, count, dt, part > 0)
        # between deciding and moving: roads that are closed or free again, and cars that appear where there is room
        close_and_open(road, network, state, work, blocks, begin, count)
        back_out(road, crossings, sides, state, work, blocks, begin, count)
        appear(road, network, crossings, demand, seed, state, work, occupied, time, dt)
        if state.fork.shape[0] > 0:  # those who have just appeared
            set_branches(state.fork, state.held, state.intent, work.drawn, state.clock[0] - 1, time, step)
        for first in range(0, cars, block):
            last = min(first + block, cars)
            move_cars(road, crossings, sides, seed, state, work, blocks, time, dt, first, last)
            if block < cars:
                pose_cars(road, zones, seed, state, work, step, path, first, last, posing)
        if parks:
            park_cars(blocks, time, dt)
        if parts > 1:
            trace_cars(road, zones, seed, state, work, part, path)
    if driven > 0:
        command_vehicles(blocks)
    for first in range(0, cars if block == cars else 0, BLOCK):
        pose_cars(road, zones, seed, state, work, step, path, first, min(first + BLOCK, cars), posing)
    if constants.memory > 0:
        remember_cars(constants, road, state)


@deferred("none")
def park_cars(blocks, time, dt):
    """Move all cars in zones, as `drive_in_zones`."""
    (road, _, around, _, _), state, work = tables_of(blocks)
    pack = blocks[0]
    shapes, zones, network = shapes_of(pack), zones_of(pack), (road_of(pack), around, sides_of(pack))
    scratch = scratch_of_zones(shapes, road, zones, state.intent.shape[0])
    drive_in_zones(shapes, road, network, zones, state.seed[0], state, work, scratch, time, dt)


@inner
def remember_cars(constants, road, state):
    """Write the pose and the motion of every car to the ring of the newest steps."""
    cars = road.car_rows.shape[0]
    # cars are the last of the tracked bodies
    first = constants.tracked_body.shape[0] - cars
    for i in range(cars):
        if road.car_rows[i, VEHICLE] >= 0:
            continue
        body = road.car_rows[i, BODY]
        row = state.pose_history[(first + i) * constants.memory + state.clock[0] % constants.memory]
        for c in range(3):
            row[c], row[VELOCITY + c] = state.position[body, c], state.velocity[body, c]
        for c in range(4):
            row[ORIENTATION + c] = state.orientation[body, c]
        row[HISTORY_YAW_RATE], row[HISTORY_ROLLING] = state.angular_velocity[body, 2], state.travel[i, SPEED]


@inner
def mark_hits(contacts, first, last, roles, movers, intent):
    """Note which reactive cars have been hit: they stand for good."""
    for row in range(first, last):
        # columns 1 and 2 are the bodies
        for side in range(1, 3):
            car = roles[int(contacts[row, side]), MOVER] - movers
            if 0 <= car < intent.shape[0]:
                intent[car, PHASE] = HIT
