"""Layout of zones: which gate a car takes, destinations that are spots, cars that stand parked, and `Zones`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cbsim.arrays import Bools, Floats, Ints
from cbsim.errors import Location, ModelError
from cbsim.geometry import elementary as math
from cbsim.geometry.pose import heading_quaternion
from cbsim.spec.road import PointId
from cbsim.spec.traffic import Pool
from cbsim.world.traffic.destinations import Destinations
from cbsim.world.traffic.network import RoadTables
from cbsim.world.traffic.zones.build import CELL, ZonePlan, covered, extended, squares
from cbsim.world.traffic.zones.laying import Way
from cbsim.world.traffic.zones.tables import IN_ZONE, Zones

__all__ = ["Parked", "ZoneLayout"]

STANDS = 0.5  # [m] of a way that only stands for a place in a spot
SLOW = 3.0  # [m/s] at which ways through zones are compared with those on roads
NEAR, ALIGNED = 1.0, 0.866  # [m] beside and beyond a spot at which an object still stands in it; cosine of 30°
EDGE = 4.0  # [m] of the grid around ways


class Parked(NamedTuple):
    """Cars that stand in spots at the start: their rows, and the spots."""

    cars: list[int]
    spots: list[int]


class _Laid(NamedTuple):
    """A way among all of them: its zone, spot, apron of its end or -1, samples, allowed speeds, and whether it is one.

    A way that is none stands for the place in a spot.
    """

    zone: int
    spot: int
    apron: int
    way: Way
    squares: Floats
    drives: bool


class ZoneLayout:
    """Zones among the tables of the road.

    Parameters
    ----------
    plans : sequence of ZonePlan
    tables : RoadTables
        With the aprons of the plans as its last rows.
    ways : Destinations
    """

    def __init__(self, plans: Sequence[ZonePlan], tables: RoadTables, ways: Destinations) -> None:
        self.plans, self.tables, self.ways = plans, tables, ways
        self.zones = {plan.number: row for row, plan in enumerate(plans)}
        self.first_spot = np.cumsum([0, *(len(plan.spots) for plan in plans)]).tolist()
        self.first_gate = np.cumsum([0, *(len(plan.entries) for plan in plans)]).tolist()
        row = len(tables.graph) - sum(len(plan.entries) + len(plan.exits) for plan in plans)
        self.entry_rows, self.exit_rows = list[list[int]](), list[list[int]]()
        for plan in plans:
            self.entry_rows.append(list(range(row, row + len(plan.entries))))
            row += len(plan.entries)
            self.exit_rows.append(list(range(row, row + len(plan.exits))))
            row += len(plan.exits)
        self.goals: dict[int, tuple[int, int]] = {}  # gate and preferred spot of destinations

    def has(self, point: PointId) -> bool:
        """Whether a point is that of a spot of these zones."""
        return point.segment in self.zones and point.lane in self.plans[self.zones[point.segment]].spots

    def destination(self, name: str, point: PointId, start: int, at: Location) -> int:
        """Give a spot that one drives to from a lanelet its row among the destinations."""
        zone = self.zones[point.segment]
        plan, rows = self.plans[zone], self.entry_rows[zone]
        spot = plan.spots.index(point.lane)
        times = [float(self.ways.times_to(row)[start]) for row in rows]
        for gate in sorted(range(len(rows)), key=lambda each: times[each]):
            if math.isfinite(times[gate]) and any(way is not None for way in plan.ways_in(gate)):
                length = plan.apron_length
                number = self.ways.row((rows[gate], length), self.first_spot[zone] + spot)
                self.goals[number] = self.first_gate[zone] + gate, self.first_spot[zone] + spot
                return number
        car = f"a car of {plan.shape.width:.2f} × {plan.shape.length:.2f} m"
        text = f"no way for {car} leads from where it comes from to a spot of zone {plan.number}"
        raise ModelError(text, subject=f"traffic '{name}'", location=at)

    def spot_at(self, position: Floats, heading: float) -> int:
        """Spot in which an object stands, -1 for none."""
        for zone, plan in enumerate(self.plans):
            for number, (x, y, along) in enumerate(plan.parked):
                dx, dy = position[0] - x, position[1] - y
                ahead, aside = dy * math.cos(along) - dx * math.sin(along), dx * math.cos(along) + dy * math.sin(along)
                inside = -plan.shape.tail < ahead < plan.shape.nose + NEAR and abs(aside) < NEAR
                if inside and math.cos(heading - along) > ALIGNED:
                    return int(self.first_spot[zone]) + number
        return -1

    def first_exit(self, position: Floats) -> int:
        """Apron of the first way out of the zone that an object stands in, of none where there is none."""
        zone = int(self.tables.lanelets.roadmap.zone_at([position[:2]])[0])
        number = self.tables.lanelets.roadmap.network.zones[zone].number
        rows = self.exit_rows[self.zones[number]] if number in self.zones else []
        return rows[0] if rows else -1

    def park(self, pool: Pool, taken: set[int], others: Floats) -> list[int]:
        """Spots in which the cars of a pool stand at the start."""
        free = list[int]()
        for number in pool.parked:
            if number not in self.zones:
                text = f"there is no zone {number} with parking spots in the network"
                raise ModelError(text, subject=f"traffic '{pool.name}'", location=pool.location)
            zone = self.zones[number]
            plan = self.plans[zone]
            for spot, (x, y, heading) in enumerate(plan.parked):
                middle = 0.5 * (plan.shape.nose - plan.shape.tail)
                place = np.array([x - middle * math.sin(heading), y + middle * math.cos(heading)])
                away = others[:, :2] - place
                near = away[:, 0] * away[:, 0] + away[:, 1] * away[:, 1] < (others[:, 2] + 1.0) * (others[:, 2] + 1.0)
                row = int(self.first_spot[zone]) + spot
                if row not in taken and not near.any() and self._can_leave(plan, spot):
                    free.append(row)
        if len(free) < pool.count:
            text = f"{pool.count} cars do not fit: there is room for {len(free)}"
            raise ModelError(text, subject=f"traffic '{pool.name}'", location=pool.location, code="E836")
        taken.update(free[: pool.count])
        return free[: pool.count]

    def _can_leave(self, plan: ZonePlan, spot: int) -> bool:
        """Whether a way leads out of a spot, or none out of the whole zone."""
        laid = [plan.ways_out(gate)[spot] for gate in range(len(plan.exits))]
        return not laid or any(way is not None for way in laid)

    def tables_of(self, pauses: Sequence[float], thens: Sequence[Sequence[tuple[int, float]]], wander: Bools) -> Zones:
        """Lay out `Zones`.

        Parameters
        ----------
        pauses : sequence of float
            Of pools [s].
        thens : sequence of sequence of (int, float)
            Destinations after parking, with cumulated shares, of pools.
        wander : ndarray of bool, shape (lanelets,)
            From which one can go on for ever.
        """
        spots, places = self.first_spot[-1], list(self.ways.rows)
        laid = self._standing()
        ins = np.full((self.first_gate[-1], spots), -1, np.int64)
        for gate in sorted({gate for gate, _ in self.goals.values()}):
            zone = int(np.searchsorted(self.first_gate, gate, side="right")) - 1
            plan = self.plans[zone]
            own = gate - self.first_gate[zone]
            for spot, way in enumerate(plan.ways_in(own)):
                if way is not None:
                    ins[gate, self.first_spot[zone] + spot] = len(laid)
                    laid.append(self._laid(zone, spot, -1, way, plan.entries[own].mouth))
        outs = np.full((len(places) + 1, spots), -1, np.int64)
        costs = np.full(outs.shape, np.inf)
        times = [self.ways.times_to(place[0]) for place in places]
        for zone, plan in enumerate(self.plans):
            for gate, row in enumerate(self.exit_rows[zone]):
                onward = np.array([each[row] for each in times] + [0.0 if wander[row] else 1e6])
                for spot, way in enumerate(plan.ways_out(gate)):
                    if way is None:
                        continue
                    column = self.first_spot[zone] + spot
                    better = onward + way.stations[-1] / SLOW < costs[:, column]
                    costs[better, column] = onward[better] + way.stations[-1] / SLOW
                    outs[better, column] = len(laid)
                    laid.append(self._laid(zone, spot, row, way, plan.exits[gate].mouth))
        rows = [len(each) for each in thens]
        ends = np.cumsum([0, *rows])
        goals = [self.goals.get(number, (-1, -1)) for number in range(len(places))]
        gates = [
            (row, gate.mouth)
            for plan, own in zip(self.plans, self.entry_rows, strict=True)
            for row, gate in zip(own, plan.entries, strict=True)
        ]
        return Zones(
            **self._columns(laid),
            gates=np.array(gates, np.int64).reshape(-1, 2),
            ins=ins.reshape(-1),
            goals=np.array(goals, np.int64).reshape(-1, 2),
            outs=outs.reshape(-1),
            pauses=np.array(pauses, float),
            pool_rows=np.stack([ends[:-1], ends[1:] - 1], axis=1).astype(np.int64),
            thens=np.array([pair for each in thens for pair in each], float).reshape(-1, 2),
        )

    def _standing(self) -> list[_Laid]:
        """Places in all spots as ways, in the order of spots."""
        found = []
        for zone, plan in enumerate(self.plans):
            for spot, (x, y, heading) in enumerate(plan.parked):
                before = (x + STANDS * math.sin(heading), y - STANDS * math.cos(heading), heading)
                poses, stations = np.array([before, (x, y, heading)]), np.array([0.0, STANDS])
                way = extended(Way(poses, stations, np.zeros(2), 0.0), self._deeper(plan), is_in=True)
                found.append(_Laid(zone, self.first_spot[zone] + spot, -1, way, np.zeros(len(way.stations)), False))
        return found

    def _deeper(self, plan: ZonePlan) -> float:
        return plan.shape.nose - plan.least_nose

    def _laid(self, zone: int, spot: int, apron: int, way: Way, mouth: int) -> _Laid:
        plan = self.plans[zone]
        whole = extended(way, self._deeper(plan), is_in=apron < 0)
        limit = float(self.tables.lanelets.limits[mouth])
        return _Laid(zone, self.first_spot[zone] + spot, apron, whole, squares(whole, limit), True)

    def _columns(self, laid: list[_Laid]) -> dict[str, Any]:
        """Columns of ways, spots and grids."""
        first, frames, areas = 0, list[tuple[float, ...]](), list[tuple[int, ...]]()
        for zone, plan in enumerate(self.plans):
            places = np.concatenate([each.way.poses[:, :2] for each in laid if each.zone == zone])
            edge = EDGE + 2.0 * plan.shape.length
            low, high = places.min(axis=0) - edge, places.max(axis=0) + edge
            size = np.ceil((high - low) / CELL).astype(int) + 1
            frames.append((*low.tolist(), CELL, plan.least_nose, plan.shape.tail, plan.apron_length))
            areas.append((self.first_spot[zone], self.first_spot[zone + 1], int(size[0]), int(size[1]), first))
            first += int(size[0] * size[1])
        spot_cells, spots = list[Ints](), list[tuple[int, int, int]]()
        for each in laid[: self.first_spot[-1]]:
            poses, stations = each.way.poses[1:], each.way.stations[1:]
            cells, _ = self._covered(each, poses, stations, frames, areas)
            begin = spots[-1][2] if spots else 0
            spots.append((each.zone, begin, begin + len(cells)))
            spot_cells.append(np.sort(cells))
        rows, lengths, samples = list[tuple[int, ...]](), list[tuple[float, float]](), list[Floats]()
        cells_of, spans_of, at, c = list[Ints](), list[Floats](), 0, 0
        standing = np.concatenate(spot_cells) if spot_cells else np.zeros(0, np.int64)
        owners = np.repeat(np.arange(len(spots)), [len(each) for each in spot_cells])
        for each in laid:
            way = each.way
            samples.append(np.column_stack([way.poses, way.stations, each.squares]))
            cells, spans = np.zeros(0, np.int64), np.zeros((0, 2))
            if each.drives:
                cells, spans = self._covered(each, *self._with_ends(each), frames, areas)
                kept = ~np.isin(cells, standing[owners != each.spot])  # clear of cars in other spots: `laying`
                cells, spans = cells[kept], spans[kept]
            rows.append((each.spot, at, at + len(way.poses), c, c + len(cells), each.apron))
            lengths.append((float(way.stations[-1]), way.back))
            cells_of.append(cells)
            spans_of.append(spans)
            at, c = at + len(way.poses), c + len(cells)
        return {
            "ways": np.array(rows, np.int64).reshape(-1, 6),
            "lengths": np.array(lengths, float).reshape(-1, 2),
            "samples": np.concatenate([np.zeros((0, 5)), *samples]),
            "cells": np.concatenate([np.zeros(0, np.int64), *cells_of]),
            "spans": np.concatenate([np.zeros((0, 2)), *spans_of]),
            "spots": np.array(spots, np.int64).reshape(-1, 3),
            "spot_cells": standing,
            "areas": np.array(areas, np.int64).reshape(-1, 5),
            "frames": np.array(frames, float).reshape(-1, 6),
        }

    def _covered(
        self,
        each: _Laid,
        poses: Floats,
        stations: Floats,
        frames: list[tuple[float, ...]],
        areas: list[tuple[int, ...]],
    ) -> tuple[Ints, Floats]:
        """Cells that a car covers at poses, numbered among those of all zones."""
        frame, area = frames[each.zone], areas[each.zone]
        shape = self.plans[each.zone].shape
        cells, spans = covered(poses, stations, shape, (frame[0], frame[1], frame[2], area[2]))
        return cells + area[4], spans

    def _with_ends(self, each: _Laid) -> tuple[Floats, Floats]:
        """Poses of a way and of what leads to it: the mouth before, or the apron behind it."""
        way, plan = each.way, self.plans[each.zone]
        more = np.arange(1, int(math.ceil(plan.apron_length / 0.25)) + 1) * 0.25
        if each.apron < 0:
            x, y, heading = way.poses[0].tolist()
            before = np.stack(
                [x + more * math.sin(heading), y - more * math.cos(heading), np.full(len(more), heading)], 1
            )
            return np.concatenate([before[::-1], way.poses]), np.concatenate([-more[::-1], way.stations])
        x, y, heading = way.poses[-1].tolist()
        behind = np.stack([x - more * math.sin(heading), y + more * math.cos(heading), np.full(len(more), heading)], 1)
        return np.concatenate([way.poses, behind]), np.concatenate([way.stations, way.stations[-1] + more])

    def stand(self, parked: Parked, noses: Floats) -> tuple[Ints, Floats, Floats, Floats]:
        """Rows of `State.parking` of all cars; stations, positions and orientations of those that are parked.

        Parameters
        ----------
        parked : Parked
        noses : ndarray, shape (cars, 2)
            Of all cars: distance from the rear axle to the front bumper, and to the middle [m].
        """
        state = np.zeros((len(noses), 4), np.int64)
        state[:, 0], state[:, 2] = IN_ZONE, -1
        stations, positions = np.zeros(len(parked.cars)), np.zeros((len(parked.cars), 2))
        headings = np.zeros(len(parked.cars))
        for n, (car, spot) in enumerate(zip(parked.cars, parked.spots, strict=True)):
            zone = int(np.searchsorted(self.first_spot, spot, side="right")) - 1
            plan = self.plans[zone]
            x, y, heading = plan.parked[spot - self.first_spot[zone]]
            deeper = plan.shape.nose - float(noses[car, 0])
            stations[n] = STANDS + deeper
            along = deeper + float(noses[car, 1])
            positions[n] = x - along * math.sin(heading), y + along * math.cos(heading)
            headings[n] = heading
            state[car] = spot, 0, -1, 1
        return state, stations, positions, heading_quaternion(headings).reshape(-1, 4)
