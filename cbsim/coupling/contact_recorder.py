"""`Watch`: who touches whom in the steps of a gathering, where, and how hard; and which guests that concerns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.coupling.contact_island import Gathering
from cbsim.dynamics.active_contacts import Touch, active_contacts
from cbsim.dynamics.workspaces import SolverWorkspaces
from cbsim.geometry.linear import norm, times
from cbsim.geometry.pose import rotate
from cbsim.world.tables import Floats

__all__ = ["Encounter", "Watch"]

LEAST = 1e-4  # [m/s] by which a touch changes the velocity of the lighter one


class Encounter(NamedTuple):
    """First touch of two, one of them a body of a model.

    Attributes
    ----------
    one, other : (str, int, int)
        Kind and number in the plan of the gathering, and which body of a model; the lower row comes first.
    time : float
        [s], at the end of a step of the gathering.
    place, normal : ndarray, shape (3,)
        [m]; unit vector from the one to the other, in the World.
    closing, impulse, depth : float
        At which they met [m/s]; along the normal, in the rest of the World's step [N s]; [m].
    """

    one: tuple[str, int, int]
    other: tuple[str, int, int]
    time: float
    place: Floats
    normal: Floats
    closing: float
    impulse: float
    depth: float


class Watch:
    """Notes who touches whom in the steps of a gathering.

    Parameters
    ----------
    gathering : Gathering
    start : float
        Time of the World's step [s].

    Attributes
    ----------
    touches : list of Encounter
    """

    def __init__(self, gathering: Gathering, start: float) -> None:
        self.gathering, self.start = gathering, start
        self.touches: list[Encounter] = []
        bodies = gathering.spec.bodies
        self._mass = np.array([body.mass for body in bodies])
        for member in (*gathering.members, *gathering.carried):  # a body weighs what hangs on it, too
            self._mass[member.rows] = self._mass[member.rows].sum()
        self._count = gathering.cars.start - len(gathering.rest)
        self._seen: dict[tuple[tuple[str, int, int], tuple[str, int, int]], int] = {}
        self._ties: list[tuple[int, int]] = []

    @property
    def moved(self) -> NDArray[np.bool_]:
        """Which guests (guests,) a model has touched, or one that has been touched by it."""
        first = self.gathering.cars.start
        reached = set(range(self._count))
        while True:
            more = {b for a, b in self._ties if a in reached} | {a for a, b in self._ties if b in reached}
            if more <= reached:
                break
            reached |= more
        return np.array([k in reached for k in range(first, self.gathering.cars.stop)], bool)

    def look(self, workspaces: SolverWorkspaces, was: Floats, blows: Floats, n: int) -> None:
        """Look at a step of the gathering.

        Parameters
        ----------
        workspaces : SolverWorkspaces
            That have made it.
        was : ndarray, shape (bodies, 13)
            Before it.
        blows : ndarray, shape (guests, 3)
            What guests got from others [N s].
        n : int
            Its number in the step of the World.
        """
        cars, found = self.gathering.cars, list(active_contacts(workspaces))
        owner = self.gathering.owner
        told: set[int] = set()
        for touch in found:
            one, other = touch.one, touch.other
            if one >= 0 and other >= 0 and owner[one] == owner[other]:
                continue
            if touch.impulse > LEAST * min(self._mass[k] for k in (one, other) if k >= 0):
                told |= {one, other}
                self._note(touch, was, n)
        light = self._mass[: self._count].min(initial=np.inf)
        sizes = norm(blows, axis=1)
        for k in np.flatnonzero(sizes > LEAST * np.minimum(light, self._mass[cars])).tolist():
            if cars.start + k not in told:
                likely = self._likeliest(found, cars.start + k, was, blows[k])
                if likely is not None:
                    self._note(likely, was, n)

    def _likeliest(self, found: list[Touch], guest: int, was: Floats, blow: Floats) -> Touch | None:
        """Make up the touch of a guest that a step made in parts has lost: with what is nearest; None if alone."""
        normal, impulse = blow / norm(blow), float(norm(blow))
        own = [touch for touch in found if guest in {touch.one, touch.other}]
        if own:
            touch = min(own, key=lambda each: each.gap)
            return touch._replace(impulse=impulse)
        if not self._count:
            return None
        apart = norm(was[: self._count, :3] - was[guest, :3], axis=1)
        body = int(np.argmin(apart))
        return Touch(guest, body, was[body, :3].copy(), normal, impulse, 0.0)

    def _who(self, body: int, solid: int) -> tuple[str, int, int] | None:
        """Kind, number and place among the bodies of a model; None for what a model brings along of its world."""
        gathering = self.gathering
        if body < 0:
            place = int(gathering.things[solid]) if solid >= 0 else -1
            return None if place < 0 else (*gathering.names[place], 0)
        kind, number = gathering.names[int(gathering.owner[body])]
        if kind != "model":
            return kind, number, 0
        member = next(m for m in (*gathering.members, *gathering.carried) if m.rows.start <= body < m.rows.stop)
        return kind, number, body - member.rows.start

    def _note(self, touch: Touch, was: Floats, n: int) -> None:
        """Keep a touch; those of one pair are one, with all that they push."""
        one, other = self._who(touch.one, touch.solids[0]), self._who(touch.other, touch.solids[1])
        if one is None or other is None:
            return
        if touch.one >= 0 and touch.other >= 0:
            self._ties.append((touch.one, touch.other))
        if "model" not in {one[0], other[0]}:
            return  # vehicles and what stands see to that among themselves
        normal = -touch.normal  # of touches it points to the first
        if (one[0] == "model", *one[1:]) > (other[0] == "model", *other[1:]):
            one, other, normal = other, one, -normal
        frame = self.gathering.frame
        impulse, depth = frame.weight * frame.scale * touch.impulse, max(0.0, -frame.scale * touch.gap)
        at = self._seen.get((one, other))
        if at is not None:
            old = self.touches[at]
            self.touches[at] = old._replace(impulse=old.impulse + impulse, depth=max(old.depth, depth))
            return
        self._seen[one, other] = len(self.touches)
        closing = frame.scale * _closing(was, touch)
        place = frame.position + frame.scale * rotate(frame.orientation, touch.place)
        time = self.start + (n + 1) * self.gathering.spec.timestep
        self.touches.append(
            Encounter(one, other, time, place, rotate(frame.orientation, normal), closing, impulse, depth)
        )


def _closing(z: Floats, touch: Touch) -> float:
    """Speed [m/s] at which the points of two bodies come together along the normal."""
    speeds = [
        z[k, 3:6] + np.cross(rotate(z[k, 6:10], z[k, 10:]), touch.place - z[k, :3]) if k >= 0 else np.zeros(3)
        for k in (touch.one, touch.other)
    ]
    return float(times(speeds[1] - speeds[0], touch.normal))
