"""Workspace of reactive cars: what a step works out anew, in two blocks that are kept from one call to the next.

None of it is trusted: drawn values of drivers and lanelets ahead stand beside what they were worked out from, and all
else is written before it is read.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import block_view, kernel, view
from cbsim.traffic.kernels.drivers import VALUES
from cbsim.traffic.kernels.ways.way import AHEAD

__all__ = [
    "ALONE", "COMER", "ETA", "EXTENT", "HEAD", "HELD_BACK", "HOLDER", "LEFT_IN", "NO_ROOM", "NO_ROOM_NOW", "OBSTACLES",
    "PACE", "READY", "SPOT", "STARTS", "CarWorkspace", "Claims", "Entries", "Queues", "Routes", "Ways",
    "car_workspace_of", "car_workspace_sizes", "parts_of", "path_of",
]  # fmt: skip

LONGEST_STEP = 0.1  # [s] in which a car decides once
OBSTACLES = 6  # lanelets that one body may stand on
MERGING = 64  # cars in merging conflicts that have a place in the list, more than there are cars
PLAN = 12  # columns of `CarWorkspace.plan`
KEY = 6  # columns of `Ways.keys`
SPOT, PACE, EXTENT = range(3)  # columns of `Entries.stands`
HOLDER, COMER, ALONE, HEAD = range(4)  # columns of `Claims.areas`
ETA, LEFT_IN = range(2)  # columns of `Claims.times`
READY, NO_ROOM, HELD_BACK, NO_ROOM_NOW, STARTS = range(5)  # values of `Queues.states`


class Entries(NamedTuple):
    """Who stands on which lanelet: reactive cars, by their numbers, then other bodies, then cars beside their own.

    Attributes
    ----------
    first : (lanelets + 1,) int64
        First entry of each lanelet in `order`.
    order : (entries,) int64
        Numbers of entries, lanelet by lanelet, by station.
    sorted_stands : (entries, 2) [m], [m/s]
        Station of the rear and speed, in the order of `order`.
    stands : (entries, 3) [m], [m/s], [m]
        Station of the rear, speed along the lanelet, length.
    where : (entries,) int64
        Lanelet of each, -1 for none.
    ranks : (entries,) int64
        Place of each in `order`.
    watched : (entries,) int64
        Row of `State.watch` of a body that is no reactive car, -1 for one that never moves, -2 less the number of a
        car that is partly there.
    stays : (entries,) int64
        1 for a body that has no way of its own to drive: it never moves, or only as events have it.
    """

    first: Any
    order: Any
    sorted_stands: Annotated[Any, (2,)]
    stands: Annotated[Any, (3,)]
    where: Any
    ranks: Any
    watched: Any
    stays: Any


class Claims(NamedTuple):
    """Who is in conflict areas, who comes to them, and who will stand behind them.

    Attributes
    ----------
    areas : (conflicts, 2, 4) int64
        Of either side of a conflict, columns: HOLDER, who is in the conflict area, or may enter it: -1 nobody, -2
        several, else the number of the entry; COMER, who comes next, -1 for nobody; ALONE, 1 where nobody may follow
        who is there through a merging conflict; HEAD, first of `merging` on this side, negative for none; -2 on the
        first side of a conflict of which nothing has been noted.
    times : (conflicts, 2, 2) [s]
        Of either side, columns: ETA, when who comes next does; LEFT_IN, in which time those leave who are there.
    reserved : (lanelets,) [m]
        Room behind conflicts that those need who hold claims to there.
    merging : (n, 3) int64
        Who is in a merging conflict, or may enter it: next one on the same side, -1 at the end; number of the car;
        twice the conflict, and the side.
    rests : (n,) [m]
        Distance of the rear of each from the end of the conflict.
    touched : (conflicts,) int64
        Conflicts of which something has been noted; all others are as `clear_conflict` leaves them.
    size : (2,) int64
        How many of `merging` and of `touched` there are.
    """

    areas: Annotated[Any, (2, 4)]
    times: Annotated[Any, (2, 2)]
    reserved: Any
    merging: Annotated[Any, (3,)]
    rests: Any
    touched: Any
    size: Any


class Queues(NamedTuple):
    """Who waits, and who asks for a claim, junction by junction.

    Attributes
    ----------
    heads : (conflicts,) int64
        First entry of the list of each junction, -1 for none; there are fewer junctions than conflicts.
    links : (entries,) int64
        Next entry of the same list, -1 at its end.
    turns : (entries,) int64
        Place in the order of arrival.
    candidates : (cars,) int64
        Scratch: who asks for a claim, as a list; then those who do at one junction.
    places : (cars,) int64
        Lanelet behind the conflicts ahead on which the front will stand.
    conflicts : (cars,) int64
        First conflict entry ahead that is neither held nor claimed, -1 for none.
    states : (cars,) int64
        NO_ROOM behind the conflicts ahead; HELD_BACK where it waits outside a zone or behind a queue, and takes no
        other exit; NO_ROOM_NOW where others drive on that room or hold claims to it; STARTS for who has been given a
        claim in this step; else READY. All but READY and STARTS pass their turn.
    """

    heads: Any
    links: Any
    turns: Any
    candidates: Any
    places: Any
    conflicts: Any
    states: Any


class Ways(NamedTuple):
    """The next lanelets of each car.

    Attributes
    ----------
    lanelets : (cars, 8) int64
        Its own first, -1 behind the end of the way.
    forks : (cars,) int64
        Forks passed before the last of them.
    keys : (cars, 6) int64
        Serial, lanelet, next lanelet, forks or goals passed, seed and version for which they were worked out.
    version : (1,) int64
        Goes up whenever other lanelets are closed.
    """

    lanelets: Annotated[Any, (AHEAD,)]
    forks: Any
    keys: Annotated[Any, (KEY,)]
    version: Any


class Routes(NamedTuple):
    """Ways round closed lanelets, as `cbsim.traffic.kernels.turning_round.closures` works them out.

    Attributes
    ----------
    hops, wanders, changes : (destinations · lanelets,), (k,), (destinations · lanelets,) or (0,) int64
        Those of `Road` and `Sides`, round closed lanelets; of closed ones among `wanders` another stands in the place.
    known : (destinations,) int64
        Version of `Ways` for which the ways to each destination are worked out.
    noted : (closures,) int64
        `State.closed` for that version.
    costs, times : (lanelets,) [s]
        Time that each lanelet takes; scratch.
    blocked : (cars,) int64
        1 where a car has found that it cannot pass who stands in its way.
    """

    hops: Any
    wanders: Any
    changes: Any
    known: Any
    noted: Any
    costs: Any
    times: Any
    blocked: Any


class CarWorkspace(NamedTuple):
    """Arrays of a workspace.

    Attributes
    ----------
    drawn : (cars, 14)
        Values of drivers.
    memo : (cars, 2) int64
        Serial and seed for which they were drawn.
    entries : Entries
    claims : Claims
    queues : Queues
    ways : Ways
    routes : Routes
    counts : (2,) int64
        Entries of cars and of bodies that never move; junctions.
    plan : (cars, 12)
        What a car has seen, columns as in `cbsim.traffic.kernels.look`.
    destinations : (cars,) int64
        Where each goes.
    changes : (cars,) int64
        Row of `Sides` by which each changes lanes after this step, -1 for none.
    """

    drawn: Annotated[Any, (VALUES,)]
    memo: Annotated[Any, (2,)]
    entries: Any
    claims: Any
    queues: Any
    ways: Any
    routes: Any
    counts: Any
    plan: Annotated[Any, (PLAN,)]
    destinations: Any
    changes: Any


@kernel
def car_workspace_sizes(cars, lanelets, conflicts, others, parts, routes):
    """Count the floats and the ints of the blocks.

    `others` is the number of bodies that are no reactive cars, `parts` that of the parts of a step (`parts_of`),
    `routes` the lengths of `Routes.hops`, `wanders`, `changes`, `known` and `noted`.
    """
    entries = 2 * cars + OBSTACLES * others
    merging = cars + MERGING
    floats = (VALUES + PLAN) * cars + 5 * entries + 4 * conflicts + 3 * lanelets + merging
    floats += 4 * cars * (parts + 1) if parts > 1 else 0
    ints = (10 + KEY + AHEAD) * cars + lanelets + 6 + 7 * entries + 10 * conflicts + 3 * merging
    for size in routes:
        ints += size
    return floats, ints


@kernel
def parts_of(step):
    """Count the equal parts of at most 0.1 s in which cars take a step [s]."""
    return max(1, int(math.ceil(step / LONGEST_STEP - 1e-9)))


@view
def path_of(cars, parts, floats):
    """Poses of cars at the begin of a step and after each of its parts (cars, parts + 1, 4): x, y [m], and w, z.

    It is the last part of the block of floats, and has no rows where a step is not divided.
    """
    size = 4 * cars * (parts + 1) if parts > 1 else 0
    return block_view(floats, floats.shape[0] - size, (size // (4 * (parts + 1)), parts + 1, 4))


@view
def car_workspace_of(cars, lanelets, conflicts, others, routes, floats, ints):
    """Slice the arrays of a workspace from its two blocks; parameters as those of `car_workspace_sizes`."""
    # ends of the tables in both blocks, one after another
    entries = 2 * cars + OBSTACLES * others
    a = VALUES * cars
    b = a + 5 * entries
    c = b + PLAN * cars
    d = c + 4 * conflicts
    e = d + lanelets
    merging = cars + MERGING
    i = 2 * cars
    j = i + lanelets + 1
    k = j + entries
    m = k + entries
    n = m + 3 * entries
    p = n + 8 * conflicts
    q = p + conflicts
    r = q + entries
    s = r + entries
    t = s + 4 * cars
    u = t + AHEAD * cars
    v = u + (1 + KEY) * cars
    w = v + 3 + 3 * cars
    hops, wanders, changes, known, noted = routes
    x = w + hops + wanders
    y = x + changes + known
    z = y + noted
    g = z + 3 * merging
    f = e + merging
    return CarWorkspace(
        drawn=block_view(floats, 0, (cars, VALUES)),
        memo=block_view(ints, 0, (cars, 2)),
        entries=Entries(
            first=block_view(ints, i, (lanelets + 1,)),
            order=block_view(ints, j, (entries,)),
            sorted_stands=block_view(floats, a + 3 * entries, (entries, 2)),
            stands=block_view(floats, a, (entries, 3)),
            where=block_view(ints, k, (entries,)),
            ranks=block_view(ints, m, (entries,)),
            watched=block_view(ints, m + entries, (entries,)),
            stays=block_view(ints, m + 2 * entries, (entries,)),
        ),
        claims=Claims(
            areas=block_view(ints, n, (conflicts, 2, 4)),  # a line of the cache each
            times=block_view(floats, c, (conflicts, 2, 2)),
            reserved=block_view(floats, d, (lanelets,)),
            merging=block_view(ints, z, (merging, 3)),
            rests=block_view(floats, e, (merging,)),
            touched=block_view(ints, g, (conflicts,)),
            size=block_view(ints, g + conflicts, (2,)),
        ),
        queues=Queues(
            heads=block_view(ints, p, (conflicts,)),
            links=block_view(ints, q, (entries,)),
            turns=block_view(ints, r, (entries,)),
            candidates=block_view(ints, s, (cars,)),
            places=block_view(ints, s + cars, (cars,)),
            conflicts=block_view(ints, s + 2 * cars, (cars,)),
            states=block_view(ints, s + 3 * cars, (cars,)),
        ),
        ways=Ways(
            lanelets=block_view(ints, t, (cars, AHEAD)),
            forks=block_view(ints, u, (cars,)),
            keys=block_view(ints, u + cars, (cars, KEY)),
            version=block_view(ints, v + 2 + 2 * cars, (1,)),
        ),
        routes=Routes(
            hops=block_view(ints, w, (hops,)),
            wanders=block_view(ints, w + hops, (wanders,)),
            changes=block_view(ints, x, (changes,)),
            known=block_view(ints, x + changes, (known,)),
            noted=block_view(ints, y, (noted,)),
            costs=block_view(floats, f, (lanelets,)),
            times=block_view(floats, f + lanelets, (lanelets,)),
            blocked=block_view(ints, w - cars, (cars,)),
        ),
        counts=block_view(ints, v, (2,)),
        plan=block_view(floats, b, (cars, PLAN)),
        destinations=block_view(ints, v + 2, (cars,)),
        changes=block_view(ints, v + 2 + cars, (cars,)),
    )
