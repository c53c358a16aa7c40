"""Caches of static bodies: data derived from their poses alone, computed once instead of in every step and scan.

No step changes the pose of a body without trajectory or wheels. Data derived from that pose (bounds, neighbours, hashes
of its rows) is kept in a `StaticCache`, which a Snapshot passes on to its copies and successors. A Snapshot that may
have been written to is compared word by word first, so results never depend on a cache, and reading never drops one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats, Ints
from cbsim.jit import wrapping
from cbsim.world.kernels import LEAF, hash_leaves_into, leaf_count, same_words
from cbsim.world.snapshot import Snapshot
from cbsim.world.tables import COLUMNS, Layout

__all__ = ["StaticCache", "StaticCaches"]


@dataclass(frozen=True, slots=True, eq=False)
class StaticCache:
    """Rows of the static bodies, shared by the Snapshots in which they are equal.

    Attributes
    ----------
    floats : (n,)
        A float block with these rows; its other words have no meaning.
    leaves : (leaves,) uint64
        Hashes of the leaves of that block; leaves that contain other words have no meaning.
    kept : dict
        Derived data by name; rebuilt where missing.
    spare : dict
        Idle workspaces by name.
    """

    floats: Floats
    leaves: NDArray[np.uint64]
    kept: dict[str, Any] = field(default_factory=dict)
    spare: dict[str, list[Any]] = field(default_factory=dict)

    def take(self, name: str) -> Any:
        """Take an idle workspace of that name; None if there is none."""
        try:
            return self.spare[name].pop()
        except (KeyError, IndexError):
            return None

    def give(self, name: str, scratch: Any) -> None:
        """Return a workspace for the next call, in this thread or another."""
        self.spare.setdefault(name, []).append(scratch)


class StaticCaches:
    """Static bodies of a World, and the `StaticCache` used last.

    Parameters
    ----------
    layout : Layout
        Of the World's Snapshots.
    moving : (moving,) int64
        Rows of bodies that can move.

    Attributes
    ----------
    rows : (static,) int64
        Rows of the static bodies.
    live : (live,) int64
        Numbers of the leaves of the float block that a step may change.
    """

    def __init__(self, layout: Layout, moving: Ints) -> None:
        still = np.ones(layout.bodies, bool)
        still[moving] = False
        self.rows: Ints = np.flatnonzero(still)
        edges = np.flatnonzero(np.diff(still, prepend=False, append=False)).reshape(-1, 2)
        size = layout.size("float")
        runs = [layout.first(column.name) + column.width * edges for column in COLUMNS if column.rows == "bodies"]
        self._runs: Ints = np.concatenate(runs).astype(np.int64)
        changing = np.ones(size, bool)
        for first, last in self._runs:
            changing[first:last] = False
        self.live: Ints = np.unique(np.flatnonzero(changing) // LEAF)
        self._all = np.arange(leaf_count(size))
        self._newest: StaticCache | None = None

    def of(self, snapshot: Snapshot) -> StaticCache:
        """Find the cache of a Snapshot: its own or the newest one, if its rows are equal, else a new one."""
        known = snapshot.static_cache
        if isinstance(known, StaticCache) and snapshot.is_checked:
            return known
        for found in (known, self._newest):
            if isinstance(found, StaticCache) and self._is_of(found, snapshot):
                snapshot.set_static_cache(found)
                return found
        floats = snapshot.blocks[0].copy()
        leaves = np.zeros(len(self._all), np.uint64)
        with wrapping():
            hash_leaves_into(floats.view(np.uint64), self._all, leaves)
        made = self._newest = StaticCache(floats, leaves)
        snapshot.set_static_cache(made)
        return made

    def _is_of(self, static_cache: StaticCache, snapshot: Snapshot) -> bool:
        """Whether a Snapshot has the rows of a cache, word by word."""
        floats = snapshot.blocks[0]
        return bool(same_words(floats.view(np.uint64), static_cache.floats.view(np.uint64), self._runs))
