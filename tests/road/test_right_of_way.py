"""Conflicts and who yields: rules by example, laws for every network, tables of real ones."""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cbsim.errors import ModelError
from cbsim.formats import read_file
from cbsim.geometry.polyline import wrap
from cbsim.road.intersection import intersections
from cbsim.road.kernels.right_of_way import ARRIVAL, fill_ties, order_arrivals, who_yields
from cbsim.road.lanelets import LaneletKind, Lanelets, build_lanelets
from cbsim.road.right_of_way import (
    ConflictKind,
    Conflicts,
    Rule,
    find_circle,
    find_conflicts,
    find_junctions,
    junction_at,
    stop_junctions,
    swept,
)
from cbsim.road.right_of_way.swept import overlaps, swept_widths
from cbsim.road.roadmap import RoadMap, build
from cbsim.spec.road import Exit, PointId, RoadNetwork
from tests.common import ROOT, shared
from tests.road.moves import metric, mirrored, renumbered, turned
from tests.road.networks import cities, networks
from tests.road.site import Site, point, straight
from tests.road.test_intersection import crossing
from tests.road.twins import movement, swept_overlap, yields

TABLES = Path(__file__).parent / "right_of_way"
FILES = {
    "sample": ("rndf", "navguide/Sample_RNDF.txt"),
    "final": ("rndf", "cornell/UCE-Final_Event__uce_rndf_1.5.rdf"),
    "nqe": ("rndf", "cornell/NQE-General_Files__nqe_rndf.rdf"),
    "swri_site_visit": ("rndf", "utexas/swri_site_visit.rndf"),
    "prc_large_obstacle": ("rndf", "utexas/prc_large_obstacle.rndf"),
    "alameda": ("rndf", "stanford/alameda_rndf.txt"),
    "vail": ("rndf", "stanford/VAIL_rndf_20091020.txt"),
}
NAMES = sorted(path.stem for path in TABLES.glob("*.txt"))


def conflicts_of(roadmap: RoadMap) -> Conflicts:
    return find_conflicts(build_lanelets(roadmap))


def named(name: str) -> Conflicts:
    path = shared(*FILES[name]) if name in FILES else ROOT / "rndf" / f"{name}.rndf"
    return conflicts_of(build(read_file(path).spec))


def table(conflicts: Conflicts) -> dict[tuple[str, str], str]:
    """Who yields to whom, and by which rule."""
    names = conflicts.lanelets.names
    found = {}
    for pair, side, rule in zip(conflicts.pairs.tolist(), conflicts.yields.tolist(), conflicts.rules, strict=True):
        found[names[pair[side]], names[pair[1 - side]]] = Rule(rule).name
    return found


@dataclass
class Written:
    """What a table of the folder says, whose README.md tells how to read it."""

    only: frozenset[str] = frozenset()
    rows: dict[tuple[str, str], str] = field(default_factory=dict)
    stops: list[list[str]] = field(default_factory=list)
    lone: frozenset[str] = frozenset()

    def concerns(self, name: str) -> bool:
        return not self.only or not self.only.isdisjoint(name.split("-"))


def written(name: str) -> Written:
    found = Written()
    for line in (TABLES / f"{name}.txt").read_text().splitlines():
        word, _, rest = line.partition(" ")
        if word in ("only", "stops", "lone"):
            points = sorted(rest.split(", ")) if rest != "none" else []
            if word == "stops":
                found.stops.append(points)
            else:
                setattr(found, word, getattr(found, word) | frozenset(points))
        elif rest.startswith("< "):
            others = list(itertools.takewhile(lambda one: "-" in one, rest[2:].split()))
            for other in others:
                assert not {(word, other), (other, word)} & set(found.rows), line
                found.rows[word, other] = rest[2:].split()[len(others)]
    return found


