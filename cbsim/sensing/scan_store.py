"""`ScanStore`: memory for scans that are recorded, laser by laser, which kernels write as recordings hold them."""

from __future__ import annotations

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.sensing.laser_tables import HEAD, BatchLayout, LaserTables

__all__ = ["ScanBlock", "ScanStore"]

NUMBERS = 49152  # of a block, about: 384 KiB


class ScanBlock:
    """Memory for the scans of some calls; those of a laser follow one another.

    Parameters
    ----------
    tables : LaserTables
    most : (lasers,) int64
        Words that the scans of each laser take in a call, at most.
    calls : int
        Number of calls.

    Attributes
    ----------
    words : (n,)
        Of all lasers, with what heads of scans have in common.
    filled : (lasers,) int64
        Where the next scan of each begins.
    most : (lasers,) int64
    calls, left : int
        Number of calls, and how many have not been made yet.
    """

    __slots__ = ("_begun", "_tables", "calls", "filled", "left", "most", "words")

    def __init__(self, tables: LaserTables, most: Ints, calls: int) -> None:
        self.most, self.calls, self.left, self._tables = most, calls, calls, tables
        ends = np.cumsum(calls * most)
        self.words = np.empty(int(ends[-1]))
        self.filled = ends - calls * most
        self._begun: list[int] = self.filled.tolist()
        for row, (first, last) in enumerate(zip(self._begun, ends.tolist(), strict=True)):
            conf, rays, length = tables.confs[row], tables.rays[row], tables.length(row)
            scans = self.words[first : first + (last - first) // length * length].reshape(-1, length)
            heads = scans[:, HEAD - 4 : HEAD]
            whole = heads.view(np.int64)
            whole[:, 0], whole[:, 1], whole[:, 3] = rays // conf.beams, conf.beams, (length - HEAD - rays) // 7
            heads[:, 2] = conf.scan_time

    def parts(self) -> dict[str, Floats]:
        """Key of each laser → its scans, one after another."""
        spans = zip(self._tables.names, self._begun, self.filled.tolist(), strict=True)
        return {key: self.words[first:last] for key, first, last in spans if last > first}


class ScanStore:
    """Blocks of the scans that have not been passed on yet; each is about as large as what is passed on at once."""

    def __init__(self) -> None:
        self._blocks: list[ScanBlock] = []
        self._most: Ints | None = None  # words that each laser takes in a call, of all layouts so far
        self._known: set[BatchLayout] = set()
        self._calls = 0  # in the last round

    def room(self, tables: LaserTables, layout: BatchLayout) -> ScanBlock:
        """Return a block with room for the scans of a call, which counts as made."""
        most = self._most
        if layout not in self._known:
            self._known.add(layout)
            most = layout.grow if most is None else np.maximum(most, layout.grow)
            if self._most is None or (most != self._most).any():
                self._begin_block(tables, most)
        if not self._blocks or not self._blocks[-1].left:
            assert most is not None
            self._begin_block(tables, most)
        block = self._blocks[-1]
        block.left -= 1
        return block

    def drain(self) -> dict[str, list[Floats]]:
        """Key of each laser → parts of its scans since the last call, as recordings hold them."""
        found: dict[str, list[Floats]] = {}
        for block in self._blocks:
            for key, part in block.parts().items():
                found.setdefault(key, []).append(part)
        self._calls, self._blocks = sum(block.calls - block.left for block in self._blocks), []
        return found

    def _begin_block(self, tables: LaserTables, most: Ints) -> None:
        """Begin a block for as many calls as there were in the last round, or twice as many as in the last block."""
        self._most = most
        calls = max(self._calls + 1, 2 * self._blocks[-1].calls if self._blocks else 1)
        self._blocks.append(ScanBlock(tables, most, min(calls, 1 + NUMBERS // max(int(most.sum()), 1))))
