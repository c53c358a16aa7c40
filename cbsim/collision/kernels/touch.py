"""Contact points of vehicles in the plane, from outlines over the range of heights that both bodies share.

A vehicle moves in the plane, so it collides with the outline of that part of the other body which lies within its own
height, less `CLEARANCE` at the top and the bottom: a box may stand on another, and a car on its ground.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.collision.kernels.body_paths import ORIENTATION, POSITION, VELOCITY, make_paths, motion_into
from cbsim.collision.kernels.literal import outside_box
from cbsim.collision.kernels.pairs import TreeSearch, make_tree_search, triangles_near
from cbsim.collision.kernels.workspace import MOVER, VEHICLE
from cbsim.geometry.kernels import elementary as math
from cbsim.geometry.kernels import polygons
from cbsim.geometry.kernels.boxes import is_upright, upright_meeting
from cbsim.geometry.kernels.footprints import OUTLINE, half_height, outline_into, slab_into
from cbsim.geometry.kernels.polygons import TOUCH_WIDTH, polygon_contact
from cbsim.geometry.kernels.rotation import heading_of, rotate, rotate_back, turn_in_place
from cbsim.geometry.kernels.solids import SHAPE_BOX, SHAPE_MESH, SHAPE_SPHERE
from cbsim.jit import inner
from cbsim.vehicle.kernels.columns import CENTRE_X, CENTRE_Y, HEADING

__all__ = ["BODY_A", "TouchWorkspace", "find_touches", "make_touch_workspace", "room_for"]

CLEARANCE = 1e-3  # [m] overlap in height from which bodies collide
NEARLY = 1e-3  # [m] largest gap of contact points
SEAM = 0.05  # [m] depth up to which a vehicle is separated from the side of a mesh's triangle
TOUCHES = 8  # largest number of contact points of a pair: the deepest
COARSE, FINE = (
    0.4,
    0.25,
)  # approach per substep, as a share of the narrower width, from which it is subdivided; that of a part
PARTS = 64

# columns of a table of contact points
BODY_A, BODY_B, VEHICLE_A, VEHICLE_B, X, Y, NORMAL_X, NORMAL_Y, GAP, ROW = range(10)
(
    DRIFT_X,
    DRIFT_Y,
    CLOSING,
    BOUNCE,
    NORMAL_IMPULSE,
    TANGENT_IMPULSE,
    INELASTIC_NORMAL_IMPULSE,
    INELASTIC_TANGENT_IMPULSE,
    FRICTION,
    Z,
) = range(10, 20)
NORMAL_COMPLIANCE, CROSS_COMPLIANCE, TANGENT_COMPLIANCE, WIDTH = range(20, 24)


class TouchWorkspace(NamedTuple):
    """Scratch arrays of the search for contact points of vehicles.

    Attributes
    ----------
    before : (vehicles, 3)
        x, y [m], heading [rad] at the end of the last substep.
    one, two : (512, 2) [m]
        Outlines.
    touch : (10,)
    corners : (3, 3)
    paths : (3, 3, 4)
    motion : (3, vehicles, 3)
        Velocity x, y [m/s] and yaw rate [rad/s] before the impact, after it, and after an inelastic one.
    shift : (vehicles, 2) [m]
    labels : (vehicles,) int64
    search : TreeSearch
    """

    before: Annotated[NDArray[np.float64], (3,)]
    one: Annotated[NDArray[np.float64], (2,)]
    two: Annotated[NDArray[np.float64], (2,)]
    touch: NDArray[np.float64]
    corners: Annotated[NDArray[np.float64], (3,)]
    paths: Annotated[NDArray[np.float64], (3, 4)]
    motion: Annotated[NDArray[np.float64], (3, -1, 3)]
    shift: Annotated[NDArray[np.float64], (2,)]
    labels: NDArray[np.int64]
    search: TreeSearch


def make_touch_workspace(vehicles: int, triangles: int) -> TouchWorkspace:
    """Allocate a workspace for a number of vehicles and triangles of meshes."""
    return TouchWorkspace(
        before=np.zeros((vehicles, 3)),
        one=np.empty((OUTLINE, 2)),
        two=np.empty((OUTLINE, 2)),
        touch=np.zeros(TOUCH_WIDTH),
        corners=np.zeros((3, 3)),
        paths=make_paths(),
        motion=np.zeros((3, vehicles, 3)),
        shift=np.zeros((vehicles, 2)),
        labels=np.zeros(vehicles, np.int64),
        search=make_tree_search(triangles),
    )


@inner
def room_for(touches, pairs):
    """Return a table of contact points with room for a number of pairs."""
    if touches.shape[0] >= TOUCHES * pairs:
        return touches
    return np.empty((2 * TOUCHES * pairs, WIDTH))


@inner
def place_body(segments, planar, before, roles, body, time, dt, part, path):
    """Write pose and velocity of a body at a fraction `part` of the substep of dt [s] that ends at a time [s]."""
    v, rest = roles[body, VEHICLE], 1.0 - part
    if v < 0:
        # other bodies move straight within a substep: back from their pose at its end
        motion_into(segments, roles[body, MOVER], body, time, path)
        for k in range(3):
            path[POSITION, k] -= rest * dt * path[VELOCITY, k]
        return
    positions, turns = segments.positions, segments.turns
    # vehicles went straight as well, from where the last substep left them: their arcs are short
    for k in range(2):
        path[POSITION, k] = planar[v, k] - rest * (planar[v, k] - before[v, k])
    path[POSITION, 2] = positions[body, 2]
    heading = planar[v, HEADING] - rest * (planar[v, HEADING] - before[v, HEADING])
    q = path[ORIENTATION]
    if is_upright(turns[body]):
        q[0], q[1], q[2], q[3] = math.cos(0.5 * heading), 0.0, 0.0, math.sin(0.5 * heading)
        return
    # a tilted body keeps its tilt, and turns by the difference of headings
    for k in range(4):
        q[k] = turns[body, k]
    turn_in_place(heading - heading_of(q), q)


@inner
def keep_points(touches, first, count, a, b, roles, z, touch, paths):
    """Append contact points within `NEARLY`; of more than `TOUCHES` in a pair, the deepest are kept."""
    for k in range(int(touch[polygons.POINTS])):
        point = polygons.EACH * k
        gap = touch[polygons.POINT_GAP + point]
        if gap > NEARLY:
            continue
        at = count
        if count - first < TOUCHES:
            count += 1
        else:
            # full: it takes the place of the shallowest, if that is less deep
            at = first
            for n in range(first + 1, count):
                if touches[n, GAP] > touches[at, GAP]:
                    at = n
            if touches[at, GAP] <= gap:
                continue
        row = touches[at]
        # the drift is the velocity of what is no vehicle: an impact does not change it
        row[BODY_A], row[BODY_B], row[VEHICLE_A], row[VEHICLE_B] = a, b, roles[a, VEHICLE], roles[b, VEHICLE]
        row[X], row[Y] = touch[polygons.POINT_X + point], touch[polygons.POINT_Y + point]
        row[GAP], row[Z], row[ROW] = gap, z, -1.0
        row[NORMAL_X], row[NORMAL_Y] = touch[polygons.NORMAL], touch[polygons.NORMAL + 1]
        row[DRIFT_X], row[DRIFT_Y] = paths[1, VELOCITY, 0], paths[1, VELOCITY, 1]
    return count


@inner
def touch_shape(shapes, a, b, roles, touch_workspace, touches, count):
    """Append the contact points of a vehicle and a body other than a mesh, posed in the workspace; return the count."""
    one, two, touch, paths = touch_workspace.one, touch_workspace.two, touch_workspace.touch, touch_workspace.paths
    pa, qa, pb, qb = paths[0, POSITION], paths[0, ORIENTATION], paths[1, POSITION], paths[1, ORIENTATION]
    tall_a, tall_b = half_height(shapes.kind[a], shapes.size[a], qa), half_height(shapes.kind[b], shapes.size[b], qb)
    # range of heights in which both have an outline
    low, high = max(pa[2] - tall_a + CLEARANCE, pb[2] - tall_b), min(pa[2] + tall_a - CLEARANCE, pb[2] + tall_b)
    if low > high:
        return count
    x, y = pb[0] - pa[0], pb[1] - pa[1]
    # relative to the vehicle: coordinates of large maps would cost the digits that touching is decided by
    n, r_one = outline_into(shapes.kind[a], shapes.size[a], 0.0, 0.0, pa[2], qa, low, high, one)
    m, r_two = outline_into(shapes.kind[b], shapes.size[b], x, y, pb[2], qb, low, high, two)
    if n == 0 or m == 0:
        return count
    polygon_contact(one, n, r_one, two, m, r_two, 0.0, touch)
    if touch[polygons.GAP] > 0.0:
        return count
    for k in range(int(touch[polygons.POINTS])):
        touch[polygons.POINT_X + polygons.EACH * k] += pa[0]
        touch[polygons.POINT_Y + polygons.EACH * k] += pa[1]
    return keep_points(touches, count, count, a, b, roles, 0.5 * (low + high), touch, paths)


@inner
def touch_mesh(shapes, a, b, roles, touch_workspace, touches, count):
    """Append the contact points of a vehicle and a mesh, triangle by triangle; return the count."""
    one, two, touch, paths = touch_workspace.one, touch_workspace.two, touch_workspace.touch, touch_workspace.paths
    corners, search = touch_workspace.corners, touch_workspace.search
    pa, qa, pb, qb = paths[0, POSITION], paths[0, ORIENTATION], paths[1, POSITION], paths[1, ORIENTATION]
    x, y, z = pb[0] - pa[0], pb[1] - pa[1], pb[2] - pa[2]
    if outside_box(shapes.size[b], qb, -x, -y, -z, shapes.radius[a]):
        return count
    # heights from here on count from the vehicle's centre
    tall = half_height(shapes.kind[a], shapes.size[a], qa) - CLEARANCE
    n, r_one = outline_into(shapes.kind[a], shapes.size[a], 0.0, 0.0, 0.0, qa, -tall, tall, one)
    # the tree of the mesh is in its own frame
    mx, my, mz = rotate_back(qb, -x, -y, -z)
    first = count
    rows = search.rows
    for near in range(triangles_near(shapes, b, mx, my, mz, shapes.radius[a], search)):
        t = rows[near]
        low, high = math.inf, -math.inf
        for k in range(3):
            px, py, pz = rotate(qb, shapes.triangles[t, k, 0], shapes.triangles[t, k, 1], shapes.triangles[t, k, 2])
            corners[k, 0], corners[k, 1], corners[k, 2] = px + x, py + y, pz + z
            low, high = min(low, pz + z), max(high, pz + z)
        # what of the triangle is as high as the vehicle is, seen from above
        m = slab_into(corners[0], corners[1], corners[2], -tall, tall, two)
        if m == 0:
            continue
        # the face of the triangle is preferred up to the depth SEAM, so that nothing catches where triangles meet
        polygon_contact(one, n, r_one, two, m, 0.0, SEAM, touch)
        if touch[polygons.GAP] > 0.0:
            continue
        for k in range(int(touch[polygons.POINTS])):
            touch[polygons.POINT_X + polygons.EACH * k] += pa[0]
            touch[polygons.POINT_Y + polygons.EACH * k] += pa[1]
        middle = pa[2] + 0.5 * (max(low, -tall) + min(high, tall))
        count = keep_points(touches, first, count, a, b, roles, middle, touch, paths)
    return count


@inner
def width_of(shapes, body):
    """Length [m] of the shorter horizontal side of a body."""
    size = shapes.size[body]
    return size[0] if shapes.kind[body] == SHAPE_SPHERE else min(size[0], size[1])


@inner
def find_touches(segments, shapes, planar, roles, touch_workspace, a, b, time, dt, touches, count):
    """Append the contact points of a vehicle and another body at the end of a substep; return the count.

    The substep of a pair that approaches by a large share of the vehicle's width is subdivided, and the pair is moved
    back to the first part in which it touches, which prevents tunnelling.

    Parameters
    ----------
    segments : TrajectoryTables
    shapes : Shapes
    planar, roles : (vehicles, 6), (bodies, 3)
        Motion of vehicles; roles of all bodies.
    touch_workspace : TouchWorkspace
    a, b : int
        Rows, the first a vehicle.
    time, dt : float
        End of the substep and its length [s].
    touches, count : (capacity, 23), int
        Table and rows in use.
    """
    before, paths = touch_workspace.before, touch_workspace.paths
    place_body(segments, planar, before, roles, a, time, dt, 1.0, paths[0])
    place_body(segments, planar, before, roles, b, time, dt, 1.0, paths[1])
    v, other = roles[a, VEHICLE], roles[b, VEHICLE]
    x, y = planar[v, CENTRE_X] - before[v, CENTRE_X], planar[v, CENTRE_Y] - before[v, CENTRE_Y]
    width = width_of(shapes, a)
    if other >= 0:
        x = x - planar[other, CENTRE_X] + before[other, CENTRE_X]
        y = y - planar[other, CENTRE_Y] + before[other, CENTRE_Y]
        width = min(width, width_of(shapes, b))
    else:
        x, y = x - dt * paths[1, VELOCITY, 0], y - dt * paths[1, VELOCITY, 1]
    # relative motion in the substep, and the bounds of both
    nearer = math.sqrt(x * x + y * y)
    x, y = paths[1, POSITION, 0] - paths[0, POSITION, 0], paths[1, POSITION, 1] - paths[0, POSITION, 1]
    z = paths[1, POSITION, 2] - paths[0, POSITION, 2]
    reach = shapes.radius[a] + shapes.radius[b] + nearer
    if x * x + y * y + z * z > reach * reach:
        return count
    # most pairs are cars beside each other: boxes without tilt that separating axes tell apart at once
    if nearer <= COARSE * width and shapes.kind[a] == SHAPE_BOX and shapes.kind[b] == SHAPE_BOX:
        qa, qb, sizes = paths[0, ORIENTATION], paths[1, ORIENTATION], shapes.size
        if is_upright(qa) and is_upright(qb):
            if upright_meeting(sizes[a], qa, sizes[b], qb, x, y, z, 0.0, 0.0, 0.0, 0.0, NEARLY) > 0.0:
                return count
    # subdivide fast approaches, so that outlines cannot pass through each other
    parts = 1
    if nearer > COARSE * width:
        parts = PARTS if nearer > PARTS * FINE * width else math.ceil(nearer / (FINE * width))
    for k in range(1, parts + 1):
        if parts > 1:
            place_body(segments, planar, before, roles, a, time, dt, k / parts, paths[0])
            place_body(segments, planar, before, roles, b, time, dt, k / parts, paths[1])
        if shapes.kind[b] == SHAPE_MESH:
            after = touch_mesh(shapes, a, b, roles, touch_workspace, touches, count)
        else:
            after = touch_shape(shapes, a, b, roles, touch_workspace, touches, count)
        # the first part in which they touch is where the impact is solved; the rest of the motion is not made
        if after > count:
            if k < parts:
                move_back(planar, before, roles, a, k / parts)
                move_back(planar, before, roles, b, k / parts)
            return after
    return count


@inner
def move_back(planar, before, roles, body, part):
    """Move a vehicle back to a fraction `part` of its motion in the substep."""
    v = roles[body, VEHICLE]
    if v >= 0:
        for k in range(3):
            planar[v, k] = before[v, k] + part * (planar[v, k] - before[v, k])