@pytest.mark.parametrize("name", NAMES)
def test_who_yields_is_as_written_by_hand(name: str) -> None:
    conflicts, hand = named(name), written(name)
    names = conflicts.lanelets.names
    assert {pair: rule for pair, rule in table(conflicts).items() if any(map(hand.concerns, pair))} == hand.rows
    junctions = [j for j in find_junctions(conflicts) if any(hand.concerns(names[row]) for row in j.lanelets)]
    assert sorted(sorted(map(str, junction.stops)) for junction in junctions) == sorted(hand.stops)
    if not hand.only:
        assert {str(p) for p, junction in stop_junctions(conflicts).items() if junction is None} == hand.lone


@pytest.mark.parametrize("name", [name for name in NAMES if not written(name).only])
def test_tables_agree_with_rules_read_off_the_waypoints(name: str) -> None:
    conflicts = named(name)
    lanelets = conflicts.lanelets
    checked = 0
    for (one, other), rule in written(name).rows.items():
        kinds = {lanelets[lanelets.rows[way]].kind for way in (one, other)}
        if not kinds <= {LaneletKind.LANE, LaneletKind.CONNECTOR}:
            assert rule == "SUBORDINATE" or kinds in ({LaneletKind.U_TURN}, {LaneletKind.ZONE_MOUTH})
            continue
        expected = yields(*(movement(lanelets.roadmap, way) for way in (one, other)))
        if expected is not None:
            checked += 1
            assert expected == (rule, True), (one, other)
    assert checked >= 0.6 * len(conflicts) or len(conflicts) < 30


def test_every_stop_line_of_the_sample_belongs_to_a_junction_or_meets_nothing() -> None:
    conflicts = named("sample")
    found = stop_junctions(conflicts)
    assert len(find_junctions(conflicts)) == 8
    assert len(found) == 20
    lone = {str(p) for p, junction in found.items() if junction is None}
    assert lone == {"2.1.5", "3.1.14", "6.1.13", "8.1.2", "9.1.2", "9.2.3", "12.1.2"}
    for p in found:
        if found[p] is None:  # by hand: nothing crosses or merges with the only way on
            assert len([way for way in conflicts.lanelets.roadmap.exits if way.source == p]) == 1


# --- the function that decides a pair ---------------------------------------------------------------------------


def ask(rule: Rule, one_yields: bool = True, **seen: object) -> int:
    state = dict.fromkeys(("one_inside", "other_inside", "one_green", "other_green"), False) | seen
    turns = state.pop("one_turn", 0), state.pop("other_turn", 0)
    return int(who_yields(int(rule), 0 if one_yields else 1, 1, *state.values(), *turns))


@pytest.mark.parametrize("rule", list(Rule))
def test_who_is_in_the_area_goes_on_whatever_else_holds(rule: Rule) -> None:
    assert ask(rule, one_inside=True, other_green=True, other_turn=-1) == 1
    assert ask(rule, one_yields=False, other_inside=True, one_green=True) == 0


@pytest.mark.parametrize("rule", list(Rule))
def test_who_alone_has_green_goes_and_with_two_greens_the_rules_without_signs_hold(rule: Rule) -> None:
    assert ask(rule, one_green=True) == 1
    assert ask(rule, one_yields=False, other_green=True) == 0
    assert ask(rule, one_green=True, other_green=True) == 1  # what stands in `yields_at_green`


def test_the_order_of_arrival_decides_only_where_both_stop() -> None:
    assert ask(Rule.ARRIVAL, one_turn=0, other_turn=1) == 1
    assert ask(Rule.ARRIVAL, one_yields=False, one_turn=3, other_turn=1) == 0
    assert ask(Rule.ARRIVAL, one_turn=2, other_turn=2) == 0
    assert ask(Rule.STOP, one_turn=0, other_turn=1) == 0
    assert int(Rule.ARRIVAL) == ARRIVAL


# --- the order of those who wait --------------------------------------------------------------------------------


def order(arrivals: list[float], approaches: list[int], ties: set[tuple[int, int]]) -> list[int]:
    """List the waiting in the order in which they go."""
    matrix = np.zeros((len(arrivals), len(arrivals)), bool)
    for one, other in ties:
        matrix[one, other] = True
    out = np.empty(len(arrivals), np.int64)
    order_arrivals(np.array(arrivals, float), np.array(approaches, np.int64), matrix, out)
    return np.argsort(out).tolist() if sorted(out.tolist()) == list(range(len(arrivals))) else out.tolist()


