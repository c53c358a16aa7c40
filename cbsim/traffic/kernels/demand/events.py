"""Events and extremes of traffic in a step: cars appear and leave, and their drivers make mistakes.

It reads the state after a step, and keeps for each car what it was before. Nothing of it acts on the run.
"""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import deferred, inner, kernel
from cbsim.traffic.kernels.branches import branch_of_car, branch_of_second, numbered, plain_serial
from cbsim.traffic.kernels.drivers import (
    BRAKES_HARD_SHARE,
    DRIVERS,
    IGNORES_SHARE,
    MISTAKES,
    RUNS_STOPS_SHARE,
    TAILGATES,
    pick,
    uniform,
    word_of,
)
from cbsim.world.packed.kernels import constants_of, demand_of, road_of, state_of
from cbsim.world.traffic.events import APPEARED, BRAKES_HARD, IGNORES_RIGHT_OF_WAY, LEFT, RUNS_STOPS
from cbsim.world.traffic.events import TAILGATES as TAILGATES_EVENT
from cbsim.world.traffic.tables import (
    ABSENT,
    ACCELERATION,
    BODY,
    CAR_LENGTH,
    CLAIM,
    CROSSING,
    DRIVING,
    FIRST_CAR,
    GOAL,
    HIT,
    LANELET,
    LENGTH,
    MIX,
    NEXT,
    PAUSING,
    PHASE,
    POOL,
    RATE,
    ROLLING,
    SERIAL,
    SPEED,
    STATION,
    STOP_LINE,
    STOPPED,
    WAITING,
)

__all__ = ["CAR_FLOATS", "CAR_INTS", "FIRST_FLOAT", "FIRST_INT", "HARDEST", "LONGEST", "note_events", "note_step"]

# floats of the notes: hardest braking and longest standstill so far; then, for each car, the probabilities of the
# mistakes of its driver
HARDEST, LONGEST, FIRST_FLOAT = range(3)
P_RUNS, P_IGNORES, P_BRAKES, CAR_FLOATS = range(4)
# ints of the notes: events written; then, for each car, what it was after the step before
WRITTEN, FIRST_INT = range(2)
KNOWN, NUMBER, LINE, SECOND, CLAIMED, FORKS, CAR_INTS = range(7)  # KNOWN: the serial and 1, 0 for an absent car
OVER = -1  # LINE: it has been let over the stop line under its body; else lanelet of the line that it ran, and 1
WITHOUT_CAUSE = 6.0  # [m/s²] `cbsim.traffic.kernels.cars` brakes so by mistake
LONGEST_STEP = 0.1  # [s] in which a car decides once


@inner
def write_event(events, ints, step, kind, row, number):
    """Append an event; whether there was room."""
    count = ints[WRITTEN]
    if count >= events.shape[0]:
        return False
    events[count, 0], events[count, 1], events[count, 2], events[count, 3] = step, kind, row, number
    ints[WRITTEN] = count + 1
    return True


@inner
def number_of(road, demand, serial, i):
    """Count the car within its pool from 1: in the order of appearance in a flow, else in that of rows."""
    pool = road.car_rows[i, POOL]
    if pool < 0:
        return 0
    if demand.flows[pool, RATE] <= 0.0:
        return i - demand.pool_rows[pool, FIRST_CAR] + 1
    return (plain_serial(serial) - road.car_rows.shape[0]) // demand.flows.shape[0] + 1


@inner
def driver_row(road, demand, seed, word, serial, i):
    """Row of the driver of a car, as `draw_drivers` draws it."""
    mix = road.car_rows[i, MIX]
    first, last = demand.mixes[mix], demand.mixes[mix + 1]
    row = first
    if last - first > 1:
        row = pick(demand.mix_rows, first, last, uniform(seed, DRIVERS, word, serial, 0))
    return int(demand.mix_rows[row, 0])


@inner
def line_under(road, travel, intent, i):
    """Lanelet, and 1, at whose end the stop line lies that is under car i; 0 for none."""
    lanelet, front = intent[i, LANELET], travel[i, STATION] + road.car_sizes[i, CAR_LENGTH]
    if road.links[lanelet, STOP_LINE] != 0 and front > road.lanelets[lanelet, LENGTH]:
        return lanelet + 1
    front -= road.lanelets[lanelet, LENGTH]
    lanelet = intent[i, NEXT]
    if lanelet >= 0 and road.links[lanelet, STOP_LINE] != 0 and front > road.lanelets[lanelet, LENGTH]:
        return lanelet + 1
    return 0


