"""Branches of forks in the random streams of traffic: arrivals, new cars and mistakes; see docs/theory/splitting.md §3.

A branch is the upper part of the number of an occasion, so that branch 0 draws what a run without forks does. A draw
that had begun before a fork keeps its branch: else the future would not follow from the past.
"""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined, inner
from cbsim.traffic.kernels.drivers import BRANCH, BRANCH_NOW, MISTAKES, uniform, word_of
from cbsim.traffic.kernels.workspace import parts_of
from cbsim.world.kernels import FORK_BRANCH, FORK_STEP, branch_at
from cbsim.world.traffic.tables import GOAL, POOL, SERIAL

__all__ = [
    "branch_of_arrival", "branch_of_car", "branch_of_second", "errs_at", "hold_draws", "numbered", "plain_serial",
    "serial_of", "set_branches",
]  # fmt: skip

ARRIVED, APPEARED = range(2)  # columns of `State.pool_counts`
HELD_DRAW, HELD_BRANCH = range(2)  # of `State.held`: draw, numbered from 1, and the branch in which it has begun
SERIALS = 32  # bits of a serial without its branch


@inlined
def numbered(occasion, branch):
    """Return the number of an occasion in a branch."""
    return occasion + (branch << 44)


@inlined
def errs_at(road, seed, intent, values, i, number, share):
    """Whether car i makes a mistake of some probability at a junction, of which this is the number."""
    if share <= 0.0:
        return False
    occasion = numbered((intent[i, GOAL] << 20) + number, int(values[BRANCH]))
    return uniform(seed, MISTAKES, word_of(road.words, road.car_rows[i, POOL], i), intent[i, SERIAL], occasion) < share


@inlined
def serial_of(number, branch):
    """Make the serial of a car that appears in a branch."""
    return number + (branch << SERIALS)


@inlined
def plain_serial(serial):
    """Return the serial of a car without its branch."""
    return serial & ((1 << SERIALS) - 1)


@inner
def branch_of_second(fork, second, step):
    """Branch of what drivers do in a whole second: that of the first step which begins in it."""
    branch = 0
    parts = parts_of(step)
    for k in range(fork.shape[0]):
        if fork[k, FORK_BRANCH] == 0:
            break
        # the last decision before the fork: if that fell into this second, or a later one, the second had begun before
        before = (fork[k, FORK_STEP] - 1) * step + (parts - 1) * (step / parts)
        if fork[k, FORK_STEP] > 0 and int(math.floor(before)) >= second:
            break
        branch = fork[k, FORK_BRANCH]
    return branch


@inner
def branch_of_car(fork, held, i, goal, step):
    """Branch of the mistakes of car i that belong to the part of its way behind so many forks or goals."""
    if held.shape[0] > 0 and held[i, HELD_DRAW] == goal + 1:
        return held[i, HELD_BRANCH]
    return branch_at(fork, step)


@inner
def branch_of_arrival(held, row, appeared, branch):
    """Branch of the driver of the next car of a flow, whose row in `State.held` is given."""
    if held.shape[0] > 0 and held[row, HELD_DRAW] == appeared + 1:
        return held[row, HELD_BRANCH]
    return branch


@inner
def hold_draws(fork, held, intent, pool_counts, step):
    """At a fork, note the branch of draws that have begun; `step` is the number of the Snapshot."""
    branch, is_fork = 0, False
    for k in range(fork.shape[0]):
        if fork[k, FORK_BRANCH] == 0 or fork[k, FORK_STEP] > step:
            break
        if fork[k, FORK_STEP] == step:  # the branch before the fork is the one to hold
            is_fork = True
            break
        branch = fork[k, FORK_BRANCH]
    if not is_fork or step == 0:
        return
    cars = intent.shape[0]
    # `held` has the draw, numbered from 1, and the branch in which it has begun
    for i in range(cars):
        if held[i, HELD_DRAW] != intent[i, GOAL] + 1:
            held[i, HELD_DRAW], held[i, HELD_BRANCH] = intent[i, GOAL] + 1, branch
    for p in range(pool_counts.shape[0]):
        appeared = pool_counts[p, APPEARED]
        waits = pool_counts[p, ARRIVED] > appeared
        if waits and held[cars + p, HELD_DRAW] != appeared + 1:
            held[cars + p, HELD_DRAW], held[cars + p, HELD_BRANCH] = appeared + 1, branch


@inner
def set_branches(fork, held, intent, drawn, step, time, length):
    """Write the branches of the mistakes of all cars beside the values of their drivers.

    `step` is the number of the Snapshot at the begin of the step, `length` that of the step [s], `time` that of its
    part [s].
    """
    now = float(branch_of_second(fork, int(math.floor(time)), length))
    for i in range(intent.shape[0]):
        drawn[i, BRANCH] = float(branch_of_car(fork, held, i, intent[i, GOAL], step))
        drawn[i, BRANCH_NOW] = now