def test_who_came_first_goes_first_whoever_comes_from_the_right() -> None:
    assert order([3.0, 1.0, 2.0], [1, 2, 3], {(1, 0), (2, 0), (1, 2)}) == [1, 2, 0]


def test_of_those_who_arrive_at_once_the_right_goes_first() -> None:
    assert order([1.4, 1.0], [1, 2], {(1, 0)}) == [0, 1]
    assert order([1.6, 1.0], [1, 2], {(1, 0)}) == [1, 0]


def test_four_who_arrive_at_once_begin_at_the_smallest_id_and_go_on_from_right_to_right() -> None:
    circle = {(0, 1), (1, 2), (2, 3), (3, 0)}  # each has the next on its right
    assert order([0.0] * 4, [5, 3, 8, 9], circle) == [1, 0, 3, 2]


def test_groups_are_made_anew_when_somebody_has_gone() -> None:
    assert order([0.0, 0.4, 0.8], [1, 2, 3], {(1, 2)}) == [0, 2, 1]  # once 0 has gone, 1 and 2 are a group
    assert order([0.0, 0.4, 0.8], [1, 2, 3], {(0, 1), (1, 2)}) == [1, 0, 2]


waiting = st.integers(1, 8).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 20).map(lambda k: 0.2 * k), min_size=n, max_size=n),
        st.permutations(range(n)),
        st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] != p[1])),
    )
)


@given(waiting)
@settings(max_examples=200)
def test_the_order_is_total_and_stays_when_the_first_has_gone(case: tuple) -> None:
    arrivals, approaches, ties = case
    ties = {(a, b) for a, b in ties if (b, a) not in ties or a < b}
    found = order(arrivals, approaches, ties)
    assert sorted(found) == list(range(len(arrivals)))
    for k, one in enumerate(found):
        assert all(arrivals[one] <= arrivals[other] + 0.5 + 1e-9 for other in found[k:])
    rest = sorted(found[1:])
    number = {row: k for k, row in enumerate(rest)}
    left = {(number[a], number[b]) for a, b in ties if a in number and b in number}
    again = order([arrivals[k] for k in rest], [approaches[k] for k in rest], left)
    assert [rest[k] for k in again] == found[1:]


def test_ties_of_those_who_wait_are_those_of_their_lanelets() -> None:
    conflicts = named("four_way_stop")
    rows = conflicts.lanelets.rows
    ways = ["1.1.6-3.1.1", "4.2.6-2.2.1", "3.2.6-1.2.1", "2.1.6-4.1.1"]  # straight on from north, west, south, east
    movements = np.array([rows[way] for way in ways])
    out = np.empty((4, 4), bool)
    fill_ties(*conflicts.by_lanelet, conflicts.yields, movements, out)
    right = {(0, 1), (1, 2), (2, 3), (3, 0)}  # west is on the right of who comes from the north, and so on
    assert {tuple(pair) for pair in np.argwhere(out).tolist()} == right
    assert order([0.0] * 4, conflicts.approaches[movements].tolist(), right) == [0, 3, 2, 1]


# --- rules by example -------------------------------------------------------------------------------------------


def test_at_a_two_way_stop_who_stops_yields_and_those_who_stop_go_by_arrival() -> None:
    conflicts = conflicts_of(crossing(2))
    rules = {(one.split(".")[0], other.split(".")[0]): rule for (one, other), rule in table(conflicts).items()}
    assert rules["1", "3"] == rules["2", "4"] == rules["1", "4"] == "STOP"
    assert {rule for (one, other), rule in rules.items() if {one, other} == {"1", "2"}} == {"ARRIVAL"}
    assert {rule for (one, other), rule in rules.items() if {one, other} == {"3", "4"}} == {"RIGHT"}


