"""Rules about missions, alone and against a network."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cbsim.errors import Location, Problem, Problems
from cbsim.formats import read_file
from cbsim.lint.mission import lint_mission
from cbsim.spec.mission import Mission, MissionCheckpoint, SpeedLimit
from cbsim.spec.road import RoadNetwork
from tests.common import shared
from tests.lint.test_network import NETWORKS
from tests.road.site import Site, straight

MPH = 0.44704
FILE = "m.mdf"


def mission(*numbers: int, limits: list[tuple[int, float, float]] | None = None, network: str = "site") -> Mission:
    entries = tuple(MissionCheckpoint(n, Location(FILE, 10 + k)) for k, n in enumerate(numbers))
    speeds = [
        SpeedLimit(s, low * MPH, high * MPH, Location(FILE, 50 + k)) for k, (s, low, high) in enumerate(limits or [])
    ]
    return Mission("m", network, entries, None if limits is None else tuple(speeds), location=Location(FILE, 1))


def lint(subject: Mission, network: RoadNetwork | None, code: str = "") -> list[Problem]:
    problems = Problems()
    lint_mission(subject, network, problems)
    return [p for p in problems if p.code.startswith(code)]


@pytest.fixture
def network() -> RoadNetwork:
    """Two roads one after the other, round again from the second to the first, and a third that nothing leads to."""
    site = Site(metric=True).lane("1.1", straight(100.0), exits=[("1.1.5", "2.1.1")], checkpoints=[("1.1.2", 1)])
    site.lane("2.1", straight(100.0, y=120.0), exits=[("2.1.5", "1.1.1")], checkpoints=[("2.1.3", 2)])
    return site.lane("3.1", straight(100.0, x=50.0), checkpoints=[("3.1.3", 5), ("3.1.9", 8)]).network()


LIMITS = [(1, 0, 20), (2, 10, 20), (3, 0, 20)]


def test_a_good_mission_has_only_its_length_to_report(network: RoadNetwork) -> None:
    (found,) = lint(mission(1, 2, limits=LIMITS), network)
    assert found.code == "I509"
    assert found.message == "the mission is 0.145 km long with 0 lane changes and takes 0.3 min at the speed limits"


def test_a_limit_at_which_a_mission_takes_for_ever_gives_no_duration_and_no_warning(network: RoadNetwork) -> None:
    (found,) = lint(mission(1, 2, limits=[(segment, 0, 2.3e-308) for segment in (1, 2, 3)]), network, "I509")
    assert found.message == "the mission is 0.145 km long with 0 lane changes"


def test_an_unknown_checkpoint_is_told_at_its_line_with_the_nearest_id(network: RoadNetwork) -> None:
    found = lint(mission(1, 3, 99), network, "E501")
    assert [(p.location.line, p.hint) for p in found] == [(11, "did you mean '2'?"), (12, "there are 1 to 8")]
    assert found[0].message == "the network has no checkpoint '3'"


def test_a_checkpoint_on_a_missing_point_is_told(network: RoadNetwork) -> None:
    (found,) = lint(mission(8), network, "E501")
    assert found.message == "checkpoint '8' of the network is on a missing point '3.1.9'"


def test_an_unreachable_leg_is_told_once_with_what_would_help(network: RoadNetwork) -> None:
    found = lint(mission(1, 5, 1, 5, 2), network, "E502")
    assert [p.location.line for p in found] == [11, 12, 14]
    assert found[0].message == "no route from checkpoint '1' (1.1.2) to '5' (3.1.3), 2 times"
    restart = "'restart: true' of a scenario's mission sets the car to its lane"
    assert found[0].hint == f"neither a lane change nor a U-turn would help; {restart}"


def test_a_leg_that_needs_a_u_turn_says_so() -> None:
    site = Site(metric=True).lane("1.1", straight(50.0), checkpoints=[("1.1.2", 1)])
    site.lane("1.2", straight(50.0, x=-3.66, back=True), checkpoints=[("1.2.4", 2)])
    (found,) = lint(mission(1, 2), site.network(), "E502")
    assert found.hint == "a U-turn at the end of a lane would help"


def test_speed_limits_of_unknown_segments_and_segments_without_limits(network: RoadNetwork) -> None:
    subject = mission(1, 2, limits=[(1, 0, 20), (4, 0, 20), (77, 0, 20)])
    assert [(p.location.line, p.hint) for p in lint(subject, network, "W503")] == [
        (51, "did you mean '3'?"),
        (52, "there are 1 to 3"),
    ]
    (missing,) = lint(subject, network, "I504")
    assert missing.message == "no speed limit for 2 of 3 segments and zones: 2, 3"


def test_a_mission_without_speed_limits_lacks_all_of_them(network: RoadNetwork) -> None:
    assert "3 of 3" in lint(mission(1, 2), network, "I504")[0].message


@pytest.mark.parametrize(
    ("low", "high", "codes"),
    [
        (10, 20, []),
        (20, 20, []),
        (21, 20, ["W505"]),
        (30, 0, []),
        (0, 30, []),
        (0, 31, ["W506"]),
        (40, 35, ["W505", "W506"]),
    ],
)
def test_speeds(low: float, high: float, codes: list[str]) -> None:
    assert [p.code for p in lint(mission(1, limits=[(1, low, high)]), None)] == codes


@pytest.mark.parametrize("name", ["site", "SITE", "site.rndf", "folder/site.txt", "RNDF_site", "site_rndf.rdf", ""])
def test_the_network_may_be_meant_by_its_name_or_its_file(network: RoadNetwork, name: str) -> None:
    assert lint(mission(1, network=name), network, "W507") == []


@pytest.mark.parametrize(
    ("numbers", "hint"),
    [
        ((1, 2, 1), "its 2 checkpoints exist here too, perhaps by chance"),
        ((1, 77, 78), "2 of its 3 checkpoints do not exist here"),
    ],
)
def test_mission_of_another_network_is_a_warning_that_says_whether_its_checkpoints_exist(
    network: RoadNetwork, numbers: tuple[int, ...], hint: str
) -> None:
    (found,) = lint(mission(*numbers, network="other"), network, "W507")
    assert found.message == "the mission was written for 'other', the network is 'site'"
    assert found.hint == hint


def test_repeated_checkpoints_are_counted_and_those_in_a_row_mean_to_drive_round(network: RoadNetwork) -> None:
    found = lint(mission(1, 2, 2, 1, 5), network, "I508")
    assert [p.location.line for p in found] == [12, 13]
    assert "twice in a row" in found[0].message
    assert found[1].message == "2 of 3 checkpoints are visited more than once: 1 (2 times), 2 (2 times)"
    (length,) = lint(mission(2, 2), network, "I509")
    assert "0.440 km" in length.message


def test_length_without_the_legs_that_cannot_be_driven(network: RoadNetwork) -> None:
    (found,) = lint(mission(1, 2, 5), network, "I509")
    assert found.hint == "without 1 of its legs"


def test_without_a_network_only_the_mission_itself_is_judged() -> None:
    found = lint(mission(1, 1, 9, limits=[(1, 9, 5)]), None)
    assert [p.code for p in found] == ["W505", "I508", "I508"]


def test_an_empty_mission_is_no_reason_to_stop(network: RoadNetwork) -> None:
    assert {p.code for p in lint(mission(), network)} == {"I504"}
    assert lint(mission(), None) == []


def test_a_network_that_cannot_be_drawn_still_knows_its_checkpoints(network: RoadNetwork) -> None:
    broken = replace(network, zones=Site(metric=True).zone(9, [(0, 0), (1e300, 0)]).zones)
    assert [p.code for p in lint(mission(1, 99, limits=LIMITS), broken)] == ["E501", "I504"]


@given(NETWORKS, st.lists(st.integers(-1, 4), max_size=6), st.booleans())
@settings(max_examples=100, deadline=None)
def test_any_mission_on_any_network_gives_findings_and_no_exception(
    network: RoadNetwork, numbers: list[int], limited: bool
) -> None:
    limits = [(n, float(n), 40.0 / (n + 2)) for n in numbers] if limited else None
    assert all(str(p) for p in lint(mission(*numbers, limits=limits), network))


def test_missions_of_darpa_are_without_errors_and_of_their_published_length() -> None:
    for network, name, length in (
        ("navguide/Sample_RNDF.txt", "navguide/Sample_MDF.txt", "12.003 km long with 0 lane changes"),
        ("cornell/NQE-General_Files__nqe_rndf.rdf", "cornell/NQE-Area_C__nqe_c_mdf.mdf", "2.297 km"),
    ):
        found = lint(read_file(shared("mdf", name)).spec, read_file(shared("rndf", network)).spec)
        assert not [p for p in found if p.code[0] != "I"]
        assert length in found[-1].message


def test_unknown_checkpoints_of_a_real_mission_are_found() -> None:
    found = lint(
        read_file(shared("mdf", "stanford/demo_mdf.txt")).spec, read_file(shared("rndf", "stanford/demo_rndf.txt")).spec
    )
    assert {p.message for p in found if p.code == "E501"} == {
        f"the network has no checkpoint '{n}'" for n in (0, 40, 60)
    }
