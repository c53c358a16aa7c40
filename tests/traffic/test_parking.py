"""Reactive cars in zones: they park, back out, wait for each other, and touch nobody."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Iterator

import numpy as np
import pytest
import shapely

import cbsim
from cbsim.errors import ModelError
from cbsim.formats import read_file
from cbsim.road.roadmap import RoadMap
from cbsim.simulation.advance import advance
from cbsim.spec.road import PointId, RoadNetwork
from cbsim.spec.traffic import Pool
from cbsim.world.snapshot import Snapshot
from cbsim.world.traffic.tables import ABSENT, BODY, LANELET, PAUSING, PHASE, WAITING
from cbsim.world.traffic.zones.tables import IN_ZONE, SINCE, SPOT, TICKET, WAY
from cbsim.world.world import World
from tests.common import shared
from tests.road.site import Site
from tests.traffic.sites import world

PATIENCE = 120.0  # [s]
FINAL = ("rndf", "cornell", "UCE-Final_Event__uce_rndf_1.5.rdf")
SAMPLE = ("rndf", "navguide", "Sample_RNDF.txt")
NQE = ("rndf", "cornell", "NQE-General_Files__nqe_rndf.rdf")


def car_park(aisles: int = 3, each: int = 10, *, has_exit: bool = True, depth: float = 4.6) -> RoadNetwork:
    """A car park with spots on both sides of aisles, a road of 160 m into it, and one out of it."""
    site, top = Site(metric=True), 22.0 + 18.0 * aisles
    spots = []
    for aisle in range(aisles):
        for side in (1.0, -1.0):
            for n in range(each):
                x, y = 26.0 + 3.2 * n, 24.0 + 18.0 * aisle
                spots.append(((x, y + (8.2 - depth) * side), (x, y + 8.2 * side)))
    right = 46.0 + 3.2 * each
    corners = [(0.0, top), (right, top), (right, 8.0), (right - 12.0, 8.0), (12.0, 8.0), (0.0, 8.0)]
    site.lane("1.1", [(12.0, -160.0), (12.0, 0.0), (12.0, 4.0)], exits=[("1.1.3", "3.0.5")])
    site.lane("2.1", [(right - 12.0, 4.0), (right - 12.0, 0.0), (right - 12.0, -160.0)])
    exits = [("3.0.4", "2.1.1")] if has_exit else []
    return site.zone(3, corners, exits=exits, spots=spots).network()


def flow_to(zone: int, spot: int, origin: PointId, count: int, **keys: object) -> Pool:
    """A car every four seconds."""
    until, target = 4.0 * count - 1.0, PointId(zone, spot, 2)
    keys = {"destinations": ((target, 1.0),), "is_even": True, "until": until, "at_most": count, **keys}
    return Pool("in", flow=900.0, origin=origin, **keys)  # type: ignore[arg-type]


def watched(made: World, duration: float, snapshot: Snapshot | None = None) -> Iterator[Snapshot]:
    """Snapshots of every second of a run in which nobody touches anybody, overlaps with anybody, or stands for long."""
    snapshot = made.start if snapshot is None else snapshot
    for _ in range(round(duration)):
        _, _, contacts = advance(made, snapshot, round(1.0 / made.step))
        assert not len(contacts)
        state = snapshot.columns
        there = state.intent[:, PHASE] != ABSENT
        outlines = np.array(outlines_of(made, snapshot, there), object)
        one, other = shapely.STRtree(outlines).query(outlines, predicate="intersects")
        assert (one == other).all()
        driving = there & (state.intent[:, PHASE] != PAUSING)
        assert (state.travel[driving, WAITING] < PATIENCE).all()
        yield snapshot


def outlines_of(made: World, snapshot: Snapshot, there: np.ndarray) -> list[shapely.Polygon]:
    """Rectangles of cars, from the poses of their bodies."""
    rows, state = made.traffic.road.car_rows[there, BODY], snapshot.columns
    found = []
    for row in rows.tolist():
        (x, y, _), (w, _, _, z) = state.position[row], state.orientation[row]
        ahead, half = np.array([-2.0 * w * z, w * w - z * z]), 0.5 * made.shapes.size[row, :2]
        left = np.array([-ahead[1], ahead[0]])
        ends = ((1, 1), (1, -1), (-1, -1), (-1, 1))
        found.append(shapely.Polygon([(x, y) + a * half[1] * ahead + b * half[0] * left for a, b in ends]))
    return found


def hold_to_spots(made: World, roadmap: RoadMap, snapshot: Snapshot) -> int:
    """Check that parked cars are alone in spots, straight, bumpers at the second points; return how many there are."""
    state, seen = snapshot.columns, set()
    spots = [(zone, spot) for zone in roadmap.network.zones for spot in zone.spots]
    ends = np.array([roadmap.position(PointId(zone.number, spot.number, 2)) for zone, spot in spots])
    parked = np.flatnonzero((state.intent[:, PHASE] == PAUSING) & (state.intent[:, LANELET] == IN_ZONE))
    for car in parked.tolist():
        body = int(made.traffic.road.car_rows[car, BODY])
        (x, y, _), (w, _, _, z), length = state.position[body], state.orientation[body], made.shapes.size[body, 1]
        ahead = np.array([-2.0 * w * z, w * w - z * z])
        bumper = np.array([x, y]) + 0.5 * length * ahead
        nearest = int(np.argmin(np.hypot(*(ends - bumper).T)))
        zone, spot = spots[nearest]
        entry = roadmap.position(PointId(zone.number, spot.number, 1))
        along = (ends[nearest] - entry) / np.hypot(*(ends[nearest] - entry))
        gap = bumper - ends[nearest]
        assert abs(gap @ along) < 0.1  # the rule allows a metre, and 30 degrees
        assert abs(gap[0] * along[1] - gap[1] * along[0]) < 0.1
        assert along @ ahead > math.cos(math.radians(2.0))
        seen.add(nearest)
    assert len(seen) == len(parked)
    return len(parked)


@pytest.mark.parametrize(
    ("step", "seed"),
    [(0.1, 0), *(pytest.param(step, seed, marks=pytest.mark.slow) for step in (0.05, 0.1, 1.0) for seed in (1, 2))],
)
def test_sixty_cars_fill_a_car_park_and_empty_it(step, seed):
    pool = flow_to(3, 1, PointId(1, 1, 1), 60, pause=900.0)
    made = world(car_park(), pool, step=step, seed=seed)
    assert made.scene.roadmap is not None
    most = 0
    for snapshot in watched(made, 2400.0):
        most = max(most, hold_to_spots(made, made.scene.roadmap, snapshot))
    assert most == 60
    assert snapshot.columns.pool_counts[0].tolist() == [60, 60, 60]


def test_of_a_spot_shorter_than_the_car_the_second_point_counts():
    made = world(car_park(1, 6, depth=2.0), flow_to(3, 1, PointId(1, 1, 1), 12, pause=900.0))
    assert made.scene.roadmap is not None
    assert max(hold_to_spots(made, made.scene.roadmap, snapshot) for snapshot in watched(made, 400.0)) == 12


def test_cars_that_are_parked_at_the_start_leave_in_reverse_after_their_pause():
    made = world(car_park(1, 6), Pool("out", count=12, parked=(3,), pause=5.0))
    assert made.scene.roadmap is not None
    assert hold_to_spots(made, made.scene.roadmap, made.start) == 12
    backs = set[int]()
    for snapshot in watched(made, 400.0):
        state = snapshot.columns
        rows = made.traffic.road.car_rows[:, BODY]
        w, z = state.orientation[rows, 0], state.orientation[rows, 3]
        ahead = state.velocity[rows, 0] * (-2.0 * w * z) + state.velocity[rows, 1] * (w * w - z * z)
        backs |= set(np.flatnonzero(ahead < -0.5).tolist())
    assert len(backs) == 12
    assert (snapshot.columns.intent[:, PHASE] == ABSENT).all()


def test_restored_at_any_step_of_a_manoeuvre_a_run_goes_on_with_the_same_bits():
    pool = flow_to(3, 1, PointId(1, 1, 1), 6, pause=20.0, thens=((PointId(2, 1, 3), 1.0),))
    made = world(car_park(1, 4), pool, step=0.1)
    whole, restored = made.start, made.start
    for _ in range(1500):
        expected, _, _ = advance(made, whole, 1)
        restored = made.restore(restored.to_bytes())
        made.static_caches._newest = None  # as a process that knows nothing but the bytes
        found, _, _ = advance(made, restored, 1)
        assert (found == expected).all()
    assert whole.columns.pool_counts[0, 2] == 6
    once = made.start
    hashes, _, _ = advance(made, once, 1500)
    assert hashes[-1] == expected[-1]


def test_who_finds_no_free_spot_waits_on_the_road_until_there_is_one():
    network = car_park(1, 2)
    made = world(network, flow_to(3, 1, PointId(1, 1, 1), 7))
    *_, snapshot = watched(made, 110.0)
    state = snapshot.columns
    assert (state.intent[:, PHASE] == PAUSING).sum() == 4
    outside = (state.intent[:, PHASE] != ABSENT) & (state.intent[:, LANELET] != IN_ZONE)
    assert outside.sum() == 3
    assert (state.position[made.traffic.road.car_rows[outside, BODY], 1] < 4.0).all()
    assert (state.parking[outside, WAY] < 0).all()
    assert (state.parking[outside, SINCE] >= 0).sum() == 1  # whoever is first


def test_of_the_free_spots_the_next_behind_the_wanted_one_is_taken():
    made = world(car_park(1, 4), flow_to(3, 7, PointId(1, 1, 1), 4))
    *_, snapshot = watched(made, 120.0)
    spots = made.traffic.zones.ways[snapshot.columns.parking[:, WAY], SPOT]
    assert spots.tolist() == [6, 7, 0, 1]


def test_cars_stay_parked_in_a_zone_without_a_way_out():
    network = car_park(1, 4, has_exit=False)
    made = world(network, Pool("stay", count=3, parked=(3,), pause=5.0), flow_to(3, 5, PointId(1, 1, 1), 2, pause=5.0))
    *_, snapshot = watched(made, 100.0)
    state = snapshot.columns
    assert (state.intent[:, PHASE] == PAUSING).sum() == 5
    assert (state.parking[:, TICKET] == 0).all()


def test_cars_of_different_lengths_use_the_ways_of_the_longest():
    made = world(
        car_park(1, 4),
        flow_to(3, 1, PointId(1, 1, 1), 3, vehicle_class="motorcycle", pause=60.0),
        Pool("cars", count=3, parked=(3,), pause=30.0),
    )
    assert made.scene.roadmap is not None
    most = 0
    for snapshot in watched(made, 300.0):
        most = max(most, hold_to_spots(made, made.scene.roadmap, snapshot))
    assert most >= 5
    assert snapshot.columns.pool_counts[0].tolist() == [3, 3, 3]


def test_spots_of_a_network_that_no_way_leads_to_are_told():
    pool = Pool("in", flow=60.0, origin=PointId(2, 1, 1), destinations=((PointId(3, 1, 2), 1.0),))
    with pytest.raises(ModelError, match=r"no way for a car of 1\.80 × 4\.50 m leads .* to a spot of zone 3"):
        world(car_park(1, 2), pool)
    with pytest.raises(ModelError, match="5 cars do not fit: there is room for 4"):
        world(car_park(1, 2), Pool("out", count=5, parked=(3,)))


def test_an_object_far_longer_than_a_zone_has_no_way_and_takes_no_memory(tmp_path):
    scenario = tmp_path / "huge.yaml"
    scenario.write_text(
        "network: parking\nadd:\n"
        "  - {name: Huge, kind: dynamic, reactive: true, at: 1.1.4, size: [1.8, 1.0e6, 1.5],"
        " goals: [{waypoint: 4.2.2}]}\n"
    )
    tracemalloc.start()
    try:
        with pytest.raises(ModelError, match=r"no way for a car of 1\.80 × 1000000\.00 m leads .* to a spot of zone 4"):
            cbsim.load(scenario)
        assert tracemalloc.get_traced_memory()[1] < 100e6  # aprons of 1000 km took 1.4 GB
    finally:
        tracemalloc.stop()


def test_object_parks_for_its_pause_and_goes_on_to_its_next_goal(tmp_path):
    text = """\