def test_without_signs_a_left_turn_yields_to_oncoming_and_the_right_goes_first() -> None:
    found = table(conflicts_of(crossing(0)))
    assert found["1.1.3-4.2.1", "3.1.3-1.2.1"] == "LEFT_TURN"  # left from the south, against straight on
    assert found["1.1.3-3.2.1", "2.1.3-4.2.1"] == "RIGHT"


def test_right_of_way_without_signs_is_circular_and_one_stop_line_less_is_not() -> None:
    conflicts = conflicts_of(crossing(0))
    (junction,) = find_junctions(conflicts)
    circle = find_circle(conflicts, junction)
    assert len(circle) >= 3
    found = table(conflicts)
    names = [conflicts.lanelets.names[row] for row in circle]
    for one, other in zip(names, [*names[1:], names[0]], strict=True):
        assert (one, other) in found
    every = conflicts_of(crossing(4))
    assert find_circle(every, find_junctions(every)[0]) == ()


def test_u_turns_and_mouths_of_zones_yield_to_all() -> None:
    site = Site(metric=True).lane("1.1", straight(60.0, 7), exits=[("1.1.7", "1.2.1"), ("1.1.4", "3.0.1")])
    site.lane("1.2", straight(60.0, 7, x=-8.0, back=True))
    site.lane("2.1", [(-40.0, 64.0), (40.0, 64.0)])
    site.zone(3, [(8.0, 32.0), (30.0, 32.0), (30.0, 20.0), (8.0, 20.0)], exits=[("3.0.1", "1.1.5"), ("3.0.1", "1.2.4")])
    found = table(conflicts_of(build(site.network())))
    assert found["1.1.7-1.2.1", "2.1.1-2.1.2"] == "SUBORDINATE"
    assert found["3.0.1-1.1.5", "1.1.4-1.1.5"] == "SUBORDINATE"


def test_an_exit_to_its_own_start_is_the_lanes_continuation() -> None:
    ring = [(0.0, 0.0), (0.0, 40.0), (40.0, 40.0), (40.0, 0.0)]
    site = Site(metric=True).lane("1.1", ring, exits=[("1.1.4", "1.1.1")])
    site.lane("2.1", [(-40.0, 0.0), (-10.0, 0.0)], exits=[("2.1.2", "1.1.1")])
    conflicts = conflicts_of(build(site.network()))
    assert set(table(conflicts).values()) == {"LANE"}
    assert all(one.startswith("2.1.2") for one, _ in table(conflicts))


def test_lanes_that_lie_on_each_other_without_an_exit_are_a_conflict_like_any_other() -> None:
    site = Site(metric=True).lane("1.1", straight(100.0)).lane("2.1", [(-50.0, 50.0), (50.0, 50.0)])
    site.lane("3.1", straight(100.0, x=1.0, back=True))
    conflicts = conflicts_of(build(site.network()))
    kinds = {one.other: one.kind for one in conflicts.of(0)}
    assert kinds == {"2.1.1-2.1.2": ConflictKind.CROSSING, "3.1.1-3.1.5": ConflictKind.ONCOMING}
    found = table(conflicts)
    assert found["2.1.1-2.1.2", "1.1.1-1.1.5"] == "RIGHT"  # eastbound: who comes from the south is on the right
    assert found["3.1.1-3.1.5", "2.1.1-2.1.2"] == "RIGHT"
    (crossed,) = [c for c in conflicts.of(0) if c.other == "2.1.1-2.1.2"]
    assert (crossed.begin, crossed.end) == pytest.approx((50.0 - 1.375, 50.0 + 1.375), abs=1e-6)


