"""Condition `time_to_collision`: an object will touch another one, or reach a place, if both keep their velocities.

Time to collision of two outlines at constant velocity, without rotation, as `cbsim.geometry.ttc` has it (Hayward,
"Near-miss determination through use of a scale of danger", Highway Research Record 384, 1972).
"""

from __future__ import annotations

from cbsim.events.kernels.conditions.presence import is_present
from cbsim.geometry.kernels import elementary as math
from cbsim.geometry.kernels.boxes import upright_meeting
from cbsim.jit import inlined
from cbsim.world.events.tables import BELOW, OTHER, SUBJECT, X, Y

__all__ = ["will_collide"]


@inlined
def will_collide(nodes, values, shapes, state, n):
    """Whether the object of condition n will touch the other, or reach the place, within the bound."""
    body, other, bound = nodes[n, SUBJECT], nodes[n, OTHER], values[n, BELOW]
    if not is_present(state, body) or (other >= 0 and not is_present(state, other)):
        return False
    here, velocity = state.position[body], state.velocity[body]
    if other < 0:
        x, y = values[n, X] - here[0], values[n, Y] - here[1]
        closing, square = x * velocity[0] + y * velocity[1], x * x + y * y
        return closing > 0.0 and square < bound * closing  # distance over the speed towards the place
    there, speed = state.position[other], state.velocity[other]
    x, y, z = there[0] - here[0], there[1] - here[1], there[2] - here[2]
    u, v, w = speed[0] - velocity[0], speed[1] - velocity[1], speed[2] - velocity[2]
    reach = shapes.radius[body] + shapes.radius[other] + bound * math.sqrt(u * u + v * v + w * w)
    # too far apart to touch in time, whatever the directions
    if x * x + y * y > reach * reach:
        return False
    turns = state.orientation[body], state.orientation[other]
    return (
        upright_meeting(shapes.size[body], turns[0], shapes.size[other], turns[1], x, y, z, u, v, w, bound, 0.0) < bound
    )
