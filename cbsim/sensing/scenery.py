"""Static bodies of a World in groups of neighbours, for ray casting.

The groups are built from the first Snapshot that is scanned. Static bodies that have another pose in a later Snapshot,
as after an edit, are left out of their groups and cast one by one, like moving bodies.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats, Ints
from cbsim.geometry.linear import norm
from cbsim.geometry.pose import rotate
from cbsim.sensing.kernels.standing import Scenery
from cbsim.sensing.kernels.windows import BODY_X, BODY_Y, BODY_Z, FIELDS, GROUP, RADIUS, SIZE_X, SIZE_Z, TURN_W, TURN_Z
from cbsim.spec.objects import ShapeKind
from cbsim.world.packed import Pack, pack
from cbsim.world.snapshot import Snapshot
from cbsim.world.static_cache import StaticCache
from cbsim.world.tables import State
from cbsim.world.world import World

__all__ = ["StaticGroups", "static_scenery_of"]

NAME = "scenery"  # key in `StaticCache.kept`
SLACK = 1e-6  # [m] margin of the boxes of groups


class StaticGroups:
    """Static bodies of a World in groups of at most `GROUP`, each of upright boxes only or of other shapes only.

    Parameters
    ----------
    world : World
    lasers : (lasers,) int64
        Rows of the bodies that carry lasers; these are in no group.
    """

    def __init__(self, world: World, lasers: Ints) -> None:
        self.carriers = lasers
        columns = world.first.columns
        self.poses = np.column_stack([columns.position, columns.orientation])
        rows = np.setdiff1d(world.static_caches.rows, lasers)
        flat = (self.poses[rows, 4:6] == 0.0).all(axis=1) & (world.shapes.kind[rows] == int(ShapeKind.BOX))
        lists = [split(rows[flat], self.poses), split(rows[~flat], self.poses)]
        self.plain = np.repeat(np.array([1, 0], np.int64), [len(groups) for groups in lists])
        self.rows = np.full((len(self.plain), GROUP), -1, np.int64)
        for row, members in zip(self.rows, (group for groups in lists for group in groups), strict=True):
            row[: len(members)] = members
        taken, half = self.rows >= 0, 0.5 * world.shapes.size[self.rows]
        fields = np.full((len(self.plain), FIELDS, GROUP), np.nan)
        poses = self.poses[self.rows]
        for field, column in ((BODY_X, 0), (BODY_Y, 1), (BODY_Z, 2), (TURN_W, 3), (TURN_Z, 6)):
            fields[:, field] = poses[..., column]
        fields[:, SIZE_X : SIZE_Z + 1] = np.moveaxis(half, 2, 1)
        fields[:, RADIUS] = world.shapes.radius[self.rows]
        fields[:, BODY_X][~taken] = np.nan
        fields[:, BODY_X][self.plain == 0] = np.nan
        self.blocks = fields.reshape(-1, FIELDS * GROUP)
        self.boxes = _blocks_of(*_bounds(poses, half, taken))


def split(rows: Ints, poses: Floats) -> list[Ints]:
    """Split rows recursively across the longer side of their extent until they fit into groups."""
    if len(rows) <= GROUP:
        return [rows] if len(rows) else []
    places = poses[rows, :2]
    axis = int(np.argmax(np.ptp(places, axis=0)))
    order = rows[np.argsort(places[:, axis], kind="stable")]
    middle = -(-len(rows) // (2 * GROUP)) * GROUP
    return split(order[:middle], poses) + split(order[middle:], poses)


def _bounds(poses: Floats, half: Floats, taken: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Low and high corners (groups, 3) [m] of the bounding boxes of groups."""
    axes = rotate(poses[..., None, 3:], np.eye(3))
    extent = np.einsum("gks,gksc->gkc", half, np.abs(axes))
    slack = SLACK + 1e-12 * np.abs(poses[..., :3])
    low, high = poses[..., :3] - extent - slack, poses[..., :3] + extent + slack
    return np.where(taken[..., None], low, np.inf).min(axis=1), np.where(taken[..., None], high, -np.inf).max(axis=1)


def _blocks_of(low: Floats, high: Floats) -> Floats:
    """Lay axis-aligned boxes out as `Scenery.boxes`."""
    fields = np.full((-(-len(low) // GROUP) * GROUP, FIELDS), np.nan)
    half = 0.5 * (high - low)
    fields[: len(low)] = np.column_stack(
        [0.5 * (low + high), np.tile([1.0, 0.0], (len(low), 1)), half, norm(half, axis=1)]
    )
    return np.ascontiguousarray(fields.reshape(-1, GROUP, FIELDS).transpose(0, 2, 1)).reshape(-1, FIELDS * GROUP)


def static_scenery_of(world: World, standing: StaticCache, groups: StaticGroups) -> Pack:
    """Return the pack of a `Scenery` for given static poses, cached."""
    found = standing.kept.get(NAME)
    if found is None:
        found = standing.kept[NAME] = pack(_scenery(world, standing, groups))
    return found


def _scenery(world: World, standing: StaticCache, groups: StaticGroups) -> Scenery:
    constants, shapes, layout = world.constants, world.shapes, world.layout
    columns: State = Snapshot(layout, standing.floats, np.zeros(layout.size("int"), np.int64), 0, 0.0).columns
    poses = np.column_stack([columns.position, columns.orientation])
    movers = np.concatenate([constants.mover_body, constants.tracked_body])
    elsewhere = np.zeros(layout.bodies, bool)
    rows = world.static_caches.rows
    elsewhere[rows] = (poses[rows].view(np.int64) != groups.poses[rows].view(np.int64)).any(axis=1)
    elsewhere[groups.carriers] = True
    elsewhere[movers] = False
    loose = np.concatenate([movers, np.flatnonzero(elsewhere)])
    out = (groups.rows >= 0) & elsewhere[groups.rows]
    rows, blocks = groups.rows, groups.blocks
    if out.any():
        rows, blocks = np.where(out, -1, rows), blocks.copy()
        blocks[:, :GROUP][out] = np.nan
    place = np.zeros(layout.bodies, np.int64)
    place[loose] = np.arange(len(loose))
    return Scenery(
        boxes=groups.boxes,
        blocks=blocks,
        rows=rows,
        plain=groups.plain,
        loose=loose,
        kind=shapes.kind[loose],
        size=shapes.size[loose],
        radius=shapes.radius[loose],
        root=shapes.root[loose],
        own=place[groups.carriers],
    )