network: parking
traffic: [{name: others, count: 2, parked: 4}]
add:
  - {name: Visitor, kind: dynamic, size: [1.8, 4.5, 1.5], at: 2.2.1, reactive: true,
     goals: [{waypoint: 4.9.2, pause: 10}, {waypoint: 3.1.2}]}
  - {name: Owner, kind: dynamic, size: [1.8, 4.5, 1.5], at: 4.11.2, reactive: true, initial_pause: 30,
     goals: [{waypoint: 2.1.2}]}
"""
    (tmp_path / "visit.yaml").write_text(text)
    made = cbsim.load(tmp_path / "visit.yaml")
    recording = cbsim.run(made, duration=120.0)
    visitor, owner = (recording.positions(name)[:, :2] for name in ("Visitor", "Owner"))
    roadmap = made.scene.roadmap
    assert roadmap is not None
    spot, entry = (roadmap.position(PointId(4, 9, number)) for number in (2, 1))
    along = (spot - entry) / np.hypot(*(spot - entry))
    rests = np.hypot(*(visitor + 2.25 * along - spot).T) < 0.1
    assert 10.0 <= rests.sum() * made.step < 40.0
    assert np.hypot(*(visitor[-1] - roadmap.position(PointId(3, 1, 2)))) < 8.0
    assert np.hypot(*(owner[: round(29.0 / made.step)] - owner[0]).T).max() == 0.0
    assert np.hypot(*(owner[-1] - roadmap.position(PointId(2, 1, 2)))) < 8.0
    assert not recording.contacts()


@pytest.mark.slow
@pytest.mark.parametrize("step", [0.05, 0.1, 1.0])
@pytest.mark.parametrize(
    ("path", "zone", "origin", "count"),
    [
        (FINAL, 62, "8.1.3", 29),
        (FINAL, 63, "8.1.3", 24),
        (FINAL, 64, "8.1.6", 56),
        (SAMPLE, 14, "", 6),
        (NQE, 44, "", 5),
    ],
)
def test_zones_of_real_networks_are_filled_and_emptied(path, zone, origin, count, step):
    network = read_file(shared(*path)).spec
    assert isinstance(network, RoadNetwork)
    pools = [Pool("out", count=count // 2, parked=(zone,), pause=300.0)]
    if origin:
        start = PointId(*map(int, origin.split(".")))
        pools.append(flow_to(zone, 1, start, count - count // 2, pause=300.0))
    made = world(network, *pools, step=step)
    assert made.scene.roadmap is not None
    most = 0
    for snapshot in watched(made, 1200.0):
        most = max(most, hold_to_spots(made, made.scene.roadmap, snapshot))
    assert most == (count if origin else count // 2)
    assert (snapshot.columns.intent[:, LANELET] != IN_ZONE).all()
