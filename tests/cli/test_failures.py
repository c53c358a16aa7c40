"""Failures of the simulator itself, as a user meets them."""

from __future__ import annotations

import json

from cbsim.planner import drivers_of
from tests.coupling.test_finite import Turn, broken


def test_a_run_that_fails_ends_with_3_a_located_line_and_the_verdict_error(cli, tmp_path, monkeypatch):
    made, path = broken(), tmp_path / "run.mcap"
    monkeypatch.setattr("cbsim.loading.load.load", lambda *_, **__: made)
    monkeypatch.setattr(
        "cbsim.simulation.loop.drivers_of", lambda world, _, isolation: drivers_of(world, Turn(), isolation)
    )
    said = cli("run", "bot", "--json", tmp_path / "result.json", "--record", path)
    assert said.code == 3
    assert said.err.splitlines()[-1].startswith("bot.xml:7: error: the simulation failed: t=")
    told = json.loads((tmp_path / "result.json").read_text())
    assert told["verdict"] == "error"
    assert "'Bot' is not finite" in told["message"]


ODD = "add:\n  - {name: Bot, kind: autonomous, size: [1.8, 1700, 1.5], position: [0, 0, 0]}\nduration: 0.1\n"


def test_a_run_without_checks_says_that_nothing_was_judged_and_passes(cli, tmp_path):
    path = tmp_path / "free.yaml"
    path.write_text("add: [{name: Box, position: [0, 0, 0]}]\nduration: 0.1\n")
    said = cli("run", path)
    assert said.code == 0
    assert said.out.startswith("free: pass (0 checks)")
    assert "warning: the scenario has no expectations" in said.err


def test_odd_units_are_told_by_check_and_run_alike(cli, tmp_path):
    path = tmp_path / "odd.yaml"
    path.write_text(ODD)
    line = f"{path}:2: warning: length of object 'Bot' is 1700 m; usual is 0.05 to 50 m [W669]"
    assert line in cli("check", path).out
    assert line in cli("run", path).err


def test_set_without_a_scenario_file_is_an_error(cli, tmp_path):
    path = tmp_path / "o.xml"
    path.write_text("<object_file><name>D</name></object_file>")
    said = cli("run", "--objects", path, "--set", "gap=3")
    assert said.code == 2
    assert said.err.splitlines()[-1].startswith("--set gap=3: error: --set needs a scenario or a model")
    assert "[E809]" in said.err


def test_options_of_run_lead_to_the_keys_of_a_scenario(cli, tmp_path):
    path = tmp_path / "words.yaml"
    path.write_text("rndf: loop\nmdf: loop\n")
    lines = cli("check", path).out.splitlines()
    assert [line.rpartition(" (")[2] for line in lines[:2]] == ["did you mean 'network'?)", "did you mean 'mission'?)"]


def test_run_tells_every_error_that_check_tells(cli, tmp_path):
    from tests.formats.object_texts import element, v2

    text = v2(element("static")).replace('size x="1.7"', 'size x="-1"').replace('segment="1"', 'segment="99"')
    (tmp_path / "o.xml").write_text(text.replace("</object_file>", "<objekt/></object_file>"))
    path = tmp_path / "s.yaml"
    path.write_text("network: loop\nobjects: o.xml\nexpect: [{collision: {object: Nobody}}]\n")
    checked, ran = cli("check", path), cli("run", path)
    errors = [line for line in checked.out.splitlines() if ": error: " in line]
    assert len(errors) == 3
    assert [line for line in ran.err.splitlines() if ": error: " in line] == errors
    for said in (checked.out, ran.err):
        assert "an object file has no element 'objekt'; it has no effect [W642] (did you mean 'object'?)" in said