def test_parallel_lanes_of_a_segment_and_ways_that_part_are_no_conflict() -> None:
    site = Site(metric=True).lane("1.1", straight(100.0)).lane("1.2", straight(100.0, x=2.0, back=True))
    site.lane("1.3", straight(100.0, x=4.0), exits=[("1.3.3", "2.1.1"), ("1.3.3", "2.2.1")])
    site.lane("2.1", [(20.0, 70.0), (60.0, 70.0)]).lane("2.2", [(20.0, 74.0), (60.0, 74.0)])
    conflicts = conflicts_of(build(site.network()))
    found = table(conflicts)
    own = {name for name in conflicts.lanelets.names if name.startswith("1.") and name.split("-")[1].startswith("1.")}
    assert not [pair for pair in found if set(pair) <= own]
    assert ("1.3.3-2.1.1", "1.3.3-2.2.1") not in found
    assert ("1.3.3-2.2.1", "1.3.3-2.1.1") not in found


def test_oncoming_lanes_that_are_drawn_over_each_other_are_a_conflict() -> None:
    site = Site(metric=True).lane("1.1", [(0.0, y) for y in (0.0, 50.0, 100.0)])
    site.lane("1.2", [(0.0, 100.0), (-0.2, 50.0), (-3.6, 0.0)])
    conflicts = conflicts_of(build(site.network()))
    ((begins, ends),) = zip(conflicts.begins, conflicts.ends, strict=True)
    assert conflicts.kinds.tolist() == [ConflictKind.ONCOMING]
    # from the end at which they lie on each other to where they are 2.2 m apart, abreast
    assert begins[1] == pytest.approx(0.0, abs=0.5)
    assert ends[0] == pytest.approx(100.0, abs=0.5)
    assert 10.0 < begins[0] < 35.0
    assert ends[1] == pytest.approx(100.0 - begins[0], abs=4.0)


def test_oncoming_lanes_are_a_conflict_where_they_leave_no_room_for_two_cars() -> None:
    def spans(least: float) -> list[list[float]]:
        site = Site(metric=True).lane("1.1", [(0.0, y) for y in (0.0, 50.0, 100.0, 150.0)])
        site.lane("1.2", [(-4.0, 150.0), (-4.0, 100.0), (-least, 75.0), (-4.0, 50.0), (-4.0, 0.0)])
        conflicts = conflicts_of(build(site.network()))
        return np.concatenate([conflicts.begins, conflicts.ends], axis=1).tolist()

    assert spans(2.2) == []
    ((begin, other, end, other_end),) = spans(0.9)
    assert 60.0 < begin < 75.0 < end < 90.0
    assert 60.0 < other < 75.0 < other_end < 90.0


def test_lanes_in_the_same_direction_are_a_conflict_where_they_leave_no_room_for_two_cars() -> None:
    def spans(least: float) -> list[list[float]]:
        site = Site(metric=True).lane("1.1", [(0.0, y) for y in (0.0, 50.0, 100.0, 150.0)])
        site.lane("1.2", [(4.0, 0.0), (4.0, 50.0), (least, 75.0), (4.0, 100.0), (4.0, 150.0)])
        conflicts = conflicts_of(build(site.network()))
        return np.concatenate([conflicts.begins, conflicts.ends], axis=1).tolist()

    assert spans(2.2) == []
    ((begin, other, end, other_end),) = spans(0.9)
    assert 60.0 < begin < 75.0 < end < 90.0
    assert 60.0 < other < 75.0 < other_end < 90.0


def test_oncoming_lanes_over_each_other_are_a_conflict_though_a_turn_leads_from_one_to_the_other() -> None:
    site = Site(metric=True).lane("1.1", straight(100.0), exits=[("1.1.5", "1.2.1")])
    site.lane("1.2", [(-0.4, 96.0), (-0.4, 50.0), (-0.4, 0.0)])
    assert frozenset(("1.1.1-1.1.5", "1.2.1-1.2.3")) in {
        frozenset(pair) for pair in table(conflicts_of(build(site.network())))
    }


def test_a_connector_shorter_than_a_car_leaves_the_fork_a_fork() -> None:
    site = Site(metric=True).lane("1.1", straight(50.0), exits=[("1.1.5", "2.1.1"), ("1.1.5", "3.1.1")])
    site.lane("2.1", straight(40.0, y=51.0)).lane("3.1", [(1.0, 52.0), (3.0, 56.0), (20.0, 66.0)])
    assert len(conflicts_of(build(site.network()))) == 0


