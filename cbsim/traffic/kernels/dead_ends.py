"""Dead ends: who can only go to a body, or a queue before one, with no room to turn round there stops before that.

But who stands behind a fork, in the way of others, goes on.
"""

from __future__ import annotations

from cbsim.jit import inner
from cbsim.traffic.kernels.closures import is_closed, is_cut_off
from cbsim.traffic.kernels.drivers import LEAST
from cbsim.traffic.kernels.look import BEFORE_LINE, STANDS, STOP
from cbsim.traffic.kernels.sideways import oncoming_row, reach_of_turn
from cbsim.traffic.kernels.workspace import PACE, SPOT
from cbsim.world.traffic.tables import (
    CAR_LENGTH,
    EXTRAS,
    FORK_END,
    FORKS,
    LANELET,
    LENGTH,
    SHIFT,
    SPEED,
    STATION,
    WAITING,
)

__all__ = ["is_any_closed", "stands_in_fork", "stop_before_dead_end"]

NEXT_ONES = 3  # lanelets ahead that are looked at
IN_THE_WAY = 12.0  # [s] of standing behind a fork after which one goes on; others are told of the body before, after 10
HARDEST = 3.0  # [m/s²] with which one stops there at most


@inner
def is_any_closed(closed):
    """Whether some lanelet is closed."""
    for row in range(closed.shape[0]):
        if closed[row] != 0:
            return True
    return False


@inner
def stop_before_dead_end(road, sides, travel, intent, work, i):
    """Let a car stop at the end of its lanelet, if it can turn round there, and not before what stands beyond it."""
    entries, closed, lanelet = work.entries, work.routes.noted, intent[i, LANELET]
    length, speed = road.car_sizes[i, CAR_LENGTH], travel[i, SPEED]
    stop = road.lanelets[lanelet, LENGTH] - travel[i, STATION] - length - BEFORE_LINE
    if stop < -BEFORE_LINE or (speed > STANDS and speed * speed > 2.0 * HARDEST * stop):
        return
    for k in range(1, NEXT_ONES + 1):
        one = work.ways.lanelets[i, k]
        if one < 0:
            return
        if is_closed(closed, one):
            at, needed = entries.first[one], length + work.drawn[i, LEAST] + reach_of_turn(length)
            is_near = at < entries.first[one + 1] and entries.sorted_stands[at, SPOT] < needed
            if is_near and abs(entries.sorted_stands[at, PACE]) <= STANDS:
                if oncoming_row(sides, lanelet, travel[i, STATION]) >= 0 and is_cut_off(road, closed, work, i, lanelet):
                    work.plan[i, STOP] = min(work.plan[i, STOP], stop)
            return
        if oncoming_row(sides, one, 0.5 * road.lanelets[one, LENGTH]) >= 0:  # it can turn round there
            return


@inner
def stands_in_fork(road, crossings, travel, intent, i):
    """Whether a car has stood for long so soon behind a fork that its rear is in others' way."""
    lanelet, station = intent[i, LANELET], travel[i, STATION]
    if travel[i, WAITING] < IN_THE_WAY or (road.links[lanelet, EXTRAS] & FORKS) == 0:
        return False
    for f in range(crossings.fork_offsets[lanelet], crossings.fork_offsets[lanelet + 1]):
        if station - crossings.forks[f, SHIFT] < crossings.forks[f, FORK_END]:
            return True
    return False
