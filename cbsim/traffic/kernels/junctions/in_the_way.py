"""Who is in the way of somebody who goes first, so that others need not wait for it."""

from __future__ import annotations

from cbsim.jit import inlined
from cbsim.traffic.kernels.look import CHAIN_END, STANDS
from cbsim.traffic.kernels.workspace import HOLDER, STARTS
from cbsim.world.traffic.tables import ACCELERATION, ENTRY, ENTRY_END, LENGTH, SPEED, STATION, WAITING

__all__ = ["PATIENCE", "is_in_the_way"]

PATIENCE = 5.0  # [s] of standing after which one stands in others' way, and the one who stands longest goes first


@inlined
def stands_on(travel, queues, who):
    """Whether a car has stood for long, and goes on standing."""
    car = travel[who]
    stood = car[SPEED] < STANDS and car[WAITING] > PATIENCE
    return stood and car[ACCELERATION] <= 0.0 and queues.states[who] != STARTS


@inlined
def is_in_the_way(road, crossings, travel, work, i, other):
    """Whether car i, or anybody who goes on standing, is in a conflict area that another car needs, or may enter it."""
    claims, ways, base, k, cars = work.claims, work.ways, -travel[other, STATION], 0, travel.shape[0]
    while k < ways.lanelets.shape[1] and base < work.plan[other, CHAIN_END]:
        lanelet = ways.lanelets[other, k]
        if lanelet < 0:
            break
        for e in range(road.links[lanelet, ENTRY], road.links[lanelet, ENTRY_END]):
            holder = claims.areas[crossings.entry_rows[e], 1 - crossings.entry_sides[e], HOLDER]
            if holder == i or (0 <= holder < cars and holder != other and stands_on(travel, work.queues, holder)):
                return True
        base += road.lanelets[lanelet, LENGTH]
        k += 1
    return False
