"""Crosswalks that somebody is on, or within 1 m of: reactive cars yield there."""

from __future__ import annotations

import numpy as np

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined, inner
from cbsim.traffic.kernels.ways.lights import place_at_light
from cbsim.world.packed.kernels import people_of
from cbsim.world.people.tables import AREA_EAST, AREA_NORTH, AREA_X, AREA_Y, HALF_ACROSS, HALF_ALONG
from cbsim.world.traffic.tables import EXTRAS, SIGNALS

__all__ = ["find_crosswalk_spans", "find_occupied_crosswalks", "place_to_stop"]

NEAR = 1.0  # [m]
BRAKES = 6.0  # [m/s²] with which one stops for people, where that is enough


@inner
def find_occupied_crosswalks(pack, constants, state, lanelets):
    """Station (lanelets,) at which the first occupied crosswalk of each lanelet begins [m]; no rows without people."""
    people = people_of(pack)
    found = np.empty(lanelets if people.walkers.shape[0] > 0 else 0)
    for lanelet in range(found.shape[0]):
        found[lanelet] = math.inf
    for s in range(people.spans.shape[0] if found.shape[0] > 0 else 0):
        lanelet, area = people.spans[s, 0], people.areas[people.spans[s, 1]]
        for p in range(people.walkers.shape[0]):
            body = constants.guided_body[people.walkers[p, 0]]
            x, y = state.position[body, 0] - area[AREA_X], state.position[body, 1] - area[AREA_Y]
            along = abs(x * area[AREA_EAST] + y * area[AREA_NORTH])
            across = abs(y * area[AREA_EAST] - x * area[AREA_NORTH])
            is_on = along <= area[HALF_ALONG] + NEAR and across <= area[HALF_ACROSS] + NEAR
            if is_on and state.position[body, 2] > 0.0:
                found[lanelet] = min(found[lanelet], people.span_begins[s])
    return found


@inner
def find_crosswalk_spans(pack, lanelets):
    """Stations (lanelets, 2) between which the first crosswalk of each lanelet lies [m]; no rows without people."""
    people = people_of(pack)
    found = np.empty((lanelets if people.walkers.shape[0] > 0 else 0, 2))
    for lanelet in range(found.shape[0]):
        found[lanelet, 0] = found[lanelet, 1] = math.inf
    for s in range(people.spans.shape[0] if found.shape[0] > 0 else 0):
        lanelet = people.spans[s, 0]
        if people.span_begins[s] < found[lanelet, 0]:
            found[lanelet, 0], found[lanelet, 1] = people.span_begins[s], people.span_ends[s]
    return found


@inlined
def place_to_stop(road, crossings, lights, lanelet, time, base, end, length, speed, passed):
    """Distance of the front from the first crosswalk or light of a lanelet at which a car must stop [m], or infinity.

    Parameters
    ----------
    lights : tuple of ndarray
        States of lights that events have set, and `find_occupied_crosswalks`.
    base, end : float
        Distances of the lanelet's begin and end from the rear bumper [m].
    length, speed : float
        Of the car [m], [m/s].
    passed : float
        How far beyond a light it has been passed [m].
    """
    shown, occupied = lights
    # for people it stops where it still can
    if lanelet < occupied.shape[0] and occupied[lanelet] < math.inf:
        ahead = base + occupied[lanelet] - length
        if ahead >= 0.0 and speed * speed <= 2.0 * BRAKES * ahead + 0.01:
            return ahead
    ahead = end - length
    if road.links[lanelet, EXTRAS] & SIGNALS == 0:
        return math.inf
    return place_at_light(crossings, shown, lanelet, time, ahead, speed) if ahead > -passed else math.inf
