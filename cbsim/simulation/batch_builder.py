"""`BatchBuilder`: output of steps that waits to be passed on as one batch, which saves calls of listeners."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats, Ints
from cbsim.collision.contacts import NO_CONTACTS
from cbsim.recording.batch import Batch, ReadingRow, ScanRow, TakenScans
from cbsim.recording.checkpoints import CheckpointRow
from cbsim.recording.drawings import DrawingRow
from cbsim.sensing.laser import ScanBatch
from cbsim.sensing.scan_store import ScanStore
from cbsim.world.motion import MOTION_WIDTH
from cbsim.world.traffic.events import NO_EVENTS

__all__ = ["BatchBuilder", "CommandRow", "ControlRow"]

CommandRow = tuple[int, int, tuple[float, ...]]
ControlRow = tuple[int, int, float]
Steps = tuple[NDArray[np.uint64], Floats]


class BatchBuilder:
    """Steps of the same rows that have not been passed on yet.

    Kernels write hashes and motion into the free part of one block, so that single steps need no arrays of their own,
    and no copy when they are passed on.

    Attributes
    ----------
    commands, controls, scans, readings, drawings, checkpoints : list
        As those of a `Batch`.
    calls : list of ScanBatch
        Scans as they are recorded, in place of their rows.
    store : ScanStore
        Where these stand.
    rows : ndarray or None
        Rows of the bodies whose motion it holds, as those of a `Batch`.
    """

    def __init__(self) -> None:
        self.rows: Ints | None = None
        self._block: Steps = np.empty(0, np.uint64), np.empty((0, 0, MOTION_WIDTH))
        self.store = ScanStore()
        self._begun = self._filled = 0  # steps of the block that are passed on, and that are written
        self._clear()

    def _clear(self) -> None:
        self.commands: list[CommandRow] = []
        self.controls: list[ControlRow] = []
        self.scans: list[ScanRow] = []
        self.calls: list[ScanBatch] = []
        self.readings: list[ReadingRow] = []
        self.drawings: list[DrawingRow] = []
        self.checkpoints: list[CheckpointRow] = []
        self._parts: list[Steps] = []
        self._contacts: list[Floats] = []
        self._events: list[Ints] = []
        self._first, self._steps = 0, 0

    def __bool__(self) -> bool:
        return self._steps > 0

    def room(self, steps: int, bodies: int, numbers: int) -> Steps:
        """Arrays for the hashes and the motion of the next steps, given how many numbers are gathered at most."""
        hashes, motion = self._block
        end = self._filled + steps
        if end > len(hashes) or motion.shape[1] != bodies:
            self._close()
            end, size = steps, max(steps, 1 + numbers // (1 + MOTION_WIDTH * bodies))
            hashes, motion = self._block = np.empty(size, np.uint64), np.empty((size, bodies, MOTION_WIDTH))
            self._begun = self._filled = 0
        return hashes[self._filled : end], motion[self._filled : end]

    def add(self, first: int, taken: Steps, is_room: bool) -> None:
        """Take hashes and motion of steps, given the number of the first, and whether they were written to `room`."""
        count = len(taken[0])
        if not self._steps:
            self._first = first
        self._steps += count
        if is_room:
            self._filled += count
        else:
            self._close()
            self._parts.append(taken)

    def add_rows(
        self,
        commands: list[CommandRow],
        controls: list[ControlRow],
        drawings: list[DrawingRow],
        checkpoints: list[CheckpointRow],
        contacts: Floats,
    ) -> None:
        """Take rows of these steps."""
        self.commands += commands
        self.controls += controls
        self.drawings += drawings
        self.checkpoints += checkpoints
        if len(contacts):
            self._contacts.append(contacts)

    def add_events(self, events: Ints) -> None:
        """Take events of traffic and of the scenario."""
        self._events.append(events)

    def drain(self) -> Batch:
        """Return everything as one batch."""
        self._close()
        hashes, motion = (
            self._parts[0] if len(self._parts) == 1 else map(np.concatenate, zip(*self._parts, strict=True))
        )
        batch = Batch(
            self._first,
            hashes,
            motion,
            self.commands,
            TakenScans(self.calls, self.store.drain()) if self.calls else self.scans,
            _joined(self._contacts, NO_CONTACTS),
            self.readings,
            self.controls,
            self.drawings,
            self.rows,
            _joined(self._events, NO_EVENTS),
            self.checkpoints,
        )
        self._clear()
        return batch

    def _close(self) -> None:
        """Move what has been written to the parts; a small share of the block is copied, so that it is not kept."""
        begun, filled = self._begun, self._filled
        if begun == filled:
            return
        hashes, motion = self._block
        part = hashes[begun:filled], motion[begun:filled]
        if 2 * (filled - begun) < len(hashes):
            part, self._filled = (part[0].copy(), part[1].copy()), begun
        self._parts.append(part)
        self._begun = self._filled


def _joined(parts: Sequence[NDArray], nothing: NDArray) -> NDArray:  # type: ignore[type-arg]
    """Put arrays one after another."""
    return np.concatenate(parts) if len(parts) > 1 else parts[0] if parts else nothing
