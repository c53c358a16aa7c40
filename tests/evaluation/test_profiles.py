"""Profiles of rules, and missions that are judged without rules of their own."""

from __future__ import annotations

import json
import math
import re
from functools import partial

import pytest
from typer.testing import CliRunner

import cbsim
from cbsim.cli.main import app
from cbsim.errors import FileError, Problems, UsageError
from cbsim.evaluation.judge import judge
from cbsim.evaluation.outcome import execute
from cbsim.evaluation.rules import RULES
from cbsim.formats.scenario.rules import RULES as MODELS
from cbsim.planner.pilot import Pilot
from cbsim.spec.profiles import DEFAULT_PROFILE, MISSION_RULES, NUMBERS, PROFILES, profile_number
from tests.common import ROOT
from tests.evaluation.drives import Court, Drive, expect, mission

MPH = 0.44704

BOT = "{name: Bot, kind: autonomous, size: [1.7, 3.68, 2.16], at: 3.2.1}"


def test_every_number_of_a_profile_is_that_of_an_argument_without_a_default_and_names_its_source():
    for (rule, argument), having in NUMBERS.items():
        field = MODELS[rule].model_fields[argument]
        assert field.default is None, (rule, argument)
        assert set(having) <= set(PROFILES)
        for name, number in having.items():
            assert number.source.startswith({"darpa2006": "Rules 2006, 5.2", "darpa2007": "Criteria 2007, "}[name])


PAGE = (ROOT / "docs" / "verdicts.md").read_text(encoding="utf-8")


def told(rule: str, argument: str, profile: str) -> str:
    """Write a number of a profile as the page does: with its unit and section; empty where there is none."""
    number = profile_number(profile, rule, argument)
    if number is None:
        return ""
    section = number.source.removeprefix("Criteria 2007, ")
    section = "Rules 5.2" if section == number.source else section
    if math.isinf(number.value):
        return f"none ({section})"
    if number.value == MPH:
        return f"1 mph ({section})"
    described = MODELS[rule].model_fields[argument].description or ""
    unit = found[1] if (found := re.search(r"\[(.*)\]", described)) else "VL per 10 mph"
    return f"{number.value:g} {'VL' if number.lengths else unit} ({section})"


def test_page_has_the_numbers_of_the_table_with_their_units_and_sections():
    rows = [
        f"| `{rule}` | `{argument}` | " + " | ".join(told(rule, argument, profile) for profile in PROFILES) + " |"
        for rule, argument in NUMBERS
    ]
    rows = [row.replace("|  |", "| |") for row in rows]
    begin = "| rule | argument | `darpa2006` | `darpa2007` |\n|---|---|---|---|\n"
    assert PAGE.partition(begin)[2].partition("\n\n")[0].splitlines() == rows


def test_page_has_a_section_for_every_rule_of_the_table_and_for_no_other():
    sections = PAGE.partition("\n## The rules\n")[2]
    heads = [line for line in sections.splitlines() if line.startswith("- **")]
    named = [name for head in heads for name in re.findall(r"\*\*(\w+)\*\*", head)]
    assert sorted(named) == sorted(RULES)


def test_list_of_rules_is_that_of_the_table():
    done = CliRunner().invoke(app, ["list", "rules", "--json", "-"])
    rows = json.loads(done.stdout)["rules"]
    assert [row["name"] for row in rows] == list(RULES)
    assert all(row["description"] for row in rows)


def scenario(folder, text):
    path = folder / "one.yaml"
    path.write_text(f"network: four_way_stop\nmission: four_way_stop\nduration: 2\nadd:\n  - {BOT}\n{text}")
    return path


def test_profile_of_a_scenario_fills_numbers_and_arguments_win(tmp_path):
    rules = "expect:\n  - speed: {object: Bot}\n  - speed: {object: Bot, tolerance: 0.1}\n"
    worlds = [cbsim.load(scenario(tmp_path, f"profile: {name}\n{rules}")) for name in PROFILES]
    assert [[one.profile for one in world.scene.expectations] for world in worlds] == [[name] * 2 for name in PROFILES]
    assert [one["tolerance"] for one in worlds[0].scene.expectations] == [None, 0.1]


@pytest.mark.parametrize(("profile", "fast"), [("darpa2006", 0.01), ("darpa2007", MPH + 0.01)])
def test_rules_take_the_numbers_of_the_profile(tmp_path, profile, fast):
    court, one = Court(tmp_path), expect("speed", profile=profile)
    task = mission(1, 2, limits=[(1, 0.0, 10.0)])
    assert court(one, Drive().go(20.0, 10.0 + fast - 0.02), task).passed
    assert not court(one, Drive().go(20.0, 10.0 + fast), task).passed


