"""Loading of rows into the cache ahead of the car that needs them.

Tables of a network with thousands of lanelets are larger than the caches near to a core, and cars lie on lanelets
anywhere in them. None of this changes a number.
"""

from __future__ import annotations

from cbsim.jit import inlined, prefetch
from cbsim.traffic.kernels.ways.centreline import piece_at
from cbsim.world.traffic.tables import (
    CAR_LENGTH,
    DRIVING,
    ENTRY,
    ENTRY_END,
    EXTRAS,
    FORKS,
    FRONT_AXLE,
    LANELET,
    PHASE,
    REAR_AXLE,
    STATION,
)

__all__ = ["prefetch_lanelet", "prefetch_pieces", "prefetch_rows", "prefetch_side"]

CACHED = 4000  # lanelets up to which tables of a network lie in the cache anyway
FAR, NEAR = 8, 4  # cars ahead whose rows are loaded into the cache: of lanelets, and what these lead to
SEEN = 3  # lanelets of each: its own, a connector, and the street behind it


@inlined
def prefetch_rows(road, crossings, entries, claims, intent, travel, ways, i):
    """Load ahead of `look` what it reads: rows of the lanelets ahead of car i, of who is on them, and of conflicts.

    Lanelets are those kept for it, whether they are still its own or not.
    """
    # rows for cars far ahead, and for nearer ones what these rows refer to
    far, near = i + FAR, i + NEAR
    if road.lanelets.shape[0] <= CACHED:
        return
    if far < intent.shape[0] and entries.where[far] >= 0:
        prefetch(entries.sorted_stands, entries.ranks[far] + 1)
        for k in range(SEEN):
            lanelet = ways.lanelets[far, k]
            if lanelet < 0:
                break
            prefetch(road.lanelets, lanelet)
            prefetch(road.links, lanelet)
            prefetch(entries.first, lanelet)
            prefetch(crossings.fork_offsets, lanelet)
    if near < intent.shape[0] and entries.where[near] >= 0:
        lanelet = entries.where[near]
        piece, _ = piece_at(road, lanelet, travel[near, STATION] + road.car_sizes[near, CAR_LENGTH])
        prefetch(road.pieces, piece)
        for k in range(SEEN):
            lanelet = ways.lanelets[near, k]
            if lanelet < 0:
                break
            entry = road.links[lanelet, ENTRY]
            prefetch(entries.sorted_stands, entries.first[lanelet])
            prefetch(crossings.entry_spans, entry)
            if road.links[lanelet, EXTRAS] & FORKS:
                prefetch(crossings.forks, crossings.fork_offsets[lanelet])
            if intent[near, PHASE] != DRIVING:  # it notes conflicts
                for e in range(entry, road.links[lanelet, ENTRY_END]):
                    prefetch(claims.areas, crossings.entry_rows[e])
                    prefetch(claims.times, crossings.entry_rows[e])
                    prefetch(crossings.rules, crossings.entry_rows[e])


@inlined
def prefetch_lanelet(road, entries, i):
    """Load ahead of `move` the rows of the lanelet of a car further on."""
    if road.lanelets.shape[0] > CACHED and i + FAR < entries.where.shape[0] and entries.where[i + FAR] >= 0:
        prefetch(road.lanelets, entries.where[i + FAR])
        prefetch(road.links, entries.where[i + FAR])


@inlined
def prefetch_side(road, sides, entries, i):
    """Load ahead of `choose_changes` what it reads of the lanelet of a car further on."""
    if road.lanelets.shape[0] > CACHED and i + FAR < entries.where.shape[0] and entries.where[i + FAR] >= 0:
        prefetch(road.links, entries.where[i + FAR])
        if sides.changes_at_ends.shape[0] > 0:
            prefetch(sides.changes_at_ends, entries.where[i + FAR])


@inlined
def prefetch_pieces(road, travel, intent, i):
    """Load what `pose_car` reads: the pieces of the centreline on which the axles of car i are."""
    lanelet = intent[i, LANELET]
    if lanelet >= 0 and road.lanelets.shape[0] > CACHED:
        rear, _ = piece_at(road, lanelet, travel[i, STATION] + road.car_sizes[i, REAR_AXLE])
        front, _ = piece_at(road, lanelet, travel[i, STATION] + road.car_sizes[i, FRONT_AXLE])
        prefetch(road.pieces, rear)
        prefetch(road.pieces, front)
