"""`Watch`: which guests of a model touch which of its bodies in a step of the World, where, and how hard."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cbsim.dynamics.rooms import Rooms
from cbsim.dynamics.touches import Touch, touches_of
from cbsim.geometry.pose import rotate
from cbsim.world.islands import Island
from cbsim.world.tables import Floats

__all__ = ["Encounter", "Watch"]

LEAST = 1e-4  # [m/s] by which a touch changes the velocity of the lighter one


class Encounter(NamedTuple):
    """First touch of a guest and a body of a model.

    Attributes
    ----------
    guest, body : int
        Numbers of both.
    time : float
        [s], at the end of a step of the model.
    place, normal : ndarray, shape (3,)
        [m]; unit vector from the guest to the body, in the World.
    closing, impulse, depth : float
        At which they met [m/s]; along the normal, in the rest of the World's step [N s]; [m].
    """

    guest: int
    body: int
    time: float
    place: Floats
    normal: Floats
    closing: float
    impulse: float
    depth: float


class Watch:
    """Notes who touches whom in the steps of a model.

    Parameters
    ----------
    island : Island
        The model.
    masses : (guests,)
        Of its guests, in its units.
    step : int
        Number of the World's step.

    Attributes
    ----------
    moved : (guests,) bool
        Who was touched.
    touches : list of Encounter
    """

    def __init__(self, island: Island, masses: Floats, step: int) -> None:
        self.island, self.masses, self.step = island, masses, step
        self.moved = np.zeros(len(masses), bool)
        self.touches: list[Encounter] = []
        self._seen: dict[tuple[int, int], int] = {}
        self._count = len(island.rows)
        self._own = sum(body.mass for body in island.spec.bodies)

    def look(self, rooms: Rooms, was: Floats, blows: Floats, n: int) -> None:
        """Look at a step of the model.

        Parameters
        ----------
        rooms : Rooms
            That have made it.
        was : ndarray, shape (bodies, 13)
            Before it.
        blows : ndarray, shape (guests, 3)
            What guests got from the model [N s].
        n : int
            Its number in the step of the World.
        """
        struck = np.linalg.norm(blows, axis=1) > LEAST * np.minimum(self._own, self.masses)
        self.moved |= struck
        for guest in np.flatnonzero(struck).tolist():
            for pair, touch in self._touches(rooms, guest, was, blows[guest]):
                self._note(pair, touch, was, n)

    def _touches(self, rooms: Rooms, guest: int, was: Floats, blow: Floats) -> list[tuple[tuple[int, int], Touch]]:
        """List the touches of a guest, normals from it; where a step made in parts has lost them, the likeliest."""
        found = []
        for touch in touches_of(rooms):
            one, two, normal = touch.one, touch.other, touch.normal
            if one >= self._count:
                one, two, normal = two, one, -normal
            if two == self._count + guest and 0 <= one < self._count:
                found.append(((guest, one), touch._replace(normal=normal)))
        pressed = [entry for entry in found if entry[1].impulse > LEAST * self._own]
        if pressed:
            return pressed
        normal, impulse = -blow / np.linalg.norm(blow), float(np.linalg.norm(blow))
        if found:
            pair, touch = min(found, key=lambda entry: entry[1].gap)
        else:
            place = was[self._count + guest, :3]
            body = int(np.argmin(np.linalg.norm(was[: self._count, :3] - place, axis=1)))
            pair, touch = (guest, body), Touch(body, guest, was[body, :3].copy(), normal, 0.0, 0.0)
        return [(pair, touch._replace(normal=normal, impulse=impulse))]

    def _note(self, pair: tuple[int, int], touch: Touch, was: Floats, n: int) -> None:
        """Keep a touch; those of one pair are one, with all that they push."""
        frame, (guest, body) = self.island.frame, pair
        impulse, depth = frame.weight * frame.scale * touch.impulse, max(0.0, -frame.scale * touch.gap)
        at = self._seen.get(pair)
        if at is not None:
            old = self.touches[at]
            self.touches[at] = old._replace(impulse=old.impulse + impulse, depth=max(old.depth, depth))
            return
        self._seen[pair] = len(self.touches)
        closing = frame.scale * _closing(was, body, self._count + guest, touch.place, touch.normal)
        place = frame.position + frame.scale * rotate(frame.orientation, touch.place)
        normal, time = rotate(frame.orientation, touch.normal), self.island.time(self.step, n + 1)
        self.touches.append(Encounter(guest, body, time, place, normal, closing, impulse, depth))


def _closing(z: Floats, body: int, guest: int, place: Floats, normal: Floats) -> float:
    """Speed [m/s] at which the points of two bodies come together along a normal from the guest to the body."""
    one, two = (row[3:6] + np.cross(rotate(row[6:10], row[10:]), place - row[:3]) for row in (z[body], z[guest]))
    return float((two - one) @ normal)