def test_a_stop_line_in_mid_lane_without_a_conflict_belongs_to_no_junction() -> None:
    roadmap = build(Site(metric=True).lane("1.1", straight(100.0), stops=["1.1.3"]).network())
    assert stop_junctions(conflicts_of(roadmap)) == {point("1.1.3"): None}


def test_a_stop_line_is_meant_for_conflicts_behind_it_up_to_forty_metres() -> None:
    def rule(gap: float) -> set[str]:
        site = Site(metric=True).lane("1.1", [(0.0, 0.0), (0.0, 60.0), (0.0, 200.0)], stops=["1.1.2"])
        site.lane("2.1", [(-50.0, 60.0 + gap), (50.0, 60.0 + gap)])
        return set(table(conflicts_of(build(site.network()))).values())

    assert rule(30.0) == {"STOP"}
    assert rule(50.0) == {"RIGHT"}


def test_a_stop_line_lies_behind_whoever_has_turned_onto_another_lane() -> None:
    site = Site(metric=True).lane("1.1", [(0.0, -20.0), (0.0, -4.0)], exits=[("1.1.2", "2.1.1")], stops=["1.1.2"])
    site.lane("2.1", [(4.0, 0.0), (30.0, 0.0), (60.0, 0.0)])
    site.lane("2.2", [(60.0, 4.0), (30.0, 4.0), (0.0, 4.0)], exits=[("2.2.2", "3.1.1")])
    site.lane("3.1", [(22.0, -4.0), (22.0, -40.0)])
    assert table(conflicts_of(build(site.network()))) == {("2.2.2-3.1.1", "2.1.1-2.1.3"): "LANE"}


def test_who_drives_into_a_zone_meets_who_drives_out_at_the_same_point() -> None:
    site = Site(metric=True).lane("1.1", [(0.0, 0.0), (0.0, 20.0)], exits=[("1.1.2", "3.0.1")])
    site.lane("2.1", [(-4.0, 20.0), (-4.0, 0.0)])
    site.zone(3, [(-2.0, 28.0), (20.0, 28.0), (20.0, 48.0), (-20.0, 48.0)], exits=[("3.0.1", "2.1.1")])
    roadmap = build(site.network())
    conflicts = conflicts_of(roadmap)
    assert table(conflicts) == {("3.0.1-2.1.1", "1.1.2-3.0.1"): "ID"}
    (found,) = intersections(roadmap)
    assert [list(map(str, approach.points)) for approach in found.approaches] == [["1.1.2"], ["3.0.1"]]
    assert list(map(str, found.departures)) == ["2.1.1", "3.0.1"]
    assert [one.kind for one in conflicts.of(conflicts.lanelets.rows["1.1.2-3.0.1"])] == [ConflictKind.ONCOMING]


def test_a_junction_is_found_by_its_stop_line_or_an_end_of_its_lanelets() -> None:
    conflicts = named("sample")
    junction = junction_at(conflicts, point("3.1.3"))
    assert junction is not None
    assert [str(p) for p in junction.stops] == ["3.1.3", "3.2.10", "13.1.9"]
    assert junction_at(conflicts, point("13.2.1")) is junction
    assert junction_at(conflicts, point("2.1.2")) is None
    with pytest.raises(ModelError, match="did you mean"):
        junction_at(conflicts, point("3.1.99"))


def every_pair(count: int) -> RoadNetwork:
    """Two lanes with an exit from each waypoint of the one to each of the other."""
    site = Site(metric=True)
    site.lane("1.1", straight(10.0 * count, count)).lane("2.1", straight(10.0 * count, count, x=20.0))
    ends = range(1, count + 1)
    exits = tuple(Exit(PointId(1, 1, a), PointId(2, 1, b)) for a in ends for b in ends)
    site.lanes[0] = replace(site.lanes[0], exits=exits)
    return site.network()


