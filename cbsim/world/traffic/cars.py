"""Cars of pools and reactive objects: all of their tables, and how they stand at the start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.errors import ModelError, did_you_mean
from cbsim.geometry import elementary as math
from cbsim.geometry.pose import heading_quaternion
from cbsim.road.lanelet_map import LaneletMap
from cbsim.road.lanelets.reach import nearest_reachable, reachable, with_changes
from cbsim.spec.road import PointId
from cbsim.spec.traffic import CLASSES, DEFAULT_DRIVER, Driver, LightProgram, Pool
from cbsim.world.traffic.destinations import Destinations, ReactiveObject, located
from cbsim.world.traffic.goals import goals_of
from cbsim.world.traffic.network import RoadTables, road_tables
from cbsim.world.traffic.pieces import points_on
from cbsim.world.traffic.sides import dead_ends
from cbsim.world.traffic.spread import GAP, CarStarts, joined, name_word, spread_cars, taken_by, too_near
from cbsim.world.traffic.tables import (
    ABSENT,
    CAR_LENGTH,
    DRIVING,
    FIRST_CAR,
    FRONT_AXLE,
    HEIGHT,
    LANELET,
    LAST_CAR,
    LENGTH,
    NEXT,
    NO_ZONES,
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
from cbsim.world.traffic.zones.build import plan_zones
from cbsim.world.traffic.zones.layout import Parked, ZoneLayout
from cbsim.world.traffic.zones.tables import IN_ZONE

__all__ = ["TrafficStart", "compile_traffic", "pool_size"]

HOUR = 3600.0  # [s]
REAR_SHARE, FRONT_SHARE = 0.2, 0.8  # shares of the length
BESIDE = 4.0  # [m] from the centreline of a lanelet at which a reactive object may be placed


class TrafficStart(NamedTuple):
    """What cars add to the first Snapshot.

    Attributes
    ----------
    travel, intent, parking : ndarray, shapes (cars, 11), (cars, 6) and (cars, 4)
        The last has no rows where no car may come to a zone.
    pool_next : ndarray, shape (pools,)
    positions, orientations : ndarray, shape (cars, 3) and (cars, 4)
        Of the bodies.
    """

    travel: Floats
    intent: Ints
    pool_next: Floats
    positions: Floats
    orientations: Floats
    parking: Ints


def pool_size(pool: Pool, tables: RoadTables, layout: ZoneLayout) -> int:
    """Count the rows of a pool: its cars, or for a flow as many as may be there at once."""
    if pool.count:
        return pool.count
    room = _room_ahead(pool, tables)
    for zone in {point.segment for point, _ in pool.destinations if layout.has(point)}:
        room += len(layout.plans[layout.zones[zone]].spots)
    return min(pool.at_most, room) if pool.at_most else room


def _room_ahead(pool: Pool, tables: RoadTables) -> int:
    """Cars that the lanes hold that a flow can reach."""
    rows = np.flatnonzero(reachable(with_changes(tables.graph, tables.changes), _origin(pool, tables)[0]))
    slot = CLASSES[pool.vehicle_class].length + GAP
    return max(1, int(math.fsum(tables.columns["lanelets"][rows, LENGTH].tolist()) / slot))


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
    plans = plan_zones(road.lanelets, _users(road, pools, objects))
    tables = road_tables(road, lights, [apron for plan in plans for apron in plan.aprons()])
    ways = Destinations(tables)
    layout = ZoneLayout(plans, tables, ways)
    sizes = [pool_size(pool, tables, layout) for pool in pools]
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
    standing, in_spots = _starts_of(objects, road, layout)
    goals, goal_rows, waiting = goals_of(objects, standing, tables, ways, layout)
    goal_rows = np.concatenate([goal_rows, np.full((cars - len(objects), 2), -1)])
    strongest = np.array([c.max_acceleration for c in classes] + [CLASSES["car"].max_acceleration])
    demand, thens = _demand(pools, drivers, sizes, len(objects), tables, ways, layout)
    mixes = np.where(pool_of < 0, len(pools), pool_of)
    places = np.array([place[:2] for place in ways.rows], float).reshape(-1, 2)
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
    zones = layout.tables_of([pool.pause for pool in pools], thens, ~dead_ends(tables.graph)) if plans else NO_ZONES
    traffic = Traffic(road_rows, tables.crossings, tables.surroundings, sides, demand, zones)
    parked = Parked([car for car, _ in in_spots], [spot for _, spot in in_spots])
    starts, used = [standing], set(parked.spots)
    taken = [taken_by(others, tables), starts[0].stretches(own[:, 1])]
    if any(pool.count for pool in pools):
        taken.append(too_near(tables))
    for pool, size, first in zip(pools, sizes, demand.pool_rows[:, FIRST_CAR].tolist(), strict=True):
        if pool.parked:
            parked.cars.extend(range(first, first + size))
            parked.spots.extend(layout.park(pool, used, others))
            starts.append(CarStarts(np.full(size, -1), np.zeros(size)))
        elif pool.count:
            starts.append(spread_cars(pool, tables, joined(taken), seed))
            taken.append(starts[-1].stretches(CLASSES[pool.vehicle_class].length))
        else:
            starts.append(CarStarts(np.full(size, -1), np.zeros(size)))
    start = _start(traffic, joined(starts), waiting, len(pools))
    return traffic, _put_parked(traffic, start, layout, parked) if plans else start


def _users(
    road: LaneletMap, pools: Sequence[Pool], objects: Sequence[ReactiveObject]
) -> list[tuple[int, float, float, float]]:
    """Zones that reactive cars may come to, each with width, length and distance of the rear axle of such a car."""
    lanes, found = road.roadmap.lane_of_row, list[tuple[int, float, float, float]]()

    def add(points: Sequence[PointId], width: float, length: float) -> None:
        for point in points:
            if point.lane > 0 and road.roadmap.has(point) and lanes[road.roadmap.row(point)] < 0:
                found.append((point.segment, width, length, REAR_SHARE * length))

    for pool in pools:
        width, length, *_ = CLASSES[pool.vehicle_class]
        add([point for point, _ in (*pool.destinations, *pool.thens)], width, length)
        found += [(zone, width, length, REAR_SHARE * length) for zone in pool.parked]
    for one in objects:
        if one.vehicle < 0:
            add([PointId(goal.segment, goal.lane, goal.waypoint or 0) for goal in one.goals], *map(float, one.size[:2]))
            zone = int(road.roadmap.zone_at([one.position[:2]])[0])
            if zone >= 0:
                number, length = road.roadmap.network.zones[zone].number, float(one.size[1])
                found.append((number, float(one.size[0]), length, REAR_SHARE * length))
    return found


def _put_parked(traffic: Traffic, start: TrafficStart, layout: ZoneLayout, parked: Parked) -> TrafficStart:
    """Put cars into their spots."""
    sizes, cars = traffic.road.car_sizes, parked.cars
    noses = sizes[:, CAR_LENGTH] - sizes[:, REAR_AXLE], 0.5 * (sizes[:, FRONT_AXLE] - sizes[:, REAR_AXLE])
    parking, stations, positions, orientations = layout.stand(parked, np.stack(noses, axis=1))
    start.travel[cars, STATION] = stations
    start.intent[cars, LANELET], start.intent[cars, NEXT], start.intent[cars, PHASE] = IN_ZONE, -1, PAUSING
    start.positions[cars, :2], start.orientations[cars] = positions, orientations
    start.positions[cars, 2] = sizes[cars, HEIGHT]
    return start._replace(parking=parking)


def _demand(
    pools: Sequence[Pool],
    drivers: Mapping[str, Driver],
    sizes: Sequence[int],
    first: int,
    tables: RoadTables,
    ways: Destinations,
    layout: ZoneLayout,
) -> tuple[Demand, list[list[tuple[int, float]]]]:
    """Lay out pools, and mixes of drivers: one for each pool, and the default one last, which objects have.

    Destinations after parking, with cumulated shares, are those of pools, too.
    """
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
            if layout.has(point):
                total += share
                targets.append((float(layout.destination(pool.name, point, lanelet, pool.location)), total))
                continue
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
    thens = list[list[tuple[int, float]]]()
    for pool in pools:
        shares = np.cumsum([share for _, share in pool.thens]).tolist()
        numbers = [ways.row(located(pool.name, point, tables, pool.location, leaving=False)) for point, _ in pool.thens]
        thens.append(list(zip(numbers, shares, strict=True)))
    demand = Demand(
        flows=np.array(flows, float).reshape(-1, 5),
        pool_rows=np.array(rows, np.int64).reshape(-1, 5),
        targets=np.array(targets, float).reshape(-1, 2),
        before_offsets=np.concatenate([[0], np.cumsum([len(each) for each in before])]).astype(np.int64),
        befores=np.array([lanelet for each in before for lanelet in each], np.int64),
        mixes=np.array(offsets, np.int64),
        mix_rows=np.array(mix_rows, float).reshape(-1, 2),
        drivers=np.array([_driver_row(one) for one in (*drivers.values(), DEFAULT_DRIVER)], float).reshape(-1, 19),
    )
    return demand, thens


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


def _starts_of(
    objects: Sequence[ReactiveObject], road: LaneletMap, layout: ZoneLayout
) -> tuple[CarStarts, list[tuple[int, int]]]:
    """Find the lanelets that objects stand on; the rear of each is on it too, if need be by moving ahead.

    Those that stand in spots have none; they are returned with their spots.
    """
    found = [road.at(one.position[:2], one.heading) for one in objects]
    rows, stations, parked = list[int](), list[float](), list[tuple[int, int]]()
    for number, (one, place) in enumerate(zip(objects, found, strict=True)):
        spot = layout.spot_at(one.position, one.heading) if one.vehicle < 0 else -1
        if spot >= 0:
            parked.append((number, spot))
            rows.append(-1)
            stations.append(0.0)
            continue
        if place is None or abs(place[2]) > BESIDE:
            message = "is reactive, but stands on no lane"
            raise ModelError(message, subject=one.name, location=one.location)
        rows.append(place[0].row)
        stations.append(max(place[1] - 0.5 * float(one.size[1]), 0.0))
    return CarStarts(np.array(rows, np.int64), np.array(stations, float)), parked


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
    return TrafficStart(travel, intent, np.full(pools, UNBEGUN), positions, orientations, np.zeros((0, 4), np.int64))
