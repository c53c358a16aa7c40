"""`Traffic`: every table that the step of reactive cars takes; columns of a car in the Snapshot, by name."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple, get_type_hints

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.world.traffic.zones.tables import Zones

__all__ = [
    "ABSENT",
    "ACCELERATION",
    "ALONG",
    "ARRIVAL",
    "ARRIVED",
    "BACK",
    "BACKING",
    "BEGIN",
    "BESIDE",
    "BODY",
    "CAR_LENGTH",
    "CHANGE_TIME",
    "CLAIM",
    "CLASS_ACCELERATION",
    "CLOSED_TIME",
    "CROSSING",
    "DENSITY",
    "DRIVING",
    "ENTRY",
    "ENTRY_END",
    "ENTRY_SPEED",
    "EVEN",
    "EVEN_TIMES",
    "EXTRAS",
    "FIRST_CAR",
    "FIRST_GOAL",
    "FIRST_TARGET",
    "FORKS",
    "FORK_END",
    "FREE",
    "FRONT_AXLE",
    "GOAL",
    "GREEN",
    "HEIGHT",
    "HIT",
    "JUNCTION",
    "LANELET",
    "LAST_CAR",
    "LAST_GOAL",
    "LAST_PIECE",
    "LAST_TARGET",
    "LEFT",
    "LENGTH",
    "LIMIT",
    "LONGER",
    "MAY_CROSS",
    "MERGES",
    "MIX",
    "MOVED",
    "MUST",
    "NEXT",
    "NO_TRAFFIC",
    "NO_ZONES",
    "OFFSET",
    "ORIGIN",
    "ORIGIN_STATION",
    "OTHER",
    "PARKED_HEIGHT",
    "PARKING",
    "PAUSING",
    "PHASE",
    "PIECE",
    "PLACE",
    "POOL",
    "RATE",
    "REAR_AXLE",
    "ROLLING",
    "ROOM",
    "RULE",
    "RUN",
    "SAME",
    "SERIAL",
    "SHIFT",
    "SIDEWAYS",
    "SIGNALS",
    "SLOPE",
    "SPEED",
    "STATION",
    "STOPPED",
    "STOP_LINE",
    "TURNING",
    "UNBEGUN",
    "UNKNOWN",
    "UNTIL",
    "VEHICLE",
    "WAITING",
    "WANDER",
    "WANDER_END",
    "Crossings",
    "Demand",
    "Road",
    "Sides",
    "Surroundings",
    "Traffic",
    "closure_rows",
]  # fmt: skip


# columns of `State.travel`; from OFFSET and SLOPE on as in `cbsim.traffic.kernels.ways.sideways`
STATION, OFFSET, SPEED, ACCELERATION, ARRIVAL, WAITING, SLOPE, SIDEWAYS, MOVED, RUN, BACK = range(11)
# columns of `State.watch`: lanelet at whose stop line it waits and 1, or 0; since when; for how long it has been free
PLACE, ARRIVED, FREE = range(3)
# columns of `State.intent`
LANELET, NEXT, GOAL, CLAIM, PHASE, SERIAL = range(6)
# values of the phase; who is rolling has left its line for conflicts that it has not claimed yet
ABSENT, DRIVING, STOPPED, CROSSING, PAUSING, HIT, ROLLING, TURNING, PARKING, BACKING = range(10)
UNKNOWN = -2  # next lanelet of a car before its first step
UNBEGUN = -1.0  # time of the next arrival of a flow before the first step [s]
# columns of the tables of `Road`
LENGTH, LIMIT, ENTRY_SPEED, DENSITY = range(4)
WANDER, WANDER_END, ENTRY, ENTRY_END, PIECE, LAST_PIECE, STOP_LINE, EXTRAS = range(8)
FORKS, SIGNALS, BESIDE = 1, 2, 4  # bits of EXTRAS
LEFT, SAME, MAY_CROSS = 1, 2, 4  # bits of `Sides.rows`
ALONG = 2  # column of `Road.samples`
BODY, POOL, MIX, FIRST_GOAL, LAST_GOAL, VEHICLE = range(6)
CAR_LENGTH, REAR_AXLE, FRONT_AXLE, HEIGHT, CLASS_ACCELERATION = range(5)
# columns of `Crossings.rules` and `Crossings.forks`
RULE, GREEN, JUNCTION, MERGES = range(4)
OTHER, FORK_END, SHIFT = range(3)
# columns of `Demand.flows` and `Demand.pool_rows`
ORIGIN_STATION, RATE, BEGIN, UNTIL, EVEN = range(5)
FIRST_CAR, LAST_CAR, ORIGIN, FIRST_TARGET, LAST_TARGET = range(5)

CHANGE_TIME = 5.0
"""Time that a change of lanes counts in a way [s]."""

LONGER = 20.0
"""Time that all other ways have to take longer where a change of lanes is not given up [s]."""

MUST = 1 << 32
"""What is added in `Sides.changes` where it is not."""

CLOSED_TIME = 600.0
"""Time that a closed lanelet counts more in a way [s]."""

EVEN_TIMES = 1e-6
"""Time by which ways may differ that are taken for equally fast; then lanes are changed soon [s]."""

ROOM = 20.0
"""Length of lanelets side by side in which a way may change over [m]."""

PARKED_HEIGHT = -1e4
"""Height of the centre of cars that are absent [m]: below everything that sees, hits or draws."""


class Road(NamedTuple):
    """Lanelets and the ways of cars on them.

    Rows of lanelets by which cars turn round at dead ends come after those of the network.

    Attributes
    ----------
    lanelets : (lanelets, 4) [m], [m/s], [m/s], [1/m]
        Length, limit, speed that bends allow at the begin, pieces per metre.
    links : (lanelets + 1, 8) int64
        First row of `wanders` and the one after the last, first row of `Crossings.entry_rows` and the one after the
        last, first and last row of `pieces`, whether a stop line stands at the end, and `FORKS`, `SIGNALS` and
        `BESIDE` where there are any.
    pieces : (pieces, 8) [m], [m²/s²]
        Centrelines as `cbsim.world.traffic.pieces.fit_pieces` divides them. The allowed speed is that at which the
        lateral acceleration is 2.2 m/s², and braking before it is comfortable.
    widths : (lanelets,) [m]
    sample_offsets : (lanelets + 1,) int64
        First sample of each lanelet.
    samples : (samples, 3) [m]
        Place and station, at most 1 m apart.
    wanders : (k,) int64
        Where a car may go on, of these the ways on which it can go on for ever.
    hops : (destinations · lanelets,) int64
        Next lanelet on the fastest way; -1 where there is none.
    destinations : (destinations, 2)
        Lanelet and station [m].
    goals : (goals, 2)
        Destination and pause [s] of the goals of objects.
    car_rows : (cars, 6) int64
        Row of the body; pool, -1 for objects; row of `Demand.mixes`; first and last row of `goals`, -1 for pools; row
        of the vehicle that the car drives, -1 for none. Those that drive one come first.
    car_sizes : (cars, 5) [m], [m], [m], [m], [m/s²]
        Length; distances of the rear and the front axle from the rear bumper; height of the centre; largest
        acceleration of the class.
    words : (pools,) int64
        Hash of the name of each pool, half of the key of its random numbers.
    """

    lanelets: Annotated[Floats, (4,)]
    links: Annotated[Ints, (8,)]
    pieces: Annotated[Floats, (8,)]
    widths: Floats
    sample_offsets: Ints
    samples: Annotated[Floats, (3,)]
    wanders: Ints
    hops: Ints
    destinations: Annotated[Floats, (2,)]
    goals: Annotated[Floats, (2,)]
    car_rows: Annotated[Ints, (6,)]
    car_sizes: Annotated[Floats, (5,)]
    words: Ints


class Crossings(NamedTuple):
    """Conflicts and forks of lanelets, from `cbsim.road.right_of_way`.

    Attributes
    ----------
    entry_offsets : (lanelets + 1,) int64
        First conflict entry of each lanelet.
    entry_others, entry_sides, entry_rows : (entries,) int64
        `Conflicts.by_lanelet`.
    entry_lanelets : (entries,) int64
        One's own lanelet.
    entry_spans : (entries, 2) [m]
        Stations at which the conflict begins and ends on one's own lanelet.
    spans : (conflicts, 4) [m]
        Begin on either side, end on either side.
    gaps : (conflicts, 2) [s]
        Critical gap of either side where it yields, 0 where the order of arrival decides.
    rules : (conflicts, 4) int64
        Rule, who yields at green, junction, and 1 where both lanelets lead to the same point.
    yields : (conflicts,) int64
    ranks : (lanelets,) int64
        `Conflicts.approaches`.
    signal_offsets, signal_lights : (lanelets + 1,), (k,) int64
        Traffic lights at the end of each lanelet.
    signal_programs, signal_phases : (lights + 1,) int64, (n, 2) [s], [1]
        First phase of each light; when each phase ends within its cycle, and its `SignalState`.
    signalled : (conflicts, 2) int64
        1 where one comes to the lanelet of that side past a traffic light, which is green then.
    fork_offsets : (lanelets + 1,) int64
        First fork of each lanelet.
    forks : (k, 3)
        Lanelet that comes out of the same point; its station up to which swept widths overlap, and one's own station
        less that of the other [m].
    """

    entry_offsets: Ints
    entry_others: Ints
    entry_sides: Ints
    entry_rows: Ints
    entry_lanelets: Ints
    entry_spans: Annotated[Floats, (2,)]
    spans: Annotated[Floats, (4,)]
    gaps: Annotated[Floats, (2,)]
    rules: Annotated[Ints, (4,)]
    yields: Ints
    ranks: Ints
    signal_offsets: Ints
    signal_lights: Ints
    signal_programs: Ints
    signal_phases: Annotated[Floats, (2,)]
    signalled: Annotated[Ints, (2,)]
    fork_offsets: Ints
    forks: Annotated[Floats, (3,)]


class Surroundings(NamedTuple):
    """What finds the lanelets of bodies that are no reactive cars.

    Attributes
    ----------
    origin : (3,) [m]
        Least x and y of the samples, and the width of a cell.
    size : (2,) int64
        Columns and rows of cells.
    offsets, samples : (cells + 1,), (samples,) int64
        Samples in each cell.
    owners : (samples,) int64
        Lanelet of each sample.
    successor_offsets, successors : (lanelets + 1,), (k,) int64
    """

    origin: Floats
    size: Ints
    offsets: Ints
    samples: Ints
    owners: Ints
    successor_offsets: Ints
    successors: Ints


class Sides(NamedTuple):
    """Lanelets side by side, from `cbsim.road.lanelets.neighbours`, and where cars have to change over.

    All arrays but `offsets` are empty where no lanelet has a neighbour.

    Attributes
    ----------
    offsets : (lanelets + 1,) int64
        First row of each lanelet.
    rows : (k, 2) int64
        The neighbour; bits `LEFT`, `SAME` for the same direction, and `MAY_CROSS`.
    spans : (k, 2) [m]
        Stations between which it runs beside the lanelet.
    place_offsets, places : (k + 1,), (n,) [m]
        First of the places of each row, and the neighbour's stations at equal distances along the span.
    predecessor_offsets, predecessors : (lanelets + 1,), (k,) int64
        Lanelets that lead to each.
    changes : (destinations · lanelets,) int64
        Neighbour to change to on the fastest way, -1 where it leads straight on; `MUST` more where others are longer.
    changes_at_ends : (lanelets,) int64
        Neighbour to change to where one goes nowhere: from there one can go on for ever, -1 where there is none.
    """

    offsets: Ints
    rows: Annotated[Ints, (2,)]
    spans: Annotated[Floats, (2,)]
    place_offsets: Ints
    places: Floats
    predecessor_offsets: Ints
    predecessors: Ints
    changes: Ints
    changes_at_ends: Ints


class Demand(NamedTuple):
    """Pools and drivers.

    Attributes
    ----------
    flows : (pools, 5) [m], [1/s], [s], [s], [1]
        Station of the origin, rate, begin and end of a flow; 1 for evenly spaced arrivals.
    pool_rows : (pools, 5) int64
        First and last car; lanelet of the origin, -1 for counts; first and last row of `targets`.
    targets : (k, 2)
        Destination, cumulated share.
    before_offsets, befores : (pools + 1,), (k,) int64
        Lanelets that lead to the one on which each flow appears.
    mixes : (mixes + 1,) int64
        First row of `mix_rows` of each mix of drivers.
    mix_rows : (k, 2)
        Row of `drivers`, cumulated share.
    drivers : (drivers, 19)
        Columns as in `cbsim.traffic.kernels.drivers`.
    """

    flows: Annotated[Floats, (5,)]
    pool_rows: Annotated[Ints, (5,)]
    targets: Annotated[Floats, (2,)]
    before_offsets: Ints
    befores: Ints
    mixes: Ints
    mix_rows: Annotated[Floats, (2,)]
    drivers: Annotated[Floats, (19,)]


class Traffic(NamedTuple):
    """Every table of reactive traffic; all are empty in a World without any."""

    road: Road
    crossings: Crossings
    surroundings: Surroundings
    sides: Sides
    demand: Demand
    zones: Zones

    def tables(self) -> tuple[Floats | Ints, ...]:
        """All of them, in their order."""
        return (*self.road, *self.crossings, *self.surroundings, *self.sides, *self.demand, *self.zones)


def _empty(group: Any) -> Any:
    """Tables without rows."""
    columns: dict[str, Any] = {}
    for name, hint in get_type_hints(group, include_extras=True).items():
        row = getattr(hint, "__metadata__", ((),))[0]
        columns[name] = np.zeros((0, *row), np.int64 if "int64" in str(hint) else np.float64)
    return group(**columns)


def closure_rows(lanelets: int) -> int:
    """Count the lanelets that may be closed at a time in a network of so many."""
    return 16 + lanelets // 16 if lanelets else 0


NO_ZONES: Zones = _empty(Zones)
NO_TRAFFIC = Traffic(_empty(Road), _empty(Crossings), _empty(Surroundings), _empty(Sides), _empty(Demand), NO_ZONES)
