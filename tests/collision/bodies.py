"""What tests of collisions share: random poses, a plain twin of the support function, and one blow by itself."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cbsim.collision.kernels.body_paths import trajectory_of
from cbsim.collision.kernels.driven import collide, remember_places
from cbsim.collision.kernels.stage import near_pairs, pairs_on
from cbsim.collision.kernels.touch import make_touch_workspace
from cbsim.collision.kernels.workspace import workspace_of
from cbsim.collision.workspace import make_workspace
from cbsim.geometry.pose import rotate
from cbsim.spec.objects import ShapeKind
from cbsim.traffic.kernels.driving.vehicles import read_vehicles
from cbsim.world.world import World

CAPSULE = 5  # the code that kernels have for it
SOLIDS = [int(kind) for kind in ShapeKind if kind is not ShapeKind.MESH and kind < CAPSULE] + [CAPSULE]


def turn(rng: np.random.Generator) -> np.ndarray:
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def support(kind: int, size: np.ndarray, place: np.ndarray, q: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Reach (n,) of a solid along unit directions (n, 3), by the definition of each shape."""
    local = rotate(q * [1, -1, -1, -1], directions)
    half = 0.5 * np.asarray(size, float)
    flat = np.hypot(local[:, 0], local[:, 1])
    reach = {
        ShapeKind.BOX: lambda: np.abs(local) @ half,
        ShapeKind.SPHERE: lambda: np.full(len(local), half[0]),
        ShapeKind.CYLINDER: lambda: half[0] * flat + half[2] * np.abs(local[:, 2]),
        ShapeKind.WHEEL: lambda: half[1] * np.hypot(local[:, 1], local[:, 2]) + half[0] * np.abs(local[:, 0]),
    }.get(kind, lambda: half[0] + max(half[2] - half[0], 0.0) * np.abs(local[:, 2]))()
    return directions @ place + reach


def make_workspaces(world: World, state: Any, blocks: Any) -> tuple[Any, Any, Any]:
    """Trajectories, and workspaces of the broad phase and of contact points, as a step makes them."""
    vehicles, triangles = world.layout.vehicles, len(world.shapes.triangles)
    segments = trajectory_of(world.constants, state, np.empty((0, 2, 4)))
    workspace = workspace_of(world.layout.bodies, vehicles, blocks.floats, blocks.ints)
    return segments, workspace, make_touch_workspace(vehicles, triangles)


def blow(world: World, poses: Any, velocities: Any, dt: float = 1e-6) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Let vehicles collide once: x, y, heading (n, 3) after, world velocity and yaw rate (n, 3) after, contact rows."""
    snapshot = world.start
    state = snapshot.state
    planar = np.empty((len(world.constants.vehicle_body), 6))
    read_vehicles(world.constants, state, planar)
    for row, pose, (vx, vy, rate) in zip(planar, poses, velocities, strict=True):
        row[:3] = pose
        fx, fy = -math.sin(pose[2]), math.cos(pose[2])
        row[3:] = vx * fx + vy * fy, vy * fx - vx * fy, rate
    state.clock[0] = 1
    blocks = make_workspace(world, world.static_caches.of(snapshot))
    segments, workspace, touch_workspace = make_workspaces(world, state, blocks)
    _, _, pairs, count, touches = near_pairs(
        world.constants, world.shapes.radius, 0, segments, planar, workspace, pairs_on(workspace)
    )
    remember_places(planar, touch_workspace[0])
    contacts, table = np.zeros((64, 12)), world.constants.vehicle_parameters
    found, _ = collide(
        *(segments, table, state.active_contacts, world.shapes, planar, workspace, touch_workspace),
        *((pairs, count), (dt, dt), touches, contacts, 0),
    )
    fx, fy = -np.sin(planar[:, 2]), np.cos(planar[:, 2])
    u, w = planar[:, 3], planar[:, 4]
    return planar[:, :3], np.column_stack([u * fx - w * fy, u * fy + w * fx, planar[:, 5]]), contacts[:found]
