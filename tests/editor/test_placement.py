"""Where objects go when they are dragged: to the place of the mouse, hung on the right waypoint."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import cbsim
from cbsim.editor.objects import placement
from cbsim.editor.objects.placement import GRAIN, aligned, angle_near, moved, place_of, said_place, turned, value_near
from cbsim.editor.objects.templates import TEMPLATES, with_unique_name
from cbsim.paths import find_shipped
from cbsim.road.roadmap import build
from cbsim.spec.number import Written
from cbsim.spec.objects import Kind, Triple
from cbsim.spec.road import PointId

MAPS = {name: build(cbsim.read(find_shipped(name, "rndf", (".rndf",)))) for name in ("loop", "parking", "roundabout")}
CAR = TEMPLATES[Kind.DYNAMIC]

spans = st.floats(-60.0, 60.0)


def heading_of_lane(roadmap, place):
    match = roadmap.match(place[None])
    return float(roadmap.lanes[int(match.lane[0])].at(float(match.station[0]), 0.0)[1])


@pytest.mark.parametrize("name", MAPS)
@settings(deadline=None, max_examples=60)
@given(row=st.integers(0, 10_000), right=spans, ahead=spans, free=st.booleans())
def test_an_object_goes_where_it_is_put_up_to_a_centimetre(name, row, right, ahead, free):
    roadmap = MAPS[name]
    place = roadmap.positions[row % len(roadmap.positions)] + (right, ahead)
    item = replace(CAR, anchor=roadmap.ids[0])
    put = moved(item, roadmap, place, free=free)
    assert math.dist(place_of(put, roadmap)[0], place) <= 0.5 * math.sqrt(2.0) * GRAIN + 1e-9
    if free:
        assert put.anchor == item.anchor


@pytest.mark.parametrize("name", MAPS)
@settings(deadline=None, max_examples=60)
@given(row=st.integers(0, 10_000), station=st.floats(0.0, 500.0), side=st.floats(-1.0, 1.0))
def test_on_a_lane_it_hangs_on_the_last_waypoint_behind_it_and_keeps_its_heading_along_the_lane(
    name, row, station, side
):
    roadmap = MAPS[name]
    lane = roadmap.lanes[row % len(roadmap.lanes)]
    place, _ = lane.at(station % lane.length, side)
    match = roadmap.match(place[None])
    item = aligned(replace(CAR, anchor=roadmap.ids[0]), roadmap)
    put = moved(item, roadmap, place)
    found = roadmap.lanes[int(match.lane[0])]
    stations = found.waypoint_stations
    behind = int((stations <= float(match.station[0]) + 1e-6).sum()) - 1
    assert put.anchor == roadmap.ids[int(roadmap.offsets[int(match.lane[0])]) + max(behind, 0)]
    away = math.remainder(place_of(put, roadmap)[1] - heading_of_lane(roadmap, place), math.tau)
    assert abs(away) <= math.radians(0.051 * 2)  # a tenth of a degree of rounding, when aligned and when moved


@settings(deadline=None)
@given(row=st.integers(0, 10_000), right=st.floats(-1.0, 1.0), ahead=st.floats(-1.0, 1.0))
def test_close_to_a_waypoint_it_goes_exactly_there(row, right, ahead):
    roadmap = MAPS["parking"]
    place = roadmap.positions[row % len(roadmap.positions)] + (right, ahead)
    put = moved(CAR, roadmap, place, snap=2.0)
    assert (put.position_offset.x, put.position_offset.y) == (0.0, 0.0)
    assert math.dist(roadmap.position(put.anchor), place) <= 2.0


def test_in_a_zone_it_hangs_on_the_nearest_point_of_that_zone():
    roadmap = MAPS["parking"]
    middle = roadmap.perimeters[0].mean(axis=0)
    assert roadmap.match(middle[None]).lane[0] < 0
    put = moved(CAR, roadmap, middle)
    assert put.anchor.segment == roadmap.network.zones[0].number
    own = [row for row, point in enumerate(roadmap.ids) if point[0] == put.anchor.segment]
    away = np.hypot(*(roadmap.positions[own] - middle).T)
    assert math.isclose(away.min(), math.dist(roadmap.position(put.anchor), middle))


def test_far_from_every_road_it_keeps_what_it_hangs_on():
    roadmap = MAPS["loop"]
    far = roadmap.positions.max(axis=0) + 500.0
    assert moved(CAR, roadmap, far).anchor is None
    assert moved(replace(CAR, anchor=roadmap.ids[2]), roadmap, far).anchor == roadmap.ids[2]
    assert math.dist(place_of(moved(CAR, roadmap, far), roadmap)[0], far) < GRAIN


def test_without_a_network_offsets_are_the_places_on_the_map():
    put = moved(CAR, None, (3.0, -4.0), snap=10.0)
    assert put.position_offset == Triple(3.0, -4.0, 0.0)
    assert turned(put, None, math.radians(30.0)).orientation_offset.z == pytest.approx(math.radians(30.0), abs=1e-12)


@given(old=st.integers(-10_000, 10_000), less=st.floats(-0.0049, 0.0049))
def test_a_value_that_hardly_changes_keeps_its_text(old, less):
    written = Written(f"{old / 100:.6f}")
    assert value_near(written, written + less) is written
    angle = Written(f"{old % 180:.3f}", placement.DEGREE)
    assert angle_near(angle, angle + math.radians(0.0499) + 2.0 * math.tau) is angle


@given(st.floats(-50.0, 50.0))
def test_angles_are_rounded_to_tenths_within_a_turn(angle):
    near = angle_near(angle + 1.0, angle)  # far from what it was, or that stays
    assert -math.pi < near <= math.pi
    assert abs(math.remainder(near - angle, math.tau)) <= math.radians(0.05) + 1e-9


def test_a_place_is_said_by_waypoint_and_offsets():
    there = replace(CAR, anchor=PointId(1, 2, 3))
    assert said_place(there) == "1.2.3"
    assert said_place(replace(there, position_offset=Triple(-0.5, 2.0, 0.0))) == "1.2.3  +2.00 m  0.50 m left"
    assert said_place(CAR) == "map  x 0.00  y 0.00 m"


def test_new_names_and_ids_are_free():
    first = with_unique_name(replace(CAR, name="Car 9"), [], 1)
    assert (first.name, first.identifier) == ("Car 9", 1)
    second = with_unique_name(first, [first], 1)
    assert (second.name, second.identifier) == ("Car 10", 2)
    assert with_unique_name(CAR, [CAR], 2).identifier is None
    assert with_unique_name(TEMPLATES[Kind.MESH], [], 1).identifier is None


@settings(deadline=None, max_examples=60)
@given(row=st.integers(0, 10_000), station=st.floats(0.0, 500.0), k=st.integers(0, 6), off=st.floats(-0.9, 0.9))
def test_lines_along_a_lane_draw_an_object_to_them(row, station, k, off):
    roadmap, snap = MAPS["loop"], 1.0
    lane = roadmap.lanes[row % len(roadmap.lanes)]
    half, own = 0.5 * lane.width, 0.5 * CAR.size.x
    line = (0.0, half, -half, half - own, own - half, half + own, -half - own)[k]
    station = 2.0 + station % (lane.length - 4.0)  # where a lane ends, nothing is beside it
    place, _ = lane.at(station, line + off * placement.LINE * snap)
    if min(math.dist(place, point) for point in roadmap.positions) <= snap + 1e-6:
        return  # a waypoint draws more
    put = moved(CAR, roadmap, place, snap=snap)
    assume(put.anchor.lane and roadmap.lane(put.anchor.segment, put.anchor.lane) is lane)
    there, _ = lane.at(station + np.linspace(-0.3, 0.3, 601), line)
    assert np.hypot(*(there - place_of(put, roadmap)[0]).T).min() < GRAIN


def test_an_object_beside_a_lane_touches_its_edge_from_outside():
    roadmap = MAPS["loop"]
    lane = roadmap.lanes[0]
    half, own = 0.5 * lane.width, 0.5 * CAR.size.x
    for side in (1.0, -1.0):
        wanted, _ = lane.at(12.0, side * (half + own))
        place, _ = lane.at(12.1, side * (half + own + 0.2))
        if roadmap.match(wanted[None]).lane[0] >= 0:
            continue  # there is another lane
        put = moved(CAR, roadmap, place, snap=1.0)
        assert math.dist(place_of(put, roadmap)[0], wanted) < 0.1
        far, _ = lane.at(12.1, side * (half + own + 2.0))
        assert math.dist(place_of(moved(CAR, roadmap, far, snap=1.0), roadmap)[0], far) < 0.3


@pytest.mark.parametrize(
    ("snap", "grain"), [(0.0, 0.01), (0.1, 0.01), (0.4, 0.1), (1.0, 0.25), (2.4, 0.5), (40.0, 5.0)]
)
def test_steps_are_the_coarser_the_farther_away_one_looks(snap, grain):
    assert placement.grain_of(snap) == grain


def test_along_a_lane_it_goes_by_whole_steps():
    roadmap = MAPS["loop"]
    lane = roadmap.lanes[0]
    for station in np.arange(7.03, 9.0, 0.11):
        place, _ = lane.at(station, 0.0)
        y = moved(CAR, roadmap, place, snap=1.0).position_offset.y
        assert y == pytest.approx(round(y * 4.0) / 4.0, abs=GRAIN)  # the lane bends a little from its waypoint's frame
