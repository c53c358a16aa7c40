"""Drivers of reactive cars: values are drawn from (seed, pool, serial), so that the serial is all that is kept."""

from __future__ import annotations

import numpy as np

from cbsim.jit import inlined, inner
from cbsim.world.kernels import normal_into, philox_block, philox_into
from cbsim.world.traffic.tables import CLASS_ACCELERATION, FIRST_TARGET, LAST_TARGET, MIX, POOL, SERIAL

__all__ = [
    "ARRIVALS", "BRAKES_HARD", "BRANCH", "BRANCH_NOW", "CAUTION", "COMFORTABLE", "DESTINATION", "FACTOR", "HEADWAY",
    "IGNORES", "LEAST", "MISTAKES", "MODEL", "RUNS_STOPS", "SPEED", "STRONGEST", "VALUES", "draw_driver",
    "draw_drivers", "uniform", "word_of",
]  # fmt: skip

# columns of the values of a driver, as drawn
MODEL, FACTOR, SPEED, HEADWAY, LEAST, STRONGEST, COMFORTABLE, RUNS_STOPS, IGNORES, BRAKES_HARD, DESTINATION, CAUTION = (
    range(12)
)
BRANCH, BRANCH_NOW, VALUES = range(12, 15)  # branches of its mistakes, by occasion and by second; not drawn
# columns of `Demand.drivers`: the model, six means, six deviations, the mistakes, mean and deviation of critical gaps
DRIVER_MODEL, MEANS, DEVIATIONS, TAILGATES, GAPS = 0, 1, 7, 16, 17
RUNS_STOPS_SHARE, IGNORES_SHARE, BRAKES_HARD_SHARE = 13, 14, 15
ROUTES, DRIVERS, ARRIVALS, MISTAKES = (np.uint64(k) for k in (0x526F757465, 0x447269766572, 0x417272, 0x4D6973))
UNIT = 1.0 / 9007199254740992.0  # 2⁻⁵³
DROP = np.uint64(11)
CUT = 3.0  # deviations
CLOSE = 0.3  # share of the time headway that a tailgater keeps


@inlined
def word_of(words, pool, i):
    """Return the word of car i in streams of random numbers: the hash of its pool's name, without a pool its row."""
    return words[pool] if pool >= 0 else i


@inner
def uniform(seed, stream, word, event, block):
    """Draw a uniform number in [0, 1) of one occasion of a stream; `word` is the hash of the pool's name."""
    drawn = philox_block(np.uint64(seed) ^ stream, np.uint64(word), event, block)
    return float(drawn[0] >> DROP) * UNIT


@inner
def pick(shares, first, last, number):
    """Row of a table (n, 2) of cumulated shares that a uniform number falls into."""
    row = first
    while row < last - 1 and number >= shares[row, 1]:
        row += 1
    return row


@inner
def bounded(value, least, most):
    """Cut a value at what is physical."""
    return min(max(value, least), most)


@inner
def draw_drivers(road, demand, seed, intent, drawn, memo):
    """Draw the values (cars, 14) of every car whose serial or seed is another than that noted in `memo` (cars, 2)."""
    words, normal = np.empty(4, np.uint64), np.empty(8)
    for i in range(intent.shape[0]):
        if memo[i, 0] != intent[i, SERIAL] or memo[i, 1] != seed:
            draw_driver(road, demand, seed, intent, drawn, memo, i, words, normal)


@inner
def draw_driver(road, demand, seed, intent, drawn, memo, i, words, normal):
    """Draw the values of car i; `words` (4,) and `normal` (8,) are scratch."""
    serial = intent[i, SERIAL]
    memo[i, 0], memo[i, 1] = serial, seed
    pool, mix = road.car_rows[i, POOL], road.car_rows[i, MIX]
    word = word_of(road.words, pool, i)
    first, last = demand.mixes[mix], demand.mixes[mix + 1]
    row = first
    if last - first > 1:
        row = pick(demand.mix_rows, first, last, uniform(seed, DRIVERS, word, serial, 0))
    driver, values = demand.drivers[int(demand.mix_rows[row, 0])], drawn[i]
    # block 0 has chosen the driver; its numbers are from block 1 on
    philox_into(np.uint64(seed) ^ DRIVERS, np.uint64(word), serial, 1, words)
    normal_into(words, normal)
    values[MODEL] = driver[DRIVER_MODEL]
    for k in range(6):
        spread = max(-CUT, min(CUT, normal[k]))
        values[FACTOR + k] = driver[MEANS + k] + driver[DEVIATIONS + k] * spread
    values[FACTOR] = bounded(values[FACTOR], 0.1, 3.0)
    values[SPEED] = bounded(values[SPEED], 0.5, 100.0) if driver[MEANS + SPEED - FACTOR] > 0.0 else -1.0
    values[HEADWAY] = bounded(values[HEADWAY], 0.2, 10.0)
    values[LEAST] = bounded(values[LEAST], 0.5, 20.0)
    values[STRONGEST] = bounded(values[STRONGEST], 0.2, road.car_sizes[i, CLASS_ACCELERATION])
    values[COMFORTABLE] = bounded(values[COMFORTABLE], 0.3, 6.0)
    values[RUNS_STOPS], values[IGNORES] = driver[RUNS_STOPS_SHARE], driver[IGNORES_SHARE]
    values[BRAKES_HARD] = driver[BRAKES_HARD_SHARE]
    if driver[TAILGATES] > 0.0 and uniform(seed, MISTAKES, word, serial, 0) < driver[TAILGATES]:
        values[HEADWAY] *= CLOSE
    caution = driver[GAPS] + driver[GAPS + 1] * max(-CUT, min(CUT, normal[6]))
    values[DESTINATION], values[CAUTION] = -1.0, bounded(caution, 0.3, 3.0)
    values[BRANCH], values[BRANCH_NOW] = 0.0, 0.0
    if pool >= 0:
        first, last = demand.pool_rows[pool, FIRST_TARGET], demand.pool_rows[pool, LAST_TARGET] + 1
        if last > first:
            # a block of its own: those below number the forks of the way
            chosen = pick(demand.targets, first, last, uniform(seed, ROUTES, word, serial, 1 << 40))
            values[DESTINATION] = demand.targets[chosen, 0]
