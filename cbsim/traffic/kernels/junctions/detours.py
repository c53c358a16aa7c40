"""Detours: another exit for who has stood for long at conflicts with no room behind them."""

from __future__ import annotations

from cbsim.jit import inlined, inner
from cbsim.traffic.kernels.drivers import LEAST
from cbsim.traffic.kernels.junctions.claims import room_behind
from cbsim.traffic.kernels.look import STANDS
from cbsim.traffic.kernels.ways.sideways import reach_of_turn
from cbsim.world.traffic.tables import CAR_LENGTH, ENTRY, ENTRY_END, LANELET, LENGTH, SPEED, STATION, WANDER, WANDER_END

__all__ = ["DETOUR", "find_detour"]

DETOUR = 10.0  # [s] of standing without room beyond after which another way is taken
SHORT = 3  # lanelets shorter than a car that are looked over behind another exit


@inlined
def next_beyond(road, destination, lanelet):
    """Next lanelet on the way of who has taken another exit: to its destination, or the first one; -1 for none."""
    if destination >= 0:
        return road.hops[destination * road.lanelets.shape[0] + lanelet]
    first = road.links[lanelet, WANDER]
    return road.wanders[first] if first < road.links[lanelet, WANDER_END] else -1


@inlined
def turns_back(road, crossings, lanelet, way):
    """Whether a way leads back over the lanelet before it, where those behind stand."""
    for e in range(road.links[way, ENTRY], road.links[way, ENTRY_END]):
        if crossings.entry_others[e] == lanelet:
            return True
    return False


@inner
def find_detour(road, crossings, travel, intent, values, entries, claims, closed, ways, i, destination):
    """Find another way on for a car that has stood for long without room beyond; -1 for none.

    There must be room behind the other way, it must lead to where the car goes, and not back over its own lanelet. The
    first such one is taken, from its own on in the order in which the road has them.
    """
    lanelet, length, cars = intent[i, LANELET], road.car_sizes[i, CAR_LENGTH], intent.shape[0]
    ahead = road.lanelets[lanelet, LENGTH] - travel[i, STATION]
    # who has begun to roll keeps its way: conflicts of another one may begin where it cannot stop any more
    if ahead < length - 1e-6 or destination == -2 or travel[i, SPEED] >= STANDS:
        return -1
    first, last = road.links[lanelet, WANDER], road.links[lanelet, WANDER_END]
    chosen, own = first, length + values[LEAST]
    for n in range(first, last):
        chosen = n if road.wanders[n] == ways.lanelets[i, 1] else chosen
    for n in range(1, last - first):
        way = road.wanders[first + (chosen - first + n) % (last - first)]
        if turns_back(road, crossings, lanelet, way):
            continue
        over, beyond = ahead + road.lanelets[way, LENGTH], next_beyond(road, destination, way)
        for _ in range(SHORT):
            if beyond < 0 or road.lanelets[beyond, LENGTH] >= own:
                break
            over, beyond = over + road.lanelets[beyond, LENGTH], next_beyond(road, destination, beyond)
        if beyond < 0 or road.lanelets[beyond, LENGTH] < own:
            continue
        if room_behind(entries, claims, closed, beyond, over, over, own, 0.0, cars, reach_of_turn(own)) >= 0.0:
            return way
    return -1
