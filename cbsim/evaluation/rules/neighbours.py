"""`Neighbours`: footprints and velocities of the others near an object, step by step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.evaluation.rules.context import Context, Shared
from cbsim.evaluation.rules.footprints import ahead_of, rectangles_along
from cbsim.evaluation.rules.track import Track
from cbsim.recording.batch import Batch
from cbsim.world.motion import MOTION

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


class Neighbours(Shared):
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
        self._expected = 0.0  # [m] reach that rules will ask for, at all steps: that of the batch before
        self._asked: tuple[Batch | None, float] = None, 0.0

    @classmethod
    def of(cls, context: Context, row: int, reach: float = 0.0) -> Neighbours:
        """Return those that all rules about an object share, given the reach [m] that one asks for at all steps."""
        found = context.shared(cls, row, lambda: cls(context, row))
        found._asked = found._asked[0], max(found._asked[1], reach)
        return found

    def pairs(self, track: Track, batch: Batch, reach: float, steps: np.ndarray | None = None) -> Pairs:
        """Find the objects whose centre is within a reach [m] of the object's, at all steps of a batch or some (n,).

        What was found in the newest batch at all steps is kept.
        """
        if self._asked[0] is not batch:
            self._asked, self._expected = (batch, 0.0), self._asked[1]
        if steps is None:
            self._asked = batch, max(self._asked[1], reach)
        elif self._expected < reach:
            return self._find(track, batch, reach, steps)
        if self._newest is None or self._newest[0] is not batch or self._newest[1] < reach:
            widest = max(reach, self._expected)
            self._newest = batch, widest, self._find(track, batch, widest, None)
        _, kept, found = self._newest
        if kept == reach and steps is None:
            return found
        away = np.abs(found.places - track.centres[1 + found.step])
        chosen = (away[:, 0] <= reach) & (away[:, 1] <= reach)
        return found.some(chosen if steps is None else chosen & steps[found.step])

    def _find(self, track: Track, batch: Batch, reach: float, steps: np.ndarray | None) -> Pairs:
        rows, places = self._context.recorded(batch), self._context.places(batch)
        centres = track.centres[1:]
        near = places.there & (rows != self._row)
        near &= np.abs(places.x - centres[:, :1]) <= reach
        near &= np.abs(places.y - centres[:, 1:]) <= reach
        if steps is not None:
            near &= steps[:, None]
        step, column = np.nonzero(near)  # in the order of steps, and of rows
        moved, others = batch.motion[step, column], rows[column]
        found, turned = moved[:, :2], moved[:, MOTION["orientation"]]
        velocity = moved[:, MOTION["velocity"]][:, :2]
        still_step, still = self._still_near(centres, reach, steps)
        if len(still):
            step, others = np.concatenate([step, still_step]), np.concatenate([others, self._still[still]])
            order = np.lexsort((others, step))
            step, others = step[order], others[order]
            found = np.concatenate([found, self._poses[still, :2]])[order]
            turned = np.concatenate([turned, self._poses[still, 3:7]])[order]
            velocity = np.concatenate([velocity, np.zeros((len(still), 2))])[order]
        other = rectangles_along(found, ahead_of(turned), self._context.footprints(others))
        own = rectangles_along(centres, track.ahead[1:], np.array([[track.width, track.length]]))[step]
        return Pairs(step, others, own, other, velocity, found)

    def _still_near(self, centres: Floats, reach: float, steps: np.ndarray | None) -> tuple[Ints, Ints]:
        """Find those near that never move: steps, and numbers among them."""
        if not len(self._still):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        near = np.abs(self._poses[:, 0] - centres[:, :1]) <= reach
        near &= np.abs(self._poses[:, 1] - centres[:, 1:]) <= reach
        if steps is not None:
            near &= steps[:, None]
        step, still = np.nonzero(near)
        return step, still