@inner
def note_mistakes(road, seed, state, floats, memo, events, ints, step, second, braking, word, i):
    """Note which mistakes a driver has made in a step; `braking` is the number of the second as an occasion."""
    travel, intent, body = state.travel, state.intent, road.car_rows[i, BODY]
    phase, serial = intent[i, PHASE], intent[i, SERIAL]
    if floats[P_RUNS] > 0.0:
        # somebody who runs a line has its body over it without having been let
        line = line_under(road, travel, intent, i)
        if phase in (STOPPED, CROSSING, ROLLING):
            memo[LINE] = OVER
        elif line == 0:
            memo[LINE] = 0
        elif memo[LINE] == 0 and write_event(events, ints, step, RUNS_STOPS, body, memo[NUMBER]):
            memo[LINE] = line
    if floats[P_IGNORES] > 0.0 and intent[i, CLAIM] != memo[CLAIMED]:
        branch = branch_of_car(state.fork, state.held, i, memo[FORKS], step - 1)
        # numbered as by `branches.errs_at`, for the same draw as that of the decision
        occasion = numbered((memo[FORKS] << 20) + 1, branch)
        if intent[i, CLAIM] > 0 and uniform(seed, MISTAKES, word, serial, occasion) < floats[P_IGNORES]:
            write_event(events, ints, step, IGNORES_RIGHT_OF_WAY, body, memo[NUMBER])
        memo[CLAIMED] = intent[i, CLAIM]
    if floats[P_BRAKES] > 0.0 and phase in (DRIVING, CROSSING, ROLLING) and second != memo[SECOND]:
        by_mistake = travel[i, SPEED] > 0.0 and travel[i, ACCELERATION] <= -WITHOUT_CAUSE
        if by_mistake and uniform(seed, MISTAKES, word, serial, braking) < floats[P_BRAKES]:
            write_event(events, ints, step, BRAKES_HARD, body, memo[NUMBER])
            memo[SECOND] = second
    memo[FORKS] = intent[i, GOAL]


@deferred("none")
def note_events(pack, sizes, state_floats, state_ints, floats, ints, events):
    """Note what every car has done in the step that the clock is at the end of.

    Parameters
    ----------
    pack, sizes, state_floats, state_ints
        As `cbsim.simulation.kernels.advance_into` has them.
    floats, ints : (n,), (m,)
        Notes, of as many cars as there are; written. Without any, nothing is noted.
    events : (capacity, 4) int64, out
        Written from row `ints[0]` on. What finds no room is noted after a later step.
    """
    if ints.shape[0] == 0:
        return
    constants, road, demand = constants_of(pack), road_of(pack), demand_of(pack)
    state = state_of(state_floats, state_ints, sizes)
    seed, step = state.seed[0], state.clock[0]
    parts = max(1, int(math.ceil(constants.step / LONGEST_STEP - 1e-9)))
    # the second of the step's last decision, as `branches` counts them
    second = int(math.floor(max(step - 1, 0) * constants.step + (parts - 1) * constants.step / parts))
    braking = numbered(second, branch_of_second(state.fork, second, constants.step))
    for i in range(road.car_rows.shape[0]):
        memo = ints[FIRST_INT + CAR_INTS * i : FIRST_INT + CAR_INTS * (i + 1)]
        phase, serial, body, pool = state.intent[i, PHASE], state.intent[i, SERIAL], road.car_rows[i, BODY], 0
        now = serial + 1 if phase != ABSENT else 0
        if memo[KNOWN] != now:
            # whoever was in the row before has left; an event without room is written after a later step
            if memo[KNOWN] > 0:
                if not write_event(events, ints, step, LEFT, body, memo[NUMBER]):
                    continue
                memo[KNOWN] = 0
            if now == 0:
                continue
            number, pool = number_of(road, demand, serial, i), road.car_rows[i, POOL]
            is_flow = pool >= 0 and demand.flows[pool, RATE] > 0.0
            if is_flow and not write_event(events, ints, step, APPEARED, body, number):
                continue
            word = word_of(road.words, pool, i)
            driver = demand.drivers[driver_row(road, demand, seed, word, serial, i)]
            rates = floats[FIRST_FLOAT + CAR_FLOATS * i : FIRST_FLOAT + CAR_FLOATS * (i + 1)]
            rates[P_RUNS], rates[P_IGNORES] = driver[RUNS_STOPS_SHARE], driver[IGNORES_SHARE]
            rates[P_BRAKES] = driver[BRAKES_HARD_SHARE]
            memo[KNOWN], memo[NUMBER], memo[LINE], memo[SECOND] = now, number, OVER, -1
            memo[CLAIMED], memo[FORKS] = state.intent[i, CLAIM], state.intent[i, GOAL]
            if driver[TAILGATES] > 0.0 and uniform(seed, MISTAKES, word, serial, 0) < driver[TAILGATES]:
                write_event(events, ints, step, TAILGATES_EVENT, body, number)
        if phase in (ABSENT, HIT):
            continue
        floats[HARDEST] = max(floats[HARDEST], -state.travel[i, ACCELERATION])
        if phase != PAUSING:
            floats[LONGEST] = max(floats[LONGEST], state.travel[i, WAITING] if phase != ROLLING else 0.0)
        first = FIRST_FLOAT + CAR_FLOATS * i
        if floats[first] > 0.0 or floats[first + 1] > 0.0 or floats[first + 2] > 0.0:
            pool = road.car_rows[i, POOL]
            word = word_of(road.words, pool, i)
            rates = floats[first : first + CAR_FLOATS]
            note_mistakes(road, seed, state, rates, memo, events, ints, step, second, braking, word, i)


@kernel
def note_step(pack, sizes, state_floats, state_ints, floats, ints, events):
    """Note what there is at the state before the first step of a run; arguments as of `note_events`."""
    note_events(pack, sizes, state_floats, state_ints, floats, ints, events)
