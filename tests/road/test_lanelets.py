"""Lanelets: cuts, connections, columns; and the laws that hold for every network."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cbsim.errors import ModelError
from cbsim.formats import read_file
from cbsim.geometry.polyline import wrap
from cbsim.road.kernels.smooth_step import STEEPEST
from cbsim.road.kernels.smooth_step import smooth_step as kernel_step
from cbsim.road.lane_change import lane_changes, smooth_step
from cbsim.road.lanelets import LaneletKind, Lanelets, build_lanelets
from cbsim.road.lanelets.neighbours import find_neighbours
from cbsim.road.roadmap import build
from cbsim.spec.mission import Mission, SpeedLimit
from cbsim.spec.road import Exit, RoadNetwork
from tests.common import ROOT, SHARED, shared_files
from tests.road.moves import turned
from tests.road.networks import cities, networks
from tests.road.site import Site, point, straight

FILES = [*sorted((ROOT / "rndf").glob("*.rndf")), *shared_files("rndf")]


def cut(network: RoadNetwork) -> Lanelets:
    return build_lanelets(build(network))


def hold_laws(lanelets: Lanelets) -> None:
    """Assert what is true of every network."""
    roadmap = lanelets.roadmap
    assert len(lanelets.points) == lanelets.offsets[-1] == len(lanelets.left) == len(lanelets.right)
    assert np.all(np.diff(lanelets.offsets) >= 1)
    assert np.isfinite(lanelets.points).all()
    assert np.isfinite(lanelets.curvatures).all()
    assert np.all(lanelets.stations[lanelets.offsets[:-1]] == 0.0)
    first, last = lanelets.offsets[:-1], lanelets.offsets[1:] - 1
    for side, rows in enumerate((first, last)):
        away = lanelets.points[rows] - roadmap.positions[lanelets.ends[:, side]]
        assert np.hypot(*away.T).max(initial=0.0) < 0.05 + 1e-9
    for lane, curve in enumerate(roadmap.lanes):  # every point of a lane lies on exactly one lanelet of it
        pieces = np.flatnonzero(lanelets.lanes == lane)
        drawn = [lanelets[int(piece)].samples for piece in pieces]
        whole = [drawn[0], *(one[1:] for one in drawn[1:])] if drawn else []
        if len(curve.samples) > 1:
            assert np.array_equal(np.concatenate(whole), curve.samples)
            for one, other in itertools.pairwise(pieces):
                assert other in lanelets.successors[one]
                assert lanelets.ends[one, 1] == lanelets.ends[other, 0]
        else:
            assert not len(pieces)
    for row in range(len(lanelets)):
        for following in lanelets.successors[row]:
            assert row in lanelets.predecessors[following]
            gap = lanelets.points[last[row]] - lanelets.points[first[following]]
            assert np.hypot(*gap) < 0.1
    assert len(lanelets.successors.items) == len(lanelets.predecessors.items)
    nodes = lanelets.nodes[[roadmap.rows[s.point] for lane in roadmap.network.lanes for s in lane.stops]]
    touched = set(lanelets.ends.ravel().tolist())
    assert set(nodes.tolist()) & touched == set(lanelets.ends[np.isin(lanelets.ends, nodes)].tolist())


@given(networks())
@settings(max_examples=150)
def test_laws_hold_for_odd_networks(network: RoadNetwork) -> None:
    hold_laws(cut(network))


@given(cities())
@settings(max_examples=10)
def test_laws_hold_for_cities(network: RoadNetwork) -> None:
    hold_laws(cut(network))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_laws_hold_for_real_networks(path: Path) -> None:
    spec = read_file(path).spec
    if spec is None:
        pytest.skip("this file has no network, by intention")
    hold_laws(cut(spec))


def test_real_files_are_where_they_belong() -> None:
    assert len(FILES) > 20 or not SHARED.exists()


def test_a_lane_is_cut_where_exits_leave_and_enter_and_at_stop_lines() -> None:
    site = Site(metric=True).lane("1.1", straight(100.0, 6), exits=[("1.1.2", "2.1.1")], stops=["1.1.5"])
    site.lane("2.1", [(20.0, 40.0), (60.0, 40.0)], exits=[("2.1.2", "1.1.4")])
    lanelets = cut(site.network())
    assert lanelets.names == (
        "1.1.1-1.1.2",
        "1.1.2-1.1.4",
        "1.1.4-1.1.5",
        "1.1.5-1.1.6",
        "2.1.1-2.1.2",
        "1.1.2-2.1.1",
        "2.1.2-1.1.4",
    )
    assert lanelets.lengths[:5] == pytest.approx([20.0, 40.0, 20.0, 20.0, 40.0])
    assert lanelets.begins[:4] == pytest.approx([0.0, 20.0, 60.0, 80.0])
    assert lanelets.stops.tolist() == [False, False, True, False, False, False, False]
    assert [one.name for one in lanelets[0].successors] == ["1.1.2-1.1.4", "1.1.2-2.1.1"]
    assert [one.name for one in lanelets[2].predecessors] == ["1.1.2-1.1.4", "2.1.2-1.1.4"]
    assert [one.kind for one in lanelets] == [LaneletKind.LANE] * 5 + [LaneletKind.CONNECTOR] * 2
    assert lanelets.rows["2.1.2-1.1.4"] == 6


def test_a_closed_lane_goes_round_without_an_exit_of_its_own() -> None:
    angles = np.linspace(0.0, 2.0 * np.pi, 12, endpoint=False)
    ring = [(20.0 * np.cos(a), 20.0 * np.sin(a)) for a in angles]
    site = Site(metric=True).lane("1.1", ring, exits=[("1.1.12", "1.1.1"), ("1.1.4", "2.1.1")])
    lanelets = cut(site.lane("2.1", [(0.0, 40.0), (0.0, 80.0)]).network())
    assert lanelets.names == ("1.1.1-1.1.4", "1.1.4-1.1.1", "2.1.1-2.1.2", "1.1.4-2.1.1")
    assert lanelets.successors[1].tolist() == [0]
    assert lanelets.continues.tolist() == [True, True, True, False]
    curvatures = lanelets[0].curvatures  # of the smooth curve through twelve points, which is only nearly a circle
    half, chord = np.radians(15.0), 40.0 * np.sin(np.radians(15.0))
    at_waypoint = (6.0 * np.sin(half) - 2.0 * np.sin(2.0 * half)) / chord  # 0.0534: tangents are as long as the chord
    midway = 2.0 * np.sin(half) / (1.5 - 0.5 * np.cos(half)) ** 2 / chord  # 0.0483
    assert curvatures.max() == pytest.approx(at_waypoint, abs=1e-12)
    assert curvatures[[0, -1]] == pytest.approx(at_waypoint, abs=1e-12)
    assert curvatures.min() == pytest.approx(midway, abs=1e-12)
    gap = np.hypot(*(lanelets[0].left - lanelets[0].right).T)
    assert gap == pytest.approx(np.full(len(gap), 3.6576))


def test_an_exit_to_the_next_waypoint_or_one_given_twice_is_no_lanelet_of_its_own() -> None:
    exits = [("1.1.2", "1.1.3"), ("1.1.5", "2.1.1"), ("1.1.5", "2.1.1"), ("1.1.5", "1.1.5")]
    site = Site(metric=True).lane("1.1", straight(50.0), exits=exits).lane("2.1", straight(50.0, y=60.0))
    assert [one.name for one in cut(site.network()) if one.kind] == ["1.1.5-2.1.1"]


def test_u_turns_and_mouths_of_zones_have_their_kinds_and_no_way_through_the_zone() -> None:
    site = Site(metric=True).lane("1.1", straight(50.0), exits=[("1.1.5", "1.2.1"), ("1.1.3", "2.0.1")])
    site.lane("1.2", straight(50.0, x=-3.66, back=True))
    site.zone(2, [(10.0, 25.0), (30.0, 25.0), (30.0, 0.0)], exits=[("2.0.1", "1.1.4")])
    lanelets = cut(site.network())
    kinds = {one.name: one.kind for one in lanelets if one.kind}
    assert kinds == {
        "1.1.5-1.2.1": LaneletKind.U_TURN,
        "1.1.3-2.0.1": LaneletKind.ZONE_MOUTH,
        "2.0.1-1.1.4": LaneletKind.ZONE_MOUTH,
    }
    assert lanelets[lanelets.rows["1.1.3-2.0.1"]].successors == ()


def test_limits_are_the_missions_else_the_default() -> None:
    site = Site(metric=True).lane("1.1", straight(50.0), exits=[("1.1.5", "2.1.1")]).lane("2.1", straight(50.0, y=60.0))
    roadmap = build(site.network())
    mission = Mission("m", "n", (), speed_limits=(SpeedLimit(2, 0.0, 5.0), SpeedLimit(1, 0.0, 0.0)))
    assert build_lanelets(roadmap).limits == pytest.approx([13.4112] * 3)
    assert build_lanelets(roadmap, mission, 11.0).limits == pytest.approx([11.0, 5.0, 5.0])


def test_neighbours_tell_direction_side_and_whether_one_may_cross() -> None:
    site = Site(metric=True).lane("1.1", straight(100.0, back=True), left="double_yellow")
    site.lane("1.2", straight(100.0, x=3.66), left="double_yellow", right="broken_white", exits=[("1.2.3", "2.1.1")])
    site.lane("1.3", straight(60.0, 3, x=7.32), left="broken_white")
    lanelets = cut(site.lane("2.1", [(30.0, 70.0), (60.0, 70.0)]).network())
    table = find_neighbours(lanelets)
    rows = zip(*(column.tolist() for column in table[:7]), strict=True)
    found = {(lanelets.names[a], lanelets.names[b]): (round(c), round(d), *rest) for a, b, c, d, *rest in rows}
    assert found["1.2.1-1.2.3", "1.1.1-1.1.5"][2:] == (True, False, False)
    assert found["1.2.1-1.2.3", "1.3.1-1.3.3"][2:] == (False, True, True)
    assert found["1.3.1-1.3.3", "1.2.3-1.2.5"] == (50, 60, True, True, True)
    assert found["1.1.1-1.1.5", "1.2.3-1.2.5"][2:] == (True, False, False)
    columns = (
        table.begins,
        table.ends,
        table.places[table.place_offsets[:-1]],
        table.places[table.place_offsets[1:] - 1],
        table.same_direction,
    )
    for begin, end, first, last, same in zip(*(column.tolist() for column in columns), strict=True):
        assert abs(last - first) == pytest.approx(end - begin, abs=1e-6)
        assert (last > first) == same


def bend(radius: float) -> list[tuple[float, float]]:
    """A hundred metres due north, a half circle to the left, and back."""
    angles = np.linspace(0.0, np.pi, 40)[1:-1]
    there = [(radius, y) for y in np.linspace(0.0, 100.0, 11)]
    around = [(radius * np.cos(a), 100.0 + radius * np.sin(a)) for a in angles]
    return [*there, *around, *((-x, y) for x, y in reversed(there))]


def test_places_of_neighbours_are_beside_each_other_in_bends() -> None:
    lanelets = cut(Site(metric=True).lane("1.1", bend(15.0)).lane("1.2", bend(18.66)).network())
    table = find_neighbours(lanelets)
    assert list(zip(table.lanelets.tolist(), table.others.tolist(), strict=True)) == [(0, 1), (1, 0)]
    for row, (one, other) in enumerate([(0, 1), (1, 0)]):
        begin, end = table.begins[row], table.ends[row]
        places = table.places[table.place_offsets[row] : table.place_offsets[row + 1]]
        stations = np.linspace(begin, end, 500)
        beside = np.interp(stations, np.linspace(begin, end, len(places)), places)
        gaps = np.hypot(*(at(lanelets, one, stations) - at(lanelets, other, beside)).T)
        assert gaps == pytest.approx(3.66, abs=0.03)
        linear = np.interp(stations, [begin, end], places[[0, -1]])
        assert np.abs(linear - beside).max() > 3.0


def at(lanelets: Lanelets, row: int, stations: np.ndarray) -> np.ndarray:
    """Points of a lanelet at stations."""
    first, last = lanelets.offsets[row : row + 2]
    along, points = lanelets.stations[first:last], lanelets.points[first:last]
    return np.stack([np.interp(stations, along, points[:, axis]) for axis in range(2)], axis=1)


def test_lanes_are_no_neighbours_across_a_third_one() -> None:
    site = Site(metric=True).lane("1.1", straight(100.0)).lane("1.2", straight(100.0, x=7.32))
    lanelets = cut(site.lane("1.3", straight(100.0, x=3.66)).network())
    table = find_neighbours(lanelets)
    found = {(lanelets.names[a], lanelets.names[b]) for a, b in zip(table.lanelets, table.others, strict=True)}
    assert found == {("1.2.1-1.2.5", "1.3.1-1.3.5"), ("1.3.1-1.3.5", "1.2.1-1.2.5")}
    changes = lane_changes(lanelets.roadmap)
    lanes = {tuple(lanelets.roadmap.ids[row][:2] for row in pair) for pair in zip(*changes[:2], strict=True)}
    assert lanes == {((1, 2), (1, 3)), ((1, 3), (1, 2))}


def test_smooth_step_is_that_of_kernels_and_level_at_both_ends() -> None:
    parts = np.linspace(0.0, 1.0, 101)
    steps = smooth_step(parts)
    assert steps.tolist() == [kernel_step(part) for part in parts.tolist()]
    assert steps[[0, -1]].tolist() == [0.0, 1.0]
    slopes = np.gradient(steps, parts)
    assert abs(slopes[[0, -1]]).max() < 1e-3
    assert abs(np.gradient(slopes, parts)).max() == pytest.approx(STEEPEST, rel=0.01)


def test_unknown_marking_may_be_changed_over_but_not_crossed_against_the_oncoming() -> None:
    site = Site(metric=True).lane("1.1", straight(100.0, back=True)).lane("1.2", straight(100.0, x=3.66))
    table = find_neighbours(cut(site.lane("1.3", straight(100.0, x=7.32)).network()))
    assert set(zip(table.same_direction.tolist(), table.may_cross.tolist(), strict=True)) == {
        (False, False),
        (True, True),
    }


def test_borders_of_pieces_are_those_of_the_lane() -> None:
    bend = [(0.0, 0.0), (0.0, 20.0), (2.0, 22.0), (22.0, 22.0), (40.0, 22.0)]
    site = Site(metric=True).lane("1.1", bend, exits=[("1.1.4", "2.1.1")]).lane("2.1", straight(50.0, x=40.0, y=40.0))
    lanelets = cut(site.network())
    curve = lanelets.roadmap.lanes[0]
    pieces = [lanelets[row] for row in (0, 1)]
    assert np.allclose(np.concatenate([pieces[0].left, pieces[1].left[1:]]), curve.left, atol=1e-12)
    assert np.allclose(np.concatenate([pieces[0].right, pieces[1].right[1:]]), curve.right, atol=1e-12)


@given(networks(), st.floats(-np.pi, np.pi))
@settings(max_examples=30)
def test_a_turned_network_has_the_same_lanelets(network: RoadNetwork, angle: float) -> None:
    one, other = cut(network), cut(turned(network, angle))
    assert one.names == other.names
    assert np.allclose(one.lengths, other.lengths, rtol=0.01, atol=0.05)
    assert np.allclose(
        wrap(other.headings[other.offsets[:-1]] - one.headings[one.offsets[:-1]] - angle), 0.0, atol=1e-3
    )


def test_more_exits_than_any_network_has_are_refused() -> None:
    points = [f"1.1.{k}" for k in range(1, 152)]
    exits = [(a, b) for a in points for b in points]
    site = Site(metric=True)
    site.lane("1.1", straight(1500.0, 151))
    network = site.network()
    lane = replace(network.segments[0].lanes[0], exits=tuple(Exit(point(a), point(b)) for a, b in exits))
    network = replace(network, segments=(replace(network.segments[0], lanes=(lane,)),))
    with pytest.raises(ModelError, match="has 22801 exits; lanelets are made of up to 20000"):
        cut(network)
