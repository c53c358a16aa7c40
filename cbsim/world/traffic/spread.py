"""Where cars of a pool stand at the start: spread over lanes, outside of conflict areas and of what stands there."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from cbsim.errors import ModelError
from cbsim.spec.traffic import CLASSES, Pool
from cbsim.world.traffic.network import RoadTables
from cbsim.world.traffic.tables import ALONG, ENTRY, FORK, LENGTH

__all__ = ["CarStart", "Taken", "name_word", "spread_cars", "taken_by"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

GAP = 2.0  # [m] between cars that are spread at the start
EDGE = 1.0  # [m] from the ends of a lanelet within which none is put
HALF_LANE = 2.0  # [m] from the centreline within which others are in the way of cars that are put there
NARROW = 2.3  # [m] between centrelines of lanelets on which cars overlap
WORD = (1 << 63) - 1


class Taken(NamedTuple):
    """Where something stands at the start: lanelet, and stations of its rear and front [m]."""

    lanelet: int
    rear: float
    front: float


class CarStart(NamedTuple):
    """Where a car is put at the start: lanelet and station of its rear bumper; -1 for one that is absent."""

    lanelet: int
    station: float


def name_word(name: str) -> int:
    """Hash the name of a pool."""
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little") & WORD


def spread_cars(pool: Pool, tables: RoadTables, taken: Sequence[Taken], seed: int) -> list[CarStart]:
    """Spread the cars of a pool over its lanes, outside of conflict areas, never closer than 2 m."""
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
    taken = [*taken, *_too_near(tables)]
    spans: list[tuple[int, float, float]] = []
    for row in np.flatnonzero(np.isin(lanelets.lanes, sorted(chosen))).tolist():
        spans += [(row, a, b) for a, b in _free(row, tables, length, taken)]
    room = np.array([int((b - a) / slot) + 1 for _, a, b in spans], np.int64)
    total = int(room.sum())
    if total < pool.count:
        message = f"{pool.count} cars do not fit: there is room for {total}"
        raise ModelError(message, subject=f"traffic '{pool.name}'", location=pool.location)
    measures = np.array([b - a + slot for _, a, b in spans], float)
    if pool.is_random:
        counts = _drawn(pool, room, measures, seed)
    else:
        ends = np.cumsum(measures)
        marks = np.floor(ends / ends[-1] * pool.count + 1e-9).astype(np.int64)
        counts = _bounded(np.diff(marks, prepend=0), room)
    starts = []
    for (row, a, b), count in zip(spans, counts.tolist(), strict=True):
        if count:
            wide = (b - a) / count >= slot
            shares = (np.arange(count) + 0.5) / count if wide or count == 1 else np.arange(count) / (count - 1)
            starts += [CarStart(row, a + (b - a) * share) for share in shares.tolist()]
    return starts


def _too_near(tables: RoadTables) -> list[Taken]:
    """Stretches of lanelets that lie on others which neither follow nor precede them: two cars would overlap there."""
    samples, owners, graph = tables.columns["samples"], tables.surroundings.owners, tables.graph
    tree: Any = KDTree(samples[:, :2])  # type: ignore[no-untyped-call]
    found = list[Taken]()
    for one, other in tree.query_pairs(NARROW, output_type="ndarray").tolist():
        pair = int(owners[one]), int(owners[other])
        if pair[0] == pair[1] or pair[1] in graph[pair[0]] or pair[0] in graph[pair[1]]:
            continue
        found += [Taken(pair[k], float(samples[s, ALONG]), float(samples[s, ALONG])) for k, s in ((0, one), (1, other))]
    return found


def taken_by(others: Floats, tables: RoadTables) -> list[Taken]:
    """Find the stretches of lanelets on which other bodies stand."""
    samples, owners = tables.columns["samples"], tables.surroundings.owners
    tree: Any = KDTree(samples[:, :2])  # type: ignore[no-untyped-call]
    found = dict[tuple[int, int], Taken]()
    for number, (x, y, radius) in enumerate(others.tolist()):
        for hit in tree.query_ball_point((x, y), radius + HALF_LANE):
            key, station = (number, int(owners[hit])), float(samples[hit, ALONG])
            old = found.get(key, Taken(key[1], station, station))
            found[key] = Taken(key[1], min(old.rear, station), max(old.front, station))
    return list(found.values())


def _drawn(pool: Pool, room: Ints, measures: Floats, seed: int) -> Ints:
    """Draw the number of cars of each span, by its length."""
    generator = np.random.Generator(np.random.Philox(key=[seed & WORD, name_word(pool.name)]))
    counts = generator.multinomial(pool.count, measures / measures.sum())
    return _bounded(np.asarray(counts, np.int64), room)


def _bounded(counts: Ints, room: Ints) -> Ints:
    """Move what does not fit on to spans that have room, in their order."""
    kept = np.minimum(counts, room)
    left = int(counts.sum() - kept.sum())
    for k in range(len(kept)):
        more = min(left, int(room[k] - kept[k]))
        kept[k] += more
        left -= more
    return kept


def _free(row: int, tables: RoadTables, length: float, taken: Sequence[Taken]) -> list[tuple[float, float]]:
    """Where the rear bumper of a car may be on a lanelet at the start, from and to [m]."""
    crossings, lanelets, links = tables.crossings, tables.columns["lanelets"], tables.columns["links"]
    entries = range(int(links[row, ENTRY]), int(links[row + 1, ENTRY]))
    places = ((crossings.entry_rows[e], crossings.entry_sides[e]) for e in entries)
    blocked = [(crossings.spans[r, s] - length - EDGE, crossings.spans[r, 2 + s] + EDGE) for r, s in places]
    blocked += [
        (-length, end + max(shift, 0.0) + EDGE)
        for _, end, shift in crossings.forks[links[row, FORK] : links[row + 1, FORK]]
    ]
    blocked += [(one.rear - length - GAP, one.front + GAP) for one in taken if one.lanelet == row]
    at, end, found = EDGE, float(lanelets[row, LENGTH]) - length - EDGE, []
    for a, b in sorted(blocked):
        if a > at:
            found.append((at, min(a, end)))
        at = max(at, b)
    found.append((at, end))
    return [(a, b) for a, b in found if b > a]