@pytest.mark.parametrize(
    ("count", "reason"),
    [
        (41, r"overlap in more than \d+ places"),
        (141, r"overlap in more than \d+ places"),
        (317, "has 100489 exits; lanelets are made of up to 20000"),
    ],
)
def test_exits_that_lie_on_each_other_by_the_thousand_are_refused_at_once(count: int, reason: str) -> None:
    roadmap = build(every_pair(count))
    began = time.process_time()
    with pytest.raises(ModelError, match=reason):
        conflicts_of(roadmap)
    assert time.process_time() - began < 5.0  # 1.7 s


@settings(max_examples=30, deadline=None)
@given(st.one_of(cities(), networks()))
def test_overlaps_found_by_cells_are_those_of_the_index(network: RoadNetwork) -> None:
    lanelets = build_lanelets(build(network))
    by_cells = overlaps(lanelets)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(swept, "_near", lambda *_: None)
        by_index = overlaps(lanelets)
    for one, other in zip(by_cells, by_index, strict=True):
        np.testing.assert_array_equal(one, other)


# --- laws -------------------------------------------------------------------------------------------------------


def hold_laws(conflicts: Conflicts) -> None:
    lanelets = conflicts.lanelets
    one, other = conflicts.pairs.T
    assert np.all(one < other)
    assert np.all(conflicts.begins >= 0.0)
    assert np.all(conflicts.begins <= conflicts.ends)
    assert np.all(conflicts.ends <= lanelets.lengths[conflicts.pairs] + 1e-6)
    decided: dict[tuple[int, int], tuple[int, int]] = {}
    columns = (conflicts.pairs.tolist(), conflicts.rules.tolist(), conflicts.yields.tolist())
    for pair, rule, side in zip(*columns, strict=True):
        assert decided.setdefault(tuple(pair), (rule, side)) == (rule, side)
    own = conflicts.by_lanelet
    assert own.offsets[-1] == 2 * len(conflicts)
    for row in range(len(lanelets)):
        for entry in range(own.offsets[row], own.offsets[row + 1]):
            pair = conflicts.pairs[own.rows[entry]]
            assert pair[own.sides[entry]] == row
            assert pair[1 - own.sides[entry]] == own.others[entry]
    segments = np.array([curve.id[0] for curve in lanelets.roadmap.lanes])
    lanes = lanelets.lanes[conflicts.pairs]
    both = np.flatnonzero((lanes.min(axis=1) >= 0) & (lanes[:, 0] != lanes[:, 1]))
    for row in both[segments[lanes[both, 0]] == segments[lanes[both, 1]]]:
        ends = [lanelets[int(k)] for k in conflicts.pairs[row]]
        turns = [np.ptp(end.headings) for end in ends]
        turned = wrap(np.array(ends[0].headings[0] - ends[1].headings[0]))
        assert abs(np.cos(turned)) < 0.72 or max(turns) > 0.1  # lanes of a segment meet only where they cross
    junctions = find_junctions(conflicts)
    assert sorted(row for j in junctions for row in j.conflicts) == list(range(len(conflicts)))
    stops = stop_junctions(conflicts)
    assert set(stops) >= {lanelets[int(row)].target for row in np.flatnonzero(lanelets.stops)}
    assert all(p in junctions[index].stops for p, index in stops.items() if index is not None)


@given(networks())
@settings(max_examples=120)
def test_laws_hold_for_odd_networks(network: RoadNetwork) -> None:
    hold_laws(conflicts_of(build(network)))


@given(networks())
@settings(max_examples=6)
def test_swept_areas_overlap_wherever_scattered_points_say_so(network: RoadNetwork) -> None:
    lanelets = build_lanelets(build(network))
    hold_twin(lanelets, both_ways=False)


@pytest.mark.parametrize("name", ["four_way_stop", "loop", "parking", "roundabout"])
def test_swept_areas_overlap_exactly_where_scattered_points_say_so(name: str) -> None:
    hold_twin(named(name).lanelets, both_ways=True)


