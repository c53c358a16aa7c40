"""Vehicles that nothing can touch in a step, which then need no look at collisions in each of its substeps.

A vehicle is alone if no body comes near it, whatever it does in the step: distances are compared with the way that its
speed and its acceleration allow. Who may touch somebody may be thrown towards others, so these must be farther from it
still. This is decided where all that moves are vehicles of the drive `kinematic` on level ground. The bits are the
same.
"""

from __future__ import annotations

from cbsim.collision.kernels.broad import ANCHOR_ROOM, ANCHOR_X, ANCHOR_Y
from cbsim.collision.kernels.literal import SLACK, outside_box
from cbsim.collision.kernels.workspace import MOVING, VEHICLE
from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined, inner
from cbsim.vehicle.kernels.columns import (
    ALONE,
    CENTRE_X,
    CENTRE_Y,
    FORWARD,
    HEADING,
    KINEMATIC,
    MAX_ACCELERATION,
    MAX_STEER,
    WHEELBASE,
)

__all__ = ["are_free", "mark_alone", "may_leave"]

SWING = 1.5  # way of the centre over that of the rear axle, for steering angles up to `STEEPEST`
STEEPEST = 1.1  # [rad]
SPREAD = 2.5  # times the way of a vehicle: more than 1 + √2, as `collide` adds up ways east and north
THROW, KICK = 4.0, 20.0  # speed after an impact over the greatest before it; and more [m/s]
FASTEST = 1e3  # [m/s]


@inlined
def are_free(constants, state):
    """Whether all that moves are vehicles of the drive `kinematic` on level ground, with usual parameters."""
    vehicles = constants.vehicle_body.shape[0]
    if constants.ground_triangles.shape[0] > 0 or constants.moving.shape[0] != vehicles:
        return False
    for v in range(vehicles):
        parameters = constants.vehicle_parameters[v]
        usual = parameters[MAX_STEER] <= STEEPEST and parameters[WHEELBASE] >= 0.1
        if constants.vehicle_drive[v] != KINEMATIC or not usual:
            return False
    return state.clock[0] > 1  # a run begins by finding what overlaps


@inner
def reach_of(planar, parameters, step):
    """Longest way of a vehicle's centre in a step [m]; not a number where it is not usual."""
    usual = abs(planar[HEADING]) < 100.0 and abs(planar[FORWARD]) < FASTEST
    return SWING * (abs(planar[FORWARD]) + parameters[MAX_ACCELERATION] * step) * step if usual else math.nan


@inner
def may_leave(planar, table, step, anchors):
    """Whether a vehicle may leave the margin of its bounds (vehicles, 3) in a step."""
    for v in range(anchors.shape[0]):
        x, y = planar[v, CENTRE_X] - anchors[v, ANCHOR_X], planar[v, CENTRE_Y] - anchors[v, ANCHOR_Y]
        room = anchors[v, ANCHOR_ROOM] - reach_of(planar[v], table[v], step)
        if not (room > 0.0 and x * x + y * y < room * room):
            return True
    return False


@inner
def mark_alone(table, step, sizes, positions, orientations, planar, roles, reach, pairs, count):
    """Mark the vehicles that nothing can touch in a step, all of which stay within their margins; count them.

    Parameters
    ----------
    table : (vehicles, p)
    step : float
        [s]
    sizes, positions, orientations
        Of all bodies.
    planar : (vehicles, 12)
        Column `ALONE` is written.
    roles, reach : (bodies, 3), (bodies,)
        As `cbsim.collision.kernels.workspace.BroadWorkspace` has them.
    pairs, count : (≥ count, 2), int
        That may touch: a vehicle first.
    """
    vehicles, fastest = planar.shape[0], 0.0
    for v in range(vehicles):
        planar[v, ALONE], fastest = 1.0, max(fastest, abs(planar[v, FORWARD]))
    thrown = (THROW * fastest + KICK) * step
    # all pairs at first; then, until nothing changes, those of which one alone may be touched, and thrown at the other
    changes, is_first = True, True
    while changes:
        changes = False
        for k in range(count):
            a, b = pairs[k, 0], pairs[k, 1]
            v, other = roles[a, VEHICLE], roles[b, VEHICLE]
            one = planar[v, ALONE] > 0.0
            # a static body is taken for as free as the vehicle: it is not thrown
            two = one if other < 0 else planar[other, ALONE] > 0.0
            if not (one or two) or (not is_first and one == two):
                continue
            near = reach[a] + reach[b] + SPREAD * reach_of(planar[v], table[v], step)
            bx, by = positions[b, 0], positions[b, 1]
            if other >= 0:
                bx, by = planar[other, CENTRE_X], planar[other, CENTRE_Y]
                near += SPREAD * reach_of(planar[other], table[other], step)
            near += 0.0 if one == two else thrown
            dx, dy = planar[v, CENTRE_X] - bx, planar[v, CENTRE_Y] - by
            if dx * dx + dy * dy > near * near:
                continue
            if roles[b, MOVING] < 0:
                rise = positions[a, 2] - positions[b, 2]
                if outside_box(sizes[b], orientations[b], dx, dy, rise, near - reach[b] + SLACK):
                    continue
            planar[v, ALONE], changes = 0.0, True
            if other >= 0:
                planar[other, ALONE] = 0.0
        is_first = False
    alone = 0
    for v in range(vehicles):
        alone += 1 if planar[v, ALONE] > 0.0 else 0
    return alone
