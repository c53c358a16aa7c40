"""Workspace of reactive cars: what a step works out anew, in two blocks that are kept from one call to the next.

None of it is trusted: drawn values of drivers stand beside the serial and the seed that they were drawn for, and all
else is written before it is read.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from cbsim.jit import inner, kernel
from cbsim.traffic.kernels.drivers import VALUES

__all__ = [
    "EXTENT", "OBSTACLES", "PACE", "SPOT", "CarWorkspace", "Claims", "Entries", "car_workspace_of",
    "car_workspace_sizes",
]  # fmt: skip

OBSTACLES = 6  # lanelets that one body may stand on
PLAN = 8  # columns of `CarWorkspace.plan`
SPOT, PACE, EXTENT = range(3)  # columns of `Entries.stands`


class Entries(NamedTuple):
    """Who stands on which lanelet: reactive cars, by their numbers, then other bodies.

    Attributes
    ----------
    first : (lanelets + 1,) int64
        First entry of each lanelet in `order`.
    order : (entries,) int64
        Numbers of entries, lanelet by lanelet, by station.
    stands : (entries, 3) [m], [m/s], [m]
        Station of the rear, speed along the lanelet, length.
    where : (entries,) int64
        Lanelet of each, -1 for none.
    """

    first: Any
    order: Any
    stands: Any
    where: Any


class Claims(NamedTuple):
    """Who is in conflict areas, and who comes to them.

    Attributes
    ----------
    holder : (conflicts, 2) int64
        Who is in a conflict area, or may enter it: -1 nobody, -2 several, else the number of the entry.
    comer : (conflicts, 2) int64
        Who comes next on each side, -1 for nobody.
    eta : (conflicts, 2) [s]
        When it comes.
    """

    holder: Any
    comer: Any
    eta: Any


class CarWorkspace(NamedTuple):
    """Arrays of a workspace.

    Attributes
    ----------
    drawn : (cars, 11)
        Values of drivers.
    memo : (cars, 2) int64
        Serial and seed for which they were drawn.
    entries : Entries
    claims : Claims
    counts : (1,) int64
        Entries of cars and of bodies that never move.
    plan : (cars, 8)
        What a car has seen, columns as in `cbsim.traffic.kernels.look`.
    turns : (cars,) int64
        Place in the order of arrival.
    candidates, waiting, destinations : (cars,) int64
        Cars that ask for a claim; cars that have arrived at a stop line; where each goes.
    before : (cars, 2) [m]
        Where the body was at the begin of the step.
    """

    drawn: Any
    memo: Any
    entries: Any
    claims: Any
    counts: Any
    plan: Any
    turns: Any
    candidates: Any
    waiting: Any
    destinations: Any
    before: Any


@kernel
def car_workspace_sizes(cars, lanelets, conflicts, others):
    """Count the floats and the ints of the blocks; `others` is the number of bodies that are no reactive cars."""
    entries = cars + OBSTACLES * others
    return (
        VALUES + PLAN + 2
    ) * cars + 3 * entries + 2 * conflicts, 6 * cars + lanelets + 2 + 2 * entries + 4 * conflicts


@inner
def car_workspace_of(cars, lanelets, conflicts, others, floats, ints):
    """Slice the arrays of a workspace from its two blocks."""
    entries = cars + OBSTACLES * others
    a = VALUES * cars
    b = a + 3 * entries
    c = b + PLAN * cars
    d = c + 2 * conflicts
    i = 2 * cars
    j = i + lanelets + 1
    k = j + entries
    m = k + entries
    n = m + 1
    o, p, q = n + cars, n + 2 * cars, n + 3 * cars
    r = q + cars
    s = r + 2 * conflicts
    return CarWorkspace(
        drawn=floats[:a].reshape((cars, VALUES)),
        memo=ints[:i].reshape((cars, 2)),
        entries=Entries(first=ints[i:j], order=ints[j:k], stands=floats[a:b].reshape((entries, 3)), where=ints[k:m]),
        claims=Claims(
            holder=ints[r:s].reshape((conflicts, 2)),
            comer=ints[s : s + 2 * conflicts].reshape((conflicts, 2)),
            eta=floats[c:d].reshape((conflicts, 2)),
        ),
        counts=ints[m:n],
        plan=floats[b:c].reshape((cars, PLAN)),
        turns=ints[n:o],
        candidates=ints[o:p],
        waiting=ints[p:q],
        destinations=ints[q:r],
        before=floats[d : d + 2 * cars].reshape((cars, 2)),
    )
