"""Linting a scenario: what it names must exist, and every complaint points to the line that asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cbsim.errors import Problems
from cbsim.formats import read_file
from cbsim.lint.scenario import lint_scenario
from cbsim.paths import Files

NETWORK = """\
RNDF_name site
num_segments 1
num_zones 0
segment 1
num_lanes 1
lane 1.1
num_waypoints 3
checkpoint 1.1.2 1
1.1.1 30.200000 -92.000000
1.1.2 30.200300 -92.000000
1.1.3 30.200600 -92.000000
end_lane
end_segment
end_file
"""

MISSION = """\
MDF_name m
RNDF site
checkpoints
num_checkpoints 1
{checkpoint}
end_checkpoints
speed_limits
num_speed_limits 1
1 0 25
end_speed_limits
end_file
"""

OBJECTS = """\
<?xml version="1.0" encoding="UTF-8"?>
<object_file>
  <name>site</name>
  <object type="autonomous" shape="box">
    <name>Bot</name>
    <start_position segment="1" lane="1" waypoint="1"/>
    <position_offset x="0" y="0" z="0"/>
    <orientation_offset x="0" y="0" z="0"/>
    <size x="1.7" y="3.68" z="2.16"/>
    <wheels type="1" radius="0.38" width="0.2"/>
    <steering throttle_rate="2" lever_rate="0.5"/>
    <sensor conf="{conf}"/>
  </object>
  <object type="dynamic" shape="box">
    <name>Car</name>
    <start_position segment="1" lane="1" waypoint="1"/>
    <position_offset x="0" y="0" z="0"/>
    <orientation_offset x="0" y="0" z="0"/>
    <size x="2" y="4" z="1.5"/>
    <initial_pause>0</initial_pause>
    <goal speed="2" pause="0" segment="1" lane="1" waypoint="{goal}"/>
  </object>
