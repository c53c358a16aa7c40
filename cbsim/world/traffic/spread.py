"""Initial places of the cars of a pool: spread over lanes, outside of conflict areas and of other objects."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.errors import ModelError
from cbsim.spec.traffic import CLASSES, Pool
from cbsim.world.traffic.network import RoadTables
from cbsim.world.traffic.tables import ALONG, LENGTH

__all__ = ["CarStarts", "Stretches", "joined", "name_word", "spread_cars", "taken_by", "too_near"]

GAP = 2.0  # [m] between cars that are spread at the start
EDGE = 1.0  # [m] from the ends of a lanelet within which none is put
HALF_LANE = 2.0  # [m] from the centreline within which others are in the way of cars that are put there
NARROW = 2.3  # [m] between centrelines of lanelets on which cars overlap
WORD = (1 << 63) - 1


class Stretches(NamedTuple):
    """Stretches of lanelets, such as those where something stands at the start.

    Attributes
    ----------
    lanelets : ndarray of int, shape (n,)
    rears, fronts : ndarray, shape (n,)
        Stations between which they lie [m].
    """

    lanelets: Ints
    rears: Floats
    fronts: Floats


class CarStarts(NamedTuple):
    """Where cars are put at the start.

    Attributes
    ----------
    lanelets : ndarray of int, shape (n,)
        -1 for a car that is absent.
    stations : ndarray, shape (n,)
        Of the rear bumpers [m].
    """

    lanelets: Ints
    stations: Floats

    def stretches(self, lengths: Floats | float) -> Stretches:
        """Where the cars stand that are there."""
        there = self.lanelets >= 0
        fronts = self.stations + lengths
        return Stretches(self.lanelets[there], self.stations[there], fronts[there])


Table = TypeVar("Table", Stretches, CarStarts)


def joined(tables: Sequence[Table]) -> Table:
    """Put tables into one, in their order."""
    return type(tables[0])(*(np.concatenate(columns) for columns in zip(*tables, strict=True)))


def name_word(name: str) -> int:
    """Hash the name of a pool."""
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little") & WORD


def spread_cars(pool: Pool, tables: RoadTables, taken: Stretches, seed: int) -> CarStarts:
    """Spread the cars of a pool over its lanes, outside of conflict areas, never closer than 2 m.

    Parameters
    ----------
    pool : Pool
    tables : RoadTables
    taken : Stretches
        Where nothing may be put: what stands there, and `too_near`.
    seed : int

    Raises
    ------
    ModelError
        If a lane does not exist, or there is no room for so many.
    """
    lanelets = tables.lanelets
    addresses = {tuple(curve.id): lane for lane, curve in enumerate(lanelets.roadmap.lanes)}
    chosen = set(addresses.values()) if not pool.lanes else set()
    for address in pool.lanes:
        if address not in addresses:
            name = ".".join(map(str, address))
            raise ModelError(
                f"no lane '{name}' in the network", subject=f"traffic '{pool.name}'", location=pool.location
            )
        chosen.add(addresses[address])
    length = CLASSES[pool.vehicle_class].length
    slot = length + GAP
    rows = np.flatnonzero(np.isin(lanelets.lanes, sorted(chosen)))
    free = _free(rows, tables, length, taken)
    spans = free.fronts - free.rears
    room = (spans / slot).astype(np.int64) + 1
    total = int(room.sum())
    if total < pool.count:
        message = f"{pool.count} cars do not fit: there is room for {total}"
        raise ModelError(message, subject=f"traffic '{pool.name}'", location=pool.location, code="E836")
    measures = spans + slot
    if pool.is_random:
        counts = _drawn(pool, room, measures, seed)
    else:
        ends = np.cumsum(measures)
        marks = np.floor(ends / ends[-1] * pool.count + 1e-9).astype(np.int64)
        counts = _bounded(np.diff(marks, prepend=0), room)
    owner = np.repeat(np.arange(len(counts)), counts)
    number = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    several = np.maximum(counts, 1)
    wide = (spans / several >= slot) | (several == 1)
    shares = np.where(wide[owner], (number + 0.5) / several[owner], number / np.maximum(several - 1, 1)[owner])
    return CarStarts(free.lanelets[owner], free.rears[owner] + spans[owner] * shares)


def too_near(tables: RoadTables) -> Stretches:
    """Stretches of lanelets that lie on others which neither follow nor precede them: two cars would overlap there."""
    samples, owners = tables.columns["samples"], tables.surroundings.owners
    pairs = tables.tree.query_pairs(NARROW, output_type="ndarray")
    pairs = pairs[owners[pairs[:, 0]] != owners[pairs[:, 1]]]
    count, around = len(tables.graph), tables.surroundings
    sources = np.repeat(np.arange(count), np.diff(around.successor_offsets))
    follows = np.unique(sources * count + around.successors)
    one, other = owners[pairs].T
    together = np.isin(one * count + other, follows) | np.isin(other * count + one, follows)
    near = pairs[~together].ravel()
    return Stretches(owners[near], samples[near, ALONG], samples[near, ALONG])


def taken_by(others: Floats, tables: RoadTables) -> Stretches:
    """Find the stretches of lanelets on which other bodies stand."""
    samples, owners = tables.columns["samples"], tables.surroundings.owners
    found = dict[tuple[int, int], tuple[float, float]]()
    for number, (x, y, radius) in enumerate(others.tolist()):
        for hit in tables.tree.query_ball_point((x, y), radius + HALF_LANE):
            key, station = (number, int(owners[hit])), float(samples[hit, ALONG])
            rear, front = found.get(key, (station, station))
            found[key] = min(rear, station), max(front, station)
    spans = np.array(list(found.values()), float).reshape(-1, 2)
    return Stretches(np.array([lanelet for _, lanelet in found], np.int64), spans[:, 0], spans[:, 1])


def _drawn(pool: Pool, room: Ints, measures: Floats, seed: int) -> Ints:
    """Draw the number of cars of each span, by its length."""
    generator = np.random.Generator(np.random.Philox(key=[seed & WORD, name_word(pool.name)]))
    counts = generator.multinomial(pool.count, measures / measures.sum())
    return _bounded(np.asarray(counts, np.int64), room)


def _bounded(counts: Ints, room: Ints) -> Ints:
    """Move what does not fit on to spans that have room, in their order."""
    kept = np.minimum(counts, room)
    spare = room - kept
    before = np.cumsum(spare) - spare
    left = int(counts.sum() - kept.sum())
    return np.asarray(kept + np.clip(left - before, 0, spare), np.int64)


def _free(rows: Ints, tables: RoadTables, length: float, taken: Stretches) -> Stretches:
    """Where the rear bumper of a car may be on some lanelets at the start."""
    crossings, links = tables.crossings, tables.columns["links"]
    spans, places = crossings.spans, (crossings.entry_rows, crossings.entry_sides)
    begins, ends = spans[places[0], places[1]], spans[places[0], 2 + places[1]]
    fork_owners = np.repeat(np.arange(len(links) - 1), np.diff(crossings.fork_offsets))
    fork_ends, shifts = crossings.forks[:, 1], crossings.forks[:, 2]
    blocked = joined(
        [
            Stretches(rows, np.full(len(rows), -np.inf), np.full(len(rows), EDGE)),
            Stretches(crossings.entry_lanelets, begins - length - EDGE, ends + EDGE),
            Stretches(fork_owners, np.full(len(fork_ends), -length), fork_ends + np.maximum(shifts, 0.0) + EDGE),
            Stretches(taken.lanelets, taken.rears - length - GAP, taken.fronts + GAP),
        ]
    )
    chosen = np.zeros(len(links) - 1, bool)
    chosen[rows] = True
    kept = chosen[blocked.lanelets]
    order = np.flatnonzero(kept)[np.lexsort((blocked.fronts[kept], blocked.rears[kept], blocked.lanelets[kept]))]
    owners, rears, fronts = blocked.lanelets[order], blocked.rears[order], blocked.fronts[order]
    lasts = tables.columns["lanelets"][:, LENGTH] - length - EDGE
    reached = _highest_so_far(owners, fronts)
    limits = lasts[owners]
    limits[:-1] = np.where(owners[1:] == owners[:-1], np.minimum(rears[1:], limits[:-1]), limits[:-1])
    found = limits > reached
    return Stretches(owners[found], reached[found], limits[found])


def _highest_so_far(owners: Ints, values: Floats) -> Floats:
    """Largest value up to each row, of rows of the same owner; owners in increasing order."""
    order = np.argsort(values, kind="stable")
    ranks = np.empty(len(values), np.int64)
    ranks[order] = np.arange(len(values))
    highest = np.maximum.accumulate(owners * len(values) + ranks)
    return np.asarray(values[order][highest % max(len(values), 1)])
