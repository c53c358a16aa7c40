"""`Zones`: ways through zones as the step of reactive cars takes them; columns of `State.parking`, by name."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from cbsim.arrays import Floats, Ints

__all__ = [
    "AHEAD",
    "APRON",
    "APRON_LENGTH",
    "BACK_LENGTH",
    "CELL_SIZE",
    "COLUMNS",
    "ENTRY_GATE",
    "FIRST_CELL",
    "FIRST_GRID",
    "FIRST_SAMPLE",
    "FIRST_SPOT",
    "FIRST_SPOT_CELL",
    "FIRST_THEN",
    "GATE",
    "HAS_PARKED",
    "HEADING",
    "IN_ZONE",
    "LAST_CELL",
    "LAST_SAMPLE",
    "LAST_SPOT",
    "LAST_SPOT_CELL",
    "LAST_THEN",
    "LEAST_NOSE",
    "MOST_TAIL",
    "MOUTH",
    "PREFERRED",
    "ROWS",
    "SINCE",
    "SOUTH",
    "SPOT",
    "SQUARE",
    "TICKET",
    "WAY",
    "WAY_LENGTH",
    "WEST",
    "ZONE",
    "Zones",
]


# columns of `State.parking`: way that it has been given, or on which it stands; place in the order of those who drive
# in the zone, 0 for none; time at which it asked for a way [ms], -1 for not; 1 once it has parked
WAY, TICKET, SINCE, HAS_PARKED = range(4)
IN_ZONE = -1  # lanelet of a car that drives or stands in a zone
# columns of the tables
SPOT, FIRST_SAMPLE, LAST_SAMPLE, FIRST_CELL, LAST_CELL, APRON = range(6)  # `ways`
WAY_LENGTH, BACK_LENGTH = range(2)  # `lengths`
HEADING, AHEAD, SQUARE = 2, 3, 4  # `samples`
ZONE, FIRST_SPOT_CELL, LAST_SPOT_CELL = range(3)  # `spots`
FIRST_SPOT, LAST_SPOT, COLUMNS, ROWS, FIRST_GRID = range(5)  # `areas`
WEST, SOUTH, CELL_SIZE, LEAST_NOSE, MOST_TAIL, APRON_LENGTH = range(6)  # `frames`
GATE, MOUTH = range(2)  # `gates`
ENTRY_GATE, PREFERRED = range(2)  # `goals`
FIRST_THEN, LAST_THEN = range(2)  # `pool_rows`


class Zones(NamedTuple):
    """Ways through the zones that some reactive car may come to; all arrays are empty where there are none.

    Stations are those of the rear axle. Ways are laid for the largest car of a zone. A way into a spot begins where
    that car is behind the perimeter as a whole, on an *apron*, a straight lanelet behind each mouth; a way out of it
    ends on the apron before a mouth.

    Attributes
    ----------
    ways : (ways, 6) int64
        Spot; first sample, and the one after the last; first cell, and the one after the last; lanelet of the apron
        on which a way out ends, -1 for ways in.
    lengths : (ways, 2) [m]
        Length; length of the first part, which is driven in reverse.
    samples : (samples, 5) [m], [m], [rad], [m], [m²/s²]
        Pose of the rear axle, station, square of the allowed speed.
    cells : (cells,) int64
        Cells that the car covers on each way, in the order in which it comes to them.
    spans : (cells, 2) [m]
        Stations between which it covers each.
    spots : (spots, 3) int64
        Row of `areas`; first of `spot_cells`, and the one after the last.
    spot_cells : (k,) int64
        Cells that a car covers that stands in each spot.
    areas : (zones, 5) int64
        First spot, and the one after the last; columns, rows and first cell of the grid.
    frames : (zones, 6) [m]
        West and south of the grid, size of its cells; distance from the rear axle to the front bumper of the shortest
        car, and to the rear bumper of the longest; length of the aprons.
    gates : (gates, 2) int64
        Lanelets of the aprons behind ways in, and of their mouths.
    ins : (gates · spots,) int64
        Way from each gate to each spot, -1 for none.
    goals : (destinations, 2) int64
        Gate, -1 for destinations that are no spots; the spot that is looked at first.
    outs : ((destinations + 1) · spots,) int64
        Way out of each spot, for those who go on to each destination; last for those who wander; -1 for none.
    pauses : (pools,) [s]
        For how long cars of a pool park.
    pool_rows : (pools, 2) int64
        First and last row of `thens`.
    thens : (k, 2)
        Destination after parking, cumulated share.
    """

    ways: Annotated[Ints, (6,)]
    lengths: Annotated[Floats, (2,)]
    samples: Annotated[Floats, (5,)]
    cells: Ints
    spans: Annotated[Floats, (2,)]
    spots: Annotated[Ints, (3,)]
    spot_cells: Ints
    areas: Annotated[Ints, (5,)]
    frames: Annotated[Floats, (6,)]
    gates: Annotated[Ints, (2,)]
    ins: Ints
    goals: Annotated[Ints, (2,)]
    outs: Ints
    pauses: Floats
    pool_rows: Annotated[Ints, (2,)]
    thens: Annotated[Floats, (2,)]