def hold_twin(lanelets: Lanelets, *, both_ways: bool) -> None:
    """Compare with points scattered in the swept areas, for pairs whose boxes are near each other."""
    found = overlaps(lanelets)
    widths = swept_widths(lanelets)
    ranges: dict[tuple[int, int], tuple[float, float]] = {}
    for one, other, begin, end in zip(*(column.tolist() for column in found[:4]), strict=True):
        old = ranges.get((one, other), (begin, end))
        ranges[one, other] = min(begin, old[0]), max(end, old[1])
    boxes = np.array([[*line.samples.min(axis=0) - 1.5, *line.samples.max(axis=0) + 1.5] for line in lanelets])
    for one in range(len(lanelets)):
        apart = (boxes[:, :2] > boxes[one, 2:]).any(axis=1) | (boxes[:, 2:] < boxes[one, :2]).any(axis=1)
        for other in (np.flatnonzero(~apart[one + 1 :]) + one + 1).tolist():
            twin = swept_overlap(lanelets, one, other, widths)
            mine = ranges.get((one, other))
            if twin is not None:
                assert mine is not None, (lanelets.names[one], lanelets.names[other])
                assert mine[0] <= twin[0] + 0.1  # on a bend, abeam of a chord is not abeam of its ends
                assert mine[1] >= twin[1] - 0.1
            elif both_ways and mine is not None:
                assert mine[1] - mine[0] < 1.5, (lanelets.names[one], lanelets.names[other])


@given(cities(), st.floats(-np.pi, np.pi))
@settings(max_examples=8)
def test_relations_do_not_depend_on_where_north_is(network: RoadNetwork, angle: float) -> None:
    flat = metric(network)
    assert table(conflicts_of(build(turned(flat, angle)))) == table(conflicts_of(build(flat)))


@given(cities())
@settings(max_examples=8)
def test_relations_do_not_depend_on_ids_but_where_ids_break_ties(network: RoadNetwork) -> None:
    flat = metric(network)
    top = 1 + max(segment.number for segment in flat.segments)

    def renamed(name: str) -> str:
        ends = [list(map(int, end.split("."))) for end in name.split("-")]
        return "-".join(f"{top - a}.{b}.{c}" for a, b, c in ends)

    one, other = table(conflicts_of(build(flat))), table(conflicts_of(build(renumbered(flat))))
    assert len(one) == len(other)
    back = {(renamed(a), renamed(b)): rule for (a, b), rule in other.items()}
    for pair, rule in one.items():
        assert back.get(pair, back.get(pair[::-1])) == rule
        if rule in ("STOP", "LANE", "SUBORDINATE", "RIGHT", "LEFT_TURN"):
            assert pair in back


@given(cities())
@settings(max_examples=8)
def test_in_a_mirror_signs_and_lanes_decide_the_same_and_the_right_becomes_the_left(network: RoadNetwork) -> None:
    flat = metric(network)
    one, other = table(conflicts_of(build(flat))), table(conflicts_of(build(mirrored(flat))))
    assert {frozenset(pair) for pair in one} == {frozenset(pair) for pair in other}
    for pair, rule in one.items():
        if rule in ("STOP", "LANE", "SUBORDINATE"):
            assert other[pair] == rule
        elif rule == "RIGHT":
            assert other[pair[::-1]] == rule


def test_lane_and_an_exit_from_its_end_that_turns_back_over_it_are_in_conflict():
    site = Site(metric=True)
    site.lane("1.1", [(0.0, 0.0), (30.0, 0.0)], exits=[("1.1.2", "2.1.1"), ("1.1.2", "3.1.1")])
    site.lane("2.1", [(40.0, 0.0), (70.0, 0.0)])
    site.lane("3.1", [(22.0, -2.0), (0.0, -6.0)])
    lanelets = build_lanelets(build(site.network()))
    found = {frozenset(lanelets.names[row] for row in rows) for rows in find_conflicts(lanelets).pairs.tolist()}
    assert frozenset(("1.1.1-1.1.2", "1.1.2-3.1.1")) in found
    assert frozenset(("1.1.1-1.1.2", "1.1.2-2.1.1")) not in found
