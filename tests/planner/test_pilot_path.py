"""Paths that the pilot plans: between poses, U-turns on the road, across zones, with feasible speeds."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cbsim
from cbsim.planner.driver import vehicle_of
from cbsim.planner.pilot.arc_paths import dubins, end_of, sample, three_point
from cbsim.planner.pilot.itinerary import Itinerary
from cbsim.planner.pilot.path import LATERAL_ACCELERATION, STEER_SHARE, assemble
from cbsim.planner.pilot.path_builder import Mark, PathBuilder, PathSection
from cbsim.planner.pilot.speed_profile import ACCELERATION, DECELERATION
from cbsim.planner.pilot.tight_bends import round_tight_bends
from cbsim.planner.pilot.u_turn import best_u_turn, footprints
from cbsim.planner.pilot.vehicle_geometry import vehicle_geometry
from cbsim.planner.pilot.zone_crossing import ZoneRaster, cross_zone
from cbsim.road.roadmap import build
from cbsim.spec.mission import Mission, MissionCheckpoint, SpeedLimit
from cbsim.spec.road import PointId
from tests.road.site import Site, straight

pose = st.tuples(st.floats(-20.0, 20.0), st.floats(-20.0, 20.0), st.floats(-7.0, 7.0))
RADIUS = 3.7


@pytest.fixture(scope="module")
def world():
    return cbsim.load("four_way_stop")


@pytest.fixture(scope="module")
def geometry(world):
    return vehicle_geometry(vehicle_of(world, "CajunBot"))


def misses(end, goal):
    return math.hypot(end[0] - goal[0], end[1] - goal[1]) + abs(math.sin(0.5 * (end[2] - goal[2])))


@given(pose, pose)
def test_every_dubins_way_leads_forwards_to_its_goal(start, goal):
    arc_paths = list(dubins(start, goal, RADIUS))
    assert arc_paths
    for arc_path in arc_paths:
        assert misses(end_of(start, arc_path), goal) < 2e-3
        assert all(length >= 0.0 for _, length in arc_path)


@given(pose, st.floats(0.0, 50.0))
def test_the_shortest_dubins_way_straight_ahead_is_straight(start, distance):
    goal = end_of(start, ((0.0, distance),))
    shortest = min(sum(length for _, length in arc_path) for arc_path in dubins(start, goal, RADIUS))
    assert shortest == pytest.approx(distance, abs=1e-3)


@given(pose, pose)
def test_a_turn_in_three_points_backs_up_once_and_leads_to_its_goal(start, goal):
    for arc_path in three_point(start, goal, RADIUS):
        assert misses(end_of(start, arc_path), goal) < 1e-4  # a turn of less than 1e-6 short of a whole one is left out
        assert [length < 0.0 for _, length in arc_path][::2] == [False, False]


def test_samples_of_a_word_join_up_and_head_where_they_go():
    arc_path = ((0.2, 5.0), (-0.2, -4.0), (0.0, 3.0))
    runs = sample((1.0, 2.0, 0.3), arc_path)
    assert [reverse for *_, reverse in runs] == [False, True, False]
    for (points, headings, reverse), (later, *_) in itertools.pairwise(runs):
        assert points[-1] == pytest.approx(later[0])
        steps = np.diff(points, axis=0)
        middle = 0.5 * (headings[1:] + headings[:-1]) + (math.pi if reverse else 0.0)
        along = -steps[:, 0] * np.sin(middle) + steps[:, 1] * np.cos(middle)
        assert along == pytest.approx(np.hypot(*steps.T), abs=1e-12)


def test_a_u_turn_between_lanes_of_twelve_feet_keeps_to_the_road_and_within_fifteen_metres(world, geometry):
    roadmap = world.scene.roadmap
    out, back = roadmap.lane(2, 2), roadmap.lane(2, 1)
    found = best_u_turn((out, back), (out.length, 0.0), geometry, False, 50.0)
    assert found is not None
    before, after, arc_path = found
    place, heading = out.at(out.length + before)
    runs = sample((*place.tolist(), float(heading)), arc_path)
    end = runs[-1][0][-1]
    goal, _ = back.at(after)
    assert math.dist(end, goal) < 1e-2
    corners = np.concatenate([footprints(geometry, points, headings) for points, headings, _ in runs]).reshape(-1, 2)
    away = np.minimum(*(np.hypot(*(corners - lane_end).T) for lane_end in (out.samples[-1], back.samples[0])))
    assert away.max() <= 15.0
    axis, start = back.headings[0], back.samples[0]
    aside = (corners - start) @ np.array([math.cos(axis), math.sin(axis)])  # to the right of the lane driven into
    assert -1.5 * out.width <= aside.min()
    assert aside.max() <= 1.5 * back.width
    width = aside.max() - aside.min()
    assert width <= out.width + back.width + 0.05


def corner(radius, limit=10.0):
    """A right angle on an arc, 40 m before it and after it."""
    runs = sample((0.0, 0.0, 0.0), ((0.0, 40.0), (1.0 / radius, 0.5 * math.pi * radius), (0.0, 40.0)))
    builder = PathBuilder()
    builder.add(PathSection(runs[0][0], runs[0][1], limit))
    return builder


@pytest.mark.parametrize("radius", [1.5, 3.0, 6.0, 12.0, 30.0])
def test_speeds_keep_to_limits_bends_brakes_and_the_slew_of_the_steering(geometry, radius):
    builder = corner(radius)
    builder.mark(Mark.STOP, back=20.0)
    builder.mark(Mark.FINISH)
    path = assemble(builder, geometry, 1.0)
    speed, station, bend = path.speed, path.station, path.curvature
    assert speed.max() <= 10.0
    assert np.abs(bend).max() <= geometry.curvature_limit
    assert (speed**2 * np.abs(bend)).max() <= LATERAL_ACCELERATION * (1.0 + 1e-9) or radius < 3.0
    steps = np.diff(station)
    change = np.diff(speed**2) / 2.0
    assert np.all(change <= ACCELERATION * steps + 1e-9)
    assert np.all(change >= -DECELERATION * steps - 1e-9)
    slew = np.abs(np.gradient(bend, station)) * speed
    assert (
        slew.max() <= max(STEER_SHARE * geometry.curvature_rate, 0.4 * np.abs(np.gradient(bend, station)).max()) + 1e-9
    )
    for halt in path.halts:
        assert np.interp(halt.station, station, speed) < 1.0
    assert path.halts[0].dwell == 1.0
    assert path.halts[-1].dwell == math.inf
    line = station[-1] - 20.0
    assert path.halts[0].station + geometry.nose == pytest.approx(line - 0.4, abs=1.0)


def test_a_corner_too_tight_for_the_car_is_rounded_to_one_that_it_can_drive(geometry):
    builder = corner(1.0)
    points, headings = builder.sections[0].points, builder.sections[0].headings
    station = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])
    table = np.column_stack([station, points, headings, np.full(len(points), 10.0), station])
    parts = round_tight_bends(table, geometry.radius, geometry.curvature_limit)
    assert [reverse for _, reverse in parts] == [False]
    after = parts[0][0]
    turn = np.abs(np.diff(after[:, 3])) / np.maximum(np.diff(after[:, 0]), 1e-9)
    assert turn[np.diff(after[:, 0]) > 0.01].max() <= geometry.curvature_limit
    away = np.hypot(*(after[:, None, 1:3] - points[None]).transpose(2, 0, 1)).min(axis=1)
    assert away.max() < 1.5
    assert after[-1, 1:3] == pytest.approx(points[-1])


def test_a_way_that_can_be_driven_is_not_touched_by_rounding(geometry):
    stations = np.arange(0.0, 20.0, 0.25)
    table = np.column_stack([stations, 0.0 * stations, stations, 0.0 * stations, 10.0 + 0.0 * stations, stations])
    ((same, reverse),) = round_tight_bends(table, geometry.radius, geometry.curvature_limit)
    assert not reverse
    assert np.array_equal(same, table)


def test_a_car_backs_out_of_its_spot_and_crosses_no_other(geometry):
    roadmap = cbsim.load("city").scene.roadmap
    index = 0
    zone = roadmap.network.zones[index]
    ground = ZoneRaster.of(roadmap, index)
    spot = zone.spots[0]
    place = roadmap.position((zone.number, spot.number, 2))
    heading = roadmap.heading((zone.number, spot.number, 2))
    start = (
        float(place[0]) + geometry.nose * math.sin(heading),
        float(place[1]) - geometry.nose * math.cos(heading),
        heading,
    )
    goal = roadmap.position(zone.perimeter.exits[0].source)
    inside = roadmap.zone_areas[index].centroid
    out = math.atan2(inside.x - goal[0], goal[1] - inside.y)
    found = cross_zone(ground, start, (float(goal[0]), float(goal[1]), out), geometry, leaving=spot.number)
    assert found is not None
    runs = sample(start, found[1])
    assert runs[0][2]
    for points, headings, _ in runs[1:]:
        corners = footprints(geometry, points, headings).reshape(-1, 2)
        cells = np.rint((corners - ground.origin) / ground.cell).astype(int)
        cells = np.clip(cells, 0, np.array(ground.spot.shape) - 1)
        assert not ground.spot[cells[:, 0], cells[:, 1]].any()


def test_limits_are_the_missions_else_those_of_the_network_else_thirty_miles_an_hour(geometry):
    site = Site(metric=True).lane("1.1", straight(50.0), exits=[("1.1.5", "2.1.1")]).lane("2.1", straight(50.0, y=60.0))
    network = site.lane("3.1", straight(50.0, x=20.0)).network()
    posted = replace(network.segments[1], speed_limit=9.0)
    network = replace(network, segments=(network.segments[0], posted, *network.segments[2:]))
    mission = Mission("m", "n", (), speed_limits=(SpeedLimit(1, 0.0, 5.0),))
    itinerary = Itinerary(build(network), mission, geometry)
    assert itinerary.limits[[0, 5, 10]] == pytest.approx([0.985 * 5.0, 0.985 * 9.0, 0.985 * 13.4112])
    builder = PathBuilder()
    itinerary._exit(builder, PointId(1, 1, 5), PointId(2, 1, 1))
    assert [section.limit for section in builder.sections] == pytest.approx([0.985 * 5.0])


def test_the_exit_over_the_seam_of_a_closed_lane_is_the_lane(geometry):
    ring = [(20.0 * math.cos(a), 20.0 * math.sin(a)) for a in np.linspace(0.0, 2.0 * math.pi, 12, endpoint=False)]
    roadmap = build(Site(metric=True).lane("1.1", ring, exits=[("1.1.12", "1.1.1")]).network())
    builder = PathBuilder()
    Itinerary(roadmap, None, geometry)._exit(builder, PointId(1, 1, 12), PointId(1, 1, 1))
    (curve,) = roadmap.lanes
    (section,) = builder.sections
    assert section.points == pytest.approx(curve.samples[curve.waypoint_rows[-1] :], abs=1e-9)


@pytest.mark.parametrize("goal", ["1.1.5", "1.1.6"])
def test_a_lane_is_left_before_it_ends(geometry, goal):
    """Lane 1.2 ends on the outside of a bend of 1.1: the change is over where it ends, not begun there."""
    bend = [(0.0, 0.0), (0.0, 60.0), (0.0, 95.0), (1.0, 101.0), (6.0, 110.0), (40.0, 150.0)]
    made = Site(metric=True)
    made.lane("1.1", bend, checkpoints=[(goal, 2)])
    made.lane("1.2", [(3.6, 0.0), (3.6, 60.0), (3.6, 96.0)], checkpoints=[("1.2.2", 1)])
    roadmap = build(made.network())
    mission = Mission("m", "site", (MissionCheckpoint(1), MissionCheckpoint(2)))
    path = assemble(Itinerary(roadmap, mission, geometry).build((3.6, 5.0, 0.0)), geometry, 1.0)
    match = roadmap.match(path.table[:, :2], path.table[:, 5])
    before = path.table[:, 1] < 60.0  # the checkpoint is passed on its lane
    np.testing.assert_array_equal(match.lane[before], roadmap.lane_rows[1, 2])
    behind = path.table[:, 1] > 96.0
    np.testing.assert_array_equal(match.lane[behind], roadmap.lane_rows[1, 1])
    assert np.abs(match.offset[behind]).max() < 0.5  # of which 0.4 m towards the inside of the bend
