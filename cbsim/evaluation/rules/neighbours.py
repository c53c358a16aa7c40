"""`Neighbours`: footprints and velocities of the others near an object, step by step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.footprints import rectangles
from cbsim.evaluation.rules.track import Track
from cbsim.geometry.pose import heading
from cbsim.recording.batch import Batch
from cbsim.world.motion import ABSENT_BELOW, MOTION
from cbsim.world.tables import Floats, Ints

__all__ = ["Neighbours", "Pairs"]

NOT_OBSTACLES = ("mesh",)  # drivable meshes lie on the road; a header does not tell them from others


class Pairs(NamedTuple):
    """An object beside one of the others at one step, one row each, in the order of steps.

    Attributes
    ----------
    step : ndarray of int, shape (n,)
        Of the batch, from 0.
    row : ndarray of int, shape (n,)
        The other.
    own, other : ndarray, shape (n, 4, 2)
        Corners of both [m].
    velocity : ndarray, shape (n, 2)
        Of the other [m/s].
    """

    step: Ints
    row: Ints
    own: Floats
    other: Floats
    velocity: Floats

    def some(self, chosen: np.ndarray) -> Pairs:
        """Rows with some numbers, or where a mask holds."""
        own, other, velocity = self.own[chosen], self.other[chosen], self.velocity[chosen]
        return Pairs(self.step[chosen], self.row[chosen], own, other, velocity)


class Neighbours:
    """Pairs of an object with all others within a reach.

    Parameters
    ----------
    context : Context
    row : int
        The object.
    """

    def __init__(self, context: Context, row: int) -> None:
        self._context, self._row = context, row
        objects, moving = context.header.objects, set(context.header.moving)
        self._moving = np.array(context.header.moving, np.int64)
        rows = [objects.row_of(k) for k, one in enumerate(objects.single) if one.get("type") not in NOT_OBSTACLES]
        self._still = np.array([one for one in rows if one not in moving and one != row], np.int64)
        poses = [[*objects[one]["position"], *objects[one]["orientation"]] for one in self._still.tolist()]
        self._poses = np.array(poses, float).reshape(-1, 7)
        self._sizes: dict[int, tuple[float, float]] = {}

    def _size(self, rows: Ints) -> Floats:
        for row in rows.tolist():
            if row not in self._sizes:
                self._sizes[row] = self._context.footprint(row)
        return np.array([self._sizes[row] for row in rows.tolist()], float).reshape(-1, 2)

    def pairs(self, track: Track, batch: Batch, reach: float, steps: np.ndarray | None = None) -> Pairs:
        """Find everybody whose centre is within a reach [m] of the object's, at all steps of a batch or some (n,)."""
        count = len(batch.hashes)
        chosen = np.arange(count) if steps is None else np.flatnonzero(steps)
        rows = self._moving if batch.rows is None else batch.rows
        motion = batch.motion[chosen]
        centres = track.centres[1 + chosen]
        near = (motion[:, :, 2] > ABSENT_BELOW) & (rows != self._row)
        near &= np.abs(motion[:, :, :2] - centres[:, None]).max(axis=2) <= reach
        step, column = np.nonzero(near)
        moved = motion[step, column]
        still_step, still = np.nonzero(np.abs(self._poses[:, :2] - centres[:, None]).max(axis=2) <= reach)
        steps_of = np.concatenate([step, still_step])
        others = np.concatenate([rows[column], self._still[still]])
        places = np.concatenate([moved[:, :2], self._poses[still, :2]])
        turned = np.concatenate([moved[:, MOTION["orientation"]], self._poses[still, 3:7]])
        velocity = np.concatenate([moved[:, MOTION["velocity"]][:, :2], np.zeros((len(still), 2))])
        order = np.lexsort((others, steps_of))
        steps_of, others = chosen[steps_of[order]], others[order]
        angles = heading(turned[order]) if len(order) else np.zeros(0)
        other = rectangles(places[order], angles, self._size(others))
        own_size = np.broadcast_to(np.array([track.width, track.length]), (len(order), 2))
        own = rectangles(track.centres[1 + steps_of], track.headings[1 + steps_of], own_size)
        return Pairs(steps_of, others, own, other, velocity[order])
