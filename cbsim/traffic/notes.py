"""`TrafficNotes`: records of appearing, leaving and mistakes of cars, written inside the kernel that advances a run."""

from __future__ import annotations

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.jit import wrapping
from cbsim.traffic.kernels.demand.events import (
    CAR_FLOATS,
    CAR_INTS,
    FIRST_FLOAT,
    FIRST_INT,
    HARDEST,
    LONGEST,
    note_step,
)
from cbsim.world.snapshot import Snapshot
from cbsim.world.traffic.events import EVENT, HAPPENED, NO_EVENTS
from cbsim.world.world import World

__all__ = ["NO_NOTES", "TrafficNotes"]

SPARE = 4096  # events in one kernel call, besides one for each car
NO_NOTES = np.zeros(0), np.zeros(0, np.int64), np.zeros((0, len(EVENT)), np.int64)


class TrafficNotes:
    """What happens in a run: events of the scenario, and events and extremes of its traffic.

    Parameters
    ----------
    world : World

    Attributes
    ----------
    blocks : (Floats, Ints, Ints)
        For kernels; without rows where there are neither reactive traffic nor events.
    """

    def __init__(self, world: World) -> None:
        cars, waiting = world.layout.cars, world.layout.events
        self.blocks: tuple[Floats, Ints, Ints] = NO_NOTES
        if cars or waiting:
            floats, ints = np.zeros(FIRST_FLOAT + CAR_FLOATS * cars), np.zeros(FIRST_INT + CAR_INTS * cars, np.int64)
            self.blocks = floats, ints, np.zeros((cars + 2 * waiting + SPARE, len(EVENT)), np.int64)

    def begin(self, world: World, snapshot: Snapshot) -> None:
        """Note who is there at the start, and which events have come true by then."""
        if world.layout.cars:
            with wrapping():
                note_step(world.pack, world.layout.sizes, *snapshot.blocks, *self.blocks)
        _, ints, events = self.blocks
        steps = snapshot.columns.event
        for number in np.flatnonzero(steps >= 0).tolist():
            events[ints[0]] = steps[number], HAPPENED, number, 0
            ints[0] += 1

    def drain(self) -> Ints:
        """Events since the last call, shape (n, 4), columns as in `cbsim.world.traffic.events.EVENT`."""
        _, ints, events = self.blocks
        if not len(ints) or not ints[0]:
            return NO_EVENTS
        found = events[: ints[0]].copy()
        ints[0] = 0
        return found

    @property
    def hardest_braking(self) -> float:
        """Largest deceleration of a car that has not been hit [m/s²]."""
        return float(self.blocks[0][HARDEST]) if len(self.blocks[0]) else 0.0

    @property
    def longest_standstill(self) -> float:
        """Longest time at rest of a car that has neither been hit nor pauses at a goal [s]."""
        return float(self.blocks[0][LONGEST]) if len(self.blocks[0]) else 0.0

    def copy(self) -> list[Floats | Ints]:
        """Copy what has been noted."""
        return [block.copy() for block in self.blocks]

    def restore(self, blocks: list[Floats | Ints]) -> None:
        """Go back to a copy."""
        for block, old in zip(self.blocks, blocks, strict=True):
            block[:] = old
