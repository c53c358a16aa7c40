"""The step of reactive cars: all decide from the same state, then all move."""

from __future__ import annotations

import numpy as np

from cbsim.collision.kernels.workspace import MOVER
from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inner, kernel
from cbsim.traffic.kernels.claims import UNTURNED, arbitrate, order_waiting
from cbsim.traffic.kernels.drivers import (
    BRAKES_HARD,
    COMFORTABLE,
    HEADWAY,
    LEAST,
    MISTAKES,
    MODEL,
    STRONGEST,
    draw_drivers,
    uniform,
)
from cbsim.traffic.kernels.entries import find_obstacles, sort_entries
from cbsim.traffic.kernels.following import follow
from cbsim.traffic.kernels.look import (
    BEFORE_LINE,
    CHAIN,
    DESIRED,
    GAP,
    LEADER,
    LINE,
    STOP,
    announce,
    hold,
    look,
)
from cbsim.traffic.kernels.moving import move
from cbsim.traffic.kernels.pools import appear
from cbsim.traffic.kernels.way import destination_of, following, pose_car
from cbsim.traffic.kernels.workspace import EXTENT, PACE, SPOT, car_workspace_of
from cbsim.world.packed.kernels import (
    constants_of,
    crossings_of,
    demand_of,
    road_of,
    shapes_of,
    state_of,
    surroundings_of,
)
from cbsim.world.traffic.tables import (
    ABSENT,
    ACCELERATION,
    ARRIVAL,
    BODY,
    CLASS_ACCELERATION,
    CROSSING,
    ENTRY,
    GOAL,
    HEIGHT,
    HIT,
    LANELET,
    LENGTH,
    NEXT,
    PAUSING,
    PHASE,
    POOL,
    SERIAL,
    SPEED,
    STOP_LINE,
    STOPPED,
    UNKNOWN,
    WAITING,
)

__all__ = ["bound_cars", "drive_cars", "mark_hits", "note_static_obstacles"]

LONGEST_STEP = 0.1  # [s] in which a car decides once
HARDEST = 8.0  # [m/s²] that tyres hold
AFTER_A_HIT = 6.0  # [m/s²]
WITHOUT_CAUSE = 6.0  # [m/s²] with which a driver brakes by mistake, for a second
MOVES = 0.3  # [m/s] at which other bodies are on their way
SEEN = 60.0  # [m] ahead of other bodies in which one waits for them
MOST = 64  # conflicts ahead that a car announces


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
        work.memo[i, 0] = -1
    for body in range(bodies):
        if not moves[body]:
            count = find_obstacles(road, around, shapes, state, body, count, work.entries)
    work.counts[0] = count


@inner
def find_moving_obstacles(constants, shapes, road, around, state, entries, count):
    """Append the entries of all bodies that move but are no reactive cars; return how many entries there are."""
    for k in range(constants.mover_body.shape[0]):
        count = find_obstacles(road, around, shapes, state, constants.mover_body[k], count, entries)
    for k in range(constants.vehicle_body.shape[0]):
        count = find_obstacles(road, around, shapes, state, constants.vehicle_body[k], count, entries)
    for body in range(constants.first_model, shapes.kind.shape[0]):
        count = find_obstacles(road, around, shapes, state, body, count, entries)
    return count


@inner
def announce_obstacles(road, crossings, around, entries, claims, begin, count):
    """Note which conflicts moving bodies are in, and to which they come if they go on as they do."""
    stack, bases = np.empty(16, np.int64), np.empty(16)
    for e in range(begin, count):
        pace = entries.stands[e, PACE]
        if pace < MOVES:
            continue
        front = entries.stands[e, SPOT] + entries.stands[e, EXTENT]
        stack[0], bases[0], size = entries.where[e], 0.0, 1
        while size > 0:
            size -= 1
            lanelet, base = stack[size], bases[size]
            for k in range(road.links[lanelet, ENTRY], road.links[lanelet + 1, ENTRY]):
                row, side = crossings.entry_rows[k], crossings.entry_sides[k]
                first, last = base + crossings.spans[row, side], base + crossings.spans[row, 2 + side]
                if last < entries.stands[e, SPOT]:
                    continue
                if first < front:
                    hold(claims, row, side, e)
                elif first - front < SEEN:
                    announce(claims, row, side, e, (first - front) / pace)
            end = base + road.lanelets[lanelet, LENGTH]
            if end < front + SEEN and road.links[lanelet, STOP_LINE] == 0:
                for k in range(around.successor_offsets[lanelet], around.successor_offsets[lanelet + 1]):
                    if size < stack.shape[0]:
                        stack[size], bases[size] = around.successors[k], end
                        size += 1