def test_unknown_profile_is_an_error_with_the_one_that_was_meant(tmp_path):
    with pytest.raises(
        FileError, match=r"one.yaml:6: error: 'profile' is 'darpa2008'.*E805.*did you mean 'darpa200[67]'"
    ):
        cbsim.load(scenario(tmp_path, "profile: darpa2008\n"))


def test_mission_without_rules_is_judged_by_those_of_its_profile(tmp_path):
    files = {"rndf": ROOT / "rndf" / "four_way_stop.rndf", "mdf": ROOT / "rndf" / "four_way_stop.mdf"}
    xml = (
        "<object_file><name>D</name><object type='autonomous' shape='box'><name>Bot</name>"
        "<start_position segment='3' lane='2' waypoint='1'/><position_offset x='0' y='0' z='0'/>"
        "<orientation_offset x='0' y='0' z='0'/><size x='1.7' y='3.68' z='2.16'/>"
        "<wheels type='1' radius='0.38' width='0.2'/><steering throttle_rate='2' lever_rate='0.5'/></object>"
        "</object_file>"
    )
    (tmp_path / "bot.xml").write_text(xml)
    world = cbsim.load(**files, objects=tmp_path / "bot.xml", duration=12)
    assert [one.rule for one in world.scene.expectations] == list(MISSION_RULES)
    assert {one.profile for one in world.scene.expectations} == {DEFAULT_PROFILE}
    idle = execute(world, record=tmp_path / "idle.mcap")
    assert idle.verdict == "fail"
    assert idle.complaints == (
        "'Bot' has a mission and no planner: nobody drives it; name one with --planner or 'planner: …'",
    )
    assert judge(tmp_path / "idle.mcap").checks == idle.checks
    driven = execute(world, planner=Pilot())
    assert driven.complaints == ()
    passed = {check.name: check.passed for check in driven.checks}
    assert passed == {f"{rule} Bot": rule != "checkpoints" for rule in MISSION_RULES}  # it has not arrived yet


def test_rules_of_a_scenario_take_the_place_of_those_of_a_mission(tmp_path):
    one = cbsim.load(scenario(tmp_path, "expect:\n  - collision: {object: Bot}\n"))
    assert [rule.rule for rule in one.scene.expectations] == ["collision"]
    parked = scenario(tmp_path, "").read_text().replace("kind: autonomous", "kind: autonomous, controller: manual")
    (tmp_path / "one.yaml").write_text(parked)
    assert cbsim.load(tmp_path / "one.yaml").scene.expectations == ()


def test_mission_of_another_network_is_an_error(tmp_path):
    (tmp_path / "other.mdf").write_text(
        "MDF_name o\nRNDF o\ncheckpoints\nnum_checkpoints 1\n77\nend_checkpoints\nend_file\n"
    )
    path = scenario(tmp_path, "")
    path.write_text(path.read_text().replace("mission: four_way_stop", "mission: other.mdf"))
    with pytest.raises((UsageError, FileError), match="77"):
        execute(cbsim.load(path))


@pytest.mark.parametrize("named", ["files", "scenario"])
def test_mission_of_another_network_is_an_error_or_a_warning_in_runs(tmp_path, named):
    head = "MDF_name o\nRNDF elsewhere\ncheckpoints\nnum_checkpoints 2\n1\n{}\nend_checkpoints\nend_file\n"
    mdf, path = tmp_path / "other.mdf", scenario(tmp_path, "")
    path.write_text(path.read_text().replace("mission: four_way_stop", "mission: other.mdf"))
    objects = tmp_path / "none.xml"
    objects.write_text("<object_file><name>D</name></object_file>")
    given = {"rndf": ROOT / "rndf" / "four_way_stop.rndf", "mdf": mdf, "objects": objects}
    load = partial(cbsim.load, path) if named == "scenario" else partial(cbsim.load, **given)
    mdf.write_text(head.format(77))
    with pytest.raises(FileError, match=r"other.mdf:6: error: the network has no checkpoint '77' \[E501\]"):
        load()
    mdf.write_text(head.format(2))
    problems = Problems()
    load(problems=problems)
    (told,) = [problem for problem in problems if problem.code == "W507"]
    assert told.message == "the mission was written for 'elsewhere', the network is 'four_way_stop'"
    assert told.hint == "its 2 checkpoints exist here too, perhaps by chance"
    mdf.write_text(head.format(2).replace("elsewhere", "four_way_stop"))
    problems = Problems()
    load(problems=problems)
    assert [problem for problem in problems if problem.code == "W507"] == []
