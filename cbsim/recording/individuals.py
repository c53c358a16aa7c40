"""`Individuals`: a recording with one row for each car that it holds, whatever row of its flow the car was in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.collision.contacts import CONTACT
from cbsim.recording.batch import Batch
from cbsim.recording.objects import Objects
from cbsim.recording.recording import Recording
from cbsim.recording.roster import Roster
from cbsim.world.motion import ABSENT_BELOW, ABSENT_MOTION

__all__ = ["Individuals"]

BODIES = [CONTACT.index("body_a"), CONTACT.index("body_b")]


@dataclass(eq=False)
class Car:
    """A car of a pool: its pose when it is first seen (7,), the first step, and its row in the individuals."""

    pose: Floats
    step: int
    row: int = -1


class Individuals:
    """A recording by individuals: objects, then the cars of pools that are recorded or touch something, then models.

    Without pools it is the recording itself.

    Parameters
    ----------
    recording : Recording

    Attributes
    ----------
    header : Header
        Has an object for each of them, with its first pose.
    """

    def __init__(self, recording: Recording) -> None:
        self._recording, self.header = recording, recording.header
        self._moving = np.array(recording.header.moving, np.int64)
        self._cars: dict[tuple[int, str], Car] = {}
        if recording.header.pools:
            self._find()
            self._lay_out()

    def _find(self) -> None:
        """Find the cars that occur."""
        roster, in_pool, met = Roster(self.header.objects), self.header.objects.in_pool, set[int]()
        for batch in self._recording.batches():
            roster.take(batch.events)
            rows = self._rows(batch)
            for k in np.flatnonzero((batch.motion[:, :, 2] > ABSENT_BELOW).any(axis=0)).tolist():
                row = int(rows[k])
                if in_pool(row) and row not in met:
                    self._meet(roster, row, batch, batch.motion[:, k])
                    if not roster.is_flow(row):
                        met.add(row)
            for contact in batch.contacts:
                step = round(float(contact[0]) / self.header.step)
                for row in contact[BODIES].astype(int).tolist():
                    if in_pool(row):
                        self._cars.setdefault((row, roster.name(row, step)), Car(ABSENT_MOTION[:7], step))

    def _meet(self, roster: Roster, row: int, batch: Batch, motion: Floats) -> None:
        """Note who is in a row in a batch."""
        names = roster.names_over(row, batch.steps)
        for name in dict.fromkeys(names):
            known = self._cars.get((row, name))
            if known is not None and known.pose[2] > ABSENT_BELOW:
                continue
            own = [k for k, one in enumerate(names) if one == name and motion[k, 2] > ABSENT_BELOW]
            if own:
                self._cars[row, name] = Car(motion[own[0], :7].copy(), int(batch.steps[own[0]]))

    def _lay_out(self) -> None:
        """Give everybody a row."""
        old = self.header.objects
        first = old.pools[0].first
        models = old.single[first:]
        items: list[dict[str, Any]] = list(old.single[:first])
        order = sorted(self._cars.items(), key=lambda one: (old.pool_of(one[0][0]).first, one[1].step, one[0][0]))
        for (row, name), car in order:
            car.row = len(items)
            x, y, z, *turn = car.pose.tolist()
            items.append(old[row] | {"name": name, "position": [x, y, z], "orientation": turn})
        shift = first + len(self._cars) - old.row_of(first) if models else 0
        self._shift, self._first_model = shift, old.row_of(first) if models else len(old)
        moving = [self._single(row) for row in self.header.moving if not old.in_pool(row)]
        moving += [car.row for car in self._cars.values()]
        named = [self._single(row) for row in self.header.named if not old.in_pool(row)]
        named += [car.row for (row, _), car in self._cars.items() if row in self.header.named]
        self.header = replace(self.header, objects=Objects([*items, *models]), moving=sorted(moving), named=named)

    def _single(self, row: int) -> int:
        """Row of what is no car of a pool."""
        return row + self._shift if row >= self._first_model else row

    def _rows(self, batch: Batch) -> Ints:
        return self._moving if batch.rows is None else batch.rows

    def batches(self) -> Iterator[Batch]:
        """Iterate over the batches, each with the motion of all moving rows of the header, absent where not known."""
        old = self._recording.header.objects
        if not old.pools:
            yield from self._recording.batches()
            return
        roster, columns = Roster(old), {row: k for k, row in enumerate(self.header.moving)}
        fixed = {row: columns[self._single(row)] for row in self._moving.tolist() if not old.in_pool(row)}
        fixed |= {row: columns[car.row] for (row, _), car in self._cars.items() if not roster.is_flow(row)}
        for batch in self._recording.batches():
            roster.take(batch.events)
            motion = np.tile(ABSENT_MOTION, (len(batch.hashes), len(columns), 1))
            rows = self._rows(batch).tolist()
            known = [k for k, row in enumerate(rows) if row in fixed]
            motion[:, [fixed[rows[k]] for k in known]] = batch.motion[:, known]
            for k, row in enumerate(rows):
                if not roster.is_flow(row):
                    continue
                names = np.array(roster.names_over(row, batch.steps), object)
                for name in dict.fromkeys(names.tolist()):
                    car = self._cars.get((row, name))
                    if car is not None:
                        own = names == name
                        motion[own, columns[car.row]] = batch.motion[own, k]
            contacts = batch.contacts.copy()
            for contact in contacts:
                step = round(float(contact[0]) / self.header.step)
                for column in BODIES:
                    row = int(contact[column])
                    car = self._cars.get((row, roster.name(row, step))) if old.in_pool(row) else None
                    contact[column] = self._single(row) if car is None else car.row
            yield replace(batch, motion=motion, contacts=contacts, rows=None)
