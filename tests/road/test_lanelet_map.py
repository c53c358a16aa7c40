"""The network as planners ask for it: poses, routes, limits, lights, crosswalks; nothing before it is asked for."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import cbsim
from cbsim.errors import ModelError, UsageError
from cbsim.formats import read_file
from cbsim.road.lanelet_map import LaneletMap, point_id
from cbsim.road.roadmap import build
from cbsim.road.route import Kind
from cbsim.spec.road import PointId
from tests.common import ROOT, shared
from tests.road.site import Site, point, straight


def shipped(name: str) -> LaneletMap:
    return LaneletMap(build(read_file(ROOT / "rndf" / f"{name}.rndf").spec))


def test_a_world_with_a_network_has_its_lanelets_with_the_limits_of_the_mission() -> None:
    world = cbsim.load("parking")
    road = world.road
    assert road is world.road
    limits = {one.segment: one.maximum for one in road.mission.speed_limits}
    (lanelet,) = [one for one in road.lanelets if one.name == "2.1.1-2.1.4"]
    assert lanelet.limit == pytest.approx(limits[2])


def test_a_world_without_a_network_says_so() -> None:
    with pytest.raises(UsageError, match="has no road network"):
        cbsim.load("crash_dummy").road  # noqa: B018


def test_every_sample_of_a_centreline_is_found_on_its_lanelet() -> None:
    road = shipped("merge")
    lanelets = road.lanelets
    inner = np.concatenate([np.arange(*lanelets.offsets[k : k + 2])[1:-1] for k in range(len(lanelets))])
    match = road.match(lanelets.points[inner], lanelets.headings[inner])
    own = match.lane == lanelets.owners[inner]
    assert np.all(match.lane >= 0)
    assert np.abs(match.offset).max() < 1e-6
    assert np.allclose(match.station[own], lanelets.stations[inner][own], atol=1e-6)
    assert own.mean() > 0.95  # where an exit leaves straight on, its first metres are those of the lane


def test_beside_the_road_there_is_no_lanelet() -> None:
    assert shipped("loop").at((1e5, 1e5)) is None


def test_a_route_is_made_of_lanelets_that_follow_each_other() -> None:
    road = shipped("four_way_stop")
    way = road.route("1.1.2", PointId(2, 2, 6))
    assert way is not None
    assert [road.lanelets.names[row] for row in way.lanelets] == ["1.1.1-1.1.6", "1.1.6-2.2.1", "2.2.1-2.2.6"]
    curve = road.roadmap.lane(1, 1)
    assert way.begins.tolist() == [pytest.approx(curve.waypoint_stations[1]), 0.0, 0.0]
    assert way.ends.tolist() == pytest.approx(road.lanelets.lengths[way.lanelets].tolist())
    assert way.entered.tolist() == [Kind.LANE, Kind.EXIT, Kind.LANE]
    assert way.length == pytest.approx(float(np.sum(way.ends - way.begins)))
    for one, other in zip(way.lanelets, way.lanelets[1:], strict=False):
        assert other in road.lanelets.successors[one]


def test_a_route_round_a_closed_lane_goes_over_its_seam() -> None:
    road = shipped("roundabout")
    way = road.route("1.1.10", "1.1.3")
    assert way is not None
    names = [road.lanelets.names[row] for row in way.lanelets]
    assert names[-2:] == ["1.1.1-1.1.2", "1.1.2-1.1.3"]
    curve = road.roadmap.lane(1, 1)
    assert way.length == pytest.approx(curve.length - curve.waypoint_stations[9] + curve.waypoint_stations[2])


def test_lane_changes_and_zones_are_told_where_they_are() -> None:
    site = Site(metric=True).lane("1.1", straight(100.0, 6), right="broken_white")
    site.lane("1.2", straight(100.0, 6, x=3.66), left="broken_white", exits=[("1.2.6", "2.0.1")])
    corners = [(0.0, 110.0), (0.0, 130.0), (40.0, 130.0), (40.0, 110.0)]
    site.zone(2, corners, exits=[("2.0.4", "3.1.1")]).lane("3.1", [(45.0, 108.0), (80.0, 108.0)])
    road = LaneletMap(build(site.network()))
    way = road.route("1.1.1", "3.1.2")
    assert way is not None
    kinds = [Kind(kind) for kind in way.entered]
    assert kinds.count(Kind.LANE_CHANGE) == kinds.count(Kind.ZONE) == 1
    assert road.lanelets.names[way.lanelets[kinds.index(Kind.ZONE)]] == "2.0.4-3.1.1"
    assert road.route("3.1.1", "1.1.1") is None


def test_legs_of_a_mission_are_as_long_as_its_curves() -> None:
    world = cbsim.load("mission")
    ways = world.road.mission_route()
    assert len(ways) == len(world.road.mission.checkpoints) - 1
    assert all(way is not None for way in ways)
    assert LaneletMap(world.road.roadmap).mission_route() == []


def test_names_that_are_not_there_are_refused_with_the_nearest() -> None:
    road = shipped("four_way_stop")
    assert road.lanelet("1.1.6-2.2.1").source == point("1.1.6")
    with pytest.raises(ModelError, match=r"did you mean '1\.1\.6-2\.2\.1'"):
        road.lanelet("1.1.6-2.2.11")
    for text in ("1.1", "a.b.c", "1.1.1.1", "1.1.-1", "1.1.²"):
        with pytest.raises(ModelError, match="expected segment"):
            point_id(text)


def test_lights_and_crosswalks_of_a_real_network_stand_on_its_lanelets() -> None:
    road = LaneletMap(build(read_file(shared("rndf", "stanford/demo_rndf.txt")).spec))
    lights = {one.name: one.lights for one in road.lanelets if one.lights}
    assert sorted(names for names in lights.values()) == [
        ("12.1", "12.9"), ("12.10", "12.3"), ("12.2",), ("12.4", "12.7"), ("12.5",), ("12.6", "12.8"),
    ]  # fmt: skip
    assert {one.name.split("-")[1] for one in road.lanelets if one.lights} == {
        "7.2.3", "9.1.3", "9.2.3", "10.2.3", "11.1.3", "11.2.3",
    }  # fmt: skip
    crosswalks = road.crosswalks
    assert crosswalks.names == ("1.1", "9.1", "11.1")
    assert np.all(crosswalks.ends - crosswalks.begins > 1.0)
    lanes = {crosswalks.names[c]: set() for c in crosswalks.crosswalks}
    for row, c in zip(crosswalks.lanelets, crosswalks.crosswalks, strict=True):
        lanes[crosswalks.names[c]].add(road.lanelets[int(row)].source.segment)
    assert lanes["9.1"] >= {9}
    assert lanes["11.1"] >= {11}


def test_loading_a_scenario_makes_no_lanelets_and_lanelets_need_no_compiler() -> None:
    code = (
        "import sys, cbsim\n"
        "world = cbsim.load('loop')\n"
        "assert 'cbsim.road.lanelets' not in sys.modules\n"
        "from cbsim.formats import read_file\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    code = (
        "import sys\n"
        "from cbsim.formats import read_file\n"
        "from cbsim.road.roadmap import build\n"
        "from cbsim.road.lanelet_map import LaneletMap\n"
        "road = LaneletMap(build(read_file('rndf/merge.rndf').spec))\n"
        "assert len(road.conflicts) and road.junctions and len(road.neighbours.left)\n"
        "assert not {'numba', 'pygame', 'scipy'} & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr


def test_the_example_prints_where_to_stop_and_whom_to_yield_to() -> None:
    done = subprocess.run(
        [sys.executable, "examples/lanelets.py"], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr
    (line,) = {line for line in done.stdout.splitlines() if "2.1.4-1.2.4" in line}
    assert line.endswith("yields to 1.1.7-1.1.8, 1.2.3-1.2.4, 1.2.3-2.2.1")
