"""Objects of a recording: single ones, and the cars of pools, which are described when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar, overload

from cbsim.errors import UsageError, did_you_mean
from cbsim.world.traffic.tables import PARKED_HEIGHT

__all__ = ["MOST_CARS", "Objects", "PoolEntry", "PooledRows", "unknown_name"]

MOST_CARS = 4_000_000  # of all pools of a header together
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PoolEntry:
    """A pool of cars.

    Attributes
    ----------
    name : str
        Its cars are ``west 1``, ``west 2`` …
    first, count : int
        Row of the first, and number of rows.
    size : tuple of float
        Width, length and height of each [m].
    is_flow : bool
        Whether cars appear and leave, so that a row holds one car after another.
    place : tuple of float
        Where absent cars are drawn on the map, if anything asks [m].
    """

    name: str
    first: int
    count: int
    size: tuple[float, float, float]
    is_flow: bool = False
    place: tuple[float, float] = (0.0, 0.0)

    @property
    def stop(self) -> int:
        """Row behind the last."""
        return self.first + self.count

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "name": self.name,
            "first": self.first,
            "count": self.count,
            "size": list(self.size),
            "flow": self.is_flow,
            "place": list(self.place),
        }

    @classmethod
    def of(cls, data: dict[str, Any]) -> PoolEntry:
        """Read plain data; raises ValueError, TypeError or KeyError on anything else than that of `to_dict`."""
        size, place = data["size"], data["place"]
        if not (_floats(size, 3) and _floats(place, 2)):
            raise ValueError(f"the size of a pool is {size!r:.40}, its place {place!r:.40}")
        name, first, count, flow = data["name"], data["first"], data["count"], data["flow"]
        numbers = all(type(value) is int and 0 <= value <= MOST_CARS for value in (first, count))
        if not (isinstance(name, str) and numbers and type(flow) is bool):
            raise ValueError(f"a pool is {data!r:.40}")
        return cls(name, first, count, (size[0], size[1], size[2]), flow, (place[0], place[1]))

    def item(self, row: int) -> dict[str, Any]:
        """Describe a car as a header describes an object; where it starts is said by its motion only."""
        return {
            "name": f"{self.name} {row - self.first + 1}",
            "type": "dynamic",
            "shape": "box",
            "size": list(self.size),
            "position": [*self.place, PARKED_HEIGHT],
            "orientation": [1.0, 0.0, 0.0, 0.0],
        }


def _floats(values: object, count: int) -> bool:
    return isinstance(values, list) and len(values) == count and all(isinstance(value, float) for value in values)


class PooledRows(Sequence[T]):
    """A sequence by rows: entries of single objects, and those of pools, which a function makes when they are read.

    Parameters
    ----------
    single : sequence
        Entries of all rows but those of pools.
    pools : sequence of PoolEntry
        Their rows are consecutive.
    make : callable
        Makes the entry of a car from its pool and row.
    """

    def __init__(self, single: Sequence[T], pools: Sequence[PoolEntry], make: Callable[[PoolEntry, int], T]) -> None:
        self.single, self.pools = tuple(single), tuple(pools)
        self._first = self.pools[0].first if self.pools else len(self.single)
        self._cars = sum(pool.count for pool in self.pools)
        self._make = make

    def __len__(self) -> int:
        return len(self.single) + self._cars

    @overload
    def __getitem__(self, row: int) -> T: ...
    @overload
    def __getitem__(self, row: slice) -> list[T]: ...
    def __getitem__(self, row: int | slice) -> T | list[T]:
        if isinstance(row, slice):
            return [self[k] for k in range(*row.indices(len(self)))]
        k = range(len(self))[row]
        if k < self._first:
            return self.single[k]
        if k >= self._first + self._cars:
            return self.single[k - self._cars]
        return self._make(self.pool_of(k), k)

    def __iter__(self) -> Iterator[T]:
        yield from self.single[: self._first]
        for pool in self.pools:
            yield from (self._make(pool, row) for row in range(pool.first, pool.stop))
        yield from self.single[self._first :]

    def pool_of(self, row: int) -> PoolEntry:
        """Pool that a row belongs to; raises StopIteration for other rows."""
        return next(pool for pool in self.pools if pool.first <= row < pool.stop)

    def in_pool(self, row: int) -> bool:
        """Whether a row is that of a car of a pool."""
        return self._first <= row < self._first + self._cars

    def row_of(self, k: int) -> int:
        """Row of the single entry number `k`."""
        return k if k < self._first else k + self._cars

    def __eq__(self, other: object) -> bool:
        if isinstance(other, PooledRows):
            return self.single == other.single and self.pools == other.pools
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.single)} single, {len(self.pools)} pools)"


class Objects(PooledRows[dict[str, Any]]):
    """Objects of a header, in the order of rows.

    Parameters
    ----------
    single : sequence of dict
    pools : sequence of PoolEntry, optional
    """

    def __init__(self, single: Sequence[dict[str, Any]], pools: Sequence[PoolEntry] = ()) -> None:
        super().__init__(single, pools, PoolEntry.item)

    @cached_property
    def names(self) -> PooledRows[str]:
        """Names of all objects; those of cars are made when they are read."""
        return PooledRows([item["name"] for item in self.single], self.pools, _name)

    @cached_property
    def _rows(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for k, item in enumerate(self.single):
            found.setdefault(item["name"], self.row_of(k))
        return found

    def row(self, name: str) -> int | None:
        """Row of the object, or the car of a pool, of that name; None if there is none."""
        if name in self._rows:
            return self._rows[name]
        found = self.numbered(name)
        return None if found is None or found[1] > found[0].count else found[0].first + found[1] - 1

    def numbered(self, name: str) -> tuple[PoolEntry, int] | None:
        """Pool and number that a name such as ``west 17`` stands for, whatever the number; None for other names."""
        stem, _, number = name.rpartition(" ")
        if not (number.isascii() and number.isdecimal() and len(number) < 19 and number[0] != "0"):
            return None
        pool = next((pool for pool in self.pools if pool.name == stem), None)
        return None if pool is None else (pool, int(number))

    @property
    def examples(self) -> list[str]:
        """Names for messages: those of single objects, and the first and the last car of each pool."""
        found = list(self._rows)
        for pool in self.pools:
            found += [f"{pool.name} 1", f"{pool.name} {pool.count}"]
        return found


def _name(pool: PoolEntry, row: int) -> str:
    return f"{pool.name} {row - pool.first + 1}"


def unknown_name(what: str, name: str, known: list[str]) -> UsageError:
    """Return an error that says what there is."""
    hint = did_you_mean(name, known)
    listed = ", ".join(known) or "none"
    return UsageError(f"no {what} '{name}' in this recording; there is {listed}" + (f" ({hint})" if hint else ""))
