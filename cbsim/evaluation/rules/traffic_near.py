"""`TrafficNear`: front bumpers, headings and speeds of the other vehicles."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.track import planar
from cbsim.recording.batch import Batch
from cbsim.world.motion import ABSENT_BELOW, MOTION

__all__ = ["TrafficNear", "Vehicles"]

SLACK = 15.0  # [m] subtracted from straight distances, since ways bend
LONGEST = 330.0  # [m] greatest distance of vehicles that are considered


class Vehicles(NamedTuple):
    """Some of the others, one row each.

    Attributes
    ----------
    rows : ndarray of int, shape (n,)
    fronts : ndarray, shape (n, 2)
        Middles of the front bumpers [m].
    headings, speeds, lengths : ndarray, shape (n,)
        [rad], [m/s], [m]
    present : ndarray of bool, shape (n,)
    """

    rows: Ints
    fronts: Floats
    headings: Floats
    speeds: Floats
    lengths: Floats
    present: np.ndarray


class TrafficNear:
    """The other objects that can move, near a place.

    Parameters
    ----------
    context : Context
    row : int
        The object.
    """

    def __init__(self, context: Context, row: int) -> None:
        self._context, self._row = context, row

    def at(
        self, batch: Batch, step: int, place: Floats, within: float = LONGEST, horizon: float | None = None
    ) -> Vehicles:
        """Find those near a place at a step of the batch.

        Parameters
        ----------
        batch : Batch
        step : int
        place : ndarray, shape (2,)
            [m]
        within : float
            Distance of their centres [m].
        horizon : float, optional
            Those count, too, that are there within this time [s].
        """
        rows = self._context.recorded(batch)
        motion = batch.motion[step]
        way = motion[:, :2] - place
        near = (motion[:, 2] > ABSENT_BELOW) & (rows != self._row)
        away = np.hypot(way[:, 0], way[:, 1])
        reach = np.full(len(rows), within)
        if horizon is not None:
            reach = np.maximum(within, _speeds(motion) * horizon + SLACK)
        chosen = np.flatnonzero(near & (away <= reach))
        return self._vehicles(motion[chosen], rows[chosen])

    def of(self, batch: Batch, row: int, steps: np.ndarray) -> Vehicles | None:
        """Follow one of them over steps of the batch; None if it is not recorded there."""
        rows = self._context.recorded(batch)
        column = int(np.searchsorted(rows, row))
        if column == len(rows) or rows[column] != row:
            return None
        return self._vehicles(batch.motion[steps, column], np.full(len(steps), row))

    def _vehicles(self, motion: Floats, rows: Ints) -> Vehicles:
        lengths = self._context.footprints(rows)[:, 1]
        faces = planar(motion)
        fronts = motion[:, :2] + 0.5 * lengths[:, None] * faces[:, 1:3]
        return Vehicles(rows, fronts, faces[:, 0], faces[:, 3], lengths, motion[:, 2] > ABSENT_BELOW)


def _speeds(motion: Floats) -> Floats:
    return np.asarray(np.linalg.norm(motion[:, MOTION["velocity"]], axis=1))