@inner
def decide(road, crossings, around, seed, travel, intent, work, time, begin, count, dt):
    """Write the acceleration of every car [m/s²], from what there is at a time [s]."""
    cars, entries, claims = intent.shape[0], work.entries, work.claims
    ahead_of, distances = np.empty(MOST, np.int64), np.empty((MOST, 2))
    for row in range(claims.holder.shape[0]):
        for side in range(2):
            claims.holder[row, side], claims.comer[row, side] = -1, -1
    announce_obstacles(road, crossings, around, entries, claims, begin, count)
    waiting, destinations, plans = 0, work.destinations, work.plan
    for i in range(cars):
        work.turns[i] = UNTURNED
        destinations[i] = destination_of(road, intent, work.drawn, i)
    for at in range(entries.first[entries.first.shape[0] - 1]):
        i = entries.order[at]
        if i >= cars:
            continue
        look(
            *(road, crossings, seed, travel, intent, work.drawn[i], plans[i], entries, claims),
            *(at, i, destinations[i], ahead_of, distances),
        )
        if intent[i, PHASE] == STOPPED:
            work.waiting[waiting] = i
            waiting += 1
    for n in range(1, waiting):  # in the order of rows, whatever the order of lanelets
        i, m = work.waiting[n], n - 1
        while m >= 0 and work.waiting[m] > i:
            work.waiting[m + 1] = work.waiting[m]
            m -= 1
        work.waiting[m + 1] = i
    if waiting > 0:
        order_waiting(road, crossings, seed, travel, intent, work.waiting, work.turns, destinations, waiting)
    candidates = 0
    for i in range(cars):
        phase, plan = intent[i, PHASE], plans[i]
        if phase in (ABSENT, HIT, PAUSING):
            continue
        if phase == STOPPED and plan[CHAIN] == math.inf:  # nothing conflicts behind this line
            intent[i, PHASE], plan[LINE] = CROSSING, math.inf
        if plan[CHAIN] == math.inf or (phase != STOPPED and plan[LINE] < plan[CHAIN]):
            continue
        speed, comfortable = travel[i, SPEED], work.drawn[i, COMFORTABLE]
        if phase == STOPPED or plan[CHAIN] < 0.75 * speed * speed / comfortable + 3.0 * speed * dt + 3.0:
            if phase != STOPPED:
                travel[i, ARRIVAL] = time - travel[i, WAITING]
            work.candidates[candidates] = i
            candidates += 1
    arbitrate(
        *(road, crossings, seed, travel, intent, work.drawn, plans, work.turns, work.candidates),
        *(entries, claims, destinations, candidates),
    )
    for i in range(cars):
        if intent[i, PHASE] != ABSENT:
            travel[i, ACCELERATION] = acceleration_of(road, seed, travel, intent, work.drawn[i], plans[i], i, time, dt)


@inner
def stopping(distance, comfortable, speed, dt):
    """Largest acceleration after which one can still come to rest comfortably within a distance [m/s²].

    The next speed w covers w dt and then w² / (2 b).
    """
    ahead = max(distance, 0.0)
    fast = math.sqrt(comfortable * comfortable * dt * dt + 2.0 * comfortable * ahead) - comfortable * dt
    return (fast - speed) / dt


@inner
def acceleration_of(road, seed, travel, intent, values, plan, i, time, dt):
    """Acceleration of a car by its phase, its leader, and where it must stop [m/s²]."""
    phase, speed = intent[i, PHASE], travel[i, SPEED]
    if phase == HIT:
        return -AFTER_A_HIT
    if phase in (STOPPED, PAUSING):
        return -max(speed / dt, 0.0)
    following_values = values[HEADWAY], values[LEAST], values[STRONGEST], values[COMFORTABLE]
    chosen = follow(int(values[MODEL]), speed, plan[DESIRED], plan[GAP], plan[LEADER], following_values, dt)
    stop = min(plan[STOP], plan[LINE] - BEFORE_LINE, plan[CHAIN] - BEFORE_LINE)
    if stop < math.inf:
        chosen = min(chosen, stopping(stop, values[COMFORTABLE], speed, dt))
    if values[BRAKES_HARD] > 0.0:
        pool, second = road.car_rows[i, POOL], int(math.floor(time))
        word = road.words[pool] if pool >= 0 else i
        if uniform(seed, MISTAKES, word, intent[i, SERIAL], second) < values[BRAKES_HARD]:
            chosen = min(chosen, -WITHOUT_CAUSE)
    return max(chosen, -HARDEST)