</object_file>
"""

Write = Callable[..., Path]


@pytest.fixture
def site(tmp_path: Path) -> Write:
    """Write a scenario beside a network, a mission and an object file."""

    def write(
        text: str, *, goal: int = 3, conf: str = "cajunbot/onboard/scan_gp_driver_0.conf", checkpoint: int = 1
    ) -> Path:
        (tmp_path / "site.rndf").write_text(NETWORK, encoding="utf-8")
        (tmp_path / "site.mdf").write_text(MISSION.format(checkpoint=checkpoint), encoding="utf-8")
        (tmp_path / "site.xml").write_text(OBJECTS.format(goal=goal, conf=conf), encoding="utf-8")
        path = tmp_path / "site.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def lint(path: Path) -> list[tuple[str, int | None, str, str]]:
    files = Files([path])
    reading = read_file(path, files)
    assert not list(reading.problems), [str(p) for p in reading.problems]
    lint_scenario(reading.spec, files, reading.problems)
    return [(Path(p.location.path).name, p.location.line, p.code, p.hint) for p in reading.problems]


GOOD = "network: site\nmission: site.mdf\nobjects: site.xml\n"


def test_scenario_whose_parts_fit_has_no_complaints(site: Write) -> None:
    text = GOOD + (
        "add: [{name: Box, at: 1.1.2}]\n"
        "place: {Car: 1.1.1}\n"
        "planner: {Bot: 'm:C'}\n"
        "expect: [{reach: {object: Car, waypoint: 1.1.3}}, {rest: {object: Box}}]\n"
    )
    assert lint(site(text)) == []


@pytest.mark.parametrize(
    ("text", "line", "hint"),
    [
        ("network: siet\n", 1, "did you mean 'site'?"),
        ("network: site\nmission: sit.mdf\n", 2, "did you mean 'site.mdf'?"),
        ("network: site\nobjects:\n  - site.xml\n  - sites.xml\n", 4, "did you mean 'site.xml'?"),
        ("network: site\nmodels:\n  - {file: walker.jm}\n", 3, ""),
    ],
)
def test_missing_file_is_told_at_the_line_that_names_it(site: Write, text: str, line: int, hint: str) -> None:
    assert lint(site(text)) == [("site.yaml", line, "E011", hint)]


def test_file_of_another_format_is_told(site: Write) -> None:
    assert lint(site("network: site.xml\n")) == [("site.yaml", 1, "E002", "")]


def test_errors_inside_a_named_file_are_told_in_that_file(site: Write) -> None:
    path = site(GOOD, goal=9, checkpoint=7, conf="none.conf")
    names = [(name, line, code) for name, line, code, _ in lint(path)]
    assert names == [("site.mdf", 5, "E501"), ("site.xml", 12, "W655"), ("site.xml", 21, "E654")]


def test_missing_conf_is_an_error_when_strict(site: Write) -> None:
    path = site(GOOD, conf="none.conf")
    files, problems = Files([path]), Problems()
    lint_scenario(read_file(path, files).spec, files, problems, strict=True)
    assert [(p.code, p.location.line) for p in problems] == [("E655", 12)]


def test_object_file_that_cannot_be_read_is_told_once_and_names_are_left_alone(site: Write) -> None:
    path = site(GOOD + "expect: [{rest: {object: Nobody}}]\n")
    (path.parent / "site.xml").write_text("<object_file>", encoding="utf-8")
    assert {code for _, _, code, _ in lint(path)} == {"E020"}


POOLS = "traffic: [{name: west, count: 4}, {name: alone, count: 1}, {name: east, flow: 9, from: 1.1.1}]\n"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("west 4", None),
        ("east 90", None),
        ("west 5", "there is 'west 1' to 'west 4'"),
        ("west 0", "there is 'west 1' to 'west 4'"),
        ("east 0", "there is 'east 1' and so on"),
        ("west", "'west' is a pool: there is 'west 1' to 'west 4'"),
        ("nobody", "there is Bot, Car, 'west 1' to 'west 4', 'alone 1', 'east 1' and so on"),
    ],
)
def test_unknown_car_of_a_pool_is_told_with_the_pools(site: Write, name: str, hint: str | None) -> None:
    path = site(GOOD + POOLS + f"expect: [{{rest: {{object: {name}}}}}]\n")
    found = [told for _, _, code, told in lint(path) if code == "E821"]
    assert found == ([] if hint is None else [hint])


@pytest.mark.parametrize(
    ("text", "code", "hint"),
    [
        ("place: {Cra: 1.1.1}\n", "E821", "did you mean 'Car'?"),
        ("place: {Box: 1.1.1}\nadd: [{name: Box}]\n", "E821", "give its position there"),
        ("expect: [{rest: {object: Bott}}]\n", "E821", "did you mean 'Bot'?"),
        ("planner: {Boot: 'm:C'}\n", "E821", "did you mean 'Bot'?"),
        ("planner: {Car: 'm:C'}\n", "E825", "there is Bot"),
        ("place: {Car: 1.1.4}\n", "E822", "did you mean '1.1.3'?"),
        ("expect: [{reach: {object: Car, waypoint: 1.2.3}}]\n", "E822", "did you mean '1.1.3'?"),
        ("add: [{name: Box, at: 1.1.7}]\n", "E654", "did you mean '1.1.3'?"),
        ("add: [{name: V, kind: dynamic, at: 1.1.1, goals: [{lane: 1.3, speed: 1}]}]\n", "E661", "did you mean '1.1'?"),
        ("duration: 10\nexpect: [{rest: {object: Car, from: 11}}]\n", "W827", ""),
    ],
)
def test_name_or_waypoint_that_does_not_exist_is_told_with_the_nearest(
    site: Write, text: str, code: str, hint: str
) -> None:
    found = lint(site(GOOD + text))
    last = GOOD.count("\n") + (2 if text.startswith("duration") else 1)
    assert [(line, c, h) for _, line, c, h in found] == [(last, code, hint)]


def test_without_a_network_every_waypoint_is_told(site: Write) -> None:
    text = "mission: site.mdf\nadd:\n  - {name: Box, at: 1.1.1}\nexpect:\n  - reach: {object: Box, waypoint: 1.1.2}\n"
    assert [(line, code) for _, line, code, _ in lint(site(text))] == [(1, "E820"), (3, "E822"), (5, "E822")]


def test_world_of_positions_needs_neither_network_nor_objects(site: Write) -> None:
    assert (
        lint(site("add: [{name: Box, position: [1, 2, 0]}]\nexpect: [{reach: {object: Box, position: [1, 2, 0]}}]\n"))
        == []
    )


def test_planner_for_the_first_bot_needs_a_bot(site: Write) -> None:
    assert [code for _, _, code, _ in lint(site("add: [{name: Box}]\nplanner: m:C\n"))] == ["E825"]


def test_name_in_two_places_is_told_with_both(site: Write) -> None:
    path = site(GOOD + "add:\n  - name: Car\nmodels: []\n")
    files = Files([path])
    reading = read_file(path, files)
    lint_scenario(reading.spec, files, reading.problems)
    assert [(p.code, p.location.line) for p in reading.problems] == [("W824", 5)]
    also = reading.problems.warnings[0].also
    assert also is not None
    assert Path(also.path).name == "site.xml"


def test_network_and_objects_given_by_the_caller_take_the_place_of_those_named(site: Write) -> None:
    path = site("network: gone\nobjects: gone.xml\nexpect: [{reach: {object: Car, waypoint: 1.1.3}}]\n")
    files = Files([path])
    network, objects = read_file(path.parent / "site.rndf").spec, read_file(path.parent / "site.xml").spec
    problems = Problems()
    lint_scenario(read_file(path, files).spec, files, problems, network=network, objects=[objects])
    assert [str(p) for p in problems] == []


def test_what_has_been_told_already_is_not_told_again(site: Write) -> None:
    path = site("network: siet\nplace: {Cra: 1.1.1}\n")
    files = Files([path])
    reading = read_file(path, files)
    lint_scenario(reading.spec, files, reading.problems)
    once = list(reading.problems)
    lint_scenario(reading.spec, files, reading.problems)
    assert list(reading.problems) == once


def test_nothing_outside_the_allowed_folders_is_looked_at(site: Write) -> None:
    for name in ("hosts", "nothing-is-here"):
        found = lint(site(f"network: /etc/{name}\nobjects: ../../../../etc/{name}\n"))
        assert [code for _, _, code, _ in found] == ["E010", "E010"]  # whether there is such a file or not


@pytest.mark.parametrize(
    ("rule", "missing"),
    [
        ("lane: {object: Bot}", "a network"),
        ("stop_line: {object: Bot}", "a network"),
        ("checkpoints: {object: Bot}", "a network and a mission"),
        ("mission_time: {object: Bot, at_most: 5}", "a network and a mission"),
        ("speed: {object: Bot}", "a network and a mission"),
    ],
)
def test_rule_that_needs_what_is_not_there_is_told_at_its_line(tmp_path: Path, rule: str, missing: str) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(f"add:\n  - {{name: Bot, kind: autonomous}}\nexpect:\n  - {rule}\n  - collision: {{object: Bot}}\n")
    problems = Problems()
    reading = read_file(path, Files([path]))
    lint_scenario(reading.spec, Files([path]), problems)  # type: ignore[arg-type]
    (problem,) = problems.errors
    assert problem.code == "E826"
    assert problem.location.line == 4
    assert problem.message.endswith(f"needs {missing}")
