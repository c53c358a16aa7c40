"""The key `mission` of scenarios: short and long, read, written, and with every mistake at its line."""

from __future__ import annotations

import pytest

import cbsim
from cbsim.errors import FileError, Problems
from cbsim.formats import scenario
from cbsim.formats.reader import Source
from cbsim.spec.events import Condition
from cbsim.spec.mission_clock import MissionClock
from cbsim.spec.scenario import Scenario

LONG = """\
mission:
  file: four_way_stop
  delay: 20
  pauses:
    - {at: 60, for: 10}
    - {when: {speed: {object: Bot, above: 8.9}}}
  restart: true
"""


def read(text: str) -> tuple[Scenario | None, list[str]]:
    problems = Problems()
    spec = scenario.read(Source.decode("one.yaml", text.encode()), problems)
    return spec, [str(problem) for problem in problems]


@pytest.mark.parametrize("text", ["mission: four_way_stop\n", "mission: {file: four_way_stop}\n"])
def test_name_alone_has_no_clock(text):
    spec, problems = read(text)
    assert problems == []
    assert (spec.mission, spec.clock) == ("four_way_stop", None)


def test_clock_is_read_and_written():
    spec, problems = read(LONG)
    assert problems == []
    clock = spec.clock
    assert (spec.mission, clock.delay, clock.restart) == ("four_way_stop", 20.0, True)
    assert [one.duration for one in clock.pauses] == [10.0, None]
    assert clock.pauses[0].when == Condition("time", (("at", 60.0),))
    assert (clock.pauses[1].when.kind, clock.pauses[1].when["above"]) == ("speed", 8.9)
    assert clock.pauses[1].location.line == 6
    again, _ = read(scenario.write(spec))
    assert again == spec
    assert scenario.write(again) == scenario.write(spec)


def test_no_delay_is_run_from_the_start_and_no_time_of_it_is_an_alarm():
    assert read("mission: {file: m, delay: 0}\n")[0].clock == MissionClock(0.0)
    assert read("mission: {file: m, restart: true}\n")[0].clock == MissionClock(None, (), True)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("mission: {delay: 3}\n", "one.yaml:1: error: the key 'file' is missing [E804]"),
        ("mission: {file: m, delay: 296}\n", "'mission.delay' is '296', expected at most 295 [E805]"),
        ("mission: {file: m, delay: -1}\n", "'mission.delay' is '-1', expected at least 0 [E805]"),
        ("mission: {file: m, delays: 1}\n", "no key 'delays' here [E803] (did you mean 'delay'?)"),
        ("mission: {file: m, pauses: [{for: 3}]}\n", "one of 'at' and 'when' is needed [E806]"),
        (
            "mission: {file: m, pauses: [{at: 3, when: {time: 4}}]}\n",
            "'at' and 'when' exclude each other [E806]",
        ),
        (
            "mission:\n  file: m\n  delay: 20\n  pauses:\n    - {at: 10, for: 3}\n",
            "one.yaml:5: error: this pause begins before RUN, which is at 20 s [E806]",
        ),
        (
            "mission:\n  file: m\n  pauses:\n    - {at: 14, for: 3}\n    - {at: 10, for: 5}\n",
            "one.yaml:4: error: this pause begins within that from 10 s on [E806]",
        ),
        (
            "mission: {file: m, delay: 1}\nevents:\n  - {name: mission RUN, when: {time: 3}}\n",
            "one.yaml:3: error: 'mission RUN' is the name of an event of the mission's clock [E806]",
        ),
    ],
)
def test_mistakes_are_told_at_their_lines(text, wanted):
    spec, problems = read(text)
    assert spec is None
    assert any(wanted in problem for problem in problems), problems


BOT = "add:\n  - {name: Bot, kind: autonomous, size: [1.7, 3.68, 2.16], at: 3.2.1}\n"


def test_rules_of_a_mission_with_a_clock_are_those_that_its_profile_has_numbers_for(tmp_path):
    path = tmp_path / "one.yaml"
    for profile, clocked in (("darpa2006", ["preparation", "start", "estop"]), ("darpa2007", ["preparation", "start"])):
        path.write_text(f"network: four_way_stop\n{LONG.replace('restart: true', '')}profile: {profile}\n{BOT}")
        found = [one.rule for one in cbsim.load(path).scene.expectations]
        assert found[-len(clocked) :] == clocked
        assert len(found) == 7 + len(clocked)


def test_unknown_names_in_pauses_are_told_at_their_lines(tmp_path):
    path = tmp_path / "one.yaml"
    path.write_text(f"network: four_way_stop\n{LONG.replace('object: Bot', 'object: Bod')}{BOT}")
    with pytest.raises(FileError, match=r"one.yaml:7: error: no object 'Bod'.*E821.*did you mean 'Bot'"):
        cbsim.load(path)
    path.write_text(f"network: four_way_stop\n{LONG.replace('speed: {object: Bot, above: 8.9}', 'event: go')}{BOT}")
    with pytest.raises(FileError, match=r"one.yaml:7: error: no event 'go'.*E821"):
        cbsim.load(path)


def test_rule_without_a_number_in_its_profile_names_those_that_have_one(tmp_path):
    path = tmp_path / "one.yaml"
    path.write_text(f"network: four_way_stop\n{LONG}{BOT}expect:\n  - estop: {{object: Bot}}\n")
    with pytest.raises(FileError, match=r"E805.*'within'.*'estop'; darpa2006 has one|darpa2006 has one"):
        cbsim.load(path)


APART = """\
RNDF_name\tapart
num_segments\t2
num_zones\t0
format_version\t1.0
creation_date\t26-Nov-26
segment\t1
num_lanes\t1
lane\t1.1
num_waypoints\t2
checkpoint\t1.1.2\t1
1.1.1\t38.000000\t-77.000000
1.1.2\t38.000600\t-77.000000
end_lane
end_segment
segment\t2
num_lanes\t1
lane\t2.1
num_waypoints\t2
checkpoint\t2.1.2\t2
2.1.1\t38.000000\t-77.000200
2.1.2\t38.000600\t-77.000200
end_lane
end_segment
end_file
"""
MISSION = "MDF_name\tapart\nRNDF\tapart\ncheckpoints\nnum_checkpoints\t2\n1\n2\nend_checkpoints\nend_file\n"


def test_legs_that_are_apart_are_an_error_without_a_restart(tmp_path):
    (tmp_path / "apart.rndf").write_text(APART)
    (tmp_path / "apart.mdf").write_text(MISSION)
    path = tmp_path / "one.yaml"
    bot = "add:\n  - {name: Bot, kind: autonomous, at: 1.1.1}\n"
    path.write_text(f"network: apart.rndf\nmission: {{file: apart.mdf, restart: true}}\n{bot}")
    assert cbsim.load(path).events.names == ("mission part 1", "mission restart 1")
    path.write_text(f"network: apart.rndf\nmission: apart.mdf\n{bot}")
    with pytest.raises(FileError, match=r"apart.mdf:6: error: no route from checkpoint '1'.*E502"):
        cbsim.load(path)
