"""Rules about references: each finding at the line of its record, with the nearest existing id."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cbsim.errors import Location, Problem, Problems
from cbsim.lint.network import lint_network
from cbsim.spec.road import Checkpoint, Crossing, RoadNetwork
from tests.road.site import FILE, Site, point, straight


def lint(network: RoadNetwork, code: str = "") -> list[Problem]:
    problems = Problems()
    lint_network(network, problems)
    return [p for p in problems if p.code.startswith(code)]


def one_lane(**options: object) -> RoadNetwork:
    return Site(metric=True).lane("1.1", straight(100.0), **options).network()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"exits": [("1.1.5", "1.1.8")]}, "exit '1.1.5' to '1.1.8' names a missing point '1.1.8'"),
        ({"exits": [("1.1.8", "1.1.1")]}, "exit '1.1.8' to '1.1.1' names a missing point '1.1.8'"),
        ({"stops": ["1.1.8"]}, "stop '1.1.8' names a missing point '1.1.8'"),
        ({"checkpoints": [("1.1.8", 7)]}, "checkpoint '7' names a missing point '1.1.8'"),
    ],
)
def test_missing_point_is_named_at_the_line_of_its_record(options: dict[str, object], what: str) -> None:
    (found,) = lint(one_lane(**options), "E201")
    assert found.message == what
    assert found.location == Location(FILE, 101)
    assert found.hint == "did you mean '1.1.5'?"


def test_missing_point_of_a_crossing_is_named() -> None:
    network = one_lane()
    lane = replace(network.segments[0].lanes[0], crossings=(Crossing("cross", point("1.1.9"), "1.1", "stop"),))
    changed = replace(network, segments=(replace(network.segments[0], lanes=(lane,)),))
    assert [p.message for p in lint(changed, "E201")] == ["cross at '1.1.9' names a missing point '1.1.9'"]


def test_missing_point_of_a_perimeter_exit_is_named() -> None:
    site = Site(metric=True).lane("1.1", straight(10.0))
    network = site.zone(2, [(0, 10), (9, 10), (9, 0)], exits=[("2.0.7", "1.2.1")]).network()
    found = lint(network, "E201")
    assert [p.hint for p in found] == ["did you mean '2.0.3'?", "did you mean '1.1.1'?"]
    assert {p.location.line for p in found} == {201}


def test_an_exit_that_is_missing_on_both_ends_alike_is_told_once() -> None:
    assert len(lint(one_lane(exits=[("3.1.1", "3.1.1")]), "E201")) == 1


def test_duplicate_exit_names_both_lines() -> None:
    (found,) = lint(one_lane(exits=[("1.1.5", "1.1.1"), ("1.1.3", "1.1.1"), ("1.1.5", "1.1.1")]), "W202")
    assert found.message == "exit '1.1.5' to '1.1.1' is written twice"
    assert (found.location.line, found.also) == (103, Location(FILE, 101))


def test_duplicate_stop_is_told_too() -> None:
    (found,) = lint(one_lane(stops=["1.1.2", "1.1.2"]), "W202")
    assert found.message == "stop '1.1.2' is written twice"


def test_exits_to_itself_or_to_the_next_waypoint_are_needless() -> None:
    found = lint(one_lane(exits=[("1.1.5", "1.1.1"), ("1.1.2", "1.1.2"), ("1.1.2", "1.1.3")]), "W203")
    assert [p.message for p in found] == [
        "exit '1.1.2' leads to itself",
        "exit '1.1.2' to '1.1.3' leads to the next waypoint of the same lane",
    ]
    assert [p.location.line for p in found] == [102, 103]


def test_reused_checkpoint_id_names_both_points_and_lines() -> None:
    (found,) = lint(one_lane(checkpoints=[("1.1.2", 7), ("1.1.3", 8), ("1.1.4", 7)]), "E204")
    assert found.message == "checkpoint id '7' of '1.1.4' already belongs to '1.1.2'; that one holds"
    assert (found.location.line, found.also) == (103, Location(FILE, 101))


def test_a_waypoint_with_two_checkpoint_ids_is_suspicious_but_allowed() -> None:
    found = lint(one_lane(checkpoints=[("1.1.2", 7), ("1.1.2", 8), ("1.1.2", 7)]))
    assert [p.message for p in found if p.code == "W205"] == [
        "'1.1.2' has the checkpoint ids '7' and '8'",
        "'1.1.2' has id '7' twice",
    ]
    assert not [p for p in found if p.code == "E204"]


def test_the_centre_of_a_spot_should_be_a_checkpoint() -> None:
    corners = [(0, 40), (40, 40), (40, 0), (0, 0)]
    spots = [((10.0, 10.0), (10.0, 15.0)), ((20.0, 10.0), (20.0, 15.0)), ((30.0, 10.0), (30.0, 15.0))]
    network = Site(metric=True).zone(1, corners, spots=spots, checkpoints=[("1.2.2", 3), ("1.3.1", 4)]).network()
    found = lint(network, "W206")
    assert [p.location.inside for p in found] == ["1.1.2", "1.3.2"]
    assert [p.location.line for p in found] == [173, 177]


def test_a_stop_where_nothing_leaves_the_lane_is_suspicious() -> None:
    found = lint(one_lane(stops=["1.1.3", "1.1.5"], exits=[("1.1.5", "1.1.1")]), "W207")
    assert [p.message for p in found] == ["stop '1.1.3' stands where no exit leaves the lane"]


def test_a_perimeter_exit_to_a_perimeter_is_suspicious() -> None:
    site = Site(metric=True).zone(1, [(0, 10), (9, 10), (9, 0)], exits=[("1.0.3", "2.0.1")])
    network = site.zone(2, [(0, -10), (9, -10), (9, -20)], exits=[("2.0.1", "1.0.3")]).network()
    found = lint(network, "W208")
    assert [p.location.line for p in found] == [101, 201]
    assert found[0].hint == "expected a waypoint of a lane"


def test_records_without_a_line_are_told_all_the_same() -> None:
    network = one_lane()
    lane = replace(network.segments[0].lanes[0], checkpoints=(Checkpoint(point("7.7.7"), 1),))
    changed = replace(network, segments=(replace(network.segments[0], lanes=(lane,)),))
    assert lint(changed, "E201")[0].location == Location("")
