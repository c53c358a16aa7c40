"""Collisions of vehicles with all bodies at the end of a substep: contact points, contact rows, impulses."""

from __future__ import annotations

from cbsim.collision.kernels.active_contacts import CONTACT_IMPULSE, add_contact, is_active, write_row
from cbsim.collision.kernels.literal import SLACK, outside_box
from cbsim.collision.kernels.response import prepare_contact, resolve_contacts, to_world
from cbsim.collision.kernels.touch import (
    BODY_A,
    BODY_B,
    CLOSING,
    GAP,
    NORMAL_IMPULSE,
    NORMAL_X,
    NORMAL_Y,
    ROW,
    X,
    Y,
    Z,
    find_touches,
    room_for,
)
from cbsim.collision.kernels.workspace import MOVING, VEHICLE
from cbsim.jit import inner, kernel
from cbsim.vehicle.kernels.columns import CENTRE_X, CENTRE_Y, HEADING

__all__ = ["collide", "remember_places"]


@kernel
def remember_places(planar, before):
    """Store the poses of vehicles (vehicles, 3) at which the next substep begins."""
    for v in range(before.shape[0]):
        before[v, 0], before[v, 1], before[v, 2] = planar[v, CENTRE_X], planar[v, CENTRE_Y], planar[v, HEADING]


@inner
def begin_row(touches, first, stop, time, dt, contacts, found):
    """Write the row of a new contact from its points: their mean, largest closing speed and largest depth."""
    row = touches[first]
    x = y = z = 0.0
    deepest, fastest = first, first
    count = 0
    for k in range(first, stop):
        if touches[k, GAP] < touches[deepest, GAP]:
            deepest = k
        if touches[k, CLOSING] > touches[fastest, CLOSING]:
            fastest = k
    nx, ny = touches[deepest, NORMAL_X], touches[deepest, NORMAL_Y]
    # the deepest points with one normal make a place in the middle of an edge that lies on a face
    for k in range(first, stop):
        touches[k, ROW] = found
        if (
            touches[k, GAP] <= touches[deepest, GAP] + 1e-6
            and touches[k, NORMAL_X] * nx + touches[k, NORMAL_Y] * ny > 0.99
        ):
            x, y, z, count = x + touches[k, X], y + touches[k, Y], z + touches[k, Z], count + 1
    # the time of first contact, from the depth at the end of the substep
    closing, depth = touches[fastest, CLOSING], max(-touches[deepest, GAP], 0.0)
    ago = min(depth / closing, dt) if closing > 0.0 else 0.0
    a, b = int(row[BODY_A]), int(row[BODY_B])
    place = x / count, y / count, z / count
    write_row(contacts, found, time - ago, a, b, place, (nx, ny, 0.0), closing, depth)


@kernel
def collide(
    segments, parameters, active_contacts, shapes, planar, workspace, touch_workspace, near, substep, touches, contacts,
    found,
):  # fmt: skip
    """Detect and resolve collisions of vehicles at the end of a substep.

    Parameters
    ----------
    segments : TrajectoryTables
    parameters : (vehicles, p)
        As `cbsim.vehicle.parameters.PARAMETERS`.
    active_contacts : (moving, 4)
        Column of the Snapshot; written.
    shapes : Shapes
    planar : (vehicles, 6)
        Motion of vehicles in the plane, as `cbsim.vehicle.kernels.step_vehicle` has it; written.
    workspace, touch_workspace : BroadWorkspace, TouchWorkspace
    near : tuple
        Pairs from `find_pairs`, (≥ count, 2) int64, a vehicle first; and how many they are.
    substep : tuple of float
        When it ends, and its length [s].
    touches : (capacity, 24)
        From `room_for`; written, a larger one is returned if need be.
    contacts : (capacity, 12), out
        One row per contact that begins.
    found : int
        Rows written so far.

    Returns
    -------
    found, touches
        Rows written after it, and the table of contact points.
    """
    roles, reach, before, motion = workspace.roles, workspace.reach, touch_workspace.before, touch_workspace.motion[0]
    position, orientation, used = segments.positions, segments.turns, 0
    pairs, count = near
    time, dt = substep
    for k in range(count):
        a, b = pairs[k, 0], pairs[k, 1]
        v, other = roles[a, VEHICLE], roles[b, VEHICLE]
        ax, ay, bx, by = planar[v, CENTRE_X], planar[v, CENTRE_Y], position[b, 0], position[b, 1]
        # bounding spheres, enlarged by the motion of both in this substep
        close = reach[a] + reach[b] + abs(ax - before[v, 0]) + abs(ay - before[v, 1])
        if other >= 0:
            bx, by = planar[other, CENTRE_X], planar[other, CENTRE_Y]
            close += abs(bx - before[other, 0]) + abs(by - before[other, 1])
        if (bx - ax) * (bx - ax) + (by - ay) * (by - ay) > close * close:
            continue
        if roles[b, MOVING] < 0:  # static: the bounding box is tighter than the sphere
            rise = position[a, 2] - position[b, 2]
            if outside_box(shapes.size[b], orientation[b], ax - bx, ay - by, rise, close - reach[b] + SLACK):
                continue
        touches = room_for(touches, count)
        first = used
        used = find_touches(segments, shapes, planar, roles, touch_workspace, a, b, time, dt, touches, used)
        # motions in world axes are needed from the first contact on
        if used == first:
            continue
        if first == 0:
            for each in range(planar.shape[0]):
                to_world(planar[each], motion[each])
        for n in range(first, used):
            prepare_contact(parameters, planar, motion, dt, touches[n])
        if not is_active(active_contacts, roles, a, b) and add_contact(active_contacts, roles, a, b):
            begin_row(touches, first, used, time, dt, contacts, found)
            found += 1
    if used > 0:
        resolve_contacts(parameters, planar, touches, used, touch_workspace)
        # a row holds the impulse of the substep in which its contact begins; later ones have no row
        for k in range(used):
            if touches[k, ROW] >= 0.0:
                contacts[int(touches[k, ROW]), CONTACT_IMPULSE] += touches[k, NORMAL_IMPULSE]
    remember_places(planar, before)
    return found, touches
