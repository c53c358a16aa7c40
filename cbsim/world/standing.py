"""What stands in a World: bodies that never move, looked at once instead of in every step and every scan.

A body without legs or wheels stands where its Snapshot says, and nothing in a step changes that. So what follows from
its place alone (its bounds, its neighbours, the hash of its rows) is found once and kept with a `Standing`, which
Snapshots hand on to those that are made of them. A Snapshot that somebody may have written to has to be compared first,
word by word: whatever is kept never changes a bit of a run.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbsim.world.kernels import LEAF, hash_leaves_into, leaf_count, same_words
from cbsim.world.snapshot import Snapshot
from cbsim.world.tables import COLUMNS, Floats, Ints, Layout

__all__ = ["Standing", "Standings"]


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """The rows of standing bodies as some Snapshots have them.

    Attributes
    ----------
    floats : (n,)
        A float block that has these rows; its other words mean nothing.
    leaves : (leaves,) uint64
        Hashes of the leaves of that block; those with other words mean nothing.
    kept : dict
        What others made of it, under a name of their own; made again where it is missing.
    spare : dict
        Scratch that nobody works on, by name.
    """

    floats: Floats
    leaves: NDArray[np.uint64]
    kept: dict[str, Any] = field(default_factory=dict)
    spare: dict[str, list[Any]] = field(default_factory=dict)

    def take(self, name: str) -> Any:
        """Take scratch of that name, which no other call has until it is given back; None if there is none to spare."""
        try:
            return self.spare[name].pop()
        except (KeyError, IndexError):
            return None

    def give(self, name: str, scratch: Any) -> None:
        """Let the next call have it, in this thread or another."""
        self.spare.setdefault(name, []).append(scratch)


class Standings:
    """Which bodies of a World stand, and the newest `Standing` that was seen.

    Parameters
    ----------
    layout : Layout
        Of the World's Snapshots.
    moving : (moving,) int64
        Rows of bodies that can move.

    Attributes
    ----------
    rows : (standing,) int64
        Rows of the bodies that stand.
    live : (live,) int64
        Numbers of the leaves of the float block that a step may change.
    """

    def __init__(self, layout: Layout, moving: Ints) -> None:
        still = np.ones(layout.bodies, bool)
        still[moving] = False
        self.rows: Ints = np.flatnonzero(still)
        edges = np.flatnonzero(np.diff(still, prepend=False, append=False)).reshape(-1, 2)
        runs, start, size = [], 0, layout.size("float")
        for column in COLUMNS:
            if column.rows == "bodies":
                runs.append(start + column.width * edges)
                start += column.width * layout.bodies
        self._runs: Ints = np.concatenate(runs).astype(np.int64)
        changing = np.ones(size, bool)
        for first, last in self._runs:
            changing[first:last] = False
        self.live: Ints = np.unique(np.flatnonzero(changing) // LEAF)
        self._all = np.arange(leaf_count(size))
        self._newest: Standing | None = None

    def of(self, snapshot: Snapshot) -> Standing:
        """Find what stands in a Snapshot of this World: handed on, or like the newest, or looked at anew."""
        known = snapshot.standing
        if isinstance(known, Standing):
            return known
        newest, floats = self._newest, snapshot.blocks[0]
        if newest is None or not same_words(floats.view(np.uint64), newest.floats.view(np.uint64), self._runs):
            floats = floats.copy()
            leaves = np.zeros(len(self._all), np.uint64)
            hash_leaves_into(floats.view(np.uint64), self._all, leaves)
            newest = self._newest = Standing(floats, leaves)
        snapshot.hand_on(newest)
        return newest
