"""The route graph and the shortest ways through it, with networkx as the oracle."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cbsim.errors import ModelError
from cbsim.road.graph import Kind, components, graph
from cbsim.road.lane_change import lane_changes
from cbsim.road.roadmap import RoadMap, build
from cbsim.road.route import LANE_CHANGE_WORTH, checkpoints, mission_legs, route
from cbsim.spec.mission import Mission, MissionCheckpoint
from cbsim.spec.road import PointId
from tests.road.site import Site, city, point, straight

ROOT = Path(__file__).resolve().parents[2]


def mission(*numbers: int) -> Mission:
    return Mission("m", "site", tuple(MissionCheckpoint(n) for n in numbers))


def highway(left: str = "", right: str = "", *, way_round: float | None = None) -> RoadMap:
    """Two lanes northwards; only 1.2, on the right, leads on to 2.1, which also is reached by a detour from 1.1."""
    site = Site(metric=True)
    ends = [("1.1.5", "3.1.1")] if way_round is not None else []
    site.lane("1.1", straight(200.0), right=right, exits=ends, checkpoints=[("1.1.1", 1)])
    site.lane("1.2", straight(200.0, x=3.66), left=left, exits=[("1.2.5", "2.1.1")])
    site.lane("2.1", straight(50.0, 2, x=3.66, y=220.0), checkpoints=[("2.1.2", 2)])
    if way_round is not None:
        site.lane("3.1", straight(way_round, 2, y=210.0), exits=[("3.1.2", "2.1.1")])
    return build(site.network())


def moves(roadmap: RoadMap, kind: Kind) -> set[tuple[str, str]]:
    edges = graph(roadmap)
    rows = np.flatnonzero(edges.kinds == kind)
    return {(str(edges.nodes[edges.sources[k]]), str(edges.nodes[edges.targets[k]])) for k in rows}


def test_lane_changes_lead_to_the_first_waypoint_ten_metres_on() -> None:
    roadmap = highway()
    assert ("1.1.1", "1.2.2") in moves(roadmap, Kind.LANE_CHANGE)
    assert ("1.2.3", "1.1.4") in moves(roadmap, Kind.LANE_CHANGE)
    assert not {a for a, b in moves(roadmap, Kind.LANE_CHANGE) if a.endswith(".5")}


@pytest.mark.parametrize("mark", ["double_yellow", "solid_yellow", "solid_white"])
def test_solid_marking_forbids_to_change_on_that_side_only(mark: str) -> None:
    assert {a[:3] for a, _ in moves(highway(right=mark), Kind.LANE_CHANGE)} == set()
    assert {a[:3] for a, _ in moves(highway(left=mark, right="broken_white"), Kind.LANE_CHANGE)} == {"1.1"}
    assert len(lane_changes(highway(right=mark)).source) == 8


def test_a_broken_line_allows_to_change() -> None:
    assert {a[:3] for a, _ in moves(highway("broken_white", "broken_white"), Kind.LANE_CHANGE)} == {"1.1", "1.2"}


@pytest.mark.parametrize(
    ("address", "places"),
    [
        ("1.2", straight(200.0, x=3.66, back=True)),  # opposite direction
        ("1.3", straight(200.0, x=3.66)),  # not next in number
        ("2.2", straight(200.0, x=3.66)),  # another segment
        ("1.2", straight(200.0, x=30.0)),  # not beside
        ("1.2", straight(200.0, y=300.0)),  # further on
    ],
)
def test_only_neighbours_in_the_same_direction_are_changed_to(address: str, places: list[tuple[float, float]]) -> None:
    roadmap = build(Site(metric=True).lane("1.1", straight(200.0)).lane(address, places).network())
    assert moves(roadmap, Kind.LANE_CHANGE) == set()


def test_an_exit_into_the_opposite_lane_is_a_u_turn() -> None:
    site = Site(metric=True).lane("1.1", straight(50.0), exits=[("1.1.5", "1.2.1"), ("1.1.3", "2.1.1")])
    site.lane("1.2", straight(50.0, x=-3.66, back=True)).lane("2.1", straight(50.0, x=20.0, back=True))
    roadmap = build(site.network())
    assert moves(roadmap, Kind.U_TURN) == {("1.1.5", "1.2.1")}
    assert moves(roadmap, Kind.EXIT) == {("1.1.3", "2.1.1")}


def test_zones_are_crossed_straight_from_entries_and_spots_to_exits_and_spots() -> None:
    site = Site(metric=True).lane("1.1", straight(50.0), exits=[("1.1.5", "2.0.1")])
    spots = [((5.0, 60.0), (5.0, 65.0)), ((15.0, 60.0), (15.0, 65.0))]
    site.zone(2, [(0, 52), (20, 52), (20, 80), (0, 80)], exits=[("2.0.3", "1.1.1")], spots=spots)
    found = moves(build(site.network()), Kind.ZONE)
    assert ("2.0.1", "2.0.3") in found
    assert ("2.0.1", "2.1.2") in found
    assert ("2.1.2", "2.2.2") in found
    assert ("2.2.1", "2.2.2") in found
    assert not {b for _, b in found} & {"2.0.1", "2.0.2", "2.1.1"}


def test_a_zone_with_absurdly_many_spots_is_left_out_and_named() -> None:
    spots = [((float(k), 0.0), (float(k), 5.0)) for k in range(600)]
    edges = graph(build(Site(metric=True).zone(1, [(0, 9), (9, 9), (9, 0)], spots=spots).network()))
    assert edges.unrouted == (1,)
    assert len(edges.targets) == 0


def test_dangling_and_doubled_exits_make_no_moves_or_one() -> None:
    ways = [("1.1.5", "9.9.9"), ("1.1.5", "1.1.1"), ("1.1.5", "1.1.1"), ("1.1.2", "1.1.2")]
    roadmap = build(Site(metric=True).lane("1.1", straight(50.0), exits=ways).network())
    assert moves(roadmap, Kind.EXIT) | moves(roadmap, Kind.U_TURN) == {("1.1.5", "1.1.1")}


def test_route_changes_lanes_where_there_is_no_other_way() -> None:
    found = route(highway(), point("1.1.1"), point("2.1.2"))
    assert found is not None
    assert found.kinds.count(Kind.LANE_CHANGE) == 1
    assert len(found.kinds) == len(found.points) - 1
    assert found.length == pytest.approx(150.0 + np.hypot(50.0, 3.66) + 20.0 + 50.0, abs=1e-6)


@pytest.mark.parametrize(("way_round", "changes"), [(LANE_CHANGE_WORTH - 5.0, 0), (LANE_CHANGE_WORTH + 5.0, 1)])
def test_route_changes_lanes_only_where_it_saves_twenty_metres(way_round: float, changes: int) -> None:
    found = route(highway(way_round=way_round / 2.0 + 10.0), point("1.1.1"), point("2.1.2"))
    assert found is not None
    assert found.kinds.count(Kind.LANE_CHANGE) == changes


def test_there_is_no_route_against_the_traffic() -> None:
    assert route(highway(), point("2.1.1"), point("1.1.1")) is None


def test_route_from_a_point_to_itself_goes_once_round() -> None:
    square = [(0.0, 0.0), (0.0, 50.0), (50.0, 50.0), (50.0, 0.0)]
    roadmap = build(Site(metric=True).lane("1.1", square, exits=[("1.1.4", "1.1.1")]).network())
    found = route(roadmap, point("1.1.2"), point("1.1.2"))
    assert found is not None
    assert found.length == pytest.approx(200.0)
    assert [str(p) for p in found.points] == ["1.1.2", "1.1.3", "1.1.4", "1.1.1", "1.1.2"]


def test_route_between_missing_points_is_refused() -> None:
    with pytest.raises(ModelError, match=r"did you mean '2\.1\.2'"):
        route(highway(), point("1.1.1"), point("2.1.7"))


def test_equally_long_ways_are_decided_by_the_order_of_ids() -> None:
    site = Site(metric=True)
    for number, x in ((3, -10.0), (2, 10.0)):
        site.lane(f"{number}.1", [(x, 10.0), (x, 30.0)], exits=[(f"{number}.1.2", "4.1.1")])
    site.lane("1.1", [(0.0, 0.0), (0.0, 5.0)], exits=[("1.1.2", "3.1.1"), ("1.1.2", "2.1.1")])
    site.lane("4.1", [(0.0, 40.0), (0.0, 50.0)])
    found = route(build(site.network()), point("1.1.1"), point("4.1.2"))
    assert found is not None
    assert str(found.points[2]) == "2.1.1"


CITY = build(city(4, 200.0))
NODES = graph(CITY).nodes
TWIN = graph(CITY).to_networkx()


@given(st.integers(0, len(NODES) - 1), st.integers(0, len(NODES) - 1))
@settings(max_examples=60)
def test_lengths_agree_with_networkx(a: int, b: int) -> None:
    if a == b:
        return
    found = route(CITY, NODES[a], NODES[b])
    if found is None:
        assert not nx.has_path(TWIN, NODES[a], NODES[b])
        return
    assert found.length == pytest.approx(nx.dijkstra_path_length(TWIN, NODES[a], NODES[b], "length"), rel=1e-9)
    steps = [TWIN.edges[edge] for edge in zip(found.points, found.points[1:], strict=False)]
    assert tuple(step["kind"] for step in steps) == found.kinds
    assert sum(step["length"] for step in steps) == pytest.approx(found.length)


@given(st.integers(1, 14), st.data())
def test_strongly_connected_parts_agree_with_networkx(size: int, data: st.DataObject) -> None:
    site = Site(metric=True)
    for n in range(1, size + 1):
        to = data.draw(st.lists(st.integers(1, size), max_size=3))
        site.lane(f"{n}.1", [(0.0, 10.0 * n)], exits=[(f"{n}.1.1", f"{m}.1.1") for m in to])
    edges = graph(build(site.network()))
    part = components(edges)
    found = {frozenset(edges.nodes[k] for k in np.flatnonzero(part == p)) for p in range(part.max() + 1)}
    assert found == {frozenset(p) for p in nx.strongly_connected_components(edges.to_networkx())}


def test_mission_legs_say_what_is_missing_and_what_would_help() -> None:
    roadmap = highway(right="solid_white")
    legs = mission_legs(roadmap, mission(1, 2, 7, 2, 1))
    assert [leg.route for leg in legs] == [None] * 4
    assert [leg.numbers for leg in legs] == [(1, 2), (2, 7), (7, 2), (2, 1)]
    assert legs[0].reason == "a lane change across solid marking would help"
    assert legs[1].reason == legs[2].reason == "the network has no checkpoint '7'"
    assert legs[3].reason == "neither a lane change nor a U-turn would help"
    assert checkpoints(roadmap) == {1: point("1.1.1"), 2: point("2.1.2")}


def test_a_leg_that_a_u_turn_would_make_possible_says_so() -> None:
    site = Site(metric=True).lane("1.1", straight(50.0), checkpoints=[("1.1.1", 1)])
    site.lane("1.2", straight(50.0, x=-3.66, back=True), checkpoints=[("1.2.5", 2)])
    (leg,) = mission_legs(build(site.network()), mission(1, 2))
    assert leg.route is None
    assert leg.reason == "a U-turn at the end of a lane would help"


def test_a_mission_of_one_checkpoint_has_no_legs() -> None:
    assert mission_legs(highway(), mission(1)) == []


SCRIPT = """
import sys
from cbsim.road.roadmap import build
from cbsim.road.route import graph, route
from cbsim.road.intersection import intersections
from tests.road.site import city
roadmap = build(city(4, 200.0))
nodes = graph(roadmap).nodes
print([str(p) for a, b in ((0, -1), (5, 90), (77, 13)) for p in route(roadmap, nodes[a], nodes[b]).points])
print([(str(i.approaches), i.departures) for i in intersections(roadmap)])
"""


def test_routes_do_not_depend_on_the_hash_seed() -> None:
    answers = set()
    for seed in ("0", "1", "4711"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        run = subprocess.run(
            [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, env=environment, cwd=ROOT
        )
        answers.add(run.stdout)
    assert len(answers) == 1


def test_point_ids_sort_by_number_not_by_text() -> None:
    assert sorted([PointId(10, 1, 1), PointId(2, 1, 1)])[0] == PointId(2, 1, 1)
    assert list(NODES) == sorted(NODES)
