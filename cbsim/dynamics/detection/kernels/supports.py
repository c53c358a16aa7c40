"""Support functions of convex colliders: pose in the world, and farthest point along a direction.

The nearest-points search needs nothing else of a shape (Gilbert, Johnson, Keerthi 1988). A core is the shape scaled
about the origin of its frame; its faces are parallel to those of the shape.
"""

from __future__ import annotations

from cbsim.dynamics.detection.kernels.columns import (
    APPROACH_SPEED,
    AT,
    BOUND,
    CORNERS,
    ELLIPSOID,
    FIRST,
    HIGH,
    KIND,
    LINK,
    LOW,
    MARGIN,
    MATRIX,
    PLACE,
    PLANE,
    SIZE,
    SPEED,
    TRIANGLE,
    TURNED,
)
from cbsim.dynamics.kernels.algebra import product, rotation, turn, turned, turned_back
from cbsim.dynamics.kernels.columns import BODY, POSITION, ROTATION, SPIN, VELOCITY
from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined, inner

__all__ = ["farthest", "put", "radius_of_curvature", "reach_about", "speed_of", "spread"]


@inlined
def reach_about(collider, i):
    """Upper bound of the distance of a collider's points from the centre of mass of its body [m]."""
    return math.sqrt(collider[i, AT] ** 2 + collider[i, AT + 1] ** 2 + collider[i, AT + 2] ** 2) + collider[i, BOUND]


@inlined
def speed_of(z, k, reach):
    """Upper bound of the speed of points of row k of a state within a distance of its centre of mass [m/s]."""
    v, u = VELOCITY, SPIN
    speed = math.sqrt(z[k, v] ** 2 + z[k, v + 1] ** 2 + z[k, v + 2] ** 2)
    return speed + reach * math.sqrt(z[k, u] ** 2 + z[k, u + 1] ** 2 + z[k, u + 2] ** 2)


@inner
def put(link, collider_link, collider, placed, corner, world, z, i):
    """Compute the pose of collider i in the world from its link, and its corners."""
    b = collider_link[i, LINK]
    ax, ay, az = collider[i, AT], collider[i, AT + 1], collider[i, AT + 2]
    s, x, y, w = collider[i, TURNED], collider[i, TURNED + 1], collider[i, TURNED + 2], collider[i, TURNED + 3]
    speed = 0.0
    if b >= 0:
        k, o = link[b, BODY], ROTATION
        e, f, g, h = z[k, o], z[k, o + 1], z[k, o + 2], z[k, o + 3]
        reach = reach_about(collider, i)
        ax, ay, az = turn(e, f, g, h, ax, ay, az)
        s, x, y, w = product(e, f, g, h, s, x, y, w)
        ax, ay, az = ax + z[k, POSITION], ay + z[k, POSITION + 1], az + z[k, POSITION + 2]
        # in a step that is repeated, at least half of the speed at its end (`exceeded_margin`)
        speed = max(speed_of(z, k, reach), placed[i, APPROACH_SPEED])
    placed[i, PLACE], placed[i, PLACE + 1], placed[i, PLACE + 2] = ax, ay, az
    placed[i, SPEED] = speed
    rotation(placed, i, MATRIX, s, x, y, w)
    for c in range(collider_link[i, FIRST], collider_link[i, FIRST] + collider_link[i, CORNERS]):
        x, y, w = turned(placed, i, MATRIX, corner[c, 0], corner[c, 1], corner[c, 2])
        world[c, 0], world[c, 1], world[c, 2] = ax + x, ay + y, az + w


@inlined
def farthest(collider_link, collider, placed, world, i, core, dx, dy, dz):
    """Point of a collider's core (``core`` times its size, without its margin) farthest along a direction.

    The core of a triangle is the triangle itself.
    """
    ax, ay, az = placed[i, PLACE], placed[i, PLACE + 1], placed[i, PLACE + 2]
    kind = collider_link[i, KIND]
    if kind <= TRIANGLE:
        first = collider_link[i, FIRST]
        best, at = -math.inf, first
        for c in range(first, first + collider_link[i, CORNERS]):
            along = dx * world[c, 0] + dy * world[c, 1] + dz * world[c, 2]
            if along > best:
                best, at = along, c
        if kind == TRIANGLE:
            return world[at, 0], world[at, 1], world[at, 2]
        x, y, z = world[at, 0] - ax, world[at, 1] - ay, world[at, 2] - az
    else:
        x, y, z = turned_back(placed, i, MATRIX, dx, dy, dz)
        # of an ellipsoid with half-axes A along d: A² d / |A d|, both in its own frame
        if kind == ELLIPSOID:
            x, y, z = x * collider[i, SIZE] ** 2, y * collider[i, SIZE + 1] ** 2, z * collider[i, SIZE + 2] ** 2
            size = math.sqrt(
                (x / collider[i, SIZE]) ** 2 + (y / collider[i, SIZE + 1]) ** 2 + (z / collider[i, SIZE + 2]) ** 2
            )
            scale = 1.0 / max(size, 1e-300)
            x, y, z = x * scale, y * scale, z * scale
        else:
            # of a cylinder: the rim towards d, or the centre of an end where d is along the axis
            size = math.hypot(x, y)
            scale = collider[i, SIZE] / size if size > 1e-12 else 0.0
            x, y, z = x * scale, y * scale, math.copysign(collider[i, SIZE + 1], z)
        x, y, z = turned(placed, i, MATRIX, x, y, z)
    return ax + core * x, ay + core * y, az + core * z


@inner
def radius_of_curvature(collider_link, collider, placed, i, nx, ny, nz, tx, ty, tz):
    """Radius of curvature along t at the support point of n: tᵀ ∇²h(n) t, h the support function.

    A sphere of that radius inside the shape rolls like the shape about n × t. The rim of a cylinder counts as a point.
    """
    if collider_link[i, KIND] == ELLIPSOID:
        x, y, z = turned_back(placed, i, MATRIX, nx, ny, nz)
        u, v, w = turned_back(placed, i, MATRIX, tx, ty, tz)
        a, b, c = collider[i, SIZE] ** 2, collider[i, SIZE + 1] ** 2, collider[i, SIZE + 2] ** 2
        size = math.sqrt(a * x * x + b * y * y + c * z * z)
        along = (a * x * u + b * y * v + c * z * w) / size
        # ∇²h for h = |A n|, as in `polish`
        return (a * u * u + b * v * v + c * w * w - along * along) / size
    return 0.0


@inner
def spread(collider_link, collider, placed, world, i, reach):
    """Set the axis-aligned bounding box of a collider, enlarged by ``reach``."""
    # planes and surfaces have no bounds
    if collider_link[i, KIND] >= PLANE:
        for k in range(3):
            placed[i, LOW + k], placed[i, HIGH + k] = -math.inf, math.inf
        return
    # support points along ± each axis bound a convex shape exactly
    grow = reach + collider[i, MARGIN]
    for k in range(3):
        ex, ey, ez = 1.0 * (k == 0), 1.0 * (k == 1), 1.0 * (k == 2)
        high = farthest(collider_link, collider, placed, world, i, 1.0, ex, ey, ez)
        low = farthest(collider_link, collider, placed, world, i, 1.0, -ex, -ey, -ez)
        placed[i, HIGH + k] = (high[0] if k == 0 else high[1] if k == 1 else high[2]) + grow
        placed[i, LOW + k] = (low[0] if k == 0 else low[1] if k == 1 else low[2]) - grow
