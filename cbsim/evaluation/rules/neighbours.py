"""`Neighbours`: footprints and velocities of the others near an object, step by step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.footprints import ahead_of, rectangles_along
from cbsim.evaluation.rules.track import Track
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
    velocity, places : ndarray, shape (n, 2)
        Of the other and of its centre [m/s], [m].
    """

    step: Ints
    row: Ints
    own: Floats
    other: Floats
    velocity: Floats
    places: Floats

    def some(self, chosen: np.ndarray) -> Pairs:
        """Rows with some numbers, or where a mask holds."""
        own, other, velocity = self.own[chosen], self.other[chosen], self.velocity[chosen]
        return Pairs(self.step[chosen], self.row[chosen], own, other, velocity, self.places[chosen])


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
        rows = [objects.row_of(k) for k, one in enumerate(objects.single) if one.get("type") not in NOT_OBSTACLES]
        self._still = np.array([one for one in rows if one not in moving and one != row], np.int64)
        poses = [[*objects[one]["position"], *objects[one]["orientation"]] for one in self._still.tolist()]
        self._poses = np.array(poses, float).reshape(-1, 7)
        self._newest: tuple[Batch, float, Pairs] | None = None

    @classmethod
    def of(cls, context: Context, row: int) -> Neighbours:
        """Return those that all rules about an object share."""
        found = context.shared.setdefault(("neighbours", row), cls(context, row))
        assert isinstance(found, cls)
        return found

    def pairs(self, track: Track, batch: Batch, reach: float, steps: np.ndarray | None = None) -> Pairs:
        """Find the objects whose centre is within a reach [m] of the object's, at all steps of a batch or some (n,).

        What was found in the newest batch at all steps is kept.
        """
        if steps is not None:
            return self._find(track, batch, reach, steps)
        if self._newest is None or self._newest[0] is not batch or self._newest[1] < reach:
            self._newest = batch, reach, self._find(track, batch, reach, None)
        _, kept, found = self._newest
        if kept == reach:
            return found
        away = np.abs(found.places - track.centres[1 + found.step]).max(axis=1)
        return found.some(away <= reach)

    def _find(self, track: Track, batch: Batch, reach: float, steps: np.ndarray | None) -> Pairs:
        count = len(batch.hashes)
        chosen = np.arange(count) if steps is None else np.flatnonzero(steps)
        rows = self._context.recorded(batch)
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
        other = rectangles_along(places[order], ahead_of(turned[order]), self._context.footprints(others))
        own_size = np.broadcast_to(np.array([track.width, track.length]), (count, 2))
        own = rectangles_along(track.centres[1:], track.ahead[1:], own_size)[steps_of]
        return Pairs(steps_of, others, own, other, velocity[order], places[order])