@kernel
def drive_cars(pack, sizes, floats, ints, car_floats, car_ints):
    """Advance all reactive cars by a step; the clock is that of its end, other bodies are as at its begin.

    Returns
    -------
    int
        How many cars have appeared or left.
    """
    constants, shapes, road, crossings = constants_of(pack), shapes_of(pack), road_of(pack), crossings_of(pack)
    around, demand, state = surroundings_of(pack), demand_of(pack), state_of(floats, ints, sizes)
    work = workspace_of_cars(shapes, road, crossings, car_floats, car_ints)
    seed, step, start = state.seed[0], constants.step, (state.clock[0] - 1) * constants.step
    parts = max(1, int(math.ceil(step / LONGEST_STEP - 1e-9)))
    dt, cars = step / parts, state.intent.shape[0]
    draw_drivers(road, demand, seed, state.intent, work.drawn, work.memo)
    for i in range(cars):
        if state.intent[i, NEXT] == UNKNOWN:
            destination = destination_of(road, state.intent, work.drawn, i)
            serial, lanelet, forks = state.intent[i, SERIAL], state.intent[i, LANELET], state.intent[i, GOAL]
            state.intent[i, NEXT], _ = following(road, seed, i, serial, destination, lanelet, forks)
    begin, entries = work.counts[0], work.entries
    count = find_moving_obstacles(constants, shapes, road, around, state, work.entries, begin)
    for i in range(cars):
        body = road.car_rows[i, BODY]
        work.before[i, 0], work.before[i, 1] = state.position[body, 0], state.position[body, 1]
    changed = 0
    for part in range(parts):
        time = start + part * dt
        for e in range(begin, count if part > 0 else begin):
            entries.stands[e, SPOT] += entries.stands[e, PACE] * dt
        sort_entries(road, state.travel, state.intent, entries, count)
        decide(road, crossings, around, seed, state.travel, state.intent, work, time, begin, count, dt)
        changed += appear(road, demand, seed, state, work.drawn, work.memo, entries, time)
        for at in range(entries.first[entries.first.shape[0] - 1]):
            i = entries.order[at]
            if i < cars:
                changed += move(road, crossings, seed, state, work.drawn, work.plan[i], work.destinations, i, time, dt)
    for i in range(cars):
        if state.intent[i, PHASE] == ABSENT:
            continue
        body = road.car_rows[i, BODY]
        q = state.orientation[body]
        w, z = q[0], q[3]
        was_absent = state.position[body, 2] != road.car_sizes[i, HEIGHT]
        destination = destination_of(road, state.intent, work.drawn, i)
        pose_car(road, seed, state.travel, state.intent, state.position, state.orientation, i, destination)
        if was_absent:
            work.before[i, 0], work.before[i, 1] = state.position[body, 0], state.position[body, 1]
            w, z = q[0], q[3]
        for c in range(2):
            state.velocity[body, c] = (state.position[body, c] - work.before[i, c]) / step
        sine = w * q[3] - z * q[0]  # of half the turn, which is small in a step
        sine = sine if w * q[0] + z * q[3] >= 0.0 else -sine
        state.angular_velocity[body, 2] = 2.0 * sine / step
    if constants.memory > 0:
        remember_cars(constants, road, state)
    return changed


@inner
def remember_cars(constants, road, state):
    """Write the pose and the motion of every car to the ring of the newest steps."""
    cars = road.car_rows.shape[0]
    first = constants.tracked_body.shape[0] - cars
    for i in range(cars):
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
    constants, shapes, road = constants_of(pack), shapes_of(pack), road_of(pack)
    state = state_of(floats, ints, sizes)
    duration = steps * constants.step
    for i in range(road.car_rows.shape[0]):
        body = road.car_rows[i, BODY]
        box = bounds[body]
        if state.intent[i, PHASE] == ABSENT:
            box[0] = box[1] = math.inf
            box[2] = box[3] = -math.inf
            continue
        speed, fastest = state.travel[i, SPEED], road.car_sizes[i, CLASS_ACCELERATION]
        way = duration * (speed + 0.5 * fastest * duration) + shapes.radius[body] + 1e-6
        x, y = state.position[body, 0], state.position[body, 1]
        u, w = constants.step * state.velocity[body, 0], constants.step * state.velocity[body, 1]
        box[0], box[1] = min(x, x - u) - way, min(y, y - w) - way
        box[2], box[3] = max(x, x - u) + way, max(y, y - w) + way
        reach[body] = shapes.radius[body] + constants.step * (speed + fastest * duration) + math.sqrt(u * u + w * w)


@inner
def mark_hits(contacts, first, last, roles, movers, intent):
    """Note which reactive cars have been hit: they stand for good."""
    for row in range(first, last):
        for side in range(1, 3):
            car = roles[int(contacts[row, side]), MOVER] - movers
            if 0 <= car < intent.shape[0]:
                intent[car, PHASE] = HIT
