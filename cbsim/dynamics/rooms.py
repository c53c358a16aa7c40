"""The rooms that steps of a mechanism work in, and `Rooms.advance`, which makes them larger where contacts need it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cbsim.dynamics.compile import Compiled
from cbsim.dynamics.detection.crowd import fresh, grown, work_for
from cbsim.dynamics.detection.kernels import columns as d
from cbsim.dynamics.detection.kernels.drift import find_contacts
from cbsim.dynamics.detection.kernels.tables import Crowd
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.kernels.step import advance
from cbsim.dynamics.kernels.tables import Work
from cbsim.dynamics.model import Floats, Model, Whole, drifting, room

__all__ = ["Found", "Rooms"]


class Found(NamedTuple):
    """A mechanism with the contacts that a step from some state has.

    Attributes
    ----------
    model, work : Model, Work
        With those contacts; views that hold until the next step.
    drift, mover : ndarray
        How contacts between colliders move, as `find_contacts` has them; without rows where there are no colliders.
    key : ndarray
        The two colliders of each contact, where there are any.
    haste : ndarray or None
        What they were found with.
    """

    model: Model
    work: Work
    drift: Floats
    mover: Whole
    key: Whole
    haste: Floats | None = None


class Rooms:
    """Two rooms: for steps on a mechanism's own state, and for all others.

    Attributes
    ----------
    own, others : Work
    own_crowd, other_crowd : Crowd or None
        Where their contacts are found.
    """

    def __init__(self, compiled: Compiled) -> None:
        self.compiled = compiled
        self.own, self.own_crowd = self._make()
        self.others, self.other_crowd = self._make()
        self.drift, self.mover = drifting(0)

    def _make(self) -> tuple[Work, Crowd | None]:
        work, crowd = room(self.compiled.model), self.compiled.crowd
        if crowd is None:
            return work, None
        crowd = fresh(crowd)
        return work_for(work, crowd), crowd

    def advance(  # noqa: PLR0913 (what the kernel is given)
        self, z: Floats, inputs: Floats, external: Floats, settings: Floats, counts: Whole,
        steps: int, path: Floats, report: Floats, *, own: bool,
    ) -> None:  # fmt: skip
        """Advance a state in place, as `cbsim.dynamics.kernels.step.advance` does, in as much room as that takes."""
        done, total, attempts = 0, 0.0, 0.0
        while True:
            work, crowd = (self.own, self.own_crowd) if own else (self.others, self.other_crowd)
            rows, rest = inputs[min(done, len(inputs) - 1) :], path[done:] if len(path) else path
            advance(
                self.compiled.model, work, self.compiled.touching, crowd, z, rows, external, settings, counts,
                steps - done, rest, report,
            )  # fmt: skip
            report[c.ITERATIONS] += total
            report[c.ATTEMPTS] += attempts
            report[c.STEP_REACHED] += done
            if report[c.STATUS] != c.CROWDED or crowd is None:
                return
            total, attempts = float(report[c.ITERATIONS]), float(report[c.ATTEMPTS])
            done = int(report[c.STEP_REACHED])
            if done and settings[c.WARM] != c.COLD:  # the steps made warm the next
                settings = np.copy(settings)
                settings[c.WARM] = c.CONTINUED
            self.enlarge(crowd, own=own)

    def crowd_of(self, work: Work) -> Crowd | None:
        """Return where the contacts of a room were found, None for a room that is neither of these."""
        return self.own_crowd if work is self.own else self.other_crowd if work is self.others else None

    def find(self, z: Floats, settings: Floats, *, drifts: bool = True, haste: Floats | None = None) -> Found:
        """Find the contacts of a step that begins at a state, in the room of others, and how they move.

        Where colliders got faster in it than that tells, ``haste`` is how fast, as `outran` has it.
        """
        model, crowd = self.compiled.model, self.other_crowd
        if crowd is None:
            return Found(model, self.others, *drifting(0), np.zeros((0, 2), np.int64))
        while True:
            if len(self.drift) != len(crowd.contact) * drifts:
                self.drift, self.mover = drifting(len(crowd.contact) * drifts)
            crowd.placed[:, d.HASTE] = 0.0 if haste is None else haste
            if find_contacts(model, crowd, self.others, z, settings, False, self.drift, self.mover):
                break
            crowd = self.enlarge(crowd, own=False)
        seen, work = self._with_contacts(crowd, self.others)
        contacts = len(seen.contact)
        return Found(seen, work, self.drift[:contacts], self.mover[:contacts], crowd.key[:contacts], haste)

    def last_solved(self) -> tuple[Model, Work]:
        """Return a mechanism with the contacts of the last step on its own state, and the room that it was made in."""
        crowd = self.own_crowd
        return (self.compiled.model, self.own) if crowd is None else self._with_contacts(crowd, self.own)

    def _with_contacts(self, crowd: Crowd, work: Work) -> tuple[Model, Work]:
        """Return views of a mechanism with the contacts that were found, and of the part of a room that they take."""
        contacts, fans, pairs, blocks = (int(crowd.found[k]) for k in (d.CONTACTS, d.FANS, d.PAIRS, d.BLOCKS))
        seen = self.compiled.model._replace(
            chord_block=crowd.chord_block, program=crowd.program, fan=crowd.fan[:fans], pair=crowd.pair[:pairs],
            blocks=blocks, contact_link=crowd.contact_link[:contacts], contact=crowd.contact[:contacts],
        )  # fmt: skip
        return seen, work._replace(block=work.block[:blocks], fanned=work.fanned[:fans], touch=work.touch[:contacts])

    def outran(self, z: Floats, settings: Floats) -> Floats | None:
        """How fast colliders got in the step that ended at a state, where one is in something that `find` left out."""
        model, crowd = self.compiled.model, self.other_crowd
        while crowd is not None:
            placed = crowd.placed.copy()
            if not find_contacts(model, crowd, self.others, z, settings, True, *drifting(0)):
                break
            if crowd.found[d.FULL] == 0:
                return np.array(crowd.placed[:, d.HASTE])
            crowd = self.enlarge(crowd, own=False)
            crowd.placed[:] = placed
        return None

    def enlarge(self, crowd: Crowd, *, own: bool) -> Crowd:
        """Make twice the room for contacts, of which ``crowd`` had too little."""
        crowd = grown(crowd)
        if own:
            self.own, self.own_crowd = work_for(self.own, crowd), crowd
        else:
            self.others, self.other_crowd = work_for(self.others, crowd), crowd
        return crowd
