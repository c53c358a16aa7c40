"""Cars of pools and reactive objects: all of their tables, and how they stand at the start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cbsim.errors import ModelError, did_you_mean
from cbsim.geometry import elementary as math
from cbsim.geometry.pose import heading_quaternion
from cbsim.road.lanelet_map import LaneletMap
from cbsim.road.lanelets.reach import nearest_reachable, reachable, with_changes
from cbsim.spec.traffic import CLASSES, DEFAULT_DRIVER, Driver, LightProgram, Pool
from cbsim.world.traffic.destinations import Destinations, ReactiveObject, goals_of, located
from cbsim.world.traffic.network import RoadTables, road_tables
from cbsim.world.traffic.pieces import points_on
from cbsim.world.traffic.spread import GAP, CarStarts, joined, name_word, spread_cars, taken_by, too_near
from cbsim.world.traffic.tables import (
    ABSENT,
    DRIVING,
    FIRST_CAR,
    FRONT_AXLE,
    HEIGHT,
    LANELET,
    LAST_CAR,
    LENGTH,
    NEXT,
    ORIGIN,
    PARKED_HEIGHT,
    PAUSING,
    PHASE,
    PIECE,
    REAR_AXLE,
    SERIAL,
    STATION,
    UNBEGUN,
    UNKNOWN,
    Demand,
    Road,
    Sides,
    Traffic,
)

__all__ = ["TrafficStart", "compile_traffic", "pool_size"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

HOUR = 3600.0  # [s]
REAR_SHARE, FRONT_SHARE = 0.2, 0.8  # shares of the length
BESIDE = 4.0  # [m] from the centreline of a lanelet at which a reactive object may be placed


@dataclass(frozen=True, slots=True)
class TrafficStart:
    """What cars add to the first Snapshot.

    Attributes
    ----------
    travel, intent : ndarray, shapes (cars, 11) and (cars, 6)
    pool_next : ndarray, shape (pools,)
    positions, orientations : ndarray, shape (cars, 3) and (cars, 4)
        Of the bodies.
    """

    travel: Floats
    intent: Ints
    pool_next: Floats
    positions: Floats
    orientations: Floats


def pool_size(pool: Pool, tables: RoadTables) -> int:
    """Count the rows of a pool: its cars, or for a flow as many as may be there at once."""
    if pool.count:
        return pool.count
    room = _room_ahead(pool, tables)
    return min(pool.at_most, room) if pool.at_most else room


def _room_ahead(pool: Pool, tables: RoadTables) -> int:
    """Cars that the lanes hold that a flow can reach."""
    rows = np.flatnonzero(reachable(with_changes(tables.graph, tables.changes), _origin(pool, tables)[0]))
    slot = CLASSES[pool.vehicle_class].length + GAP
    return max(1, int(sum(tables.columns["lanelets"][rows, LENGTH].tolist()) / slot))


def _origin(pool: Pool, tables: RoadTables) -> tuple[int, float]:
    assert pool.origin is not None
    return located(pool.name, pool.origin, tables, pool.location, leaving=True)


def compile_traffic(
    road: LaneletMap,
    pools: Sequence[Pool],
    drivers: Mapping[str, Driver],
    objects: Sequence[ReactiveObject],
    first_row: int,
    seed: int,
    others: Floats,
    lights: Sequence[LightProgram] = (),
) -> tuple[Traffic, TrafficStart]:
    """Lay out all tables of reactive traffic, and the state of its cars at the start.

    Parameters
    ----------
    road : LaneletMap
    pools : sequence of Pool
        Their rows begin at `first_row`, pool after pool.
    drivers : mapping
        Drivers by name.
    objects : sequence of ReactiveObject
        Objects of the scenario that are reactive; their cars come first.
    first_row : int
        Row of the body of the first car of a pool.
    seed : int
        For pools that are spread at random.
    others : ndarray, shape (k, 3)
        Place and radius of other bodies, which cars of pools are not put on [m].
    lights : sequence of LightProgram

    Raises
    ------
    ModelError
        If a place does not exist, or there is no room for so many.
    """
    tables = road_tables(road, lights)
    ways = Destinations(tables)
    sizes = [pool_size(pool, tables) for pool in pools]
    cars = len(objects) + sum(sizes)
    pool_of = np.concatenate([np.full(len(objects), -1), np.repeat(np.arange(len(pools)), sizes)]).astype(np.int64)
    classes = [CLASSES[pool.vehicle_class] for pool in pools]
    own = np.array([[*one.size] for one in objects], float).reshape(-1, 3)
    boxes = np.concatenate([own, np.repeat([c[:3] for c in classes], sizes, axis=0).reshape(-1, 3)])
    lengths = boxes[:, 1]
    bodies = np.append(
        np.array([one.row for one in objects], np.int64), np.arange(first_row, first_row + cars - len(objects))
    )
    vehicles = np.array([one.vehicle for one in objects] + [-1] * (cars - len(objects)), np.int64)
    standing = _starts_of(objects, road)
    goals, goal_rows, waiting = goals_of(objects, standing, tables, ways)
    goal_rows = np.concatenate([goal_rows, np.full((cars - len(objects), 2), -1)])
    strongest = np.array([c.max_acceleration for c in classes] + [CLASSES["car"].max_acceleration])
    demand = _demand(pools, drivers, sizes, len(objects), tables, ways)
    mixes = np.where(pool_of < 0, len(pools), pool_of)
    places = np.array(list(ways.rows), float).reshape(-1, 2)
    hops, changes = ways.tables_of_ways()
    road_rows = Road(
        **tables.columns,
        hops=hops,
        destinations=places,
        goals=goals,
        car_rows=np.column_stack([bodies, pool_of, mixes, goal_rows, vehicles]).astype(np.int64).reshape(-1, 6),
        car_sizes=np.column_stack(
            [lengths, REAR_SHARE * lengths, FRONT_SHARE * lengths, 0.5 * boxes[:, 2], strongest[pool_of]]
        ).reshape(-1, 5),
        words=np.array([name_word(pool.name) for pool in pools], np.int64),
    )
    sides = Sides(**tables.sides, changes=changes)
    traffic = Traffic(road_rows, tables.crossings, tables.surroundings, sides, demand)
    starts = [standing]
    taken = [taken_by(others, tables), starts[0].stretches(own[:, 1])]
    if any(pool.count for pool in pools):
        taken.append(too_near(tables))
    for pool, size in zip(pools, sizes, strict=True):
        if pool.count:
            starts.append(spread_cars(pool, tables, joined(taken), seed))
            taken.append(starts[-1].stretches(CLASSES[pool.vehicle_class].length))
        else:
            starts.append(CarStarts(np.full(size, -1), np.zeros(size)))
    return traffic, _start(traffic, joined(starts), waiting, len(pools))


def _demand(
    pools: Sequence[Pool],
    drivers: Mapping[str, Driver],
    sizes: Sequence[int],
    first: int,
    tables: RoadTables,
    ways: Destinations,
) -> Demand:
    """Lay out pools, and mixes of drivers: one for each pool, and the default one last, which objects have."""
    known = {name: number for number, name in enumerate(drivers)}
    offsets, mix_rows = [0], list[tuple[float, float]]()
    for pool in pools:
        total = 0.0
        for name, share in pool.drivers or (("", 1.0),):
            if name and name not in known:
                hint = did_you_mean(name, list(known))
                message = f"no driver '{name}'; there is {', '.join(known) or 'none'}" + (f" ({hint})" if hint else "")
                raise ModelError(message, subject=f"traffic '{pool.name}'", location=pool.location)
            total += share
            mix_rows.append((float(known[name] if name else len(known)), total))
        offsets.append(len(mix_rows))
    mix_rows.append((float(len(known)), 1.0))
    offsets.append(len(mix_rows))
    flows, rows, targets = list[tuple[float, ...]](), list[tuple[int, ...]](), list[tuple[float, float]]()
    for pool, size in zip(pools, sizes, strict=True):
        lanelet, station = _origin(pool, tables) if pool.origin is not None else (-1, 0.0)
        begin, total = len(targets), 0.0
        for point, share in pool.destinations:
            place = located(pool.name, point, tables, pool.location, leaving=False)
            if lanelet >= 0 and not ways.reaches(lanelet, place):
                found = reachable(with_changes(tables.graph, tables.changes), lanelet)
                near = nearest_reachable(tables.lanelets, found, point)
                text = f"no way leads from '{pool.origin}' to '{point}'; the nearest that can be reached is '{near}'"
                raise ModelError(text, subject=f"traffic '{pool.name}'", location=pool.location)
            total += share
            targets.append((float(ways.row(place)), total))
        flows.append((station, pool.flow / HOUR, pool.begin, pool.until, float(pool.is_even)))
        rows.append((first, first + size - 1, lanelet, begin, len(targets) - 1))
        first += size
    origins = {row[2] for row in rows}
    leading: dict[int, list[int]] = {origin: [] for origin in origins}
    for source, ways_on in enumerate(tables.graph if origins - {-1} else ()):
        for way in ways_on:
            if way in leading:
                leading[way].append(source)
    before = [leading[row[2]] for row in rows]
    return Demand(
        flows=np.array(flows, float).reshape(-1, 5),
        pool_rows=np.array(rows, np.int64).reshape(-1, 5),
        targets=np.array(targets, float).reshape(-1, 2),
        before_offsets=np.concatenate([[0], np.cumsum([len(each) for each in before])]).astype(np.int64),
        befores=np.array([lanelet for each in before for lanelet in each], np.int64),
        mixes=np.array(offsets, np.int64),
        mix_rows=np.array(mix_rows, float).reshape(-1, 2),
        drivers=np.array([_driver_row(one) for one in (*drivers.values(), DEFAULT_DRIVER)], float).reshape(-1, 19),
    )


def _driver_row(driver: Driver) -> list[float]:
    """Columns of `Demand.drivers`: model, six means, six deviations, mistakes, mean and deviation of critical gaps."""
    speed = driver.speed
    values = (
        driver.desired_speed,
        speed,
        driver.time_headway,
        driver.minimum_gap,
        driver.max_acceleration,
        driver.comfortable_deceleration,
    )
    means = [0.0 if value is None else value.mean for value in values]
    deviations = [0.0 if value is None else value.deviation for value in values]
    mistakes = [driver.runs_stops, driver.ignores_right_of_way, driver.brakes_hard, driver.tailgates]
    return [float(int(driver.model)), *means, *deviations, *mistakes, *driver.critical_gap]


def _starts_of(objects: Sequence[ReactiveObject], road: LaneletMap) -> CarStarts:
    """Find the lanelets that objects stand on; the rear of each is on it too, if need be by moving ahead."""
    found = [road.at(one.position[:2], one.heading) for one in objects]
    rows, stations = list[int](), list[float]()
    for one, place in zip(objects, found, strict=True):
        if place is None or abs(place[2]) > BESIDE:
            message = "is reactive, but stands on no lane"
            raise ModelError(message, subject=one.name, location=one.location)
        rows.append(place[0].row)
        stations.append(max(place[1] - 0.5 * float(one.size[1]), 0.0))
    return CarStarts(np.array(rows, np.int64), np.array(stations, float))


def _start(traffic: Traffic, starts: CarStarts, waiting: Sequence[int], pools: int) -> TrafficStart:
    road, cars = traffic.road, len(starts.lanelets)
    travel, intent = np.zeros((cars, 11)), np.zeros((cars, 6), np.int64)
    present = starts.lanelets >= 0
    travel[:, STATION] = starts.stations
    intent[:, LANELET], intent[:, NEXT] = np.maximum(starts.lanelets, 0), UNKNOWN
    intent[:, PHASE] = np.where(present, DRIVING, ABSENT)
    intent[waiting, PHASE] = PAUSING
    intent[:, SERIAL] = np.arange(cars)
    positions, orientations = np.zeros((cars, 3)), np.tile([1.0, 0.0, 0.0, 0.0], (cars, 1))
    positions[:, 2] = np.where(present, road.car_sizes[:, HEIGHT], PARKED_HEIGHT)
    for first, last, lanelet in traffic.demand.pool_rows[:, [FIRST_CAR, LAST_CAR, ORIGIN]].tolist():
        if lanelet >= 0:
            positions[first : last + 1, :2] = road.pieces[road.links[lanelet, PIECE], :2]
    lanelets, stations = starts.lanelets[present], starts.stations[present]
    rear, front = (
        points_on(road, lanelets, stations + road.car_sizes[present, axle]) for axle in (REAR_AXLE, FRONT_AXLE)
    )
    positions[present, :2] = 0.5 * (rear + front)
    along = front - rear
    orientations[present] = heading_quaternion(math.atan2(-along[:, 0], along[:, 1]))
    return TrafficStart(travel, intent, np.full(pools, UNBEGUN), positions, orientations)
