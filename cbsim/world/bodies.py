"""Handles on the bodies of a World: `Body`, and `Bodies`, which makes handles of pools on demand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, overload

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry.pose import Pose, forward
from cbsim.spec.objects import Kind, ShapeKind
from cbsim.world.snapshot import Snapshot

__all__ = ["Bodies", "Body", "PoolRows"]


@dataclass(frozen=True, slots=True)
class Body:
    """Read-only handle on one body, for users.

    Attributes
    ----------
    name : str
        Unique in its World.
    row : int
        In the table of bodies.
    kind : Kind or "model"
        Autonomous, dynamic, static or mesh; or a body of a model.
    shape : ShapeKind
        Outline.
    size : (3,) [m]
        Width, length, height.
    """

    name: str
    row: int
    kind: Kind | Literal["model"]
    shape: ShapeKind
    size: Floats

    def pose(self, snapshot: Snapshot) -> Pose:
        """Centre and orientation."""
        return Pose(snapshot.columns.position[self.row].copy(), snapshot.columns.orientation[self.row].copy())

    def velocity(self, snapshot: Snapshot) -> Floats:
        """Velocity (3,) of the centre in the world [m/s]."""
        return np.array(snapshot.columns.velocity[self.row])

    def speed(self, snapshot: Snapshot) -> float:
        """Speed along the body's forward axis [m/s], negative backwards."""
        fx, fy, fz = forward(snapshot.columns.orientation[self.row])
        vx, vy, vz = snapshot.columns.velocity[self.row].tolist()
        return float(fx * vx + fy * vy + fz * vz)


class PoolRows(NamedTuple):
    """Rows of the cars of a pool.

    Attributes
    ----------
    name : str
        Its cars are ``west 1``, ``west 2`` …
    first, stop : int
        Rows.
    size : ndarray, shape (3,)
        Width, length, height of each [m].
    """

    name: str
    first: int
    stop: int
    size: Floats


class Bodies(Sequence[Body]):
    """All bodies in the order of their rows.

    Parameters
    ----------
    single : tuple of Body
        Those of objects, then those of models.
    objects : int
        How many of them belong to objects; rows of pools come after these.
    pools : tuple of PoolRows
    """

    def __init__(self, single: tuple[Body, ...], objects: int, pools: tuple[PoolRows, ...] = ()) -> None:
        self.single = single
        self.pools = pools
        self._objects = objects
        self._cars = sum(pool.stop - pool.first for pool in pools)

    def __len__(self) -> int:
        return len(self.single) + self._cars

    @overload
    def __getitem__(self, row: int) -> Body: ...
    @overload
    def __getitem__(self, row: slice) -> list[Body]: ...
    def __getitem__(self, row: int | slice) -> Body | list[Body]:
        if isinstance(row, slice):
            return [self[k] for k in range(*row.indices(len(self)))]
        k = range(len(self))[row]
        if k < self._objects:
            return self.single[k]
        if k >= self._objects + self._cars:
            return self.single[k - self._cars]
        pool = next(each for each in self.pools if k < each.stop)
        return Body(f"{pool.name} {k - pool.first + 1}", k, Kind.DYNAMIC, ShapeKind.BOX, pool.size)

    def __iter__(self) -> Iterator[Body]:
        return (self[row] for row in range(len(self)))

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {body.name: body.row for body in self.single}

    @property
    def names(self) -> list[str]:
        """Names of all bodies; of a pool only the first and the last."""
        found = [body.name for body in self.single]
        for pool in self.pools:
            found += [f"{pool.name} 1", f"{pool.name} {pool.stop - pool.first}"]
        return found

    def row(self, name: str) -> int | None:
        """Row of the body of that name; None if there is none."""
        if name in self._rows:
            return self._rows[name]
        stem, _, number = name.rpartition(" ")
        for pool in self.pools:
            if pool.name == stem and number.isdecimal() and 1 <= int(number) <= pool.stop - pool.first:
                return pool.first + int(number) - 1
        return None
