"""Conditions, one file each; a new one is a file, a code in `cbsim.world.events.tables` and a branch here."""

from cbsim.events.kernels.conditions.after import has_passed
from cbsim.events.kernels.conditions.distance import is_in_distance
from cbsim.events.kernels.conditions.region import is_inside
from cbsim.events.kernels.conditions.simulation_time import has_come
from cbsim.events.kernels.conditions.speed import has_speed
from cbsim.events.kernels.conditions.standstill import stands
from cbsim.events.kernels.conditions.time_to_collision import will_collide
from cbsim.events.kernels.conditions.waypoint import passes
from cbsim.jit import inlined
from cbsim.world.events.tables import FIRST, KIND, OTHER

__all__ = ["holds"]

TIME, DISTANCE, TIME_TO_COLLISION, SPEED, STANDSTILL, REGION, WAYPOINT, EVENT, ALL, ANY, AFTER = range(11)


@inlined
def holds(tables, shapes, state, n, time, stack, size):
    """Put whether condition n holds at a time [s] on a stack, in place of what it combines; return its size."""
    nodes, values = tables.nodes, tables.values
    kind = nodes[n, KIND]
    if kind == TIME:
        found = has_come(values, n, time)
    elif kind == EVENT:
        found = state.event[nodes[n, OTHER]] >= 0
    elif kind == DISTANCE:
        found = is_in_distance(nodes, values, shapes, state, n)
    elif kind == TIME_TO_COLLISION:
        found = will_collide(nodes, values, shapes, state, n)
    elif kind == SPEED:
        found = has_speed(nodes, values, state, n)
    elif kind == STANDSTILL:
        found = stands(nodes, values, state, n, time)
    elif kind == REGION:
        found = is_inside(nodes, values, tables.corners, state, n)
    elif kind == WAYPOINT:
        found = passes(nodes, values, state, n)
    # combinations take what they combine off the stack
    elif kind == AFTER:
        size -= 1
        found = has_passed(nodes, values, state, n, time, stack[size] != 0)
    else:
        found = kind == ALL
        for _ in range(nodes[n, FIRST]):
            size -= 1
            found = (found and stack[size] != 0) if kind == ALL else (found or stack[size] != 0)
    stack[size] = 1 if found else 0
    return size + 1
