"""Published facts about real networks: lengths of missions, and properties that hold for every file."""

from __future__ import annotations

from functools import lru_cache

import networkx as nx
import numpy as np
import pytest
import shapely

from cbsim.errors import ModelError
from cbsim.formats import read_file
from cbsim.geometry.polyline import wrap
from cbsim.road.connector import connectors
from cbsim.road.graph import Kind, graph
from cbsim.road.intersection import intersections
from cbsim.road.roadmap import RoadMap, build
from cbsim.road.route import mission_legs
from cbsim.spec.road import PointId
from tests.common import SHARED, shared, shared_files

SAMPLE = "navguide/Sample_RNDF.txt"
NQE = "cornell/NQE-General_Files__nqe_rndf.rdf"
UCE = "cornell/UCE-Original_Files-Original_Road_Network__uce_rndf.rdf"
UCE_FINAL = "cornell/UCE-Final_Event__uce_rndf_1.5.rdf"
FILES = [str(path.relative_to(SHARED / "rndf")) for path in shared_files("rndf")] or [SAMPLE]

MISSIONS = [  # network, mission, length [km], lane changes needed
    (SAMPLE, "navguide/Sample_MDF.txt", 12.003, False),
    ("stanford/Sample_RNDF.txt", "stanford/Sample_MDF.txt", 12.003, False),
    (NQE, "cornell/NQE-Area_C__nqe_c_mdf.mdf", 2.297, False),
    (UCE, "cornell/UCE-Original_Files-Original_Mdfs__uce_mdf_B26-1_-_Original.mdf", 24.07, True),
    (UCE_FINAL, "cornell/UCE-Final_Event__uce_mdf_B26-1.mdf", 24.189, False),
    ("stanford/shoreline_rndf.txt", "stanford/shoreline_mdf.txt", 3.069, False),
    ("stanford/alameda_rndf.txt", "stanford/alameda_mdf.txt", 3.001, False),
    ("stanford/shoreline_circle_rndf.txt", "stanford/shoreline_circle_mdf.txt", 0.881, False),
    ("utexas/prc_large_obstacle.rndf", "utexas/prc_large_obstacle.mdf", 1.3, False),
    ("utexas/utexas_explore.rndf", "utexas/utexas_explore.mdf", 0.169, False),
]


@lru_cache(maxsize=64)
def load(name: str) -> RoadMap:
    return build(read_file(shared("rndf", name)).spec)


@pytest.fixture(params=FILES)
def roadmap(request: pytest.FixtureRequest) -> RoadMap:
    return load(request.param)


@pytest.mark.parametrize(("network", "mission", "kilometres", "changing"), MISSIONS)
def test_missions_have_their_published_lengths(network: str, mission: str, kilometres: float, changing: bool) -> None:
    legs = mission_legs(load(network), read_file(shared("mdf", mission), format="mdf").spec)
    ways = [leg.route for leg in legs if leg.route is not None]
    assert len(ways) == len(legs)
    decimals = len(str(kilometres).partition(".")[2])
    assert round(sum(way.length for way in ways) / 1000.0, decimals) == kilometres
    assert any(Kind.LANE_CHANGE in way.kinds for way in ways) == changing


def test_without_lane_changes_seven_legs_of_the_final_event_cannot_be_driven() -> None:
    roadmap = load(UCE)
    twin = graph(roadmap).in_lane.to_networkx()
    mission = "cornell/UCE-Original_Files-Original_Mdfs__uce_mdf_B26-1_-_Original.mdf"
    legs = mission_legs(roadmap, read_file(shared("mdf", mission)).spec)
    assert sum(not nx.has_path(twin, leg.start, leg.goal) for leg in legs) == 7


def test_ways_with_lane_changes_agree_with_networkx() -> None:
    roadmap = load(UCE)
    free, kept = graph(roadmap).to_networkx(), graph(roadmap).in_lane.to_networkx()
    mission = "cornell/UCE-Original_Files-Original_Mdfs__uce_mdf_B26-1_-_Original.mdf"
    for leg in mission_legs(roadmap, read_file(shared("mdf", mission)).spec):
        assert leg.route is not None
        shortest = nx.dijkstra_path_length(free, leg.start, leg.goal, "length")
        if leg.route.kinds.count(Kind.LANE_CHANGE):
            assert leg.route.length == pytest.approx(shortest, rel=1e-9)
        else:
            assert leg.route.length == pytest.approx(nx.dijkstra_path_length(kept, leg.start, leg.goal, "length"))
            assert leg.route.length <= shortest + 100.0


def test_darpa_sample_has_its_eight_intersections() -> None:
    found = {str(i.approaches[0].points[0]): (len(i.approaches), i.pattern) for i in intersections(load(SAMPLE))}
    assert found["3.1.3"] == (3, "all-way stop")
    assert found["3.1.7"] == (4, "two-way stop")
    assert found["4.1.4"] == (4, "all-way stop")
    assert len(found) == 8


def test_curves_pass_through_all_waypoints_of_real_lanes(roadmap: RoadMap) -> None:
    for lane in roadmap.lanes:
        assert np.hypot(*(lane.samples[lane.waypoint_rows] - lane.points).T).max() < 0.05 + 1e-9
        steps = np.hypot(*np.diff(lane.samples, axis=0).T)
        assert steps.max(initial=0.0) <= 1.0 + 1e-9
        assert lane.length >= float(np.hypot(*(lane.points[-1] - lane.points[0]))) - 0.1


def test_real_headings_turn_smoothly_and_stations_grow(roadmap: RoadMap) -> None:
    for lane in roadmap.lanes:
        assert np.abs(np.diff(lane.headings)).max(initial=0.0) < 1.0
        assert np.diff(lane.stations).min(initial=1.0) > 0.0


def test_real_lane_areas_contain_their_centre_lines(roadmap: RoadMap) -> None:
    for lane in roadmap.lanes:
        if len(lane.samples) > 1:
            assert lane.polygon.is_valid
            assert lane.polygon.buffer(0.01).covers(shapely.LineString(lane.samples))


def test_real_waypoints_stand_on_a_lane_with_their_heading(roadmap: RoadMap) -> None:
    ends = int(roadmap.offsets[-1])
    match = roadmap.match(roadmap.positions[:ends], roadmap.headings[:ends])
    on_curve = np.array([len(lane.samples) > 1 for lane in roadmap.lanes])[roadmap.lane_of_row[:ends]]
    assert np.all(match.lane[on_curve] >= 0)


def test_real_connectors_start_and_end_where_they_should(roadmap: RoadMap) -> None:
    found = connectors(roadmap)
    assert len(found) == len(roadmap.exits)
    for c in found:
        assert np.allclose(c.samples[0], roadmap.position(c.source), atol=1e-9)
        assert np.allclose(c.samples[-1], roadmap.position(c.target), atol=1e-9)
        leaves, enters = (roadmap.headings[roadmap.rows[p]] for p in (c.source, c.target))
        if c.kind != "straight" and len(c.samples) > 1:
            assert np.isnan(leaves) or abs(wrap(c.headings[0] - leaves)) < 1e-6
            assert np.isnan(enters) or abs(wrap(c.headings[-1] - enters)) < 1e-6


def test_missing_ids_of_real_networks_are_refused(roadmap: RoadMap) -> None:
    with pytest.raises(ModelError, match="did you mean"):
        roadmap.position(PointId(7, 8, 900))
