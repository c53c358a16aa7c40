"""Commands on recordings of traffic: what is held, rules asked later, tables."""

from __future__ import annotations

import importlib
import json

import pytest

SCENARIO = """\
network: city
duration: 3
record: {traffic: near}
traffic:
  - {name: town, count: 30}
add:
  - {name: Bot, kind: autonomous, at: 5.1.2}
expect:
  - collision: {object: town 2}
"""


@pytest.fixture
def recorded(cli, tmp_path):
    (tmp_path / "near.yaml").write_text(SCENARIO)
    said = cli("run", tmp_path / "near.yaml", "--record", tmp_path / "near.mcap", "--json", "-")
    assert said.code == 0
    return tmp_path / "near.mcap", json.loads(said.out)


def test_run_judge_replay_and_info_of_what_is_near(cli, recorded):
    path, result = recorded
    assert set(result["traffic"]) == {
        *("appeared", "left", "waiting_outside", "contacts", "hardest_braking", "longest_standstill")
    }
    assert cli("replay", path).code == 0
    assert cli("judge", path).code == 0
    info = json.loads(cli("info", path, "--json", "-").out)
    assert (info["objects"], info["pools"], info["cars"], info["recorded"]) == (1, 1, 30, "near")


def test_a_rule_asked_later_about_a_car_that_is_not_recorded_is_told_with_its_line(cli, recorded, tmp_path):
    path, _ = recorded
    later = tmp_path / "later.yaml"
    later.write_text("network: city\nexpect:\n  - collision: {object: Bot}\n  - collision: {object: town 3}\n")
    said = cli("judge", path, "--expect", later)
    assert said.code == 2
    assert f"{later}:4: error: the motion of 'town 3' is not recorded" in said.err
    assert "within 200 m of autonomous objects" in said.err
    assert "[E828]" in said.err
    later.write_text("network: city\nexpect:\n  - collision: {object: Bot}\n")
    said = cli("judge", path, "--expect", later)
    assert said.code == 0
    assert "collision Bot: touched nothing" in said.out
    assert cli("judge", path, "--expect", tmp_path / "none.yaml").code == 2


def test_a_recording_is_converted_to_a_table(cli, recorded, tmp_path):
    pandas = pytest.importorskip("pandas")
    path, _ = recorded
    assert cli("convert", path, tmp_path / "near.parquet").code == 0
    table = pandas.read_parquet(tmp_path / "near.parquet")
    assert list(table.columns) == ["time", "object", "x", "y", "heading", "speed", "length", "width"]
    assert "Bot" in set(table.object)
    assert 1 < table.object.nunique() < 31


def test_without_the_extra_a_table_is_refused_by_its_name(cli, recorded, tmp_path, monkeypatch):
    load = importlib.import_module

    def without(name, *package):
        if name.startswith("pyarrow"):
            raise ImportError(f"No module named '{name}'", name=name)
        return load(name, *package)

    monkeypatch.setattr(importlib, "import_module", without)
    path, _ = recorded
    said = cli("convert", path, tmp_path / "near.parquet")
    assert said.code == 2
    assert "pip install 'cbsim[frames]'" in said.err
