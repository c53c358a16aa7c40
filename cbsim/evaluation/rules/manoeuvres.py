"""`Manoeuvres`: when an object enters, takes and clears the ways on which it yields."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats
from cbsim.evaluation.rules.streams import Gate, Stream, Way
from cbsim.evaluation.rules.track import Track

__all__ = ["Claim", "Entered", "Manoeuvre", "Manoeuvres"]

FACING = np.cos(np.radians(45.0))  # cosine of the largest angle to a gate at which it is crossed
KEPT = 60.0  # [s] within which an object that enters a way takes it
NEAR = 5.0  # [m] around the fronts of a batch, in which ways are looked at
ENTERS, LEAVES, CLEARS = 0, 1, 2


@dataclass(eq=False)
class Claim:
    """Somebody whom an object came too near on its way, as far as it is known.

    Attributes
    ----------
    metric : str
        What was measured.
    value, time : float
        The least, and when it first was below the bound, or least [s].
    row : int
        Of the other, -1 for none.
    stream : Stream or None
        Along which the other comes.
    place : ndarray, shape (2,)
        Of the object then [m].
    fails : bool
        Whether it is below the bound.
    sure : float or None
        Since when it is known that the other came along the stream [s]; None while it may turn off.
    """

    metric: str
    value: float
    time: float
    row: int
    stream: Stream | None
    place: Floats
    fails: bool
    sure: float | None = None


@dataclass(eq=False)
class Manoeuvre:
    """One way of an object over a lanelet on which it yields; times in [s], `inf` until they are known.

    Attributes
    ----------
    way : Way
    begin : float
        When the front bumper reached the first conflict.
    taken : float
        When it left the lanelet at its end: whoever takes another one that begins likewise never does.
    cleared : float
        When the rear bumper was beyond the last conflict.
    claims : list of Claim
    accompanied : bool
        Whether there was traffic to yield to.
    """

    way: Way
    begin: float
    taken: float = np.inf
    cleared: float = np.inf
    claims: list[Claim] = field(default_factory=list)
    accompanied: bool = False


class Entered(NamedTuple):
    """The front bumper reaches a conflict: which one, when [s], and the next step of the batch."""

    manoeuvre: Manoeuvre
    conflict: int
    time: float
    step: int


class Manoeuvres:
    """Those of one object.

    Parameters
    ----------
    ways : tuple of Way

    Attributes
    ----------
    active : list of Manoeuvre
        Not yet taken and cleared, with claims that are not sure, or in the newest batch.
    """

    def __init__(self, ways: tuple[Way, ...]) -> None:
        self.ways = ways
        self._low = np.array([way.box[0] for way in ways]).reshape(-1, 2)
        self._high = np.array([way.box[1] for way in ways]).reshape(-1, 2)
        self.active: list[Manoeuvre] = []

    def near(self, fronts: Floats, reach: float = NEAR) -> list[Way]:
        """Ways within a reach [m] of places, shape (n, 2)."""
        low, high = fronts.min(axis=0) - reach, fronts.max(axis=0) + reach
        return [self.ways[k] for k in np.flatnonzero(np.all((self._low <= high) & (self._high >= low), axis=1))]

    def follow(self, track: Track) -> list[Entered]:
        """Process the next steps, and tell where conflicts are reached."""
        now = float(track.times[0])
        self.active = [
            one for one in self.active if (np.inf in (one.cleared, one.taken) or one.claims) and one.begin >= now - KEPT
        ]
        near = self.near(track.fronts)
        ways = {id(way): way for way in [*near, *(one.way for one in self.active)]}
        events = sorted(
            (event for way in ways.values() for event in self._events(way, track)),
            key=lambda event: (event[0], event[1], event[2].lanelet),
        )
        found = []
        for time, kind, way, conflict, step in events:
            under_way = next((one for one in self.active if one.way is way and one.taken == np.inf), None)
            if kind == ENTERS:
                if under_way is None:
                    under_way = Manoeuvre(way, time)
                    self.active.append(under_way)
                found.append(Entered(under_way, conflict, time, step))
            elif kind == LEAVES and under_way is not None:
                under_way.taken = time
                self._drop_others(under_way)
            elif kind == CLEARS:
                for one in self.active:
                    if one.way is way and one.cleared == np.inf:
                        one.cleared = time
        return found

    def _drop_others(self, taken: Manoeuvre) -> None:
        """Forget the ways that begin where one does that the object has taken."""
        self.active = [
            one for one in self.active if one is taken or one.taken < np.inf or one.way.source != taken.way.source
        ]

    def _events(self, way: Way, track: Track) -> list[tuple[float, int, Way, int, int]]:
        """When gates of a way are crossed: time [s], kind, way, conflict, and the next step."""
        gates = [(gate, ENTERS, row) for row, gate in way.begins.items()] + [(way.leaves, LEAVES, -1)]
        found = [
            (time, kind, way, row, step)
            for gate, kind, row in gates
            for time, step in _crossings(gate, track, track.fronts, gate.half_width)
        ]
        rears = 2.0 * track.centres - track.fronts
        return found + [(time, CLEARS, way, -1, step) for time, step in _crossings(way.clears, track, rears, np.inf)]


def _crossings(gate: Gate, track: Track, places: Floats, half_width: float) -> list[tuple[float, int]]:
    """Find the times [s] at which places (n + 1, 2) pass beyond a gate, and the next step of the batch."""
    along, across = gate.beyond(places)
    found = []
    for row in np.flatnonzero((along[:-1] <= 0.0) & (along[1:] > 0.0)).tolist():
        part = float(along[row] / (along[row] - along[row + 1]))
        aside = float(across[row] + part * (across[row + 1] - across[row]))
        facing = float(track.ahead[row + 1] @ gate.along)
        if abs(aside) <= half_width and (facing >= FACING or half_width == np.inf):
            found.append((float(track.times[row] + part * (track.times[row + 1] - track.times[row])), row))
    return found
