"""`SnapshotBatch`: many Snapshots of one World in two blocks, which one kernel call advances."""

from __future__ import annotations

from typing import Any

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.collision.contacts import CONTACT
from cbsim.collision.workspace import make_workspace
from cbsim.coupling.finite import vehicle_error
from cbsim.errors import UsageError
from cbsim.jit import cause_of, wrapping
from cbsim.simulation.advance import NO_ROWS
from cbsim.simulation.kernels import advance_into
from cbsim.simulation.step_workspace import scratch_for
from cbsim.traffic.notes import NO_NOTES
from cbsim.traffic.workspace import make_cars
from cbsim.world.motion import MOTION_WIDTH
from cbsim.world.snapshot import Snapshot
from cbsim.world.world import World

__all__ = ["SnapshotBatch"]

NO_HASHES = np.zeros(0, np.uint64)
CONTACTS_PER_BODY = 4  # that begin in a step


class SnapshotBatch:
    """Snapshots of one World, one after another in two blocks, all at the start of the World.

    Each gets the bits of `cbsim.step`, whatever the others do. Different threads may advance different ones at once.

    Parameters
    ----------
    world : World
        Without models, and without latencies of planners.
    count : int
        Number of Snapshots.

    Attributes
    ----------
    floats, ints : ndarray, shapes (count, n), (count, m)
        The two blocks of each Snapshot, to be read and written, except for rows of static bodies.
    contacts : ndarray, shape (count, capacity, 12)
        Contacts that began in the last step of each, columns as in `cbsim.collision.contacts.CONTACT`.
    outcomes : ndarray, shape (count, 3)
        Steps taken, contacts that began, and first vehicle with a motion that is not finite, or -1.

    Raises
    ------
    UsageError
        If the World has models or latencies.
    """

    def __init__(self, world: World, count: int) -> None:
        if world.instances or world.queues:
            what = "models" if world.instances else "planners with a latency"
            raise UsageError(f"'{world.name}' has {what}, which batches of Snapshots do not step")
        self.world, self.count = world, count
        start = world.start
        with wrapping():
            workspace, cars = make_workspace(world, world.static_caches.of(start)), make_cars(world)
        capacity = CONTACTS_PER_BODY * len(world.moving)
        self.floats, self.ints = (np.repeat(block[None], count, axis=0) for block in start.blocks)
        self.contacts: Floats = np.zeros((count, capacity, len(CONTACT)))
        self.outcomes: Ints = np.zeros((count, 3), np.int64)
        self._scratch = [np.repeat(one[None], count, axis=0) for one in (workspace.floats, workspace.ints, *cars)]
        self._motion = np.empty((0, 0, MOTION_WIDTH))
        self._arguments: dict[tuple[int, int], tuple[Any, ...]] = {}  # of the kernel, by ranges of Snapshots

    def put(self, index: int, snapshot: Snapshot) -> None:
        """Copy a Snapshot to one of the batch; its static bodies stand as at the start of the World."""
        self.world.require(snapshot)
        self.floats[index], self.ints[index] = snapshot.blocks
        self.outcomes[index] = 0, 0, -1

    def get(self, index: int) -> Snapshot:
        """Copy one of the batch to a Snapshot."""
        made = self.world.start
        for block, row in zip(made.blocks, (self.floats[index], self.ints[index]), strict=True):
            block[:] = row
        return made

    def advance(self, first: int = 0, last: int | None = None) -> None:
        """Advance some of the Snapshots by one step, in one kernel call that needs no interpreter lock.

        Parameters
        ----------
        first, last : int
            Range of Snapshots, the last not included; by default all.

        Raises
        ------
        StepError
            If a vehicle's motion is not finite.
        """
        world, last = self.world, self.count if last is None else last
        if (first, last) not in self._arguments:
            self._arguments[first, last] = self._arguments_of(slice(first, last))
        try:
            with wrapping():
                advance_into(*self._arguments[first, last])
        except SystemError as error:
            raise cause_of(error) from None
        outcomes = self.outcomes[first:last]
        if outcomes[:, 2].max() < 0:
            return
        index = first + int(np.flatnonzero(outcomes[:, 2] >= 0)[0])
        time = (self.get(index).step - 1) * world.step
        raise vehicle_error(world, int(self.outcomes[index, 2]), None, time)

    def _arguments_of(self, rows: slice) -> tuple[Any, ...]:
        """Arguments of the kernel for some of the Snapshots: views, which are the same in all steps."""
        world, floats, ints = self.world, self.floats[rows], self.ints[rows]
        scratch = tuple([one[rows].reshape(-1) for one in self._scratch])
        blocks = floats.reshape(-1), ints.reshape(-1), NO_HASHES, world.static_caches.live
        out = NO_HASHES, self._motion, self.contacts[rows].reshape(-1, len(CONTACT)), self.outcomes[rows]
        made = world.pack, scratch_for(world), world.layout.sizes
        return *made, blocks, scratch, NO_NOTES, NO_ROWS, len(floats), 1, out
