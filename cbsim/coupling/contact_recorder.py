"""Recording of contacts in an island's steps: pairs, place, impulse, and which actors they reach."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats
from cbsim.coupling.contact_island import ContactIsland
from cbsim.dynamics.active_contacts import Touch, active_contacts
from cbsim.dynamics.workspaces import SolverWorkspaces
from cbsim.geometry.linear import norm, times
from cbsim.geometry.pose import rotate

__all__ = ["ContactEvent", "ContactRecorder"]

LEAST = 1e-4  # [m/s] least velocity change of the lighter body for a contact to be recorded


class ContactEvent(NamedTuple):
    """First contact of a pair in a step of the World, at least one of them a body of a model.

    Attributes
    ----------
    one, other : (str, int, int)
        Kind, number in the plan, and body within a model; the lower row comes first.
    time : float
        [s], at the end of a step of the island.
    place, normal : ndarray, shape (3,)
        [m]; unit vector from the one to the other, in the World.
    closing, impulse, depth : float
        Closing speed at first contact [m/s]; normal impulse over the rest of the World's step [N s]; penetration [m].
    """

    one: tuple[str, int, int]
    other: tuple[str, int, int]
    time: float
    place: Floats
    normal: Floats
    closing: float
    impulse: float
    depth: float


class ContactRecorder:
    """Records the contacts of an island's steps.

    Parameters
    ----------
    island : ContactIsland
    start : float
        Time of the World's step [s].

    Attributes
    ----------
    events : list of ContactEvent
    """

    def __init__(self, island: ContactIsland, start: float) -> None:
        self.island, self.start = island, start
        self.events: list[ContactEvent] = []
        bodies = island.spec.bodies
        self._mass = np.array([body.mass for body in bodies])
        for member in (*island.members, *island.kinematic_models):  # a body counts with everything jointed to it
            self._mass[member.rows] = self._mass[member.rows].sum()
        self._mass[island.kinematic] = np.inf
        self._count = island.actor_rows.start - len(island.world_states)
        self._seen: dict[tuple[tuple[str, int, int], tuple[str, int, int]], int] = {}
        self._ties: list[tuple[int, int]] = []

    @property
    def moved(self) -> NDArray[np.bool_]:
        """Actors (actors,) touched by a model, directly or through other actors."""
        first = self.island.actor_rows.start
        reached = set(range(self._count))
        while True:
            more = {b for a, b in self._ties if a in reached} | {a for a, b in self._ties if b in reached}
            if more <= reached:
                break
            reached |= more
        return np.array([k in reached for k in range(first, self.island.actor_rows.stop)], bool)

    def record(self, workspace: SolverWorkspaces, was: Floats, impulses: Floats, n: int) -> None:
        """Record the contacts of one step of the island.

        Parameters
        ----------
        workspace : SolverWorkspaces
            In which the step was solved.
        was : ndarray, shape (bodies, 13)
            States before it.
        impulses : ndarray, shape (actors, 3)
            Contact impulses on actors [N s].
        n : int
            Its number within the step of the World.
        """
        actor_rows, found = self.island.actor_rows, list(active_contacts(workspace))
        owner = self.island.owner
        recorded: set[int] = set()
        for touch in found:
            one, other = touch.one, touch.other
            if one >= 0 and other >= 0 and owner[one] == owner[other]:
                continue
            if touch.impulse > LEAST * min(self._mass[k] for k in (one, other) if k >= 0):
                recorded |= {one, other}
                self._note(touch, was, n)
        light = self._mass[: self._count].min(initial=np.inf)
        sizes = norm(impulses, axis=1)
        for k in np.flatnonzero(sizes > LEAST * np.minimum(light, self._mass[actor_rows])).tolist():
            if actor_rows.start + k not in recorded:
                likely = self._likeliest(found, actor_rows.start + k, was, impulses[k])
                if likely is not None:
                    self._note(likely, was, n)

    def _likeliest(self, found: list[Touch], actor: int, was: Floats, received: Floats) -> Touch | None:
        """Attribute an impulse whose contact the core's substeps dropped: to the nearest gap or body; None if none."""
        normal, impulse = received / norm(received), float(norm(received))
        own = [touch for touch in found if actor in {touch.one, touch.other}]
        if own:
            touch = min(own, key=lambda each: each.gap)
            return touch._replace(impulse=impulse)
        if not self._count:
            return None
        apart = norm(was[: self._count, :3] - was[actor, :3], axis=1)
        body = int(np.argmin(apart))
        return Touch(actor, body, was[body, :3].copy(), normal, impulse, 0.0)

    def _who(self, body: int, solid: int) -> tuple[str, int, int] | None:
        """Kind, number and body within a model; None for colliders of a model's own world."""
        island = self.island
        if body < 0:
            place = int(island.obstacles[solid]) if solid >= 0 else -1
            return None if place < 0 else (*island.names[place], 0)
        kind, number = island.names[int(island.owner[body])]
        if kind != "model":
            return kind, number, 0
        member = next(m for m in (*island.members, *island.kinematic_models) if m.rows.start <= body < m.rows.stop)
        return kind, number, body - member.rows.start

    def _note(self, touch: Touch, was: Floats, n: int) -> None:
        """Record a contact; contacts of one pair are merged, and their impulses added."""
        one, other = self._who(touch.one, touch.solids[0]), self._who(touch.other, touch.solids[1])
        if one is None or other is None:
            return
        if touch.one >= 0 and touch.other >= 0:
            self._ties.append((touch.one, touch.other))
        if "model" not in {one[0], other[0]}:
            return  # contacts of vehicles with obstacles are those of the traffic kernels
        normal = -touch.normal  # the core's normal points to the first body
        if (one[0] == "model", *one[1:]) > (other[0] == "model", *other[1:]):
            one, other, normal = other, one, -normal
        frame = self.island.frame
        impulse, depth = frame.weight * frame.scale * touch.impulse, max(0.0, -frame.scale * touch.gap)
        at = self._seen.get((one, other))
        if at is not None:
            old = self.events[at]
            self.events[at] = old._replace(impulse=old.impulse + impulse, depth=max(old.depth, depth))
            return
        self._seen[one, other] = len(self.events)
        closing = frame.scale * _closing(was, touch)
        place = frame.position + frame.scale * rotate(frame.orientation, touch.place)
        time = self.start + (n + 1) * self.island.spec.timestep
        self.events.append(
            ContactEvent(one, other, time, place, rotate(frame.orientation, normal), closing, impulse, depth)
        )


def _closing(z: Floats, touch: Touch) -> float:
    """Compute the closing speed [m/s] of the contact points of two bodies along the normal."""
    speeds = [
        z[k, 3:6] + np.cross(rotate(z[k, 6:10], z[k, 10:]), touch.place - z[k, :3]) if k >= 0 else np.zeros(3)
        for k in (touch.one, touch.other)
    ]
    return float(times(speeds[1] - speeds[0], touch.normal))
