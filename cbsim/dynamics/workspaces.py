"""Workspaces of the solver, which grow with the number of contacts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.dynamics.compile import Compiled
from cbsim.dynamics.detection.collider_tables import fresh, grown, work_for
from cbsim.dynamics.detection.kernels import columns as d
from cbsim.dynamics.detection.kernels.drift import find_contacts
from cbsim.dynamics.detection.kernels.tables import ColliderTables
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.kernels.step import advance
from cbsim.dynamics.kernels.tables import Work
from cbsim.dynamics.model import Model, drifting, workspace

__all__ = ["Found", "SolverWorkspaces"]


class Found(NamedTuple):
    """A mechanism with the contacts of a step from a state.

    Attributes
    ----------
    model, work : Model, Work
        With those contacts; views that are valid until the next step.
    drift, mover : ndarray
        Drifts of contacts between colliders, from `find_contacts`; without rows if there are no colliders.
    key : ndarray
        The two colliders of each contact, if there are any.
    approach_speed : ndarray or None
        With which they were found.
    """

    model: Model
    work: Work
    drift: Floats
    mover: Ints
    key: Ints
    approach_speed: Floats | None = None


class SolverWorkspaces:
    """Two workspaces: one for steps on a mechanism's own state, one for steps on passed states.

    Attributes
    ----------
    own, others : Work
    own_colliders, other_colliders : ColliderTables or None
        Tables of their contacts.
    """

    def __init__(self, compiled: Compiled) -> None:
        self.compiled = compiled
        self.own, self.own_colliders = self._make()
        self.others, self.other_colliders = self._make()
        self.drift, self.mover = drifting(0)

    def _make(self) -> tuple[Work, ColliderTables | None]:
        work, colliders = workspace(self.compiled.model), self.compiled.colliders
        if colliders is None:
            return work, None
        colliders = fresh(colliders)
        return work_for(work, colliders), colliders

    def advance(  # noqa: PLR0913 (arguments of the kernel)
        self, z: Floats, inputs: Floats, external: Floats, settings: Floats, counts: Ints,
        steps: int, path: Floats, report: Floats, *, own: bool, margin: float = 0.0,
    ) -> None:  # fmt: skip
        """Advance a state in place, as `cbsim.dynamics.kernels.step.advance`; workspaces are enlarged as needed.

        Contacts are detected as if every body could move farther by ``margin`` [m] than in two steps at its velocity at
        the beginning of a step.
        """
        done, total, attempts = 0, 0.0, 0.0
        if margin:
            settings = np.copy(settings)
            settings[c.MARGIN] = margin
        while True:
            work, colliders = (self.own, self.own_colliders) if own else (self.others, self.other_colliders)
            rows, rest = inputs[min(done, len(inputs) - 1) :], path[done:] if len(path) else path
            advance(
                self.compiled.model, work, self.compiled.touching, colliders, z, rows, external, settings, counts,
                steps - done, rest, report,
            )  # fmt: skip
            report[c.ITERATIONS] += total
            report[c.ATTEMPTS] += attempts
            report[c.STEP_REACHED] += done
            if report[c.STATUS] != c.OUT_OF_ROOM or colliders is None:
                return
            total, attempts = float(report[c.ITERATIONS]), float(report[c.ATTEMPTS])
            done = int(report[c.STEP_REACHED])
            if done and settings[c.WARM] != c.COLD:  # the steps made warm-start the next
                settings = np.copy(settings)
                settings[c.WARM] = c.CONTINUED
            self.enlarge(colliders, own=own)

    @contextmanager
    def using(self, collider: Floats | None) -> Iterator[None]:
        """Use other constants of colliders in steps on passed states; None for those of the mechanism."""
        before = self.other_colliders
        if collider is None or before is None:
            yield
            return
        self.other_colliders = before._replace(collider=collider)
        try:
            yield
        finally:
            self.other_colliders = self.other_colliders._replace(collider=before.collider)

    def collider_tables_of(self, work: Work) -> ColliderTables | None:
        """Return the tables with the contacts of a workspace; None for a foreign workspace."""
        return self.own_colliders if work is self.own else self.other_colliders if work is self.others else None

    def find(self, z: Floats, settings: Floats, *, drifts: bool = True, approach_speed: Floats | None = None) -> Found:
        """Find the contacts of a step that begins at a state, in the workspace of passed states, and their drifts.

        ``approach_speed`` is the speed of colliders that got faster in the step, from `exceeded_margin`.
        """
        model, colliders = self.compiled.model, self.other_colliders
        if colliders is None:
            return Found(model, self.others, *drifting(0), np.zeros((0, 2), np.int64))
        while True:
            if len(self.drift) != len(colliders.contact) * drifts:
                self.drift, self.mover = drifting(len(colliders.contact) * drifts)
            colliders.placed[:, d.APPROACH_SPEED] = 0.0 if approach_speed is None else approach_speed
            if find_contacts(model, colliders, self.others, z, settings, False, self.drift, self.mover):
                break
            colliders = self.enlarge(colliders, own=False)
        seen, work = self._with_contacts(colliders, self.others)
        contacts = len(seen.contact)
        return Found(seen, work, self.drift[:contacts], self.mover[:contacts], colliders.key[:contacts], approach_speed)

    def last_solved(self) -> tuple[Model, Work]:
        """Return a mechanism with the contacts of the last step on its own state, and the workspace of that step."""
        colliders = self.own_colliders
        return (self.compiled.model, self.own) if colliders is None else self._with_contacts(colliders, self.own)

    def _with_contacts(self, colliders: ColliderTables, work: Work) -> tuple[Model, Work]:
        """Return views of a mechanism with the contacts found, and of their part of a workspace."""
        contacts, fans, pairs, blocks = (int(colliders.found[k]) for k in (d.CONTACTS, d.FANS, d.PAIRS, d.BLOCKS))
        seen = self.compiled.model._replace(
            loop_block=colliders.loop_block, program=colliders.program, fan=colliders.fan[:fans],
            pair=colliders.pair[:pairs], blocks=blocks, contact_link=colliders.contact_link[:contacts],
            contact=colliders.contact[:contacts],
        )  # fmt: skip
        return seen, work._replace(
            block=work.block[:blocks], fanned=work.fanned[:fans], contact_work=work.contact_work[:contacts]
        )

    def exceeded_margin(self, z: Floats, settings: Floats) -> Floats | None:
        """Speed of colliders in the step that ended at a state, if one penetrates something that `find` omitted."""
        model, colliders = self.compiled.model, self.other_colliders
        while colliders is not None:
            placed = colliders.placed.copy()
            if not find_contacts(model, colliders, self.others, z, settings, True, *drifting(0)):
                break
            if colliders.found[d.FULL] == 0:
                return np.array(colliders.placed[:, d.APPROACH_SPEED])
            colliders = self.enlarge(colliders, own=False)
            colliders.placed[:] = placed
        return None

    def enlarge(self, colliders: ColliderTables, *, own: bool) -> ColliderTables:
        """Double the capacity for contacts of ``colliders``."""
        colliders = grown(colliders)
        if own:
            self.own, self.own_colliders = work_for(self.own, colliders), colliders
        else:
            self.others, self.other_colliders = work_for(self.others, colliders), colliders
        return colliders
